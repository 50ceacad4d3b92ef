/* replication/replication.c - the table of replication policies. */
#include "algorithms/replication/replication.h"

const struct round_policy replication_policies[] = {
#define X(name, purpose, source, flags) \
    {#name, purpose, source, replication_##name, replication_##name##_params, flags},
    REPLICATION_POLICIES(X)
#undef X
        {0},
};

const struct round_policy *replication_policy_find(const char *name)
{
    return round_policy_find(replication_policies, name);
}
