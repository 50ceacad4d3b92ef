/* workflow/verify.c - does a schedule keep all rules? An independent look.
 *
 * With several processors a resource, runs take them in the order of their starts, each
 * the first that is free; as what blocks a slot but not the others ends for good, that
 * finds a free one whenever there is one.
 */
#include "algorithms/workflow/verify.h"

#include "algorithms/workflow/tick.h"

#include <stdlib.h>

#define TOLERANCE 1e-9

struct verifier {
    const struct workflow_problem *problem;
    const struct workflow_run *runs;
    size_t run_count;
    size_t *run_of;        /* [task]: run + 1; 0: none */
    size_t *first, *count; /* [resource]: its processors */
    size_t *open;      /* [resource]: one that is not held for ever, if there is one */
    size_t *processor; /* [run] */
    struct workflow_breach *list;
    size_t used, room;
    struct workflow_clock clock;
    struct arena *a;
    struct error *err;
};

/* By how much `late` is behind `early`; 0 within the tolerance. */
static double behind_s(double late, double early)
{
    double by_s = late - early;

    if (late == HUGE_VAL)
        return early == HUGE_VAL ? 0 : HUGE_VAL;
    return by_s <= TOLERANCE * fmax(1, fmax(fabs(late), fabs(early))) ? 0 : by_s;
}

static enum error_code report(struct verifier *v, const char *kind, size_t task,
                              size_t other, size_t resource, double by_s)
{
    if (v->used == v->room) {
        size_t room = v->room ? 2 * v->room : 16;
        struct workflow_breach *list =
            GROW(v->a, v->list, struct workflow_breach, v->used, room);

        v->list = list;
        v->room = room;
    }
    v->list[v->used++] = (struct workflow_breach){kind, task, other, resource,
                                                  by_s < HUGE_VAL ? by_s : (double)NAN};
    return OK;
}

/* Run time on a resource. */
static double time_on(const struct verifier *v, size_t task, size_t resource)
{
    return v->count[resource] ? workflow_time_s(v->problem, task, v->open[resource])
                              : HUGE_VAL;
}

/* ---- each run by itself and with its parents ---- */

/* Until when an interval keeps a task of no time out; 0: it may be here. */
static double closed_until_s(const struct workflow_processor *p, double at_s)
{
    size_t low = 0, high = p->closed_count;
    const struct workflow_blocked *x;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (behind_s(p->closed[middle].to_s, at_s) == 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == p->closed_count)
        return 0;
    x = &p->closed[low];
    return x->from_s <= 0 || behind_s(at_s, x->from_s) > 0 ? x->to_s : 0;
}

static enum error_code look_at_run(struct verifier *v, const struct workflow_run *run)
{
    const struct workflow_problem *problem = v->problem;
    double start_s = run->start_s, time_s = time_on(v, run->task, run->resource);
    double ready_s, by_s, until_s;
    size_t p = v->open[run->resource];

    if (time_s == HUGE_VAL)
        return report(v, "cannot_run", run->task, WORKFLOW_NONE, run->resource,
                      (double)NAN);
    by_s = behind_s(start_s + time_s, run->finish_s);
    if (by_s > 0)
        TRY(report(v, "too_short", run->task, WORKFLOW_NONE, run->resource, by_s));
    by_s = behind_s(problem->release_s[run->task], start_s);
    if (by_s > 0)
        TRY(report(v, "release", run->task, WORKFLOW_NONE, run->resource, by_s));
    ready_s = workflow_staged_s(problem, run->task, p);
    by_s = behind_s(ready_s, start_s);
    if (by_s > 0 && ready_s > 0)
        TRY(report(v, "transfer", run->task, WORKFLOW_NONE, run->resource, by_s));
    until_s = time_s > 0 ? 0 : closed_until_s(&problem->processors[p], start_s);
    return until_s > 0 ? report(v, "not_available", run->task, WORKFLOW_NONE,
                                run->resource, until_s - start_s)
                       : OK;
}

static enum error_code look_at_edge(struct verifier *v, const struct workflow_run *run,
                                    const struct workflow_edge *edge)
{
    const struct workflow_problem *problem = v->problem;
    size_t from = problem->fixed_processor[edge->parent];
    double finish_s = fmax(0, problem->fixed_finish_s[edge->parent]);
    double by_s;

    if (from == WORKFLOW_NONE) {
        const struct workflow_run *parent =
            v->run_of[edge->parent] ? &v->runs[v->run_of[edge->parent] - 1] : NULL;

        if (!parent || v->count[parent->resource] == 0)
            return OK; /* missing, or cannot run: said elsewhere */
        from = v->open[parent->resource];
        finish_s = parent->finish_s;
    }
    by_s = behind_s(finish_s, run->start_s);
    if (by_s > 0)
        return report(v, "precedence", run->task, edge->parent, WORKFLOW_NONE, by_s);
    by_s = behind_s(finish_s +
                        workflow_transfer_s(problem, edge, from, v->open[run->resource]),
                    run->start_s);
    return by_s > 0 ? report(v, "transfer", run->task, edge->parent, run->resource, by_s)
                    : OK;
}

static enum error_code look_at_tasks(struct verifier *v)
{
    const struct workflow_problem *problem = v->problem;

    for (size_t i = 0; i < problem->task_count; i++) {
        size_t first = problem->parent_first[i], end = problem->parent_first[i + 1];
        const struct workflow_run *run;

        if (!workflow_is_open(problem, i))
            continue;
        if (!workflow_tick(&v->clock, 1 + (double)(end - first)))
            return OK;
        if (!v->run_of[i]) {
            TRY(report(v, "missing", i, WORKFLOW_NONE, WORKFLOW_NONE, (double)NAN));
            continue;
        }
        run = &v->runs[v->run_of[i] - 1];
        TRY(look_at_run(v, run));
        for (size_t e = first; e < end && v->count[run->resource]; e++)
            TRY(look_at_edge(v, run, &problem->edges[e]));
    }
    return OK;
}

/* ---- runs of one resource among each other ---- */

struct by_start {
    size_t resource, run, task;
    double start_s, finish_s;
};

static int compare(const void *a, const void *b)
{
    const struct by_start *x = a, *y = b;

    if (x->resource != y->resource)
        return x->resource > y->resource ? 1 : -1;
    if (x->start_s != y->start_s)
        return x->start_s > y->start_s ? 1 : -1;
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

/* Where a run is, among the processors of its resource. `last` is the run that was last
 * on each, + 1; 0: none. */
static enum error_code take_processor(struct verifier *v, size_t k, size_t *last)
{
    const struct workflow_problem *problem = v->problem;
    const struct workflow_run *run = &v->runs[k], *before;
    size_t first = v->first[run->resource], end = first + v->count[run->resource];
    size_t best = first;
    double least_s = HUGE_VAL, least_blocked_s = HUGE_VAL;

    v->processor[k] = first;
    if (run->finish_s <= run->start_s || time_on(v, run->task, run->resource) == 0)
        return OK; /* takes no time: in nobody's way */
    for (size_t p = first; p < end; p++) {
        double wait_s =
            last[p] ? behind_s(v->runs[last[p] - 1].finish_s, run->start_s) : 0;
        double held_s = blocked_s(&problem->processors[p], run->start_s, run->finish_s);

        if (wait_s + held_s < least_s) {
            least_s = wait_s + held_s;
            best = p;
        }
        least_blocked_s = fmin(least_blocked_s, held_s);
    }
    v->processor[k] = best;
    before = last[best] ? &v->runs[last[best] - 1] : NULL;
    if (least_s > 0 && least_blocked_s > 0)
        TRY(report(v, "not_available", run->task, WORKFLOW_NONE, run->resource,
                   least_blocked_s));
    else if (least_s > 0)
        TRY(report(v, "capacity", run->task, before ? before->task : WORKFLOW_NONE,
                   run->resource, least_s));
    if (!before || run->finish_s > before->finish_s)
        last[best] = k + 1;
    return OK;
}

static enum error_code look_at_processors(struct verifier *v)
{
    struct by_start *order = NEW(v->a, struct by_start, v->run_count);
    size_t *last = NEW(v->a, size_t, v->problem->processor_count);

    for (size_t k = 0; k < v->run_count; k++) {
        const struct workflow_run *run = &v->runs[k];

        v->processor[k] = WORKFLOW_NONE;
        order[k] =
            (struct by_start){run->resource, k, run->task, run->start_s, run->finish_s};
    }
    qsort(order, v->run_count, sizeof(*order), compare);
    for (size_t k = 0; k < v->run_count; k++) {
        const struct workflow_run *run = &v->runs[order[k].run];

        if (!workflow_tick(&v->clock, 1 + (double)v->count[run->resource]))
            return OK;
        if (v->run_of[run->task] == order[k].run + 1 &&
            time_on(v, run->task, run->resource) < HUGE_VAL)
            TRY(take_processor(v, order[k].run, last));
    }
    return OK;
}

/* ---- all of it ---- */

/* The first run of each task counts. */
static enum error_code number_runs(struct verifier *v)
{
    const struct workflow_problem *problem = v->problem;

    for (size_t p = problem->processor_count; p-- > 0;) {
        size_t resource = problem->processors[p].resource;

        if (v->count[resource]++ == 0 || problem->processors[p].usable)
            v->open[resource] = p;
        v->first[resource] = p;
    }
    for (size_t k = 0; k < v->run_count; k++) {
        const struct workflow_run *run = &v->runs[k];

        if (v->run_of[run->task])
            TRY(report(v, "twice", run->task, WORKFLOW_NONE, run->resource, (double)NAN));
        else
            v->run_of[run->task] = k + 1;
    }
    return OK;
}

static double last_end_s(const struct verifier *v)
{
    const struct workflow_problem *problem = v->problem;
    double last_s = 0;

    for (size_t k = 0; k < v->run_count; k++)
        last_s = fmax(last_s, v->runs[k].finish_s);
    for (size_t i = 0; i < problem->task_count; i++)
        if (!workflow_is_open(problem, i) && problem->fixed_finish_s[i] < HUGE_VAL)
            last_s = fmax(last_s, problem->fixed_finish_s[i]);
    return last_s;
}

enum error_code workflow_verify(const struct workflow_problem *problem,
                                const struct workflow_run *runs, size_t run_count,
                                struct workflow_verdict *out, struct arena *a,
                                struct error *err)
{
    size_t resources = problem->in->snapshot->resource_count;
    struct verifier v = {.problem = problem,
                         .runs = runs,
                         .run_count = run_count,
                         .clock = workflow_clock_make(problem->in->budget, 1),
                         .a = a,
                         .err = err};

    v.run_of = NEW(a, size_t, problem->task_count);
    v.first = NEW(a, size_t, resources);
    v.count = NEW(a, size_t, resources);
    v.open = NEW(a, size_t, resources);
    v.processor = NEW(a, size_t, run_count);
    TRY(number_runs(&v));
    TRY(look_at_tasks(&v));
    TRY(look_at_processors(&v));
    *out = (struct workflow_verdict){v.list, v.used, v.processor, last_end_s(&v),
                                     v.clock.spent};
    return OK;
}

enum error_code workflow_verify_plan(const struct workflow_problem *problem,
                                     const struct workflow_plan *plan,
                                     struct workflow_verdict *out, struct arena *a,
                                     struct error *err)
{
    struct workflow_run *runs = NEW(a, struct workflow_run, problem->open_count);
    size_t count = 0;

    for (size_t i = 0; i < problem->task_count; i++)
        if (workflow_is_open(problem, i) && plan->processor[i] != WORKFLOW_NONE)
            runs[count++] = (struct workflow_run){
                .task = i,
                .resource = problem->processors[plan->processor[i]].resource,
                .start_s = plan->start_s[i],
                .finish_s = plan->finish_s[i]};
    return workflow_verify(problem, runs, count, out, a, err);
}
