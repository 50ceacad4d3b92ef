/* placement/plan.c - a plan that grows job by job. */
#include "algorithms/placement/plan.h"

#include "algorithms/placement/buckets.h"
#include "algorithms/placement/pair_map.h"
#include "models/base/heap.h"

#include <stdlib.h>
#include <string.h>

struct plan_resource {
    struct problem_slot *heap; /* used slots, least (free_s, slot) first */
    size_t heap_count, heap_room;
    size_t fresh; /* slots from here on were never used and are free at ready_s */
    struct problem_hold *holders; /* by rising end_s; only on resources with limits, */
    size_t holder_count, holder_room;
    double front_s;              /* ... as the latest start planned here, without holes */
    struct free_profile profile; /* only with holes */
};

/* Where jobs may start in front of others. */
struct plan_holes {
    double scale[AMOUNT_COUNT]; /* units of cpus and memory */
    struct buckets buckets;
    struct amounts *needs; /* by job */
    double *first_s; /* by bucket and position: no job of the bucket starts before */
    double *block_first_s; /* by bucket and block */
    double **busy_end_s;   /* by position: of its busy slots, rising */
};

/* Holes are looked for: not where jobs start now or never. */
static bool seeks_holes(const struct placement_plan *plan)
{
    return plan->holes && !plan->hold_slots;
}

/* Stage-in as a function of the start t: max(t + add_s, until_s). */
struct plan_stage {
    double add_s, until_s;
    size_t stamp;
};

enum { WORK_PER_POLL = 1 << 14 };

/* ---- slots ---- */

static bool slot_before(const struct problem_slot *a, const struct problem_slot *b)
{
    return a->free_s < b->free_s || (a->free_s <= b->free_s && a->slot < b->slot);
}

HEAP(slots, struct problem_slot, slot_before)

static bool has_fresh(const struct placement_plan *plan, size_t pos)
{
    return plan->resources[pos].fresh < plan->problem->resources[pos].slot_count;
}

/* The slot that is free first, lowest number first; free_s HUGE_VAL: none. */
static struct problem_slot first_slot(const struct placement_plan *plan, size_t pos)
{
    const struct plan_resource *r = &plan->resources[pos];
    struct problem_slot fresh = {plan->problem->resources[pos].given->ready_s, r->fresh};

    if (has_fresh(plan, pos) && (r->heap_count == 0 || slot_before(&fresh, &r->heap[0])))
        return fresh;
    return r->heap_count ? r->heap[0] : (struct problem_slot){HUGE_VAL, 0};
}

/* ---- cpus and memory ---- */

/* Earliest time from `t` on when that much is free. Holders are taken away in the
 * order of their ends until what is left and the need fit together. */
static double room_s(const struct placement_plan *plan, size_t pos, double t_s,
                     double cpus, double memory_bytes)
{
    const struct problem_resource *given = &plan->problem->resources[pos];
    const struct plan_resource *r = &plan->resources[pos];
    double most_cpus = given->cpus * ROUNDING;
    double most_memory = given->memory_bytes * ROUNDING;

    if (cpus > given->cpus || memory_bytes > given->memory_bytes)
        return HUGE_VAL;
    for (size_t k = r->holder_count; k-- > 0 && r->holders[k].end_s > t_s;) {
        cpus += r->holders[k].cpus;
        memory_bytes += r->holders[k].memory_bytes;
        if (cpus > most_cpus || memory_bytes > most_memory)
            return r->holders[k].end_s;
    }
    return t_s;
}

/* Gives how many make room for it. */
static size_t hold(struct plan_resource *r, struct problem_hold h)
{
    size_t count = r->holder_count++, i = count;

    for (; i > 0 && r->holders[i - 1].end_s > h.end_s; i--)
        r->holders[i] = r->holders[i - 1];
    r->holders[i] = h;
    return count - i;
}

/* Forgets what has ended by the latest start: nothing starts before it. */
static void drop_ended(struct plan_resource *r)
{
    size_t ended = 0;

    while (ended < r->holder_count && r->holders[ended].end_s <= r->front_s)
        ended++;
    if (ended == 0)
        return;
    r->holder_count -= ended;
    memmove(r->holders, r->holders + ended, r->holder_count * sizeof(*r->holders));
}

/* ---- holes ---- */

/* Enough for what is busy now: the steps that this takes need no memory. */
static size_t steps_now(const struct problem_resource *given)
{
    return 2 * (given->busy_count + given->hold_count) + 8;
}

static struct amounts slots_of(double count)
{
    return (struct amounts){{(int64_t)count, 0, 0}};
}

/* All that one of the ends is ahead of is taken at once: a pass over rising ends. */
static void take_busy(struct placement_plan *plan, size_t pos)
{
    const struct problem_resource *given = &plan->problem->resources[pos];
    const double *end_s = plan->holes->busy_end_s[pos];
    double from_s = given->given->ready_s;

    for (size_t k = 0; k < given->busy_count; k++) {
        struct amounts rest = slots_of((double)(given->busy_count - k));

        free_profile_take(&plan->resources[pos].profile, from_s, end_s[k], &rest,
                          plan->arena);
        from_s = later_s(from_s, end_s[k]);
    }
}

static int64_t sum_of(int64_t a, int64_t b)
{
    return a < AMOUNT_UNLIMITED - b ? a + b : AMOUNT_UNLIMITED;
}

/* Likewise for what runs now, from the last end to the first. */
static void take_held(struct placement_plan *plan, size_t pos)
{
    const struct problem_resource *given = &plan->problem->resources[pos];
    const double *scale = plan->holes->scale;
    struct amounts held = {{0}};

    for (size_t k = given->hold_count; k-- > 0;) {
        const struct problem_hold *h = &given->holds[k];

        held.of[AMOUNT_CPUS] =
            sum_of(held.of[AMOUNT_CPUS], amount_need(h->cpus, scale[AMOUNT_CPUS]));
        held.of[AMOUNT_MEMORY] = sum_of(
            held.of[AMOUNT_MEMORY], amount_need(h->memory_bytes, scale[AMOUNT_MEMORY]));
        free_profile_take(&plan->resources[pos].profile,
                          k > 0 ? later_s(0, h[-1].end_s) : 0, h->end_s, &held,
                          plan->arena);
    }
}

static void reset_profile(struct placement_plan *plan, size_t pos)
{
    const struct problem_resource *given = &plan->problem->resources[pos];
    struct free_profile *profile = &plan->resources[pos].profile;
    double ready_s = given->given->ready_s;
    const double *scale = plan->holes->scale;
    struct amounts all = {{(int64_t)given->slot_count,
                           amount_room(given->cpus, scale[AMOUNT_CPUS]),
                           amount_room(given->memory_bytes, scale[AMOUNT_MEMORY])}};
    struct amounts slots = slots_of((double)given->slot_count);
    struct amounts never = slots_of((double)(given->free_slot - given->busy_count));

    free_profile_reset(profile, &all, plan->arena);
    free_profile_take(profile, 0, ready_s, &slots, plan->arena);
    free_profile_take(profile, ready_s, HUGE_VAL, &never, plan->arena);
    take_busy(plan, pos);
    take_held(plan, pos);
}

static void reset_holes(struct placement_plan *plan)
{
    const struct placement_problem *p = plan->problem;
    struct plan_holes *h = plan->holes;

    for (size_t pos = 0; pos < p->resource_count; pos++)
        reset_profile(plan, pos);
    memset(h->first_s, 0, h->buckets.count * p->resource_count * sizeof(double));
    memset(h->block_first_s, 0, h->buckets.count * p->block_count * sizeof(double));
}

static void find_scale(const struct placement_problem *p, double *scale)
{
    double cpus = 0, memory_bytes = 0;

    for (size_t pos = 0; pos < p->resource_count; pos++) {
        if (p->cpus[pos] < HUGE_VAL)
            cpus = fmax(cpus, p->cpus[pos]);
        if (p->memory_bytes[pos] < HUGE_VAL)
            memory_bytes = fmax(memory_bytes, p->memory_bytes[pos]);
    }
    scale[AMOUNT_SLOTS] = 1;
    scale[AMOUNT_CPUS] = amount_scale(cpus);
    scale[AMOUNT_MEMORY] = amount_scale(memory_bytes);
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void sort_busy(const struct problem_resource *given, double **end_s,
                      struct arena *a)
{
    *end_s = NEW(a, double, given->busy_count);
    for (size_t k = 0; k < given->busy_count; k++)
        (*end_s)[k] = given->busy[k].free_s;
    qsort(*end_s, given->busy_count, sizeof(**end_s), by_time);
}

static void create_holes(struct placement_plan *plan)
{
    const struct placement_problem *p = plan->problem;
    struct plan_holes *h = NEW(plan->arena, struct plan_holes, 1);

    find_scale(p, h->scale);
    buckets_make(p, h->scale, &h->buckets, plan->arena);
    h->needs = NEW(plan->arena, struct amounts, p->job_count);
    h->first_s = NEW(plan->arena, double, h->buckets.count * p->resource_count);
    h->block_first_s = NEW(plan->arena, double, h->buckets.count * p->block_count);
    h->busy_end_s = NEW(plan->arena, double *, p->resource_count);
    for (size_t i = 0; i < p->job_count; i++)
        h->needs[i] = (struct amounts){
            {1, amount_need(p->jobs[i].cpus, h->scale[AMOUNT_CPUS]),
             amount_need(p->jobs[i].memory_bytes, h->scale[AMOUNT_MEMORY])}};
    for (size_t pos = 0; pos < p->resource_count; pos++) {
        struct free_profile *profile = &plan->resources[pos].profile;

        profile->room = steps_now(&p->resources[pos]);
        profile->steps = NEW(plan->arena, struct free_profile_step, profile->room);
        sort_busy(&p->resources[pos], &h->busy_end_s[pos], plan->arena);
    }
    plan->holes = h;
}

/* Looks anew how early a job of the bucket may start there; it only gets later. */
static double raise_first(struct placement_plan *plan, size_t bucket, size_t pos)
{
    const struct placement_problem *p = plan->problem;
    struct plan_holes *h = plan->holes;
    const struct bucket *b = &h->buckets.list[bucket];
    double *first_s = &h->first_s[bucket * p->resource_count + pos];
    struct free_profile_hold hold = {
        .time_s = p->slowness[pos] < HUGE_VAL ? b->estimate_ref_s * p->slowness[pos] : 0};

    if (*first_s < HUGE_VAL)
        *first_s = free_profile_fit(&plan->resources[pos].profile, &b->need, &hold,
                                    *first_s, HUGE_VAL, &plan->work);
    return *first_s;
}

/* The start of a job in the profile; HUGE_VAL: none up to latest_s. */
static double hole_s(struct placement_plan *plan, size_t job, size_t pos,
                     const struct free_profile_hold *hold, double latest_s)
{
    const struct plan_holes *h = plan->holes;
    double first_s = raise_first(plan, h->buckets.of_job[job], pos);

    first_s = later_s(first_s, plan->problem->jobs[job].release_s);
    if (!(first_s <= latest_s) || !(hold->add_s + hold->time_s < HUGE_VAL))
        return first_s;
    return free_profile_fit(&plan->resources[pos].profile, &h->needs[job], hold, first_s,
                            latest_s, &plan->work);
}

/* When the least of the jobs' needs is free, however short; it only gets later. */
static double first_hole_s(struct placement_plan *plan, size_t pos)
{
    const struct placement_problem *p = plan->problem;
    const double *scale = plan->holes->scale;
    struct amounts least = {{1, amount_need(p->least_cpus, scale[AMOUNT_CPUS]),
                             amount_need(p->least_memory_bytes, scale[AMOUNT_MEMORY])}};
    double from_s = plan->earliest_s[pos] < HUGE_VAL ? plan->earliest_s[pos] : 0;

    return free_profile_fit(&plan->resources[pos].profile, &least,
                            &(struct free_profile_hold){0}, from_s, HUGE_VAL,
                            &plan->work);
}

/* ---- state ---- */

static void note_earliest(struct placement_plan *plan, size_t pos)
{
    const struct placement_problem *p = plan->problem;
    double earliest_s;

    if (seeks_holes(plan)) {
        plan->earliest_s[pos] = first_hole_s(plan, pos);
        return;
    }
    earliest_s = first_slot(plan, pos).free_s;
    if (p->resources[pos].capacity) {
        earliest_s = fmax(earliest_s, plan->resources[pos].front_s);
        earliest_s = room_s(plan, pos, earliest_s, p->least_cpus, p->least_memory_bytes);
    }
    plan->earliest_s[pos] = earliest_s;
}

static void note_block(struct placement_plan *plan, size_t block)
{
    size_t end = (block + 1) * BLOCK;
    double least_s = HUGE_VAL;

    if (end > plan->problem->resource_count)
        end = plan->problem->resource_count;
    for (size_t pos = block * BLOCK; pos < end; pos++)
        least_s = plan->earliest_s[pos] < least_s ? plan->earliest_s[pos] : least_s;
    plan->block_earliest_s[block] = least_s;
}

/* What runs now holds its part of the resource; without end if no job may wait. */
static void hold_running(struct plan_resource *r, const struct problem_resource *given,
                         bool no_end)
{
    for (size_t k = 0; k < given->hold_count; k++) {
        struct problem_hold h = given->holds[k];

        if (no_end)
            h.end_s = HUGE_VAL;
        hold(r, h); /* behind all others */
    }
}

void plan_reset(struct placement_plan *plan)
{
    const struct placement_problem *p = plan->problem;

    if (seeks_holes(plan))
        reset_holes(plan);
    for (size_t pos = 0; pos < p->resource_count; pos++) {
        const struct problem_resource *given = &p->resources[pos];
        struct plan_resource *r = &plan->resources[pos];

        plan->earliest_s[pos] = 0;
        r->heap_count = r->holder_count = 0;
        r->fresh = given->free_slot;
        r->front_s = 0;
        for (size_t k = 0; k < given->busy_count && !plan->hold_slots; k++)
            slots_push(r->heap, &r->heap_count, given->busy[k]);
        if (given->capacity)
            hold_running(r, given, plan->hold_slots);
        note_earliest(plan, pos);
    }
    for (size_t b = 0; b < p->block_count; b++)
        note_block(plan, b);
    for (size_t i = 0; i < p->job_count; i++)
        plan->entries[i] = (struct plan_entry){.pos = NO_INDEX, .rank = NAN};
    if (plan->arrivals && plan->arrivals->count) {
        memset(plan->arrivals->places, 0,
               (plan->arrivals->mask + 1) * sizeof(*plan->arrivals->places));
        plan->arrivals->count = 0;
    }
    plan->placed_count = 0;
    plan->makespan_s = 0;
}

static void create_files(struct placement_plan *plan)
{
    const struct placement_problem *p = plan->problem;
    size_t count = 0;

    for (size_t i = 0; i < p->job_count; i++)
        count += p->jobs[i].file_count;
    plan->arrivals = NEW(plan->arena, struct pair_map, 1);
    plan->arrival_s = NEW(plan->arena, double, count);
    plan->arrived = NEW(plan->arena, size_t, p->in->snapshot->file_count);
    pair_map_create(plan->arrivals, count, plan->arena);
}

void plan_create(struct placement_problem *p, struct placement_plan *plan,
                 struct arena *a)
{
    *plan = (struct placement_plan){
        .problem = p, .arena = a, .cut = p->cut, .until = LIST_SHARE};
    plan->resources = NEW(a, struct plan_resource, p->resource_count);
    plan->earliest_s = NEW(a, double, p->resource_count);
    plan->block_earliest_s = NEW(a, double, p->block_count);
    plan->entries = NEW(a, struct plan_entry, p->job_count);
    plan->sequence = NEW(a, size_t, p->job_count);
    plan->stages = NEW(a, struct plan_stage, p->store_count);
    for (size_t pos = 0; pos < p->resource_count; pos++) {
        struct plan_resource *r = &plan->resources[pos];

        r->heap_room = p->resources[pos].busy_count;
        r->heap = NEW(a, struct problem_slot, r->heap_room ? r->heap_room : 1);
        if (!p->resources[pos].capacity)
            continue;
        r->holder_room = p->resources[pos].hold_count + 1;
        r->holders = NEW(a, struct problem_hold, r->holder_room);
    }
    if (p->has_files)
        create_files(plan);
    if (p->has_capacity || p->has_release)
        create_holes(plan);
    plan_reset(plan);
}

/* ---- completion times ---- */

/* When a file is at the store for a job planned earlier; NAN: it is not. */
static double arrival_s(const struct placement_plan *plan, size_t file, size_t store)
{
    const struct pair_place *place = pair_map_at(plan->arrivals, file, store);

    return place->a ? plan->arrival_s[place->value] : (double)NAN;
}

static struct plan_stage stage_in(const struct placement_plan *plan,
                                  const struct problem_job *job, size_t pos)
{
    const struct placement_problem *p = plan->problem;
    const struct problem_resource *r = &p->resources[pos];
    const size_t *files = problem_files(p, job, pos);
    struct plan_stage s = {0};

    if (problem_output_s(p, job, pos) > LONGEST_S)
        s.add_s = HUGE_VAL;
    for (size_t k = 0; k < job->file_count; k++) {
        double there_s, move_s;

        if (!files || files[k] == NO_INDEX) {
            s.add_s = HUGE_VAL;
            break;
        }
        there_s = arrival_s(plan, files[k], r->store);
        if (!isnan(there_s)) {
            s.until_s = fmax(s.until_s, there_s);
            continue;
        }
        move_s = problem_transfer_s(p, files[k], r->site);
        s.add_s += move_s;
        s.until_s += move_s;
    }
    return s;
}

/* Stage-in at a position, remembered for the other resources of its store as long
 * as the same job is looked at. */
static const struct plan_stage *stage_cached(struct placement_plan *plan,
                                             const struct problem_job *job, size_t pos)
{
    struct plan_stage *s = &plan->stages[plan->problem->resources[pos].store];

    if (s->stamp != plan->stamp || job->by_arch) {
        *s = stage_in(plan, job, pos);
        s->stamp = plan->stamp;
    }
    return s;
}

/* Where the job could start, and when it would be done; a start beyond latest_s need not
 * be found. */
static struct plan_fit fit(struct placement_plan *plan, const struct problem_job *job,
                           size_t pos, double latest_s)
{
    const struct placement_problem *p = plan->problem;
    struct free_profile_hold hold = {.time_s = problem_execution_s(p, job, pos)};
    struct plan_fit f;

    if (job->file_count || p->has_outputs) {
        const struct plan_stage *s = stage_cached(plan, job, pos);

        hold.add_s = s->add_s > LONGEST_S ? HUGE_VAL : s->add_s;
        hold.until_s = s->until_s;
    }
    if (seeks_holes(plan)) {
        f.start_s = hole_s(plan, (size_t)(job - p->jobs), pos, &hold, latest_s);
    } else {
        f.start_s = later_s(plan->earliest_s[pos], job->release_s);
        if (p->cpus[pos] < HUGE_VAL || p->memory_bytes[pos] < HUGE_VAL)
            f.start_s = room_s(plan, pos, f.start_s, job->cpus, job->memory_bytes);
    }
    f.staged_s = later_s(f.start_s + hold.add_s, hold.until_s);
    f.done_s = f.staged_s + hold.time_s;
    return f;
}

struct plan_fit plan_fit(struct placement_plan *plan, size_t job, size_t pos)
{
    plan->stamp++;
    plan->work++;
    return fit(plan, &plan->problem->jobs[job], pos, HUGE_VAL);
}

bool plan_can_run(const struct placement_plan *plan, size_t job, size_t pos)
{
    const struct placement_problem *p = plan->problem;
    const struct problem_job *j = &p->jobs[job];

    return problem_class_has(&p->classes[j->job_class], pos) &&
           problem_need_filter(p, j, pos, true) == FILTER_PASSED;
}

/* ---- the best resource ---- */

/* A scan over the positions of one job's class. */
struct scan {
    struct placement_plan *plan;
    const struct problem_job *job;
    const uint64_t *mask;
    enum plan_rival rival;
    size_t limit;
    const double *earliest_s, *block_earliest_s; /* of the job's kind */
    double work_ref_s; /* least execution time is this times slowness */
    struct plan_choice best;
};

/* No candidate beyond this can matter; ties do, for the lower index. */
static double worst_needed_s(const struct scan *s)
{
    return s->rival == RIVAL_NONE ? s->best.done_s : s->best.rival_s;
}

static bool is_rival(const struct scan *s, size_t pos)
{
    const struct problem_resource *r = s->plan->problem->resources;

    if (s->rival == RIVAL_STORE)
        return s->best.pos != NO_INDEX && r[pos].store != r[s->best.pos].store;
    return s->rival == RIVAL_RESOURCE && s->best.pos != NO_INDEX;
}

static void consider(struct scan *s, size_t pos, double done_s)
{
    const struct problem_resource *r = s->plan->problem->resources;
    struct plan_choice *b = &s->best;

    if (done_s > LONGEST_S * 1e9)
        return;
    if (done_s < b->done_s ||
        (done_s <= b->done_s && (b->pos == NO_INDEX || r[pos].index < r[b->pos].index))) {
        if (is_rival(s, pos)) {
            b->rival = b->pos;
            b->rival_s = b->done_s;
        }
        b->pos = pos;
        b->done_s = done_s;
    } else if (is_rival(s, pos) && done_s < b->rival_s) {
        b->rival = pos;
        b->rival_s = done_s;
    }
}

/* The least completion time that the block can give. */
static double block_bound_s(const struct scan *s, size_t block)
{
    double start_s = s->block_earliest_s[block];

    if (start_s < s->job->release_s)
        start_s = s->job->release_s;
    if (s->work_ref_s > 0)
        start_s += s->work_ref_s * s->plan->problem->block_slowness[block];
    return start_s * (1 - 1e-12);
}

/* The starts in the block may have been raised. */
static void note_block_first(const struct scan *s, size_t block)
{
    const struct placement_problem *p = s->plan->problem;
    struct plan_holes *h = s->plan->holes;
    size_t bucket = h->buckets.of_job[s->job - p->jobs], end = (block + 1) * BLOCK;
    double least_s = HUGE_VAL;

    if (end > p->resource_count)
        end = p->resource_count;
    for (size_t pos = block * BLOCK; pos < end; pos++)
        least_s = sooner_s(least_s, s->earliest_s[pos]);
    h->block_first_s[bucket * p->block_count + block] = least_s;
}

static void scan_block(struct scan *s, size_t block)
{
    const struct placement_problem *p = s->plan->problem;
    double worst_s = worst_needed_s(s) * (1 + 1e-12);

    for (uint64_t left = s->mask[block]; left; left &= left - 1) {
        size_t pos = block * BLOCK + (size_t)__builtin_ctzll(left);
        double bound_s = later_s(s->earliest_s[pos], s->job->release_s);

        if (s->work_ref_s > 0)
            bound_s += s->work_ref_s * p->slowness[pos];
        if (bound_s > worst_s || s->job->cpus > p->cpus[pos] ||
            s->job->memory_bytes > p->memory_bytes[pos])
            continue;
        if (pos >= s->limit)
            break;
        s->plan->work += 4;
        consider(s, pos, fit(s->plan, s->job, pos, worst_s).done_s);
        worst_s = worst_needed_s(s) * (1 + 1e-12);
    }
    s->plan->work += BLOCK / 4;
    if (seeks_holes(s->plan))
        note_block_first(s, block);
}

struct plan_choice plan_best(struct placement_plan *plan, size_t job,
                             enum plan_rival rival, size_t limit)
{
    const struct placement_problem *p = plan->problem;
    const struct problem_job *j = &p->jobs[job];
    struct scan s = {
        .plan = plan,
        .job = j,
        .mask = p->classes[j->job_class].mask,
        .rival = rival,
        .limit = limit,
        .earliest_s = plan->earliest_s,
        .block_earliest_s = plan->block_earliest_s,
        .work_ref_s = j->etc_s ? 0 : j->estimate_ref_s,
        .best = {NO_INDEX, NO_INDEX, HUGE_VAL, HUGE_VAL},
    };
    size_t blocks = (limit + BLOCK - 1) / BLOCK, first = 0;
    double first_bound_s = HUGE_VAL;

    if (!j->etc_s && isnan(j->estimate_ref_s))
        return s.best;
    if (seeks_holes(plan)) {
        size_t bucket = plan->holes->buckets.of_job[job];

        s.earliest_s = plan->holes->first_s + bucket * p->resource_count;
        s.block_earliest_s = plan->holes->block_first_s + bucket * p->block_count;
    }
    plan->stamp++;
    plan->work += 2 * blocks + BLOCK / 2;
    /* The most promising block first, so that the others can be skipped. */
    for (size_t b = 0; b < blocks; b++) {
        double bound_s = block_bound_s(&s, b);

        if (bound_s < first_bound_s && s.mask[b]) {
            first_bound_s = bound_s;
            first = b;
        }
    }
    if (blocks)
        scan_block(&s, first);
    for (size_t b = 0; b < blocks; b++)
        if (b != first && s.mask[b] && block_bound_s(&s, b) <= worst_needed_s(&s))
            scan_block(&s, b);
    return s.best;
}

/* ---- placing ---- */

/* Moves the files that are not there, one after the other from `t_s` on. */
static double move_files(struct placement_plan *plan, const struct problem_job *job,
                         size_t pos, double t_s, double *bytes)
{
    const struct placement_problem *p = plan->problem;
    const struct problem_resource *r = &p->resources[pos];
    const size_t *files = problem_files(p, job, pos);

    for (size_t k = 0; k < job->file_count; k++) {
        const struct file *f = &p->in->snapshot->files[files[k]];
        struct pair_place *place = pair_map_at(plan->arrivals, files[k], r->store);
        double move_s;

        if (place->a) {
            t_s = fmax(t_s, plan->arrival_s[place->value]);
            continue;
        }
        move_s = problem_transfer_s(p, files[k], r->site);
        if (move_s <= 0)
            continue; /* there from the beginning */
        t_s += move_s;
        *bytes += f->bytes;
        if (!f->shared)
            continue;
        *place = (struct pair_place){files[k] + 1, r->store, plan->arrivals->count};
        plan->arrival_s[plan->arrivals->count++] = t_s;
        plan->arrived[files[k]] = plan->placed_count + 1;
    }
    return t_s;
}

static void make_room(struct placement_plan *plan, struct plan_resource *r, bool capacity)
{
    if (r->heap_count == r->heap_room) {
        size_t room = r->heap_room ? 2 * r->heap_room : 1;

        if (r->heap_room)
            r->heap =
                GROW(plan->arena, r->heap, struct problem_slot, r->heap_count, room);
        r->heap_room = room;
    }
    if (capacity && r->holder_count == r->holder_room) {
        size_t room = 2 * r->holder_room;

        r->holders =
            GROW(plan->arena, r->holders, struct problem_hold, r->holder_count, room);
        r->holder_room = room;
    }
}

/* Takes the first slot out of the free ones. */
static size_t take_slot(struct placement_plan *plan, size_t pos)
{
    struct plan_resource *r = &plan->resources[pos];
    struct problem_slot first = first_slot(plan, pos);

    if (has_fresh(plan, pos) && first.slot == r->fresh) {
        r->fresh++;
    } else {
        slots_pop(r->heap, &r->heap_count);
    }
    return first.slot;
}

enum error_code plan_place(struct placement_plan *plan, size_t job, size_t pos,
                           struct error *err)
{
    const struct placement_problem *p = plan->problem;
    const struct problem_job *j = &p->jobs[job];
    const struct problem_resource *given = &p->resources[pos];
    struct plan_resource *r = &plan->resources[pos];
    struct plan_entry *e = &plan->entries[job];
    double execution_s = problem_execution_s(p, j, pos);
    double start_s, end_s;

    (void)err;
    make_room(plan, r, given->capacity);
    start_s = plan_fit(plan, job, pos).start_s;
    if (!(start_s < HUGE_VAL))
        return OK;
    e->start_s = start_s;
    e->pos = pos;
    e->slot = seeks_holes(plan) ? 0 : take_slot(plan, pos);
    e->staged_s = move_files(plan, j, pos, e->start_s, &e->bytes_moved);
    e->done_s = e->staged_s + (execution_s < HUGE_VAL ? execution_s : 0);
    e->finish_s = e->done_s + problem_output_s(p, j, pos);
    end_s = plan->hold_slots ? HUGE_VAL : e->done_s;
    if (seeks_holes(plan)) {
        free_profile_take(&r->profile, e->start_s, end_s, &plan->holes->needs[job],
                          plan->arena);
        plan->work += r->profile.count / 8;
    } else {
        if (!plan->hold_slots)
            slots_push(r->heap, &r->heap_count, (struct problem_slot){end_s, e->slot});
        if (given->capacity) {
            r->front_s = e->start_s;
            drop_ended(r);
            plan->work += hold(r, (struct problem_hold){.end_s = end_s,
                                                        .cpus = j->cpus,
                                                        .memory_bytes = j->memory_bytes});
        }
    }
    note_earliest(plan, pos);
    note_block(plan, pos / BLOCK);
    plan->sequence[plan->placed_count++] = job;
    plan->makespan_s = fmax(plan->makespan_s, e->finish_s);
    plan->work += BLOCK / 2;
    return OK;
}

/* ---- numbers of slots ---- */

/* The placed jobs of a resource by start. */
struct stand {
    size_t job, pos;
    double start_s, done_s;
    size_t place;
};

static int by_start(const void *a, const void *b)
{
    const struct stand *x = a, *y = b;

    if (x->pos != y->pos)
        return x->pos < y->pos ? -1 : 1;
    if (x->start_s != y->start_s)
        return x->start_s < y->start_s ? -1 : 1;
    if (x->done_s != y->done_s)
        return x->done_s < y->done_s ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Slots of a resource: used ones by their end, and those that are free again by number
 * (their free_s is 0). */
struct numbering {
    struct problem_slot *used, *freed;
    size_t used_count, freed_count, fresh;
};

static void start_numbering(struct numbering *n, const struct problem_resource *given)
{
    n->used_count = n->freed_count = 0;
    n->fresh = given->free_slot;
    for (size_t k = 0; k < given->busy_count; k++)
        slots_push(n->used, &n->used_count, given->busy[k]);
}

static size_t number_slot(struct numbering *n, const struct stand *s)
{
    size_t slot;

    while (n->used_count && n->used[0].free_s <= s->start_s)
        slots_push(n->freed, &n->freed_count,
                   (struct problem_slot){0, slots_pop(n->used, &n->used_count).slot});
    slot = n->freed_count ? slots_pop(n->freed, &n->freed_count).slot : n->fresh++;
    slots_push(n->used, &n->used_count, (struct problem_slot){s->done_s, slot});
    return slot;
}

void plan_number_slots(struct placement_plan *plan)
{
    const struct placement_problem *p = plan->problem;
    size_t count = plan->placed_count, most = 0;
    struct stand *list;
    struct numbering n = {0};

    if (!seeks_holes(plan))
        return;
    for (size_t pos = 0; pos < p->resource_count; pos++)
        if (p->resources[pos].busy_count > most)
            most = p->resources[pos].busy_count;
    list = NEW(plan->arena, struct stand, count);
    n.used = NEW(plan->arena, struct problem_slot, count + most);
    n.freed = NEW(plan->arena, struct problem_slot, count + most);
    for (size_t k = 0; k < count; k++) {
        size_t job = plan->sequence[k];
        const struct plan_entry *e = &plan->entries[job];

        list[k] = (struct stand){job, e->pos, e->start_s, e->done_s, k};
    }
    qsort(list, count, sizeof(*list), by_start);
    for (size_t k = 0; k < count; k++) {
        if (k == 0 || list[k].pos != list[k - 1].pos)
            start_numbering(&n, &p->resources[list[k].pos]);
        plan->entries[list[k].job].slot = number_slot(&n, &list[k]);
    }
}

/* Asks the clock when there was enough work since. */
static void look_at_clock(struct placement_plan *plan, double until)
{
    double used;

    if (plan->work < WORK_PER_POLL)
        return;
    plan->work = 0;
    used = budget_used(plan->problem->in->budget);
    plan->too_late = plan->too_late || used >= TOO_LATE;
    plan->cut = plan->cut || plan->too_late || used >= until;
}

enum error_code plan_rest(struct placement_plan *plan, struct error *err)
{
    const struct placement_problem *p = plan->problem;

    for (size_t i = 0; i < problem_pending(p); i++) {
        size_t job = p->order[i];
        struct plan_choice best;

        if (plan->entries[job].pos != NO_INDEX)
            continue;
        look_at_clock(plan, TOO_LATE);
        if (plan->too_late) {
            plan->entries[job].wait = WAIT_OUT_OF_TIME;
            continue;
        }
        best = plan_best(plan, job, RIVAL_NONE, p->resource_count);
        if (best.pos != NO_INDEX)
            TRY(plan_place(plan, job, best.pos, err));
    }
    return OK;
}

bool plan_spent(struct placement_plan *plan)
{
    look_at_clock(plan, plan->hold_slots ? TOO_LATE : plan->until);
    return plan->cut;
}

/* ---- copies ---- */

void plan_copy_create(const struct placement_plan *plan, struct plan_copy *copy)
{
    size_t n = plan->problem->job_count;

    copy->entries = NEW(plan->arena, struct plan_entry, n);
    copy->sequence = NEW(plan->arena, size_t, n);
    copy->placed_count = 0;
    copy->makespan_s = HUGE_VAL;
}

void plan_save(const struct placement_plan *plan, struct plan_copy *copy)
{
    memcpy(copy->entries, plan->entries,
           plan->problem->job_count * sizeof(*copy->entries));
    memcpy(copy->sequence, plan->sequence, plan->placed_count * sizeof(*copy->sequence));
    copy->placed_count = plan->placed_count;
    copy->makespan_s = plan->makespan_s;
}

void plan_load(struct placement_plan *plan, const struct plan_copy *copy)
{
    memcpy(plan->entries, copy->entries,
           plan->problem->job_count * sizeof(*copy->entries));
    memcpy(plan->sequence, copy->sequence, copy->placed_count * sizeof(*copy->sequence));
    plan->placed_count = copy->placed_count;
    plan->makespan_s = copy->makespan_s;
    plan->closed = true;
}

bool plan_better(const struct placement_plan *plan, const struct plan_copy *copy)
{
    if (plan->placed_count != copy->placed_count)
        return plan->placed_count > copy->placed_count;
    return plan->makespan_s < copy->makespan_s;
}
