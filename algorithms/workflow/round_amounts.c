/* workflow/round_amounts.c - a round on resources that run as many tasks as fit.
 *
 * All tasks that are not done are read as jobs of a world that start now, those that run
 * too, so that needs, requirements, running jobs and reservations mean what they mean in
 * a placement. What the round then asks is here as well: does a task fit from now on.
 *
 * Source: world-model.md 2, 3, 8; workflows.md 5.
 * Cost: O(amounts + steps of a resource until the task would be done) for each question.
 * Deviation (ours): what the round's own tasks take is taken for good, as their speeds
 * change while it is made; so beside a reservation that begins later a task may wait that
 * could have started. A task of several nodes starts on those where it ends first, and
 * does not move.
 */
#include "algorithms/workflow/amounts_parts.h"
#include "algorithms/workflow/round_request.h"
#include "algorithms/workflow/words.h"
#include "algorithms/world/profile.h"
#include "models/base/plural.h"

#include <math.h>

/* ---- from a request ---- */

static size_t list_open(struct wf_request *rq, bool *runs)
{
    size_t count = rq->problem.task_count, open = 0;
    size_t *at = NEW(rq->arena, size_t, count);
    double *ends_s = NEW(rq->arena, double, count), *left = NEW(rq->arena, double, count);

    for (size_t i = 0; i < count; i++) {
        const struct workflow_plain_task *t = &rq->tasks[i];

        runs[i] = t->status == PLAIN_RUNNING || t->status == PLAIN_STAGING;
        at[i] = t->status == PLAIN_DONE ? 0 : WORKFLOW_NONE;
        open += t->status != PLAIN_DONE;
        ends_s[i] = HUGE_VAL;
        left[i] = 1;
    }
    rq->problem.fixed_processor = at;
    rq->problem.fixed_finish_s = ends_s;
    rq->parts.left_ratio = left;
    return open;
}

static const int64_t **needs_of(const struct workflow_amounts *x, size_t task_count)
{
    const int64_t **needs = NEW(x->arena, const int64_t *, task_count);

    for (size_t k = 0; k < x->w->job_count; k++)
        needs[x->task_of[k]] = x->w->jobs[k].needs;
    return needs;
}

/* Resources of any of its partitions; of the first one where it needs several together.
 */
static const uint64_t *usable_mask(const struct workflow_amounts *x,
                                   const struct world_job *j)
{
    size_t words = x->jobs.block_count;
    uint64_t *mask;

    if (j->nodes > 1 || j->choice_count <= 1)
        return j->choices[0].mask;
    mask = NEW(x->arena, uint64_t, words);
    budget_step(x->w->budget, j->choice_count * words);
    for (size_t c = 0; c < j->choice_count; c++)
        for (size_t b = 0; b < words; b++)
            mask[b] |= j->choices[c].mask[b];
    return mask;
}

static void tell_tasks(struct wf_request *rq, const struct workflow_amounts *x,
                       struct workflow_plain_amounts *out)
{
    size_t count = rq->problem.task_count;
    const uint64_t **eligible = NEW(rq->arena, const uint64_t *, count);
    double *held_s = NEW(rq->arena, double, count);
    size_t *nodes = NEW(rq->arena, size_t, count);

    for (size_t k = 0; k < x->w->job_count; k++) {
        size_t i = x->task_of[k];

        eligible[i] = usable_mask(x, &x->w->jobs[k]);
        held_s[i] = x->w->jobs[k].time_limit_s;
        nodes[i] = x->w->jobs[k].nodes;
    }
    out->needs = needs_of(x, count);
    out->eligible = eligible;
    out->time_limit_s = held_s;
    out->nodes = nodes;
}

enum error_code wf_read_amounts(struct wf_request *rq)
{
    struct workflow_amounts *x = NEW(rq->arena, struct workflow_amounts, 1);
    struct workflow_plain_amounts *out = NEW(rq->arena, struct workflow_plain_amounts, 1);
    bool *runs = NEW(rq->arena, bool, rq->problem.task_count);
    struct profile *free, *shared;

    rq->problem.open_count = list_open(rq, runs);
    *x = (struct workflow_amounts){
        .problem = &rq->problem, .runs = runs, .arena = rq->arena};
    TRY(workflow_amounts_world(x, rq->err));
    free = NEW(rq->arena, struct profile, x->w->resource_count);
    shared = NEW(rq->arena, struct profile, x->w->amount_count);
    for (size_t p = 0; p < x->w->resource_count; p++) {
        budget_step(rq->in->budget, 8 + x->w->resources[p].holder_count);
        profile_of_resource(x->w, p, &free[p], rq->arena);
    }
    for (size_t k = x->w->node_amount_count; k < x->w->amount_count; k++)
        profile_of_shared(x->w, k, &shared[k], rq->arena);
    tell_tasks(rq, x, out);
    out->node_count = x->w->node_amount_count;
    out->count = x->w->amount_count;
    out->free = free;
    out->shared_free = shared;
    out->position_of = x->jobs.position_of;
    out->of = x;
    rq->amounts = x;
    rq->plain.amounts = out;
    return OK;
}

size_t wf_running_beside(const struct wf_request *rq, size_t resource)
{
    const struct world *w = rq->amounts->w;
    const struct world_resource *r =
        &w->resources[rq->amounts->jobs.position_of[resource]];
    size_t count = 0;

    for (size_t k = 0; k < r->holder_count; k++)
        count += w->holders[r->holders[k]].kind == HOLDER_RUNNING &&
                 w->holders[r->holders[k]].id;
    return count;
}

/* ---- while the plan is made ---- */

static const int64_t *needs(const struct wf_plan *plan, size_t task)
{
    return plan->in->amounts->needs[task];
}

void wf_amounts_open(struct wf_plan *plan)
{
    const struct workflow_plain_amounts *x = plan->in->amounts;
    size_t rows = x->count;

    plan->taken = NEW(plan->arena, int64_t, plan->in->resource_count * x->node_count);
    plan->shared_taken = NEW(plan->arena, int64_t, rows);
    plan->at_least = NEW(plan->arena, int64_t, rows);
    plan->leaving = NEW(plan->arena, size_t, plan->in->task_count);
    plan->least = NEW(plan->arena, int64_t, rows);
    for (size_t k = 0; k < rows; k++)
        plan->least[k] = AMOUNT_UNLIMITED;
    for (size_t i = 0; i < plan->in->task_count; i++) {
        const struct workflow_plain_task *t = &plan->in->tasks[i];

        budget_step(plan->in->budget, 1 + x->node_count / 8);
        if (t->status == PLAIN_DONE || (t->status == PLAIN_IDLE && !t->ready))
            continue;
        for (size_t k = 0; k < x->node_count; k++)
            if (needs(plan, i)[k] < plan->least[k])
                plan->least[k] = needs(plan, i)[k];
    }
}

void wf_amounts_take(struct wf_plan *plan, size_t task, size_t resource, int sign)
{
    const struct workflow_plain_amounts *x = plan->in->amounts;
    int64_t *taken = plan->taken + resource * x->node_count;

    for (size_t k = 0; k < x->node_count; k++)
        taken[k] += sign * needs(plan, task)[k];
}

void wf_amounts_take_shared(struct wf_plan *plan, size_t task, int sign)
{
    const struct workflow_plain_amounts *x = plan->in->amounts;

    for (size_t k = x->node_count; k < x->count; k++)
        plan->shared_taken[k] += sign * needs(plan, task)[k];
}

bool wf_amounts_room(const struct wf_plan *plan, size_t resource)
{
    const struct workflow_plain_amounts *x = plan->in->amounts;
    const struct profile *free = &x->free[x->position_of[resource]];
    const int64_t *taken = plan->taken + resource * x->node_count;

    for (size_t k = 0; k < x->node_count; k++)
        if (plan->least[k] > 0 && free->free[k] < AMOUNT_UNLIMITED &&
            free->free[k] - taken[k] < plan->least[k])
            return false;
    return true;
}

/* As much as a profile has to have: what is not limited stays so. */
static int64_t with_taken(int64_t need, int64_t taken)
{
    return need > 0 ? amount_add(need, taken) : INT64_MIN;
}

static bool fits_shared(const struct wf_plan *plan, size_t task, double held_s)
{
    const struct workflow_plain_amounts *x = plan->in->amounts;
    size_t looks = 0;

    if (plan->place[task] != WF_NONE) /* it has them, and keeps them where it goes */
        return true;
    for (size_t k = x->node_count; k < x->count; k++) {
        int64_t least = with_taken(needs(plan, task)[k], plan->shared_taken[k]);

        if (profile_fit_amounts(&x->shared_free[k], &least, held_s, 0, 0, &looks) > 0)
            return false;
        budget_step(plan->in->budget, looks);
    }
    return true;
}

/* Whatever its group says. */
static bool fits_alone(const struct wf_plan *plan, size_t task, size_t resource,
                       const size_t *leaving, size_t leaving_count, double held_s)
{
    const struct workflow_plain_amounts *x = plan->in->amounts;
    size_t looks = 0, position;
    const int64_t *taken;

    position = x->position_of[resource];
    taken = plan->taken + resource * x->node_count;
    if (!world_mask_has(x->eligible[task], position))
        return false;
    held_s = fmin(isnan(held_s) ? HUGE_VAL : held_s, x->time_limit_s[task]);
    held_s =
        fmax(held_s, nextafter(0, 1)); /* it waits for room even if it takes no time */
    for (size_t k = 0; k < x->node_count; k++) {
        int64_t beside = taken[k];

        budget_step(plan->in->budget, leaving_count);
        for (size_t r = 0; r < leaving_count; r++)
            beside -= needs(plan, leaving[r])[k];
        plan->at_least[k] = with_taken(needs(plan, task)[k], beside);
    }
    if (profile_fit_amounts(&x->free[position], plan->at_least, held_s, 0, 0, &looks) > 0)
        return false;
    budget_step(plan->in->budget, looks);
    return fits_shared(plan, task, held_s);
}

bool wf_fits(const struct wf_plan *plan, size_t task, size_t resource,
             const size_t *leaving, size_t leaving_count, double held_s)
{
    return !plan->in->amounts ||
           (wf_members_allow(plan, task, resource, leaving, leaving_count) &&
            fits_alone(plan, task, resource, leaving, leaving_count, held_s));
}

size_t wf_nodes(const struct wf_plan *plan, size_t task)
{
    const struct workflow_plain_amounts *x = plan->in->amounts;

    return x && x->nodes[task] > 1 ? x->nodes[task] : 1;
}

/* ---- why not ---- */

static bool is_large_enough(const struct workflow_amounts *x, const struct world_job *j,
                            size_t position)
{
    return workflow_amounts_may_use(j, position) && world_large_enough(x->w, j, position);
}

/* The amount of which no resource that the task may use has enough; NULL: there is none.
 */
static const char *too_small(const struct workflow_amounts *x, const struct world_job *j)
{
    for (size_t k = 0; k < x->w->amount_count; k++) {
        bool enough =
            k >= x->w->node_amount_count && j->needs[k] <= x->w->shared_capacity[k];

        budget_step(x->w->budget, x->w->resource_count);
        for (size_t p = 0; k < x->w->node_amount_count && p < x->w->resource_count; p++)
            enough |= workflow_amounts_may_use(j, p) &&
                      j->needs[k] <= x->w->resources[p].capacity[k];
        if (!enough)
            return x->w->amounts[k].name;
    }
    return NULL;
}

/* The shared amount of which too little is left now; NULL: there is none. */
static const char *shared_short(const struct workflow_amounts *x,
                                const struct wf_plan *plan, size_t task)
{
    const struct workflow_plain_amounts *in = plan->in->amounts;

    for (size_t k = in->node_count; k < in->count; k++)
        if (in->shared_free[k].free[0] - plan->shared_taken[k] < needs(plan, task)[k] &&
            needs(plan, task)[k] > 0)
            return x->w->amounts[k].name;
    return NULL;
}

/* Of capacities alone: a round has no plan of the world. */
static struct reasons *reasons_here(struct workflow_amounts *x)
{
    struct world_plan *nothing;

    if (x->reasons)
        return x->reasons;
    nothing = NEW(x->arena, struct world_plan, 1);
    nothing->placed = NEW(x->arena, struct world_placed, x->w->job_count);
    x->reasons = reasons_create(x->w, nothing, true, x->arena);
    return x->reasons;
}

/* What its group says where nothing else is against it. */
static enum world_wait group_wait(const struct world_group *g)
{
    switch (g->policy) {
    case GROUP_GANG:
        return WORLD_WAIT_GROUP_GANG;
    case GROUP_PACK:
        return WORLD_WAIT_GROUP_PACK;
    default:
        return WORLD_WAIT_GROUP_SPREAD;
    }
}

/* No resource that can be used now passes the filters. */
static void tell_kept_out(const struct workflow_amounts *x, const struct wf_plan *plan,
                          size_t job, struct workflow_unplaced *out)
{
    const struct problem_class *of = &x->jobs.classes[x->jobs.jobs[job].job_class];
    size_t counts[KEPT_OUT_COUNT] = {0};

    for (size_t c = 0; c < plan->in->resource_count; c++) {
        size_t p = x->jobs.position_of[c];

        if (!wf_usable(plan, c))
            counts[wf_kept_out(plan, c)]++;
        else if (problem_class_has(of, p))
            counts[amounts_has_group_key(x->w, job, p) ? KEPT_OUT_PARTITION
                                                       : KEPT_OUT_GROUP_KEY]++;
        else
            counts[problem_class_unmet(of, p) ? KEPT_OUT_REQUIREMENT
                                              : KEPT_OUT_UNAUTHORISED]++;
    }
    budget_step(x->w->budget, plan->in->resource_count);
    workflow_tell_kept_out(counts, out);
}

/* It could, on this resource, but for its group. */
static bool could_start(const struct wf_plan *plan, size_t task, size_t resource)
{
    double stage_s = wf_stage_s(plan, task, resource);
    double x_s = wf_run_s(plan, task, resource, plan->count[resource] + 1) + stage_s;

    return stage_s < HUGE_VAL && !(x_s == HUGE_VAL) &&
           fits_alone(plan, task, resource, NULL, 0, x_s);
}

void wf_amounts_why(const struct wf_request *rq, const struct wf_plan *plan, size_t task,
                    struct workflow_unplaced *out)
{
    const struct workflow_amounts *x = rq->amounts;
    const struct world_job *j = &x->w->jobs[x->job_of[task]];
    const struct world_group *g = wf_group(plan, task);
    size_t suits = 0, large = 0, fits = 0, could = 0;
    struct world_reason found;
    const char *name;

    for (size_t c = 0; c < plan->in->resource_count; c++) {
        size_t p = x->jobs.position_of[c];

        if (!wf_usable(plan, c))
            continue;
        suits += workflow_amounts_may_use(j, p);
        large += is_large_enough(x, j, p);
        if (!wf_has_room(plan, c) || !fits_alone(plan, task, c, NULL, 0, 0))
            continue;
        fits += !(wf_stage_s(plan, task, c) < HUGE_VAL);
        could += could_start(plan, task, c);
    }
    budget_step(x->w->budget, plan->in->resource_count);
    name = too_small(x, j);
    *out = (struct workflow_unplaced){.resource_count = suits};
    if (suits == 0) {
        tell_kept_out(x, plan, x->job_of[task], out);
    } else if (large == 0 || name) {
        reasons_of(reasons_here(rq->amounts), x->job_of[task], &found);
        workflow_amounts_too_small(x, &found, name, out);
    } else if (large < j->nodes) {
        out->reason = WORKFLOW_REASON(too_few_nodes);
        out->detail = arena_printf(rq->arena, "it needs %s, and %zu %s it",
                                   counted(j->nodes, "node").text, large,
                                   plural(large, "suits", "suit"));
        out->resource_count = large;
    } else if (shared_short(x, plan, task)) {
        out->reason = WORKFLOW_REASON(shared_short);
        out->detail = arena_printf(rq->arena, "too little of %s is left now",
                                   shared_short(x, plan, task));
        out->resource_count = large;
    } else if (g && could >= j->nodes) {
        out->reason = world_wait_names[group_wait(g)];
        out->detail = world_wait_details[group_wait(g)];
        out->resource_count = could;
    } else if (fits > 0) {
        out->reason = WORKFLOW_REASON(unreachable);
        out->detail = "its input can be brought to no resource that has room for it";
        out->resource_count = fits;
    } else {
        out->reason = WORKFLOW_REASON(no_free_now);
        out->detail = "what it needs is taken now, or will be before it would be done";
        out->resource_count = large;
    }
}
