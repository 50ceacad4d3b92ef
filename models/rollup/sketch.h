/* rollup/sketch.h - quantiles of many values in few bytes, which can be added up.
 *
 * The values are counted in buckets whose bounds grow by gamma = 1.01 / 0.99: bucket i
 * has those above b[i-1] up to b[i], b[0] = 1. What is below 1e-9 is counted apart, as 0.
 * A quantile is within 1 % of the value of its rank when that is 1e-9 or more. Nothing is
 * collapsed, so sketches of parts, added up in any order, are the sketch of the whole,
 * to the byte.
 *
 * The index of a value is the same on all machines: logarithms differ in the last bit
 * between libraries, so they only say where to look in the table of bounds, which is made
 * by multiplications and divisions of doubles alone.
 *
 * Source: Masson, Rim and Lee, DDSketch: A Fast and Fully-Mergeable Quantile Sketch with
 * Relative-Error Guarantees, PVLDB 12 (12), 2019.
 */
#ifndef GRIDPLAN_ROLLUP_SKETCH_H
#define GRIDPLAN_ROLLUP_SKETCH_H

#include "models/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SKETCH_LOWEST = -1036, /* bucket of 1e-9 */
    SKETCH_HIGHEST = 2073, /* bucket of 1e18 */
    SKETCH_BUCKETS = SKETCH_HIGHEST - SKETCH_LOWEST + 1,
    /* Version, zero count, number of buckets; an index and a count each. */
    SKETCH_BYTES_MAX = 1 + 10 + 2 + SKETCH_BUCKETS * (2 + 10)
};

#define SKETCH_ERROR_RATIO 0.01
#define SKETCH_LEAST       1e-9 /* what is smaller counts as 0 */

/* The table of bounds; made once by whoever uses sketches. */
struct sketch_bounds {
    double bound[SKETCH_BUCKETS + 1]; /* from that of bucket SKETCH_LOWEST - 1 on */
};

void sketch_bounds_make(struct sketch_bounds *bounds);

/* The bucket of a value, 1e-9 to 1e18. */
int sketch_index(const struct sketch_bounds *bounds, double value);

/* The greatest value of a bucket, SKETCH_LOWEST - 1 to SKETCH_HIGHEST. */
double sketch_bound(const struct sketch_bounds *bounds, int index);

struct sketch {
    uint64_t zero_count;
    int low, high; /* the buckets that have values are among these; low > high: none */
    uint64_t count[SKETCH_BUCKETS];
};

/* Zeroed memory is no empty sketch: this makes one of it. */
void sketch_init(struct sketch *s);

/* Makes it empty again. */
void sketch_clear(struct sketch *s);

/* Counts a value, 0 to 1e18. */
void sketch_add(struct sketch *s, const struct sketch_bounds *bounds, double value);

/* Adds what another one has counted. */
void sketch_merge(struct sketch *s, const struct sketch *other);

/* Writes it to at most SKETCH_BYTES_MAX bytes; how many those are. The form: a byte 1,
 * zero count, number of buckets that have values, and for each of them by rising index
 * the difference to the index before (the first: to 0), zigzag, and its count; numbers in
 * LEB128. */
size_t sketch_encode(const struct sketch *s, unsigned char *to);

/* Adds what bytes say; false: they are no sketch, and `s` is as it was. */
bool sketch_decode(struct sketch *s, const unsigned char *data, size_t length);

uint64_t sketch_count(const struct sketch *s);

/* The value below which a share p of the counted ones lies, of one value at least; `min`
 * and `max` are the least and the greatest of them. */
double sketch_quantile(const struct sketch *s, const struct sketch_bounds *bounds,
                       double min, double max, double p);

#endif
