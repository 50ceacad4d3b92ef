/* exports.c - POST /v1/exports/slurm: a decision as changes of a Slurm queue. */
#include "handlers/slurm/slurm.h"
#include "models/base/pointer.h"
#include "models/json_walk.h"
#include "models/slurm/advice.h"
#include "service/json_holds.h"
#include "service/store.h"

#include "models/base/plural.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum render { RENDER_SCONTROL, RENDER_SLURMRESTD, RENDER_SBATCH };
static const char *const renders[] = {"scontrol", "slurmrestd", "sbatch", NULL};
static const char *const modes[] = {"priority", "nice", NULL};

enum { CHANGES_MAX = 100000 };

struct export_action {
    int kind;
    const char *job_id, *resource_id, *reason;
    double value;
};

struct export_request {
    enum render render;
    const char *version, *decision_id, *decision;
    const char *const *order;
    size_t order_count;
    const struct slurm_ordered *jobs;
    size_t job_count;
    const struct export_action *actions;
    size_t action_count;
    int mode;
    uint64_t priority_base, priority_step, changes_max;
    double tz_offset_s;
    bool with_preemptions;
};

struct export_row {
    const char *kind, *job_id, *resource_id, *reason;
    double value;
    const char *line, *method, *path, *body, *option, *undo;
    const char *const *arguments;
    size_t argument_count;
};

struct export_answer {
    const char *render;
    const struct export_row *actions;
    size_t action_count;
    uint64_t left_out_count;
    const char *const *warnings;
    size_t warning_count;
};

#define T struct slurm_ordered
static const struct json_field ordered_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Its id"),
    JSON_NUMBER(T, priority, 0, 4294967295.0, NAN, JSON_NULLABLE,
                "Its priority now; default: not known, it is set in any case"),
    JSON_NUMBER(T, nice, -2147483645.0, 2147483645.0, 0, 0, "Its nice now; default 0"),
    JSON_BOOLEAN(T, held, false, 0, "It is held: to be released first"),
    {0},
};
#undef T
static const struct json_object ordered_json = {
    "SlurmExportJob", "A waiting job as it is", sizeof(struct slurm_ordered),
    ordered_rows};

#define T struct export_action
static const struct json_field action_rows[] = {
    JSON_CHOICE(T, kind, slurm_action_names, 0, JSON_REQUIRED, "What is to be done"),
    JSON_TEXT(T, job_id, JSON_NULLABLE, "The job: digits, or digits_digits"),
    JSON_TEXT(T, resource_id, JSON_NULLABLE, "drain, resume: the node"),
    JSON_NUMBER(T, value, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE,
                "priority, nice: the number; time_limit: seconds, written as minutes "
                "rounded up; begin: s since the epoch"),
    JSON_TEXT(T, reason, JSON_NULLABLE, "drain: why"),
    {0},
};
#undef T
static const struct json_object action_json = {"SlurmExportAction",
                                               "A change to be written",
                                               sizeof(struct export_action), action_rows};

#define T struct export_request
static const struct json_field request_rows[] = {
    JSON_CHOICE(T, render, renders, RENDER_SCONTROL, 0,
                "scontrol: command lines; slurmrestd: requests of its interface; sbatch: "
                "options for the next submission; default scontrol"),
    JSON_TEXT(T, version, JSON_NULLABLE,
              "slurmrestd: version of the interface; default v0.0.38"),
    JSON_ID(T, decision_id, JSON_NULLABLE,
            "A stored decision of POST /v1/queue-orders, or:",
            JSON_NOT_WITH("decision", "order")),
    JSON_RAW(T, decision, 0, "the answer of POST /v1/queue-orders itself, or:",
             JSON_HOLDS(&json_any_object), JSON_NOT_WITH("order")),
    JSON_TEXTS(T, order, order_count, CHANGES_MAX, 0,
               "ids of jobs in the order that they should start in"),
    JSON_LIST(T, jobs, job_count, struct slurm_ordered, &ordered_json, 1000000,
              JSON_UNIQUE_IDS, "Jobs as they are: only changes are written"),
    JSON_LIST(T, actions, action_count, struct export_action, &action_json, CHANGES_MAX,
              0, "Further changes"),
    JSON_CHOICE(T, mode, modes, SLURM_BY_PRIORITY, 0,
                "How an order is expressed: by priority, for operators, or by the least "
                "nice, for users; default priority"),
    JSON_INTEGER(T, priority_base, 1, 4294967293.0, 4000000, 0,
                 "Priority of the first job; default 4000000"),
    JSON_INTEGER(T, priority_step, 1, 1000000, 10, 0,
                 "What each next one has less; default 10"),
    JSON_INTEGER(T, changes_max, 1, CHANGES_MAX, 1000, 0,
                 "The most changes, those of the first jobs; default 1000"),
    JSON_NUMBER(T, tz_offset_s, -86400, 86400, 0, 0,
                "What the cluster's local time is ahead of UTC; default 0"),
    JSON_BOOLEAN(T, with_preemptions, false, 0,
                 "Jobs that the decision stops are requeued; default: they are not"),
    {0},
};
#undef T
const struct json_object slurm_export_request_json = {
    "SlurmExportRequest", "What is to be changed in a Slurm queue",
    sizeof(struct export_request), request_rows};

#define T struct export_row
static const struct json_field row_rows[] = {
    JSON_WORD(T, kind, slurm_action_names, 0, "What is done"),
    JSON_TEXT(T, job_id, JSON_OPTIONAL, "The job"),
    JSON_TEXT(T, resource_id, JSON_OPTIONAL, "The node"),
    JSON_NUMBER(T, value, 0, 0, 0, JSON_OPTIONAL, "Its number"),
    JSON_TEXT(T, reason, JSON_OPTIONAL, "Why"),
    JSON_TEXTS(T, arguments, argument_count, 0, JSON_OPTIONAL,
               "scontrol: the command as a vector of arguments, for no shell"),
    JSON_TEXT(T, line, JSON_OPTIONAL, "scontrol: the same, quoted for a shell"),
    JSON_TEXT(T, method, JSON_OPTIONAL, "slurmrestd: method of the request"),
    JSON_TEXT(T, path, JSON_OPTIONAL, "slurmrestd: its path"),
    JSON_RAW(T, body, JSON_OPTIONAL, "slurmrestd: its body"),
    JSON_TEXT(T, option, JSON_OPTIONAL, "sbatch: the option"),
    JSON_TEXT(T, undo, JSON_OPTIONAL, "A command that takes it back, where there is one"),
    {0},
};
#undef T
static const struct json_object row_json = {
    "SlurmExportRow", "A change, as it is written", sizeof(struct export_row), row_rows};

#define T struct export_answer
static const struct json_field answer_rows[] = {
    JSON_WORD(T, render, renders, 0, "The form"),
    JSON_LIST(T, actions, action_count, struct export_row, &row_json, 0, 0,
              "Changes, to be made in this order; none: all is so already"),
    JSON_INTEGER(T, left_out_count, 0, 0, 0, 0, "Changes beyond changes_max"),
    JSON_TEXTS(T, warnings, warning_count, 0, 0, "What could not be written"),
    {0},
};
#undef T
const struct json_object slurm_export_answer_json = {
    "SlurmExportAnswer", "Changes of a Slurm queue", sizeof(struct export_answer),
    answer_rows};

/* ---- what a decision says ---- */

struct wanted {
    const char *id;
    double at_s; /* estimated start; -INFINITY: now */
    double time_limit_s;
    size_t place;
};

struct decided {
    struct json_walk walk;
    struct arena *arena;
    struct wanted *list;
    size_t count, size;
    const char **stopped;
    size_t stopped_count, stopped_size;
};

static void keep_job(struct decided *d, const struct wanted *job)
{
    if (!job->id || isnan(job->at_s))
        return;
    if (d->count == d->size) {
        d->list =
            GROW(d->arena, d->list, struct wanted, d->size, d->size ? 2 * d->size : 64);
        d->size = d->size ? 2 * d->size : 64;
    }
    d->list[d->count] = *job;
    d->list[d->count].place = d->count;
    d->count++;
}

/* starts[], waiting[] */
static void read_rows(struct decided *d, bool now)
{
    const char *name;

    json_walk_enter(&d->walk, '[');
    while (json_walk_element(&d->walk)) {
        struct wanted job = {.at_s = now ? -(double)INFINITY : (double)NAN,
                             .time_limit_s = (double)NAN};

        json_walk_enter(&d->walk, '{');
        while ((name = json_walk_member(&d->walk)))
            if (strcmp(name, "job_id") == 0)
                job.id = json_walk_text(&d->walk, d->arena);
            else if (!now && strcmp(name, "estimated_start_s") == 0)
                job.at_s = json_walk_number(&d->walk);
            else if (now && strcmp(name, "time_limit_s") == 0)
                job.time_limit_s = json_walk_number(&d->walk);
            else
                json_walk_skip(&d->walk);
        keep_job(d, &job);
    }
}

static void keep_stopped(struct decided *d, const char *id)
{
    if (d->stopped_count == d->stopped_size) {
        size_t size = d->stopped_size ? 2 * d->stopped_size : 16;

        d->stopped = GROW(d->arena, d->stopped, const char *, d->stopped_size, size);
        d->stopped_size = size;
    }
    d->stopped[d->stopped_count++] = id ? id : "";
}

/* preemptions[].stop[] */
static void read_stopped(struct decided *d)
{
    const char *name;

    json_walk_enter(&d->walk, '[');
    while (json_walk_element(&d->walk)) {
        json_walk_enter(&d->walk, '{');
        while ((name = json_walk_member(&d->walk))) {
            if (strcmp(name, "stop") != 0 || json_walk_type(&d->walk) != '[') {
                json_walk_skip(&d->walk);
                continue;
            }
            json_walk_enter(&d->walk, '[');
            while (json_walk_element(&d->walk))
                keep_stopped(d, json_walk_text(&d->walk, d->arena));
        }
    }
}

static int sooner(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;

    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static enum error_code read_decision(struct decided *d, const char *text,
                                     const char *pointer, struct error *err)
{
    const char *name;
    bool any = false;

    json_walk_open(&d->walk, text, strlen(text), d->arena);
    json_walk_enter(&d->walk, '{');
    while ((name = json_walk_member(&d->walk))) {
        bool starts = strcmp(name, "starts") == 0;

        if (json_walk_type(&d->walk) == '[' && (starts || strcmp(name, "waiting") == 0)) {
            any = true;
            read_rows(d, starts);
        } else if (json_walk_type(&d->walk) == '[' && strcmp(name, "preemptions") == 0)
            read_stopped(d);
        else
            json_walk_skip(&d->walk);
    }
    TRY(json_walk_end(&d->walk, pointer, err));
    if (!any)
        return invalid(err, pointer, ITEM_MALFORMED,
                       "no answer of POST /v1/queue-orders: neither starts nor waiting");
    if (d->count > 0)
        qsort(d->list, d->count, sizeof(d->list[0]), sooner);
    return OK;
}

static enum error_code find_decision(struct request *rq, const struct export_request *in,
                                     struct decided *d)
{
    struct store_decision stored;
    struct db_session *db;

    if (in->decision)
        return read_decision(d, in->decision, "/decision", rq->err);
    if (in->decision_id) {
        TRY(request_db(rq, &db));
        TRY(store_decision_read(db, rq->principal.tenant, in->decision_id, &stored,
                                rq->arena, rq->err));
        return read_decision(d, stored.answer, "/decision_id", rq->err);
    }
    for (size_t i = 0; i < in->order_count; i++)
        keep_job(d, &(struct wanted){
                        .id = in->order[i], .at_s = 0, .time_limit_s = (double)NAN});
    return OK;
}

/* ---- the changes ---- */

struct changes {
    struct slurm_action *list;
    size_t count;
    struct slurm_changes order;
};

/* Jobs in their order with what is known of them; a task has its array's. */
static struct slurm_ordered *ordered_jobs(const struct export_request *in,
                                          const struct decided *d, struct arena *a)
{
    struct slurm_ordered *jobs = NEW(a, struct slurm_ordered, d->count);
    struct name_index known;

    name_index_create(&known, in->job_count + 1, a);
    for (size_t i = 0; i < in->job_count; i++)
        name_index_add(&known, in->jobs[i].id, i);
    for (size_t i = 0; i < d->count; i++) {
        const char *id = d->list[i].id;
        size_t at = name_index_find(&known, id);

        if (at == NAME_NOT_FOUND && strchr(id, '_'))
            at = name_index_find(&known, arena_text(a, id, strcspn(id, "_")));
        jobs[i] = at == NAME_NOT_FOUND ? (struct slurm_ordered){.priority = (double)NAN}
                                       : in->jobs[at];
        jobs[i].id = id;
    }
    return jobs;
}

/* The order's changes first, then limits, then what is stopped, then what was asked for.
 */
static void gather(const struct export_request *in, const struct decided *d,
                   struct changes *out, struct arena *a)
{
    struct slurm_order how = {
        .mode = (enum slurm_order_mode)in->mode,
        .base = (double)in->priority_base,
        .step = (double)in->priority_step,
        .changes_max = in->changes_max,
    };
    struct slurm_action *list;
    size_t count = 0;

    slurm_order_changes(&how, ordered_jobs(in, d, a), d->count, &out->order, a);
    list = NEW(a, struct slurm_action,
               out->order.count + d->count + d->stopped_count + in->action_count);
    if (out->order.count > 0)
        memcpy(list, out->order.list, out->order.count * sizeof(*list));
    count = out->order.count;
    for (size_t i = 0; i < d->count; i++)
        if (d->list[i].time_limit_s > 0)
            list[count++] = (struct slurm_action){.kind = SLURM_ACT_TIME_LIMIT,
                                                  .job_id = d->list[i].id,
                                                  .value = d->list[i].time_limit_s,
                                                  .before = (double)NAN};
    for (size_t i = 0; in->with_preemptions && i < d->stopped_count; i++)
        list[count++] = (struct slurm_action){.kind = SLURM_ACT_REQUEUE,
                                              .job_id = d->stopped[i],
                                              .value = (double)NAN,
                                              .before = (double)NAN};
    for (size_t i = 0; i < in->action_count; i++) {
        const struct export_action *x = &in->actions[i];

        list[count++] = (struct slurm_action){.kind = (enum slurm_action_kind)x->kind,
                                              .job_id = x->job_id,
                                              .resource_id = x->resource_id,
                                              .value = x->value,
                                              .reason = x->reason,
                                              .before = (double)NAN};
    }
    out->list = list;
    out->count = count;
}

/* What takes it back; NULL: nothing does. */
static const char *undo_of(const struct slurm_action *action, double tz_offset_s,
                           struct arena *a)
{
    static const int opposite[SLURM_ACTION_COUNT] = {
        [SLURM_ACT_RELEASE] = SLURM_ACT_HOLD,
        [SLURM_ACT_HOLD] = SLURM_ACT_RELEASE,
        [SLURM_ACT_DRAIN] = SLURM_ACT_RESUME,
        [SLURM_ACT_RESUME] = -1,
        [SLURM_ACT_PRIORITY] = SLURM_ACT_PRIORITY,
        [SLURM_ACT_NICE] = SLURM_ACT_NICE,
        [SLURM_ACT_TIME_LIMIT] = -1,
        [SLURM_ACT_BEGIN] = -1,
        [SLURM_ACT_REQUEUE] = -1,
    };
    bool has_number =
        action->kind == SLURM_ACT_PRIORITY || action->kind == SLURM_ACT_NICE;
    struct slurm_action back = *action;
    struct slurm_command command;

    if (opposite[action->kind] < 0 || (has_number && !(action->before >= 0)) ||
        (action->kind == SLURM_ACT_PRIORITY && action->before < 1))
        return NULL;
    back.kind = (enum slurm_action_kind)opposite[action->kind];
    back.value = action->before;
    slurm_action_command(&back, tz_offset_s, &command, a);
    return slurm_command_line(&command, a);
}

/* One change in the form that is asked for; false: that has nothing for it. */
static bool render_one(const struct export_request *in, const char *version,
                       const struct slurm_action *action, struct export_row *row,
                       struct arena *a)
{
    struct slurm_command *command;
    struct slurm_rest rest;

    *row = (struct export_row){
        .kind = slurm_action_names[action->kind],
        .job_id = action->job_id,
        .resource_id = action->resource_id,
        .reason = action->reason,
        .value = action->value,
    };
    switch (in->render) {
    case RENDER_SLURMRESTD:
        if (!slurm_action_rest(action, version, &rest, a))
            return false;
        row->method = rest.method;
        row->path = rest.path;
        row->body = rest.body;
        return true;
    case RENDER_SBATCH:
        row->option = slurm_action_option(action, in->tz_offset_s, a);
        return row->option;
    default:
        command = NEW(a, struct slurm_command, 1);
        slurm_action_command(action, in->tz_offset_s, command, a);
        row->arguments = command->argument;
        row->argument_count = command->count;
        row->line = slurm_command_line(command, a);
        row->undo = undo_of(action, in->tz_offset_s, a);
        return true;
    }
}

static enum error_code check_all(const struct export_request *in, const struct decided *d,
                                 const struct changes *c, struct error *err)
{
    struct pointer pointer;

    for (size_t i = 0; i < d->count; i++)
        if (!slurm_is_job_id(d->list[i].id)) {
            pointer = pointer_in("/order", d->list[i].place, NULL);
            invalid(err,
                    in->decision      ? "/decision"
                    : in->decision_id ? "/decision_id"
                                      : pointer.text,
                    ITEM_BAD_CHARACTERS,
                    "'%.64s': an id is digits, or digits_digits for a task of an array",
                    d->list[i].id);
        }
    for (size_t i = 0; i < in->action_count; i++) {
        pointer = pointer_in("/actions", i, NULL);
        slurm_action_check(&c->list[c->count - in->action_count + i], pointer.text, err);
    }
    if (in->with_preemptions)
        for (size_t i = 0; i < d->stopped_count; i++)
            if (!slurm_is_job_id(d->stopped[i]))
                invalid(err, "/decision", ITEM_BAD_CHARACTERS,
                        "'%.64s' is no id of Slurm", d->stopped[i]);
    for (size_t i = 0; i < in->job_count; i++)
        if (!slurm_is_job_id(in->jobs[i].id)) {
            invalid(err, pointer_in("/jobs", i, "id").text, ITEM_BAD_CHARACTERS,
                    "no id of Slurm");
        }
    return err->code;
}

static enum error_code check_version(const char *version, struct error *err)
{
    size_t digits =
        strncmp(version, "v0.0.", 5) == 0 ? strspn(version + 5, "0123456789") : 0;

    if (digits > 0 && digits <= 3 && !version[5 + digits])
        return OK;
    return invalid(err, "/version", ITEM_MALFORMED, "a version is v0.0. and a number");
}

enum error_code post_slurm_export(struct request *rq, const void *in, void *out)
{
    const struct export_request *body = in;
    struct export_answer *answer = out;
    const char *version = body->version ? body->version : "v0.0.38";
    struct decided d = {.arena = rq->arena};
    struct changes c = {0};
    struct export_row *rows;
    const char **warnings = NEW(rq->arena, const char *, 2);
    size_t without = 0;

    check_version(version, rq->err);
    TRY(find_decision(rq, body, &d));
    gather(body, &d, &c, rq->arena);
    TRY(check_all(body, &d, &c, rq->err));
    rows = NEW(rq->arena, struct export_row, c.count);
    for (size_t i = 0; i < c.count; i++)
        if (render_one(body, version, &c.list[i], &rows[answer->action_count], rq->arena))
            answer->action_count++;
        else
            without++;
    answer->render = renders[body->render];
    answer->actions = rows;
    answer->left_out_count = c.order.left_out;
    if (without > 0)
        warnings[answer->warning_count++] =
            arena_printf(rq->arena, "ignored: %s that %s has nothing for",
                         counted(without, "change").text, answer->render);
    if (c.order.too_small > 0)
        warnings[answer->warning_count++] =
            arena_printf(rq->arena, "rounded: %s would need a priority below 1, and %s",
                         counted(c.order.too_small, "job").text,
                         plural(c.order.too_small, "stays as it is", "stay as they are"));
    answer->warnings = warnings;
    return OK;
}
