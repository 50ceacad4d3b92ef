/* workflow/given.c - schedules that requests bring: names to numbers. */
#include "algorithms/workflow/given.h"

#include "models/base/names.h"

#include <stdio.h>

struct reader {
    const struct workflow_problem *problem;
    struct workflow_given_rows *out;
    const char *at;
    bool assessed;
    struct name_index workflows, resources;
    struct name_index *tasks; /* by workflow, to numbers of tasks */
    struct arena *a;
    struct error *err;
};

static void index_names(struct reader *r)
{
    const struct workflow_in *in = r->problem->in;
    size_t task = 0;

    r->tasks = NEW(r->a, struct name_index, in->workflow_count);
    name_index_create(&r->workflows, in->workflow_count, r->a);
    name_index_create(&r->resources, in->snapshot->resource_count, r->a);
    for (size_t k = 0; k < in->snapshot->resource_count; k++)
        name_index_add(&r->resources, in->snapshot->resources[k].id, k);
    for (size_t w = 0; w < in->workflow_count; w++) {
        if (in->workflows[w].id)
            name_index_add(&r->workflows, in->workflows[w].id, w);
        name_index_create(&r->tasks[w], in->workflows[w].task_count, r->a);
        for (size_t i = 0; i < in->workflows[w].task_count; i++, task++)
            name_index_add(&r->tasks[w], in->workflows[w].tasks[i].id, task);
    }
}

__attribute__((format(printf, 5, 6))) static void mistake(const struct reader *r,
                                                          size_t row, const char *member,
                                                          enum item_code code,
                                                          const char *format, ...)
{
    char pointer[80], detail[192];
    va_list args;

    va_start(args, format);
    vsnprintf(detail, sizeof(detail), format, args);
    va_end(args);
    snprintf(pointer, sizeof(pointer), "%s/%zu/%s", r->at, row, member);
    invalid(r->err, pointer, code, "%s", detail);
}

static void unknown(const struct reader *r, size_t row, const char *member,
                    const char *what, const char *id)
{
    mistake(r, row, member, id ? ITEM_UNKNOWN_ID : ITEM_REQUIRED, "no %s '%.100s'", what,
            id ? id : "");
}

static size_t find_task(const struct reader *r, size_t row,
                        const struct workflow_given *g)
{
    size_t workflow = 0, task;

    if (g->workflow_id)
        workflow = name_index_find(&r->workflows, g->workflow_id);
    else if (r->problem->in->workflow_count != 1)
        workflow = NAME_NOT_FOUND;
    if (workflow == NAME_NOT_FOUND) {
        unknown(r, row, "workflow_id", "workflow", g->workflow_id);
        return WORKFLOW_NONE;
    }
    task = g->task_id ? name_index_find(&r->tasks[workflow], g->task_id) : NAME_NOT_FOUND;
    if (task == NAME_NOT_FOUND) {
        unknown(r, row, "task_id", "task", g->task_id);
        return WORKFLOW_NONE;
    }
    return task;
}

static void check_times(const struct reader *r, size_t row,
                        const struct workflow_given *g)
{
    bool missing = isnan(g->start_s);

    if (missing ? r->assessed : !(fabs(g->start_s) <= WORKFLOW_LONGEST_S))
        mistake(r, row, "start_s", missing ? ITEM_REQUIRED : ITEM_OUT_OF_BOUNDS,
                "%g is not a time; only a task that has begun may have none", g->start_s);
    if (r->assessed && !isnan(g->finish_s) && !(fabs(g->finish_s) <= WORKFLOW_LONGEST_S))
        mistake(r, row, "finish_s", ITEM_OUT_OF_BOUNDS, "%g is not a time", g->finish_s);
}

/* Where a task on several nodes runs, by number; what is wrong with them is a mistake.
 * The resource of the row, where its output is, is the first of the snapshot. */
static void read_nodes(struct reader *r, size_t row, const struct workflow_given *g,
                       struct workflow_run *run)
{
    uint64_t nodes = r->problem->tasks[run->task]->nodes;
    size_t *list = NEW(r->a, size_t, g->resource_id_count), first = WORKFLOW_NONE;
    bool named = false;

    if (nodes > 1 && g->resource_id_count == 0)
        mistake(r, row, "resource_ids", ITEM_REQUIRED,
                "the task runs on %zu nodes: name them all", (size_t)nodes);
    if (nodes <= 1 && g->resource_id_count > 1)
        mistake(r, row, "resource_ids", ITEM_OUT_OF_BOUNDS, "the task runs on one node");
    for (size_t k = 0; k < g->resource_id_count; k++) {
        const char *id = g->resource_ids[k] ? g->resource_ids[k] : "";
        size_t at = name_index_find(&r->resources, id);
        char member[40];

        if (at == NAME_NOT_FOUND) {
            snprintf(member, sizeof(member), "resource_ids/%zu", k);
            unknown(r, row, member, "resource", id);
            return;
        }
        list[k] = at;
        first = at < first ? at : first;
        named = named || at == run->resource;
    }
    if (g->resource_id && g->resource_id_count && !named)
        mistake(r, row, "resource_id", ITEM_CONFLICT,
                "it is none of resource_ids; leave it out");
    if (nodes <= 1 || g->resource_id_count == 0)
        return;
    run->resource = first;
    run->resources = list;
    run->resource_count = g->resource_id_count;
}

/* The longest on its nodes; 0: it cannot run on one of them. */
static double run_time_s(const struct reader *r, const struct workflow_run *run)
{
    double longest_s = 0;

    for (size_t k = 0; k == 0 || k < run->resource_count; k++) {
        size_t at = run->resource_count ? run->resources[k] : run->resource;
        size_t first = r->out->first[at];
        double time_s = first == WORKFLOW_NONE
                            ? HUGE_VAL
                            : workflow_time_s(r->problem, run->task, first);

        if (!(time_s < HUGE_VAL))
            return 0;
        longest_s = fmax(longest_s, time_s);
    }
    return longest_s;
}

/* Of the row's only resource, or of the first that it names. */
static size_t find_resource(const struct reader *r, const struct workflow_given *g)
{
    const char *id = g->resource_id         ? g->resource_id
                     : g->resource_id_count ? g->resource_ids[0]
                                            : NULL;

    return id ? name_index_find(&r->resources, id) : NAME_NOT_FOUND;
}

static void read_row(struct reader *r, size_t row, const struct workflow_given *g)
{
    struct workflow_given_rows *out = r->out;
    size_t task = find_task(r, row, g);
    size_t resource = find_resource(r, g);
    struct workflow_run *run = &out->runs[out->run_count];
    bool begun = task != WORKFLOW_NONE && !workflow_is_open(r->problem, task);

    out->begun_count += begun;
    if (resource == NAME_NOT_FOUND && (g->resource_id || !begun))
        unknown(r, row,
                g->resource_id || !g->resource_id_count ? "resource_id"
                                                        : "resource_ids/0",
                "resource",
                g->resource_id         ? g->resource_id
                : g->resource_id_count ? g->resource_ids[0]
                                       : NULL);
    if (task == WORKFLOW_NONE || resource == NAME_NOT_FOUND || begun)
        return;
    check_times(r, row, g);
    out->row[out->run_count] = row;
    *run =
        (struct workflow_run){.task = task, .resource = resource, .start_s = g->start_s};
    read_nodes(r, row, g, run);
    run->finish_s = r->assessed && !isnan(g->finish_s) ? g->finish_s
                                                       : g->start_s + run_time_s(r, run);
    if (!out->run_of[task])
        out->run_of[task] = out->run_count + 1;
    else if (!r->assessed)
        mistake(r, row, "task_id", ITEM_DUPLICATE, "'%.100s' is also in row %zu",
                g->task_id, out->row[out->run_of[task] - 1]);
    out->run_count++;
}

enum error_code workflow_given_read(const struct workflow_problem *problem,
                                    const struct workflow_given *given,
                                    size_t given_count, const char *at, bool assessed,
                                    struct workflow_given_rows *out, struct arena *a,
                                    struct error *err)
{
    size_t resources = problem->in->snapshot->resource_count, mistakes = err->item_count;
    struct reader r = {.problem = problem,
                       .out = out,
                       .at = at,
                       .assessed = assessed,
                       .a = a,
                       .err = err};

    *out = (struct workflow_given_rows){0};
    out->runs = NEW(a, struct workflow_run, given_count);
    out->row = NEW(a, size_t, given_count);
    out->run_of = NEW(a, size_t, problem->task_count);
    out->first = NEW(a, size_t, resources);
    for (size_t k = 0; k < resources; k++)
        out->first[k] = WORKFLOW_NONE;
    for (size_t p = problem->processor_count; p-- > 0;)
        out->first[problem->processors[p].resource] = p;
    index_names(&r);
    for (size_t i = 0; i < given_count; i++)
        read_row(&r, i, &given[i]);
    return err->item_count > mistakes ? ERR_INVALID : OK;
}
