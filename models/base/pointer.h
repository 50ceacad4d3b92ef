/* base/pointer.h - JSON Pointers (RFC 6901) to what a request says.
 *
 *     invalid(err, pointer_in("/jobs", i, "depends_on").text, ITEM_UNKNOWN_ID, ...)
 *
 * They are values: the text lives as long as the expression that makes it, or as long as
 * the variable that holds it. What stays longer is of pointer_keep().
 */
#ifndef GRIDPLAN_BASE_POINTER_H
#define GRIDPLAN_BASE_POINTER_H

#include <stddef.h>

struct arena;

enum { POINTER_TEXT_BYTES = 256 }; /* longer ones are cut */

struct pointer {
    char text[POINTER_TEXT_BYTES];
};

/* "LIST/INDEX/MEMBER"; the element itself when `member` is NULL. `list` is a pointer,
 * `member` may be a path of names. */
struct pointer pointer_in(const char *list, size_t index, const char *member);

/* "PARENT/MEMBER"; `member` may be a path of names. */
struct pointer pointer_of(const char *parent, const char *member);

/* "PARENT/NAME": a name that a client chose, as of an option; escaped. */
struct pointer pointer_named(const char *parent, const char *name);

/* pointer_in() in an arena; for computations. */
const char *pointer_keep(const char *list, size_t index, const char *member,
                         struct arena *a);

#endif
