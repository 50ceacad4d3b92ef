/* workflow/area.c - no schedule ends before the processors have done all the work. */
#include "algorithms/workflow/area.h"

#include "models/base/order.h"

#include <string.h>

enum { THRESHOLDS = 48, BLOCKED_ROUNDS = 20 };

struct solving {
    const struct workflow_problem *problem;
    const bool *counts; /* [task]: is work that must be done */
    double *weight, *load_s, *share_s;
    struct workflow_clock *clock;
};

/* v of all tasks by the weights, their sum, and the load of each processor if every
 * task ran where it takes the least weighted time. -1: the time is up. */
static double share_out(struct solving *s)
{
    const struct workflow_problem *problem = s->problem;
    double sum_s = 0;

    memset(s->load_s, 0, problem->processor_count * sizeof(*s->load_s));
    for (size_t i = 0; i < problem->task_count; i++) {
        double least_s = HUGE_VAL, time_s = 0;
        size_t at = 0;

        s->share_s[i] = 0;
        if (!s->counts[i])
            continue;
        if (!workflow_tick(s->clock, (double)problem->processor_count))
            return -1;
        for (size_t p = 0; p < problem->processor_count; p++) {
            double alone_s =
                problem->processors[p].usable ? workflow_time_s(problem, i, p) : HUGE_VAL;

            if (alone_s < HUGE_VAL && s->weight[p] * alone_s < least_s) {
                least_s = s->weight[p] * alone_s;
                time_s = alone_s;
                at = p;
            }
        }
        if (!(least_s < HUGE_VAL))
            continue;
        s->share_s[i] = least_s;
        s->load_s[at] += time_s;
        sum_s += least_s;
    }
    return sum_s;
}

static void scale_to_one(double *weight, size_t count)
{
    double sum = 0;

    for (size_t p = 0; p < count; p++)
        sum += weight[p];
    for (size_t p = 0; p < count; p++)
        weight[p] = sum > 0 ? weight[p] / sum : 1 / (double)count;
}

/* Weights by speed: a processor's is the inverse of the work on it if it had all. This
 * is best where times are related. false: the time is up. */
static bool first_weights(struct solving *s)
{
    const struct workflow_problem *problem = s->problem;

    for (size_t p = 0; p < problem->processor_count; p++) {
        double sum_s = 0;

        if (!workflow_tick(s->clock, (double)problem->task_count))
            return false;
        for (size_t i = 0; i < problem->task_count; i++) {
            double time_s = s->counts[i] ? workflow_time_s(problem, i, p) : HUGE_VAL;

            sum_s += time_s < HUGE_VAL ? time_s : 0;
        }
        s->weight[p] = problem->processors[p].usable && sum_s > 0 ? 1 / sum_s : 0;
    }
    scale_to_one(s->weight, problem->processor_count);
    return true;
}

/* The best weights and shares so far. */
struct kept {
    double *weight, *share_s;
    double sum_s;
};

static void keep(const struct solving *s, double sum_s, struct kept *best)
{
    const struct workflow_problem *problem = s->problem;

    best->sum_s = sum_s;
    memcpy(best->weight, s->weight, problem->processor_count * sizeof(*best->weight));
    memcpy(best->share_s, s->share_s, problem->task_count * sizeof(*best->share_s));
}

/* More weight where there would be more load. `best` has all shares 0 so far. */
static void improve(struct solving *s, struct kept *best, size_t steps)
{
    size_t count = s->problem->processor_count;
    double sum_s = share_out(s);

    memcpy(best->weight, s->weight, count * sizeof(*best->weight));
    if (sum_s >= 0)
        keep(s, sum_s, best);
    for (size_t k = 0; k < steps && sum_s >= 0; k++) {
        double most_s = 0, rate = 0.5 / sqrt((double)(k + 1));

        for (size_t p = 0; p < count; p++)
            most_s = fmax(most_s, s->load_s[p]);
        if (!(most_s > 0))
            return;
        for (size_t p = 0; p < count; p++)
            s->weight[p] *= exp(rate * (s->load_s[p] / most_s - 0.5));
        scale_to_one(s->weight, count);
        sum_s = share_out(s);
        if (sum_s > best->sum_s)
            keep(s, sum_s, best);
    }
}

/* ---- what is blocked ---- */

static double blocked_before_s(const struct workflow_processor *p, double end_s)
{
    double sum_s = 0;

    for (size_t k = 0; k < p->blocked_count && p->blocked[k].from_s < end_s; k++)
        sum_s += fmin(p->blocked[k].to_s, end_s) - p->blocked[k].from_s;
    return sum_s;
}

/* If the end is at least T, the work and what is blocked before T take at least ...;
 * from below, so each round is a bound. */
static double with_blocked_s(const struct workflow_problem *problem, const double *weight,
                             double work_s)
{
    double end_s = work_s;

    for (size_t k = 0; k < BLOCKED_ROUNDS; k++) {
        double sum_s = work_s;

        for (size_t p = 0; p < problem->processor_count; p++)
            if (weight[p] > 0)
                sum_s += weight[p] * blocked_before_s(&problem->processors[p], end_s);
        if (!(sum_s > end_s))
            break;
        end_s = sum_s;
    }
    return end_s;
}

/* ---- sets ---- */

/* At most THRESHOLDS of the values, rising, the least of them first. */
static size_t pick(double *values, size_t count, double *picked)
{
    size_t kept = 0;

    sort_numbers(values, count);
    for (size_t k = 0; k < THRESHOLDS; k++) {
        size_t at = count <= THRESHOLDS ? k : k * (count - 1) / (THRESHOLDS - 1);

        if (at < count && (kept == 0 || values[at] > picked[kept - 1]))
            picked[kept++] = values[at];
    }
    return kept;
}

struct sets {
    double *start_s, *tail_s, *share_s; /* of the tasks that count */
    size_t count;
    double starts[THRESHOLDS], tails[THRESHOLDS];
    size_t start_count, tail_count;
};

static size_t place_of(const double *list, size_t count, double value)
{
    size_t k = 0;

    while (k + 1 < count && list[k + 1] <= value)
        k++;
    return k;
}

static double best_set_s(const struct sets *sets)
{
    double best_s = 0;

    for (size_t k = 0; k < sets->start_count; k++) {
        double by_tail[THRESHOLDS] = {0}, sum_s = 0;

        for (size_t i = 0; i < sets->count; i++)
            if (sets->start_s[i] >= sets->starts[k])
                by_tail[place_of(sets->tails, sets->tail_count, sets->tail_s[i])] +=
                    sets->share_s[i];
        for (size_t t = sets->tail_count; t-- > 0;) {
            sum_s += by_tail[t];
            if (sum_s > 0)
                best_s = fmax(best_s, sets->starts[k] + sum_s + sets->tails[t]);
        }
    }
    return best_s;
}

/* Earliest start and least tail of a task, wherever it runs. */
static void fill_set(const struct workflow_problem *problem,
                     const struct workflow_heads *heads, const double *share_s,
                     struct workflow_clock *clock, struct sets *sets)
{
    size_t processors = problem->processor_count;

    for (size_t i = 0; i < problem->task_count; i++) {
        double start_s = HUGE_VAL, tail_s = HUGE_VAL;

        if (!(share_s[i] > 0))
            continue;
        if (!workflow_tick(clock, 2 * (double)processors))
            return; /* some of the tasks are a bound, too */
        for (size_t p = 0; p < processors; p++) {
            double head_s = heads->head_s[i * processors + p];

            if (!(head_s < HUGE_VAL))
                continue;
            start_s = fmin(start_s, head_s - workflow_time_s(problem, i, p));
            tail_s = fmin(tail_s, heads->tail_s[i * processors + p]);
        }
        if (!(start_s < HUGE_VAL && tail_s < HUGE_VAL))
            continue;
        sets->start_s[sets->count] = fmax(0, start_s);
        sets->tail_s[sets->count] = tail_s;
        sets->share_s[sets->count++] = share_s[i];
    }
}

static void sets_bound(const struct workflow_problem *problem,
                       const struct workflow_heads *heads, const double *share_s,
                       struct workflow_clock *clock, double *bound_s, struct arena *a)
{
    size_t n = problem->task_count;
    struct sets sets = {.count = 0};
    double *sorted = NEW(a, double, n);

    sets.start_s = NEW(a, double, n);
    sets.tail_s = NEW(a, double, n);
    sets.share_s = NEW(a, double, n);
    fill_set(problem, heads, share_s, clock, &sets);
    if (sets.count == 0)
        return;
    memcpy(sorted, sets.start_s, sets.count * sizeof(*sorted));
    sets.start_count = pick(sorted, sets.count, sets.starts);
    memcpy(sorted, sets.tail_s, sets.count * sizeof(*sorted));
    sets.tail_count = pick(sorted, sets.count, sets.tails);
    *bound_s = fmax(*bound_s, best_set_s(&sets));
}

/* ---- */

static void note_work(const struct workflow_problem *problem,
                      const struct workflow_heads *heads, bool *counts)
{
    for (size_t i = 0; i < problem->task_count; i++)
        counts[i] = workflow_is_open(problem, i) && heads->placeable[i];
}

void workflow_area_make(const struct workflow_problem *problem,
                        const struct workflow_heads *heads, size_t steps,
                        struct workflow_clock *clock, struct workflow_area *area,
                        struct arena *a)
{
    size_t n = problem->task_count, processors = problem->processor_count;
    double looks = (double)n * (double)processors + 1;
    struct kept best = {NEW(a, double, processors), NEW(a, double, n), 0};
    bool *counts = NEW(a, bool, n);
    struct solving s = {.problem = problem, .counts = counts, .clock = clock};

    *area = (struct workflow_area){.area_s = 0};
    s.weight = NEW(a, double, processors);
    s.load_s = NEW(a, double, processors);
    s.share_s = NEW(a, double, n);
    area->weight = best.weight;
    area->share_s = best.share_s;
    if (n == 0 || processors == 0)
        return;
    note_work(problem, heads, counts);
    if (!first_weights(&s))
        return;
    improve(&s, &best, (size_t)fmin((double)steps, AREA_WORK_MOST / looks));
    area->area_s = with_blocked_s(problem, best.weight, best.sum_s);
    if (heads->head_s && workflow_tick(clock, 0))
        sets_bound(problem, heads, best.share_s, clock, &area->area_s, a);
    area->area_s *= 1 - 1e-12; /* sums are rounded */
}
