/* cluster_queue/board.h - what is free of each node ahead, beside what runs and is
 * planned.
 *
 * Each node has a list of times from which on other amounts are free; what exists once
 * for the whole cluster has one, too. Times are exact. A row starts at the earliest time
 * from which on enough nodes have room for as long as it may run: each node's list gives
 * the times at which it could start there, and a sweep over them finds the first that
 * enough nodes share.
 *
 * A job that has nodes for itself, or for its user, has them alone in plans.
 *
 * Cost: a change, the list of a node; a question, the lists of the partition's nodes and
 * a sort of the times that they give.
 *
 * Source: A. Mu'alem, D. Feitelson 2001 (profiles); over several nodes it is ours.
 */
#ifndef GRIDPLAN_CLUSTER_BOARD_H
#define GRIDPLAN_CLUSTER_BOARD_H

#include "algorithms/cluster_queue/choose.h"

struct cluster_board;

/* With what runs. */
struct cluster_board *cluster_board_create(const struct cluster_state *s,
                                           struct arena *a);

/* What was before now_s is forgotten. */
void cluster_board_advance(struct cluster_board *b, double now_s);

/* The row's job has nodes from from_s to to_s; sign -1: not any more. */
void cluster_board_lay(struct cluster_board *b, const struct cluster_row *row,
                       const struct cluster_pick *pick, double from_s, double to_s,
                       int sign);

/* A running job has ended: what is left of its time is free. */
void cluster_board_give(struct cluster_board *b, const struct cluster_held *held,
                        double from_s, double to_s);

/* The earliest start of a row within [from_s, before_s), and its nodes, from `scratch`;
 * HUGE_VAL: none. */
double cluster_board_find(struct cluster_board *b, struct cluster_question *q,
                          const struct cluster_row *row, double from_s, double before_s,
                          struct cluster_pick *pick, struct arena *scratch);

/* When a row that starts then is to end: later, even if it takes no time. */
double cluster_end_s(double start_s, double limit_s);

/* Units of one that exists once which others have reserved within [from_s, to_s). */
int64_t cluster_reserved(const struct cluster *c, const struct cluster_job *job,
                         size_t what, double from_s, double to_s);

#endif
