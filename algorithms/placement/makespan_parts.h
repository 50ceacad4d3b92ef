/* placement/makespan_parts.h - what the files makespan_*.c share.
 *
 * They count time in units of their own, `scale` of which make a second: a
 * power of two, so that nothing is rounded, which brings the longest time to at
 * most 1, so that nothing overflows.
 */
#ifndef GRIDPLAN_PLACEMENT_MAKESPAN_PARTS_H
#define GRIDPLAN_PLACEMENT_MAKESPAN_PARTS_H

#include "algorithms/placement/makespan.h"
#include "algorithms/placement/prices.h"

#include <math.h>

/* A problem in units, with its bounds, and the pairs that a better plan may use. */
struct makespan_field {
    const struct makespan_problem *problem;
    size_t job_count, machine_count;
    double scale;
    double *wait;         /* units, by machine */
    double *time;         /* units, as the problem's */
    double *open;         /* `time`, or a copy in which pairs that are in no better plan
                             are HUGE_VAL */
    double *rooms[2];     /* for that copy and the next; NULL: none yet */
    struct prices prices; /* on `open`, in units; their floor holds for plans that use
                             open pairs only */
    double longest;       /* units: the longest job's least end */
    struct bound_list bounds; /* seconds */
    double *grain_s;          /* by machine, of its times */
    bool is_tightened;        /* grain and pigeonhole were looked for, to the end */
    bool has_grain, is_whole; /* found; and its times and waits are whole seconds */
    struct ticks *ticks;
    struct prices_wait *waits; /* of machines that have one */
    size_t wait_count;
    double *spare_load; /* by machine */
    struct arena *arena;
};

/* Makes the field and finds the longest job. When the time is up before, ticks->spent,
 * and all that it is good for are its bounds. O(jobs * machines). */
void makespan_field_create(const struct makespan_problem *problem, struct ticks *ticks,
                           struct makespan_field *f, struct arena *a);

/* Prices on the open pairs from equal ones, and the bound they give. */
enum error_code makespan_price(struct makespan_field *f, bool fast);

/* Closes the pairs that no plan shorter than `upper` units uses and prices the rest:
 * f->bounds gets what follows, and f->open and f->prices change with it unless that
 * proves that no plan is shorter, or the time is up. `fast`: a few rounds from the
 * present prices instead of all from equal ones. */
enum error_code makespan_eliminate(struct makespan_field *f, double upper, bool fast);

/* Goes on from the prices while the clock allows, for bounds alone; `upper` as above. */
enum error_code makespan_close(struct makespan_field *f, double upper);

/* A bound of whole jobs, from the prices on; makespan_whole.c. Ends when the clock does,
 * when little is left to gain, or after work_max looks. */
void makespan_whole(struct makespan_field *f, double upper, size_t work_max);

/* Bounds that follow from the times being multiples of something, and from more jobs than
 * machines. To be called after any of the above; what the time does not suffice for is
 * left for the next call. O(jobs * machines). */
void makespan_tighten(struct makespan_field *f);

/* No plan is shorter than so many units, from all bounds so far. */
double makespan_floor(const struct makespan_field *f);

/* A machine on which a job might go, apart from where it is. */
struct makespan_pair {
    uint32_t job, machine;
    double time;  /* units */
    double extra; /* reduced cost: price * time above the job's least, units */
};

enum { WANTED_MAX = 6 }; /* pairs that a job has at least, at most */

/* The pairs the search looks at, by job and again by machine. */
struct makespan_pairs {
    size_t count;
    struct makespan_pair *by_job, *by_machine;
    size_t *job_first, *machine_first; /* index of the first; one more at the end */
    double *least_cost;                /* price * time of each job's cheapest pair */
    uint8_t *wanted; /* pairs that a job has at least, itself included */
    /* for choosing again */
    size_t room;
    uint32_t *chosen;     /* machines of each job's pairs by the limits of extra */
    size_t *chosen_first; /* one more at the end */
    uint32_t *nearest;    /* [job * WANTED_MAX]: machines of least extra; NONE: no more */
    size_t *next;         /* by machine */
};

#define MAKESPAN_NONE UINT32_MAX

/* Chooses the pairs of least reduced cost among those that may be in a plan better than
 * `upper` units; see makespan_pairs.c. Keeps what *out wants from a choice before. */
enum error_code makespan_pairs_choose(const struct makespan_field *f, double upper,
                                      struct makespan_pairs *out);

/* Lists the pairs again after *p wants more of some jobs. O(pairs). */
enum error_code makespan_pairs_list(const struct makespan_field *f,
                                    struct makespan_pairs *p);

/* Looks for the optimum of a problem of at most MAKESPAN_EXACT_JOBS jobs, starting
 * from `assignment` of length `makespan` units, and improves both. *proven: nothing is
 * shorter, the whole tree was searched within limits of nodes and time. */
void makespan_exact(const struct makespan_field *f, size_t *assignment, double *makespan,
                    bool *proven);

enum { MAKESPAN_EXACT_JOBS = 20 };

/* Length of an assignment in units, summed in the order of the jobs. */
double makespan_length(const struct makespan_field *f, const size_t *assignment);

/* Jobs by falling least open time, each to the machine of least price * (time + what goes
 * beyond the goal, in units). Ties: lowest index. A part of them when the time is up. */
void makespan_fill(const struct makespan_field *f, const double *price, double goal,
                   size_t *assignment);

#endif
