/* base/heap.h - a binary heap over an array of any type: what comes first is at [0].
 *
 * HEAP(name, type, is_before) makes the functions below for
 *     bool is_before(const type *a, const type *b)
 * and HEAP_IN(name, type, context_type, is_before) those that take a context first, for
 *     bool is_before(const context_type *context, const type *a, const type *b)
 * say where what is compared lies beside the heap. The list is the caller's, and so is
 * room for what is pushed. Elements that come before each other in neither direction
 * leave in an order that follows from the calls alone, but that nobody should rely on:
 * let is_before() settle ties.
 *
 *     name_push(list, &count, element)      O(log n)
 *     name_pop(list, &count)                O(log n); the first, which there must be
 *     name_first_changed(list, count)       O(log n); [0] has got another value, or has
 *                                           been replaced; nothing for a count of 0
 *     name_heapify(list, count)             O(n); from any order
 *
 * Example: the three that end first.
 *
 *     static bool ends_before(const double *a, const double *b) { return *a < *b; }
 *     HEAP(ends, double, ends_before)
 *
 *     double list[] = {5, 2, 9, 4}, first[3];
 *     size_t count = 4;
 *
 *     ends_heapify(list, count);            list[0] is 2
 *     for (int i = 0; i < 3; i++)
 *         first[i] = ends_pop(list, &count);    2, 4, 5; count is 1
 */
#ifndef GRIDPLAN_BASE_HEAP_H
#define GRIDPLAN_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#define HEAP_FUNCTION_ __attribute__((unused)) static inline

/* Elements move into the hole that the one on its way leaves, so that each is copied
 * once a level. */
#define HEAP_IN(name, type, context_type, is_before)                                     \
    HEAP_FUNCTION_ void name##_sift_down_(const context_type *context, type *list,       \
                                          size_t count, size_t hole)                     \
    {                                                                                    \
        type moved = list[hole];                                                         \
                                                                                         \
        for (size_t child; (child = 2 * hole + 1) < count; hole = child) {               \
            if (child + 1 < count && is_before(context, &list[child + 1], &list[child])) \
                child++;                                                                 \
            if (!is_before(context, &list[child], &moved))                               \
                break;                                                                   \
            list[hole] = list[child];                                                    \
        }                                                                                \
        list[hole] = moved;                                                              \
    }                                                                                    \
    HEAP_FUNCTION_ void name##_push(const context_type *context, type *list,             \
                                    size_t *count, type element)                         \
    {                                                                                    \
        size_t hole = (*count)++;                                                        \
                                                                                         \
        while (hole > 0 && is_before(context, &element, &list[(hole - 1) / 2])) {        \
            list[hole] = list[(hole - 1) / 2];                                           \
            hole = (hole - 1) / 2;                                                       \
        }                                                                                \
        list[hole] = element;                                                            \
    }                                                                                    \
    HEAP_FUNCTION_ void name##_first_changed(const context_type *context, type *list,    \
                                             size_t count)                               \
    {                                                                                    \
        if (count > 0)                                                                   \
            name##_sift_down_(context, list, count, 0);                                  \
    }                                                                                    \
    HEAP_FUNCTION_ type name##_pop(const context_type *context, type *list,              \
                                   size_t *count)                                        \
    {                                                                                    \
        type first = list[0];                                                            \
                                                                                         \
        list[0] = list[--*count];                                                        \
        name##_first_changed(context, list, *count);                                     \
        return first;                                                                    \
    }                                                                                    \
    HEAP_FUNCTION_ void name##_heapify(const context_type *context, type *list,          \
                                       size_t count)                                     \
    {                                                                                    \
        for (size_t at = count / 2; at-- > 0;)                                           \
            name##_sift_down_(context, list, count, at);                                 \
    }

#define HEAP(name, type, is_before)                                          \
    HEAP_FUNCTION_ bool name##_before_(const void *context, const type *a,   \
                                       const type *b)                        \
    {                                                                        \
        (void)context;                                                       \
        return is_before(a, b);                                              \
    }                                                                        \
    HEAP_IN(name##_in, type, void, name##_before_)                           \
    HEAP_FUNCTION_ void name##_push(type *list, size_t *count, type element) \
    {                                                                        \
        name##_in_push(NULL, list, count, element);                          \
    }                                                                        \
    HEAP_FUNCTION_ type name##_pop(type *list, size_t *count)                \
    {                                                                        \
        return name##_in_pop(NULL, list, count);                             \
    }                                                                        \
    HEAP_FUNCTION_ void name##_first_changed(type *list, size_t count)       \
    {                                                                        \
        name##_in_first_changed(NULL, list, count);                          \
    }                                                                        \
    HEAP_FUNCTION_ void name##_heapify(type *list, size_t count)             \
    {                                                                        \
        name##_in_heapify(NULL, list, count);                                \
    }

#endif
