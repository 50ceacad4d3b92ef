/* http.c - bytes in, bytes out: the only user of libmicrohttpd.
 *
 * The library calls access_handler() for a request's header, for each piece of
 * its body, when all of it is there, and again when a suspended request goes
 * on. A struct exchange is one request on its way; exchanges, with their arenas,
 * are used again and again. What belongs to the connection is a struct peer.
 *
 * The library lets us reply after the header or after the whole body, never in
 * between: what is refused in between is read to its end and thrown away. So whatever
 * the header tells is checked with the header, the key too: while it is looked up the
 * connection is suspended, and nothing of the body is read.
 */
#include "service/http.h"

#include "service/auth.h"
#include "service/body.h"
#include "service/clock.h"
#include "service/config.h"
#include "service/crowd.h"
#include "service/door.h"
#include "service/estimate.h"
#include "service/facade.h"
#include "service/governor.h"
#include "service/keyed.h"
#include "service/listen.h"
#include "service/log.h"
#include "service/lookup.h"
#include "service/metrics.h"
#include "service/watch.h"
#include "service/work_memory.h"
#include "service/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <microhttpd.h>
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
    EXCHANGES_KEPT = 256, /* idle ones; more are released */
    FDS_RESERVED = 256,   /* database, files, epoll */
    IO_STACK_BYTES = 1024 * 1024,
    MACHINE_NAME_SIZE = 256,
    ADMIN_CONNECTIONS = 64,        /* at most: probes and metrics */
    CONNECTION_BYTES = 64 * 1024,  /* of each connection: the header of a request or
                                      reply. Above 32 KiB the library maps the memory,
                                      so that an idle connection costs one page */
    TARGET_MAX_BYTES = 16 * 1024,  /* what the header may have is less than fits, so */
    HEADERS_MAX_BYTES = 32 * 1024, /* that we answer what is too large, in our words */
    SETTLE_MS = 100,               /* for what was under way when draining began */
    RECENT_MS = 1000,   /* who was answered so lately may have sent the next request */
    AFTER_CANCEL_S = 5, /* for computations to notice */
    LAST_REPLIES_S = 1, /* ... and for their answers to go out */
    POLL_MS = 5,
    RETRY_AFTER_S = 1,
};

enum exchange_state {
    LOOKING,    /* the key is being looked up; nothing of the body is read */
    LOOKED,     /* it has: `err` says whether the body is wanted */
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
    const struct route *route;       /* NULL: none fits */
    double started_s;                /* monotonic */
    char address[ADDRESS_TEXT_SIZE]; /* of the client that a proxy names */
    const char *sec_fetch_site, *forwarded_for, *forwarded_proto;
    /* The key, checked before the body. */
    struct lookup lookup;
    struct auth_grant grant;
    double granted_at_s; /* monotonic; 0: not checked */
    /* What the header says about the body. */
    const char *content_length, *transfer_encoding, *expect;
    size_t length_count; /* Content-Length headers */
    size_t header_bytes; /* of all fields */
    uint64_t announced_bytes;
    bool has_length;
    bool closing; /* the reply ends the connection */
    struct governor_who who;
    struct work_memory memory;
    struct body body;
    size_t taken_bytes; /* of the body, before it is packed */
    size_t discarded_bytes;
    struct error err;        /* code OK: nothing refused so far */
    struct attempt *attempt; /* with an Idempotency-Key, route_has_steps(); else NULL */
    enum route_next needs;   /* for its answer */
    struct message message;
    struct query_pair *query; /* room for QUERY_PAIRS_MAX, made with the first */
    struct reply reply;
    struct governor_job job;  /* of a computation */
    struct arena_mark header; /* what the arena holds of the header */
    size_t body_bytes;        /* guessed, of a packed one */
    size_t estimate_bytes;
};

/* A listener, and the library's threads behind it. */
struct gate {
    struct http *http;
    enum entrance entrance;
    int fd, port; /* fd -1: none */
    struct MHD_Daemon *daemon;
};

struct http {
    struct service *service;
    struct gate gates[ENTRANCE_UNIX + 1]; /* by enum entrance */
    struct unix_path unix_path;
    struct watch *watch;
    struct lookup_line *lookups;
    struct crowd *crowd;
    struct network_list trusted_proxies;
    struct door door;
    char machine[MACHINE_NAME_SIZE];
    bool warned_of_proxy; /* atomic */
    /* Atomic. */
    size_t request_count, working_count, refused_count;
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
    body_release(&x->body);
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
    work_memory_end(&x->memory);
    body_empty(&x->body);
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

/* From now on what the request takes is leased to who sends it. */
static void lease_from(struct exchange *x)
{
    struct governor *governor = x->http->service->governor;

    x->who = (struct governor_who){.owner.name = x->peer->owner};
    x->body.governor = governor;
    x->body.who = &x->who;
    work_memory_begin(&x->memory, governor, &x->who);
    arena_set_lease(x->arena, &x->memory.lease);
}

static struct peer *peer_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}

/* ---- the reply ---- */

/* The body is not needed any more, unless the reply is in it. */
static void drop_body(struct exchange *x)
{
    uintptr_t reply = (uintptr_t)x->reply.body, body = (uintptr_t)x->body.data;

    if (reply < body || reply > body + x->body.size)
        body_empty(&x->body);
}

static enum MHD_Result send_reply(struct exchange *x)
{
    const struct reply *reply = &x->reply;
    struct MHD_Response *response;
    enum MHD_Result result;

    drop_body(x);
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
    if (is_draining(x->http) || x->closing)
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
    struct message *m = &x->message;
    double duration_s = clock_monotonic_s() - x->started_s;

    m->route = x->route;
    m->grant = x->granted_at_s > 0 ? &x->grant : NULL;
    route_problem(x->http->service, m, &x->err, m->request_id, &x->reply, x->arena);
    x->state = ANSWERED;
    metrics_request(x->http->service->metrics, x->route, x->reply.status, duration_s);
    log_request(&(struct log_access){
        .request_id = x->reply.header_count
                          ? x->reply.headers[x->reply.header_count - 1].value
                          : NULL,
        .method = m->method,
        .route = x->route ? x->route->path : NULL,
        .error = x->err.text,
        .is_probe = x->route && x->route->flags & ROUTE_PROBE,
        .status = x->reply.status,
        .duration_s = duration_s,
        .body_bytes = x->taken_bytes,
        .reply_bytes = x->reply.body_length,
    });
}

static void fail_busy(struct exchange *x)
{
    x->err.retry_after_s = RETRY_AFTER_S;
    fail(&x->err, ERR_BUSY, "", "too many requests are waiting; try again in %d s",
         RETRY_AFTER_S);
    add(&x->http->refused_count, 1);
}

static void refuse_busy(struct exchange *x)
{
    fail_busy(x);
    refuse(x);
}

/* Refuses what the governor does not let run. */
static void refuse_work(struct exchange *x, enum governor_answer answer)
{
    if (answer == GOVERNOR_GONE && is_draining(x->http)) {
        x->err.retry_after_s = RETRY_AFTER_S;
        fail(&x->err, ERR_UNAVAILABLE, "",
             "the service ends, and the request had not begun; try again in %d s",
             RETRY_AFTER_S);
    } else if (answer == GOVERNOR_BUSY && x->job.queue == GOVERNOR_QUERY) {
        fail_busy(x); /* how long queries take is not guessed */
    } else {
        governor_fail(x->http->service->governor, answer, 0, &x->err);
        add(&x->http->refused_count, answer != GOVERNOR_GONE);
    }
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
    decoded = arena_try_text(a, text, strlen(text));
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
    bool once;     /* two of them: who reads the other one reads another request */
} wanted[] = {
#define HEADER(name, member, once)                    \
    {                                                 \
        name, offsetof(struct exchange, member), once \
    }
    HEADER("Accept", message.accept, false),
    HEADER("Accept-Encoding", message.accept_encoding, false),
    HEADER("Access-Control-Request-Method", message.access_control_request_method, false),
    HEADER("Authorization", message.authorization, true),
    HEADER("Content-Encoding", message.content_encoding, false),
    HEADER("Content-Length", content_length, false), /* counted */
    HEADER("Content-Type", message.content_type, false),
    HEADER("Expect", expect, false),
    HEADER("Host", message.host, true),
    HEADER("Idempotency-Key", message.idempotency_key, true),
    HEADER("If-Match", message.if_match, false),
    HEADER("If-None-Match", message.if_none_match, false),
    HEADER("Origin", message.origin, true),
    HEADER("Prefer", message.prefer, false),
    HEADER("Sec-Fetch-Site", sec_fetch_site, false),
    HEADER("Transfer-Encoding", transfer_encoding, true),
    HEADER("X-Forwarded-Proto", forwarded_proto, false),
    HEADER("X-Request-Id", message.request_id, false),
    HEADER("traceparent", message.traceparent, false),
    HEADER("tracestate", message.tracestate, false),
#undef HEADER
};

/* X-Forwarded-For may come in several lines: they are one list. */
static void take_forwarded(struct exchange *x, const char *value)
{
    const char *joined =
        x->forwarded_for ? arena_try_printf(x->arena, "%s,%s", x->forwarded_for, value)
                         : value;

    if (joined)
        x->forwarded_for = joined;
    else
        fail_memory(&x->err);
}

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

    x->header_bytes += strlen(name) + strlen(value) + 4; /* ": " and the line's end */
    if (first == 'x' && strcasecmp(name, "X-Forwarded-For") == 0)
        take_forwarded(x, value);
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
        else if (wanted[i].once)
            fail_header(&x->err, ERR_MALFORMED, wanted[i].name, ITEM_MALFORMED,
                        "%s is there more than once", wanted[i].name);
        return;
    }
}

static void take_query(struct exchange *x, const char *name, const char *value)
{
    struct message *m = &x->message;
    struct query_pair *pair;

    if (x->err.code != OK)
        return;
    if (!x->query)
        x->query = TRY_NEW(x->arena, struct query_pair, QUERY_PAIRS_MAX);
    if (!x->query) {
        fail_memory(&x->err);
        return;
    }
    if (m->query_count == QUERY_PAIRS_MAX) {
        fail(&x->err, ERR_MALFORMED, "", "more than %d query parameters",
             QUERY_PAIRS_MAX);
        return;
    }
    pair = &x->query[m->query_count];
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

/* It is said that the body is too large: what to do about it. */
static enum error_code too_large(struct exchange *x)
{
    bool is_facade = x->route && x->route->flags & ROUTE_FACADE;

    if (!is_facade)
        x->err.hint = body_limit_hint(x->route && x->route->flags & ROUTE_TEXT_BODY);
    return x->err.code;
}

/* What the header says about the body, or why it is refused. */
static enum error_code check_length(struct exchange *x)
{
    size_t max_bytes = route_body_limit(x->route, x->http->service->config);
    char *end;

    if (x->length_count > 1 || (x->content_length && x->transfer_encoding))
        return fail(&x->err, ERR_MALFORMED, "",
                    "the body has more than one length: of Content-Length and "
                    "Transfer-Encoding send one, once");
    if (x->transfer_encoding && strcasecmp(x->transfer_encoding, "chunked") != 0)
        return fail(&x->err, ERR_MALFORMED, "",
                    "of transfer encodings only chunked is understood");
    if (!x->content_length)
        return OK;
    errno = 0;
    x->announced_bytes = strtoull(x->content_length, &end, 10);
    x->has_length = true;
    if (!errno && !*end && x->announced_bytes <= max_bytes)
        return OK;
    fail(&x->err, ERR_TOO_LARGE, "", "the body has %.24s bytes, %zu are allowed",
         x->content_length, max_bytes);
    return too_large(x);
}

static size_t count_or_none(double quota)
{
    return quota > 0 ? (size_t)quota : 0; /* NAN: not said */
}

static struct governor_party party(const char *name, const struct quota *quota)
{
    return (struct governor_party){
        name,
        {.weight = quota->weight > 0 ? quota->weight : 0,
         .concurrent_count = count_or_none(quota->concurrent_count),
         .memory_bytes = count_or_none(quota->memory_bytes)}};
}

/* Who answers for what the request takes: the tenant of its key, else its client. */
static void find_owner(struct exchange *x)
{
    const struct auth_grant *grant = &x->grant;

    x->who = (struct governor_who){.owner.name = x->message.remote_address};
    if (!grant->who.key_id || !*grant->who.key_id)
        return;
    x->who.owner = party(grant->who.tenant, &grant->tenant_quota);
    x->who.key = party(grant->who.key_id, &grant->quota);
}

/* Whether the body may be packed as it comes. */
static bool may_pack(const struct exchange *x)
{
    const char *encoding = x->message.content_encoding;

    return x->route && x->route->flags & ROUTE_STREAMS &&
           (!encoding || strcasecmp(encoding, "identity") == 0);
}

/* Whether there is room for the body that is announced: before any of it has come. How
 * much is left of one that is packed shows as it comes. */
static void check_room(struct exchange *x)
{
    struct governor *governor = x->http->service->governor;
    size_t bytes = x->announced_bytes;
    enum governor_answer answer;

    if (may_pack(x) && bytes > BODY_PLAIN_BYTES)
        bytes = BODY_PLAIN_BYTES;
    answer = governor && bytes > 0 ? governor_body_check(governor, &x->who, bytes)
                                   : GOVERNOR_OK;
    if (answer != GOVERNOR_OK)
        body_fail(&x->body, answer, bytes, &x->err);
}

/* Who asks, for limits: the peer, or the client that a trusted proxy names. */
static void find_client(struct exchange *x)
{
    struct http *h = x->http;
    struct address client;

    x->message.remote_address = x->peer->owner;
    if (x->peer->trusted && x->forwarded_for) {
        address_client(&h->trusted_proxies, &x->peer->address, x->forwarded_for, &client);
        x->message.remote_address = address_owner(&client, x->address);
    }
    if (x->forwarded_for && !x->peer->trusted && !h->service->config->auth_required &&
        !__atomic_exchange_n(&h->warned_of_proxy, true, __ATOMIC_RELAXED))
        log_write(LOG_WARNING,
                  "%s sends X-Forwarded-For and is not in trusted_proxies: without keys "
                  "all its clients count as one",
                  x->peer->owner);
}

static bool body_follows(const struct exchange *x)
{
    const char *length = x->content_length;

    return x->transfer_encoding || (length && length[strspn(length, "0")]);
}

/* Answers what x->err says, before the body. The library closes a connection that is
 * answered at the header: without a body it waits for the request's end. */
static enum MHD_Result refuse_early(struct exchange *x)
{
    if (!body_follows(x) && !x->closing) {
        x->state = DISCARDING;
        return MHD_YES;
    }
    x->peer->linger = body_follows(x) || x->err.code == ERR_MALFORMED;
    x->closing = true;
    refuse(x);
    return send_reply(x);
}

static enum MHD_Result answer(struct exchange *x);

/* The body may come. */
static enum MHD_Result admit(struct exchange *x)
{
    /* Nobody reads it when no route fits or the route takes none: route_answer() then
     * says so. */
    x->state = x->route && route_takes_body(x->route) ? READING : DISCARDING;
    find_owner(x);
    if (x->state == READING)
        check_room(x);
    if (x->err.code != OK)
        return refuse_early(x);
    peer_enter(x->peer, PHASE_BODY);
    if (x->state == DISCARDING &&
        x->expect) { /* the client waits to hear whether to send */
        x->message.stray_bytes = body_follows(x);
        return answer(x);
    }
    return MHD_YES;
}

/* On a thread for look-ups: the exchange belongs to the I/O thread again after the
 * resume. */
static void look_up(void *context)
{
    struct exchange *x = context;
    struct http *h = x->http;
    const struct message *m = &x->message;

    auth_check(h->service->auth, m->authorization, m->remote_address,
               route_scope(x->route, m), true, &x->grant, x->arena, &x->err);
    if (x->err.code == OK)
        x->granted_at_s = clock_monotonic_s();
    x->state = LOOKED;
    MHD_resume_connection(x->connection);
    subtract(&h->working_count, 1);
}

static enum MHD_Result start_looking(struct exchange *x, bool known)
{
    struct http *h = x->http;

    x->state = LOOKING;
    x->lookup = (struct lookup){look_up, x, NULL};
    add(&h->working_count, 1);
    peer_enter(x->peer, PHASE_RUNNING);
    MHD_suspend_connection(x->connection); /* before a worker may resume it */
    if (!lookup_submit(h->lookups, &x->lookup, known)) {
        fail_busy(x);
        x->state = LOOKED;
        subtract(&h->working_count, 1);
        MHD_resume_connection(x->connection);
    }
    return MHD_YES;
}

/* Whether the key is looked up or known; nothing is read for a key that is not. */
static enum MHD_Result check_key(struct exchange *x)
{
    struct service *service = x->http->service;
    const struct message *m = &x->message;

    if (!x->route)
        return admit(x);
    switch (auth_glance(service->auth, m->authorization, m->remote_address,
                        route_scope(x->route, m), &x->grant, x->arena, &x->err)) {
    case AUTH_NEEDS_DATABASE:
        return start_looking(x, false);
    case AUTH_NEEDS_REFRESH:
        return start_looking(x, true);
    case AUTH_REFUSED:
        x->closing = m->authorization && x->err.code == ERR_UNAUTHENTICATED &&
                     !auth_has_key(m->authorization);
        return refuse_early(x);
    case AUTH_ALLOWED:
        break;
    }
    x->granted_at_s = x->started_s;
    return admit(x);
}

/* The key has been looked up: the library calls once for that, before the body. */
static enum MHD_Result go_on(struct exchange *x)
{
    return x->err.code == OK ? admit(x) : refuse_early(x);
}

/* The answer names the path, so the path must not be the matter. */
static enum error_code check_target(struct exchange *x, const char *url)
{
    struct error spoilt = {0};

    if (x->peer->target_bytes > TARGET_MAX_BYTES)
        return fail(&x->err, ERR_TARGET_LENGTH, "",
                    "path and query have %zu bytes, %d are allowed",
                    x->peer->target_bytes, TARGET_MAX_BYTES);
    x->message.path = decode(url, x->arena, x->err.code == OK ? &x->err : &spoilt);
    return OK;
}

/* What is wrong with the header as such; a mistake may be in x->err already. */
static enum error_code check_fields(struct exchange *x)
{
    if (x->header_bytes > HEADERS_MAX_BYTES)
        return fail(&x->err, ERR_HEADER_LENGTH, "",
                    "the header fields have %zu bytes, %d are allowed", x->header_bytes,
                    HEADERS_MAX_BYTES);
    return x->err.code;
}

static enum error_code check_header(struct exchange *x, const char *url,
                                    const char *version)
{
    struct http *h = x->http;
    struct message *m = &x->message;
    struct door_head head = {
        .method = m->method,
        .host = x->message.host,
        .origin = m->origin,
        .sec_fetch_site = x->sec_fetch_site,
        .host_needed = strcmp(version, MHD_HTTP_VERSION_1_0) != 0,
        .https = x->peer->trusted && x->forwarded_proto &&
                 strcasecmp(x->forwarded_proto, "https") == 0,
    };
    enum error_code code;
    char allow[80];

    TRY(check_target(x, url));
    TRY(check_fields(x));
    TRY(facade_mount(m, h->service->config->cws_mount, x->arena, &x->err));
    TRY(facade_take_key(m, x->arena, &x->err));
    TRY(door_check(&h->door, &head, &x->err));
    x->route = route_find_at(h->service, m, allow, &code);
    TRY(check_length(x));
    if (x->route && route_takes_body(x->route) && body_follows(x))
        TRY(route_check_content_type(x->route, m, !h->service->config->auth_required,
                                     x->arena, &x->err));
    return OK;
}

/* A request's header is there. */
static enum MHD_Result begin(struct exchange *x, const char *method, const char *url,
                             const char *version)
{
    struct message *m = &x->message;

    MHD_get_connection_values(x->connection, MHD_HEADER_KIND | MHD_GET_ARGUMENT_KIND,
                              take_value, x);
    m->method = method;
    m->entrance = (enum entrance)x->peer->entrance;
    find_client(x);
    m->query = x->query;
    if (check_header(x, url, version) == OK)
        return check_key(x);
    x->closing = x->err.code == ERR_MALFORMED; /* who knows where it ends */
    return refuse_early(x);
}

/* ---- the body ---- */

/* The rest of the body is read and thrown away; x->err says why. */
static void discard(struct exchange *x)
{
    x->state = DISCARDING;
    x->closing = x->err.code == ERR_BUSY;
    x->discarded_bytes = x->taken_bytes;
    x->taken_bytes = 0;
    body_release(&x->body);
}

/* Keeps what has come, or says in x->err why not. */
static void keep(struct exchange *x, const char *data, size_t length, size_t max_bytes)
{
    size_t most = x->has_length ? x->announced_bytes : max_bytes;
    size_t needed = x->taken_bytes + length;
    enum governor_answer answer;

    if (needed > max_bytes) {
        fail(&x->err, ERR_TOO_LARGE, "", "the body has more than %zu bytes", max_bytes);
        too_large(x);
        return;
    }
    answer = body_add(&x->body, data, length, most < needed ? needed : most, may_pack(x));
    if (answer != GOVERNOR_OK)
        body_fail(&x->body, answer, needed, &x->err);
    else
        x->taken_bytes = needed;
}

/* Bytes that say something, which an empty object does not. */
static size_t meant_bytes(const char *data, size_t length)
{
    size_t count = 0;

    for (size_t i = 0; i < length; i++)
        count += data[i] == '\0' || !strchr(" \t\r\n{}", data[i]);
    return count;
}

static enum MHD_Result take_body(struct exchange *x, const char *data, size_t length)
{
    size_t max_bytes = route_body_limit(x->route, x->http->service->config);
    bool kept = x->state == READING;

    if (kept) {
        keep(x, data, length, max_bytes);
        kept = x->err.code == OK;
        if (!kept)
            discard(x);
    }
    if (!kept) {
        x->discarded_bytes += length;
        x->message.stray_bytes += meant_bytes(data, length);
    }
    __atomic_store_n(&x->peer->bytes, x->taken_bytes + x->discarded_bytes,
                     __ATOMIC_RELAXED);
    return x->discarded_bytes > 2 * max_bytes ? MHD_NO : MHD_YES; /* enough is enough */
}

/* ---- the answer ---- */

static void query(void *context);
static void computed(void *context, enum governor_answer answer);

/* To the governor, for a step that talks to the database; the connection is suspended.
 * What it takes of memory is leased as it is taken. */
static enum governor_answer submit_query(struct exchange *x, void (*run)(void *),
                                         void (*ended)(void *, enum governor_answer))
{
    struct governor *governor = x->http->service->governor;

    governor_give(governor, &x->job.work, SIZE_MAX); /* of an earlier step */
    x->estimate_bytes = 0;
    x->message.job = &x->job;
    x->job = (struct governor_job){
        .queue = GOVERNOR_QUERY,
        .cancelled = run == query ? &x->peer->cancelled : NULL,
        .run = run,
        .ended = ended,
        .context = x,
    };
    return governor_submit(governor, &x->who, &x->job);
}

/* On the timer's thread: it is time for the next step of who waits for a key. */
static void wake(struct waiter *waiter)
{
    struct attempt *attempt =
        (struct attempt *)((char *)waiter - offsetof(struct attempt, waiter));
    struct exchange *x = attempt->exchange;

    if (submit_query(x, query, computed) != GOVERNOR_OK)
        idempotency_wait(x->http->service->idempotency, waiter, KEYED_POLL_S);
}

/* The reply is there: the exchange belongs to the I/O thread again after the resume. */
static void resume(struct exchange *x)
{
    struct http *h = x->http;

    x->state = ANSWERED;
    MHD_resume_connection(x->connection);
    subtract(&h->working_count, 1);
}

static void submit(struct exchange *x);

/* The next step of a request with a key, wherever that is to be; x->needs is what the
 * last one said. */
static void proceed(struct exchange *x)
{
    struct idempotency *keys = x->http->service->idempotency;

    if (x->needs == ROUTE_NEEDS_COMPUTE) {
        submit(x);
        return;
    }
    if (x->needs == ROUTE_NEEDS_TIME) {
        if (x->attempt->watch.is_set
                ? session_watch_wait(x->http->service->watch, &x->attempt->watch)
                : idempotency_wait(keys, &x->attempt->waiter, KEYED_POLL_S))
            return;
        refuse_busy(x); /* the service ends */
    }
    resume(x);
}

/* ---- queries ---- */

/* In a slot for queries. */
static void query(void *context)
{
    struct exchange *x = context;
    struct service *service = x->http->service;

    x->needs = ROUTE_ANSWERED;
    if (x->attempt)
        x->needs = route_step(service, &x->message, &x->peer->cancelled, true, x->attempt,
                              &x->reply, x->arena);
    else
        route_answer(service, &x->message, &x->peer->cancelled, true, &x->reply,
                     x->arena);
}

static const double LATE_S = 30; /* beyond the time that a request waits for news */

/* Who would wait for news of a session, or has, waits a little more when too many come,
 * or get them, at once: a queue that is full is no answer to them. */
static bool waits_on(struct exchange *x, enum governor_answer answer)
{
    struct idempotency *keys = x->http->service->idempotency;

    return (answer == GOVERNOR_BUSY || answer == GOVERNOR_QUOTA_CONCURRENT) &&
           x->attempt && x->route->flags & ROUTE_WAITS &&
           clock_monotonic_s() < fmax(x->started_s, x->attempt->wait_until_s) + LATE_S &&
           idempotency_wait(keys, &x->attempt->waiter, KEYED_POLL_S);
}

static enum MHD_Result start_query(struct exchange *x)
{
    enum governor_answer answer;

    x->state = WORKING;
    add(&x->http->working_count, 1);
    peer_enter(x->peer, PHASE_RUNNING);
    MHD_suspend_connection(x->connection); /* before a thread may resume it */
    answer = submit_query(x, query, computed);
    if (answer != GOVERNOR_OK && !waits_on(x, answer)) {
        refuse_work(x, answer);
        resume(x);
    }
    return MHD_YES;
}

/* ---- computations ---- */

/* In a slot of the governor. */
static void compute(void *context)
{
    struct exchange *x = context;

    work_memory_enter(&x->memory, &x->job);
    if (x->attempt)
        x->needs = route_step(x->http->service, &x->message, &x->peer->cancelled, true,
                              x->attempt, &x->reply, x->arena);
    else
        x->needs = route_answer(x->http->service, &x->message, &x->peer->cancelled, true,
                                &x->reply, x->arena)
                       ? ROUTE_ANSWERED
                       : ROUTE_NEEDS_ROOM;
    if (x->needs != ROUTE_ANSWERED) /* another step begins anew, with its own lease */
        arena_rewind(x->arena, x->header);
    work_memory_leave(&x->memory);
}

/* What was answered has taken as much as it has taken. */
static void learn(struct exchange *x)
{
    const struct service *service = x->http->service;

    if (x->reply.status >= 499 || x->estimate_bytes == 0)
        return;
    estimate_learn(service->estimates, x->route,
                   x->route->flags & ROUTE_STREAMS ? x->body_bytes : x->body.length,
                   x->memory.most_bytes);
    metrics_estimate(service->metrics, x->route,
                     (double)x->memory.most_bytes / (double)x->estimate_bytes);
}

/* In a slot for queries: the key of a request that cannot be computed now. */
static void give_back(void *context)
{
    struct exchange *x = context;

    keyed_give_back(x->http->service, x->attempt, x->arena);
}

/* A key that was not given back is free when its lease has ended. */
static void gave_back(void *context, enum governor_answer answer)
{
    (void)answer;
    resume(context);
}

static void computed(void *context, enum governor_answer answer)
{
    struct exchange *x = context;

    if (answer == GOVERNOR_OK || answer == GOVERNOR_BUSY)
        metrics_queue_wait(x->http->service->metrics, x->route, x->job.wait_s);
    if (answer != GOVERNOR_OK)
        refuse_work(x, answer);
    else if (x->needs == ROUTE_ANSWERED)
        learn(x);
    work_memory_trim(&x->memory); /* the reply keeps what it is in */
    if (answer == GOVERNOR_OK)
        proceed(x);
    else if (!x->attempt || submit_query(x, give_back, gave_back) != GOVERNOR_OK)
        resume(x);
}

static void estimate(struct exchange *x)
{
    const struct service *service = x->http->service;

    x->body_bytes =
        estimate_body_bytes(&x->message, route_body_limit(x->route, service->config));
    x->estimate_bytes = estimate_bytes(service->estimates, x->route, x->body_bytes,
                                       service->config->request_memory_bytes);
    x->header = arena_mark(x->arena);
}

/* To the governor; the connection is suspended. */
static void submit(struct exchange *x)
{
    struct service *service = x->http->service;
    enum governor_answer answer;

    governor_give(service->governor, &x->job.work, SIZE_MAX); /* of an earlier step */
    estimate(x);
    x->message.job = &x->job;
    x->job = (struct governor_job){
        .queue = GOVERNOR_COMPUTE,
        .work_bytes = x->estimate_bytes,
        .est_s = fmin(service->config->time_limit_max_s,
                      route_estimate_s(x->route, x->body_bytes)),
        .cancelled = &x->peer->cancelled,
        .run = compute,
        .ended = computed,
        .context = x,
    };
    answer = governor_submit(service->governor, &x->who, &x->job);
    if (answer != GOVERNOR_OK && !waits_on(x, answer))
        computed(x, answer);
}

static enum MHD_Result start_computing(struct exchange *x)
{
    x->state = WORKING;
    add(&x->http->working_count, 1);
    peer_enter(x->peer, PHASE_RUNNING);
    MHD_suspend_connection(x->connection); /* before a thread may resume it */
    submit(x);
    return MHD_YES;
}

/* Answers on this I/O thread, unless the database is needed; the owner pays for it, if
 * others are kept waiting. Such work is short: what passes is what it uses. */
static bool answer_inline(struct exchange *x)
{
    struct service *service = x->http->service;
    double began_s = clock_monotonic_s();
    bool is_answered = route_answer(service, &x->message, &x->peer->cancelled, false,
                                    &x->reply, x->arena);

    if (service->governor && x->route && x->route->scope != SCOPE_NONE)
        governor_charge(service->governor, GOVERNOR_COMPUTE, &x->who,
                        clock_monotonic_s() - began_s);
    return is_answered;
}

/* The whole request is there. */
static enum MHD_Result answer(struct exchange *x)
{
    struct service *service = x->http->service;
    struct message *m = &x->message;
    enum route_work kind = WORK_INLINE;

    peer_enter(x->peer, PHASE_RUNNING); /* the client is not waited for any more */
    if (x->err.code == OK) {
        enum governor_answer ended = body_end(&x->body);

        if (ended != GOVERNOR_OK)
            body_fail(&x->body, ended, x->taken_bytes, &x->err);
    }
    if (x->err.code != OK) {
        refuse(x);
        return send_reply(x);
    }
    if (x->body.data)
        x->body.data[x->body.length] = '\0';
    m->body = x->body.length ? x->body.data : "";
    m->body_length = x->body.length;
    m->received = &x->body;
    m->memory = &x->memory;
    m->route = x->route;
    if (x->granted_at_s > 0 && clock_monotonic_s() < x->granted_at_s + AUTH_FRESH_S)
        m->grant = &x->grant; /* else the body took so long that the key is old news */
    if (x->route)
        kind = route_work_of(x->route, m);
    if (kind == WORK_QUERY && service->idempotency && route_has_steps(x->route, m))
        x->attempt = attempt_create(x, wake, &x->peer->cancelled);
    if (kind == WORK_COMPUTE)
        return start_computing(x);
    if (kind == WORK_INLINE && answer_inline(x)) {
        x->state = ANSWERED;
        return send_reply(x);
    }
    return start_query(x);
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
                               .body = x->body};
        lease_from(x);
        x->started_s = clock_monotonic_s();
        __atomic_store_n(&peer->cancelled, false, __ATOMIC_RELAXED);
        __atomic_store_n(&peer->bytes, 0, __ATOMIC_RELAXED);
        return begin(x, method, url, version);
    }
    if (*upload_data_size) {
        size_t length = *upload_data_size;

        *upload_data_size = 0;
        return take_body(x, upload_data, length);
    }
    if (x->state == LOOKED)
        return go_on(x);
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

/* Who is at the other end; false: there are too many connections from there. */
static bool meet(struct http *h, struct peer *peer, const struct sockaddr *from)
{
    peer->has_address = from && address_of_socket(from, &peer->address);
    if (!peer->has_address) {
        strcpy(peer->owner, "unix");
        return true;
    }
    address_owner(&peer->address, peer->owner);
    peer->trusted = network_list_has(&h->trusted_proxies, &peer->address);
    if (peer->trusted)
        return true;
    peer->counted = crowd_enter(h->crowd, &peer->address);
    return peer->counted;
}

static void connection_changed(void *context, struct MHD_Connection *connection,
                               void **socket_context,
                               enum MHD_ConnectionNotificationCode code)
{
    const struct gate *gate = context;
    struct http *h = gate->http;
    const union MHD_ConnectionInfo *info;
    struct peer *peer = *socket_context;

    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (peer && peer->counted)
            crowd_leave(h->crowd, &peer->address);
        if (peer)
            watch_remove(h->watch, peer);
        *socket_context = NULL;
        return;
    }
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    peer = info ? watch_add(h->watch, info->connect_fd) : NULL;
    *socket_context = peer;
    if (peer)
        peer->entrance = (int)gate->entrance;
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (peer && !meet(h, peer, info ? info->client_addr : NULL))
        shutdown(peer->fd, SHUT_RDWR); /* the library notices */
}

/* The request line is there: from now on the header must come. */
static void *request_line_seen(void *context, const char *uri,
                               struct MHD_Connection *connection)
{
    struct peer *peer = peer_of(connection);

    (void)context;
    if (peer) {
        peer_enter(peer, PHASE_HEADER);
        peer->target_bytes = strlen(uri);
    }
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

static enum error_code start_daemon(struct gate *gate, size_t limit, size_t thread_count,
                                    struct error *err)
{
    struct http *h = gate->http;
    const struct config *config = h->service->config;
    struct MHD_OptionItem options[] = {
        OPTION(MHD_OPTION_EXTERNAL_LOGGER, library_log, h), /* first, as it asks */
        OPTION(MHD_OPTION_LISTEN_SOCKET, gate->fd, NULL),
        OPTION(MHD_OPTION_NOTIFY_COMPLETED, request_completed, h),
        OPTION(MHD_OPTION_NOTIFY_CONNECTION, connection_changed, gate),
        OPTION(MHD_OPTION_URI_LOG_CALLBACK, request_line_seen, h),
        OPTION(MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, h),
        OPTION(MHD_OPTION_CONNECTION_LIMIT, limit, NULL),
        OPTION(MHD_OPTION_CONNECTION_TIMEOUT, config->keepalive_timeout_s + 1, NULL),
        OPTION(MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES, NULL),
        OPTION(MHD_OPTION_THREAD_STACK_SIZE, IO_STACK_BYTES, NULL),
        /* 1 would add one check, of a Host header, and answer it in HTML: door.h has it
         */
        OPTION(MHD_OPTION_STRICT_FOR_CLIENT, 0, NULL),
        OPTION(MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, NULL),
        OPTION(MHD_OPTION_THREAD_POOL_SIZE, thread_count, NULL),
        OPTION(MHD_OPTION_END, 0, NULL),
    };

    if (thread_count == 1) /* no pool: the daemon's own thread */
        options[sizeof(options) / sizeof(options[0]) - 2].option = MHD_OPTION_END;
    gate->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
        NULL, NULL, access_handler, h, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
    if (!gate->daemon)
        return fail(err, ERR_INTERNAL, "", "the HTTP library does not start: %s",
                    strerror(errno));
    return OK;
}

static enum error_code open_gates(struct http *h, size_t limit, struct error *err)
{
    const struct config *config = h->service->config;
    struct gate *first = &h->gates[ENTRANCE_FIRST], *admin = &h->gates[ENTRANCE_ADMIN],
                *local = &h->gates[ENTRANCE_UNIX];

    if (config->has_admin)
        TRY(listen_tcp(*config->admin_bind ? config->admin_bind : config->bind,
                       config->admin_port, "admin_", &admin->fd, &admin->port, err));
    if (*config->unix_socket)
        TRY(listen_unix(config->unix_socket, &local->fd, &h->unix_path, err));
    TRY(start_daemon(first, limit, config->io_threads, err));
    if (admin->fd >= 0)
        TRY(start_daemon(admin, ADMIN_CONNECTIONS, 1, err));
    if (local->fd >= 0)
        TRY(start_daemon(local, limit, 1, err));
    return OK;
}

/* Ends the threads and closes all connections. */
static void close_gates(struct http *h)
{
    for (int i = ENTRANCE_UNIX; i >= ENTRANCE_FIRST; i--) {
        struct gate *gate = &h->gates[i];

        if (gate->daemon)
            MHD_stop_daemon(gate->daemon); /* it closes the listener */
        else if (gate->fd >= 0)
            close(gate->fd);
        gate->fd = -1;
    }
}

static void release(struct http *h)
{
    close_gates(h);
    listen_unix_remove(&h->unix_path);
    watch_close(h->watch);
    crowd_close(h->crowd);
    lookup_line_close(h->lookups);
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
    const char *bad;

    network_list_read(config->trusted_proxies, &h->trusted_proxies, &bad);
    gethostname(h->machine, sizeof(h->machine) - 1);
    h->door = (struct door){
        .keys_required = config->auth_required,
        .allowed_hosts = config->allowed_hosts,
        .cors_origins = config->cors_origins,
        .machine = h->machine,
        .public_url = config->public_url,
    };
    h->crowd = crowd_create(config->connections_per_address, limit);
    h->lookups =
        lookup_line_create(h->service->lookups, lookups_at_once(config->query_workers),
                           config->query_queue_length);
    if (!h->crowd || !h->lookups)
        return fail(err, ERR_INTERNAL, "", "no memory for the server");
    TRY(listen_tcp(config->bind, config->port, "", &h->gates[ENTRANCE_FIRST].fd,
                   &h->gates[ENTRANCE_FIRST].port, err));
    h->watch = watch_create(&(struct watch_limits){
        .header_s = config->header_timeout_s,
        .idle_s = config->keepalive_timeout_s,
        .transfer_s = config->body_timeout_s,
        .transfer_bytes_per_s = (double)config->body_bytes_per_s,
        .peers_max = limit,
    });
    if (!h->watch)
        return fail(err, ERR_INTERNAL, "", "no memory or thread for the watcher");
    return open_gates(h, limit, err);
}

enum error_code http_start(struct service *service, struct http **http, struct error *err)
{
    struct http *h = calloc(1, sizeof(*h));
    enum error_code code;

    if (!h)
        return fail(err, ERR_INTERNAL, "", "no memory for the server");
    h->service = service;
    for (int i = ENTRANCE_FIRST; i <= ENTRANCE_UNIX; i++)
        h->gates[i] = (struct gate){.http = h, .entrance = (enum entrance)i, .fd = -1};
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
    return http->gates[ENTRANCE_FIRST].port;
}

int http_admin_port(const struct http *http)
{
    return http->gates[ENTRANCE_ADMIN].port;
}

void http_stats(struct http *http, struct http_stats *stats)
{
    struct governor_stats memory = {0};
    struct watch_stats peers;

    watch_stats(http->watch, &peers);
    if (http->service->governor)
        governor_stats(http->service->governor, &memory);
    *stats = (struct http_stats){
        .connection_count = peers.peer_count,
        .request_count = get(&http->request_count),
        .body_bytes = memory.leased_bytes[GOVERNOR_BODY],
        .slow_count = peers.slow_count,
        .idle_count = peers.idle_count,
        .gone_count = peers.gone_count,
        .refused_count = get(&http->refused_count),
    };
}

/* Takes the listening sockets away from the library by putting something that is
 * never ready under their numbers. MHD_quiesce_daemon() is not for us: with epoll it
 * races with the library's own threads, which then end the process. */
void http_drain(struct http *http)
{
    int nothing = eventfd(0, EFD_CLOEXEC);

    __atomic_store_n(&http->service->draining, true, __ATOMIC_RELAXED);
    if (nothing < 0)
        return; /* no files left; then we go on taking connections */
    for (int i = ENTRANCE_FIRST; i <= ENTRANCE_UNIX; i++)
        if (http->gates[i].fd >= 0)
            dup3(nothing, http->gates[i].fd, O_CLOEXEC);
    close(nothing);
    listen_unix_remove(&http->unix_path);
}

/* Waits until no request is under way or may be on its way, at most limit_s. Each
 * client that is still at work is told with its next reply that the connection ends. */
static bool wait_for_quiet(const struct http *http, double limit_s)
{
    double end_s = clock_monotonic_s() + limit_s;

    while (get(&http->request_count) > 0 || watch_expected(http->watch, RECENT_MS) > 0) {
        if (clock_monotonic_s() >= end_s)
            return false;
        usleep(POLL_MS * 1000);
    }
    return true;
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
    if (!wait_for_quiet(http, grace_s))
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
    release(http);
}
