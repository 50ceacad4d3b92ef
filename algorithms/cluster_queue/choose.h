/* cluster_queue/choose.h - on which nodes a row fits, and which of them it gets.
 *
 * Running jobs are released in groups, in the order of their ends: group 0 is now, in
 * group k all jobs of the groups before have ended, too. A node fits from the first
 * group on in which its free amounts are enough.
 *
 * Nodes are chosen by runs: neighbours in the order of the cluster that fit and have one
 * weight. Again and again the run with the smallest weight is taken from its first node
 * on; among these one that is enough for what is missing, the shortest of such, else the
 * longest; the first of equals.
 *
 * Source: observed behaviour of Slurm 22.05 (select/cons_tres).
 */
#ifndef GRIDPLAN_CLUSTER_CHOOSE_H
#define GRIDPLAN_CLUSTER_CHOOSE_H

#include "algorithms/cluster_queue/state.h"

/* Groups of running jobs that use nodes of one partition. */
struct cluster_groups {
    size_t count;   /* without group 0 */
    int64_t *end_s; /* [count]: of the last job of group k + 1 */
    uint32_t *of;   /* group of each held job, by index; 0: none */
};

/* What a row finds on the nodes of a set, while running jobs end. */
struct cluster_question {
    const struct cluster_state *s;
    const struct cluster_row *row;
    const struct cluster_groups *groups; /* NULL: now alone */
    uint64_t *fits;                      /* set: nodes that fit once */
    uint32_t *first;                     /* [node_count]: from this group on */
    uint64_t *work;                      /* set, for the moment */
    const int64_t *withheld; /* of free amounts, [node_count][amount_count]; NULL: none */
    const int64_t *then;     /* what is free at another time, likewise; NULL: it is now */
};

/* Memory for questions. */
struct cluster_question cluster_question_create(const struct cluster_state *s,
                                                struct arena *a);

/* Asks about a row on the nodes of `within`. */
void cluster_ask(struct cluster_question *q, const struct cluster_row *row,
                 const struct cluster_groups *groups, const uint64_t *within);

/* Whether the nodes of `within` are enough once group k has ended. */
bool cluster_enough(struct cluster_question *q, const uint64_t *within, size_t k);

/* Chooses among them; they are enough. The pick's lists are from the arena. */
void cluster_choose(struct cluster_question *q, const uint64_t *within, size_t k,
                    struct cluster_pick *pick, struct arena *a);

/* The nodes that the row may use in [from_s, to_s): of its partition, where jobs start,
 * and outside of the reservations of others, or inside of its own. */
void cluster_usable(const struct cluster_state *s, const struct cluster_row *row,
                    double from_s, double to_s, uint64_t *set);

/* How many tasks of the row, or 1, have room in what is free of a node, at most `most`.
 */
size_t cluster_room(const struct cluster_state *s, const struct cluster_row *row,
                    size_t node, const int64_t *free, size_t most);

/* What keeps a row from a node now: CLUSTER_NONE: nothing; CLUSTER_SHARED: another job
 * that does not share; else the index of an amount. */
enum { CLUSTER_SHARED = -2 };
ptrdiff_t cluster_lack(const struct cluster_state *s, const struct cluster_row *row,
                       size_t node);

#endif
