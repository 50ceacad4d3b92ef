/* base/number_walk.h - one walk that writes a struct as numbers, and reads it back.
 *
 * What is stored as a list of numbers is described by one function that walks over its
 * members in their order. With a writer each step copies a member to the numbers, with a
 * reader back, so both cannot disagree; with neither it counts. What is read may come
 * from anywhere: after `failed` nothing that was read means anything.
 */
#ifndef GRIDPLAN_BASE_NUMBER_WALK_H
#define GRIDPLAN_BASE_NUMBER_WALK_H

#include "models/base/arena.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

struct number_walk {
    double *out;      /* written to; NULL: counted only, or read */
    const double *in; /* read from; NULL: written */
    size_t at, count; /* place; numbers that there are, when reading */
    int form;         /* which of its forms; each walk has its own */
    bool failed;      /* reading: there was less than is needed, or something else */
    struct arena *a;  /* reading: of what is made */
};

/* Any number. */
static inline void walk_number(struct number_walk *w, double *value)
{
    if (w->in && w->at >= w->count) {
        w->failed = true;
        return;
    }
    if (w->in)
        *value = w->in[w->at];
    else if (w->out)
        w->out[w->at] = *value;
    w->at++;
}

/* `count` of them. */
static inline void walk_numbers(struct number_walk *w, double *value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        walk_number(w, &value[i]);
}

/* A whole number from 0 to `max`. */
static inline void walk_whole(struct number_walk *w, size_t *value, size_t max)
{
    double x = (double)*value;

    walk_number(w, &x);
    if (!w->in || w->failed)
        return;
    if (x >= 0 && x <= (double)max && x == floor(x))
        *value = (size_t)x;
    else
        w->failed = true;
}

/* The number of a list's elements, `max` at most, and room for the list: itself, or when
 * reading a new one, if for each element there are `least` numbers. */
static inline void *walk_room(struct number_walk *w, void *list, size_t *count,
                              size_t max, size_t size, size_t least)
{
    walk_whole(w, count, max);
    if (!w->in)
        return list;
    if (w->failed || *count > (w->count - w->at) / least) {
        w->failed = true;
        *count = 0;
    }
    return arena_alloc(w->a, size, *count + 1);
}

/* 0 or 1. */
static inline void walk_flag(struct number_walk *w, bool *value)
{
    size_t x = *value;

    walk_whole(w, &x, 1);
    *value = x == 1;
}

#endif
