/* simulation/failures.c - resources fail and come back.
 *
 * Up for X, down for Y, in turns; each from its own stream, so that no policy changes
 * when a resource fails. A trace says the same by intervals. In a failure group a
 * failure may bring others: such a one replaces the next of the resource's own.
 *
 * The stationary start plays the same process alone for some time before time 0, O(1) a
 * failure and no event; where failures are frequent, for a thousand of them.
 *
 * Source: spec simulator.md 7.1; fault-tolerance.md 2; 000_168dd5aef5075332 3 [L1141]
 * and 4.3.1 [L1321-L1351].
 * Deviation: bursts do not take part in what goes before time 0.
 */
#include "algorithms/simulation/parts.h"

#include <math.h>
#include <stdlib.h>

enum { CYCLES = 1000, CYCLES_MAX = 100000 }; /* before time 0: on average, and at most */

static double draw_up_s(struct host *h)
{
    double up_s = distribution_draw(&h->group->failure, &h->failure, &h->failure_at);

    return fmax(1e-3, h->slowed * up_s);
}

static double draw_down_s(struct host *h)
{
    return fmax(0, distribution_draw(&h->group->restore, &h->restore, &h->restore_at));
}

const char *const sim_burst_rate_names[] = {"kept", "added", NULL};

double failures_slowed(const struct sim *s, const struct host *h)
{
    const struct sim_scenario *c = s->scenario;
    const struct sim_failure_group *g;
    size_t members = 0;

    if (h->group->failure_group == SIM_NO_FAILURE_GROUP)
        return 1;
    g = &c->failure_groups[h->group->failure_group];
    for (size_t i = 0; i < c->group_count; i++)
        if (c->groups[i].failure_group == h->group->failure_group)
            members += c->groups[i].count;
    return g->burst_rate == SIM_BURST_KEPT
               ? 1 + g->burst_probability * ((double)members - 1)
               : 1;
}

static void post_failure(struct sim *s, struct host *h, int64_t at_ms, bool by_burst)
{
    h->failure_version++;
    h->by_burst = by_burst;
    kernel_post(&s->kernel, at_ms, EVENT_FAIL, h, h->failure_version);
}

static void post_restore(struct sim *s, struct host *h, int64_t at_ms)
{
    h->failure_version++;
    kernel_post(&s->kernel, at_ms, EVENT_RESTORE, h, h->failure_version);
}

static int64_t instant_ms(double at_s)
{
    return isnan(at_s) ? KERNEL_NEVER : kernel_ms(at_s);
}

static void post_next(struct sim *s, struct host *h)
{
    if (h->trace && h->outage_next < h->outage_count)
        post_failure(s, h, instant_ms(h->outages[h->outage_next].down_at_s), false);
    else if (!h->trace && h->group->fails)
        post_failure(s, h, kernel_after(&s->kernel, draw_up_s(h)), false);
}

/* ---- the first state ---- */

static void begin_down(struct sim *s, struct host *h, int64_t until_ms)
{
    h->is_up = false;
    h->down_ms = h->down_since_ms = s->kernel.now_ms;
    post_restore(s, h, until_ms);
}

static void start_by_trace(struct sim *s, struct host *h)
{
    while (h->outage_next < h->outage_count) {
        const struct failure_interval *f = &h->outages[h->outage_next];

        if (instant_ms(f->down_at_s) > s->kernel.now_ms)
            break;
        h->outage_next++;
        if (instant_ms(f->up_at_s) > s->kernel.now_ms) {
            begin_down(s, h, instant_ms(f->up_at_s));
            return;
        }
    }
    post_next(s, h);
}

static void start_stationary(struct sim *s, struct host *h)
{
    double cycle_s =
        distribution_mean(&h->group->failure) + distribution_mean(&h->group->restore);
    double at_s = -fmin(s->scenario->warm_up_s, CYCLES * fmax(0, cycle_s));

    for (size_t cycle = 0; cycle < CYCLES_MAX; cycle++) {
        at_s += draw_up_s(h);
        if (at_s > 0) {
            post_failure(s, h, kernel_after(&s->kernel, at_s), false);
            return;
        }
        at_s += draw_down_s(h);
        if (at_s > 0) {
            begin_down(s, h, kernel_after(&s->kernel, at_s));
            return;
        }
    }
    post_next(s, h);
}

void failures_start(struct sim *s, struct host *h)
{
    h->is_there = true;
    h->is_up = true;
    h->v_ms = h->since_ms = s->kernel.now_ms;
    if (h->trace)
        start_by_trace(s, h);
    else if (h->group->fails && s->scenario->initial_state == SIM_INITIAL_STATIONARY)
        start_stationary(s, h);
    else
        post_next(s, h);
    host_start_load(s, h);
    information_register(s, h);
    sim_log(s, SIM_LOG_RESOURCE_ADD, NULL, h, h->mips_total);
}

/* ---- on the way ---- */

/* The failure of h may bring down others of its group. */
static void burst(struct sim *s, struct host *h)
{
    const struct sim_failure_group *g;

    if (h->group->failure_group == SIM_NO_FAILURE_GROUP || h->by_burst)
        return;
    g = &s->scenario->failure_groups[h->group->failure_group];
    for (size_t i = 0; i < s->host_count; i++) {
        struct host *other = &s->hosts[i];

        if (other == h || !other->is_up || !other->is_there ||
            other->group->failure_group != h->group->failure_group)
            continue;
        if (rng_uniform(&h->burst) < g->burst_probability)
            post_failure(
                s, other,
                kernel_after(&s->kernel, g->burst_delay_s * rng_uniform(&h->burst)),
                true);
    }
}

/* Replicas on their way from h to another host. */
static void lose_migrations(struct sim *s, const struct host *h)
{
    if (s->totals.migrations == 0)
        return;
    for (size_t i = 0; i < s->host_count; i++)
        for (struct replica *r = s->hosts[i].there, *next; r; r = next) {
            next = r->next;
            if (r->source == h)
                replica_lose(s, r);
        }
}

void host_on_fail(struct sim *s, struct host *h)
{
    const struct failure_interval *f =
        h->trace && !h->by_burst ? &h->outages[h->outage_next++] : NULL;

    sim_log(s, SIM_LOG_RESOURCE_FAIL, NULL, h, (double)NAN);
    host_advance(s, h);
    h->is_up = false;
    h->boot++;
    h->down_ms = h->down_since_ms = s->kernel.now_ms;
    h->stats.failures++;
    s->totals.failures++;
    while (h->there)
        replica_lose(s, h->there);
    lose_migrations(s, h);
    host_replan(s, h);
    if (f)
        post_restore(s, h, instant_ms(f->up_at_s));
    else
        post_restore(s, h, kernel_after(&s->kernel, draw_down_s(h)));
    burst(s, h);
    information_note(s, h);
}

void host_on_restore(struct sim *s, struct host *h)
{
    sim_log(s, SIM_LOG_RESOURCE_RESTORE, NULL, h, (double)NAN);
    host_advance(s, h);
    h->stats.down_s += 1e-3 * (double)(s->kernel.now_ms - h->down_since_ms);
    h->is_up = true;
    h->up_ms = s->kernel.now_ms;
    post_next(s, h);
    information_note(s, h);
    host_serve_queue(s, h);
}

/* ---- traces ---- */

static int compare_begin(const void *a, const void *b)
{
    const struct failure_interval *x = a, *y = b;

    return (x->down_at_s > y->down_at_s) - (x->down_at_s < y->down_at_s);
}

/* Ascending, and overlapping or touching ones made one. */
void failures_create(struct sim *s, struct host *h)
{
    struct failure_interval *list;
    size_t count = 0;

    if (!h->trace || h->trace->outage_count == 0)
        return;
    list = NEW(s->arena, struct failure_interval, h->trace->outage_count);
    for (size_t i = 0; i < h->trace->outage_count; i++)
        list[i] = h->trace->outages[i];
    qsort(list, h->trace->outage_count, sizeof(*list), compare_begin);
    for (size_t i = 0; i < h->trace->outage_count; i++) {
        struct failure_interval *last = count ? &list[count - 1] : NULL;
        int64_t up_ms = instant_ms(list[i].up_at_s);

        if (instant_ms(list[i].down_at_s) == up_ms)
            continue;
        if (last && instant_ms(last->up_at_s) >= instant_ms(list[i].down_at_s)) {
            if (up_ms > instant_ms(last->up_at_s))
                last->up_at_s = list[i].up_at_s;
            continue;
        }
        list[count++] = list[i];
    }
    h->outages = list;
    h->outage_count = count;
}
