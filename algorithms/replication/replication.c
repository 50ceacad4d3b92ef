/* replication/replication.c - the table of replication policies. */
#include "algorithms/replication/replication.h"

const struct policy replication_policies[] = {
#define X(policy, does, described, its_flags)  \
    {.name = #policy,                          \
     .purpose = does,                          \
     described,                                \
     .params = replication_##policy##_params,  \
     .run = (policy_fn *)replication_##policy, \
     .flags = its_flags},
    REPLICATION_POLICIES(X)
#undef X
        {0},
};
