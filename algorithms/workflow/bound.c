/* workflow/bound.c - a time before which no schedule ends.
 *
 *     critical path   every task on its best processor, no transfers, no other tasks:
 *                     finish(i) = min over p of the first gap of p, behind the parents'
 *                     finishes, the release and the inputs, + w(i,p)
 *     area            least T at which the processors have been free for as long, all
 *                     together, as the sum of min over p of w(i,p)
 *
 * Without windows, running tasks, releases and inputs these are the two terms of the
 * spec. Tasks that can run nowhere, and those behind them, count nothing.
 *
 * Then the same two with transfers and prices (heads.h, area.h), and the largest of all
 * rounded up (grain.h).
 *
 * Source: spec workflows.md 8.1. Cost of the two: O(e + n P), O(e + n) where only speeds
 * differ and nothing is blocked.
 */
#include "algorithms/workflow/area.h"
#include "algorithms/workflow/grain.h"
#include "algorithms/workflow/heads.h"

#include <stdlib.h>

/* Looks that are made when the time is up already: a fraction of a millisecond. */
#define GRACE_UNITS 50000

struct looker {
    const struct workflow_problem *problem;
    struct workflow_plan idle; /* for its gaps */
    size_t fastest;            /* best for all tasks without a row; WORKFLOW_NONE */
};

/* The fastest processor when nothing but speed tells processors apart. */
static size_t fastest_of(const struct workflow_problem *problem)
{
    size_t best = WORKFLOW_NONE;

    for (size_t p = 0; p < problem->processor_count; p++) {
        const struct workflow_processor *x = &problem->processors[p];

        if (x->usable && x->blocked_count)
            return WORKFLOW_NONE;
        if (x->usable && x->speed_mips > 0 &&
            (best == WORKFLOW_NONE ||
             x->speed_mips > problem->processors[best].speed_mips))
            best = p;
    }
    return best;
}

static void look_at(const struct looker *l, size_t task, size_t p, double behind_s,
                    double *finish_s, double *least_s)
{
    double time_s = workflow_time_s(l->problem, task, p);
    double ready_s;

    if (time_s == HUGE_VAL)
        return;
    ready_s = fmax(behind_s, workflow_ready_s(l->problem, task, p));
    if (l->problem->processors[p].blocked_count && ready_s < HUGE_VAL)
        ready_s = workflow_plan_gap_s(l->problem, &l->idle, p, ready_s, time_s);
    *finish_s = fmin(*finish_s, ready_s + time_s);
    *least_s = fmin(*least_s, time_s);
}

/* Earliest finish of a task behind its parents, and its least run time. */
static double earliest_s(const struct looker *l, const double *finish_s, size_t task,
                         double *least_s)
{
    const struct workflow_problem *problem = l->problem;
    double behind_s = 0, earliest = HUGE_VAL;

    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1]; e++)
        behind_s = fmax(behind_s, finish_s[problem->edges[e].parent]);
    *least_s = HUGE_VAL;
    if (l->fastest != WORKFLOW_NONE && !problem->tasks[task]->etc_count &&
        workflow_staged_s(problem, task, l->fastest) == 0) {
        look_at(l, task, l->fastest, behind_s, &earliest, least_s);
        return earliest;
    }
    for (size_t p = 0; p < problem->processor_count; p++)
        look_at(l, task, p, behind_s, &earliest, least_s);
    return earliest;
}

/* ---- area ---- */

struct event {
    double at_s, change; /* of the number of free processors */
};

static int by_time(const void *a, const void *b)
{
    const struct event *x = a, *y = b;

    return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

static void area_of(const struct workflow_problem *problem, double work_s, double *area_s,
                    struct arena *a)
{
    size_t count = 0, used = 0;
    struct event *events;
    double free_count = 0, done_s = 0, at_s = 0;

    for (size_t p = 0; p < problem->processor_count; p++)
        count += 2 * problem->processors[p].blocked_count;
    events = NEW(a, struct event, count);
    for (size_t p = 0; p < problem->processor_count; p++) {
        const struct workflow_processor *x = &problem->processors[p];

        free_count += x->usable;
        for (size_t k = 0; x->usable && k < x->blocked_count; k++) {
            events[used++] = (struct event){x->blocked[k].from_s, -1};
            events[used++] = (struct event){x->blocked[k].to_s, 1};
        }
    }
    qsort(events, used, sizeof(*events), by_time);
    for (size_t k = 0; k < used && events[k].at_s < HUGE_VAL; k++) {
        double gain_s = free_count * (events[k].at_s - at_s);

        if (done_s + gain_s >= work_s)
            break;
        done_s += gain_s;
        at_s = events[k].at_s;
        free_count += events[k].change;
    }
    *area_s = free_count > 0.5 && work_s > done_s ? at_s + (work_s - done_s) / free_count
                                                  : at_s;
    if (work_s <= 0)
        *area_s = 0;
}

/* The longest way through the graph that counts transfers: end of a task, and what must
 * follow it, on the processor where both together are least. */
static double longest_way_s(const struct workflow_problem *problem,
                            const struct workflow_heads *heads,
                            struct workflow_clock *clock)
{
    size_t processors = problem->processor_count;
    double longest_s = 0;

    for (size_t i = 0; i < problem->task_count && heads->head_s; i++) {
        double least_s = HUGE_VAL;

        if (!workflow_tick(clock, (double)processors))
            break;
        for (size_t p = 0; p < processors; p++)
            least_s = fmin(least_s, heads->head_s[i * processors + p] +
                                        heads->tail_s[i * processors + p]);
        if (least_s < HUGE_VAL)
            longest_s = fmax(longest_s, least_s);
    }
    return longest_s * (1 - 1e-12); /* sums are rounded */
}

/* The two terms of the spec; what the time does not reach counts nothing. */
static enum error_code plain_bounds(const struct workflow_problem *problem,
                                    struct workflow_clock *clock,
                                    struct workflow_bound *b, struct arena *a)
{
    struct looker l = {.problem = problem, .fastest = fastest_of(problem)};
    double *finish_s = NEW(a, double, problem->task_count);
    double work_s = 0;

    TRY(workflow_plan_make(problem, &l.idle, a));
    clock->part.left += GRACE_UNITS;
    for (size_t k = 0; k < problem->task_count; k++) {
        size_t i = problem->topological[k];
        double least_s = 0, looks = 1;

        if (l.fastest == WORKFLOW_NONE || problem->tasks[i]->etc_count)
            looks = (double)problem->processor_count;
        if (!workflow_tick(clock, looks)) {
            b->skipped = true;
            break;
        }
        if (workflow_is_open(problem, i))
            finish_s[i] = earliest_s(&l, finish_s, i, &least_s);
        else
            finish_s[i] = fmax(0, problem->fixed_finish_s[i]);
        if (finish_s[i] == HUGE_VAL)
            continue;
        b->critical_path_s = fmax(b->critical_path_s, finish_s[i]);
        work_s += least_s;
    }
    area_of(problem, work_s, &b->area_s, a);
    return OK;
}

static const size_t area_steps[] = {
    [EFFORT_NONE] = 0,
    [EFFORT_FAST] = 10,
    [EFFORT_FULL] = AREA_STEPS_MOST,
};

enum error_code workflow_bound_parts(const struct workflow_problem *problem,
                                     enum bound_effort effort,
                                     struct workflow_clock *clock,
                                     struct workflow_bound *bound,
                                     struct workflow_heads *heads,
                                     struct workflow_area *area, struct arena *a)
{
    struct workflow_bound b = {0};

    *heads = (struct workflow_heads){0};
    *area = (struct workflow_area){0};
    TRY(plain_bounds(problem, clock, &b, a));
    b.path_s = b.critical_path_s;
    b.work_s = b.area_s;
    if (effort != EFFORT_NONE && !clock->spent) {
        TRY(workflow_heads_make(problem, clock, heads, a));
        workflow_area_make(problem, heads, area_steps[effort], clock, area, a);
        b.path_s = fmax(b.path_s, longest_way_s(problem, heads, clock));
        b.work_s = fmax(b.work_s, area->area_s);
    }
    b.lower_bound_s = fmax(b.path_s, b.work_s);
    if (effort != EFFORT_NONE && !clock->spent)
        b.grain_s = workflow_grain_s(problem, clock);
    b.skipped = b.skipped || (effort != EFFORT_NONE && clock->spent);
    b.grained_s = workflow_round_up_s(b.lower_bound_s, b.grain_s);
    if (b.grained_s > b.lower_bound_s)
        b.lower_bound_s = b.grained_s;
    else
        b.grained_s = 0;
    *bound = b;
    return OK;
}

enum error_code workflow_bound_make(const struct workflow_problem *problem,
                                    struct workflow_bound *bound, struct arena *a)
{
    struct workflow_clock clock = workflow_clock_make(problem->in->budget, 1);
    struct workflow_heads heads;
    struct workflow_area area;

    return workflow_bound_parts(problem, EFFORT_FULL, &clock, bound, &heads, &area, a);
}
