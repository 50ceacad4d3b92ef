/* world/board_parts.h - what a board is made of, for the files that make it.
 *
 * A profile of each resource, of the amounts that matter; a pool for each shared amount;
 * what groups count (board_groups.c); lower bounds of starts (buckets.h). Nothing here is
 * asked by policies.
 *
 * Source: world-model.md 3 and 4.
 */
#ifndef GRIDPLAN_WORLD_BOARD_PARTS_H
#define GRIDPLAN_WORLD_BOARD_PARTS_H

#include "algorithms/world/board.h"

/* Something that is on no resource: one amount over time. */
struct board_pool {
    struct profile now, empty; /* empty: before anything is planned */
    int64_t capacity;
};

/* While a resource is reserved as a whole: ends[i] < starts[i + 1]. */
struct board_closed {
    double *starts_s, *ends_s;
    size_t count;
};

enum board_state { BOARD_OPEN, BOARD_PLACED, BOARD_REFUSED };

struct board_nodes;  /* board_nodes.c */
struct board_units;  /* units.c */
struct board_groups; /* board_groups.c */
struct buckets;      /* buckets.h */

struct board {
    const struct world *w;
    const struct board_files *files; /* NULL: no job has files */
    struct arena *a;

    /* Rows of the world that profiles have: some job needs them, some resource limits
     * them. */
    size_t rows[AMOUNTS_MAX];
    size_t row_count;
    struct profile *now, *empty; /* by position */
    size_t *touched;             /* positions whose `now` differs from `empty`, perhaps */
    size_t touched_count;
    bool *is_touched;
    struct board_pool *shared;   /* by amount - node_amount_count */
    struct board_pool *limits;   /* by limit of the world; NULL: none counts */
    struct board_closed *closed; /* by position; NULL: nothing is reserved as a whole */
    size_t *identity;            /* [i] == i: the one position of a spot */

    struct world_plan plan;
    unsigned char *state; /* of jobs: enum board_state */
    size_t **positions;   /* of jobs of several nodes: room for theirs; NULL: none */
    size_t *stamps;       /* of placed jobs: by them the plan's sequence */
    size_t stamp;

    struct board_nodes *nodes;   /* NULL: no job of several nodes was asked yet */
    struct board_units *units;   /* NULL: no unit was placed yet */
    struct board_groups *groups; /* NULL: no job is in a group */
    struct buckets *buckets;     /* NULL: every resource is looked at */

    /* The job asked last, and what it needs, by row. */
    size_t need_job;
    int64_t at_least[AMOUNTS_MAX], taken[AMOUNTS_MAX];
    size_t looks; /* at steps of profiles, not yet counted by the budget */
};

/* What the job needs of the profiles' rows; valid until the next job is asked. */
struct profile_need board_need(struct board *b, size_t job);

/* The resource is in the choice, large enough, and the job can run there. */
bool board_may_use(const struct board *b, size_t job, size_t choice, size_t position);

/* That, and what its group counts lets it. */
bool board_may_go(const struct board *b, size_t job, size_t choice, size_t position);

/* There is enough of each shared amount when nothing is taken. */
bool board_shared_is_enough(const struct board *b, size_t job);

/* The least start from from_s on, but not after latest_s, at which all that the job needs
 * of shared amounts, and of its choice's limits, is free for held_s. HUGE_VAL: never. */
double board_fit_shared(struct board *b, size_t job, size_t choice, double held_s,
                        double from_s, double latest_s);

/* The same on a resource: its amounts, shared ones, and the group's rule. */
double board_fit_held(struct board *b, size_t job, size_t choice, size_t position,
                      double held_s, double from_s, double latest_s);

/* board_fit() without its questions: the job may be there, from_s is late enough. */
struct board_spot board_fit_there(struct board *b, size_t job, size_t choice,
                                  size_t position, double from_s, double latest_s);

/* board_best() of a job of one node, in one of its choices, by looking at all resources
 * that may complete first. */
struct board_spot board_best_of_all(struct board *b, size_t job, size_t choice);

/* Completes earlier than `than` (which may be nowhere), or on a lower snapshot index. */
bool board_is_better(const struct board *b, const struct board_spot *spot,
                     const struct board_spot *than);

/* The best place of a job of one node, and the best on another resource (site). */
struct board_pair {
    struct board_spot best, rival;
};

/* The pair of an open job, over all its choices. */
struct board_pair board_pair_of(struct board *b, size_t job, bool by_site);

/* The spot may be the best or its rival. */
void board_offer(const struct board *b, struct board_pair *p,
                 const struct board_spot *spot, bool by_site);

/* An earlier choice of the job has the resource as well, without a limit: it is looked at
 * once. */
bool board_seen_before(const struct world_job *j, size_t choice, size_t position);

/* By how many choices of a job a resource may have to be looked at. */
size_t board_most_ways(const struct world *w);

/* A start that is later than this cannot complete by done_s, whatever rounding does. */
double board_latest_s(double done_s, double run_s);

/* What lasts no time starts behind whatever reserves the resource as a whole. */
double board_past_closed(const struct board *b, size_t position, double from_s);

/* Tells the budget what was looked at; true: it is spent. */
bool board_tick(struct board *b);

/* A job that was refused may be asked again. */
void board_reopen(struct board *b, size_t job);

/* Why board_best() found no place: looks at what the job waits for. */
enum world_wait board_why(struct board *b, size_t job, size_t *wait_on);

/* The limit by which the job gets no place, although it would get one without limits;
 * WORLD_NONE. board_limit_now(): no place at at_s. */
size_t board_limit_ever(struct board *b, size_t job);
size_t board_limit_now(struct board *b, size_t job, double at_s);

/* ---- board_groups.c ---- */

void board_groups_create(struct board *b);
void board_groups_reset(struct board *b);

/* Rules that do not depend on time let the job go there: spread, pack by what runs. */
bool board_group_allows(const struct board *b, size_t job, size_t position);

/* How many more members may be there at once, over time; the job takes 1. NULL: any. */
struct profile *board_group_profile(struct board *b, size_t job, size_t position);

/* The job would get a place if its group did not spread. */
bool board_group_prevents(struct board *b, size_t job);

/* The job has got its place, or loses it. */
void board_group_placed(struct board *b, size_t job, bool taken);

/* ---- units.c ---- */

/* No predecessor outside the unit may still get a place. */
bool board_unit_is_due(const struct board *b, size_t job);

/* ---- board_nodes.c ---- */

/* board_best() of a job of several nodes. */
struct board_spot board_best_nodes(struct board *b, size_t job);

/* The job of several nodes has a place in every plan: at the latest behind all that ends.
 * false: it may have none. O(resources). */
bool board_has_last_resort(struct board *b, size_t job);

/* The positions and the start that board_best() told last of a job of several nodes can
 * be had still, and so it completes no earlier anywhere: nothing was given back since
 * then. false: it may be so, ask board_best(). O(nodes log steps). */
bool board_keeps_nodes(struct board *b, size_t job, const size_t *positions,
                       double start_s);

#endif
