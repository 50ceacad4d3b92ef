/* placement/amounts_units.c - gangs and packs in a round of GridWay's scheduler.
 *
 * Gang: members by falling largest share of a capacity, each where it ranks best beside
 * those before it, all of them now or none. Which of them could change places so that all
 * start is not searched (that is bin packing).
 *
 * Pack: for each value of the key the members in order, each where it ranks best among
 * the resources of the value; then the value on which most start now, with the least last
 * finish, least sum of finishes, first snapshot index. What the round's plan of hold_back
 * says of a pack is taken member by member.
 *
 * The round's limits hold for each member. What is tried is taken back.
 *
 * Source: world-model.md 2.4, 4.2, 4.3.
 * Cost: one job's for each member; of a pack for each value of its key.
 */
#include "algorithms/placement/amounts_round.h"
#include "algorithms/world/board_groups.h"

#include <stdlib.h>

/* The unit at hand. */
struct unit_at_hand {
    const struct world_group *g;
    size_t group;
    size_t *jobs; /* members, in the order in which they are tried */
};

static const struct world_group *group_at(const struct amounts_round *r, size_t job)
{
    size_t group = r->w->jobs[job].group;

    return group == WORLD_NONE ? NULL : &r->w->groups[group];
}

bool round_is_unit(const struct amounts_round *r, size_t job)
{
    const struct world_group *g = group_at(r, job);

    return g && (g->policy == GROUP_GANG || (g->policy == GROUP_PACK && !r->planned));
}

static bool has_place(const struct amounts_round *r, size_t job)
{
    return r->plan->placed[job].positions != NULL;
}

static void stop_all(struct amounts_round *r, const struct unit_at_hand *u)
{
    budget_step(r->w->budget, u->g->job_count);
    for (size_t i = 0; i < u->g->job_count; i++)
        if (has_place(r, u->jobs[i]))
            round_stop(r, u->jobs[i]);
}

/* Starts it if it can start now. */
static enum world_wait try_member(struct amounts_round *r, size_t job, size_t *wait_on)
{
    struct board_spot spot;
    double rank;
    enum world_wait wait = round_held_up(r, job, wait_on);

    if (wait == WORLD_WAIT_NONE)
        wait = round_find_spot(r, job, &spot, &rank);
    if (wait == WORLD_WAIT_NONE)
        round_start(r, job, &spot, rank);
    return wait;
}

/* What keeps a member by itself from starting beside what has started; NONE: nothing. */
static enum world_wait own_wait(struct amounts_round *r, size_t job, size_t *wait_on)
{
    struct board_spot spot;
    double rank;
    enum world_wait wait = round_held_up(r, job, wait_on);

    if (r->w->budget && r->w->budget->spent)
        return WORLD_WAIT_OUT_OF_TIME;
    return wait == WORLD_WAIT_NONE ? round_find_spot(r, job, &spot, &rank) : wait;
}

/* ---- gang ---- */

/* Why those of a gang wait that could start alone: `wait` is of the member that could not
 * beside the others. */
static enum world_wait gang_wait(const struct amounts_round *r, size_t job,
                                 size_t kept_up, enum world_wait wait)
{
    if (wait == WORLD_WAIT_ROUND_FULL ||
        (wait == WORLD_WAIT_USER_LIMIT &&
         r->p->jobs[job].user == r->p->jobs[kept_up].user))
        return wait;
    return WORLD_WAIT_GROUP_GANG;
}

static void start_gang(struct amounts_round *r, const struct unit_at_hand *u)
{
    enum world_wait wait = WORLD_WAIT_NONE;
    size_t i = 0, kept_up, wait_on;

    board_members_by_share(r->b, u->group, u->jobs);
    while (i < u->g->job_count && wait == WORLD_WAIT_NONE)
        wait = try_member(r, u->jobs[i++], &wait_on);
    if (wait == WORLD_WAIT_NONE)
        return;
    kept_up = u->jobs[i - 1];
    stop_all(r, u);
    for (i = 0; i < u->g->job_count; i++) {
        enum world_wait own = own_wait(r, u->jobs[i], &wait_on);

        if (own == WORLD_WAIT_NONE) {
            own = gang_wait(r, u->jobs[i], kept_up, wait);
            wait_on = u->group;
        }
        board_refuse(r->b, u->jobs[i], own, wait_on);
    }
}

/* ---- pack ---- */

static bool is_chained(const struct amounts_round *r, const struct world_group *g)
{
    for (size_t i = 0; i < g->job_count; i++)
        if (r->w->jobs[g->jobs[i]].after_count)
            return true;
    return false;
}

static void add_worth(const struct amounts_round *r, size_t job, struct pack_worth *worth)
{
    const struct world_placed *x = &r->plan->placed[job];

    pack_worth_add(worth, x->done_s);
    for (size_t k = 0; k < x->position_count; k++)
        if (r->w->resources[x->positions[k]].index < worth->first_index)
            worth->first_index = r->w->resources[x->positions[k]].index;
}

/* Members that start on the value; those that wait for other members behind them. */
static struct pack_worth start_on(struct amounts_round *r, const struct unit_at_hand *u,
                                  size_t value)
{
    bool one = u->g->key == GROUP_BY_RESOURCE, chained = is_chained(r, u->g);
    struct pack_worth worth = {.value = value, .first_index = SIZE_MAX};
    size_t before, wait_on;

    board_set_pack_value(r->b, u->group, value);
    r->first = one ? value : 0;
    r->behind = one ? value + 1 : r->w->resource_count;
    do {
        before = worth.placed_count;
        for (size_t i = 0; i < u->g->job_count; i++) {
            if (budget_step(r->w->budget, 8))
                break;
            if (!has_place(r, u->jobs[i]) &&
                try_member(r, u->jobs[i], &wait_on) == WORLD_WAIT_NONE)
                add_worth(r, u->jobs[i], &worth);
        }
    } while (worth.placed_count > before && chained);
    r->first = 0;
    r->behind = r->w->resource_count;
    return worth;
}

static void start_pack(struct amounts_round *r, const struct unit_at_hand *u)
{
    size_t fixed = board_pack_value(r->b, u->group);
    size_t count = group_value_count(r->w, u->g);
    struct pack_worth best = {0};

    for (size_t v = 0; v < count && !budget_step(r->w->budget, 1); v++) {
        struct pack_worth worth;

        if (fixed != PACK_ANYWHERE && fixed != v)
            continue;
        worth = start_on(r, u, v);
        stop_all(r, u);
        if (worth.placed_count &&
            (!best.placed_count || pack_is_worth_more(&worth, &best)))
            best = worth;
    }
    board_set_pack_value(r->b, u->group, fixed);
    if (best.placed_count)
        start_on(r, u, best.value);
}

/* Who could start if the pack were anywhere waits for the pack. */
static void refuse_rest(struct amounts_round *r, const struct unit_at_hand *u)
{
    size_t value = board_set_pack_value(r->b, u->group, PACK_ANYWHERE), wait_on;

    for (size_t i = 0; i < u->g->job_count; i++) {
        enum world_wait own;

        if (has_place(r, u->jobs[i]))
            continue;
        own = own_wait(r, u->jobs[i], &wait_on);
        if (own == WORLD_WAIT_NONE) {
            own = WORLD_WAIT_GROUP_PACK;
            wait_on = u->group;
        }
        board_refuse(r->b, u->jobs[i], own, wait_on);
    }
    board_set_pack_value(r->b, u->group, value);
}

/* A member, and where it is in the order of the round. */
struct member {
    size_t job, place;
};

static int by_place(const void *left, const void *right)
{
    const struct member *a = left, *b = right;

    return a->place < b->place ? -1 : a->place > b->place;
}

static void sort_by_place(const struct amounts_round *r, const struct unit_at_hand *u)
{
    struct member *list = NEW(r->m->arena, struct member, u->g->job_count);

    for (size_t i = 0; i < u->g->job_count; i++)
        list[i] = (struct member){u->g->jobs[i], r->place[u->g->jobs[i]]};
    qsort(list, u->g->job_count, sizeof(*list), by_place);
    for (size_t i = 0; i < u->g->job_count; i++)
        u->jobs[i] = list[i].job;
}

/* Some member waits for a job outside that has no place yet. */
static bool waits_outside(const struct amounts_round *r, const struct world_group *g)
{
    for (size_t i = 0; i < g->job_count; i++) {
        const struct world_job *j = &r->w->jobs[g->jobs[i]];

        budget_step(r->w->budget, j->after_count + 1);
        for (size_t k = 0; k < j->after_count; k++)
            if (r->w->jobs[j->after[k].job].group != j->group &&
                !has_place(r, j->after[k].job))
                return true;
    }
    return false;
}

/* ---- the turn ---- */

/* True: what it waits for is not decided, and it has been said so. */
static bool waits_for_others(struct amounts_round *r, const struct world_group *g)
{
    if (!waits_outside(r, g))
        return false;
    for (size_t i = 0; i < g->job_count; i++) {
        size_t wait_on;
        enum world_wait wait = own_wait(r, g->jobs[i], &wait_on);

        if (wait == WORLD_WAIT_NONE) {
            wait =
                g->policy == GROUP_GANG ? WORLD_WAIT_GROUP_GANG : WORLD_WAIT_GROUP_PACK;
            wait_on = r->w->jobs[g->jobs[i]].group;
        }
        board_refuse(r->b, g->jobs[i], wait, wait_on);
    }
    return true;
}

bool round_unit_turn(struct amounts_round *r, size_t job)
{
    size_t group = r->w->jobs[job].group;
    struct round_unit *unit = &r->units[group];
    struct unit_at_hand u = {.g = &r->w->groups[group], .group = group};

    if (unit->pass == r->pass || (unit->pass && !unit->comes_back))
        return !unit->comes_back;
    unit->pass = r->pass;
    u.jobs = NEW(r->m->arena, size_t, u.g->job_count);
    budget_step(r->w->budget, u.g->job_count);
    for (size_t i = 0; i < u.g->job_count; i++)
        if (r->b->state[u.g->jobs[i]] == BOARD_REFUSED)
            board_reopen(r->b, u.g->jobs[i]);
    unit->comes_back = waits_for_others(r, u.g);
    if (unit->comes_back)
        return false;
    if (u.g->policy == GROUP_GANG) {
        start_gang(r, &u);
        return true;
    }
    sort_by_place(r, &u);
    start_pack(r, &u);
    refuse_rest(r, &u);
    return true;
}
