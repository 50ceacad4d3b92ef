/* service_info.c - GET /v1/service-info: what this service is. */
#include "handlers/common/page.h"
#include "handlers/operations/routes.h"
#include "service/config.h"
#include "service/service.h"

#include <math.h>

struct service_type {
    const char *group, *artifact, *version;
};

struct organization {
    const char *name, *url;
};

struct service_limits {
    double time_limit_max_s, simulation_time_limit_s, rate_limit_per_s, processors;
    uint64_t max_body_bytes, page_size_max, slots;
};

struct service_info {
    const char *id, *name, *description, *version;
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

#define T struct service_info
static const struct json_field info_rows[] = {
    JSON_TEXT(T, id, 0, "Stable name of the service"),
    JSON_TEXT(T, name, 0, "Name for people"),
    JSON_TEXT(T, description, 0, "What it does"),
    JSON_OBJECT(T, type, struct service_type, &type_json, 0, "Kind of service"),
    JSON_OBJECT(T, organization, struct organization, &organization_json, 0, "Provider"),
    JSON_TEXT(T, version, 0, "Version of the program"),
    JSON_OBJECT(T, limits, struct service_limits, &limits_json, 0,
                "What is in force here"),
    {0},
};
#undef T
const struct json_object service_info_json = {"ServiceInfo",
                                              "What this service is (GA4GH)",
                                              sizeof(struct service_info), info_rows};

enum error_code get_service_info(struct request *rq, const void *in, void *out)
{
    const struct config *config = rq->service->config;
    struct service_info *info = out;

    (void)in;
    *info = (struct service_info){
        .id = "gridplan",
        .name = "gridplan",
        .description = "Scheduling decisions over HTTP",
        .version = GRIDPLAN_VERSION,
        .type = {"gridplan", "scheduling-decisions", "1"},
        .organization = {"gridplan", "/"},
        .limits = {.time_limit_max_s = config->time_limit_max_s,
                   .simulation_time_limit_s = config->simulation_time_limit_s,
                   .rate_limit_per_s = config->rate_limit_per_s > 0
                                           ? config->rate_limit_per_s
                                           : (double)NAN,
                   .max_body_bytes = config->max_body_bytes,
                   .page_size_max = PAGE_SIZE_MAX,
                   .slots = config->compute_workers,
                   .processors = config->processors},
    };
    return OK;
}
