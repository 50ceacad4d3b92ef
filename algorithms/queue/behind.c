/* queue/behind.c - a start for the jobs that there was no time to plan. */
#include "algorithms/queue/behind.h"
#include "models/base/heap.h"

#include <math.h>

struct behind {
    struct job_end *ends; /* heap of those that were placed; first: the earliest */
    size_t end_count;
    uint64_t free; /* at now_s */
    double now_s;
};

static bool ends_before(const struct job_end *a, const struct job_end *b)
{
    return a->at_s < b->at_s; /* one of two that end together serves as well */
}
HEAP(ends, struct job_end, ends_before)

enum error_code queue_place_behind(const struct machine *m, double *start_s,
                                   size_t *count)
{
    struct behind b = {.ends = NEW(m->arena, struct job_end, m->job_count + 1)};
    uint64_t most;

    b.now_s = profile_end_s(&m->profile, &b.free);
    most = b.free;
    *count = 0;
    for (size_t rank = 0; rank < m->job_count; rank++) {
        size_t job = m->waiting.job_of_rank[rank];
        const struct queue_job *j = &m->jobs[job];

        if (j->processors > most || !isnan(m->start_s[job]) || !isnan(m->plan_s[job]))
            continue;
        while (b.free < j->processors) {
            struct job_end end = ends_pop(b.ends, &b.end_count);

            b.now_s = end.at_s;
            b.free += m->jobs[end.job].processors;
        }
        start_s[job] = b.now_s;
        b.free -= j->processors;
        ends_push(b.ends, &b.end_count,
                  (struct job_end){machine_end_s(b.now_s, j->estimate_s), job});
        (*count)++;
    }
    return OK;
}
