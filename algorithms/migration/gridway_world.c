/* migration/gridway_world.c - a round of gridway where amounts count.
 *
 * Pending jobs are placed by the policy `gridway` as POST /v1/placements does it, on the
 * snapshot with the running jobs as rows of what runs. For the moves a second world has
 * the running jobs as its jobs, and as taken what runs (where they are now, too) and what
 * has just been placed. Such a job asks for its amounts for as long as its files and its
 * rest take at the target; with plan_with limit for its time limit, which counts anew
 * there.
 *
 * Deviation: no rank is one of a set of resources, so that a job on several nodes has no
 * rank test; it goes to the nodes that complete it first, and to none that it is on.
 * Files that a placed job fetches do not count as present for a job that moves.
 */
#include "algorithms/migration/gridway_world.h"

#include "algorithms/migration/gridway_taken.h"
#include "algorithms/placement/amounts_answer.h"
#include "algorithms/world/queue.h"

#include <stdio.h>
#include <string.h>

bool gridway_world_asked(const struct gridway_request *request, const double *common)
{
    const struct placement_in all = request->placement;

    return amounts_decide_asked(&all, common);
}

/* ---- mistakes ---- */

static bool has_item(const struct error *err, const struct error_item *x)
{
    for (const struct error_item *e = err->first; e; e = e->next)
        if (e->code == x->code && strcmp(e->pointer, x->pointer) == 0 &&
            strcmp(e->detail, x->detail) == 0)
            return true;
    return false;
}

/* Adds mistakes that are not there yet. */
static void add_items(const struct error *from, struct error *err)
{
    for (const struct error_item *e = from->first; e; e = e->next) {
        struct error_item *next;

        if (has_item(err, e))
            continue;
        invalid(err, e->pointer, e->code, "%s", e->detail);
        if (!err->noted)
            continue;
        next = err->noted->next;
        *err->noted = *e;
        err->noted->next = next;
    }
}

/* ---- pending jobs ---- */

/* Options of the request that the placement policy has as well; stops are proposed here,
 * and none is assumed, as what would be stopped has its verdict. */
static struct named_value *own_options(const struct gridway_run *run,
                                       const struct policy *policy, size_t *count)
{
    struct named_value *list = NEW(run->arena, struct named_value, run->option_count);

    *count = 0;
    for (size_t i = 0; i < run->option_count; i++) {
        if (strcmp(run->options[i].name, "assume_preempted") == 0)
            continue;
        for (size_t k = 0; k < policy_option_count(policy); k++)
            if (strcmp(run->options[i].name, policy_option(policy, k)->name) == 0) {
                list[(*count)++] = run->options[i];
                break;
            }
    }
    return list;
}

static enum error_code place_pending(struct gridway_run *run, struct placement_out *out,
                                     struct error *err)
{
    const struct gridway_request *request = run->request;
    const struct policy *policy = policy_find(placement_policies, "gridway");
    const struct error_item *last = err->last;
    struct placement_in in = request->in->round;
    struct gridway_taken taken;
    size_t option_count;
    struct named_value *options = own_options(run, policy, &option_count);
    enum error_code code;

    gridway_taken_make(request, NULL, false, &taken, run->arena, err);
    in.snapshot = &taken.snapshot;
    in.own_running_count = taken.own_count;
    code = placement_decide(&in, policy, options, option_count, out, run->arena, err);
    gridway_taken_point(request, &taken, "pending", last, err);
    return code;
}

/* ---- the world of those that run ---- */

/* Shared amounts go with a job that holds them already. */
static const int64_t *own_needs(struct gridway_run *run, size_t job,
                                const struct world *w)
{
    const int64_t *given = w->jobs[job].needs;
    int64_t *needs;

    if (run->request->holds[job] == NO_INDEX || w->amount_count == w->node_amount_count)
        return given;
    needs = NEW(run->arena, int64_t, w->amount_count);
    memcpy(needs, given, w->node_amount_count * sizeof(*needs));
    return needs;
}

/* Jobs of the world ask one by one, each time for what a place would cost them. */
static void own_jobs(struct gridway_run *run, const struct world *made)
{
    struct gridway_world *x = run->world;

    x->w = NEW(run->arena, struct world, 1);
    x->jobs = NEW(run->arena, struct world_job, made->job_count);
    if (made->job_count)
        memcpy(x->jobs, made->jobs, made->job_count * sizeof(*x->jobs));
    for (size_t i = 0; i < made->job_count; i++) {
        struct world_job *j = &x->jobs[i];

        budget_step(made->budget, 8);
        j->etc_s = NULL;
        j->estimate_ref_s = NAN;
        j->estimate_s = 0;
        j->time_limit_s = HUGE_VAL;
        j->needs = own_needs(run, i, made);
        j->release_s = j->earliest_s = 0;
        j->barred = WORLD_WAIT_NONE;
        if (j->group != WORLD_NONE && made->groups[j->group].policy == GROUP_GANG)
            j->group = WORLD_NONE; /* it has started with the others */
    }
    *x->w = *made;
    x->w->jobs = x->jobs;
    x->w->plan_with_limit = false;
    x->board = board_create(x->w, NULL, run->arena);
}

static void count_user(struct gridway_run *run, const char *user, double *listed)
{
    const struct placement_problem *p = run->problem;
    size_t number = user ? name_index_find(&p->user_numbers, user) : 0;

    if (number == NAME_NOT_FOUND)
        return;
    listed[number]++;
    run->round.running[number] = fmax(run->round.running[number], listed[number]);
}

/* Jobs of each user that run or have just started; of each id one. */
static void count_running(struct gridway_run *run)
{
    const struct placement_problem *p = run->problem;
    const struct placement_in *in = p->in;
    const struct snapshot *s = in->snapshot;
    double *listed = NEW(run->arena, double, p->user_count);
    struct name_index seen;
    size_t rows = s->running_count;

    for (size_t i = 0; i < s->resource_count; i++)
        rows += s->resources[i].running_count;
    name_index_create(&seen, rows, run->arena);
    for (size_t i = 0; i < in->user_count; i++) {
        size_t user = name_index_find(&p->user_numbers, in->users[i].user);

        if (user != NAME_NOT_FOUND)
            run->round.running[user] = in->users[i].running_jobs;
    }
    for (size_t i = 0; i < s->resource_count; i++) {
        budget_step(in->budget, s->resources[i].running_count + 1);
        for (size_t k = 0; k < s->resources[i].running_count; k++)
            if (name_index_add(&seen, s->resources[i].running[k].id, 0) == NAME_NOT_FOUND)
                count_user(run, s->resources[i].running[k].user, listed);
    }
    for (size_t k = 0; k < s->running_count; k++)
        if (name_index_add(&seen, s->running[k].id, 0) == NAME_NOT_FOUND)
            count_user(run, s->running[k].user, listed);
}

/* What the limits of the round look at. */
static void begin_round(struct gridway_run *run, const struct placement_out *pending)
{
    const struct placement_problem *p = run->problem;
    struct gridway_world *x = run->world;
    size_t m = p->resource_count;

    run->round = (struct round){
        .limits = round_limits_of(p),
        .running = NEW(run->arena, double, p->user_count),
        .pos = NEW(run->arena, size_t, m),
        .rank = NEW(run->arena, double, m),
        .priority = NEW(run->arena, double, m),
    };
    x->dispatched = NEW(run->arena, double, m);
    x->running_on = NEW(run->arena, double, m);
    x->free_choice = NEW(run->arena, size_t, m);
    x->etc_s = NEW(run->arena, double, m);
    x->started = pending->placement_count;
    count_running(run);
    for (size_t h = 0; h < x->w->holder_count; h++) {
        budget_step(x->w->budget, x->w->holders[h].position_count + 1);
        for (size_t k = 0; k < x->w->holders[h].position_count; k++)
            x->running_on[x->w->holders[h].positions[k]] +=
                x->w->holders[h].kind == HOLDER_RUNNING;
    }
}

/* Of those that have just started; their rows count among what runs there. */
static void count_started(struct gridway_run *run, const struct placement_out *pending)
{
    struct gridway_world *x = run->world;
    const struct gridway_request *r = run->request;

    for (size_t k = 0; k < pending->placement_count; k++) {
        const struct placement *p = &pending->placements[k];
        size_t count = p->resource_id ? 1 : p->resource_id_count;

        budget_step(x->w->budget, count);
        for (size_t i = 0; i < count; i++) {
            size_t index = name_index_find(
                &r->resources, p->resource_id ? p->resource_id : p->resource_ids[i]);

            x->dispatched[run->problem->position_of[index]]++;
            x->running_on[run->problem->position_of[index]] -= p->held_s > 0;
        }
    }
}

static enum error_code make_moves(struct gridway_run *run, const double *common,
                                  const struct placement_out *pending,
                                  struct placement_problem *p, struct error *err)
{
    struct gridway_request *request = (struct gridway_request *)run->request;
    struct placement_in *in = NEW(run->arena, struct placement_in, 1);
    struct gridway_taken *taken = NEW(run->arena, struct gridway_taken, 1);
    size_t waiting = request->in->round.job_count;
    bool limits = (int)common[COMMON_PLAN_WITH] == PLAN_WITH_LIMIT;
    struct amounts_world made;
    struct amounts *checked;
    enum error_code code;

    gridway_taken_make(request, pending, true, taken, run->arena, err);
    taken->snapshot.files = request->snapshot.files;
    taken->snapshot.file_count = request->snapshot.file_count;
    *in = request->placement;
    in->snapshot = &taken->snapshot;
    in->own_running_count = taken->own_count;
    in->jobs = request->placement.jobs + waiting;
    in->job_count = in->running_count = request->in->job_count;
    in->running_at = NULL;
    amounts_check(in, limits, &checked, run->arena, err);
    code = problem_prepare(in, common, p, run->arena, err);
    gridway_taken_point(request, taken, "jobs", NULL, err);
    TRY(code);
    if (err->code != OK)
        return err->code;
    amounts_start_now(checked);
    amounts_world(p, checked, &made);
    run->problem = p;
    run->world->holds_limit = limits;
    own_jobs(run, made.world);
    begin_round(run, pending);
    count_started(run, pending);
    return OK;
}

/* Members that wait and members that run say the same of their group. */
static void check_groups(const struct gridway_in *in, struct error *err)
{
    struct error here = {.arena = err->arena};
    struct name_index ids;

    name_index_create(&ids, in->job_count, err->arena);
    for (size_t i = 0; i < in->job_count; i++)
        if (in->jobs[i].job.group)
            name_index_add(&ids, in->jobs[i].job.group->id, i);
    for (size_t i = 0; i < in->round.job_count; i++) {
        const struct job_group *g = in->round.jobs[i].group;
        size_t other = g ? name_index_find(&ids, g->id) : NAME_NOT_FOUND;
        const char *member = other == NAME_NOT_FOUND
                                 ? NULL
                                 : amounts_group_differs(g, in->jobs[other].job.group);
        char pointer[64];

        budget_step(in->round.budget, 1);
        if (!member || in->round.jobs[i].copy)
            continue;
        snprintf(pointer, sizeof(pointer), "/pending/%zu/group/%s", i, member);
        invalid(&here, pointer, ITEM_CONFLICT,
                "another member of group '%.100s' says something else", g->id);
    }
    add_items(&here, err);
}

enum error_code gridway_world_make(struct gridway_run *run, const double *common,
                                   struct placement_problem *p,
                                   struct placement_out *pending, struct error *err)
{
    struct error moves = {.arena = err->arena};
    enum error_code placed = place_pending(run, pending, err), code;

    if (placed != OK && placed != ERR_INVALID)
        return placed;
    if (placed != OK)
        memset(pending, 0, sizeof(*pending));
    code = make_moves(run, common, pending, p, &moves);
    if (code != OK && code != ERR_INVALID) {
        *err = moves;
        return code;
    }
    add_items(&moves, err);
    check_groups(run->request->in, err);
    return err->code;
}

/* ---- what a job may take ---- */

bool gridway_world_allows(const struct gridway_run *run, size_t pos)
{
    const struct round_limits *l = &run->round.limits;
    const struct gridway_world *x = run->world;

    if (l->per_resource > 0 && x->dispatched[pos] >= l->per_resource)
        return false;
    return l->running_per_resource <= 0 ||
           x->running_on[pos] + x->dispatched[pos] < l->running_per_resource;
}

size_t gridway_world_choice(const struct gridway_run *run, const struct gridway_case *c,
                            size_t pos)
{
    const struct world_job *j = &run->world->jobs[c->job];

    for (size_t k = 0; k < j->choice_count; k++)
        if (world_mask_has(j->choices[k].mask, pos))
            return k;
    return WORLD_NONE;
}

double gridway_world_start_s(struct gridway_run *run, const struct gridway_case *c,
                             size_t pos, double hold_s, double latest_s)
{
    struct gridway_world *x = run->world;
    struct world_job *j = &x->jobs[c->job];
    struct board_spot spot;

    j->etc_s = NULL;
    j->estimate_s = fmin(hold_s, WORLD_LONGEST_S);
    spot =
        board_fit(x->board, c->job, gridway_world_choice(run, c, pos), pos, 0, latest_s);
    return spot.positions ? spot.start_s : HUGE_VAL;
}

struct board_spot gridway_world_nodes(struct gridway_run *run,
                                      const struct gridway_case *c, double latest_s)
{
    struct gridway_world *x = run->world;
    struct board_spot spot;

    x->jobs[c->job].etc_s = x->etc_s;
    spot = queue_fit_at(x->board, c->job, 0);
    if (!spot.positions && latest_s > 0)
        spot = board_best(x->board, c->job);
    return spot.start_s <= latest_s ? spot : board_nowhere();
}

/* The spot as it was found; times of several nodes are kept for the checker. */
void gridway_world_take(struct gridway_run *run, const struct gridway_case *c,
                        const struct gridway_candidate *to)
{
    struct gridway_world *x = run->world;
    struct world_job *j = &x->jobs[c->job];
    struct board_spot spot;
    double *etc_s;

    if (to->position_count <= 1) {
        j->estimate_s = fmin(to->hold_s, WORLD_LONGEST_S);
        spot = board_fit(x->board, c->job, gridway_world_choice(run, c, to->pos), to->pos,
                         0, to->wait_s);
    } else {
        etc_s = NEW(run->arena, double, run->problem->resource_count);
        memcpy(etc_s, x->etc_s, run->problem->resource_count * sizeof(*etc_s));
        j->etc_s = etc_s;
        spot = gridway_world_nodes(run, c, to->wait_s);
        j->etc_s = etc_s;
    }
    if (!spot.positions)
        return; /* the budget is spent */
    board_take(x->board, c->job, &spot);
    for (size_t k = 0; k < spot.position_count; k++)
        x->dispatched[spot.positions[k]]++;
}

bool gridway_world_is_valid(const struct gridway_run *run)
{
    struct world_plan *plan = board_plan(run->world->board);

    return plan->placed_count == 0 || gridway_world_is_cut(run) ||
           amounts_plan_is_valid(run->world->w, plan, run->arena);
}

bool gridway_world_is_cut(const struct gridway_run *run)
{
    return run->world->w->budget && run->world->w->budget->spent;
}

const char *const *gridway_ids_at(const struct gridway_run *run, const size_t *positions,
                                  size_t count)
{
    const char **ids = NEW(run->arena, const char *, count);

    for (size_t k = 0; k < count; k++)
        ids[k] = run->problem->resources[positions[k]].given->id;
    return ids;
}
