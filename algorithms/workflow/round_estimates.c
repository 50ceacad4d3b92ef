/* workflow/round_estimates.c - how much work tasks have left.
 *
 * What a running task says of its progress P gives an estimate E of all its work:
 *
 *     E = 100 W / P               its work done W is known ("work_integral")
 *     E = 100 T share / P         else, by the share that it has now ("extrapolation")
 *
 * or the limit of a function fitted to all its reports (option predictor). Without
 * progress E is the caller's estimate. A task with run times by resource (etc_s,
 * estimate_s) counts in parts of these instead (problem_estimates.c). Left is E - W, or E
 * (1 - P/100) by the source's rule, which is right for extrapolations only. A task that
 * failed goes on from its last checkpoint: W is what that holds.
 *
 * Source: spec workflows.md 3.2, 5.3, 5.6, 6.3; runtime-prediction.md 6.
 * Cost: a fit takes some 0.3 ms; when time is up, extrapolations have to do.
 * Deviation: a report that does not say what share it had, had the mean share of the
 * task so far if its work is known, else the present one.
 */
#include "algorithms/workflow/round_request.h"

#include "algorithms/workflow/words.h"

#include <math.h>

/* More reports would cost a fit more than they are worth in a round of many tasks. */
enum { FIT_POINTS_MAX = 100 };

/* Besides the words of progress and of what is left. */
#define WORK_INTEGRAL "work_integral"
const char *const workflow_estimate_source_names[] = {
#define X(name, ...) #name,
    PROGRESS_SOURCES(X) WORKFLOW_SOURCES(X)
#undef X
        WORK_INTEGRAL,
    NULL};

double wf_free_speed(const struct resource *r)
{
    double speed = r->mips_total * r->cpu_available_ratio - r->mips_external;

    return !r->failed && speed > 0 ? speed : 0;
}

bool wf_shares(const struct wf_request *rq, size_t resource)
{
    const struct resource *r = &rq->in->snapshot->resources[resource];

    return r->sharing == SHARING_EQUAL || (!rq->amounts && resource_slots(r) <= 1);
}

size_t wf_job_count(const struct wf_request *rq, size_t resource)
{
    double said = rq->in->snapshot->resources[resource].job_count;

    return said > (double)rq->listed[resource] ? (size_t)said : rq->listed[resource];
}

/* What its resource gives to each task there; NAN: it has no place. */
static double share_now(const struct wf_request *rq, size_t task)
{
    size_t at = rq->parts.resource_of[task];
    double speed;

    if (rq->tasks[task].status == PLAIN_IDLE || at == WF_NONE)
        return (double)NAN;
    speed = wf_free_speed(&rq->in->snapshot->resources[at]);
    return wf_shares(rq, at) ? speed / (double)wf_job_count(rq, at) : speed;
}

/* ---- the whole task ---- */

static void extrapolate(const struct wf_request *rq, const struct progress_history *h,
                        bool work_known, struct workflow_estimate *e)
{
    enum progress_filter filter =
        (enum progress_filter)(int)rq->param[WF_ESTIMATE_FILTER];
    size_t window = (size_t)rq->param[WF_FILTER_WINDOW];
    double *list = NEW(rq->arena, double, h->count);

    for (size_t k = 0; k < h->count; k++)
        list[k] = h->points[k].estimate_ref_s;
    e->estimate_ref_s = fmax(progress_filtered_ref_s(filter, list, h->count, window),
                             h->points[h->count - 1].work_ref_s);
    e->source =
        work_known ? WORK_INTEGRAL : progress_source_names[PROGRESS_FROM_extrapolation];
    if (filter == PROGRESS_FILTER_AVERAGE ||
        (filter == PROGRESS_FILTER_AUTO && progress_oscillates(list, h->count, window)))
        e->source = progress_source_names[PROGRESS_FROM_average];
}

static enum error_code fit(const struct wf_request *rq, const struct progress_history *h,
                           struct workflow_estimate *e)
{
    struct progress_in in = {.history = *h,
                             .options = progress_options_init(),
                             .initial_estimate_ref_s = e->estimate_ref_s};
    struct progress_out out;

    in.options.method = (enum progress_method)(int)rq->param[WF_FIT_METHOD];
    in.options.min_samples = (size_t)rq->param[WF_FIT_MIN_SAMPLES];
    in.options.abscissa = (enum progress_abscissa)(int)rq->param[WF_FIT_ABSCISSA];
    in.options.smoothing = (enum progress_smoothing)(int)rq->param[WF_FIT_SMOOTHING];
    in.options.estimate_filter = (enum progress_filter)(int)rq->param[WF_ESTIMATE_FILTER];
    in.options.filter_window = (size_t)rq->param[WF_FILTER_WINDOW];
    if (rq->param[WF_CONFIDENCE] == 0)
        in.options.interval = PROGRESS_SPEC; /* the cheap one: only for the answer */
    TRY(progress_predict(&in, &out, rq->arena));
    e->source = out.source == PROGRESS_FROM_initial_estimate
                    ? WORKFLOW_SOURCE(estimate)
                    : progress_source_names[out.source];
    e->estimate_ref_s = out.estimate_ref_s;
    e->low_ref_s = out.low_ref_s;
    e->high_ref_s = out.high_ref_s;
    return OK;
}

/* A task that runs, or ran. e->estimate_ref_s is the caller's. */
static enum error_code estimate_progress(const struct wf_request *rq, size_t task,
                                         struct workflow_estimate *e)
{
    const struct workflow_task *t = rq->problem.tasks[task];
    struct progress_history h = {0}, believed = {0};
    struct workflow_reports r;
    size_t dropped = 0;

    workflow_reports_of(t, share_now(rq, task), &r, rq->arena);
    if (r.count > 0)
        TRY(progress_history_of(r.list, r.count, FIT_POINTS_MAX, &h, rq->arena));
    progress_screen(&h, &believed, &dropped, rq->arena);
    if (h.count > 0 && (int)rq->param[WF_PREDICTOR] == WF_FIT &&
        !budget_spent(rq->in->budget)) { /* afterwards step 2 is cut anyway */
        TRY(fit(rq, &h, e));             /* it screens them itself */
    } else if (h.count > 0) {
        extrapolate(rq, &believed, !isnan(t->work_done_ref_s), e);
    } else if (t->progress_pct > 0 && t->work_done_ref_s > 0) {
        e->estimate_ref_s = progress_from_work_ref_s(t->work_done_ref_s, t->progress_pct);
        e->source = WORK_INTEGRAL;
    }
    e->work_done_ref_s = workflow_work_now(t, &r, &h);
    return OK;
}

/* ---- what is left ---- */

static double remaining(const struct wf_request *rq, const struct workflow_task *t,
                        const struct workflow_estimate *e)
{
    bool by_work = (int)rq->param[WF_REMAINING_RULE] == PROGRESS_RULE_WORK;

    if (t->progress_pct >= 100)
        return 0;
    if (!isnan(e->work_done_ref_s) && (by_work || isnan(t->progress_pct)))
        return progress_remaining_ref_s(PROGRESS_RULE_WORK, e->estimate_ref_s,
                                        e->work_done_ref_s, 0);
    return progress_remaining_ref_s(PROGRESS_RULE_PCT, e->estimate_ref_s, 0,
                                    isnan(t->progress_pct) ? 0 : t->progress_pct);
}

static double or_zero(double value)
{
    return value > 0 ? value : 0;
}

/* Part of a run time that is left of a task that waits: what its checkpoint holds counts
 * only if it is known what it is part of. */
static double part_of_waiting(const struct workflow_task *t)
{
    double done = or_zero(t->checkpoint_work_ref_s) / t->estimate_ref_s;

    return done > 0 ? fmax(0, 1 - done) : 1;
}

/* Of a task with run times by resource, which count as they are: speeds change nothing,
 * but tasks beside it do where they share. */
static enum error_code estimate_part(struct wf_request *rq, size_t task)
{
    const struct workflow_task *t = rq->problem.tasks[task];
    struct workflow_plain_task *plain = &rq->tasks[task];
    struct workflow_estimate *e = &rq->estimates[task];
    struct workflow_left left = {.source = WORKFLOW_SOURCE(estimate)};

    if (plain->status == PLAIN_IDLE) {
        left.left = part_of_waiting(t);
    } else {
        TRY(workflow_left_of(&rq->problem, task, 1, &left));
    }
    *e = (struct workflow_estimate){
        .workflow_id = rq->in->workflows[plain->workflow].id,
        .task_id = t->id,
        .estimate_ref_s = (double)NAN,
        .remaining_ref_s = (double)NAN,
        .work_done_ref_s = (double)NAN,
        .source = left.source,
        .low_ref_s = (double)NAN,
        .high_ref_s = (double)NAN,
        .remaining_ratio = left.left,
        .remaining_source = t->status == WORKFLOW_RUNNING ? left.source : NULL,
    };
    plain->remaining_ref_s = left.left;
    return OK;
}

static enum error_code estimate(struct wf_request *rq, size_t task)
{
    const struct workflow_task *t = rq->problem.tasks[task];
    struct workflow_plain_task *plain = &rq->tasks[task];
    struct workflow_estimate *e = &rq->estimates[task];

    if (t->etc_count)
        return estimate_part(rq, task);
    *e = (struct workflow_estimate){
        .workflow_id = rq->in->workflows[plain->workflow].id,
        .task_id = t->id,
        .estimate_ref_s = t->estimate_ref_s,
        .remaining_ref_s = (double)NAN,
        .work_done_ref_s = (double)NAN,
        .source = isnan(t->estimate_ref_s) ? progress_source_names[PROGRESS_FROM_none]
                                           : WORKFLOW_SOURCE(estimate),
        .low_ref_s = (double)NAN,
        .high_ref_s = (double)NAN,
        .remaining_ratio = (double)NAN,
    };
    if (t->status != WORKFLOW_IDLE)
        TRY(estimate_progress(rq, task, e));
    if (plain->status == PLAIN_IDLE) {
        e->work_done_ref_s = or_zero(t->checkpoint_work_ref_s);
        e->remaining_ref_s = progress_remaining_ref_s(
            PROGRESS_RULE_WORK, e->estimate_ref_s, e->work_done_ref_s, 0);
        if (isnan(e->estimate_ref_s)) /* fmax() drops it */
            e->remaining_ref_s = (double)NAN;
    } else {
        e->remaining_ref_s = remaining(rq, t, e);
        if (isnan(e->estimate_ref_s) && !(t->progress_pct >= 100))
            e->remaining_ref_s = (double)NAN;
    }
    if (t->status == WORKFLOW_RUNNING && t->progress_sample_count)
        e->remaining_source =
            t->progress_stored ? WORKFLOW_SOURCE(stored) : WORKFLOW_SOURCE(progress);
    plain->remaining_ref_s = e->remaining_ref_s;
    if (e->high_ref_s > e->low_ref_s)
        plain->spread_ref_s = (e->high_ref_s - e->low_ref_s) / 2;
    return OK;
}

enum error_code wf_estimate_tasks(struct wf_request *rq)
{
    rq->estimates = NEW(rq->arena, struct workflow_estimate, rq->plain.task_count);
    rq->parts.guessed = NEW(rq->arena, bool, rq->plain.task_count); /* a round does not */
    for (size_t i = 0; i < rq->plain.task_count; i++)
        if (rq->tasks[i].ready || rq->tasks[i].status == PLAIN_RUNNING ||
            rq->tasks[i].status == PLAIN_STAGING)
            TRY(estimate(rq, i));
        else
            rq->tasks[i].remaining_ref_s = (double)NAN;
    return OK;
}
