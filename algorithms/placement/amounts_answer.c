/* placement/amounts_answer.c - what an answer says of a plan of a world. */
#include "algorithms/placement/amounts_answer.h"

#include "algorithms/placement/amounts_files.h"
#include "algorithms/placement/amounts_loads.h"
#include "algorithms/placement/unused.h"
#include "algorithms/world/check.h"

#include <string.h>

/* ---- placements ---- */

static double finish_of(const struct world *w, const struct world_plan *plan, size_t job)
{
    return world_finish_s(w, &w->jobs[job], &plan->placed[job]);
}

/* Names of the nodes, by rising snapshot index. */
static const char *const *ids_of(const struct placement_problem *p, const struct world *w,
                                 const struct world_placed *x)
{
    const char **ids = NEW(p->arena, const char *, x->position_count);

    for (size_t k = 0; k < x->position_count; k++)
        ids[k] = w->resources[x->positions[k]].id;
    return ids;
}

static struct placement placement_of(const struct placement_problem *p,
                                     const struct world *w, const struct world_plan *plan,
                                     size_t job, uint64_t slot, const double *ranks)
{
    const struct world_placed *x = &plan->placed[job];
    const struct world_job *j = &w->jobs[job];
    struct placement out = {
        .job_id = j->id,
        .slot = slot,
        .start_s = x->start_s,
        .stage_in_s = x->stage_in_s,
        .run_time_s = x->run_s,
        .held_s = x->stage_in_s + world_held_s(w, j, x->run_s),
        .finish_s = finish_of(w, plan, job),
        .rank = ranks ? ranks[job] : (double)NAN,
        .late_s = NAN,
        .run_time_index = UINT64_MAX,
        .job = job,
        .copies = PLACEMENT_NO_COPIES,
        .partition_id = j->choices[x->choice].partition_id,
        .killed = x->killed,
    };

    if (!(out.finish_s < HUGE_VAL))
        out.run_time_s = out.finish_s = NAN; /* not known */
    if (!(out.held_s < HUGE_VAL))
        out.held_s = NAN;
    if (j->deadline_s < HUGE_VAL && !isnan(out.finish_s))
        out.late_s = fmax(0, out.finish_s - j->deadline_s);
    if (j->nodes == 1) {
        out.resource_id = w->resources[x->positions[0]].id;
        return out;
    }
    out.resource_ids = ids_of(p, w, x);
    out.resource_id_count = x->position_count;
    return out;
}

static void fill_placements(const struct placement_problem *p, const struct world *w,
                            const struct amounts_result *found, const uint64_t *slots,
                            struct placement_out *out)
{
    const struct world_plan *plan = found->plan;
    struct placement *list = NEW(p->arena, struct placement, plan->placed_count);
    struct placement_objective *o = &out->objective;
    const double *bytes = amounts_bytes_moved(p, plan);

    for (size_t k = 0; k < plan->placed_count; k++) {
        size_t job = plan->sequence[k];

        budget_step(w->budget, plan->placed[job].position_count);
        list[k] = placement_of(p, w, plan, job, slots[job], found->ranks);
        list[k].bytes_moved = bytes[job];
        o->bytes_moved += bytes[job];
        list[k].files = amounts_file_names(p, job, plan->placed[job].positions[0]);
        list[k].file_count = list[k].files ? p->jobs[job].file_count : 0;
        if (isnan(list[k].finish_s))
            continue;
        o->makespan_s = fmax(o->makespan_s, list[k].finish_s);
        o->flow_time_s += list[k].finish_s;
        o->late_count += list[k].late_s > 0;
    }
    out->placements = list;
    out->placement_count = plan->placed_count;
}

/* ---- how good it is ---- */

/* As much work as the time allows. */
static enum bound_work work_for(const struct world *w, const struct world_plan *plan)
{
    if (plan->cut || budget_used(w->budget) >= 0.95)
        return BOUNDS_LONGEST;
    return budget_used(w->budget) < 0.5 ? BOUNDS_ASCENT : BOUNDS_SINGLE;
}

/* The makespan's bound where the objective does not name it. */
static void bound_makespan(const struct world *w, const struct amounts_result *found,
                           double makespan_s, struct world_bound *bound, struct arena *a)
{
    const struct world_goal goal = {{OBJECTIVE_MAKESPAN}, 1};
    const struct world_worth worth = {found->worth.unplaced_count, {makespan_s}};

    memset(bound, 0, sizeof(*bound));
    world_bounds(w, &goal, found->plan, &worth,
                 found->plan->cut ? BOUNDS_LONGEST : BOUNDS_SINGLE, bound, a);
}

static void fill_makespan(const struct world_bound *bound, struct placement_out *out,
                          struct arena *a)
{
    struct placement_objective *o = &out->objective;
    struct proven_bound *list = NEW(a, struct proven_bound, BOUND_KIND_COUNT);

    o->lower_bound_s = bound->known ? fmin(bound->value, o->makespan_s) : 0;
    if (o->makespan_s <= o->lower_bound_s * (1 + 1e-9))
        o->gap_ratio = 0;
    else if (o->lower_bound_s > 0)
        o->gap_ratio = o->makespan_s / o->lower_bound_s - 1;
    else
        o->gap_ratio = NAN;
    out->bound_count = bound_list_sort(&bound->by, o->makespan_s, list);
    out->bounds = list;
}

bool amounts_place_same(const struct world *w, const struct world_plan *a,
                        const struct world_plan *b)
{
    if (a->placed_count != b->placed_count)
        return false;
    for (size_t i = 0; i < w->job_count; i++)
        if (!a->placed[i].positions != !b->placed[i].positions)
            return false;
    return true;
}

/* A search has taken its bounds before it began. */
static void bound_values(const struct world *w, const struct amounts_result *found,
                         struct world_bound *bounds, struct arena *a)
{
    if (found->searched && found->bounded &&
        amounts_place_same(w, found->plan, found->bounded))
        memcpy(bounds, found->bounds, sizeof(found->bounds));
    else
        world_bounds(w, &found->goal, found->plan, &found->worth,
                     work_for(w, found->plan), bounds, a);
}

/* Sums of equal times may differ from their products by rounding. */
static void note_optimum(double optimum_s, double value_s, struct world_bound *bound)
{
    double least_s = fmin(optimum_s * (1 - 1e-12), value_s);

    bound_list_note(&bound->by, BOUND_EXACT, least_s);
    bound->value = bound->known ? fmax(bound->value, least_s) : least_s;
    bound->known = true;
}

bool amounts_has_unknown_end(const struct world_plan *plan)
{
    for (size_t k = 0; k < plan->placed_count; k++)
        if (!(plan->placed[plan->sequence[k]].done_s < HUGE_VAL))
            return true;
    return false;
}

/* The jobs that start now were searched for. */
static bool is_searched_now(const struct amounts_result *found)
{
    return found->starts_now && !found->by_round;
}

/* What is known of all levels, of plans that place the same jobs. */
static void bound_levels(const struct world *w, const struct amounts_result *found,
                         const struct amounts_started *started, bool timed,
                         struct world_bound *bounds, struct arena *a)
{
    memset(bounds, 0, OBJECTIVE_LEVELS_MAX * sizeof(*bounds));
    if (timed && (!is_searched_now(found) || found->goal.level_count > 1))
        bound_values(w, found, bounds, a);
    amounts_started_bound(started, &found->goal, bounds);
}

/* Nothing is better, as far as bounds tell. Where only some of the ready jobs start,
 * others of as much weight may be better in the levels below. */
static bool is_proven(const struct world *w, const struct amounts_result *found,
                      const struct placement_value *list)
{
    for (size_t k = 0; k < found->goal.level_count; k++)
        if (!list[k].of.proven)
            return false;
    return !is_searched_now(found) || found->goal.level_count == 1 ||
           found->plan->placed_count == w->job_count;
}

static bool fill_values(const struct amounts_call *call, const struct world *w,
                        const struct amounts_result *found, struct placement_out *out,
                        struct arena *a)
{
    struct world_bound bounds[OBJECTIVE_LEVELS_MAX], *makespan = NULL;
    struct world_value values[OBJECTIVE_LEVELS_MAX];
    size_t levels = found->goal.level_count;
    struct placement_value *list = NEW(a, struct placement_value, levels);
    const struct amounts_started *started = found->started;
    bool timed = !found->starts_now || !amounts_has_unknown_end(found->plan);

    if (is_searched_now(found))
        started = amounts_started_of(w, &found->now, a);
    else if (!started)
        started =
            amounts_started_find(w, &found->goal, call->values[COMMON_MAX_NODES], a);
    bound_levels(w, found, started, timed, bounds, a);
    for (size_t k = 0; found->has_optimum && k < levels; k++)
        if (found->goal.level[k] == OBJECTIVE_MAKESPAN)
            note_optimum(found->optimum_s, found->worth.value[k], &bounds[k]);
    world_values(&found->goal, &found->worth, bounds, values);
    for (size_t k = 0; k < levels; k++) {
        list[k].of = values[k];
        if (!(fabs(values[k].value) < HUGE_VAL))
            list[k].of.value = NAN;
        if (found->goal.level[k] == OBJECTIVE_MAKESPAN)
            makespan = &bounds[k];
    }
    amounts_started_tiers(started, w, &found->goal, found->plan, list, a);
    out->objective.values = list;
    out->objective.value_count = levels;
    if (!makespan) {
        makespan = NEW(a, struct world_bound, 1);
        if (timed && !is_searched_now(found))
            bound_makespan(w, found, out->objective.makespan_s, makespan, a);
        if (found->has_optimum)
            note_optimum(found->optimum_s, out->objective.makespan_s, makespan);
    }
    fill_makespan(makespan, out, a);
    if (amounts_has_unknown_end(found->plan))
        out->objective.gap_ratio = NAN;
    return is_proven(w, found, list);
}

bool amounts_plan_is_valid(const struct world *w, const struct world_plan *plan,
                           struct arena *a)
{
    struct world_check check;
    size_t count;
    const struct world_claim *claims = world_claims(w, plan, &count, a);

    memset(&check, 0, sizeof(check));
    world_check(w, claims, count, &check, a);
    return check.violation_count == 0 && !check.cut;
}

static void assess(const struct world *w, const struct amounts_result *found, bool proven,
                   struct placement_out *out, struct arena *a)
{
    const struct world_plan *plan = found->plan;

    out->check_failed = found->check_failed;
    out->status = plan->cut || found->search_cut ? DECISION_CUT : DECISION_FEASIBLE;
    if (w->job_count && plan->placed_count == 0) {
        out->status = plan->cut ? DECISION_CUT : DECISION_INFEASIBLE;
        return;
    }
    if (!proven ||
        (plan->placed_count < w->job_count && (!found->starts_now || found->by_round)))
        return;
    if (found->starts_now && amounts_has_unknown_end(plan))
        return; /* what never ends cannot be checked */
    if (amounts_plan_is_valid(w, plan, a))
        out->status = DECISION_OPTIMAL;
    else
        out->check_failed = true;
}

/* ---- what the caller should know ---- */

/* It takes nothing of what its resources limit, so that any number fit beside it. */
static bool is_unlimited(const struct world *w, const struct world_plan *plan, size_t job)
{
    const struct world_placed *x = &plan->placed[job];

    for (size_t i = 0; i < x->position_count; i++) {
        const int64_t *capacity = w->resources[x->positions[i]].capacity;

        for (size_t k = 0; k < w->node_amount_count; k++)
            if (k != AMOUNT_PRESENCE && capacity[k] < AMOUNT_UNLIMITED &&
                w->jobs[job].needs[k] > 0)
                return false;
    }
    for (size_t k = w->node_amount_count; k < w->amount_count; k++)
        if (w->jobs[job].needs[k] > 0)
            return false;
    return w->jobs[job].needs[AMOUNT_PRESENCE] < AMOUNT_PRESENCE_ALL;
}

static void warn_plan(struct placement_problem *p, const struct world *w,
                      const struct world_plan *plan)
{
    size_t killed = 0, unlimited = 0, first = 0;

    for (size_t k = 0; k < plan->placed_count; k++) {
        size_t job = plan->sequence[k];

        budget_step(w->budget, w->node_amount_count);
        killed += plan->placed[job].killed;
        if (!is_unlimited(w, plan, job))
            continue;
        first = unlimited++ ? (job < first ? job : first) : job;
    }
    if (killed)
        problem_warn(p, "killed: %zu job%s longer than time_limit_s and ended by it",
                     killed, killed == 1 ? " runs" : "s run");
    if (unlimited)
        problem_warn(p,
                     "unlimited: %zu job%s nothing of what the resource limits (first "
                     "'%.100s'): any number run beside each other",
                     unlimited, unlimited == 1 ? " takes" : "s take", w->jobs[first].id);
    if (plan->cut)
        problem_warn(p, "not_repeatable: the time limit ended the plan; another run may "
                        "place other jobs before it");
}

static bool goal_weighs(const struct world_goal *goal)
{
    return world_goal_has(goal, OBJECTIVE_WEIGHTED_COMPLETION) ||
           world_goal_has(goal, OBJECTIVE_WEIGHTED_TARDINESS) ||
           world_goal_has(goal, OBJECTIVE_STARTED_NOW);
}

static void warn_unused(const struct amounts_call *call, struct placement_problem *p,
                        const struct amounts_result *found)
{
    const struct policy *ran = policy_find(placement_policies, found->algorithm);
    const struct world_goal *goal = &found->goal;

    unused_warn(p, &(struct unused_in){
                       .policy = ran ? ran : call->policy,
                       .options = call->options,
                       .option_count = call->option_count,
                       .list = "jobs",
                       .amounts = true,
                       .weights = goal_weighs(goal) || found->order == WORLD_SMITH ||
                                  p->in->world->what_if,
                       .priorities = found->order == WORLD_PRIORITY ||
                                     world_goal_has(goal, OBJECTIVE_STARTED_NOW) ||
                                     p->in->world->preempt,
                       .starts = found->starts_now && !found->by_round,
                       .no_chains = !found->in_due_order,
                       .prices = world_goal_has(goal, OBJECTIVE_COST),
                       .powers = world_goal_has(goal, OBJECTIVE_ENERGY),
                       .deadlines = world_goal_has(goal, OBJECTIVE_LATE_JOBS) ||
                                    world_goal_has(goal, OBJECTIVE_WEIGHTED_TARDINESS),
                   });
}

/* What a search says of itself. */
static void fill_search(const struct amounts_result *found, struct placement_out *out,
                        struct arena *a)
{
    struct placement_best_list *list = NEW(a, struct placement_best_list, 1);
    struct improvement *improved = NEW(a, struct improvement, found->improved.count);

    if (!found->searched)
        return;
    memcpy(improved, found->improved.item, found->improved.count * sizeof(*improved));
    *list = found->best_list;
    out->steps = found->steps;
    out->improved_at_steps = improved;
    out->improvement_count = found->improved.count;
    out->bound_effort = bound_effort_names[found->effort];
    out->best_list = list;
}

void amounts_answer(const struct amounts_call *call, struct placement_problem *p,
                    const struct amounts_result *found, struct placement_out *out)
{
    const struct world *w = found->made->world;
    struct placement_out x = {.algorithm = found->algorithm, .because = found->because};
    uint64_t *slots = NEW(p->arena, uint64_t, w->job_count);
    bool proven;

    amounts_loads(p, w, found->plan, slots, &x);
    fill_placements(p, w, found, slots, &x);
    amounts_finish_loads(w, &x);
    proven = fill_values(call, w, found, &x, p->arena);
    assess(w, found, proven, &x, p->arena);
    fill_search(found, &x, p->arena);
    warn_plan(p, w, found->plan);
    amounts_reasons(p, found, &x);
    amounts_advice(p, found, &x);
    warn_unused(call, p, found);
    x.warnings = p->warnings;
    x.warning_count = p->warning_count;
    *out = x;
}
