/* markdown.h - our own texts in Markdown as HTML.
 *
 * Taken are: headings (#), paragraphs, lists (- and 1.), tables, code, fenced or indented
 * by four blanks, **bold**,
 * `code`, [links](to) that are relative or https. All else is text, HTML too: it is
 * escaped. Headings have anchors; fenced code has its word as a class (sh, json), and a
 * formula the anchor eq-N, counted from 1.
 */
#ifndef GRIDPLAN_MARKDOWN_H
#define GRIDPLAN_MARKDOWN_H

#include "service/json.h"

/* Appends `text` as HTML; a heading of # is <h2> when `level` is 2. */
void markdown_print(const char *text, int level, struct text_buffer *b);

/* One line: bold, code and links only. */
void markdown_print_line(const char *text, size_t length, struct text_buffer *b);

#endif
