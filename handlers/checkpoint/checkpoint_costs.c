/* checkpoint_costs.c - what checkpoints of an application cost, learnt from the log.
 *
 * Source: fault-tolerance.md 12, refinement 2. Deviation: its job class is the
 * application. Means: what many checkpoints cost together is what they predict.
 */
#include "handlers/checkpoint/checkpoint_costs.h"

#include "handlers/common/decision.h"
#include "service/store_reliability.h"

/* Logs that one request reads: of each application the newest, as many as make
 * ROWS_MAX together, but at least PER_APPLICATION_MIN, at most PER_APPLICATION_MAX. */
enum { ROWS_MAX = 200000, PER_APPLICATION_MIN = 12, PER_APPLICATION_MAX = 1000 };

struct kept {
    const struct checkpoint_cost *applications;
    size_t application_count;
};

#define KEPT "checkpoint_costs"

#define T    struct checkpoint_cost
static const struct json_field kept_cost_rows[] = {
    JSON_TEXT(T, application_id, JSON_REQUIRED, "The application"),
    JSON_INTEGER(T, log_count, 0, JSON_EXACT, 0, 0, "Logs that were read"),
    JSON_NUMBER(T, overhead_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE, "Mean overhead"),
    JSON_NUMBER(T, stored_after_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE, "Mean latency"),
    JSON_NUMBER(T, restart_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE, "Mean restart"),
    {0},
};
#undef T
static const struct json_object kept_cost_json = {
    "KeptCheckpointCost", "What was known of checkpoints of an application",
    sizeof(struct checkpoint_cost), kept_cost_rows};

#define T struct kept
static const struct json_field kept_rows[] = {
    JSON_LIST(T, applications, application_count, struct checkpoint_cost, &kept_cost_json,
              0, 0, "The applications that were looked up"),
    {0},
};
#undef T
static const struct json_object kept_json = {
    "KeptCheckpointCosts", "The costs of a decision", sizeof(struct kept), kept_rows};

void checkpoint_costs_add(struct checkpoint_costs *costs, const char *application_id,
                          size_t expected, struct arena *a)
{
    if (!costs->list) {
        costs->list = NEW(a, struct checkpoint_cost, expected);
        name_index_create(&costs->index, expected, a);
    }
    if (name_index_add(&costs->index, application_id, costs->count) != NAME_NOT_FOUND)
        return;
    costs->list[costs->count++] =
        (struct checkpoint_cost){application_id, 0, NAN, NAN, NAN};
}

const struct checkpoint_cost *checkpoint_costs_find(const struct checkpoint_costs *costs,
                                                    const char *application_id)
{
    return &costs->list[name_index_find(&costs->index, application_id)];
}

static enum error_code query(struct request *rq, struct checkpoint_costs *costs)
{
    const struct store_checkpoint_cost *rows;
    struct text_buffer ids = {.arena = rq->arena};
    size_t count, limit = ROWS_MAX / costs->count;
    struct db_session *db;

    if (limit > PER_APPLICATION_MAX)
        limit = PER_APPLICATION_MAX;
    if (limit < PER_APPLICATION_MIN)
        limit = PER_APPLICATION_MIN;
    for (size_t i = 0; i < costs->count; i++) {
        text_add(&ids, i ? "," : "[", 1);
        json_print_text(costs->list[i].application_id, &ids);
    }
    text_add(&ids, "]", 2); /* with the NUL */
    TRY(request_db(rq, &db));
    TRY(store_checkpoint_costs(db, rq->principal.tenant, text_end(&ids), limit, &rows,
                               &count, rq->arena, rq->err));
    for (size_t i = 0; i < count; i++) {
        struct checkpoint_cost *cost = &costs->list[rows[i].application];

        cost->log_count = rows[i].log_count;
        cost->overhead_s = rows[i].overhead_s;
        cost->stored_after_s = rows[i].stored_after_s;
        cost->restart_s = rows[i].restart_s;
    }
    return OK;
}

enum error_code checkpoint_costs_read(struct request *rq, struct checkpoint_costs *costs)
{
    struct kept kept = {costs->list, costs->count};
    bool replayed;

    if (costs->count == 0)
        return OK;
    TRY(decision_lookup(rq, KEPT, &kept_json, &kept, &replayed));
    if (!replayed) {
        TRY(query(rq, costs));
        return decision_keep_lookup(rq, KEPT, &kept_json, &kept);
    }
    for (size_t i = 0; i < kept.application_count; i++) {
        size_t place =
            name_index_find(&costs->index, kept.applications[i].application_id);

        if (place != NAME_NOT_FOUND)
            costs->list[place] = kept.applications[i];
    }
    return OK;
}
