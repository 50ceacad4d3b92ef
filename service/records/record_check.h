/* record_check.h - what is wrong with a record that was read, beyond what its rows say.
 */
#ifndef GRIDPLAN_RECORD_CHECK_H
#define GRIDPLAN_RECORD_CHECK_H

#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the check of one record knows, and where its mistakes go. */
struct record_check {
    double now_s;      /* instant */
    bool in_list;      /* pointers begin with the record's index */
    size_t index;      /* of the record */
    uint64_t line;     /* of NDJSON, from 1: then pointers begin in that line; else 0 */
    struct error *err; /* collects the mistakes */
};
typedef void record_check_fn(struct record_check *check, const void *item);

/* Notes a mistake in a member; "" means the record itself. */
void record_mistake(struct record_check *check, const char *member, enum item_code code,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Notes an instant that is too far ahead of the clock; NAN is none and good. */
void record_check_instant(struct record_check *check, const char *member, double at_s);

#endif
