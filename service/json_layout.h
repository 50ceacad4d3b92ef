/* json_layout.h - JSON text for readers: indented, with what fits on one line. */
#ifndef GRIDPLAN_JSON_LAYOUT_H
#define GRIDPLAN_JSON_LAYOUT_H

#include "service/json.h"

enum { JSON_LAYOUT_WIDTH = 96, JSON_LAYOUT_INDENT = 2 };

/* Appends the document with other spaces: an object or a list stands on one line if that
 * has at most JSON_LAYOUT_WIDTH bytes, else its parts on lines of their own, but as many
 * numbers, texts and words of a list as fit. Values stay as they are written. A text that
 * is no JSON, or deeper than JSON_WALK_DEPTH_MAX, is appended as it is. */
void json_layout(const char *json, struct text_buffer *b);

#endif
