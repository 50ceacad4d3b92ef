/* world/bounds_parts.h - what the parts of the bounds share: the jobs of a plan, each
 * alone on the empty world.
 */
#ifndef GRIDPLAN_WORLD_BOUNDS_PARTS_H
#define GRIDPLAN_WORLD_BOUNDS_PARTS_H

#include "algorithms/world/objective.h"
#include "algorithms/world/profile.h"

/* What was added up in doubles may be too high by that; with BOUNDS_SUM_SLACK, which is
 * taken off sums first, less than the 1e-9 by which equal values may differ. */
#define BOUNDS_SLACK     9.9e-10
#define BOUNDS_SUM_SLACK 1e-12

/* Looks at resources of all jobs together; beyond, what is not certain counts as best. */
enum { BOUNDS_LOOKS_MAX = 20 * 1000 * 1000 };

/* A job that the plan places. A row is its number among them. */
struct bounds_row {
    size_t job;
    const struct world_job *of;
    double head_s;  /* its earliest start on the empty world */
    double done_s;  /* its least completion there */
    double least_s; /* the `nodes`-th least run time: no run is shorter */
    double work;    /* the least product of run time and speed, or less */
    double tail_s;  /* the longest chain of least_s that waits for its end */
};

/* What is free of a resource, or of a shared amount, changes. */
struct bounds_change {
    double at_s;
    size_t profile; /* resources by position, then shared amounts */
    size_t step;    /* that begins */
};

/* The jobs, and what is free before any of them is planned. */
struct bounds_field {
    const struct world *w;
    struct arena *arena;
    struct bounds_row *rows;
    size_t row_count;
    size_t *row_of; /* by job; WORLD_NONE */

    size_t profile_count;          /* resource_count + shared amounts */
    struct profile *free;          /* count 0: nothing is held, all of the capacity */
    struct bounds_change *changes; /* by time */
    size_t change_count;

    size_t *by_speed;               /* positions by falling speed */
    double slowest, fastest;        /* speeds > 0 */
    bool any_stands;                /* a speed is 0 */
    bool any_by_work;               /* jobs with estimate_ref_s on unlike speeds */
    bool any_by_time;               /* others, or whose time limit cuts */
    size_t *by_head;                /* rows by falling head */
    struct price_groups *groups[2]; /* once somebody asked: by amounts, by cost */
    size_t looks_a_row;             /* that one job may take */
    size_t looks;                   /* at resources, until now */
    int64_t *at_least;              /* room for one job's needs */
    bool *needed; /* by amount of the world: some job needs it (of presence:
                     more than a count) */
};

static inline double bounds_omega(const struct world *w, size_t position, bool by_speed)
{
    return by_speed ? w->resources[position].speed : 1;
}

/* The job may run there: mask, capacities, and a run time. */
static inline bool bounds_usable(const struct world *w, const struct world_job *j,
                                 const struct world_choice *c, size_t position)
{
    return world_mask_has(c->mask, position) && world_large_enough(w, j, position) &&
           world_run_s(w, j, position) < HUGE_VAL;
}

/* All rows, each alone; false: the budget was spent meanwhile, and heads and done_s of
 * some are too low. */
bool bounds_field_make(const struct world *w, const struct world_plan *plan,
                       struct bounds_field *f, struct arena *a);

struct price_curve;

/* ---- what one choice of prices proves: values of all rows, and the area under it; 0:
 * nothing. What is cut proves less. ---- */

/* Of `count` rows, which come by falling head_s. */
double bounds_volume_s(const struct bounds_field *f, const size_t *rows, size_t count,
                       const double *value, const struct price_curve *curve);
double bounds_energetic_s(const struct bounds_field *f, const double *value,
                          const struct price_curve *curve);

/* Weights of the jobs; flow: 1, and less the releases. */
double bounds_completion(const struct bounds_field *f, const double *value,
                         const struct price_curve *curve, bool flow);

/* Of jobs with deadlines; value NULL: what done_s alone prove. */
double bounds_tardiness(const struct bounds_field *f, const double *value,
                        const struct price_curve *curve);
double bounds_late_jobs(const struct bounds_field *f, const double *value,
                        const struct price_curve *curve);

/* ---- makespans by other arguments; 0: nothing ---- */

double bounds_limits_s(const struct bounds_field *f);
double bounds_dual_s(struct bounds_field *f);
double bounds_pigeonhole_s(struct bounds_field *f);

/* bound_s rounded up if all times are multiples of a grain; else bound_s. */
double bounds_grain_s(const struct bounds_field *f, const struct world_plan *plan,
                      double bound_s);

/* ---- others ---- */

/* Least cost, by prices or by power. */
double bounds_cost(struct bounds_field *f, bool energy);

/* Least number of resources of plans that end by makespan_s; HUGE_VAL: of all plans. */
double bounds_nodes_used(const struct bounds_field *f, double makespan_s);

#endif
