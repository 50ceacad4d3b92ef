/* fault_tolerance/fault_tolerance.c - the table of fault-tolerance policies. */
#include "algorithms/fault_tolerance/fault_tolerance.h"

const struct policy fault_tolerance_policies[] = {
#define X(policy, does, described, its_flags)      \
    {.name = #policy,                              \
     .purpose = does,                              \
     described,                                    \
     .params = fault_tolerance_##policy##_params,  \
     .run = (policy_fn *)fault_tolerance_##policy, \
     .flags = its_flags},
    FAULT_TOLERANCE_POLICIES(X)
#undef X
        {0},
};
