/* base/policy.c - a policy: one algorithm of a family, chosen by its name. */
#include "models/base/policy.h"

#include "models/base/names.h"

#include <string.h>

const char *const policy_origin_names[] = {"published", "ours", "folklore", NULL};

const struct policy *policy_find(const struct policy *policies, const char *name)
{
    for (const struct policy *p = policies; p->name; p++)
        if (strcmp(p->name, name) == 0 ||
            (p->abbreviation && strcmp(p->abbreviation, name) == 0))
            return p;
    return NULL;
}

size_t policies_count(const struct policy *policies)
{
    size_t count = 0;

    while (policies[count].name)
        count++;
    return count;
}

size_t policy_option_count(const struct policy *policy)
{
    return params_count(policy->common) + params_count(policy->params);
}

const struct param *policy_option(const struct policy *policy, size_t i)
{
    size_t common = params_count(policy->common);

    return i < common ? &policy->common[i] : &policy->params[i - common];
}

enum error_code policy_bind(const struct policy *policy, const struct named_value *given,
                            size_t given_count, double *value, struct error *err)
{
    return params_bind_both(policy->common, policy->params, given, given_count, value,
                            err);
}

/* Of all tables, one behind the other. */
static const char *name_at(const void *list, size_t i)
{
    for (const struct policy *const *tables = list; *tables; tables++)
        for (const struct policy *p = *tables; p->name; p++)
            if (i-- == 0)
                return p->name;
    return NULL;
}

const char *policy_hint(const char *name, const struct policy *const *tables,
                        char *buffer, size_t size)
{
    return names_hint_in(name, name_at, tables, buffer, size);
}

const char *policy_nearest(const char *name, const struct policy *const *tables)
{
    return names_meant_in(name, name_at, tables);
}

void policy_allow(struct error *err, const char *name, const struct policy *const *tables)
{
    error_allow_in(err, name, name_at, tables);
}
