/* stored_hint.h - the stored thing that a wrong name may have meant. */
#ifndef GRIDPLAN_STORED_HINT_H
#define GRIDPLAN_STORED_HINT_H

#include "service/route.h"

/* After the failure or the mistake that nothing of this name is stored: adds the nearest
 * name that the tenant has as its hint, if one of the first thousand is near. `parameter`
 * says of what: "snapshot_id", "workload_id", "failure_trace_id" or "model_id"; of others
 * there are no names. */
void stored_hint(struct request *rq, const char *parameter, const char *id);

#endif
