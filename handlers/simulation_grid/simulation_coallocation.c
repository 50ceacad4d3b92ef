/* simulation_coallocation.c - simulations of kind "coallocation": parallel jobs with
 * files on clusters with local jobs. */
#include "handlers/simulation_grid/simulation_coallocation.h"

#include "algorithms/simulation/simulation.h"
#include "handlers/simulation/simulation_json.h"
#include "handlers/simulation/simulations.h"
#include "handlers/simulation_grid/simulation_coallocation_parts.h"
#include "service/store_simulation.h"

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
    JSON_TEXT(T, policy, 0, "The policy"),
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
    DECISION_ANSWER_ROWS(T),
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

/* ---- figures over the runs ---- */

/* Sums over the runs that have the figure, of jobs of one size. */
struct size_sums {
    struct size_row row;
    double count[SIZE_COUNT];
};

/* All runs of one policy. */
struct collected {
    double *run[RUN_COUNT]; /* [run] */
    double *job[JOB_COUNT];
    struct size_sums sizes[SIZES_MAX];
    size_t size_count;
};

struct playing {
    struct request *rq;
    const struct co_sim_request *body;
    struct co_sim_setting setting;
    struct collected *of; /* each policy */
    struct policy_answer *results;
    struct arena *run;
    size_t runs_done;
    bool is_cut;
};

static void make_lists(struct playing *p, double **lists, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        lists[k] = NEW(p->rq->arena, double, p->body->runs);
    }
}

static void begin(struct playing *p)
{
    struct arena *a = p->rq->arena;
    size_t count = p->setting.policy_count;

    p->of = NEW(a, struct collected, count);
    p->results = NEW(a, struct policy_answer, count);
    for (size_t i = 0; i < count; i++) {
        p->results[i].policy = p->setting.policies[i]->name;
        make_lists(p, p->of[i].run, RUN_COUNT);
        make_lists(p, p->of[i].job, JOB_COUNT);
    }
}

static struct size_sums *sums_of(struct collected *to, const struct co_size_metrics *m)
{
    for (size_t i = 0; i < to->size_count; i++)
        if (to->sizes[i].row.component_count == m->component_count &&
            to->sizes[i].row.processors == m->processors)
            return &to->sizes[i];
    if (to->size_count == SIZES_MAX)
        return NULL;
    to->sizes[to->size_count].row.component_count = m->component_count;
    to->sizes[to->size_count].row.processors = m->processors;
    return &to->sizes[to->size_count++];
}

static void collect_sizes(struct collected *to, const struct co_metrics *m)
{
    for (size_t i = 0; i < m->size_count; i++) {
        const struct co_size_metrics *size = &m->sizes[i];
        struct size_sums *sums = sums_of(to, size);
        const double values[SIZE_COUNT] = {
#define X(name, value, doc) size->value,
            SIZE_FIGURES(X)
#undef X
        };

        if (!sums)
            return;
        sums->row.job_count += size->job_count;
        for (size_t k = 0; k < SIZE_COUNT; k++)
            if (!isnan(values[k])) {
                sums->row.figure[k] += values[k];
                sums->count[k]++;
            }
    }
}

static void collect(struct collected *to, const struct co_sim_out *out, size_t run)
{
    const struct co_metrics *m = &out->metrics;

#define X(name, doc) to->run[RUN_##name][run] = m->name;
    CO_RUN_FIGURES(X)
#undef X
#define X(name, doc) to->run[RUN_##name][run] = (double)out->name;
    CO_SIM_FIGURES(X)
    CO_SIM_COUNTS(X)
#undef X
    to->run[RUN_started_count][run] = (double)m->started_count;
    to->run[RUN_finished_count][run] = (double)m->finished_count;
#define X(name, doc) to->job[JOB_##name][run] = m->mean.name;
    CO_JOB_FIGURES(X)
#undef X
    collect_sizes(to, m);
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

/* ---- playing ---- */

static void note_progress(struct playing *p, size_t policy)
{
    size_t all = (size_t)p->body->runs * p->setting.policy_count;
    size_t done = p->runs_done * p->setting.policy_count + policy;

    if (p->rq->progress)
        progress_write(
            p->rq->progress,
            (struct store_progress){(double)done / (double)all, done, p->runs_done});
}

/* One run under every policy; they meet the same jobs and local jobs. */
static enum error_code play_run(struct playing *p)
{
    struct co_sim_setting *s = &p->setting;
    uint64_t seed = p->body->decision.seed + p->runs_done;
    struct error *err = p->rq->err;

    s->in.seed = s->draw.seed = seed;
    for (size_t i = 0; i < s->policy_count; i++) {
        struct co_sim_out out;

        if (!p->body->job_request_count)
            TRY(co_workload_draw(&s->draw, &s->in.jobs, &s->in.job_count, p->run));
        s->in.policy = s->policies[i];
        s->in.param = s->param[i];
        TRY(co_simulate(&s->in, &out, p->run, err));
        if (out.is_cut) {
            p->is_cut = true;
            return OK;
        }
        collect(&p->of[i], &out, p->runs_done);
        if (p->body->per_job && p->runs_done == 0)
            list_jobs(p, &out, &p->results[i]);
        note_progress(p, i + 1);
        arena_reset(p->run);
    }
    p->runs_done++;
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

static void fill_answer(struct playing *p, struct answer *out)
{
    for (size_t i = 0; i < p->setting.policy_count; i++) {
        struct policy_answer *to = &p->results[i];

        for (size_t k = 0; k < RUN_COUNT; k++)
            to->figures.figure[k] = sim_summarise(p->of[i].run[k], p->runs_done);
        for (size_t k = 0; k < JOB_COUNT; k++)
            to->job_means.figure[k] = sim_summarise(p->of[i].job[k], p->runs_done);
        fill_sizes(p, &p->of[i], to);
    }
    out->name = p->body->name;
    out->job_count = p->setting.in.job_count;
    out->runs_done = p->runs_done;
    out->results = p->results;
    out->result_count = p->runs_done ? p->setting.policy_count : 0;
    decision_end(p->rq, "coallocation", p->is_cut ? DECISION_CUT : DECISION_FEASIBLE,
                 &out->decision);
}

static enum error_code play(struct playing *p, struct answer *out)
{
    begin(p);
    while (p->runs_done < p->body->runs && !p->is_cut)
        TRY(play_run(p));
    fill_answer(p, out);
    return OK;
}

enum error_code simulate_coallocation(struct request *rq, const void *in, void *out)
{
    const struct co_sim_request *body = in;
    struct answer *answer = out;
    struct playing *p = NEW(rq->arena, struct playing, 1);
    enum error_code code;

    TRY(simulation_begin(rq, &body->decision, &answer->decision));
    p->rq = rq;
    p->body = body;
    TRY(co_sim_read(body, &p->setting, rq->arena, rq->err));
    if (request_is_async(rq))
        return simulation_enqueue(rq, body->name);
    p->setting.in.budget = &rq->budget;
    p->run = arena_create_beside(rq->arena, arena_cap_bytes(rq->arena));
    p->setting.in.scratch = arena_create_beside(rq->arena, arena_cap_bytes(rq->arena));
    code = play(p, answer);
    arena_close(p->run);
    arena_close(p->setting.in.scratch);
    return code;
}
