/* workflow/problem.h - a workflow decision with all names resolved: what policies see.
 *
 * Tasks of all workflows are numbered through, in the order of the request; processors
 * are what a task occupies alone: a resource is one, or one for each of its slots with
 * the option `slots`. Nothing here is printed or read from JSON.
 */
#ifndef GRIDPLAN_WORKFLOW_PROBLEM_H
#define GRIDPLAN_WORKFLOW_PROBLEM_H

#include "algorithms/workflow/tick.h"
#include "algorithms/workflow/workflow.h"

#include <math.h>

#define WORKFLOW_NONE       ((size_t)-1)
#define WORKFLOW_EVERYWHERE ((size_t)-2) /* done, its output is on every processor */

/* Longer times are "never", so that sums of a million of them stay finite. */
#define WORKFLOW_LONGEST_S 1e100

/* One dependency. */
struct workflow_edge {
    size_t parent, child; /* numbers of tasks */
    double transfer_s;    /* between any two different resources; NAN: from bytes */
    double bytes;
};

/* An interval in which a processor may not be used. */
struct workflow_blocked {
    double from_s, to_s; /* to_s may be HUGE_VAL */
};

struct workflow_processor {
    size_t resource; /* of the snapshot */
    uint64_t slot;
    size_t site;
    double speed_mips;                      /* 0: never */
    bool usable;                            /* not failed, not taken for ever */
    const struct workflow_blocked *blocked; /* >= 0, sorted, disjoint, not touching: */
    size_t blocked_count; /* outside windows, held by others, held by fixed tasks */
    const struct workflow_blocked
        *closed;         /* alike: outside windows and before ready_s; */
    size_t closed_count; /* only these stop a task that takes no time */
};

/* What is left of a running task. Units are reference seconds of a task with
 * estimate_ref_s, parts of the whole of one with etc_s. */
struct workflow_left {
    double left, whole; /* units; NAN: not known */
    double remaining_s; /* where it is; HUGE_VAL: not known */
    bool begun;         /* it has done something */
    const char *source; /* "finish_s", "progress", "stored", "work", "elapsed",
                           "estimate", "guess" */
};

struct workflow_parts; /* problem_parts.h: private to the problem's own files */

struct workflow_problem {
    const struct workflow_in *in;
    const struct workflow_task *const *tasks; /* [task_count] */
    const size_t *workflow_of;                /* [task_count] */
    size_t task_count;

    const struct workflow_edge *edges; /* by child, in the order of depends_on */
    size_t edge_count;
    const size_t
        *parent_first;         /* [task_count + 1]: edges[parent_first[i] ...] end in i */
    const size_t *child_first; /* [task_count + 1] */
    const size_t *child_edge;  /* child_edge[child_first[i] ...]: edges that begin in i,
                                  children in task order */
    const size_t *topological; /* [task_count]: Kahn, first in first out */
    const size_t *position;    /* [task_count]: where a task is in `topological` */

    const struct workflow_processor *processors;
    size_t processor_count;

    /* Tasks that have begun are fixed; others have processor WORKFLOW_NONE here. A done
     * one may have WORKFLOW_EVERYWHERE. fixed_start_s may be NAN, fixed_finish_s is <= 0
     * for done tasks and HUGE_VAL where the end of a running one is not known. */
    const size_t *fixed_processor; /* [task_count] */
    const double *fixed_start_s, *fixed_finish_s;
    const struct workflow_left *left; /* [task_count]: of running and staging tasks */
    size_t open_count;                /* tasks that are not fixed */

    /* Not before: release_s and snapshot files, per task; see workflow_ready_s(). */
    const double *release_s; /* [task_count] */

    struct workflow_parts *parts;        /* links, files, times */
    const struct workflow_plan *initial; /* what a search starts from; NULL: its lists */
    const char **warnings;
    size_t warning_count, warned; /* kept, all */
    struct arena *arena;
};

/* Resolves and checks everything; all mistakes at once. A cycle is named task by task.
 * `slots`: a resource has as many processors as slots. */
enum error_code workflow_problem_make(const struct workflow_in *in, bool slots,
                                      struct workflow_problem **problem, struct arena *a,
                                      struct error *err);

/* Run time of a task on a processor, s; HUGE_VAL: it cannot run there. O(1). */
double workflow_time_s(const struct workflow_problem *problem, size_t task,
                       size_t processor);

/* Earliest instant from ready_s on for a task whose run time on the processor is 0: it
 * takes nothing, so it may run beside or inside any other task, but not strictly inside a
 * closed interval (one that begins now began before). HUGE_VAL: never. O(log closed). */
double workflow_instant_s(const struct workflow_problem *problem, size_t processor,
                          double ready_s);

/* Time to move an edge's data between two processors, s; 0 on the same resource, and from
 * WORKFLOW_EVERYWHERE; HUGE_VAL: there is no link. O(1). */
double workflow_transfer_s(const struct workflow_problem *problem,
                           const struct workflow_edge *edge, size_t from, size_t to);

/* Mean of workflow_time_s over the processors that can run the task; 0 without any.
 * O(1). */
double workflow_mean_time_s(const struct workflow_problem *problem, size_t task);

/* Mean of workflow_transfer_s over ordered pairs of different resources (0 with one
 * resource; unreachable pairs left out). O(1). */
double workflow_mean_transfer_s(const struct workflow_problem *problem,
                                const struct workflow_edge *edge);

/* When a task could start on a processor for all but its parents: release time, input
 * files from their nearest replica, input_bytes from their site. O(files). */
double workflow_ready_s(const struct workflow_problem *problem, size_t task,
                        size_t processor);

/* When the files, input_bytes and checkpoint of a task are on a processor if they are
 * sent now; 0: it needs none, HUGE_VAL: no link. O(files). */
double workflow_staged_s(const struct workflow_problem *problem, size_t task,
                         size_t processor);

/* Has not begun: a policy has to place it. */
static inline bool workflow_is_open(const struct workflow_problem *problem, size_t task)
{
    return problem->fixed_processor[task] == WORKFLOW_NONE;
}

/* Adds a line for people to the answer; the first 63 are kept, then a count. */
void workflow_warn(struct workflow_problem *problem, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- plans ---- */

/* Lower bounds of a problem, see bound.c. */
struct workflow_bound {
    double lower_bound_s;           /* the largest of what was computed */
    double critical_path_s, area_s; /* without transfers, heads and prices */
    double path_s, work_s;          /* with them; at least the two above */
    double grained_s;               /* the largest, rounded up by grain_s; 0: it is not */
    double grain_s;                 /* see grain.h; 0: none */
    bool skipped;                   /* the time was up before all of it was computed */
};

/* A plan under construction. Slots of a processor are kept in order of start. */
struct workflow_amounts; /* amounts.h */

struct workflow_plan {
    size_t *processor; /* [task_count]; WORKFLOW_NONE: no place */
    double *start_s, *finish_s, *data_ready_s;
    struct workflow_timeline *timelines; /* [processor_count]: what is idle */
    struct workflow_clock clock;         /* of list policies: to 80 % of the budget */
    enum decision_status status;         /* DECISION_CUT: the budget ended it; else
                                            DECISION_FEASIBLE: what is optimal, the answer says */
    double exact_s; /* no schedule ends before: a search of all of them; 0: none */
    struct workflow_bound bound; /* of the problem, if the policy needed it; */
    bool bounded;                /* it did */
    size_t in_turn_count; /* tasks that have got processors in turn, for want of time */
    uint64_t steps;
    double weighed; /* changes that a search has looked at */
    const char *algorithm, *because;
    const struct workflow_best_list *best_list; /* of a search, as in the answer; NULL */
    const struct improvement_list *improved;    /* likewise */
    const char *bound_effort;                   /* likewise */
    struct workflow_amounts *amounts;    /* resources run as many tasks as fit; NULL: a
                                            processor runs one at a time */
    const struct workflow_plan *instead; /* of a search: the best list plan, if this one
                                            breaks a rule; NULL: none */
};

/* An empty plan in which all fixed tasks stand. What fixed tasks occupy is part of the
 * processors' blocked intervals. */
enum error_code workflow_plan_make(const struct workflow_problem *problem,
                                   struct workflow_plan *plan, struct arena *a);

/* When a task could start on a processor as far as release, inputs and parents go.
 * HUGE_VAL: never, also when a parent has no place. O(parents + files). */
double workflow_plan_ready_s(const struct workflow_problem *problem,
                             const struct workflow_plan *plan, size_t task,
                             size_t processor);

/* Earliest start >= ready_s in a gap of `time_s`, between tasks too (insertion);
 * HUGE_VAL: none. Found by bisection; then O(gaps that are too short / 64).
 * No time at all needs no gap: workflow_instant_s(). */
double workflow_plan_gap_s(const struct workflow_problem *problem,
                           const struct workflow_plan *plan, size_t processor,
                           double ready_s, double time_s);

/* Earliest start >= ready_s behind all that a processor has, whatever it takes; HUGE_VAL:
 * the processor is not there for good. O(1). */
double workflow_plan_behind_s(const struct workflow_plan *plan, size_t processor,
                              double ready_s);

/* Puts a task there; start_s comes from workflow_plan_gap_s(). O(gaps behind it). */
enum error_code workflow_plan_place(const struct workflow_problem *problem,
                                    struct workflow_plan *plan, size_t task,
                                    size_t processor, double start_s, struct arena *a);

/* The same, appending: also after times that no gap holds. For schedules that are not
 * ours; the timeline is left alone. */
void workflow_plan_set(const struct workflow_problem *problem, struct workflow_plan *plan,
                       size_t task, size_t processor, double start_s, double finish_s);

/* Takes out what workflow_plan_set() has put there. */
void workflow_plan_unset(const struct workflow_problem *problem,
                         struct workflow_plan *plan, size_t task);

/* Takes all tasks out that are not fixed. O(tasks + blocked intervals). */
void workflow_plan_clear(const struct workflow_problem *problem,
                         struct workflow_plan *plan);

/* Last finish of the plan, >= 0. */
/* The share of the time limit that so many looks at each task and edge take; 0: there is
 * no limit. */
double workflow_share_of_limit(const struct workflow_problem *problem, double looks);

double workflow_plan_makespan_s(const struct workflow_problem *problem,
                                const struct workflow_plan *plan);

/* ---- bound.c ---- */

/* No schedule of the problem ends before (workflows.md 8.1, and better: ours). What the
 * budget leaves no time for counts nothing. */
enum error_code workflow_bound_make(const struct workflow_problem *problem,
                                    struct workflow_bound *bound, struct arena *a);

/* ---- answer.c ---- */

/* The measures of a plan, given a bound. `valid`: it has all tasks and keeps all rules;
 * then the bound is not above its makespan, and equal to it within 1e-9. */
void workflow_objective_of(const struct workflow_problem *problem,
                           const struct workflow_plan *plan,
                           const struct workflow_bound *bound, bool valid,
                           struct workflow_objective *objective, struct arena *a);

/* Everything of the answer: schedule, reasons, critical tasks, status. */
enum error_code workflow_answer(const struct workflow_problem *problem,
                                const struct workflow_plan *plan,
                                struct workflow_out *out, struct arena *a,
                                struct error *err);

#endif
