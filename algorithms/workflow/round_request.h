/* workflow/round_request.h - a request for a round, its names made numbers.
 *
 * round.c numbers and checks it, round_estimates.c says how much work tasks have left,
 * round_answer.c turns what was decided into names again. Names, edges, sites and links
 * are read as for the static policies (problem_parts.h), so the same mistakes get the
 * same pointers.
 */
#ifndef GRIDPLAN_WORKFLOW_ROUND_REQUEST_H
#define GRIDPLAN_WORKFLOW_ROUND_REQUEST_H

#include "algorithms/workflow/problem_parts.h"
#include "algorithms/workflow/round_plan.h"

struct wf_request {
    const struct workflow_in *in;
    const struct policy *policy;
    double param[PARAMS_MAX];
    struct workflow_problem problem; /* without its processors */
    struct workflow_parts parts;

    struct workflow_amounts *amounts; /* NULL: slots alone count */

    struct workflow_plain plain;
    struct workflow_plain_task *tasks;
    struct workflow_plain_resource *resources;
    size_t *carry, *carry_first;
    size_t *listed;                      /* tasks of the request on each resource */
    struct workflow_estimate *estimates; /* of each task; source NULL: not asked for */
    uint64_t stale_count;
    size_t halves; /* tasks that run on several nodes and name one */
    size_t ready_count;

    struct arena *arena;
    struct error *err;
};

/* What a resource has for grid tasks, and how many there are. */
double wf_free_speed(const struct resource *r);

/* Whether its tasks share that: `sharing` equal. Otherwise each slot has all of it, and
 * with amounts each task. */
bool wf_shares(const struct wf_request *rq, size_t resource);
size_t wf_job_count(const struct wf_request *rq, size_t resource);

/* ---- round_amounts.c ---- */

/* Fills rq->amounts and rq->plain.amounts. Mistakes are in rq->err. */
enum error_code wf_read_amounts(struct wf_request *rq);

/* Running jobs of others on a resource. */
size_t wf_running_beside(const struct wf_request *rq, size_t resource);

/* Why a ready task has no place: reason, detail, resource_count. */
void wf_amounts_why(const struct wf_request *rq, const struct wf_plan *plan, size_t task,
                    struct workflow_unplaced *out);

/* Fills estimates, and remaining_ref_s and spread_ref_s of the tasks. */
enum error_code wf_estimate_tasks(struct wf_request *rq);

/* The plan before a round, as far as the answer compares with it. */
struct wf_before {
    double *set_max_s; /* NAN: none */
    double makespan_s;
};
void wf_note_before(const struct wf_request *rq, const struct wf_plan *plan,
                    struct wf_before *before);

void wf_answer(struct wf_request *rq, const struct wf_plan *plan,
               const struct wf_before *before, enum workflow_round_steps steps,
               struct workflow_round_out *out);

#endif
