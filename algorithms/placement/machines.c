/* placement/machines.c - a request as jobs on machines, for the makespan kernel.
 *
 * Each slot that is free at some time is a machine; its wait is the time until then. Of
 * the free slots of a resource no more count than there are jobs. The machines of a
 * resource follow each other: busy slots first.
 */
#include "algorithms/placement/machines.h"

#include "algorithms/placement/makespan.h"

#include <stdlib.h>

enum { ENTRIES_MAX = 4 * 1000 * 1000 };

/* How requests, jobs and machines are numbered. */
struct machines {
    struct placement_plan *plan;
    struct makespan_problem problem;
    size_t *first;   /* machine of a position's first slot */
    size_t *pos_of;  /* position of a machine */
    size_t *jobs;    /* jobs that can run somewhere: rows of the matrix */
    double *wait_s;  /* by machine */
    double *time_s;  /* the matrix */
    size_t *initial; /* machine of each row */
};

static size_t slots_that_count(const struct placement_problem *p, size_t pos)
{
    const struct problem_resource *r = &p->resources[pos];
    size_t fresh = r->slot_count - r->free_slot;

    return r->busy_count + (fresh < p->job_count ? fresh : p->job_count);
}

bool machines_apply(const struct placement_problem *p)
{
    size_t machines = 0;

    if (p->has_files || p->has_outputs || p->has_release || p->has_capacity ||
        p->job_count == 0)
        return false;
    for (size_t pos = 0; pos < p->resource_count; pos++) {
        machines += slots_that_count(p, pos);
        if (machines > ENTRIES_MAX / p->job_count)
            return false;
    }
    return machines > 0;
}

static enum error_code number_machines(struct machines *m, struct error *err)
{
    const struct placement_problem *p = m->plan->problem;
    struct arena *a = m->plan->arena;
    size_t count = 0;

    m->first = NEW(a, size_t, p->resource_count);
    if (!m->first)
        return fail_memory(err);
    for (size_t pos = 0; pos < p->resource_count; pos++) {
        m->first[pos] = count;
        count += slots_that_count(p, pos);
    }
    m->problem.machine_count = count;
    m->pos_of = NEW(a, size_t, count);
    m->wait_s = NEW(a, double, count);
    if (!m->pos_of || !m->wait_s)
        return fail_memory(err);
    for (size_t pos = 0; pos < p->resource_count; pos++) {
        const struct problem_resource *r = &p->resources[pos];

        for (size_t k = 0; k < slots_that_count(p, pos); k++) {
            m->pos_of[m->first[pos] + k] = pos;
            m->wait_s[m->first[pos] + k] =
                k < r->busy_count ? r->busy[k].free_s : r->given->ready_s;
        }
    }
    return OK;
}

/* The machine of a placed job. */
static size_t machine_of(const struct machines *m, const struct plan_entry *e)
{
    const struct problem_resource *r = &m->plan->problem->resources[e->pos];
    size_t k = 0;

    if (e->slot >= r->free_slot)
        return m->first[e->pos] + r->busy_count + (e->slot - r->free_slot);
    while (r->busy[k].slot != e->slot)
        k++;
    return m->first[e->pos] + k;
}

static enum error_code fill_rows(struct machines *m, const struct plan_copy *start,
                                 struct error *err)
{
    const struct placement_problem *p = m->plan->problem;
    struct arena *a = m->plan->arena;
    size_t columns = m->problem.machine_count, rows = 0;

    m->jobs = NEW(a, size_t, start->placed_count);
    m->initial = NEW(a, size_t, start->placed_count);
    m->time_s = NEW(a, double, start->placed_count *columns);
    if (!m->jobs || !m->initial || !m->time_s)
        return fail_memory(err);
    for (size_t i = 0; i < p->job_count; i++) {
        if (start->entries[i].pos == NO_INDEX)
            continue;
        for (size_t k = 0; k < columns; k++) {
            size_t pos = m->pos_of[k];

            m->time_s[rows * columns + k] = plan_can_run(m->plan, i, pos)
                                                ? problem_execution_s(p, &p->jobs[i], pos)
                                                : HUGE_VAL;
        }
        m->jobs[rows] = i;
        m->initial[rows++] = machine_of(m, &start->entries[i]);
    }
    m->problem.job_count = rows;
    m->problem.time_s = m->time_s;
    m->problem.wait_s = m->wait_s;
    return OK;
}

struct timed {
    double start_s;
    size_t job, pos;
};

static int by_start(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;

    if (x->start_s != y->start_s)
        return x->start_s < y->start_s ? -1 : 1;
    return (x->job > y->job) - (x->job < y->job);
}

/* Places the jobs in the order of their starts, so that each takes the slot that its
 * machine stands for, or an equal one that is free sooner. */
static enum error_code place_assigned(struct machines *m, const size_t *assignment,
                                      struct error *err)
{
    size_t rows = m->problem.job_count, columns = m->problem.machine_count;
    struct timed *timed = NEW(m->plan->arena, struct timed, rows);

    if (!timed)
        return fail_memory(err);
    for (size_t i = 0; i < rows; i++) {
        size_t k = assignment[i];

        timed[i] = (struct timed){m->wait_s[k], m->jobs[i], m->pos_of[k]};
        m->wait_s[k] += m->time_s[i * columns + k];
    }
    qsort(timed, rows, sizeof(*timed), by_start);
    plan_reset(m->plan);
    for (size_t i = 0; i < rows; i++)
        TRY(plan_place(m->plan, timed[i].job, timed[i].pos, err));
    return OK;
}

enum error_code machines_search(struct placement_plan *plan,
                                const struct plan_copy *start, size_t steps,
                                struct error *err)
{
    const struct placement_in *in = plan->problem->in;
    struct machines m = {.plan = plan};
    struct makespan_answer answer;
    struct budget budget = {0};

    if (start->placed_count == 0)
        return OK;
    if (in->budget)
        budget = *in->budget;
    budget.max_steps = steps ? steps : budget.max_steps;
    if (!budget.max_steps && !in->time_limit_given)
        budget.max_steps = MAKESPAN_STEPS;
    TRY(number_machines(&m, err));
    TRY(fill_rows(&m, start, err));
    TRY(makespan_search(&m.problem, m.initial, &budget, in->seed, &answer, plan->arena,
                        err));
    TRY(place_assigned(&m, answer.assignment, err));
    plan->steps = answer.steps;
    plan->cut = plan->cut || answer.cut;
    plan->proven = answer.optimal;
    plan->bound_s = answer.bound_s;
    plan->closed = true;
    return OK;
}
