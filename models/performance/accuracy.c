/* performance/accuracy.c - how good predictions were. */
#include "models/performance/accuracy.h"

#include "models/base/order.h"
#include "models/performance/interval.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

double ppe_pct(double actual_s, double predicted_s)
{
    return 100 * (fabs(actual_s - predicted_s) / actual_s);
}

static void check_pair(const char *list, size_t index, double actual_s,
                       double predicted_s, struct error *err)
{
    char pointer[64];

    if (!(actual_s > 0) || !isfinite(actual_s)) {
        snprintf(pointer, sizeof(pointer), "/%s/%zu/actual_s", list, index);
        invalid(err, pointer, ITEM_OUT_OF_BOUNDS, "must be above 0, is %g", actual_s);
    }
    if (!isfinite(predicted_s)) {
        snprintf(pointer, sizeof(pointer), "/%s/%zu/predicted_s", list, index);
        invalid(err, pointer, ITEM_OUT_OF_BOUNDS, "must be a finite number");
    }
}

/* Means are built up value by value, so that no sum overflows before its mean. */
static void fill_means(const struct accuracy_pair *pairs, double *ppe,
                       struct accuracy *out)
{
    size_t below_30 = 0, below_40 = 0;
    double squares = 0;

    out->appe_pct = out->bias_pct = 0;
    for (size_t i = 0; i < out->count; i++) {
        double error = pairs[i].predicted_s - pairs[i].actual_s;
        double share = 1 / (double)(i + 1);

        ppe[i] = ppe_pct(pairs[i].actual_s, pairs[i].predicted_s);
        below_30 += ppe[i] < 30;
        below_40 += ppe[i] < 40;
        out->appe_pct += (ppe[i] - out->appe_pct) * share;
        out->bias_pct += (100 * (error / pairs[i].actual_s) - out->bias_pct) * share;
    }
    for (size_t i = 0; i < out->count; i++)
        squares += (ppe[i] - out->appe_pct) * (ppe[i] - out->appe_pct);
    if (out->count > 1)
        out->ppe_sd_pct = sqrt(squares / (double)(out->count - 1));
    out->below_30_pct = 100 * (double)below_30 / (double)out->count;
    out->below_40_pct = 100 * (double)below_40 / (double)out->count;
}

enum error_code accuracy_of(const struct accuracy_pair *pairs, size_t count,
                            struct accuracy *out, struct arena *a, struct error *err)
{
    struct accuracy result = {count, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    double *ppe = NEW(a, double, count);

    for (size_t i = 0; i < count; i++)
        check_pair("pairs", i, pairs[i].actual_s, pairs[i].predicted_s, err);
    if (err->code != OK)
        return err->code;
    if (count > 0) {
        fill_means(pairs, ppe, &result);
        sort_numbers(ppe, count);
        result.worst_ppe_pct = ppe[count - 1];
        result.median_ppe_pct = sorted_quantile(ppe, count, 0.5);
    }
    *out = result;
    return OK;
}

double standard_error(const struct accuracy_pair *pairs, size_t count, size_t term_count)
{
    double sum = 0;

    if (count <= term_count)
        return NAN;
    for (size_t i = 0; i < count; i++) {
        double error = pairs[i].actual_s - pairs[i].predicted_s;

        sum += error * error;
    }
    return sqrt(sum / (double)(count - term_count));
}

/* ---- scheduling ---- */

/* Is row `x` chosen before row `y`? */
static bool chosen_before(const struct loss_row *x, const struct loss_row *y)
{
    if (x->predicted_s != y->predicted_s)
        return x->predicted_s < y->predicted_s;
    if (x->problem_size != y->problem_size)
        return x->problem_size < y->problem_size;
    return x->processors < y->processors;
}

enum error_code scheduling_loss(const struct loss_row *rows, size_t count,
                                struct loss_group **groups, size_t *group_count,
                                double *max_loss_pct, struct arena *a, struct error *err)
{
    const struct loss_row **chosen = NEW(a, const struct loss_row *, count);
    struct loss_group *made = NEW(a, struct loss_group, count);
    double most_pct = NAN;
    size_t made_count = 0;
    char pointer[64];

    for (size_t i = 0; i < count; i++) {
        check_pair("rows", i, rows[i].actual_s, rows[i].predicted_s, err);
        if (rows[i].group < count)
            continue;
        snprintf(pointer, sizeof(pointer), "/rows/%zu/group", i);
        invalid(err, pointer, ITEM_OUT_OF_BOUNDS, "must be below the number of rows");
    }
    if (err->code != OK)
        return err->code;
    for (size_t i = 0; i < count; i++)
        made[i] = (struct loss_group){0, NAN, NAN, NAN, NAN, NAN};
    for (size_t i = 0; i < count; i++) {
        struct loss_group *g = &made[rows[i].group];

        if (g->row_count++ == 0 || chosen_before(&rows[i], chosen[rows[i].group]))
            chosen[rows[i].group] = &rows[i];
        g->best_s = fmin(g->best_s, rows[i].actual_s);
        if (rows[i].group >= made_count)
            made_count = rows[i].group + 1;
    }
    for (size_t k = 0; k < made_count; k++) {
        struct loss_group *g = &made[k];

        if (g->row_count == 0)
            continue;
        g->chosen_s = chosen[k]->actual_s;
        g->problem_size = chosen[k]->problem_size;
        g->processors = chosen[k]->processors;
        g->loss_pct = 100 * ((g->chosen_s - g->best_s) / g->best_s);
        most_pct = fmax(most_pct, g->loss_pct);
    }
    *groups = made;
    *group_count = made_count;
    *max_loss_pct = most_pct;
    return OK;
}

struct size_row {
    double problem_size, dedicated_s;
    size_t index;
};

static int compare_sizes(const void *a, const void *b)
{
    const struct size_row *x = a, *y = b;

    if (x->problem_size != y->problem_size)
        return x->problem_size < y->problem_size ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void check_size(size_t index, const char *member, double value, struct error *err)
{
    char pointer[64];

    if (value > 0 && isfinite(value))
        return;
    snprintf(pointer, sizeof(pointer), "/sizes/%zu/%s", index, member);
    invalid(err, pointer, ITEM_OUT_OF_BOUNDS, "must be above 0, is %g", value);
}

enum error_code loss_groups(const double *problem_size, const double *dedicated_s,
                            size_t count, size_t *group, struct arena *a,
                            struct error *err)
{
    struct size_row *rows = NEW(a, struct size_row, count);
    double least_s = HUGE_VAL, most_s = -HUGE_VAL;
    size_t current = 0;

    for (size_t i = 0; i < count; i++) {
        check_size(i, "problem_size", problem_size[i], err);
        check_size(i, "dedicated_s", dedicated_s[i], err);
        rows[i] = (struct size_row){problem_size[i], dedicated_s[i], i};
    }
    if (err->code != OK)
        return err->code;
    qsort(rows, count, sizeof(*rows), compare_sizes);
    for (size_t i = 0; i < count; i++) {
        double low_s = fmin(least_s, rows[i].dedicated_s);
        double high_s = fmax(most_s, rows[i].dedicated_s);
        bool same = i > 0 && rows[i].problem_size == rows[i - 1].problem_size;

        if (i > 0 && !same && high_s - low_s > LOSS_GROUP_SPREAD_S) {
            current++;
            low_s = high_s = rows[i].dedicated_s;
        }
        least_s = low_s;
        most_s = high_s;
        group[rows[i].index] = current;
    }
    return OK;
}
