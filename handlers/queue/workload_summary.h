/* workload_summary.h - who asked for what in a stored workload, and when. */
#ifndef GRIDPLAN_WORKLOAD_SUMMARY_H
#define GRIDPLAN_WORKLOAD_SUMMARY_H

#include "service/route.h"

extern const struct json_object workload_summary_json;

/* GET /v1/workloads/{workload_id}/summary: answers workload_summary_json. */
handler_fn get_workload_summary;

#endif
