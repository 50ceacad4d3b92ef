/* world/now_parts.h - classes of ready jobs, and what is free for jobs that start at 0:
 * for the files now*.c.
 */
#ifndef GRIDPLAN_WORLD_NOW_PARTS_H
#define GRIDPLAN_WORLD_NOW_PARTS_H

#include "algorithms/world/now.h"

/* What is free at the times at which less is free than ever before. A job that starts at
 * 0 and holds for h fits if it fits in each step that begins before h. */
struct now_floor {
    double *at_s; /* by step; the first is 0 */
    int64_t *free;
    size_t count;
    size_t width; /* amounts of a step */
};

struct now_take {
    size_t class;
    int64_t count;
};

/* A resource, and what starts on it. */
struct now_pool {
    struct now_floor floor;
    bool closed; /* reserved as a whole at 0 */
    struct now_take *takes;
    size_t take_count;
};

/* Ready jobs between which nothing here makes a difference. */
struct now_class {
    const int64_t *needs;
    double weight;
    int64_t scaled;                     /* weight in whole numbers */
    size_t rank;                        /* of its tier, 0 is first */
    size_t sample;                      /* a member */
    size_t nodes;                       /* of each */
    const struct world_choice *choices; /* the sample's */
    size_t choice_count;
    bool apart;    /* on several nodes, of a group, or in its place before */
    size_t first;  /* in now.members */
    int64_t count; /* of jobs; of members as many as stand for them */
    size_t member_count;
    int64_t started; /* by the pools */
    double last_queued_at_s;
    bool mixed; /* members by index are not in the order of the queue */
};

enum now_state { NOW_WAITS, NOW_READY, NOW_PLACED /* by in->before */ };

struct now {
    const struct world *w;
    const struct now_in *in;
    struct arena *a;
    struct arena *scratch;    /* of one knapsack */
    struct now_pool *pools;   /* by position */
    struct now_floor *shared; /* by amount - node_amount_count */
    double *falls;            /* times at which some step begins, rising */
    size_t fall_count;
    unsigned char *state; /* by job: now_state */
    size_t *ready;        /* jobs that are not NOW_WAITS */
    size_t ready_count;
    double alike_count; /* of them, each as many as it stands for */
    double tier_of[KNAPSACK_TIERS_MAX], priority_of[KNAPSACK_TIERS_MAX];
    size_t rank_count;
    double scale; /* whole numbers of 1 of weight */
    bool rounded; /* by more than a millionth: nothing is proven */
    struct now_class *classes;
    size_t class_count;
    size_t *members; /* jobs, class after class, in the order in which they start */
    size_t nodes;    /* of all searches */
    size_t rounds;
    struct knapsack sum; /* of all resources, for a bound */
};

/* ---- now_floors.c ---- */

/* Fills pools, shared, falls. */
void now_floors(struct now *n);

/* For how long the class holds the resource when it starts there. */
double now_held_s(const struct now *n, const struct now_class *c, size_t position);

/* It may start there if there is room. */
bool now_is_eligible(const struct now *n, const struct now_class *c, size_t position);

/* How many of the class fit there besides what starts already, at most `most`. */
int64_t now_room(const struct now *n, const struct now_class *c, size_t position,
                 int64_t most);

/* `count` of the class start there; negative: they do not. */
void now_change(struct now *n, const struct now_class *c, size_t position, int64_t count);

/* What jobs of in->before take. */
void now_take_before(struct now *n);

/* ---- now_classes.c ---- */

/* How many jobs the job stands for. */
int64_t now_alike(const struct now *n, size_t job);

/* Nothing but room keeps the job from starting. */
bool now_is_ready(const struct world_job *j);

/* Fills what is ready, tiers, weights, classes, members. */
void now_classes(struct now *n);

/* ---- now_pools.c ---- */

/* The most for the resource, of all that has not started elsewhere. Keeps what starts
 * there now unless that is less. Returns whether it changed; tiers: values and bounds by
 * rank (NULL: not wanted). */
bool now_solve_pool(struct now *n, size_t position, size_t max_nodes,
                    struct knapsack_tier *tiers);

/* Several resources: a first fill, then rounds. */
void now_solve_pools(struct now *n);

/* Whatever still fits starts: what weighs nothing, or was not found. */
void now_fill(struct now *n);

/* ---- now_sum.c ---- */

/* Fills n->sum: one knapsack of all that is free now and of all ready jobs, those on
 * several nodes included. No plan starts more. Before anything is taken. */
void now_sum(struct now *n);

#endif
