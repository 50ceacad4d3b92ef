/* coallocation/timeline.c - when a placed job is claimed and starts. */
#include "algorithms/coallocation/timeline.h"

#include <math.h>

enum { FIRST_TRIES = 16, TRIES_MOST = 1000000 };

double co_jst_s(double jpt_s, double ftt_s)
{
    return jpt_s + ftt_s;
}

/* JST instead of a time that is nearer to it than the least interval. */
static double settle(double next_s, double jst_s, const struct co_claim_steps *steps)
{
    return jst_s - next_s < steps->min_interval_s ? jst_s : next_s;
}

double co_first_claim_s(double jpt_s, double ftt_s, double l,
                        const struct co_claim_steps *steps)
{
    return settle(jpt_s + l * ftt_s, co_jst_s(jpt_s, ftt_s), steps);
}

double co_next_claim_s(double jct_s, double jst_s, double l,
                       const struct co_claim_steps *steps)
{
    double step_s = l > 0 ? fmax(l * (jst_s - jct_s), steps->min_interval_s)
                          : steps->zero_l_interval_s;

    return settle(jct_s + step_s, jst_s, steps);
}

enum error_code co_claim_schedule(double jpt_s, double ftt_s, double l,
                                  const struct co_claim_steps *steps,
                                  const double **claim_s, size_t *count, struct arena *a,
                                  struct error *err)
{
    double jst_s = co_jst_s(jpt_s, ftt_s);
    double next_s = co_first_claim_s(jpt_s, ftt_s, l, steps);
    size_t size = FIRST_TRIES, tries = 0;
    double *list = NEW(a, double, size);

    for (;;) {
        list[tries++] = next_s;
        if (next_s >= jst_s) {
            *claim_s = list;
            *count = tries;
            return OK;
        }
        if (tries == TRIES_MOST)
            return fail(err, ERR_TOO_LARGE, "",
                        "more than %d tries to claim: make the interval longer",
                        TRIES_MOST);
        if (tries == size) {
            list = GROW(a, list, double, size, 2 * size);
            size *= 2;
        }
        next_s = co_next_claim_s(next_s, jst_s, l, steps);
    }
}

/* The later one; NAN counts as no time. */
static double later(double a_s, double b_s)
{
    return isnan(b_s) ? a_s : fmax(a_s, b_s);
}

struct co_durations co_durations(const struct co_times *t)
{
    struct co_durations d;
    double original_s = isnan(t->original_jst_s) ? t->jst_s : t->original_jst_s;

    d.start_s = later(later(t->jst_s, t->transfers_done_at_s), t->claimed_s);
    d.gained_s = t->claimed_s - t->jpt_s;
    d.wasted_s = isnan(t->claimed_s) ? (double)NAN : fmax(0, t->jst_s - t->claimed_s);
    d.waiting_s = d.start_s - t->submitted_s;
    d.placement_s = t->jpt_s - t->queue_entry_s;
    d.total_placement_s =
        d.placement_s + (isnan(t->earlier_placement_s) ? 0 : t->earlier_placement_s);
    d.start_delay_s = t->jst_s - original_s;
    return d;
}
