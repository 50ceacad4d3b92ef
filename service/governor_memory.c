/* governor_memory.c - leases of the two pools; see governor.h and governor_core.h.
 *
 * A share of a pool never blocks for good: an owner that holds nothing may take any
 * size. A reservation lets a large job in at last, without stopping all others: while
 * it waits, what begins later may take only what it leaves.
 */
#include "service/governor_core.h"

#include "models/base/names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const size_t KEPT_LEAST_BYTES = 16 * 1024 * 1024;

struct governor_sizes governor_sizes(const struct governor_options *options)
{
    struct governor_sizes sizes = {.kept_bytes = options->memory_bytes / 10};
    size_t all;

    if (sizes.kept_bytes < KEPT_LEAST_BYTES)
        sizes.kept_bytes = KEPT_LEAST_BYTES;
    sizes.body_bytes =
        (size_t)(options->body_memory_ratio * (double)options->memory_bytes);
    all = options->memory_bytes > sizes.kept_bytes
              ? options->memory_bytes - sizes.kept_bytes
              : 0;
    if (sizes.body_bytes > all)
        sizes.body_bytes = all;
    sizes.work_bytes = all - sizes.body_bytes;
    sizes.reserve_bytes = sizes.work_bytes / 16;
    if (options->body_bytes_max && sizes.body_bytes > options->body_bytes_max)
        sizes.body_bytes = options->body_bytes_max;
    return sizes;
}

/* ---- accounts ---- */

static struct governor_account **bucket_of(struct governor_core *c, const char *name)
{
    return &c->buckets[hash_fnv1a(name) % GOVERNOR_ACCOUNT_BUCKETS];
}

static struct governor_account *account_find(struct governor_core *c, const char *name,
                                             bool is_key)
{
    struct governor_account *account = *bucket_of(c, name);

    while (account && (account->is_key != is_key || strcmp(account->name, name) != 0))
        account = account->next;
    return account;
}

struct governor_account *core_account(struct governor_core *c,
                                      const struct governor_party *party, bool is_key)
{
    struct governor_account *account = account_find(c, party->name, is_key);

    if (!account) {
        struct governor_account **bucket = bucket_of(c, party->name);

        account = calloc(1, sizeof(*account));
        if (!account)
            return NULL;
        account->name = strdup(party->name);
        if (!account->name) {
            free(account);
            return NULL;
        }
        account->is_key = is_key;
        account->next = *bucket;
        *bucket = account;
    }
    account->quota = party->quota;
    account->reference_count++;
    return account;
}

void core_account_release(struct governor_core *c, struct governor_account *account)
{
    struct governor_account **at;

    if (!account || --account->reference_count > 0)
        return;
    at = bucket_of(c, account->name);
    while (*at != account)
        at = &(*at)->next;
    *at = account->next;
    free(account->name);
    free(account);
}

struct governor_holding core_holding(struct governor_core *c, const char *name,
                                     bool is_key)
{
    const struct governor_account *account = account_find(c, name, is_key);

    return account ? (struct governor_holding){account->running_count[GOVERNOR_COMPUTE],
                                               account->leased_bytes[GOVERNOR_WORK]}
                   : (struct governor_holding){0};
}

/* ---- the rules ---- */

static bool fits(size_t used, size_t more, size_t limit)
{
    return used <= limit && more <= limit - used;
}

static bool quota_allows(const struct governor_account *account, size_t more)
{
    return !account || account->quota.memory_bytes == 0 ||
           fits(account->leased_bytes[GOVERNOR_WORK], more, account->quota.memory_bytes);
}

bool core_work_fits(const struct governor_core *c, const struct governor_account *owner,
                    const struct governor_account *key, size_t bytes)
{
    size_t held = owner->leased_bytes[GOVERNOR_WORK];
    bool is_small_first = held == 0 && bytes <= c->sizes.reserve_bytes;
    size_t room = c->sizes.work_bytes - (is_small_first ? 0 : c->sizes.reserve_bytes);
    bool is_alone = c->busy_count == (owner->work_count > 0);

    if (bytes == 0)
        return true; /* a query, which takes as it goes */
    return fits(c->leased_bytes[GOVERNOR_WORK], bytes, room) &&
           quota_allows(owner, bytes) && quota_allows(key, bytes) &&
           (held == 0 || is_alone || fits(held, bytes, c->share_bytes[GOVERNOR_WORK]));
}

enum governor_answer core_work_possible(const struct governor_core *c,
                                        const struct governor_account *owner,
                                        const struct governor_account *key, size_t bytes)
{
    size_t owner_most = owner->quota.memory_bytes;
    size_t key_most = key ? key->quota.memory_bytes : 0;

    if ((owner_most && bytes > owner_most) || (key_most && bytes > key_most))
        return GOVERNOR_QUOTA_MEMORY;
    return bytes > c->sizes.work_bytes - c->sizes.reserve_bytes ? GOVERNOR_TOO_LARGE
                                                                : GOVERNOR_OK;
}

static enum governor_answer refused(struct governor_core *c, enum governor_pool pool,
                                    enum governor_answer answer)
{
    c->refused_count[pool][answer]++;
    return answer;
}

/* ---- leases ---- */

/* Whether the lease is of a job that began under the reservation that is held now. */
static bool is_under_reservation(const struct governor_core *c,
                                 const struct governor_lease *lease)
{
    return c->reserved && lease->job &&
           lease->job->reservation_number == c->reservation_number;
}

/* The lease becomes longer; `owner` and `key` are referred to once more when it was
 * empty. */
static void lengthen(struct governor_core *c, struct governor_lease *lease,
                     enum governor_pool pool, struct governor_account *owner,
                     struct governor_account *key, size_t bytes)
{
    if (bytes == 0)
        return;
    if (lease->bytes == 0) {
        lease->pool = pool;
        lease->owner = owner;
        lease->key = key;
        owner->reference_count++;
        if (key)
            key->reference_count++;
    }
    lease->bytes += bytes;
    owner->leased_bytes[pool] += bytes;
    if (key)
        key->leased_bytes[pool] += bytes;
    c->leased_bytes[pool] += bytes;
    if (is_under_reservation(c, lease))
        c->begun_bytes += bytes;
}

void core_give(struct governor_core *c, struct governor_lease *lease, size_t bytes)
{
    struct governor_account *owner = lease->owner, *key = lease->key;

    if (bytes > lease->bytes)
        bytes = lease->bytes;
    if (bytes == 0)
        return;
    lease->bytes -= bytes;
    owner->leased_bytes[lease->pool] -= bytes;
    if (key)
        key->leased_bytes[lease->pool] -= bytes;
    c->leased_bytes[lease->pool] -= bytes;
    if (is_under_reservation(c, lease))
        c->begun_bytes -= bytes;
    if (lease->bytes > 0)
        return;
    lease->owner = lease->key = NULL;
    core_account_release(c, owner);
    core_account_release(c, key);
}

/* Whether the owner's body of `held` bytes may become `bytes` longer. */
static enum governor_answer body_fits(const struct governor_core *c,
                                      const struct governor_account *owner, size_t held,
                                      size_t bytes)
{
    size_t all = owner ? owner->leased_bytes[GOVERNOR_BODY] : 0;

    if (!fits(held, bytes, c->sizes.body_bytes))
        return GOVERNOR_TOO_LARGE;
    if (!fits(c->leased_bytes[GOVERNOR_BODY], bytes, c->sizes.body_bytes) ||
        (all > held && !fits(all, bytes, c->share_bytes[GOVERNOR_BODY])))
        return GOVERNOR_BUSY;
    return GOVERNOR_OK;
}

enum governor_answer core_body_check(struct governor_core *c,
                                     const struct governor_who *who, size_t bytes)
{
    enum governor_answer answer =
        body_fits(c, account_find(c, who->owner.name, false), 0, bytes);

    return answer == GOVERNOR_OK ? answer : refused(c, GOVERNOR_BODY, answer);
}

enum governor_answer core_body_take(struct governor_core *c,
                                    const struct governor_who *who,
                                    struct governor_lease *lease, size_t bytes)
{
    struct governor_account *owner = core_account(c, &who->owner, false);
    enum governor_answer answer =
        owner ? body_fits(c, owner, lease->bytes, bytes) : GOVERNOR_BUSY;

    if (answer == GOVERNOR_OK)
        lengthen(c, lease, GOVERNOR_BODY, owner, NULL, bytes);
    else
        refused(c, GOVERNOR_BODY, answer);
    core_account_release(c, owner);
    return answer;
}

enum governor_answer core_work_take(struct governor_core *c,
                                    const struct governor_who *who,
                                    struct governor_lease *lease, size_t bytes)
{
    struct governor_account *owner = core_account(c, &who->owner, false);
    enum governor_answer answer = GOVERNOR_BUSY;

    if (owner)
        answer = core_work_possible(c, owner, NULL, lease->bytes + bytes);
    if (answer == GOVERNOR_OK && !core_work_fits(c, owner, NULL, bytes))
        answer = GOVERNOR_BUSY;
    if (answer == GOVERNOR_OK)
        lengthen(c, lease, GOVERNOR_WORK, owner, NULL, bytes);
    else
        refused(c, GOVERNOR_WORK, answer);
    core_account_release(c, owner);
    return answer;
}

/* ---- a running job ---- */

/* Growth within the small first lease may use what is kept for such. */
static bool growth_fits(const struct governor_core *c, const struct governor_job *job,
                        size_t bytes)
{
    bool is_small = fits(job->work.bytes, bytes, c->sizes.reserve_bytes);

    return fits(c->leased_bytes[GOVERNOR_WORK], bytes,
                c->sizes.work_bytes - (is_small ? 0 : c->sizes.reserve_bytes));
}

enum governor_answer core_grow(struct governor_core *c, struct governor_job *job,
                               size_t bytes)
{
    struct governor_account *owner = job->share->account;

    if (!quota_allows(owner, bytes) || !quota_allows(job->key, bytes))
        return refused(c, GOVERNOR_WORK, GOVERNOR_QUOTA_MEMORY);
    if (!growth_fits(c, job, bytes))
        return refused(c, GOVERNOR_WORK, GOVERNOR_BUSY);
    lengthen(c, &job->work, GOVERNOR_WORK, owner, job->key, bytes);
    return GOVERNOR_OK;
}

enum governor_answer core_reserve(struct governor_core *c, struct governor_job *job,
                                  size_t bytes)
{
    struct governor_account *owner = job->share->account;
    enum governor_answer possible = core_work_possible(c, owner, job->key, bytes);
    size_t more = bytes > job->work.bytes ? bytes - job->work.bytes : 0;

    if (possible != GOVERNOR_OK)
        return refused(c, GOVERNOR_WORK, possible);
    if (more == 0)
        return GOVERNOR_OK;
    if (quota_allows(owner, more) && quota_allows(job->key, more) &&
        growth_fits(c, job, more)) {
        lengthen(c, &job->work, GOVERNOR_WORK, owner, job->key, more);
        return GOVERNOR_OK;
    }
    if (job->was_reserved || job->state == JOB_ENDING)
        return refused(c, GOVERNOR_WORK, GOVERNOR_BUSY);
    job->was_reserved = job->is_again = job->is_exact = true;
    job->work_bytes = bytes;
    return GOVERNOR_AGAIN;
}

/* ---- the reservation ---- */

/* fn(job) for all that are queued. */
typedef void queued_fn(struct governor_core *c, struct governor_job *job, void *context);

static void for_all_queued(struct governor_core *c, queued_fn *fn, void *context)
{
    for (size_t q = 0; q < GOVERNOR_QUEUES; q++)
        for (struct governor_share *s = c->queues[q].shares; s; s = s->next)
            for (struct governor_job *job = s->queued; job; job = job->next)
                fn(c, job, context);
}

/* Keeps the first one that has been passed so often. */
static void choose_holder(struct governor_core *c, struct governor_job *job,
                          void *context)
{
    struct governor_job **first = context;

    if (job->passed_count >= RESERVATION_AFTER &&
        job->work_bytes <= c->share_bytes[GOVERNOR_WORK] &&
        (!*first || job->number < (*first)->number))
        *first = job;
}

static void reserve_for_next(struct governor_core *c)
{
    if (c->reserved)
        return;
    for_all_queued(c, choose_holder, &c->reserved);
    if (!c->reserved)
        return;
    c->reservation_number++;
    c->begun_bytes = 0;
}

void core_reservation_end(struct governor_core *c, const struct governor_job *job)
{
    if (c->reserved != job)
        return;
    c->reserved = NULL;
    reserve_for_next(c);
}

bool core_reservation_allows(const struct governor_core *c,
                             const struct governor_job *job)
{
    const struct governor_job *holder = c->reserved;
    bool is_small_first = job->work_bytes <= c->sizes.reserve_bytes &&
                          job->share->account->leased_bytes[GOVERNOR_WORK] == 0;
    size_t room = c->sizes.work_bytes - c->sizes.reserve_bytes;

    return !holder || job->work_bytes == 0 || job->number <= holder->number ||
           is_small_first ||
           fits(c->begun_bytes, job->work_bytes, room - holder->work_bytes);
}

/* `context` begins; whoever came before it and does not fit has been passed. What the
 * caller's own quota keeps out has no claim on the room of others. */
static void count_passed(struct governor_core *c, struct governor_job *job, void *context)
{
    const struct governor_account *owner = job->share->account;
    const struct governor_job *begun = context;

    if (job->number < begun->number && quota_allows(owner, job->work_bytes) &&
        quota_allows(job->key, job->work_bytes) &&
        !core_work_fits(c, owner, job->key, job->work_bytes))
        job->passed_count++;
}

void core_work_begin(struct governor_core *c, struct governor_job *job)
{
    if (job->work_bytes > 0)
        for_all_queued(c, count_passed, job);
    core_reservation_end(c, job);
    job->work.job = job;
    job->reservation_number = c->reserved ? c->reservation_number : 0;
    lengthen(c, &job->work, GOVERNOR_WORK, job->share->account, job->key,
             job->work_bytes);
    reserve_for_next(c);
}
