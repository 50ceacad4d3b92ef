/* reschedule_components.h - two events of POST /v1/reschedules: a component of a parallel
 * job erred, and runners that may be silent. */
#ifndef GRIDPLAN_RESCHEDULE_COMPONENTS_H
#define GRIDPLAN_RESCHEDULE_COMPONENTS_H

#include "service/route.h"

extern const struct json_object component_error_request_json;
extern const struct json_object component_error_answer_json;
extern const struct json_object runner_liveness_request_json;
extern const struct json_object runner_liveness_answer_json;

handler_fn reschedule_component_error, reschedule_runner_liveness;

#endif
