/* problem_text.h - a problem document (RFC 9457) as lines for people. */
#ifndef GRIDPLAN_PROBLEM_TEXT_H
#define GRIDPLAN_PROBLEM_TEXT_H

#include "service/json.h"

/* Appends a line with status, title and detail, one for each mistake with where it is and
 * what would help, and where the code is explained. Control characters become '?'. A body
 * that is no such document is appended as it is. */
void problem_print(int status, const char *body, struct text_buffer *b);

#endif
