/* store_cws.h - runs and tasks of nf-cws. */
#ifndef GRIDPLAN_STORE_CWS_H
#define GRIDPLAN_STORE_CWS_H

#include "service/db.h"

struct store_cws_task {
    uint64_t task_id, attempt;
    const char *pod, *process;
    double cpus, memory_bytes, input_bytes; /* NAN: not said */
    const char *state;                      /* of what is read */
};

/* Makes the run; one that is there begins anew. */
enum error_code store_cws_start(struct db_session *s, const char *tenant, const char *run,
                                const char *strategy, struct error *err);

/* *found: there is such a run. The first only notes that it was heard of. */
enum error_code store_cws_touch(struct db_session *s, const char *tenant, const char *run,
                                bool *found, struct error *err);
enum error_code store_cws_remove(struct db_session *s, const char *tenant,
                                 const char *run, bool *found, struct error *err);

/* The run is there. A task that comes again replaces itself. */
enum error_code store_cws_put(struct db_session *s, const char *tenant, const char *run,
                              const struct store_cws_task *task, struct error *err);
enum error_code store_cws_get(struct db_session *s, const char *tenant, const char *run,
                              uint64_t task_id, struct store_cws_task *task, bool *found,
                              struct arena *a, struct error *err);
enum error_code store_cws_finish(struct db_session *s, const char *tenant,
                                 const char *run, uint64_t task_id, bool *found,
                                 struct error *err);

/* The pod's task, of the run that was heard of last. */
enum error_code store_cws_of_pod(struct db_session *s, const char *tenant,
                                 const char *pod, struct store_cws_task *task,
                                 bool *found, struct arena *a, struct error *err);

/* The pod's task, of any run, is scheduled. *found: there is one that waited for it. */
enum error_code store_cws_schedule(struct db_session *s, const char *tenant,
                                   const char *pod, bool *found, struct error *err);

#endif
