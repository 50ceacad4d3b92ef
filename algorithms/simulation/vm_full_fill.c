/* simulation/vm_full_fill.c - the first resource with room, in the order of resources.
 *
 * Source: spec simulator.md 10; 000_168dd5aef5075332 2.2. Cost: O(resources).
 */
#include "algorithms/simulation/vm.h"

const struct param vm_full_fill_params[] = {{0}};

size_t vm_full_fill(const struct vm_pool *pool, const struct vm_session *session)
{
    for (size_t i = 0; i < pool->resource_count; i++)
        if (vm_has_room(pool, session, i))
            return i;
    return VM_REJECTED;
}
