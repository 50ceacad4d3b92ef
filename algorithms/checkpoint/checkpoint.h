/* checkpoint/checkpoint.h - when to checkpoint a running job.
 *
 * A checkpoint policy is asked when a job starts and whenever its interval has
 * run out (a request). It says whether to take the checkpoint and when to ask
 * again. Policies are pure: no clock, no I/O, no global state; each decision is
 * O(1). What a policy must remember of a job it returns, and the caller hands it
 * back with the next request: interval_s and consecutive_omissions. On a restart
 * on another resource both begin afresh.
 *
 * An interval is work: it counts from the end of a checkpoint, or from the start,
 * to the next request. With interval I, overhead C, restart R and failures that
 * come independently with a constant rate 1/M, a second of work takes
 *
 *     exp(R/M) * M * (exp((I + C)/M) - 1) / I     seconds.
 *
 * No policy but `none` gives an interval below I_min, which is min_interval_s or,
 * if that is not set, min_interval_fraction of E. An I_min that is set but not
 * above C becomes C * 1.0001: a job must work longer than it stands still.
 *
 * Source: spec fault-tolerance.md 4, 5 and 7.4 (with D = 0); J. T. Daly, "A
 * higher order estimate of the optimum checkpoint interval for restart dumps",
 * Future Generation Computer Systems 22, 2006.
 */
#ifndef GRIDPLAN_CHECKPOINT_H
#define GRIDPLAN_CHECKPOINT_H

#include "algorithms/checkpoint/finite_plan.h"
#include "algorithms/checkpoint/renewal.h"
#include "models/base/policy.h"
#include "models/failure_rate.h"
#include "models/job_hazard.h"
#include "models/reliability.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Bounds of what comes in, seconds; no interval is shorter than the first. */
#define CHECKPOINT_SHORTEST_S 1e-3
#define CHECKPOINT_LONGEST_S  1e15

/* All in seconds. Start from checkpoint_in_unknown() and set what is known. */
struct checkpoint_in {
    double checkpoint_overhead_s;   /* C: the job stands still so long, >= 0 */
    double mean_failure_interval_s; /* M: of its resource, >= 0; NAN: unknown */
    double restart_s;               /* R: to fetch the checkpoint after a failure, >= 0 */
    double execution_time_s; /* E: work of the whole job under the present load, > 0,
                                may be infinite; NAN: unknown */
    double remaining_s;      /* RE: of E, still to do, >= 0; NAN: unknown */
    /* Upper quantiles of E and RE: last_failure and mean_failure use them if they are
     * greater. NAN: E and RE are exact. */
    double execution_time_upper_s, remaining_upper_s;
    double restart_from_scratch_s;  /* R0: the same where there is no image, >= 0 */
    double reschedule_delay_s;      /* D: from a failure until it runs again, >= 0 */
    double work_since_checkpoint_s; /* u: since the last image, or the start, >= 0;
                                       NAN: interval_cur_s, else the policy's interval */
    double has_checkpoint;          /* 1: there is an image, 0: not; NAN: there is if more
                                       than u of E is done */
    const struct failure_law *laws; /* of its nodes, for weibull; NULL: weibull_shape
                                       and weibull_scale_s */
    size_t law_count;
    double node_count;    /* of the law of weibull_shape and weibull_scale_s, > 0 */
    double failure_age_s; /* now - last failure, or - first observation; NAN: unknown */
    double uptime_s;      /* since the last restore of the resource; NAN: unknown */
    double initial_interval_s;      /* I of this job, > 0; NAN: the option */
    double interval_cur_s;          /* in force now, > 0; NAN: I */
    uint64_t consecutive_omissions; /* requests omitted since the last checkpoint */
    double weibull_shape;           /* of the gaps between failures; NAN: too few gaps */
    double weibull_scale_s;         /* likewise */
    bool remaining_is_known;        /* remaining_s was said, not taken from E */
    /* What a dynamic programme may take of memory and time; NULL: weibull does without */
    struct arena *arena;
    struct budget *budget;
    bool few_jobs; /* so few are asked for that options left to auto may cost some time */
    bool start;    /* the job starts: no checkpoint is asked for yet */
};

enum checkpoint_action {
    CHECKPOINT_TAKE,
    CHECKPOINT_OMIT,
    CHECKPOINT_NONE, /* nothing to decide: the job starts, or never checkpoints */
};

/* symbol, name on the wire, meaning */
#define CHECKPOINT_REASONS(X)                                                         \
    X(STARTED, started, "the first request is due after next_request_in_s")           \
    X(TOO_SHORT, too_short, "the job ends first, or is best run without checkpoints") \
    X(NEVER, never, "the policy takes no checkpoints")                                \
    X(PERIODIC, periodic, "every request is honoured")                                \
    X(BEST_INTERVAL, best_interval, "the interval follows from the failures")         \
    X(UNKNOWN_FAILURES, unknown_failures, "nothing is known: the initial interval")   \
    X(FAILED_RECENTLY, failed_recently, "the resource failed within the run time")    \
    X(OMISSION_LIMIT, omission_limit, "as many were omitted as may be")               \
    X(RESOURCE_STABLE, resource_stable, "no failure for longer than the run time")    \
    X(LONGER, longer, "it ends before the next failure is expected")                  \
    X(SHORTER, shorter,                                                               \
      "a failure is expected first, or the interval is at its longest")               \
    X(AT_MINIMUM, at_minimum, "it should be shorter, but is at its shortest")         \
    X(CHEAPER_TO_REDO, cheaper_to_redo,                                               \
      "the work that a failure would cost is cheaper to do again")                    \
    X(IMAGE_FIRST, image_first,                                                       \
      "a start from scratch is so dear that an image comes "                          \
      "before any work")                                                              \
    X(ALARM, alarm, "on an alarm, there is enough work to save")                      \
    X(LITTLE_TO_LOSE, little_to_lose,                                                 \
      "on an alarm, a checkpoint costs more than it is likely to save")

enum checkpoint_reason {
#define X(symbol, name, meaning) CHECKPOINT_REASON_##symbol,
    CHECKPOINT_REASONS(X)
#undef X
        CHECKPOINT_REASON_COUNT
};

/* Indexed by the enums, ended by NULL. */
extern const char *const checkpoint_action_names[];
extern const char *const checkpoint_reason_names[];

/* What a lower bound rests on: the optimum of a constant rate, the dynamic programme,
 * the work alone. */
enum checkpoint_bound {
    CHECKPOINT_BOUND_NONE,
    CHECKPOINT_BOUND_CLOSED_FORM,
    CHECKPOINT_BOUND_DP,
    CHECKPOINT_BOUND_TRIVIAL,
};

/* Choices of the options method, bound and law, ended by NULL. */
enum checkpoint_method {
    CHECKPOINT_METHOD_AUTO,
    CHECKPOINT_METHOD_MIDPOINT,
    CHECKPOINT_METHOD_DP,
};
enum checkpoint_bound_option {
    CHECKPOINT_BOUNDS_AUTO,
    CHECKPOINT_BOUNDS_NONE,
    CHECKPOINT_BOUNDS_DP,
};
enum checkpoint_law_option { CHECKPOINT_LAW_AUTO, CHECKPOINT_LAW_EXPONENTIAL };
extern const char *const checkpoint_methods[];
extern const char *const checkpoint_bounds[];
extern const char *const checkpoint_laws[];

struct checkpoint_out {
    double interval_s; /* in force from now on; infinite: never (none) */
    bool at_minimum;   /* interval_s is I_min, or the floor, and would be shorter else */
    /* The next five by checkpoint_decide() only; NAN: M unknown. */
    double expected_time_ratio; /* time per second of work, >= 1; may be infinite */
    double waste_ratio;         /* share of the time that is no work, 0..1 */
    double gap_ratio; /* expected_time_ratio over its least, less 1; NAN: infinite */
    double checkpoint_count;      /* on a run without failures; NAN: E unknown */
    double expected_completion_s; /* from the start to the end; NAN: E unknown */
    double best_completion_s;     /* the least that any checkpoints give; likewise */
    double best_checkpoint_count; /* with so many of them; likewise */
    bool gap_is_finite;           /* gap_ratio is expected over best_completion_s, else
                                     the one of jobs without an end */
    bool never_ends;              /* its plan, or any, gives no time */
    double lower_bound_s;         /* no checkpoints end sooner in the mean; likewise */
    enum checkpoint_bound bound;  /* what that rests on */
    bool by_law;                  /* the nodes' laws decided, not M: figures of jobs that
                                     end are those of a dynamic programme, or NAN */
    struct failure_law law;       /* by_law: of the nodes if it is one row; count 0: the
                                     list of the input */
    const struct renewal_table *table; /* the dynamic programme decided, in in->arena;
                                          NULL: it did not */
    bool was_cut; /* it was wanted, or its bound was, and the budget was spent first, or
                     the job is too long for it */
    struct finite_plan plan; /* policy finite: what it takes; count 0: others */
    double has_image;        /* 1: all figures are of a job with an image, R for R0; 0:
                                not; NAN: E unknown */

    enum checkpoint_action action;
    enum checkpoint_reason reason;
    double next_request_in_s; /* from the checkpoint's end if it is taken, else from
                                 now; infinite: no further request */
    uint64_t consecutive_omissions;
    double min_interval_s;    /* I_min as it was applied */
    bool min_interval_raised; /* it was set, but not above C */
    bool history_too_short;   /* weibull: no shape and scale, decided as young */
    bool at_floor;            /* the interval is the floor: see checkpoint_floor_s() */
    double floor_s;           /* which that is, or would be */
};

/* Fills all but the figures. param holds one value for each row of the policy's
 * param table: index it by enum checkpoint_param. Fails only for last_failure and
 * mean_failure, with ERR_INVALID, when E is NAN (both) or RE is NAN at a request
 * (mean_failure). */
typedef enum error_code checkpoint_fn(const struct checkpoint_in *in, const double *param,
                                      struct checkpoint_out *out, struct error *err);

/* What a policy cannot do without: flags of the policies. */
enum checkpoint_need {
    CHECKPOINT_NEEDS_NOTHING = 0,
    CHECKPOINT_NEEDS_TIME = 1,    /* execution_time_s */
    CHECKPOINT_NEEDS_AGE = 2,     /* failure_age_s */
    CHECKPOINT_NEEDS_MEAN = 4,    /* mean_failure_interval_s, or else failure_age_s */
    CHECKPOINT_NEEDS_WEIBULL = 8, /* uptime_s, shape and scale; or else as young */
};

/* What runs a policy of this table. */
static inline checkpoint_fn *checkpoint_fn_of(const struct policy *policy)
{
    return (checkpoint_fn *)policy->run;
}

/* Every checkpoint policy. To add one, write checkpoint/NAME.c with
 * checkpoint_NAME() and checkpoint_NAME_params[], and its row here: name, needs,
 * purpose, source. */
#define CHECKPOINT_POLICIES(X)                                                           \
    X(daly, MEAN, "Close to the best interval, by a series",                             \
      CITES(IN_WORK(daly2006, "equation 37")))                                           \
    X(exact, MEAN, "The best interval under a constant failure rate",                    \
      FOLKLORE("The interval of least expected time per second of work under a "         \
               "constant failure rate, of which young and daly are approximations"))     \
    X(finite, TIME | CHECKPOINT_NEEDS_MEAN,                                              \
      "The best checkpoints of a job that ends, under a constant failure rate",          \
      OURS("Plans the checkpoints of the work that is left, which ends, and decides at " \
           "each request anew"))                                                         \
    X(last_failure, TIME | CHECKPOINT_NEEDS_AGE,                                         \
      "LastFailureCP: omit checkpoints while the resource seems stable",                 \
      FROM(CITES(IN_WORK(chtepen2010, "chapter 4.3.2"),                                  \
                 IN_WORK(chtepen2009, "section 3.2")),                                   \
           BUT("An upper quantile of the run time takes its place, if one is given")))   \
    X(mean_failure, TIME | CHECKPOINT_NEEDS_MEAN,                                        \
      "MeanFailureCP: move the interval by mean failure interval and remaining time",    \
      FROM(CITES(IN_WORK(chtepen2010, "chapter 4.3.3"),                                  \
                 IN_WORK(chtepen2009, "section 3.3")),                                   \
           BUT("An interval stops at its minimum, from which it can grow again",         \
               "With an unknown mean failure interval the time since the last failure "  \
               "takes its place")))                                                      \
    X(none, NOTHING, "Never checkpoint",                                                 \
      FOLKLORE("No checkpoints: what others are compared with"))                         \
    X(periodic, NOTHING, "PeriodicCP: always the initial interval",                      \
      CITES(IN_WORK(chtepen2010, "chapter 4.3"), IN_WORK(chtepen2009, "section 3")))     \
    X(weibull, MEAN | CHECKPOINT_NEEDS_WEIBULL,                                          \
      "Interval from the hazard in its middle, by the Weibull fits of the nodes",        \
      OURS("The interval of young with the failure rate in its middle, as the Weibull "  \
           "fits of the nodes give it"))                                                 \
    X(young, MEAN, "First-order estimate of the best interval",                          \
      CITES(IN_WORK(young1974, NULL)))

#define X(name, needs, purpose, source) \
    checkpoint_fn checkpoint_##name;    \
    extern const struct param checkpoint_##name##_params[];
CHECKPOINT_POLICIES(X)
#undef X

extern const struct policy checkpoint_policies[]; /* sorted by name, ended by {0} */

/* Everything unknown, C and R 0, a request. */
struct checkpoint_in checkpoint_in_unknown(void);

/* Runs the policy and adds the figures. */
enum error_code checkpoint_decide(const struct policy *policy,
                                  const struct checkpoint_in *in, const double *param,
                                  struct checkpoint_out *out, struct error *err);

/* Adds the figures of out->interval_s: what they mean if it stays so. */
void checkpoint_add_figures(const struct checkpoint_in *in, struct checkpoint_out *out);

/* Adds the expected time of a decision by laws (out->by_law), which was found by trials.
 */
void checkpoint_add_expected(double work_s, double expected_s,
                             struct checkpoint_out *out);

/* ---- options ---- */

/* Every policy takes the same options, so that a request can change its policy
 * and nothing else; the documentation of an option says who uses it. */
enum checkpoint_param {
    CHECKPOINT_MIN_INTERVAL,
    CHECKPOINT_MIN_FRACTION,
    CHECKPOINT_INITIAL_INTERVAL,
    CHECKPOINT_FIRST_AFTER,
    CHECKPOINT_STEP,
    CHECKPOINT_STEP_FRACTION,
    CHECKPOINT_ALPHA,
    CHECKPOINT_OMISSIONS_MAX,
    CHECKPOINT_MF_ESTIMATOR, /* enum mf_estimator; used by who fills the input */
    CHECKPOINT_SITE_WEIGHT,  /* likewise */
    CHECKPOINT_WEIBULL_SHAPE,
    CHECKPOINT_WEIBULL_SCALE,
    CHECKPOINT_PRIOR,        /* enum rate_prior_scope; used by who fills the input */
    CHECKPOINT_MEAN_FLOOR,   /* likewise */
    CHECKPOINT_BURST_WINDOW, /* likewise */
    CHECKPOINT_METHOD_OPTION,
    CHECKPOINT_BOUND_OPTION,
    CHECKPOINT_LAW_OPTION,     /* used by who fills the input */
    CHECKPOINT_FTI_LEVEL,      /* used by who writes settings of tools, likewise: */
    CHECKPOINT_SLURM_QUANTILE, /* NAN: no time limit */
    CHECKPOINT_PARAM_COUNT,
};

#define CHECKPOINT_INITIAL_PRESET_S 1800.0

#define CHECKPOINT_SECONDS_ROW(index, label, least, value, text) \
    [index] = {                                                  \
        .name = label,                                           \
        .min = least,                                            \
        .max = CHECKPOINT_LONGEST_S,                             \
        .preset = value,                                         \
        .doc = text,                                             \
    }

/* The table of a policy: {CHECKPOINT_ROWS(0), {0}}. min_fraction is the preset of
 * min_interval_fraction. */
#define CHECKPOINT_ROWS(min_fraction)                                                    \
    CHECKPOINT_SECONDS_ROW(CHECKPOINT_MIN_INTERVAL, "min_interval_s", 0, 0,              \
                           "Shortest interval, seconds; 0: by "                          \
                           "min_interval_fraction"),                                     \
        [CHECKPOINT_MIN_FRACTION] = {.name = "min_interval_fraction",                    \
                                     .min = 0,                                           \
                                     .max = 1,                                           \
                                     .preset = min_fraction,                             \
                                     .doc = "Shortest interval, share of the "           \
                                            "execution time; 0: only the least "         \
                                            "of all intervals, 0.001 s"},                \
        CHECKPOINT_SECONDS_ROW(                                                          \
            CHECKPOINT_INITIAL_INTERVAL, "initial_interval_s", CHECKPOINT_SHORTEST_S,    \
            CHECKPOINT_INITIAL_PRESET_S,                                                 \
            "periodic, last_failure: the interval; mean_failure: where it begins; "      \
            "others: used while nothing is known of failures; seconds"),                 \
        CHECKPOINT_SECONDS_ROW(CHECKPOINT_FIRST_AFTER, "first_checkpoint_after_s",       \
                               CHECKPOINT_SHORTEST_S, 60,                                \
                               "mean_failure: first request after the start, "           \
                               "seconds"),                                               \
        CHECKPOINT_SECONDS_ROW(CHECKPOINT_STEP, "interval_step_s",                       \
                               CHECKPOINT_SHORTEST_S, (double)NAN,                       \
                               "mean_failure: step, seconds; not set: "                  \
                               "interval_step_fraction"),                                \
        [CHECKPOINT_STEP_FRACTION] = {.name = "interval_step_fraction",                  \
                                      .min = 1e-6,                                       \
                                      .max = 1,                                          \
                                      .preset = (double)NAN,                             \
                                      .doc = "mean_failure: step, share of the "         \
                                             "execution time; not set: "                 \
                                             "initial_interval_s"},                      \
        [CHECKPOINT_ALPHA] = {.name = "alpha",                                           \
                              .min = 1e-6,                                               \
                              .max = 1,                                                  \
                              .preset = 1,                                               \
                              .doc = "mean_failure: the interval grows no more "         \
                                     "from this share of the execution time on"},        \
        [CHECKPOINT_OMISSIONS_MAX] = {.name = "max_consecutive_omissions",               \
                                      .min = 0,                                          \
                                      .max = 1e9,                                        \
                                      .preset = (double)NAN,                             \
                                      .doc = "last_failure: omissions in a row; "        \
                                             "not set: no limit",                        \
                                      .type = PARAM_INTEGER},                            \
        [CHECKPOINT_MF_ESTIMATOR] = {.name = "mf_estimator",                             \
                                     .max = MF_AUTO,                                     \
                                     .preset = MF_AUTO,                                  \
                                     .doc = "How the mean failure interval comes "       \
                                            "from the history; auto: bayes from a "      \
                                            "stored one unless site_weight is given, "   \
                                            "censored from one in the request or a "     \
                                            "simulation",                                \
                                     .type = PARAM_CHOICE,                               \
                                     .choices = mf_estimator_names},                     \
        [CHECKPOINT_SITE_WEIGHT] = {.name = "site_weight",                               \
                                    .min = 0,                                            \
                                    .max = 1e6,                                          \
                                    .doc = "Failures that the mean failure "             \
                                           "interval of the site stands for in "         \
                                           "that of a resource; 0: it has no "           \
                                           "part in it"},                                \
        [CHECKPOINT_WEIBULL_SHAPE] = {.name = "weibull_shape",                           \
                                      .min = 0.01,                                       \
                                      .max = 1000,                                       \
                                      .preset = (double)NAN,                             \
                                      .doc = "weibull: shape of the gaps between "       \
                                             "failures; not set, or scale not "          \
                                             "set: fitted"},                             \
        CHECKPOINT_SECONDS_ROW(CHECKPOINT_WEIBULL_SCALE, "weibull_scale_s",              \
                               CHECKPOINT_SHORTEST_S, (double)NAN,                       \
                               "weibull: its scale, seconds"),                           \
        [CHECKPOINT_PRIOR] = {.name = "prior",                                           \
                              .max = RATE_PRIOR_ALL,                                     \
                              .preset = RATE_PRIOR_SITE,                                 \
                              .doc = "bayes: other hosts that tell of a resource; "      \
                                     "site: those of its site, or all if they are "      \
                                     "too few",                                          \
                              .type = PARAM_CHOICE,                                      \
                              .choices = rate_prior_scopes},                             \
        CHECKPOINT_SECONDS_ROW(CHECKPOINT_MEAN_FLOOR, "mean_floor_s", 0,                 \
                               MEAN_FLOOR_PRESET_S,                                      \
                               "bayes: least mean failure interval of a resource "       \
                               "with fewer than 3 failures of which no other hosts "     \
                               "tell; seconds"),                                         \
        CHECKPOINT_SECONDS_ROW(CHECKPOINT_BURST_WINDOW, "burst_window_s", 0, 0,          \
                               "Stored failures so soon after one that counted are "     \
                               "part of it, seconds"),                                   \
        [CHECKPOINT_METHOD_OPTION] = {.name = "method",                                  \
                                      .max = CHECKPOINT_METHOD_DP,                       \
                                      .preset = CHECKPOINT_METHOD_AUTO,                  \
                                      .doc = "weibull: midpoint, a rule of thumb "       \
                                             "within half a percent; dp, the best for "  \
                                             "a job that ends on one node; auto: dp "    \
                                             "for at most 10 jobs of at most 100 "       \
                                             "intervals",                                \
                                      .type = PARAM_CHOICE,                              \
                                      .choices = checkpoint_methods},                    \
        [CHECKPOINT_BOUND_OPTION] = {.name = "bound",                                    \
                                     .max = CHECKPOINT_BOUNDS_DP,                        \
                                     .preset = CHECKPOINT_BOUNDS_AUTO,                   \
                                     .doc = "weibull: a time that no checkpoints beat, " \
                                            "by a dynamic programme of up to two "       \
                                            "seconds; auto: where method dp decides "    \
                                            "of at most 10 jobs",                        \
                                     .type = PARAM_CHOICE,                               \
                                     .choices = checkpoint_bounds},                      \
        [CHECKPOINT_LAW_OPTION] = {.name = "law",                                        \
                                   .max = CHECKPOINT_LAW_EXPONENTIAL,                    \
                                   .preset = CHECKPOINT_LAW_AUTO,                        \
                                   .doc = "How nodes with a stored history fail; "       \
                                          "auto: by their own Weibull fit, or by the "   \
                                          "shape of their site, where that is the "      \
                                          "best model; exponential: at a constant "      \
                                          "rate",                                        \
                                   .type = PARAM_CHOICE,                                 \
                                   .choices = checkpoint_laws},                          \
        [CHECKPOINT_FTI_LEVEL] = {.name = "fti_level",                                   \
                                  .min = 2,                                              \
                                  .max = 4,                                              \
                                  .preset = 4,                                           \
                                  .doc = "render fti: level of the checkpoints of a "    \
                                         "job without levels; 4, the file system, is "   \
                                         "the one that outlives every node",             \
                                  .type = PARAM_INTEGER},                                \
        [CHECKPOINT_SLURM_QUANTILE] = {                                                  \
            .name = "slurm_time_quantile",                                               \
            .min = 0.01,                                                                 \
            .max = 0.9999,                                                               \
            .preset = (double)NAN,                                                       \
            .doc = "render slurm: a time limit within which this share of the trials "   \
                   "of verify, which is played for it, ended; not set: none"}

/* Whether an option, of enum checkpoint_param, has a part in what the policy decides. */
bool checkpoint_reads_option(const struct policy *policy, size_t option);

/* ---- for the policies ---- */

/* Sets I_min from the options; call first. */
void checkpoint_set_minimum(const struct checkpoint_in *in, const double *param,
                            struct checkpoint_out *out);

/* Raises I_min above C, set or not. */
void checkpoint_raise_minimum(const struct checkpoint_in *in, struct checkpoint_out *out);

/* Sets interval_s, at least I_min, and the decision of a policy that honours every
 * request; at the start the first one is due after the interval. */
void checkpoint_set_interval(const struct checkpoint_in *in, double interval_s,
                             enum checkpoint_reason reason, struct checkpoint_out *out);

/* The same for an interval that follows from the failures: at least the floor. */
void checkpoint_set_floored(const struct checkpoint_in *in, const double *param,
                            double interval_s, struct checkpoint_out *out);

/* I: the job's own, else the option. */
double checkpoint_initial_s(const struct checkpoint_in *in, const double *param);

/* M, or the failure age while M is unknown or infinite; NAN: neither is known. */
double checkpoint_mean_s(const struct checkpoint_in *in);

/* The whole decision of a policy whose interval is a formula of C and M. */
typedef double checkpoint_formula_fn(double overhead_s, double mean_s);
void checkpoint_by_formula(const struct checkpoint_in *in, const double *param,
                           checkpoint_formula_fn *formula, struct checkpoint_out *out);

/* What no interval that follows from the failures is shorter than: I_min, C * 1.0001,
 * and a second, unless the option min_interval_s says less. After
 * checkpoint_set_minimum(). */
double checkpoint_floor_s(const struct checkpoint_in *in, const double *param,
                          const struct checkpoint_out *out);

/* The job as finite_plan.h has it; false: E or M is not known, 0 or infinite. */
bool checkpoint_finite_job(const struct checkpoint_in *in, double least_s,
                           struct finite_job *out);

/* What to do now, whatever interval is in force: at a start not to checkpoint at all
 * if that is best, at a request to omit a checkpoint that costs more than it saves.
 * After the interval has been set; does nothing while E, RE or M is unknown. */
void checkpoint_spare(const struct checkpoint_in *in, struct checkpoint_out *out);

/* A checkpoint that is asked for is cheaper not to take; the next request after next_s,
 * infinite: none. */
void checkpoint_omit(const struct checkpoint_in *in, double next_s,
                     struct checkpoint_out *out);

/* u: as it was said, else interval_cur_s, else that of the policy. */
double checkpoint_since_s(const struct checkpoint_in *in, double interval_s);

/* Whether there is an image, for all that is decided of a job: 1 or 0; NAN: E is not
 * known, or it depends on the interval of the policy and that is NAN. */
double checkpoint_image(const struct checkpoint_in *in, double interval_s);

/* The request of a job whose E, RE and M are known; *out is valid if true. */
bool checkpoint_question(const struct checkpoint_in *in, double interval_s,
                         double least_s, struct finite_request *out);

/* The interval of weibull t_s after now, 0 if C = 0; O(nodes) for each of some steps. */
double checkpoint_midpoint_s(const struct job_hazard *h, double overhead_s, double t_s);

/* The work to the next checkpoint with that interval and left_s to do: few segments of a
 * job that ends are equal. left_s: there is none. */
double checkpoint_midpoint_segment_s(double interval_s, double left_s, double overhead_s);

/* The I that makes the expected time least; 0 if C = 0, at most M. */
double checkpoint_best_interval_s(const struct checkpoint_in *in);

/* Expected time per second of work with the interval I > 0; may be infinite. */
double checkpoint_expected_time_ratio(const struct checkpoint_in *in, double interval_s);

#endif
