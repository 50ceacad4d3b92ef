/* plan.c - plans of multi-phase applications beside the tables of their source.
 *
 * One cluster, loads that do not change: mean excess of each planner over the optimal
 * plan, in percent, by the cost of a move (spec rescheduling-plans.md 6.2, 6.5).
 * Several clusters, loads redrawn after each interval: hours, and how much longer a
 * single schedule takes (6.3). The source's applications are not published; ours are
 * substitutes, so that shapes are to be compared, not numbers.
 *
 *     bench_plan [clusters [machines [grids [scheduler]]]]
 *
 * Default: 40 128 10 dynamic_programming; the source's is box_elimination, which takes
 * some hundred times as long.
 */
#include "algorithms/plan/plan_simulation.h"
#include "tests/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLANNERS = 5 };
static const char *const planners[PLANNERS] = {"incremental", "incremental_lookahead",
                                               "division", "genetic", "single_schedule"};
static const double factors[] = {0.6, 0.8, 1.0, 1.2, 1.4};
static const double capacities_mbps[] = {100, 1000, 5000, 10000};

struct setting {
    double option[PLAN_OPTION_COUNT];
    double scheduler_param[PARAMS_MAX];
    const struct policy *scheduler;
    struct arena *run, *scratch, *results;
    struct error err;
};

static void check(enum error_code code, const struct setting *s)
{
    if (code != OK)
        bench_stop(s->err.text);
}

static struct plan_sim_in experiment(struct setting *s, enum plan_application application)
{
    return (struct plan_sim_in){
        .application = application,
        .merged = 2,
        .grid =
            {
                .sites_min = 1,
                .sites_max = 1,
                .cpu_scaling_factors = factors + 2,
                .factor_count = 1,
                .capacities_mbps = capacities_mbps,
                .capacity_count = 4,
                .link_share_min = 0.2,
                .link_share_max = 0.8,
                .cpu_min = 0.1,
                .cpu_max = 1,
            },
        .option = s->option,
        .scheduler = s->scheduler,
        .scheduler_param = s->scheduler_param,
        .seed = 1,
        .scratch = s->scratch,
    };
}

/* All runs: [run][policy]. */
static struct plan_sim_run *play(struct setting *s, const struct plan_sim_in *in,
                                 size_t runs)
{
    struct plan_sim_run *played =
        NEW(s->results, struct plan_sim_run, runs * in->policy_count);
    bool is_cut;

    for (size_t r = 0; r < runs; r++) {
        check(
            plan_simulate(in, r, played + r * in->policy_count, &is_cut, s->run, &s->err),
            s);
        arena_reset(s->run);
    }
    return played;
}

/* Mean and largest excess over `optimal`, both as plans that are made once. */
static void one_cluster(struct setting *s, enum plan_application application,
                        double cost_s, size_t clusters, size_t machines)
{
    struct plan_sim_policy policies[PLANNERS + 1] = {
        {PLAN_SIM_FIXED, policy_find(plan_policies, "optimal")}};
    struct plan_sim_in in = experiment(s, application);
    const struct plan_sim_run *played;

    for (size_t p = 0; p < PLANNERS; p++)
        policies[p + 1] = (struct plan_sim_policy){
            PLAN_SIM_FIXED, policy_find(plan_policies, planners[p])};
    in.grid.machines_min = in.grid.machines_max = machines;
    in.grid.intra_cost_s = cost_s;
    in.policies = policies;
    in.policy_count = PLANNERS + 1;
    played = play(s, &in, clusters);
    printf("%-8s %6.0f", plan_application_names[application], cost_s);
    for (size_t p = 1; p <= PLANNERS; p++) {
        double sum = 0, largest = 0;

        for (size_t r = 0; r < clusters; r++) {
            const struct plan_sim_run *of = played + r * (PLANNERS + 1);
            double excess = 100 * (of[p].time_s / of[0].time_s - 1);

            sum += excess;
            largest = fmax(largest, excess);
        }
        printf("  %6.2f (%5.1f)", sum / (double)clusters, largest);
    }
    printf("\n");
    fflush(stdout);
    arena_reset(s->results);
}

static void several_clusters(struct setting *s, size_t grids, size_t machines_max)
{
    struct plan_sim_policy policies[] = {
        {PLAN_SIM_REMADE, policy_find(plan_policies, "incremental")},
        {PLAN_SIM_REMADE, policy_find(plan_policies, "division")},
        {PLAN_SIM_REMADE, policy_find(plan_policies, "genetic")},
        {PLAN_SIM_FIXED, policy_find(plan_policies, "incremental")},
        {PLAN_SIM_SINGLE, NULL},
        {PLAN_SIM_NO_MODEL, NULL},
    };
    struct plan_sim_in in = experiment(s, PLAN_APP_MD);
    struct plan_sim_result results[sizeof(policies) / sizeof(policies[0])];
    enum { COUNT = sizeof(policies) / sizeof(policies[0]) };

    in.grid.sites_min = 5;
    in.grid.sites_max = 12;
    in.grid.machines_min = 8;
    in.grid.machines_max = machines_max;
    in.grid.cpu_scaling_factors = factors;
    in.grid.factor_count = 5;
    in.grid.intra_cost_s = 120;
    in.grid.inter_cost_s = 300;
    in.redraw = PLAN_REDRAW_INTERVAL;
    in.policies = policies;
    in.policy_count = COUNT;
    s->option[PLAN_POPULATION] = 60;
    s->option[PLAN_GENERATIONS] = 20;
    plan_sim_summarise(play(s, &in, grids), grids, COUNT, results);
    for (size_t p = 0; p < COUNT; p++) {
        const struct plan_sim_result *r = &results[p];

        printf("%-8s %-12s %8.2f %8.2f %10.2f %6.1f %6zu %8.2f\n",
               plan_sim_mode_names[policies[p].mode],
               policies[p].planner ? policies[p].planner->name : "", r->mean_s / 3600,
               r->sd_s / 3600, results[4].mean_s / r->mean_s, r->mean_moves, r->wins,
               r->expected_mean_s / 3600);
    }
    fflush(stdout);
    arena_reset(s->results);
}

static size_t argument(int count, char **text, int i, size_t otherwise)
{
    return count > i ? (size_t)strtoul(text[i], NULL, 10) : otherwise;
}

int main(int count, char **text)
{
    size_t clusters = argument(count, text, 1, 40),
           machines = argument(count, text, 2, 128);
    size_t grids = argument(count, text, 3, 10);
    struct setting s = {
        .scheduler =
            policy_find(parallel_policies, count > 4 ? text[4] : "dynamic_programming"),
        .run = arena_create(SIZE_MAX),
        .scratch = arena_create(SIZE_MAX),
        .results = arena_create(SIZE_MAX),
    };

    if (!s.scheduler)
        bench_stop("there is no such scheduler");
    check(params_bind(plan_common_params, NULL, 0, s.option, &s.err), &s);
    check(policy_bind(s.scheduler, NULL, 0, s.scheduler_param, &s.err), &s);
    s.option[PLAN_SEEDED] = 0; /* as in the source */
    printf("excess over optimal, percent: mean (largest), %zu clusters of %zu\n"
           "application cost",
           clusters, machines);
    for (size_t p = 0; p < PLANNERS; p++)
        printf(" %15.15s", planners[p]);
    printf("\n");
    for (enum plan_application x = PLAN_APP_MD; x <= PLAN_APP_CHANGA; x++)
        for (double cost_s = 0; cost_s <= 300; cost_s += cost_s > 0 ? 180 : 120)
            one_cluster(&s, x, cost_s, clusters, machines);
    printf("source, md:     0 s: 1.46 2.11 (division) 0.03 (genetic); 120 s: 3.8 3.39 "
           "2.55; 300 s: 8.47 9.7 7.68\n");
    printf("\nloads redrawn after each interval, md, %zu grids, hours\n"
           "mode     planner          mean       sd single/own  moves   wins expected\n",
           grids);
    several_clusters(&s, grids, 64);
    printf("source: incremental 6.8 (4.72), division 6.58 (5.30), genetic 5.97 (4.05), "
           "single 68.77 (75.38)\n");
    arena_close(s.results);
    arena_close(s.scratch);
    arena_close(s.run);
    return 0;
}
