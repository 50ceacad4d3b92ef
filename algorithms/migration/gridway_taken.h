/* migration/gridway_taken.h - running jobs of a request as rows of what runs.
 *
 * A row says what the job needs of each node, and when it ends where it is: what its used
 * slot says (free_at_s), else its rest at the speed of now; without an estimate nobody
 * knows. The k-th used slot of a resource belongs to the k-th running job of the request
 * there, so that only the slots behind hold a part of the resource. A job that the
 * snapshot has among its rows already has no other; one that has ended has none.
 *
 * Source: world-model.md 2.2, 8.
 */
#ifndef GRIDPLAN_MIGRATION_GRIDWAY_TAKEN_H
#define GRIDPLAN_MIGRATION_GRIDWAY_TAKEN_H

#include "algorithms/migration/gridway_parts.h"

struct gridway_taken {
    struct snapshot snapshot; /* the given one with these rows */
    size_t own_count;         /* the last of its list of what runs */
    const size_t *own_job;    /* of each: number of the running job */
};

/* hidden: what runs and is a job of the request as well has another id, so that the job
 * may be asked for a place beside what it holds; what it holds of shared amounts stays
 * taken. `started`: pending jobs that have places; NULL: none. Mistakes, with `hidden`
 * alone, are in *err. O(m + rows + needs * shared amounts). */
void gridway_taken_make(const struct gridway_request *request,
                        const struct placement_out *started, bool hidden,
                        struct gridway_taken *out, struct arena *a, struct error *err);

/* Mistakes behind `after` (NULL: all) in rows of running jobs point to these, and those
 * of jobs into that list. */
void gridway_taken_point(const struct gridway_request *request,
                         const struct gridway_taken *taken, const char *list,
                         const struct error_item *after, struct error *err);

/* A text in which ids are as they were given. */
const char *gridway_shown_text(const char *text, struct arena *a);

#endif
