/* kubernetes.h - what the scheduler of Kubernetes asks an extender, and how it is
 * answered.
 *
 * The body is {"Pod", "Nodes", "NodeNames"} with names in any case; nodes come as a list
 * of objects or as names, and go back in the same form. Everything else is stepped over.
 *
 * Source: Kubernetes documentation, "Scheduler extender"; k8s.io/kube-scheduler
 * extender/v1, types ExtenderArgs, ExtenderFilterResult and HostPriority; "Quantity" of
 * its API reference.
 */
#ifndef GRIDPLAN_KUBERNETES_H
#define GRIDPLAN_KUBERNETES_H

#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { KUBERNETES_SCORE_MAX = 10 };

/* "500m", "2", "16Gi", "2G", "4e9": its value. False: it is none, or negative. */
bool kubernetes_quantity(const char *text, double *value);

struct kubernetes_node {
    const char *name;
    const char *object; /* as it came, a part of the body; NULL: only its name did */
    size_t object_length;
};

struct kubernetes_pod {
    const char *name;                 /* NULL: not said */
    const char *session_id, *task_id; /* of its annotations gridplan.session and
                                         gridplan.task; NULL */
    /* Requests: the greater of all containers together and each init container, those
     * that go on beside others (restartPolicy Always) counted with them; where the pod as
     * a whole requests an amount, that. And its overhead. */
    double cpus, memory_bytes, disk_bytes;
};

struct kubernetes_args {
    struct kubernetes_pod pod;
    bool by_name; /* NodeNames were sent; else Nodes */
    const struct kubernetes_node *nodes;
    size_t node_count;
};

/* ERR_MALFORMED: it is no such body. */
enum error_code kubernetes_args_read(const char *text, size_t length,
                                     struct kubernetes_args *out, struct arena *a,
                                     struct error *err);

/* The answer of the verb `filter`; failed: by node, why it cannot take the pod, NULL: it
 * can; the list itself NULL: all can. `error` is the answer's own, "" for none. */
const char *kubernetes_filter_answer(const struct kubernetes_args *args,
                                     const char *const *failed, const char *error,
                                     struct arena *a);

/* The answer of the verb `prioritize`: scores by node, 0 .. KUBERNETES_SCORE_MAX; NULL:
 * 0 for all. */
const char *kubernetes_prioritize_answer(const struct kubernetes_args *args,
                                         const int *scores, struct arena *a);

/* floor(10 (latest - finish) / (latest - earliest) + 0.5) by node; 0 for all where all
 * end at the same time, 0 for a finish that is not known (NAN). */
void kubernetes_scores(const double *finish_s, size_t count, int *scores);

#endif
