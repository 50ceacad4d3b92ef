/* base/param.c - options of an algorithm, one row each. */
#include "models/base/param.h"

#include "models/base/names.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

size_t params_count(const struct param *rows)
{
    size_t count = 0;

    while (rows && rows[count].name)
        count++;
    return count;
}

static bool bind_choice(const struct param *row, const struct named_value *given,
                        double *value)
{
    if (given->type != VALUE_TEXT)
        return false;
    for (size_t i = 0; row->choices[i]; i++) {
        if (strcmp(row->choices[i], given->text) == 0) {
            *value = (double)i;
            return true;
        }
    }
    return false;
}

static const char *choices_text(const struct param *row, char *buffer, size_t size)
{
    size_t used = 0;

    buffer[0] = 0;
    for (size_t i = 0; row->choices[i] && used < size; i++) {
        int length = snprintf(buffer + used, size - used, "%s\"%s\"", i ? ", " : "",
                              row->choices[i]);

        used += length > 0 ? (size_t)length : 0;
    }
    return buffer;
}

static void refuse_choice(const struct param *row, const struct named_value *given,
                          const char *pointer, struct error *err)
{
    char choices[256];

    invalid(err, pointer, ITEM_NOT_A_CHOICE, "must be one of %s",
            choices_text(row, choices, sizeof(choices)));
    error_allow(err, given->type == VALUE_TEXT ? given->text : NULL, row->choices,
                SIZE_MAX);
}

/* One option; a mistake is added to *err. */
static void bind_one(const struct param *row, const struct named_value *given,
                     double *value, struct error *err)
{
    char pointer[128];
    double number = given->number;

    snprintf(pointer, sizeof(pointer), "/options/%s", row->name);
    if (row->type == PARAM_CHOICE) {
        if (!bind_choice(row, given, value))
            refuse_choice(row, given, pointer, err);
        return;
    }
    if (row->type == PARAM_BOOLEAN ? given->type != VALUE_BOOLEAN
                                   : given->type != VALUE_NUMBER) {
        invalid(err, pointer, ITEM_WRONG_TYPE, "must be a %s",
                row->type == PARAM_BOOLEAN ? "boolean" : "number");
        return;
    }
    if (row->type == PARAM_BOOLEAN)
        *value = number;
    else if (!(number >= row->min && number <= row->max))
        invalid(err, pointer, ITEM_OUT_OF_BOUNDS, "%g is not between %g and %g", number,
                row->min, row->max);
    else if (row->type == PARAM_INTEGER && number != floor(number))
        invalid(err, pointer, ITEM_NOT_AN_INTEGER, "%g is not a whole number", number);
    else
        *value = number;
}

/* The rows of one table, then those of another. */
struct rows {
    const struct param *common, *own;
    size_t common_count, count;
};

static const struct param *row_at(const struct rows *rows, size_t i)
{
    return i < rows->common_count ? &rows->common[i] : &rows->own[i - rows->common_count];
}

static const char *name_at(const void *list, size_t i)
{
    const struct rows *rows = list;

    return i < rows->count ? row_at(rows, i)->name : NULL;
}

/* All names, or nothing when they are too many for a sentence. */
static void hint_options(const struct rows *rows, struct error *err)
{
    char text[512] = "";
    size_t used = 0;

    for (size_t i = 0; i < rows->count && used < sizeof(text); i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? ", " : "",
                                 row_at(rows, i)->name);
    if (!rows->count)
        error_hint(err, "this algorithm has no options");
    else if (used < sizeof(text))
        error_hint(err, "its options: %s", text);
}

static void unknown_option(const struct rows *rows, const char *name, struct error *err)
{
    const char *nearest = names_nearest_in(name, name_at, rows);
    char pointer[128];

    snprintf(pointer, sizeof(pointer), "/options/%.100s", name);
    if (nearest) {
        invalid(err, pointer, ITEM_UNKNOWN_OPTION, "no such option; did you mean '%s'?",
                nearest);
        error_hint(err, "did you mean '%s'?", nearest);
    } else {
        invalid(
            err, pointer, ITEM_UNKNOWN_OPTION,
            "this algorithm has no such option; GET /v1/algorithms lists its options");
        hint_options(rows, err);
    }
    error_allow_in(err, name, name_at, rows);
}

enum error_code params_bind_both(const struct param *common, const struct param *own,
                                 const struct named_value *given, size_t given_count,
                                 double *value, struct error *err)
{
    struct rows rows = {common, own, params_count(common), 0};
    size_t found_before = err->item_count;

    rows.count = rows.common_count + params_count(own);
    assert(rows.count <= PARAMS_MAX);
    for (size_t i = 0; i < rows.count; i++)
        value[i] = row_at(&rows, i)->preset;
    for (size_t g = 0; g < given_count; g++) {
        size_t i = 0;

        while (i < rows.count && strcmp(row_at(&rows, i)->name, given[g].name) != 0)
            i++;
        if (i == rows.count)
            unknown_option(&rows, given[g].name, err);
        else
            bind_one(row_at(&rows, i), &given[g], &value[i], err);
    }
    return err->item_count > found_before ? ERR_INVALID : OK;
}

enum error_code params_bind(const struct param *rows, const struct named_value *given,
                            size_t given_count, double *value, struct error *err)
{
    return params_bind_both(NULL, rows, given, given_count, value, err);
}
