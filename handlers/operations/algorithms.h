/* algorithms.h - every family of policies. */
#ifndef GRIDPLAN_ALGORITHMS_H
#define GRIDPLAN_ALGORITHMS_H

#include "models/base/policy.h"

struct policy_family {
    const char *name, *endpoint;
    const struct policy *policies;
    /* Whether the i-th option has a part in what a policy decides; NULL: all have. */
    bool (*reads)(const struct policy *policy, size_t i);
};

/* By name, ended by {0}. */
extern const struct policy_family policy_families[];

#endif
