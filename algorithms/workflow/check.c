/* workflow/check.c - what somebody's schedule of a workflow is worth.
 *
 * The rules are those of problem.h: a task starts when it is released and all its inputs
 * are there, runs to its end without a break, and has a processor of its resource for
 * itself, outside blocked intervals. Each row breaks a rule by so many seconds. With
 * several processors a resource, rows take them in the order of their starts, each the
 * first that is free; as what blocks a slot but not the others ends for good, that finds
 * a free one whenever there is one.
 *
 * Repaired: same resources, same order on each processor, every task as early as the
 * rules allow. Rows of tasks that have begun are ignored: they are where they are.
 *
 * Cost: O(n log n + e + n * slots of its resource).
 */
#include "algorithms/workflow/check.h"

#include "models/base/names.h"

#include <stdio.h>
#include <stdlib.h>

#define TOLERANCE 1e-6

struct row {
    const struct workflow_given *given;
    size_t task, position, resource;
    size_t processor; /* WORKFLOW_NONE: no slot, or the task cannot run there */
    double finish_s;
};

struct checker {
    const struct workflow_problem *problem;
    struct row *rows; /* of tasks that are checked, one for each */
    size_t row_count, begun_rows;
    size_t *row_of;        /* [task]: row + 1; 0: none */
    size_t *first, *count; /* [resource]: its processors */
    struct workflow_violation *list;
    size_t used, room;
    struct workflow_plan plan;
    struct arena *a;
    struct error *err;
};

/* By how much `late` is behind `early`; 0 within the tolerance. */
static double behind_s(double late, double early)
{
    double by_s = late - early;

    if (late == HUGE_VAL)
        return early == HUGE_VAL ? 0 : HUGE_VAL;
    if (by_s <= TOLERANCE * fmax(fabs(late), fabs(early)))
        return 0;
    return by_s;
}

static enum error_code report(struct checker *c, const char *kind, size_t task,
                              size_t other, size_t resource, double by_s)
{
    const struct workflow_problem *problem = c->problem;

    if (c->used == c->room) {
        size_t room = c->room ? 2 * c->room : 16;
        struct workflow_violation *list =
            GROW(c->a, c->list, struct workflow_violation, c->used, room);

        if (!list)
            return fail_memory(c->err);
        c->list = list;
        c->room = room;
    }
    c->list[c->used++] = (struct workflow_violation){
        .kind = kind,
        .workflow_id = problem->in->workflows[problem->workflow_of[task]].id,
        .task_id = problem->tasks[task]->id,
        .other_task_id = other == WORKFLOW_NONE ? NULL : problem->tasks[other]->id,
        .resource_id = resource == WORKFLOW_NONE
                           ? NULL
                           : problem->in->snapshot->resources[resource].id,
        .by_s = by_s,
    };
    return OK;
}

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

/* The row of a task; NULL: none. */
static const struct row *row_for(const struct checker *c, size_t task)
{
    return c->row_of[task] ? &c->rows[c->row_of[task] - 1] : NULL;
}

/* Run time on a resource. */
static double time_on(const struct checker *c, size_t task, size_t resource)
{
    return c->count[resource] ? workflow_time_s(c->problem, task, c->first[resource])
                              : HUGE_VAL;
}

static enum error_code read_row(struct checker *c, const struct name_tables *t, size_t i,
                                const struct workflow_given *g)
{
    size_t task = find_task(c, t, i, g);
    size_t resource =
        g->resource_id ? name_index_find(&t->resources, g->resource_id) : NAME_NOT_FOUND;
    bool begun = task != WORKFLOW_NONE && !workflow_is_open(c->problem, task);
    double time_s;

    c->begun_rows += begun;
    if (resource == NAME_NOT_FOUND && (g->resource_id || !begun))
        unknown(c, i, "resource_id", "resource", g->resource_id);
    if (task == WORKFLOW_NONE || resource == NAME_NOT_FOUND || begun)
        return OK;
    check_times(c, i, g);
    if (c->row_of[task])
        return report(c, "twice", task, WORKFLOW_NONE, resource, (double)NAN);
    time_s = time_on(c, task, resource);
    c->rows[c->row_count] =
        (struct row){g,
                     task,
                     c->problem->position[task],
                     resource,
                     WORKFLOW_NONE,
                     !isnan(g->finish_s) ? g->finish_s
                                         : g->start_s + (time_s < HUGE_VAL ? time_s : 0)};
    c->row_of[task] = ++c->row_count;
    return OK;
}

static enum error_code read_rows(struct checker *c, const struct workflow_given *given,
                                 size_t given_count)
{
    const struct workflow_problem *problem = c->problem;
    size_t resources = problem->in->snapshot->resource_count;
    size_t mistakes = c->err->item_count;
    struct name_tables t = {0};

    c->rows = NEW(c->a, struct row, problem->task_count);
    c->row_of = NEW(c->a, size_t, problem->task_count);
    c->first = NEW(c->a, size_t, resources);
    c->count = NEW(c->a, size_t, resources);
    if (!c->rows || !c->row_of || !c->first || !c->count)
        return fail_memory(c->err);
    for (size_t p = problem->processor_count; p-- > 0;) {
        c->first[problem->processors[p].resource] = p;
        c->count[problem->processors[p].resource]++;
    }
    TRY(index_names(c, &t));
    for (size_t i = 0; i < given_count; i++)
        TRY(read_row(c, &t, i, &given[i]));
    return c->err->item_count > mistakes ? ERR_INVALID : OK;
}

/* ---- each row by itself and with its parents ---- */

static enum error_code check_row(struct checker *c, const struct row *row)
{
    const struct workflow_problem *problem = c->problem;
    double start_s = row->given->start_s;
    double time_s = time_on(c, row->task, row->resource);
    double ready_s, by_s;

    if (time_s == HUGE_VAL)
        return report(c, "cannot_run", row->task, WORKFLOW_NONE, row->resource,
                      (double)NAN);
    by_s = behind_s(start_s + time_s, row->finish_s);
    if (by_s > 0)
        TRY(report(c, "too_short", row->task, WORKFLOW_NONE, row->resource, by_s));
    by_s = behind_s(problem->release_s[row->task], start_s);
    if (by_s > 0)
        TRY(report(c, "release", row->task, WORKFLOW_NONE, row->resource, by_s));
    ready_s = workflow_staged_s(problem, row->task, c->first[row->resource]);
    by_s = behind_s(ready_s, start_s);
    if (by_s > 0 && ready_s > 0)
        TRY(report(c, "transfer", row->task, WORKFLOW_NONE, row->resource,
                   by_s < HUGE_VAL ? by_s : (double)NAN));
    return OK;
}

static enum error_code check_edge(struct checker *c, const struct row *row,
                                  const struct workflow_edge *edge)
{
    const struct workflow_problem *problem = c->problem;
    size_t from = problem->fixed_processor[edge->parent];
    double finish_s = fmax(0, problem->fixed_finish_s[edge->parent]);
    double start_s = row->given->start_s, arrived_s, by_s;

    if (from == WORKFLOW_NONE) {
        const struct row *parent = row_for(c, edge->parent);

        if (!parent || c->count[parent->resource] == 0)
            return OK; /* missing, or cannot run: said elsewhere */
        from = c->first[parent->resource];
        finish_s = parent->finish_s;
    }
    by_s = behind_s(finish_s, start_s);
    if (by_s > 0)
        return report(c, "precedence", row->task, edge->parent, WORKFLOW_NONE,
                      by_s < HUGE_VAL ? by_s : (double)NAN);
    arrived_s =
        finish_s + workflow_transfer_s(problem, edge, from, c->first[row->resource]);
    by_s = behind_s(arrived_s, start_s);
    return by_s > 0 ? report(c, "transfer", row->task, edge->parent, row->resource,
                             by_s < HUGE_VAL ? by_s : (double)NAN)
                    : OK;
}

static enum error_code check_rows(struct checker *c)
{
    const struct workflow_problem *problem = c->problem;

    for (size_t i = 0; i < problem->task_count; i++) {
        const struct row *row = row_for(c, i);

        if (!workflow_is_open(problem, i))
            continue;
        if (!row) {
            TRY(report(c, "missing", i, WORKFLOW_NONE, WORKFLOW_NONE, (double)NAN));
            continue;
        }
        TRY(check_row(c, row));
        if (c->count[row->resource] == 0)
            continue;
        for (size_t e = problem->parent_first[i]; e < problem->parent_first[i + 1]; e++)
            TRY(check_edge(c, row, &problem->edges[e]));
    }
    return OK;
}

/* ---- rows of one resource among each other ---- */

static int by_resource(const void *a, const void *b)
{
    const struct row *x = *(const struct row *const *)a,
                     *y = *(const struct row *const *)b;

    if (x->resource != y->resource)
        return x->resource > y->resource ? 1 : -1;
    if (x->given->start_s != y->given->start_s)
        return x->given->start_s > y->given->start_s ? 1 : -1;
    if (x->finish_s != y->finish_s)
        return x->finish_s > y->finish_s ? 1 : -1;
    return (x->task > y->task) - (x->task < y->task);
}

/* By how much an interval overlaps what is blocked; > 0 counts. O(log blocked). */
static double blocked_s(const struct workflow_processor *p, double from_s, double to_s)
{
    size_t low = 0, high = p->blocked_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (behind_s(p->blocked[middle].to_s, from_s) == 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == p->blocked_count || behind_s(to_s, p->blocked[low].from_s) == 0)
        return 0;
    return fmin(to_s, p->blocked[low].to_s) - fmax(from_s, p->blocked[low].from_s);
}

/* Where a row runs, among the processors of its resource. `last` is the row that ran last
 * on each, NULL: none. */
static enum error_code take_processor(struct checker *c, struct row *row,
                                      const struct row **last)
{
    const struct workflow_problem *problem = c->problem;
    size_t first = c->first[row->resource], end = first + c->count[row->resource];
    size_t best = first;
    double start_s = row->given->start_s, least_s = HUGE_VAL, least_blocked_s = HUGE_VAL;

    row->processor = first;
    if (row->finish_s <= start_s)
        return OK; /* takes no time: in nobody's way */
    for (size_t p = first; p < end; p++) {
        double wait_s = last[p] ? behind_s(last[p]->finish_s, start_s) : 0;
        double held_s = blocked_s(&problem->processors[p], start_s, row->finish_s);

        if (wait_s + held_s < least_s) {
            least_s = wait_s + held_s;
            best = p;
        }
        least_blocked_s = fmin(least_blocked_s, held_s);
    }
    row->processor = best;
    if (least_s > 0 && least_blocked_s > 0)
        TRY(report(c, "not_available", row->task, WORKFLOW_NONE, row->resource,
                   least_blocked_s));
    else if (least_s > 0)
        TRY(report(c, "capacity", row->task,
                   last[best] ? last[best]->task : WORKFLOW_NONE, row->resource,
                   least_s));
    if (!last[best] || row->finish_s > last[best]->finish_s)
        last[best] = row;
    return OK;
}

/* The rows in the order by_resource(). */
static enum error_code check_processors(struct checker *c, struct row **order)
{
    const struct row **last =
        NEW(c->a, const struct row *, c->problem->processor_count + 1);

    if (!last)
        return fail_memory(c->err);
    for (size_t k = 0; k < c->row_count; k++)
        order[k] = &c->rows[k];
    qsort(order, c->row_count, sizeof(struct row *), by_resource);
    for (size_t k = 0; k < c->row_count; k++)
        if (time_on(c, order[k]->task, order[k]->resource) < HUGE_VAL)
            TRY(take_processor(c, order[k], last));
    return OK;
}

/* ---- repairing: rows by start, short ones first, then in topological order ---- */

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
    size_t p = r->c->rows[r->c->row_of[task] - 1].processor;
    double time_s = workflow_time_s(problem, task, p);
    double ready_s = fmax(time_s > 0 ? r->free_s[p] : 0,
                          workflow_plan_ready_s(problem, &r->c->plan, task, p));
    double start_s = workflow_plan_gap_s(problem, &r->empty, p, ready_s, time_s);

    if (!(start_s < HUGE_VAL))
        return false;
    workflow_plan_set(problem, &r->c->plan, task, p, start_s, start_s + time_s);
    r->free_s[p] = fmax(r->free_s[p], start_s + time_s);
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
static enum error_code link_rows(struct repairer *r, struct row *const *order)
{
    const struct workflow_problem *problem = r->c->problem;
    size_t *last = NEW(r->c->a, size_t, problem->processor_count);

    if (!last)
        return fail_memory(r->c->err);
    for (size_t p = 0; p < problem->processor_count; p++)
        last[p] = WORKFLOW_NONE;
    for (size_t k = 0; k < r->c->row_count; k++) {
        size_t task = order[k]->task, p = order[k]->processor;

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

static int by_order(const void *a, const void *b)
{
    const struct row *x = *(const struct row *const *)a,
                     *y = *(const struct row *const *)b;

    if (x->given->start_s != y->given->start_s)
        return x->given->start_s > y->given->start_s ? 1 : -1;
    if (x->finish_s != y->finish_s)
        return x->finish_s > y->finish_s ? 1 : -1;
    return (x->position > y->position) - (x->position < y->position);
}

/* NAN: tasks are missing, cannot run, or wait for each other in the given order. */
static enum error_code repair(struct checker *c, struct row **order, double *makespan_s)
{
    struct repairer r = {.c = c};

    *makespan_s = (double)NAN;
    if (c->row_count < c->problem->open_count)
        return OK;
    for (size_t k = 0; k < c->row_count; k++)
        if (order[k]->processor == WORKFLOW_NONE)
            return OK;
    TRY(make_repairer(&r));
    qsort(order, c->row_count, sizeof(struct row *), by_order);
    TRY(link_rows(&r, order));
    workflow_plan_clear(c->problem, &c->plan);
    for (size_t k = 0; k < c->row_count; k++)
        if (r.waits_for[order[k]->task] == 0)
            r.ready[r.tail++] = order[k]->task;
    while (r.head < r.tail)
        if (!repair_task(&r, r.ready[r.head++]))
            return OK;
    if (r.tail == c->row_count)
        *makespan_s = workflow_plan_makespan_s(c->problem, &c->plan);
    return OK;
}

/* ---- all of it ---- */

static enum error_code measure(struct checker *c, struct workflow_objective *objective)
{
    struct workflow_bound bound;

    TRY(workflow_plan_make(c->problem, &c->plan, c->a, c->err));
    for (size_t k = 0; k < c->row_count; k++) {
        const struct row *row = &c->rows[k];

        if (row->processor != WORKFLOW_NONE)
            workflow_plan_set(c->problem, &c->plan, row->task, row->processor,
                              row->given->start_s, row->finish_s);
    }
    TRY(workflow_bound_make(c->problem, &bound, c->a, c->err));
    return workflow_objective_of(c->problem, &c->plan, &bound, objective, c->a, c->err);
}

enum error_code workflow_check(const struct workflow_problem *problem,
                               const struct workflow_given *given, size_t given_count,
                               struct workflow_check_out *out, struct arena *a,
                               struct error *err)
{
    struct checker c = {.problem = problem, .a = a, .err = err};
    struct workflow_check_out x = {0};
    struct row **order;

    TRY(read_rows(&c, given, given_count));
    order = NEW(a, struct row *, c.row_count);
    if (!order)
        return fail_memory(err);
    TRY(check_rows(&c));
    TRY(check_processors(&c, order));
    TRY(measure(&c, &x.objective));
    TRY(repair(&c, order, &x.repaired_makespan_s));
    x.begun_rows = c.begun_rows;
    x.valid = c.used == 0;
    x.violations = c.list;
    x.violation_count = c.used;
    *out = x;
    return OK;
}
