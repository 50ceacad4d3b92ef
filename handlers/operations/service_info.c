/* service_info.c - GET /v1/service-info: what this service is. */
#include "handlers/operations/routes.h"

struct service_type {
    const char *group, *artifact, *version;
};

struct organization {
    const char *name, *url;
};

struct service_info {
    const char *id, *name, *description, *version;
    struct service_type type;
    struct organization organization;
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

#define T struct service_info
static const struct json_field info_rows[] = {
    JSON_TEXT(T, id, 0, "Stable name of the service"),
    JSON_TEXT(T, name, 0, "Name for people"),
    JSON_TEXT(T, description, 0, "What it does"),
    JSON_OBJECT(T, type, struct service_type, &type_json, 0, "Kind of service"),
    JSON_OBJECT(T, organization, struct organization, &organization_json, 0, "Provider"),
    JSON_TEXT(T, version, 0, "Version of the program"),
    {0},
};
#undef T
const struct json_object service_info_json = {"ServiceInfo",
                                              "What this service is (GA4GH)",
                                              sizeof(struct service_info), info_rows};

enum error_code get_service_info(struct request *rq, const void *in, void *out)
{
    struct service_info *info = out;

    (void)in, (void)rq;
    *info = (struct service_info){
        .id = "gridplan",
        .name = "gridplan",
        .description = "Scheduling decisions over HTTP",
        .version = GRIDPLAN_VERSION,
        .type = {"gridplan", "scheduling-decisions", "1"},
        .organization = {"gridplan", "/"},
    };
    return OK;
}
