/* workflow/initial.c - a schedule that the request brings, to start a search from.
 *
 * With start_s in all rows it has to keep every rule as it stands (verify.h). Else the
 * rows are placed one by one, each as early as what is before it allows, on its slot or,
 * if it names none, where its resource is done with it first (tie: the lower slot).
 * A task that can run nowhere, or that depends on such a one, needs no row.
 *
 * Source: spec search.md 2, 3.
 */
#include "algorithms/workflow/initial.h"

#include "algorithms/workflow/order.h"

#include <string.h>

struct reader {
    struct workflow_problem *problem;
    struct workflow_given_rows rows;
    struct workflow_plan *plan;
    struct workflow_clock clock;
    struct arena *a;
    struct error *err;
};

/* ---- rows that are missing ---- */

static bool runs_somewhere(const struct workflow_problem *problem, size_t task)
{
    for (size_t p = 0; p < problem->processor_count; p++)
        if (workflow_time_s(problem, task, p) < HUGE_VAL &&
            workflow_ready_s(problem, task, p) < HUGE_VAL)
            return true;
    return false;
}

/* Can it have a place, as far as itself and its parents go? */
static bool placeable(const struct workflow_problem *problem, size_t task,
                      const bool *placeless)
{
    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
         e++) {
        size_t parent = problem->edges[e].parent;

        if (placeless[parent] || (!workflow_is_open(problem, parent) &&
                                  !(problem->fixed_finish_s[parent] < HUGE_VAL)))
            return false;
    }
    return runs_somewhere(problem, task);
}

/* The first open task that ought to have a row, or that has one without a parent's. */
static void find_missing(struct reader *r)
{
    const struct workflow_problem *problem = r->problem;
    bool *placeless = NEW(r->a, bool, problem->task_count);

    for (size_t k = 0; k < problem->task_count; k++) {
        size_t i = problem->topological[k];

        if (!workflow_is_open(problem, i))
            continue;
        if (!r->rows.run_of[i]) {
            if (!workflow_tick(&r->clock, (double)problem->processor_count))
                return;
            placeless[i] = !placeable(problem, i, placeless);
            if (!placeless[i]) {
                workflow_initial_missing(problem, i, r->err);
                return;
            }
            continue;
        }
        for (size_t e = problem->parent_first[i]; e < problem->parent_first[i + 1]; e++)
            if (placeless[problem->edges[e].parent]) {
                workflow_initial_missing(problem, problem->edges[e].parent, r->err);
                return;
            }
    }
}

/* ---- rows with times ---- */

static enum error_code take_as_given(struct reader *r, struct workflow_fault *fault)
{
    const struct workflow_problem *problem = r->problem;
    struct workflow_verdict verdict;

    TRY(workflow_verify(problem, r->rows.runs, r->rows.run_count, &verdict, r->a,
                        r->err));
    r->clock.spent = r->clock.spent || verdict.spent;
    for (size_t b = 0; b < verdict.breach_count; b++) {
        const struct workflow_breach *breach = &verdict.breaches[b];

        if (strcmp(breach->kind, "missing") == 0)
            continue; /* find_missing() has let it pass */
        *fault = (struct workflow_fault){breach->kind, breach->task, breach->resource};
        return OK;
    }
    for (size_t k = 0; k < problem->task_count; k++) {
        size_t task = problem->topological[k], run = r->rows.run_of[task];

        if (run)
            workflow_plan_set(problem, r->plan, task, verdict.processor[run - 1],
                              r->rows.runs[run - 1].start_s,
                              r->rows.runs[run - 1].finish_s);
    }
    return OK;
}

/* ---- rows without times ---- */

/* Where the row's task is done first; WORKFLOW_NONE. */
static size_t best_processor(struct reader *r, const struct workflow_run *run,
                             double slot, double *start_s)
{
    const struct workflow_problem *problem = r->problem;
    size_t edges =
        problem->parent_first[run->task + 1] - problem->parent_first[run->task];
    size_t best = WORKFLOW_NONE;

    *start_s = HUGE_VAL;
    for (size_t p = r->rows.first[run->resource];
         p < problem->processor_count && problem->processors[p].resource == run->resource;
         p++) {
        double at_s;

        if (!workflow_tick(&r->clock, 1 + (double)edges))
            break;
        if (!isnan(slot) && (double)problem->processors[p].slot != slot)
            continue;
        at_s = workflow_plan_gap_s(problem, r->plan, p,
                                   workflow_plan_ready_s(problem, r->plan, run->task, p),
                                   workflow_time_s(problem, run->task, p));
        if (at_s < *start_s) {
            *start_s = at_s;
            best = p;
        }
    }
    return best;
}

/* Its parents are in later rows, or there is no time for it there. */
static const char *why_not(const struct reader *r, size_t task)
{
    const struct workflow_problem *problem = r->problem;

    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1]; e++)
        if (r->plan->processor[problem->edges[e].parent] == WORKFLOW_NONE)
            return "precedence";
    return "cannot_run";
}

static enum error_code place_in_order(struct reader *r, struct workflow_fault *fault)
{
    const struct workflow_problem *problem = r->problem;

    for (size_t k = 0; k < r->rows.run_count && !fault->kind; k++) {
        const struct workflow_run *run = &r->rows.runs[k];
        double start_s;
        size_t p =
            best_processor(r, run, problem->in->initial[r->rows.row[k]].slot, &start_s);

        if (r->clock.spent)
            return OK;
        if (p == WORKFLOW_NONE)
            *fault =
                (struct workflow_fault){why_not(r, run->task), run->task, run->resource};
        else
            TRY(workflow_plan_place(problem, r->plan, run->task, p, start_s, r->a));
    }
    return OK;
}

/* ---- all of it ---- */

/* Without needless waiting, unless that ends later. */
static enum error_code compact(struct reader *r)
{
    const struct workflow_problem *problem = r->problem;
    struct workflow_plan *tight = NEW(r->a, struct workflow_plan, 1);
    struct workflow_order order;
    double begun_s = 0;

    for (size_t i = 0; i < problem->task_count; i++)
        if (!workflow_is_open(problem, i) && problem->fixed_finish_s[i] < HUGE_VAL)
            begun_s = fmax(begun_s, problem->fixed_finish_s[i]);
    workflow_order_make(problem, &order, r->a);
    workflow_order_of_plan(problem, r->plan, &order, r->a);
    TRY(workflow_plan_make(problem, tight, r->a));
    TRY(workflow_order_plan(problem, &order, begun_s, tight, r->a));
    if (workflow_plan_makespan_s(problem, tight) <=
        workflow_plan_makespan_s(problem, r->plan))
        r->plan = tight;
    return OK;
}

static void find_no_slot(const struct reader *r, struct workflow_fault *fault)
{
    const struct workflow_problem *problem = r->problem;
    const struct workflow_in *in = problem->in;

    for (size_t k = 0; k < r->rows.run_count; k++) {
        const struct workflow_run *run = &r->rows.runs[k];
        double slot = in->initial[r->rows.row[k]].slot;
        size_t p = r->rows.first[run->resource];

        if (isnan(slot) || p == WORKFLOW_NONE)
            continue;
        if (slot >= 0 && slot < (double)(problem->processor_count - p)) {
            p += (size_t)slot; /* a resource's slots follow each other, from 0 */
            if (problem->processors[p].resource == run->resource &&
                (double)problem->processors[p].slot == slot)
                continue;
        }
        *fault = (struct workflow_fault){"no_slot", run->task, run->resource};
    }
}

size_t workflow_initial_warn_rows(struct workflow_problem *problem,
                                  const struct workflow_given_rows *rows)
{
    size_t begun = rows->begun_count, timed, untimed = 0;

    for (size_t k = 0; k < rows->run_count; k++)
        untimed += isnan(rows->runs[k].start_s) ? 1 : 0;
    timed = rows->run_count - untimed;
    if (begun)
        workflow_warn(
            problem,
            "ignored: /initial: %zu row%s of tasks that have begun not looked at: "
            "these are where the workflow says",
            begun, begun == 1 ? "" : "s");
    if (timed && untimed)
        workflow_warn(
            problem,
            "ignored: /initial: start_s of %zu row%s not used: %zu ha%s none, and "
            "all were placed in their order",
            timed, timed == 1 ? "" : "s", untimed, untimed == 1 ? "s" : "ve");
    return untimed;
}

void workflow_initial_missing(const struct workflow_problem *problem, size_t task,
                              struct error *err)
{
    invalid(err, "/initial", ITEM_REQUIRED,
            "task '%.100s', which has not begun, has no row", problem->tasks[task]->id);
}

void workflow_initial_refuse(struct workflow_problem *problem,
                             const struct workflow_fault *fault)
{
    const char *on = "", *resource = "";

    if (!fault->kind) {
        workflow_warn(problem, "initial_refused: the time limit came before it had been "
                               "checked; the search began without it");
        return;
    }
    if (fault->resource != WORKFLOW_NONE) {
        on = " on ";
        resource = problem->in->snapshot->resources[fault->resource].id;
    }
    workflow_warn(problem,
                  "initial_refused: task '%.80s'%s%.80s: %s; the search began without it",
                  problem->tasks[fault->task]->id, on, resource, fault->kind);
}

enum error_code workflow_initial_read(struct workflow_problem *problem, struct arena *a,
                                      struct error *err)
{
    const struct workflow_in *in = problem->in;
    struct reader r = {.problem = problem, .a = a, .err = err};
    struct workflow_fault fault = {0};
    size_t untimed, before = err->item_count;

    if (in->initial_count == 0)
        return OK;
    r.clock = workflow_clock_make(in->budget, 1);
    r.plan = NEW(a, struct workflow_plan, 1);
    TRY(workflow_given_read(problem, in->initial, in->initial_count, "/initial", false,
                            &r.rows, a, err));
    untimed = workflow_initial_warn_rows(problem, &r.rows);
    TRY(workflow_plan_make(problem, r.plan, a));
    find_missing(&r);
    if (err->item_count > before)
        return ERR_INVALID;
    find_no_slot(&r, &fault);
    if (!fault.kind && !r.clock.spent)
        TRY(untimed ? place_in_order(&r, &fault) : take_as_given(&r, &fault));
    if (fault.kind || r.clock.spent) {
        workflow_initial_refuse(problem, &fault);
        return OK;
    }
    TRY(compact(&r));
    problem->initial = r.plan;
    return OK;
}
