/* workflow/problem_estimates.c - run times that nobody gave, and what is left of tasks
 * that have begun.
 *
 * A task without a run time gets the median of the tasks of its name in the same
 * workflow, else the median of all tasks of the request that have one; where those have
 * times by resource (etc_s), the median on each resource. Only if no task has one it
 * stays without. A task that has begun is its own best witness: if its reports give an
 * estimate, that is its run time.
 *
 * Work is counted in units: reference seconds of tasks with estimate_ref_s, parts of the
 * whole of tasks with etc_s. Of a running task are left, in units,
 *
 *     E - W        E = 100 W / P by its last report, W work done since too
 *     E - W        of the E that was given, if only W is known
 *     E (1 - P)    if only the progress P is known
 *     E - T share  if only its run time T so far is known
 *     E            else
 *
 * and one second where W exceeds E: it is overdue, and nobody knows more. A report that
 * does not say what share it had, had the mean share of the task so far if its work is
 * known, else the present one.
 *
 * Source: spec workflows.md 3.2, 5.3, 5.4; search.md 7. Cost: O(n log n + reports), and
 * a median of columns for each name of tasks with etc_s.
 */
#include "algorithms/workflow/problem_parts.h"

#include "algorithms/workflow/words.h"
#include "models/base/order.h"
#include "models/base/plural.h"

#include <stdlib.h>
#include <string.h>

#define OVERDUE_S 1.0

/* ---- reports ---- */

static bool outside(double value, double least)
{
    return value < least || value == HUGE_VAL; /* NAN is not said */
}

static bool sound(const struct progress_sample *s)
{
    return s->elapsed_s >= 0 && s->elapsed_s < HUGE_VAL && s->progress_pct >= 0 &&
           s->progress_pct <= 100 && !outside(s->mips_total, 0) &&
           !outside(s->mips_external, 0) && !outside(s->job_count, 1) &&
           !outside(s->work_done_ref_s, 0);
}

/* Share that a report had that does not say so. */
static double usual_share(const struct workflow_task *t, double share)
{
    if (t->work_done_ref_s > 0 && t->elapsed_s > 0)
        return t->work_done_ref_s / t->elapsed_s;
    return isnan(share) ? 1 : share;
}

void workflow_reports_of(const struct workflow_task *t, double share,
                         struct workflow_reports *out, struct arena *a)
{
    struct workflow_reports r = {
        .list = NEW(a, struct progress_sample, t->progress_sample_count + 1),
        .share = share,
    };
    double usual = usual_share(t, share);

    for (size_t k = 0; k < t->progress_sample_count; k++) {
        struct progress_sample s = t->progress_samples[k];

        if (!sound(&s))
            continue;
        if (isnan(s.mips_total))
            s = (struct progress_sample){s.elapsed_s, s.progress_pct, usual,
                                         (double)NAN, (double)NAN,    s.work_done_ref_s};
        r.list[r.count++] = s;
    }
    r.list[r.count] =
        (struct progress_sample){t->elapsed_s, t->progress_pct, usual,
                                 (double)NAN,  (double)NAN,     t->work_done_ref_s};
    r.count += sound(&r.list[r.count]);
    *out = r;
}

double workflow_work_now(const struct workflow_task *t, const struct workflow_reports *r,
                         const struct progress_history *h)
{
    const struct progress_point *last = h->count > 0 ? &h->points[h->count - 1] : NULL;

    if (!isnan(t->work_done_ref_s))
        return t->work_done_ref_s;
    if (last && t->elapsed_s > last->elapsed_s && !isnan(r->share))
        return progress_work_ref_s(last->work_ref_s, t->elapsed_s - last->elapsed_s,
                                   r->share);
    if (last)
        return last->work_ref_s;
    return isnan(t->progress_pct) ? t->elapsed_s * r->share : (double)NAN;
}

/* ---- what is left ---- */

static bool has_run_time(const struct workflow_task *t)
{
    return t->etc_count > 0 || !isnan(t->estimate_ref_s);
}

/* What its resource gives to a task that runs there: units a second. */
static double unit_share(const struct workflow_problem *problem, size_t task)
{
    const struct workflow_task *t = problem->tasks[task];
    size_t at = problem->parts->slowest_of[task];
    struct resource alone;
    double jobs;

    if (at == WORKFLOW_NONE)
        return (double)NAN;
    if (t->etc_count)
        return t->etc_s[at] > 0 ? 1 / t->etc_s[at] : (double)NAN;
    alone = problem->in->snapshot->resources[at];
    jobs = alone.sharing == SHARING_EQUAL ? fmax(1, alone.job_count) : 1;
    alone.sharing = SHARING_SLOTS;
    return alone.failed ? (double)NAN : resource_speed_mips(&alone) / jobs;
}

/* The task as its reports are read: its own clock, its work in units. */
static void in_units(const struct workflow_task *given, struct workflow_task *out,
                     struct arena *a)
{
    struct progress_sample *samples;

    *out = *given;
    if (isnan(out->elapsed_s) && out->start_s <= 0)
        out->elapsed_s = -out->start_s;
    if (!given->etc_count)
        return;
    out->work_done_ref_s = given->work_done_ref_s / given->estimate_ref_s;
    if (!isfinite(out->work_done_ref_s))
        out->work_done_ref_s = (double)NAN;
    samples = NEW(a, struct progress_sample, given->progress_sample_count);
    for (size_t k = 0; k < given->progress_sample_count; k++)
        samples[k] = (struct progress_sample){given->progress_samples[k].elapsed_s,
                                              given->progress_samples[k].progress_pct,
                                              (double)NAN,
                                              (double)NAN,
                                              (double)NAN,
                                              (double)NAN};
    out->progress_samples = samples;
}

/* What the reports say: *whole and *done in units, NAN: nothing. */
static enum error_code read_reports(const struct workflow_problem *problem, size_t task,
                                    double *whole, double *done)
{
    struct progress_history h = {0}, believed = {0};
    struct workflow_reports r;
    struct workflow_task t;
    size_t dropped = 0;

    in_units(problem->tasks[task], &t, problem->arena);
    workflow_reports_of(&t, unit_share(problem, task), &r, problem->arena);
    if (r.count > 0)
        TRY(progress_history_of(r.list, r.count, r.count + 3, &h, problem->arena));
    progress_screen(&h, &believed, &dropped, problem->arena);
    *whole = (double)NAN;
    if (believed.count > 0)
        *whole = believed.points[believed.count - 1].estimate_ref_s;
    else if (t.progress_pct > 0 && t.work_done_ref_s > 0)
        *whole = progress_from_work_ref_s(t.work_done_ref_s, t.progress_pct);
    *done = workflow_work_now(&t, &r, &h);
    return OK;
}

static double seconds_of(const struct workflow_problem *problem, size_t task,
                         double units, double speed_mips)
{
    const struct workflow_task *t = problem->tasks[task];
    double time_s = HUGE_VAL;

    if (units == 0)
        return 0;
    if (t->etc_count)
        time_s = units * t->etc_s[problem->parts->slowest_of[task]];
    else if (speed_mips > 0)
        time_s = units / speed_mips;
    return time_s >= 0 && time_s <= WORKFLOW_LONGEST_S ? time_s : HUGE_VAL;
}

/* Where nothing is known of the speed: at the pace so far. */
static double at_same_pace_s(const struct workflow_task *t)
{
    if (t->progress_pct == 100)
        return 0;
    return t->progress_pct > 0 && !isnan(t->elapsed_s)
               ? t->elapsed_s * (100 / t->progress_pct - 1)
               : HUGE_VAL;
}

const char *const workflow_source_names[] = {
#define X(name) #name,
    WORKFLOW_SOURCES(X)
#undef X
        NULL};

/* What the end of a task follows from; struct workflow_left. */
static const char *source_of(const struct workflow_problem *problem, size_t task,
                             bool reported, bool working)
{
    const struct workflow_task *t = problem->tasks[task];

    if (reported)
        return t->progress_stored ? WORKFLOW_SOURCE(stored) : WORKFLOW_SOURCE(progress);
    if (!isnan(t->progress_pct))
        return WORKFLOW_SOURCE(progress);
    if (!isnan(t->work_done_ref_s))
        return WORKFLOW_SOURCE(work);
    if (working)
        return WORKFLOW_SOURCE(elapsed);
    return problem->parts->guessed[task] ? WORKFLOW_SOURCE(guess)
                                         : WORKFLOW_SOURCE(estimate);
}

/* Units that are left of a whole of which `done` are done; NAN: not known. */
static double units_left(const struct workflow_task *t, double whole, double done)
{
    if (t->progress_pct == 100)
        return 0;
    if (!isnan(done))
        return whole - done;
    return isnan(t->progress_pct) ? whole : whole * (1 - t->progress_pct / 100);
}

enum error_code workflow_left_of(const struct workflow_problem *problem, size_t task,
                                 double speed_mips, struct workflow_left *out)
{
    const struct workflow_task *t = problem->tasks[task];
    double given = t->etc_count ? 1 : t->estimate_ref_s, reported, done;

    TRY(read_reports(problem, task, &reported, &done));
    *out = (struct workflow_left){
        .whole = isnan(reported) ? given : fmax(reported, 0),
        .begun = done > 0 || t->progress_pct > 0,
        .source = source_of(problem, task, !isnan(reported), !isnan(done)),
    };
    out->left = units_left(t, out->whole, done);
    if (done > 0 && out->left <= 0 && t->progress_pct != 100) {
        out->left = 0;
        out->remaining_s = OVERDUE_S;
        return OK;
    }
    out->remaining_s = seconds_of(problem, task, out->left, speed_mips);
    if (!(out->remaining_s < HUGE_VAL))
        out->remaining_s = at_same_pace_s(t);
    return OK;
}

/* ---- run times that nobody gave ---- */

/* A task with a run time. */
struct donor {
    size_t workflow;
    const char *name;  /* NULL: it has none */
    double time_ref_s; /* NAN: it has etc_s */
    size_t task;
};

static int compare_names(const char *x, const char *y)
{
    if (!x || !y)
        return (x == NULL) - (y == NULL);
    return strcmp(x, y);
}

/* By workflow and name; estimates before tables, shorter ones first. */
static int compare_donors(const void *left, const void *right)
{
    const struct donor *x = left, *y = right;
    int by_name;

    if (x->workflow != y->workflow)
        return x->workflow < y->workflow ? -1 : 1;
    by_name = compare_names(x->name, y->name);
    if (by_name != 0)
        return by_name;
    if (isnan(x->time_ref_s) || isnan(y->time_ref_s))
        return isnan(x->time_ref_s) - isnan(y->time_ref_s);
    if (x->time_ref_s != y->time_ref_s)
        return x->time_ref_s < y->time_ref_s ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

/* A run time in one of the two forms. */
struct median {
    double time_ref_s;   /* NAN: a table, or nothing at all */
    const double *etc_s; /* [resources]; NULL: an estimate */
};

struct guesser {
    struct workflow_problem *problem;
    struct donor *donors;
    size_t donor_count;
    struct median *of_name; /* [donor_count]: where a name begins; unset: both nothing */
    struct median of_all;
    size_t missing, by_name, by_all;
    struct error *err;
};

/* Of numbers; NAN of none. Sorts them. */
static double median_of(double *list, size_t count)
{
    if (count == 0)
        return (double)NAN;
    sort_numbers(list, count);
    return count % 2 ? list[count / 2]
                     : list[count / 2 - 1] + (list[count / 2] - list[count / 2 - 1]) / 2;
}

/* On each resource, of the tasks that can run there; most cannot: nor can this. */
static enum error_code median_table(const struct guesser *g, const struct donor *list,
                                    size_t count, struct median *out)
{
    size_t resources = g->problem->in->snapshot->resource_count;
    struct arena *a = g->problem->arena;
    double *etc_s = NEW(a, double, resources), *column = NEW(a, double, count);

    for (size_t c = 0; c < resources; c++) {
        size_t known = 0;

        for (size_t k = 0; k < count; k++) {
            double time_s = g->problem->tasks[list[k].task]->etc_s[c];

            if (!isnan(time_s))
                column[known++] = time_s;
        }
        etc_s[c] = 2 * known < count ? (double)NAN : median_of(column, known);
    }
    *out = (struct median){(double)NAN, etc_s};
    return OK;
}

/* The estimates among them count, tables only if there are none. */
static enum error_code find_median(const struct guesser *g, const struct donor *list,
                                   size_t count, struct median *out)
{
    double *times = NEW(g->problem->arena, double, count);
    size_t known = 0;

    for (size_t k = 0; k < count; k++)
        if (!isnan(list[k].time_ref_s))
            times[known++] = list[k].time_ref_s;
    *out = (struct median){median_of(times, known), NULL};
    return known > 0 || count == 0 ? OK : median_table(g, list, count, out);
}

static bool is_known(const struct median *m)
{
    return m->etc_s || !isnan(m->time_ref_s);
}

/* First donor that is not before the key in workflow and name. */
static size_t find_name(const struct guesser *g, size_t workflow, const char *name)
{
    size_t low = 0, high = g->donor_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct donor *d = &g->donors[middle];

        if (d->workflow < workflow ||
            (d->workflow == workflow && compare_names(d->name, name) < 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* *found: what tasks of that name in that workflow take; nothing without a name. */
static enum error_code median_of_name(struct guesser *g, size_t workflow,
                                      const char *name, struct median *found)
{
    size_t first = find_name(g, workflow, name), end = first;

    *found = (struct median){(double)NAN, NULL};
    if (!name)
        return OK;
    while (end < g->donor_count && g->donors[end].workflow == workflow &&
           compare_names(g->donors[end].name, name) == 0)
        end++;
    if (first == end)
        return OK;
    if (!is_known(&g->of_name[first]))
        TRY(find_median(g, g->donors + first, end - first, &g->of_name[first]));
    *found = g->of_name[first];
    return OK;
}

/* A copy of the task with a run time. */
static void set_run_time(struct workflow_problem *problem, size_t task,
                         const struct median *m)
{
    const struct workflow_task **tasks = (const struct workflow_task **)problem->tasks;
    struct workflow_task *copy = NEW(problem->arena, struct workflow_task, 1);

    *copy = *tasks[task];
    if (m->etc_s) {
        copy->etc_s = m->etc_s;
        copy->etc_count = problem->in->snapshot->resource_count;
    } else {
        copy->estimate_ref_s = m->time_ref_s;
    }
    tasks[task] = copy;
}

static bool has_begun(const struct workflow_task *t)
{
    return t->status == WORKFLOW_RUNNING || t->status == WORKFLOW_STAGING ||
           t->status == WORKFLOW_FAILED;
}

/* Run times of tasks that have begun, from their own reports. */
static enum error_code trust_reports(struct workflow_problem *problem)
{
    for (size_t i = 0; i < problem->task_count; i++) {
        const struct workflow_task *t = problem->tasks[i];
        struct median own = {(double)NAN, NULL};
        double done;

        if (has_run_time(t) || !has_begun(t))
            continue;
        TRY(read_reports(problem, i, &own.time_ref_s, &done));
        if (own.time_ref_s >= 0 && own.time_ref_s < HUGE_VAL)
            set_run_time(problem, i, &own);
    }
    return OK;
}

void workflow_read_estimates(struct workflow_problem *problem)
{
    const struct workflow_task **tasks = (const struct workflow_task **)problem->tasks;
    size_t count = problem->in->snapshot->resource_count;
    const double *row = NULL;

    for (size_t i = 0; i < problem->task_count; i++) {
        struct workflow_task *copy;
        double *times;

        if (has_run_time(tasks[i]) || !(tasks[i]->estimate_s >= 0))
            continue;
        if (!row || row[0] != tasks[i]->estimate_s) {
            budget_step(problem->in->budget, count);
            row = times = NEW(problem->arena, double, count + 1);
            for (size_t r = 0; r <= count; r++)
                times[r] = tasks[i]->estimate_s;
        }
        copy = NEW(problem->arena, struct workflow_task, 1);
        *copy = *tasks[i];
        copy->etc_s = row;
        copy->etc_count = count;
        tasks[i] = copy;
    }
}

static void list_donors(struct guesser *g)
{
    const struct workflow_problem *problem = g->problem;

    g->donors = NEW(problem->arena, struct donor, problem->task_count);
    g->of_name = NEW(problem->arena, struct median, problem->task_count);
    for (size_t i = 0; i < problem->task_count; i++) {
        const struct workflow_task *t = problem->tasks[i];

        if (!has_run_time(t)) {
            g->missing += t->status != WORKFLOW_DONE;
            continue;
        }
        g->of_name[g->donor_count] = (struct median){(double)NAN, NULL};
        g->donors[g->donor_count++] =
            (struct donor){problem->workflow_of[i], t->name,
                           t->etc_count ? (double)NAN : t->estimate_ref_s, i};
    }
    qsort(g->donors, g->donor_count, sizeof(*g->donors), compare_donors);
}

static enum error_code guess(struct guesser *g, size_t task)
{
    struct workflow_problem *problem = g->problem;
    struct median m;

    TRY(median_of_name(g, problem->workflow_of[task], problem->tasks[task]->name, &m));
    if (is_known(&m)) {
        g->by_name++;
    } else if (is_known(&g->of_all)) {
        m = g->of_all;
        g->by_all++;
    } else {
        return OK;
    }
    problem->parts->guessed[task] = true;
    set_run_time(problem, task, &m);
    return OK;
}

enum error_code workflow_guess_run_times(struct workflow_problem *problem,
                                         struct error *err)
{
    struct guesser g = {.problem = problem, .err = err};
    size_t n = problem->task_count;

    problem->parts->guessed = NEW(problem->arena, bool, n);
    workflow_read_estimates(problem);
    TRY(trust_reports(problem));
    list_donors(&g);
    if (g.missing == 0)
        return OK;
    TRY(find_median(&g, g.donors, g.donor_count, &g.of_all));
    for (size_t i = 0; i < n; i++)
        if (!has_run_time(problem->tasks[i]) &&
            problem->tasks[i]->status != WORKFLOW_DONE)
            TRY(guess(&g, i));
    if (g.by_name + g.by_all == 0)
        return OK; /* nothing to guess from: they are unplaced, with a reason each */
    workflow_warn(problem,
                  "run_times_guessed: %zu of %s %s no run time: %zu got the median of %s "
                  "name, %zu that of all tasks",
                  g.missing, counted(n, "task").text, plural(g.missing, "has", "have"),
                  g.by_name, plural(g.by_name, "its", "their"), g.by_all);
    return OK;
}
