/* parallel/exact_boxes.c - the search that splits the rectangle of (cpu, link).
 *
 * A set has a least cpu c and a least link b among the values there are. For a given
 * size the score never rises with c or b, so in a box of values
 *
 *     bound = min over p = p_min .. U of score(p, greatest c, greatest b)
 *
 * where U limits the size of a clique in the graph of the least c and least b: the
 * number of colours of a greedy colouring, or the degrees alone. The box with the least
 * bound is split in two at the middle of an axis; a half that cannot hold a set better
 * than the best so far is dropped; a large clique of the half's graph is recorded. Of a
 * box with one pair of values a largest clique is looked for. Splitting an axis leaves
 * the lower half its graph, so one graph is made for two boxes.
 *
 * `known_s` is the score of an answer elsewhere: boxes that cannot beat it are dropped
 * too, and their bounds remembered.
 *
 * Source: spec parallel-scheduling.md 4.9. Deviation: the large clique is looked for
 * with ties by index, not by mean bandwidth; boxes start from the best set of the
 * fastest machines. Cost: O(n^2) a box; boxes without limit at worst.
 */
#include "algorithms/parallel/exact_parts.h"
#include "models/base/heap.h"

#include <stdlib.h>
#include <string.h>

struct box {
    double bound_s;
    uint64_t made; /* ties: made earlier */
    uint32_t cpu_low, cpu_high, link_low, link_high;
    uint32_t most; /* U */
};

struct boxes {
    struct parallel_search *s;
    const struct exact_options *options;
    struct exact_levels levels;
    struct link_graph graph;
    struct graph_scratch scratch;
    struct clique_search clique;
    uint32_t *member; /* of a clique */
    size_t *machines;
    struct box *heap; /* least bound first */
    size_t count, room;
    uint64_t made;
    double known_s;
    double kept_s; /* least bound of what was dropped or is not settled */
    size_t p_min;
};

/* Sets that score as much or more are of no use. */
static double limit_s(const struct boxes *x)
{
    return fmin(x->s->best_s, x->known_s);
}

/* ---- queue ---- */

static bool comes_before(const struct box *l, const struct box *r)
{
    return l->bound_s != r->bound_s ? l->bound_s < r->bound_s : l->made < r->made;
}

HEAP(queue, struct box, comes_before)

static enum error_code push(struct boxes *x, struct box box)
{
    if (x->count == x->room) {
        x->heap = GROW(x->s->arena, x->heap, struct box, x->room, x->room * 2);
        x->room *= 2;
    }
    box.made = x->made++;
    queue_push(x->heap, &x->count, box);
    return OK;
}

/* ---- recording ---- */

static void keep(struct boxes *x, double score_s, size_t count)
{
    struct parallel_search *s = x->s;

    if (!search_better(s, count, score_s))
        return;
    for (size_t i = 0; i < count; i++)
        x->machines[i] = x->levels.machine[x->member[i]];
    search_keep(s, score_s, x->machines, count);
}

static double cpu_at(const struct boxes *x, size_t position)
{
    return x->s->cpu[x->levels.machine[position]];
}

/* The fastest machines of a clique, of every number. O(count^2). */
static void try_prefixes(struct boxes *x, size_t count)
{
    const struct exact_levels *v = &x->levels;
    uint32_t least = UINT32_MAX;

    x->s->evaluations += count;
    search_charge(x->s, count + count * (count - 1) / 2);
    for (size_t i = 0; i < count; i++) {
        const uint32_t *rank = &v->rank[x->member[i] * v->n];
        double link = HUGE_VAL;

        for (size_t k = 0; k < i; k++)
            if (rank[x->member[k]] < least)
                least = rank[x->member[k]];
        if (least == 0)
            return;
        if (i > 0)
            link = v->link[least - 1];
        keep(x, search_score(x->s, i + 1, cpu_at(x, x->member[i]), link), i + 1);
    }
}

/* The number of the least link value with which a set of this size and cpu is better
 * than the best; 0: none. */
static uint32_t link_needed(const struct boxes *x, size_t count, double cpu)
{
    size_t low = 0, high = x->levels.link_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (search_score(x->s, count, cpu, x->levels.link[middle]) < x->s->best_s)
            high = middle;
        else
            low = middle + 1;
    }
    return low < x->levels.link_count ? (uint32_t)low + 1 : 0;
}

/* A clique in x->member, ascending: all of it. Mostly soon seen to be no better. */
static void try_whole(struct boxes *x, size_t count)
{
    const struct exact_levels *v = &x->levels;
    double cpu = cpu_at(x, x->member[count - 1]);
    uint32_t needed = link_needed(x, count, cpu);
    uint32_t least = UINT32_MAX;

    x->s->evaluations++;
    search_charge(x->s, count + count * (count - 1) / 2);
    if (needed == 0)
        return;
    for (size_t i = 1; i < count; i++) {
        const uint32_t *rank = &v->rank[x->member[i] * v->n];

        for (size_t k = 0; k < i; k++)
            if (rank[x->member[k]] < least)
                least = rank[x->member[k]];
        if (least < needed)
            return;
    }
    keep(x, search_score(x->s, count, cpu, v->link[least - 1]), count);
}

static void try_clique(struct boxes *x, size_t count)
{
    if (count < x->p_min)
        return;
    if (x->s->monotone)
        try_whole(x, count);
    else
        try_prefixes(x, count);
}

/* ---- bounds ---- */

static double corner_s(const struct boxes *x, const struct box *box, size_t count)
{
    return search_score(x->s, count, x->levels.cpu[box->cpu_high],
                        x->levels.link[box->link_high]);
}

static double bound_s(const struct boxes *x, const struct box *box)
{
    double least_s = HUGE_VAL;

    if (box->most < x->p_min)
        return HUGE_VAL;
    if (x->s->monotone)
        return corner_s(x, box, box->most);
    for (size_t p = x->p_min; p <= box->most; p++)
        least_s = fmin(least_s, corner_s(x, box, p));
    return least_s;
}

/* Raises the bound of a half; false: it is of no use, and its bound is kept. */
static bool useful(struct boxes *x, struct box *half)
{
    half->bound_s = fmax(half->bound_s, bound_s(x, half));
    if (half->bound_s < limit_s(x))
        return true;
    x->kept_s = fmin(x->kept_s, half->bound_s);
    return false;
}

static void limit_size(struct box *box, size_t most)
{
    if (most < box->most)
        box->most = (uint32_t)most;
}

static void make_graph(struct boxes *x, const struct box *box)
{
    exact_levels_graph(&x->levels, box->cpu_low, box->link_low, &x->graph);
    search_charge(x->s, x->graph.count + x->graph.count * (x->graph.count - 1) / 2);
}

/* A half with a graph of its own: limits its sizes, and records a clique. */
static enum error_code look_and_push(struct boxes *x, struct box half)
{
    make_graph(x, &half);
    limit_size(&half, x->graph.count);
    limit_size(&half, graph_core(&x->graph, &x->scratch));
    if (!useful(x, &half))
        return OK;
    limit_size(&half, graph_colours(&x->graph, &x->scratch));
    if (!useful(x, &half))
        return OK;
    if (!x->options->bound_only) {
        double units;
        size_t count = graph_clique(&x->graph, x->member, &units, &x->scratch);

        search_charge(x->s, (size_t)units);
        try_clique(x, count);
    }
    return push(x, half);
}

static enum error_code push_useful(struct boxes *x, struct box half)
{
    return useful(x, &half) ? push(x, half) : OK;
}

/* ---- boxes ---- */

/* Shares of computation and communication at the box's upper corner, by the logarithms
 * of the two sides: the longer axis is split. */
static bool split_cpu(const struct boxes *x, const struct box *box)
{
    const struct exact_levels *v = &x->levels;
    size_t half = x->s->n / 2 > 2 ? x->s->n / 2 : 2;
    double cpu = v->cpu[box->cpu_high], link = v->link[box->link_high];
    double comp_s, all_s;

    if (box->cpu_low == box->cpu_high || box->link_low == box->link_high)
        return box->cpu_low != box->cpu_high;
    comp_s = x->s->comp_s[half] / cpu;
    all_s = search_score(x->s, half, cpu, link);
    if (x->s->in->queue_wait_s)
        all_s -= x->s->in->queue_wait_s[half];
    return log(cpu / v->cpu[box->cpu_low]) * comp_s >=
           log(link / v->link[box->link_low]) * (all_s - comp_s);
}

static enum error_code split(struct boxes *x, const struct box *box)
{
    struct box low = *box, high = *box;

    if (split_cpu(x, box)) {
        low.cpu_high = box->cpu_low + (box->cpu_high - box->cpu_low) / 2;
        high.cpu_low = low.cpu_high + 1;
    } else {
        low.link_high = box->link_low + (box->link_high - box->link_low) / 2;
        high.link_low = low.link_high + 1;
    }
    TRY(look_and_push(x, high));
    return push_useful(x, low);
}

static int ascending(const void *left, const void *right)
{
    const uint32_t *l = left, *r = right;

    return *l < *r ? -1 : *l > *r;
}

/* A box with one pair of values: the sizes that would be better, and a clique of such a
 * size. */
static void settle(struct boxes *x, const struct box *box)
{
    struct clique_search *c = &x->clique;
    double limit = limit_s(x);

    if (x->options->bound_only) {
        x->kept_s = fmin(x->kept_s, box->bound_s);
        return;
    }
    c->need = 0;
    for (size_t p = x->p_min; p <= box->most; p++) {
        if (!(corner_s(x, box, p) < limit))
            continue;
        c->need = c->need ? c->need : p;
        c->enough = p;
    }
    x->kept_s = fmin(x->kept_s, limit); /* the other sizes score as much or more */
    if (c->need == 0)
        return;
    make_graph(x, box);
    clique_search_run(c, &x->graph, x->s->in->budget, &x->scratch, x->s->arena);
    search_charge(x->s, c->nodes * x->graph.count);
    qsort(c->member, c->found, sizeof(*c->member), ascending);
    memcpy(x->member, c->member, c->found * sizeof(*c->member));
    try_clique(x, c->found);
    if (c->cut)
        x->kept_s = fmin(x->kept_s, box->bound_s);
}

static void boxes_create(struct boxes *x)
{
    struct arena *a = x->s->arena;

    exact_levels_create(x->s, &x->levels, a);
    link_graph_create(x->s->n, &x->graph, a);
    graph_scratch_create(x->s->n, &x->scratch, a);
    if (!x->options->bound_only)
        clique_search_create(x->s->n, &x->clique, a);
    x->clique.node_cap = x->options->max_clique_nodes;
    x->room = 256;
    x->heap = NEW(a, struct box, x->room);
    x->member = NEW(a, uint32_t, x->s->n);
    x->machines = NEW(a, size_t, x->s->n);
}

static enum error_code begin(struct boxes *x)
{
    const struct exact_levels *v = &x->levels;
    struct box all = {
        .cpu_high = (uint32_t)v->cpu_count - 1,
        .link_high = (uint32_t)v->link_count - 1,
        .most = (uint32_t)v->n,
    };

    if (!x->options->bound_only) {
        for (size_t i = 0; i < v->n; i++)
            x->member[i] = (uint32_t)i;
        try_prefixes(x, v->n);
    }
    return v->link_count > 0 ? look_and_push(x, all) : OK;
}

/* The bound of the box of everything: the best cpu with the best link. O(n^2), one look
 * at each link. */
static double bound_of_all(const struct parallel_search *s, size_t p_min)
{
    double cpu = 0, link = 0, bound_s = s->best_s;

    for (size_t i = 0; i < s->n; i++) {
        cpu = fmax(cpu, s->cpu[i]);
        for (size_t k = i + 1; k < s->n; k++)
            if (search_link(s, i, k) > link)
                link = search_link(s, i, k);
    }
    for (size_t p = p_min; p <= s->n; p++)
        bound_s = fmin(bound_s, search_score(s, p, cpu, link));
    return bound_s;
}

enum error_code exact_boxes(struct parallel_search *s, const struct exact_options *o,
                            double known_s, double *bound)
{
    struct boxes x = {
        .s = s,
        .options = o,
        .known_s = known_s > 0 ? known_s : HUGE_VAL,
        .kept_s = HUGE_VAL,
        .p_min = s->min_procs > 2 ? s->min_procs : 2,
    };

    if (budget_spent(s->in->budget)) { /* the tables alone cost O(n^2 log n) */
        s->stopped = true;
        *bound = bound_of_all(s, x.p_min);
        return OK;
    }
    boxes_create(&x);
    TRY(begin(&x));
    while (x.count > 0 && x.heap[0].bound_s < limit_s(&x) && !search_stop_now(s)) {
        struct box box = queue_pop(x.heap, &x.count);

        s->iterations++;
        if (box.cpu_low == box.cpu_high && box.link_low == box.link_high)
            settle(&x, &box);
        else
            TRY(split(&x, &box));
        if (o->max_boxes && s->iterations >= o->max_boxes)
            break;
    }
    *bound = fmin(s->best_s, x.kept_s);
    if (x.count > 0)
        *bound = fmin(*bound, x.heap[0].bound_s);
    return OK;
}
