/* migration/migration.c - the table of migration policies. */
#include "algorithms/migration/migration.h"

#include "algorithms/placement/placement.h"
#include "algorithms/plan/plan.h"

const struct policy migration_policies[] = {
#define X(policy, does, described, options) \
    {.name = #policy,                       \
     .purpose = does,                       \
     described,                             \
     .common = options,                     \
     .params = migration_##policy##_params},
    MIGRATION_POLICIES(X)
#undef X
        {0},
};

const char *const migration_decision_names[] = {"keep", "replan", "migrate", NULL};
