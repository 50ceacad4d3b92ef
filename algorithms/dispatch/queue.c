/* dispatch/queue.c - waiting jobs, one after another to the fastest resource.
 *
 * Cost: O(jobs + resources + starts * (log resources + log jobs)).
 */
#include "algorithms/dispatch/queue.h"

/* The first of the jobs from `job` on that was never started; job_count: none. */
static size_t next_waiting(const struct round_in *in, size_t job)
{
    for (job = work_next_below(in, false, job, 1); job < in->job_count;
         job = work_next_below(in, false, job + 1, 1))
        if (in->jobs[job].started_count == 0 && !work_is_finished(in, job))
            break;
    return job;
}

static enum error_code start_fastest(struct round_work *w, size_t job)
{
    const struct round_job *j = &w->in->jobs[job];

    TRY(slots_index(&w->slots, w->err));
    work_hold(w, job);
    work_start(w, job, 0, slots_fastest(&w->slots), j->has_checkpoint);
    return OK;
}

/* ---- a heap of jobs ---- */

struct heap {
    const struct round_in *in;
    enum queue_order order;
    size_t *jobs, count;
};

/* Job i comes before job j; ties: first arrival. */
static bool is_before(const struct heap *h, size_t i, size_t j)
{
    double a = h->in->jobs[i].length_mi, b = h->in->jobs[j].length_mi;

    if (a != b)
        return h->order == QUEUE_LONGEST ? a > b : a < b;
    return i < j;
}

static void sink(struct heap *h, size_t i)
{
    size_t job = h->jobs[i];

    for (size_t child; (child = 2 * i + 1) < h->count; i = child) {
        if (child + 1 < h->count && is_before(h, h->jobs[child + 1], h->jobs[child]))
            child++;
        if (!is_before(h, h->jobs[child], job))
            break;
        h->jobs[i] = h->jobs[child];
    }
    h->jobs[i] = job;
}

static size_t pop(struct heap *h)
{
    size_t first = h->jobs[0];

    h->jobs[0] = h->jobs[--h->count];
    if (h->count)
        sink(h, 0);
    return first;
}

static enum error_code dispatch_by_length(struct round_work *w, enum queue_order order)
{
    struct heap h = {.in = w->in, .order = order};

    h.jobs = NEW(w->arena, size_t, w->in->job_count);
    for (size_t job = next_waiting(w->in, 0); job < w->in->job_count;
         job = next_waiting(w->in, job + 1))
        h.jobs[h.count++] = job;
    for (size_t i = h.count / 2; i-- > 0;)
        sink(&h, i);
    while (h.count && slots_free_cpus(&w->slots) > 0)
        TRY(start_fastest(w, pop(&h)));
    return OK;
}

enum error_code queue_dispatch(struct round_work *w, enum queue_order order)
{
    if (slots_free_cpus(&w->slots) == 0)
        return OK;
    if (order != QUEUE_ARRIVAL)
        return dispatch_by_length(w, order);
    for (size_t job = next_waiting(w->in, 0);
         job < w->in->job_count && slots_free_cpus(&w->slots) > 0;
         job = next_waiting(w->in, job + 1))
        TRY(start_fastest(w, job));
    return OK;
}

enum error_code queue_round(const struct round_in *in, enum queue_order order,
                            struct round_out *out, struct arena *a, struct error *err)
{
    struct round_work w;

    TRY(work_begin(&w, in, CAPACITY_SLOT, a, err));
    w.target = 1;
    TRY(queue_dispatch(&w, order));
    work_end(&w, out);
    return OK;
}
