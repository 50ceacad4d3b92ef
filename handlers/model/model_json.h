/* model_json.h - fitted models in JSON: settings, runs, combinations, what is known of
 * their errors; shared by the handlers of models, fits and predictions. */
#ifndef GRIDPLAN_MODEL_JSON_H
#define GRIDPLAN_MODEL_JSON_H

#include "models/fitted/fitted.h"
#include "service/json.h"

enum {
    MODEL_PACKED_MAX_BYTES = 16 * 1024 * 1024,
    MODEL_COMBINATIONS_MAX = PERF_SORTED_MAX
};

extern const struct json_object model_settings_json; /* struct model_settings */

/* A run in a request. */
struct model_run {
    double problem_size, processors, cpu_available_ratio, bandwidth_mbps, run_time_s;
    bool dedicated, outlier;
    const struct named_value *parameters;
    size_t parameter_count;
    const char *resource_class;
};
extern const struct json_object model_run_json;
#define MODEL_RUNS_MAX PERF_SAMPLES_MAX

/* The `count` runs as they are fitted. */
struct fitted_run *model_runs_read(enum model_kind kind,
                                   const struct model_settings *settings,
                                   const struct model_run *runs, size_t count,
                                   struct arena *a);

/* One combination; numbers of functions that it has not are NAN. */
struct combination_row {
    double f_comp_mask, f_comm_mask, f_bw_id, f_pcomp_id, f_pcomm_id;
    const double *coefficients;
    size_t coefficient_count;
    double standard_error, low_rank_streak;
    bool monotone_in_p;
};
extern const struct json_object combination_json;

/* A member of a model of kind auto, for a group of questions. */
struct member_row {
    const char *group, *name;
    double weight_ratio, error_ratio;
    uint64_t run_count;
};
extern const struct json_object member_json;

/* What the intervals of a group of questions are made of. */
struct interval_row {
    const char *group;
    uint64_t error_count;
    double s0, q90;
};
extern const struct json_object interval_json;

/* What a model consists of. */
/* Something that runs tell and that is no input of a model of kind auto. */
struct left_out_row {
    const char *name; /* NULL: names that nobody has kept */
    const char *reason;
};
extern const struct json_object left_out_json;

struct model_details {
    const struct member_row *members;
    const struct interval_row *intervals;
    size_t interval_count;
    const char *const *inputs;
    size_t member_count, input_count;
    const struct left_out_row *inputs_left_out;
    size_t left_out_count;
    const struct combination_row *combinations, *single_combinations;
    size_t combination_count, single_combination_count;
    size_t combinations_total;
    const char *formula;
    const double *coefficients;
    size_t coefficient_count;
};

/* At most `limit` of the combinations. */
void model_details_of(const struct fitted_model *m, size_t limit,
                      struct model_details *out, struct arena *a);

/* Kind auto: a parameter that is a list or an object in runs joins what is left out. */
void model_details_skip(const char *name, struct model_details *details, struct arena *a);

/* Rows of a struct T with the member `details`. */
#define MODEL_DETAILS_ROWS(T)                                                            \
    {.name = "members",                                                                  \
     .doc = "auto: what its estimate is the weighted mean of, by group of questions",    \
     .type = JSON_TYPE_LIST,                                                             \
     .offset = JSON_AT(T, details.members, const struct member_row *),                   \
     .count_offset = JSON_AT(T, details.member_count, size_t),                           \
     .of = &member_json,                                                                 \
     .flags = JSON_OPTIONAL},                                                            \
        {.name = "intervals",                                                            \
         .doc = "What intervals are made of, by group of questions; not of the profile " \
                "thesis",                                                                \
         .type = JSON_TYPE_LIST,                                                         \
         .offset = JSON_AT(T, details.intervals, const struct interval_row *),           \
         .count_offset = JSON_AT(T, details.interval_count, size_t),                     \
         .of = &interval_json,                                                           \
         .flags = JSON_OPTIONAL},                                                        \
        {.name = "inputs",                                                               \
         .doc = "auto: the inputs that at least half of its runs have",                  \
         .type = JSON_TYPE_TEXTS,                                                        \
         .offset = JSON_AT(T, details.inputs, const char *const *),                      \
         .count_offset = JSON_AT(T, details.input_count, size_t),                        \
         .flags = JSON_OPTIONAL},                                                        \
        {.name = "inputs_left_out",                                                      \
         .doc = "auto: what runs tell that is no input, and why",                        \
         .type = JSON_TYPE_LIST,                                                         \
         .offset = JSON_AT(T, details.inputs_left_out, const struct left_out_row *),     \
         .count_offset = JSON_AT(T, details.left_out_count, size_t),                     \
         .of = &left_out_json,                                                           \
         .flags = JSON_OPTIONAL},                                                        \
        {.name = "combinations",                                                         \
         .doc = "comprehensive: the best of the sorted list, the first predicts first",  \
         .type = JSON_TYPE_LIST,                                                         \
         .offset = JSON_AT(T, details.combinations, const struct combination_row *),     \
         .count_offset = JSON_AT(T, details.combination_count, size_t),                  \
         .of = &combination_json,                                                        \
         .flags = JSON_OPTIONAL},                                                        \
        {.name = "single_combinations",                                                  \
         .doc = "comprehensive: those for one processor",                                \
         .type = JSON_TYPE_LIST,                                                         \
         .offset =                                                                       \
             JSON_AT(T, details.single_combinations, const struct combination_row *),    \
         .count_offset = JSON_AT(T, details.single_combination_count, size_t),           \
         .of = &combination_json,                                                        \
         .flags = JSON_OPTIONAL},                                                        \
        {.name = "formula",                                                              \
         .doc = "Other kinds: the formula, for people",                                  \
         .type = JSON_TYPE_TEXT,                                                         \
         .offset = JSON_AT(T, details.formula, const char *),                            \
         .flags = JSON_OPTIONAL},                                                        \
    {                                                                                    \
        .name = "coefficients",                                                          \
        .doc = "Other kinds: all numbers that a prediction uses",                        \
        .type = JSON_TYPE_NUMBERS,                                                       \
        .offset = JSON_AT(T, details.coefficients, const double *),                      \
        .count_offset = JSON_AT(T, details.coefficient_count, size_t),                   \
        .flags = JSON_OPTIONAL                                                           \
    }

/* What is known of a model: kept with each version. */
struct model_range {
    double low, high;
};
struct model_porting {
    const char *status;
    double cpu_factor, bandwidth_factor, best_bandwidth_factor;
    double goodness_reference_pct, goodness_target_pct;
    const char *reference_model_id;
};
/* A change of the run times. */
struct model_change {
    const char *at_execution_id; /* NULL: not known */
    double at_s;                 /* instant; NAN: not known */
    double factor;
    uint64_t earlier_run_count, run_count;
    const char *scope, *resource_class, *site_id; /* NULL: not of one, or not known */
};
struct model_summary {
    uint64_t sample_count, outlier_count, unusable_count;
    double standard_error, fit_appe_pct, cross_appe_pct;
    uint64_t unseen_count;
    double unseen_appe_pct, recent_appe_pct;
    uint64_t combination_count, fits_evaluated;
    bool cut;
    struct model_range problem_size, processors, cpu_available_ratio, bandwidth_mbps;
    const struct model_porting *porting;
    uint64_t change_count;
    const struct model_change *change; /* the last one; NULL: none */
};
extern const struct json_object model_summary_json;

/* reference_model_id: of a ported model, NULL when there is none. */
void model_summary_of(const struct fitted_model *m, const char *reference_model_id,
                      struct model_summary *out, struct arena *a);

/* A model that leaves out inputs that it was given: which, as a warning; NULL: none does.
 */
const char *model_unused_inputs(const struct fitted_model *m, struct arena *a);

/* Settings that the kind does not look at, or not with the others: one warning with the
 * pointers of all, below `at`; *warning NULL: there is none. */
void model_unused_settings(enum model_kind kind, const struct model_settings *s,
                           const char *at, const char **warning, struct arena *a);

/* Which runs a kind needs to be trained, and how many of these it can use, in words. */
const char *model_needs(enum model_kind kind, const struct model_settings *settings,
                        const struct fitted_run *runs, size_t count, struct arena *a);

/* A model in a request, or in the answer of a fit. */
struct model_document {
    int kind; /* enum model_kind; -1: that of what is given */
    struct model_settings settings;
    const char *packed;
    const struct combination_row *combinations, *single_combinations;
    size_t combination_count, single_combination_count;
    const struct model_run *samples;
    size_t sample_count;
};
extern const struct json_object model_document_json;

/* The model that it means: trained from samples, unpacked, or of combinations.
 * Mistakes have pointers below `at`. */
enum error_code model_document_read(const struct model_document *in, const char *at,
                                    struct budget *budget, struct fitted_model *out,
                                    struct arena *a, struct error *err);

/* The numbers as a text for `packed`. */
void model_packed_text(const struct fitted_model *m, const char **text, struct arena *a);

#endif
