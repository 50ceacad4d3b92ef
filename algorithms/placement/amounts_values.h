/* placement/amounts_values.h - objectives of a plan of amounts, as answers have them. */
#ifndef GRIDPLAN_PLACEMENT_AMOUNTS_VALUES_H
#define GRIDPLAN_PLACEMENT_AMOUNTS_VALUES_H

#include "algorithms/world/goal.h"

/* Jobs of one priority that start now. */
struct placement_tier {
    double priority;
    double value; /* sum of their weights */
    double bound; /* no plan that is as good in the tiers above starts more */
    bool proven;
};

struct placement_value {
    struct world_value of;              /* value NAN: some run time is not known */
    const struct placement_tier *tiers; /* of started_now_weight with several priorities,
                                           which then has no bound; else none */
    size_t tier_count;
};

#endif
