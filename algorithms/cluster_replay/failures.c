/* cluster_replay/failures.c - nodes fail and are repaired.
 *
 * Up for a draw of the law, down for another, in turns, in the node's wall time; each
 * node draws from streams of its own, so that all policies meet the same failures.
 * Outages that are given hold a node down besides. In a failure group a failure takes
 * others with it: such a one takes the place of the node's own next failure.
 *
 * The warm-up plays the same alone for some time before the run, without bursts.
 */
#include "algorithms/cluster_replay/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME_MAX_BYTES = 256, CYCLES_MAX = 100000 };

static const struct replay_nodes *group_of(const struct engine *e, const struct node *n)
{
    return e->classes[n->klass].of;
}

static int64_t draw_up_ms(struct engine *e, struct node *n)
{
    const struct replay_nodes *g = group_of(e, n);
    double slowed = g->burst == REPLAY_NONE ? 1 : e->in->bursts[g->burst].slowed;
    int64_t ms =
        kernel_ms(slowed * distribution_draw(g->failure, &n->failure, &n->failure_at));

    return ms > 0 ? ms : 1;
}

static int64_t draw_down_ms(struct engine *e, struct node *n)
{
    double s = distribution_draw(group_of(e, n)->restore, &n->restore, &n->restore_at);

    return kernel_ms(fmax(0, s));
}

static void post(struct engine *e, struct node *n, int64_t after_ms, enum event_kind kind)
{
    n->version++;
    kernel_post(&e->kernel, later(e->kernel.now_ms, after_ms), kind, n, n->version);
}

static void go_down(struct engine *e, struct node *n)
{
    uint32_t number = e->classes[n->klass].nodes[n->local];

    if (n->down_depth++ > 0)
        return;
    n->failures++;
    n->failed_ms = n->down_since_ms = e->kernel.now_ms;
    e->out->totals.failures++;
    e->freed = e->changed = true; /* the first of the queue may have to wait longer */
    nodes_down(e, number);
    if (e->rules->level_count)
        e->failed_at = rng_uniform(&n->class);
    while (n->run_count)
        life_fail(e, n->runs[n->run_count - 1], number);
}

static void go_up(struct engine *e, struct node *n)
{
    if (--n->down_depth > 0)
        return;
    n->down_sum_ms += e->kernel.now_ms - n->down_since_ms;
    n->up_since_ms = e->kernel.now_ms;
    e->freed = e->changed = true;
    nodes_up(e, e->classes[n->klass].nodes[n->local]);
}

/* ---- the begin ---- */

static void begin_warm(struct engine *e, struct node *n)
{
    int64_t at_ms = -e->in->warm_up_ms;

    for (size_t i = 0; i < CYCLES_MAX; i++) {
        int64_t up_ms = at_ms;

        at_ms += draw_up_ms(e, n);
        if (at_ms > 0 || at_ms < up_ms) {
            n->up_since_ms = up_ms;
            post(e, n, at_ms, EVENT_FAIL);
            return;
        }
        at_ms += draw_down_ms(e, n);
        if (at_ms > 0) {
            n->down_depth = 1;
            n->down_since_ms = 0;
            nodes_down(e, e->classes[n->klass].nodes[n->local]);
            post(e, n, at_ms, EVENT_RESTORE);
            return;
        }
        budget_step(e->budget, 16);
    }
    post(e, n, draw_up_ms(e, n), EVENT_FAIL);
}

static void name_streams(struct engine *e, struct node *n, const char *id, size_t number)
{
    char name[NAME_MAX_BYTES];

    snprintf(name, sizeof(name), "failure.%s.%zu", id, number);
    n->failure = rng_stream(e->in->seed, name);
    snprintf(name, sizeof(name), "restore.%s.%zu", id, number);
    n->restore = rng_stream(e->in->seed, name);
    snprintf(name, sizeof(name), "burst.%s.%zu", id, number);
    n->burst = rng_stream(e->in->seed, name);
}

/* What its failures leave of images, the same whatever levels there are. */
static void name_class_stream(struct engine *e, struct node *n, const char *id,
                              size_t number)
{
    char name[NAME_MAX_BYTES];

    snprintf(name, sizeof(name), "class.%s.%zu", id, number);
    n->class = rng_stream(e->in->seed, name);
}

static int by_begin(const void *left, const void *right)
{
    const struct replay_outage *l = left, *r = right;

    if (l->down_ms != r->down_ms)
        return l->down_ms < r->down_ms ? -1 : 1;
    return (l->node > r->node) - (l->node < r->node);
}

static int64_t begin_of(const struct replay_outage *o)
{
    return o->down_ms > 0 ? o->down_ms : 0;
}

/* Outages of one instant are one event. */
static void post_outage(struct engine *e)
{
    size_t i = e->next_outage;

    if (i < e->outage_count)
        kernel_post(&e->kernel, begin_of(&e->outages[i]), EVENT_FAIL, NULL, (uint32_t)i);
}

/* Those that the run meets, by their begins. */
static void list_outages(struct engine *e)
{
    e->outages = NEW(e->a, struct replay_outage, e->in->outage_count);
    for (size_t i = 0; i < e->in->outage_count; i++) {
        const struct replay_outage *o = &e->in->outages[i];

        if (o->up_ms > 0 && o->up_ms > o->down_ms)
            e->outages[e->outage_count++] = *o;
    }
    if (e->outage_count)
        qsort(e->outages, e->outage_count, sizeof(*e->outages), by_begin);
    post_outage(e);
}

void failures_begin(struct engine *e)
{
    size_t number = 0;

    for (size_t g = 0; g < e->in->group_count; g++)
        for (size_t i = 0; i < e->in->groups[g].count; i++, number++) {
            struct node *n = &e->nodes[number];

            if (e->rules->level_count)
                name_class_stream(e, n, e->in->groups[g].id, i);
            if (!e->in->groups[g].failure)
                continue;
            name_streams(e, n, e->in->groups[g].id, i);
            if (e->in->warm_up_ms > 0)
                begin_warm(e, n);
            else
                post(e, n, draw_up_ms(e, n), EVENT_FAIL);
            budget_step(e->budget, 64);
        }
    list_outages(e);
}

/* ---- on the way ---- */

static void burst(struct engine *e, struct node *n)
{
    uint32_t group = group_of(e, n)->burst;
    const struct replay_burst *b;

    if (group == REPLAY_NONE || n->by_burst)
        return;
    b = &e->in->bursts[group];
    for (size_t i = 0; i < e->node_count; i++) {
        struct node *other = &e->nodes[i];

        if (other == n || other->down_depth || !group_of(e, other)->failure ||
            group_of(e, other)->burst != group)
            continue;
        if (rng_uniform(&n->burst) < b->probability) {
            other->by_burst = true;
            post(e, other, kernel_ms(b->delay_s * rng_uniform(&n->burst)), EVENT_FAIL);
        }
        budget_step(e->budget, 4);
    }
}

void failures_on_fail(struct engine *e, struct node *n)
{
    go_down(e, n);
    post(e, n, draw_down_ms(e, n), EVENT_RESTORE);
    burst(e, n);
    n->by_burst = false;
}

void failures_on_restore(struct engine *e, struct node *n)
{
    go_up(e, n);
    post(e, n, draw_up_ms(e, n), EVENT_FAIL);
}

void failures_on_outage(struct engine *e, size_t outage, bool down)
{
    if (!down) {
        go_up(e, &e->nodes[e->outages[outage].node]);
        return;
    }
    for (; outage < e->outage_count && begin_of(&e->outages[outage]) <= e->kernel.now_ms;
         outage++) {
        const struct replay_outage *o = &e->outages[outage];

        go_down(e, &e->nodes[o->node]);
        if (o->up_ms < REPLAY_NEVER)
            kernel_post(&e->kernel, o->up_ms, EVENT_RESTORE, NULL, (uint32_t)outage);
    }
    e->next_outage = outage;
    post_outage(e);
}
