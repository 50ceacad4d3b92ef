/* session/state.c - what the folded events of a run mean for its tasks. */
#include "models/session/state.h"

const char *const session_task_status_names[] = {"idle",   "ready",     "running", "done",
                                                 "failed", "cancelled", "blocked", NULL};
const char *const session_status_names[] = {"running", "finished", "stuck", NULL};

/* ---- one task ---- */

/* By its own attempts alone: idle where others decide. */
static enum session_task_status status_of(const struct session_task *task,
                                          struct session_task_state *of)
{
    const struct session_attempt *done = NULL, *last = NULL;
    uint64_t failed_count = 0;

    for (const struct session_attempt *t = of->attempts; t; t = t->next) {
        if (t->status == SESSION_TRY_NONE)
            continue;
        of->attempt_count++;
        last = t;
        failed_count += t->status == SESSION_TRY_FAILED;
        if (!done && t->status == SESSION_TRY_ENDED)
            done = t;
    }
    of->next_attempt = last ? last->number + 1 : 1;
    of->shown = done ? done : last;
    if (task->removed)
        return SESSION_TASK_CANCELLED;
    if (done)
        return SESSION_TASK_DONE;
    if (!last)
        return SESSION_TASK_IDLE;
    switch (last->status) {
    case SESSION_TRY_RUNNING:
        return SESSION_TASK_RUNNING;
    case SESSION_TRY_CANCELLED:
        return SESSION_TASK_CANCELLED;
    case SESSION_TRY_FAILED:
        return last->terminal->final || failed_count >= task->attempts_max
                   ? SESSION_TASK_FAILED
                   : SESSION_TASK_IDLE;
    default:
        return SESSION_TASK_IDLE;
    }
}

enum session_task_status session_task_alone(const struct session_task *task,
                                            const struct session_attempt *attempts)
{
    return status_of(task, &(struct session_task_state){.attempts = attempts});
}

/* ---- the graph ---- */

struct graph {
    const struct session_task *tasks;
    size_t task_count;
    size_t *first, *child; /* children of i: child[first[i] ... first[i + 1]] */
    size_t *order;         /* parents first; those of a cycle are not in it */
    size_t order_count;
};

static void link_children(struct graph *g, struct arena *a)
{
    size_t edge_count = 0, *next = NEW(a, size_t, g->task_count + 1);

    g->first = NEW(a, size_t, g->task_count + 1);
    for (size_t i = 0; i < g->task_count; i++)
        for (size_t k = 0; k < g->tasks[i].parent_count; k++)
            if (g->tasks[i].parents[k] != SESSION_NO_TASK) {
                g->first[g->tasks[i].parents[k] + 1]++;
                edge_count++;
            }
    g->child = NEW(a, size_t, edge_count);
    for (size_t i = 0; i < g->task_count; i++) {
        g->first[i + 1] += g->first[i];
        next[i] = g->first[i];
    }
    for (size_t i = 0; i < g->task_count; i++)
        for (size_t k = 0; k < g->tasks[i].parent_count; k++)
            if (g->tasks[i].parents[k] != SESSION_NO_TASK)
                g->child[next[g->tasks[i].parents[k]]++] = i;
}

static void sort_graph(struct graph *g, struct arena *a)
{
    size_t *missing = NEW(a, size_t, g->task_count);

    link_children(g, a);
    g->order = NEW(a, size_t, g->task_count);
    for (size_t i = 0; i < g->task_count; i++) {
        for (size_t k = 0; k < g->tasks[i].parent_count; k++)
            missing[i] += g->tasks[i].parents[k] != SESSION_NO_TASK;
        if (missing[i] == 0)
            g->order[g->order_count++] = i;
    }
    for (size_t n = 0; n < g->order_count; n++)
        for (size_t k = g->first[g->order[n]]; k < g->first[g->order[n] + 1]; k++)
            if (--missing[g->child[k]] == 0)
                g->order[g->order_count++] = g->child[k];
}

/* What its parents are to a task, which come before it. */
struct heritage {
    bool stopped; /* an ancestor has failed or was cancelled */
    bool open;    /* a parent is not done */
    bool unknown; /* of itself or an ancestor that is not done */
};

static void settle_task(struct session_state *s, size_t i, struct heritage *of)
{
    const struct session_task *task = &s->tasks[i];
    struct session_task_state *state = &s->of[i];
    enum session_task_status own = state->status;

    for (size_t k = 0; k < task->parent_count; k++) {
        size_t p = task->parents[k];

        if (p == SESSION_NO_TASK) {
            s->unknown_count++;
            of[i].unknown = of[i].open = true;
            continue;
        }
        of[i].stopped |= of[p].stopped || s->of[p].status == SESSION_TASK_FAILED ||
                         s->of[p].status == SESSION_TASK_CANCELLED;
        of[i].open |= s->of[p].status != SESSION_TASK_DONE;
        of[i].unknown |= of[p].unknown && s->of[p].status != SESSION_TASK_DONE;
    }
    if (own != SESSION_TASK_IDLE)
        return;
    state->waits_for_unknown = of[i].unknown;
    if (of[i].stopped)
        state->status = SESSION_TASK_BLOCKED;
    else if (!of[i].open)
        state->status = SESSION_TASK_READY;
}

static void settle_tasks(struct session_state *s, struct arena *a)
{
    struct graph g = {.tasks = s->tasks, .task_count = s->task_count};
    struct heritage *of = NEW(a, struct heritage, s->task_count);

    sort_graph(&g, a);
    for (size_t n = 0; n < g.order_count; n++)
        settle_task(s, g.order[n], of);
    for (size_t i = 0; i < s->task_count; i++)
        s->counts[s->of[i].status]++;
    s->order = g.order;
    s->order_count = g.order_count;
}

/* ---- what should not be running ---- */

struct cancels {
    struct session_cancel *list;
    size_t count, room;
    struct arena *arena;
};

static void add_cancel(struct cancels *c, struct session_cancel row)
{
    if (c->count == c->room) {
        size_t room = c->room ? 2 * c->room : 8;

        c->list = arena_extend(c->arena, c->list, sizeof(*c->list), c->room, room);
        c->room = room;
    }
    c->list[c->count++] = row;
}

/* The register's place comes before the others, which are in the order of their names. */
static void add_attempt(struct cancels *c, size_t i, const struct session_task_state *of,
                        const struct session_attempt *t)
{
    bool unwanted = of->status == SESSION_TASK_DONE ||
                    of->status == SESSION_TASK_CANCELLED ||
                    t->number + 1 < of->next_attempt;
    bool holds = t->status == SESSION_TRY_RUNNING;

    if (unwanted && holds)
        for (size_t k = 0; k < session_place_count(t->started); k++)
            add_cancel(c, (struct session_cancel){i, t, session_place(t->started, k),
                                                  t->started, true});
    if (!t->terminal)
        for (size_t k = 0; k < t->elsewhere_count; k++)
            add_cancel(c, (struct session_cancel){i, t, t->elsewhere[k].resource_id,
                                                  t->elsewhere[k].started, holds});
}

void session_state_of(const struct session_task *tasks, size_t task_count,
                      const struct session_fold *fold, struct session_state *state,
                      struct budget *budget, struct arena *a)
{
    struct cancels cancels = {.arena = a};

    *state = (struct session_state){.tasks = tasks,
                                    .task_count = task_count,
                                    .of = NEW(a, struct session_task_state, task_count)};
    for (size_t i = 0; i < task_count; i++) {
        budget_step(budget, tasks[i].parent_count + 8);
        state->of[i].attempts = session_attempts(fold, tasks[i].id);
        state->of[i].status = status_of(&tasks[i], &state->of[i]);
    }
    settle_tasks(state, a);
    for (size_t i = 0; i < task_count; i++)
        for (const struct session_attempt *t = state->of[i].attempts; t; t = t->next)
            add_attempt(&cancels, i, &state->of[i], t);
    state->cancel = cancels.list;
    state->cancel_count = cancels.count;
}

enum session_status session_status_of(const struct session_state *state,
                                      size_t granted_count)
{
    const size_t *n = state->counts;

    if (state->task_count == 0)
        return SESSION_IS_RUNNING;
    if (n[SESSION_TASK_DONE] + n[SESSION_TASK_CANCELLED] == state->task_count)
        return SESSION_IS_FINISHED;
    return n[SESSION_TASK_RUNNING] + n[SESSION_TASK_READY] + granted_count == 0
               ? SESSION_IS_STUCK
               : SESSION_IS_RUNNING;
}

/* ---- what is left ---- */

static const double OVERDUE_RATIO = 0.25;

double session_remaining_s(double total_s, double elapsed_s)
{
    return fmax(total_s - elapsed_s, OVERDUE_RATIO * elapsed_s);
}

double session_total_s(double total_s, const struct session_attempt *attempt)
{
    const struct session_event *p = attempt->progress;
    double elapsed_s;

    if (!p || !attempt->started || !(p->progress_ratio > 0 && p->progress_ratio < 1))
        return total_s;
    elapsed_s = p->observed_at_s - attempt->started->observed_at_s;
    return elapsed_s > 0 ? elapsed_s / p->progress_ratio : total_s;
}
