/* world/bounds.c - how good any plan could be, by rising effort.
 *
 * First what each job alone proves, then the prices of single amounts, then all other
 * arguments, then the ascent; after each the values of the plan may all be met, and
 * nothing more is done. When the budget is spent, what was proven stays.
 *
 * Source: world-model.md 5.3, 4.5.
 */
#include "algorithms/world/prices.h"

#include <float.h>
#include <string.h>

struct effort {
    struct bounds_field field;
    const struct world_goal *goal;
    const struct world_plan *plan;
    const struct world_worth *worth;
    enum bound_work work;
    struct world_bound *out; /* by level */
};

static bool is_met(const struct effort *e, size_t level)
{
    double value = e->worth->value[level], bound = e->out[level].value;

    return e->out[level].known && value - bound <= 1e-9 * fmax(1, fabs(bound));
}

/* started_now_weight has an upper bound, which is not found here. */
static bool is_over(struct effort *e)
{
    for (size_t i = 0; i < e->goal->level_count; i++)
        if (e->goal->level[i] != OBJECTIVE_STARTED_NOW && !is_met(e, i))
            return budget_step(e->field.w->budget, 1);
    return true;
}

static void note(struct effort *e, size_t level, double value)
{
    struct world_bound *bound = &e->out[level];

    if (!(value <= DBL_MAX))
        return;
    bound->value = bound->known ? fmax(bound->value, value) : value;
    bound->known = true;
}

static void note_makespan(struct effort *e, size_t level, enum bound_kind kind,
                          double value_s)
{
    if (!(value_s > 0 && value_s <= DBL_MAX))
        return;
    bound_list_note(&e->out[level].by, kind, value_s);
    note(e, level, value_s);
}

/* ---- one choice of prices ---- */

static void use_for_level(struct effort *e, size_t level, const double *value,
                          const struct price_curve *curve)
{
    const struct bounds_field *f = &e->field;

    switch (e->goal->level[level]) {
    case OBJECTIVE_MAKESPAN:
        note_makespan(e, level, BOUND_PRICED,
                      bounds_volume_s(f, f->by_head, f->row_count, value, curve));
        if (e->work >= BOUNDS_ALL && !is_met(e, level))
            note_makespan(e, level, BOUND_ENERGETIC, bounds_energetic_s(f, value, curve));
        break;
    case OBJECTIVE_TOTAL_FLOW:
        note(e, level, bounds_completion(f, value, curve, true));
        break;
    case OBJECTIVE_WEIGHTED_COMPLETION:
        note(e, level, bounds_completion(f, value, curve, false));
        break;
    case OBJECTIVE_WEIGHTED_TARDINESS:
        note(e, level, bounds_tardiness(f, value, curve));
        break;
    case OBJECTIVE_LATE_JOBS:
        note(e, level, bounds_late_jobs(f, value, curve));
        break;
    default: /* not by prices of time */
        break;
    }
}

static bool use_prices(void *context, struct bounds_field *f, const double *value,
                       const struct price_curve *curve)
{
    struct effort *e = context;

    (void)f;
    for (size_t i = 0; i < e->goal->level_count; i++)
        if (!is_met(e, i))
            use_for_level(e, i, value, curve);
    return is_over(e);
}

/* ---- without prices ---- */

static double makespan_above(const struct effort *e, size_t level)
{
    for (size_t i = 0; i < level; i++)
        if (e->goal->level[i] == OBJECTIVE_MAKESPAN)
            return e->worth->value[i];
    return HUGE_VAL;
}

static double longest_s(const struct bounds_field *f)
{
    double longest = 0;

    for (size_t r = 0; r < f->row_count; r++)
        longest = fmax(longest, f->rows[r].done_s + f->rows[r].of->stage_out_s);
    return longest;
}

/* What each job alone proves. */
static void use_alone(struct effort *e, size_t level)
{
    struct bounds_field *f = &e->field;

    switch (e->goal->level[level]) {
    case OBJECTIVE_MAKESPAN:
        note(e, level, 0);
        note_makespan(e, level, BOUND_LONGEST_JOB, longest_s(f));
        break;
    case OBJECTIVE_TOTAL_FLOW:
        note(e, level, bounds_completion(f, NULL, NULL, true));
        break;
    case OBJECTIVE_WEIGHTED_COMPLETION:
        note(e, level, bounds_completion(f, NULL, NULL, false));
        break;
    case OBJECTIVE_WEIGHTED_TARDINESS:
        note(e, level, bounds_tardiness(f, NULL, NULL));
        break;
    case OBJECTIVE_LATE_JOBS:
        note(e, level, bounds_late_jobs(f, NULL, NULL));
        break;
    case OBJECTIVE_COST:
    case OBJECTIVE_ENERGY:
        note(e, level, 0);
        break;
    case OBJECTIVE_NODES_USED:
        note(e, level, bounds_nodes_used(f, makespan_above(e, level)));
        break;
    case OBJECTIVE_STARTED_NOW:
    case OBJECTIVE_COUNT:
        break;
    }
}

/* All levels of that kind of objective. */
static void use_costs(struct effort *e)
{
    for (size_t i = 0; i < e->goal->level_count; i++) {
        enum world_objective o = e->goal->level[i];

        if ((o == OBJECTIVE_COST || o == OBJECTIVE_ENERGY) && !is_met(e, i))
            note(e, i, bounds_cost(&e->field, o == OBJECTIVE_ENERGY));
    }
}

/* What users may have. */
static void use_limits(struct effort *e)
{
    for (size_t i = 0; i < e->goal->level_count; i++)
        if (e->goal->level[i] == OBJECTIVE_MAKESPAN && !is_met(e, i))
            note_makespan(e, i, BOUND_PRICED, bounds_limits_s(&e->field));
}

static void use_grain(struct effort *e)
{
    for (size_t i = 0; i < e->goal->level_count; i++)
        if (e->goal->level[i] == OBJECTIVE_MAKESPAN && !is_met(e, i)) {
            double bound_s = e->out[i].value;
            double up_s = bounds_grain_s(&e->field, e->plan, bound_s);

            if (up_s > bound_s)
                note_makespan(e, i, BOUND_GRAIN, up_s);
        }
}

static void use_others(struct effort *e)
{
    for (size_t i = 0; i < e->goal->level_count; i++) {
        if (e->goal->level[i] != OBJECTIVE_MAKESPAN)
            continue;
        if (!is_met(e, i))
            note_makespan(e, i, BOUND_PIGEONHOLE, bounds_pigeonhole_s(&e->field));
        if (!is_met(e, i))
            note_makespan(e, i, BOUND_DUAL_FEASIBLE, bounds_dual_s(&e->field));
    }
}

/* ---- all ---- */

static double end_of_plan_s(const struct effort *e)
{
    double end_s = 0;

    for (size_t r = 0; r < e->field.row_count; r++)
        end_s = fmax(end_s, e->plan->placed[e->field.rows[r].job].done_s);
    return end_s;
}

static void prove(struct effort *e)
{
    for (size_t i = 0; i < e->goal->level_count; i++)
        use_alone(e, i);
    if (e->work < BOUNDS_SINGLE || is_over(e))
        return;
    use_costs(e);
    if (e->field.w->limit_count)
        use_limits(e);
    if (is_over(e) || prices_of_single_amounts(&e->field, use_prices, e))
        return;
    if (e->work < BOUNDS_ALL)
        return;
    use_grain(e);
    if (is_over(e))
        return;
    use_others(e);
    use_grain(e);
    if (e->work < BOUNDS_ASCENT || is_over(e))
        return;
    prices_of_ascent(&e->field, end_of_plan_s(e), use_prices, e);
    use_grain(e);
}

void world_bounds(const struct world *w, const struct world_goal *goal,
                  const struct world_plan *plan, const struct world_worth *worth,
                  enum bound_work work, struct world_bound *out, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    struct effort e = {
        .goal = goal, .plan = plan, .worth = worth, .work = work, .out = out};

    memset(out, 0, goal->level_count * sizeof(*out));
    bounds_field_make(w, plan, &e.field, a);
    prove(&e);
    arena_rewind(a, mark);
}
