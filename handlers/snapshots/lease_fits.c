/* lease_fits.c - whether a lease fits beside all that has amounts of a snapshot.
 *
 * What leases hold is tried as takes of jobs: those of live leases are had by their
 * owners, those that are asked for are jobs behind them. What runs and is reserved comes
 * with the snapshot. */
#include "handlers/snapshots/lease.h"

#include "algorithms/placement/amounts.h"
#include "algorithms/world/lease.h"
#include "models/base/names.h"
#include "models/base/plural.h"
#include "models/base/pointer.h"

#include <stdio.h>
#include <string.h>

struct fitting {
    struct request *rq;
    const struct snapshot *snapshot;
    const struct lease_rows *asked;
    double now_at_s;
    struct name_index resources; /* of the snapshot, by id */
    const struct lease_running *running;
    struct job *jobs;
    struct lease_take *takes; /* by job; positions are snapshot indexes at first */
    size_t count, live_count; /* those of live leases come first */
};

static struct job job_of(const struct lease_row *row, size_t nodes)
{
    struct job job = job_unset(row->job_id);

    job.cpus = row->cpus;
    job.memory_bytes = row->memory_bytes;
    job.disk_bytes = row->disk_bytes;
    job.needs = row->needs;
    job.need_count = row->need_count;
    job.nodes = nodes;
    job.exclusive = row->exclusive;
    return job;
}

/* Adds a row of a lease; of its resources those that are still there. */
static void add_row(struct fitting *f, const struct lease_row *row, const char *owner)
{
    size_t *positions = NEW(f->rq->arena, size_t, row->resource_id_count);
    double end_s = isnan(row->end_at_s) ? HUGE_VAL : row->end_at_s - f->now_at_s;
    size_t n = 0;

    budget_step(&f->rq->finish, row->resource_id_count + 1);
    for (size_t i = 0; i < row->resource_id_count; i++) {
        size_t at = name_index_find(&f->resources, row->resource_ids[i]);

        if (at != NAME_NOT_FOUND)
            positions[n++] = at;
    }
    f->jobs[f->count] = job_of(row, n ? n : 1);
    f->takes[f->count] = (struct lease_take){
        .job = f->count,
        .positions = positions,
        .position_count = n,
        .start_s = fmax(row->start_at_s - f->now_at_s, 0),
        .end_s = end_s > 0 ? end_s : 1, /* overdue, as with what runs */
        .owner = owner,
    };
    f->count++;
}

static void add_live(struct fitting *f, const struct lease *live, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < live[i].placement_count; k++)
            if (!lease_runs(f->running, &live[i].placements[k]))
                add_row(f, &live[i].placements[k], live[i].owner);
    f->live_count = f->count;
}

static size_t rows_of(const struct lease *live, size_t count)
{
    size_t rows = 0;

    for (size_t i = 0; i < count; i++)
        rows += live[i].placement_count;
    return rows;
}

/* Where the request has what is asked for, of all that is tried. */
static size_t number_of(const struct fitting *f, size_t job)
{
    size_t row = job - f->live_count;

    return f->asked->numbers ? f->asked->numbers[row] : row;
}

/* Mistakes of "/jobs/N" are those of the rows; any other is the snapshot's, which
 * the caller has not sent: then there is no saying what fits. */
static void explain(const struct fitting *f, const struct error *found)
{
    struct error *err = f->rq->err;

    if (!found->first) {
        *err = *found;
        return;
    }
    for (const struct error_item *i = found->first; i; i = i->next) {
        struct error_item moved = *i;
        size_t job;
        int used = 0;

        if (sscanf(i->pointer, "/jobs/%zu%n", &job, &used) != 1 || job < f->live_count) {
            fail(err, ERR_CONFLICT, "",
                 "the stored snapshot says no amounts that could be given away: "
                 "%s: %s",
                 i->pointer, i->detail);
            return;
        }
        moved.pointer = arena_printf(f->rq->arena, "/%s/%zu%s", f->asked->list,
                                     number_of(f, job), i->pointer + used);
        invalid_again(err, "", &moved);
    }
}

/* Without what has nothing to do with amounts, and only costs time. */
static struct snapshot reduced(const struct snapshot *s)
{
    struct snapshot out = *s;

    out.home_site_id = NULL;
    out.network.routes = NULL;
    out.network.route_count = 0;
    out.files = NULL;
    out.file_count = 0;
    out.partitions = NULL;
    out.partition_count = 0;
    return out;
}

/* NULL: it failed. */
static const struct world *make_world(const struct fitting *f)
{
    struct request *rq = f->rq;
    struct error found = {.arena = rq->arena};
    struct snapshot *s = NEW(rq->arena, struct snapshot, 1);
    struct placement_world *members = NEW(rq->arena, struct placement_world, 1);
    struct placement_in *in = NEW(rq->arena, struct placement_in, 1);
    struct placement_problem *p = NEW(rq->arena, struct placement_problem, 1);
    double *common = NEW(rq->arena, double, PARAMS_MAX);
    struct amounts_world made;
    struct amounts *checked;

    *s = reduced(f->snapshot);
    *in = (struct placement_in){.snapshot = s,
                                .jobs = f->jobs,
                                .job_count = f->count,
                                .world = members,
                                .budget = &rq->finish};
    if (params_bind(placement_common_params, NULL, 0, common, &found) != OK ||
        amounts_check(in, false, &checked, rq->arena, &found) != OK ||
        problem_prepare(in, common, p, rq->arena, &found) != OK) {
        explain(f, &found);
        return NULL;
    }
    amounts_world(p, checked, &made);
    return made.world;
}

/* From the snapshot's order to the world's. */
static void number_positions(const struct fitting *f, const struct world *w)
{
    size_t *position = NEW(f->rq->arena, size_t, w->resource_count);

    for (size_t p = 0; p < w->resource_count; p++)
        position[w->resources[p].index] = p;
    for (size_t i = 0; i < f->count; i++) {
        size_t *positions = NEW(f->rq->arena, size_t, f->takes[i].position_count);

        budget_step(&f->rq->finish, f->takes[i].position_count);
        for (size_t k = 0; k < f->takes[i].position_count; k++)
            positions[k] = position[f->takes[i].positions[k]];
        f->takes[i].positions = positions;
    }
}

/* An element of "errors". */
static void refuse(const struct fitting *f, const struct world *w,
                   const struct lease_refusal *r)
{
    bool whole = r->amount == AMOUNT_PRESENCE; /* yes or no */
    double needed = whole ? 1 : amount_value(w, r->amount, r->needed);
    double free = whole ? 0 : amount_value(w, r->amount, r->free);
    const char *name = w->amounts[r->amount].name;
    struct pointer list = pointer_of("", f->asked->list);
    struct pointer pointer = pointer_in(list.text, number_of(f, r->take), NULL);

    if (r->position == WORLD_NONE)
        invalid(f->rq->err, pointer.text, ITEM_CONFLICT,
                "%.15g of %s, which all share, are needed, and %.15g are free %.15g s "
                "from now",
                needed, name, free, r->at_s);
    else
        invalid(f->rq->err, pointer.text, ITEM_CONFLICT,
                "%.15g of %s are needed on '%.100s', and %.15g are free %.15g s from now",
                needed, name, w->resources[r->position].id, free, r->at_s);
    error_short(f->rq->err, name, needed, free, r->owners, r->owner_count);
}

enum error_code lease_fits(struct request *rq, const struct snapshot *s, double now_at_s,
                           const struct lease *live, size_t live_count,
                           const struct lease_rows *asked)
{
    size_t room = rows_of(live, live_count) + asked->count;
    struct fitting f = {.rq = rq,
                        .snapshot = s,
                        .asked = asked,
                        .now_at_s = now_at_s,
                        .running = lease_running_of(s, rq->arena),
                        .jobs = NEW(rq->arena, struct job, room),
                        .takes = NEW(rq->arena, struct lease_take, room)};
    const struct lease_refusal *refusals;
    const struct world *w;
    size_t refused;

    name_index_create(&f.resources, s->resource_count, rq->arena);
    for (size_t i = 0; i < s->resource_count; i++)
        name_index_add(&f.resources, s->resources[i].id, i);
    add_live(&f, live, live_count);
    for (size_t i = 0; i < asked->count; i++)
        add_row(&f, &asked->rows[i], NULL);
    w = make_world(&f);
    if (!w)
        return rq->err->code;
    number_positions(&f, w);
    refused = lease_check(w, f.takes, f.count, &refusals, rq->arena);
    if (refused == SIZE_MAX)
        return fail(rq->err, ERR_CANCELLED, "", "the client went away");
    if (refused == 0)
        return OK;
    for (size_t i = 0; i < refused; i++)
        refuse(&f, w, &refusals[i]);
    return fail(rq->err, ERR_CONFLICT, "",
                "%zu of %s %s not fit beside what others have; nothing is leased",
                refused, counted(asked->count, "placement").text,
                plural(refused, "does", "do"));
}
