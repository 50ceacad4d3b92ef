/* ensemble/internal.h - what the parts of an ensemble share. */
#ifndef GRIDPLAN_ENSEMBLE_INTERNAL_H
#define GRIDPLAN_ENSEMBLE_INTERNAL_H

#include "models/ensemble/ensemble.h"
#include "models/performance/performance.h"

enum { CODES_MAX = ENSEMBLE_VALUES_MAX + 1 }; /* values of a category, and the rest */

enum { TREE_INPUTS_MAX = ENSEMBLE_INPUTS_MAX + 1 }; /* and size per processor */

/* A number that trees look at: of each row, and rows that have one by it. */
struct tree_column {
    const double *value; /* NAN: missing */
    const uint32_t *row;
    size_t count; /* of them; value NULL: a category, whose numbers are each fit's */
};

/* Runs by their known inputs: of numbers the value, of texts the place of the value
 * (value_count: the rest); NAN: missing or never seen. */
struct table {
    const struct ensemble *e;
    double *x; /* rows of e->input_count */
    double *y, *weight;
    double *configuration; /* key; NAN: an input is missing */
    double *context;       /* likewise */
    double *bandwidth; /* Mbit/s; NAN: not known; NULL: nobody says which input it is */
    bool *is_bound;
    size_t count;
    struct tree_column tree[TREE_INPUTS_MAX]; /* by tree_sort() */
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

/* About what trees_fit() needs for so many rows. */
size_t tree_room_bytes(const struct ensemble *e, size_t rows);

/* Sorts the table's rows by each input of trees, once for all fits to parts of it. */
void tree_sort(struct table *t, struct arena *a);
double trees_answer(const struct ensemble *e, const struct trees *trees, const double *x);

/* What trees over the same rows share: `bins` of row after row, tree_width(inputs) for
 * each, of which what is beyond `inputs` is 0; w, their weights; `edges` of each input,
 * below BINS_MAX. All of it is kept by pointer but the edges. */
struct tree_room;
size_t tree_width(size_t inputs);
struct tree_room *tree_room(const uint8_t *bins, size_t inputs, const size_t *edges,
                            const double *w, size_t count, struct arena *a);

/* One tree over the residuals r of the rows. Takes its values off them. At most
 * TREE_DEPTH_MAX deep. */
void tree_grow(const struct tree_room *room, double *r, const struct tree_rules *rules,
               struct budget *budget, struct tree_node *out);

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

/* ---- comprehensive.c ---- */

struct comprehensive {
    bool is_there;             /* it answers */
    struct perf_model_set set; /* at most a few of each list */
    size_t cpu, bandwidth;     /* which of the known inputs; SIZE_MAX: none */
    double bandwidth_mean;
    bool was_searched;
    size_t since_search; /* runs that came */
};

/* before: that of the fit before, whose functions go on; NULL: none. */
void comprehensive_fit(const struct part *part, const struct comprehensive *before,
                       struct budget *budget, struct comprehensive *out, struct arena *a);

/* bandwidth_mbps: NAN: not said. */
double comprehensive_answer(const struct ensemble *e, const struct comprehensive *c,
                            const double *x, double bandwidth_mbps);

/* ---- all members ---- */

struct ensemble_members {
    struct ridge ridge;
    bool has_ridge;
    struct trees trees; /* tree_count 0: none */
    struct contexts contexts;
    struct comprehensive comprehensive; /* of the whole only */
};
void members_fit(const struct part *part, const struct tree_rules *rules,
                 struct budget *budget, struct ensemble_members *out, struct arena *a);
void members_answer(const struct ensemble *e, const struct ensemble_members *m,
                    const double *x, double bandwidth_mbps, double context,
                    double *answer);

#endif
