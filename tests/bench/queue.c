/* queue.c - replays of batch queues, and decisions with many that wait, in process. All
 * seconds are CPU time.
 *
 * The log: the first 1000 jobs of KTH-SP2 (GRIDPLAN_DATA), repeated with shifted times
 * until there are 28,000. Drawn ones: run times over four orders of magnitude, widths up
 * to 128 of 128 processors, requested times up to ten times the run time, the cluster
 * 80 % busy. What waits in a decision: running jobs fill 10,000 processors, widths are
 * 2^U(0, 9), estimates of 16 values, or log-uniform from 10 s to 28 h.
 *
 * The flat array is what one writes first: all cells in one array, each question and
 * each change a walk over it. Its starts must be those of the replay.
 */
#include "tests/bench/bench.h"

#include "algorithms/queue/replay.h"
#include "models/base/rng.h"

#include <math.h>

enum { KTH_JOBS = 28000, PROCESSORS = 128 };
static const double LOAD = 0.8;
static const size_t ARENA_BYTES = (size_t)4 << 30;

/* Widths are powers of two or not, run times spread over orders of magnitude. */
static struct swf_job draw_job(struct rng *r, size_t i)
{
    struct swf_job job = {.number = (double)(i + 1)};
    double wide = floor(exp2(7 * rng_uniform(r) * rng_uniform(r)));
    double run_s = floor(exp(2 + 8.5 * rng_uniform(r)));

    job.processors = rng_uniform(r) < 0.25 ? 1 : wide;
    job.requested_processors = job.processors;
    job.run_s = run_s;
    job.requested_s = ceil(run_s * (1 + 9 * rng_uniform(r) * rng_uniform(r)));
    return job;
}

static struct swf_job *draw_log(size_t count, struct arena *a)
{
    struct swf_job *jobs = NEW(a, struct swf_job, count);
    struct rng r = rng_stream(1, "bench queue");
    double work = 0, at_s = 0, gap_s;

    if (!jobs)
        bench_stop("no memory");
    for (size_t i = 0; i < count; i++) {
        jobs[i] = draw_job(&r, i);
        work += jobs[i].run_s * jobs[i].processors;
    }
    gap_s = work / (LOAD * PROCESSORS * (double)count);
    for (size_t i = 0; i < count; i++) {
        jobs[i].submit_s = floor(at_s);
        at_s -= gap_s * log(1 - rng_uniform(&r));
    }
    return jobs;
}

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of a replay. */
static double measure(const char *policy, const struct swf_job *jobs, size_t count,
                      uint64_t processors, struct queue_figures *figures)
{
    struct arena *a = arena_create(ARENA_BYTES);
    struct queue_replay_in in = {
        .jobs = jobs, .job_count = count, .processors = processors, .bound_s = 10};
    struct queue_replay_out out;
    struct error err = {.code = OK};
    double begin_s = cpu_s();

    if (!a ||
        queue_replay(policy_find(queue_policies, policy), &in, NULL, &out, a, &err) != OK)
        bench_stop("%s fails: %s", policy, err.text);
    begin_s = cpu_s() - begin_s;
    *figures = out.figures;
    arena_close(a);
    return begin_s;
}

/* ---- the flat array ---- */

struct flat {
    double *at_s;
    int64_t *free;
    size_t count;
    const struct swf_job *jobs;
    double *plan_s, *start_s, *end_s;
    size_t *waiting, *running; /* by arrival */
    size_t waiting_count, running_count;
};

static size_t flat_cell(struct flat *f, double at_s)
{
    size_t i = f->count - 1;

    while (i && f->at_s[i] > at_s)
        i--;
    if (f->at_s[i] >= at_s)
        return i;
    memmove(&f->at_s[i + 2], &f->at_s[i + 1], (f->count - i - 1) * sizeof(double));
    memmove(&f->free[i + 2], &f->free[i + 1], (f->count - i - 1) * sizeof(int64_t));
    f->at_s[i + 1] = at_s;
    f->free[i + 1] = f->free[i];
    f->count++;
    return i + 1;
}

static void flat_add(struct flat *f, double start_s, double end_s, int64_t delta)
{
    size_t end, begin;

    if (!(end_s > start_s))
        return;
    begin = flat_cell(f, start_s);
    end = flat_cell(f, end_s);
    for (size_t i = begin; i < end; i++)
        f->free[i] += delta;
}

static double flat_fit(const struct flat *f, int64_t need, double length_s)
{
    double start_s = (double)NAN;

    for (size_t i = 0; i < f->count; i++) {
        if (f->free[i] < need)
            start_s = (double)NAN;
        else if (isnan(start_s))
            start_s = f->at_s[i];
        if (i + 1 == f->count || start_s + length_s <= f->at_s[i + 1])
            break;
    }
    return start_s;
}

static void flat_advance(struct flat *f, double now_s)
{
    size_t past = 0;

    while (past + 1 < f->count && f->at_s[past + 1] <= now_s)
        past++;
    memmove(f->at_s, f->at_s + past, (f->count - past) * sizeof(double));
    memmove(f->free, f->free + past, (f->count - past) * sizeof(int64_t));
    f->count -= past;
    f->at_s[0] = now_s;
}

static int64_t width(const struct swf_job *job)
{
    return (int64_t)swf_processors(job);
}

static double flat_end_s(double start_s, const struct swf_job *job)
{
    double end_s = start_s + swf_estimate_s(job);

    return end_s > start_s ? end_s : nextafter(start_s, HUGE_VAL);
}

static void flat_plan(struct flat *f, size_t i)
{
    const struct swf_job *job = &f->jobs[i];

    f->plan_s[i] = flat_fit(f, width(job), swf_estimate_s(job));
    flat_add(f, f->plan_s[i], flat_end_s(f->plan_s[i], job), -width(job));
}

/* Ends at an instant; whether one comes before its estimate. */
static bool flat_ends(struct flat *f, double now_s)
{
    bool early = false;
    size_t kept = 0;

    for (size_t k = 0; k < f->running_count; k++) {
        size_t i = f->running[k];
        double promised_s = flat_end_s(f->start_s[i], &f->jobs[i]);

        if (f->end_s[i] > now_s) {
            f->running[kept++] = i;
            continue;
        }
        flat_add(f, now_s, promised_s, width(&f->jobs[i]));
        early |= promised_s > now_s && swf_estimate_s(&f->jobs[i]) > 0;
    }
    f->running_count = kept;
    return early;
}

static void flat_starts(struct flat *f, double now_s)
{
    size_t kept = 0;

    for (size_t k = 0; k < f->waiting_count; k++) {
        size_t i = f->waiting[k];

        if (f->plan_s[i] > now_s) {
            f->waiting[kept++] = i;
            continue;
        }
        f->start_s[i] = now_s;
        f->end_s[i] = now_s + f->jobs[i].run_s;
        f->running[f->running_count++] = i;
    }
    f->waiting_count = kept;
}

static void flat_play(struct flat *f, size_t count)
{
    size_t next = 0;

    while (next < count || f->waiting_count || f->running_count) {
        double now_s = next < count ? f->jobs[next].submit_s : HUGE_VAL;

        for (size_t k = 0; k < f->running_count; k++)
            now_s = fmin(now_s, f->end_s[f->running[k]]);
        for (size_t k = 0; k < f->waiting_count; k++)
            now_s = fmin(now_s, f->plan_s[f->waiting[k]]);
        flat_advance(f, now_s);
        if (flat_ends(f, now_s))
            for (size_t k = 0; k < f->waiting_count; k++) {
                size_t i = f->waiting[k];

                flat_add(f, f->plan_s[i], flat_end_s(f->plan_s[i], &f->jobs[i]),
                         width(&f->jobs[i]));
                flat_plan(f, i);
            }
        for (; next < count && f->jobs[next].submit_s <= now_s; next++) {
            flat_plan(f, next);
            f->waiting[f->waiting_count++] = next;
        }
        flat_starts(f, now_s);
    }
}

/* Seconds of a replay of conservative on a flat array; its mean bounded slowdown. */
static double measure_flat(const struct swf_job *jobs, size_t count, uint64_t processors,
                           double *slowdown)
{
    struct arena *a = arena_create(ARENA_BYTES);
    struct flat f = {
        .at_s = NEW(a, double, 4 * count + 4),
        .free = NEW(a, int64_t, 4 * count + 4),
        .jobs = jobs,
        .plan_s = NEW(a, double, count),
        .start_s = NEW(a, double, count),
        .end_s = NEW(a, double, count),
        .waiting = NEW(a, size_t, count),
        .running = NEW(a, size_t, count),
        .count = 1,
    };
    double begin_s = cpu_s();

    f.free[0] = (int64_t)processors;
    flat_play(&f, count);
    begin_s = cpu_s() - begin_s;
    *slowdown = 0;
    for (size_t i = 0; i < count; i++)
        *slowdown += fmax(1, (f.start_s[i] - jobs[i].submit_s + jobs[i].run_s) /
                                 fmax(10, jobs[i].run_s)) /
                     (double)count;
    arena_close(a);
    return begin_s;
}

/* The least of three, one after the other. */
static void compare_flat(const char *what, const struct swf_job *jobs, size_t count,
                         uint64_t processors)
{
    double flat_s = HUGE_VAL, blocks_s = HUGE_VAL, slowdown = 0;
    struct queue_figures f;

    for (int i = 0; i < 3; i++) {
        flat_s = fmin(flat_s, measure_flat(jobs, count, processors, &slowdown));
        blocks_s = fmin(blocks_s, measure("conservative", jobs, count, processors, &f));
    }
    if (!(fabs(slowdown / f.mean_bounded_slowdown - 1) < 1e-9))
        bench_stop("%s: the flat array has a mean bounded slowdown of %.12g, the replay "
                   "%.12g",
                   what, slowdown, f.mean_bounded_slowdown);
    bench_row(what, "not slower than a flat array",
              blocks_s <= flat_s ? BENCH_MET : BENCH_MISSED, "%.3f s, flat %.3f s",
              blocks_s, flat_s);
}

/* ---- decisions ---- */

enum { WAITING = 100000, RUNNING_MAX = 10000, CLUSTER = 10000 };

static double draw_estimate(struct rng *r, bool distinct)
{
    return distinct ? 900.0 * (double)(1 + rng_index(r, 16))
                    : 10 * exp(log(10080) * rng_uniform(r));
}

static uint64_t draw_width(struct rng *r)
{
    return (uint64_t)floor(exp2(9 * rng_uniform(r)));
}

static void measure_decision(const char *policy, bool distinct)
{
    struct arena *a = arena_create(ARENA_BYTES);
    struct rng r = rng_stream(1, "bench decision");
    struct queue_job *jobs = NEW(a, struct queue_job, WAITING);
    struct queue_running *running = NEW(a, struct queue_running, RUNNING_MAX);
    struct queue_in in = {.now_s = 1000,
                          .processors = CLUSTER,
                          .jobs = jobs,
                          .job_count = WAITING,
                          .running = running};
    struct queue_out out;
    struct error err = {.code = OK};
    uint64_t used = 0;
    bool target = strcmp(policy, "conservative") == 0;
    double taken_s;
    char what[128];

    if (!jobs || !running)
        bench_stop("no memory");
    for (uint64_t next = draw_width(&r); used + next <= CLUSTER; next = draw_width(&r)) {
        running[in.running_count++] =
            (struct queue_running){1000 + draw_estimate(&r, distinct), next};
        used += next;
    }
    for (size_t i = 0; i < WAITING; i++)
        jobs[i] =
            (struct queue_job){(double)i, draw_estimate(&r, distinct), draw_width(&r)};
    taken_s = cpu_s();
    if (queue_decide(policy_find(queue_policies, policy), &in, &out, a, &err) != OK)
        bench_stop("%s fails: %s", policy, err.text);
    taken_s = cpu_s() - taken_s;
    snprintf(what, sizeof(what), "`%s`, 100,000 waiting, estimates %s", policy,
             distinct ? "of 16 values" : "log-uniform");
    bench_row(what, target ? "under 1 s" : "",
              !target         ? BENCH_NO_TARGET
              : taken_s < 1.0 ? BENCH_MET
                              : BENCH_MISSED,
              "%.3f s", taken_s);
    arena_close(a);
}

static void measure_log(struct arena *a)
{
    enum { TEXT_BYTES = 1 << 20 };
    const char *folder = getenv("GRIDPLAN_DATA");
    char *text = NEW(a, char, TEXT_BYTES);
    struct swf_job *jobs = NEW(a, struct swf_job, KTH_JOBS);
    struct swf_counts *counts = NEW(a, struct swf_counts, 1);
    struct queue_figures f;
    struct swf_log log;
    struct swf_header header;
    struct error err = {.code = OK};
    char path[4096];
    double turn_s;
    FILE *file;

    snprintf(path, sizeof(path), "%s/01-workloads/swf/KTH-SP2-first1000.swf",
             folder ? folder : "");
    file = fopen(path, "r");
    if (!file || !text || !jobs || !counts)
        bench_stop("cannot read '%s' (GRIDPLAN_DATA)", path);
    if (swf_read(text, fread(text, 1, TEXT_BYTES, file), &log, &header, counts, a,
                 &err) != OK ||
        log.count == 0)
        bench_stop("'%s' has no jobs", path);
    fclose(file);
    turn_s = log.jobs[log.count - 1].submit_s - log.jobs[0].submit_s;
    for (size_t i = 0; i < KTH_JOBS; i++) {
        jobs[i] = log.jobs[i % log.count];
        jobs[i].number = (double)(i + 1);
        jobs[i].submit_s += turn_s * (double)(i / log.count);
    }
    for (const struct policy *p = queue_policies; p->name; p++) {
        double taken_s = measure(p->name, jobs, KTH_JOBS, 100, &f);
        bool target = strcmp(p->name, "easy") == 0;
        char what[128];

        snprintf(what, sizeof(what), "`%s` on 28,000 jobs (KTH repeated)", p->name);
        bench_row(what, target ? "under 1 s" : "",
                  !target         ? BENCH_NO_TARGET
                  : taken_s < 1.0 ? BENCH_MET
                                  : BENCH_MISSED,
                  "%.3f s (mean bounded slowdown %.2f)", taken_s,
                  f.mean_bounded_slowdown);
    }
    compare_flat("`conservative` on 28,000 jobs (KTH repeated), flat array", jobs,
                 KTH_JOBS, 100);
}

static void measure_sizes(struct arena *a)
{
    static const char *const policies[] = {"conservative", "easy"};
    static const size_t sizes[] = {7000, 28000, 112000};

    for (size_t k = 0; k < 2; k++) {
        struct queue_figures f;
        double taken_s[3];
        char what[128];

        for (size_t i = 0; i < 3; i++)
            taken_s[i] =
                measure(policies[k], draw_log(sizes[i], a), sizes[i], PROCESSORS, &f);
        snprintf(what, sizeof(what), "`%s` on 7,000, 28,000 and 112,000 drawn jobs",
                 policies[k]);
        bench_row(what, "", BENCH_NO_TARGET, "%.3f, %.3f, %.3f s", taken_s[0], taken_s[1],
                  taken_s[2]);
    }
}

int main(void)
{
    struct arena *a = arena_create(ARENA_BYTES);

    if (!a)
        bench_stop("no memory");
    measure_log(a);
    measure_sizes(a);
    compare_flat("`conservative` on 28,000 drawn jobs, flat array", draw_log(28000, a),
                 28000, PROCESSORS);
    measure_decision("conservative", true);
    measure_decision("conservative", false);
    measure_decision("easy", false);
    measure_decision("fcfs", false);
    arena_close(a);
    return 0;
}
