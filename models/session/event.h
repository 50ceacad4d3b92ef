/* session/event.h - what a workflow engine reports of a run: one event.
 *
 * Events may come late, doubled and in any order; the state of a run is a function of
 * their set (fold.h). They are ordered by (observed_at, event_id bytewise).
 */
#ifndef GRIDPLAN_SESSION_EVENT_H
#define GRIDPLAN_SESSION_EVENT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The first five are of an attempt of a task, the others of a resource. */
enum session_kind {
    SESSION_STARTED,
    SESSION_ENDED,
    SESSION_FAILED,
    SESSION_CANCELLED,
    SESSION_PROGRESS,
    SESSION_HOST_UP,
    SESSION_HOST_DOWN,
    SESSION_HOST_SPEED,
    SESSION_KIND_COUNT
};
extern const char *const session_kind_names[]; /* "started" ..., ended by NULL */

/* A NULL text or NAN is "not said". */
struct session_event {
    const char *event_id; /* unique in its session */
    int kind;             /* enum session_kind */
    double observed_at_s; /* instant, by the sender's clock */
    const char *task_id, *resource_id;
    const char *const *resource_ids; /* of a started one on several nodes: all of them,
                                        resource_id is the first */
    size_t resource_id_count;        /* 0: it names one */
    uint64_t attempt;                /* >= 1 */
    const char *running_id;   /* of a started one: its id in `running` of a snapshot */
    double run_time_s;        /* >= 0 */
    double memory_peak_bytes; /* >= 0 */
    double output_bytes;      /* >= 0 */
    double exit_code;         /* whole */
    const char *failure_kind;
    bool final;            /* of a failed one: it is not to be tried again */
    double progress_ratio; /* 0..1 */
    double mips_total;     /* > 0 */
    uint64_t seq;          /* order of storing; the fold never looks at it */
};

static inline bool session_is_of_task(int kind)
{
    return kind <= SESSION_PROGRESS;
}

/* Resources that a started one names. */
static inline size_t session_place_count(const struct session_event *started)
{
    return started->resource_id_count ? started->resource_id_count : 1;
}

static inline const char *session_place(const struct session_event *started, size_t k)
{
    return started->resource_id_count ? started->resource_ids[k] : started->resource_id;
}

static inline bool session_is_at(const struct session_event *started,
                                 const char *resource_id)
{
    for (size_t k = 0; k < session_place_count(started); k++)
        if (strcmp(session_place(started, k), resource_id) == 0)
            return true;
    return false;
}

/* Below 0: the left one comes first; 0: it is the same event. */
static inline int session_order(const struct session_event *left,
                                const struct session_event *right)
{
    if (left->observed_at_s != right->observed_at_s)
        return left->observed_at_s < right->observed_at_s ? -1 : 1;
    return strcmp(left->event_id, right->event_id);
}

#endif
