/* applications.h - applications whose true run time is known, on a simulated cluster
 * under load: what the performance_*.c benchmarks learn from, and how.
 *
 * Eight processors, all links between them, values that change in steps during a run.
 * A run is a number of iterations of computation on every processor, a barrier,
 * communication on every link, a barrier; so the time depends on the whole trace and
 * every model is wrong somewhat. Loads are sampled every 120 s, as a monitor would.
 *
 * Source: spec performance-models.md 19.1, 19.3 (generator G2) and 19.4 (G3), with the
 * draws that are given there for a repeatable test.
 */
#ifndef GRIDPLAN_BENCH_APPLICATIONS_H
#define GRIDPLAN_BENCH_APPLICATIONS_H

#include "models/base/rng.h"
#include "models/performance/accuracy.h"
#include "models/performance/performance.h"
#include "tests/bench/bench.h"

#include <math.h>

enum {
    APPS_MACHINES = 8,
    APPS_LINKS = 28,
    APPS_PHASES = 10,
    APPS_TRAINING = 60, /* runs before the first prediction: 20, 20, 10, 10 */
};
#define APPS_DAYS_S   (40 * 86400.0)
#define APPS_SAMPLE_S 120.0

/* ---- random numbers ---- */

static inline double apps_unit(uint64_t *state)
{
    return (double)(splitmix64(state) >> 11) * 0x1p-53;
}

static inline double apps_between(uint64_t *state, double low, double high)
{
    return low + (high - low) * apps_unit(state);
}

static inline size_t apps_integer(uint64_t *state, size_t low, size_t high)
{
    return low + (size_t)floor(apps_unit(state) * (double)(high - low + 1));
}

/* ---- loads ---- */

/* value[i] holds from from_s[i] to from_s[i + 1], the last one for ever. */
struct apps_trace {
    double *from_s, *value;
    size_t count, room;
};

static inline void apps_until(struct apps_trace *x, double end_s, double value)
{
    if (x->count + 1 >= x->room) {
        x->room = 2 * x->room + 64;
        x->from_s = realloc(x->from_s, x->room * sizeof(double));
        x->value = realloc(x->value, x->room * sizeof(double));
        if (!x->from_s || !x->value)
            bench_stop("no memory for a trace");
    }
    if (x->count == 0)
        x->from_s[0] = 0;
    x->value[x->count++] = value;
    x->from_s[x->count] = end_s;
}

static inline size_t apps_at(const struct apps_trace *x, double t)
{
    size_t low = 0, high = x->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (x->from_s[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* When `work`, begun at t, is done at the trace's rate. */
static inline double apps_finish(const struct apps_trace *x, double t, double work)
{
    for (size_t i = apps_at(x, t);; i++) {
        double room = i + 1 < x->count ? (x->from_s[i + 1] - t) * x->value[i] : HUGE_VAL;

        if (work <= room)
            return t + work / x->value[i];
        work -= room;
        t = x->from_s[i + 1];
    }
}

/* A fresh permutation of 0..n-1, its first k entries drawn. */
struct apps_draw {
    size_t order[APPS_LINKS];
    size_t n, next;
};

static inline struct apps_draw apps_draw_from(size_t n)
{
    struct apps_draw d = {.n = n};

    for (size_t i = 0; i < n; i++)
        d.order[i] = i;
    return d;
}

static inline size_t apps_draw_next(struct apps_draw *d, uint64_t *state)
{
    size_t k = apps_integer(state, d->next, d->n - 1), drawn = d->order[k];

    d->order[k] = d->order[d->next];
    d->order[d->next++] = drawn;
    return drawn;
}

/* Rounds: some of the resources get a level for some minutes, the others idle. */
static inline void apps_random_load(struct apps_trace *traces, size_t n, double low,
                                    double high, double scale, uint64_t state)
{
    for (double t = 0; t < APPS_DAYS_S;) {
        struct apps_draw d = apps_draw_from(n);
        double level[APPS_LINKS] = {0}, length_s[APPS_LINKS] = {0}, longest_s = 0;
        size_t chosen = apps_integer(&state, 1, n);

        for (size_t i = 0; i < chosen; i++) {
            size_t r = apps_draw_next(&d, &state);

            level[r] = scale * apps_between(&state, low, high);
            length_s[r] = apps_between(&state, 180, 480);
            longest_s = fmax(longest_s, length_s[r]);
        }
        for (size_t r = 0; r < n; r++) {
            if (level[r] > 0)
                apps_until(&traces[r], t + length_s[r], level[r]);
            if (length_s[r] < longest_s)
                apps_until(&traces[r], t + longest_s, scale);
        }
        t += longest_s;
    }
}

static inline void apps_stable_load(struct apps_trace *traces, size_t n, uint64_t state)
{
    for (size_t r = 0; r < n; r++)
        for (double t = 0; t < APPS_DAYS_S;) {
            double level = apps_between(&state, 0.4, 1.0);

            t += apps_between(&state, 1800, 7200);
            apps_until(&traces[r], t, level);
        }
}

enum apps_load { APPS_RANDOM, APPS_STABLE, APPS_DEDICATED, APPS_LOADS };
static const char *const apps_load_names[] = {"random", "stable", "dedicated"};

struct apps_cluster {
    struct apps_trace cpu[APPS_MACHINES], link[APPS_LINKS];
    double capacity_mbps;
    double cpu_factor, link_factor; /* an application's work here, over its usual work */
};

/* Dedicated: all of it is free, always. */
static inline void apps_cluster_open(struct apps_cluster *c, enum apps_load load,
                                     double capacity_mbps, uint64_t seed)
{
    *c = (struct apps_cluster){
        .capacity_mbps = capacity_mbps, .cpu_factor = 1, .link_factor = 1};
    if (load == APPS_RANDOM)
        apps_random_load(c->cpu, APPS_MACHINES, 0.065, 0.72, 1, 1000 + seed);
    else if (load == APPS_STABLE)
        apps_stable_load(c->cpu, APPS_MACHINES, 1000 + seed);
    else
        for (size_t r = 0; r < APPS_MACHINES; r++)
            apps_until(&c->cpu[r], APPS_DAYS_S, 1);
    if (load != APPS_DEDICATED)
        apps_random_load(c->link, APPS_LINKS, 0.02, 0.80, capacity_mbps, 2000 + seed);
    else
        for (size_t l = 0; l < APPS_LINKS; l++)
            apps_until(&c->link[l], APPS_DAYS_S, capacity_mbps);
}

static inline void apps_cluster_close(struct apps_cluster *c)
{
    for (size_t r = 0; r < APPS_MACHINES; r++) {
        free(c->cpu[r].from_s);
        free(c->cpu[r].value);
    }
    for (size_t l = 0; l < APPS_LINKS; l++) {
        free(c->link[l].from_s);
        free(c->link[l].value);
    }
}

/* Links stand in the order 0-1, 0-2, ..., 6-7. */
static inline const struct apps_trace *apps_link(const struct apps_cluster *c, size_t a,
                                                 size_t b)
{
    size_t low = a < b ? a : b, high = a < b ? b : a;

    return &c->link[low * (2 * APPS_MACHINES - low - 1) / 2 + high - low - 1];
}

/* ---- applications ---- */

/* Of a whole run or phase: CPU-seconds on each processor, Mbit on each link. */
struct apps_work {
    double cpu_s, mbit;
};

struct application {
    const char *name;
    double train_low, train_high; /* problem sizes of the first runs */
    double low, high;             /* of the predicted ones */
};

enum { APPS_EIGEN, APPS_MD, APPS_IS, APPS_SSOR, APPS_COUNT };
static const struct application apps_all[APPS_COUNT] = {
    {"eigen", 2000, 5000, 2000, 9600},
    {"md", 600, 1500, 600, 2600},
    {"is", 100000, 220000, 100000, 400000},
    {"ssor", 700, 1800, 700, 3000},
};

static inline struct apps_work apps_work_of(size_t application, double n, double p)
{
    switch (application) {
    case APPS_EIGEN:
        return (struct apps_work){7.3e-9 * n * n * n / p, 6e-5 * n * n / sqrt(p)};
    case APPS_MD:
        return (struct apps_work){2e-4 * n * n / p, 0.5 * n / sqrt(p)};
    case APPS_IS:
        return (struct apps_work){1.5e-3 * n * log(n) / p, 0.06 * n / p};
    default:
        return (struct apps_work){1.1e-4 * n * n / p, n * log(p)};
    }
}

/* Generator G3: all phases alike, or four kinds in turn. */
static inline struct apps_work apps_phase_work(bool uniform, size_t phase, double n,
                                               double p)
{
    if (uniform)
        return (struct apps_work){4e-5 * n * n / p, 0.05 * n / sqrt(p)};
    switch (phase % 4) {
    case 0:
        return (struct apps_work){8e-5 * n * n / p, 0.002 * n / sqrt(p)};
    case 1:
        return (struct apps_work){2e-3 * n / p, 0.02 * n * log(n) * sqrt(p)};
    case 2:
        return (struct apps_work){4e-3 * n * log(n) / sqrt(p), 0.01 * n / p};
    default:
        return (struct apps_work){2e-8 * n * n * n / p, 2e-4 * n * n / p};
    }
}

/* ---- runs ---- */

struct apps_run {
    struct perf_sample whole; /* loads averaged over the run */
    struct perf_sample start; /* loads as they were at its start */
    struct perf_sample phase[APPS_PHASES];
    double from_s;
    size_t used[APPS_MACHINES];
};

struct apps_machine {
    const struct apps_cluster *cluster;
    uint64_t state;
    double now_s;
};

static inline double apps_iterate(const struct apps_cluster *c,
                                  const struct apps_run *run, size_t p,
                                  struct apps_work work, size_t iterations, double t)
{
    double cpu_s = work.cpu_s * c->cpu_factor / (double)iterations;
    double mbit = work.mbit * c->link_factor / (double)iterations;

    for (size_t i = 0; i < iterations; i++) {
        double barrier = t;

        for (size_t a = 0; a < p; a++)
            barrier = fmax(barrier, apps_finish(&c->cpu[run->used[a]], t, cpu_s));
        t = barrier;
        for (size_t a = 0; a < p; a++)
            for (size_t b = a + 1; b < p; b++)
                barrier =
                    fmax(barrier,
                         apps_finish(apps_link(c, run->used[a], run->used[b]), t, mbit));
        t = barrier;
    }
    return t;
}

static inline double apps_mean(const struct apps_trace *x, double from_s, double to_s)
{
    double sum = 0, count = 0;

    for (double t = from_s; t <= to_s; t += APPS_SAMPLE_S) {
        sum += x->value[apps_at(x, t)];
        count++;
    }
    return sum / count;
}

/* What was measured of [from_s, to_s]: average over time, then the least. `loads_to_s`:
 * where the samples end, from_s for one sample. */
static inline struct perf_sample apps_measured(const struct apps_cluster *c,
                                               const struct apps_run *run, double n,
                                               size_t p, double from_s, double to_s,
                                               double loads_to_s)
{
    struct perf_sample s = {n,     (double)p, 1, c->capacity_mbps, to_s - from_s,
                            false, false};

    for (size_t a = 0; a < p; a++) {
        s.cpu_available_ratio = fmin(
            s.cpu_available_ratio, apps_mean(&c->cpu[run->used[a]], from_s, loads_to_s));
        for (size_t b = a + 1; b < p; b++)
            s.bandwidth_mbps =
                fmin(s.bandwidth_mbps, apps_mean(apps_link(c, run->used[a], run->used[b]),
                                                 from_s, loads_to_s));
    }
    return s;
}

/* Which processors a run gets. */
static inline void apps_begin(struct apps_machine *m, size_t p, struct apps_run *run)
{
    struct apps_draw d = apps_draw_from(APPS_MACHINES);

    *run = (struct apps_run){.from_s = m->now_s};
    for (size_t a = 0; a < p; a++)
        run->used[a] = apps_draw_next(&d, &m->state);
}

static inline void apps_end(struct apps_machine *m, double n, size_t p, double to_s,
                            struct apps_run *run)
{
    run->whole = apps_measured(m->cluster, run, n, p, run->from_s, to_s, to_s);
    run->start = apps_measured(m->cluster, run, n, p, run->from_s, to_s, run->from_s);
    m->now_s = to_s + apps_between(&m->state, 60, 600);
}

/* One run of an application of one phase. */
static inline void apps_run_once(struct apps_machine *m, size_t application, double n,
                                 size_t p, struct apps_run *run)
{
    apps_begin(m, p, run);
    apps_end(m, n, p,
             apps_iterate(m->cluster, run, p, apps_work_of(application, n, (double)p), 50,
                          run->from_s),
             run);
}

/* One run of G3. */
static inline void apps_run_phases(struct apps_machine *m, bool uniform, double n,
                                   size_t p, struct apps_run *run)
{
    double t = m->now_s;

    apps_begin(m, p, run);
    for (size_t i = 0; i < APPS_PHASES; i++) {
        double end_s = apps_iterate(m->cluster, run, p,
                                    apps_phase_work(uniform, i, n, (double)p), 10, t);

        run->phase[i] = apps_measured(m->cluster, run, n, p, t, end_s, end_s);
        t = end_s;
    }
    apps_end(m, n, p, t, run);
}

/* The processors and size of run i of the first ones: 20, 20, 10, 10 on 1, 2, 4, 8. */
static inline size_t apps_training_run(size_t i, double low, double high, double *n)
{
    size_t group = i < 20 ? 0 : i < 40 ? 1 : i < 50 ? 2 : 3;
    size_t first = group == 0 ? 0 : group == 1 ? 20 : group == 2 ? 40 : 50;
    double count = group < 2 ? 20 : 10;

    *n = round(low + (double)(i - first) * (high - low) / (count - 1));
    return (size_t)1 << group;
}

/* Any size in the bounds, on 2, 4, 6 or 8 processors. */
static inline size_t apps_predicted_run(uint64_t *state, double low, double high,
                                        double *n)
{
    *n = (double)apps_integer(state, (size_t)low, (size_t)high);
    return 2 * apps_integer(state, 1, 4);
}

/* APPS_TRAINING runs and `predictions` more. */
static inline void apps_make_runs(const struct apps_cluster *c, size_t application,
                                  uint64_t seed, size_t predictions,
                                  struct apps_run *runs)
{
    struct apps_machine m = {c, 3000 + seed, 0};
    const struct application *app = &apps_all[application];

    for (size_t i = 0; i < APPS_TRAINING + predictions; i++) {
        double n;
        size_t p = i < APPS_TRAINING
                       ? apps_training_run(i, app->train_low, app->train_high, &n)
                       : apps_predicted_run(&m.state, app->low, app->high, &n);

        apps_run_once(&m, application, n, p, &runs[i]);
    }
}

/* ---- models ---- */

static inline enum bench_verdict apps_verdict(bool met)
{
    return met ? BENCH_MET : BENCH_MISSED;
}

static inline void apps_check(enum error_code code, const struct error *err)
{
    if (code != OK)
        bench_stop("%s", err->text);
}

/* As in the tables of the spec: a re-formed list replaces the old one, and queries far
 * from all runs are answered without the guard of section 22, item 6. */
static inline struct perf_options apps_options(enum perf_profile profile)
{
    struct perf_options options = perf_options_of(profile);

    options.guard = false;
    options.replace_on_reform = true;
    return options;
}

static inline struct perf_model_set apps_train(const struct perf_sample *runs,
                                               size_t count,
                                               const struct perf_options *options,
                                               struct arena *a)
{
    struct error err = {.arena = a};
    struct perf_report report;
    struct perf_model_set set;

    apps_check(perf_train(runs, count, options, NULL, &set, &report, a, &err), &err);
    if (set.status != PERF_READY)
        bench_stop("no model from %zu runs: %s", count, perf_status_names[set.status]);
    return set;
}

static inline double apps_predicted_s(const struct perf_model_set *set,
                                      const struct perf_sample *sample)
{
    struct perf_query query = {sample->problem_size, sample->processors,
                               sample->cpu_available_ratio, sample->bandwidth_mbps};
    struct perf_prediction p;

    perf_predict(set, &query, &p);
    if (p.status != PERF_READY)
        bench_stop("no prediction: %s", perf_status_names[p.status]);
    return p.time_s;
}

static inline struct accuracy apps_accuracy(const struct accuracy_pair *pairs,
                                            size_t count, struct arena *a)
{
    struct error err = {.arena = a};
    struct accuracy out;

    apps_check(accuracy_of(pairs, count, &out, a, &err), &err);
    return out;
}

/* One more run, rows[count - 1], refines the set. */
static inline void apps_learn(struct perf_model_set *set, struct perf_sample *rows,
                              size_t count, double predicted, bool may_reform,
                              struct arena *a)
{
    struct error err = {.arena = a};
    struct perf_update update;
    struct perf_report report;

    perf_update(set, &rows[count - 1], predicted, NULL, 0, &update);
    rows[count - 1].outlier = update.outlier;
    if (update.reform_due && may_reform)
        apps_check(perf_reform(set, rows, count, NULL, &report, a, &err), &err);
}

/* ---- the command line ---- */

static inline size_t apps_argument(int count, char **text, int i, size_t otherwise)
{
    return count > i ? (size_t)strtoul(text[i], NULL, 10) : otherwise;
}

#endif
