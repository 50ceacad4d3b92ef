/* simulation.c - the grid simulator: events a second, pinned jobs a second, and the
 * experiments of the sources beside what they say. Arguments: none; `quick` leaves out
 * the experiments. */
#include "tests/bench/bench.h"

#include "algorithms/dispatch/dispatch.h"
#include "algorithms/fault_tolerance/fault_tolerance.h"
#include "algorithms/replication/replication.h"
#include "algorithms/simulation/simulation.h"
#include "algorithms/simulation/workload.h"

#include <math.h>
#include <time.h>

enum { SPEED_ROUNDS = 5, SEEDS = 4 };

/* A policy with its options, bound. */
struct bench_policy {
    struct sim_policy policy;
    double round_param[PARAMS_MAX], checkpoint_param[PARAMS_MAX];
};

struct bench_option {
    const char *name;
    double number;
    const char *text;
};

static void bind_options(const struct param *rows, const struct bench_option *options,
                         double *value)
{
    struct named_value given[PARAMS_MAX];
    struct error err = {0};
    size_t count = 0;

    for (; options && options[count].name; count++)
        given[count] = (struct named_value){
            .name = options[count].name,
            .type = options[count].text ? VALUE_TEXT : VALUE_NUMBER,
            .number = options[count].number,
            .text = options[count].text,
        };
    if (params_bind(rows, given, count, value, &err) != OK)
        bench_stop("options: %s %s", err.field, err.text);
}

static void set_round(struct bench_policy *p, const char *name,
                      const struct bench_option *options)
{
    const struct policy *round = policy_find(replication_policies, name);

    if (!round)
        round = policy_find(fault_tolerance_policies, name);
    if (!round)
        round = policy_find(dispatch_policies, name);
    if (!round)
        bench_stop("there is no policy %s", name);
    p->policy.label = name;
    p->policy.round = round;
    p->policy.round_param = p->round_param;
    bind_options(round->params, options, p->round_param);
}

static void set_checkpoint(struct bench_policy *p, const char *name,
                           const struct bench_option *options)
{
    p->policy.checkpoint = policy_find(checkpoint_policies, name);
    p->policy.checkpoint_param = p->checkpoint_param;
    bind_options(p->policy.checkpoint->params, options, p->checkpoint_param);
}

/* Of this process: nothing waits here, and a busy machine is no slow simulator. */
static double processor_s(void)
{
    struct timespec used;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

static struct sim_metrics play(const struct sim_scenario *s, const struct bench_policy *p,
                               uint64_t seed, double *seconds)
{
    struct arena *a = arena_create((size_t)1 << 32);
    struct error err = {0};
    struct sim_run_out out = {0};
    double began_s = processor_s();

    if (sim_run(s, &p->policy, seed, NULL, NULL, NULL, &out, a, &err) != OK)
        bench_stop("a run fails: %s %s", err.field, err.text);
    *seconds = processor_s() - began_s;
    arena_close(a);
    return out.metrics;
}

static struct sim_scenario load(const char *preset, struct arena *a)
{
    struct sim_scenario s;
    struct error err = {.arena = a};

    if (sim_preset_load(preset, &s, a, &err) != OK)
        bench_stop("preset %s: %s %s", preset, err.field, err.text);
    return s;
}

/* ---- speed ---- */

static void measure_events(struct arena *a)
{
    static const struct bench_option interval[] = {{"initial_interval_s", 300, NULL},
                                                   {0}};
    struct sim_scenario s = load("ch4_checkpoint_stress", a);
    struct bench_policy p = {0};
    double rate[SPEED_ROUNDS], median;
    struct sim_metrics m = {0};

    set_round(&p, "migration", NULL);
    set_checkpoint(&p, "periodic", interval);
    for (int i = 0; i < SPEED_ROUNDS; i++) {
        double seconds;

        m = play(&s, &p, 1, &seconds);
        rate[i] = m.events / seconds;
    }
    median = bench_quantile(rate, SPEED_ROUNDS, 0.5);
    bench_row("Simulation: 128 resources, 9,000 jobs in 7 days, failures, `migration` "
              "with `periodic` checkpoints every 300 s, one core",
              "at least 2,000,000 events/s", median >= 2e6 ? BENCH_MET : BENCH_MISSED,
              "%.2f million events/s (median of %d; %.0f events, %.0f jobs done)",
              median / 1e6, SPEED_ROUNDS, m.events, m.jobs_done);
}

static void measure_mixed(struct arena *a)
{
    static const struct bench_option copies[] = {{"capacity_unit", 0, "resource"}, {0}};
    struct sim_scenario s = load("ch4_high_daily_90", a);
    struct bench_policy p = {0};
    double rate[SPEED_ROUNDS], median;
    struct sim_metrics m = {0};

    set_round(&p, "combined", copies);
    set_checkpoint(&p, "mean_failure", NULL);
    for (int i = 0; i < SPEED_ROUNDS; i++) {
        double seconds;

        m = play(&s, &p, 1, &seconds);
        rate[i] = m.events / seconds;
    }
    median = bench_quantile(rate, SPEED_ROUNDS, 0.5);
    bench_row("Simulation: 128 resources, 7,000 jobs in 7 days, failures, `combined` "
              "with `mean_failure`, one core",
              "", BENCH_NO_TARGET, "%.2f million events/s (%.0f events, %.0f rounds)",
              median / 1e6, m.events, m.rounds);
}

static void measure_pinned(struct arena *a)
{
    enum { JOBS = 100000, HOSTS = 128 };
    struct sim_job *jobs = NEW(a, struct sim_job, JOBS);
    struct rng r = rng_create(1);
    const char *site = "s1";
    struct workload w = workload_blank(WORKLOAD_BATCH);
    struct sim_group g = {.id = "cr",
                          .count = HOSTS,
                          .first_number = 1,
                          .mips_total = distribution_constant(1),
                          .n_max = 4,
                          .failure_group = SIM_NO_FAILURE_GROUP};
    struct sim_scenario s = sim_scenario_preset();
    struct bench_policy p = {0};
    struct error err = {.arena = a};
    double rate[SPEED_ROUNDS], median;

    for (size_t i = 0; i < JOBS; i++)
        jobs[i] = (struct sim_job){.arrival_s = 10.0 * (double)i,
                                   .length_mi = 600 + 600 * rng_uniform(&r),
                                   .resource = rng_index(&r, HOSTS),
                                   .cpus = 1,
                                   .mips_required = (double)NAN,
                                   .session_s = (double)NAN,
                                   .requested_s = (double)NAN};
    w.jobs = jobs;
    w.given_count = JOBS;
    s.sites = &site;
    s.site_count = 1;
    s.groups = &g;
    s.group_count = 1;
    s.stop_time_s = 1e9;
    s.stop_when_done = true;
    if (workload_prepare(&w, "", a, &err) != OK ||
        sim_scenario_prepare(&s, "", a, &err) != OK)
        bench_stop("pinned jobs: %s %s", err.field, err.text);
    s.workload = &w;
    for (int i = 0; i < SPEED_ROUNDS; i++) {
        double seconds;
        struct sim_metrics m = play(&s, &p, 1, &seconds);

        if (m.jobs_done < JOBS)
            bench_stop("%.0f of %d pinned jobs are done", m.jobs_done, JOBS);
        rate[i] = JOBS / seconds;
    }
    median = bench_quantile(rate, SPEED_ROUNDS, 0.5);
    bench_row("Simulation: 100,000 jobs that are told where to run, 128 resources, one "
              "core",
              "", BENCH_NO_TARGET, "%.2f million jobs/s (median of %d)", median / 1e6,
              SPEED_ROUNDS);
}

/* A round after each event: what a round costs decides. */
static void measure_many_hosts(const char *policy, struct arena *a)
{
    enum { JOBS = 150000, HOSTS = 2000 };
    struct sim_job *jobs = NEW(a, struct sim_job, JOBS);
    const char *site = "s1";
    struct workload w = workload_blank(WORKLOAD_BATCH);
    struct sim_group g = {.id = "cr",
                          .count = HOSTS,
                          .first_number = 1,
                          .mips_total = distribution_constant(1),
                          .n_max = 1,
                          .failure_group = SIM_NO_FAILURE_GROUP};
    struct sim_scenario s = sim_scenario_preset();
    struct bench_policy p = {0};
    struct error err = {.arena = a};
    double rate[SPEED_ROUNDS], median;
    char what[128];

    for (size_t i = 0; i < JOBS; i++)
        jobs[i] = (struct sim_job){.arrival_s = 0.12 * (double)i,
                                   .length_mi = 200,
                                   .resource = SIM_NOT_PINNED,
                                   .cpus = 1,
                                   .mips_required = (double)NAN,
                                   .session_s = (double)NAN,
                                   .requested_s = (double)NAN};
    w.jobs = jobs;
    w.given_count = JOBS;
    s.sites = &site;
    s.site_count = 1;
    s.groups = &g;
    s.group_count = 1;
    s.scheduler_interval_s = 0;
    s.is_interval_s = 0;
    s.stop_time_s = 1e9;
    s.stop_when_done = true;
    set_round(&p, policy, NULL);
    if (workload_prepare(&w, "", a, &err) != OK ||
        sim_scenario_prepare(&s, "", a, &err) != OK)
        bench_stop("many hosts: %s %s", err.field, err.text);
    s.workload = &w;
    for (int i = 0; i < SPEED_ROUNDS; i++) {
        double seconds;
        struct sim_metrics m = play(&s, &p, 1, &seconds);

        rate[i] = m.events / seconds;
    }
    median = bench_quantile(rate, SPEED_ROUNDS, 0.5);
    snprintf(what, sizeof(what),
             "Simulation: 2,000 resources, 150,000 jobs, `%s` after each event, one core",
             policy);
    bench_row(what, "at least 1,000,000 events/s",
              median >= 1e6 ? BENCH_MET : BENCH_MISSED,
              "%.2f million events/s (median of %d)", median / 1e6, SPEED_ROUNDS);
}

/* ---- experiments ---- */

/* Means over seeds 1 .. seeds. */
static void play_all(const struct sim_scenario *s, const struct bench_policy *p,
                     size_t seeds, struct sim_summary *out)
{
    struct sim_metrics runs[SEEDS];
    double seconds;

    for (size_t i = 0; i < seeds; i++)
        runs[i] = play(s, p, i + 1, &seconds);
    for (size_t m = 0; m < SIM_METRIC_COUNT; m++)
        out[m] = sim_summarise_every((const double *)runs + m, seeds, SIM_METRIC_COUNT);
}

/* fault-tolerance.md 9.1: jobs lost, short / medium / long, percent. */
static void desktop(struct arena *a)
{
    static const struct {
        const char *row;
        double lost[3];
    } rows[] = {
        {"100", {3.9, 30.3, 57.4}}, {"95", {4.9, 36.3, 67.7}}, {"80", {6.4, 45.4, 76.9}},
        {"70", {6.4, 45.4, 76.9}},  {"60", {6.4, 45.4, 76.9}}, {"50", {9.5, 60.5, 100}},
        {"30", {9.5, 60.5, 100}},   {"20", {9.5, 60.5, 100}},  {"15", {18, 90.8, 100}},
        {"10", {32.9, 100, 100}},   {"5", {65.5, 100, 100}},
    };
    static const char *const classes[] = {"short", "medium", "long"};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bench_policy p = {0};
        double lost[3], worst = 0;
        double up = 0;
        char what[96], target[64];

        set_round(&p, "fcfs", NULL);
        for (size_t c = 0; c < 3; c++) {
            struct sim_summary m[SIM_METRIC_COUNT];
            char preset[64];
            struct sim_scenario s;

            snprintf(preset, sizeof(preset), "ch3_desktop_%s_%s", classes[c],
                     rows[i].row);
            s = load(preset, a);
            play_all(&s, &p, SEEDS, m);
            lost[c] = 100 * m[SIM_METRIC_jobs_lost_ratio].mean;
            up = 100 * m[SIM_METRIC_availability_ratio].mean;
            worst = fmax(worst, fabs(lost[c] - rows[i].lost[c]));
        }
        snprintf(what, sizeof(what), "Desktop grid, row %s %%: jobs lost by class",
                 rows[i].row);
        snprintf(target, sizeof(target), "%.1f / %.1f / %.1f %%, within 1.5 points",
                 rows[i].lost[0], rows[i].lost[1], rows[i].lost[2]);
        bench_row(what, target, worst <= 1.5 ? BENCH_MET : BENCH_MISSED,
                  "%.1f / %.1f / %.1f %% (up %.1f %% of the time, %d seeds)", lost[0],
                  lost[1], lost[2], up, SEEDS);
    }
}

/* fault-tolerance.md 9.4: jobs done by interval, and what the spec's prototype had. */
static void checkpointing(struct arena *a)
{
    static const struct {
        double interval_s;
        double done[3]; /* periodic, last_failure, mean_failure */
    } rows[] = {
        {15, {3540, 5809, 7090}},    {30, {4776, 6154, 7162}},
        {60, {5651, 6326, 7063}},    {300, {6886, 6694, 7069}},
        {900, {7088, 6722, 7004}},   {3600, {6937, 6566, 6787}},
        {14400, {6260, 6068, 6427}}, {28800, {5876, 5804, 6354}},
    };
    static const char *const names[] = {"periodic", "last_failure", "mean_failure"};
    struct sim_scenario s = load("ch4_checkpoint_stress", a);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double done[3], run_h[3], taken[3], worst = 0;
        size_t seeds = rows[i].interval_s < 60 ? 1 : 3;
        char what[96], target[96];

        for (size_t c = 0; c < 3; c++) {
            const struct bench_option interval[] = {
                {"initial_interval_s", rows[i].interval_s, NULL}, {0}};
            struct sim_summary m[SIM_METRIC_COUNT];
            struct bench_policy p = {0};

            set_round(&p, "migration", NULL);
            set_checkpoint(&p, names[c], interval);
            play_all(&s, &p, seeds, m);
            done[c] = m[SIM_METRIC_jobs_done].mean;
            run_h[c] = m[SIM_METRIC_job_run_time_s].mean / 3600;
            taken[c] = m[SIM_METRIC_checkpoints_per_job].mean;
            worst = fmax(worst, fabs(done[c] / rows[i].done[c] - 1));
        }
        snprintf(what, sizeof(what),
                 "Checkpointing, interval %.0f s: jobs done by "
                 "periodic / last_failure / mean_failure",
                 rows[i].interval_s);
        snprintf(target, sizeof(target), "%.0f / %.0f / %.0f, within 5 %%",
                 rows[i].done[0], rows[i].done[1], rows[i].done[2]);
        bench_row(what, target, worst <= 0.05 ? BENCH_MET : BENCH_MISSED,
                  "%.0f / %.0f / %.0f (run %.1f / %.1f / %.1f h; checkpoints of a job "
                  "%.1f / %.1f / %.1f; %zu seeds)",
                  done[0], done[1], done[2], run_h[0], run_h[1], run_h[2], taken[0],
                  taken[1], taken[2], seeds);
    }
}

static void replication_policy_of(size_t index, struct bench_policy *p)
{
    static const struct bench_option two[] = {{"replicas", 2, NULL}, {0}};
    static const struct bench_option three[] = {{"replicas", 3, NULL}, {0}};
    static const struct bench_option by_load[] = {{"capacity_unit", 0, "resource"}, {0}};
    static const struct bench_option interval[] = {
        {"initial_interval_s", 1800, NULL}, {"min_interval_fraction", 0.05, NULL}, {0}};
    static const struct {
        const char *name;
        const struct bench_option *options;
        bool checkpoints;
    } rows[] = {
        {"fcfs", NULL, false},
        {"unconditional", two, false},
        {"unconditional", three, false},
        {"load_dependent", by_load, false},
        {"failure_dependent", by_load, false},
        {"migration", NULL, true},
        {"combined", by_load, true},
    };

    *p = (struct bench_policy){0};
    set_round(p, rows[index].name, rows[index].options);
    if (rows[index].checkpoints)
        set_checkpoint(p, "mean_failure", interval);
}

/* fault-tolerance.md 9.5: done / lost of seven policies, and the prototype's. */
static void replication(struct arena *a)
{
    enum { POLICIES = 7 };
    static const struct {
        const char *preset;
        double done[POLICIES];
    } rows[] = {
        {"ch4_high_daily_70", {3218, 3458, 2838, 3963, 3624, 4889, 4824}},
        {"ch4_high_daily_80", {4047, 3910, 3029, 4771, 4600, 5772, 5692}},
        {"ch4_high_daily_90", {5187, 4230, 3036, 5894, 6109, 6648, 6626}},
        {"ch4_high_daily_95", {5919, 4262, 2964, 6447, 6618, 6736, 6701}},
        {"ch4_low_daily_70", {620, 692, 698, 698, 698, 698, 698}},
        {"ch4_low_daily_95", {688, 698, 698, 698, 698, 698, 698}},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sim_scenario s = load(rows[i].preset, a);
        struct bench_text got = {0}, want = {0};
        double worst = 0;
        char what[160];

        for (size_t c = 0; c < POLICIES; c++) {
            struct sim_summary m[SIM_METRIC_COUNT];
            struct bench_policy p;
            double done;

            replication_policy_of(c, &p);
            play_all(&s, &p, SEEDS, m);
            done = m[SIM_METRIC_jobs_done].mean;
            worst = fmax(worst, fabs(done / rows[i].done[c] - 1));
            bench_add(&want, "%s%.0f", c ? " / " : "", rows[i].done[c]);
            bench_add(&got, "%s%.0f (lost %.0f, %.2f h, run %.2f h)", c ? " / " : "",
                      done, m[SIM_METRIC_jobs_lost].mean,
                      m[SIM_METRIC_job_length_mi].mean / 3600,
                      m[SIM_METRIC_job_run_time_s].mean / 3600);
        }
        snprintf(what, sizeof(what),
                 "`%s`: jobs done by fcfs / 2 copies / 3 copies / load_dependent / "
                 "failure_dependent / mean_failure / combined",
                 rows[i].preset);
        bench_add(&want, ", within 9 %%");
        bench_row(what, want.data, worst <= 0.09 ? BENCH_MET : BENCH_MISSED, "%s",
                  got.data);
        free(got.data);
        free(want.data);
    }
}

int main(int argc, char **argv)
{
    struct arena *a = arena_create((size_t)1 << 32);

    measure_events(a);
    measure_mixed(a);
    measure_many_hosts("load_dependent", a);
    measure_many_hosts("failure_dependent", a);
    measure_many_hosts("migration", a);
    measure_pinned(a);
    if (argc < 2 || strcmp(argv[1], "quick") != 0) {
        desktop(a);
        checkpointing(a);
        replication(a);
    }
    arena_close(a);
    return 0;
}
