/* work_memory.c - what one request takes of the governor's work pool. */
#include "service/work_memory.h"

#include <assert.h>

static size_t leased_bytes(const struct work_memory *m)
{
    return m->own.bytes + (m->job ? m->job->work.bytes : 0);
}

/* arena_lease: take */
static bool take(void *context, size_t bytes)
{
    struct work_memory *m = context;
    size_t wanted = m->used_bytes + bytes, leased = leased_bytes(m);
    enum governor_answer answer = GOVERNOR_OK;

    if (m->governor && wanted > leased && m->is_running)
        answer = governor_grow(m->job, wanted - leased);
    else if (m->governor && wanted > leased)
        answer = governor_work_take(m->governor, m->who, &m->own, wanted - leased);
    if (answer != GOVERNOR_OK) {
        m->refusal = answer;
        m->wanted_bytes = wanted;
        return false;
    }
    m->used_bytes = wanted;
    if (m->most_bytes < wanted)
        m->most_bytes = wanted;
    return true;
}

/* arena_lease: give; the lease itself stays until it is trimmed. */
static void give(void *context, size_t bytes)
{
    struct work_memory *m = context;

    assert(bytes <= m->used_bytes);
    m->used_bytes -= bytes;
}

void work_memory_begin(struct work_memory *m, struct governor *governor,
                       const struct governor_who *who)
{
    *m = (struct work_memory){
        .lease = {.take = take, .give = give, .context = m},
        .governor = governor,
        .who = who,
    };
}

void work_memory_enter(struct work_memory *m, struct governor_job *job)
{
    m->job = job;
    m->is_running = true;
    m->was_again = m->is_again;
    m->is_again = false;
}

void work_memory_leave(struct work_memory *m)
{
    m->is_running = false;
}

enum error_code work_memory_reserve(struct work_memory *m, size_t bytes,
                                    struct error *err)
{
    size_t wanted;
    enum governor_answer answer;

    if (!m->governor || !m->is_running)
        return OK;
    if (__builtin_add_overflow(m->used_bytes, bytes, &wanted))
        wanted = SIZE_MAX;
    wanted = wanted > m->own.bytes ? wanted - m->own.bytes : 0;
    answer = governor_reserve(m->job, wanted);
    if (answer == GOVERNOR_OK)
        return OK;
    if (answer == GOVERNOR_AGAIN) {
        m->is_again = true;
        return fail(err, ERR_WOULD_BLOCK, "", "there must be more room first");
    }
    return governor_fail(m->governor, answer, wanted, err);
}

enum error_code work_memory_fail(const struct work_memory *m, struct error *err)
{
    return governor_fail(m->governor, m->refusal, m->wanted_bytes, err);
}

/* Gives back what of a lease is beyond `bytes`; what is left of them. */
static size_t cut(struct work_memory *m, struct governor_lease *lease, size_t bytes)
{
    if (lease->bytes <= bytes)
        return bytes - lease->bytes;
    governor_give(m->governor, lease, lease->bytes - bytes);
    return 0;
}

void work_memory_trim(struct work_memory *m)
{
    size_t kept = m->used_bytes;

    if (!m->governor)
        return;
    if (m->job)
        kept = cut(m, &m->job->work, kept);
    cut(m, &m->own, kept);
}

void work_memory_end(struct work_memory *m)
{
    assert(m->used_bytes == 0);
    work_memory_trim(m);
}
