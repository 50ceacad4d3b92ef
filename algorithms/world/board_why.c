/* world/board_why.c - what a job waits for that has no place. */
#include "algorithms/world/board_parts.h"

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
    if (r.allowed_count < j->nodes || board_group_prevents(b, job)) {
        *wait_on = j->group;
        return b->w->groups[j->group].policy == GROUP_PACK ? WORLD_WAIT_GROUP_PACK
                                                           : WORLD_WAIT_GROUP_SPREAD;
    }
    *wait_on = r.unknown != WORLD_NONE ? r.unknown : r.reserved;
    return r.unknown != WORLD_NONE ? WORLD_WAIT_UNKNOWN_END
                                   : WORLD_WAIT_RESERVED_FOR_EVER;
}
