/* world/check_limits.c - no user has more of a partition at once than its limits let.
 *
 * One sweep over the events of all limits, sorted by limit, then time, ends first. Jobs
 * that run count; a job that takes no time has nothing.
 */
#include "algorithms/world/check_parts.h"

#include <stdlib.h>

__extension__ typedef __int128 wide;

/* Units of a limit come (> 0) or go. */
struct change {
    size_t limit;
    double at_s;
    int64_t units;
    size_t claim; /* WORLD_NONE: of what runs */
};

/* What is held of the limit at hand. */
struct tally {
    wide running, planned;
    size_t newest; /* claim that came last */
    bool is_over;
    double over_until_s;
};

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    if (x->limit != y->limit)
        return x->limit < y->limit ? -1 : 1;
    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    if ((x->units < 0) != (y->units < 0))
        return x->units < 0 ? -1 : 1;
    return (x->claim > y->claim) - (x->claim < y->claim);
}

static size_t add_interval(struct change *list, size_t count, struct change x,
                           double end_s)
{
    list[count++] = x;
    if (!(end_s < HUGE_VAL))
        return count;
    x.at_s = end_s;
    x.units = -x.units;
    list[count++] = x;
    return count;
}

/* A need of its own, not the board's. */
static int64_t units_of(const struct world_limit *l, const struct world_job *j)
{
    wide units = l->kind == LIMIT_JOBS ? 1 : (wide)j->needs[AMOUNT_CPUS] * j->nodes;

    return units < AMOUNT_UNLIMITED ? (int64_t)units : AMOUNT_UNLIMITED;
}

static size_t add_claim(struct checking *c, size_t i, struct change *list, size_t count)
{
    const struct world_job *j = &c->w->jobs[c->claims[i].job];
    double start_s = c->claims[i].start_s;
    size_t choice = check_choice_of(c, i);

    if (choice == j->choice_count)
        return count;
    for (size_t k = 0; k < j->choices[choice].limit_count; k++) {
        size_t limit = j->choices[choice].limits[k];

        count = add_interval(
            list, count,
            (struct change){limit, start_s, units_of(&c->w->limits[limit], j), i},
            check_freed_s(start_s, c->facts[i].end_s));
    }
    return count;
}

/* Room for all of them is made first. */
static struct change *list_changes(struct checking *c, size_t *count)
{
    const struct world *w = c->w;
    struct change *list;
    size_t most = 2 * CHOICE_LIMITS_MAX * c->claim_count;

    for (size_t k = 0; k < w->limit_count; k++)
        most += 2 * w->limits[k].held_count;
    list = NEW(c->a, struct change, most);
    for (size_t k = 0; k < w->limit_count; k++) {
        if (is_spent(c, 1 + w->limits[k].held_count))
            return list;
        for (size_t h = 0; h < w->limits[k].held_count; h++)
            *count = add_interval(
                list, *count,
                (struct change){k, 0, w->limits[k].held[h].units, WORLD_NONE},
                check_freed_s(0, w->limits[k].held[h].end_s));
    }
    for (size_t i = 0; i < c->claim_count; i++) {
        if (is_spent(c, 4))
            return list;
        if (c->facts[i].counts && c->facts[i].holds)
            *count = add_claim(c, i, list, *count);
    }
    return list;
}

static int64_t narrow(wide x)
{
    return x > INT64_MAX ? INT64_MAX : x < INT64_MIN ? INT64_MIN : (int64_t)x;
}

static void note(struct checking *c, size_t limit, const struct tally *t, double at_s)
{
    struct world_violation v = check_broken(RULE_LIMIT_EXCEEDED, t->newest);

    v.amount = limit;
    v.at_s = at_s;
    v.needed = narrow(t->planned);
    v.free = narrow(c->w->limits[limit].capacity - t->running);
    check_note(c, &v);
}

/* All changes up to at_s are counted. */
static void look(struct checking *c, size_t limit, struct tally *t, double at_s)
{
    bool is_over =
        t->planned > 0 && t->planned > c->w->limits[limit].capacity - t->running;

    if (is_over && !t->is_over && !(at_s - t->over_until_s <= 2 * check_slack(at_s)))
        note(c, limit, t, at_s);
    if (!is_over && t->is_over)
        t->over_until_s = at_s;
    t->is_over = is_over;
}

void check_limits(struct checking *c)
{
    size_t count = 0;
    struct change *list = list_changes(c, &count);
    struct tally t = {.over_until_s = -HUGE_VAL};

    if (is_spent(c, 16 * count))
        return;
    qsort(list, count, sizeof(*list), compare_changes);
    for (size_t i = 0; i < count; i++) {
        const struct change *x = &list[i];

        if (is_spent(c, 1))
            return;
        if (i > 0 && x->limit != list[i - 1].limit)
            t = (struct tally){.over_until_s = -HUGE_VAL};
        if (x->claim == WORLD_NONE)
            t.running += x->units;
        else
            t.planned += x->units;
        if (x->claim != WORLD_NONE && x->units > 0)
            t.newest = x->claim;
        if (i + 1 == count || list[i + 1].limit != x->limit || list[i + 1].at_s > x->at_s)
            look(c, x->limit, &t, x->at_s);
    }
}
