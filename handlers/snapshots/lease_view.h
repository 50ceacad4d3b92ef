/* lease_view.h - a stored snapshot as decisions see it: with its leases, and as time has
 * gone by. */
#ifndef GRIDPLAN_LEASE_VIEW_H
#define GRIDPLAN_LEASE_VIEW_H

#include "handlers/snapshots/lease.h"

/* A lease that counts. */
struct lease_held {
    const char *owner;
    const struct lease_row *placements;
    size_t placement_count;
};

/* What belongs to the document, all of one instant. */
struct snapshot_view {
    double now_at_s;     /* of the database; NAN: nothing of this is known */
    double written_at_s; /* of the document, as a whole */
    uint64_t generation, lease_revision;
    const struct lease_held *leases;
    size_t lease_count;
};

/* Under which name a job that `owner` has leased runs in the snapshot, if the job's own
 * is also that of others: two sessions of one workflow have the same tasks. */
const char *lease_held_name(const char *owner, const char *job_id, struct arena *a);

/* As it is kept with a decision. */
extern const struct json_object snapshot_view_json;

/* Reads both. ERR_NOT_FOUND. */
enum error_code snapshot_view_read(struct request *rq, const char *snapshot_id,
                                   struct snapshot_view *view, const char **document);

/* `s`, read from that document, as a decision is to see it: its "now" is taken_at, or
 * else the database's; begun leases are rows of what runs, later ones are reservations,
 * unless their jobs run already. leased_ids are those of their jobs. */
struct snapshot snapshot_with_leases(const struct snapshot *s,
                                     const struct snapshot_view *view, struct arena *a);

#endif
