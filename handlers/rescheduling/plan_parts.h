/* plan_parts.h - multi-phase applications over HTTP.
 *
 * What POST /v1/rescheduling-plans and POST /v1/reschedules share: the body, its way
 * into a struct plan_in, and how plans look in an answer.
 */
#ifndef GRIDPLAN_PLAN_PARTS_H
#define GRIDPLAN_PLAN_PARTS_H

#include "algorithms/parallel/sites.h"
#include "algorithms/plan/machines.h"
#include "algorithms/plan/plan.h"
#include "handlers/common/decision.h"
#include "handlers/common/snapshot_json.h"
#include "handlers/placement/search_json.h"
#include "handlers/sites/sites_lookup.h"

enum { PLAN_SITES_MAX = 100, PLAN_ROUTES_MAX = PLAN_SITES_MAX * PLAN_SITES_MAX };

/* ---- the body ---- */

struct plan_phase_request {
    uint64_t phase;
    struct site_model model;
};

struct plan_site_request {
    struct site site;
    const struct plan_phase_request *phase_models;
    size_t phase_model_count;
    double intra_site_cost_s, checkpoint_bandwidth_mbps; /* NAN: not given */
    double stop_s, launch_s;
};

struct plan_snapshot_request {
    const struct plan_site_request *sites;
    size_t site_count;
    const struct network_route *routes;
    size_t route_count;
};

struct plan_current_request {
    const char *site_id;
    const char *const *resource_ids;
    size_t resource_count;
};

struct plan_history_request {
    uint64_t phase;
    double predicted_s, actual_s;
};

struct plan_job_request {
    const char *id, *application_id;
    double problem_size; /* NAN: not given */
    uint64_t phases, first_phase, min_processors;
    double checkpoint_bytes; /* NAN: not given */
    const struct plan_current_request *current;
    const struct plan_phase_request *phase_models;
    size_t phase_model_count;
    /* run state, for POST /v1/reschedules */
    uint64_t phases_done;
    double stop_phase; /* NAN: none */
    double since_last_move_s, since_plan_s;
    const struct plan_history_request *phase_history;
    size_t history_count;
};

/* An interval of a plan: in an answer, and in a request that brings one. */
struct plan_answer_interval {
    uint64_t first_phase, last_phase;
    const char *site_id;
    const char *const *resource_ids;
    size_t resource_count;
    uint64_t processors;
    double predicted_s;
    enum plan_action action;
    double reschedule_cost_s;
    const char *reschedule_cost_basis; /* NULL: no move */
    double reschedule_cost_samples;    /* NAN: not learnt */
    bool valid;
    /* By the stored models of its phases; NAN, NULL: not each has one that knows. */
    double run_time_low_s, run_time_high_s, extrapolation_ratio, model_error_ratio;
    const char *interval_basis;
};

struct plan_request {
    struct decision_request decision;
    const struct plan_snapshot_request *snapshot; /* NULL: a stored one */
    const char *snapshot_id;
    const struct plan_job_request *jobs;
    size_t job_count;
    const struct plan_answer_interval *initial; /* rows of a plan of an answer */
    size_t initial_count;
};

extern const struct json_object plan_snapshot_json;
extern const struct json_object plan_phase_json;
extern const struct json_object plan_current_json;
extern const struct json_object plan_initial_json;

/* Rows of struct plan_job_request that both bodies have. */
#define PLAN_JOB_ROWS(T)                                                             \
    JSON_ID(T, id, JSON_REQUIRED, "Name"),                                           \
        JSON_ID(T, application_id, JSON_NULLABLE,                                    \
                "What it runs: phases without a model have the stored one of this "  \
                "application and the site, or of no site"),                          \
        JSON_NUMBER(T, problem_size, 0, JSON_LARGEST, NAN,                           \
                    JSON_NULLABLE | JSON_ABOVE_MIN,                                  \
                    "N of the models; combinations and stored models need it"),      \
        JSON_INTEGER(T, phases, 1, PLAN_PHASES_MAX, 0, JSON_REQUIRED,                \
                     "Phases of the whole run"),                                     \
        JSON_INTEGER(T, min_processors, 1, SITE_MACHINES_MAX, 1, 0,                  \
                     "It does not run on fewer; default 1"),                         \
        JSON_NUMBER(T, checkpoint_bytes, 0, JSON_LARGEST, NAN, JSON_NULLABLE,        \
                    "What a move writes and reads; for the cost of moving"),         \
        JSON_LIST(T, phase_models, phase_model_count, struct plan_phase_request,     \
                  &plan_phase_json, PLAN_PHASES_MAX, 0,                              \
                  "Run times of its phases, for sites without models of their own; " \
                  "sites scale them by their factors")

/* Rows of struct plan_request that both bodies have. */
#define PLAN_SNAPSHOT_ROWS(T)                                                           \
    JSON_OBJECT(T, snapshot, const struct plan_snapshot_request *, &plan_snapshot_json, \
                JSON_POINTER, "Sites with their machines, links and models, as now"),   \
        JSON_ID(                                                                        \
            T, snapshot_id, JSON_NULLABLE,                                              \
            "Instead: a stored snapshot, whose resources are sites by their site_id",   \
            JSON_NOT_WITH("snapshot"))

/* ---- the answer ---- */

/* A stored model that a plan rests on. */
struct plan_answer_model {
    uint64_t phase;
    const char *site_id, *model_id;
    double model_version, model_error_pct;
};

struct plan_answer_reason {
    const char *reason, *site_id, *detail;
};

struct plan_answer_unplaced {
    const char *job_id;
    const struct plan_answer_reason *reasons;
    size_t reason_count;
};

struct plan_answer_objective {
    double makespan_s, lower_bound_s, gap_ratio;
};

/* Members that both answers have. */
struct plan_answer_part {
    const struct plan_answer_interval *plan;
    size_t plan_count;
    const double *interval_markers;
    size_t marker_count;
    double stop_phase;
    double total_predicted_s, total_reschedule_cost_s, single_schedule_s;
    uint64_t scheduler_calls;
    bool stopped_early;
    const char *because; /* NULL: there is no plan */
    const char *bound_effort;
    const struct proven_bound *bounds;
    size_t bound_count;
    const struct plan_best_list *best_list;
    const struct improvement *improved_at_steps;
    size_t improvement_count;
    uint64_t steps;
    const struct plan_answer_model *models;
    size_t model_count;
    struct plan_answer_objective objective;
    const struct plan_answer_unplaced *unplaced;
    size_t unplaced_count;
};

extern const struct json_object plan_interval_json;
extern const struct json_object plan_model_json;
extern const struct json_object plan_objective_json;
extern const struct json_object plan_unplaced_json;
extern const struct json_object plan_best_list_json;

#define PLAN_ANSWER_NUMBER(T, m, flag, text)                \
    {                                                       \
        .name = #m, .doc = text, .type = JSON_TYPE_NUMBER,  \
        .offset = JSON_AT(T, part.m, double), .flags = flag \
    }
#define PLAN_ANSWER_LIST(T, m, counter, ctype, table, text)           \
    {                                                                 \
        .name = #m, .doc = text, .type = JSON_TYPE_LIST,              \
        .offset = JSON_AT(T, part.m, const ctype *),                  \
        .count_offset = JSON_AT(T, part.counter, size_t), .of = table \
    }

/* Rows of a struct T that has a `struct plan_answer_part part`. */
#define PLAN_ANSWER_ROWS(T)                                                              \
    PLAN_ANSWER_LIST(T, plan, plan_count, struct plan_answer_interval,                   \
                     &plan_interval_json, "Intervals of phases, in their order"),        \
        {.name = "interval_markers",                                                     \
         .doc = "The last phase of each interval",                                       \
         .type = JSON_TYPE_NUMBERS,                                                      \
         .offset = JSON_AT(T, part.interval_markers, const double *),                    \
         .count_offset = JSON_AT(T, part.marker_count, size_t)},                         \
        PLAN_ANSWER_NUMBER(T, stop_phase, JSON_MAY_BE_NULL | JSON_WHOLE,                 \
                           "The phase at whose end it first moves; null: never"),        \
        PLAN_ANSWER_NUMBER(T, total_predicted_s, JSON_MAY_BE_NULL,                       \
                           "Time of the phases left, with the cost of all moves; "       \
                           "null: there is no plan"),                                    \
        PLAN_ANSWER_NUMBER(T, total_reschedule_cost_s, JSON_MAY_BE_NULL,                 \
                           "Of which moves; null: there is no plan"),                    \
        PLAN_ANSWER_NUMBER(T, single_schedule_s, JSON_MAY_BE_NULL,                       \
                           "Time on the best machines for all phases together, without " \
                           "a move to them; null: none fits them all"),                  \
        {.name = "scheduler_calls",                                                      \
         .doc = "Sets of machines that were looked for",                                 \
         .type = JSON_TYPE_INTEGER,                                                      \
         .offset = JSON_AT(T, part.scheduler_calls, uint64_t),                           \
         .max = JSON_EXACT},                                                             \
        {.name = "stopped_early",                                                        \
         .doc = "The time limit ended the planning",                                     \
         .type = JSON_TYPE_BOOLEAN,                                                      \
         .offset = JSON_AT(T, part.stopped_early, bool)},                                \
        {.name = "because",                                                              \
         .doc = "Which planner found the plan, and what each that ran came to, in s",    \
         .type = JSON_TYPE_TEXT,                                                         \
         .offset = JSON_AT(T, part.because, const char *),                               \
         .flags = JSON_OPTIONAL},                                                        \
        {.name = "steps",                                                                \
         .doc = "Likewise scheduler_calls; options.max_steps replays them",              \
         .type = JSON_TYPE_INTEGER,                                                      \
         .offset = JSON_AT(T, part.steps, uint64_t),                                     \
         .max = JSON_EXACT,                                                              \
         .flags = JSON_OPTIONAL},                                                        \
        {.name = "bounds",                                                               \
         .doc = "Bounds of the total, largest first",                                    \
         .type = JSON_TYPE_LIST,                                                         \
         .offset = JSON_AT(T, part.bounds, const struct proven_bound *),                 \
         .count_offset = JSON_AT(T, part.bound_count, size_t),                           \
         .of = &proven_bound_json,                                                       \
         .flags = JSON_OPTIONAL},                                                        \
        SEARCH_ROWS_OF(T, part, struct plan_best_list, plan_best_list_json),             \
        {.name = "models",                                                               \
         .doc = "The stored models that it rests on",                                    \
         .type = JSON_TYPE_LIST,                                                         \
         .offset = JSON_AT(T, part.models, const struct plan_answer_model *),            \
         .count_offset = JSON_AT(T, part.model_count, size_t),                           \
         .of = &plan_model_json,                                                         \
         .flags = JSON_OPTIONAL},                                                        \
        {.name = "objective",                                                            \
         .doc = "How good the plan is",                                                  \
         .type = JSON_TYPE_OBJECT,                                                       \
         .offset = JSON_AT(T, part.objective, struct plan_answer_objective),             \
         .of = &plan_objective_json},                                                    \
        PLAN_ANSWER_LIST(T, unplaced, unplaced_count, struct plan_answer_unplaced,       \
                         &plan_unplaced_json, "The application, if no site can run it")

/* ---- one request ---- */

/* Where the cost of a move comes from. */
enum plan_cost {
    PLAN_COST_FIXED,    /* given */
    PLAN_COST_MODELLED, /* worked out from the checkpoint */
    PLAN_COST_LEARNT,   /* mean of reported moves */
    PLAN_COST_DEFAULT
};
extern const char *const plan_cost_names[]; /* by enum, ended by NULL */

struct plan_cost_basis {
    const char *name;     /* of plan_cost_names */
    uint64_t event_count; /* learnt: reported moves */
};

/* A site on its way. */
struct plan_call_site {
    const struct plan_site_request *given;
    struct site_machines usable;
    const struct plan_phase_request **phases; /* of each: the site's own; NULL: none */
    struct perf_terms *models;                /* of each, on its hardware */
    const struct stored_model **stored;       /* of each: what it is from; NULL: given */
    struct plan_machines *machines;           /* NULL: left out */
};

/* A request on its way. `in` is what the planner gets. */
struct plan_call {
    struct request *rq;
    const struct plan_request *body;
    const struct plan_job_request *job;
    const struct policy *policy;
    double option[PLAN_OPTION_COUNT];
    const struct policy *scheduler;
    double scheduler_param[PARAMS_MAX];
    struct plan_in in;
    const struct plan_site_request *given; /* sites of the request, or stored ones */
    const struct network_route *routes;
    size_t route_count;
    const struct plan_phase_request **phases; /* of each: the job's model; NULL: none */
    struct perf_terms *models;                /* of each, before scaling */
    struct plan_call_site *at;                /* of each site */
    struct plan_site *sites;                  /* in.sites */
    struct plan_source *sources;              /* of each site */
    double *inter_cost_s;
    struct plan_cost_basis *basis; /* [from * site_count + to] */
    uint64_t asked;
    bool repeatable;            /* no time limit was given */
    bool current_gone;          /* some machine of the current schedule cannot be used */
    double extrapolation_ratio; /* of the farthest phase of the plan, 1: inside */
    bool is_approximate;        /* some model of the plan says no sum of terms */
    struct arena *scratch;
    const char **warnings;
    size_t warning_count, warning_size;
};

/* Options beyond those of all plans. */
struct plan_call_options {
    const struct param *rows; /* NULL: none */
    double *value;            /* of each row */
};

/* Reads the body into call->in and notes every mistake; phases from `first_phase` are
 * planned, by `policy`; NULL: by the option `planner` of `further`. Ends with
 * plan_call_end(), whatever it returns. */
enum error_code plan_call_begin(struct plan_call *call, struct request *rq,
                                const struct plan_request *body,
                                const struct policy *policy,
                                const struct plan_call_options *further,
                                size_t first_phase);
void plan_call_end(struct plan_call *call);

/* Adds a warning of the request. */
enum error_code plan_call_warn(struct plan_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

enum { PLAN_UNKNOWN_RATIO = 4 }; /* so far outside nothing is called optimal */

/* Makes the answer from `out`; its warnings join those of the request in *decision. */
enum error_code plan_call_answer(struct plan_call *call, const struct plan_out *out,
                                 struct plan_answer_part *part,
                                 struct decision_answer *decision);

/* An interval of a plan as it is printed. from: the site before it; SIZE_MAX: none. */
void plan_call_interval(struct plan_call *call, size_t from,
                        const struct plan_interval *interval,
                        struct plan_answer_interval *out);

/* ---- its parts ---- */

/* The models that the body gives, checked: in call->phases and call->at[].phases. */
void plan_models_read(struct plan_call *call);

/* The models of all sites, missing ones from the store. *missing of each site: the
 * first phase that has none even so; 0: none. */
enum error_code plan_models_find(struct plan_call *call, size_t *missing);

/* What moving costs without the store: given, worked out, or assumed. Notes mistakes. */
enum error_code plan_costs_make(struct plan_call *call);

/* What has been reported of moves goes before what was assumed. */
enum error_code plan_costs_learn(struct plan_call *call);

/* Reads the request's plan to start from into call->in, and notes mistakes. */
enum error_code plan_initial_read(struct plan_call *call);

/* Index of a site; SIZE_MAX: there is none of that name. */
size_t plan_site_named(const struct plan_call *call, const char *id);

#endif
