/* plan.h - a plan of a run: the request for POST /v1/workflow-schedules that it answers,
 * and what is kept of the answer.
 */
#ifndef GRIDPLAN_SESSION_PLAN_H
#define GRIDPLAN_SESSION_PLAN_H

#include "handlers/session_run/run.h"
#include "handlers/workflow/workflow_schedules.h"

/* A task of the plan that had not ended: in the order of starts. Seconds from the plan's
 * instant. */
struct session_plan_row {
    const char *task_id, *resource_id;
    const char *const *resource_ids; /* of several nodes: all, resource_id is the first */
    size_t resource_id_count;
    double start_s, finish_s;
    double rank_s; /* from its start to the end of everything, in mean times */
    bool
        many; /* it needs more than its resource: several nodes, shared amounts, a gang */
};

struct session_plan_move {
    const char *task_id, *from_resource_id, *to_resource_id;
    double gain_s; /* NAN: not known */
};

struct session_plan {
    uint64_t revision; /* of the session */
    double planned_at_s;
    const char *algorithm, *status;
    const char *candidates; /* task ids in byte order, each with a NUL-free separator;
                               NULL: none were given */
    const char *objective;  /* JSON, as the answer has it; likewise: */
    const char *schedule, *unplaced; /* NULL: session_plan_schedule() reads them */
    const struct session_plan_row *rows;
    size_t row_count;
    const struct session_plan_move *moves;
    size_t move_count;
    double over_s; /* the run is finished: nothing is asked for so long; else NAN */
    const char *const *warnings;
    size_t warning_count;
};
extern const struct json_object session_plan_json;

/* Tasks that an engine has in its hands; ids NULL: it did not say. */
struct session_candidates {
    const char *const *ids;
    size_t count;
};

/* Of the candidates' set, whatever their order. */
const char *session_candidates_key(const struct session_candidates *candidates,
                                   struct arena *a);

/* The body whose answer is the plan; session_world() first. */
enum error_code session_request(struct session_run *run,
                                const struct session_times *times,
                                const struct session_candidates *candidates,
                                struct workflow_body *body);

/* The same body, as JSON. */
const char *session_request_text(const struct workflow_body *body, struct arena *a);

/* A new plan. */
enum error_code session_plan_make(struct session_run *run,
                                  const struct session_times *times,
                                  const struct session_candidates *candidates,
                                  struct session_plan *plan);

/* Upward ranks of the tasks that are not done, in mean seconds, by their place in *ids.
 */
enum error_code session_ranks(struct session_run *run, const struct session_times *times,
                              struct name_index *ids, const double **ranks);

/* Reads the schedule of a plan that was stored. */
enum error_code session_plan_schedule(struct session_run *run, struct session_plan *plan);

/* What is wrong with the graph or the tasks of a run, and with its algorithm; all
 * mistakes, with pointers into its definition. */
enum error_code session_request_check(struct session_run *run);

/* ---- weights.c: ready jobs weigh what waits for them ---- */

/* *out: the jobs, those without a weight (NAN) with that of the task of their id: its
 * time and that of the longest way behind it, in mean seconds. Jobs that are no task of
 * the session, or one that is done, and without a session_id (NULL) all, weigh 1; of the
 * former the count, and the first. ERR_NOT_FOUND, ERR_GONE: there is no such session. A
 * replay takes what the decision has kept. O(tasks * resources + edges). */
enum error_code session_weigh(struct request *rq, const char *session_id,
                              const struct job *jobs, size_t count,
                              const struct job **out, size_t *unknown_count,
                              size_t *first_unknown);

#endif
