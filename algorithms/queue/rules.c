/* queue/rules.c - which waiting jobs start now, by each rule of queue.h.
 *
 * head: as long as the first job of the queue fits, it starts. A job fits if enough
 * processors are free from now on for its estimate, before any reservation.
 *
 * easy: then the first job that waits is laid into the profile where it fits first,
 * and of the others those start that fit beside it, in the order of those that
 * overtake. Without reservations that is the textbook's rule: they end before the
 * first job is to start, or use no more than the processors that it leaves over.
 *
 * fit: the same without the first job's reservation.
 *
 * conservative: arrivals are laid into the profile where they fit first. When a job
 * has ended before its estimate, each job in the order of the queue is taken out and
 * laid in again, so that it moves up or stays. Who is planned for now starts.
 *
 * Who overtakes is found without looking at all: the longest estimate that m
 * processors bear falls with m, so for each width that fits now one question to the
 * profile and one to the tree of estimates give the first job of that width; the
 * first of these is next.
 */
#include "algorithms/queue/machine.h"

#include <float.h>
#include <math.h>

static const double INSTANT_RATIO =
    1e-9; /* of the time: no difference between instants */

/* ---- head ---- */

static bool fits_now(const struct machine *m, const struct queue_job *job)
{
    return job->processors <= machine_free(m) &&
           m->now_s + job->estimate_s <=
               profile_first_below(&m->profile, job->processors);
}

/* Starts the first jobs; *head is the one that must wait, or SIZE_MAX. */
static enum error_code start_heads(struct machine *m, size_t *head, struct error *err)
{
    for (;;) {
        *head = waiting_first(&m->waiting);
        if (*head == SIZE_MAX || !fits_now(m, &m->jobs[*head]) || machine_is_cut(m))
            return OK;
        TRY(machine_start(m, *head, err));
    }
}

/* ---- those that overtake ---- */

/* The longest time that `processors` are free from now on, so that now and that time
 * add up to no more than the end of it. */
static double room_s(const struct machine *m, uint64_t processors)
{
    double end_s = profile_first_below(&m->profile, processors);
    double longest_s = end_s - m->now_s;

    while (isfinite(end_s) && m->now_s + longest_s > end_s)
        longest_s = nextafter(longest_s, 0);
    return fmin(longest_s, QUEUE_TIME_MAX_S * 2);
}

/* The first of those that overtake; SIZE_MAX: nobody. */
static size_t next_filler(const struct machine *m)
{
    const struct waiting *w = &m->waiting;
    uint64_t free = machine_free(m);
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < w->class_count && w->classes[i].processors <= free; i++) {
        const struct width_class *c = &w->classes[i];
        size_t position;

        if (c->waiting_count == 0)
            continue;
        position = min_tree_first(&w->by_width, c->begin, room_s(m, c->processors));
        if (position >= c->end)
            continue;
        position = w->job_of_width_position[position];
        if (best == SIZE_MAX || w->filler_rank[position] < w->filler_rank[best])
            best = position;
    }
    return best;
}

static enum error_code start_fillers(struct machine *m, struct error *err)
{
    size_t job = next_filler(m);

    while (job != SIZE_MAX && !machine_is_cut(m)) {
        TRY(machine_start(m, job, err));
        job = next_filler(m);
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
    TRY(start_fillers(m, err));
    return profile_give(&m->profile, start_s, end_s, first->processors, err);
}

/* ---- conservative ---- */

/* Lays a job into the profile, not before from_s. */
static enum error_code plan(struct machine *m, size_t job, double from_s,
                            struct error *err)
{
    const struct queue_job *j = &m->jobs[job];
    double start_s = profile_fit(&m->profile, j->processors, j->estimate_s, from_s);

    m->plan_s[job] = start_s;
    min_tree_set(&m->waiting.by_rank, m->waiting.rank[job], start_s);
    return profile_take(&m->profile, start_s, machine_end_s(start_s, j->estimate_s),
                        j->processors, err);
}

static enum error_code unplan(struct machine *m, size_t job, struct error *err)
{
    const struct queue_job *j = &m->jobs[job];
    double start_s = m->plan_s[job];

    return profile_give(&m->profile, start_s, machine_end_s(start_s, j->estimate_s),
                        j->processors, err);
}

/* All that are planned move up as far as they can. */
static enum error_code compress(struct machine *m, struct error *err)
{
    size_t rank = min_tree_first(&m->waiting.by_rank, 0, DBL_MAX);

    hints_forget(&m->hints);
    while (rank < m->planned_count && !machine_is_cut(m)) {
        size_t job = m->waiting.job_of_rank[rank];

        TRY(unplan(m, job, err));
        TRY(plan(m, job, m->now_s, err));
        rank = min_tree_first(&m->waiting.by_rank, rank + 1, DBL_MAX);
    }
    return OK;
}

static enum error_code plan_arrivals(struct machine *m, struct error *err)
{
    for (; m->planned_count < m->arrived_count && !machine_is_cut(m);
         m->planned_count++) {
        size_t job = m->planned_count, class = m->waiting.class_of[job];
        double length_s = m->jobs[job].estimate_s;

        if (m->jobs[job].processors > m->processors)
            continue;
        TRY(plan(m, job, hints_earliest(&m->hints, class, length_s), err));
        hints_note(&m->hints, class, length_s, m->plan_s[job]);
    }
    return OK;
}

/* Starts who is planned for now. Behind jobs that take no time others are planned for
 * the least time later; they start now too, in the next round of this instant. */
static enum error_code start_planned(struct machine *m, struct error *err)
{
    double due_s = m->now_s + INSTANT_RATIO * fmax(1, fabs(m->now_s));
    size_t rank = min_tree_first(&m->waiting.by_rank, 0, due_s);

    while (rank != SIZE_MAX && !machine_is_cut(m)) {
        size_t job = m->waiting.job_of_rank[rank];

        TRY(unplan(m, job, err));
        if (fits_now(m, &m->jobs[job]))
            TRY(machine_start(m, job, err));
        else
            TRY(plan(m, job, m->now_s, err));
        rank = min_tree_first(&m->waiting.by_rank, rank + 1, due_s);
    }
    return OK;
}

static enum error_code decide_conservative(struct machine *m, struct error *err)
{
    bool early = m->ended_early;

    m->ended_early = false;
    if (early)
        TRY(compress(m, err));
    TRY(plan_arrivals(m, err));
    return start_planned(m, err);
}

/* ---- all ---- */

enum error_code machine_decide(struct machine *m, struct error *err)
{
    size_t head;

    m->head = SIZE_MAX;
    m->head_start_s = (double)NAN;
    switch (m->policy->rule) {
    case QUEUE_HEAD:
        TRY(start_heads(m, &head, err));
        m->head = head;
        return OK;
    case QUEUE_FIT:
        return start_fillers(m, err);
    case QUEUE_EASY:
        return decide_easy(m, err);
    case QUEUE_CONSERVATIVE:
        return decide_conservative(m, err);
    }
    return OK;
}
