/* placement/makespan_fill.c - an assignment that the prices suggest.
 *
 * Jobs by falling least time, each to the machine of least
 *
 *     p_j (t_ij + max(0, load_j + t_ij - goal)),  load_j from the wait on.
 *
 * Source: spec search.md 4.2. Cost: jobs * machines, after sorting.
 */
#include "algorithms/placement/makespan_parts.h"

#include <stdlib.h>

struct sized_job {
    double least;
    size_t job;
};

static int longest_first(const void *left, const void *right)
{
    const struct sized_job *l = left, *r = right;

    if (l->least != r->least)
        return l->least > r->least ? -1 : 1;
    return l->job < r->job ? -1 : 1;
}

static size_t machine_for(const struct makespan_field *f, const double *price,
                          double goal, const double *time)
{
    double least = HUGE_VAL;
    size_t machine = 0;

    for (size_t j = 0; j < f->machine_count; j++) {
        double over = f->spare_load[j] + time[j] - goal;
        double cost = price[j] * (time[j] + (over > 0 ? over : 0));

        if (cost < least) {
            least = cost;
            machine = j;
        }
    }
    return machine;
}

void makespan_fill(const struct makespan_field *f, const double *price, double goal,
                   size_t *assignment)
{
    struct sized_job *order = NEW(f->arena, struct sized_job, f->job_count);

    for (size_t i = 0; i < f->job_count; i++) {
        const double *time = f->open + i * f->machine_count;

        order[i] = (struct sized_job){HUGE_VAL, i};
        for (size_t j = 0; j < f->machine_count; j++)
            order[i].least = time[j] < order[i].least ? time[j] : order[i].least;
        if (ticks_spent(f->ticks, f->machine_count))
            return;
    }
    qsort(order, f->job_count, sizeof(*order), longest_first);
    for (size_t j = 0; j < f->machine_count; j++)
        f->spare_load[j] = f->wait[j];
    for (size_t i = 0; i < f->job_count; i++) {
        const double *time = f->open + order[i].job * f->machine_count;
        size_t machine = machine_for(f, price, goal, time);

        assignment[order[i].job] = machine;
        f->spare_load[machine] += time[machine];
        if (ticks_spent(f->ticks, f->machine_count))
            break;
    }
}

double makespan_length(const struct makespan_field *f, const size_t *assignment)
{
    double longest = 0;

    for (size_t j = 0; j < f->machine_count; j++)
        f->spare_load[j] = f->wait[j];
    for (size_t i = 0; i < f->job_count; i++) {
        size_t j = assignment[i];

        f->spare_load[j] += f->time[i * f->machine_count + j];
        longest = fmax(longest, f->spare_load[j]);
    }
    return longest;
}
