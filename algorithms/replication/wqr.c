/* replication/wqr.c - work queue with replication.
 *
 * Jobs without a copy get one, in the order of arrival, each on a random free
 * resource. Only when all of them have one, and CPUs are still free, running jobs
 * get copies: always the job with fewest, of those the first to arrive, placed by
 * rule 6.1, up to replicas_max. What was started counts: there is no detection.
 *
 * Source: Silva et al., "Trading cycles for information: using replication to
 * schedule bag-of-tasks applications on computational grids", Euro-Par 2003;
 * 000_168dd5aef5075332.txt, 2.2 [L726] and 4.2.2 [L1277]; spec fault-tolerance.md
 * 6.3. Cost: O(jobs * k + resources + starts * k log resources): jobs of c copies
 * are passed once for each c.
 */
#include "algorithms/replication/replication.h"
#include "algorithms/replication/work.h"

enum { OPTION_REPLICAS_MAX, OPTION_CAPACITY_UNIT };

const struct param replication_wqr_params[] = {
    [OPTION_REPLICAS_MAX] = ROW_REPLICAS_MAX,
    [OPTION_CAPACITY_UNIT] = ROW_CAPACITY_UNIT,
    {0},
};

/* A further copy of every job that has `count` of them; those for which there is no
 * resource now have none later in the round either. */
static enum error_code add_copies(struct round_work *w, size_t count)
{
    for (size_t job = 0; slots_free_cpus(&w->slots) > 0; job++) {
        size_t started, resource;

        job = work_next_below(w->in, false, job, count + 1);
        if (job >= w->in->job_count)
            return OK;
        if (work_is_finished(w->in, job))
            continue;
        started = work_started_count(w, job);
        if (w->in->jobs[job].started_count + started != count)
            continue;
        work_hold(w, job);
        TRY(work_place(w, PLACE_SPREAD, &resource));
        if (resource == NOWHERE)
            continue;
        work_start(w, job, started, resource, false);
    }
    return OK;
}

enum error_code replication_wqr(const struct round_in *in, const double *param,
                                struct round_out *out, struct arena *a, struct error *err)
{
    struct fill_rules first = {
        .replicas_min = 1,
        .replicas_max = 1,
        .free_cpu_limit = 1,
        .placement = PLACE_RANDOM,
    };
    size_t replicas_max = (size_t)param[OPTION_REPLICAS_MAX];
    struct round_work w;

    TRY(work_begin(&w, in, (enum capacity_unit)param[OPTION_CAPACITY_UNIT], a, err));
    w.target = replicas_max;
    TRY(work_fill(&w, &first, false, NULL));
    if (slots_free_cpus(&w.slots) > 0) { /* so the queue is empty */
        work_follow(&w);
        for (size_t count = 1; count < replicas_max; count++)
            TRY(add_copies(&w, count));
    }
    work_end(&w, out);
    return OK;
}
