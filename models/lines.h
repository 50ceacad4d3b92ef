/* lines.h - the lines of a text that comes in pieces.
 *
 * Bodies of uploads arrive in pieces of any length. The reader puts lines together
 * again, in memory of a fixed size: a line that is longer is handed over cut, and said
 * to be. Lines end in LF or CR LF.
 */
#ifndef GRIDPLAN_LINES_H
#define GRIDPLAN_LINES_H

#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE_MAX_BYTES = 2048 };

struct line {
    char *text;      /* without its end, NUL behind it; may be changed */
    size_t length;   /* NUL bytes inside count */
    uint64_t number; /* from 1 */
    bool too_long;   /* only the first LINE_MAX_BYTES are there */
    bool ended;      /* false: the text's last line, and no line end behind it */
};

/* A failure stops the reading and is what the feed returns. */
typedef enum error_code line_fn(void *context, const struct line *line,
                                struct error *err);

struct line_reader {
    uint64_t count; /* lines handed over */
    size_t length;
    bool too_long;
    char buffer[LINE_MAX_BYTES + 1];
};

void line_reader_open(struct line_reader *r);

/* Calls `on_line` for every line that ends in this piece. O(length). */
enum error_code line_reader_feed(struct line_reader *r, const char *bytes, size_t length,
                                 line_fn *on_line, void *context, struct error *err);

/* Hands over what stands behind the last line end, if anything. */
enum error_code line_reader_end(struct line_reader *r, line_fn *on_line, void *context,
                                struct error *err);

/* Splits at blanks and tabs, in place; at most `max` fields are stored, all are
 * counted. */
size_t line_fields(char *text, char **fields, size_t max);

/* Splits at commas, in place, as RFC 4180 has it within one line: a field may be in
 * double quotes, in which two stand for one. Blanks around fields go. At most `max`
 * fields are stored, all are counted. */
size_t line_cells(char *text, char **fields, size_t max);

/* A decimal number and nothing else: no blanks, no hexadecimal, no "nan" or "inf",
 * at most 1e15 in size. */
bool line_number(const char *text, double *number);

/* Bytes of the mark that editors put before UTF-8: 3 or 0. */
size_t lines_mark_bytes(const char *text, size_t length);

/* Whether every byte is a printable character of ASCII. */
bool line_is_printable(const char *text, size_t length);

#endif
