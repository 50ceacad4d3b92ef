/* migration/migration.h - what to do with a running job after an event.
 *
 * A policy looks at a job that runs and says whether it stays, gets a new plan, or
 * moves. Policies differ in what they need to know, so each has its own header with
 * its input and its function; here is only the table of their names and options.
 */
#ifndef GRIDPLAN_MIGRATION_H
#define GRIDPLAN_MIGRATION_H

#include "models/base/policy.h"

/* Every policy: name, purpose, source, further options. To add one, write
 * migration/NAME.h and NAME.c with migration_NAME() and migration_NAME_params[], and
 * its row here (sorted by name). */
#define MIGRATION_POLICIES(X)                                                           \
    X(component_error, "A component of a parallel job erred: count, restart elsewhere", \
      "001_546dfcc428821807 3.2.2", NULL)                                               \
    X(gridway, "Events, failures and contracts of running jobs, one round at a time",   \
      "gridway.md 3", placement_common_params)                                          \
    X(multi_phase,                                                                      \
      "At markers of a plan, when a machine is gone, when predictions "                 \
      "fail, or from time to time",                                                     \
      "rescheduling-plans.md 8.2", plan_common_params)                                  \
    X(runner_liveness, "Runners that do not answer have crashed",                       \
      "001_546dfcc428821807 3.7", NULL)

#define X(name, purpose, source, common) \
    extern const struct param migration_##name##_params[];
MIGRATION_POLICIES(X)
#undef X

extern const struct policy migration_policies[]; /* sorted by name, ended by {0} */

/* Names on the wire, ended by NULL. */
enum migration_decision { MIGRATION_KEEP, MIGRATION_REPLAN, MIGRATION_MIGRATE };
extern const char *const migration_decision_names[];

#endif
