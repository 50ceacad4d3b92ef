/* dispatch/rescheduling.c - running jobs move to better resources.
 *
 * First fjbcr. Then running jobs, in the order of arrival, move to the free resource
 * r' of least cost if they gain by it:
 *
 *     RE on r  >  RE on r' + C + transfer + rollback + min_gain_s
 *
 * RE is what is left to do, on r shared by the n jobs there, on r' by one more than
 * are there; transfer brings input and image to r', rollback is the work since the
 * image, done on r'. A move changes n at once. Only jobs with one active copy, which
 * runs, move.
 *
 * Source: spec simulator.md 10; the thesis (000_168dd5aef5075332.txt, 2.2) names the
 * policy but gives no criterion.
 * Cost: O(jobs + starts * log resources + running jobs * free resources).
 */
#include "algorithms/dispatch/dispatch.h"
#include "algorithms/dispatch/queue.h"

#include <math.h>

enum { OPTION_MIN_GAIN };

const struct param dispatch_rescheduling_params[] = {
    [OPTION_MIN_GAIN] = {"min_gain_s", 0, 1e15, 0,
                         "Seconds that a move must gain, more than", PARAM_NUMBER, NULL},
    {0},
};

/* The one active copy of a job, if it runs; replica_count: none. */
static size_t movable(const struct round_job *j)
{
    size_t found = j->replica_count;

    for (size_t i = 0; i < j->replica_count; i++) {
        if (!replica_is_active(&j->replicas[i]))
            continue;
        if (found < j->replica_count)
            return j->replica_count;
        found = i;
    }
    if (found < j->replica_count && j->replicas[found].state != REPLICA_RUNNING)
        return j->replica_count;
    return found;
}

static double time_s(double work_mi, double mips, size_t job_count)
{
    return mips > 0 ? work_mi * (double)job_count / mips : HUGE_VAL;
}

/* The right-hand side without min_gain_s. */
static double cost_there_s(const struct round_work *w, size_t job, double left_mi,
                           size_t resource)
{
    const struct round_job *j = &w->in->jobs[job];
    double cost_s = time_s(left_mi + j->rollback_mi, w->in->resources[resource].mips,
                           w->slots.job_count[resource] + 1);

    if (w->in->transfer_s)
        cost_s += w->in->transfer_s(w->in->context, job, resource);
    return cost_s + j->checkpoint_overhead_s;
}

static void move_job(struct round_work *w, size_t job, double min_gain_s)
{
    const struct round_job *j = &w->in->jobs[job];
    size_t replica = movable(j), best = NOWHERE, from, sharing;
    double best_s = HUGE_VAL, left_mi;

    if (replica == j->replica_count || work_is_finished(w->in, job))
        return;
    from = j->replicas[replica].resource;
    if (!w->in->resources[from].up)
        return; /* nothing can be fetched from there */
    sharing = w->slots.job_count[from];
    left_mi = fmax(0, j->length_mi - j->replicas[replica].completed_mi);
    for (size_t r = 0; r < w->in->resource_count; r++) {
        double cost_s;

        if (r == from || !slots_is_open(&w->slots, r))
            continue;
        cost_s = cost_there_s(w, job, left_mi, r);
        if (cost_s < best_s) {
            best = r;
            best_s = cost_s;
        }
    }
    if (best == NOWHERE || !(time_s(left_mi, w->in->resources[from].mips,
                                    sharing ? sharing : 1) > best_s + min_gain_s))
        return;
    slots_take(&w->slots, best);
    if (!j->replicas[replica].is_ghost)
        slots_give(&w->slots, from);
    work_act(
        w, (struct round_action){
               .kind = ROUND_MIGRATE, .job = job, .replica = replica, .resource = best});
}

enum error_code dispatch_rescheduling(const struct round_in *in, const double *param,
                                      struct round_out *out, struct arena *a,
                                      struct error *err)
{
    struct round_work w;

    TRY(work_begin(&w, in, CAPACITY_SLOT, a, err));
    w.target = 1;
    TRY(queue_dispatch(&w, QUEUE_ARRIVAL));
    for (size_t job = 0; job < in->job_count; job++) {
        if (slots_free_cpus(&w.slots) == 0)
            break;
        move_job(&w, job, param[OPTION_MIN_GAIN]);
    }
    work_end(&w, out);
    return OK;
}
