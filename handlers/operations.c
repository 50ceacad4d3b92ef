/* operations.c - what operators and tools ask of the service itself. */
#include "handlers/operations.h"

#include "service/config.h"
#include "service/db.h"
#include "service/hash.h"
#include "service/metrics.h"
#include "service/migrate.h"
#include "service/openapi.h"
#include "service/service.h"

#include <string.h>

struct health {
    const char *status;   /* "ok", "draining", "unavailable" */
    const char *database; /* with ?verbose: "ok", "none", or what is wrong */
};

struct health_query {
    bool verbose;
};

#define T struct health
static const struct json_field health_rows[] = {
    JSON_TEXT(T, status, 0, "ok, draining or unavailable"),
    JSON_TEXT(T, database, JSON_OPTIONAL,
              "State of the database: ok, none, or what is wrong"),
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
    health->status = "ok";
    return OK;
}

/* What is wrong with the database; NULL: nothing. */
static const char *database_trouble(struct request *rq)
{
    struct error err = {.arena = rq->arena};
    struct db_session *db;

    if (db_ready(rq->service->db, &err) == OK && request_db(rq, &db) == OK &&
        migrate_check(db, migration_count, &err) == OK)
        return NULL;
    return arena_text(rq->arena, err.text, strlen(err.text));
}

enum error_code get_readyz(struct request *rq, const void *in, void *out)
{
    const struct health_query *query = rq->query;
    const char *trouble = rq->service->db ? database_trouble(rq) : NULL;
    struct health *health = out;

    (void)in;
    health->status = "ok";
    if (query && query->verbose)
        health->database = !rq->service->db ? "none" : trouble ? trouble : "ok";
    if (trouble && !rq->service->config->readiness_without_database)
        health->status = "unavailable";
    if (__atomic_load_n(&rq->service->draining, __ATOMIC_RELAXED))
        health->status = "draining";
    if (strcmp(health->status, "ok") != 0)
        rq->reply->status = 503;
    return OK;
}

enum error_code get_metrics(struct request *rq, const void *in, void *out)
{
    bool openmetrics = metrics_wants_openmetrics(rq->message->accept);
    struct text_buffer b = {.arena = rq->arena};

    (void)in, (void)out;
    metrics_print(rq->service->metrics, openmetrics, &b);
    if (b.failed)
        return fail_memory(rq->err);
    rq->reply->content_type = openmetrics ? METRICS_TYPE_OPENMETRICS : METRICS_TYPE_TEXT;
    rq->reply->body = b.data;
    rq->reply->body_length = b.length;
    return OK;
}

enum error_code get_openapi(struct request *rq, const void *in, void *out)
{
    struct text_buffer b = {.arena = rq->arena};
    char digest[SHA256_HEX_SIZE];

    (void)in, (void)out;
    openapi_print(rq->service->routes, &b);
    if (b.failed)
        return fail_memory(rq->err);
    hash_sha256_hex(b.data, b.length, digest);
    reply_header_add(rq->reply, "ETag", arena_printf(rq->arena, "\"%.16s\"", digest));
    rq->reply->content_type = "application/json";
    rq->reply->body = b.data;
    rq->reply->body_length = b.length;
    return OK;
}
