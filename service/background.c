/* background.c - simulations that run without a client.
 *
 * The thread claims, renews and stops; the governor has the request answered on a thread
 * of its own, which writes what came of it. A slot is one simulation on its way; the
 * thread fills and empties it, the other only says that it is done.
 */
#include "service/background.h"

#include "service/clock.h"
#include "service/config.h"
#include "service/estimate.h"
#include "service/governor.h"
#include "service/problem.h"
#include "service/store_simulation.h"
#include "service/uuid.h"
#include "service/work_memory.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double RENEW_S = 1; /* at least that often */
static const double WRITE_RETRY_S = 0.2;
static const double KEEP_S = 0.25;   /* parts are written no more often than that, and */
static const double KEEP_SHARE = 10; /* that it takes a tenth of the time at most */
enum { WRITE_ARENA_BYTES = 1024 * 1024 };
enum { PART_BYTES_MAX = 8 * 1024 * 1024 }; /* larger ones are played again */

/* A part that is not written yet. */
struct waiting_part {
    struct store_part part;
    struct waiting_part *next;
};

enum slot_state { SLOT_EMPTY, SLOT_RUNNING, SLOT_DONE };

struct slot {
    struct background *b;
    enum slot_state state; /* atomic; SLOT_DONE is set under the mutex */
    bool stop;             /* atomic: the computation polls it */
    bool lost;             /* atomic: it is somebody else's now */
    char owner_id[UUID_TEXT_SIZE];
    struct store_simulation claimed; /* in the arena */
    struct arena *arena;
    struct store_progress progress;
    struct store_parts parts;
    struct waiting_part *waiting, **waiting_end; /* in the arena */
    double keep_at_s;                            /* when parts are written again */
    struct governor_job job;
    struct governor_who who; /* its tenant */
    struct work_memory memory;
    struct arena_mark mark; /* what the arena holds of what was claimed */
    bool unplayed;          /* it waited in vain; set before SLOT_DONE */
};

struct background {
    struct service *service;
    struct background_options options;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake; /* something to do for the thread, or a slot is empty again */
    bool woken;          /* under the mutex */
    bool closing;        /* atomic, set under the mutex */
    bool failing;        /* the thread's: the last claim failed, and that was said */
    struct slot slots[BACKGROUND_AT_ONCE_MAX];
};

static void say(const struct background *b, const char *text)
{
    if (b->options.log)
        b->options.log(b->options.log_context, text);
}

static bool is_set(const bool *flag)
{
    return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

static void set(bool *flag)
{
    __atomic_store_n(flag, true, __ATOMIC_RELAXED);
}

static enum slot_state state_of(const struct slot *slot)
{
    return __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
}

/* ---- what came of it: on a thread of the governor ---- */

/* How a simulation ended. */
struct outcome {
    const char *status; /* NULL: it goes back to the queue */
    const char *result, *error;
};

static enum error_code write_outcome(const struct slot *slot, const struct outcome *o,
                                     struct arena *a, struct error *err)
{
    struct store_progress progress = progress_read(&slot->progress);
    struct db_session *s = db_session_create(slot->b->service->db, NULL, a);
    enum error_code code;

    if (!s)
        return fail_memory(err);
    if (o->status)
        code = store_simulation_finish(s, slot->owner_id, &slot->claimed, o->status,
                                       o->result, o->error, &progress, err);
    else
        code = store_simulation_release(s, slot->owner_id, &slot->claimed, err);
    db_session_close(s);
    return code;
}

/* Writes it, again and again while the database is away, unless this process
 * ends. After twice the lease somebody else has surely taken it up. */
static void keep_outcome(const struct slot *slot, const struct outcome *o)
{
    double end_s = clock_monotonic_s() + 2 * slot->b->options.lease_s;
    struct arena *a = arena_create(WRITE_ARENA_BYTES);
    struct timespec pause = {0, (long)(WRITE_RETRY_S * 1e9)};
    struct error err = {.code = OK};
    enum error_code code = a ? write_outcome(slot, o, a, &err) : ERR_INTERNAL;

    while ((code == ERR_UNAVAILABLE || code == ERR_BUSY) && !is_set(&slot->lost) &&
           !is_set(&slot->b->closing) && clock_monotonic_s() < end_s) {
        nanosleep(&pause, NULL);
        arena_reset(a);
        err = (struct error){.code = OK};
        code = write_outcome(slot, o, a, &err);
    }
    if (code != OK)
        say(slot->b, err.text);
    arena_close(a);
}

/* ---- parts: on that thread too ---- */

/* Writes what waits; what cannot be written waits on. */
static void write_parts(struct slot *slot)
{
    double began_s = clock_monotonic_s(), took_s;
    struct arena *a = arena_create(WRITE_ARENA_BYTES);
    struct db_session *s = a ? db_session_create(slot->b->service->db, NULL, a) : NULL;
    struct error err = {.code = OK};

    while (s && slot->waiting &&
           store_simulation_keep(s, slot->owner_id, &slot->claimed, &slot->waiting->part,
                                 &err) == OK)
        slot->waiting = slot->waiting->next;
    if (!slot->waiting)
        slot->waiting_end = &slot->waiting;
    db_session_close(s);
    arena_close(a);
    took_s = clock_monotonic_s() - began_s;
    slot->keep_at_s = clock_monotonic_s() + fmax(KEEP_S, KEEP_SHARE * took_s);
}

/* A part is complete. */
static void keep_part(void *context, const struct store_part *part)
{
    struct slot *slot = context;
    struct waiting_part *waiting = NULL;

    if (part->content.length <= PART_BYTES_MAX)
        waiting = TRY_NEW(slot->arena, struct waiting_part, 1);
    if (!waiting)
        return;
    waiting->part = *part;
    *slot->waiting_end = waiting;
    slot->waiting_end = &waiting->next;
    if (clock_monotonic_s() >= slot->keep_at_s)
        write_parts(slot);
}

/* What there is of it; without that all of it is played. */
static void find_parts(struct slot *slot)
{
    struct db_session *s = db_session_create(slot->b->service->db, NULL, slot->arena);
    struct error err = {.code = OK};

    slot->parts = (struct store_parts){.keep = keep_part, .context = slot};
    slot->waiting = NULL;
    slot->waiting_end = &slot->waiting;
    slot->keep_at_s = clock_monotonic_s() + KEEP_S;
    if (s && store_simulation_parts(s, &slot->claimed, &slot->parts.found,
                                    &slot->parts.found_count, slot->arena, &err) != OK)
        slot->parts.found_count = 0;
    db_session_close(s);
}

/* What the end of the computation means. A computation that was stopped is cut. */
static bool judge(const struct slot *slot, enum error_code code,
                  enum decision_status status, const struct reply *reply,
                  struct outcome *o)
{
    bool given_back = is_set(&slot->stop) && !is_set(&slot->claimed.cancel_requested) &&
                      (code == ERR_CANCELLED || (code == OK && status == DECISION_CUT));

    *o = (struct outcome){0};
    if (is_set(&slot->lost) || code == ERR_UNAVAILABLE || code == ERR_BUSY)
        return false; /* the lease ends, and the next one tries again */
    if (given_back)
        return true;
    if (code == OK) {
        o->status = status == DECISION_CUT ? "cut" : "done";
        o->result = reply->body;
    } else if (code == ERR_CANCELLED) {
        o->status = "cut";
    } else {
        o->status = "failed";
        o->error = reply->body;
    }
    return true;
}

static void done(struct slot *slot)
{
    struct background *b = slot->b;

    pthread_mutex_lock(&b->mutex);
    __atomic_store_n(&slot->state, SLOT_DONE, __ATOMIC_RELEASE);
    b->woken = true;
    pthread_cond_broadcast(&b->wake);
    pthread_mutex_unlock(&b->mutex);
}

static void play(void *context)
{
    struct slot *slot = context;
    const struct store_simulation *claimed = &slot->claimed;
    struct stored_request stored = {
        .tenant = claimed->tenant,
        .path = claimed->route,
        .body = claimed->request,
        .snapshot_document = claimed->snapshot_document,
        .history_document = claimed->history_document,
        .cancelled = &slot->stop,
        .job = &slot->job,
        .memory = &slot->memory,
        .progress = &slot->progress,
        .parts = &slot->parts,
    };
    enum decision_status status = DECISION_FEASIBLE;
    struct error err = {.code = OK};
    struct outcome outcome;
    struct reply reply;
    enum error_code code;

    work_memory_enter(&slot->memory, &slot->job);
    find_parts(slot);
    code = route_answer_stored(slot->b->service, &stored, &status, &reply, slot->arena,
                               &err);
    if (slot->memory.is_again) /* it needs more room, and is called again then */
        arena_rewind(slot->arena, slot->mark);
    else if (judge(slot, code, status, &reply, &outcome)) {
        if (!outcome.status)
            write_parts(slot); /* for who goes on */
        keep_outcome(slot, &outcome);
    }
    work_memory_leave(&slot->memory);
}

static void played(void *context, enum governor_answer answer)
{
    struct slot *slot = context;

    slot->unplayed = answer != GOVERNOR_OK;
    done(slot);
}

/* ---- claiming: on the thread ---- */

/* A simulation that is not to run ends here: the caller does not want it any
 * more, or it has taken several processes with it. */
static bool is_over(struct slot *slot, struct outcome *o)
{
    struct error err = {.arena = slot->arena};
    struct reply reply = {0};

    if (slot->claimed.cancel_requested)
        o->status = "cut";
    if (slot->claimed.cancel_requested ||
        slot->claimed.attempt_count <= BACKGROUND_ATTEMPTS_MAX)
        return slot->claimed.cancel_requested;
    fail(&err, ERR_INTERNAL, "",
         "%d replicas have begun the simulation and none has ended it: it probably takes "
         "more memory than they have",
         BACKGROUND_ATTEMPTS_MAX);
    problem_reply(slot->b->service->config, &err, slot->claimed.route,
                  slot->claimed.simulation_id, &reply, slot->arena);
    *o = (struct outcome){.status = "failed", .error = reply.body};
    return true;
}

/* What was never played goes back to the queue, unless it is not wanted any more. */
static void put_back(struct slot *slot)
{
    struct outcome outcome = {.status =
                                  is_set(&slot->claimed.cancel_requested) ? "cut" : NULL};

    if (!is_set(&slot->lost))
        keep_outcome(slot, &outcome);
}

static void empty(struct slot *slot)
{
    if (state_of(slot) == SLOT_DONE && slot->unplayed)
        put_back(slot);
    arena_close(slot->arena);
    slot->arena = NULL;
    work_memory_end(&slot->memory);
    __atomic_store_n(&slot->state, SLOT_EMPTY, __ATOMIC_RELEASE);
}

/* An empty slot, or one that is done, emptied; NULL: all run. */
static struct slot *free_slot(struct background *b)
{
    for (size_t i = 0; i < b->options.at_once; i++) {
        struct slot *slot = &b->slots[i];

        if (state_of(slot) == SLOT_RUNNING)
            continue;
        empty(slot);
        return slot;
    }
    return NULL;
}

static enum error_code claim(struct slot *slot, bool *found, struct error *err)
{
    struct background *b = slot->b;
    struct db_session *s = NULL;
    enum error_code code;

    *found = false;
    slot->arena = arena_create(b->service->config->request_memory_bytes);
    if (slot->arena)
        s = db_session_create(b->service->db, NULL, slot->arena);
    if (!s)
        return fail_memory(err);
    uuid_make(slot->owner_id);
    slot->stop = slot->lost = false;
    slot->progress = (struct store_progress){0};
    slot->claimed = (struct store_simulation){0};
    code = store_simulation_claim(s, slot->owner_id, b->options.lease_s, found,
                                  &slot->claimed, slot->arena, err);
    slot->progress = slot->claimed.progress;
    db_session_close(s);
    return code;
}

static bool submit(struct slot *slot)
{
    struct service *service = slot->b->service;

    slot->unplayed = false;
    slot->job = (struct governor_job){
        .queue = GOVERNOR_COMPUTE,
        .work_bytes = estimate_stored_bytes(service->estimates, slot->claimed.route,
                                            strlen(slot->claimed.request),
                                            service->config->request_memory_bytes),
        .est_s = service->config->simulation_time_limit_s,
        .cancelled = &slot->stop,
        .run = play,
        .ended = played,
        .context = slot,
    };
    slot->who =
        (struct governor_who){.owner.name = slot->claimed.tenant, .background = true};
    work_memory_begin(&slot->memory, service->governor, &slot->who);
    arena_set_lease(slot->arena, &slot->memory.lease);
    slot->mark = arena_mark(slot->arena);
    return governor_submit(service->governor, &slot->who, &slot->job) == GOVERNOR_OK;
}

static void start(struct slot *slot)
{
    struct outcome outcome = {0};

    if (!is_over(slot, &outcome)) {
        __atomic_store_n(&slot->state, SLOT_RUNNING, __ATOMIC_RELEASE);
        if (submit(slot))
            return;
        __atomic_store_n(&slot->state, SLOT_EMPTY, __ATOMIC_RELEASE);
    }
    keep_outcome(slot, &outcome);
    empty(slot);
}

/* Fills the free slots with what waits. */
static void take_more(struct background *b)
{
    struct error err = {.code = OK};
    enum error_code code = OK;
    struct slot *slot;
    bool found = true;

    while (found && code == OK &&
           !governor_is_full(b->service->governor, GOVERNOR_COMPUTE) &&
           (slot = free_slot(b))) {
        code = claim(slot, &found, &err);
        if (code == OK && found) {
            start(slot);
            continue;
        }
        empty(slot);
    }
    if (code != OK && !b->failing)
        say(b, err.text);
    b->failing = code != OK;
}

/* ---- what runs: on the thread ---- */

static void renew(struct slot *slot, struct db_session *s, struct arena *a)
{
    struct store_progress progress = progress_read(&slot->progress);
    struct error err = {.code = OK};
    bool held = true, cancel = false;

    if (store_simulation_renew(s, slot->owner_id, &slot->claimed,
                               slot->b->options.lease_s, &progress, &held, &cancel, a,
                               &err) != OK)
        return; /* nobody else can take it up either */
    if (!held)
        set(&slot->lost);
    if (cancel)
        set(&slot->claimed.cancel_requested);
    if (!held || cancel)
        set(&slot->stop);
}

/* Renews all leases; with `stop` everything is to end. */
static void tend(struct background *b, bool stop)
{
    struct arena *a = arena_create(WRITE_ARENA_BYTES);
    struct db_session *s = a ? db_session_create(b->service->db, NULL, a) : NULL;

    for (size_t i = 0; s && i < b->options.at_once; i++) {
        struct slot *slot = &b->slots[i];

        if (state_of(slot) != SLOT_RUNNING)
            continue;
        if (stop)
            set(&slot->stop);
        renew(slot, s, a);
    }
    db_session_close(s);
    arena_close(a);
}

/* Sleeps until it is time to look again; false when all is to end. */
static bool pause_until_due(struct background *b)
{
    double tick_s = fmin(fmin(RENEW_S, b->options.lease_s / 4), b->options.poll_s);
    double end_s = clock_monotonic_s() + tick_s;
    struct timespec until = {(time_t)end_s, (long)((end_s - floor(end_s)) * 1e9)};
    bool go_on;

    pthread_mutex_lock(&b->mutex);
    while (!b->closing && !b->woken)
        if (pthread_cond_timedwait(&b->wake, &b->mutex, &until) != 0)
            break;
    b->woken = false;
    go_on = !b->closing;
    pthread_mutex_unlock(&b->mutex);
    return go_on;
}

/* The end: what runs is stopped and given back. */
static void stop_all(struct background *b)
{
    for (size_t i = 0; i < b->options.at_once; i++)
        set(&b->slots[i].stop);
    pthread_mutex_lock(&b->mutex);
    for (size_t i = 0; i < b->options.at_once; i++)
        while (state_of(&b->slots[i]) == SLOT_RUNNING)
            pthread_cond_wait(&b->wake, &b->mutex);
    pthread_mutex_unlock(&b->mutex);
    for (size_t i = 0; i < b->options.at_once; i++)
        empty(&b->slots[i]);
}

static void *work(void *context)
{
    struct background *b = context;

    pthread_setname_np(pthread_self(), "simulations");
    do {
        bool draining = __atomic_load_n(&b->service->draining, __ATOMIC_RELAXED);

        tend(b, draining);
        if (!draining)
            take_more(b);
    } while (pause_until_due(b));
    stop_all(b);
    return NULL;
}

/* ---- start and stop ---- */

static void release(struct background *b)
{
    pthread_cond_destroy(&b->wake);
    pthread_mutex_destroy(&b->mutex);
    free(b);
}

enum error_code background_create(struct service *service,
                                  const struct background_options *options,
                                  struct background **out, struct error *err)
{
    struct background *b = calloc(1, sizeof(*b));
    pthread_condattr_t monotonic;

    if (!b)
        return fail_memory(err);
    b->service = service;
    b->options = *options;
    for (size_t i = 0; i < BACKGROUND_AT_ONCE_MAX; i++)
        b->slots[i].b = b;
    pthread_mutex_init(&b->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&b->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&b->thread, NULL, work, b) != 0) {
        release(b);
        return fail(err, ERR_INTERNAL, "", "cannot start the thread of simulations");
    }
    *out = b;
    return OK;
}

void background_wake(struct background *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->mutex);
    b->woken = true;
    pthread_cond_broadcast(&b->wake);
    pthread_mutex_unlock(&b->mutex);
}

size_t background_running_count(const struct background *b)
{
    size_t count = 0;

    for (size_t i = 0; b && i < b->options.at_once; i++)
        count += state_of(&b->slots[i]) == SLOT_RUNNING;
    return count;
}

void background_close(struct background *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->mutex);
    set(&b->closing);
    pthread_cond_broadcast(&b->wake);
    pthread_mutex_unlock(&b->mutex);
    pthread_join(b->thread, NULL);
    release(b);
}
