/* snapshots.c - /v1/snapshots: views of the grid, stored under a name. */
#include "handlers/snapshots/routes.h"

#include "handlers/common/page.h"
#include "handlers/common/snapshot_json.h"
#include "handlers/snapshots/stored_snapshot.h"
#include "handlers/stored/stored_name.h"
#include "service/etag.h"
#include "service/json_holds.h"

#include <string.h>

enum { PUT_ATTEMPTS = 5 }; /* against others who change it too */

struct create_query {
    const char *id;
};

struct list_query {
    struct page_query page;
};

struct snapshots_page {
    const struct store_snapshot *items;
    size_t item_count;
    const char *next_page_token;
};

#define T struct create_query
static const struct json_field create_query_rows[] = {
    JSON_ID(T, id, 0,
            "Name of the snapshot: at most 128 of A-Z a-z 0-9 . _ ~ -; default: a UUID"),
    {0},
};
#undef T
const struct json_object snapshot_create_query_json = {
    "SnapshotCreateQuery", "Name of a new snapshot", sizeof(struct create_query),
    create_query_rows};

#define T struct list_query
static const struct json_field list_query_rows[] = {
    PAGE_ROWS(T),
    {0},
};
#undef T
const struct json_object snapshots_query_json = {
    "SnapshotsQuery", "Which page", sizeof(struct list_query), list_query_rows};

#define T struct store_snapshot
#define INFO_ROWS                                                                       \
    {.name = "id",                                                                      \
     .doc = "Name of the snapshot",                                                     \
     .type = JSON_TYPE_TEXT,                                                            \
     .offset = JSON_AT(T, snapshot_id, const char *)},                                  \
        JSON_INTEGER(T, generation, 1, JSON_EXACT, 1, 0,                                \
                     "Number of times that it was written"),                            \
        JSON_INTEGER(T, document_bytes, 0, JSON_EXACT, 0, 0, "Length of the document"), \
        JSON_INSTANT(T, created_at, 0, "When it was made"),                             \
        JSON_INSTANT(T, updated_at, 0, "When it was last written or changed"),          \
        JSON_INSTANT(T, written_at, 0,                                                  \
                     "When it was last written whole: from then its seconds count, if " \
                     "it has no taken_at")
static const struct json_field info_rows[] = {
    INFO_ROWS,
    {0},
};
static const struct json_field stored_rows[] = {
    INFO_ROWS,
    {.name = "snapshot",
     .doc = "The document, as it was given",
     .type = JSON_TYPE_RAW,
     JSON_HOLDS(&json_any_object),
     .offset = JSON_AT(T, document, const char *)},
    {0},
};
#undef T
const struct json_object snapshot_info_json = {"SnapshotInfo",
                                               "A stored snapshot without its document",
                                               sizeof(struct store_snapshot), info_rows};
const struct json_object stored_snapshot_json = {
    "StoredSnapshot", "A stored snapshot", sizeof(struct store_snapshot), stored_rows};

#define T struct snapshots_page
static const struct json_field page_rows[] = {
    JSON_LIST(T, items, item_count, struct store_snapshot, &snapshot_info_json, 0, 0,
              "The snapshots by id"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object snapshots_page_json = {"SnapshotsPage",
                                                "A page of stored snapshots",
                                                sizeof(struct snapshots_page), page_rows};

/* Checks that `text` is a snapshot; *document is a copy that ends in NUL. */
static enum error_code check_document(struct request *rq, const struct raw_body *body,
                                      const char **document)
{
    TRY(snapshot_check_document(rq, body->text, body->length));
    *document = arena_text(rq->arena, body->text, body->length);
    return OK;
}

/* A new snapshot of that name. ERR_CONFLICT: there is one. */
static enum error_code make_snapshot(struct request *rq, const char *name,
                                     const char *document, struct store_snapshot *out)
{
    const char *location;
    struct db_session *db;

    TRY(request_db(rq, &db));
    TRY(store_snapshot_create(db, rq->principal.tenant, name, document, out, rq->arena,
                              rq->err));
    location = arena_printf(rq->arena, "/v1/snapshots/%s", name);
    rq->reply->status = 201;
    reply_header_add(rq->reply, "Location", location);
    snapshot_add_etag(rq, out);
    return OK;
}

enum error_code post_snapshot(struct request *rq, const void *in, void *out)
{
    const struct create_query *query = rq->query;
    const struct raw_body *body = in;
    const char *name, *document = NULL;

    stored_name_choose(rq, query ? query->id : NULL, "?/id", &name);
    check_document(rq, body, &document);
    if (rq->err->code != OK)
        return rq->err->code;
    return make_snapshot(rq, name, document, out);
}

enum error_code get_snapshots(struct request *rq, const void *in, void *out)
{
    const struct list_query *query = rq->query;
    struct snapshots_page *page = out;
    struct store_page part;
    struct db_session *db;

    (void)in;
    TRY(page_of(rq, &query->page, &part));
    TRY(request_db(rq, &db));
    TRY(store_snapshots_list(db, rq->principal.tenant, &part, &page->items,
                             &page->item_count, &page->next_page_token, rq->arena,
                             rq->err));
    return page_link(rq, &page->next_page_token);
}

enum error_code get_snapshot(struct request *rq, const void *in, void *out)
{
    struct db_session *db;

    (void)in;
    TRY(request_db(rq, &db));
    TRY(store_snapshot_read(db, rq->principal.tenant, rq->path_value[0], out, rq->arena,
                            rq->err));
    snapshot_add_etag(rq, out);
    return OK;
}

/* The stored snapshot, if it is the version that If-Match asks for. */
static enum error_code read_expected(struct request *rq, struct db_session **db,
                                     struct store_snapshot *stored)
{
    TRY(request_db(rq, db));
    TRY(store_snapshot_read(*db, rq->principal.tenant, rq->path_value[0], stored,
                            rq->arena, rq->err));
    return snapshot_check_if_match(rq, stored);
}

static void forget_failure(struct request *rq)
{
    *rq->err = (struct error){.arena = rq->err->arena};
}

/* If-None-Match: * - only when there is none. */
static enum error_code put_new(struct request *rq, const char *document,
                               struct store_snapshot *out)
{
    enum error_code code;
    const char *name;

    TRY(stored_name_choose(rq, rq->path_value[0], "", &name));
    code = make_snapshot(rq, name, document, out);
    if (code != ERR_CONFLICT)
        return code;
    forget_failure(rq);
    return etag_refuse_double(rq->err, "snapshot", name);
}

/* Replaces it, or makes it when no version is asked for. Others may do the same. */
static enum error_code put_any(struct request *rq, const char *document,
                               struct store_snapshot *out)
{
    enum error_code code = ERR_NOT_FOUND;
    struct db_session *db;
    const char *name;

    TRY(request_db(rq, &db));
    for (int i = 0; i < PUT_ATTEMPTS; i++) {
        code = store_snapshot_update(db, rq->principal.tenant, rq->path_value[0], 0,
                                     document, out, rq->arena, rq->err);
        if (code == OK) {
            snapshot_add_etag(rq, out);
            return OK;
        }
        if (code != ERR_NOT_FOUND)
            return code;
        forget_failure(rq);
        TRY(stored_name_choose(rq, rq->path_value[0], "", &name));
        code = make_snapshot(rq, name, document, out);
        if (code != ERR_CONFLICT)
            return code;
        forget_failure(rq);
    }
    return fail(rq->err, ERR_CONFLICT, "",
                "the snapshot is made and deleted all the time; try again");
}

enum error_code put_snapshot(struct request *rq, const void *in, void *out)
{
    const char *if_none_match = rq->message->if_none_match;
    const struct raw_body *body = in;
    struct store_snapshot stored = {0};
    const char *document;
    struct db_session *db;

    TRY(check_document(rq, body, &document));
    if (if_none_match && strcmp(if_none_match, "*") == 0)
        return put_new(rq, document, out);
    if (!rq->message->if_match)
        return put_any(rq, document, out);
    TRY(read_expected(rq, &db, &stored));
    TRY(store_snapshot_update(db, rq->principal.tenant, rq->path_value[0],
                              snapshot_matches_any(rq->message) ? 0 : stored.generation,
                              document, out, rq->arena, rq->err));
    snapshot_add_etag(rq, out);
    return OK;
}

static enum error_code merge_patch(struct snapshot_change *c, struct db_session *db,
                                   const char **document)
{
    struct json_patched patched;

    (void)db;
    TRY(json_patch(c->stored.document, c->context, snapshot_lists, &patched, c->rq->arena,
                   c->rq->err));
    TRY(snapshot_check_patched(c->rq, &patched));
    *document = patched.text;
    return OK;
}

enum error_code patch_snapshot(struct request *rq, const void *in, void *out)
{
    const struct raw_body *body = in;
    struct snapshot_change c = {.rq = rq, .make = merge_patch};

    c.context = arena_text(rq->arena, body->length ? body->text : "", body->length);
    TRY(snapshot_change(&c));
    *(struct store_snapshot *)out = c.now;
    snapshot_add_etag(rq, &c.now);
    return OK;
}

enum error_code delete_snapshot(struct request *rq, const void *in, void *out)
{
    struct store_snapshot stored = {0};
    struct db_session *db;

    (void)in;
    (void)out;
    TRY(read_expected(rq, &db, &stored));
    TRY(store_snapshot_delete(db, rq->principal.tenant, rq->path_value[0],
                              snapshot_matches_any(rq->message) ? 0 : stored.generation,
                              rq->arena, rq->err));
    rq->reply->status = 204;
    return OK;
}
