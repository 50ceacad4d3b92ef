/* replication/replication.h - how many copies of a job to run, and where.
 *
 * A policy is a round_fn (round.h): from the resources and the unfinished jobs it
 * says which replicas to start. Replicas of a job never share a resource. When one
 * finishes, the others are cancelled.
 *
 * Source: spec fault-tolerance.md 6 and 7.3; 000_168dd5aef5075332 (T) 2.2 and 4.4;
 * 002_6355fdf65728109f (P) 4.
 */
#ifndef GRIDPLAN_REPLICATION_H
#define GRIDPLAN_REPLICATION_H

#include "algorithms/replication/round.h"

/* Every replication policy: name, purpose, source, flags. To add one, write
 * replication/NAME.c with replication_NAME() and replication_NAME_params[], and
 * its row here. */
#define REPLICATION_POLICIES(X)                                                          \
    X(failure_dependent, "Copies while CPUs are free; replaces those that failed",       \
      CITES(IN_WORK(chtepen2010, "chapter 4.4.2"), IN_WORK(chtepen2009, "section 4.2")), \
      ROUND_DETECTS)                                                                     \
    X(failure_detection_replication, "Keeps k copies of each job active",                \
      CITES(IN_WORK(chtepen2010, "chapter 2.2")), ROUND_DETECTS)                         \
    X(fcfs, "One copy of each job on a random free resource",                            \
      CITES(IN_WORK(chtepen2010, "chapter 2.2")), 0)                                     \
    X(load_dependent, "Copies while CPUs are free, fewer at peak hours",                 \
      CITES(IN_WORK(chtepen2010, "chapter 4.4.1"), IN_WORK(chtepen2009, "section 4.1")), \
      0)                                                                                 \
    X(target_success, "As few copies as a wanted probability of success takes",          \
      OURS("The fewest copies of which one at least ends without a failure with the "    \
           "wanted probability, failures taken as independent"),                         \
      ROUND_DETECTS | ROUND_RELIABILITY | ROUND_PROGRESS)                                \
    X(unconditional, "k copies of each job, whatever the load",                          \
      CITES(IN_WORK(chtepen2010, "chapters 2.2 and 4.4.4")), 0)                          \
    X(wqr, "Work queue with replication: copies when the queue is empty",                \
      CITES(IN_WORK(silva2003, NULL), IN_WORK(chtepen2010, "chapter 2.2")), 0)

#define X(name, purpose, source, flags) \
    round_fn replication_##name;        \
    extern const struct param replication_##name##_params[];
REPLICATION_POLICIES(X)
#undef X

extern const struct policy replication_policies[]; /* sorted by name, ended by {0} */

#endif
