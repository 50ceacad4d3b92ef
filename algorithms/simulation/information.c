/* simulation/information.c - what the scheduler can know of the grid.
 *
 * An immediate information service shows the truth. A periodic one shows what was
 * true at its last poll: state, failures, load, progress; an outage between two polls
 * is not seen, but in mode `incarnation` the count of failures betrays it. How many jobs
 * are on a resource the scheduler always knows.
 *
 * Source: spec simulator.md 3.7; fault-tolerance.md 2.3, 3; 000_168dd5aef5075332 2.2
 * [L750-L752].
 */
#include "algorithms/replication/slots.h"
#include "algorithms/simulation/parts.h"

#include <math.h>
#include <string.h>

static double seconds(int64_t ms)
{
    return 1e-3 * (double)ms;
}

static bool is_immediate(const struct sim *s)
{
    return !(s->scenario->is_interval_s > 0);
}

void host_show(struct sim *s, struct host *h)
{
    struct round_resource *r = &s->resources[h->index];
    bool is_open;

    if (!s->policy->round)
        return; /* nobody looks */
    r->job_count = h->reserved_count + h->running_count;
    slots_changed(s->slots, h->index);
    is_open = r->up && r->job_count < h->n_max;
    if (is_open == h->is_open)
        return;
    h->is_open = is_open;
    if (is_open)
        s->open_count++;
    else
        s->open_count--;
}

/* Failures that this look at the host reveals. */
static void see_failures(struct sim *s, struct host *h)
{
    struct reliability *r = &h->reliability;
    bool by_boot = is_immediate(s) || s->scenario->detection == SIM_DETECTION_INCARNATION;
    bool has_failed = by_boot ? h->boot != h->seen_boot : !h->is_up && !r->down;

    if (has_failed) {
        if (r->down)
            reliability_restore(r, seconds(h->down_ms));
        if (by_boot && h->boot - h->seen_boot > 1)
            r->failure_count += h->boot - h->seen_boot - 1;
        else
            hazard_note(h, seconds(h->down_ms) - r->last_failure_at_s); /* NAN: first */
        reliability_fail(r, seconds(h->down_ms));
    }
    if (h->is_up && r->down)
        reliability_restore(r, seconds(by_boot ? h->up_ms : s->kernel.now_ms));
    h->seen_boot = h->boot;
}

static void see(struct sim *s, struct host *h)
{
    struct round_resource *r = &s->resources[h->index];

    see_failures(s, h);
    r->up = h->is_up;
    r->mips = fmax(0, h->mips_total - h->mips_external);
    host_show(s, h);
}

void information_register(struct sim *s, struct host *h)
{
    reliability_begin(&h->reliability, sim_now_s(s));
    see(s, h);
    s->is_dirty = true;
    if (s->policy->vm)
        vm_pool_set_up(&s->vm, h->index, h->is_up);
}

void information_note(struct sim *s, struct host *h)
{
    s->is_dirty = true;
    if (is_immediate(s))
        see(s, h);
    else
        host_show(s, h);
    if (s->policy->vm)
        vm_pool_set_up(&s->vm, h->index, h->is_up);
}

void information_mark_down(struct sim *s, struct host *h)
{
    s->resources[h->index].up = false;
    host_show(s, h);
}

void information_see_progress(struct sim *s)
{
    for (size_t i = 0; i < s->host_count; i++)
        for (struct replica *r = s->hosts[i].there; r; r = r->next)
            if (r->index < r->job->replica_count)
                r->job->views[r->index].completed_mi = replica_progress_mi(s, r);
}

/* Eight entries at a time, mostly. */
void information_compare_progress(struct sim *s)
{
    const uint64_t several = 0xfefefefefefefefe;
    uint64_t eight;

    for (size_t at = s->list_head; at < s->list_end; at++) {
        const struct grid_job *job = s->listed[at];

        if (at + sizeof(eight) <= s->list_end) {
            memcpy(&eight, s->list_active + at, sizeof(eight));
            if (!(eight & several)) {
                at += sizeof(eight) - 1;
                continue;
            }
        }
        for (size_t i = 0; s->list_active[at] > 1 && i < job->replica_count; i++)
            if (job->replicas[i]->stage != STAGE_GHOST)
                job->views[i].completed_mi = replica_progress_mi(s, job->replicas[i]);
    }
}

void information_poll(struct sim *s)
{
    for (size_t i = 0; i < s->host_count; i++)
        if (s->hosts[i].is_there)
            see(s, &s->hosts[i]);
    if (s->flags & (ROUND_PROGRESS | ROUND_COMPARES))
        information_see_progress(s);
    s->is_dirty = true;
    sim_count_work(s, s->host_count);
    sim_log(s, SIM_LOG_INFORMATION_POLL, NULL, NULL, (double)NAN);
    kernel_post(&s->kernel, kernel_after(&s->kernel, s->scenario->is_interval_s),
                EVENT_POLL, NULL, 0);
}

void information_start(struct sim *s)
{
    struct rng phase = rng_stream(s->seed, "is.phase");

    if (is_immediate(s))
        return;
    kernel_post(&s->kernel, kernel_ms(s->scenario->is_interval_s * rng_uniform(&phase)),
                EVENT_POLL, NULL, 0);
}
