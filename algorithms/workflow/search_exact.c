/* workflow/search_exact.c - the best schedule of few tasks, with a proof.
 *
 * Depth first over orders: the next task, any whose parents are all placed, goes behind
 * the last one of any processor, or, if it takes no time there, to the instant at which
 * its inputs have come; that reaches every schedule without needless waiting.
 * A branch ends when its tasks so far, and for each other task the earliest end that they
 * leave open and what must follow it (heads.h, again for what is left), or the work that
 * is left (area.h), reach the best makespan known, or the last multiple of the grain
 * below it; and when a state with the same tasks was seen in which every processor was
 * free, and every input there, no later.
 *
 * Of equal processors (symmetry.h) that nothing runs on yet only the first is tried,
 * equal tasks come in the order of their numbers, and a state is looked for with the
 * columns of equal processors sorted.
 *
 * Source: ours. Cost of a node: O(edges * processors); states seen: STATE_NUMBERS numbers
 * at most, later ones are not remembered.
 */
#include "algorithms/workflow/search_parts.h"
#include "algorithms/workflow/symmetry.h"

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
    const size_t *same_as;   /* [processors]: the lowest equal one */
    size_t *behind;          /* [n]: an equal task that comes first; WORKFLOW_NONE */
    bool *leaf;              /* [n]: no child can run */
    double *share_s;         /* [n]: of the area bound */
    /* The branch. */
    uint64_t placed;
    double *free_s;     /* [processors] */
    size_t *runs;       /* [processors]: tasks there */
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

/* When a processor is free and when inputs are there, of all open tasks that wait for
 * something placed. */
static size_t fill_column(const struct exact *x, size_t p, double *column)
{
    size_t count = 0;

    column[count++] = x->free_s[p];
    for (size_t i = 0; i < x->n; i++) {
        bool any = false;

        if (is_placed(x, i))
            continue;
        for (size_t k = x->link_first[i]; k < x->link_first[i + 1] && !any; k++)
            any = is_placed(x, x->links[k].parent);
        if (any)
            column[count++] = x->here_s[i * x->processors + p];
    }
    return count;
}

static bool is_less(const double *a, const double *b, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (a[k] != b[k])
            return a[k] < b[k];
    return false;
}

/* The columns of all processors, those of equal ones sorted. */
static size_t fill_vector(struct exact *x)
{
    size_t rows = 0;

    for (size_t p = 0; p < x->processors; p++) {
        double *column = &x->vector[p * rows];
        size_t at = p;

        rows = fill_column(x, p, column);
        /* Equal ones before it are sorted among each other: it goes down their places. */
        for (size_t q = p; q-- > 0;) {
            double *other = &x->vector[q * rows];

            if (x->same_as[q] != x->same_as[p])
                continue;
            if (!is_less(&x->vector[at * rows], other, rows))
                break;
            for (size_t k = 0; k < rows; k++) {
                double kept = other[k];

                other[k] = x->vector[at * rows + k];
                x->vector[at * rows + k] = kept;
            }
            at = q;
        }
    }
    return x->processors * rows;
}

static bool no_later(const double *a, const double *b, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (a[k] > b[k])
            return false;
    return true;
}

/* Room for one more state of `count` numbers; false: there is none, and the search goes
 * on without remembering more. */
static bool make_room(struct exact *x, size_t count)
{
    struct arena *a = x->s->arena;

    if (x->number_count + count > x->number_room) {
        size_t room = 2 * x->number_room + count;
        double *numbers = room > STATE_NUMBERS
                              ? NULL
                              : TRY_GROW(a, x->numbers, double, x->number_count, room);

        if (!numbers)
            return false;
        x->numbers = numbers;
        x->number_room = room;
    }
    if (x->state_count == x->state_room) {
        size_t room = 2 * x->state_room;
        struct state *states = TRY_GROW(a, x->states, struct state, x->state_count, room);

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
    if (is_placed(x, i) || (x->behind[i] != WORKFLOW_NONE && !is_placed(x, x->behind[i])))
        return false;
    for (size_t k = x->link_first[i]; k < x->link_first[i + 1]; k++)
        if (!is_placed(x, x->links[k].parent))
            return false;
    return true;
}

/* Nothing runs there, nor on an equal one before it. */
static bool is_repeated(const struct exact *x, size_t p)
{
    for (size_t q = x->same_as[p]; x->runs[p] == 0 && q < p; q++)
        if (x->same_as[q] == x->same_as[p] && x->runs[q] == 0)
            return true;
    return false;
}

/* Whether a task that is left starts as soon as any processor is free, and no other one
 * waits for it: then its place in the order there is all the same. */
static bool is_settled(const struct exact *x, size_t i)
{
    for (size_t p = 0; p < x->processors && x->leaf[i]; p++) {
        const struct workflow_processor *q = &x->problem->processors[p];
        size_t at = i * x->processors + p;

        if (!(x->time_s[at] < HUGE_VAL))
            continue;
        if (x->time_s[at] == 0 || x->here_s[at] > x->free_s[p] ||
            (q->blocked_count && q->blocked[q->blocked_count - 1].to_s > x->free_s[p]))
            return false;
    }
    return x->leaf[i] && is_ready(x, i);
}

/* The only task to go on with: the longest, if all that are left are settled.
 * WORKFLOW_NONE: any may be next. */
static size_t only_task(const struct exact *x)
{
    size_t longest = WORKFLOW_NONE;
    double longest_s = -1;

    for (size_t i = 0; i < x->n; i++) {
        double least_s = HUGE_VAL;

        if (is_placed(x, i))
            continue;
        if (x->behind[i] != WORKFLOW_NONE && !is_placed(x, x->behind[i]))
            continue; /* as the one that it comes behind */
        if (!is_settled(x, i))
            return WORKFLOW_NONE;
        for (size_t p = 0; p < x->processors; p++)
            least_s = fmin(least_s, x->time_s[i * x->processors + p]);
        if (least_s > longest_s) {
            longest = i;
            longest_s = least_s;
        }
    }
    return longest;
}

static size_t list_choices(const struct exact *x, struct choice *list)
{
    double goal_s = workflow_search_goal_s(x->s);
    size_t only = only_task(x), count = 0;

    for (size_t i = 0; i < x->n; i++) {
        if (!is_ready(x, i) || (only != WORKFLOW_NONE && i != only))
            continue;
        for (size_t p = 0; p < x->processors; p++) {
            size_t at = i * x->processors + p;

            double start_s, finish_s;

            if (is_repeated(x, p))
                continue;
            start_s = workflow_start_s(x->problem, p, x->here_s[at], x->free_s[p],
                                       x->time_s[at]);
            finish_s = start_s + x->time_s[at];

            if (finish_s + x->tail_s[at] < goal_s)
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
    x->runs[c->p]++;
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
    x->runs[c->p]--;
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
    workflow_search_improved(x->s);
}

/* Everything below the branch; recursion is as deep as there are tasks. */
static void explore(struct exact *x, struct choice *list, double *copies)
{
    struct undo u = {.here_s = copies};
    double goal_s;
    size_t count;

    if (x->depth == x->n) {
        keep(x);
        return;
    }
    if (x->nodes_most-- <= 0 ||
        !workflow_search_step(x->s, (double)(x->n * x->processors))) {
        x->complete = false;
        return;
    }
    goal_s = workflow_search_goal_s(x->s);
    if (branch_bound_s(x, goal_s) >= goal_s || seen(x))
        return;
    count = list_choices(x, list);
    for (size_t k = 0; k < count && x->complete; k++) {
        if (list[k].key_s >= workflow_search_goal_s(x->s))
            break;
        place(x, &list[k], &u);
        explore(x, list + count, copies + x->n * x->processors);
        take_back(x, &list[k], &u);
    }
}

/* ---- start ---- */

static void make_exact(struct exact *x)
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
    x->runs = NEW(a, size_t, x->processors);
    x->behind = NEW(a, size_t, x->n);
    x->leaf = NEW(a, bool, x->n);
    x->state_room = FIRST_STATES;
    x->states = NEW(a, struct state, x->state_room);
    x->buckets = NEW(a, size_t, STATE_BUCKETS);
    x->number_room = FIRST_STATES;
    x->numbers = NEW(a, double, x->number_room);
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

/* Each task comes behind the last equal one before it. */
static void read_equals(struct exact *x)
{
    for (size_t i = 0; i < x->n; i++) {
        x->behind[i] = WORKFLOW_NONE;
        for (size_t j = i; j-- > 0 && x->behind[i] == WORKFLOW_NONE;)
            if (workflow_equal_tasks(x->problem, x->task[i], x->task[j]))
                x->behind[i] = j;
    }
}

static void read_links(struct exact *x, const size_t *number)
{
    const struct workflow_problem *problem = x->problem;
    size_t count = 0;

    for (size_t i = 0; i < x->n; i++) {
        size_t task = x->task[i];

        x->link_first[i] = count;
        x->leaf[i] = true;
        for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
             e++) {
            size_t parent = number[problem->edges[e].parent];

            if (parent >= x->n)
                continue;
            x->leaf[parent] = false;
            x->links[count++] = (struct link){parent, &problem->edges[e]};
        }
    }
    x->link_first[x->n] = count;
}

/* Tasks of the best order; 0 if one that could run is not among them: then the order's
 * end is not what others have to beat. */
static size_t count_tasks(const struct workflow_searching *s)
{
    const struct workflow_problem *problem = s->problem;
    size_t count = 0, placed = 0;

    for (size_t i = 0; i < problem->task_count; i++)
        count += workflow_is_open(problem, i) && s->heads.placeable[i];
    while (placed < problem->open_count && s->best.task[placed] != WORKFLOW_NONE)
        placed++;
    return placed == count ? count : 0;
}

void workflow_search_exact(struct workflow_searching *s, double nodes)
{
    struct exact x = {.s = s,
                      .problem = s->problem,
                      .n = s->heads.head_s ? count_tasks(s) : 0,
                      .processors = s->problem->processor_count,
                      .last_s = s->begun_s,
                      .nodes_most = nodes,
                      .complete = true};
    struct choice *list;
    double *copies;
    size_t *number, *same_as;

    if (x.n > EXACT_TASKS_MOST || x.processors > EXACT_PROCESSORS_MOST || x.n == 0)
        return;
    make_exact(&x);
    workflow_equal_processors(s->problem, &s->clock, &same_as, s->arena);
    x.same_as = same_as;
    number = NEW(s->arena, size_t, s->problem->task_count);
    copies = NEW(s->arena, double, x.n *x.n *x.processors);
    list = NEW(s->arena, struct choice, x.n * x.n * x.processors);
    read_tasks(&x, number);
    for (size_t i = 0; i < x.n; i++)
        read_row(&x, i);
    read_links(&x, number);
    read_equals(&x);
    explore(&x, list, copies);
    if (x.complete)
        s->exact_s = s->bound_s = fmax(s->bound_s, s->best.makespan_s);
}
