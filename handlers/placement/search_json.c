/* search_json.c - how searches tell what they have proven and how they came to it. */
#include "handlers/placement/search_json.h"

#define T struct proven_bound
static const struct json_field bound_rows[] = {
    {.name = "kind",
     .doc = "Which argument gave it",
     .type = JSON_TYPE_CHOICE,
     .choices = bound_kind_names,
     .offset = JSON_AT(T, kind, enum bound_kind),
     .flags = JSON_OPEN},
    JSON_NUMBER(T, value_s, 0, 0, 0, 0, "Nothing ends before"),
    {0},
};
#undef T
const struct json_object proven_bound_json = {"ProvenBound",
                                              "A lower bound, and where it comes from",
                                              sizeof(struct proven_bound), bound_rows};

#define T struct improvement
static const struct json_field improvement_rows[] = {
    JSON_INTEGER(T, steps, 0, JSON_EXACT, 0, 0, "After so many steps"),
    JSON_NUMBER(T, value, 0, 0, 0, 0, "The makespan found, in seconds"),
    {0},
};
#undef T
const struct json_object improvement_json = {
    "Improvement", "When a search found something better", sizeof(struct improvement),
    improvement_rows};
