/* evaluation_coallocation.c - evaluations of kind "coallocation": what a schedule of
 * co-allocated jobs was worth.
 *
 * Source: spec coallocation.md 16.
 */
#include "handlers/evaluation/evaluation_coallocation.h"

#include "algorithms/coallocation/metrics.h"
#include "handlers/common/decision.h"
#include "models/base/names.h"

#include <math.h>
#include <string.h>

enum {
    JOBS_MAX = 100000,
    PLACEMENTS_MAX = 1000,
    COMPONENTS_MAX = 1000,
    PROCESSORS_MAX = 1000000000,
    INSTANTS_MAX = 10000
};

/* ---- the request ---- */

struct component_request {
    const char *site_id;
    uint64_t processors;
    double claim_s, progress_ratio;
};

struct placement_request {
    double queue_entry_s, jpt_s, jst_s;
    const struct component_request *components;
    size_t component_count;
    bool started, failed_soft;
};

struct job_request {
    const char *id;
    double submit_s, deployed_s, start_s, finish_s;
    const struct placement_request *placements;
    size_t placement_count;
    double placement_tries, claim_tries;
};

struct evaluation_request {
    int kind; /* only "coallocation" */
    struct decision_request decision;
    const struct job_request *jobs;
    size_t job_count;
    double capacity_processors, window_start_s, window_end_s, background_processor_s;
    const double *cumulative_at_s;
    size_t cumulative_count;
};

static const char *const kinds[] = {"coallocation", NULL};

#define INSTANT(m, flag, text) JSON_NUMBER(T, m, -1e15, 1e15, NAN, flag, text)

#define T                      struct component_request
static const struct json_field component_rows[] = {
    JSON_ID(T, site_id, JSON_REQUIRED, "Its execution site"),
    JSON_INTEGER(T, processors, 1, PROCESSORS_MAX, 1, JSON_REQUIRED, "Its processors"),
    INSTANT(claim_s, JSON_NULLABLE, "When they were claimed; null: never"),
    JSON_NUMBER(T, progress_ratio, 0, 1, NAN, JSON_NULLABLE,
                "Share of its work that is done; null: not known"),
    {0},
};
#undef T
static const struct json_object component_json = {
    "CoallocationEvaluationComponent", "A component of a placement",
    sizeof(struct component_request), component_rows};

#define T struct placement_request
static const struct json_field placement_rows[] = {
    INSTANT(queue_entry_s, JSON_REQUIRED, "When the job entered the placement queue"),
    INSTANT(jpt_s, JSON_REQUIRED, "When it was placed"),
    INSTANT(jst_s, JSON_REQUIRED, "Its job start time"),
    JSON_LIST(T, components, component_count, struct component_request, &component_json,
              COMPONENTS_MAX, JSON_REQUIRED, "Where its components were placed"),
    JSON_BOOLEAN(T, started, 1, 0, "It was claimed and launched; default true"),
    JSON_BOOLEAN(T, failed_soft, 0, 0,
                 "And came back because of a soft error; default false"),
    {0},
};
#undef T
static const struct json_object placement_json = {
    "CoallocationEvaluationPlacement", "A placement of a job",
    sizeof(struct placement_request), placement_rows};

#define T struct job_request
static const struct json_field job_rows[] = {
    JSON_ID(T, id, JSON_NULLABLE, "Its name"),
    INSTANT(submit_s, JSON_REQUIRED, "When it was submitted"),
    INSTANT(deployed_s, JSON_NULLABLE, "When its runner began to deploy it"),
    INSTANT(start_s, JSON_NULLABLE, "When the run began that ended; null: none did"),
    INSTANT(finish_s, JSON_NULLABLE, "When it ended; null: it runs"),
    JSON_LIST(T, placements, placement_count, struct placement_request, &placement_json,
              PLACEMENTS_MAX, 0, "Its placements in their order"),
    JSON_NUMBER(T, placement_tries, 0, 1e15, NAN, JSON_NULLABLE, "Tries to place it"),
    JSON_NUMBER(T, claim_tries, 0, 1e15, NAN, JSON_NULLABLE, "Tries to claim"),
    {0},
};
#undef T
static const struct json_object job_json = {"CoallocationEvaluationJob",
                                            "What became of a job",
                                            sizeof(struct job_request), job_rows};

#define T struct evaluation_request
static const struct json_field request_rows[] = {
    JSON_CHOICE(T, kind, kinds, 0, JSON_REQUIRED, "coallocation"),
    DECISION_REQUEST_ROWS(T),
    JSON_LIST(T, jobs, job_count, struct job_request, &job_json, JOBS_MAX, JSON_REQUIRED,
              "The jobs"),
    JSON_NUMBER(T, capacity_processors, 0, 1e15, 0, JSON_REQUIRED | JSON_ABOVE_MIN,
                "Processors of all sites"),
    INSTANT(window_start_s, JSON_REQUIRED, "Loads are over the time from here"),
    INSTANT(window_end_s, JSON_REQUIRED, "To here"),
    JSON_NUMBER(T, background_processor_s, 0, 1e18, NAN, JSON_NULLABLE,
                "Processor-seconds of local jobs in that time"),
    JSON_NUMBERS(T, cumulative_at_s, cumulative_count, -1e15, 1e15, 0,
                 "Instants at which to count the jobs that run or have ended"),
    {0},
};
#undef T
const struct json_object coallocation_evaluation_request_json = {
    "CoallocationEvaluationRequest", "Records of co-allocated jobs",
    sizeof(struct evaluation_request), request_rows};

/* ---- the answer ---- */

struct job_answer {
    const char *job_id;
    struct co_job_figures figures;
    double coallocation_skew;
};

struct size_answer {
    const char *size;
    struct co_size_metrics of;
    uint64_t job_count;
};

struct cumulative_answer {
    double at_s;
    uint64_t job_count;
};

struct evaluation_answer {
    int kind;
    struct decision_answer decision;
    uint64_t job_count, placed_count, started_count, finished_count;
    struct co_metrics of;
    const struct job_answer *jobs;
    size_t row_count;
    const struct size_answer *sizes;
    size_t size_count;
    const struct cumulative_answer *cumulative;
    size_t cumulative_count;
    double coallocation_skew;
};

#define FIGURE(T, at, name_, doc_)    \
    {.name = #name_,                  \
     .doc = doc_ "; null: not known", \
     .type = JSON_TYPE_NUMBER,        \
     .offset = offsetof(T, at),       \
     .flags = JSON_MAY_BE_NULL},

static const struct json_field figure_rows[] = {
#define X(name, doc) FIGURE(struct co_job_figures, name, name, doc)
    CO_JOB_FIGURES(X)
#undef X
        {0},
};
static const struct json_object figures_json = {
    "CoallocationJobFigures", "Figures of a job, null where they are not known",
    sizeof(struct co_job_figures), figure_rows};

#define T struct job_answer
static const struct json_field job_answer_rows[] = {
    JSON_TEXT(T, job_id, JSON_OPTIONAL, "The job, if it has a name"),
    JSON_OBJECT(T, figures, struct co_job_figures, &figures_json, 0, "Its figures"),
    JSON_NUMBER(T, coallocation_skew, 0, 0, 0, JSON_OPTIONAL,
                "Progress of its fastest component less that of its slowest, of those of "
                "its last placement that say their progress_ratio; left out when fewer "
                "than two do"),
    {0},
};
#undef T
static const struct json_object job_answer_json = {
    "CoallocationEvaluationRow", "A job", sizeof(struct job_answer), job_answer_rows};

#define T struct size_answer
static const struct json_field size_rows[] = {
    JSON_TEXT(T, size, 0, "Components x processors of the largest, as first placed"),
    JSON_INTEGER(T, job_count, 0, JSON_EXACT, 0, 0, "Jobs of that size"),
    {.name = "mean",
     .doc = "Figures, means over the jobs that have them",
     .type = JSON_TYPE_OBJECT,
     .offset = offsetof(T, of.mean),
     .of = &figures_json},
    FIGURE(T, of.placement_p25_s, placement_p25_s, "25th percentile of total_placement_s")
        FIGURE(T, of.placement_p50_s, placement_p50_s, "Its median")
            FIGURE(T, of.placement_p90_s, placement_p90_s, "Its 90th percentile"){0},
};
#undef T
static const struct json_object size_json = {"CoallocationEvaluationSize",
                                             "Jobs of one size",
                                             sizeof(struct size_answer), size_rows};

#define T struct cumulative_answer
static const struct json_field cumulative_rows[] = {
    JSON_NUMBER(T, at_s, 0, 0, 0, 0, "The instant"),
    JSON_INTEGER(T, job_count, 0, JSON_EXACT, 0, 0, "Jobs that run or have ended"),
    {0},
};
#undef T
static const struct json_object cumulative_json = {
    "CoallocationCumulativeJobs", "Jobs by an instant", sizeof(struct cumulative_answer),
    cumulative_rows};

#define T struct evaluation_answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY("coallocation")),
    JSON_CHOICE(T, kind, kinds, 0, 0, "coallocation"),
    JSON_INTEGER(T, job_count, 0, JSON_EXACT, 0, 0, "Jobs"),
    JSON_INTEGER(T, placed_count, 0, JSON_EXACT, 0, 0, "Jobs that were placed"),
    JSON_INTEGER(T, started_count, 0, JSON_EXACT, 0, 0, "Jobs that started for good"),
    JSON_INTEGER(T, finished_count, 0, JSON_EXACT, 0, 0, "Jobs that ended"),
#define X(name, doc) FIGURE(T, of.name, name, doc)
    CO_RUN_FIGURES(X)
#undef X
        {.name = "mean",
         .doc = "Figures of jobs, means over those that have them",
         .type = JSON_TYPE_OBJECT,
         .offset = offsetof(T, of.mean),
         .of = &figures_json},
    JSON_LIST(T, sizes, size_count, struct size_answer, &size_json, 0, 0,
              "By size of jobs"),
    JSON_LIST(T, jobs, row_count, struct job_answer, &job_answer_json, 0, 0,
              "Each job, in the order of the request"),
    JSON_LIST(T, cumulative, cumulative_count, struct cumulative_answer, &cumulative_json,
              0, 0, "Jobs by the instants that were asked for"),
    JSON_NUMBER(T, coallocation_skew, 0, 0, 0, JSON_OPTIONAL,
                "Mean over the jobs that have it"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object coallocation_evaluation_answer_json = {
    "CoallocationEvaluationAnswer", "What the schedule was worth",
    sizeof(struct evaluation_answer), answer_rows};

/* ---- reading ---- */

struct reader {
    struct arena *a;
    struct error *err;
    struct name_index sites, names;
    size_t site_count;
};

__attribute__((format(printf, 3, 4))) static void
mistake(struct reader *r, const char *detail, const char *format, ...)
{
    va_list args;
    char *pointer;

    va_start(args, format);
    pointer = arena_vprintf(r->a, format, args);
    va_end(args);
    invalid(r->err, pointer, ITEM_OUT_OF_BOUNDS, "%s", detail);
}

static enum error_code read_placement(struct reader *r,
                                      const struct placement_request *in, size_t job,
                                      size_t k, struct co_run_placement *out)
{
    struct co_run_component *list =
        NEW(r->a, struct co_run_component, in->component_count);

    if (in->component_count == 0)
        mistake(r, "a placement has at least one component",
                "/jobs/%zu/placements/%zu/components", job, k);
    if (in->jpt_s < in->queue_entry_s)
        mistake(r, "before queue_entry_s", "/jobs/%zu/placements/%zu/jpt_s", job, k);
    if (in->jst_s < in->jpt_s)
        mistake(r, "before jpt_s", "/jobs/%zu/placements/%zu/jst_s", job, k);
    if (in->failed_soft && !in->started)
        mistake(r, "only what was started can fail",
                "/jobs/%zu/placements/%zu/failed_soft", job, k);
    for (size_t c = 0; c < in->component_count; c++) {
        const struct component_request *part = &in->components[c];
        size_t site = name_index_add(&r->sites, part->site_id, r->site_count);

        if (part->claim_s < in->jpt_s)
            mistake(r, "before jpt_s", "/jobs/%zu/placements/%zu/components/%zu/claim_s",
                    job, k, c);
        list[c] = (struct co_run_component){
            site == NAME_NOT_FOUND ? r->site_count++ : site, part->processors,
            part->claim_s, !isnan(part->progress_ratio), part->progress_ratio};
    }
    *out =
        (struct co_run_placement){in->queue_entry_s,   in->jpt_s,   in->jst_s,      list,
                                  in->component_count, in->started, in->failed_soft};
    return OK;
}

static enum error_code read_job(struct reader *r, const struct job_request *in, size_t j,
                                struct co_run_job *out)
{
    struct co_run_placement *list =
        NEW(r->a, struct co_run_placement, in->placement_count);
    const struct placement_request *last =
        in->placement_count ? &in->placements[in->placement_count - 1] : NULL;

    for (size_t k = 0; k < in->placement_count; k++)
        TRY(read_placement(r, &in->placements[k], j, k, &list[k]));
    if (in->id && name_index_add(&r->names, in->id, j) != NAME_NOT_FOUND)
        mistake(r, "another job has this name", "/jobs/%zu/id", j);
    if (!isnan(in->start_s) && (!last || !last->started || last->failed_soft))
        mistake(r, "its last placement has not started, or failed", "/jobs/%zu/start_s",
                j);
    if (in->start_s < in->submit_s)
        mistake(r, "before submit_s", "/jobs/%zu/start_s", j);
    if (!isnan(in->finish_s) && !(in->finish_s >= in->start_s))
        mistake(r, "before start_s, or without it", "/jobs/%zu/finish_s", j);
    *out = (struct co_run_job){
        in->submit_s, in->deployed_s,      in->start_s,         in->finish_s,
        list,         in->placement_count, in->placement_tries, in->claim_tries,
    };
    return OK;
}

static enum error_code read_jobs(const struct evaluation_request *body,
                                 struct co_run_job *jobs, struct arena *a,
                                 struct error *err)
{
    struct reader r = {.a = a, .err = err};
    size_t components = 0;

    for (size_t j = 0; j < body->job_count; j++)
        for (size_t k = 0; k < body->jobs[j].placement_count; k++)
            components += body->jobs[j].placements[k].component_count;
    name_index_create(&r.sites, components, a);
    name_index_create(&r.names, body->job_count, a);
    for (size_t j = 0; j < body->job_count; j++)
        TRY(read_job(&r, &body->jobs[j], j, &jobs[j]));
    if (body->window_end_s <= body->window_start_s)
        invalid(err, "/window_end_s", ITEM_OUT_OF_BOUNDS, "not after window_start_s");
    if (body->cumulative_count > INSTANTS_MAX)
        invalid(err, "/cumulative_at_s", ITEM_TOO_LONG, "more than %d", INSTANTS_MAX);
    if (body->decision.algorithm && strcmp(body->decision.algorithm, "auto") != 0)
        invalid(err, "/algorithm", ITEM_UNKNOWN_ALGORITHM, "nothing is to be chosen");
    if (body->decision.option_count)
        invalid(err, "/options", ITEM_UNKNOWN_OPTION, "there are none");
    return err->code;
}

/* ---- answering ---- */

/* Of the jobs that were placed. */
static void fill_skews(const struct co_run_job *records, struct job_answer *jobs,
                       size_t count, struct evaluation_answer *out)
{
    double sum = 0, known = 0;

    for (size_t j = 0; j < count; j++) {
        size_t placed = records[j].placement_count;

        jobs[j].coallocation_skew =
            placed ? co_skew(&records[j].placements[placed - 1]) : (double)NAN;
        if (isnan(jobs[j].coallocation_skew))
            continue;
        sum += jobs[j].coallocation_skew;
        known++;
    }
    out->coallocation_skew = known > 0 ? sum / known : (double)NAN;
}

static void fill_lists(const struct evaluation_request *body,
                       const struct co_run_job *records, struct evaluation_answer *out,
                       struct arena *a)
{
    struct job_answer *jobs = NEW(a, struct job_answer, body->job_count);
    struct size_answer *sizes = NEW(a, struct size_answer, out->of.size_count);

    for (size_t j = 0; j < body->job_count; j++)
        jobs[j] = (struct job_answer){body->jobs[j].id, out->of.job[j], (double)NAN};
    fill_skews(records, jobs, body->job_count, out);
    for (size_t i = 0; i < out->of.size_count; i++) {
        const struct co_size_metrics *of = &out->of.sizes[i];

        sizes[i] = (struct size_answer){
            arena_printf(a, "%zux%zu", of->component_count, of->processors), *of,
            of->job_count};
    }
    out->jobs = jobs;
    out->row_count = body->job_count;
    out->sizes = sizes;
    out->size_count = out->of.size_count;
}

static void fill_cumulative(const struct evaluation_request *body,
                            const struct co_run_job *jobs, struct evaluation_answer *out,
                            struct arena *a)
{
    size_t count = body->cumulative_count;
    struct cumulative_answer *rows = NEW(a, struct cumulative_answer, count);
    size_t *by = NEW(a, size_t, count);

    co_cumulative(jobs, body->job_count, body->cumulative_at_s, count, by, a);
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct cumulative_answer){body->cumulative_at_s[i], by[i]};
    out->cumulative = rows;
    out->cumulative_count = count;
}

enum error_code evaluate_coallocation(struct request *rq, const void *in, void *out)
{
    const struct evaluation_request *body = in;
    struct evaluation_answer *answer = out;
    struct co_run_job *jobs = NEW(rq->arena, struct co_run_job, body->job_count);
    struct co_metrics_in records = {
        .jobs = jobs,
        .job_count = body->job_count,
        .capacity_processors = body->capacity_processors,
        .window_start_s = body->window_start_s,
        .window_end_s = body->window_end_s,
        .background_processor_s = body->background_processor_s,
    };

    TRY(decision_begin(rq, &body->decision, &answer->decision));
    TRY(read_jobs(body, jobs, rq->arena, rq->err));
    TRY(co_metrics(&records, &answer->of, rq->arena, rq->err));
    answer->job_count = answer->of.job_count;
    answer->placed_count = answer->of.placed_count;
    answer->started_count = answer->of.started_count;
    answer->finished_count = answer->of.finished_count;
    fill_lists(body, jobs, answer, rq->arena);
    fill_cumulative(body, jobs, answer, rq->arena);
    decision_end(rq, "coallocation", DECISION_FEASIBLE, &answer->decision);
    return OK;
}
