/* queue_spread_json.c - percentiles and tables of a queue simulation, as JSON. */
#include "handlers/claiming/queue_spread_json.h"

#define T struct queue_percentiles
static const struct json_field percentile_rows[] = {
#define X(name, percent) JSON_NUMBER(T, name, 0, 0, 0, 0, #percent "th percentile"),
    QUEUE_PERCENTILES(X)
#undef X
        {0},
};
#undef T
static const struct json_object percentiles_json = {
    "QueuePercentiles", "Percentiles over the jobs that ran",
    sizeof(struct queue_percentiles), percentile_rows};

#define T struct queue_spread
static const struct json_field spread_rows[] = {
    JSON_OBJECT(T, wait_s, struct queue_percentiles, &percentiles_json, 0,
                "Time from arrival to start"),
    JSON_OBJECT(T, response_s, struct queue_percentiles, &percentiles_json, 0,
                "Time from arrival to end"),
    JSON_OBJECT(T, bounded_slowdown, struct queue_percentiles, &percentiles_json, 0,
                "(wait + run) / max(run, bound_s), at least 1"),
    {0},
};
#undef T
const struct json_object queue_spread_json = {"QueueSpread",
                                              "How waits and slowdowns are spread",
                                              sizeof(struct queue_spread), spread_rows};

#define T struct queue_group_row
static const struct json_field group_rows[] = {
    JSON_TEXT(T, key, 0,
              "Number of the user, or 'unknown'; processors, as in 5-16; 'others': all "
              "that are beyond table_rows_max"),
    {.name = "job_count",
     .doc = "Jobs of the row that ran",
     .type = JSON_TYPE_INTEGER,
     .offset = JSON_AT(T, group.job_count, uint64_t),
     .max = JSON_EXACT},
#define X(figure, meaning)     \
    {.name = #figure,          \
     .doc = meaning,           \
     .type = JSON_TYPE_NUMBER, \
     .offset = JSON_AT(T, group.figure, double)},
    QUEUE_GROUP_FIGURES(X)
#undef X
        {0},
};
#undef T
const struct json_object queue_group_row_json = {
    "QueueGroup", "Jobs of a user, or of a size", sizeof(struct queue_group_row),
    group_rows};

static const char *key_of(const struct queue_group *g, int grouping,
                          const char *const *names, struct arena *a)
{
    if (g->is_others)
        return "others";
    if (grouping == QUEUE_BY_SIZE)
        return queue_size_names[(size_t)g->key];
    if (isnan(g->key))
        return "unknown";
    return names ? names[(size_t)g->key] : arena_printf(a, "%.15g", g->key);
}

void queue_group_rows(const struct queue_outcome *outcomes, size_t count, int grouping,
                      size_t rows_max, const char *const *names,
                      const struct queue_group_row **rows, size_t *row_count,
                      uint64_t *rest, struct arena *run, struct arena *a)
{
    struct queue_table table;
    struct queue_group_row *list;

    queue_tabulate(outcomes, count, grouping, rows_max, &table, run);
    list = NEW(a, struct queue_group_row, table.count);
    for (size_t i = 0; i < table.count; i++)
        list[i] = (struct queue_group_row){key_of(&table.groups[i], grouping, names, a),
                                           table.groups[i]};
    *rows = list;
    *row_count = table.count;
    *rest = table.rest_count;
}

void queue_spread_read(const struct queue_outcome *outcomes, size_t count,
                       size_t rows_max, const char *const *users,
                       struct queue_spread_answer *out, struct arena *run,
                       struct arena *a)
{
    struct queue_spread *spread = NEW(a, struct queue_spread, 1);
    uint64_t sizes;

    out->percentiles = queue_spread(outcomes, count, spread, run) ? spread : NULL;
    queue_group_rows(outcomes, count, QUEUE_BY_SIZE, rows_max, NULL, &out->by_size,
                     &out->by_size_count, &sizes, run, a);
    queue_group_rows(outcomes, count, QUEUE_KEY_USER, rows_max, users, &out->by_user,
                     &out->by_user_count, &out->rest_count, run, a);
}
