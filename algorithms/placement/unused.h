/* placement/unused.h - what a request carries that the policy does not look at. */
#ifndef GRIDPLAN_PLACEMENT_UNUSED_H
#define GRIDPLAN_PLACEMENT_UNUSED_H

#include "algorithms/placement/problem.h"

/* What was asked of the policy. */
struct unused_in {
    const struct policy *policy;       /* that ran */
    const struct named_value *options; /* of the request */
    size_t option_count;
    const char *list; /* name of the request's list of pending jobs, "jobs" */
    bool amounts;     /* members about amounts are looked at; and of these: */
    bool weights, priorities, prices, powers, deadlines;
    bool starts;    /* the most weight that can start now was searched for */
    bool no_chains; /* deadlines are not brought into order */
    bool queued;    /* queued_at is looked at */
};

/* One warning for each member (of any number of jobs or resources) and for the options
 * that the policy does not use; deadlines and priorities are no part of its objective.
 * O(n + m). */
void unused_warn(struct placement_problem *p, const struct unused_in *in);

/* The same for a plan that is only judged: options, and members of jobs, by which one is
 * made. starts: its worth is the weight that starts now. */
void unused_warn_judged(struct placement_problem *p, const struct named_value *options,
                        size_t option_count, bool starts);

#endif
