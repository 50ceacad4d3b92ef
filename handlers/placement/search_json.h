/* search_json.h - how searches tell what they have proven and how they came to it, in the
 * answers of all families. */
#ifndef GRIDPLAN_SEARCH_JSON_H
#define GRIDPLAN_SEARCH_JSON_H

#include "models/bound_kind.h"
#include "service/json.h"

extern const struct json_object proven_bound_json; /* struct proven_bound */
extern const struct json_object improvement_json;  /* struct improvement */

/* The rows of a plan (member `plan` of T) that a search has made. `best` is the struct of
 * its `best_list`, told by best_list_json of the file. */
#define SEARCH_ROWS(T, best) SEARCH_ROWS_OF(T, plan, best, best_list_json)

/* Likewise of another member, with the table of its `best_list`. */
#define SEARCH_ROWS_OF(T, member, best, best_table)                                    \
    {.name = "bound_effort",                                                           \
     .doc = "Of a search: work on bounds before its first step; options.bound_effort " \
            "replays it",                                                              \
     .type = JSON_TYPE_TEXT,                                                           \
     .choices = bound_effort_names,                                                    \
     .offset = JSON_AT(T, member.bound_effort, const char *),                          \
     .flags = JSON_OPTIONAL | JSON_OPEN},                                              \
        {.name = "best_list",                                                          \
         .doc = "Of a search: what it is compared with",                               \
         .type = JSON_TYPE_OBJECT,                                                     \
         .offset = JSON_AT(T, member.best_list, const best *),                         \
         .of = &best_table,                                                            \
         .flags = JSON_POINTER | JSON_OPTIONAL},                                       \
    {                                                                                  \
        .name = "improved_at_steps",                                                   \
        .doc = "Of a search: the last 20 times that it found something better",        \
        .type = JSON_TYPE_LIST,                                                        \
        .offset = JSON_AT(T, member.improved_at_steps, const struct improvement *),    \
        .count_offset = JSON_AT(T, member.improvement_count, size_t),                  \
        .of = &improvement_json, .flags = JSON_OPTIONAL                                \
    }

#endif
