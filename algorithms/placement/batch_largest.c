/* placement/batch_largest.c - max_min without files: a heap of upper bounds.
 *
 * The job to place is the one whose best completion time is largest, and what a job
 * gets on any resource bounds its best from above. So each job waits under the bound
 * that one resource, its witness, gives, and is looked at only when no other bound is
 * larger: its best is found, and unless it is the largest of all the job goes back to
 * wait under a witness that is not much in demand: a slow resource on which it would
 * be done half way between its own best and the largest best.
 *
 * Completion times only grow, so that a bound changes only when the witness takes a
 * job, and a best place stays the best as long as the job would be done there at the
 * same time.
 */
#include "algorithms/placement/batch_parts.h"

enum { TRIES_MAX = 64 }; /* resources looked at for a witness */

#define NEAR (1 + 1e-4) /* a best so near to the largest is its own bound */

/* A stream in the heap. */
struct waiter {
    struct batch_stream *stream;
    double bound_s;    /* best completion time of its first job, at most */
    size_t witness;    /* position that gives the bound; NO_INDEX: none */
    size_t next, prev; /* others with the same witness; NO_INDEX: end of the list */
    size_t at;         /* in the heap */
};

struct largest {
    struct batch *batch;
    struct waiter *waiters;
    size_t *heap; /* indexes of waiters, largest bound first, then lowest job */
    size_t count;
    size_t *first;    /* by position: first waiter with that witness */
    double largest_s; /* best completion time of the job to place next, about */
};

static bool goes_before(const struct largest *l, size_t a, size_t b)
{
    const struct waiter *x = &l->waiters[a], *y = &l->waiters[b];

    if (x->bound_s != y->bound_s)
        return x->bound_s > y->bound_s;
    return *x->stream->jobs < *y->stream->jobs;
}

static void put(struct largest *l, size_t at, size_t waiter)
{
    l->heap[at] = waiter;
    l->waiters[waiter].at = at;
}

/* Moves a waiter whose bound has changed to its place in the heap, which is not one of
 * base/heap.h: any waiter may move, so that each knows where it is. */
static void restore(struct largest *l, size_t waiter)
{
    size_t at = l->waiters[waiter].at;

    while (at > 0 && goes_before(l, waiter, l->heap[(at - 1) / 2])) {
        put(l, at, l->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        size_t child = 2 * at + 1;

        if (child + 1 < l->count && goes_before(l, l->heap[child + 1], l->heap[child]))
            child++;
        if (child >= l->count || !goes_before(l, l->heap[child], waiter))
            break;
        put(l, at, l->heap[child]);
        at = child;
    }
    put(l, at, waiter);
}

static void set_witness(struct largest *l, size_t waiter, size_t pos, double bound_s)
{
    struct waiter *w = &l->waiters[waiter];

    if (w->witness != pos && w->witness != NO_INDEX) {
        if (w->prev == NO_INDEX)
            l->first[w->witness] = w->next;
        else
            l->waiters[w->prev].next = w->next;
        if (w->next != NO_INDEX)
            l->waiters[w->next].prev = w->prev;
    }
    if (w->witness != pos && pos != NO_INDEX) {
        w->prev = NO_INDEX;
        w->next = l->first[pos];
        if (w->next != NO_INDEX)
            l->waiters[w->next].prev = waiter;
        l->first[pos] = waiter;
    }
    w->witness = pos;
    w->bound_s = bound_s;
}

static void take_out_first(struct largest *l)
{
    set_witness(l, l->heap[0], NO_INDEX, 0);
    if (--l->count == 0)
        return;
    put(l, 0, l->heap[l->count]);
    restore(l, l->heap[0]);
}

/* The slowest position on which the job runs for `most_s` at most, and one more. */
static size_t slow_end(const struct placement_problem *p, double work_ref_s,
                       double most_s)
{
    size_t low = 0, high = p->resource_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (work_ref_s * p->slowness[middle] <= most_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Lets the waiter, whose best is known, wait under a witness that completes its job
 * half way between that and the largest best. */
static void loosen(struct largest *l, size_t waiter)
{
    struct waiter *w = &l->waiters[waiter];
    struct placement_plan *plan = l->batch->plan;
    const struct placement_problem *p = plan->problem;
    size_t job = *w->stream->jobs;
    const struct problem_job *j = &p->jobs[job];
    const struct problem_class *c = &p->classes[j->job_class];
    double best_s = w->stream->choice.done_s;
    double most_s = best_s + (l->largest_s - best_s) / 2;
    size_t end, tries = 0;

    if (j->etc_s || !(most_s > best_s * NEAR))
        return;
    end = slow_end(p, j->estimate_ref_s, most_s);
    for (size_t b = (end + BLOCK - 1) / BLOCK; b-- > 0 && tries < TRIES_MAX;) {
        uint64_t left = plan->block_earliest_s[b] > most_s ? 0 : c->mask[b];

        plan->work++;
        while (left && tries < TRIES_MAX) {
            size_t bit = BLOCK - 1 - (size_t)__builtin_clzll(left);
            size_t pos = b * BLOCK + bit;
            double done_s;

            left &= ~(UINT64_C(1) << bit);
            if (pos >= end || plan->earliest_s[pos] > most_s)
                continue;
            tries++;
            done_s = plan_fit(plan, job, pos).done_s;
            if (done_s <= most_s) {
                set_witness(l, waiter, pos, done_s);
                return;
            }
        }
    }
}

/* Finds the best place of the first waiter's job; false: it has none. */
static bool find_best(struct largest *l, struct waiter *w)
{
    struct batch_stream *s = w->stream;
    size_t pos = s->choice.pos;

    if (s->same_job && pos != NO_INDEX &&
        plan_fit(l->batch->plan, *s->jobs, pos).done_s == s->choice.done_s)
        return true;
    if (!batch_still_best(l->batch, s))
        batch_choose(l->batch, s);
    return s->jobs < s->end;
}

static enum error_code place_first(struct largest *l, struct error *err)
{
    size_t waiter = l->heap[0];
    struct batch_stream *s = l->waiters[waiter].stream;
    struct placement_plan *plan = l->batch->plan;
    const struct problem_job *jobs = plan->problem->jobs;
    size_t pos = s->choice.pos, job = *s->jobs;

    l->largest_s = s->choice.done_s;
    TRY(plan_place(plan, job, pos, err));
    s->jobs++;
    if (s->jobs == s->end) {
        take_out_first(l);
    } else {
        /* The next job needs no less, and may be done as soon as this one. */
        s->same_job =
            jobs[job].etc_s || jobs[*s->jobs].estimate_ref_s == jobs[job].estimate_ref_s;
        set_witness(l, waiter, pos, HUGE_VAL);
    }
    for (size_t i = l->first[pos]; i != NO_INDEX; i = l->waiters[i].next) {
        struct waiter *w = &l->waiters[i];
        double bound_s = plan_fit(plan, *w->stream->jobs, pos).done_s;

        plan->work += 2;
        if (bound_s == w->bound_s && i != waiter)
            continue;
        w->bound_s = bound_s;
        restore(l, i);
    }
    return OK;
}

static void start(struct largest *l, struct batch *b)
{
    const struct placement_problem *p = b->plan->problem;
    struct arena *a = b->plan->arena;

    *l = (struct largest){
        .batch = b,
        .waiters = NEW(a, struct waiter, b->count),
        .heap = NEW(a, size_t, b->count),
        .first = NEW(a, size_t, p->resource_count),
    };
    for (size_t pos = 0; pos < p->resource_count; pos++)
        l->first[pos] = NO_INDEX;
    for (size_t i = 0; i < b->count; i++) {
        l->waiters[i] =
            (struct waiter){&b->streams[i], HUGE_VAL, NO_INDEX, NO_INDEX, NO_INDEX, i};
        l->waiters[i].stream->choice.pos = NO_INDEX;
        l->count++;
        l->heap[i] = i;
        restore(l, i);
    }
}

enum error_code batch_place_largest(struct batch *b, struct error *err)
{
    struct largest l;

    start(&l, b);
    while (l.count && !plan_spent(b->plan)) {
        size_t waiter = l.heap[0];
        struct waiter *w = &l.waiters[waiter];

        l.largest_s = sooner_s(l.largest_s, w->bound_s); /* no best is larger */
        if (!find_best(&l, w)) {
            take_out_first(&l);
            continue;
        }
        set_witness(&l, waiter, w->stream->choice.pos, w->stream->choice.done_s);
        restore(&l, waiter);
        if (l.heap[0] == waiter) {
            TRY(place_first(&l, err));
            continue;
        }
        loosen(&l, waiter);
        restore(&l, waiter);
    }
    return OK;
}
