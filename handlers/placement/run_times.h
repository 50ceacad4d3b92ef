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

/* Jobs of a request, or what stands for jobs there. */
struct run_time_jobs {
    const struct job *jobs;
    size_t count;
    const char *one, *many; /* what they are called; NULL: "job", "jobs" */
    /* Where one is in the request; NULL: in the list at "/jobs". */
    const char *(*at)(const void *context, size_t job, struct arena *a);
    const void *context;
    /* They are of a stored request, which models may not outlive: one that is not there,
     * or tells no run times any more, is no mistake: the job has no time then. */
    bool are_stored;
    bool
        lacks_memory; /* they have none that could be sized: model.resources is refused */
};

/* Asks the models of all jobs, as they are now or, in a replay, as they were. *out: the
 * jobs, with their times where a model answers; NULL in *times: no job has a model. Notes
 * the mistakes in the models of jobs in *rq->err, and fails only if it cannot go on.
 * O(jobs + questions * classes * log runs + resources * models). */
enum error_code run_times_resolve(struct request *rq, const struct snapshot *s,
                                  const struct run_time_jobs *of, const struct job **out,
                                  struct run_times **times);

/* A snapshot of one machine of this name that nothing else is known of. */
enum error_code run_times_any_machine(struct request *rq, const char *id,
                                      const struct snapshot **out);

/* What is to be known of the models' answers, as warnings. */
void run_times_warn(struct request *rq, const struct run_times *times,
                    struct decision_answer *answer);

/* Who says of rows of an answer where their run times come from: of those whose time is
 * learnt, or of `all`. times NULL: nothing is learnt. jobs NULL: those of times. NULL:
 * there is nothing to say. */
struct run_time_teller;
struct run_time_teller *run_time_teller_create(struct request *rq,
                                               const struct run_times *times,
                                               const struct snapshot *s,
                                               const struct job *jobs, size_t job_count,
                                               bool all);

/* Of the job at that place of the request, on these resources: fills *basis, or beyond
 * 1,000 jobs *index of the list; else they stay as they are. */
void run_time_tell(struct run_time_teller *x, size_t job, const char *const *resource_ids,
                   size_t resource_id_count, const struct run_time_basis **basis,
                   uint64_t *index);

/* All placements of these jobs, the first of those that the teller knows. */
void run_time_tell_plan(struct request *rq, struct run_time_teller *x,
                        const struct job *jobs, size_t job_count,
                        struct placement_out *plan);

/* The list, when all is said. */
const struct run_time_basis *run_time_list(const struct run_time_teller *x,
                                           size_t *count);

/* All placements. */
void run_times_tell(struct request *rq, const struct run_times *times,
                    const struct snapshot *s, const struct job *jobs, size_t job_count,
                    bool all, struct placement_out *plan,
                    const struct run_time_basis **list, size_t *count);

/* Rows of a struct T with the members run_time_basis and run_time_index. */
#define RUN_TIME_BASIS_ROWS(T)                                                          \
    JSON_OBJECT(T, run_time_basis, const struct run_time_basis *, &run_time_basis_json, \
                JSON_POINTER | JSON_OPTIONAL,                                           \
                "Where its run time comes from: if that is a model, or with run_times " \
                "in include"),                                                          \
        JSON_INTEGER(T, run_time_index, 0, JSON_EXACT, 0, JSON_OPTIONAL,                \
                     "The same in run_times, from 0, where there are more than 1,000 "  \
                     "jobs")

/* Row of a struct T with the members run_times and run_time_count. */
#define RUN_TIMES_ROW(T)                                                                 \
    JSON_LIST(T, run_times, run_time_count, struct run_time_basis, &run_time_basis_json, \
              0, JSON_OPTIONAL,                                                          \
              "Of more than 1,000 jobs: what their run_time_index means")

#endif
