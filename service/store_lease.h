/* store_lease.h - leases of stored snapshots: what an owner holds of one for a while.
 *
 * Whether a lease counts is said by the database's clock, never by that of a replica.
 * What decides about leases, or changes one, first locks the snapshot's row, so that
 * nobody counts on amounts that somebody else is just being given.
 *
 * Besides those named, the functions give the errors of store.h.
 */
#ifndef GRIDPLAN_STORE_LEASE_H
#define GRIDPLAN_STORE_LEASE_H

#include "service/store.h"

struct store_lease {
    const char *lease_id; /* UUID */
    const char *owner;
    double created_at_s; /* instants */
    double expires_at_s; /* NAN: never */
    uint64_t generation; /* of the snapshot when it was made */
    const char *rows;    /* JSON */
};

/* Locks the snapshot's row until the open transaction ends; without its document.
 * ERR_NOT_FOUND. */
enum error_code store_lease_lock(struct db_session *s, const char *tenant,
                                 const char *snapshot_id, struct arena *a,
                                 struct error *err);

/* What the database's clock says now, not when the transaction began. */
enum error_code store_clock(struct db_session *s, double *now_s, struct arena *a,
                            struct error *err);

/* A snapshot with the leases that count, all of one instant. */
struct store_snapshot_view {
    const char *document;
    double written_at_s, now_s; /* instants; the latter by the database's clock */
    uint64_t generation, lease_revision;
    const char *leases; /* JSON: {"leases": [{"owner", "placements"}]}, by age */
};
enum error_code store_snapshot_view(struct db_session *s, const char *tenant,
                                    const char *snapshot_id,
                                    struct store_snapshot_view *out, struct arena *a,
                                    struct error *err);

/* All that count at that instant, by age. */
enum error_code store_leases_live(struct db_session *s, const char *tenant,
                                  const char *snapshot_id, double now_s,
                                  const struct store_lease **list, size_t *count,
                                  struct arena *a, struct error *err);

/* Those that count now, by age; owner NULL: anybody's. */
enum error_code store_leases_list(struct db_session *s, const char *tenant,
                                  const char *snapshot_id, const char *owner,
                                  const struct store_page *page,
                                  const struct store_lease **list, size_t *count,
                                  const char **next_token, struct arena *a,
                                  struct error *err);

/* ERR_NOT_FOUND: none that counts now. */
enum error_code store_lease_read(struct db_session *s, const char *tenant,
                                 const char *snapshot_id, const char *lease_id,
                                 struct store_lease *out, struct arena *a,
                                 struct error *err);

/* Of a locked snapshot: raises its lease_revision. */
enum error_code store_lease_create(struct db_session *s, const char *tenant,
                                   const char *snapshot_id,
                                   const struct store_lease *lease, struct error *err);
enum error_code store_lease_extend(struct db_session *s, const char *tenant,
                                   const char *snapshot_id, const char *lease_id,
                                   double expires_at_s, struct error *err);

/* Other rows, which hold no more than before. */
enum error_code store_lease_rewrite(struct db_session *s, const char *tenant,
                                    const char *snapshot_id, const char *lease_id,
                                    const char *rows, struct error *err);

/* `confirmed`: raises the lease_revision. */
enum error_code store_lease_remove(struct db_session *s, const char *tenant,
                                   const char *snapshot_id, const char *lease_id,
                                   bool confirmed, struct error *err);

#endif
