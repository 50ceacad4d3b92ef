/* workflow/search_state.c - the present schedule of a search, and its times.
 *
 * What a move may change is marked by place; times go through the marks in the order,
 * rests backwards, and a task whose time comes out as before marks nobody. So a move
 * costs what it changes, and some words of marks to look through.
 */
#include "algorithms/workflow/search_state.h"

#include "algorithms/workflow/problem_parts.h"
#include "models/base/rng.h"

#include <assert.h>
#include <string.h>

enum { TIMES_MOST = 5000000, FIRST_ROOM = 8 };

/* ---- marks ---- */

static void mark(uint64_t *due, size_t place)
{
    due[place / 64] |= (uint64_t)1 << place % 64;
}

/* The first mark at `from` or behind, before n; n: none. */
static size_t next_mark(const uint64_t *due, size_t from, size_t n)
{
    size_t word = from / 64;
    uint64_t bits;

    if (from >= n)
        return n;
    for (bits = due[word] >> from % 64 << from % 64; !bits; bits = due[word])
        if (++word * 64 >= n)
            return n;
    return word * 64 + (size_t)__builtin_ctzll(bits);
}

/* The last mark before `end`; WORKFLOW_NONE: none. */
static size_t last_mark(const uint64_t *due, size_t end)
{
    size_t word = end / 64;
    uint64_t bits = end % 64 ? due[word] << (64 - end % 64) >> (64 - end % 64) : 0;

    while (!bits) {
        if (word-- == 0)
            return WORKFLOW_NONE;
        bits = due[word];
    }
    return word * 64 + 63 - (size_t)__builtin_clzll(bits);
}

static void mark_task(const struct workflow_state *state, uint64_t *due, size_t task)
{
    if (task != WORKFLOW_NONE && state->place[task] != WORKFLOW_NONE)
        mark(due, state->place[task]);
}

static void mark_children(const struct workflow_state *state, size_t task)
{
    const struct workflow_problem *problem = state->problem;

    for (size_t c = problem->child_first[task]; c < problem->child_first[task + 1]; c++)
        mark_task(state, state->heads_due, state->down[c].task);
}

static void mark_parents(const struct workflow_state *state, size_t task)
{
    const struct workflow_problem *problem = state->problem;

    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1]; e++)
        mark_task(state, state->rests_due, state->up[e].task);
}

/* ---- times ---- */

static double degree(const size_t *first, size_t task)
{
    return (double)(first[task + 1] - first[task]);
}

static void work_out_heads(struct workflow_state *state, size_t from)
{
    const struct workflow_problem *problem = state->problem;

    for (size_t k = next_mark(state->heads_due, from, state->n); k < state->n;
         k = next_mark(state->heads_due, k + 1, state->n)) {
        size_t task = state->order[k], p = state->at[task];
        size_t before = state->before[task];
        double time_s = state->here_s[task], finish_s;

        state->heads_due[k / 64] &= ~((uint64_t)1 << k % 64);
        state->units += 1 + degree(problem->parent_first, task);
        state->start_s[task] = workflow_start_s(
            problem, p, workflow_state_ready_s(state, task, p),
            before == WORKFLOW_NONE ? 0 : state->finish_s[before], time_s);
        finish_s = state->start_s[task] + time_s;
        if (finish_s == state->finish_s[task])
            continue;
        state->finish_s[task] = finish_s;
        mark_children(state, task);
        mark_task(state, state->heads_due, state->behind[task]);
    }
}

static void work_out_rests(struct workflow_state *state, size_t end)
{
    const struct workflow_problem *problem = state->problem;

    for (size_t k = last_mark(state->rests_due, end); k != WORKFLOW_NONE;
         k = last_mark(state->rests_due, k)) {
        size_t task = state->order[k], next = state->behind[task];
        double rest_s = workflow_state_follows_s(state, task, state->at[task]);

        state->rests_due[k / 64] &= ~((uint64_t)1 << k % 64);
        state->units += 1 + degree(problem->child_first, task);
        if (next != WORKFLOW_NONE)
            rest_s = fmax(rest_s, state->rest_s[next]);
        rest_s += state->here_s[task];
        if (rest_s == state->rest_s[task])
            continue;
        state->rest_s[task] = rest_s;
        mark_parents(state, task);
        mark_task(state, state->rests_due, state->before[task]);
    }
}

static void work_out_makespan(struct workflow_state *state)
{
    double last_s = state->begun_s;

    for (size_t p = 0; p < state->problem->processor_count; p++) {
        const struct workflow_lane *lane = &state->lanes[p];

        if (lane->count)
            last_s = fmax(last_s, state->finish_s[lane->task[lane->count - 1]]);
    }
    for (size_t k = 0; k < state->end_count; k++)
        if (state->place[state->ends[k]] != WORKFLOW_NONE)
            last_s = fmax(last_s, state->finish_s[state->ends[k]]);
    state->units += (double)(state->problem->processor_count + state->end_count);
    state->makespan_s = last_s;
}

/* ---- lanes ---- */

static void link(struct workflow_state *state, size_t before, size_t behind)
{
    if (before != WORKFLOW_NONE)
        state->behind[before] = behind;
    if (behind != WORKFLOW_NONE)
        state->before[behind] = before;
}

static void insert(struct workflow_state *state, size_t task, size_t p, size_t spot)
{
    struct workflow_lane *lane = &state->lanes[p];

    if (lane->count == lane->room) {
        size_t room = lane->room ? 2 * lane->room : FIRST_ROOM;
        size_t *list = GROW(state->arena, lane->task, size_t, lane->count, room);

        lane->task = list;
        lane->room = room;
    }
    for (size_t k = lane->count++; k > spot; k--) {
        lane->task[k] = lane->task[k - 1];
        state->spot[lane->task[k]] = k;
    }
    lane->task[spot] = task;
    state->spot[task] = spot;
    link(state, spot ? lane->task[spot - 1] : WORKFLOW_NONE, task);
    link(state, task, spot + 1 < lane->count ? lane->task[spot + 1] : WORKFLOW_NONE);
}

static void take_out(struct workflow_state *state, size_t task)
{
    struct workflow_lane *lane = &state->lanes[state->at[task]];

    lane->count--;
    for (size_t k = state->spot[task]; k < lane->count; k++) {
        lane->task[k] = lane->task[k + 1];
        state->spot[lane->task[k]] = k;
    }
    link(state, state->before[task], state->behind[task]);
    state->spot[task] = state->before[task] = state->behind[task] = WORKFLOW_NONE;
}

size_t workflow_state_find(const struct workflow_state *state, size_t processor,
                           size_t low)
{
    const struct workflow_lane *lane = &state->lanes[processor];
    size_t from = 0, to = lane->count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (state->place[lane->task[middle]] < low)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* ---- moves ---- */

void workflow_state_room(const struct workflow_state *state, size_t task, size_t *low,
                         size_t *high)
{
    const struct workflow_problem *problem = state->problem;

    *low = 0;
    *high = state->n;
    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
         e++) {
        size_t place = state->place[problem->edges[e].parent];

        if (place != WORKFLOW_NONE && place + 1 > *low)
            *low = place + 1;
    }
    for (size_t c = problem->child_first[task]; c < problem->child_first[task + 1]; c++) {
        size_t place = state->place[problem->edges[problem->child_edge[c]].child];

        if (place < *high)
            *high = place;
    }
}

static void shift(struct workflow_state *state, size_t task, size_t to)
{
    size_t from = state->place[task];

    state->units += (double)(from < to ? to - from : from - to) / 4;
    for (; from < to; from++) {
        state->order[from] = state->order[from + 1];
        state->place[state->order[from]] = from;
    }
    for (; from > to; from--) {
        state->order[from] = state->order[from - 1];
        state->place[state->order[from]] = from;
    }
    state->order[to] = task;
    state->place[task] = to;
}

void workflow_state_put(struct workflow_state *state, size_t task,
                        struct workflow_spot to, size_t low)
{
    struct workflow_moved *moved = &state->moved[state->moved_count];
    size_t old_place = state->place[task], spot = to.spot, behind, high;

    assert(state->moved_count < WORKFLOW_MOVED_MOST);
    *moved = (struct workflow_moved){.task = task,
                                     .old_next = state->behind[task],
                                     .old_previous = state->before[task]};
    workflow_state_room(state, task, &behind, &high);
    behind = low > behind ? low : behind;
    if (state->spot[task] != WORKFLOW_NONE) {
        if (state->at[task] == to.processor && spot > state->spot[task])
            spot--;
        take_out(state, task);
    }
    state->at[task] = to.processor;
    state->here_s[task] = workflow_state_time_s(state, task, to.processor);
    if (state->here_s[task] > 0) {
        insert(state, task, to.processor, spot);
        if (state->before[task] != WORKFLOW_NONE &&
            state->place[state->before[task]] + 1 > behind)
            behind = state->place[state->before[task]] + 1;
    }
    shift(state, task, behind > old_place ? behind - 1 : behind);
    moved->next = state->behind[task];
    moved->previous = state->before[task];
    state->moved_count++;
}

void workflow_state_work_out(struct workflow_state *state)
{
    for (size_t k = 0; k < state->moved_count; k++) {
        const struct workflow_moved *moved = &state->moved[k];

        mark_task(state, state->heads_due, moved->task);
        mark_task(state, state->heads_due, moved->old_next);
        mark_task(state, state->heads_due, moved->next);
        mark_children(state, moved->task); /* their inputs come from elsewhere now */
        mark_task(state, state->rests_due, moved->task);
        mark_task(state, state->rests_due, moved->old_previous);
        mark_task(state, state->rests_due, moved->previous);
        mark_parents(state, moved->task);
    }
    state->moved_count = 0;
    work_out_heads(state, 0);
    work_out_rests(state, state->n);
    work_out_makespan(state);
}

/* ---- what the makespan hangs on ---- */

/* One of several, each with the same chance. */
struct choice {
    size_t task, count;
};

static void offer(struct choice *choice, size_t task, struct rng *rng)
{
    if (choice->count++ == 0 || rng_index(rng, choice->count) == 0)
        choice->task = task;
}

/* What ended just when the task began: a parent's transfer, or the task before it. */
static size_t cause_of(const struct workflow_state *state, size_t task, struct rng *rng)
{
    const struct workflow_problem *problem = state->problem;
    size_t p = state->at[task], before = state->before[task];
    double start_s = state->start_s[task], least_s = start_s - 1e-9 * fmax(1, start_s);
    struct choice choice = {WORKFLOW_NONE, 0};

    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
         e++) {
        const struct workflow_arc *arc = &state->up[e];

        if (state->place[arc->task] != WORKFLOW_NONE &&
            state->finish_s[arc->task] +
                    workflow_state_transfer_s(state, arc, state->at[arc->task], p) >=
                least_s)
            offer(&choice, arc->task, rng);
    }
    if (before != WORKFLOW_NONE && state->finish_s[before] >= least_s)
        offer(&choice, before, rng);
    return choice.task;
}

size_t workflow_state_critical(const struct workflow_state *state, struct rng *rng,
                               size_t *path)
{
    double least_s = state->makespan_s * (1 - 1e-12);
    struct choice choice = {WORKFLOW_NONE, 0};
    size_t count = 0;

    for (size_t p = 0; p < state->problem->processor_count; p++) {
        const struct workflow_lane *lane = &state->lanes[p];

        if (lane->count && state->finish_s[lane->task[lane->count - 1]] >= least_s)
            offer(&choice, lane->task[lane->count - 1], rng);
    }
    for (size_t k = 0; k < state->end_count; k++)
        if (state->place[state->ends[k]] != WORKFLOW_NONE &&
            state->spot[state->ends[k]] == WORKFLOW_NONE &&
            state->finish_s[state->ends[k]] >= least_s)
            offer(&choice, state->ends[k], rng);
    for (size_t task = choice.task; task != WORKFLOW_NONE && count < state->n;
         task = cause_of(state, task, rng))
        path[count++] = task;
    return count;
}

/* ---- start ---- */

void workflow_state_load(struct workflow_state *state, const struct workflow_order *order)
{
    const struct workflow_problem *problem = state->problem;

    for (size_t p = 0; p < problem->processor_count; p++)
        state->lanes[p].count = 0;
    for (size_t i = 0; i < problem->task_count; i++) {
        state->place[i] = state->spot[i] = WORKFLOW_NONE;
        state->before[i] = state->behind[i] = WORKFLOW_NONE;
        state->at[i] = problem->fixed_processor[i]; /* WORKFLOW_NONE: open */
        state->rest_s[i] = -HUGE_VAL;
        if (!workflow_is_open(problem, i))
            state->finish_s[i] = fmax(0, problem->fixed_finish_s[i]);
    }
    for (size_t k = 0; k < state->n; k++) {
        size_t task = order->task[k], p = order->processor[task];

        state->order[k] = task;
        state->place[task] = k;
        state->at[task] = p;
        state->here_s[task] = workflow_state_time_s(state, task, p);
        state->finish_s[task] = state->rest_s[task] = -1; /* not worked out */
        if (state->here_s[task] > 0)
            insert(state, task, p, state->lanes[p].count);
        mark(state->heads_due, k);
        mark(state->rests_due, k);
    }
    work_out_heads(state, 0);
    work_out_rests(state, state->n);
    work_out_makespan(state);
}

/* False: the time is up. */
static bool fill_times(struct workflow_state *state, struct workflow_clock *clock)
{
    const struct workflow_problem *problem = state->problem;
    size_t processors = problem->processor_count;

    for (size_t i = 0; i < problem->task_count; i++) {
        bool last = true, may_be_zero = false;
        double children = (double)(problem->child_first[i + 1] - problem->child_first[i]);

        if (!workflow_tick(clock, 1 + children + (double)processors))
            return false;
        for (size_t c = problem->child_first[i]; c < problem->child_first[i + 1]; c++)
            last = last && state->place[problem->edges[problem->child_edge[c]].child] ==
                               WORKFLOW_NONE;
        for (size_t p = 0; p < processors && (state->time_s || last); p++) {
            double time_s = workflow_time_s(problem, i, p);

            if (state->time_s)
                state->time_s[i * processors + p] = time_s;
            may_be_zero = may_be_zero || time_s == 0;
        }
        if (last && may_be_zero && state->place[i] != WORKFLOW_NONE)
            state->ends[state->end_count++] = i;
    }
    return true;
}

static struct workflow_arc arc_of(const struct workflow_edge *edge, size_t number,
                                  size_t other)
{
    double transfer_s =
        edge->transfer_s > WORKFLOW_LONGEST_S ? HUGE_VAL : edge->transfer_s;

    if (isnan(transfer_s) && edge->bytes == 0)
        transfer_s = 0; /* nothing moves */
    return (struct workflow_arc){(uint32_t)other, (uint32_t)number, transfer_s};
}

static void fill_arcs(struct workflow_state *state)
{
    const struct workflow_problem *problem = state->problem;

    for (size_t e = 0; e < problem->edge_count; e++) {
        const struct workflow_edge *edge = &problem->edges[e];

        state->up[e] = arc_of(edge, e, edge->parent);
    }
    for (size_t c = 0; c < problem->edge_count; c++) {
        const struct workflow_edge *edge = &problem->edges[problem->child_edge[c]];

        state->down[c] = arc_of(edge, problem->child_edge[c], edge->child);
    }
    state->alone = true;
    for (size_t p = 0; p < problem->processor_count; p++) {
        state->resource_of[p] = problem->processors[p].resource;
        if (p && state->resource_of[p] == state->resource_of[p - 1])
            state->alone = false;
    }
}

void workflow_state_make(struct workflow_state *state, struct workflow_searching *s)
{
    const struct workflow_problem *problem = s->problem;
    size_t n = problem->task_count, processors = problem->processor_count;
    struct arena *a = s->arena;
    struct workflow_state x = {.problem = problem,
                               .staged = problem->parts->staged,
                               .begun_s = s->begun_s,
                               .arena = a};

    while (x.n < problem->open_count && s->best.task[x.n] != WORKFLOW_NONE)
        x.n++;
    x.order = NEW(a, size_t, x.n);
    x.place = NEW(a, size_t, n);
    x.at = NEW(a, size_t, n);
    x.spot = NEW(a, size_t, n);
    x.lanes = NEW(a, struct workflow_lane, processors);
    x.start_s = NEW(a, double, n);
    x.finish_s = NEW(a, double, n);
    x.rest_s = NEW(a, double, n);
    x.here_s = NEW(a, double, n);
    x.before = NEW(a, size_t, n);
    x.behind = NEW(a, size_t, n);
    x.up = NEW(a, struct workflow_arc, problem->edge_count);
    x.down = NEW(a, struct workflow_arc, problem->edge_count);
    x.resource_of = NEW(a, size_t, processors);
    x.ends = NEW(a, size_t, n);
    x.heads_due = NEW(a, uint64_t, x.n / 64 + 1);
    x.rests_due = NEW(a, uint64_t, x.n / 64 + 1);
    if ((double)n * (double)processors <= TIMES_MOST) {
        x.time_s = NEW(a, double, n *processors);
    }
    for (size_t i = 0; i < n; i++)
        x.place[i] = WORKFLOW_NONE;
    for (size_t k = 0; k < x.n; k++)
        x.place[s->best.task[k]] = k;
    s->spent = !fill_times(&x, &s->clock);
    if (!s->spent)
        fill_arcs(&x);
    *state = x;
}
