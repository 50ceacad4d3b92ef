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
#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

const struct tree_rules tree_rules_whole = {120, 4, 10, 0.12, 1, 5};
const struct tree_rules tree_rules_fold = {60, 4, 10, 0.2, 1, 5};

_Static_assert(BINS_MAX <= 64, "filled_bins() has a bit for each");

enum { ROWS_LEAST = 24 };
#define CODE_PRIOR   5.0
#define GAIN_LEAST   1e-9
#define GAIN_GREATER (1 + 1e-12)

/* Far above what rounding makes of a comparison without divisions, */
#define SURELY_LESS (1 - 1e-9)

/* and of gains, and of sums, that are computed in another way, rounding in empty bins
 * included. */
#define NEAR_GAIN (1 - 1e-6)
#define NEAR_SUM  1e-12

/* Sums of a bin, side by side so that both are added at once. */
enum { BIN_G, BIN_W };
typedef double bin_sums __attribute__((vector_size(2 * sizeof(double))));
typedef long long bin_mask __attribute__((vector_size(2 * sizeof(double))));

/* ---- one tree ---- */

/* Of nodes that may be split at once: a split adds one, and the last depth needs none. */
enum { HISTOGRAMS_MAX = 1 << (TREE_DEPTH_MAX - 1) };

enum {
    TOGETHER = 4,
    GROUPS_MAX = (TREE_INPUTS_MAX + TOGETHER - 1) / TOGETHER,
    LANES_MAX = GROUPS_MAX * TOGETHER
};

/* Inputs stand in groups of TOGETHER, which are looked at in one go: bin b of input k is
 * number TOGETHER b + k % TOGETHER of its group. What a last group lacks are inputs
 * without edges. */
struct tree_room {
    const uint8_t *bins; /* of each row: `width` numbers */
    size_t inputs, width;
    size_t edges[LANES_MAX];
    size_t first[LANES_MAX]; /* where an input's bin 0 is in a histogram */
    size_t histogram_size;
    bool is_wide;             /* the processor adds four numbers at once */
    size_t count;             /* of rows */
    const double *w;          /* their weights */
    bin_sums *sums;           /* of each row: w r, w */
    uint32_t *row, *to_right; /* rows of each node, side by side; ascending */
    bin_sums *histograms;
    bin_sums *clear; /* a histogram of zeros */
};

struct growth {
    const struct tree_room *room;
    const struct tree_rules *rules;
    struct budget *budget;
    size_t start[TREE_NODES], count[TREE_NODES];
    bin_sums all[TREE_NODES];
    bin_sums *histogram[TREE_NODES]; /* of nodes that may be split */
    size_t histogram_count;
};

size_t tree_width(size_t inputs)
{
    return (inputs + TOGETHER - 1) / TOGETHER * TOGETHER;
}

static bool adds_four_at_once(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

static size_t greater_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Of a group. */
static size_t most_edges(const size_t *edges)
{
    return greater_size(greater_size(edges[0], edges[1]),
                        greater_size(edges[2], edges[3]));
}

struct tree_room *tree_room(const uint8_t *bins, size_t inputs, const size_t *edges,
                            const double *w, size_t count, struct arena *a)
{
    struct tree_room *room = NEW(a, struct tree_room, 1);

    *room = (struct tree_room){
        .bins = bins,
        .inputs = inputs,
        .width = tree_width(inputs),
        .count = count,
        .w = w,
        .sums = NEW(a, bin_sums, count + 1),
        .row = NEW(a, uint32_t, count + 1),
        .to_right = NEW(a, uint32_t, count + 1),
        .is_wide = adds_four_at_once(),
    };
    for (size_t k = 0; k < inputs; k++)
        room->edges[k] = edges[k];
    for (size_t k = 0; k < room->width; k += TOGETHER) {
        for (size_t j = 0; j < TOGETHER; j++)
            room->first[k + j] = room->histogram_size + j;
        room->histogram_size += TOGETHER * (most_edges(room->edges + k) + 1);
    }
    room->histograms = NEW(a, bin_sums, HISTOGRAMS_MAX * room->histogram_size + 1);
    room->clear = NEW(a, bin_sums, room->histogram_size + 1);
    return room;
}

/* Adds the rows of a node to a histogram. */
static void add_rows(const struct growth *g, size_t node, bin_sums *h)
{
    const struct tree_room *room = g->room;

    for (size_t i = 0; i < g->count[node]; i++) {
        size_t row = room->row[g->start[node] + i];
        const uint8_t *bins = room->bins + row * room->width;
        const bin_sums more = room->sums[row];

        for (size_t k = 0; k < room->inputs; k++)
            h[room->first[k] + TOGETHER * (size_t)bins[k]] += more;
    }
    budget_step(g->budget, g->count[node] * room->inputs);
}

static void fill(struct growth *g, size_t node)
{
    const struct tree_room *room = g->room;
    bin_sums *h = room->histograms + g->histogram_count++ * room->histogram_size;

    memset(h, 0, room->histogram_size * sizeof(*h));
    add_rows(g, node, h);
    g->histogram[node] = h;
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void
subtract_wide(double *from, const double *what, size_t count)
{
    for (size_t i = 0; i < count; i += 4)
        _mm256_storeu_pd(from + i, _mm256_sub_pd(_mm256_loadu_pd(from + i),
                                                 _mm256_loadu_pd(what + i)));
}
#endif

/* The larger child's is what the smaller one leaves of the parent's, in its place. */
static void subtract(struct growth *g, size_t parent, size_t smaller, size_t larger)
{
    bin_sums *h = g->histogram[larger] = g->histogram[parent];

#ifdef __x86_64__
    if (g->room->is_wide) {
        subtract_wide((double *)h, (const double *)g->histogram[smaller],
                      2 * g->room->histogram_size);
        return;
    }
#endif
    for (size_t i = 0; i < g->room->histogram_size; i++)
        h[i] -= g->histogram[smaller][i];
}

static void take(bin_sums *from, bin_sums *what)
{
    *from -= *what;
    *what = (bin_sums){0, 0};
}

/* The same where the smaller one is not split itself, and touches few bins. */
static void take_rows(struct growth *g, size_t parent, size_t smaller, size_t larger)
{
    const struct tree_room *room = g->room;
    bin_sums *h = g->histogram[larger] = g->histogram[parent];

    add_rows(g, smaller, room->clear);
    for (size_t i = 0; i < g->count[smaller]; i++) {
        const uint8_t *bins = room->bins + room->row[g->start[smaller] + i] * room->width;

        for (size_t k = 0; k < room->inputs; k++) {
            size_t at = room->first[k] + TOGETHER * (size_t)bins[k];

            take(h + at, room->clear + at);
        }
    }
}

/* One bit for each of the first bins that is not empty. */
static uint64_t filled_bins(const bin_sums *h, size_t count)
{
    uint64_t filled = 0;

    for (size_t b = 0; b < count; b++)
        filled |= (uint64_t)(h[TOGETHER * b][BIN_W] > 0) << b;
    return filled;
}

static double greater_of(double a, double b)
{
    return a > b ? a : b; /* one instruction, as fmax() is not */
}

/* The greatest sums of both sides' G^2 / (W + lambda) of the inputs of a group, but for
 * rounding: with L, V left sums of G and W + lambda, and A, C those of both sides
 * together, they are A^2 / C + (C L - A V)^2 / (V (C - V) C). */
static void best_sums_plain(const struct growth *g, const bin_sums *h, size_t bins,
                            bin_sums all, double *most)
{
    const double lambda = g->rules->lambda, least = g->rules->least_weight;
    const double all_g = all[BIN_G], all_w = all[BIN_W], sum_w = all_w + 2 * lambda;

    for (size_t k = 0; k < TOGETHER; k += 2) { /* two at once */
        bin_sums left_g = {0, 0}, left_w = {0, 0};
        double best = 0, other_best = 0;

        for (size_t b = 0; b < bins; b++) {
            const bin_sums *bin = h + TOGETHER * b + k;
            bin_sums more_g = {bin[0][BIN_G], bin[1][BIN_G]}, over, off, gain;
            bin_sums more_w = {bin[0][BIN_W], bin[1][BIN_W]};
            const bin_mask counts = more_w > 0;

            /* what rounding leaves in an empty bin is no weight */
            left_g += (bin_sums)((bin_mask)more_g & counts);
            left_w += (bin_sums)((bin_mask)more_w & counts);
            over = left_w + lambda;
            off = sum_w * left_g - all_g * over;
            gain = off * off / (over * (sum_w - over));
            gain = (bin_sums)((bin_mask)gain & (bin_mask)(left_w >= least) &
                              (bin_mask)(all_w - left_w >= least));
            best = greater_of(gain[0], best);
            other_best = greater_of(gain[1], other_best);
        }
        most[k] = (all_g * all_g + best) / sum_w;
        most[k + 1] = (all_g * all_g + other_best) / sum_w;
    }
}

#ifdef __x86_64__
/* The same of all four at once: the same operations on the same numbers, so the same
 * bits.
 */
__attribute__((target("avx2"))) static void best_sums_wide(const struct growth *g,
                                                           const bin_sums *h, size_t bins,
                                                           bin_sums all, double *most)
{
    static const size_t lane[TOGETHER] = {0, 2, 1, 3}; /* which input each is of */
    const __m256d lambda = _mm256_set1_pd(g->rules->lambda),
                  least = _mm256_set1_pd(g->rules->least_weight),
                  all_g = _mm256_set1_pd(all[BIN_G]), all_w = _mm256_set1_pd(all[BIN_W]),
                  sum_w = _mm256_set1_pd(all[BIN_W] + 2 * g->rules->lambda),
                  zero = _mm256_setzero_pd();
    __m256d left_g = zero, left_w = zero, best = zero;

    for (size_t b = 0; b < bins; b++, h += TOGETHER) {
        const __m256d low = _mm256_loadu_pd((const double *)h),
                      high = _mm256_loadu_pd((const double *)(h + 2));
        __m256d more_w = _mm256_unpackhi_pd(low, high);
        const __m256d counts = _mm256_cmp_pd(more_w, zero, _CMP_GT_OQ);
        __m256d more_g = _mm256_unpacklo_pd(low, high), over, off, gain;

        more_g = _mm256_and_pd(more_g, counts);
        more_w = _mm256_and_pd(more_w, counts);
        left_g = _mm256_add_pd(left_g, more_g);
        left_w = _mm256_add_pd(left_w, more_w);
        over = _mm256_add_pd(left_w, lambda);
        off = _mm256_sub_pd(_mm256_mul_pd(sum_w, left_g), _mm256_mul_pd(all_g, over));
        gain = _mm256_div_pd(_mm256_mul_pd(off, off),
                             _mm256_mul_pd(over, _mm256_sub_pd(sum_w, over)));
        gain = _mm256_and_pd(gain, _mm256_cmp_pd(left_w, least, _CMP_GE_OQ));
        gain = _mm256_and_pd(
            gain, _mm256_cmp_pd(_mm256_sub_pd(all_w, left_w), least, _CMP_GE_OQ));
        best = _mm256_max_pd(gain, best);
    }
    for (size_t k = 0; k < TOGETHER; k++)
        most[lane[k]] =
            (all[BIN_G] * all[BIN_G] + best[k]) / (all[BIN_W] + 2 * g->rules->lambda);
}
#endif

static void best_sums(const struct growth *g, const bin_sums *h, size_t bins,
                      bin_sums all, double *most)
{
#ifdef __x86_64__
    if (g->room->is_wide) {
        best_sums_wide(g, h, bins, all, most);
        return;
    }
#endif
    best_sums_plain(g, h, bins, all, most);
}

/* Puts down what the best split of each input gives; the greatest of all. */
static double best_of_inputs(const struct growth *g, size_t node, double *most)
{
    const struct tree_room *room = g->room;
    double greatest = 0;

    for (size_t k = 0; k < room->width; k += TOGETHER) {
        best_sums(g, g->histogram[node] + room->first[k], most_edges(room->edges + k),
                  g->all[node], most + k);
        for (size_t j = k; j < k + TOGETHER; j++)
            greatest = greater_of(most[j], greatest);
    }
    return greatest;
}

/* The best split of a node; false: none gains. Inputs whose best is not nearly the best
 * of all are not looked at again. */
static bool find_split(const struct growth *g, size_t node, size_t *input, size_t *edge)
{
    const struct tree_rules *rules = g->rules;
    const struct tree_room *room = g->room;
    const bin_sums all = g->all[node];
    double best = GAIN_LEAST, most[LANES_MAX] = {0},
           whole = all[BIN_G] * all[BIN_G] / (all[BIN_W] + rules->lambda),
           greatest = best_of_inputs(g, node, most);
    double enough = (whole + best * GAIN_GREATER) * SURELY_LESS;
    bool any = false;

    greatest = whole + (greatest - whole) * NEAR_GAIN - greatest * NEAR_SUM;
    enough = fmax(enough, greatest);
    for (size_t k = 0; k < room->inputs; k++) {
        const bin_sums *h = g->histogram[node] + room->first[k];
        uint64_t filled;
        bin_sums left = {0, 0};

        if (most[k] < greatest)
            continue;
        /* at an empty one it is the same as at the edge before */
        for (filled = filled_bins(h, room->edges[k]); filled; filled &= filled - 1) {
            size_t b = (size_t)__builtin_ctzll(filled);
            bin_sums right, over, gains;
            double gain;

            left += h[TOGETHER * b];
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
            *input = k;
            *edge = b;
            any = true;
        }
    }
    budget_step(g->budget, room->inputs * BINS_MAX / 4);
    return any;
}

/* The rows of a node go to its children, in their order. */
static void part_rows(struct growth *g, size_t node, size_t input, size_t edge)
{
    static const bin_mask masks[] = {{0, 0}, {-1, -1}};
    const struct tree_room *room = g->room;
    const uint8_t *bins = room->bins + input;
    uint32_t *rows = room->row + g->start[node];
    size_t left = 0, right = 0;
    bin_sums left_sums = {0, 0}, right_sums = {0, 0};

    for (size_t i = 0; i < g->count[node]; i++) { /* without a branch to guess */
        uint32_t row = rows[i];
        bool is_right = bins[row * room->width] > edge;
        bin_mask more = (bin_mask)room->sums[row];

        rows[left] = room->to_right[right] = row;
        left += !is_right;
        right += is_right;
        left_sums += (bin_sums)(more & masks[!is_right]);
        right_sums += (bin_sums)(more & masks[is_right]);
    }
    if (right > 0)
        memcpy(rows + left, room->to_right, right * sizeof(*rows));
    g->start[2 * node + 1] = g->start[node];
    g->count[2 * node + 1] = left;
    g->all[2 * node + 1] = left_sums;
    g->start[2 * node + 2] = g->start[node] + left;
    g->count[2 * node + 2] = right;
    g->all[2 * node + 2] = right_sums;
}

/* Histograms of two children that may be split: the smaller one's is counted. */
static void fill_children(struct growth *g, size_t node)
{
    size_t left = 2 * node + 1, right = 2 * node + 2;
    bool left_is_larger = g->count[left] > g->count[right];
    size_t larger = left_is_larger ? left : right,
           smaller = left_is_larger ? right : left;

    if (g->count[larger] < g->rules->least_rows)
        return;
    if (g->count[smaller] < g->rules->least_rows) {
        take_rows(g, node, smaller, larger);
        return;
    }
    fill(g, smaller);
    subtract(g, node, smaller, larger);
}

static size_t depth_of(size_t node)
{
    size_t depth = 0;

    for (; node > 0; node = (node - 1) / 2)
        depth++;
    return depth;
}

/* All rows in the root. */
static void plant(struct growth *g, const double *r)
{
    const struct tree_room *room = g->room;

    g->count[0] = room->count;
    for (size_t i = 0; i < room->count; i++) {
        room->row[i] = (uint32_t)i;
        room->sums[i] = (bin_sums){room->w[i] * r[i], room->w[i]};
        g->all[0] += room->sums[i];
    }
    fill(g, 0);
}

void tree_grow(const struct tree_room *room, double *r, const struct tree_rules *rules,
               struct budget *budget, struct tree_node *out)
{
    struct growth g = {.room = room, .rules = rules, .budget = budget};

    plant(&g, r);
    for (size_t node = 0; node < TREE_NODES; node++) {
        size_t depth = depth_of(node), input = 0, edge = 0;
        const bin_sums all = g.all[node];

        out[node] = (struct tree_node){0, TREE_LEAF, 0};
        if (g.count[node] == 0)
            continue;
        out[node].value =
            (float)(rules->rate * all[BIN_G] / (all[BIN_W] + rules->lambda));
        if (depth >= rules->depth || g.count[node] < rules->least_rows ||
            !find_split(&g, node, &input, &edge))
            continue;
        out[node].input = (uint8_t)input;
        out[node].bin = (uint8_t)edge;
        part_rows(&g, node, input, edge);
        if (depth + 1 < rules->depth)
            fill_children(&g, node);
    }
    for (size_t node = 0; node < TREE_NODES; node++)
        for (size_t i = 0; out[node].input == TREE_LEAF && i < g.count[node]; i++)
            r[room->row[g.start[node] + i]] -= (double)out[node].value;
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

/* Edges between the values of an input, which are sorted. */
static void find_edges(const double *value, size_t count, struct tree_input *in)
{
    size_t distinct = 0, before = 0, next = 1;

    in->edge_count = 0;
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

/* ---- rows by their inputs ---- */

struct placed {
    double value;
    uint32_t row;
};

static int compare_placed(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;

    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static bool is_category(const struct ensemble *e, size_t k)
{
    size_t numbers = 0, texts = 0;

    for (size_t i = 0; i < e->input_count; i++) {
        numbers += !e->input[i].is_text && e->input[i].is_used;
        texts += e->input[i].is_text && e->input[i].is_used;
    }
    return k >= numbers && k < numbers + texts;
}

static void sort_column(size_t count, const double *value, struct placed *room,
                        struct tree_column *out, struct arena *a)
{
    uint32_t *row = NEW(a, uint32_t, count + 1);
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        if (!isnan(value[i]))
            room[n++] = (struct placed){value[i], (uint32_t)i};
    qsort(room, n, sizeof(*room), compare_placed);
    for (size_t i = 0; i < n; i++)
        row[i] = room[i].row;
    *out = (struct tree_column){value, row, n};
}

void tree_sort(struct table *t, struct arena *a)
{
    static const struct trees none = {0};
    const struct ensemble *e = t->e;
    struct placed *room = NEW(a, struct placed, t->count + 1);
    double *value[TREE_INPUTS_MAX] = {0}, x[TREE_INPUTS_MAX];
    size_t inputs = tree_input_count(e);

    for (size_t k = 0; k < inputs; k++)
        if (!is_category(e, k))
            value[k] = NEW(a, double, t->count + 1);
    for (size_t i = 0; i < t->count; i++) {
        tree_inputs(e, &none, t->x + i * e->input_count, x);
        for (size_t k = 0; k < inputs; k++)
            if (value[k])
                value[k][i] = x[k];
    }
    for (size_t k = 0; k < inputs; k++)
        if (value[k])
            sort_column(t->count, value[k], room, &t->tree[k], a);
}

/* ---- the trees ---- */

#define NOT_IN_PART UINT32_MAX

/* A fit under way. */
struct fit {
    const struct part *part;
    struct trees *out;
    uint32_t *place; /* in the part, of each row of the table */
    double *r, *w, *list;
    uint32_t *at;  /* in the part, of each of the list */
    uint8_t *bins; /* of the part's rows, `width` each; 0: missing */
    size_t width;
};

/* Rows of the part are taken off all rows in order, and their bins with them. */
static void bin_numbers(struct fit *f, const struct tree_column *column, size_t k)
{
    struct tree_input *in = &f->out->input[k];
    size_t count = 0, bin = 0;

    for (size_t i = 0; i < column->count; i++) { /* without a branch to guess */
        uint32_t row = column->row[i];

        f->list[count] = column->value[row];
        f->at[count] = f->place[row];
        count += f->place[row] != NOT_IN_PART;
    }
    find_edges(f->list, count, in);
    for (size_t i = 0; i < count; i++) {
        while (bin < in->edge_count && f->list[i] > in->edge[bin])
            bin++;
        f->bins[f->at[i] * f->width + k] = (uint8_t)bin;
    }
}

static void bin_category(struct fit *f, size_t k)
{
    const struct ensemble *e = f->part->table->e;
    struct tree_input *in = &f->out->input[k];
    double x[TREE_INPUTS_MAX];

    for (size_t i = 0; i < f->part->count; i++) {
        tree_inputs(e, f->out, part_x(f->part, i), x);
        f->list[i] = x[k];
    }
    sort_numbers(f->list, f->part->count);
    find_edges(f->list, f->part->count, in);
    for (size_t i = 0; i < f->part->count; i++) {
        tree_inputs(e, f->out, part_x(f->part, i), x);
        f->bins[i * f->width + k] = bin_of(in, x[k]);
    }
}

static void prepare(struct fit *f, const struct ridge *ridge, struct arena *a)
{
    const struct table *t = f->part->table;
    size_t n = f->part->count;

    f->r = NEW(a, double, n);
    f->w = NEW(a, double, n);
    f->list = NEW(a, double, t->count + 1);
    f->at = NEW(a, uint32_t, t->count + 1);
    f->place = NEW(a, uint32_t, t->count + 1);
    f->bins = NEW(a, uint8_t, n * f->width + 1);
    for (size_t i = 0; i < t->count; i++)
        f->place[i] = NOT_IN_PART;
    for (size_t i = 0; i < n; i++) {
        f->place[f->part->row[i]] = (uint32_t)i;
        f->r[i] = t->y[f->part->row[i]] - ridge_answer(t->e, ridge, part_x(f->part, i));
        f->w[i] = t->weight[f->part->row[i]];
    }
}

size_t tree_room_bytes(const struct ensemble *e, size_t rows)
{
    size_t width = tree_width(tree_input_count(e));

    if (rows < ROWS_LEAST)
        return 0;
    return sizeof(struct tree_room) + TREES_MAX * TREE_NODES * sizeof(struct tree_node) +
           (HISTOGRAMS_MAX + 1) * width * (BINS_MAX + 1) * sizeof(bin_sums) +
           rows * (3 * sizeof(double) + 4 * sizeof(uint32_t) + sizeof(bin_sums) + width);
}

void trees_fit(const struct part *part, const struct ridge *ridge,
               const struct tree_rules *rules, struct budget *budget, struct trees *out,
               struct arena *a)
{
    const struct table *t = part->table;
    struct fit f = {.part = part, .out = out};
    size_t n = part->count, edges[TREE_INPUTS_MAX];
    struct tree_room *room;
    struct arena_mark mark;

    *out = (struct trees){0};
    if (n < ROWS_LEAST)
        return;
    out->node = arena_alloc(a, sizeof(*out->node), rules->trees);
    out->input_count = tree_input_count(t->e);
    f.width = tree_width(out->input_count);
    mark = arena_mark(a);
    prepare(&f, ridge, a);
    find_codes(part, f.r, out);
    for (size_t k = 0; k < out->input_count; k++) {
        if (t->tree[k].value)
            bin_numbers(&f, &t->tree[k], k);
        else
            bin_category(&f, k);
        edges[k] = out->input[k].edge_count;
    }
    room = tree_room(f.bins, out->input_count, edges, f.w, n, a);
    for (; out->input_count > 0 && out->tree_count < rules->trees &&
           !budget_step(budget, n);
         out->tree_count++)
        tree_grow(room, f.r, rules, budget, out->node[out->tree_count]);
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
