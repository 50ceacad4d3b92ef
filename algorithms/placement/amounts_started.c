/* placement/amounts_started.c - the most weight that any plan starts now. */
#include "algorithms/placement/amounts_started.h"

/* The tier of a job; the last has all lower ones. */
static size_t tier_of(const struct amounts_started *s, const struct world_job *j)
{
    size_t t = 0;

    while (t + 1 < s->tier_count &&
           (s->tiers[t].partition_tier != j->tier || s->tiers[t].priority != j->priority))
        t++;
    return t;
}

/* Whether the job may have ended at 0: it takes no time somewhere. */
static bool may_end_now(const struct world *w, const struct world_job *j)
{
    for (size_t p = 0; p < w->resource_count; p++) {
        budget_step(w->budget, 1);
        if (world_run_s(w, j, p) <= 0)
            return true;
    }
    return false;
}

/* May start at 0, but only behind jobs that do, by `start` or because they take no time.
 */
static bool is_follower(const struct world *w, const struct world_job *j)
{
    if (j->barred != WORLD_WAIT_NONE || j->earliest_s > 0 || j->after_count == 0)
        return false;
    for (size_t k = 0; k < j->after_count; k++) {
        const struct world_job *before = &w->jobs[j->after[k].job];

        if (before->barred != WORLD_WAIT_NONE || before->earliest_s > 0 ||
            (j->after[k].kind != AFTER_START && !may_end_now(w, before)))
            return false;
    }
    return true;
}

static void sum_most(const struct world *w, struct amounts_started *s)
{
    for (size_t i = 0; i < w->job_count; i++) {
        const struct world_job *j = &w->jobs[i];

        budget_step(w->budget, s->tier_count + 1);
        s->follows = s->follows || is_follower(w, j);
        if (j->barred == WORLD_WAIT_NONE && j->earliest_s <= 0)
            s->most[tier_of(s, j)] += j->weight;
    }
}

const struct amounts_started *
amounts_started_of(const struct world *w, const struct now_out *found, struct arena *a)
{
    struct amounts_started *s = NEW(a, struct amounts_started, 1);

    s->tier_count = found->tier_count;
    for (size_t t = 0; t < found->tier_count; t++)
        s->tiers[t] = found->tiers[t];
    if (s->tier_count)
        sum_most(w, s);
    return s;
}

const struct amounts_started *amounts_started_find(const struct world *w,
                                                   const struct world_goal *goal,
                                                   double max_nodes, struct arena *a)
{
    struct now_in in = {.w = w, .max_nodes = (size_t)max_nodes};
    struct now_out *found;

    if (!world_goal_has(goal, OBJECTIVE_STARTED_NOW) || w->resource_count == 0)
        return NULL;
    found = NEW(a, struct now_out, 1);
    world_start_all(&in, found, a);
    return amounts_started_of(w, found, a);
}

void amounts_started_bound(const struct amounts_started *s, const struct world_goal *goal,
                           struct world_bound *bounds)
{
    if (!s || s->tier_count > 1)
        return;
    for (size_t k = 0; k < goal->level_count; k++) {
        if (goal->level[k] != OBJECTIVE_STARTED_NOW)
            continue;
        bounds[k].known = true;
        bounds[k].value = s->follows ? s->most[0] : s->tiers[0].bound;
    }
}

/* The bound of a search holds for plans that start as much in the tiers above as what it
 * found; for others it is all that the tier has. */
static void judge(const struct amounts_started *s, struct placement_tier *tiers,
                  struct placement_value *value)
{
    bool same = !s->follows, proven = true;

    for (size_t t = 0; t < s->tier_count; t++) {
        tiers[t].priority = s->tiers[t].priority;
        tiers[t].bound = same ? s->tiers[t].bound : s->most[t];
        proven = proven && tiers[t].value >= tiers[t].bound * (1 - 1e-9);
        tiers[t].proven = proven;
        same = same && fabs(tiers[t].value - s->tiers[t].value) <=
                           1e-9 * fmax(1, s->tiers[t].value);
    }
    value->of.proven = proven;
    value->tiers = tiers;
    value->tier_count = s->tier_count;
}

static void sum_started(const struct amounts_started *s, const struct world *w,
                        const struct world_plan *plan, struct placement_tier *tiers)
{
    for (size_t k = 0; k < plan->placed_count; k++) {
        const struct world_job *j = &w->jobs[plan->sequence[k]];

        budget_step(w->budget, s->tier_count);
        if (plan->placed[plan->sequence[k]].start_s <= 0)
            tiers[tier_of(s, j)].value += j->weight;
    }
}

void amounts_started_tiers(const struct amounts_started *s, const struct world *w,
                           const struct world_goal *goal, const struct world_plan *plan,
                           struct placement_value *list, struct arena *a)
{
    struct placement_tier *tiers;
    size_t k = 0;

    if (!s || s->tier_count <= 1)
        return;
    tiers = NEW(a, struct placement_tier, s->tier_count);
    sum_started(s, w, plan, tiers);
    while (goal->level[k] != OBJECTIVE_STARTED_NOW)
        k++;
    judge(s, tiers, &list[k]);
}
