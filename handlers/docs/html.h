/* html.h - HTML from texts: everything that is printed is escaped here and nowhere else.
 */
#ifndef GRIDPLAN_HTML_H
#define GRIDPLAN_HTML_H

#include "service/json.h"

/* Appends the format, in which
 *
 *     %t  const char *: a text, escaped; NULL: nothing
 *     %u  const char *: part of a URL's path, percent-encoded, slashes stay
 *     %r  const char *: HTML as it is
 *     %z  size_t        %g  double, as JSON has it        %%  a percent sign
 */
void html_add(struct text_buffer *b, const char *format, ...);

/* A text, escaped. */
void html_text(struct text_buffer *b, const char *text, size_t length);

/* `text` as an anchor: lower-case letters and digits, a dash for all between; at least
 * one character. */
void html_anchor(struct text_buffer *b, const char *text, size_t length);

#endif
