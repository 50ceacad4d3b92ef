/* sites_waits.c - past waits of batch queues, from stored executions.
 *
 * A batch site that comes without a queue_wait_history waits as its latest executions
 * did that say their queue_wait_s: one mean for each number of processors, so that the
 * rule of the nearest number gives the same as it would for the executions themselves.
 *
 * Source: spec rescheduling-plans.md 7.1 (batch queue monitor and predictor),
 * parallel-scheduling.md 6.2.
 */
#include "handlers/sites/sites_lookup.h"

#include "handlers/common/decision.h"
#include "service/service.h"
#include "service/store_reschedule.h"

#include <string.h>

enum { LATEST = 1000 }; /* executions of a site that count */

#define KEPT "queue_waits"

struct kept_site {
    const char *site_id;
    const struct site_wait *waits;
    size_t wait_count;
};

struct kept {
    bool unavailable;
    const struct kept_site *sites;
    size_t site_count;
};

#define T struct kept_site
static const struct json_field kept_site_rows[] = {
    JSON_TEXT(T, site_id, JSON_REQUIRED, "The site"),
    JSON_LIST(T, waits, wait_count, struct site_wait, &site_wait_json, 0, 0,
              "Mean waits by processors"),
    {0},
};
#undef T
static const struct json_object kept_site_json = {
    "KeptSiteWaits", "The stored waits of a batch site", sizeof(struct kept_site),
    kept_site_rows};

#define T struct kept
static const struct json_field kept_rows[] = {
    JSON_BOOLEAN(T, unavailable, 0, 0, "The stored waits could not be read"),
    JSON_LIST(T, sites, site_count, struct kept_site, &kept_site_json, 0, 0,
              "The sites that were looked up"),
    {0},
};
#undef T
static const struct json_object kept_json = {"KeptWaits", "The waits of a decision",
                                             sizeof(struct kept), kept_rows};

const char stored_waits_unavailable[] =
    "history_unavailable: the stored queue waits cannot be read now";

static bool is_wanted(const struct site *site)
{
    return site->kind == SITE_BATCH && site->wait_count == 0;
}

/* Rows of the store, which come by site, as lists of each of `ids`. */
static void take_rows(struct request *rq, const struct store_queue_wait *rows,
                      size_t count, struct kept_site *sites)
{
    struct site_wait *waits = NEW(rq->arena, struct site_wait, count);

    for (size_t i = 0; i < count; i++) {
        struct kept_site *site = &sites[rows[i].site];

        waits[i] = (struct site_wait){rows[i].processors, rows[i].wait_s};
        if (site->wait_count++ == 0)
            site->waits = &waits[i];
    }
}

static enum error_code query(struct request *rq, struct kept_site *sites, size_t count)
{
    struct text_buffer ids = {.arena = rq->arena};
    const struct store_queue_wait *rows;
    struct db_session *db;
    size_t row_count;

    for (size_t i = 0; i < count; i++) {
        text_add(&ids, i ? "," : "[", 1);
        json_print_text(sites[i].site_id, &ids);
    }
    text_add(&ids, "]", 2); /* with the NUL */
    TRY(request_db(rq, &db));
    TRY(store_queue_waits(db, rq->principal.tenant, text_end(&ids), LATEST, &rows,
                          &row_count, rq->arena, rq->err));
    take_rows(rq, rows, row_count, sites);
    return OK;
}

/* The wanted sites into *kept, and what is stored of them. */
static enum error_code look_up(struct request *rq, const struct site *const *sites,
                               size_t site_count, struct kept *kept)
{
    struct kept_site *list = NEW(rq->arena, struct kept_site, site_count);
    struct error before = *rq->err;
    enum error_code code;
    bool replayed;

    TRY(decision_lookup(rq, KEPT, &kept_json, kept, &replayed));
    if (replayed)
        return OK;
    kept->sites = list;
    for (size_t k = 0; k < site_count; k++)
        if (is_wanted(sites[k]))
            list[kept->site_count++].site_id = sites[k]->id;
    code = query(rq, list, kept->site_count);
    kept->unavailable = code == ERR_UNAVAILABLE || code == ERR_BUSY;
    if (kept->unavailable)
        *rq->err = before;
    else if (code != OK)
        return code;
    return decision_keep_lookup(rq, KEPT, &kept_json, kept);
}

enum error_code stored_waits_read(struct request *rq, const struct site *const *sites,
                                  size_t site_count, struct stored_waits *out,
                                  bool *unavailable)
{
    struct kept kept = {0};
    size_t wanted = 0, at = 0;

    *unavailable = false;
    for (size_t k = 0; k < site_count; k++) {
        out[k] = (struct stored_waits){NULL, 0};
        wanted += is_wanted(sites[k]);
    }
    if (wanted == 0 || !(rq->service->db || rq->replay))
        return OK;
    TRY(look_up(rq, sites, site_count, &kept));
    *unavailable = kept.unavailable;
    for (size_t k = 0; k < site_count && at < kept.site_count; k++)
        if (is_wanted(sites[k]) && strcmp(kept.sites[at].site_id, sites[k]->id) == 0) {
            out[k] =
                (struct stored_waits){kept.sites[at].waits, kept.sites[at].wait_count};
            at++;
        }
    return OK;
}
