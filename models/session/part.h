/* session/part.h - of a session's definition only some tasks. */
#ifndef GRIDPLAN_MODELS_SESSION_PART_H
#define GRIDPLAN_MODELS_SESSION_PART_H

#include "models/base/names.h"

/* The text of a definition, which is JSON, without all but those tasks, and without
 * edges; the whole text if it has no list of tasks where it should. O(length). */
const char *session_definition_part(const char *text, const struct name_index *wanted,
                                    struct arena *a);

#endif
