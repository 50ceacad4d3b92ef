/* gang.c - jobs that start together, or not at all.
 *
 * Of a gang those that wait start in one instant, in the order of its members, each by
 * the first of its rows that fits; if one of them does not, all are taken back. Who runs
 * already, or has left the queue, is not waited for.
 *
 * Source: Slurm's documentation, page "Heterogeneous Job Support"; that the members are
 * tried in their order is ours.
 */
#include "algorithms/cluster_queue/decide.h"

#include <math.h>
#include <string.h>

/* One that has begun, while it is not known whether all do. */
struct begun {
    struct cluster_held *held;
    bool name_ran; /* before */
};

static void take_back(struct cluster_pass *p, const struct begun *b)
{
    size_t row = b->held->row, job = p->of->rows[row].job;
    struct cluster_verdict *v = &p->out->verdicts[row];
    ptrdiff_t name = p->of->jobs[job].of.name;

    cluster_stop(p->state, b->held);
    p->started[job] = false;
    if (p->begun)
        p->begun_count--;
    if (name >= 0)
        p->names_running[name] = b->name_ran;
    v->outcome = CLUSTER_WAITS;
    v->start_s = v->until_s = (double)NAN;
    v->limit_s = p->of->rows[row].limit_s;
    v->by_backfill = false;
}

/* The first row of a member that fits; -1: none does. */
static ptrdiff_t row_that_fits(struct cluster_pass *p, const struct cluster_member *m,
                               cluster_fit_fn *fit, void *context,
                               struct cluster_pick *pick)
{
    for (size_t row = m->row; row < m->row + m->row_count; row++)
        if (p->out->verdicts[row].outcome == CLUSTER_WAITS && cluster_ready(p, row) &&
            fit(context, row, pick))
            return (ptrdiff_t)row;
    return -1;
}

static bool begin_member(struct cluster_pass *p, const struct cluster_member *m,
                         cluster_fit_fn *fit, void *context, bool by_backfill,
                         struct begun *out)
{
    ptrdiff_t name = p->of->jobs[m->job].of.name;
    struct cluster_pick pick = {0};
    ptrdiff_t row = row_that_fits(p, m, fit, context, &pick);

    if (row < 0)
        return false;
    out->name_ran = name >= 0 && p->names_running[name];
    cluster_begin(p, (size_t)row, &pick, p->of->rows[row].limit_s, by_backfill);
    out->held = p->state->held[p->state->held_count - 1];
    return true;
}

/* Before anything is begun for nothing. */
static bool each_fits(struct cluster_pass *p, const struct cluster_gang *g,
                      cluster_fit_fn *fit, void *context)
{
    for (size_t i = 0; i < g->count; i++) {
        struct cluster_pick pick = {0};

        budget_step(p->of->budget, g->members[i].row_count + 1);
        if (!p->started[g->members[i].job] &&
            row_that_fits(p, &g->members[i], fit, context, &pick) < 0)
            return false;
    }
    return true;
}

bool cluster_gang_begin(struct cluster_pass *p, size_t gang, cluster_fit_fn *fit,
                        void *context, bool by_backfill)
{
    const struct cluster_gang *g = &p->of->gangs[gang - 1];
    struct begun *list = NEW(p->arena, struct begun, g->count);
    size_t count = 0;

    if (!each_fits(p, g, fit, context))
        return false;
    for (size_t i = 0; i < g->count; i++) {
        const struct cluster_member *m = &g->members[i];

        budget_step(p->of->budget, m->row_count + 1);
        if (p->started[m->job])
            continue;
        if (!begin_member(p, m, fit, context, by_backfill, &list[count])) {
            while (count > 0)
                take_back(p, &list[--count]);
            return false;
        }
        count++;
    }
    return count > 0;
}

bool cluster_gang_ready(struct cluster_pass *p, size_t gang)
{
    const struct cluster_gang *g = &p->of->gangs[gang - 1];
    bool all = true;

    for (size_t i = 0; i < g->count; i++) {
        const struct cluster_member *m = &g->members[i];
        bool any = p->started[m->job];

        budget_step(p->of->budget, m->row_count + 1);
        for (size_t row = m->row; row < m->row + m->row_count && !any; row++)
            any = p->out->verdicts[row].outcome == CLUSTER_WAITS && cluster_ready(p, row);
        all &= any;
    }
    return all;
}

void cluster_gang_waits(struct cluster_pass *p, size_t gang)
{
    const struct cluster_gang *g = &p->of->gangs[gang - 1];

    for (size_t i = 0; i < g->count; i++) {
        const struct cluster_member *m = &g->members[i];

        budget_step(p->of->budget, m->row_count + 1);
        for (size_t row = m->row; row < m->row + m->row_count; row++)
            if (!p->started[m->job] && cluster_ready(p, row))
                p->out->verdicts[row].reason = CLUSTER_REASON_GROUP_GANG;
    }
}

/* ---- what can never run ---- */

/* The cluster with all its nodes and nothing on them. */
struct empty {
    struct cluster of;
    struct cluster_state *state;
    struct cluster_question question;
    uint64_t *set;
};

static struct empty *make_empty(const struct cluster *c, struct arena *a)
{
    struct cluster_node *nodes = NEW(a, struct cluster_node, c->node_count);
    struct empty *x = NEW(a, struct empty, 1);

    for (size_t i = 0; i < c->node_count; i++) {
        nodes[i] = c->nodes[i];
        nodes[i].starts = true;
    }
    x->of = *c;
    x->of.nodes = nodes;
    x->of.running_count = 0;
    x->state = cluster_state_create(&x->of, a);
    x->question = cluster_question_create(x->state, a);
    x->set = NEW(a, uint64_t, cluster_words(c->node_count));
    return x;
}

static struct cluster_held *place_row(struct empty *x, size_t row, struct arena *a)
{
    const struct cluster_row *r = &x->of.rows[row];
    const struct cluster_job *job = &x->of.jobs[r->job];
    struct cluster_pick pick;

    if (!cluster_has_shared(x->state, job))
        return NULL;
    memcpy(x->set, x->of.partitions[r->partition].nodes,
           x->state->words * sizeof(*x->set));
    if (job->allowed)
        cluster_set_keep(x->set, job->allowed, x->state->words);
    cluster_ask(&x->question, r, NULL, x->set);
    if (!cluster_enough(&x->question, x->set, 0))
        return NULL;
    cluster_choose(&x->question, x->set, 0, &pick, a);
    return cluster_start(x->state, r, &pick, 0, 1);
}

/* Whether all of it have room on the empty cluster, as they would be started. */
static bool could_start(struct cluster_pass *p, struct empty *x,
                        const struct cluster_gang *g)
{
    struct cluster_held **list = NEW(p->arena, struct cluster_held *, g->count);
    size_t count = 0;

    for (size_t i = 0; i < g->count && count == i; i++) {
        const struct cluster_member *m = &g->members[i];

        budget_step(p->of->budget, m->row_count);
        for (size_t row = m->row; row < m->row + m->row_count && count == i; row++) {
            if (p->out->verdicts[row].outcome == CLUSTER_NEVER)
                continue;
            list[count] = place_row(x, row, p->arena);
            count += list[count] != NULL;
        }
    }
    for (size_t i = count; i-- > 0;)
        cluster_stop(x->state, list[i]);
    return count == g->count;
}

void cluster_gang_screen(struct cluster_pass *p)
{
    struct empty *x = p->of->gang_count ? make_empty(p->of, p->arena) : NULL;

    for (size_t k = 0; k < p->of->gang_count && !p->out->is_cut; k++) {
        const struct cluster_gang *g = &p->of->gangs[k];

        if (could_start(p, x, g))
            continue;
        for (size_t i = 0; i < g->count; i++)
            for (size_t row = g->members[i].row;
                 row < g->members[i].row + g->members[i].row_count; row++) {
                struct cluster_verdict *v = &p->out->verdicts[row];

                budget_step(p->of->budget, 1);
                if (v->outcome == CLUSTER_NEVER)
                    continue;
                v->outcome = CLUSTER_NEVER;
                v->reason = CLUSTER_REASON_GROUP_GANG;
            }
    }
}
