/* placement/amounts_plans.c - the plans that list policies make on one board, and the
 * best of them.
 */
#include "algorithms/placement/amounts_plans.h"

#include <stdlib.h>
#include <string.h>

static bool option_is_given(const struct amounts_call *call, const char *name)
{
    for (size_t i = 0; i < call->option_count; i++)
        if (strcmp(call->options[i].name, name) == 0)
            return true;
    return false;
}

/* The order that suits the objective. */
enum world_order amounts_order_for(enum world_objective objective)
{
    switch (objective) {
    case OBJECTIVE_WEIGHTED_COMPLETION:
    case OBJECTIVE_TOTAL_FLOW:
        return WORLD_SMITH;
    case OBJECTIVE_WEIGHTED_TARDINESS:
    case OBJECTIVE_LATE_JOBS:
        return WORLD_DEADLINE;
    case OBJECTIVE_STARTED_NOW:
        return WORLD_PRIORITY;
    default:
        return WORLD_FIFO;
    }
}

/* The option's choices behind gridway_priority are those of enum world_order behind
 * fifo. */
enum world_order amounts_asked_order(const struct amounts_maker *m)
{
    int order = (int)m->call->values[COMMON_JOB_ORDER];

    if (!option_is_given(m->call, "job_order") && m->call->in->world->objective)
        return amounts_order_for(m->goal.level[0]);
    return order < ORDER_AMOUNTS ? WORLD_FIFO
                                 : (enum world_order)(order - ORDER_AMOUNTS + 1);
}

struct tiered {
    double tier;
    size_t rank, job;
};

static int by_tier(const void *a, const void *b)
{
    const struct tiered *x = a, *y = b;

    if (x->tier != y->tier)
        return x->tier > y->tier ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Jobs of larger tiers come first, each tier in the order that there is. */
static void sort_by_tier(const struct world *w, size_t *jobs, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    struct tiered *list = NEW(a, struct tiered, w->job_count);
    bool sorted = true;

    if (budget_step(w->budget, 16 * w->job_count))
        return;
    for (size_t i = 0; i < w->job_count; i++) {
        list[i] = (struct tiered){w->jobs[jobs[i]].tier, i, jobs[i]};
        sorted = sorted && (i == 0 || list[i - 1].tier >= list[i].tier);
    }
    if (!sorted)
        qsort(list, w->job_count, sizeof(*list), by_tier);
    for (size_t i = 0; i < w->job_count; i++)
        jobs[i] = list[i].job;
    arena_rewind(a, mark);
}

static size_t *jobs_in(const struct amounts_maker *m, enum world_order order)
{
    size_t *jobs = NEW(m->arena, size_t, m->w->job_count);

    if (order == WORLD_FIFO && (int)m->call->values[COMMON_JOB_ORDER] == ORDER_PRIORITY) {
        memcpy(jobs, m->p->order, m->w->job_count * sizeof(*jobs));
        sort_by_tier(m->w, jobs, m->arena);
        return jobs;
    }
    world_order_jobs(m->w, order, jobs, m->arena);
    return jobs;
}

/* A plan that stays when the board changes. */
static struct world_plan *copy_plan(const struct amounts_maker *m,
                                    const struct world_plan *of)
{
    struct world_plan *plan = NEW(m->arena, struct world_plan, 1);
    size_t n = m->w->job_count, nodes = 0, filled = 0, *positions;

    *plan = *of;
    plan->placed = NEW(m->arena, struct world_placed, n);
    memcpy(plan->placed, of->placed, n * sizeof(*plan->placed));
    plan->sequence = NEW(m->arena, size_t, n);
    memcpy(plan->sequence, of->sequence, of->placed_count * sizeof(size_t));
    for (size_t i = 0; i < n; i++)
        nodes += of->placed[i].positions ? of->placed[i].position_count : 0;
    positions = NEW(m->arena, size_t, nodes);
    for (size_t i = 0; i < n; i++) {
        struct world_placed *x = &plan->placed[i];

        if (!x->positions)
            continue;
        memcpy(positions + filled, x->positions, x->position_count * sizeof(size_t));
        x->positions = positions + filled;
        filled += x->position_count;
    }
    return plan;
}

/* The policy; what it has no time for mct places in the last fifth of the limit. */
static void run_rule(struct amounts_maker *m, enum world_rule rule,
                     enum world_order order)
{
    struct budget *whole = m->w->budget, part;
    double kpb_ratio = rule == WORLD_KPB ? m->call->values[COMMON_COUNT] / 100 : 1;

    if (rule == WORLD_MCT || !whole) {
        world_list(m->board, rule, jobs_in(m, order), kpb_ratio);
        return;
    }
    part = budget_part(whole, 0, 0.8);
    m->w->budget = &part;
    world_list(m->board, rule, jobs_in(m, order), kpb_ratio);
    m->w->budget = whole;
    if (board_plan(m->board)->cut)
        world_list(m->board, WORLD_MCT, jobs_in(m, WORLD_FIFO), 1);
}

bool amounts_try_board(struct amounts_maker *m, const struct amounts_rule *of)
{
    struct amounts_result *best = &m->best;
    struct world_plan *plan;
    struct world_worth worth;
    bool better;

    if (!m->call->in->world->objective)
        world_order_due(m->board);
    plan = board_plan(m->board);
    world_worth(m->w, &m->goal, plan, &worth, m->arena);
    better = !best->plan || (!plan->cut && best->plan->cut) ||
             world_compare(&m->goal, &worth, &best->worth) < 0;
    if (best->plan && plan->cut) /* what was not finished is worse than it looks */
        better = false;
    if (m->tried_count < AMOUNTS_TRIED_MAX)
        m->tried[m->tried_count++] =
            (struct amounts_tried){of->name, worth.value[0], worth.unplaced_count > 0};
    if (!better)
        return false;
    best->plan = copy_plan(m, plan);
    best->worth = worth;
    best->algorithm = of->algorithm;
    best->order = of->order;
    best->name = of->name;
    return true;
}

void amounts_try_rule(struct amounts_maker *m, const struct amounts_rule *rule)
{
    if (m->best.plan)
        board_reset(m->board);
    run_rule(m, rule->rule, rule->order);
    amounts_try_board(m, rule);
}

/* ---- the portfolio ---- */

/* Behind all others there is always room, but for the rules of groups: whom no group
 * keeps out has no place in any plan. */
size_t amounts_without_place(const struct amounts_maker *m)
{
    const struct amounts_result *best = &m->best;

    return m->w->group_count || best->plan->cut ? 0 : best->worth.unplaced_count;
}

/* Whether started_now_weight, which alone is left to prove, is at its bound. */
static bool prove_started(struct amounts_maker *m, struct world_value *values)
{
    struct amounts_result *best = &m->best;

    for (size_t k = 0; k < m->goal.level_count; k++)
        if (m->goal.level[k] != OBJECTIVE_STARTED_NOW && !values[k].proven)
            return false;
    if (!best->started)
        best->started = amounts_started_find(m->w, &m->goal,
                                             m->call->values[COMMON_MAX_NODES], m->arena);
    amounts_started_bound(best->started, &m->goal, best->bounds);
    return world_values(&m->goal, &best->worth, best->bounds, values);
}

bool amounts_prove(struct amounts_maker *m, enum bound_work work)
{
    struct amounts_result *best = &m->best;
    struct world_value values[OBJECTIVE_LEVELS_MAX];

    if (!best->bounded || best->bound_work < work ||
        !amounts_place_same(m->w, best->plan, best->bounded)) {
        world_bounds(m->w, &m->goal, best->plan, &best->worth, work, best->bounds,
                     m->arena);
        best->bounded = best->plan;
        best->bound_work = work;
    }
    if (!world_values(&m->goal, &best->worth, best->bounds, values) &&
        !prove_started(m, values))
        return false;
    return best->worth.unplaced_count <= amounts_without_place(m);
}

/* Looks at a resource that are predicted, in all and in a second. */
#define LOOKS_MAX    1e8
#define CELLS_LARGE  1e9 /* jobs * resources: up to here a second order is tried */
#define LOOKS_PER_S  2.5e7
#define PART_OF_REST 0.5 /* of the request's time limit, for one policy */
#define PART_OF_TIME 0.3 /* for all of them: the searches need the rest */

/* Measured at 500 resources and 10,000 jobs: min_min takes ten times the looks of an mct
 * with buckets for each job and resource, and more; a sufferage takes each job up again
 * when a resource that was its best is taken. */
static double looks_of(const struct amounts_maker *m, enum world_rule rule)
{
    double jobs = (double)m->w->job_count;
    double cells = jobs * (double)m->w->resource_count;

    if (rule == WORLD_MCT)
        return 0.1 * cells;
    return rule == WORLD_SUFFERAGE ? (5 + jobs / 100) * cells : 5 * cells;
}

static bool fits(const struct amounts_maker *m, enum world_rule rule, double left)
{
    const struct placement_in *in = m->call->in;
    double looks = looks_of(m, rule), used = budget_used(m->w->budget);

    if (!in->time_limit_given)
        return looks <= left;
    return used < PART_OF_TIME &&
           (!(in->time_limit_s > 0) ||
            looks / LOOKS_PER_S <= PART_OF_REST * (1 - used) * in->time_limit_s);
}

/* It suits the objective, and is not what the first plan was made by. */
static bool is_new(const struct amounts_maker *m, const struct amounts_rule *rule)
{
    bool sums = rule->order == WORLD_SMITH || rule->order == WORLD_DEADLINE;

    if (rule->rule != WORLD_MCT)
        return true;
    return rule->order != amounts_asked_order(m) &&
           (!sums || rule->order == amounts_order_for(m->goal.level[0]));
}

void amounts_portfolio(struct amounts_maker *m)
{
    static const struct amounts_rule further[] = {
        {WORLD_XSUFFERAGE, WORLD_FIFO, "xsufferage", "xsufferage"},
        {WORLD_MCT, WORLD_SMITH, "mct", "mct smith"},
        {WORLD_MCT, WORLD_DEADLINE, "mct", "mct deadline"},
        {WORLD_MCT, WORLD_LONGEST, "mct", "mct longest"},
        {WORLD_MCT, WORLD_VOLUME, "mct", "mct volume"},
        {WORLD_MCT, WORLD_BALANCED, "mct", "mct balanced"},
        {WORLD_SUFFERAGE, WORLD_FIFO, "sufferage", "sufferage"},
        {WORLD_MAX_MIN, WORLD_FIFO, "max_min", "max_min"},
        {WORLD_MIN_MIN, WORLD_FIFO, "min_min", "min_min"},
    };
    double cells = (double)m->w->job_count * (double)m->w->resource_count;
    double left = LOOKS_MAX - looks_of(m, WORLD_MCT);
    bool may_be_large = cells <= CELLS_LARGE;

    amounts_try_rule(
        m, &(struct amounts_rule){WORLD_MCT, amounts_asked_order(m), "mct", "mct"});
    for (size_t k = 0; k < sizeof(further) / sizeof(*further); k++) {
        const struct amounts_rule *rule = &further[k];
        if (!is_new(m, rule) || (rule->rule == WORLD_XSUFFERAGE && !m->p->has_files))
            continue;
        if (amounts_prove(m, BOUNDS_SINGLE))
            return;
        if (!fits(m, rule->rule, left) &&
            !(may_be_large && !m->call->in->time_limit_given))
            continue;
        may_be_large = false;
        left -= looks_of(m, rule->rule);
        amounts_try_rule(m, rule);
    }
}
