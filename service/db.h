/* db.h - PostgreSQL: a pool of connections, and statements with typed values.
 *
 * The only module that knows libpq. A statement is a constant beside the typed
 * function that uses it (store.h); its values go out as struct db_param, its
 * rows come back as the caller's structs, described by a table of db_column.
 * Both travel in PostgreSQL's binary format, so that a double keeps its bits.
 *
 * When the server is away: db_create() does not mind. The first requests that
 * find out wait for the connect timeout, the others fail at once with
 * ERR_UNAVAILABLE and a retry_after_s until a retry is due (0.1 s, doubling up to 2 s,
 * each a quarter more or less). A server that hangs is given up after the statement
 * timeout, one that has vanished sooner: keepalives and tcp_user_timeout are set where
 * the address has none. Of several hosts the one is wanted that takes writes, unless the
 * address says otherwise. After three failures in a second idle connections are asked
 * whether they lead to a standby now, before they are used.
 *
 * What is tried again: a connection that broke before anything was sent; a
 * deadlock, a serialization failure or a partition that was being attached, and a
 * connection lost under a statement marked DB_REPEATABLE, if no transaction is
 * open; by db_transaction() also a transaction whose connection was lost before COMMIT,
 * or that met a standby. What was lost after COMMIT was sent, and a COMMIT that the
 * standby has not confirmed, is ERR_UNAVAILABLE: the caller never acknowledges it. So is
 * a write outside a transaction that was sent and not answered.
 *
 * COMMIT, and a write outside a transaction, is never cancelled, as the server then keeps
 * what no standby has: a client that goes away does not end the wait for it. When its
 * time is over the connection is closed; the server's process goes on waiting, so that
 * this place of the pool stays empty until a standby has confirmed another COMMIT, or for
 * a minute; but one place is left.
 *
 * No text of the server's reaches a client: what it says goes to the log, with the
 * id of the request.
 *
 * Nobody waits long for a connection, and nobody takes them all: see struct db_caller.
 *
 * With `prepared` false nothing is kept on the server between transactions, as
 * PgBouncer's transaction mode (1.18) asks; then statement timeouts hold on the
 * server only inside transactions, outside only here.
 */
#ifndef GRIDPLAN_DB_H
#define GRIDPLAN_DB_H

#include "models/base/arena.h"
#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct db_session;

struct db_options {
    const char *conninfo;     /* URI or key=value; "" or NULL: libpq's PG* environment */
    size_t pool_size;         /* connections at most, >= 1 */
    bool prepared;            /* prepare statements; false behind PgBouncer */
    double connect_timeout_s; /* to one host, >= 2 (libpq's least) */
    double wait_timeout_s;    /* for a free connection; then ERR_BUSY. Once the usual
                                 wait is above a fifth of it, every second one who would
                                 have to wait is refused at once */
    double statement_timeout_s;                   /* of one statement; 0: none */
    void (*log)(void *context, const char *text); /* what went wrong; NULL: nobody */
    void *log_context;
};

/* A pool without connections. Fails for a conninfo that cannot be read or
 * without memory, never because the server is away. Copies its options. */
enum error_code db_create(const struct db_options *options, struct db **db,
                          struct error *err);

/* All sessions must have been closed. Accepts NULL. */
void db_close(struct db *db);

/* OK when a statement worked within the last second or a ping works now, else
 * ERR_UNAVAILABLE. At most one ping a second, whoever asks. */
enum error_code db_ready(struct db *db, struct error *err);

/* Whether the address names more than one server. */
bool db_has_several_hosts(const struct db *db);

struct db_stats {
    size_t pool_size, connected_count, in_use_count; /* now */
    uint64_t wait_count;            /* requests that had to wait for a connection */
    uint64_t wait_timeout_count;    /* ... in vain */
    uint64_t connect_count;         /* connections made */
    uint64_t connect_failure_count; /* ... not made */
    uint64_t lost_count;            /* connections that broke or were given up */
    uint64_t statement_count;       /* statements sent */
    uint64_t failure_count;         /* ... that failed */
    uint64_t retry_count;           /* ... sent again */
    uint64_t shed_count;            /* requests refused at once, as the wait is long */
    uint64_t partition_retry_count; /* statements that met a partition being made */
    uint64_t check_escaped_count;   /* values that the server refused, not we */
    uint64_t unconfirmed_count;     /* COMMITs that the standby has not confirmed, or that
                                       were not answered */
};
void db_stats(struct db *db, struct db_stats *stats);

/* What one request uses, by one thread at a time. It holds a connection only
 * while a statement runs or a transaction is open. `cancelled` (NULL: never) is
 * polled while waiting; then ERR_CANCELLED, and the connection is given up, so
 * that the server stops. Lives in `a`, but must be closed; NULL without memory. */
struct db_session *db_session_create(struct db *db, const bool *cancelled,
                                     struct arena *a);

/* Whether it has a connection now, which others may wait for. Accepts NULL. */
bool db_session_holds_connection(const struct db_session *s);
/* For whom a session works. While somebody else waits for a connection, an owner has half
 * of them at most. */
struct db_caller {
    const char *owner;      /* "" or NULL: the service itself */
    const char *request_id; /* for the log; NULL: none */
    double deadline_s;      /* monotonic clock: nobody needs the answer later; 0: never */
};
void db_session_set_caller(struct db_session *s, const struct db_caller *caller);

/* Whether a statement failed because the disk is full, since db_set_full(db, false). */
bool db_is_full(struct db *db);
void db_set_full(struct db *db, bool full);

/* Rolls back what is open. Accepts NULL. */
void db_session_close(struct db_session *s);

/* For the next transactions; 0: no limit. Outside of them the server keeps to the
 * pool's, and the shorter one counts. */
void db_session_set_timeout(struct db_session *s, double statement_timeout_s);

/* READ COMMITTED. They do not nest. A statement that failed spoils the
 * transaction: db_commit() then rolls back and fails. db_rollback() is always
 * allowed, also when nothing is open. */
enum error_code db_begin(struct db_session *s, struct error *err);
enum error_code db_commit(struct db_session *s, struct error *err);
void db_rollback(struct db_session *s);
bool db_in_transaction(const struct db_session *s);

/* In a transaction: its COMMIT does not wait for a standby, for what may be lost. */
enum error_code db_commit_locally(struct db_session *s, struct error *err);

/* Whether the last statement failed because others were changing the same: the whole
 * transaction may be tried again from its first statement. */
bool db_has_conflicted(const struct db_session *s);

/* Whether the transaction's connection was lost, or led to a standby, before COMMIT was
 * sent: nothing of it is there, and all of it may be tried again. */
bool db_is_undone(const struct db_session *s);

/* In how many seconds an owner that stores in bulk should come again, as COMMITs take
 * long (commit_pace.h); 0: now. */
int db_store_wait_s(struct db_session *s, const char *owner);

/* Whether db_commit() sent COMMIT and had no answer: the server may have done it, or be
 * about to. Who knows a row that tells may look it up. */
bool db_is_in_doubt(const struct db_session *s);

/* Whether the last failure was that of the connection: whoever can send all of it twice
 * without harm may do so. */
bool db_lost_connection(const struct db_session *s);

/* Whether the last failure was that of a statement at its time limit. */
bool db_took_too_long(const struct db_session *s);

/* Runs `run` between begin and commit; repeats all of it (up to 3 times) after
 * a deadlock, a serialization failure or the loss of the connection before COMMIT, so
 * `run` must start afresh. */
typedef enum error_code db_transaction_fn(struct db_session *s, void *context,
                                          struct error *err);
enum error_code db_transaction(struct db_session *s, db_transaction_fn *run,
                               void *context, struct error *err);

enum db_type {
    DB_END,
    DB_TEXT,    /* const char *, NULL      text */
    DB_NUMBER,  /* double, NAN: NULL       double precision */
    DB_WHOLE,   /* double, NAN: NULL       integer */
    DB_INTEGER, /* uint64_t, below 2^63    bigint */
    DB_INSTANT, /* double, NAN: NULL       timestamptz; +-HUGE_VAL: infinity */
    DB_BOOLEAN, /* bool                    boolean */
    DB_BYTES,   /* struct db_bytes, NULL   bytea */
    DB_JSON,    /* const char *, NULL      jsonb */
    DB_UUID,    /* const char *, NULL      uuid; 36 characters */
};

struct db_bytes {
    const unsigned char *data; /* NULL: SQL null */
    size_t length;
};

struct db_param {
    enum db_type type;
    const char *text;
    double number;
    uint64_t integer;
    struct db_bytes bytes;
};

static inline struct db_param db_text(const char *text)
{
    struct db_param p = {DB_TEXT, text, 0, 0, {NULL, 0}};
    return p;
}

static inline struct db_param db_number(double number)
{
    struct db_param p = {DB_NUMBER, NULL, number, 0, {NULL, 0}};
    return p;
}

static inline struct db_param db_instant(double at_s)
{
    struct db_param p = {DB_INSTANT, NULL, at_s, 0, {NULL, 0}};
    return p;
}

static inline struct db_param db_integer(uint64_t integer)
{
    struct db_param p = {DB_INTEGER, NULL, 0, integer, {NULL, 0}};
    return p;
}

static inline struct db_param db_boolean(bool truth)
{
    struct db_param p = {DB_BOOLEAN, NULL, 0, truth, {NULL, 0}};
    return p;
}

static inline struct db_param db_bytes(const void *data, size_t length)
{
    struct db_param p = {DB_BYTES, NULL, 0, 0, {(const unsigned char *)data, length}};
    return p;
}

static inline struct db_param db_json(const char *text)
{
    struct db_param p = {DB_JSON, text, 0, 0, {NULL, 0}};
    return p;
}

static inline struct db_param db_uuid(const char *text)
{
    struct db_param p = {DB_UUID, text, 0, 0, {NULL, 0}};
    return p;
}

/* The values of a statement, in the order of $1, $2 ...; always of one type
 * each: DB_PARAMS(db_text(tenant), db_number(x)). */
#define DB_PARAMS(...) ((const struct db_param[]){__VA_ARGS__, {.type = DB_END}})

enum { DB_PARAMS_MAX = 32 };

/* One column of a result or a COPY, in order: where its value is in a struct.
 * Rows end with {0}. */
struct db_column {
    const char *name; /* for messages, and as the JSON name of what is wrong */
    enum db_type type;
    size_t offset;
};
#define DB_COLUMN(T, member, db_type_)         \
    {                                          \
#member, db_type_, offsetof(T, member) \
    }

enum db_flag {
    DB_REPEATABLE = 1, /* sending it twice does no harm: reads, idempotent writes */
    DB_ONCE = 2        /* made for this call: the server does not keep it */
};

struct db_statement {
    const char *name; /* unique, also on the server */
    const char *sql;
    unsigned flags;
};

/* Runs a statement; *affected (NULL: not asked) is the number of rows written. */
enum error_code db_run(struct db_session *s, const struct db_statement *statement,
                       const struct db_param *params, size_t *affected,
                       struct error *err);

/* All rows, as zeroed structs of `row_size` bytes. Texts live in `a`. */
enum error_code db_rows(struct db_session *s, const struct db_statement *statement,
                        const struct db_param *params, const struct db_column *columns,
                        size_t row_size, void **list, size_t *count, struct arena *a,
                        struct error *err);

/* The first row, if there is one; else *row stays as it is. */
enum error_code db_row(struct db_session *s, const struct db_statement *statement,
                       const struct db_param *params, const struct db_column *columns,
                       size_t row_size, void *row, bool *found, struct arena *a,
                       struct error *err);

/* One text that comes in pieces, as rows of where a piece begins in it, from 0, and the
 * piece (bigint, bytea): so neither side holds a long one twice. *text has `length` bytes
 * and a NUL; NULL: not all of them came. */
enum error_code db_pieces(struct db_session *s, const struct db_statement *statement,
                          const struct db_param *params, size_t length, const char **text,
                          struct arena *a, struct error *err);

/* COPY ... FROM STDIN (FORMAT binary) of `count` structs; `tenant` goes before
 * the columns. All or nothing. */
enum error_code db_copy(struct db_session *s, const struct db_statement *statement,
                        const char *tenant, const struct db_column *columns,
                        size_t row_size, const void *list, size_t count,
                        struct error *err);

/* As db_run(), for `count` structs at once: $1 is the tenant, $2 ... one array
 * for each column: INSERT ... SELECT $1, * FROM unnest($2, $3). For lists that
 * need ON CONFLICT; it takes a copy of all in `a`, where db_copy() needs none. */
enum error_code db_run_list(struct db_session *s, const struct db_statement *statement,
                            const char *tenant, const struct db_column *columns,
                            size_t row_size, const void *list, size_t count,
                            size_t *affected, struct arena *a, struct error *err);

/* As db_run_list(), for what answers with rows: as db_rows(). */
enum error_code db_list_rows(struct db_session *s, const struct db_statement *statement,
                             const char *tenant, const struct db_column *columns,
                             size_t row_size, const void *list, size_t count,
                             const struct db_column *answer_columns, size_t answer_size,
                             void **answer, size_t *answer_count, struct arena *a,
                             struct error *err);

/* Any SQL without values, several statements too; for migrations and upkeep. */
enum error_code db_execute(struct db_session *s, const char *sql, struct error *err);

/* The same; *affected is the number of rows that it wrote. */
enum error_code db_execute_counted(struct db_session *s, const char *sql,
                                   size_t *affected, struct error *err);

#endif
