/* workflow_call.c - from the body of a request about workflows to what algorithms see,
 * and the parts that its answers share.
 *
 * Edges become entries of depends_on, so that algorithms know one form only. Tasks are
 * used as they were bound; only a workflow with edges gets a copy of its list of tasks.
 */
#include "handlers/workflow/workflow_given.h"
#include "handlers/workflow/workflow_progress.h"

#include "algorithms/workflow/amounts.h"
#include "algorithms/workflow/problem.h"
#include "models/base/names.h"
#include "models/base/pointer.h"
#include "service/metrics.h"
#include "service/service.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- edges ---- */

/* The edges of one workflow on their way into depends_on. */
struct joiner {
    struct arena *a;
    struct error *err;
    const struct workflow_request *from;
    const char *pointer; /* of the workflow */
    struct name_index ids;
    size_t *parent, *child; /* [edges]: tasks by number; child not found: not used */
    size_t *first, *next;   /* [tasks], [edges]: chains of the edges of a child, by
                               number + 1, 0: the end */
    size_t *seen_by;        /* [tasks]: 1 + the last child that has this parent */
};

__attribute__((format(printf, 5, 6))) static void
edge_mistake(const struct joiner *j, size_t edge, const char *member, enum item_code code,
             const char *format, ...)
{
    char pointer[128], detail[384];
    va_list args;

    va_start(args, format);
    vsnprintf(detail, sizeof(detail), format, args);
    va_end(args);
    snprintf(pointer, sizeof(pointer), "%s/edges/%zu%s", j->pointer, edge, member);
    invalid(j->err, pointer, code, "%s", detail);
}

/* Number of the task; a name that there is not is a mistake. */
static size_t find_end(const struct joiner *j, size_t edge, const char *id,
                       const char *member)
{
    size_t at = name_index_find(&j->ids, id);

    if (at == NAME_NOT_FOUND)
        edge_mistake(j, edge, member, ITEM_UNKNOWN_ID,
                     "the workflow has no task '%.100s'", id);
    return at;
}

static void find_ends(struct joiner *j)
{
    for (size_t e = 0; e < j->from->edge_count; e++) {
        const struct workflow_edge_request *edge = &j->from->edges[e];

        j->parent[e] = find_end(j, e, edge->parent_id, "/parent_id");
        j->child[e] = find_end(j, e, edge->child_id, "/child_id");
        if (j->parent[e] == NAME_NOT_FOUND)
            j->child[e] = NAME_NOT_FOUND;
        if (j->child[e] == NAME_NOT_FOUND || j->child[e] != j->parent[e])
            continue;
        edge_mistake(j, e, "", ITEM_CYCLE, "'%.100s' cannot depend on itself",
                     edge->child_id);
        j->child[e] = NAME_NOT_FOUND;
    }
}

/* Backwards, so that each chain is in the order of the request. */
static void chain_by_child(struct joiner *j)
{
    for (size_t e = j->from->edge_count; e-- > 0;) {
        if (j->child[e] == NAME_NOT_FOUND)
            continue;
        j->next[e] = j->first[j->child[e]];
        j->first[j->child[e]] = e + 1;
    }
}

/* depends_on of task i with its edges behind; `list` has room for both. */
static void join_task(struct joiner *j, size_t i, struct workflow_task *task,
                      struct workflow_dependency *list)
{
    size_t count = task->dependency_count;

    for (size_t k = 0; k < count; k++) {
        size_t parent = name_index_find(&j->ids, task->depends_on[k].task_id);

        list[k] = task->depends_on[k];
        if (parent != NAME_NOT_FOUND)
            j->seen_by[parent] = i + 1;
    }
    for (size_t e = j->first[i]; e; e = j->next[e - 1]) {
        const struct workflow_edge_request *edge = &j->from->edges[e - 1];

        if (j->seen_by[j->parent[e - 1]] == i + 1) {
            edge_mistake(j, e - 1, "", ITEM_DUPLICATE,
                         "'%.100s' depends on '%.100s' already", edge->child_id,
                         edge->parent_id);
            continue;
        }
        j->seen_by[j->parent[e - 1]] = i + 1;
        list[count++] =
            (struct workflow_dependency){edge->parent_id, edge->transfer_s, edge->bytes};
    }
    task->depends_on = list;
    task->dependency_count = count;
}

/* Room for all lists that change, each of which gets a part of it. */
static void join_tasks(struct joiner *j, struct workflow_task *tasks)
{
    const struct workflow *w = &j->from->workflow;
    size_t room = j->from->edge_count;
    struct workflow_dependency *pool;

    for (size_t i = 0; i < w->task_count; i++)
        room += j->first[i] ? w->tasks[i].dependency_count : 0;
    pool = NEW(j->a, struct workflow_dependency, room);
    memcpy(tasks, w->tasks, w->task_count * sizeof(*tasks));
    for (size_t i = 0; i < w->task_count; i++) {
        if (!j->first[i])
            continue;
        join_task(j, i, &tasks[i], pool);
        pool += tasks[i].dependency_count;
    }
}

/* *out: the workflow, with its edges in depends_on. O(tasks + edges). */
static void join_edges(const struct workflow_request *from, const char *pointer,
                       struct workflow *out, struct arena *a, struct error *err)
{
    size_t tasks = from->workflow.task_count, edges = from->edge_count;
    struct joiner j = {.a = a, .err = err, .from = from, .pointer = pointer};
    struct workflow_task *list;

    *out = from->workflow;
    if (edges == 0)
        return;
    list = NEW(a, struct workflow_task, tasks);
    j.parent = NEW(a, size_t, edges);
    j.child = NEW(a, size_t, edges);
    j.next = NEW(a, size_t, edges);
    j.first = NEW(a, size_t, tasks);
    j.seen_by = NEW(a, size_t, tasks);
    name_index_create(&j.ids, tasks, a);
    for (size_t i = 0; i < tasks; i++)
        name_index_add(&j.ids, from->workflow.tasks[i].id, i);
    find_ends(&j);
    chain_by_child(&j);
    join_tasks(&j, list);
    out->tasks = list;
}

/* ---- the request ---- */

/* Mistakes are collected: only what is none of the client ends at once. */
static enum error_code unless_mistake(enum error_code code)
{
    return code == ERR_INVALID ? OK : code;
}

static void make_snapshot(struct workflow_call *call, const struct workflow_body *body)
{
    struct arena *a = call->rq->arena;
    const struct snapshot *made = workflow_import_snapshot(&body->import, a);
    struct snapshot *snapshot = NEW(a, struct snapshot, 1);

    *snapshot = *made;
    if (body->latency_s > 0)
        snapshot->network.wan_latency_s = body->latency_s;
    call->in.snapshot = snapshot;
}

static enum error_code find_snapshot(struct workflow_call *call,
                                     const struct workflow_body *body)
{
    struct request *rq = call->rq;

    if (!body->import.speeds && body->latency_s > 0)
        invalid(rq->err, "/latency_s", ITEM_CONFLICT,
                "goes with speeds; a snapshot has its network");
    if (!body->import.speeds)
        return unless_mistake(decision_world_snapshot(
            rq, body->snapshot, body->snapshot_id, true, &call->in.snapshot));
    if (body->snapshot || body->snapshot_id)
        invalid(rq->err, "/speeds", ITEM_CONFLICT,
                "give either speeds or a snapshot, not both");
    if (body->import.speed_count > SNAPSHOT_RESOURCES_MAX) {
        invalid(rq->err, "/speeds", ITEM_TOO_LONG, "more than %d",
                SNAPSHOT_RESOURCES_MAX);
        return OK;
    }
    make_snapshot(call, body);
    return OK;
}

static enum error_code read_import(struct workflow_call *call,
                                   const struct workflow_body *body, struct workflow *out)
{
    struct workflow_import *import = NEW(call->rq->arena, struct workflow_import, 1);

    TRY(workflow_import_read(&body->import, import, call->rq->arena, call->rq->err));
    *out = import->workflow;
    call->import = import;
    call->in.workflows = out;
    call->in.workflow_count = 1;
    return OK;
}

static enum error_code join_all(struct workflow_call *call,
                                const struct workflow_body *body, struct workflow *out)
{
    struct request *rq = call->rq;
    size_t count = body->workflow ? 1 : body->workflow_count;
    char pointer[48] = "/workflow";

    for (size_t w = 0; w < count; w++) {
        if (!body->workflow)
            snprintf(pointer, sizeof(pointer), "/workflows/%zu", w);
        join_edges(body->workflow ? body->workflow : &body->workflows[w], pointer,
                   &out[w], rq->arena, rq->err);
    }
    call->in.workflows = out;
    call->in.workflow_count = count;
    return OK;
}

static enum error_code find_workflows(struct workflow_call *call,
                                      const struct workflow_body *body)
{
    struct request *rq = call->rq;
    bool file = workflow_import_given(&body->import);
    size_t count = body->workflow || file ? 1 : body->workflow_count;
    struct workflow *list = NEW(rq->arena, struct workflow, count);

    if (!body->workflow && !body->workflows && !file) {
        invalid(rq->err, "/workflow", ITEM_REQUIRED,
                "the tasks are missing: give workflow, workflows, or a file as wfformat, "
                "dax, stg, dot, snakemake_d3 or pegasus");
        return OK;
    }
    if (file && (body->workflow || body->workflows)) {
        invalid(rq->err, "/workflow", ITEM_CONFLICT,
                "give either a workflow or another tool's file, not both");
        return OK;
    }
    call->in.single = body->workflow || file;
    return file ? unless_mistake(read_import(call, body, list))
                : join_all(call, body, list);
}

/* What is odd about the progress reports of tasks: how many, and one of them. */
struct oddities {
    size_t count[PROGRESS_WARN_COUNT];
    const char *task_id[PROGRESS_WARN_COUNT];
};

static enum error_code look_at_samples(const struct workflow_task *task,
                                       struct oddities *odd, struct arena *a)
{
    size_t count = task->progress_sample_count;
    struct progress_history history, believed;
    size_t dropped;

    if (count == 0)
        return OK;
    TRY(progress_history_of(task->progress_samples, count, count + 3, &history, a));
    progress_screen(&history, &believed, &dropped, a);
    if (dropped > 0)
        history.warnings |= PROGRESS_WARN_SCREENED;
    for (size_t bit = 0; bit < PROGRESS_WARN_COUNT; bit++) {
        if (!(history.warnings >> bit & 1))
            continue;
        if (odd->count[bit]++ == 0)
            odd->task_id[bit] = task->id;
    }
    return OK;
}

/* Reports are taken as they are; what looks wrong is said. */
static enum error_code warn_of_samples(struct workflow_call *call)
{
    struct request *rq = call->rq;
    struct oddities odd = {0};

    for (size_t w = 0; w < call->in.workflow_count; w++)
        for (size_t i = 0; i < call->in.workflows[w].task_count; i++)
            TRY(look_at_samples(&call->in.workflows[w].tasks[i], &odd, rq->arena));
    for (size_t bit = 0; bit < PROGRESS_WARN_COUNT; bit++) {
        if (odd.count[bit])
            workflow_call_warn(call,
                               "%s: progress samples of %zu task%s, first '%.100s': %s",
                               progress_warning_names[bit], odd.count[bit],
                               odd.count[bit] > 1 ? "s" : "", odd.task_id[bit],
                               progress_warning_texts[bit]);
    }
    return OK;
}

enum error_code workflow_call_begin(struct workflow_call *call, struct request *rq,
                                    const struct workflow_body *body)
{
    const struct workflow_given *initial =
        workflow_given_of(body->initial, body->initial_count, rq->arena);
    struct workflow_problem *problem;

    *call = (struct workflow_call){
        .rq = rq,
        .in =
            {
                .windows = body->availability,
                .window_count = body->window_count,
                .carry_over = body->carry_over,
                .carry_count = body->carry_count,
                .initial = initial,
                .initial_count = body->initial_count,
                .seed = body->decision.seed,
                .budget = &rq->budget,
                .time_limit_given = isfinite(body->decision.time_limit_s),
                .time_limit_s = body->decision.time_limit_s,
            },
    };
    TRY(find_snapshot(call, body));
    TRY(find_workflows(call, body));
    if (rq->err->code == ERR_INVALID && call->in.snapshot && call->in.workflows)
        TRY(workflow_problem_make(&call->in, false, &problem, rq->arena, rq->err));
    if (rq->err->code != OK)
        return rq->err->code;
    call->warnings = NEW(rq->arena, const char *, WORKFLOW_CALL_WARNINGS);
    TRY(workflow_progress_read(call, (enum workflow_progress)body->progress));
    return warn_of_samples(call);
}

void workflow_call_warn(struct workflow_call *call, const char *format, ...)
{
    const char *text;
    va_list args;

    assert(call->warning_count < WORKFLOW_CALL_WARNINGS);
    va_start(args, format);
    text = arena_vprintf(call->rq->arena, format, args);
    va_end(args);
    call->warnings[call->warning_count++] = text;
}

/* ---- the answer ---- */

static size_t append(const char **list, size_t at, const char *const *more, size_t count)
{
    for (size_t i = 0; i < count; i++)
        list[at + i] = more[i];
    return at + count;
}

void workflow_call_warnings(const struct workflow_call *call, const char *const *warnings,
                            size_t count, struct decision_answer *out)
{
    const struct workflow_import *import = call->import;
    size_t of_file = import ? import->warning_count : 0;
    const char **list =
        NEW(call->rq->arena, const char *, of_file + call->warning_count + count);
    size_t n = 0;

    if (import)
        n = append(list, n, import->warnings, of_file);
    n = append(list, n, call->warnings, call->warning_count);
    out->warning_count = append(list, n, warnings, count);
    out->warnings = list;
}

static bool is_same_task(const struct workflow_unplaced *left,
                         const struct workflow_unplaced *right)
{
    bool same_workflow = left->workflow_id && right->workflow_id
                             ? strcmp(left->workflow_id, right->workflow_id) == 0
                             : left->workflow_id == right->workflow_id;

    return same_workflow && strcmp(left->task_id, right->task_id) == 0;
}

/* jobs_unplaced_total: a task counts under the reason that holds for most resources. */
static void count_unplaced(const struct workflow_call *call,
                           const struct workflow_unplaced_answer *task)
{
    const struct workflow_unplaced *main_reason = task->reasons;

    for (size_t i = 1; i < task->reason_count; i++)
        if (task->reasons[i].resource_count > main_reason->resource_count)
            main_reason = &task->reasons[i];
    metrics_unplaced(call->rq->service->metrics, main_reason->reason, 1);
}

enum error_code workflow_unplaced_answer(const struct workflow_call *call,
                                         const struct workflow_unplaced *list,
                                         size_t count,
                                         const struct workflow_unplaced_answer **out,
                                         size_t *out_count)
{
    struct workflow_unplaced_answer *tasks =
        NEW(call->rq->arena, struct workflow_unplaced_answer, count);
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !is_same_task(&list[i - 1], &list[i]))
            tasks[n++] = (struct workflow_unplaced_answer){list[i].workflow_id,
                                                           list[i].task_id, &list[i], 0};
        tasks[n - 1].reason_count++;
    }
    for (size_t i = 0; i < n; i++)
        count_unplaced(call, &tasks[i]);
    *out = tasks;
    *out_count = n;
    return OK;
}

/* ---- run times that models tell ---- */

/* run_time_jobs.at: of all tasks one after the other. */
static const char *task_pointer(const void *context, size_t task, struct arena *a)
{
    const struct workflow_call *call = context;
    size_t w = 0;

    while (task >= call->in.workflows[w].task_count)
        task -= call->in.workflows[w++].task_count;
    return call->in.single ? pointer_keep("/workflow/tasks", task, NULL, a)
                           : arena_printf(a, "/workflows/%zu/tasks/%zu", w, task);
}

/* The task as its model is to see it; one that is done is not asked for. */
static struct job job_of_task(const struct workflow_task *t)
{
    return (struct job){
        .id = t->id,
        .estimate_ref_s = t->estimate_ref_s,
        .etc_s = t->etc_s,
        .etc_count = t->etc_count,
        .cpus = t->cpus > 0 ? t->cpus : 1,
        .memory_bytes = t->memory_bytes > 0 ? t->memory_bytes : 0,
        .nodes = t->nodes ? t->nodes : 1,
        .time_limit_s = t->time_limit_s > 0 ? t->time_limit_s : (double)NAN,
        .estimate_s = t->estimate_s,
        .model = t->status == WORKFLOW_DONE ? NULL : t->model,
    };
}

static size_t count_models(struct workflow_call *call, size_t *tasks, size_t *first)
{
    size_t count = 0;

    *tasks = 0;
    for (size_t w = 0; w < call->in.workflow_count; w++) {
        budget_step(&call->rq->finish, call->in.workflows[w].task_count);
        for (size_t i = 0; i < call->in.workflows[w].task_count; i++, ++*tasks)
            if (call->in.workflows[w].tasks[i].model && count++ == 0)
                *first = *tasks;
    }
    return count;
}

enum error_code workflow_call_models(struct workflow_call *call, struct run_times **times)
{
    struct request *rq = call->rq;
    size_t total, first, at = 0;
    const struct job *told;
    struct job *jobs;

    *times = NULL;
    if (count_models(call, &total, &first) == 0)
        return OK;
    jobs = NEW(rq->arena, struct job, total);
    for (size_t w = 0; w < call->in.workflow_count; w++)
        for (size_t i = 0; i < call->in.workflows[w].task_count; i++)
            jobs[at++] = job_of_task(&call->in.workflows[w].tasks[i]);
    TRY(run_times_resolve(rq, call->in.snapshot,
                          &(struct run_time_jobs){.jobs = jobs,
                                                  .count = total,
                                                  .one = "task",
                                                  .many = "tasks",
                                                  .at = task_pointer,
                                                  .context = call},
                          &told, times));
    if (rq->err->code != OK)
        return rq->err->code;
    workflow_copy_tasks(call);
    at = 0;
    for (size_t w = 0; w < call->in.workflow_count; w++)
        for (size_t i = 0; i < call->in.workflows[w].task_count; i++, at++) {
            struct workflow_task *t =
                (struct workflow_task *)&call->in.workflows[w].tasks[i];

            if (!t->model)
                continue;
            if (told[at].memory_bytes != jobs[at].memory_bytes)
                t->memory_bytes = told[at].memory_bytes;
            if (told[at].estimate_s == jobs[at].estimate_s)
                continue;
            t->estimate_s = told[at].estimate_s;
            t->etc_s = told[at].etc_s;
            t->etc_count = told[at].etc_count;
        }
    return OK;
}
