/* queue/queue.c - which waiting jobs of a batch queue start now, and why not the others.
 */
#include "algorithms/queue/behind.h"
#include "algorithms/queue/explain.h"
#include "models/base/plural.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const plan_withs[] = {"estimate", "limit", NULL};

const struct param queue_conservative_params[] = {
    [QUEUE_COMPRESS] = {"compress", 0, 1, 1,
                        "Whether jobs with a planned_start_s may move up now. A replay "
                        "lets them only when a job has ended before its estimate",
                        PARAM_BOOLEAN, NULL},
    [QUEUE_PLAN_WITH] = {"plan_with", 0, 1, 0,
                         "With a snapshot: amounts are held for the run time, or until "
                         "time_limit_s",
                         PARAM_CHOICE, plan_withs},
    {0},
};

#define QUEUE_PARAMS_HEAD         (queue_conservative_params + QUEUE_PLAN_WITH)
#define QUEUE_PARAMS_FIT          (queue_conservative_params + QUEUE_PLAN_WITH)
#define QUEUE_PARAMS_EASY         (queue_conservative_params + QUEUE_PLAN_WITH)
#define QUEUE_PARAMS_CONSERVATIVE queue_conservative_params
const struct policy queue_policies[] = {
#define X(policy, order, rule, backfill_order, does, described)              \
    {.name = #policy,                                                        \
     .purpose = does,                                                        \
     described,                                                              \
     .params = QUEUE_PARAMS_##rule,                                          \
     .traits = &(const struct queue_discipline){QUEUE_##order, QUEUE_##rule, \
                                                QUEUE_##backfill_order}},
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

/* ---- what cannot be ---- */

enum error_code queue_check(const struct queue_in *in, struct arena *a, struct error *err)
{
    struct profile profile;
    uint64_t running = 0;

    for (size_t i = 0; i < in->running_count; i++)
        running += in->running[i].processors;
    if (running > in->processors)
        invalid(err, "/running", ITEM_CONFLICT,
                "%llu processors are running jobs, and the cluster has %llu",
                (unsigned long long)running, (unsigned long long)in->processors);
    profile_create(&profile, in->now_s, in->processors, a);
    for (size_t i = 0; i < in->reservation_count; i++) {
        const struct queue_reservation *r = &in->reservations[i];
        char pointer[64];

        snprintf(pointer, sizeof(pointer), "/reservations/%zu", i);
        if (!(r->end_s > r->start_s))
            invalid(err, pointer, ITEM_OUT_OF_BOUNDS, "end_s is not above start_s");
        else if (!(r->end_s > in->now_s))
            continue; /* over */
        else if (profile_bears(&profile, fmax(r->start_s, in->now_s), r->end_s,
                               r->processors))
            TRY(profile_take(&profile, r->start_s, r->end_s, r->processors, err));
        else
            invalid(
                err, pointer, ITEM_CONFLICT,
                "%s %s not free from %.15g to %.15g: the cluster has %llu, of which the "
                "reservations before this one take too many",
                counted(r->processors, "processor").text,
                plural(r->processors, "is", "are"), r->start_s, r->end_s,
                (unsigned long long)in->processors);
    }
    return err->code;
}

enum error_code queue_overlaps(const struct queue_in *in, struct queue_overlap *out,
                               struct arena *a, struct error *err)
{
    struct queue_overlap found = {0};
    struct profile profile;

    profile_create(&profile, in->now_s, in->processors, a);
    for (size_t i = 0; i < in->running_count; i++)
        TRY(profile_take(&profile, in->now_s,
                         machine_running_end_s(&in->running[i], in->now_s),
                         in->running[i].processors, err));
    for (size_t i = 0; i < in->reservation_count; i++) {
        const struct queue_reservation *r = &in->reservations[i];

        TRY(profile_take(&profile, r->start_s, r->end_s, r->processors, err));
    }
    for (size_t i = 0; i < in->reservation_count; i++) {
        const struct queue_reservation *r = &in->reservations[i];
        if (!(r->end_s > in->now_s) || profile_bears(&profile, r->start_s, r->end_s, 0))
            continue;
        if (found.count++ == 0)
            found.first = i;
    }
    *out = found;
    return OK;
}

/* ---- deciding ---- */

/* Of the budget's time, when each part ends; the rest is for telling. */
static const double PLANNED_RATIO = 0.65, EXPLAINED_RATIO = 0.75, ESTIMATED_RATIO = 0.8;

/* A decision while it is made. */
struct decision {
    const struct queue_in *in;
    struct queue_out *out;
    struct queue_in sorted; /* the input with its jobs in order of arrival */
    size_t *given;          /* index in the input of each of them */
    struct machine machine;
    struct budget budget; /* the part of it */
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

/* As a queue mostly comes. */
static bool is_sorted(const struct arrival *list, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (list[i].submit_s < list[i - 1].submit_s)
            return false;
    return true;
}

/* All that wait have arrived; the machine gets them in that order. */
static void sort_jobs(struct decision *d)
{
    const struct queue_in *in = d->in;
    size_t count = in->job_count;
    struct arrival *arrivals = NEW(d->a, struct arrival, count);
    struct queue_job *jobs = NEW(d->a, struct queue_job, count);
    double *promises = in->planned_start_s ? NEW(d->a, double, count) : NULL;

    d->given = NEW(d->a, size_t, count);
    for (size_t i = 0; i < count; i++)
        arrivals[i] = (struct arrival){fmin(in->jobs[i].submit_s, in->now_s), i};
    if (!is_sorted(arrivals, count))
        qsort(arrivals, count, sizeof(*arrivals), compare_arrivals);
    for (size_t i = 0; i < count; i++) {
        d->given[i] = arrivals[i].index;
        jobs[i] = in->jobs[arrivals[i].index];
        jobs[i].submit_s = in->now_s;
        if (promises)
            promises[i] = in->planned_start_s[arrivals[i].index];
    }
    d->sorted = *in;
    d->sorted.jobs = jobs;
    d->sorted.planned_start_s = promises;
}

static enum error_code open_machine(struct decision *d, const struct policy *policy)
{
    struct machine *m = &d->machine;
    double *run_s = NEW(d->a, double, d->in->job_count);

    for (size_t i = 0; i < d->in->job_count; i++)
        run_s[i] = d->sorted.jobs[i].estimate_s;
    d->budget = budget_part(d->in->budget, 0, PLANNED_RATIO);
    TRY(machine_open(m, policy, &d->sorted, run_s, &d->budget, d->a, d->err));
    if (queue_discipline_of(policy)->rule != QUEUE_CONSERVATIVE)
        return OK;
    m->promise_s = d->sorted.planned_start_s;
    m->keeps_gaps = d->in->keeps_gaps;
    m->hints = NEW(d->a, struct hints, 1);
    hints_create(m->hints, m->jobs, m->job_count, d->a);
    return OK;
}

/* The present; jobs that take no time end in it, and others take their place. */
static enum error_code play_present(struct decision *d)
{
    bool more = true;

    while (more && machine_next_s(&d->machine) <= d->in->now_s)
        TRY(machine_step(&d->machine, &more, d->err));
    return OK;
}

/* Whether the plans of conservative are what happens when all estimates hold. They are,
 * unless a job takes no time: the least time that its place has is given back. */
static bool is_foreseen(const struct decision *d)
{
    const struct machine *m = &d->machine;

    if (queue_discipline_of(m->policy)->rule != QUEUE_CONSERVATIVE)
        return false;
    for (size_t i = 0; i < m->job_count; i++)
        if (m->plan_s[i] + m->jobs[i].estimate_s == m->plan_s[i])
            return false;
    return true;
}

static enum error_code play_future(struct decision *d)
{
    struct machine *m = &d->machine;

    if (m->cut || is_foreseen(d))
        return OK;
    d->budget = budget_part(d->in->budget, 0, ESTIMATED_RATIO);
    return machine_run(m, d->err);
}

/* The start of each job in order of arrival; NAN: it never fits. */
static enum error_code find_starts(struct decision *d, double *start_s)
{
    const struct machine *m = &d->machine;

    for (size_t i = 0; i < m->job_count; i++)
        start_s[i] = isnan(m->start_s[i]) ? m->plan_s[i] : m->start_s[i];
    return m->cut ? queue_place_behind(m, start_s, &d->out->behind_count) : OK;
}

static enum error_code note_starts(struct decision *d)
{
    double *start_s = NEW(d->a, double, d->in->job_count);
    struct queue_out *out = d->out;
    double now_s = d->in->now_s;

    TRY(find_starts(d, start_s));
    for (size_t i = 0; i < d->in->running_count; i++)
        out->makespan_s =
            fmax(out->makespan_s, fmax(0, d->in->running[i].expected_end_s - now_s));
    for (size_t i = 0; i < d->in->job_count; i++) {
        struct queue_verdict *v = &out->verdicts[d->given[i]];

        v->start_s = start_s[i];
        if (!isnan(v->start_s))
            out->makespan_s =
                fmax(out->makespan_s, v->start_s + d->sorted.jobs[i].estimate_s - now_s);
    }
    for (size_t i = 0; i < d->in->job_count; i++) {
        struct queue_verdict *v = &out->verdicts[i];

        if (v->reason == QUEUE_REASON_ORDER)
            v->until_s = out->verdicts[v->blocker].start_s;
    }
    return OK;
}

/* No schedule ends before the work is done, before the longest job could, or before
 * all jobs that need more than half of the cluster have run one after the other. */
static double lower_bound(const struct queue_in *in)
{
    double area = 0, longest_s = 0, wide_s = 0;

    for (size_t i = 0; i < in->running_count; i++) {
        double left_s = fmax(0, in->running[i].expected_end_s - in->now_s);

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

enum error_code queue_decide(const struct policy *policy, const struct queue_in *in,
                             struct queue_out *out, struct arena *a, struct error *err)
{
    struct queue_out decided = {
        .verdicts = NEW(a, struct queue_verdict, in->job_count),
        .order = NEW(a, size_t, in->job_count),
    };
    struct decision d = {.in = in, .out = &decided, .a = a, .err = err};

    sort_jobs(&d);
    TRY(open_machine(&d, policy));
    TRY(play_present(&d));
    d.budget = budget_part(d.in->budget, 0, EXPLAINED_RATIO);
    TRY(queue_explain(&d.machine, &d.sorted, d.given, &decided, err));
    TRY(play_future(&d));
    decided.is_cut |= d.machine.cut;
    TRY(note_starts(&d));
    for (size_t i = 0; i < in->job_count; i++)
        decided.order[i] = d.given[d.machine.waiting.job_of_rank[i]];
    decided.lower_bound_s = lower_bound(in);
    *out = decided;
    return OK;
}
