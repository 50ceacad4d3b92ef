/* replicas.c - /v1/replicas: the catalogue of files and their copies.
 *
 * Replica lookups read it for files that their snapshot does not have.
 *
 * Source: spec coallocation.md 5, 19.
 */
#include "handlers/site_history/routes.h"

#include "handlers/common/page.h"
#include "handlers/history/bulk.h"
#include "service/store_coallocation.h"

struct replicas_query {
    struct page_query page;
    const char *file_id, *site_id;
};

struct replicas_page {
    const struct store_replica *items;
    size_t item_count;
    const char *next_page_token;
};

struct replicas_delete_query {
    const char *file_id, *site_id;
};

struct replicas_deleted {
    uint64_t deleted;
};

#define T struct store_replica
#define REPLICA_ROWS(NULLABLE)                                                  \
    JSON_ID(T, file_id, JSON_REQUIRED, "Logical name of the file"),             \
        JSON_ID(T, site_id, JSON_REQUIRED, "Site with the copy"),               \
        JSON_TEXT(T, url, NULLABLE | JSON_OPTIONAL, "Where it is on the site"), \
        JSON_NUMBER(T, bytes, 0, JSON_LARGEST, NAN, NULLABLE | JSON_OPTIONAL,   \
                    "Size of the copy")
static const struct json_field record_rows[] = {REPLICA_ROWS(JSON_NULLABLE), {0}};
static const struct json_field stored_rows[] = {
    REPLICA_ROWS(0),
    JSON_INSTANT(T, updated_at, 0, "When it was last reported"),
    {0},
};
#undef REPLICA_ROWS
#undef T
const struct json_object replica_record_json = {
    "ReplicaRecord", "A copy of a file", sizeof(struct store_replica), record_rows};
static const struct json_object stored_replica_json = {
    "StoredReplica", "A copy of a file, as the catalogue has it",
    sizeof(struct store_replica), stored_rows};

#define T struct replicas_query
static const struct json_field query_rows[] = {
    JSON_ID(T, file_id, 0, "Copies of this file only; default: any"),
    JSON_ID(T, site_id, 0, "Copies on this site only; default: any"),
    PAGE_ROWS(T),
    {0},
};
#undef T
const struct json_object replicas_query_json = {
    "ReplicasQuery", "Which copies", sizeof(struct replicas_query), query_rows};

#define T struct replicas_page
static const struct json_field page_rows[] = {
    JSON_LIST(T, items, item_count, struct store_replica, &stored_replica_json, 0, 0,
              "The copies by file_id, then by site_id"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object replicas_page_json = {
    "ReplicasPage", "A page of copies of files", sizeof(struct replicas_page), page_rows};

#define T struct replicas_delete_query
static const struct json_field delete_rows[] = {
    JSON_ID(T, file_id, 0, "Copies of this file; default: of any, on site_id"),
    JSON_ID(T, site_id, 0, "Copies on this site; default: on any, of file_id"),
    {0},
};
#undef T
const struct json_object replicas_delete_query_json = {
    "ReplicasDeleteQuery", "Which copies to forget; one of the two is needed",
    sizeof(struct replicas_delete_query), delete_rows};

#define T struct replicas_deleted
static const struct json_field deleted_rows[] = {
    JSON_INTEGER(T, deleted, 0, JSON_EXACT, 0, 0, "Copies that were forgotten"),
    {0},
};
#undef T
const struct json_object replicas_deleted_json = {
    "ReplicasDeleted", "How many copies were forgotten", sizeof(struct replicas_deleted),
    deleted_rows};

/* Everything about a replica is in its table. */
static void check_replica(struct record_check *check, const void *item)
{
    (void)check;
    (void)item;
}

enum error_code post_replicas(struct request *rq, const void *in, void *out)
{
    struct db_session *db;
    struct bulk_items given;
    const void *items;
    size_t count, stored;

    TRY(bulk_accept(rq, in, sizeof(struct store_replica), check_replica, &given, out));
    items = given.list;
    count = given.count;
    TRY(request_db(rq, &db));
    TRY(store_replicas(db, rq->principal.tenant, items, count, &stored, rq->arena,
                       rq->err));
    return bulk_stored(rq, &given, &(struct record_stored){.stored = stored}, out);
}

enum error_code get_replicas(struct request *rq, const void *in, void *out)
{
    const struct replicas_query *query = rq->query;
    struct replicas_page *page = out;
    struct store_page part;
    struct db_session *db;

    (void)in;
    TRY(page_of(rq, &query->page, &part));
    TRY(request_db(rq, &db));
    TRY(store_replicas_read(db, rq->principal.tenant, query->file_id, query->site_id,
                            &part, &page->items, &page->item_count,
                            &page->next_page_token, rq->arena, rq->err));
    return page_link(rq, &page->next_page_token);
}

enum error_code delete_replicas(struct request *rq, const void *in, void *out)
{
    const struct replicas_delete_query *query = rq->query;
    struct replicas_deleted *answer = out;
    struct db_session *db;
    size_t deleted;

    (void)in;
    if (!query->file_id && !query->site_id)
        return invalid(rq->err, "?/file_id", ITEM_REQUIRED,
                       "say which copies: give file_id, site_id or both");
    TRY(request_db(rq, &db));
    TRY(store_replicas_delete(db, rq->principal.tenant, query->file_id, query->site_id,
                              &deleted, rq->err));
    answer->deleted = deleted;
    return OK;
}
