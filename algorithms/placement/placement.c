/* placement/placement.c - which resource runs which independent job, and when. */
#include "algorithms/placement/placement.h"

#include "algorithms/placement/amounts_decide.h"
#include "algorithms/placement/amounts_values.h"
#include "algorithms/placement/bound.h"
#include "algorithms/placement/due_order.h"
#include "algorithms/placement/initial.h"
#include "algorithms/placement/plan.h"
#include "algorithms/placement/reasons.h"
#include "algorithms/placement/select.h"
#include "algorithms/placement/unused.h"
#include "algorithms/placement/verify.h"

#include "models/base/precise_sum.h"

#include <string.h>

const struct policy placement_policies[] = {
#define X(policy, does, described)          \
    {.name = #policy,                       \
     .purpose = does,                       \
     described,                             \
     .common = placement_common_params,     \
     .params = placement_##policy##_params, \
     .run = (policy_fn *)placement_##policy},
    PLACEMENT_POLICIES(X)
#undef X
        {0},
};

static const char *const file_scopes[] = {"site", "resource", NULL};
static const char *const dialects[] = {"native", "gridway", NULL};
static const char *const stale_policies[] = {"use", "exclude", NULL};
static const char *const job_orders[] = {
    "fifo",     "gridway_priority", "priority", "longest", "volume",
    "deadline", "balanced",         "smith",    NULL};
static const char *const plan_withs[] = {"estimate", "limit", NULL};
static const char *const resource_orders[] = {"rank", "gridway_priority", NULL};
static const char *const limit_sets[] = {"none", "gridway5", "gridway5_flood", NULL};

#define CHOICE(name, count, names, doc)                 \
    {                                                   \
        name, 0, (count)-1, 0, doc, PARAM_CHOICE, names \
    }
#define NUMBER(name, min, max, preset, doc)             \
    {                                                   \
        name, min, max, preset, doc, PARAM_NUMBER, NULL \
    }
#define WHOLE(name, min, max, preset, doc)               \
    {                                                    \
        name, min, max, preset, doc, PARAM_INTEGER, NULL \
    }

const struct param placement_common_params[] = {
    [COMMON_FILE_SCOPE] = CHOICE("file_scope", 2, file_scopes,
                                 "Staged files serve the whole site, or one resource"),
    [COMMON_DIALECT] =
        CHOICE("dialect", 2, dialects, "Language of requirements and ranks"),
    [COMMON_STALE_POLICY] = CHOICE("stale_policy", 2, stale_policies,
                                   "What to do with resources observed too long ago"),
    [COMMON_LIST_TTL] = NUMBER("list_ttl_s", 0, 1e9, 300,
                               "Age from which the list of resources is stale, in s"),
    [COMMON_STATE_TTL] = NUMBER("state_ttl_s", 0, 1e9, 60,
                                "Age from which a resource's state is stale, in s"),
    [COMMON_JOB_ORDER] =
        CHOICE("job_order", 8, job_orders,
               "Request order, or the weighted priority of GridWay 5; of placements also "
               "by priority, falling run times (longest), run time by largest share of "
               "a resource (volume), rising deadline, share times root of the run time "
               "(balanced), volume by weight (smith)"),
    [COMMON_RESOURCE_ORDER] =
        CHOICE("resource_order", 2, resource_orders,
               "Policy gridway: by rank, or by the weighted priority of GridWay 5; the "
               "latter leaves out resources of fixed priority 0"),
    [COMMON_LIMITS] = CHOICE("limits", 3, limit_sets,
                             "Policy gridway: limits of a round; gridway5: 15 jobs, 5 a "
                             "resource, 30 running a user; gridway5_flood: 15 jobs, 10 "
                             "running a resource, 30 a user, users in turn with 5 jobs"),
    [COMMON_DISPATCH_CHUNK] =
        WHOLE("dispatch_chunk", 0, 1e9, NAN, "Policy gridway: jobs a round, 0: no limit"),
    [COMMON_PER_RESOURCE] =
        WHOLE("max_dispatch_per_resource", 0, 1e9, NAN,
              "Policy gridway: jobs a round and resource, 0: no limit"),
    [COMMON_RUNNING_PER_RESOURCE] =
        WHOLE("max_running_per_resource", 0, 1e9, NAN,
              "Policy gridway: jobs that run on a resource, 0: no limit"),
    [COMMON_RUNNING_PER_USER] =
        WHOLE("max_running_per_user", 0, 1e9, NAN,
              "Policy gridway: running and dispatched jobs of a user, 0: no limit"),
    [COMMON_W_FIXED] = NUMBER("w_fixed", 0, 1e6, 1, "Weight of a job's fixed priority"),
    [COMMON_W_SHARE] = NUMBER("w_share", 0, 1e6, 1, "Weight of a user's share"),
    [COMMON_W_DEADLINE] = NUMBER("w_deadline", 0, 1e6, 1, "Weight of a job's deadline"),
    [COMMON_W_WAIT] = NUMBER("w_wait", 0, 1e6, 0, "Weight of a job's time in the queue"),
    [COMMON_W_RESOURCE_FIXED] =
        NUMBER("w_resource_fixed", 0, 1e6, 1, "Weight of a resource's fixed priority"),
    [COMMON_W_RANK] = NUMBER("w_rank", 0, 1e6, 1, "Weight of a resource's rank"),
    [COMMON_W_USAGE] = NUMBER("w_usage", 0, 1e6, 1, "Weight of a resource's past times"),
    [COMMON_DL_HALF_DAYS] = NUMBER("dl_half_days", 1e-6, 1e6, 1,
                                   "Days before a deadline at which it counts half"),
    [COMMON_WINDOW_DEPTH] = WHOLE("window_depth", 1, 10, 5,
                                  "Windows of dispatched jobs that count for the share"),
    [COMMON_USAGE_LAST_SHARE] = NUMBER("usage_last_share", 0, 1, 0.25,
                                       "Weight of the last time against the mean"),
    [COMMON_MAX_BAN] =
        NUMBER("max_ban_s", 0, 1e9, 3600, "Longest ban after failures, in s; 0: off"),
    [COMMON_PLAN_WITH] =
        CHOICE("plan_with", 2, plan_withs,
               "Placements: amounts are held for the run time, or until time_limit_s"),
    [COMMON_MAX_NODES] =
        WHOLE("max_nodes", 1, 1e9, 2e6,
              "Placements by auto with started_now_weight first: nodes of its search"),
    [COMMON_ASSUME_PREEMPTED] = {.name = "assume_preempted",
                                 .max = 1,
                                 .type = PARAM_BOOLEAN,
                                 .doc = "Placements with preempt: plan as if what is "
                                        "proposed had been stopped, by falling priority"},
    {0},
};

/* ---- the answer ---- */

static struct placement placement_of(const struct placement_plan *plan, size_t job)
{
    const struct placement_problem *p = plan->problem;
    const struct plan_entry *e = &plan->entries[job];
    const struct problem_job *j = &p->jobs[job];
    const struct problem_resource *r = &p->resources[e->pos];
    double execution_s = problem_execution_s(p, j, e->pos);
    bool known = execution_s < HUGE_VAL;
    struct placement out = {
        .job_id = j->given->id,
        .resource_id = r->given->id,
        .slot = e->slot,
        .start_s = e->start_s,
        .stage_in_s = e->staged_s - e->start_s,
        .run_time_s = known ? execution_s : (double)NAN,
        .held_s = known ? e->staged_s - e->start_s + execution_s : (double)NAN,
        .finish_s = known ? e->finish_s : (double)NAN,
        .rank = e->rank,
        .bytes_moved = e->bytes_moved,
        .late_s = NAN,
        .run_time_index = UINT64_MAX,
        .job = job,
        .copies = PLACEMENT_NO_COPIES,
    };

    if (!isnan(j->deadline_s) && known)
        out.late_s = fmax(0, e->finish_s - j->deadline_s);
    if (j->names) {
        out.files = j->names + (j->by_arch ? r->arch * j->file_count : 0);
        out.file_count = j->file_count;
    }
    return out;
}

static void fill_placements(const struct placement_plan *plan, struct placement_out *out)
{
    struct placement *list = NEW(plan->arena, struct placement, plan->placed_count);

    for (size_t k = 0; k < plan->placed_count; k++) {
        const struct placement *x = &list[k];

        list[k] = placement_of(plan, plan->sequence[k]);
        out->objective.bytes_moved += x->bytes_moved;
        if (isnan(x->finish_s))
            continue;
        out->objective.makespan_s = fmax(out->objective.makespan_s, x->finish_s);
        out->objective.flow_time_s += x->finish_s;
        out->objective.late_count += x->late_s > 0;
    }
    out->placements = list;
    out->placement_count = plan->placed_count;
}

/* What a plan's jobs mean for each resource, in the snapshot's order. */
static void fill_loads(const struct placement_plan *plan, struct placement_out *out)
{
    const struct placement_problem *p = plan->problem;
    struct placement_load *loads =
        NEW(plan->arena, struct placement_load, p->resource_count);
    struct precise_sum *busy_s = NEW(plan->arena, struct precise_sum, p->resource_count);
    struct precise_sum all_busy_s = {0};
    double makespan_s = out->objective.makespan_s, slots = 0;
    size_t used = 0;

    for (size_t k = 0; k < plan->placed_count; k++) {
        const struct plan_entry *e = &plan->entries[plan->sequence[k]];
        struct placement_load *l = &loads[p->resources[e->pos].index];

        l->job_count++;
        precise_add(&busy_s[p->resources[e->pos].index],
                    (long double)e->done_s - e->start_s);
        l->finish_s = fmax(l->finish_s, e->done_s);
    }
    for (size_t i = 0; i < p->resource_count; i++) {
        const struct problem_resource *r = &p->resources[p->position_of[i]];
        long double share_s = (long double)r->slot_count * makespan_s;

        if (loads[i].job_count == 0)
            continue;
        loads[i].resource_id = r->given->id;
        loads[i].busy_s = (double)precise_total(&busy_s[i]);
        precise_add(&all_busy_s, busy_s[i].sum);
        precise_add(&all_busy_s, busy_s[i].rest);
        loads[i].utilisation_ratio =
            share_s > 0 ? (double)(precise_total(&busy_s[i]) / share_s) : 0;
        slots += (double)r->slot_count;
        loads[used++] = loads[i];
    }
    out->loads = loads;
    out->load_count = used;
    if (slots * makespan_s > 0)
        out->objective.utilisation_ratio =
            (double)(precise_total(&all_busy_s) / ((long double)slots * makespan_s));
}

#define OPTIMAL_GAP 1e-9 /* a bound is a little lowered for rounding */

/* A run time is not known, so that nothing is known of the makespan. */
static bool is_timeless(const struct placement_out *out)
{
    for (size_t i = 0; i < out->placement_count; i++)
        if (isnan(out->placements[i].finish_s))
            return true;
    return false;
}

static void assess(const struct placement_plan *plan, struct placement_out *out)
{
    struct placement_objective *o = &out->objective;
    size_t pending = problem_pending(plan->problem);
    bool all = plan->placed_count == pending;

    o->lower_bound_s = fmin(bound_list_best(&plan->bounds), o->makespan_s);
    if (is_timeless(out))
        o->gap_ratio = NAN;
    else if (o->makespan_s <= o->lower_bound_s * (1 + OPTIMAL_GAP))
        o->gap_ratio = 0;
    else if (o->lower_bound_s > 0)
        o->gap_ratio = o->makespan_s / o->lower_bound_s - 1;
    else
        o->gap_ratio = NAN;
    out->status = DECISION_FEASIBLE;
    if (o->gap_ratio == 0 && all)
        out->status = DECISION_OPTIMAL;
    else if (plan->cut)
        out->status = DECISION_CUT;
    if (pending && plan->placed_count == 0)
        out->status = plan->cut ? DECISION_CUT : DECISION_INFEASIBLE;
}

/* A plan is called optimal only if the checker accepts it, and its own makespan is at the
 * bound. */
static enum error_code confirm(struct placement_plan *plan, struct placement_out *out,
                               struct error *err)
{
    struct verify_plan found = {plan->problem, plan->entries, plan->sequence,
                                plan->placed_count, plan->hold_slots};
    double most_s = out->objective.lower_bound_s * (1 + OPTIMAL_GAP);
    struct verify_result result;

    out->check_failed = plan->check_failed;
    if (out->status != DECISION_OPTIMAL)
        return OK;
    TRY(verify_plan(&found, &result, plan->arena, err));
    if (result.rule == VERIFY_VALID && result.makespan_s <= most_s)
        return OK;
    out->status = plan->cut ? DECISION_CUT : DECISION_FEASIBLE;
    out->check_failed = true;
    return OK;
}

/* The makespan as the objective that it is. A run time that is not known leaves it
 * without a value. */
static void fill_value(const struct placement_plan *plan, struct placement_out *out)
{
    const struct world_goal goal = {{OBJECTIVE_MAKESPAN}, 1};
    const struct placement_objective *o = &out->objective;
    struct placement_value *value = NEW(plan->arena, struct placement_value, 1);
    struct world_worth worth = {.value = {o->makespan_s}};
    struct world_bound bound = {.known = !is_timeless(out), .value = o->lower_bound_s};

    if (!bound.known)
        worth.value[0] = NAN;
    world_values(&goal, &worth, &bound, &value->of);
    out->objective.values = value;
    out->objective.value_count = 1;
}

/* What a search says of itself, and the bounds. */
static void fill_search(const struct placement_plan *plan, struct placement_out *out)
{
    struct proven_bound *bounds = NEW(plan->arena, struct proven_bound, BOUND_KIND_COUNT);
    struct placement_best_list *list = NEW(plan->arena, struct placement_best_list, 1);
    struct improvement *improved =
        NEW(plan->arena, struct improvement, plan->improved.count);

    out->bound_count = bound_list_sort(&plan->bounds, out->objective.makespan_s, bounds);
    out->bounds = bounds;
    if (!plan->searched)
        return;
    memcpy(improved, plan->improved.item, plan->improved.count * sizeof(*improved));
    out->improved_at_steps = improved;
    out->improvement_count = plan->improved.count;
    out->bound_effort = bound_effort_names[plan->effort];
    *list = (struct placement_best_list){plan->best_list, plan->best_list_s};
    out->best_list = list;
}

/* Does the policy place jobs without an estimate? */
static bool needs_estimates(const struct policy *policy, const double *param)
{
    return placement_fn_of(policy) != placement_gridway || param[0] != 0;
}

enum error_code placement_answer(struct placement_plan *plan, bool estimates,
                                 struct placement_out *out, struct error *err)
{
    struct placement_out x = {
        .algorithm = plan->algorithm,
        .because = plan->because,
        .steps = plan->steps,
    };

    fill_placements(plan, &x);
    fill_loads(plan, &x);
    reasons_fill(plan, estimates, &x);
    reasons_warn_unplaced(plan->problem, x.unplaced, x.unplaced_count);
    TRY(bound_of(plan, err));
    assess(plan, &x);
    TRY(confirm(plan, &x, err));
    fill_value(plan, &x);
    fill_search(plan, &x);
    x.warnings = plan->problem->warnings;
    x.warning_count = plan->problem->warning_count;
    *out = x;
    return OK;
}

/* The plan to start from, which only searches can use. */
static enum error_code read_initial(const struct policy *policy,
                                    struct placement_problem *p,
                                    struct placement_plan *plan, struct error *err)
{
    placement_fn *run = placement_fn_of(policy);
    bool searches = run == placement_search || run == placement_auto;

    if (p->in->initial_count && !searches)
        return invalid(err, "/initial", ITEM_CONFLICT,
                       "%s does not start from a plan; search and auto do", policy->name);
    return initial_read(p, plan, &plan->initial, err);
}

enum error_code placement_decide(const struct placement_in *in,
                                 const struct policy *policy,
                                 const struct named_value *options, size_t option_count,
                                 struct placement_out *out, struct arena *a,
                                 struct error *err)
{
    double values[PARAMS_MAX] = {0};
    const double *param = values + COMMON_COUNT;
    struct placement_problem *p = NEW(a, struct placement_problem, 1);
    struct placement_plan *plan = NEW(a, struct placement_plan, 1);
    const struct policy *ran;
    enum error_code bound;

    bound = policy_bind(policy, options, option_count, values, err);
    if (amounts_decide_asked(in, values)) {
        struct amounts_call call = {in, policy, options, option_count, values, bound};

        return amounts_decide(&call, p, out, a, err);
    }
    TRY(problem_prepare(in, values, p, a, err));
    TRY(bound); /* after the request, so that the mistakes of both are reported */
    plan_create(p, plan, a);
    plan->algorithm = policy->name;
    TRY(read_initial(policy, p, plan, err));
    TRY(placement_fn_of(policy)(p, param, plan, a, err));
    if (plan->cut && !plan->hold_slots && !plan->closed)
        TRY(plan_rest(plan, err));
    if (plan->cut && !plan->hold_slots && !plan->searched)
        problem_warn(p,
                     "not_repeatable: the time limit ended %s; another run may place "
                     "other jobs before it",
                     plan->algorithm);
    plan_number_slots(plan);
    if (!plan->hold_slots)
        due_order(plan);
    ran = policy_find(placement_policies, plan->algorithm);
    unused_warn(p, &(struct unused_in){.policy = ran ? ran : policy,
                                       .options = options,
                                       .option_count = option_count,
                                       .list = "jobs"});
    return placement_answer(plan, needs_estimates(policy, param), out, err);
}
