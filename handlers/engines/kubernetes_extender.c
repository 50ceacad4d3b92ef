/* kubernetes_extender.c - the scheduler of Kubernetes asks where a pod may and should go.
 *
 * A pod must never wait for this service: whatever goes wrong, every node passes and has
 * the score 0. Which task a pod is, is not known yet: so all pods are answered like that,
 * each in the form that was asked.
 */
#include "handlers/engines/routes.h"

#include "models/kubernetes.h"
#include "service/json_scan.h"
#include "service/metrics.h"
#include "service/service.h"

#include <string.h>

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
          good ? "unknown_pod" : "refused");
    return OK;
}
