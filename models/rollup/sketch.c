/* rollup/sketch.c - quantiles of many values in few bytes; see the header. */
#include "models/rollup/sketch.h"

#include <math.h>
#include <string.h>

/* What the buckets grow by, the nearest double, and its logarithm. */
static const double GAMMA = 1.01 / 0.99;
static const double LN_GAMMA = 0.020000666706669435;

enum { VERSION = 1, PLACE_OF_ONE = 1 - SKETCH_LOWEST }; /* of b[0] in the table */

void sketch_bounds_make(struct sketch_bounds *bounds)
{
    double *b = bounds->bound;

    b[PLACE_OF_ONE] = 1;
    for (int i = PLACE_OF_ONE; i < SKETCH_BUCKETS; i++)
        b[i + 1] = b[i] * GAMMA;
    for (int i = PLACE_OF_ONE; i > 0; i--)
        b[i - 1] = b[i] / GAMMA;
}

double sketch_bound(const struct sketch_bounds *bounds, int index)
{
    return bounds->bound[index - SKETCH_LOWEST + 1];
}

int sketch_index(const struct sketch_bounds *bounds, double value)
{
    int i = (int)ceil(log(value) / LN_GAMMA);

    if (i < SKETCH_LOWEST)
        i = SKETCH_LOWEST;
    if (i > SKETCH_HIGHEST)
        i = SKETCH_HIGHEST;
    while (i > SKETCH_LOWEST && value <= sketch_bound(bounds, i - 1))
        i--;
    while (i < SKETCH_HIGHEST && value > sketch_bound(bounds, i))
        i++;
    return i;
}

static uint64_t *place(struct sketch *s, int index)
{
    return &s->count[index - SKETCH_LOWEST];
}

void sketch_init(struct sketch *s)
{
    memset(s, 0, sizeof(*s));
    s->low = SKETCH_HIGHEST + 1;
    s->high = SKETCH_LOWEST - 1;
}

void sketch_clear(struct sketch *s)
{
    if (s->low <= s->high)
        memset(place(s, s->low), 0, sizeof(uint64_t) * (size_t)(s->high - s->low + 1));
    s->zero_count = 0;
    s->low = SKETCH_HIGHEST + 1;
    s->high = SKETCH_LOWEST - 1;
}

static void count(struct sketch *s, int index, uint64_t n)
{
    *place(s, index) += n;
    if (index < s->low)
        s->low = index;
    if (index > s->high)
        s->high = index;
}

void sketch_add(struct sketch *s, const struct sketch_bounds *bounds, double value)
{
    if (value < SKETCH_LEAST)
        s->zero_count++;
    else
        count(s, sketch_index(bounds, value), 1);
}

void sketch_merge(struct sketch *s, const struct sketch *other)
{
    s->zero_count += other->zero_count;
    for (int i = other->low; i <= other->high; i++) {
        uint64_t n = other->count[i - SKETCH_LOWEST];

        if (n > 0)
            count(s, i, n);
    }
}

/* ---- bytes ---- */

static unsigned char *put_number(unsigned char *to, uint64_t n)
{
    while (n >= 0x80) {
        *to++ = (unsigned char)(n | 0x80);
        n >>= 7;
    }
    *to++ = (unsigned char)n;
    return to;
}

size_t sketch_encode(const struct sketch *s, unsigned char *to)
{
    unsigned char *at = to;
    uint64_t bucket_count = 0;
    int before = 0;

    for (int i = s->low; i <= s->high; i++)
        bucket_count += s->count[i - SKETCH_LOWEST] > 0;
    *at++ = VERSION;
    at = put_number(at, s->zero_count);
    at = put_number(at, bucket_count);
    for (int i = s->low; i <= s->high; i++) {
        uint64_t n = s->count[i - SKETCH_LOWEST];
        int step = i - before;

        if (n == 0)
            continue;
        at = put_number(at, step < 0 ? (uint64_t)(-step) * 2 - 1 : (uint64_t)step * 2);
        at = put_number(at, n);
        before = i;
    }
    return (size_t)(at - to);
}

struct reader {
    const unsigned char *at, *end;
    bool failed;
};

static uint64_t take_number(struct reader *r)
{
    uint64_t n = 0;

    for (int shift = 0; shift < 64; shift += 7) {
        unsigned char byte;

        if (r->at == r->end)
            break;
        byte = *r->at++;
        if (shift == 63 && byte > 1)
            break;
        n |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return n;
    }
    r->failed = true;
    return 0;
}

/* Reads all of it; counts into `s` unless that is NULL. */
static bool read_bytes(struct sketch *s, const unsigned char *data, size_t length)
{
    struct reader r = {data, data + length, false};
    uint64_t zero_count, bucket_count;
    int64_t index = 0;

    if (length == 0 || *r.at++ != VERSION)
        return false;
    zero_count = take_number(&r);
    bucket_count = take_number(&r);
    if (r.failed || bucket_count > SKETCH_BUCKETS)
        return false;
    for (uint64_t i = 0; i < bucket_count; i++) {
        uint64_t step = take_number(&r), n = take_number(&r);

        if (r.failed || n == 0 || step > (uint64_t)SKETCH_BUCKETS * 2 ||
            (i > 0 && (step == 0 || step & 1)))
            return false;
        index += step & 1 ? -(int64_t)(step / 2) - 1 : (int64_t)(step / 2);
        if (index < SKETCH_LOWEST || index > SKETCH_HIGHEST)
            return false;
        if (s)
            count(s, (int)index, n);
    }
    if (s)
        s->zero_count += zero_count;
    return r.at == r.end;
}

bool sketch_decode(struct sketch *s, const unsigned char *data, size_t length)
{
    return read_bytes(NULL, data, length) && read_bytes(s, data, length);
}

/* ---- quantiles ---- */

uint64_t sketch_count(const struct sketch *s)
{
    uint64_t n = s->zero_count;

    for (int i = s->low; i <= s->high; i++)
        n += s->count[i - SKETCH_LOWEST];
    return n;
}

double sketch_quantile(const struct sketch *s, const struct sketch_bounds *bounds,
                       double min, double max, double p)
{
    uint64_t n = sketch_count(s), before = s->zero_count;
    double rank = p * ((double)n - 1);

    if (!(rank > 0))
        return min;
    if (rank >= (double)n - 1)
        return max;
    if (rank < (double)before)
        return min >= SKETCH_LEAST ? min : 0;
    for (int i = s->low; i <= s->high; i++) {
        before += s->count[i - SKETCH_LOWEST];
        if (rank < (double)before)
            return fmin(fmax(2 * sketch_bound(bounds, i) / (GAMMA + 1), min), max);
    }
    return max;
}
