/* queue_spread_json.h - percentiles and tables of a queue simulation, as JSON. */
#ifndef GRIDPLAN_QUEUE_SPREAD_JSON_H
#define GRIDPLAN_QUEUE_SPREAD_JSON_H

#include "algorithms/queue/spread.h"
#include "service/json.h"

/* A row of a table: a user, or a class of widths. */
struct queue_group_row {
    const char *key;
    struct queue_group group;
};

/* What a policy's result says of it. */
struct queue_spread_answer {
    const struct queue_spread *percentiles; /* NULL: no job ran */
    const struct queue_group_row *by_user, *by_size;
    size_t by_user_count, by_size_count;
    uint64_t rest_count; /* users that are in the others */
};

extern const struct json_object queue_spread_json, queue_group_row_json;

/* Rows of a struct T with a member `spread` of that type. */
#define QUEUE_SPREAD_ROWS(T)                                                           \
    {.name = "percentiles",                                                            \
     .doc =                                                                            \
         "How they are spread; linear between two jobs' values; left out when no job " \
         "ran",                                                                        \
     .type = JSON_TYPE_OBJECT,                                                         \
     .offset = JSON_AT(T, spread.percentiles, const struct queue_spread *),            \
     .of = &queue_spread_json,                                                         \
     .flags = JSON_POINTER | JSON_OPTIONAL},                                           \
        {.name = "by_user",                                                            \
         .doc = "The same jobs by user, those with most core_s first",                 \
         .type = JSON_TYPE_LIST,                                                       \
         .offset = JSON_AT(T, spread.by_user, const struct queue_group_row *),         \
         .count_offset = JSON_AT(T, spread.by_user_count, size_t),                     \
         .of = &queue_group_row_json},                                                 \
    {                                                                                  \
        .name = "by_size", .doc = "The same jobs by processors, likewise",             \
        .type = JSON_TYPE_LIST,                                                        \
        .offset = JSON_AT(T, spread.by_size, const struct queue_group_row *),          \
        .count_offset = JSON_AT(T, spread.by_size_count, size_t),                      \
        .of = &queue_group_row_json                                                    \
    }

/* Reads it off the jobs of a replay. users: names of their keys; NULL: the keys are
 * numbers. `run` is for what is in the way afterwards. */
void queue_spread_read(const struct queue_outcome *outcomes, size_t count,
                       size_t rows_max, const char *const *users,
                       struct queue_spread_answer *out, struct arena *run,
                       struct arena *a);

/* The rows of one table (queue_tabulate()); *rest: groups that are in the others. Keys
 * are numbers, or indexes of `names` if it is not NULL. */
void queue_group_rows(const struct queue_outcome *outcomes, size_t count, int grouping,
                      size_t rows_max, const char *const *names,
                      const struct queue_group_row **rows, size_t *row_count,
                      uint64_t *rest, struct arena *run, struct arena *a);

#endif
