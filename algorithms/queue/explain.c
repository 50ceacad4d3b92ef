/* queue/explain.c - what each waiting job waits for, in a decision.
 *
 * What the profiles say of a job depends on its width only, but for its own place
 * under conservative. That is no matter where the first time with too few processors
 * comes before it: so a question is asked once for each width.
 */
#include "algorithms/queue/explain.h"

#include <math.h>
#include <stdlib.h>

enum {
    WIDTHS_BITS = 10, /* widths whose answers are kept, by a hash */
    LOOK_JOBS = 1024  /* between two looks at the budget */
};
static const double LATE_S = 1e-6; /* a promise is kept so exactly */

/* Something that begins or ends at an instant. */
struct mark {
    double at_s;
    enum queue_blocker by;
    size_t index; /* in the input */
};

struct marks {
    struct mark *list;
    size_t count;
};

/* What is known of a width. */
struct width {
    uint64_t processors; /* 0: nothing */
    double enough_s;     /* of what is fixed: when so many are free, ... */
    double below_s;      /* ... and fewer */
    double planned_s;    /* conservative: with all plans, when fewer are free */
    const struct mark *enough, *below, *planned;
};

struct explaining {
    struct machine *m;
    const struct queue_in *in;
    const size_t *given;
    struct queue_out *out;
    struct profile fixed; /* running jobs and reservations: what no order can change */
    struct marks ends;    /* of running jobs, jobs that start now, and reservations */
    struct marks begins;  /* of planned jobs and reservations */
    struct marks plans;   /* ends of planned jobs, once they are needed */
    struct width *widths;
    struct error *err;
};

static int compare_marks(const void *left, const void *right)
{
    const struct mark *l = left, *r = right;

    if (l->at_s != r->at_s)
        return l->at_s < r->at_s ? -1 : 1;
    if (l->by != r->by)
        return l->by < r->by ? -1 : 1;
    return l->index < r->index ? -1 : l->index > r->index;
}

static void sort_marks(struct marks *m)
{
    qsort(m->list, m->count, sizeof(*m->list), compare_marks);
}

/* The first mark at an instant or later; NULL: none. */
static const struct mark *mark_at(const struct marks *m, double at_s)
{
    size_t low = 0, high = m->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (m->list[middle].at_s < at_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->count ? &m->list[low] : NULL;
}

static void mark(struct marks *m, double at_s, enum queue_blocker by, size_t index)
{
    m->list[m->count++] = (struct mark){at_s, by, index};
}

/* ---- what there is to be named ---- */

static bool is_planned(const struct machine *m, size_t job)
{
    return isfinite(m->plan_s[job]) && isnan(m->start_s[job]);
}

static enum error_code survey_running(struct explaining *e)
{
    const struct machine *m = e->m;

    for (size_t i = 0; i < m->end_count; i++) {
        size_t job = m->ends[i].job, running = job - m->job_count;
        bool waited = job < m->job_count;

        TRY(profile_take(
            &e->fixed, m->now_s, m->ends[i].at_s,
            waited ? m->jobs[job].processors : m->running[running].processors, e->err));
        mark(&e->ends, m->ends[i].at_s, waited ? QUEUE_BY_JOB : QUEUE_BY_RUNNING,
             waited ? e->given[job] : running);
    }
    return OK;
}

static enum error_code survey_reservations(struct explaining *e)
{
    for (size_t i = 0; i < e->in->reservation_count; i++) {
        const struct queue_reservation *r = &e->in->reservations[i];

        if (!(r->end_s > e->m->now_s))
            continue;
        TRY(profile_take(&e->fixed, r->start_s, r->end_s, r->processors, e->err));
        mark(&e->ends, r->end_s, QUEUE_BY_RESERVATION, i);
        mark(&e->begins, fmax(r->start_s, e->m->now_s), QUEUE_BY_RESERVATION, i);
    }
    return OK;
}

static enum error_code survey(struct explaining *e)
{
    const struct machine *m = e->m;
    size_t most = m->job_count + m->running_count + e->in->reservation_count;

    e->ends.list = NEW(m->arena, struct mark, most);
    e->begins.list = NEW(m->arena, struct mark, most);
    e->widths = NEW(m->arena, struct width, (size_t)1 << WIDTHS_BITS);
    profile_create(&e->fixed, m->now_s, m->processors, m->arena);
    TRY(survey_running(e));
    TRY(survey_reservations(e));
    for (size_t i = 0; i < m->job_count && !e->out->is_cut; i++)
        if (is_planned(m, i))
            mark(&e->begins, m->plan_s[i], QUEUE_BY_JOB, e->given[i]);
    sort_marks(&e->ends);
    sort_marks(&e->begins);
    return OK;
}

static const struct width *width_of(struct explaining *e, uint64_t processors)
{
    uint64_t hash = processors * 0x9e3779b97f4a7c15 >> (64 - WIDTHS_BITS);
    struct width *w = &e->widths[hash];

    if (w->processors == processors)
        return w;
    w->processors = processors;
    w->enough_s = profile_first_above(&e->fixed, processors);
    w->below_s = profile_first_below(&e->fixed, processors);
    w->enough = mark_at(&e->ends, w->enough_s);
    w->below = mark_at(&e->begins, w->below_s);
    if (queue_discipline_of(e->m->policy)->rule == QUEUE_CONSERVATIVE) {
        w->planned_s = profile_first_below(&e->m->profile, processors);
        w->planned = mark_at(&e->begins, w->planned_s);
    }
    return w;
}

/* ---- reasons ---- */

static void blame(struct queue_verdict *v, enum queue_reason reason,
                  const struct mark *who)
{
    v->reason = reason;
    if (!who)
        return;
    v->by = who->by;
    v->blocker = who->index;
    v->until_s = who->at_s;
}

/* conservative: the plan that the job would run into if it started now. Where it would
 * run into none, it keeps its place until the next compression. */
static enum error_code blame_plan(struct explaining *e, size_t job, const struct width *w,
                                  struct queue_verdict *v)
{
    struct machine *m = e->m;
    const struct queue_job *j = &m->jobs[job];
    double start_s = m->plan_s[job], end_s = machine_end_s(start_s, j->estimate_s);
    const struct mark *who = w->planned;
    double at_s = w->planned_s;

    if (!(at_s < start_s)) {
        TRY(profile_give(&m->profile, start_s, end_s, j->processors, e->err));
        at_s = profile_first_below(&m->profile, j->processors);
        TRY(profile_take(&m->profile, start_s, end_s, j->processors, e->err));
        who = m->now_s + j->estimate_s > at_s ? mark_at(&e->begins, at_s) : NULL;
    }
    blame(v,
          who && who->by == QUEUE_BY_RESERVATION ? QUEUE_REASON_RESERVATION
                                                 : QUEUE_REASON_WOULD_DELAY,
          who);
    return OK;
}

/* By the rule; when the budget was spent before that has seen all jobs, it is not known
 * what it would have done with this one. */
static enum error_code explain_rule(struct explaining *e, size_t job,
                                    const struct width *w, struct queue_verdict *v)
{
    const struct machine *m = e->m;
    struct mark head = {m->head_start_s, QUEUE_BY_JOB, 0};

    if (queue_discipline_of(m->policy)->rule == QUEUE_CONSERVATIVE && is_planned(m, job))
        return blame_plan(e, job, w, v);
    if (m->cut) {
        v->reason = QUEUE_REASON_TIME_LIMIT;
    } else if (m->head != SIZE_MAX) {
        head.index = e->given[m->head];
        blame(v,
              queue_discipline_of(m->policy)->rule == QUEUE_EASY
                  ? QUEUE_REASON_WOULD_DELAY
                  : QUEUE_REASON_ORDER,
              &head);
    }
    return OK;
}

static enum error_code explain(struct explaining *e, size_t job, struct queue_verdict *v)
{
    const struct machine *m = e->m;
    const struct queue_job *j = &m->jobs[job];
    const struct width *w;

    if (j->processors > m->processors) {
        v->reason = QUEUE_REASON_NEVER_FITS;
        return OK;
    }
    w = width_of(e, j->processors);
    if (m->cut && queue_discipline_of(m->policy)->rule == QUEUE_CONSERVATIVE &&
        !is_planned(m, job))
        v->reason = QUEUE_REASON_TIME_LIMIT;
    else if (w->enough_s > m->now_s)
        blame(v, QUEUE_REASON_PROCESSORS, w->enough);
    else if (m->now_s + j->estimate_s > w->below_s)
        blame(v, QUEUE_REASON_RESERVATION, w->below);
    else
        return explain_rule(e, job, w, v);
    return OK;
}

/* ---- promises ---- */

/* Who ends when a job can start; if nobody does (compression has moved them since), who
 * is in its way now. */
static void find_breaker(struct explaining *e, size_t job, struct queue_verdict *v)
{
    const struct machine *m = e->m;
    const struct mark *who = mark_at(&e->ends, m->plan_s[job]);

    if (!who || who->at_s != m->plan_s[job]) {
        if (!e->plans.list) {
            e->plans.list = NEW(m->arena, struct mark, m->job_count);
            for (size_t i = 0; i < m->job_count; i++)
                if (is_planned(m, i))
                    mark(&e->plans, machine_end_s(m->plan_s[i], m->jobs[i].estimate_s),
                         QUEUE_BY_JOB, e->given[i]);
            sort_marks(&e->plans);
        }
        who = mark_at(&e->plans, m->plan_s[job]);
    }
    if (who && who->at_s != m->plan_s[job])
        who = NULL;
    v->breaker_by = who ? who->by : v->by;
    v->breaker = who ? who->index : v->blocker;
}

static enum error_code compare_promise(struct explaining *e, size_t job,
                                       struct queue_verdict *v)
{
    const struct machine *m = e->m;
    double promised_s =
        e->in->planned_start_s ? e->in->planned_start_s[job] : (double)NAN;
    double late_s = m->plan_s[job] - fmax(promised_s, m->now_s);

    if (isnan(promised_s) || !(late_s > LATE_S) || !is_planned(m, job))
        return OK;
    v->broken_by_s = late_s;
    e->out->broken_count++;
    find_breaker(e, job, v);
    return OK;
}

/* ---- all ---- */

static enum error_code explain_job(struct explaining *e, size_t job)
{
    struct queue_verdict *v = &e->out->verdicts[e->given[job]];
    bool wide = e->m->jobs[job].processors > e->m->processors;

    if (!e->out->is_cut && job % LOOK_JOBS == 0)
        e->out->is_cut = budget_spent(e->m->budget);
    v->reason = QUEUE_REASON_TIME_LIMIT;
    if (!e->out->is_cut || wide)
        TRY(explain(e, job, v));
    return queue_discipline_of(e->m->policy)->rule == QUEUE_CONSERVATIVE
               ? compare_promise(e, job, v)
               : OK;
}

enum error_code queue_explain(struct machine *m, const struct queue_in *sorted,
                              const size_t *given, struct queue_out *out,
                              struct error *err)
{
    struct explaining e = {.m = m, .in = sorted, .given = given, .out = out, .err = err};

    out->is_cut = budget_spent(m->budget);
    TRY(survey(&e));
    for (size_t i = 0; i < m->job_count; i++) {
        struct queue_verdict *v = &out->verdicts[given[i]];

        v->until_s = v->broken_by_s = (double)NAN;
        v->plan_s = is_planned(m, i) ? m->plan_s[i] : (double)NAN;
        if (isnan(m->start_s[i]))
            TRY(explain_job(&e, i));
        else
            out->start_count++;
    }
    out->free_processors = e.fixed.free > 0 ? (uint64_t)e.fixed.free : 0;
    return OK;
}
