/* lease.h - leases of stored snapshots: how they look, and whether one fits. */
#ifndef GRIDPLAN_HANDLERS_LEASE_H
#define GRIDPLAN_HANDLERS_LEASE_H

#include "models/job.h"
#include "models/snapshot.h"
#include "service/route.h"
#include "service/store_lease.h"

struct snapshot_view; /* lease_view.h */

/* A job that holds amounts of resources for a while. */
struct lease_row {
    const char *job_id;
    const char *const *resource_ids;
    size_t resource_id_count;
    double cpus, memory_bytes, disk_bytes; /* of each resource */
    const struct named_value *needs;       /* likewise; shared ones once */
    size_t need_count;
    bool exclusive;
    double start_at_s, end_at_s; /* instants; NAN: no end is known */
    const char *running_id;      /* by which it runs in the snapshot; NULL: its job_id */
};

/* The same as it is asked for; times are seconds from now. */
struct lease_wish {
    struct lease_row row;
    double start_s, end_s; /* NAN: no end is known */
};

struct lease_request {
    const char *owner;
    double ttl_s;
    const struct lease_wish *placements;
    size_t placement_count;
};

struct lease {
    const char *lease_id;
    const char *owner;
    double created_at_s, expires_at_s; /* NAN: never */
    uint64_t generation;               /* of the snapshot when it was made */
    const struct lease_row *placements;
    size_t placement_count;
};

extern const struct json_object lease_request_json;
extern const struct json_object lease_row_json;
extern const struct json_object lease_json;

/* The prefix of owners that are sessions of workflows: these alone change their leases.
 */
#define LEASE_SESSION_PREFIX "session:"

/* As it is stored, and back. */
const char *lease_rows_text(const struct lease_row *rows, size_t count, struct arena *a);
enum error_code lease_read(const struct store_lease *stored, struct lease *out,
                           struct arena *a, struct error *err);
enum error_code lease_read_all(const struct store_lease *stored, size_t count,
                               const struct lease **out, struct arena *a,
                               struct error *err);

/* The row as a job that runs since started_at_s, an instant, on these resources. */
struct taken_running lease_row_running(const struct lease_row *row,
                                       const char *const *resource_ids,
                                       size_t resource_id_count, double started_at_s);

/* The ids of what runs, by which a lease's row counts no more. */
struct lease_running;
const struct lease_running *lease_running_of(const struct snapshot *s, struct arena *a);
bool lease_runs(const struct lease_running *running, const struct lease_row *row);

/* Rows that are to be leased, and where the request has them. */
struct lease_rows {
    const struct lease_row *rows;
    size_t count;
    const char *list;      /* a list of the request: "placements" */
    const size_t *numbers; /* by row: its place there; NULL: its own */
};

/* Whether rows fit at `now_at_s` beside what runs, is reserved and what live leases hold
 * that do not run yet. `s`: the snapshot as it is now. ERR_CONFLICT: an element of
 * "errors" for each that does not; ERR_INVALID: a row or the snapshot makes no sense. */
enum error_code lease_fits(struct request *rq, const struct snapshot *s, double now_at_s,
                           const struct lease *live, size_t live_count,
                           const struct lease_rows *asked);

/* What a decision has placed on a stored snapshot, to be leased with its answer. */
struct lease_publication {
    const char *snapshot_id;
    const struct snapshot_view *read; /* of what it was decided from */
    const char *owner;
    double ttl_s;
    const struct lease_wish *wishes;
    size_t wish_count;
    const size_t *jobs; /* by wish: its place in "jobs" of the request */
    struct lease made;  /* filled in */
};

/* The owner of a request that is about leases, at `pointer`: no session's. */
void lease_check_owner(struct request *rq, const char *owner, const char *pointer);

/* publish_fn; the context is a struct lease_publication. The snapshot's row is locked; if
 * anybody has changed it since it was read, or has been given what is asked for,
 * rq->overtaken is set, and it is ERR_CONFLICT. */
enum error_code lease_publish(struct request *rq, struct db_session *db, void *context);

#endif
