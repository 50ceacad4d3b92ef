/* workflow/search_parts.h - what the parts of the search share. */
#ifndef GRIDPLAN_WORKFLOW_SEARCH_PARTS_H
#define GRIDPLAN_WORKFLOW_SEARCH_PARTS_H

#include "algorithms/workflow/area.h"
#include "algorithms/workflow/heads.h"
#include "algorithms/workflow/order.h"

struct workflow_searching {
    const struct workflow_problem *problem;
    struct workflow_heads heads;
    struct workflow_area area;
    struct workflow_plan listed; /* the best list plan */
    const char *best_list;       /* the policy that made it */
    struct workflow_order best;
    double bound_s;    /* proven: nothing is better */
    double exact_s;    /* what the exact part has proven; 0: nothing */
    double grain_s;    /* all makespans are multiples of it; 0: not known */
    double begun_s;    /* last finish of what has begun */
    double steps_most; /* in all; HUGE_VAL: no limit */
    double steps;      /* done so far */
    bool spent;        /* the time is up */
    double weighed;    /* changes that were looked at */
    struct improvement_list improved;
    struct workflow_clock clock;
    struct arena *arena;
};

/* Options of `search`, which `auto` takes too. */
enum { SEARCH_MAX_STEPS, SEARCH_BOUND_EFFORT, SEARCH_START };
extern const char *const workflow_effort_names[], *const workflow_start_names[];
#define SEARCH_EFFORT_AND_START                                                         \
    [SEARCH_BOUND_EFFORT] = {"bound_effort",                                            \
                             0,                                                         \
                             3,                                                         \
                             0,                                                         \
                             "Bounds before the first step: none, fast, or full, with " \
                             "all schedules of few tasks; auto: what 30 % of the time " \
                             "allow",                                                   \
                             PARAM_CHOICE,                                              \
                             workflow_effort_names},                                    \
    [SEARCH_START] = {"start",                                                          \
                      0,                                                                \
                      3,                                                                \
                      0,                                                                \
                      "List policy to start from: only heft and it are run; best: of "  \
                      "all",                                                            \
                      PARAM_CHOICE,                                                     \
                      workflow_start_names}

/* Nothing can be better than what we have. */
static inline bool workflow_search_done(const struct workflow_searching *s)
{
    return s->best.makespan_s <= s->bound_s * (1 + 1e-9);
}

/* Counts a step, and the units of work of the last one; false: no more. */
static inline bool workflow_search_step(struct workflow_searching *s, double units)
{
    if (s->spent || s->steps >= s->steps_most)
        return false;
    s->steps++;
    s->spent = !workflow_tick(&s->clock, units);
    return true;
}

/* Notes that the best has just become better. */
static inline void workflow_search_improved(struct workflow_searching *s)
{
    improvement_list_add(&s->improved, (uint64_t)s->steps, s->best.makespan_s);
}

/* A makespan from which on a schedule is no better than the best; rounding, or the step
 * in which all makespans come, is what makes the difference. */
static inline double workflow_search_goal_s(const struct workflow_searching *s)
{
    double best_s = s->best.makespan_s;

    return fmin(best_s * (1 - 1e-12), s->grain_s > 0 ? best_s - s->grain_s / 2 : best_s);
}

/* search_exact.c: all orders of few tasks, but those that bounds and states seen before
 * rule out; at most `nodes` of them. Sets exact_s and bound_s to the makespan if it gets
 * through. */
enum { EXACT_TASKS_MOST = 32, EXACT_PROCESSORS_MOST = 32 };
void workflow_search_exact(struct workflow_searching *s, double nodes);

/* search_local.c: moves one task at a time, `steps` times. */
void workflow_search_local(struct workflow_searching *s, double steps);

#endif
