/* world/profile.h - what is free of all amounts of one resource, from now on.
 *
 * Steps by rising time, the first at 0, the last without an end; a step's amounts are
 * free until the next one begins: right-continuous, piecewise constant. Free amounts may
 * be negative where more is held than there is.
 *
 * An interval is half open and ends where the next begins by the same double: nothing is
 * compared with a tolerance. s + h == s counts as no length.
 *
 * Cost: at() O(log steps), fit() O(steps looked at), take() and give() O(steps).
 * Source: world-model.md 3 and 4.1.
 */
#ifndef GRIDPLAN_WORLD_PROFILE_H
#define GRIDPLAN_WORLD_PROFILE_H

#include "algorithms/world/world.h"

struct profile {
    double *at_s;  /* of each step */
    int64_t *free; /* step after step, `amount_count` each */
    size_t count, room;
    size_t amount_count;
};

/* What is compared: a need of 0 is not looked at. */
struct profile_need {
    const int64_t *at_least; /* INT64_MIN where nothing is needed */
    const int64_t *taken;    /* 0 there */
};

/* All of `free` from 0 on. */
void profile_reset(struct profile *p, const int64_t *free, size_t amount_count,
                   struct arena *a);

/* A copy of `from`, in the memory that `p` has. */
void profile_copy(struct profile *p, const struct profile *from, struct arena *a);

/* Step that holds at t_s >= 0. */
size_t profile_at(const struct profile *p, double t_s);

/* Takes the amounts in [start_s, end_s); HUGE_VAL: for ever. Nothing for no length. */
void profile_take_amounts(struct profile *p, double start_s, double end_s,
                          const int64_t *taken, struct arena *a);

/* Gives back what was taken: the array is as before. */
void profile_give_amounts(struct profile *p, double start_s, double end_s,
                          const int64_t *taken, struct arena *a);

/* The least start from from_s on from which at_least is free for held_s >= 0 (no length:
 * from_s itself); HUGE_VAL: never, or not up to latest_s. *looks grows by the steps
 * looked at. */
double profile_fit_amounts(const struct profile *p, const int64_t *at_least,
                           double held_s, double from_s, double latest_s, size_t *looks);

/* What is free of the resource at `position` before anything is planned: holders taken,
 * whole reservations closed. */
void profile_of_resource(const struct world *w, size_t position, struct profile *p,
                         struct arena *a);

/* The same with amounts `rows` of the world alone, in this order. */
void profile_of_rows(const struct world *w, size_t position, const size_t *rows,
                     size_t row_count, struct profile *p, struct arena *a);

/* The same of a shared amount (one amount a profile). */
void profile_of_shared(const struct world *w, size_t amount, struct profile *p,
                       struct arena *a);

/* The same of a limit: what jobs that run leave of it. */
void profile_of_limit(const struct world *w, const struct world_limit *l,
                      struct profile *p, struct arena *a);

#endif
