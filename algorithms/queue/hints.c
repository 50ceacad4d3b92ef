/* queue/hints.c - what is known of where jobs fit, while the profile only fills up. */
#include "algorithms/queue/hints.h"

#include <math.h>

enum { ROWS_MAX = 256, COLUMNS = 2048, STEPS = 32, FIRST_OCTAVE = -10 };

bool hints_create(struct hints *h, size_t class_count, struct arena *a)
{
    *h = (struct hints){.class_count = class_count, .age = 1};
    h->rows = class_count < ROWS_MAX ? class_count : ROWS_MAX;
    h->cells = NEW(a, struct hint, (h->rows + 1) * (COLUMNS + 1));
    return h->cells;
}

void hints_forget(struct hints *h)
{
    h->age++;
}

/* Octaves in steps, of lengths from a thousandth of a second on, from 1. */
static double column_of(double length_s)
{
    return length_s > 0 ? (log2(length_s) - FIRST_OCTAVE) * STEPS + 1 : -1;
}

static size_t row_of(const struct hints *h, size_t width)
{
    return h->rows == h->class_count ? width + 1 : width * h->rows / h->class_count + 1;
}

void hints_note(struct hints *h, size_t width, double length_s, double start_s)
{
    double column = ceil(column_of(length_s)) + 1; /* certainly not shorter */

    if (!(column <= COLUMNS))
        return;
    for (size_t r = row_of(h, width); r <= h->rows; r += r & -r)
        for (size_t c = column < 1 ? 1 : (size_t)column; c <= COLUMNS; c += c & -c) {
            struct hint *cell = &h->cells[r * (COLUMNS + 1) + c];

            if (cell->age != h->age || cell->start_s < start_s)
                *cell = (struct hint){start_s, h->age};
        }
}

double hints_earliest(const struct hints *h, size_t width, double length_s)
{
    double column = fmin(floor(column_of(length_s)), COLUMNS);
    bool exact = h->rows == h->class_count; /* else: only narrower classes */
    double latest_s = -HUGE_VAL;

    if (column < 1)
        return latest_s;
    for (size_t r = row_of(h, width) - !exact; r > 0; r -= r & -r)
        for (size_t c = (size_t)column; c > 0; c -= c & -c) {
            const struct hint *cell = &h->cells[r * (COLUMNS + 1) + c];

            if (cell->age == h->age && cell->start_s > latest_s)
                latest_s = cell->start_s;
        }
    return latest_s;
}
