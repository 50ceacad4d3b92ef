/* starts.c - what to start now: from a plan just made, or from one made a while ago.
 *
 * A plan holds until something happens that it did not expect, or for
 * replan_max_interval_s, but always for replan_min_interval_s. Until then each host goes
 * on with its tasks in the order of the plan (algorithms/session/host.h).
 * Meanwhile what spreads, excludes or packs is looked at as it is then, not as it was
 * planned. What needs more than its host (several nodes, shared amounts, its gang) starts
 * late only by a new plan; from an older one it starts if that had it start at once.
 */
#include "handlers/session_run/starts.h"

#include "algorithms/session/host.h"
#include "models/base/names.h"
#include "models/base/plural.h"
#include "service/clock.h"
#include "service/metrics.h"
#include "service/service.h"

#include <stdlib.h>
#include <string.h>

static const double NOW_S = 1e-9;      /* a start is now up to this */
static const double MOVED_RATIO = 0.1; /* of its total: an end is elsewhere */
static const double ASK_AGAIN_LEAST_S = 0.05;
static const double CELLS_A_SECOND = 1e6;

/* ---- does the plan hold? ---- */

struct plan_check {
    const struct session_run *run;
    const struct session_times *times;
    const struct session_plan *plan;
    struct name_index rows; /* of the plan, by task */
};

static const struct session_plan_row *row_of(const struct plan_check *j,
                                             const char *task_id)
{
    size_t at = name_index_find(&j->rows, task_id);

    return at == NAME_NOT_FOUND ? NULL : &j->plan->rows[at];
}

static struct session_places places_of(const struct session_plan_row *row)
{
    return session_places_of(&row->resource_id, row->resource_ids,
                             row->resource_id_count);
}

/* An attempt's end is elsewhere by more than a tenth of its time. */
static bool moves_end(const struct plan_check *j, const struct session_event *event)
{
    const struct session_run *run = j->run;
    const struct session_plan_row *row = row_of(j, event->task_id);
    size_t task = name_index_find(&run->ids, event->task_id);
    const struct session_attempt *t;
    enum session_source source;
    double total_s, end_at_s;

    if (!row || task == NAME_NOT_FOUND)
        return false;
    t = run->state.of[task].shown;
    if (!t || t->status != SESSION_TRY_RUNNING)
        return false;
    if (!session_places_known(run, session_places_started(t->started)))
        return true;
    total_s = session_total_s(session_started_s(j->times, task, t->started, &source), t);
    end_at_s = run->now_s + session_remaining_s(
                                total_s, fmax(0, run->now_s - t->started->observed_at_s));
    return fabs(end_at_s - (j->plan->planned_at_s + row->finish_s)) >
           MOVED_RATIO * total_s;
}

/* One that came after the plan. */
static bool upsets_plan(const struct plan_check *j, const struct session_event *event)
{
    const struct session_plan_row *row;

    switch (event->kind) {
    case SESSION_STARTED:
        row = row_of(j, event->task_id);
        return !row ||
               !session_places_same(places_of(row), session_places_started(event));
    case SESSION_PROGRESS:
        return moves_end(j, event);
    default:
        return true;
    }
}

static bool same_text(const char *left, const char *right)
{
    return left && right ? strcmp(left, right) == 0 : left == right;
}

/* How long a plan holds at least. */
static double least_s(const struct session_run *run)
{
    double given_s = run->definition.replan_min_interval_s;
    size_t left = run->task_count - run->state.counts[SESSION_TASK_DONE] -
                  run->state.counts[SESSION_TASK_CANCELLED] -
                  run->state.counts[SESSION_TASK_FAILED];

    return isnan(given_s)
               ? (double)left * (double)run->world.resource_count / CELLS_A_SECOND
               : given_s;
}

static double age_s(const struct session_run *run)
{
    return run->now_s - run->row.planned_at_s;
}

static bool is_young(const struct session_run *run)
{
    return age_s(run) >= 0 && age_s(run) < least_s(run);
}

/* What can be told without the plan: it is too old, or something has ended since. */
static bool is_outdated(const struct session_run *run)
{
    if (is_young(run))
        return false;
    if (age_s(run) < 0 || age_s(run) >= run->definition.replan_max_interval_s)
        return true;
    budget_step(&run->rq->finish, run->event_count);
    for (size_t i = run->event_count;
         i-- > 0 && run->events[i]->seq > run->row.planned_seq;)
        if (run->events[i]->kind != SESSION_STARTED &&
            run->events[i]->kind != SESSION_PROGRESS)
            return true;
    return false;
}

/* Of amounts that an older plan does not look at again. */
static bool takes_shared(const struct session_run *run, size_t task)
{
    return run->world.shared_capacity_count && run->tasks[task].task.need_count;
}

/* A task that needs more than its host is due, and only a new plan starts it: it was to
 * start later, or others may have taken since what all share. */
static bool is_wide_due(const struct session_run *run, const struct session_plan *plan)
{
    for (size_t i = 0; i < plan->row_count; i++) {
        const struct session_plan_row *row = &plan->rows[i];
        size_t task;

        if (!row->many || row->start_s > age_s(run) + NOW_S)
            continue;
        task = name_index_find(&run->ids, row->task_id);
        if (task == NAME_NOT_FOUND || run->granted[task] ||
            run->state.of[task].status != SESSION_TASK_READY)
            continue;
        if (row->start_s > NOW_S ||
            (takes_shared(run, task) && plan->revision != run->revision))
            return true;
    }
    return false;
}

/* Of a plan that is not outdated. */
static bool holds(const struct session_run *run, const struct session_times *times,
                  const struct session_plan *plan, const struct session_wish *wish)
{
    struct plan_check j = {.run = run, .times = times, .plan = plan};

    if (is_young(run))
        return true;
    if (run->row.seen_leases != run->row.world_version ||
        run->tasks_seq > plan->revision ||
        (!wish->any_candidates &&
         !same_text(plan->candidates,
                    session_candidates_key(&wish->candidates, run->rq->arena))))
        return false;
    if (is_wide_due(run, plan))
        return false;
    name_index_create(&j.rows, plan->row_count, run->rq->arena);
    for (size_t i = 0; i < plan->row_count; i++)
        name_index_add(&j.rows, plan->rows[i].task_id, i);
    for (size_t i = run->event_count; i-- > 0 && run->events[i]->seq > plan->revision;) {
        budget_step(&run->rq->finish, 8);
        if (upsets_plan(&j, run->events[i]))
            return false;
    }
    return true;
}

/* ---- the plan ---- */

static enum error_code read_plan(const struct session_run *run, struct session_plan *plan,
                                 bool *found)
{
    const char *text = run->row.plan;

    *found = text && !run->is_replay;
    return *found ? json_read(&session_plan_json, text, strlen(text), plan, NULL,
                              run->rq->arena, run->rq->err)
                  : OK;
}

enum error_code session_plan_schedule(struct session_run *run, struct session_plan *plan)
{
    struct request *rq = run->rq;
    struct db_session *db;
    const char *text;

    if (plan->schedule)
        return OK;
    TRY(request_db(rq, &db));
    TRY(store_session_schedule(db, rq->principal.tenant, run->row.session_id, &text,
                               rq->arena, rq->err));
    if (!text) /* another definition has come meanwhile */
        return fail(rq->err, ERR_BUSY, "", "the session is being planned anew");
    TRY(json_member(text, "schedule", &plan->schedule, rq->arena, rq->err));
    return json_member(text, "unplaced", &plan->unplaced, rq->arena, rq->err);
}

/* All tasks are done or cancelled, no process is left, and there is nothing to say of
 * them: as long as no event comes the answer stays what it is. */
static bool is_over(const struct session_run *run)
{
    return session_status_of(&run->state, run->granted_count) == SESSION_IS_FINISHED &&
           run->state.cancel_count == 0 && run->warning_count == 0;
}

/* The plan of who was faster is as good. */
static enum error_code write_plan(struct session_run *run, struct session_choice *out)
{
    struct request *rq = run->rq;
    struct text_buffer b = {.arena = rq->arena};
    struct store_session row = run->row;
    struct db_session *db;
    bool written, found;

    json_print(&session_plan_json, &out->plan, &b);
    text_add(&b, "", 1);
    row.plan = text_end(&b);
    row.schedule = arena_printf(rq->arena, "{\"schedule\":%s,\"unplaced\":%s}",
                                out->plan.schedule, out->plan.unplaced);
    row.plan_revision++;
    row.planned_at_s = run->now_s;
    row.planned_seq = run->revision;
    row.due_at_s = NAN;
    row.seen_leases = row.world_version;
    TRY(request_db(rq, &db));
    TRY(store_session_plan(db, rq->principal.tenant, &row, &written, rq->err));
    if (written) {
        run->row = row;
        return OK;
    }
    TRY(store_session_read(db, rq->principal.tenant, row.session_id, &row, rq->arena,
                           rq->err));
    run->row.plan = row.plan;
    run->row.plan_revision = row.plan_revision;
    run->row.planned_seq = row.planned_seq;
    run->row.planned_at_s = row.planned_at_s;
    run->row.seen_leases = row.seen_leases;
    TRY(read_plan(run, &out->plan, &found));
    out->is_fresh = !found;
    return OK;
}

static enum error_code settle_plan(struct session_run *run,
                                   const struct session_times *times,
                                   const struct session_wish *wish,
                                   struct session_choice *out)
{
    double began_s = clock_monotonic_s();
    bool found = false;

    if (!is_outdated(run))
        TRY(read_plan(run, &out->plan, &found));
    if (found && holds(run, times, &out->plan, wish))
        return OK;
    TRY(session_plan_make(run, times, &wish->candidates, &out->plan));
    metrics_session_plan(run->rq->service->metrics, clock_monotonic_s() - began_s);
    if (is_over(run))
        out->plan.over_s = run->definition.replan_max_interval_s;
    out->is_fresh = true;
    return run->is_replay ? OK : write_plan(run, out);
}

/* ---- candidates to start ---- */

/* A row of the plan that has not begun, on one of its resources. */
struct waiting {
    const struct session_plan_row *row;
    size_t task, resource;
    double start_s; /* from now */
    bool is_first;  /* of the resources of its row: it speaks for all */
    bool starts;
};

struct choosing {
    struct session_run *run;
    const struct session_times *times;
    const struct session_wish *wish;
    const struct session_plan *plan;
    struct waiting *list; /* by host in the snapshot's order, start, rank */
    size_t count;
    struct name_index candidates, resources;
    struct session_gangs gangs;
    size_t *holding; /* tasks that run, or are granted */
    size_t holding_count;
    struct session_hold *holds; /* of a host, for the moment */
    size_t hold_room;
};

static bool is_wanted(const struct choosing *c, size_t task)
{
    return !c->wish->candidates.ids ||
           name_index_find(&c->candidates, c->run->graph[task].id) != NAME_NOT_FOUND;
}

static bool is_asked_for(const struct choosing *c, const struct session_plan_row *row)
{
    struct session_places places = places_of(row);

    for (size_t k = 0; c->wish->resource_ids && k < places.count; k++)
        if (name_index_find(&c->resources, places.ids[k]) == NAME_NOT_FOUND)
            return false;
    return true;
}

/* None of its hosts has failed since. */
static bool are_up(const struct choosing *c, const struct session_plan_row *row)
{
    struct session_places places = places_of(row);

    for (size_t k = 0; k < places.count; k++) {
        size_t r = name_index_find(&c->run->resources, places.ids[k]);

        if (r == NAME_NOT_FOUND || c->run->world.resources[r].failed)
            return false;
    }
    return true;
}

static bool may_start(const struct choosing *c, const struct waiting *w)
{
    return c->run->state.of[w->task].status == SESSION_TASK_READY &&
           !c->run->granted[w->task] && is_wanted(c, w->task) && are_up(c, w->row);
}

static int by_host(const void *left, const void *right)
{
    const struct waiting *l = left, *r = right;

    if (l->resource != r->resource)
        return l->resource < r->resource ? -1 : 1;
    if (l->start_s != r->start_s)
        return l->start_s < r->start_s ? -1 : 1;
    if (l->row->rank_s != r->row->rank_s)
        return l->row->rank_s > r->row->rank_s ? -1 : 1;
    return (l->task > r->task) - (l->task < r->task);
}

static int by_rank(const void *left, const void *right)
{
    const struct waiting *const *l = left, *const *r = right;

    if ((*l)->row->rank_s != (*r)->row->rank_s)
        return (*l)->row->rank_s > (*r)->row->rank_s ? -1 : 1;
    return ((*l)->task > (*r)->task) - ((*l)->task < (*r)->task);
}

static void index_names(struct name_index *index, const char *const *names, size_t count,
                        struct arena *a)
{
    name_index_create(index, count, a);
    for (size_t i = 0; i < count; i++)
        name_index_add(index, names[i], i);
}

static void list_row(struct choosing *c, const struct session_plan_row *row, size_t task)
{
    struct session_places places = places_of(row);

    for (size_t k = 0; k < places.count; k++)
        c->list[c->count++] = (struct waiting){
            .row = row,
            .task = task,
            .resource = name_index_find(&c->run->resources, places.ids[k]),
            .start_s = c->plan->planned_at_s + row->start_s - c->run->now_s,
            .is_first = k == 0};
}

/* Resources that are asked for and are none of the run. */
static void warn_of_unknown(const struct choosing *c)
{
    const struct session_wish *wish = c->wish;
    const char *first = NULL;
    size_t count = 0;

    for (size_t i = 0; i < wish->resource_id_count; i++)
        if (name_index_find(&c->run->resources, wish->resource_ids[i]) ==
            NAME_NOT_FOUND) {
            first = first ? first : wish->resource_ids[i];
            count++;
        }
    if (count > 0)
        session_warn(
            c->run,
            "unknown_resource: %s of resource_ids, first '%.100s', %s not in the "
            "snapshot: nothing starts there",
            counted(count, "resource").text, first, plural(count, "is", "are"));
}

/* Rows whose tasks wait, or may start. */
static void gather(struct choosing *c)
{
    size_t room = 0;
    const struct session_run *run = c->run;
    struct arena *a = run->rq->arena;

    index_names(&c->candidates, c->wish->candidates.ids, c->wish->candidates.count, a);
    index_names(&c->resources, c->wish->resource_ids, c->wish->resource_id_count, a);
    warn_of_unknown(c);
    session_gangs_of(run, &c->gangs);
    for (size_t i = 0; i < c->plan->row_count; i++)
        room += places_of(&c->plan->rows[i]).count;
    c->list = NEW(a, struct waiting, room);
    for (size_t i = 0; i < c->plan->row_count; i++) {
        const struct session_plan_row *row = &c->plan->rows[i];
        size_t task = name_index_find(&run->ids, row->task_id);
        enum session_task_status status;

        if (task == NAME_NOT_FOUND || !session_places_known(run, places_of(row)))
            continue;
        status = run->state.of[task].status;
        if (run->granted[task] ||
            (status != SESSION_TASK_IDLE && status != SESSION_TASK_READY))
            continue;
        list_row(c, row, task);
    }
    if (c->count > 1)
        qsort(c->list, c->count, sizeof(*c->list), by_host);
}

/* ---- from a plan just made ---- */

static void start_fresh(struct choosing *c)
{
    for (size_t i = 0; i < c->count; i++)
        c->list[i].starts = c->list[i].start_s <= NOW_S && may_start(c, &c->list[i]);
}

/* ---- from an older plan: host by host ---- */

enum { AMOUNT_CPUS, AMOUNT_MEMORY, AMOUNT_DISK, AMOUNT_SLOTS, AMOUNT_NAMED };

struct hosting {
    struct choosing *c;
    const struct resource *r;
    size_t amount_count;
    double *capacity;
    struct session_hold *holds;
    size_t hold_count;
};

static double or_unlimited(double amount)
{
    return isnan(amount) ? HUGE_VAL : amount;
}

static void find_capacity(struct hosting *h)
{
    const struct resource *r = h->r;
    bool says_nothing = isnan(r->cpus) && isnan(r->n_max) && r->capacity_count == 0;

    h->amount_count = AMOUNT_NAMED + r->capacity_count;
    h->capacity = NEW(h->c->run->rq->arena, double, h->amount_count);
    h->capacity[AMOUNT_CPUS] = or_unlimited(r->cpus);
    h->capacity[AMOUNT_MEMORY] = or_unlimited(r->memory_bytes);
    h->capacity[AMOUNT_DISK] = or_unlimited(r->disk_bytes);
    h->capacity[AMOUNT_SLOTS] = says_nothing ? 1 : or_unlimited(r->n_max);
    for (size_t k = 0; k < r->capacity_count; k++)
        h->capacity[AMOUNT_NAMED + k] = r->capacities[k].number;
}

/* What a job takes of the host. */
static const double *amounts_of(const struct hosting *h, const struct taken_running *job)
{
    double *amounts = NEW(h->c->run->rq->arena, double, h->amount_count);

    if (job->exclusive) {
        memcpy(amounts, h->capacity, h->amount_count * sizeof(*amounts));
        return amounts;
    }
    amounts[AMOUNT_CPUS] = job->cpus;
    amounts[AMOUNT_MEMORY] = job->memory_bytes;
    amounts[AMOUNT_DISK] = job->disk_bytes;
    amounts[AMOUNT_SLOTS] = 1;
    for (size_t k = 0; k < h->r->capacity_count; k++)
        for (size_t n = 0; n < job->need_count; n++)
            if (strcmp(h->r->capacities[k].name, job->needs[n].name) == 0)
                amounts[AMOUNT_NAMED + k] = job->needs[n].number;
    return amounts;
}

static double end_of(const struct hosting *h, const struct taken_running *job)
{
    double now_s = h->c->run->now_s;

    if (!isnan(job->expected_end_s))
        return fmax(job->expected_end_s, NOW_S);
    if (!isnan(job->expected_end_at_s))
        return fmax(job->expected_end_at_s - now_s, NOW_S);
    return HUGE_VAL;
}

static bool is_on(const char *const *ids, size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(ids[i], id) == 0)
            return true;
    return false;
}

static void hold(struct hosting *h, const struct taken_running *job, double from_s,
                 double to_s)
{
    h->holds[h->hold_count++] = (struct session_hold){amounts_of(h, job), from_s, to_s};
}

static void hold_reserved(struct hosting *h, const struct taken_reservation *x)
{
    double now_s = h->c->run->now_s;
    struct taken_running job = {.cpus = isnan(x->cpus) ? 0 : x->cpus,
                                .memory_bytes =
                                    isnan(x->memory_bytes) ? 0 : x->memory_bytes,
                                .disk_bytes = isnan(x->disk_bytes) ? 0 : x->disk_bytes,
                                .needs = x->needs,
                                .need_count = x->need_count,
                                .exclusive = x->all};
    double from_s = !isnan(x->start_at_s) ? x->start_at_s - now_s
                    : isnan(x->start_s)   ? 0
                                          : x->start_s;
    double to_s = !isnan(x->end_at_s) ? x->end_at_s - now_s
                  : isnan(x->end_s)   ? HUGE_VAL
                                      : x->end_s;

    hold(h, &job, from_s, to_s);
}

/* Of a task that runs, or was granted. */
static struct session_places places_held(const struct choosing *c, size_t task)
{
    const struct session_task_state *of = &c->run->state.of[task];

    return of->status == SESSION_TASK_RUNNING
               ? session_places_started(of->shown->started)
               : session_places_granted(c->run->granted[task]);
}

/* Attempts of this run that run there, and what was granted. */
static void hold_own(struct hosting *h)
{
    const struct session_run *run = h->c->run;

    for (size_t n = 0; n < h->c->holding_count; n++) {
        size_t i = h->c->holding[n];
        const struct session_task_state *of = &run->state.of[i];
        const struct store_session_grant *grant = run->granted[i];
        struct taken_running job = session_holds(run, i, NULL);
        enum session_source source;
        double since_s, total_s;

        budget_step(&run->rq->finish, places_held(h->c, i).count);
        if (!session_places_have(places_held(h->c, i), h->r->id))
            continue;
        if (of->status == SESSION_TASK_RUNNING) {
            since_s = of->shown->started->observed_at_s;
            total_s = session_total_s(
                session_started_s(h->c->times, i, of->shown->started, &source),
                of->shown);
        } else {
            since_s = grant->granted_at_s;
            total_s = grant->run_time_s;
        }
        hold(h, &job, -HUGE_VAL,
             isnan(total_s) ? HUGE_VAL
                            : fmax(NOW_S, session_remaining_s(
                                              total_s, fmax(0, run->now_s - since_s))));
    }
}

static void make_room(struct choosing *c, size_t room)
{
    if (room <= c->hold_room)
        return;
    c->hold_room = 2 * room;
    c->holds = NEW(c->run->rq->arena, struct session_hold, c->hold_room);
}

static void find_holds(struct hosting *h)
{
    const struct session_run *run = h->c->run;
    const struct snapshot *s = &run->world;
    const struct resource *r = h->r;
    struct taken_running slot = {.cpus = 1};

    make_room(h->c, h->c->holding_count + r->running_count + s->running_count +
                        r->reservation_count + s->reservation_count +
                        (size_t)r->job_count + 1);
    h->holds = h->c->holds;
    hold_own(h);
    for (size_t i = 0; i < r->running_count; i++)
        hold(h, &r->running[i], -HUGE_VAL, end_of(h, &r->running[i]));
    for (size_t i = 0; i < s->running_count; i++)
        if (is_on(s->running[i].resource_ids, s->running[i].resource_id_count, r->id))
            hold(h, &s->running[i], -HUGE_VAL, end_of(h, &s->running[i]));
    for (size_t i = 0; i < r->reservation_count; i++)
        hold_reserved(h, &r->reservations[i]);
    for (size_t i = 0; i < s->reservation_count; i++)
        if (is_on(s->reservations[i].resource_ids, s->reservations[i].resource_id_count,
                  r->id))
            hold_reserved(h, &s->reservations[i]);
    for (size_t i = 0; i < (size_t)r->job_count; i++)
        hold(h, &slot, -HUGE_VAL,
             i < r->free_at_count && !isnan(r->free_at_s[i]) ? r->free_at_s[i]
                                                             : HUGE_VAL);
    if (r->ready_s > 0) {
        slot.exclusive = true;
        hold(h, &slot, -HUGE_VAL, r->ready_s);
    }
}

/* ---- groups ---- */

static const struct job_group *group_of(const struct choosing *c, size_t task)
{
    return c->run->tasks[task].task.group;
}

static bool is_pack(const struct job_group *g)
{
    return g->policy == JOB_PACK || g->policy == JOB_SAME_SITE;
}

/* What the group goes by at a resource if that is an attribute; NULL: it has none. */
static const struct named_value *attribute_of(const struct choosing *c,
                                              const struct job_group *g, size_t resource)
{
    return resource_attribute(&c->run->world.resources[resource], job_group_attribute(g));
}

/* Whether the group's key has the same value on two resources. */
static bool has_same_value(const struct choosing *c, const struct job_group *g,
                           size_t resource, size_t other)
{
    const char *site = c->run->world.resources[resource].site_id;
    const char *other_site = c->run->world.resources[other].site_id;
    bool by_site = strcmp(job_group_key(g), JOB_KEY_SITE) == 0;

    if (job_group_attribute(g))
        return resource_attributes_are_equal(attribute_of(c, g, resource),
                                             attribute_of(c, g, other));
    return resource == other ||
           (by_site && site && other_site && strcmp(site, other_site) == 0);
}

/* Whether the resource has what the group goes by. */
static bool has_key(const struct choosing *c, const struct job_group *g, size_t resource)
{
    return !job_group_attribute(g) || attribute_of(c, g, resource);
}

/* Whether a member on one resource counts for another: for a pack if it is elsewhere;
 * where there is nothing that the group goes by, it counts for none. */
static bool counts(const struct choosing *c, const struct job_group *g, size_t resource,
                   size_t other)
{
    return other != NAME_NOT_FOUND && has_key(c, g, other) &&
           has_same_value(c, g, resource, other) != is_pack(g);
}

/* How often a member of the group that is on `places` counts where a resource is. */
static size_t count_at(const struct choosing *c, const struct job_group *g, size_t task,
                       struct session_places places, size_t resource)
{
    const struct job_group *its = group_of(c, task);
    size_t count = 0;

    if (!its || strcmp(its->id, g->id) != 0)
        return 0;
    budget_step(&c->run->rq->finish, places.count);
    for (size_t k = 0; k < places.count; k++) {
        size_t other = name_index_find(&c->run->resources, places.ids[k]);

        count += counts(c, g, resource, other);
    }
    return count;
}

/* Members of the run that run, or were granted; a pack's that are done, too. */
static size_t count_own(const struct choosing *c, const struct job_group *g,
                        size_t resource)
{
    const struct session_run *run = c->run;
    size_t count = 0;

    for (size_t n = 0; n < c->holding_count; n++) {
        size_t i = c->holding[n];

        count += count_at(c, g, i, places_held(c, i), resource);
    }
    for (size_t i = 0; is_pack(g) && i < run->task_count; i++) {
        const struct session_attempt *t = run->state.of[i].shown;

        if (run->state.of[i].status == SESSION_TASK_DONE && t && t->started)
            count += count_at(c, g, i, session_places_started(t->started), resource);
    }
    return count;
}

/* Jobs of others that name the group. */
static size_t count_others(const struct choosing *c, const struct job_group *g,
                           size_t resource)
{
    const struct snapshot *s = &c->run->world;
    size_t count = 0;

    for (size_t r = 0; r < s->resource_count; r++) {
        budget_step(&c->run->rq->finish, 1 + s->resources[r].running_count);
        for (size_t i = 0; i < s->resources[r].running_count; i++) {
            const char *id = s->resources[r].running[i].group;

            count += id && strcmp(id, g->id) == 0 && counts(c, g, resource, r);
        }
    }
    for (size_t i = 0; i < s->running_count; i++) {
        budget_step(&c->run->rq->finish, 1 + s->running[i].resource_id_count);
        for (size_t k = 0; s->running[i].group && k < s->running[i].resource_id_count;
             k++) {
            size_t r = name_index_find(&c->run->resources, s->running[i].resource_ids[k]);

            count += strcmp(s->running[i].group, g->id) == 0 && counts(c, g, resource, r);
        }
    }
    return count;
}

/* Whether what spreads or excludes has room for one more where the row is, and a pack has
 * nobody elsewhere, with those that start from the rows before it. A plan that holds may
 * have been left since. */
static bool group_allows(const struct choosing *c, const struct waiting *w)
{
    const struct job_group *g = group_of(c, w->task);
    size_t count;

    if (!g || g->policy == JOB_GANG)
        return true;
    if (!has_key(c, g, w->resource))
        return false;
    budget_step(&c->run->rq->finish, c->holding_count + (size_t)(w - c->list));
    count = count_own(c, g, w->resource) + count_others(c, g, w->resource);
    for (const struct waiting *before = c->list; before < w; before++)
        if (before->starts && is_asked_for(c, before->row))
            count += count_at(c, g, before->task, places_of(before->row), w->resource);
    if (is_pack(g))
        return count == 0;
    return count < (g->max_per_key ? g->max_per_key : 1);
}

/* Whether an older plan is enough for it. */
static bool starts_old(const struct choosing *c, const struct waiting *w)
{
    return !w->row->many ||
           (w->row->start_s <= NOW_S &&
            (!takes_shared(c->run, w->task) || c->plan->revision == c->run->revision));
}

/* Rows [first, end) are those of one host. */
static void start_on_host(struct choosing *c, size_t first, size_t end)
{
    struct hosting h = {.c = c, .r = &c->run->world.resources[c->list[first].resource]};
    struct arena *a = c->run->rq->arena;
    struct session_waiting *rows = NEW(a, struct session_waiting, end - first);
    bool *starts = NEW(a, bool, end - first);

    find_capacity(&h);
    find_holds(&h);
    for (size_t i = first; i < end; i++) {
        struct waiting *w = &c->list[i];
        struct taken_running job = session_holds(c->run, w->task, NULL);
        enum session_source source;
        size_t slowest;
        double time_s =
            session_time_on_s(c->times, w->task, places_of(w->row), &source, &slowest);

        w->starts =
            may_start(c, w) && starts_old(c, w) && !isnan(time_s) && group_allows(c, w);
        rows[i - first] = (struct session_waiting){
            amounts_of(&h, &job), isnan(time_s) ? 0 : time_s, w->start_s, w->starts};
    }
    session_host_starts(h.capacity, h.amount_count, h.holds, h.hold_count, rows,
                        end - first, starts, &c->run->rq->finish, a);
    for (size_t i = first; i < end; i++)
        c->list[i].starts = starts[i - first];
}

/* Tasks that have amounts of a host. */
static void list_holding(struct choosing *c)
{
    const struct session_run *run = c->run;

    c->holding = NEW(run->rq->arena, size_t, run->task_count);
    budget_step(&run->rq->finish, run->task_count);
    for (size_t i = 0; i < run->task_count; i++)
        if (run->state.of[i].status == SESSION_TASK_RUNNING || run->granted[i])
            c->holding[c->holding_count++] = i;
}

/* A task of several nodes starts on all of them. */
static void start_on_all(struct choosing *c)
{
    size_t *able = NEW(c->run->rq->arena, size_t, c->run->task_count);

    budget_step(&c->run->rq->finish, c->count);
    for (size_t i = 0; i < c->count; i++)
        able[c->list[i].task] += c->list[i].starts;
    for (size_t i = 0; i < c->count; i++)
        c->list[i].starts = able[c->list[i].task] == places_of(c->list[i].row).count;
}

static void start_older(struct choosing *c)
{
    list_holding(c);
    for (size_t first = 0, end; first < c->count; first = end) {
        for (end = first; end < c->count; end++)
            if (c->list[end].resource != c->list[first].resource)
                break;
        budget_step(&c->run->rq->finish, c->holding_count + (end - first));
        start_on_host(c, first, end);
    }
    start_on_all(c);
}

/* ---- the answer ---- */

/* Seconds until an attempt or a grant of `total_s` is over. */
static double left_s(const struct session_run *run, double since_s, double total_s)
{
    return session_remaining_s(total_s, fmax(0, run->now_s - since_s));
}

/* What the holder was told, and has not begun: it may not have heard. */
static void repeat(struct choosing *c, struct session_choice *out)
{
    const struct session_run *run = c->run;

    for (size_t i = 0; c->wish->holder && i < run->task_count; i++) {
        const struct store_session_grant *g = run->granted[i];
        enum session_source source;
        size_t r;

        if (!g || strcmp(g->holder, c->wish->holder) != 0)
            continue;
        session_time_on_s(c->times, i, session_places_granted(g), &source, &r);
        out->starts[out->start_count++] = (struct session_start){
            .task_id = run->graph[i].id,
            .attempt = g->attempt,
            .resource_id = g->resource_id,
            .resource_ids = g->places,
            .resource_id_count = g->place_count,
            .run_time_s = g->run_time_s,
            .finish_s = left_s(run, g->granted_at_s, g->run_time_s),
            .run_time_basis = session_basis_of(run, i, r, source),
            .hold_until_at_s = g->expires_at_s,
            .task = i,
        };
    }
    out->again_count = out->start_count;
}

static size_t room_for_more(const struct choosing *c, const struct session_choice *out)
{
    const struct session_run *run = c->run;
    uint64_t most = run->definition.running_max, asked = c->wish->max_count;
    uint64_t busy = run->state.counts[SESSION_TASK_RUNNING] + run->granted_count;
    size_t room = SIZE_MAX;

    if (most)
        room = busy < most ? most - busy : 0;
    if (asked > out->again_count && asked - out->again_count < room)
        room = asked - out->again_count;
    return asked && asked <= out->again_count ? 0 : room;
}

static void list_start(struct choosing *c, struct waiting *w, struct session_choice *out)
{
    enum session_source source;
    size_t slowest;
    double time_s =
        session_time_on_s(c->times, w->task, places_of(w->row), &source, &slowest);

    w->starts = true;
    out->starts[out->start_count++] = (struct session_start){
        .task_id = c->run->graph[w->task].id,
        .attempt = c->run->state.of[w->task].next_attempt,
        .resource_id = w->row->resource_id,
        .resource_ids = w->row->resource_ids,
        .resource_id_count = w->row->resource_id_count,
        .run_time_s = time_s,
        .finish_s = time_s,
        .run_time_basis = session_basis_of(c->run, w->task, slowest, source),
        .hold_until_at_s = NAN,
        .task = w->task,
        .gang = c->gangs.of[w->task],
    };
}

/* What could start, by rank; a gang where its first member is. */
struct chosen {
    struct waiting **list;
    size_t count;
    size_t *next, *first; /* [list], [gang]: its members, by number + 1; 0: the end */
    size_t *able;         /* [gang]: members among them that are asked for */
};

static void choose(struct choosing *c, struct chosen *out)
{
    struct arena *a = c->run->rq->arena;

    *out = (struct chosen){.list = NEW(a, struct waiting *, c->count)};
    for (size_t i = 0; i < c->count; i++)
        if (c->list[i].starts && c->list[i].is_first)
            out->list[out->count++] = &c->list[i];
    if (out->count > 1)
        qsort(out->list, out->count, sizeof(struct waiting *), by_rank);
    out->next = NEW(a, size_t, out->count);
    out->first = NEW(a, size_t, c->gangs.count);
    out->able = NEW(a, size_t, c->gangs.count);
    for (size_t i = out->count; i-- > 0;) {
        struct waiting *w = out->list[i];
        size_t gang = c->gangs.of[w->task];

        budget_step(&c->run->rq->finish, 1 + places_of(w->row).count);
        w->starts = false;
        if (gang == SESSION_NO_TASK)
            continue;
        out->next[i] = out->first[gang];
        out->first[gang] = i + 1;
        out->able[gang] += is_asked_for(c, w->row);
    }
}

/* By rank; what there is no room for waits, a gang as a whole. */
static void list_starts(struct choosing *c, struct session_choice *out)
{
    bool *started = NEW(c->run->rq->arena, bool, c->run->task_count);
    size_t room, held_back = 0;
    struct chosen chosen;

    out->starts =
        NEW(c->run->rq->arena, struct session_start, c->count + c->run->granted_count);
    repeat(c, out);
    room = room_for_more(c, out);
    choose(c, &chosen);
    for (size_t i = 0; i < chosen.count; i++) {
        size_t gang = c->gangs.of[chosen.list[i]->task];

        if (gang == SESSION_NO_TASK && is_asked_for(c, chosen.list[i]->row) && room > 0) {
            list_start(c, chosen.list[i], out);
            room--;
        }
        if (gang == SESSION_NO_TASK || chosen.first[gang] != i + 1)
            continue;
        if (chosen.able[gang] < c->gangs.sizes[gang] || c->gangs.sizes[gang] > room) {
            held_back++;
            continue;
        }
        for (size_t k = i + 1; k; k = chosen.next[k - 1])
            list_start(c, chosen.list[k - 1], out);
        room -= c->gangs.sizes[gang];
    }
    if (held_back)
        session_warn(c->run,
                     "gang_held_back: %zu gang%s could start, but not with all members: "
                     "these are more than max_count or running_max leave room for, on "
                     "resources that were not asked for, or no candidates",
                     held_back, held_back == 1 ? "" : "s");
    for (size_t i = out->again_count; i < out->start_count; i++)
        started[out->starts[i].task] = true;
    for (size_t i = 0; i < c->count; i++)
        c->list[i].starts = started[c->list[i].task];
}

static void list_queues(const struct choosing *c, struct session_choice *out)
{
    struct arena *a = c->run->rq->arena;
    struct session_queue *queues =
        NEW(a, struct session_queue, c->run->world.resource_count);
    struct session_queued *rows = NEW(a, struct session_queued, c->count);
    struct session_queue *queue = NULL;
    size_t resource = SIZE_MAX, at = 0;

    for (size_t i = 0; i < c->count && c->wish->queue_depth; i++) {
        const struct waiting *w = &c->list[i];
        double late_s = fmax(0, -w->start_s);

        if (w->starts)
            continue;
        if (w->resource != resource) {
            queue = &queues[out->queue_count++];
            *queue = (struct session_queue){c->run->world.resources[w->resource].id,
                                            &rows[at], 0};
            resource = w->resource;
        }
        if (queue->task_count == c->wish->queue_depth)
            continue;
        queue->task_count++;
        rows[at++] = (struct session_queued){w->row->task_id, w->start_s + late_s,
                                             w->start_s + late_s +
                                                 (w->row->finish_s - w->row->start_s)};
    }
    out->queues = queues;
}

/* The engine starts by its own rule what it should not be asking for. */
static void list_unstartable(const struct choosing *c, struct session_choice *out)
{
    const struct session_run *run = c->run;
    struct session_unstartable *list =
        NEW(run->rq->arena, struct session_unstartable, c->wish->candidates.count);
    size_t count = 0;

    for (size_t i = 0; i < c->wish->candidates.count; i++) {
        const char *id = c->wish->candidates.ids[i];
        size_t task = name_index_find(&run->ids, id);
        enum session_task_status status;

        if (task == NAME_NOT_FOUND) {
            list[count++] = (struct session_unstartable){id, "unknown"};
            continue;
        }
        status = run->state.of[task].status;
        if (status != SESSION_TASK_IDLE && status != SESSION_TASK_READY)
            list[count++] =
                (struct session_unstartable){id, session_task_status_names[status]};
    }
    out->not_startable = list;
    out->not_startable_count = count;
}

static double ask_again_s(const struct choosing *c)
{
    const struct session_run *run = c->run;
    double soon_s =
        c->plan->planned_at_s + run->definition.replan_max_interval_s - run->now_s;

    if (!isnan(c->plan->over_s))
        soon_s = c->plan->over_s;
    for (size_t i = 0; i < c->count; i++)
        if (!c->list[i].starts && c->list[i].start_s > NOW_S)
            soon_s = fmin(soon_s, c->list[i].start_s);
    for (size_t i = 0; i < run->task_count; i++)
        if (run->granted[i])
            soon_s = fmin(soon_s, run->granted[i]->expires_at_s - run->now_s);
    return fmax(soon_s, ASK_AGAIN_LEAST_S);
}

enum error_code session_choose(struct session_run *run, const struct session_wish *wish,
                               struct session_choice *out)
{
    struct choosing c = {.run = run, .wish = wish};

    *out = (struct session_choice){0};
    TRY(session_world(run));
    c.times = session_times_of(run);
    TRY(settle_plan(run, c.times, wish, out));
    c.plan = &out->plan;
    gather(&c);
    if (out->is_fresh)
        start_fresh(&c);
    else
        start_older(&c);
    list_starts(&c, out);
    list_queues(&c, out);
    list_unstartable(&c, out);
    out->ask_again_in_s = ask_again_s(&c);
    return OK;
}
