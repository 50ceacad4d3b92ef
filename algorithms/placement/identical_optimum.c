/* placement/identical_optimum.c - proven optimum for identical jobs.
 *
 * Minimise max_i N_i * T_i subject to sum_i N_i = n: each next job goes to the
 * resource with the least (N_i + 1) * T_i; a resource with s slots counts as s
 * resources. Ties: lowest resource index.
 *
 * It applies if all jobs have equal estimates (or matrix rows) and needs, no files,
 * outputs or release times, every slot is free now, and no resource with limited cpus or
 * memory has more slots than fit.
 *
 * Source: 004_f687c06842f61aec.txt section 7, eq. 1; spec gridway.md 5.3.
 * Cost: O(m + n log m).
 */
#include "algorithms/placement/identical.h"
#include "models/base/heap.h"

const struct param placement_identical_optimum_params[] = {{0}};

static bool slots_fit(const struct problem_resource *r, const struct problem_job *j)
{
    double slots = (double)r->slot_count;

    return !r->capacity || (slots * j->cpus <= r->cpus * ROUNDING &&
                            slots * j->memory_bytes <= r->memory_bytes * ROUNDING);
}

const char *identical_obstacle(const struct placement_problem *p)
{
    const struct problem_job *j = p->jobs;

    if (p->job_count == 0)
        return "there are no jobs";
    if (p->has_files || p->has_outputs || p->has_release)
        return "jobs have files, outputs or release times";
    if (p->stream_count > 1 ||
        (!j->etc_s && j[p->stream_jobs[0]].estimate_ref_s !=
                          j[p->stream_jobs[p->job_count - 1]].estimate_ref_s))
        return "jobs differ in estimate, requirement, rights or needs";
    if (!p->all_free)
        return "some slots are not free now";
    for (size_t pos = 0; pos < p->resource_count; pos++)
        if (!slots_fit(&p->resources[pos], j))
            return "a resource has more slots than its cpus or memory allow";
    return NULL;
}

/* A resource and what its least loaded slot would reach with one more job. */
struct host {
    double next_s, time_s;
    size_t pos, index, slots, jobs;
};

static bool before(const struct host *a, const struct host *b)
{
    return a->next_s < b->next_s || (a->next_s <= b->next_s && a->index < b->index);
}

HEAP(hosts, struct host, before)

static size_t find_hosts(const struct placement_plan *plan, struct host *heap)
{
    const struct placement_problem *p = plan->problem;
    size_t count = 0;

    for (size_t pos = 0; pos < p->resource_count; pos++) {
        double time_s = problem_execution_s(p, &p->jobs[0], pos);

        if (plan_can_run(plan, 0, pos))
            heap[count++] = (struct host){time_s,
                                          time_s,
                                          pos,
                                          p->resources[pos].index,
                                          p->resources[pos].slot_count,
                                          0};
    }
    hosts_heapify(heap, count);
    return count;
}

enum error_code placement_identical_optimum(const struct placement_problem *problem,
                                            const double *param,
                                            struct placement_plan *plan, struct arena *a,
                                            struct error *err)
{
    const char *obstacle = identical_obstacle(problem);
    struct host *heap = NEW(a, struct host, problem->resource_count);
    size_t count;

    (void)param;
    if (problem->job_count == 0)
        return OK;
    if (obstacle)
        return invalid(err, "/algorithm", ITEM_NOT_APPLICABLE,
                       "identical_optimum does not apply: %s", obstacle);
    count = find_hosts(plan, heap);
    for (size_t i = 0; i < problem->job_count && count; i++) {
        struct host *h = &heap[0];
        size_t height; /* jobs on its least loaded slot, with one more */

        TRY(plan_place(plan, problem->order[i], h->pos, err));
        h->jobs++;
        height = h->jobs / h->slots + 1;
        h->next_s = (double)height * h->time_s;
        hosts_first_changed(heap, count);
    }
    if (count)
        bound_list_note(&plan->bounds, BOUND_EXACT, plan->makespan_s);
    return OK;
}
