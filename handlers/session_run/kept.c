/* kept.c - what of a stored run stays as it is until the session changes: definition,
 * tasks, events and what they fold to. It is read once, and kept for the next request,
 * which reads the newer events alone.
 *
 * The database is believed, not what is kept. A session is the same one if it was made
 * and defined at the same instants. Its numbers are given out without gaps, each to an
 * event or to something else, so that as many more numbers as events mean that its tasks
 * are as they were. Its last event is read again: were the last transactions lost with a
 * server, another one has that number, or none.
 */
#include "handlers/session_run/run.h"

#include "service/service.h"
#include "service/session_cache.h"

#include <string.h>

struct session_kept_run {
    struct session_kept kept; /* the beginning of it */
    struct session_run read;  /* definition, tasks, graph, ids, events, fold */
    const char *definition;   /* as it was sent */
    double created_at_s, defined_at_s;
    uint64_t definition_seq, revision, event_count;
    uint64_t lost_count; /* connections to the database when it was read */
    const struct store_session_event *last; /* NULL: there is none */
};

static struct session_kept_run *find(struct request *rq, const char *session_id)
{
    return (struct session_kept_run *)session_hold_find(rq->held, rq->principal.tenant,
                                                        session_id);
}

bool session_is_kept(struct request *rq, const char *session_id)
{
    return find(rq, session_id) != NULL;
}

/* A server that others take the place of breaks its connections. */
static uint64_t lost_count(const struct request *rq)
{
    struct db_stats stats;

    db_stats(rq->service->db, &stats);
    return stats.lost_count;
}

static bool is_same(const struct session_kept_run *k, const struct session_run *run)
{
    const struct store_session *row = &run->row;

    return k->created_at_s == row->created_at_s && k->defined_at_s == row->defined_at_s &&
           k->definition_seq == row->definition_seq && k->revision <= row->revision &&
           k->event_count <= row->event_count &&
           row->revision - k->revision == row->event_count - k->event_count &&
           k->lost_count == lost_count(run->rq);
}

static bool is_same_event(const struct store_session_event *left,
                          const struct store_session_event *right)
{
    return left->event.seq == right->event.seq &&
           left->received_at_s == right->received_at_s &&
           strcmp(left->event.event_id, right->event.event_id) == 0;
}

/* The last event, and those behind it up to the row's revision. *agrees false: there is
 * another one in its place, or there are more or fewer than the row says. */
static enum error_code read_newer(struct session_kept_run *k, struct session_run *run,
                                  bool *agrees)
{
    const struct store_session *row = &run->row;
    const struct store_session_event *rows;
    struct arena_mark before = arena_mark(k->kept.arena);
    size_t count, newer = row->event_count - k->event_count;
    struct request *rq = run->rq;
    struct db_session *db;

    *agrees = true;
    if (row->event_count == 0)
        return OK;
    TRY(request_db(rq, &db));
    TRY(store_session_events_read(db, rq->principal.tenant, row->session_id,
                                  k->last ? k->last->event.seq - 1 : 0, row->revision,
                                  INT64_MAX, &rows, &count, k->kept.arena, rq->err));
    *agrees = count == newer + (k->last != NULL) &&
              (!k->last || is_same_event(&rows[0], k->last));
    if (!*agrees)
        return OK;
    if (newer == 0) {
        arena_rewind(k->kept.arena, before);
        return OK;
    }
    k->read.rq = rq;
    session_events_join(&k->read, &rows[count - newer], newer);
    k->last = &rows[count - 1];
    k->revision = row->revision;
    k->event_count = row->event_count;
    return OK;
}

/* What of it others have. */
static void lend(const struct session_kept_run *k, struct session_run *run)
{
    struct session_run out = k->read;

    out.rq = run->rq;
    out.row = run->row;
    out.row.definition = k->definition;
    out.revision = run->revision;
    out.now_s = run->now_s;
    out.is_replay = run->is_replay;
    *run = out;
}

enum error_code session_kept_find(struct session_run *run, bool *found)
{
    struct request *rq = run->rq;
    struct session_kept_run *k = find(rq, run->row.session_id);
    bool was_pending, agrees = false;
    uint64_t revision;
    struct db_session *db;

    *found = false;
    if (!k)
        return OK;
    TRY(request_db(rq, &db));
    was_pending = k->kept.is_pending;
    revision = k->revision;
    k->kept.is_pending = true; /* half of it would be there */
    k->read.fold.budget = &rq->finish;
    if (is_same(k, run))
        TRY(read_newer(k, run, &agrees));
    if (!agrees) {
        session_hold_drop(rq->held, &k->kept);
        return OK;
    }
    k->kept.is_pending = was_pending || (k->revision > revision && db_in_transaction(db));
    lend(k, run);
    session_hold_hit(rq->held);
    *found = true;
    return OK;
}

enum error_code session_kept_begin(struct session_run *run)
{
    struct request *rq = run->rq;
    struct session_kept_run *k;

    if (!session_hold_keeps(rq->held))
        return OK;
    k = (struct session_kept_run *)session_hold_add(
        rq->held, sizeof(*k), rq->principal.tenant, run->row.session_id);
    k->kept.is_pending = true;
    k->lost_count = lost_count(rq);
    run->arena = k->kept.arena;
    run->kept = k;
    return OK;
}

enum error_code session_kept_end(struct session_run *run,
                                 const struct store_session_event *last)
{
    const struct store_session *row = &run->row;
    struct session_kept_run *k = run->kept;
    struct request *rq = run->rq;
    struct db_session *db;

    TRY(request_db(rq, &db));
    k->definition = arena_text(run->arena, row->definition, strlen(row->definition));
    k->created_at_s = row->created_at_s;
    k->defined_at_s = row->defined_at_s;
    k->definition_seq = row->definition_seq;
    k->revision = row->revision;
    k->event_count = row->event_count;
    k->last = last;
    k->read = *run;
    k->kept.is_pending = run->event_count != row->event_count || db_in_transaction(db);
    session_hold_read(rq->held, &k->kept);
    return OK;
}
