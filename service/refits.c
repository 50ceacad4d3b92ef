/* refits.c - models learn the executions that were stored for them.
 *
 * A slot is one model on its way: the thread fills and empties it, a thread of the
 * governor says that it is done. While a model is in a slot this process has a claim on
 * it, which it keeps up: nobody else takes the model up, and no connection is held for
 * that.
 */
#include "service/refits.h"

#include "service/clock.h"
#include "service/config.h"
#include "service/estimate.h"
#include "service/governor.h"
#include "service/store_model.h"
#include "service/work_memory.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double PAUSE_LEAST_S = 0.02; /* so that a burst of wakes is one look */
static const double LEASE_S = 15;         /* of a claim; at least three looks */
enum { LOOK_ARENA_BYTES = 1024 * 1024 };

enum slot_state { SLOT_EMPTY, SLOT_RUNNING, SLOT_DONE };

struct slot {
    struct refits *r;
    enum slot_state state; /* atomic; SLOT_DONE is set under the mutex */
    struct arena *arena;
    struct store_model_name name; /* in the arena, as the path */
    const char *path;
    double claimed_at_s; /* when the claim began, or was kept up last */
    struct governor_job job;
    struct governor_who who; /* its tenant */
    struct work_memory memory;
    bool is_refined;
};

struct refits {
    struct service *service;
    struct refits_options options;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake; /* something to do, or a slot is done */
    bool woken;          /* under the mutex */
    bool closing;        /* atomic, set under the mutex: also what runs is to stop */
    bool failing;        /* the thread's: the last look failed, and that was said */
    struct slot slots[REFITS_AT_ONCE_MAX];
};

static void say(const struct refits *r, const char *text)
{
    if (r->options.log)
        r->options.log(r->options.log_context, text);
}

static enum slot_state state_of(const struct slot *slot)
{
    return __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
}

/* The slot's claim goes on for so long; 0: it is over. What goes wrong with that costs
 * nothing but a while. */
static void claim_until(struct slot *slot, double lease_s)
{
    struct arena *a = arena_create(LOOK_ARENA_BYTES);
    struct db_session *s = a ? db_session_create(slot->r->service->db, NULL, a) : NULL;
    struct error ignored = {.code = OK};

    if (s)
        store_model_claim_until(s, &slot->name, lease_s, &ignored);
    db_session_close(s);
    arena_close(a);
}

static double lease_s(const struct refits *r)
{
    return fmax(LEASE_S, 3 * r->options.poll_s);
}

/* ---- on a thread of the governor ---- */

static void refine(void *context)
{
    struct slot *slot = context;
    struct refits *r = slot->r;
    struct stored_request stored = {.tenant = slot->name.tenant,
                                    .path = slot->path,
                                    .body = "",
                                    .cancelled = &r->closing,
                                    .job = &slot->job,
                                    .memory = &slot->memory};
    enum decision_status status;
    struct error err = {.code = OK};
    struct reply reply;
    enum error_code code;

    work_memory_enter(&slot->memory, &slot->job);
    code = route_answer_stored(r->service, &stored, &status, &reply, slot->arena, &err);
    if (code == OK || code == ERR_CANCELLED || code == ERR_CONFLICT)
        claim_until(slot, 0); /* else it waits, with what is wrong or for the lease */
    work_memory_leave(&slot->memory);
    if (code != OK && code != ERR_NOT_FOUND && code != ERR_CANCELLED &&
        code != ERR_CONFLICT)
        say(r, err.text);
    slot->is_refined = code == OK;
}

static void refined(void *context, enum governor_answer answer)
{
    struct slot *slot = context;
    struct refits *r = slot->r;

    pthread_mutex_lock(&r->mutex);
    r->woken =
        r->woken || (answer == GOVERNOR_OK && slot->is_refined); /* what came then */
    __atomic_store_n(&slot->state, SLOT_DONE, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&r->wake);
    pthread_mutex_unlock(&r->mutex);
}

/* ---- on the thread ---- */

static void empty(struct slot *slot)
{
    arena_close(slot->arena);
    slot->arena = NULL;
    work_memory_end(&slot->memory);
    __atomic_store_n(&slot->state, SLOT_EMPTY, __ATOMIC_RELEASE);
}

/* NULL: there is none that is empty. */
static struct slot *free_slot(struct refits *r)
{
    for (size_t i = 0; i < r->options.at_once; i++)
        if (state_of(&r->slots[i]) == SLOT_EMPTY)
            return &r->slots[i];
    return NULL;
}

/* What is done holds no memory, and what runs keeps its claim. */
static void look_after_slots(struct refits *r)
{
    double now_s = clock_monotonic_s();

    for (size_t i = 0; i < r->options.at_once; i++) {
        struct slot *slot = &r->slots[i];
        enum slot_state state = state_of(slot);

        if (state == SLOT_DONE)
            empty(slot);
        if (state != SLOT_RUNNING || now_s < slot->claimed_at_s + lease_s(r) / 3)
            continue;
        claim_until(slot, lease_s(r));
        slot->claimed_at_s = now_s;
    }
}

static bool submit(struct slot *slot)
{
    struct service *service = slot->r->service;

    slot->is_refined = false;
    slot->job = (struct governor_job){
        .queue = GOVERNOR_COMPUTE,
        .work_bytes = estimate_stored_bytes(service->estimates, slot->path, 0,
                                            service->config->request_memory_bytes),
        .est_s = service->config->time_limit_max_s,
        .cancelled = &slot->r->closing,
        .run = refine,
        .ended = refined,
        .context = slot,
    };
    slot->who =
        (struct governor_who){.owner.name = slot->name.tenant, .background = true};
    work_memory_begin(&slot->memory, service->governor, &slot->who);
    arena_set_lease(slot->arena, &slot->memory.lease);
    return governor_submit(service->governor, &slot->who, &slot->job) == GOVERNOR_OK;
}

static bool copy_name(struct slot *slot, const struct store_model_name *name)
{
    struct arena *a = slot->arena;

    slot->name.tenant = arena_try_text(a, name->tenant, strlen(name->tenant));
    slot->name.model_id = arena_try_text(a, name->model_id, strlen(name->model_id));
    slot->path = arena_try_printf(a, "/v1/models/%s/refine", name->model_id);
    return slot->name.tenant && slot->name.model_id && slot->path;
}

/* The model, which is claimed, in an empty slot. */
static void start(struct refits *r, struct slot *slot,
                  const struct store_model_name *name)
{
    slot->claimed_at_s = clock_monotonic_s();
    slot->arena = arena_create(r->service->config->request_memory_bytes);
    if (!slot->arena)
        return;
    if (copy_name(slot, name)) {
        __atomic_store_n(&slot->state, SLOT_RUNNING, __ATOMIC_RELEASE);
        if (submit(slot))
            return;
        claim_until(slot, 0);
    }
    empty(slot);
}

/* Fills the free slots with models that wait. */
static enum error_code fill(struct refits *r, struct db_session *s, struct arena *a,
                            struct error *err)
{
    const struct store_model_name *list;
    struct slot *slot;
    size_t count = 0;

    TRY(store_models_waiting(s, (size_t)4 * REFITS_AT_ONCE_MAX, &list, &count, a, err));
    for (size_t i = 0; i < count && (slot = free_slot(r)); i++) {
        bool ours;

        TRY(store_model_claim(s, &list[i], lease_s(r), &ours, err));
        if (ours)
            start(r, slot, &list[i]);
    }
    return OK;
}

static enum error_code look(struct refits *r, struct arena *a, struct error *err)
{
    struct db_session *s = db_session_create(r->service->db, NULL, a);
    enum error_code code;

    if (!s)
        return fail_memory(err);
    code = fill(r, s, a, err);
    db_session_close(s);
    return code;
}

static void take_more(struct refits *r)
{
    struct arena *a = arena_create(LOOK_ARENA_BYTES);
    struct error err = {.code = OK};
    enum error_code code = a ? look(r, a, &err) : fail_memory(&err);

    if (code != OK && !r->failing)
        say(r, err.text);
    r->failing = code != OK;
    arena_close(a);
}

static void nap(double pause_s)
{
    struct timespec pause = {0, (long)(pause_s * 1e9)};

    nanosleep(&pause, NULL);
}

/* Sleeps until it is time to look again; false when all is to end. */
static bool pause_until_due(struct refits *r)
{
    double end_s = clock_monotonic_s() + r->options.poll_s;
    struct timespec until = {(time_t)end_s, (long)((end_s - floor(end_s)) * 1e9)};
    bool go_on;

    nap(fmin(PAUSE_LEAST_S, r->options.poll_s));
    pthread_mutex_lock(&r->mutex);
    while (!r->closing && !r->woken)
        if (pthread_cond_timedwait(&r->wake, &r->mutex, &until) != 0)
            break;
    r->woken = false;
    go_on = !r->closing;
    pthread_mutex_unlock(&r->mutex);
    return go_on;
}

static void wait_for_all(struct refits *r)
{
    pthread_mutex_lock(&r->mutex);
    for (size_t i = 0; i < r->options.at_once; i++)
        while (state_of(&r->slots[i]) == SLOT_RUNNING)
            pthread_cond_wait(&r->wake, &r->mutex);
    pthread_mutex_unlock(&r->mutex);
    for (size_t i = 0; i < r->options.at_once; i++)
        empty(&r->slots[i]);
}

static void *work(void *context)
{
    struct refits *r = context;

    pthread_setname_np(pthread_self(), "refits");
    do {
        look_after_slots(r);
        if (!__atomic_load_n(&r->service->draining, __ATOMIC_RELAXED))
            take_more(r);
    } while (pause_until_due(r));
    wait_for_all(r);
    return NULL;
}

/* ---- start and stop ---- */

static void release(struct refits *r)
{
    pthread_cond_destroy(&r->wake);
    pthread_mutex_destroy(&r->mutex);
    free(r);
}

enum error_code refits_create(struct service *service,
                              const struct refits_options *options, struct refits **out,
                              struct error *err)
{
    struct refits *r = calloc(1, sizeof(*r));
    pthread_condattr_t monotonic;

    if (!r)
        return fail_memory(err);
    r->service = service;
    r->options = *options;
    for (size_t i = 0; i < REFITS_AT_ONCE_MAX; i++)
        r->slots[i].r = r;
    pthread_mutex_init(&r->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&r->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&r->thread, NULL, work, r) != 0) {
        release(r);
        return fail(err, ERR_INTERNAL, "", "cannot start the thread of refits");
    }
    *out = r;
    return OK;
}

void refits_wake(struct refits *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->mutex);
    r->woken = true;
    pthread_cond_broadcast(&r->wake);
    pthread_mutex_unlock(&r->mutex);
}

void refits_close(struct refits *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->mutex);
    __atomic_store_n(&r->closing, true, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&r->wake);
    pthread_mutex_unlock(&r->mutex);
    pthread_join(r->thread, NULL);
    release(r);
}
