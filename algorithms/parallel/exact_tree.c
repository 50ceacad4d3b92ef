/* parallel/exact_tree.c - the optimum where links have structure.
 *
 * Switched networks are trees: the bandwidth between two machines is that of the
 * narrowest link on the way. Then for every value b "linked with at least b" is an
 * equivalence relation, and the cliques of the graph of links >= b are the sets inside
 * its classes. A greatest spanning tree (Prim) is built; the links have the structure
 * exactly when each new machine v, joined to u by a link w, has
 *
 *     link(v, x) = min(w, link(u, x))        for every machine x that is in the tree
 *
 * The edges of the tree, the widest first, then join the classes; in each class that
 * arises the best set of each size is that of its fastest machines.
 *
 * Links that are all alike are a tree, and so is a link that is the lesser of its ends'
 * uplinks, for which spec 4.7 has a method of its own (threshold_exact): both find the
 * same score, this one in O(n^2) after sorting.
 *
 * Source: ours; spec parallel-scheduling.md 4.7, 4.9. Cost: O(n^2); links without
 * structure mostly show it after a few machines.
 */
#include "algorithms/parallel/exact_parts.h"

#include <stdlib.h>
#include <string.h>

struct edge {
    double bandwidth_mbps;
    size_t child, parent;
};

/* Classes of machines: lists by falling cpu. */
struct classes {
    size_t *class_of, *head, *next, *size;
    size_t *member; /* of a class, as an array */
};

static int by_width(const void *left, const void *right)
{
    const struct edge *l = left, *r = right;

    if (l->bandwidth_mbps != r->bandwidth_mbps)
        return l->bandwidth_mbps < r->bandwidth_mbps ? 1 : -1;
    return l->child < r->child ? -1 : l->child > r->child;
}

/* Does machine v, joined by *e, see the others in the tree as its parent does? */
static bool fits(const struct parallel_search *s, const struct edge *e,
                 const size_t *inside, size_t inside_count)
{
    const double *mine = &s->links[e->child * s->n];
    const double *its = &s->links[e->parent * s->n];

    for (size_t i = 0; i < inside_count; i++) {
        size_t x = inside[i];

        if (x != e->parent && mine[x] != fmin(e->bandwidth_mbps, its[x]))
            return false;
    }
    return true;
}

/* A greatest spanning tree, while the links fit it and the time lasts. */
static bool span(struct parallel_search *s, struct edge *best, size_t *inside, bool *has,
                 struct edge *edges)
{
    inside[0] = 0;
    has[0] = true;
    for (size_t x = 1; x < s->n; x++)
        best[x] = (struct edge){search_link(s, 0, x), x, 0};
    for (size_t count = 1; count < s->n; count++) {
        struct edge widest = {-1, 0, 0};

        if (budget_step(s->in->budget, 3 * s->n)) {
            s->stopped = true;
            return false;
        }
        for (size_t x = 1; x < s->n; x++)
            if (!has[x] && best[x].bandwidth_mbps > widest.bandwidth_mbps)
                widest = best[x];
        if (!fits(s, &widest, inside, count))
            return false;
        edges[count - 1] = widest;
        inside[count] = widest.child;
        has[widest.child] = true;
        for (size_t x = 1; x < s->n; x++)
            if (search_link(s, widest.child, x) > best[x].bandwidth_mbps && !has[x])
                best[x] = (struct edge){search_link(s, widest.child, x), x, widest.child};
    }
    return true;
}

/* Is machine l before machine r? By falling cpu, ties: lower index. */
static bool before(const struct parallel_search *s, size_t l, size_t r)
{
    return s->cpu[l] != s->cpu[r] ? s->cpu[l] > s->cpu[r] : l < r;
}

/* Joins two lists by falling cpu; `right` is empty from then on. */
static void join(const struct parallel_search *s, struct classes *c, size_t left,
                 size_t right)
{
    size_t l = c->head[left], r = c->head[right];
    size_t *end = &c->head[left];

    for (size_t x = r; x != NO_MACHINE; x = c->next[x])
        c->class_of[x] = left;
    while (l != NO_MACHINE || r != NO_MACHINE) {
        bool take_left = r == NO_MACHINE || (l != NO_MACHINE && before(s, l, r));
        size_t x = take_left ? l : r;

        if (take_left)
            l = c->next[l];
        else
            r = c->next[r];
        *end = x;
        end = &c->next[x];
    }
    *end = NO_MACHINE;
    c->size[left] += c->size[right];
    c->head[right] = NO_MACHINE;
    c->size[right] = 0;
}

/* The fastest machines of a class, of every number. */
static void try_class(struct parallel_search *s, struct classes *c, size_t class,
                      double bandwidth_mbps)
{
    size_t count = 0, best_count = 0;
    double best_s = s->best_s;

    for (size_t x = c->head[class]; x != NO_MACHINE; x = c->next[x]) {
        double score_s;

        c->member[count++] = x;
        if (count < 2 || count < s->min_procs)
            continue;
        score_s = search_score(s, count, s->cpu[x], bandwidth_mbps);
        if (score_s < best_s) {
            best_s = score_s;
            best_count = count;
        }
    }
    s->evaluations += count - 1;
    search_charge(s, count);
    if (best_count > 0)
        search_keep(s, best_s, c->member, best_count);
}

static void classes_create(const struct parallel_search *s, struct classes *c)
{
    c->class_of = NEW(s->arena, size_t, s->n);
    c->head = NEW(s->arena, size_t, s->n);
    c->next = NEW(s->arena, size_t, s->n);
    c->size = NEW(s->arena, size_t, s->n);
    c->member = NEW(s->arena, size_t, s->n);
    for (size_t i = 0; i < s->n; i++) {
        c->class_of[i] = c->head[i] = i;
        c->next[i] = NO_MACHINE;
        c->size[i] = 1;
    }
}

static enum error_code try_classes(struct parallel_search *s, struct edge *edges)
{
    struct classes c;

    classes_create(s, &c);
    qsort(edges, s->n - 1, sizeof(*edges), by_width);
    for (size_t i = 0; i + 1 < s->n && edges[i].bandwidth_mbps > 0; i++) {
        size_t left = c.class_of[edges[i].child], right = c.class_of[edges[i].parent];

        if (search_stop_now(s))
            return OK;
        if (c.size[left] < c.size[right]) {
            size_t smaller = left;

            left = right;
            right = smaller;
        }
        join(s, &c, left, right);
        try_class(s, &c, left, edges[i].bandwidth_mbps);
    }
    return OK;
}

enum error_code exact_tree(struct parallel_search *s, bool *structured)
{
    struct edge *best = NEW(s->arena, struct edge, s->n);
    struct edge *edges = NEW(s->arena, struct edge, s->n);
    size_t *inside = NEW(s->arena, size_t, s->n);
    bool *has = NEW(s->arena, bool, s->n);

    search_charge(s, s->n + s->n * (s->n - 1) / 2);
    *structured = span(s, best, inside, has, edges);
    return *structured ? try_classes(s, edges) : OK;
}
