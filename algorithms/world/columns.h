/* world/columns.h - how many resources lack how much of what, for many jobs.
 *
 * For each amount the resources stand in order of what they have of it, and for every so
 * many ranks there is the set of those of at least that rank, so that the resources that
 * have enough for a job are found by a search of the rank and a few changes of a copied
 * set: O(log m + m / 64 + spacing) for an amount, and the same numbers as a scan.
 *
 * Memory: at most 256 sets of m bits an amount. Source: world-model.md 7.1.
 */
#ifndef GRIDPLAN_WORLD_COLUMNS_H
#define GRIDPLAN_WORLD_COLUMNS_H

#include "algorithms/world/world.h"

struct columns; /* what each resource has of each amount of nodes */

/* One amount that some resource lacks. */
struct column_short {
    size_t amount;
    int64_t needed;
    size_t short_count; /* resources that have less */
    size_t alone_count; /* of these: lack nothing else */
    size_t rank;        /* in the column, of the first that has enough */
};

/* `has`: node_amount_count of each position, one after the other. O(K m log m). */
struct columns *columns_create(const struct world *w, const int64_t *has,
                               struct arena *a);

/* Of what each resource has when nothing is on it. */
struct columns *columns_of_capacities(const struct world *w, struct arena *a);

/* Of the resources of `mask`: what they lack of `needs` (amounts that none lacks are left
 * out; list has room for node_amount_count), and the set of those that lack nothing.
 * Returns how many amounts are listed. */
size_t columns_count(struct columns *c, const int64_t *needs, const uint64_t *mask,
                     struct column_short *list, uint64_t *passed);

/* Resources in the set. */
size_t columns_size(const struct columns *c, const uint64_t *set);

/* Those that lacked only amount `of` in the last columns_count(); alone_count > 0. */
const uint64_t *columns_alone(const struct columns *c, const struct column_short *of);

/* Of those that lacked only amount `of` of the last columns_count(): the one that has
 * most of it (ties: the least snapshot index). There must be one. *looks grows by the
 * ranks looked at. */
size_t columns_nearest(const struct columns *c, const struct column_short *of,
                       size_t *looks);

/* Where none lacked one amount only in the last columns_count(): those among which are
 * all that lacked fewest. */
const uint64_t *columns_fewest(const struct columns *c);

/* The resource of the set that has most of the amount (ties: the least snapshot index);
 * WORLD_NONE: the set is empty. */
size_t columns_most(const struct columns *c, size_t amount, const uint64_t *set);

/* What the resource has. */
int64_t columns_has(const struct columns *c, size_t position, size_t amount);

#endif
