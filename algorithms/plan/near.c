/* plan/near.c - in which order a planner asks for all intervals. */
#include "algorithms/plan/near.h"

/* How far each number of phases 1..n is from the nearest in is_near. */
static void measure(const bool *is_near, size_t n, size_t *distance)
{
    size_t far = 2 * n;

    for (size_t k = 1; k <= n; k++)
        distance[k] = far = is_near[k] ? 0 : far + 1;
    for (size_t k = n; k >= 1; k--) {
        far = is_near[k] ? 0 : far + 1;
        if (far < distance[k])
            distance[k] = far;
    }
}

/* The numbers 1..n by their distance, then by themselves. */
static void order_by(const size_t *distance, size_t n, size_t *order)
{
    size_t count = 0;

    for (size_t d = 0; d < n && count < n; d++)
        for (size_t k = 1; k <= n; k++)
            if (distance[k] == d)
                order[count++] = k;
}

/* All intervals of `phases` phases. */
static bool ask_all(struct plan_table *table, size_t first, size_t last, size_t phases)
{
    for (size_t a = first; a + phases <= last + 1; a++)
        if (!plan_table_seeded(table, a, a + phases - 1))
            return false;
    return true;
}

bool plan_near_ask(struct plan_table *tables, size_t count, size_t first, size_t last,
                   const bool *is_near, const struct plan_work *work)
{
    size_t n = last - first + 1;

    measure(is_near, n, work->distance);
    order_by(work->distance, n, work->numbers);
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < count; t++) {
            if (!tables[t].source)
                continue;
            if (!ask_all(&tables[t], first, last, work->numbers[i]))
                return false;
        }
    return true;
}
