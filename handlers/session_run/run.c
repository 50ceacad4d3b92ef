/* run.c - a stored run of a workflow as it is at one revision and one instant. */
#include "handlers/session_run/run.h"

#include "models/base/names.h"
#include "models/session/part.h"
#include "service/session_cache.h"

#include <stdio.h>
#include <string.h>

void session_warn(struct session_run *run, const char *format, ...)
{
    const char *text;
    va_list args;

    va_start(args, format);
    text = arena_vprintf(run->rq->arena, format, args);
    va_end(args);
    run->warnings = arena_extend(run->rq->arena, run->warnings, sizeof(*run->warnings),
                                 run->warning_count, run->warning_count + 1);
    run->warnings[run->warning_count++] = text;
}

enum error_code session_check_expiry(const struct store_session *row, struct error *err)
{
    if (row->expires_at_s > row->now_s)
        return OK;
    return fail(err, ERR_GONE, "",
                "the workflow session '%.200s' has expired; PUT its definition to start "
                "anew",
                row->session_id);
}

/* Where what is read goes. */
static struct arena *arena_of(const struct session_run *run)
{
    return run->arena ? run->arena : run->rq->arena;
}

/* ---- the graph ---- */

/* The edges of the definition's workflow, by child. */
struct edges {
    const struct session_workflow *of;
    size_t *first, *next; /* [tasks], [edges]: chains by number + 1; 0: the end */
};

static void chain_edges(struct session_run *run, struct edges *e)
{
    struct arena *a = run->rq->arena;

    e->of = run->definition.workflow;
    e->first = NEW(a, size_t, run->task_count);
    e->next = NEW(a, size_t, e->of->edge_count);
    for (size_t i = e->of->edge_count; i-- > 0;) {
        size_t child = name_index_find(&run->ids, e->of->edges[i].child_id);

        if (child == NAME_NOT_FOUND)
            continue;
        e->next[i] = e->first[child];
        e->first[child] = i + 1;
    }
}

/* depends_on of a task with its edges behind; what is there twice counts once. */
static void join_edges(struct session_run *run, const struct edges *e, size_t i)
{
    struct workflow_task *task = &run->tasks[i].task;
    size_t room = task->dependency_count, count = room;
    struct workflow_dependency *list;
    struct name_index known;

    for (size_t k = e->first[i]; k; k = e->next[k - 1])
        room++;
    if (room == count)
        return;
    budget_step(&run->rq->finish, room);
    name_index_create(&known, room, run->rq->arena);
    for (size_t k = 0; k < count; k++)
        name_index_add(&known, task->depends_on[k].task_id, k);
    list = NEW(arena_of(run), struct workflow_dependency, room);
    if (count > 0)
        memcpy(list, task->depends_on, count * sizeof(*list));
    task->depends_on = list;
    for (size_t k = e->first[i]; k; k = e->next[k - 1]) {
        const struct workflow_edge_request *edge = &e->of->edges[k - 1];

        if (name_index_add(&known, edge->parent_id, k) == NAME_NOT_FOUND)
            list[count++] = (struct workflow_dependency){edge->parent_id,
                                                         edge->transfer_s, edge->bytes};
    }
    task->dependency_count = count;
}

static void make_graph(struct session_run *run)
{
    struct edges e;

    chain_edges(run, &e);
    for (size_t i = 0; i < run->task_count; i++) {
        const struct workflow_task *task = &run->tasks[i].task;
        size_t *parents;

        join_edges(run, &e, i);
        parents = NEW(arena_of(run), size_t, task->dependency_count);
        budget_step(&run->rq->finish, task->dependency_count + 1);
        for (size_t k = 0; k < task->dependency_count; k++) {
            parents[k] = name_index_find(&run->ids, task->depends_on[k].task_id);
            if (parents[k] == NAME_NOT_FOUND)
                parents[k] = SESSION_NO_TASK;
        }
        run->graph[i].id = task->id;
        run->graph[i].attempts_max = run->tasks[i].attempts_max;
        run->graph[i].parents = parents;
        run->graph[i].parent_count = task->dependency_count;
    }
}

static enum error_code read_later(struct session_run *run,
                                  const struct store_session_task *later)
{
    struct request *rq = run->rq;
    struct session_task_body *body;
    const char *id;
    size_t at;

    if (later->first_seq > run->revision)
        return OK;
    id = arena_text(arena_of(run), later->task_id, strlen(later->task_id));
    at = name_index_add(&run->ids, id, run->task_count);
    if (at == NAME_NOT_FOUND)
        at = run->task_count++;
    body = &run->tasks[at];
    if (later->document)
        TRY(json_read(&session_task_json, later->document, strlen(later->document), body,
                      NULL, arena_of(run), rq->err));
    body->task.id = id;
    run->tasks_seq = later->seq > run->tasks_seq ? later->seq : run->tasks_seq;
    run->graph[at].removed = later->removed_seq && later->removed_seq <= run->revision;
    return OK;
}

/* What the definition has, and `later`. */
static enum error_code join_tasks(struct session_run *run,
                                  const struct store_session_task *later, size_t count)
{
    const struct session_workflow *w = run->definition.workflow;
    struct arena *a = arena_of(run);

    run->tasks = NEW(a, struct session_task_body, w->task_count + count);
    run->graph = NEW(a, struct session_task, w->task_count + count);
    name_index_create(&run->ids, w->task_count + count, a);
    run->task_count = w->task_count;
    run->tasks_seq = run->row.definition_seq;
    for (size_t i = 0; i < w->task_count; i++) {
        run->tasks[i] = w->tasks[i];
        name_index_add(&run->ids, w->tasks[i].task.id, i);
    }
    for (size_t i = 0; i < count; i++)
        TRY(read_later(run, &later[i]));
    make_graph(run);
    return OK;
}

enum error_code session_tasks_read(struct session_run *run)
{
    const struct store_session_task *later = NULL;
    struct request *rq = run->rq;
    struct db_session *db;
    size_t count = 0;

    TRY(request_db(rq, &db));
    if (!run->row.no_tasks)
        TRY(store_session_tasks_read(db, rq->principal.tenant, run->row.session_id,
                                     &later, &count, rq->arena, rq->err));
    return join_tasks(run, later, count);
}

static enum error_code read_part(struct session_run *run, const char *const *task_ids,
                                 size_t count)
{
    struct store_session_task *asked;
    const struct store_session_task *later;
    struct request *rq = run->rq;
    struct name_index wanted;
    struct db_session *db;
    const char *text;

    asked = NEW(rq->arena, struct store_session_task, count);
    name_index_create(&wanted, count, rq->arena);
    for (size_t i = 0; i < count; i++) {
        name_index_add(&wanted, task_ids[i], i);
        asked[i] = (struct store_session_task){.session_id = run->row.session_id,
                                               .task_id = task_ids[i]};
    }
    text = session_definition_part(run->row.definition, &wanted, rq->arena);
    TRY(json_read(&session_definition_json, text, strlen(text), &run->definition, NULL,
                  rq->arena, rq->err));
    TRY(request_db(rq, &db));
    TRY(store_session_tasks_near(db, rq->principal.tenant, asked, count, &later, &count,
                                 rq->arena, rq->err));
    return join_tasks(run, later, count);
}

enum error_code session_definition_read(struct session_run *run,
                                        const char *const *task_ids, size_t count)
{
    const char *text = run->row.definition;
    struct request *rq = run->rq;

    run->revision = run->row.revision;
    if (task_ids)
        return read_part(run, task_ids, count);
    TRY(json_read(&session_definition_json, text, strlen(text), &run->definition, NULL,
                  rq->arena, rq->err));
    return session_tasks_read(run);
}

/* ---- events and grants ---- */

void session_events_join(struct session_run *run, const struct store_session_event *rows,
                         size_t count)
{
    size_t all = run->event_count + count;

    if (all > run->event_room) {
        size_t room = all > 2 * run->event_room ? all : 2 * run->event_room;

        run->events = arena_extend(arena_of(run), run->events, sizeof(*run->events),
                                   run->event_count, room);
        run->event_room = room;
    }
    for (size_t i = 0; i < count; i++) {
        budget_step(&run->rq->finish, 8);
        run->events[run->event_count++] = &rows[i].event;
        session_fold_add(&run->fold, &rows[i].event);
    }
    session_fold_end(&run->fold);
}

/* *last: NULL, there are none. */
static enum error_code read_events(struct session_run *run,
                                   const struct store_session_event **last)
{
    const struct store_session_event *rows = NULL;
    struct request *rq = run->rq;
    struct db_session *db;
    size_t count = 0;

    TRY(request_db(rq, &db));
    if (run->row.event_count > 0)
        TRY(store_session_events_read(db, rq->principal.tenant, run->row.session_id, 0,
                                      run->revision, INT64_MAX, &rows, &count,
                                      arena_of(run), rq->err));
    run->events = NULL;
    run->event_count = run->event_room = 0;
    session_fold_begin(&run->fold, run->task_count, &rq->finish, arena_of(run));
    session_events_join(run, rows, count);
    *last = count ? &rows[count - 1] : NULL;
    return OK;
}

enum error_code session_read_whole(struct session_run *run, bool keep)
{
    const char *text = run->row.definition;
    const struct store_session_event *last;
    struct request *rq = run->rq;

    if (keep)
        TRY(session_kept_begin(run));
    TRY(json_read(&session_definition_json, text, strlen(text), &run->definition, NULL,
                  arena_of(run), rq->err));
    TRY(session_tasks_read(run));
    TRY(read_events(run, &last));
    return run->kept ? session_kept_end(run, last) : OK;
}

/* A grant counts until its task begins, ends, or has another attempt. */
static enum error_code read_grants(struct session_run *run, struct db_session *db)
{
    const struct store_session_grant *rows;
    struct request *rq = run->rq;
    size_t count;

    run->granted = NEW(rq->arena, const struct store_session_grant *, run->task_count);
    if (run->is_replay || run->row.no_grants)
        return OK;
    TRY(store_session_grants_read(db, rq->principal.tenant, run->row.session_id,
                                  run->now_s, &rows, &count, rq->arena, rq->err));
    for (size_t i = 0; i < count; i++) {
        size_t at = name_index_find(&run->ids, rows[i].task_id);

        if (at == NAME_NOT_FOUND || run->state.of[at].status != SESSION_TASK_READY ||
            run->state.of[at].next_attempt != rows[i].attempt)
            continue;
        run->granted[at] = &rows[i];
        run->granted_count++;
    }
    return OK;
}

static void warn_of_replay(struct session_run *run)
{
    session_warn(run, "leases_not_replayed: grants and leases of that instant are not "
                      "known");
    if (run->row.snapshot_id)
        session_warn(run, "snapshot_not_replayed: the snapshot is that of now");
    if (run->revision < run->row.definition_seq)
        session_warn(run, "definition_not_replayed: the definition is a later one");
}

/* What events and grants make of the tasks that were read. */
static enum error_code work_out(struct session_run *run)
{
    struct request *rq = run->rq;
    struct db_session *db;

    TRY(request_db(rq, &db));
    session_state_of(run->graph, run->task_count, &run->fold, &run->state, &rq->finish,
                     rq->arena);
    TRY(read_grants(run, db));
    if (run->state.unknown_count)
        session_warn(run,
                     "unknown_dependency: %zu, on tasks that there are not; what "
                     "waits for them waits",
                     run->state.unknown_count);
    if (run->is_replay)
        warn_of_replay(run);
    return OK;
}

/* What is not there yet cannot be replayed: the last one in its place would look as if it
 * were that. */
static enum error_code check_reached(const struct store_session *row,
                                     const struct session_at *at, struct error *err)
{
    if (at->revision == JSON_NO_INTEGER || at->revision <= row->revision)
        return OK;
    invalid(err, "?/revision", ITEM_OUT_OF_BOUNDS,
            "revision %llu has not been reached: the last one is %llu",
            (unsigned long long)at->revision, (unsigned long long)row->revision);
    error_hint(err, "leave it out for the last one");
    return err->code;
}

/* Of that row, before anything is read. */
static enum error_code begin_run(struct session_run *run, struct request *rq,
                                 const struct store_session *row,
                                 const struct session_at *at, bool *is_kept)
{
    *is_kept = false;
    TRY(check_reached(row, at, rq->err));
    *run = (struct session_run){
        .rq = rq,
        .row = *row,
        .revision = at->revision == JSON_NO_INTEGER ? row->revision : at->revision,
        .now_s = isnan(at->now_s) ? row->now_s : round(at->now_s * 1e6) / 1e6,
        .is_replay = !isnan(at->now_s) || at->revision != JSON_NO_INTEGER};
    return at->revision == JSON_NO_INTEGER ? session_kept_find(run, is_kept) : OK;
}

enum error_code session_run_of(struct session_run *run, struct request *rq,
                               const struct store_session *row,
                               const struct session_at *at)
{
    bool is_kept;

    TRY(begin_run(run, rq, row, at, &is_kept));
    if (!is_kept)
        TRY(session_read_whole(run, at->revision == JSON_NO_INTEGER && !at->in_passing));
    return work_out(run);
}

/* Tasks change with the revision only. */
static enum error_code run_again(struct session_run *run, const struct session_run *read,
                                 const struct store_session *row)
{
    const struct store_session_event *last;

    *run = *read;
    run->row = *row;
    run->revision = row->revision;
    run->now_s = row->now_s;
    run->warnings = NULL;
    run->warning_count = 0;
    TRY(read_events(run, &last));
    return work_out(run);
}

enum error_code session_run_after(struct session_run *run, struct request *rq,
                                  const struct session_run *read)
{
    struct session_at now = {NAN, JSON_NO_INTEGER, false};
    struct store_session row;
    struct db_session *db;

    if (!read || session_is_kept(rq, rq->path_value[0]))
        return session_run_read(run, rq, &now, false);
    TRY(request_db(rq, &db));
    TRY(store_session_read(db, rq->principal.tenant, rq->path_value[0], &row, rq->arena,
                           rq->err));
    TRY(session_check_expiry(&row, rq->err));
    return row.revision == read->revision ? run_again(run, read, &row)
                                          : session_run_of(run, rq, &row, &now);
}

enum error_code session_run_read(struct session_run *run, struct request *rq,
                                 const struct session_at *at, bool even_expired)
{
    return session_run_find(run, rq, rq->path_value[0], at, even_expired);
}

enum error_code session_run_find(struct session_run *run, struct request *rq,
                                 const char *session_id, const struct session_at *at,
                                 bool even_expired)
{
    struct store_session row;
    struct db_session *db;
    bool is_kept;

    TRY(request_db(rq, &db));
    if (at->revision == JSON_NO_INTEGER && session_is_kept(rq, session_id)) {
        TRY(store_session_read_light(db, rq->principal.tenant, session_id, &row,
                                     rq->arena, rq->err));
        if (!even_expired)
            TRY(session_check_expiry(&row, rq->err));
        TRY(begin_run(run, rq, &row, at, &is_kept));
        if (is_kept)
            return work_out(run);
    }
    TRY(store_session_read(db, rq->principal.tenant, session_id, &row, rq->arena,
                           rq->err));
    if (!even_expired)
        TRY(session_check_expiry(&row, rq->err));
    return session_run_of(run, rq, &row, at);
}

/* ---- in a transaction ---- */

struct attempting {
    struct request *rq;
    db_transaction_fn *run;
    void *context;
};

/* What a transaction that was undone has read is not so. */
static enum error_code attempt(struct db_session *db, void *context, struct error *err)
{
    const struct attempting *t = context;

    session_hold_undone(t->rq->held);
    return t->run(db, t->context, err);
}

enum error_code session_transaction(struct request *rq, db_transaction_fn *run,
                                    void *context)
{
    struct attempting t = {rq, run, context};
    struct db_session *db;

    TRY(request_db(rq, &db));
    if (db_in_transaction(db)) /* with an Idempotency-Key */
        return run(db, context, rq->err);
    TRY(db_transaction(db, attempt, &t, rq->err));
    session_hold_committed(rq->held);
    return OK;
}

/* ---- what is said of it ---- */

struct session_counts session_counts_of(const struct session_state *state)
{
    struct session_counts out;

    for (size_t i = 0; i < SESSION_TASK_STATUS_COUNT; i++)
        out.of[i] = state->counts[i];
    return out;
}

const char *session_status_name(const struct session_run *run)
{
    if (run->row.expires_at_s <= run->row.now_s)
        return "expired";
    return session_status_names[session_status_of(&run->state, run->granted_count)];
}

static enum error_code store_standing(const struct session_run *run,
                                      struct db_session *db)
{
    const size_t *counts = run->state.counts;
    struct store_session row = run->row;

    row.running_count = counts[SESSION_TASK_RUNNING];
    row.done_count = counts[SESSION_TASK_DONE];
    row.stopped_count = counts[SESSION_TASK_FAILED] + counts[SESSION_TASK_CANCELLED];
    return store_session_stand(
        db, run->rq->principal.tenant, &row,
        session_status_names[session_status_of(&run->state, run->granted_count)],
        run->rq->err);
}

enum error_code session_stand(struct request *rq, struct db_session *db,
                              const struct store_session *row)
{
    struct session_at now = {NAN, JSON_NO_INTEGER, false};
    struct session_run run;

    TRY(session_run_of(&run, rq, row, &now));
    return store_standing(&run, db);
}

enum error_code session_stand_of(const struct session_run *read, struct db_session *db,
                                 const struct store_session *row)
{
    struct session_run run;

    if (read->kept)
        return session_stand(read->rq, db, row);
    TRY(run_again(&run, read, row));
    return store_standing(&run, db);
}

struct taken_running session_holds(const struct session_run *run, size_t task,
                                   const char *id)
{
    const struct workflow_task *t = &run->tasks[task].task;

    return (struct taken_running){
        .id = id,
        .cpus = isnan(t->cpus) ? 1 : t->cpus,
        .memory_bytes = isnan(t->memory_bytes) ? 0 : t->memory_bytes,
        .disk_bytes = isnan(t->disk_bytes) ? 0 : t->disk_bytes,
        .needs = t->needs,
        .need_count = t->need_count,
        .expected_end_s = NAN,
        .expected_end_at_s = NAN,
        .time_limit_s = NAN,
        .elapsed_s = NAN,
        .started_at_s = NAN,
        .weight = 1,
        .exclusive = t->exclusive,
    };
}

/* ---- places ---- */

struct session_places session_places_of(const char *const *one, const char *const *ids,
                                        size_t count)
{
    return count ? (struct session_places){ids, count} : (struct session_places){one, 1};
}

struct session_places session_places_started(const struct session_event *started)
{
    return session_places_of(&started->resource_id, started->resource_ids,
                             started->resource_id_count);
}

struct session_places session_places_granted(const struct store_session_grant *grant)
{
    return session_places_of(&grant->resource_id, grant->places, grant->place_count);
}

bool session_places_have(struct session_places places, const char *resource_id)
{
    for (size_t k = 0; k < places.count; k++)
        if (strcmp(places.ids[k], resource_id) == 0)
            return true;
    return false;
}

bool session_places_known(const struct session_run *run, struct session_places places)
{
    budget_step(&run->rq->finish, places.count);
    for (size_t k = 0; k < places.count; k++)
        if (name_index_find(&run->resources, places.ids[k]) == NAME_NOT_FOUND)
            return false;
    return true;
}

bool session_places_same(struct session_places left, struct session_places right)
{
    if (left.count != right.count)
        return false;
    for (size_t k = 0; k < left.count; k++)
        if (strcmp(left.ids[k], right.ids[k]) != 0 &&
            !session_places_have(right, left.ids[k]))
            return false;
    return true;
}

/* ---- gangs ---- */

static bool is_waiting(const struct session_run *run, size_t i)
{
    switch (run->state.of[i].status) {
    case SESSION_TASK_IDLE:
    case SESSION_TASK_READY:
    case SESSION_TASK_BLOCKED:
        return !run->granted[i];
    default:
        return false;
    }
}

void session_gangs_of(const struct session_run *run, struct session_gangs *out)
{
    struct arena *a = run->rq->arena;
    struct name_index names;

    *out = (struct session_gangs){.of = NEW(a, size_t, run->task_count),
                                  .sizes = NEW(a, size_t, run->task_count)};
    name_index_create(&names, run->task_count, a);
    budget_step(&run->rq->finish, run->task_count);
    for (size_t i = 0; i < run->task_count; i++) {
        const struct job_group *g = run->tasks[i].task.group;
        size_t at;

        out->of[i] = SESSION_NO_TASK;
        if (!g || g->policy != JOB_GANG || !is_waiting(run, i))
            continue;
        at = name_index_add(&names, g->id, out->count);
        if (at == NAME_NOT_FOUND)
            at = out->count++;
        out->of[i] = at;
        out->sizes[at]++;
    }
}

bool session_gangs_spread(const struct session_run *run,
                          const struct session_gangs *gangs, bool *mark)
{
    bool *marked = NEW(run->rq->arena, bool, gangs->count);
    bool more = false;

    budget_step(&run->rq->finish, run->task_count);
    for (size_t i = 0; i < run->task_count; i++)
        if (gangs->of[i] != SESSION_NO_TASK && mark[i])
            marked[gangs->of[i]] = true;
    for (size_t i = 0; i < run->task_count; i++)
        if (gangs->of[i] != SESSION_NO_TASK && marked[gangs->of[i]] && !mark[i])
            mark[i] = more = true;
    return more;
}
