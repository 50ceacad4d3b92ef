/* queue_world.c - POST /v1/queue-orders with a snapshot: which waiting jobs start on its
 * resources.
 *
 * Source: world-model.md 8.
 */
#include "algorithms/placement/amounts_queue.h"
#include "handlers/placement/copies.h"
#include "handlers/placement/routes.h"
#include "handlers/placement/run_times.h"
#include "handlers/queue/queue_orders.h"
#include "service/metrics.h"
#include "service/service.h"

#include "models/base/plural.h"

#include <stdlib.h>
#include <string.h>

/* A request while it is answered. */
struct deciding {
    struct request *rq;
    const struct queue_orders_request *body;
    struct amounts_queue_out out;
    struct queue_orders_answer *answer;
    struct run_time_teller *teller;
    bool promises; /* the policy keeps them */
    struct copies copies;
    const size_t *index_of;         /* of the copies, by job */
    size_t start_count, wait_count; /* with each copy */
};

/* The job as the request has it; one for all copies. */
static size_t row_of(const struct deciding *d, size_t job)
{
    return d->copies.row_of ? d->copies.row_of[job] : job;
}

/* The kinds of a snapshot's jobs are the first of a cluster's. */
static void take_after(const struct waiting_job *from, struct job *to, struct arena *a)
{
    size_t count = from->cluster.after_count;
    struct job_after *after = NEW(a, struct job_after, count);

    for (size_t k = 0; k < count; k++)
        after[k] = (struct job_after){from->cluster.after[k].job_id,
                                      (enum job_after_kind)from->cluster.after[k].kind};
    to->after = after;
    to->after_count = count;
}

static const struct job *jobs_of(const struct queue_orders_request *body, struct arena *a)
{
    struct job *jobs = NEW(a, struct job, body->job_count);

    for (size_t i = 0; i < body->job_count; i++) {
        jobs[i] = body->jobs[i].of;
        jobs[i].estimate_s = body->jobs[i].job.estimate_s;
        take_after(&body->jobs[i], &jobs[i], a);
    }
    return jobs;
}

static const struct amounts_queue_promise *promises_of(const struct deciding *d)
{
    struct amounts_queue_promise *list =
        NEW(d->rq->arena, struct amounts_queue_promise, d->copies.count);
    bool any = false;

    for (size_t i = 0; i < d->copies.count; i++) {
        const struct waiting_job *j = &d->body->jobs[row_of(d, i)];

        list[i] = (struct amounts_queue_promise){
            j->planned_start_s, j->planned_resource_ids, j->planned_resource_count};
        any = any || !isnan(j->planned_start_s);
    }
    return any ? list : NULL;
}

/* Of a gang or a pack: nothing is promised to one of them alone. */
static bool is_unit(const struct job *j)
{
    return j->group && (j->group->policy == JOB_GANG || j->group->policy == JOB_PACK ||
                        j->group->policy == JOB_SAME_SITE);
}

/* Cpus of all nodes of the job, rounded up. */
static uint64_t cpus_of(const struct deciding *d, size_t job)
{
    const struct job *j = &d->body->jobs[row_of(d, job)].of;

    return (uint64_t)ceil(fmin(j->cpus * (double)j->nodes, 1e15));
}

/* Where it goes. */
static const char *const *ids_of(const struct deciding *d, const struct world_placed *x)
{
    const char **ids = NEW(d->rq->arena, const char *, x->position_count);

    for (size_t i = 0; i < x->position_count; i++)
        ids[i] = d->out.world->resources[x->positions[i]].id;
    return ids;
}

static void tell_start(struct deciding *d, size_t job, struct start *to)
{
    const struct world *w = d->out.world;
    const struct world_placed *x = &d->out.queue.plan->placed[job];
    const char *const *ids = ids_of(d, x);

    *to = (struct start){.job_id = w->jobs[job].id,
                         .processors = cpus_of(d, job),
                         .partition_id = w->jobs[job].choices[x->choice].partition_id,
                         .run_time_index = JSON_NO_INTEGER,
                         .time_limit_s = (double)NAN,
                         .copies = PLACEMENT_NO_COPIES};
    run_time_tell(d->teller, row_of(d, job), ids, x->position_count, &to->run_time_basis,
                  &to->run_time_index);
    if (w->jobs[job].nodes == 1) {
        to->resource_id = ids[0];
    } else {
        to->resource_ids = ids;
        to->resource_id_count = x->position_count;
    }
}

/* Who is in the way, by name; NULL: it has none. */
static const char *blocker_of(const struct deciding *d,
                              const struct world_queue_verdict *v)
{
    if (v->by == QUEUE_NOTHING)
        return NULL;
    return v->by == QUEUE_BY_JOB ? d->out.world->jobs[v->blocker].id
                                 : d->out.world->holders[v->blocker].id;
}

static const char *detail_of(const struct deciding *d,
                             const struct world_queue_verdict *v, const char *who)
{
    struct arena *a = d->rq->arena;
    const char *what = v->by == QUEUE_BY_RESERVATION ? "reservation" : "job";

    if (v->wait == WORLD_WAIT_NOT_RELEASED && who && !isnan(v->until_s))
        return arena_printf(a, "waits for job %s, until %.15g", who, v->until_s);
    if (v->wait == WORLD_WAIT_NOT_RELEASED)
        return isnan(v->until_s)
                   ? "it may not start yet"
                   : arena_printf(a, "may not start before %.15g", v->until_s);
    if (v->wait == WORLD_WAIT_USER_LIMIT)
        return isnan(v->until_s)
                   ? "its user has as much of the partition as is allowed"
                   : arena_printf(a,
                                  "its user has as much of the partition as is allowed "
                                  "until %.15g",
                                  v->until_s);
    if (v->reason == QUEUE_REASON_TIME_LIMIT)
        return "the time was up before it was looked at";
    if (v->wait == WORLD_WAIT_NO_FREE_NOW || v->reason == QUEUE_REASON_RESERVATION)
        return who ? arena_printf(a, "too little is free until %s %s ends at %.15g", what,
                                  who, v->until_s)
                   : arena_printf(a, "too little is free until %.15g", v->until_s);
    if (!who && d->promises)
        return "keeps the start that it was promised; nobody is in its way now";
    if (!who)
        return "would delay a job that is before it";
    return arena_printf(a,
                        v->reason == QUEUE_REASON_ORDER
                            ? "would overtake: job %s is to start first, at %.15g"
                            : "would take what is kept until job %s is to start at %.15g",
                        who, v->until_s);
}

/* Who was in the way of the promise. */
static const struct promise_broken *broken_of(const struct deciding *d,
                                              const struct world_queue_verdict *v)
{
    struct promise_broken *broken = NEW(d->rq->arena, struct promise_broken, 1);

    broken->by_s = v->broken_by_s;
    if (v->breaker_by == QUEUE_BY_JOB)
        broken->blocking_job_id = d->out.world->jobs[v->breaker].id;
    else if (v->breaker_by == QUEUE_BY_RUNNING)
        broken->blocking_job_id = d->out.world->holders[v->breaker].id;
    else if (v->breaker_by == QUEUE_BY_RESERVATION)
        broken->blocking_reservation_id = d->out.world->holders[v->breaker].id;
    return broken;
}

static void tell_promise(struct deciding *d, size_t job,
                         const struct world_queue_verdict *v, struct wait *to)
{
    const struct world_placed *x = &d->out.queue.plan->placed[job];
    const struct job *j = &d->body->jobs[row_of(d, job)].of;

    if (!d->promises || v->behind || is_unit(j) || j->count > 1)
        return;
    to->planned_start_s = x->start_s;
    to->planned_resource_ids = ids_of(d, x);
    to->planned_resource_count = x->position_count;
    if (!isnan(v->broken_by_s))
        to->promise_broken = broken_of(d, v);
}

static void tell_wait(struct deciding *d, size_t job, struct wait *to)
{
    const struct world_queue_verdict *v = &d->out.queue.verdicts[job];
    const char *who = blocker_of(d, v);

    *to = (struct wait){
        .job_id = d->out.world->jobs[job].id,
        .processors = cpus_of(d, job),
        .estimated_start_s = d->out.queue.plan->placed[job].start_s,
        .planned_start_s = (double)NAN,
        .reason = v->wait == WORLD_WAIT_NO_FREE_NOW    ? QUEUE_WAIT_NO_FREE_NOW
                  : v->wait == WORLD_WAIT_NOT_RELEASED ? QUEUE_WAIT_NOT_RELEASED
                  : v->wait == WORLD_WAIT_USER_LIMIT   ? queue_wait_reason("user_limit")
                                                       : (int)v->reason,
        .detail = detail_of(d, v, who),
        .until_s = v->until_s,
        .run_time_index = JSON_NO_INTEGER,
        .priority = (double)NAN,
        .copies = PLACEMENT_NO_COPIES,
    };
    tell_promise(d, job, v, to);
    if (d->teller) {
        const struct world_placed *x = &d->out.queue.plan->placed[job];

        run_time_tell(d->teller, row_of(d, job), ids_of(d, x), x->position_count,
                      &to->run_time_basis, &to->run_time_index);
    }
    if (v->by == QUEUE_BY_RESERVATION)
        to->blocking_reservation_id = who;
    else
        to->blocking_job_id = who;
}

static const struct unplaced_reason *reasons_of(const struct deciding *d,
                                                const struct placement_unplaced *x)
{
    struct unplaced_reason *reasons =
        NEW(d->rq->arena, struct unplaced_reason, x->reason_count);

    for (size_t k = 0; k < x->reason_count; k++)
        reasons[k] = (struct unplaced_reason){
            .reason = x->reasons[k].reason,
            .detail = x->reasons[k].detail ? x->reasons[k].detail : x->reasons[k].reason,
            .resource_count = x->reasons[k].resource_count,
            .nearest_miss = x->reasons[k].nearest_miss,
            .amounts = x->reasons[k].amounts,
            .amount_count = x->reasons[k].amount_count,
            .blockers = x->reasons[k].blockers,
            .blocker_count = x->reasons[k].blocker_count};
    return reasons;
}

static void tell_unplaced(struct deciding *d)
{
    struct unplaced *list = NEW(d->rq->arena, struct unplaced, d->out.unplaced_count);
    const struct placement_unplaced *first = NULL; /* of the last row */
    size_t count = 0;

    for (size_t i = 0; i < d->out.unplaced_count; i++) {
        const struct placement_unplaced *x = &d->out.unplaced[i];

        if (x->reason_count)
            metrics_unplaced(d->rq->service->metrics, x->reasons[0].reason, 1);
        budget_step(&d->rq->budget, x->reason_count);
        if (first && d->index_of && first->reasons == x->reasons &&
            copies_add(&d->copies, d->index_of, first->job, x->job,
                       &list[count - 1].copies))
            continue;
        first = x;
        list[count] = (struct unplaced){x->job_id, reasons_of(d, x), x->reason_count,
                                        PLACEMENT_NO_COPIES};
        if (d->index_of)
            list[count].copies = copies_begin(&d->copies, d->index_of, x->job);
        count++;
    }
    d->answer->unplaced = list;
    d->answer->unplaced_count = count;
}

/* ---- copies of a job ---- */

/* Equal jobs stand next to each other in a queue: who goes where. */
struct queued {
    size_t job, turn; /* turn: of its row */
    const struct world_placed *at;
};

static int compare_places(const struct world_placed *a, const struct world_placed *b)
{
    if (a->start_s != b->start_s)
        return a->start_s < b->start_s ? -1 : 1;
    if (a->position_count != b->position_count)
        return a->position_count < b->position_count ? -1 : 1;
    for (size_t i = 0; i < a->position_count; i++)
        if (a->positions[i] != b->positions[i])
            return a->positions[i] < b->positions[i] ? -1 : 1;
    return a->choice < b->choice ? -1 : a->choice > b->choice;
}

static int by_place(const void *a, const void *b)
{
    const struct queued *x = a, *y = b;
    int order;

    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    order = compare_places(x->at, y->at);
    return order ? order : x->job < y->job ? -1 : x->job > y->job;
}

/* Jobs with a place, in the order of the queue; copies that stand next to each other by
 * start and resource. */
static size_t list_placed(const struct deciding *d, size_t *list)
{
    size_t count = d->out.world->job_count, placed = 0;
    struct queued *queue = NEW(d->rq->arena, struct queued, count);

    for (size_t k = 0; k < count; k++) {
        size_t job = d->out.queue.order[k];
        const struct world_placed *at = &d->out.queue.plan->placed[job];
        bool same = placed && row_of(d, queue[placed - 1].job) == row_of(d, job);

        if (!at->positions)
            continue;
        queue[placed] = (struct queued){job, same ? queue[placed - 1].turn : k, at};
        placed++;
    }
    if (d->copies.row_of)
        qsort(queue, placed, sizeof(*queue), by_place);
    for (size_t k = 0; k < placed; k++)
        list[k] = queue[k].job;
    return placed;
}

/* Numbers of the copies: those that start first are the first. */
static void number_copies(struct deciding *d, const size_t *list, size_t count)
{
    bool *fixed = NEW(d->rq->arena, bool, d->copies.count);

    for (size_t j = 0; d->copies.row_of && j < d->copies.count; j++)
        fixed[j] = d->out.world->jobs[j].barred == WORLD_WAIT_LEASED;
    if (d->copies.row_of)
        d->index_of = copies_number(&d->copies, list, count, fixed);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* What is said of both is alike. */
static bool wait_alike(const struct wait *a, const struct wait *b)
{
    return a->reason == b->reason && same_text(a->detail, b->detail) &&
           same_text(a->blocking_job_id, b->blocking_job_id) &&
           same_text(a->blocking_reservation_id, b->blocking_reservation_id) &&
           (a->until_s == b->until_s || (isnan(a->until_s) && isnan(b->until_s)));
}

/* Adds the job to the last row of its list, or makes a row of it. `before`: the job that
 * the last row begins with; WORLD_NONE: there is no row. */
static void tell_start_of(struct deciding *d, struct start *list, size_t job,
                          size_t *before)
{
    const struct world_placed *placed = d->out.queue.plan->placed;
    size_t *count = &d->answer->start_count;

    d->start_count++;
    if (*before != WORLD_NONE && d->index_of &&
        compare_places(&placed[*before], &placed[job]) == 0 &&
        copies_add(&d->copies, d->index_of, *before, job, &list[*count - 1].copies))
        return;
    tell_start(d, job, &list[*count]);
    if (d->index_of)
        list[*count].copies = copies_begin(&d->copies, d->index_of, job);
    *before = job;
    ++*count;
}

static void tell_wait_of(struct deciding *d, struct wait *list, size_t job,
                         size_t *before)
{
    const struct world_placed *placed = d->out.queue.plan->placed;
    size_t *count = &d->answer->waiting_count;
    struct wait *row = &list[*count];

    d->wait_count++;
    tell_wait(d, job, row);
    if (*before != WORLD_NONE && d->index_of && wait_alike(row - 1, row) &&
        compare_places(&placed[*before], &placed[job]) == 0 &&
        copies_add(&d->copies, d->index_of, *before, job, &row[-1].copies))
        return;
    if (d->index_of)
        row->copies = copies_begin(&d->copies, d->index_of, job);
    *before = job;
    ++*count;
}

static void tell_all(struct deciding *d)
{
    struct queue_orders_answer *answer = d->answer;
    size_t *list = NEW(d->rq->arena, size_t, d->out.world->job_count);
    size_t count = list_placed(d, list);
    struct start *starts = NEW(d->rq->arena, struct start, count);
    struct wait *waiting = NEW(d->rq->arena, struct wait, count);
    size_t last_start = WORLD_NONE, last_wait = WORLD_NONE;
    double wait_s = 0;

    number_copies(d, list, count);
    for (size_t k = 0; k < count; k++) {
        const struct world_placed *x = &d->out.queue.plan->placed[list[k]];

        budget_step(&d->rq->budget, x->position_count);
        wait_s += x->start_s;
        if (x->start_s <= 0)
            tell_start_of(d, starts, list[k], &last_start);
        else
            tell_wait_of(d, waiting, list[k], &last_wait);
    }
    answer->starts = starts;
    answer->waiting = waiting;
    answer->run_times = run_time_list(d->teller, &answer->run_time_count);
    tell_unplaced(d);
    count = d->start_count + d->wait_count;
    answer->objective = (struct objective){
        .makespan_s = d->out.makespan_s,
        .lower_bound_s = d->out.lower_bound_s,
        .gap_ratio = d->out.lower_bound_s > 0
                         ? fmax(0, d->out.makespan_s / d->out.lower_bound_s - 1)
                         : 0,
        .mean_wait_s = count ? wait_s / (double)count : (double)NAN,
        .free_processors = (uint64_t)fmin(d->out.free_cpus, 1e15),
    };
    d->rq->gap_ratio = answer->objective.gap_ratio;
}

static enum decision_status status_of(const struct deciding *d)
{
    const struct queue_orders_answer *answer = d->answer;

    if (d->out.queue.cut)
        return DECISION_CUT;
    if (answer->unplaced_count && !answer->start_count && !answer->waiting_count)
        return DECISION_INFEASIBLE;
    return d->body->job_count ? DECISION_FEASIBLE : DECISION_OPTIMAL;
}

/* Of promises: those that are not looked at, and those that are not kept. */
static void warn_promises(struct deciding *d, const struct policy *policy)
{
    struct decision_answer *out = &d->answer->decision;
    size_t count = 0, first = 0;

    if (!d->promises) {
        queue_warn_promises(d->rq, d->body, policy, out);
        if (queue_option_given(d->body, QUEUE_COMPRESS))
            decision_warn(d->rq, out,
                          "ignored: /options/%s: %s makes no promises, conservative does",
                          queue_conservative_params[QUEUE_COMPRESS].name, policy->name);
        return;
    }
    for (size_t i = d->body->job_count; i-- > 0;) {
        if (isnan(d->body->jobs[i].planned_start_s) || !is_unit(&d->body->jobs[i].of))
            continue;
        first = i;
        count++;
    }
    if (count)
        decision_warn(d->rq, out,
                      "ignored: planned_start_s of %s of gangs and packs, first "
                      "/jobs/%zu/planned_start_s: these are planned anew each time",
                      counted(count, "job").text, first);
    if (d->out.queue.broken_count)
        decision_warn(d->rq, out, "promise_broken: %s %s promised to, by planned_start_s",
                      counted(d->out.queue.broken_count, "job").text,
                      plural(d->out.queue.broken_count, "does not start when it was",
                             "do not start when they were"));
}

enum error_code queue_orders_world(struct request *rq,
                                   const struct queue_orders_request *body,
                                   const struct policy *policy,
                                   struct queue_orders_answer *answer)
{
    struct deciding d = {.rq = rq, .body = body, .answer = answer};
    const struct job *jobs = jobs_of(body, rq->arena);
    struct run_times *times;
    const struct job *timed;
    const struct error_item *before;
    struct placement_in in = {
        .world = &body->world,
        .seed = body->decision.seed,
        .budget = &rq->budget,
    };
    double options[QUEUE_OPTION_COUNT];

    params_bind(queue_conservative_params, body->decision.options,
                body->decision.option_count, options, rq->err);
    TRY(copies_check(rq, jobs, body->job_count, "/jobs", QUEUE_ORDERS_JOBS_MAX,
                     sizeof(struct job)));
    TRY(decision_world_snapshot(rq, body->snapshot, body->snapshot_id, true,
                                &in.snapshot));
    TRY(run_times_resolve(rq, in.snapshot,
                          &(struct run_time_jobs){.jobs = jobs, .count = body->job_count},
                          &timed, &times));
    copies_make(rq, timed, body->job_count, "/jobs/", &d.copies);
    before = rq->err->last;
    in.jobs = d.copies.jobs;
    in.job_count = d.copies.count;
    TRY(placement_reserve(rq, &in));
    if (amounts_queue(
            &(struct amounts_queue_in){.of = &in,
                                       .policy = policy,
                                       .plan_with_limit = options[QUEUE_PLAN_WITH] > 0,
                                       .promises = promises_of(&d),
                                       .keeps_gaps = !(options[QUEUE_COMPRESS] > 0)},
            &d.out, rq->arena, rq->err) != OK ||
        rq->err->code != OK)
        return copies_refused(&d.copies, before);
    answer->decision.warnings =
        copies_warnings(&d.copies, d.out.warnings, d.out.warning_count);
    answer->decision.warning_count = d.out.warning_count;
    run_times_warn(rq, times, &answer->decision);
    d.teller =
        run_time_teller_create(rq, times, in.snapshot, jobs, body->job_count, false);
    d.promises = queue_discipline_of(policy)->rule == QUEUE_CONSERVATIVE;
    warn_promises(&d, policy);
    if (d.out.queue.cut)
        TRY(decision_warn(
            rq, &answer->decision,
            "time_limit: the time was up; of %s %zu %s a start, "
            "%zu of them %s only put one after the other behind all others",
            counted(d.copies.count, "job").text, d.out.queue.plan->placed_count,
            plural(d.out.queue.plan->placed_count, "has", "have"),
            d.out.queue.behind_count, plural(d.out.queue.behind_count, "is", "are")));
    answer->site_id = body->site_id;
    tell_all(&d);
    decision_end(rq, policy->name, status_of(&d), &answer->decision);
    return OK;
}
