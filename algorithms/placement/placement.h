/* placement/placement.h - which resource runs which independent job, and when.
 *
 * A placement policy gets a prepared problem (names resolved, filters applied,
 * times computable) and fills a plan. Policies are pure: no clock, no I/O, no
 * global state; the same problem, options and seed give the same bits.
 *
 * Times beyond 1e100 s are taken as never: no sum of them overflows, and every
 * number of an answer is finite unless its comment says NAN.
 *
 * Source: spec gridway.md; 004_f687c06842f61aec.txt sections 3, 6, 7.
 */
#ifndef GRIDPLAN_PLACEMENT_H
#define GRIDPLAN_PLACEMENT_H

#include "models/base/budget.h"
#include "models/base/policy.h"
#include "models/bound_kind.h"
#include "models/decision_status.h"
#include "models/job.h"
#include "models/snapshot.h"

#include <stdint.h>

struct placement_value; /* amounts_values.h */

/* A user's state that job priorities need (spec gridway.md 4.1). */
struct placement_user {
    const char *user;
    double share;                       /* >= 1 */
    const double *dispatched_by_window; /* newest first */
    size_t window_count;
    double running_jobs;
};

/* What is known of a user on a resource (spec gridway.md 4.2). */
struct placement_usage {
    const char *user, *resource_id;
    double mean_s, last_s;     /* NAN: unknown */
    double first_failure_at_s; /* instant; NAN: none since the last success */
    double banned_until_s;     /* instant; NAN: not banned */
};

/* A row of a plan that a search may start from. */
struct placement_initial {
    const char *job_id, *resource_id;
    double slot, start_s;            /* NAN: not said */
    const char *const *resource_ids; /* of a job on several nodes, instead; where */
    size_t resource_id_count;        /* amounts count */
    const char *partition_id;        /* NULL: not said */
    uint64_t copy;                   /* of the job, from 0 */
};

/* A job that is done, which others may wait for. */
struct placement_finished {
    const char *id;
    bool ok;
};

/* A larger capacity, or another attribute, that would let jobs run that have no place. */
struct placement_change {
    const char *change; /* "raise_capacity", "change_attribute" */
    const char *resource_id, *amount;
    const char *clause;         /* of requirements, that would be true; NULL: none */
    double capacity, value;     /* now, and raised; of a clause 0 and 1 */
    uint64_t job_count;         /* jobs that could run there then, */
    double weight;              /* the sum of their weights, */
    const char *const *job_ids; /* the first ten */
    size_t id_count;
};

/* Which copies of a job that stands for several a row of an answer is about, for the
 * caller to fill in. */
struct placement_copies {
    uint64_t index;        /* one of them; UINT64_MAX: it is not said here */
    const double *indexes; /* the first and the last of several; NULL: it is one */
    size_t indexes_count;
};
#define PLACEMENT_NO_COPIES   \
    (struct placement_copies) \
    {                         \
        .index = UINT64_MAX   \
    }

/* What to stop so that a job can start now. */
struct placement_preemption {
    const char *job_id;
    const char *const *resource_ids; /* where it could start then */
    size_t resource_id_count;
    const char *const *stop; /* ids of what runs */
    size_t stop_count;
    double weight; /* the sum of theirs */
    bool proven;   /* no other set is better */
    size_t job;    /* its place in the request */
    struct placement_copies copies;
};

/* What a request says of amounts beyond its jobs and its snapshot (world-model.md). */
struct placement_world {
    bool what_if, preempt;        /* say what would help, what to stop */
    const char *const *objective; /* names, most important first; NULL: not given */
    size_t objective_count;
    const struct placement_finished *finished;
    size_t finished_count;
};

/* Everything a placement is decided from. */
struct placement_in {
    const struct snapshot *snapshot;
    const struct job *jobs;
    size_t job_count;
    size_t running_count; /* the last of them run already (family migration): no policy
                             places them, they do not count as pending */
    const size_t *running_at; /* by running job: index of the resource whose cpus and
                                 memory it holds; NO_INDEX: of none; NULL: of none do */
    const struct placement_user *users;
    size_t user_count;
    const struct placement_usage *usage;
    size_t usage_count;
    const struct placement_initial *initial; /* for `search` and `auto` */
    size_t initial_count;
    size_t own_running_count; /* the last rows of the snapshot's `running` are of whoever
                                 asks: they may be on resources with used slots */
    const struct placement_world *world; /* NULL: members about amounts are not looked at,
                                            in jobs and in the snapshot */
    uint64_t seed;
    struct budget *budget;
    bool time_limit_given; /* searches then go on until the budget is spent */
    double time_limit_s;   /* how long that is, if it is known; 0: not known */
};

/* Where one job goes. Times are seconds from the snapshot's "now". */
struct placement {
    const char *job_id, *resource_id;
    uint64_t slot;            /* UINT64_MAX: jobs are not counted there */
    double start_s;           /* the slot is taken: stage-in begins */
    double stage_in_s;        /* until the last input file is there */
    double run_time_s;        /* NAN: not known (policy gridway only) */
    double held_s;            /* its amounts are held for so long from start_s; NAN: for
                                 nobody knows how long */
    double finish_s;          /* outputs have arrived at the home site; NAN: not known */
    double rank;              /* NAN: undefined or not used by this policy */
    double bytes_moved;       /* input bytes that this job staged */
    double late_s;            /* finish beyond the deadline, >= 0; NAN: no deadline */
    const char *const *files; /* names with variables resolved, if any had some */
    size_t file_count;
    const char *const *resource_ids; /* of a job on several nodes, by rising index; then
                                        resource_id is NULL */
    size_t resource_id_count;
    const char *partition_id; /* NULL: none */
    bool killed;              /* at its time limit */
    /* Where its run time comes from, for the caller to fill in. */
    const struct run_time_basis *run_time_basis; /* NULL: it is not said here */
    uint64_t run_time_index; /* instead: in a list of the answer; UINT64_MAX: in none */
    size_t job;              /* its place in the request */
    struct placement_copies copies;
    const double *slots; /* of several copies, by rising index; NULL: from `slot` on */
    size_t slot_list_count;
};

/* A clause of a requirement, and the resources that do not meet it. */
struct placement_clause {
    const char *clause;
    uint64_t untrue_count; /* resources on which it is not true */
    uint64_t alone_count;  /* resources on which it alone is not true */
};

struct placement_nearest_miss {
    const char *resource_id;
    double shortfall; /* spec gridway.md 2.3 */
};

/* An amount of which there is not enough. */
struct placement_amount {
    const char *name;
    double needed;
    uint64_t short_count; /* resources that passed the filters and have less, */
    uint64_t alone_count; /* ... on which nothing else is short */
    double largest;       /* that one of them has; NAN: one is not limited */
};

/* Words of placement_reason.reason and of a job that is not selected. Some more than
 * once, some "", ended by NULL. */
extern const char *const placement_reason_names[];

/* Why a job was not placed: one filter and how many resources it dropped. */
struct placement_reason {
    const char *reason; /* "failed", "requirement", "no_free_now" ... */
    const char *detail; /* a sentence for people */
    uint64_t resource_count;
    const struct placement_clause *clauses;
    size_t clause_count;
    const struct placement_nearest_miss *nearest_miss; /* NULL: none */
    const struct placement_amount *amounts;
    size_t amount_count;
    const char *const *blockers; /* ids of what runs and has no known end, at most 5 */
    size_t blocker_count;
};

struct placement_unplaced {
    const char *job_id;
    uint64_t considered_count; /* resources looked at: all of the snapshot */
    const struct placement_reason *reasons;
    size_t reason_count;
    size_t main_reason; /* the cause of waiting, else the filter that
                           dropped most resources */
    size_t job;         /* its place in the request */
    struct placement_copies copies;
};

/* Jobs without a place for the same reasons, with the same needs. */
struct placement_unplaced_class {
    uint64_t job_count;
    const char *example_job_id; /* the first */
    const char *const *job_ids; /* the first ten */
    size_t id_count;
    double cpus, memory_bytes; /* of each job */
    const struct named_value *needs;
    size_t need_count;
    const struct placement_reason *reasons;
    size_t reason_count;
};

struct placement_load {
    const char *resource_id;
    uint64_t job_count;
    double busy_s;            /* time that its slots are used by this plan's jobs */
    double finish_s;          /* when its last planned job leaves its slot; 0: none */
    double utilisation_ratio; /* busy_s / (slots * makespan_s) */
};

struct placement_objective {
    double makespan_s;  /* last finish; 0 without placements */
    double flow_time_s; /* sum of finish times */
    double utilisation_ratio;
    double lower_bound_s; /* no plan of these jobs ends before */
    double gap_ratio;     /* makespan_s / lower_bound_s - 1; NAN: the bound is 0 */
    double bytes_moved;
    uint64_t late_count;                  /* jobs beyond their deadline */
    const struct placement_value *values; /* by importance */
    size_t value_count;
};

/* The best plan of a list policy, against which a search is compared. */
struct placement_best_list {
    const char *algorithm;
    double value; /* its makespan in seconds; of amounts the first objective's */
};

struct placement_out {
    const char *algorithm; /* what ran: `auto` says what it chose */
    const char *because;   /* why `auto` chose it; NULL otherwise */
    enum decision_status status;
    const struct placement *placements;
    size_t placement_count;
    const struct placement_unplaced *unplaced;
    size_t unplaced_count;
    const struct placement_unplaced_class *unplaced_classes; /* by their first job */
    size_t unplaced_class_count;
    const struct placement_load *loads; /* one per resource with jobs */
    size_t load_count;
    struct placement_objective objective;
    uint64_t steps; /* of an anytime policy: replay with options.max_steps */
    const struct proven_bound *bounds; /* of the makespan, largest first */
    size_t bound_count;
    const char *bound_effort;                    /* of a search; NULL: there was none */
    const struct placement_best_list *best_list; /* likewise */
    const struct improvement *improved_at_steps; /* the last ones, by rising steps */
    size_t improvement_count;
    const struct placement_change *changes; /* with what_if, best first */
    size_t change_count;
    const struct placement_preemption *preemptions; /* with preempt, by job */
    size_t preemption_count;
    bool check_failed; /* a plan was refused by the checker and replaced */
    const char *const *warnings;
    size_t warning_count;
};

struct placement_problem; /* problem.h, for the policies */
struct placement_plan;

typedef enum error_code placement_fn(const struct placement_problem *problem,
                                     const double *param, struct placement_plan *plan,
                                     struct arena *a, struct error *err);

/* Every placement policy. To add one, write placement/NAME.c with
 * placement_NAME() and placement_NAME_params[], and its row here. */
#define PLACEMENT_POLICIES(X)                                                          \
    X(auto, "Chooses by size, files and time limit, and says what it chose",           \
      OURS("identical_optimum where it applies; else the list policies, then the "     \
           "search as far as the time or the steps go"))                               \
    X(duplex, "The better of min_min and max_min", CITES(IN_WORK(braun2001, NULL)))    \
    X(gridway, "Starts jobs now, each on its best-ranked free slot",                   \
      FROM(CITES(IN_WORK(huedo2004, "sections 3 and 6")),                              \
           BUT("A job that finds no slot counts among the jobs of a round",            \
               "A job without an estimate may be placed: when it ends is not known"))) \
    X(identical_optimum, "Proven optimum for identical jobs",                          \
      CITES(IN_WORK(huedo2004, "section 7, equation 1")))                              \
    X(kpb, "Least completion time among the k percent fastest resources",              \
      CITES(IN_WORK(maheswaran1999, NULL)))                                            \
    X(max_min, "Longest best completion time first",                                   \
      FROM(CITES(IN_WORK(ibarra1977, NULL)),                                           \
           BUT("Jobs of one stream whose completion times differ by rounding only go " \
               "by estimate")))                                                        \
    X(mct, "Jobs in order, each where it completes first",                             \
      CITES(IN_WORK(maheswaran1999, NULL)))                                            \
    X(met, "Jobs in order, each where it runs fastest",                                \
      CITES(IN_WORK(maheswaran1999, NULL)))                                            \
    X(min_min, "Shortest best completion time first",                                  \
      FROM(CITES(IN_WORK(ibarra1977, NULL)),                                           \
           BUT("Jobs of one stream whose completion times differ by rounding only go " \
               "by estimate")))                                                        \
    X(olb, "Jobs in order, each on the earliest free slot",                            \
      CITES(IN_WORK(maheswaran1999, NULL)))                                            \
    X(search, "Anytime search for the least makespan, or objective, with a bound",     \
      OURS("Starts from the best list policy and moves or exchanges jobs until the "   \
           "lower bound is reached or the time or the steps are up"))                  \
    X(sufferage, "First the job that would suffer most elsewhere",                     \
      FROM(CITES(IN_WORK(maheswaran1999, NULL)),                                       \
           BUT("After each job the completion times are updated; sufferage_pass has "  \
               "the passes of the publication")))                                      \
    X(sufferage_pass, "Sufferage in passes over all jobs",                             \
      CITES(IN_WORK(maheswaran1999, NULL)))                                            \
    X(xsufferage, "Sufferage between sites, for shared files",                         \
      CITES(IN_WORK(casanova2000, NULL)))

extern const struct policy placement_policies[]; /* sorted by name, ended by {0} */

/* What runs a policy of this table. */
static inline placement_fn *placement_fn_of(const struct policy *policy)
{
    return (placement_fn *)policy->run;
}

/* Checks *in, runs the policy, and fills *out with plan, reasons, loads and
 * bound. `options` are those of the request; they include the options that all
 * placement policies share (placement_common_params). Every mistake in the
 * input is collected in *err with its JSON Pointer into the request body. */
enum error_code placement_decide(const struct placement_in *in,
                                 const struct policy *policy,
                                 const struct named_value *options, size_t option_count,
                                 struct placement_out *out, struct arena *a,
                                 struct error *err);

/* Options that every placement policy takes: file_scope, stale_policy,
 * list_ttl_s, state_ttl_s, dialect, job_order, resource_order ... */
extern const struct param placement_common_params[];

#endif
