/* coallocation/simulation_sites.c - clusters with local jobs and a controlled load.
 *
 * A cluster of P processors gets local jobs at the rate
 *
 *     local_ratio * lower_ratio * P / (7.5 * local_run_time_s)
 *
 * (7.5: mean of 2, 4, 8, 16), which alone would keep it below lower_ratio; dummies make
 * up the rest. Sizes that would not fit beside them are left out, on small sites only.
 *
 * Source: spec coallocation.md 20.1, 20.2; 001_546dfcc428821807 5.1.3 [L955-959].
 */
#include "algorithms/coallocation/simulation_parts.h"

#include <math.h>

static const size_t local_sizes[] = {2, 4, 8, 16};
enum { LOCAL_SIZES = sizeof(local_sizes) / sizeof(local_sizes[0]) };
#define LOCAL_MEAN_SIZE 7.5

static double exponential(struct rng *r, double mean)
{
    return -mean * log1p(-rng_uniform(r));
}

static void next_arrival(struct sim *s, size_t at)
{
    struct sim_site *site = &s->sites[at];

    if (isinf(site->gap_s))
        return;
    sim_event(s, s->now_s + exponential(&site->rng, site->gap_s), EVENT_LOCAL_ARRIVAL, at,
              0, 0);
}

void sim_sites_begin(struct sim *s)
{
    const struct co_sim_background *b = &s->set->background;

    s->sites = NEW(s->a, struct sim_site, s->grid.site_count);
    for (size_t i = 0; i < s->grid.site_count; i++) {
        const struct co_sim_site *source = &s->in->grid.sites[s->grid.source_index[i]];
        char *name = arena_printf(s->a, "coallocation.local.%s", source->id);
        double rate_per_s = b->local_ratio * b->lower_ratio * (double)source->processors /
                            (LOCAL_MEAN_SIZE * b->local_run_time_s);

        s->sites[i] = (struct sim_site){
            .processors = source->processors,
            .rng = rng_stream(s->in->seed, name),
            .gap_s = rate_per_s > 0 ? 1 / rate_per_s : HUGE_VAL,
            .failure_ratio = source->failure_ratio,
            .errors = CO_SITE_ERRORS,
            .exceeded_since_s = (double)NAN,
        };
        next_arrival(s, i);
    }
    if (b->lower_ratio > 0)
        sim_event(s, s->now_s, EVENT_MONITOR, 0, 0, 0);
}

/* Room for one more behind the queue: what was served in front is given up first. */
static void make_room(struct sim *s, struct sim_site *site)
{
    size_t wanted = site->queue_capacity ? 2 * site->queue_capacity : 16;

    if (site->queue_head + site->queue_count < site->queue_capacity)
        return;
    if (site->queue_head > site->queue_capacity / 2) {
        for (size_t i = 0; i < site->queue_count; i++)
            site->queue[i] = site->queue[site->queue_head + i];
        site->queue_head = 0;
        return;
    }
    site->queue = GROW(s->a, site->queue, struct local_job, site->queue_capacity, wanted);
    site->queue_capacity = wanted;
}

/* What dummies fill a site up to. A local job that does not fit beside would block the
 * site for ever, as dummies go only when the load is above the range. */
static size_t filled(const struct sim *s, const struct sim_site *site)
{
    const struct co_sim_background *b = &s->set->background;

    return (size_t)((b->lower_ratio + b->add_ratio) * (double)site->processors + 1e-9);
}

void sim_local_arrival(struct sim *s, size_t at)
{
    struct sim_site *site = &s->sites[at];
    struct local_job job = {
        local_sizes[rng_index(&site->rng, LOCAL_SIZES)],
        exponential(&site->rng, s->set->background.local_run_time_s),
        s->now_s,
    };

    next_arrival(s, at);
    if (job.processors + filled(s, site) > site->processors)
        return;
    make_room(s, site);
    site->queue[site->queue_head + site->queue_count++] = job;
    sim_local_start(s, at);
}

void sim_local_start(struct sim *s, size_t at)
{
    struct sim_site *site = &s->sites[at];

    while (site->queue_count &&
           site->queue[site->queue_head].processors <= sim_idle(site)) {
        struct local_job job = site->queue[site->queue_head];

        site->queue_head++;
        site->queue_count--;
        site->local += job.processors;
        s->local_response_s += s->now_s + job.run_time_s - job.arrived_s;
        s->local_count++;
        sim_event(s, s->now_s + job.run_time_s, EVENT_LOCAL_END, at, job.processors, 0);
    }
}

void sim_local_end(struct sim *s, size_t at, size_t processors)
{
    s->sites[at].local -= processors;
    sim_local_start(s, at);
}

/* A site above the range with nothing that could be removed. */
static void note_exceeded(struct sim *s, struct sim_site *site, bool above)
{
    if (!above || site->dummy) {
        site->exceeded_since_s = (double)NAN;
        return;
    }
    if (isnan(site->exceeded_since_s))
        site->exceeded_since_s = s->now_s;
    s->out.background_exceeded_s =
        fmax(s->out.background_exceeded_s, s->now_s - site->exceeded_since_s);
}

void sim_monitor(struct sim *s)
{
    const struct co_sim_background *b = &s->set->background;

    for (size_t i = 0; i < s->grid.site_count; i++) {
        struct sim_site *site = &s->sites[i];
        double all = (double)site->processors;
        size_t busy = site->local + site->dummy;
        size_t goal = filled(s, site);
        bool above = (double)busy > b->upper_ratio * all;

        note_exceeded(s, site, above);
        if (above)
            site->dummy = 0;
        else if ((double)busy < b->lower_ratio * all && goal > busy)
            site->dummy += goal - busy < sim_idle(site) ? goal - busy : sim_idle(site);
        sim_local_start(s, i);
    }
    sim_event(s, s->now_s + b->monitor_interval_s, EVENT_MONITOR, 0, 0, 0);
}
