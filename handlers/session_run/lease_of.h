/* lease_of.h - what a run holds of a stored snapshot: a lease for each attempt.
 *
 * Owner "session:ID", job "TASK#ATTEMPT". One that was granted expires, one that has
 * started does not. Between open and close the snapshot's row is locked, after the
 * session's.
 */
#ifndef GRIDPLAN_SESSION_LEASE_OF_H
#define GRIDPLAN_SESSION_LEASE_OF_H

#include "handlers/session_run/run.h"

struct session_leases {
    struct request *rq;
    struct db_session *db;
    struct store_session row; /* of the session, with the snapshot's row locked */
    const char *owner;
    double now_s;
    uint64_t generation; /* of the snapshot */
    struct lease *live;  /* all that count, with room for `most` more */
    size_t live_count, room;
    struct name_index own;    /* job ids of this session's: positions in `live` */
    bool *gone;               /* [live] */
    const struct snapshot *s; /* as it is now; NULL: not read yet */
    uint64_t changes;         /* of the snapshot's lease_revision */
};

enum error_code session_leases_open(struct request *rq, const struct store_session *row,
                                    struct db_session *db, struct session_leases *out);

/* The plan knows of the changes that the session itself has made; `raised`: further ones
 * of its world_version. */
enum error_code session_leases_close(struct session_leases *leases, uint64_t raised);

/* What an attempt holds from an instant on, for time_s; NAN: not known how long. */
struct lease_row session_lease_row(const struct session_run *run, size_t task,
                                   uint64_t attempt, struct session_places places,
                                   double start_at_s, double time_s);

/* Whether they fit together beside all that others have, and what was added here. */
bool session_lease_fits(struct session_leases *leases, const struct lease_row *rows,
                        size_t count);

/* NULL: the attempt has none. */
const struct lease *session_lease_find(const struct session_leases *leases,
                                       const char *task_id, uint64_t attempt);

/* Of the same job one at most: it takes the place of another. expires_at_s NAN: never. */
enum error_code session_lease_add(struct session_leases *leases,
                                  const struct lease_row *row, double expires_at_s);

/* Its end is another one, unless it is about the same. */
enum error_code session_lease_renew(struct session_leases *leases, const char *task_id,
                                    uint64_t attempt, double end_at_s);

enum error_code session_lease_drop(struct session_leases *leases, const char *task_id,
                                   uint64_t attempt);

#endif
