/* workflow/list.c - what the list schedulers share: ranks, a queue, the best place. */
#include "algorithms/workflow/list.h"
#include "models/base/heap.h"

/* ---- ranks ---- */

static void rank_up(const struct workflow_problem *problem, double *up)
{
    for (size_t k = problem->task_count; k-- > 0;) {
        size_t i = problem->topological[k];
        double longest_s = 0;

        if (!workflow_is_open(problem, i))
            continue;
        for (size_t c = problem->child_first[i]; c < problem->child_first[i + 1]; c++) {
            const struct workflow_edge *edge = &problem->edges[problem->child_edge[c]];

            if (workflow_is_open(problem, edge->child))
                longest_s = fmax(longest_s, workflow_mean_transfer_s(problem, edge) +
                                                up[edge->child]);
        }
        up[i] = workflow_mean_time_s(problem, i) + longest_s;
    }
}

static void rank_down(const struct workflow_problem *problem, double *down)
{
    for (size_t k = 0; k < problem->task_count; k++) {
        size_t i = problem->topological[k];

        if (!workflow_is_open(problem, i))
            continue;
        for (size_t e = problem->parent_first[i]; e < problem->parent_first[i + 1]; e++) {
            const struct workflow_edge *edge = &problem->edges[e];
            size_t j = edge->parent;
            double before_s = workflow_is_open(problem, j)
                                  ? down[j] + workflow_mean_time_s(problem, j)
                                  : fmax(0, problem->fixed_finish_s[j]);

            if (before_s < HUGE_VAL)
                down[i] =
                    fmax(down[i], before_s + workflow_mean_transfer_s(problem, edge));
        }
    }
}

void workflow_ranks(const struct workflow_problem *problem, double **up, double **down,
                    struct arena *a)
{
    *up = NEW(a, double, problem->task_count);
    rank_up(problem, *up);
    if (!down)
        return;
    *down = NEW(a, double, problem->task_count);
    rank_down(problem, *down);
}

void workflow_defer(const struct workflow_problem *problem, double *priority)
{
    double least = HUGE_VAL, most = -HUGE_VAL;

    for (size_t i = 0; i < problem->task_count; i++) {
        if (!workflow_is_open(problem, i))
            continue;
        if (problem->tasks[i]->deferred)
            most = fmax(most, priority[i]);
        else
            least = fmin(least, priority[i]);
    }
    if (!(least < HUGE_VAL && most > -HUGE_VAL))
        return; /* all of them are, or none */
    for (size_t i = 0; i < problem->task_count; i++)
        if (workflow_is_open(problem, i) && problem->tasks[i]->deferred)
            priority[i] -= most - least + 1;
}

/* ---- queue ---- */

static bool before(const struct workflow_queue *q, const size_t *a, const size_t *b)
{
    if (q->priority[*a] != q->priority[*b])
        return q->priority[*a] > q->priority[*b];
    return *a < *b;
}

HEAP_IN(tasks, size_t, struct workflow_queue, before)

void workflow_queue_make(const struct workflow_problem *problem, const double *priority,
                         struct workflow_queue *queue, struct arena *a)
{
    struct workflow_queue q = {.problem = problem, .priority = priority};

    q.heap = NEW(a, size_t, problem->task_count + 1);
    q.waits_for = NEW(a, size_t, problem->task_count);
    for (size_t i = 0; i < problem->task_count; i++) {
        if (!workflow_is_open(problem, i))
            continue;
        for (size_t e = problem->parent_first[i]; e < problem->parent_first[i + 1]; e++)
            q.waits_for[i] += workflow_is_open(problem, problem->edges[e].parent);
        if (q.waits_for[i] == 0)
            tasks_push(&q, q.heap, &q.count, i);
    }
    *queue = q;
}

size_t workflow_queue_take(struct workflow_queue *queue)
{
    return queue->count ? tasks_pop(queue, queue->heap, &queue->count) : WORKFLOW_NONE;
}

void workflow_queue_release(struct workflow_queue *queue, size_t child)
{
    if (workflow_is_open(queue->problem, child) && --queue->waits_for[child] == 0)
        tasks_push(queue, queue->heap, &queue->count, child);
}

size_t workflow_queue_pop(struct workflow_queue *queue)
{
    const struct workflow_problem *problem = queue->problem;
    size_t task = workflow_queue_take(queue);

    if (task == WORKFLOW_NONE)
        return WORKFLOW_NONE;
    for (size_t c = problem->child_first[task]; c < problem->child_first[task + 1]; c++)
        workflow_queue_release(queue, problem->edges[problem->child_edge[c]].child);
    return task;
}

/* ---- placing ---- */

enum error_code workflow_place_best(const struct workflow_problem *problem,
                                    struct workflow_plan *plan, size_t task, size_t only,
                                    const double *extra_s, struct arena *a)
{
    size_t first = only == WORKFLOW_NONE ? 0 : only;
    size_t end = only == WORKFLOW_NONE ? problem->processor_count : only + 1;
    size_t best = WORKFLOW_NONE;
    double best_s = HUGE_VAL, best_start_s = 0;
    double units =
        1 + (double)(problem->parent_first[task + 1] - problem->parent_first[task]);

    for (size_t p = first; p < end; p++) {
        double time_s = workflow_time_s(problem, task, p);
        double ready_s, start_s, score_s;

        if (workflow_cut(plan, units))
            return OK;

        if (time_s == HUGE_VAL)
            continue;
        ready_s = workflow_plan_ready_s(problem, plan, task, p);
        score_s = ready_s + time_s + (extra_s ? extra_s[p] : 0);
        if (!(score_s < best_s))
            continue; /* not better even if the processor were idle */
        start_s = workflow_plan_gap_s(problem, plan, p, ready_s, time_s);
        score_s = start_s + time_s + (extra_s ? extra_s[p] : 0);
        if (score_s < best_s) {
            best = p;
            best_s = score_s;
            best_start_s = start_s;
        }
    }
    return best == WORKFLOW_NONE
               ? OK
               : workflow_plan_place(problem, plan, task, best, best_start_s, a);
}

bool workflow_cut(struct workflow_plan *plan, double units)
{
    if (!workflow_tick(&plan->clock, units))
        plan->status = DECISION_CUT;
    return plan->status == DECISION_CUT;
}

/* ---- in haste ---- */

enum {
    HASTY_PARENTS = 4,
    HASTY_OTHERS = 4,
    TURN_TRIES = 64, /* processors that cannot run a task, before it is left out */
    TURN_STEPS = 64  /* what a place in turn costs, about */
};

struct hasty {
    const struct workflow_problem *problem;
    struct workflow_plan *plan;
    struct workflow_clock *clock;
    size_t task, best;
    double best_s, start_s; /* finish and start on `best` */
    size_t turn;            /* where the next one looks first */
};

static bool look_at(struct hasty *h, size_t p)
{
    double time_s = workflow_time_s(h->problem, h->task, p), ready_s, start_s;

    if (time_s == HUGE_VAL)
        return false;
    ready_s = workflow_plan_ready_s(h->problem, h->plan, h->task, p);
    start_s = workflow_plan_gap_s(h->problem, h->plan, p, ready_s, time_s);
    if (start_s + time_s < h->best_s) {
        h->best = p;
        h->best_s = start_s + time_s;
        h->start_s = start_s;
    }
    return start_s < HUGE_VAL;
}

/* Processors of some parents, then in turn until some more can run it. */
static void look_for_place(struct hasty *h)
{
    const struct workflow_problem *problem = h->problem;
    size_t first = problem->parent_first[h->task];
    size_t parents = problem->parent_first[h->task + 1] - first, found = 0;

    h->best = WORKFLOW_NONE;
    h->best_s = HUGE_VAL;
    for (size_t k = 0; k < parents && k < HASTY_PARENTS; k++) {
        size_t p = h->plan->processor[problem->edges[first + k].parent];

        if (p < problem->processor_count)
            look_at(h, p);
    }
    for (size_t k = 0; k < problem->processor_count && found < HASTY_OTHERS; k++) {
        if (!workflow_tick(h->clock, 1 + (double)parents))
            return;
        found += look_at(h, h->turn);
        h->turn = h->turn + 1 < problem->processor_count ? h->turn + 1 : 0;
    }
}

/* Without looking for more than one that can: the next processor, behind all it has. A
 * task with a table looks at all of its own table at most. */
static enum error_code place_in_turn(struct hasty *h, struct arena *a)
{
    const struct workflow_problem *problem = h->problem;
    size_t tries = problem->processor_count;

    if (tries > TURN_TRIES && !problem->tasks[h->task]->etc_count)
        tries = TURN_TRIES;
    for (size_t k = 0; k < tries; k++) {
        size_t p = h->turn;
        double start_s;

        h->turn = p + 1 < problem->processor_count ? p + 1 : 0;
        if (workflow_time_s(problem, h->task, p) == HUGE_VAL)
            continue;
        start_s = workflow_plan_behind_s(
            h->plan, p, workflow_plan_ready_s(problem, h->plan, h->task, p));
        if (start_s == HUGE_VAL)
            continue;
        h->plan->in_turn_count++;
        return workflow_plan_place(problem, h->plan, h->task, p, start_s, a);
    }
    return OK;
}

enum error_code workflow_place_rest(const struct workflow_problem *problem,
                                    struct workflow_plan *plan, struct arena *a)
{
    struct workflow_clock clock = workflow_clock_make(problem->in->budget, 1);
    struct budget *finish = budget_finish(problem->in->budget);
    struct hasty h = {.problem = problem, .plan = plan, .clock = &clock};

    for (size_t k = 0; plan->status == DECISION_CUT && k < problem->task_count; k++) {
        h.task = problem->topological[k];
        if (!workflow_is_open(problem, h.task) ||
            plan->processor[h.task] != WORKFLOW_NONE)
            continue;
        if (!clock.spent)
            look_for_place(&h);
        if (clock.spent) {
            if (budget_step(finish, TURN_STEPS))
                break;
            TRY(place_in_turn(&h, a));
        } else if (h.best != WORKFLOW_NONE) {
            TRY(workflow_plan_place(problem, plan, h.task, h.best, h.start_s, a));
        }
    }
    return OK;
}
