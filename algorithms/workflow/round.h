/* workflow/round.h - one round of dynamic workflow scheduling: move, then start.
 *
 * A round looks at what runs: running parent sets whose longest member holds the others
 * up are rescheduled (step 2), then ready tasks get a place (step 3). It is asked again
 * every few minutes; all state is in the request.
 *
 * Source: spec workflows.md 4 to 7, 13; seed 000_168dd5aef5075332.txt 5.4, 5.5, 6.4.3.
 */
#ifndef GRIDPLAN_WORKFLOW_ROUND_H
#define GRIDPLAN_WORKFLOW_ROUND_H

#include "algorithms/workflow/workflow.h"

struct workflow_start {
    const char *workflow_id, *task_id;
    const char *resource_id; /* NULL: on several, which are in resource_ids */
    const char *const *resource_ids;
    size_t resource_id_count;
    double expected_s; /* until it is done, with staging; NAN: no estimate */
    double stage_in_s;
    const char *how; /* "longest", "balanced", "fastest", "least", "random" */
    size_t task;     /* number of the task, through all workflows */
    /* Where its run time comes from, for the caller to fill in. */
    const struct run_time_basis *run_time_basis; /* NULL: it is not said here */
    uint64_t run_time_index; /* instead: in a list of the answer; UINT64_MAX: in none */
};

struct workflow_skip {
    const char *workflow_id, *task_id;
    const char *reason; /* WORKFLOW_SKIP_REASONS */
};

struct workflow_set {
    const char *workflow_id;
    const char *const *members, *const *children;
    size_t member_count, child_count;
    const char *state; /* "running", "roots", "waiting", "done" */
    double max_remaining_before_s, max_remaining_after_s; /* NAN: none */
};

struct workflow_estimate {
    const char *workflow_id, *task_id;
    double estimate_ref_s, remaining_ref_s, work_done_ref_s;
    const char *source; /* "fit", "extrapolation", "work_integral", "estimate" ... */
    double low_ref_s, high_ref_s; /* interval of a fit; NAN: none */
    double remaining_ratio; /* of a task with run times: what is left; NAN: others */
    const char *remaining_source; /* of a running one: its reports of the request or those
                                     that are stored, "progress", "stored" ...; NULL */
};

struct workflow_round_objective {
    double makespan_before_s; /* longest remaining time of what runs */
    double makespan_s;        /* the same after the round, with what was started */
    double lower_bound_s;     /* of that: each of them alone on its best resource */
    double gap_ratio;         /* NAN: the bound is 0 */
    double transfer_bytes;
};

struct workflow_round_out {
    const char *algorithm;
    enum decision_status status;
    const struct workflow_action *reschedules;
    size_t reschedule_count;
    const struct workflow_start *placements;
    size_t placement_count;
    const struct workflow_action *postponed; /* those that go back to the queue */
    size_t postponed_count;
    const struct workflow_carry *carry_over;
    size_t carry_count;
    const struct workflow_set *parent_sets;
    size_t set_count;
    const struct workflow_skip *skipped;
    size_t skip_count;
    const struct workflow_estimate *estimates;
    size_t estimate_count;
    const struct workflow_unplaced *unplaced; /* ready tasks without a place */
    size_t unplaced_count;
    uint64_t stale_resources;
    struct workflow_round_objective objective;
    const char *const *warnings;
    size_t warning_count;
};

/* MOVES: it has a step 2. FASTEST: its step 3 is that of workflow_fastest. */
enum workflow_round_flag {
    WORKFLOW_ROUND_NEVER_MOVES = 0,
    WORKFLOW_ROUND_MOVES = 1,
    WORKFLOW_ROUND_FASTEST = 2
};

/* Every dynamic policy (sorted by name). All take the options of spec workflows.md 13,
 * each with presets of its own: workflow_NAME_params[] in round_params.c. */
#define WORKFLOW_ROUND_POLICIES(X)                                                 \
    X(balanced,                                                                    \
      "Longest tasks to the fastest resources, their siblings just below them",    \
      FROM(CITES(IN_WORK(chtepen2010, "chapter 5")),                               \
           BUT("Options cool_down_s, max_moves, max_bytes_moved, min_gain_s and "  \
               "confidence are ours and do nothing unless given",                  \
               "A task goes only where its inputs can be brought")),               \
      MOVES)                                                                       \
    X(balanced_grouped, "balanced, with resources in groups of like speed",        \
      FROM(CITES(IN_WORK(chtepen2010, "chapter 5")),                               \
           BUT("Resources that are failed, stale or without free speed are in no " \
               "group")),                                                          \
      MOVES)                                                                       \
    X(balanced_reduced_overhead, "balanced, moving only where it clearly pays",    \
      CITES(IN_WORK(chtepen2010, "chapter 5")), MOVES)                             \
    X(balanced_static, "Starts ready tasks by their sets and never moves",         \
      CITES(IN_WORK(chtepen2010, "chapter 5")), NEVER_MOVES)                       \
    X(workflow_fastest, "Each ready task to the fastest free resource",            \
      FROM(CITES(IN_WORK(chtepen2010, "chapter 5")),                               \
           BUT("A task goes only where its inputs can be brought")),               \
      FASTEST)

#define X(name, purpose, source, flag) \
    extern const struct param workflow_##name##_params[];
WORKFLOW_ROUND_POLICIES(X)
#undef X

extern const struct policy workflow_round_policies[]; /* sorted, ended by {0} */

/* Which steps a caller wants. */
enum workflow_round_steps {
    WORKFLOW_STEP_MOVE = 1,  /* step 2 */
    WORKFLOW_STEP_START = 2, /* step 3 */
    WORKFLOW_STEPS_ALL = 3
};

/* Checks *in and decides a round. Mistakes are collected as in workflow_decide(). */
enum error_code workflow_round(const struct workflow_in *in, const struct policy *policy,
                               const struct named_value *options, size_t option_count,
                               enum workflow_round_steps steps,
                               struct workflow_round_out *out, struct arena *a,
                               struct error *err);

/* ---- the same on numbers, for the simulator, which calls it thousands of times ----
 *
 * Tasks, resources, sites and sets by number; estimates are given. round.c turns a
 * request into this, workflow_round_run() decides. */

enum workflow_plain_status {
    PLAIN_IDLE, /* ready or waiting, see `ready` */
    PLAIN_STAGING,
    PLAIN_RUNNING,
    PLAIN_DONE
};

struct workflow_plain_task {
    size_t workflow;
    enum workflow_plain_status status; /* failed tasks are idle, with their work kept */
    bool ready;                        /* idle and all parents done */
    bool free_root;                    /* workflows.md 4 */
    bool root;                         /* has no parents */
    bool postponed;                    /* not in this round's step 3 */
    size_t resource;                   /* staging, running; (size_t)-1 */
    const size_t *beside;              /* on several nodes: the others */
    size_t beside_count;
    double remaining_ref_s; /* NAN: no estimate */
    const double *times_s;  /* [resource]: run time of the whole where speeds do not say
                               it, NAN: cannot run there; remaining_ref_s is then the part
                               that is left; NULL: by speed */
    double pending_s;       /* of a staging task: transfer still to come */
    double move_bytes;      /* input + checkpoint, for a move */
    double stage_bytes;     /* input (+ checkpoint), to start it */
    size_t stage_site;      /* from where; (size_t)-1: no time */
    bool pinned;            /* may not be moved in this round (cool-down) */
    double spread_ref_s;    /* half the width of an interval of the estimate; 0: none */
};

struct workflow_plain_resource {
    size_t site;
    double free_speed;             /* V, >= 0 */
    size_t n_max, job_count_other; /* slots; those taken by tasks not listed here */
    bool usable;                   /* not failed, not stale, and there now */
    bool failed, stale;            /* why not */
    bool own_slots; /* each task has all of free_speed; else they share it */
};

struct workflow_plain_set {
    size_t workflow;
    const size_t *members, *children; /* by task order */
    size_t member_count, child_count; /* no children: set of the virtual sink, which
                                         counts only with the option final_task_as_set */
    bool only_roots;
};

struct profile;          /* world/profile.h */
struct workflow_amounts; /* amounts_parts.h */

/* What tasks take of resources that run as many as fit (world.h has the units). */
struct workflow_plain_amounts {
    size_t node_count, count;        /* rows: those of resources, then shared ones */
    const int64_t *const *needs;     /* [task]: [count]; NULL: it is done */
    const uint64_t *const *eligible; /* [task]: resources that it may use, by position */
    const double *time_limit_s;      /* [task]: killed so long after its start */
    const size_t *nodes;             /* [task]: resources that it runs on, >= 1 */
    const struct workflow_amounts *of; /* whose jobs are the tasks that are not done */
    const size_t *position_of;         /* [resource] */
    const struct profile *free;        /* [position]: without the tasks of the round */
    const struct profile *shared_free; /* [count], from node_count on */
};

struct workflow_plain {
    const struct workflow_plain_task *tasks;
    size_t task_count;
    const struct workflow_plain_resource *resources;
    size_t resource_count;
    const struct workflow_plain_set *sets; /* by workflow arrival, then first child */
    size_t set_count;
    const size_t *workflow_rank; /* by arrival: [workflow_count] */
    size_t workflow_count;
    const double *site_mbps, *site_latency_s; /* [site_count * site_count] */
    size_t site_count;
    const size_t *carry; /* sets of carried tasks, ended one by one: carry_first */
    const size_t *carry_first;
    size_t carry_count;
    uint64_t seed;
    uint64_t round; /* random streams of different rounds differ by it; 0 in requests */
    struct budget *budget;
    /* Sites from site_count on are in no table: inside and between them it is this.
     * A bandwidth of 0: no way. HUGE_VAL: no time but the latency. */
    double lan_mbps, lan_latency_s, wan_mbps, wan_latency_s;
    const struct workflow_plain_amounts *amounts; /* NULL: slots alone count */
    /* Instead of these tables and of stage_bytes, if not NULL: time between two sites,
     * and until a task can start on a resource. HUGE_VAL: no way. */
    double (*route_s)(const void *context, double bytes, size_t from, size_t to);
    double (*stage_s)(const void *context, size_t task, size_t resource);
    const void *context;
};

struct workflow_plain_move {
    size_t task, from, to; /* to (size_t)-1: postponed */
    uint64_t group;
    int action; /* enum workflow_action_kind */
    int role;   /* 0 longest, 1 balanced, 2 root */
    size_t set; /* that asked for it */
    double before_s, after_s, transfer_s;
};

struct workflow_plain_start {
    size_t task, resource;
    const size_t *resources; /* of a task on several: all of them, `resource` too; NULL */
    size_t resource_count;
    double expected_s, stage_in_s;
    int how; /* index of the names in struct workflow_start.how */
};

/* Why a member of a set was not moved; the first that holds of this order. */
#define WORKFLOW_SKIP_REASONS(X)                                              \
    X(below_re_min, "It is nearly done: option re_min_s")                     \
    X(cooling_down, "It was moved not long ago: option cool_down_s")          \
    X(move_budget, "The round has moved enough: max_moves, max_bytes_moved")  \
    X(uncertain, "The gain is within the spread of the estimate: confidence") \
    X(below_min_gain, "The gain is too small: option min_gain_s")             \
    X(vetoed, "A better place would delay a set of other tasks")              \
    X(no_better_resource, "No place is better")                               \
    X(not_longest, "Only longest members are moved: option balance")          \
    X(no_estimate, "A member of its set has no estimate")                     \
    X(not_running_set, "A member of its set does not run")                    \
    X(not_looked_at, "The time limit ended the round before")

enum workflow_skip_reason {
#define X(name, meaning) WORKFLOW_SKIP_##name,
    WORKFLOW_SKIP_REASONS(X)
#undef X
};
extern const char *const workflow_skip_names[], *const workflow_skip_texts[];

struct workflow_plain_skip {
    size_t task;
    int reason; /* enum workflow_skip_reason */
};

struct workflow_plain_out {
    struct workflow_plain_move *moves;
    size_t move_count;
    struct workflow_plain_start *starts;
    size_t start_count;
    struct workflow_plain_skip *skips;
    size_t skip_count;
    size_t *carry, *carry_first; /* sets that found no place, in the same form */
    size_t carry_count;
    bool cut; /* the budget ended step 2 or 3 */
};

/* `param` are the bound options of the policy's table. */
enum error_code workflow_round_run(const struct workflow_plain *plain,
                                   const struct policy *policy, const double *param,
                                   enum workflow_round_steps steps,
                                   struct workflow_plain_out *out, struct arena *a,
                                   struct error *err);

/* Parent sets of a graph: parents of task i are parents[parent_first[i] ...
 * parent_first[i + 1]), ascending; sets point into them. Equal ones are one set. With
 * `final_sets` the tasks
 * without children of a workflow are one too, the last of it, with no children. Fills
 * free_root[task_count] as well. O(edges + tasks log tasks). */
void workflow_round_sets(const size_t *parent_first, const size_t *parents,
                         size_t task_count, const size_t *workflow_of,
                         const size_t *workflow_rank, bool final_sets,
                         struct workflow_plain_set **sets, size_t *set_count,
                         bool *free_root, struct arena *a, struct error *err);

#endif
