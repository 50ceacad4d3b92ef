/* workflow/problem_dag.c - dependencies by number, and an order of the tasks.
 *
 * Topological order: Kahn, first in first out; entry tasks and successors in the order
 * of the request (workflows.md 8.1). O(tasks + edges). What the queue never reaches
 * hangs on a cycle; one of them is named.
 */
#include "algorithms/workflow/problem_parts.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

struct edge_reader {
    struct workflow_problem *problem;
    struct workflow_edge *edges;
    size_t *parent_first;
    size_t *seen_by;   /* [task]: last child that named it, + 1 */
    size_t first_task; /* of the workflow */
    const char *path; /* of the workflow; that of a dependency is made when it is wrong */
    size_t task, place; /* of the dependency: in the workflow, in depends_on */
    struct error *err;
};

static void point_to(const struct edge_reader *r, const char *member, char *pointer,
                     size_t size)
{
    snprintf(pointer, size, "%s/tasks/%zu/depends_on/%zu/%s", r->path, r->task, r->place,
             member);
}

static void mistake(const struct edge_reader *r, const char *member, enum item_code code,
                    const char *text, const char *name)
{
    char pointer[160];

    point_to(r, member, pointer, sizeof(pointer));
    invalid(r->err, pointer, code, "%s '%.100s'", text, name);
}

static void check_amount(const struct edge_reader *r, const char *member, double value)
{
    char pointer[160];

    if (isnan(value) || (value >= 0 && value <= DBL_MAX))
        return;
    point_to(r, member, pointer, sizeof(pointer));
    invalid(r->err, pointer, ITEM_OUT_OF_BOUNDS, "%g is not between 0 and %g", value,
            DBL_MAX);
}

/* One dependency; wrong ones are left out. */
static void read_edge(struct edge_reader *r, const struct name_index *ids, size_t child,
                      const struct workflow_dependency *d)
{
    struct workflow_problem *problem = r->problem;
    size_t parent = d->task_id ? name_index_find(ids, d->task_id) : NAME_NOT_FOUND;

    check_amount(r, "transfer_s", d->transfer_s);
    check_amount(r, "bytes", d->bytes);
    if (parent == NAME_NOT_FOUND) {
        mistake(r, "task_id", ITEM_UNKNOWN_ID, "this workflow has no task",
                d->task_id ? d->task_id : "");
        return;
    }
    parent += r->first_task;
    if (parent == child) {
        mistake(r, "task_id", ITEM_CYCLE, "a task cannot wait for itself:", d->task_id);
        return;
    }
    if (r->seen_by[parent] == child + 1) {
        mistake(r, "task_id", ITEM_DUPLICATE, "the task depends already on", d->task_id);
        return;
    }
    r->seen_by[parent] = child + 1;
    r->edges[problem->edge_count++] = (struct workflow_edge){
        parent, child, d->transfer_s,
        isnan(d->bytes) ? problem->tasks[parent]->output_bytes : d->bytes};
}

static void read_workflow(struct edge_reader *r, size_t w)
{
    const struct workflow *f = &r->problem->in->workflows[w];
    struct name_index ids;
    char path[40];

    name_index_create(&ids, f->task_count, r->problem->arena);
    r->path = workflow_path(r->problem->in, w, path, sizeof(path));
    for (size_t i = 0; i < f->task_count; i++)
        if (f->tasks[i].id)
            name_index_add(&ids, f->tasks[i].id, i);
    for (size_t i = 0; i < f->task_count; i++) {
        const struct workflow_task *t = &f->tasks[i];

        for (size_t k = 0; k < t->dependency_count; k++) {
            r->task = i;
            r->place = k;
            read_edge(r, &ids, r->first_task + i, &t->depends_on[k]);
        }
        r->parent_first[r->first_task + i + 1] = r->problem->edge_count;
    }
    r->first_task += f->task_count;
}

/* Children of each task, by task order: a counting sort of the edges. */
static void read_children(struct workflow_problem *problem)
{
    size_t n = problem->task_count;
    size_t *first = NEW(problem->arena, size_t, n + 2);
    size_t *edge = NEW(problem->arena, size_t, problem->edge_count);

    for (size_t e = 0; e < problem->edge_count; e++)
        first[problem->edges[e].parent + 2]++;
    for (size_t i = 2; i < n + 2; i++)
        first[i] += first[i - 1];
    for (size_t e = 0; e < problem->edge_count; e++)
        edge[first[problem->edges[e].parent + 1]++] = e;
    problem->child_first = first;
    problem->child_edge = edge;
}

static const char *name_of(const struct workflow_problem *problem, size_t task)
{
    return problem->tasks[task]->id ? problem->tasks[task]->id : "?";
}

/* Position of a task in its workflow. */
static size_t index_of(const struct workflow_problem *problem, size_t task)
{
    size_t first = task;

    while (first > 0 && problem->workflow_of[first - 1] == problem->workflow_of[task])
        first--;
    return task - first;
}

/* Names the tasks of a cycle, parents first. Every task that is left has a parent that
 * is left: going from one to the next comes back to a task seen before. */
static void report_cycle(const struct workflow_problem *problem, const size_t *waits_for,
                         size_t *walk, size_t *place, struct error *err)
{
    enum { TEXT_BYTES = 300, NAME_BYTES = 70 };
    char text[TEXT_BYTES] = "", path[40], pointer[120];
    size_t at = 0, length = 0, used;

    while (waits_for[at] == 0)
        at++;
    while (place[at] == 0) {
        size_t e = problem->parent_first[at];

        walk[length++] = at;
        place[at] = length;
        while (waits_for[problem->edges[e].parent] == 0)
            e++;
        at = problem->edges[e].parent;
    }
    used = (size_t)snprintf(text, sizeof(text), "%.60s -> ", name_of(problem, at));
    for (size_t k = length; k-- > place[at];) {
        if (used > TEXT_BYTES - NAME_BYTES) {
            snprintf(text + used, sizeof(text) - used, "... -> ");
            break;
        }
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%.60s -> ",
                                 name_of(problem, walk[k]));
    }
    snprintf(pointer, sizeof(pointer), "%s/tasks/%zu/depends_on",
             workflow_path(problem->in, problem->workflow_of[at], path, sizeof(path)),
             index_of(problem, at));
    invalid(err, pointer, ITEM_CYCLE, "these tasks wait for each other: %s%.60s", text,
            name_of(problem, at));
}

static void sort_tasks(struct workflow_problem *problem, struct error *err)
{
    size_t n = problem->task_count, head = 0, tail = 0;
    size_t *order = NEW(problem->arena, size_t, n);
    size_t *position = NEW(problem->arena, size_t, n);
    size_t *waits_for = NEW(problem->arena, size_t, n);

    problem->topological = order;
    problem->position = position;
    for (size_t i = 0; i < n; i++) {
        waits_for[i] = problem->parent_first[i + 1] - problem->parent_first[i];
        if (waits_for[i] == 0)
            order[tail++] = i;
    }
    while (head < tail) {
        size_t i = order[head];

        position[i] = head++;
        for (size_t k = problem->child_first[i]; k < problem->child_first[i + 1]; k++) {
            size_t child = problem->edges[problem->child_edge[k]].child;

            if (--waits_for[child] == 0)
                order[tail++] = child;
        }
    }
    if (tail < n) {
        memset(position, 0, n * sizeof(*position));
        report_cycle(problem, waits_for, order, position, err);
    }
}

void workflow_read_edges(struct workflow_problem *problem, struct error *err)
{
    struct edge_reader r = {.problem = problem, .err = err};
    size_t most = 0;

    for (size_t i = 0; i < problem->task_count; i++)
        most += problem->tasks[i]->dependency_count;
    r.edges = NEW(problem->arena, struct workflow_edge, most);
    r.parent_first = NEW(problem->arena, size_t, problem->task_count + 1);
    r.seen_by = NEW(problem->arena, size_t, problem->task_count);
    problem->edges = r.edges;
    problem->parent_first = r.parent_first;
    for (size_t w = 0; w < problem->in->workflow_count; w++)
        read_workflow(&r, w);
    read_children(problem);
    sort_tasks(problem, err);
}
