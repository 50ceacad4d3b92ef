/* base/budget.c - when a budget is asked. */
#include "models/base/budget_read.h"

#include <math.h>
#include <time.h>

/* A look costs some hundred nanoseconds: it should come each LOOK_MIN_S to LOOK_MAX_S. */
#define LOOK_MIN_S 0.5e-3
#define LOOK_MAX_S 2e-3

static const int64_t GRAIN_MIN = 1024, GRAIN_MAX = 1 << 22;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Small decisions are over before it is large: it grows fast as long as that is safe.
 * Halved once for each doubling of the lateness: work may become dearer all at once. */
static int64_t next_grain(int64_t grain, double since_s)
{
    if (grain == 0)
        return GRAIN_MIN;
    if (since_s < LOOK_MIN_S) {
        grain *= since_s < LOOK_MIN_S / 8 ? 8 : 2;
        return grain < GRAIN_MAX ? grain : GRAIN_MAX;
    }
    for (; since_s > LOOK_MAX_S && grain > GRAIN_MIN; since_s /= 2)
        grain /= 2;
    return grain;
}

double budget_used(const struct budget *b)
{
    double used;

    if (!b || !b->used)
        return 0;
    used = b->used(b->context);
    if (used < 1 && b->span > 0)
        used = fmax(0, (used - b->from) / b->span);
    return b->spent ? fmax(1, used) : used;
}

bool budget_look(struct budget *b)
{
    if (!b->used) {
        b->left = INT64_MAX;
        return b->spent;
    }
    if (!b->spent) {
        b->grain = next_grain(b->grain, now_s() - b->looked_at_s);
        b->spent = budget_used(b) >= 1;
        b->looked_at_s = now_s(); /* the question may have taken long */
    }
    b->left = b->spent ? 0 : b->grain;
    return b->spent;
}

static _Thread_local struct budget *read_on; /* may be NULL */

void budget_read_on(struct budget *budget)
{
    read_on = budget;
}

bool budget_read_step(size_t n)
{
    return budget_step(read_on, n);
}

struct budget budget_part(const struct budget *whole, double from, double to)
{
    struct budget part = {0};

    if (!whole || !whole->used)
        return part;
    part.used = whole->used;
    part.context = whole->context;
    part.finish = whole->finish;
    part.from = whole->from + from * (whole->span > 0 ? whole->span : 1);
    part.span = (to - from) * (whole->span > 0 ? whole->span : 1);
    part.spent = whole->spent || !(part.span > 0);
    return part;
}
