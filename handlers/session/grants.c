/* grants.c - telling somebody to start tasks, so that nobody else is told the same and
 * nobody else gets the amounts.
 *
 * The plan was made without a lock. Then, in one transaction, the session's row is
 * locked, and behind it that of the stored snapshot. If nothing has changed since the
 * plan was made, all that it starts fits. If another holder was faster, nothing new is
 * granted; if others have taken amounts of the snapshot, what fits beside theirs, a gang
 * as a whole.
 */
#include "handlers/session/next.h"

#include "handlers/session_run/lease_of.h"
#include "models/base/names.h"
#include "service/service.h"
#include "service/session_watch.h"

struct granting {
    struct session_run *run;
    struct session_choice *choice;
    const char *holder;
    double hold_s;
    const bool *granted; /* of each start; the transaction may be run twice */
};

/* Others see when attempts that run are expected to end now. */
static enum error_code renew_leases(struct granting *g, struct session_leases *leases)
{
    const struct session_run *run = g->run;
    const struct session_times *times = session_times_of(g->run);

    for (size_t i = 0; i < run->task_count; i++) {
        const struct session_attempt *t = run->state.of[i].shown;
        enum session_source source;

        if (run->state.of[i].status != SESSION_TASK_RUNNING)
            continue;
        TRY(session_lease_renew(
            leases, t->task_id, t->number,
            t->started->observed_at_s +
                session_total_s(session_started_s(times, i, t->started, &source), t)));
    }
    return OK;
}

/* Behind the starts that stand or fall with start `first`. */
static size_t unit_end(const struct session_choice *choice, size_t first)
{
    size_t gang = choice->starts[first].gang, end = first + 1;

    while (gang != SESSION_NO_TASK && end < choice->start_count &&
           choice->starts[end].gang == gang)
        end++;
    return end;
}

/* What is not granted is not started. */
static enum error_code take_leases(struct granting *g, const struct store_session *row,
                                   struct db_session *db, double now_s, bool *granted)
{
    bool same_world = row->world_version == g->run->row.world_version;
    struct session_leases leases;
    struct lease_row *rows =
        NEW(g->run->rq->arena, struct lease_row, g->choice->start_count);
    size_t count = 0;

    TRY(session_leases_open(g->run->rq, row, db, &leases));
    same_world = same_world && leases.row.world_version == row->world_version;
    for (size_t i = g->choice->again_count; i < g->choice->start_count; i++) {
        const struct session_start *s = &g->choice->starts[i];

        rows[i] = session_lease_row(
            g->run, s->task, s->attempt,
            session_places_of(&s->resource_id, s->resource_ids, s->resource_id_count),
            now_s, s->run_time_s);
    }
    for (size_t first = g->choice->again_count, end; first < g->choice->start_count;
         first = end) {
        bool fits;

        end = unit_end(g->choice, first);
        budget_step(&g->run->rq->finish, end - first);
        fits = same_world || session_lease_fits(&leases, &rows[first], end - first);
        for (size_t i = first; i < end; i++) {
            granted[i] = fits;
            if (fits)
                TRY(session_lease_add(&leases, &rows[i], now_s + g->hold_s));
            count += fits;
        }
    }
    if (g->choice->is_fresh)
        TRY(renew_leases(g, &leases));
    return session_leases_close(&leases, count > 0);
}

static enum error_code note_grants(struct granting *g, struct db_session *db,
                                   double now_s, const bool *granted)
{
    struct request *rq = g->run->rq;
    struct store_session_grant *list =
        NEW(rq->arena, struct store_session_grant, g->choice->start_count);
    size_t count = 0;

    for (size_t i = g->choice->again_count; i < g->choice->start_count; i++) {
        struct session_start *s = &g->choice->starts[i];

        if (!granted[i])
            continue;
        s->hold_until_at_s = round((now_s + g->hold_s) * 1e6) / 1e6;
        list[count++] = (struct store_session_grant){
            .session_id = g->run->row.session_id,
            .task_id = s->task_id,
            .attempt = s->attempt,
            .resource_id = s->resource_id,
            .places = s->resource_ids,
            .place_count = s->resource_id_count,
            .holder = g->holder,
            .granted_at_s = now_s,
            .expires_at_s = s->hold_until_at_s,
            .run_time_s = s->run_time_s,
        };
    }
    return store_session_grants_write(db, rq->principal.tenant, g->run->row.session_id,
                                      list, count, rq->arena, rq->err);
}

static void keep_granted(struct granting *g, const bool *granted)
{
    size_t kept = g->choice->again_count;

    for (size_t i = kept; i < g->choice->start_count; i++)
        if (granted[i])
            g->choice->starts[kept++] = g->choice->starts[i];
    g->choice->start_count = kept;
}

/* A plan that others have not touched knows of the grants that follow from it. */
static enum error_code note_seen(const struct granting *g,
                                 const struct store_session *row, struct db_session *db)
{
    if (row->snapshot_id || row->seen_leases != row->world_version)
        return OK;
    return store_session_seen(db, g->run->rq->principal.tenant, row->session_id,
                              row->world_version + 1, row->plan_revision,
                              g->run->rq->err);
}

static enum error_code fail_gone(const char *session_id, struct error *err)
{
    return fail(err, ERR_NOT_FOUND, "/session_id",
                "there is no workflow session '%.200s'", session_id);
}

static enum error_code grant_locked(struct db_session *db, void *context,
                                    struct error *err)
{
    struct granting *g = context;
    struct request *rq = g->run->rq;
    const struct store_session *before = &g->run->row;
    const char *tenant = rq->principal.tenant;
    bool *granted = NEW(rq->arena, bool, g->choice->start_count);
    bool found, same, any = false;
    struct store_session row;
    double now_s;

    TRY(store_session_lock_head(db, tenant, before->session_id, &row, &found, rq->arena,
                                err));
    if (!found)
        return fail_gone(before->session_id, err);
    TRY(store_clock(db, &now_s, rq->arena, err));
    same =
        row.revision == before->revision && row.lease_revision == before->lease_revision;
    for (size_t i = g->choice->again_count; i < g->choice->start_count; i++)
        granted[i] = same;
    if (same && row.snapshot_id)
        TRY(take_leases(g, &row, db, now_s, granted));
    for (size_t i = g->choice->again_count; i < g->choice->start_count; i++)
        any |= granted[i];
    if (any) {
        TRY(note_grants(g, db, now_s, granted));
        TRY(note_seen(g, &row, db));
    }
    g->granted = granted;
    return store_session_advance(db, tenant, row.session_id, row.revision,
                                 row.event_count, true, err);
}

enum error_code session_grant(struct session_run *run, struct session_choice *choice,
                              const char *holder, double hold_s)
{
    struct granting g = {run, choice, holder, hold_s, NULL};

    TRY(session_transaction(run->rq, grant_locked, &g));
    session_watch_look(run->rq->service->watch);
    keep_granted(&g, g.granted);
    return OK;
}

/* ---- nothing ---- */

struct asking {
    struct request *rq;
    const char *session_id;
};

static enum error_code note_asked(struct db_session *db, void *context, struct error *err)
{
    const struct asking *x = context;
    const char *tenant = x->rq->principal.tenant;
    struct store_session row;
    bool found;

    TRY(store_session_lock_head(db, tenant, x->session_id, &row, &found, x->rq->arena,
                                err));
    return found ? store_session_advance(db, tenant, x->session_id, row.revision,
                                         row.event_count, true, err)
                 : fail_gone(x->session_id, err);
}

enum error_code session_asked(struct request *rq, const char *session_id)
{
    struct asking x = {rq, session_id};

    return session_transaction(rq, note_asked, &x);
}
