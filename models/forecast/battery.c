/* forecast/battery.c - the next value of a series, by the forecaster that was best.
 *
 * The last 56 values are kept ascending, each with the number it came as. So the
 * last w of them are met in order by one walk that passes over the older ones,
 * and a median or trimmed mean of any window needs no sorting.
 *
 * An adaptive median with window w and step d looks, when a value comes, at what
 * the windows w, w + d and w - d would have said: if w + d was strictly better
 * than w and not worse than w - d it takes w + d, else if w - d was strictly
 * better than w it takes that, within the bounds of its name.
 */
#include "models/forecast/battery.h"

#include <math.h>

/* Forecasters that say the same by different sums differ by less: a tie. */
#define ROUNDING 1e-12

enum kind { LAST, RUN_MEAN, EXPONENTIAL, MEDIAN, MEAN, TRIMMED, ADAPTIVE_MEDIAN };

struct row {
    enum kind kind;
    double setting; /* gain, or window */
    size_t step;
};

static const struct row rows[] = {
#define X(name, kind, setting, step) {kind, setting, step},
    FORECASTERS(X)
#undef X
};

const char *const forecaster_names[] = {
#define X(name, kind, setting, step) #name,
    FORECASTERS(X)
#undef X
        NULL,
};

static size_t smaller(size_t x, size_t y)
{
    return x < y ? x : y;
}

static size_t kept(const struct battery *b)
{
    return smaller(b->count, BATTERY_RECENT_MAX);
}

/* The last `window` values, as bits: bit i stands for sorted[i]. */
static uint64_t members(const struct battery *b, size_t window)
{
    size_t n = kept(b);
    uint64_t bits = 0;

    for (size_t i = 0; i < n; i++) /* no branch: which ones are in is random */
        bits |= (uint64_t)(b->serial[i] + window >= b->count) << i;
    return bits;
}

/* Mean of those of the last `window` values whose rank is in [first, end). */
static double mean_of_ranks(const struct battery *b, size_t window, size_t first,
                            size_t end)
{
    double share = 1 / (double)(end - first), mean = 0;
    uint64_t bits = members(b, window);

    for (size_t rank = 0; rank < first; rank++)
        bits &= bits - 1; /* clears the lowest */
    for (size_t rank = first; rank < end; rank++) {
        mean += b->sorted[__builtin_ctzll(bits)] * share;
        bits &= bits - 1;
    }
    return mean;
}

static double median(const struct battery *b, size_t window)
{
    size_t n = smaller(window, b->count);

    return mean_of_ranks(b, window, (n - 1) / 2, n / 2 + 1);
}

/* Drops floor(0.3 n) at each end; one at least stays, since 0.6 n < n. */
static double trimmed(const struct battery *b, size_t window)
{
    size_t n = smaller(window, b->count), drop = n * 3 / 10;

    return mean_of_ranks(b, window, drop, n - drop);
}

static double forecast_of(const struct battery *b, size_t f, double newest)
{
    size_t window = (size_t)rows[f].setting;

    switch (rows[f].kind) {
    case LAST:
        return newest;
    case RUN_MEAN:
        return b->mean;
    case EXPONENTIAL:
        return b->level[f];
    case MEDIAN:
        return median(b, window);
    case MEAN:
        return mean_of_ranks(b, window, 0, smaller(window, b->count));
    case TRIMMED:
        return trimmed(b, window);
    case ADAPTIVE_MEDIAN:
        return median(b, b->window[f]);
    }
    return newest;
}

/* Bounds of a window: half of the first one up to about twice as long, by name. */
static size_t clamp_window(size_t f, size_t window)
{
    size_t low = f == FORECASTER_adaptive_median_5_21 ? 5 : 21;
    size_t high = f == FORECASTER_adaptive_median_5_21 ? 21 : 51;

    if (window < low)
        return low;
    return smaller(window, high);
}

/* Before `value` joins the history. */
static void adapt(struct battery *b, size_t f, double value)
{
    size_t w = b->window[f], d = rows[f].step;
    double here = fabs(median(b, w) - value);
    double longer = fabs(median(b, w + d) - value);
    double shorter = fabs(median(b, w - d) - value);

    if (longer < here && longer <= shorter)
        b->window[f] = clamp_window(f, w + d);
    else if (shorter < here)
        b->window[f] = clamp_window(f, w - d);
}

/* Puts the value in its place; the oldest goes when there is no room. */
static void keep(struct battery *b, double value)
{
    size_t n = kept(b), at;

    if (n == BATTERY_RECENT_MAX) {
        for (at = 0; b->serial[at] + BATTERY_RECENT_MAX != b->count;)
            at++;
        for (n--; at < n; at++) {
            b->sorted[at] = b->sorted[at + 1];
            b->serial[at] = b->serial[at + 1];
        }
    }
    for (at = n; at > 0 && b->sorted[at - 1] > value; at--) {
        b->sorted[at] = b->sorted[at - 1];
        b->serial[at] = b->serial[at - 1];
    }
    b->sorted[at] = value;
    b->serial[at] = b->count;
}

void battery_add(struct battery *b, double value)
{
    for (size_t f = 0; f < FORECASTER_COUNT; f++) {
        if (b->count == 0) {
            b->level[f] = value;
            b->window[f] = (size_t)rows[f].setting;
            continue;
        }
        b->error_sum[f] += fabs(b->forecast[f] - value);
        if (rows[f].kind == EXPONENTIAL) /* one product each: no overflow between */
            b->level[f] = (1 - rows[f].setting) * b->level[f] + rows[f].setting * value;
        if (rows[f].kind == ADAPTIVE_MEDIAN)
            adapt(b, f, value);
    }
    keep(b, value);
    b->count++;
    b->mean += (value - b->mean) / (double)b->count;
    for (size_t f = 0; f < FORECASTER_COUNT; f++)
        b->forecast[f] = forecast_of(b, f, value);
}

double battery_mae(const struct battery *b, enum forecaster f)
{
    return b->count < 2 ? (double)NAN : b->error_sum[f] / (double)(b->count - 1);
}

struct battery_forecast battery_forecast(const struct battery *b)
{
    size_t best = FORECASTER_last;

    if (b->count == 0)
        return (struct battery_forecast){NAN, FORECASTER_last, NAN};
    for (size_t f = 1; f < FORECASTER_COUNT && b->count >= 2; f++) {
        if (b->error_sum[f] < b->error_sum[best] * (1 - ROUNDING))
            best = f;
    }
    return (struct battery_forecast){
        b->forecast[best],
        (enum forecaster)best,
        battery_mae(b, (enum forecaster)best),
    };
}

struct battery_forecast battery_run(const double *value, size_t count)
{
    struct battery b = {0};

    for (size_t i = 0; i < count; i++)
        battery_add(&b, value[i]);
    return battery_forecast(&b);
}
