/* world/profile.c - steps of what is free: looked through, cut and joined. */
#include "algorithms/world/profile.h"

#include <stdlib.h>
#include <string.h>

static int64_t *amounts_of(const struct profile *p, size_t step)
{
    return p->free + step * p->amount_count;
}

static bool same(const struct profile *p, size_t step, size_t other)
{
    return memcmp(amounts_of(p, step), amounts_of(p, other),
                  p->amount_count * sizeof(*p->free)) == 0;
}

/* The array has room for `count` steps. */
static void reserve(struct profile *p, size_t count, struct arena *a)
{
    size_t room = p->room + p->room / 2;

    if (count <= p->room)
        return;
    if (room < count)
        room = count + 2;
    p->at_s = GROW(a, p->at_s, double, p->count, room);
    p->free =
        GROW(a, p->free, int64_t, p->count * p->amount_count, room * p->amount_count);
    p->room = room;
}

void profile_reset(struct profile *p, const int64_t *free, size_t amount_count,
                   struct arena *a)
{
    if (p->amount_count != amount_count)
        *p = (struct profile){.amount_count = amount_count};
    p->count = 0;
    reserve(p, 1, a);
    p->at_s[0] = 0;
    memcpy(p->free, free, amount_count * sizeof(*free));
    p->count = 1;
}

void profile_copy(struct profile *p, const struct profile *from, struct arena *a)
{
    if (p->amount_count != from->amount_count)
        *p = (struct profile){.amount_count = from->amount_count};
    p->count = 0;
    reserve(p, from->count, a);
    p->count = from->count;
    memcpy(p->at_s, from->at_s, from->count * sizeof(*p->at_s));
    memcpy(p->free, from->free, from->count * from->amount_count * sizeof(*p->free));
}

size_t profile_at(const struct profile *p, double t_s)
{
    size_t low = 0, high = p->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (p->at_s[middle] <= t_s)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* A step begins at t_s, which is its number; HUGE_VAL: behind the last. */
static size_t cut_at(struct profile *p, double t_s, struct arena *a)
{
    size_t step;

    if (t_s == HUGE_VAL)
        return p->count;
    step = profile_at(p, t_s);
    if (p->at_s[step] == t_s)
        return step;
    reserve(p, p->count + 1, a);
    step++;
    memmove(p->at_s + step + 1, p->at_s + step, (p->count - step) * sizeof(*p->at_s));
    memmove(amounts_of(p, step + 1), amounts_of(p, step),
            (p->count - step) * p->amount_count * sizeof(*p->free));
    p->at_s[step] = t_s;
    memcpy(amounts_of(p, step), amounts_of(p, step - 1),
           p->amount_count * sizeof(*p->free));
    p->count++;
    return step;
}

/* Takes the step away if the one before has the same amounts. */
static void join_at(struct profile *p, size_t step)
{
    if (step == 0 || step >= p->count || !same(p, step - 1, step))
        return;
    p->count--;
    memmove(p->at_s + step, p->at_s + step + 1, (p->count - step) * sizeof(*p->at_s));
    memmove(amounts_of(p, step), amounts_of(p, step + 1),
            (p->count - step) * p->amount_count * sizeof(*p->free));
}

/* Inside [start_s, end_s) all steps change by the same, so that none of them becomes
 * equal to its neighbour: only the two ends may. */
static void change(struct profile *p, double start_s, double end_s, const int64_t *by,
                   int64_t sign, struct arena *a)
{
    size_t first, behind;

    if (!(start_s < end_s))
        return;
    first = cut_at(p, start_s, a);
    behind = cut_at(p, end_s, a);
    for (size_t step = first; step < behind; step++)
        for (size_t k = 0; k < p->amount_count; k++)
            amounts_of(p, step)[k] = amount_add(amounts_of(p, step)[k], sign * by[k]);
    join_at(p, behind);
    join_at(p, first);
}

void profile_take_amounts(struct profile *p, double start_s, double end_s,
                          const int64_t *taken, struct arena *a)
{
    change(p, start_s, end_s, taken, -1, a);
}

void profile_give_amounts(struct profile *p, double start_s, double end_s,
                          const int64_t *taken, struct arena *a)
{
    change(p, start_s, end_s, taken, 1, a);
}

static bool lacks(const int64_t *free, const int64_t *at_least, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (free[k] < at_least[k])
            return true;
    return false;
}

double profile_fit_amounts(const struct profile *p, const int64_t *at_least,
                           double held_s, double from_s, double latest_s, size_t *looks)
{
    double start_s = from_s, end_s = from_s + held_s;
    size_t step, began;

    if (!(from_s <= latest_s) || from_s == HUGE_VAL)
        return HUGE_VAL;
    began = step = profile_at(p, from_s);
    /* What has no length needs nothing free. */
    while (end_s > start_s) {
        if (lacks(amounts_of(p, step), at_least, p->amount_count)) {
            if (step + 1 == p->count || p->at_s[step + 1] > latest_s) {
                start_s = HUGE_VAL;
                break;
            }
            start_s = p->at_s[step + 1];
            end_s = start_s + held_s;
        } else if (step + 1 == p->count || p->at_s[step + 1] >= end_s) {
            break;
        }
        step++;
    }
    *looks += step - began + 1;
    return start_s;
}
