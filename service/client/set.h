/* set.h - one value of a JSON document, from the command line. */
#ifndef GRIDPLAN_CLIENT_SET_H
#define GRIDPLAN_CLIENT_SET_H

#include "models/base/error.h"

#include <stddef.h>

/* Puts what "/a/0/b=VALUE" says into a document: at a JSON pointer (RFC 6901) a VALUE of
 * JSON, or what is none as a text. Members that are not there come; "-" is behind the end
 * of a list. *text: the new document. ERR_MALFORMED: the document is no
 * JSON. ERR_INVALID: there is no "=", or nothing can be at that place. */
enum error_code set_value(const char *document, size_t length, const char *assignment,
                          const char **text, struct arena *a, struct error *err);

#endif
