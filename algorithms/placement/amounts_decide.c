/* placement/amounts_decide.c - placements where amounts count.
 *
 * One list policy on one board, or for `auto` a portfolio: mct in the given order always,
 * then mct in orders that suit the objective, then the policies that look at all jobs at
 * once, as far as the predicted work goes; the best plan by the objective counts. It ends
 * when a bound is met.
 */
#include "algorithms/placement/amounts_decide.h"

#include "algorithms/placement/amounts_answer.h"
#include "algorithms/placement/plan.h"
#include "algorithms/placement/priority.h"
#include "algorithms/world/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool amounts_decide_asked(const struct placement_in *in, const double *values)
{
    return in->world &&
           (values[COMMON_JOB_ORDER] >= ORDER_AMOUNTS ||
            values[COMMON_PLAN_WITH] > PLAN_WITH_ESTIMATE || amounts_are_given(in));
}

/* ---- which policies there are ---- */

static const struct {
    placement_fn *run;
    enum world_rule rule;
} rules[] = {
    {placement_olb, WORLD_OLB},
    {placement_met, WORLD_MET},
    {placement_mct, WORLD_MCT},
    {placement_kpb, WORLD_KPB},
    {placement_min_min, WORLD_MIN_MIN},
    {placement_max_min, WORLD_MAX_MIN},
    {placement_duplex, WORLD_DUPLEX},
    {placement_sufferage, WORLD_SUFFERAGE},
    {placement_sufferage_pass, WORLD_SUFFERAGE_PASS},
    {placement_xsufferage, WORLD_XSUFFERAGE},
};

enum { RULES = sizeof(rules) / sizeof(*rules) };

/* RULES: it is no list policy. */
static size_t rule_of(const struct policy *policy)
{
    size_t i = 0;

    while (i < RULES && rules[i].run != placement_fn_of(policy))
        i++;
    return i;
}

/* Goes in the order of the jobs. */
static bool goes_in_order(enum world_rule rule)
{
    return rule == WORLD_OLB || rule == WORLD_MET || rule == WORLD_MCT ||
           rule == WORLD_KPB;
}

/* What amounts do not go with. */
static void check_call(const struct amounts_call *call, struct error *err)
{
    const struct placement_in *in = call->in;
    bool home = in->snapshot->home_site_id;

    if (rule_of(call->policy) == RULES && placement_fn_of(call->policy) != placement_auto)
        invalid(err, "/algorithm", ITEM_NOT_APPLICABLE,
                "%s looks at slots, cpus and memory alone, and the request has other "
                "amounts, running jobs or rules; take auto or a list policy",
                call->policy->name);
    if (in->initial_count)
        invalid(err, "/initial", ITEM_CONFLICT,
                "no policy starts from a plan where amounts count");
    for (size_t i = 0; i < in->job_count; i++) {
        bool files = in->jobs[i].input_file_count;
        char pointer[64];

        if (!files && !(home && in->jobs[i].output_bytes > 0))
            continue;
        snprintf(pointer, sizeof(pointer), "/jobs/%zu/%s", i,
                 files ? "input_file_ids" : "output_bytes");
        invalid(err, pointer, ITEM_INVALID_COMBINATION,
                "files together with amounts, running jobs or rules are not supported "
                "yet");
    }
}

/* ---- one plan ---- */

/* What is common to the plans of a decision. */
struct maker {
    const struct amounts_call *call;
    struct placement_problem *p;
    struct world *w;
    struct board *board;
    struct world_goal goal;
    struct amounts_result best; /* plan NULL: none yet */
    const char *because;
    struct arena *arena;
};

static bool option_is_given(const struct amounts_call *call, const char *name)
{
    for (size_t i = 0; i < call->option_count; i++)
        if (strcmp(call->options[i].name, name) == 0)
            return true;
    return false;
}

/* The order that suits the objective. */
static enum world_order order_for(enum world_objective objective)
{
    switch (objective) {
    case OBJECTIVE_WEIGHTED_COMPLETION:
    case OBJECTIVE_TOTAL_FLOW:
        return WORLD_SMITH;
    case OBJECTIVE_WEIGHTED_TARDINESS:
    case OBJECTIVE_LATE_JOBS:
        return WORLD_DEADLINE;
    case OBJECTIVE_STARTED_NOW:
        return WORLD_PRIORITY;
    default:
        return WORLD_FIFO;
    }
}

/* The option's choices behind gridway_priority are those of enum world_order behind
 * fifo. */
static enum world_order asked_order(const struct maker *m)
{
    int order = (int)m->call->values[COMMON_JOB_ORDER];

    if (!option_is_given(m->call, "job_order") && m->call->in->world->objective)
        return order_for(m->goal.level[0]);
    return order < ORDER_AMOUNTS ? WORLD_FIFO
                                 : (enum world_order)(order - ORDER_AMOUNTS + 1);
}

struct tiered {
    double tier;
    size_t rank, job;
};

static int by_tier(const void *a, const void *b)
{
    const struct tiered *x = a, *y = b;

    if (x->tier != y->tier)
        return x->tier > y->tier ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Jobs of larger tiers come first, each tier in the order that there is. */
static void sort_by_tier(const struct world *w, size_t *jobs, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    struct tiered *list = NEW(a, struct tiered, w->job_count);
    bool sorted = true;

    if (budget_step(w->budget, 16 * w->job_count))
        return;
    for (size_t i = 0; i < w->job_count; i++) {
        list[i] = (struct tiered){w->jobs[jobs[i]].tier, i, jobs[i]};
        sorted = sorted && (i == 0 || list[i - 1].tier >= list[i].tier);
    }
    if (!sorted)
        qsort(list, w->job_count, sizeof(*list), by_tier);
    for (size_t i = 0; i < w->job_count; i++)
        jobs[i] = list[i].job;
    arena_rewind(a, mark);
}

static size_t *jobs_in(const struct maker *m, enum world_order order)
{
    size_t *jobs = NEW(m->arena, size_t, m->w->job_count);

    if (order == WORLD_FIFO && (int)m->call->values[COMMON_JOB_ORDER] == ORDER_PRIORITY) {
        memcpy(jobs, m->p->order, m->w->job_count * sizeof(*jobs));
        sort_by_tier(m->w, jobs, m->arena);
        return jobs;
    }
    world_order_jobs(m->w, order, jobs, m->arena);
    return jobs;
}

/* A plan that stays when the board changes. */
static struct world_plan *copy_plan(const struct maker *m, const struct world_plan *of)
{
    struct world_plan *plan = NEW(m->arena, struct world_plan, 1);
    size_t n = m->w->job_count, nodes = 0, filled = 0, *positions;

    *plan = *of;
    plan->placed = NEW(m->arena, struct world_placed, n);
    memcpy(plan->placed, of->placed, n * sizeof(*plan->placed));
    plan->sequence = NEW(m->arena, size_t, n);
    memcpy(plan->sequence, of->sequence, of->placed_count * sizeof(size_t));
    for (size_t i = 0; i < n; i++)
        nodes += of->placed[i].positions ? of->placed[i].position_count : 0;
    positions = NEW(m->arena, size_t, nodes);
    for (size_t i = 0; i < n; i++) {
        struct world_placed *x = &plan->placed[i];

        if (!x->positions)
            continue;
        memcpy(positions + filled, x->positions, x->position_count * sizeof(size_t));
        x->positions = positions + filled;
        filled += x->position_count;
    }
    return plan;
}

/* The policy; what it has no time for mct places in the last fifth of the limit. */
static void run_rule(struct maker *m, enum world_rule rule, enum world_order order)
{
    struct budget *whole = m->w->budget, part;
    double kpb_ratio = rule == WORLD_KPB ? m->call->values[COMMON_COUNT] / 100 : 1;

    if (rule == WORLD_MCT || !whole) {
        world_list(m->board, rule, jobs_in(m, order), kpb_ratio);
        return;
    }
    part = budget_part(whole, 0, 0.8);
    m->w->budget = &part;
    world_list(m->board, rule, jobs_in(m, order), kpb_ratio);
    m->w->budget = whole;
    if (board_plan(m->board)->cut)
        world_list(m->board, WORLD_MCT, jobs_in(m, WORLD_FIFO), 1);
}

/* Makes the plan; keeps it if it is the best so far. The name of what ran goes into the
 * reasons for the choice. */
static void try_rule(struct maker *m, enum world_rule rule, enum world_order order,
                     const char *algorithm, const char *name)
{
    struct world_worth worth;
    struct world_plan *plan;
    bool better;

    if (m->best.plan)
        board_reset(m->board);
    run_rule(m, rule, order);
    if (!m->call->in->world->objective)
        world_order_due(m->board);
    plan = board_plan(m->board);
    world_worth(m->w, &m->goal, plan, &worth, m->arena);
    better = !m->best.plan || (!plan->cut && m->best.plan->cut) ||
             world_compare(&m->goal, &worth, &m->best.worth) < 0;
    if (m->best.plan && plan->cut) /* what was not finished is worse than it looks */
        better = false;
    m->because = arena_printf(m->arena, "%s%s%s %.10g%s", m->because ? m->because : "",
                              m->because ? ", " : "", name, worth.value[0],
                              worth.unplaced_count ? " (with jobs left out)" : "");
    if (!better)
        return;
    m->best.plan = copy_plan(m, plan);
    m->best.worth = worth;
    m->best.algorithm = algorithm;
    m->best.order = order;
    m->best.name = name;
}

/* ---- auto ---- */

/* Values that no plan can beat are met, as far as cheap bounds tell. */
static bool is_proven(struct maker *m)
{
    struct world_bound bounds[OBJECTIVE_LEVELS_MAX];
    struct world_value values[OBJECTIVE_LEVELS_MAX];

    if (m->best.worth.unplaced_count)
        return false;
    memset(bounds, 0, sizeof(bounds));
    world_bounds(m->w, &m->goal, m->best.plan, &m->best.worth, BOUNDS_SINGLE, bounds,
                 m->arena);
    return world_values(&m->goal, &m->best.worth, bounds, values);
}

/* Looks that another plan takes, against what is left of the time. */
static bool is_affordable(const struct maker *m, double share)
{
    double looks = share * (double)m->w->job_count * (double)m->w->resource_count;

    return looks <= 1e9 && budget_used(m->w->budget) < 0.4;
}

static void make_auto(struct maker *m)
{
    static const struct {
        enum world_rule rule;
        enum world_order order;
        const char *algorithm, *name;
        double share; /* looks for each job and resource */
    } further[] = {
        {WORLD_MCT, WORLD_LONGEST, "mct", "mct longest", 0.1},
        {WORLD_MCT, WORLD_VOLUME, "mct", "mct volume", 0.1},
        {WORLD_MCT, WORLD_BALANCED, "mct", "mct balanced", 0.1},
        {WORLD_MCT, WORLD_SMITH, "mct", "mct smith", 0.1},
        {WORLD_MCT, WORLD_DEADLINE, "mct", "mct deadline", 0.1},
        {WORLD_SUFFERAGE, WORLD_FIFO, "sufferage", "sufferage", 0.5},
        {WORLD_MAX_MIN, WORLD_FIFO, "max_min", "max_min", 0.5},
        {WORLD_MIN_MIN, WORLD_FIFO, "min_min", "min_min", 0.5},
    };
    enum world_order own = order_for(m->goal.level[0]);

    try_rule(m, WORLD_MCT, asked_order(m), "mct", "mct");
    if (own != WORLD_FIFO && own != asked_order(m) && !is_proven(m))
        try_rule(m, WORLD_MCT, own, "mct", "mct in the objective's order");
    for (size_t k = 0; k < sizeof(further) / sizeof(*further); k++) {
        bool sums = further[k].order == WORLD_SMITH || further[k].order == WORLD_DEADLINE;

        if (sums && further[k].order != own)
            continue;
        if (is_proven(m) || !is_affordable(m, further[k].share))
            break;
        try_rule(m, further[k].rule, further[k].order, further[k].algorithm,
                 further[k].name);
    }
    m->best.because = arena_printf(m->arena, "%s; best: %s", m->because, m->best.name);
}

/* ---- the decision ---- */

/* The option has an order, which the policy does not go by. */
static void warn_order(const struct maker *m, enum world_rule rule)
{
    if (!goes_in_order(rule) && m->call->values[COMMON_JOB_ORDER] > 0)
        problem_warn(m->p,
                     "ignored: 1 option (/options/job_order): %s does not go in an order",
                     m->call->policy->name);
    if (m->goal.level[0] == OBJECTIVE_STARTED_NOW)
        problem_warn(m->p,
                     "policy_ignores_objective: %s plans every job, and does not look "
                     "for the largest started_now_weight, as auto does",
                     m->call->policy->name);
}

/* The jobs that start at this moment. */
static void start_now(struct maker *m)
{
    struct now_in in = {.w = m->w,
                        .max_nodes = (size_t)m->call->values[COMMON_MAX_NODES]};

    world_start_now(&in, &m->best.now, m->arena);
    m->best.plan = &m->best.now.plan;
    world_worth(m->w, &m->goal, m->best.plan, &m->best.worth, m->arena);
    m->best.algorithm = "auto";
    m->best.because = arena_printf(
        m->arena,
        "started_now_weight is first: %zu kinds of jobs, %zu nodes of the "
        "search, %zu rounds",
        m->best.now.class_count, m->best.now.node_count, m->best.now.round_count);
}

static void make_plan(struct maker *m)
{
    size_t rule = rule_of(m->call->policy);

    if (m->best.starts_now) {
        start_now(m);
        return;
    }
    if (rule == RULES) {
        make_auto(m);
        return;
    }
    warn_order(m, rules[rule].rule);
    try_rule(m, rules[rule].rule, asked_order(m), m->call->policy->name,
             m->call->policy->name);
}

/* Mistakes of all kinds, then the problem. */
static enum error_code prepare(const struct amounts_call *call,
                               struct placement_problem *p, struct world_goal *goal,
                               struct amounts **checked, struct arena *a,
                               struct error *err)
{
    const struct placement_world *given = call->in->world;
    size_t before = err->item_count;
    bool limits = (int)call->values[COMMON_PLAN_WITH] == PLAN_WITH_LIMIT;

    check_call(call, err);
    world_goal_read(given->objective, given->objective_count, goal, err);
    amounts_check(call->in, limits, checked, a, err);
    TRY(problem_prepare(call->in, call->values, p, a, err));
    TRY(call->bound);
    return err->item_count > before ? ERR_INVALID : OK;
}

enum error_code amounts_decide(const struct amounts_call *call,
                               struct placement_problem *p, struct placement_out *out,
                               struct arena *a, struct error *err)
{
    struct maker m = {.call = call, .p = p, .arena = a};
    struct amounts_world made;
    struct amounts *checked;

    TRY(prepare(call, p, &m.goal, &checked, a, err));
    m.best.starts_now = placement_fn_of(call->policy) == placement_auto &&
                        p->resource_count > 0 && m.goal.level[0] == OBJECTIVE_STARTED_NOW;
    if (m.best.starts_now)
        amounts_start_now(checked);
    amounts_world(p, checked, &made);
    m.w = made.world;
    if (!m.best.starts_now)
        m.board = board_create(m.w, NULL, a);
    make_plan(&m);
    m.best.goal = m.goal;
    m.best.in_due_order = !call->in->world->objective && !m.best.starts_now;
    m.best.made = &made;
    m.best.checked = checked;
    amounts_answer(call, p, &m.best, out);
    return OK;
}
