/* events.h - what engines report of a run: stored once, whatever comes twice. */
#ifndef GRIDPLAN_SESSION_EVENTS_H
#define GRIDPLAN_SESSION_EVENTS_H

#include "handlers/session_run/run.h"

struct session_events_answer {
    uint64_t revision, received, stored, duplicates, refused;
    const struct session_mistake *errors;
    size_t error_count;
    const char *const *superseded;
    size_t superseded_count;
    const char **warnings;
    size_t warning_count;
};
extern const struct json_object session_events_answer_json;
extern const struct json_object session_events_page_json;
extern const struct json_object session_events_query_json;

handler_fn post_session_events, get_session_events;

/* Stores them in one transaction; `pointer` is where the list is in the body. *read: the
 * definition and tasks as of the revision that the answer tells; may be NULL. */
enum error_code session_events_store(struct request *rq, const struct json_lines *in,
                                     const char *pointer,
                                     struct session_events_answer *answer,
                                     struct session_run *read);

/* ---- consequences.c: in the same transaction ---- */

/* The attempts of tasks that new events are of. */
struct session_touched {
    const struct session_run *run; /* definition, tasks, ids; no state */
    struct db_session *db;
    const struct session_fold *fold;
    const struct session_event *events; /* all of their tasks */
    size_t event_count;
    const struct store_session_event *fresh; /* the new ones */
    size_t fresh_count;
};

/* Attempts that are over become executions, each once; another end replaces them. */
enum error_code session_learn(const struct session_touched *t);

/* Leases of a stored snapshot: attempts that run have one each, others none. */
enum error_code session_sync_leases(const struct session_touched *t,
                                    size_t *overcommitted);

#endif
