/* base/arena.c - memory that is released all at once. */
#include "models/base/arena.h"

#include <assert.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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
    SMALL_STEP_BYTES = 64 * 1024,         /* of those that fill what a lease leaves */
    MAPPED_BYTES = 256 * 1024,            /* blocks from here on come from mmap() */
    PAGE_BYTES = 4096,
    HUGE_BYTES = 4 * 1024 * 1024, /* blocks from here on may have huge pages */
};

struct block {
    struct block *next;
    size_t size;
    size_t used;
    size_t dirty; /* bytes behind these are zero */
    unsigned char data[];
};

/* A computation under way. */
struct run {
    jmp_buf left;
    struct run *outer;
    struct arena *newest_beside; /* when it began */
};

struct arena {
    struct arena *request;       /* whose computations this one serves: itself, or the one
                                    that it is beside */
    struct run *run;             /* NULL: none; of the request's arena only */
    struct arena *newest_beside; /* a list by `older`; of the request's arena only */
    struct arena *older, *newer;
    struct block *first;
    struct block *current;
    size_t used_bytes;
    size_t cap_bytes;
    size_t block_bytes;        /* of all blocks */
    struct arena_lease *lease; /* NULL: nobody is asked */
    size_t leased_bytes;
    size_t own_bytes; /* of its blocks those that it had before it joined others */
};

/* ---- leases ---- */

/* What of `bytes` in blocks is leased. */
static size_t lease_of(const struct arena *a, size_t bytes)
{
    size_t free_bytes = a->own_bytes + ARENA_UNLEASED_BYTES;

    return bytes > free_bytes ? bytes - free_bytes : 0;
}

/* Counts `more` bytes of blocks; false: the lease is refused, nothing is counted. */
static bool take_bytes(struct arena *a, size_t more)
{
    size_t wanted = a->lease ? lease_of(a, a->block_bytes + more) : 0;

    if (wanted > a->leased_bytes) {
        bool taken = a->lease->take(a->lease->context, wanted - a->leased_bytes);

        if (!taken && !a->lease->overdraft) {
            a->lease->refused = true;
            return false;
        }
        if (taken)
            a->leased_bytes = wanted;
    }
    a->block_bytes += more;
    return true;
}

static void give_bytes(struct arena *a, size_t less)
{
    size_t wanted;

    a->block_bytes -= less;
    wanted = lease_of(a, a->block_bytes);
    if (!a->lease || wanted >= a->leased_bytes)
        return;
    a->lease->give(a->lease->context, a->leased_bytes - wanted);
    a->leased_bytes = wanted;
}

/* ---- blocks ---- */

static bool is_mapped(size_t size)
{
    return size + sizeof(struct block) >= MAPPED_BYTES;
}

/* The size of a block for `size` bytes: what is mapped fills its last page. */
static size_t whole_pages(size_t size)
{
    size_t bytes = size + sizeof(struct block);

    if (!is_mapped(size))
        return size;
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES - sizeof(struct block);
}

/* Most of what a large request costs would else be faults of small pages. The kernel may
 * say no to huge ones: nothing depends on them. */
static void *map(size_t size)
{
    size_t bytes = sizeof(struct block) + size;
    void *p =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    if (bytes >= HUGE_BYTES)
        (void)madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

/* Without asking for a lease. */
static struct block *block_create(size_t size)
{
    struct block *b = is_mapped(size) ? map(size) : malloc(sizeof(*b) + size);

    if (!b)
        return NULL;
    b->next = NULL;
    b->size = size;
    b->used = 0;
    b->dirty = is_mapped(size) ? 0 : size;
    POISON(b->data, size);
    return b;
}

static void block_release(struct block *b)
{
    UNPOISON(b->data, b->size);
    if (is_mapped(b->size))
        munmap(b, sizeof(*b) + b->size);
    else
        free(b);
}

/* `b` with another size; its bytes may be poisoned no more. NULL without memory. */
static struct block *block_resize(struct block *b, size_t size)
{
    bool was_mapped = is_mapped(b->size);
    struct block *wide;

    if (was_mapped) {
        wide = mremap(b, sizeof(*b) + b->size, sizeof(*b) + size, MREMAP_MAYMOVE);
        wide = wide == MAP_FAILED ? NULL : wide;
    } else if (!is_mapped(size)) {
        wide = realloc(b, sizeof(*b) + size);
    } else {
        wide = map(size);
        if (wide) {
            memcpy(wide, b, sizeof(*b) + b->used);
            wide->dirty = b->used;
            free(b);
        }
    }
    if (!wide)
        return NULL;
    if (!is_mapped(size))
        wide->dirty = size;
    wide->size = size;
    return wide;
}

/* Zeroes what is handed out, as far as it may not be zero. */
static inline void clear(struct block *b, size_t from, size_t length)
{
    if (from + length <= b->dirty) { /* nearly always */
        memset(b->data + from, 0, length);
        return;
    }
    if (from < b->dirty)
        memset(b->data + from, 0, b->dirty - from);
    b->dirty = from + length;
}

/* What points to `b`. */
static struct block **link_to(struct arena *a, const struct block *b)
{
    struct block **link = &a->first;

    while (*link != b)
        link = &(*link)->next;
    return link;
}

/* ---- arenas ---- */

struct arena *arena_create(size_t cap_bytes)
{
    struct arena *a = calloc(1, sizeof(*a));

    if (!a)
        return NULL;
    a->cap_bytes = cap_bytes;
    a->request = a;
    return a;
}

void arena_leave(const struct arena *a)
{
    struct run *run = a->request->run;

    if (!run)
        abort();
    longjmp(run->left, 1);
}

struct arena *arena_create_beside(struct arena *other, size_t cap_bytes)
{
    struct arena *a = arena_create(cap_bytes), *request = other->request;

    if (!a && request->run)
        arena_leave(other);
    if (!a)
        return NULL;
    a->lease = other->lease;
    a->request = request;
    a->older = request->newest_beside;
    if (a->older)
        a->older->newer = a;
    request->newest_beside = a;
    return a;
}

/* Takes a beside arena out of its request's list. */
static void unlink_beside(struct arena *a)
{
    if (a->older)
        a->older->newer = a->newer;
    if (a->newer)
        a->newer->older = a->older;
    else
        a->request->newest_beside = a->older;
}

/* Releases the arena alone. */
static void release(struct arena *a)
{
    arena_reset(a);
    if (a->first)
        block_release(a->first);
    free(a);
}

/* Closes the beside arena that was created last. */
static void close_newest(struct arena *request)
{
    struct arena *a = request->newest_beside;

    request->newest_beside = a->older;
    if (a->older)
        a->older->newer = NULL;
    release(a);
}

void arena_join(struct arena *a, const struct arena *other)
{
    assert(a->request == a && !a->lease && !a->newest_beside);
    a->request = other->request;
    a->lease = other->lease;
    a->own_bytes = a->block_bytes;
}

void arena_part(struct arena *a)
{
    if (a->leased_bytes)
        a->lease->give(a->lease->context, a->leased_bytes);
    a->leased_bytes = a->own_bytes = 0;
    a->lease = NULL;
    a->request = a;
}

bool arena_run(struct arena *a, void (*work)(void *context), void *context)
{
    struct arena *request = a->request;
    struct run run = {.outer = request->run, .newest_beside = request->newest_beside};

    if (setjmp(run.left) == 0) {
        request->run = &run;
        work(context);
        request->run = run.outer;
        return true;
    }
    request->run = run.outer;
    while (request->newest_beside != run.newest_beside)
        close_newest(request);
    return false;
}

void arena_set_lease(struct arena *a, struct arena_lease *lease)
{
    assert(a->leased_bytes == 0);
    a->lease = lease;
}

bool arena_lacks_lease(const struct arena *a)
{
    return a->lease && a->lease->refused;
}

void arena_allow_overdraft(struct arena *a, bool allowed)
{
    if (a->lease)
        a->lease->overdraft = allowed;
}

/* A first block that has grown goes too: what an idle arena keeps needs no lease. */
void arena_reset(struct arena *a)
{
    bool kept = a->first && a->first->size <= ARENA_UNLEASED_BYTES;
    struct block *b = kept ? a->first->next : a->first;

    while (b) {
        struct block *next = b->next;

        block_release(b);
        b = next;
    }
    if (!kept)
        a->first = NULL;
    if (a->first) {
        a->first->next = NULL;
        a->first->used = 0;
        POISON(a->first->data, a->first->size);
    }
    a->current = a->first;
    a->used_bytes = 0;
    give_bytes(a, a->block_bytes - (kept ? a->first->size : 0));
}

/* Releases the last block unless it is the first. */
static void drop_last(struct arena *a)
{
    struct block *last = a->current, *before = a->first;

    if (last == a->first)
        return;
    while (before->next != last)
        before = before->next;
    before->next = NULL;
    a->current = before;
    give_bytes(a, last->size);
    block_release(last);
}

struct arena_mark arena_mark(const struct arena *a)
{
    struct arena_mark mark = {.used_bytes = a->used_bytes};

    for (const struct block *b = a->first; b; b = b->next)
        mark.block_count++;
    if (a->current)
        mark.used = a->current->used;
    return mark;
}

void arena_rewind(struct arena *a, struct arena_mark mark)
{
    struct block *b;

    if (mark.block_count == 0) {
        arena_reset(a);
        return;
    }
    b = a->first;
    for (size_t i = 1; i < mark.block_count; i++)
        b = b->next;
    while (a->current != b)
        drop_last(a);
    assert(b->used >= mark.used);
    b->used = mark.used;
    POISON(b->data + b->used, b->size - b->used);
    a->used_bytes = mark.used_bytes;
}

void arena_close(struct arena *a)
{
    if (!a)
        return;
    if (a->request != a)
        unlink_beside(a);
    while (a->newest_beside) /* of a request's own arena */
        close_newest(a);
    release(a);
}

/* How large the next block is, if nobody minds. */
static size_t next_size(const struct arena *a, size_t bytes)
{
    size_t size = a->current ? a->current->size * 2 : FIRST_BLOCK_BYTES;

    if (size > LARGEST_STEP_BYTES)
        size = LARGEST_STEP_BYTES;
    return whole_pages(size > bytes ? size : bytes);
}

/* Whether `current` has `bytes` free. */
static inline bool has_room(const struct arena *a, size_t bytes)
{
    return a->current && a->current->size - a->current->used >= bytes;
}

/* Makes `current` a block with at least `bytes` free; a small one when there is no lease
 * for a large one. */
static bool reserve(struct arena *a, size_t bytes)
{
    size_t size = next_size(a, bytes), least = whole_pages(bytes);
    struct block *b;

    if (!take_bytes(a, size)) {
        size = least > SMALL_STEP_BYTES ? least : SMALL_STEP_BYTES;
        if (!take_bytes(a, size))
            return false;
        a->lease->refused = false;
    }
    b = block_create(size);
    if (!b) {
        give_bytes(a, size);
        return false;
    }
    if (a->current)
        a->current->next = b;
    else
        a->first = b;
    a->current = b;
    return true;
}

/* With alignment and redzone; 0 on overflow. */
static inline size_t rounded_bytes(size_t size, size_t count)
{
    size_t bytes;

    if (__builtin_mul_overflow(size, count, &bytes) || bytes > SIZE_MAX / 4)
        return 0;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return (bytes ? bytes : ALIGNMENT) + REDZONE_BYTES;
}

/* Whether `more` bytes are within the cap. */
static inline bool is_allowed(const struct arena *a, size_t more)
{
    if (a->used_bytes <= a->cap_bytes && more <= a->cap_bytes - a->used_bytes)
        return true;
    if (a->lease)
        a->lease->refused = false;
    return false;
}

void *arena_try(struct arena *a, size_t size, size_t count)
{
    size_t bytes = rounded_bytes(size, count);
    unsigned char *p;

    if (!bytes || !is_allowed(a, bytes) || (!has_room(a, bytes) && !reserve(a, bytes)))
        return NULL;
    p = a->current->data + a->current->used;
    UNPOISON(p, bytes - REDZONE_BYTES);
    clear(a->current, a->current->used, size * count);
    a->current->used += bytes;
    a->used_bytes += bytes;
    return p;
}

void *arena_try_grow(struct arena *a, void *old, size_t size, size_t old_count,
                     size_t new_count)
{
    void *p = arena_try(a, size, new_count);

    if (!p)
        return NULL;
    if (old && old_count)
        memcpy(p, old, size * (old_count < new_count ? old_count : new_count));
    return p;
}

/* `b`, the last block, with room for `bytes`; NULL without memory or a lease. */
static struct block *widen(struct arena *a, struct block *b, size_t bytes)
{
    struct block **link = link_to(a, b);
    size_t old_size = b->size, size = whole_pages(bytes);
    struct block *wide;

    if (!take_bytes(a, size - old_size))
        return NULL;
    UNPOISON(b->data, old_size);
    wide = block_resize(b, size);
    if (!wide) {
        POISON(b->data + b->used, old_size - b->used);
        give_bytes(a, size - old_size);
        return NULL;
    }
    *link = a->current = wide;
    return wide;
}

/* Whether `p` with `bytes` is what was handed out last. */
static bool is_last(const struct block *b, const unsigned char *p, size_t bytes)
{
    return p && b && bytes && b->used >= bytes && p == b->data + b->used - bytes;
}

void *arena_try_extend(struct arena *a, void *old, size_t size, size_t old_count,
                       size_t new_count)
{
    struct block *b = a->current;
    size_t before = rounded_bytes(size, old_count);
    size_t bytes = rounded_bytes(size, new_count);
    unsigned char *p = old;

    if (!is_last(b, p, before) || !bytes || bytes < before)
        return arena_try_grow(a, old, size, old_count, new_count);
    if (!is_allowed(a, bytes - before))
        return NULL;
    if (b->size - b->used < bytes - before) {
        if (p != b->data)
            return arena_try_grow(a, old, size, old_count, new_count);
        b = widen(a, b, bytes);
        if (!b)
            return NULL;
        p = b->data;
    }
    b->used += bytes - before;
    a->used_bytes += bytes - before;
    UNPOISON(p, bytes - REDZONE_BYTES);
    POISON(b->data + b->used - REDZONE_BYTES, b->size - b->used + REDZONE_BYTES);
    clear(b, (size_t)(p - b->data) + size * old_count, size * (new_count - old_count));
    return p;
}

void arena_give(struct arena *a, void *p, size_t size, size_t count)
{
    struct block *b = a->current;
    size_t bytes = rounded_bytes(size, count);

    if (!is_last(b, p, bytes))
        return;
    POISON(p, bytes);
    b->used -= bytes;
    a->used_bytes -= bytes;
    if (b->used == 0)
        drop_last(a);
}

char *arena_try_text(struct arena *a, const char *text, size_t length)
{
    char *p = arena_try(a, 1, length + 1);

    if (p)
        memcpy(p, text, length);
    return p;
}

char *arena_try_vprintf(struct arena *a, const char *format, va_list args)
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
        p = arena_try_text(a, buffer, (size_t)length);
    } else {
        p = arena_try(a, 1, (size_t)length + 1);
        if (p)
            vsnprintf(p, (size_t)length + 1, format, again);
    }
    va_end(again);
    return p;
}

char *arena_try_printf(struct arena *a, const char *format, ...)
{
    va_list args;
    char *p;

    va_start(args, format);
    p = arena_try_vprintf(a, format, args);
    va_end(args);
    return p;
}

/* ---- in a computation ---- */

static void *or_leave(const struct arena *a, void *p)
{
    if (!p)
        arena_leave(a);
    return p;
}

void *arena_alloc(struct arena *a, size_t size, size_t count)
{
    return or_leave(a, arena_try(a, size, count));
}

void *arena_grow(struct arena *a, void *old, size_t size, size_t old_count,
                 size_t new_count)
{
    return or_leave(a, arena_try_grow(a, old, size, old_count, new_count));
}

void *arena_extend(struct arena *a, void *old, size_t size, size_t old_count,
                   size_t new_count)
{
    return or_leave(a, arena_try_extend(a, old, size, old_count, new_count));
}

char *arena_text(struct arena *a, const char *text, size_t length)
{
    return or_leave(a, arena_try_text(a, text, length));
}

char *arena_vprintf(struct arena *a, const char *format, va_list args)
{
    return or_leave(a, arena_try_vprintf(a, format, args));
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

size_t arena_taken_bytes(const struct arena *a)
{
    return a->block_bytes;
}

size_t arena_cap_bytes(const struct arena *a)
{
    return a->cap_bytes;
}

void arena_set_cap(struct arena *a, size_t cap_bytes)
{
    a->cap_bytes = cap_bytes;
}
