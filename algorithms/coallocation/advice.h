/* coallocation/advice.h - rules before or beside a placement, from related work.
 *
 * Source: spec coallocation.md 15; 001_546dfcc428821807 2.4.
 */
#ifndef GRIDPLAN_COALLOCATION_ADVICE_H
#define GRIDPLAN_COALLOCATION_ADVICE_H

#include "algorithms/coallocation/grid.h"

/* ---- co-allocate or not (Ernemann et al.: worth it up to a slowdown of 1.25) ---- */

enum co_advice { CO_ADVICE_SINGLE_SITE, CO_ADVICE_CO_ALLOCATE, CO_ADVICE_WAIT };
extern const char *const co_advice_names[];

#define CO_SLOWDOWN_WORTH 1.25

/* A site to watch: the job fits there once it has so many processors more. */
struct co_watch {
    size_t site;
    size_t processors_short;
};

struct co_advised {
    enum co_advice advice;
    size_t site;      /* with most available processors; CO_NONE: no site is usable */
    size_t available; /* on all usable sites */
    const struct co_watch *watch; /* nearest first; of jobs that wait */
    size_t watch_count;
};

/* A site fits: use it. Else, if splitting slows the job down by no more than
 * max_slowdown, and all sites together have room: co-allocate. Else wait. Sites whose
 * processors_total is less than the job are not watched. */
void co_advise(const struct co_grid *grid, size_t processors, double slowdown,
               double max_slowdown, struct co_advised *out, struct arena *a);

/* ---- acquiring several sites one after the other ---- */

enum co_acquire_mode {
    CO_AONP, /* all or nothing: the first failure gives everything back */
    CO_ODP2, /* one order for all jobs: a failure waits, and nothing deadlocks */
};
extern const char *const co_acquire_mode_names[];

/* Positions of the sites in the order of acquiring: as given, or by name. */
void co_acquire_order(enum co_acquire_mode mode, const char *const *site_ids,
                      size_t count, size_t **order, struct arena *a);

/* ---- copying popular files (Ranganathan and Foster) ---- */

struct co_access {
    size_t file, site; /* the site read it */
    double count;
};

struct co_popular {
    size_t file;
    double access_count;
    const size_t *sites; /* that read it and have no replica, most reads first */
    size_t site_count;
};

/* Files by decreasing number of reads, ties to the lower index, at most `most`. */
void co_popular_files(const struct co_grid *grid, const struct co_access *accesses,
                      size_t access_count, size_t most, const struct co_popular **list,
                      size_t *count, struct arena *a);

#endif
