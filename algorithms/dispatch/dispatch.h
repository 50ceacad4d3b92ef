/* dispatch/dispatch.h - one copy of each job to the fastest resource.
 *
 * The schedulers without fault tolerance that others are compared with in the
 * grid simulator; fcfs is in algorithms/replication. A policy is a round_fn
 * (replication/round.h).
 *
 * Source: spec simulator.md 10; 000_168dd5aef5075332 (T) 2.2.
 */
#ifndef GRIDPLAN_DISPATCH_H
#define GRIDPLAN_DISPATCH_H

#include "algorithms/replication/round.h"

/* Every dispatch policy: name, purpose, source, flags. To add one, write
 * dispatch/NAME.c with dispatch_NAME() and dispatch_NAME_params[], and its row. */
#define DISPATCH_POLICIES(X)                                                            \
    X(fjbcr, "First job to the best resource",                                          \
      CITES(IN_WORK(chtepen2010, "chapter 2.2")), 0)                                    \
    X(max_max, "Longest job first, on the fastest resource",                            \
      CITES(IN_WORK(chtepen2010, "chapter 2.2")), 0)                                    \
    X(min_max, "Shortest job first, on the fastest resource",                           \
      CITES(IN_WORK(chtepen2010, "chapter 2.2")), 0)                                    \
    X(rescheduling, "First job to the best resource; running jobs move to better ones", \
      FROM(CITES(IN_WORK(chtepen2010, "chapter 2.2")),                                  \
           BUT("The work gives no criterion for a move; ours: what is left to do ends " \
               "sooner elsewhere, the costs of moving included")),                      \
      ROUND_RESTARTS)

#define X(name, purpose, source, flags) \
    round_fn dispatch_##name;           \
    extern const struct param dispatch_##name##_params[];
DISPATCH_POLICIES(X)
#undef X

extern const struct policy dispatch_policies[]; /* sorted by name, ended by {0} */

#endif
