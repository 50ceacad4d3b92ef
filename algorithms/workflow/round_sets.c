/* workflow/round_sets.c - parent sets of a graph.
 *
 * The parent set of a task is all tasks that it depends on. Tasks with the same parents
 * share one; sets may overlap. Final tasks are the parents of a sink that is not there.
 *
 * Source: spec workflows.md 4; 000_168dd5aef5075332.txt [L1653-L1665].
 * Deviation: the source wants members to be idle as well, against its own example.
 */
#include "algorithms/workflow/round_plan.h"

#include <stdlib.h>
#include <string.h>

struct graph {
    const size_t *parent_first, *parents;
    size_t task_count;
    const size_t *workflow_of, *workflow_rank;
};

struct builder {
    struct graph graph;
    size_t *order;  /* tasks by arrival of their workflow */
    size_t *set_of; /* of each task, as a child; WF_NONE: no parents */
    size_t *table;  /* set + 1 by hash of its members; 0: free */
    size_t slots;   /* a power of two */
    struct workflow_plain_set *sets;
    size_t set_count;
    struct arena *arena;
    struct error *err;
};

struct ranked {
    size_t rank, task;
};

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *l = left, *r = right;

    if (l->rank != r->rank)
        return l->rank < r->rank ? -1 : 1;
    return l->task < r->task ? -1 : l->task > r->task;
}

static void sort_tasks(struct builder *b)
{
    const struct graph *g = &b->graph;
    struct ranked *ranked = NEW(b->arena, struct ranked, g->task_count);

    b->order = NEW(b->arena, size_t, g->task_count);
    for (size_t i = 0; i < g->task_count; i++)
        ranked[i] = (struct ranked){g->workflow_rank[g->workflow_of[i]], i};
    qsort(ranked, g->task_count, sizeof(*ranked), compare_ranked);
    for (size_t i = 0; i < g->task_count; i++)
        b->order[i] = ranked[i].task;
}

static size_t hash_members(const size_t *members, size_t count)
{
    uint64_t state = count;

    for (size_t k = 0; k < count; k++) {
        state ^= members[k];
        state = splitmix64(&state);
    }
    return (size_t)state;
}

/* The set of those members, a new one if there is none. */
static size_t set_with(struct builder *b, const size_t *members, size_t count,
                       size_t workflow)
{
    size_t at = hash_members(members, count) & (b->slots - 1);

    for (; b->table[at] != 0; at = (at + 1) & (b->slots - 1)) {
        const struct workflow_plain_set *s = &b->sets[b->table[at] - 1];

        if (s->member_count == count &&
            memcmp(s->members, members, count * sizeof(*members)) == 0)
            return b->table[at] - 1;
    }
    b->sets[b->set_count] = (struct workflow_plain_set){
        .workflow = workflow, .members = members, .member_count = count};
    b->table[at] = ++b->set_count;
    return b->set_count - 1;
}

/* The tasks of order[first ... end), all of a workflow, that have no children. */
static void add_final(struct builder *b, size_t first, size_t end,
                      const bool *has_children)
{
    size_t *members = NEW(b->arena, size_t, end - first);
    size_t count = 0;

    for (size_t k = first; k < end; k++)
        if (!has_children[b->order[k]])
            members[count++] = b->order[k];
    b->sets[b->set_count++] = (struct workflow_plain_set){
        .workflow = b->graph.workflow_of[b->order[first]],
        .members = members,
        .member_count = count,
    };
}

static void add_sets(struct builder *b, bool final_sets, const bool *has_children)
{
    const struct graph *g = &b->graph;

    for (size_t k = 0, first = 0; k < g->task_count; k++) {
        size_t i = b->order[k];
        size_t count = g->parent_first[i + 1] - g->parent_first[i];
        bool last = k + 1 == g->task_count ||
                    g->workflow_of[b->order[k + 1]] != g->workflow_of[i];

        b->set_of[i] = WF_NONE;
        if (count > 0)
            b->set_of[i] =
                set_with(b, g->parents + g->parent_first[i], count, g->workflow_of[i]);
        if (last && final_sets)
            add_final(b, first, k + 1, has_children);
        if (last)
            first = k + 1;
    }
}

static void list_children(struct builder *b)
{
    size_t tasks = b->graph.task_count, used = 0;
    size_t *children = NEW(b->arena, size_t, tasks);

    for (size_t i = 0; i < tasks; i++)
        if (b->set_of[i] != WF_NONE)
            b->sets[b->set_of[i]].child_count++;
    for (size_t p = 0; p < b->set_count; p++) {
        b->sets[p].children = children + used;
        used += b->sets[p].child_count;
        b->sets[p].child_count = 0;
    }
    for (size_t i = 0; i < tasks; i++)
        if (b->set_of[i] != WF_NONE) {
            struct workflow_plain_set *s = &b->sets[b->set_of[i]];

            children[(size_t)(s->children - children) + s->child_count++] = i;
        }
}

static void mark_roots(struct builder *b, bool *free_root)
{
    const size_t *first = b->graph.parent_first;

    for (size_t i = 0; i < b->graph.task_count; i++)
        free_root[i] = first[i] == first[i + 1];
    for (size_t p = 0; p < b->set_count; p++) {
        struct workflow_plain_set *s = &b->sets[p];

        s->only_roots = true;
        for (size_t k = 0; k < s->member_count; k++)
            s->only_roots &= first[s->members[k]] == first[s->members[k] + 1];
        for (size_t k = 0; k < s->member_count && !s->only_roots; k++)
            free_root[s->members[k]] = false;
    }
}

void workflow_round_sets(const size_t *parent_first, const size_t *parents,
                         size_t task_count, const size_t *workflow_of,
                         const size_t *workflow_rank, bool final_sets,
                         struct workflow_plain_set **sets, size_t *set_count,
                         bool *free_root, struct arena *a, struct error *err)
{
    struct builder b = {
        .graph = {parent_first, parents, task_count, workflow_of, workflow_rank},
        .set_of = NEW(a, size_t, task_count),
        .sets = NEW(a, struct workflow_plain_set, 2 * task_count),
        .slots = 16,
        .arena = a,
        .err = err,
    };
    bool *has_children = NEW(a, bool, task_count);

    while (b.slots < 2 * task_count)
        b.slots *= 2;
    b.table = NEW(a, size_t, b.slots);
    for (size_t k = 0; task_count > 0 && k < parent_first[task_count]; k++)
        has_children[parents[k]] = true;
    sort_tasks(&b);
    add_sets(&b, final_sets, has_children);
    list_children(&b);
    mark_roots(&b, free_root);
    *sets = b.sets;
    *set_count = b.set_count;
}
