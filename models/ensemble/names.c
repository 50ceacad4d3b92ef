/* ensemble/names.c - the inputs that the runs of an application have, by name. */
#include "models/ensemble/names.h"

#include <math.h>
#include <string.h>

static const char *const terms[ENSEMBLE_TERMS] = {
    "problem_size", "processors", "cpu_available_ratio", "bandwidth_mbps"};

void ensemble_names_create(struct ensemble_names *names, const char *const *chosen,
                           size_t count)
{
    *names = (struct ensemble_names){.count = ENSEMBLE_TERMS, .is_given = count > 0};
    memcpy(names->name, terms, sizeof(terms));
    for (size_t i = 0; i < count; i++) {
        size_t at = ensemble_names_find(names, chosen[i]);

        if (at < ENSEMBLE_TERMS)
            names->chosen[at] = true;
        else if (at == ENSEMBLE_INPUTS_MAX && names->count < ENSEMBLE_INPUTS_MAX)
            names->name[names->count++] = chosen[i];
    }
}

size_t ensemble_names_find(const struct ensemble_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->name[i], name) == 0)
            return i;
    return ENSEMBLE_INPUTS_MAX;
}

size_t ensemble_names_add(struct ensemble_names *names, const char *name, struct arena *a)
{
    size_t at = ensemble_names_find(names, name);

    if (at < ENSEMBLE_INPUTS_MAX || names->is_given ||
        strlen(name) > ENSEMBLE_NAME_BYTES_MAX)
        return at;
    if (names->count == ENSEMBLE_INPUTS_MAX) {
        names->cut = true;
        return at;
    }
    names->name[names->count] = arena_text(a, name, strlen(name));
    return names->count++;
}

void ensemble_values_clear(double *value)
{
    for (size_t i = 0; i < ENSEMBLE_INPUTS_MAX; i++)
        value[i] = (double)NAN;
}

double ensemble_value_of(const struct named_value *value)
{
    switch (value->type) {
    case VALUE_NUMBER:
        return isfinite(value->number) ? value->number : (double)NAN;
    case VALUE_BOOLEAN:
        return ensemble_text(value->number > 0 ? "true" : "false");
    case VALUE_TEXT:
        return ensemble_text(value->text);
    default:
        return (double)NAN;
    }
}

/* 0 terms, 1 parameters, 2 class, 3 site. */
static int rank_of(const struct ensemble_names *names, size_t column)
{
    if (column < ENSEMBLE_TERMS)
        return 0;
    if (strcmp(names->name[column], ENSEMBLE_RESOURCE_CLASS) == 0)
        return 2;
    return strcmp(names->name[column], ENSEMBLE_SITE_ID) == 0 ? 3 : 1;
}

static bool is_before(const struct ensemble_names *names, size_t x, size_t y)
{
    int rank_x = rank_of(names, x), rank_y = rank_of(names, y);

    if (rank_x != rank_y)
        return rank_x < rank_y;
    return rank_x == 1 && strcmp(names->name[x], names->name[y]) < 0;
}

void ensemble_names_order(const struct ensemble_names *names,
                          size_t order[ENSEMBLE_INPUTS_MAX], size_t *count)
{
    size_t n = 0;

    for (size_t i = 0; i < names->count; i++) {
        size_t at = n;

        if (names->is_given && i < ENSEMBLE_TERMS && !names->chosen[i])
            continue;
        for (; !names->is_given && at > 0 && is_before(names, i, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = i;
        n++;
    }
    *count = n;
}
