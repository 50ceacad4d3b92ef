/* sites_lookup.h - what requests about tightly coupled applications name instead of
 * giving it: the sites of a stored snapshot, stored models, past waits of batch queues.
 *
 * Shared by POST /v1/parallel-schedules, POST /v1/rescheduling-plans and POST
 * /v1/reschedules. What is looked up is kept with a stored decision for its replay.
 */
#ifndef GRIDPLAN_SITES_LOOKUP_H
#define GRIDPLAN_SITES_LOOKUP_H

#include "algorithms/parallel/sites.h"
#include "handlers/model/model_json.h"
#include "handlers/sites/sites_json.h"
#include "models/snapshot.h"
#include "service/route.h"

/* ---- sites of a stored snapshot ---- */

struct stored_sites {
    struct site *sites;
    size_t site_count;
    bool no_load_history; /* a forecast was wanted, and no load samples are stored */
};

/* The resources by site_id, their links from the network's lan_mbps or a route of the
 * site to itself; with `forecast` the cpu and the links that the stored load samples let
 * expect. ERR_TOO_LARGE for more than site_max. */
enum error_code stored_sites_make(struct request *rq, const struct snapshot *snapshot,
                                  size_t site_max, bool forecast,
                                  struct stored_sites *out);

extern const char stored_sites_no_history[]; /* the warning of no_load_history */

/* ---- past waits of batch queues ---- */

struct stored_waits {
    const struct site_wait *list;
    size_t count;
};

/* Of each batch site without a queue_wait_history (out[k]; of the others nothing): the
 * mean waits of its latest stored executions, by their processors. *unavailable: they
 * cannot be read now. Without a database nothing is found. */
enum error_code stored_waits_read(struct request *rq, const struct site *const *sites,
                                  size_t site_count, struct stored_waits *out,
                                  bool *unavailable);

extern const char stored_waits_unavailable[]; /* the warning of it */

/* ---- warnings ---- */

enum { SITE_WARNINGS_MAX = 4 };

struct site_warnings {
    const char *list[SITE_WARNINGS_MAX];
    size_t count;
};

/* What was changed or left out of its machines. */
void site_warnings_of(const struct site *site, const struct site_machines *machines,
                      struct site_warnings *out, struct arena *a);

/* ---- models ---- */

/* The model of an application, or of a phase, in a request: one of three. */
struct site_model {
    const struct site_term *terms;
    size_t term_count;
    const struct combination_row *combination; /* NULL: none */
    const char *model_id;                      /* NULL: none */
};

/* Rows of a struct T whose member `M` is one; M "": T is one itself. */
#define SITE_MODEL_ROWS(T, M)                                                     \
    {.name = "terms",                                                             \
     .doc = "The model worked out for the problem size: the sum of these",        \
     .type = JSON_TYPE_LIST,                                                      \
     .offset = JSON_AT(T, M terms, const struct site_term *),                     \
     .count_offset = JSON_AT(T, M term_count, size_t),                            \
     .of = &site_term_json,                                                       \
     .max = SITE_TERMS_MAX},                                                      \
        {.name = "combination",                                                   \
         .doc = "Instead: functions and coefficients, as GET "                    \
                "/v1/models/{model_id} gives them; needs problem_size",           \
         .type = JSON_TYPE_OBJECT,                                                \
         .offset = JSON_AT(T, M combination, const struct combination_row *),     \
         .of = &combination_json,                                                 \
         .flags = JSON_POINTER},                                                  \
    {                                                                             \
        .name = "model_id", .doc = "Instead: a stored model; needs problem_size", \
        .type = JSON_TYPE_TEXT, .offset = JSON_AT(T, M model_id, const char *),   \
        .min = 1, .max = 256, .flags = JSON_NULLABLE                              \
    }

/* Notes what tables cannot see: it says what it is in one way, with all it needs. */
void site_model_check(const struct site_model *model, double problem_size,
                      const char *pointer, struct error *err);

/* Terms or a combination as a model at the problem size. What cannot be used is noted
 * in *err: then *out stays as it is. */
enum error_code site_model_read(const struct site_model *model, double problem_size,
                                const char *pointer, struct perf_terms *out,
                                struct arena *a, struct error *err);

/* What the runs of a stored model allow to say of its times. Inputs: problem size,
 * processors, CPU, bandwidth; an input that the model has not, or of which nothing is
 * known, has high < low. */
enum { STORED_INPUTS = 4 };
struct stored_reach {
    double low[STORED_INPUTS], high[STORED_INPUTS]; /* seen */
    double scale[2], quantile[2]; /* of errors inside and outside, for the level 0.9;
                                     quantile 0: no interval is known */
};

/* How far a question lies outside, and its interval. */
struct stored_interval {
    double extrapolation_ratio; /* 1: inside; NAN: nothing is known */
    double low_s, high_s;       /* NAN: no interval is known */
    double error_ratio;         /* the usual error there; NAN likewise */
    const char *basis;          /* NULL likewise */
};

/* A stored model as a site's terms, before scaling. */
struct stored_model {
    const char *site_id;
    double phase; /* from 1; NAN: whole runs */
    const char *model_id;
    double version;
    bool own;            /* fitted at the site itself: its factors do not apply */
    bool is_approximate; /* of kind auto: the terms follow its times as well as may be */
    const struct site_term *terms;
    size_t term_count;
    double single_s;     /* time on one free processor; NAN: by the terms */
    double error_pct;    /* mean error on runs it had not seen; NAN: not known */
    const double *reach; /* a struct stored_reach as numbers; NULL: nothing is known */
    size_t reach_count;
};

/* Of a time by the model for these inputs (NAN: not one of the question's). */
void stored_model_interval(const struct stored_model *model, double time_s,
                           const double inputs[STORED_INPUTS],
                           struct stored_interval *out);

/* Which one is wanted: by its name, else the trained one of the application and the
 * site, else that of the application without a site. */
struct stored_model_wanted {
    const char *site_id;
    double phase;
    const char *model_id; /* NULL: by application */
    const char *pointer;  /* of model_id in the request */
};

struct stored_models_question {
    const char *application_id; /* NULL: all are wanted by name */
    double problem_size;
    const struct stored_model_wanted *wanted; /* those of a site stand together */
    size_t wanted_count;
};

struct stored_models {
    const struct stored_model **of_each; /* of each that is wanted; NULL: none */
    const char *const *warnings;         /* why models cannot be used */
    size_t warning_count;
};

/* Names that there are not are noted in *err, ERR_INVALID; before, *err must be without
 * mistakes. All that is wanted are phases, or all whole runs. */
enum error_code stored_models_find(struct request *rq,
                                   const struct stored_models_question *question,
                                   struct stored_models *out);

/* The terms on the site's hardware; `own`: a model of the site itself, not scaled. */
enum error_code stored_model_read(const struct stored_model *model,
                                  const struct site *site, bool own,
                                  struct perf_terms *out, struct arena *a,
                                  struct error *err);

#endif
