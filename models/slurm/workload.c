/* workload.c - what accounting says of jobs, as a job log that can be replayed. */
#include "models/slurm/workload.h"

#include "models/base/budget_read.h"
#include "models/base/names.h"
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
};

struct reading {
    struct slurm_workload *out;
    struct attempts *jobs;
    size_t count;
    struct name_index by_id;
#define X(member, field) struct name_index member;
    SLURM_NUMBERED(X)
#undef X
    double tz_offset_s;
    struct arena *arena;
};

static double number_of(struct name_index *index, struct slurm_names *names,
                        const char *name)
{
    size_t at;

    if (!name)
        return (double)NAN;
    at = name_index_find(index, name);
    if (at == NAME_NOT_FOUND) {
        at = ++names->count;
        names->name[at] = name;
        name_index_add(index, name, at);
    }
    return (double)at;
}

/* What the row says it was given, else what it asked for. */
static size_t amounts_of(const struct reading *c, const struct slurm_record *r,
                         const struct slurm_amount **list)
{
    const char *given = slurm_value(r, SLURM_F_TRES_GIVEN);

    return slurm_tracked(given ? given : slurm_value(r, SLURM_F_TRES_ASKED), list,
                         c->arena);
}

static double processors_of(const struct reading *c, const struct slurm_record *r)
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

static struct slurm_amounts needs_of(const struct reading *c,
                                     const struct slurm_amount *list, size_t count,
                                     double nodes)
{
    struct slurm_sums sums = {.arena = c->arena};

    for (size_t i = 0; i < count; i++)
        if (strncmp(list[i].name, "gres/", 5) == 0)
            slurm_sums_add(&sums, slurm_gres_name(list[i].name, list[i].type, c->arena),
                           list[i].count / nodes);
        else if (strncmp(list[i].name, "license/", 8) == 0)
            slurm_sums_add(&sums, slurm_licence_name(list[i].name + 8, c->arena),
                           list[i].count);
    return (struct slurm_amounts){sums.list, sums.count};
}

static struct slurm_shape shape_of(const struct reading *c, const struct slurm_record *r,
                                   const char *id)
{
    const struct slurm_amount *list;
    size_t count = amounts_of(c, r, &list);
    double cpus = processors_of(c, r), nodes = nodes_of(r, list, count);
    double memory = slurm_amount_of(list, count, "mem");
    struct slurm_shape shape = {.id = id,
                                .user = slurm_value(r, SLURM_F_USER),
                                .account = slurm_value(r, SLURM_F_ACCOUNT),
                                .partition = slurm_value(r, SLURM_F_PARTITION),
                                .qos = slurm_value(r, SLURM_F_QOS),
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

static struct attempts *job_for(struct reading *c, const char *id)
{
    size_t at = name_index_find(&c->by_id, id);

    if (at != NAME_NOT_FOUND)
        return &c->jobs[at];
    name_index_add(&c->by_id, id, c->count);
    c->jobs[c->count].first_s = HUGE_VAL;
    c->jobs[c->count].start_s = -HUGE_VAL;
    c->jobs[c->count].eligible_s = (double)NAN;
#define X(column, doc) c->jobs[c->count].job.column = (double)NAN;
    SWF_COLUMNS(X)
#undef X
    return &c->jobs[c->count++];
}

static void read_row(struct reading *c, const struct slurm_record *r)
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
    if (!(job->submit_s <= submit_s))
        all->eligible_s =
            slurm_instant_s(slurm_value(r, SLURM_F_ELIGIBLE), c->tz_offset_s);
    job->submit_s = fmin(submit_s, isnan(job->submit_s) ? HUGE_VAL : job->submit_s);
    if (isnan(start_s)) {
        bool waits = strncmp(state, "PENDING", 7) == 0;

        c->out->not_ended += waits;
        c->out->never_ran += !waits;
        return;
    }
    all->first_s = fmin(all->first_s, start_s);
    if (start_s < all->start_s)
        return; /* an earlier attempt */
    all->start_s = start_s;
    all->is_usable = end_s >= start_s;
    c->out->not_ended += !all->is_usable;
    job->number = (double)(all - c->jobs + 1);
    job->run_s = end_s - start_s;
    all->shape = shape_of(c, r, id);
    job->processors = job->requested_processors = processors_of(c, r);
    job->requested_s = limit_of(r);
    job->status = status_of(state);
    job->user = number_of(&c->user, &c->out->user, slurm_value(r, SLURM_F_USER));
    job->group =
        number_of(&c->account, &c->out->account, slurm_value(r, SLURM_F_ACCOUNT));
    job->queue = number_of(&c->qos, &c->out->qos, slurm_value(r, SLURM_F_QOS));
    job->partition =
        number_of(&c->partition, &c->out->partition, slurm_value(r, SLURM_F_PARTITION));
}

/* Of those that ran: on the scale of the first arrival, and sorted. */
static void keep_usable(struct reading *c, struct arena *a)
{
    struct slurm_workload *out = c->out;
    struct swf_log log = {.arena = a};
    double wait_s = 0;

    out->jobs = NEW(a, struct swf_job, c->count + 1);
    out->shapes = NEW(a, struct slurm_shape, c->count + 1);
    for (size_t i = 0; i < c->count; i++) {
        if (!c->jobs[i].is_usable)
            continue;
        out->jobs[out->job_count++] = c->jobs[i].job;
        out->begin_s =
            fmin(c->jobs[i].job.submit_s, isnan(out->begin_s) ? HUGE_VAL : out->begin_s);
        wait_s += c->jobs[i].first_s - c->jobs[i].job.submit_s;
    }
    out->mean_wait_s = out->job_count ? wait_s / (double)out->job_count : (double)NAN;
    for (size_t i = 0; i < out->job_count; i++) {
        struct swf_job *job = &out->jobs[i];

        job->submit_s -= out->begin_s;
        if (isnan(job->requested_s))
            out->unlimited++;
    }
    log.jobs = out->jobs;
    log.count = out->job_count;
    swf_log_sort(&log);
    out->jobs = log.jobs;
    for (size_t i = 0; i < out->job_count; i++) {
        const struct attempts *from = &c->jobs[(size_t)out->jobs[i].number - 1];
        double eligible_s = from->eligible_s - out->begin_s;

        out->shapes[i] = from->shape;
        out->shapes[i].eligible_s =
            eligible_s > out->jobs[i].submit_s ? eligible_s : (double)NAN;
        out->jobs[i].number = (double)(i + 1);
    }
}

void slurm_workload_read(const struct slurm_records *from, double tz_offset_s,
                         struct slurm_workload *out, struct arena *a)
{
    const struct slurm_list *rows = &from->of[SLURM_JOB];
    struct reading c = {.out = out, .tz_offset_s = tz_offset_s, .arena = a};

    *out = (struct slurm_workload){.begin_s = NAN};
    c.jobs = NEW(a, struct attempts, rows->count + 1);
    name_index_create(&c.by_id, rows->count + 1, a);
#define X(member, field)                              \
    name_index_create(&c.member, rows->count + 1, a); \
    out->member.name = NEW(a, const char *, rows->count + 2);
    SLURM_NUMBERED(X)
#undef X
    for (size_t i = 0; i < rows->count; i++) {
        budget_read_step(SLURM_FIELD_COUNT);
        read_row(&c, &rows->records[i]);
    }
    keep_usable(&c, a);
}
