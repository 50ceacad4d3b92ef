/* queue/hints.c - what is known of where jobs fit, while the profile only fills up. */
#include "algorithms/queue/hints.h"

#include <math.h>
#include <stdlib.h>

struct measure {
    double value;
    size_t job;
};

static int compare_measures(const void *left, const void *right)
{
    double l = ((const struct measure *)left)->value;
    double r = ((const struct measure *)right)->value;

    return l < r ? -1 : l > r;
}

/* Sorts the list. */
static enum error_code classify(struct hint_classes *c, struct measure *list,
                                size_t count, struct arena *a, struct error *err)
{
    size_t values = 0, rank = 0;

    *c = (struct hint_classes){.of = NEW(a, uint16_t, count)};
    if (!c->of)
        return fail_memory(err);
    qsort(list, count, sizeof(*list), compare_measures);
    for (size_t i = 0; i < count; i++)
        values += i == 0 || list[i].value != list[i - 1].value;
    c->exact = values <= HINTS_CLASSES;
    c->count = c->exact ? values : HINTS_CLASSES;
    for (size_t i = 0; i < count; i++) {
        rank += i && list[i].value != list[i - 1].value;
        c->of[list[i].job] =
            (uint16_t)(c->exact ? rank + 1 : rank * HINTS_CLASSES / values + 1);
    }
    return OK;
}

enum error_code hints_create(struct hints *h, const struct queue_job *jobs, size_t count,
                             struct arena *a, struct error *err)
{
    struct measure *list = NEW(a, struct measure, count);
    size_t cells;

    if (!list)
        return fail_memory(err);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct measure){(double)jobs[i].processors, i};
    TRY(classify(&h->widths, list, count, a, err));
    for (size_t i = 0; i < count; i++)
        list[i] = (struct measure){jobs[i].estimate_s, i};
    TRY(classify(&h->lengths, list, count, a, err));
    cells = (h->widths.count + 1) * (h->lengths.count + 1);
    h->start_s = NEW(a, double, cells);
    if (!h->start_s)
        return fail_memory(err);
    for (size_t i = 0; i < cells; i++)
        h->start_s[i] = -HUGE_VAL;
    return OK;
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
