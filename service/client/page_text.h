/* page_text.h - a page of the manual as lines of a terminal. */
#ifndef GRIDPLAN_PAGE_TEXT_H
#define GRIDPLAN_PAGE_TEXT_H

#include "service/json.h"

/* Appends what <main> of the page says: headings between empty lines, list items behind a
 * dash, rows of tables as lines whose cells are `|` apart, preformatted text as it is,
 * the rest wrapped at `width` characters. For HTML as the manual has it: tags that are
 * closed, the entities of html.h. Control characters become '?'. */
void page_text(const char *html, size_t width, struct text_buffer *b);

#endif
