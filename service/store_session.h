/* store_session.h - runs of workflows: definition, events, later tasks, grants, plan.
 *
 * Whoever adds to a session first locks its row, so that its numbers (seq) are given out
 * one after another and nobody sees one before a smaller one.
 *
 * The rules and errors of store.h hold here too.
 */
#ifndef GRIDPLAN_STORE_SESSION_H
#define GRIDPLAN_STORE_SESSION_H

#include "models/session/event.h"
#include "service/store.h"

struct store_session {
    const char *session_id, *application_id;
    const char *snapshot_id; /* NULL: the definition has one */
    uint64_t definition_seq, revision, lease_revision;
    uint64_t plan_revision;               /* 0: there was none */
    uint64_t planned_seq;                 /* revision that the plan was made from */
    uint64_t seen_leases;                 /* world_version likewise */
    double planned_at_s, due_at_s;        /* instants; NAN: none */
    double expires_after_s;               /* seconds from the last event to the end */
    double created_at_s, defined_at_s;    /* instants */
    double last_event_at_s, expires_at_s; /* likewise; NAN: no event */
    double now_s;                         /* by the database's clock */
    uint64_t event_count;
    uint64_t status_revision;           /* the revision that running_count is of */
    uint64_t running_count;             /* tasks that run */
    uint64_t counts_revision;           /* the revision that the next two are of */
    uint64_t done_count, stopped_count; /* tasks done; failed or cancelled */
    uint64_t world_version;   /* rises with each change of the snapshot or its leases */
    bool no_tasks, no_grants; /* there are no later tasks, no grants; false: not known */
    const char *definition;   /* JSON; NULL in heads */
    const char *plan;         /* JSON; NULL: none, and in heads */
    const char *schedule; /* JSON, of a plan to be written; never read with the rest */
};

/* ERR_NOT_FOUND. */
enum error_code store_session_head(struct db_session *s, const char *tenant,
                                   const char *session_id, struct store_session *out,
                                   struct arena *a, struct error *err);
enum error_code store_session_read(struct db_session *s, const char *tenant,
                                   const char *session_id, struct store_session *out,
                                   struct arena *a, struct error *err);

/* As store_session_read(), without its definition. */
enum error_code store_session_read_light(struct db_session *s, const char *tenant,
                                         const char *session_id,
                                         struct store_session *out, struct arena *a,
                                         struct error *err);

/* The same, locked until the transaction ends; *found false: there is none. Without its
 * plan, and without its definition, too. */
enum error_code store_session_lock(struct db_session *s, const char *tenant,
                                   const char *session_id, struct store_session *out,
                                   bool *found, struct arena *a, struct error *err);
enum error_code store_session_lock_head(struct db_session *s, const char *tenant,
                                        const char *session_id, struct store_session *out,
                                        bool *found, struct arena *a, struct error *err);

/* Head and plan of one that is finished, if the plan is of its last revision. */
enum error_code store_session_over(struct db_session *s, const char *tenant,
                                   const char *session_id, struct store_session *out,
                                   bool *found, struct arena *a, struct error *err);

/* A new one, of revision 0. Unless there is one: then *made is false. */
enum error_code store_session_create(struct db_session *s, const char *tenant,
                                     const struct store_session *session, bool *made,
                                     struct error *err);

/* Sessions of a tenant that have not expired. */
enum error_code store_session_count(struct db_session *s, const char *tenant,
                                    uint64_t *count, struct arena *a, struct error *err);

/* Of a locked session: another definition, with the seq `revision`; no plan holds. */
enum error_code store_session_redefine(struct db_session *s, const char *tenant,
                                       const struct store_session *session,
                                       struct error *err);

/* ERR_NOT_FOUND. With its leases and all that belongs to it. */
enum error_code store_session_delete(struct db_session *s, const char *tenant,
                                     const char *session_id, struct arena *a,
                                     struct error *err);

/* Sessions by id, without their plans; application_id NULL: any. */
enum error_code store_sessions_list(struct db_session *s, const char *tenant,
                                    const char *application_id,
                                    const struct store_page *page,
                                    const struct store_session **list, size_t *count,
                                    const char **next_token, struct arena *a,
                                    struct error *err);

/* Of a locked session: its revision and count of events; `event`: one came now, or it was
 * asked what to start, so that it expires later. */
enum error_code store_session_advance(struct db_session *s, const char *tenant,
                                      const char *session_id, uint64_t revision,
                                      uint64_t event_count, bool event,
                                      struct error *err);

/* Of a locked session: what its tasks come to at its revision ("running", "finished",
 * "stuck"), and its counts of tasks. */
enum error_code store_session_stand(struct db_session *s, const char *tenant,
                                    const struct store_session *session,
                                    const char *status, struct error *err);

/* Sessions of all tenants by what they come to. */
struct store_session_census {
    uint64_t running, finished, stuck, expired;
};
enum error_code store_session_census(struct db_session *s,
                                     struct store_session_census *out, struct arena *a,
                                     struct error *err);

/* Versions of sessions of any tenants, for who waits: of those that are there. */
struct store_session_version {
    const char *tenant, *session_id;
    uint64_t number; /* the caller's; comes back */
    uint64_t revision, world_version, plan_revision;
};
enum error_code store_session_versions(struct db_session *s,
                                       const struct store_session_version *asked,
                                       size_t count, struct store_session_version **list,
                                       size_t *found, struct arena *a, struct error *err);

/* Writes the plan, if its revision is still plan_revision - 1; *written. */
enum error_code store_session_plan(struct db_session *s, const char *tenant,
                                   const struct store_session *session, bool *written,
                                   struct error *err);

/* The schedule of the plan in force; NULL: there is none. */
enum error_code store_session_schedule(struct db_session *s, const char *tenant,
                                       const char *session_id, const char **schedule,
                                       struct arena *a, struct error *err);

/* When the answer may change again; with `raise` it has changed, too. Nothing if the plan
 * is another one. */
enum error_code store_session_due(struct db_session *s, const char *tenant,
                                  const char *session_id, double due_at_s,
                                  uint64_t plan_revision, bool raise, struct error *err);

/* The plan knows of that world_version: what was changed since is the session's own. */
enum error_code store_session_seen(struct db_session *s, const char *tenant,
                                   const char *session_id, uint64_t seen_leases,
                                   uint64_t plan_revision, struct error *err);

/* ---- events ---- */

struct store_session_event {
    struct session_event event;
    const char *session_id;
    uint64_t kind;            /* the event's, as it is stored; likewise: */
    const char *resource_ids; /* JSON; NULL */
    double received_at_s;
};

/* Of a locked session; none of the ids is stored. */
enum error_code store_session_events_add(struct db_session *s, const char *tenant,
                                         const struct store_session_event *list,
                                         size_t count, struct arena *a,
                                         struct error *err);

/* Those of these ids that are stored. */
enum error_code store_session_events_known(struct db_session *s, const char *tenant,
                                           const struct store_session_event *ids,
                                           size_t count,
                                           const struct store_session_event **list,
                                           size_t *found, struct arena *a,
                                           struct error *err);

/* Those of the tasks of these, each once, and all host_down events. */
enum error_code
store_session_events_near(struct db_session *s, const char *tenant,
                          const char *session_id, const struct store_session_event *of,
                          size_t count, const struct store_session_event **list,
                          size_t *found, struct arena *a, struct error *err);

/* Those with after_seq < seq <= to_seq, by seq, `limit` at most. */
enum error_code store_session_events_read(struct db_session *s, const char *tenant,
                                          const char *session_id, uint64_t after_seq,
                                          uint64_t to_seq, uint64_t limit,
                                          const struct store_session_event **list,
                                          size_t *count, struct arena *a,
                                          struct error *err);

/* ---- tasks that came later ---- */

struct store_session_task {
    const char *session_id, *task_id;
    uint64_t first_seq, seq;
    const char *document; /* JSON; NULL: as the definition has it */
    uint64_t removed_seq; /* 0: it was not */
};

/* By first_seq. */
enum error_code store_session_tasks_read(struct db_session *s, const char *tenant,
                                         const char *session_id,
                                         const struct store_session_task **list,
                                         size_t *count, struct arena *a,
                                         struct error *err);

/* Those of the same names as `of`, which are of one session. */
enum error_code store_session_tasks_near(struct db_session *s, const char *tenant,
                                         const struct store_session_task *of,
                                         size_t of_count,
                                         const struct store_session_task **list,
                                         size_t *count, struct arena *a,
                                         struct error *err);

/* Of a locked session: new ones, and those that are there get these values. */
enum error_code store_session_tasks_write(struct db_session *s, const char *tenant,
                                          const struct store_session_task *list,
                                          size_t count, struct arena *a,
                                          struct error *err);

/* ---- grants ---- */

struct store_session_grant {
    const char *session_id, *task_id;
    uint64_t attempt;
    const char *resource_id, *holder;
    const char *const *places; /* of a task on several nodes: all of them, resource_id is
                                  the first; NULL */
    size_t place_count;
    const char *resource_ids;          /* as they are stored: JSON; NULL */
    double granted_at_s, expires_at_s; /* instants */
    double run_time_s;
};

/* Those that have not expired at that instant, by task. */
enum error_code store_session_grants_read(struct db_session *s, const char *tenant,
                                          const char *session_id, double now_s,
                                          const struct store_session_grant **list,
                                          size_t *count, struct arena *a,
                                          struct error *err);

/* Of a locked session: raises its lease_revision. */
enum error_code store_session_grants_write(struct db_session *s, const char *tenant,
                                           const char *session_id,
                                           const struct store_session_grant *list,
                                           size_t count, struct arena *a,
                                           struct error *err);

#endif
