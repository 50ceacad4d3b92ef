/* plan/plan.c - where to run each phase of an application, and when to move. */
#include "algorithms/plan/plan.h"

#include "algorithms/parallel/parallel.h"
#include "algorithms/plan/bound.h"
#include "models/base/plural.h"

#include <math.h>
#include <string.h>

const struct policy plan_policies[] = {
#define X(policy, kind, does, described) \
    {.name = #policy,                    \
     .purpose = does,                    \
     described,                          \
     .common = plan_common_params,       \
     .run = (policy_fn *)plan_##policy,  \
     .flags = PLAN_##kind},
    PLAN_POLICIES(X)
#undef X
        {0},
};

const char *const plan_action_names[] = {"start", "keep", "intra_site", "inter_site",
                                         NULL};

enum scheduler {
#define X(name, purpose, source) SCHEDULER_##name,
    PARALLEL_POLICIES(X)
#undef X
        SCHEDULER_COUNT
};

static const char *const schedulers[] = {
#define X(name, purpose, source) #name,
    PARALLEL_POLICIES(X)
#undef X
        NULL,
};

const char *const plan_start_names[] = {
    "best", "single_schedule", "incremental", "incremental_lookahead", "division", NULL};
static const char *const plan_effort_names[] = {"auto", "none", "fast", "full", NULL};

#define NUMBER(name, min, max, preset, doc)             \
    {                                                   \
        name, min, max, preset, doc, PARAM_NUMBER, NULL \
    }
#define WHOLE(name, min, max, preset, doc)               \
    {                                                    \
        name, min, max, preset, doc, PARAM_INTEGER, NULL \
    }

const struct param plan_common_params[] = {
    [PLAN_MIN_INTERVAL] =
        NUMBER("min_interval_s", 0, 1e9, 1200, "Least time between two moves, in s"),
    [PLAN_POPULATION] = WHOLE("population", 4, 2000, 200,
                              "Genetic: plans; an odd number counts as the next"),
    [PLAN_GENERATIONS] = WHOLE("generations", 0, 10000, 50, "Genetic: generations"),
    [PLAN_SEEDED] = {"seeded", 0, 1, 1,
                     "Genetic: begin with the plans of incremental and division too",
                     PARAM_BOOLEAN, NULL},
    [PLAN_SCHEDULER] =
        {"scheduler", 0, SCHEDULER_COUNT - 1, SCHEDULER_box_elimination,
         "Algorithm of POST /v1/parallel-schedules that finds the machines "
         "of an interval; default box_elimination, with algorithm auto "
         "exact as far as the time goes",
         PARAM_CHOICE, schedulers},
    [PLAN_INTER_COST] = NUMBER("inter_site_cost_s", 0, 1e9, NAN,
                               "Cost of moving between any two sites, in s; default: "
                               "worked out from the checkpoint, else learnt "
                               "from reported moves, else 300"),
    [PLAN_REDISTRIBUTION] =
        NUMBER("redistribution_factor", 0, 1e6, 1,
               "Reading a checkpoint takes so many times its transfer"),
    [PLAN_USE_FORECAST] = {"use_forecast", 0, 1, 1,
                           "With snapshot_id: the load that the stored samples let "
                           "expect goes before the snapshot's own",
                           PARAM_BOOLEAN, NULL},
    [PLAN_MAX_STEPS] = WHOLE("max_steps", 0, 1e12, 0,
                             "Sets of machines to look for (scheduler_calls), after "
                             "which to stop, for answers that can be repeated; 0: no "
                             "limit"),
    [PLAN_BOUND_EFFORT] = {"bound_effort", 0, 3, 0,
                           "none: bounds from what was looked for; fast: of each phase "
                           "alone; full: of all intervals, too, for one site; auto: "
                           "full, or none when 30 % of the time are over",
                           PARAM_CHOICE, plan_effort_names},
    [PLAN_START_LIST] = {"start", 0, 4, 0,
                         "With algorithm auto: run only single_schedule and this planner "
                         "before the optimum; best: all of them",
                         PARAM_CHOICE, plan_start_names},
    {0},
};

/* ---- plans of one cluster and of several ---- */

double plan_total_s(const struct plan_interval *intervals, size_t count)
{
    double total_s = 0;

    for (size_t i = 0; i < count; i++)
        total_s += intervals[i].time_s + intervals[i].cost_s;
    return total_s;
}

static struct plan_interval interval_of(const struct plan_run *run,
                                        const struct plan_piece *piece)
{
    bool begins = piece->first == run->in->first_phase;

    return (struct plan_interval){
        .first = piece->first,
        .last = piece->last,
        .place = {0, piece->schedule},
        .time_s = piece->time_s,
        .action = begins && run->in->current.site == SIZE_MAX ? PLAN_START : PLAN_INTRA,
        .cost_s = begins && run->in->current.site == SIZE_MAX
                      ? 0
                      : run->in->sites[0].intra_cost_s,
        .valid = piece->time_s >= run->option[PLAN_MIN_INTERVAL],
    };
}

/* Where the application is now, against the first interval of its plan. */
static void compare_current(struct plan_run *run)
{
    const struct plan_in *in = run->in;
    struct plan_interval *first = &run->intervals[0];
    double moved_s = first->time_s + first->cost_s, kept_s = HUGE_VAL;

    if (in->current.schedule != SIZE_MAX)
        kept_s = plan_table_keep_s(&run->grid.tables[0], in->current.schedule,
                                   first->first, first->last);
    run->first = (struct plan_choice){kept_s, moved_s, first->place};
    if (!(kept_s < HUGE_VAL) || kept_s - moved_s > in->min_saving_ratio * kept_s)
        return;
    first->place = in->current;
    first->time_s = kept_s;
    first->cost_s = 0;
    first->action = PLAN_KEEP;
    first->valid = kept_s >= run->option[PLAN_MIN_INTERVAL];
}

static enum error_code by_one_site(struct plan_run *run, plan_site_fn *planner,
                                   struct error *err)
{
    struct plan_site_out made;
    struct plan_site_in site = {
        .table = &run->grid.tables[0],
        .first = run->in->first_phase,
        .last = run->in->phase_count,
        .cost_s = run->in->sites[0].intra_cost_s,
        .option = run->option,
        .seed = run->in->seed,
        .stream = "plan.genetic",
        .work = run->grid.work,
    };

    TRY(planner(&site, &made, err));
    for (size_t i = 0; i < made.count; i++)
        run->intervals[i] = interval_of(run, &made.pieces[i]);
    run->count = made.count;
    run->cut = run->cut || made.cut;
    run->proven = (planner == plan_optimal || planner == plan_brute_force) && !made.cut &&
                  made.valid && !site.table->unproven &&
                  run->in->current.site == SIZE_MAX;
    if (run->in->current.site != SIZE_MAX)
        compare_current(run);
    return OK;
}

enum error_code plan_by_site(struct plan_run *run, plan_site_fn *planner,
                             struct error *err)
{
    struct plan_place prev = run->in->current;
    size_t start = run->in->first_phase;
    struct plan_choice choice;

    if (run->in->site_count == 1)
        return by_one_site(run, planner, err);
    run->grid.planner = planner;
    while (start <= run->in->phase_count) {
        struct plan_interval *next = &run->intervals[run->count];
        bool found;

        TRY(plan_grid_next(&run->grid, start, &prev, next, &choice, &found, err));
        if (!found) {
            run->cut = true;
            plan_append_rest(run, start);
            return OK;
        }
        if (run->count == 0)
            run->first = choice;
        prev = next->place;
        start = next->last + 1;
        run->count++;
    }
    return OK;
}

void plan_append_rest(struct plan_run *run, size_t first)
{
    const struct plan_in *in = run->in;
    struct plan_place place =
        run->count ? run->intervals[run->count - 1].place
        : in->current.site != SIZE_MAX && in->current.schedule != SIZE_MAX ? in->current
                                                                           : run->single;
    bool from_nowhere = run->count == 0 && in->current.site == SIZE_MAX;
    bool moves = run->count == 0 && !from_nowhere && in->current.schedule == SIZE_MAX;
    const struct plan_table *table = &run->grid.tables[place.site];
    struct plan_interval rest = {
        .first = first,
        .last = in->phase_count,
        .place = place,
        .action = from_nowhere ? PLAN_START : PLAN_KEEP,
    };

    if (moves && place.site == in->current.site) {
        rest.action = PLAN_INTRA;
        rest.cost_s = in->sites[place.site].intra_cost_s;
    } else if (moves) {
        rest.action = PLAN_INTER;
        rest.cost_s = in->inter_cost_s[in->current.site * in->site_count + place.site];
    }
    rest.time_s = rest.action == PLAN_KEEP
                      ? plan_table_keep_s(table, place.schedule, first, in->phase_count)
                      : plan_table_time_on(table, place.schedule, first, in->phase_count);
    rest.valid = rest.time_s >= run->option[PLAN_MIN_INTERVAL];
    run->intervals[run->count++] = rest;
}

/* ---- what takes part ---- */

/* Asks each cluster for all phases at once: those that cannot run them are left out,
 * and the best of the others is the single schedule. */
static enum error_code find_single(struct plan_run *run, const char **why)
{
    const struct plan_in *in = run->in;

    for (size_t s = 0; s < in->site_count; s++) {
        struct plan_table *table = &run->grid.tables[s];
        const struct plan_best *best;

        why[s] = in->sites[s].why;
        run->unseen = run->unseen || in->sites[s].unseen;
        run->grid.steps->clocked += in->sites[s].unseen;
        if (!table->source)
            continue;
        best = run->single.site != SIZE_MAX && budget_spent(in->budget)
                   ? NULL
                   : plan_table_best(table, in->first_phase, in->phase_count);
        if (table->code != OK)
            return table->code;
        if (!best || !(best->time_s < HUGE_VAL)) {
            why[s] = best ? "no set of its machines can run all phases"
                          : "the time limit ended before it was looked at";
            run->unseen = run->unseen || !best;
            run->grid.steps->clocked += !best;
            table->source = NULL;
        } else if (best->time_s < run->single_s) {
            run->single_s = best->time_s;
            run->single = (struct plan_place){s, best->schedule};
        }
    }
    run->cut = run->cut || run->unseen;
    return OK;
}

/* ---- the answer ---- */

static bool same_place(const struct plan_run *run, const struct plan_place *a,
                       const struct plan_place *b)
{
    const struct plan_source *source = run->grid.tables[a->site].source;

    if (a->site != b->site || a->schedule == b->schedule)
        return a->site == b->site;
    return source && source->same &&
           source->same(source->context, a->schedule, b->schedule);
}

/* A move to the machines that the application is on costs nothing; but in a plan of
 * one cluster each marker costs what a move does, as in the source (eq. 5.2). */
static void drop_idle_moves(struct plan_run *run)
{
    if (run->in->site_count == 1)
        return;
    for (size_t i = 1; i < run->count; i++) {
        struct plan_interval *now = &run->intervals[i];

        if (now->action != PLAN_INTRA ||
            !same_place(run, &now->place, &run->intervals[i - 1].place))
            continue;
        now->place = run->intervals[i - 1].place;
        now->action = PLAN_KEEP;
        now->cost_s = 0;
    }
}

/* A last interval that is too short and stays where the one before is belongs to it. */
static void merge_tail(struct plan_run *run)
{
    struct plan_interval *last = &run->intervals[run->count - 1];

    if (run->count < 2 || last->valid || last->action != PLAN_KEEP)
        return;
    last[-1].last = last->last;
    last[-1].time_s += last->time_s;
    last[-1].valid = last[-1].time_s >= run->option[PLAN_MIN_INTERVAL];
    run->count--;
}

static size_t stop_phase(const struct plan_run *run)
{
    for (size_t i = 1; i < run->count; i++)
        if (run->intervals[i].action != PLAN_KEEP)
            return run->intervals[i - 1].last;
    return 0;
}

static void fill_warnings(const struct plan_run *run, struct plan_out *out)
{
    const char **warnings = NEW(run->arena, const char *, run->in->site_count + 5);
    size_t count = 0;

    for (size_t s = 0; s < run->in->site_count; s++) {
        if (!out->site_why[s])
            continue;
        warnings[count++] = arena_printf(run->arena, "site_left_out: site '%.100s': %s",
                                         run->in->sites[s].id, out->site_why[s]);
    }
    if (run->single_better)
        warnings[count++] =
            "single_schedule_better: the plan that was found takes longer "
            "than staying on one schedule, which is answered";
    if (run->initial_refused)
        warnings[count++] =
            arena_printf(run->arena, "initial_refused: %s; the planning began without it",
                         run->initial_refused);
    if (run->grid.steps->clocked)
        warnings[count++] = arena_printf(
            run->arena,
            "not_repeatable: the time limit ended %s for machines or plans; another run "
            "may find other ones",
            counted(run->grid.steps->clocked, "look").text);
    if (run->count == 1 && !run->intervals[0].valid)
        warnings[count++] =
            "shorter_than_threshold: the phases left take less than min_interval_s";
    else if (run->count > 1 && !run->intervals[run->count - 1].valid)
        warnings[count++] = "last_interval_too_short: it lasts less than min_interval_s";
    out->warnings = warnings;
    out->warning_count = count;
}

#define OPTIMAL_GAP 3e-9 /* the bound may be off by rounding */

/* What the bound rests on. */
static void note_bounds(const struct plan_run *run, struct plan_out *out)
{
    struct bound_list list = {0};
    struct proven_bound *bounds = NEW(run->arena, struct proven_bound, BOUND_KIND_COUNT);

    if (out->lower_bound_s > 0)
        bound_list_note(&list, run->proven ? BOUND_EXACT : BOUND_CRITICAL_PATH,
                        out->lower_bound_s);
    out->bounds = bounds;
    out->bound_count = bound_list_sort(&list, out->total_s, bounds);
}

/* The best of the planners that ask little; the others are compared with it. */
static void note_best_list(const struct plan_run *run, struct plan_out *out)
{
    struct plan_best_list *best = NULL;

    for (size_t i = 0; i < run->tried_count; i++) {
        const struct plan_tried *t = &run->tried[i];
        bool is_list = false;

        for (size_t k = 1; plan_start_names[k]; k++)
            is_list = is_list || strcmp(plan_start_names[k], t->name) == 0;
        if (!is_list || !(t->total_s < (best ? best->value : HUGE_VAL)))
            continue;
        if (!best)
            best = NEW(run->arena, struct plan_best_list, 1);
        *best = (struct plan_best_list){t->name, t->total_s};
    }
    out->best_list = best;
}

static void assess(const struct plan_run *run, struct plan_out *out)
{
    bool by_clock =
        run->cut && (run->unseen || (run->in->budget && run->in->budget->spent));

    out->gap_ratio = NAN;
    out->status = by_clock ? DECISION_CUT : DECISION_INFEASIBLE;
    if (run->count == 0)
        return;
    if (run->unseen)
        out->lower_bound_s = 0;
    else if (run->proven)
        out->lower_bound_s = out->total_s;
    out->lower_bound_s = fmin(out->lower_bound_s, out->total_s);
    if (out->total_s <= out->lower_bound_s * (1 + OPTIMAL_GAP))
        out->gap_ratio = 0;
    else if (out->lower_bound_s > 0)
        out->gap_ratio = out->total_s / out->lower_bound_s - 1;
    out->status = out->gap_ratio == 0 ? DECISION_OPTIMAL
                  : by_clock          ? DECISION_CUT
                                      : DECISION_FEASIBLE;
    note_bounds(run, out);
}

/* ---- one policy after the other ---- */

static enum error_code run_policy(struct plan_run *run, const struct policy *policy,
                                  struct error *err)
{
    if (policy->flags & PLAN_GRID)
        TRY(((plan_grid_fn *)policy->run)(run, err));
    else
        TRY(plan_by_site(run, plan_site_fn_of(policy), err));
    for (size_t s = 0; s < run->in->site_count; s++)
        run->cut = run->cut || run->grid.tables[s].cut;
    if (run->count > 0) {
        drop_idle_moves(run);
        merge_tail(run);
    }
    return OK;
}

static double total_of(const struct plan_run *run)
{
    return run->count > 0 ? plan_total_s(run->intervals, run->count) : HUGE_VAL;
}

static size_t move_count(const struct plan_run *run)
{
    size_t count = 0;

    for (size_t i = 0; i < run->count; i++)
        if (run->intervals[i].action == PLAN_INTRA ||
            run->intervals[i].action == PLAN_INTER)
            count++;
    return count;
}

static void note_tried(struct plan_run *run, const char *name, double total_s, bool cut)
{
    if (run->tried_count < PLAN_TRIED_MAX)
        run->tried[run->tried_count++] = (struct plan_tried){name, total_s, cut};
}

enum error_code plan_compete(struct plan_run *run, const struct policy *policy,
                             struct error *err)
{
    struct plan_run other = *run;
    double total_s = total_of(run), other_s;

    other.intervals = NEW(run->arena, struct plan_interval, run->in->phase_count);
    other.count = 0;
    other.known = run->intervals;
    other.known_count = run->count;
    other.cut = false;
    other.proven = false;
    TRY(run_policy(&other, policy, err));
    other_s = total_of(&other);
    note_tried(run, policy->name, other_s, other.cut);
    run->cut = other.cut || run->unseen;
    run->proven = run->proven || other.proven;
    if (other_s < total_s || (other_s == total_s && other_s < HUGE_VAL &&
                              move_count(&other) < move_count(run))) {
        run->intervals = other.intervals;
        run->count = other.count;
        run->first = other.first;
        run->finder = policy->name;
        improvement_list_add(&run->improved, run->grid.steps->asked, other_s);
        /* single_schedule calls its own plan valid whatever it takes */
        for (size_t i = 0; i < run->count; i++)
            run->intervals[i].valid =
                run->intervals[i].time_s >= run->option[PLAN_MIN_INTERVAL];
    }
    return OK;
}

/* No planner is answered with a plan that is worse than staying on one schedule. */
static enum error_code compare_single(struct plan_run *run, const struct policy *policy,
                                      struct error *err)
{
    const struct policy *single = policy_find(plan_policies, "single_schedule");
    bool cut = run->cut;

    if (run->algorithm) /* a portfolio, which had it */
        return OK;
    run->finder = policy->name;
    note_tried(run, policy->name, total_of(run), run->cut);
    if (run->count > 0)
        improvement_list_add(&run->improved, run->grid.steps->asked, total_of(run));
    if (policy == single || run->in->as_found)
        return OK;
    TRY(plan_compete(run, single, err));
    run->cut = cut;
    run->single_better = run->finder == single->name;
    return OK;
}

/* ---- a plan to start from ---- */

/* Interval i of the request's plan, behind *prev. */
static struct plan_interval initial_interval(const struct plan_run *run, size_t i,
                                             const struct plan_place *prev)
{
    const struct plan_in *in = run->in;
    struct plan_interval x = in->initial[i];
    const struct plan_table *table = &run->grid.tables[x.place.site];
    bool known = prev->site != SIZE_MAX && prev->schedule != SIZE_MAX;

    if (prev->site == SIZE_MAX) {
        x.action = PLAN_START;
    } else if (known && same_place(run, prev, &x.place)) {
        x.action = PLAN_KEEP;
        x.place = *prev;
    } else if (prev->site == x.place.site) {
        x.action = PLAN_INTRA;
        x.cost_s = in->sites[x.place.site].intra_cost_s;
    } else {
        x.action = PLAN_INTER;
        x.cost_s = in->inter_cost_s[prev->site * in->site_count + x.place.site];
    }
    x.time_s = x.action == PLAN_KEEP
                   ? plan_table_keep_s(table, x.place.schedule, x.first, x.last)
                   : plan_table_time_on(table, x.place.schedule, x.first, x.last);
    x.valid = x.time_s >= run->option[PLAN_MIN_INTERVAL];
    return x;
}

/* Makes run->intervals the request's plan, or says why it is none. */
static bool take_initial(struct plan_run *run)
{
    const struct plan_in *in = run->in;
    struct plan_place prev = in->current;

    for (size_t i = 0; i < in->initial_count; i++) {
        struct plan_interval *x = &run->intervals[i];

        if (!run->grid.tables[in->initial[i].place.site].source) {
            run->initial_refused = arena_printf(run->arena, "site '%.100s' takes no part",
                                                in->sites[in->initial[i].place.site].id);
            return false;
        }
        *x = initial_interval(run, i, &prev);
        if (!(x->time_s < HUGE_VAL) || (!x->valid && in->initial_count > 1)) {
            run->initial_refused = arena_printf(
                run->arena, "phases %zu to %zu take %g s there, min_interval_s is %g",
                x->first, x->last, x->time_s, run->option[PLAN_MIN_INTERVAL]);
            return false;
        }
        prev = x->place;
    }
    run->count = in->initial_count;
    return true;
}

/* Makes its schedules known to the planners. */
static void offer_initial(struct plan_run *run, struct plan_run *initial)
{
    const struct plan_in *in = run->in;

    *initial = *run;
    initial->intervals = NEW(run->arena, struct plan_interval, in->initial_count);
    if (in->initial_count == 0 || !take_initial(initial)) {
        run->initial_refused = initial->initial_refused;
        initial->count = 0;
        return;
    }
    run->known = initial->intervals;
    run->known_count = initial->count;
    for (size_t i = 0; i < initial->count; i++) {
        const struct plan_interval *x = &initial->intervals[i];

        plan_table_from(&run->grid.tables[x->place.site], x->first, x->last,
                        x->place.schedule);
    }
}

/* The request's plan stays unless a better one was found. */
static void compare_initial(struct plan_run *run, const struct plan_run *initial)
{
    double initial_s = total_of(initial);

    if (initial->count == 0)
        return;
    note_tried(run, "initial", initial_s, false);
    if (initial_s >= total_of(run))
        return;
    run->intervals = initial->intervals;
    run->count = initial->count;
    run->finder = "initial";
    run->single_better = false;
    improvement_list_add(&run->improved, run->grid.steps->asked, initial_s);
}

/* Who found the plan, and what the others came to. */
static const char *because(const struct plan_run *run)
{
    const char *list = "";

    if (run->count == 0)
        return NULL;
    for (size_t i = 0; i < run->tried_count; i++) {
        const struct plan_tried *t = &run->tried[i];
        const char *cut = t->cut ? " (cut)" : "";

        list = t->total_s < HUGE_VAL
                   ? arena_printf(run->arena, "%s%s%s %g s%s", list, i ? ", " : "",
                                  t->name, t->total_s, cut)
                   : arena_printf(run->arena, "%s%s%s none%s", list, i ? ", " : "",
                                  t->name, cut);
    }
    return arena_printf(run->arena, "found by %s: the best of %s", run->finder, list);
}

static void note_improved(const struct plan_run *run, struct plan_out *out)
{
    struct improvement *list = NEW(run->arena, struct improvement, IMPROVEMENTS_MAX);

    memcpy(list, run->improved.item, run->improved.count * sizeof(*list));
    out->improved_at_steps = list;
    out->improvement_count = run->improved.count;
}

#define EFFORT_SHARE 0.3 /* of the time, after which there are no early bounds */

/* How much work goes into bounds; under a clock some are made before the planning, as
 * there is no time behind it. */
static void bound_early(struct plan_run *run)
{
    double asked = run->option[PLAN_BOUND_EFFORT];
    bool late = budget_used(run->in->budget) > EFFORT_SHARE;

    run->effort = asked > 0 ? (enum bound_effort)(asked - 1)
                  : late    ? EFFORT_NONE
                            : EFFORT_FULL;
    if (run->effort > EFFORT_NONE && run->in->budget && run->in->budget->used)
        plan_bound(run, &run->early_bound_s);
}

static void answer(struct plan_run *run, const struct policy *policy,
                   const char *const *why, struct plan_out *out)
{
    struct plan_out x = {
        .algorithm = run->algorithm ? run->algorithm : policy->name,
        .because = because(run),
        .intervals = run->intervals,
        .total_s = HUGE_VAL,
        .single_s = run->single_s,
        .first = run->first,
        .site_why = why,
    };

    if (run->count) {
        x.interval_count = run->count;
        x.stop_phase = stop_phase(run);
        x.total_s = plan_total_s(run->intervals, run->count);
        for (size_t i = 0; i < run->count; i++)
            x.cost_s += run->intervals[i].cost_s;
        plan_bound(run, &x.lower_bound_s);
        x.lower_bound_s = fmax(x.lower_bound_s, run->early_bound_s);
    }
    x.calls = run->grid.steps->asked;
    x.bound_effort = bound_effort_names[run->effort];
    note_best_list(run, &x);
    note_improved(run, &x);
    fill_warnings(run, &x);
    assess(run, &x);
    *out = x;
}

enum error_code plan_decide(const struct plan_in *in, const struct policy *policy,
                            const double *option, struct plan_out *out, struct arena *a,
                            struct error *err)
{
    struct plan_in known = *in;
    struct plan_run run = {
        .in = &known,
        .option = option,
        .single = {SIZE_MAX, SIZE_MAX},
        .single_s = HUGE_VAL,
        .intervals = NEW(a, struct plan_interval, in->phase_count),
        .first = {HUGE_VAL, HUGE_VAL, {SIZE_MAX, SIZE_MAX}},
        .arena = a,
    };
    const char **why = NEW(a, const char *, in->site_count);

    TRY(plan_grid_create(&known, plan_site_fn_of(policy), option, &run.grid, a, err));
    TRY(find_single(&run, why));
    if (in->current.site != SIZE_MAX && !run.grid.tables[in->current.site].source)
        known.current.schedule = SIZE_MAX; /* it can be left, but not kept */
    if (run.single.site != SIZE_MAX) {
        struct plan_run initial;

        bound_early(&run);
        offer_initial(&run, &initial);
        TRY(run_policy(&run, policy, err));
        TRY(compare_single(&run, policy, err));
        compare_initial(&run, &initial);
    }
    answer(&run, policy, why, out);
    return OK;
}
