/* workflow/check.c - what somebody's schedule of a workflow is worth.
 *
 * Names to numbers (given.h), then the rules (verify.h), measures and a repaired
 * schedule: same resources, same order on each processor, every task as early as the
 * rules allow. Rows of tasks that have begun are ignored: they are where they are.
 *
 * Cost: O(n log n + e + n * slots of its resource), and the bounds.
 */
#include "algorithms/workflow/check.h"

#include "algorithms/workflow/amounts.h"

#include <stdlib.h>

struct checker {
    const struct workflow_problem *problem;
    struct workflow_amounts *amounts;
    struct workflow_given_rows rows;
    const size_t *taken; /* [run]: processor */
    struct workflow_plan plan;
    struct arena *a;
    struct error *err;
};

static struct workflow_violation with_names(const struct workflow_problem *problem,
                                            const struct workflow_breach *b)
{
    const struct workflow_in *in = problem->in;

    return (struct workflow_violation){
        .kind = b->kind,
        .workflow_id = in->workflows[problem->workflow_of[b->task]].id,
        .task_id = problem->tasks[b->task]->id,
        .other_task_id =
            b->other_task == WORKFLOW_NONE ? NULL : problem->tasks[b->other_task]->id,
        .resource_id =
            b->resource == WORKFLOW_NONE ? NULL : in->snapshot->resources[b->resource].id,
        .by_s = b->by_s,
    };
}

static enum error_code assess(struct checker *c, struct workflow_check_out *out)
{
    struct workflow_verdict verdict = {0};
    struct workflow_violation *list;

    if (c->amounts)
        workflow_amounts_assess(c->amounts, c->rows.runs, c->rows.run_count, &verdict);
    else
        TRY(workflow_verify(c->problem, c->rows.runs, c->rows.run_count, &verdict, c->a,
                            c->err));
    list = NEW(c->a, struct workflow_violation, verdict.breach_count);
    for (size_t k = 0; k < verdict.breach_count; k++)
        list[k] = with_names(c->problem, &verdict.breaches[k]);
    c->taken = verdict.processor;
    out->cut = verdict.spent;
    out->valid = verdict.breach_count == 0 && !verdict.spent;
    out->violations = list;
    out->violation_count = verdict.breach_count;
    return OK;
}

/* ---- repairing: rows by start, short ones first, then in topological order ---- */

struct in_order {
    double start_s, finish_s;
    size_t position, task;
};

static int by_order(const void *a, const void *b)
{
    const struct in_order *x = a, *y = b;

    if (x->start_s != y->start_s)
        return x->start_s > y->start_s ? 1 : -1;
    if (x->finish_s != y->finish_s)
        return x->finish_s > y->finish_s ? 1 : -1;
    return (x->position > y->position) - (x->position < y->position);
}

struct repairer {
    struct checker *c;
    size_t *next;      /* [task]: behind it on its processor; WORKFLOW_NONE */
    size_t *waits_for; /* [task]: parents and task before it, not yet placed */
    size_t *ready;
    size_t head, tail;
    double *free_s; /* [processor] */
    struct workflow_plan empty;
};

static void release_task(struct repairer *r, size_t task)
{
    if (--r->waits_for[task] == 0)
        r->ready[r->tail++] = task;
}

/* As early as the rules allow behind all that it waits for; false: never. */
static bool repair_task(struct repairer *r, size_t task)
{
    const struct workflow_problem *problem = r->c->problem;
    size_t p = r->c->taken[r->c->rows.run_of[task] - 1];
    double time_s = workflow_time_s(problem, task, p);
    double ready_s = fmax(time_s > 0 ? r->free_s[p] : 0,
                          workflow_plan_ready_s(problem, &r->c->plan, task, p));
    double start_s = workflow_plan_gap_s(problem, &r->empty, p, ready_s, time_s);

    if (!(start_s < HUGE_VAL))
        return false;
    workflow_plan_set(problem, &r->c->plan, task, p, start_s, start_s + time_s);
    if (time_s > 0) /* else it keeps nobody waiting */
        r->free_s[p] = start_s + time_s;
    for (size_t k = problem->child_first[task]; k < problem->child_first[task + 1]; k++) {
        size_t child = problem->edges[problem->child_edge[k]].child;

        if (workflow_is_open(problem, child))
            release_task(r, child);
    }
    if (r->next[task] != WORKFLOW_NONE)
        release_task(r, r->next[task]);
    return true;
}

static enum error_code make_repairer(struct repairer *r)
{
    const struct workflow_problem *problem = r->c->problem;
    struct arena *a = r->c->a;

    r->next = NEW(a, size_t, problem->task_count);
    r->waits_for = NEW(a, size_t, problem->task_count);
    r->ready = NEW(a, size_t, problem->task_count);
    r->free_s = NEW(a, double, problem->processor_count);
    return workflow_plan_make(problem, &r->empty, a);
}

/* Links the rows of each processor, but those that take no time, and counts what every
 * task waits for. */
static void link_rows(struct repairer *r, const struct in_order *order)
{
    const struct workflow_problem *problem = r->c->problem;
    size_t *last = NEW(r->c->a, size_t, problem->processor_count);

    for (size_t p = 0; p < problem->processor_count; p++)
        last[p] = WORKFLOW_NONE;
    for (size_t k = 0; k < problem->open_count; k++) {
        size_t task = order[k].task, p = r->c->taken[r->c->rows.run_of[task] - 1];

        r->next[task] = WORKFLOW_NONE;
        if (last[p] != WORKFLOW_NONE && workflow_time_s(problem, task, p) > 0) {
            r->next[last[p]] = task;
            r->waits_for[task]++;
        }
        if (workflow_time_s(problem, task, p) > 0)
            last[p] = task;
        for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
             e++)
            r->waits_for[task] += workflow_is_open(problem, problem->edges[e].parent);
    }
}

/* NAN: tasks are missing, cannot run, or wait for each other in the given order. */
static enum error_code repair(struct checker *c, double *makespan_s)
{
    const struct workflow_problem *problem = c->problem;
    struct in_order *order = NEW(c->a, struct in_order, problem->open_count);
    struct repairer r = {.c = c};
    size_t count = 0;

    *makespan_s = (double)NAN;
    for (size_t i = 0; i < problem->task_count; i++) {
        size_t run = c->rows.run_of[i];

        if (!workflow_is_open(problem, i))
            continue;
        if (run == 0 || c->taken[run - 1] == WORKFLOW_NONE)
            return OK;
        order[count++] =
            (struct in_order){c->rows.runs[run - 1].start_s,
                              c->rows.runs[run - 1].finish_s, problem->position[i], i};
    }
    TRY(make_repairer(&r));
    qsort(order, count, sizeof(*order), by_order);
    link_rows(&r, order);
    workflow_plan_clear(problem, &c->plan);
    for (size_t k = 0; k < count; k++)
        if (r.waits_for[order[k].task] == 0)
            r.ready[r.tail++] = order[k].task;
    while (r.head < r.tail)
        if (!repair_task(&r, r.ready[r.head++]))
            return OK;
    if (r.tail == count)
        *makespan_s = workflow_plan_makespan_s(problem, &c->plan);
    return OK;
}

/* ---- all of it ---- */

/* Of the tasks that can have a place at all. */
static enum error_code bound_of_amounts(struct checker *c, struct workflow_bound *bound)
{
    struct workflow_plan plan;

    TRY(workflow_plan_make(c->problem, &plan, c->a));
    workflow_amounts_plan(c->amounts, 0, &plan);
    *bound = plan.bound;
    return OK;
}

static enum error_code measure(struct checker *c, const struct workflow_check_out *of,
                               struct workflow_objective *objective)
{
    struct workflow_bound bound;

    TRY(workflow_plan_make(c->problem, &c->plan, c->a));
    for (size_t k = 0; k < c->rows.run_count; k++) {
        const struct workflow_run *run = &c->rows.runs[k];

        if (c->taken[k] != WORKFLOW_NONE)
            workflow_plan_set(c->problem, &c->plan, run->task, c->taken[k], run->start_s,
                              run->finish_s);
    }
    if (c->amounts)
        TRY(bound_of_amounts(c, &bound));
    else
        TRY(workflow_bound_make(c->problem, &bound, c->a));
    workflow_objective_of(c->problem, &c->plan, &bound, of->valid, objective, c->a);
    return OK;
}

enum error_code workflow_check(const struct workflow_problem *problem,
                               struct workflow_amounts *amounts,
                               const struct workflow_given *given, size_t given_count,
                               struct workflow_check_out *out, struct arena *a,
                               struct error *err)
{
    struct checker c = {.problem = problem, .amounts = amounts, .a = a, .err = err};
    struct workflow_check_out x = {0};

    TRY(workflow_given_read(problem, given, given_count, "/schedule", true, &c.rows, a,
                            err));
    x.begun_rows = c.rows.begun_count;
    TRY(assess(&c, &x));
    TRY(measure(&c, &x, &x.objective));
    x.repaired_makespan_s = (double)NAN;
    if (!amounts)
        TRY(repair(&c, &x.repaired_makespan_s));
    *out = x;
    return OK;
}
