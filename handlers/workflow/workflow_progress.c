/* workflow_progress.c - what is stored of the progress of tasks that run.
 *
 * Reports are stored by the task's id alone, so tasks of several workflows that share an
 * id get none. The last report may be some time ago: a task that does not say how long
 * it has run has run on since then.
 *
 * Source: spec learning.md 10.3.
 */
#include "handlers/workflow/workflow_progress.h"

#include "handlers/history/progress_samples.h"
#include "models/base/names.h"
#include "service/service.h"

#include <string.h>

const char *const workflow_progress_names[] = {"stored", "given", "ignore", NULL};

/* ---- what is looked up ---- */

struct task_reports {
    uint64_t task;                         /* number of the task, through all workflows */
    double age_s;                          /* since the last report came in */
    const struct progress_sample *samples; /* the last one last */
    size_t sample_count;
};

struct looked_up {
    bool away;         /* the database was */
    uint64_t left_out; /* tasks: too many, or of an id that several have */
    const struct task_reports *tasks;
    size_t task_count;
};

#define T struct task_reports
static const struct json_field task_rows[] = {
    JSON_INTEGER(T, task, 0, JSON_EXACT, 0, 0, "Number of the task"),
    JSON_NUMBER(T, age_s, 0, JSON_LARGEST, 0, 0, "Since the last report came in"),
    JSON_LIST(T, samples, sample_count, struct progress_sample, &progress_point_json,
              WORKFLOW_PROGRESS_SAMPLES_MAX, 0, "Stored reports"),
    {0},
};
#undef T
static const struct json_object task_json = {"WorkflowTaskReports",
                                             "Stored reports of a task",
                                             sizeof(struct task_reports), task_rows};

#define T struct looked_up
static const struct json_field looked_up_rows[] = {
    JSON_BOOLEAN(T, away, 0, 0, "Whether the database was away"),
    JSON_INTEGER(T, left_out, 0, JSON_EXACT, 0, 0, "Tasks that were not looked up"),
    JSON_LIST(T, tasks, task_count, struct task_reports, &task_json,
              WORKFLOW_PROGRESS_TASKS_MAX, 0, "Tasks with reports"),
    {0},
};
#undef T
static const struct json_object looked_up_json = {
    "WorkflowProgressLookedUp", "Stored progress as it was", sizeof(struct looked_up),
    looked_up_rows};

/* ---- which tasks ---- */

static const char *stored_name(const struct workflow_task *t)
{
    return t->task_id ? t->task_id : t->id;
}

static bool is_silent(const struct workflow_task *t)
{
    return t->status == WORKFLOW_RUNNING && stored_name(t) &&
           t->progress_sample_count == 0 && isnan(t->progress_pct) &&
           isnan(t->work_done_ref_s);
}

/* A running task that says nothing, and its number. */
struct silent {
    const char *id;
    size_t task;
};

static size_t task_total(const struct workflow_call *call)
{
    size_t total = 0;

    for (size_t w = 0; w < call->in.workflow_count; w++)
        total += call->in.workflows[w].task_count;
    return total;
}

/* Those whose name no other task has; *left_out: the others. */
static void list_silent(struct workflow_call *call, struct silent *list, size_t *count,
                        uint64_t *left_out)
{
    struct request *rq = call->rq;
    struct name_index ids;
    size_t total = task_total(call), task = 0, kept = 0;
    bool *shared = NEW(rq->arena, bool, total);

    name_index_create(&ids, total, rq->arena);
    for (size_t w = 0; w < call->in.workflow_count; w++)
        for (size_t i = 0; i < call->in.workflows[w].task_count; i++, task++) {
            const struct workflow_task *t = &call->in.workflows[w].tasks[i];
            const char *name = stored_name(t);
            size_t other = name ? name_index_add(&ids, name, task) : NAME_NOT_FOUND;

            if (other != NAME_NOT_FOUND)
                shared[other] = shared[task] = true;
            if (is_silent(t))
                list[(*count)++] = (struct silent){name, task};
        }
    for (size_t k = 0; k < *count; k++)
        if (!shared[list[k].task] && kept < WORKFLOW_PROGRESS_TASKS_MAX)
            list[kept++] = list[k];
        else
            (*left_out)++;
    *count = kept;
}

/* ---- the store ---- */

static const char *ids_as_json(const struct silent *list, size_t count, struct arena *a)
{
    struct text_buffer b = {.arena = a};

    text_add(&b, "[", 1);
    for (size_t k = 0; k < count; k++) {
        text_add(&b, ",", k > 0);
        json_print_text(list[k].id, &b);
    }
    text_add(&b, "]", 2); /* with the NUL */
    return text_end(&b);
}

/* Rows of one task follow each other. */
static void group_rows(const struct store_progress_latest *rows, size_t count,
                       const struct silent *list, struct looked_up *out, struct arena *a)
{
    struct task_reports *tasks = NEW(a, struct task_reports, count);
    struct progress_sample *samples = NEW(a, struct progress_sample, count);
    size_t n = 0;

    for (size_t k = 0; k < count; k++) {
        samples[k] = rows[k].sample;
        if (k == 0 || rows[k].place != rows[k - 1].place)
            tasks[n++] = (struct task_reports){.task = list[(size_t)rows[k].place].task,
                                               .samples = &samples[k]};
        tasks[n - 1].age_s = fmax(0, rows[k].age_s);
        tasks[n - 1].sample_count++;
    }
    out->tasks = tasks;
    out->task_count = n;
}

static enum error_code read_stored(struct request *rq, const struct silent *list,
                                   size_t count, struct looked_up *out)
{
    const struct store_progress_latest *rows;
    struct db_session *db;
    size_t row_count;
    const char *ids = ids_as_json(list, count, rq->arena);

    TRY(request_db(rq, &db));
    TRY(store_progress_latest_find(db, rq->principal.tenant, ids,
                                   WORKFLOW_PROGRESS_SAMPLES_MAX, &rows, &row_count,
                                   rq->arena, rq->err));
    group_rows(rows, row_count, list, out, rq->arena);
    return OK;
}

static enum error_code look_up(struct workflow_call *call, struct looked_up *out)
{
    struct request *rq = call->rq;
    struct silent *list = NEW(rq->arena, struct silent, task_total(call));
    struct error before = *rq->err;
    enum error_code code;
    size_t count = 0;
    bool found;

    *out = (struct looked_up){0};
    list_silent(call, list, &count, &out->left_out);
    if (count == 0)
        return OK;
    TRY(decision_lookup(rq, "progress", &looked_up_json, out, &found));
    if (found)
        return OK;
    if (!rq->service->db) {
        out->left_out = 0; /* nothing is stored */
        return OK;
    }
    code = read_stored(rq, list, count, out);
    if (code == ERR_UNAVAILABLE || code == ERR_BUSY) {
        *rq->err = before;
        *out = (struct looked_up){.away = true};
        code = OK;
    }
    TRY(code);
    return decision_keep_lookup(rq, "progress", &looked_up_json, out);
}

/* ---- into the tasks ---- */

void workflow_copy_tasks(struct workflow_call *call)
{
    struct arena *a = call->rq->arena;
    size_t count = call->in.workflow_count;
    struct workflow *list = NEW(a, struct workflow, count);

    for (size_t w = 0; w < count; w++) {
        struct workflow_task *tasks;

        list[w] = call->in.workflows[w];
        tasks = NEW(a, struct workflow_task, list[w].task_count);
        memcpy(tasks, list[w].tasks, list[w].task_count * sizeof(*tasks));
        list[w].tasks = tasks;
    }
    call->in.workflows = list;
}

/* The task of that number in its copy. */
/* A workflow, and what tasks the ones before it have: what is asked for one task after
 * the other is a pass. */
struct task_place {
    size_t workflow, before;
};

static struct workflow_task *task_at(const struct workflow_call *call, size_t task,
                                     struct task_place *at)
{
    const struct workflow *list = call->in.workflows;

    if (task < at->before)
        *at = (struct task_place){0};
    while (task - at->before >= list[at->workflow].task_count)
        at->before += list[at->workflow++].task_count;
    return (struct workflow_task *)&list[at->workflow].tasks[task - at->before];
}

static void put_reports(struct workflow_call *call, const struct looked_up *l)
{
    struct task_place at = {0};
    size_t total = task_total(call);

    if (l->task_count == 0)
        return;
    workflow_copy_tasks(call);
    for (size_t k = 0; k < l->task_count; k++) {
        const struct task_reports *r = &l->tasks[k];
        struct workflow_task *t;

        if (r->task >= total || r->sample_count == 0)
            continue; /* of another request */
        t = task_at(call, (size_t)r->task, &at);
        t->progress_samples = r->samples;
        t->progress_sample_count = r->sample_count;
        t->progress_stored = true;
        if (isnan(t->elapsed_s) && isnan(t->start_s))
            t->elapsed_s = r->samples[r->sample_count - 1].elapsed_s + r->age_s;
    }
}

static void take_away(struct workflow_call *call)
{
    struct task_place at = {0};
    size_t total = task_total(call);

    workflow_copy_tasks(call);
    for (size_t i = 0; i < total; i++) {
        struct workflow_task *t = task_at(call, i, &at);

        t->progress_pct = (double)NAN;
        t->progress_sample_count = 0;
    }
}

enum error_code workflow_progress_read(struct workflow_call *call,
                                       enum workflow_progress mode)
{
    struct looked_up l;

    if (mode == WORKFLOW_PROGRESS_IGNORE) {
        take_away(call);
        return OK;
    }
    if (mode == WORKFLOW_PROGRESS_GIVEN)
        return OK;
    TRY(look_up(call, &l));
    put_reports(call, &l);
    if (l.away)
        workflow_call_warn(
            call, "history_unavailable: the database is away: stored progress of running "
                  "tasks was not used");
    if (l.left_out)
        workflow_call_warn(call,
                           "progress_not_looked_up: stored progress of %llu running "
                           "tasks was not looked up: "
                           "another task has the same id, or they are more than %d",
                           (unsigned long long)l.left_out, WORKFLOW_PROGRESS_TASKS_MAX);
    return OK;
}
