/* migration/migration.c - the table of migration policies. */
#include "algorithms/migration/migration.h"

#include "algorithms/placement/placement.h"
#include "algorithms/plan/plan.h"

#include <string.h>

const struct migration_policy migration_policies[] = {
#define X(name, purpose, source, common) \
    {#name, purpose, source, migration_##name##_params, common},
    MIGRATION_POLICIES(X)
#undef X
        {0},
};

const char *const migration_decision_names[] = {"keep", "replan", "migrate", NULL};

const struct migration_policy *migration_policy_find(const char *name)
{
    for (const struct migration_policy *p = migration_policies; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}
