/* aside.c - parts of a computation that other slots play beside it.
 *
 * The computation and its helpers share a struct aside under one mutex. A helper that the
 * governor has not begun when the computation ends touches nothing but that: the last one
 * of all frees it.
 */
#include "service/aside.h"

#include "service/admission.h"
#include "service/clock.h"
#include "service/config.h"
#include "service/service.h"
#include "service/work_memory.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HELPERS_MAX = 63, NAME_SIZE = 256, WAIT_NS = 20000000 };

enum part_state { PART_FREE, PART_TAKEN, PART_PLAYED, PART_FAILED };

struct part {
    enum part_state state;
    const void *data;
    size_t length;
};

enum helper_state { HELPER_QUEUED, HELPER_RUNNING, HELPER_OVER };

/* Who plays: a job of the governor's, or the computation itself. */
struct player {
    struct arena *result, *trial, *scratch;
    struct budget budget, finish;
};

struct helper {
    struct aside *s;
    struct governor_job job;
    struct work_memory memory;
    struct player player;
    struct arena *arena; /* what the player's are beside */
    enum helper_state state;
};

struct aside {
    pthread_mutex_t mutex;
    pthread_cond_t news;
    size_t holders; /* who still needs this: the computation, and helpers */
    bool closed;    /* atomic: the computation is over */
    size_t count;
    size_t first_free; /* no part before it is free */
    struct part *parts;
    struct helper *helpers;
    size_t helper_count;
    aside_fn *play;
    void *context;
    /* Copies: the request may have ended. */
    struct governor_who who;
    char owner[NAME_SIZE], key[NAME_SIZE];
    size_t cap_bytes;
    const bool *cancelled;
    double limited_from_s, deadline_s;
    /* The computation's own. */
    struct request *rq;
    struct player own;
};

static void free_aside(struct aside *s)
{
    pthread_cond_destroy(&s->news);
    pthread_mutex_destroy(&s->mutex);
    free(s->helpers);
    free(s->parts);
    free(s);
}

/* Under the mutex, which is given up. */
static void leave(struct aside *s)
{
    bool is_last = --s->holders == 0;

    pthread_mutex_unlock(&s->mutex);
    if (is_last)
        free_aside(s);
}

/* ---- playing ---- */

/* The next part that nobody plays; `count`: none. Under the mutex. */
static size_t claim(struct aside *s)
{
    while (s->first_free < s->count && s->parts[s->first_free].state != PART_FREE)
        s->first_free++;
    if (s->first_free < s->count)
        s->parts[s->first_free].state = PART_TAKEN;
    return s->first_free;
}

struct play {
    struct aside *s;
    struct aside_part part;
    bool is_played;
};

static void play_one(void *context)
{
    struct play *play = context;

    play->is_played = play->s->play(play->s->context, &play->part);
}

/* Plays a part that was claimed. */
static void play_part(struct aside *s, struct player *player, struct arena *computation,
                      size_t number)
{
    struct play play = {.s = s,
                        .part = {.number = number,
                                 .budget = &player->budget,
                                 .result = player->result,
                                 .trial = player->trial,
                                 .scratch = player->scratch}};
    bool is_played;

    arena_reset(player->trial);
    arena_reset(player->scratch);
    is_played = arena_run(computation, play_one, &play) && play.is_played;
    pthread_mutex_lock(&s->mutex);
    s->parts[number] = (struct part){is_played ? PART_PLAYED : PART_FAILED,
                                     play.part.data, play.part.length};
    pthread_cond_broadcast(&s->news);
    pthread_mutex_unlock(&s->mutex);
}

static bool make_room(struct player *player, struct arena *beside, size_t cap_bytes)
{
    player->result = arena_create_beside(beside, cap_bytes);
    player->trial = player->result ? arena_create_beside(beside, cap_bytes) : NULL;
    player->scratch = player->trial ? arena_create_beside(beside, cap_bytes) : NULL;
    return player->scratch;
}

static void give_room(struct player *player)
{
    arena_close(player->scratch);
    arena_close(player->trial);
    arena_close(player->result);
    *player = (struct player){0};
}

/* ---- helpers ---- */

static bool is_over(const struct aside *s)
{
    return __atomic_load_n(&s->closed, __ATOMIC_RELAXED) ||
           (s->cancelled && __atomic_load_n(s->cancelled, __ATOMIC_RELAXED));
}

/* budget: used */
static double helper_used(void *context)
{
    struct helper *h = context;
    const struct aside *s = h->s;
    double now_s = clock_monotonic_s();

    if (governor_look(&h->job, now_s, s->deadline_s, true))
        now_s = clock_monotonic_s();
    return is_over(s) ? 2
                      : (now_s - s->limited_from_s) / (s->deadline_s - s->limited_from_s);
}

/* What has no limit in time but ends when nobody needs it. */
static double helper_finish(void *context)
{
    struct helper *h = context;

    governor_look(&h->job, clock_monotonic_s(), h->s->deadline_s, true);
    return is_over(h->s) ? 2 : 0;
}

static void help(struct helper *h)
{
    struct aside *s = h->s;

    h->arena = arena_create(s->cap_bytes);
    if (!h->arena)
        return;
    arena_set_lease(h->arena, &h->memory.lease);
    if (!make_room(&h->player, h->arena, s->cap_bytes))
        return;
    h->player.finish = (struct budget){.used = helper_finish, .context = h};
    h->player.budget =
        (struct budget){.used = helper_used, .context = h, .finish = &h->player.finish};
    while (!is_over(s)) {
        size_t number;

        pthread_mutex_lock(&s->mutex);
        number = claim(s);
        pthread_mutex_unlock(&s->mutex);
        if (number == s->count)
            break;
        play_part(s, &h->player, h->arena, number);
    }
}

/* In a slot of the governor. */
static void run(void *context)
{
    struct helper *h = context;
    struct aside *s = h->s;
    bool begins;

    pthread_mutex_lock(&s->mutex);
    begins = !s->closed && h->state == HELPER_QUEUED;
    if (begins)
        h->state = HELPER_RUNNING;
    pthread_mutex_unlock(&s->mutex);
    if (!begins)
        return;
    work_memory_enter(&h->memory, &h->job);
    help(h);
    work_memory_leave(&h->memory);
}

/* What it has played stays until the computation ends. */
static void ended(void *context, enum governor_answer answer)
{
    struct helper *h = context;
    struct aside *s = h->s;

    (void)answer;
    work_memory_trim(&h->memory);
    pthread_mutex_lock(&s->mutex);
    h->state = HELPER_OVER;
    pthread_cond_broadcast(&s->news);
    leave(s);
}

static bool submit(struct aside *s, struct helper *h)
{
    struct governor *governor = s->rq->service->governor;

    h->s = s;
    work_memory_begin(&h->memory, governor, &s->who);
    h->job = (struct governor_job){
        .queue = GOVERNOR_COMPUTE,
        .est_s = s->deadline_s - s->limited_from_s, /* behind what else its owner has */
        .cancelled = &s->closed,
        .run = run,
        .ended = ended,
        .context = h,
    };
    pthread_mutex_lock(&s->mutex);
    s->holders++;
    pthread_mutex_unlock(&s->mutex);
    if (governor_submit(governor, &s->who, &h->job) == GOVERNOR_OK)
        return true;
    pthread_mutex_lock(&s->mutex);
    s->holders--;
    h->state = HELPER_OVER;
    pthread_mutex_unlock(&s->mutex);
    return false;
}

/* ---- the computation ---- */

static bool copy_names(struct aside *s, const struct governor_who *who)
{
    s->who = *who;
    if (strlen(who->owner.name) >= NAME_SIZE ||
        (who->key.name && strlen(who->key.name) >= NAME_SIZE))
        return false;
    strcpy(s->owner, who->owner.name);
    s->who.owner.name = s->owner;
    if (who->key.name) {
        strcpy(s->key, who->key.name);
        s->who.key.name = s->key;
    }
    return true;
}

static struct aside *create(struct request *rq, size_t count, size_t helper_count)
{
    struct aside *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->news, NULL);
    s->parts = calloc(count, sizeof(*s->parts));
    s->helpers = calloc(helper_count, sizeof(*s->helpers));
    s->holders = 1;
    s->count = count;
    s->helper_count = helper_count;
    s->rq = rq;
    s->cap_bytes = arena_cap_bytes(rq->arena);
    s->cancelled = rq->cancelled;
    s->limited_from_s = rq->limited_from_s;
    s->deadline_s = rq->deadline_s;
    if (s->parts && s->helpers && copy_names(s, rq->message->memory->who))
        return s;
    free_aside(s);
    return NULL;
}

struct aside *aside_begin(struct request *rq, size_t count, aside_fn *play, void *context)
{
    const struct message *m = rq->message;
    size_t slots = rq->service->config->compute_workers;
    size_t helper_count = slots < 1 ? 0 : slots - 1, begun = 0;
    struct aside *s;

    if (count < 2)
        return NULL;
    if (helper_count >= count)
        helper_count = count - 1;
    if (helper_count > HELPERS_MAX)
        helper_count = HELPERS_MAX;
    /* A quota of computations is for those that are asked for. */
    if (rq->quota.concurrent_count > 0 || rq->tenant_quota.concurrent_count > 0)
        helper_count = 0;
    if (helper_count == 0 || !rq->service->governor || !m->job || !m->memory ||
        !m->memory->is_running || !(rq->deadline_s > rq->limited_from_s))
        return NULL;
    s = create(rq, count, helper_count);
    if (!s)
        return NULL;
    s->play = play;
    s->context = context;
    if (make_room(&s->own, rq->arena, s->cap_bytes)) {
        s->own.budget = budget_part(&rq->budget, 0, 1);
        s->parts[0].state = PART_TAKEN; /* the computation begins with it */
        while (begun < helper_count && submit(s, &s->helpers[begun]))
            begun++;
    }
    for (size_t i = begun; i < helper_count; i++)
        s->helpers[i].state = HELPER_OVER;
    return s;
}

bool aside_take(struct aside *s, size_t number, const void **data, size_t *length)
{
    struct part *part;
    bool is_played;

    if (!s)
        return false;
    part = &s->parts[number];
    pthread_mutex_lock(&s->mutex);
    if (part->state == PART_FREE || number == 0)
        part->state = PART_FAILED; /* nobody else begins it */
    while (part->state == PART_TAKEN) {
        size_t other = claim(s);
        struct timespec until;

        if (other < s->count) {
            pthread_mutex_unlock(&s->mutex);
            play_part(s, &s->own, s->rq->arena, other);
            pthread_mutex_lock(&s->mutex);
            continue;
        }
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAIT_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&s->news, &s->mutex, &until);
        pthread_mutex_unlock(&s->mutex);
        if (budget_spent(&s->rq->budget)) /* whoever is at it ends, too */
            return false;
        pthread_mutex_lock(&s->mutex);
    }
    is_played = part->state == PART_PLAYED;
    *data = part->data;
    *length = part->length;
    pthread_mutex_unlock(&s->mutex);
    return is_played;
}

/* Its arenas are given back, and what it used is charged. */
static void dismiss(struct aside *s, struct helper *h)
{
    if (h->arena) {
        give_room(&h->player);
        arena_close(h->arena);
        h->arena = NULL;
        work_memory_end(&h->memory);
        admission_charge(s->rq, h->job.cpu_s);
    }
}

void aside_end(struct aside *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->mutex);
    __atomic_store_n(&s->closed, true, __ATOMIC_RELAXED);
    for (size_t i = 0; i < s->helper_count; i++)
        while (s->helpers[i].state == HELPER_RUNNING)
            pthread_cond_wait(&s->news, &s->mutex);
    pthread_mutex_unlock(&s->mutex);
    for (size_t i = 0; i < s->helper_count; i++)
        dismiss(s, &s->helpers[i]);
    give_room(&s->own);
    pthread_mutex_lock(&s->mutex);
    leave(s);
}
