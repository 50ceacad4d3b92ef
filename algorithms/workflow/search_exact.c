/* workflow/search_exact.c - the best schedule of few tasks, with a proof.
 *
 * Depth first over orders: the next task, any whose parents are all placed, goes behind
 * the last one of any processor, or, if it takes no time there, to the instant at which
 * its inputs have come; that reaches every schedule without needless waiting.
 * A branch ends when its tasks so far, and for each other task the earliest end that they
 * leave open and what must follow it (heads.h, again for what is left), or the work that
 * is left (area.h), reach the best makespan known; and when a state with the same tasks
 * was seen in which every processor was free, and every input there, no later.
 *
 * Source: ours. Cost of a node: O(edges * processors); states seen: STATE_NUMBERS numbers
 * at most, later ones are not remembered.
 */
#include "algorithms/workflow/search_parts.h"

#include <stdlib.h>
#include <string.h>

enum { STATE_NUMBERS = 1 << 22, STATE_BUCKETS = 1 << 15, FIRST_STATES = 1 << 10 };

/* A parent of a task, both by their numbers among the open tasks. */
struct link {
    size_t parent;
    const struct workflow_edge *edge;
};

struct state {
    uint64_t placed; /* bit for each task */
    size_t first;    /* of its numbers */
    size_t next;     /* in its bucket, + 1; 0: none */
};

struct exact {
    struct workflow_searching *s;
    const struct workflow_problem *problem;
    size_t n, processors;
    size_t *task; /* [n]: in topological order */
    struct link *links;
    size_t *link_first;      /* [n + 1] */
    double *time_s, *tail_s; /* [n * processors] */
    double *share_s;         /* [n]: of the area bound */
    /* The branch. */
    uint64_t placed;
    double *free_s;     /* [processors] */
    double *here_s;     /* [n * processors]: when inputs of placed parents are there */
    double *finish_s;   /* [n] */
    size_t *at, *order; /* [n] */
    size_t depth;
    double last_s, area_left_s;
    double *head_s; /* [n * processors]: work space */
    double *least_s, *second_s;
    size_t *least_at;
    /* States seen. */
    struct state *states;
    size_t state_count, state_room;
    size_t *buckets;
    double *numbers, *vector;
    size_t number_count, number_room;
    double nodes_most;
    bool complete;
};

struct choice {
    double key_s, start_s, finish_s;
    size_t i, p;
};

static bool is_placed(const struct exact *x, size_t i)
{
    return i < EXACT_TASKS_MOST && x->placed >> i & 1;
}

/* ---- bounds ---- */

static void note_two_least(struct exact *x, size_t i)
{
    const struct workflow_processor *processors = x->problem->processors;
    const double *head_s = &x->head_s[i * x->processors];

    x->least_s[i] = x->second_s[i] = HUGE_VAL;
    x->least_at[i] = 0;
    for (size_t p = 0; p < x->processors; p++) {
        if (head_s[p] < x->least_s[i]) {
            if (processors[p].resource != processors[x->least_at[i]].resource ||
                !(x->least_s[i] < HUGE_VAL))
                x->second_s[i] = x->least_s[i];
            x->least_s[i] = head_s[p];
            x->least_at[i] = p;
        } else if (processors[p].resource != processors[x->least_at[i]].resource) {
            x->second_s[i] = fmin(x->second_s[i], head_s[p]);
        }
    }
}

/* When the output of an open parent can be on p at the earliest. */
static double arrival_s(const struct exact *x, const struct link *l, size_t p)
{
    const struct workflow_processor *processors = x->problem->processors;
    const double *head_s = &x->head_s[l->parent * x->processors];
    double best_s = HUGE_VAL;

    if (!isnan(l->edge->transfer_s)) {
        bool same = processors[x->least_at[l->parent]].resource == processors[p].resource;

        best_s =
            (same ? x->second_s[l->parent] : x->least_s[l->parent]) + l->edge->transfer_s;
        return fmin(best_s, same ? x->least_s[l->parent] : head_s[p]);
    }
    for (size_t q = 0; q < x->processors; q++)
        best_s = fmin(best_s, head_s[q] + workflow_transfer_s(x->problem, l->edge, q, p));
    return best_s;
}

/* Least makespan below this branch, at least. */
static double branch_bound_s(struct exact *x, double best_s)
{
    double bound_s = fmax(x->last_s, x->area_left_s);

    for (size_t p = 0; p < x->processors; p++)
        bound_s = fmax(bound_s, x->free_s[p]);
    for (size_t i = 0; i < x->n && bound_s < best_s; i++) {
        double *head_s = &x->head_s[i * x->processors], least_s = HUGE_VAL;

        if (is_placed(x, i))
            continue;
        for (size_t p = 0; p < x->processors; p++) {
            double start_s = x->here_s[i * x->processors + p];

            if (x->time_s[i * x->processors + p] > 0)
                start_s = fmax(start_s, x->free_s[p]);
            for (size_t k = x->link_first[i]; k < x->link_first[i + 1]; k++)
                if (!is_placed(x, x->links[k].parent))
                    start_s = fmax(start_s, arrival_s(x, &x->links[k], p));
            head_s[p] = start_s + x->time_s[i * x->processors + p];
            least_s = fmin(least_s, head_s[p] + x->tail_s[i * x->processors + p]);
        }
        note_two_least(x, i);
        bound_s = fmax(bound_s, least_s);
    }
    return bound_s;
}

/* ---- states seen ---- */

static size_t fill_vector(struct exact *x)
{
    size_t count = 0;

    for (size_t p = 0; p < x->processors; p++)
        x->vector[count++] = x->free_s[p];
    for (size_t i = 0; i < x->n; i++) {
        bool any = false;

        if (is_placed(x, i))
            continue;
        for (size_t k = x->link_first[i]; k < x->link_first[i + 1]; k++)
            any = any || is_placed(x, x->links[k].parent);
        for (size_t p = 0; p < x->processors && any; p++)
            x->vector[count++] = x->here_s[i * x->processors + p];
    }
    return count;
}

static bool no_later(const double *a, const double *b, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (a[k] > b[k])
            return false;
    return true;
}

/* Room for one more state of `count` numbers; false: there is none. */
static bool make_room(struct exact *x, size_t count)
{
    struct arena *a = x->s->arena;

    if (x->number_count + count > x->number_room) {
        size_t room = 2 * x->number_room + count;
        double *numbers = room > STATE_NUMBERS
                              ? NULL
                              : GROW(a, x->numbers, double, x->number_count, room);

        if (!numbers)
            return false;
        x->numbers = numbers;
        x->number_room = room;
    }
    if (x->state_count == x->state_room) {
        size_t room = 2 * x->state_room;
        struct state *states = GROW(a, x->states, struct state, x->state_count, room);

        if (!states)
            return false;
        x->states = states;
        x->state_room = room;
    }
    return true;
}

/* Whether a state at least as good was seen; otherwise this one is remembered. */
static bool seen(struct exact *x)
{
    size_t count = fill_vector(x);
    size_t bucket = (size_t)((x->placed * 0x9E3779B97F4A7C15u) >> 48) % STATE_BUCKETS;

    for (size_t k = x->buckets[bucket]; k; k = x->states[k - 1].next) {
        const struct state *old = &x->states[k - 1];

        if (old->placed == x->placed &&
            no_later(&x->numbers[old->first], x->vector, count))
            return true;
    }
    if (!make_room(x, count))
        return false;
    memcpy(&x->numbers[x->number_count], x->vector, count * sizeof(double));
    x->states[x->state_count] =
        (struct state){x->placed, x->number_count, x->buckets[bucket]};
    x->number_count += count;
    x->buckets[bucket] = ++x->state_count;
    return false;
}

/* ---- branches ---- */

static int by_key(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;

    if (x->key_s != y->key_s)
        return x->key_s > y->key_s ? 1 : -1;
    if (x->i != y->i)
        return x->i > y->i ? 1 : -1;
    return (x->p > y->p) - (x->p < y->p);
}

static bool is_ready(const struct exact *x, size_t i)
{
    for (size_t k = x->link_first[i]; k < x->link_first[i + 1]; k++)
        if (!is_placed(x, x->links[k].parent))
            return false;
    return !is_placed(x, i);
}

static size_t list_choices(const struct exact *x, struct choice *list)
{
    size_t count = 0;

    for (size_t i = 0; i < x->n; i++) {
        if (!is_ready(x, i))
            continue;
        for (size_t p = 0; p < x->processors; p++) {
            size_t at = i * x->processors + p;
            double start_s = workflow_start_s(x->problem, p, x->here_s[at], x->free_s[p],
                                              x->time_s[at]);
            double finish_s = start_s + x->time_s[at];

            if (finish_s + x->tail_s[at] < x->s->best.makespan_s)
                list[count++] =
                    (struct choice){finish_s + x->tail_s[at], start_s, finish_s, i, p};
        }
    }
    qsort(list, count, sizeof(*list), by_key);
    return count;
}

/* What changes when a task is placed, to take it back. */
struct undo {
    uint64_t placed;
    double free_s, last_s, area_left_s;
    double *here_s; /* copy of x->here_s */
};

static void place(struct exact *x, const struct choice *c, struct undo *u)
{
    *u = (struct undo){x->placed, x->free_s[c->p], x->last_s, x->area_left_s, u->here_s};
    memcpy(u->here_s, x->here_s, x->n * x->processors * sizeof(double));
    x->placed |= (uint64_t)1 << c->i;
    x->order[x->depth++] = c->i;
    x->at[c->i] = c->p;
    x->finish_s[c->i] = c->finish_s;
    x->area_left_s -= x->share_s[c->i];
    if (x->time_s[c->i * x->processors + c->p] > 0) {
        x->area_left_s += x->s->area.weight[c->p] * (c->finish_s - x->free_s[c->p]);
        x->free_s[c->p] = c->finish_s;
    }
    x->last_s = fmax(x->last_s, c->finish_s);
    for (size_t j = c->i + 1; j < x->n; j++)
        for (size_t k = x->link_first[j]; k < x->link_first[j + 1]; k++) {
            if (x->links[k].parent != c->i)
                continue;
            for (size_t p = 0; p < x->processors; p++) {
                double *here_s = &x->here_s[j * x->processors + p];

                *here_s = fmax(*here_s,
                               c->finish_s + workflow_transfer_s(
                                                 x->problem, x->links[k].edge, c->p, p));
            }
        }
}

static void take_back(struct exact *x, const struct choice *c, const struct undo *u)
{
    x->placed = u->placed;
    x->depth--;
    x->free_s[c->p] = u->free_s;
    x->last_s = u->last_s;
    x->area_left_s = u->area_left_s;
    memcpy(x->here_s, u->here_s, x->n * x->processors * sizeof(double));
}

static void keep(struct exact *x)
{
    struct workflow_order *best = &x->s->best;

    if (!(x->last_s < best->makespan_s))
        return;
    for (size_t k = 0; k < x->n; k++) {
        best->task[k] = x->task[x->order[k]];
        best->processor[best->task[k]] = x->at[x->order[k]];
    }
    best->makespan_s = x->last_s;
}

/* Everything below the branch; recursion is as deep as there are tasks. */
static void explore(struct exact *x, struct choice *list, double *copies)
{
    struct undo u = {.here_s = copies};
    size_t count;

    if (x->depth == x->n) {
        keep(x);
        return;
    }
    if (x->nodes_most-- <= 0 || !workflow_search_step(x->s, 256)) {
        x->complete = false;
        return;
    }
    /* A little below the best is not worth looking for: it is rounding. */
    if (branch_bound_s(x, x->s->best.makespan_s) >= x->s->best.makespan_s * (1 - 1e-12) ||
        seen(x))
        return;
    count = list_choices(x, list);
    for (size_t k = 0; k < count && x->complete; k++) {
        if (list[k].key_s >= x->s->best.makespan_s)
            break;
        place(x, &list[k], &u);
        explore(x, list + count, copies + x->n * x->processors);
        take_back(x, &list[k], &u);
    }
}

/* ---- start ---- */

static enum error_code make_exact(struct exact *x, struct error *err)
{
    struct arena *a = x->s->arena;
    size_t cells = x->n * x->processors;

    x->task = NEW(a, size_t, x->n);
    x->links = NEW(a, struct link, x->problem->edge_count);
    x->link_first = NEW(a, size_t, x->n + 1);
    x->time_s = NEW(a, double, cells);
    x->tail_s = NEW(a, double, cells);
    x->here_s = NEW(a, double, cells);
    x->head_s = NEW(a, double, cells);
    x->vector = NEW(a, double, cells + x->processors);
    x->share_s = NEW(a, double, x->n);
    x->finish_s = NEW(a, double, x->n);
    x->least_s = NEW(a, double, x->n);
    x->second_s = NEW(a, double, x->n);
    x->least_at = NEW(a, size_t, x->n);
    x->at = NEW(a, size_t, x->n);
    x->order = NEW(a, size_t, x->n);
    x->free_s = NEW(a, double, x->processors);
    x->state_room = FIRST_STATES;
    x->states = NEW(a, struct state, x->state_room);
    x->buckets = NEW(a, size_t, STATE_BUCKETS);
    x->number_room = FIRST_STATES;
    x->numbers = NEW(a, double, x->number_room);
    if (!x->task || !x->links || !x->link_first || !x->time_s || !x->tail_s ||
        !x->here_s || !x->head_s || !x->vector || !x->share_s || !x->finish_s ||
        !x->least_s || !x->second_s || !x->least_at || !x->at || !x->order ||
        !x->free_s || !x->states || !x->buckets || !x->numbers)
        return fail_memory(err);
    return OK;
}

/* Numbers the open tasks that can run, in topological order. */
static void read_tasks(struct exact *x, size_t *number)
{
    const struct workflow_problem *problem = x->problem;
    size_t i = 0;

    for (size_t k = 0; k < problem->task_count; k++) {
        size_t task = problem->topological[k];

        number[task] = WORKFLOW_NONE;
        if (!workflow_is_open(problem, task) || !x->s->heads.placeable[task])
            continue;
        number[task] = i;
        x->task[i++] = task;
    }
}

static void read_row(struct exact *x, size_t i)
{
    const struct workflow_problem *problem = x->problem;
    size_t task = x->task[i];

    for (size_t p = 0; p < x->processors; p++) {
        size_t at = i * x->processors + p;

        x->time_s[at] =
            problem->processors[p].usable ? workflow_time_s(problem, task, p) : HUGE_VAL;
        x->here_s[at] = workflow_ready_s(problem, task, p);
        x->tail_s[at] =
            x->s->heads.tail_s[task * problem->processor_count + p] * (1 - 1e-12);
        for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
             e++) {
            const struct workflow_edge *edge = &problem->edges[e];
            size_t from = problem->fixed_processor[edge->parent];

            if (from != WORKFLOW_NONE)
                x->here_s[at] =
                    fmax(x->here_s[at], fmax(0, problem->fixed_finish_s[edge->parent]) +
                                            workflow_transfer_s(problem, edge, from, p));
        }
    }
    x->share_s[i] = x->s->area.share_s[task];
    x->area_left_s += x->share_s[i];
}

static void read_links(struct exact *x, const size_t *number)
{
    const struct workflow_problem *problem = x->problem;
    size_t count = 0;

    for (size_t i = 0; i < x->n; i++) {
        size_t task = x->task[i];

        x->link_first[i] = count;
        for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
             e++) {
            size_t parent = number[problem->edges[e].parent];

            if (parent < x->n)
                x->links[count++] = (struct link){parent, &problem->edges[e]};
        }
    }
    x->link_first[x->n] = count;
}

static size_t count_tasks(const struct workflow_searching *s)
{
    size_t count = 0;

    for (size_t i = 0; i < s->problem->task_count; i++)
        count += workflow_is_open(s->problem, i) && s->heads.placeable[i];
    return count;
}

enum error_code workflow_search_exact(struct workflow_searching *s, double nodes,
                                      struct error *err)
{
    struct exact x = {.s = s,
                      .problem = s->problem,
                      .n = count_tasks(s),
                      .processors = s->problem->processor_count,
                      .last_s = s->begun_s,
                      .nodes_most = nodes,
                      .complete = true};
    struct choice *list;
    double *copies;
    size_t *number;

    if (x.n > EXACT_TASKS_MOST || x.processors > EXACT_PROCESSORS_MOST || x.n == 0 ||
        !s->heads.head_s)
        return OK;
    TRY(make_exact(&x, err));
    number = NEW(s->arena, size_t, s->problem->task_count);
    copies = NEW(s->arena, double, x.n *x.n *x.processors);
    list = NEW(s->arena, struct choice, x.n * x.n * x.processors);
    if (!number || !copies || !list)
        return fail_memory(err);
    read_tasks(&x, number);
    for (size_t i = 0; i < x.n; i++)
        read_row(&x, i);
    read_links(&x, number);
    explore(&x, list, copies);
    if (x.complete)
        s->bound_s = fmax(s->bound_s, s->best.makespan_s);
    return OK;
}
