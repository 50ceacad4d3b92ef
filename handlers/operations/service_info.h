/* service_info.h - GET /v1/service-info: what this service is. */
#ifndef GRIDPLAN_SERVICE_INFO_H
#define GRIDPLAN_SERVICE_INFO_H

#include "service/route.h"

extern const struct json_object service_info_json;

handler_fn get_service_info;

#endif
