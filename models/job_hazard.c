/* job_hazard.c - how soon any of several nodes fails. */
#include "models/job_hazard.h"

#include "models/failure_stats.h"

#include <math.h>
#include <stdlib.h>

double failure_law_cumulated(const struct failure_law *law, double t_s)
{
    if (!failure_law_is_weibull(law))
        return t_s / law->mean_s;
    if (law->age_s > 0)
        return pow((law->age_s + t_s) / law->scale_s, law->shape) -
               pow(law->age_s / law->scale_s, law->shape);
    return pow(t_s / law->scale_s, law->shape);
}

double failure_law_time_s(const struct failure_law *law, double sum)
{
    double begun;

    if (!failure_law_is_weibull(law))
        return law->mean_s * sum;
    begun = law->age_s > 0 ? pow(law->age_s / law->scale_s, law->shape) : 0;
    return fmax(0, law->scale_s * pow(begun + sum, 1 / law->shape) - law->age_s);
}

double failure_law_mean_s(const struct failure_law *law)
{
    return failure_law_is_weibull(law) ? failure_weibull_mean_s(law->shape, law->scale_s)
                                       : law->mean_s;
}

double job_hazard_per_s(const struct job_hazard *h, double t_s)
{
    double sum = 0;

    for (size_t i = 0; i < h->count; i++) {
        const struct failure_law *law = &h->laws[i];
        double each = 1 / law->mean_s;

        if (failure_law_is_weibull(law))
            each = law->shape / law->scale_s *
                   pow((law->age_s + t_s) / law->scale_s, law->shape - 1);
        sum += law->count * each;
    }
    return sum;
}

double job_hazard_survival(const struct job_hazard *h, double t_s)
{
    double sum = 0;

    for (size_t i = 0; i < h->count; i++)
        sum += h->laws[i].count * failure_law_cumulated(&h->laws[i], t_s);
    return exp(-sum);
}

double job_hazard_mean_s(const struct job_hazard *h)
{
    double rate = 0;

    for (size_t i = 0; i < h->count; i++)
        rate += h->laws[i].count / failure_law_mean_s(&h->laws[i]);
    return 1 / rate;
}

bool job_hazard_is_constant(const struct job_hazard *h)
{
    for (size_t i = 0; i < h->count; i++)
        if (failure_law_is_weibull(&h->laws[i]))
            return false;
    return true;
}

static int compare(double x, double y)
{
    return (x > y) - (x < y);
}

/* Exponential ones first; Weibull ones by shape, scale and age. */
static int compare_laws(const void *a, const void *b)
{
    const struct failure_law *x = a, *y = b;
    bool xw = failure_law_is_weibull(x), yw = failure_law_is_weibull(y);

    if (!xw || !yw)
        return (int)xw - (int)yw;
    if (x->shape != y->shape)
        return compare(x->shape, y->shape);
    if (x->scale_s != y->scale_s)
        return compare(x->scale_s, y->scale_s);
    return compare(x->age_s, y->age_s);
}

/* Exponential nodes are one of their summed rate: which of them fails is all the same. */
static bool join(struct failure_law *into, const struct failure_law *law)
{
    if (compare_laws(into, law) != 0)
        return false;
    if (failure_law_is_weibull(into)) {
        into->count += law->count;
        return true;
    }
    into->mean_s = 1 / (into->count / into->mean_s + law->count / law->mean_s);
    into->count = 1;
    into->age_s = 0;
    return true;
}

size_t failure_laws_join(struct failure_law *laws, size_t count)
{
    size_t used = 0;

    qsort(laws, count, sizeof(*laws), compare_laws);
    for (size_t i = 0; i < count; i++)
        if (used == 0 || !join(&laws[used - 1], &laws[i]))
            laws[used++] = laws[i];
    return used;
}

struct spare_wait spare_wait_of(double spares, double mttr_s, double mean_s,
                                double delay_s)
{
    double x = mttr_s / mean_s, b = 1;

    for (double j = 1; j <= spares && b > 0; j++)
        b = x * b / (j + x * b);
    return (struct spare_wait){b, delay_s + b * mttr_s / (spares + 1)};
}
