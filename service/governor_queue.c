/* governor_queue.c - the fair queue; see governor.h and governor_core.h.
 *
 * Start-time fair queueing over owners (Goyal, Vin and Cheng 1996), charged by what was
 * measured, never by estimates: an owner's virtual time v grows by CPU seconds / weight.
 * key(o, d) = v + (running + d) * quantum / weight is where it will be when what runs has
 * used its quantum. A free slot goes to the least key(o, 0). A job that has used its
 * quantum is parked when some other owner's key is less than key(o, -1). An owner that
 * comes anew begins at the system's virtual time V, the least v of owners with work: to
 * have been idle earns nothing.
 *
 * Cost: a decision looks at every owner with work, and at the queue of those that might
 * be next.
 */
#include "service/governor_core.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARES_KEPT = 32 }; /* of a queue, with work or without */

static const double SAME_S = 1e-9; /* keys that differ by less are equal */
static const double BACKGROUND_WEIGHT_RATIO = 0.25;
static const double OLD_S = 30;         /* who waits so long goes by arrival */
static const double AGING_PER_S = 0.05; /* of est_s, for each second of waiting */
static const double RETRY_MAX_S = 30;

/* ---- lists of jobs, in the order of receipt ---- */

static void list_add(struct governor_job **first, struct governor_job **last,
                     struct governor_job *job)
{
    struct governor_job *before = *last;

    while (before && before->number > job->number)
        before = before->previous;
    job->previous = before;
    job->next = before ? before->next : *first;
    if (job->next)
        job->next->previous = job;
    else
        *last = job;
    if (before)
        before->next = job;
    else
        *first = job;
}

static void list_remove(struct governor_job **first, struct governor_job **last,
                        struct governor_job *job)
{
    if (job->next)
        job->next->previous = job->previous;
    else
        *last = job->previous;
    if (job->previous)
        job->previous->next = job->next;
    else
        *first = job->next;
    job->previous = job->next = NULL;
}

static struct governor_core_queue *queue_of(struct governor_core *c,
                                            const struct governor_job *job)
{
    return &c->queues[job->queue];
}

/* ---- owners in a queue ---- */

static bool has_work(const struct governor_share *s)
{
    return s->running_count + s->ending_count + s->queued_count + s->parked_count > 0;
}

static struct governor_share *share_get(struct governor_core *c, enum governor_queue q,
                                        const struct governor_who *who)
{
    struct governor_account *account = core_account(c, &who->owner, false);
    struct governor_share *s = account ? account->shares[q][who->background] : NULL;

    if (!account)
        return NULL;
    if (s) {
        core_account_release(c, account); /* the share has a reference already */
    } else {
        s = calloc(1, sizeof(*s));
        if (!s) {
            core_account_release(c, account);
            return NULL;
        }
        s->account = account;
        s->background = who->background;
        s->next = c->queues[q].shares;
        c->queues[q].shares = s;
        c->queues[q].share_count++;
        account->shares[q][who->background] = s;
    }
    s->weight = who->owner.quota.weight > 0 ? who->owner.quota.weight : 1;
    if (who->background)
        s->weight *= BACKGROUND_WEIGHT_RATIO;
    if (!has_work(s))
        s->virtual_s = fmax(s->virtual_s, c->queues[q].virtual_s);
    return s;
}

/* Forgets owners without work that have had no more than others. A few are kept, as most
 * come again soon: they begin where a new one would. `all`: every owner. */
static void forget_idle(struct governor_core *c, enum governor_queue q, bool all)
{
    struct governor_core_queue *queue = &c->queues[q];
    struct governor_share **at = &queue->shares;

    if (!all && queue->share_count <= SHARES_KEPT)
        return;
    while (*at) {
        struct governor_share *s = *at;

        if (!all && (has_work(s) || s->virtual_s > queue->virtual_s)) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        queue->share_count--;
        s->account->shares[q][s->background] = NULL;
        core_account_release(c, s->account);
        free(s);
    }
}

static void charge(struct governor_core_queue *queue, struct governor_share *charged,
                   double cpu_s)
{
    double least_s = HUGE_VAL;

    charged->virtual_s += cpu_s / charged->weight;
    for (const struct governor_share *s = queue->shares; s; s = s->next)
        if (has_work(s) && s->virtual_s < least_s)
            least_s = s->virtual_s;
    if (least_s < HUGE_VAL)
        queue->virtual_s = fmax(queue->virtual_s, least_s);
}

static void charge_job(struct governor_core *c, struct governor_job *job, double cpu_s)
{
    job->cpu_s += cpu_s;
    job->slice_s += cpu_s;
    charge(queue_of(c, job), job->share, cpu_s);
}

/* ---- counts of what waits and runs ---- */

static void account_begin(struct governor_core *c, struct governor_account *owner)
{
    c->busy_count += owner->work_count == 0;
    owner->work_count++;
}

static void account_end(struct governor_core *c, struct governor_account *owner)
{
    owner->work_count--;
    c->busy_count -= owner->work_count == 0;
}

static void enter_queue(struct governor_core *c, struct governor_job *job, double now_s)
{
    struct governor_core_queue *queue = queue_of(c, job);
    struct governor_share *s = job->share;

    list_add(&s->queued, &s->queued_last, job);
    s->queued_count++;
    s->account->queued_count[job->queue]++;
    if (job->key)
        job->key->queued_count[job->queue]++;
    queue->queued_count++;
    queue->waiting_est_s += job->est_s;
    job->state = JOB_QUEUED;
    job->queued_s = now_s;
}

static void leave_queue(struct governor_core *c, struct governor_job *job, double now_s)
{
    struct governor_core_queue *queue = queue_of(c, job);
    struct governor_share *s = job->share;

    list_remove(&s->queued, &s->queued_last, job);
    s->queued_count--;
    s->account->queued_count[job->queue]--;
    if (job->key)
        job->key->queued_count[job->queue]--;
    queue->queued_count--;
    queue->waiting_est_s = queue->queued_count ? queue->waiting_est_s - job->est_s : 0;
    job->wait_s += now_s - job->queued_s;
}

static void enter_slot(struct governor_core *c, struct governor_job *job)
{
    queue_of(c, job)->running_count++;
    job->share->running_count++;
    job->share->account->running_count[job->queue]++;
    if (job->key)
        job->key->running_count[job->queue]++;
    job->state = JOB_RUNNING;
    job->slice_s = 0;
}

static void leave_slot(struct governor_core *c, struct governor_job *job)
{
    queue_of(c, job)->running_count--;
    job->share->running_count--;
    job->share->account->running_count[job->queue]--;
    if (job->key)
        job->key->running_count[job->queue]--;
}

static void leave_parked(struct governor_core *c, struct governor_job *job)
{
    list_remove(&job->share->parked, &job->share->parked_last, job);
    job->share->parked_count--;
    queue_of(c, job)->parked_count--;
}

/* The job is known to the governor no more, but for its lease. */
static void forget_job(struct governor_core *c, struct governor_job *job)
{
    account_end(c, job->share->account);
    core_account_release(c, job->key);
    job->key = NULL;
    job->share = NULL;
    job->state = JOB_IDLE;
    forget_idle(c, job->queue, false);
}

/* ---- arrival ---- */

static bool is_at_limit(const struct governor_account *account, enum governor_queue q)
{
    size_t limit = account ? account->quota.concurrent_count : 0;

    return q == GOVERNOR_COMPUTE && limit && account->running_count[q] >= limit;
}

/* At its limit, and as many wait already. */
static bool is_beyond_limit(const struct governor_account *account, enum governor_queue q)
{
    return is_at_limit(account, q) &&
           account->queued_count[q] >= account->quota.concurrent_count;
}

static enum governor_answer may_queue(const struct governor_core *c,
                                      const struct governor_job *job)
{
    const struct governor_core_queue *queue = &c->queues[job->queue];
    const struct governor_account *owner = job->share->account;

    if (is_beyond_limit(owner, job->queue) || is_beyond_limit(job->key, job->queue))
        return GOVERNOR_QUOTA_CONCURRENT;
    if (queue->queued_count >= (queue->queue_length + 1) / 2 &&
        owner->queued_count[job->queue] >= c->options.tenant_queue_length)
        return GOVERNOR_QUOTA_CONCURRENT;
    if (queue->queued_count >= queue->queue_length)
        return GOVERNOR_BUSY;
    return job->is_exact ? core_work_possible(c, owner, job->key, job->work_bytes)
                         : GOVERNOR_OK;
}

static size_t lower_quota(size_t bytes, const struct governor_account *account)
{
    size_t most = account ? account->quota.memory_bytes : 0;

    return most && most < bytes ? most : bytes;
}

/* A guess never refuses, and can always be reserved. */
static size_t cut_guess(const struct governor_core *c, const struct governor_job *job)
{
    size_t most = c->share_bytes[GOVERNOR_WORK];
    size_t room = c->sizes.work_bytes - c->sizes.reserve_bytes;

    most = lower_quota(lower_quota(most < room ? most : room, job->share->account),
                       job->key);
    return job->work_bytes < most ? job->work_bytes : most;
}

enum governor_answer core_submit(struct governor_core *c, const struct governor_who *who,
                                 struct governor_job *job, double now_s)
{
    enum governor_answer answer;

    assert(job->work.bytes == 0 && job->state == JOB_IDLE);
    job->share = share_get(c, job->queue, who);
    job->key = who->key.name ? core_account(c, &who->key, true) : NULL;
    if (!job->share || (who->key.name && !job->key))
        answer = GOVERNOR_BUSY;
    else
        answer = may_queue(c, job);
    if (answer != GOVERNOR_OK) {
        c->refused_count[GOVERNOR_WORK][answer]++;
        core_account_release(c, job->key);
        job->key = NULL;
        job->share = NULL;
        forget_idle(c, job->queue, false);
        return answer;
    }
    if (!job->is_exact)
        job->work_bytes = cut_guess(c, job);
    job->number = c->next_number++;
    job->arrived_s = now_s;
    job->deadline_s = HUGE_VAL;
    job->wait_s = job->cpu_s = 0;
    job->is_again = job->was_reserved = false;
    job->passed_count = 0;
    account_begin(c, job->share->account);
    enter_queue(c, job, now_s);
    return GOVERNOR_OK;
}

/* ---- who is next ---- */

/* key(o, 0) of the top of this file. */
static double share_key(const struct governor_core *c, const struct governor_share *s)
{
    return s->virtual_s + (double)s->running_count * c->options.quantum_s / s->weight;
}

static bool may_run(const struct governor_job *job)
{
    return !is_at_limit(job->share->account, job->queue) &&
           !is_at_limit(job->key, job->queue);
}

/* Whether queued job a goes before b of the same owner; both pass. */
static bool goes_before(const struct governor_job *a, const struct governor_job *b,
                        double now_s)
{
    bool a_is_old = now_s - a->arrived_s >= OLD_S,
         b_is_old = now_s - b->arrived_s >= OLD_S;
    double a_s = a->est_s + AGING_PER_S * a->arrived_s;
    double b_s = b->est_s + AGING_PER_S * b->arrived_s;

    if (a_is_old != b_is_old)
        return a_is_old;
    if (a_is_old || a_s == b_s)
        return a->number < b->number;
    return a_s < b_s;
}

/* next(o) of an owner: the parked job that came first, else of the queued ones that fit
 * the one to go first. NULL: none can run now. */
static struct governor_job *share_next(const struct governor_core *c,
                                       const struct governor_core_queue *queue,
                                       const struct governor_share *s, double now_s)
{
    bool has_thread = queue->running_count + queue->ending_count + queue->parked_count <
                      queue->thread_count;
    struct governor_job *best = NULL;

    for (struct governor_job *job = s->parked; job; job = job->next)
        if (may_run(job))
            return job;
    if (!has_thread || s->parked)
        return NULL;
    for (struct governor_job *job = s->queued; job; job = job->next)
        if (may_run(job) && (!best || goes_before(job, best, now_s)) &&
            core_work_fits(c, s->account, job->key, job->work_bytes) &&
            core_reservation_allows(c, job))
            best = job;
    return best;
}

/* Whether owner a is served before b when their keys are equal. */
static bool name_before(const struct governor_share *a, const struct governor_share *b)
{
    int order = strcmp(a->account->name, b->account->name);

    return order ? order < 0 : a->background < b->background;
}

/* Of the owners but `except` the one with the least key that can use a slot, and its
 * job. NULL: none. */
static struct governor_job *best_next(const struct governor_core *c,
                                      const struct governor_core_queue *queue,
                                      const struct governor_share *except, double now_s)
{
    const struct governor_share *best = NULL;
    struct governor_job *next = NULL;

    for (const struct governor_share *s = queue->shares; s; s = s->next) {
        double difference_s = best ? share_key(c, s) - share_key(c, best) : -1;
        struct governor_job *job;

        if (s == except || s->queued_count + s->parked_count == 0 ||
            difference_s > SAME_S ||
            (best && fabs(difference_s) <= SAME_S && !name_before(s, best)))
            continue;
        job = share_next(c, queue, s, now_s);
        if (!job)
            continue;
        best = s;
        next = job;
    }
    return next;
}

struct governor_job *core_next(struct governor_core *c, enum governor_queue q,
                               double now_s)
{
    struct governor_core_queue *queue = &c->queues[q];
    struct governor_job *job;

    if (queue->running_count >= queue->slot_count)
        return NULL;
    job = best_next(c, queue, NULL, now_s);
    if (!job)
        return NULL;
    if (job->state == JOB_PARKED) {
        leave_parked(c, job);
    } else {
        leave_queue(c, job, now_s);
        core_work_begin(c, job);
    }
    enter_slot(c, job);
    return job;
}

/* ---- a job in its slot ---- */

bool core_look(struct governor_core *c, struct governor_job *job, double cpu_s,
               double now_s, bool may_park)
{
    struct governor_core_queue *queue = queue_of(c, job);
    struct governor_share *s = job->share;
    const struct governor_job *other;

    queue->look_count++;
    charge_job(c, job, cpu_s);
    if (job->state != JOB_RUNNING || !queue->parks || !may_park ||
        job->slice_s < c->options.quantum_s - SAME_S)
        return false;
    leave_slot(c, job); /* to see who could run then: it would keep its thread */
    queue->parked_count++;
    other = best_next(c, queue, s, now_s);
    if (!other || share_key(c, other->share) >= share_key(c, s) - SAME_S) {
        queue->parked_count--;
        enter_slot(c, job); /* its slice begins anew */
        return false;
    }
    list_add(&s->parked, &s->parked_last, job);
    s->parked_count++;
    queue->parking_count++;
    job->state = JOB_PARKED;
    job->parked_s = now_s;
    return true;
}

bool core_end(struct governor_core *c, struct governor_job *job, double cpu_s,
              double now_s)
{
    charge_job(c, job, cpu_s);
    if (job->state == JOB_ENDING) {
        job->share->ending_count--;
        queue_of(c, job)->ending_count--;
    } else {
        leave_slot(c, job);
    }
    if (!job->is_again) {
        forget_job(c, job);
        return false;
    }
    job->is_again = false;
    core_give(c, &job->work, SIZE_MAX);
    enter_queue(c, job, now_s);
    return true;
}

/* ---- what waits no longer ---- */

static bool is_cancelled(const struct governor_job *job)
{
    return job->cancelled && __atomic_load_n(job->cancelled, __ATOMIC_RELAXED);
}

struct governor_job *core_overdue(struct governor_core *c, enum governor_queue q,
                                  double now_s, enum governor_answer *answer)
{
    double limit_s = c->options.queue_wait_s;

    for (struct governor_share *s = c->queues[q].shares; s; s = s->next)
        for (struct governor_job *job = s->queued; job; job = job->next) {
            if (!is_cancelled(job) && job->wait_s + now_s - job->queued_s <= limit_s)
                continue;
            *answer = is_cancelled(job) ? GOVERNOR_GONE : GOVERNOR_BUSY;
            if (*answer == GOVERNOR_BUSY)
                c->refused_count[GOVERNOR_WORK][GOVERNOR_BUSY]++;
            leave_queue(c, job, now_s);
            core_reservation_end(c, job);
            forget_job(c, job);
            return job;
        }
    return NULL;
}

void core_parked_end(struct governor_core *c, struct governor_job *job)
{
    leave_parked(c, job);
    job->state = JOB_ENDING;
    job->share->ending_count++;
    queue_of(c, job)->ending_count++;
}

struct governor_job *core_parked_overdue(struct governor_core *c, enum governor_queue q,
                                         double now_s)
{
    for (struct governor_share *s = c->queues[q].shares; s; s = s->next)
        for (struct governor_job *job = s->parked; job; job = job->next)
            if (is_cancelled(job) || now_s >= job->deadline_s) {
                core_parked_end(c, job);
                return job;
            }
    return NULL;
}

/* ---- the rest ---- */

void core_charge(struct governor_core *c, enum governor_queue q,
                 const struct governor_who *who, double cpu_s)
{
    struct governor_core_queue *queue = &c->queues[q];
    struct governor_share *s;

    if (queue->queued_count + queue->running_count + queue->parked_count == 0)
        return; /* nobody was kept waiting */
    s = share_get(c, q, who);
    if (s)
        charge(queue, s, cpu_s);
}

int core_retry_after_s(const struct governor_core *c, enum governor_queue q)
{
    const struct governor_core_queue *queue = &c->queues[q];
    double wait_s = ceil(queue->waiting_est_s / (double)queue->slot_count);

    return (int)fmin(RETRY_MAX_S, fmax(1, wait_s));
}

void core_open(struct governor_core *c, const struct governor_options *options)
{
    *c = (struct governor_core){.options = *options, .sizes = governor_sizes(options)};
    c->share_bytes[GOVERNOR_BODY] =
        (size_t)(options->tenant_memory_ratio * (double)c->sizes.body_bytes);
    c->share_bytes[GOVERNOR_WORK] =
        (size_t)(options->tenant_memory_ratio * (double)c->sizes.work_bytes);
    for (size_t q = 0; q < GOVERNOR_QUEUES; q++) {
        c->queues[q].slot_count = options->queues[q].slot_count;
        c->queues[q].queue_length = options->queues[q].queue_length;
        c->queues[q].thread_count = options->queues[q].thread_count;
        c->queues[q].parks = q == GOVERNOR_COMPUTE;
    }
}

void core_close(struct governor_core *c)
{
    for (enum governor_queue q = 0; q < GOVERNOR_QUEUES; q++)
        forget_idle(c, q, true);
    for (size_t i = 0; i < GOVERNOR_ACCOUNT_BUCKETS; i++)
        while (c->buckets[i]) {
            struct governor_account *account = c->buckets[i];

            c->buckets[i] = account->next;
            free(account->name);
            free(account);
        }
}

/* ---- numbers ---- */

static size_t count_of(const struct governor_share *s)
{
    return s->queued_count + s->running_count + s->ending_count + s->parked_count;
}

/* The largest owner that is not shown yet: smaller than the last one shown, or as large
 * and later in the list. */
static const struct governor_share *next_largest(const struct governor_core_queue *queue,
                                                 const struct governor_share *last)
{
    const struct governor_share *best = NULL;
    bool is_behind = last == NULL;

    for (const struct governor_share *s = queue->shares; s; s = s->next) {
        size_t n = count_of(s);
        bool is_left =
            n && (!last || n < count_of(last) || (n == count_of(last) && is_behind));

        if (s == last)
            is_behind = true;
        else if (is_left && (!best || n > count_of(best)))
            best = s;
    }
    return best;
}

static void queue_stats(const struct governor_core_queue *queue,
                        struct governor_queue_stats *stats)
{
    const struct governor_share *s = NULL;
    struct governor_owner_stats other = {
        .name = "other",
        .queued_count = queue->queued_count,
        .running_count = queue->running_count + queue->ending_count,
        .parked_count = queue->parked_count,
    };
    double least_s = HUGE_VAL, most_s = -HUGE_VAL;

    *stats = (struct governor_queue_stats){
        .queued_count = queue->queued_count,
        .running_count = queue->running_count + queue->ending_count,
        .parked_count = queue->parked_count,
        .thread_count = queue->thread_count,
        .look_count = queue->look_count,
        .parking_count = queue->parking_count,
    };
    while (stats->owner_count < GOVERNOR_OWNERS_SHOWN && (s = next_largest(queue, s))) {
        struct governor_owner_stats *to = &stats->owners[stats->owner_count++];

        snprintf(to->name, sizeof(to->name), "%s", s->account->name);
        to->background = s->background;
        to->queued_count = s->queued_count;
        to->running_count = s->running_count + s->ending_count;
        to->parked_count = s->parked_count;
        other.queued_count -= s->queued_count;
        other.running_count -= to->running_count;
        other.parked_count -= s->parked_count;
    }
    if (other.queued_count + other.running_count + other.parked_count > 0)
        stats->owners[stats->owner_count++] = other;
    for (s = queue->shares; s; s = s->next)
        if (has_work(s)) {
            least_s = fmin(least_s, s->virtual_s);
            most_s = fmax(most_s, s->virtual_s);
        }
    stats->spread_s = fmax(0, most_s - least_s);
}

void core_stats(const struct governor_core *c, struct governor_stats *stats)
{
    memset(stats, 0, sizeof(*stats));
    stats->pool_bytes[GOVERNOR_BODY] = c->sizes.body_bytes;
    stats->pool_bytes[GOVERNOR_WORK] = c->sizes.work_bytes;
    stats->reserve_bytes = c->sizes.reserve_bytes;
    memcpy(stats->leased_bytes, c->leased_bytes, sizeof(c->leased_bytes));
    memcpy(stats->refused_count, c->refused_count, sizeof(c->refused_count));
    for (size_t q = 0; q < GOVERNOR_QUEUES; q++)
        queue_stats(&c->queues[q], &stats->queues[q]);
}
