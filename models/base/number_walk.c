/* base/number_walk.c - the steps of a walk over numbers. */
#include "models/base/number_walk.h"

#include <math.h>

void walk_number(struct number_walk *w, double *value)
{
    if (w->in && w->at >= w->count) {
        w->failed = true;
        return;
    }
    if (w->in)
        *value = w->in[w->at];
    else if (w->out)
        w->out[w->at] = *value;
    w->at++;
}

void walk_whole(struct number_walk *w, size_t *value, size_t max)
{
    double x = (double)*value;

    walk_number(w, &x);
    if (!w->in || w->failed)
        return;
    if (x >= 0 && x <= (double)max && x == floor(x))
        *value = (size_t)x;
    else
        w->failed = true;
}

void walk_flag(struct number_walk *w, bool *value)
{
    size_t x = *value;

    walk_whole(w, &x, 1);
    *value = x == 1;
}
