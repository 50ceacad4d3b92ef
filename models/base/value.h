/* base/value.h - a named value whose type the caller chose.
 *
 * Options of an algorithm and attributes of a resource come as JSON objects
 * with members of any scalar type; this is one such member.
 */
#ifndef GRIDPLAN_BASE_VALUE_H
#define GRIDPLAN_BASE_VALUE_H

#include <stddef.h>

enum value_type { VALUE_UNDEFINED, VALUE_NUMBER, VALUE_BOOLEAN, VALUE_TEXT };

struct named_value {
    const char *name;
    enum value_type type;
    double number;    /* VALUE_NUMBER; 1 or 0 for VALUE_BOOLEAN */
    const char *text; /* VALUE_TEXT */
};

#endif
