/* world/now_many.c - jobs on several nodes, and groups, that start now.
 *
 * They are asked of a board, which needs run times: a job without one gets the longest
 * there is.
 */
#include "algorithms/world/board_groups.h"
#include "algorithms/world/now_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A job, or a unit by its first ready member. */
struct wide {
    double tier, priority, weight;
    size_t job;
};

static bool is_wide(const struct world *w, const struct world_job *j)
{
    return j->nodes > 1 || j->group != WORLD_NONE ||
           (w->limit_count && world_is_limited(j));
}

static bool has_no_time(const struct world_job *j)
{
    return !j->etc_s && isnan(j->estimate_ref_s) && isnan(j->estimate_s);
}

/* The world with a run time for every job. */
static struct world timed_world(const struct world *w, struct arena *a)
{
    struct world timed = *w;
    struct world_job *jobs = NEW(a, struct world_job, w->job_count);

    for (size_t j = 0; j < w->job_count; j++) {
        jobs[j] = w->jobs[j];
        if (has_no_time(&jobs[j]))
            jobs[j].estimate_s = WORLD_LONGEST_S;
    }
    timed.jobs = jobs;
    return timed;
}

static int most_important_first(const void *a, const void *b)
{
    const struct wide *x = a, *y = b;

    if (x->tier != y->tier)
        return x->tier > y->tier ? -1 : 1;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->job < y->job ? -1 : 1;
}

/* Wide jobs that are ready, units as one with the sum of their weights. A unit of which a
 * member is not ready waits. */
static size_t list_wide(const struct board *b, struct wide *list, struct arena *a)
{
    const struct world *w = board_world(b);
    double *weights = NEW(a, double, w->job_count);
    bool *waits = NEW(a, bool, w->job_count);
    size_t count = 0;

    for (size_t j = 0; j < w->job_count; j++) {
        size_t unit = board_unit_of(b, j);

        weights[unit] += w->jobs[j].weight;
        waits[unit] = waits[unit] || !now_is_ready(&w->jobs[j]);
    }
    for (size_t j = 0; j < w->job_count; j++) {
        const struct world_job *job = &w->jobs[j];

        if (is_wide(w, job) && board_unit_of(b, j) == j && !waits[j])
            list[count++] = (struct wide){job->tier, job->priority, weights[j], j};
    }
    qsort(list, count, sizeof(*list), most_important_first);
    return count;
}

/* The least completion from 0 on, of one node on the positions [first, behind). */
static struct board_spot best_now(struct board *b, size_t job, size_t first,
                                  size_t behind)
{
    const struct world *w = board_world(b);
    const struct world_job *j = &w->jobs[job];
    const struct board_reach now = {0};
    struct board_spot best = board_nowhere();

    if (!board_shared_is_enough(b, job))
        return best;
    if (j->nodes > 1)
        return board_fit_nodes(b, job, &now);
    for (size_t c = 0; c < j->choice_count; c++)
        for (size_t i = first; i < behind; i++) {
            struct board_spot spot;

            if (budget_step(w->budget, 1))
                return best;
            if (!world_mask_has(j->choices[c].mask, i))
                continue;
            spot = board_fit(b, job, c, i, 0, 0);
            if (spot.done_s < HUGE_VAL && board_is_better(b, &spot, &best))
                best = spot;
        }
    return best;
}

/* At its best, if that is now. */
static void start_gang(struct board *b, size_t member)
{
    const struct world *w = board_world(b);
    const struct world_group *g = &w->groups[w->jobs[member].group];

    budget_step(w->budget, g->job_count);
    if (!board_place_unit(b, member) || board_plan(b)->placed[member].start_s <= 0)
        return;
    for (size_t i = 0; i < g->job_count; i++)
        board_give(b, g->jobs[i]);
}

/* Members that start on a value of the key; the sum of their weights. */
static double start_on(struct board *b, const struct world_group *g, size_t value)
{
    const struct world *w = board_world(b);
    bool one = g->key == GROUP_BY_RESOURCE;
    double weight = 0;

    board_set_pack_value(b, w->jobs[g->jobs[0]].group, value);
    for (size_t i = 0; i < g->job_count; i++) {
        struct board_spot spot =
            best_now(b, g->jobs[i], one ? value : 0, one ? value + 1 : w->resource_count);

        if (budget_step(w->budget, w->amount_count))
            return weight;
        if (spot.done_s == HUGE_VAL)
            continue;
        board_take(b, g->jobs[i], &spot);
        weight += w->jobs[g->jobs[i]].weight;
    }
    return weight;
}

/* On the value on which most weight starts (ties: the first). */
static void start_pack(struct board *b, size_t member)
{
    const struct world *w = board_world(b);
    size_t group = w->jobs[member].group, best = PACK_NOWHERE;
    const struct world_group *g = &w->groups[group];
    size_t fixed = board_pack_value(b, group), count = group_value_count(w, g);
    double most = -1;

    for (size_t v = 0; v < count; v++) {
        double weight;

        if (budget_step(w->budget, 1))
            break;
        if (fixed != PACK_ANYWHERE && fixed != v)
            continue;
        weight = start_on(b, g, v);
        for (size_t i = 0; i < g->job_count; i++)
            if (board_plan(b)->placed[g->jobs[i]].positions)
                board_give(b, g->jobs[i]);
        if (weight > most) {
            most = weight;
            best = v;
        }
    }
    if (best != PACK_NOWHERE)
        start_on(b, g, best);
    else
        board_set_pack_value(b, group, fixed);
}

static void start_one(struct board *b, size_t job)
{
    const struct world *w = board_world(b);
    struct board_spot spot;

    if (board_is_unit(b, job)) {
        if (w->groups[w->jobs[job].group].policy == GROUP_GANG)
            start_gang(b, job);
        else
            start_pack(b, job);
        return;
    }
    spot = best_now(b, job, 0, w->resource_count);
    if (spot.done_s < HUGE_VAL)
        board_take(b, job, &spot);
}

/* What a plan starts at 0 is taken on the board. */
static void take_plan(struct board *b, const struct world_plan *plan)
{
    for (size_t i = 0; plan && i < plan->placed_count; i++) {
        const struct world_placed *p = &plan->placed[plan->sequence[i]];
        const struct board_spot spot = {
            .positions = p->positions,
            .position_count = p->position_count,
            .choice = p->choice,
            .run_s = fmin(p->run_s, WORLD_LONGEST_S),
            .end_s = fmin(p->end_s, WORLD_LONGEST_S),
            .done_s = fmin(p->done_s, WORLD_LONGEST_S),
        };

        board_take(b, plan->sequence[i], &spot);
    }
}

/* Wide jobs that start at 0 beside those of `taken` (NULL: none), and these. */
static struct world_plan *start_wide(const struct world *w,
                                     const struct world_plan *taken, struct arena *a)
{
    struct world *timed = NEW(a, struct world, 1);
    struct wide *list = NEW(a, struct wide, w->job_count);
    struct world_plan *plan;
    struct board *b;
    size_t count;

    *timed = timed_world(w, a);
    b = board_create(timed, NULL, a);
    take_plan(b, taken);
    count = list_wide(b, list, a);
    for (size_t i = 0; i < count && !budget_step(w->budget, w->resource_count); i++)
        start_one(b, list[i].job);
    plan = board_plan(b);
    for (size_t j = 0; j < w->job_count; j++) {
        struct world_placed *p = &plan->placed[j];

        if (!p->positions || !has_no_time(&w->jobs[j]))
            continue;
        p->run_s = p->end_s = p->done_s = HUGE_VAL;
        p->killed = false;
        if (w->plan_with_limit && w->jobs[j].time_limit_s < HUGE_VAL)
            p->end_s = w->jobs[j].time_limit_s;
    }
    return plan;
}

static bool is_better(const struct now_out *a, const struct now_out *b)
{
    for (size_t t = 0; t < a->tier_count; t++)
        if (a->tiers[t].value != b->tiers[t].value)
            return a->tiers[t].value > b->tiers[t].value;
    return false;
}

static enum world_wait wait_for(const struct world_group *g)
{
    return g->policy == GROUP_GANG   ? WORLD_WAIT_GROUP_GANG
           : g->policy == GROUP_PACK ? WORLD_WAIT_GROUP_PACK
                                     : WORLD_WAIT_GROUP_SPREAD;
}

/* Members for which there is room now, but for the rule of their group. */
static void say_groups(const struct world *w, struct world_plan *plan, struct arena *a)
{
    struct world *timed = NEW(a, struct world, 1);
    struct board *b;

    *timed = timed_world(w, a);
    b = board_create(timed, NULL, a);
    b->groups = NULL;
    take_plan(b, plan);
    for (size_t j = 0; j < w->job_count; j++) {
        struct world_placed *p = &plan->placed[j];

        if (budget_step(w->budget, 1))
            return;
        if (w->jobs[j].group == WORLD_NONE || p->positions ||
            p->wait != WORLD_WAIT_NO_FREE_NOW ||
            best_now(b, j, 0, w->resource_count).done_s == HUGE_VAL)
            continue;
        p->wait = wait_for(&w->groups[w->jobs[j].group]);
        p->wait_on = w->jobs[j].group;
    }
}

static void start_all(const struct now_in *in, struct now_out *out, struct arena *a)
{
    struct now_in first = *in, behind = *in;
    struct now_out other;
    bool any = false;

    for (size_t j = 0; !any && j < in->w->job_count; j++)
        any = is_wide(in->w, &in->w->jobs[j]) && now_is_ready(&in->w->jobs[j]);
    if (!any) {
        world_start_now(in, out, a);
        return;
    }
    first.before = start_wide(in->w, NULL, a);
    world_start_now(&first, out, a);
    world_start_now(in, &other, a);
    behind.before = start_wide(in->w, &other.plan, a);
    world_start_now(&behind, &other, a);
    if (is_better(&other, out))
        *out = other;
    if (!out->plan.cut)
        say_groups(in->w, &out->plan, a);
}

/* Jobs that the limits of their users keep, however free the resources are. */
static void say_limits(const struct world *w, struct world_plan *plan, struct arena *a)
{
    struct world *timed = NEW(a, struct world, 1);
    struct board *b;

    *timed = timed_world(w, a);
    b = board_create(timed, NULL, a);
    take_plan(b, plan);
    for (size_t j = 0; j < w->job_count; j++) {
        struct world_placed *p = &plan->placed[j];
        size_t limit;

        if (budget_step(w->budget, 1))
            return;
        if (p->positions || p->wait != WORLD_WAIT_NO_FREE_NOW)
            continue;
        limit = board_limit_now(b, j, 0);
        if (limit == WORLD_NONE)
            continue;
        p->wait = WORLD_WAIT_USER_LIMIT;
        p->wait_on = limit;
    }
}

/* What starts has no more of any limit than is left. */
static bool are_limits_kept(const struct world *w, const struct world_plan *plan,
                            struct arena *a)
{
    int64_t *left = NEW(a, int64_t, w->limit_count);
    bool kept = true;

    for (size_t k = 0; k < w->limit_count; k++)
        left[k] = world_limit_left(w, &w->limits[k]);
    budget_step(w->budget, 4 * plan->placed_count);
    for (size_t i = 0; i < plan->placed_count; i++) {
        const struct world_placed *p = &plan->placed[plan->sequence[i]];
        const struct world_job *j = &w->jobs[plan->sequence[i]];
        const struct world_choice *c = &j->choices[p->choice];

        if (!(p->end_s > 0))
            continue;
        for (size_t k = 0; k < c->limit_count; k++) {
            int64_t *of = &left[c->limits[k]];

            *of = amount_add(*of, -world_limit_need(&w->limits[c->limits[k]], j));
            kept = kept && *of >= 0;
        }
    }
    return kept;
}

/* The world in which nobody is limited. */
static const struct world *without_limits(const struct world *w, struct arena *a)
{
    struct world *out = NEW(a, struct world, 1);
    struct world_job *jobs = NEW(a, struct world_job, w->job_count);

    *out = *w;
    for (size_t j = 0; j < w->job_count; j++) {
        struct world_choice *list;

        jobs[j] = w->jobs[j];
        if (!world_is_limited(&jobs[j]))
            continue;
        budget_step(w->budget, 1 + jobs[j].choice_count);
        list = NEW(a, struct world_choice, jobs[j].choice_count);
        for (size_t c = 0; c < jobs[j].choice_count; c++) {
            list[c] = jobs[j].choices[c];
            list[c].limit_count = 0;
        }
        jobs[j].choices = list;
    }
    out->jobs = jobs;
    out->limit_count = 0;
    return out;
}

/* Limits count only where the best plan without them exceeds one. */
void world_start_all(const struct now_in *in, struct now_out *out, struct arena *a)
{
    struct now_in free = *in;
    double most = HUGE_VAL; /* weight that can start, whoever limits it */

    if (in->w->limit_count == 0) {
        start_all(in, out, a);
        return;
    }
    free.w = without_limits(in->w, a);
    start_all(&free, out, a);
    if (!out->plan.cut && are_limits_kept(in->w, &out->plan, a))
        return;
    if (out->tier_count == 1)
        most = out->tiers[0].bound;
    start_all(in, out, a);
    if (out->tier_count == 1 && most < out->tiers[0].bound)
        out->tiers[0].bound = fmax(most, out->tiers[0].value);
    if (!out->plan.cut)
        say_limits(in->w, &out->plan, a);
}
