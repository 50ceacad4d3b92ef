/* performance/source.h - which list of a set answers, and with what factors.
 * Of this folder only. */
#ifndef GRIDPLAN_PERFORMANCE_SOURCE_H
#define GRIDPLAN_PERFORMANCE_SOURCE_H

#include "models/performance/performance.h"

struct perf_source {
    const struct perf_combination *items;
    size_t count;
    double cpu_factor, bandwidth_factor;
    enum perf_method method;
    const struct perf_seen *seen;
    bool single_list; /* models of one processor, with nothing but computation */
};

/* The reference's model of a ported set; the set's own list. */
struct perf_source perf_source_scaled(const struct perf_model_set *set, bool single);
struct perf_source perf_source_own(const struct perf_model_set *set, bool single);

/* Has a ported set runs enough for the functions of its own list? */
bool perf_source_admissible(const struct perf_source *own, bool single);

/* The one that answers; single: the query is for one processor. */
struct perf_source perf_source_of(const struct perf_model_set *set, bool single);

/* The answer of one source, status and all; as perf_predict(). */
void perf_source_predict(const struct perf_source *source, bool guard,
                         const struct perf_query *query, struct perf_prediction *out);

#endif
