/* queue/rules.c - which waiting jobs start now, by each rule of queue.h.
 *
 * head: as long as the first job of the queue fits, it starts. A job fits if enough
 * processors are free from now on for its estimate, before any reservation.
 *
 * easy: then the first job that waits is laid into the profile where it fits first,
 * and of the others those start that fit beside it, in the order of those that
 * backfill. Without reservations that is the textbook's rule: they end before the
 * first job is to start, or use no more than the processors that it leaves over.
 *
 * fit: the same without the first job's reservation.
 *
 * conservative: in conservative.c.
 *
 * Who backfills is found without looking at all: the longest estimate that m
 * processors bear falls with m, so for each width that fits now one question to the
 * profile and one to the tree of estimates give the first job of that width; the
 * first of these is next.
 */
#include "algorithms/queue/machine.h"

#include <math.h>

/* ---- head ---- */

bool machine_fits_now(struct machine *m, size_t job)
{
    const struct queue_job *j = &m->jobs[job];

    return j->processors <= machine_free(m) &&
           m->now_s + j->estimate_s <= profile_first_below(&m->profile, j->processors);
}

/* Starts the first jobs; *head is the one that must wait, or SIZE_MAX. Also when the
 * budget is spent: by every rule they start, so that a queue that is always asked with
 * too little time moves on. */
static enum error_code start_heads(struct machine *m, size_t *head, struct error *err)
{
    for (;;) {
        *head = waiting_first(&m->waiting);
        if (*head == SIZE_MAX || !machine_fits_now(m, *head))
            return OK;
        machine_is_cut(m);
        TRY(machine_start(m, *head, err));
    }
}

/* ---- those that backfill ---- */

/* The longest time that `processors` are free from now on, so that now and that time
 * add up to no more than the end of it. */
static double room_s(struct machine *m, uint64_t processors)
{
    double end_s = profile_first_below(&m->profile, processors);
    double longest_s = end_s - m->now_s;

    while (isfinite(end_s) && m->now_s + longest_s > end_s)
        longest_s = nextafter(longest_s, 0);
    return fmin(longest_s, QUEUE_TIME_MAX_S * 2);
}

/* The first of those that backfill; SIZE_MAX: nobody. */
static size_t next_backfill(struct machine *m)
{
    const struct waiting *w = &m->waiting;
    uint64_t free = machine_free(m);
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < w->class_count && w->classes[i].processors <= free; i++) {
        const struct width_class *c = &w->classes[i];
        size_t position;

        m->profile.work++;
        if (c->waiting_count == 0)
            continue;
        position = min_tree_first(&w->by_width, c->begin, room_s(m, c->processors));
        if (position >= c->end)
            continue;
        position = w->job_of_width_position[position];
        if (best == SIZE_MAX || w->backfill_rank[position] < w->backfill_rank[best])
            best = position;
    }
    return best;
}

static enum error_code start_backfill(struct machine *m, struct error *err)
{
    size_t job = next_backfill(m);

    while (job != SIZE_MAX && !machine_is_cut(m)) {
        TRY(machine_start(m, job, err));
        job = next_backfill(m);
    }
    return OK;
}

/* The same by one walk over the queue when the budget is spent: those that backfill come
 * in its order, and there is never more room than for the one before. */
static enum error_code decide_fit(struct machine *m, struct error *err)
{
    const struct waiting *w = &m->waiting;

    TRY(start_backfill(m, err));
    for (size_t rank = 0; rank < m->job_count && m->cut && machine_free(m); rank++) {
        size_t job = w->job_of_rank[rank];

        if (job < m->arrived_count && isnan(m->start_s[job]) && machine_fits_now(m, job))
            TRY(machine_start(m, job, err));
    }
    return OK;
}

static enum error_code decide_easy(struct machine *m, struct error *err)
{
    const struct queue_job *first;
    double start_s, end_s;

    TRY(start_heads(m, &m->head, err));
    if (m->head == SIZE_MAX || m->cut)
        return OK;
    first = &m->jobs[m->head];
    start_s = profile_fit(&m->profile, first->processors, first->estimate_s, m->now_s);
    m->head_start_s = start_s;
    if (start_s <= nextafter(m->now_s, HUGE_VAL)) /* waits for jobs that take no time */
        return OK;
    end_s = machine_end_s(start_s, first->estimate_s);
    TRY(profile_take(&m->profile, start_s, end_s, first->processors, err));
    TRY(start_backfill(m, err));
    return profile_give(&m->profile, start_s, end_s, first->processors, err);
}

/* ---- all ---- */

enum error_code machine_decide(struct machine *m, struct error *err)
{
    size_t head;

    m->head = SIZE_MAX;
    m->head_start_s = (double)NAN;
    switch (queue_discipline_of(m->policy)->rule) {
    case QUEUE_HEAD:
        TRY(start_heads(m, &head, err));
        m->head = head;
        return OK;
    case QUEUE_FIT:
        return decide_fit(m, err);
    case QUEUE_EASY:
        return decide_easy(m, err);
    case QUEUE_CONSERVATIVE:
        return conservative_decide(m, err);
    }
    return OK;
}
