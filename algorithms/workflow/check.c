/* workflow/check.c - what somebody's schedule of a workflow is worth.
 *
 * Names to numbers, then the rules (verify.h), measures and a repaired schedule: same
 * resources, same order on each processor, every task as early as the rules allow. Rows
 * of tasks that have begun are ignored: they are where they are.
 *
 * Cost: O(n log n + e + n * slots of its resource), and the bounds.
 */
#include "algorithms/workflow/check.h"

#include "algorithms/workflow/verify.h"
#include "models/base/names.h"

#include <stdio.h>
#include <stdlib.h>

struct checker {
    const struct workflow_problem *problem;
    struct workflow_run *runs; /* of tasks that are checked, one for each but mistakes */
    size_t run_count, begun_rows;
    size_t *run_of;      /* [task]: run + 1; 0: none */
    size_t *first;       /* [resource]: its first processor; WORKFLOW_NONE */
    const size_t *taken; /* [run]: processor */
    struct workflow_plan plan;
    struct arena *a;
    struct error *err;
};

/* ---- reading ---- */

/* Indexes of the request's names. */
struct name_tables {
    struct name_index workflows, resources;
    struct name_index *tasks; /* by workflow, to numbers of tasks */
};

static enum error_code index_names(struct checker *c, struct name_tables *t)
{
    const struct workflow_problem *problem = c->problem;
    const struct workflow_in *in = problem->in;
    size_t task = 0;

    t->tasks = NEW(c->a, struct name_index, in->workflow_count);
    if (!t->tasks || !name_index_create(&t->workflows, in->workflow_count, c->a) ||
        !name_index_create(&t->resources, in->snapshot->resource_count, c->a))
        return fail_memory(c->err);
    for (size_t r = 0; r < in->snapshot->resource_count; r++)
        name_index_add(&t->resources, in->snapshot->resources[r].id, r);
    for (size_t w = 0; w < in->workflow_count; w++) {
        if (in->workflows[w].id)
            name_index_add(&t->workflows, in->workflows[w].id, w);
        if (!name_index_create(&t->tasks[w], in->workflows[w].task_count, c->a))
            return fail_memory(c->err);
        for (size_t i = 0; i < in->workflows[w].task_count; i++, task++)
            name_index_add(&t->tasks[w], in->workflows[w].tasks[i].id, task);
    }
    return OK;
}

static void unknown(struct checker *c, size_t i, const char *member, const char *what,
                    const char *id)
{
    char pointer[80];

    snprintf(pointer, sizeof(pointer), "/schedule/%zu/%s", i, member);
    invalid(c->err, pointer, id ? "unknown_id" : "required", "no %s '%.100s'", what,
            id ? id : "");
}

static size_t find_task(struct checker *c, const struct name_tables *t, size_t i,
                        const struct workflow_given *g)
{
    size_t workflow = 0, task;

    if (g->workflow_id)
        workflow = name_index_find(&t->workflows, g->workflow_id);
    else if (c->problem->in->workflow_count != 1)
        workflow = NAME_NOT_FOUND;
    if (workflow == NAME_NOT_FOUND) {
        unknown(c, i, "workflow_id", "workflow", g->workflow_id);
        return WORKFLOW_NONE;
    }
    task = g->task_id ? name_index_find(&t->tasks[workflow], g->task_id) : NAME_NOT_FOUND;
    if (task == NAME_NOT_FOUND) {
        unknown(c, i, "task_id", "task", g->task_id);
        return WORKFLOW_NONE;
    }
    return task;
}

static void check_times(struct checker *c, size_t i, const struct workflow_given *g)
{
    char pointer[80];

    if (!(fabs(g->start_s) <= WORKFLOW_LONGEST_S)) {
        snprintf(pointer, sizeof(pointer), "/schedule/%zu/start_s", i);
        invalid(c->err, pointer, isnan(g->start_s) ? "required" : "out_of_bounds",
                "%g is not a time; only a task that has begun may have none", g->start_s);
    }
    if (!isnan(g->finish_s) && !(fabs(g->finish_s) <= WORKFLOW_LONGEST_S)) {
        snprintf(pointer, sizeof(pointer), "/schedule/%zu/finish_s", i);
        invalid(c->err, pointer, "out_of_bounds", "%g is not a time", g->finish_s);
    }
}

static void read_row(struct checker *c, const struct name_tables *t, size_t i,
                     const struct workflow_given *g)
{
    size_t task = find_task(c, t, i, g);
    size_t resource =
        g->resource_id ? name_index_find(&t->resources, g->resource_id) : NAME_NOT_FOUND;
    bool begun = task != WORKFLOW_NONE && !workflow_is_open(c->problem, task);
    double time_s = HUGE_VAL;

    c->begun_rows += begun;
    if (resource == NAME_NOT_FOUND && (g->resource_id || !begun))
        unknown(c, i, "resource_id", "resource", g->resource_id);
    if (task == WORKFLOW_NONE || resource == NAME_NOT_FOUND || begun)
        return;
    check_times(c, i, g);
    if (c->first[resource] != WORKFLOW_NONE)
        time_s = workflow_time_s(c->problem, task, c->first[resource]);
    c->runs[c->run_count] = (struct workflow_run){
        task, resource, g->start_s,
        !isnan(g->finish_s) ? g->finish_s
                            : g->start_s + (time_s < HUGE_VAL ? time_s : 0)};
    if (!c->run_of[task])
        c->run_of[task] = c->run_count + 1;
    c->run_count++;
}

static enum error_code read_rows(struct checker *c, const struct workflow_given *given,
                                 size_t given_count)
{
    const struct workflow_problem *problem = c->problem;
    size_t resources = problem->in->snapshot->resource_count;
    size_t mistakes = c->err->item_count;
    struct name_tables t = {0};

    c->runs = NEW(c->a, struct workflow_run, given_count);
    c->run_of = NEW(c->a, size_t, problem->task_count);
    c->first = NEW(c->a, size_t, resources);
    if (!c->runs || !c->run_of || !c->first)
        return fail_memory(c->err);
    for (size_t r = 0; r < resources; r++)
        c->first[r] = WORKFLOW_NONE;
    for (size_t p = problem->processor_count; p-- > 0;)
        c->first[problem->processors[p].resource] = p;
    TRY(index_names(c, &t));
    for (size_t i = 0; i < given_count; i++)
        read_row(c, &t, i, &given[i]);
    return c->err->item_count > mistakes ? ERR_INVALID : OK;
}

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

static enum error_code judge(struct checker *c, struct workflow_check_out *out)
{
    struct workflow_verdict verdict;
    struct workflow_violation *list;

    TRY(workflow_verify(c->problem, c->runs, c->run_count, &verdict, c->a, c->err));
    list = NEW(c->a, struct workflow_violation, verdict.breach_count);
    if (!list)
        return fail_memory(c->err);
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
    size_t p = r->c->taken[r->c->run_of[task] - 1];
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
    if (!r->next || !r->waits_for || !r->ready || !r->free_s)
        return fail_memory(r->c->err);
    return workflow_plan_make(problem, &r->empty, a, r->c->err);
}

/* Links the rows of each processor, but those that take no time, and counts what every
 * task waits for. */
static enum error_code link_rows(struct repairer *r, const struct in_order *order)
{
    const struct workflow_problem *problem = r->c->problem;
    size_t *last = NEW(r->c->a, size_t, problem->processor_count);

    if (!last)
        return fail_memory(r->c->err);
    for (size_t p = 0; p < problem->processor_count; p++)
        last[p] = WORKFLOW_NONE;
    for (size_t k = 0; k < problem->open_count; k++) {
        size_t task = order[k].task, p = r->c->taken[r->c->run_of[task] - 1];

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
    return OK;
}

/* NAN: tasks are missing, cannot run, or wait for each other in the given order. */
static enum error_code repair(struct checker *c, double *makespan_s)
{
    const struct workflow_problem *problem = c->problem;
    struct in_order *order = NEW(c->a, struct in_order, problem->open_count);
    struct repairer r = {.c = c};
    size_t count = 0;

    *makespan_s = (double)NAN;
    if (!order)
        return fail_memory(c->err);
    for (size_t i = 0; i < problem->task_count; i++) {
        size_t run = c->run_of[i];

        if (!workflow_is_open(problem, i))
            continue;
        if (run == 0 || c->taken[run - 1] == WORKFLOW_NONE)
            return OK;
        order[count++] = (struct in_order){
            c->runs[run - 1].start_s, c->runs[run - 1].finish_s, problem->position[i], i};
    }
    TRY(make_repairer(&r));
    qsort(order, count, sizeof(*order), by_order);
    TRY(link_rows(&r, order));
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

static enum error_code measure(struct checker *c, const struct workflow_check_out *of,
                               struct workflow_objective *objective)
{
    struct workflow_bound bound;

    TRY(workflow_plan_make(c->problem, &c->plan, c->a, c->err));
    for (size_t k = 0; k < c->run_count; k++) {
        const struct workflow_run *run = &c->runs[k];

        if (c->taken[k] != WORKFLOW_NONE)
            workflow_plan_set(c->problem, &c->plan, run->task, c->taken[k], run->start_s,
                              run->finish_s);
    }
    TRY(workflow_bound_make(c->problem, &bound, c->a, c->err));
    return workflow_objective_of(c->problem, &c->plan, &bound, of->valid, objective, c->a,
                                 c->err);
}

enum error_code workflow_check(const struct workflow_problem *problem,
                               const struct workflow_given *given, size_t given_count,
                               struct workflow_check_out *out, struct arena *a,
                               struct error *err)
{
    struct checker c = {.problem = problem, .a = a, .err = err};
    struct workflow_check_out x = {0};

    TRY(read_rows(&c, given, given_count));
    x.begun_rows = c.begun_rows;
    TRY(judge(&c, &x));
    TRY(measure(&c, &x, &x.objective));
    TRY(repair(&c, &x.repaired_makespan_s));
    *out = x;
    return OK;
}
