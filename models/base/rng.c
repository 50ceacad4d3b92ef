/* base/rng.c - reproducible random numbers. */
#include "models/base/rng.h"

#include "models/base/names.h"

uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15U;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

struct rng rng_create(uint64_t seed)
{
    struct rng r;

    for (size_t i = 0; i < 4; i++)
        r.state[i] = splitmix64(&seed);
    return r;
}

struct rng rng_stream(uint64_t seed, const char *name)
{
    return rng_create(seed ^ hash_fnv1a(name));
}

static uint64_t rotate_left(uint64_t x, unsigned bits)
{
    return (x << bits) | (x >> (64 - bits));
}

uint64_t rng_next(struct rng *r)
{
    uint64_t *s = r->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double rng_uniform(struct rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

size_t rng_index(struct rng *r, size_t count)
{
    size_t i = (size_t)(rng_uniform(r) * (double)count);

    return i < count ? i : count - 1;
}
