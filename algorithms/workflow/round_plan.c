/* workflow/round_plan.c - where tasks are in a plan, and how long they still take there.
 *
 * A move changes the remaining times of the tasks on two resources. Times are computed
 * when they are asked for; only the largest of each set is kept, and marked as unknown
 * when one of its members may have changed.
 *
 * Source: spec workflows.md 2.2, 5.3, 5.5 (delays).
 * Cost: wf_delays() looks at the sets of the task; at those of the dependents on the
 * resource only after they have changed.
 */
#include "algorithms/workflow/round_plan.h"

#include <math.h>

/* ---- times ---- */

double wf_run_s(const struct wf_plan *plan, size_t task, size_t resource, size_t count)
{
    double left = plan->remaining_ref_s[task];
    double speed = plan->in->resources[resource].free_speed;
    const double *times_s = plan->in->tasks[task].times_s;

    if (left == 0)
        return 0;
    if (plan->in->resources[resource].own_slots)
        count = 1;
    if (times_s) /* HUGE_VAL also where it cannot run */
        return speed > 0 && times_s[resource] >= 0
                   ? left * (double)count * times_s[resource]
                   : HUGE_VAL + left;
    return speed > 0 ? left * (double)count / speed : HUGE_VAL + left;
}

double wf_xi_s(const struct wf_plan *plan, size_t task)
{
    size_t at = plan->place[task];

    return wf_run_s(plan, task, at, plan->count[at]) + plan->pending_s[task];
}

/* Bytes from site to site; WF_NONE: from nowhere in particular. */
static double route_s(const struct workflow_plain *in, double bytes, size_t from,
                      size_t to)
{
    double mbps, latency_s;

    if (in->route_s)
        return in->route_s(in->context, bytes, from, to);
    if (from < in->site_count && to < in->site_count) {
        mbps = in->site_mbps[from * in->site_count + to];
        latency_s = in->site_latency_s[from * in->site_count + to];
    } else {
        mbps = from == to ? in->lan_mbps : in->wan_mbps;
        latency_s = from == to ? in->lan_latency_s : in->wan_latency_s;
    }
    return mbps > 0 ? transfer_s(bytes, mbps, latency_s) : HUGE_VAL;
}

double wf_move_s(const struct wf_plan *plan, size_t task, size_t from, size_t to)
{
    const struct workflow_plain *in = plan->in;

    if (from == to)
        return 0;
    return route_s(in, in->tasks[task].move_bytes, in->resources[from].site,
                   in->resources[to].site);
}

double wf_overhead_s(const struct wf_plan *plan)
{
    if (plan->param[WF_INCLUDE_CHECKPOINT_COST] == 0)
        return 0;
    return plan->param[WF_CHECKPOINT_S] + plan->param[WF_RESTART_S];
}

double wf_stage_s(const struct wf_plan *plan, size_t task, size_t resource)
{
    const struct workflow_plain_task *t = &plan->in->tasks[task];
    size_t site = plan->in->resources[resource].site;

    if (plan->in->stage_s)
        return plan->in->stage_s(plan->in->context, task, resource);
    if (t->stage_site == WF_NONE)
        return 0;
    return route_s(plan->in, t->stage_bytes, t->stage_site, site);
}

bool wf_usable(const struct wf_plan *plan, size_t resource)
{
    const struct workflow_plain_resource *r = &plan->in->resources[resource];

    return r->usable && r->free_speed > 0;
}

enum kept_out wf_kept_out(const struct wf_plan *plan, size_t resource)
{
    const struct workflow_plain_resource *r = &plan->in->resources[resource];

    if (r->failed)
        return KEPT_OUT_FAILED;
    if (r->stale)
        return KEPT_OUT_STALE;
    return r->usable ? KEPT_OUT_NO_SPEED : KEPT_OUT_NOT_NOW;
}

bool wf_has_room(const struct wf_plan *plan, size_t resource)
{
    return wf_usable(plan, resource) &&
           plan->count[resource] < plan->in->resources[resource].n_max &&
           (!plan->in->amounts || wf_amounts_room(plan, resource));
}

/* ---- sets ---- */

double wf_set_max_s(struct wf_plan *plan, size_t set)
{
    const struct workflow_plain_set *s = &plan->in->sets[set];
    double most_s = plan->set_max_s[set];

    if (!isnan(most_s))
        return most_s;
    most_s = -HUGE_VAL;
    for (size_t k = 0; k < s->member_count; k++) {
        size_t i = s->members[k];

        if (plan->place[i] != WF_NONE && !isnan(plan->remaining_ref_s[i]))
            most_s = fmax(most_s, wf_xi_s(plan, i));
    }
    return plan->set_max_s[set] = most_s;
}

/* What was found out with a set's time is no longer known either. */
static void forget_set(struct wf_plan *plan, size_t set)
{
    const struct workflow_plain_set *s = &plan->in->sets[set];

    if (isnan(plan->set_max_s[set]))
        return;
    plan->set_max_s[set] = (double)NAN;
    budget_step(plan->in->budget, s->member_count); /* who looks next sees it */
    for (size_t k = 0; k < s->member_count; k++)
        if (plan->place[s->members[k]] != WF_NONE)
            plan->crowded[plan->place[s->members[k]]] = -1;
}

/* Times of all tasks on a resource change. */
static void forget_beside(struct wf_plan *plan, size_t resource)
{
    for (size_t i = plan->first[resource]; i != WF_NONE; i = plan->next[i])
        for (size_t k = plan->set_first[i]; k < plan->set_first[i + 1]; k++)
            forget_set(plan, plan->set_list[k]);
    plan->evictable_count[resource] = WF_NONE;
    plan->crowded[resource] = -1;
}

void wf_take(struct wf_plan *plan, size_t task)
{
    size_t at = plan->place[task];
    bool had_room = wf_has_room(plan, at);

    forget_beside(plan, at);
    if (plan->before[task] != WF_NONE)
        plan->next[plan->before[task]] = plan->next[task];
    else
        plan->first[at] = plan->next[task];
    if (plan->next[task] != WF_NONE)
        plan->before[plan->next[task]] = plan->before[task];
    if (plan->in->amounts) {
        wf_amounts_take(plan, task, at, -1);
        wf_amounts_take_shared(plan, task, -1);
        wf_members_note(plan, task, at, -1);
    }
    plan->place[task] = WF_NONE;
    plan->count[at]--;
    plan->root_count[at] -= plan->in->tasks[task].free_root;
    if (!had_room && wf_has_room(plan, at))
        plan->free_count++;
}

void wf_put(struct wf_plan *plan, size_t task, size_t resource, double pending_s)
{
    bool had_room = wf_has_room(plan, resource);

    if (plan->in->amounts) {
        wf_amounts_take(plan, task, resource, 1);
        wf_amounts_take_shared(plan, task, 1);
        wf_members_note(plan, task, resource, 1);
    }
    plan->place[task] = resource;
    plan->pending_s[task] = pending_s;
    plan->before[task] = WF_NONE;
    plan->next[task] = plan->first[resource];
    if (plan->next[task] != WF_NONE)
        plan->before[plan->next[task]] = task;
    plan->first[resource] = task;
    plan->count[resource]++;
    plan->root_count[resource] += plan->in->tasks[task].free_root;
    forget_beside(plan, resource);
    if (had_room && !wf_has_room(plan, resource))
        plan->free_count--;
}

void wf_put_beside(struct wf_plan *plan, size_t task, size_t resource)
{
    bool had_room = wf_has_room(plan, resource);

    wf_amounts_take(plan, task, resource, 1);
    wf_members_note(plan, task, resource, 1);
    plan->count[resource]++;
    forget_beside(plan, resource);
    if (had_room && !wf_has_room(plan, resource))
        plan->free_count--;
}

void wf_take_beside(struct wf_plan *plan, size_t task, size_t resource)
{
    bool had_room = wf_has_room(plan, resource);

    wf_amounts_take(plan, task, resource, -1);
    wf_members_note(plan, task, resource, -1);
    plan->count[resource]--;
    forget_beside(plan, resource);
    if (!had_room && wf_has_room(plan, resource))
        plan->free_count++;
}

bool wf_waits(const struct wf_plan *plan, size_t task)
{
    const struct workflow_plain_task *t = &plan->in->tasks[task];

    return t->status == PLAIN_IDLE && t->ready && !t->postponed &&
           !plan->sent_back[task] && plan->place[task] == WF_NONE;
}

/* Whether one more task on a resource makes a dependent there the last of a set. */
static bool slows_one(struct wf_plan *plan, size_t resource)
{
    bool any_task = (int)plan->param[WF_DELAY_RULE] == WF_ANY_TASK;

    if (plan->in->resources[resource].own_slots)
        return false;
    for (size_t i = plan->first[resource]; i != WF_NONE; i = plan->next[i]) {
        double slower_s;

        if (plan->in->tasks[i].free_root)
            continue;
        if (any_task || isnan(plan->remaining_ref_s[i]))
            return true;
        slower_s =
            wf_run_s(plan, i, resource, plan->count[resource] + 1) + plan->pending_s[i];
        budget_step(plan->in->budget, 1 + plan->set_first[i + 1] - plan->set_first[i]);
        for (size_t k = plan->set_first[i]; k < plan->set_first[i + 1]; k++)
            if (slower_s > wf_set_max_s(plan, plan->set_list[k]) + WF_SAME_S)
                return true;
    }
    return false;
}

bool wf_crowded(struct wf_plan *plan, size_t resource)
{
    if (plan->crowded[resource] < 0)
        plan->crowded[resource] = slows_one(plan, resource);
    return plan->crowded[resource] > 0;
}

static bool has_dependent_on(const struct wf_plan *plan, size_t set, size_t resource)
{
    const struct workflow_plain_set *s = &plan->in->sets[set];

    if (budget_step(plan->in->budget, s->member_count))
        return true; /* the step ends with its next look at a resource */
    for (size_t k = 0; k < s->member_count; k++)
        if (plan->place[s->members[k]] == resource &&
            !plan->in->tasks[s->members[k]].free_root)
            return true;
    return false;
}

/* A task without a place counts for the sets that it shares with dependents on the
 * resource only: the others have to wait for it anyway. */
bool wf_delays(struct wf_plan *plan, size_t task, size_t resource, size_t evicted,
               double x_s)
{
    bool placed = plan->place[task] != WF_NONE;

    if (evicted == 0 && wf_crowded(plan, resource)) /* else they get no slower */
        return true;
    for (size_t k = plan->set_first[task]; k < plan->set_first[task + 1]; k++) {
        size_t set = plan->set_list[k];

        if (x_s > wf_set_max_s(plan, set) + WF_SAME_S &&
            (placed || has_dependent_on(plan, set, resource)))
            return true;
    }
    return false;
}

/* ---- roots that may go ---- */

static bool evictable(const struct wf_plan *plan, size_t task)
{
    const struct workflow_plain_task *t = &plan->in->tasks[task];

    return t->free_root && t->status == PLAIN_RUNNING && !t->pinned &&
           !plan->moved[task] && wf_nodes(plan, task) == 1 && !wf_in_gang(plan, task) &&
           (isnan(plan->remaining_ref_s[task]) ||
            wf_xi_s(plan, task) > plan->param[WF_RE_MIN_S]);
}

size_t wf_evictable_count(struct wf_plan *plan, size_t resource)
{
    size_t count = 0;

    if (plan->root_count[resource] == 0 || plan->param[WF_ALLOW_ROOT_EVICTION] == 0)
        return 0;
    if (plan->evictable_count[resource] != WF_NONE)
        return plan->evictable_count[resource];
    for (size_t i = plan->first[resource]; i != WF_NONE; i = plan->next[i])
        count += evictable(plan, i);
    return plan->evictable_count[resource] = count;
}

static bool arrives_before(const struct wf_plan *plan, size_t left, size_t right)
{
    const struct workflow_plain *in = plan->in;
    size_t l = in->workflow_rank[in->tasks[left].workflow];
    size_t r = in->workflow_rank[in->tasks[right].workflow];

    return l != r ? l < r : left < right;
}

size_t wf_evictable(const struct wf_plan *plan, size_t resource, size_t *tasks)
{
    size_t count = 0;

    for (size_t i = plan->first[resource]; i != WF_NONE; i = plan->next[i]) {
        size_t at = count;

        if (!evictable(plan, i))
            continue;
        while (at > 0 && arrives_before(plan, i, tasks[at - 1])) {
            tasks[at] = tasks[at - 1];
            at--;
        }
        budget_step(plan->in->budget, 1 + count - at);
        tasks[at] = i;
        count++;
    }
    return count;
}

/* ---- the plan of the snapshot ---- */

static void take_memory(struct wf_plan *plan)
{
    size_t tasks = plan->in->task_count, resources = plan->in->resource_count;
    struct arena *a = plan->arena;

    plan->remaining_ref_s = NEW(a, double, tasks);
    plan->pending_s = NEW(a, double, tasks);
    plan->place = NEW(a, size_t, tasks);
    plan->moved = NEW(a, bool, tasks);
    plan->sent_back = NEW(a, bool, tasks);
    plan->next = NEW(a, size_t, tasks);
    plan->before = NEW(a, size_t, tasks);
    plan->count = NEW(a, size_t, resources);
    plan->first = NEW(a, size_t, resources);
    plan->root_count = NEW(a, size_t, resources);
    plan->evictable_count = NEW(a, size_t, resources);
    plan->crowded = NEW(a, signed char, resources);
    plan->set_first = NEW(a, size_t, tasks + 1);
    plan->set_max_s = NEW(a, double, plan->in->set_count);
}

/* Sets of each task, without those of roots only: nobody minds a root's delay. */
static void list_sets(struct wf_plan *plan)
{
    const struct workflow_plain *in = plan->in;
    size_t *first = plan->set_first, total;

    for (size_t p = 0; p < in->set_count; p++)
        for (size_t k = 0; k < in->sets[p].member_count; k++)
            if (!in->sets[p].only_roots && !wf_set_unused(plan, p))
                first[in->sets[p].members[k] + 1]++;
    for (size_t i = 0; i < in->task_count; i++)
        first[i + 1] += first[i];
    total = first[in->task_count];
    plan->set_list = NEW(plan->arena, size_t, total);
    /* Filled backwards, first[i + 1] counts down to where i begins. */
    for (size_t p = in->set_count; p-- > 0;)
        for (size_t k = 0; k < in->sets[p].member_count; k++)
            if (!in->sets[p].only_roots && !wf_set_unused(plan, p))
                plan->set_list[--first[in->sets[p].members[k] + 1]] = p;
    for (size_t i = 0; i < in->task_count; i++)
        first[i] = first[i + 1];
    first[in->task_count] = total;
}

static void place_tasks(struct wf_plan *plan)
{
    const struct workflow_plain *in = plan->in;

    for (size_t c = 0; c < in->resource_count; c++) {
        plan->count[c] = in->resources[c].job_count_other;
        plan->first[c] = WF_NONE;
        plan->evictable_count[c] = WF_NONE;
        plan->crowded[c] = -1;
        plan->free_count += wf_has_room(plan, c);
    }
    for (size_t i = 0; i < in->task_count; i++) {
        const struct workflow_plain_task *t = &in->tasks[i];
        bool known = t->remaining_ref_s >= 0 && t->remaining_ref_s < HUGE_VAL;

        plan->remaining_ref_s[i] = known ? t->remaining_ref_s : (double)NAN;
        plan->place[i] = WF_NONE;
        if ((t->status == PLAIN_RUNNING || t->status == PLAIN_STAGING) &&
            t->resource < in->resource_count) {
            wf_put(plan, i, t->resource, t->pending_s > 0 ? t->pending_s : 0);
            for (size_t k = 0; k < t->beside_count; k++)
                wf_put_beside(plan, i, t->beside[k]);
        }
    }
    for (size_t p = 0; p < in->set_count; p++)
        plan->set_max_s[p] = (double)NAN;
}

/* Streams of the first round are those of the seed itself. */
static uint64_t seed_of_round(const struct workflow_plain *in)
{
    uint64_t state = in->round;

    return in->round == 0 ? in->seed : in->seed ^ splitmix64(&state);
}

void wf_plan_make(const struct workflow_plain *in, const double *param,
                  struct wf_plan *plan, struct workflow_plain_out *out, struct arena *a,
                  struct error *err)
{
    *plan = (struct wf_plan){
        .in = in,
        .param = param,
        .final_sets = param[WF_FINAL_TASK_AS_SET] != 0,
        .seed = seed_of_round(in),
        .out = out,
        .arena = a,
        .err = err,
        .behind_resource = in->resource_count,
    };
    plan->pick = rng_stream(plan->seed, "workflow.group_pick");
    take_memory(plan);
    if (in->amounts)
        wf_amounts_open(plan);
    if (in->amounts)
        wf_members_open(plan);
    list_sets(plan);
    place_tasks(plan);
}
