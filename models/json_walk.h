/* json_walk.h - through a JSON text from front to back, without a tree.
 *
 * For documents that are large and of which little is wanted: other tools' files, and
 * the service's own answers when they are drawn. The memory is that of the longest
 * string. Reading on after a mistake is harmless: everything ends at once, and
 * json_walk_end() says what was wrong and where.
 *
 *     json_walk_enter(&w, '{');
 *     while ((name = json_walk_member(&w)))
 *         if (strcmp(name, "size") == 0)
 *             size = json_walk_number(&w);
 *         else
 *             json_walk_skip(&w);
 *
 * After json_walk_member() and json_walk_element() exactly one value must be taken.
 * Refused are: what is not JSON, control characters and U+0000 in strings, lone
 * surrogates, nesting beyond JSON_WALK_DEPTH_MAX. UTF-8 is not checked.
 */
#ifndef GRIDPLAN_JSON_WALK_H
#define GRIDPLAN_JSON_WALK_H

#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { JSON_WALK_DEPTH_MAX = 64 };

struct json_walk {
    const char *at, *start, *end;
    struct arena *arena;
    char *string; /* the last one */
    size_t string_size;
    size_t depth;
    bool first;  /* nothing of the innermost list or object was taken yet */
    bool failed; /* `what` at `at`, or `cancelled`: budget_read_on() */
    bool cancelled;
    const char *what;
};

void json_walk_open(struct json_walk *w, const char *text, size_t length,
                    struct arena *a);

/* First character of the next value: one of {["tfn, '0' for a number, 0 for none. */
char json_walk_type(struct json_walk *w);

/* Into the next value, which must begin with `open`: '{' or '['. */
bool json_walk_enter(struct json_walk *w, char open);

/* The same where anything may stand: false, and stepped over, if it begins otherwise. */
bool json_walk_enter_if(struct json_walk *w, char open);

/* Name of the next member; NULL: the object has ended. Good until the next string. */
const char *json_walk_member(struct json_walk *w);

/* Whether the list has one more element. */
bool json_walk_element(struct json_walk *w);

/* The value as a string; "" and failed if it is none. Good until the next one. */
const char *json_walk_string(struct json_walk *w);

/* The value as a string of `a`'s; NULL, and stepped over, if it is none. */
const char *json_walk_text(struct json_walk *w, struct arena *a);

/* The value as a number; NAN if it is none (then it is skipped), or beyond double. */
double json_walk_number(struct json_walk *w);

void json_walk_skip(struct json_walk *w);

/* Whether all went well and nothing stands behind the value. Otherwise fills *err:
 * ERR_INVALID with `pointer`, line and column, or ERR_TOO_LARGE. */
enum error_code json_walk_end(struct json_walk *w, const char *pointer,
                              struct error *err);

#endif
