/* fitted/similar.h - a run time for an application of which no run was learnt, from
 * applications that are like it.
 *
 * Those whose name ends alike; if there are none, those at least half of whose known
 * inputs the question has as well. The time is the median of their median run times, and
 * its interval, the same at every level, holds all of these medians, and the third to the
 * threefold of the time.
 *
 * Source: learning.md 16, 5. Deviation: it does not say what the spread of the medians is
 * (here: the largest |ln| of a median over the time), nor what the half is of (of the
 * known inputs of the other application).
 *
 * Pure: no database, no clock. O(n log n) in applications.
 */
#ifndef GRIDPLAN_FITTED_SIMILAR_H
#define GRIDPLAN_FITTED_SIMILAR_H

#include "models/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIMILAR_FACTOR_LEAST 3.0 /* of either end of the interval */

/* Another application, as far as it matters. */
struct similar_application {
    const char *application_id;
    bool same_name;        /* its name ends as that in question does */
    double median_s;       /* of its run times, > 0; else it is passed over */
    uint64_t known_count;  /* inputs that at least half of its runs have */
    uint64_t shared_count; /* of these, those of the question */
};

enum similar_by { SIMILAR_BY_NAME, SIMILAR_BY_INPUTS };

struct similar_time {
    size_t count;       /* applications that it rests on; 0: there is none */
    enum similar_by by; /* which these are */
    double time_s, low_s, high_s;
};

/* What a name ends in: all after its last '/', ':' or '.'; may be "". Source as above. */
const char *similar_name_end(const char *application_id);

/* The list in any order. Memory: of the arena, O(count). */
void similar_time_of(const struct similar_application *list, size_t count,
                     struct similar_time *out, struct arena *a);

/* The time that a share of the runs does not exceed: an end of the interval; of one
 * half, the time. quantile in (0, 1). */
double similar_quantile(const struct similar_time *t, double quantile);

#endif
