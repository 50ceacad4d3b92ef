/* stored_snapshot.c - what all that is about one stored snapshot shares. */
#include "handlers/snapshots/stored_snapshot.h"

#include "algorithms/placement/amounts.h"
#include "handlers/cluster_queue/cluster_stored.h"
#include "handlers/common/snapshot_json.h"
#include "service/clock.h"
#include "service/etag.h"

#include <math.h>
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
    return etag_refuse_stale(rq->err, "snapshot", rq->message->if_match, tag);
}

/* ---- whether it makes sense ---- */

/* What begins later than the snapshot's now, as a row may that has come since, begins
 * then: so decisions see it. */
static void begin_by_now(const struct taken_running *rows, size_t count, double now_at_s)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].started_at_s > now_at_s)
            ((struct taken_running *)rows)[i].started_at_s = now_at_s;
}

/* What decisions about amounts would refuse of it, in *found with pointers into the
 * document. */
static void check_meaning(struct request *rq, struct snapshot *s, struct error *found)
{
    struct error mistakes = {.arena = rq->arena};
    struct placement_world none = {0};
    struct placement_in in = {.snapshot = s, .world = &none, .budget = &rq->finish};
    struct placement_problem *p = NEW(rq->arena, struct placement_problem, 1);
    double *common = NEW(rq->arena, double, PARAMS_MAX);
    struct amounts *checked;

    if (isnan(s->taken_at_s))
        s->taken_at_s = clock_wall_s();
    begin_by_now(s->running, s->running_count, s->taken_at_s);
    for (size_t i = 0; i < s->resource_count; i++) {
        budget_step(&rq->finish, s->resources[i].running_count);
        begin_by_now(s->resources[i].running, s->resources[i].running_count,
                     s->taken_at_s);
    }
    params_bind(placement_common_params, NULL, 0, common, &mistakes);
    amounts_check(&in, false, &checked, rq->arena, &mistakes);
    problem_prepare(&in, common, p, rq->arena, &mistakes);
    for (const struct error_item *i = mistakes.first; i; i = i->next) {
        struct error_item moved = *i;

        moved.pointer += strlen("/snapshot");
        invalid_again(found, "", &moved);
    }
    found->item_count += mistakes.item_count - found->item_count;
}

/* Reads it; all mistakes are in *found. */
static enum error_code read_document(struct request *rq, const char *text, size_t length,
                                     struct error *found)
{
    const struct cluster_in *cluster;
    struct snapshot snapshot;

    TRY(json_read(&snapshot_json, length ? text : "", length, &snapshot, &rq->renames,
                  rq->arena, found));
    check_meaning(rq, &snapshot, found);
    if (snapshot.cluster)
        cluster_text_read(snapshot.cluster, "/cluster", &cluster, rq->arena, found);
    return found->code;
}

enum error_code snapshot_check_document(struct request *rq, const char *text,
                                        size_t length)
{
    return read_document(rq, text, length, rq->err);
}

enum error_code snapshot_check_patched(struct request *rq,
                                       const struct json_patched *patched)
{
    struct error found = {.arena = rq->arena};
    enum error_code code =
        read_document(rq, patched->text, strlen(patched->text), &found);

    if (code == OK)
        return OK;
    if (!found.first) {
        *rq->err = found;
        return code;
    }
    for (const struct error_item *i = found.first; i; i = i->next) {
        struct error_item moved = *i;

        moved.pointer = json_patch_pointer(patched, i->pointer, rq->arena);
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
