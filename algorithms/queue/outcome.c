/* queue/outcome.c - what became of the jobs of a replay, whoever has played it. */
#include "algorithms/queue/outcome.h"

#include <math.h>

double queue_percentile(const double *sorted, size_t count, double percent)
{
    double at = (double)(count - 1) * percent / 100;
    size_t below = (size_t)at;

    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

double queue_bounded_slowdown(double response_s, double run_s, double bound_s)
{
    return fmax(1, response_s / fmax(bound_s, run_s));
}

struct queue_outcome *queue_outcomes(const struct queue_replay_in *in,
                                     const struct queue_replay_out *out, struct arena *a)
{
    struct queue_outcome *list = NEW(a, struct queue_outcome, in->job_count);

    for (size_t i = 0; i < in->job_count; i++) {
        const struct swf_job *job = &in->jobs[i];
        struct queue_outcome *o = &list[i];

        o->submit_s = job->submit_s;
        o->start_s = out->start_s[i];
        o->wait_s = out->start_s[i] - job->submit_s;
        o->run_s = out->run_s[i];
        o->response_s = o->wait_s + o->run_s;
        o->cores = ceil(swf_processors(job));
        o->bounded = queue_ran(o)
                         ? queue_bounded_slowdown(o->response_s, o->run_s, in->bound_s)
                         : (double)NAN;
#define X(symbol, column) o->key[QUEUE_KEY_##symbol] = job->column;
        QUEUE_KEYS(X)
#undef X
    }
    return list;
}
