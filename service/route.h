/* route.h - the route table, and how one request is answered.
 *
 * A handler sees neither HTTP nor JSON: it gets a struct, bound by the route's
 * request table, and fills a struct that the response table prints. The same
 * rows print the API description.
 *
 * route_answer() is the whole way from message to reply without a socket:
 * match, authenticate, limit, decode, bind, run, print, encode. http.c only
 * carries bytes; tests call route_answer() directly.
 */
#ifndef GRIDPLAN_ROUTE_H
#define GRIDPLAN_ROUTE_H

#include "models/base/budget.h"
#include "models/decision_status.h"
#include "service/json.h"
#include "service/quota.h"

struct governor_job;   /* governor.h */
struct body;           /* body.h */
struct service;        /* service.h: the handles a request may use */
struct auth_grant;     /* auth.h */
struct work_memory;    /* work_memory.h */
struct db_session;     /* db.h */
struct store_progress; /* store_simulation.h, as the next */
struct store_parts;
struct attempt; /* keyed.h */
struct snapshot_view;
struct session_hold; /* session_cache.h */

/* Which thread answers. */
enum route_work {
    WORK_INLINE,  /* microseconds: on the I/O thread, unless the body is large */
    WORK_QUERY,   /* talks to PostgreSQL: in a slot for queries */
    WORK_COMPUTE, /* searches, simulates, fits: on a compute worker */
};

/* What a key must allow; bits of api_key.scopes. */
enum scope {
    SCOPE_NONE = 0,
    SCOPE_DECIDE = 1,
    SCOPE_INGEST = 2,
    SCOPE_ADMIN = 4,
    SCOPE_READ = 8,
    SCOPE_FACADE = 16, /* what other tools call: facade.h */
    SCOPE_IN_PATH = 32 /* asked for besides: the key stood in a path */
};

enum route_flag {
    ROUTE_IDEMPOTENT_KEY = 1, /* stores something: Idempotency-Key is honoured */
    ROUTE_BULK =
        2, /* body: object, array, or NDJSON; the handler gets a struct json_lines */
    ROUTE_DECISION = 4,    /* may be stored (`store: true`) and replayed */
    ROUTE_MERGE_PATCH = 8, /* body: application/merge-patch+json, as a struct raw_body */
    ROUTE_RAW_REPLY = 16,  /* the handler fills reply->body itself */
    ROUTE_RAW_BODY = 32,   /* body of any JSON, bound as a struct raw_body */
    ROUTE_TEXT_BODY = 64,  /* body of any bytes, not JSON, bound as a struct raw_body */
    ROUTE_ASYNC = 128,  /* `Prefer: respond-async` is honoured; see request_is_async() */
    ROUTE_UPKEEP = 256, /* the service itself calls it too, without a body */
    ROUTE_TAKES_SWF = 512,       /* ROUTE_TEXTS: the body may be such a text; */
    ROUTE_TAKES_WORKFLOW = 1024, /* with a JSON body there is no query */
    ROUTE_ANSWERS_TEXT = 2048,   /* ANSWER_FORMS: Accept may ask for it; */
    ROUTE_ANSWERS_CHART = 4096,  /* see request_answer_form() */
    ROUTE_ANSWERS_GRAPH = 8192,
    ROUTE_LONG = 16384, /* with ROUTE_IDEMPOTENT_KEY: no connection is held while it is
                          computed; the handler writes by request_at_publish() only */
    ROUTE_VERSIONED = 1 << 15, /* what it is about has an ETag: If-None-Match of GET, and
                                  If-Match of changes, are honoured */
    ROUTE_LOOKS_UP = 1 << 16,  /* body or query may name stored things: 404 */
    ROUTE_RAW_JSON = 1 << 17,  /* with ROUTE_RAW_REPLY: that is JSON, else text */
    ROUTE_RUN = 1 << 18, /* work without a client: GET says Retry-After while it goes
                            on; DELETE ends it (202) or removes it (204) */
    ROUTE_TELLS_STATE = 1 << 19, /* 503 has the answer too: the state */
    ROUTE_PROBE = 1 << 20,       /* on the listener for probes and metrics too, and in
                                    the log only when it goes wrong; */
    ROUTE_METRICS = 1 << 21,     /* when there is one, on the first one no more */
    ROUTE_MAKES = 1 << 22,  /* POST below a stored thing: makes one that belongs to it */
    ROUTE_ASSET = 1 << 23,  /* a page for people, or a part of one: not described; Accept
                               is the handler's matter */
    ROUTE_FACADE = 1 << 24, /* of a facade (facade.h): the body is any bytes of any type,
                               bound as a struct raw_body */
    ROUTE_TAKES_ROWS = 1 << 25, /* ROUTE_BULK: the body may be text/tab-separated-values
                                   too; then the struct json_lines is empty, and the
                                   handler reads rq->body */
    ROUTE_EXPIRES = 1 << 26,    /* what it is about may have ended: 410 */
    ROUTE_WAITS = 1 << 27,      /* GET with If-None-Match and the parameter wait_s: it may
                                   wait for a session; see request_wait() */
    ROUTE_RAW_PICTURE = 1 << 28, /* with ROUTE_RAW_REPLY: that is SVG */
    ROUTE_STREAMS = 1 << 29,     /* with ROUTE_TEXT_BODY: the handler reads the body by
                                    request_pieces() (stream.h) only */
};

/* Which listener a request came to. */
enum entrance { ENTRANCE_FIRST, ENTRANCE_ADMIN, ENTRANCE_UNIX };

/* Bodies that are no JSON: flag of the route, content type, member. Such a body stands
 * for the JSON object of the query's members and the text as this member. */
#define ROUTE_TEXTS(X)                                                             \
    X(ROUTE_TAKES_SWF, "text/plain", "swf")                                        \
    X(ROUTE_TAKES_WORKFLOW, "text/plain", "stg")                                   \
    X(ROUTE_TAKES_WORKFLOW, "application/xml", "dax")                              \
    X(ROUTE_TAKES_WORKFLOW, "text/xml", "dax")                                     \
    X(ROUTE_TAKES_WORKFLOW, "application/vnd.wfcommons.wfformat+json", "wfformat") \
    X(ROUTE_TAKES_WORKFLOW, "text/vnd.graphviz", "dot")                            \
    X(ROUTE_TAKES_WORKFLOW, "application/yaml", "pegasus")                         \
    X(ROUTE_TAKES_WORKFLOW, "application/x-yaml", "pegasus")                       \
    X(ROUTE_TAKES_WORKFLOW, "text/yaml", "pegasus")

/* Likewise bodies of JSON, by the query's `format`: flag of the route, that and the
 * member. */
#define ROUTE_JSON_TEXTS(X) X(ROUTE_TAKES_WORKFLOW, "snakemake_d3")

/* What an answer can be: symbol, flag of the route, content type. */
#define ANSWER_FORMS(X)                                   \
    X(ANSWER_JSON, 0, "application/json")                 \
    X(ANSWER_TEXT, ROUTE_ANSWERS_TEXT, "text/plain")      \
    X(ANSWER_CHART, ROUTE_ANSWERS_CHART, "image/svg+xml") \
    X(ANSWER_GRAPH, ROUTE_ANSWERS_GRAPH, "text/vnd.graphviz")

enum answer_form {
#define X(symbol, flag, type) symbol,
    ANSWER_FORMS(X)
#undef X
        ANSWER_FORM_COUNT
};

enum {
    ROUTE_PATH_VALUES_MAX = 4,
    REPLY_HEADERS_MAX = 24,
    QUERY_PAIRS_MAX = 200,
    REQUEST_ID_MAX_BYTES = 128
};

/* A request as it came, without libmicrohttpd. NULL: no such header. */
struct message {
    const char *method;
    const char *path; /* percent-decoded, without the query */
    const struct query_pair *query;
    size_t query_count;
    const char *body;
    size_t body_length;
    size_t
        stray_bytes; /* of a body that the route does not take, without blanks and {} */
    struct governor_job *job; /* the computation that answers it; NULL: none, on a thread
                                 that does I/O or talks to the database */
    struct body *received;    /* holds the body, and takes what it inflates to; NULL:
                                 the arena does */
    struct work_memory *memory; /* what the arena leases; NULL: nothing */
    const char *remote_address; /* the client's, for limits: of IPv6 the /64; or "unix" */
    enum entrance entrance;
    const struct route *route;      /* the one that fits, found already; NULL: find it */
    const struct auth_grant *grant; /* the key was checked already; NULL: check it */
    const char *accept, *accept_encoding, *authorization, *content_encoding,
        *content_type, *if_match, *if_none_match, *idempotency_key, *origin, *prefer,
        *request_id, *access_control_request_method, *traceparent, *tracestate, *host;
    bool key_in_path; /* `authorization` was taken out of the path */
};

/* What a key must allow for the message. */
enum scope route_scope(const struct route *route, const struct message *m);

struct reply_header {
    const char *name, *value;
};

struct reply {
    int status;
    const char *content_type;
    const char *body;
    size_t body_length;
    struct reply_header headers[REPLY_HEADERS_MAX];
    size_t header_count;
};

/* Who asks. Without authentication: tenant "default", all scopes. */
struct principal {
    const char *tenant;
    const char *key_id; /* "" without authentication */
    unsigned scopes;
};

/* What is to be done next. */
enum route_next {
    ROUTE_ANSWERED,
    ROUTE_NEEDS_DATABASE, /* call again on a thread that may block */
    ROUTE_NEEDS_COMPUTE,  /* call again in a slot of the governor */
    ROUTE_NEEDS_ROOM,     /* call again when the governor has the room it was asked for */
    ROUTE_NEEDS_TIME      /* call again in KEYED_POLL_S, in a slot for queries */
};

/* What became of the records of a bulk route. */
struct metrics_rows {
    size_t stored_count, duplicate_count, refused_count;
};

struct raw_body {
    const char *text; /* as it came, decompressed, with a NUL behind it */
    size_t length;
};

/* What a Prefer header asks for (RFC 7240). */
struct preference {
    bool respond_async;
    double wait_s; /* seconds that the client would wait; NAN: not said */
};
struct preference preference_read(const char *prefer);

/* The body of a bulk route: a struct json_lines; for a JSON object or array all
 * items, `line` NULL, nothing refused. */

/* Writes something that a request stores, by statements of `db`. It may be called again
 * from its start when others were changing the same. When what it was computed from is no
 * more, it sets rq->overtaken and fails: then all is computed again, each time with the
 * whole time limit, and what the last one says is the answer. */
enum { ROUTE_PUBLISH_TRIES = 3 };
struct request;
typedef enum error_code publish_fn(struct request *rq, struct db_session *db,
                                   void *context);

struct publish_step {
    publish_fn *publish;
    void *context;
    struct publish_step *next;
};

struct request {
    struct service *service;
    struct arena *arena;
    struct error *err;
    const struct route *route;
    const struct message *message;
    struct principal principal;
    struct quota quota, tenant_quota; /* of the key, and of its tenant */
    double cpu_began_s;               /* see admission_begin(); NAN: it is not counted */
    double cpu_charged_at_s;          /* monotonic clock */
    const char *path_value[ROUTE_PATH_VALUES_MAX]; /* of {names}, in their order */
    const void *query;                             /* bound by route->query, or NULL */
    struct json_renames renames;                   /* members that came under old names */
    const char *body;                              /* decompressed; NULL: none */
    size_t body_length;
    struct db_session *db; /* opened by request_db() */
    bool may_block;        /* false on an I/O thread */
    struct budget budget;  /* no limit in time before request_set_time_limit() */
    struct budget finish;  /* the budget's: no limit in time at all */
    double limited_from_s; /* monotonic clock: since when the budget is used up */
    double deadline_s;     /* likewise, when it is */
    const bool *cancelled; /* the client has gone; read with __atomic_load_n */
    struct reply *reply;   /* a handler may set status (201, 202) and headers */
    double cancelled_at_s; /* when that was seen first, monotonic clock; 0: not yet */
    char id[REQUEST_ID_MAX_BYTES + 1]; /* safe characters */
    double started_s;                  /* monotonic clock */
    double parse_s;                    /* time that reading the body took */
    /* Filled by a decision's handler (handlers/common/decision.h). */
    const char *decision_id;
    const char *algorithm; /* for metrics */
    enum decision_status decision_status;
    uint64_t seed;
    bool store_decision;
    const char *snapshot_document; /* the stored snapshot that was named, as JSON */
    const char *history_document;  /* what else was looked up: decision_lookup() */
    const struct snapshot_view *snapshot_view; /* what belonged to that snapshot:
                                                  handlers/snapshots/lease_view.h */
    const char *const *notes;                  /* warnings that decision_end() adds */
    size_t note_count;
    bool replay;   /* this is a replay: do not store, do not look up anew */
    bool no_steps; /* ... of a search that had no time for a step */
    struct store_progress *progress; /* without a client: to be kept up to date by
                                        progress_write(); NULL: there is a client */
    const struct store_parts *parts; /* likewise: what is complete of it already, and
                                        where to leave more; NULL: nowhere */
    double gap_ratio;                /* for metrics; NAN: none */
    struct metrics_rows ingested;    /* for metrics: of a bulk route */
    enum answer_form form;           /* set by request_answer_as() */
    struct raw_body drawn;           /* the answer in that form; text NULL: JSON only */
    void *out;                       /* what the route's response table prints */
    struct publish_step *publish_first, *publish_last; /* request_at_publish() */
    bool overtaken;                                    /* set by a publish_fn */
    struct attempt *attempt; /* with an Idempotency-Key on a ROUTE_LONG; else NULL */
    const char *keyed_id;    /* the decision_id that the key gives; NULL: no key */
    enum route_next next;
    struct session_hold *held; /* what it has taken out of the cache of workflow sessions;
                                  NULL: nothing is kept */
};

typedef enum error_code handler_fn(struct request *rq, const void *in, void *out);

/* A room of the API. All that the rows of one table name are elements of one array, in
 * the order of the description. */
struct route_tag {
    const char *name, *doc;
};

struct route {
    const char *method;
    const char *path;            /* "/v1/snapshots/{snapshot_id}"; a * at its end stands
                                    for all that follows, also nothing */
    const char *operation;       /* its name for clients: "getSnapshot" */
    const struct route_tag *tag; /* where the description has it */
    handler_fn *handler;
    const struct json_object *request;  /* body; NULL: none */
    const struct json_object *response; /* NULL: no content, or raw */
    const struct json_object *query;    /* parameters; NULL: none */
    enum route_work work;
    enum scope scope;
    unsigned flags;
    const char *summary; /* one line */
    const char *doc;     /* a paragraph: what it decides or stores, from what */
    const char *example; /* file below openapi/examples/, NULL: none */
};

/* What answering is guessed to take, by the kind of the row. */
struct route_cost {
    size_t memory_factor;       /* bytes of memory that a byte of the body becomes */
    double operations_per_byte; /* steps of some nanoseconds for each of these bytes */
};
struct route_cost route_cost(const struct route *r);

/* CPU seconds for a body of so many bytes. It only orders the computations of one owner,
 * and keeps what is long off the I/O threads. */
double route_estimate_s(const struct route *r, size_t body_bytes);

/* Bytes that a body of this route may have: texts that are stored as they are may be
 * longer than what becomes a struct. NULL: any other. */
struct config;
size_t route_body_limit(const struct route *r, const struct config *config);

/* route_find() for a message: NULL also for what its entrance does not offer. */
const struct route *route_find_at(const struct service *service, const struct message *m,
                                  char *allow, enum error_code *code);

/* Whether the route does anything with a body. */
bool route_takes_body(const struct route *route);

/* Whether a body may be of this type: ERR_MEDIA_TYPE. `required`: it must say one. */
enum error_code route_check_content_type(const struct route *route,
                                         const struct message *m, bool required,
                                         struct arena *a, struct error *err);

/* A table of routes is ended by {0} and sorted by path (handlers/routes.h).
 *
 * The row that fits. NULL: *code says 404 or 405 and
 * `allow` (at least 64 bytes) lists the methods of the path. HEAD finds GET. */
const struct route *route_find(const struct route *table, const char *method,
                               const char *path, char *allow, enum error_code *code);

/* Which thread is to answer: the route's own choice, but no large body and
 * nothing that needs the database on an I/O thread. */
enum route_work route_work_of(const struct route *route, const struct message *m);

/* Answers one request completely; failures are answered with problem+json. All
 * memory of the reply is in `a`, whose cap bounds the request. `cancelled` is
 * polled by long computations (read with __atomic_load_n). With `may_block`
 * false nothing waits for the database: false is returned when that would have
 * been needed, nothing has been done, and a query worker must call again. Also when
 * m->memory->is_again: then the arena is to be rewound, and a worker calls again when
 * there is room. */
bool route_answer(struct service *service, const struct message *m, const bool *cancelled,
                  bool may_block, struct reply *reply, struct arena *a);

/* One step of the same, for requests with an Idempotency-Key on a ROUTE_LONG: `attempt`
 * (keyed.h) goes from call to call, each of which may be by another thread. *reply is
 * there when the value is ROUTE_ANSWERED. */
enum route_next route_step(struct service *service, const struct message *m,
                           const bool *cancelled, bool may_block, struct attempt *attempt,
                           struct reply *reply, struct arena *a);

/* Whether a request is to be answered by route_step(). */
bool route_has_steps(const struct route *route, const struct message *m);

/* Draws a stored JSON answer in another form (ANSWER_FORMS), by request_answer_as().
 * ERR_NOT_ACCEPTABLE: it has not what is needed. */
typedef enum error_code answer_form_fn(struct request *rq, enum answer_form form,
                                       const char *answer);

/* A reply that is a failure, for what goes wrong before route_answer(). Its last header
 * is X-Request-Id. */
void route_problem(struct service *service, const struct message *m,
                   const struct error *err, const char *request_id, struct reply *reply,
                   struct arena *a);

/* Answers a stored request again: `body` of a POST to `path`, with the snapshot
 * that its snapshot_id meant then and all that was looked up (NULL: none). *answer
 * is the new answer. */
enum error_code request_replay(struct request *rq, const char *path, const char *body,
                               const char *snapshot_document,
                               const char *history_document, const char **answer);

/* A stored request that is answered without a client. */
struct stored_request {
    const char *tenant, *path, *body;
    const char *snapshot_document;   /* what its snapshot_id meant; NULL: none */
    const char *history_document;    /* what else was looked up; NULL: nothing */
    const bool *cancelled;           /* polled: stop, and answer what there is */
    struct governor_job *job;        /* the computation that answers it */
    struct store_progress *progress; /* written while it is answered */
    const struct store_parts *parts; /* what is complete of it; NULL: nothing is kept */
    struct work_memory *memory;      /* what the arena leases; NULL: nothing */
};

/* Answers it: reply->body is the answer, or the problem when it fails. ERR_WOULD_BLOCK:
 * memory->is_again, as with route_answer(). */
enum error_code route_answer_stored(struct service *service,
                                    const struct stored_request *stored,
                                    enum decision_status *status, struct reply *reply,
                                    struct arena *a, struct error *err);

/* Whether the client wants to be answered before the work is done, and the route
 * allows that. The handler then fills reply->body itself. */
bool request_is_async(const struct request *rq);

/* What the client wants to see, of what the route can answer: the form of the highest
 * quality in its Accept header; with equal ones JSON, then their order in ANSWER_FORMS.
 * JSON while a decision is answered again or without a client. */
enum answer_form request_answer_form(const struct request *rq);

/* Who may show what is answered in frames, as Content-Security-Policy says it; NULL: no
 * memory. */
const char *route_frame_ancestors(const struct request *rq);

/* Whether the client would rather have `type` than the usual type. */
bool request_prefers(const struct request *rq, const char *type, const char *usual);

/* The answer in another form than JSON: it is sent, the JSON is what is kept. `text`
 * must live as long as the reply. */
void request_answer_as(struct request *rq, enum answer_form form, const char *text,
                       size_t length);

/* For handlers. A reply's further headers; beyond REPLY_HEADERS_MAX dropped. */
void reply_header_add(struct reply *reply, const char *name, const char *value);

/* What the request stores, written when its answer is there, in the order of the calls:
 * in one transaction with the answer if there is an Idempotency-Key. It may still fill
 * `out`. `context` must live as long as the request. */
enum error_code request_at_publish(struct request *rq, publish_fn *publish,
                                   void *context);

/* The request's database session. Fails when there is no database, and with
 * ERR_WOULD_BLOCK on an I/O thread: pass it up. */
enum error_code request_db(struct request *rq, struct db_session **db);

/* Refuses a time_limit_s (NAN: none) above the one in force: time_limit_max_s, without a
 * client simulation_time_limit_s. What was accepted before is not refused any more. */
enum error_code request_check_time_limit(const struct request *rq, double time_limit_s);

/* The largest time_limit_s that is in force for the request. */
double request_time_limit_max_s(const struct request *rq);

/* Sets rq->budget: time_limit_s seconds from now on, NAN: the largest that the service
 * allows. Decisions call it when the request has been read. */
void request_set_time_limit(struct request *rq, double time_limit_s);

/* For handlers whose memory is a product, once all counts are known and before it is
 * taken: `bytes` more than is in use. When there is no room now it fails, and the request
 * is answered again from the start when there is: pass it up. ERR_TOO_LARGE: more than
 * there ever is. */
enum error_code request_reserve(struct request *rq, double bytes);

/* Of a ROUTE_WAITS: how a request goes on that may wait. */
struct request_wait {
    const char *session_id;
    uint64_t revision, world_version, plan_revision; /* as the client knows them */
    double due_s; /* seconds from now: then the answer is another one */
};

/* The session is as the client knows it. True: the answer comes later, the handler
 * returns OK. False: the client has waited for as long as wait_s says, or cannot. */
bool request_wait(struct request *rq, const struct request_wait *what, double wait_s);

/* There is something to compute. True: in a slot for that, the handler returns OK; false:
 * here. */
bool request_wait_over(struct request *rq);

/* Seconds since the request began to be answered. */
double request_elapsed_s(const struct request *rq);

#endif
