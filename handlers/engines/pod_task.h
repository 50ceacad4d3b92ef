/* pod_task.h - what is known of a pod that kube-scheduler asks about, and of where it
 * would go: its task, what that needs, and each node of the stored world by itself.
 *
 * A pod is the task of nf-cws of that pod name (the latest run), or the task that its
 * annotations name. The world is the stored snapshot of the setting k8s_snapshot_id, with
 * its leases.
 *
 * Source: engines.md 10.
 */
#ifndef GRIDPLAN_POD_TASK_H
#define GRIDPLAN_POD_TASK_H

#include "algorithms/placement/each.h"
#include "models/kubernetes.h"
#include "service/route.h"

struct pod_task {
    double peak_bytes;        /* 0.95 quantile of its peak memory; NAN: not known */
    const struct snapshot *s; /* the world; */
    const struct placement_each *each; /* each node of it, by snapshot index */
};

/* *found: the pod and the world are known. The connection's statements end after limit_s,
 * and so does the looking at nodes. Fails as reading does; what then is in *rq->err is
 * the caller's to forget. */
enum error_code pod_task_read(struct request *rq, const struct kubernetes_pod *pod,
                              double limit_s, struct pod_task *out, bool *found);

#endif
