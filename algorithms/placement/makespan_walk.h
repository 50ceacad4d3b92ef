/* placement/makespan_walk.h - the assignment that the search changes, and looks at it. */
#ifndef GRIDPLAN_PLACEMENT_MAKESPAN_WALK_H
#define GRIDPLAN_PLACEMENT_MAKESPAN_WALK_H

#include "algorithms/placement/makespan_parts.h"

/* A job that could come to the full machine: in a list per machine it would come from. */
struct makespan_partner {
    const struct makespan_pair *pair;
    double time_here;   /* on the full machine */
    double time, extra; /* where it is; extra: change */
    uint32_t next;
};

/* Up to three moves made at once; ends at a NULL. */
struct makespan_exchange {
    const struct makespan_pair *move[3];
    double score; /* -HUGE_VAL: none found */
};

struct makespan_place {
    uint32_t job, machine;
    double time, extra;
};

struct makespan_walk {
    const struct makespan_field *field;
    struct makespan_pairs pairs;
    /* the present assignment */
    uint32_t *machine_of;
    double *time, *extra; /* of each job where it is */
    double *load;         /* of each machine */
    /* the jobs on each machine, as doubly linked lists */
    uint32_t *head, *next, *prev;
    /* what changed since the last accepted assignment */
    struct makespan_place *undo;
    size_t undo_count;
    size_t *touched_in; /* per job: number of the shake that last moved it */
    size_t shake;
    double *accepted_load;
    double accepted; /* its makespan */
    /* a look at machine `full` */
    size_t full;
    struct makespan_partner *partners;
    uint32_t *partners_from; /* per machine: the first that would come from there */
    double *partners_least;  /* and the least change of extra among them */
    struct makespan_exchange best;
};

void makespan_walk_create(const struct makespan_field *f, struct makespan_walk *w);

/* Makes `assignment` the present and accepted one, with loads free of accumulated
 * rounding. */
void makespan_walk_start(struct makespan_walk *w, const size_t *assignment);

/* Moves a job and remembers where the accepted assignment has it. */
void makespan_walk_apply(struct makespan_walk *w, const struct makespan_pair *pair);

void makespan_walk_accept(struct makespan_walk *w, double makespan);
void makespan_walk_go_back(struct makespan_walk *w);

/* The machine that ends last (tie: lowest index), of those with jobs. */
size_t makespan_walk_fullest(const struct makespan_walk *w);

/* Finds the best exchange that lowers the fullest machine, into w->best; chains too if
 * there is no other and it ends at `chains_from` or later. */
void makespan_walk_look(struct makespan_walk *w, double chains_from);

#endif
