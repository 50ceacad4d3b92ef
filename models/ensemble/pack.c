/* ensemble/pack.c - an ensemble as numbers, and back.
 *
 * One function walks over it: with a writer it copies members to the numbers, with a
 * reader back, so both cannot disagree. What is read may be anything: counts and indexes
 * are checked.
 *
 * Trees and residuals are most of it. They are streams of units of 16 bits, three to a
 * number: of a tree its nodes, breadth first, an inner one as one unit (input, bin), a
 * leaf as LEAF_FOLLOWS and the two halves of its float; of a configuration how many
 * residuals, and the halves of each, which are floats. What was packed before FORM_UNITS
 * has a node, and a residual, in a number each, and is read as well, as is what was
 * packed before there was the member comprehensive.
 */
#include "models/ensemble/internal.h"

#include "models/base/number_walk.h"
#include "models/performance/set_walk.h"

#include <math.h>
#include <string.h>

/* The first number; before there were forms it was how many inputs there are. */
enum { FORM_SINGLE, FORM_UNITS = 1001, FORM_COMPREHENSIVE };

enum { RUNS_MAX = 1 << 24, HISTORIES_MAX = 1 << 16 };

/* Finite, or NAN. */
static void finite_or_nan(struct number_walk *w, double *value)
{
    walk_number(w, value);
    if (w->in && !w->failed && isinf(*value))
        w->failed = true;
}

static void numbers(struct number_walk *w, double *value, size_t count)
{
    for (size_t i = 0; i < count && !w->failed; i++)
        finite_or_nan(w, &value[i]);
}

/* An index below `count`, or SIZE_MAX. */
static void index_or_none(struct number_walk *w, size_t *value, size_t count)
{
    size_t x = *value == SIZE_MAX ? count : *value;

    walk_whole(w, &x, count);
    *value = x == count ? SIZE_MAX : x;
}

/* ---- streams of units ---- */

enum { UNIT_BITS = 16, UNITS = 3, UNIT_MAX = 65535 };
#define NUMBER_END 281474976710656.0 /* UNITS * UNIT_BITS bits */

/* Units of a number that is not full yet, or not all read. */
struct units {
    uint64_t bits;
    unsigned count;
};

static void unit(struct number_walk *w, struct units *u, unsigned *value)
{
    double x;

    if (!w->in) {
        u->bits |= (uint64_t)*value << UNIT_BITS * u->count;
        if (++u->count < UNITS)
            return;
        x = (double)u->bits;
        walk_number(w, &x);
        *u = (struct units){0, 0};
        return;
    }
    if (u->count == 0) {
        x = -1;
        walk_number(w, &x);
        if (!(x >= 0 && x < NUMBER_END && x == floor(x))) {
            w->failed = true;
            x = 0;
        }
        *u = (struct units){(uint64_t)x, UNITS};
    }
    *value = (unsigned)(u->bits & UNIT_MAX);
    u->bits >>= UNIT_BITS;
    u->count--;
}

/* What follows begins with a number of its own. */
static void end_units(struct number_walk *w, struct units *u)
{
    double x = (double)u->bits;

    if (!w->in && u->count > 0)
        walk_number(w, &x);
    if (w->in && u->bits != 0)
        w->failed = true;
    *u = (struct units){0, 0};
}

static void unit_float(struct number_walk *w, struct units *u, float *value)
{
    uint32_t bits;
    unsigned low, high;

    memcpy(&bits, value, sizeof(bits));
    low = bits & UNIT_MAX;
    high = bits >> UNIT_BITS;
    unit(w, u, &low);
    unit(w, u, &high);
    if (!w->in)
        return;
    bits = (uint32_t)(low | high << UNIT_BITS);
    memcpy(value, &bits, sizeof(bits));
    w->failed = w->failed || !isfinite(*value);
}

/* ---- parts ---- */

static void walk_input(struct number_walk *w, struct ensemble_input *in)
{
    walk_whole(w, &in->column, ENSEMBLE_INPUTS_MAX - 1);
    walk_flag(w, &in->is_text);
    walk_flag(w, &in->is_used);
    walk_flag(w, &in->is_whole);
    walk_flag(w, &in->has_rest);
    numbers(w, &in->low, 1);
    numbers(w, &in->high, 1);
    numbers(w, &in->mean, 1);
    walk_whole(w, &in->value_count, ENSEMBLE_VALUES_MAX);
    if (w->in && in->is_text && in->value_count == 0)
        w->failed = true;
    numbers(w, in->value, w->failed ? 0 : in->value_count);
}

static void walk_ridge(struct number_walk *w, const struct ensemble *e, struct ridge *r)
{
    size_t text = 0;

    numbers(w, &r->mean, 1);
    numbers(w, &r->constant, 1);
    for (size_t k = 0; k < e->input_count && !w->failed; k++) {
        struct ridge_input *in = &r->number[k];

        if (e->input[k].is_text) {
            if (text == ENSEMBLE_CATEGORICAL_MAX)
                w->failed = true;
            else
                numbers(w, r->category[text++], e->input[k].value_count + 1);
            continue;
        }
        walk_flag(w, &in->is_in);
        if (!in->is_in)
            continue;
        walk_flag(w, &in->logs);
        numbers(w, &in->mu, 1);
        numbers(w, &in->sd, 1);
        numbers(w, &in->least, 1);
        numbers(w, &in->linear, 1);
        numbers(w, &in->square, 1);
    }
}

static void walk_node(struct number_walk *w, struct tree_node *node, size_t at,
                      size_t input_count)
{
    uint32_t bits;
    double x;

    memcpy(&bits, &node->value, sizeof(bits));
    x = (double)((uint64_t)bits << 16 | (uint64_t)node->input << 8 | node->bin);
    walk_number(w, &x);
    if (!w->in || w->failed)
        return;
    if (!(x >= 0 && x < 281474976710656.0 && x == floor(x))) { /* 48 bits */
        w->failed = true;
        return;
    }
    bits = (uint32_t)((uint64_t)x >> 16);
    memcpy(&node->value, &bits, sizeof(bits));
    node->input = (uint8_t)((uint64_t)x >> 8 & 255);
    node->bin = (uint8_t)((uint64_t)x & 255);
    /* Leaves have no children. */
    if (!isfinite(node->value) || (node->input != TREE_LEAF &&
                                   (node->input >= input_count || at >= TREE_NODES / 2)))
        w->failed = true;
}

enum { LEAF_FOLLOWS = UNIT_MAX, INNER_NODES = TREE_NODES / 2 };

static void walk_node_units(struct number_walk *w, struct units *u,
                            struct tree_node *node, bool is_inner, size_t input_count)
{
    unsigned code = (unsigned)node->input << 8 | node->bin;

    if (is_inner) {
        if (node->input == TREE_LEAF)
            code = LEAF_FOLLOWS;
        unit(w, u, &code);
    } else {
        code = LEAF_FOLLOWS;
    }
    if (code == LEAF_FOLLOWS) {
        unit_float(w, u, &node->value);
    } else if (w->in && code >> 8 >= input_count) {
        w->failed = true;
    }
    if (!w->in)
        return;
    node->input = code == LEAF_FOLLOWS ? TREE_LEAF : (uint8_t)(code >> 8);
    node->bin = code == LEAF_FOLLOWS ? 0 : (uint8_t)(code & 255);
}

/* The nodes that can be reached. */
static void walk_tree(struct number_walk *w, struct tree_node *node, size_t input_count)
{
    bool is_there[TREE_NODES] = {true};
    struct units u = {0, 0};

    for (size_t k = 0; k < TREE_NODES && !w->failed; k++) {
        if (k > 0)
            is_there[k] = is_there[(k - 1) / 2] && node[(k - 1) / 2].input != TREE_LEAF;
        if (is_there[k])
            walk_node_units(w, &u, &node[k], k < INNER_NODES, input_count);
    }
    end_units(w, &u);
}

static void walk_trees(struct number_walk *w, const struct ensemble *e, struct trees *t)
{
    size_t text = 0;

    t->node = walk_room(w, t->node, &t->tree_count, TREES_MAX, sizeof(*t->node),
                        w->form ? 1 : TREE_NODES);
    if (t->tree_count == 0 || w->failed)
        return;
    walk_whole(w, &t->input_count, TREE_INPUTS_MAX);
    if (!w->failed && t->input_count != tree_input_count(e))
        w->failed = true;
    for (size_t k = 0; k < t->input_count && !w->failed; k++) {
        walk_whole(w, &t->input[k].edge_count, BINS_MAX);
        numbers(w, t->input[k].edge, w->failed ? 0 : t->input[k].edge_count);
    }
    numbers(w, &t->code_mean, 1);
    for (size_t k = 0; k < e->input_count && !w->failed; k++)
        if (e->input[k].is_text)
            numbers(w, t->code[text++], e->input[k].value_count + 1);
    for (size_t i = 0; i < t->tree_count && !w->failed; i++) {
        if (w->form)
            walk_tree(w, t->node[i], t->input_count);
        for (size_t k = 0; !w->form && k < TREE_NODES && !w->failed; k++)
            walk_node(w, &t->node[i][k], k, t->input_count);
    }
}

static void walk_contexts(struct number_walk *w, struct contexts *c)
{
    c->list = walk_room(w, c->list, &c->count, HISTORIES_MAX, sizeof(*c->list), 9);
    for (size_t i = 0; i < c->count && !w->failed; i++) {
        numbers(w, &c->list[i].key, 1);
        walk_flag(w, &c->list[i].has_scale_out);
        walk_flag(w, &c->list[i].has_linear);
        numbers(w, c->list[i].scale_out, 4);
        numbers(w, &c->list[i].intercept, 1);
        numbers(w, &c->list[i].slope, 1);
    }
}

static void walk_residuals(struct number_walk *w, struct ensemble_history *h)
{
    struct units u = {0, 0};
    unsigned count = (unsigned)h->count;

    unit(w, &u, &count);
    if (count > ENSEMBLE_HISTORY_MAX) {
        w->failed = true;
        return;
    }
    h->count = count;
    for (size_t k = 0; k < count && !w->failed; k++) {
        float residual = (float)h->residual[k];

        unit_float(w, &u, &residual);
        if (w->in)
            h->residual[k] = (double)residual;
    }
    end_units(w, &u);
}

static void walk_history(struct number_walk *w, struct ensemble *e)
{
    e->history = walk_room(w, e->history, &e->history_count, HISTORIES_MAX,
                           sizeof(*e->history), w->form ? 2 : 3);
    if (w->in)
        e->history_room = e->history_count;
    for (size_t i = 0; i < e->history_count && !w->failed; i++) {
        struct ensemble_history *h = &e->history[i];

        numbers(w, &h->key, 1);
        if (w->form) {
            walk_residuals(w, h);
        } else {
            walk_whole(w, &h->count, ENSEMBLE_HISTORY_MAX);
            numbers(w, h->residual, w->failed ? 0 : h->count);
        }
        for (size_t k = 0; w->in && k < h->count; k++)
            w->failed = w->failed || isnan(h->residual[k]);
        w->failed = w->failed || h->count == 0;
    }
}

/* Its functions, if there are any, and what they were wrong by. */
static void walk_comprehensive(struct number_walk *w, struct ensemble *e)
{
    struct comprehensive *c = &e->members->comprehensive;

    walk_flag(w, &c->is_there);
    walk_flag(w, &c->was_searched);
    walk_whole(w, &c->since_search, RUNS_MAX);
    if (c->is_there) {
        perf_set_walk(w, &c->set);
        index_or_none(w, &c->cpu, e->input_count);
        index_or_none(w, &c->bandwidth, e->input_count);
        finite_or_nan(w, &c->bandwidth_mean);
    }
    if (w->in && c->is_there) {
        c->set.options = perf_options_of(PERF_ROBUST);
        w->failed = w->failed || c->set.status != PERF_READY || c->set.reference ||
                    c->set.sorted.count == 0 || c->cpu == SIZE_MAX ||
                    e->size == SIZE_MAX || e->processors == SIZE_MAX;
    }
    walk_whole(w, &e->noted_count, ENSEMBLE_NOTED_MAX);
    for (size_t i = 0; i < e->noted_count && !w->failed; i++) {
        size_t group = e->noted[i].group;

        finite_or_nan(w, &e->noted[i].error);
        finite_or_nan(w, &e->noted[i].y);
        walk_whole(w, &group, LOG_GROUP_COUNT - 1);
        e->noted[i].group = (enum log_group)group;
        if (w->in && (isnan(e->noted[i].error) || isnan(e->noted[i].y)))
            w->failed = true;
    }
}

/* Which form it is read in: that of the first number, if it is one. */
static void walk_form(struct number_walk *w)
{
    double form = FORM_COMPREHENSIVE;

    w->form = FORM_COMPREHENSIVE;
    if (w->in && (w->count == 0 || !(w->in[0] >= FORM_UNITS && w->in[0] <= form))) {
        w->form = FORM_SINGLE;
        return;
    }
    walk_number(w, &form);
    w->form = (int)form;
}

static void walk_ensemble(struct number_walk *w, struct ensemble *e)
{
    size_t members;

    walk_form(w);
    members =
        w->form == FORM_COMPREHENSIVE ? ENSEMBLE_MEMBER_COUNT : ENSEMBLE_COMPREHENSIVE;
    walk_whole(w, &e->input_count, ENSEMBLE_INPUTS_MAX);
    walk_flag(w, &e->inputs_cut);
    for (size_t k = 0; k < e->input_count && !w->failed; k++)
        walk_input(w, &e->input[k]);
    if (w->failed)
        return;
    index_or_none(w, &e->size, e->input_count);
    index_or_none(w, &e->processors, e->input_count);
    walk_whole(w, &e->run_count, RUNS_MAX);
    for (size_t g = 0; g < LOG_GROUP_COUNT; g++)
        numbers(w, e->member_error[g], members);
    for (size_t m = 0; m < members; m++)
        walk_whole(w, &e->member_runs[m], RUNS_MAX);
    if (w->in)
        e->members = NEW(w->a, struct ensemble_members, 1);
    walk_flag(w, &e->members->has_ridge);
    walk_ridge(w, e, &e->members->ridge);
    walk_trees(w, e, &e->members->trees);
    walk_contexts(w, &e->members->contexts);
    walk_history(w, e);
    if (w->form == FORM_COMPREHENSIVE && !w->failed)
        walk_comprehensive(w, e);
}

size_t ensemble_pack(const struct ensemble *e, double *out)
{
    struct ensemble copy = *e;
    struct number_walk w = {.out = out};

    walk_ensemble(&w, &copy);
    return w.at;
}

bool ensemble_unpack(const double *packed, size_t count, struct ensemble *out,
                     struct arena *a)
{
    struct number_walk w = {.in = packed, .count = count, .a = a};
    struct ensemble *e = NEW(a, struct ensemble, 1);

    walk_ensemble(&w, e);
    if (w.failed || w.at != count)
        return false;
    *out = *e;
    return true;
}
