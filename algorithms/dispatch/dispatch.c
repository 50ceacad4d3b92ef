/* dispatch/dispatch.c - the table of dispatch policies. */
#include "algorithms/dispatch/dispatch.h"

const struct policy dispatch_policies[] = {
#define X(policy, does, described, its_flags) \
    {.name = #policy,                         \
     .purpose = does,                         \
     described,                               \
     .params = dispatch_##policy##_params,    \
     .run = (policy_fn *)dispatch_##policy,   \
     .flags = its_flags},
    DISPATCH_POLICIES(X)
#undef X
        {0},
};
