/* world/world.h - resources, jobs and what is taken, in whole units: what every decision
 * about amounts is made from.
 *
 * A world is read only while a plan is made. Names are indexes, times are seconds from
 * now, filters are masks. Resources are numbered by position, which is not the order of
 * the snapshot (falling speed where that helps a scan); ties still go to the least
 * `index`. Whoever builds a world has reported all mistakes of the input; tests build
 * theirs by hand.
 *
 * Amounts: rows 0 .. node_amount_count-1 are on resources, the rows behind them are
 * shared, taken once by a job. Cpus and named amounts are in millionths, bytes in bytes,
 * AMOUNT_JOBS and AMOUNT_PRESENCE in ones, so that sums are exact and do not depend on
 * their order. What is free may be negative.
 *
 * Source: world-model.md 2 and 3.
 */
#ifndef GRIDPLAN_WORLD_H
#define GRIDPLAN_WORLD_H

#include "models/base/arena.h"
#include "models/base/budget.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORLD_NONE SIZE_MAX

/* Not limited; sums saturate there. */
#define AMOUNT_UNLIMITED (INT64_MAX / 4)

/* Units of an amount of which a resource may have many. */
#define AMOUNT_UNITS_PER_ONE 1000000

/* Every resource has so much presence; a job takes 1 of it, an exclusive one all. */
#define AMOUNT_PRESENCE_ALL 1000000000

/* Longer times are "never", so that sums of a million of them stay finite. */
#define WORLD_LONGEST_S 1e100

/* The first rows of every world; named amounts follow. */
enum {
    AMOUNT_CPUS,
    AMOUNT_MEMORY,
    AMOUNT_DISK,
    AMOUNT_JOBS,     /* on the wire: n_max */
    AMOUNT_PRESENCE, /* on the wire: exclusive */
    AMOUNT_NAMED
};

enum { AMOUNT_NAMES_MAX = 32, AMOUNTS_MAX = AMOUNT_NAMED + AMOUNT_NAMES_MAX };

struct world_amount {
    const char *name; /* as in answers */
    double per_one;   /* units of 1 on the wire */
};

/* What somebody holds now, or will: [start_s, end_s). */
enum world_holder_kind { HOLDER_RUNNING, HOLDER_RESERVATION };

struct world_holder {
    enum world_holder_kind kind;
    const char *id;          /* NULL: not said */
    double start_s, end_s;   /* start 0: runs; HUGE_VAL: for ever */
    bool end_unknown;        /* for ever because nobody knows */
    bool all;                /* nothing is free for a planned job meanwhile */
    const int64_t *amounts;  /* of each resource; shared rows: once */
    const size_t *positions; /* rising; may be none */
    size_t position_count;
    double weight, priority; /* of what runs: what stopping it costs; against a job's */
    bool preemptible;
    size_t group; /* of what runs; WORLD_NONE */
};

struct world_resource {
    const char *id;
    size_t index;            /* in the snapshot */
    double speed;            /* estimate_ref_s / speed: run time; >= 0 */
    size_t site;             /* number of its site */
    const int64_t *capacity; /* node_amount_count; AMOUNT_UNLIMITED */
    const size_t *holders;   /* indexes into world.holders of those that are on it */
    size_t holder_count;
    double price_per_s, price_per_cpu_s;  /* >= 0 */
    double power_node_w, power_per_cpu_w; /* >= 0 */
};

enum world_after_kind { AFTER_OK, AFTER_ANY, AFTER_START };

/* A job of this world that is waited for. */
struct world_after {
    size_t job;
    enum world_after_kind kind;
};

/* What the jobs of one user in one partition may have together at one instant. */
enum world_limit_kind { LIMIT_JOBS, LIMIT_CPUS };

/* What a job that runs has of a limit. */
struct world_limit_hold {
    double end_s;  /* HUGE_VAL: not known */
    int64_t units; /* > 0 */
};

struct world_limit {
    enum world_limit_kind kind;
    const char *user, *partition_id;
    int64_t capacity; /* jobs in ones, cpus in millionths */
    const struct world_limit_hold *held;
    size_t held_count;
};

/* Members of a partition, by kind. */
extern const char *const world_limit_names[];

enum { CHOICE_LIMITS_MAX = 2 };

/* Resources that pass all filters but capacities, within one partition. */
struct world_choice {
    const char *partition_id; /* NULL: no partition */
    const uint64_t *mask;     /* by position */
    size_t count;             /* bits set */
    const size_t *limits;     /* of the job's user there: rising indexes into
                                 world.limits; the job alone exceeds none */
    size_t limit_count;       /* at most CHOICE_LIMITS_MAX */
};

/* Why a job has no place. */
#define WORLD_WAITS(X)                                                                  \
    X(WORLD_WAIT_NONE, "")                                                              \
    X(WORLD_WAIT_FILTERED, "") /* no resource passed the filters, or is large enough */ \
    X(WORLD_WAIT_NO_ESTIMATE, "no_estimate")                                            \
    X(WORLD_WAIT_NO_FREE_NOW, "no_free_now")                                            \
    X(WORLD_WAIT_UNKNOWN_END, "unknown_end")                                            \
    X(WORLD_WAIT_RESERVED_FOR_EVER, "reserved_for_ever")                                \
    X(WORLD_WAIT_SHARED_SHORT, "shared_short")                                          \
    X(WORLD_WAIT_TOO_FEW_NODES, "too_few_nodes")                                        \
    X(WORLD_WAIT_GROUP_SPREAD, "group_spread")                                          \
    X(WORLD_WAIT_GROUP_GANG, "group_gang")                                              \
    X(WORLD_WAIT_GROUP_PACK, "group_pack")                                              \
    X(WORLD_WAIT_AFTER_UNPLACED, "after_unplaced")                                      \
    X(WORLD_WAIT_AFTER_FAILED, "after_failed")                                          \
    X(WORLD_WAIT_USER_LIMIT, "user_limit")                                              \
    X(WORLD_WAIT_ROUND_FULL, "round_full")                                              \
    X(WORLD_WAIT_NOT_RELEASED, "not_released")                                          \
    X(WORLD_WAIT_BETTER_SOON, "better_soon")                                            \
    X(WORLD_WAIT_LEASED, "leased")                                                      \
    X(WORLD_WAIT_OUT_OF_TIME, "time_limit")

enum world_wait {
#define X(symbol, name) symbol,
    WORLD_WAITS(X)
#undef X
};

struct world_job {
    const char *id;
    const int64_t *needs; /* amount_count: node rows of each node, shared rows once;
                             AMOUNT_PRESENCE is never 0 */
    size_t nodes;         /* >= 1 */

    /* Run time on one node: the first that is there. */
    const double *etc_s;   /* by position; HUGE_VAL: cannot run there; NULL */
    double estimate_ref_s; /* at speed 1; NAN */
    double estimate_s;     /* wherever it runs; NAN */
    size_t row;            /* equal for jobs with equal etc_s; 0: none */
    double time_limit_s;   /* killed so long after its start; HUGE_VAL: none */

    double release_s;  /* as given, >= 0 */
    double earliest_s; /* that, and the ends of what runs and is waited for */
    double deadline_s; /* HUGE_VAL: none */
    double queued_at_s;
    double weight;   /* >= 0 */
    double priority; /* larger first */
    double tier;     /* of its partitions, the largest; larger first */
    size_t group;    /* WORLD_NONE */
    const struct world_after *after;
    size_t after_count;
    const struct world_choice *choices; /* one or more; the first is preferred */
    size_t choice_count;
    enum world_wait barred; /* not to be placed at all, because of this */
    double stage_out_s;     /* of the outputs: from everywhere, or the least of */
    const double *stage_out_of_site_s; /* those from each site; NULL */
};

enum world_group_policy {
    GROUP_GANG,
    GROUP_SPREAD,
    GROUP_PACK,
    GROUP_EXCLUDE
}; /* same_site is pack by site */
enum world_group_key { GROUP_BY_RESOURCE, GROUP_BY_SITE, GROUP_BY_ATTRIBUTE };

/* Values of an attribute, numbered. A resource without it takes no member of a group that
 * goes by it: it is in no choice of theirs. */
struct world_values {
    const char *name;        /* as it was asked for */
    const size_t *of;        /* by position; WORLD_NONE: it has none */
    size_t count;            /* at most as many as resources */
    size_t number;           /* of the attribute, from 1 on */
    const size_t *positions; /* those of value v, rising: from first[v] to first[v + 1] */
    const size_t *first;
};

struct world_group {
    const char *id;
    enum world_group_policy policy;
    enum world_group_key key;
    const struct world_values *values; /* of GROUP_BY_ATTRIBUTE */
    size_t max_per_key;
    const size_t *jobs; /* rising */
    size_t job_count;
    const size_t *holders; /* members that run: indexes into world.holders */
    size_t holder_count;
};

/* All of it. */
struct world {
    struct world_amount amounts[AMOUNTS_MAX];
    size_t node_amount_count;       /* >= AMOUNT_NAMED */
    size_t amount_count;            /* with the shared ones */
    const int64_t *shared_capacity; /* by amount; rows of nodes are not used */

    const struct world_resource *resources; /* by position */
    size_t resource_count;
    size_t site_count;
    const struct world_holder *holders;
    size_t holder_count;
    const struct world_job *jobs;
    size_t job_count;
    const struct world_group *groups;
    size_t group_count;
    const struct world_limit *limits; /* those that some job takes of */
    size_t limit_count;

    bool without_files;   /* no job has a stage-in: all that takes time is told here */
    bool plan_with_limit; /* amounts are held for time_limit_s where there is one */
    uint64_t seed;
    struct budget *budget;
};

/* Where a job goes. Times are seconds from now. */
struct world_placed {
    const size_t *positions; /* by rising snapshot index; NULL: it has no place */
    size_t position_count;   /* nodes of the job */
    size_t choice;           /* which of job.choices */
    double start_s;
    double stage_in_s;
    double run_s;         /* cut to the time limit */
    double end_s;         /* amounts are free again: the very double that a profile has */
    double done_s;        /* start_s + stage_in_s + run_s: what `after` waits for */
    bool killed;          /* it would run longer than its time limit */
    enum world_wait wait; /* why it has no place */
    size_t wait_on;       /* the job, group, amount or holder it waits for; WORLD_NONE */
};

/* Where all jobs go; entries by job. */
struct world_plan {
    struct world_placed *placed;
    size_t *sequence; /* placed jobs, in the order of placing */
    size_t placed_count;
    bool cut; /* the time was up before all had their turn */
};

static inline bool world_mask_has(const uint64_t *mask, size_t position)
{
    return mask[position / 64] >> (position % 64) & 1;
}

/* Run time on one node without the limit; HUGE_VAL: cannot run there, or not known. */
static inline double world_full_run_s(const struct world *w, const struct world_job *j,
                                      size_t position)
{
    double t;

    if (j->etc_s)
        t = j->etc_s[position];
    else if (!isnan(j->estimate_ref_s))
        t = w->resources[position].speed > 0
                ? j->estimate_ref_s / w->resources[position].speed
                : HUGE_VAL;
    else
        t = j->estimate_s;
    return t >= 0 && t <= WORLD_LONGEST_S ? t : HUGE_VAL;
}

/* That, cut to the job's time limit: p(j, r). */
static inline double world_run_s(const struct world *w, const struct world_job *j,
                                 size_t position)
{
    double t = world_full_run_s(w, j, position);

    return t < HUGE_VAL && t > j->time_limit_s ? j->time_limit_s : t;
}

/* How long amounts are held by a run of run_s (without stage-in). */
static inline double world_held_s(const struct world *w, const struct world_job *j,
                                  double run_s)
{
    return w->plan_with_limit && j->time_limit_s < HUGE_VAL ? j->time_limit_s : run_s;
}

/* When the job's outputs have arrived. */
static inline double world_finish_s(const struct world *w, const struct world_job *j,
                                    const struct world_placed *at)
{
    return at->done_s + (j->stage_out_of_site_s && at->positions
                             ? j->stage_out_of_site_s[w->resources[*at->positions].site]
                             : j->stage_out_s);
}

/* What a job needs of each amount is there when nothing is taken. */
static inline bool world_large_enough(const struct world *w, const struct world_job *j,
                                      size_t position)
{
    const int64_t *capacity = w->resources[position].capacity;

    for (size_t k = 0; k < w->node_amount_count; k++)
        if (j->needs[k] > capacity[k])
            return false;
    return true;
}

/* What a job takes of a limit, once. */
int64_t world_limit_need(const struct world_limit *l, const struct world_job *j);

/* What the jobs that run leave of it; below 0: they have more. */
int64_t world_limit_left(const struct world *w, const struct world_limit *l);

/* Some choice of the job takes of a limit. */
bool world_is_limited(const struct world_job *j);

/* Two choices take of the same limits. */
bool world_same_limits(const struct world_choice *a, const struct world_choice *b);

/* Whole units, half up; what is above 0 is at least 1 of them. From 1e18 on the wire on,
 * and NAN: AMOUNT_UNLIMITED. */
int64_t amount_units(double value, double per_one);

/* As a number of the wire. */
double amount_value(const struct world *w, size_t amount, int64_t units);

/* a + b, saturating at AMOUNT_UNLIMITED and its negative; not limited stays so. */
int64_t amount_add(int64_t a, int64_t b);

#endif
