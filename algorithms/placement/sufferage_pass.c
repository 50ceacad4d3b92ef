/* placement/sufferage_pass.c - sufferage in passes over all jobs.
 *
 * In each pass go through the unplaced jobs in order; each claims its best resource. If
 * another job of this pass holds it, the one with the strictly larger sufferage
 * (second-best - best completion time) keeps it. At the end of the pass all holders are
 * placed, then completion times are updated. Ties: lowest job, lowest resource index.
 *
 * Source: Maheswaran et al. 1999, as first published; spec gridway.md 5.1.
 * Cost: one scan for each unplaced job a pass; a pass places one job at least.
 */
#include "algorithms/placement/plan.h"

const struct param placement_sufferage_pass_params[] = {{0}};

/* Who holds a resource in this pass. */
struct claim {
    size_t job; /* NO_INDEX: nobody */
    double sufferage_s;
};

/* Best place and sufferage of each stream's estimate: equal jobs are looked at once. */
struct known {
    size_t job, pass;
    struct plan_choice choice;
};

static struct plan_choice choice_of(struct placement_plan *plan, struct known *known,
                                    size_t job, size_t pass)
{
    const struct placement_problem *p = plan->problem;
    struct known *k = &known[p->jobs[job].stream];

    if (k->pass == pass && !p->jobs[job].etc_s &&
        p->jobs[k->job].estimate_ref_s == p->jobs[job].estimate_ref_s)
        return k->choice;
    *k = (struct known){job, pass,
                        plan_best(plan, job, RIVAL_RESOURCE, p->resource_count)};
    return k->choice;
}

/* One pass; the jobs that stay unplaced are kept in `jobs`. */
static enum error_code pass(struct placement_plan *plan, size_t *jobs, size_t *count,
                            struct claim *claims, struct known *known, size_t number,
                            struct error *err)
{
    const struct placement_problem *p = plan->problem;
    size_t left = 0;

    for (size_t pos = 0; pos < p->resource_count; pos++)
        claims[pos].job = NO_INDEX;
    for (size_t i = 0; i < *count; i++) {
        struct plan_choice c = choice_of(plan, known, jobs[i], number);
        double sufferage_s = c.rival_s - c.done_s;

        if (plan_spent(plan))
            return OK;
        if (c.pos == NO_INDEX)
            continue;
        if (claims[c.pos].job == NO_INDEX || sufferage_s > claims[c.pos].sufferage_s)
            claims[c.pos] = (struct claim){jobs[i], sufferage_s};
        jobs[left++] = jobs[i];
    }
    for (size_t index = 0; index < p->resource_count; index++) {
        size_t pos = p->position_of[index];

        if (claims[pos].job != NO_INDEX)
            TRY(plan_place(plan, claims[pos].job, pos, err));
    }
    *count = 0;
    for (size_t i = 0; i < left; i++)
        if (plan->entries[jobs[i]].pos == NO_INDEX)
            jobs[(*count)++] = jobs[i];
    return OK;
}

enum error_code placement_sufferage_pass(const struct placement_problem *problem,
                                         const double *param, struct placement_plan *plan,
                                         struct arena *a, struct error *err)
{
    size_t *jobs = NEW(a, size_t, problem->job_count);
    struct claim *claims = NEW(a, struct claim, problem->resource_count);
    struct known *known = NEW(a, struct known, problem->stream_count);
    size_t count = problem->job_count;

    (void)param;
    for (size_t i = 0; i < count; i++)
        jobs[i] = problem->order[i];
    for (size_t number = 1; count && !plan->cut; number++)
        TRY(pass(plan, jobs, &count, claims, known, number, err));
    return OK;
}
