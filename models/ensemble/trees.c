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

_Static_assert(BINS_MAX <= 64, "filled_bins() has a bit for each");

enum { ROWS_LEAST = 24 };
#define CODE_PRIOR   5.0
#define GAIN_LEAST   1e-9
#define GAIN_GREATER (1 + 1e-12)

/* Far above what rounding makes of a comparison without divisions. */
#define SURELY_LESS (1 - 1e-9)

/* Sums of a bin, side by side so that both are added at once. */
enum { BIN_G, BIN_W };
typedef double bin_sums __attribute__((vector_size(2 * sizeof(double))));

/* ---- one tree ---- */

struct growth {
    const uint8_t *bins;
    size_t inputs;
    const size_t *edges;
    bin_sums *sums; /* of each row: w r, w */
    const struct tree_rules *rules;
    struct budget *budget;
    uint32_t *row, *room; /* rows of each node, side by side; ascending */
    size_t start[TREE_NODES], count[TREE_NODES];
    bin_sums *histogram[TREE_NODES]; /* of nodes that may be split */
    struct arena *a;
};

static void fill(struct growth *g, size_t node)
{
    bin_sums *h = g->histogram[node] = NEW(g->a, bin_sums, g->inputs * BINS_MAX);
    size_t inputs = g->inputs;

    for (size_t i = 0; i < g->count[node]; i++) {
        size_t row = g->row[g->start[node] + i];
        const uint8_t *bins = g->bins + row * inputs;
        const bin_sums more = g->sums[row];

        for (size_t k = 0; k < inputs; k++)
            h[k * BINS_MAX + bins[k]] += more;
    }
    budget_step(g->budget, g->count[node] * g->inputs);
}

/* The larger child's is what the smaller one leaves of the parent's, in its place. */
static void subtract(struct growth *g, size_t parent, size_t smaller, size_t larger)
{
    bin_sums *h = g->histogram[larger] = g->histogram[parent];

    for (size_t i = 0; i < g->inputs * BINS_MAX; i++)
        h[i] -= g->histogram[smaller][i];
}

/* One bit for each of the first bins that is not empty. */
static uint64_t filled_bins(const bin_sums *h, size_t count)
{
    uint64_t filled = 0;

    for (size_t b = 0; b < count; b++)
        filled |= (uint64_t)(h[b][BIN_W] > 0) << b;
    return filled;
}

/* The best split of a node; false: none gains. */
static bool find_split(const struct growth *g, size_t node, bin_sums all, size_t *input,
                       size_t *edge)
{
    const struct tree_rules *rules = g->rules;
    double best = GAIN_LEAST,
           whole = all[BIN_G] * all[BIN_G] / (all[BIN_W] + rules->lambda);
    double enough = (whole + best * GAIN_GREATER) * SURELY_LESS;
    bool any = false;

    for (size_t k = 0; k < g->inputs; k++) {
        const bin_sums *h = g->histogram[node] + k * BINS_MAX;
        uint64_t filled = filled_bins(h, g->edges[k]);
        bin_sums left = {0, 0};

        /* at an empty one it is the same as at the edge before */
        for (; filled; filled &= filled - 1) {
            size_t b = (size_t)__builtin_ctzll(filled);
            bin_sums right, over, gains;
            double gain;

            left += h[b];
            right = all - left;
            if (left[BIN_W] < rules->least_weight || right[BIN_W] < rules->least_weight)
                continue;
            over = (bin_sums){left[BIN_W] + rules->lambda, right[BIN_W] + rules->lambda};
            gains = (bin_sums){left[BIN_G], right[BIN_G]};
            gains *= gains;
            if (gains[0] * over[1] + gains[1] * over[0] < enough * (over[0] * over[1]))
                continue; /* most are, and the divisions are spared */
            gains /= over;
            gain = gains[0] + gains[1] - whole;
            if (!(gain > best * GAIN_GREATER))
                continue;
            best = gain;
            enough = (whole + best * GAIN_GREATER) * SURELY_LESS;
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
    const uint8_t *bins = g->bins + input;
    uint32_t *rows = g->row + g->start[node];
    size_t left = 0, right = 0;

    for (size_t i = 0; i < g->count[node]; i++) { /* without a branch to guess */
        uint32_t row = rows[i];
        bool is_right = bins[row * g->inputs] > edge;

        rows[left] = g->room[right] = row;
        left += !is_right;
        right += is_right;
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
        .sums = NEW(a, bin_sums, count + 1),
        .rules = rules,
        .budget = budget,
        .row = NEW(a, uint32_t, count + 1),
        .room = NEW(a, uint32_t, count + 1),
        .count = {count},
        .a = a,
    };

    for (size_t i = 0; i < count; i++) {
        g.row[i] = (uint32_t)i;
        g.sums[i] = (bin_sums){w[i] * r[i], w[i]};
    }
    fill(&g, 0);
    for (size_t node = 0; node < TREE_NODES; node++) {
        size_t depth = depth_of(node), input = 0, edge = 0;
        bin_sums all = {0, 0};

        out[node] = (struct tree_node){0, TREE_LEAF, 0};
        if (g.count[node] == 0)
            continue;
        for (size_t i = 0; i < g.count[node]; i++)
            all += g.sums[g.row[g.start[node] + i]];
        out[node].value =
            (float)(rules->rate * all[BIN_G] / (all[BIN_W] + rules->lambda));
        if (depth >= rules->depth || g.count[node] < rules->least_rows ||
            !find_split(&g, node, all, &input, &edge))
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
    size_t low = 0, count = in->edge_count;

    if (isnan(x))
        return 0;
    while (count > 0) { /* conditional moves: where it goes cannot be guessed */
        size_t half = count / 2;
        bool is_right = x > in->edge[low + half];

        low = is_right ? low + half + 1 : low;
        count = is_right ? count - half - 1 : half;
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
