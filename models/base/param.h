/* base/param.h - options of an algorithm, one row each.
 *
 * A policy file declares its options as a table ended by {0}. The same rows
 * check a request's options, give the defaults, and print /v1/algorithms and
 * the API description.
 */
#ifndef GRIDPLAN_BASE_PARAM_H
#define GRIDPLAN_BASE_PARAM_H

#include "models/base/error.h"
#include "models/base/value.h"

enum param_type { PARAM_NUMBER, PARAM_INTEGER, PARAM_BOOLEAN, PARAM_CHOICE };

enum { PARAMS_MAX = 48 }; /* options of one policy */

struct param {
    const char *name;
    double min, max; /* inclusive; a choice: 0 and number of choices - 1 */
    double preset;   /* used when the request is silent; NAN: not set */
    const char *doc; /* one line, with the unit and the source of the default */
    enum param_type type;
    const char *const *choices; /* PARAM_CHOICE: names, ended by NULL; value = index */
};

/* Fills value[i] for each row i from `given`, else from the preset. Every
 * unknown, repeated, mistyped or out-of-bounds option is added to *err with
 * pointer "/options/NAME". NULL rows: no options. */
enum error_code params_bind(const struct param *rows, const struct named_value *given,
                            size_t given_count, double *value, struct error *err);

/* Likewise for the rows of two tables, those of `common` first. */
enum error_code params_bind_both(const struct param *common, const struct param *own,
                                 const struct named_value *given, size_t given_count,
                                 double *value, struct error *err);

/* Number of rows. Accepts NULL. */
size_t params_count(const struct param *rows);

#endif
