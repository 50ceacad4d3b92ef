/* base/arena.c - memory that is released all at once. */
#include "models/base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif

#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   __asan_poison_memory_region((p), (n))
#define UNPOISON(p, n) __asan_unpoison_memory_region((p), (n))
enum { REDZONE_BYTES = 16 }; /* between neighbours, so that overruns are seen */
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
enum { REDZONE_BYTES = 0 };
#endif

enum {
    ALIGNMENT = 16,
    FIRST_BLOCK_BYTES = 16 * 1024,
    LARGEST_STEP_BYTES = 8 * 1024 * 1024, /* blocks double up to this size */
};

struct block {
    struct block *next;
    size_t size;
    size_t used;
    size_t zeroed; /* 1: what is not used is still zero; keeps data[] aligned, too */
    unsigned char data[];
};

struct arena {
    struct block *first;
    struct block *current;
    size_t used_bytes;
    size_t cap_bytes;
};

/* Zeroed by the system, a large one costs nothing before it is written to. */
static struct block *block_create(size_t size, bool zeroed)
{
    struct block *b = zeroed ? calloc(1, sizeof(*b) + size) : malloc(sizeof(*b) + size);

    if (!b)
        return NULL;
    b->next = NULL;
    b->size = size;
    b->used = 0;
    b->zeroed = zeroed;
    POISON(b->data, size);
    return b;
}

static void block_release(struct block *b)
{
    UNPOISON(b->data, b->size);
    free(b);
}

struct arena *arena_create(size_t cap_bytes)
{
    struct arena *a = calloc(1, sizeof(*a));

    if (!a)
        return NULL;
    a->cap_bytes = cap_bytes;
    return a;
}

void arena_reset(struct arena *a)
{
    struct block *b = a->first ? a->first->next : NULL;

    while (b) {
        struct block *next = b->next;

        block_release(b);
        b = next;
    }
    if (a->first) {
        a->first->next = NULL;
        a->first->used = 0;
        a->first->zeroed = 0;
        POISON(a->first->data, a->first->size);
    }
    a->current = a->first;
    a->used_bytes = 0;
}

void arena_close(struct arena *a)
{
    if (!a)
        return;
    arena_reset(a);
    if (a->first)
        block_release(a->first);
    free(a);
}

/* Makes `current` a block with at least `bytes` free. */
static bool reserve(struct arena *a, size_t bytes)
{
    size_t size = FIRST_BLOCK_BYTES;
    struct block *b;

    if (a->current && a->current->size - a->current->used >= bytes)
        return true;
    if (a->current) {
        size = a->current->size * 2;
        if (size > LARGEST_STEP_BYTES)
            size = LARGEST_STEP_BYTES;
    }
    if (size < bytes)
        size = bytes;
    b = block_create(size, size == bytes);
    if (!b)
        return false;
    if (a->current)
        a->current->next = b;
    else
        a->first = b;
    a->current = b;
    return true;
}

/* With alignment and redzone; 0 on overflow. */
static size_t rounded_bytes(size_t size, size_t count)
{
    size_t bytes;

    if (__builtin_mul_overflow(size, count, &bytes) || bytes > SIZE_MAX / 4)
        return 0;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return (bytes ? bytes : ALIGNMENT) + REDZONE_BYTES;
}

/* The same; 0 also beyond the cap. */
static size_t rounded(const struct arena *a, size_t size, size_t count)
{
    size_t bytes = rounded_bytes(size, count);

    return bytes > a->cap_bytes - a->used_bytes || a->used_bytes > a->cap_bytes ? 0
                                                                                : bytes;
}

void *arena_alloc(struct arena *a, size_t size, size_t count)
{
    size_t bytes = rounded(a, size, count);
    unsigned char *p;

    if (!bytes || !reserve(a, bytes))
        return NULL;
    p = a->current->data + a->current->used;
    a->current->used += bytes;
    a->used_bytes += bytes;
    UNPOISON(p, bytes - REDZONE_BYTES);
    return a->current->zeroed ? p : memset(p, 0, size * count);
}

void *arena_grow(struct arena *a, void *old, size_t size, size_t old_count,
                 size_t new_count)
{
    void *p = arena_alloc(a, size, new_count);

    if (!p)
        return NULL;
    if (old && old_count)
        memcpy(p, old, size * (old_count < new_count ? old_count : new_count));
    return p;
}

/* `b`, the last block, with room for `bytes`; NULL without memory. */
static struct block *widen(struct arena *a, struct block *b, size_t bytes)
{
    struct block **link = &a->first;
    struct block *wide;

    while (*link != b)
        link = &(*link)->next;
    UNPOISON(b->data, b->size);
    wide = realloc(b, sizeof(*b) + bytes);
    if (!wide) {
        POISON(b->data + b->used, b->size - b->used);
        return NULL;
    }
    wide->size = bytes;
    wide->zeroed = 0;
    *link = a->current = wide;
    return wide;
}

void *arena_extend(struct arena *a, void *old, size_t size, size_t old_count,
                   size_t new_count)
{
    struct block *b = a->current;
    size_t before = rounded_bytes(size, old_count);
    size_t bytes = rounded_bytes(size, new_count);
    unsigned char *p = old;

    if (!old || !b || !before || !bytes || bytes < before || b->used < before ||
        p != b->data + b->used - before)
        return arena_grow(a, old, size, old_count, new_count);
    if (a->used_bytes > a->cap_bytes || bytes - before > a->cap_bytes - a->used_bytes)
        return NULL;
    if (b->size - b->used < bytes - before) {
        if (p != b->data)
            return arena_grow(a, old, size, old_count, new_count);
        b = widen(a, b, bytes);
        if (!b)
            return NULL;
        p = b->data;
    }
    b->used += bytes - before;
    a->used_bytes += bytes - before;
    UNPOISON(p, bytes - REDZONE_BYTES);
    POISON(b->data + b->used - REDZONE_BYTES, b->size - b->used + REDZONE_BYTES);
    memset(p + size * old_count, 0, size * (new_count - old_count));
    return p;
}

char *arena_text(struct arena *a, const char *text, size_t length)
{
    char *p = arena_alloc(a, 1, length + 1);

    if (p)
        memcpy(p, text, length);
    return p;
}

char *arena_vprintf(struct arena *a, const char *format, va_list args)
{
    char buffer[512];
    va_list again;
    char *p;
    int length;

    va_copy(again, args);
    length = vsnprintf(buffer, sizeof(buffer), format, args);
    if (length < 0) {
        p = NULL;
    } else if ((size_t)length < sizeof(buffer)) {
        p = arena_text(a, buffer, (size_t)length);
    } else {
        p = arena_alloc(a, 1, (size_t)length + 1);
        if (p)
            vsnprintf(p, (size_t)length + 1, format, again);
    }
    va_end(again);
    return p;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list args;
    char *p;

    va_start(args, format);
    p = arena_vprintf(a, format, args);
    va_end(args);
    return p;
}

size_t arena_used_bytes(const struct arena *a)
{
    return a->used_bytes;
}

size_t arena_cap_bytes(const struct arena *a)
{
    return a->cap_bytes;
}

void arena_set_cap(struct arena *a, size_t cap_bytes)
{
    a->cap_bytes = cap_bytes;
}
