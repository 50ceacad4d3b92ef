/* uuid.c - identifiers that nobody else makes: the only user of libuuid. */
#include "service/uuid.h"

#include "models/base/rng.h"
#include "service/clock.h"

#include <string.h>
#include <uuid/uuid.h>

/* libuuid 2.38 has no version 7, and asking the kernel for each request would
 * cost more than the request: each thread draws from a generator of its own
 * that libuuid seeded with 244 random bits. */
static struct rng *thread_rng(void)
{
    static _Thread_local struct rng rng;
    static _Thread_local bool seeded;

    if (!seeded) {
        uuid_t first, second;

        uuid_generate_random(first);
        uuid_generate_random(second);
        memcpy(rng.state, first, sizeof(first));
        memcpy(rng.state + 2, second, sizeof(second));
        seeded = true;
    }
    return &rng;
}

void uuid_make(char *text)
{
    struct rng *rng = thread_rng();
    uint64_t ms = (uint64_t)(clock_wall_s() * 1e3);
    uint64_t high = ms << 16 | 0x7000 | (rng_next(rng) >> 52);
    uint64_t low = 0x8000000000000000 | (rng_next(rng) >> 2);
    uuid_t id;

    for (int i = 0; i < 8; i++) {
        id[i] = (unsigned char)(high >> (56 - 8 * i));
        id[8 + i] = (unsigned char)(low >> (56 - 8 * i));
    }
    uuid_unparse_lower(id, text);
}

void uuid_name(const void *name, size_t length, char *text)
{
    static const uuid_t space = {0x5b, 0x1f, 0x0c, 0x6e, 0x27, 0x9d, 0x4a, 0x53,
                                 0x9c, 0x0e, 0x61, 0xd4, 0x3a, 0x7f, 0x82, 0xb5};
    uuid_t id;

    uuid_generate_sha1(id, space, name, length);
    uuid_unparse_lower(id, text);
}

void uuid_print(const unsigned char *bytes, char *text)
{
    uuid_t id;

    memcpy(id, bytes, sizeof(id));
    uuid_unparse_lower(id, text);
}

bool uuid_is(const char *text)
{
    uuid_t id;

    return uuid_parse(text, id) == 0;
}
