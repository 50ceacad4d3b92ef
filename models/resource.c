/* resource.c - a host that runs jobs, as a snapshot describes it. */
#include "models/resource.h"

#include <math.h>

size_t resource_slots(const struct resource *r)
{
    if (isfinite(r->n_max))
        return (size_t)r->n_max;
    if (isfinite(r->cpus))
        return r->cpus >= 1 ? (size_t)r->cpus : r->cpus > 0;
    return 1;
}

double resource_speed_mips(const struct resource *r)
{
    double speed_mips = r->mips_total * r->cpu_available_ratio - r->mips_external;
    size_t slots = resource_slots(r);

    if (speed_mips <= 0)
        return 0;
    return r->sharing == SHARING_EQUAL && slots > 1 ? speed_mips / (double)slots
                                                    : speed_mips;
}
