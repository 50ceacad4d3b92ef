/* base/policy.h - a policy: one algorithm of a family, chosen by its name.
 *
 * Each family has a table of its policies, sorted by name and ended by {0}, made from
 * the X-macro of its header, where a policy is one row. The table finds a policy, binds
 * its options, and prints GET /v1/algorithms and the API description.
 */
#ifndef GRIDPLAN_BASE_POLICY_H
#define GRIDPLAN_BASE_POLICY_H

#include "models/base/param.h"
#include "models/base/work.h"

/* Any function. Each family calls its policies by a type of its own, which its header
 * gives back: FAMILY_fn_of(). */
typedef void policy_fn(void);

/* FOLKLORE: a textbook rule that nobody is cited for. */
enum policy_origin { POLICY_PUBLISHED, POLICY_OURS, POLICY_FOLKLORE };
extern const char *const policy_origin_names[]; /* ended by NULL */

struct policy {
    const char *name;         /* as in a request's `algorithm` */
    const char *abbreviation; /* also taken for the name; NULL: none */
    const char *purpose;      /* what it does, one line */
    enum policy_origin origin;
    const struct citation *cites;  /* works that describe it; NULL: none */
    const char *idea;              /* one sentence; NULL: the works say it */
    const char *const *deviations; /* from the works, sentences, ended by NULL; NULL */
    const struct param *common; /* options that it shares with its family; NULL: none */
    const struct param *params; /* its own, which come behind those; NULL: none */
    policy_fn *run;             /* NULL: the family has one function for all */
    const void *traits;         /* what the family's code has to know besides; NULL */
    unsigned flags;             /* likewise, of an enum of the family */
};

/* The policy with this name or abbreviation; NULL if there is none. */
const struct policy *policy_find(const struct policy *policies, const char *name);

/* Number of rows. */
size_t policies_count(const struct policy *policies);

/* Number of its options, and the i-th: those in common first. */
size_t policy_option_count(const struct policy *policy);
const struct param *policy_option(const struct policy *policy, size_t i);

/* params_bind() for the options in common and its own together, so that an unknown one is
 * noted once: value[PARAMS_MAX] is in the order of policy_option(). */
enum error_code policy_bind(const struct policy *policy, const struct named_value *given,
                            size_t given_count, double *value, struct error *err);

/* names_hint() with all policies of `tables`, ended by NULL. */
const char *policy_hint(const char *name, const struct policy *const *tables,
                        char *buffer, size_t size);

/* The policy of the tables whose name is nearest; NULL: none is near. */
const char *policy_nearest(const char *name, const struct policy *const *tables);

/* error_allow() with all of them, for the mistake that was noted last. */
void policy_allow(struct error *err, const char *name,
                  const struct policy *const *tables);

#endif
