/* store_trace.c - uploaded workloads and failure traces. */
#include "service/store_simulation.h"
#include "service/store_token.h"

static const struct db_column columns[] = {
    DB_COLUMN(struct store_trace, trace_id, DB_TEXT),
    DB_COLUMN(struct store_trace, format, DB_TEXT),
    DB_COLUMN(struct store_trace, document_bytes, DB_INTEGER),
    DB_COLUMN(struct store_trace, line_count, DB_INTEGER),
    DB_COLUMN(struct store_trace, record_count, DB_INTEGER),
    DB_COLUMN(struct store_trace, skipped_count, DB_INTEGER),
    DB_COLUMN(struct store_trace, summary, DB_TEXT),
    DB_COLUMN(struct store_trace, created_at_s, DB_INSTANT),
    DB_COLUMN(struct store_trace, piece_bytes, DB_INTEGER),
    DB_COLUMN(struct store_trace, document, DB_BYTES),
    {0},
};

#define HEAD(id)                                                                      \
    id ", format, length(document)::bigint + piece_bytes, line_count, record_count, " \
       "skipped_count, summary, created_at, piece_bytes"

/* The statements of one kind; both tables have the same columns but for the name. */
struct trace_statements {
    struct db_statement insert, select, select_head, list, remove, insert_piece,
        select_piece;
};

#define STATEMENTS(table, id)                                                            \
    {                                                                                    \
        .insert = {"insert_" table,                                                      \
                   "INSERT INTO " table " (tenant, " id ", format, document, "           \
                   "line_count, record_count, skipped_count, summary, created_at, "      \
                   "piece_bytes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now(), $9"      \
                   ") ON CONFLICT DO NOTHING RETURNING " HEAD(id) ", NULL::bytea",       \
                   0},                                                                   \
        .select = {"select_" table,                                                      \
                   "SELECT " HEAD(id) ", document FROM " table                           \
                                      " WHERE tenant = $1 AND " id " = $2",              \
                   DB_REPEATABLE},                                                       \
        .select_head = {"select_" table "_head",                                         \
                        "SELECT " HEAD(id) ", NULL::bytea FROM " table                   \
                                           " WHERE tenant = $1 AND " id " = $2",         \
                        DB_REPEATABLE},                                                  \
        .list = {"list_" table,                                                          \
                 "SELECT " HEAD(id) ", NULL::bytea FROM " table                          \
                                    " WHERE tenant = $1 AND " id " > $2 ORDER BY " id    \
                                    " LIMIT $3",                                         \
                 DB_REPEATABLE},                                                         \
        .remove = {"delete_" table,                                                      \
                   "DELETE FROM " table " WHERE tenant = $1 AND " id " = $2", 0},        \
        .insert_piece = {"insert_" table "_piece",                                       \
                         "INSERT INTO " table "_piece VALUES ($1, $2, $3, $4)", 0},      \
        .select_piece = {"select_" table "_piece",                                       \
                         "SELECT content FROM " table "_piece WHERE tenant = $1 AND " id \
                         " = $2 AND piece_number = $3",                                  \
                         DB_REPEATABLE},                                                 \
    }

static const struct trace_statements workloads = STATEMENTS("workload", "workload_id");
static const struct trace_statements failure_traces =
    STATEMENTS("failure_trace", "failure_trace_id");

static const struct trace_statements *statements_of(enum store_trace_kind kind)
{
    return kind == STORE_WORKLOAD ? &workloads : &failure_traces;
}

static const char *noun_of(enum store_trace_kind kind)
{
    return kind == STORE_WORKLOAD ? "workload" : "failure trace";
}

enum error_code store_trace_create(struct db_session *s, const char *tenant,
                                   enum store_trace_kind kind,
                                   const struct store_trace *trace,
                                   struct store_trace *out, struct arena *a,
                                   struct error *err)
{
    const struct db_param params[] = {
        db_text(tenant),
        db_text(trace->trace_id),
        db_text(trace->format),
        db_bytes(trace->document.data, trace->document.length),
        db_integer(trace->line_count),
        db_integer(trace->record_count),
        db_integer(trace->skipped_count),
        db_text(trace->summary),
        db_integer(trace->piece_bytes),
        {.type = DB_END},
    };
    bool found;

    TRY(db_row(s, &statements_of(kind)->insert, params, columns, sizeof(*out), out,
               &found, a, err));
    if (!found)
        return fail(err, ERR_CONFLICT, "?/id", "there is a %s '%s' already",
                    noun_of(kind), trace->trace_id);
    return OK;
}

static enum error_code fail_no_trace(enum store_trace_kind kind, const char *trace_id,
                                     struct error *err)
{
    return fail(err, ERR_NOT_FOUND, "", "there is no %s '%.200s'", noun_of(kind),
                trace_id);
}

struct piece {
    struct db_bytes content;
};

static const struct db_column piece_columns[] = {
    DB_COLUMN(struct piece, content, DB_BYTES), {0}};

enum error_code store_trace_piece(struct db_session *s, const char *tenant,
                                  enum store_trace_kind kind, const char *trace_id,
                                  uint64_t number, struct db_bytes content,
                                  struct error *err)
{
    return db_run(s, &statements_of(kind)->insert_piece,
                  DB_PARAMS(db_text(tenant), db_text(trace_id), db_integer(number),
                            db_bytes(content.data, content.length)),
                  NULL, err);
}

enum error_code store_trace_pieces(struct db_session *s, const char *tenant,
                                   enum store_trace_kind kind,
                                   const struct store_trace *trace, store_piece_fn *take,
                                   void *context, struct arena *a, struct error *err)
{
    uint64_t read = 0;

    for (uint64_t number = 0; read < trace->piece_bytes; number++) {
        struct arena_mark mark = arena_mark(a);
        struct piece piece = {0};
        bool found;

        TRY(db_row(
            s, &statements_of(kind)->select_piece,
            DB_PARAMS(db_text(tenant), db_text(trace->trace_id), db_integer(number)),
            piece_columns, sizeof(piece), &piece, &found, a, err));
        if (!found)
            return fail_no_trace(kind, trace->trace_id, err);
        TRY(take(context, (const char *)piece.content.data, piece.content.length, err));
        read += piece.content.length;
        arena_rewind(a, mark);
    }
    return OK;
}

enum error_code store_trace_read(struct db_session *s, const char *tenant,
                                 enum store_trace_kind kind, const char *trace_id,
                                 bool with_document, struct store_trace *out,
                                 struct arena *a, struct error *err)
{
    const struct trace_statements *statements = statements_of(kind);
    bool found;

    TRY(db_row(s, with_document ? &statements->select : &statements->select_head,
               DB_PARAMS(db_text(tenant), db_text(trace_id)), columns, sizeof(*out), out,
               &found, a, err));
    return found ? OK : fail_no_trace(kind, trace_id, err);
}

enum error_code store_traces_list(struct db_session *s, const char *tenant,
                                  enum store_trace_kind kind,
                                  const struct store_page *page,
                                  const struct store_trace **list, size_t *count,
                                  const char **next_token, struct arena *a,
                                  struct error *err)
{
    const char *after = "";
    const char *next = NULL;
    struct store_trace *rows;
    size_t row_count;
    double ignored_s;

    if (page->token)
        TRY(token_read(page->token, &ignored_s, &after, a, err));
    TRY(db_rows(s, &statements_of(kind)->list,
                DB_PARAMS(db_text(tenant), db_text(after), db_integer(page->limit + 1)),
                columns, sizeof(*rows), (void **)&rows, &row_count, a, err));
    if (row_count > page->limit)
        TRY(token_make(0, rows[page->limit - 1].trace_id, &next, a, err));
    *list = rows;
    *count = page_count(page, row_count);
    *next_token = next;
    return OK;
}

enum error_code store_trace_delete(struct db_session *s, const char *tenant,
                                   enum store_trace_kind kind, const char *trace_id,
                                   struct error *err)
{
    size_t deleted;

    TRY(db_run(s, &statements_of(kind)->remove,
               DB_PARAMS(db_text(tenant), db_text(trace_id)), &deleted, err));
    return deleted ? OK : fail_no_trace(kind, trace_id, err);
}
