/* quotas.c - GET /v1/quotas: what the caller may still take. */
#include "handlers/operations/routes.h"

#include "service/admission.h"

#include <math.h>

struct quotas {
    const struct admission_policy *items;
    size_t item_count;
};

#define T struct admission_policy
static const struct json_field policy_rows[] = {
    JSON_WORD(T, policy, admission_policy_names, 0,
              "What is limited: default (requests), cpu, concurrent, memory; a refusal "
              "names it in violated_policies. Or time_limit: the largest time_limit_s, "
              "which is never used up"),
    JSON_WORD(T, scope, admission_scope_names, 0,
              "Whose limit it is: key, tenant, or address where no keys are needed; of "
              "the key's and the tenant's the one with less left"),
    JSON_NUMBER(T, limit, 0, JSON_LARGEST, NAN, 0, "How much there is, in unit"),
    JSON_WORD(T, unit, admission_unit_names, 0, "Unit of limit and remaining"),
    JSON_NUMBER(T, remaining, 0, JSON_LARGEST, NAN, 0,
                "How much is left now, whole units"),
    JSON_NUMBER(T, reset_s, 0, JSON_LARGEST, NAN, JSON_OPTIONAL,
                "Seconds until one more is there; absent where nothing refills"),
    {0},
};
#undef T
static const struct json_object policy_json = {
    "Quota", "One limit of the caller", sizeof(struct admission_policy), policy_rows};

#define T struct quotas
static const struct json_field quotas_rows[] = {
    JSON_LIST(T, items, item_count, struct admission_policy, &policy_json,
              ADMISSION_POLICIES_MAX, 0, "The limits of the caller; empty: none"),
    {0},
};
#undef T
const struct json_object quotas_json = {"Quotas", "What the caller may still take",
                                        sizeof(struct quotas), quotas_rows};

enum error_code get_quotas(struct request *rq, const void *in, void *out)
{
    struct admission_policy *items =
        NEW(rq->arena, struct admission_policy, ADMISSION_POLICIES_MAX);
    struct quotas *quotas = out;

    (void)in;
    quotas->items = items;
    quotas->item_count = admission_policies(rq, items);
    return OK;
}
