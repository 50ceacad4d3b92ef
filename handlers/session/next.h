/* next.h - what a run's engine is told: what to start, move, cancel, and when to ask
 * again.
 */
#ifndef GRIDPLAN_SESSION_NEXT_H
#define GRIDPLAN_SESSION_NEXT_H

#include "handlers/session/events.h"
#include "handlers/session_run/starts.h"

struct session_plan_info {
    uint64_t revision;
    double planned_at_s;
    const char *algorithm, *status;
    const char *objective; /* JSON */
};

struct session_move {
    const char *task_id;
    uint64_t attempt;
    const char *from_resource_id, *to_resource_id;
    double gain_s;
};

struct session_cancel_row {
    const char *task_id;
    uint64_t attempt;
    const char *resource_id;
};

struct session_answer {
    const char *session_id;
    uint64_t revision;
    const char *status;
    double now_s;
    const struct session_start *start;
    size_t start_count;
    const struct session_move *move;
    size_t move_count;
    const struct session_cancel_row *cancel;
    size_t cancel_count;
    const struct session_unstartable *not_startable;
    size_t not_startable_count;
    const struct session_queue *queues;
    size_t queue_count;
    struct session_plan_info plan;
    double ask_again_in_s;
    struct session_counts counts;
    const struct session_events_answer *events; /* NULL: none came with it */
    const char *const *warnings;
    size_t warning_count;
};

extern const struct json_object session_answer_json;
extern const struct json_object session_starts_json;     /* body of POST starts */
extern const struct json_object session_next_query_json; /* of GET next, */
extern const struct json_object session_at_query_json;   /* request and plan */
extern const struct json_object session_plan_answer_json;

handler_fn get_session_next, post_session_starts, get_session_request, get_session_plan;

/* Grants what may start, in one transaction: what is taken by others meanwhile is left
 * out. */
enum error_code session_grant(struct session_run *run, struct session_choice *choice,
                              const char *holder, double hold_s);

/* There is nothing to grant; it was asked for, so that the session expires later. */
enum error_code session_asked(struct request *rq, const char *session_id);

#endif
