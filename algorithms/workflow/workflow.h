/* workflow/workflow.h - which resource runs which task of a workflow, and when.
 *
 * Two kinds of policies take the same input. A static one (this table) schedules all
 * tasks that have not begun. A dynamic one (round.h) looks at what runs now, moves what
 * holds its siblings up, starts what is ready, and is asked again after a while.
 *
 * Policies are pure: no clock, no I/O, no global state; the same input, options and
 * seed give the same bits. Times are seconds from the snapshot's "now".
 *
 * Source: spec workflows.md 8.1; Topcuoglu, Hariri, Wu 2002; Arabnejad, Barbosa 2014.
 */
#ifndef GRIDPLAN_WORKFLOW_H
#define GRIDPLAN_WORKFLOW_H

#include "models/base/budget.h"
#include "models/base/policy.h"
#include "models/bound_kind.h"
#include "models/decision_status.h"
#include "models/snapshot.h"
#include "models/workflow.h"

#include <stdint.h>

/* Tasks of an earlier round that found no place: they come first. */
struct workflow_carry {
    const char *workflow_id; /* NULL: the only one */
    const char *const *task_ids;
    size_t task_count;
};

struct workflow_given;   /* given.h */
struct placement_amount; /* placement/placement.h */

/* Everything a workflow decision is made from. */
struct workflow_in {
    const struct snapshot *snapshot;
    const struct workflow *workflows;
    size_t workflow_count;
    bool single; /* the request has `workflow`, not `workflows`: for pointers of errors */
    const struct workflow_window *windows;
    size_t window_count;
    const struct workflow_carry *carry_over; /* dynamic policies only */
    size_t carry_count;
    const struct workflow_given *initial; /* a schedule to start from; search and auto */
    size_t initial_count;
    uint64_t seed;
    struct budget *budget;
    bool time_limit_given; /* `auto` then searches */
    double time_limit_s;   /* then: how long it is */
};

/* Where and when a task runs. */
struct workflow_placement {
    const char *workflow_id; /* NULL: the only one */
    const char *task_id, *resource_id;
    uint64_t slot;
    double start_s; /* its processor is taken and it runs; < 0: it did before now */
    double finish_s;
    double data_ready_s;    /* when its last input is there; NAN: it needs none */
    double transfer_from_s; /* when that is sent; NAN: it is not moved */
    int status;             /* enum workflow_status: what it is now */
    size_t task;            /* number of the task, through all workflows */
    bool next; /* its parents are done, and nothing that has yet to start comes
                  before it on its processor */
    const char *remaining_source;    /* of a running one, struct workflow_left; NULL */
    const char *const *resource_ids; /* of several nodes, resource_id is the first */
    size_t resource_id_count;        /* 0: it has one */
    const char *partition_id;        /* NULL: none */
    /* Where its run time comes from, for the caller to fill in. */
    const struct run_time_basis *run_time_basis; /* NULL: it is not said here */
    uint64_t run_time_index; /* instead: in a list of the answer; UINT64_MAX: in none */
};

/* Why a task has no place: itself, or a task that it depends on, runs nowhere. */
struct workflow_unplaced {
    const char *workflow_id, *task_id;
    const char *reason;      /* "no_resource", "no_estimate", "after_unplaced" ... */
    const char *detail;      /* a sentence for people */
    uint64_t resource_count; /* resources that this holds for */
    const struct placement_amount *amounts; /* too_small: what is short (placement.h) */
    size_t amount_count;
    const char *const *blockers; /* unknown_end: ids of what runs without a known end */
    size_t blocker_count;
};

/* Names on the wire, ended by NULL. */
enum workflow_action_kind { WORKFLOW_MIGRATE, WORKFLOW_EVICT, WORKFLOW_POSTPONE };
extern const char *const workflow_action_names[];

/* A running task that is to be moved. Actions of one group belong together: first
 * checkpoint and cancel all of them, then submit. */
struct workflow_action {
    uint64_t seq, group;
    int action; /* enum workflow_action_kind */
    const char *workflow_id, *task_id, *from_resource_id;
    const char *to_resource_id; /* NULL: back to the queue */
    double remaining_before_s;  /* NAN: it stood still, or not known */
    double remaining_after_s;   /* with the move; NAN: not known */
    double gain_s;              /* before - after; NAN */
    double transfer_s, transfer_bytes;
    const char *role;              /* "longest", "balanced", "root"; NULL: it pays */
    const char *const *parent_set; /* members of the set that asked for it */
    size_t parent_count;
    const char *reason;
    size_t task; /* number of the task, through all workflows */
    /* Where its run time comes from, for the caller to fill in. */
    const struct run_time_basis *run_time_basis; /* NULL: it is not said here */
    uint64_t run_time_index; /* instead: in a list of the answer; UINT64_MAX: in none */
};

struct workflow_objective {
    double makespan_s;    /* last finish, from now */
    double lower_bound_s; /* no schedule ends before */
    double gap_ratio;     /* makespan_s / lower_bound_s - 1; NAN: the bound is 0, or above
                             the makespan because tasks have no place */
    double critical_path_s, area_s; /* the bound's parts */
    double speedup_ratio; /* least sum of run times on one resource / makespan; NAN */
    double utilisation_ratio;
    double transfer_s; /* sum over edges between different resources */
};

/* A task of the chain that ends last, and why it does not start earlier. */
enum workflow_wait {
    WORKFLOW_WAIT_START,    /* it starts with the plan, or had begun before */
    WORKFLOW_WAIT_DATA,     /* it starts when the task before it has ended */
    WORKFLOW_WAIT_TRANSFER, /* ... and its output is there, wait_s later */
    WORKFLOW_WAIT_RESOURCE, /* the task before it was on its processor */
    WORKFLOW_WAIT_OTHER     /* none of these: wait_s since all it needs was there */
};
struct workflow_critical {
    const char *task_id, *reason; /* workflow_wait_names */
    double wait_s;
};
extern const char *const workflow_wait_names[]; /* ended by NULL */

/* What a search is compared with. */
struct workflow_best_list {
    const char *algorithm;
    double value; /* its makespan in seconds */
};

struct workflow_out {
    const char *algorithm; /* what ran: `auto` says what it chose */
    const char *because;   /* why `auto` chose it; NULL otherwise */
    enum decision_status status;
    const struct workflow_placement *schedule; /* by start, then order of tasks */
    size_t schedule_count;
    const struct workflow_unplaced *unplaced;
    size_t unplaced_count;
    const struct workflow_action *reschedules; /* moves that pay, in this order; the
                                                  schedule is without them */
    size_t reschedule_count;
    const char *const *critical_tasks; /* ids along the longest chain of the schedule */
    const struct workflow_critical *critical_path; /* the same tasks, with the reasons */
    size_t critical_count;
    struct workflow_objective objective;
    uint64_t steps; /* of an anytime policy: replay with options.max_steps */
    const struct proven_bound *bounds; /* that were computed, largest first */
    size_t bound_count;
    const char *bound_effort;                    /* of a search; NULL: there was none */
    const struct workflow_best_list *best_list;  /* likewise */
    const struct improvement *improved_at_steps; /* the last ones, by rising steps */
    size_t improvement_count;
    bool bound_skipped;        /* there was no time for all bounds */
    const char *check_failure; /* NULL; the rule that a plan broke, or that a bound was
                                  above a valid plan: a fault of ours, to be counted */
    const char *const *warnings;
    size_t warning_count;
};

struct workflow_problem; /* problem.h, for the policies */
struct workflow_plan;

/* `plan` comes empty (workflow_plan_make()), with `algorithm` set. What has no place at
 * the end is reported by the caller. */
typedef enum error_code workflow_fn(const struct workflow_problem *problem,
                                    const double *param, struct workflow_plan *plan,
                                    struct arena *a, struct error *err);

/* What runs a policy of this table. */
static inline workflow_fn *workflow_fn_of(const struct policy *policy)
{
    return (workflow_fn *)policy->run;
}

/* Every static policy: name, options in common, purpose, source. To add one, write
 * workflow/NAME.c with workflow_NAME() and workflow_NAME_params[], and its row here
 * (sorted by name). */
#define WORKFLOW_POLICIES(X)                                                             \
    X(auto, workflow_auto_common_params,                                                 \
      "The best of heft, cpop and peft, then a search; moves that pay",                  \
      OURS("The best of heft, cpop and peft, then a search that has to beat it or "      \
           "prove it"))                                                                  \
    X(cpop, workflow_common_params, "The critical path on one resource",                 \
      FROM(CITES(IN_WORK(topcuoglu2002, NULL)),                                          \
           BUT("What has begun stays; where no processor can run the whole critical "    \
               "path, its tasks go where they finish first")))                           \
    X(heft, workflow_common_params,                                                      \
      "Longest way to the end first, each task where it finishes first",                 \
      CITES(IN_WORK(topcuoglu2002, NULL)))                                               \
    X(peft, workflow_common_params,                                                      \
      "Like heft, looking ahead to the end by a table of optimistic costs",              \
      FROM(CITES(IN_WORK(arabnejad2014, NULL)),                                          \
           BUT("Children that have begun, or that no processor can run, count nothing; " \
               "means are over the processors that can be used")))                       \
    X(search, workflow_common_params,                                                    \
      "Anytime search for the least makespan, with a proof where it can",                \
      OURS("Local search over schedules from the best list plan, all schedules where "   \
           "they are few, until the bound is reached or the time or the steps are up"))

#define X(name, common, purpose, source) \
    workflow_fn workflow_##name;         \
    extern const struct param workflow_##name##_params[];
WORKFLOW_POLICIES(X)
#undef X

extern const struct policy workflow_policies[]; /* sorted, ended by {0} */

/* Options that all static policies take: slots, moves and what makes a move pay. Those
 * of `auto` have other presets. */
extern const struct param workflow_common_params[], workflow_auto_common_params[];

/* Checks *in, runs the policy, and fills *out. Every mistake in the input is collected
 * in *err with its JSON Pointer into the request body. */
enum error_code workflow_decide(const struct workflow_in *in, const struct policy *policy,
                                const struct named_value *options, size_t option_count,
                                struct workflow_out *out, struct arena *a,
                                struct error *err);

#endif
