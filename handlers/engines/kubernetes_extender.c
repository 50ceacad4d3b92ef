/* kubernetes_extender.c - the scheduler of Kubernetes asks where a pod may and should go.
 *
 * A pod must never wait for this service: whatever goes wrong, every node passes and has
 * the score 0, in the form that was asked. A node of the stored world is refused when the
 * pod's predicted peak of memory, or a need of its task, is above what is free there; the
 * best score has the node where its task would end first.
 */
#include "handlers/engines/routes.h"

#include "handlers/engines/pod_task.h"
#include "models/base/names.h"
#include "service/json_scan.h"
#include "service/metrics.h"
#include "service/service.h"
#include "service/store_cws.h"

#include <math.h>
#include <string.h>

static const double DEADLINE_S = 0.15;

static void reply(struct request *rq, const char *text, const char *result)
{
    rq->reply->body = text;
    rq->reply->body_length = strlen(text);
    rq->reply->content_type = "application/json";
    metrics_facade(rq->service->metrics, "k8s", result, 1);
}

/* False: the body cannot be read. */
static bool read_args(struct request *rq, const void *in, struct kubernetes_args *args)
{
    const struct raw_body *body = in;
    struct error err = {.arena = rq->arena};

    return json_is_utf8(body->text, body->length) &&
           kubernetes_args_read(body->text, body->length, args, rq->arena, &err) == OK;
}

struct noting {
    const char *tenant, *pod;
    bool found;
};

static enum error_code note(struct db_session *db, void *context, struct error *err)
{
    struct noting *n = context;

    return store_cws_schedule(db, n->tenant, n->pod, &n->found, err);
}

/* Whether the pod is a task that waited for this. The scheduler does not wait for the
 * database. */
static bool note_scheduled(struct request *rq, const struct kubernetes_args *args)
{
    struct error before = *rq->err;
    struct noting n = {rq->principal.tenant, args->pod.name, false};
    struct db_session *db;

    if (!args->pod.name || !rq->service->db)
        return false;
    if (request_db(rq, &db) == OK) {
        db_session_set_timeout(db, DEADLINE_S);
        if (db_transaction(db, note, &n, rq->err) != OK)
            n.found = false;
    }
    *rq->err = before;
    return n.found;
}

/* What is known of the pod; false: nothing, or not in time. */
static bool know(struct request *rq, const struct kubernetes_args *args,
                 struct pod_task *task, const char **result)
{
    struct error before = *rq->err;
    bool found = false, read;

    read = pod_task_read(rq, &args->pod, DEADLINE_S, task, &found) == OK;
    *rq->err = before;
    *result = !read ? "not_known_now" : found ? "known" : "unknown_pod";
    return read && found;
}

/* Nodes of the world by name. */
static void index_nodes(const struct pod_task *task, struct name_index *index,
                        struct arena *a)
{
    name_index_create(index, task->s->resource_count, a);
    for (size_t i = 0; i < task->s->resource_count; i++)
        name_index_add(index, task->s->resources[i].id, i);
}

/* ---- filter ---- */

/* To a tenth. */
static double gib(double bytes)
{
    return round(bytes / (1024.0 * 1024 * 1024) * 10) / 10;
}

static const char *why_not(const struct pod_task *task, const struct placement_each *each,
                           struct arena *a)
{
    if (!each->short_of)
        return NULL;
    if (strcmp(each->short_of, "memory_bytes") != 0)
        return arena_printf(a, "needs %.15g %.100s, exceeds free %.15g", each->needed,
                            each->short_of, each->free);
    if (isnan(task->peak_bytes))
        return NULL; /* what the pod asks for is for others to compare */
    return arena_printf(a, "predicted memory %.15g GiB exceeds free %.15g GiB",
                        gib(each->needed), gib(each->free));
}

/* By node; NULL: all pass. */
static const char *const *failed_nodes(const struct kubernetes_args *args,
                                       const struct pod_task *task, struct arena *a)
{
    const char **failed = NEW(a, const char *, args->node_count);
    struct name_index index;
    size_t count = 0;

    index_nodes(task, &index, a);
    for (size_t i = 0; i < args->node_count; i++) {
        size_t at = name_index_find(&index, args->nodes[i].name);

        if (at != NAME_NOT_FOUND)
            failed[i] = why_not(task, &task->each[at], a);
        count += failed[i] != NULL;
    }
    /* A wrong prediction must not keep a pod out for ever. */
    return count < args->node_count ? failed : NULL;
}

enum error_code post_kubernetes_filter(struct request *rq, const void *in, void *out)
{
    const char *const *failed = NULL;
    struct kubernetes_args args = {0};
    struct pod_task task;
    const char *result;

    (void)out;
    if (!read_args(rq, in, &args)) {
        reply(rq,
              kubernetes_filter_answer(&(struct kubernetes_args){0}, NULL,
                                       "the body cannot be read", rq->arena),
              "refused");
        return OK;
    }
    if (know(rq, &args, &task, &result))
        failed = failed_nodes(&args, &task, rq->arena);
    reply(rq, kubernetes_filter_answer(&args, failed, "", rq->arena), result);
    return OK;
}

/* ---- prioritize ---- */

static const int *scores_of(const struct kubernetes_args *args,
                            const struct pod_task *task, struct arena *a)
{
    double *finish_s = NEW(a, double, args->node_count);
    int *scores = NEW(a, int, args->node_count);
    struct name_index index;

    index_nodes(task, &index, a);
    for (size_t i = 0; i < args->node_count; i++) {
        size_t at = name_index_find(&index, args->nodes[i].name);

        finish_s[i] = at == NAME_NOT_FOUND ? (double)NAN : task->each[at].finish_s;
    }
    kubernetes_scores(finish_s, args->node_count, scores);
    return scores;
}

enum error_code post_kubernetes_prioritize(struct request *rq, const void *in, void *out)
{
    struct kubernetes_args args = {0};
    const int *scores = NULL;
    struct pod_task task;
    const char *result;

    (void)out;
    if (!read_args(rq, in, &args)) {
        args.node_count = 0;
        reply(rq, kubernetes_prioritize_answer(&args, NULL, rq->arena), "refused");
        return OK;
    }
    if (know(rq, &args, &task, &result))
        scores = scores_of(&args, &task, rq->arena);
    if (note_scheduled(rq, &args) && !scores)
        result = "scheduled";
    reply(rq, kubernetes_prioritize_answer(&args, scores, rq->arena), result);
    return OK;
}
