/* maintenance.h - upkeep of the history tables, by a thread of its own.
 *
 * Makes the partitions of days, months and years ahead of time (moving rows that came too
 * early out of the default partition, some at a time, each of them seen by everyone all
 * the while), drops those that are older than their retention, deletes old rows of the
 * default partitions, old decisions, simulations, leases and expired idempotency keys,
 * and between rounds makes the roll-ups of load samples (rollup.h). One replica at a time
 * does it; nothing waits long for a lock: what could not be done is done in the next
 * round.
 */
#ifndef GRIDPLAN_MAINTENANCE_H
#define GRIDPLAN_MAINTENANCE_H

#include "service/db.h"
#include "service/rollup.h"

struct maintenance_options {
    double load_sample_kept_days; /* 0: for ever; the same for the others */
    double failure_kept_days;
    double execution_kept_days;
    double checkpoint_log_kept_days;
    double reschedule_event_kept_days;
    double claim_attempt_kept_days;
    double site_error_kept_days;
    double transfer_kept_days;
    double progress_sample_kept_days; /* and their tasks */
    double decision_kept_days;
    double simulation_kept_days;       /* after their end */
    double workflow_session_kept_days; /* the same of workflow sessions, once expired */
    double load_rollup_60_kept_days;
    double load_rollup_3600_kept_days;
    double load_rollup_86400_kept_days;
    bool rollups;               /* whether roll-ups are made; then samples go only when
                                   theirs are */
    bool load_partition_by_day; /* of load samples and roll-ups of minutes, from the next
                                   period that has no partition on */
    struct rollup_counts *rollup_counts; /* NULL: nobody counts */
    size_t months_ahead;                 /* partitions made beyond this month's, <= 24 */
    size_t moved_at_once;      /* rows in one transaction; 0: 50,000. Twice as many are
                                  moved at once when none are left then */
    uint64_t *moved_row_count; /* counts them, atomically; NULL: nobody does */
    struct governor *governor; /* lends the memory of a round; NULL: nobody is asked */
    double interval_s; /* between rounds, > 0; a failed round is repeated earlier */
    void (*log)(void *context, const char *text); /* NULL: nobody */
    void *log_context;
};

/* One round at the instant `now_s`. A round that another replica is making is
 * left to it: OK. */
enum error_code maintenance_run(struct db *db, const struct maintenance_options *options,
                                double now_s, struct error *err);

/* Whether every history table has the partition of `now_s`: some replica has made a
 * round. */
enum error_code maintenance_has_partitions(struct db_session *s, double now_s, bool *all,
                                           struct arena *a, struct error *err);

/* Starts the thread, which makes a round at once. */
struct maintenance;
enum error_code maintenance_create(struct db *db,
                                   const struct maintenance_options *options,
                                   struct maintenance **out, struct error *err);

/* Stops it; waits for the step in hand (seconds at most). Accepts NULL. */
void maintenance_close(struct maintenance *m);

#endif
