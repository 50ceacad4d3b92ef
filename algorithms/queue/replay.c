/* queue/replay.c - a whole job log under a queue policy. */
#include "algorithms/queue/replay.h"

#include "algorithms/queue/machine.h"

#include "models/base/precise_sum.h"

#include <math.h>
#include <stdlib.h>

enum { PROGRESS_STEPS = 256 }; /* instants between two words on the progress */

struct place {
    double submit_s, number;
    size_t index;
};

/* By arrival, then number, then as given; unknown numbers are last. */
static int compare_places(const void *left, const void *right)
{
    const struct place *l = left, *r = right;

    if (l->submit_s != r->submit_s)
        return l->submit_s < r->submit_s ? -1 : 1;
    if (l->number != r->number)
        return l->number < r->number ? -1 : 1;
    return l->index < r->index ? -1 : l->index > r->index;
}

/* Whole processors; what is beyond any machine is one more than the largest has. */
static uint64_t processors_of(const struct swf_job *job)
{
    return (uint64_t)fmin(ceil(swf_processors(job)), QUEUE_PROCESSORS_MAX + 1);
}

double queue_replay_run_s(const struct queue_replay_in *in, const struct swf_job *job)
{
    return in->cut_at_request ? fmin(job->run_s, job->requested_s) : job->run_s;
}

static double estimate_of(const struct queue_replay_in *in, const struct swf_job *job)
{
    double run_s = queue_replay_run_s(in, job);

    return in->estimates == QUEUE_EXACT ? run_s : fmax(run_s, job->requested_s);
}

/* A log being replayed. */
struct replay {
    const struct queue_replay_in *in;
    struct place *places;
    struct queue_job *jobs; /* in order of arrival, as are run_s */
    double *run_s;
    struct queue_in cluster;
    struct machine machine;
};

static void prepare(struct replay *r, struct arena *a)
{
    const struct queue_replay_in *in = r->in;

    r->places = NEW(a, struct place, in->job_count);
    r->jobs = NEW(a, struct queue_job, in->job_count);
    r->run_s = NEW(a, double, in->job_count);
    for (size_t i = 0; i < in->job_count; i++) {
        double number = in->jobs[i].number;

        r->places[i] =
            (struct place){in->jobs[i].submit_s, isnan(number) ? HUGE_VAL : number, i};
    }
    qsort(r->places, in->job_count, sizeof(*r->places), compare_places);
    for (size_t i = 0; i < in->job_count; i++) {
        const struct swf_job *job = &in->jobs[r->places[i].index];

        r->run_s[i] = queue_replay_run_s(in, job);
        r->jobs[i] =
            (struct queue_job){job->submit_s, estimate_of(in, job), processors_of(job)};
    }
    r->cluster = (struct queue_in){
        .now_s = in->job_count ? r->jobs[0].submit_s : 0,
        .processors = in->processors,
        .jobs = r->jobs,
        .job_count = in->job_count,
        .reservations = in->reservations,
        .reservation_count = in->reservation_count,
    };
}

static enum error_code play(struct replay *r, const struct queue_replay_watch *watch,
                            struct error *err)
{
    struct machine *m = &r->machine;
    double all = 2 * (double)r->in->job_count;
    bool more = true;

    for (size_t step = 0; more; step++) {
        if (watch && watch->progress && step % PROGRESS_STEPS == 0)
            watch->progress(watch->context,
                            (double)(m->ended_count + m->arrived_count) / fmax(1, all));
        TRY(machine_step(m, &more, err));
    }
    return OK;
}

static void add_figures(const struct replay *r, size_t i, struct precise_sum *busy,
                        double *end_s, struct queue_figures *f)
{
    double start_s = r->machine.start_s[i], wait_s = start_s - r->jobs[i].submit_s;
    double run_s = r->run_s[i], job_end_s = start_s + run_s;

    f->mean_wait_s += wait_s;
    f->max_wait_s = fmax(f->max_wait_s, wait_s);
    f->mean_response_s += wait_s + run_s;
    f->mean_bounded_slowdown += fmax(1, (wait_s + run_s) / fmax(r->in->bound_s, run_s));
    precise_add(busy, ((long double)job_end_s - start_s) * r->jobs[i].processors);
    *end_s = fmax(*end_s, job_end_s);
}

static void summarise(const struct replay *r, struct queue_replay_out *out)
{
    struct queue_figures *f = &out->figures;
    double begin_s = HUGE_VAL, end_s = -HUGE_VAL, n;
    struct precise_sum busy = {0};

    for (size_t i = 0; i < r->in->job_count; i++) {
        size_t given = r->places[i].index;

        out->start_s[given] = r->machine.start_s[i];
        out->run_s[given] = r->run_s[i];
        if (isnan(r->machine.start_s[i])) {
            out->never_fit_count++;
            continue;
        }
        out->run_count++;
        begin_s = fmin(begin_s, r->jobs[i].submit_s);
        add_figures(r, i, &busy, &end_s, f);
    }
    n = out->run_count ? (double)out->run_count : (double)NAN;
    f->max_wait_s = out->run_count ? f->max_wait_s : (double)NAN;
    f->mean_wait_s /= n;
    f->mean_response_s /= n;
    f->mean_bounded_slowdown /= n;
    f->makespan_s = out->run_count ? end_s - begin_s : (double)NAN;
    f->utilisation_ratio =
        f->makespan_s > 0 ? (double)(precise_total(&busy) /
                                     (((long double)end_s - begin_s) * r->in->processors))
                          : (double)NAN;
}

enum error_code queue_replay(const struct policy *policy,
                             const struct queue_replay_in *in,
                             const struct queue_replay_watch *watch,
                             struct queue_replay_out *out, struct arena *a,
                             struct error *err)
{
    struct queue_replay_out played = {
        .start_s = NEW(a, double, in->job_count),
        .run_s = NEW(a, double, in->job_count),
    };
    struct replay r = {.in = in};

    prepare(&r, a);
    TRY(machine_open(&r.machine, policy, &r.cluster, r.run_s,
                     watch ? watch->budget : NULL, a, err));
    TRY(play(&r, watch, err));
    played.is_cut = r.machine.cut;
    if (!played.is_cut)
        summarise(&r, &played);
    *out = played;
    return OK;
}

struct swf_job queue_replayed_job(const struct queue_replay_in *in,
                                  const struct queue_replay_out *out, size_t job)
{
    struct swf_job ran = in->jobs[job];

    if (isnan(out->start_s[job])) {
        ran.wait_s = (double)NAN;
        ran.status = 5; /* cancelled before it started */
        return ran;
    }
    ran.wait_s = out->start_s[job] - ran.submit_s;
    ran.run_s = out->run_s[job];
    ran.processors = (double)processors_of(&in->jobs[job]);
    return ran;
}
