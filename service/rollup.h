/* rollup.h - makes the roll-ups of load samples: rows of minutes, hours and days.
 *
 * An hour of a tenant is due (table rollup_due, one row for each of 64 parts of the
 * resources) once it has ended 15 minutes ago, and again each time that samples of it
 * come late, change or go: triggers of load_sample see to that, in the transaction that
 * writes. An hour is made in one transaction: the versions of its due rows are read,
 * then, by a later statement, the samples; the rows of minutes and hours are replaced,
 * and those of the day merged anew; last, the due rows that still have the version that
 * was read are removed. Whatever commits in between has given its row another version,
 * and the hour is made again. Nothing is locked while samples are read, so that nobody
 * who stores waits; whoever is killed leaves all as it was.
 *
 * No hour is made while a transaction of the same role is open that began before the
 * hour's end + 10 minutes and has a number: it may have written rows without a mark
 * (migrations/0028_late_samples.sql), for instance one that waits for its standby.
 *
 * One replica at a time makes rows: an advisory lock of the transaction.
 */
#ifndef GRIDPLAN_SERVICE_ROLLUP_H
#define GRIDPLAN_SERVICE_ROLLUP_H

#include "service/db.h"

enum {
    ROLLUP_SHARDS = 64,
    ROLLUP_CLOSED_S = 900, /* after the end of an hour */
    ROLLUP_LATE_S = 600,   /* from then on samples leave marks */
    ROLLUP_EVERY_S = 60,   /* rounds */
};

/* Since the start; changed atomically, and read so. */
struct rollup_counts {
    uint64_t hours_made; /* of a tenant each */
    uint64_t samples_read;
    uint64_t rows_written;
    uint64_t changed_meanwhile; /* parts of hours that were due again at once */
    uint64_t due;               /* parts of hours that wait, after the last round */
};

/* How far an hour is. */
enum rollup_stage { ROLLUP_VERSIONS_READ, ROLLUP_SAMPLES_CHOSEN, ROLLUP_ROWS_WRITTEN };

struct rollup_options {
    const bool *stopping;         /* NULL: nobody stops it */
    double limit_s;               /* no hour is begun later; 0: none is left */
    struct rollup_counts *counts; /* NULL: nobody counts */
    void (*log)(void *context, const char *text); /* hours that cannot be made */
    void *log_context;
    /* For tests: called between the statements of an hour. */
    void (*pause)(void *context, enum rollup_stage stage);
    void *pause_context;
};

/* One round at the instant `now_s`: marks the hours that have closed, and makes what is
 * due. Left to another replica that is at it: OK. */
enum error_code rollup_run(struct db *db, const struct rollup_options *options,
                           double now_s, struct error *err);

#endif
