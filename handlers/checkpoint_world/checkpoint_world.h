/* checkpoint_world.h - what else a job of POST /v1/checkpoint-intervals may say of its
 * world: levels of checkpoints, failures that are foreseen, machines that are taken back,
 * silent errors, power and price, a file system that jobs share.
 *
 * The members stand beside those of checkpoint_decision.h: a struct for each of its
 * structs, and the rows of its tables. checkpoint_world.c has the tables, finds mistakes
 * and says what is decided when; checkpoint_levels.c, checkpoint_foresight.c (alarms,
 * notices), checkpoint_silent.c, checkpoint_power.c (energy, cost, frontier, offers) and
 * checkpoint_shared_io.c decide.
 */
#ifndef GRIDPLAN_CHECKPOINT_WORLD_H
#define GRIDPLAN_CHECKPOINT_WORLD_H

#include "algorithms/checkpoint/energy.h"
#include "algorithms/checkpoint/interruptions.h"
#include "algorithms/checkpoint/levels.h"
#include "algorithms/checkpoint/trials.h"
#include "handlers/common/snapshot_json.h"
#include "service/json.h"

struct checkpoint_work;
struct checkpoint_job;
struct checkpoint_in;
struct checkpoint_interval;
struct checkpoint_rendered;

/* ---- the body ---- */

struct checkpoint_level {
    double level; /* 1.., ascending */
    double checkpoint_overhead_s, restart_s;
    double survives_ratio; /* NAN: not said */
};

struct checkpoint_predictor {
    double recall_ratio, precision_ratio, lead_s;
    double proactive_overhead_s; /* NAN: as the overhead */
};

struct checkpoint_silent {
    double mean_interval_s, verification_s;
};

struct checkpoint_shared_io {
    double bandwidth_mbps, use_max_ratio;
};

/* Of a job; NULL, NAN: not said. */
struct checkpoint_job_world {
    const struct checkpoint_level *levels;
    size_t level_count;
    const struct checkpoint_predictor *predictor;
    const struct interruption_notice *notice;
    const struct checkpoint_silent *silent;
    const struct power *power;
    double price_per_s;
    const char *currency;
    bool pay_while_waiting;
    /* not read: */
    const struct checkpoint_survival *survival; /* of levels that stored failures told */
    bool has_unused_notice;                     /* of its resources */
    bool is_beyond_levels; /* some of these ask for a level above the last */
};

/* Of a request. */
struct checkpoint_request_world {
    const char *const *objective;
    size_t objective_count;
    bool frontier;
    const struct checkpoint_shared_io *shared_io;
};

/* ---- the answer ---- */

struct checkpoint_pattern_level {
    double level, every, interval_s;
};

struct checkpoint_pattern {
    const struct checkpoint_pattern_level *levels;
    size_t level_count;
    double segment_s, segment_count, overhead_ratio;
    double first_order_ratio; /* NAN: its intervals do not ascend */
    const double *dropped_levels;
    size_t dropped_count;
    const struct checkpoint_survival *survival; /* NULL: the request said */
};

/* What stored failures say of the levels of a job. */
struct checkpoint_survival {
    const char *scope;
    double failure_count;
    const double *ratios;
    size_t ratio_count;
};

struct checkpoint_drawn {
    double ci95_s, checkpoint_count;
    uint64_t trial_count;
    bool cut;
};

struct checkpoint_parts {
    double work_s, checkpoint_s, recovery_s, waiting_s, failure_count;
};

struct checkpoint_point {
    double segment_count, expected_time_s;
    double energy_j, expected_cost; /* NAN: no power, no price */
};

struct checkpoint_offer {
    const char *resource_id; /* NULL: that of the job */
    double expected_time_s, expected_cost, interval_s;
    bool is_spot;
};

/* Of a job; NULL, NAN: none. */
struct checkpoint_interval_world {
    double planned_mean_interval_s, alarm_threshold_s;
    const struct checkpoint_pattern *pattern;
    const struct checkpoint_drawn *drawn;
    double energy_j, expected_cost;
    const char *currency;
    const struct checkpoint_parts *parts;
    const struct checkpoint_point *frontier;
    size_t frontier_count;
    const struct checkpoint_offer *offers;
    size_t offer_count;
    double period_s, offset_s, overlap_s;
    /* not printed */
    double failure_mean_s; /* of the failures of all its nodes */
    double nodes;
    double busy_s;                  /* of the expected time on the machines */
    const struct checkpoint_in *in; /* with shared_io: what was decided on */
    struct levels_pattern found;    /* level_count 0: none */
    double overheads_s[LEVELS_MAX]; /* of its levels */
};

struct checkpoint_answer_world {
    double load_ratio, unconstrained_load_ratio; /* NAN: no shared_io */
};

/* Notes mistakes of a list of levels at `pointer`; is_learnt: the shares that survive
 * need not be said. */
void checkpoint_check_levels(const struct checkpoint_level *levels, size_t count,
                             bool is_learnt, const char *pointer, struct error *err);

/* ---- rows of the tables of checkpoint_decision.h ---- */

extern const struct json_object checkpoint_level_json, checkpoint_predictor_json,
    checkpoint_silent_json, checkpoint_power_json, checkpoint_shared_io_json,
    checkpoint_pattern_json, checkpoint_drawn_json, checkpoint_survival_json,
    checkpoint_parts_json, checkpoint_point_json, checkpoint_offer_json;

/* A row whose member lies in `world`. */
#define CHECKPOINT_WORLD_ROW(T, m, ctype, kind, ...)                                \
    {                                                                               \
        .name = #m, .type = kind, .offset = JSON_AT(T, world.m, ctype), __VA_ARGS__ \
    }
#define CHECKPOINT_WORLD_OBJECT(T, m, ctype, table, flag, text)                     \
    CHECKPOINT_WORLD_ROW(T, m, const struct ctype *, JSON_TYPE_OBJECT, .of = table, \
                         .flags = JSON_POINTER | (flag), .doc = text)
#define CHECKPOINT_WORLD_NUMBER(T, m, text)                                      \
    CHECKPOINT_WORLD_ROW(T, m, double, JSON_TYPE_NUMBER, .flags = JSON_OPTIONAL, \
                         .doc = text)
#define CHECKPOINT_WORLD_LIST(T, m, counter, ctype, table, most, flag, text)             \
    CHECKPOINT_WORLD_ROW(T, m, const struct ctype *, JSON_TYPE_LIST,                     \
                         .count_offset = JSON_AT(T, world.counter, size_t), .of = table, \
                         .max = most, .flags = flag, .doc = text)

#define CHECKPOINT_JOB_WORLD_ROWS(T)                                                     \
    CHECKPOINT_WORLD_LIST(T, levels, level_count, checkpoint_level,                      \
                          &checkpoint_level_json, LEVELS_MAX, 0,                         \
                          "Levels at which it can be checkpointed, the cheapest first; " \
                          "they take the place of checkpoint_overhead_s and restart_s"), \
        CHECKPOINT_WORLD_OBJECT(T, predictor, checkpoint_predictor,                      \
                                &checkpoint_predictor_json, JSON_NULLABLE,               \
                                "What foresees failures of its nodes; not with notice"), \
        CHECKPOINT_WORLD_OBJECT(T, notice, interruption_notice,                          \
                                &interruption_notice_json, JSON_NULLABLE,                \
                                "How often a node of it is taken back, and how long "    \
                                "before it is told: spot machines, preemption; "         \
                                "default: as its resources of the snapshot say"),        \
        CHECKPOINT_WORLD_OBJECT(T, silent, checkpoint_silent, &checkpoint_silent_json,   \
                                JSON_NULLABLE,                                           \
                                "Wrong results that only a verification finds; not "     \
                                "with levels, predictor or notice"),                     \
        CHECKPOINT_WORLD_OBJECT(T, power, power, &checkpoint_power_json, JSON_NULLABLE,  \
                                "Power of one of its nodes: asks for the energy"),       \
        CHECKPOINT_WORLD_ROW(T, price_per_s, double, JSON_TYPE_NUMBER, .max = 1e15,      \
                             .preset = NAN, .flags = JSON_NULLABLE,                      \
                             .doc = "Price of one of its nodes for a second: asks for "  \
                                    "the cost; default: that of its resources of the "   \
                                    "snapshot"),                                         \
        CHECKPOINT_WORLD_ROW(T, currency, const char *, JSON_TYPE_TEXT, .min = 1,        \
                             .max = 16, .flags = JSON_NULLABLE,                          \
                             .doc = "What prices are in; comes back with the cost"),     \
        CHECKPOINT_WORLD_ROW(T, pay_while_waiting, bool, JSON_TYPE_BOOLEAN,              \
                             .doc = "The price is due while it waits for a node after "  \
                                    "a failure, too; default false")

#define CHECKPOINT_REQUEST_WORLD_ROWS(T)                                                 \
    CHECKPOINT_WORLD_ROW(                                                                \
        T, objective, const char *const *, JSON_TYPE_TEXTS,                              \
        .count_offset = JSON_AT(T, world.objective_count, size_t), .max = 4,             \
        .doc = "What plans of algorithm finite for jobs that start are to have least "   \
               "of, the first counts: expected_time_s, cost, energy_j; default "         \
               "expected_time_s"),                                                       \
        CHECKPOINT_WORLD_ROW(T, frontier, bool, JSON_TYPE_BOOLEAN,                       \
                             .doc = "List the plans of each job than which none is "     \
                                    "both faster and needs less energy; default false"), \
        CHECKPOINT_WORLD_OBJECT(T, shared_io, checkpoint_shared_io,                      \
                                &checkpoint_shared_io_json, JSON_NULLABLE,               \
                                "A file system that the jobs of the request share for "  \
                                "their checkpoints: asks for periods and offsets")

#define CHECKPOINT_INTERVAL_WORLD_ROWS(T)                                                \
    CHECKPOINT_WORLD_NUMBER(T, planned_mean_interval_s,                                  \
                            "Mean time between what is planned against, where that is "  \
                            "not all failures and only these: unforeseen failures, "     \
                            "interruptions told too late"),                              \
        CHECKPOINT_WORLD_NUMBER(T, alarm_threshold_s,                                    \
                                "On an alarm a checkpoint is worth its time from so "    \
                                "much work since the last one on; with predictor"),      \
        CHECKPOINT_WORLD_OBJECT(T, drawn, checkpoint_drawn, &checkpoint_drawn_json,      \
                                JSON_OPTIONAL,                                           \
                                "The trials that expected_completion_s is the mean of; " \
                                "with predictor"),                                       \
        CHECKPOINT_WORLD_OBJECT(T, pattern, checkpoint_pattern,                          \
                                &checkpoint_pattern_json, JSON_OPTIONAL,                 \
                                "Which level when; with levels"),                        \
        CHECKPOINT_WORLD_NUMBER(T, energy_j,                                             \
                                "Expected energy of all its nodes, J; with power"),      \
        CHECKPOINT_WORLD_OBJECT(T, parts, checkpoint_parts, &checkpoint_parts_json,      \
                                JSON_OPTIONAL,                                           \
                                "What expected_completion_s is spent on; with power"),   \
        CHECKPOINT_WORLD_NUMBER(T, expected_cost,                                        \
                                "price_per_s of all its nodes for the time on them"),    \
        CHECKPOINT_WORLD_ROW(T, currency, const char *, JSON_TYPE_TEXT,                  \
                             .flags = JSON_OPTIONAL, .doc = "Of the cost"),              \
        CHECKPOINT_WORLD_LIST(T, frontier, frontier_count, checkpoint_point,             \
                              &checkpoint_point_json, 0, JSON_OPTIONAL,                  \
                              "Plans by rising time, at most 64, with frontier"),        \
        CHECKPOINT_WORLD_LIST(T, offers, offer_count, checkpoint_offer,                  \
                              &checkpoint_offer_json, 0, JSON_OPTIONAL,                  \
                              "What it takes and costs, as it is told and on other "     \
                              "resources of the snapshot with a price; with "            \
                              "price_per_s or notice"),                                  \
        CHECKPOINT_WORLD_NUMBER(T, period_s,                                             \
                                "Its place on the file system comes once in so much "    \
                                "time; with shared_io, likewise the next"),              \
        CHECKPOINT_WORLD_NUMBER(T, offset_s, "The first is so long after the start"),    \
        CHECKPOINT_WORLD_NUMBER(T, overlap_s,                                            \
                                "Time within the longest period at which others write "  \
                                "as well as it, each of them counted")

#define CHECKPOINT_ANSWER_WORLD_ROWS(T)                                              \
    CHECKPOINT_WORLD_NUMBER(T, load_ratio,                                           \
                            "Share of the time that the file system is written to; " \
                            "with shared_io"),                                       \
        CHECKPOINT_WORLD_NUMBER(T, unconstrained_load_ratio,                         \
                                "The same if each job took its own best interval")

/* Rows of CHECKPOINT_JOB_WARNINGS. */
#define CHECKPOINT_WORLD_WARNINGS(X)                                                    \
    X(LEAD, "predictor_unused",                                                         \
      "{is|are} told of a failure too late for a checkpoint: {its|their} predictor is " \
      "not used")                                                                       \
    X(NOTICE, "notice_too_short",                                                       \
      "{is|are} told of an interruption too late for a checkpoint: interruptions "      \
      "count as failures")                                                              \
    X(NOTICE_UNUSED, "notice_unused",                                                   \
      "{runs|run} on resources with a notice, which has no part in a decision with "    \
      "levels, predictor, silent errors or the laws of nodes: interruptions are left "  \
      "out")                                                                            \
    X(NO_MEAN, "mean_unknown",                                                          \
      "{runs|run} where nothing is known of failures: without a mean failure interval " \
      "{it gets|they get} no pattern, place on the file system, drawn time, energy, "   \
      "cost or offers")                                                                 \
    X(CUT_WORLD, "search_cut", "had a search or trials that the time limit ended")      \
    X(OBJECTIVE, "objective_unused",                                                    \
      "{is|are} not planned by the objective: it is for jobs that start, under "        \
      "algorithm finite, with a known end")                                             \
    X(FRONTIER_CUT, "frontier_thinned",                                                 \
      "{has|have} more plans on {its|their} frontier than are listed: 64, evenly "      \
      "spread")                                                                         \
    X(OFFERS, "offers_left_out",                                                        \
      "{gets|get} no offer of resources with a price of whose failures nothing is "     \
      "known, on which {it|they} would not end, or that are not among the first 1000 "  \
      "of the snapshot")                                                                \
    X(FEW_LEVELS, "few_levels",                                                         \
      "{has|have} survives_ratio of {its|their} levels by fewer than 20 stored "        \
      "failures")                                                                       \
    X(BEYOND_LEVELS, "levels_exceeded",                                                 \
      "{has|have} stored failures that ask for a level above {its|their} last, which "  \
      "counts as surviving them")                                                       \
    X(CAPPED, "period_capped",                                                          \
      "{has|have} periods that differ too much: at most 1024 times the shortest")

/* ---- what the files of checkpoint_decision.h call ---- */

/* Mistakes of job i, and of the request. */
void checkpoint_world_check(struct checkpoint_work *w, size_t i);
void checkpoint_world_check_request(struct checkpoint_work *w);

/* Whether stored failures are to say which levels survive them: no level of several
 * has a ratio. */
bool checkpoint_learns_survival(const struct checkpoint_job *job);

/* Fills w->body with what they say. */
enum error_code checkpoint_learn_survival(struct checkpoint_work *w);
void checkpoint_note_survival(struct checkpoint_work *w,
                              const struct checkpoint_job *job);

/* Fills w->body with what resources of the snapshot say of price and notice, where jobs
 * on them say nothing. */
void checkpoint_world_inherit(struct checkpoint_work *w);

/* Wants the histories of what offers are made of. */
void checkpoint_world_want(struct checkpoint_work *w);

/* Whether its costs are those of its levels, or of bytes on a shared file system. */
bool checkpoint_world_has_costs(const struct checkpoint_work *w,
                                const struct checkpoint_job *job);

/* Whether it takes long: not on a thread that others wait for. */
bool checkpoint_world_takes_long(const struct checkpoint_work *w);

/* Whether jobs have their figures by something that the laws of nodes do not know. */
bool checkpoint_world_is_exponential(const struct checkpoint_work *w);

/* Alarms and notices for trials; false: there are none. */
struct checkpoint_foretold {
    struct trial_foresight foresight;
    struct failure_law law;
    struct trial_even plan;
};
bool checkpoint_world_foretell(const struct checkpoint_job *job,
                               const struct checkpoint_in *in,
                               const struct checkpoint_interval *out,
                               struct checkpoint_foretold *told,
                               struct trials_in *trials);

/* A pattern for trials; false: there is none. */
bool checkpoint_world_play(struct checkpoint_work *w, const struct checkpoint_job *job,
                           const struct checkpoint_interval *out,
                           struct trials_in *trials);

/* What a checkpoint costs, before anything else is known. */
void checkpoint_world_use_costs(const struct checkpoint_work *w,
                                const struct checkpoint_job *job,
                                struct checkpoint_in *in);

/* What is planned against, after the failures are known, and what is decided of it. */
void checkpoint_world_begin(struct checkpoint_work *w, const struct checkpoint_job *job,
                            struct checkpoint_in *in, struct checkpoint_interval *out);
void checkpoint_world_end(struct checkpoint_work *w, const struct checkpoint_job *job,
                          const struct checkpoint_in *in,
                          struct checkpoint_interval *out);

/* Settings of tools for a pattern, in place of those of one interval. */
void checkpoint_world_render(struct checkpoint_work *w, const struct checkpoint_job *job,
                             struct checkpoint_interval *out);

/* After all jobs: periods and offsets of shared_io. */
void checkpoint_world_share(struct checkpoint_work *w,
                            struct checkpoint_interval *intervals,
                            struct checkpoint_answer_world *out);

/* ---- parts of that ---- */

bool checkpoint_has_interruptions(const struct checkpoint_job *job);
struct interruptions checkpoint_interruptions(const struct interruption_notice *notice,
                                              double nodes, double overhead_s);

void checkpoint_add_pattern(struct checkpoint_work *w, const struct checkpoint_job *job,
                            const struct checkpoint_in *in,
                            struct checkpoint_interval *out);
void checkpoint_foresee(struct checkpoint_work *w, const struct checkpoint_job *job,
                        struct checkpoint_in *in, struct checkpoint_interval *out);
void checkpoint_add_foresight(struct checkpoint_work *w, const struct checkpoint_job *job,
                              const struct checkpoint_in *in,
                              struct checkpoint_interval *out);
void checkpoint_add_silent(struct checkpoint_work *w, const struct checkpoint_job *job,
                           const struct checkpoint_in *in,
                           struct checkpoint_interval *out);
void checkpoint_use_objective(struct checkpoint_work *w, const struct checkpoint_job *job,
                              const struct checkpoint_in *in,
                              struct checkpoint_interval *out);
void checkpoint_add_power(struct checkpoint_work *w, const struct checkpoint_job *job,
                          const struct checkpoint_in *in,
                          struct checkpoint_interval *out);

/* Another interval than the policy's, and what it means; figures that it has no part in
 * are unknown. */
void checkpoint_put_interval(const struct checkpoint_in *in, double interval_s,
                             double expected_s, struct checkpoint_interval *out);

#endif
