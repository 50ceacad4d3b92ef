/* workflow/plan.c - a schedule under construction.
 *
 * A processor is seen as what is left of it: its idle gaps, in the order of time. A task
 * that needs w from `ready` on starts in the first gap that holds
 * max(gap begins, ready) + w: bisection by the ends of the gaps, then past those that
 * are too short. The longest gap of every 64 neighbours is known, so that thousands of
 * useless ones cost little.
 */
#include "algorithms/workflow/problem.h"

#include <string.h>

enum { BLOCK = 64 };

struct gap {
    double from_s, to_s; /* to_s may be HUGE_VAL */
};

struct workflow_timeline {
    struct gap *gaps;
    double *longest_s; /* of each BLOCK gaps; at least */
    size_t count, room;
};

static size_t blocks_of(size_t gaps)
{
    return (gaps + BLOCK - 1) / BLOCK;
}

/* From the block of gap `first` on. */
static void measure_blocks(struct workflow_timeline *line, size_t first)
{
    for (size_t b = first / BLOCK; b < blocks_of(line->count); b++) {
        size_t end = b * BLOCK + BLOCK < line->count ? b * BLOCK + BLOCK : line->count;

        line->longest_s[b] = 0;
        for (size_t g = b * BLOCK; g < end; g++)
            line->longest_s[b] =
                fmax(line->longest_s[b], line->gaps[g].to_s - line->gaps[g].from_s);
    }
}

static void clear_timeline(const struct workflow_processor *p,
                           struct workflow_timeline *line)
{
    double from_s = 0;

    line->count = 0;
    for (size_t k = 0; k < p->blocked_count; k++) {
        if (p->blocked[k].from_s > from_s)
            line->gaps[line->count++] = (struct gap){from_s, p->blocked[k].from_s};
        from_s = p->blocked[k].to_s;
    }
    if (from_s < HUGE_VAL && p->usable)
        line->gaps[line->count++] = (struct gap){from_s, HUGE_VAL};
    if (!p->usable)
        line->count = 0;
    measure_blocks(line, 0);
}

static void fix_task(const struct workflow_problem *problem, struct workflow_plan *plan,
                     size_t i)
{
    plan->processor[i] = problem->fixed_processor[i];
    plan->start_s[i] = problem->fixed_start_s[i];
    plan->finish_s[i] = problem->fixed_finish_s[i];
    plan->data_ready_s[i] = (double)NAN;
}

void workflow_plan_clear(const struct workflow_problem *problem,
                         struct workflow_plan *plan)
{
    for (size_t p = 0; p < problem->processor_count; p++)
        clear_timeline(&problem->processors[p], &plan->timelines[p]);
    for (size_t i = 0; i < problem->task_count; i++)
        fix_task(problem, plan, i);
}

void workflow_plan_unset(const struct workflow_problem *problem,
                         struct workflow_plan *plan, size_t task)
{
    fix_task(problem, plan, task);
}

/* Looks for each task and edge that follow a list: those placed in haste, bounds, the
 * search's orders, checks, rows. */
#define AFTER_LIST_LOOKS 900.0
#define LIST_SHARE_LEAST 0.4

double workflow_share_of_limit(const struct workflow_problem *problem, double looks)
{
    double times = (double)problem->open_count + (double)problem->edge_count;

    if (!problem->in->time_limit_given || !(problem->in->time_limit_s > 0))
        return 0;
    return looks * times / WORKFLOW_LOOKS_PER_S / problem->in->time_limit_s;
}

/* Of the budget; then the rest is placed in haste. */
static double list_share(const struct workflow_problem *problem)
{
    double after = workflow_share_of_limit(problem, AFTER_LIST_LOOKS);

    return fmax(LIST_SHARE_LEAST, fmin(WORKFLOW_LIST_SHARE, 1 - after));
}

enum error_code workflow_plan_make(const struct workflow_problem *problem,
                                   struct workflow_plan *plan, struct arena *a)
{
    size_t n = problem->task_count;

    *plan = (struct workflow_plan){
        .status = DECISION_FEASIBLE,
        .clock = workflow_clock_make(problem->in->budget, list_share(problem)),
    };
    plan->processor = NEW(a, size_t, n);
    plan->start_s = NEW(a, double, n);
    plan->finish_s = NEW(a, double, n);
    plan->data_ready_s = NEW(a, double, n);
    plan->timelines = NEW(a, struct workflow_timeline, problem->processor_count);
    for (size_t p = 0; p < problem->processor_count; p++) {
        struct workflow_timeline *line = &plan->timelines[p];

        line->room = problem->processors[p].blocked_count + 4;
        line->gaps = NEW(a, struct gap, line->room);
        line->longest_s = NEW(a, double, blocks_of(line->room));
    }
    workflow_plan_clear(problem, plan);
    return OK;
}

double workflow_plan_ready_s(const struct workflow_problem *problem,
                             const struct workflow_plan *plan, size_t task,
                             size_t processor)
{
    double ready_s = workflow_ready_s(problem, task, processor);

    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
         e++) {
        const struct workflow_edge *edge = &problem->edges[e];
        size_t from = plan->processor[edge->parent];
        double arrived_s;

        if (from == WORKFLOW_NONE)
            return HUGE_VAL;
        arrived_s = fmax(0, plan->finish_s[edge->parent]) +
                    workflow_transfer_s(problem, edge, from, processor);
        if (arrived_s > ready_s)
            ready_s = arrived_s;
    }
    return ready_s;
}

/* First gap that ends at end_s or later. */
static size_t find_gap(const struct workflow_timeline *line, double end_s)
{
    size_t low = 0, high = line->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (line->gaps[middle].to_s < end_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double workflow_plan_gap_s(const struct workflow_problem *problem,
                           const struct workflow_plan *plan, size_t processor,
                           double ready_s, double time_s)
{
    const struct workflow_timeline *line = &plan->timelines[processor];
    size_t g;

    if (!(ready_s < HUGE_VAL && time_s < HUGE_VAL))
        return HUGE_VAL;
    if (time_s == 0)
        return workflow_instant_s(problem, processor, ready_s);
    g = find_gap(line, ready_s + time_s);
    while (g < line->count) {
        double start_s = fmax(ready_s, line->gaps[g].from_s);

        if (start_s + time_s <= line->gaps[g].to_s)
            return start_s;
        g++;
        /* Rounding may make a gap a little longer than its difference. */
        while (g % BLOCK == 0 && g < line->count &&
               line->longest_s[g / BLOCK] * (1 + 1e-12) < time_s &&
               line->longest_s[g / BLOCK] < time_s - 1e-12 * line->gaps[g].to_s)
            g += BLOCK;
    }
    return HUGE_VAL;
}

double workflow_plan_behind_s(const struct workflow_plan *plan, size_t processor,
                              double ready_s)
{
    const struct workflow_timeline *line = &plan->timelines[processor];

    if (!(ready_s < HUGE_VAL) || line->count == 0 ||
        line->gaps[line->count - 1].to_s < HUGE_VAL)
        return HUGE_VAL;
    return fmax(ready_s, line->gaps[line->count - 1].from_s);
}

/* Makes room for one more gap at g. */
static void open_gap(struct workflow_timeline *line, size_t g, struct arena *a)
{
    if (line->count == line->room) {
        size_t room = 2 * line->room;
        struct gap *gaps = GROW(a, line->gaps, struct gap, line->count, room);
        double *longest_s =
            GROW(a, line->longest_s, double, blocks_of(line->room), blocks_of(room));

        line->gaps = gaps;
        line->longest_s = longest_s;
        line->room = room;
    }
    memmove(line->gaps + g + 1, line->gaps + g, (line->count - g) * sizeof(*line->gaps));
    line->count++;
}

static void close_gap(struct workflow_timeline *line, size_t g)
{
    line->count--;
    memmove(line->gaps + g, line->gaps + g + 1, (line->count - g) * sizeof(*line->gaps));
}

/* Takes [start_s, finish_s) out of the gaps. */
static void occupy(struct workflow_timeline *line, double start_s, double finish_s,
                   struct arena *a)
{
    size_t g = find_gap(line, finish_s);
    struct gap gap;

    if (finish_s <= start_s || g == line->count || line->gaps[g].from_s > start_s)
        return; /* no time at all */
    gap = line->gaps[g];
    if (gap.from_s < start_s && finish_s < gap.to_s) {
        open_gap(line, g, a);
        line->gaps[g].to_s = start_s;
        line->gaps[g + 1].from_s = finish_s;
    } else if (gap.from_s < start_s) {
        line->gaps[g].to_s = start_s;
    } else if (finish_s < gap.to_s) {
        line->gaps[g].from_s = finish_s;
    } else {
        close_gap(line, g);
    }
    measure_blocks(line, g);
}

/* When the last input of a task is there; NAN: it needs none. */
static double data_ready_s(const struct workflow_problem *problem,
                           const struct workflow_plan *plan, size_t task,
                           size_t processor)
{
    double last_s = workflow_staged_s(problem, task, processor);
    bool any = last_s > 0;

    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
         e++) {
        const struct workflow_edge *edge = &problem->edges[e];
        size_t from = plan->processor[edge->parent];

        if (from == WORKFLOW_NONE)
            continue;
        any = true;
        last_s = fmax(last_s, fmax(0, plan->finish_s[edge->parent]) +
                                  workflow_transfer_s(problem, edge, from, processor));
    }
    return any ? last_s : (double)NAN;
}

void workflow_plan_set(const struct workflow_problem *problem, struct workflow_plan *plan,
                       size_t task, size_t processor, double start_s, double finish_s)
{
    plan->processor[task] = processor;
    plan->start_s[task] = start_s;
    plan->finish_s[task] = finish_s;
    plan->data_ready_s[task] = data_ready_s(problem, plan, task, processor);
}

enum error_code workflow_plan_place(const struct workflow_problem *problem,
                                    struct workflow_plan *plan, size_t task,
                                    size_t processor, double start_s, struct arena *a)
{
    double finish_s = start_s + workflow_time_s(problem, task, processor);

    occupy(&plan->timelines[processor], start_s, finish_s, a);
    workflow_plan_set(problem, plan, task, processor, start_s, finish_s);
    return OK;
}

double workflow_plan_makespan_s(const struct workflow_problem *problem,
                                const struct workflow_plan *plan)
{
    double last_s = 0;

    for (size_t i = 0; i < problem->task_count; i++)
        if (plan->processor[i] != WORKFLOW_NONE && plan->finish_s[i] < HUGE_VAL)
            last_s = fmax(last_s, plan->finish_s[i]);
    return last_s;
}
