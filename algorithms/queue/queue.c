/* queue/queue.c - which waiting jobs of a batch queue start now, and why not the others.
 */
#include "algorithms/queue/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct queue_policy queue_policies[] = {
#define X(name, order, rule, filler, purpose, source) \
    {#name, purpose, source, QUEUE_##order, QUEUE_##rule, QUEUE_##filler},
    QUEUE_POLICIES(X)
#undef X
        {0},
};

const char *const queue_reason_names[] = {
#define X(symbol, name, meaning) #name,
    QUEUE_REASONS(X)
#undef X
        NULL,
};

const struct queue_policy *queue_policy_find(const char *name)
{
    for (const struct queue_policy *p = queue_policies; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

/* ---- what cannot be ---- */

enum error_code queue_check(const struct queue_in *in, struct arena *a, struct error *err)
{
    struct profile profile;
    uint64_t running = 0;

    for (size_t i = 0; i < in->running_count; i++)
        running += in->running[i].processors;
    if (running > in->processors)
        invalid(err, "/running", "conflict",
                "%llu processors are running jobs, and the cluster has %llu",
                (unsigned long long)running, (unsigned long long)in->processors);
    TRY(profile_create(&profile, in->now_s, in->processors, a, err));
    for (size_t i = 0; i < in->reservation_count; i++) {
        const struct queue_reservation *r = &in->reservations[i];
        char pointer[64];

        snprintf(pointer, sizeof(pointer), "/reservations/%zu", i);
        if (!(r->end_s > r->start_s))
            invalid(err, pointer, "out_of_bounds", "end_s is not above start_s");
        else if (!(r->end_s > in->now_s))
            continue; /* over */
        else if (profile_bears(&profile, fmax(r->start_s, in->now_s), r->end_s,
                               r->processors))
            TRY(profile_take(&profile, r->start_s, r->end_s, r->processors, err));
        else
            invalid(err, pointer, "conflict",
                    "%llu processors are not free from %.15g to %.15g: the cluster has "
                    "%llu, of which the reservations before this one take too many",
                    (unsigned long long)r->processors, r->start_s, r->end_s,
                    (unsigned long long)in->processors);
    }
    return err->code;
}

/* ---- who is in the way ---- */

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

static int compare_marks(const void *left, const void *right)
{
    const struct mark *l = left, *r = right;

    if (l->at_s != r->at_s)
        return l->at_s < r->at_s ? -1 : 1;
    if (l->by != r->by)
        return l->by < r->by ? -1 : 1;
    return l->index < r->index ? -1 : l->index > r->index;
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

/* A decision while it is made. */
struct decision {
    const struct queue_policy *policy;
    const struct queue_in *in;
    struct queue_out *out;
    struct queue_in sorted; /* the input with its jobs in order of arrival */
    size_t *given;          /* index in the input of each of them */
    struct machine machine;
    struct profile fixed; /* running jobs and reservations: what no order can change */
    struct marks ends;    /* of running jobs, jobs that start now, and reservations */
    struct marks begins;  /* of planned jobs and reservations */
    struct arena *a;
    struct error *err;
};

struct arrival {
    double submit_s;
    size_t index;
};

static int compare_arrivals(const void *left, const void *right)
{
    const struct arrival *l = left, *r = right;

    if (l->submit_s != r->submit_s)
        return l->submit_s < r->submit_s ? -1 : 1;
    return l->index < r->index ? -1 : l->index > r->index;
}

/* All that wait have arrived; the machine gets them in that order. */
static enum error_code sort_jobs(struct decision *d)
{
    const struct queue_in *in = d->in;
    struct arrival *arrivals = NEW(d->a, struct arrival, in->job_count);
    struct queue_job *jobs = NEW(d->a, struct queue_job, in->job_count);

    d->given = NEW(d->a, size_t, in->job_count);
    if (!arrivals || !jobs || !d->given)
        return fail_memory(d->err);
    for (size_t i = 0; i < in->job_count; i++)
        arrivals[i] = (struct arrival){fmin(in->jobs[i].submit_s, in->now_s), i};
    qsort(arrivals, in->job_count, sizeof(*arrivals), compare_arrivals);
    for (size_t i = 0; i < in->job_count; i++) {
        d->given[i] = arrivals[i].index;
        jobs[i] = in->jobs[arrivals[i].index];
        jobs[i].submit_s = in->now_s;
    }
    d->sorted = *in;
    d->sorted.jobs = jobs;
    return OK;
}

static enum error_code open_machine(struct decision *d)
{
    double *run_s = NEW(d->a, double, d->in->job_count);

    if (!run_s)
        return fail_memory(d->err);
    for (size_t i = 0; i < d->in->job_count; i++)
        run_s[i] = d->sorted.jobs[i].estimate_s;
    return machine_open(&d->machine, d->policy, &d->sorted, run_s, NULL, d->a, d->err);
}

/* The present; jobs that take no time end in it, and others take their place. */
static enum error_code play_present(struct decision *d)
{
    bool more = true;

    while (more && machine_next_s(&d->machine) <= d->in->now_s)
        TRY(machine_step(&d->machine, &more, d->err));
    return OK;
}

/* ---- reasons ---- */

static void mark(struct marks *m, double at_s, enum queue_blocker by, size_t index)
{
    m->list[m->count++] = (struct mark){at_s, by, index};
}

static enum error_code hold(struct decision *d, double end_s, uint64_t processors)
{
    return profile_take(&d->fixed, d->in->now_s, end_s, processors, d->err);
}

/* What is fixed now, and what there is to be named. */
static enum error_code survey(struct decision *d)
{
    const struct machine *m = &d->machine;
    const struct queue_in *in = &d->sorted;
    size_t most = in->job_count + in->running_count + in->reservation_count;

    d->ends.list = NEW(d->a, struct mark, most);
    d->begins.list = NEW(d->a, struct mark, most);
    if (!d->ends.list || !d->begins.list)
        return fail_memory(d->err);
    TRY(profile_create(&d->fixed, in->now_s, in->processors, d->a, d->err));
    for (size_t i = 0; i < m->end_count; i++) {
        size_t job = m->ends[i].job, running = job - in->job_count;
        bool waited = job < in->job_count;

        TRY(hold(d, m->ends[i].at_s,
                 waited ? in->jobs[job].processors : in->running[running].processors));
        mark(&d->ends, m->ends[i].at_s, waited ? QUEUE_BY_JOB : QUEUE_BY_RUNNING,
             waited ? d->given[job] : running);
    }
    for (size_t i = 0; i < in->reservation_count; i++) {
        const struct queue_reservation *r = &in->reservations[i];

        if (!(r->end_s > in->now_s))
            continue;
        TRY(profile_take(&d->fixed, r->start_s, r->end_s, r->processors, d->err));
        mark(&d->ends, r->end_s, QUEUE_BY_RESERVATION, i);
        mark(&d->begins, fmax(r->start_s, in->now_s), QUEUE_BY_RESERVATION, i);
    }
    for (size_t i = 0; i < in->job_count; i++)
        if (d->policy->rule == QUEUE_CONSERVATIVE && isfinite(m->plan_s[i]) &&
            isnan(m->start_s[i]))
            mark(&d->begins, m->plan_s[i], QUEUE_BY_JOB, d->given[i]);
    qsort(d->ends.list, d->ends.count, sizeof(struct mark), compare_marks);
    qsort(d->begins.list, d->begins.count, sizeof(struct mark), compare_marks);
    return OK;
}

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

/* conservative: the plan that the job would run into if it started now. */
static enum error_code blame_plan(struct decision *d, size_t job, struct queue_verdict *v)
{
    struct machine *m = &d->machine;
    const struct queue_job *j = &d->sorted.jobs[job];
    double start_s = m->plan_s[job];
    double end_s = machine_end_s(start_s, j->estimate_s), at_s;
    const struct mark *who;

    TRY(profile_give(&m->profile, start_s, end_s, j->processors, d->err));
    at_s = profile_first_below(&m->profile, j->processors);
    TRY(profile_take(&m->profile, start_s, end_s, j->processors, d->err));
    who = mark_at(&d->begins, at_s);
    blame(v,
          who && who->by == QUEUE_BY_RESERVATION ? QUEUE_REASON_RESERVATION
                                                 : QUEUE_REASON_WOULD_DELAY,
          who);
    return OK;
}

static enum error_code explain(struct decision *d, size_t job, struct queue_verdict *v)
{
    const struct machine *m = &d->machine;
    const struct queue_job *j = &d->sorted.jobs[job];
    double now_s = d->in->now_s;
    double enough_s = profile_first_above(&d->fixed, j->processors);
    double below_s = profile_first_below(&d->fixed, j->processors);

    if (j->processors > d->in->processors) {
        v->reason = QUEUE_REASON_NEVER_FITS;
    } else if (enough_s > now_s) {
        blame(v, QUEUE_REASON_PROCESSORS, mark_at(&d->ends, enough_s));
    } else if (now_s + j->estimate_s > below_s) {
        blame(v, QUEUE_REASON_RESERVATION, mark_at(&d->begins, below_s));
    } else if (d->policy->rule == QUEUE_CONSERVATIVE) {
        return blame_plan(d, job, v);
    } else if (m->head != SIZE_MAX) {
        struct mark head = {m->head_start_s, QUEUE_BY_JOB, d->given[m->head]};

        blame(v,
              d->policy->rule == QUEUE_EASY ? QUEUE_REASON_WOULD_DELAY
                                            : QUEUE_REASON_ORDER,
              &head);
    }
    return OK;
}

static enum error_code explain_all(struct decision *d)
{
    const struct machine *m = &d->machine;

    for (size_t i = 0; i < d->in->job_count; i++) {
        struct queue_verdict *v = &d->out->verdicts[d->given[i]];

        v->until_s = (double)NAN;
        if (isnan(m->start_s[i]))
            TRY(explain(d, i, v));
        else
            d->out->start_count++;
    }
    d->out->free_processors = d->fixed.free > 0 ? (uint64_t)d->fixed.free : 0;
    return OK;
}

/* ---- the future ---- */

static void note_starts(struct decision *d)
{
    const struct machine *m = &d->machine;
    double now_s = d->in->now_s;

    for (size_t i = 0; i < d->in->running_count; i++)
        d->out->makespan_s =
            fmax(d->out->makespan_s, fmax(0, d->in->running[i].end_s - now_s));
    for (size_t i = 0; i < d->in->job_count; i++) {
        struct queue_verdict *v = &d->out->verdicts[d->given[i]];

        v->start_s = m->start_s[i];
        if (!isnan(v->start_s))
            d->out->makespan_s = fmax(d->out->makespan_s,
                                      v->start_s + d->sorted.jobs[i].estimate_s - now_s);
    }
    for (size_t i = 0; i < d->in->job_count; i++) {
        struct queue_verdict *v = &d->out->verdicts[i];

        if (v->reason == QUEUE_REASON_ORDER)
            v->until_s = d->out->verdicts[v->blocker].start_s;
    }
}

/* No schedule ends before the work is done, before the longest job could, or before
 * all jobs that need more than half of the cluster have run one after the other. */
static double lower_bound(const struct queue_in *in)
{
    double area = 0, longest_s = 0, wide_s = 0;

    for (size_t i = 0; i < in->running_count; i++) {
        double left_s = fmax(0, in->running[i].end_s - in->now_s);

        area += left_s * (double)in->running[i].processors;
        longest_s = fmax(longest_s, left_s);
        if (in->running[i].processors > in->processors / 2)
            wide_s += left_s;
    }
    for (size_t i = 0; i < in->job_count; i++) {
        const struct queue_job *job = &in->jobs[i];

        if (job->processors > in->processors)
            continue;
        area += job->estimate_s * (double)job->processors;
        longest_s = fmax(longest_s, job->estimate_s);
        if (job->processors > in->processors / 2)
            wide_s += job->estimate_s;
    }
    return fmax(fmax(area / (double)in->processors, longest_s), wide_s);
}

enum error_code queue_decide(const struct queue_policy *policy, const struct queue_in *in,
                             struct queue_out *out, struct arena *a, struct error *err)
{
    struct queue_out decided = {
        .verdicts = NEW(a, struct queue_verdict, in->job_count),
        .order = NEW(a, size_t, in->job_count),
    };
    struct decision d = {.policy = policy, .in = in, .out = &decided, .a = a, .err = err};

    if (!decided.verdicts || !decided.order)
        return fail_memory(err);
    TRY(sort_jobs(&d));
    TRY(open_machine(&d));
    TRY(play_present(&d));
    TRY(survey(&d));
    TRY(explain_all(&d));
    d.machine.budget = in->budget;
    TRY(machine_run(&d.machine, err));
    decided.is_cut = d.machine.cut;
    note_starts(&d);
    for (size_t i = 0; i < in->job_count; i++)
        decided.order[i] = d.given[d.machine.waiting.job_of_rank[i]];
    decided.lower_bound_s = lower_bound(in);
    *out = decided;
    return OK;
}
