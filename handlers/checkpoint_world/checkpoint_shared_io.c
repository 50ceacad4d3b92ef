/* checkpoint_shared_io.c - the jobs of a request share a file system. */
#include "handlers/checkpoint/checkpoint_decision.h"

#include "algorithms/checkpoint/shared_io.h"

/* Beyond it nothing differs, but products overflow. */
#define LONGEST_MEAN_S (CHECKPOINT_LONGEST_S * CHECKPOINT_LONGEST_S)

/* What its interval means, alone on its nodes. */
static void put(const struct shared_io_job *job, struct checkpoint_interval *out)
{
    const struct checkpoint_in *in = out->world.in;
    struct finite_job finite;
    double expected_s = NAN;

    if (checkpoint_finite_job(in, CHECKPOINT_SHORTEST_S, &finite))
        expected_s = finite_expected_of_interval_s(&finite, job->interval_s);
    checkpoint_put_interval(in, job->interval_s, expected_s, out);
    out->out.expected_time_ratio = checkpoint_expected_time_ratio(in, job->interval_s);
    if (isnan(expected_s))
        out->out.waste_ratio = 1 - 1 / out->out.expected_time_ratio;
    out->world.period_s = job->period_s;
    out->world.offset_s = job->offset_s;
    out->world.overlap_s = job->overlap_s;
}

void checkpoint_world_share(struct checkpoint_work *w,
                            struct checkpoint_interval *intervals,
                            struct checkpoint_answer_world *out)
{
    const struct checkpoint_shared_io *io = w->body->world.shared_io;
    size_t count = w->body->job_count, kept = 0;
    struct shared_io_job *jobs;
    size_t *which;
    struct shared_io_load load;

    out->load_ratio = out->unconstrained_load_ratio = NAN;
    if (!io)
        return;
    jobs = NEW(w->rq->arena, struct shared_io_job, count);
    which = NEW(w->rq->arena, size_t, count);
    for (size_t i = 0; i < count; i++) {
        const struct checkpoint_in *in = intervals[i].world.in;

        /* of what is free of charge, or never fails as far as is known, none is placed */
        if (!(in->checkpoint_overhead_s > 0) || !(in->mean_failure_interval_s > 0) ||
            isinf(in->mean_failure_interval_s))
            continue;
        which[kept] = i;
        jobs[kept++] = (struct shared_io_job){
            .id = w->body->jobs[i].id,
            .overhead_s = in->checkpoint_overhead_s,
            .mean_s = fmin(in->mean_failure_interval_s, LONGEST_MEAN_S),
            .nodes = intervals[i].world.nodes};
    }
    shared_io_intervals(jobs, kept, io->use_max_ratio, &load);
    shared_io_stagger(jobs, kept, io->use_max_ratio, &load, w->rq->arena, &w->rq->budget);
    for (size_t k = 0; k < kept; k++) {
        const struct checkpoint_job *job = &w->body->jobs[which[k]];

        put(&jobs[k], &intervals[which[k]]);
        if (isnan(jobs[k].overlap_s))
            checkpoint_affect(w, CHECKPOINT_WARNS_CUT_WORLD, job);
        if (load.is_capped && jobs[k].period_s >= load.longest_s * (1 - 1e-9))
            checkpoint_affect(w, CHECKPOINT_WARNS_CAPPED, job);
    }
    out->load_ratio = load.load_ratio;
    out->unconstrained_load_ratio = load.unconstrained_ratio;
    w->is_unproved = true;
}
