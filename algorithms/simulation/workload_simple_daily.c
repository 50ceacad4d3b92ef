/* simulation/workload_simple_daily.c - an exact number of jobs in a daily cycle.
 *
 * The day is uniform over the horizon. Within it, the time is with probability 0.8
 * triangular on 7 to 21 h with its mode at 14 h, else uniform on the other ten hours;
 * its distribution function F has a closed inverse. All arrivals are independent, so
 * they come in order as order statistics of the uniform distribution: with n jobs left
 * after the one at quantile q, the next is at
 *
 *     1 - (1 - q) * (1 - u)^(1/n)
 *
 * which needs no list of them. A part of a last day counts with what F gives it.
 *
 * Source: spec simulator.md 9.
 * Deviation: drawn in order instead of one by one and sorted, which is the same in
 * distribution.
 * Cost: O(1) a job and O(1) memory.
 */
#include "algorithms/simulation/workload_parts.h"

#include <math.h>

#define DAY_S 86400.0

struct daily {
    double days;   /* the horizon, the last part weighed with F */
    double beyond; /* 1 - quantile of the last job */
};

/* Share of a day's jobs before an hour. */
static double share_before(double hour)
{
    double x;

    if (hour <= 7)
        return hour * 0.02;
    if (hour >= 21)
        return 0.94 + (hour - 21) * 0.02;
    x = (hour <= 14 ? hour - 7 : 21 - hour) / 7;
    return 0.14 + 0.8 * (hour <= 14 ? x * x / 2 : 1 - x * x / 2);
}

static double hour_of(double share)
{
    double t = (share - 0.14) / 0.8;

    if (t <= 0)
        return share / 0.02;
    if (t >= 1)
        return 21 + (share - 0.94) / 0.02;
    return t <= 0.5 ? 7 + 7 * sqrt(2 * t) : 21 - 7 * sqrt(2 * (1 - t));
}

static enum error_code open(struct workload_source *s, struct arena *a, struct error *err)
{
    struct daily *d = NEW(a, struct daily, 1);
    double full;

    if (!(s->end_s < HUGE_VAL))
        return invalid(err, "/stop", ITEM_CONFLICT,
                       "simple_daily spreads its jobs over the run, which must end at a "
                       "time");
    full = floor(s->end_s / DAY_S);
    d->days = full + share_before((s->end_s - full * DAY_S) / 3600);
    d->beyond = 1;
    s->state = d;
    return OK;
}

static bool next(struct workload_source *s, struct sim_job *job)
{
    struct daily *d = s->state;
    double left = (double)(s->limit - s->number), at, day;

    if (!(s->end_s > 0))
        return false;
    d->beyond *= pow(1 - rng_uniform(&s->arrival.rng), 1 / left);
    at = (1 - d->beyond) * d->days;
    day = floor(at);
    job->arrival_s = day * DAY_S + 3600 * hour_of(at - day);
    if (job->arrival_s >= s->end_s) /* by rounding */
        job->arrival_s = nextafter(s->end_s, 0);
    if (job->arrival_s < s->arrival_s)
        job->arrival_s = s->arrival_s;
    return true;
}

const struct workload_maker workload_simple_daily = {NULL, open, next};
