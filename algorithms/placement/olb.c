/* placement/olb.c - jobs in order, each on the earliest free slot.
 *
 * Opportunistic load balancing: looks at no run time. Among feasible resources the
 * one whose first slot is free earliest; where cpus or memory are limited, the one
 * where the job can start earliest. Ties: lowest resource index.
 *
 * Source: Maheswaran et al. 1999; spec gridway.md 5.1.
 * Cost: O(log m) a job where most resources suit (a heap of all resources), O(m) for
 * a job that few suit.
 */
#include "algorithms/placement/plan.h"
#include "models/base/heap.h"

const struct param placement_olb_params[] = {{0}};

enum { FEW = 256 }; /* resources that a scan looks through faster than the heap */

/* All positions by (earliest start when last looked at, snapshot index). Starts only
 * grow, so that the noted ones are lower bounds. */
struct line {
    struct placement_plan *plan;
    double *key_s;
    size_t *heap, count;
    size_t *passed; /* taken out for the job at hand */
    size_t passed_count;
};

static bool goes_before(const struct line *l, const size_t *a, const size_t *b)
{
    const struct problem_resource *r = l->plan->problem->resources;

    return l->key_s[*a] < l->key_s[*b] ||
           (l->key_s[*a] <= l->key_s[*b] && r[*a].index < r[*b].index);
}

HEAP_IN(line, size_t, struct line, goes_before)

static void create(struct line *l, struct placement_plan *plan)
{
    size_t count = plan->problem->resource_count;

    l->plan = plan;
    l->key_s = NEW(plan->arena, double, count);
    l->heap = NEW(plan->arena, size_t, count);
    l->passed = NEW(plan->arena, size_t, count);
    for (size_t pos = 0; pos < count; pos++) {
        l->key_s[pos] = plan->earliest_s[pos];
        line_push(l, l->heap, &l->count, pos);
    }
}

/* When the job could start there. */
static double start_s(struct placement_plan *plan, size_t job, size_t pos)
{
    return plan->holes ? plan_fit(plan, job, pos).start_s : plan->earliest_s[pos];
}

struct candidate {
    size_t pos;
    double start_s;
};

static void consider(struct placement_plan *plan, size_t job, size_t pos,
                     struct candidate *best)
{
    const struct problem_resource *r = plan->problem->resources;
    double at_s;

    plan->work += 2;
    if (!plan_can_run(plan, job, pos))
        return;
    at_s = start_s(plan, job, pos);
    if (at_s < best->start_s ||
        (at_s <= best->start_s && at_s < HUGE_VAL && r[pos].index < r[best->pos].index))
        *best = (struct candidate){pos, at_s};
}

static size_t earliest_in_line(struct line *l, size_t job)
{
    struct candidate best = {NO_INDEX, HUGE_VAL};

    l->passed_count = 0;
    while (l->count) {
        size_t top = l->heap[0];

        if (l->key_s[top] < l->plan->earliest_s[top]) {
            l->key_s[top] = l->plan->earliest_s[top];
            line_first_changed(l, l->heap, l->count);
            continue;
        }
        if (best.pos != NO_INDEX &&
            (l->key_s[top] > best.start_s ||
             (l->key_s[top] >= best.start_s && goes_before(l, &best.pos, &top))))
            break;
        l->passed[l->passed_count++] = line_pop(l, l->heap, &l->count);
        consider(l->plan, job, top, &best);
    }
    while (l->passed_count)
        line_push(l, l->heap, &l->count, l->passed[--l->passed_count]);
    return best.pos;
}

static size_t earliest_of_few(struct placement_plan *plan, const struct problem_class *c,
                              size_t job)
{
    struct candidate best = {NO_INDEX, HUGE_VAL};

    for (size_t b = 0; b < plan->problem->block_count; b++)
        for (uint64_t left = c->mask[b]; left; left &= left - 1)
            consider(plan, job, b * BLOCK + (size_t)__builtin_ctzll(left), &best);
    return best.pos;
}

enum error_code placement_olb(const struct placement_problem *problem,
                              const double *param, struct placement_plan *plan,
                              struct arena *a, struct error *err)
{
    struct line line = {0};

    (void)param;
    (void)a;
    create(&line, plan);
    for (size_t i = 0; i < problem->job_count && !plan_spent(plan); i++) {
        size_t job = problem->order[i];
        const struct problem_class *c = &problem->classes[problem->jobs[job].job_class];
        size_t pos = c->passed_count <= FEW ? earliest_of_few(plan, c, job)
                                            : earliest_in_line(&line, job);

        if (pos != NO_INDEX)
            TRY(plan_place(plan, job, pos, err));
    }
    return OK;
}
