/* simulation_multi_phase.c - simulations of kind "multi_phase": an application of
 * several phases on clusters whose loads change. */
#include "handlers/parallel/simulation_multi_phase.h"

#include "algorithms/plan/plan_simulation.h"
#include "handlers/common/decision.h"
#include "handlers/common/experiment.h"
#include "handlers/operations/policy_words.h"
#include "handlers/simulation/simulations.h"
#include "handlers/sites/sites_json.h"
#include "models/base/names.h"
#include "models/base/pointer.h"

#include <string.h>

enum {
    POLICIES_MAX = 32,
    SITES_AT_MOST = 100,
    MACHINES_AT_MOST = 1024,
    RUNS_MAX = 10000,
    CHOICES_MAX = 100
};

/* ---- the request ---- */

struct multi_phase_phase {
    const struct site_term *terms;
    size_t term_count;
};

struct multi_phase_policy {
    int mode;
    const char *algorithm;
};

struct multi_phase_grid {
    uint64_t sites_min, sites_max, machines_min, machines_max;
    const double *cpu_scaling_factors;
    size_t factor_count;
    const double *link_capacities_mbps;
    size_t capacity_count;
    double link_share_min, link_share_max, cpu_min, cpu_max;
    double intra_site_cost_s, inter_site_cost_s;
};

struct multi_phase_simulation {
    int kind; /* only "multi_phase" */
    struct decision_request decision;
    const char *name;
    int application;
    uint64_t merged_phases;
    const struct multi_phase_phase *phases;
    size_t phase_count;
    struct multi_phase_grid grid;
    int loads_change;
    const struct multi_phase_policy *policies;
    size_t policy_count; /* 0: a choice of them */
    uint64_t runs;
};

static const char *const kinds[] = {"multi_phase", NULL};

#define T struct multi_phase_phase
static const struct json_field phase_rows[] = {
    JSON_LIST(T, terms, term_count, struct site_term, &site_term_json, SITE_TERMS_MAX,
              JSON_REQUIRED, "The model of its run time: the sum of these",
              JSON_LEAST(1)),
    {0},
};
#undef T
static const struct json_object phase_json = {
    "MultiPhaseSimulationPhase", "A phase", sizeof(struct multi_phase_phase), phase_rows};

#define T struct multi_phase_policy
static const struct json_field policy_rows[] = {
    JSON_CHOICE(T, mode, plan_sim_mode_names, 2, JSON_REQUIRED,
                "single: one schedule for ever; fixed: the plan of the start; remade: a "
                "new plan at each marker; no_model: all machines of the first site"),
    JSON_TEXT(T, algorithm, JSON_NULLABLE,
              "Algorithm of POST /v1/rescheduling-plans, for fixed and remade; default "
              "incremental"),
    {0},
};
#undef T
static const struct json_object policy_json = {
    "MultiPhaseSimulationPolicy", "A way of planning", sizeof(struct multi_phase_policy),
    policy_rows};

#define T struct multi_phase_grid
static const struct json_field grid_rows[] = {
    JSON_INTEGER(T, sites_min, 1, SITES_AT_MOST, 5, 0, "Sites of a run; default 5"),
    JSON_INTEGER(T, sites_max, 1, SITES_AT_MOST, 12, 0, "At most; default 12"),
    JSON_INTEGER(T, machines_min, 1, MACHINES_AT_MOST, 8, 0,
                 "Machines of a site; default 8"),
    JSON_INTEGER(T, machines_max, 1, MACHINES_AT_MOST, 64, 0, "At most; default 64"),
    {.name = "cpu_scaling_factors",
     .doc = "One is drawn for each site: computation takes so many times what the model "
            "says; default 0.6, 0.8, 1, 1.2, 1.4",
     .type = JSON_TYPE_NUMBERS,
     .min = 1e-3,
     .max = 1e3,
     .offset = JSON_AT(T, cpu_scaling_factors, const double *),
     .count_offset = JSON_AT(T, factor_count, size_t)},
    {.name = "link_capacities_mbps",
     .doc = "One is drawn for each site; default 100, 1000, 5000, 10000",
     .type = JSON_TYPE_NUMBERS,
     .min = 1e-3,
     .max = 1e9,
     .offset = JSON_AT(T, link_capacities_mbps, const double *),
     .count_offset = JSON_AT(T, capacity_count, size_t)},
    JSON_NUMBER(T, link_share_min, 1e-3, 1, 0.2, 0,
                "Share of its capacity that a link has free; default 0.2"),
    JSON_NUMBER(T, link_share_max, 1e-3, 1, 0.8, 0, "At most; default 0.8"),
    JSON_NUMBER(T, cpu_min, 0.01, 1, 0.1, 0,
                "Share of its CPU that a machine has free; default 0.1"),
    JSON_NUMBER(T, cpu_max, 0.01, 1, 1, 0, "At most; default 1"),
    JSON_NUMBER(T, intra_site_cost_s, 0, 1e9, 120, 0,
                "Cost of moving to other machines of a site; default 120"),
    JSON_NUMBER(T, inter_site_cost_s, 0, 1e9, 300, 0,
                "Cost of moving to another site; default 300"),
    {0},
};
#undef T
static const struct json_object grid_json = {
    "MultiPhaseSimulationGrid", "What sites are drawn from; uniformly, bounds included",
    sizeof(struct multi_phase_grid), grid_rows};

#define T struct multi_phase_simulation
static const struct json_field request_rows[] = {
    JSON_CHOICE(T, kind, kinds, 0, JSON_REQUIRED, "multi_phase"),
    DECISION_REQUEST_ROWS(T),
    JSON_ID(T, name, JSON_NULLABLE, "Name, for lists of simulations"),
    JSON_CHOICE(T, application, plan_application_names, 1, 0,
                "given: the phases of this request; md, lammps, changa: substitutes of "
                "30 phases that compute and communicate in turns; default md"),
    JSON_INTEGER(T, merged_phases, 1, PLAN_SUBSTITUTE_PHASES, 2, 0,
                 "Phases of a substitute that are taken as one; default 2"),
    JSON_LIST(T, phases, phase_count, struct multi_phase_phase, &phase_json, 100, 0,
              "Models of the phases, for application given"),
    JSON_OBJECT(T, grid, struct multi_phase_grid, &grid_json, 0, "The sites"),
    JSON_CHOICE(T, loads_change, plan_redraw_names, 1, 0,
                "When all loads are drawn anew: never, after each interval of a plan, "
                "after each phase; default interval"),
    JSON_LIST(T, policies, policy_count, struct multi_phase_policy, &policy_json,
              POLICIES_MAX, 0,
              "Ways of planning; default: remade by incremental, division and genetic, "
              "fixed by incremental, single, no_model"),
    JSON_INTEGER(T, runs, 1, RUNS_MAX, 10, 0, "Grids to draw; default 10"),
    {0},
};
#undef T
const struct json_object multi_phase_simulation_request_json = {
    "MultiPhaseSimulationRequest", "An application of several phases on changing grids",
    sizeof(struct multi_phase_simulation), request_rows};

/* ---- the answer ---- */

struct multi_phase_result {
    int mode;
    const char *algorithm;
    double mean_s, sd_s, min_s, max_s, expected_mean_s, mean_ratio, mean_moves;
    uint64_t wins;
};

struct multi_phase_simulation_answer {
    int kind;
    struct decision_answer decision;
    uint64_t runs_done;
    const struct multi_phase_result *results;
    size_t result_count;
};

#define T struct multi_phase_result
static const struct json_field result_rows[] = {
    JSON_CHOICE(T, mode, plan_sim_mode_names, 0, 0, "How plans are used"),
    JSON_WORD_OF(T, algorithm, plan_words, JSON_OPTIONAL, "What plans"),
    JSON_NUMBER(T, mean_s, 0, 0, 0, 0, "Time of the application, mean over the runs"),
    JSON_NUMBER(T, sd_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Its standard deviation; null: one run"),
    JSON_NUMBER(T, min_s, 0, 0, 0, 0, "The shortest"),
    JSON_NUMBER(T, max_s, 0, 0, 0, 0, "The longest"),
    JSON_NUMBER(T, expected_mean_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "What was predicted at the start; null: this way predicts nothing then"),
    JSON_NUMBER(T, mean_ratio, 0, 0, 0, 0, "Time over that of the run's best policy"),
    JSON_NUMBER(T, mean_moves, 0, 0, 0, 0, "Moves of a run"),
    JSON_INTEGER(T, wins, 0, JSON_EXACT, 0, 0,
                 "Runs in which it was the best; ties: the first policy"),
    {0},
};
#undef T
static const struct json_object result_json = {
    "MultiPhaseSimulationResult", "What a way of planning achieved",
    sizeof(struct multi_phase_result), result_rows};

#define T struct multi_phase_simulation_answer
static const struct json_field answer_rows[] = {
    JSON_CHOICE(T, kind, kinds, 0, 0, "multi_phase"),
    DECISION_ANSWER_ROWS(T, DECISION_BY("multi_phase")),
    JSON_INTEGER(T, runs_done, 0, JSON_EXACT, 0, 0, "Runs that are complete"),
    JSON_LIST(T, results, result_count, struct multi_phase_result, &result_json, 0, 0,
              "By policy, in the order of the request"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object multi_phase_simulation_answer_json = {
    "MultiPhaseSimulationAnswer", "What each way of planning achieved",
    sizeof(struct multi_phase_simulation_answer), answer_rows};

/* ---- one request ---- */

struct setting {
    struct plan_sim_in in;
    double option[PLAN_OPTION_COUNT];
    double scheduler_param[PARAMS_MAX];
};

static void check_range(double low, double high, const char *pointer, struct error *err)
{
    if (low > high)
        invalid(err, pointer, ITEM_OUT_OF_BOUNDS, "below the other end, %g", low);
}

static void read_grid(const struct multi_phase_grid *grid, struct plan_sim_grid *out,
                      struct error *err)
{
    static const double factors[] = {0.6, 0.8, 1.0, 1.2, 1.4};
    static const double capacities_mbps[] = {100, 1000, 5000, 10000};
    bool has_factors = grid->factor_count > 0, has_capacities = grid->capacity_count > 0;

    check_range((double)grid->sites_min, (double)grid->sites_max, "/grid/sites_max", err);
    check_range((double)grid->machines_min, (double)grid->machines_max,
                "/grid/machines_max", err);
    check_range(grid->link_share_min, grid->link_share_max, "/grid/link_share_max", err);
    check_range(grid->cpu_min, grid->cpu_max, "/grid/cpu_max", err);
    *out = (struct plan_sim_grid){
        .sites_min = grid->sites_min,
        .sites_max = grid->sites_max,
        .machines_min = grid->machines_min,
        .machines_max = grid->machines_max,
        .cpu_scaling_factors = has_factors ? grid->cpu_scaling_factors : factors,
        .factor_count = has_factors ? grid->factor_count : 5,
        .capacities_mbps = has_capacities ? grid->link_capacities_mbps : capacities_mbps,
        .capacity_count = has_capacities ? grid->capacity_count : 4,
        .link_share_min = grid->link_share_min,
        .link_share_max = grid->link_share_max,
        .cpu_min = grid->cpu_min,
        .cpu_max = grid->cpu_max,
        .intra_cost_s = grid->intra_site_cost_s,
        .inter_cost_s = grid->inter_site_cost_s,
    };
}

static void unknown_planner(const char *name, const char *pointer, struct error *err)
{
    const struct policy *const tables[] = {plan_policies, NULL};

    decision_no_policy(pointer, name, "algorithm of plans", tables, err);
}

/* Those of the request; none: the source's, and what they are compared with. */
static void read_policies(struct request *rq, const struct multi_phase_simulation *body,
                          struct plan_sim_in *in)
{
    static const struct multi_phase_policy preset[] = {
        {PLAN_SIM_REMADE, "incremental"}, {PLAN_SIM_REMADE, "division"},
        {PLAN_SIM_REMADE, "genetic"},     {PLAN_SIM_FIXED, "incremental"},
        {PLAN_SIM_SINGLE, NULL},          {PLAN_SIM_NO_MODEL, NULL},
    };
    const struct multi_phase_policy *given = body->policy_count ? body->policies : preset;
    size_t count =
        body->policy_count ? body->policy_count : sizeof(preset) / sizeof(preset[0]);
    struct plan_sim_policy *policies = NEW(rq->arena, struct plan_sim_policy, count);

    for (size_t p = 0; p < count; p++) {
        const char *name = given[p].algorithm ? given[p].algorithm : "incremental";

        policies[p] = (struct plan_sim_policy){(enum plan_sim_mode)given[p].mode,
                                               policy_find(plan_policies, name)};
        if (!policies[p].planner)
            unknown_planner(name, pointer_in("/policies", p, "algorithm").text, rq->err);
    }
    in->policies = policies;
    in->policy_count = count;
}

static enum error_code read_phases(struct request *rq,
                                   const struct multi_phase_simulation *body,
                                   struct plan_sim_in *in)
{
    struct perf_terms *phases = NEW(rq->arena, struct perf_terms, body->phase_count);

    if (in->application == PLAN_APP_GIVEN && body->phase_count == 0)
        invalid(rq->err, "/phases", ITEM_REQUIRED, "application given needs phases");
    if (in->application != PLAN_APP_GIVEN && body->phase_count > 0)
        invalid(rq->err, "/phases", ITEM_CONFLICT, "they are for application given");
    for (size_t k = 0; k < body->phase_count; k++) {
        struct pointer pointer = pointer_in("/phases", k, "terms");

        site_terms_read(body->phases[k].terms, body->phases[k].term_count, pointer.text,
                        &phases[k], rq->arena, rq->err);
    }
    in->phases = phases;
    in->phase_count = body->phase_count;
    return OK;
}

/* The one that is named; else dynamic programming, which finds nearly what Box
 * Elimination finds, in a hundredth of the time. */
static const struct policy *scheduler_of(const struct multi_phase_simulation *body,
                                         const double *option)
{
    for (size_t i = 0; i < body->decision.option_count; i++)
        if (strcmp(body->decision.options[i].name, "scheduler") == 0)
            return &parallel_policies[(size_t)option[PLAN_SCHEDULER]];
    return policy_find(parallel_policies, "dynamic_programming");
}

static enum error_code read_setting(struct request *rq,
                                    const struct multi_phase_simulation *body,
                                    struct setting *s)
{
    enum error_code bound = params_bind(plan_common_params, body->decision.options,
                                        body->decision.option_count, s->option, rq->err);

    if (bound != OK && bound != ERR_INVALID)
        return bound;
    s->in = (struct plan_sim_in){
        .application = (enum plan_application)body->application,
        .merged = body->merged_phases,
        .redraw = (enum plan_redraw)body->loads_change,
        .option = s->option,
        .scheduler = scheduler_of(body, s->option),
        .scheduler_param = s->scheduler_param,
        .seed = body->decision.seed,
    };
    read_grid(&body->grid, &s->in.grid, rq->err);
    read_policies(rq, body, &s->in);
    TRY(read_phases(rq, body, &s->in));
    TRY(rq->err->code);
    return policy_bind(s->in.scheduler, NULL, 0, s->scheduler_param, rq->err);
}

/* ---- playing ---- */

static const char *const figure_names[] = {
#define X(name, doc) #name,
    PLAN_SIM_FIGURES(X)
#undef X
        NULL,
};

struct playing {
    struct request *rq;
    struct setting *setting;
};

/* A run under every policy: what one does the others meet. */
static enum error_code play_run(void *context, struct experiment_trial *trial)
{
    struct playing *p = context;
    struct plan_sim_in *in = &p->setting->in;

    in->budget = trial->budget;
    in->scratch = trial->scratch;
    return plan_simulate(in, trial->run, (struct plan_sim_run *)trial->figures,
                         &trial->is_cut, trial->arena, p->rq->err);
}

static void fill_answer(struct request *rq, const struct plan_sim_in *in,
                        const struct experiment *played,
                        struct multi_phase_simulation_answer *out)
{
    size_t count = played->runs_done ? in->policy_count : 0;
    struct plan_sim_result *results = NEW(rq->arena, struct plan_sim_result, count);
    struct multi_phase_result *rows = NEW(rq->arena, struct multi_phase_result, count);

    plan_sim_summarise((const struct plan_sim_run *)played->figures, played->runs_done,
                       count, results);
    for (size_t p = 0; p < count; p++) {
        const struct plan_sim_result *r = &results[p];
        enum plan_sim_mode mode = in->policies[p].mode;
        bool plans = mode == PLAN_SIM_FIXED || mode == PLAN_SIM_REMADE;

        rows[p] = (struct multi_phase_result){
            mode,
            plans ? in->policies[p].planner->name : NULL,
            r->mean_s,
            r->sd_s,
            r->min_s,
            r->max_s,
            r->expected_mean_s,
            r->mean_ratio,
            r->mean_moves,
            r->wins,
        };
    }
    out->runs_done = played->runs_done;
    out->results = rows;
    out->result_count = count;
    decision_end(rq, "multi_phase", played->is_cut ? DECISION_CUT : DECISION_FEASIBLE,
                 &out->decision);
}

enum error_code simulate_multi_phase(struct request *rq, const void *in, void *out)
{
    const struct multi_phase_simulation *body = in;
    struct multi_phase_simulation_answer *answer = out;
    struct setting s = {0};
    struct playing p = {rq, &s};
    struct experiment_in experiment = {.figure_names = figure_names,
                                       .run_count = body->runs,
                                       .all_at_once = true,
                                       .seed = body->decision.seed,
                                       .play = play_run,
                                       .context = &p};
    struct experiment played;

    TRY(simulation_begin(rq, &body->decision, &answer->decision));
    TRY(read_setting(rq, body, &s));
    if (request_is_async(rq))
        return simulation_enqueue(rq, "multi_phase", body->name);
    experiment.label_count = s.in.policy_count;
    TRY(simulation_experiment(rq, &experiment, &played));
    TRY(simulation_warn_cut(rq, &played, "{run was|runs were} complete",
                            &answer->decision));
    fill_answer(rq, &s.in, &played, answer);
    return OK;
}
