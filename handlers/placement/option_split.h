/* option_split.h - options of a request that go to two tables.
 *
 * A decision that calls policies of another family takes their options too. What a table
 * of its own knows goes there, the rest to whoever reads the others (and refuses what
 * nobody knows).
 */
#ifndef GRIDPLAN_OPTION_SPLIT_H
#define GRIDPLAN_OPTION_SPLIT_H

#include "models/base/param.h"

struct option_split {
    const struct named_value *own, *rest; /* in the order of the request */
    size_t own_count, rest_count;
};

/* `rows` are the own ones. */
enum error_code option_split(const struct named_value *given, size_t count,
                             const struct param *rows, struct option_split *out,
                             struct arena *a, struct error *err);

#endif
