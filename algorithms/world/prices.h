/* world/prices.h - what a second of each amount is worth, and what jobs and time are
 * worth by it.
 *
 * For any prices >= 0 of amounts on resources and of shared amounts a job has a value:
 * what the cheapest resources for it take for its needs in its run time. Time has one
 * too: area(t), the integral of the price of all that is free. No plan does more than
 * area, so every choice of prices gives a bound; prices.c tries single amounts,
 * price_ascent.c looks for the best mixture.
 *
 * Source: world-model.md 5.2.
 */
#ifndef GRIDPLAN_WORLD_PRICES_H
#define GRIDPLAN_WORLD_PRICES_H

#include "algorithms/world/bounds_parts.h"

/* Prices are by column, a set of resources. */
struct world_prices {
    const double *amount;    /* [column * node_amount_count + k], of a unit and second;
                                times the speed of the resource if by_speed */
    const size_t *column_of; /* by position */
    const double *shared;    /* by amount of the world; rows of nodes are not used */
    bool by_speed;
};

/* area_at(t): area[i] + rate[i] * (t - at_s[i]) in the step i of t. */
struct price_curve {
    double *at_s, *area, *rate;
    size_t count; /* >= 1 */
};

/* A curve in the making. */
struct price_sum {
    struct price_curve curve;
    long double rate;
    double peak;
};

/* A curve with that rate at 0 and room for so many changes, which come by time. */
void price_sum_begin(struct price_sum *s, long double rate, size_t change_count,
                     struct arena *a);
void price_sum_change(struct price_sum *s, double at_s, long double by);
struct price_curve price_sum_end(struct price_sum *s);

/* Of what is free; false: the budget was spent. */
bool price_curve_make(const struct bounds_field *f, const struct world_prices *p,
                      struct price_curve *out);

double price_curve_area(const struct price_curve *c, double t_s);

/* The least time at which the area is that much; HUGE_VAL: never. */
double price_curve_time_s(const struct price_curve *c, double area);

/* Takes the values of all rows, in the order of rows, and the curve of the same prices;
 * true: no more are wanted. */
typedef bool price_use_fn(void *context, struct bounds_field *f, const double *value,
                          const struct price_curve *curve);

/* Each amount alone: on all resources, on those that have a given named amount, shared.
 * true: use() wanted no more, or the budget was spent. */
bool prices_of_single_amounts(struct bounds_field *f, price_use_fn *use, void *context);

/* The best mixture that an ascent finds for makespans of about makespan_s > 0. */
bool prices_of_ascent(struct bounds_field *f, double makespan_s, price_use_fn *use,
                      void *context);

/* ---- groups of equal resources ---- */

struct price_groups {
    size_t count;
    size_t *of;                  /* by position */
    size_t *first, *positions;   /* of group g: positions[first[g]..first[g + 1]) */
    int64_t *largest, *smallest; /* capacities, [g * node_amount_count + k] */
    double *slowest, *fastest;   /* speeds > 0; fastest 0: none */
    bool *any_stands;            /* a speed is 0 */
    uint64_t *eligible;          /* [row * words]: groups that the job may use */
    size_t words;
};

/* At most GROUPS_MAX groups: where there are more, similar resources are together, and a
 * job may use a group if it could use a resource with the largest amounts of it. */
enum { GROUPS_MAX = 512 };

/* By cost: resources are equal only with equal prices, powers and speeds. NULL: the
 * budget was spent. */
const struct price_groups *price_groups_of(struct bounds_field *f, bool by_cost);

static inline bool price_group_has(const struct price_groups *g, size_t row, size_t group)
{
    return g->eligible[row * g->words + group / 64] >> (group % 64) & 1;
}

/* The least run time, times speed if by_speed, of the row in the group; HUGE_VAL: none.
 */
double price_group_time(const struct bounds_field *f, const struct price_groups *g,
                        const struct bounds_row *row, size_t group, bool by_speed);

#endif
