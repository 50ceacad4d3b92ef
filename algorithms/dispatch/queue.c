/* dispatch/queue.c - waiting jobs, one after another to the fastest resource.
 *
 * Cost: O(jobs + resources + starts * (log resources + log jobs)).
 */
#include "algorithms/dispatch/queue.h"
#include "models/base/heap.h"

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
static bool is_before(const struct heap *h, const size_t *i, const size_t *j)
{
    double a = h->in->jobs[*i].length_mi, b = h->in->jobs[*j].length_mi;

    if (a != b)
        return h->order == QUEUE_LONGEST ? a > b : a < b;
    return *i < *j;
}

HEAP_IN(jobs, size_t, struct heap, is_before)

static enum error_code dispatch_by_length(struct round_work *w, enum queue_order order)
{
    struct heap h = {.in = w->in, .order = order};

    h.jobs = NEW(w->arena, size_t, w->in->job_count);
    for (size_t job = next_waiting(w->in, 0); job < w->in->job_count;
         job = next_waiting(w->in, job + 1))
        h.jobs[h.count++] = job;
    jobs_heapify(&h, h.jobs, h.count);
    while (h.count && slots_free_cpus(&w->slots) > 0)
        TRY(start_fastest(w, jobs_pop(&h, h.jobs, &h.count)));
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
