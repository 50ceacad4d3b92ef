/* session/fold.h - from the events of a run to what is known of its attempts and hosts.
 *
 * A join-semilattice: of each attempt and each host a few registers, each of which keeps
 * one event by an order that is total, so that any order of arrival, and any repetition,
 * gives the same. (The idea is that of state-based replicated data types; M. Shapiro, N.
 * Preguica, C. Baquero, M. Zawirski, "Conflict-free replicated data types", 2011.)
 *
 *     attempt   started    the started event that is least
 *               terminal   ended before cancelled before failed; of a kind the least
 *               progress   the progress event that is greatest
 *               elsewhere  of each resource that only other started events name, the
 *                          least
 *     host      up         host_up or host_down, the greatest; none: up
 *               speed      host_speed, the greatest; none: as the snapshot says
 *               downs      the instants of all host_down events
 *
 * Events may be added to one that was ended, which is then ended again.
 */
#ifndef GRIDPLAN_SESSION_FOLD_H
#define GRIDPLAN_SESSION_FOLD_H

#include "models/base/arena.h"
#include "models/base/budget.h"
#include "models/base/names.h"
#include "models/session/event.h"

enum session_attempt_status {
    SESSION_TRY_NONE, /* only progress is known of it: it does not count */
    SESSION_TRY_RUNNING,
    SESSION_TRY_LOST, /* its host went down after it had started */
    SESSION_TRY_ENDED,
    SESSION_TRY_CANCELLED,
    SESSION_TRY_FAILED
};

/* A resource, and the least started event that names it. */
struct session_place_seen {
    const char *resource_id;
    const struct session_event *started;
};

struct session_attempt {
    const char *task_id;
    uint64_t number;
    const struct session_event *started, *terminal, *progress; /* NULL: none */
    struct session_place_seen *seen; /* of each resource that a started one names */
    size_t seen_count;
    bool
        is_settled; /* `elsewhere` is of what was seen; session_fold_end(), as the next */
    const struct session_place_seen *elsewhere; /* by resource_id */
    size_t elsewhere_count;
    enum session_attempt_status status;
    struct session_attempt *next; /* of the same task, by rising number */
};

struct session_host {
    const char *resource_id;
    const struct session_event *up, *speed; /* NULL: none */
    double last_down_at_s;                  /* the greatest of all downs; -HUGE_VAL */
};

struct session_fold {
    struct name_index tasks, hosts; /* positions in `first`, `hosts_seen` */
    struct session_attempt **first; /* of each task that events name */
    struct session_host *hosts_seen;
    size_t task_count, host_count, task_room, host_room;
    struct budget *budget;
    struct arena *arena;
};

/* An empty one, with room for events of `tasks` tasks before it grows. */
void session_fold_begin(struct session_fold *fold, size_t tasks, struct budget *budget,
                        struct arena *a);

/* Adds an event, which must outlive the fold. */
void session_fold_add(struct session_fold *fold, const struct session_event *event);

/* Whether the event is the content of its register, or one of the downs; else all is as
 * if it had not come, but for the place that a started one names. */
bool session_fold_counts(const struct session_fold *fold,
                         const struct session_event *event);

/* Works out the statuses, once all events are added. O(attempts log attempts). */
void session_fold_end(struct session_fold *fold);

/* All of it. */
void session_fold_all(const struct session_event *events, size_t count,
                      struct session_fold *fold, struct budget *budget, struct arena *a);

/* Attempts of a task by rising number; NULL: no event names it. */
const struct session_attempt *session_attempts(const struct session_fold *fold,
                                               const char *task_id);

/* NULL: no event names it. */
const struct session_host *session_host_of(const struct session_fold *fold,
                                           const char *resource_id);

bool session_host_is_down(const struct session_host *host);

#endif
