/* coallocation/slot.h - when reservations on several sites can begin together.
 *
 * Each site says in which windows of time how many processors are free. The common slot
 * is the first time t, not before earliest_s, so that on every site windows with enough
 * free processors cover [t, t + duration) without a gap and all ends by latest_end_s.
 *
 * Source: spec coallocation.md 14; 001_546dfcc428821807 1.1.2, 3.1.
 */
#ifndef GRIDPLAN_COALLOCATION_SLOT_H
#define GRIDPLAN_COALLOCATION_SLOT_H

#include "models/base/budget.h"
#include "models/base/error.h"

/* In [start_s, end_s) so many processors are free; start_s < end_s. */
struct co_window {
    double start_s, end_s;
    double processors_free;
};

struct co_slot_site {
    const struct co_window *windows; /* in any order, none overlaps another */
    size_t window_count;
    double processors; /* needed here; 0: the site does not count */
};

/* *start_s NAN: there is none. O(W log W + S W) for W windows in all. */
void co_common_slot(const struct co_slot_site *sites, size_t site_count,
                    double duration_s, double earliest_s, double latest_end_s,
                    double *start_s, struct arena *a);

/* Position of a window that overlaps an earlier one of the list; SIZE_MAX: none does. */
void co_window_overlap(const struct co_window *windows, size_t count, size_t *position,
                       struct arena *a);

/* ---- fuzzy reservations (slot_fuzzy.c) ---- */

/* A job that leaves open when it runs, on how many processors and where: the best by a
 * list of criteria, the most important first. Of all possibilities those stay whose value
 * of the first criterion is at most (1 + tolerance) times the best, of these those that
 * are good by the second, and so on; the rest goes by the values in the same order. All
 * values are the better the less they are; instants count from earliest_s.
 *
 * Source: spec coallocation.md 15 (Roeblitz); 001_546dfcc428821807 2.4 [L479].
 */
enum co_slot_criterion {
    CO_SLOT_END,         /* end_s */
    CO_SLOT_START,       /* start_s */
    CO_SLOT_COST,        /* cost of all processors */
    CO_SLOT_PROCESSORS,  /* processors */
    CO_SLOT_PROCESSOR_S, /* processors times duration */
    CO_SLOT_SITES,       /* sites */
    CO_SLOT_CRITERION_COUNT,
};
extern const char *const co_slot_criterion_names[]; /* ended by NULL */

struct co_slot_wish {
    enum co_slot_criterion criterion;
    double tolerance_ratio; /* >= 0 */
};

struct co_fuzzy_site {
    const struct co_window *windows; /* as in struct co_slot_site */
    size_t window_count;
    double cost_per_processor_s; /* >= 0 */
};

/* A number of processors that will do, and how long the job runs on them. */
struct co_fuzzy_size {
    double processors; /* >= 1 */
    double duration_s; /* > 0 */
};

struct co_fuzzy_in {
    const struct co_fuzzy_site *sites;
    size_t site_count;
    const struct co_fuzzy_size *sizes;
    size_t size_count;
    double earliest_s, latest_end_s;
    size_t max_sites; /* that it may be spread over; >= 1 */
    const struct co_slot_wish *wishes;
    size_t wish_count;     /* at most CO_SLOT_CRITERION_COUNT */
    struct budget *budget; /* NULL: none */
};

struct co_fuzzy_part {
    size_t site;
    double processors;
};

struct co_fuzzy_out {
    bool found;
    double start_s, end_s, processors, cost;
    const struct co_fuzzy_part *parts; /* by site */
    size_t part_count;
    size_t candidate_count; /* possibilities that were compared */
    bool cut;               /* the time limit came before all were */
};

/* Looks at every size, at earliest_s and at each begin of a window after it (what begins
 * between two of them has no more room and ends later), and at three ways to spread the
 * job: one site, the cheapest sites, the fewest. Exact for max_sites 1 and for no limit;
 * between, spreading over more than one but not the cheapest sites is tried only as the
 * fewest. O(criteria * sizes * W * (S log S + V)) with W windows in all, V of one site
 * in the duration. */
enum error_code co_fuzzy_slot(const struct co_fuzzy_in *in, struct co_fuzzy_out *out,
                              struct arena *a);

/* Whether nothing better can have been passed over. */
bool co_fuzzy_is_exact(const struct co_fuzzy_in *in);

/* Times as fast as on one processor, by Amdahl: 1 / (serial + (1 - serial) / n). */
double co_speedup_amdahl(double serial_ratio, double processors);

#endif
