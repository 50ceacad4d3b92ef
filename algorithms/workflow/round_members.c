/* workflow/round_members.c - where members of groups are while a round is made.
 *
 * A round plans this moment alone, so what has a place holds it at the same time: members
 * of spread and of exclude are counted for each value of the key, those that others run
 * too. All members of a pack are on value v if the sum of (value - v)^2 over them is 0,
 * which their number, the sum of values and that of squares tell (exact, modulo 2^64).
 *
 * What is done counts for a pack alone: the others go where it was.
 *
 * Gangs are the business of round_units.c: one that runs may move.
 *
 * Source: world-model.md 2.4.
 * Cost: O(tasks that would leave) for each question.
 */
#include "algorithms/placement/pair_map.h"
#include "algorithms/workflow/amounts_parts.h"
#include "algorithms/workflow/problem_parts.h"
#include "algorithms/workflow/round_plan.h"
#include "algorithms/world/board_groups.h"

/* Of a pack. */
struct moments {
    uint64_t count, sum, squares;
};

struct wf_members {
    struct pair_map at; /* group, value of its key: members there */
    struct moments *packs;
    size_t *wanted; /* of a pack: its value in the turn at hand; PACK_ANYWHERE */
    struct arena *arena;
};

static const struct world *world_of(const struct wf_plan *plan)
{
    return plan->in->amounts->of->w;
}

const struct world_group *wf_group(const struct wf_plan *plan, size_t task)
{
    size_t job;

    if (!plan->members || plan->in->tasks[task].status == PLAIN_DONE)
        return NULL;
    job = plan->in->amounts->of->job_of[task];
    return world_of(plan)->jobs[job].group == WORLD_NONE
               ? NULL
               : &world_of(plan)->groups[world_of(plan)->jobs[job].group];
}

static size_t number_of(const struct wf_plan *plan, const struct world_group *g)
{
    return (size_t)(g - world_of(plan)->groups);
}

static size_t value_at(const struct wf_plan *plan, const struct world_group *g,
                       size_t resource)
{
    return group_value(world_of(plan), g, plan->in->amounts->position_of[resource]);
}

/* ---- counts ---- */

/* Twice as large. */
static void grow(struct wf_members *m)
{
    struct pair_map larger;

    pair_map_create(&larger, m->at.mask + 1, m->arena);
    for (size_t i = 0; i <= m->at.mask; i++)
        if (m->at.places[i].a)
            *pair_map_at(&larger, m->at.places[i].a - 1, m->at.places[i].b) =
                m->at.places[i];
    larger.count = m->at.count;
    m->at = larger;
}

static void count(struct wf_plan *plan, const struct world_group *g, size_t value,
                  int sign)
{
    struct wf_members *m = plan->members;
    struct pair_place *place;

    if (value == WORLD_NONE) /* it has not what the group goes by */
        return;
    if (g->policy == GROUP_PACK) {
        struct moments *of = &m->packs[number_of(plan, g)];

        of->count += (uint64_t)sign;
        of->sum += (uint64_t)sign * value;
        of->squares += (uint64_t)sign * value * value;
        return;
    }
    place = pair_map_at(&m->at, number_of(plan, g), value);
    if (!place->a) {
        if (2 * (m->at.count + 1) > m->at.mask) {
            budget_step(plan->in->budget, m->at.mask + 1);
            grow(m);
            place = pair_map_at(&m->at, number_of(plan, g), value);
        }
        *place = (struct pair_place){number_of(plan, g) + 1, value, 0};
        m->at.count++;
    }
    place->value += (size_t)sign;
}

void wf_members_note(struct wf_plan *plan, size_t task, size_t resource, int sign)
{
    const struct world_group *g = wf_group(plan, task);

    if (g && g->policy != GROUP_GANG)
        count(plan, g, value_at(plan, g, resource), sign);
}

/* Members of others: all that run, with a place. */
static void count_others(struct wf_plan *plan, const struct world_group *g)
{
    const struct world *w = world_of(plan);

    for (size_t i = 0; g->policy != GROUP_GANG && i < g->holder_count; i++) {
        const struct world_holder *h = &w->holders[g->holders[i]];

        budget_step(plan->in->budget, 1 + h->position_count);
        for (size_t k = 0; k < h->position_count; k++)
            count(plan, g, group_value(w, g, h->positions[k]), 1);
    }
}

/* A pack goes on where its members were. */
static void count_done(struct wf_plan *plan)
{
    const struct workflow_amounts *x = plan->in->amounts->of;

    for (size_t i = 0; i < plan->in->task_count; i++) {
        size_t group = workflow_amounts_pack_left(x, i), node_count;
        const size_t *nodes = workflow_nodes_of(x->problem, i, &node_count);

        if (group == WORLD_NONE)
            continue;
        budget_step(plan->in->budget, 1 + node_count);
        for (size_t k = 0; k < node_count; k++)
            count(plan, &x->w->groups[group],
                  value_at(plan, &x->w->groups[group], nodes[k]), 1);
    }
}

void wf_members_open(struct wf_plan *plan)
{
    const struct world *w = world_of(plan);
    bool any = false;

    for (size_t j = 0; j < w->job_count; j++)
        any = any || w->jobs[j].group != WORLD_NONE;
    if (!any)
        return;
    budget_step(plan->in->budget, w->job_count + w->group_count);
    plan->members = NEW(plan->arena, struct wf_members, 1);
    plan->members->arena = plan->arena;
    plan->members->packs = NEW(plan->arena, struct moments, w->group_count);
    plan->members->wanted = NEW(plan->arena, size_t, w->group_count);
    pair_map_create(&plan->members->at, 0, plan->arena);
    for (size_t g = 0; g < w->group_count; g++) {
        plan->members->wanted[g] = PACK_ANYWHERE;
        count_others(plan, &w->groups[g]);
    }
    count_done(plan);
}

/* ---- questions ---- */

static bool is_all_on(const struct moments *of, uint64_t value)
{
    return of->squares - 2 * value * of->sum + of->count * value * value == 0;
}

/* Members of the group that go: the task itself, and some that leave a resource. */
struct going {
    size_t here;       /* those on the value in question */
    struct moments of; /* all */
};

static void goes(const struct wf_plan *plan, const struct world_group *g, size_t task,
                 size_t value, struct going *sum)
{
    uint64_t from;

    if (plan->place[task] == WF_NONE || wf_group(plan, task) != g)
        return;
    from = value_at(plan, g, plan->place[task]);
    if (from == WORLD_NONE)
        return;
    sum->here += from == value;
    sum->of.count++;
    sum->of.sum += from;
    sum->of.squares += from * from;
}

static bool pack_allows(const struct wf_plan *plan, const struct world_group *g,
                        size_t value, const struct going *sum)
{
    const struct wf_members *m = plan->members;
    struct moments left = m->packs[number_of(plan, g)];
    size_t wanted = m->wanted[number_of(plan, g)];

    left.count -= sum->of.count;
    left.sum -= sum->of.sum;
    left.squares -= sum->of.squares;
    return (wanted == PACK_ANYWHERE || wanted == value) && is_all_on(&left, value);
}

bool wf_members_allow(const struct wf_plan *plan, size_t task, size_t resource,
                      const size_t *leaving, size_t leaving_count)
{
    const struct world_group *g = wf_group(plan, task);
    struct going sum = {0};
    size_t value;

    if (!g || g->policy == GROUP_GANG)
        return true;
    value = value_at(plan, g, resource);
    if (value == WORLD_NONE)
        return false;
    goes(plan, g, task, value, &sum);
    if (sum.here) /* it stays on its value */
        return true;
    budget_step(plan->in->budget, leaving_count);
    for (size_t k = 0; k < leaving_count; k++)
        if (leaving[k] != task)
            goes(plan, g, leaving[k], value, &sum);
    if (g->policy == GROUP_PACK)
        return pack_allows(plan, g, value, &sum);
    return pair_map_at(&plan->members->at, number_of(plan, g), value)->value <
           g->max_per_key + sum.here;
}

size_t wf_pack_value(const struct wf_plan *plan, const struct world_group *g)
{
    const struct moments *of = &plan->members->packs[number_of(plan, g)];
    uint64_t value = of->count ? of->sum / of->count : 0;

    if (of->count == 0)
        return PACK_ANYWHERE;
    return is_all_on(of, value) ? value : PACK_NOWHERE;
}

void wf_pack_want(struct wf_plan *plan, const struct world_group *g, size_t value)
{
    plan->members->wanted[number_of(plan, g)] = value;
}
