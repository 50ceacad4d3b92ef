/* world/list_alike.c - jobs that have the same places at every time.
 *
 * Equal needs, times, releases and choices: whatever is free, such jobs complete at the
 * same time, and only the order tells them apart. Jobs in groups and jobs that wait for
 * others are left out: what they may have depends on what was placed.
 */
#include "algorithms/world/list_parts.h"

#include <stdlib.h>
#include <string.h>

enum { FACTS = 5 };

/* A job by what it asks for. */
struct asker {
    uint64_t hash;
    size_t rank, job;
};

/* Bits of times: -0 and 0 are not alike, which costs a look, and NAN is. */
static void facts_of(const struct world_job *j, uint64_t *facts)
{
    const double times[FACTS] = {j->estimate_ref_s, j->estimate_s, j->time_limit_s,
                                 j->release_s, j->earliest_s};

    memcpy(facts, times, sizeof(times));
}

static uint64_t mixed(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct world *w, const struct world_job *j)
{
    uint64_t hash = mixed(j->nodes, j->row), facts[FACTS];

    facts_of(j, facts);
    for (size_t i = 0; i < FACTS; i++)
        hash = mixed(hash, facts[i]);
    for (size_t k = 0; k < w->amount_count; k++)
        hash = mixed(hash, (uint64_t)j->needs[k]);
    return hash;
}

static bool is_alike(const struct world *w, const struct world_job *x,
                     const struct world_job *y)
{
    uint64_t facts[FACTS], others[FACTS];

    facts_of(x, facts);
    facts_of(y, others);
    if (memcmp(facts, others, sizeof(facts)) != 0 || x->nodes != y->nodes ||
        memcmp(x->needs, y->needs, w->amount_count * sizeof(*x->needs)) != 0 ||
        (x->etc_s != y->etc_s && (x->row == 0 || x->row != y->row)) ||
        x->choice_count != y->choice_count)
        return false;
    for (size_t c = 0; c < x->choice_count; c++)
        if (x->choices[c].mask != y->choices[c].mask ||
            !world_same_limits(&x->choices[c], &y->choices[c]))
            return false;
    return true;
}

static int by_hash(const void *a, const void *b)
{
    const struct asker *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

struct list_alike list_alike_of(const struct board *b, const size_t *order,
                                struct arena *a)
{
    const struct world *w = b->w;
    struct list_alike alike = {NEW(a, size_t, w->job_count),
                               NEW(a, size_t, w->job_count)};
    struct asker *list = NEW(a, struct asker, w->job_count);
    size_t count = 0;

    for (size_t i = 0; i < w->job_count; i++) {
        const struct world_job *j = &w->jobs[order[i]];

        budget_step(w->budget, w->amount_count + 4);
        alike.ahead[i] = alike.behind[i] = WORLD_NONE;
        if (!b->files && b->state[order[i]] == BOARD_OPEN && j->group == WORLD_NONE &&
            j->after_count == 0)
            list[count++] = (struct asker){hash_of(w, j), i, order[i]};
    }
    qsort(list, count, sizeof(*list), by_hash);
    budget_step(w->budget, 16 * count);
    for (size_t i = 1; i < count; i++) {
        size_t ahead = list[i - 1].job, job = list[i].job;

        budget_step(w->budget, w->amount_count);
        if (list[i - 1].hash == list[i].hash &&
            is_alike(w, &w->jobs[ahead], &w->jobs[job])) {
            alike.ahead[job] = ahead;
            alike.behind[ahead] = job;
        }
    }
    return alike;
}
