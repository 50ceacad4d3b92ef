/* text_width.h - how wide texts are where each character has one column or two: on
 * terminals, and in pictures that cannot ask a font.
 *
 * Unicode's East Asian Width: wide and fullwidth characters (ideographs, kana, Hangul,
 * most pictographs) take two columns, marks that join the character before them none, all
 * others one. What a terminal makes of a character may differ by its version of Unicode.
 */
#ifndef GRIDPLAN_TEXT_WIDTH_H
#define GRIDPLAN_TEXT_WIDTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A character of UTF-8. */
struct text_character {
    size_t length;    /* bytes >= 1; of what is no UTF-8 one */
    unsigned columns; /* 0, 1 or 2 */
    bool is_control; /* C0, DEL, C1, or turns the direction of writing; one column, as '?'
                      */
};

/* The one that `text` begins with; *text is not 0. */
struct text_character text_character(const char *text);

/* Columns of a text. O(length), as the next one. */
size_t text_columns(const char *text);

/* Bytes of its first characters that take at most `most` columns; *columns (unless NULL)
 * are those that they take. */
size_t text_fitting(const char *text, size_t most, size_t *columns);

#endif
