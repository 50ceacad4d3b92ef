/* what_if.h - gridplan slurm what-if: a study of what accounting has, as a request, and
 * its answer as a table.
 *
 * Jobs are replayed on the cluster as it is: its nodes, partitions, accounts, limits and
 * settings, by Slurm's main loop and backfill. What runs now and is reserved now is not
 * of their time, and is left out. Jobs wait for what they waited for, arrays run as many
 * tasks at once, and who was cancelled before it ran is in the queue until then.
 */
#ifndef GRIDPLAN_WHAT_IF_H
#define GRIDPLAN_WHAT_IF_H

#include "models/base/arena.h"
#include "models/base/error.h"
#include "models/slurm/workload.h"
#include "service/json.h"

#include <stdio.h>

enum { WHAT_IF_LIST_MAX = 16, WHAT_IF_TIME_LIMIT_S = 100 };

struct what_if {
    const char *cluster; /* JSON of POST /v1/imports/slurm: its member cluster */
    /* settings: "bf_window=2880,bf_interval=60", names and units of slurm.conf, or
     * members of policy_settings; nodes: "like=node1,count=4" */
    const char *policies[WHAT_IF_LIST_MAX], *settings[WHAT_IF_LIST_MAX],
        *nodes[WHAT_IF_LIST_MAX];
    size_t policy_count, setting_count, node_count;
    struct slurm_workload workload;
    const char
        *warned;    /* by what_if_read(): of what Slurm warns in it; NULL: of nothing */
    size_t unknown; /* by what_if_request(): jobs whose partition, account or QOS the
                       cluster does not have, and that go without it */
};

/* Reads what sacct printed. In a computation (arena_run()). */
enum error_code what_if_read(struct what_if *w, const char *sacct, struct arena *a,
                             struct error *err);

/* The request. In a computation, too. Errors: a node that the cluster does not have, a
 * count that is none, a setting without a value. */
enum error_code what_if_request(struct what_if *w, struct text_buffer *out,
                                struct arena *a, struct error *err);

/* The table of an answer. */
enum error_code what_if_print(const char *answer, FILE *to, struct arena *a,
                              struct error *err);

#endif
