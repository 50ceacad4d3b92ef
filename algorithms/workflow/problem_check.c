/* workflow/problem_check.c - what a request must fulfil before it is looked at.
 *
 * Every mistake is reported, with its JSON Pointer; those of the dependencies are found
 * in problem_dag.c, those of the snapshot by placement/check.c.
 */
#include "algorithms/workflow/problem_parts.h"

#include "algorithms/placement/check.h"
#include "models/base/plural.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST 1e100

struct number_row {
    const char *member;
    size_t offset;
    double min, max;
    bool optional; /* NAN is allowed */
};

#define ROW(m, min, max, optional)                                \
    {                                                             \
#m, offsetof(struct workflow_task, m), min, max, optional \
    }

static const struct number_row task_rows[] = {
    ROW(estimate_ref_s, 0, DBL_MAX, true),
    ROW(input_bytes, 0, LARGEST, false),
    ROW(output_bytes, 0, LARGEST, false),
    ROW(checkpoint_bytes, 0, LARGEST, false),
    ROW(release_s, 0, LARGEST, false),
    ROW(start_s, -LARGEST, LARGEST, true),
    ROW(finish_s, -LARGEST, LARGEST, true),
    ROW(progress_pct, 0, 100, true),
    ROW(elapsed_s, 0, LARGEST, true),
    ROW(work_done_ref_s, 0, DBL_MAX, true),
    ROW(checkpoint_work_ref_s, 0, DBL_MAX, true),
    ROW(transfer_remaining_s, 0, LARGEST, false),
    ROW(since_last_move_s, 0, LARGEST, true),
    {0},
};

const char *workflow_path(const struct workflow_in *in, size_t workflow, char *buffer,
                          size_t size)
{
    if (in->single)
        snprintf(buffer, size, "/workflow");
    else
        snprintf(buffer, size, "/workflows/%zu", workflow);
    return buffer;
}

__attribute__((format(printf, 5, 6))) static void
mistake(struct error *err, const char *path, const char *member, enum item_code code,
        const char *format, ...)
{
    char pointer[160], text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    snprintf(pointer, sizeof(pointer), "%s/%s", path, member);
    invalid(err, pointer, code, "%s", text);
}

static void check_numbers(const struct workflow_task *t, const char *path,
                          struct error *err)
{
    for (const struct number_row *row = task_rows; row->member; row++) {
        double value;

        memcpy(&value, (const char *)t + row->offset, sizeof(value));
        if (isnan(value) ? row->optional : value >= row->min && value <= row->max)
            continue;
        mistake(err, path, row->member, ITEM_OUT_OF_BOUNDS, "%g is not between %g and %g",
                value, row->min, row->max);
    }
}

static void check_times(const struct workflow_task *t, size_t resource_count,
                        const char *path, struct error *err)
{
    if (!isnan(t->estimate_s) && !isnan(t->estimate_ref_s))
        mistake(err, path, "estimate_s", ITEM_CONFLICT,
                "give estimate_s or estimate_ref_s, not both");
    if (t->etc_count != 0 && t->etc_count != resource_count) {
        mistake(err, path, "etc_s", ITEM_WRONG_LENGTH,
                "has %s for %s; give one for each, null where the task cannot run",
                counted(t->etc_count, "time").text,
                counted(resource_count, "resource").text);
        return;
    }
    for (size_t k = 0; k < t->etc_count; k++) {
        char member[40];

        if (isnan(t->etc_s[k]) || t->etc_s[k] >= 0)
            continue;
        snprintf(member, sizeof(member), "etc_s/%zu", k);
        mistake(err, path, member, ITEM_OUT_OF_BOUNDS, "%g is not a time", t->etc_s[k]);
    }
}

/* A status says what else must hold. */
static void check_status(const struct workflow_task *t, const char *path,
                         struct error *err)
{
    bool begun = t->status == WORKFLOW_RUNNING || t->status == WORKFLOW_DONE;

    if (t->status < WORKFLOW_IDLE || t->status > WORKFLOW_FAILED)
        mistake(err, path, "status", ITEM_NOT_A_CHOICE, "no such status");
    if ((t->status == WORKFLOW_RUNNING || t->status == WORKFLOW_STAGING) &&
        !t->resource_id && !t->resource_id_count)
        mistake(err, path, "resource_id", ITEM_REQUIRED,
                "a task that is running or staging is on a resource");
    if (begun && t->start_s > 0)
        mistake(err, path, "start_s", ITEM_OUT_OF_BOUNDS,
                "%g s from now has not come; the task has begun", t->start_s);
    if (t->status == WORKFLOW_DONE && t->finish_s > 0)
        mistake(err, path, "finish_s", ITEM_OUT_OF_BOUNDS,
                "%g s from now has not come; the task is done", t->finish_s);
    if (t->status == WORKFLOW_DONE && t->start_s > t->finish_s)
        mistake(err, path, "finish_s", ITEM_OUT_OF_BOUNDS, "is before start_s");
}

static void check_id(const char *id, struct name_index *seen, size_t position,
                     const char *path, struct error *err)
{
    if (!id || !*id)
        mistake(err, path, "id", ITEM_REQUIRED, "must be a text that is not empty");
    else if (name_index_add(seen, id, position) != NAME_NOT_FOUND)
        mistake(err, path, "id", ITEM_DUPLICATE, "'%.100s' is also the id of another one",
                id);
}

const size_t *workflow_nodes_of(const struct workflow_problem *problem, size_t task,
                                size_t *count)
{
    const struct workflow_parts *parts = problem->parts;
    const size_t *nodes = parts->nodes_of ? parts->nodes_of[task] : NULL;

    *count = nodes                                       ? problem->tasks[task]->nodes
             : parts->resource_of[task] == WORKFLOW_NONE ? 0
                                                         : 1;
    return nodes ? nodes : &parts->resource_of[task];
}

bool workflow_on_failed(const struct workflow_problem *problem, size_t task)
{
    size_t count;
    const size_t *nodes = workflow_nodes_of(problem, task, &count);

    for (size_t k = 0; k < count; k++)
        if (problem->in->snapshot->resources[nodes[k]].failed)
            return true;
    return false;
}

void workflow_warn_halves(struct workflow_problem *problem, size_t count)
{
    if (count)
        workflow_warn(problem,
                      "running_incomplete: %zu running task%s on several nodes, of which "
                      "resource_ids name%s none: only resource_id is taken",
                      count, count == 1 ? "" : "s", count == 1 ? "s" : "");
}

static int by_number(const void *left, const void *right)
{
    size_t l = *(const size_t *)left, r = *(const size_t *)right;

    return (l > r) - (l < r);
}

/* All nodes of a task that has begun; its output is on the first of the snapshot. */
static void read_nodes(struct workflow_problem *problem, size_t task, const char *path,
                       struct error *err)
{
    struct workflow_parts *parts = problem->parts;
    const struct workflow_task *t = problem->tasks[task];
    size_t count = t->resource_id_count, *list = NEW(problem->arena, size_t, count);
    bool named = !t->resource_id;

    if (count != (t->nodes ? t->nodes : 1)) {
        mistake(err, path, "resource_ids", ITEM_CONFLICT, "%s; the task runs on %zu",
                counted(count, "resource").text, (size_t)(t->nodes ? t->nodes : 1));
        return;
    }
    for (size_t k = 0; k < count; k++) {
        const char *id = t->resource_ids[k] ? t->resource_ids[k] : "";
        char member[40];

        list[k] = name_index_find(&parts->resources, id);
        named = named || list[k] == parts->resource_of[task];
        snprintf(member, sizeof(member), "resource_ids/%zu", k);
        if (list[k] == NAME_NOT_FOUND) {
            mistake(err, path, member, ITEM_UNKNOWN_ID, "no resource '%.100s'", id);
            return;
        }
    }
    qsort(list, count, sizeof(*list), by_number);
    for (size_t k = 1; k < count; k++)
        if (list[k] == list[k - 1])
            mistake(err, path, "resource_ids", ITEM_DUPLICATE, "'%.100s' is there twice",
                    problem->in->snapshot->resources[list[k]].id);
    if (!named)
        mistake(err, path, "resource_id", ITEM_CONFLICT,
                "it is none of resource_ids; leave it out");
    parts->resource_of[task] = list[0];
    if (count > 1)
        parts->nodes_of[task] = list;
}

/* Of the nodes of a task the one that it waits for: by its table, else by speed. */
static size_t slowest_of(const struct workflow_problem *problem, size_t task)
{
    const struct workflow_task *t = problem->tasks[task];
    const struct resource *resources = problem->in->snapshot->resources;
    const size_t *nodes = problem->parts->nodes_of[task];
    size_t at = problem->parts->resource_of[task];

    for (size_t k = 1; nodes && k < t->resource_id_count; k++) {
        size_t r = nodes[k];

        if (t->etc_count
                ? r < t->etc_count && at < t->etc_count && !(t->etc_s[r] <= t->etc_s[at])
                : resource_speed_mips(&resources[r]) <
                      resource_speed_mips(&resources[at]))
            at = r;
    }
    return at;
}

static void read_resource(struct workflow_problem *problem, size_t task, const char *path,
                          struct error *err)
{
    const struct workflow_task *t = problem->tasks[task];
    const char *id = t->resource_id;
    size_t *resource = &problem->parts->resource_of[task];

    *resource = WORKFLOW_NONE;
    if (id) {
        *resource = name_index_find(&problem->parts->resources, id);
        if (*resource == NAME_NOT_FOUND)
            mistake(err, path, "resource_id", ITEM_UNKNOWN_ID, "no resource '%.100s'",
                    id);
    }
    if (t->resource_id_count)
        read_nodes(problem, task, path, err);
    problem->parts->slowest_of[task] = slowest_of(problem, task);
}

static void read_files(struct workflow_problem *problem, size_t task, const char *path,
                       struct error *err)
{
    struct workflow_parts *parts = problem->parts;
    const struct workflow_task *t = problem->tasks[task];
    size_t first = parts->task_file_first[task];

    parts->task_file_first[task + 1] = first + t->input_file_count;
    for (size_t k = 0; k < t->input_file_count; k++) {
        const char *id = t->input_file_ids[k];
        size_t file = id ? name_index_find(&parts->files, id) : NAME_NOT_FOUND;
        char member[40];

        parts->task_file[first + k] = file;
        if (file != NAME_NOT_FOUND)
            continue;
        snprintf(member, sizeof(member), "input_file_ids/%zu", k);
        mistake(err, path, member, ITEM_UNKNOWN_ID, "no file '%.100s'", id ? id : "");
    }
}

static void check_task(struct workflow_problem *problem, size_t task, const char *path,
                       struct name_index *ids, struct error *err)
{
    const struct workflow_task *t = problem->tasks[task];

    check_id(t->id, ids, task, path, err);
    check_numbers(t, path, err);
    check_times(t, problem->in->snapshot->resource_count, path, err);
    check_status(t, path, err);
    read_resource(problem, task, path, err);
    read_files(problem, task, path, err);
}

static void check_windows(const struct workflow_problem *problem, struct error *err)
{
    const struct workflow_in *in = problem->in;

    for (size_t i = 0; i < in->window_count; i++) {
        const struct workflow_window *w = &in->windows[i];
        char path[64];

        snprintf(path, sizeof(path), "/availability/%zu", i);
        if (!w->resource_id)
            mistake(err, path, "resource_id", ITEM_REQUIRED, "must name a resource");
        else if (name_index_find(&problem->parts->resources, w->resource_id) ==
                 NAME_NOT_FOUND)
            mistake(err, path, "resource_id", ITEM_UNKNOWN_ID, "no resource '%.100s'",
                    w->resource_id);
        if (!(fabs(w->from_s) <= LARGEST))
            mistake(err, path, "from_s", ITEM_OUT_OF_BOUNDS, "%g is not a time",
                    w->from_s);
        else if (!isnan(w->to_s) && !(w->to_s > w->from_s))
            mistake(err, path, "to_s", ITEM_OUT_OF_BOUNDS, "%g s is not after from_s",
                    w->to_s);
    }
}

/* Tasks of all workflows, numbered through. */
static void number_tasks(struct workflow_problem *problem)
{
    const struct workflow_in *in = problem->in;
    struct workflow_parts *parts = problem->parts;
    struct arena *a = problem->arena;
    const struct workflow_task **tasks;
    size_t *workflow_of;
    size_t n = 0, files = 0;

    for (size_t w = 0; w < in->workflow_count; w++) {
        n += in->workflows[w].task_count;
        for (size_t i = 0; i < in->workflows[w].task_count; i++)
            files += in->workflows[w].tasks[i].input_file_count;
    }
    tasks = NEW(a, const struct workflow_task *, n);
    workflow_of = NEW(a, size_t, n);
    parts->resource_of = NEW(a, size_t, n);
    parts->nodes_of = NEW(a, size_t *, n);
    parts->slowest_of = NEW(a, size_t, n);
    parts->task_file_first = NEW(a, size_t, n + 1);
    parts->task_file = NEW(a, size_t, files);
    problem->tasks = tasks;
    problem->workflow_of = workflow_of;
    for (size_t w = 0; w < in->workflow_count; w++) {
        for (size_t i = 0; i < in->workflows[w].task_count; i++) {
            tasks[problem->task_count] = &in->workflows[w].tasks[i];
            workflow_of[problem->task_count++] = w;
        }
    }
}

static void check_workflows(struct workflow_problem *problem, struct error *err)
{
    const struct workflow_in *in = problem->in;
    struct name_index ids, task_ids;
    size_t task = 0;

    name_index_create(&ids, in->workflow_count, problem->arena);
    for (size_t w = 0; w < in->workflow_count; w++) {
        const struct workflow *f = &in->workflows[w];
        char path[40], task_path[80];

        workflow_path(in, w, path, sizeof(path));
        if (in->workflow_count > 1 || f->id)
            check_id(f->id, &ids, w, path, err);
        name_index_create(&task_ids, f->task_count, problem->arena);
        for (size_t i = 0; i < f->task_count; i++) {
            snprintf(task_path, sizeof(task_path), "%s/tasks/%zu", path, i);
            check_task(problem, task++, task_path, &task_ids, err);
        }
    }
}

enum error_code workflow_check_request(struct workflow_problem *problem,
                                       struct error *err)
{
    struct placement_in snapshot = {.snapshot = problem->in->snapshot};
    struct workflow_parts *parts = problem->parts;
    enum error_code code =
        check_request(&snapshot, &parts->resources, &parts->files, problem->arena, err);

    if (code != OK && code != ERR_INVALID)
        return code;
    number_tasks(problem);
    check_workflows(problem, err);
    check_windows(problem, err);
    return OK;
}
