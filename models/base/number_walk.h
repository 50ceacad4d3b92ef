/* base/number_walk.h - one walk that writes a struct as numbers, and reads it back.
 *
 * What is stored as a list of numbers is described by one function that walks over its
 * members in their order. With a writer each step copies a member to the numbers, with a
 * reader back, so both cannot disagree; with neither it counts. What is read may come
 * from anywhere: after `failed` nothing that was read means anything.
 */
#ifndef GRIDPLAN_BASE_NUMBER_WALK_H
#define GRIDPLAN_BASE_NUMBER_WALK_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

struct number_walk {
    double *out;      /* written to; NULL: counted only, or read */
    const double *in; /* read from; NULL: written */
    size_t at, count; /* place; numbers that there are, when reading */
    int form;         /* which of its forms; each walk has its own */
    bool failed;      /* reading: there was less than is needed, or something else */
    struct arena *a;  /* reading: of what is made */
};

/* Any number. */
void walk_number(struct number_walk *w, double *value);

/* A whole number from 0 to `max`. */
void walk_whole(struct number_walk *w, size_t *value, size_t max);

/* 0 or 1. */
void walk_flag(struct number_walk *w, bool *value);

#endif
