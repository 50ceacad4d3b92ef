/* quota.c - what a key, and its tenant, may take of the service. */
#include "service/quota.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct quota_member quota_members[QUOTA_COUNT] = {
#define X(member, flag, least, most, of_key, doc) \
    {#member, flag, least, most, of_key, doc, offsetof(struct quota, member)},
    QUOTA_MEMBERS(X)
#undef X
};

struct quota quota_none(void)
{
    return (struct quota){
#define X(member, ...) .member = NAN,
        QUOTA_MEMBERS(X)
#undef X
    };
}

static double *value_of(const struct quota_member *member, struct quota *quota)
{
    return (double *)((char *)quota + member->offset);
}

double quota_value(const struct quota_member *member, const struct quota *quota)
{
    return *(const double *)((const char *)quota + member->offset);
}

enum error_code quota_read(const struct quota_member *member, const char *text,
                           struct quota *quota, struct error *err)
{
    bool can_be_none = member != &quota_members[QUOTA_weight];
    char *end;
    double value = strtod(text, &end);
    bool is_number = end != text && !*end;

    if (strcmp(text, "default") == 0) {
        *value_of(member, quota) = NAN;
        return OK;
    }
    if (can_be_none && (strcmp(text, "none") == 0 || (is_number && value == 0))) {
        *value_of(member, quota) = 0;
        return OK;
    }
    if (!is_number || !(value >= member->least && value <= member->most))
        return fail(err, ERR_INVALID, member->name,
                    "'%.40s' is not %s: a number from %g to %g%s, or default", text,
                    member->doc, member->least, member->most,
                    can_be_none ? ", none" : "");
    *value_of(member, quota) = value;
    return OK;
}

double quota_lower(double a, double b)
{
    bool a_bounds = a > 0, b_bounds = b > 0; /* false of NAN */

    if (!a_bounds)
        return b_bounds ? b : (double)NAN;
    return b_bounds && b < a ? b : a;
}
