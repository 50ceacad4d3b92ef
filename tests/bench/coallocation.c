/* coallocation.c - the experiments of co-allocation beside the numbers of their spec.
 *
 * Means over the seeds for each run of spec coallocation.md 20.2 to 20.6, with the spec's
 * own in brackets, and the shapes that a simulator should show, with the number of seeds
 * in which each holds and whether it holds for the means.
 *
 *     bench_coallocation [seeds]        default 20
 */
#include "algorithms/coallocation/simulation.h"
#include "tests/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEEDS_MAX = 200, SIZES = 6, WIDTHS = 3 };

/* What a run gives; all double, so that means are taken over all of it. */
struct figures {
    double ftt_s, placement_s, claim_tries, wasted, gained, load, total, end_s, queue;
    double spread, shared;          /* co-allocated */
    double size_placement_s[SIZES]; /* 1x8 2x8 4x8 1x16 2x16 4x16 */
    double width_ftt_s[WIDTHS];     /* 1, 2, 4 components */
    double high_placement_s, low_placement_s, high_delay_s, low_delay_s;
    double narrow_failures, wide_failures; /* 3x12, 8x9 */
    double finished, delft_only;
    double throughput, big_placement_s; /* jobs of 48 processors */
};
enum { FIGURES = sizeof(struct figures) / sizeof(double) };

struct experiment {
    const char *name;
    enum co_workload_kind workload;
    const char *policy;
    double replicas;     /* NAN: as in the source */
    double lower_ratio;  /* of the background; NAN: as in the source */
    double l;            /* NAN: 0.75 */
    double jobs_per_min; /* NAN: as in the source */
    double expected[9];  /* of the spec, in the order of struct figures; NAN: not said */
};

#define NONE (double)NAN
#define UNKNOWN                                              \
    {                                                        \
        NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE \
    }

enum run {
    W30_CF1,
    W30_WF1,
    W30_CF3,
    W30_WF3,
    W50_CF1,
    W50_WF1,
    W50_CF3,
    W50_WF3,
    L_000,
    L_025,
    L_050,
    L_090,
    L_100,
    CM_1,
    CM_3,
    SPREAD_CF1,
    SPREAD_CF3,
    SPREAD_WF1,
    SPREAD_WF3,
    LOAD_50,
    LOAD_60,
    UNRELIABLE,
    NC_24,
    C_24,
    NC_40,
    C_40,
    RUNS
};

static const struct experiment experiments[RUNS] = {
    [W30_CF1] = {"W30 CF 1",
                 CO_WORKLOAD_w30,
                 "CF",
                 1,
                 NONE,
                 NONE,
                 NONE,
                 {41.6, 71, 1.27, .029, .083, .279, .670, 411, 9}},
    [W30_WF1] = {"W30 WF 1",
                 CO_WORKLOAD_w30,
                 "WF",
                 1,
                 NONE,
                 NONE,
                 NONE,
                 {66.0, 123, 1.28, .040, .116, .271, .673, 600, 12}},
    [W30_CF3] = {"W30 CF 3",
                 CO_WORKLOAD_w30,
                 "CF",
                 3,
                 NONE,
                 NONE,
                 NONE,
                 {7.6, 14, 1.08, .007, .020, .294, .663, 205, 5}},
    [W30_WF3] = {"W30 WF 3",
                 CO_WORKLOAD_w30,
                 "WF",
                 3,
                 NONE,
                 NONE,
                 NONE,
                 {31.1, 35, 1.15, .023, .066, .290, .675, 292, 7}},
    [W50_CF1] = {"W50 CF 1",
                 CO_WORKLOAD_w50,
                 "CF",
                 1,
                 NONE,
                 NONE,
                 NONE,
                 {52.0, 541, 1.42, .039, .108, .319, .721, 2010, 43}},
    [W50_WF1] = {"W50 WF 1",
                 CO_WORKLOAD_w50,
                 "WF",
                 1,
                 NONE,
                 NONE,
                 NONE,
                 {66.5, 641, 1.36, .045, .129, .300, .707, 2362, 47}},
    [W50_CF3] = {"W50 CF 3",
                 CO_WORKLOAD_w50,
                 "CF",
                 3,
                 NONE,
                 NONE,
                 NONE,
                 {14.8, 248, 1.23, .016, .044, .393, .769, 1031, 26}},
    [W50_WF3] = {"W50 WF 3",
                 CO_WORKLOAD_w50,
                 "WF",
                 3,
                 NONE,
                 NONE,
                 NONE,
                 {31.5, 388, 1.31, .029, .079, .357, .747, 1492, 36}},
    [L_000] = {"W30 CF 1 L 0",
               CO_WORKLOAD_w30,
               "CF",
               1,
               NONE,
               0,
               NONE,
               {NONE, 65, 1.25, .110, .003, NONE, NONE, NONE, NONE}},
    [L_025] = {"W30 CF 1 L .25",
               CO_WORKLOAD_w30,
               "CF",
               1,
               NONE,
               0.25,
               NONE,
               {NONE, 63, 1.51, .081, .031, NONE, NONE, NONE, NONE}},
    [L_050] = {"W30 CF 1 L .5",
               CO_WORKLOAD_w30,
               "CF",
               1,
               NONE,
               0.5,
               NONE,
               {NONE, 70, 1.41, .055, .057, NONE, NONE, NONE, NONE}},
    [L_090] = {"W30 CF 1 L .9",
               CO_WORKLOAD_w30,
               "CF",
               1,
               NONE,
               0.9,
               NONE,
               {NONE, 81, 1.20, .014, .098, NONE, NONE, NONE, NONE}},
    [L_100] = {"W30 CF 1 L 1",
               CO_WORKLOAD_w30,
               "CF",
               1,
               NONE,
               1,
               NONE,
               {NONE, 83, 1.12, .004, .106, NONE, NONE, NONE, NONE}},
    [CM_1] = {"W30 CM 1",
              CO_WORKLOAD_w30,
              "CM",
              1,
              NONE,
              NONE,
              NONE,
              {59.1, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE}},
    [CM_3] = {"W30 CM 3",
              CO_WORKLOAD_w30,
              "CM",
              3,
              NONE,
              NONE,
              NONE,
              {22.9, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE}},
    [SPREAD_CF1] = {"spread CF 1", CO_WORKLOAD_spread, "CF", 1, NONE, NONE, NONE,
                    UNKNOWN},
    [SPREAD_CF3] = {"spread CF 3", CO_WORKLOAD_spread, "CF", 3, NONE, NONE, NONE,
                    UNKNOWN},
    [SPREAD_WF1] = {"spread WF 1", CO_WORKLOAD_spread, "WF", 1, NONE, NONE, NONE,
                    UNKNOWN},
    [SPREAD_WF3] = {"spread WF 3", CO_WORKLOAD_spread, "WF", 3, NONE, NONE, NONE,
                    UNKNOWN},
    [LOAD_50] = {"W30 CF 3 background 50 %",
                 CO_WORKLOAD_w30,
                 "CF",
                 3,
                 0.50,
                 NONE,
                 NONE,
                 {NONE, NONE, 1.68, NONE, .027, .227, .784, NONE, NONE}},
    [LOAD_60] = {"W30 CF 3 background 60 %",
                 CO_WORKLOAD_w30,
                 "CF",
                 3,
                 0.60,
                 NONE,
                 NONE,
                 {NONE, NONE, 2.46, NONE, .019, .153, .809, NONE, NONE}},
    [UNRELIABLE] = {"unreliable CF", CO_WORKLOAD_unreliable, "CF", NONE, NONE, NONE, NONE,
                    UNKNOWN},
    [NC_24] = {"W_nc 2.4/min",
               CO_WORKLOAD_w_nc,
               "WF",
               NONE,
               NONE,
               NONE,
               2.4,
               {NONE, NONE, NONE, NONE, NONE, NONE, .556, NONE, NONE}},
    [C_24] = {"W_c 2.4/min",
              CO_WORKLOAD_w_c,
              "WF",
              NONE,
              NONE,
              NONE,
              2.4,
              {NONE, NONE, NONE, NONE, NONE, NONE, .645, NONE, NONE}},
    [NC_40] = {"W_nc 4/min",
               CO_WORKLOAD_w_nc,
               "WF",
               NONE,
               NONE,
               NONE,
               4,
               {NONE, NONE, NONE, NONE, NONE, NONE, .549, NONE, NONE}},
    [C_40] = {"W_c 4/min",
              CO_WORKLOAD_w_c,
              "WF",
              NONE,
              NONE,
              NONE,
              4,
              {NONE, NONE, NONE, NONE, NONE, NONE, .782, NONE, NONE}},
};

static struct figures runs[RUNS][SEEDS_MAX];
static struct figures means[RUNS];
static size_t seed_count = 20;

/* ---- one run ---- */

static double size_mean(const struct co_metrics *m, size_t components, size_t processors,
                        double *failures)
{
    for (size_t i = 0; i < m->size_count; i++)
        if (m->sizes[i].component_count == components &&
            m->sizes[i].processors == processors) {
            *failures = m->sizes[i].mean.failure_ratio;
            return m->sizes[i].mean.total_placement_s;
        }
    return NONE;
}

static double mean_where(const struct co_sim_in *in, const struct co_sim_out *out,
                         bool (*wanted)(const struct co_sim_job *, size_t), size_t key,
                         size_t offset)
{
    double sum = 0, count = 0;

    for (size_t j = 0; j < in->job_count; j++) {
        const char *figures = (const char *)&out->metrics.job[j];
        double value = *(const double *)(const void *)(figures + offset);

        if (!wanted(&in->jobs[j], key) || isnan(value))
            continue;
        sum += value;
        count++;
    }
    return count > 0 ? sum / count : NONE;
}

static bool has_width(const struct co_sim_job *job, size_t components)
{
    return job->component_count == components;
}

static bool has_level(const struct co_sim_job *job, size_t level)
{
    return job->level == (enum co_level)level;
}

static bool has_processors(const struct co_sim_job *job, size_t total)
{
    return job->component_count * job->processors[0] == total;
}

#define JOB_FIGURE(name) offsetof(struct co_job_figures, name)

static struct figures measure(const struct co_sim_in *in, const struct co_sim_out *out)
{
    static const size_t sizes[SIZES][2] = {{1, 8},  {2, 8},  {4, 8},
                                           {1, 16}, {2, 16}, {4, 16}};
    static const size_t widths[WIDTHS] = {1, 2, 4};
    const struct co_metrics *m = &out->metrics;
    struct figures f = {
        .ftt_s = m->mean.transfer_s,
        .placement_s = m->mean.total_placement_s,
        .claim_tries = m->mean.claim_tries,
        .wasted = m->wasted_ratio,
        .gained = m->gained_ratio,
        .load = m->job_load_ratio,
        .total = m->total_load_ratio,
        .end_s = out->end_after_last_arrival_s,
        .queue = m->max_queue_length,
        .spread = m->mean.spread_ratio,
        .shared = m->co_allocated_ratio,
        .finished = m->finished_count == m->job_count,
        .throughput = m->throughput_per_min,
    };
    size_t placement = JOB_FIGURE(total_placement_s), delay = JOB_FIGURE(start_delay_s);
    double ignored;

    for (size_t i = 0; i < SIZES; i++)
        f.size_placement_s[i] = size_mean(m, sizes[i][0], sizes[i][1], &ignored);
    for (size_t i = 0; i < WIDTHS; i++)
        f.width_ftt_s[i] =
            mean_where(in, out, has_width, widths[i], JOB_FIGURE(transfer_s));
    size_mean(m, 3, 12, &f.narrow_failures);
    size_mean(m, 8, 9, &f.wide_failures);
    f.high_placement_s = mean_where(in, out, has_level, CO_HIGH, placement);
    f.low_placement_s = mean_where(in, out, has_level, CO_LOW, placement);
    f.high_delay_s = mean_where(in, out, has_level, CO_HIGH, delay);
    f.low_delay_s = mean_where(in, out, has_level, CO_LOW, delay);
    f.big_placement_s = mean_where(in, out, has_processors, 48, placement);
    f.delft_only = out->unusable_site_count == 1 && out->site_unusable[0];
    return f;
}

static void check(enum error_code code, const struct error *err)
{
    if (code != OK)
        bench_stop(err->text);
}

static struct figures play(const struct experiment *e, uint64_t seed, struct arena *a,
                           struct arena *scratch)
{
    struct co_sim_grid grid = co_sim_grid(co_sim_grid_of(e->workload));
    const struct policy *policy = policy_find(coallocation_policies, e->policy);
    double param[PARAMS_MAX];
    struct error err = {.code = OK};
    struct co_workload_in draw = {.kind = e->workload,
                                  .replica_count = e->replicas,
                                  .mean_gap_s = 60 / e->jobs_per_min,
                                  .site_count = grid.site_count,
                                  .seed = seed};
    struct co_sim_in in = {.grid = grid,
                           .policy = policy,
                           .param = param,
                           .settings = co_sim_presets(e->workload),
                           .seed = seed,
                           .scratch = scratch};
    struct co_sim_out out;

    check(policy_bind(policy, NULL, 0, param, &err), &err);
    if (!isnan(e->l))
        param[CO_L_INITIAL] = e->l;
    if (!isnan(e->lower_ratio)) {
        in.settings.background.lower_ratio = e->lower_ratio;
        in.settings.background.upper_ratio = e->lower_ratio + 0.05;
    }
    for (size_t i = 0; i < grid.site_count; i++)
        draw.capacity += (double)grid.sites[i].processors;
    check(co_workload_draw(&draw, &in.jobs, &in.job_count, a), &err);
    check(co_simulate(&in, &out, a, &err), &err);
    return measure(&in, &out);
}

static void play_all(struct arena *a, struct arena *scratch)
{
    for (size_t r = 0; r < RUNS; r++) {
        double *sum = (double *)&means[r];

        for (size_t i = 0; i < seed_count; i++) {
            const double *figure = (const double *)&runs[r][i];

            runs[r][i] = play(&experiments[r], i + 1, a, scratch);
            for (size_t k = 0; k < FIGURES; k++)
                sum[k] += figure[k] / (double)seed_count;
            arena_reset(a);
        }
    }
}

/* ---- tables ---- */

static void print_runs(void)
{
    static const char *const heads[9] = {"FTT s", "placement s", "claim tries",
                                         "PWT",   "PGT",         "jobs",
                                         "total", "end-last s",  "queue"};
    static const int digits[9] = {1, 0, 2, 3, 3, 3, 3, 0, 0};

    printf("| run |");
    for (size_t k = 0; k < 9; k++)
        printf(" %s |", heads[k]);
    printf(" spread | co-allocated |\n| --- |");
    for (size_t k = 0; k < 11; k++)
        printf(" --- |");
    printf("\n");
    for (size_t r = 0; r < RUNS; r++) {
        const double *mean = (const double *)&means[r];

        printf("| %s |", experiments[r].name);
        for (size_t k = 0; k < 9; k++) {
            printf(" %.*f", digits[k], mean[k]);
            if (!isnan(experiments[r].expected[k]))
                printf(" (%.*f)", digits[k], experiments[r].expected[k]);
            printf(" |");
        }
        printf(" %.3f | %.2f |\n", means[r].spread, means[r].shared);
    }
}

/* A part of a shape holds for a set of figures, one for each run: the means, or those of
 * a seed. The spec counts seeds by parts, that is, by runs or pairs of runs. */
typedef bool shape_fn(const struct figures *of[RUNS], size_t part);

/* W30 CF 1, W30 CF 3, W50 CF 1, W50 CF 3; their Worst-Fit stands next to each. */
static const enum run close_runs[] = {W30_CF1, W30_CF3, W50_CF1, W50_CF3};

static bool a1(const struct figures *f[RUNS], size_t part)
{
    return f[close_runs[part]]->ftt_s < f[close_runs[part] + 1]->ftt_s;
}

static bool a2(const struct figures *f[RUNS], size_t part)
{
    static const enum run single[] = {W30_CF1, W30_WF1, W50_CF1, W50_WF1};

    return f[single[part] + 2]->ftt_s < f[single[part]]->ftt_s;
}

static bool a3(const struct figures *f[RUNS], size_t part)
{
    const struct figures *replicas = f[part < 2 ? W30_CF3 : W50_CF3];
    enum run other[] = {W30_CF1, W30_WF3, W50_CF1, W50_WF3};

    return replicas->placement_s < f[other[part]]->placement_s;
}

static bool a4a(const struct figures *f[RUNS], size_t part)
{
    const double *s = f[W30_CF1 + part]->size_placement_s;

    for (size_t i = 0; i < SIZES - 1; i++)
        if (s[i] >= s[SIZES - 1])
            return false;
    return true;
}

static bool a4b(const struct figures *f[RUNS], size_t part)
{
    const double *s = f[W30_CF1 + part]->size_placement_s;

    return s[3] <= s[4] && s[4] <= s[5];
}

static bool a4c(const struct figures *f[RUNS], size_t part)
{
    const double *s = f[W30_CF1 + part]->size_placement_s;

    return s[0] <= s[1] && s[1] <= s[2];
}

/* Four pairs of runs, four figures each. */
static bool a5(const struct figures *f[RUNS], size_t part)
{
    const struct figures *low = f[W30_CF1 + part / 4], *high = f[W50_CF1 + part / 4];

    switch (part % 4) {
    case 0:
        return high->end_s > low->end_s;
    case 1:
        return high->queue > low->queue;
    case 2:
        return high->total > low->total;
    default:
        return high->load / 0.5 < low->load / 0.3;
    }
}

static bool a6(const struct figures *f[RUNS], size_t part)
{
    double tries = f[W30_CF1 + part]->claim_tries;

    return tries >= 1 && tries <= 3;
}

static bool a7(const struct figures *f[RUNS], size_t part)
{
    double ratio = f[W30_CF1 + part]->gained / f[W30_CF1 + part]->wasted;

    return ratio >= 2.15 && ratio <= 3.5;
}

static bool a8(const struct figures *f[RUNS], size_t part)
{
    double total = f[W30_CF1 + part]->total;

    return part < 4 ? total >= 0.61 && total <= 0.73 : total >= 0.68 && total <= 0.80;
}

static const enum run by_l[] = {L_000, L_025, L_050, W30_CF1, L_090, L_100};
enum { STEPS_OF_L = sizeof(by_l) / sizeof(by_l[0]) - 1 };

/* PWT, PGT over all values of L. */
static bool a9(const struct figures *f[RUNS], size_t part)
{
    for (size_t i = 0; i < STEPS_OF_L; i++) {
        const struct figures *less = f[by_l[i]], *more = f[by_l[i + 1]];

        if (part == 0 ? more->wasted >= less->wasted : more->gained <= less->gained)
            return false;
    }
    return true;
}

static bool a10(const struct figures *f[RUNS], size_t part)
{
    const double *s = f[W30_CF1 + part]->width_ftt_s;

    return s[0] < s[1] && s[1] < s[2];
}

static bool spread_worst_fit(const struct figures *f[RUNS], size_t part)
{
    (void)part;
    return fabs(f[SPREAD_WF1]->spread - f[SPREAD_WF3]->spread) < 0.02;
}

static bool spread_close_to_files(const struct figures *f[RUNS], size_t part)
{
    return f[SPREAD_CF1 + part]->spread >= 0.5;
}

static bool spread_shared(const struct figures *f[RUNS], size_t part)
{
    (void)part;
    return f[SPREAD_CF1]->shared < f[SPREAD_WF1]->shared;
}

static bool background(const struct figures *f[RUNS], size_t part)
{
    (void)part;
    const struct figures *low = f[W30_CF3], *middle = f[LOAD_50], *high = f[LOAD_60];

    return low->load > middle->load && middle->load > high->load &&
           low->size_placement_s[5] < middle->size_placement_s[5] &&
           middle->size_placement_s[5] < high->size_placement_s[5] &&
           middle->claim_tries < 3 && high->claim_tries < 3 && middle->finished >= 1 &&
           high->finished >= 1;
}

static bool all_finish(const struct figures *f[RUNS], size_t part)
{
    (void)part;
    return f[UNRELIABLE]->finished >= 1;
}

static bool delft_out(const struct figures *f[RUNS], size_t part)
{
    (void)part;
    return f[UNRELIABLE]->delft_only >= 1;
}

static bool priorities(const struct figures *f[RUNS], size_t part)
{
    (void)part;
    return f[UNRELIABLE]->high_placement_s < f[UNRELIABLE]->low_placement_s;
}

static bool delays(const struct figures *f[RUNS], size_t part)
{
    (void)part;
    return f[UNRELIABLE]->high_delay_s < f[UNRELIABLE]->low_delay_s;
}

static bool failures(const struct figures *f[RUNS], size_t part)
{
    (void)part;
    return f[UNRELIABLE]->wide_failures > f[UNRELIABLE]->narrow_failures;
}

static bool runners(const struct figures *f[RUNS], size_t part)
{
    const struct figures *single = f[part < 2 ? NC_24 : NC_40];
    const struct figures *several = f[part < 2 ? C_24 : C_40];

    return part % 2 ? several->total > single->total
                    : several->throughput > single->throughput;
}

static bool big_jobs(const struct figures *f[RUNS], size_t part)
{
    return f[part ? NC_40 : NC_24]->big_placement_s >=
           5 * f[part ? C_40 : C_24]->big_placement_s;
}

static const struct {
    const char *name;
    shape_fn *holds;
    size_t part_count;
} shapes[] = {
    {"A1 FTT: CF below WF", a1, 4},
    {"A2 replicas lower FTT", a2, 4},
    {"A3 placement time: CF 3 below CF 1 and WF 3", a3, 4},
    {"A4a placement time: 4x16 the greatest", a4a, 8},
    {"A4b placement time rises with components of 16", a4b, 8},
    {"A4c placement time rises with components of 8", a4c, 8},
    {"A5 W50: longer end and queue, more load, less of what is offered", a5, 16},
    {"A6 claim tries in 1 .. 3", a6, 8},
    {"A7 PGT / PWT near 3", a7, 8},
    {"A8 total load in .61 .. .73 (W30), .68 .. .80 (W50)", a8, 8},
    {"A9 a greater L: less PWT, more PGT", a9, 2},
    {"A10 FTT rises with components", a10, 8},
    {"20.3 spread of WF does not depend on replicas", spread_worst_fit, 1},
    {"20.3 spread of CF at least .5", spread_close_to_files, 2},
    {"20.3 co-allocated: CF 1 below WF 1", spread_shared, 1},
    {"20.4 more background: less load by jobs, longer 4x16, all end", background, 1},
    {"20.5 all jobs end", all_finish, 1},
    {"20.5 only Delft becomes unusable", delft_out, 1},
    {"20.5 placement time: high below low", priorities, 1},
    {"20.5 start delay: high below low", delays, 1},
    {"20.5 failure rate: 8x9 above 3x12", failures, 1},
    {"20.6 W_c above W_nc in load and throughput", runners, 4},
    {"20.6 jobs of 48 wait 5 times as long in W_nc", big_jobs, 2},
};

/* Seeds in which a part holds. */
static size_t count_seeds(size_t shape, size_t part)
{
    const struct figures *of[RUNS];
    size_t held = 0;

    for (size_t i = 0; i < seed_count; i++) {
        for (size_t r = 0; r < RUNS; r++)
            of[r] = &runs[r][i];
        held += shapes[shape].holds(of, part);
    }
    return held;
}

static void print_shapes(void)
{
    const struct figures *of[RUNS];

    for (size_t r = 0; r < RUNS; r++)
        of[r] = &means[r];
    printf("\n| shape | parts | seeds, least and most of the parts | means |\n"
           "| --- | --- | --- | --- |\n");
    for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
        size_t least = seed_count, most = 0, on_means = 0;

        for (size_t part = 0; part < shapes[k].part_count; part++) {
            size_t held = count_seeds(k, part);

            least = held < least ? held : least;
            most = held > most ? held : most;
            on_means += shapes[k].holds(of, part);
        }
        printf("| %s | %zu | %zu .. %zu of %zu | %s |\n", shapes[k].name,
               shapes[k].part_count, least, most, seed_count,
               on_means == shapes[k].part_count ? "hold" : "FAIL");
    }
}

int main(int argc, char **argv)
{
    struct arena *a = arena_create((size_t)1 << 30);
    struct arena *scratch = arena_create((size_t)1 << 28);

    if (argc > 1)
        seed_count = (size_t)atoi(argv[1]);
    if (!a || !scratch || seed_count < 1 || seed_count > SEEDS_MAX)
        bench_stop("usage: bench_coallocation [1 .. 200 seeds]");
    play_all(a, scratch);
    print_runs();
    print_shapes();
    printf("\nunreliable: total load %.3f (.41-.44); 48-processor jobs: %.0f and %.0f s "
           "at 2.4/min (2391, 17), %.0f and %.0f s at 4/min (4824, 440); throughput "
           "%.2f %.2f (1.64, 2.37), %.2f %.2f (1.59, 3.52)\n",
           means[UNRELIABLE].total, means[NC_24].big_placement_s,
           means[C_24].big_placement_s, means[NC_40].big_placement_s,
           means[C_40].big_placement_s, means[NC_24].throughput, means[C_24].throughput,
           means[NC_40].throughput, means[C_40].throughput);
    arena_close(a);
    arena_close(scratch);
    return 0;
}
