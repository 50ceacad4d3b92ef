/* fitted/similar.c - see similar.h. */
#include "models/fitted/similar.h"

#include "models/base/order.h"

#include <math.h>
#include <string.h>

const char *similar_name_end(const char *application_id)
{
    const char *end = application_id;

    for (const char *c = application_id; *c; c++)
        if (strchr("/:.", *c))
            end = c + 1;
    return end;
}

static bool is_like(const struct similar_application *other, enum similar_by by)
{
    if (!(other->median_s > 0) || !isfinite(other->median_s))
        return false;
    return by == SIMILAR_BY_NAME
               ? other->same_name
               : other->shared_count > 0 && 2 * other->shared_count >= other->known_count;
}

/* Medians of those that are like it; how many. */
static size_t medians_of(const struct similar_application *list, size_t count,
                         enum similar_by by, double *medians)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        if (is_like(&list[i], by))
            medians[found++] = list[i].median_s;
    return found;
}

void similar_time_of(const struct similar_application *list, size_t count,
                     struct similar_time *out, struct arena *a)
{
    double *medians = NEW(a, double, count + 1);
    double time_s, factor;

    *out = (struct similar_time){
        .time_s = (double)NAN, .low_s = (double)NAN, .high_s = (double)NAN};
    out->count = medians_of(list, count, SIMILAR_BY_NAME, medians);
    if (!out->count) {
        out->by = SIMILAR_BY_INPUTS;
        out->count = medians_of(list, count, SIMILAR_BY_INPUTS, medians);
    }
    if (!out->count)
        return;
    time_s = sort_median(medians, out->count); /* they ascend now */
    factor = fmax(SIMILAR_FACTOR_LEAST,
                  fmax(time_s / medians[0], medians[out->count - 1] / time_s));
    out->time_s = time_s;
    out->low_s = time_s / factor;
    out->high_s = time_s * factor;
}

double similar_quantile(const struct similar_time *t, double quantile)
{
    return quantile < 0.5 ? t->low_s : quantile > 0.5 ? t->high_s : t->time_s;
}
