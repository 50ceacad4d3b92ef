/* replication/work.h - a round while it is decided: the part all policies share.
 *
 * A policy calls work_begin(), starts and cancels by work_start() and
 * work_cancel(), and ends with work_end(). Most of them are work_fill() with
 * rules of their own.
 */
#ifndef GRIDPLAN_REPLICATION_WORK_H
#define GRIDPLAN_REPLICATION_WORK_H

#include "algorithms/replication/slots.h"
#include "models/failure_rate.h"
#include "models/reliability.h"

#include <math.h>

enum placement_rule { PLACE_SPREAD, PLACE_RANDOM, PLACE_EARLIEST };
enum capacity_unit { CAPACITY_SLOT, CAPACITY_RESOURCE };

enum { REPLICAS_MAX = 32 }; /* of a job, in options */

/* Rules of the loop of spec fault-tolerance.md 6.4 and 6.6. */
struct fill_rules {
    size_t replicas_min, replicas_max; /* the latter while CA >= free_cpu_limit */
    size_t free_cpu_limit;             /* CL */
    bool counts_active; /* count(J): replicas believed active, else those started */
    enum placement_rule placement;
    bool restarts_use_image; /* a job with an image and no active replica goes on from it
                              */
    bool copies_use_image;   /* likewise one that has active replicas */
    size_t starts_max;       /* of a job, in all; 0: no limit */
};

struct round_work {
    const struct round_in *in;
    struct round_out out;
    struct slots slots;
    struct round_action *actions;
    size_t action_count, action_size;
    size_t *last_start; /* of each job: 1 + its latest start among the actions, 0: none;
                           NULL: starts are not followed */
    size_t *earlier_start; /* of each action that is a start: likewise, of its job */
    size_t *held;          /* resources of the current job's active replicas */
    size_t held_count, held_size;
    size_t looks;    /* since the budget was asked last */
    size_t held_job; /* whose they are */
    uint64_t random_state;
    size_t target; /* explain: of every job, unless targets are set */
    size_t *targets;
    bool counts_active; /* explain: as in the rules, likewise the next */
    size_t starts_max;
    struct arena *arena;
    struct error *err;
};

/* Cancels the replicas of finished jobs, then counts free CPUs. */
enum error_code work_begin(struct round_work *w, const struct round_in *in,
                           enum capacity_unit unit, struct arena *a, struct error *err);

/* Fills *out, with reasons if asked for. */
void work_end(struct round_work *w, struct round_out *out);

/* Active replicas of a job in the input. */
static inline size_t work_active_count(const struct round_job *job)
{
    size_t count = 0;

    for (size_t i = 0; i < job->replica_count; i++)
        count += replica_is_active(&job->replicas[i]);
    return count;
}

/* A replica of the job has finished. False at once when no job has one. */
static inline bool work_is_finished(const struct round_in *in, size_t job)
{
    const struct round_job *j = &in->jobs[job];

    for (size_t i = 0; in->has_finished && i < j->replica_count; i++)
        if (j->replicas[i].state == REPLICA_FINISHED)
            return true;
    return false;
}

/* From now on w knows which starts belong to which job. */
void work_follow(struct round_work *w);

/* Starts of a job in this round; needs work_follow(). */
size_t work_started_count(const struct round_work *w, size_t job);

/* Makes w->held the resources of the job's active replicas in the input and, after
 * work_follow(), of those that this round has started. */
void work_hold(struct round_work *w, size_t job);

static inline struct held work_held(const struct round_work *w)
{
    return (struct held){w->held, w->held_count};
}

/* The first of the jobs from `job` on that may have fewer replicas than `limit`, which is
 * 1 .. REPLICAS_MAX + 1: active ones, or those ever started. job_count: none has. */
size_t work_next_below(const struct round_in *in, bool counts_active, size_t job,
                       size_t limit);

/* Passes jobs from `job` on that have the bit of round_in.settled, eight at a time: of
 * the eight from the result on one may not have it. *seen grows by their number: all have
 * replicas. */
size_t work_next_unsettled(const struct round_in *in, uint8_t bit, size_t job,
                           size_t *seen);

/* No job behind the first `seen` with replicas has any. */
static inline bool work_has_seen_all(const struct round_in *in, size_t seen)
{
    return in->held_job_count > 0 && seen >= in->held_job_count;
}

/* Where the current job's next replica goes, by work_hold()'s list; NOWHERE. Rule
 * PLACE_EARLIEST: where the job ends first, its input brought there (transfer_s) and the
 * speed shared with one job more than are there; ties to the lower index. O(resources).
 */
enum error_code work_place(struct round_work *w, enum placement_rule rule,
                           size_t *resource);

/* A replica of the current job, the i-th that this round starts of it, i from 0. */
void work_start(struct round_work *w, size_t job, size_t i, size_t resource,
                bool from_checkpoint);

/* The same of a copy on these nodes, which rise and stay where they are. */
void work_start_nodes(struct round_work *w, size_t job, size_t i, const size_t *nodes,
                      size_t count, bool from_checkpoint);

/* From a failure of a copy whose nodes fail every mean_s until it is on its nodes again:
 * a spare node comes at once unless all are in repair (Erlang's B), the same node when it
 * is repaired. Source: spec reliability.md 2.5. */
double work_delay_s(const struct round_job *job, double mean_s);

/* The current job holds the resource. O(replicas and their nodes). */
bool work_holds(const struct round_work *w, size_t resource);

/* The current job holds the resource and one of its slots, without an action. */
void work_take(struct round_work *w, size_t resource);

/* Any action; slots are the caller's business. */
void work_act(struct round_work *w, struct round_action action);

/* Jobs in order, each filled to the limit before the next. When `stop_below_limit`
 * it ends as soon as CA < CL. `started` (may be NULL) is called after each start with
 * the number of active replicas that the job had before. */
typedef enum error_code started_fn(struct round_work *w, size_t job,
                                   size_t active_before);
enum error_code work_fill(struct round_work *w, const struct fill_rules *rules,
                          bool stop_below_limit, started_fn *started);

/* A whole round of work_fill(). */
enum error_code work_fill_round(const struct round_in *in, const struct fill_rules *rules,
                                enum capacity_unit unit, struct round_out *out,
                                struct arena *a, struct error *err);

/* Starts of a job in all, of which so many are no restarts; 0: no limit. */
static inline size_t work_starts_max(size_t copies, double max_restarts)
{
    return isnan(max_restarts) ? 0 : copies + (size_t)max_restarts;
}

/* ---- options that policies share ---- */

extern const char *const round_capacity_units[];
extern const char *const round_placements[];
extern const char *const round_detections[];
extern const char *const round_failure_distributions[];

#define ROW_CAPACITY_UNIT                                                              \
    {                                                                                  \
        "capacity_unit", 0, 1, CAPACITY_SLOT,                                          \
            "What free_cpus counts: free slots, or resources with one (the source's)", \
            PARAM_CHOICE, round_capacity_units                                         \
    }
#define ROW_PLACEMENT(preset)                                                           \
    {                                                                                   \
        "placement", 0, 2, preset,                                                      \
            "spread: fewest replicas a site, then fastest; random: any free resource; " \
            "earliest: where transfer and run end first",                               \
            PARAM_CHOICE, round_placements                                              \
    }
/* Of jobs whose copies fail again and again (spec fault-tolerance.md 13). */
#define ROW_MAX_RESTARTS                                                              \
    {                                                                                 \
        "max_restarts", 0, 1e9, (double)NAN,                                          \
            "Copies of a job that may be started in place of failed ones, in all; a " \
            "job that has used them up is given up; default: no limit",               \
            PARAM_INTEGER, NULL                                                       \
    }
#define ROW_REPLICAS(preset)                                                           \
    {                                                                                  \
        "replicas", 1, REPLICAS_MAX, preset, "Copies of each job", PARAM_INTEGER, NULL \
    }
#define ROW_REPLICAS_MIN                                                        \
    {                                                                           \
        "replicas_min", 1, REPLICAS_MAX, 1,                                     \
            "Copies of each job while fewer than free_cpu_limit CPUs are free", \
            PARAM_INTEGER, NULL                                                 \
    }
#define ROW_REPLICAS_MAX                                                              \
    {                                                                                 \
        "replicas_max", 1, REPLICAS_MAX, 3, "Most copies of each job", PARAM_INTEGER, \
            NULL                                                                      \
    }
#define ROW_FREE_CPU_LIMIT                                                           \
    {                                                                                \
        "free_cpu_limit", 1, 1e9, 40,                                                \
            "CPUs that must be free for copies beyond replicas_min; default of the " \
            "source for 128 resources",                                              \
            PARAM_INTEGER, NULL                                                      \
    }
#define ROW_FREE_CPU_LIMIT_FRACTION                                                  \
    {                                                                                \
        "free_cpu_limit_fraction", 0, 1, (double)NAN,                                \
            "The limit as a share of all CPUs that are up, rounded up, at least 1; " \
            "instead of free_cpu_limit",                                             \
            PARAM_NUMBER, NULL                                                       \
    }
/* How failures come to be known. The policy sees the outcome only; who calls it
 * reads the option. */
#define ROW_DETECTION                                                                    \
    {                                                                                    \
        "detection", 0, 1, 0,                                                            \
            "incarnation: a boot_id that has changed reveals an outage too; poll: only " \
            "being down now does",                                                       \
            PARAM_CHOICE, round_detections                                               \
    }

/* Likewise how a mean failure interval comes from a history, and whether its gaps
 * are fitted. */
#define ROW_MF_ESTIMATOR                                                                 \
    {                                                                                    \
        "mf_estimator", 0, MF_AUTO, MF_AUTO,                                             \
            "How the mean failure interval comes from the history of a resource; auto: " \
            "bayes from a stored one, censored from one in the request",                 \
            PARAM_CHOICE, mf_estimator_names                                             \
    }
#define ROW_PRIOR                                                                      \
    {                                                                                  \
        "prior", 0, RATE_PRIOR_ALL, RATE_PRIOR_SITE,                                   \
            "bayes: other hosts that tell of a resource; site: those of its site, or " \
            "all if they are too few",                                                 \
            PARAM_CHOICE, rate_prior_scopes                                            \
    }
#define ROW_MEAN_FLOOR                                                            \
    {                                                                             \
        "mean_floor_s", 0, 1e15, MEAN_FLOOR_PRESET_S,                             \
            "bayes: least mean failure interval of a resource with fewer than 3 " \
            "failures of which no other hosts tell; seconds",                     \
            PARAM_NUMBER, NULL                                                    \
    }
#define ROW_FAILURE_DISTRIBUTION                                                        \
    {                                                                                   \
        "failure_distribution", 0, 1, 0,                                                \
            "exponential; weibull: as fitted to the resource's or its site's history, " \
            "exponential where that is too short",                                      \
            PARAM_CHOICE, round_failure_distributions                                   \
    }

/* Options of policies that follow the load, as the first rows. */
enum {
    LOAD_REPLICAS_MIN,
    LOAD_REPLICAS_MAX,
    LOAD_FREE_CPU_LIMIT,
    LOAD_FREE_CPU_LIMIT_FRACTION,
    LOAD_CAPACITY_UNIT,
    LOAD_OPTION_COUNT,
};
#define LOAD_ROWS                                                                   \
    [LOAD_REPLICAS_MIN] = ROW_REPLICAS_MIN, [LOAD_REPLICAS_MAX] = ROW_REPLICAS_MAX, \
    [LOAD_FREE_CPU_LIMIT] = ROW_FREE_CPU_LIMIT,                                     \
    [LOAD_FREE_CPU_LIMIT_FRACTION] = ROW_FREE_CPU_LIMIT_FRACTION,                   \
    [LOAD_CAPACITY_UNIT] = ROW_CAPACITY_UNIT

/* The rules of those options: counts, spread, from scratch. Notes replicas_min
 * above replicas_max. */
enum error_code work_load_rules(const struct round_in *in, const double *param,
                                struct fill_rules *rules, struct error *err);

#endif
