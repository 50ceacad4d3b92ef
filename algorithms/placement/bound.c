/* placement/bound.c - what no plan of these jobs can beat.
 *
 *     (a) max over jobs of min over resources of
 *         max(first free slot, release) + longest single transfer + execution + outputs
 *     (b) for any lambda_r >= 0 with sum_r slots_r * lambda_r = 1:
 *         sum_i min_r lambda_r * execution(i, r)
 *             + sum_r lambda_r * sum over its slots of min(time until free, bound)
 *     (c) as (b), with prices for cpus and memory too: bound_needs.c
 *
 * The largest. (b) is what prices.h finds. Where end times follow from the assignment of
 * jobs to slots alone, the bounds are those of the search, from the matrix of jobs and
 * slots (machines.h); elimination only where that is a matter of milliseconds. Else the
 * columns are resources. Where jobs have estimates, what counts of a class of jobs is its
 * work, and of the resources that the same classes may use, their speeds together: the
 * programme has one row a class and one column a set of classes.
 *
 * Source: spec gridway.md 5.4, search.md 4.
 * Cost: (a) a scan for each stream (matrix: job), stopped after WORK_MAX looks; (b)
 * PRICES_ROUNDS times the numbers of the matrix: 25 ms for 2048 x 64. When the time is
 * up, what there is counts. Deviation: the spec adds a transfer to the first free slot of
 * r itself; but a shared file may be brought by a job on another resource of the same
 * store. For shared files we count from the first free slot of the store.
 */
#include "algorithms/placement/bound.h"

#include "algorithms/placement/bound_parts.h"
#include "algorithms/placement/machines.h"
#include "algorithms/placement/pair_map.h"
#include "algorithms/placement/prices.h"

#include <string.h>

enum {
    WORK_MAX = 10 * 1000 * 1000,
    LATE_WORK_MAX = 1 << 14, /* when the time is up */
    ELIMINATE_MAX = 1 << 16, /* jobs * slots up to which pairs are eliminated too, */
    ESTIMATES_MAX = 1 << 14, /* and up to which estimates are made a matrix */
};

/* ---- (a) ---- */

/* Least first_free_s by block and by store. */
struct starts {
    const struct placement_plan *plan;
    double *block_s, *store_s;
    size_t work;
};

static void find_starts(struct starts *s)
{
    const struct placement_problem *p = s->plan->problem;

    s->block_s = NEW(p->arena, double, p->block_count);
    s->store_s = NEW(p->arena, double, p->store_count);
    for (size_t b = 0; b < p->block_count; b++)
        s->block_s[b] = HUGE_VAL;
    for (size_t i = 0; i < p->store_count; i++)
        s->store_s[i] = HUGE_VAL;
    for (size_t pos = 0; pos < p->resource_count; pos++) {
        const struct problem_resource *r = &p->resources[pos];

        s->block_s[pos / BLOCK] = fmin(s->block_s[pos / BLOCK], r->first_free_s);
        s->store_s[r->store] = fmin(s->store_s[r->store], r->first_free_s);
    }
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

static size_t fewer(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* In each stream only the placed job with the largest estimate counts. */
static void longest_job_s(struct placement_plan *plan, struct ticks *ticks,
                          double *bound_s)
{
    const struct placement_problem *p = plan->problem;
    struct starts s = {.plan = plan};
    size_t most = ticks_ask(ticks) ? LATE_WORK_MAX : WORK_MAX;

    find_starts(&s);
    for (size_t i = 0; i < p->stream_count && s.work < most; i++) {
        const size_t *jobs = p->stream_jobs + p->streams[i].first;
        size_t k = p->streams[i].count, work = s.work;
        double time_s;

        while (k > 0 && plan->entries[jobs[k - 1]].pos == NO_INDEX)
            k--;
        if (k == 0)
            continue;
        time_s = shortest_s(&s, &p->jobs[jobs[k - 1]]);
        if (ticks_spent(ticks, s.work - work))
            most = fewer(most, s.work + LATE_WORK_MAX);
        if (time_s < HUGE_VAL)
            *bound_s = fmax(*bound_s, time_s);
    }
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

/* The waits of all slots that count, of a column each. */
static size_t list_waits(const struct placement_plan *plan, struct prices_wait *out)
{
    const struct placement_problem *p = plan->problem;
    size_t count = 0;

    for (size_t pos = 0; pos < p->resource_count; pos++) {
        const struct problem_resource *r = &p->resources[pos];
        size_t fresh = fewer(r->slot_count - r->free_slot, plan->placed_count);

        for (size_t k = 0; k < r->busy_count; k++)
            if (r->busy[k].free_s > 0)
                out[count++] = (struct prices_wait){pos, r->busy[k].free_s, 1};
        if (fresh && r->given->ready_s > 0)
            out[count++] = (struct prices_wait){pos, r->given->ready_s, (double)fresh};
    }
    return count;
}

static size_t waits_room(const struct placement_problem *p)
{
    size_t count = p->resource_count;

    for (size_t pos = 0; pos < p->resource_count; pos++)
        count += p->resources[pos].busy_count;
    return count;
}

static void make_columns(const struct placement_plan *plan, double bound_s,
                         struct prices_problem *out)
{
    const struct placement_problem *p = plan->problem;
    double *slots = NEW(plan->arena, double, p->resource_count), ignored_s;
    struct prices_wait *waits = NEW(plan->arena, struct prices_wait, waits_room(p));

    for (size_t pos = 0; pos < p->resource_count; pos++)
        bound_slots(plan, pos, bound_s, &slots[pos], &ignored_s);
    out->column_count = p->resource_count;
    out->slots = slots;
    out->waits = waits;
    out->wait_count = list_waits(plan, waits);
}

static void fill_row(const struct placement_plan *plan, size_t job, const double *slots,
                     double *time_s)
{
    const struct placement_problem *p = plan->problem;
    const struct problem_job *j = &p->jobs[job];
    const struct problem_class *c = &p->classes[j->job_class];

    for (size_t pos = 0; pos < p->resource_count; pos++)
        time_s[pos] = problem_class_has(c, pos) && slots[pos] > 0
                          ? problem_execution_s(p, j, pos)
                          : HUGE_VAL;
}

static void note_priced(struct placement_plan *plan, const struct prices *found)
{
    if (found->value > 0)
        bound_list_note(&plan->bounds, BOUND_PRICED, found->value * (1 - PRICES_SAFETY));
}

static enum error_code bound_of_rows(struct placement_plan *plan, double bound_s,
                                     struct ticks *ticks)
{
    const struct placement_problem *p = plan->problem;
    struct prices_problem rows = {0};
    struct prices found = {.floor = bound_s};
    double *time_s;

    if (p->resource_count == 0 || plan->placed_count > ROWS_MAX / p->resource_count)
        return OK;
    make_columns(plan, bound_s, &rows);
    time_s = NEW(plan->arena, double, plan->placed_count * p->resource_count);
    rows.time = time_s;
    for (size_t i = 0; i < p->job_count; i++) {
        if (plan->entries[i].pos == NO_INDEX)
            continue;
        fill_row(plan, i, rows.slots, time_s + rows.row_count++ * p->resource_count);
        if (ticks_spent(ticks, p->resource_count))
            return OK;
    }
    TRY(prices_find(&rows, ticks, &found, plan->arena));
    note_priced(plan, &found);
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

static void find_sets(const struct placement_plan *plan, double bound_s, struct sets *s)
{
    const struct placement_problem *p = plan->problem;
    struct pair_map map;

    s->class_count = p->class_count > CLASSES_MAX ? 1 : p->class_count;
    s->members = NEW(plan->arena, uint64_t, p->resource_count);
    s->speed = NEW(plan->arena, double, p->resource_count);
    s->wait_work = NEW(plan->arena, double, p->resource_count);
    s->work = NEW(plan->arena, double, s->class_count);
    pair_map_create(&map, p->resource_count, plan->arena);
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
}

/* The work of classes has no waits of slots one by one: they count as they are now. */
static enum error_code bound_of_work(struct placement_plan *plan, double bound_s,
                                     struct ticks *ticks)
{
    struct sets s = {0};
    struct prices found = {.floor = bound_s};
    struct prices_wait *waits;
    struct prices_problem rows;
    size_t wait_count = 0;
    double *time_s;

    find_sets(plan, bound_s, &s);
    if (s.count == 0 || s.class_count * s.count > ROWS_MAX)
        return OK;
    time_s = NEW(plan->arena, double, s.class_count *s.count);
    waits = NEW(plan->arena, struct prices_wait, s.count);
    for (size_t c = 0; c < s.class_count; c++)
        for (size_t k = 0; k < s.count; k++)
            time_s[c * s.count + k] =
                bound_is_member(s.members[k], c) ? s.work[c] : HUGE_VAL;
    for (size_t k = 0; k < s.count; k++)
        if (bound_s > 0 && s.wait_work[k] > 0)
            waits[wait_count++] =
                (struct prices_wait){k, bound_s, s.wait_work[k] / bound_s};
    rows = (struct prices_problem){s.class_count, s.count, time_s,
                                   s.speed,       waits,   wait_count};
    TRY(prices_find(&rows, ticks, &found, plan->arena));
    note_priced(plan, &found);
    return OK;
}

/* Grain, pigeonhole and elimination need jobs on slots one by one. */
static bool by_slots(const struct placement_plan *plan)
{
    const struct placement_problem *p = plan->problem;

    return !plan->hold_slots && p->in->running_count == 0 && machines_bound_applies(p) &&
           (p->has_matrix || p->job_count * machines_count(p) <= ESTIMATES_MAX);
}

static enum error_code bound_of_slots(struct placement_plan *plan, struct ticks *ticks)
{
    const struct placement_problem *p = plan->problem;
    bool eliminate = p->job_count * machines_count(p) <= ELIMINATE_MAX;

    return machines_bound(plan, eliminate ? plan->makespan_s : HUGE_VAL, ticks);
}

static enum error_code find_bounds(struct placement_plan *plan, struct ticks *ticks)
{
    const struct placement_problem *p = plan->problem;
    double longest_s = 0, needs_s;

    longest_job_s(plan, ticks, &longest_s);
    bound_list_note(&plan->bounds, BOUND_LONGEST_JOB, longest_s);
    if (ticks->spent)
        return OK;
    if (by_slots(plan))
        TRY(bound_of_slots(plan, ticks));
    else if (p->has_matrix)
        TRY(bound_of_rows(plan, longest_s, ticks));
    else
        TRY(bound_of_work(plan, longest_s, ticks));
    if (!p->has_capacity || ticks_ask(ticks))
        return OK;
    needs_s = longest_s = bound_list_best(&plan->bounds);
    TRY(bound_of_needs(plan, &needs_s, ticks));
    if (needs_s > longest_s)
        bound_list_note(&plan->bounds, BOUND_PRICED, needs_s * (1 - PRICES_SAFETY));
    return OK;
}

enum error_code bound_of(struct placement_plan *plan, struct error *err)
{
    struct ticks ticks = {.budget = plan->problem->in->budget, .until = 1};

    (void)err;
    if (plan->bounded || plan->placed_count == 0)
        return OK;
    plan->bounded = true;
    TRY(find_bounds(plan, &ticks));
    if (!plan->searched && ticks_ask(&ticks))
        problem_warn(plan->problem,
                     "bound_skipped: the time limit came before all bounds were "
                     "computed; lower_bound_s holds, and may be less than it could be");
    return OK;
}
