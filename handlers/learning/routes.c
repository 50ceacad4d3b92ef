/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/learning/routes.h"

#include "handlers/common/tags.h"

const struct route learning_routes[] = {
    {"GET", "/v1/machine-effects", "listMachineEffects", TAG_MODELS, get_machine_effects,
     NULL, &machine_effects_page_json, &machine_effects_query_json, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, 0, "How machines differ",
     "The factor that run times have on each type of machine (resource_class of "
     "executions, else their site_id), from what ran on two of them at least, over all "
     "applications. Models of kind auto use it, so that an application is predicted on a "
     "machine that others have run on. Worked out anew at most once a minute, when "
     "models "
     "learn.",
     NULL},
    {"POST", "/v1/resource-sizings", "decideResourceSizings", TAG_MODELS,
     post_resource_sizings, &sizing_request_json, &sizing_answer_json, NULL, WORK_COMPUTE,
     SCOPE_DECIDE, ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_LOOKS_UP,
     "How much memory, disk or cpu to ask for?",
     "For each task the requests of its first and of all further attempts that waste "
     "least: what is held and not used, and what a failed attempt costs. From what a "
     "model "
     "of kind auto has learnt of the application's memory_peak_bytes, which comes by "
     "itself with the second execution that says its peak. A task whose attempt failed "
     "is "
     "sent again with attempt and memory_requested_bytes. With the target "
     "disk_peak_bytes "
     "the same of disk space; with cpus_used the cpus that nine runs of ten do not use "
     "up.",
     "sizing-"},
    {0},
};
