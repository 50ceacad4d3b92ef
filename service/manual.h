/* manual.h - what a package has beside the program, printed from the tables of commands
 * and settings: manual pages and the file of settings; completions: completion.h.
 */
#ifndef GRIDPLAN_MANUAL_H
#define GRIDPLAN_MANUAL_H

#include "service/json.h"

/* Appends the page of this name: "gridplan.1", "gridplan-ask.1", "default" (the file
 * /etc/default/gridplan). ERR_INVALID: there is none. */
enum error_code manual_print(const char *name, struct text_buffer *b, struct error *err);

#endif
