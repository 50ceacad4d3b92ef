/* world/board_groups.c - what the groups of a world still allow while a plan grows.
 *
 * spread counts members for each value of the group's key, exclude has a profile of free
 * places for each, pack has one value from its first member on. That a gang starts at one
 * time is the business of units.c. A job on several nodes counts once on each.
 *
 * A group keeps its values in a table with linear probing, twice as large as it has nodes
 * of members: a world may have as many groups as jobs, and thousands of values.
 *
 * Source: world-model.md 2.4.
 */
#include "algorithms/world/board_groups.h"

#include <string.h>

/* What is on a value. */
struct group_slot {
    size_t value_and_1;    /* 0: free */
    size_t count;          /* members that run or are planned */
    struct profile places; /* of exclude */
};

struct group_state {
    struct group_slot *slots;
    size_t slot_count;    /* a power of two; 0: no values are kept */
    struct profile full;  /* of exclude: a value without members */
    size_t pack_value;    /* of pack */
    size_t running_value; /* that which members that run give it */
    size_t planned_count; /* of pack */
};

struct board_groups {
    struct group_state *groups;
};

size_t group_value(const struct world *w, const struct world_group *g, size_t position)
{
    if (g->key == GROUP_BY_ATTRIBUTE)
        return g->values->of[position];
    return g->key == GROUP_BY_SITE ? w->resources[position].site : position;
}

size_t group_value_count(const struct world *w, const struct world_group *g)
{
    if (g->key == GROUP_BY_ATTRIBUTE)
        return g->values->count;
    return g->key == GROUP_BY_SITE ? w->site_count : w->resource_count;
}

const struct world_group *group_of(const struct world *w, size_t job,
                                   enum world_group_policy policy)
{
    size_t group = w->jobs[job].group;

    return group != WORLD_NONE && w->groups[group].policy == policy ? &w->groups[group]
                                                                    : NULL;
}

/* Where the value is, or would be. */
static struct group_slot *slot_of(const struct group_state *s, size_t value)
{
    size_t at = (size_t)((uint64_t)value * 0x9e3779b97f4a7c15u >> 32);

    for (;; at++) {
        struct group_slot *slot = &s->slots[at & (s->slot_count - 1)];

        if (!slot->value_and_1 || slot->value_and_1 == value + 1)
            return slot;
    }
}

static struct group_slot *slot_for(struct board *b, size_t g, size_t value)
{
    const struct world_group *group = &b->w->groups[g];
    struct group_slot *slot = slot_of(&b->groups->groups[g], value);

    if (slot->value_and_1)
        return slot;
    slot->value_and_1 = value + 1;
    slot->count = 0;
    if (group->policy == GROUP_EXCLUDE)
        profile_reset(&slot->places, &(int64_t){(int64_t)group->max_per_key}, 1, b->a);
    return slot;
}

/* Members that run: spread counts them, exclude until they end, and pack goes to them.
 * Without the attribute that their group goes by they are on none of its values. */
static void add_holder(struct board *b, size_t g, const struct world_holder *h)
{
    const struct world_group *group = &b->w->groups[g];
    struct group_state *s = &b->groups->groups[g];

    for (size_t i = 0; i < h->position_count; i++) {
        size_t value = group_value(b->w, group, h->positions[i]);
        struct group_slot *slot;

        if (value == WORLD_NONE)
            continue;
        if (group->policy == GROUP_PACK) {
            s->running_value =
                s->running_value == PACK_ANYWHERE || s->running_value == value
                    ? value
                    : PACK_NOWHERE;
            continue;
        }
        slot = slot_for(b, g, value);
        slot->count++;
        if (group->policy == GROUP_EXCLUDE)
            profile_take_amounts(&slot->places, h->start_s, h->end_s, &(int64_t){1},
                                 b->a);
    }
}

/* All that is planned is forgotten. */
static void begin_group(struct board *b, size_t g)
{
    const struct world_group *group = &b->w->groups[g];
    struct group_state *s = &b->groups->groups[g];

    for (size_t i = 0; i < s->slot_count; i++)
        s->slots[i].value_and_1 = 0;
    s->running_value = PACK_ANYWHERE;
    if (group->policy == GROUP_EXCLUDE)
        profile_reset(&s->full, &(int64_t){(int64_t)group->max_per_key}, 1, b->a);
    for (size_t i = 0; i < group->holder_count && group->policy != GROUP_GANG; i++) {
        const struct world_holder *h = &b->w->holders[group->holders[i]];

        add_holder(b, g, h);
        budget_step(b->w->budget, 8 * h->position_count);
    }
    s->pack_value = s->running_value;
    s->planned_count = 0;
    budget_step(b->w->budget, s->slot_count);
}

static void make_table(struct board *b, size_t g)
{
    const struct world *w = b->w;
    const struct world_group *group = &w->groups[g];
    struct group_state *s = &b->groups->groups[g];
    size_t nodes = 1, most = group_value_count(w, group);

    if (group->policy != GROUP_SPREAD && group->policy != GROUP_EXCLUDE)
        return;
    for (size_t i = 0; i < group->job_count && nodes < most; i++)
        nodes += w->jobs[group->jobs[i]].nodes;
    for (size_t i = 0; i < group->holder_count && nodes < most; i++)
        nodes += w->holders[group->holders[i]].position_count;
    if (nodes > most)
        nodes = most;
    s->slot_count = 2;
    while (s->slot_count < 2 * nodes)
        s->slot_count *= 2;
    s->slots = NEW(b->a, struct group_slot, s->slot_count);
    budget_step(w->budget, group->job_count + group->holder_count);
}

void board_groups_create(struct board *b)
{
    bool any = false;

    for (size_t j = 0; j < b->w->job_count; j++)
        any = any || b->w->jobs[j].group != WORLD_NONE;
    if (!any)
        return;
    b->groups = NEW(b->a, struct board_groups, 1);
    b->groups->groups = NEW(b->a, struct group_state, b->w->group_count);
    for (size_t g = 0; g < b->w->group_count; g++)
        make_table(b, g);
    board_groups_reset(b);
}

void board_groups_reset(struct board *b)
{
    for (size_t g = 0; b->groups && g < b->w->group_count; g++)
        begin_group(b, g);
}

size_t board_group_room(const struct board *b, size_t job, size_t position)
{
    const struct world_group *g = group_of(b->w, job, GROUP_SPREAD);
    const struct group_slot *slot;

    if (!g)
        return SIZE_MAX;
    slot = slot_of(&b->groups->groups[b->w->jobs[job].group],
                   group_value(b->w, g, position));
    if (!slot->value_and_1)
        return g->max_per_key;
    return slot->count < g->max_per_key ? g->max_per_key - slot->count : 0;
}

size_t board_pack_value(const struct board *b, size_t group)
{
    return b->groups->groups[group].pack_value;
}

size_t board_set_pack_value(struct board *b, size_t group, size_t value)
{
    size_t before = b->groups->groups[group].pack_value;

    b->groups->groups[group].pack_value = value;
    return before;
}

bool board_group_allows(const struct board *b, size_t job, size_t position)
{
    const struct world_group *pack = group_of(b->w, job, GROUP_PACK);
    size_t value = pack ? board_pack_value(b, b->w->jobs[job].group) : PACK_ANYWHERE;

    if (value != PACK_ANYWHERE)
        return value == group_value(b->w, pack, position);
    return board_group_room(b, job, position) > 0;
}

struct profile *board_group_profile(struct board *b, size_t job, size_t position)
{
    const struct world_group *g = group_of(b->w, job, GROUP_EXCLUDE);
    struct group_state *s;
    struct group_slot *slot;

    if (!g)
        return NULL;
    s = &b->groups->groups[b->w->jobs[job].group];
    slot = slot_of(s, group_value(b->w, g, position));
    return slot->value_and_1 ? &slot->places : &s->full;
}

bool board_group_prevents(struct board *b, size_t job)
{
    struct board_groups *groups = b->groups;
    struct board_spot spot;

    if (!group_of(b->w, job, GROUP_SPREAD))
        return false;
    b->groups = NULL;
    spot = board_best(b, job);
    b->groups = groups;
    return spot.done_s < HUGE_VAL;
}

/* A node of a member of spread or exclude. */
static void change_value(struct board *b, size_t job, size_t value, bool taken)
{
    const struct world_placed *p = &b->plan.placed[job];
    struct group_slot *slot = slot_for(b, b->w->jobs[job].group, value);

    if (taken)
        slot->count++;
    else
        slot->count--;
    if (b->w->groups[b->w->jobs[job].group].policy != GROUP_EXCLUDE)
        return;
    if (taken)
        profile_take_amounts(&slot->places, p->start_s, p->end_s, &(int64_t){1}, b->a);
    else
        profile_give_amounts(&slot->places, p->start_s, p->end_s, &(int64_t){1}, b->a);
}

void board_group_placed(struct board *b, size_t job, bool taken)
{
    const struct world_placed *p = &b->plan.placed[job];
    size_t group = b->w->jobs[job].group;
    const struct world_group *g;
    struct group_state *s;

    if (group == WORLD_NONE || b->w->groups[group].policy == GROUP_GANG)
        return;
    g = &b->w->groups[group];
    s = &b->groups->groups[group];
    if (g->policy == GROUP_PACK) {
        s->planned_count = taken ? s->planned_count + 1 : s->planned_count - 1;
        s->pack_value =
            s->planned_count ? group_value(b->w, g, p->positions[0]) : s->running_value;
        return;
    }
    for (size_t i = 0; i < p->position_count; i++)
        change_value(b, job, group_value(b->w, g, p->positions[i]), taken);
}
