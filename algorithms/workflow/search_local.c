/* workflow/search_local.c - better schedules by moving one task at a time.
 *
 * A step takes up to TRIED tasks of the critical path (those that the makespan hangs on)
 * that have not been moved of late. For each, every processor p and every place between
 * neighbours u and v there, the longest way through the task is estimated from the times
 * of the present schedule, with the task still in its old place:
 *
 *     h   = max( max over parents a: finish(a) + transfer(a, p),  finish(u) )
 *     e   = max( max over children c: transfer(p, c) + rest(c),   rest(v) )
 *     est = h + time(task, p) + e
 *
 * Where data takes long to move, the task together with what hangs on it, too
 * (search_groups.h). The move of the least estimate is made, better or not, and what it
 * moves stays for a while.
 * When nothing better has come for long, the search goes on from the best, with some
 * random changes. Where edges are heavy (search_groups.h) and tasks at most REBUILT_MOST
 * such small changes lead back: there a part of the schedule is placed anew
 * (search_anew.h), sooner, and of the best of the last trip, if that is at most SLACK
 * worse than what the trip began with.
 * Where a task takes no time it has one place, without neighbours.
 *
 * Source: spec search.md 5.2, 5.3; the neighbourhood and its estimate are those of tabu
 * search for the job shop (Taillard 1994). Random numbers: stream "workflow.search".
 * Cost of a step: O(TRIED * (processors * (parents + children) + places) + what changes).
 *
 * Above PLAIN_PROCESSORS processors, of equal ones (symmetry.h) only those of the task,
 * its parents and children, and the two whose last task ends first are tried.
 */
#include "algorithms/workflow/search_anew.h"
#include "algorithms/workflow/search_groups.h"
#include "algorithms/workflow/symmetry.h"

#include "models/base/rng.h"

#include <string.h>

enum {
    TRIED = 12,
    STAY_LEAST = 5,
    STAY_MORE = 10,
    PATIENCE_LEAST = 100,
    PATIENCE_MORE = 10,   /* for each task, */
    PATIENCE_MOST = 2000, /* and the number of tasks */
    PATIENCE_REBUILT = 40,
    KICK_LEAST = 3,
    KICK_MOST = 10,
    REBUILT_MOST = 300,
    PLAIN_PROCESSORS = 32
};

#define SLACK 0.005

struct local {
    struct workflow_searching *s;
    struct workflow_state now;
    size_t *path; /* the critical path, then those of it that are tried */
    size_t path_count;
    double *stays_until;                 /* [task]: step */
    double step, improved_at;            /* of this part of the search */
    size_t *candidates, candidate_count; /* processors */
    const size_t *same_as;               /* [processor]; NULL: all are tried */
    size_t *first_free, *second_free;    /* [processor]: of its class */
    double *seen_for; /* [processor]: number of the last list it was put into */
    double lists;
    double *ready_s, *follows_s; /* of a task, [candidate] */
    double *has_parent,
        *has_child; /* [resource]: as seen_for, for the task that is weighed */
    double weighings;
    struct workflow_groups groups;
    bool rebuilds;
    struct workflow_anew anew;
    struct workflow_order base, trip; /* what the trip began with, its best */
    struct rng rng;
};

/* ---- processors to try ---- */

static bool is_usable(const struct local *l, size_t p)
{
    return l->now.problem->processors[p].usable;
}

static double free_from_s(const struct local *l, size_t p)
{
    const struct workflow_lane *lane = &l->now.lanes[p];

    return lane->count ? l->now.finish_s[lane->task[lane->count - 1]] : 0;
}

/* The two of each class whose last task ends first; for all tasks of a step. */
static void note_free(struct local *l)
{
    size_t processors = l->now.problem->processor_count;

    if (!l->same_as)
        return;
    for (size_t p = 0; p < processors; p++)
        l->first_free[p] = l->second_free[p] = WORKFLOW_NONE;
    for (size_t p = 0; p < processors; p++) {
        size_t *first = &l->first_free[l->same_as[p]];
        size_t *second = &l->second_free[l->same_as[p]];

        if (!is_usable(l, p))
            continue;
        if (*first == WORKFLOW_NONE || free_from_s(l, p) < free_from_s(l, *first)) {
            *second = *first;
            *first = p;
        } else if (*second == WORKFLOW_NONE ||
                   free_from_s(l, p) < free_from_s(l, *second)) {
            *second = p;
        }
    }
    l->now.units += (double)processors;
}

static void add_candidate(struct local *l, size_t p)
{
    if (p >= l->now.problem->processor_count || !is_usable(l, p) ||
        l->seen_for[p] == l->lists)
        return;
    l->seen_for[p] = l->lists;
    l->candidates[l->candidate_count++] = p;
}

static void list_candidates(struct local *l, size_t task)
{
    const struct workflow_problem *problem = l->now.problem;

    if (!l->same_as)
        return; /* all usable ones, once and for all */
    l->lists++;
    l->candidate_count = 0;
    add_candidate(l, l->now.at[task]);
    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1]; e++)
        add_candidate(l, l->now.at[problem->edges[e].parent]);
    for (size_t c = problem->child_first[task]; c < problem->child_first[task + 1]; c++) {
        size_t child = problem->edges[problem->child_edge[c]].child;

        if (l->now.place[child] != WORKFLOW_NONE)
            add_candidate(l, l->now.at[child]);
    }
    for (size_t p = 0; p < problem->processor_count; p++) {
        if (l->same_as[p] != p)
            continue;
        add_candidate(l, l->first_free[p]);
        add_candidate(l, l->second_free[p]);
    }
    l->now.units += (double)problem->processor_count;
}

/* ---- the best move ---- */

struct move {
    size_t task;
    struct workflow_spot to;
    double est_s;
    const struct workflow_group_move *group; /* NULL: it goes alone */
};

/* The task's ready_s and follows_s on each candidate. They are the same on all resources
 * on which it has no parent, or no child, unless the times follow from links. */
static void note_arcs(struct local *l, size_t task)
{
    const struct workflow_state *now = &l->now;
    const struct workflow_problem *problem = now->problem;
    double ready_s = problem->release_s[task], follows_s = 0;
    bool up_links = now->staged[task], down_links = false;

    l->weighings++;
    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
         e++) {
        const struct workflow_arc *arc = &now->up[e];
        size_t p = now->at[arc->task];

        up_links = up_links || isnan(arc->transfer_s) || p >= problem->processor_count;
        if (up_links)
            break;
        l->has_parent[now->resource_of[p]] = l->weighings;
        ready_s = fmax(ready_s, now->finish_s[arc->task] + arc->transfer_s);
    }
    for (size_t c = problem->child_first[task]; c < problem->child_first[task + 1]; c++) {
        const struct workflow_arc *arc = &now->down[c];

        if (now->place[arc->task] == WORKFLOW_NONE)
            continue; /* does not wait for it */
        down_links = down_links || isnan(arc->transfer_s);
        if (down_links)
            break;
        l->has_child[now->resource_of[now->at[arc->task]]] = l->weighings;
        follows_s = fmax(follows_s, now->rest_s[arc->task] + arc->transfer_s);
    }
    for (size_t k = 0; k < l->candidate_count; k++) {
        size_t p = l->candidates[k], resource = now->resource_of[p];

        l->ready_s[k] = up_links || l->has_parent[resource] == l->weighings
                            ? workflow_state_ready_s(now, task, p)
                            : ready_s;
        l->follows_s[k] = down_links || l->has_child[resource] == l->weighings
                              ? workflow_state_follows_s(now, task, p)
                              : follows_s;
    }
}

/* The longest way through the task between two neighbours, but for its run time. */
static double way_between_s(const struct local *l, size_t k, double time_s, size_t before,
                            size_t behind)
{
    const struct workflow_state *now = &l->now;
    const struct workflow_processor *processor =
        &now->problem->processors[l->candidates[k]];
    double start_s = l->ready_s[k], rest_s = l->follows_s[k];

    if (before != WORKFLOW_NONE && now->finish_s[before] > start_s)
        start_s = now->finish_s[before];
    if (behind != WORKFLOW_NONE && now->rest_s[behind] > rest_s)
        rest_s = now->rest_s[behind];
    if (processor->blocked_count && start_s < HUGE_VAL)
        start_s = workflow_past_blocked_s(processor, start_s, time_s);
    return start_s + rest_s;
}

/* All places of the task on a candidate but its present one. The later a place is, the
 * later ends who stands before it: from where the way through that one is no shorter than
 * the best estimate, none is. */
static void weigh_places(struct local *l, struct move *best, size_t task, size_t k,
                         size_t low, size_t high)
{
    const struct workflow_state *now = &l->now;
    size_t p = l->candidates[k];
    const struct workflow_lane *lane = &now->lanes[p];
    double time_s = workflow_state_time_s(now, task, p);

    for (size_t spot = workflow_state_find(now, p, low); spot <= lane->count; spot++) {
        size_t before = spot ? lane->task[spot - 1] : WORKFLOW_NONE;
        size_t behind = spot < lane->count ? lane->task[spot] : WORKFLOW_NONE;
        double est_s;

        if (before != WORKFLOW_NONE && now->place[before] >= high)
            break;
        if (before != WORKFLOW_NONE &&
            now->finish_s[before] + l->follows_s[k] + time_s >= best->est_s)
            break;
        if (before == task || behind == task)
            continue; /* where it is */
        est_s = way_between_s(l, k, time_s, before, behind) + time_s;
        l->s->weighed++;
        l->now.units++;
        if (est_s < best->est_s)
            *best = (struct move){task, {p, spot}, est_s, NULL};
    }
}

/* The only place of a task that takes no time there. */
static void weigh_instant(struct local *l, struct move *best, size_t task, size_t k)
{
    size_t p = l->candidates[k];
    double est_s =
        workflow_start_s(l->now.problem, p, l->ready_s[k], 0, 0) + l->follows_s[k];

    l->s->weighed++;
    if (est_s < best->est_s)
        *best = (struct move){task, {p, 0}, est_s, NULL};
}

static void weigh_task(struct local *l, struct move *best, size_t task)
{
    const struct workflow_problem *problem = l->now.problem;
    double degree =
        (double)(problem->parent_first[task + 1] - problem->parent_first[task]) +
        (double)(problem->child_first[task + 1] - problem->child_first[task]);
    size_t low, high;

    workflow_state_room(&l->now, task, &low, &high);
    list_candidates(l, task);
    note_arcs(l, task);
    l->now.units += degree + 2 * (double)l->candidate_count;
    for (size_t k = 0; k < l->candidate_count; k++) {
        size_t p = l->candidates[k];
        double time_s = workflow_state_time_s(&l->now, task, p);

        if (time_s == 0 && p != l->now.at[task])
            weigh_instant(l, best, task, k);
        else if (time_s > 0 && l->ready_s[k] + l->follows_s[k] + time_s < best->est_s)
            weigh_places(l, best, task, k, low, high);
        else
            l->s->weighed++; /* no place there is better */
    }
}

/* Moves what may be tried to the front of the path: at most TRIED, drawn. */
static size_t draw_tasks(struct local *l)
{
    size_t count = 0, drawn;

    for (size_t k = 0; k < l->path_count; k++)
        if (l->stays_until[l->path[k]] <= l->step)
            l->path[count++] = l->path[k];
    drawn = count < TRIED ? count : TRIED;
    for (size_t k = 0; k < drawn && count > TRIED; k++) {
        size_t other = k + rng_index(&l->rng, count - k), task = l->path[k];

        l->path[k] = l->path[other];
        l->path[other] = task;
    }
    return drawn;
}

/* The same with what hangs on the task; `group` is the best of its kind so far. */
static void weigh_groups(struct local *l, struct move *best,
                         struct workflow_group_move *group, size_t task)
{
    static const enum workflow_direction ways[] = {WORKFLOW_CHILDREN, WORKFLOW_PARENTS};

    group->est_s = best->est_s;
    for (size_t k = 0; k < 2; k++)
        l->s->weighed += (double)workflow_groups_weigh(&l->groups, task, ways[k],
                                                       &l->now.units, group);
    if (group->est_s < best->est_s)
        *best = (struct move){task, group->to, group->est_s, group};
}

static bool find_move(struct local *l, struct move *best,
                      struct workflow_group_move *group)
{
    size_t count;

    *best = (struct move){.task = WORKFLOW_NONE, .est_s = HUGE_VAL};
    l->path_count = workflow_state_critical(&l->now, &l->rng, l->path);
    l->now.units += (double)l->path_count;
    count = draw_tasks(l);
    note_free(l);
    for (size_t k = 0; k < count; k++) {
        weigh_task(l, best, l->path[k]);
        weigh_groups(l, best, group, l->path[k]);
    }
    return best->task != WORKFLOW_NONE;
}

/* Any task to any place that it may have; false: nowhere else. */
static bool random_move(struct local *l, struct move *move)
{
    size_t task = l->now.order[rng_index(&l->rng, l->now.n)];
    size_t p, low, high, first, end;

    list_candidates(l, task);
    if (l->candidate_count == 0)
        return false;
    p = l->candidates[rng_index(&l->rng, l->candidate_count)];
    workflow_state_room(&l->now, task, &low, &high);
    first = workflow_state_find(&l->now, p, low);
    end = workflow_state_find(&l->now, p, high);
    *move = (struct move){.task = task,
                          .to = {p, first + rng_index(&l->rng, end - first + 1)}};
    return workflow_state_time_s(&l->now, task, p) < HUGE_VAL &&
           workflow_state_ready_s(&l->now, task, p) < HUGE_VAL;
}

/* ---- steps ---- */

static void copy_now(struct local *l, struct workflow_order *to)
{
    size_t tasks = l->now.problem->task_count;

    memcpy(to->task, l->now.order, l->now.n * sizeof(*to->task));
    memcpy(to->processor, l->now.at, tasks * sizeof(*to->processor));
    to->makespan_s = l->now.makespan_s;
    l->now.units += (double)tasks / 4;
}

static void keep_best(struct local *l)
{
    double less = 1 - 1e-12;

    if (l->rebuilds && l->now.makespan_s < l->trip.makespan_s * less) {
        copy_now(l, &l->trip);
        l->improved_at = l->step;
    }
    if (!(l->now.makespan_s < l->s->best.makespan_s * less))
        return;
    copy_now(l, &l->s->best);
    l->improved_at = l->step;
    workflow_search_improved(l->s);
}

static void make_move(struct local *l, const struct move *move)
{
    size_t count = move->group ? move->group->group.count : 1;
    size_t stay = STAY_LEAST + l->path_count / 4;

    if (move->group)
        workflow_group_put(&l->now, move->group);
    else
        workflow_state_put(&l->now, move->task, move->to, 0);
    workflow_state_work_out(&l->now);
    l->step++;
    stay += rng_index(&l->rng, STAY_MORE);
    for (size_t k = 0; k < count; k++)
        l->stays_until[move->group ? move->group->group.task[k] : move->task] =
            l->step + (double)stay;
    keep_best(l);
}

static bool next_step(struct local *l)
{
    double units = l->now.units;

    l->now.units = 0;
    return workflow_search_step(l->s, units);
}

/* From the best again, with some random changes. */
static void kick(struct local *l, double last)
{
    size_t moves = KICK_LEAST + rng_index(&l->rng, KICK_MOST - KICK_LEAST + 1);
    struct move move;

    workflow_state_load(&l->now, &l->s->best);
    l->improved_at = l->step;
    note_free(l);
    for (size_t k = 0; k < moves && l->s->steps < last; k++)
        if (random_move(l, &move) && next_step(l))
            make_move(l, &move);
}

/* workflow_choices_fn. */
static const size_t *choices_of(void *context, size_t task, size_t *count)
{
    struct local *l = context;

    list_candidates(l, task);
    *count = l->candidate_count;
    return l->candidates;
}

/* A part of it anew; from where, the last trip says. */
static void rebuild(struct local *l, double last)
{
    if (l->trip.makespan_s < HUGE_VAL &&
        l->trip.makespan_s <= l->base.makespan_s * (1 + SLACK)) {
        struct workflow_order base = l->trip;

        l->trip = l->base;
        l->base = base;
    }
    workflow_state_load(&l->now, &l->base);
    l->trip.makespan_s = HUGE_VAL;
    l->improved_at = l->step;
    if (l->s->steps >= last || !next_step(l))
        return;
    note_free(l);
    workflow_anew_place(&l->anew, &l->rng, choices_of, l);
    keep_best(l);
}

static void restart(struct local *l, double last)
{
    if (l->rebuilds)
        rebuild(l, last);
    else
        kick(l, last);
}

/* ---- start ---- */

static void make_local(struct local *l)
{
    const struct workflow_problem *problem = l->s->problem;
    size_t n = problem->task_count, processors = problem->processor_count, *same_as;
    struct arena *a = l->s->arena;

    workflow_state_make(&l->now, l->s);
    if (l->s->spent)
        return;
    workflow_groups_make(&l->groups, &l->now, a);
    l->rebuilds = l->groups.any && l->now.n <= REBUILT_MOST;
    workflow_anew_make(&l->anew, &l->now, a);
    workflow_order_make(problem, &l->base, a);
    workflow_order_make(problem, &l->trip, a);
    l->path = NEW(a, size_t, n);
    l->stays_until = NEW(a, double, n);
    l->candidates = NEW(a, size_t, processors);
    l->seen_for = NEW(a, double, processors);
    l->first_free = NEW(a, size_t, processors);
    l->second_free = NEW(a, size_t, processors);
    l->ready_s = NEW(a, double, processors);
    l->follows_s = NEW(a, double, processors);
    l->has_parent = NEW(a, double, problem->in->snapshot->resource_count);
    l->has_child = NEW(a, double, problem->in->snapshot->resource_count);
    l->lists = 1;
    for (size_t p = 0; p < processors; p++)
        add_candidate(l, p);
    if (l->candidate_count <= PLAIN_PROCESSORS)
        return;
    workflow_equal_processors(problem, &l->s->clock, &same_as, a);
    l->same_as = same_as;
}

void workflow_search_local(struct workflow_searching *s, double steps)
{
    struct local l = {.s = s};
    double last = s->steps + steps, patience;
    struct workflow_group_move group;
    struct move move;

    make_local(&l);
    if (s->spent || l.now.n == 0 || l.candidate_count == 0)
        return;
    patience = fmin(PATIENCE_MOST + (double)l.now.n,
                    PATIENCE_LEAST + PATIENCE_MORE * (double)l.now.n);
    if (l.rebuilds)
        patience = PATIENCE_REBUILT;
    l.rng = rng_stream(s->problem->in->seed + (uint64_t)s->steps, "workflow.search");
    workflow_state_load(&l.now, &s->best);
    copy_now(&l, &l.base);
    l.base.makespan_s = s->best.makespan_s;
    while (s->steps < last && !workflow_search_done(s) && next_step(&l)) {
        if (find_move(&l, &move, &group) || random_move(&l, &move))
            make_move(&l, &move);
        else
            l.step++;
        if (!(l.now.makespan_s < HUGE_VAL) || l.step - l.improved_at > patience)
            restart(&l, last);
    }
}
