/* liveness.h - whether the database takes writes, found out by writing.
 *
 * A thread writes one row every interval; /readyz answers from what came of it. It begins
 * when the schema is there, and waits at first until the partitions of this month are,
 * so that nobody's first rows meet them while they are made.
 */
#ifndef GRIDPLAN_LIVENESS_H
#define GRIDPLAN_LIVENESS_H

#include "service/db.h"

/* state, its name, whether requests are taken, what to say of it */
#define LIVENESS_STATES(X)                                                 \
    X(LIVENESS_STARTING, "starting", false,                                \
      "the schema or the partitions are not there yet")                    \
    X(LIVENESS_OK, "ok", true, "ok")                                       \
    X(LIVENESS_SLOW, "slow", true, "the last write took more than 2 s")    \
    X(LIVENESS_READ_ONLY, "read_only", false, "the database is read-only") \
    X(LIVENESS_FULL, "full", false, "the database's disk is full")         \
    X(LIVENESS_DOWN, "down", false, "the database does not take writes")

enum liveness_state {
#define X(symbol, name, ready, text) symbol,
    LIVENESS_STATES(X)
#undef X
};

extern const struct liveness_kind {
    const char *name;
    bool is_ready;
    const char *text;
} liveness_kinds[];

struct liveness_options {
    struct db *db;
    double interval_s;   /* between writes; a twentieth of it while there is trouble */
    double partitions_s; /* how long to wait for the partitions before going on without */
    void (*log)(void *context, const char *text); /* NULL: nobody */
    void *log_context;
};

/* Starts the thread, which does nothing before liveness_begin(). */
struct liveness;
enum error_code liveness_create(const struct liveness_options *options,
                                struct liveness **out, struct error *err);
void liveness_begin(struct liveness *l);

/* Accepts NULL. */
void liveness_close(struct liveness *l);

/* What the last write said. *late: the partitions were not there in time. */
enum liveness_state liveness_state(struct liveness *l, bool *late);

/* Whether COMMIT waits for a standby (synchronous_standby_names). When the address names
 * several servers and it does not, that is logged: what was acknowledged may be lost with
 * the primary. */
enum liveness_standby {
    LIVENESS_STANDBY_UNKNOWN,
    LIVENESS_STANDBY_OFF,
    LIVENESS_STANDBY_ON
};
#define LIVENESS_STANDBY_WARNING                                                      \
    "standby_off: several servers are given, and none of them confirms what another " \
    "one stores: "                                                                    \
    "synchronous_standby_names is empty, so what was answered with 2xx may be lost "  \
    "with the primary"
enum liveness_standby liveness_standby(struct liveness *l);
enum liveness_standby liveness_ask_standby(struct db *db, struct arena *a);

/* One write, now. */
enum liveness_state liveness_try(struct db *db, const char *replica_id, struct arena *a,
                                 struct error *err);

#endif
