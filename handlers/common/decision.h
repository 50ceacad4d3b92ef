/* decision.h - the envelope that all decisions share.
 *
 * A decision's request struct has `struct decision_request decision` and its
 * table DECISION_REQUEST_ROWS; its response struct has `struct decision_answer
 * decision` and its table DECISION_ANSWER_ROWS first and DECISION_END_ROWS last.
 */
#ifndef GRIDPLAN_DECISION_H
#define GRIDPLAN_DECISION_H

#include "models/base/policy.h"
#include "models/decision_status.h"
#include "models/snapshot.h"
#include "service/route.h"

struct decision_request {
    const char *algorithm;
    const struct named_value *options;
    size_t option_count;
    uint64_t seed;
    double time_limit_s; /* NAN: not given */
    bool store;
    const char *labels; /* JSON, passed through */
};

struct decision_timings {
    double time_limit_s; /* in force */
    bool cut;            /* it was reached */
    double parse_s, decide_s;
};

struct decision_answer {
    const char *decision_id;
    const char *algorithm;
    uint64_t seed;
    enum decision_status status;
    const char *labels;
    const char *const *warnings;
    size_t warning_count;
    struct decision_timings timings;
};

extern const struct json_object decision_timings_json;

#define DECISION_REQUEST_ROWS(T)                                                         \
    {.name = "algorithm",                                                                \
     .doc = "Name of a policy; default and 'auto': the service chooses",                 \
     .type = JSON_TYPE_TEXT,                                                             \
     .offset = JSON_AT(T, decision.algorithm, const char *),                             \
     .max = 64},                                                                         \
        {.name = "options",                                                              \
         .doc = "Options of the algorithm, as GET /v1/algorithms lists them",            \
         .type = JSON_TYPE_VALUES,                                                       \
         .offset = JSON_AT(T, decision.options, const struct named_value *),             \
         .count_offset = JSON_AT(T, decision.option_count, size_t),                      \
         .max = 64},                                                                     \
        {.name = "seed",                                                                 \
         .doc = "Same request and seed, same answer; default 1",                         \
         .type = JSON_TYPE_INTEGER,                                                      \
         .offset = JSON_AT(T, decision.seed, uint64_t),                                  \
         .min = 0,                                                                       \
         .max = JSON_EXACT,                                                              \
         .preset = 1},                                                                   \
        {.name = "time_limit_s",                                                         \
         .doc =                                                                          \
             "Seconds that the decision may take, once the request has been read; what " \
             "was found by then is the answer; at most time_limit_max_s of the "         \
             "service, 600 unless set otherwise",                                        \
         .type = JSON_TYPE_NUMBER,                                                       \
         .offset = JSON_AT(T, decision.time_limit_s, double),                            \
         .min = 0,                                                                       \
         .max = JSON_LARGEST,                                                            \
         .preset = NAN,                                                                  \
         .flags = JSON_NULLABLE | JSON_ABOVE_MIN | JSON_TIME_LIMIT},                     \
        {.name = "store",                                                                \
         .doc = "Keep request and answer, to be read and replayed later",                \
         .type = JSON_TYPE_BOOLEAN,                                                      \
         .offset = JSON_AT(T, decision.store, bool)},                                    \
    {                                                                                    \
        .name = "labels", .doc = "Any JSON; comes back with the answer",                 \
        .type = JSON_TYPE_RAW, .offset = JSON_AT(T, decision.labels, const char *)       \
    }

/* Who decided, behind the T of DECISION_ANSWER_ROWS: one of these words, of the words of
 * a table, of the policies of a list (policy_words.h). */
#define DECISION_BY(...)       .choices = JSON_NAMES(__VA_ARGS__), .flags = JSON_OPEN
#define DECISION_BY_ONE(names) .choices = (names), .flags = JSON_OPEN
#define DECISION_BY_OF(list)   .words = &(list)

#define DECISION_ANSWER_ROWS(T, ...)                                                    \
    {.name = "decision_id",                                                             \
     .doc = "UUID of this decision",                                                    \
     .type = JSON_TYPE_TEXT,                                                            \
     .offset = JSON_AT(T, decision.decision_id, const char *)},                         \
        {.name = "algorithm",                                                           \
         .doc = "Policy that decided",                                                  \
         .type = JSON_TYPE_TEXT,                                                        \
         .offset = JSON_AT(T, decision.algorithm, const char *),                        \
         __VA_ARGS__},                                                                  \
        {.name = "seed",                                                                \
         .doc = "Seed that reproduces the answer",                                      \
         .type = JSON_TYPE_INTEGER,                                                     \
         .offset = JSON_AT(T, decision.seed, uint64_t),                                 \
         .max = JSON_EXACT},                                                            \
    {                                                                                   \
        .name = "status",                                                               \
        .doc = "optimal: proven; feasible; infeasible: nothing could be done, see the " \
               "reasons; "                                                              \
               "cut: the time limit ended the search",                                  \
        .type = JSON_TYPE_CHOICE,                                                       \
        .offset = JSON_AT(T, decision.status, enum decision_status),                    \
        .choices = decision_status_names                                                \
    }

/* All that follows but the timings. */
#define DECISION_NOTE_ROWS(T)                                                        \
    {.name = "warnings",                                                             \
     .doc = "What the caller should know about this answer",                         \
     .type = JSON_TYPE_TEXTS,                                                        \
     .offset = JSON_AT(T, decision.warnings, const char *const *),                   \
     .count_offset = JSON_AT(T, decision.warning_count, size_t)},                    \
    {                                                                                \
        .name = "labels", .doc = "The labels of the request", .type = JSON_TYPE_RAW, \
        .offset = JSON_AT(T, decision.labels, const char *), .flags = JSON_OPTIONAL  \
    }

#define DECISION_END_ROWS(T)                                                       \
    DECISION_NOTE_ROWS(T),                                                         \
    {                                                                              \
        .name = "timings", .doc = "Where the time went", .type = JSON_TYPE_OBJECT, \
        .offset = JSON_AT(T, decision.timings, struct decision_timings),           \
        .of = &decision_timings_json                                               \
    }

/* Starts a decision: id, time limit (an algorithm may override the steps by its
 * own options), store flag. Call first. `decide_started_s` of the timings is
 * taken here. */
enum error_code decision_begin(struct request *rq, const struct decision_request *in,
                               struct decision_answer *out);

/* Ends a decision: algorithm, status and timings. Call last. */
void decision_end(struct request *rq, const char *algorithm, enum decision_status status,
                  struct decision_answer *out);

/* Adds a warning: "code: text", with the JSON pointer of the first member that it is
 * about, and how many there are. Once for each code. */
enum error_code decision_warn(struct request *rq, struct decision_answer *out,
                              const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A warning for the end of the answer, before there is one. */
void decision_note(struct request *rq, const char *text);

/* The independent checker refused a plan, which was replaced: counts it, and logs it with
 * the request's id. */
void decision_check_failed(const struct request *rq);

/* The snapshot of a decision: the inline one, or the stored one that is named.
 * Exactly one may be given; with `required` one must. */
enum error_code decision_snapshot(struct request *rq, const struct snapshot *given,
                                  const char *snapshot_id, bool required,
                                  const struct snapshot **snapshot);

/* The same for queues, which look at its `cluster` first: without leases. *snapshot NULL:
 * none is given. */
enum error_code decision_queue_snapshot(struct request *rq, const struct snapshot *given,
                                        const char *snapshot_id,
                                        const struct snapshot **snapshot);

/* Says in the answer, at its end, which members about amounts are not looked at.
 * O(resources). */
void decision_ignore_amounts(struct request *rq, const struct snapshot *s);

/* The same for decisions about amounts: the other one says in the answer that what runs,
 * is reserved, is leased, or is neither a slot nor cpus and memory, is not looked at. A
 * stored snapshot comes as it is now, with its leases; rq->snapshot_view has the state
 * that it was read in. */
enum error_code decision_world_snapshot(struct request *rq, const struct snapshot *given,
                                        const char *snapshot_id, bool required,
                                        const struct snapshot **snapshot);

/* What a decision looks up (stored rows, the clock) is kept with it if it is stored,
 * and a replay takes it from there: then the answer is the same. `name` tells one
 * lookup from another, `table` describes the struct `out` or `in`.
 *
 * *found: this is a replay, and *out is what the decision had looked up. */
enum error_code decision_lookup(struct request *rq, const char *name,
                                const struct json_object *table, void *out, bool *found);

/* Keeps *in if the decision will be stored. Once for each name. */
enum error_code decision_keep_lookup(struct request *rq, const char *name,
                                     const struct json_object *table, const void *in);

/* Notes the mistake that there is no such policy in the table, with the nearest name. */
enum error_code decision_unknown_policy(const char *name, const struct policy *policies,
                                        struct error *err);

/* Likewise, of the tables (ended by NULL); `pointer` is where the name stands, and `what`
 * it should have been: "queue policy". */
void decision_no_policy(const char *pointer, const char *name, const char *what,
                        const struct policy *const *tables, struct error *err);

/* Likewise, with `count` names. */
enum error_code decision_unknown_algorithm(const char *name, const char *const *names,
                                           size_t count, struct error *err);

#endif
