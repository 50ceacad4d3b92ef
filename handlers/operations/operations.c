/* operations.c - what operators and tools ask of the service itself. */
#include "handlers/operations/routes.h"

#include "service/config.h"
#include "service/db.h"
#include "service/etag.h"
#include "service/governor.h"
#include "service/gzip.h"
#include "service/hash.h"
#include "service/liveness.h"
#include "service/metrics.h"
#include "service/migrate.h"
#include "service/openapi.h"
#include "service/service.h"

#include <string.h>

struct health {
    const char *status;          /* "ok", "draining", or a state of the database */
    const char *database;        /* with ?verbose: "ok", "none", or what is wrong */
    const char *synchronous;     /* with ?verbose: "on", "off"; NULL: not known */
    const char *const *warnings; /* with ?verbose: what is not as it should be */
    size_t warning_count;
};

struct health_query {
    bool verbose;
};

enum { HEALTH_OK, HEALTH_DRAINING };
static const char *const health_status_names[] = {"ok", "draining",
#define X(symbol, name, ready, text) name,
                                                  LIVENESS_STATES(X)
#undef X
                                                      NULL};
static const char *const standby_names[] = {"off", "on", NULL};

#define T struct health
static const struct json_field health_rows[] = {
    JSON_WORD(T, status, health_status_names, 0,
              "ok; slow: writes take more than 2 s; else 503: starting, read_only (the "
              "database), full (its disk), down, draining"),
    JSON_TEXT(T, database, JSON_OPTIONAL,
              "State of the database: ok, none, or what is wrong"),
    JSON_WORD(T, synchronous, standby_names, JSON_OPTIONAL,
              "Whether what is stored is on another server, too, before it is answered "
              "(synchronous_standby_names of PostgreSQL): on or off"),
    {.name = "warnings",
     .doc = "What does not keep it from taking requests, but should be looked at",
     .type = JSON_TYPE_TEXTS,
     .offset = JSON_AT(T, warnings, const char *const *),
     .count_offset = JSON_AT(T, warning_count, size_t),
     .flags = JSON_OPTIONAL},
    {0},
};
#undef T
const struct json_object health_json = {"Health", "State of this replica",
                                        sizeof(struct health), health_rows};

#define T struct health_query
static const struct json_field health_query_rows[] = {
    JSON_BOOLEAN(T, verbose, 0, 0, "Say the state of each part"),
    {0},
};
#undef T
const struct json_object health_query_json = {
    "HealthQuery", "How much to say", sizeof(struct health_query), health_query_rows};

enum error_code get_livez(struct request *rq, const void *in, void *out)
{
    struct health *health = out;

    (void)in, (void)rq;
    health->status = health_status_names[HEALTH_OK];
    return OK;
}

/* How the database is: whether it answers now, and what came of the last write. *text
 * says it. */
static enum liveness_state database_state(struct request *rq, bool *late,
                                          const char **text)
{
    struct liveness *liveness = rq->service->liveness;
    struct error err = {.arena = rq->arena};
    enum liveness_state state = LIVENESS_OK;
    struct db_session *db;

    *late = false;
    if (liveness)
        state = liveness_state(liveness, late);
    *text = liveness_kinds[state].text;
    /* That the server is away is known before the next write. */
    if (db_ready(rq->service->db, &err) == OK && request_db(rq, &db) == OK &&
        migrate_check(db, migration_count, &err) == OK)
        return state;
    *text = arena_text(rq->arena, err.text, strlen(err.text));
    return state == LIVENESS_STARTING ? state : LIVENESS_DOWN;
}

static void say_standby(struct request *rq, struct health *health, const char **list)
{
    enum liveness_standby standby = rq->service->liveness
                                        ? liveness_standby(rq->service->liveness)
                                        : LIVENESS_STANDBY_UNKNOWN;

    if (standby != LIVENESS_STANDBY_UNKNOWN)
        health->synchronous = standby_names[standby == LIVENESS_STANDBY_ON];
    if (standby == LIVENESS_STANDBY_OFF && db_has_several_hosts(rq->service->db))
        list[health->warning_count++] = LIVENESS_STANDBY_WARNING;
}

static void say_warnings(struct request *rq, enum liveness_state state, bool late,
                         struct health *health)
{
    const char **list = NEW(rq->arena, const char *, 3);

    say_standby(rq, health, list);
    if (state == LIVENESS_SLOW)
        list[health->warning_count++] =
            arena_printf(rq->arena, "slow: %s", liveness_kinds[state].text);
    if (late)
        list[health->warning_count++] =
            "partitions_late: the partitions of this month were not there when the "
            "service began";
    health->warnings = list;
}

enum error_code get_readyz(struct request *rq, const void *in, void *out)
{
    const struct health_query *query = rq->query;
    const struct config *config = rq->service->config;
    enum liveness_state state = LIVENESS_OK;
    const char *text = "none";
    struct health *health = out;
    bool late = false;

    (void)in;
    if (rq->service->db)
        state = database_state(rq, &late, &text);
    health->status = health_status_names[HEALTH_OK];
    if (state == LIVENESS_SLOW ||
        (!liveness_kinds[state].is_ready && !config->readiness_without_database))
        health->status = liveness_kinds[state].name;
    if (__atomic_load_n(&rq->service->draining, __ATOMIC_RELAXED))
        health->status = health_status_names[HEALTH_DRAINING];
    if (strcmp(health->status, "ok") != 0 && strcmp(health->status, "slow") != 0)
        rq->reply->status = 503;
    if (!query || !query->verbose)
        return OK;
    health->database = text;
    say_warnings(rq, state, late, health);
    return OK;
}

enum error_code get_metrics(struct request *rq, const void *in, void *out)
{
    bool openmetrics = metrics_names_openmetrics(rq->message->accept) &&
                       !request_prefers(rq, "text/plain", "application/openmetrics-text");
    bool names_owners =
        rq->message->entrance == ENTRANCE_ADMIN && rq->service->governor != NULL;
    struct text_buffer b = {.arena = rq->arena};
    struct governor_stats governor;

    (void)in, (void)out;
    if (names_owners)
        governor_stats(rq->service->governor, &governor);
    metrics_print(rq->service->metrics, names_owners ? &governor : NULL, openmetrics, &b);
    rq->reply->content_type = openmetrics ? METRICS_TYPE_OPENMETRICS : METRICS_TYPE_TEXT;
    rq->reply->body = text_end(&b);
    rq->reply->body_length = b.length;
    return OK;
}

enum error_code get_openapi(struct request *rq, const void *in, void *out)
{
    const struct openapi_document *d = rq->service->description;
    const char *known = rq->message->if_none_match;
    const struct openapi_text *text = &d->plain;
    bool is_packed = gzip_accepted(rq->message->accept_encoding);

    (void)in, (void)out;
    if (is_packed)
        text = &d->packed;
    /* It may have been sent in the other encoding. */
    if (etag_matches_weakly(known, d->plain.etag))
        text = &d->plain;
    else if (etag_matches_weakly(known, d->packed.etag))
        text = &d->packed;
    reply_header_add(rq->reply, "ETag", text->etag);
    reply_header_add(rq->reply, "Vary", "Accept-Encoding");
    if (etag_matches_weakly(known, text->etag)) {
        rq->reply->status = 304;
        return OK;
    }
    if (is_packed)
        reply_header_add(rq->reply, "Content-Encoding", "gzip");
    rq->reply->content_type = "application/json";
    rq->reply->body = text->data;
    rq->reply->body_length = text->length;
    return OK;
}
