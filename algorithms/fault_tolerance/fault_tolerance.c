/* fault_tolerance/fault_tolerance.c - the table of fault-tolerance policies. */
#include "algorithms/fault_tolerance/fault_tolerance.h"

const struct round_policy fault_tolerance_policies[] = {
#define X(name, purpose, source, flags)                                               \
    {#name, purpose, source, fault_tolerance_##name, fault_tolerance_##name##_params, \
     flags},
    FAULT_TOLERANCE_POLICIES(X)
#undef X
        {0},
};

const struct round_policy *fault_tolerance_policy_find(const char *name)
{
    return round_policy_find(fault_tolerance_policies, name);
}
