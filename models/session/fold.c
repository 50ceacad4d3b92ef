/* session/fold.c - from the events of a run to what is known of its attempts and hosts.
 */
#include "models/session/fold.h"

#include <stdlib.h>

const char *const session_kind_names[] = {"started",   "ended",      "failed",
                                          "cancelled", "progress",   "host_up",
                                          "host_down", "host_speed", NULL};

enum { ROOM_LEAST = 16 };

void session_fold_begin(struct session_fold *fold, size_t tasks, struct budget *budget,
                        struct arena *a)
{
    size_t room = tasks > ROOM_LEAST ? tasks : ROOM_LEAST;

    *fold = (struct session_fold){
        .task_room = room, .host_room = ROOM_LEAST, .budget = budget, .arena = a};
    name_index_create(&fold->tasks, room, a);
    name_index_create(&fold->hosts, ROOM_LEAST, a);
    fold->first = NEW(a, struct session_attempt *, room);
    fold->hosts_seen = NEW(a, struct session_host, ROOM_LEAST);
}

/* Room for another task, and for another host: twice as much when there is none. */
static void widen_tasks(struct session_fold *fold)
{
    struct name_index wide;

    if (fold->task_count < fold->task_room)
        return;
    name_index_create(&wide, 2 * fold->task_room, fold->arena);
    for (size_t i = 0; i < fold->task_count; i++)
        name_index_add(&wide, fold->first[i]->task_id, i);
    fold->tasks = wide;
    fold->first = GROW(fold->arena, fold->first, struct session_attempt *,
                       fold->task_count, 2 * fold->task_room);
    fold->task_room *= 2;
}

static void widen_hosts(struct session_fold *fold)
{
    struct name_index wide;

    if (fold->host_count < fold->host_room)
        return;
    name_index_create(&wide, 2 * fold->host_room, fold->arena);
    for (size_t i = 0; i < fold->host_count; i++)
        name_index_add(&wide, fold->hosts_seen[i].resource_id, i);
    fold->hosts = wide;
    fold->hosts_seen = GROW(fold->arena, fold->hosts_seen, struct session_host,
                            fold->host_count, 2 * fold->host_room);
    fold->host_room *= 2;
}

/* ---- attempts ---- */

static struct session_attempt *attempt_of(struct session_fold *fold,
                                          const struct session_event *event)
{
    struct session_attempt **link, *made;
    size_t at;

    widen_tasks(fold);
    at = name_index_add(&fold->tasks, event->task_id, fold->task_count);
    if (at == NAME_NOT_FOUND)
        at = fold->task_count++;
    for (link = &fold->first[at]; *link && (*link)->number < event->attempt;) {
        budget_step(fold->budget, 1);
        link = &(*link)->next;
    }
    if (*link && (*link)->number == event->attempt)
        return *link;
    made = NEW(fold->arena, struct session_attempt, 1);
    made->task_id = event->task_id;
    made->number = event->attempt;
    made->next = *link;
    *link = made;
    return made;
}

static void keep_least(const struct session_event **at, const struct session_event *event)
{
    if (!*at || session_order(event, *at) < 0)
        *at = event;
}

static void keep_greatest(const struct session_event **at,
                          const struct session_event *event)
{
    if (!*at || session_order(event, *at) > 0)
        *at = event;
}

/* Of the resources that started events name; also the register's own. */
static void note_place(struct session_fold *fold, struct session_attempt *attempt,
                       const char *resource_id, const struct session_event *event)
{
    budget_step(fold->budget, attempt->seen_count + 1);
    for (size_t i = 0; i < attempt->seen_count; i++)
        if (strcmp(attempt->seen[i].resource_id, resource_id) == 0) {
            keep_least(&attempt->seen[i].started, event);
            return;
        }
    attempt->seen = arena_extend(fold->arena, attempt->seen, sizeof(*attempt->seen),
                                 attempt->seen_count, attempt->seen_count + 1);
    attempt->seen[attempt->seen_count++] =
        (struct session_place_seen){resource_id, event};
}

static int strength(const struct session_event *terminal)
{
    static const int of[SESSION_KIND_COUNT] = {
        [SESSION_ENDED] = 3, [SESSION_CANCELLED] = 2, [SESSION_FAILED] = 1};

    return of[terminal->kind];
}

static void keep_terminal(const struct session_event **at,
                          const struct session_event *event)
{
    int was = *at ? strength(*at) : 0, is = strength(event);

    if (is == was)
        keep_least(at, event);
    else if (is > was)
        *at = event;
}

/* ---- hosts ---- */

static struct session_host *host_of(struct session_fold *fold, const char *resource_id)
{
    size_t at;

    widen_hosts(fold);
    at = name_index_add(&fold->hosts, resource_id, fold->host_count);
    if (at != NAME_NOT_FOUND)
        return &fold->hosts_seen[at];
    fold->hosts_seen[fold->host_count] =
        (struct session_host){.resource_id = resource_id, .last_down_at_s = -HUGE_VAL};
    return &fold->hosts_seen[fold->host_count++];
}

/* A host_down counts for what ran there even when the host is known to be up again. */
static void add_of_host(struct session_host *host, const struct session_event *event)
{
    if (event->kind == SESSION_HOST_SPEED) {
        keep_greatest(&host->speed, event);
        return;
    }
    if (event->kind == SESSION_HOST_DOWN)
        host->last_down_at_s = fmax(host->last_down_at_s, event->observed_at_s);
    keep_greatest(&host->up, event);
}

void session_fold_add(struct session_fold *fold, const struct session_event *event)
{
    struct session_attempt *attempt;

    if (!session_is_of_task(event->kind)) {
        add_of_host(host_of(fold, event->resource_id), event);
        return;
    }
    attempt = attempt_of(fold, event);
    switch (event->kind) {
    case SESSION_STARTED:
        attempt->is_settled = false;
        for (size_t k = 0; k < session_place_count(event); k++)
            note_place(fold, attempt, session_place(event, k), event);
        keep_least(&attempt->started, event);
        break;
    case SESSION_PROGRESS:
        keep_greatest(&attempt->progress, event);
        break;
    default:
        keep_terminal(&attempt->terminal, event);
    }
}

bool session_fold_counts(const struct session_fold *fold,
                         const struct session_event *event)
{
    const struct session_attempt *t = NULL;

    if (event->kind == SESSION_HOST_DOWN)
        return true;
    if (event->kind == SESSION_HOST_UP)
        return session_host_of(fold, event->resource_id)->up == event;
    if (event->kind == SESSION_HOST_SPEED)
        return session_host_of(fold, event->resource_id)->speed == event;
    for (t = session_attempts(fold, event->task_id); t->number != event->attempt;) {
        budget_step(fold->budget, 1);
        t = t->next;
    }
    return event == t->started || event == t->terminal || event == t->progress;
}

/* ---- statuses ---- */

static int by_resource(const void *left, const void *right)
{
    const struct session_place_seen *l = left, *r = right;

    return strcmp(l->resource_id, r->resource_id);
}

/* Without the register's own resources, and in an order that no arrival changes. What was
 * seen stays as it is: the register may become another one. */
static void settle_places(struct session_fold *fold, struct session_attempt *attempt)
{
    size_t own = session_place_count(attempt->started), kept = 0;
    struct session_place_seen *list;

    attempt->is_settled = true;
    attempt->elsewhere_count = 0;
    if (attempt->seen_count == 1) /* nearly always: it is the register's */
        return;
    budget_step(fold->budget, attempt->seen_count * own);
    list = NEW(fold->arena, struct session_place_seen, attempt->seen_count);
    for (size_t i = 0; i < attempt->seen_count; i++)
        if (!session_is_at(attempt->started, attempt->seen[i].resource_id))
            list[kept++] = attempt->seen[i];
    if (kept > 1)
        qsort(list, kept, sizeof(*list), by_resource);
    attempt->elsewhere = list;
    attempt->elsewhere_count = kept;
}

/* With any of its hosts. */
static bool is_lost(const struct session_fold *fold, const struct session_event *started)
{
    for (size_t k = 0; k < session_place_count(started); k++) {
        const struct session_host *host =
            session_host_of(fold, session_place(started, k));

        if (host && host->last_down_at_s >= started->observed_at_s)
            return true;
    }
    return false;
}

static enum session_attempt_status status_of(const struct session_fold *fold,
                                             const struct session_attempt *attempt)
{
    if (attempt->terminal)
        switch (attempt->terminal->kind) {
        case SESSION_ENDED:
            return SESSION_TRY_ENDED;
        case SESSION_CANCELLED:
            return SESSION_TRY_CANCELLED;
        default:
            return SESSION_TRY_FAILED;
        }
    if (!attempt->started)
        return SESSION_TRY_NONE;
    return is_lost(fold, attempt->started) ? SESSION_TRY_LOST : SESSION_TRY_RUNNING;
}

void session_fold_end(struct session_fold *fold)
{
    for (size_t i = 0; i < fold->task_count; i++)
        for (struct session_attempt *t = fold->first[i]; t; t = t->next) {
            if (t->started && !t->is_settled)
                settle_places(fold, t);
            t->status = status_of(fold, t);
        }
}

void session_fold_all(const struct session_event *events, size_t count,
                      struct session_fold *fold, struct budget *budget, struct arena *a)
{
    session_fold_begin(fold, count, budget, a);
    for (size_t i = 0; i < count; i++) {
        budget_step(budget, 8);
        session_fold_add(fold, &events[i]);
    }
    session_fold_end(fold);
}

const struct session_attempt *session_attempts(const struct session_fold *fold,
                                               const char *task_id)
{
    size_t at = name_index_find(&fold->tasks, task_id);

    return at == NAME_NOT_FOUND ? NULL : fold->first[at];
}

const struct session_host *session_host_of(const struct session_fold *fold,
                                           const char *resource_id)
{
    size_t at = name_index_find(&fold->hosts, resource_id);

    return at == NAME_NOT_FOUND ? NULL : &fold->hosts_seen[at];
}

bool session_host_is_down(const struct session_host *host)
{
    return host && host->up && host->up->kind == SESSION_HOST_DOWN;
}
