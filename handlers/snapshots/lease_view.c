/* lease_view.c - a stored snapshot as decisions see it. */
#include "handlers/snapshots/lease_view.h"

#include "models/base/names.h"
#include "models/snapshot_at.h"
#include "service/hash.h"
#include "service/store_lease.h"

#include <math.h>
#include <string.h>

enum { ID_MAX_BYTES = 256 }; /* of what is read as JSON_ID() */

#define T struct lease_held
static const struct json_field held_rows[] = {
    JSON_ID(T, owner, 0, "Who has it"),
    JSON_LIST(T, placements, placement_count, struct lease_row, &lease_row_json, 0, 0,
              "What it holds"),
    {0},
};
#undef T
static const struct json_object held_json = {"LeaseHeld", "A lease that counts",
                                             sizeof(struct lease_held), held_rows};

#define T struct snapshot_view
static const struct json_field view_rows[] = {
    JSON_INSTANT(T, now_at, 0, "What the database's clock said"),
    JSON_INSTANT(T, written_at, 0, "When the snapshot was last written whole"),
    JSON_INTEGER(T, generation, 0, JSON_EXACT, 0, 0, "Of the snapshot"),
    JSON_INTEGER(T, lease_revision, 0, JSON_EXACT, 0, 0, "Leases made and confirmed"),
    JSON_LIST(T, leases, lease_count, struct lease_held, &held_json, 0, 0,
              "Those that counted"),
    {0},
};
#undef T
const struct json_object snapshot_view_json = {"SnapshotView",
                                               "What belonged to a stored snapshot",
                                               sizeof(struct snapshot_view), view_rows};

enum error_code snapshot_view_read(struct request *rq, const char *snapshot_id,
                                   struct snapshot_view *view, const char **document)
{
    struct store_snapshot_view stored;
    struct db_session *db;

    TRY(request_db(rq, &db));
    TRY(store_snapshot_view(db, rq->principal.tenant, snapshot_id, &stored, rq->arena,
                            rq->err));
    *document = stored.document;
    TRY(json_read(&snapshot_view_json, stored.leases, strlen(stored.leases), view, NULL,
                  rq->arena, rq->err));
    view->now_at_s = stored.now_s;
    view->written_at_s = stored.written_at_s;
    view->generation = stored.generation;
    view->lease_revision = stored.lease_revision;
    return OK;
}

/* What is made of the leases. */
struct adding {
    const struct snapshot *s; /* as it is at now */
    double now_at_s;          /* of the database */
    struct name_index resources;
    struct taken_running *running;
    struct taken_reservation *reservations;
    size_t running_count, reservation_count;
    const char **ids;
    size_t id_count;
    const char *owner;      /* of the lease that is being added */
    struct name_index jobs; /* of all leases: positions in */
    bool *is_shared;        /* ... another lease has one of that name, too */
    struct arena *arena;
};

/* Resources of the row that are still there; *counts_slots: one of them counts its busy
 * slots, and has no rows of what runs. */
static const char *const *known_resources(const struct adding *x,
                                          const struct lease_row *row, size_t *count,
                                          bool *counts_slots)
{
    const char **ids = NEW(x->arena, const char *, row->resource_id_count);

    *count = 0;
    *counts_slots = false;
    for (size_t i = 0; i < row->resource_id_count; i++) {
        size_t at = name_index_find(&x->resources, row->resource_ids[i]);
        const struct resource *r;

        if (at == NAME_NOT_FOUND)
            continue;
        r = &x->s->resources[at];
        ids[(*count)++] = r->id;
        *counts_slots |= r->job_count > 0 || r->free_at_count > 0 || r->ready_s > 0;
    }
    return ids;
}

static void add_reservation(struct adding *x, const struct lease_row *row,
                            const char *const *ids, size_t count)
{
    struct taken_reservation *out = &x->reservations[x->reservation_count++];

    *out = (struct taken_reservation){.id = row->job_id,
                                      .resource_ids = ids,
                                      .resource_id_count = count,
                                      .start_s = NAN,
                                      .start_at_s = row->start_at_s,
                                      .end_s = NAN,
                                      .end_at_s = row->end_at_s,
                                      .all = row->exclusive,
                                      .cpus = NAN,
                                      .memory_bytes = NAN,
                                      .disk_bytes = NAN};
    if (row->exclusive)
        return;
    out->cpus = row->cpus;
    out->memory_bytes = row->memory_bytes;
    out->disk_bytes = row->disk_bytes;
    out->needs = row->needs;
    out->need_count = row->need_count;
}

const char *lease_held_name(const char *owner, const char *job_id, struct arena *a)
{
    const char *name = arena_printf(a, "%s/%s", owner, job_id);
    char hex[65];

    if (strlen(name) <= ID_MAX_BYTES)
        return name;
    hash_sha256_hex(name, strlen(name), hex);
    return arena_printf(a, "lease:%s", hex);
}

/* Jobs of one name that two leases have are two jobs. */
static const char *name_of(const struct adding *x, const struct lease_row *row)
{
    bool is_session =
        strncmp(x->owner, LEASE_SESSION_PREFIX, strlen(LEASE_SESSION_PREFIX)) == 0;

    if (!is_session && !x->is_shared[name_index_find(&x->jobs, row->job_id)])
        return row->job_id;
    return lease_held_name(x->owner, row->job_id, x->arena);
}

static void add_running(struct adding *x, const struct lease_row *row,
                        const char *const *ids, size_t count)
{
    struct taken_running *out = &x->running[x->running_count];

    *out = lease_row_running(row, ids, count, fmin(row->start_at_s, x->s->taken_at_s));
    if (out->id == row->job_id)
        out->id = name_of(x, row);
    x->running_count++;
}

static void add_row(struct adding *x, const struct lease_row *row)
{
    bool counts_slots;
    size_t count;
    const char *const *ids = known_resources(x, row, &count, &counts_slots);

    x->ids[x->id_count++] = row->job_id;
    if (count == 0)
        return;
    if (row->start_at_s > x->now_at_s || counts_slots)
        add_reservation(x, row, ids, count);
    else
        add_running(x, row, ids, count);
}

/* Room for the snapshot's own rows and so many more. */
static void make_room(struct adding *x, size_t more)
{
    const struct snapshot *s = x->s;

    x->ids = NEW(x->arena, const char *, more);
    x->running = NEW(x->arena, struct taken_running, s->running_count + more);
    x->reservations =
        NEW(x->arena, struct taken_reservation, s->reservation_count + more);
    for (size_t i = 0; i < s->running_count; i++)
        x->running[x->running_count++] = s->running[i];
    for (size_t i = 0; i < s->reservation_count; i++)
        x->reservations[x->reservation_count++] = s->reservations[i];
    name_index_create(&x->resources, s->resource_count, x->arena);
    for (size_t i = 0; i < s->resource_count; i++)
        name_index_add(&x->resources, s->resources[i].id, i);
}

static void find_shared(struct adding *x, const struct snapshot_view *view, size_t rows)
{
    size_t count = 0;

    x->is_shared = NEW(x->arena, bool, rows);
    name_index_create(&x->jobs, rows, x->arena);
    for (size_t i = 0; i < view->lease_count; i++)
        for (size_t k = 0; k < view->leases[i].placement_count; k++) {
            const char *job_id = view->leases[i].placements[k].job_id;
            size_t at = name_index_add(&x->jobs, job_id, count);

            if (at == NAME_NOT_FOUND)
                count++;
            else
                x->is_shared[at] = true;
        }
}

struct snapshot snapshot_with_leases(const struct snapshot *s,
                                     const struct snapshot_view *view, struct arena *a)
{
    bool says_now = !isnan(s->taken_at_s);
    struct snapshot out = snapshot_at(s, says_now ? s->taken_at_s : view->written_at_s,
                                      says_now ? s->taken_at_s : view->now_at_s, a);
    const struct lease_running *running = lease_running_of(s, a);
    struct adding x = {.s = &out, .now_at_s = view->now_at_s, .arena = a};
    size_t rows = 0;

    for (size_t i = 0; i < view->lease_count; i++)
        rows += view->leases[i].placement_count;
    if (rows == 0)
        return out;
    make_room(&x, rows);
    find_shared(&x, view, rows);
    for (size_t i = 0; i < view->lease_count; i++) {
        x.owner = view->leases[i].owner;
        for (size_t k = 0; k < view->leases[i].placement_count; k++)
            if (!lease_runs(running, &view->leases[i].placements[k]))
                add_row(&x, &view->leases[i].placements[k]);
    }
    out.running = x.running;
    out.running_count = x.running_count;
    out.reservations = x.reservations;
    out.reservation_count = x.reservation_count;
    out.leased_ids = x.ids;
    out.leased_id_count = x.id_count;
    return out;
}
