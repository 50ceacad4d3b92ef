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
      CITES(IN_WORK(mohamed2007, "chapter 3.2.2")), NULL)                               \
    X(gridway, "Events, failures and contracts of running jobs, one round at a time",   \
      FROM(CITES(IN_WORK(huedo2004, "sections 2, 4, 5 and 6")),                         \
           BUT("Moves that are forced come before all others",                          \
               "A slot that a job leaves is not given away in the same round")),        \
      placement_common_params)                                                          \
    X(multi_phase,                                                                      \
      "At markers of a plan, when a machine is gone, when predictions "                 \
      "fail, or from time to time",                                                     \
      FROM(CITES(IN_WORK(sanjay2008, "chapter 6.6")),                                   \
           BUT("The work compares at a marker; the other events are ours")),            \
      plan_common_params)                                                               \
    X(runner_liveness, "Runners that do not answer have crashed",                       \
      CITES(IN_WORK(mohamed2007, "chapter 3.7")), NULL)

#define X(name, purpose, source, common) \
    extern const struct param migration_##name##_params[];
MIGRATION_POLICIES(X)
#undef X

extern const struct policy migration_policies[]; /* sorted by name, ended by {0} */

/* Names on the wire, ended by NULL. */
enum migration_decision { MIGRATION_KEEP, MIGRATION_REPLAN, MIGRATION_MIGRATE };
extern const char *const migration_decision_names[];

#endif
