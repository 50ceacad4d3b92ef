/* coallocation/coallocation.c - the tables of co-allocation. */
#include "algorithms/coallocation/coallocation.h"

#include <math.h>

const char *const co_request_type_names[] = {"non_fixed", "fixed", "semi_fixed",
                                             "flexible", NULL};
const char *const co_level_names[] = {"super_low", "low", "high", "super_high", NULL};

const char *const co_reason_names[] = {
    [CO_NO_REASON] = "not_tried",
    [CO_NOT_USABLE] = "not_usable",
    [CO_CAPABILITY] = "capability",
    [CO_AVOIDED] = "avoided",
    [CO_ALREADY_USED] = "already_used",
    [CO_TOO_FEW_PROCESSORS] = "too_few_processors",
    [CO_NO_HISTORY_PAIR] = "no_history_pair",
    [CO_NO_LINK] = "no_link",
    [CO_NO_REPLICA] = "no_replica",
    [CO_FIXED_SITE_FULL] = "fixed_site_full",
    [CO_NO_SITE_WITH_ENOUGH_PROCESSORS] = "no_site_with_enough_processors",
    [CO_BOUNDS] = "bounds",
    [CO_REASON_COUNT] = NULL,
};

const struct policy coallocation_policies[] = {
#define X(policy, short_name, split, its_flags, does, described) \
    {.name = #policy,                                            \
     .abbreviation = short_name,                                 \
     .purpose = does,                                            \
     described,                                                  \
     .common = co_common_params,                                 \
     .params = coallocation_##policy##_params,                   \
     .run = (policy_fn *)coallocation_##policy,                  \
     .traits = &(const enum co_split_rule){split},               \
     .flags = its_flags},
    COALLOCATION_POLICIES(X)
#undef X
        {0},
};

const struct param co_common_params[] = {
    [CO_L_INITIAL] = {"l_initial", 0, 1, 0.75,
                      "Share of the transfer time after which processors are claimed, of "
                      "jobs without l_value (default: Mohamed 2007)",
                      PARAM_NUMBER, NULL},
    [CO_PACK_RETRY] = {"pack_retry", 0, 1, 0,
                       "Where the policy fails, search all ways to place up to 12 "
                       "components",
                       PARAM_BOOLEAN, NULL},
    [CO_CACHE_EXPIRY_S] = {"cache_expiry_s", 0, 1e9, 30,
                           "Sites measured longer ago than that get a warning",
                           PARAM_NUMBER, NULL},
    [CO_MIN_CLAIM_INTERVAL_S] = {"min_claim_interval_s", 1e-3, 1e9, 1,
                                 "Least time between claims; nearer to its start a job "
                                 "is claimed at its start",
                                 PARAM_NUMBER, NULL},
    [CO_RESERVATION_MARGIN] = {"reservation_margin", 0, 100, 0.1,
                               "Reservations last longer than the estimated run time by "
                               "this share of it",
                               PARAM_NUMBER, NULL},
    {0},
};

/* ---- sites ---- */

void co_hold(const struct co_placement *placement, size_t *available)
{
    for (size_t i = 0; i < placement->component_count; i++) {
        size_t site = placement->choices[i].site;

        if (site != CO_NONE)
            available[site] -= placement->components[i].processors;
    }
}
