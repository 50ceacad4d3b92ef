/* prediction_models.h - which model answers a prediction: in the request or stored. */
#ifndef GRIDPLAN_PREDICTION_MODELS_H
#define GRIDPLAN_PREDICTION_MODELS_H

#include "handlers/model/model_json.h"
#include "models/fitted/core.h"
#include "service/route.h"

/* What a question says of its run: to find applications like one of which no run is
 * known. Without inputs only those of its name. */
struct similar_question {
    const struct named_value *parameters;
    size_t parameter_count;
    bool has_problem_size;
};

/* What a request says: a struct T has the member `source` and the rows. */
struct model_source {
    const char *model_id;
    const char *application_id, *site_id;
    double phase_index; /* NAN: whole runs */
    int model_kind;     /* enum model_kind, -1: any */
    const struct model_document *model;
    const struct similar_question *like; /* no row; NULL: only runs of its own count */
};

#define MODEL_SOURCE_ROWS(T)                                                         \
    {.name = "model_id",                                                             \
     .doc = "A stored model",                                                        \
     .type = JSON_TYPE_TEXT,                                                         \
     .offset = JSON_AT(T, source.model_id, const char *),                            \
     .min = 1,                                                                       \
     .max = 256,                                                                     \
     .flags = JSON_NULLABLE},                                                        \
        {.name = "application_id",                                                   \
         .doc = "Instead: the stored model of this application at site_id; for run " \
                "times of whole runs without one: the median of similar "            \
                "applications (no_runs)",                                            \
         .type = JSON_TYPE_TEXT,                                                     \
         .offset = JSON_AT(T, source.application_id, const char *),                  \
         .min = 1,                                                                   \
         .max = 256,                                                                 \
         .flags = JSON_NULLABLE},                                                    \
        {.name = "site_id",                                                          \
         .doc = "Site of the model; default: the one without a site",                \
         .type = JSON_TYPE_TEXT,                                                     \
         .offset = JSON_AT(T, source.site_id, const char *),                         \
         .min = 1,                                                                   \
         .max = 256,                                                                 \
         .flags = JSON_NULLABLE},                                                    \
        {.name = "phase_index",                                                      \
         .doc = "Phase of the model, from 0; default: whole runs",                   \
         .type = JSON_TYPE_NUMBER,                                                   \
         .offset = JSON_AT(T, source.phase_index, double),                           \
         .max = 2147483647,                                                          \
         .preset = NAN,                                                              \
         .flags = JSON_NULLABLE},                                                    \
        {.name = "model_kind",                                                       \
         .doc = "Kind of the model; default: the first of auto, comprehensive, "     \
                "preliminary, linear, scale_out, normal_form, power_law that has a " \
                "version",                                                           \
         .type = JSON_TYPE_CHOICE,                                                   \
         .offset = offsetof(T, source.model_kind),                                   \
         .choices = model_kind_names,                                                \
         .preset = -1},                                                              \
    {                                                                                \
        .name = "model", .doc = "Instead: a model that is not stored",               \
        .type = JSON_TYPE_OBJECT,                                                    \
        .offset = JSON_AT(T, source.model, const struct model_document *),           \
        .of = &model_document_json, .flags = JSON_POINTER                            \
    }

/* A model that can be asked. */
struct model_at_hand {
    const char *id;     /* NULL: not stored; of a guess: the application's name */
    double phase_index; /* NAN: whole runs */
    uint64_t version;   /* 0: not stored, or without one */
    const char *state;  /* NULL: not stored */
    struct fitted_model fitted;
};

/* ---- words for what a model says ---- */

enum { PREDICTION_WARNINGS = __builtin_ctz(FITTED_WARN_MASKS) }; /* bits */
const char *prediction_warning_name(unsigned bit);
const char *prediction_warning_text(unsigned bit);

/* Words of why there is no prediction; ended by NULL. */
extern const char *const prediction_reason_names[];

/* Why there is no prediction, in words. */
const char *prediction_reason_text(const char *reason);

/* What is to be known of the model itself: the note of a bit of enum core_note_bit; NULL:
 * it is not set. */
const char *prediction_model_note(const struct model_at_hand *at, unsigned bit,
                                  struct arena *a);

/* Of a guess: whose times they are; else NULL. */
const char *prediction_guess_note(const struct model_at_hand *at, struct arena *a);

/* What its intervals rest on, unless they are made by groups of runs. */
const char *prediction_interval_basis(const struct fitted_model *m,
                                      const struct fitted_interval *interval);

/* ---- finding models ---- */

/* Models that a decision looks up one after the other; in a replay they are as they were.
 * `name` tells its lookups from others (decision_lookup()). */
struct model_shelf;
enum error_code model_shelf_open(struct request *rq, const char *name,
                                 struct model_shelf **shelf);

/* The next model: what a stored source means; *model NULL: there is none. */
enum error_code model_shelf_find(struct model_shelf *shelf,
                                 const struct model_source *source,
                                 const struct model_at_hand **model);

/* When all are found: keeps them with the decision. */
enum error_code model_shelf_keep(struct model_shelf *shelf);

/* The models that the source means: one, or with `phases` those of all phases that
 * there are, by phase. ERR_NOT_FOUND: no such model, no such application. A replay takes
 * them as they were. */
enum error_code models_at_hand(struct request *rq, const struct model_source *source,
                               bool phases, const struct model_at_hand **list,
                               size_t *count);

/* Notes parameters of a question that no model can look at: numbers beyond 1e300, and
 * more than 64 of them; `at` points to their object. */
void prediction_parameters_check(const struct named_value *list, size_t count,
                                 const char *at, struct error *err);

#endif
