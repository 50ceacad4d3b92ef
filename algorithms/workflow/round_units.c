/* workflow/round_units.c - gangs and packs in a round.
 *
 * Gang: when all its members that do not run are ready, those with the largest share of a
 * capacity first, each where the policy puts it beside those before it: all of them now
 * or none. Which of them could change places so that all start is not searched (that is
 * bin packing).
 *
 * Pack: its members that are ready, on the value on which others are. If none is
 * anywhere: of the values that are large enough for the most of its members, those that
 * wait for others too, the one on which most start now, with the least last end, the
 * least sum of ends, the first resource. The others follow in later rounds.
 *
 * Source: world-model.md 2.4, 4.2.
 * Cost: one start's for each member; of a pack for each value of its key.
 * Deviation (ours): a pack does not wait until all its members are ready, as a round
 * starts what is; so its value is chosen by what its members need, and what starts now.
 */
#include "algorithms/workflow/amounts_parts.h"
#include "algorithms/workflow/round_plan.h"
#include "algorithms/world/board_groups.h"

#include <math.h>

struct wf_units {
    bool *tried;         /* by group: it had its turn */
    struct board *board; /* which sorts members; NULL: no gang has asked yet */
    size_t *jobs;        /* members, in the order in which they are tried */
};

/* The unit at hand. */
struct at_hand {
    struct wf_plan *plan;
    const struct world *w;
    const struct world_group *g;
    const struct wf_starter *starter;
    size_t *jobs, count; /* members that wait */
};

bool wf_is_unit(const struct wf_plan *plan, size_t task)
{
    const struct world_group *g = wf_group(plan, task);

    return g && (g->policy == GROUP_GANG || g->policy == GROUP_PACK);
}

bool wf_in_gang(const struct wf_plan *plan, size_t task)
{
    const struct world_group *g = wf_group(plan, task);

    return g && g->policy == GROUP_GANG && g->job_count > 1;
}

static size_t task_at(const struct at_hand *u, size_t k)
{
    return u->plan->in->amounts->of->task_of[u->jobs[k]];
}

/* Back to so many starts, the last ones first. */
static void take_back(struct wf_plan *plan, size_t start_count)
{
    struct workflow_plain_out *out = plan->out;

    while (out->start_count > start_count) {
        const struct workflow_plain_start *s = &out->starts[--out->start_count];

        budget_step(plan->in->budget, 1 + s->resource_count);
        for (size_t k = 1; k < s->resource_count; k++)
            wf_take_beside(plan, s->task, s->resources[k]);
        wf_take(plan, s->task);
        plan->pending_s[s->task] = 0;
    }
}

/* ---- gang ---- */

static void start_gang(const struct at_hand *u)
{
    size_t before = u->plan->out->start_count;

    for (size_t k = 0; k < u->count; k++)
        if (!u->starter->start(u->starter->context, task_at(u, k))) {
            take_back(u->plan, before);
            return;
        }
}

/* Those that do not run, the largest first; false: not all of them are ready. */
static bool list_gang(struct at_hand *u, struct wf_units *units)
{
    size_t members, count = 0;

    if (!units->board)
        units->board = board_create(u->w, NULL, u->plan->arena);
    members =
        board_members_by_share(units->board, (size_t)(u->g - u->w->groups), u->jobs);
    for (size_t k = 0; k < members; k++) {
        size_t task = task_at(u, k);

        if (u->plan->place[task] != WF_NONE)
            continue;
        if (!wf_waits(u->plan, task))
            return false;
        u->jobs[count++] = u->jobs[k];
    }
    u->count = count;
    return true;
}

/* ---- pack ---- */

static bool could_run(const struct at_hand *u, size_t job, size_t resource)
{
    const struct workflow_plain_amounts *x = u->plan->in->amounts;
    size_t position = x->position_of[resource], task = x->of->task_of[job];

    return wf_usable(u->plan, resource) && world_mask_has(x->eligible[task], position) &&
           world_large_enough(u->w, &u->w->jobs[job], position) &&
           !(wf_run_s(u->plan, task, resource, 1) == HUGE_VAL);
}

/* For each value how many members it is large enough for; the most. */
static size_t count_could(const struct at_hand *u, size_t *could)
{
    const struct workflow_plain_amounts *x = u->plan->in->amounts;
    size_t values = group_value_count(u->w, u->g), most = 0;
    size_t *nodes = NEW(u->plan->arena, size_t, values);

    for (size_t i = 0; i < u->g->job_count; i++) {
        size_t job = u->g->jobs[i];

        if (u->plan->place[x->of->task_of[job]] != WF_NONE)
            continue;
        budget_step(u->plan->in->budget, 8 * u->plan->in->resource_count + values);
        for (size_t v = 0; v < values; v++)
            nodes[v] = 0;
        for (size_t c = 0; c < u->plan->in->resource_count; c++)
            if (could_run(u, job, c))
                nodes[group_value(u->w, u->g, x->position_of[c])]++;
        for (size_t v = 0; v < values; v++)
            could[v] += nodes[v] >= u->w->jobs[job].nodes;
    }
    for (size_t v = 0; v < values; v++)
        most = could[v] > most ? could[v] : most;
    return most;
}

/* Members that start on the value, and what it is worth. */
static struct pack_worth start_on(const struct at_hand *u, size_t value)
{
    struct wf_plan *plan = u->plan;
    struct pack_worth worth = {.value = value, .first_index = SIZE_MAX};
    size_t first = plan->out->start_count;

    wf_pack_want(plan, u->g, value);
    if (u->g->key == GROUP_BY_RESOURCE) {
        plan->first_resource = u->w->resources[value].index;
        plan->behind_resource = plan->first_resource + 1;
    }
    for (size_t k = 0; k < u->count; k++)
        u->starter->start(u->starter->context, task_at(u, k));
    plan->first_resource = 0;
    plan->behind_resource = plan->in->resource_count;
    wf_pack_want(plan, u->g, PACK_ANYWHERE);
    for (size_t k = first; k < plan->out->start_count; k++) {
        const struct workflow_plain_start *s = &plan->out->starts[k];

        pack_worth_add(&worth, isnan(s->expected_s) ? HUGE_VAL : s->expected_s);
        if (s->resource < worth.first_index)
            worth.first_index = s->resource;
    }
    return worth;
}

static void start_pack(const struct at_hand *u)
{
    size_t values = group_value_count(u->w, u->g), before = u->plan->out->start_count;
    size_t fixed = wf_pack_value(u->plan, u->g), most;
    size_t *could;
    struct pack_worth best = {0};

    if (fixed == PACK_NOWHERE)
        return;
    if (fixed != PACK_ANYWHERE) {
        start_on(u, fixed);
        return;
    }
    could = NEW(u->plan->arena, size_t, values);
    most = count_could(u, could);
    for (size_t v = 0; v < values && !budget_step(u->plan->in->budget, 1); v++) {
        struct pack_worth worth;

        if (most == 0 || could[v] < most)
            continue;
        worth = start_on(u, v);
        take_back(u->plan, before);
        if (worth.placed_count &&
            (!best.placed_count || pack_is_worth_more(&worth, &best)))
            best = worth;
    }
    if (best.placed_count)
        start_on(u, best.value);
}

static void list_pack(struct at_hand *u)
{
    u->count = 0;
    budget_step(u->plan->in->budget, u->g->job_count);
    for (size_t i = 0; i < u->g->job_count; i++)
        if (wf_waits(u->plan, u->plan->in->amounts->of->task_of[u->g->jobs[i]]))
            u->jobs[u->count++] = u->g->jobs[i];
}

/* ---- the turn ---- */

static struct wf_units *units_of(struct wf_plan *plan, const struct world *w)
{
    if (!plan->units) {
        plan->units = NEW(plan->arena, struct wf_units, 1);
        plan->units->tried = NEW(plan->arena, bool, w->group_count);
        plan->units->jobs = NEW(plan->arena, size_t, w->job_count);
    }
    return plan->units;
}

bool wf_unit_turn(struct wf_plan *plan, size_t task, const struct wf_starter *starter)
{
    const struct world *w = plan->in->amounts->of->w;
    struct wf_units *units = units_of(plan, w);
    struct at_hand u = {.plan = plan,
                        .w = w,
                        .g = wf_group(plan, task),
                        .starter = starter,
                        .jobs = units->jobs};
    bool *tried = &units->tried[u.g - w->groups];

    if (!*tried) {
        *tried = true;
        if (u.g->policy == GROUP_PACK) {
            list_pack(&u);
            start_pack(&u);
        } else if (list_gang(&u, units)) {
            start_gang(&u);
        }
    }
    return plan->place[task] != WF_NONE;
}
