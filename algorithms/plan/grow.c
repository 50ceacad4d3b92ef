/* plan/grow.c - intervals that grow phase by phase, for both incremental planners. */
#include "algorithms/plan/grow.h"

bool plan_first_valid(const struct plan_site_in *in, size_t start, size_t *last)
{
    for (size_t end = start; end <= in->last; end++) {
        const struct plan_best *best = plan_table_best(in->table, start, end);

        if (!best)
            return false;
        if (plan_long_enough(in, best->time_s)) {
            *last = end;
            return true;
        }
    }
    *last = in->last + 1;
    return true;
}

/* The interval on the better of its best schedule and the one that it grew on; the
 * best need not be the least when the scheduler is a heuristic. */
static bool close_piece(const struct plan_site_in *in, size_t start, size_t end,
                        size_t schedule, struct plan_piece *piece)
{
    const struct plan_best *best = plan_table_best(in->table, start, end);
    double grown_s;

    if (!best)
        return false;
    *piece = (struct plan_piece){start, end, best->schedule, best->time_s};
    if (schedule == SIZE_MAX)
        return true;
    grown_s = plan_table_time_on(in->table, schedule, start, end);
    if (grown_s < piece->time_s) {
        piece->schedule = schedule;
        piece->time_s = grown_s;
    }
    return true;
}

/* Lets the valid interval start..*end grow. */
static bool grow_piece(const struct plan_site_in *in, plan_grow_fn *grow, size_t start,
                       size_t *end, size_t *schedule)
{
    bool take = true;

    *schedule = plan_table_best(in->table, start, *end)->schedule;
    while (*end < in->last) {
        if (!grow(in, start, *end, schedule, &take))
            return false;
        if (!take)
            break;
        ++*end;
    }
    return true;
}

enum error_code plan_grow(const struct plan_site_in *in, plan_grow_fn *grow,
                          struct plan_site_out *out)
{
    struct plan_piece *pieces = in->work->pieces;
    size_t count = 0, schedule = SIZE_MAX;

    for (size_t start = in->first, end; start <= in->last; start = end + 1) {
        if (!plan_first_valid(in, start, &end))
            return plan_pieces_answer(in, count, true, out);
        if (end > in->last) {
            start = count ? pieces[--count].first : start;
            end = in->last;
        } else if (!grow_piece(in, grow, start, &end, &schedule)) {
            return plan_pieces_answer(in, count, true, out);
        }
        if (!close_piece(in, start, end, schedule, &pieces[count]))
            return plan_pieces_answer(in, count, true, out);
        count++;
    }
    return plan_pieces_answer(in, count, false, out);
}
