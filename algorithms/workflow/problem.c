/* workflow/problem.c - a workflow decision with all names resolved.
 *
 * Run time of task i on processor p: etc_s, else estimate_ref_s / speed, times the part
 * that its checkpoint has not saved. Nothing is kept by task and processor: memory is
 * linear but for what the caller sends. O(tasks + edges + resources + matrix), and
 * O(sites^2) up to 512 sites.
 *
 * Source: spec workflows.md 2.2, 3.1, 8.1.
 */
#include "algorithms/workflow/problem_parts.h"

#include <stdarg.h>
#include <string.h>

enum { WARNINGS_MAX = 64 };

void workflow_warn(struct workflow_problem *problem, const char *format, ...)
{
    va_list args;

    if (!problem->warnings)
        problem->warnings = NEW(problem->arena, const char *, WARNINGS_MAX);
    problem->warned++;
    if (problem->warning_count == WARNINGS_MAX) {
        problem->warnings[WARNINGS_MAX - 1] = arena_printf(
            problem->arena, "and %zu more warnings", problem->warned - WARNINGS_MAX + 1);
        return;
    }
    va_start(args, format);
    problem->warnings[problem->warning_count] =
        arena_vprintf(problem->arena, format, args);
    va_end(args);
    problem->warning_count++;
}

/* ---- times ---- */

double workflow_time_s(const struct workflow_problem *problem, size_t task,
                       size_t processor)
{
    const struct workflow_task *t = problem->tasks[task];
    const struct workflow_processor *p = &problem->processors[processor];
    double time_s;

    if (!p->usable)
        return HUGE_VAL;
    if (t->etc_count)
        time_s = t->etc_s[p->resource];
    else if (p->speed_mips > 0)
        time_s = t->estimate_ref_s / p->speed_mips;
    else
        return HUGE_VAL;
    time_s *= problem->parts->left_ratio[task];
    return time_s >= 0 && time_s <= WORKFLOW_LONGEST_S ? time_s : HUGE_VAL;
}

double workflow_instant_s(const struct workflow_problem *problem, size_t processor,
                          double ready_s)
{
    const struct workflow_processor *p = &problem->processors[processor];
    size_t low = 0, high = p->closed_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (p->closed[middle].to_s <= ready_s)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < p->closed_count &&
        (p->closed[low].from_s < ready_s || p->closed[low].from_s <= 0))
        return p->closed[low].to_s;
    return ready_s;
}

double workflow_mean_time_s(const struct workflow_problem *problem, size_t task)
{
    return problem->parts->mean_time_s[task];
}

double workflow_transfer_s(const struct workflow_problem *problem,
                           const struct workflow_edge *edge, size_t from, size_t to)
{
    const struct workflow_processor *p = problem->processors;

    if (from == WORKFLOW_EVERYWHERE || p[from].resource == p[to].resource)
        return 0;
    if (!isnan(edge->transfer_s))
        return edge->transfer_s <= WORKFLOW_LONGEST_S ? edge->transfer_s : HUGE_VAL;
    return workflow_link_s(problem, edge->bytes, p[from].site, p[to].site);
}

double workflow_mean_transfer_s(const struct workflow_problem *problem,
                                const struct workflow_edge *edge)
{
    const struct workflow_parts *parts = problem->parts;
    double time_s = edge->transfer_s;

    if (!parts->several)
        return 0;
    if (isnan(time_s))
        time_s = edge->bytes == 0
                     ? 0
                     : edge->bytes * parts->mean_s_per_byte + parts->mean_latency_s;
    return time_s <= WORKFLOW_LONGEST_S ? time_s : WORKFLOW_LONGEST_S;
}

double workflow_staged_s(const struct workflow_problem *problem, size_t task,
                         size_t processor)
{
    const struct workflow_parts *parts = problem->parts;
    const struct workflow_task *t = problem->tasks[task];
    const struct workflow_processor *p = &problem->processors[processor];
    size_t input = parts->input_site[task], checkpoint = parts->checkpoint_site[task];
    double time_s = 0, checkpoint_bytes = t->checkpoint_bytes;

    if (!parts->staged[task])
        return 0;
    for (size_t k = parts->task_file_first[task]; k < parts->task_file_first[task + 1];
         k++)
        time_s = fmax(time_s, workflow_file_s(problem, parts->task_file[k], p->site));
    if (!t->checkpoint_site_id && parts->resource_of[task] == p->resource)
        checkpoint = WORKFLOW_NONE; /* where it was: the checkpoint is there */
    if (input != WORKFLOW_NONE && input == checkpoint) {
        checkpoint_bytes += t->input_bytes; /* one transfer of both, as in 2.2 */
        return fmax(time_s, workflow_link_s(problem, checkpoint_bytes, input, p->site));
    }
    if (input != WORKFLOW_NONE)
        time_s = fmax(time_s, workflow_link_s(problem, t->input_bytes, input, p->site));
    if (checkpoint != WORKFLOW_NONE)
        time_s =
            fmax(time_s, workflow_link_s(problem, checkpoint_bytes, checkpoint, p->site));
    return time_s;
}

double workflow_ready_s(const struct workflow_problem *problem, size_t task,
                        size_t processor)
{
    return fmax(problem->release_s[task], workflow_staged_s(problem, task, processor));
}

/* ---- making it ---- */

/* Over the processors that can run the task, one by one. What is open and has a table
 * counts there, too. */
static double mean_of_row_s(const struct workflow_problem *problem, size_t task)
{
    bool counts = problem->tasks[task]->etc_count && workflow_is_open(problem, task);
    double sum_s = 0;
    size_t count = 0;

    for (size_t p = 0; p < problem->processor_count; p++) {
        double time_s = workflow_time_s(problem, task, p);

        if (counts)
            problem->parts->table_s[p] += time_s;
        if (time_s < HUGE_VAL) {
            sum_s += time_s;
            count++;
        }
    }
    return count ? sum_s / (double)count : 0;
}

/* Where only speeds differ, the mean of their inverses does for all tasks. */
static void mean_times(struct workflow_problem *problem)
{
    double *mean_s = NEW(problem->arena, double, problem->task_count);
    double slowness = 0, slowest = 0, usable = 0;
    bool late = false;

    problem->parts->mean_time_s = mean_s;
    problem->parts->table_s = NEW(problem->arena, double, problem->processor_count);
    for (size_t p = 0; p < problem->processor_count; p++) {
        const struct workflow_processor *x = &problem->processors[p];

        if (!x->usable || !(x->speed_mips > 0))
            continue;
        usable++;
        slowness += 1 / x->speed_mips;
        slowest = fmax(slowest, 1 / x->speed_mips);
    }
    for (size_t i = 0; i < problem->task_count; i++) {
        const struct workflow_task *t = problem->tasks[i];
        bool by_row =
            t->etc_count || !(t->estimate_ref_s * slowest <= WORKFLOW_LONGEST_S);

        late = by_row && budget_step(problem->in->budget, problem->processor_count);
        if (late)
            break; /* no list is made by the others any more */
        if (by_row)
            mean_s[i] = mean_of_row_s(problem, i);
        else if (usable > 0)
            mean_s[i] =
                t->estimate_ref_s * problem->parts->left_ratio[i] * slowness / usable;
    }
    if (late)
        problem->parts->table_s = NULL;
}

static void read_releases(struct workflow_problem *problem)
{
    double *release_s = NEW(problem->arena, double, problem->task_count);

    for (size_t i = 0; i < problem->task_count; i++)
        release_s[i] = problem->tasks[i]->release_s;
    problem->release_s = release_s;
}

void workflow_report_ends(struct workflow_problem *problem)
{
    const struct workflow_in *in = problem->in;
    size_t task = 0;

    for (size_t w = 0; w < in->workflow_count; w++) {
        size_t roots = 0, ends = 0;
        const char *id = in->workflows[w].id;

        for (size_t i = 0; i < in->workflows[w].task_count; i++, task++) {
            roots += problem->parent_first[task] == problem->parent_first[task + 1];
            ends += problem->child_first[task] == problem->child_first[task + 1];
        }
        if (roots <= 1 && ends <= 1)
            continue;
        workflow_warn(problem,
                      "several_ends: %s%.60s%s has %zu entry task%s and %zu exit task%s",
                      id ? "workflow '" : "the workflow", id ? id : "", id ? "'" : "",
                      roots, roots == 1 ? "" : "s", ends, ends == 1 ? "" : "s");
    }
}

enum error_code workflow_problem_make(const struct workflow_in *in, bool slots,
                                      struct workflow_problem **problem, struct arena *a,
                                      struct error *err)
{
    struct workflow_problem *p = NEW(a, struct workflow_problem, 1);
    size_t mistakes = err->item_count;

    *p = (struct workflow_problem){.in = in, .arena = a};
    p->parts = NEW(a, struct workflow_parts, 1);
    TRY(workflow_check_request(p, err));
    workflow_read_edges(p, err);
    if (err->item_count > mistakes)
        return ERR_INVALID;
    TRY(workflow_guess_run_times(p, err));
    workflow_read_links(p);
    read_releases(p);
    TRY(workflow_read_processors(p, slots, err));
    mean_times(p);
    workflow_mean_links(p);
    workflow_report_ends(p);
    workflow_warn_unused(p);
    *problem = p;
    return OK;
}
