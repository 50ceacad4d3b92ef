/* coallocation_history.c - the history table of close_to_files, kept between requests.
 *
 * Deviation: pairs that the request gives join the stored ones, and are stored with them.
 * So the table gets its first pairs: by the rule of the source an empty one stays empty.
 */
#include "handlers/sites/coallocation_history.h"

#include "handlers/coallocation/coallocation_json.h"
#include "service/store_coallocation.h"

#define KEPT "history_pairs"

const char *const co_history_table_names[] = {"request", "persisted", NULL};
_Static_assert(sizeof(enum co_history_table) == sizeof(int), "a choice is an int");

struct kept {
    const struct co_named_pair *pairs;
    size_t pair_count;
};

#define T struct kept
static const struct json_field kept_rows[] = {
    JSON_LIST(T, pairs, pair_count, struct co_named_pair, &co_named_pair_json, 0,
              JSON_REQUIRED, "Stored pairs of the sites"),
    {0},
};
#undef T
static const struct json_object kept_json = {"KeptHistoryPairs",
                                             "The history table of a decision",
                                             sizeof(struct kept), kept_rows};

static enum error_code query(struct request *rq, const struct co_grid *grid,
                             struct kept *kept)
{
    struct text_buffer ids = {.arena = rq->arena};
    const struct store_pair *rows;
    struct co_named_pair *list;
    struct db_session *db;
    size_t count;

    for (size_t s = 0; s < grid->site_count; s++) {
        text_add(&ids, s ? "," : "[", 1);
        json_print_text(grid->sites[s].id, &ids);
    }
    text_add(&ids, grid->site_count ? "]" : "[]", grid->site_count ? 2 : 3);
    TRY(request_db(rq, &db));
    TRY(store_history_pairs_find(db, rq->principal.tenant, text_end(&ids), &rows, &count,
                                 rq->arena, rq->err));
    list = NEW(rq->arena, struct co_named_pair, count);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct co_named_pair){grid->sites[rows[i].execution].id,
                                         grid->sites[rows[i].file].id};
    *kept = (struct kept){list, count};
    return OK;
}

enum error_code co_history_load(struct request *rq, const struct co_grid *grid,
                                struct co_history *history)
{
    struct kept kept = {0};
    bool replayed;

    TRY(decision_lookup(rq, KEPT, &kept_json, &kept, &replayed));
    if (!replayed) {
        TRY(query(rq, grid, &kept));
        TRY(decision_keep_lookup(rq, KEPT, &kept_json, &kept));
    }
    if (!history->known)
        history->known = NEW(rq->arena, char, grid->site_count * grid->site_count);
    for (size_t i = 0; i < kept.pair_count; i++) {
        size_t execution = co_site_find(grid, kept.pairs[i].execution_site_id);
        size_t file = co_site_find(grid, kept.pairs[i].file_site_id);

        if (execution != CO_NONE && file != CO_NONE)
            history->known[execution * grid->site_count + file] = 1;
    }
    return OK;
}

void co_history_count(const struct co_pair *added, size_t count, size_t site_count,
                      uint64_t *uses)
{
    for (size_t i = 0; i < count; i++)
        uses[added[i].execution_site * site_count + added[i].file_site]++;
}

/* What is added to the table. */
struct added_uses {
    struct store_pair_uses *list;
    size_t count;
};

/* publish_fn */
static enum error_code write_uses(struct request *rq, struct db_session *db,
                                  void *context)
{
    const struct added_uses *added = context;

    return store_history_pairs(db, rq->principal.tenant, added->list, added->count,
                               rq->arena, rq->err);
}

enum error_code co_history_save(struct request *rq, const struct co_grid *grid,
                                const uint64_t *uses)
{
    size_t n = grid->site_count, count = 0;
    struct store_pair_uses *list;
    struct added_uses *added;

    if (rq->replay)
        return OK;
    for (size_t i = 0; i < n * n; i++)
        count += uses[i] > 0 || (grid->history && grid->history[i]);
    if (count == 0)
        return OK;
    list = NEW(rq->arena, struct store_pair_uses, count);
    added = NEW(rq->arena, struct added_uses, 1);
    count = 0;
    for (size_t i = 0; i < n * n; i++)
        if (uses[i] > 0 || (grid->history && grid->history[i]))
            list[count++] = (struct store_pair_uses){grid->sites[i / n].id,
                                                     grid->sites[i % n].id, uses[i]};
    *added = (struct added_uses){list, count};
    return request_at_publish(rq, write_uses, added);
}
