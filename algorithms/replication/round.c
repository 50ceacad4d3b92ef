/* replication/round.c - what callers of a round share. */
#include "algorithms/replication/round.h"

#include "models/base/rng.h"

const char *const round_wait_reason_names[] = {
    [ROUND_NO_RESOURCE_UP] = "no_resource_up",
    [ROUND_NO_FREE_SLOT] = "no_free_slot",
    [ROUND_HOLDS_REPLICA] = "replica_on_every_free_resource",
    [ROUND_BELOW_LIMIT] = "below_free_cpu_limit",
    [ROUND_TOO_FEW_NODES] = "too_few_nodes",
    [ROUND_RESTART_LIMIT] = "restart_limit",
    [ROUND_OVER_COST] = "over_max_cost_ratio",
    [ROUND_WITHOUT_END] = "without_end",
    [ROUND_WAIT_REASON_COUNT] = NULL,
};

size_t round_draw(uint64_t *random_state, size_t count)
{
    double u = (double)(splitmix64(random_state) >> 11) * 0x1p-53;
    size_t i = (size_t)(u * (double)count);

    return i < count ? i : count - 1;
}
