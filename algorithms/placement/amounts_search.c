/* placement/amounts_search.c - better plans where amounts count.
 *
 * The list policies first, then bounds, then the search from the best plan: up to the
 * steps or the time of the request, without either so many steps that the answer repeats.
 * A step is a job that is placed on trial. What it finds counts if the checker accepts
 * it.
 *
 * Source: world-model.md 4.4, 4.5.
 */
#include "algorithms/placement/amounts_initial.h"
#include "algorithms/placement/amounts_plans.h"
#include "algorithms/placement/search.h"
#include "algorithms/world/search.h"

#include <string.h>

/* Without limits: looks at a resource that the steps are predicted to take, of which each
 * takes some, and steps for each job. */
#define LOOKS_SEARCH     1e8
#define LOOKS_AUTO       2e7
#define STEPS_LEAST      3000
#define JOB_STEPS_SEARCH 3000
#define JOB_STEPS_AUTO   300
#define CELLS_AUTO       1e7 /* jobs * resources: beyond, auto does not search */
#define LOOKS_OF_STEP    50
#define LOOKS_A_RESOURCE 0.1

/* Where the search ends: what is left checks and explains. */
#define PART_OF_TIME 0.9

static double default_steps(const struct amounts_maker *m, bool is_auto)
{
    double jobs = (double)m->w->job_count, resources = (double)m->w->resource_count;
    double looks = LOOKS_OF_STEP + LOOKS_A_RESOURCE * resources;
    double most = jobs * (is_auto ? JOB_STEPS_AUTO : JOB_STEPS_SEARCH);

    if (is_auto && jobs * resources > CELLS_AUTO)
        return 0;
    most = fmin(most, (is_auto ? LOOKS_AUTO : LOOKS_SEARCH) / looks);
    return floor(fmax(most, STEPS_LEAST));
}

/* 0: as long as the clock says. */
static size_t steps_asked(const struct amounts_maker *m,
                          const struct search_options *options)
{
    const struct budget *budget = m->call->in->budget;

    if (options->max_steps > 0)
        return (size_t)options->max_steps;
    return budget ? budget->max_steps : 0;
}

static bool has_clock(const struct amounts_maker *m)
{
    const struct placement_in *in = m->call->in;

    return in->time_limit_given && in->budget && in->budget->used;
}

/* The list policies: all, or mct and the one that the request names. */
static void try_lists(struct amounts_maker *m, const struct search_options *options)
{
    static const struct amounts_rule named[] = {
        {WORLD_DUPLEX, WORLD_FIFO, "duplex", "duplex"},
        {WORLD_KPB, WORLD_FIFO, "kpb", "kpb"},
        {WORLD_MAX_MIN, WORLD_FIFO, "max_min", "max_min"},
        {WORLD_MCT, WORLD_LONGEST, "mct", "mct longest"},
        {WORLD_MET, WORLD_FIFO, "met", "met"},
        {WORLD_MIN_MIN, WORLD_FIFO, "min_min", "min_min"},
        {WORLD_OLB, WORLD_FIFO, "olb", "olb"},
        {WORLD_SUFFERAGE, WORLD_FIFO, "sufferage", "sufferage"},
        {WORLD_SUFFERAGE_PASS, WORLD_FIFO, "sufferage_pass", "sufferage_pass"},
        {WORLD_XSUFFERAGE, WORLD_FIFO, "xsufferage", "xsufferage"},
    };

    if (options->start == 0) {
        amounts_portfolio(m);
        return;
    }
    amounts_try_rule(
        m, &(struct amounts_rule){WORLD_MCT, amounts_asked_order(m), "mct", "mct"});
    for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
        if (strcmp(named[i].name, portfolio_starts[options->start]) == 0)
            amounts_try_rule(m, &named[i]);
}

/* Work on bounds before the first step. */
static enum bound_work work_of(struct amounts_maker *m,
                               const struct search_options *options)
{
    static const enum bound_work works[] = {[EFFORT_NONE] = BOUNDS_LONGEST,
                                            [EFFORT_FAST] = BOUNDS_SINGLE,
                                            [EFFORT_FULL] = BOUNDS_ASCENT};

    m->best.effort = options->effort;
    if (!options->effort_given && budget_used(m->w->budget) >= 0.5)
        m->best.effort = EFFORT_FAST;
    return works[m->best.effort];
}

/* The only objective need not get smaller. */
static double enough(const struct amounts_maker *m)
{
    const struct world_bound *bound = &m->best.bounds[0];

    if (m->goal.level_count > 1 || !bound->known)
        return NAN;
    return bound->value + 1e-9 * fmax(1, fabs(bound->value));
}

static void improve(struct amounts_maker *m, size_t steps)
{
    static const struct amounts_rule of = {WORLD_MCT, WORLD_FIFO, "search", "search"};
    struct world_search s = {.goal = &m->goal,
                             .enough = enough(m),
                             .without_place = amounts_without_place(m),
                             .max_steps = steps};
    struct amounts_result before = m->best;
    struct budget *whole = m->w->budget, part = budget_part(whole, 0, PART_OF_TIME);

    board_load(m->board, before.plan);
    if (whole)
        m->w->budget = &part;
    world_search(m->board, &s);
    m->w->budget = whole;
    m->best.search_cut = before.search_cut = s.cut;
    m->best.steps = before.steps = s.steps;
    if (!s.steps || !amounts_try_board(m, &of))
        return;
    if (!amounts_plan_is_valid(m->w, m->best.plan, m->arena)) {
        m->best = before;
        m->best.check_failed = true;
        return;
    }
    for (size_t i = 0; i < s.improved_count; i++)
        improvement_list_add(&m->best.improved, s.improved[i].steps, s.improved[i].value);
}

/* "mct 4018.4, mct longest 3381, search 2927.6 (best)" */
static const char *because(const struct amounts_maker *m)
{
    const char *text = "";

    for (size_t i = 0; i < m->tried_count; i++) {
        const struct amounts_tried *t = &m->tried[i];

        text = arena_printf(m->arena, "%s%s%s %.10g%s%s", text, i ? ", " : "", t->name,
                            t->value, t->leaves_out ? " with jobs left out" : "",
                            strcmp(t->name, m->best.name) == 0 ? " (best)" : "");
    }
    return text;
}

/* The plan of the request, if that is better than all. */
static enum error_code try_initial(struct amounts_maker *m, const struct amounts *checked,
                                   struct error *err)
{
    static const struct amounts_rule of = {WORLD_MCT, WORLD_FIFO, "search", "initial"};
    bool loaded;

    if (m->call->in->initial_count == 0)
        return OK;
    TRY(amounts_initial(m, checked, &loaded, err));
    if (loaded)
        amounts_try_board(m, &of);
    return OK;
}

enum error_code amounts_search(struct amounts_maker *m, const struct amounts *checked,
                               bool is_auto, struct error *err)
{
    struct search_options options = search_read_options(m->call->values + COMMON_COUNT);
    size_t steps = steps_asked(m, &options);
    const struct budget *budget = m->call->in->budget;
    double most = steps || has_clock(m) ? HUGE_VAL : default_steps(m, is_auto);
    bool proven;

    try_lists(m, &options);
    m->best.searched = true;
    m->best.best_list =
        (struct placement_best_list){m->best.name, m->best.worth.value[0]};
    TRY(try_initial(m, checked, err));
    proven = m->best.plan->cut || amounts_prove(m, work_of(m, &options));
    if (!proven && most > 0 && !(budget && budget->no_steps))
        improve(m, most < HUGE_VAL ? (size_t)most : steps);
    if (is_auto)
        m->best.because = because(m);
    else
        m->best.algorithm = m->call->policy->name;
    return OK;
}
