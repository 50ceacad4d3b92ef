/* store_cws.h - runs and tasks of nf-cws. */
#ifndef GRIDPLAN_STORE_CWS_H
#define GRIDPLAN_STORE_CWS_H

#include "models/cws_graph.h"
#include "service/db.h"

/* States of tasks, ended by NULL. */
#define CWS_UNSCHEDULED "UNSCHEDULED"
#define CWS_SCHEDULED   "SCHEDULED"
#define CWS_FINISHED    "FINISHED"
extern const char *const store_cws_state_names[];

struct store_cws_task {
    uint64_t task_id, attempt;
    const char *pod, *process;
    double cpus, memory_bytes, input_bytes; /* NAN: not said */
    const char *state;                      /* of what is read: of the list below */
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

/* The run's graph. What has a number that is there already stays as it is; more than
 * CWS_VERTICES_MAX or CWS_EDGES_MAX: ERR_TOO_LARGE. */
enum error_code store_cws_vertices_add(struct db_session *s, const char *tenant,
                                       const char *run, const struct cws_vertex *list,
                                       size_t count, struct arena *a, struct error *err);
enum error_code store_cws_edges_add(struct db_session *s, const char *tenant,
                                    const char *run, const struct cws_edge *list,
                                    size_t count, struct arena *a, struct error *err);
enum error_code store_cws_vertices_remove(struct db_session *s, const char *tenant,
                                          const char *run, const uint64_t *uids,
                                          size_t count, struct arena *a,
                                          struct error *err);
enum error_code store_cws_edges_remove(struct db_session *s, const char *tenant,
                                       const char *run, const uint64_t *uids,
                                       size_t count, struct arena *a, struct error *err);

/* All that is kept of a run. Everything by its arrival. */
struct store_cws_run {
    const char *strategy; /* NULL: not said */
    const struct store_cws_task *tasks;
    const struct cws_vertex *vertices;
    const struct cws_edge *edges;
    size_t task_count, vertex_count, edge_count;
};
enum error_code store_cws_read(struct db_session *s, const char *tenant, const char *run,
                               struct store_cws_run *out, bool *found, struct arena *a,
                               struct error *err);

/* Mean run time of the last thousand executions of each that went well; those that have
 * none are left out. `number`: the caller's; comes back. */
struct store_cws_time {
    const char *application_id;
    uint64_t number;
    double run_time_s;
};
enum error_code store_cws_times(struct db_session *s, const char *tenant,
                                const struct store_cws_time *asked, size_t count,
                                struct store_cws_time **list, size_t *found,
                                struct arena *a, struct error *err);

/* The pod's task, of the run that was heard of last. */
enum error_code store_cws_of_pod(struct db_session *s, const char *tenant,
                                 const char *pod, struct store_cws_task *task,
                                 bool *found, struct arena *a, struct error *err);

/* The pod's task, of any run, is scheduled. *found: there is one that waited for it. */
enum error_code store_cws_schedule(struct db_session *s, const char *tenant,
                                   const char *pod, bool *found, struct error *err);

#endif
