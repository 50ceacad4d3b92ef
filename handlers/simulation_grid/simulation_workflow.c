/* simulation_workflow.c - simulations of kind "workflow": workflows on a grid under load,
 * scheduled in rounds. */
#include "handlers/simulation_grid/simulation_workflow.h"

#include "handlers/common/experiment.h"
#include "handlers/operations/policy_words.h"
#include "handlers/simulation/simulation_json.h"
#include "handlers/simulation/simulations.h"
#include "handlers/simulation_grid/simulation_workflow_parts.h"
#include "models/base/plural.h"

/* ---- the answer ---- */

static const char *const kinds[] = {"workflow", NULL};

/* Figures of a run, in the order of the table below. */
#define RUN_FIGURES(X)                                                                  \
    X(makespan_reduction_ratio,                                                         \
      "How much less mean_makespan_s is than that of the first policy in the same run") \
    WORKFLOW_SIM_FIGURES(X)                                                             \
    WORKFLOW_SIM_COUNTS(X)

enum {
#define X(name, doc) RUN_##name,
    RUN_FIGURES(X)
#undef X
        RUN_COUNT
};

struct run_figures {
    struct sim_summary figure[RUN_COUNT];
};

struct task_row {
    const char *task_id, *resource_id;
    double start_s, finish_s, length_ref_s, work_done_ref_s;
    uint64_t move_count;
};

struct workflow_row {
    const char *workflow_id;
    double arrival_s, finish_s, makespan_s;
    uint64_t done_count;
    const struct task_row *tasks;
    size_t task_count;
};

struct label_answer {
    const char *label, *algorithm;
    struct run_figures figures;
    const struct workflow_row *workflows;
    size_t workflow_count;
};

struct answer {
    int kind;
    struct decision_answer decision;
    const char *name;
    uint64_t runs_done;
    const struct label_answer *results;
    size_t result_count;
};

static const struct json_field run_rows[] = {
#define X(name_, doc_)                                            \
    {.name = #name_,                                              \
     .doc = doc_,                                                 \
     .type = JSON_TYPE_OBJECT,                                    \
     .offset = offsetof(struct run_figures, figure[RUN_##name_]), \
     .of = &sim_summary_json},
    RUN_FIGURES(X)
#undef X
        {0},
};
static const struct json_object run_json = {"WorkflowSimulationFigures",
                                            "Figures of a run",
                                            sizeof(struct run_figures), run_rows};

#define T struct task_row
static const struct json_field task_rows[] = {
    JSON_TEXT(T, task_id, 0, "The task"),
    JSON_TEXT(T, resource_id, JSON_MAY_BE_NULL, "Where it was last; null: nowhere"),
    JSON_NUMBER(T, start_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "When it was first assigned; null: never"),
    JSON_NUMBER(T, finish_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "End of its work; null: it did not end"),
    JSON_NUMBER(T, length_ref_s, 0, 0, 0, 0, "Its true length, at speed 1"),
    JSON_NUMBER(T, work_done_ref_s, 0, 0, 0, 0, "Work done of it"),
    JSON_INTEGER(T, move_count, 0, JSON_EXACT, 0, 0, "How often it was checkpointed"),
    {0},
};
#undef T
static const struct json_object task_json = {"WorkflowSimulationTask",
                                             "What became of a task",
                                             sizeof(struct task_row), task_rows};

#define T struct workflow_row
static const struct json_field workflow_rows[] = {
    JSON_TEXT(T, workflow_id, 0, "The workflow"),
    JSON_NUMBER(T, arrival_s, 0, 0, 0, 0, "When it came"),
    JSON_NUMBER(T, finish_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "When its last output was there; null: it did not finish"),
    JSON_NUMBER(T, makespan_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Between the two; null: it did not finish"),
    JSON_INTEGER(T, done_count, 0, JSON_EXACT, 0, 0, "Tasks that finished"),
    JSON_LIST(T, tasks, task_count, struct task_row, &task_json, 0, 0, "Its tasks"),
    {0},
};
#undef T
static const struct json_object workflow_row_json = {
    "WorkflowSimulationRow", "What became of a workflow", sizeof(struct workflow_row),
    workflow_rows};

#define T struct label_answer
static const struct json_field label_rows[] = {
    JSON_TEXT(T, label, 0, "The policy's label"),
    JSON_WORD_OF(T, algorithm, workflow_round_words, 0, "The policy"),
    JSON_OBJECT(T, figures, struct run_figures, &run_json, 0, "Of the runs"),
    JSON_LIST(T, workflows, workflow_count, struct workflow_row, &workflow_row_json, 0,
              JSON_OPTIONAL,
              "per_workflow: the workflows of the first run, at most 10000"),
    {0},
};
#undef T
static const struct json_object label_json = {"WorkflowSimulationResult",
                                              "What a policy achieved",
                                              sizeof(struct label_answer), label_rows};

#define T struct answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY("workflow")),
    JSON_CHOICE(T, kind, kinds, 0, 0, "workflow"),
    JSON_TEXT(T, name, JSON_OPTIONAL, "The name of the request"),
    JSON_INTEGER(T, runs_done, 0, JSON_EXACT, 0, 0,
                 "Runs that are complete for every policy"),
    JSON_LIST(T, results, result_count, struct label_answer, &label_json, 0, 0,
              "By policy, in the order of the request"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object workflow_simulation_answer_json = {
    "WorkflowSimulationAnswer", "What the policies achieved", sizeof(struct answer),
    answer_rows};

/* ---- rows of the first run ---- */

static const char *name_of(const char *id, const char *kind, size_t number,
                           struct arena *a)
{
    return id ? id : arena_printf(a, "%s%zu", kind, number);
}

static void list_tasks(const struct workflow_sim_in *in, size_t job,
                       const struct workflow_sim_out *out, struct workflow_row *to,
                       struct arena *a)
{
    const struct workflow_sim_job *g = &in->jobs[job];
    struct task_row *rows = NEW(a, struct task_row, g->task_count);

    for (size_t t = 0; t < g->task_count; t++) {
        const struct workflow_sim_task_row *row = &out->jobs[job].tasks[t];
        size_t on = row->resource;

        rows[t] = (struct task_row){
            .task_id = name_of(g->tasks[t].id, "t", t, a),
            .resource_id = on == WORKFLOW_SIM_NONE
                               ? NULL
                               : name_of(in->grid.resources[on].id, "r", on, a),
            .start_s = row->start_s,
            .finish_s = row->finish_s,
            .length_ref_s = g->tasks[t].evolution.limit_ref_s,
            .work_done_ref_s = row->work_ref_s,
            .move_count = row->moves,
        };
    }
    to->tasks = rows;
    to->task_count = g->task_count;
}

/* They outlive the run: all is copied. */
static void list_workflows(const struct workflow_sim_in *in,
                           const struct workflow_sim_out *out, struct label_answer *to,
                           struct arena *a)
{
    size_t count = in->job_count < WF_SIM_ROWS_MAX ? in->job_count : WF_SIM_ROWS_MAX;
    struct workflow_row *rows = NEW(a, struct workflow_row, count);

    for (size_t j = 0; j < count; j++) {
        rows[j] = (struct workflow_row){
            .workflow_id = name_of(in->jobs[j].id, "w", j, a),
            .arrival_s = in->jobs[j].arrival_s,
            .finish_s = out->jobs[j].finish_s,
            .makespan_s = out->jobs[j].finish_s - in->jobs[j].arrival_s,
            .done_count = out->jobs[j].done_count,
        };
        list_tasks(in, j, out, &rows[j], a);
    }
    to->workflows = rows;
    to->workflow_count = count;
}

/* ---- playing ---- */

static const char *const figure_names[] = {
#define X(name, doc) #name,
    RUN_FIGURES(X)
#undef X
        NULL,
};

struct playing {
    struct request *rq;
    const struct wf_sim_request *body;
    struct wf_sim_setting setting;
    struct label_answer *results;
    size_t left_out_count; /* workflows of the first run that are not listed */
};

static void collect(const struct workflow_sim_out *out, struct experiment_trial *trial)
{
    double *to = trial->figures;

#define X(name, doc) to[RUN_##name] = (double)out->name;
    WORKFLOW_SIM_FIGURES(X)
    WORKFLOW_SIM_COUNTS(X)
#undef X
    to[RUN_makespan_reduction_ratio] =
        1 - out->mean_makespan_s / trial->run_figures[RUN_mean_makespan_s];
    trial->progress.events = out->event_count;
}

/* One policy in one run, where all meet the same grid, loads and workflows. */
static enum error_code play_trial(void *context, struct experiment_trial *trial)
{
    struct playing *p = context;
    struct workflow_sim_in in = {
        .policy = p->setting.labels[trial->label].policy,
        .budget = trial->budget,
        .time_ratio = &trial->progress.time_ratio,
        .scratch = trial->scratch,
    };
    struct workflow_sim_out out;

    in.policy.param = p->setting.labels[trial->label].param;
    TRY(wf_sim_draw(&p->setting, trial->seed, &in, trial->arena, p->rq->err));
    TRY(workflow_simulate(&in, &out, trial->arena, p->rq->err));
    trial->is_cut = out.is_cut;
    if (out.is_cut)
        return OK;
    collect(&out, trial);
    if (p->body->per_workflow && trial->run == 0) {
        list_workflows(&in, &out, &p->results[trial->label], p->rq->arena);
        p->left_out_count =
            in.job_count > WF_SIM_ROWS_MAX ? in.job_count - WF_SIM_ROWS_MAX : 0;
    }
    return OK;
}

static void fill_answer(struct playing *p, const struct experiment *played,
                        struct answer *out)
{
    for (size_t i = 0; i < p->setting.label_count; i++) {
        p->results[i].label = p->setting.labels[i].label;
        p->results[i].algorithm = p->setting.labels[i].policy.policy->name;
        for (size_t k = 0; k < RUN_COUNT; k++)
            p->results[i].figures.figure[k] = experiment_summary(played, i, k);
    }
    out->name = p->body->name;
    out->runs_done = played->runs_done;
    out->results = p->results;
    out->result_count = played->runs_done ? p->setting.label_count : 0;
    decision_end(p->rq, "workflow", played->is_cut ? DECISION_CUT : DECISION_FEASIBLE,
                 &out->decision);
}

enum error_code simulate_workflows(struct request *rq, const void *in, void *out)
{
    const struct wf_sim_request *body = in;
    struct answer *answer = out;
    struct playing *p = NEW(rq->arena, struct playing, 1);
    struct experiment_in experiment = {.figure_names = figure_names,
                                       .run_count = body->runs,
                                       .first_run_again = body->per_workflow,
                                       .seed = body->decision.seed,
                                       .seed_scheme = EXPERIMENT_SEEDS_SEQUENCE,
                                       .play = play_trial,
                                       .context = p};
    struct experiment played;

    TRY(simulation_begin(rq, &body->decision, &answer->decision));
    p->rq = rq;
    p->body = body;
    TRY(wf_sim_read(body, &p->setting, rq->arena, rq->err));
    if (request_is_async(rq))
        return simulation_enqueue(rq, "workflow", body->name);
    p->results = NEW(rq->arena, struct label_answer, p->setting.label_count);
    experiment.label_count = p->setting.label_count;
    TRY(simulation_experiment(rq, &experiment, &played));
    TRY(simulation_warn_cut(rq, &played, "{run was|runs were} complete",
                            &answer->decision));
    if (p->left_out_count)
        TRY(decision_warn(rq, &answer->decision,
                          "truncated: /per_workflow: of each policy the last %s of the "
                          "first run %s not listed, as there are more than %d; the "
                          "other figures are of all",
                          counted(p->left_out_count, "workflow").text,
                          plural(p->left_out_count, "is", "are"), WF_SIM_ROWS_MAX));
    fill_answer(p, &played, answer);
    return OK;
}
