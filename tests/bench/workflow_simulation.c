/* workflow_simulation.c - the experiments of chapters 5 and 6 beside the numbers of the
 * source and of the spec's own replications.
 *
 * Static against dynamic (workflows.md 9.2, 10), the optimisations (9.3), extrapolation
 * against fit (runtime-prediction.md 8, 9.2), and for each shape that these call
 * reproducible whether it holds.
 *
 *     bench_workflow_simulation [seeds [seeds of chapter 6 [reports that a fit keeps]]]
 *                                 default 10 30 500
 *
 * Some 20 s on one core, and 6 minutes for the fits of chapter 6. Fewer reports are
 * faster, and worse under high noise: with 60 a fit is below extrapolation there.
 */
#include "algorithms/workflow/simulation.h"
#include "tests/bench/bench.h"

#include <math.h>

enum { OPTIONS_MAX = 4 };

/* Means over the seeds. */
struct means {
    double makespan_s, done_ratio, useful_ratio, moves, checkpoints;
};

struct play {
    struct workflow_sim_experiment experiment;
    const char *policy;
    struct named_value options[OPTIONS_MAX]; /* ended by a NULL name */
};

static struct arena *run, *scratch;

static struct workflow_sim_out play_seed(const struct play *p, const double *param,
                                         uint64_t seed)
{
    const struct workflow_sim_experiment *e = &p->experiment;
    struct workflow_sim_in in = {
        .settings = e->settings, .seed = seed, .scratch = scratch};
    struct workflow_sim_job *jobs;
    struct workflow_sim_out out = {0};
    struct error err = {0};

    in.policy = (struct workflow_sim_policy){
        policy_find(workflow_round_policies, p->policy), param, false};
    if (workflow_sim_grid_draw(&e->grid, seed, &in.grid, run) != OK ||
        workflow_sim_workload_draw(&e->workload, &in.grid, e->settings.horizon_s, seed,
                                   &jobs, &in.job_count, run, &err) != OK)
        bench_stop("%s", err.text);
    in.jobs = jobs;
    if (workflow_simulate(&in, &out, run, &err) != OK)
        bench_stop("%s", err.text);
    out.jobs = NULL;
    arena_reset(run);
    return out;
}

static struct means play(const struct play *p, size_t seeds)
{
    const struct policy *policy = policy_find(workflow_round_policies, p->policy);
    double param[PARAMS_MAX], count = (double)seeds;
    struct means m = {0};
    struct error err = {0};
    size_t options = 0;

    while (options < OPTIONS_MAX && p->options[options].name)
        options++;
    if (params_bind(policy->params, p->options, options, param, &err) != OK)
        bench_stop("%s: %s", err.field, err.text);
    for (size_t seed = 1; seed <= seeds; seed++) {
        struct workflow_sim_out out = play_seed(p, param, seed);

        m.makespan_s += out.mean_makespan_s / count;
        m.done_ratio += out.done_ratio / count;
        m.useful_ratio += out.useful_submitted_ratio / count;
        m.moves += (double)(out.move_count + out.eviction_count) / count;
        m.checkpoints += out.checkpoints_per_task / count;
    }
    return m;
}

#define TEXT(name, value)          \
    {                              \
        name, VALUE_TEXT, 0, value \
    }
#define NUMBER(name, value)             \
    {                                   \
        name, VALUE_NUMBER, value, NULL \
    }

static void shape(const char *what, bool holds)
{
    bench_row(what, "holds", holds ? BENCH_MET : BENCH_MISSED, holds ? "yes" : "no");
}

/* ---- chapter 5: static against dynamic ---- */

enum { MODELS = 3, VARIATIONS = 3, WIDTHS = 4 };

static const enum workflow_sim_mix models[MODELS] = {
    WORKFLOW_SIM_under, WORKFLOW_SIM_fluctuating, WORKFLOW_SIM_over};
static const char *const model_names[MODELS] = {"under", "fluctuating", "over"};
static const char *const variation_names[VARIATIONS] = {"High", "Medium", "Low"};
static const double spreads[VARIATIONS] = {0.95, 0.5, 0.1};
static const size_t widths[WIDTHS] = {2, 5, 10, 20};

/* Percent, of the source's table 5.3, and of the first replication with longest_only. */
static const double source[MODELS][VARIATIONS][WIDTHS] = {
    {{14, 22, 34, 38}, {10, 15, 26, 28}, {8, 10, 17, 20}},
    {{10, 12, 20, 26}, {7, 10, 17, 26}, {5, 7, 11, 13}},
    {{4, 9, 16, 20}, {1, 7, 10, 13}, {-8, -1, 5, 9}},
};
static const double replication[MODELS][VARIATIONS][WIDTHS] = {
    {{12, 28, 35, 45}, {15, 30, 40, 50}, {15, 31, 39, 49}},
    {{13, 26, 38, 43}, {17, 31, 40, 46}, {18, 32, 43, 50}},
    {{0, 3, 6, 12}, {1, 4, 8, 15}, {2, 6, 9, 17}},
};
static const double second[MODELS][VARIATIONS][WIDTHS] = {
    {{4, 12, 17, 24}, {4, 9, 16, 25}, {5, 10, 15, 19}},
    {{2, 8, 16, 31}, {1, 7, 17, 31}, {3, 9, 17, 28}},
    {{-4, -1, 6, 19}, {-4, -2, 5, 14}, {-1, 1, 7, 14}},
};

static struct play chapter_5(size_t model, size_t variation, size_t width)
{
    struct play p = {.experiment = workflow_sim_preset(WORKFLOW_SIM_ch5_workflow)};

    p.experiment.workload.mix = models[model];
    p.experiment.workload.spread_ratio = spreads[variation];
    p.experiment.workload.parallelism = widths[width];
    return p;
}

/* Percent less makespan than static. */
static void compare_cell(struct play p, size_t seeds, double *longest, double *all)
{
    const struct named_value longest_only = TEXT("balance", "longest_only");
    double fixed_s, of_longest_s, of_all_s;

    p.policy = "balanced_static";
    fixed_s = play(&p, seeds).makespan_s;
    p.policy = "balanced";
    of_all_s = play(&p, seeds).makespan_s;
    p.options[0] = longest_only;
    of_longest_s = play(&p, seeds).makespan_s;
    *longest = 100 * (1 - of_longest_s / fixed_s);
    *all = 100 * (1 - of_all_s / fixed_s);
}

static void check_gains(double gain[MODELS][VARIATIONS][WIDTHS])
{
    enum { UNDER, FLUCTUATING, OVER };
    bool below = true, grows = true, positive = true, near_zero = true;

    for (size_t v = 0; v < VARIATIONS; v++) {
        for (size_t w = 0; w < WIDTHS; w++) {
            below = below && gain[OVER][v][w] < gain[UNDER][v][w] &&
                    gain[OVER][v][w] < gain[FLUCTUATING][v][w];
            positive = positive && gain[UNDER][v][w] > 0 && gain[FLUCTUATING][v][w] > 0;
        }
        for (size_t m = 0; m < MODELS; m++)
            grows = grows && gain[m][v][WIDTHS - 1] > gain[m][v][0];
        near_zero = near_zero && fabs(gain[OVER][v][0]) <= 5;
    }
    shape("9.2 (a) over gains less than under and fluctuating in every cell", below);
    shape("9.2 (b) gains grow from 2 to 20 tasks beside each other", grows);
    shape("9.2 (c) under and fluctuating gain in every cell", positive);
    shape("9.2 (d) over, 2 tasks: within 5 points of 0", near_zero);
}

static void static_against_dynamic(size_t seeds)
{
    double gain[MODELS][VARIATIONS][WIDTHS];

    printf("\nMean makespan against static, %% less; in brackets balance all; then the "
           "source, the first and the second replication (longest_only).\n\n"
           "| model | variation | 2 | 5 | 10 | 20 | source | first | second |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (size_t m = 0; m < MODELS; m++) {
        for (size_t v = 0; v < VARIATIONS; v++) {
            const double *s = source[m][v], *r = replication[m][v], *t = second[m][v];

            printf("| %s | %s |", model_names[m], variation_names[v]);
            for (size_t w = 0; w < WIDTHS; w++) {
                double all;

                compare_cell(chapter_5(m, v, w), seeds, &gain[m][v][w], &all);
                printf(" %+.0f (%+.0f) |", gain[m][v][w], all);
            }
            printf(
                " %+.0f %+.0f %+.0f %+.0f | %+.0f %+.0f %+.0f %+.0f | %+.0f %+.0f %+.0f "
                "%+.0f |\n",
                s[0], s[1], s[2], s[3], r[0], r[1], r[2], r[3], t[0], t[1], t[2], t[3]);
            fflush(stdout);
        }
    }
    printf("\n| shape | target | measured | verdict |\n| --- | --- | --- | --- |\n");
    check_gains(gain);
}

/* ---- chapter 5: the optimisations ---- */

enum optimisation {
    STATIC,
    BASIC,
    RE_60,
    RE_240,
    RE_960,
    RE_3600,
    GAMMA_005,
    GAMMA_02,
    GAMMA_04,
    GAMMA_08,
    GAMMA_095,
    GAMMA_1,
    AVERAGE,
    THETA_2,
    THETA_4,
    THETA_8,
    THETA_16,
    THETA_32,
    PICKED_2,
    PICKED_4,
    PICKED_16,
    FASTEST_EVICTED,
    NO_EVICTION,
    OPTIMISATIONS
};

/* Makespan h, done/submitted and moves of the first replication; NAN: not said. */
static const struct {
    const char *name, *policy;
    struct named_value options[OPTIONS_MAX];
    double makespan_h, done, moves;
} optimisations[OPTIMISATIONS] = {
#define THETA(theta, pick)                               \
    {                                                    \
        NUMBER("theta", theta), TEXT("group_pick", pick) \
    }
#define DYNAMIC(...) \
    "balanced",      \
    {                \
        __VA_ARGS__  \
    }
    [STATIC] = {"static", "balanced_static", {{0}}, 5.79, .690, 0},
    [BASIC] = {"balanced", DYNAMIC({0}), 4.63, .796, 3452},
    [RE_60] = {"re_min 60 s", DYNAMIC(NUMBER("re_min_s", 60)), 4.48, .814, 3278},
    [RE_240] = {"re_min 240 s", DYNAMIC(NUMBER("re_min_s", 240)), 4.48, .831, 3059},
    [RE_960] = {"re_min 960 s", DYNAMIC(NUMBER("re_min_s", 960)), 4.35, .838, 2462},
    [RE_3600] = {"re_min 3600 s", DYNAMIC(NUMBER("re_min_s", 3600)), 4.01, .862, 1145},
    [GAMMA_005] = {"gamma 0.05", DYNAMIC(NUMBER("gamma", .05)), 4.60, .804, 3354},
    [GAMMA_02] = {"gamma 0.2", DYNAMIC(NUMBER("gamma", .2)), 4.54, .821, 3134},
    [GAMMA_04] = {"gamma 0.4", DYNAMIC(NUMBER("gamma", .4)), 4.66, .816, 2862},
    [GAMMA_08] = {"gamma 0.8", DYNAMIC(NUMBER("gamma", .8)), 5.41, .779, 1854},
    [GAMMA_095] = {"gamma 0.95", DYNAMIC(NUMBER("gamma", .95)), 6.34, .724, 857},
    [GAMMA_1] = {"gamma 1", DYNAMIC(NUMBER("gamma", 1)), (double)NAN, (double)NAN, 0},
    [AVERAGE] = {"E^avg", DYNAMIC(TEXT("estimate_filter", "average")), 3.87, .878, 3244},
    [THETA_2] = {"theta 2 random", "balanced", THETA(2, "random"), 5.02, .780, 3394},
    [THETA_4] = {"theta 4 random", "balanced", THETA(4, "random"), 5.12, .765, 3397},
    [THETA_8] = {"theta 8 random", "balanced", THETA(8, "random"), 5.19, .771, 3396},
    [THETA_16] = {"theta 16 random", "balanced", THETA(16, "random"), 5.36, .743, 3400},
    [THETA_32] = {"theta 32 random", "balanced", THETA(32, "random"), 6.82, .627, 3749},
    [PICKED_2] = {"theta 2", "balanced", THETA(2, "fastest_first"), 4.57, .816, 3274},
    [PICKED_4] = {"theta 4", "balanced", THETA(4, "fastest_first"), 4.47, .801, 3097},
    [PICKED_16] = {"theta 16", "balanced", THETA(16, "fastest_first"), 4.48, .813, 2402},
    [FASTEST_EVICTED] = {"evicted roots: fastest",
                         DYNAMIC(TEXT("evicted_root_rule", "fastest")), (double)NAN,
                         (double)NAN, (double)NAN},
    [NO_EVICTION] = {"no eviction",
                     DYNAMIC({"allow_root_eviction", VALUE_BOOLEAN, 0, NULL}),
                     (double)NAN, (double)NAN, (double)NAN},
};

static bool fall(const struct means *m, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++)
        if (m[i + 1].moves >= m[i].moves)
            return false;
    return true;
}

static void check_optimisations(const struct means *m, const struct means *costly)
{
    double best = 0;

    for (size_t i = RE_60; i <= RE_3600; i++)
        best = fmax(best, m[i].useful_ratio);
    shape("9.3 some RE^min above 0 does more useful work", best > m[BASIC].useful_ratio);
    shape("9.3 moves fall as RE^min grows", fall(m, BASIC, RE_3600));
    shape("9.3 moves fall as gamma grows", fall(m, GAMMA_005, GAMMA_1));
    shape("9.3 gamma 1 is static", m[GAMMA_1].makespan_s == m[STATIC].makespan_s);
    shape("9.3 E^avg not worse than E^est under costly moves (checkpoints of 4 GB)",
          costly[1].useful_ratio >= costly[0].useful_ratio);
    shape("9.3 theta random: makespans grow with groups of 1, 4, 16, 32",
          m[BASIC].makespan_s < m[THETA_4].makespan_s &&
              m[THETA_4].makespan_s < m[THETA_16].makespan_s &&
              m[THETA_16].makespan_s < m[THETA_32].makespan_s);
}

static void optimise(size_t seeds)
{
    struct means m[OPTIMISATIONS], costly[2];
    struct play p;

    printf(
        "\nFluctuating, High, 10 tasks; useful workload by (6.6); in brackets the first "
        "replication.\n\n"
        "| setting | makespan h | done/submitted | useful | moves |\n"
        "| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < OPTIMISATIONS; i++) {
        p = chapter_5(1, 0, 2);
        p.policy = optimisations[i].policy;
        memcpy(p.options, optimisations[i].options, sizeof(p.options));
        m[i] = play(&p, seeds);
        printf("| %s | %.2f (%.2f) | %.3f (%.3f) | %.3f | %.0f (%.0f) |\n",
               optimisations[i].name, m[i].makespan_s / 3600, optimisations[i].makespan_h,
               m[i].done_ratio, optimisations[i].done, m[i].useful_ratio, m[i].moves,
               optimisations[i].moves);
        fflush(stdout);
    }
    for (size_t i = 0; i < 2; i++) {
        size_t which = i == 0 ? BASIC : AVERAGE;

        p = chapter_5(1, 0, 2);
        p.experiment.workload.checkpoint_bytes = 4e9;
        p.policy = optimisations[which].policy;
        memcpy(p.options, optimisations[which].options, sizeof(p.options));
        costly[i] = play(&p, seeds);
    }
    printf("\n| shape | target | measured | verdict |\n| --- | --- | --- | --- |\n");
    check_optimisations(m, costly);
}

/* ---- chapter 6 ---- */

enum { NOISES = 3 };

static void predict(size_t seeds, size_t fit_points)
{
    static const double noises[NOISES] = {0, 0.05, 0.5};
    static const char *const names[NOISES] = {"none", "low", "high"};
    static const char *const expected[NOISES] = {
        ".407, .723 -> .734", ".400, .717 -> .732", ".408, .645 -> .666"};
    const struct named_value fit = TEXT("predictor", "fit");
    bool not_below = true, faster = true;

    printf("\nUseful workload by (6.6), moves; balance all, daytime arrivals; last the "
           "second replication.\n\n"
           "| noise | static | extrapolation | fit | checkpoints a task | replication |\n"
           "| --- | --- | --- | --- | --- | --- |\n");
    for (size_t n = 0; n < NOISES; n++) {
        struct play p = {.experiment = workflow_sim_preset(WORKFLOW_SIM_ch6_prediction)};
        struct means fixed, extrapolated, fitted;

        p.experiment.workload.evolution.noise_ratio = noises[n];
        p.experiment.workload.arrivals = WORKFLOW_SIM_daytime;
        p.experiment.settings.fit_points = fit_points;
        p.policy = "balanced_static";
        fixed = play(&p, seeds);
        p.policy = "balanced";
        extrapolated = play(&p, seeds);
        p.options[0] = fit;
        fitted = play(&p, seeds);
        printf("| %s | %.3f | %.3f (%.0f) | %.3f (%.0f) | %.2f, %.2f | %s |\n", names[n],
               fixed.useful_ratio, extrapolated.useful_ratio, extrapolated.moves,
               fitted.useful_ratio, fitted.moves, extrapolated.checkpoints,
               fitted.checkpoints, expected[n]);
        fflush(stdout);
        not_below = not_below && fitted.useful_ratio >= 0.99 * extrapolated.useful_ratio;
        faster = faster && fitted.useful_ratio >= 1.4 * fixed.useful_ratio &&
                 extrapolated.useful_ratio >= 1.4 * fixed.useful_ratio;
    }
    printf("\n| shape | target | measured | verdict |\n| --- | --- | --- | --- |\n");
    shape("8 (a) fit not below extrapolation at any noise (1 %)", not_below);
    shape("8 (a) dynamic with either at least 1.4 times static", faster);
}

int main(int argc, char **argv)
{
    size_t seeds = argc > 1 ? (size_t)atoi(argv[1]) : 10;
    size_t seeds_6 = argc > 2 ? (size_t)atoi(argv[2]) : 30;
    size_t fit_points = argc > 3 ? (size_t)atoi(argv[3]) : 500;
    double began_s = bench_now_s();

    run = arena_create((size_t)1 << 32);
    scratch = arena_create((size_t)1 << 32);
    if (!run || !scratch)
        bench_stop("no memory");
    static_against_dynamic(seeds);
    optimise(seeds);
    predict(seeds_6, fit_points);
    printf("\n%zu and %zu seeds, %.0f s.\n", seeds, seeds_6, bench_now_s() - began_s);
    arena_close(run);
    arena_close(scratch);
    return 0;
}
