/* placement/problem.h - a request made ready to be decided.
 *
 * Names become indexes, mistakes are reported, resources are put into the order
 * in which policies scan them, and jobs into classes (same requirement and same
 * rights: filtered once) and streams (nothing but the estimate differs).
 *
 * Positions: policies number resources by position, not as the snapshot does.
 * Position order is falling speed where every job has an estimate, so that a
 * block of 64 neighbours can be skipped by one comparison; the snapshot's order
 * where some job brings a matrix row. Ties still go to the lowest snapshot index.
 *
 * Cost of problem_prepare(): O(n log n + m log m + files * sites + matrix) and
 * what classes.h says of the requirements.
 */
#ifndef GRIDPLAN_PLACEMENT_PROBLEM_H
#define GRIDPLAN_PLACEMENT_PROBLEM_H

#include "algorithms/placement/placement.h"
#include "models/base/names.h"

#include <math.h>

#define NO_INDEX SIZE_MAX

/* Longer times are "never", so that sums of a million of them stay finite. */
#define LONGEST_S 1e100

/* Share of the time limit from when on jobs are left unplaced. */
#define TOO_LATE 1.0

/* Sums of cpus or memory may exceed the whole by this factor. */
#define ROUNDING (1 + 1e-12)

enum { BLOCK = 64 }; /* positions of one word of a class's mask */

/* Rows of placement_common_params. */
enum common_option {
    COMMON_FILE_SCOPE,
    COMMON_DIALECT,
    COMMON_STALE_POLICY,
    COMMON_LIST_TTL,
    COMMON_STATE_TTL,
    COMMON_JOB_ORDER,
    COMMON_RESOURCE_ORDER,
    COMMON_LIMITS,
    COMMON_DISPATCH_CHUNK,
    COMMON_PER_RESOURCE,
    COMMON_RUNNING_PER_RESOURCE,
    COMMON_RUNNING_PER_USER,
    COMMON_W_FIXED,
    COMMON_W_SHARE,
    COMMON_W_DEADLINE,
    COMMON_W_WAIT,
    COMMON_W_RESOURCE_FIXED,
    COMMON_W_RANK,
    COMMON_W_USAGE,
    COMMON_DL_HALF_DAYS,
    COMMON_WINDOW_DEPTH,
    COMMON_USAGE_LAST_SHARE,
    COMMON_MAX_BAN,
    COMMON_PLAN_WITH,
    COMMON_MAX_NODES,
    COMMON_ASSUME_PREEMPTED,
    COMMON_COUNT
};

enum { SCOPE_SITE, SCOPE_RESOURCE }; /* file_scope */
enum { STALE_USE, STALE_EXCLUDE };   /* stale_policy */
enum {
    ORDER_PLAIN,
    ORDER_PRIORITY,
    ORDER_AMOUNTS
};                                                   /* job_order, resource_order;
                                                        from ORDER_AMOUNTS on for amounts */
enum { PLAN_WITH_ESTIMATE, PLAN_WITH_LIMIT };        /* plan_with */
enum { LIMITS_NONE, LIMITS_GRIDWAY5, LIMITS_FLOOD }; /* limits */

/* Why a resource does not take a job, in the order of the tests (spec 2). Too few cpus
 * and too little memory are one reason in answers. */
#define FILTERS(X)                                                                    \
    X(FILTER_FAILED, "failed", "the resource has failed")                             \
    X(FILTER_STALE, "stale", "its state was observed too long ago")                   \
    X(FILTER_UNAUTHORISED, "unauthorised", "the user is not allowed there")           \
    X(FILTER_BANNED, "banned", "the user is banned there after a failure")            \
    X(FILTER_PRIORITY_ZERO, "priority_zero", "its fixed priority is 0: not used")     \
    X(FILTER_REQUIREMENT, "requirement", "the requirement is not true there")         \
    X(FILTER_CPUS, "too_small", "it has less than the job needs")                     \
    X(FILTER_MEMORY, "too_small", "it has less than the job needs")                   \
    X(FILTER_NO_ESTIMATE, "no_estimate", "no run time is known for the job there")    \
    X(FILTER_FILE_UNRESOLVED, "file_unresolved", "no file for its architecture")      \
    X(FILTER_FILE_UNREACHABLE, "file_unreachable", "no route for an input or output") \
    X(FILTER_NEVER_FREE, "unknown_end",                                               \
      "it has no slot, or it is not known when what runs there ends")

enum filter {
#define X(symbol, name, detail) symbol,
    FILTERS(X)
#undef X
        FILTER_COUNT,
    FILTER_PASSED = FILTER_COUNT
};

/* A slot and when it is free, in seconds from now. */
struct problem_slot {
    double free_s;
    size_t slot;
};

/* What somebody holds of cpus and memory from now to end_s; HUGE_VAL: for ever. */
struct problem_hold {
    double end_s, cpus, memory_bytes;
    size_t number; /* of what runs now, as it was found */
};

/* A resource at its position. */
struct problem_resource {
    const struct resource *given;
    size_t index; /* in the snapshot */
    double speed_mips;
    size_t slot_count;
    const struct problem_slot *busy; /* busy slots whose end is known, by rising slot */
    size_t busy_count;
    size_t free_slot;    /* slots from this one on are free at ready_s */
    double first_free_s; /* least time when a slot is free, HUGE_VAL: never */
    double cpus;         /* HUGE_VAL: not limited */
    double memory_bytes; /* HUGE_VAL: not limited */
    bool capacity;       /* cpus or memory limited: jobs start in order */
    const struct problem_hold *holds; /* only with `capacity`: what runs now, by end */
    size_t hold_count;
    double cpus_held, memory_held_bytes; /* of that, for ever */
    size_t site;                         /* for routes */
    size_t store; /* for staged files: the site, or the resource itself */
    size_t arch;  /* index into archs; NO_INDEX: no attribute `arch` */
};

struct problem_job {
    const struct job *given;
    size_t job_class, stream;
    size_t user; /* index of distinct users; 0: anonymous */
    double estimate_ref_s;
    const double *etc_s; /* by snapshot index; NULL: use estimate_ref_s */
    size_t row;          /* equal for jobs with equal etc_s; 0: none */
    double cpus, memory_bytes, release_s;
    double deadline_s;   /* from now; NAN: none */
    const size_t *files; /* file_count indexes; by_arch: one such row per arch, */
    size_t file_count;   /* NO_INDEX: no such file */
    bool by_arch;
    const char *const *names; /* resolved names, rows as in files; NULL: as given */
};

/* Jobs that the same resources suit, as far as the filters up to the
 * requirement go. */
struct problem_class {
    size_t example;         /* one of its jobs */
    uint64_t *mask;         /* bit set: the resource at this position passed */
    const uint64_t *rights; /* bit set: passed the tests before the requirement */
    size_t passed_count;
    size_t dropped[FILTER_COUNT];
    size_t undefined_count; /* requirement undefined rather than false */
    bool cut;               /* not evaluated: the time was up */
};

/* Jobs that differ in their estimate at most; stream_jobs[first ...]. */
struct problem_stream {
    size_t first, count;
};

struct clauses; /* clauses.h: requirements as sets */
struct pair_map;
struct selector; /* select.h: expressions of this request */

struct placement_problem {
    const struct placement_in *in;
    const double *common;
    size_t job_count, resource_count, block_count;
    size_t site_count, store_count, arch_count, user_count;
    struct problem_job *jobs;
    struct problem_resource *resources; /* by position */
    size_t *position_of;                /* by snapshot index */
    double *speed_mips;                 /* by position, as in resources */
    double *slowness;                   /* 1 / speed_mips by position, HUGE_VAL for 0 */
    double *block_slowness;             /* least of the block */
    double *cpus, *memory_bytes;        /* by position, as in resources */
    struct problem_class *classes;
    size_t class_count;
    struct problem_stream *streams;
    size_t stream_count;
    size_t *stream_jobs; /* by stream, then rising estimate, then index */
    size_t *order;       /* jobs as job_order says */
    const char **site_ids;
    const char **archs;
    size_t *file_sites;      /* site of each replica */
    size_t *file_first;      /* of a file's replicas in file_sites; one more */
    double *transfer_s;      /* file x site; NULL: too many, computed when asked */
    struct pair_map *routes; /* of two sites: index of the route */
    size_t home_site;        /* NO_INDEX: none */
    double least_cpus, least_memory_bytes; /* of all jobs */
    bool has_files;                        /* a job has input files */
    bool has_capacity;                     /* a resource limits cpus or memory */
    bool has_matrix;                       /* a job has etc_s */
    bool has_release;
    bool has_outputs;
    bool all_free; /* every slot of every resource is free now */
    bool cut;      /* time was up while preparing */
    struct name_index user_numbers;
    struct pair_map *usage; /* of a user and a position: index into in->usage */
    struct selector *selector;
    struct clauses *clauses;
    const char **warnings;
    size_t warning_count;
    struct arena *arena;
};

/* Checks and prepares. All mistakes are collected in *err. `common` holds the
 * values of placement_common_params and must outlive the problem. */
enum error_code problem_prepare(const struct placement_in *in, const double *common,
                                struct placement_problem *p, struct arena *a,
                                struct error *err);

/* Which of the tests behind the requirement the pair fails first, or FILTER_PASSED.
 * `estimate`: a job must have an estimate (all policies but gridway). O(files). */
enum filter problem_need_filter(const struct placement_problem *p,
                                const struct problem_job *job, size_t pos, bool estimate);

/* Seconds until the file arrives at the site from its nearest replica;
 * 0: is there; HUGE_VAL: unreachable. */
double problem_transfer_s(const struct placement_problem *p, size_t file, size_t site);

/* Seconds until the job's outputs are at the home site; 0 without outputs or
 * home site; HUGE_VAL: no route. */
double problem_output_s(const struct placement_problem *p, const struct problem_job *job,
                        size_t pos);

/* Adds a warning. */
bool problem_warn(struct placement_problem *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Jobs that wait for a place: the first ones, and the first of p->order. */
static inline size_t problem_pending(const struct placement_problem *p)
{
    return p->job_count - p->in->running_count;
}

/* The job's files on the resource at `pos`; NULL: not resolved there. */
static inline const size_t *problem_files(const struct placement_problem *p,
                                          const struct problem_job *job, size_t pos)
{
    size_t arch = p->resources[pos].arch;

    if (!job->by_arch)
        return job->files;
    return arch == NO_INDEX ? NULL : job->files + arch * job->file_count;
}

/* Run time in seconds, HUGE_VAL: cannot run there or not known. */
static inline double problem_execution_s(const struct placement_problem *p,
                                         const struct problem_job *job, size_t pos)
{
    double time_s;

    if (job->etc_s)
        time_s = job->etc_s[pos]; /* with a matrix positions are snapshot indexes */
    else if (p->speed_mips[pos] > 0)
        time_s = job->estimate_ref_s / p->speed_mips[pos];
    else
        return HUGE_VAL;
    return time_s >= 0 && time_s <= LONGEST_S ? time_s : HUGE_VAL;
}

/* fmax() and fmin() of numbers, without the call that NAN costs. */
static inline double later_s(double a, double b)
{
    return a < b ? b : a;
}

static inline double sooner_s(double a, double b)
{
    return b < a ? b : a;
}

/* The requirement alone drops the resource at `pos`. */
static inline bool problem_class_unmet(const struct problem_class *c, size_t pos)
{
    return c->rights &&
           (c->rights[pos / BLOCK] & ~c->mask[pos / BLOCK]) >> (pos % BLOCK) & 1;
}

static inline bool problem_class_has(const struct problem_class *c, size_t pos)
{
    return c->mask[pos / BLOCK] >> (pos % BLOCK) & 1;
}

#endif
