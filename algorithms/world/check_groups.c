/* world/check_groups.c - jobs of a group are together, apart or at the same time as their
 * group says.
 *
 * A job of several nodes is a member once for each of them.
 */
#include "algorithms/world/check_parts.h"

#include <stdlib.h>

/* A node of a member. */
struct member {
    size_t key; /* value of the group's key */
    size_t position;
    size_t claim; /* WORLD_NONE: it runs */
    double start_s, end_s;
};

static size_t key_of(const struct checking *c, const struct world_group *g,
                     size_t position)
{
    if (g->key == GROUP_BY_ATTRIBUTE)
        return g->values->of[position];
    return g->key == GROUP_BY_SITE ? c->w->resources[position].site : position;
}

static void note_member(struct checking *c, enum world_rule_broken rule,
                        const struct member *m, size_t other, const char *detail)
{
    struct world_violation v = check_broken(rule, m->claim);

    v.position = m->position;
    v.detail = detail;
    v.others = &other;
    v.other_count = other != WORLD_NONE;
    check_note(c, &v);
}

static void check_gang(struct checking *c, const struct world_group *g)
{
    size_t first = WORLD_NONE, placed = 0;
    double first_s;

    for (size_t k = 0; k < g->job_count; k++) {
        size_t i = c->claim_of[g->jobs[k]];

        if (i == WORLD_NONE)
            continue;
        placed++;
        if (first == WORLD_NONE || c->claims[i].start_s < c->claims[first].start_s)
            first = i;
    }
    if (first == WORLD_NONE)
        return;
    first_s = c->claims[first].start_s;
    if (placed < g->job_count)
        note_member(c, RULE_GROUP_GANG,
                    &(struct member){.position = WORLD_NONE, .claim = first}, WORLD_NONE,
                    "Some members have no place.");
    for (size_t k = 0; k < g->job_count; k++) {
        size_t i = c->claim_of[g->jobs[k]];

        if (i != WORLD_NONE &&
            c->claims[i].start_s > first_s + check_slack(c->claims[i].start_s))
            note_member(c, RULE_GROUP_GANG,
                        &(struct member){.position = WORLD_NONE, .claim = i}, first,
                        "It starts later than another member.");
    }
}

/* The resource has not what the group goes by: no member may be there, whatever the job's
 * choices say. Where they say so too, check_choices() has told it. */
static void note_without_key(struct checking *c, size_t i, size_t position)
{
    const struct world_job *j = &c->w->jobs[c->claims[i].job];
    struct world_violation v = check_broken(RULE_NOT_ELIGIBLE, i);

    if (is_spent(c, j->choice_count))
        return;
    v.position = position;
    for (size_t h = 0; h < j->choice_count; h++)
        if (world_mask_has(j->choices[h].mask, position)) {
            check_note(c, &v);
            return;
        }
}

/* What runs first, then rows of the plan; returns how many. Those without a value of the
 * key are left out. */
static size_t gather(struct checking *c, const struct world_group *g, struct member *list)
{
    const struct world *w = c->w;
    size_t count = 0;

    for (size_t k = 0; k < g->holder_count; k++) {
        const struct world_holder *h = &w->holders[g->holders[k]];

        if (is_spent(c, h->position_count))
            return 0;
        for (size_t n = 0; n < h->position_count; n++) {
            size_t key = key_of(c, g, h->positions[n]);

            if (key != WORLD_NONE)
                list[count++] = (struct member){key, h->positions[n], WORLD_NONE,
                                                h->start_s, h->end_s};
        }
    }
    for (size_t k = 0; k < g->job_count; k++) {
        size_t i = c->claim_of[g->jobs[k]];

        if (is_spent(c, 1))
            return 0;
        for (size_t n = 0; i != WORLD_NONE && n < c->facts[i].position_count; n++) {
            size_t p = c->facts[i].positions[n], key = key_of(c, g, p);

            if (key == WORLD_NONE)
                note_without_key(c, i, p);
            else
                list[count++] =
                    (struct member){key, p, i, c->claims[i].start_s, c->facts[i].end_s};
        }
    }
    return count;
}

/* By key; then those that run; then by start. */
static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if ((x->claim == WORLD_NONE) != (y->claim == WORLD_NONE))
        return x->claim == WORLD_NONE ? -1 : 1;
    if (x->start_s != y->start_s)
        return x->start_s < y->start_s ? -1 : 1;
    if (x->claim != y->claim)
        return x->claim < y->claim ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

/* list[0] .. list[count-1] are all on one value; the first of the plan that is one too
 * many is blamed. */
static void check_crowd(struct checking *c, const struct world_group *g,
                        const struct member *list, size_t count)
{
    struct world_violation v;
    size_t others[CHECK_OTHERS_MAX], blamed = g->max_per_key;

    while (blamed < count && list[blamed].claim == WORLD_NONE)
        blamed++;
    if (blamed >= count)
        return;
    v = check_broken(RULE_GROUP_SPREAD, list[blamed].claim);
    v.position = list[blamed].position;
    v.needed = (int64_t)count;
    v.free = (int64_t)g->max_per_key;
    v.others = others;
    for (size_t k = 0; k < count && v.other_count < CHECK_OTHERS_MAX; k++)
        if (list[k].claim != WORLD_NONE && list[k].claim != list[blamed].claim &&
            (v.other_count == 0 || others[v.other_count - 1] != list[k].claim))
            others[v.other_count++] = list[k].claim;
    check_note(c, &v);
}

static void check_spread(struct checking *c, const struct world_group *g,
                         struct member *list, size_t count)
{
    qsort(list, count, sizeof(*list), compare_members);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && list[to].key == list[from].key; to++)
            continue;
        if (is_spent(c, to - from))
            return;
        check_crowd(c, g, list + from, to - from);
    }
}

/* Where all have to be: where the first row is; but if members run, where one of them
 * does. `list` is not empty. */
static size_t pack_key(const struct member *list, size_t count)
{
    size_t first = 0;

    while (first < count && list[first].claim == WORLD_NONE)
        first++;
    for (size_t k = 0; k < first && first < count; k++)
        if (list[k].key == list[first].key)
            return list[first].key;
    return list[0].key;
}

static void check_pack(struct checking *c, const struct member *list, size_t count)
{
    size_t last = WORLD_NONE, key = count > 0 ? pack_key(list, count) : 0;

    for (size_t k = 0; k < count; k++) {
        if (list[k].claim == WORLD_NONE || list[k].key == key)
            continue;
        if (list[k].claim != last)
            note_member(c, RULE_GROUP_PACK, &list[k], list[0].claim,
                        "It is not where the first member is.");
        last = list[k].claim;
    }
}

/* When a member comes to a value or goes from it. */
struct change {
    const struct member *of;
    double at_s;
    bool comes;
};

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    if (x->of->key != y->of->key)
        return x->of->key < y->of->key ? -1 : 1;
    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    if (x->comes != y->comes)
        return x->comes ? 1 : -1;
    return (x->of > y->of) - (x->of < y->of);
}

/* How many are there on one value of the key. */
struct presence {
    size_t running, planned;
    bool is_over;
    double over_until_s;
    struct member newest; /* of the plan, that came last */
};

static void note_crowd(struct checking *c, const struct world_group *g,
                       const struct presence *now, double at_s)
{
    struct world_violation v = check_broken(RULE_GROUP_EXCLUDE, now->newest.claim);

    v.position = now->newest.position;
    v.at_s = at_s;
    v.needed = (int64_t)(now->running + now->planned);
    v.free = (int64_t)g->max_per_key;
    check_note(c, &v);
}

static void count_change(struct presence *now, const struct change *x)
{
    size_t *count = x->of->claim == WORLD_NONE ? &now->running : &now->planned;

    if (x->comes && x->of->claim != WORLD_NONE)
        now->newest = *x->of;
    if (x->comes)
        ++*count;
    else
        --*count;
}

/* One violation for each time without a break in which there are too many. */
static void sweep_changes(struct checking *c, const struct world_group *g,
                          const struct change *list, size_t count)
{
    struct presence now = {.over_until_s = -HUGE_VAL};

    for (size_t k = 0; k < count; k++) {
        double at_s = list[k].at_s;
        bool is_over;

        if (is_spent(c, 1))
            return;
        if (k > 0 && list[k].of->key != list[k - 1].of->key)
            now = (struct presence){.over_until_s = -HUGE_VAL};
        count_change(&now, &list[k]);
        if (k + 1 < count && list[k + 1].of->key == list[k].of->key &&
            list[k + 1].at_s == at_s)
            continue;
        is_over = now.planned > 0 && now.planned + now.running > g->max_per_key;
        if (is_over && !now.is_over &&
            !(at_s - now.over_until_s <= 2 * check_slack(at_s)))
            note_crowd(c, g, &now, at_s);
        if (!is_over && now.is_over)
            now.over_until_s = at_s;
        now.is_over = is_over;
    }
}

static void check_exclude(struct checking *c, const struct world_group *g,
                          const struct member *list, size_t count)
{
    struct change *changes = NEW(c->a, struct change, 2 * count);
    size_t change_count = 0;

    for (size_t k = 0; k < count; k++) {
        const struct member *m = &list[k];

        if (!(m->end_s > m->start_s))
            continue;
        changes[change_count++] = (struct change){m, m->start_s, true};
        if (m->end_s < HUGE_VAL)
            changes[change_count++] =
                (struct change){m, check_freed_s(m->start_s, m->end_s), false};
    }
    qsort(changes, change_count, sizeof(*changes), compare_changes);
    sweep_changes(c, g, changes, change_count);
}

static size_t most_members(const struct checking *c, const struct world_group *g)
{
    size_t count = 0;

    for (size_t k = 0; k < g->holder_count; k++)
        count += c->w->holders[g->holders[k]].position_count;
    for (size_t k = 0; k < g->job_count; k++)
        if (c->claim_of[g->jobs[k]] != WORLD_NONE)
            count += c->facts[c->claim_of[g->jobs[k]]].position_count;
    return count;
}

static void check_group(struct checking *c, const struct world_group *g)
{
    size_t most = most_members(c, g), count;
    struct member *list;

    if (is_spent(c, 8 * (most + g->job_count + g->holder_count)))
        return;
    if (g->policy == GROUP_GANG) {
        check_gang(c, g);
        return;
    }
    list = NEW(c->a, struct member, most);
    count = gather(c, g, list);
    if (g->policy == GROUP_SPREAD)
        check_spread(c, g, list, count);
    else if (g->policy == GROUP_PACK)
        check_pack(c, list, count);
    else
        check_exclude(c, g, list, count);
}

void check_groups(struct checking *c)
{
    for (size_t g = 0; g < c->w->group_count && !c->cut; g++)
        check_group(c, &c->w->groups[g]);
}
