/* world/world.c - amounts in whole units. */
#include "algorithms/world/world.h"

int64_t amount_units(double value, double per_one)
{
    double units;

    if (isnan(value) || value >= 1e18)
        return AMOUNT_UNLIMITED;
    if (value <= 0)
        return 0;
    units = floor(value * per_one + 0.5);
    if (units < 1)
        return 1;
    return units < (double)AMOUNT_UNLIMITED ? (int64_t)units : AMOUNT_UNLIMITED;
}

double amount_value(const struct world *w, size_t amount, int64_t units)
{
    return (double)units / w->amounts[amount].per_one;
}

int64_t amount_add(int64_t a, int64_t b)
{
    if (a >= AMOUNT_UNLIMITED || b >= AMOUNT_UNLIMITED - (a > 0 ? a : 0))
        return AMOUNT_UNLIMITED;
    if (a <= -AMOUNT_UNLIMITED || b <= -AMOUNT_UNLIMITED - (a < 0 ? a : 0))
        return -AMOUNT_UNLIMITED;
    return a + b;
}

const char *const world_limit_names[] = {
    [LIMIT_JOBS] = "jobs_per_user_max", [LIMIT_CPUS] = "cpus_per_user_max"};

int64_t world_limit_need(const struct world_limit *l, const struct world_job *j)
{
    int64_t cpus = j->needs[AMOUNT_CPUS], units;

    if (l->kind == LIMIT_JOBS)
        return 1;
    return __builtin_mul_overflow(cpus, (int64_t)j->nodes, &units) ||
                   units > AMOUNT_UNLIMITED
               ? AMOUNT_UNLIMITED
               : units;
}

int64_t world_limit_left(const struct world *w, const struct world_limit *l)
{
    int64_t left = l->capacity;

    budget_step(w->budget, 1 + l->held_count);
    for (size_t h = 0; h < l->held_count; h++)
        left = amount_add(left, -l->held[h].units);
    return left;
}

bool world_is_limited(const struct world_job *j)
{
    for (size_t c = 0; c < j->choice_count; c++)
        if (j->choices[c].limit_count)
            return true;
    return false;
}

bool world_same_limits(const struct world_choice *a, const struct world_choice *b)
{
    if (a->limit_count != b->limit_count)
        return false;
    for (size_t k = 0; k < a->limit_count; k++)
        if (a->limits[k] != b->limits[k])
            return false;
    return true;
}
