/* simulation/hazard.c - Weibull fits of what a run has shown of its failures.
 *
 * For checkpoint policies that ask for shape and scale. Of each resource the last
 * GAPS_KEPT gaps between failures are kept, as the scheduler sees them; they are fitted
 * when somebody asks and a new one has come. With fewer than RELIABILITY_GAPS_MIN those
 * of its site are fitted together; fewer still say nothing. Gaps of 0, and those with a
 * failure in between that nobody saw, are left out.
 *
 * Source: spec fault-tolerance.md 5.4.
 */
#include "algorithms/simulation/parts.h"
#include "models/failure_stats.h"

#include <math.h>
#include <string.h>

enum { GAPS_KEPT = 64 };

struct hazard {
    double gap_s[GAPS_KEPT]; /* the oldest is overwritten */
    size_t gap_count;        /* ever */
    size_t fitted_count;     /* gap_count of the fit */
    struct weibull_fit fit;
};

struct site_hazard {
    size_t fitted_count;
    struct weibull_fit fit;
};

void hazards_create(struct sim *s)
{
    struct hazard *hazards;

    if (!s->policy->checkpoint ||
        !(s->policy->checkpoint->flags & CHECKPOINT_NEEDS_WEIBULL))
        return;
    hazards = NEW(s->arena, struct hazard, s->host_count);
    s->site_hazards = NEW(s->arena, struct site_hazard, s->scenario->site_count);
    s->site_gap_s = NEW(s->arena, double, s->host_count *GAPS_KEPT);
    for (size_t i = 0; i < s->host_count; i++)
        s->hosts[i].hazard = &hazards[i];
}

void hazard_note(struct host *h, double gap_s)
{
    struct hazard *z = h->hazard;

    if (z && gap_s > 0)
        z->gap_s[z->gap_count++ % GAPS_KEPT] = gap_s;
}

static size_t kept(const struct hazard *z)
{
    return z->gap_count < GAPS_KEPT ? z->gap_count : GAPS_KEPT;
}

static const struct weibull_fit *site_fit(struct sim *s, size_t site)
{
    struct site_hazard *found = &s->site_hazards[site];
    size_t count = 0, ever = 0;

    for (size_t i = 0; i < s->host_count; i++) {
        const struct hazard *z = s->hosts[i].hazard;

        if (s->hosts[i].site != site)
            continue;
        memcpy(s->site_gap_s + count, z->gap_s, kept(z) * sizeof(double));
        count += kept(z);
        ever += z->gap_count;
    }
    sim_count_work(s, s->host_count);
    if (count < RELIABILITY_GAPS_MIN)
        return NULL;
    if (ever != found->fitted_count)
        found->fit = failure_fit_weibull(s->site_gap_s, count);
    found->fitted_count = ever;
    return &found->fit;
}

void hazard_fill(struct sim *s, struct host *h, struct checkpoint_in *in)
{
    struct hazard *z = h->hazard;
    const struct weibull_fit *fit;

    if (!z)
        return;
    if (z->gap_count < RELIABILITY_GAPS_MIN) {
        fit = site_fit(s, h->site);
    } else {
        if (z->gap_count != z->fitted_count)
            z->fit = failure_fit_weibull(z->gap_s, kept(z));
        z->fitted_count = z->gap_count;
        fit = &z->fit;
    }
    in->weibull_shape = fit ? fit->shape : (double)NAN;
    in->weibull_scale_s = fit ? fit->scale_s : (double)NAN;
}
