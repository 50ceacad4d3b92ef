/* migration/gridway_failure.c - what follows from a failure of a running job. */
#include "algorithms/migration/gridway_failure.h"

#include <math.h>

static struct gridway_ruling ruling(enum gridway_action action,
                                    enum gridway_reason reason)
{
    return (struct gridway_ruling){.action = action, .reason = reason};
}

static bool would_fail_again(const struct reschedule_failure *failure)
{
    return failure->kind == FAILURE_AUTHORISATION ||
           failure->kind == FAILURE_JOB_DESCRIPTION;
}

static struct gridway_ruling stage_failed(const struct reschedule_failure *failure,
                                          const double *param)
{
    bool skip = param[GRIDWAY_SKIP_HOPELESS] != 0;
    bool fails_again = skip && would_fail_again(failure);

    if (skip && failure->kind == FAILURE_CREDENTIAL_EXPIRED)
        return ruling(ACTION_HOLD, REASON_HOPELESS);
    if (!fails_again && (double)failure->failed_attempts <= param[GRIDWAY_RETRIES])
        return ruling(ACTION_RETRY, REASON_RETRY_LEFT);
    return ruling((int)param[GRIDWAY_ON_FAILURE] == ON_FAILURE_HOLD ? ACTION_HOLD
                                                                    : ACTION_RESCHEDULE,
                  fails_again ? REASON_HOPELESS : REASON_RETRIES_EXHAUSTED);
}

struct gridway_ruling gridway_failure_rule(const struct reschedule_failure *failure,
                                           const double *param)
{
    if (failure->kind == FAILURE_JOB_MANAGER_SILENT) {
        if (failure->gatekeeper_answers)
            return ruling(ACTION_RESTART_JOB_MANAGER, REASON_JOB_MANAGER_SILENT);
        return (struct gridway_ruling){.resource_failed = true};
    }
    if (failure->kind != FAILURE_ENDED)
        return stage_failed(failure, param);
    if (isnan(failure->exit_code))
        return failure->cancelled ? ruling(ACTION_CANCELLED, REASON_CANCELLED)
                                  : stage_failed(failure, param);
    if (failure->exit_code != 0 && param[GRIDWAY_NONZERO_FAILS] != 0)
        return stage_failed(failure, param);
    return ruling(ACTION_KEEP, REASON_FINISHED);
}
