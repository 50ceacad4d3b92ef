/* simulation_workflow.c - simulations of kind "workflow": workflows on a grid under load,
 * scheduled in rounds. */
#include "handlers/simulation_grid/simulation_workflow.h"

#include "algorithms/simulation/simulation.h"
#include "handlers/simulation/simulation_json.h"
#include "handlers/simulation/simulations.h"
#include "handlers/simulation_grid/simulation_workflow_parts.h"
#include "models/base/names.h"
#include "service/store_simulation.h"

#include <string.h>

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
    JSON_TEXT(T, algorithm, 0, "The policy"),
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
    DECISION_ANSWER_ROWS(T),
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

struct playing {
    struct request *rq;
    const struct wf_sim_request *body;
    struct wf_sim_setting setting;
    double *values[WF_SIM_POLICIES_MAX][RUN_COUNT]; /* [run] */
    struct label_answer *results;
    struct arena *run, *scratch;
    size_t runs_done, games_done; /* a game: one policy in one run */
    size_t events_done;
    double time_ratio; /* of the present game */
    bool is_cut;
};

static void begin(struct playing *p)
{
    struct arena *a = p->rq->arena;

    p->results = NEW(a, struct label_answer, p->setting.label_count);
    for (size_t i = 0; i < p->setting.label_count; i++) {
        p->results[i].label = p->setting.labels[i].label;
        p->results[i].algorithm = p->setting.labels[i].policy.policy->name;
        for (size_t k = 0; k < RUN_COUNT; k++) {
            p->values[i][k] = NEW(a, double, p->body->runs);
        }
    }
}

static void note_progress(const struct playing *p)
{
    double games = (double)((size_t)p->body->runs * p->setting.label_count);

    if (p->rq->progress)
        progress_write(p->rq->progress,
                       (struct store_progress){
                           fmin(1, ((double)p->games_done + p->time_ratio) / games),
                           p->events_done, p->runs_done});
}

/* The request's clock, asked by the simulator; a good moment to say how far it is. */
static double time_used(void *context)
{
    const struct playing *p = context;

    note_progress(p);
    return budget_used(&p->rq->budget);
}

static void collect(struct playing *p, size_t label, const struct workflow_sim_out *out)
{
    double *const *to = p->values[label];
    size_t run = p->runs_done;

#define X(name, doc) to[RUN_##name][run] = (double)out->name;
    WORKFLOW_SIM_FIGURES(X)
    WORKFLOW_SIM_COUNTS(X)
#undef X
    to[RUN_makespan_reduction_ratio][run] =
        1 - out->mean_makespan_s / p->values[0][RUN_mean_makespan_s][run];
}

/* A game that is complete, as bytes for who takes the simulation up: of another version
 * it is played again, and so is one whose tasks are listed. */
struct kept_game {
    uint64_t mark, event_count;
    double value[RUN_COUNT];
};

static uint64_t mark(void)
{
    return hash_fnv1a("workflow " GRIDPLAN_VERSION) + sizeof(struct kept_game);
}

static bool is_listed(const struct playing *p)
{
    return p->body->per_workflow && p->runs_done == 0;
}

static void end_game(struct playing *p, size_t event_count)
{
    p->time_ratio = 0;
    p->games_done++;
    p->events_done += event_count;
}

/* As an earlier owner of the simulation has played it. */
static bool find_game(struct playing *p, size_t label)
{
    const struct store_part *part = store_parts_find(p->rq->parts, p->games_done);
    struct kept_game game;

    if (!part || part->content.length != sizeof(game) || is_listed(p))
        return false;
    memcpy(&game, part->content.data, sizeof(game));
    if (game.mark != mark())
        return false;
    for (size_t k = 0; k < RUN_COUNT; k++)
        p->values[label][k][p->runs_done] = game.value[k];
    end_game(p, (size_t)game.event_count);
    return true;
}

/* For a later one. */
static void keep_game(const struct playing *p, size_t label, size_t event_count)
{
    struct kept_game *game;
    struct store_part part = {.number = p->games_done};

    if (!p->rq->parts || is_listed(p))
        return;
    game = NEW(p->rq->arena, struct kept_game, 1);
    game->mark = mark();
    game->event_count = event_count;
    for (size_t k = 0; k < RUN_COUNT; k++)
        game->value[k] = p->values[label][k][p->runs_done];
    part.content = (struct db_bytes){(const unsigned char *)game, sizeof(*game)};
    p->rq->parts->keep(p->rq->parts->context, &part);
}

static enum error_code play_game(struct playing *p, size_t label)
{
    struct budget budget = {.used = time_used, .context = p};
    struct workflow_sim_in in = {
        .policy = p->setting.labels[label].policy,
        .budget = &budget,
        .time_ratio = &p->time_ratio,
        .scratch = p->scratch,
    };
    struct workflow_sim_out out;

    if (find_game(p, label))
        return OK;
    in.policy.param = p->setting.labels[label].param;
    TRY(wf_sim_draw(&p->setting, p->body->decision.seed + p->runs_done, &in, p->run,
                    p->rq->err));
    TRY(workflow_simulate(&in, &out, p->run, p->rq->err));
    p->is_cut = out.is_cut;
    if (p->is_cut)
        return OK;
    collect(p, label, &out);
    if (p->body->per_workflow && p->runs_done == 0)
        list_workflows(&in, &out, &p->results[label], p->rq->arena);
    keep_game(p, label, out.event_count);
    end_game(p, out.event_count);
    arena_reset(p->run);
    return OK;
}

/* One run under every policy; they meet the same grid, loads and workflows. */
static enum error_code play_run(struct playing *p)
{
    for (size_t i = 0; i < p->setting.label_count && !p->is_cut; i++)
        TRY(play_game(p, i));
    p->runs_done += !p->is_cut;
    note_progress(p);
    return OK;
}

static enum error_code play(struct playing *p, struct answer *out)
{
    begin(p);
    while (p->runs_done < p->body->runs && !p->is_cut)
        TRY(play_run(p));
    for (size_t i = 0; i < p->setting.label_count; i++)
        for (size_t k = 0; k < RUN_COUNT; k++)
            p->results[i].figures.figure[k] =
                sim_summarise(p->values[i][k], p->runs_done);
    out->name = p->body->name;
    out->runs_done = p->runs_done;
    out->results = p->results;
    out->result_count = p->runs_done ? p->setting.label_count : 0;
    decision_end(p->rq, "workflow", p->is_cut ? DECISION_CUT : DECISION_FEASIBLE,
                 &out->decision);
    return OK;
}

enum error_code simulate_workflows(struct request *rq, const void *in, void *out)
{
    const struct wf_sim_request *body = in;
    struct answer *answer = out;
    struct playing *p = NEW(rq->arena, struct playing, 1);
    enum error_code code;

    TRY(simulation_begin(rq, &body->decision, &answer->decision));
    p->rq = rq;
    p->body = body;
    TRY(wf_sim_read(body, &p->setting, rq->arena, rq->err));
    if (request_is_async(rq))
        return simulation_enqueue(rq, body->name);
    p->run = arena_create_beside(rq->arena, arena_cap_bytes(rq->arena));
    p->scratch = arena_create_beside(rq->arena, arena_cap_bytes(rq->arena));
    code = play(p, answer);
    arena_close(p->run);
    arena_close(p->scratch);
    return code;
}
