/* placement/verify.c - an independent look at a finished plan.
 *
 * Each job alone: resource, release, stage-in, run, outputs. Then the jobs of each slot
 * in the order of their starts, and per resource with limited cpus or memory one sweep
 * over starts and ends, ends first.
 */
#include "algorithms/placement/verify.h"

#include "algorithms/placement/pair_map.h"

#include <stdlib.h>

#define TOLERANCE 1e-9

const char *const verify_rule_names[] = {
#define X(symbol, name) [symbol] = name,
    VERIFY_RULES(X)
#undef X
};

/* A job on its slot. */
struct stay {
    size_t pos, slot, job;
    double start_s, done_s;
};

/* Cpus and memory taken (or given back) at a time. */
struct event {
    double at_s, cpus, memory_bytes;
    size_t job; /* NO_INDEX: runs now */
};

struct check {
    const struct verify_plan *plan;
    const struct placement_problem *problem;
    struct verify_result *out;
    struct pair_map staged; /* of file and store: index into arrival_s */
    double *arrival_s;
    struct stay *stays;
    struct arena *arena;
};

static double allowance(double time_s)
{
    return TOLERANCE * fmax(1, fabs(time_s));
}

static bool differs(double left_s, double right_s)
{
    return !(fabs(left_s - right_s) <= allowance(right_s));
}

static bool refuse(struct check *c, enum verify_rule rule, size_t job, double at_s)
{
    c->out->rule = rule;
    c->out->job = job;
    c->out->pos = c->plan->entries[job].pos;
    c->out->at_s = at_s;
    return false;
}

/* ---- each job alone ---- */

/* When the slot is free at first; HUGE_VAL: never, or there is none. */
static double slot_free_s(const struct problem_resource *r, size_t slot, bool hold_slots)
{
    if (slot >= r->slot_count)
        return HUGE_VAL;
    if (slot >= r->free_slot)
        return r->given->ready_s;
    for (size_t low = 0, high = r->busy_count; low < high && !hold_slots;) {
        size_t middle = low + (high - low) / 2; /* by rising slot */

        if (r->busy[middle].slot == slot)
            return r->busy[middle].free_s;
        if (r->busy[middle].slot < slot)
            low = middle + 1;
        else
            high = middle;
    }
    return HUGE_VAL;
}

/* When the job's files are at the resource if it asks for them at `t_s`, one after the
 * other; files that others brought to the store before need no time. */
static double staged_s(struct check *c, size_t job, size_t pos, double t_s)
{
    const struct placement_problem *p = c->problem;
    const struct problem_job *j = &p->jobs[job];
    const struct problem_resource *r = &p->resources[pos];
    const size_t *files = problem_files(p, j, pos);

    for (size_t k = 0; k < j->file_count; k++) {
        struct pair_place *there = pair_map_at(&c->staged, files[k], r->store);
        double move_s = problem_transfer_s(p, files[k], r->site);

        if (there->a) {
            t_s = fmax(t_s, c->arrival_s[there->value]);
            continue;
        }
        t_s += move_s;
        if (move_s <= 0 || !p->in->snapshot->files[files[k]].shared)
            continue;
        *there = (struct pair_place){files[k] + 1, r->store, c->staged.count};
        c->arrival_s[c->staged.count++] = t_s;
    }
    return t_s;
}

static bool check_job(struct check *c, size_t job)
{
    const struct placement_problem *p = c->problem;
    const struct problem_job *j = &p->jobs[job];
    const struct plan_entry *e = &c->plan->entries[job];
    double free_s, execution_s, done_s;

    if (e->pos >= p->resource_count)
        return refuse(c, VERIFY_DUPLICATE, job, 0);
    if (!problem_class_has(&p->classes[j->job_class], e->pos) ||
        problem_need_filter(p, j, e->pos, true) != FILTER_PASSED)
        return refuse(c, VERIFY_NOT_ELIGIBLE, job, e->start_s);
    execution_s = problem_execution_s(p, j, e->pos);
    if (!(execution_s < HUGE_VAL))
        return refuse(c, VERIFY_NO_ESTIMATE, job, e->start_s);
    free_s = slot_free_s(&p->resources[e->pos], e->slot, c->plan->hold_slots);
    if (!(free_s < HUGE_VAL))
        return refuse(c, VERIFY_NO_SLOT, job, e->start_s);
    free_s = fmax(free_s, j->release_s);
    if (!(e->start_s >= free_s - allowance(free_s)))
        return refuse(c, VERIFY_BEFORE_RELEASE, job, e->start_s);
    done_s = staged_s(c, job, e->pos, e->start_s) + execution_s;
    if (differs(e->done_s, done_s) ||
        differs(e->finish_s, done_s + problem_output_s(p, j, e->pos)))
        return refuse(c, VERIFY_FINISH_DIFFERS, job, e->start_s);
    c->out->makespan_s = fmax(c->out->makespan_s, e->finish_s);
    return true;
}

static bool check_jobs(struct check *c)
{
    const struct verify_plan *plan = c->plan;
    size_t placed = 0;

    for (size_t i = 0; i < c->problem->job_count; i++)
        placed += plan->entries[i].pos != NO_INDEX;
    if (placed != plan->placed_count) {
        c->out->rule = VERIFY_DUPLICATE;
        return false;
    }
    for (size_t k = 0; k < plan->placed_count; k++) {
        size_t job = plan->sequence[k];
        const struct plan_entry *e = &plan->entries[job];

        if (!check_job(c, job))
            return false;
        c->stays[k] = (struct stay){e->pos, e->slot, job, e->start_s, e->done_s};
    }
    return true;
}

/* ---- slots ---- */

static int by_slot(const void *left, const void *right)
{
    const struct stay *l = left, *r = right;

    if (l->pos != r->pos)
        return l->pos < r->pos ? -1 : 1;
    if (l->slot != r->slot)
        return l->slot < r->slot ? -1 : 1;
    if (l->start_s != r->start_s)
        return l->start_s < r->start_s ? -1 : 1;
    if (l->done_s != r->done_s)
        return l->done_s < r->done_s ? -1 : 1;
    return (l->job > r->job) - (l->job < r->job);
}

static bool check_slots(struct check *c)
{
    size_t count = c->plan->placed_count;

    qsort(c->stays, count, sizeof(*c->stays), by_slot);
    for (size_t k = 1; k < count; k++) {
        const struct stay *before = &c->stays[k - 1], *after = &c->stays[k];

        if (before->job == after->job)
            return refuse(c, VERIFY_DUPLICATE, after->job, after->start_s);
        if (before->pos == after->pos && before->slot == after->slot &&
            !(after->start_s >= before->done_s - allowance(before->done_s)))
            return refuse(c, VERIFY_SLOT_TAKEN, after->job, after->start_s);
    }
    return true;
}

/* ---- cpus and memory ---- */

static int by_time(const void *left, const void *right)
{
    const struct event *l = left, *r = right;

    if (l->at_s != r->at_s)
        return l->at_s < r->at_s ? -1 : 1;
    return (l->cpus > r->cpus) - (l->cpus < r->cpus); /* ends give back: first */
}

static size_t add_events(struct event *out, struct event begin, double end_s)
{
    out[0] = begin;
    if (!(end_s < HUGE_VAL))
        return 1;
    out[1] = (struct event){end_s, -begin.cpus, -begin.memory_bytes, begin.job};
    return 2;
}

/* What runs now. */
static size_t add_running(const struct problem_resource *r, bool hold_slots,
                          struct event *out)
{
    size_t count = 0;

    for (size_t k = 0; k < r->hold_count; k++) {
        const struct problem_hold *h = &r->holds[k];
        struct event begin = {0, h->cpus, h->memory_bytes, NO_INDEX};

        count += add_events(out + count, begin, hold_slots ? HUGE_VAL : h->end_s);
    }
    return count;
}

/* Sweeps over the events of one resource. */
static bool check_amounts(struct check *c, const struct problem_resource *r,
                          struct event *events, size_t count)
{
    double cpus = 0, memory_bytes = 0;

    qsort(events, count, sizeof(*events), by_time);
    for (size_t k = 0; k < count; k++) {
        const struct event *e = &events[k];

        cpus += r->cpus < HUGE_VAL ? e->cpus : 0;
        memory_bytes += r->memory_bytes < HUGE_VAL ? e->memory_bytes : 0;
        if (e->job == NO_INDEX || (e->cpus <= 0 && e->memory_bytes <= 0))
            continue;
        if (cpus > r->cpus * (1 + TOLERANCE) ||
            memory_bytes > r->memory_bytes * (1 + TOLERANCE))
            return refuse(c, VERIFY_AMOUNT_EXCEEDED, e->job, e->at_s);
    }
    return true;
}

/* Ends that are equal but for rounding to the next start come before it. */
static double settled_end_s(const struct stay *s)
{
    return fmax(s->start_s, s->done_s - allowance(s->done_s));
}

static void check_capacity(struct check *c, bool *valid)
{
    const struct placement_problem *p = c->problem;
    size_t end = 0, count = c->plan->placed_count;

    for (size_t first = 0; first < count && *valid; first = end) {
        const struct problem_resource *r = &p->resources[c->stays[first].pos];
        struct event *events;
        size_t used;

        for (end = first; end < count && c->stays[end].pos == c->stays[first].pos;)
            end++;
        if (!r->capacity)
            continue;
        events = NEW(c->arena, struct event, 2 * (end - first + r->hold_count));
        used = add_running(r, c->plan->hold_slots, events);
        for (size_t k = first; k < end; k++) {
            const struct stay *s = &c->stays[k];
            const struct problem_job *j = &p->jobs[s->job];
            struct event begin = {s->start_s, j->cpus, j->memory_bytes, s->job};

            used += add_events(events + used, begin,
                               c->plan->hold_slots ? HUGE_VAL : settled_end_s(s));
        }
        *valid = check_amounts(c, r, events, used);
    }
}

enum error_code verify_plan(const struct verify_plan *plan, struct verify_result *out,
                            struct arena *a, struct error *err)
{
    struct verify_result found = {VERIFY_VALID, NO_INDEX, NO_INDEX, 0, 0};
    struct check c = {.plan = plan, .problem = plan->problem, .out = &found, .arena = a};
    size_t uses = 0;
    bool valid;

    (void)err;
    for (size_t k = 0; k < plan->placed_count; k++)
        uses += plan->problem->jobs[plan->sequence[k]].file_count;
    c.stays = NEW(a, struct stay, plan->placed_count);
    c.arrival_s = NEW(a, double, uses);
    pair_map_create(&c.staged, uses, a);
    valid = check_jobs(&c) && check_slots(&c);
    if (valid)
        check_capacity(&c, &valid);
    *out = found;
    return OK;
}
