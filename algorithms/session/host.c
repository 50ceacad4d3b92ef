/* session/host.c - what to start now on one host, from a plan that was made a while ago.
 */
#include "algorithms/session/host.h"

#include <math.h>

static const double TOLERANCE = 1e-9;

struct host {
    const double *capacity;
    size_t amount_count;
    struct session_hold *holds;
    size_t hold_count;
    struct budget *budget;
};

static bool fits_at(const struct host *h, const double *amounts, double at_s)
{
    budget_step(h->budget, h->hold_count * h->amount_count + 1);
    for (size_t k = 0; k < h->amount_count; k++) {
        double taken = amounts[k];

        if (!(amounts[k] > 0) || !(h->capacity[k] < HUGE_VAL))
            continue;
        for (size_t i = 0; i < h->hold_count; i++)
            if (h->holds[i].from_s <= at_s && at_s < h->holds[i].to_s)
                taken += h->holds[i].amounts[k];
        if (taken > h->capacity[k] * (1 + TOLERANCE))
            return false;
    }
    return true;
}

/* Least is free where something begins: there, and at the start, it has to fit. */
static bool fits(const struct host *h, const double *amounts, double from_s,
                 double time_s)
{
    if (!fits_at(h, amounts, from_s))
        return false;
    for (size_t i = 0; i < h->hold_count; i++)
        if (h->holds[i].from_s > from_s && h->holds[i].from_s < from_s + time_s &&
            !fits_at(h, amounts, h->holds[i].from_s))
            return false;
    return true;
}

static void add(struct host *h, const struct session_waiting *row)
{
    h->holds[h->hold_count++] = (struct session_hold){row->amounts, 0, row->time_s};
}

void session_host_starts(const double *capacity, size_t amount_count,
                         const struct session_hold *holds, size_t hold_count,
                         const struct session_waiting *rows, size_t row_count,
                         bool *starts, struct budget *budget, struct arena *a)
{
    const struct session_waiting *first = NULL; /* that was passed over */
    struct host h = {capacity, amount_count,
                     NEW(a, struct session_hold, hold_count + row_count), hold_count,
                     budget};

    for (size_t i = 0; i < hold_count; i++)
        h.holds[i] = holds[i];
    for (size_t i = 0; i < row_count; i++) {
        starts[i] = rows[i].may_start && fits(&h, rows[i].amounts, 0, rows[i].time_s);
        if (starts[i]) {
            add(&h, &rows[i]);
            if (first &&
                !fits(&h, first->amounts, fmax(0, first->start_s), first->time_s)) {
                h.hold_count--;
                starts[i] = false;
            }
        }
        if (!starts[i] && !first)
            first = &rows[i];
    }
}
