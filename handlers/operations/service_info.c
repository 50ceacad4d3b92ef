/* service_info.c - GET /v1/service-info: what this service is. */
#include "handlers/common/page.h"
#include "handlers/operations/routes.h"
#include "service/auth.h"
#include "service/config.h"
#include "service/json_holds.h"
#include "service/service.h"

#include <math.h>

static const char *const auth_words[] = {"none", "key", NULL};

struct service_type {
    const char *group, *artifact, *version;
};

struct organization {
    const char *name, *url;
};

struct service_limits {
    double time_limit_max_s, simulation_time_limit_s, rate_limit_per_s, processors;
    uint64_t max_body_bytes, max_upload_bytes, page_size_max, slots;
};

struct service_links {
    const char *docs, *dashboard, *openapi;
};

struct service_info {
    const char *id, *name, *description, *version;
    const char *auth;
    const char *const *scopes;
    size_t scope_count;
    struct service_links links;
    struct service_type type;
    struct organization organization;
    struct service_limits limits;
};

#define T struct service_type
static const struct json_field type_rows[] = {
    JSON_TEXT(T, group, 0, "Namespace"),
    JSON_TEXT(T, artifact, 0, "Kind of API"),
    JSON_TEXT(T, version, 0, "Version of the API"),
    {0},
};
#undef T
static const struct json_object type_json = {"ServiceType", "Kind of service (GA4GH)",
                                             sizeof(struct service_type), type_rows};

#define T struct organization
static const struct json_field organization_rows[] = {
    JSON_TEXT(T, name, 0, "Name"),
    JSON_TEXT(T, url, 0, "Home"),
    {0},
};
#undef T
static const struct json_object organization_json = {
    "Organization", "Who provides the service", sizeof(struct organization),
    organization_rows};

#define T struct service_limits
static const struct json_field limits_rows[] = {
    JSON_NUMBER(T, time_limit_max_s, 0, 0, 0, 0,
                "Largest time_limit_s of a decision, and its default"),
    JSON_NUMBER(T, simulation_time_limit_s, 0, 0, 0, 0,
                "Likewise of what is computed without a client (Prefer: respond-async)"),
    JSON_INTEGER(T, max_body_bytes, 0, JSON_EXACT, 0, 0,
                 "Largest body of a request, also after decompression"),
    JSON_INTEGER(
        T, max_upload_bytes, 0, JSON_EXACT, 0, 0,
        "Likewise of logs, traces and accounting, which are read piece by piece"),
    JSON_INTEGER(T, page_size_max, 0, JSON_EXACT, 0, 0, "Largest page_size of a list"),
    JSON_NUMBER(T, rate_limit_per_s, 0, 0, NAN, JSON_OPTIONAL,
                "Requests a second of a key, or of an address; left out: no limit"),
    JSON_INTEGER(T, slots, 0, JSON_EXACT, 0, 0,
                 "Searches and simulations that compute at once in this process; more "
                 "wait"),
    JSON_NUMBER(T, processors, 0, 0, 0, 0,
                "Processors that this process may use: fewer than 1 under a quota of "
                "its control group"),
    {0},
};
#undef T
static const struct json_object limits_json = {
    "ServiceLimits", "What a request may ask for", sizeof(struct service_limits),
    limits_rows};

#define T struct service_links
static const struct json_field links_rows[] = {
    JSON_TEXT(T, docs, JSON_OPTIONAL, "The manual; left out: it is not served"),
    JSON_TEXT(T, dashboard, JSON_OPTIONAL, "The page for browsers; left out: likewise"),
    JSON_TEXT(T, openapi, 0, "The description of the API"),
    {0},
};
#undef T
static const struct json_object links_json = {"ServiceLinks", "Where more is to be read",
                                              sizeof(struct service_links), links_rows};

static const char *const scope_names[] = {"decide", "ingest", "admin",
                                          "read",   "facade", NULL};

#define T struct service_info
static const struct json_field info_rows[] = {
    JSON_TEXT(T, id, 0, "Stable name of the service"),
    JSON_TEXT(T, name, 0, "Name for people"),
    JSON_TEXT(T, description, 0, "What it does"),
    JSON_OBJECT(T, type, struct service_type, &type_json, 0, "Kind of service"),
    JSON_OBJECT(T, organization, struct organization, &organization_json, 0, "Provider"),
    JSON_TEXT(T, version, 0, "Version of the program"),
    JSON_WORD(T, auth, auth_words, 0, "none: nobody needs a key; key: others do"),
    JSON_WORDS(T, scopes, scope_count, scope_names, 0,
               "What the key that asks may do; none: there is no such key"),
    JSON_OBJECT(T, links, struct service_links, &links_json, 0,
                "Where more is to be read"),
    JSON_OBJECT(T, limits, struct service_limits, &limits_json, 0,
                "What is in force here"),
    {0},
};
#undef T
const struct json_object service_info_json = {"ServiceInfo",
                                              "What this service is (GA4GH)",
                                              sizeof(struct service_info), info_rows};

/* What the key of the request may do; 0: there is none that is known. */
static enum error_code find_scopes(struct request *rq, unsigned *scopes)
{
    const struct message *m = rq->message;
    struct auth_grant grant = {0};
    struct error err = {.arena = rq->arena};
    enum auth_result result =
        auth_check(rq->service->auth, m->authorization, m->remote_address,
                   SCOPE_DECIDE | SCOPE_INGEST | SCOPE_READ | SCOPE_FACADE, rq->may_block,
                   &grant, rq->arena, &err);

    if (result == AUTH_NEEDS_DATABASE || result == AUTH_NEEDS_REFRESH)
        return fail(rq->err, ERR_WOULD_BLOCK, "", "the key must be looked up");
    *scopes = result == AUTH_ALLOWED ? grant.who.scopes : 0;
    return OK;
}

static void fill_scopes(struct service_info *info, unsigned scopes, struct arena *a)
{
    static const unsigned bits[] = {SCOPE_DECIDE, SCOPE_INGEST, SCOPE_ADMIN, SCOPE_READ,
                                    SCOPE_FACADE};
    const char **list = NEW(a, const char *, sizeof(bits) / sizeof(bits[0]));

    for (size_t i = 0; scope_names[i]; i++)
        if (scopes & bits[i])
            list[info->scope_count++] = scope_names[i];
    info->scopes = list;
}

enum error_code get_service_info(struct request *rq, const void *in, void *out)
{
    const struct config *config = rq->service->config;
    struct service_info *info = out;
    unsigned scopes;

    (void)in;
    TRY(find_scopes(rq, &scopes));
    *info = (struct service_info){
        .id = "gridplan",
        .name = "gridplan",
        .description = "Scheduling decisions over HTTP",
        .version = GRIDPLAN_VERSION,
        .type = {"gridplan", "scheduling-decisions", "1"},
        .organization = {"gridplan", "/"},
        .auth = auth_words[config->auth_required],
        .links = {.docs = config->docs ? "/docs/" : NULL,
                  .dashboard = config->ui ? "/" : NULL,
                  .openapi = "/openapi.json"},
        .limits = {.time_limit_max_s = config->time_limit_max_s,
                   .simulation_time_limit_s = config->simulation_time_limit_s,
                   .rate_limit_per_s = config->rate_limit_per_s > 0
                                           ? config->rate_limit_per_s
                                           : (double)NAN,
                   .max_body_bytes = config->max_body_bytes,
                   .max_upload_bytes = config->max_upload_bytes,
                   .page_size_max = PAGE_SIZE_MAX,
                   .slots = config->compute_workers,
                   .processors = config->processors},
    };
    fill_scopes(info, scopes, rq->arena);
    return OK;
}
