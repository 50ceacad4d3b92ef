/* replication/node_sets.c - the nodes that copies of a job on several may be put on. */
#include "algorithms/replication/node_sets.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static int by_site(const void *left, const void *right)
{
    const struct free_node *a = left, *b = right;

    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    if (a->time_s != b->time_s)
        return a->time_s < b->time_s ? -1 : 1;
    if (a->mean_s != b->mean_s)
        return a->mean_s > b->mean_s ? -1 : 1;
    return (a->resource > b->resource) - (a->resource < b->resource);
}

static int by_resource(const void *left, const void *right)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;

    return (a > b) - (a < b);
}

/* The logarithm of M (e^(E/M) - 1), which is finite where that is not. */
static double score_of(double time_s, double rate)
{
    double x = time_s * rate;

    return (x > 30 ? x : log(expm1(x))) - log(rate);
}

/* The nodes of least rate so far: a heap, the largest rate on top. */
struct least {
    const struct free_node *nodes;
    size_t *list;
    size_t count;
    double rate; /* of all of them */
};

static bool is_above(const struct least *h, size_t a, size_t b)
{
    double x = h->nodes[h->list[a]].mean_s, y = h->nodes[h->list[b]].mean_s;

    return x != y ? x < y : h->list[a] > h->list[b];
}

static void swap(struct least *h, size_t a, size_t b)
{
    size_t kept = h->list[a];

    h->list[a] = h->list[b];
    h->list[b] = kept;
}

static void push(struct least *h, size_t node)
{
    size_t i = h->count++;

    h->list[i] = node;
    for (; i > 0 && is_above(h, i, (i - 1) / 2); i = (i - 1) / 2)
        swap(h, i, (i - 1) / 2);
}

static void sink(struct least *h)
{
    for (size_t i = 0, top = 0;; i = top) {
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < h->count; child++)
            if (is_above(h, child, top))
                top = child;
        if (top == i)
            return;
        swap(h, i, top);
    }
}

/* The node goes in; with more than `size`, the one of largest rate goes out. */
static void offer(struct least *h, size_t node, size_t size)
{
    if (h->count < size) {
        push(h, node);
    } else if (h->nodes[node].mean_s > h->nodes[h->list[0]].mean_s) {
        h->list[0] = node;
        sink(h);
    }
}

/* Summed afresh: differences would add up their rounding. */
static double rate_of(const struct least *h)
{
    double rate = 0;

    for (size_t i = 0; i < h->count; i++)
        rate += 1 / h->nodes[h->list[i]].mean_s;
    return rate;
}

/* The first nodes up to the result give the best set; 0: there are too few. */
static size_t best_end(struct least *h, size_t count, size_t size)
{
    double best = HUGE_VAL, rate = 0;
    size_t end = 0;

    h->count = 0;
    for (size_t i = 0; i < count; i++) {
        double out = h->count == size ? 1 / h->nodes[h->list[0]].mean_s : 0;
        double in = 1 / h->nodes[i].mean_s, score;

        if (h->count == size && !(in < out))
            continue;
        offer(h, i, size);
        rate += in - out;
        if (h->count < size)
            continue;
        score = score_of(h->nodes[i].time_s, fmax(rate, in));
        if (score < best || end == 0) {
            best = score;
            end = i + 1;
        }
    }
    return end;
}

/* Takes the best set of these nodes out of them. */
static bool take(struct free_node *nodes, size_t *count, size_t size, struct least *h,
                 struct node_set *set, struct arena *a)
{
    size_t *list, end, kept = 0;

    h->nodes = nodes;
    end = best_end(h, *count, size);
    if (end == 0)
        return false;
    h->count = 0;
    for (size_t i = 0; i < end; i++)
        offer(h, i, size);
    list = NEW(a, size_t, size);
    *set = (struct node_set){.nodes = list, .count = size, .mean_s = 1 / rate_of(h)};
    qsort(h->list, size, sizeof(*h->list), by_resource); /* places, which rise */
    for (size_t i = 0, n = 0; i < *count; i++) {
        if (n < size && h->list[n] == i) {
            list[n++] = nodes[i].resource;
            set->time_s = fmax(set->time_s, nodes[i].time_s);
        } else {
            nodes[kept++] = nodes[i];
        }
    }
    qsort(list, size, sizeof(*list), by_resource);
    *count = kept;
    return true;
}

void node_sets_find(struct free_node *nodes, size_t count, size_t size, size_t sets_max,
                    struct node_set **sets, size_t *set_count, double *left_out_s,
                    struct budget *budget, struct arena *a)
{
    struct least heap = {.list = NEW(a, size_t, size)};

    *sets = NEW(a, struct node_set, count / size);
    *set_count = 0;
    *left_out_s = HUGE_VAL;
    if (count > 0)
        qsort(nodes, count, sizeof(*nodes), by_site);
    for (size_t first = 0, end; first < count; first = end) {
        size_t left = 1;

        while (first + left < count && nodes[first + left].site == nodes[first].site)
            left++;
        end = first + left;
        if (left > size)
            *left_out_s = fmin(*left_out_s, nodes[first + size - 1].time_s);
        for (size_t i = 0; i < sets_max && left >= size; i++) {
            if (budget_step(budget, 16 * left))
                return;
            if (!take(nodes + first, &left, size, &heap, &(*sets)[*set_count], a))
                break;
            (*set_count)++;
        }
    }
}
