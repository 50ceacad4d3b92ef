/* ensemble/trees.c - boosted trees on what the ridge leaves over.
 *
 * Each tree is fitted to the residuals r of the ones before, with weights w. A leaf says
 * rate G / (W + lambda), G = sum w r and W = sum w over its rows. A node with enough rows
 * is split where
 *
 *     Gl^2 / (Wl + lambda) + Gr^2 / (Wr + lambda) - G^2 / (W + lambda)
 *
 * is greatest: the first input and lowest edge of those. A category is a number: the
 * mean of its residuals, drawn to that of all; two inputs more are what size per
 * processor is. Leaves are rounded to float before residuals change, so that a model that
 * was stored says the same. No sampling, no random numbers.
 *
 * Source: J. Friedman, "Greedy function approximation", 2001; histograms as in G. Ke et
 * al., "LightGBM", 2017. Cost: O(trees depth rows inputs).
 */
#include "models/ensemble/internal.h"

#include "models/base/order.h"

#include <math.h>
#include <string.h>

const struct tree_rules tree_rules_whole = {120, 4, 10, 0.12, 1, 5};
const struct tree_rules tree_rules_fold = {60, 4, 10, 0.2, 1, 5};

enum { ROWS_LEAST = 24 };
#define CODE_PRIOR   5.0
#define GAIN_LEAST   1e-9
#define GAIN_GREATER (1 + 1e-12)

struct bin {
    double g, w;
};

/* ---- one tree ---- */

struct growth {
    const uint8_t *bins;
    size_t inputs;
    const size_t *edges;
    double *r;
    const double *w;
    const struct tree_rules *rules;
    struct budget *budget;
    size_t *row, *room; /* rows of each node, side by side; ascending */
    size_t start[TREE_NODES], count[TREE_NODES];
    struct bin *histogram[TREE_NODES]; /* of nodes that may be split */
    struct arena *a;
};

static void fill(struct growth *g, size_t node)
{
    struct bin *h = g->histogram[node] = NEW(g->a, struct bin, g->inputs * BINS_MAX);

    for (size_t i = 0; i < g->count[node]; i++) {
        size_t row = g->row[g->start[node] + i];
        const uint8_t *bins = g->bins + row * g->inputs;
        double w = g->w[row], wr = w * g->r[row];

        for (size_t k = 0; k < g->inputs; k++) {
            h[k * BINS_MAX + bins[k]].g += wr;
            h[k * BINS_MAX + bins[k]].w += w;
        }
    }
    budget_step(g->budget, g->count[node] * g->inputs);
}

static void subtract(struct growth *g, size_t parent, size_t smaller, size_t larger)
{
    g->histogram[larger] = NEW(g->a, struct bin, g->inputs * BINS_MAX);
    for (size_t i = 0; i < g->inputs * BINS_MAX; i++) {
        g->histogram[larger][i].g =
            g->histogram[parent][i].g - g->histogram[smaller][i].g;
        g->histogram[larger][i].w =
            g->histogram[parent][i].w - g->histogram[smaller][i].w;
    }
}

/* The best split of a node; false: none gains. */
static bool find_split(const struct growth *g, size_t node, double sum, double weight,
                       size_t *input, size_t *edge)
{
    const struct tree_rules *rules = g->rules;
    double best = GAIN_LEAST, whole = sum * sum / (weight + rules->lambda);
    bool any = false;

    for (size_t k = 0; k < g->inputs; k++) {
        const struct bin *h = g->histogram[node] + k * BINS_MAX;
        double left = 0, left_weight = 0;

        for (size_t b = 0; b < g->edges[k]; b++) {
            double right, right_weight, gain;

            if (!(h[b].w > 0))
                continue; /* the same as at the edge before */
            left += h[b].g;
            left_weight += h[b].w;
            right = sum - left;
            right_weight = weight - left_weight;
            if (left_weight < rules->least_weight || right_weight < rules->least_weight)
                continue;
            gain = left * left / (left_weight + rules->lambda) +
                   right * right / (right_weight + rules->lambda) - whole;
            if (!(gain > best * GAIN_GREATER))
                continue;
            best = gain;
            *input = k;
            *edge = b;
            any = true;
        }
    }
    budget_step(g->budget, g->inputs * BINS_MAX / 4);
    return any;
}

/* The rows of a node go to its children, in their order. */
static void part_rows(struct growth *g, size_t node, size_t input, size_t edge)
{
    size_t *rows = g->row + g->start[node], left = 0, right = 0;

    for (size_t i = 0; i < g->count[node]; i++) {
        if (g->bins[rows[i] * g->inputs + input] > edge)
            g->room[right++] = rows[i];
        else
            rows[left++] = rows[i];
    }
    if (right > 0)
        memcpy(rows + left, g->room, right * sizeof(*rows));
    g->start[2 * node + 1] = g->start[node];
    g->count[2 * node + 1] = left;
    g->start[2 * node + 2] = g->start[node] + left;
    g->count[2 * node + 2] = right;
}

/* Histograms of two children that may be split: the smaller one's is counted. */
static void fill_children(struct growth *g, size_t node)
{
    size_t left = 2 * node + 1, right = 2 * node + 2;
    bool left_is_larger = g->count[left] > g->count[right];

    if (g->count[left_is_larger ? left : right] < g->rules->least_rows)
        return;
    fill(g, left_is_larger ? right : left);
    subtract(g, node, left_is_larger ? right : left, left_is_larger ? left : right);
}

static size_t depth_of(size_t node)
{
    size_t depth = 0;

    for (; node > 0; node = (node - 1) / 2)
        depth++;
    return depth;
}

void tree_grow(const uint8_t *bins, size_t inputs, const size_t *edges, double *r,
               const double *w, size_t count, const struct tree_rules *rules,
               struct budget *budget, struct tree_node *out, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    struct growth g = {
        .bins = bins,
        .inputs = inputs,
        .edges = edges,
        .r = r,
        .w = w,
        .rules = rules,
        .budget = budget,
        .row = NEW(a, size_t, count + 1),
        .room = NEW(a, size_t, count + 1),
        .count = {count},
        .a = a,
    };

    for (size_t i = 0; i < count; i++)
        g.row[i] = i;
    fill(&g, 0);
    for (size_t node = 0; node < TREE_NODES; node++) {
        size_t depth = depth_of(node), input = 0, edge = 0;
        double sum = 0, weight = 0;

        out[node] = (struct tree_node){0, TREE_LEAF, 0};
        if (g.count[node] == 0)
            continue;
        for (size_t i = 0; i < g.count[node]; i++) {
            size_t row = g.row[g.start[node] + i];

            sum += w[row] * r[row];
            weight += w[row];
        }
        out[node].value = (float)(rules->rate * sum / (weight + rules->lambda));
        if (depth >= rules->depth || g.count[node] < rules->least_rows ||
            !find_split(&g, node, sum, weight, &input, &edge))
            continue;
        out[node].input = (uint8_t)input;
        out[node].bin = (uint8_t)edge;
        part_rows(&g, node, input, edge);
        if (depth + 1 < rules->depth)
            fill_children(&g, node);
    }
    for (size_t node = 0; node < TREE_NODES; node++)
        for (size_t i = 0; out[node].input == TREE_LEAF && i < g.count[node]; i++)
            r[g.row[g.start[node] + i]] -= (double)out[node].value;
    arena_rewind(a, mark);
}

/* ---- inputs as bins ---- */

/* Number k of the trees' inputs of a row: numbers, then categories, then size per
 * processor; NAN: missing. */
static size_t tree_inputs(const struct ensemble *e, const struct trees *trees,
                          const double *x, double *out)
{
    size_t count = 0, text = 0;

    for (size_t k = 0; k < e->input_count; k++)
        if (!e->input[k].is_text && e->input[k].is_used)
            out[count++] = x[k];
    for (size_t k = 0; k < e->input_count; k++) {
        if (!e->input[k].is_text)
            continue;
        if (e->input[k].is_used)
            out[count++] =
                isnan(x[k]) ? trees->code_mean : trees->code[text][(size_t)x[k]];
        text++;
    }
    if (e->size != SIZE_MAX && e->processors != SIZE_MAX && e->input[e->size].is_used &&
        e->input[e->processors].is_used)
        out[count++] = x[e->processors] > 0 ? x[e->size] / x[e->processors] : (double)NAN;
    return count;
}

size_t tree_input_count(const struct ensemble *e)
{
    double x[ENSEMBLE_INPUTS_MAX], out[TREE_INPUTS_MAX];
    struct trees none = {0};

    for (size_t k = 0; k < e->input_count; k++)
        x[k] = (double)NAN;
    return tree_inputs(e, &none, x, out);
}

static uint8_t bin_of(const struct tree_input *in, double x)
{
    size_t low = 0, high = in->edge_count;

    if (isnan(x))
        return 0;
    while (low < high) {
        size_t middle = (low + high) / 2;

        if (x > in->edge[middle])
            low = middle + 1;
        else
            high = middle;
    }
    return (uint8_t)low;
}

/* Edges between the values of an input, which are sorted here. */
static void find_edges(double *value, size_t count, struct tree_input *in)
{
    size_t distinct = 0, before = 0, next = 1;

    in->edge_count = 0;
    if (count == 0)
        return;
    sort_numbers(value, count);
    for (size_t i = 0; i < count; i++)
        distinct += i == 0 || value[i] > value[i - 1];
    if (distinct <= BINS_MAX) {
        for (size_t i = 1; i < count; i++)
            if (value[i] > value[i - 1])
                in->edge[in->edge_count++] = value[i - 1] + (value[i] - value[i - 1]) / 2;
        return;
    }
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && value[end] <= value[i];)
            end++;
        before += end - i;
        if (before * BINS_MAX < next * count || end == count)
            continue;
        in->edge[in->edge_count++] = value[i];
        while (before * BINS_MAX >= next * count)
            next++;
    }
}

/* Categories as numbers: means of residuals, drawn to that of all. */
static void find_codes(const struct part *part, const double *r, struct trees *trees)
{
    const struct table *t = part->table;
    const struct ensemble *e = t->e;
    double sum = 0, weight = 0;
    size_t text = 0;

    for (size_t i = 0; i < part->count; i++) {
        sum += t->weight[part->row[i]] * r[i];
        weight += t->weight[part->row[i]];
    }
    trees->code_mean = sum / weight;
    for (size_t k = 0; k < e->input_count; k++) {
        double sums[CODES_MAX] = {0}, weights[CODES_MAX] = {0};

        if (!e->input[k].is_text)
            continue;
        for (size_t i = 0; i < part->count; i++) {
            double x = part_x(part, i)[k];

            if (isnan(x))
                continue;
            sums[(size_t)x] += t->weight[part->row[i]] * r[i];
            weights[(size_t)x] += t->weight[part->row[i]];
        }
        for (size_t v = 0; v < CODES_MAX; v++)
            trees->code[text][v] =
                (sums[v] + CODE_PRIOR * trees->code_mean) / (weights[v] + CODE_PRIOR);
        text++;
    }
}

/* ---- the trees ---- */

void trees_fit(const struct part *part, const struct ridge *ridge,
               const struct tree_rules *rules, struct budget *budget, struct trees *out,
               struct arena *a)
{
    const struct table *t = part->table;
    const struct ensemble *e = t->e;
    size_t n = part->count, edges[TREE_INPUTS_MAX];
    struct arena_mark mark;
    double *r, *w, *x, *list;
    uint8_t *bins;

    *out = (struct trees){0};
    if (n < ROWS_LEAST)
        return;
    out->node = arena_alloc(a, sizeof(*out->node), rules->trees);
    mark = arena_mark(a);
    r = NEW(a, double, n);
    w = NEW(a, double, n);
    x = NEW(a, double, n *TREE_INPUTS_MAX);
    list = NEW(a, double, n);
    for (size_t i = 0; i < n; i++) {
        r[i] = t->y[part->row[i]] - ridge_answer(e, ridge, part_x(part, i));
        w[i] = t->weight[part->row[i]];
    }
    find_codes(part, r, out);
    for (size_t i = 0; i < n; i++)
        out->input_count = tree_inputs(e, out, part_x(part, i), x + i * TREE_INPUTS_MAX);
    bins = NEW(a, uint8_t, n * out->input_count + 1);
    for (size_t k = 0; k < out->input_count; k++) {
        size_t count = 0;

        for (size_t i = 0; i < n; i++)
            if (!isnan(x[i * TREE_INPUTS_MAX + k]))
                list[count++] = x[i * TREE_INPUTS_MAX + k];
        find_edges(list, count, &out->input[k]);
        edges[k] = out->input[k].edge_count;
        for (size_t i = 0; i < n; i++)
            bins[i * out->input_count + k] =
                bin_of(&out->input[k], x[i * TREE_INPUTS_MAX + k]);
    }
    for (; out->input_count > 0 && out->tree_count < rules->trees &&
           !budget_step(budget, n);
         out->tree_count++)
        tree_grow(bins, out->input_count, edges, r, w, n, rules, budget,
                  out->node[out->tree_count], a);
    arena_rewind(a, mark);
}

double trees_answer(const struct ensemble *e, const struct trees *trees, const double *x)
{
    double value[TREE_INPUTS_MAX] = {0}, sum = 0;
    uint8_t bin[TREE_INPUTS_MAX] = {0};

    tree_inputs(e, trees, x, value);
    for (size_t k = 0; k < trees->input_count; k++)
        bin[k] = bin_of(&trees->input[k], value[k]);
    for (size_t i = 0; i < trees->tree_count; i++) {
        const struct tree_node *node = trees->node[i];
        size_t at = 0;

        while (node[at].input != TREE_LEAF)
            at = 2 * at + 1 + (bin[node[at].input] > node[at].bin);
        sum += (double)node[at].value;
    }
    return sum;
}
