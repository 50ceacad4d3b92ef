/* resources.c - /v1/snapshots/{snapshot_id}/resources: single ones of a snapshot.
 *
 * They have no version of their own: ETags are the snapshot's. */
#include "handlers/snapshots/routes.h"

#include "handlers/common/snapshot_json.h"
#include "handlers/snapshots/stored_snapshot.h"
#include "models/base/pointer.h"
#include "service/etag.h"
#include "service/json_holds.h"

#include <stdio.h>
#include <string.h>

struct stored_resource {
    const char *snapshot_id, *id;
    uint64_t generation;
    const char *resource; /* JSON */
};

#define T struct stored_resource
static const struct json_field resource_rows[] = {
    JSON_ID(T, snapshot_id, 0, "Name of the snapshot"),
    JSON_ID(T, id, 0, "Name of the resource"),
    JSON_INTEGER(T, generation, 1, JSON_EXACT, 1, 0,
                 "Number of times that the snapshot was written"),
    JSON_RAW(T, resource, 0, "The resource, as it was given",
             JSON_HOLDS(&json_any_object)),
    {0},
};
#undef T
const struct json_object stored_resource_json = {
    "StoredResource", "A resource of a stored snapshot", sizeof(struct stored_resource),
    resource_rows};

static enum error_code fail_no_resource(struct request *rq)
{
    return fail(rq->err, ERR_NOT_FOUND, "/resource_id",
                "snapshot '%.100s' has no resource '%.100s'", rq->path_value[0],
                rq->path_value[1]);
}

/* The answer: the resource as it is in that version of the snapshot. */
static enum error_code tell(struct request *rq, const struct store_snapshot *s,
                            const char *document, struct stored_resource *out)
{
    *out = (struct stored_resource){rq->path_value[0], rq->path_value[1], s->generation,
                                    NULL};
    TRY(json_element(document, snapshot_lists, rq->path_value[1], &out->resource,
                     rq->arena, rq->err));
    if (!out->resource)
        return fail_no_resource(rq);
    snapshot_add_etag(rq, s);
    return OK;
}

enum error_code get_resource(struct request *rq, const void *in, void *out)
{
    struct store_snapshot stored;
    struct db_session *db;

    (void)in;
    TRY(request_db(rq, &db));
    TRY(store_snapshot_read(db, rq->principal.tenant, rq->path_value[0], &stored,
                            rq->arena, rq->err));
    return tell(rq, &stored, stored.document, out);
}

/* ---- who names it ---- */

struct naming {
    struct request *rq;
    size_t count;
};

/* A list of resources of the row `number` of `list`, a pointer. */
static void look_at_list(struct naming *x, const char *list, size_t number,
                         const char *const *ids, size_t count)
{
    budget_step(&x->rq->finish, count);
    for (size_t k = 0; k < count; k++) {
        if (!ids[k] || strcmp(ids[k], x->rq->path_value[1]) != 0)
            continue;
        invalid(x->rq->err,
                pointer_in(pointer_in(list, number, "resource_ids").text, k, NULL).text,
                ITEM_CONFLICT, "the stored snapshot names '%.100s' here", ids[k]);
        x->count++;
    }
}

/* ERR_CONFLICT: rows of the snapshot name the resource, which would mean nothing then. */
static enum error_code check_unnamed(struct request *rq, const char *document)
{
    struct naming x = {.rq = rq};
    struct snapshot s;

    TRY(json_read(&snapshot_json, document, strlen(document), &s, NULL, rq->arena,
                  rq->err));
    for (size_t i = 0; i < s.running_count; i++)
        look_at_list(&x, "/running", i, s.running[i].resource_ids,
                     s.running[i].resource_id_count);
    for (size_t i = 0; i < s.reservation_count; i++)
        look_at_list(&x, "/reservations", i, s.reservations[i].resource_ids,
                     s.reservations[i].resource_id_count);
    for (size_t i = 0; i < s.partition_count; i++)
        look_at_list(&x, "/partitions", i, s.partitions[i].resource_ids,
                     s.partitions[i].resource_id_count);
    return x.count ? fail(rq->err, ERR_CONFLICT, "",
                          "'%.100s' is named %zu time%s in the snapshot: take these rows "
                          "out first, or together by PATCH of the snapshot",
                          rq->path_value[1], x.count, x.count == 1 ? "" : "s")
                   : OK;
}

/* ---- changes ---- */

/* One change of the resource rq->path_value[1]. */
struct changing {
    enum json_element_change change;
    const char *body;
    bool only_new; /* If-None-Match: * */
    bool found;
    const char *document; /* what came out */
};

static enum error_code change_resource(struct snapshot_change *c, struct db_session *db,
                                       const char **document)
{
    struct request *rq = c->rq;
    struct changing *one = c->context;
    struct json_patched patched;

    (void)db;
    TRY(json_change_element(c->stored.document, snapshot_lists, rq->path_value[1],
                            one->change, one->body, &one->found, &patched, rq->arena,
                            rq->err));
    if (one->found && one->only_new)
        return etag_refuse_double(rq->err, "resource", rq->path_value[1]);
    if (!one->found && one->change != JSON_ELEMENT_REPLACE)
        return fail_no_resource(rq);
    if (one->change == JSON_ELEMENT_REMOVE)
        TRY(check_unnamed(rq, c->stored.document));
    TRY(snapshot_check_patched(rq, &patched));
    *document = one->document = patched.text;
    return OK;
}

static enum error_code run_change(struct request *rq, struct changing *one,
                                  const struct raw_body *body,
                                  struct stored_resource *out)
{
    struct snapshot_change c = {.rq = rq, .make = change_resource, .context = one};

    if (body)
        one->body = arena_text(rq->arena, body->length ? body->text : "", body->length);
    TRY(snapshot_change(&c));
    return out ? tell(rq, &c.now, one->document, out) : OK;
}

static void add_location(struct request *rq)
{
    struct text_buffer b = {.arena = rq->arena};

    text_addf(&b, "/v1/snapshots/%s/resources/", rq->path_value[0]);
    text_add_encoded(&b, rq->path_value[1], false);
    reply_header_add(rq->reply, "Location", text_end(&b));
}

enum error_code put_resource(struct request *rq, const void *in, void *out)
{
    const char *if_none_match = rq->message->if_none_match;
    struct changing one = {.change = JSON_ELEMENT_REPLACE,
                           .only_new = if_none_match && strcmp(if_none_match, "*") == 0};

    TRY(run_change(rq, &one, in, out));
    rq->reply->status = one.found ? 200 : 201;
    if (!one.found)
        add_location(rq);
    return OK;
}

enum error_code patch_resource(struct request *rq, const void *in, void *out)
{
    struct changing one = {.change = JSON_ELEMENT_MERGE};

    return run_change(rq, &one, in, out);
}

enum error_code delete_resource(struct request *rq, const void *in, void *out)
{
    struct changing one = {.change = JSON_ELEMENT_REMOVE};

    (void)in;
    (void)out;
    TRY(run_change(rq, &one, NULL, NULL));
    rq->reply->status = 204;
    return OK;
}
