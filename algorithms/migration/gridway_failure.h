/* migration/gridway_failure.h - what follows from a failure of a running job.
 *
 *     the job manager is silent      the gatekeeper answers: restart_job_manager
 *                                    else as the event resource_failed
 *     the wrapper ended, exit code   finished; with nonzero_exit_fails a code other than
 *                                    0 is a failure of the stage
 *     ... without one                cancelled, else a failure of the stage
 *     anything else                  a failure of the stage
 *
 * A failure of a stage: retry while its failed attempts are at most number_of_retries;
 * then hold or reschedule, as the user chose. With skip_hopeless_retries errors of
 * authorisation and of the job description go there at once, and an expired credential
 * is a hold.
 *
 * Source: spec gridway.md 3.4; 004_f687c06842f61aec.txt section 5.
 */
#ifndef GRIDPLAN_MIGRATION_GRIDWAY_FAILURE_H
#define GRIDPLAN_MIGRATION_GRIDWAY_FAILURE_H

#include "algorithms/migration/gridway.h"

enum { ON_FAILURE_HOLD, ON_FAILURE_RESCHEDULE }; /* on_failure */

struct gridway_ruling {
    enum gridway_action action;
    enum gridway_reason reason;
    bool resource_failed; /* no action of its own: the event */
};

/* `param` as of migration_gridway_params. O(1). */
struct gridway_ruling gridway_failure_rule(const struct reschedule_failure *failure,
                                           const double *param);

#endif
