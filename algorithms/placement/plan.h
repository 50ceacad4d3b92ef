/* placement/plan.h - a plan that grows job by job.
 *
 * A slot is taken from the start of stage-in to the end of the run (spec
 * gridway.md 2.1, 5.1). Completion of job i on resource r:
 *
 *     t  = earliest time, not before the job's release, from which a slot (and, where
 *          limited, cpus and memory) is free as long as the job holds it
 *     t  = max(t, arrival of f at r's store) for a file f that is there or on its
 *          way for a job planned earlier, else t + transfer of f;  f in the job's order
 *     CT = t + execution
 *
 * There is no order of starts: a job may start in front of one that was placed before, in
 * the hole before a wide or a released job, if it fits there. Where cpus and memory are
 * not limited and no job has a release time there are no holes: a heap of the slots does.
 * Elsewhere each resource has a profile of what is free (free_profile.h), and for each
 * bucket of jobs (buckets.h) a start that none of them can beat. Slots are numbered at
 * the end. What is busy now holds its part of cpus and memory until its slot is free.
 *
 * Cost: a scan for the best resource is O(m) at worst; a block of 64 resources is
 * skipped when even its earliest start at its best speed comes too late. Placing is
 * O(log slots + 64), on a profile O(its steps).
 */
#ifndef GRIDPLAN_PLACEMENT_PLAN_H
#define GRIDPLAN_PLACEMENT_PLAN_H

#include "algorithms/placement/problem.h"
#include "models/bound_kind.h"

/* Why a policy left a job out, beyond the filters. */
#define PLAN_WAITS(X)                                                                 \
    X(WAIT_NONE, "", "")                                                              \
    X(WAIT_NO_FREE_SLOT, "no_free_now", "no slot that suits the job is free now")     \
    X(WAIT_USER_LIMIT, "user_limit", "the user has as many jobs running as allowed")  \
    X(WAIT_ROUND_FULL, "round_full", "this round dispatched as many jobs as allowed") \
    X(WAIT_NOT_RELEASED, "not_released", "the job may not start yet")                 \
    X(WAIT_BETTER_SOON, "better_soon",                                                \
      "a resource that is busy now would end it sooner")                              \
    X(WAIT_OUT_OF_TIME, "time_limit", "the time limit was over before the job's turn")

enum plan_wait {
#define X(symbol, name, detail) symbol,
    PLAN_WAITS(X)
#undef X
        PLAN_WAIT_COUNT
};

/* Where a job was placed. */
struct plan_entry {
    size_t pos; /* NO_INDEX: not placed */
    size_t slot;
    double start_s, staged_s, done_s; /* done: the slot is free again */
    double finish_s;                  /* outputs have arrived */
    double rank;                      /* NAN: not used */
    double bytes_moved;
    enum plan_wait wait; /* why it was not placed */
};

/* What a job would get on a resource; done_s is HUGE_VAL if it cannot run there. */
struct plan_fit {
    double start_s, staged_s, done_s;
};

/* Who counts as second best. */
enum plan_rival { RIVAL_NONE, RIVAL_RESOURCE, RIVAL_STORE };

/* The best resource of a job, and the best rival (another resource, or one with
 * another store); NO_INDEX and HUGE_VAL where there is none. */
struct plan_choice {
    size_t pos, rival;
    double done_s, rival_s;
};

struct plan_resource; /* slots and running jobs of a resource */
struct plan_holes;    /* what finding starts in holes takes */
struct plan_copy;     /* a plan laid aside */
struct plan_stage;    /* cached stage-in of the job being scanned */

struct placement_plan {
    struct placement_problem *problem; /* only warnings are added to it */
    struct arena *arena;
    struct plan_resource *resources; /* by position */
    double *earliest_s;              /* by position: no job can start before */
    double *block_earliest_s;
    struct plan_holes *holes;  /* NULL: there are none */
    struct pair_map *arrivals; /* of file and store: index into arrival_s */
    double *arrival_s;
    struct plan_stage *stages; /* by store */
    size_t stamp;
    size_t *arrived;            /* by file: number of the placement that last staged it */
    struct plan_entry *entries; /* by job */
    size_t *sequence;           /* placed jobs, in the order of placing */
    size_t placed_count;
    double makespan_s;
    bool hold_slots; /* only slots that are free now count, each once (gridway) */
    double until;    /* share of the time after which plan_spent() says so */
    bool cut;        /* the time was up */
    bool too_late;   /* ... wholly: place nothing more */
    bool closed;     /* loaded from a copy: place nothing more */
    bool bounded;    /* `bounds` are all that will be looked for */
    struct bound_list bounds; /* of the makespan */
    size_t work;              /* since the clock was asked last */
    /* what a search says of itself */
    bool searched; /* a list policy gave a plan, and a search followed */
    uint64_t steps;
    enum bound_effort effort;
    struct improvement_list improved;
    const char
        *best_list;     /* list policy of the best plan that came from one; NULL: none */
    double best_list_s; /* its makespan */
    const char *algorithm, *because;
    bool check_failed;               /* the checker refused what a search found */
    const struct plan_copy *initial; /* a plan to start from; NULL: none */
};

/* An empty plan. O(m + n). */
void plan_create(struct placement_problem *p, struct placement_plan *plan,
                 struct arena *a);

/* Takes everything back. O(m + n). */
void plan_reset(struct placement_plan *plan);

/* What the job would get there; files O(files). */
struct plan_fit plan_fit(struct placement_plan *plan, size_t job, size_t pos);

/* The resource of least completion time, ties to the lowest snapshot index, among
 * the positions below `limit` (resource_count: all). */
struct plan_choice plan_best(struct placement_plan *plan, size_t job,
                             enum plan_rival rival, size_t limit);

/* The job can run there at some time, free slots or not. */
bool plan_can_run(const struct placement_plan *plan, size_t job, size_t pos);

/* Gives each placed job the lowest slot of its resource that is free at its start. Only
 * where there are holes; elsewhere placing does. */
void plan_number_slots(struct placement_plan *plan);

/* Places the job; without a finite fit there it stays without a place. */
enum error_code plan_place(struct placement_plan *plan, size_t job, size_t pos,
                           struct error *err);

/* Places the jobs that have no place by least completion time, in order, up to the end of
 * the time. */
enum error_code plan_rest(struct placement_plan *plan, struct error *err);

/* The plan as an answer, with reasons, loads and bound. `estimates`: the policy places no
 * job without an estimate. */
enum error_code placement_answer(struct placement_plan *plan, bool estimates,
                                 struct placement_out *out, struct error *err);

/* The share of the time that a list policy has: what it leaves open is placed by mct in
 * the rest. */
#define LIST_SHARE 0.8

/* The time up to plan->until is used; asks the clock about every 20 microseconds. */
bool plan_spent(struct placement_plan *plan);

/* Every policy of the table and its options; a policy file includes this header. */
#define X(name, purpose, source)          \
    extern placement_fn placement_##name; \
    extern const struct param placement_##name##_params[];
PLACEMENT_POLICIES(X)
#undef X

/* A plan laid aside. */
struct plan_copy {
    struct plan_entry *entries;
    size_t *sequence;
    size_t placed_count;
    double makespan_s;
};

void plan_copy_create(const struct placement_plan *plan, struct plan_copy *copy);
void plan_save(const struct placement_plan *plan, struct plan_copy *copy);

/* The plan's answer becomes the copy's; nothing may be placed afterwards. */
void plan_load(struct placement_plan *plan, const struct plan_copy *copy);

/* More jobs placed, or as many with a smaller makespan. */
bool plan_better(const struct placement_plan *plan, const struct plan_copy *copy);

#endif
