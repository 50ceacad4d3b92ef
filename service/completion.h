/* completion.h - what completes commands, flags and their words in a shell. */
#ifndef GRIDPLAN_COMPLETION_H
#define GRIDPLAN_COMPLETION_H

#include "service/json.h"
#include "service/route.h"

/* Appends the completion for a shell, "bash" or "zsh". Endpoints are those of `routes`
 * that decide; names of policies and codes of errors the program is asked for when they
 * are wanted. ERR_INVALID: there is none for this shell. */
enum error_code completion_print(const char *shell, const struct route *routes,
                                 struct text_buffer *b, struct error *err);

#endif
