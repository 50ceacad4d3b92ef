/* answer_forms.h - answers that were kept as JSON, in the other forms of ANSWER_FORMS. */
#ifndef GRIDPLAN_ANSWER_FORMS_H
#define GRIDPLAN_ANSWER_FORMS_H

#include "service/route.h"

/* A chart is drawn; a text is there when the answer has one; a graph cannot be drawn
 * from the answer alone: ERR_NOT_ACCEPTABLE. */
answer_form_fn answer_form_draw;

#endif
