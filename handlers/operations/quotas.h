/* quotas.h - GET /v1/quotas: what the caller may still take. */
#ifndef GRIDPLAN_QUOTAS_H
#define GRIDPLAN_QUOTAS_H

#include "service/route.h"

extern const struct json_object quotas_json;

handler_fn get_quotas;

#endif
