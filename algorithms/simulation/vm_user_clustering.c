/* simulation/vm_user_clustering.c - where most sessions of the same user run.
 *
 * Of the resources with room, the one with most running sessions of the user; ties: the
 * lower index.
 *
 * Source: spec simulator.md 10; 000_168dd5aef5075332 2.2. Cost: O(resources).
 */
#include "algorithms/simulation/vm.h"

const struct param vm_user_clustering_params[] = {{0}};

size_t vm_user_clustering(const struct vm_pool *pool, const struct vm_session *session)
{
    const uint32_t *of_user = pool->user_sessions + session->user * pool->resource_count;
    size_t best = VM_REJECTED;

    for (size_t i = 0; i < pool->resource_count; i++)
        if (vm_has_room(pool, session, i) &&
            (best == VM_REJECTED || of_user[i] > of_user[best]))
            best = i;
    return best;
}
