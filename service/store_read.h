/* store_read.h - pages of history tables; only for the files store_*.c.
 *
 * History tables are read alike: in the order of (instant, row_id), from a
 * key that the page token carries. Statements come in four kinds, because one
 * for all would keep PostgreSQL from using the index: oldest or newest first,
 * with or without the id that the index begins with.
 */
#ifndef GRIDPLAN_STORE_READ_H
#define GRIDPLAN_STORE_READ_H

#include "service/store.h"

enum { HISTORY_NEWEST_FIRST = 1, HISTORY_ANY_ID = 2, HISTORY_READ_KINDS = 4 };

/* $1 tenant, $2 from, $3 to, $4 and $5 the key, $6 how many, $7 the id. */
#define HISTORY_READ(kind, table, columns, at, beyond, order, which)                \
    {                                                                               \
        "read_" table kind,                                                         \
            "SELECT " columns ", row_id FROM " table " WHERE tenant = $1 AND " at   \
            " >= $2 AND " at " < $3"                                                \
            " AND (" at ", row_id) " beyond " ($4, $5)" which " ORDER BY " at order \
            ", row_id" order " LIMIT $6",                                           \
            DB_REPEATABLE                                                           \
    }
#define HISTORY_READS(table, columns, at, id, rest)                                   \
    {                                                                                 \
        [0] = HISTORY_READ("", table, columns, at, ">", "", " AND " id " = $7" rest), \
        [HISTORY_NEWEST_FIRST] = HISTORY_READ("_newest", table, columns, at, "<",     \
                                              " DESC", " AND " id " = $7" rest),      \
        [HISTORY_ANY_ID] = HISTORY_READ("_any", table, columns, at, ">", "", rest),   \
        [HISTORY_ANY_ID | HISTORY_NEWEST_FIRST] =                                     \
            HISTORY_READ("_any_newest", table, columns, at, "<", " DESC", rest),      \
    }

/* One of the tables, for history_read_page(). A row is the caller's struct with the
 * row_id behind it. */
struct history {
    const struct db_statement *reads; /* HISTORY_READ_KINDS */
    const struct db_column *columns;
    size_t row_size, item_size;
    size_t at_offset, row_id_offset;
};

/* A page of a table; `id` and the two of `more` (NULL: any) are $7, $8 and $9. *list gets
 * structs of item_size. */
enum error_code history_read_page(struct db_session *s, const char *tenant,
                                  const struct history *history,
                                  const struct store_filter *filter, const char *id,
                                  const char *const *more, const struct store_page *page,
                                  void **list, size_t *count, const char **next_token,
                                  struct arena *a, struct error *err);

#endif
