/* ensemble/names.h - the inputs that the runs of an application have, by name.
 *
 * Columns of runs: the four terms of all models first, then whatever names came, in the
 * order in which they came. A column never moves, so runs of before stay as they are.
 */
#ifndef GRIDPLAN_ENSEMBLE_NAMES_H
#define GRIDPLAN_ENSEMBLE_NAMES_H

#include "models/base/value.h"
#include "models/ensemble/ensemble.h"

#define ENSEMBLE_RESOURCE_CLASS "resource_class"
#define ENSEMBLE_SITE_ID        "site_id"

enum { ENSEMBLE_NAME_BYTES_MAX = 256 }; /* longer names are no inputs */

enum {
    ENSEMBLE_PROBLEM_SIZE,
    ENSEMBLE_PROCESSORS,
    ENSEMBLE_CPU_AVAILABLE_RATIO,
    ENSEMBLE_BANDWIDTH_MBPS,
    ENSEMBLE_TERMS
};

struct ensemble_names {
    const char *name[ENSEMBLE_INPUTS_MAX];
    size_t count;                /* at least ENSEMBLE_TERMS */
    bool is_given;               /* these, and no others: what was chosen */
    bool chosen[ENSEMBLE_TERMS]; /* with is_given: is the term among them? */
    bool cut;                    /* there were more than ENSEMBLE_INPUTS_MAX */
};

/* Names chosen by a caller; count 0: whatever comes. */
void ensemble_names_create(struct ensemble_names *names, const char *const *chosen,
                           size_t count);

/* The column of a name; ENSEMBLE_INPUTS_MAX: it has none. */
size_t ensemble_names_find(const struct ensemble_names *names, const char *name);

/* The same; a name that has none gets one, where there is room. */
size_t ensemble_names_add(struct ensemble_names *names, const char *name,
                          struct arena *a);

/* All inputs not known. */
void ensemble_values_clear(double *value);

/* The number of a named value. */
double ensemble_value_of(const struct named_value *value);

/* Columns in the order in which inputs are taken: terms, parameters by name, class and
 * site; what was chosen as it was. *count of them. */
void ensemble_names_order(const struct ensemble_names *names,
                          size_t order[ENSEMBLE_INPUTS_MAX], size_t *count);

#endif
