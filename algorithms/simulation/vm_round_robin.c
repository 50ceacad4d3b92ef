/* simulation/vm_round_robin.c - the next resource with room after the one used last.
 *
 * Three policies go round: round_robin takes any resource with room; limit only those
 * whose limit the session does not exceed, so that heavy sessions do not fill them;
 * dynamic_limit likewise, but a resource's limit rises when it has as many light
 * sessions as must be expected:
 *
 *     load a   = light arrivals so far / time so far / resources * mean time of a light
 *                session
 *     places c = least k with Erlang B(a, k) <= target_blocking
 *     limit    = max(threshold, capacity - max(0, c - light sessions there) * mean size
 *                of a light session)
 *
 * The first search starts at the first resource; a rejection changes nothing.
 *
 * Source: spec simulator.md 10; 000_168dd5aef5075332 2.2, which gives no procedure for
 * the dynamic limit. Cost: O(resources + c).
 * Deviation: arrivals so far are those before the session in question; at time 0 the
 * load is 0. Without limit_mips the limit is half of a resource's capacity, and the
 * threshold half of the smallest one, since the source gives no default.
 */
#include "algorithms/simulation/vm.h"

#include <math.h>

#define LIMIT_ROW                                                                    \
    {                                                                                \
        "limit_mips", 0, 1e12, (double)NAN,                                          \
            "Largest session that is light, in MIPS; not set: half of the capacity", \
            PARAM_NUMBER, NULL                                                       \
    }

const struct param vm_round_robin_params[] = {{0}};
const struct param vm_limit_params[] = {LIMIT_ROW, {0}};
const struct param vm_dynamic_limit_params[] = {
    LIMIT_ROW,
    {"target_blocking", 1e-6, 1, 0.02,
     "Share of light sessions that may find no place (Erlang B)", PARAM_NUMBER, NULL},
    {0},
};

size_t vm_round_robin(const struct vm_pool *pool, const struct vm_session *session)
{
    size_t from = pool->last == VM_REJECTED ? 0 : pool->last + 1;

    for (size_t k = 0; k < pool->resource_count; k++) {
        size_t i = (from + k) % pool->resource_count;

        if (vm_has_room(pool, session, i) &&
            vm_limit_mips(pool, i) >= session->mips_required)
            return i;
    }
    return VM_REJECTED;
}

size_t vm_limit(const struct vm_pool *pool, const struct vm_session *session)
{
    return vm_round_robin(pool, session);
}

size_t vm_dynamic_limit(const struct vm_pool *pool, const struct vm_session *session)
{
    return vm_round_robin(pool, session);
}
