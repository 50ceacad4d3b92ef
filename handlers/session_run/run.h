/* run.h - a stored run of a workflow as it is at one revision and one instant: what all
 * endpoints of sessions are answered from.
 */
#ifndef GRIDPLAN_SESSION_RUN_H
#define GRIDPLAN_SESSION_RUN_H

#include "handlers/placement/run_times.h"
#include "handlers/session_run/session_json.h"
#include "handlers/snapshots/lease_view.h"

struct session_run {
    struct request *rq;
    struct store_session row;
    struct session_definition definition;
    uint64_t revision;
    double now_s; /* instant */
    bool
        is_replay; /* `now` or `revision` was asked for: grants and leases are not seen */

    /* Tasks of the definition in its order, then later ones in theirs. */
    struct session_task_body *tasks; /* depends_on has the edges, too */
    struct session_task *graph;
    size_t task_count;
    uint64_t tasks_seq; /* of the last change of the definition or a task */
    struct name_index ids;

    const struct session_event **events; /* by seq */
    size_t event_count, event_room;
    struct session_fold fold;

    struct arena *arena; /* has what stands above, but the row; NULL: the request's */
    struct session_kept_run *kept; /* that is kept for other requests; NULL: it is not */

    struct session_state state;

    const struct store_session_grant **granted; /* [task_count]; NULL: to nobody */
    size_t granted_count;

    struct snapshot base;  /* as of now_s, without what events say; session_world() */
    struct snapshot world; /* with hosts as they are, and what others and processes to be
                              cancelled hold */
    struct name_index resources;
    const struct session_learnt *learnt; /* NULL: no model tells anything */

    const char **warnings;
    size_t warning_count;
};

/* Of an instant and a revision; NAN, JSON_NO_INTEGER: as it is now. */
struct session_at {
    double now_s;
    uint64_t revision;
    bool in_passing; /* it is not worth keeping */
};

/* Reads the session rq->path_value[0] and works out its state. ERR_NOT_FOUND,
 * ERR_INVALID at "?/revision" for one that it has not reached, and ERR_GONE if it has
 * expired, unless `even_expired`. */
enum error_code session_run_read(struct session_run *run, struct request *rq,
                                 const struct session_at *at, bool even_expired);

/* The session of that name. */
enum error_code session_run_find(struct session_run *run, struct request *rq,
                                 const char *session_id, const struct session_at *at,
                                 bool even_expired);

/* The same of a row that was read, and may be locked; its definition may be NULL if it is
 * kept. */
enum error_code session_run_of(struct session_run *run, struct request *rq,
                               const struct store_session *row,
                               const struct session_at *at);

/* As session_run_read() now, of what is read already: the definition and tasks as of
 * `read->revision`, unless somebody has changed the session since. NULL: nothing is. */
enum error_code session_run_after(struct session_run *run, struct request *rq,
                                  const struct session_run *read);

/* In a transaction, its own unless there is one: what is kept of what it has read and
 * written is for others when it is committed. */
enum error_code session_transaction(struct request *rq, db_transaction_fn *run,
                                    void *context);

/* Reads its snapshot, and makes the world. */
enum error_code session_world(struct session_run *run);

/* The tasks of a definition, and later ones until `revision`; sets tasks, graph, ids. */
enum error_code session_tasks_read(struct session_run *run);

/* Reads definition, tasks and events of run->row as of run->revision; `keep`: they may be
 * kept. */
enum error_code session_read_whole(struct session_run *run, bool keep);

/* Reads definition and tasks of a locked session, of run->row, as session_tasks_read()
 * does; of `task_ids` alone, the others are then as if they were not there. NULL: all. */
enum error_code session_definition_read(struct session_run *run,
                                        const char *const *task_ids, size_t count);

/* ERR_GONE. */
enum error_code session_check_expiry(const struct store_session *row, struct error *err);

void session_warn(struct session_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct session_counts session_counts_of(const struct session_state *state);

/* "finished", "stuck", "running", "expired". */
const char *session_status_name(const struct session_run *run);

/* Stores what its tasks come to, and how many of them run; of a locked session whose
 * events are stored up to row->revision. Reads all of them; session_stand_of() not the
 * tasks, which are in *read. */
enum error_code session_stand(struct request *rq, struct db_session *db,
                              const struct store_session *row);
enum error_code session_stand_of(const struct session_run *read, struct db_session *db,
                                 const struct store_session *row);

/* What a task needs while it runs, as a lease or a running job of the resource has it. */
struct taken_running session_holds(const struct session_run *run, size_t task,
                                   const char *id);

/* Resources of something: several, of which `one` is the first, or that one alone. */
struct session_places {
    const char *const *ids;
    size_t count;
};
struct session_places session_places_of(const char *const *one, const char *const *ids,
                                        size_t count);
struct session_places session_places_started(const struct session_event *started);
struct session_places session_places_granted(const struct store_session_grant *grant);
bool session_places_have(struct session_places places, const char *resource_id);

/* Whether the snapshot has all of them; session_world() first. */
bool session_places_known(const struct session_run *run, struct session_places places);

/* Whether two are of the same resources. O(count^2) where their order differs. */
bool session_places_same(struct session_places left, struct session_places right);

/* ---- kept.c: what stays as it is until the session changes ---- */

/* Whether something is kept of the session: then its row may be read without the
 * definition. */
bool session_is_kept(struct request *rq, const char *session_id);

/* Definition, tasks and folded events from what is kept, with what run->row says came
 * since; sets those of the run, and the definition of its row. *found false: nothing is
 * kept, or it is not what the row is of. */
enum error_code session_kept_find(struct session_run *run, bool *found);

/* What the run reads from here on is to be kept, if anything is: sets run->arena and
 * run->kept. */
enum error_code session_kept_begin(struct session_run *run);

/* All is read; `last` of its events, NULL: it has none. */
enum error_code session_kept_end(struct session_run *run,
                                 const struct store_session_event *last);

/* Adds events to those of the run, in the order of their seq, and to its fold. */
void session_events_join(struct session_run *run, const struct store_session_event *rows,
                         size_t count);

/* ---- times.c ---- */

/* Where the expected run time of a task comes from. */
enum session_source {
    SESSION_FROM_ETC,
    SESSION_FROM_ESTIMATE,
    SESSION_FROM_MODEL,
    SESSION_FROM_SESSION, /* ended attempts of its class on the resource */
    SESSION_FROM_OTHERS,  /* ... on others, scaled by their speeds */
    SESSION_FROM_DEFAULT
};
extern const char *const session_source_names[]; /* ended by NULL */

/* Expected run time in seconds; NAN: it cannot run there. */
struct session_times;
const struct session_times *session_times_of(struct session_run *run);
double session_time_s(const struct session_times *times, size_t task, size_t resource,
                      enum session_source *source);

/* On several: the longest of them, and of which resource (a number of the world). NAN:
 * one is not known, or it cannot run there. */
double session_time_on_s(const struct session_times *times, size_t task,
                         struct session_places places, enum session_source *source,
                         size_t *slowest);

/* Where a started one is. */
double session_started_s(const struct session_times *times, size_t task,
                         const struct session_event *started,
                         enum session_source *source);

/* Kind of a task's work. */
const char *session_class_of(const struct session_task_body *task);

/* ---- learnt.c ---- */

/* Asks the models, of the resources of run->base. */
enum error_code session_models_ask(struct session_run *run);

/* What a model says; NAN: none does. */
double session_learnt_s(const struct session_run *run, size_t task, size_t resource);

/* Where a run time comes from. Without a model: NULL, JSON_NO_INTEGER, NAN. */
struct session_basis {
    const char *source;
    const char *model_id;
    uint64_t model_version;
    double low_s, high_s, level;
};
struct session_basis session_basis_of(const struct session_run *run, size_t task,
                                      size_t resource, enum session_source source);

/* Gangs: tasks that start at the same time, or not at all (world-model.md 2.4). What of a
 * gang has begun, or is granted, is left alone, also when it fails and starts again: the
 * others are the gang. */
struct session_gangs {
    size_t count;
    size_t *of;    /* [task]; SESSION_NO_TASK: in none, or it waits no more */
    size_t *sizes; /* [gang]: tasks that wait, also those that can never start */
};

/* O(tasks). */
void session_gangs_of(const struct session_run *run, struct session_gangs *out);

/* Marks the gangs that have a marked member. True: more tasks than before. */
bool session_gangs_spread(const struct session_run *run,
                          const struct session_gangs *gangs, bool *mark);

#endif
