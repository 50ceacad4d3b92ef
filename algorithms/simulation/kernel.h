/* simulation/kernel.h - the chain of future events.
 *
 * Events come out by instant, then by turn, priority and the order in which they
 * were posted. A turn is what was there when the instant began; what is posted
 * for the present instant belongs to the next turn. Nothing is ever taken out:
 * who posts an event keeps a version, and an event of an older version is void.
 *
 * Source: spec simulator.md 2.1; 000_168dd5aef5075332 2.2 [L709-L711].
 * A heap of four children, 32 bytes an event; O(log n) to post and to take.
 */
#ifndef GRIDPLAN_SIMULATION_KERNEL_H
#define GRIDPLAN_SIMULATION_KERNEL_H

#include "models/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* Of simultaneous events: kind, priority (spec 2.1). */
#define EVENT_KINDS(X)        \
    X(RESOURCE_ADD, 5)        \
    X(TRANSFER, 10)           \
    X(FLOW, 10)               \
    X(STAGE, 10)              \
    X(WORK, 20)               \
    X(CHECKPOINT_DONE, 30)    \
    X(CHECKPOINT_STORED, 30)  \
    X(RESTORE, 40)            \
    X(FAIL, 50)               \
    X(LOAD, 60)               \
    X(CHECKPOINT_REQUEST, 75) \
    X(SUBMIT, 80)             \
    X(POLL, 90)               \
    X(ROUND, 100)             \
    X(APPLY, 100)             \
    X(STABLE, 110)

#define X(kind, priority) EVENT_##kind,
enum event_kind { EVENT_KINDS(X) EVENT_KIND_COUNT };
#undef X

struct event {
    int64_t at_ms;
    uint64_t order; /* turn, priority, sequence */
    void *target;
    uint32_t version;
    uint32_t kind;
};

#define KERNEL_NEVER INT64_MAX

struct kernel {
    struct event *heap;
    size_t count, size;
    bool has_gap; /* the first has been taken; the next that is posted takes its place */
    int64_t now_ms;
    int64_t end_ms; /* what falls on it or later is not kept */
    uint64_t turn;
    uint64_t sequence;
    struct event arrival; /* the next submission, beside the heap: it is soon, and would
                             go all the way up and down */
    bool has_arrival;
    struct arena *arena;
};

/* Posts an event at at_ms >= now. */
void kernel_post(struct kernel *k, int64_t at_ms, enum event_kind kind, void *target,
                 uint32_t version);

/* Posts the submission of the next job; there is one at a time. */
void kernel_post_arrival(struct kernel *k, int64_t at_ms);

/* The first event, which becomes the present; false: there is none. */
bool kernel_take(struct kernel *k, struct event *event);

/* The present turn is over: the next event is of a later one. */
bool kernel_turn_ends(struct kernel *k);

/* Whole milliseconds, half up; KERNEL_NEVER when that is beyond all time. Not below
 * -4e15 s. */
static inline int64_t kernel_ms(double seconds)
{
    double ms = seconds * 1000 + 0.5;
    int64_t whole;

    if (!(ms < 4e18))
        return KERNEL_NEVER;
    whole = (int64_t)ms;
    return whole - ((double)whole > ms); /* down, not towards 0 */
}

/* When something ends that takes so long from now. */
static inline int64_t kernel_after(const struct kernel *k, double seconds)
{
    int64_t ms = kernel_ms(seconds);

    return ms < KERNEL_NEVER - k->now_ms ? k->now_ms + ms : KERNEL_NEVER;
}

#endif
