/* leases.c - /v1/snapshots/{snapshot_id}/leases: amounts that are given away before the
 * snapshot shows it.
 *
 * Whatever looks whether something fits, or changes a lease, holds the lock of the
 * snapshot's row, and asks the database what time it is once it has it. */
#include "handlers/snapshots/routes.h"

#include "handlers/common/page.h"
#include "handlers/common/snapshot_json.h"
#include "handlers/common/world_json.h"
#include "handlers/snapshots/lease_view.h"
#include "handlers/snapshots/stored_snapshot.h"
#include "models/base/names.h"
#include "models/base/plural.h"
#include "models/base/pointer.h"
#include "models/snapshot_at.h"
#include "service/uuid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct list_query {
    const char *owner;
    struct page_query page;
};

struct leases_page {
    const struct lease *items;
    size_t item_count;
    const char *next_page_token;
};

struct heartbeat {
    double ttl_s;
};

#define T struct list_query
static const struct json_field list_query_rows[] = {
    JSON_ID(T, owner, 0, "Only this owner's; default: anybody's"),
    PAGE_ROWS(T),
    {0},
};
#undef T
const struct json_object leases_query_json = {"LeasesQuery", "Which leases",
                                              sizeof(struct list_query), list_query_rows};

#define T struct leases_page
static const struct json_field page_rows[] = {
    JSON_LIST(T, items, item_count, struct lease, &lease_json, 0, 0,
              "The leases that have not expired, by age"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object leases_page_json = {
    "LeasesPage", "A page of a snapshot's leases", sizeof(struct leases_page), page_rows};

#define T struct heartbeat
static const struct json_field heartbeat_rows[] = {
    JSON_NUMBER(T, ttl_s, 1, 86400, NAN, JSON_REQUIRED,
                "Seconds from now after which it expires"),
    {0},
};
#undef T
const struct json_object lease_change_json = {"LeaseChange", "How long a lease goes on",
                                              sizeof(struct heartbeat), heartbeat_rows};

/* ---- what runs ---- */

struct lease_running {
    struct name_index ids;
};

const struct lease_running *lease_running_of(const struct snapshot *s, struct arena *a)
{
    struct lease_running *out = NEW(a, struct lease_running, 1);
    size_t count = s->running_count;

    for (size_t i = 0; i < s->resource_count; i++)
        count += s->resources[i].running_count;
    name_index_create(&out->ids, count, a);
    for (size_t i = 0; i < s->running_count; i++)
        name_index_add(&out->ids, s->running[i].id, 0);
    for (size_t i = 0; i < s->resource_count; i++)
        for (size_t k = 0; k < s->resources[i].running_count; k++)
            name_index_add(&out->ids, s->resources[i].running[k].id, 0);
    return out;
}

bool lease_runs(const struct lease_running *running, const struct lease_row *row)
{
    const char *id = row->running_id ? row->running_id : row->job_id;

    return name_index_find(&running->ids, id) != NAME_NOT_FOUND;
}

/* ---- a new lease ---- */

static bool is_of_session(const char *owner)
{
    return strncmp(owner, LEASE_SESSION_PREFIX, strlen(LEASE_SESSION_PREFIX)) == 0;
}

void lease_check_owner(struct request *rq, const char *owner, const char *pointer)
{
    if (is_of_session(owner))
        invalid(rq->err, pointer, ITEM_NOT_ALLOWED,
                "names that begin with '%s' belong to sessions", LEASE_SESSION_PREFIX);
}

/* What the request itself says of the resources of one placement. */
static void check_resources(struct request *rq, const struct lease_wish *wish, size_t at)
{
    struct name_index ids;
    struct pointer list = pointer_in("/placements", at, "resource_ids");

    if (wish->row.resource_id_count == 0)
        invalid(rq->err, list.text, ITEM_TOO_SHORT, "name at least one resource");
    name_index_create(&ids, wish->row.resource_id_count, rq->arena);
    for (size_t k = 0; k < wish->row.resource_id_count; k++) {
        const char *id = wish->row.resource_ids[k];

        if (name_index_add(&ids, id, k) == NAME_NOT_FOUND)
            continue;
        invalid(rq->err, pointer_in(list.text, k, NULL).text, ITEM_DUPLICATE,
                "'%.100s' is there twice", id);
    }
}

static enum error_code check_request(struct request *rq, const struct lease_request *in)
{
    struct name_index ids;

    lease_check_owner(rq, in->owner, "/owner");
    name_index_create(&ids, in->placement_count, rq->arena);
    for (size_t i = 0; i < in->placement_count; i++) {
        const struct lease_wish *wish = &in->placements[i];
        size_t before = name_index_add(&ids, wish->row.job_id, i);

        budget_step(&rq->finish, wish->row.resource_id_count);
        if (before != NAME_NOT_FOUND)
            invalid(rq->err, pointer_in("/placements", i, "job_id").text, ITEM_DUPLICATE,
                    "'%.100s' is also the job of /placements/%zu", wish->row.job_id,
                    before);
        if (wish->end_s <= wish->start_s)
            invalid(rq->err, pointer_in("/placements", i, "end_s").text,
                    ITEM_OUT_OF_BOUNDS, "%.15g is not after the begin, %.15g",
                    wish->end_s, wish->start_s);
        check_resources(rq, wish, i);
    }
    return rq->err->code;
}

/* What a lease is decided from, under the lock. */
struct leasing {
    struct request *rq;
    const char *snapshot_id;
    double now_at_s;
    struct snapshot snapshot; /* as it is now */
    const struct lease *live;
    size_t live_count;
};

static enum error_code look(struct leasing *l, const struct store_snapshot *stored,
                            struct db_session *db)
{
    struct request *rq = l->rq;
    const struct store_lease *rows;
    struct snapshot s;

    TRY(store_clock(db, &l->now_at_s, rq->arena, rq->err));
    TRY(store_leases_live(db, rq->principal.tenant, l->snapshot_id, l->now_at_s, &rows,
                          &l->live_count, rq->arena, rq->err));
    TRY(lease_read_all(rows, l->live_count, &l->live, rq->arena, rq->err));
    TRY(json_read(&snapshot_json, stored->document, strlen(stored->document), &s, NULL,
                  rq->arena, rq->err));
    l->snapshot =
        snapshot_at(&s, isnan(s.taken_at_s) ? stored->written_at_s : s.taken_at_s,
                    l->now_at_s, rq->arena);
    return OK;
}

/* A job counts once: 409 for those that run or are leased already. */
static enum error_code check_once(const struct leasing *l, const struct lease_request *in)
{
    const struct lease_running *running = lease_running_of(&l->snapshot, l->rq->arena);
    struct error *err = l->rq->err;
    struct name_index leased;
    size_t rows = 0, found = 0;

    for (size_t i = 0; i < l->live_count; i++)
        rows += l->live[i].placement_count;
    name_index_create(&leased, rows, l->rq->arena);
    for (size_t i = 0; i < l->live_count; i++) {
        budget_step(&l->rq->finish, l->live[i].placement_count);
        for (size_t k = 0; k < l->live[i].placement_count; k++)
            name_index_add(&leased, l->live[i].placements[k].job_id, i);
    }
    for (size_t i = 0; i < in->placement_count; i++) {
        const char *id = in->placements[i].row.job_id;
        size_t lease = name_index_find(&leased, id);
        struct pointer pointer = pointer_in("/placements", i, "job_id");

        if (lease_runs(running, &in->placements[i].row)) {
            invalid(err, pointer.text, ITEM_DUPLICATE, "'%.100s' runs already", id);
        } else if (lease != NAME_NOT_FOUND) {
            invalid(err, pointer.text, ITEM_DUPLICATE, "'%.100s' is leased by '%.100s'",
                    id, l->live[lease].owner);
            error_short(err, NULL, 0, 0, &l->live[lease].owner, 1);
        } else {
            continue;
        }
        found++;
    }
    return found
               ? fail(err, ERR_CONFLICT, "", "%zu of the jobs are placed already", found)
               : OK;
}

/* Resources that are there, and say what they have in amounts. */
static enum error_code check_known(const struct leasing *l,
                                   const struct lease_request *in)
{
    const struct snapshot *s = &l->snapshot;
    struct request *rq = l->rq;
    struct name_index ids;

    name_index_create(&ids, s->resource_count, rq->arena);
    for (size_t i = 0; i < s->resource_count; i++)
        name_index_add(&ids, s->resources[i].id, i);
    for (size_t i = 0; i < in->placement_count; i++) {
        budget_step(&rq->finish, in->placements[i].row.resource_id_count);
        for (size_t k = 0; k < in->placements[i].row.resource_id_count; k++) {
            const char *id = in->placements[i].row.resource_ids[k];

            if (name_index_find(&ids, id) != NAME_NOT_FOUND)
                continue;
            invalid(rq->err,
                    pointer_in(pointer_in("/placements", i, "resource_ids").text, k, NULL)
                        .text,
                    ITEM_UNKNOWN_ID, "the snapshot has no resource '%.100s'", id);
        }
    }
    return rq->err->code;
}

/* Instants are stored in microseconds. */
static double stored_instant(double at_s)
{
    return round(at_s * 1e6) / 1e6;
}

static const struct lease_row *rows_of(const struct lease_wish *wishes, size_t count,
                                       double now_at_s, struct arena *a)
{
    struct lease_row *rows = NEW(a, struct lease_row, count);

    for (size_t i = 0; i < count; i++) {
        const struct lease_wish *wish = &wishes[i];

        rows[i] = wish->row;
        rows[i].start_at_s = stored_instant(now_at_s + wish->start_s);
        rows[i].end_at_s = stored_instant(now_at_s + wish->end_s); /* NAN stays */
    }
    return rows;
}

/* Stores it, when all rows fit. */
static enum error_code insert(const struct leasing *l, struct db_session *db,
                              uint64_t generation, const char *owner, double ttl_s,
                              const struct lease_rows *asked, struct lease *out)
{
    struct request *rq = l->rq;
    char *id = NEW(rq->arena, char, UUID_TEXT_SIZE);
    struct store_lease stored = {
        .lease_id = id,
        .owner = owner,
        .created_at_s = l->now_at_s,
        .expires_at_s = stored_instant(l->now_at_s + ttl_s),
        .generation = generation,
    };

    TRY(lease_fits(rq, &l->snapshot, l->now_at_s, l->live, l->live_count, asked));
    uuid_make(id);
    stored.rows = lease_rows_text(asked->rows, asked->count, rq->arena);
    TRY(store_lease_create(db, rq->principal.tenant, l->snapshot_id, &stored, rq->err));
    *out = (struct lease){id,
                          owner,
                          stored.created_at_s,
                          stored.expires_at_s,
                          stored.generation,
                          asked->rows,
                          asked->count};
    return OK;
}

struct making {
    const struct lease_request *in;
    struct lease *out;
};

static enum error_code make_lease(struct snapshot_change *c, struct db_session *db,
                                  const char **document)
{
    const struct making *m = c->context;
    const struct lease_request *in = m->in;
    struct request *rq = c->rq;
    struct leasing l = {.rq = rq, .snapshot_id = rq->path_value[0]};
    struct lease_rows asked = {.count = in->placement_count, .list = "placements"};

    *document = NULL;
    TRY(look(&l, &c->stored, db));
    TRY(check_known(&l, in));
    TRY(check_once(&l, in));
    asked.rows = rows_of(in->placements, in->placement_count, l.now_at_s, rq->arena);
    return insert(&l, db, c->stored.generation, in->owner, in->ttl_s, &asked, m->out);
}

enum error_code post_lease(struct request *rq, const void *in, void *out)
{
    struct making m = {in, out};
    struct snapshot_change c = {.rq = rq, .make = make_lease, .context = &m};

    TRY(check_request(rq, in));
    TRY(snapshot_change(&c));
    rq->reply->status = 201;
    reply_header_add(rq->reply, "Location",
                     arena_printf(rq->arena, "/v1/snapshots/%s/leases/%s",
                                  rq->path_value[0], m.out->lease_id));
    return OK;
}

/* ---- what a decision has placed ---- */

static enum error_code overtake(struct request *rq, const char *snapshot_id)
{
    rq->overtaken = true;
    return fail(
        rq->err, ERR_CONFLICT, "",
        "others changed the snapshot '%.100s', or its leases, each of the %d times "
        "that this was decided; nothing is leased. Send it again, or with less "
        "time for the decision",
        snapshot_id, ROUTE_PUBLISH_TRIES);
}

enum error_code lease_publish(struct request *rq, struct db_session *db, void *context)
{
    struct lease_publication *p = context;
    struct leasing l = {.rq = rq, .snapshot_id = p->snapshot_id};
    struct lease_rows asked = {
        .count = p->wish_count, .list = "jobs", .numbers = p->jobs};
    struct store_snapshot stored;
    enum error_code code;

    code = store_snapshot_lock(db, rq->principal.tenant, p->snapshot_id, &stored,
                               rq->arena, rq->err);
    if (code == ERR_NOT_FOUND)
        return overtake(rq, p->snapshot_id);
    TRY(code);
    if (stored.generation != p->read->generation ||
        stored.written_at_s != p->read->written_at_s ||
        stored.lease_revision != p->read->lease_revision)
        return overtake(rq, p->snapshot_id);
    TRY(look(&l, &stored, db));
    asked.rows = rows_of(p->wishes, p->wish_count, l.now_at_s, rq->arena);
    code = insert(&l, db, stored.generation, p->owner, p->ttl_s, &asked, &p->made);
    rq->overtaken = code == ERR_CONFLICT; /* by time: it may fit otherwise now */
    return code;
}

/* ---- reading ---- */

enum error_code get_leases(struct request *rq, const void *in, void *out)
{
    const struct list_query *query = rq->query;
    struct store_page part;
    struct leases_page *page = out;
    const struct store_lease *rows;
    struct store_snapshot head;
    struct db_session *db;

    (void)in;
    TRY(page_of(rq, &query->page, &part));
    TRY(request_db(rq, &db));
    TRY(store_snapshot_head(db, rq->principal.tenant, rq->path_value[0], &head, rq->arena,
                            rq->err));
    TRY(store_leases_list(db, rq->principal.tenant, rq->path_value[0], query->owner,
                          &part, &rows, &page->item_count, &page->next_page_token,
                          rq->arena, rq->err));
    TRY(lease_read_all(rows, page->item_count, &page->items, rq->arena, rq->err));
    return page_link(rq, &page->next_page_token);
}

enum error_code get_lease(struct request *rq, const void *in, void *out)
{
    struct store_lease stored;
    struct db_session *db;

    (void)in;
    TRY(request_db(rq, &db));
    TRY(store_lease_read(db, rq->principal.tenant, rq->path_value[0], rq->path_value[1],
                         &stored, rq->arena, rq->err));
    return lease_read(&stored, out, rq->arena, rq->err);
}

/* ---- changing ---- */

/* The lease rq->path_value[1], if it counts and is no session's. */
static enum error_code read_own(struct request *rq, struct db_session *db,
                                struct store_lease *stored)
{
    TRY(store_lease_read(db, rq->principal.tenant, rq->path_value[0], rq->path_value[1],
                         stored, rq->arena, rq->err));
    if (is_of_session(stored->owner))
        return fail(rq->err, ERR_CONFLICT, "",
                    "the lease is that of '%.200s', which alone changes it",
                    stored->owner);
    return OK;
}

/* A change of a lease that does not look at the snapshot. */
struct changing {
    struct request *rq;
    double ttl_s; /* NAN: it is given back */
    struct lease *out;
};

static enum error_code change_lease(struct db_session *db, void *context,
                                    struct error *err)
{
    const struct changing *c = context;
    struct request *rq = c->rq;
    const char *tenant = rq->principal.tenant;
    struct store_lease stored;
    double now_at_s;

    TRY(store_lease_lock(db, tenant, rq->path_value[0], rq->arena, err));
    TRY(read_own(rq, db, &stored));
    if (isnan(c->ttl_s))
        return store_lease_remove(db, tenant, rq->path_value[0], stored.lease_id, false,
                                  err);
    TRY(store_clock(db, &now_at_s, rq->arena, err));
    stored.expires_at_s = stored_instant(now_at_s + c->ttl_s);
    TRY(store_lease_extend(db, tenant, rq->path_value[0], stored.lease_id,
                           stored.expires_at_s, err));
    return lease_read(&stored, c->out, rq->arena, err);
}

enum error_code patch_lease(struct request *rq, const void *in, void *out)
{
    const struct raw_body *body = in;
    struct changing c = {.rq = rq, .out = out};
    struct heartbeat beat;
    struct db_session *db;

    TRY(json_read(&lease_change_json, body->length ? body->text : "", body->length, &beat,
                  &rq->renames, rq->arena, rq->err));
    c.ttl_s = beat.ttl_s;
    TRY(request_db(rq, &db));
    return db_transaction(db, change_lease, &c, rq->err);
}

enum error_code delete_lease(struct request *rq, const void *in, void *out)
{
    struct changing c = {.rq = rq, .ttl_s = NAN};
    struct db_session *db;

    (void)in;
    (void)out;
    TRY(request_db(rq, &db));
    TRY(db_transaction(db, change_lease, &c, rq->err));
    rq->reply->status = 204;
    return OK;
}

/* ---- confirming ---- */

/* Rows that cannot run now: ERR_CONFLICT. */
static enum error_code check_confirmed(const struct leasing *l, const struct lease *lease)
{
    struct request *rq = l->rq;
    struct name_index ids;
    size_t found = 0;

    name_index_create(&ids, l->snapshot.resource_count, rq->arena);
    for (size_t i = 0; i < l->snapshot.resource_count; i++)
        name_index_add(&ids, l->snapshot.resources[i].id, i);
    for (size_t i = 0; i < lease->placement_count; i++) {
        const struct lease_row *row = &lease->placements[i];
        const char *gone = NULL;

        budget_step(&rq->finish, row->resource_id_count);
        for (size_t k = 0; k < row->resource_id_count; k++)
            if (name_index_find(&ids, row->resource_ids[k]) == NAME_NOT_FOUND)
                gone = row->resource_ids[k];
        if (gone)
            invalid(rq->err, "", ITEM_CONFLICT,
                    "resource '%.100s' of job '%.100s' is gone", gone, row->job_id);
        else if (row->start_at_s > l->now_at_s)
            invalid(rq->err, "", ITEM_CONFLICT, "job '%.100s' begins only in %.15g s",
                    row->job_id, row->start_at_s - l->now_at_s);
        found += gone || row->start_at_s > l->now_at_s;
    }
    return found ? fail(rq->err, ERR_CONFLICT, "",
                        "%zu of %s cannot run now; nothing is changed", found,
                        counted(lease->placement_count, "placement").text)
                 : OK;
}

/* The rows that do not run yet as a patch of the snapshot. */
static const char *running_patch(const struct leasing *l, const struct lease *lease)
{
    const struct lease_running *running = lease_running_of(&l->snapshot, l->rq->arena);
    struct text_buffer b = {.arena = l->rq->arena, .prints_request = true};
    bool first = true;

    text_addf(&b, "{\"running_by_id\":{");
    for (size_t i = 0; i < lease->placement_count; i++) {
        const struct lease_row *row = &lease->placements[i];
        struct taken_running runs = lease_row_running(
            row, row->resource_ids, row->resource_id_count, l->now_at_s);

        runs.nodes = JSON_NO_INTEGER; /* not said */
        if (lease_runs(running, row))
            continue;
        text_addf(&b, first ? "" : ",");
        first = false;
        json_print_text(row->job_id, &b);
        text_addf(&b, ":");
        json_print(&snapshot_running_json, &runs, &b);
    }
    text_add(&b, "}}", 3); /* with the NUL */
    return text_end(&b);
}

static enum error_code confirm(struct snapshot_change *c, struct db_session *db,
                               const char **document)
{
    struct request *rq = c->rq;
    struct leasing l = {.rq = rq, .snapshot_id = rq->path_value[0]};
    struct json_patched patched;
    struct store_lease stored;
    struct lease *lease = c->context;

    TRY(read_own(rq, db, &stored));
    TRY(lease_read(&stored, lease, rq->arena, rq->err));
    TRY(look(&l, &c->stored, db));
    TRY(check_confirmed(&l, lease));
    TRY(json_patch(c->stored.document, running_patch(&l, lease), snapshot_lists, &patched,
                   rq->arena, rq->err));
    TRY(snapshot_check_patched(rq, &patched));
    *document = patched.text;
    return store_lease_remove(db, rq->principal.tenant, rq->path_value[0],
                              stored.lease_id, true, rq->err);
}

enum error_code post_lease_confirm(struct request *rq, const void *in, void *out)
{
    struct lease *lease = out;
    struct snapshot_change c = {.rq = rq, .make = confirm, .context = lease};

    (void)in;
    TRY(snapshot_change(&c));
    lease->generation = c.now.generation;
    return OK;
}
