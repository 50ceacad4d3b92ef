/* record.h - a stored record of history, described once.
 *
 * A record is a C struct, a JSON object, a table of the database and the filters of its
 * list. One list of rows says all of it, a row a member:
 *
 *     #define FAILURE_ROWS(ROW)                                                     \
 *         ROW(resource_id, DB_TEXT, RECORD_KEY | RECORD_FILTER,                     \
 *             JSON_ID(struct failure, resource_id, JSON_REQUIRED, "What failed"))   \
 *         ROW(down_at, DB_INSTANT, RECORD_KEY,                                      \
 *             JSON_INSTANT(struct failure, down_at, JSON_REQUIRED, "Since when"))   \
 *         ROW(cause, DB_TEXT, 0, JSON_TEXT(struct failure, cause, ...))
 *     RECORD_TABLES(failure, FAILURE_ROWS)
 *
 * column, its type, what it is besides, and the member in JSON and in C. From the rows
 * come the binding of the struct, the rows in bulk, pages with filters, changes and
 * removals here, and the routes of handlers/history/records.h. A new member is a row and
 * a migration with its column; the rest follows.
 *
 * In C a CHOICE is an int, in the table its name; TEXTS are a JSON array there.
 *
 * The natural key tells which reports are of the same thing: a record is stored once, and
 * changed or removed by it. Where the key holds the instant by which the table is
 * partitioned a unique index sees to that. Elsewhere (`lock_base`) whoever stores holds
 * advisory locks of the tenants and first members of the keys meanwhile: 64, because a
 * body may name a million, and always in rising order.
 *
 * The files are below service/ because a row joins what service/ describes JSON and
 * columns with (json.h, db.h), which models/ must not see; the structs themselves, that
 * algorithms use too, stay in models/.
 *
 * The rules of service/store.h hold here: a tenant's rows only, whole or not at all, in
 * the session's transaction if one is open.
 */
#ifndef GRIDPLAN_RECORD_H
#define GRIDPLAN_RECORD_H

#include "service/db.h"
#include "service/json.h"
#include "service/records/record_check.h"
#include "service/store.h"

enum record_role {
    RECORD_KEY = 1,          /* of the natural key, and always there */
    RECORD_KEY_OR_EMPTY = 2, /* of it; none (NULL) counts as the empty text */
    RECORD_KEY_MEASURE = 4,  /* of it is only whether there is a value */
    RECORD_FILTER = 8,       /* lists can be asked for one value of it */
    RECORD_MINUS_ONE = 16,   /* none (NAN) is -1 in the column */
    RECORD_EMPTY = 128,      /* none (NULL) is the empty text in the column */
    RECORD_GENERATED = 32,   /* set by the database */
    RECORD_FILLED =
        64, /* may be worked out when it is stored: sent again it may differ */
    RECORD_IN_KEY = RECORD_KEY | RECORD_KEY_OR_EMPTY | RECORD_KEY_MEASURE
};

enum { RECORD_COLUMNS_MAX = 32, RECORD_REMOVED_MAX = 100000, RECORD_LOCKS = 64 };

struct record_column {
    const char *name;
    enum db_type type;
    unsigned role; /* of enum record_role */
};

/* Sets what is derived before a record is stored. */
typedef enum error_code record_complete_fn(void *item, struct arena *a,
                                           struct error *err);

/* Whether what is stored may stand beside these records, which are stored or changed in
 * the transaction that is open; what it refuses is undone. Of a record with lock_base,
 * whose locks are held. */
typedef enum error_code record_verify_fn(struct db_session *s, const char *tenant,
                                         const void *list, size_t count, struct arena *a,
                                         struct error *err);

struct record {
    const char *table;
    const struct json_object
        *json; /* its rows are those of the columns, in their order */
    const struct record_column *columns; /* ended by {0} */
    const char *at;                      /* column: the instant that orders lists */
    record_check_fn *check;       /* of a record that was read; NULL: the rows say all */
    record_complete_fn *complete; /* NULL: nothing is derived */
    record_verify_fn *verify;     /* NULL: any records may be there together */
    const char *until;  /* column: the instant at which what began at `at` ended, so that
                           lists can be asked for what was under way; NULL: none */
    bool expires;       /* what is older than the samples that are kept is refused */
    uint64_t lock_base; /* advisory locks; 0: a unique index has the key */
    size_t part_rows;   /* most of a statement that inserts; 0: 20000 */
    /* A filter that is no column: its name, what it is, and a condition up to the value.
     */
    const char *other, *other_doc, *other_sql;
};

#define RECORD_FIELD(column, type, role, json)  json,
#define RECORD_COLUMN(column, type, role, json) {#column, type, role},
#define RECORD_TABLES(name, ROWS)                                             \
    static const struct json_field name##_fields[] = {ROWS(RECORD_FIELD){0}}; \
    static const struct record_column name##_columns[] = {ROWS(RECORD_COLUMN){0}}

/* A value of the JSON row in a struct: whether there is one. */
bool record_has_value(const struct json_field *field, const void *item);

/* The place of a column or member; RECORD_COLUMNS_MAX: there is none. */
size_t record_place(const struct record *record, const char *name);

/* Whether two structs have the same value of a column, as it is stored. */
bool record_same(const struct record *record, size_t place, const void *left,
                 const void *right);

/* ---- storing ---- */

/* What becomes of a record whose key is stored with other values. */
enum record_policy { RECORD_REFUSE, RECORD_KEEP, RECORD_REPLACE };
extern const char *const record_policies[]; /* "refuse", "keep", "replace" */

struct record_stored {
    size_t stored, replaced;
    const uint64_t *refused; /* places in the list, rising: RECORD_REFUSE */
    size_t refused_count;
};

/* Stores a list. Of records with one key the first is stored first, and the others meet
 * it; with RECORD_REPLACE the last one counts. `all_or_none`: with any refused nothing is
 * stored (`stored` is 0). What is neither stored nor replaced nor refused was there. */
enum error_code record_store(struct db_session *s, const char *tenant,
                             const struct record *record, const void *list, size_t count,
                             enum record_policy policy, bool all_or_none,
                             struct record_stored *out, struct arena *a,
                             struct error *err);

/* ---- reading ---- */

/* Which rows: all that are given must fit. */
struct record_filter {
    const void *like; /* a struct of the record: rows must have its values ... */
    uint32_t columns; /* ... of these columns: bits of their places */
    bool by_measures; /* of the measures just these are there: */
    uint32_t measures;
    const char *other;            /* of record->other; NULL: any */
    const double *under_way_at_s; /* instant, of record->until; NULL: any */
    double from_at_s, to_at_s;    /* instants, the second one excluded; NAN: no limit */
    bool newest_first;
};

/* In the order of record->at. Without the first
 * member of the key the cost grows with the rows in the range, not with the page.
 * *next_token is NULL on the last page. */
enum error_code record_read(struct db_session *s, const char *tenant,
                            const struct record *record,
                            const struct record_filter *filter,
                            const struct store_page *page, const void **list,
                            size_t *count, const char **next_token, struct arena *a,
                            struct error *err);

/* Those of the condition, which may have $1 (the tenant) and `params` from $2 on, by
 * record->at; for statements of one record only. */
enum error_code record_select(struct db_session *s, const char *tenant,
                              const struct record *record, const char *condition,
                              const struct db_param *params, size_t limit, void **list,
                              size_t *count, struct arena *a, struct error *err);

/* ---- correcting ---- */

/* The first row that fits, locked until the transaction ends; *found false: none. */
enum error_code record_lock(struct db_session *s, const char *tenant,
                            const struct record *record,
                            const struct record_filter *filter, void *item, bool *found,
                            struct arena *a, struct error *err);

/* Gives the stored record with the key of *item its other values. */
enum error_code record_change(struct db_session *s, const char *tenant,
                              const struct record *record, const void *item,
                              size_t *changed, struct arena *a, struct error *err);

/* Removes what fits, RECORD_REMOVED_MAX at most; *more: there is more. `only_count`: how
 * many that would be. */
enum error_code record_remove(struct db_session *s, const char *tenant,
                              const struct record *record,
                              const struct record_filter *filter, bool only_count,
                              size_t *removed, bool *more, struct arena *a,
                              struct error *err);

#endif
