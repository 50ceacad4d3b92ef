/* estimate.c - how much memory a request will take, guessed before it is read. */
#include "service/estimate.h"

#include "service/body.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    PLAIN_BYTES = 1024 * 1024,
    GZIP_LEAST_BYTES = 18,    /* header and trailer */
    GZIP_LARGEST_RATIO = 1032 /* of deflate */
};

static const double FORGET = 0.99; /* of the factor that stays, each request */
static const double RATIO_LEAST = 0.25, RATIO_MOST = 8;

struct estimates {
    const struct route *routes;
    uint64_t factor_bits[]; /* a double for each route, read and written atomically */
};

static uint64_t to_bits(double factor)
{
    uint64_t bits;

    memcpy(&bits, &factor, sizeof(bits));
    return bits;
}

static double from_bits(uint64_t bits)
{
    double factor;

    memcpy(&factor, &bits, sizeof(factor));
    return factor;
}

struct estimates *estimates_create(const struct route *route_table)
{
    struct estimates *e;
    size_t n = 0;

    while (route_table[n].method)
        n++;
    e = calloc(1, sizeof(*e) + n * sizeof(e->factor_bits[0]));
    if (!e)
        return NULL;
    e->routes = route_table;
    for (size_t i = 0; i < n; i++)
        e->factor_bits[i] = to_bits(1);
    return e;
}

void estimates_close(struct estimates *e)
{
    free(e);
}

/* The last four bytes of a gzip stream are its content's length, modulo 2^32. */
static size_t gzip_says(const char *data, size_t length)
{
    const unsigned char *end = (const unsigned char *)data + length;

    return (size_t)end[-4] | (size_t)end[-3] << 8 | (size_t)end[-2] << 16 |
           (size_t)end[-1] << 24;
}

size_t estimate_body_bytes(const struct message *m, size_t limit_bytes)
{
    size_t bytes = m->body_length;

    if (m->route && m->route->flags & ROUTE_STREAMS) /* it is never there as a whole */
        return bytes < BODY_PLAIN_BYTES ? bytes : BODY_PLAIN_BYTES;
    if (!m->content_encoding || strcasecmp(m->content_encoding, "identity") == 0 ||
        bytes < GZIP_LEAST_BYTES)
        return bytes;
    bytes = gzip_says(m->body, m->body_length);
    if (bytes / GZIP_LARGEST_RATIO > m->body_length)
        bytes = m->body_length * GZIP_LARGEST_RATIO;
    if (bytes < m->body_length)
        bytes = m->body_length;
    return bytes < limit_bytes ? bytes : limit_bytes;
}

size_t estimate_plain_bytes(const struct route *route, size_t body_bytes)
{
    size_t factor = route_cost(route).memory_factor;

    return body_bytes > (SIZE_MAX - PLAIN_BYTES) / factor
               ? SIZE_MAX
               : PLAIN_BYTES + factor * body_bytes;
}

size_t estimate_bytes(const struct estimates *e, const struct route *route,
                      size_t body_bytes, size_t cap_bytes)
{
    double bytes = (double)estimate_plain_bytes(route, body_bytes);

    if (e)
        bytes *= from_bits(
            __atomic_load_n(&e->factor_bits[route - e->routes], __ATOMIC_RELAXED));
    return bytes < (double)cap_bytes ? (size_t)bytes : cap_bytes;
}

size_t estimate_stored_bytes(const struct estimates *e, const char *path,
                             size_t body_bytes, size_t cap_bytes)
{
    enum error_code code;
    char allow[80];
    const struct route *route =
        e ? route_find(e->routes, "POST", path, allow, &code) : NULL;

    return route ? estimate_bytes(e, route, body_bytes, cap_bytes) : 0;
}

double estimate_next_factor(double factor, double ratio)
{
    if (ratio > factor)
        return fmax(factor * FORGET, fmin(ratio, RATIO_MOST));
    return FORGET * factor + (1 - FORGET) * fmax(ratio, RATIO_LEAST);
}

void estimate_learn(struct estimates *e, const struct route *route, size_t body_bytes,
                    size_t used_bytes)
{
    uint64_t *at, before, after;
    double ratio;

    if (!e || !route)
        return;
    ratio = (double)used_bytes / (double)estimate_plain_bytes(route, body_bytes);
    at = &e->factor_bits[route - e->routes];
    before = __atomic_load_n(at, __ATOMIC_RELAXED);
    do
        after = to_bits(estimate_next_factor(from_bits(before), ratio));
    while (!__atomic_compare_exchange_n(at, &before, after, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
}
