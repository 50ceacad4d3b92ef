/* workflow/problem_processors.c - what a task can occupy, and when it is not free.
 *
 * A resource is one processor that runs one task at a time, n_max ignored (workflows.md
 * 8.1), or one for each slot. A processor is blocked
 *
 *     until ready_s, and outside the windows of its resource;
 *     until the end of what the caller says runs there (free_at_s), where that leaves no
 *     slot; a slot in use whose end is not known is blocked for ever;
 *     until the end of the running or staging tasks that it has.
 *
 * Only the first of these closes it to a task that takes no time.
 *
 * The tasks of the request that run on a resource are among its job_count: as many of
 * its used slots, those that become free closest to their ends, are theirs.
 *
 * A running task ends at finish_s, or now + 1 s if that is past: it is overdue; else when
 * what is left of it (problem_estimates.c) is done at the present speed. A staging task
 * first waits for transfer_remaining_s.
 *
 * Deviations (ours): a task that runs on a failed resource counts as failed; a done task
 * without a finish_s ended now, one without a resource left its output everywhere.
 */
#include "algorithms/workflow/problem_parts.h"

#include "algorithms/workflow/words.h"
#include "models/base/order.h"

#include <stdlib.h>
#include <string.h>

#define OVERDUE_S 1.0

struct host {
    size_t own_count;    /* tasks of the request that run there */
    size_t first;        /* its first processor */
    size_t count;        /* its processors */
    double *own_end_s;   /* [own_count], in the order of the tasks */
    double *own_until_s; /* [own_count]: slots of these are free then, HUGE_VAL: never */
    double *other_end_s; /* [other_count], sorted: used by others, known end */
    size_t other_count;
    double full_until_s;               /* others use every slot */
    size_t window_first, window_count; /* in `windows` */
};

struct reader {
    struct workflow_problem *problem;
    struct host *hosts;
    struct workflow_processor *processors;
    size_t *fixed_processor;
    double *fixed_start_s, *fixed_finish_s;
    size_t *window_of;  /* windows by resource */
    size_t begun_count; /* tasks that run: one may move to a resource of its own */
    bool slots;
    struct error *err;
};

/* ---- run times ---- */

/* Part of a task's run time that a checkpoint saves. */
static double left_ratio(const struct workflow_task *t)
{
    if (!(t->checkpoint_work_ref_s > 0) || !(t->estimate_ref_s > 0))
        return 1;
    return fmax(0, 1 - t->checkpoint_work_ref_s / t->estimate_ref_s);
}

/* One task alone gets what the resource has: n_max counts with `slots` only. */
static double speed_of(const struct resource *given, bool slots)
{
    struct resource r = *given;

    if (!slots)
        r.sharing = SHARING_SLOTS;
    return r.failed ? 0 : resource_speed_mips(&r);
}

/* ---- fixed tasks ---- */

/* One that has failed takes a task on several nodes with it. */
static bool runs(const struct reader *r, size_t task)
{
    const struct workflow_task *t = r->problem->tasks[task];

    return (t->status == WORKFLOW_RUNNING || t->status == WORKFLOW_STAGING) &&
           !workflow_on_failed(r->problem, task);
}

static enum error_code find_end(const struct reader *r, size_t task, double *end_s)
{
    const struct workflow_task *t = r->problem->tasks[task];
    size_t resource = r->problem->parts->slowest_of[task];
    const struct resource *given = &r->problem->in->snapshot->resources[resource];
    struct workflow_left *left = &r->problem->parts->left[task];

    TRY(workflow_left_of(r->problem, task, speed_of(given, r->slots), left));
    if (!isnan(t->finish_s)) {
        left->remaining_s = t->finish_s > 0 ? t->finish_s : OVERDUE_S;
        left->source = WORKFLOW_SOURCE(finish_s);
    } else if (t->status == WORKFLOW_STAGING) {
        left->remaining_s += t->transfer_remaining_s;
    }
    *end_s = left->remaining_s;
    return OK;
}

static enum error_code fix_tasks(struct reader *r)
{
    struct workflow_problem *problem = r->problem;
    bool lost = false;

    for (size_t i = 0; i < problem->task_count; i++) {
        const struct workflow_task *t = problem->tasks[i];
        bool running = t->status == WORKFLOW_RUNNING || t->status == WORKFLOW_STAGING;

        r->fixed_processor[i] = WORKFLOW_NONE;
        r->fixed_start_s[i] = r->fixed_finish_s[i] = (double)NAN;
        if (t->status == WORKFLOW_DONE) {
            r->fixed_processor[i] = WORKFLOW_EVERYWHERE; /* until place_fixed() */
            r->fixed_finish_s[i] = isnan(t->finish_s) ? 0 : t->finish_s;
            r->fixed_start_s[i] = t->start_s;
        } else if (running && runs(r, i)) {
            r->fixed_processor[i] = WORKFLOW_EVERYWHERE;
            TRY(find_end(r, i, &r->fixed_finish_s[i]));
            r->fixed_start_s[i] =
                t->status == WORKFLOW_STAGING ? t->transfer_remaining_s : t->start_s;
            r->hosts[problem->parts->resource_of[i]].own_count++;
            r->begun_count++;
        } else {
            problem->open_count++;
        }
        lost = lost || (running && !runs(r, i));
    }
    if (lost)
        workflow_warn(
            problem,
            "restarted: tasks that run on a failed resource are scheduled again, from "
            "their checkpoints");
    return OK;
}

/* ---- what others hold ---- */

/* Takes out of `end_s` one for each own task: sorted lists, nearest ones first. */
static size_t drop_own(double *end_s, size_t count, const double *own_end_s, size_t own)
{
    size_t kept = 0, at = 0;

    for (size_t k = 0; k < own && at < count; k++) {
        while (count - at > own - k &&
               fabs(end_s[at + 1] - own_end_s[k]) <= fabs(end_s[at] - own_end_s[k]))
            end_s[kept++] = end_s[at++];
        at++;
    }
    while (at < count)
        end_s[kept++] = end_s[at++];
    return kept;
}

/* Known ends of used slots, sorted; gives their number. */
static size_t known_ends(const struct resource *given, double *end_s)
{
    size_t known = 0;

    for (size_t k = 0; k < given->free_at_count; k++)
        if (given->free_at_s[k] <= WORKFLOW_LONGEST_S)
            end_s[known++] = fmax(0, given->free_at_s[k]);
    sort_numbers(end_s, known);
    return known;
}

/* The first `count` own tasks to end leave no slot behind; ties: the first listed. */
static void close_first(struct host *h, const double *own_s, size_t count)
{
    size_t equal = 0;

    while (equal < count && own_s[count - 1 - equal] >= own_s[count - 1])
        equal++;
    for (size_t k = 0; count && k < h->own_count; k++) {
        if (h->own_end_s[k] > own_s[count - 1])
            continue;
        if (h->own_end_s[k] >= own_s[count - 1]) {
            if (equal == 0)
                continue;
            equal--;
        }
        h->own_until_s[k] = HUGE_VAL;
    }
}

/* Where more run than there are slots, the first to end leave none behind. own_s: ends of
 * own tasks, sorted. */
static void drop_excess(struct host *h, const double *own_s, size_t excess)
{
    size_t own = 0, others = 0;

    while (own + others < excess && own + others < h->own_count + h->other_count) {
        bool is_own = own < h->own_count &&
                      (others == h->other_count || own_s[own] <= h->other_end_s[others]);

        own += is_own;
        others += !is_own;
    }
    h->other_end_s += others;
    h->other_count -= others;
    close_first(h, own_s, own);
}

static void read_host(struct reader *r, size_t resource)
{
    const struct resource *given = &r->problem->in->snapshot->resources[resource];
    struct host *h = &r->hosts[resource];
    double *end_s = NEW(r->problem->arena, double, given->free_at_count + 1);
    double *own_s = NEW(r->problem->arena, double, h->own_count + 1);
    size_t own = h->own_count, slots = resource_slots(given);
    size_t known, unknown, used, spare, most = r->problem->open_count + r->begun_count;

    known = known_ends(given, end_s);
    used = given->job_count > (double)known ? (size_t)given->job_count : known;
    unknown = used - known; /* own tasks are these before they are known ones */
    memcpy(own_s, h->own_end_s, own * sizeof(*own_s));
    sort_numbers(own_s, own);
    memcpy(h->own_until_s, h->own_end_s, own * sizeof(*own_s));
    if (own > unknown)
        known =
            drop_own(end_s, known, own_s, own - unknown < known ? own - unknown : known);
    unknown -= own < unknown ? own : unknown;
    used = known + unknown;
    h->other_end_s = end_s;
    h->other_count = known;
    h->count = 1;
    if (used > 0 && used >= slots)
        h->full_until_s = used - slots < known ? end_s[used - slots] : HUGE_VAL;
    if (r->slots) {
        spare = slots > own + used ? slots - own - used : 0;
        if (own + used > slots)
            drop_excess(h, own_s, own + used - slots);
        h->count = own + h->other_count + (spare < most ? spare : most);
    }
}

static void read_hosts(struct reader *r)
{
    struct workflow_problem *problem = r->problem;
    size_t resources = problem->in->snapshot->resource_count;

    for (size_t i = 0; i < resources; i++) {
        r->hosts[i].own_end_s = NEW(problem->arena, double, r->hosts[i].own_count);
        r->hosts[i].own_until_s = NEW(problem->arena, double, r->hosts[i].own_count);
        r->hosts[i].own_count = 0;
    }
    for (size_t i = 0; i < problem->task_count; i++) {
        struct host *h;

        if (r->fixed_processor[i] == WORKFLOW_NONE ||
            problem->tasks[i]->status == WORKFLOW_DONE)
            continue;
        h = &r->hosts[problem->parts->resource_of[i]];
        h->own_end_s[h->own_count++] = r->fixed_finish_s[i];
    }
    for (size_t i = 0; i < resources; i++) {
        read_host(r, i);
        r->hosts[i].first = problem->processor_count;
        problem->processor_count += r->hosts[i].count;
    }
}

/* ---- windows ---- */

/* Windows by resource: a counting sort. */
static void read_windows(struct reader *r)
{
    struct workflow_problem *problem = r->problem;
    const struct workflow_in *in = problem->in;
    size_t first = 0;

    r->window_of = NEW(problem->arena, size_t, in->window_count);
    for (size_t i = 0; i < in->window_count; i++)
        r->hosts[name_index_find(&problem->parts->resources, in->windows[i].resource_id)]
            .window_count++;
    for (size_t i = 0; i < in->snapshot->resource_count; i++) {
        r->hosts[i].window_first = first;
        first += r->hosts[i].window_count;
        r->hosts[i].window_count = 0;
    }
    for (size_t i = 0; i < in->window_count; i++) {
        struct host *h = &r->hosts[name_index_find(&problem->parts->resources,
                                                   in->windows[i].resource_id)];

        r->window_of[h->window_first + h->window_count++] = i;
    }
}

static int by_begin(const void *a, const void *b)
{
    const struct workflow_blocked *x = a, *y = b;

    return (x->from_s > y->from_s) - (x->from_s < y->from_s);
}

/* Joins intervals of a sorted list that touch; leaves out the past. Gives their number.
 */
static size_t join(struct workflow_blocked *list, size_t count)
{
    size_t used = 0;

    qsort(list, count, sizeof(*list), by_begin);
    for (size_t i = 0; i < count; i++) {
        struct workflow_blocked x = {fmax(0, list[i].from_s), list[i].to_s};

        if (!(x.to_s > x.from_s))
            continue;
        if (used && x.from_s <= list[used - 1].to_s)
            list[used - 1].to_s = fmax(list[used - 1].to_s, x.to_s);
        else
            list[used++] = x;
    }
    return used;
}

/* What lies between the windows of a resource, into `list` (a row longer than them). */
static size_t outside_windows(const struct reader *r, const struct host *h,
                              struct workflow_blocked *list)
{
    double open_until_s = 0;
    size_t used = 0, count;

    if (h->window_count == 0)
        return 0;
    for (size_t k = 0; k < h->window_count; k++) {
        const struct workflow_window *w =
            &r->problem->in->windows[r->window_of[h->window_first + k]];

        list[k] =
            (struct workflow_blocked){w->from_s, isnan(w->to_s) ? HUGE_VAL : w->to_s};
    }
    count = join(list, h->window_count);
    for (size_t k = 0; k < count; k++) {
        struct workflow_blocked window = list[k];

        if (window.from_s > open_until_s)
            list[used++] = (struct workflow_blocked){open_until_s, window.from_s};
        open_until_s = window.to_s;
    }
    if (open_until_s < HUGE_VAL)
        list[used++] = (struct workflow_blocked){open_until_s, HUGE_VAL};
    return used;
}

/* ---- processors ---- */

/* Until when slot k of a resource is held: own tasks, others, then free ones. */
static double held_until_s(const struct reader *r, const struct host *h, size_t k)
{
    double until_s = 0;

    if (!r->slots) {
        until_s = h->full_until_s;
        for (size_t i = 0; i < h->own_count; i++)
            until_s = fmax(until_s, h->own_end_s[i]);
        return until_s;
    }
    if (k < h->own_count)
        return h->own_until_s[k];
    k -= h->own_count;
    return k < h->other_count ? h->other_end_s[k] : 0;
}

/* Outside the windows, and until until_s: into a new list. */
static enum error_code list_blocked(const struct reader *r, const struct host *h,
                                    double until_s, const struct workflow_blocked **out,
                                    size_t *count)
{
    struct workflow_blocked *list =
        NEW(r->problem->arena, struct workflow_blocked, h->window_count + 2);
    size_t used;

    if (h->window_count &&
        budget_step(budget_finish(r->problem->in->budget), 2 * h->window_count))
        return fail(r->err, ERR_CANCELLED, "", "the client went away");
    used = outside_windows(r, h, list);
    list[used++] =
        (struct workflow_blocked){0, until_s <= WORKFLOW_LONGEST_S ? until_s : HUGE_VAL};
    *count = join(list, used);
    *out = list;
    return OK;
}

static enum error_code fill_processors(struct reader *r, size_t resource)
{
    const struct resource *given = &r->problem->in->snapshot->resources[resource];
    const struct host *h = &r->hosts[resource];
    double speed_mips = speed_of(given, r->slots);
    const struct workflow_blocked *closed, *list;
    size_t closed_count, count;
    double listed_s = given->ready_s;

    TRY(list_blocked(r, h, listed_s, &closed, &closed_count));
    list = closed;
    count = closed_count;
    for (size_t k = 0; k < h->count; k++) {
        double until_s = fmax(given->ready_s, held_until_s(r, h, k));

        if (until_s != listed_s)
            TRY(list_blocked(r, h, until_s, &list, &count));
        listed_s = until_s;
        r->processors[h->first + k] = (struct workflow_processor){
            .resource = resource,
            .slot = k,
            .site = r->problem->parts->site_of[resource],
            .speed_mips = speed_mips,
            .usable = !given->failed &&
                      !(count == 1 && list[0].from_s == 0 && list[0].to_s == HUGE_VAL),
            .blocked = list,
            .blocked_count = count,
            .closed = closed,
            .closed_count = closed_count,
        };
    }
    return OK;
}

/* Gives running tasks a slot each, in their order, and done ones the first.
 * Without any slot (n_max 0, with `slots`) a done task's output is still there, but no
 * processor is: everywhere then. */
static void place_fixed(struct reader *r)
{
    struct workflow_problem *problem = r->problem;
    size_t *taken = NEW(problem->arena, size_t, problem->in->snapshot->resource_count);

    for (size_t i = 0; i < problem->task_count; i++) {
        size_t resource = problem->parts->resource_of[i], slot = 0;
        const struct host *h;

        if (r->fixed_processor[i] == WORKFLOW_NONE || resource == WORKFLOW_NONE)
            continue;
        h = &r->hosts[resource];
        if (h->count == 0)
            continue;
        if (problem->tasks[i]->status != WORKFLOW_DONE && r->slots)
            slot = taken[resource]++;
        r->fixed_processor[i] = h->first + slot;
    }
}

static void make_reader(struct reader *r)
{
    struct workflow_problem *problem = r->problem;
    struct arena *a = problem->arena;
    size_t n = problem->task_count;

    r->hosts = NEW(a, struct host, problem->in->snapshot->resource_count);
    r->fixed_processor = NEW(a, size_t, n);
    r->fixed_start_s = NEW(a, double, n);
    r->fixed_finish_s = NEW(a, double, n);
    problem->parts->left_ratio = NEW(a, double, n);
    problem->parts->left = NEW(a, struct workflow_left, n);
    for (size_t i = 0; i < n; i++)
        problem->parts->left_ratio[i] = left_ratio(problem->tasks[i]);
}

enum error_code workflow_read_processors(struct workflow_problem *problem, bool slots,
                                         struct error *err)
{
    struct reader r = {.problem = problem, .slots = slots, .err = err};

    make_reader(&r);
    TRY(fix_tasks(&r));
    read_windows(&r);
    read_hosts(&r);
    r.processors =
        NEW(problem->arena, struct workflow_processor, problem->processor_count);
    for (size_t i = 0; i < problem->in->snapshot->resource_count; i++)
        TRY(fill_processors(&r, i));
    place_fixed(&r);
    problem->processors = r.processors;
    problem->fixed_processor = r.fixed_processor;
    problem->fixed_start_s = r.fixed_start_s;
    problem->fixed_finish_s = r.fixed_finish_s;
    problem->left = problem->parts->left;
    return OK;
}
