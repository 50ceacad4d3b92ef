/* db.c - PostgreSQL: a pool of connections, and statements with typed values.
 *
 * Every wait goes through wait_for(), which knows the deadline and the client
 * that may go away; connections are non-blocking. A statement is a `work` with
 * a `send` and a `take` step; perform() gives it a connection, repeats it where
 * that is safe, and translates what the server says.
 */
#include "service/db.h"

#include "models/base/order.h"
#include "models/base/rng.h"
#include "service/commit_pace.h"
#include "service/db_value.h"

#include <assert.h>
#include <libpq-fe.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    PREPARED_MAX = 128,         /* statements of one connection */
    ATTEMPTS_MAX = 3,           /* of a unit that met a deadlock */
    COPY_BUFFER_BYTES = 131072, /* one message of a COPY */
    WAITS_KEPT = 100,           /* of which the median is the usual wait */
    POLL_SLICE_MS = 50,         /* how often `cancelled` is looked at */
    ASKED_BYTES = 65536,        /* for one small answer */
    TROUBLES = 3,               /* so many in TROUBLE_S: the primary may be another */
};

static const double FIRST_BACKOFF_S = 0.1;
static const double LONGEST_BACKOFF_S = 2;
static const double JITTER_RATIO = 0.25; /* so that replicas do not come back as one */
static const double LONGEST_RETRY_AFTER_S = 2;
static const double TROUBLE_S = 1;
static const double ASKED_S = 1;   /* for the answer whether it leads to a standby */
static const double VACANT_S = 60; /* a place whose COMMIT may still wait for a standby */
static const double SERVER_GRACE_S = 2; /* for the server's own timeout to come first */
static const double SHED_RATIO = 0.2;   /* of wait_timeout_s */
static const double LEAST_WAIT_S = 1;   /* for a connection, when the time is up */
static const double SHRUNK_S = 30;      /* after the server had no connection left */
static const double READY_FRESH_S = 1;
static const double READY_TIMEOUT_S = 2;

struct connection {
    PGconn *pg; /* NULL: not connected */
    bool in_use;
    bool suspect; /* it may lead to what was the primary: asked before it is used again */
    double vacant_until_s; /* no new connection here before, monotonic; see vacate() */
    bool warned;           /* the server has warned that a COMMIT is not on the standby */
    bool ended;            /* the server has said unasked that it closes it */
    const char *owner;     /* who uses it */
    const struct db_statement *prepared[PREPARED_MAX];
    size_t prepared_count;
};

/* Somebody who waits for a connection. */
struct in_line {
    const char *owner;
    struct in_line *next;
};

struct db {
    struct db_options options;
    char *conninfo;
    bool has_several_hosts;
    bool wants_writes; /* of several servers, and the address does not say which */

    struct commit_pace pace;

    pthread_mutex_t mutex; /* guards all below, except what a connection's user has */
    pthread_cond_t freed;
    struct connection *connections;
    struct in_line *line;
    double waits_s[WAITS_KEPT]; /* the latest, a ring */
    size_t wait_at;
    bool shed_next;        /* every second one */
    bool full;             /* the disk */
    size_t usable_count;   /* connections that the server has for us, until ... */
    double usable_until_s; /* ... this instant */
    bool down;             /* the last attempt to connect failed */
    bool probing;          /* somebody is trying again */
    double backoff_s;
    double retry_at_s; /* while down: not before, monotonic */
    struct rng jitter;
    double troubles_s[TROUBLES]; /* when connections were lost or not made, a ring */
    size_t trouble_at;
    double worked_at_s, pinged_at_s;
    bool pinging;
    struct error ping_error;
    struct db_stats stats;
};

/* How a failure may be mended. */
enum repair { REPAIR_NONE, REPAIR_CONNECTION, REPAIR_CONFLICT };

struct db_session {
    struct db *db;
    const bool *cancelled;
    double timeout_s;
    bool own_timeout;
    struct db_caller caller;
    struct connection *connection; /* NULL: none held */
    bool in_transaction;
    bool spoiled;       /* the transaction can only be rolled back */
    bool sent;          /* the statement may have reached the server */
    bool in_doubt;      /* COMMIT was sent and not answered */
    bool gave_up;       /* we closed the connection, the server did not */
    bool undone;        /* the transaction went with its connection, before COMMIT */
    bool in_commit;     /* nobody who goes away ends what is under way */
    bool has_written;   /* in this transaction */
    bool is_local;      /* its COMMIT does not wait for a standby */
    enum repair repair; /* of the last failure */
    bool took_too_long; /* it was that of a time limit */
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void say(struct db *db, const char *what, const char *detail)
{
    char text[512];

    if (!db->options.log)
        return;
    snprintf(text, sizeof(text), "%s: %s", what, detail);
    for (char *c = text; *c; c++)
        if (*c == '\n')
            *c = ' ';
    db->options.log(db->options.log_context, text);
}

static enum error_code fail_later(struct error *err, enum error_code code, double later_s,
                                  const char *text)
{
    fail(err, code, "", "%s", text);
    err->retry_after_s = later_s > 1 ? (int)ceil(later_s) : 1;
    return code;
}

static bool is_cancelled(const struct db_session *s)
{
    return s->cancelled && __atomic_load_n(s->cancelled, __ATOMIC_RELAXED);
}

static enum error_code fail_cancelled(struct error *err)
{
    return fail(err, ERR_CANCELLED, "", "the client went away");
}

/* ---- the pool ---- */

/* What the address, or else libpq's environment, says. */
static const char *option_value(const PQconninfoOption *parsed, const char *keyword)
{
    for (const PQconninfoOption *o = parsed; o->keyword; o++)
        if (strcmp(o->keyword, keyword) == 0)
            return o->val ? o->val : o->envvar ? getenv(o->envvar) : NULL;
    return NULL;
}

static bool names_several_hosts(const PQconninfoOption *parsed)
{
    const char *host = option_value(parsed, "host");
    const char *address = option_value(parsed, "hostaddr");

    return (host && strchr(host, ',')) || (address && strchr(address, ','));
}

enum error_code db_create(const struct db_options *options, struct db **db,
                          struct error *err)
{
    const char *conninfo = options->conninfo ? options->conninfo : "";
    char *message = NULL;
    PQconninfoOption *parsed = PQconninfoParse(conninfo, &message);
    struct db *made = NULL;
    pthread_condattr_t attributes;
    bool has_several_hosts, wants_writes;

    assert(options->pool_size > 0);
    if (!parsed) {
        fail(err, ERR_INVALID, "", "the database's address cannot be read: %s",
             message ? message : "no memory");
        PQfreemem(message);
        return ERR_INVALID;
    }
    has_several_hosts = names_several_hosts(parsed);
    wants_writes = has_several_hosts && !option_value(parsed, "target_session_attrs");
    PQconninfoFree(parsed);
    made = calloc(1, sizeof(*made));
    if (!made)
        return fail_memory(err);
    made->options = *options;
    made->has_several_hosts = has_several_hosts;
    made->wants_writes = wants_writes;
    made->conninfo = strdup(conninfo);
    made->connections = calloc(options->pool_size, sizeof(*made->connections));
    if (!made->conninfo || !made->connections) {
        free(made->conninfo);
        free(made->connections);
        free(made);
        return fail_memory(err);
    }
    made->stats.pool_size = options->pool_size;
    made->worked_at_s = made->pinged_at_s = -HUGE_VAL;
    made->jitter = rng_create((uint64_t)(now_s() * 1e9) ^ (uint64_t)getpid());
    for (size_t i = 0; i < TROUBLES; i++)
        made->troubles_s[i] = -HUGE_VAL;
    fail(&made->ping_error, ERR_UNAVAILABLE, "", "the database has not answered yet");
    commit_pace_init(&made->pace);
    pthread_mutex_init(&made->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&made->freed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (wants_writes)
        say(made, "the database's address names several servers and does not say which",
            "the one that takes writes is used, as with target_session_attrs=read-write");
    *db = made;
    return OK;
}

void db_close(struct db *db)
{
    if (!db)
        return;
    assert(db->stats.in_use_count == 0);
    for (size_t i = 0; i < db->options.pool_size; i++)
        PQfinish(db->connections[i].pg);
    pthread_cond_destroy(&db->freed);
    commit_pace_close(&db->pace);
    pthread_mutex_destroy(&db->mutex);
    free(db->connections);
    free(db->conninfo);
    free(db);
}

void db_stats(struct db *db, struct db_stats *stats)
{
    pthread_mutex_lock(&db->mutex);
    *stats = db->stats;
    pthread_mutex_unlock(&db->mutex);
}

static void count(struct db *db, uint64_t *counter)
{
    pthread_mutex_lock(&db->mutex);
    ++*counter;
    pthread_mutex_unlock(&db->mutex);
}

bool db_has_several_hosts(const struct db *db)
{
    return db->has_several_hosts;
}

/* After some failures at once another server may be the primary now: what is idle is
 * asked before it is used. */
static void note_trouble(struct db *db)
{
    pthread_mutex_lock(&db->mutex);
    db->troubles_s[db->trouble_at] = now_s();
    db->trouble_at = (db->trouble_at + 1) % TROUBLES;
    if (now_s() <= db->troubles_s[db->trouble_at] + TROUBLE_S) /* the oldest of them */
        for (size_t i = 0; i < db->options.pool_size; i++)
            if (!db->connections[i].in_use)
                db->connections[i].suspect = true;
    pthread_mutex_unlock(&db->mutex);
}

/* The server's process of an unanswered COMMIT may go on waiting for a standby, and holds
 * its connection there meanwhile: this place gets no other one until a standby has
 * confirmed something, or for a while. One place is always left. */
static void vacate(struct db *db, struct connection *c)
{
    size_t left = 0;

    pthread_mutex_lock(&db->mutex);
    for (size_t i = 0; i < db->options.pool_size; i++)
        left += &db->connections[i] != c && now_s() >= db->connections[i].vacant_until_s;
    if (left > 0)
        c->vacant_until_s = now_s() + VACANT_S;
    pthread_mutex_unlock(&db->mutex);
}

/* A standby has confirmed a COMMIT, or none is waited for. */
static void fill_places(struct db *db)
{
    pthread_mutex_lock(&db->mutex);
    for (size_t i = 0; i < db->options.pool_size; i++)
        db->connections[i].vacant_until_s = -HUGE_VAL;
    pthread_mutex_unlock(&db->mutex);
}

/* Closes a broken connection; the slot stays with its user. */
static void disconnect(struct db *db, struct connection *c)
{
    PGconn *pg = c->pg;

    if (!pg)
        return;
    pthread_mutex_lock(&db->mutex);
    c->pg = NULL;
    c->suspect = false;
    c->ended = false;
    c->prepared_count = 0;
    db->stats.connected_count--;
    db->stats.lost_count++;
    pthread_mutex_unlock(&db->mutex);
    PQfinish(pg);
}

static void give_back(struct db *db, struct connection *c)
{
    if (c->pg &&
        (PQstatus(c->pg) != CONNECTION_OK || PQtransactionStatus(c->pg) != PQTRANS_IDLE))
        disconnect(db, c);
    pthread_mutex_lock(&db->mutex);
    c->in_use = false;
    c->owner = NULL;
    db->stats.in_use_count--;
    pthread_cond_broadcast(&db->freed); /* who is first in line may not be allowed to */
    pthread_mutex_unlock(&db->mutex);
}

/* Whether nothing has arrived on an idle connection that says it is over. */
static bool is_alive(const struct connection *c)
{
    if (PQstatus(c->pg) != CONNECTION_OK)
        return false;
    for (int i = 0; i < 4; i++) {
        struct pollfd p = {PQsocket(c->pg), POLLIN, 0};

        if (poll(&p, 1, 0) <= 0)
            return true;
        if (!PQconsumeInput(c->pg) || PQstatus(c->pg) != CONNECTION_OK)
            return false;
        /* Its last words come some time before the socket's end: reads them as a notice.
         */
        (void)PQisBusy(c->pg);
        if (c->ended)
            return false;
    }
    return false; /* nothing should talk that much unasked */
}

/* The wait for a standby can be cancelled: then COMMIT succeeds, with a warning. And an
 * error outside of any statement ends the connection. */
static void take_notice(void *context, const PGresult *result)
{
    struct connection *c = context;
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);

    if (severity && strcmp(severity, "WARNING") == 0)
        c->warned = true;
    if (severity && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0))
        c->ended = true;
}

/* Whether the server has no connection left for us (SQLSTATE 53300, which libpq does not
 * tell of a connection that did not come about). In another language than English it
 * counts as being away. */
static bool is_crowded(const char *message)
{
    return strstr(message, "too many clients") ||
           strstr(message, "too many connections") ||
           strstr(message, "remaining connection slots");
}

/* Does with the connections that there are, for a while: one less than was wanted. */
static void shrink(struct db *db)
{
    pthread_mutex_lock(&db->mutex);
    db->usable_count = db->stats.connected_count > 1 ? db->stats.connected_count : 1;
    db->usable_until_s = now_s() + SHRUNK_S;
    pthread_mutex_unlock(&db->mutex);
}

/* A new connection; NULL after saying why. */
static PGconn *connect_new(struct db *db, struct connection *c)
{
    char timeout[16];
    /* Of a word that comes twice the last one counts, so the address wins. A server that
     * has vanished is noticed in 9 s at rest, in 5 s when something was sent. */
    const char *const words[] = {"connect_timeout",      "fallback_application_name",
                                 "tcp_user_timeout",     "keepalives_idle",
                                 "keepalives_interval",  "keepalives_count",
                                 "target_session_attrs", "dbname",
                                 "client_encoding",      NULL};
    /* Of several servers the one that takes writes. */
    const char *const values[] = {timeout,
                                  "gridplan",
                                  "5000",
                                  "5",
                                  "2",
                                  "2",
                                  db->wants_writes ? "read-write" : NULL,
                                  db->conninfo,
                                  "UTF8",
                                  NULL};
    PGconn *pg;

    snprintf(timeout, sizeof(timeout), "%d",
             (int)fmax(2, ceil(db->options.connect_timeout_s)));
    pg = PQconnectdbParams(words, values, 1);
    if (PQstatus(pg) != CONNECTION_OK) {
        say(db, "cannot connect to the database", pg ? PQerrorMessage(pg) : "no memory");
        if (pg && is_crowded(PQerrorMessage(pg)))
            shrink(db);
        PQfinish(pg);
        return NULL;
    }
    PQsetNoticeReceiver(pg, take_notice, c);
    if (PQsetnonblocking(pg, 1) != 0) {
        PQfinish(pg);
        return NULL;
    }
    return pg;
}

/* Whether a new connection may be tried now; mutex held. */
static bool may_connect(const struct db *db)
{
    return !db->down || (!db->probing && now_s() >= db->retry_at_s);
}

/* A free slot that is connected or may be; mutex held. */
static struct connection *find_free(struct db *db)
{
    struct connection *empty = NULL;

    for (size_t i = 0; i < db->options.pool_size; i++) {
        struct connection *c = &db->connections[i];

        if (c->in_use)
            continue;
        if (c->pg)
            return c;
        if (!empty && now_s() >= c->vacant_until_s)
            empty = c;
    }
    if (db->stats.connected_count >= db->usable_count && now_s() < db->usable_until_s)
        return NULL;
    return may_connect(db) ? empty : NULL;
}

static enum error_code fail_down(const struct db *db, struct error *err)
{
    return fail_later(err, ERR_UNAVAILABLE,
                      fmin(db->retry_at_s - now_s(), LONGEST_RETRY_AFTER_S),
                      "the database cannot be reached; try again later");
}

static bool same_owner(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Whether the owner has half of the connections and somebody else waits; mutex held. */
static bool has_enough(const struct db *db, const char *owner)
{
    size_t used = 0, most = db->options.pool_size > 1 ? db->options.pool_size / 2 : 1;
    bool others_wait = false;

    for (const struct in_line *w = db->line; w && !others_wait; w = w->next)
        others_wait = !same_owner(w->owner, owner);
    for (size_t i = 0; others_wait && i < db->options.pool_size; i++)
        used += db->connections[i].in_use && same_owner(db->connections[i].owner, owner);
    return used >= most;
}

/* How long one has waited lately: the median; mutex held. */
static double usual_wait_s(const struct db *db)
{
    double sorted[WAITS_KEPT];

    memcpy(sorted, db->waits_s, sizeof(sorted));
    return sort_median(sorted, WAITS_KEPT);
}

/* When waits are long every second one is spared it, for the others' sake; mutex held. */
static bool is_shed(struct db *db)
{
    if (usual_wait_s(db) <= SHED_RATIO * db->options.wait_timeout_s)
        return false;
    db->shed_next = !db->shed_next;
    if (!db->shed_next)
        return false;
    /* The refused one did not wait: so the median falls when the crowd has gone. */
    db->waits_s[db->wait_at++ % WAITS_KEPT] = 0;
    db->stats.shed_count++;
    return true;
}

static void leave_line(struct db *db, const struct in_line *me)
{
    struct in_line **at = &db->line;

    while (*at && *at != me)
        at = &(*at)->next;
    if (*at)
        *at = me->next;
}

/* Waits until *c is a slot; mutex held. */
static enum error_code stand_in_line(struct db *db, const struct db_session *s,
                                     double until_s, struct connection **c,
                                     struct error *err)
{
    while (has_enough(db, s->caller.owner) || !(*c = find_free(db))) {
        double wake_s = fmin(until_s, now_s() + POLL_SLICE_MS * 1e-3);
        struct timespec t = {(time_t)wake_s, (long)((wake_s - floor(wake_s)) * 1e9)};

        if (db->stats.connected_count == 0 && db->down)
            return fail_down(db, err);
        if (is_cancelled(s))
            return fail_cancelled(err);
        if (now_s() >= until_s) {
            db->stats.wait_timeout_count++;
            return fail_later(err, ERR_BUSY, 1,
                              "all database connections are in use; try again");
        }
        pthread_cond_timedwait(&db->freed, &db->mutex, &t);
    }
    return OK;
}

/* Gives the session a slot and marks it used, at once or after a wait. Mutex held. */
static enum error_code reserve(struct db *db, const struct db_session *s, double until_s,
                               struct connection **c, struct error *err)
{
    double begin_s = now_s();

    *c = has_enough(db, s->caller.owner) ? NULL : find_free(db);
    if (!*c) {
        struct in_line me = {s->caller.owner, db->line};
        enum error_code code;

        if (is_shed(db))
            return fail_later(err, ERR_BUSY, 1,
                              "the database is slow, and many wait for it; try again");
        db->line = &me;
        db->stats.wait_count++;
        code = stand_in_line(db, s, until_s, c, err);
        leave_line(db, &me);
        if (code != OK && code != ERR_BUSY)
            return code;
        db->waits_s[db->wait_at++ % WAITS_KEPT] = now_s() - begin_s;
        TRY(code);
    } else {
        db->waits_s[db->wait_at++ % WAITS_KEPT] = 0;
    }
    (*c)->in_use = true;
    (*c)->owner = s->caller.owner;
    db->stats.in_use_count++;
    if (!(*c)->pg && db->down)
        db->probing = true;
    return OK;
}

/* Writes down how an attempt to connect ended. */
static void note_connected(struct db *db, struct connection *c, PGconn *pg)
{
    if (!pg)
        note_trouble(db);
    pthread_mutex_lock(&db->mutex);
    db->probing = false;
    if (pg) {
        c->pg = pg;
        c->suspect = false;
        c->prepared_count = 0;
        db->stats.connected_count++;
        db->stats.connect_count++;
        db->down = false;
        db->backoff_s = 0;
    } else {
        db->stats.connect_failure_count++;
        if (!db->down || now_s() >= db->retry_at_s) { /* once for all who tried now */
            double jitter = JITTER_RATIO * (2 * rng_uniform(&db->jitter) - 1);

            db->backoff_s =
                fmin(fmax(2 * db->backoff_s, FIRST_BACKOFF_S), LONGEST_BACKOFF_S);
            db->retry_at_s = now_s() + db->backoff_s * (1 + jitter);
        }
        db->down = true;
    }
    pthread_cond_broadcast(&db->freed);
    pthread_mutex_unlock(&db->mutex);
}

/* A slot and whether it has a connection that looks alive. */
static enum error_code take_slot(struct db_session *s, double until_s,
                                 struct connection **c, bool *connected,
                                 struct error *err)
{
    struct db *db = s->db;
    enum error_code code;

    pthread_mutex_lock(&db->mutex);
    code = reserve(db, s, until_s, c, err);
    pthread_mutex_unlock(&db->mutex);
    if (code != OK)
        return code;
    *connected = (*c)->pg && is_alive(*c);
    if (*connected || !(*c)->pg)
        return OK;
    say(db, "lost an idle connection to the database", PQerrorMessage((*c)->pg));
    disconnect(db, *c);
    pthread_mutex_lock(&db->mutex);
    if (!may_connect(db))
        code = fail_down(db, err);
    else if (db->down)
        db->probing = true;
    pthread_mutex_unlock(&db->mutex);
    if (code != OK)
        give_back(db, *c);
    return code;
}

static void release(struct db_session *s)
{
    if (s->connection)
        give_back(s->db, s->connection);
    s->connection = NULL;
}

static enum error_code set_up(struct db_session *s, struct error *err);
static bool leads_to_standby(struct db_session *s);

/* Gives the session a connection that works, as far as one can see. */
static enum error_code take(struct db_session *s, struct error *err)
{
    struct db *db = s->db;
    double until_s = now_s() + db->options.wait_timeout_s;

    if (s->caller.deadline_s > 0)
        until_s = fmin(until_s, fmax(s->caller.deadline_s, now_s() + LEAST_WAIT_S));
    for (;;) {
        struct connection *c;
        bool connected, others;
        PGconn *pg;

        TRY(take_slot(s, until_s, &c, &connected, err));
        s->connection = c;
        if (connected && c->suspect && leads_to_standby(s)) {
            release(s);
            continue;
        }
        if (connected)
            return OK;
        pg = connect_new(db, c);
        note_connected(db, c, pg);
        if (pg)
            return set_up(s, err);
        s->connection = NULL;
        give_back(db, c);
        pthread_mutex_lock(&db->mutex);
        /* The server may only be short of connections: use those there are. */
        others = db->stats.connected_count > 0 && now_s() < until_s;
        if (!others)
            fail_down(db, err);
        pthread_mutex_unlock(&db->mutex);
        if (!others)
            return ERR_UNAVAILABLE;
    }
}

/* ---- waiting, and what the server says ---- */

/* For a connection that is of no use any more. */
static void give_up(struct db_session *s)
{
    disconnect(s->db, s->connection);
    s->spoiled = s->in_transaction;
}

/* For a connection that broke. */
static enum error_code lose(struct db_session *s, const char *why, struct error *err)
{
    say(s->db, "lost a connection to the database", why);
    give_up(s);
    s->repair = REPAIR_CONNECTION;
    note_trouble(s->db);
    return fail_later(err, ERR_UNAVAILABLE, 1,
                      "the connection to the database was lost; try again");
}

/* Waits until a result has arrived or, when `sending`, until all is sent. */
static enum error_code wait_for(struct db_session *s, double until_s, bool sending,
                                struct error *err)
{
    PGconn *pg = s->connection->pg;

    for (;;) {
        int unsent = PQflush(pg);
        struct pollfd p = {PQsocket(pg), POLLIN, 0};
        double left_s = until_s - now_s();

        if (unsent < 0)
            return lose(s, PQerrorMessage(pg), err);
        if (sending ? !unsent : !PQisBusy(pg))
            return OK;
        if ((sending || !s->in_commit) && is_cancelled(s)) {
            give_up(s);
            return fail_cancelled(err);
        }
        if (left_s <= 0) {
            enum error_code code = lose(s, "no answer in time", err);

            s->repair = REPAIR_NONE;
            s->gave_up = true;
            snprintf(err->text, sizeof(err->text),
                     "the database did not answer in time; try again");
            return code;
        }
        if (unsent)
            p.events |= POLLOUT;
        if (poll(&p, 1, (int)fmin(POLL_SLICE_MS, left_s * 1e3 + 1)) > 0 &&
            (p.revents & ~POLLOUT) && !PQconsumeInput(pg))
            return lose(s, PQerrorMessage(pg), err);
    }
}

#define LOCK_TIMED_OUT "55P03"
#define CANCELLED      "57014" /* by its time limit, mostly */

#define NO_CONNECTIONS "the database has too many connections; try again"

/* Our error for the server's five letters (PostgreSQL, appendix A). The first
 * row that fits counts. */
static const struct sqlstate {
    const char *sqlstate; /* or the beginning of it */
    enum error_code code;
    enum repair repair;
    const char *text;
} sqlstates[] = {
    {"40001", ERR_UNAVAILABLE, REPAIR_CONFLICT,
     "others changed the same data; try again"},
    {"40P01", ERR_UNAVAILABLE, REPAIR_CONFLICT,
     "others changed the same data; try again"},
    {LOCK_TIMED_OUT, ERR_CONFLICT, REPAIR_NONE,
     "somebody else is changing the same data; try again"},
    {CANCELLED, ERR_UNAVAILABLE, REPAIR_NONE, "the database took too long; ask for less"},
    {"57P", ERR_UNAVAILABLE, REPAIR_CONNECTION, "the database is restarting; try again"},
    {"25006", ERR_UNAVAILABLE, REPAIR_CONNECTION, "the database is read-only now"},
    {"26000", ERR_UNAVAILABLE, REPAIR_CONNECTION,
     "the database forgot a prepared statement; behind PgBouncer switch them off"},
    {"42P05", ERR_UNAVAILABLE, REPAIR_CONNECTION,
     "a prepared statement exists already; behind PgBouncer switch them off"},
    {"0A000", ERR_UNAVAILABLE, REPAIR_CONNECTION, "the schema has changed; try again"},
    {"42P01", ERR_UNAVAILABLE, REPAIR_NONE, "a table is missing: run the migrations"},
    {"42703", ERR_UNAVAILABLE, REPAIR_NONE, "a column is missing: run the migrations"},
    {"42883", ERR_UNAVAILABLE, REPAIR_NONE, "a function is missing: run the migrations"},
    {"42704", ERR_UNAVAILABLE, REPAIR_NONE, "a type is missing: run the migrations"},
    {"42P10", ERR_UNAVAILABLE, REPAIR_NONE, "a key is missing: run the migrations"},
    {"42804", ERR_UNAVAILABLE, REPAIR_NONE,
     "a column has another type yet: run the migrations"},
    {"08", ERR_UNAVAILABLE, REPAIR_CONNECTION, "the connection was lost; try again"},
    {"53100", ERR_UNAVAILABLE, REPAIR_NONE, "the database's disk is full; try again"},
    {"53300", ERR_UNAVAILABLE, REPAIR_CONNECTION, NO_CONNECTIONS},
    {"53400", ERR_UNAVAILABLE, REPAIR_CONNECTION, NO_CONNECTIONS},
    {"53", ERR_UNAVAILABLE, REPAIR_NONE, "the database is out of resources; try again"},
    {"23503", ERR_CONFLICT, REPAIR_NONE, "what it names does not exist, or no more"},
    {"23505", ERR_CONFLICT, REPAIR_NONE, "there is one like it already"},
    {"23514", ERR_INVALID, REPAIR_NONE, "the database does not take such values"},
    {"23502", ERR_INVALID, REPAIR_NONE, "the database needs a value here"},
    {"23", ERR_INVALID, REPAIR_NONE, "the database does not take such values"},
    {"22021", ERR_INVALID, REPAIR_NONE,
     "a name in the path or the query is not UTF-8; send its bytes as they are, or each "
     "as %XX"},
    {"22", ERR_INVALID, REPAIR_NONE, "the database cannot read a value"},
    {"54", ERR_TOO_LARGE, REPAIR_NONE, "it is too much at once for the database"},
    {"", ERR_INTERNAL, REPAIR_NONE, "the database refused a statement"},
};

/* A CHECK without a name is no CHECK: a row went to a partition that does not take it,
 * as its month's was being attached. */
static const struct sqlstate moved_partition = {
    "23514", ERR_UNAVAILABLE, REPAIR_CONFLICT,
    "the table's partitions were changing; try again"};

/* Which member a CHECK of ours is about. Its columns have the members' names. */
static const struct {
    const char *constraint, *pointer;
} checked_members[] = {
    {"load_sample_ratio_check", "/cpu_available_ratio"},
    {"observation_check", "/to_at"},
    {"observation_component_count_check", "/component_count"},
};

static const struct sqlstate *find_sqlstate(const char *sqlstate, const char *constraint)
{
    const struct sqlstate *row = sqlstates;

    if (strcmp(sqlstate, moved_partition.sqlstate) == 0 && !constraint)
        return &moved_partition;
    while (strncmp(sqlstate, row->sqlstate, strlen(row->sqlstate)) != 0)
        row++;
    return row;
}

/* The JSON Pointer to what a constraint or a column is about; "" if that is not known. */
static const char *pointer_of(const char *constraint, const char *column, char *text,
                              size_t size)
{
    for (size_t i = 0;
         constraint && i < sizeof(checked_members) / sizeof(*checked_members); i++)
        if (strcmp(constraint, checked_members[i].constraint) == 0)
            return checked_members[i].pointer;
    snprintf(text, size, column ? "/%s" : "", column);
    return text;
}

/* Whether another server may be the primary now: this one ends, is read-only or is gone.
 */
static bool is_of_another(const char *sqlstate)
{
    return strncmp(sqlstate, "57P", 3) == 0 || strncmp(sqlstate, "08", 2) == 0 ||
           strcmp(sqlstate, "25006") == 0;
}

/* Counts what a failure says of the service, not of this request. */
static void note_failure(struct db *db, const struct sqlstate *row)
{
    pthread_mutex_lock(&db->mutex);
    if (row == &moved_partition)
        db->stats.partition_retry_count++;
    if (row->code == ERR_INVALID) /* our own checks should have seen it */
        db->stats.check_escaped_count++;
    if (strcmp(row->sqlstate, "53100") == 0)
        db->full = true;
    pthread_mutex_unlock(&db->mutex);
}

static enum error_code translate(struct db_session *s, const char *name,
                                 const PGresult *result, struct error *err)
{
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *constraint = PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME);
    const char *column = PQresultErrorField(result, PG_DIAG_COLUMN_NAME);
    const struct sqlstate *row;
    char what[256], pointer[80];

    if (!sqlstate) /* made by libpq itself: the connection broke */
        return lose(s, PQresultErrorMessage(result), err);
    row = find_sqlstate(sqlstate, constraint);
    note_failure(s->db, row);
    snprintf(what, sizeof(what), "statement %s failed (%s)%s%s", name, sqlstate,
             s->caller.request_id ? ", request " : "",
             s->caller.request_id ? s->caller.request_id : "");
    say(s->db, what, message ? message : "no message");
    s->repair = row->repair;
    s->took_too_long = strcmp(sqlstate, CANCELLED) == 0;
    s->spoiled = s->in_transaction;
    if (row->repair == REPAIR_CONNECTION)
        disconnect(s->db, s->connection);
    if (is_of_another(sqlstate))
        note_trouble(s->db);
    if (strcmp(row->text, NO_CONNECTIONS) == 0)
        shrink(s->db);
    if (row->code == ERR_UNAVAILABLE || strcmp(sqlstate, LOCK_TIMED_OUT) == 0)
        return fail_later(err, row->code, 1, row->text);
    if (row->code == ERR_CONFLICT && constraint)
        return fail(err, ERR_CONFLICT, "", "%s (%s)", row->text, constraint);
    return fail(err, row->code,
                row->code == ERR_INVALID
                    ? pointer_of(constraint, column, pointer, sizeof(pointer))
                    : "",
                "%s", row->text);
}

/* ---- statements ---- */

/* One statement on its way. */
struct work {
    const char *name;
    const struct db_statement *statement; /* NULL: plain SQL */
    const char *sql;
    bool repeatable;
    /* values */
    const struct db_param *params;
    int param_count;
    Oid oids[DB_PARAMS_MAX];
    const char *values[DB_PARAMS_MAX];
    int lengths[DB_PARAMS_MAX];
    int formats[DB_PARAMS_MAX];
    unsigned char numbers[DB_PARAMS_MAX][8];
    /* what comes back */
    const struct db_column *columns; /* NULL: no rows are kept */
    size_t row_size;
    char *list;
    size_t count, size;
    size_t affected;
    struct arena *arena;
    bool joins; /* pieces of a text: `list` has room for `size` bytes, `count` came */
    /* what is copied in */
    const char *tenant;
    const struct db_column *copy_columns; /* NULL: no COPY */
    const char *copy_list;
    size_t copy_row_size, copy_count;
    bool commits;     /* it is COMMIT, and ... */
    bool rolled_back; /* ... the answer was ROLLBACK */
};

static double deadline_s(const struct db_session *s)
{
    if (s->timeout_s <= 0)
        return HUGE_VAL;
    return now_s() + s->timeout_s + SERVER_GRACE_S;
}

static enum error_code take_row(struct work *w, const PGresult *result, int row,
                                struct error *err)
{
    char *to;

    if (w->count == w->size) {
        size_t size = w->size ? 2 * w->size : 16;

        to = arena_try_grow(w->arena, w->list, w->row_size, w->count, size);
        if (!to)
            return fail_memory(err);
        w->list = to;
        w->size = size;
    }
    to = w->list + w->count * w->row_size;
    for (int i = 0; w->columns[i].type != DB_END; i++) {
        const struct db_column *c = &w->columns[i];
        bool null = PQgetisnull(result, row, i);

        if (i >= PQnfields(result) || PQftype(result, i) != db_type_oid(c->type))
            return fail(err, ERR_INTERNAL, "", "statement %s: column %s has another type",
                        w->name, c->name);
        if (!db_value_get(c->type,
                          null ? NULL : (const unsigned char *)PQgetvalue(result, row, i),
                          (size_t)PQgetlength(result, row, i), to + c->offset, w->arena))
            return fail_memory(err);
    }
    w->count++;
    return OK;
}

static const struct db_column piece_columns[] = {
    {"begin", DB_INTEGER, 0}, {"piece", DB_BYTES, 0}, {0}};

static enum error_code take_piece(struct work *w, const PGresult *result, int row,
                                  struct error *err)
{
    const char *piece = PQgetvalue(result, row, 1);
    size_t length = (size_t)PQgetlength(result, row, 1);
    uint64_t begin = 0;

    for (int i = 0; i < 2; i++)
        if (PQnfields(result) != 2 || PQgetisnull(result, row, i) ||
            PQftype(result, i) != db_type_oid(piece_columns[i].type))
            return fail(err, ERR_INTERNAL, "", "statement %s: not pieces", w->name);
    db_value_get(DB_INTEGER, (const unsigned char *)PQgetvalue(result, row, 0),
                 (size_t)PQgetlength(result, row, 0), &begin, w->arena);
    if (begin > w->size || length > w->size - begin)
        return fail(err, ERR_INTERNAL, "", "statement %s: too long", w->name);
    memcpy(w->list + begin, piece, length);
    w->count += length;
    return OK;
}

/* Waits for the rest of a COPY to be sent. */
static enum error_code copy_chunk(struct db_session *s, const unsigned char *data,
                                  size_t length, struct error *err)
{
    PGconn *pg = s->connection->pg;

    if (PQputCopyData(pg, (const char *)data, (int)length) < 0)
        return lose(s, PQerrorMessage(pg), err);
    return wait_for(s, deadline_s(s), true, err);
}

static size_t row_bytes(const struct work *w, const char *row)
{
    size_t size = 2 + 4 + strlen(w->tenant);

    for (const struct db_column *c = w->copy_columns; c->type != DB_END; c++)
        size += db_cell_size(c->type, row + c->offset);
    return size;
}

static unsigned char *put_row(const struct work *w, const char *row, unsigned char *to)
{
    uint16_t column_count = 1;

    for (const struct db_column *c = w->copy_columns; c->type != DB_END; c++)
        column_count++;
    to = db_put_16(to, column_count);
    to = db_cell_put(to, DB_TEXT, &w->tenant);
    for (const struct db_column *c = w->copy_columns; c->type != DB_END; c++)
        to = db_cell_put(to, c->type, row + c->offset);
    return to;
}

/* Sends the rows of a COPY that the server has agreed to. */
static enum error_code copy_rows(struct db_session *s, struct work *w, struct error *err)
{
    static const char header[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0";
    size_t size = COPY_BUFFER_BYTES;
    unsigned char *buffer = malloc(size);
    unsigned char *to = buffer;
    enum error_code code = OK;

    if (!buffer)
        return fail_memory(err);
    memcpy(to, header, 19);
    to += 19;
    for (size_t i = 0; i < w->copy_count; i++) {
        const char *row = w->copy_list + i * w->copy_row_size;
        size_t need = row_bytes(w, row) + 2;

        if ((size_t)(to - buffer) + need > size) {
            code = copy_chunk(s, buffer, (size_t)(to - buffer), err);
            if (code != OK)
                goto out;
            to = buffer;
        }
        if (need > size) {
            free(buffer);
            size = need;
            to = buffer = malloc(size);
            if (!buffer) {
                give_up(s);
                code = fail_memory(err);
                goto out;
            }
        }
        to = put_row(w, row, to);
    }
    to = db_put_16(to, UINT16_MAX);
    code = copy_chunk(s, buffer, (size_t)(to - buffer), err);
    if (code == OK && PQputCopyEnd(s->connection->pg, NULL) < 0)
        code = lose(s, PQerrorMessage(s->connection->pg), err);
out:
    free(buffer);
    return code;
}

/* One result; *err is kept from the first failure on. */
static enum error_code take_result(struct db_session *s, struct work *w, PGresult *result,
                                   struct error *err)
{
    switch (PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
        w->affected += strtoull(PQcmdTuples(result), NULL, 10);
        w->rolled_back = strcmp(PQcmdStatus(result), "ROLLBACK") == 0;
        return OK;
    case PGRES_SINGLE_TUPLE:
    case PGRES_TUPLES_OK:
        for (int i = 0; w->columns && i < PQntuples(result); i++)
            TRY(w->joins ? take_piece(w, result, i, err) : take_row(w, result, i, err));
        return OK;
    case PGRES_COPY_IN:
        return copy_rows(s, w, err);
    case PGRES_EMPTY_QUERY:
        return OK;
    default:
        return translate(s, w->name, result, err);
    }
}

/* A row that found no place: the server need not send the others. */
static bool is_rest_unwanted(const struct db_session *s, const struct work *w,
                             enum error_code code)
{
    return s->repair == REPAIR_NONE && s->connection->pg && w->columns &&
           (code == ERR_TOO_LARGE || code == ERR_INTERNAL) &&
           PQtransactionStatus(s->connection->pg) == PQTRANS_ACTIVE;
}

/* All results of what was sent. */
static enum error_code take_results(struct db_session *s, struct work *w,
                                    struct error *err)
{
    double until_s = deadline_s(s);
    enum error_code code = OK;

    while (s->connection->pg) {
        PGresult *result;
        enum error_code now;
        struct error ignored;

        memset(&ignored, 0, sizeof(ignored));
        now = wait_for(s, until_s, false, code == OK ? err : &ignored);
        if (now != OK)
            return code == OK ? now : code;
        result = PQgetResult(s->connection->pg);
        if (!result)
            return code;
        now = take_result(s, w, result, code == OK ? err : &ignored);
        if (PQresultStatus(result) == PGRES_COPY_IN)
            until_s = deadline_s(s);
        PQclear(result);
        if (now == OK || code != OK)
            continue;
        code = now;
        if (is_rest_unwanted(s, w, code))
            give_up(s);
    }
    return code;
}

static void bind_values(struct work *w)
{
    for (int i = 0; w->params && w->params[i].type != DB_END; i++) {
        const struct db_param *p = &w->params[i];
        const void *member = p->type == DB_INTEGER || p->type == DB_BOOLEAN
                                 ? (const void *)&p->integer
                                 : (const void *)&p->number;
        bool truth = p->integer != 0;
        bool null;

        assert(i < DB_PARAMS_MAX);
        w->param_count = i + 1;
        w->oids[i] = db_type_oid(p->type);
        w->formats[i] = 1;
        if (p->type == DB_TEXT || p->type == DB_JSON || p->type == DB_UUID) {
            w->values[i] = p->text;
            w->formats[i] = 0;
        } else if (p->type == DB_BYTES) {
            w->values[i] = (const char *)p->bytes.data;
            w->lengths[i] = (int)p->bytes.length;
        } else {
            if (p->type == DB_BOOLEAN)
                member = &truth;
            w->lengths[i] = (int)db_value_size(p->type, member, &null);
            if (!null) {
                db_value_put(w->numbers[i], p->type, member);
                w->values[i] = (const char *)w->numbers[i];
            }
        }
    }
}

static bool is_prepared(const struct connection *c, const struct db_statement *statement)
{
    for (size_t i = 0; i < c->prepared_count; i++)
        if (c->prepared[i] == statement)
            return true;
    return false;
}

static enum error_code prepare(struct db_session *s, struct work *w, struct error *err)
{
    struct connection *c = s->connection;
    struct work preparation = {.name = w->name, .sql = w->sql};

    if (!PQsendPrepare(c->pg, w->name, w->sql, w->param_count, w->oids))
        return lose(s, PQerrorMessage(c->pg), err);
    TRY(take_results(s, &preparation, err));
    c->prepared[c->prepared_count++] = w->statement;
    return OK;
}

static enum error_code send_statement(struct db_session *s, struct work *w,
                                      struct error *err)
{
    struct connection *c = s->connection;
    bool prepared = s->db->options.prepared && w->statement && !w->copy_columns &&
                    !(w->statement->flags & DB_ONCE);
    int sent;

    if (prepared && !is_prepared(c, w->statement)) {
        if (c->prepared_count < PREPARED_MAX)
            TRY(prepare(s, w, err));
        else
            prepared = false;
    }
    s->sent = true;
    if (prepared)
        sent = PQsendQueryPrepared(c->pg, w->name, w->param_count, w->values, w->lengths,
                                   w->formats, 1);
    else if (w->statement && !w->copy_columns)
        sent = PQsendQueryParams(c->pg, w->sql, w->param_count, w->oids, w->values,
                                 w->lengths, w->formats, 1);
    else
        sent = PQsendQuery(c->pg, w->sql);
    if (!sent)
        return lose(s, PQerrorMessage(c->pg), err);
    if (w->columns)
        PQsetSingleRowMode(c->pg);
    count(s->db, &s->db->stats.statement_count);
    return take_results(s, w, err);
}

/* Whether the same statement may be sent once more. */
static bool may_repeat(const struct db_session *s, const struct work *w, int attempt)
{
    if (s->in_transaction)
        return false;
    if (s->repair == REPAIR_CONFLICT)
        return attempt < ATTEMPTS_MAX;
    return s->repair == REPAIR_CONNECTION && attempt < 2 && (w->repeatable || !s->sent);
}

/* Before the next attempt of what met others: let them finish. */
static void stand_aside(int attempt)
{
    struct timespec t = {0, 20000000L * attempt};

    nanosleep(&t, NULL);
}

/* Nothing was acknowledged, and something may be there. */
static enum error_code fail_unknown(struct db_session *s, struct error *err)
{
    count(s->db, &s->db->stats.unconfirmed_count);
    return fail_later(err, ERR_UNAVAILABLE, 1,
                      "it is not known whether it was stored; send it again with an "
                      "Idempotency-Key");
}

/* The row is there and seen, but may be lost with the primary. A read says nothing of
 * that sort. */
static enum error_code fail_unconfirmed(struct db_session *s, const struct work *w,
                                        struct error *err)
{
    return w->commits || w->affected ? fail_unknown(s, err) : OK;
}

/* Whether its end is that of a transaction which may have written. What may be sent twice
 * is a read, or changes nothing the second time. */
static bool may_commit(const struct db_session *s, const struct work *w)
{
    return w->commits || (w->statement && !w->repeatable && !s->in_transaction);
}

/* Whether what was sent may have been done, though there is no answer. */
static bool is_unanswered(const struct db_session *s, const struct work *w)
{
    return s->sent && !s->connection->pg && may_commit(s, w);
}

/* What is known of what was stored. */
static enum error_code note_outcome(struct db_session *s, const struct work *w,
                                    enum error_code code, struct error *err)
{
    bool commits = w->commits || !s->in_transaction;
    bool has_written = w->affected > 0 || (s->in_transaction && s->has_written);

    if (code == OK && s->connection->warned && commits)
        return fail_unconfirmed(s, w, err);
    if (code == OK && commits && has_written && !s->is_local)
        fill_places(s->db);
    s->has_written = has_written && !commits;
    s->in_doubt = code != OK && w->commits && is_unanswered(s, w);
    s->undone = code != OK && !commits && s->repair == REPAIR_CONNECTION;
    if (s->gave_up && is_unanswered(s, w))
        vacate(s->db, s->connection);
    if (code == ERR_UNAVAILABLE && is_unanswered(s, w))
        return fail_unknown(s, err);
    return code;
}

static enum error_code perform(struct db_session *s, struct work *w, struct error *err)
{
    const struct error before = *err;

    if (s->spoiled)
        return fail_later(err, ERR_UNAVAILABLE, 1, "the transaction has failed already");
    bind_values(w);
    for (int attempt = 1;; attempt++) {
        enum error_code code = s->connection ? OK : take(s, err);

        s->sent = false;
        if (code != OK)
            return code; /* take() has already tried what can be tried */
        s->repair = REPAIR_NONE;
        s->gave_up = false;
        s->in_commit = may_commit(s, w);
        w->count = w->affected = 0;
        s->connection->warned = false;
        code = send_statement(s, w, err);
        s->in_commit = false;
        code = note_outcome(s, w, code, err);
        if (!s->in_transaction)
            release(s);
        pthread_mutex_lock(&s->db->mutex);
        if (code == OK)
            s->db->worked_at_s = now_s();
        else
            s->db->stats.failure_count++;
        pthread_mutex_unlock(&s->db->mutex);
        if (code == OK || !may_repeat(s, w, attempt))
            return code;
        count(s->db, &s->db->stats.retry_count);
        *err = before;
        if (s->repair == REPAIR_CONFLICT)
            stand_aside(attempt);
    }
}

/* Once for each new connection. */
static enum error_code set_up(struct db_session *s, struct error *err)
{
    char sql[96];
    struct work w = {.name = "set_up", .sql = sql};
    struct error ignored = {.code = OK};
    bool in_transaction = s->in_transaction;
    enum error_code code;

    if (!s->db->options.prepared)
        return OK;
    snprintf(sql, sizeof(sql), "SET statement_timeout = %.0f",
             fmax(0, s->db->options.statement_timeout_s) * 1e3);
    s->in_transaction = false;
    code = send_statement(s, &w, err);
    /* So that the server soon stops working for a connection that was given up;
     * before PostgreSQL 14 there is no such setting. */
    w.sql = "SET client_connection_check_interval = 1000";
    if (code == OK && send_statement(s, &w, &ignored) != OK && !s->connection->pg)
        code = fail(err, ignored.code, "", "%s", ignored.text);
    s->in_transaction = in_transaction;
    if (code != OK)
        release(s);
    return code;
}

/* Takes the value of the only row and column. */
static enum error_code ask_truth(struct db_session *s, const char *sql, bool *truth,
                                 struct error *err)
{
    struct arena *a = arena_create(ASKED_BYTES);
    static const struct db_column columns[] = {{"truth", DB_BOOLEAN, 0}, {0}};
    static const struct db_statement alone = {"ask_truth", "", DB_ONCE};
    struct work w = {.name = "ask_truth",
                     .statement = &alone,
                     .sql = sql,
                     .columns = columns,
                     .row_size = sizeof(bool),
                     .arena = a};
    enum error_code code = a ? send_statement(s, &w, err) : fail_memory(err);

    if (code == OK && w.count == 1)
        *truth = *(const bool *)(const void *)w.list;
    arena_close(a);
    return code;
}

/* Asks a connection that was idle while others were lost. One that does not lead to the
 * primary any more is closed, as is one that does not answer. */
static bool leads_to_standby(struct db_session *s)
{
    struct connection *c = s->connection;
    bool in_transaction = s->in_transaction, standby = true;
    double timeout_s = s->timeout_s;
    struct error ignored = {.code = OK};

    s->in_transaction = false;
    s->timeout_s = ASKED_S;
    c->suspect = false;
    if (ask_truth(s, "SELECT pg_is_in_recovery()", &standby, &ignored) != OK)
        standby = true;
    s->in_transaction = in_transaction;
    s->timeout_s = timeout_s;
    if (standby) {
        say(s->db, "an idle connection is closed", "it leads to a standby now");
        disconnect(s->db, c);
    }
    s->spoiled = false;
    s->repair = REPAIR_NONE;
    return standby;
}

/* ---- sessions ---- */

struct db_session *db_session_create(struct db *db, const bool *cancelled,
                                     struct arena *a)
{
    struct db_session *s = TRY_NEW(a, struct db_session, 1);

    if (!s)
        return NULL;
    s->db = db;
    s->cancelled = cancelled;
    s->timeout_s = db->options.statement_timeout_s;
    return s;
}

bool db_session_holds_connection(const struct db_session *s)
{
    return s && s->connection;
}

void db_session_close(struct db_session *s)
{
    if (s)
        db_rollback(s);
}

void db_session_set_timeout(struct db_session *s, double statement_timeout_s)
{
    s->timeout_s = statement_timeout_s;
    s->own_timeout = true;
}

bool db_in_transaction(const struct db_session *s)
{
    return s->in_transaction;
}

void db_session_set_caller(struct db_session *s, const struct db_caller *caller)
{
    s->caller = *caller;
}

bool db_is_full(struct db *db)
{
    bool full;

    pthread_mutex_lock(&db->mutex);
    full = db->full;
    pthread_mutex_unlock(&db->mutex);
    return full;
}

void db_set_full(struct db *db, bool full)
{
    pthread_mutex_lock(&db->mutex);
    db->full = full;
    pthread_mutex_unlock(&db->mutex);
}

bool db_has_conflicted(const struct db_session *s)
{
    return s->repair == REPAIR_CONFLICT;
}

bool db_is_undone(const struct db_session *s)
{
    return s->undone;
}

bool db_is_in_doubt(const struct db_session *s)
{
    return s->in_doubt;
}

bool db_lost_connection(const struct db_session *s)
{
    return s->repair == REPAIR_CONNECTION;
}

bool db_took_too_long(const struct db_session *s)
{
    return s->repair == REPAIR_NONE && s->took_too_long;
}

enum error_code db_begin(struct db_session *s, struct error *err)
{
    const struct error before = *err;
    char sql[96];
    struct work w = {.name = "begin", .sql = sql};

    assert(!s->in_transaction);
    if (s->own_timeout || !s->db->options.prepared)
        snprintf(sql, sizeof(sql), "BEGIN; SET LOCAL statement_timeout = %.0f",
                 fmax(0, s->timeout_s) * 1e3);
    else
        snprintf(sql, sizeof(sql), "BEGIN");
    s->undone = false;
    /* Not by perform(), which would give the connection back. */
    for (int attempt = 1;; attempt++) {
        enum error_code code;

        TRY(take(s, err));
        s->repair = REPAIR_NONE;
        code = send_statement(s, &w, err);
        if (code == OK) {
            s->in_transaction = true;
            s->spoiled = s->in_doubt = false;
            s->has_written = s->is_local = false;
            return OK;
        }
        release(s);
        if (s->repair != REPAIR_CONNECTION || attempt == 2)
            return code;
        count(s->db, &s->db->stats.retry_count);
        *err = before;
    }
}

static void end_transaction(struct db_session *s)
{
    s->in_transaction = false;
    s->spoiled = false;
    s->has_written = s->is_local = false;
    release(s);
}

enum error_code db_commit_locally(struct db_session *s, struct error *err)
{
    assert(s->in_transaction);
    TRY(db_execute(s, "SET LOCAL synchronous_commit = local", err));
    s->is_local = true;
    return OK;
}

enum error_code db_commit(struct db_session *s, struct error *err)
{
    struct work w = {.name = "commit", .sql = "COMMIT", .commits = true};
    double began_s = now_s();
    enum error_code code;

    assert(s->in_transaction);
    if (s->spoiled) {
        db_rollback(s);
        return fail_later(err, ERR_UNAVAILABLE, 1, "the transaction was rolled back");
    }
    code = perform(s, &w, err);
    commit_pace_note(&s->db->pace, now_s(), now_s() - began_s);
    if (code == OK && w.rolled_back)
        code = fail_later(err, ERR_UNAVAILABLE, 1, "the transaction was rolled back");
    end_transaction(s);
    return code;
}

int db_store_wait_s(struct db_session *s, const char *owner)
{
    return commit_pace_wait_s(&s->db->pace, owner, now_s());
}

void db_rollback(struct db_session *s)
{
    struct work w = {.name = "rollback", .sql = "ROLLBACK"};
    struct error ignored = {.code = OK};
    const bool *cancelled = s->cancelled;

    if (!s->in_transaction)
        return;
    s->cancelled = NULL;
    if (s->connection->pg)
        send_statement(s, &w, &ignored);
    s->cancelled = cancelled;
    end_transaction(s);
}

enum error_code db_transaction(struct db_session *s, db_transaction_fn *run,
                               void *context, struct error *err)
{
    const struct error before = *err;

    for (int attempt = 1;; attempt++) {
        enum error_code code;

        TRY(db_begin(s, err));
        code = run(s, context, err);
        if (code == OK)
            code = db_commit(s, err);
        else
            db_rollback(s);
        if (code == OK || !(s->repair == REPAIR_CONFLICT || s->undone) ||
            attempt == ATTEMPTS_MAX)
            return code;
        count(s->db, &s->db->stats.retry_count);
        *err = before;
        stand_aside(attempt);
    }
}

static struct work work_of(const struct db_statement *statement,
                           const struct db_param *params, struct arena *a)
{
    return (struct work){.name = statement->name,
                         .statement = statement,
                         .sql = statement->sql,
                         .repeatable = statement->flags & DB_REPEATABLE,
                         .params = params,
                         .arena = a};
}

enum error_code db_run(struct db_session *s, const struct db_statement *statement,
                       const struct db_param *params, size_t *affected, struct error *err)
{
    struct work w = work_of(statement, params, NULL);

    TRY(perform(s, &w, err));
    if (affected)
        *affected = w.affected;
    return OK;
}

enum error_code db_rows(struct db_session *s, const struct db_statement *statement,
                        const struct db_param *params, const struct db_column *columns,
                        size_t row_size, void **list, size_t *row_count, struct arena *a,
                        struct error *err)
{
    struct work w = work_of(statement, params, a);

    w.columns = columns;
    w.row_size = row_size;
    TRY(perform(s, &w, err));
    *list = w.list;
    *row_count = w.count;
    return OK;
}

enum error_code db_row(struct db_session *s, const struct db_statement *statement,
                       const struct db_param *params, const struct db_column *columns,
                       size_t row_size, void *row, bool *found, struct arena *a,
                       struct error *err)
{
    void *list;
    size_t row_count;

    TRY(db_rows(s, statement, params, columns, row_size, &list, &row_count, a, err));
    *found = row_count > 0;
    if (*found)
        memcpy(row, list, row_size);
    return OK;
}

enum error_code db_pieces(struct db_session *s, const struct db_statement *statement,
                          const struct db_param *params, size_t length, const char **text,
                          struct arena *a, struct error *err)
{
    struct work w = work_of(statement, params, a);

    w.columns = piece_columns;
    w.list = arena_try(a, 1, length + 1);
    w.size = length;
    w.joins = true;
    if (!w.list)
        return fail_memory(err);
    TRY(perform(s, &w, err));
    *text = w.count == length ? w.list : NULL;
    return OK;
}

enum error_code db_copy(struct db_session *s, const struct db_statement *statement,
                        const char *tenant, const struct db_column *columns,
                        size_t row_size, const void *list, size_t row_count,
                        struct error *err)
{
    struct work w = {.name = statement->name,
                     .statement = statement,
                     .sql = statement->sql,
                     .repeatable = statement->flags & DB_REPEATABLE,
                     .tenant = tenant,
                     .copy_columns = columns,
                     .copy_list = list,
                     .copy_row_size = row_size,
                     .copy_count = row_count};

    TRY(db_values_check(columns, row_size, list, row_count, err));
    return perform(s, &w, err);
}

/* The array of one column's values, as PostgreSQL's array_recv reads it. */
static unsigned char *put_array(unsigned char *to, const struct db_column *column,
                                size_t row_size, const char *list, size_t row_count)
{
    to = db_put_32(to, 1); /* dimensions */
    to = db_put_32(to, 1); /* there may be nulls */
    to = db_put_32(to, db_type_oid(column->type));
    to = db_put_32(to, (uint32_t)row_count);
    to = db_put_32(to, 1); /* the first index */
    for (size_t i = 0; i < row_count; i++)
        to = db_cell_put(to, column->type, list + i * row_size + column->offset);
    return to;
}

/* $1 is the tenant, the others are arrays. */
static enum error_code bind_list(struct work *w, const char *tenant,
                                 const struct db_column *columns, size_t row_size,
                                 const void *list, size_t row_count, struct arena *a,
                                 struct error *err)
{
    size_t size = 0;
    unsigned char *to;

    TRY(db_values_check(columns, row_size, list, row_count, err));
    w->param_count = 1;
    w->oids[0] = db_type_oid(DB_TEXT);
    w->values[0] = tenant;
    for (const struct db_column *c = columns; c->type != DB_END; c++) {
        size += 20;
        for (size_t i = 0; i < row_count; i++)
            size += db_cell_size(c->type, (const char *)list + i * row_size + c->offset);
    }
    if (size > INT32_MAX / 2)
        return fail(err, ERR_TOO_LARGE, "", "too much at once for the database");
    to = TRY_NEW(a, unsigned char, size);
    if (!to)
        return fail_memory(err);
    for (const struct db_column *c = columns; c->type != DB_END; c++) {
        unsigned char *from = to;

        assert(w->param_count < DB_PARAMS_MAX);
        to = put_array(from, c, row_size, list, row_count);
        w->oids[w->param_count] = db_type_array_oid(c->type);
        w->values[w->param_count] = (const char *)from;
        w->lengths[w->param_count] = (int)(to - from);
        w->formats[w->param_count] = 1;
        w->param_count++;
    }
    return OK;
}

enum error_code db_run_list(struct db_session *s, const struct db_statement *statement,
                            const char *tenant, const struct db_column *columns,
                            size_t row_size, const void *list, size_t row_count,
                            size_t *affected, struct arena *a, struct error *err)
{
    struct work w = {.name = statement->name,
                     .statement = statement,
                     .sql = statement->sql,
                     .repeatable = statement->flags & DB_REPEATABLE};

    TRY(bind_list(&w, tenant, columns, row_size, list, row_count, a, err));
    TRY(perform(s, &w, err));
    if (affected)
        *affected = w.affected;
    return OK;
}

enum error_code db_list_rows(struct db_session *s, const struct db_statement *statement,
                             const char *tenant, const struct db_column *columns,
                             size_t row_size, const void *list, size_t row_count,
                             const struct db_column *answer_columns, size_t answer_size,
                             void **answer, size_t *answer_count, struct arena *a,
                             struct error *err)
{
    struct work w = {.name = statement->name,
                     .statement = statement,
                     .sql = statement->sql,
                     .repeatable = statement->flags & DB_REPEATABLE,
                     .columns = answer_columns,
                     .row_size = answer_size,
                     .arena = a};

    TRY(bind_list(&w, tenant, columns, row_size, list, row_count, a, err));
    TRY(perform(s, &w, err));
    *answer = w.list;
    *answer_count = w.count;
    return OK;
}

enum error_code db_execute_counted(struct db_session *s, const char *sql,
                                   size_t *affected, struct error *err)
{
    struct work w = {.name = "sql", .sql = sql};

    TRY(perform(s, &w, err));
    *affected = w.affected;
    return OK;
}

enum error_code db_execute(struct db_session *s, const char *sql, struct error *err)
{
    size_t ignored;

    return db_execute_counted(s, sql, &ignored, err);
}

/* ---- readiness ---- */

static enum error_code ping(struct db *db, struct error *err)
{
    struct db_session s = {.db = db, .timeout_s = 0};
    struct work w = {.name = "ping", .sql = "SELECT 1", .repeatable = true};

    s.timeout_s = fmin(READY_TIMEOUT_S, db->options.statement_timeout_s > 0
                                            ? db->options.statement_timeout_s
                                            : READY_TIMEOUT_S);
    return perform(&s, &w, err);
}

enum error_code db_ready(struct db *db, struct error *err)
{
    struct error found = {.code = OK};
    bool ask;

    pthread_mutex_lock(&db->mutex);
    ask = !db->pinging && now_s() > db->worked_at_s + READY_FRESH_S &&
          now_s() > db->pinged_at_s + READY_FRESH_S;
    if (ask)
        db->pinging = true;
    else if (now_s() > db->worked_at_s + READY_FRESH_S)
        found = db->ping_error;
    pthread_mutex_unlock(&db->mutex);
    if (ask) {
        if (ping(db, &found) == OK)
            found.code = OK;
        pthread_mutex_lock(&db->mutex);
        db->pinging = false;
        db->pinged_at_s = now_s();
        db->ping_error = found;
        pthread_mutex_unlock(&db->mutex);
    }
    if (found.code == OK)
        return OK;
    return fail_later(err, ERR_UNAVAILABLE, found.retry_after_s, found.text);
}
