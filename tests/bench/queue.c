/* queue.c - replays of batch queues, in process.
 *
 * The log: the first 1000 jobs of KTH-SP2 (GRIDPLAN_DATA), repeated with shifted times
 * until there are 28,000. Drawn ones: run times over four orders of magnitude, widths up
 * to 128 of 128 processors, requested times up to ten times the run time, the cluster
 * 80 % busy.
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

/* Seconds of a replay. */
static double measure(const char *policy, const struct swf_job *jobs, size_t count,
                      uint64_t processors, struct queue_figures *figures)
{
    struct arena *a = arena_create(ARENA_BYTES);
    struct queue_replay_in in = {
        .jobs = jobs, .job_count = count, .processors = processors, .bound_s = 10};
    struct queue_replay_out out;
    struct error err = {.code = OK};
    double begin_s = bench_now_s();

    if (!a || queue_replay(queue_policy_find(policy), &in, NULL, &out, a, &err) != OK)
        bench_stop("%s fails: %s", policy, err.text);
    begin_s = bench_now_s() - begin_s;
    *figures = out.figures;
    arena_close(a);
    return begin_s;
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
    for (const struct queue_policy *p = queue_policies; p->name; p++) {
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
    arena_close(a);
    return 0;
}
