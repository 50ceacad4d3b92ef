/* queue/hints.c - what is known of where jobs fit, while the profile only fills up. */
#include "algorithms/queue/hints.h"

#include <math.h>
#include <string.h>

struct measure {
    double value; /* >= 0 */
    size_t job;
};

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, VALUE_BITS = 64 };

/* One pass of a radix sort, which a hundred thousand jobs are worth: a digit of the
 * values, whose bits rise with them. False: all have the same, nothing was done. */
static bool sort_by_digit(const struct measure *from, struct measure *to, size_t count,
                          unsigned shift)
{
    size_t next[DIGITS] = {0}, sum = 0;
    uint64_t bits;

    for (size_t i = 0; i < count; i++) {
        memcpy(&bits, &from[i].value, sizeof(bits));
        next[bits >> shift & (DIGITS - 1)]++;
    }
    for (size_t k = 0; k < DIGITS; k++) {
        size_t here = next[k];

        if (here == count)
            return false;
        next[k] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(&bits, &from[i].value, sizeof(bits));
        to[next[bits >> shift & (DIGITS - 1)]++] = from[i];
    }
    return true;
}

/* Sorts the list, with as much room beside it; returns where it is then. */
static struct measure *sort_measures(struct measure *list, struct measure *spare,
                                     size_t count)
{
    for (unsigned shift = 0; shift < VALUE_BITS; shift += DIGIT_BITS)
        if (sort_by_digit(list, spare, count, shift)) {
            struct measure *sorted = spare;
            spare = list;
            list = sorted;
        }
    return list;
}

/* Sorts the list, of which the second half is room. */
static void classify(struct hint_classes *c, struct measure *list, size_t count,
                     struct arena *a)
{
    size_t values = 0, rank = 0;

    *c = (struct hint_classes){.of = NEW(a, uint16_t, count)};
    list = sort_measures(list, list + count, count);
    for (size_t i = 0; i < count; i++)
        values += i == 0 || list[i].value != list[i - 1].value;
    c->exact = values <= HINTS_CLASSES;
    c->count = c->exact ? values : HINTS_CLASSES;
    for (size_t i = 0; i < count; i++) {
        rank += i && list[i].value != list[i - 1].value;
        c->of[list[i].job] =
            (uint16_t)(c->exact ? rank + 1 : rank * HINTS_CLASSES / values + 1);
    }
}

void hints_create(struct hints *h, const struct queue_job *jobs, size_t count,
                  struct arena *a)
{
    struct measure *list = NEW(a, struct measure, 2 * count);
    size_t cells;

    for (size_t i = 0; i < count; i++)
        list[i] = (struct measure){(double)jobs[i].processors, i};
    classify(&h->widths, list, count, a);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct measure){jobs[i].estimate_s + 0.0, i}; /* no -0 */
    classify(&h->lengths, list, count, a);
    cells = (h->widths.count + 1) * (h->lengths.count + 1);
    h->start_s = NEW(a, double, cells);
    for (size_t i = 0; i < cells; i++)
        h->start_s[i] = -HUGE_VAL;
}

void hints_note(struct hints *h, size_t job, double start_s)
{
    size_t columns = h->lengths.count + 1;

    for (size_t r = h->widths.of[job]; r <= h->widths.count; r += r & -r)
        for (size_t c = h->lengths.of[job]; c < columns; c += c & -c)
            if (h->start_s[r * columns + c] < start_s)
                h->start_s[r * columns + c] = start_s;
}

/* The last class of which all are at most what this job has. */
static size_t class_below(const struct hint_classes *c, size_t job)
{
    return c->of[job] - (c->exact ? 0U : 1U);
}

double hints_earliest(const struct hints *h, size_t job)
{
    size_t columns = h->lengths.count + 1;
    double latest_s = -HUGE_VAL;

    for (size_t r = class_below(&h->widths, job); r > 0; r -= r & -r)
        for (size_t c = class_below(&h->lengths, job); c > 0; c -= c & -c)
            if (h->start_s[r * columns + c] > latest_s)
                latest_s = h->start_s[r * columns + c];
    return latest_s;
}
