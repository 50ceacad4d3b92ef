/* starts.h - what to start now: from a plan just made, or from one made a while ago.
 */
#ifndef GRIDPLAN_SESSION_STARTS_H
#define GRIDPLAN_SESSION_STARTS_H

#include "handlers/session_run/plan.h"

struct session_start {
    const char *task_id;
    uint64_t attempt;
    const char *resource_id;
    const char *const *resource_ids; /* of several nodes: all, resource_id is the first */
    size_t resource_id_count;
    double run_time_s, finish_s;
    struct session_basis run_time_basis;
    double hold_until_at_s; /* NAN: it is not granted */
    size_t task;            /* its number */
    size_t gang;            /* those of one gang stand together; SESSION_NO_TASK: none */
};

struct session_queued {
    const char *task_id;
    double start_s, finish_s; /* from now */
};

struct session_queue {
    const char *resource_id;
    const struct session_queued *tasks;
    size_t task_count;
};

struct session_unstartable {
    const char *task_id, *status;
};

/* What is asked for. */
struct session_wish {
    struct session_candidates candidates;
    const char *const *resource_ids; /* NULL: all */
    size_t resource_id_count;
    uint64_t max_count; /* 0: all */
    uint64_t queue_depth;
    bool any_candidates; /* the plan in force may be of whatever candidates */
    const char *holder;  /* NULL: of GET next, which grants nothing */
};

/* What is answered. */
struct session_choice {
    struct session_plan plan;
    bool is_fresh; /* it was made just now */
    struct session_start *starts;
    size_t start_count, again_count; /* the first are the holder's, once more */
    const struct session_queue *queues;
    size_t queue_count;
    const struct session_unstartable *not_startable;
    size_t not_startable_count;
    double ask_again_in_s;
};

/* The plan in force, or a new one, which is written; and what it says. */
enum error_code session_choose(struct session_run *run, const struct session_wish *wish,
                               struct session_choice *out);

#endif
