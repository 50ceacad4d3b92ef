/* preempt.c - which running jobs are stopped for a row that does not fit.
 *
 * Candidates are jobs whose quality of service the row's may preempt, or of partitions of
 * a lower tier: the lowest priority first, then the latest start, then by id. They are
 * taken until the row fits; then those that turn out not to be needed are left, in the
 * reverse order.
 *
 * Cost: a look at the nodes for each candidate.
 *
 * Source: Slurm's documentation, page "Preemption"; the order as Slurm 22.05 showed it.
 */
#include "algorithms/cluster_queue/decide.h"

#include <stdlib.h>
#include <string.h>

static bool uses(const struct cluster_held *held, const uint64_t *nodes)
{
    for (size_t i = 0; i < held->node_count; i++)
        if (cluster_set_has(nodes, held->nodes[i]))
            return true;
    return false;
}

static bool is_candidate(const struct cluster_pass *p, const struct cluster_row *row,
                         const struct cluster_held *held)
{
    const struct cluster *c = p->of;
    ptrdiff_t own = c->jobs[row->job].of.qos, its = held->of.qos;
    ptrdiff_t partition = held->of.partition;

    if ((held->running < 0 && !(p->goes_on && held->start_s < c->now_s)) ||
        held->start_s + c->settings.preempt_exempt_s > c->now_s ||
        !uses(held, p->usable) || (its >= 0 && c->qos[its].not_preempted))
        return false;
    if (c->settings.preempt_type == CLUSTER_PREEMPT_QOS)
        return own >= 0 && its >= 0 && c->qos[own].preempts && c->qos[own].preempts[its];
    return c->settings.preempt_type == CLUSTER_PREEMPT_TIER && partition >= 0 &&
           c->partitions[partition].preemptible_by_tier &&
           c->partitions[partition].tier < c->partitions[row->partition].tier;
}

const char *cluster_held_id(const struct cluster *c, const struct cluster_held *held)
{
    return held->running >= 0 ? c->running[held->running].id : c->jobs[held->job].id;
}

static int in_order(const void *x, const void *y, void *context)
{
    const struct cluster *c = context;
    const struct cluster_held *a = *(struct cluster_held *const *)x;
    const struct cluster_held *b = *(struct cluster_held *const *)y;

    if (a->priority < b->priority || a->priority > b->priority)
        return a->priority < b->priority ? -1 : 1;
    if (a->start_s < b->start_s || a->start_s > b->start_s)
        return a->start_s > b->start_s ? -1 : 1;
    return strcmp(cluster_held_id(c, a), cluster_held_id(c, b));
}

static bool fits(struct cluster_pass *p, const struct cluster_row *row)
{
    cluster_ask(&p->question, row, NULL, p->usable);
    return cluster_has_shared(p->state, &p->of->jobs[row->job]) &&
           cluster_enough(&p->question, p->usable, 0);
}

bool cluster_preempt(struct cluster_pass *p, size_t row, struct cluster_pick *pick)
{
    const struct cluster *c = p->of;
    const struct cluster_row *r = &c->rows[row];
    struct cluster_verdict *v = &p->out->verdicts[row];
    struct cluster_held **list =
        NEW(p->arena, struct cluster_held *, p->state->held_count);
    size_t count = 0, taken = 0;
    bool enough = false;

    for (size_t i = 0; i < p->state->held_count; i++) {
        budget_step(c->budget, p->state->held[i]->node_count);
        if (is_candidate(p, r, p->state->held[i]))
            list[count++] = p->state->held[i];
    }
    qsort_r(list, count, sizeof(struct cluster_held *), in_order, (void *)(uintptr_t)c);
    while (taken < count && !enough) {
        cluster_stop(p->state, list[taken++]);
        enough = fits(p, r);
    }
    for (size_t i = taken; i-- > 0;) {
        cluster_resume(p->state, list[i]);
        if (!enough)
            continue;
        if (fits(p, r))
            list[i] = NULL;
        else
            cluster_stop(p->state, list[i]);
    }
    if (!enough)
        return false;
    v->stopped = list;
    v->stopped_count = 0;
    for (size_t i = 0; i < taken; i++)
        if (list[i])
            v->stopped[v->stopped_count++] = list[i];
    fits(p, r);
    cluster_choose(&p->question, p->usable, 0, pick, p->arena);
    return true;
}
