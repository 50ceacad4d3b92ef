/* kubernetes_extender.c - the scheduler of Kubernetes asks where a pod may and should go.
 *
 * A pod must never wait for this service: whatever goes wrong, every node passes and has
 * the score 0, in the form that was asked. Of a pod of nf-cws it is noted that it is
 * scheduled; where it would end first is not known yet, so that it is answered like
 * others.
 */
#include "handlers/engines/routes.h"

#include "models/kubernetes.h"
#include "service/json_scan.h"
#include "service/metrics.h"
#include "service/service.h"
#include "service/store_cws.h"

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

enum error_code post_kubernetes_filter(struct request *rq, const void *in, void *out)
{
    struct kubernetes_args args = {0};
    bool good = read_args(rq, in, &args);

    (void)out;
    if (good)
        reply(rq, kubernetes_filter_answer(&args, NULL, "", rq->arena), "unknown_pod");
    else
        reply(rq,
              kubernetes_filter_answer(&(struct kubernetes_args){0}, NULL,
                                       "the body cannot be read", rq->arena),
              "refused");
    return OK;
}

enum error_code post_kubernetes_prioritize(struct request *rq, const void *in, void *out)
{
    struct kubernetes_args args = {0};
    bool good = read_args(rq, in, &args);

    (void)out;
    if (!good)
        args.node_count = 0;
    reply(rq, kubernetes_prioritize_answer(&args, NULL, rq->arena),
          !good                       ? "refused"
          : note_scheduled(rq, &args) ? "scheduled"
                                      : "unknown_pod");
    return OK;
}
