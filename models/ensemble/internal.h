/* ensemble/internal.h - what the parts of an ensemble share. */
#ifndef GRIDPLAN_ENSEMBLE_INTERNAL_H
#define GRIDPLAN_ENSEMBLE_INTERNAL_H

#include "models/ensemble/ensemble.h"

enum { CODES_MAX = ENSEMBLE_VALUES_MAX + 1 }; /* values of a category, and the rest */

/* Runs by their known inputs: of numbers the value, of texts the place of the value
 * (value_count: the rest); NAN: missing or never seen. */
struct table {
    const struct ensemble *e;
    double *x; /* rows of e->input_count */
    double *y, *weight;
    double *configuration; /* key; NAN: an input is missing */
    double *context;       /* likewise */
    bool *is_bound;
    size_t count;
};

/* Some rows of a table, ascending. */
struct part {
    const struct table *table;
    const size_t *row;
    size_t count;
};

static inline const double *part_x(const struct part *p, size_t i)
{
    return p->table->x + p->row[i] * p->table->e->input_count;
}

/* ---- inputs.c ---- */

/* Known and used inputs, from the data. */
void inputs_find(const struct ensemble_data *data, struct ensemble *e, struct arena *a);

/* A question in the known inputs: what never varied is filled in; machine terms that it
 * alone lacks get their mean. raw: as they were, for keys. false: one is missing. */
bool inputs_code(const struct ensemble *e, const double *value, bool is_question,
                 double *x, double *raw);

/* One number for equal inputs; without problem size and processors: of the context. NAN:
 * one of them is missing. */
double inputs_key(const struct ensemble *e, const double *raw, bool whole);

/* ---- ridge.c ---- */

struct ridge {
    double mean; /* of y */
    struct ridge_input {
        bool is_in, logs;
        double mu, sd, least; /* of x or ln x; least: of x */
        double linear, square;
    } number[ENSEMBLE_INPUTS_MAX];
    double category[ENSEMBLE_CATEGORICAL_MAX][CODES_MAX];
    double constant;
};
void ridge_fit(const struct part *part, struct budget *budget, struct ridge *out,
               struct arena *a);
double ridge_answer(const struct ensemble *e, const struct ridge *ridge, const double *x);

/* ---- trees.c ---- */

struct tree_rules {
    size_t trees, depth, least_rows;
    double rate, lambda, least_weight;
};
extern const struct tree_rules tree_rules_whole, tree_rules_fold;

enum {
    TREE_DEPTH_MAX = 4,
    TREE_NODES = 31,
    TREES_MAX = 120,
    BINS_MAX = 64,
    TREE_INPUTS_MAX = ENSEMBLE_INPUTS_MAX + 1, /* and size per processor */
    TREE_LEAF = 255,
};

/* Children of node i are 2i + 1 and 2i + 2. */
struct tree_node {
    float value;        /* of a leaf */
    uint8_t input, bin; /* right if the bin of the input is greater; TREE_LEAF */
};

struct trees {
    size_t tree_count, input_count;
    struct tree_input {
        size_t edge_count;
        double edge[BINS_MAX];
    } input[TREE_INPUTS_MAX];
    double code[ENSEMBLE_CATEGORICAL_MAX][CODES_MAX]; /* numbers of categories */
    double code_mean;
    struct tree_node (*node)[TREE_NODES];
};

/* What a part's rows are left over by the ridge. */
void trees_fit(const struct part *part, const struct ridge *ridge,
               const struct tree_rules *rules, struct budget *budget, struct trees *out,
               struct arena *a);
size_t tree_input_count(const struct ensemble *e); /* that its trees have */
double trees_answer(const struct ensemble *e, const struct trees *trees, const double *x);

/* One tree over numbers: bins (of `inputs` inputs, row after row) of `count` rows with
 * residuals r and weights w, `edges` each. Takes its values off r. */
void tree_grow(const uint8_t *bins, size_t inputs, const size_t *edges, double *r,
               const double *w, size_t count, const struct tree_rules *rules,
               struct budget *budget, struct tree_node *out, struct arena *a);

/* ---- context.c ---- */

struct context {
    double key;
    bool has_scale_out, has_linear;
    double scale_out[4]; /* a, b, c, d */
    double intercept, slope;
};
struct contexts {
    struct context *list; /* by key */
    size_t count;
};
void contexts_fit(const struct part *part, struct budget *budget, struct contexts *out,
                  struct arena *a);
void contexts_answer(const struct ensemble *e, const struct contexts *contexts,
                     const double *x, double key, double *scale_out, double *linear);

/* ---- all members ---- */

struct ensemble_members {
    struct ridge ridge;
    bool has_ridge;
    struct trees trees; /* tree_count 0: none */
    struct contexts contexts;
};
void members_fit(const struct part *part, const struct tree_rules *rules,
                 struct budget *budget, struct ensemble_members *out, struct arena *a);
void members_answer(const struct ensemble *e, const struct ensemble_members *m,
                    const double *x, double context, double *answer);

#endif
