/* coallocation/launch.c - runners, and the plan by which one launches a placed job.
 *
 * Components that depend on each other start in topological order, of those that can go
 * next the largest first. The others start together at JST: behind a barrier if the
 * runner has one, each on its own if not. A job that needs a nameserver takes the least
 * used of the pool, or its own, where its largest component runs.
 *
 * Source: spec coallocation.md 13; 001_546dfcc428821807 3.3, 3.4 [L609-L680].
 * Deviation: the choice in the pool, dependencies of components and the limit of launches
 * at a time on a site are ours.
 */
#include "algorithms/coallocation/launch.h"

#include "models/base/heap.h"
#include "models/base/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const co_failure_default_names[] = {"restart_elsewhere", "restart_job",
                                                "restart_component", NULL};
const char *const co_order_rule_names[] = {"any", "simultaneous", "topological", NULL};

const struct co_runner co_runners[] = {
#define X(name, purpose, source, atomic, barrier, nameserver, capability, before, \
          failure, maps)                                                          \
    {#name,      purpose,    source, atomic,  barrier,                            \
     nameserver, capability, before, failure, maps},
    CO_RUNNERS(X)
#undef X
        {0},
};

#define X(name, purpose, source, atomic, barrier, nameserver, capability, before, \
          failure, maps)                                                          \
#name,
const char *const co_runner_names[] = {CO_RUNNERS(X) NULL};
#undef X

const struct co_runner *co_runner_find(const char *name)
{
    for (const struct co_runner *r = co_runners; r->name; r++)
        if (strcmp(r->name, name) == 0)
            return r;
    return NULL;
}

/* ---- order ---- */

struct sized {
    size_t processors, index;
};

static int compare_sized(const void *left, const void *right)
{
    const struct sized *x = left, *y = right;

    if (x->processors != y->processors)
        return x->processors > y->processors ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* Components by decreasing size. */
static void by_size(const struct co_launch_in *in, size_t *order, struct arena *a)
{
    struct sized *list = NEW(a, struct sized, in->component_count);

    for (size_t i = 0; i < in->component_count; i++)
        list[i] = (struct sized){in->components[i].processors, i};
    if (in->component_count)
        qsort(list, in->component_count, sizeof(*list), compare_sized);
    for (size_t i = 0; i < in->component_count; i++)
        order[i] = list[i].index;
}

/* Dependencies the other way round, and a heap of ranks: components that can go next. */
struct topology {
    size_t *open;  /* of each component: those before it that have not gone */
    size_t *first; /* where its followers begin, count + 1 */
    size_t *follower;
    size_t *rank; /* of each component by size */
    size_t *heap;
    size_t heap_count;
};

static void find_followers(const struct co_launch_in *in, struct topology *t,
                           struct arena *a)
{
    size_t count = in->component_count, edges = 0;
    size_t *next;

    for (size_t i = 0; i < count; i++)
        edges += in->components[i].after_count;
    t->open = NEW(a, size_t, count);
    t->first = NEW(a, size_t, count + 1);
    t->follower = NEW(a, size_t, edges);
    t->rank = NEW(a, size_t, count);
    t->heap = NEW(a, size_t, count);
    next = NEW(a, size_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        t->open[i] = in->components[i].after_count;
        for (size_t k = 0; k < in->components[i].after_count; k++)
            t->first[in->components[i].after[k] + 1]++;
    }
    for (size_t i = 0; i < count; i++)
        t->first[i + 1] += t->first[i];
    memcpy(next, t->first, (count + 1) * sizeof(*next));
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < in->components[i].after_count; k++)
            t->follower[next[in->components[i].after[k]]++] = i;
}

static bool rank_before(const size_t *a, const size_t *b)
{
    return *a < *b;
}
HEAP(ranks, size_t, rank_before)

/* Puts the components of order[], by size, in an order in which they can go. */
static enum error_code by_dependency(const struct co_launch_in *in, size_t *order,
                                     struct arena *a, struct error *err)
{
    size_t count = in->component_count, done = 0;
    size_t *sorted = NEW(a, size_t, count);
    struct topology t = {0};

    find_followers(in, &t, a);
    for (size_t i = 0; i < count; i++)
        t.rank[order[i]] = i;
    for (size_t i = 0; i < count; i++)
        if (t.open[i] == 0)
            ranks_push(t.heap, &t.heap_count, t.rank[i]);
    while (t.heap_count) {
        size_t component = order[ranks_pop(t.heap, &t.heap_count)];

        sorted[done++] = component;
        for (size_t k = t.first[component]; k < t.first[component + 1]; k++)
            if (--t.open[t.follower[k]] == 0)
                ranks_push(t.heap, &t.heap_count, t.rank[t.follower[k]]);
    }
    for (size_t i = 0; i < count && done < count; i++) {
        char pointer[64];

        if (t.open[i] == 0)
            continue;
        snprintf(pointer, sizeof(pointer), "/components/%zu/after", i);
        return invalid(err, pointer, ITEM_CYCLE, "components wait for each other");
    }
    memcpy(order, sorted, count * sizeof(*order));
    return OK;
}

static bool has_dependencies(const struct co_launch_in *in)
{
    for (size_t i = 0; i < in->component_count; i++)
        if (in->components[i].after_count)
            return true;
    return false;
}

/* ---- waves ---- */

/* Launches of a site go in groups of the limit, in the order of the plan. */
static void fill_waves(const struct co_launch_in *in, const size_t *order, size_t *wave,
                       struct arena *a)
{
    struct name_index sites;
    size_t *launched = NEW(a, size_t, in->component_count);

    if (in->max_launches_per_site == 0)
        return;
    name_index_create(&sites, in->component_count, a);
    for (size_t i = 0; i < in->component_count; i++) {
        size_t component = order[i];
        size_t site =
            name_index_add(&sites, in->components[component].site_id, component);

        if (site == NAME_NOT_FOUND)
            site = component;
        wave[component] = launched[site]++ / in->max_launches_per_site;
    }
}

/* ---- nameserver ---- */

static void choose_nameserver(const struct co_launch_in *in, struct co_launch_plan *out)
{
    const struct co_nameserver *pool = in->nameservers;
    size_t best = CO_LAUNCH_NONE;

    out->has_nameserver = true;
    for (size_t i = 0; in->pooled && i < in->nameserver_count; i++)
        if (best == CO_LAUNCH_NONE || pool[i].job_count < pool[best].job_count ||
            (pool[i].job_count == pool[best].job_count &&
             strcmp(pool[i].id, pool[best].id) < 0))
            best = i;
    out->nameserver = best;
    out->nameserver_pooled = best != CO_LAUNCH_NONE;
    out->nameserver_site_id = best == CO_LAUNCH_NONE
                                  ? in->components[out->order[0]].site_id
                                  : pool[best].site_id;
}

/* ---- phases ---- */

#define X(name) #name,
const char *const co_pre_phase_names[] = {CO_PRE_PHASES(X) NULL};
const char *const co_post_phase_names[] = {CO_POST_PHASES(X) NULL};
#undef X

static void fill_phases(const struct co_launch_in *in, struct co_launch_plan *out,
                        struct arena *a)
{
    const char **before = NEW(a, const char *, 3), **after = NEW(a, const char *, 3);

    before[out->pre_phase_count++] = co_pre_phase_names[CO_BEFORE_create_sandbox];
    if (in->stages_files)
        before[out->pre_phase_count++] = co_pre_phase_names[CO_BEFORE_stage_in];
    if (out->has_nameserver && !out->nameserver_pooled)
        before[out->pre_phase_count++] = co_pre_phase_names[CO_BEFORE_start_nameserver];
    if (in->stages_files)
        after[out->post_phase_count++] = co_post_phase_names[CO_AFTER_stage_out];
    if (out->has_nameserver && !out->nameserver_pooled)
        after[out->post_phase_count++] = co_post_phase_names[CO_AFTER_stop_nameserver];
    after[out->post_phase_count++] = co_post_phase_names[CO_AFTER_cleanup];
    out->pre_phase = before;
    out->post_phase = after;
}

enum error_code co_plan_launch(const struct co_launch_in *in, struct co_launch_plan *out,
                               struct arena *a, struct error *err)
{
    bool dependent = has_dependencies(in);
    size_t *order = NEW(a, size_t, in->component_count);
    size_t *wave = NEW(a, size_t, in->component_count);
    struct co_launch_plan plan = {.launch_at_s = in->jst_s, .order = order, .wave = wave};

    by_size(in, order, a);
    if (dependent)
        TRY(by_dependency(in, order, a, err));
    fill_waves(in, order, wave, a);
    plan.barrier = in->runner->barrier && !dependent;
    plan.nameserver = CO_LAUNCH_NONE;
    plan.rule = CO_ORDER_ANY;
    if (dependent)
        plan.rule = CO_ORDER_TOPOLOGICAL;
    else if (plan.barrier)
        plan.rule = CO_ORDER_SIMULTANEOUS;
    if (in->runner->joins_nameserver)
        choose_nameserver(in, &plan);
    fill_phases(in, &plan, a);
    *out = plan;
    return OK;
}
