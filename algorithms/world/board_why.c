/* world/board_why.c - what a job waits for that has no place. */
#include "algorithms/world/board_parts.h"
#include "algorithms/world/queue.h"

/* A predecessor without a place. */
static size_t missing_of(const struct board *b, size_t job)
{
    const struct world_job *j = &b->w->jobs[job];

    for (size_t i = 0; i < j->after_count; i++)
        if (b->state[j->after[i].job] != BOARD_PLACED)
            return j->after[i].job;
    return WORLD_NONE;
}

/* What would have to be free for ever, or is held for ever, of a shared amount. */
static bool is_shared_short(struct board *b, size_t job, size_t *wait_on)
{
    const struct world *w = b->w;
    const int64_t *needs = w->jobs[job].needs;

    for (size_t k = w->node_amount_count; k < w->amount_count; k++) {
        size_t looks = 0;

        if (needs[k] <= 0)
            continue;
        *wait_on = k;
        if (needs[k] > w->shared_capacity[k] ||
            profile_fit_amounts(&b->shared[k - w->node_amount_count].now, &needs[k],
                                HUGE_VAL, 0, HUGE_VAL, &looks) == HUGE_VAL)
            return true;
    }
    *wait_on = WORLD_NONE;
    return false;
}

/* ---- limits ---- */

/* The first limit of the choice that does not let the job start by latest_s. */
static size_t limit_of(struct board *b, size_t job, size_t choice, double latest_s)
{
    const struct world_job *j = &b->w->jobs[job];
    const struct world_choice *c = &j->choices[choice];
    bool ever = latest_s == HUGE_VAL;

    for (size_t k = 0; k < c->limit_count; k++) {
        int64_t need = world_limit_need(&b->w->limits[c->limits[k]], j);
        const struct profile *free = &b->limits[c->limits[k]].now;

        if (profile_fit_amounts(free, &need, ever ? HUGE_VAL : 1, ever ? 0 : latest_s,
                                latest_s, &b->looks) == HUGE_VAL)
            return c->limits[k];
    }
    return WORLD_NONE;
}

/* The limit of the choice that the job goes to when no limit counts. */
static size_t limit_without(struct board *b, size_t job, double at_s)
{
    struct board_pool *limits = b->limits;
    struct board_spot spot;
    size_t found;

    if (!limits || !world_is_limited(&b->w->jobs[job]))
        return WORLD_NONE;
    b->limits = NULL;
    spot = at_s < HUGE_VAL ? queue_fit_at(b, job, at_s) : board_best(b, job);
    b->limits = limits;
    if (!spot.positions)
        return WORLD_NONE;
    found = limit_of(b, job, spot.choice, at_s);
    if (found == WORLD_NONE && b->w->jobs[job].choices[spot.choice].limit_count)
        found = b->w->jobs[job].choices[spot.choice].limits[0];
    return found;
}

size_t board_limit_ever(struct board *b, size_t job)
{
    return limit_without(b, job, HUGE_VAL);
}

size_t board_limit_now(struct board *b, size_t job, double at_s)
{
    return limit_without(b, job, at_s);
}

/* How far the job comes on the resources of its choices. */
struct reach {
    size_t large_count, run_count, allowed_count;
    size_t unknown, reserved; /* holders that never end; WORLD_NONE */
};

static void look_at_holders(const struct world *w, size_t position, struct reach *r)
{
    const struct world_resource *on = &w->resources[position];

    for (size_t i = 0; i < on->holder_count; i++) {
        const struct world_holder *h = &w->holders[on->holders[i]];

        if (h->end_s < HUGE_VAL)
            continue;
        if (h->kind == HOLDER_RUNNING && r->unknown == WORLD_NONE)
            r->unknown = on->holders[i];
        if (h->kind == HOLDER_RESERVATION && r->reserved == WORLD_NONE)
            r->reserved = on->holders[i];
    }
    budget_step(w->budget, on->holder_count + 1);
}

static void look_at(const struct board *b, size_t job, size_t position, struct reach *r)
{
    const struct world *w = b->w;
    const struct world_job *j = &w->jobs[job];

    if (!world_large_enough(w, j, position))
        return;
    r->large_count++;
    if (world_run_s(w, j, position) == HUGE_VAL)
        return;
    r->run_count++;
    if (b->groups && !board_group_allows(b, job, position))
        return;
    r->allowed_count++;
    if (r->unknown == WORLD_NONE)
        look_at_holders(w, position, r);
}

static struct reach reach_of(const struct board *b, size_t job)
{
    const struct world *w = b->w;
    const struct world_job *j = &w->jobs[job];
    struct reach best = {.unknown = WORLD_NONE, .reserved = WORLD_NONE};

    for (size_t c = 0; c < j->choice_count; c++) {
        struct reach r = {.unknown = WORLD_NONE, .reserved = WORLD_NONE};

        for (size_t i = 0; i < w->resource_count; i++)
            if (world_mask_has(j->choices[c].mask, i))
                look_at(b, job, i, &r);
        budget_step(w->budget, w->resource_count);
        if (c == 0 || r.allowed_count > best.allowed_count)
            best = r;
    }
    return best;
}

/* An end that nobody knows, of what runs and the job itself waits for. */
enum world_wait board_why(struct board *b, size_t job, size_t *wait_on)
{
    const struct world_job *j = &b->w->jobs[job];
    struct reach r;

    *wait_on = missing_of(b, job);
    if (*wait_on != WORLD_NONE)
        return WORLD_WAIT_AFTER_UNPLACED;
    if (j->earliest_s == HUGE_VAL)
        return WORLD_WAIT_UNKNOWN_END;
    r = reach_of(b, job);
    if (r.large_count == 0)
        return WORLD_WAIT_FILTERED;
    if (r.run_count == 0)
        return WORLD_WAIT_NO_ESTIMATE;
    if (is_shared_short(b, job, wait_on))
        return WORLD_WAIT_SHARED_SHORT;
    if (r.run_count < j->nodes)
        return WORLD_WAIT_TOO_FEW_NODES;
    *wait_on = board_limit_ever(b, job);
    if (*wait_on != WORLD_NONE)
        return WORLD_WAIT_USER_LIMIT;
    if (r.allowed_count < j->nodes || board_group_prevents(b, job)) {
        *wait_on = j->group;
        return b->w->groups[j->group].policy == GROUP_PACK ? WORLD_WAIT_GROUP_PACK
                                                           : WORLD_WAIT_GROUP_SPREAD;
    }
    *wait_on = r.unknown != WORLD_NONE ? r.unknown : r.reserved;
    return r.unknown != WORLD_NONE ? WORLD_WAIT_UNKNOWN_END
                                   : WORLD_WAIT_RESERVED_FOR_EVER;
}
