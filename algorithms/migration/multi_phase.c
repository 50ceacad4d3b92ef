/* migration/multi_phase.c - an application of several phases at the end of a phase.
 *
 * The first rule that applies decides:
 *
 *     finished      no phase is left                         keep
 *     forced        a machine of it is gone                  new plan, migrate
 *     plan_marker   phases done >= stop phase of its plan    new plan; move if it saves
 *     min_interval  moved less than min_interval_s ago       keep
 *     contract      mean of actual / predicted time over the last phases outside the
 *                   range                                    new plan; move if it saves;
 *                   else later predictions are to be multiplied by that mean
 *     periodic      planned replan_period_s ago or before    new plan, no move
 *     none                                                   keep
 *
 * It saves if keep - (best + cost) > max(0, min_saving_ratio * keep), for the interval
 * of the new plan that begins with the next phase.
 *
 * Source: spec rescheduling-plans.md 7.4, 8.2; 003_a5f9349f46eae656.txt 6.6
 * [L2211-2256] for the marker and its comparison; the rest is ours.
 */
#include "algorithms/migration/multi_phase.h"

#include <math.h>
#include <string.h>

static const char *const planners[] = {
#define X(name, kind, purpose, source) #name,
    PLAN_POLICIES(X)
#undef X
        NULL,
};
enum planner {
#define X(name, kind, purpose, source) PLANNER_##name,
    PLAN_POLICIES(X)
#undef X
        PLANNER_COUNT
};

const struct param migration_multi_phase_params[] = {
    [MULTI_PHASE_PLANNER] = {"planner", 0, PLANNER_COUNT - 1, PLANNER_auto,
                             "Algorithm of POST /v1/rescheduling-plans that makes plans",
                             PARAM_CHOICE, planners},
    [MULTI_PHASE_WINDOW] = {"contract_phases", 1, 1000, 3,
                            "Phases over which predictions are compared", PARAM_INTEGER,
                            NULL},
    [MULTI_PHASE_LEAST_RATIO] = {"contract_min_ratio", 0, 1, 0.7,
                                 "Least mean of actual over predicted time that is no "
                                 "reason for a new plan",
                                 PARAM_NUMBER, NULL},
    [MULTI_PHASE_LARGEST_RATIO] = {"contract_max_ratio", 1, 1e9, 1.3, "Largest such mean",
                                   PARAM_NUMBER, NULL},
    [MULTI_PHASE_PERIOD] = {"replan_period_s", 0, 1e9, 600,
                            "Age of a plan at which a new one is made, in s",
                            PARAM_NUMBER, NULL},
    [MULTI_PHASE_SAVING] = {"min_saving_ratio", 0, 1, 0,
                            "Move only for more than this share of the time without; "
                            "0.05 to 0.2 in view of errors of models",
                            PARAM_NUMBER, NULL},
    {0},
};

/* Mean of actual / predicted time of the last phases; 1 when too few are known. */
static double recent_ratio(const struct multi_phase_in *in, size_t window)
{
    double sum = 0;

    if (in->history_count < window)
        return 1;
    for (size_t i = in->history_count - window; i < in->history_count; i++)
        sum += in->history[i].actual_s / in->history[i].predicted_s;
    return sum / (double)window;
}

/* A new plan that may leave the current machines for more than this share. */
static enum error_code make_plan(const struct multi_phase_in *in, const double *param,
                                 double min_saving_ratio, struct multi_phase_out *out,
                                 struct arena *a, struct error *err)
{
    struct plan_in plan = *in->plan;

    plan.min_saving_ratio = min_saving_ratio;
    if (in->machine_gone)
        plan.current.schedule = SIZE_MAX;
    TRY(plan_decide(&plan, &plan_policies[(size_t)param[MULTI_PHASE_PLANNER]],
                    in->plan_option, &out->plan, a, err));
    out->has_plan = true;
    out->keep_s = out->plan.first.keep_s;
    out->move_s = out->plan.first.move_s;
    return OK;
}

static bool plan_moves(const struct multi_phase_out *out)
{
    return out->plan.interval_count > 0 && out->plan.intervals[0].action != PLAN_KEEP;
}

const char *const multi_phase_rule_names[] = {
#define X(name) #name,
    MULTI_PHASE_RULES(X)
#undef X
        NULL};

/* The rule that applies. */
static enum multi_phase_rule rule_of(const struct multi_phase_in *in, const double *param,
                                     double ratio)
{
    if (in->phases_done >= in->plan->phase_count)
        return RULE_finished;
    if (in->machine_gone)
        return RULE_forced;
    if (in->stop_phase && in->phases_done >= in->stop_phase)
        return RULE_plan_marker;
    if (in->since_last_move_s < in->plan_option[PLAN_MIN_INTERVAL])
        return RULE_min_interval;
    if (ratio < param[MULTI_PHASE_LEAST_RATIO] ||
        ratio > param[MULTI_PHASE_LARGEST_RATIO])
        return RULE_contract;
    if (in->since_plan_s >= param[MULTI_PHASE_PERIOD])
        return RULE_periodic;
    return RULE_none;
}

enum error_code migration_multi_phase(const struct multi_phase_in *in,
                                      const double *param, struct multi_phase_out *out,
                                      struct arena *a, struct error *err)
{
    double ratio = recent_ratio(in, (size_t)param[MULTI_PHASE_WINDOW]);
    enum multi_phase_rule rule = rule_of(in, param, ratio);
    struct multi_phase_out x = {
        .reason = multi_phase_rule_names[rule],
        .keep_s = HUGE_VAL,
        .move_s = HUGE_VAL,
        .expectation_factor = NAN,
    };

    if (rule == RULE_forced || rule == RULE_plan_marker || rule == RULE_contract) {
        TRY(make_plan(in, param, param[MULTI_PHASE_SAVING], &x, a, err));
        x.decision = plan_moves(&x) ? MIGRATION_MIGRATE : MIGRATION_KEEP;
        if (rule == RULE_contract && x.decision == MIGRATION_KEEP)
            x.expectation_factor = ratio;
    } else if (rule == RULE_periodic) {
        TRY(make_plan(in, param, HUGE_VAL, &x, a, err));
        x.decision = MIGRATION_REPLAN;
    }
    *out = x;
    return OK;
}
