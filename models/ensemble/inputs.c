/* ensemble/inputs.c - which inputs there are, and where a question lies among them. */
#include "models/ensemble/internal.h"

#include "models/base/names.h"
#include "models/base/order.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* cpu_available_ratio and bandwidth_mbps: how the machine was, not what was asked. */
enum { MACHINE_TERM_FIRST = 2, MACHINE_TERM_LAST = 3 };

#define TEXTS_HIGH (-18014398509481984.0) /* -2^54; doubles there are 4 apart */
#define TEXTS_LOW  (-36028797018963968.0)

double ensemble_text(const char *text)
{
    return TEXTS_HIGH - 4 * (double)(hash_fnv1a(text) >> 12);
}

bool ensemble_is_text(double value)
{
    return value <= TEXTS_HIGH && value > TEXTS_LOW;
}

double ensemble_text_of_number(double number)
{
    char text[40];

    snprintf(text, sizeof(text), "%.17g", number + 0.0);
    return ensemble_text(text);
}

/* The value of an input, once it is known to be a text or a number. */
static double value_as(double x, bool is_text)
{
    if (isnan(x) || (ensemble_is_text(x) && !is_text))
        return (double)NAN;
    return is_text && !ensemble_is_text(x) ? ensemble_text_of_number(x) : x + 0.0;
}

/* Numbers of runs whose squares could not be added up are not known. */
#define NUMBER_MAX 1e150

static double learnt_as(double x, bool is_text)
{
    double value = value_as(x, is_text);

    return is_text || fabs(value) <= NUMBER_MAX ? value : (double)NAN;
}

/* ---- finding them ---- */

struct counted {
    double value;
    size_t count;
};

/* The distinct values of `count` numbers, which are sorted; most frequent first. */
static size_t count_values(double *list, size_t count, struct counted *out)
{
    size_t n = 0;

    sort_numbers(list, count);
    for (size_t i = 0, end; i < count; i = end) {
        struct counted c;
        size_t at;

        for (end = i; end < count && list[end] <= list[i];)
            end++;
        c = (struct counted){list[i], end - i};
        if (n < ENSEMBLE_VALUES_MAX + 1)
            at = n++;
        else if (c.count > out[n - 1].count)
            at = n - 1;
        else
            continue;
        for (; at > 0 && out[at - 1].count < c.count; at--)
            out[at] = out[at - 1];
        out[at] = c;
    }
    return n;
}

static void find_number(const double *list, size_t count, struct ensemble_input *in)
{
    double sum = 0;

    in->low = HUGE_VAL;
    in->high = -HUGE_VAL;
    for (size_t i = 0; i < count; i++) {
        in->low = fmin(in->low, list[i]);
        in->high = fmax(in->high, list[i]);
        sum += list[i];
    }
    in->mean = sum / (double)count;
    in->is_used = in->low < in->high;
}

/* false: it tells single runs apart, as ids and names of files do. */
static bool find_text(double *list, size_t count, struct ensemble_input *in)
{
    struct counted found[ENSEMBLE_VALUES_MAX + 1];
    size_t n = count_values(list, count, found);

    if (n > ENSEMBLE_VALUES_MAX && found[0].count == 1)
        return false;
    in->has_rest = n > ENSEMBLE_VALUES_MAX;
    in->value_count = in->has_rest ? ENSEMBLE_VALUES_MAX : n;
    for (size_t k = 0; k < in->value_count; k++)
        in->value[k] = found[k].value;
    in->is_used = n > 1;
    return true;
}

/* Values of the column, of runs that count; how many there are. */
static size_t column_of(const struct ensemble_data *data, struct ensemble_input *in,
                        double *list)
{
    size_t count = 0;

    for (size_t i = 0; i < data->run_count; i++)
        in->is_text = in->is_text || (data->run[i].weight > 0 &&
                                      ensemble_is_text(data->run[i].value[in->column]));
    for (size_t i = 0; i < data->run_count; i++) {
        const struct ensemble_run *run = &data->run[i];
        double value = learnt_as(run->value[in->column], in->is_text);

        if (run->weight > 0 && !isnan(value))
            list[count++] = value;
    }
    return count;
}

/* What is known of the values makes an input; false: it is none. */
static bool is_input(double *list, size_t count, struct ensemble_input *in)
{
    if (in->is_text)
        return find_text(list, count, in);
    find_number(list, count, in);
    return true;
}

void inputs_find(const struct ensemble_data *data, struct ensemble *e, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    double *list = NEW(a, double, data->run_count + 1);
    size_t numbers = 0, texts = 0, usable = 0;

    e->input_count = 0;
    e->size = e->processors = SIZE_MAX;
    for (size_t i = 0; i < data->run_count; i++)
        usable += data->run[i].weight > 0;
    for (size_t k = 0; k < data->input_count; k++) {
        struct ensemble_input *in = &e->input[e->input_count];
        size_t count;

        *in = (struct ensemble_input){.column = data->order ? data->order[k] : k};
        count = column_of(data, in, list);
        if (count == 0 || 2 * count < usable)
            continue;
        in->is_whole = count == usable;
        if (in->is_text ? texts == ENSEMBLE_CATEGORICAL_MAX
                        : numbers == ENSEMBLE_NUMBERS_MAX) {
            e->inputs_cut = true;
            continue;
        }
        if (!is_input(list, count, in))
            continue;
        texts += in->is_text;
        numbers += !in->is_text;
        if (!in->is_text && in->column == data->size)
            e->size = e->input_count;
        if (!in->is_text && in->column == data->processors)
            e->processors = e->input_count;
        e->input_count++;
    }
    arena_rewind(a, mark);
}

/* ---- a run or question ---- */

static double place_of(const struct ensemble_input *in, double value)
{
    for (size_t k = 0; k < in->value_count; k++)
        if (in->value[k] >= value && in->value[k] <= value)
            return (double)k;
    return in->has_rest ? (double)in->value_count : (double)NAN;
}

bool inputs_code(const struct ensemble *e, const double *value, bool is_question,
                 double *x, double *raw)
{
    bool is_whole = true;

    for (size_t k = 0; k < e->input_count; k++) {
        const struct ensemble_input *in = &e->input[k];
        double v = is_question ? value_as(value[in->column], in->is_text)
                               : learnt_as(value[in->column], in->is_text);

        if (is_question && isnan(v) && !in->is_used)
            v = in->is_text ? in->value[0] : in->low;
        if (is_question && isnan(v) && in->is_whole && in->column >= MACHINE_TERM_FIRST &&
            in->column <= MACHINE_TERM_LAST && !in->is_text)
            v = in->mean;
        raw[k] = v;
        x[k] = in->is_text && !isnan(v) ? place_of(in, v) : v;
        is_whole = is_whole && !isnan(v);
    }
    return is_whole;
}

double inputs_key(const struct ensemble *e, const double *raw, bool whole)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    for (size_t k = 0; k < e->input_count; k++) {
        double value = raw[k] + 0.0; /* no -0 */
        unsigned char bytes[sizeof(value)];

        if (!whole && (k == e->size || k == e->processors))
            continue;
        if (isnan(value))
            return (double)NAN;
        memcpy(bytes, &value, sizeof(value));
        for (size_t i = 0; i < sizeof(bytes); i++)
            hash = (hash ^ bytes[i]) * 1099511628211u;
    }
    return (double)(hash >> 11);
}
