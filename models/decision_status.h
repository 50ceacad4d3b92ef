/* decision_status.h - how a decision ended, for every family of policies. */
#ifndef GRIDPLAN_DECISION_STATUS_H
#define GRIDPLAN_DECISION_STATUS_H

enum decision_status {
    DECISION_OPTIMAL,    /* nothing is better: proven */
    DECISION_FEASIBLE,   /* an answer without such a proof */
    DECISION_INFEASIBLE, /* nothing could be done; the reasons say why */
    DECISION_CUT,        /* the time limit ended the search */
};

/* Names on the wire, ended by NULL. */
extern const char *const decision_status_names[];

#endif
