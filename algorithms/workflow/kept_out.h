/* workflow/kept_out.h - why no resource takes a task, before anything is planned.
 *
 * The words are those of placements; `no_resource` is said only where the snapshot has no
 * resource.
 *
 * Source: world-model.md 7.1.
 */
#ifndef GRIDPLAN_WORKFLOW_KEPT_OUT_H
#define GRIDPLAN_WORKFLOW_KEPT_OUT_H

#include "algorithms/workflow/workflow.h"

#define KEPT_OUT(X)                                                                     \
    X(KEPT_OUT_FAILED, "failed", "the resource has failed")                             \
    X(KEPT_OUT_STALE, "stale", "its state was observed too long ago")                   \
    X(KEPT_OUT_UNAUTHORISED, "unauthorised", "the user is not allowed there")           \
    X(KEPT_OUT_REQUIREMENT, "requirement", "the requirement is not true there")         \
    X(KEPT_OUT_GROUP_KEY, "group_key",                                                  \
      "it has not the attribute that the task's group goes by")                         \
    X(KEPT_OUT_PARTITION, "partition",                                                  \
      "it is in none of the task's partitions, or these are closed to it")              \
    X(KEPT_OUT_NO_WINDOW, "no_window", "it is not there at any time that is left")      \
    X(KEPT_OUT_NOT_NOW, "no_window", "it is not there now")                             \
    X(KEPT_OUT_UNKNOWN_END, "unknown_end", "it is not known when what runs there ends") \
    X(KEPT_OUT_NO_SLOT, "too_small", "it has no slot: its n_max is 0")                  \
    X(KEPT_OUT_NO_SPEED, "no_free_now", "outside load leaves nothing of its speed")     \
    X(KEPT_OUT_NO_ESTIMATE, "no_estimate", "no run time is known for the task there")

enum kept_out {
#define X(symbol, name, detail) symbol,
    KEPT_OUT(X)
#undef X
        KEPT_OUT_COUNT
};

/* Fills reason, detail and resource_count from the number of resources by cause: the one
 * of most (ties: the first). */
void workflow_tell_kept_out(const size_t counts[KEPT_OUT_COUNT],
                            struct workflow_unplaced *out);

#endif
