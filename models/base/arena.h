/* base/arena.h - memory that is released all at once.
 *
 * A request owns one arena: everything it computes lives there and goes when
 * the answer has gone out. Memory is handed out zeroed and aligned for any
 * type. The cap bounds what one request can take; reaching it gives NULL,
 * never an abort. An arena serves one thread at a time.
 */
#ifndef GRIDPLAN_BASE_ARENA_H
#define GRIDPLAN_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct arena;

enum { ARENA_UNLEASED_BYTES = 64 * 1024 }; /* each arena's first blocks need no lease */

/* Whom arenas ask before they take memory beyond ARENA_UNLEASED_BYTES each, and whom they
 * tell when they have given it back. The arenas of one request may share one. */
struct arena_lease {
    bool (*take)(void *context, size_t bytes); /* false: refused */
    void (*give)(void *context, size_t bytes);
    void *context;
    bool refused;   /* the last NULL was because of take(), not of a cap */
    bool overdraft; /* what take() refuses is handed out all the same */
};

/* A new arena that hands out at most `cap_bytes`; NULL without memory. */
struct arena *arena_create(size_t cap_bytes);

/* A further arena for the same request, which asks whom `other` asks. Computations that
 * `other` begins may use it too; it is closed with `other` at the latest, and when
 * a computation that created it is left. NULL without memory, in a computation never. */
struct arena *arena_create_beside(struct arena *other, size_t cap_bytes);

/* From now on `a`, an arena of its own, is used by the computations of the request that
 * `other` is of, and what it takes more is asked of whom `other` asks. Whoever did this
 * ends it before it closes `a` and before the request ends, also when a computation is
 * left meanwhile: what was handed out stays, and nobody is asked for it any more. */
void arena_join(struct arena *a, const struct arena *other);
void arena_part(struct arena *a);

/* Calls work(context), a computation; false: it was left, for lack of memory. It may
 * begin another one, which then leaves only itself. */
bool arena_run(struct arena *a, void (*work)(void *context), void *context);

/* Leaves the computation as if `a` had no memory: for what takes its own, or needs more
 * than can be counted. */
void arena_leave(const struct arena *a) __attribute__((noreturn));

/* From now on `lease` is asked, which must outlive what is handed out; NULL: nobody.
 * Only while nothing is leased; what the arena has counts with its next block. */
void arena_set_lease(struct arena *a, struct arena_lease *lease);

/* Whether the last NULL meant that a lease was refused, not that the cap was reached. */
bool arena_lacks_lease(const struct arena *a);

/* For the few bytes that say why all else is refused. */
void arena_allow_overdraft(struct arena *a, bool allowed);

/* Forget everything handed out; keeps a small first block for the next request. */
void arena_reset(struct arena *a);

/* What has been handed out so far, to come back to. */
struct arena_mark {
    size_t block_count, used, used_bytes;
};
struct arena_mark arena_mark(const struct arena *a);

/* Forget what was handed out since. What was handed out last before must not have been
 * extended or given meanwhile. */
void arena_rewind(struct arena *a, struct arena_mark mark);

/* Releases the arena and all that it handed out. Accepts NULL. */
void arena_close(struct arena *a);

/* `count` zeroed elements of `size` bytes. A count of 0 gives a pointer that must not be
 * read. For computations only, as all that follows but arena_try...(): without
 * arena_run() lack of memory ends the process. */
void *arena_alloc(struct arena *a, size_t size, size_t count);

/* A longer copy of `old` (`old_count` elements); the rest is zeroed. The old
 * one stays until the reset, so grow by doubling. */
void *arena_grow(struct arena *a, void *old, size_t size, size_t old_count,
                 size_t new_count);

/* The same for an `old` that nobody uses any more: where it was the last thing handed out
 * it becomes longer, and its memory does not count twice. */
void *arena_extend(struct arena *a, void *old, size_t size, size_t old_count,
                   size_t new_count);

/* What nobody uses any more: its memory comes back where it was the last thing handed
 * out, and with it the block and the lease when it had that to itself. Accepts NULL. */
void arena_give(struct arena *a, void *p, size_t size, size_t count);

/* A copy of `length` bytes of `text` with a NUL behind it. */
char *arena_text(struct arena *a, const char *text, size_t length);

/* A formatted text. */
char *arena_printf(struct arena *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* The same for those that hold more than arenas: NULL when the cap is reached, a lease is
 * refused or the product overflows. */
void *arena_try(struct arena *a, size_t size, size_t count);
void *arena_try_grow(struct arena *a, void *old, size_t size, size_t old_count,
                     size_t new_count);
void *arena_try_extend(struct arena *a, void *old, size_t size, size_t old_count,
                       size_t new_count);
char *arena_try_text(struct arena *a, const char *text, size_t length);
char *arena_try_printf(struct arena *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *arena_try_vprintf(struct arena *a, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* What has been handed out since the last reset, alignment included. */
size_t arena_used_bytes(const struct arena *a);

/* What it has taken: all of its blocks. */
size_t arena_taken_bytes(const struct arena *a);

/* The cap the arena was made with. */
size_t arena_cap_bytes(const struct arena *a);

/* Change the cap; what is already handed out stays. */
void arena_set_cap(struct arena *a, size_t cap_bytes);

#define NEW(a, type, count) ((type *)arena_alloc((a), sizeof(type), (count)))
#define GROW(a, old, type, old_count, new_count) \
    ((type *)arena_grow((a), (old), sizeof(type), (old_count), (new_count)))
#define TRY_NEW(a, type, count) ((type *)arena_try((a), sizeof(type), (count)))
#define TRY_GROW(a, old, type, old_count, new_count) \
    ((type *)arena_try_grow((a), (old), sizeof(type), (old_count), (new_count)))

#endif
