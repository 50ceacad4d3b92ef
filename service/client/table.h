/* table.h - rows of an answer as lines for a terminal. */
#ifndef GRIDPLAN_CLIENT_TABLE_H
#define GRIDPLAN_CLIENT_TABLE_H

#include "service/json.h"

/* The main list of an answer: the first of its lists of objects that is not about what
 * went wrong. Columns are the members of its rows that are scalars
 * or lists of texts (of objects: the first text of each), in their order, as many as
 * `width` characters have room for (a line says which are left out); numbers to the
 * right. A row of `of` NULL: the main list; else the list of that name. *found: there is
 * such a list, and it has rows. */
enum error_code table_print(const char *answer, const char *of, size_t width,
                            struct text_buffer *b, bool *found, struct error *err);

/* The objects in the lists of an answer, as texts. word NULL: a line for each, its names
 * (the members `by`, ended by NULL) and the first of title, purpose and meaning that it
 * has. Else those that have the word as one of these members, with all they say. *found:
 * there was one. */
enum error_code table_texts(const char *answer, const char *const *by, const char *word,
                            struct text_buffer *b, bool *found, struct error *err);

#endif
