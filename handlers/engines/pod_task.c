/* pod_task.c - what is known of a pod, and of where it would go. */
#include "handlers/engines/pod_task.h"

#include "handlers/common/snapshot_json.h"
#include "handlers/learning/sizing_models.h"
#include "handlers/placement/run_times.h"
#include "handlers/session_run/run.h"
#include "handlers/snapshots/lease_view.h"
#include "models/base/names.h"
#include "models/snapshot_at.h"
#include "service/config.h"
#include "service/service.h"
#include "service/store_cws.h"

#include <math.h>
#include <string.h>

static const double LEVEL = 0.9; /* between the quantiles 0.05 and 0.95 */

/* A pod's task, of whichever kind. */
struct subject {
    const char *application_id;
    double size;    /* of its problem; NAN: not known */
    struct job job; /* of its run time and needs what is known */
};

/* What kube-scheduler itself says of it. */
static struct job job_of(const struct kubernetes_pod *pod)
{
    struct job job = job_unset("pod");

    if (pod->cpus > 0)
        job.cpus = pod->cpus;
    job.memory_bytes = pod->memory_bytes;
    job.disk_bytes = pod->disk_bytes;
    return job;
}

/* ---- the world ---- */

static enum error_code read_world(struct request *rq, const char *snapshot_id,
                                  struct snapshot *out)
{
    struct snapshot_view view;
    const char *document;
    struct snapshot s;

    TRY(snapshot_view_read(rq, snapshot_id, &view, &document));
    TRY(json_read(&snapshot_json, document, strlen(document), &s, NULL, rq->arena,
                  rq->err));
    s = snapshot_at(&s, isnan(s.taken_at_s) ? view.written_at_s : s.taken_at_s,
                    view.now_at_s, rq->arena);
    *out = snapshot_with_leases(&s, &view, rq->arena);
    out->leased_ids = NULL; /* none of them is this pod */
    out->leased_id_count = 0;
    return OK;
}

/* ---- the task: of nf-cws ---- */

/* Its run time is what the model of its process says. */
static enum error_code ask_model(struct request *rq, const struct snapshot *s,
                                 const struct store_cws_task *task, struct subject *x)
{
    struct job_model *model = NEW(rq->arena, struct job_model, 1);
    struct run_time_jobs of = {.jobs = &x->job, .count = 1};
    const struct job *told;
    struct run_times *times;

    *model = (struct job_model){.application_id = x->application_id,
                                .phase_index = NAN,
                                .problem_size = task->input_bytes,
                                .processors = NAN,
                                .quantile = 0.5};
    x->job.model = model;
    TRY(run_times_resolve(rq, s, &of, &told, &times));
    x->job = *told;
    x->job.model = NULL;
    return OK;
}

static enum error_code read_cws(struct request *rq, struct db_session *db,
                                const struct snapshot *s,
                                const struct kubernetes_pod *pod, struct subject *x,
                                bool *found)
{
    struct store_cws_task task;

    TRY(store_cws_of_pod(db, rq->principal.tenant, pod->name, &task, found, rq->arena,
                         rq->err));
    if (!*found)
        return OK;
    x->application_id = arena_printf(rq->arena, "cws/%s", task.process);
    x->size = task.input_bytes;
    return ask_model(rq, s, &task, x);
}

/* ---- the task: of a session ---- */

static enum error_code read_session(struct request *rq, const struct snapshot *s,
                                    const struct kubernetes_pod *pod, struct subject *x,
                                    bool *found)
{
    struct session_at now = {NAN, JSON_NO_INTEGER, false};
    const struct session_times *times;
    const struct session_task_body *body;
    struct session_run run;
    double *etc_s;
    size_t task;

    TRY(session_run_find(&run, rq, pod->session_id, &now, false));
    task = name_index_find(&run.ids, pod->task_id);
    *found = task != NAME_NOT_FOUND;
    if (!*found)
        return OK;
    TRY(session_world(&run));
    times = session_times_of(&run);
    body = &run.tasks[task];
    x->application_id =
        arena_printf(rq->arena, "%s/%s", run.row.application_id, session_class_of(body));
    x->size = body->model ? body->model->problem_size : (double)NAN;
    x->job.needs = body->task.needs;
    x->job.need_count = body->task.need_count;
    etc_s = NEW(rq->arena, double, s->resource_count);
    for (size_t i = 0; i < s->resource_count; i++) {
        size_t at = name_index_find(&run.resources, s->resources[i].id);
        enum session_source source;

        etc_s[i] =
            at == NAME_NOT_FOUND ? (double)NAN : session_time_s(times, task, at, &source);
    }
    x->job.etc_s = etc_s;
    x->job.etc_count = s->resource_count;
    return OK;
}

/* ---- its peak ---- */

/* NAN: no model of kind auto tells it. */
static enum error_code find_peak(struct request *rq, const struct subject *x,
                                 double *peak_bytes)
{
    struct sizing_subject of = {.application_id = x->application_id,
                                .target = TARGET_MEMORY_PEAK};
    static const char *const nowhere[] = {""};
    struct perf_query query = {x->size, fmax(1, x->job.cpus), NAN, NAN};
    double inputs[FITTED_INPUTS_MAX] = {0};
    struct fitted_interval interval;
    struct fitted_prediction told;
    struct sizing_models models;
    bool unavailable;

    *peak_bytes = (double)NAN;
    TRY(sizing_models_read(rq, &of, nowhere, 1, &models, &unavailable));
    if (!models.peak)
        return OK;
    fitted_auto_inputs(models.peak->names, &query, NULL, 0, NULL, NULL, inputs, NULL);
    TRY(fitted_interval(models.peak, LEVEL, &interval, rq->arena, rq->err));
    fitted_predict(models.peak, &query, inputs, &interval, &told);
    if (!told.reason && isfinite(told.high_s) && told.high_s > 0)
        *peak_bytes = told.high_s;
    return OK;
}

/* ---- all of it ---- */

static enum error_code look_at_nodes(struct request *rq, struct subject *x,
                                     struct pod_task *out)
{
    struct placement_world world = {.what_if = false};
    struct placement_in in = {.snapshot = out->s,
                              .jobs = &x->job,
                              .job_count = 1,
                              .world = &world,
                              .seed = 1,
                              .budget = &rq->budget};

    if (!isnan(out->peak_bytes))
        x->job.memory_bytes = out->peak_bytes;
    return placement_each_find(&in, &out->each, rq->arena, rq->err);
}

enum error_code pod_task_read(struct request *rq, const struct kubernetes_pod *pod,
                              double limit_s, struct pod_task *out, bool *found)
{
    const char *snapshot_id = rq->service->config->k8s_snapshot_id;
    struct snapshot *s = NEW(rq->arena, struct snapshot, 1);
    struct subject x = {.job = job_of(pod), .size = NAN};
    struct db_session *db;

    *found = false;
    if (!*snapshot_id || !rq->service->db || (!pod->name && !pod->session_id))
        return OK;
    request_set_time_limit(rq, limit_s);
    TRY(request_db(rq, &db));
    db_session_set_timeout(db, limit_s);
    TRY(read_world(rq, snapshot_id, s));
    if (pod->name)
        TRY(read_cws(rq, db, s, pod, &x, found));
    if (!*found && pod->session_id && pod->task_id)
        TRY(read_session(rq, s, pod, &x, found));
    if (!*found)
        return OK;
    *found = false;
    out->s = s;
    TRY(find_peak(rq, &x, &out->peak_bytes));
    TRY(look_at_nodes(rq, &x, out));
    *found = true;
    return OK;
}
