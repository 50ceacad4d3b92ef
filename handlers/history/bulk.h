/* bulk.h - bodies of many records: which are refused, and what the answer says.
 *
 * A JSON object or array is stored whole or not at all: 201, or 422 with every
 * mistake. Of NDJSON the good lines are stored and the bad ones refused: 201
 * when all were good, 200 when some were, 422 when none was. 200 also when records were
 * there already.
 */
#ifndef GRIDPLAN_BULK_H
#define GRIDPLAN_BULK_H

#include "service/records/record.h"
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
    uint64_t received, stored, duplicates, replaced, refused; /* records */
    const struct bulk_error *errors;
    size_t error_count;
    const char *const *warnings;
    size_t warning_count;
};

extern const struct json_object bulk_error_json;
extern const struct json_object bulk_answer_json;

/* The rows of a struct T that begins with a struct bulk_answer. */
#define BULK_COUNT(m, text)                                 \
    {                                                       \
        .name = #m, .doc = text, .type = JSON_TYPE_INTEGER, \
        .offset = offsetof(struct bulk_answer, m)           \
    }
#define BULK_ROWS                                                                     \
    BULK_COUNT(received, "Records in the body"),                                      \
        BULK_COUNT(stored, "Records stored and committed"),                           \
        BULK_COUNT(duplicates, "Records that were stored already: left as they are"), \
        BULK_COUNT(replaced, "Stored records that have these values now"),            \
        BULK_COUNT(refused, "Lines of NDJSON refused"),                               \
    {                                                                                 \
        .name = "errors",                                                             \
        .doc = "What was wrong with the refused lines: the first 100 mistakes",       \
        .type = JSON_TYPE_LIST, .offset = offsetof(struct bulk_answer, errors),       \
        .count_offset = offsetof(struct bulk_answer, error_count),                    \
        .of = &bulk_error_json, .max = BULK_ERRORS_MAX                                \
    }
/* The last of them. */
#define BULK_WARNINGS                                                              \
    {                                                                              \
        .name = "warnings",                                                        \
        .doc = "What was guessed, what is not used, and which members came under " \
               "former names; with counts",                                        \
        .type = JSON_TYPE_TEXTS, .flags = JSON_OPTIONAL,                           \
        .offset = offsetof(struct bulk_answer, warnings),                          \
        .count_offset = offsetof(struct bulk_answer, warning_count)                \
    }

/* The records of a body that may be stored. */
struct bulk_items {
    const void *list;
    size_t count;
    const uint64_t *line; /* of NDJSON, of each; NULL: the body was JSON ... */
    bool is_single;       /* ... and an object, not an array */
};

/* Checks the records (structs of `item_bytes`), which a table has read: *items
 * are those to store, *answer has received and refused. Fails when nothing may be
 * stored. `check` NULL: their rows say all. */
enum error_code bulk_accept(struct request *rq, const struct json_lines *in,
                            size_t item_bytes, record_check_fn *check,
                            struct bulk_items *items, struct bulk_answer *answer);

/* Refuses the accepted records that are marked, with the mistakes in `err`: of NDJSON the
 * others remain in *items, as copies; of JSON `err` is the request's and nothing does.
 * Fails when nothing may be stored. */
enum error_code bulk_refuse(struct request *rq, struct bulk_items *items,
                            size_t item_bytes, const bool *is_refused,
                            const struct error *err, struct bulk_answer *answer);

/* Refuses the accepted records whose instant `at` (a JSON row of theirs) is before
 * `kept_from_s`: the others remain in *items, as copies. ERR_CONFLICT when nothing may be
 * stored for that. */
enum error_code bulk_expire(struct request *rq, struct bulk_items *items,
                            size_t item_bytes, const struct json_field *at,
                            double kept_from_s, struct bulk_answer *answer);

/* What became of the accepted records: completes the answer, and sets its status. Fails
 * when none may be stored, as some are stored with other values. */
enum error_code bulk_stored(struct request *rq, const struct bulk_items *items,
                            const struct record_stored *stored,
                            struct bulk_answer *answer);

#endif
