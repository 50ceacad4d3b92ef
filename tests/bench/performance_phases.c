/* performance_phases.c - performance models of applications of ten phases (generator
 * G3): the sum of a model for each phase against one model of all. The shapes A7 and A9
 * of spec performance-models.md 17.6 and 19.4.
 *
 * Means over seeds. A line without a verdict stands beside the numbers of the
 * specification (other simulations of the same generator) or of the source
 * (003_a5f9349f46eae656, a testbed): compare shapes. Verdicts are the acceptance lines,
 * as they are written there. In process; nothing depends on the clock.
 *
 *     bench_performance_phases [seeds]        10, as in the spec
 */
#include "tests/bench/applications.h"

enum { PREDICTIONS = 100, PROFILES = 2 };

enum { SINGLE, SUMMED, WHOLE_LOAD, WAYS };

struct phase_trial {
    struct apps_run runs[APPS_TRAINING + PREDICTIONS];
    struct accuracy_pair pairs[WAYS][PREDICTIONS];
};

/* Sum over the phases: with loads of their own, or those of the whole run. */
static double summed_s(const struct perf_model_set *const *sets,
                       const struct apps_run *run, bool whole_load)
{
    struct perf_query queries[APPS_PHASES];
    struct perf_prediction parts[APPS_PHASES];
    enum perf_status status;
    double time_s;

    for (size_t i = 0; i < APPS_PHASES; i++) {
        const struct perf_sample *s = whole_load ? &run->whole : &run->phase[i];

        queries[i] = (struct perf_query){s->problem_size, s->processors,
                                         s->cpu_available_ratio, s->bandwidth_mbps};
    }
    status = perf_predict_phases(sets, queries, APPS_PHASES, NULL, parts, &time_s);
    if (status != PERF_READY)
        bench_stop("no prediction of phases: %s", perf_status_names[status]);
    return time_s;
}

static void predict_phases(struct phase_trial *t, enum perf_profile profile,
                           struct arena *a)
{
    struct perf_options options = apps_options(profile);
    struct perf_model_set single, phases[APPS_PHASES];
    const struct perf_model_set *sets[APPS_PHASES];
    struct perf_sample rows[APPS_TRAINING];

    for (size_t i = 0; i < APPS_TRAINING; i++)
        rows[i] = t->runs[i].whole;
    single = apps_train(rows, APPS_TRAINING, &options, a);
    for (size_t k = 0; k < APPS_PHASES; k++) {
        for (size_t i = 0; i < APPS_TRAINING; i++)
            rows[i] = t->runs[i].phase[k];
        phases[k] = apps_train(rows, APPS_TRAINING, &options, a);
        sets[k] = &phases[k];
    }
    for (size_t i = 0; i < PREDICTIONS; i++) {
        const struct apps_run *run = &t->runs[APPS_TRAINING + i];
        double actual_s = run->whole.time_s;

        t->pairs[SINGLE][i] =
            (struct accuracy_pair){actual_s, apps_predicted_s(&single, &run->whole)};
        t->pairs[SUMMED][i] =
            (struct accuracy_pair){actual_s, summed_s(sets, run, false)};
        t->pairs[WHOLE_LOAD][i] =
            (struct accuracy_pair){actual_s, summed_s(sets, run, true)};
    }
}

static void make_phased_runs(struct phase_trial *t, enum apps_load load, bool uniform,
                             uint64_t seed)
{
    struct apps_cluster c;
    struct apps_machine m = {&c, 3000 + seed, 0};

    apps_cluster_open(&c, load, 100, seed);
    for (size_t i = 0; i < APPS_TRAINING + PREDICTIONS; i++) {
        double n;
        size_t p = i < APPS_TRAINING ? apps_training_run(i, 800, 2500, &n)
                                     : apps_predicted_run(&m.state, 800, 3500, &n);

        apps_run_phases(&m, uniform, n, p, &t->runs[i]);
    }
    apps_cluster_close(&c);
}

struct phase_result {
    double appe_pct[WAYS], sd_pct[WAYS];
};

static void phase_verdicts(struct phase_result r[2][2], const char *profile)
{
    double gain[2][2];
    bool met = true;
    char what[160];

    for (int load = 0; load < 2; load++)
        for (int kind = 0; kind < 2; kind++) {
            const double *x = r[load][kind].appe_pct;

            gain[load][kind] = 100 * (1 - x[SUMMED] / x[SINGLE]);
            met = met && x[SUMMED] < x[SINGLE];
        }
    snprintf(what, sizeof(what),
             "A7 and A9, %s: cumulative with loads per phase < single in all four",
             profile);
    bench_row(what, "< (source: gains of 18 to 71 %)", apps_verdict(met),
              "gains %.0f, %.0f (random), %.0f, %.0f %% (stable; uniform, hetero)",
              gain[0][0], gain[0][1], gain[1][0], gain[1][1]);
    snprintf(what, sizeof(what), "A7, %s: the gain is larger for unlike phases", profile);
    bench_row(what, "hetero above uniform, both loads",
              apps_verdict(gain[0][1] > gain[0][0] && gain[1][1] > gain[1][0]),
              "%.0f against %.0f, %.0f against %.0f %%", gain[0][1], gain[0][0],
              gain[1][1], gain[1][0]);
}

static void phase_row(const struct phase_result *r, int profile, int load, int kind,
                      size_t seeds)
{
    static const char *const spec[PROFILES][2][2] = {
        {{"27.6 (25.2) / 15.8 (15.2) / 27.6 (19.1); other simulation 25.9 / 16.7 / 32.2",
          "22.7 (22.7) / 19.2 (22.1) / 33.8 (20.4); 27.1 / 15.2 / 33.6"},
         {"6.4 (8.8) / 1.4 (1.7) / 4.5 (4.9); 4.6 / 1.3 / 4.7",
          "12.9 (20.1) / 6.4 (8.9) / 13.0 (12.8); 14.1 / 6.2 / 13.8"}},
        {{"55.2 / 13.5 / 33.2", "25.5 / 16.5 / 39.0"},
         {"4.7 / 1.2 / 4.4", "12.2 / 5.8 / 15.1"}},
    };
    char what[192];

    snprintf(
        what, sizeof(what),
        "G3 %s load, %s phases, %s (%zu seeds): APPE (sd) single / cumulative, loads "
        "per phase / one load",
        apps_load_names[load], kind ? "hetero" : "uniform", perf_profile_names[profile],
        seeds);
    bench_row(what, spec[profile][load][kind], BENCH_NO_TARGET,
              "%.1f (%.1f) / %.1f (%.1f) / %.1f (%.1f)", r->appe_pct[SINGLE],
              r->sd_pct[SINGLE], r->appe_pct[SUMMED], r->sd_pct[SUMMED],
              r->appe_pct[WHOLE_LOAD], r->sd_pct[WHOLE_LOAD]);
}

static void g3(size_t seeds, struct arena *a)
{
    struct phase_result results[PROFILES][2][2] = {0};
    struct phase_trial *t = calloc(1, sizeof(*t));

    if (!t)
        bench_stop("no memory for the runs");
    for (size_t i = 0; i < 4 * seeds; i++) {
        int load = i & 1, kind = (i >> 1) & 1;

        make_phased_runs(t, (enum apps_load)load, kind == 0, i / 4 + 1);
        for (int profile = 0; profile < PROFILES; profile++) {
            struct phase_result *r = &results[profile][load][kind];

            arena_reset(a);
            predict_phases(t, (enum perf_profile)profile, a);
            for (int way = 0; way < WAYS; way++) {
                struct accuracy x = apps_accuracy(t->pairs[way], PREDICTIONS, a);

                r->appe_pct[way] += x.appe_pct / (double)seeds;
                r->sd_pct[way] += x.ppe_sd_pct / (double)seeds;
            }
        }
    }
    for (int profile = 0; profile < PROFILES; profile++) {
        for (int i = 0; i < 4; i++)
            phase_row(&results[profile][i >> 1][i & 1], profile, i >> 1, i & 1, seeds);
        phase_verdicts(results[profile], perf_profile_names[profile]);
    }
    free(t);
}

int main(int count, char **text)
{
    struct arena *a = arena_create((size_t)1 << 32);

    g3(apps_argument(count, text, 1, 10), a);
    arena_close(a);
    return 0;
}
