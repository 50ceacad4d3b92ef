/* stored_snapshot.c - what all that is about one stored snapshot shares. */
#include "handlers/snapshots/stored_snapshot.h"

#include "handlers/common/snapshot_json.h"
#include "service/etag.h"

#include <string.h>

/* A strong ETag. The instant tells a snapshot from another one of the same name
 * that was deleted; both count generations from 1. */
static const char *etag_of(const struct store_snapshot *s, struct request *rq)
{
    return arena_printf(rq->arena, "\"g%llu-%llx\"", (unsigned long long)s->generation,
                        (unsigned long long)llround(s->created_at_s * 1e6));
}

void snapshot_add_etag(struct request *rq, const struct store_snapshot *s)
{
    reply_header_add(rq->reply, "ETag", etag_of(s, rq));
}

bool snapshot_matches_any(const struct message *m)
{
    return !m->if_match || strcmp(m->if_match, "*") == 0;
}

enum error_code snapshot_check_if_match(struct request *rq,
                                        const struct store_snapshot *stored)
{
    const char *tag;

    if (snapshot_matches_any(rq->message))
        return OK;
    tag = etag_of(stored, rq);
    if (etag_matches(rq->message->if_match, tag))
        return OK;
    return fail(rq->err, ERR_STALE, "",
                "the snapshot has changed: If-Match was %.80s, its ETag is %s; read it "
                "again",
                rq->message->if_match, tag);
}

enum error_code snapshot_check_document(struct request *rq, const char *text,
                                        size_t length)
{
    struct snapshot snapshot;

    return json_read(&snapshot_json, length ? text : "", length, &snapshot, &rq->renames,
                     rq->arena, rq->err);
}

enum error_code snapshot_check_patched(struct request *rq,
                                       const struct json_patched *patched)
{
    struct error found = {.arena = rq->arena};
    struct snapshot snapshot;
    enum error_code code = json_read(&snapshot_json, patched->text, strlen(patched->text),
                                     &snapshot, &rq->renames, rq->arena, &found);

    if (code == OK)
        return OK;
    if (!found.first) {
        *rq->err = found;
        return code;
    }
    for (const struct error_item *i = found.first; i; i = i->next) {
        struct error_item moved = *i;

        moved.pointer = json_patch_pointer(patched, i->pointer, rq->arena);
        if (!moved.pointer)
            return fail_memory(rq->err);
        invalid_again(rq->err, "", &moved);
    }
    rq->err->item_count += found.item_count - rq->err->item_count;
    return rq->err->code;
}

static enum error_code change_locked(struct db_session *db, void *context,
                                     struct error *err)
{
    struct snapshot_change *c = context;
    struct request *rq = c->rq;
    const char *document = NULL;

    TRY(store_snapshot_lock(db, rq->principal.tenant, rq->path_value[0], &c->stored,
                            rq->arena, err));
    c->now = c->stored;
    if (rq->route->flags & ROUTE_VERSIONED)
        TRY(snapshot_check_if_match(rq, &c->stored));
    TRY(c->make(c, db, &document));
    if (!document)
        return OK;
    return store_snapshot_change(db, rq->principal.tenant, rq->path_value[0], document,
                                 &c->now, rq->arena, err);
}

enum error_code snapshot_change(struct snapshot_change *c)
{
    struct db_session *db;

    TRY(request_db(c->rq, &db));
    if (db_in_transaction(db)) /* with an Idempotency-Key */
        return change_locked(db, c, c->rq->err);
    return db_transaction(db, change_locked, c, c->rq->err);
}
