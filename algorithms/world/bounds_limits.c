/* world/bounds_limits.c - how short a plan can be by what one user may have in a
 * partition.
 *
 * A limit is a shared amount of the jobs that have no other partition: the volume
 * argument of bounds_makespan.c for each limit by itself, with its own jobs and its own
 * area.
 *
 * Cost: O((jobs + holds) log). Source: world-model.md 5.3 (b), 13.
 */
#include "algorithms/world/bounds_parts.h"

#include <stdlib.h>

/* A job that takes of a limit wherever it goes. */
struct part {
    size_t limit;
    double head_s;
    double value; /* units * seconds */
};

/* What is left of a limit, summed up to each of its steps. */
struct area {
    struct profile free;
    double *sums; /* by step */
};

/* By limit, then falling head. */
static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    if (x->limit != y->limit)
        return x->limit < y->limit ? -1 : 1;
    return (x->head_s < y->head_s) - (x->head_s > y->head_s);
}

static double rate_at(const struct area *s, size_t step)
{
    return s->free.free[step] > 0 ? (double)s->free.free[step] : 0;
}

static struct area area_of(const struct bounds_field *f, const struct world_limit *l)
{
    struct area s;

    profile_of_limit(f->w, l, &s.free, f->arena);
    s.sums = NEW(f->arena, double, s.free.count);
    for (size_t i = 1; i < s.free.count; i++)
        s.sums[i] =
            s.sums[i - 1] + rate_at(&s, i - 1) * (s.free.at_s[i] - s.free.at_s[i - 1]);
    budget_step(f->w->budget, s.free.count);
    return s;
}

static double area_until(const struct area *s, double t_s)
{
    size_t step = profile_at(&s->free, t_s);

    return s->sums[step] + rate_at(s, step) * (t_s - s->free.at_s[step]);
}

/* The least time with that area; 0: there is none. */
static double time_of(const struct area *s, double area)
{
    size_t low = 0, high = s->free.count;

    while (high - low > 1) { /* the last step that begins with less */
        size_t middle = low + (high - low) / 2;

        if (s->sums[middle] < area)
            low = middle;
        else
            high = middle;
    }
    return rate_at(s, low) > 0
               ? s->free.at_s[low] + (area - s->sums[low]) / rate_at(s, low)
               : 0;
}

/* All choices of the job take of the first one's n-th limit. */
static bool is_everywhere(const struct world_job *j, size_t n)
{
    for (size_t c = 1; c < j->choice_count; c++) {
        bool found = false;

        for (size_t k = 0; k < j->choices[c].limit_count; k++)
            found = found || j->choices[c].limits[k] == j->choices[0].limits[n];
        if (!found)
            return false;
    }
    return true;
}

static size_t list_parts(const struct bounds_field *f, struct part *list)
{
    size_t count = 0;

    for (size_t r = 0; r < f->row_count; r++) {
        const struct bounds_row *row = &f->rows[r];
        const struct world_job *j = row->of;

        budget_step(f->w->budget, 1 + j->choice_count);
        for (size_t k = 0; j->choice_count && k < j->choices[0].limit_count; k++) {
            size_t limit = j->choices[0].limits[k];

            if (is_everywhere(j, k))
                list[count++] = (struct part){
                    limit, row->head_s,
                    (double)world_limit_need(&f->w->limits[limit], j) * row->least_s};
        }
    }
    return count;
}

double bounds_limits_s(const struct bounds_field *f)
{
    struct arena_mark mark = arena_mark(f->arena);
    struct part *list = NEW(f->arena, struct part, CHOICE_LIMITS_MAX * f->row_count);
    size_t count = list_parts(f, list);
    double bound_s = 0;
    long double sum = 0;
    struct area s = {0};

    if (budget_step(f->w->budget, 16 * count))
        count = 0;
    qsort(list, count, sizeof(*list), compare_parts);
    for (size_t i = 0; i < count; i++) {
        bool is_first = i == 0 || list[i].limit != list[i - 1].limit;
        double area;

        if (is_first)
            s = area_of(f, &f->w->limits[list[i].limit]);
        sum = is_first ? list[i].value : sum + list[i].value;
        if (i + 1 < count && list[i + 1].limit == list[i].limit &&
            list[i + 1].head_s >= list[i].head_s)
            continue;
        area = (double)(area_until(&s, list[i].head_s) + sum);
        bound_s = fmax(bound_s, time_of(&s, area * (1 - BOUNDS_SUM_SLACK)));
        if (budget_step(f->w->budget, 16))
            break;
    }
    arena_rewind(f->arena, mark);
    return bound_s * (1 - BOUNDS_SLACK);
}
