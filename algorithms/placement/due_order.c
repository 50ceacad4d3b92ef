/* placement/due_order.c - priorities and deadlines where they cost nothing.
 *
 * A chain: jobs of one slot, each of which starts at the end of the one before, with
 * equal needs where cpus or memory are limited, without release times, files and outputs.
 * They are laid one behind the other anew from the chain's start; its end stays the same
 * number, so that nothing behind it moves.
 *
 * Source: world-model.md 4.3, last paragraph, with fixed_priority before the deadline.
 */
#include "algorithms/placement/due_order.h"

#include <stdlib.h>

/* A placed job where it stands. */
struct stand {
    size_t job, pos, slot, place;
    double start_s, done_s;
    double priority, deadline_s; /* HUGE_VAL: none */
};

#define END_TOLERANCE 1e-9

static int compare(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_sizes(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int by_time(const void *a, const void *b)
{
    const struct stand *x = a, *y = b;
    int c = compare_sizes(x->pos, y->pos);

    if (c == 0)
        c = compare_sizes(x->slot, y->slot);
    if (c == 0)
        c = compare(x->start_s, y->start_s);
    if (c == 0)
        c = compare(x->done_s, y->done_s);
    return c ? c : compare_sizes(x->place, y->place);
}

static int by_due(const void *a, const void *b)
{
    const struct stand *x = a, *y = b;
    int c = compare(y->priority, x->priority);

    if (c == 0)
        c = compare(x->deadline_s, y->deadline_s);
    return c ? c : compare_sizes(x->place, y->place);
}

static bool is_free(const struct placement_problem *p, const struct stand *s)
{
    const struct problem_job *j = &p->jobs[s->job];

    return j->release_s <= 0 && j->file_count == 0 && problem_output_s(p, j, s->pos) <= 0;
}

static bool follows(const struct placement_problem *p, const struct stand *s,
                    const struct stand *next)
{
    const struct problem_job *a = &p->jobs[s->job], *b = &p->jobs[next->job];

    if (s->pos != next->pos || s->slot != next->slot || next->start_s != s->done_s ||
        !is_free(p, next))
        return false;
    return !p->resources[s->pos].capacity ||
           (a->cpus == b->cpus && a->memory_bytes == b->memory_bytes);
}

/* Lays the chain's jobs, now in their order, from its start on; false: rounding would
 * move its end. */
static bool lay(struct placement_plan *plan, const struct stand *chain, size_t count,
                double start_s, double end_s)
{
    const struct placement_problem *p = plan->problem;
    double t_s = start_s;

    for (size_t i = 0; i < count; i++)
        t_s += problem_execution_s(p, &p->jobs[chain[i].job], chain[i].pos);
    if (fabs(t_s - end_s) > END_TOLERANCE * end_s)
        return false;
    t_s = start_s;
    for (size_t i = 0; i < count; i++) {
        struct plan_entry *e = &plan->entries[chain[i].job];
        double time_s = problem_execution_s(p, &p->jobs[chain[i].job], chain[i].pos);

        e->start_s = e->staged_s = t_s;
        t_s = i + 1 == count ? end_s : fmin(t_s + time_s, end_s);
        e->done_s = e->finish_s = t_s;
    }
    return true;
}

static void order_chain(struct placement_plan *plan, struct stand *chain, size_t count)
{
    double start_s = chain[0].start_s, end_s = chain[count - 1].done_s;
    bool sorted = true;

    for (size_t i = 0; i < count; i++) {
        chain[i].place = i;
        sorted = sorted && (i == 0 || by_due(&chain[i - 1], &chain[i]) < 0);
    }
    if (sorted)
        return;
    qsort(chain, count, sizeof(*chain), by_due);
    lay(plan, chain, count, start_s, end_s);
}

static bool has_due(const struct placement_problem *p)
{
    for (size_t i = 0; i < problem_pending(p); i++)
        if (!isnan(p->jobs[i].deadline_s) || p->jobs[i].given->fixed_priority > 0)
            return true;
    return false;
}

void due_order(struct placement_plan *plan)
{
    const struct placement_problem *p = plan->problem;
    struct stand *list;
    size_t count = plan->placed_count, first = 0;

    if (!has_due(p))
        return;
    list = NEW(plan->arena, struct stand, count);
    for (size_t k = 0; k < count; k++) {
        size_t job = plan->sequence[k];
        const struct plan_entry *e = &plan->entries[job];
        double deadline_s = p->jobs[job].deadline_s;

        list[k] = (struct stand){.job = job,
                                 .pos = e->pos,
                                 .slot = e->slot,
                                 .place = k,
                                 .start_s = e->start_s,
                                 .done_s = e->done_s,
                                 .priority = p->jobs[job].given->fixed_priority,
                                 .deadline_s = isnan(deadline_s) ? HUGE_VAL : deadline_s};
    }
    qsort(list, count, sizeof(*list), by_time);
    for (size_t i = 1; i <= count; i++) {
        if (i < count && is_free(p, &list[first]) && follows(p, &list[i - 1], &list[i]))
            continue;
        if (i - first > 1)
            order_chain(plan, list + first, i - first);
        first = i;
    }
}
