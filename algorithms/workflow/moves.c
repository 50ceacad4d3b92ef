/* workflow/moves.c - running tasks that are worth moving to where nothing is to run yet.
 *
 * A task i that has done something needs `here` seconds more on its resource. On another
 * processor b, which the plan leaves idle that long, it would need
 *
 *     there = what is left of it on b, with a checkpoint
 *             all of it on b, after its inputs have come again, without one
 *           + transfer of the checkpoint + restart_s
 *
 * and the move pays if here - there > max(gain_min_s, gain_min_ratio * here) and the
 * plan's order on its processors ends no later with it. By falling gain (tie: order of
 * tasks, then of processors), each task and each processor once; moves that were taken
 * count when the next is looked at. A task that stands still needs for ever: any place
 * pays. A processor is not idle while a task whose parents are done waits there for its
 * inputs: the answer says `next` of it, that is, to start it now.
 *
 * Source: spec search.md 7. Cost: O(tasks + edges) a try, O(running * processors) to
 * begin with. A search before has used the budget up: some milliseconds of work are done
 * all the same, and only then is it asked.
 * Deviations: with slots a destination is a slot, not a resource. A task tries its
 * MOVE_TRIES_MOST best places. The processor that a task leaves counts as free only where
 * nothing else is known to hold it.
 */
#include "algorithms/workflow/moves_parts.h"

#include <stdlib.h>

#define FREE_WORK 1e6 /* processors and tasks looked at */

struct search {
    const struct workflow_problem *problem;
    const struct workflow_plan *plan;
    const struct workflow_move_rules *rules;
    struct mover *movers;
    size_t mover_count;
    double *idle_until_s; /* [processor]: nothing runs there before; < 0: in use now */
    size_t *order;        /* open tasks with a place, as the plan starts them */
    size_t order_count;
    size_t *processor; /* [task]: with the moves so far */
    double *finish_s;  /* [task] */
    double *begun_s;   /* [task]: finish of those that have begun, with the moves */
    double *leaves_s;  /* [processor]: free again then, as its task moved; NAN: as is */
    double *held_s;    /* [processor]: until then by a task that moved there; 0 */
    double *free_s;    /* [processor] */
    double work;       /* processors and tasks looked at */
    struct arena *a;
    struct error *err;
};

/* ---- times with some tasks elsewhere ---- */

double mover_ready_s(const struct workflow_problem *problem, size_t task, size_t p,
                     const size_t *processor, const double *finish_s)
{
    double at_s = workflow_ready_s(problem, task, p);

    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
         e++) {
        const struct workflow_edge *edge = &problem->edges[e];

        at_s = fmax(at_s,
                    fmax(0, finish_s[edge->parent]) +
                        workflow_transfer_s(problem, edge, processor[edge->parent], p));
    }
    return at_s;
}

static double start_of(const struct search *s, size_t task, size_t p)
{
    const struct workflow_problem *problem = s->problem;
    const struct workflow_processor *x = &problem->processors[p];
    double time_s = workflow_time_s(problem, task, p);
    double at_s = mover_ready_s(problem, task, p, s->processor, s->finish_s);

    if (!(time_s > 0))
        return at_s; /* in nobody's way */
    at_s = fmax(at_s, s->free_s[p]);
    for (size_t k = isnan(s->leaves_s[p]) ? 0U : 1U; k < x->blocked_count; k++) {
        if (at_s + time_s <= x->blocked[k].from_s)
            break;
        at_s = fmax(at_s, x->blocked[k].to_s);
    }
    return at_s;
}

/* When all ends if each processor runs its tasks in the plan's order. O(tasks + edges).
 */
static double makespan_s(struct search *s)
{
    const struct workflow_problem *problem = s->problem;
    double last_s = 0;

    s->work +=
        (double)(problem->processor_count + problem->task_count + problem->edge_count);
    for (size_t p = 0; p < problem->processor_count; p++)
        s->free_s[p] = isnan(s->leaves_s[p]) ? s->held_s[p] : s->leaves_s[p];
    for (size_t i = 0; i < problem->task_count; i++) {
        if (workflow_is_open(problem, i))
            continue;
        s->finish_s[i] = s->begun_s[i];
        last_s = fmax(last_s, s->finish_s[i]);
    }
    for (size_t k = 0; k < s->order_count; k++) {
        size_t task = s->order[k], p = s->processor[task];
        double start_s = start_of(s, task, p), time_s = workflow_time_s(problem, task, p);

        s->finish_s[task] = start_s + time_s;
        if (time_s > 0)
            s->free_s[p] = fmax(s->free_s[p], s->finish_s[task]);
        last_s = fmax(last_s, s->finish_s[task]);
    }
    return last_s;
}

/* ---- what a place offers ---- */

/* Units of work (struct workflow_left) to seconds there. */
static double seconds_of(const struct workflow_problem *problem, size_t task,
                         double units, size_t processor)
{
    const struct workflow_task *t = problem->tasks[task];
    const struct workflow_processor *p = &problem->processors[processor];
    double time_s = HUGE_VAL;

    if (t->etc_count)
        time_s = units * t->etc_s[p->resource];
    else if (p->speed_mips > 0)
        time_s = units / p->speed_mips;
    return p->usable && time_s <= WORKFLOW_LONGEST_S ? time_s : HUGE_VAL;
}

static bool has_checkpoint(const struct workflow_task *t)
{
    return t->checkpoint_bytes > 0 || t->checkpoint_work_ref_s > 0;
}

/* Until the outputs of its parents are there once more. */
static double inputs_s(const struct workflow_problem *problem, size_t task, size_t to)
{
    double last_s = workflow_staged_s(problem, task, to);

    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
         e++) {
        const struct workflow_edge *edge = &problem->edges[e];
        size_t from = problem->fixed_processor[edge->parent];

        last_s = fmax(last_s, from == WORKFLOW_NONE
                                  ? 0
                                  : workflow_transfer_s(problem, edge, from, to));
    }
    return last_s;
}

double mover_there_s(const struct workflow_problem *problem,
                     const struct workflow_move_rules *rules, size_t task, size_t to,
                     double *transfer_s)
{
    const struct workflow_task *t = problem->tasks[task];
    const struct workflow_left *left = &problem->left[task];
    const struct workflow_processor *from =
        &problem->processors[problem->fixed_processor[task]];
    bool kept = has_checkpoint(t);
    struct workflow_edge carried = {task, task, (double)NAN, t->checkpoint_bytes};

    if (kept)
        *transfer_s = t->checkpoint_bytes > 0
                          ? workflow_transfer_s(problem, &carried,
                                                (size_t)(from - problem->processors), to)
                          : 0;
    else
        *transfer_s = inputs_s(problem, task, to);
    return seconds_of(problem, task, kept ? left->left : left->whole, to) + *transfer_s +
           rules->restart_s;
}

bool mover_pays(const struct workflow_move_rules *rules, double here_s, double there_s)
{
    if (!(there_s < HUGE_VAL))
        return false;
    return here_s == HUGE_VAL ||
           here_s - there_s > fmax(rules->gain_min_s, rules->gain_min_ratio * here_s);
}

bool mover_was_tried(const struct mover *m, size_t place)
{
    for (size_t k = 0; k < m->tries; k++)
        if (m->tried[k] == place)
            return true;
    return false;
}

/* The place of a mover where it is done first of those that pay and were not tried. */
static void find_place(struct search *s, struct mover *m)
{
    const struct workflow_problem *problem = s->problem;
    size_t home = problem->processors[problem->fixed_processor[m->task]].resource;

    m->place = WORKFLOW_NONE;
    m->there_s = HUGE_VAL;
    s->work +=
        (double)problem->processor_count *
        (double)(1 + problem->parent_first[m->task + 1] - problem->parent_first[m->task]);
    for (size_t p = 0; p < problem->processor_count; p++) {
        double transfer, time_s;

        if (problem->processors[p].resource == home || s->idle_until_s[p] < 0 ||
            mover_was_tried(m, p))
            continue;
        time_s = mover_there_s(problem, s->rules, m->task, p, &transfer);
        if (time_s < m->there_s && time_s <= s->idle_until_s[p] &&
            mover_pays(s->rules, m->here_s, time_s)) {
            m->place = p;
            m->there_s = time_s;
            m->transfer_s = transfer;
        }
    }
}

/* ---- who, where, and what stands in the way ---- */

static bool may_move(const struct workflow_problem *problem, size_t task)
{
    const struct workflow_left *left = &problem->left[task];

    return problem->tasks[task]->status == WORKFLOW_RUNNING && left->source &&
           left->begun && left->left > 0 && left->whole < HUGE_VAL &&
           problem->fixed_processor[task] < problem->processor_count;
}

double movers_held_from_s(const struct workflow_problem *problem,
                          const struct workflow_plan *plan, size_t task)
{
    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1]; e++)
        if (problem->tasks[problem->edges[e].parent]->status != WORKFLOW_DONE)
            return plan->start_s[task];
    return fmin(plan->start_s[task], problem->release_s[task]);
}

/* Until when nothing is to run on each processor, or to wait there for its inputs. */
static void find_idle(struct search *s)
{
    const struct workflow_problem *problem = s->problem;

    for (size_t p = 0; p < problem->processor_count; p++) {
        const struct workflow_processor *x = &problem->processors[p];
        double from_s = x->blocked_count ? x->blocked[0].from_s : HUGE_VAL;

        s->idle_until_s[p] = x->usable && from_s > 0 ? from_s : -1;
    }
    for (size_t k = 0; k < s->order_count; k++) {
        size_t task = s->order[k], p = s->processor[task];

        budget_step(problem->in->budget,
                    1 + problem->parent_first[task + 1] - problem->parent_first[task]);
        if (s->plan->finish_s[task] > s->plan->start_s[task])
            s->idle_until_s[p] =
                fmin(s->idle_until_s[p], movers_held_from_s(problem, s->plan, task));
    }
}

struct begin {
    double start_s, finish_s;
    size_t position, task;
};

static int by_start(const void *a, const void *b)
{
    const struct begin *x = a, *y = b;

    if (x->start_s != y->start_s)
        return x->start_s > y->start_s ? 1 : -1;
    if (x->finish_s != y->finish_s)
        return x->finish_s > y->finish_s ? 1 : -1;
    return (x->position > y->position) - (x->position < y->position);
}

size_t *movers_order(const struct workflow_problem *problem,
                     const struct workflow_plan *plan, size_t *count, struct arena *a)
{
    struct begin *list = NEW(a, struct begin, problem->task_count);
    size_t *order = NEW(a, size_t, problem->task_count);

    *count = 0;
    for (size_t i = 0; i < problem->task_count; i++)
        if (workflow_is_open(problem, i) && plan->processor[i] != WORKFLOW_NONE)
            list[(*count)++] = (struct begin){plan->start_s[i], plan->finish_s[i],
                                              problem->position[i], i};
    qsort(list, *count, sizeof(*list), by_start);
    for (size_t k = 0; k < *count; k++)
        order[k] = list[k].task;
    return order;
}

/* Without those that never end. */
static void list_order(struct search *s)
{
    size_t kept = 0;

    s->order = movers_order(s->problem, s->plan, &s->order_count, s->a);
    for (size_t k = 0; k < s->order_count; k++)
        if (s->plan->finish_s[s->order[k]] < HUGE_VAL)
            s->order[kept++] = s->order[k];
    s->order_count = kept;
}

struct mover *movers_list(const struct workflow_problem *problem, size_t *count,
                          struct arena *a)
{
    struct mover *list;
    size_t most = 0;

    for (size_t i = 0; i < problem->task_count; i++)
        most += !workflow_is_open(problem, i) && may_move(problem, i);
    list = NEW(a, struct mover, most);
    *count = 0;
    for (size_t i = 0; i < problem->task_count; i++)
        if (!workflow_is_open(problem, i) && may_move(problem, i))
            list[(*count)++] = (struct mover){
                .task = i, .place = WORKFLOW_NONE, .here_s = problem->fixed_finish_s[i]};
    return list;
}

static void make_search(struct search *s)
{
    const struct workflow_problem *problem = s->problem;
    size_t n = problem->task_count, processors = problem->processor_count;

    s->processor = NEW(s->a, size_t, n);
    s->finish_s = NEW(s->a, double, n);
    s->begun_s = NEW(s->a, double, n);
    s->idle_until_s = NEW(s->a, double, processors);
    s->leaves_s = NEW(s->a, double, processors);
    s->held_s = NEW(s->a, double, processors);
    s->free_s = NEW(s->a, double, processors);
    s->movers = movers_list(problem, &s->mover_count, s->a);
    list_order(s);
    for (size_t i = 0; i < n; i++) {
        s->processor[i] = s->plan->processor[i];
        s->finish_s[i] = s->begun_s[i] = problem->fixed_finish_s[i];
    }
    for (size_t p = 0; p < processors; p++)
        s->leaves_s[p] = (double)NAN;
    find_idle(s);
}

/* When a processor is free once its task has left; NAN: something else may hold it. */
static double left_s(const struct search *s, size_t task)
{
    const struct workflow_problem *problem = s->problem;
    size_t from = problem->fixed_processor[task];
    const struct workflow_processor *p = &problem->processors[from];
    const struct resource *r = &problem->in->snapshot->resources[p->resource];
    size_t own = 0, others = 0;

    for (size_t w = 0; w < problem->in->window_count; w++)
        if (problem->in->windows[w].resource_id == r->id)
            return (double)NAN;
    for (size_t i = 0; i < problem->task_count; i++) {
        if (workflow_is_open(problem, i) || problem->tasks[i]->status == WORKFLOW_DONE ||
            problem->fixed_processor[i] >= problem->processor_count)
            continue;
        own += problem->fixed_processor[i] == from;
        others +=
            problem->processors[problem->fixed_processor[i]].resource == p->resource;
    }
    if (own != 1 || r->job_count > (double)others || p->blocked_count == 0)
        return (double)NAN;
    return r->ready_s;
}

/* ---- one after the other ---- */

static bool is_spent(const struct search *s)
{
    return s->work > FREE_WORK && budget_spent(s->problem->in->budget);
}

size_t movers_best(const struct mover *movers, size_t count)
{
    size_t best = WORKFLOW_NONE;
    double most_s = 0;

    for (size_t k = 0; k < count; k++) {
        const struct mover *m = &movers[k];

        if (m->place == WORKFLOW_NONE)
            continue;
        if (best == WORKFLOW_NONE || m->here_s - m->there_s > most_s) {
            best = k;
            most_s = m->here_s - m->there_s;
        }
    }
    return best;
}

static void try_move(struct search *s, struct mover *m, double *end_s, bool *taken)
{
    size_t task = m->task, from = s->processor[task];
    double before_s = s->begun_s[task], leaves_s = s->leaves_s[from], with_s;

    s->processor[task] = m->place;
    s->begun_s[task] = m->there_s;
    s->leaves_s[from] = left_s(s, task);
    s->held_s[m->place] = m->there_s;
    with_s = makespan_s(s);
    *taken = with_s <= *end_s * MOVE_SAME;
    if (*taken) {
        *end_s = with_s;
        s->idle_until_s[m->place] = -1;
        return;
    }
    s->held_s[m->place] = 0;
    s->processor[task] = from;
    s->begun_s[task] = before_s;
    s->leaves_s[from] = leaves_s;
}

struct workflow_action mover_action(const struct workflow_problem *problem,
                                    const struct mover *m, size_t number)
{
    const struct resource *resources = problem->in->snapshot->resources;
    const struct workflow_task *t = problem->tasks[m->task];
    size_t from = problem->processors[problem->fixed_processor[m->task]].resource;

    return (struct workflow_action){
        .seq = number + 1,
        .group = number + 1,
        .action = WORKFLOW_MIGRATE,
        .workflow_id = problem->in->workflows[problem->workflow_of[m->task]].id,
        .task_id = t->id,
        .from_resource_id = resources[from].id,
        .to_resource_id = resources[problem->processors[m->place].resource].id,
        .remaining_before_s = m->here_s < HUGE_VAL ? m->here_s : (double)NAN,
        .remaining_after_s = m->there_s,
        .gain_s = m->here_s < HUGE_VAL ? m->here_s - m->there_s : (double)NAN,
        .transfer_s = m->transfer_s,
        .transfer_bytes = has_checkpoint(t) ? t->checkpoint_bytes : t->input_bytes,
        .reason =
            has_checkpoint(t)
                ? "it is done sooner where nothing is to run, and nothing ends later"
                : "begun anew it is done sooner where nothing is to run, and nothing "
                  "ends later",
        .task = m->task,
        .run_time_index = UINT64_MAX,
    };
}

void workflow_find_moves(const struct workflow_problem *problem,
                         const struct workflow_plan *plan,
                         const struct workflow_move_rules *rules,
                         const struct workflow_action **moves, size_t *count, bool *cut,
                         struct arena *a, struct error *err)
{
    struct search s = {
        .problem = problem, .plan = plan, .rules = rules, .a = a, .err = err};
    struct workflow_action *list;
    double end_s;
    size_t best;

    *moves = NULL;
    *count = 0;
    make_search(&s);
    for (size_t k = 0; k < s.mover_count && !*cut; k++) {
        *cut = is_spent(&s);
        find_place(&s, &s.movers[k]);
    }
    list = NEW(a, struct workflow_action, s.mover_count);
    *moves = list;
    end_s = movers_best(s.movers, s.mover_count) == WORKFLOW_NONE ? 0 : makespan_s(&s);
    while ((best = movers_best(s.movers, s.mover_count)) != WORKFLOW_NONE) {
        struct mover *m = &s.movers[best];
        bool taken = false;

        *cut = *cut || is_spent(&s);
        if (*cut)
            break;
        if (s.idle_until_s[m->place] >= 0) /* no other one took it */
            try_move(&s, m, &end_s, &taken);
        if (taken) {
            list[*count] = mover_action(problem, m, *count);
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
