/* workload.c - what accounting says of jobs, as a job log that can be replayed. */
#include "models/slurm/workload.h"

#include "models/base/budget_read.h"
#include "models/base/name_pool.h"
#include "models/slurm/cluster_parts.h"
#include "models/slurm/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A job while its attempts are read; instants are s since the epoch. */
struct attempts {
    struct swf_job job;
    struct slurm_shape shape;
    double first_s, start_s; /* of the first one, of the last one */
    double eligible_s;       /* of the first one; NAN: not said */
    bool is_usable;          /* one of them ran and ended */
    double cancel_s;         /* one of them left the queue then; NAN: none */
    const char *submit_line; /* of the first one; NULL: not said */
    const char *id;          /* its raw id */
    double raw;              /* the number of that; NAN: it is none */
    size_t sibling;          /* the next job of its array; NO_JOB: none */
};

#define NO_JOB SIZE_MAX

struct slurm_workload_reader {
    struct slurm_workload *out;
    struct attempts *jobs;
    size_t count, room;
    struct name_pool by_id, texts;
    const char **text; /* each once */
    size_t text_count, text_room;
    struct name_index by_shape, by_array;
#define X(member, field) struct name_pool member;
    SLURM_NUMBERED(X)
#undef X
    double tz_offset_s;
    struct arena *arena, *scratch; /* scratch: of the row that is read */
};

enum { ROOM_FIRST = 64 };

/* A text that stays when the row has gone, there once; NULL of NULL. */
static const char *kept(struct slurm_workload_reader *c, const char *text)
{
    const char *copy;
    size_t at;

    if (!text)
        return NULL;
    at = name_pool_add(&c->texts, text, c->text_count, &copy, c->arena);
    if (!copy)
        return c->text[at];
    if (c->text_count == c->text_room) {
        size_t room = c->text_room ? 2 * c->text_room : ROOM_FIRST;

        c->text = GROW(c->arena, c->text, const char *, c->text_room, room);
        c->text_room = room;
    }
    return c->text[c->text_count++] = copy;
}

static double number_of(struct slurm_workload_reader *c, struct name_pool *index,
                        struct slurm_names *names, const char *name)
{
    const char *copy;
    size_t at;

    if (!name)
        return (double)NAN;
    at = name_pool_add(index, name, names->count + 1, &copy, c->arena);
    if (copy) {
        if (at + 1 > names->room) {
            size_t room = names->room ? 2 * names->room : ROOM_FIRST;

            names->name = GROW(c->arena, names->name, const char *, names->room, room);
            names->room = room;
        }
        names->name[at] = copy;
        names->count = at;
    }
    return (double)at;
}

/* What the row says it was given, else what it asked for. */
static size_t amounts_of(const struct slurm_workload_reader *c,
                         const struct slurm_record *r, const struct slurm_amount **list)
{
    const char *given = slurm_value(r, SLURM_F_TRES_GIVEN);

    return slurm_tracked(given ? given : slurm_value(r, SLURM_F_TRES_ASKED), list,
                         c->scratch);
}

static double processors_of(const struct slurm_workload_reader *c,
                            const struct slurm_record *r)
{
    const struct slurm_amount *list;
    size_t count = amounts_of(c, r, &list);
    double cpus = slurm_amount_of(list, count, "cpu");

    if (!(cpus >= 1))
        cpus = slurm_number(slurm_value(r, SLURM_F_CPUS));
    return cpus >= 1 && isfinite(cpus) ? cpus : 1;
}

/* At least 1; NAN: not said. */
static double nodes_of(const struct slurm_record *r, const struct slurm_amount *list,
                       size_t count)
{
    double nodes = slurm_amount_of(list, count, "node");

    if (!(nodes >= 1))
        nodes = slurm_number(slurm_value(r, SLURM_F_NODE_COUNT));
    return nodes >= 1 && isfinite(nodes) ? floor(nodes) : (double)NAN;
}

static struct slurm_amounts needs_of(struct slurm_workload_reader *c,
                                     const struct slurm_amount *list, size_t count,
                                     double nodes)
{
    struct slurm_sums sums = {.arena = c->arena};

    for (size_t i = 0; i < count; i++)
        if (slurm_is_shard(list[i].name)) {
            continue; /* no node has them here */
        } else if (strncmp(list[i].name, "gres/", 5) == 0) {
            slurm_sums_add(
                &sums, kept(c, slurm_gres_name(list[i].name, list[i].type, c->scratch)),
                list[i].count / nodes);
            if (list[i].type && slurm_amount_of(list, count, list[i].name) == 0)
                slurm_sums_add(&sums,
                               kept(c, slurm_gres_name(list[i].name, NULL, c->scratch)),
                               list[i].count / nodes);
        } else if (strncmp(list[i].name, "license/", 8) == 0)
            slurm_sums_add(&sums,
                           kept(c, slurm_licence_name(list[i].name + 8, c->scratch)),
                           list[i].count);
    return (struct slurm_amounts){sums.list, sums.count};
}

static struct slurm_shape shape_of(struct slurm_workload_reader *c,
                                   const struct slurm_record *r, const char *id)
{
    const struct slurm_amount *list;
    size_t count = amounts_of(c, r, &list);
    double cpus = processors_of(c, r), nodes = nodes_of(r, list, count);
    double memory = slurm_amount_of(list, count, "mem");
    struct slurm_shape shape = {.id = id,
                                .name = kept(c, slurm_value(r, SLURM_F_NAME)),
                                .user = kept(c, slurm_value(r, SLURM_F_USER)),
                                .account = kept(c, slurm_value(r, SLURM_F_ACCOUNT)),
                                .partition = kept(c, slurm_value(r, SLURM_F_PARTITION)),
                                .qos = kept(c, slurm_value(r, SLURM_F_QOS)),
                                .needs = needs_of(c, list, count, fmax(1, nodes))};

    if (isnan(nodes) && cpus <= 1)
        nodes = 1;
    if (!(memory > 0) || !isfinite(memory))
        memory = 0;
    if (isnan(nodes) || fmod(cpus, nodes) > 0) {
        shape.tasks = ceil(cpus);
        shape.memory_bytes = memory / shape.tasks;
        return shape;
    }
    shape.nodes = nodes;
    shape.cpus = cpus / nodes;
    shape.memory_bytes = memory / nodes;
    return shape;
}

/* Minutes; NAN: not said, or no limit. */
static double limit_of(const struct slurm_record *r)
{
    const char *raw = slurm_value(r, SLURM_F_TIME_LIMIT_RAW);
    double limit_s = slurm_duration_s(raw ? raw : slurm_value(r, SLURM_F_TIME_LIMIT), 60);

    return isfinite(limit_s) ? limit_s : (double)NAN;
}

static double status_of(const char *state)
{
    if (strncmp(state, "COMPLETED", 9) == 0)
        return 1;
    return strncmp(state, "CANCELLED", 9) == 0 ? 5 : 0;
}

/* The id that others name it by, and its array where that has more to say. */
static void name_job(struct slurm_workload_reader *c, const struct slurm_record *r,
                     struct attempts *all, const char *raw)
{
    const char *array = slurm_value(r, SLURM_F_ARRAY_JOB);
    const char *tasks = slurm_value(r, SLURM_F_ARRAY_TASKS), *most;
    const char *asked = slurm_option(all->submit_line, "array", 1, 'a', c->scratch);
    const char *gang = slurm_value(r, SLURM_F_HET_JOB);
    bool is_array = array && strcmp(array, "0") != 0, is_one;

    tasks = tasks ? tasks : slurm_value(r, SLURM_F_ARRAY_TASK);
    if (!tasks && r->form == SLURM_JSON)
        tasks = "0"; /* v0.0.40: of task 0, as of no task, `set` may be false */
    all->shape.id = raw;
    all->shape.running_max = (double)NAN;
    all->shape.gang = kept(c, gang && slurm_number(gang) > 0 ? gang : NULL);
    if (!is_array || !tasks)
        return;
    is_one = isfinite(slurm_number(tasks));
    most = is_one ? NULL : strchr(tasks, '%');
    most = most ? most : asked ? strchr(asked, '%') : NULL;
    if (most && slurm_number(most + 1) >= 1)
        all->shape.running_max = floor(slurm_number(most + 1));
    array = kept(c, array);
    all->shape.id = is_one ? arena_printf(c->arena, "%s_%s", array, tasks) : array;
    if (is_one && isnan(all->shape.running_max))
        return;
    all->shape.array_id = array;
    all->shape.task_ids = arena_text(c->arena, tasks, strcspn(tasks, "%"));
}

static struct attempts *job_for(struct slurm_workload_reader *c, const char *id)
{
    const char *copy;
    size_t at = name_pool_add(&c->by_id, id, c->count, &copy, c->arena);
    struct attempts *job;

    if (!copy)
        return &c->jobs[at];
    if (c->count == c->room) {
        size_t room = c->room ? 2 * c->room : ROOM_FIRST;

        c->jobs = GROW(c->arena, c->jobs, struct attempts, c->room, room);
        c->room = room;
    }
    job = &c->jobs[c->count++];
    job->id = copy;
    job->first_s = HUGE_VAL;
    job->start_s = -HUGE_VAL;
    job->eligible_s = job->cancel_s = (double)NAN;
    job->raw = slurm_number(id);
    job->sibling = NO_JOB;
#define X(column, doc) job->job.column = (double)NAN;
    SWF_COLUMNS(X)
#undef X
    return job;
}

/* What does not change from one attempt to the next, but as the last one has it. */
static void fill_job(struct slurm_workload_reader *c, const struct slurm_record *r,
                     struct attempts *all)
{
    const char *state = r->value[SLURM_F_STATE];
    struct swf_job *job = &all->job;

    job->number = (double)(all - c->jobs + 1);
    all->shape = shape_of(c, r, all->id);
    name_job(c, r, all, all->id);
    all->shape.ends_well = strncmp(state, "COMPLETED", 9) == 0;
    job->processors = job->requested_processors = processors_of(c, r);
    job->requested_s = limit_of(r);
    job->status = status_of(state);
    job->user = number_of(c, &c->user, &c->out->user, all->shape.user);
    job->group = number_of(c, &c->account, &c->out->account, all->shape.account);
    job->queue = number_of(c, &c->qos, &c->out->qos, all->shape.qos);
    job->partition =
        number_of(c, &c->partition, &c->out->partition, all->shape.partition);
}

/* A row without a start: it waits still, it left the queue, or nobody knows. */
static void read_unstarted(struct slurm_workload_reader *c, const struct slurm_record *r,
                           struct attempts *all, double end_s)
{
    const char *state = r->value[SLURM_F_STATE];
    bool left = strncmp(state, "CANCELLED", 9) == 0 || strncmp(state, "DEADLINE", 8) == 0;

    if (strncmp(state, "PENDING", 7) == 0) {
        c->out->not_ended++;
    } else if (!left || !(end_s >= all->job.submit_s) || isfinite(all->start_s)) {
        c->out->never_ran++;
    } else {
        all->cancel_s = end_s;
        fill_job(c, r, all);
    }
}

/* The command of a job, if it says what is looked for in it. */
static const char *kept_command(struct slurm_workload_reader *c, const char *line)
{
    if (!line || (!slurm_option(line, "dependency", 3, 'd', c->scratch) &&
                  !slurm_option(line, "array", 1, 'a', c->scratch)))
        return NULL;
    return kept(c, line);
}

static void read_row(struct slurm_workload_reader *c, const struct slurm_record *r)
{
    const char *raw = slurm_value(r, SLURM_F_RAW_ID), *state = r->value[SLURM_F_STATE];
    const char *id = raw ? raw : slurm_value(r, SLURM_F_ID);
    double submit_s = slurm_instant_s(slurm_value(r, SLURM_F_SUBMIT), c->tz_offset_s);
    double start_s = slurm_instant_s(slurm_value(r, SLURM_F_START), c->tz_offset_s);
    double end_s = slurm_instant_s(slurm_value(r, SLURM_F_END), c->tz_offset_s);
    struct attempts *all;
    struct swf_job *job;

    if (id && strchr(id, '.'))
        return; /* a step */
    if (!id || !state || isnan(submit_s)) {
        c->out->unusable++;
        return;
    }
    all = job_for(c, id);
    job = &all->job;
    if (!isnan(job->submit_s))
        c->out->merged++;
    if (!(job->submit_s <= submit_s)) {
        all->eligible_s =
            slurm_instant_s(slurm_value(r, SLURM_F_ELIGIBLE), c->tz_offset_s);
        all->submit_line = kept_command(c, slurm_value(r, SLURM_F_SUBMIT_LINE));
    }
    job->submit_s = fmin(submit_s, isnan(job->submit_s) ? HUGE_VAL : job->submit_s);
    if (isnan(start_s)) {
        read_unstarted(c, r, all, end_s);
        return;
    }
    all->first_s = fmin(all->first_s, start_s);
    if (start_s < all->start_s)
        return;                  /* an earlier attempt */
    if (!isnan(all->cancel_s)) { /* it ran before it was cancelled, or after */
        c->out->never_ran++;
        all->cancel_s = (double)NAN;
    }
    all->start_s = start_s;
    all->is_usable = end_s >= start_s;
    c->out->not_ended += !all->is_usable;
    job->run_s = end_s - start_s;
    fill_job(c, r, all);
}

/* ---- what jobs waited for ---- */

static bool is_kept(const struct attempts *all)
{
    return all->is_usable || !isnan(all->cancel_s);
}

static void index_shapes(struct slurm_workload_reader *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const char *id = c->jobs[i].shape.id, *end = id ? strchr(id, '_') : NULL, *array;
        size_t before;

        budget_read_step(8);
        if (!is_kept(&c->jobs[i]))
            continue;
        name_index_add(&c->by_shape, id, i);
        if (!end && !c->jobs[i].shape.array_id)
            continue;
        array = end ? arena_text(c->arena, id, (size_t)(end - id)) : id;
        before = name_index_add(&c->by_array, array, i);
        if (before != NAME_NOT_FOUND) { /* the first one is at the head of the list */
            c->jobs[i].sibling = c->jobs[before].sibling;
            c->jobs[before].sibling = i;
        }
    }
}

/* The list of a job while it is made. */
struct waits {
    struct slurm_workload_reader *c;
    const struct attempts *of;
    struct slurm_after *list;
    size_t count, room;
    bool is_met; /* by one that is not in the log */
    bool is_given_up;
};

/* Nobody waits for who came later: no list has a cycle. */
static bool came_before(const struct attempts *x, const struct attempts *y)
{
    if (x->job.submit_s < y->job.submit_s || x->job.submit_s > y->job.submit_s)
        return x->job.submit_s < y->job.submit_s;
    return x->raw < y->raw;
}

static void wait_for(struct waits *w, size_t at, const struct slurm_after *after)
{
    const struct attempts *other = &w->c->jobs[at];

    budget_read_step(8);
    if (!came_before(other, w->of)) {
        w->is_met = true;
        return;
    }
    w->is_given_up |= w->count == SLURM_AFTER_MAX ||
                      (other->shape.task_ids && !strchr(other->shape.id, '_'));
    if (w->is_given_up)
        return;
    if (w->count == w->room) {
        size_t room = w->room ? 2 * w->room : 4;

        w->list = GROW(w->c->arena, w->list, struct slurm_after, w->room, room);
        w->room = room;
    }
    w->list[w->count] = *after;
    w->list[w->count++].job_id = other->shape.id;
}

/* All tasks of an array, of aftercorr the one of the same number. */
static void wait_for_named(struct waits *w, const struct slurm_after *after)
{
    const struct slurm_workload_reader *c = w->c;
    const char *task = strchr(w->of->shape.id, '_');
    size_t array = name_index_find(&c->by_array, after->job_id), at;
    const char *one = after->job_id;

    if (strcmp(after->kind, "corr") == 0 && array != NAME_NOT_FOUND && task) {
        one = arena_printf(c->arena, "%s%s", after->job_id, task);
        array = NAME_NOT_FOUND;
    }
    if (array != NAME_NOT_FOUND) {
        for (size_t i = array; i != NO_JOB && !w->is_given_up; i = c->jobs[i].sibling)
            wait_for(w, i, after);
        return;
    }
    at = name_index_find(&c->by_shape, one);
    if (at == NAME_NOT_FOUND)
        w->is_met = true;
    else
        wait_for(w, at, after);
}

static void read_waits(struct slurm_workload_reader *c, struct attempts *all)
{
    const char *line = all->submit_line;
    struct waits w = {.c = c, .of = all};
    struct slurm_dependency asked;

    slurm_dependency_read(slurm_option(line, "dependency", 3, 'd', c->arena), &asked,
                          c->arena);
    all->shape.singleton = asked.singleton;
    for (size_t i = 0; i < asked.after_count && !w.is_given_up; i++)
        wait_for_named(&w, &asked.after[i]);
    if (w.is_given_up || asked.bad_count || (asked.is_any && w.is_met) || !w.count)
        return;
    all->shape.after = w.list;
    all->shape.after_count = w.count;
    all->shape.any_after = asked.is_any;
    if (!slurm_option(line, "begin", 1, 'b', c->arena) &&
        !slurm_option(line, "hold", 2, 'H', c->arena))
        all->eligible_s = (double)NAN;
}

/* ---- the log ---- */

/* On the scale of the first arrival, and sorted. */
static void scale_jobs(const struct slurm_workload_reader *c, struct swf_job **jobs,
                       size_t count, struct slurm_shape *shapes, struct arena *a)
{
    struct swf_log log = {.jobs = *jobs, .count = count, .arena = a};
    double begin_s = c->out->begin_s;

    for (size_t i = 0; i < count; i++)
        (*jobs)[i].submit_s -= begin_s;
    swf_log_sort(&log);
    *jobs = log.jobs;
    for (size_t i = 0; i < count; i++) {
        const struct attempts *from = &c->jobs[(size_t)log.jobs[i].number - 1];
        double eligible_s = from->eligible_s - begin_s;

        shapes[i] = from->shape;
        shapes[i].eligible_s =
            eligible_s > log.jobs[i].submit_s ? eligible_s : (double)NAN;
        shapes[i].cancel_s = from->cancel_s - begin_s;
        log.jobs[i].number = (double)(i + 1);
    }
}

static void keep_usable(struct slurm_workload_reader *c, struct arena *a)
{
    struct slurm_workload *out = c->out;
    size_t usable = 0, withdrawn = 0;
    double wait_s = 0;

    for (size_t i = 0; i < c->count; i++) {
        usable += c->jobs[i].is_usable;
        withdrawn += !c->jobs[i].is_usable && is_kept(&c->jobs[i]);
    }
    out->jobs = NEW(a, struct swf_job, usable + 1);
    out->shapes = NEW(a, struct slurm_shape, usable + 1);
    out->withdrawn = NEW(a, struct swf_job, withdrawn + 1);
    out->withdrawn_shapes = NEW(a, struct slurm_shape, withdrawn + 1);
    for (size_t i = 0; i < c->count; i++) {
        struct attempts *from = &c->jobs[i];

        if (!is_kept(from))
            continue;
        out->begin_s =
            fmin(from->job.submit_s, isnan(out->begin_s) ? HUGE_VAL : out->begin_s);
        read_waits(c, from);
        if (!from->is_usable) {
            from->job.run_s = from->cancel_s - from->job.submit_s;
            out->withdrawn[out->withdrawn_count++] = from->job;
            continue;
        }
        out->jobs[out->job_count++] = from->job;
        if (isnan(from->job.requested_s))
            out->unlimited++;
        wait_s += from->first_s - from->job.submit_s;
    }
    out->mean_wait_s = out->job_count ? wait_s / (double)out->job_count : (double)NAN;
    scale_jobs(c, &out->jobs, out->job_count, out->shapes, a);
    scale_jobs(c, &out->withdrawn, out->withdrawn_count, out->withdrawn_shapes, a);
}

struct slurm_workload_reader *
slurm_workload_open(double tz_offset_s, struct slurm_workload *out, struct arena *a)
{
    struct slurm_workload_reader *c = NEW(a, struct slurm_workload_reader, 1);

    *out = (struct slurm_workload){.begin_s = NAN};
    c->out = out;
    c->tz_offset_s = tz_offset_s;
    c->arena = a;
    c->scratch = arena_create_beside(a, arena_cap_bytes(a));
    return c;
}

void slurm_workload_row(struct slurm_workload_reader *c, const struct slurm_record *row)
{
    budget_read_step(SLURM_FIELD_COUNT);
    read_row(c, row);
    arena_reset(c->scratch);
}

void slurm_workload_end(struct slurm_workload_reader *c)
{
    name_index_create(&c->by_shape, c->count + 1, c->arena);
    name_index_create(&c->by_array, c->count + 1, c->arena);
    index_shapes(c);
    keep_usable(c, c->arena);
}

void slurm_workload_read(const struct slurm_records *from, double tz_offset_s,
                         struct slurm_workload *out, struct arena *a)
{
    const struct slurm_list *rows = &from->of[SLURM_JOB];
    struct slurm_workload_reader *c = slurm_workload_open(tz_offset_s, out, a);

    for (size_t i = 0; i < rows->count; i++)
        slurm_workload_row(c, &rows->records[i]);
    slurm_workload_end(c);
}
