/* http.c - bytes in, bytes out: the only user of libmicrohttpd.
 *
 * The library calls access_handler() for a request's header, for each piece of
 * its body, when all of it is there, and again when a suspended request goes
 * on. A struct exchange is one request on its way; exchanges, with their arenas,
 * are used again and again. What belongs to the connection is a struct peer.
 *
 * The library lets us reply after the header or after the whole body, never in
 * between: what is refused in between is read to its end and thrown away.
 */
#include "service/http.h"

#include "service/clock.h"
#include "service/config.h"
#include "service/keyed.h"
#include "service/log.h"
#include "service/metrics.h"
#include "service/watch.h"
#include "service/worker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    BACKLOG = 4096,
    BODY_KEPT_BYTES = 64 * 1024,  /* largest buffer that stays with an exchange */
    BODY_FIRST_BYTES = 16 * 1024, /* of a body of unknown length */
    EXCHANGES_KEPT = 256,         /* idle ones; more are released */
    FDS_RESERVED = 256,           /* database, files, epoll */
    IO_STACK_BYTES = 1024 * 1024,
    CONNECTION_BYTES =
        16 * 1024,      /* the header of a request or reply; of each connection */
    SETTLE_MS = 100,    /* for what was under way when draining began */
    AFTER_CANCEL_S = 5, /* for computations to notice */
    LAST_REPLIES_S = 1, /* ... and for their answers to go out */
    POLL_MS = 5,
    RETRY_AFTER_S = 1,
};

enum exchange_state {
    READING,    /* the body is being collected */
    DISCARDING, /* the body is being thrown away; `err` or the route says why */
    WORKING,    /* a worker has it */
    ANSWERED,   /* the reply is ready to be sent */
};

struct exchange {
    struct http *http;
    struct MHD_Connection *connection;
    struct peer *peer;
    struct arena *arena;
    struct exchange *next; /* in the free list */
    enum exchange_state state;
    const struct route *route; /* NULL: none fits */
    double started_s;          /* monotonic */
    /* What the header says about the body. */
    const char *content_length, *transfer_encoding, *expect;
    size_t length_count; /* Content-Length headers */
    uint64_t announced_bytes;
    bool has_length;
    /* The body. */
    char *body;
    size_t body_length, body_size; /* size without the NUL */
    size_t counted_bytes;          /* in http->body_bytes */
    size_t discarded_bytes;
    struct error err;        /* code OK: nothing refused so far */
    struct attempt *attempt; /* with an Idempotency-Key, route_has_steps(); else NULL */
    struct message message;
    struct query_pair query[QUERY_PAIRS_MAX];
    struct reply reply;
};

struct http {
    struct service *service;
    struct MHD_Daemon *daemon;
    struct watch *watch;
    int listener;
    int port;
    /* Atomic. */
    size_t request_count, working_count, body_bytes, refused_count;
    pthread_mutex_t free_lock;
    struct exchange *free;
    size_t free_count;
};

static void add(size_t *counter, size_t n)
{
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

static void subtract(size_t *counter, size_t n)
{
    __atomic_fetch_sub(counter, n, __ATOMIC_RELEASE);
}

static size_t get(const size_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

static bool is_draining(const struct http *h)
{
    return __atomic_load_n(&h->service->draining, __ATOMIC_RELAXED);
}

/* ---- exchanges ---- */

static void exchange_close(struct exchange *x)
{
    if (!x)
        return;
    arena_close(x->arena);
    free(x->body);
    free(x);
}

static struct exchange *exchange_create(struct http *h)
{
    struct exchange *x = calloc(1, sizeof(*x));

    if (!x)
        return NULL;
    x->http = h;
    x->arena = arena_create(h->service->config->request_memory_bytes);
    if (!x->arena) {
        exchange_close(x);
        return NULL;
    }
    return x;
}

static struct exchange *exchange_take(struct http *h)
{
    struct exchange *x;

    pthread_mutex_lock(&h->free_lock);
    x = h->free;
    if (x) {
        h->free = x->next;
        h->free_count--;
    }
    pthread_mutex_unlock(&h->free_lock);
    return x ? x : exchange_create(h);
}

/* Forgets the request; keeps the memory for the next one unless it is large. */
static void exchange_give_back(struct exchange *x)
{
    struct http *h = x->http;
    bool kept;

    arena_reset(x->arena);
    free(x->attempt);
    x->attempt = NULL;
    if (x->counted_bytes)
        subtract(&h->body_bytes, x->counted_bytes);
    if (x->body_size > BODY_KEPT_BYTES) {
        free(x->body);
        x->body = NULL;
        x->body_size = 0;
    }
    pthread_mutex_lock(&h->free_lock);
    kept = h->free_count < EXCHANGES_KEPT;
    if (kept) {
        x->next = h->free;
        h->free = x;
        h->free_count++;
    }
    pthread_mutex_unlock(&h->free_lock);
    if (!kept)
        exchange_close(x);
}

static struct peer *peer_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}

/* ---- the reply ---- */

static enum MHD_Result send_reply(struct exchange *x)
{
    const struct reply *reply = &x->reply;
    struct MHD_Response *response;
    enum MHD_Result result;

    response = MHD_create_response_from_buffer(
        reply->body_length, (void *)(uintptr_t)(reply->body ? reply->body : ""),
        MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    if (reply->content_type)
        MHD_add_response_header(response, "Content-Type", reply->content_type);
    for (size_t i = 0; i < reply->header_count; i++)
        MHD_add_response_header(response, reply->headers[i].name,
                                reply->headers[i].value);
    if (is_draining(x->http))
        MHD_add_response_header(response, "Connection", "close");
    __atomic_store_n(&x->peer->bytes, reply->body_length, __ATOMIC_RELAXED);
    peer_enter(x->peer, PHASE_REPLY);
    result = MHD_queue_response(x->connection, (unsigned)reply->status, response);
    MHD_destroy_response(response);
    return result;
}

/* Makes the reply that x->err describes. route_answer() accounts for what it
 * answers; what does not get there is accounted for here. */
static void refuse(struct exchange *x)
{
    const struct message *m = &x->message;
    double duration_s = clock_monotonic_s() - x->started_s;

    route_problem(m, &x->err, m->request_id, &x->reply, x->arena);
    x->state = ANSWERED;
    metrics_request(x->http->service->metrics, x->route, x->reply.status, duration_s);
    log_request(&(struct log_access){
        .request_id = x->reply.header_count
                          ? x->reply.headers[x->reply.header_count - 1].value
                          : NULL,
        .method = m->method,
        .route = x->route ? x->route->path : NULL,
        .error = x->err.text,
        .status = x->reply.status,
        .duration_s = duration_s,
        .body_bytes = x->body_length,
        .reply_bytes = x->reply.body_length,
    });
}

static void refuse_busy(struct exchange *x)
{
    x->err.retry_after_s = RETRY_AFTER_S;
    fail(&x->err, ERR_BUSY, "", "too many requests are waiting; try again in %d s",
         RETRY_AFTER_S);
    add(&x->http->refused_count, 1);
    refuse(x);
}

/* ---- the header ---- */

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `text` with its %XX decoded, itself when there are none; NULL, with *err, when
 * they are no hex digits or a NUL. */
static const char *decode(const char *text, struct arena *a, struct error *err)
{
    const char *percent = strchr(text, '%');
    char *decoded, *to;

    if (!percent)
        return text;
    decoded = arena_text(a, text, strlen(text));
    if (!decoded) {
        fail_memory(err);
        return NULL;
    }
    to = decoded + (percent - text);
    for (const char *p = percent; *p; p++) {
        int high = *p == '%' ? hex_value(p[1]) : 0;
        int low = *p == '%' && high >= 0 ? hex_value(p[2]) : 0;

        if (high < 0 || low < 0 || (*p == '%' && high == 0 && low == 0)) {
            fail(err, ERR_MALFORMED, "",
                 "a %% in the path or query is not followed by two "
                 "hex digits, or means U+0000");
            return NULL;
        }
        if (*p == '%') {
            *to++ = (char)(high * 16 + low);
            p += 2;
        } else {
            *to++ = *p;
        }
    }
    *to = '\0';
    return decoded;
}

static const struct {
    const char *name;
    size_t offset; /* of a const char * in struct exchange */
} wanted[] = {
#define HEADER(name, member)                    \
    {                                           \
        name, offsetof(struct exchange, member) \
    }
    HEADER("Accept", message.accept),
    HEADER("Accept-Encoding", message.accept_encoding),
    HEADER("Access-Control-Request-Method", message.access_control_request_method),
    HEADER("Authorization", message.authorization),
    HEADER("Content-Encoding", message.content_encoding),
    HEADER("Content-Length", content_length),
    HEADER("Content-Type", message.content_type),
    HEADER("Expect", expect),
    HEADER("Idempotency-Key", message.idempotency_key),
    HEADER("If-Match", message.if_match),
    HEADER("If-None-Match", message.if_none_match),
    HEADER("Origin", message.origin),
    HEADER("Prefer", message.prefer),
    HEADER("Transfer-Encoding", transfer_encoding),
    HEADER("X-Request-Id", message.request_id),
    HEADER("traceparent", message.traceparent),
    HEADER("tracestate", message.tracestate),
#undef HEADER
};

/* Whether it is the header with something behind its name: the library leaves a
 * blank before the colon, and what follows a folded line, in the name. */
static bool is_spoilt(const char *name, const char *header)
{
    size_t length = strlen(header);

    return strncasecmp(name, header, length) == 0 && name[length] && name[length] != '-';
}

static void take_header(struct exchange *x, const char *name, const char *value)
{
    char first = (char)(*name | 0x20);

    if (is_spoilt(name, "Content-Length") || is_spoilt(name, "Transfer-Encoding"))
        x->length_count = 2; /* at least: whoever reads on sees another length */
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        const char **member = (const char **)((char *)x + wanted[i].offset);

        if ((wanted[i].name[0] | 0x20) != first || strcasecmp(wanted[i].name, name) != 0)
            continue;
        if (member == &x->content_length)
            x->length_count++;
        if (!*member) /* of repeated ones the first */
            *member = value;
        return;
    }
}

static void take_query(struct exchange *x, const char *name, const char *value)
{
    struct message *m = &x->message;
    struct query_pair *pair = &x->query[m->query_count];

    if (x->err.code != OK)
        return;
    if (m->query_count == QUERY_PAIRS_MAX) {
        fail(&x->err, ERR_MALFORMED, "", "more than %d query parameters",
             QUERY_PAIRS_MAX);
        return;
    }
    pair->name = decode(name, x->arena, &x->err);
    pair->value = pair->name && value ? decode(value, x->arena, &x->err) : "";
    m->query_count++;
}

static enum MHD_Result take_value(void *context, enum MHD_ValueKind kind,
                                  const char *name, const char *value)
{
    if (kind == MHD_HEADER_KIND && value)
        take_header(context, name, value);
    else if (kind == MHD_GET_ARGUMENT_KIND)
        take_query(context, name, value);
    return MHD_YES;
}

/* What the header says about the body, or why it is refused. */
static void check_length(struct exchange *x)
{
    size_t max_bytes = route_body_limit(x->route, x->http->service->config);
    char *end;

    if (x->length_count > 1 || (x->content_length && x->transfer_encoding)) {
        fail(&x->err, ERR_MALFORMED, "",
             "the body has more than one length: of Content-Length and Transfer-Encoding "
             "send one, once");
    } else if (x->transfer_encoding && strcasecmp(x->transfer_encoding, "chunked") != 0) {
        fail(&x->err, ERR_MALFORMED, "",
             "of transfer encodings only chunked is understood");
    } else if (x->content_length) {
        errno = 0;
        x->announced_bytes = strtoull(x->content_length, &end, 10);
        x->has_length = true;
        if (errno || *end || x->announced_bytes > max_bytes)
            fail(&x->err, ERR_TOO_LARGE, "", "the body has %.24s bytes, %zu are allowed",
                 x->content_length, max_bytes);
    }
}

/* Nobody reads the body when no route fits, or a key is needed and not there:
 * route_answer() then says so. */
static bool is_body_wanted(const struct exchange *x)
{
    const struct service *service = x->http->service;

    return x->route && (!service->auth || !service->config->auth_required ||
                        x->route->scope == SCOPE_NONE || x->message.authorization);
}

static enum MHD_Result answer(struct exchange *x);

/* A request's header is there. */
static enum MHD_Result begin(struct exchange *x, const char *method, const char *url)
{
    struct message *m = &x->message;
    enum error_code code;
    char allow[80];

    MHD_get_connection_values(x->connection, MHD_HEADER_KIND | MHD_GET_ARGUMENT_KIND,
                              take_value, x);
    m->method = method;
    m->remote_address = x->peer->address;
    m->query = x->query;
    if (x->err.code == OK)
        m->path = decode(url, x->arena, &x->err);
    if (x->err.code == OK) {
        x->route = route_find(x->http->service->routes, method, m->path, allow, &code);
        check_length(x);
    }
    if (x->err.code != OK) { /* the library closes the connection after that */
        x->peer->linger = true;
        refuse(x);
        return send_reply(x);
    }
    x->state = is_body_wanted(x) ? READING : DISCARDING;
    peer_enter(x->peer, PHASE_BODY);
    if (x->state == DISCARDING &&
        x->expect) /* the client waits to hear whether to send */
        return answer(x);
    return MHD_YES;
}

/* ---- the body ---- */

/* Room for `more` bytes and a NUL. The whole of an announced body at once: its
 * pages become memory only as it comes. */
static bool make_room(struct exchange *x, size_t more)
{
    size_t needed = x->body_length + more, size = x->body_size;
    char *body;

    if (needed <= size && x->body)
        return true;
    if (x->has_length)
        size = x->announced_bytes;
    else
        size = size ? size * 2 : BODY_FIRST_BYTES;
    if (size < needed)
        size = needed;
    body = realloc(x->body, size + 1);
    if (!body)
        return false;
    x->body = body;
    x->body_size = size;
    return true;
}

/* Counts the memory of large bodies; false when there is too much of it. */
static bool count_body(struct exchange *x, size_t length)
{
    struct http *h = x->http;

    if (x->body_length + length <= BODY_KEPT_BYTES)
        return true;
    length += x->body_length - x->counted_bytes;
    x->counted_bytes += length;
    return __atomic_add_fetch(&h->body_bytes, length, __ATOMIC_RELAXED) <=
           h->service->config->total_body_bytes;
}

/* The rest of the body is read and thrown away. */
static void discard(struct exchange *x, enum error_code code, const char *text)
{
    fail(&x->err, code, "", "%s", text);
    x->err.retry_after_s = code == ERR_BUSY ? RETRY_AFTER_S : 0;
    x->state = DISCARDING;
    if (x->body_size > BODY_KEPT_BYTES) {
        free(x->body);
        x->body = NULL;
        x->body_size = 0;
    }
    subtract(&x->http->body_bytes, x->counted_bytes);
    x->counted_bytes = 0;
    x->discarded_bytes = x->body_length;
    x->body_length = 0;
}

static enum MHD_Result take_body(struct exchange *x, const char *data, size_t length)
{
    size_t max_bytes = route_body_limit(x->route, x->http->service->config);

    if (x->state == READING) {
        if (length > max_bytes - x->body_length)
            discard(x, ERR_TOO_LARGE,
                    "the body has more bytes than max_body_bytes, or max_upload_bytes, "
                    "allows");
        else if (!count_body(x, length) || !make_room(x, length))
            discard(x, ERR_BUSY,
                    "the bodies of other requests take all memory; try again");
    }
    if (x->state == READING) {
        memcpy(x->body + x->body_length, data, length);
        x->body_length += length;
    } else {
        x->discarded_bytes += length;
    }
    __atomic_store_n(&x->peer->bytes, x->body_length + x->discarded_bytes,
                     __ATOMIC_RELAXED);
    return x->discarded_bytes > 2 * max_bytes ? MHD_NO : MHD_YES; /* enough is enough */
}

/* ---- the answer ---- */

static void work(void *context);

/* On the timer's thread: it is time for the next step of who waits for a key. */
static void wake(struct waiter *waiter)
{
    struct attempt *attempt =
        (struct attempt *)((char *)waiter - offsetof(struct attempt, waiter));
    struct exchange *x = attempt->exchange;

    if (!worker_submit(x->http->service->query, work, x))
        idempotency_wait(x->http->service->idempotency, waiter, KEYED_POLL_S);
}

/* Whether the request with a key goes on elsewhere, later: no reply yet. */
static bool goes_on(struct exchange *x)
{
    struct service *service = x->http->service;

    switch (route_step(service, &x->message, &x->peer->cancelled, true, x->attempt,
                       &x->reply, x->arena)) {
    case ROUTE_NEEDS_COMPUTE:
        if (worker_submit(service->compute, work, x))
            return true;
        keyed_give_back(service, x->attempt, x->arena);
        refuse_busy(x);
        return false;
    case ROUTE_NEEDS_TIME:
        if (idempotency_wait(service->idempotency, &x->attempt->waiter, KEYED_POLL_S))
            return true;
        refuse_busy(x); /* the service ends */
        return false;
    default:
        return false;
    }
}

/* On a worker. The exchange belongs to the I/O thread again after the resume. */
static void work(void *context)
{
    struct exchange *x = context;
    struct http *h = x->http;

    if (x->attempt && goes_on(x))
        return;
    if (!x->attempt)
        route_answer(h->service, &x->message, &x->peer->cancelled, true, &x->reply,
                     x->arena);
    x->state = ANSWERED;
    MHD_resume_connection(x->connection);
    subtract(&h->working_count, 1);
}

static enum MHD_Result hand_over(struct exchange *x, struct worker_pool *pool)
{
    if (worker_is_full(pool)) {
        refuse_busy(x);
        return send_reply(x);
    }
    x->state = WORKING;
    add(&x->http->working_count, 1);
    peer_enter(x->peer, PHASE_RUNNING);
    MHD_suspend_connection(x->connection); /* before a worker may resume it */
    if (!worker_submit(pool, work, x)) {
        refuse_busy(x);
        subtract(&x->http->working_count, 1);
        MHD_resume_connection(x->connection);
    }
    return MHD_YES;
}

/* The whole request is there. */
static enum MHD_Result answer(struct exchange *x)
{
    struct service *service = x->http->service;
    struct message *m = &x->message;
    enum route_work kind = WORK_INLINE;

    if (x->err.code != OK) {
        refuse(x);
        return send_reply(x);
    }
    if (x->body)
        x->body[x->body_length] = '\0';
    m->body = x->body_length ? x->body : "";
    m->body_length = x->body_length;
    if (x->route && x->state == READING)
        kind = route_work_of(x->route, m);
    if (kind == WORK_QUERY && service->idempotency && route_has_steps(x->route, m))
        x->attempt = attempt_create(x, wake, &x->peer->cancelled);
    if (kind == WORK_COMPUTE)
        return hand_over(x, service->compute);
    if (kind == WORK_INLINE &&
        route_answer(service, m, &x->peer->cancelled, false, &x->reply, x->arena)) {
        x->state = ANSWERED;
        return send_reply(x);
    }
    return hand_over(x, service->query);
}

/* ---- what the library calls ---- */

static enum MHD_Result access_handler(void *context, struct MHD_Connection *connection,
                                      const char *url, const char *method,
                                      const char *version, const char *upload_data,
                                      size_t *upload_data_size, void **request_context)
{
    struct http *h = context;
    struct exchange *x = *request_context;
    struct peer *peer;

    (void)version;
    if (!x) {
        peer = peer_of(connection);
        x = peer ? exchange_take(h) : NULL;
        if (!x)
            return MHD_NO;
        *request_context = x;
        add(&h->request_count, 1);
        *x = (struct exchange){.http = h,
                               .connection = connection,
                               .peer = peer,
                               .arena = x->arena,
                               .body = x->body,
                               .body_size = x->body_size};
        x->started_s = clock_monotonic_s();
        __atomic_store_n(&peer->cancelled, false, __ATOMIC_RELAXED);
        __atomic_store_n(&peer->bytes, 0, __ATOMIC_RELAXED);
        return begin(x, method, url);
    }
    if (*upload_data_size) {
        size_t length = *upload_data_size;

        *upload_data_size = 0;
        return take_body(x, upload_data, length);
    }
    return x->state == ANSWERED ? send_reply(x) : answer(x);
}

static void request_completed(void *context, struct MHD_Connection *connection,
                              void **request_context, enum MHD_RequestTerminationCode why)
{
    struct http *h = context;
    struct exchange *x = *request_context;

    (void)connection, (void)why;
    if (!x)
        return;
    *request_context = NULL;
    peer_enter(x->peer, PHASE_IDLE);
    exchange_give_back(x);
    subtract(&h->request_count, 1);
}

static void connection_changed(void *context, struct MHD_Connection *connection,
                               void **socket_context,
                               enum MHD_ConnectionNotificationCode code)
{
    struct http *h = context;
    const union MHD_ConnectionInfo *info;
    struct peer *peer;

    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (*socket_context)
            watch_remove(h->watch, *socket_context);
        *socket_context = NULL;
        return;
    }
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    peer = info ? watch_add(h->watch, info->connect_fd) : NULL;
    *socket_context = peer;
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (!peer || !info)
        return;
    if (info->client_addr->sa_family == AF_INET)
        inet_ntop(AF_INET, &((struct sockaddr_in *)info->client_addr)->sin_addr,
                  peer->address, sizeof(peer->address));
    else if (info->client_addr->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((struct sockaddr_in6 *)info->client_addr)->sin6_addr,
                  peer->address, sizeof(peer->address));
}

/* The request line is there: from now on the header must come. */
static void *request_line_seen(void *context, const char *uri,
                               struct MHD_Connection *connection)
{
    struct peer *peer = peer_of(connection);

    (void)context, (void)uri;
    if (peer)
        peer_enter(peer, PHASE_HEADER);
    return NULL;
}

/* We decode ourselves: the library would take %00 for the end. */
static size_t leave_escaped(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context, (void)connection;
    return strlen(text);
}

static void library_log(void *context, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void library_log(void *context, const char *format, va_list args)
{
    char text[512];

    (void)context;
    if (!log_wants(LOG_DEBUG))
        return;
    vsnprintf(text, sizeof(text), format, args);
    log_write(LOG_DEBUG, "libmicrohttpd: %s", text);
}

/* ---- start and stop ---- */

/* A socket address for the text; the length, 0 when it is none. */
static socklen_t read_address(const char *text, size_t port, struct sockaddr_storage *out)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)out;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;

    memset(out, 0, sizeof(*out));
    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons((uint16_t)port);
        return sizeof(*v4);
    }
    if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons((uint16_t)port);
        return sizeof(*v6);
    }
    return 0;
}

static enum error_code bind_failed(const struct config *config, struct error *err)
{
    if (errno == EADDRINUSE)
        return fail(
            err, ERR_CONFLICT, "/port",
            "port %zu of %s is taken by another program; choose another with --port "
            "or GRIDPLAN_PORT (0: any free one)",
            config->port, config->bind);
    if (errno == EACCES)
        return fail(err, ERR_CONFLICT, "/port",
                    "port %zu needs privileges; choose one above 1023 with --port or "
                    "GRIDPLAN_PORT",
                    config->port);
    if (errno == EADDRNOTAVAIL)
        return fail(err, ERR_CONFLICT, "/bind",
                    "%s is no address of this machine; see --bind", config->bind);
    return fail(err, ERR_CONFLICT, "/port", "cannot listen on %s port %zu: %s",
                config->bind, config->port, strerror(errno));
}

static enum error_code listen_on(struct http *h, struct error *err)
{
    const struct config *config = h->service->config;
    struct sockaddr_storage address;
    socklen_t length = read_address(config->bind, config->port, &address);
    int on = 1, off = 0;

    if (length == 0)
        return fail(err, ERR_INVALID, "/bind", "'%s' is no address", config->bind);
    h->listener =
        socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (h->listener < 0)
        return bind_failed(config, err);
    setsockopt(h->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (address.ss_family == AF_INET6)
        setsockopt(h->listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(h->listener, (struct sockaddr *)&address, length) != 0 ||
        listen(h->listener, BACKLOG) != 0)
        return bind_failed(config, err);
    length = sizeof(address);
    getsockname(h->listener, (struct sockaddr *)&address, &length);
    h->port =
        ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                            : ((struct sockaddr_in *)&address)->sin_port);
    return OK;
}

/* As many connections as files may be open. */
static size_t connection_limit(const struct config *config)
{
    struct rlimit files;
    size_t limit = config->max_connections;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return limit;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur == RLIM_INFINITY || files.rlim_cur >= limit + FDS_RESERVED)
        return limit;
    limit = files.rlim_cur > 2 * FDS_RESERVED ? files.rlim_cur - FDS_RESERVED
                                              : files.rlim_cur / 2;
    log_write(
        LOG_INFO,
        "%zu connections at most, not max_connections (%zu): the process may open %zu "
        "files (ulimit -n)",
        limit, config->max_connections, (size_t)files.rlim_cur);
    return limit;
}

/* One option of the library; functions travel as numbers in its table. */
#define OPTION(name, value, context)     \
    (struct MHD_OptionItem)              \
    {                                    \
        name, (intptr_t)(value), context \
    }

static enum error_code start_daemon(struct http *h, size_t limit, struct error *err)
{
    const struct config *config = h->service->config;
    struct MHD_OptionItem options[] = {
        OPTION(MHD_OPTION_EXTERNAL_LOGGER, library_log, h), /* first, as it asks */
        OPTION(MHD_OPTION_LISTEN_SOCKET, h->listener, NULL),
        OPTION(MHD_OPTION_NOTIFY_COMPLETED, request_completed, h),
        OPTION(MHD_OPTION_NOTIFY_CONNECTION, connection_changed, h),
        OPTION(MHD_OPTION_URI_LOG_CALLBACK, request_line_seen, h),
        OPTION(MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, h),
        OPTION(MHD_OPTION_CONNECTION_LIMIT, limit, NULL),
        OPTION(MHD_OPTION_CONNECTION_TIMEOUT, config->keepalive_timeout_s + 1, NULL),
        OPTION(MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES, NULL),
        OPTION(MHD_OPTION_THREAD_STACK_SIZE, IO_STACK_BYTES, NULL),
        OPTION(MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL),
        OPTION(MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, NULL),
        OPTION(MHD_OPTION_PER_IP_CONNECTION_LIMIT, config->connections_per_address, NULL),
        OPTION(MHD_OPTION_THREAD_POOL_SIZE, config->io_threads, NULL),
        OPTION(MHD_OPTION_END, 0, NULL),
    };

    if (config->io_threads == 1) /* no pool: the daemon's own thread */
        options[sizeof(options) / sizeof(options[0]) - 2].option = MHD_OPTION_END;
    h->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
        NULL, NULL, access_handler, h, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
    if (!h->daemon)
        return fail(err, ERR_INTERNAL, "", "the HTTP library does not start: %s",
                    strerror(errno));
    return OK;
}

static void release(struct http *h)
{
    watch_close(h->watch);
    if (h->listener >= 0)
        close(h->listener);
    while (h->free) {
        struct exchange *x = h->free;

        h->free = x->next;
        exchange_close(x);
    }
    pthread_mutex_destroy(&h->free_lock);
    free(h);
}

static enum error_code start(struct http *h, struct error *err)
{
    const struct config *config = h->service->config;
    size_t limit = connection_limit(config);

    TRY(listen_on(h, err));
    h->watch = watch_create(&(struct watch_limits){
        .header_s = config->header_timeout_s,
        .idle_s = config->keepalive_timeout_s,
        .transfer_s = config->body_timeout_s,
        .transfer_bytes_per_s = (double)config->body_bytes_per_s,
        .peers_max = limit,
    });
    if (!h->watch)
        return fail(err, ERR_INTERNAL, "", "no memory or thread for the watcher");
    return start_daemon(h, limit, err);
}

enum error_code http_start(struct service *service, struct http **http, struct error *err)
{
    struct http *h = calloc(1, sizeof(*h));
    enum error_code code;

    if (!h)
        return fail(err, ERR_INTERNAL, "", "no memory for the server");
    h->service = service;
    h->listener = -1;
    pthread_mutex_init(&h->free_lock, NULL);
    code = start(h, err);
    if (code != OK)
        release(h);
    else
        *http = h;
    return code;
}

int http_port(const struct http *http)
{
    return http->port;
}

void http_stats(struct http *http, struct http_stats *stats)
{
    struct watch_stats peers;

    watch_stats(http->watch, &peers);
    *stats = (struct http_stats){
        .connection_count = peers.peer_count,
        .request_count = get(&http->request_count),
        .body_bytes = get(&http->body_bytes),
        .slow_count = peers.slow_count,
        .idle_count = peers.idle_count,
        .gone_count = peers.gone_count,
        .refused_count = get(&http->refused_count),
    };
}

/* Takes the listening socket away from the library by putting something that is
 * never ready under its number. MHD_quiesce_daemon() is not for us: with epoll it
 * races with the library's own threads, which then end the process. */
void http_drain(struct http *http)
{
    int nothing = eventfd(0, EFD_CLOEXEC);

    __atomic_store_n(&http->service->draining, true, __ATOMIC_RELAXED);
    if (nothing < 0)
        return; /* no files left; then we go on taking connections */
    dup3(nothing, http->listener, O_CLOEXEC);
    close(nothing);
}

/* Waits until *counter is 0, at most limit_s. */
static bool wait_for_none(const size_t *counter, double limit_s)
{
    double end_s = clock_monotonic_s() + limit_s;

    while (get(counter) > 0) {
        if (clock_monotonic_s() >= end_s)
            return false;
        usleep(POLL_MS * 1000);
    }
    return true;
}

bool http_wait(struct http *http, double grace_s)
{
    usleep(SETTLE_MS * 1000); /* requests that were sent before the client knew */
    if (!wait_for_none(&http->request_count, grace_s))
        watch_cancel_all(http->watch);
    if (!wait_for_none(&http->working_count, AFTER_CANCEL_S))
        return false;
    wait_for_none(&http->request_count, LAST_REPLIES_S);
    return true;
}

void http_close(struct http *http)
{
    if (!http)
        return;
    MHD_stop_daemon(http->daemon); /* it closes the listener */
    http->listener = -1;
    release(http);
}
