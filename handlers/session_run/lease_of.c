/* lease_of.c - what a run holds of a stored snapshot: a lease for each attempt. */
#include "handlers/session_run/lease_of.h"

#include "models/base/names.h"
#include "models/snapshot_at.h"
#include "service/uuid.h"

#include <string.h>

enum { ROOM = 64 };

static const double SAME_S = 1; /* ends that differ by less are not written */

static const char *job_id(struct arena *a, const char *task_id, uint64_t attempt)
{
    return arena_printf(a, "%s#%llu", task_id, (unsigned long long)attempt);
}

/* Instants are stored in microseconds. */
static double stored_instant(double at_s)
{
    return round(at_s * 1e6) / 1e6;
}

static void index_own(struct session_leases *l)
{
    name_index_create(&l->own, l->room, l->rq->arena);
    for (size_t i = 0; i < l->live_count; i++)
        if (!l->gone[i] && strcmp(l->live[i].owner, l->owner) == 0)
            for (size_t k = 0; k < l->live[i].placement_count; k++)
                name_index_add(&l->own, l->live[i].placements[k].job_id, i);
}

enum error_code session_leases_open(struct request *rq, const struct store_session *row,
                                    struct db_session *db, struct session_leases *out)
{
    const char *tenant = rq->principal.tenant;
    const struct store_lease *stored;
    struct store_snapshot head;
    const struct lease *live;

    *out = (struct session_leases){.rq = rq, .db = db};
    TRY(store_lease_lock(db, tenant, row->snapshot_id, rq->arena, rq->err));
    TRY(store_session_head(db, tenant, row->session_id, &out->row, rq->arena, rq->err));
    TRY(store_snapshot_head(db, tenant, row->snapshot_id, &head, rq->arena, rq->err));
    out->generation = head.generation;
    TRY(store_clock(db, &out->now_s, rq->arena, rq->err));
    TRY(store_leases_live(db, tenant, row->snapshot_id, out->now_s, &stored,
                          &out->live_count, rq->arena, rq->err));
    TRY(lease_read_all(stored, out->live_count, &live, rq->arena, rq->err));
    out->owner = arena_printf(rq->arena, LEASE_SESSION_PREFIX "%s", row->session_id);
    out->room = out->live_count + ROOM;
    out->live = NEW(rq->arena, struct lease, out->room);
    memcpy(out->live, live, out->live_count * sizeof(*live));
    out->gone = NEW(rq->arena, bool, out->room);
    index_own(out);
    return OK;
}

enum error_code session_leases_close(struct session_leases *leases, uint64_t raised)
{
    const struct store_session *row = &leases->row;
    uint64_t now = row->world_version + leases->changes + raised;

    if (now == row->world_version || row->plan_revision == 0 ||
        row->seen_leases != row->world_version)
        return OK;
    return store_session_seen(leases->db, leases->rq->principal.tenant, row->session_id,
                              now, row->plan_revision, leases->rq->err);
}

struct lease_row session_lease_row(const struct session_run *run, size_t task,
                                   uint64_t attempt, struct session_places places,
                                   double start_at_s, double time_s)
{
    struct arena *a = run->rq->arena;
    struct taken_running holds = session_holds(run, task, NULL);
    const char **ids = NEW(a, const char *, places.count);

    memcpy(ids, places.ids, places.count * sizeof(*ids));
    return (struct lease_row){
        .job_id = job_id(a, run->graph[task].id, attempt),
        .resource_ids = ids,
        .resource_id_count = places.count,
        .cpus = holds.cpus,
        .memory_bytes = holds.memory_bytes,
        .disk_bytes = holds.disk_bytes,
        .needs = holds.needs,
        .need_count = holds.need_count,
        .exclusive = holds.exclusive,
        .start_at_s = stored_instant(start_at_s),
        .end_at_s = stored_instant(start_at_s + time_s),
    };
}

static enum error_code read_snapshot(struct session_leases *l)
{
    struct request *rq = l->rq;
    struct snapshot *s = NEW(rq->arena, struct snapshot, 1);
    struct store_snapshot stored;

    TRY(store_snapshot_read(l->db, rq->principal.tenant, l->row.snapshot_id, &stored,
                            rq->arena, rq->err));
    TRY(json_read(&snapshot_json, stored.document, strlen(stored.document), s, NULL,
                  rq->arena, rq->err));
    *s = snapshot_at(s, isnan(s->taken_at_s) ? stored.written_at_s : s->taken_at_s,
                     l->now_s, rq->arena);
    l->s = s;
    return OK;
}

/* What does not fit is no failure of the request. */
bool session_lease_fits(struct session_leases *leases, const struct lease_row *rows,
                        size_t row_count)
{
    struct request aside = *leases->rq;
    struct error ignored = {.arena = leases->rq->arena};
    struct lease *live = NEW(leases->rq->arena, struct lease, leases->live_count);
    size_t count = 0;

    if (!leases->s && read_snapshot(leases) != OK)
        return false;
    for (size_t i = 0; i < leases->live_count; i++)
        if (!leases->gone[i])
            live[count++] = leases->live[i];
    aside.err = &ignored;
    return lease_fits(&aside, leases->s, leases->now_s, live, count,
                      &(struct lease_rows){rows, row_count, "start", NULL}) == OK;
}

static size_t find(const struct session_leases *leases, const char *job)
{
    size_t at = name_index_find(&leases->own, job);

    return at == NAME_NOT_FOUND || leases->gone[at] ? NAME_NOT_FOUND : at;
}

const struct lease *session_lease_find(const struct session_leases *leases,
                                       const char *task_id, uint64_t attempt)
{
    size_t at = find(leases, job_id(leases->rq->arena, task_id, attempt));

    return at == NAME_NOT_FOUND ? NULL : &leases->live[at];
}

static enum error_code remove_at(struct session_leases *l, size_t at)
{
    l->gone[at] = true;
    l->changes++;
    return store_lease_remove(l->db, l->rq->principal.tenant, l->row.snapshot_id,
                              l->live[at].lease_id, true, l->rq->err);
}

enum error_code session_lease_drop(struct session_leases *leases, const char *task_id,
                                   uint64_t attempt)
{
    size_t at = find(leases, job_id(leases->rq->arena, task_id, attempt));

    return at == NAME_NOT_FOUND ? OK : remove_at(leases, at);
}

static void make_room(struct session_leases *l)
{
    struct arena *a = l->rq->arena;
    size_t room = 2 * l->room;

    if (l->live_count < l->room)
        return;
    l->live = arena_extend(a, l->live, sizeof(*l->live), l->room, room);
    l->gone = arena_extend(a, l->gone, sizeof(*l->gone), l->room, room);
    l->room = room;
    index_own(l);
}

enum error_code session_lease_add(struct session_leases *leases,
                                  const struct lease_row *row, double expires_at_s)
{
    struct arena *a = leases->rq->arena;
    struct lease_row *kept = NEW(a, struct lease_row, 1);
    char *id = NEW(a, char, UUID_TEXT_SIZE);
    size_t at = find(leases, row->job_id);
    struct store_lease stored;

    if (at != NAME_NOT_FOUND)
        TRY(remove_at(leases, at));
    *kept = *row;
    uuid_make(id);
    stored = (struct store_lease){
        .lease_id = id,
        .owner = leases->owner,
        .created_at_s = leases->now_s,
        .expires_at_s = stored_instant(expires_at_s),
        .generation = leases->generation,
        .rows = lease_rows_text(kept, 1, a),
    };
    TRY(store_lease_create(leases->db, leases->rq->principal.tenant,
                           leases->row.snapshot_id, &stored, leases->rq->err));
    leases->changes++;
    make_room(leases);
    leases->live[leases->live_count] = (struct lease){id,
                                                      leases->owner,
                                                      stored.created_at_s,
                                                      stored.expires_at_s,
                                                      stored.generation,
                                                      kept,
                                                      1};
    at = name_index_add(&leases->own, kept->job_id, leases->live_count);
    if (at != NAME_NOT_FOUND && leases->gone[at]) { /* its job had another one */
        leases->gone[leases->live_count++] = false;
        index_own(leases);
        return OK;
    }
    leases->live_count++;
    return OK;
}

enum error_code session_lease_renew(struct session_leases *leases, const char *task_id,
                                    uint64_t attempt, double end_at_s)
{
    const struct lease *had = session_lease_find(leases, task_id, attempt);
    struct lease_row row;

    if (!had || isnan(end_at_s) || fabs(had->placements->end_at_s - end_at_s) < SAME_S)
        return OK;
    row = had->placements[0];
    row.end_at_s = stored_instant(end_at_s);
    return store_lease_rewrite(
        leases->db, leases->rq->principal.tenant, leases->row.snapshot_id, had->lease_id,
        lease_rows_text(&row, 1, leases->rq->arena), leases->rq->err);
}
