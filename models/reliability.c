/* reliability.c - how often a resource fails, and how long it has been up. */
#include "models/reliability.h"

#include <math.h>
#include <stdlib.h>

const char *const mf_estimator_names[] = {"censored", "gap_mean", "uptime_mean",
                                          "bayes",    "auto",     NULL};

void reliability_begin(struct reliability *r, double at_s)
{
    *r = (struct reliability){
        .observed_since_s = at_s, .last_failure_at_s = NAN, .up_since_s = at_s};
}

void reliability_fail(struct reliability *r, double at_s)
{
    if (r->down)
        return;
    r->down = true;
    r->failure_count++;
    r->last_failure_at_s = at_s;
    r->uptime_total_s += fmax(0, at_s - r->up_since_s);
}

void reliability_restore(struct reliability *r, double at_s)
{
    if (!r->down)
        return;
    r->down = false;
    if (!isnan(r->last_failure_at_s)) { /* else it was down when it was first seen */
        r->repair_count++;
        r->repair_total_s += fmax(0, at_s - r->last_failure_at_s);
    }
    r->up_since_s = at_s;
}

static double failures_or_one(const struct reliability *r)
{
    return r->failure_count > 0 ? (double)r->failure_count : 1;
}

double reliability_mean_s(const struct reliability *r, enum mf_estimator estimator,
                          double now_s)
{
    double observed_s = now_s - r->observed_since_s;

    if (estimator == MF_BAYES)
        return fmax(0, reliability_uptime_total_s(r, now_s)) /
               ((double)r->failure_count + 0.5);
    if (estimator == MF_UPTIME_MEAN)
        observed_s = reliability_uptime_total_s(r, now_s);
    else if (estimator == MF_GAP_MEAN && r->failure_count > 0)
        observed_s = r->last_failure_at_s - r->observed_since_s;
    return fmax(0, observed_s) / failures_or_one(r);
}

double reliability_shrunk_mean_s(const struct reliability *r, enum mf_estimator estimator,
                                 double now_s, double site_mean_s, double weight)
{
    double observed_s = reliability_mean_s(r, estimator, now_s) * failures_or_one(r);

    return (observed_s + weight * site_mean_s) / ((double)r->failure_count + weight);
}

double reliability_failure_age_s(const struct reliability *r, double now_s)
{
    double since_s =
        isnan(r->last_failure_at_s) ? r->observed_since_s : r->last_failure_at_s;

    return fmax(0, now_s - since_s);
}

double reliability_uptime_s(const struct reliability *r, double now_s)
{
    return r->down ? 0 : fmax(0, now_s - r->up_since_s);
}

double reliability_uptime_total_s(const struct reliability *r, double now_s)
{
    return r->uptime_total_s + reliability_uptime_s(r, now_s);
}

double reliability_mttr_s(const struct reliability *r)
{
    return r->repair_count ? r->repair_total_s / (double)r->repair_count : (double)NAN;
}

double reliability_availability_ratio(const struct reliability *r, double now_s)
{
    double observed_s = now_s - r->observed_since_s;

    return observed_s > 0 ? fmin(1, reliability_uptime_total_s(r, now_s) / observed_s)
                          : (double)NAN;
}

static int compare_begins(const void *a, const void *b)
{
    const struct failure_interval *x = a, *y = b;

    return (x->down_at_s > y->down_at_s) - (x->down_at_s < y->down_at_s);
}

/* One failure of a history, in the order of begins. *end_s: of the present outage. */
static void add_failure(struct reliability *r, const struct failure_interval *f,
                        double *end_s)
{
    double up_at_s = isnan(f->up_at_s) ? HUGE_VAL : f->up_at_s;

    if (up_at_s < r->observed_since_s)
        return;
    if (r->down && f->down_at_s > *end_s)
        reliability_restore(r, *end_s);
    *end_s = r->down ? fmax(*end_s, up_at_s) : up_at_s;
    if (f->down_at_s < r->observed_since_s)
        r->down = true; /* no failure that was seen */
    else
        reliability_fail(r, f->down_at_s);
}

void reliability_of(const struct failure_interval *failures, size_t count,
                    double observed_since_s, double now_s, struct reliability *out,
                    double *gap_s, size_t *gap_count, struct arena *a)
{
    struct failure_interval *sorted = NEW(a, struct failure_interval, count);
    double end_s = -HUGE_VAL, previous_s = HUGE_VAL;
    size_t gaps = 0;

    for (size_t i = 0; i < count; i++)
        sorted[i] = failures[i];
    if (count > 1)
        qsort(sorted, count, sizeof(*sorted), compare_begins);
    if (isnan(observed_since_s))
        observed_since_s = count ? fmin(sorted[0].down_at_s, now_s) : now_s;
    reliability_begin(out, observed_since_s);
    for (size_t i = 0; i < count && sorted[i].down_at_s <= now_s; i++) {
        double begin_s = sorted[i].down_at_s;

        add_failure(out, &sorted[i], &end_s);
        if (gap_s && begin_s > previous_s)
            gap_s[gaps++] = begin_s - previous_s;
        if (begin_s >= observed_since_s)
            previous_s = begin_s;
    }
    if (out->down && end_s <= now_s)
        reliability_restore(out, end_s);
    if (gap_count)
        *gap_count = gaps;
}
