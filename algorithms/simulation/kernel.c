/* simulation/kernel.c - the chain of future events.
 *
 * Not a heap of base/heap.h: four children a node share a cache line or two, and the
 * place of an event that was taken stays open for the next one that is posted.
 */
#include "algorithms/simulation/kernel.h"

enum { ARITY = 4, FIRST_SIZE = 256 };
enum { SEQUENCE_BITS = 40, TURN_SHIFT = 48, TURN_MAX = 0xffff };

static const uint8_t priorities[] = {
#define X(kind, priority) priority,
    EVENT_KINDS(X)
#undef X
};

/* Without a jump, which nobody could foretell. */
static inline bool is_before(const struct event *a, const struct event *b)
{
    return (a->at_ms < b->at_ms) | ((a->at_ms == b->at_ms) & (a->order < b->order));
}

static void grow(struct kernel *k)
{
    size_t size = k->size ? 2 * k->size : FIRST_SIZE;
    struct event *heap = GROW(k->arena, k->heap, struct event, k->count, size);

    k->heap = heap;
    k->size = size;
}

static uint64_t order_of(struct kernel *k, int64_t at_ms, enum event_kind kind)
{
    uint64_t turn = 0;

    if (at_ms == k->now_ms)
        turn = k->turn < TURN_MAX ? k->turn + 1 : TURN_MAX;
    return turn << TURN_SHIFT | (uint64_t)priorities[kind] << SEQUENCE_BITS |
           (k->sequence++ & (((uint64_t)1 << SEQUENCE_BITS) - 1));
}

static size_t least_child(const struct kernel *k, size_t first)
{
    size_t end = first + ARITY < k->count ? first + ARITY : k->count;
    size_t least = first;

    for (size_t i = first + 1; i < end; i++)
        if (is_before(&k->heap[i], &k->heap[least]))
            least = i;
    return least;
}

/* Puts an event in the place of the first. */
static void replace_first(struct kernel *k, struct event e)
{
    size_t i = 0;

    for (size_t child = 1; child < k->count; child = ARITY * i + 1) {
        child = least_child(k, child);
        if (!is_before(&k->heap[child], &e))
            break;
        k->heap[i] = k->heap[child];
        i = child;
    }
    k->heap[i] = e;
}

static void append(struct kernel *k, struct event e)
{
    size_t i = k->count++;

    while (i > 0) {
        size_t parent = (i - 1) / ARITY;

        if (!is_before(&e, &k->heap[parent]))
            break;
        k->heap[i] = k->heap[parent];
        i = parent;
    }
    k->heap[i] = e;
}

/* The first event has been taken, and nothing came in its place. */
static void close_gap(struct kernel *k)
{
    if (!k->has_gap)
        return;
    k->has_gap = false;
    if (--k->count > 0)
        replace_first(k, k->heap[k->count]);
}

void kernel_post(struct kernel *k, int64_t at_ms, enum event_kind kind, void *target,
                 uint32_t version)
{
    struct event e = {
        .at_ms = at_ms, .target = target, .version = version, .kind = (uint32_t)kind};

    if (at_ms >= k->end_ms)
        return;
    e.order = order_of(k, at_ms, kind);
    if (k->has_gap) {
        k->has_gap = false;
        replace_first(k, e);
    } else {
        if (k->count == k->size)
            grow(k);
        append(k, e);
    }
}

void kernel_post_arrival(struct kernel *k, int64_t at_ms)
{
    k->has_arrival = at_ms < k->end_ms;
    k->arrival = (struct event){
        .at_ms = at_ms, .order = order_of(k, at_ms, EVENT_SUBMIT), .kind = EVENT_SUBMIT};
}

/* NULL: there is none. */
static const struct event *first_of(struct kernel *k)
{
    close_gap(k);
    if (k->has_arrival && (k->count == 0 || is_before(&k->arrival, &k->heap[0])))
        return &k->arrival;
    return k->count ? &k->heap[0] : NULL;
}

bool kernel_take(struct kernel *k, struct event *event)
{
    const struct event *first = first_of(k);

    if (!first || first->at_ms >= k->end_ms)
        return false;
    *event = *first;
    if (first == &k->arrival)
        k->has_arrival = false;
    else
        k->has_gap = true;
    k->now_ms = event->at_ms;
    k->turn = event->order >> TURN_SHIFT;
    return true;
}

bool kernel_turn_ends(struct kernel *k)
{
    const struct event *first = first_of(k);

    return !first || first->at_ms != k->now_ms || first->order >> TURN_SHIFT != k->turn;
}
