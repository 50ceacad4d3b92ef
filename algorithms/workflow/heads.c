/* workflow/heads.c - how early each task can end, and how much must follow it.
 *
 * For a child on processor q each parent has two numbers: when its output can be on q if
 * it runs elsewhere, and when it can end on q itself. Those that run on q do so one after
 * the other. If the parents are sorted by the first number, falling, then those on q are
 * best a prefix of this order: a parent that arrives no later than one that comes from
 * elsewhere anyway may come from elsewhere too. So each prefix is tried; the least
 * maximum of "last arrival of the rest" and "end of the prefix, one after the other from
 * their own earliest starts" bounds the start of the child. Tails are the same backwards.
 *
 * Source: ours.
 */
#include "algorithms/workflow/heads.h"

#include "algorithms/workflow/problem_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    PREFIX_MOST = 16, /* longer prefixes count as this one: still a bound */
    SORTED_BY_HAND = 12
};

/* A neighbour (parent or child) of a task that runs on q. */
struct neighbour {
    double elsewhere_s; /* when it has arrived, from another resource */
    double here_s;      /* when it has ended, on q's resource */
    double time_s;      /* that q is taken for it */
};

/* The two least values of a task over resources. */
struct least_two {
    double first_s, second_s;
    size_t resource; /* of the first */
};

struct making {
    const struct workflow_problem *problem;
    struct workflow_heads *heads;
    double *time_s;          /* [task * processors + processor]; HUGE_VAL: not there */
    struct neighbour *list;  /* room for the most neighbours of a task */
    struct least_two *least; /* [task] */
    bool pairs;              /* every pair of processors is looked at, where links tell */
    bool alone;              /* one processor each resource */
    double least_s_per_byte, least_latency_s;
    struct workflow_clock *clock;
};

static int latest_first(const void *a, const void *b)
{
    const struct neighbour *x = a, *y = b;

    return (y->elsewhere_s > x->elsewhere_s) - (y->elsewhere_s < x->elsewhere_s);
}

static void sort(struct neighbour *list, size_t count)
{
    if (count > SORTED_BY_HAND) {
        qsort(list, count, sizeof(*list), latest_first);
        return;
    }
    for (size_t k = 1; k < count; k++) {
        struct neighbour n = list[k];
        size_t at = k;

        for (; at > 0 && list[at - 1].elsewhere_s < n.elsewhere_s; at--)
            list[at] = list[at - 1];
        list[at] = n;
    }
}

/* End of the first k of the list on one processor, by their earliest starts. */
struct one_by_one {
    double from_s[PREFIX_MOST], time_s[PREFIX_MOST];
    size_t count;
};

static double add_here(struct one_by_one *s, const struct neighbour *n)
{
    double end_s = 0, from_s = n->here_s - n->time_s;
    size_t at = s->count++;

    for (; at > 0 && s->from_s[at - 1] > from_s; at--) {
        s->from_s[at] = s->from_s[at - 1];
        s->time_s[at] = s->time_s[at - 1];
    }
    s->from_s[at] = from_s;
    s->time_s[at] = n->time_s;
    for (size_t i = 0; i < s->count; i++)
        end_s = fmax(end_s, s->from_s[i]) + s->time_s[i];
    return end_s;
}

/* Least time at which all neighbours can have met on q. */
static double meet_s(struct neighbour *list, size_t count)
{
    struct one_by_one here = {.count = 0};
    double best_s = HUGE_VAL, end_s = 0;

    sort(list, count);
    for (size_t k = 0; k < count && end_s < best_s; k++) {
        best_s = fmin(best_s, fmax(list[k].elsewhere_s, end_s));
        if (k == PREFIX_MOST)
            return fmin(best_s, end_s);
        if (!(list[k].here_s < HUGE_VAL))
            return best_s;
        end_s = fmax(end_s, add_here(&here, &list[k]));
    }
    return fmin(best_s, end_s);
}

/* ---- what the two directions share ---- */

static double value_at(const struct making *m, const double *table, size_t task,
                       size_t processor)
{
    return table[task * m->problem->processor_count + processor];
}

/* Value of a neighbour as a bound for one that runs there: with its own time ahead of
 * it when we look forwards (a tail does not contain the task's own time). */
static double reach_s(const struct making *m, bool forwards, size_t task, size_t p)
{
    if (forwards)
        return value_at(m, m->heads->head_s, task, p);
    return value_at(m, m->heads->tail_s, task, p) + value_at(m, m->time_s, task, p);
}

static void note_least(struct making *m, bool forwards, size_t task)
{
    struct least_two least = {HUGE_VAL, HUGE_VAL, WORKFLOW_NONE};

    for (size_t p = 0; p < m->problem->processor_count; p++) {
        double value_s = reach_s(m, forwards, task, p);
        size_t resource = m->problem->processors[p].resource;

        if (value_s < least.first_s) {
            if (resource != least.resource)
                least.second_s = least.first_s;
            least.first_s = value_s;
            least.resource = resource;
        } else if (resource != least.resource && value_s < least.second_s) {
            least.second_s = value_s;
        }
    }
    m->least[task] = least;
}

/* At least as long as this lasts a transfer between two different resources. */
static double least_transfer_s(const struct making *m, const struct workflow_edge *edge)
{
    if (!isnan(edge->transfer_s))
        return edge->transfer_s;
    return edge->bytes > 0 ? edge->bytes * m->least_s_per_byte + m->least_latency_s : 0;
}

static double from_elsewhere_s(const struct making *m, bool forwards, size_t task,
                               const struct workflow_edge *edge, size_t q)
{
    const struct workflow_problem *problem = m->problem;
    const struct least_two *least = &m->least[task];
    size_t resource = problem->processors[q].resource;
    double best_s = HUGE_VAL;

    if (!m->pairs || !isnan(edge->transfer_s))
        return (least->resource == resource ? least->second_s : least->first_s) +
               least_transfer_s(m, edge);
    for (size_t p = 0; p < problem->processor_count; p++) {
        double transfer_s;

        if (problem->processors[p].resource == resource)
            continue;
        transfer_s = forwards ? workflow_transfer_s(problem, edge, p, q)
                              : workflow_transfer_s(problem, edge, q, p);
        best_s = fmin(best_s, reach_s(m, forwards, task, p) + transfer_s);
    }
    return best_s;
}

/* The best of q's resource: without slots q itself. */
static double here_s(const struct making *m, bool forwards, size_t task, size_t q)
{
    const struct workflow_processor *processors = m->problem->processors;
    double best_s = reach_s(m, forwards, task, q);

    if (m->alone)
        return best_s;
    for (size_t p = 0; p < m->problem->processor_count; p++)
        if (processors[p].resource == processors[q].resource)
            best_s = fmin(best_s, reach_s(m, forwards, task, p));
    return best_s;
}

static struct neighbour neighbour_of(const struct making *m, bool forwards, size_t task,
                                     const struct workflow_edge *edge, size_t q)
{
    const struct workflow_problem *problem = m->problem;
    struct neighbour n = {.here_s = here_s(m, forwards, task, q)};

    n.elsewhere_s = from_elsewhere_s(m, forwards, task, edge, q);
    if (m->alone && workflow_is_open(problem, task) && n.here_s < HUGE_VAL)
        n.time_s = value_at(m, m->time_s, task, q);
    return n;
}

/* What a task with so many neighbours costs; false: the time is up. */
static bool tick(const struct making *m, size_t neighbours)
{
    double processors = (double)m->problem->processor_count;

    return workflow_tick(m->clock, (1 + (double)neighbours) * processors *
                                       (m->pairs ? 1 + processors : 1));
}

static bool note_times(struct making *m)
{
    const struct workflow_problem *problem = m->problem;
    double *time_s = m->time_s;

    for (size_t i = 0; i < problem->task_count && tick(m, 0); i++)
        for (size_t p = 0; p < problem->processor_count; p++)
            *time_s++ =
                problem->processors[p].usable ? workflow_time_s(problem, i, p) : HUGE_VAL;
    return !m->clock->spent;
}

/* ---- heads ---- */

static double earliest_s(const struct making *m, const struct workflow_plan *empty,
                         size_t task, size_t q)
{
    const struct workflow_problem *problem = m->problem;
    double time_s = value_at(m, m->time_s, task, q), ready_s, start_s;
    size_t count = 0;

    if (!(time_s < HUGE_VAL))
        return HUGE_VAL;
    ready_s = workflow_ready_s(problem, task, q);
    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
         e++) {
        const struct workflow_edge *edge = &problem->edges[e];
        size_t at = problem->fixed_processor[edge->parent];

        if (at == WORKFLOW_NONE)
            m->list[count++] = neighbour_of(m, true, edge->parent, edge, q);
        else
            ready_s = fmax(ready_s, fmax(0, problem->fixed_finish_s[edge->parent]) +
                                        workflow_transfer_s(problem, edge, at, q));
    }
    ready_s = fmax(ready_s, meet_s(m->list, count));
    start_s = workflow_plan_gap_s(problem, empty, q, ready_s, time_s);
    return start_s + time_s;
}

static bool make_heads(struct making *m, const struct workflow_plan *empty)
{
    const struct workflow_problem *problem = m->problem;
    size_t processors = problem->processor_count;

    for (size_t k = 0; k < problem->task_count; k++) {
        size_t task = problem->topological[k], at = problem->fixed_processor[task];
        double *head_s = &m->heads->head_s[task * processors];

        if (!tick(m, problem->parent_first[task + 1] - problem->parent_first[task]))
            return false;
        for (size_t q = 0; q < processors; q++) {
            if (at == WORKFLOW_NONE)
                head_s[q] = earliest_s(m, empty, task, q);
            else
                head_s[q] = at == q || at == WORKFLOW_EVERYWHERE
                                ? fmax(0, problem->fixed_finish_s[task])
                                : HUGE_VAL;
        }
        note_least(m, true, task);
        m->heads->placeable[task] = m->least[task].first_s < HUGE_VAL;
    }
    return true;
}

/* ---- tails ---- */

static double rest_s(const struct making *m, size_t task, size_t q)
{
    const struct workflow_problem *problem = m->problem;
    size_t count = 0;

    for (size_t c = problem->child_first[task]; c < problem->child_first[task + 1]; c++) {
        const struct workflow_edge *edge = &problem->edges[problem->child_edge[c]];

        if (workflow_is_open(problem, edge->child) && m->heads->placeable[edge->child])
            m->list[count++] = neighbour_of(m, false, edge->child, edge, q);
    }
    return meet_s(m->list, count);
}

static bool make_tails(struct making *m)
{
    const struct workflow_problem *problem = m->problem;
    size_t processors = problem->processor_count;

    for (size_t k = problem->task_count; k-- > 0;) {
        size_t task = problem->topological[k];
        double *tail_s = &m->heads->tail_s[task * processors];

        if (!tick(m, problem->child_first[task + 1] - problem->child_first[task]))
            return false;
        for (size_t q = 0; q < processors; q++)
            tail_s[q] = rest_s(m, task, q);
        note_least(m, false, task);
    }
    return true;
}

/* ---- */

/* The quickest link for each byte, and the least latency, between or in sites. */
static void note_quickest(struct making *m)
{
    const struct workflow_problem *problem = m->problem;
    size_t sites = problem->parts->resource_site_count;
    const double probe = 1e9;

    m->least_s_per_byte = m->least_latency_s = HUGE_VAL;
    if (sites > 2000)
        m->least_s_per_byte = m->least_latency_s = 0;
    for (size_t from = 0; from < sites && sites <= 2000; from++) {
        if (!workflow_tick(m->clock, 2 * (double)sites))
            return; /* no heads either */
        for (size_t to = 0; to < sites; to++) {
            double once_s = workflow_link_s(problem, probe, from, to);
            double twice_s = workflow_link_s(problem, 2 * probe, from, to);

            if (!(twice_s < HUGE_VAL))
                continue;
            m->least_s_per_byte =
                fmin(m->least_s_per_byte, (twice_s - once_s) / probe * (1 - 1e-9));
            m->least_latency_s =
                fmin(m->least_latency_s, fmax(0, (2 * once_s - twice_s) * (1 - 1e-6)));
        }
    }
    if (!(m->least_s_per_byte < HUGE_VAL))
        m->least_s_per_byte = m->least_latency_s = 0;
}

static size_t most_neighbours(const struct workflow_problem *problem)
{
    size_t most = 1;

    for (size_t i = 0; i < problem->task_count; i++) {
        size_t parents = problem->parent_first[i + 1] - problem->parent_first[i];
        size_t children = problem->child_first[i + 1] - problem->child_first[i];

        most = parents > most ? parents : most;
        most = children > most ? children : most;
    }
    return most;
}

/* Some transfer depends on where its two ends are. */
static bool follows_links(const struct workflow_problem *problem)
{
    for (size_t e = 0; e < problem->edge_count; e++)
        if (isnan(problem->edges[e].transfer_s))
            return true;
    return false;
}

static bool one_processor_each(const struct workflow_problem *problem)
{
    for (size_t p = 1; p < problem->processor_count; p++)
        if (problem->processors[p].resource == problem->processors[p - 1].resource)
            return false;
    return true;
}

/* No table: who can run at all, links left aside. When the time is up: as if nobody that
 * was not looked at could; a bound leaves them aside. */
static void note_placeable(const struct workflow_problem *problem,
                           struct workflow_clock *clock, bool *placeable)
{
    for (size_t k = 0; k < problem->task_count; k++) {
        size_t task = problem->topological[k];
        bool runs = !workflow_is_open(problem, task), parents = true;

        for (size_t p = 0; p < problem->processor_count && !runs; p++) {
            if (!workflow_tick(clock, 1))
                break;
            runs = problem->processors[p].usable &&
                   workflow_time_s(problem, task, p) < HUGE_VAL;
        }
        for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
             e++)
            parents = parents && placeable[problem->edges[e].parent];
        placeable[task] = runs && parents;
    }
}

enum error_code workflow_heads_make(const struct workflow_problem *problem,
                                    struct workflow_clock *clock,
                                    struct workflow_heads *heads, struct arena *a)
{
    size_t n = problem->task_count, processors = problem->processor_count;
    double looks = (double)problem->edge_count * (double)processors * (double)processors;
    struct making m = {.problem = problem,
                       .heads = heads,
                       .pairs = looks <= HEADS_PAIRS_MOST && follows_links(problem),
                       .clock = clock};
    struct workflow_plan empty;

    bool *placeable = NEW(a, bool, n); /* links left aside */

    *heads = (struct workflow_heads){.placeable = NEW(a, bool, n)};
    note_placeable(problem, clock, placeable);
    memcpy(heads->placeable, placeable, n * sizeof(*placeable));
    if ((double)n * (double)processors > HEADS_MOST || !workflow_tick(clock, 0))
        return OK;
    m.alone = one_processor_each(problem);
    m.list = NEW(a, struct neighbour, most_neighbours(problem));
    m.least = NEW(a, struct least_two, n);
    heads->head_s = NEW(a, double, n *processors);
    heads->tail_s = NEW(a, double, n *processors);
    m.time_s = NEW(a, double, n *processors);
    TRY(workflow_plan_make(problem, &empty, a));
    note_quickest(&m);
    if (!note_times(&m) || !make_heads(&m, &empty) || !make_tails(&m)) {
        heads->head_s = heads->tail_s = NULL;
        heads->placeable = placeable;
    }
    return OK;
}
