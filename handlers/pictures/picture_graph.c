/* picture_graph.c - workflows with their schedule as a graph, in Graphviz' DOT.
 *
 * A node is a task: its id, where and when it runs; its colour says where. Tasks on the
 * chain that ends last have a thick border, tasks without a place a dashed one. Edges
 * have what they carry, as long as there are at most LABELS_MAX of them.
 */
#include "handlers/pictures/pictures.h"

#include "models/base/names.h"

#include <string.h>

enum {
    LABELS_MAX = 400,
    COLOUR_COUNT = 8,
    PRINT_STEPS = 512 /* what it costs to print a task or an edge, about */
};

/* Dark writing stands out on each. */
static const char *const colours[COLOUR_COUNT] = {
    "#a9c6ea", "#f0bd93", "#a5d8b5", "#eba9b5",
    "#cbbce9", "#9fd8e0", "#dcc690", "#e6b3d6",
};

struct graph {
    const struct workflow_in *in;
    const struct workflow_out *plan;
    struct text_buffer *b;
    struct arena *arena;
    struct error *err;
    struct name_index places;    /* of names to plan->schedule */
    struct name_index critical;  /* ids */
    struct name_index resources; /* ids to numbers, as they come */
    size_t edge_count;
};

/* Tasks of different workflows may have one id. */
static const char *full_name(const struct graph *g, const char *workflow_id,
                             const char *task_id)
{
    return g->in->workflow_count > 1 && workflow_id
               ? arena_printf(g->arena, "%s\n%s", workflow_id, task_id)
               : task_id;
}

/* A text in quotes; a line end in it is one of the label's. */
static void print_quoted(const char *text, struct text_buffer *b)
{
    text_add(b, "\"", 1);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            text_add(b, "\\", 1);
        if (*text == '\n')
            text_add(b, "\\n", 2);
        else if ((unsigned char)*text < 0x20)
            text_add(b, " ", 1);
        else
            text_add(b, text, 1);
    }
    text_add(b, "\"", 1);
}

static const char *bytes_text(double bytes, struct arena *a)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    size_t unit = 0;

    while (bytes >= 1000 && unit < 5) {
        bytes /= 1000;
        unit++;
    }
    return arena_printf(a, "%.3g %s", bytes, units[unit]);
}

static void index_plan(struct graph *g)
{
    const struct workflow_out *plan = g->plan;

    name_index_create(&g->places, plan->schedule_count, g->arena);
    name_index_create(&g->critical, plan->critical_count, g->arena);
    name_index_create(&g->resources, g->in->snapshot->resource_count, g->arena);
    for (size_t i = 0; i < plan->schedule_count; i++) {
        const struct workflow_placement *p = &plan->schedule[i];
        const char *name = full_name(g, p->workflow_id, p->task_id);

        name_index_add(&g->places, name, i);
    }
    for (size_t i = 0; i < plan->critical_count; i++)
        name_index_add(&g->critical, plan->critical_tasks[i], i);
    for (size_t i = 0; i < g->in->snapshot->resource_count; i++)
        name_index_add(&g->resources, g->in->snapshot->resources[i].id, i);
}

static enum error_code print_task(const struct graph *g, const struct workflow *w,
                                  const struct workflow_task *task)
{
    enum error_code code = json_go_on(PRINT_STEPS, g->err);
    const char *name = full_name(g, w->id, task->id), *label;
    size_t at = name_index_find(&g->places, name);
    const struct workflow_placement *p =
        at == NAME_NOT_FOUND ? NULL : &g->plan->schedule[at];
    size_t colour =
        p && p->resource_id ? name_index_find(&g->resources, p->resource_id) : 0;

    TRY(code);
    label = p ? arena_printf(g->arena, "%s\n%s\n%.6g to %.6g s", task->id, p->resource_id,
                             p->start_s, p->finish_s)
              : arena_printf(g->arena, "%s\nno place", task->id);
    text_addf(g->b, "  ");
    print_quoted(name, g->b);
    text_addf(g->b, " [label=");
    print_quoted(label, g->b);
    if (p)
        text_addf(g->b, ", fillcolor=\"%s\"", colours[colour % COLOUR_COUNT]);
    else
        text_addf(g->b, ", style=\"rounded,dashed\"");
    if (name_index_find(&g->critical, task->id) != NAME_NOT_FOUND)
        text_addf(g->b, ", penwidth=2.5");
    text_addf(g->b, "];\n");
    return OK;
}

static enum error_code print_edges(const struct graph *g, const struct workflow *w,
                                   const struct workflow_task *task)
{
    for (size_t i = 0; i < task->dependency_count; i++) {
        const struct workflow_dependency *d = &task->depends_on[i];
        enum error_code code = json_go_on(PRINT_STEPS, g->err);
        const char *from = full_name(g, w->id, d->task_id);
        const char *to = full_name(g, w->id, task->id), *label = NULL;

        TRY(code);
        if (g->edge_count <= LABELS_MAX && d->transfer_s > 0)
            label = arena_printf(g->arena, "%.6g s", d->transfer_s);
        else if (g->edge_count <= LABELS_MAX && d->bytes > 0)
            label = bytes_text(d->bytes, g->arena);
        text_addf(g->b, "  ");
        print_quoted(from, g->b);
        text_addf(g->b, " -> ");
        print_quoted(to, g->b);
        if (label) {
            text_addf(g->b, " [label=");
            print_quoted(label, g->b);
            text_addf(g->b, "]");
        }
        text_addf(g->b, ";\n");
    }
    return OK;
}

static enum error_code print_graph(struct graph *g)
{
    const struct workflow_in *in = g->in;

    for (size_t w = 0; w < in->workflow_count; w++)
        for (size_t i = 0; i < in->workflows[w].task_count; i++)
            g->edge_count += in->workflows[w].tasks[i].dependency_count;
    text_addf(g->b,
              "digraph workflow {\n"
              "  // %s: makespan %.10g s\n"
              "  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", "
              "fontsize=11, color=\"#60666e\"];\n"
              "  edge [fontname=\"sans-serif\", fontsize=9, color=\"#808690\", "
              "fontcolor=\"#808690\"];\n",
              g->plan->algorithm, g->plan->objective.makespan_s);
    if (g->edge_count > LABELS_MAX)
        text_addf(g->b, "  // %zu edges: without what they carry\n", g->edge_count);
    for (size_t w = 0; w < in->workflow_count; w++)
        for (size_t i = 0; i < in->workflows[w].task_count; i++)
            TRY(print_task(g, &in->workflows[w], &in->workflows[w].tasks[i]));
    for (size_t w = 0; w < in->workflow_count; w++)
        for (size_t i = 0; i < in->workflows[w].task_count; i++)
            TRY(print_edges(g, &in->workflows[w], &in->workflows[w].tasks[i]));
    text_addf(g->b, "}\n");
    text_end(g->b);
    return OK;
}

enum error_code picture_graph(struct request *rq, const struct workflow_in *in,
                              const struct workflow_out *plan)
{
    struct text_buffer b = {.arena = rq->arena};
    struct graph g = {
        .in = in, .plan = plan, .b = &b, .arena = rq->arena, .err = rq->err};

    if (request_answer_form(rq) != ANSWER_GRAPH)
        return OK;
    index_plan(&g);
    TRY(print_graph(&g));
    request_answer_as(rq, ANSWER_GRAPH, b.data, b.length);
    return OK;
}
