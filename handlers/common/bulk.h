/* bulk.h - bodies of many records: which are refused, and what the answer says.
 *
 * A JSON object or array is stored whole or not at all: 201, or 422 with every
 * mistake. Of NDJSON the good lines are stored and the bad ones refused: 201
 * when all were good, 200 when some were, 422 when none was.
 */
#ifndef GRIDPLAN_BULK_H
#define GRIDPLAN_BULK_H

#include "service/route.h"

enum { BULK_ERRORS_MAX = 100 }; /* of an answer */

/* One mistake in a line of NDJSON. */
struct bulk_error {
    uint64_t line; /* from 1 */
    const char *pointer, *code, *detail;
    const char *hint;            /* NULL: none */
    const struct error_item *of; /* whole, not printed */
};

struct bulk_answer {
    uint64_t received, stored, duplicates, refused; /* records */
    const struct bulk_error *errors;
    size_t error_count;
};

extern const struct json_object bulk_error_json;
extern const struct json_object bulk_answer_json;        /* without duplicates */
extern const struct json_object bulk_unique_answer_json; /* with them */

/* What the check of one record knows, and where its mistakes go. */
struct bulk_check {
    double now_s;      /* instant */
    bool in_list;      /* pointers begin with the record's index */
    size_t index;      /* of the record */
    uint64_t line;     /* of NDJSON, from 1: then pointers begin in that line; else 0 */
    struct error *err; /* collects the mistakes */
};
typedef void bulk_check_fn(struct bulk_check *check, const void *item);

/* For checks: notes a mistake in a member; "" means the record itself. */
void bulk_mistake(struct bulk_check *check, const char *member, enum item_code code,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Notes an instant that is too far ahead of the clock; NAN is none and good. */
void bulk_check_instant(struct bulk_check *check, const char *member, double at_s);

/* Notes a number that is not whole; NAN is none and good. */
void bulk_check_whole(struct bulk_check *check, const char *member, double number);

/* Checks the records (structs of `item_bytes`), which a table has read: *items
 * are those to store, *answer has all but `stored`. Fails when nothing may be
 * stored. */
enum error_code bulk_accept(struct request *rq, const struct json_lines *in,
                            size_t item_bytes, bulk_check_fn *check, const void **items,
                            size_t *count, struct bulk_answer *answer);

/* After `stored` of the accepted records are new: completes the answer, and sets
 * its status. */
void bulk_stored(struct request *rq, size_t stored, struct bulk_answer *answer);

#endif
