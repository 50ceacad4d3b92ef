/* workflow/round_groups.c - candidates for a task, one by one or in groups.
 *
 * A candidate is a resource with its free roots left there ("keep"), or interrupted
 * ("evict"). Candidates of one group of resources and one kind are a lot, that is
 * compared as one:
 *
 *     longest   x = RE + NO on the member with the largest share      key = x
 *     others    x = remaining / mean share of the members + NO        key = top - x
 *
 *     accepted  longest: x + gamma * now < now
 *               others:  x <= top and (top - x) + gamma * (top - now) < top - now
 *
 * Groups are the resources of a site in order of speed, cut into runs of theta. With
 * theta 1 a lot has one member, and this is the ungrouped rule.
 *
 * Source: spec workflows.md 5.5, 6.2, 6.4; 000_168dd5aef5075332.txt 5.5.2, 5.5.4.
 * Cost: O(resources) a task to make the lots, O(log lots) for each that is tried.
 * Deviation: resources that are failed, stale or without free speed are in no group
 * (the source divides the available ones).
 */
#include "algorithms/workflow/round_plan.h"
#include "models/base/heap.h"

#include <math.h>
#include <stdlib.h>

/* ---- groups ---- */

struct sorted_resource {
    size_t site, resource;
    double speed;
};

static int compare_resources(const void *left, const void *right)
{
    const struct sorted_resource *l = left, *r = right;

    if (l->site != r->site)
        return l->site < r->site ? -1 : 1;
    if (l->speed != r->speed)
        return l->speed < r->speed ? -1 : 1;
    return l->resource < r->resource ? -1 : l->resource > r->resource;
}

static void cut_groups(struct wf_groups *g, const struct sorted_resource *sorted,
                       size_t count, size_t theta)
{
    for (size_t k = 0; k < count; k++) {
        bool opens = k == 0 || sorted[k].site != sorted[k - 1].site ||
                     k - g->group_first[g->count - 1] == theta;

        if (opens)
            g->group_first[g->count++] = k;
        g->order[k] = sorted[k].resource;
        g->group_of[sorted[k].resource] = g->count - 1;
    }
    g->group_first[g->count] = count;
}

void wf_groups_make(struct wf_plan *plan, struct wf_groups *groups)
{
    const struct workflow_plain *in = plan->in;
    size_t n = in->resource_count, theta = (size_t)plan->param[WF_THETA], count = 0;
    struct sorted_resource *sorted = NEW(plan->arena, struct sorted_resource, n);

    *groups = (struct wf_groups){
        .order = NEW(plan->arena, size_t, n),
        .group_first = NEW(plan->arena, size_t, n + 1),
        .group_of = NEW(plan->arena, size_t, n),
        .candidates = NEW(plan->arena, struct wf_candidate, 2 * n),
        .lots = NEW(plan->arena, struct wf_lot, 2 * n),
    };
    for (size_t c = 0; c < n; c++) {
        groups->group_of[c] = WF_NONE;
        if (wf_usable(plan, c))
            sorted[count++] = (struct sorted_resource){in->resources[c].site, c,
                                                       in->resources[c].free_speed};
    }
    groups->alone = theta == 1;
    if (theta > 1) /* otherwise their order does not matter */
        qsort(sorted, count, sizeof(*sorted), compare_resources);
    cut_groups(groups, sorted, count, theta);
}

/* ---- lots, a heap ---- */

static bool lot_before(const struct wf_lot *l, const struct wf_lot *r)
{
    if (l->key != r->key)
        return l->key < r->key;
    if (l->evicts != r->evicts)
        return r->evicts;
    return l->resource < r->resource;
}

HEAP(lots, struct wf_lot, lot_before)

bool wf_lots_pop(struct wf_groups *groups, struct wf_lot *lot)
{
    if (groups->lot_count == 0)
        return false;
    *lot = lots_pop(groups->lots, &groups->lot_count);
    return true;
}

/* ---- candidates ---- */

/* A task that stands still gains by any move, unless gamma forbids all. */
bool wf_accepts(const struct wf_plan *plan, const struct wf_query *q, double x_s)
{
    double gamma = plan->param[WF_GAMMA], gap_s, new_gap_s;

    if (!(x_s < HUGE_VAL))
        return false;
    if (q->longest)
        return q->now_s < HUGE_VAL ? x_s + gamma * q->now_s < q->now_s : gamma < 1;
    if (!(q->top_s < HUGE_VAL))
        return false;
    gap_s = q->top_s - q->now_s;
    new_gap_s = q->top_s - x_s;
    return new_gap_s >= 0 && new_gap_s + gamma * gap_s < gap_s;
}

/* Appends a candidate if the slots and the amounts allow it. */
static void add_candidate(struct wf_plan *plan, struct wf_candidate *list, size_t *count,
                          const struct wf_query *q, size_t resource, size_t evicted,
                          double transfer_s)
{
    const struct workflow_plain_resource *r = &plan->in->resources[resource];
    size_t tasks = plan->count[resource] - evicted + 1;
    double x_s;

    if (tasks > r->n_max)
        return;
    x_s = wf_run_s(plan, q->task, resource, tasks) + transfer_s + wf_overhead_s(plan);
    if (plan->in->tasks[q->task].times_s && !(x_s < HUGE_VAL))
        return;
    if (plan->in->amounts &&
        !wf_fits(plan, q->task, resource, plan->leaving,
                 evicted > 0 ? wf_evictable(plan, resource, plan->leaving) : 0, x_s))
        return;
    list[(*count)++] = (struct wf_candidate){
        .resource = resource,
        .evicted = evicted,
        .share = wf_share(plan, resource, tasks),
        .transfer_s = transfer_s,
        .x_s = x_s,
    };
}

/* What stands for a lot. Members of a group are of one site: NO is the same for all. */
static double lot_x_s(const struct wf_plan *plan, const struct wf_query *q,
                      const struct wf_candidate *list, size_t count)
{
    const struct wf_candidate *fastest = &list[0];
    double sum = 0, sum_s = 0, least_s = HUGE_VAL, mean;

    for (size_t k = 0; k < count; k++) {
        sum_s += list[k].x_s;
        least_s = fmin(least_s, list[k].x_s);
    }
    if (plan->in->tasks[q->task].times_s) /* whatever their speeds */
        return q->longest ? least_s : sum_s / (double)count;
    for (size_t k = 0; k < count; k++) {
        sum += list[k].share;
        if (list[k].share > fastest->share ||
            (list[k].share == fastest->share && list[k].resource < fastest->resource))
            fastest = &list[k];
    }
    if (q->longest || count == 1)
        return fastest->x_s;
    mean = sum / (double)count;
    return plan->remaining_ref_s[q->task] / mean + list[0].transfer_s +
           wf_overhead_s(plan);
}

static void add_lot(struct wf_plan *plan, struct wf_groups *g, const struct wf_query *q,
                    size_t first, size_t end)
{
    double x_s;

    if (first == end)
        return;
    x_s = lot_x_s(plan, q, g->candidates + first, end - first);
    if (!wf_accepts(plan, q, x_s))
        return;
    if (g->alone && g->candidates[first].evicted == 0 &&
        wf_crowded(plan, g->candidates[first].resource)) {
        g->vetoed = true;
        return;
    }
    g->lots[g->lot_count++] = (struct wf_lot){
        .first = first,
        .count = end - first,
        .key = q->longest ? x_s : q->top_s - x_s,
        .evicts = g->candidates[first].evicted > 0,
        .resource = g->candidates[first].resource,
    };
}

/* Both lots of a group: candidates that keep, behind them those that evict. */
static void fill_group(struct wf_plan *plan, struct wf_groups *g,
                       const struct wf_query *q, size_t group, size_t *used)
{
    size_t from = plan->place[q->task], first = *used, keep_end;

    for (size_t k = g->group_first[group]; k < g->group_first[group + 1]; k++)
        if (g->order[k] != from)
            add_candidate(plan, g->candidates, used, q, g->order[k], 0,
                          wf_move_s(plan, q->task, from, g->order[k]));
    keep_end = *used;
    for (size_t k = g->group_first[group]; k < g->group_first[group + 1]; k++) {
        size_t c = g->order[k];
        size_t evicted = c != from ? wf_evictable_count(plan, c) : 0;

        if (evicted > 0)
            add_candidate(plan, g->candidates, used, q, c, evicted,
                          wf_move_s(plan, q->task, from, c));
    }
    add_lot(plan, g, q, first, keep_end);
    add_lot(plan, g, q, keep_end, *used);
}

void wf_lots_fill(struct wf_plan *plan, struct wf_groups *groups,
                  const struct wf_query *q)
{
    size_t own = groups->group_of[plan->place[q->task]], used = 0;

    groups->lot_count = 0;
    groups->vetoed = false;
    for (size_t group = 0; group < groups->count; group++)
        if (q->longest || group != own)
            fill_group(plan, groups, q, group, &used);
    lots_heapify(groups->lots, groups->lot_count);
}
