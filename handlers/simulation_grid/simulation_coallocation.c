/* simulation_coallocation.c - simulations of kind "coallocation": parallel jobs with
 * files on clusters with local jobs. */
#include "handlers/simulation_grid/simulation_coallocation.h"

#include "handlers/common/experiment.h"
#include "handlers/operations/policy_words.h"
#include "handlers/simulation/simulation_json.h"
#include "handlers/simulation/simulations.h"
#include "handlers/simulation_grid/simulation_coallocation_parts.h"
#include "models/base/plural.h"

#include <string.h>

enum { SIZES_MAX = 200 };

/* ---- the answer ---- */

static const char *const kinds[] = {"coallocation", NULL};

/* Figures of a run, in the order of the table below. */
#define RUN_FIGURES(X)                                  \
    CO_RUN_FIGURES(X)                                   \
    CO_SIM_FIGURES(X)                                   \
    X(started_count, "Jobs that started for good")      \
    X(finished_count, "Jobs that ended as they should") \
    CO_SIM_COUNTS(X)

enum {
#define X(name, doc) RUN_##name,
    RUN_FIGURES(X)
#undef X
        RUN_COUNT
};
enum {
#define X(name, doc) JOB_##name,
    CO_JOB_FIGURES(X)
#undef X
        JOB_COUNT
};
static const char *const figure_names[] = {
#define X(name, doc) #name,
    RUN_FIGURES(X) CO_JOB_FIGURES(X)
#undef X
        NULL,
};

struct run_figures {
    struct sim_summary figure[RUN_COUNT];
};

struct job_figures {
    struct sim_summary figure[JOB_COUNT];
};

/* Figures of jobs of one size: name, value in struct co_size_metrics, meaning. */
#define SIZE_FIGURES(X)                                                                \
    X(total_placement_s, mean.total_placement_s, "Time in the placement queues, mean") \
    X(placement_p25_s, placement_p25_s, "25th percentile, mean over the runs")         \
    X(placement_p50_s, placement_p50_s, "Median, likewise")                            \
    X(placement_p90_s, placement_p90_s, "90th percentile, likewise")                   \
    X(transfer_s, mean.transfer_s, "Transfer time, mean")                              \
    X(spread_ratio, mean.spread_ratio, "Execution sites over components, mean")        \
    X(co_allocated_ratio, mean.co_allocated_ratio, "Share on several sites")           \
    X(claim_tries, mean.claim_tries, "Tries to claim, mean")                           \
    X(failure_ratio, mean.failure_ratio, "Soft errors over runs, mean")
enum {
#define X(name, value, doc) SIZE_##name,
    SIZE_FIGURES(X)
#undef X
        SIZE_COUNT
};

struct size_row {
    const char *size;
    uint64_t component_count, processors, job_count;
    double figure[SIZE_COUNT];
};

struct job_row {
    const char *job_id;
    double submit_s, start_s, finish_s;
    uint64_t component_count;
    struct co_job_figures figures;
};

struct policy_answer {
    const char *policy;
    struct run_figures figures;
    struct job_figures job_means;
    const struct size_row *sizes;
    size_t size_count;
    const struct job_row *jobs;
    size_t row_count;
};

struct answer {
    int kind;
    struct decision_answer decision;
    const char *name;
    uint64_t job_count, runs_done;
    const struct policy_answer *results;
    size_t result_count;
};

#define FIGURE(T, index, name_, doc_)      \
    {.name = #name_,                       \
     .doc = doc_,                          \
     .type = JSON_TYPE_OBJECT,             \
     .offset = offsetof(T, figure[index]), \
     .of = &sim_summary_json},

static const struct json_field run_rows[] = {
#define X(name, doc) FIGURE(struct run_figures, RUN_##name, name, doc)
    RUN_FIGURES(X)
#undef X
        {0},
};
static const struct json_object run_json = {"CoallocationSimulationFigures",
                                            "Figures of a run",
                                            sizeof(struct run_figures), run_rows};

static const struct json_field mean_rows[] = {
#define X(name, doc) FIGURE(struct job_figures, JOB_##name, name, doc)
    CO_JOB_FIGURES(X)
#undef X
        {0},
};
static const struct json_object mean_json = {"CoallocationSimulationJobMeans",
                                             "Figures of jobs, means over those of a run",
                                             sizeof(struct job_figures), mean_rows};

#define T struct size_row
static const struct json_field size_rows[] = {
    JSON_TEXT(T, size, 0, "Components x processors of the largest"),
    JSON_INTEGER(T, component_count, 0, JSON_EXACT, 0, 0, "Components"),
    JSON_INTEGER(T, processors, 0, JSON_EXACT, 0, 0, "Processors of the largest"),
    JSON_INTEGER(T, job_count, 0, JSON_EXACT, 0, 0, "Jobs of that size, all runs"),
#define X(name_, value, doc_)             \
    {.name = #name_,                      \
     .doc = doc_ "; null: there is none", \
     .type = JSON_TYPE_NUMBER,            \
     .flags = JSON_MAY_BE_NULL,           \
     .offset = offsetof(T, figure[SIZE_##name_])},
    SIZE_FIGURES(X)
#undef X
        {0},
};
#undef T
static const struct json_object size_json = {
    "CoallocationSimulationSize", "Jobs of one size", sizeof(struct size_row), size_rows};

#define T struct job_row
static const struct json_field job_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_NUMBER(T, submit_s, 0, 0, 0, 0, "When it arrived"),
    JSON_NUMBER(T, start_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "When it started for good; null: never"),
    JSON_NUMBER(T, finish_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "When it ended; null: it did not"),
    JSON_INTEGER(T, component_count, 0, JSON_EXACT, 0, 0, "Components"),
#define X(name_, doc_)                            \
    {.name = #name_,                              \
     .doc = doc_ "; null: not known",             \
     .type = JSON_TYPE_NUMBER,                    \
     .offset = JSON_AT(T, figures.name_, double), \
     .flags = JSON_MAY_BE_NULL},
    CO_JOB_FIGURES(X)
#undef X
        {0},
};
#undef T
static const struct json_object job_json = {"CoallocationSimulationRow",
                                            "What became of a job",
                                            sizeof(struct job_row), job_rows};

#define T struct policy_answer
static const struct json_field policy_rows[] = {
    JSON_WORD_OF(T, policy, coallocation_words, 0, "The policy"),
    JSON_OBJECT(T, figures, struct run_figures, &run_json, 0, "Of the runs"),
    JSON_OBJECT(T, job_means, struct job_figures, &mean_json, 0, "Of their jobs"),
    JSON_LIST(T, sizes, size_count, struct size_row, &size_json, 0, 0,
              "By size of jobs, at most 200"),
    JSON_LIST(T, jobs, row_count, struct job_row, &job_json, 0, JSON_OPTIONAL,
              "per_job: the jobs of the first run, at most 10000"),
    {0},
};
#undef T
static const struct json_object policy_json = {"CoallocationSimulationResult",
                                               "What a policy achieved",
                                               sizeof(struct policy_answer), policy_rows};

#define T struct answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY("coallocation")),
    JSON_CHOICE(T, kind, kinds, 0, 0, "coallocation"),
    JSON_TEXT(T, name, JSON_OPTIONAL, "The name of the request"),
    JSON_INTEGER(T, job_count, 0, JSON_EXACT, 0, 0, "Jobs of a run"),
    JSON_INTEGER(T, runs_done, 0, JSON_EXACT, 0, 0,
                 "Runs that are complete for every policy"),
    JSON_LIST(T, results, result_count, struct policy_answer, &policy_json, 0, 0,
              "By policy, in the order of the request"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object coallocation_simulation_answer_json = {
    "CoallocationSimulationAnswer", "What the policies achieved", sizeof(struct answer),
    answer_rows};

/* ---- jobs by size, over the runs ---- */

/* Jobs of one size in a trial: what is kept of it besides its figures. */
struct trial_size {
    uint64_t component_count, processors, job_count;
    double figure[SIZE_COUNT];
};

/* Sums over the runs that have the figure, of jobs of one size. */
struct size_sums {
    struct size_row row;
    double count[SIZE_COUNT];
};

/* All runs of one policy. */
struct collected {
    struct size_sums sizes[SIZES_MAX];
    size_t size_count;
    struct trial_size trial[SIZES_MAX]; /* of the present run */
    size_t trial_count;
    size_t left_out_count; /* sizes that one run had beyond these; the largest number */
};

struct playing {
    struct request *rq;
    const struct co_sim_request *body;
    struct co_sim_setting setting;
    struct collected *of; /* each policy */
    struct policy_answer *results;
};

static struct size_sums *sums_of(struct collected *to, const struct trial_size *size)
{
    for (size_t i = 0; i < to->size_count; i++)
        if (to->sizes[i].row.component_count == size->component_count &&
            to->sizes[i].row.processors == size->processors)
            return &to->sizes[i];
    if (to->size_count == SIZES_MAX)
        return NULL;
    to->sizes[to->size_count].row.component_count = size->component_count;
    to->sizes[to->size_count].row.processors = size->processors;
    return &to->sizes[to->size_count++];
}

static void add_sizes(struct collected *to)
{
    for (size_t i = 0; i < to->trial_count; i++) {
        const struct trial_size *size = &to->trial[i];
        struct size_sums *sums = sums_of(to, size);

        if (!sums) {
            if (to->left_out_count < to->trial_count - i)
                to->left_out_count = to->trial_count - i;
            return;
        }
        sums->row.job_count += size->job_count;
        for (size_t k = 0; k < SIZE_COUNT; k++)
            if (!isnan(size->figure[k])) {
                sums->row.figure[k] += size->figure[k];
                sums->count[k]++;
            }
    }
}

/* The last trial of a run makes it complete: its sizes count. */
static void end_trial(struct playing *p, size_t label)
{
    for (size_t i = 0; label + 1 == p->setting.policy_count && i <= label; i++)
        add_sizes(&p->of[i]);
}

/* Of no more sizes than are told of. */
static void note_sizes(struct collected *to, const struct co_metrics *m)
{
    to->trial_count = m->size_count < SIZES_MAX ? m->size_count : SIZES_MAX;
    if (m->size_count - to->trial_count > to->left_out_count)
        to->left_out_count = m->size_count - to->trial_count;
    for (size_t i = 0; i < to->trial_count; i++) {
        const struct co_size_metrics *size = &m->sizes[i];

        to->trial[i] = (struct trial_size){
            size->component_count,
            size->processors,
            size->job_count,
            {
#define X(name, value, doc) size->value,
                SIZE_FIGURES(X)
#undef X
            },
        };
    }
}

static bool take_sizes(void *context, const struct experiment_trial *trial,
                       struct experiment_bytes rest)
{
    struct playing *p = context;
    struct collected *to = &p->of[trial->label];

    if (rest.length % sizeof(to->trial[0]) || rest.length > sizeof(to->trial))
        return false;
    to->trial_count = rest.length / sizeof(to->trial[0]);
    if (rest.length)
        memcpy(to->trial, rest.data, rest.length);
    end_trial(p, trial->label);
    return true;
}

/* ---- playing ---- */

static void collect(const struct co_sim_out *out, double *to)
{
    const struct co_metrics *m = &out->metrics;

#define X(name, doc) to[RUN_##name] = m->name;
    CO_RUN_FIGURES(X)
#undef X
#define X(name, doc) to[RUN_##name] = (double)out->name;
    CO_SIM_FIGURES(X)
    CO_SIM_COUNTS(X)
#undef X
    to[RUN_started_count] = (double)m->started_count;
    to[RUN_finished_count] = (double)m->finished_count;
#define X(name, doc) to[RUN_COUNT + JOB_##name] = m->mean.name;
    CO_JOB_FIGURES(X)
#undef X
}

static void list_jobs(struct playing *p, const struct co_sim_out *out,
                      struct policy_answer *to)
{
    size_t count = p->setting.in.job_count;
    struct job_row *rows;

    if (count > CO_SIM_ROWS_MAX)
        count = CO_SIM_ROWS_MAX;
    rows = NEW(p->rq->arena, struct job_row, count);
    for (size_t j = 0; j < count; j++) {
        const struct co_sim_job *job = &p->setting.in.jobs[j];

        rows[j] = (struct job_row){
            .job_id = arena_printf(p->rq->arena, "%s", job->id),
            .submit_s = out->records[j].submit_s,
            .start_s = out->records[j].start_s,
            .finish_s = out->records[j].finish_s,
            .component_count = job->component_count,
            .figures = out->metrics.job[j],
        };
    }
    to->jobs = rows;
    to->row_count = count;
}

/* One policy in one run, where all meet the same jobs and local jobs. */
static enum error_code play_trial(void *context, struct experiment_trial *trial)
{
    struct playing *p = context;
    struct co_sim_setting *s = &p->setting;
    struct collected *to = &p->of[trial->label];
    struct co_sim_out out;

    s->in.seed = s->draw.seed = trial->seed;
    s->in.policy = s->policies[trial->label];
    s->in.param = s->param[trial->label];
    s->in.budget = trial->budget;
    s->in.scratch = trial->scratch;
    if (!p->body->job_request_count)
        TRY(co_workload_draw(&s->draw, &s->in.jobs, &s->in.job_count, trial->arena));
    TRY(co_simulate(&s->in, &out, trial->arena, p->rq->err));
    trial->is_cut = out.is_cut;
    if (out.is_cut)
        return OK;
    collect(&out, trial->figures);
    note_sizes(to, &out.metrics);
    end_trial(p, trial->label);
    if (p->body->per_job && trial->run == 0)
        list_jobs(p, &out, &p->results[trial->label]);
    trial->progress.events = 1;
    trial->rest =
        (struct experiment_bytes){to->trial, to->trial_count * sizeof(to->trial[0])};
    return OK;
}

static void fill_sizes(struct playing *p, const struct collected *from,
                       struct policy_answer *to)
{
    struct size_row *rows = NEW(p->rq->arena, struct size_row, from->size_count);

    for (size_t i = 0; i < from->size_count; i++) {
        const struct size_sums *sums = &from->sizes[i];

        rows[i] = sums->row;
        for (size_t k = 0; k < SIZE_COUNT; k++)
            rows[i].figure[k] =
                sums->count[k] > 0 ? rows[i].figure[k] / sums->count[k] : (double)NAN;
        rows[i].size = arena_printf(p->rq->arena, "%llux%llu",
                                    (unsigned long long)rows[i].component_count,
                                    (unsigned long long)rows[i].processors);
    }
    to->sizes = rows;
    to->size_count = from->size_count;
}

/* What the lists of the answer do not have. */
static enum error_code warn_truncated(const struct playing *p, struct answer *out)
{
    size_t jobs = p->body->per_job ? out->job_count : 0, sizes = 0;

    for (size_t i = 0; i < out->result_count; i++)
        if (p->of[i].left_out_count > sizes)
            sizes = p->of[i].left_out_count;
    jobs = jobs > CO_SIM_ROWS_MAX ? jobs - CO_SIM_ROWS_MAX : 0;
    if (!jobs && !sizes)
        return OK;
    return decision_warn(p->rq, &out->decision,
                         "truncated: of each policy the last %s and at least %s of jobs "
                         "are not listed, as there are more than %d and %d "
                         "of them; the other figures are of all",
                         counted(jobs, "job").text, counted(sizes, "size").text,
                         CO_SIM_ROWS_MAX, SIZES_MAX);
}

static void fill_answer(struct playing *p, const struct experiment *played,
                        struct answer *out)
{
    for (size_t i = 0; i < p->setting.policy_count; i++) {
        struct policy_answer *to = &p->results[i];

        to->policy = p->setting.policies[i]->name;
        for (size_t k = 0; k < RUN_COUNT; k++)
            to->figures.figure[k] = experiment_summary(played, i, k);
        for (size_t k = 0; k < JOB_COUNT; k++)
            to->job_means.figure[k] = experiment_summary(played, i, RUN_COUNT + k);
        fill_sizes(p, &p->of[i], to);
    }
    out->name = p->body->name;
    out->job_count = p->body->job_request_count ? p->setting.in.job_count
                                                : co_workload_job_count(&p->setting.draw);
    out->runs_done = played->runs_done;
    out->results = p->results;
    out->result_count = played->runs_done ? p->setting.policy_count : 0;
}

enum error_code simulate_coallocation(struct request *rq, const void *in, void *out)
{
    const struct co_sim_request *body = in;
    struct answer *answer = out;
    struct playing *p = NEW(rq->arena, struct playing, 1);
    struct experiment_in experiment = {.figure_names = figure_names,
                                       .run_count = body->runs,
                                       .first_run_again = body->per_job,
                                       .seed = body->decision.seed,
                                       .seed_scheme = EXPERIMENT_SEEDS_SEQUENCE,
                                       .play = play_trial,
                                       .take = take_sizes,
                                       .context = p};
    struct experiment played;

    TRY(simulation_begin(rq, &body->decision, &answer->decision));
    p->rq = rq;
    p->body = body;
    TRY(co_sim_read(body, &p->setting, rq->arena, rq->err));
    if (request_is_async(rq))
        return simulation_enqueue(rq, "coallocation", body->name);
    p->of = NEW(rq->arena, struct collected, p->setting.policy_count);
    p->results = NEW(rq->arena, struct policy_answer, p->setting.policy_count);
    experiment.label_count = p->setting.policy_count;
    TRY(simulation_experiment(rq, &experiment, &played));
    TRY(simulation_warn_cut(rq, &played, "{run was|runs were} complete",
                            &answer->decision));
    fill_answer(p, &played, answer);
    TRY(warn_truncated(p, answer));
    decision_end(rq, "coallocation", played.is_cut ? DECISION_CUT : DECISION_FEASIBLE,
                 &answer->decision);
    return OK;
}
