/* rollup/rollup.h - what the load samples of a minute, an hour or a day say together.
 *
 * A row covers the samples with at <= observed_at < at + level_s of one resource or link,
 * `at` a multiple of level_s since the epoch. Minutes are made of samples, hours of
 * minutes, days of hours, each in the order of time: so all levels are functions of the
 * samples, and a row made twice has the same bits.
 *
 * Means and sums of squared deviations are merged pairwise.
 * Source: Chan, Golub and LeVeque, Updating Formulae and a Pairwise Algorithm for
 * Computing Sample Variances, COMPSTAT 1982; quantiles: sketch.h.
 */
#ifndef GRIDPLAN_ROLLUP_H
#define GRIDPLAN_ROLLUP_H

#include "models/load_history.h"
#include "models/rollup/sketch.h"

enum { ROLLUP_MINUTE_S = 60, ROLLUP_HOUR_S = 3600, ROLLUP_DAY_S = 86400 };
enum { ROLLUP_MEASURES = LOAD_LATENCY_S + 1 };

/* Of values; those that say nothing of no values are NAN. */
struct moments {
    double count;
    double mean, m2; /* m2: sum of squared deviations from the mean */
    double min, max;
};

static const struct moments moments_none = {0, 0, 0, 0, 0};

static inline struct moments moments_of(double value)
{
    struct moments m = {1, value, 0, value, value};

    return m;
}

/* Those of both. */
struct moments moments_merge(const struct moments *x, const struct moments *y);

/* One measure in a row; without samples the count is 0, the others are NAN and NULL. */
struct rollup_measure {
    struct moments moments;
    const unsigned char *sketch; /* sketch_encode() */
    size_t sketch_bytes;
};

struct load_rollup {
    const char *resource_id;    /* the resource, or where the link begins */
    const char *to_resource_id; /* where the link ends; "": the resource itself */
    double level_s;             /* 60, 3600 or 86400 */
    double at_s;                /* instant; the row covers [at, at + level) */
    struct rollup_measure measure[ROLLUP_MEASURES];
};

/* The measure of a sample; NAN: not made. */
double rollup_value(const struct load_sample *sample, enum load_measure measure);

/* ---- one measure of one row, as it grows ---- */

struct rollup_cell {
    struct moments moments;
    struct sketch sketch;
};

void rollup_cell_init(struct rollup_cell *cell);
void rollup_cell_clear(struct rollup_cell *cell);
void rollup_cell_add(struct rollup_cell *cell, const struct sketch_bounds *bounds,
                     double value);

/* Adds a row's; false: its sketch cannot be read. */
bool rollup_cell_merge(struct rollup_cell *cell, const struct rollup_measure *more);

/* What it has become; the bytes of its sketch are in `a`. */
struct rollup_measure rollup_cell_take(const struct rollup_cell *cell, struct arena *a);

/* ---- rows of a list ---- */

/* Makes rows of what is added in the order of resource_id, to_resource_id and time. */
struct rollup_maker;

/* Lives in `a`; its rows in an arena beside it. Closed with `a` at the latest. */
struct rollup_maker *rollup_maker_create(struct arena *a);
void rollup_maker_close(struct rollup_maker *m);

/* A sample: rows of a minute and of an hour come of it. */
void rollup_add_sample(struct rollup_maker *m, const struct load_sample *sample);

/* A row of an hour: a row of its day comes of it. False: it cannot be read. */
bool rollup_add_hour(struct rollup_maker *m, const struct load_rollup *hour);

/* Nothing more comes. */
void rollup_end(struct rollup_maker *m);

/* How many rows are ready. */
size_t rollup_ready(const struct rollup_maker *m);

/* The rows that are ready, by resource and end; valid until rollup_forget(), which makes
 * room for the next ones. */
const struct load_rollup *rollup_rows(const struct rollup_maker *m, size_t *count);
void rollup_forget(struct rollup_maker *m);

#endif
