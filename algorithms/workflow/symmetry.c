/* workflow/symmetry.c - processors and tasks that can be exchanged for each other. */
#include "algorithms/workflow/symmetry.h"

#include "algorithms/workflow/problem_parts.h"

#include <string.h>

enum { SITES_MOST = 256 };

struct comparing {
    const struct workflow_problem *problem;
    struct workflow_clock *clock;
    size_t *of_resource; /* [resource]: its processors */
    size_t *on_site;     /* [site]: resources */
    bool linked;         /* data moves over links, so sites count */
    uint64_t *hash;      /* [processor] */
};

/* ---- processors ---- */

static uint64_t mix(uint64_t hash, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return (hash ^ bits) * 0x9E3779B97F4A7C15u + (hash >> 29);
}

static bool hash_columns(struct comparing *c)
{
    const struct workflow_problem *problem = c->problem;

    for (size_t i = 0; i < problem->task_count; i++) {
        if (!workflow_tick(c->clock, (double)problem->processor_count))
            return false;
        for (size_t p = 0; p < problem->processor_count; p++)
            c->hash[p] = mix(c->hash[p], workflow_time_s(problem, i, p));
    }
    return true;
}

static bool same_intervals(const struct workflow_blocked *x, size_t count,
                           const struct workflow_blocked *y, size_t other_count)
{
    if (count != other_count)
        return false;
    for (size_t k = 0; k < count; k++)
        if (x[k].from_s != y[k].from_s || x[k].to_s != y[k].to_s)
            return false;
    return true;
}

/* Every link to and from both is the same; two numbers tell a link. */
static bool same_links(const struct comparing *c, size_t s, size_t t)
{
    static const double probes[] = {1, 1e9};
    const struct workflow_problem *problem = c->problem;
    size_t sites = problem->parts->resource_site_count;

    if (s == t || !c->linked)
        return true;
    if (sites > SITES_MOST || c->on_site[s] > 1 || c->on_site[t] > 1)
        return false;
    if (!workflow_tick(c->clock, 8 * (double)sites))
        return false;
    for (size_t r = 0; r < sites; r++)
        for (size_t k = 0; k < 2 && r != s && r != t; k++)
            if (workflow_link_s(problem, probes[k], s, r) !=
                    workflow_link_s(problem, probes[k], t, r) ||
                workflow_link_s(problem, probes[k], r, s) !=
                    workflow_link_s(problem, probes[k], r, t))
                return false;
    for (size_t k = 0; k < 2; k++)
        if (workflow_link_s(problem, probes[k], s, t) !=
            workflow_link_s(problem, probes[k], t, s))
            return false;
    return true;
}

/* Run times, and when a task and what is done for it can be there. */
static bool same_columns(const struct comparing *c, size_t p, size_t q)
{
    const struct workflow_problem *problem = c->problem;

    for (size_t i = 0; i < problem->task_count; i++) {
        size_t first = problem->parent_first[i], end = problem->parent_first[i + 1];

        if (!workflow_is_open(problem, i))
            continue;
        if (!workflow_tick(c->clock, 1 + (double)(end - first)) ||
            workflow_time_s(problem, i, p) != workflow_time_s(problem, i, q) ||
            workflow_staged_s(problem, i, p) != workflow_staged_s(problem, i, q))
            return false;
        for (size_t e = first; e < end; e++) {
            const struct workflow_edge *edge = &problem->edges[e];
            size_t from = problem->fixed_processor[edge->parent];

            if (from != WORKFLOW_NONE && workflow_transfer_s(problem, edge, from, p) !=
                                             workflow_transfer_s(problem, edge, from, q))
                return false;
        }
    }
    return true;
}

static bool equal(const struct comparing *c, size_t p, size_t q)
{
    const struct workflow_processor *x = &c->problem->processors[p];
    const struct workflow_processor *y = &c->problem->processors[q];

    if (c->hash[p] != c->hash[q] || x->usable != y->usable)
        return false;
    if (x->resource != y->resource &&
        (c->of_resource[x->resource] > 1 || c->of_resource[y->resource] > 1))
        return false;
    return same_intervals(x->blocked, x->blocked_count, y->blocked, y->blocked_count) &&
           same_intervals(x->closed, x->closed_count, y->closed, y->closed_count) &&
           same_links(c, x->site, y->site) && same_columns(c, p, q);
}

static void note_neighbours(struct comparing *c)
{
    const struct workflow_problem *problem = c->problem;
    size_t first = 0;

    for (size_t p = 0; p < problem->processor_count; p++) {
        if (p == 0 ||
            problem->processors[p].resource != problem->processors[first].resource) {
            first = p;
            c->on_site[problem->processors[p].site]++;
        }
        c->of_resource[problem->processors[p].resource]++;
    }
    for (size_t e = 0; e < problem->edge_count && !c->linked; e++)
        c->linked = isnan(problem->edges[e].transfer_s) && problem->edges[e].bytes > 0;
}

void workflow_equal_processors(const struct workflow_problem *problem,
                               struct workflow_clock *clock, size_t **same_as,
                               struct arena *a)
{
    size_t count = problem->processor_count, class_count = 0;
    struct comparing c = {.problem = problem, .clock = clock};
    size_t *same = NEW(a, size_t, count), *classes = NEW(a, size_t, count);

    c.of_resource = NEW(a, size_t, problem->in->snapshot->resource_count);
    c.on_site = NEW(a, size_t, problem->parts->site_count + 1);
    c.hash = NEW(a, uint64_t, count);
    *same_as = same;
    for (size_t p = 0; p < count; p++)
        same[p] = p;
    note_neighbours(&c);
    if (!hash_columns(&c))
        return;
    for (size_t p = 0; p < count; p++) {
        for (size_t k = 0; k < class_count && same[p] == p; k++)
            if (workflow_tick(clock, 1) && equal(&c, classes[k], p))
                same[p] = classes[k];
        if (same[p] == p)
            classes[class_count++] = p;
    }
}

/* ---- tasks ---- */

static bool same_data(const struct workflow_edge *x, const struct workflow_edge *y)
{
    if (isnan(x->transfer_s) != isnan(y->transfer_s))
        return false;
    return isnan(x->transfer_s) ? x->bytes == y->bytes : x->transfer_s == y->transfer_s;
}

bool workflow_equal_tasks(const struct workflow_problem *problem, size_t i, size_t j)
{
    const size_t *up = problem->parent_first, *down = problem->child_first;

    if (up[i + 1] - up[i] != up[j + 1] - up[j] ||
        down[i + 1] - down[i] != down[j + 1] - down[j])
        return false;
    for (size_t p = 0; p < problem->processor_count; p++)
        if (workflow_time_s(problem, i, p) != workflow_time_s(problem, j, p) ||
            workflow_ready_s(problem, i, p) != workflow_ready_s(problem, j, p))
            return false;
    for (size_t k = 0; k < up[i + 1] - up[i]; k++) {
        const struct workflow_edge *x = &problem->edges[up[i] + k];
        const struct workflow_edge *y = &problem->edges[up[j] + k];

        if (x->parent != y->parent || !same_data(x, y))
            return false;
    }
    for (size_t k = 0; k < down[i + 1] - down[i]; k++) {
        const struct workflow_edge *x = &problem->edges[problem->child_edge[down[i] + k]];
        const struct workflow_edge *y = &problem->edges[problem->child_edge[down[j] + k]];

        if (x->child != y->child || !same_data(x, y))
            return false;
    }
    return true;
}
