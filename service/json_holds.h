/* json_holds.h - what a text holds, for the description.
 *
 * Of a kept text (JSON_RAW) the reader takes any JSON all the same, but only an object
 * where it holds any object; the printer prints the text: who keeps it made it with that
 * table.
 */
#ifndef GRIDPLAN_JSON_HOLDS_H
#define GRIDPLAN_JSON_HOLDS_H

#include "service/json.h"

/* Behind the text of a JSON_RAW row: what the table prints, or a list of that. */
#define JSON_HOLDS(table)      .of = (table)
#define JSON_HOLDS_LIST(table) .of = (table), .max = JSON_LIST_MAX

extern const struct json_object json_any_object; /* no rows: any members */

/* Behind the text of a JSON_TEXT row with JSON_OPEN: the words that there are today. */
#define JSON_KNOWN(...) .choices = JSON_NAMES(__VA_ARGS__)

/* A TEXT of an answer that is one of a list (struct json_words) today. */
#define JSON_WORD_OF(T, m, list, flag, ...)                                        \
    {                                                                              \
        .name = #m, .type = JSON_TYPE_TEXT, .offset = JSON_AT(T, m, const char *), \
        .words = &(list), .flags = flag, .doc = __VA_ARGS__                        \
    }

/* The i-th of its words, which may be there more than once; NULL behind the last. */
const char *json_word_at(const struct json_words *words, size_t i);

/* TEXTS of an answer that are of these names today. */
#define JSON_WORDS(T, m, counter, names, flag, ...)                               \
    {                                                                             \
        .name = #m, .type = JSON_TYPE_TEXTS, .choices = names,                    \
        .offset = JSON_AT(T, m, const char *const *),                             \
        .count_offset = JSON_AT(T, counter, size_t), .flags = (flag) | JSON_OPEN, \
        .doc = __VA_ARGS__                                                        \
    }

#endif
