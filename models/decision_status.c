/* decision_status.c - how a decision ended, for every family of policies. */
#include "models/decision_status.h"

#include <stddef.h>

const char *const decision_status_names[] = {
    [DECISION_OPTIMAL] = "optimal",
    [DECISION_FEASIBLE] = "feasible",
    [DECISION_INFEASIBLE] = "infeasible",
    [DECISION_CUT] = "cut",
    NULL,
};
