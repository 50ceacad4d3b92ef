/* route.c - the way of one request: match, authenticate, limit, decode, bind,
 * run, print, encode. */
#include "service/route.h"

#include "service/admission.h"
#include "service/auth.h"
#include "service/body.h"
#include "service/clock.h"
#include "service/config.h"
#include "service/door.h"
#include "service/etag.h"
#include "service/facade.h"
#include "service/governor.h"
#include "service/gzip.h"
#include "service/hash.h"
#include "service/json_scan.h"
#include "service/keyed.h"
#include "service/log.h"
#include "service/metrics.h"
#include "service/nearest.h"
#include "service/openapi.h"
#include "service/problem.h"
#include "service/service.h"
#include "service/session_cache.h"
#include "service/store.h"
#include "service/stored_hint.h"
#include "service/uuid.h"
#include "service/work_memory.h"
#include "service/xml_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum {
    EARLY_BYTES = 5,                   /* "/v1/" and one more */
    INLINE_BODY_MAX_BYTES = 64 * 1024, /* and INLINE_MAX_S: else it takes too long */
    RAW_BODIES = ROUTE_MERGE_PATCH | ROUTE_RAW_BODY | ROUTE_TEXT_BODY | ROUTE_FACADE,
    FACADE_BODY_MAX_BYTES = 16 * 1024 * 1024,
};

static const double OPERATIONS_PER_S = 2e8;
static const double INLINE_MAX_S = 0.002; /* on an I/O thread */

/* ---- finding the row ---- */

/* Whether `path` is an instance of the template. */
static bool path_fits(const char *template, const char *path)
{
    while (*template && *path) {
        if (*template == '*')
            return true;
        if (*template == '{') {
            size_t length = strcspn(path, "/");

            if (length == 0)
                return false;
            template += strcspn(template, "}") + 1;
            path += length;
        } else if (*template ++ != *path++) {
            return false;
        }
    }
    return (!*template || *template == '*') && !*path;
}

/* Whether they differ in their first bytes: most do, and this is quick. */
static inline bool differs_early(const char *template, const char *path)
{
    size_t i = 0;

    while (i < EARLY_BYTES && path[i] && template[i] == path[i])
        i++;
    return i < EARLY_BYTES && template[i] != path[i] && template[i] != '{' &&
           template[i] != '*';
}

/* Copies the values of the template's {names}, and what its * stands for. */
static enum error_code read_path_values(struct request *rq)
{
    const char *template = rq->route->path, *path = rq->message->path;
    size_t count = 0;

    while (*template && (*path || *template == '*')) {
        if (*template == '*') {
            rq->path_value[count] = path;
            return OK;
        }
        if (*template == '{') {
            size_t length = strcspn(path, "/");

            if (count < ROUTE_PATH_VALUES_MAX) {
                rq->path_value[count] = arena_try_text(rq->arena, path, length);
                if (!rq->path_value[count++])
                    return fail_memory(rq->err);
            }
            template += strcspn(template, "}") + 1;
            path += length;
        } else {
            template ++;
            path++;
        }
    }
    return OK;
}

/* The row whose path has no {names}, by halves; NULL: none, or the table is not sorted.
 */
static const struct route *find_literal(const struct route *table, const char *method,
                                        const char *path)
{
    size_t low = 0, high = 0;

    while (table[high].method)
        high++;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(table[middle].path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; table[low].method && strcmp(table[low].path, path) == 0; low++)
        if (strcmp(table[low].method, method) == 0)
            return &table[low];
    return NULL;
}

const struct route *route_find(const struct route *table, const char *method,
                               const char *path, char *allow, enum error_code *code)
{
    const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
    const struct route *found = find_literal(table, wanted, path);
    bool path_exists = false;

    allow[0] = 0;
    *code = OK;
    if (found)
        return found;
    for (const struct route *r = table; r->method; r++) {
        bool literal;

        if (differs_early(r->path, path) || !path_fits(r->path, path))
            continue;
        literal = found && !strchr(found->path, '{');
        path_exists = true;
        if (strlen(allow) + strlen(r->method) + 8 < 64) {
            strcat(allow, r->method);
            strcat(allow, strcmp(r->method, "GET") == 0 ? ", HEAD, " : ", ");
        }
        if (strcmp(r->method, wanted) == 0 && !literal)
            found = r;
    }
    if (path_exists)
        strcat(allow, "OPTIONS");
    *code = found ? OK : path_exists ? ERR_METHOD : ERR_NOT_FOUND;
    return found;
}

/* ---- Prefer ---- */

/* Length of the preference that begins at `p`, without blanks behind it. */
static size_t preference_length(const char *p)
{
    size_t length = strcspn(p, ",;");

    while (length && strchr(" \t", p[length - 1]))
        length--;
    return length;
}

struct preference preference_read(const char *prefer)
{
    struct preference found = {false, NAN};

    for (const char *p = prefer ? prefer : ""; *p;) {
        size_t length;
        char *end;

        p += strspn(p, " \t,");
        length = preference_length(p);
        if (length == 13 && strncasecmp(p, "respond-async", 13) == 0) {
            found.respond_async = true;
        } else if (length > 5 && strncasecmp(p, "wait=", 5) == 0 && isnan(found.wait_s)) {
            unsigned long wait_s = strtoul(p + 5, &end, 10);

            if (end == p + length && p[5] >= '0' && p[5] <= '9')
                found.wait_s = (double)wait_s;
        }
        p += strcspn(p, ",");
    }
    return found;
}

bool request_is_async(const struct request *rq)
{
    return rq->route->flags & ROUTE_ASYNC && !rq->replay && !rq->progress &&
           preference_read(rq->message->prefer).respond_async;
}

static bool has_parameter(const struct message *m, const char *name)
{
    for (size_t i = 0; i < m->query_count; i++)
        if (strcmp(m->query[i].name, name) == 0)
            return true;
    return false;
}

bool route_has_steps(const struct route *route, const struct message *m)
{
    if (route && route->flags & ROUTE_WAITS)
        return m->if_none_match && has_parameter(m, "wait_s");
    return m->idempotency_key && route && route->flags & ROUTE_IDEMPOTENT_KEY &&
           route->flags & ROUTE_LONG &&
           !(route->flags & ROUTE_ASYNC && preference_read(m->prefer).respond_async);
}

enum route_work route_work_of(const struct route *route, const struct message *m)
{
    if (route->flags & ROUTE_ASYNC && preference_read(m->prefer).respond_async)
        return WORK_QUERY;
    if (route_has_steps(route, m))
        return WORK_QUERY; /* the first step */
    if (route->work != WORK_INLINE)
        return route->work;
    if (m->idempotency_key && route->flags & ROUTE_IDEMPOTENT_KEY)
        return WORK_QUERY;
    return m->body_length > INLINE_BODY_MAX_BYTES || m->content_encoding ||
                   route_estimate_s(route, m->body_length) > INLINE_MAX_S
               ? WORK_COMPUTE
               : WORK_INLINE;
}

/* ---- what handlers use ---- */

void reply_header_add(struct reply *reply, const char *name, const char *value)
{
    if (reply->header_count < REPLY_HEADERS_MAX && value)
        reply->headers[reply->header_count++] = (struct reply_header){name, value};
}

enum error_code request_at_publish(struct request *rq, publish_fn *publish, void *context)
{
    struct publish_step *step = NEW(rq->arena, struct publish_step, 1);

    *step = (struct publish_step){publish, context, NULL};
    if (rq->publish_last)
        rq->publish_last->next = step;
    else
        rq->publish_first = step;
    rq->publish_last = step;
    return OK;
}

/* Who a request belongs to: the tenant, with keys off the address. */
static const char *request_owner(const struct request *rq)
{
    const char *address = rq->message->remote_address;

    return rq->principal.key_id[0] ? rq->principal.tenant : address ? address : "";
}

enum error_code request_db(struct request *rq, struct db_session **db)
{
    if (!rq->service->db)
        return fail(rq->err, ERR_UNAVAILABLE, "",
                    "the service runs without a database; set DATABASE_URL, or send all "
                    "inputs in the request");
    if (!rq->may_block)
        return fail(rq->err, ERR_WOULD_BLOCK, "", "the database is needed");
    if (!rq->db)
        rq->db = db_session_create(rq->service->db, rq->cancelled, rq->arena);
    if (!rq->db)
        return fail_memory(rq->err);
    db_session_set_caller(rq->db,
                          &(struct db_caller){request_owner(rq), rq->id, rq->deadline_s});
    *db = rq->db;
    return OK;
}

enum error_code request_reserve(struct request *rq, double bytes)
{
    size_t cap_bytes = arena_cap_bytes(rq->arena);
    size_t used_bytes = arena_used_bytes(rq->arena);

    if (!(bytes <= (double)cap_bytes - (double)used_bytes))
        return fail(rq->err, ERR_TOO_LARGE, "",
                    "the request needs %.0f bytes of memory, and one request may take "
                    "%zu; send a smaller one or raise GRIDPLAN_REQUEST_MEMORY_BYTES",
                    bytes + (double)used_bytes, cap_bytes);
    if (!rq->message->memory)
        return OK;
    return work_memory_reserve(rq->message->memory, (size_t)bytes, rq->err);
}

double request_elapsed_s(const struct request *rq)
{
    return clock_monotonic_s() - rq->started_s;
}

/* Asked between pieces of work of about a millisecond: here a computation is charged, and
 * parked while others have had less. Never while it holds a database connection. */
static double time_used(void *context)
{
    struct request *rq = context;
    double now_s = clock_monotonic_s();

    admission_look(rq, now_s);
    if (governor_look(rq->message->job, now_s, rq->deadline_s,
                      !db_session_holds_connection(rq->db)))
        now_s = clock_monotonic_s();
    if (rq->cancelled && __atomic_load_n(rq->cancelled, __ATOMIC_RELAXED))
        return 2;
    if (!(rq->deadline_s > rq->limited_from_s)) /* a limit below the clock's last digit */
        return 1;
    return (now_s - rq->limited_from_s) / (rq->deadline_s - rq->limited_from_s);
}

/* What has to be done when the time is up may take that long when nobody waits for it any
 * more, and when it is the service that ends: then the answer is still sent. */
#define FINISH_GRACE_S 0.03
#define DRAIN_GRACE_S  1

/* For what has to be done when the time is up. Without a client, what there is at the
 * end is wanted. */
static double finish_used(void *context)
{
    struct request *rq = context;
    double now_s = clock_monotonic_s(), grace_s = FINISH_GRACE_S;

    admission_look(rq, now_s);
    governor_look(rq->message->job, now_s,
                  rq->deadline_s > 0 ? rq->deadline_s
                                     : HUGE_VAL, /* being read: none yet */
                  !db_session_holds_connection(rq->db));
    if (rq->progress || !rq->cancelled ||
        !__atomic_load_n(rq->cancelled, __ATOMIC_RELAXED))
        return 0;
    if (rq->cancelled_at_s == 0)
        rq->cancelled_at_s = clock_monotonic_s();
    if (__atomic_load_n(&rq->service->draining, __ATOMIC_RELAXED))
        grace_s = DRAIN_GRACE_S;
    return clock_monotonic_s() - rq->cancelled_at_s >= grace_s ? 2 : 0;
}

static void open_budget(struct request *rq)
{
    rq->finish = (struct budget){.used = finish_used, .context = rq};
    rq->budget = rq->finish;
    rq->budget.no_steps = rq->no_steps;
    rq->budget.finish = &rq->finish;
}

double request_time_limit_max_s(const struct request *rq)
{
    const struct config *config = rq->service->config;
    double longest_s = rq->progress || (rq->route && request_is_async(rq))
                           ? config->simulation_time_limit_s
                           : config->time_limit_max_s;
    double quota_s = admission_time_limit_s(rq);

    return quota_s < longest_s ? quota_s : longest_s;
}

enum error_code request_check_time_limit(const struct request *rq, double time_limit_s)
{
    double longest_s = request_time_limit_max_s(rq);

    if (rq->replay || !(time_limit_s > longest_s))
        return OK;
    invalid(rq->err, "/time_limit_s", ITEM_OUT_OF_BOUNDS,
            "%.15g is more than the %.15g s that are in force here", time_limit_s,
            longest_s);
    error_allow_number(rq->err, longest_s);
    return ERR_INVALID;
}

void request_set_time_limit(struct request *rq, double time_limit_s)
{
    const struct config *config = rq->service->config;
    double longest_s =
        rq->progress ? config->simulation_time_limit_s : config->time_limit_max_s;
    double quota_s = admission_time_limit_s(rq);

    if (quota_s < longest_s)
        longest_s = quota_s;
    if (!(time_limit_s < longest_s))
        time_limit_s = longest_s;
    rq->limited_from_s = clock_monotonic_s();
    rq->deadline_s = rq->limited_from_s + time_limit_s;
    open_budget(rq);
    rq->budget.used = time_used;
}

/* ---- who asks, and how often ---- */

enum scope route_scope(const struct route *route, const struct message *m)
{
    if (route->scope == SCOPE_NONE || !m->key_in_path)
        return route->scope;
    return (enum scope)((unsigned)route->scope | SCOPE_IN_PATH);
}

static enum error_code check_key(struct request *rq, struct auth_grant *grant)
{
    const struct message *m = rq->message;

    switch (auth_check(rq->service->auth, m->authorization, m->remote_address,
                       route_scope(rq->route, m), rq->may_block, grant, rq->arena,
                       rq->err)) {
    case AUTH_NEEDS_DATABASE:
    case AUTH_NEEDS_REFRESH:
        return fail(rq->err, ERR_WOULD_BLOCK, "", "the key must be looked up");
    case AUTH_REFUSED:
        if (rq->err->code == ERR_UNAUTHENTICATED)
            reply_header_add(rq->reply, "WWW-Authenticate", AUTH_CHALLENGE);
        return rq->err->code;
    case AUTH_ALLOWED:
        break;
    }
    return OK;
}

static enum error_code authenticate(struct request *rq)
{
    struct auth_grant grant = {{"default", "", 0}, quota_none(), quota_none()};

    if (rq->message->grant)
        grant = *rq->message->grant;
    else
        TRY(check_key(rq, &grant));
    rq->principal = grant.who;
    rq->quota = grant.quota;
    rq->tenant_quota = grant.tenant_quota;
    return OK;
}

/* Whether it takes a computation to answer, which quotas of processor time bound. */
static bool computes(const struct route *route)
{
    return route->scope != SCOPE_NONE &&
           (route->work == WORK_COMPUTE || route->flags & ROUTE_DECISION);
}

/* What the key and its tenant may do, and how much of it. */
static enum error_code admit(struct request *rq)
{
    bool let_in; /* by an earlier step */
    bool again;

    TRY(keyed_begin(rq, &let_in));
    TRY(authenticate(rq));
    again = rq->message->memory && rq->message->memory->was_again;
    if (again)
        admission_show(rq); /* counted once */
    else if (!let_in)
        TRY(admission_request(rq));
    if (!let_in && computes(rq->route))
        TRY(admission_compute(rq));
    if (!let_in)
        keyed_admitted(rq);
    if (computes(rq->route))
        admission_begin(rq);
    return OK;
}

/* ---- headers that say what is acceptable ---- */

/* Whether one media range of an Accept header takes `type`. */
static bool range_takes(const char *range, size_t length, const char *type)
{
    size_t family = strcspn(type, "/") + 1;

    if (length == 3 && strncmp(range, "*/*", 3) == 0)
        return true;
    if (length == family + 1 && range[length - 1] == '*')
        return strncasecmp(range, type, family) == 0;
    return length == strlen(type) && strncasecmp(range, type, length) == 0;
}

/* The value of q of an entry of an Accept header; 1 without one. */
static double entry_quality(const char *entry, size_t length)
{
    const char *end = entry + length;

    for (const char *p = entry; (p = memchr(p, ';', (size_t)(end - p)));) {
        p++;
        p += strspn(p, " \t");
        if (end - p > 2 && (*p | 0x20) == 'q' && p[1] == '=')
            return strtod(p + 2, NULL);
    }
    return 1;
}

/* How much an Accept header wants `type`: q of the range that names it most precisely
 * (RFC 9110, 12.5.1), 0: not at all. */
static double quality(const char *accept, const char *type)
{
    size_t precision = 0;
    double found = 0;

    for (const char *p = accept; *p;) {
        size_t length, entry;

        p += strspn(p, " \t,");
        length = strcspn(p, " \t,;");
        entry = strcspn(p, ",");
        if (length && range_takes(p, length, type)) {
            bool any = p[length - 1] == '*';
            size_t here = !any ? 3 : length > 3 ? 2 : 1;

            if (here > precision)
                found = entry_quality(p, entry);
            else if (here == precision)
                found = fmax(found, entry_quality(p, entry));
            precision = here > precision ? here : precision;
        }
        p += entry;
    }
    return found;
}

static bool accepts(const char *accept, const char *type)
{
    return quality(accept, type) > 0;
}

enum { ANSWER_FLAGS = ROUTE_ANSWERS_TEXT | ROUTE_ANSWERS_CHART | ROUTE_ANSWERS_GRAPH };

static const struct answer_kind {
    unsigned flag;
    const char *type;
} answer_kinds[] = {
#define X(symbol, flag, type) {flag, type},
    ANSWER_FORMS(X)
#undef X
};

/* The form that fits best. */
static enum answer_form best_form(const struct route *route, const char *accept)
{
    size_t best = ANSWER_JSON;
    double wanted = quality(accept, answer_kinds[best].type);

    for (size_t i = ANSWER_JSON + 1; i < ANSWER_FORM_COUNT; i++) {
        double q = route->flags & answer_kinds[i].flag
                       ? quality(accept, answer_kinds[i].type)
                       : 0;

        if (q <= wanted)
            continue;
        wanted = q;
        best = i;
    }
    return (enum answer_form)best;
}

enum answer_form request_answer_form(const struct request *rq)
{
    const char *accept = rq->message->accept;

    if (rq->replay || rq->progress || !accept || !*accept)
        return ANSWER_JSON;
    return best_form(rq->route, accept);
}

bool request_prefers(const struct request *rq, const char *type, const char *usual)
{
    const char *accept = rq->message->accept;

    return accept && quality(accept, type) > quality(accept, usual);
}

void request_answer_as(struct request *rq, enum answer_form form, const char *text,
                       size_t length)
{
    rq->form = form;
    rq->drawn = (struct raw_body){text, length};
}

/* The types that an answer can be of, the usual one first. */
static size_t list_answer_types(const struct route *route,
                                const char *types[static ANSWER_FORM_COUNT])
{
    size_t count = 0;

    if (route->flags & ROUTE_METRICS) {
        types[count++] = "text/plain";
        types[count++] = "application/openmetrics-text";
        return count;
    }
    for (size_t i = ANSWER_JSON; i < ANSWER_FORM_COUNT; i++)
        if (i == ANSWER_JSON || route->flags & answer_kinds[i].flag)
            types[count++] = answer_kinds[i].type;
    return count;
}

static enum error_code check_accept(const struct request *rq)
{
    const char *accept = rq->message->accept;
    const char *types[ANSWER_FORM_COUNT];
    size_t count = list_answer_types(rq->route, types);
    struct text_buffer b = {.arena = rq->arena};

    /* What has one form only is answered in it: who asked must look anyway. */
    if (!accept || !*accept || count == 1 || accepts(accept, "application/problem+json"))
        return OK;
    for (size_t i = 0; i < count; i++) {
        if (accepts(accept, types[i]))
            return OK;
        text_addf(&b, "%s%s", i == 0 ? "" : ", ", types[i]);
    }
    TRY(text_finish(&b, rq->err));
    return fail(rq->err, ERR_NOT_ACCEPTABLE, "", "answers are %.*s; Accept was '%.100s'",
                (int)b.length, b.data, accept);
}

/* Whether the media type of a Content-Type header is `type`. */
static bool is_type(const char *content_type, const char *type)
{
    size_t length = strlen(type);

    return content_type && strncasecmp(content_type, type, length) == 0 &&
           strchr("; \t", content_type[length]);
}

static enum error_code check_text_type(const struct request *rq)
{
    static const char *const types[] = {"text/plain", "text/csv",
                                        "text/tab-separated-values",
                                        "application/octet-stream"};
    const char *type = rq->message->content_type;

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (!type || is_type(type, types[i]))
            return OK;
    return fail(rq->err, ERR_MEDIA_TYPE, "",
                "the body must be text/plain, text/csv, text/tab-separated-values or "
                "application/octet-stream; with curl: -H 'Content-Type: text/plain' "
                "--data-binary @FILE");
}

static const struct text_kind {
    unsigned flag;
    const char *type, *member;
} text_kinds[] = {
#define X(flag, type, member) {flag, type, member},
    ROUTE_TEXTS(X)
#undef X
};

static const struct text_kind json_kinds[] = {
#define X(flag, member) {flag, "application/json", member},
    ROUTE_JSON_TEXTS(X)
#undef X
};

enum {
    TEXT_KINDS = sizeof(text_kinds) / sizeof(text_kinds[0]),
    TEXT_FLAGS = ROUTE_TAKES_SWF | ROUTE_TAKES_WORKFLOW
};

static bool has_pair(const struct message *m, const char *name, const char *value)
{
    for (size_t i = 0; i < m->query_count; i++)
        if (strcmp(m->query[i].name, name) == 0 && strcmp(m->query[i].value, value) == 0)
            return true;
    return false;
}

/* What text the body is, of those that the route takes; NULL: none, JSON. */
static const struct text_kind *text_instead(const struct request *rq)
{
    for (size_t i = 0; i < TEXT_KINDS; i++)
        if (rq->route->flags & text_kinds[i].flag &&
            is_type(rq->message->content_type, text_kinds[i].type))
            return &text_kinds[i];
    if (rq->message->content_type &&
        !is_type(rq->message->content_type, "application/json"))
        return NULL;
    for (size_t i = 0; i < sizeof(json_kinds) / sizeof(json_kinds[0]); i++)
        if (rq->route->flags & json_kinds[i].flag &&
            has_pair(rq->message, "format", json_kinds[i].member))
            return &json_kinds[i];
    return NULL;
}

/* The content types that a route takes besides JSON, each with ", " before it. */
static const char *other_types(const struct request *rq)
{
    struct text_buffer b = {.arena = rq->arena};

    text_addf(&b, "%s", rq->route->flags & ROUTE_BULK ? ", application/x-ndjson" : "");
    text_addf(&b, "%s",
              rq->route->flags & ROUTE_TAKES_ROWS ? ", text/tab-separated-values" : "");
    for (size_t i = 0; i < TEXT_KINDS; i++)
        if (rq->route->flags & text_kinds[i].flag)
            text_addf(&b, ", %s", text_kinds[i].type);
    return b.failed ? "" : b.data;
}

static bool takes_rows(const struct request *rq)
{
    return rq->route->flags & ROUTE_TAKES_ROWS &&
           is_type(rq->message->content_type, "text/tab-separated-values");
}

/* The header that the route's body needs, as it is sent. */
static const char *send_type(const struct route *route)
{
    return route->flags & ROUTE_MERGE_PATCH
               ? "send Content-Type: application/merge-patch+json"
           : route->flags & ROUTE_TEXT_BODY ? "send Content-Type: text/plain"
                                            : "send Content-Type: application/json";
}

static enum error_code check_content_type(const struct request *rq)
{
    const char *type = rq->message->content_type;

    if (rq->route->flags & ROUTE_FACADE)
        return OK;
    if (rq->route->flags & ROUTE_TEXT_BODY)
        return check_text_type(rq);
    if (text_instead(rq))
        return OK;
    if (rq->route->flags & ROUTE_MERGE_PATCH &&
        (is_type(type, "application/merge-patch+json") ||
         is_type(type, "application/json")))
        return OK;
    if (takes_rows(rq))
        return OK;
    if (rq->route->flags & ROUTE_BULK &&
        (is_type(type, "application/x-ndjson") || is_type(type, "application/jsonl")))
        return OK;
    if (!(rq->route->flags & ROUTE_MERGE_PATCH) &&
        (!type || is_type(type, "application/json")))
        return OK;
    rq->err->hint = send_type(rq->route);
    return fail(rq->err, ERR_MEDIA_TYPE, "", "the body must be %s%s; with curl: -H '%s'",
                rq->err->hint + strlen("send Content-Type: "), other_types(rq),
                rq->err->hint + strlen("send "));
}

enum error_code route_check_content_type(const struct route *route,
                                         const struct message *m, bool required,
                                         struct arena *a, struct error *err)
{
    struct request rq = {.route = route, .message = m, .arena = a, .err = err};

    if (!m->content_type && required && !(route->flags & ROUTE_FACADE)) {
        err->hint = send_type(route);
        return fail(err, ERR_MEDIA_TYPE, "",
                    "the body has no Content-Type; with curl: -H '%s'",
                    err->hint + strlen("send "));
    }
    return check_content_type(&rq);
}

/* ---- the body ---- */

size_t route_body_limit(const struct route *r, const struct config *config)
{
    if (r && r->flags & ROUTE_FACADE && FACADE_BODY_MAX_BYTES < config->max_body_bytes)
        return FACADE_BODY_MAX_BYTES;
    if (r && r->flags & ROUTE_STREAMS && /* it is never there as a whole */
        config->max_upload_bytes > config->max_body_bytes)
        return config->max_upload_bytes;
    return config->max_body_bytes;
}

/* Kinds of rows, the first that fits: what it has of these flags, and where it is
 * answered. Both were measured: of the rows that are answered inline the slowest, with
 * as many sites as fit, takes 95 ns for a byte; what searches takes many times that. */
static const struct {
    unsigned flags; /* any of them; 0: whatever it has */
    bool is_inline; /* answered by an I/O thread */
    struct route_cost cost;
} kinds[] = {
    {ROUTE_BULK | ROUTE_TEXT_BODY, false, {4, 20}}, /* stored */
    {ROUTE_DECISION, true, {64, 20}},               /* formulas */
    {ROUTE_DECISION, false, {64, 1000}},            /* searches, simulations */
    {0, true, {20, 20}},
    {0, false, {20, 1000}},
};

struct route_cost route_cost(const struct route *r)
{
    size_t i = 0;

    while ((kinds[i].flags && !(kinds[i].flags & r->flags)) ||
           (kinds[i].is_inline && r->work != WORK_INLINE))
        i++;
    return kinds[i].cost;
}

double route_estimate_s(const struct route *r, size_t body_bytes)
{
    return route_cost(r).operations_per_byte * (double)body_bytes / OPERATIONS_PER_S;
}

bool route_takes_body(const struct route *route)
{
    return route->request || route->flags & RAW_BODIES;
}

static enum error_code decode_body(const struct request *rq, struct content *body)
{
    const char *encoding = rq->message->content_encoding;
    size_t max_bytes = route_body_limit(rq->route, rq->service->config);
    struct body *received = rq->message->received;
    enum error_code code;

    *body = (struct content){rq->message->body, rq->message->body_length};
    if (received && received->is_inflated)
        *body = (struct content){received->data, received->length};
    if (!encoding || strcasecmp(encoding, "identity") == 0 ||
        (received && received->is_inflated))
        return OK;
    if (strcasecmp(encoding, "gzip") != 0 && strcasecmp(encoding, "x-gzip") != 0)
        return fail(rq->err, ERR_MEDIA_TYPE, "",
                    "Content-Encoding '%.60s' is not understood; use gzip or none",
                    encoding);
    if (rq->route->flags & ROUTE_STREAMS)
        return OK;
    if (received)
        code = body_inflate(received, max_bytes, rq->arena, rq->err);
    else
        code = gzip_inflate(body->text, body->length, max_bytes, &body->text,
                            &body->length, rq->arena, rq->err);
    if (code == OK && received)
        *body = (struct content){received->data, received->length};
    if (code == ERR_TOO_LARGE && !(rq->route->flags & ROUTE_FACADE))
        rq->err->hint = body_limit_hint(rq->route->flags & ROUTE_TEXT_BODY);
    return code;
}

/* ---- parts of the work that hold nothing but the arena ---- */

/* Binding, and the domain at work: what they compute takes memory without asking. */
struct part {
    enum error_code (*run)(struct request *rq, const struct part *part);
    struct request *rq;
    struct content *body;
    void **bound; /* what becomes of the body */
    const void *in;
    const struct publish_step *step;
    struct db_session *db;
    enum answer_form form; /* of `answer` */
    const char *answer;
    enum error_code code;
};

static void run_part(void *context)
{
    struct part *part = context;

    part->code = part->run(part->rq, part);
}

static enum error_code run(struct part *part)
{
    if (!arena_run(part->rq->arena, run_part, part))
        return fail_memory(part->rq->err);
    return part->code;
}

static enum error_code refuse_query(const struct request *rq)
{
    for (size_t i = 0; i < rq->message->query_count; i++) {
        invalid(rq->err, "?", ITEM_CONFLICT,
                "the parameter '%.60s' goes with a body that is no JSON; with JSON it "
                "is a member of the body",
                rq->message->query[i].name);
        error_place(rq->err, "query", rq->message->query[i].name);
    }
    return rq->err->code;
}

/* A copy of `text` that may stand in JSON: NUL bytes become '?', and bytes beyond ASCII
 * if it is not UTF-8. */
static const char *clean_text(const char *text, size_t length, struct arena *a)
{
    char *clean = arena_text(a, text, length);
    bool keep = json_is_utf8(text, length);

    for (size_t i = 0; i < length; i++)
        if (!clean[i] || (!keep && clean[i] & 0x80))
            clean[i] = '?';
    return clean;
}

/* What the body is has been said with it: no member of it. */
static void forget_format(struct request *rq)
{
    const struct json_field *f = rq->route->query->fields;

    while (f->type != JSON_END && strcmp(f->name, "format") != 0)
        f++;
    if (f->type == JSON_TYPE_CHOICE)
        *(int *)(void *)((char *)rq->query + f->offset) = -1;
}

/* ROUTE_TEXTS: the JSON that a text stands for. XML says how it is written; a log or a
 * task graph has characters beyond ASCII in comments only. */
static enum error_code text_to_json(struct request *rq, const struct part *part)
{
    struct content *body = part->body;
    const struct text_kind *kind = text_instead(rq);
    struct text_buffer b = {.arena = rq->arena};
    const char *text;
    char pointer[32];
    size_t length;

    if (!kind)
        return refuse_query(rq);
    if (strstr(kind->type, "/xml")) {
        snprintf(pointer, sizeof(pointer), "/%s", kind->member);
        TRY(xml_text_to_utf8(body->text, body->length, pointer, &text, &length, rq->arena,
                             rq->err));
    } else {
        text = clean_text(body->text, body->length, rq->arena);
    }
    b.prints_request = true;
    forget_format(rq);
    json_print(rq->route->query, rq->query, &b);
    b.length -= b.length > 0; /* its brace */
    text_addf(&b, "%s\"%s\":", b.length > 1 ? "," : "", kind->member);
    json_print_text(text, &b);
    text_add(&b, "}", 1);
    if (b.failed)
        arena_leave(rq->arena);
    *body = (struct content){b.data, b.length};
    return OK;
}

static enum error_code bind_bulk(struct request *rq, const struct content *body, void *in)
{
    const char *type = rq->message->content_type;
    bool is_json = !type || is_type(type, "application/json");

    return (is_json ? json_read_list : json_read_lines)(rq->route->request, body->text,
                                                        body->length, in, &rq->renames,
                                                        rq->arena, rq->err);
}

static enum error_code call_bind(struct request *rq, const struct part *part)
{
    const struct content *body = part->body;
    double begin_s = clock_monotonic_s();
    bool raw = rq->route->flags & RAW_BODIES;
    bool bulk = rq->route->flags & ROUTE_BULK;
    size_t size = raw    ? sizeof(struct raw_body)
                  : bulk ? sizeof(struct json_lines)
                         : rq->route->request->size;

    void *in = arena_alloc(rq->arena, size, 1);

    *part->bound = in;
    rq->body = body->text;
    rq->body_length = body->length;
    if (raw)
        *(struct raw_body *)in = (struct raw_body){body->text, body->length};
    else if (bulk && !takes_rows(rq))
        TRY(bind_bulk(rq, body, in));
    else if (!bulk)
        TRY(json_read(rq->route->request, body->text, body->length, in, &rq->renames,
                      rq->arena, rq->err));
    rq->parse_s = clock_monotonic_s() - begin_s;
    return OK;
}

/* Binds the body to a new struct as the route says. */
static enum error_code bind_body(struct request *rq, const struct content *body,
                                 void **in)
{
    struct content content = *body;

    return run(&(struct part){.run = call_bind, .rq = rq, .body = &content, .bound = in});
}

/* A text of the request's head in which bytes may stand as %XX. */
static enum error_code check_text(struct request *rq, const char *in, const char *name,
                                  const char *text)
{
    size_t length = strlen(text), good = json_utf8_length(text, length);

    if (good == length)
        return OK;
    fail(rq->err, ERR_MALFORMED, "",
         "the %s is not UTF-8: line 1, column %zu (byte %zu) of '%.60s'", in, good + 1,
         good + 1, text);
    rq->err->in = in;
    rq->err->name = name;
    rq->err->hint =
        "characters beyond ASCII are written as their bytes in UTF-8, each as "
        "%XX: %C3%A9 is an e with an acute accent";
    return rq->err->code;
}

/* What is not UTF-8 would reach the database, which cannot say where it was. */
static enum error_code check_head(struct request *rq)
{
    const struct message *m = rq->message;

    for (size_t i = 0; i < m->query_count; i++) {
        TRY(check_text(rq, "query", m->query[i].name, m->query[i].name));
        TRY(check_text(rq, "query", m->query[i].name, m->query[i].value));
    }
    return check_text(rq, "path", "path", m->path);
}

static enum error_code bind_query(struct request *rq, const struct part *part)
{
    static const struct json_field none[] = {{0}};
    struct json_object table = {NULL, "", 0, none};
    void *query;

    (void)part;
    if (!rq->route->query && rq->message->query_count == 0)
        return OK;
    if (rq->route->query)
        table = *rq->route->query;
    table.name =
        arena_printf(rq->arena, "the query of %s %s", rq->route->method, rq->route->path);
    query = arena_alloc(rq->arena, table.size, 1);
    rq->query = query;
    return json_read_query(&table, rq->message->query, rq->message->query_count, query,
                           &rq->renames, rq->arena, rq->err);
}

/* ---- running the handler ---- */

/* Where an answer says what the client should know: its row "warnings", and the struct
 * that has it. NULL: it has none. */
static const struct json_field *find_warnings(const struct json_object *table, void *out,
                                              char **base)
{
    const struct json_of_kind *of;
    const struct json_field *f;

    *base = out;
    if (table && table->fields->type == JSON_TYPE_KIND) {
        of = (void *)(*base + table->fields->offset);
        *base = of->value;
        table = table->fields->kinds[of->kind].of;
    }
    if (!table || !*base)
        return NULL;
    for (f = table->fields; f->type != JSON_END; f++)
        if (f->type == JSON_TYPE_TEXTS && strcmp(f->name, "warnings") == 0)
            return f;
    return NULL;
}

/* Counts the members that came under old names, and adds a warning for each name. */
static void tell_renames(struct request *rq)
{
    char *base;
    const struct json_field *f = find_warnings(rq->route->response, rq->out, &base);
    const struct json_rename *old = rq->renames.first;
    const char *const *before;
    const char **warnings;
    size_t count;

    if (!rq->replay)
        metrics_renamed(rq->service->metrics, rq->renames.total_count);
    if (!f || !old)
        return;
    before = *(const char *const *const *)(void *)(base + f->offset);
    count = *(size_t *)(void *)(base + f->count_offset);
    warnings = NEW(rq->arena, const char *, count + rq->renames.pair_count);
    for (size_t i = 0; i < count; i++)
        warnings[i] = before[i];
    for (; old; old = old->next)
        warnings[count++] =
            arena_printf(rq->arena, "renamed: '%s' is now '%s'", old->old, old->now);
    *(const char *const **)(void *)(base + f->offset) = warnings;
    *(size_t *)(void *)(base + f->count_offset) = count;
}

static enum error_code call_handler(struct request *rq, const struct part *part)
{
    const struct json_object *table = rq->route->response;

    rq->out = table ? arena_alloc(rq->arena, table->size, 1) : NULL;
    TRY(rq->route->handler(rq, part->in, rq->out));
    tell_renames(rq);
    return OK;
}

/* Runs the handler on a bound body. */
static enum error_code run_handler(struct request *rq, const void *in)
{
    return run(&(struct part){.run = call_handler, .rq = rq, .in = in});
}

static enum error_code call_publish(struct request *rq, const struct part *part)
{
    return part->step->publish(rq, part->db, part->step->context);
}

static enum error_code call_draw(struct request *rq, const struct part *part)
{
    return rq->service->draw(rq, part->form, part->answer);
}

enum error_code route_draw(struct request *rq, enum answer_form form, const char *answer)
{
    return run(
        &(struct part){.run = call_draw, .rq = rq, .form = form, .answer = answer});
}

enum error_code route_print(struct request *rq)
{
    const struct json_object *table = rq->route->response;
    struct text_buffer b = {.arena = rq->arena,
                            .prints_request = table == rq->route->request};

    if (!table || rq->reply->status == 204 || rq->reply->status == 304 || rq->reply->body)
        return OK;
    json_print(table, rq->out, &b);
    TRY(json_go_on(0, rq->err));
    TRY(text_finish(&b, rq->err));
    rq->reply->content_type = "application/json";
    rq->reply->body = b.data;
    rq->reply->body_length = b.length;
    return OK;
}

/* Sends the form that the client wanted, if the handler made it. */
void route_send_form(struct request *rq)
{
    if (rq->route->flags & (ANSWER_FLAGS | ROUTE_METRICS) &&
        strcmp(rq->route->method, "GET") == 0)
        reply_header_add(rq->reply, "Vary", "Accept");
    if (!rq->drawn.text || rq->replay)
        return;
    rq->reply->content_type =
        arena_try_printf(rq->arena, "%s%s", answer_kinds[rq->form].type,
                         rq->form == ANSWER_CHART ? "" : "; charset=utf-8");
    if (!rq->reply->content_type)
        rq->reply->content_type = answer_kinds[rq->form].type;
    rq->reply->body = rq->drawn.text;
    rq->reply->body_length = rq->drawn.length;
}

/* Keeps a decision that asked for it; the answer is already printed. One whose id comes
 * from a key may be there already: it stays as it is. */
static enum error_code keep_decision(struct request *rq, struct db_session *db,
                                     const struct content *body)
{
    unsigned char digest[SHA256_BYTES];
    struct store_decision decision = {
        .decision_id = rq->decision_id,
        .endpoint = rq->route->path,
        .algorithm = rq->algorithm,
        .api_revision = API_REVISION,
        .status = decision_status_names[rq->decision_status],
        .seed = rq->seed,
        .request = arena_try_text(rq->arena, body->text, body->length),
        .snapshot_document = rq->snapshot_document,
        .history_document = rq->history_document,
        .answer = rq->reply->body,
    };
    enum error_code code;

    if (!decision.request)
        return fail_memory(rq->err);
    hash_sha256(body->text, body->length, digest);
    decision.request_sha256 = (struct db_bytes){digest, sizeof(digest)};
    code = store_decision_create(db, rq->principal.tenant, &decision, rq->err);
    if (code != ERR_CONFLICT || !rq->keyed_id)
        return code;
    *rq->err = (struct error){.arena = rq->err->arena};
    return OK;
}

enum error_code route_content(struct request *rq, struct content *body)
{
    TRY(decode_body(rq, body));
    if (rq->route->flags & TEXT_FLAGS)
        TRY(run(&(struct part){.run = text_to_json, .rq = rq, .body = body}));
    return OK;
}

enum error_code route_run(struct request *rq, const struct content *body)
{
    void *in = NULL;

    if (route_takes_body(rq->route))
        TRY(bind_body(rq, body, &in));
    TRY(run_handler(rq, in));
    if (rq->store_decision)
        reply_header_add(
            rq->reply, "Location",
            arena_try_printf(rq->arena, "/v1/decisions/%s", rq->decision_id));
    return OK;
}

bool route_writes(const struct request *rq)
{
    return rq->publish_first || rq->store_decision;
}

enum error_code route_write(struct request *rq, struct db_session *db,
                            const struct content *body)
{
    for (const struct publish_step *step = rq->publish_first; step; step = step->next) {
        TRY(run(&(struct part){.run = call_publish, .rq = rq, .step = step, .db = db}));
        rq->reply->body = NULL; /* of an earlier try */
    }
    TRY(route_print(rq));
    return rq->store_decision ? keep_decision(rq, db, body) : OK;
}

struct writing {
    struct request *rq;
    const struct content *body;
};

static enum error_code write_all(struct db_session *db, void *context, struct error *err)
{
    const struct writing *w = context;

    (void)err; /* the request's */
    return route_write(w->rq, db, w->body);
}

/* What comes behind the handler when no key is there. */
static enum error_code finish_run(struct request *rq, const struct content *body)
{
    struct writing w = {rq, body};
    struct db_session *db;

    if (!route_writes(rq))
        return route_print(rq);
    TRY(request_db(rq, &db));
    if (!rq->publish_first || db_in_transaction(db))
        return route_write(rq, db, body);
    return db_transaction(db, write_all, &w, rq->err);
}

struct route_tries route_tries_begin(const struct request *rq)
{
    return (struct route_tries){.before = *rq, .reply = *rq->reply};
}

bool route_try_again(struct route_tries *tries, struct request *rq)
{
    const struct request now = *rq;

    if (!rq->overtaken || ++tries->count == ROUTE_PUBLISH_TRIES ||
        (rq->cancelled && __atomic_load_n(rq->cancelled, __ATOMIC_RELAXED)))
        return false;
    *rq = tries->before;
    rq->db = now.db;
    rq->cpu_began_s = now.cpu_began_s;
    rq->cpu_charged_at_s = now.cpu_charged_at_s;
    *rq->reply = tries->reply;
    *rq->err = (struct error){.arena = now.err->arena};
    return true;
}

enum error_code route_run_whole(struct request *rq, const struct content *body)
{
    struct route_tries tries = route_tries_begin(rq);
    enum error_code code;

    do {
        TRY(route_run(rq, body));
        code = finish_run(rq, body);
    } while (code != OK && route_try_again(&tries, rq));
    return code;
}

/* ---- the whole way ---- */

/* What is in a body that nobody reads would be ignored: of a DELETE, filters. Foreign
 * engines, which send what they like, are left alone. */
static enum error_code check_no_body(struct request *rq)
{
    const struct route *r = rq->route;

    if (rq->message->stray_bytes == 0 || r->flags & ROUTE_FACADE)
        return OK;
    return fail(rq->err, ERR_MALFORMED, "",
                "%s %s takes no body: what it takes is in path and query",
                rq->message->method, r->path);
}

static enum error_code answer(struct request *rq)
{
    const struct message *m = rq->message;
    bool has_body = route_takes_body(rq->route);
    struct content body;

    TRY(admit(rq));
    TRY(check_head(rq));
    if (!has_body)
        TRY(check_no_body(rq));
    TRY(read_path_values(rq));
    TRY(check_accept(rq));
    TRY(run(&(struct part){.run = bind_query, .rq = rq}));
    request_set_time_limit(rq, NAN);
    if (!has_body && (!rq->attempt || rq->route->flags & ROUTE_WAITS)) {
        TRY(run_handler(rq, NULL));
        if (rq->next != ROUTE_ANSWERED)
            return OK;
        TRY(route_print(rq));
        route_send_form(rq);
        return OK;
    }
    if (has_body)
        TRY(check_content_type(rq));
    if (rq->attempt)
        return keyed_step(rq);
    TRY(route_content(rq, &body));
    if (m->idempotency_key && rq->route->flags & ROUTE_IDEMPOTENT_KEY)
        TRY(keyed_store(rq, &body));
    else
        TRY(route_run_whole(rq, &body));
    route_send_form(rq);
    return OK;
}

const char *route_reply_header(const struct reply *reply, const char *name)
{
    for (size_t i = 0; i < reply->header_count; i++)
        if (strcasecmp(reply->headers[i].name, name) == 0)
            return reply->headers[i].value;
    return NULL;
}

static void apply_conditions(struct request *rq)
{
    const char *tag = route_reply_header(rq->reply, "ETag");
    bool reads = strcmp(rq->route->method, "GET") == 0;

    if (!reads || !tag || rq->reply->status != 200 ||
        !etag_matches_weakly(rq->message->if_none_match, tag))
        return;
    if (rq->reply->body_length >= GZIP_REPLY_MIN_BYTES)
        reply_header_add(rq->reply, "Vary", "Accept-Encoding"); /* as with the body */
    rq->reply->status = 304;
    rq->reply->body = NULL;
    rq->reply->body_length = 0;
}

static void compress(struct request *rq)
{
    struct reply *reply = rq->reply;

    if (reply->body_length < GZIP_REPLY_MIN_BYTES ||
        !gzip_accepted(rq->message->accept_encoding) ||
        route_reply_header(reply, "Content-Encoding"))
        return;
    json_count_on(&rq->finish);
    if (gzip_deflate(reply->body, reply->body_length, &reply->body, &reply->body_length,
                     rq->arena))
        reply_header_add(reply, "Content-Encoding", "gzip");
    json_count_on(NULL);
    reply_header_add(reply, "Vary", "Accept-Encoding");
}

static void add_cors(const struct config *config, const struct message *m,
                     struct reply *reply)
{
    const char *origin = m->origin;

    if (config->cors_origins[0])
        reply_header_add(reply, "Vary", "Origin");
    if (!origin || !door_allows_origin(config->cors_origins, origin))
        return;
    reply_header_add(reply, "Access-Control-Allow-Origin", origin);
    reply_header_add(reply, "Access-Control-Expose-Headers",
                     "Allow, Content-Encoding, ETag, Idempotency-Replayed, "
                     "Idempotency-Stored, Link, Location, Preference-Applied, RateLimit, "
                     "RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id");
    if (!m->access_control_request_method)
        return;
    reply_header_add(reply, "Access-Control-Allow-Methods",
                     "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
    reply_header_add(
        reply, "Access-Control-Allow-Headers",
        "Authorization, Content-Type, Content-Encoding, Idempotency-Key, If-Match, "
        "If-None-Match, Prefer, X-Request-Id, traceparent, tracestate");
    reply_header_add(reply, "Access-Control-Max-Age", "600");
}

/* An asset says itself how long it may be kept. What was asked for with a key, or made
 * for this request alone, is for nobody else. A client may keep the ETag itself. */
static void add_cache_control(const struct message *m, struct reply *reply)
{
    bool of_one = m->authorization || (m->method && strcmp(m->method, "POST") == 0);

    if (route_reply_header(reply, "Cache-Control"))
        return;
    reply_header_add(reply, "Cache-Control", of_one ? "no-store" : "no-cache");
}

/* Only characters that are safe in headers and logs. */
static bool is_safe_id(const char *id)
{
    size_t length =
        strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                   "-_.:/+=@");

    return length > 0 && !id[length] && length <= REQUEST_ID_MAX_BYTES;
}

/* 00-<32 hex>-<16 hex>-<2 hex> (W3C Trace Context). */
static bool is_traceparent(const char *text)
{
    static const size_t dashes[] = {2, 35, 52};
    size_t next = 0;

    if (!text || strlen(text) != 55)
        return false;
    for (size_t i = 0; i < 55; i++) {
        bool dash = next < 3 && i == dashes[next];

        if (dash ? text[i] != '-' : !strchr("0123456789abcdef", text[i]))
            return false;
        next += dash;
    }
    return strncmp(text, "ff", 2) != 0;
}

static void make_request_id(const char *given, char *id)
{
    if (given && is_safe_id(given))
        snprintf(id, REQUEST_ID_MAX_BYTES + 1, "%s", given);
    else
        uuid_make(id);
}

/* Of a request that was refused whole nothing was stored. */
static void count_rows(const struct request *rq)
{
    struct metrics_rows rows = rq->ingested;

    if (!rq->route || !(rq->route->flags & ROUTE_BULK) || rq->reply->status >= 500)
        return;
    if (rq->reply->status >= 400)
        rows = (struct metrics_rows){.refused_count = rows.refused_count};
    metrics_ingested(rq->service->metrics, rq->route, &rows);
}

/* The line in the log and the counts in the metrics. */
static void account(const struct request *rq)
{
    double started_s = rq->attempt ? rq->attempt->started_s : rq->started_s;
    double duration_s = clock_monotonic_s() - (started_s > 0 ? started_s : rq->started_s);
    bool traced = is_traceparent(rq->message->traceparent);
    struct log_access access = {
        .request_id = rq->id,
        .method = rq->message->method,
        .route = rq->route ? rq->route->path : NULL,
        .tenant = rq->principal.tenant,
        .key_id =
            rq->principal.key_id && *rq->principal.key_id ? rq->principal.key_id : NULL,
        .decision_id = rq->decision_id,
        .algorithm = rq->algorithm,
        .error = rq->reply->status >= 400 ? rq->err->text : NULL,
        .status = rq->reply->status,
        .duration_s = duration_s,
        .body_bytes = rq->message->body_length,
        .reply_bytes = rq->reply->body_length,
    };

    metrics_request(rq->service->metrics, rq->route, rq->reply->status, duration_s);
    if (rq->algorithm && rq->reply->status == 200)
        metrics_decision(rq->service->metrics, rq->route, rq->algorithm,
                         rq->decision_status, duration_s, rq->gap_ratio);
    count_rows(rq);
    access.is_probe = rq->route && rq->route->flags & ROUTE_PROBE;
    if (!log_wants(log_request_level(&access)))
        return;
    if (traced)
        access.trace_id = arena_try_text(rq->arena, rq->message->traceparent + 3, 32);
    log_request(&access);
}

const char *route_frame_ancestors(const struct request *rq)
{
    const char *given = rq->service->config->frame_ancestors;
    char *list = given && *given ? arena_try_text(rq->arena, given, strlen(given)) : NULL;

    if (!given || !*given)
        return "'none'";
    for (char *p = list; p && *p; p++)
        if (*p == ',')
            *p = ' ';
    return list;
}

/* A picture runs no script, also when it is shown as a document. */
static void add_picture_policy(struct request *rq)
{
    const char *type = rq->reply->content_type, *ancestors = route_frame_ancestors(rq);
    const char *policy = NULL;

    if (!type || strcmp(type, "image/svg+xml") != 0)
        return;
    if (ancestors)
        policy = arena_try_printf(
            rq->arena,
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors %s",
            ancestors);
    reply_header_add(rq->reply, "Content-Security-Policy",
                     policy ? policy : "default-src 'none'");
    if (!route_reply_header(rq->reply, "X-Content-Type-Options"))
        reply_header_add(rq->reply, "X-Content-Type-Options", "nosniff");
}

static void finish(struct request *rq)
{
    char *id = arena_try_text(rq->arena, rq->id, strlen(rq->id));

    reply_header_add(rq->reply, "X-Request-Id", id ? id : "out-of-memory");
    if (is_traceparent(rq->message->traceparent)) {
        reply_header_add(rq->reply, "traceparent", rq->message->traceparent);
        reply_header_add(rq->reply, "tracestate", rq->message->tracestate);
    }
    add_picture_policy(rq);
    add_cache_control(rq->message, rq->reply);
    add_cors(rq->service->config, rq->message, rq->reply);
    compress(rq);
    admission_end(rq);
    account(rq);
}

/* OPTIONS is answered for every path that exists. */
static enum error_code answer_options(struct request *rq, const char *allow)
{
    reply_header_add(rq->reply, "Allow", arena_try_text(rq->arena, allow, strlen(allow)));
    rq->reply->status = 204;
    return OK;
}

const struct route *route_find_at(const struct service *service, const struct message *m,
                                  char *allow, enum error_code *code)
{
    const struct route *route =
        route_find(service->routes, m->method, m->path, allow, code);
    bool here = m->entrance != ENTRANCE_ADMIN;
    const char *facade = route ? facade_of(m->path) : NULL;

    if (route && m->entrance == ENTRANCE_ADMIN)
        here = route->flags & ROUTE_PROBE;
    else if (route && m->entrance == ENTRANCE_FIRST && service->config->has_admin)
        here = !(route->flags & ROUTE_METRICS);
    if (facade && !facade_is_on(service->config->facades, facade))
        here = false;
    if (here)
        return route;
    *code = ERR_NOT_FOUND;
    return NULL;
}

/* What was not found is what a {name} of the path says: that of the failure's field, or
 * without a field the last. */
static void name_parameter(struct request *rq)
{
    const char *field = rq->err->field;
    const char *open = strrchr(rq->route->path, '{');
    size_t number = 0;
    char wanted[sizeof(rq->err->field) + 2];

    if (field[0]) {
        snprintf(wanted, sizeof(wanted), "{%s}", field + 1);
        open = strstr(rq->route->path, wanted);
    }
    if (!open)
        return;
    rq->err->in = "path";
    rq->err->name = arena_try_text(rq->arena, open + 1, strcspn(open + 1, "}"));
    if (!rq->err->name) {
        rq->err->in = NULL;
        return;
    }
    for (const char *p = rq->route->path; p < open; p++)
        number += *p == '{';
    if (number < ROUTE_PATH_VALUES_MAX && rq->path_value[number])
        stored_hint(rq, rq->err->name, rq->path_value[number]);
}

static enum error_code find_and_answer(struct request *rq)
{
    enum error_code code = OK;
    char allow[80];

    rq->route = rq->message->route
                    ? rq->message->route
                    : route_find_at(rq->service, rq->message, allow, &code);
    if (code == ERR_METHOD && strcmp(rq->message->method, "OPTIONS") == 0)
        return answer_options(rq, allow);
    if (!rq->route && code == ERR_NOT_FOUND && nearest_redirect(rq))
        return OK;
    if (!rq->route)
        return nearest_refuse(rq, code, allow);
    code = answer(rq);
    if (code == ERR_NOT_FOUND && !rq->err->item_count)
        name_parameter(rq);
    TRY(code);
    apply_conditions(rq);
    return OK;
}

/* A failure has nothing of what the answer would have been. */
static void drop_answer_headers(struct reply *reply)
{
    static const char *const names[] = {"ETag", "Link", "Location", "Preference-Applied"};
    size_t kept = 0;

    for (size_t i = 0; i < reply->header_count; i++) {
        bool drop = false;

        for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
            drop |= strcmp(reply->headers[i].name, names[n]) == 0;
        if (!drop)
            reply->headers[kept++] = reply->headers[i];
    }
    reply->header_count = kept;
}

/* A lack of memory that others have is no fault of the request. */
static enum error_code settle_code(const struct work_memory *memory, enum error_code code,
                                   struct error *err)
{
    return code == ERR_TOO_LARGE && err->lacks_lease && memory
               ? work_memory_fail(memory, err)
               : code;
}

/* Whether the reply is there; else rq->next says what is needed first. */
static bool is_answered(struct request *rq, enum error_code code)
{
    const struct work_memory *memory = rq->message->memory;

    if (code == ERR_WOULD_BLOCK && memory && memory->is_again)
        rq->next = ROUTE_NEEDS_ROOM;
    else if (code == ERR_WOULD_BLOCK && !rq->may_block)
        rq->next = ROUTE_NEEDS_DATABASE;
    else if (code != OK)
        rq->next = ROUTE_ANSWERED;
    return rq->next == ROUTE_ANSWERED;
}

enum route_next route_step(struct service *service, const struct message *m,
                           const bool *cancelled, bool may_block, struct attempt *attempt,
                           struct reply *reply, struct arena *a)
{
    struct error err = {.arena = a};
    struct session_hold hold = {.cache = service->sessions, .arena = a};
    struct request rq = {
        .service = service,
        .arena = a,
        .err = &err,
        .message = m,
        .held = &hold,
        .principal = {"default", "", 0},
        .may_block = may_block,
        .cancelled = cancelled,
        .reply = reply,
        .started_s = clock_monotonic_s(),
        .quota = quota_none(),
        .tenant_quota = quota_none(),
        .cpu_began_s = NAN,
        .gap_ratio = NAN,
        .attempt = attempt,
    };
    enum error_code code;

    open_budget(&rq);
    json_count_on(&rq.finish);
    if (attempt && attempt->request_id[0])
        strcpy(rq.id, attempt->request_id);
    else
        make_request_id(m->request_id, rq.id);
    if (attempt)
        strcpy(attempt->request_id, rq.id);
    *reply = (struct reply){.status = 200};
    code = find_and_answer(&rq);
    db_session_close(rq.db);
    json_count_on(NULL);
    if (!is_answered(&rq, code)) {
        admission_end(&rq);
        session_hold_end(&hold);
        return rq.next;
    }
    if (settle_code(m->memory, code, &err) != OK) {
        drop_answer_headers(reply);
        if (facade_of(m->path))
            facade_problem(&err, reply, a);
        else
            problem_reply(service->config, &err, m->path, rq.id, reply, a);
    }
    finish(&rq);
    session_hold_end(&hold); /* what was printed came from there */
    return ROUTE_ANSWERED;
}

bool route_answer(struct service *service, const struct message *m, const bool *cancelled,
                  bool may_block, struct reply *reply, struct arena *a)
{
    const struct timespec pause = {0, (long)(KEYED_POLL_S * 1e9)};
    enum error_code ignored;
    char allow[80];
    bool steps = (m->idempotency_key || m->if_none_match) &&
                 route_has_steps(
                     route_find(service->routes, m->method, m->path, allow, &ignored), m);
    struct attempt attempt = {0};
    struct error err = {.arena = a};
    struct message own = *m;

    if (facade_mount(&own, service->config->cws_mount, a, &err) != OK ||
        facade_take_key(&own, a, &err) != OK) {
        route_problem(service, m, &err, m->request_id, reply, a);
        return true;
    }
    for (;;) {
        switch (route_step(service, &own, cancelled, may_block, steps ? &attempt : NULL,
                           reply, a)) {
        case ROUTE_ANSWERED:
            return true;
        case ROUTE_NEEDS_DATABASE:
        case ROUTE_NEEDS_ROOM:
            return false;
        case ROUTE_NEEDS_COMPUTE:
            break;
        case ROUTE_NEEDS_TIME:
            nanosleep(&pause, NULL);
        }
    }
}

/* ---- waiting for a session ---- */

bool request_wait(struct request *rq, const struct request_wait *what, double wait_s)
{
    struct attempt *t = rq->attempt;
    double now_s = clock_monotonic_s();

    if (!t || __atomic_load_n(&rq->service->draining, __ATOMIC_RELAXED) ||
        strlen(rq->principal.tenant) >= sizeof(t->watch.tenant) ||
        strlen(what->session_id) >= sizeof(t->watch.session_id))
        return false;
    if (t->wait_until_s == 0)
        t->wait_until_s = now_s + wait_s;
    if (now_s >= t->wait_until_s)
        return false;
    strcpy(t->watch.tenant, rq->principal.tenant);
    strcpy(t->watch.session_id, what->session_id);
    t->watch.revision = what->revision;
    t->watch.world_version = what->world_version;
    t->watch.plan_revision = what->plan_revision;
    t->watch.until_s = fmin(t->wait_until_s, now_s + what->due_s);
    t->watch.cancelled = rq->cancelled;
    t->watch.waiter = &t->waiter;
    t->watch.is_set = true;
    rq->next = ROUTE_NEEDS_TIME;
    return true;
}

bool request_has_waited(const struct request *rq)
{
    return rq->attempt && rq->attempt->stage == KEYED_LOCAL;
}

bool request_wait_over(struct request *rq)
{
    struct attempt *t = rq->attempt;

    if (!t || t->stage == KEYED_LOCAL)
        return false;
    t->stage = KEYED_LOCAL;
    rq->next = ROUTE_NEEDS_COMPUTE;
    return true;
}

/* The limits of who is known. */
static void show_limits(struct service *service, const struct message *m,
                        struct reply *reply, struct arena *a)
{
    struct request rq = {.service = service,
                         .arena = a,
                         .route = m->route,
                         .message = m,
                         .reply = reply,
                         .started_s = clock_monotonic_s()};

    if (!m->route || !m->grant)
        return;
    rq.principal = m->grant->who;
    rq.quota = m->grant->quota;
    rq.tenant_quota = m->grant->tenant_quota;
    admission_show(&rq);
}

void route_problem(struct service *service, const struct message *m,
                   const struct error *err, const char *request_id, struct reply *reply,
                   struct arena *a)
{
    char id[REQUEST_ID_MAX_BYTES + 1];
    const char *kept;

    make_request_id(request_id, id);
    *reply = (struct reply){.status = 500};
    if (m->path && facade_of(m->path))
        facade_problem(err, reply, a);
    else
        problem_reply(service->config, err, m->path ? m->path : "", id, reply, a);
    show_limits(service, m, reply, a);
    if (err->code == ERR_UNAUTHENTICATED)
        reply_header_add(reply, "WWW-Authenticate", AUTH_CHALLENGE);
    add_cache_control(m, reply);
    add_cors(service->config, m, reply);
    kept = arena_try_text(a, id, strlen(id));
    reply_header_add(reply, "X-Request-Id", kept ? kept : "out-of-memory");
}

/* What is answered without a client is kept by who asks for it. */
static enum error_code finish_stored(struct request *rq, const struct content *body)
{
    rq->store_decision = false;
    return finish_run(rq, body);
}

enum error_code route_answer_stored(struct service *service,
                                    const struct stored_request *stored,
                                    enum decision_status *status, struct reply *reply,
                                    struct arena *a, struct error *err)
{
    struct content content = {stored->body, strlen(stored->body)};
    struct message m = {.method = "POST",
                        .path = stored->path,
                        .job = stored->job,
                        .memory = stored->memory};
    struct request rq = {
        .service = service,
        .arena = a,
        .err = err,
        .message = &m,
        .principal = {stored->tenant, "", SCOPE_DECIDE | SCOPE_INGEST},
        .may_block = true,
        .cancelled = stored->cancelled,
        .reply = reply,
        .started_s = clock_monotonic_s(),
        .quota = quota_none(),
        .tenant_quota = quota_none(),
        .cpu_began_s = NAN,
        .gap_ratio = NAN,
        .replay = true,
        .snapshot_document = stored->snapshot_document,
        .history_document = stored->history_document,
        .progress = stored->progress,
        .parts = stored->parts,
    };
    enum error_code code;
    char allow[80];
    void *in = NULL;

    err->arena = a;
    admission_begin(&rq);
    *reply = (struct reply){.status = 200};
    make_request_id(NULL, rq.id);
    rq.route = route_find(service->routes, "POST", stored->path, allow, &code);
    if (!rq.route || !(rq.route->flags & (ROUTE_ASYNC | ROUTE_UPKEEP)))
        code = fail(err, ERR_CONFLICT, "", "'%.100s' runs nothing in this version",
                    stored->path);
    request_set_time_limit(&rq, NAN);
    if (code == OK)
        code = read_path_values(&rq);
    if (code == OK && rq.route->request)
        code = bind_body(&rq, &content, &in);
    if (code == OK)
        code = run_handler(&rq, in);
    if (code == OK)
        code = finish_stored(&rq, &content);
    db_session_close(rq.db);
    admission_end(&rq);
    if (code == ERR_WOULD_BLOCK && m.memory && m.memory->is_again)
        return code;
    code = settle_code(m.memory, code, err);
    if (code != OK)
        problem_reply(service->config, err, stored->path, rq.id, reply, a);
    *status = rq.decision_status;
    return code;
}

enum error_code request_replay(struct request *rq, const char *path, const char *body,
                               const char *snapshot_document,
                               const char *history_document, const char **answer_text)
{
    struct content content = {body, strlen(body)};
    struct reply reply = {.status = 200};
    struct request again = *rq;
    enum error_code code;
    char allow[80];
    void *in;

    again.route = route_find(rq->service->routes, "POST", path, allow, &code);
    if (!again.route || !(again.route->flags & ROUTE_DECISION))
        return fail(rq->err, ERR_CONFLICT, "",
                    "'%.100s' makes no decisions in this version", path);
    again.reply = &reply;
    again.renames = (struct json_renames){0};
    again.replay = true;
    again.cpu_began_s = NAN; /* what it uses is charged with the request's own */
    again.snapshot_document = snapshot_document;
    again.history_document = history_document;
    again.started_s = clock_monotonic_s();
    request_set_time_limit(&again, NAN);
    TRY(bind_body(&again, &content, &in));
    TRY(run_handler(&again, in));
    TRY(route_print(&again));
    *answer_text = reply.body;
    return OK;
}
