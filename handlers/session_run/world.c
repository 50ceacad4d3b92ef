/* world.c - the hosts of a run as they are now: the snapshot, what events say of hosts,
 * what others hold, and processes of the run that should not be running.
 */
#include "handlers/session_run/run.h"

#include "handlers/common/snapshot_json.h"
#include "models/base/names.h"
#include "models/snapshot_at.h"
#include "service/store_lease.h"

#include <string.h>

/* ---- the snapshot and its leases ---- */

static const char *owner_of(const struct session_run *run)
{
    return arena_printf(run->rq->arena, LEASE_SESSION_PREFIX "%s", run->row.session_id);
}

/* What others hold goes on, past its end for another quarter of its age. */
static void prolong(const struct session_run *run, struct lease_held *held)
{
    struct lease_row *rows = NEW(run->rq->arena, struct lease_row, held->placement_count);

    for (size_t k = 0; k < held->placement_count; k++) {
        double age_s = run->now_s - held->placements[k].start_at_s;

        rows[k] = held->placements[k];
        if (!isnan(rows[k].end_at_s) && age_s > 0)
            rows[k].end_at_s =
                run->now_s +
                session_remaining_s(rows[k].end_at_s - rows[k].start_at_s, age_s);
    }
    held->placements = rows;
}

static void keep_leases_of_others(const struct session_run *run,
                                  struct snapshot_view *view)
{
    struct lease_held *kept = NEW(run->rq->arena, struct lease_held, view->lease_count);
    const char *own = owner_of(run);
    size_t count = 0;

    for (size_t i = 0; i < view->lease_count && !run->is_replay; i++) {
        if (strcmp(view->leases[i].owner, own) == 0)
            continue;
        kept[count] = view->leases[i];
        prolong(run, &kept[count++]);
    }
    view->leases = kept;
    view->lease_count = count;
}

/* From when the snapshot's seconds count; a replay may be of an earlier instant. */
static double made_at_s(const struct session_run *run, const struct snapshot *s,
                        double written_at_s)
{
    return fmin(run->now_s, isnan(s->taken_at_s) ? written_at_s : s->taken_at_s);
}

static enum error_code read_stored(struct session_run *run)
{
    struct request *rq = run->rq;
    struct snapshot_view view;
    const char *document;
    struct snapshot s;

    TRY(snapshot_view_read(rq, run->row.snapshot_id, &view, &document));
    TRY(json_read(&snapshot_json, document, strlen(document), &s, NULL, rq->arena,
                  rq->err));
    s = snapshot_at(&s, made_at_s(run, &s, view.written_at_s), run->now_s, rq->arena);
    view.now_at_s = run->now_s;
    keep_leases_of_others(run, &view);
    run->base = snapshot_with_leases(&s, &view, rq->arena);
    run->base.leased_ids = NULL; /* they are among what runs */
    run->base.leased_id_count = 0;
    return OK;
}

/* ---- what runs twice in it ---- */

/* Ids under which the snapshot has attempts of this run among what runs. */
static void add_own(const struct session_run *run, struct name_index *own)
{
    name_index_create(own, run->event_count, run->rq->arena);
    for (size_t i = 0; i < run->task_count; i++)
        for (const struct session_attempt *t = run->state.of[i].attempts; t; t = t->next)
            if (t->status == SESSION_TRY_RUNNING && t->started->running_id)
                name_index_add(own, t->started->running_id, i);
}

static size_t without(const struct taken_running *list, size_t count,
                      const struct name_index *own, struct taken_running *out)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (name_index_find(own, list[i].id) == NAME_NOT_FOUND)
            out[kept++] = list[i];
    return kept;
}

/* ---- hosts ---- */

static void apply_events(const struct session_run *run, struct resource *r)
{
    const struct session_host *host = session_host_of(&run->fold, r->id);

    if (session_host_is_down(host))
        r->failed = true;
    if (host && host->speed)
        r->mips_total = host->speed->mips_total;
}

static struct taken_running still_held(const struct session_run *run,
                                       const struct session_cancel *c,
                                       const struct session_times *times)
{
    bool is_first = c->started == c->attempt->started;
    /* A second process of the attempt is another one that runs: it has its own end. */
    const char *id =
        arena_printf(run->rq->arena, "%s#%llu%s%s", run->graph[c->task].id,
                     (unsigned long long)c->attempt->number, is_first ? "" : "@",
                     is_first ? "" : c->started->resource_id);
    struct taken_running row =
        session_holds(run, c->task, lease_held_name(owner_of(run), id, run->rq->arena));
    double elapsed_s = fmax(0, run->now_s - c->started->observed_at_s);
    enum session_source source;
    double time_s = session_started_s(times, c->task, c->started, &source);

    if (is_first)
        time_s = session_total_s(time_s, c->attempt);
    row.elapsed_s = elapsed_s;
    if (!isnan(time_s)) /* else it has no end that is known */
        row.expected_end_s = session_remaining_s(time_s, elapsed_s);
    return row;
}

/* Room for what the snapshot has there, and so many more. */
static void copy_running(const struct session_run *run, struct resource *r,
                         const struct name_index *own, size_t more)
{
    struct taken_running *list =
        NEW(run->rq->arena, struct taken_running, r->running_count + more);

    r->running_count = without(r->running, r->running_count, own, list);
    r->running = list;
}

static void add_cancelled(struct session_run *run, struct resource *resources)
{
    const struct session_times *times;

    if (run->state.cancel_count == 0)
        return;
    times = session_times_of(run);
    for (size_t i = 0; i < run->state.cancel_count; i++) {
        const struct session_cancel *c = &run->state.cancel[i];
        size_t at = name_index_find(&run->resources, c->resource_id);

        if (!c->holds || at == NAME_NOT_FOUND)
            continue;
        ((struct taken_running *)resources[at].running)[resources[at].running_count++] =
            still_held(run, c, times);
    }
}

static void make_world(struct session_run *run)
{
    const struct snapshot *s = &run->base;
    struct arena *a = run->rq->arena;
    struct resource *resources = NEW(a, struct resource, s->resource_count);
    struct taken_running *running = NEW(a, struct taken_running, s->running_count);
    size_t *more = NEW(a, size_t, s->resource_count);
    struct name_index own;

    add_own(run, &own);
    name_index_create(&run->resources, s->resource_count, a);
    for (size_t i = 0; i < s->resource_count; i++)
        name_index_add(&run->resources, s->resources[i].id, i);
    for (size_t i = 0; i < run->state.cancel_count; i++) {
        size_t at = name_index_find(&run->resources, run->state.cancel[i].resource_id);

        if (at != NAME_NOT_FOUND)
            more[at]++;
    }
    for (size_t i = 0; i < s->resource_count; i++) {
        budget_step(&run->rq->finish, s->resources[i].running_count + 1);
        resources[i] = s->resources[i];
        apply_events(run, &resources[i]);
        copy_running(run, &resources[i], &own, more[i]);
    }
    run->world = *s;
    run->world.taken_at_s = run->now_s;
    run->world.resources = resources;
    run->world.running_count = without(s->running, s->running_count, &own, running);
    run->world.running = running;
    add_cancelled(run, resources);
}

enum error_code session_world(struct session_run *run)
{
    const struct snapshot *s = run->definition.snapshot;

    if (run->row.snapshot_id)
        TRY(read_stored(run));
    else
        run->base = snapshot_at(s, made_at_s(run, s, run->row.defined_at_s), run->now_s,
                                run->rq->arena);
    TRY(session_models_ask(run));
    make_world(run);
    return OK;
}
