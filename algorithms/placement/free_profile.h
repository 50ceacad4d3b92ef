/* placement/free_profile.h - what a resource has free, from now on.
 *
 * Slots, cpus and memory as whole numbers of small units (amount_scale()), so that
 * sums are exact and do not depend on their order. A profile is a list of steps by rising
 * time; a step's amounts are free until the next one begins, the last one's for ever.
 * What is free may be negative where more is held than there is: nothing that needs that
 * amount fits there.
 *
 * Source: world-model.md 3 and 4.1, for today's amounts.
 */
#ifndef GRIDPLAN_PLACEMENT_FREE_PROFILE_H
#define GRIDPLAN_PLACEMENT_FREE_PROFILE_H

#include "models/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum amount { AMOUNT_SLOTS, AMOUNT_CPUS, AMOUNT_MEMORY };
enum { AMOUNT_COUNT = AMOUNT_MEMORY + 1 };

#define AMOUNT_UNLIMITED (INT64_MAX / 4)

struct amounts {
    int64_t of[AMOUNT_COUNT];
};

/* Units of an amount of which a resource has at most `largest`: a power of two of them,
 * about 2^50 in the largest, so that whole numbers stay what they are. */
double amount_scale(double largest);

/* Both are rounded to whole units; what there is has a part in 10^12 more, as sums of
 * fractions need: 0.7, 0.2 and 0.1 fit into 1. A need that is not above what there is
 * fits in units too. From 2^60 units on: AMOUNT_UNLIMITED. */
int64_t amount_need(double amount, double scale);
int64_t amount_room(double amount, double scale);

struct free_profile_step {
    double t_s;
    struct amounts free;
};

struct free_profile {
    struct free_profile_step *steps;
    size_t count, room;
};

/* A hold as a function of its start t: until max(t + add_s, until_s) + time_s. */
struct free_profile_hold {
    double add_s, until_s, time_s;
};

/* All of it free from time 0 on. */
void free_profile_reset(struct free_profile *p, const struct amounts *all,
                        struct arena *a);

/* Takes the amounts from start_s to end_s (HUGE_VAL: for ever). */
void free_profile_take(struct free_profile *p, double start_s, double end_s,
                       const struct amounts *taken, struct arena *a);

/* The least start from `from_s` on at which the need is free as long as it is held;
 * HUGE_VAL: none, or none up to latest_s. A hold of no length needs its amounts at its
 * start. *looks grows by the steps looked at. */
double free_profile_fit(const struct free_profile *p, const struct amounts *need,
                        const struct free_profile_hold *hold, double from_s,
                        double latest_s, size_t *looks);

#endif
