/* cluster_replay/bits.h - a set of small numbers: its lowest, the next, add and remove in
 * O(1).
 *
 * One bit for each number, and above that two levels of words that say which words below
 * are not empty.
 */
#ifndef GRIDPLAN_CLUSTER_REPLAY_BITS_H
#define GRIDPLAN_CLUSTER_REPLAY_BITS_H

#include "models/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { BITS_LEVELS = 3, BITS_MAX = 64 * 64 * 64 };
#define BITS_NONE SIZE_MAX

struct bits {
    uint64_t *words[BITS_LEVELS]; /* [0] the numbers, [2] one word */
    size_t room, count;           /* count: of numbers in the set */
};

/* An empty set of numbers below `room`, at most BITS_MAX. */
static inline struct bits bits_create(size_t room, struct arena *a)
{
    struct bits b;
    size_t count = room;

    b.room = room;
    b.count = 0;
    for (int level = 0; level < BITS_LEVELS; level++) {
        count = count / 64 + 1;
        b.words[level] = NEW(a, uint64_t, count);
    }
    return b;
}

static inline bool bits_has(const struct bits *b, size_t n)
{
    return b->words[0][n / 64] >> n % 64 & 1;
}

static inline void bits_add(struct bits *b, size_t n)
{
    b->count += !bits_has(b, n);
    for (int level = 0; level < BITS_LEVELS; level++, n /= 64)
        b->words[level][n / 64] |= UINT64_C(1) << n % 64;
}

static inline void bits_remove(struct bits *b, size_t n)
{
    b->count -= bits_has(b, n);
    for (int level = 0; level < BITS_LEVELS; level++, n /= 64) {
        b->words[level][n / 64] &= ~(UINT64_C(1) << n % 64);
        if (b->words[level][n / 64])
            break;
    }
}

/* The least number of the set from `from` on; BITS_NONE: there is none. */
static inline size_t bits_next(const struct bits *b, size_t from)
{
    size_t n = from;

    if (from >= b->room)
        return BITS_NONE;
    for (int level = 0; level < BITS_LEVELS; level++) {
        uint64_t rest = b->words[level][n / 64] >> n % 64;

        if (rest) {
            n += (size_t)__builtin_ctzll(rest);
            while (level-- > 0)
                n = n * 64 + (size_t)__builtin_ctzll(b->words[level][n]);
            return n;
        }
        n = n / 64 + 1;
        if (level + 1 == BITS_LEVELS || n / 64 > b->room >> 6 * (level + 1) >> 6)
            break;
    }
    return BITS_NONE;
}

#endif
