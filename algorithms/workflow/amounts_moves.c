/* workflow/amounts_moves.c - moves that pay, where resources run as many tasks as fit.
 *
 * The rules are those of moves.c. A resource is a place for a task if all that the task
 * needs is free there, beside the plan and what else runs, from now until it would be
 * done; its shared amounts it keeps. The plan's order on its resources is laid out anew,
 * each task as early as its data and what is free let it, and may end no later with the
 * move than without. So the plan holds whether or not the moves are made.
 *
 * Source: search.md 7 rule 3; world-model.md 3, 8.
 * Cost: O(tasks * nodes + edges) fits a try, O(running * resources) fits to begin with;
 * some milliseconds of it are done in any case.
 * Deviations: a resource takes more than one task as long as there is room. A task of
 * several nodes does not move, as in a round. One that has no length starts when its data
 * are there.
 */
#include "algorithms/workflow/amounts_parts.h"
#include "algorithms/workflow/moves_parts.h"
#include "algorithms/workflow/problem_parts.h"

#define FREE_WORK 1e6 /* steps of profiles and edges looked at */

struct search {
    const struct workflow_problem *problem;
    const struct workflow_plan *plan;
    const struct workflow_move_rules *rules;
    struct workflow_amounts *x; /* of the plan */
    struct workflow_amounts y;  /* movers are jobs too, and hold nothing */
    struct mover *movers;
    size_t mover_count;
    struct profile *base, *shared_base; /* without movers and plan; [position], [row] */
    struct profile *beside;             /* with both, and the moves so far */
    struct profile *free, *shared_free; /* while the plan is laid out */
    size_t *order, order_count;         /* open tasks with a place, as they start */
    size_t *processor;                  /* [task]: with the moves so far */
    double *begun_s, *finish_s;         /* [task]: likewise */
    int64_t *at_least;                  /* of one question */
    double work;
    struct arena *a;
};

/* ---- what is free ---- */

static const struct world_job *job_of(const struct search *s, size_t task)
{
    return &s->y.w->jobs[s->y.job_of[task]];
}

static size_t position_of(const struct search *s, size_t processor)
{
    return s->y.jobs.position_of[s->problem->processors[processor].resource];
}

/* What a profile of rows from `first` on has to have free. */
static const int64_t *at_least(struct search *s, const int64_t *needs, size_t first,
                               size_t count)
{
    for (size_t k = 0; k < count; k++)
        s->at_least[k] = needs[first + k] > 0 ? needs[first + k] : INT64_MIN;
    return s->at_least;
}

static double fit_s(struct search *s, const struct profile *p, const int64_t *needs,
                    size_t first, double held_s, double from_s, double latest_s)
{
    size_t looks = 0;
    double start_s = profile_fit_amounts(p, at_least(s, needs, first, p->amount_count),
                                         held_s, from_s, latest_s, &looks);

    s->work += (double)(looks + p->amount_count);
    budget_step(s->problem->in->budget, looks + p->amount_count);
    return start_s;
}

/* A task holds its needs on a resource from start_s to end_s. */
static void hold(struct search *s, struct profile *at, size_t task, double start_s,
                 double end_s)
{
    s->work += (double)at->count;
    budget_step(s->problem->in->budget, at->count);
    profile_take_amounts(at, start_s, end_s, job_of(s, task)->needs, s->a);
}

static void hold_shared(struct search *s, size_t task, double start_s, double end_s)
{
    const struct world *w = s->y.w;
    const int64_t *needs = job_of(s, task)->needs;

    for (size_t k = w->node_amount_count; k < w->amount_count; k++)
        if (needs[k] > 0) {
            budget_step(s->problem->in->budget, s->shared_free[k].count);
            profile_take_amounts(&s->shared_free[k], start_s, end_s, needs + k, s->a);
        }
}

/* ---- the plan's order, laid out anew ---- */

/* Lays one out from from_s on, where it has its place; its start, HUGE_VAL: never. */
static double lay(struct search *s, size_t task, const struct world_placed *placed,
                  double from_s)
{
    const struct world *w = s->y.w;
    const int64_t *needs = job_of(s, task)->needs;
    double start_s = from_s, before_s;

    do {
        before_s = start_s;
        for (size_t k = 0; k < placed->position_count && start_s < HUGE_VAL; k++) {
            size_t p = s->x->w->resources[placed->positions[k]].index;

            start_s = fit_s(s, &s->free[s->y.jobs.position_of[p]], needs, 0,
                            placed->run_s, start_s, HUGE_VAL);
        }
        for (size_t k = w->node_amount_count; k < w->amount_count && start_s < HUGE_VAL;
             k++)
            start_s =
                fit_s(s, &s->shared_free[k], needs, k, placed->run_s, start_s, HUGE_VAL);
    } while (start_s > before_s && start_s < HUGE_VAL);
    if (start_s == HUGE_VAL)
        return start_s;
    for (size_t k = 0; k < placed->position_count; k++) {
        size_t p = s->x->w->resources[placed->positions[k]].index;

        hold(s, &s->free[s->y.jobs.position_of[p]], task, start_s,
             start_s + placed->run_s);
    }
    hold_shared(s, task, start_s, start_s + placed->run_s);
    return start_s;
}

/* Back to what others hold, and the movers where they are now. */
static void lay_movers(struct search *s)
{
    const struct world *w = s->y.w;

    for (size_t p = 0; p < w->resource_count; p++) {
        budget_step(s->problem->in->budget, s->base[p].count);
        profile_copy(&s->free[p], &s->base[p], s->a);
    }
    for (size_t k = w->node_amount_count; k < w->amount_count; k++)
        profile_copy(&s->shared_free[k], &s->shared_base[k], s->a);
    for (size_t k = 0; k < s->mover_count; k++) {
        size_t task = s->movers[k].task;

        hold(s, &s->free[position_of(s, s->processor[task])], task, 0, s->begun_s[task]);
        hold_shared(s, task, 0, s->begun_s[task]);
    }
}

static double makespan_s(struct search *s)
{
    const struct workflow_problem *problem = s->problem;
    const struct world_plan *plan = board_plan(s->x->board);
    double last_s = 0;

    lay_movers(s);
    for (size_t i = 0; i < problem->task_count; i++)
        if (!workflow_is_open(problem, i)) {
            s->finish_s[i] = s->begun_s[i];
            last_s = fmax(last_s, s->finish_s[i]);
        }
    for (size_t k = 0; k < s->order_count; k++) {
        size_t task = s->order[k];
        const struct world_placed *placed = &plan->placed[s->x->job_of[task]];
        double from_s = 0;

        for (size_t n = 0; n < placed->position_count; n++) {
            size_t p = s->x->w->resources[placed->positions[n]].index;

            budget_step(problem->in->budget, 1 + problem->parent_first[task + 1] -
                                                 problem->parent_first[task]);
            from_s =
                fmax(from_s, mover_ready_s(problem, task, p, s->processor, s->finish_s));
        }
        s->finish_s[task] =
            from_s < HUGE_VAL ? lay(s, task, placed, from_s) + placed->run_s : HUGE_VAL;
        last_s = fmax(last_s, s->finish_s[task]);
    }
    return last_s;
}

/* ---- places ---- */

static bool has_room(struct search *s, size_t task, size_t p, double held_s)
{
    const struct world_job *j = job_of(s, task);
    size_t position = position_of(s, p);

    return workflow_amounts_may_use(j, position) &&
           fit_s(s, &s->beside[position], j->needs, 0, held_s, 0, 0) == 0;
}

/* The place of a mover where it is done first of those that pay and were not tried. */
static void find_place(struct search *s, struct mover *m)
{
    const struct workflow_problem *problem = s->problem;
    size_t home = problem->fixed_processor[m->task];

    m->place = WORKFLOW_NONE;
    m->there_s = HUGE_VAL;
    for (size_t p = 0; p < problem->processor_count; p++) {
        double transfer, time_s;

        budget_step(problem->in->budget, 4);
        if (p == home || !problem->processors[p].usable || mover_was_tried(m, p))
            continue;
        time_s = mover_there_s(problem, s->rules, m->task, p, &transfer);
        if (time_s < m->there_s && mover_pays(s->rules, m->here_s, time_s) &&
            has_room(s, m->task, p, time_s)) {
            m->place = p;
            m->there_s = time_s;
            m->transfer_s = transfer;
        }
    }
}

static bool try_move(struct search *s, const struct mover *m, double *end_s)
{
    size_t task = m->task, from = s->processor[task];
    double before_s = s->begun_s[task], with_s;

    if (!has_room(s, task, m->place, m->there_s)) /* another one took it */
        return false;
    s->processor[task] = m->place;
    s->begun_s[task] = m->there_s;
    with_s = makespan_s(s);
    if (with_s <= *end_s * MOVE_SAME) {
        *end_s = with_s;
        hold(s, &s->beside[position_of(s, m->place)], task, 0, m->there_s);
        return true;
    }
    s->processor[task] = from;
    s->begun_s[task] = before_s;
    return false;
}

/* ---- to begin with ---- */

/* Movers without those that are on several nodes. */
static void list_movers(struct search *s)
{
    size_t kept = 0;

    s->movers = movers_list(s->problem, &s->mover_count, s->a);
    for (size_t k = 0; k < s->mover_count; k++)
        if (s->problem->tasks[s->movers[k].task]->nodes <= 1)
            s->movers[kept++] = s->movers[k];
    s->mover_count = kept;
}

/* The world in which movers are jobs and hold nothing. Its mistakes are those of the
 * first one, which had none. */
static enum error_code make_world(struct search *s)
{
    const struct workflow_problem *problem = s->problem;
    struct workflow_problem *copy = NEW(s->a, struct workflow_problem, 1);
    size_t *fixed = NEW(s->a, size_t, problem->task_count);
    bool *runs = NEW(s->a, bool, problem->task_count);
    struct error err = {.arena = s->a};

    for (size_t i = 0; i < problem->task_count; i++) {
        fixed[i] = problem->fixed_processor[i];
        runs[i] =
            !workflow_is_open(problem, i) && problem->tasks[i]->status != WORKFLOW_DONE;
    }
    for (size_t k = 0; k < s->mover_count; k++)
        fixed[s->movers[k].task] = WORKFLOW_NONE;
    *copy = *problem;
    copy->fixed_processor = fixed;
    copy->open_count += s->mover_count;
    s->y = (struct workflow_amounts){.problem = copy, .runs = runs, .arena = s->a};
    TRY(workflow_amounts_world(&s->y, &err));
    workflow_amounts_hold(&s->y);
    return OK;
}

static void list_profiles(struct search *s)
{
    const struct world *w = s->y.w;
    size_t rows = w->amount_count, resources = w->resource_count;

    s->base = NEW(s->a, struct profile, resources);
    s->beside = NEW(s->a, struct profile, resources);
    s->free = NEW(s->a, struct profile, resources);
    s->shared_base = NEW(s->a, struct profile, rows);
    s->shared_free = NEW(s->a, struct profile, rows);
    s->at_least = NEW(s->a, int64_t, rows);
    for (size_t p = 0; p < resources; p++) {
        budget_step(s->problem->in->budget, 8 + w->resources[p].holder_count);
        profile_of_resource(w, p, &s->base[p], s->a);
        profile_copy(&s->beside[p], &s->base[p], s->a);
    }
    for (size_t k = w->node_amount_count; k < rows; k++)
        profile_of_shared(w, k, &s->shared_base[k], s->a);
}

/* From when a planned task holds its needs on a resource: its start, or, where they are
 * free, from when it waits there for its inputs. */
static double held_from_s(struct search *s, size_t task, size_t position, double start_s)
{
    double from_s = movers_held_from_s(s->problem, s->plan, task);

    budget_step(s->problem->in->budget,
                1 + s->problem->parent_first[task + 1] - s->problem->parent_first[task]);
    if (from_s < start_s && fit_s(s, &s->beside[position], job_of(s, task)->needs, 0,
                                  start_s - from_s, from_s, from_s) == from_s)
        return from_s;
    return start_s;
}

/* The plan as it is, and the movers where they are. */
static void fill_beside(struct search *s)
{
    const struct world_plan *plan = board_plan(s->x->board);

    for (size_t k = 0; k < s->mover_count; k++) {
        size_t task = s->movers[k].task;

        hold(s, &s->beside[position_of(s, s->problem->fixed_processor[task])], task, 0,
             s->movers[k].here_s);
    }
    for (size_t k = 0; k < s->order_count; k++) {
        const struct world_placed *placed = &plan->placed[s->x->job_of[s->order[k]]];

        for (size_t n = 0; n < placed->position_count; n++) {
            size_t p = s->x->w->resources[placed->positions[n]].index;
            size_t position = s->y.jobs.position_of[p];

            hold(s, &s->beside[position], s->order[k],
                 held_from_s(s, s->order[k], position, placed->start_s), placed->end_s);
        }
    }
}

static void begin(struct search *s)
{
    size_t n = s->problem->task_count;

    s->processor = NEW(s->a, size_t, n);
    s->begun_s = NEW(s->a, double, n);
    s->finish_s = NEW(s->a, double, n);
    for (size_t i = 0; i < n; i++) {
        s->processor[i] = s->plan->processor[i];
        s->begun_s[i] = s->problem->fixed_finish_s[i];
    }
    s->order = movers_order(s->problem, s->plan, &s->order_count, s->a);
    list_profiles(s);
    fill_beside(s);
}

static bool is_spent(const struct search *s)
{
    return s->work > FREE_WORK && budget_spent(s->problem->in->budget);
}

void workflow_amounts_moves(struct workflow_amounts *x, const struct workflow_plan *plan,
                            const struct workflow_move_rules *rules,
                            const struct workflow_action **moves, size_t *count,
                            bool *cut)
{
    struct search s = {
        .problem = x->problem, .plan = plan, .rules = rules, .x = x, .a = x->arena};
    struct workflow_action *list;
    double end_s = 0;
    size_t best;

    *moves = NULL;
    *count = 0;
    list_movers(&s);
    if (s.mover_count == 0 || make_world(&s) != OK)
        return;
    begin(&s);
    for (size_t k = 0; k < s.mover_count && !*cut; k++) {
        *cut = is_spent(&s);
        find_place(&s, &s.movers[k]);
    }
    list = NEW(s.a, struct workflow_action, s.mover_count);
    *moves = list;
    if (movers_best(s.movers, s.mover_count) != WORKFLOW_NONE)
        end_s = makespan_s(&s);
    while ((best = movers_best(s.movers, s.mover_count)) != WORKFLOW_NONE) {
        struct mover *m = &s.movers[best];

        *cut = *cut || is_spent(&s);
        if (*cut)
            break;
        if (try_move(&s, m, &end_s)) {
            list[*count] = mover_action(s.problem, m, *count);
            (*count)++;
            m->place = WORKFLOW_NONE;
            continue;
        }
        m->tried[m->tries++] = m->place;
        m->place = WORKFLOW_NONE;
        if (m->tries < MOVE_TRIES_MOST)
            find_place(&s, m);
    }
}
