/* placement/amounts_identical.c - proven optimum for identical jobs where amounts count.
 *
 * Jobs that are equal in needs, run times and resources, with nothing taken, fit c_r at a
 * time on a resource, whatever the amounts are: the resource is c_r equal slots. Then the
 * optimum is that of equation 1, as in identical_optimum.c, and least completion times in
 * any order reach it.
 *
 * Source: 004_f687c06842f61aec.txt section 7, eq. 1; spec gridway.md 5.3; world-model.md
 * 4.3 (there only where n_max binds; wider: ours).
 * Cost: O(n m / 64 + m amounts + n log m).
 */
#include "algorithms/placement/amounts_identical.h"

#include "models/base/heap.h"

static bool same_time(double a, double b)
{
    return isnan(a) ? isnan(b) : a >= b && a <= b;
}

static bool is_plain(const struct world *w, const struct world_job *j)
{
    for (size_t k = w->node_amount_count; k < w->amount_count; k++)
        if (j->needs[k] > 0)
            return false;
    return j->nodes == 1 && j->earliest_s <= 0 && j->release_s <= 0 &&
           j->after_count == 0 && j->group == WORLD_NONE && j->choice_count == 1 &&
           j->barred == WORLD_WAIT_NONE && j->stage_out_s <= 0;
}

static bool is_same(const struct world_job *a, const struct world_job *b)
{
    return a->needs == b->needs && a->row == b->row &&
           same_time(a->estimate_ref_s, b->estimate_ref_s) &&
           same_time(a->estimate_s, b->estimate_s) &&
           same_time(a->time_limit_s, b->time_limit_s) &&
           a->choices[0].mask == b->choices[0].mask;
}

const char *amounts_identical_obstacle(const struct world *w)
{
    if (w->job_count == 0)
        return "there are no jobs";
    if (w->holder_count)
        return "something runs or is reserved";
    if (!w->without_files)
        return "jobs have input files, or outputs that go home";
    if (w->limit_count)
        return "partitions limit what one user may have";
    if (w->plan_with_limit)
        return "amounts are held until the time limits";
    for (size_t j = 0; j < w->job_count; j++) {
        budget_step(w->budget, w->amount_count);
        if (!is_plain(w, &w->jobs[j]))
            return "jobs have releases, predecessors, groups, several nodes or shared "
                   "amounts, or no run time";
        if (!is_same(&w->jobs[j], &w->jobs[0]))
            return "jobs differ in run time, resources or needs";
    }
    return NULL;
}

/* A resource and what its least loaded place would reach with one more job. */
struct place {
    double next_s, time_s;
    size_t index, slots, jobs;
};

static bool before(const struct place *a, const struct place *b)
{
    return a->next_s < b->next_s || (a->next_s <= b->next_s && a->index < b->index);
}

HEAP(places, struct place, before)

/* How many of the job fit there at once, `most` at most. */
static size_t fitting(const struct world *w, const struct world_job *j, size_t position,
                      size_t most)
{
    const int64_t *capacity = w->resources[position].capacity;
    size_t count = most;

    for (size_t k = 0; k < w->node_amount_count; k++)
        if (j->needs[k] > 0 && capacity[k] < AMOUNT_UNLIMITED &&
            (size_t)(capacity[k] / j->needs[k]) < count)
            count = (size_t)(capacity[k] / j->needs[k]);
    return count;
}

double amounts_identical_makespan_s(const struct world *w, struct arena *a)
{
    struct place *heap = NEW(a, struct place, w->resource_count);
    const struct world_job *j = &w->jobs[0];
    double makespan_s = 0;
    size_t count = 0;

    for (size_t pos = 0; pos < w->resource_count; pos++) {
        double time_s = world_run_s(w, j, pos);
        size_t slots;

        budget_step(w->budget, w->node_amount_count);
        if (!world_mask_has(j->choices[0].mask, pos) || !(time_s < HUGE_VAL))
            continue;
        slots = fitting(w, j, pos, w->job_count);
        if (time_s <= 0 && slots > 0) /* holds nothing */
            return 0;
        if (slots > 0)
            heap[count++] =
                (struct place){time_s, time_s, w->resources[pos].index, slots, 0};
    }
    places_heapify(heap, count);
    for (size_t i = 0; i < w->job_count && count; i++) {
        struct place *p = &heap[0];
        size_t height; /* jobs in its least loaded place, with one more */

        budget_step(w->budget, 4);
        makespan_s = fmax(makespan_s, p->next_s);
        p->jobs++;
        height = p->jobs / p->slots + 1;
        p->next_s = (double)height * p->time_s;
        places_first_changed(heap, count);
    }
    return makespan_s;
}
