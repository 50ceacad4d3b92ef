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
    size_t *first;  /* machine of a position's first slot; one more at the end */
    size_t *pos_of; /* position of a machine */
    size_t *jobs;   /* jobs that can run somewhere: rows of the matrix */
    double *wait_s; /* by machine */
    size_t *known;  /* machine of each row */
};

static size_t slots_that_count(const struct placement_problem *p, size_t pos)
{
    const struct problem_resource *r = &p->resources[pos];
    size_t fresh = r->slot_count - r->free_slot;

    return r->busy_count + (fresh < p->job_count ? fresh : p->job_count);
}

static bool is_matrix_small(const struct placement_problem *p)
{
    size_t machines = 0;

    for (size_t pos = 0; pos < p->resource_count; pos++) {
        machines += slots_that_count(p, pos);
        if (machines > ENTRIES_MAX / p->job_count)
            return false;
    }
    return machines > 0;
}

bool machines_bound_applies(const struct placement_problem *p)
{
    return !p->has_files && !p->has_outputs && !p->has_release &&
           (!p->has_capacity || p->all_free) && p->job_count > 0 && is_matrix_small(p);
}

bool machines_apply(const struct placement_problem *p)
{
    return !p->has_capacity && machines_bound_applies(p);
}

static void number_machines(struct machines *m)
{
    const struct placement_problem *p = m->plan->problem;
    struct arena *a = m->plan->arena;
    size_t count = 0;

    m->first = NEW(a, size_t, p->resource_count + 1);
    for (size_t pos = 0; pos < p->resource_count; pos++) {
        m->first[pos] = count;
        count += slots_that_count(p, pos);
    }
    m->first[p->resource_count] = m->problem.machine_count = count;
    m->pos_of = NEW(a, size_t, count);
    m->wait_s = NEW(a, double, count);
    for (size_t pos = 0; pos < p->resource_count; pos++) {
        const struct problem_resource *r = &p->resources[pos];

        for (size_t k = 0; k < slots_that_count(p, pos); k++) {
            m->pos_of[m->first[pos] + k] = pos;
            m->wait_s[m->first[pos] + k] =
                k < r->busy_count ? r->busy[k].free_s : r->given->ready_s;
        }
    }
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

/* A row of the matrix: the times of a job, HUGE_VAL where it cannot run. */
static void fill_row(const struct machines *m, size_t job, double *time_s)
{
    const struct placement_problem *p = m->plan->problem;

    for (size_t pos = 0; pos < p->resource_count; pos++) {
        double here_s = plan_can_run(m->plan, job, pos)
                            ? problem_execution_s(p, &p->jobs[job], pos)
                            : HUGE_VAL;

        for (size_t k = m->first[pos]; k < m->first[pos + 1]; k++)
            time_s[k] = here_s;
    }
}

/* The rows of the jobs that are placed; fewer when the time is up. */
static void fill_rows(struct machines *m, const struct plan_entry *entries,
                      size_t placed_count, struct ticks *ticks)
{
    const struct placement_problem *p = m->plan->problem;
    struct arena *a = m->plan->arena;
    size_t columns = m->problem.machine_count, rows = 0;
    double *time_s = NEW(a, double, placed_count *columns);

    m->jobs = NEW(a, size_t, placed_count);
    m->known = NEW(a, size_t, placed_count);
    for (size_t i = 0; i < p->job_count && !ticks_spent(ticks, columns); i++) {
        if (entries[i].pos == NO_INDEX)
            continue;
        fill_row(m, i, time_s + rows * columns);
        m->jobs[rows] = i;
        m->known[rows++] = machine_of(m, &entries[i]);
    }
    m->problem.job_count = rows;
    m->problem.time_s = time_s;
    m->problem.wait_s = m->wait_s;
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

    for (size_t i = 0; i < rows; i++) {
        size_t k = assignment[i];

        timed[i] = (struct timed){m->wait_s[k], m->jobs[i], m->pos_of[k]};
        m->wait_s[k] += m->problem.time_s[i * columns + k];
    }
    qsort(timed, rows, sizeof(*timed), by_start);
    plan_reset(m->plan);
    for (size_t i = 0; i < rows; i++)
        TRY(plan_place(m->plan, timed[i].job, timed[i].pos, err));
    return OK;
}

/* Where a plan of the same jobs has them. */
static void read_copy(const struct machines *m, const struct plan_copy *copy,
                      const size_t **assignment)
{
    size_t rows = m->problem.job_count;
    size_t *out = NEW(m->plan->arena, size_t, rows);

    *assignment = NULL;
    for (size_t i = 0; i < rows; i++) {
        if (copy->entries[m->jobs[i]].pos == NO_INDEX)
            return;
        out[i] = machine_of(m, &copy->entries[m->jobs[i]]);
    }
    *assignment = out;
}

enum error_code machines_search(struct placement_plan *plan,
                                const struct machines_ask *ask, struct error *err)
{
    const struct placement_in *in = plan->problem->in;
    struct machines m = {.plan = plan};
    struct budget budget = in->budget ? *in->budget : (struct budget){0};
    struct makespan_ask question = {.budget = &budget, .seed = in->seed};
    struct ticks ticks = {.budget = in->budget, .until = 1};
    struct makespan_answer answer;

    if (ask->known->placed_count == 0)
        return OK;
    budget.max_steps = ask->max_steps;
    number_machines(&m);
    fill_rows(&m, ask->known->entries, ask->known->placed_count, &ticks);
    plan->cut = plan->cut || ticks.spent;
    if (plan->cut)
        return OK;
    question.known = m.known;
    question.effort = ask->effort;
    question.limited = ask->limited;
    if (ask->initial)
        read_copy(&m, ask->initial, &question.initial);
    TRY(makespan_search(&m.problem, &question, &answer, plan->arena));
    plan->steps = answer.steps;
    plan->cut = plan->cut || answer.cut;
    plan->bounds = answer.bounds;
    plan->improved = answer.improved;
    return place_assigned(&m, answer.assignment, err);
}

enum error_code machines_bound(struct placement_plan *plan, double upper_s,
                               struct ticks *ticks)
{
    struct machines m = {.plan = plan};
    struct bound_list found = {0};

    number_machines(&m);
    fill_rows(&m, plan->entries, plan->placed_count, ticks);
    if (ticks->spent)
        return OK;
    TRY(makespan_bound(&m.problem, upper_s, ticks->budget, &found, plan->arena));
    for (size_t k = 0; k < BOUND_KIND_COUNT; k++)
        if (found.known[k])
            bound_list_note(&plan->bounds, (enum bound_kind)k, found.value[k]);
    return OK;
}

size_t machines_count(const struct placement_problem *p)
{
    size_t machines = 0;

    for (size_t pos = 0; pos < p->resource_count; pos++)
        machines += slots_that_count(p, pos);
    return machines;
}
