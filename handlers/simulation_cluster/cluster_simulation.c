/* cluster_simulation.c - simulations of kind "cluster". */
#include "handlers/simulation_cluster/cluster_simulation.h"

#include "handlers/simulation/simulations.h"
#include "handlers/simulation_cluster/cluster_simulation_parts.h"
#include "models/base/plural.h"

static const double GENERATED_STOP_S = 604800; /* of generated jobs: a week */
static const double JOB_BYTES = 700;           /* of a job that is played, about */

static void take_stop(struct cluster_playing *p)
{
    const struct simulation_stop *stop = p->body->stop;

    p->stop_s = p->body->workload ? GENERATED_STOP_S : HUGE_VAL;
    if (stop && !isnan(stop->time_s))
        p->stop_s = stop->time_s;
}

static void check_stop(struct cluster_playing *p)
{
    const struct simulation_stop *stop = p->body->stop;

    if (stop && !p->generates && p->err->code == OK && stop->jobs > p->jobs.count)
        invalid(p->err, "/stop/jobs", ITEM_OUT_OF_BOUNDS,
                "there %s %s: so many are never through",
                plural(p->jobs.count, "is", "are"), counted(p->jobs.count, "job").text);
}

/* Runs can end when nobody waits for a node that is down for good: they do. */
static enum error_code prepare(struct cluster_playing *p)
{
    enum error_code code;

    p->shim_body.failure_trace_id = p->body->failure_trace_id;
    p->shim_body.failure_trace_from_s = p->body->failure_trace_from_s;
    p->shim = (struct building){.rq = p->rq,
                                .body = &p->shim_body,
                                .out = &p->shim_setting,
                                .a = p->a,
                                .err = p->err};
    take_stop(p);
    cluster_labels_bind(p);
    cluster_site_bind(p);
    cluster_owners_bind(p);
    TRY(cluster_models_ask(p));
    code = cluster_jobs_bind(p);
    if (code != OK && code != ERR_INVALID)
        return code;
    check_stop(p);
    TRY(p->err->code);
    return cluster_site_trace(p);
}

enum error_code simulate_cluster(struct request *rq, const void *in, void *out)
{
    const struct cluster_simulation *body = in;
    struct cluster_simulation_answer *answer = out;
    struct cluster_playing *p = NEW(rq->arena, struct cluster_playing, 1);

    p->rq = rq;
    p->a = rq->arena;
    p->err = rq->err;
    p->body = body;
    p->answer = answer;
    TRY(simulation_begin(rq, &body->decision, &answer->decision));
    TRY(prepare(p));
    if (request_is_async(rq))
        return simulation_enqueue(rq, "cluster", body->name);
    TRY(request_reserve(rq, JOB_BYTES * (double)p->jobs.count));
    TRY(cluster_play(p));
    cluster_models_list(p);
    return OK;
}
