/* base/rng.h - reproducible random numbers.
 *
 * xoshiro256** seeded by splitmix64 (public domain, Blackman and Vigna). One
 * stream per purpose: rng_stream(seed, "placement.search") is independent of
 * every other name, so one algorithm drawing more numbers does not change
 * another's. Source: spec simulator.md, section 8, with test vectors.
 */
#ifndef GRIDPLAN_BASE_RNG_H
#define GRIDPLAN_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
    uint64_t state[4];
};

/* Next value of splitmix64; advances *state. */
uint64_t splitmix64(uint64_t *state);

struct rng rng_create(uint64_t seed);

/* The stream `name` of a run: seed XOR FNV-1a-64(name). */
struct rng rng_stream(uint64_t seed, const char *name);

uint64_t rng_next(struct rng *r);

/* Uniform in [0, 1): the upper 53 bits. */
double rng_uniform(struct rng *r);

/* floor(u * count), 0 <= result < count; count > 0. */
size_t rng_index(struct rng *r, size_t count);

#endif
