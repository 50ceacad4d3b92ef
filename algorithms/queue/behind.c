/* queue/behind.c - a start for the jobs that there was no time to plan. */
#include "algorithms/queue/behind.h"

#include <math.h>

struct behind {
    struct job_end *ends; /* heap of those that were placed; first: the earliest */
    size_t end_count;
    uint64_t free; /* at now_s */
    double now_s;
};

static void push(struct behind *b, struct job_end end)
{
    size_t i = b->end_count++;

    for (; i && end.at_s < b->ends[(i - 1) / 2].at_s; i = (i - 1) / 2)
        b->ends[i] = b->ends[(i - 1) / 2];
    b->ends[i] = end;
}

static struct job_end pop(struct behind *b)
{
    struct job_end first = b->ends[0], last = b->ends[--b->end_count];
    size_t i = 0;

    for (size_t child = 1; child < b->end_count; child = 2 * i + 1) {
        if (child + 1 < b->end_count && b->ends[child + 1].at_s < b->ends[child].at_s)
            child++;
        if (last.at_s <= b->ends[child].at_s)
            break;
        b->ends[i] = b->ends[child];
        i = child;
    }
    b->ends[i] = last;
    return first;
}

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
            struct job_end end = pop(&b);

            b.now_s = end.at_s;
            b.free += m->jobs[end.job].processors;
        }
        start_s[job] = b.now_s;
        b.free -= j->processors;
        push(&b, (struct job_end){machine_end_s(b.now_s, j->estimate_s), job});
        (*count)++;
    }
    return OK;
}
