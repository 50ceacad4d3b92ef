/* reschedule_events.h - /v1/reschedule-events: moves of running applications. */
#ifndef GRIDPLAN_RESCHEDULE_EVENTS_H
#define GRIDPLAN_RESCHEDULE_EVENTS_H

#include "service/route.h"

extern const struct json_object reschedule_event_json;
extern const struct json_object reschedule_events_query_json;
extern const struct json_object reschedule_events_page_json;

/* POST /v1/reschedule-events (bulk): answers bulk_unique_answer_json of bulk.h. */
handler_fn post_reschedule_events;

/* GET /v1/reschedule-events */
handler_fn get_reschedule_events;

#endif
