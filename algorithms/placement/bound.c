/* placement/bound.c - what no plan of these jobs can beat.
 *
 *     (a) max over jobs of min over resources of
 *         max(first free slot, release) + longest single transfer + execution + outputs
 *     (b) for any lambda_r >= 0 with sum_r slots_r * lambda_r = 1:
 *         sum_i min_r lambda_r * execution(i, r)
 *             + sum_r lambda_r * sum over its slots of min(time until free, bound)
 *     (c) as (b), with prices for cpus and memory too: bound_needs.c
 *
 * The largest, less 1e-9 of it for rounding. (b) is the dual of a linear
 * programme; any lambda is valid, an ascent finds a good one (spec 5.4). Rows of a
 * matrix are taken one by one. Where jobs have estimates, what counts of a class of
 * jobs is its work, and of the resources that the same classes may use, their speeds
 * together: the programme has one row a class and one column a set of classes.
 *
 * Source: spec gridway.md 5.4.
 * Cost: (a) a scan for each stream (matrix: job), stopped after WORK_MAX looks; (b)
 * at most STEPS_WORK products: a few milliseconds for 10^4 jobs and resources.
 * Deviation: the spec adds a transfer to the first free slot of r itself; but a shared
 * file may be brought by a job on another resource of the same store. For shared files
 * we count from the first free slot of the store.
 */
#include "algorithms/placement/bound.h"

#include "algorithms/placement/bound_parts.h"
#include "algorithms/placement/pair_map.h"

#include <string.h>

enum {
    WORK_MAX = 10 * 1000 * 1000,
    SMALL = 8192,             /* products of a step up to which there are STEPS_MAX */
    STEPS_WORK = 3000 * 1000, /* products of all steps of a larger one */
    STEPS_MAX = 1000,
};

/* ---- the ascent ---- */

/* Load of every column when each row takes its cheapest one; the value. */
static double loads_of(const struct bound_rows *b, const double *lambda, double *load)
{
    double value = 0;

    for (size_t r = 0; r < b->column_count; r++)
        load[r] = b->wait_s[r];
    for (size_t i = 0; i < b->row_count; i++) {
        const double *time_s = b->time_s + i * b->column_count;
        size_t best = 0;
        double least = HUGE_VAL;

        for (size_t r = 0; r < b->column_count; r++) {
            double price = lambda[r] * time_s[r];

            if (price < least) {
                least = price;
                best = r;
            }
        }
        if (least < HUGE_VAL)
            load[best] += time_s[best];
    }
    for (size_t r = 0; r < b->column_count; r++)
        value += lambda[r] * load[r];
    return value;
}

static void rescale(const struct bound_rows *b, double *lambda)
{
    double sum = 0;

    for (size_t r = 0; r < b->column_count; r++)
        sum += b->slots[r] * lambda[r];
    for (size_t r = 0; r < b->column_count; r++)
        lambda[r] /= sum;
}

double bound_ascent_s(const struct bound_rows *b, size_t steps, double *lambda)
{
    double *load = lambda + b->column_count;
    double best_s = 0, eta = 0.3, slots = 0;
    /* The same total change in fewer steps. */
    double decay = steps ? pow(0.99, (double)STEPS_MAX / (double)steps) : 1;

    for (size_t r = 0; r < b->column_count; r++)
        slots += b->slots[r];
    if (!(slots > 0))
        return 0;
    for (size_t r = 0; r < b->column_count; r++)
        lambda[r] = 1 / slots;
    for (size_t k = 0; k < steps; k++) {
        double value_s = loads_of(b, lambda, load);

        if (!(value_s > 0))
            break;
        best_s = fmax(best_s, value_s);
        for (size_t r = 0; r < b->column_count; r++) {
            double over = b->slots[r] > 0 ? load[r] / (b->slots[r] * value_s) - 1 : -1;

            lambda[r] *= exp(eta * (over > 1 ? 1 : over));
        }
        rescale(b, lambda);
        eta *= decay;
    }
    return best_s;
}

/* ---- (a) ---- */

/* Least first_free_s by block and by store. */
struct starts {
    const struct placement_plan *plan;
    double *block_s, *store_s;
    size_t work;
};

static enum error_code find_starts(struct starts *s, struct error *err)
{
    const struct placement_problem *p = s->plan->problem;

    s->block_s = NEW(p->arena, double, p->block_count);
    s->store_s = NEW(p->arena, double, p->store_count);
    if (!s->block_s || !s->store_s)
        return fail_memory(err);
    for (size_t b = 0; b < p->block_count; b++)
        s->block_s[b] = HUGE_VAL;
    for (size_t i = 0; i < p->store_count; i++)
        s->store_s[i] = HUGE_VAL;
    for (size_t pos = 0; pos < p->resource_count; pos++) {
        const struct problem_resource *r = &p->resources[pos];

        s->block_s[pos / BLOCK] = fmin(s->block_s[pos / BLOCK], r->first_free_s);
        s->store_s[r->store] = fmin(s->store_s[r->store], r->first_free_s);
    }
    return OK;
}

static double shortest_there_s(const struct starts *s, const struct problem_job *j,
                               size_t pos)
{
    const struct placement_problem *p = s->plan->problem;
    const struct problem_resource *r = &p->resources[pos];
    const size_t *files = problem_files(p, j, pos);
    double start_s = fmax(r->first_free_s, j->release_s), staged_s = start_s;

    if (problem_need_filter(p, j, pos, true) != FILTER_PASSED)
        return HUGE_VAL;
    for (size_t k = 0; k < j->file_count; k++) {
        double move_s = problem_transfer_s(p, files[k], r->site);
        bool shared = p->in->snapshot->files[files[k]].shared;

        staged_s = fmax(staged_s, move_s + (shared ? s->store_s[r->store] : start_s));
    }
    return staged_s + problem_execution_s(p, j, pos) + problem_output_s(p, j, pos);
}

/* The least time at which the job can end, HUGE_VAL: none is known. */
static double shortest_s(struct starts *s, const struct problem_job *j)
{
    const struct placement_problem *p = s->plan->problem;
    const struct problem_class *c = &p->classes[j->job_class];
    double best_s = HUGE_VAL;

    s->work += p->block_count;
    for (size_t b = 0; b < p->block_count; b++) {
        double bound_s = fmax(s->block_s[b], j->release_s);

        if (!j->etc_s && j->estimate_ref_s > 0)
            bound_s += j->estimate_ref_s * p->block_slowness[b];
        if (!c->mask[b] || bound_s * (1 - 1e-12) >= best_s)
            continue;
        for (uint64_t left = c->mask[b]; left; left &= left - 1) {
            size_t pos = b * BLOCK + (size_t)__builtin_ctzll(left);

            best_s = sooner_s(best_s, shortest_there_s(s, j, pos));
            s->work += 1 + j->file_count;
        }
    }
    return best_s;
}

/* In each stream only the placed job with the largest estimate counts. */
static enum error_code longest_job_s(struct placement_plan *plan, double *bound_s,
                                     struct error *err)
{
    const struct placement_problem *p = plan->problem;
    struct starts s = {.plan = plan};

    TRY(find_starts(&s, err));
    for (size_t i = 0; i < p->stream_count && s.work < WORK_MAX; i++) {
        const size_t *jobs = p->stream_jobs + p->streams[i].first;
        size_t k = p->streams[i].count;
        double time_s;

        while (k > 0 && plan->entries[jobs[k - 1]].pos == NO_INDEX)
            k--;
        if (k == 0)
            continue;
        time_s = shortest_s(&s, &p->jobs[jobs[k - 1]]);
        if (time_s < HUGE_VAL)
            *bound_s = fmax(*bound_s, time_s);
    }
    return OK;
}

/* ---- (b) ---- */

/* Slots that count, and the sum of min(time until free, bound) over them. More free
 * slots than jobs cannot all be used. */
void bound_slots(const struct placement_plan *plan, size_t pos, double bound_s,
                 double *slots, double *wait_s)
{
    const struct problem_resource *r = &plan->problem->resources[pos];
    size_t fresh = r->slot_count - r->free_slot;

    if (fresh > plan->placed_count)
        fresh = plan->placed_count;
    *slots = (double)(fresh + r->busy_count);
    *wait_s = (double)fresh * fmin(r->given->ready_s, bound_s);
    for (size_t k = 0; k < r->busy_count; k++)
        *wait_s += fmin(r->busy[k].free_s, bound_s);
}

static size_t steps_for(size_t rows, size_t columns)
{
    size_t products = rows * columns;

    return products <= SMALL ? STEPS_MAX : STEPS_WORK / products + 8;
}

static enum error_code bound_of_rows(const struct placement_plan *plan, double *bound_s,
                                     struct error *err)
{
    const struct placement_problem *p = plan->problem;
    size_t columns = p->resource_count, rows = 0;
    struct arena *a = plan->arena;
    double *slots, *wait_s, *lambda, *time_s;
    struct bound_rows b;

    if (columns == 0 || plan->placed_count > ROWS_MAX / columns)
        return OK;
    slots = NEW(a, double, columns);
    wait_s = NEW(a, double, columns);
    lambda = NEW(a, double, 2 * columns);
    time_s = NEW(a, double, plan->placed_count *columns);
    if (!slots || !wait_s || !lambda || !time_s)
        return fail_memory(err);
    for (size_t pos = 0; pos < columns; pos++)
        bound_slots(plan, pos, *bound_s, &slots[pos], &wait_s[pos]);
    for (size_t i = 0; i < p->job_count; i++) {
        const struct problem_job *j = &p->jobs[i];
        const struct problem_class *c = &p->classes[j->job_class];

        if (plan->entries[i].pos == NO_INDEX)
            continue;
        for (size_t pos = 0; pos < columns; pos++)
            time_s[rows * columns + pos] = problem_class_has(c, pos) && slots[pos] > 0
                                               ? problem_execution_s(p, j, pos)
                                               : HUGE_VAL;
        rows++;
    }
    b = (struct bound_rows){rows, columns, time_s, slots, wait_s};
    *bound_s = fmax(*bound_s, bound_ascent_s(&b, steps_for(rows, columns), lambda));
    return OK;
}

/* Classes of jobs against sets of resources that the same classes may use. */
struct sets {
    size_t class_count, count;
    uint64_t *members;         /* of a set: which classes may use it */
    double *speed, *wait_work; /* of a set: sums over slots of v and v * wait */
    double *work;              /* of a class: its jobs' estimates */
};

uint64_t bound_classes(const struct placement_problem *p, size_t pos)
{
    uint64_t members = 0;

    if (p->class_count > CLASSES_MAX)
        return 1;
    for (size_t c = 0; c < p->class_count; c++)
        if (problem_class_has(&p->classes[c], pos))
            members |= UINT64_C(1) << (c % CLASSES_MAX);
    return members;
}

bool bound_is_member(uint64_t members, size_t class_index)
{
    return (members & UINT64_C(1) << (class_index % CLASSES_MAX)) != 0;
}

static enum error_code find_sets(const struct placement_plan *plan, double bound_s,
                                 struct sets *s, struct error *err)
{
    const struct placement_problem *p = plan->problem;
    struct pair_map map;

    s->class_count = p->class_count > CLASSES_MAX ? 1 : p->class_count;
    s->members = NEW(plan->arena, uint64_t, p->resource_count);
    s->speed = NEW(plan->arena, double, p->resource_count);
    s->wait_work = NEW(plan->arena, double, p->resource_count);
    s->work = NEW(plan->arena, double, s->class_count);
    if (!s->members || !s->speed || !s->wait_work || !s->work ||
        !pair_map_create(&map, p->resource_count, plan->arena))
        return fail_memory(err);
    for (size_t pos = 0; pos < p->resource_count; pos++) {
        uint64_t members = bound_classes(p, pos);
        double speed = p->resources[pos].speed_mips, slots, wait_s;
        size_t set;

        if (members == 0 || speed <= 0 || speed > LONGEST_S)
            continue;
        bound_slots(plan, pos, bound_s, &slots, &wait_s);
        set = pair_map_number(&map, (size_t)(members >> 32),
                              (size_t)(members & UINT32_MAX));
        s->members[set] = members;
        s->speed[set] += slots * speed;
        s->wait_work[set] += wait_s * speed;
        s->count = map.count;
    }
    for (size_t i = 0; i < p->job_count; i++)
        if (plan->entries[i].pos != NO_INDEX && p->jobs[i].estimate_ref_s <= LONGEST_S)
            s->work[s->class_count == 1 ? 0 : p->jobs[i].job_class] +=
                p->jobs[i].estimate_ref_s;
    return OK;
}

static enum error_code bound_of_work(const struct placement_plan *plan, double *bound_s,
                                     struct error *err)
{
    struct sets s = {0};
    struct bound_rows b;
    double *time_s, *lambda;

    TRY(find_sets(plan, *bound_s, &s, err));
    if (s.count == 0 || s.class_count * s.count > ROWS_MAX)
        return OK;
    time_s = NEW(plan->arena, double, s.class_count *s.count);
    lambda = NEW(plan->arena, double, 2 * s.count);
    if (!time_s || !lambda)
        return fail_memory(err);
    for (size_t c = 0; c < s.class_count; c++)
        for (size_t k = 0; k < s.count; k++)
            time_s[c * s.count + k] =
                bound_is_member(s.members[k], c) ? s.work[c] : HUGE_VAL;
    b = (struct bound_rows){s.class_count, s.count, time_s, s.speed, s.wait_work};
    *bound_s =
        fmax(*bound_s, bound_ascent_s(&b, steps_for(4 * s.class_count, s.count), lambda));
    return OK;
}

enum error_code bound_of(struct placement_plan *plan, double *bound_s, struct error *err)
{
    bool matrix = plan->problem->has_matrix;
    double found_s = 0;

    if (plan->placed_count && !plan->too_late) {
        TRY(longest_job_s(plan, &found_s, err));
        TRY(matrix ? bound_of_rows(plan, &found_s, err)
                   : bound_of_work(plan, &found_s, err));
        TRY(bound_of_needs(plan, &found_s, err));
    }
    *bound_s = found_s * (1 - 1e-9);
    return OK;
}
