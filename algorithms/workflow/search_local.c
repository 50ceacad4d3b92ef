/* workflow/search_local.c - better schedules by changing one task at a time.
 *
 * A step takes a task, half of the time one of those that the makespan hangs on, gives
 * it a processor and a place in the order between its parents and its children, and works
 * out the times of everything from there on. Late acceptance (Burke, Bykov 2017): the
 * result is kept if it is no worse than now, or than some hundred steps ago; it is given
 * up as soon as a task ends so late that what must follow it makes it worse. When nothing
 * better has come for long, the search goes on from the best with some random steps.
 *
 * Random numbers: stream "workflow.search". Cost of a step: O(open tasks + edges).
 */
#include "algorithms/workflow/search_parts.h"

#include "models/base/rng.h"

#include <string.h>

enum { MEMORY_LEAST = 20, MEMORY_MOST = 500, KICK_MOST = 8 };

struct local {
    struct workflow_searching *s;
    const struct workflow_problem *problem;
    size_t n;                   /* open tasks that can run */
    struct workflow_order now;  /* the schedule that is changed */
    size_t *place;              /* [task]: where it is in now.task */
    double *start_s, *finish_s; /* [task] of now, and of what is tried */
    double *tried_start_s, *tried_finish_s;
    size_t *before, *tried_before; /* [task]: the one before it on its processor */
    size_t *last;                  /* [processor]: work space */
    double *least_tail_s;          /* [task] */
    double *free_s;                /* [processor] */
    size_t *usable;                /* processors */
    size_t usable_count;
    size_t *critical; /* tasks that the makespan of `now` hangs on */
    size_t critical_count;
    double *memory_s;
    size_t memory_count;
    struct rng rng;
};

/* ---- times ---- */

static double start_of(const struct workflow_problem *problem, size_t task, size_t p,
                       const size_t *processor, const double *finish_s, double free_s)
{
    double ready_s = workflow_ready_s(problem, task, p);

    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
         e++) {
        const struct workflow_edge *edge = &problem->edges[e];

        ready_s = fmax(
            ready_s, fmax(0, finish_s[edge->parent]) +
                         workflow_transfer_s(problem, edge, processor[edge->parent], p));
    }
    return workflow_start_s(problem, p, ready_s, free_s,
                            workflow_time_s(problem, task, p));
}

/* Times of what is tried, from place `first` on: before it all is as it was. The
 * makespan, or HUGE_VAL as soon as it must be above most_s. */
static double try_times(struct local *l, size_t first, double most_s)
{
    const struct workflow_problem *problem = l->problem;
    double last_s = l->s->begun_s;

    memset(l->free_s, 0, problem->processor_count * sizeof(*l->free_s));
    for (size_t p = 0; p < problem->processor_count; p++)
        l->last[p] = WORKFLOW_NONE;
    for (size_t k = 0; k < first; k++) {
        size_t task = l->now.task[k];

        l->tried_before[task] = l->before[task];
        l->tried_start_s[task] = l->start_s[task];
        l->tried_finish_s[task] = l->finish_s[task];
        if (workflow_time_s(problem, task, l->now.processor[task]) > 0) {
            l->last[l->now.processor[task]] = task;
            l->free_s[l->now.processor[task]] = l->finish_s[task];
        }
        last_s = fmax(last_s, l->finish_s[task]);
    }
    for (size_t k = first; k < l->n; k++) {
        size_t task = l->now.task[k], p = l->now.processor[task];
        double start_s =
            start_of(problem, task, p, l->now.processor, l->tried_finish_s, l->free_s[p]);
        double finish_s = start_s + workflow_time_s(problem, task, p);

        if (!(finish_s + l->least_tail_s[task] <= most_s))
            return HUGE_VAL;
        l->tried_start_s[task] = start_s;
        l->tried_finish_s[task] = finish_s;
        l->tried_before[task] = WORKFLOW_NONE;
        if (workflow_time_s(problem, task, p) > 0) {
            l->tried_before[task] = l->last[p];
            l->last[p] = task;
            l->free_s[p] = finish_s;
        }
        last_s = fmax(last_s, finish_s);
    }
    return last_s;
}

/* ---- what the makespan hangs on ---- */

/* What ended just when the task began: a task before it on its processor, or a parent. */
static size_t cause_of(const struct local *l, size_t task)
{
    const struct workflow_problem *problem = l->problem;
    size_t p = l->now.processor[task];
    double start_s = l->start_s[task], slack_s = 1e-9 * fmax(1, start_s);

    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
         e++) {
        const struct workflow_edge *edge = &problem->edges[e];
        size_t from = l->now.processor[edge->parent];

        if (workflow_is_open(problem, edge->parent) &&
            l->finish_s[edge->parent] + workflow_transfer_s(problem, edge, from, p) >=
                start_s - slack_s)
            return edge->parent;
    }
    if (l->before[task] != WORKFLOW_NONE &&
        l->finish_s[l->before[task]] >= start_s - slack_s)
        return l->before[task];
    return WORKFLOW_NONE;
}

static void find_critical(struct local *l)
{
    size_t task = WORKFLOW_NONE;
    double last_s = -1;

    for (size_t k = 0; k < l->n; k++)
        if (l->finish_s[l->now.task[k]] > last_s) {
            task = l->now.task[k];
            last_s = l->finish_s[task];
        }
    l->critical_count = 0;
    while (task != WORKFLOW_NONE && l->critical_count < l->n) {
        l->critical[l->critical_count++] = task;
        task = cause_of(l, task);
    }
}

/* ---- steps ---- */

static void shift(struct local *l, size_t from, size_t to)
{
    size_t task = l->now.task[from];

    for (; from < to; from++) {
        l->now.task[from] = l->now.task[from + 1];
        l->place[l->now.task[from]] = from;
    }
    for (; from > to; from--) {
        l->now.task[from] = l->now.task[from - 1];
        l->place[l->now.task[from]] = from;
    }
    l->now.task[to] = task;
    l->place[task] = to;
}

/* Places [*low, *high] that a task can have without passing a parent or a child. */
static void room_of(const struct local *l, size_t task, size_t *low, size_t *high)
{
    const struct workflow_problem *problem = l->problem;

    *low = 0;
    *high = l->n - 1;
    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
         e++) {
        size_t parent = problem->edges[e].parent;

        if (workflow_is_open(problem, parent) && l->place[parent] + 1 > *low)
            *low = l->place[parent] + 1;
    }
    for (size_t c = problem->child_first[task]; c < problem->child_first[task + 1]; c++) {
        size_t child = problem->edges[problem->child_edge[c]].child;

        if (l->place[child] != WORKFLOW_NONE && l->place[child] <= *high)
            *high = l->place[child] - 1;
    }
}

struct change {
    size_t task, from, to, old_processor;
};

static struct change random_change(struct local *l)
{
    bool critical = l->critical_count && rng_uniform(&l->rng) < 0.5;
    size_t task = critical ? l->critical[rng_index(&l->rng, l->critical_count)]
                           : l->now.task[rng_index(&l->rng, l->n)];
    struct change c = {task, l->place[task], 0, l->now.processor[task]};
    size_t low, high;

    room_of(l, task, &low, &high);
    c.to = low + rng_index(&l->rng, high - low + 1);
    if (c.to == c.from || rng_uniform(&l->rng) < 0.6)
        l->now.processor[task] = l->usable[rng_index(&l->rng, l->usable_count)];
    shift(l, c.from, c.to);
    return c;
}

static void take_back(struct local *l, const struct change *c)
{
    shift(l, c->to, c->from);
    l->now.processor[c->task] = c->old_processor;
}

static void accept(struct local *l, double makespan_s)
{
    double *start_s = l->start_s, *finish_s = l->finish_s;
    size_t *before = l->before;

    l->now.makespan_s = makespan_s;
    l->start_s = l->tried_start_s;
    l->finish_s = l->tried_finish_s;
    l->tried_start_s = start_s;
    l->tried_finish_s = finish_s;
    l->before = l->tried_before;
    l->tried_before = before;
    find_critical(l);
}

static void keep_best(struct local *l)
{
    struct workflow_order *best = &l->s->best;

    if (!(l->now.makespan_s < best->makespan_s))
        return;
    memcpy(best->task, l->now.task, l->n * sizeof(*best->task));
    memcpy(best->processor, l->now.processor,
           l->problem->task_count * sizeof(*best->processor));
    best->makespan_s = l->now.makespan_s;
}

static void from_best(struct local *l)
{
    const struct workflow_order *best = &l->s->best;

    memcpy(l->now.task, best->task, l->n * sizeof(*best->task));
    memcpy(l->now.processor, best->processor,
           l->problem->task_count * sizeof(*best->processor));
    for (size_t k = 0; k < l->n; k++)
        l->place[l->now.task[k]] = k;
    accept(l, try_times(l, 0, HUGE_VAL));
    for (size_t k = 0; k < l->memory_count; k++)
        l->memory_s[k] = l->now.makespan_s;
}

/* One step; whether it was better than the best. */
static bool step(struct local *l, size_t number, double most_s)
{
    double *old_s = &l->memory_s[number % l->memory_count];
    double limit_s = fmax(fmax(*old_s, l->now.makespan_s), most_s);
    double best_s = l->s->best.makespan_s, makespan_s;
    struct change c = random_change(l);

    makespan_s = try_times(l, c.from < c.to ? c.from : c.to, limit_s);
    if (makespan_s <= limit_s)
        accept(l, makespan_s);
    else
        take_back(l, &c);
    if (l->now.makespan_s < *old_s)
        *old_s = l->now.makespan_s;
    keep_best(l);
    return l->s->best.makespan_s < best_s;
}

static void kick(struct local *l)
{
    size_t steps = 1 + rng_index(&l->rng, KICK_MOST);

    from_best(l);
    for (size_t k = 0; k < steps && workflow_search_step(l->s, (double)l->n); k++)
        step(l, k, 1.5 * l->now.makespan_s);
    for (size_t k = 0; k < l->memory_count; k++)
        l->memory_s[k] = l->now.makespan_s;
}

/* ---- */

static enum error_code make_local(struct local *l, struct error *err)
{
    const struct workflow_problem *problem = l->problem;
    struct arena *a = l->s->arena;
    size_t n = problem->task_count, processors = problem->processor_count;

    l->now.task = NEW(a, size_t, problem->open_count);
    l->now.processor = NEW(a, size_t, n);
    l->place = NEW(a, size_t, n);
    l->start_s = NEW(a, double, n);
    l->finish_s = NEW(a, double, n);
    l->tried_start_s = NEW(a, double, n);
    l->tried_finish_s = NEW(a, double, n);
    l->least_tail_s = NEW(a, double, n);
    l->critical = NEW(a, size_t, n);
    l->before = NEW(a, size_t, n);
    l->tried_before = NEW(a, size_t, n);
    l->last = NEW(a, size_t, processors);
    l->free_s = NEW(a, double, processors);
    l->usable = NEW(a, size_t, processors);
    l->memory_s = NEW(a, double, MEMORY_MOST);
    if (!l->now.task || !l->now.processor || !l->place || !l->start_s || !l->finish_s ||
        !l->tried_start_s || !l->tried_finish_s || !l->least_tail_s || !l->critical ||
        !l->before || !l->tried_before || !l->last || !l->free_s || !l->usable ||
        !l->memory_s)
        return fail_memory(err);
    return OK;
}

static void fill_local(struct local *l)
{
    const struct workflow_problem *problem = l->problem;
    const double *tail_s = l->s->heads.tail_s;
    size_t processors = problem->processor_count;

    while (l->n < problem->open_count && l->s->best.task[l->n] != WORKFLOW_NONE)
        l->n++;
    for (size_t i = 0; i < problem->task_count; i++) {
        l->place[i] = WORKFLOW_NONE;
        if (!workflow_is_open(problem, i))
            l->finish_s[i] = l->tried_finish_s[i] = problem->fixed_finish_s[i];
        if (!tail_s || processors == 0)
            continue;
        l->least_tail_s[i] = HUGE_VAL;
        for (size_t p = 0; p < processors; p++)
            l->least_tail_s[i] = fmin(l->least_tail_s[i], tail_s[i * processors + p]);
        l->least_tail_s[i] *= 1 - 1e-12; /* sums are rounded */
    }
    for (size_t p = 0; p < processors; p++)
        if (problem->processors[p].usable)
            l->usable[l->usable_count++] = p;
    l->memory_count = (size_t)fmin(MEMORY_MOST, fmax(MEMORY_LEAST, 5 * (double)l->n));
}

enum error_code workflow_search_local(struct workflow_searching *s, double steps,
                                      struct error *err)
{
    struct local l = {.s = s, .problem = s->problem};
    double last = s->steps + steps;
    size_t number = 0, idle = 0, patience;

    TRY(make_local(&l, err));
    fill_local(&l);
    if (l.n < 2 || l.usable_count == 0)
        return OK;
    l.rng = rng_stream(s->problem->in->seed + (uint64_t)s->steps, "workflow.search");
    patience = 40 * l.memory_count;
    from_best(&l);
    while (s->steps < last && !workflow_search_done(s) &&
           workflow_search_step(s, (double)l.n)) {
        idle = step(&l, number++, 0) ? 0 : idle + 1;
        if (idle < patience)
            continue;
        kick(&l);
        idle = 0;
    }
    return OK;
}
