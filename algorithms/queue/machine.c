/* queue/machine.c - a cluster with its queue, played by events. */
#include "algorithms/queue/machine.h"
#include "models/base/heap.h"

#include <math.h>
#include <stdlib.h>

static const double OVERDUE_S = 1; /* a job that should have ended ends so soon (ours) */
enum {
    EVENT_WORK = 16,  /* cells of the profile that an event stands for */
    LOOK_WORK = 16384 /* cells between two looks at the budget */
};

/* ---- the heap of ends ---- */

static bool ends_before(const struct job_end *a, const struct job_end *b)
{
    return a->at_s < b->at_s; /* what ends together is looked at together */
}
HEAP(ends, struct job_end, ends_before)

/* ---- the begin ---- */

static int compare_times(const void *left, const void *right)
{
    double l = *(const double *)left, r = *(const double *)right;

    return l < r ? -1 : l > r;
}

static enum error_code add_reservations(struct machine *m, const struct queue_in *in,
                                        struct error *err)
{
    double *wake_s = NEW(m->arena, double, in->reservation_count);

    for (size_t i = 0; i < in->reservation_count; i++) {
        const struct queue_reservation *r = &in->reservations[i];

        wake_s[i] = r->end_s;
        if (r->end_s > m->now_s)
            TRY(profile_take(&m->profile, r->start_s, r->end_s, r->processors, err));
    }
    qsort(wake_s, in->reservation_count, sizeof(*wake_s), compare_times);
    m->wake_s = wake_s;
    m->wake_count = in->reservation_count;
    while (m->wake_next < m->wake_count && wake_s[m->wake_next] <= m->now_s)
        m->wake_next++;
    return OK;
}

double machine_running_end_s(const struct queue_running *running, double now_s)
{
    return running->expected_end_s > now_s ? running->expected_end_s : now_s + OVERDUE_S;
}

static int by_end(const void *a, const void *b)
{
    const struct job_end *x = a, *y = b;

    return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

/* Between two ends all that ends later is taken at once: one pass over the profile. */
static enum error_code add_running(struct machine *m, struct arena *a, struct error *err)
{
    struct job_end *ends = NEW(a, struct job_end, m->running_count);
    uint64_t processors = 0;

    for (size_t i = 0; i < m->running_count; i++) {
        ends[i] = (struct job_end){machine_running_end_s(&m->running[i], m->now_s),
                                   m->job_count + i};
        ends_push(m->ends, &m->end_count, ends[i]);
    }
    qsort(ends, m->running_count, sizeof(*ends), by_end);
    for (size_t k = m->running_count; k-- > 0;) {
        double from_s = k > 0 ? ends[k - 1].at_s : m->now_s;

        processors += m->running[ends[k].job - m->job_count].processors;
        TRY(profile_take(&m->profile, from_s, ends[k].at_s, processors, err));
    }
    return OK;
}

enum error_code machine_open(struct machine *m, const struct policy *policy,
                             const struct queue_in *in, const double *run_s,
                             struct budget *budget, struct arena *a, struct error *err)
{
    *m = (struct machine){
        .policy = policy,
        .processors = in->processors,
        .jobs = in->jobs,
        .job_count = in->job_count,
        .run_s = run_s,
        .running = in->running,
        .running_count = in->running_count,
        .now_s = in->now_s,
        .head = SIZE_MAX,
        .budget = budget,
        .arena = a,
    };
    m->start_s = NEW(a, double, in->job_count);
    m->plan_s = NEW(a, double, in->job_count);
    m->ends = NEW(a, struct job_end, in->job_count + in->running_count + 1);
    for (size_t i = 0; i < in->job_count; i++)
        m->start_s[i] = m->plan_s[i] = (double)NAN;
    profile_create(&m->profile, in->now_s, in->processors, a);
    waiting_create(&m->waiting, policy, in->jobs, in->job_count, a);
    if (queue_discipline_of(policy)->rule == QUEUE_CONSERVATIVE) {
        m->planned = NEW(a, uint64_t, in->job_count / 64 + 1);
    }
    TRY(add_reservations(m, in, err));
    return add_running(m, a, err);
}

/* ---- what happens ---- */

bool machine_is_cut(struct machine *m)
{
    uint64_t work = EVENT_WORK * m->event_count++ + m->profile.work;

    if (!m->cut && work >= m->next_look) {
        m->next_look = work + LOOK_WORK;
        m->cut = budget_spent(m->budget);
    }
    return m->cut;
}

uint64_t machine_free(const struct machine *m)
{
    return m->profile.free > 0 ? (uint64_t)m->profile.free : 0;
}

double machine_end_s(double start_s, double estimate_s)
{
    double end_s = start_s + estimate_s;

    return end_s > start_s ? end_s : nextafter(start_s, HUGE_VAL);
}

void machine_start_planned(struct machine *m, size_t job)
{
    m->start_s[job] = m->now_s;
    waiting_remove(&m->waiting, job);
    ends_push(m->ends, &m->end_count, (struct job_end){m->now_s + m->run_s[job], job});
}

enum error_code machine_start(struct machine *m, size_t job, struct error *err)
{
    const struct queue_job *j = &m->jobs[job];

    machine_start_planned(m, job);
    return profile_take(&m->profile, m->now_s, machine_end_s(m->now_s, j->estimate_s),
                        j->processors, err);
}

/* Gives back what the estimate of a job that has ended still holds. */
static enum error_code end_job(struct machine *m, size_t job, struct error *err)
{
    const struct queue_job *j;
    double end_s;

    m->ended_count++;
    if (job >= m->job_count) /* they take their estimates */
        return OK;
    j = &m->jobs[job];
    end_s = machine_end_s(m->start_s[job], j->estimate_s);
    if (!(end_s > m->now_s))
        return OK;
    m->ended_early |= j->estimate_s > 0;
    return profile_give(&m->profile, m->now_s, end_s, j->processors, err);
}

static void arrive(struct machine *m, size_t job)
{
    bool planned =
        queue_discipline_of(m->policy)->rule == QUEUE_CONSERVATIVE; /* in a moment */

    if (m->jobs[job].processors <= m->processors)
        waiting_add(&m->waiting, job, planned ? HUGE_VAL : 0);
}

double machine_next_s(const struct machine *m)
{
    double at_s = HUGE_VAL;

    if (m->arrived_count < m->job_count)
        at_s = m->jobs[m->arrived_count].submit_s;
    if (m->end_count)
        at_s = fmin(at_s, m->ends[0].at_s);
    if (m->waiting.count && m->wake_next < m->wake_count)
        at_s = fmin(at_s, m->wake_s[m->wake_next]);
    if (queue_discipline_of(m->policy)->rule == QUEUE_CONSERVATIVE &&
        min_tree_least(&m->waiting.by_rank) > m->now_s)
        at_s = fmin(at_s, min_tree_least(&m->waiting.by_rank));
    return fmax(at_s, m->now_s);
}

enum error_code machine_step(struct machine *m, bool *more, struct error *err)
{
    double now_s = machine_next_s(m);

    *more = isfinite(now_s) && !m->cut;
    if (!*more)
        return OK;
    m->now_s = now_s;
    profile_advance(&m->profile, now_s);
    while (m->wake_next < m->wake_count && m->wake_s[m->wake_next] <= now_s)
        m->wake_next++;
    while (m->end_count && m->ends[0].at_s <= now_s) {
        TRY(end_job(m, ends_pop(m->ends, &m->end_count).job, err));
        machine_is_cut(m);
    }
    while (m->arrived_count < m->job_count &&
           m->jobs[m->arrived_count].submit_s <= now_s) {
        arrive(m, m->arrived_count++);
        machine_is_cut(m);
    }
    return machine_decide(m, err);
}

enum error_code machine_run(struct machine *m, struct error *err)
{
    bool more = true;

    while (more)
        TRY(machine_step(m, &more, err));
    return OK;
}
