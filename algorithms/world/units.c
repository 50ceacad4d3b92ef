/* world/units.c - gangs and packs: members that are placed together.
 *
 * Gang: at one time after another all members are put on nodes, those with the largest
 * share of a capacity first, each where it runs shortest. The times are those at which
 * each member alone could start, and ends of what is taken. The first at which all fit is
 * taken. Which members could change places so that all fit earlier is not searched (that
 * is bin packing): the start need not be the earliest, but all start together.
 *
 * Pack: for each value of the key the members one by one, each where it completes first
 * on that value's resources; then the value that takes most of them, with the least last
 * finish, least sum of finishes, first index.
 *
 * What is tried is taken on the board and given back; profiles are then as before.
 *
 * Source: world-model.md 2.4 and 4.2.
 */
#include "algorithms/world/board_groups.h"

#include <stdlib.h>
#include <string.h>

/* Times at which a gang is tried; then only the last end. */
enum { GANG_TIMES_MAX = 4096 };

/* A node for a member of a gang. */
struct unit_node {
    size_t position, index, choice;
    double run_s;
};

/* A member of a gang, by largest share. */
struct unit_member {
    size_t job;
    double share;
};

/* Kept from unit to unit. */
struct board_units {
    struct unit_member *members; /* of the unit at hand, those without a place */
    double from_s;               /* none of them starts before */
    size_t member_count, member_room;
    int64_t largest[AMOUNTS_MAX]; /* capacity of any resource, or shared */
    bool *is_usable;              /* by position: some member may go there */
    bool *is_limiting;            /* limits that some member takes of */

    /* Nodes for jobs like node_job, fastest first; no such job fits on those before
     * next_node at the time that is tried. */
    struct unit_node *nodes;
    size_t node_count, next_node, node_job;

    /* Positions of a site: of_site[first_of_site[s]] up to that of s + 1. */
    size_t *first_of_site, *of_site;
};

size_t board_unit_of(const struct board *b, size_t job)
{
    const struct world_group *g = group_of(b->w, job, GROUP_GANG);

    if (!g)
        g = group_of(b->w, job, GROUP_PACK);
    return g ? g->jobs[0] : job;
}

bool board_is_unit(const struct board *b, size_t job)
{
    return group_of(b->w, job, GROUP_GANG) || group_of(b->w, job, GROUP_PACK);
}

bool board_unit_is_due(const struct board *b, size_t job)
{
    const struct world *w = b->w;
    const struct world_group *g = &w->groups[w->jobs[job].group];

    for (size_t i = 0; i < g->job_count; i++) {
        const struct world_job *j = &w->jobs[g->jobs[i]];

        budget_step(w->budget, j->after_count + 1);
        for (size_t k = 0; k < j->after_count; k++)
            if (b->state[j->after[k].job] == BOARD_OPEN &&
                w->jobs[j->after[k].job].group != w->jobs[job].group)
                return false;
    }
    return true;
}

static bool is_cut(const struct board *b)
{
    return b->w->budget && b->w->budget->spent;
}

/* ---- what is kept ---- */

static void find_largest(const struct world *w, int64_t *largest)
{
    for (size_t k = w->node_amount_count; k < w->amount_count; k++)
        largest[k] = w->shared_capacity[k];
    for (size_t i = 0; i < w->resource_count; i++) {
        for (size_t k = 0; k < w->node_amount_count; k++)
            if (largest[k] < w->resources[i].capacity[k])
                largest[k] = w->resources[i].capacity[k];
        budget_step(w->budget, w->node_amount_count);
    }
}

/* Sorted by counting. */
static void sort_by_site(const struct world *w, struct board_units *u)
{
    for (size_t i = 0; i < w->resource_count; i++)
        u->first_of_site[w->resources[i].site + 2]++;
    for (size_t s = 2; s < w->site_count + 2; s++)
        u->first_of_site[s] += u->first_of_site[s - 1];
    for (size_t i = 0; i < w->resource_count; i++)
        u->of_site[u->first_of_site[w->resources[i].site + 1]++] = i;
    budget_step(w->budget, 2 * w->resource_count + w->site_count);
}

static struct board_units *units_of(struct board *b)
{
    const struct world *w = b->w;
    struct board_units *u = b->units;

    if (u)
        return u;
    b->units = u = NEW(b->a, struct board_units, 1);
    u->is_usable = NEW(b->a, bool, w->resource_count);
    u->nodes = NEW(b->a, struct unit_node, w->resource_count * board_most_ways(w));
    u->is_limiting = NEW(b->a, bool, w->limit_count);
    u->node_job = WORLD_NONE;
    u->first_of_site = NEW(b->a, size_t, w->site_count + 2);
    u->of_site = NEW(b->a, size_t, w->resource_count);
    find_largest(w, u->largest);
    sort_by_site(w, u);
    return u;
}

/* The members that have no place and were not refused, in request order. */
static void find_members(struct board *b, const struct world_group *g)
{
    struct board_units *u = b->units;

    if (u->member_room < g->job_count) {
        u->member_room = g->job_count;
        u->members = NEW(b->a, struct unit_member, g->job_count);
    }
    u->member_count = 0;
    for (size_t i = 0; i < g->job_count; i++)
        if (b->state[g->jobs[i]] == BOARD_OPEN)
            u->members[u->member_count++] = (struct unit_member){g->jobs[i], 0};
    budget_step(b->w->budget, g->job_count);
}

/* ---- refusing ---- */

/* A member that would not get a place alone has a reason of its own; all others wait for
 * their group. */
static void refuse_members(struct board *b, size_t group, enum world_wait wait)
{
    struct board_units *u = b->units;
    size_t pack_value = board_set_pack_value(b, group, PACK_ANYWHERE);

    for (size_t i = 0; i < u->member_count; i++) {
        size_t job = u->members[i].job, wait_on = group;
        enum world_wait why = wait;

        if (b->state[job] != BOARD_OPEN)
            continue;
        if (board_release_s(b, job) == HUGE_VAL || board_best(b, job).done_s == HUGE_VAL)
            why = board_why(b, job, &wait_on);
        if (is_cut(b))
            break;
        board_refuse(b, job, why, wait_on);
    }
    board_set_pack_value(b, group, pack_value);
}

/* ---- gang ---- */

/* NAN, which means that it is not given, equals itself. */
static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Equal in all that says where a job may go and for how long. */
static bool is_alike(const struct board *b, size_t one, size_t other)
{
    const struct world *w = b->w;
    const struct world_job *x = &w->jobs[one], *y = &w->jobs[other];

    if (b->files || x->nodes != y->nodes || x->etc_s != y->etc_s ||
        memcmp(x->needs, y->needs, w->amount_count * sizeof(*x->needs)) != 0 ||
        !is_same(x->estimate_ref_s, y->estimate_ref_s) ||
        !is_same(x->estimate_s, y->estimate_s) || x->time_limit_s != y->time_limit_s ||
        x->choice_count != y->choice_count)
        return false;
    for (size_t c = 0; c < x->choice_count; c++)
        if (!world_same_limits(&x->choices[c], &y->choices[c]) ||
            memcmp(x->choices[c].mask, y->choices[c].mask,
                   (w->resource_count + 63) / 64 * sizeof(uint64_t)) != 0)
            return false;
    return true;
}

static int by_run_time(const void *left, const void *right)
{
    const struct unit_node *a = left, *b = right;

    if (a->run_s != b->run_s)
        return a->run_s < b->run_s ? -1 : 1;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return a->choice < b->choice ? -1 : a->choice > b->choice;
}

/* Nodes that the job may use, each by the choice that names it first, and by all up to
 * there if they have limits. */
static void list_nodes(struct board *b, size_t job)
{
    const struct world *w = b->w;
    const struct world_job *j = &w->jobs[job];
    struct board_units *u = b->units;

    u->next_node = 0;
    if (u->node_job != WORLD_NONE && is_alike(b, u->node_job, job))
        return;
    u->node_job = job;
    u->node_count = 0;
    for (size_t i = 0; i < w->resource_count; i++) {
        size_t c = 0;

        for (; c < j->choice_count; c++) {
            if (!board_may_use(b, job, c, i))
                continue;
            u->nodes[u->node_count++] =
                (struct unit_node){i, w->resources[i].index, c, world_run_s(w, j, i)};
            if (j->choices[c].limit_count == 0)
                break;
        }
        budget_step(w->budget, c + 2);
    }
    for (size_t i = 1; i < u->node_count; i++)
        if (by_run_time(&u->nodes[i - 1], &u->nodes[i]) > 0) {
            qsort(u->nodes, u->node_count, sizeof(*u->nodes), by_run_time);
            break;
        }
}

/* The least start of the job alone, from from_s on. */
static double first_start(struct board *b, size_t job, double from_s)
{
    struct board_units *u = b->units;
    double first_s = HUGE_VAL;

    if (!board_shared_is_enough(b, job))
        return HUGE_VAL;
    if (b->w->jobs[job].nodes > 1) {
        const struct board_reach reach = {.from_s = from_s, .latest_s = HUGE_VAL};

        return board_first_nodes(b, job, &reach);
    }
    list_nodes(b, job);
    for (size_t i = 0; i < u->node_count && first_s > from_s; i++) {
        first_s = fmin(first_s, board_fit_there(b, job, u->nodes[i].choice,
                                                u->nodes[i].position, from_s, first_s)
                                    .start_s);
        if (board_tick(b))
            break;
    }
    return first_s;
}

/* The least time from from_s on at which each member alone could start. */
static double all_could_start(struct board *b, double from_s)
{
    struct board_units *u = b->units;
    double before_s;

    do {
        before_s = from_s;
        for (size_t i = 0; i < u->member_count && from_s < HUGE_VAL && !is_cut(b); i++)
            if (i == 0 || !is_alike(b, u->members[i - 1].job, u->members[i].job))
                from_s = first_start(b, u->members[i].job, from_s);
    } while (from_s > before_s && from_s < HUGE_VAL && !is_cut(b));
    return is_cut(b) ? HUGE_VAL : from_s;
}

/* Where the member starts at at_s and runs shortest. */
static struct board_spot fastest_at(struct board *b, size_t job, double at_s)
{
    struct board_units *u = b->units;
    struct board_spot spot = board_nowhere();

    if (b->w->jobs[job].nodes > 1) {
        const struct board_reach reach = {.from_s = at_s, .latest_s = at_s};

        return board_fit_nodes(b, job, &reach);
    }
    for (; u->next_node < u->node_count; u->next_node++) {
        const struct unit_node *n = &u->nodes[u->next_node];

        spot = board_fit_there(b, job, n->choice, n->position, at_s, at_s);
        if (spot.start_s < HUGE_VAL || board_tick(b))
            break;
    }
    return spot;
}

static void give_members(struct board *b, size_t count)
{
    while (count-- > 0)
        board_give(b, b->units->members[count].job);
}

/* All members start at at_s, or none has a place. */
static bool place_gang(struct board *b, double at_s)
{
    struct board_units *u = b->units;

    for (size_t i = 0; i < u->member_count; i++) {
        size_t job = u->members[i].job;
        struct board_spot spot;

        if (i == 0 || !is_alike(b, u->members[i - 1].job, job))
            list_nodes(b, job);
        spot = fastest_at(b, job, at_s);
        if (spot.start_s == HUGE_VAL || is_cut(b)) {
            give_members(b, i);
            return false;
        }
        board_take(b, job, &spot);
    }
    return true;
}

static bool rises(const struct profile *p, size_t step)
{
    const int64_t *free = p->free + step * p->amount_count;

    for (size_t k = 0; k < p->amount_count; k++)
        if (free[k] > free[k - p->amount_count])
            return true;
    return false;
}

/* The first time after after_s at which something ends. */
static double next_end(const struct board *b, const struct profile *p, double after_s)
{
    for (size_t step = profile_at(p, after_s) + 1; step < p->count; step++) {
        if (rises(p, step))
            return p->at_s[step];
        budget_step(b->w->budget, p->amount_count);
    }
    return HUGE_VAL;
}

/* On resources that members may use, and of shared amounts; after_s HUGE_VAL: the last.
 */
static double end_after(const struct board *b, double after_s)
{
    const struct board_units *u = b->units;
    bool last = after_s == HUGE_VAL;
    double end_s = last ? 0 : HUGE_VAL;
    size_t shared = b->w->amount_count - b->w->node_amount_count;

    for (size_t i = 0; i < b->w->resource_count + shared; i++) {
        const struct profile *p = i < shared ? &b->shared[i].now : &b->now[i - shared];

        if (i >= shared && !u->is_usable[i - shared])
            continue;
        end_s = last ? fmax(end_s, p->at_s[p->count - 1])
                     : fmin(end_s, next_end(b, p, after_s));
    }
    for (size_t k = 0; b->limits && k < b->w->limit_count; k++) {
        const struct profile *p = &b->limits[k].now;

        if (u->is_limiting[k])
            end_s = last ? fmax(end_s, p->at_s[p->count - 1])
                         : fmin(end_s, next_end(b, p, after_s));
    }
    budget_step(b->w->budget, b->w->resource_count + shared + b->w->limit_count);
    return end_s;
}

double board_next_end(struct board *b, double after_s)
{
    memset(units_of(b)->is_usable, 1, b->w->resource_count * sizeof(bool));
    if (b->w->limit_count)
        memset(b->units->is_limiting, 1, b->w->limit_count * sizeof(bool));
    return end_after(b, after_s);
}

static int by_share(const void *left, const void *right)
{
    const struct unit_member *a = left, *b = right;

    if (a->share != b->share)
        return a->share > b->share ? -1 : 1;
    return a->job < b->job ? -1 : a->job > b->job;
}

static double largest_share(const struct board *b, size_t job)
{
    const struct world *w = b->w;
    const int64_t *needs = w->jobs[job].needs, *largest = b->units->largest;
    double share = 0;

    for (size_t k = 0; k < w->amount_count; k++)
        if (needs[k] > 0 && largest[k] > 0 && largest[k] < AMOUNT_UNLIMITED)
            share = fmax(share, (double)needs[k] / (double)largest[k]);
    return share;
}

/* Those without a place. */
static void sort_by_share(struct board *b)
{
    struct board_units *u = b->units;

    for (size_t i = 0; i < u->member_count; i++) {
        u->members[i].share = largest_share(b, u->members[i].job);
        budget_step(b->w->budget, b->w->amount_count);
    }
    qsort(u->members, u->member_count, sizeof(*u->members), by_share);
}

size_t board_members_by_share(struct board *b, size_t group, size_t *jobs)
{
    units_of(b);
    find_members(b, &b->w->groups[group]);
    sort_by_share(b);
    for (size_t i = 0; i < b->units->member_count; i++)
        jobs[i] = b->units->members[i].job;
    return b->units->member_count;
}

static void mark_limits(struct board *b, size_t job)
{
    const struct world_job *j = &b->w->jobs[job];

    for (size_t c = 0; c < j->choice_count; c++)
        for (size_t k = 0; k < j->choices[c].limit_count; k++)
            b->units->is_limiting[j->choices[c].limits[k]] = true;
    budget_step(b->w->budget, j->choice_count);
}

/* In which order, from when on, and where at all. */
static double prepare_gang(struct board *b)
{
    const struct world *w = b->w;
    struct board_units *u = b->units;
    double from_s = u->from_s;

    memset(u->is_usable, 0, w->resource_count * sizeof(*u->is_usable));
    if (b->limits)
        memset(u->is_limiting, 0, w->limit_count * sizeof(*u->is_limiting));
    for (size_t i = 0; i < u->member_count; i++) {
        size_t job = u->members[i].job;

        from_s = fmax(from_s, board_release_s(b, job));
        if (i == 0 || !is_alike(b, u->members[i - 1].job, job))
            list_nodes(b, job);
        for (size_t k = 0; k < u->node_count; k++)
            u->is_usable[u->nodes[k].position] = true;
        if (b->limits)
            mark_limits(b, job);
        budget_step(w->budget, u->node_count + 1);
    }
    sort_by_share(b);
    return from_s;
}

static bool place_gang_first(struct board *b, const struct world_group *g)
{
    struct board_units *u = b->units;
    double at_s, last_s;

    if (u->member_count < g->job_count)
        return false;
    at_s = prepare_gang(b);
    for (size_t tries = 0; at_s < HUGE_VAL && tries < GANG_TIMES_MAX; tries++) {
        at_s = all_could_start(b, at_s);
        if (at_s == HUGE_VAL || is_cut(b))
            return false;
        if (place_gang(b, at_s))
            return true;
        at_s = end_after(b, at_s);
    }
    last_s = at_s < HUGE_VAL ? all_could_start(b, end_after(b, HUGE_VAL)) : HUGE_VAL;
    return last_s < HUGE_VAL && place_gang(b, last_s);
}

/* ---- pack ---- */

bool pack_is_worth_more(const struct pack_worth *a, const struct pack_worth *than)
{
    if (a->placed_count != than->placed_count)
        return a->placed_count > than->placed_count;
    if (a->last_s != than->last_s)
        return a->last_s < than->last_s;
    if (a->sum_s != than->sum_s)
        return a->sum_s < than->sum_s;
    return a->first_index < than->first_index;
}

void pack_worth_add(struct pack_worth *worth, double done_s)
{
    worth->placed_count++;
    worth->last_s = fmax(worth->last_s, done_s);
    worth->sum_s += done_s;
}

static struct board_reach reach_of_value(const struct board *b,
                                         const struct world_group *g, size_t value)
{
    const struct board_units *u = b->units;
    struct board_reach reach = {.positions = &b->identity[value],
                                .position_count = 1,
                                .from_s = u->from_s,
                                .latest_s = HUGE_VAL};

    if (g->key == GROUP_BY_ATTRIBUTE) {
        reach.positions = g->values->positions + g->values->first[value];
        reach.position_count = g->values->first[value + 1] - g->values->first[value];
    }
    if (g->key == GROUP_BY_SITE) {
        reach.positions = u->of_site + u->first_of_site[value];
        reach.position_count = u->first_of_site[value + 1] - u->first_of_site[value];
    }
    return reach;
}

/* The least completion of a job of one node within reach, in one of its choices. */
static struct board_spot best_in_choice(struct board *b, size_t job, size_t choice,
                                        const struct board_reach *reach)
{
    double release_s = fmax(board_release_s(b, job), reach->from_s);
    struct board_spot best = board_nowhere();

    for (size_t i = 0; i < reach->position_count && !board_tick(b); i++) {
        size_t position = reach->positions[i];
        struct board_spot spot;

        if (!board_may_use(b, job, choice, position))
            continue;
        spot = board_fit_there(b, job, choice, position, release_s,
                               board_latest_s(best.done_s, 0));
        if (board_is_better(b, &spot, &best))
            best = spot;
    }
    return best;
}

/* The least completion within reach. */
static struct board_spot best_within(struct board *b, size_t job,
                                     const struct board_reach *reach)
{
    const struct world_job *j = &b->w->jobs[job];
    struct board_spot best = board_nowhere();

    if (board_release_s(b, job) == HUGE_VAL || !board_shared_is_enough(b, job))
        return best;
    if (j->nodes > 1)
        return board_fit_nodes(b, job, reach);
    for (size_t c = 0; c < j->choice_count; c++) {
        struct board_spot spot = best_in_choice(b, job, c, reach);

        if (spot.done_s < best.done_s)
            best = spot;
    }
    return best;
}

/* The next member in order whose predecessors had their turn; member_count: none. */
static size_t next_due(const struct board *b, size_t from)
{
    const struct board_units *u = b->units;

    for (size_t n = 0; n < u->member_count; n++) {
        size_t i = (from + n) % u->member_count;
        const struct world_job *j = &b->w->jobs[u->members[i].job];
        bool due = b->state[u->members[i].job] == BOARD_OPEN;

        for (size_t k = 0; due && k < j->after_count; k++)
            due = b->state[j->after[k].job] != BOARD_OPEN;
        budget_step(b->w->budget, j->after_count + 1);
        if (due)
            return i;
    }
    return u->member_count;
}

/* Places the members on one value; those for whom there is no room are refused. Ends
 * early when the value is surely worth less than `best`. */
static struct pack_worth place_pack(struct board *b, const struct world_group *g,
                                    size_t value, const struct pack_worth *best)
{
    struct board_units *u = b->units;
    const struct board_reach reach = reach_of_value(b, g, value);
    struct pack_worth worth = {.value = value, .first_index = SIZE_MAX};
    bool must_be_full = best && best->placed_count == u->member_count;

    for (size_t i = 0; i < reach.position_count; i++)
        if (b->w->resources[reach.positions[i]].index < worth.first_index)
            worth.first_index = b->w->resources[reach.positions[i]].index;
    for (size_t i = next_due(b, 0); i < u->member_count && !is_cut(b);
         i = next_due(b, i + 1)) {
        struct board_spot spot = best_within(b, u->members[i].job, &reach);

        if (must_be_full && (spot.done_s == HUGE_VAL || spot.done_s > best->last_s)) {
            worth.placed_count = 0;
            return worth;
        }
        if (spot.done_s == HUGE_VAL) {
            board_refuse(b, u->members[i].job, WORLD_WAIT_GROUP_PACK, WORLD_NONE);
            continue;
        }
        board_take(b, u->members[i].job, &spot);
        pack_worth_add(&worth, spot.done_s);
    }
    return worth;
}

/* All members are as before place_pack(); refused_only: those that it refused. */
static void undo_pack(struct board *b, bool refused_only)
{
    struct board_units *u = b->units;

    for (size_t i = 0; i < u->member_count; i++) {
        size_t job = u->members[i].job;

        if (b->state[job] == BOARD_PLACED && !refused_only)
            board_give(b, job);
        else if (b->state[job] == BOARD_REFUSED)
            board_reopen(b, job);
    }
    budget_step(b->w->budget, u->member_count);
}

static bool place_pack_best(struct board *b, const struct world_group *g, size_t group)
{
    struct pack_worth best = {0};
    size_t pinned = board_pack_value(b, group), count = group_value_count(b->w, g);

    for (size_t v = 0; v < count && !is_cut(b); v++) {
        struct pack_worth worth;

        if (pinned != PACK_ANYWHERE && pinned != v)
            continue;
        worth = place_pack(b, g, v, best.placed_count ? &best : NULL);
        undo_pack(b, false);
        if (worth.placed_count > 0 && pack_is_worth_more(&worth, &best))
            best = worth;
    }
    if (is_cut(b) || !best.placed_count)
        return false;
    place_pack(b, g, best.value, NULL);
    undo_pack(b, true);
    return best.placed_count == g->job_count;
}

bool board_place_unit(struct board *b, size_t member)
{
    return board_place_unit_from(b, member, 0);
}

bool board_place_unit_from(struct board *b, size_t member, double from_s)
{
    size_t group = b->w->jobs[member].group;
    const struct world_group *g = &b->w->groups[group];
    bool gang = g->policy == GROUP_GANG, placed;

    units_of(b)->from_s = from_s;
    find_members(b, g);
    placed = gang ? place_gang_first(b, g) : place_pack_best(b, g, group);
    if (!placed && !is_cut(b))
        refuse_members(b, group, gang ? WORLD_WAIT_GROUP_GANG : WORLD_WAIT_GROUP_PACK);
    return placed;
}
