/* workflow/round_start.c - step 3: ready tasks get a place, a parent set at a time.
 *
 * Sets of an earlier round come first, then those of dependents, then those of roots. Of
 * a set the longest task goes where it ends first and the others where they end nearest
 * below it; nobody holds up a set if that can be helped, but a task that waits starts
 * somewhere. Tasks without an estimate go to a random resource. No root is interrupted.
 * When the time is up, tasks go to resources that have room, in turn.
 *
 * Source: spec workflows.md 5.6, 6.5; 000_168dd5aef5075332.txt 5.4.1.3.
 * Cost: O(resources) for each task that is started, until no slot is free.
 * Deviation: what cannot be reached is no place, also for workflow_fastest, whose choice
 * looks at no transfer times. Sets of the queue that were not tried, as all slots are
 * taken, are not carried over: they would get ahead of dependents of the next round.
 */
#include "algorithms/workflow/round_plan.h"

#include <math.h>
#include <stdlib.h>

enum {
    LOOK_STEPS = 8, /* what a look at a resource costs, about */
    TURN_TRIES = 64 /* resources that a task cannot reach, before it is left */
};

struct starter {
    struct wf_plan *plan;
    struct rng random;
    bool *listed;     /* tasks that are in a set already */
    size_t *queue;    /* waiting tasks, in order */
    size_t *smallest; /* of each task: the set with the fewest members */
    size_t *known, *unknown, *left;
    size_t *places; /* where a task without estimate may go */
    size_t queue_count, carry_size;
    size_t turn; /* resource that is looked at first when the time is up */
};

/* Where a task would go. */
struct choice {
    size_t resource;
    double x_s, stage_s, key;
    int how;
};

/* ---- who waits ---- */

struct arrival {
    bool last;
    size_t rank, task;
};

static int compare_arrivals(const void *left, const void *right)
{
    const struct arrival *l = left, *r = right;

    if (l->last != r->last)
        return l->last ? 1 : -1;
    if (l->rank != r->rank)
        return l->rank < r->rank ? -1 : 1;
    return l->task < r->task ? -1 : l->task > r->task;
}

static void list_queue(struct starter *s)
{
    const struct workflow_plain *in = s->plan->in;
    bool roots_last = s->plan->param[WF_ROOTS_LAST] != 0;
    struct arrival *arrivals = NEW(s->plan->arena, struct arrival, in->task_count);
    size_t count = 0;

    for (size_t i = 0; i < in->task_count; i++)
        if (wf_waits(s->plan, i))
            arrivals[count++] =
                (struct arrival){roots_last && in->tasks[i].free_root,
                                 in->workflow_rank[in->tasks[i].workflow], i};
    qsort(arrivals, count, sizeof(*arrivals), compare_arrivals);
    s->queue = NEW(s->plan->arena, size_t, count);
    for (size_t k = 0; k < count; k++)
        s->queue[k] = arrivals[k].task;
    s->queue_count = count;
}

static void open_starter(struct starter *s, struct wf_plan *plan)
{
    const struct workflow_plain *in = plan->in;
    struct arena *a = plan->arena;
    size_t tasks = in->task_count;

    *s = (struct starter){
        .plan = plan,
        .random = rng_stream(plan->seed, "workflow.random_placement"),
        .listed = NEW(a, bool, tasks),
        .smallest = NEW(a, size_t, tasks),
        .known = NEW(a, size_t, tasks),
        .unknown = NEW(a, size_t, tasks),
        .left = NEW(a, size_t, tasks),
        .places = NEW(a, size_t, in->resource_count),
    };
    plan->out->starts = NEW(a, struct workflow_plain_start, tasks);
    plan->out->carry = NEW(a, size_t, tasks);
    plan->out->carry_first = NEW(a, size_t, tasks + 1);
    for (size_t i = 0; i < tasks; i++)
        s->smallest[i] = WF_NONE;
    for (size_t p = 0; p < in->set_count; p++)
        for (size_t k = 0; k < in->sets[p].member_count; k++) {
            size_t *known = &s->smallest[in->sets[p].members[k]];

            if (!wf_set_unused(plan, p) &&
                (*known == WF_NONE ||
                 in->sets[p].member_count < in->sets[*known].member_count))
                *known = p;
        }
    list_queue(s);
}

/* ---- one task ---- */

static void start(struct starter *s, size_t task, const struct choice *c)
{
    struct workflow_plain_out *out = s->plan->out;

    wf_put(s->plan, task, c->resource, c->stage_s);
    out->starts[out->start_count++] =
        (struct workflow_plain_start){.task = task,
                                      .resource = c->resource,
                                      .expected_s = c->x_s,
                                      .stage_in_s = c->stage_s,
                                      .how = c->how};
}

/* Looks at a resource for a task with an estimate. top_s HUGE_VAL: there is no longest
 * one yet. */
static void consider(struct starter *s, size_t task, size_t resource, double top_s,
                     struct choice *best, struct choice *least)
{
    struct wf_plan *plan = s->plan;
    double stage_s = wf_stage_s(plan, task, resource);
    double x_s = wf_run_s(plan, task, resource, plan->count[resource] + 1) + stage_s;
    double key = top_s < HUGE_VAL ? top_s - x_s : x_s;
    struct choice c = {resource, x_s, stage_s, key,
                       top_s < HUGE_VAL ? WF_HOW_BALANCED : WF_HOW_LONGEST};

    if (!(x_s < HUGE_VAL) || !wf_fits(plan, task, resource, NULL, 0, x_s))
        return;
    if (x_s <= top_s && key < best->key && !wf_delays(plan, task, resource, 0, x_s))
        *best = c;
    c.key = x_s;
    c.how = WF_HOW_LEAST;
    if (x_s < least->key)
        *least = c;
}

/* Whether the time is up, after so many looks at resources. */
static bool cut(const struct starter *s, size_t looks)
{
    if (budget_step(s->plan->in->budget, LOOK_STEPS * looks))
        s->plan->out->cut = true;
    return s->plan->out->cut;
}

/* The next resource that has room and can be reached; those without room are not looked
 * at again while the slots that are free last. */
static bool start_in_turn(struct starter *s, size_t task)
{
    const struct wf_plan *plan = s->plan;
    size_t count = plan->in->resource_count;

    for (size_t k = 0, tries = 0; k < count && tries < TURN_TRIES; k++) {
        struct choice c = {.resource = s->turn, .how = WF_HOW_IN_TURN};

        s->turn = s->turn + 1 < count ? s->turn + 1 : 0;
        if (!wf_has_room(plan, c.resource))
            continue;
        tries++;
        c.stage_s = wf_stage_s(plan, task, c.resource);
        c.x_s = wf_run_s(plan, task, c.resource, plan->count[c.resource] + 1) + c.stage_s;
        if (c.stage_s == HUGE_VAL || c.x_s == HUGE_VAL ||
            !wf_fits(plan, task, c.resource, NULL, 0, c.x_s))
            continue;
        start(s, task, &c);
        return true;
    }
    return false;
}

/* ---- a task of several nodes ---- */

struct node {
    size_t resource;
    double x_s, stage_s; /* x_s NAN: no estimate */
};

static int compare_indexes(const void *left, const void *right)
{
    const size_t *l = left, *r = right;

    return *l < *r ? -1 : *l > *r;
}

static int compare_nodes(const void *left, const void *right)
{
    const struct node *l = left, *r = right;

    if (l->x_s != r->x_s && !isnan(l->x_s))
        return l->x_s < r->x_s ? -1 : 1;
    return l->resource < r->resource ? -1 : l->resource > r->resource;
}

/* Nodes that fit as long as the last of the list holds them all: the first `count`. */
static bool choose_nodes(const struct starter *s, size_t task, struct node *list,
                         size_t found, size_t count, size_t *chosen)
{
    for (size_t last = count; last <= found; last++) {
        size_t have = 0;

        for (size_t k = 0; k < last && have < count; k++)
            if (wf_fits(s->plan, task, list[k].resource, NULL, 0, list[last - 1].x_s)) {
                wf_members_note(s->plan, task, list[k].resource, 1);
                chosen[have++] = k;
            }
        for (size_t k = 0; k < have; k++)
            wf_members_note(s->plan, task, list[chosen[k]].resource, -1);
        if (have == count)
            return true;
        while (last < found && list[last].x_s == list[last - 1].x_s)
            last++;
    }
    return false;
}

/* All of them start now, and end with the slowest. */
static bool start_wide(struct starter *s, size_t task, double *top_s)
{
    struct wf_plan *plan = s->plan;
    size_t count = wf_nodes(plan, task), found = 0, *chosen;
    struct node *list;
    struct choice c = {.how = isnan(plan->remaining_ref_s[task]) ? WF_HOW_RANDOM
                              : !top_s                           ? WF_HOW_FASTEST
                                                                 : WF_HOW_LEAST};

    if (plan->free_count < count || cut(s, plan->in->resource_count))
        return false;
    list = NEW(plan->arena, struct node, plan->in->resource_count);
    chosen = NEW(plan->arena, size_t, count);
    for (size_t r = plan->first_resource; r < plan->behind_resource; r++) {
        struct node n = {r, 0, wf_stage_s(plan, task, r)};

        n.x_s = wf_run_s(plan, task, r, plan->count[r] + 1) + n.stage_s;
        if (wf_has_room(plan, r) && n.stage_s < HUGE_VAL && !(n.x_s == HUGE_VAL) &&
            wf_fits(plan, task, r, NULL, 0, n.x_s))
            list[found++] = n;
    }
    if (found < count)
        return false;
    qsort(list, found, sizeof(*list), compare_nodes);
    if (!choose_nodes(s, task, list, found, count, chosen))
        return false;
    for (size_t k = 0; k < count; k++) {
        const struct node *n = &list[chosen[k]];

        c.x_s = k == 0 || isnan(n->x_s) ? n->x_s : fmax(c.x_s, n->x_s);
        c.stage_s = fmax(c.stage_s, n->stage_s);
        chosen[k] = n->resource;
    }
    qsort(chosen, count, sizeof(*chosen), compare_indexes);
    c.resource = chosen[0];
    start(s, task, &c);
    for (size_t k = 1; k < count; k++)
        wf_put_beside(plan, task, chosen[k]);
    plan->out->starts[plan->out->start_count - 1].resources = chosen;
    plan->out->starts[plan->out->start_count - 1].resource_count = count;
    if (top_s && !(*top_s < HUGE_VAL))
        *top_s = c.x_s;
    return true;
}

/* *top_s becomes the time of the first one. */
static bool start_known(struct starter *s, size_t task, double *top_s)
{
    struct choice best = {.resource = WF_NONE, .key = HUGE_VAL};
    struct choice least = {.resource = WF_NONE, .key = HUGE_VAL};

    if (s->plan->free_count == 0)
        return false;
    if (wf_nodes(s->plan, task) > 1)
        return start_wide(s, task, top_s);
    for (size_t c = s->plan->first_resource; c < s->plan->behind_resource; c++) {
        if (cut(s, 1))
            return start_in_turn(s, task);
        if (wf_has_room(s->plan, c))
            consider(s, task, c, *top_s, &best, &least);
    }
    if (best.resource == WF_NONE)
        best = least;
    if (best.resource == WF_NONE)
        return false;
    start(s, task, &best);
    *top_s = *top_s < HUGE_VAL ? *top_s : best.x_s;
    return true;
}

static bool start_unknown(struct starter *s, size_t task)
{
    size_t count = 0;
    struct choice c = {.x_s = (double)NAN, .how = WF_HOW_RANDOM};

    if (s->plan->free_count == 0)
        return false;
    if (wf_nodes(s->plan, task) > 1)
        return start_wide(s, task, NULL);
    if (cut(s, s->plan->in->resource_count))
        return start_in_turn(s, task);
    for (size_t r = s->plan->first_resource; r < s->plan->behind_resource; r++)
        if (wf_has_room(s->plan, r) && wf_stage_s(s->plan, task, r) < HUGE_VAL &&
            wf_fits(s->plan, task, r, NULL, 0, (double)NAN))
            s->places[count++] = r;
    if (count == 0)
        return false;
    c.resource = s->places[rng_index(&s->random, count)];
    c.stage_s = wf_stage_s(s->plan, task, c.resource);
    start(s, task, &c);
    return true;
}

/* ---- a set ---- */

struct length {
    double left_ref_s;
    size_t at; /* in the set */
    size_t task;
};

static int compare_lengths(const void *left, const void *right)
{
    const struct length *l = left, *r = right;

    if (l->left_ref_s != r->left_ref_s)
        return l->left_ref_s > r->left_ref_s ? -1 : 1;
    return l->at < r->at ? -1 : l->at > r->at;
}

/* Reference seconds, of a task with run times as many as their mean at the mean speed. */
static double length_of(const struct wf_plan *plan, size_t task)
{
    const double *times_s = plan->in->tasks[task].times_s;
    double time_s = 0, speed = 0;
    size_t usable = 0;

    if (!times_s)
        return plan->remaining_ref_s[task];
    for (size_t c = 0; c < plan->in->resource_count; c++)
        if (wf_usable(plan, c) && times_s[c] >= 0) {
            time_s += times_s[c];
            speed += plan->in->resources[c].free_speed;
            usable++;
        }
    budget_step(plan->in->budget, plan->in->resource_count);
    return usable ? plan->remaining_ref_s[task] * (time_s / (double)usable) *
                        (speed / (double)usable)
                  : 0;
}

/* Members by remaining time, the longest first; those without estimate as they come. */
static void divide(struct starter *s, const size_t *members, size_t count,
                   size_t *known_count, size_t *unknown_count)
{
    struct length *lengths = NEW(s->plan->arena, struct length, count);

    *known_count = *unknown_count = 0;
    for (size_t k = 0; k < count; k++) {
        if (isnan(s->plan->remaining_ref_s[members[k]]))
            s->unknown[(*unknown_count)++] = members[k];
        else
            lengths[(*known_count)++] =
                (struct length){length_of(s->plan, members[k]), k, members[k]};
    }
    qsort(lengths, *known_count, sizeof(*lengths), compare_lengths);
    for (size_t k = 0; k < *known_count; k++)
        s->known[k] = lengths[k].task;
}

static void carry(struct starter *s, size_t task)
{
    struct workflow_plain_out *out = s->plan->out;

    out->carry[s->carry_size++] = task;
    out->carry_first[out->carry_count + 1] = s->carry_size;
}

/* A member of a gang or a pack: where it ends first. */
static bool start_member(void *starter, size_t task)
{
    const struct starter *s = starter;
    double top_s = HUGE_VAL;

    return isnan(s->plan->remaining_ref_s[task]) ? start_unknown(starter, task)
                                                 : start_known(starter, task, &top_s);
}

/* *top_s becomes the time of the first one with an estimate. */
static void start_task(struct starter *s, size_t task, double *top_s)
{
    bool known = !isnan(s->plan->remaining_ref_s[task]);

    if (s->plan->place[task] != WF_NONE) /* with its gang or its pack */
        return;
    if (wf_is_unit(s->plan, task)) {
        const struct wf_starter starter = {start_member, s};

        if (wf_unit_turn(s->plan, task, &starter) && known && !(*top_s < HUGE_VAL))
            *top_s = wf_xi_s(s->plan, task);
    } else if (known) {
        start_known(s, task, top_s);
    } else {
        start_unknown(s, task);
    }
}

static void start_set(struct starter *s, const size_t *members, size_t count)
{
    struct workflow_plain_out *out = s->plan->out;
    size_t known = 0, unknown = 0, carried_before = s->carry_size;
    double top_s = HUGE_VAL;

    divide(s, members, count, &known, &unknown);
    for (size_t k = 0; k < known; k++)
        start_task(s, s->known[k], &top_s);
    for (size_t k = 0; k < unknown; k++)
        start_task(s, s->unknown[k], &top_s);
    for (size_t k = 0; k < count; k++)
        if (s->plan->place[members[k]] == WF_NONE)
            carry(s, members[k]);
    if (s->carry_size > carried_before)
        out->carry_count++;
}

/* Tasks of `list` that wait and are in no set so far. */
static size_t gather(struct starter *s, const size_t *list, size_t count)
{
    size_t found = 0;

    for (size_t k = 0; k < count; k++)
        if (!s->listed[list[k]] && wf_waits(s->plan, list[k])) {
            s->listed[list[k]] = true;
            s->left[found++] = list[k];
        }
    return found;
}

enum error_code wf_step_start(struct wf_plan *plan)
{
    const struct workflow_plain *in = plan->in;
    bool carry_all = plan->carry_all && plan->free_count == 0;
    struct starter s;

    open_starter(&s, plan);
    for (size_t k = 0; k < in->carry_count; k++) { /* once carried, until placed */
        size_t first = in->carry_first[k], end = in->carry_first[k + 1];
        size_t count = gather(&s, in->carry + first, end - first);

        start_set(&s, s.left, count);
    }
    for (size_t k = 0; k < s.queue_count && (plan->free_count > 0 || carry_all); k++) {
        size_t task = s.queue[k], set = s.smallest[task], count;

        if (s.listed[task])
            continue;
        if (set == WF_NONE)
            count = gather(&s, &task, 1);
        else
            count = gather(&s, in->sets[set].members, in->sets[set].member_count);
        start_set(&s, s.left, count);
    }
    return OK;
}

/* ---- workflow_fastest ---- */

static bool start_fastest(void *starter, size_t task)
{
    struct starter *s = starter;
    struct wf_plan *plan = s->plan;
    struct choice best = {.resource = WF_NONE, .how = WF_HOW_FASTEST};

    if (wf_nodes(plan, task) > 1)
        return start_wide(s, task, NULL);
    if (cut(s, plan->in->resource_count))
        return start_in_turn(s, task);
    for (size_t c = plan->first_resource; c < plan->behind_resource; c++) {
        double share = wf_share(plan, c, plan->count[c] + 1), x_s;

        if (!wf_has_room(plan, c) || !(share > best.key) ||
            !(wf_stage_s(plan, task, c) < HUGE_VAL))
            continue;
        x_s = wf_run_s(plan, task, c, plan->count[c] + 1) + wf_stage_s(plan, task, c);
        if (x_s == HUGE_VAL || !wf_fits(plan, task, c, NULL, 0, x_s))
            continue;
        best.key = share;
        best.resource = c;
    }
    if (best.resource == WF_NONE)
        return false;
    best.stage_s = wf_stage_s(plan, task, best.resource);
    best.x_s = wf_run_s(plan, task, best.resource, plan->count[best.resource] + 1) +
               best.stage_s;
    start(s, task, &best);
    return true;
}

enum error_code wf_step_fastest(struct wf_plan *plan)
{
    bool carry_all = plan->carry_all && plan->free_count == 0;
    struct starter s;

    open_starter(&s, plan);
    for (size_t k = 0; k < s.queue_count && plan->free_count > 0; k++) {
        const struct wf_starter starter = {start_fastest, &s};

        if (wf_is_unit(plan, s.queue[k]))
            wf_unit_turn(plan, s.queue[k], &starter);
        else
            start_fastest(&s, s.queue[k]);
    }
    for (size_t k = 0; k < s.queue_count && carry_all; k++)
        start_set(&s, &s.queue[k], 1);
    return OK;
}
