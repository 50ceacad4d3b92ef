/* run_times.h - run times of jobs that fitted models tell.
 *
 * Each distinct question (model, problem size, processors, parameters, quantile) is asked
 * once for each class of resources that the model tells apart, never once for each job
 * and resource.
 */
#ifndef GRIDPLAN_RUN_TIMES_H
#define GRIDPLAN_RUN_TIMES_H

#include "algorithms/placement/placement.h"
#include "handlers/common/decision.h"

extern const struct json_object job_model_json;
extern const struct json_object run_time_basis_json;

/* Of a struct T that begins with a struct job. */
#define JOB_MODEL_ROW(T)                                                  \
    JSON_OBJECT(T, model, const struct job_model *, &job_model_json,      \
                JSON_POINTER | JSON_NULLABLE,                             \
                "Has a stored model of run times tell how long it runs; " \
                "used without etc_s, estimate_ref_s and estimate_s")

struct run_times;

/* Asks the models of all jobs, as they are now or, in a replay, as they were. `jobs`: the
 * list at "/jobs"; where a model answers, *out has them with its times; NULL in *times:
 * no job has a model. Notes the mistakes in the models of jobs in *rq->err, and fails
 * only if it cannot go on. O(jobs + questions * classes * log runs + resources * models).
 */
enum error_code run_times_resolve(struct request *rq, const struct snapshot *s,
                                  const struct job *jobs, size_t job_count,
                                  const struct job **out, struct run_times **times);

/* What is to be known of the models' answers, as warnings. */
void run_times_warn(struct request *rq, const struct run_times *times,
                    struct decision_answer *answer);

/* Says of each placement where its run time comes from: of those whose time is learnt, or
 * `all`. Beyond 1,000 jobs they name a row of *list instead. times NULL: nothing is
 * learnt.
 */
void run_times_tell(struct request *rq, const struct run_times *times,
                    const struct snapshot *s, const struct job *jobs, size_t job_count,
                    bool all, struct placement_out *plan,
                    const struct run_time_basis **list, size_t *count);

#endif
