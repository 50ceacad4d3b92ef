/* simulation_study.h - the member `study` of simulations of kind "queue": what would
 * happen if.
 *
 * A base and variants of it replay the same jobs, one after the other; each variant is
 * compared with the base job by job (algorithms/queue/study.h), at once, so that of the
 * others nothing but the comparison is kept.
 */
#ifndef GRIDPLAN_SIMULATION_STUDY_H
#define GRIDPLAN_SIMULATION_STUDY_H

#include "handlers/queue/simulation_cluster.h"
#include "service/route.h"

struct study_request;
struct study_answer;
extern const struct json_object study_request_json, study_answer_json;

/* One that is prepared: the base, and behind it the variants. */
struct study_plan {
    struct request *rq;
    const struct study_request *request;
    const struct queue_replay_in *log; /* as the request has it besides */
    const struct cluster_in *cluster;  /* NULL: equal processors */
    struct study_trial *trials;        /* the base first */
    size_t trial_count;
    struct study_state *state; /* of the base */
};

/* Checks it; mistakes go to rq->err with pointers below /study. *log is read when the
 * trials are played. */
enum error_code study_prepare(struct request *rq, const struct study_request *request,
                              const struct queue_replay_in *log,
                              const struct cluster_in *cluster,
                              enum simulation_estimates estimates, uint64_t seed,
                              struct study_plan *plan);

/* Whether one of its trials counts on the models of jobs. */
bool study_asks_models(const struct study_request *request);

/* What a trial plays; `a` is for jobs that arrive at other times. */
const struct policy *study_trial_of(const struct study_plan *plan, size_t number,
                                    struct queue_replay_in *in, struct arena *a);

/* The same on a cluster: binds it with what is different about it. */
enum error_code study_cluster_of(const struct study_plan *plan, size_t number,
                                 struct request *rq, const struct cluster_in *base,
                                 const struct simulation_jobs *jobs,
                                 bool strict_dependencies, const struct policy **policy,
                                 enum simulation_estimates *counted_on,
                                 struct simulation_cluster *out);

/* Before the trials: 422 when the window of the study has no job. */
enum error_code study_check_window(const struct study_plan *plan);

/* What came out of a trial, of the base first; its outcomes must stay. users: names of
 * their keys; NULL: the keys are numbers. False: the budget was spent. */
bool study_note(struct study_plan *plan, size_t number, const struct queue_replay_in *in,
                const struct queue_replay_out *out, const struct queue_outcome *outcomes,
                const char *const *users, struct arena *scratch);

/* The answer, of the first `done` trials, in rq's arena. */
const struct study_answer *study_end(const struct study_plan *plan, size_t done);

/* Names of the trials, the base first. */
const char *study_name(const struct study_plan *plan, size_t trial);

#endif
