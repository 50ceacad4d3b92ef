/* store_attempt.h - long computations under an Idempotency-Key, in two transactions.
 *
 * An attempt reserves the key (store_attempt_reserve(), a transaction of its own),
 * computes without a connection, and publishes its answer together with all else that it
 * writes (store_attempt_publish(), inside the caller's transaction). In between its lease
 * is renewed; when that ends, another attempt takes over, and this one can no longer
 * publish. Which of them publishes is decided by `owner_id`, a new UUID for each attempt;
 * the lease only says from when on a second attempt is worth its while. All times are the
 * database's.
 */
#ifndef GRIDPLAN_STORE_ATTEMPT_H
#define GRIDPLAN_STORE_ATTEMPT_H

#include "service/store.h"

enum { STORE_ATTEMPTS_MAX = 3 }; /* a request that kills its process is given up */

enum attempt_state {
    ATTEMPT_FREE,    /* nobody's, or its lease has ended: reserve it */
    ATTEMPT_OURS,    /* compute and publish */
    ATTEMPT_RUNNING, /* somebody else is at it */
    ATTEMPT_DONE     /* there is an answer: give it again */
};

/* Which request: all texts must be there. */
struct store_attempt {
    const char *tenant, *key, *route;
    struct db_bytes request_sha256;
    const char *owner_id; /* UUID of this attempt */
};

/* Takes the key if nobody has it, if the lease of who has it is over, or if its answer is
 * older than STORE_IDEMPOTENCY_KEPT_S. *state is then ATTEMPT_OURS, and *attempt_count
 * how many attempts have begun, this one included. Else ATTEMPT_RUNNING, or ATTEMPT_DONE
 * with *out. ERR_INVALID: the key was used for another request. */
enum error_code store_attempt_reserve(struct db_session *s,
                                      const struct store_attempt *attempt, double lease_s,
                                      enum attempt_state *state, uint64_t *attempt_count,
                                      struct store_answer *out, struct arena *a,
                                      struct error *err);

/* The same without taking it: for who waits. ATTEMPT_OURS: it is still this attempt's. */
enum error_code store_attempt_look(struct db_session *s,
                                   const struct store_attempt *attempt,
                                   enum attempt_state *state, struct store_answer *out,
                                   struct arena *a, struct error *err);

/* Inside the transaction of all that the request writes, as its last statement.
 * *published false: the key is not ours any more; roll back. */
enum error_code store_attempt_publish(struct db_session *s,
                                      const struct store_attempt *attempt,
                                      const struct store_answer *answer, bool *published,
                                      struct error *err);

/* There will be no answer: who sends the request again computes it anew. */
enum error_code store_attempt_release(struct db_session *s, const char *owner_id,
                                      struct error *err);

struct store_owner {
    const char *owner_id;
};

/* Renews the leases of `owner_ids`, "{uuid,uuid}", and lists those that were still
 * theirs: the others have been taken over, have ended, or were deleted. */
enum error_code store_attempts_renew(struct db_session *s, const char *owner_ids,
                                     double lease_s, struct store_owner **held,
                                     size_t *held_count, struct arena *a,
                                     struct error *err);

/* The answer is given again. A write, so that what is acknowledged once more is on the
 * standby too when the database waits for that. */
enum error_code store_answer_repeat(struct db_session *s, const char *tenant,
                                    const char *key, struct error *err);

/* The answer to one key while another request has it, and while it belongs to another
 * request. */
enum error_code fail_still_running(struct error *err);
enum error_code fail_key_reused(struct error *err);

#endif
