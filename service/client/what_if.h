/* what_if.h - gridplan slurm what-if: a study of what accounting has, as a request, and
 * its answer as a table.
 *
 * Jobs are replayed on as many processors as the cluster has CPUs: nodes, memory and
 * limits are not seen. The base is EASY backfilling, which is nearest to what Slurm does.
 */
#ifndef GRIDPLAN_WHAT_IF_H
#define GRIDPLAN_WHAT_IF_H

#include "models/base/arena.h"
#include "models/base/error.h"
#include "models/slurm/workload.h"
#include "service/json.h"

#include <stdio.h>

enum { WHAT_IF_LIST_MAX = 16 };

struct what_if {
    const char *cluster; /* JSON of POST /v1/imports/slurm: its member cluster */
    const char *policies[WHAT_IF_LIST_MAX], *nodes[WHAT_IF_LIST_MAX];
    size_t policy_count, node_count; /* nodes: "like=node1,count=4" */
    struct slurm_workload workload;
};

/* Reads what sacct printed. In a computation (arena_run()). */
enum error_code what_if_read(struct what_if *w, const char *sacct, struct arena *a,
                             struct error *err);

/* The request. Errors: a node that the cluster does not have, a count that is none. */
enum error_code what_if_request(const struct what_if *w, struct text_buffer *out,
                                struct arena *a, struct error *err);

/* The table of an answer. */
enum error_code what_if_print(const struct what_if *w, const char *answer, FILE *to,
                              struct arena *a, struct error *err);

#endif
