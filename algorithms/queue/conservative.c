/* queue/conservative.c - every job has a place in the profile that nobody may delay.
 *
 * Arrivals are laid into the profile where they fit first. When a job has ended before
 * its estimate, each job in the order of the queue moves up to where it fits first if
 * it left its place, or stays (compression). Who is planned for now starts.
 *
 * A job that moves up may leave room that one before it in the queue uses only at the
 * next compression.
 *
 * Promises, of a queue whose plans were told before: the jobs that were promised a
 * start are laid in at it, in the order of these times and then of the queue. Those
 * that do not fit there (a running job takes longer than it said, a node is lost, there
 * is a new reservation) wait until all others are in, so that they break no promise but
 * their own, and are laid in where they fit first. After one compression the others
 * follow as arrivals. So neither early ends nor arrivals break a promise. (Ours.)
 */
#include "algorithms/queue/machine.h"

#include <math.h>
#include <stdlib.h>

static const double INSTANT_RATIO =
    1e-9; /* of the time: no difference between instants */
enum { WORD_BITS = 64 };

/* ---- places ---- */

/* Lays a job into the profile. */
static enum error_code lay(struct machine *m, size_t job, double start_s,
                           struct error *err)
{
    const struct queue_job *j = &m->jobs[job];
    size_t rank = m->waiting.rank[job];

    m->plan_s[job] = start_s;
    m->planned[rank / WORD_BITS] |= (uint64_t)1 << rank % WORD_BITS;
    min_tree_set(&m->waiting.by_rank, rank, start_s);
    return profile_take(&m->profile, start_s, machine_end_s(start_s, j->estimate_s),
                        j->processors, err);
}

/* Where it fits first, not before from_s. */
static enum error_code lay_first(struct machine *m, size_t job, double from_s,
                                 struct error *err)
{
    const struct queue_job *j = &m->jobs[job];

    return lay(m, job, profile_fit(&m->profile, j->processors, j->estimate_s, from_s),
               err);
}

/* Its place is free again. */
static enum error_code lift(struct machine *m, size_t job, struct error *err)
{
    const struct queue_job *j = &m->jobs[job];
    double start_s = m->plan_s[job];

    return profile_give(&m->profile, start_s, machine_end_s(start_s, j->estimate_s),
                        j->processors, err);
}

/* The first rank from `rank` on of those that have a place; SIZE_MAX: none. */
static size_t next_planned(const struct machine *m, size_t rank)
{
    size_t word = rank / WORD_BITS;
    uint64_t bits;

    if (rank >= m->arrived_count)
        return SIZE_MAX;
    bits = m->planned[word] >> rank % WORD_BITS << rank % WORD_BITS;
    while (!bits && ++word * WORD_BITS < m->arrived_count)
        bits = m->planned[word];
    return bits ? word * WORD_BITS + (size_t)__builtin_ctzll(bits) : SIZE_MAX;
}

static enum error_code compress(struct machine *m, struct error *err)
{
    size_t rank = next_planned(m, 0);

    for (; rank != SIZE_MAX && !machine_is_cut(m); rank = next_planned(m, rank + 1)) {
        size_t job = m->waiting.job_of_rank[rank];
        const struct queue_job *j = &m->jobs[job];
        double start_s =
            profile_fit_before(&m->profile, j->processors, j->estimate_s, m->plan_s[job]);

        if (start_s < m->plan_s[job]) {
            TRY(lift(m, job, err));
            TRY(lay(m, job, start_s, err));
        }
    }
    return OK;
}

/* ---- promises ---- */

struct promise {
    double start_s; /* not before now */
    size_t job;
};

static int compare_promises(const void *left, const void *right)
{
    const struct promise *l = left, *r = right;

    if (l->start_s != r->start_s)
        return l->start_s < r->start_s ? -1 : 1;
    return l->job < r->job ? -1 : l->job > r->job;
}

static size_t list_promises(const struct machine *m, struct promise *list)
{
    size_t count = 0;

    for (size_t i = 0; i < m->arrived_count; i++)
        if (!isnan(m->promise_s[i]) && m->jobs[i].processors <= m->processors)
            list[count++] = (struct promise){fmax(m->promise_s[i], m->now_s), i};
    qsort(list, count, sizeof(*list), compare_promises);
    return count;
}

static enum error_code keep_promises(struct machine *m, struct error *err)
{
    struct promise *list = NEW(m->arena, struct promise, m->arrived_count);
    size_t count, late = 0;

    count = list_promises(m, list);
    for (size_t i = 0; i < count; i++) {
        const struct queue_job *j = &m->jobs[list[i].job];
        double start_s = list[i].start_s;

        if (machine_is_cut(m) && start_s > m->now_s)
            break; /* those that are due start at any rate */

        if (profile_bears(&m->profile, start_s, start_s + j->estimate_s, j->processors))
            TRY(lay(m, list[i].job, start_s, err));
        else
            list[late++] = list[i];
    }
    for (size_t i = 0; i < late && !machine_is_cut(m); i++)
        TRY(lay_first(m, list[i].job, m->now_s, err));
    return m->keeps_gaps ? OK : compress(m, err);
}

/* ---- arrivals and starts ---- */

static enum error_code plan_arrivals(struct machine *m, struct error *err)
{
    for (; m->planned_count < m->arrived_count && !machine_is_cut(m);
         m->planned_count++) {
        size_t job = m->planned_count;

        if (m->jobs[job].processors > m->processors || !isnan(m->plan_s[job]))
            continue;
        TRY(lay_first(m, job, m->hints ? hints_earliest(m->hints, job) : m->now_s, err));
        if (m->hints)
            hints_note(m->hints, job, m->plan_s[job]);
    }
    return OK;
}

/* The time is up: the first of those that wait start if there is room, as they would.
 * Not when promises could not be looked at, which they might break. */
static enum error_code plan_heads(struct machine *m, struct error *err)
{
    for (; m->planned_count < m->arrived_count; m->planned_count++) {
        size_t job = m->planned_count;

        if (m->jobs[job].processors > m->processors || !isnan(m->plan_s[job]))
            continue;
        if (!machine_fits_now(m, job))
            break;
        TRY(lay(m, job, m->now_s, err));
    }
    return OK;
}

static enum error_code start(struct machine *m, size_t job, struct error *err)
{
    size_t rank = m->waiting.rank[job];

    if (m->plan_s[job] != m->now_s) {
        TRY(lift(m, job, err));
        if (!machine_fits_now(m, job))
            return lay_first(m, job, m->now_s, err);
        TRY(machine_start(m, job, err));
    } else {
        machine_start_planned(m, job);
    }
    m->planned[rank / WORD_BITS] &= ~((uint64_t)1 << rank % WORD_BITS);
    return OK;
}

/* Starts who is planned for now. Behind jobs that take no time others are planned for
 * the least time later; they start now too, in the next round of this instant. What is
 * planned starts also when the budget is spent. */
static enum error_code start_planned(struct machine *m, struct error *err)
{
    double due_s = m->now_s + INSTANT_RATIO * fmax(1, fabs(m->now_s));
    size_t rank = SIZE_MAX;

    if (min_tree_least(&m->waiting.by_rank) <= due_s)
        rank = min_tree_first(&m->waiting.by_rank, 0, due_s);
    while (rank != SIZE_MAX) {
        TRY(start(m, m->waiting.job_of_rank[rank], err));
        rank = min_tree_first(&m->waiting.by_rank, rank + 1, due_s);
    }
    return OK;
}

enum error_code conservative_decide(struct machine *m, struct error *err)
{
    bool early = m->ended_early, kept;

    m->ended_early = false;
    if (m->promise_s)
        TRY(keep_promises(m, err));
    kept = !m->promise_s || !m->cut;
    m->promise_s = NULL;
    if (early)
        TRY(compress(m, err));
    TRY(plan_arrivals(m, err));
    if (m->cut && kept)
        TRY(plan_heads(m, err));
    return start_planned(m, err);
}
