/* placement/free_profile.c - what a resource has free, from now on. */
#include "algorithms/placement/free_profile.h"

#include <math.h>
#include <string.h>

#define SLACK     1e-12
#define UNITS_MAX 0x1p60
enum { SCALE_BITS = 50 };

double amount_scale(double largest)
{
    int exponent = 0;

    if (!(largest > 0 && largest < HUGE_VAL))
        return 1;
    frexp(largest, &exponent);
    return ldexp(1, SCALE_BITS - exponent);
}

int64_t amount_need(double amount, double scale)
{
    double units = round(amount * scale);

    return units < UNITS_MAX ? (int64_t)units : AMOUNT_UNLIMITED;
}

int64_t amount_room(double amount, double scale)
{
    double units = floor(amount * (1 + SLACK) * scale);
    int64_t least = amount_need(amount, scale);

    if (least == AMOUNT_UNLIMITED || !(units < UNITS_MAX))
        return AMOUNT_UNLIMITED;
    return (int64_t)units > least ? (int64_t)units : least;
}

static void make_room(struct free_profile *p, size_t count, struct arena *a)
{
    size_t room = p->room ? 2 * p->room : 4;

    if (count <= p->room)
        return;
    p->steps = p->room ? GROW(a, p->steps, struct free_profile_step, p->count, room)
                       : NEW(a, struct free_profile_step, room);
    p->room = room;
}

void free_profile_reset(struct free_profile *p, const struct amounts *all,
                        struct arena *a)
{
    p->count = 0;
    make_room(p, 1, a);
    p->steps[p->count++] = (struct free_profile_step){0, *all};
}

/* The step that holds at t_s >= 0. */
static size_t step_at(const struct free_profile *p, double t_s)
{
    size_t low = 0, high = p->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (p->steps[middle].t_s <= t_s)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The step that begins at t_s, made by splitting if need be; there is room for it. */
static size_t split(struct free_profile *p, double t_s)
{
    size_t at = step_at(p, t_s);

    if (p->steps[at].t_s >= t_s)
        return at;
    memmove(p->steps + at + 2, p->steps + at + 1,
            (p->count - at - 1) * sizeof(*p->steps));
    p->steps[at + 1] = p->steps[at];
    p->steps[at + 1].t_s = t_s;
    p->count++;
    return at + 1;
}

/* Makes the step one with the step before it if nothing else is free in it. */
static void join(struct free_profile *p, size_t at)
{
    if (at == 0 || at >= p->count ||
        memcmp(&p->steps[at].free, &p->steps[at - 1].free, sizeof(p->steps[at].free)) !=
            0)
        return;
    memmove(p->steps + at, p->steps + at + 1, (p->count - at - 1) * sizeof(*p->steps));
    p->count--;
}

void free_profile_take(struct free_profile *p, double start_s, double end_s,
                       const struct amounts *taken, struct arena *a)
{
    size_t first, end;

    if (!(start_s < end_s))
        return;
    while (p->count + 2 > p->room)
        make_room(p, p->room + 1, a);
    first = split(p, start_s);
    end = end_s < HUGE_VAL ? split(p, end_s) : p->count;
    for (size_t i = first; i < end; i++)
        for (enum amount k = AMOUNT_SLOTS; k <= AMOUNT_MEMORY; k++) {
            int64_t *left = &p->steps[i].free.of[k];

            if (*left == AMOUNT_UNLIMITED)
                continue;
            *left -= taken->of[k];
            if (*left < -AMOUNT_UNLIMITED)
                *left = -AMOUNT_UNLIMITED;
        }
    join(p, end);
    join(p, first);
}

static bool has_room(const struct free_profile_step *s, const struct amounts *need)
{
    for (enum amount k = AMOUNT_SLOTS; k <= AMOUNT_MEMORY; k++)
        if (need->of[k] > 0 && s->free.of[k] < need->of[k])
            return false;
    return true;
}

static double end_of(const struct free_profile_hold *h, double start_s)
{
    double staged_s = start_s + h->add_s;

    return (staged_s < h->until_s ? h->until_s : staged_s) + h->time_s;
}

double free_profile_fit(const struct free_profile *p, const struct amounts *need,
                        const struct free_profile_hold *hold, double from_s,
                        double latest_s, size_t *looks)
{
    size_t at = step_at(p, from_s);
    double start_s = from_s, end_s = end_of(hold, from_s);

    for (;; at++) {
        ++*looks;
        if (!has_room(&p->steps[at], need)) {
            if (at + 1 == p->count)
                return HUGE_VAL;
            start_s = p->steps[at + 1].t_s;
            if (start_s > latest_s)
                return HUGE_VAL;
            end_s = end_of(hold, start_s);
        } else if (at + 1 == p->count || p->steps[at + 1].t_s >= end_s) {
            return start_s;
        }
    }
}
