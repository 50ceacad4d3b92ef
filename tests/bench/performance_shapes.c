/* performance_shapes.c - performance models on applications under changing load
 * (generator G2): that many models beat one, loads during the run those at its start,
 * what is gained by choosing by prediction, and a model for another cluster. The shapes
 * A1, A2, A3, A5, A6 and A8 of spec performance-models.md 15-17 and 19.3.
 *
 * Means over seeds. A line without a verdict stands beside the numbers of the
 * specification (other simulations of the same generator) or of the source
 * (003_a5f9349f46eae656, a testbed): compare shapes. Verdicts are the acceptance lines,
 * as they are written there. In process; nothing depends on the clock.
 *
 *     bench_performance_shapes [seeds]        5, as the spec's other simulation
 */
#include "models/performance/porting.h"
#include "tests/bench/applications.h"

enum {
    PREDICTIONS = 200,
    RUNS = APPS_TRAINING + PREDICTIONS,
    EDGE = 50, /* the first and the last so many predictions are compared */
    PROFILES = 2,
    PORT_PREDICTIONS = 100,
};

/* ---- G2: adaptivity ---- */

/* Whose predictions: the whole method; the best combination after training as it was
 * then, or with its coefficients fitted again; the method by loads at the start of each
 * run; the method without loads. */
enum variant { MULTI, FROZEN, REFIT, START, BLIND, VARIANTS };

struct result {
    double appe_pct[VARIANTS], sd_pct[VARIANTS];
    double below_30_pct, below_40_pct, first_pct, last_pct; /* of MULTI */
};

/* All of one application, load and seed: what is measured and what is learnt. */
struct trial {
    struct apps_run runs[RUNS];
    struct perf_sample rows[RUNS]; /* the loads of a variant */
    struct accuracy_pair pairs[VARIANTS][PREDICTIONS];
    struct arena *a;
};

static struct perf_sample loads_of(enum variant variant, const struct apps_run *run,
                                   double capacity_mbps)
{
    struct perf_sample s = variant == START ? run->start : run->whole;

    if (variant == BLIND) {
        s.cpu_available_ratio = 1;
        s.bandwidth_mbps = capacity_mbps;
    }
    return s;
}

/* Trains on the first runs and predicts each of the others before it is learnt. Single
 * models are the best combination alone, never re-formed. */
static struct perf_model_set follow(struct trial *t, enum variant variant,
                                    const struct perf_options *options,
                                    size_t predictions, double capacity_mbps)
{
    struct perf_model_set set;

    for (size_t i = 0; i < APPS_TRAINING + predictions; i++)
        t->rows[i] = loads_of(variant, &t->runs[i], capacity_mbps);
    set = apps_train(t->rows, APPS_TRAINING, options, t->a);
    if (variant == FROZEN || variant == REFIT)
        set.sorted.count = 1;
    for (size_t i = 0; i < predictions; i++) {
        double predicted = apps_predicted_s(&set, &t->rows[APPS_TRAINING + i]);

        t->pairs[variant][i] =
            (struct accuracy_pair){t->runs[APPS_TRAINING + i].whole.time_s, predicted};
        if (variant != FROZEN)
            apps_learn(&set, t->rows, APPS_TRAINING + i + 1, predicted, variant != REFIT,
                       t->a);
    }
    return set;
}

static void add_accuracy(struct trial *t, double share, struct result *sum)
{
    struct accuracy multi = apps_accuracy(t->pairs[MULTI], PREDICTIONS, t->a);

    for (int v = 0; v < VARIANTS; v++) {
        struct accuracy x = apps_accuracy(t->pairs[v], PREDICTIONS, t->a);

        sum->appe_pct[v] += share * x.appe_pct;
        sum->sd_pct[v] += share * x.ppe_sd_pct;
    }
    sum->below_30_pct += share * multi.below_30_pct;
    sum->below_40_pct += share * multi.below_40_pct;
    sum->first_pct += share * apps_accuracy(t->pairs[MULTI], EDGE, t->a).appe_pct;
    sum->last_pct +=
        share * apps_accuracy(t->pairs[MULTI] + PREDICTIONS - EDGE, EDGE, t->a).appe_pct;
}

static void add_result(struct result *sum, const struct result *x, double share)
{
    for (int v = 0; v < VARIANTS; v++) {
        sum->appe_pct[v] += share * x->appe_pct[v];
        sum->sd_pct[v] += share * x->sd_pct[v];
    }
    sum->below_30_pct += share * x->below_30_pct;
    sum->below_40_pct += share * x->below_40_pct;
    sum->first_pct += share * x->first_pct;
    sum->last_pct += share * x->last_pct;
}

/* ---- what is gained by choosing machines by prediction (A2, A3) ---- */

struct usefulness {
    size_t groups, perfect, near; /* near: at most 12 % lost */
    double max_loss_pct, loss_sum_pct;
};

/* A group of one run says nothing. */
static void add_groups(struct trial *t, const struct loss_row *rows, size_t row_count,
                       struct usefulness *u)
{
    struct error err = {.arena = t->a};
    struct loss_group *groups;
    double largest_pct;
    size_t count;

    apps_check(
        scheduling_loss(rows, row_count, &groups, &count, &largest_pct, t->a, &err),
        &err);
    for (size_t g = 0; g < count; g++) {
        if (groups[g].row_count < 2)
            continue;
        u->groups++;
        u->perfect += groups[g].loss_pct == 0;
        u->near += groups[g].loss_pct <= 12;
        u->loss_sum_pct += groups[g].loss_pct;
        u->max_loss_pct = fmax(u->max_loss_pct, groups[g].loss_pct);
    }
}

/* The predicted runs, one after the other under changing load: sizes whose dedicated
 * times on 8 processors are near each other form a group. */
static void add_losses(struct trial *t, size_t application, struct usefulness *u)
{
    double size[PREDICTIONS], dedicated_s[PREDICTIONS];
    size_t group[PREDICTIONS];
    struct loss_row rows[PREDICTIONS];
    struct error err = {.arena = t->a};

    for (size_t i = 0; i < PREDICTIONS; i++) {
        const struct perf_sample *s = &t->runs[APPS_TRAINING + i].whole;
        struct apps_work work = apps_work_of(application, s->problem_size, APPS_MACHINES);

        size[i] = s->problem_size;
        dedicated_s[i] = work.cpu_s + work.mbit / 100;
    }
    apps_check(loss_groups(size, dedicated_s, PREDICTIONS, group, t->a, &err), &err);
    for (size_t i = 0; i < PREDICTIONS; i++)
        rows[i] = (struct loss_row){size[i], t->runs[APPS_TRAINING + i].whole.processors,
                                    t->pairs[MULTI][i].actual_s,
                                    t->pairs[MULTI][i].predicted_s, group[i]};
    add_groups(t, rows, PREDICTIONS, u);
}

/* Ten groups of three sizes as far apart as the source's, each size on 2, 4, 6 and 8
 * processors from one instant: what a scheduler has to choose from. */
static void add_losses_at_once(struct trial *t, const struct apps_cluster *c,
                               size_t application, const struct perf_model_set *set,
                               uint64_t seed, struct usefulness *u)
{
    enum { GROUPS = 10, SIZES = 3, ROWS = GROUPS * SIZES * 4 };
    static const double step[APPS_COUNT] = {100, 24, 2000, 48};
    const struct application *app = &apps_all[application];
    struct apps_machine m = {c, 4000 + seed, APPS_DAYS_S / 2};
    struct loss_row rows[ROWS];
    size_t count = 0;

    for (size_t g = 0; g < GROUPS; g++) {
        double most = app->high - (SIZES - 1) * step[application], free_s = m.now_s;
        double least = (double)apps_integer(&m.state, (size_t)app->low, (size_t)most);
        struct apps_run place;

        apps_begin(&m, APPS_MACHINES, &place);
        for (size_t i = 0; i < SIZES * 4; i++) {
            size_t size = i / 4, p = 2 * (i % 4) + 2;
            double n = least + (double)size * step[application];
            struct apps_work work = apps_work_of(application, n, (double)p);
            struct apps_run run = place;

            apps_end(&m, n, p, apps_iterate(c, &run, p, work, 50, run.from_s), &run);
            free_s = fmax(free_s, m.now_s);
            rows[count++] = (struct loss_row){n, (double)p, run.whole.time_s,
                                              apps_predicted_s(set, &run.whole), g};
        }
        m.now_s = free_s;
    }
    add_groups(t, rows, count, u);
}

/* Chosen and best time of each group of the source, and the loss it should give. */
static void check_losses(struct arena *a)
{
    static const double groups[][3] = {
        {987.27, 951.02, 3.81},   {850.76, 824.66, 3.16},   {1153.53, 1060.72, 8.75},
        {1572.39, 1572.39, 0},    {1786.28, 1786.28, 0},    {2502.56, 2331.02, 7.36},
        {3002.43, 3002.43, 0},    {4394, 4394, 0},          {428.92, 428.92, 0},
        {589.06, 589.06, 0},      {825.17, 825.17, 0},      {927.55, 927.55, 0},
        {1166.04, 1166.04, 0},    {1292.47, 1292.47, 0},    {1650.34, 1650.34, 0},
        {2637.62, 2439.54, 8.12}, {2896.47, 2757.99, 5.02}, {3068.87, 3068.87, 0},
        {743.98, 664.98, 11.88},  {729.89, 729.89, 0},      {1157.69, 1047.47, 10.52},
        {1037.63, 977.02, 6.20},  {1641.34, 1584.8, 3.57},  {1459.17, 1459.17, 0},
        {1585.28, 1585.28, 0},    {2003.63, 2003.63, 0},    {2618.89, 2495.66, 4.94},
        {268.16, 268.16, 0},      {466.91, 435.76, 7.15},   {567.59, 564.84, 0.49},
        {692.11, 692.11, 0},      {864.21, 864.21, 0},      {1294.9, 1271.5, 1.84},
        {1508.61, 1508.61, 0},    {1973.01, 1973.01, 0},    {2277.15, 2233.02, 1.98},
        {2671.92, 2671.92, 0},
    };
    enum { GROUPS = sizeof(groups) / sizeof(groups[0]) };
    struct loss_row rows[2 * GROUPS];
    struct error err = {.arena = a};
    struct loss_group *out;
    size_t count, right = 0;
    double largest_pct;

    for (size_t i = 0; i < GROUPS; i++) {
        rows[2 * i] = (struct loss_row){1, 8, groups[i][0], 1, i};
        rows[2 * i + 1] = (struct loss_row){2, 8, groups[i][1], 2, i};
    }
    apps_check(scheduling_loss(rows, 2 * GROUPS, &out, &count, &largest_pct, a, &err),
               &err);
    for (size_t i = 0; i < count; i++)
        right += fabs(out[i].loss_pct - groups[i][2]) <= 0.005 + 1e-9;
    bench_row("A2: losses of the source's 37 groups, by our metric", "exact, to 0.01",
              apps_verdict(count == GROUPS && right == GROUPS),
              "%zu of %zu (largest %.2f %%)", right, (size_t)GROUPS, largest_pct);
}

/* ---- a model for another cluster (A6) ---- */

/* The rows of the source's Table 3.9; where it has two that differ only in the cluster,
 * their mean. "grads" load is our stable one. */
static const struct {
    size_t application;
    enum apps_load from, to;
    double source_pct;
} portings[] = {
    {APPS_EIGEN, APPS_RANDOM, APPS_DEDICATED, 18.53},
    {APPS_EIGEN, APPS_STABLE, APPS_DEDICATED, 25.9},
    {APPS_EIGEN, APPS_RANDOM, APPS_STABLE, 26.67},
    {APPS_MD, APPS_STABLE, APPS_DEDICATED, 22.56},
    {APPS_MD, APPS_STABLE, APPS_RANDOM, 28.23},
    {APPS_MD, APPS_STABLE, APPS_STABLE, 18.68},
    {APPS_SSOR, APPS_STABLE, APPS_STABLE, 21.88},
    {APPS_IS, APPS_RANDOM, APPS_DEDICATED, 25.70},
    {APPS_IS, APPS_RANDOM, APPS_STABLE, 26.06},
    {APPS_IS, APPS_STABLE, APPS_STABLE, 27.08},
};
enum { PORTINGS = sizeof(portings) / sizeof(portings[0]) };

struct ported {
    double scaled_pct, refined_pct, native_pct, cpu_factor;
    double least_factor, most_factor; /* R_bw */
    size_t matched, count;
};

/* The second cluster: section 19.5's factors and bandwidth, under load of its own. */
static void open_target(struct apps_cluster *c, enum apps_load load, uint64_t seed)
{
    apps_cluster_open(c, load, 400, 100 + seed);
    c->cpu_factor = 1.6;
    c->link_factor = 1.3;
}

/* One run on one processor, six on two, in the range of the first runs, with nothing
 * else on the machines. */
static void dedicated_runs(size_t application, bool target, struct perf_sample out[7])
{
    const struct application *app = &apps_all[application];
    struct apps_cluster c;
    struct apps_machine m = {&c, 1, 0};

    if (target)
        open_target(&c, APPS_DEDICATED, 0);
    else
        apps_cluster_open(&c, APPS_DEDICATED, 100, 0);
    for (size_t i = 0; i < 7; i++) {
        double share = i ? (double)(i - 1) / 5 : 0.5;
        struct apps_run run;

        apps_run_once(&m, application,
                      round(app->train_low + share * (app->train_high - app->train_low)),
                      i ? 2 : 1, &run);
        out[i] = run.whole;
        out[i].dedicated = true;
    }
    apps_cluster_close(&c);
}

static void port_one(struct trial *t, size_t row, const struct perf_model_set *reference,
                     uint64_t seed, double share, struct ported *sum)
{
    struct accuracy_pair scaled[PORT_PREDICTIONS], refined[PORT_PREDICTIONS];
    struct perf_sample ours[7], theirs[7];
    struct perf_model_set fixed, adapting;
    struct error err = {.arena = t->a};
    struct perf_porting porting;
    struct apps_cluster c;

    open_target(&c, portings[row].to, seed);
    apps_make_runs(&c, portings[row].application, 100 + seed, PORT_PREDICTIONS, t->runs);
    apps_cluster_close(&c);
    dedicated_runs(portings[row].application, false, ours);
    dedicated_runs(portings[row].application, true, theirs);
    apps_check(perf_port(reference, ours, 7, theirs, 7, 1, &porting, t->a), &err);
    if (porting.outcome != PERF_READY)
        bench_stop("no porting: %s", perf_status_names[porting.outcome]);
    apps_check(perf_ported_set(reference, &porting, &fixed, t->a), &err);
    apps_check(perf_ported_set(reference, &porting, &adapting, t->a), &err);
    for (size_t i = 0; i < PORT_PREDICTIONS; i++) {
        const struct perf_sample *s = &t->runs[APPS_TRAINING + i].whole;
        struct perf_update update;

        scaled[i] = (struct accuracy_pair){s->time_s, apps_predicted_s(&fixed, s)};
        refined[i] = (struct accuracy_pair){s->time_s, apps_predicted_s(&adapting, s)};
        perf_update(&adapting, s, refined[i].predicted_s, NULL, 0, &update);
    }
    follow(t, MULTI, &reference->options, PORT_PREDICTIONS, 400);
    sum->scaled_pct += share * apps_accuracy(scaled, PORT_PREDICTIONS, t->a).appe_pct;
    sum->refined_pct += share * apps_accuracy(refined, PORT_PREDICTIONS, t->a).appe_pct;
    sum->native_pct +=
        share * apps_accuracy(t->pairs[MULTI], PORT_PREDICTIONS, t->a).appe_pct;
    sum->cpu_factor += share * porting.cpu_factor;
    sum->least_factor = sum->count ? fmin(sum->least_factor, porting.bandwidth_factor)
                                   : porting.bandwidth_factor;
    sum->most_factor = fmax(sum->most_factor, porting.bandwidth_factor);
    sum->count++;
    sum->matched += porting.status == PERF_PORTING_MATCHED;
}

static void porting_rows(const struct ported *sums, enum perf_profile profile)
{
    double scaled_pct = 0, refined_pct = 0, native_pct = 0;
    double worst_scaled_pct = 0, worst_refined_pct = 0;
    char what[128], source[64];

    for (size_t row = 0; row < PORTINGS; row++) {
        const struct ported *x = &sums[row];

        scaled_pct += x->scaled_pct / PORTINGS;
        refined_pct += x->refined_pct / PORTINGS;
        native_pct += x->native_pct / PORTINGS;
        worst_scaled_pct = fmax(worst_scaled_pct, x->scaled_pct);
        worst_refined_pct = fmax(worst_refined_pct, x->refined_pct);
        snprintf(what, sizeof(what),
                 "Porting %s, %s to %s load, %s: APPE scaled / refined / native",
                 apps_all[portings[row].application].name,
                 apps_load_names[portings[row].from], apps_load_names[portings[row].to],
                 perf_profile_names[profile]);
        snprintf(source, sizeof(source), "source %.2f scaled", portings[row].source_pct);
        bench_row(
            what, source, BENCH_NO_TARGET,
            "%.1f / %.1f / %.1f %% (R_cpu %.3f, R_bw %.2f to %.2f, matched %zu of %zu)",
            x->scaled_pct, x->refined_pct, x->native_pct, x->cpu_factor, x->least_factor,
            x->most_factor, x->matched, x->count);
    }
    snprintf(what, sizeof(what), "A6, %s: every scaled model below 30 %% APPE",
             perf_profile_names[profile]);
    bench_row(what, "below 30 (source 18.5 to 28.2)", apps_verdict(worst_scaled_pct < 30),
              "largest %.1f %%, mean %.1f %% (source 23.8)", worst_scaled_pct,
              scaled_pct);
    snprintf(what, sizeof(what),
             "A6, %s: every scaled model that is refined by the runs below 30 %% APPE",
             perf_profile_names[profile]);
    bench_row(what, "below 30 (ours)", apps_verdict(worst_refined_pct < 30),
              "largest %.1f %%, mean %.1f %%", worst_refined_pct, refined_pct);
    snprintf(what, sizeof(what), "A6, %s: scaled worse than native, mean",
             perf_profile_names[profile]);
    bench_row(what, "somewhat worse", apps_verdict(scaled_pct > native_pct),
              "%.1f against %.1f %%", scaled_pct, native_pct);
}

/* ---- G2: all of it ---- */

struct everything {
    struct result results[PROFILES][2][APPS_COUNT]; /* by load: random, stable */
    struct usefulness in_turn[PROFILES], at_once[PROFILES];
    struct ported ported[PROFILES][PORTINGS];
};

static void adapt(struct trial *t, size_t application, enum apps_load load, uint64_t seed,
                  double share, struct everything *out)
{
    struct apps_cluster c;

    apps_cluster_open(&c, load, 100, seed);
    for (int profile = 0; profile < PROFILES; profile++) {
        struct perf_options options = apps_options((enum perf_profile)profile);
        struct perf_model_set sets[VARIANTS];

        arena_reset(t->a);
        apps_make_runs(&c, application, seed, PREDICTIONS, t->runs);
        for (int v = 0; v < VARIANTS; v++)
            sets[v] = follow(t, (enum variant)v, &options, PREDICTIONS, c.capacity_mbps);
        add_accuracy(t, share, &out->results[profile][load][application]);
        if (load == APPS_RANDOM) {
            add_losses(t, application, &out->in_turn[profile]);
            add_losses_at_once(t, &c, application, &sets[MULTI], seed,
                               &out->at_once[profile]);
        }
        for (size_t row = 0; row < PORTINGS; row++)
            if (portings[row].application == application && portings[row].from == load)
                port_one(t, row, &sets[MULTI], seed, share, &out->ported[profile][row]);
    }
    apps_cluster_close(&c);
}

static void adaptivity_row(const char *name, enum apps_load load,
                           enum perf_profile profile, const struct result *r,
                           const char *spec, size_t seeds)
{
    const double *x = r->appe_pct;
    char what[256];

    snprintf(
        what, sizeof(what),
        "G2 %s load, %s, %s (%zu seeds): APPE multi / single frozen / single refit / "
        "uniform start / load-blind; multi: under 30, 40 %%, first / last 50",
        apps_load_names[load], name, perf_profile_names[profile], seeds);
    bench_row(what, spec, BENCH_NO_TARGET,
              "%.1f / %.1f / %.1f / %.1f / %.1f; %.0f, %.0f, %.1f / %.1f (sd %.1f / %.1f "
              "/ %.1f / %.1f / %.1f)",
              x[MULTI], x[FROZEN], x[REFIT], x[START], x[BLIND], r->below_30_pct,
              r->below_40_pct, r->first_pct, r->last_pct, r->sd_pct[MULTI],
              r->sd_pct[FROZEN], r->sd_pct[REFIT], r->sd_pct[START], r->sd_pct[BLIND]);
}

static const char *const g2_spec[2][APPS_COUNT + 1] = {
    {
        "24.7 / 34.5 / 33.6 / 39.7 / 34.8; 72, 83, 29.9 / 22.5",
        "28.5 / 37.5 / 30.5 / 38.1 / 47.5; 65, 77, 31.0 / 27.7",
        "13.3 / 18.0 / 13.4 / 34.8 / 16.9; 90, 96, 14.3 / 12.5",
        "35.8 / 40.9 / 35.6 / 38.6 / 43.2; 60, 73, 36.3 / 33.2",
        "25.6 / 32.7 / - / 37.8 / 35.6; 26.3 / 32.3 / - / 37.0 / 35.2, 28.3 / 26.0",
    },
    {
        "8.7 / 8.1 / 9.6 / 13.3 / 19.0; 97, 98, 10.9 / 7.5",
        "7.3 / 8.5 / 7.9 / 7.4 / 17.9; 98, 99, 7.6 / 7.3",
        "5.4 / 7.8 / 5.8 / 11.3 / 15.0; 100, 100, 6.0 / 5.1",
        "30.8 / 38.9 / 31.1 / 25.7 / 34.2; 64, 75, 31.3 / 26.0",
        "13.1 / 15.8 / - / 14.4 / 21.5; 13.1 / 19.4 / - / 14.5 / 22.0, 14.3 / 13.4",
    },
};
static const char *const g2_robust_spec[2][APPS_COUNT + 1] = {
    {"multi 27.0", "multi 27.3", "multi 13.1", "multi 30.3", "multi 24.4 and 25.4"},
    {"multi 6.3", "multi 6.1", "multi 5.7", "multi 22.5", "multi 10.2 and 10.3"},
};

/* The acceptance lines of A1, A5 and A8 for one profile, on the means `m` by load. */
static void adaptivity_verdicts(const char *profile, const struct result m[2])
{
    const double *random = m[0].appe_pct, *stable = m[1].appe_pct;
    char what[160];

    snprintf(what, sizeof(what), "A1, %s: multi <= single frozen, mean over both loads",
             profile);
    bench_row(
        what, "<= (source 18.8 against 24.1)",
        apps_verdict(random[MULTI] + stable[MULTI] <= random[FROZEN] + stable[FROZEN]),
        "%.1f against %.1f %%", 0.5 * (random[MULTI] + stable[MULTI]),
        0.5 * (random[FROZEN] + stable[FROZEN]));
    snprintf(what, sizeof(what), "A1, %s: multi under random load, mean", profile);
    bench_row(what, "below 30 %", apps_verdict(random[MULTI] < 30), "%.1f %%",
              random[MULTI]);
    for (int load = 0; load < 2; load++) {
        const double *x = m[load].appe_pct;

        snprintf(what, sizeof(what), "A8, %s, %s load: multi < frozen, load-blind",
                 profile, apps_load_names[load]);
        bench_row(what, "<", apps_verdict(x[MULTI] < x[FROZEN] && x[MULTI] < x[BLIND]),
                  "%.1f against %.1f, %.1f %%", x[MULTI], x[FROZEN], x[BLIND]);
        snprintf(what, sizeof(what), "A5 and A8, %s, %s load: multi < uniform start",
                 profile, apps_load_names[load]);
        bench_row(what, load ? "< (source 13.5 against 27.4)" : "<",
                  apps_verdict(x[MULTI] < x[START]), "%.1f against %.1f %%", x[MULTI],
                  x[START]);
        snprintf(what, sizeof(what), "A1 and A8, %s, %s load: last 50 <= first 50",
                 profile, apps_load_names[load]);
        bench_row(what, "<=", apps_verdict(m[load].last_pct <= m[load].first_pct),
                  "%.2f against %.2f %%", m[load].last_pct, m[load].first_pct);
    }
    snprintf(what, sizeof(what), "A1 and A8, %s: last 50 <= first 50, both loads pooled",
             profile);
    bench_row(
        what, "<=",
        apps_verdict(m[0].last_pct + m[1].last_pct <= m[0].first_pct + m[1].first_pct),
        "%.2f against %.2f %%", 0.5 * (m[0].last_pct + m[1].last_pct),
        0.5 * (m[0].first_pct + m[1].first_pct));
    snprintf(what, sizeof(what), "A1 and A8, %s: multi, stable < random", profile);
    bench_row(what, "<", apps_verdict(stable[MULTI] < random[MULTI]),
              "%.1f against %.1f %%", stable[MULTI], random[MULTI]);
}

static void usefulness_rows(const char *way, enum perf_profile profile,
                            const struct usefulness *u)
{
    char what[160];

    snprintf(what, sizeof(what), "A3, %s, %s: groups chosen perfectly",
             perf_profile_names[profile], way);
    bench_row(what, "more than half (source 22 of 37)",
              apps_verdict(2 * u->perfect > u->groups), "%zu of %zu", u->perfect,
              u->groups);
    snprintf(what, sizeof(what), "A3, %s, %s: largest loss", perf_profile_names[profile],
             way);
    bench_row(what, "about 12 % or less (source 11.9)",
              apps_verdict(u->max_loss_pct < 12.5),
              "%.1f %% (mean %.1f %%; at most 12 %% in %zu of %zu)", u->max_loss_pct,
              u->loss_sum_pct / (double)u->groups, u->near, u->groups);
}

static void g2_profile(const struct everything *all, enum perf_profile profile,
                       size_t seeds)
{
    struct result mean[2] = {0};

    for (int load = 0; load < 2; load++) {
        const char *const *spec =
            (profile == PERF_THESIS ? g2_spec : g2_robust_spec)[load];

        for (size_t i = 0; i < APPS_COUNT; i++) {
            const struct result *r = &all->results[profile][load][i];

            adaptivity_row(apps_all[i].name, (enum apps_load)load, profile, r, spec[i],
                           seeds);
            add_result(&mean[load], r, 1.0 / APPS_COUNT);
        }
        adaptivity_row("all four", (enum apps_load)load, profile, &mean[load],
                       spec[APPS_COUNT], seeds);
    }
    adaptivity_verdicts(perf_profile_names[profile], mean);
    usefulness_rows("runs in turn, loads change between them", profile,
                    &all->in_turn[profile]);
    usefulness_rows("12 choices at one instant", profile, &all->at_once[profile]);
}

static void g2(size_t seeds, struct trial *t)
{
    struct everything *all = calloc(1, sizeof(*all));

    if (!all)
        bench_stop("no memory for the results");
    for (uint64_t seed = 1; seed <= seeds; seed++)
        for (size_t i = 0; i < APPS_COUNT; i++)
            for (int load = 0; load < 2; load++)
                adapt(t, i, (enum apps_load)load, seed, 1 / (double)seeds, all);
    for (int profile = 0; profile < PROFILES; profile++)
        g2_profile(all, (enum perf_profile)profile, seeds);
    for (int profile = 0; profile < PROFILES; profile++)
        porting_rows(all->ported[profile], (enum perf_profile)profile);
    free(all);
}

int main(int count, char **text)
{
    size_t seeds = apps_argument(count, text, 1, 5);
    struct trial *t = calloc(1, sizeof(*t));

    if (!t)
        bench_stop("no memory for the runs");
    t->a = arena_create((size_t)1 << 32);
    check_losses(t->a);
    g2(seeds, t);
    arena_close(t->a);
    free(t);
    return 0;
}
