/* resource.c - a host that runs jobs, as a snapshot describes it. */
#include "models/resource.h"

#include <math.h>
#include <string.h>
#include <strings.h>

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

const struct named_value *resource_attribute(const struct resource *r, const char *name)
{
    for (size_t k = 0; k < r->attribute_count; k++) {
        const struct named_value *v = &r->attributes[k];

        if (!v->name || strcasecmp(v->name, name) != 0 || v->type == VALUE_UNDEFINED ||
            (v->type == VALUE_TEXT && !v->text))
            continue;
        return v;
    }
    return NULL;
}

bool resource_attributes_are_equal(const struct named_value *a,
                                   const struct named_value *b)
{
    if (a->type == VALUE_TEXT || b->type == VALUE_TEXT)
        return a->type == b->type && strcmp(a->text, b->text) == 0;
    return a->number == b->number;
}
