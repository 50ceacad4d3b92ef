/* dispatch/dispatch.c - the table of dispatch policies. */
#include "algorithms/dispatch/dispatch.h"

const struct round_policy dispatch_policies[] = {
#define X(name, purpose, source, flags) \
    {#name, purpose, source, dispatch_##name, dispatch_##name##_params, flags},
    DISPATCH_POLICIES(X)
#undef X
        {0},
};

const struct round_policy *dispatch_policy_find(const char *name)
{
    return round_policy_find(dispatch_policies, name);
}
