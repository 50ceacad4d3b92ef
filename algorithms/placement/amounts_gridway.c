/* placement/amounts_gridway.c - one round of GridWay's scheduler where amounts count.
 *
 * Jobs in order, each on the best-ranked of the resources on which all that it needs is
 * free at this moment, for as long as it holds it; within the limits of gridway.c. What
 * runs counts for them, by the rows of the snapshot and the users of the request. A job
 * without a run time is taken to run for ever. Jobs that wait for others start in the
 * same round only behind a predecessor of kind `start`.
 *
 * Jobs on several nodes go where they complete first, as no rank is one of a set of
 * resources. Gangs and packs have their turn at their first member (amounts_units.c).
 *
 * Source: world-model.md 4.3, 7.1; 004_f687c06842f61aec.txt sections 3 and 6, figure 3.
 * Cost: one question to a board for each resource and job, but for jobs that are no
 * smaller than one that found nothing.
 */
#include "algorithms/placement/amounts_gridway.h"

#include "algorithms/placement/amounts_files.h"
#include "algorithms/placement/amounts_round.h"
#include "algorithms/placement/priority.h"
#include "algorithms/world/board_parts.h"
#include "algorithms/world/queue.h"

#include <string.h>

/* ---- what there is ---- */

static bool is_timeless(const struct world_job *j)
{
    return !j->etc_s && isnan(j->estimate_ref_s) && isnan(j->estimate_s);
}

/* The world in which jobs without a run time run for ever. */
static void make_endless(struct amounts_round *r, struct arena *a)
{
    struct world_job *jobs = NEW(a, struct world_job, r->m->w->job_count);

    r->w = NEW(a, struct world, 1);
    *r->w = *r->m->w;
    memcpy(jobs, r->w->jobs, r->w->job_count * sizeof(*jobs));
    for (size_t j = 0; j < r->w->job_count; j++)
        if (is_timeless(&jobs[j]))
            jobs[j].estimate_s = WORLD_LONGEST_S;
    r->w->jobs = jobs;
    budget_step(r->w->budget, r->w->job_count);
}

static void count_user(struct amounts_round *r, const char *user, double *listed)
{
    size_t number = user ? name_index_find(&r->p->user_numbers, user) : 0;

    if (number == NAME_NOT_FOUND)
        return;
    listed[number]++;
    r->running[number] = fmax(r->running[number], listed[number]);
}

/* A job on several nodes is one of its user's, and one on each of them. */
static void count_running(struct amounts_round *r, struct arena *a)
{
    const struct placement_in *in = r->p->in;
    const struct snapshot *s = in->snapshot;
    double *listed = NEW(a, double, r->p->user_count);
    struct name_index seen;
    size_t rows = s->running_count;

    for (size_t i = 0; i < s->resource_count; i++)
        rows += s->resources[i].running_count;
    name_index_create(&seen, rows, a);
    for (size_t i = 0; i < in->user_count; i++) {
        size_t user = name_index_find(&r->p->user_numbers, in->users[i].user);

        if (user != NAME_NOT_FOUND)
            r->running[user] = in->users[i].running_jobs;
    }
    for (size_t i = 0; i < s->resource_count; i++) {
        budget_step(r->w->budget, s->resources[i].running_count + 1);
        for (size_t k = 0; k < s->resources[i].running_count; k++)
            if (name_index_add(&seen, s->resources[i].running[k].id, 0) == NAME_NOT_FOUND)
                count_user(r, s->resources[i].running[k].user, listed);
    }
    for (size_t k = 0; k < s->running_count; k++)
        if (name_index_add(&seen, s->running[k].id, 0) == NAME_NOT_FOUND)
            count_user(r, s->running[k].user, listed);
    for (size_t h = 0; h < r->w->holder_count; h++) {
        budget_step(r->w->budget, r->w->holders[h].position_count + 1);
        r->falls_later = r->falls_later || r->w->holders[h].start_s > 0;
        for (size_t k = 0; k < r->w->holders[h].position_count; k++)
            r->running_on[r->w->holders[h].positions[k]] +=
                r->w->holders[h].kind == HOLDER_RUNNING;
    }
}

static void create(struct amounts_round *r, struct amounts_maker *m)
{
    struct arena *a = m->arena;

    *r = (struct amounts_round){.m = m, .p = m->p, .limits = round_limits_of(m->p)};
    make_endless(r, a);
    r->b = board_create(r->w, amounts_board_files(m->p), a);
    r->plan = board_plan(r->b);
    r->dispatched = NEW(a, double, r->w->resource_count);
    r->running_on = NEW(a, double, r->w->resource_count);
    r->running = NEW(a, double, m->p->user_count);
    r->pos = NEW(a, size_t, r->w->resource_count);
    r->choice = NEW(a, size_t, r->w->resource_count);
    r->rank = NEW(a, double, r->w->resource_count);
    r->priority = NEW(a, double, r->w->resource_count);
    r->behind = r->w->resource_count;
    r->place = NEW(a, size_t, r->w->job_count);
    r->units = NEW(a, struct round_unit, r->w->group_count);
    r->by_priority = (int)m->p->common[COMMON_RESOURCE_ORDER] == ORDER_PRIORITY;
    count_running(r, a);
}

/* ---- may it go there? ---- */

static bool limits_allow(const struct amounts_round *r, size_t pos)
{
    const struct round_limits *l = &r->limits;

    if (l->per_resource > 0 && r->dispatched[pos] >= l->per_resource)
        return false;
    return l->running_per_resource <= 0 ||
           r->running_on[pos] + r->dispatched[pos] < l->running_per_resource;
}

/* What expressions may ask about the resource as the round has filled it. */
static struct select_state state_of(const struct amounts_round *r, size_t job, size_t pos,
                                    bool fits)
{
    struct select_state state = select_state_now(r->p, job, pos);
    double run_s = world_run_s(r->m->w, &r->m->w->jobs[job], pos);

    state.slots_free = fmax(0, state.slots_free - r->dispatched[pos]);
    state.queue_wait_s = fits ? 0 : fmax(0, state.queue_wait_s);
    if (fits && r->p->jobs[job].file_count)
        state.transfer_s = r->stage_in_s;
    state.runs = true; /* its run time is that of the world */
    state.execution_s = run_s;
    return state;
}

/* The requirement once more, if the plan changes it. */
static bool still_suits(const struct amounts_round *r, size_t job, size_t pos)
{
    const struct expr *e = select_requirement(r->p, job);
    struct select_state state;

    if (!e || !e->on_plan)
        return true;
    state = state_of(r, job, pos, true);
    return expr_requirement(e, select_values(r->p, e, job, pos, &state)) == EXPR_TRUE;
}

static double rank_of(const struct amounts_round *r, size_t job, size_t pos, bool fits)
{
    struct select_state state = state_of(r, job, pos, fits);

    return select_rank(r->p, job, pos, &state);
}

static bool starts_there(struct amounts_round *r, size_t job, size_t choice, size_t pos,
                         struct board_spot *spot)
{
    if (!limits_allow(r, pos))
        return false;
    *spot = board_fit(r->b, job, choice, pos, 0, 0);
    r->stage_in_s = spot->stage_in_s;
    return spot->positions && spot->start_s <= 0 && still_suits(r, job, pos);
}

/* ---- one job ---- */

static struct board_spot best_ranked(struct amounts_round *r, size_t job, double *rank)
{
    const struct world_job *j = &r->w->jobs[job];
    struct board_spot best = board_nowhere(), spot;
    size_t best_pos = NO_INDEX;

    for (size_t c = 0; c < j->choice_count; c++)
        for (size_t pos = r->first; pos < r->behind; pos++) {
            double value;

            if (!world_mask_has(j->choices[c].mask, pos) ||
                !starts_there(r, job, c, pos, &spot))
                continue;
            budget_step(r->w->budget, 16);
            value = rank_of(r, job, pos, true);
            if (!round_ranks_before(r->p, pos, value, best_pos, *rank))
                continue;
            best = spot;
            best_pos = pos;
            *rank = value;
        }
    return best;
}

/* The first choice with the resource, or of those with limits the first that lets the job
 * start there; choice_count: none. */
static size_t choice_at(struct amounts_round *r, size_t job, size_t pos)
{
    const struct world_job *j = &r->w->jobs[job];
    size_t first = j->choice_count;

    for (size_t c = 0; c < j->choice_count; c++) {
        if (!world_mask_has(j->choices[c].mask, pos))
            continue;
        if (j->choices[c].limit_count == 0 ||
            board_fit(r->b, job, c, pos, 0, 0).positions)
            return c;
        if (first == j->choice_count)
            first = c;
    }
    return first;
}

/* Resources of the job's choices, each once, with what their rank is. */
static size_t list_candidates(struct amounts_round *r, size_t job)
{
    const struct world_job *j = &r->w->jobs[job];
    size_t count = 0;

    for (size_t pos = 0; pos < r->w->resource_count; pos++) {
        size_t choice = choice_at(r, job, pos);

        budget_step(r->w->budget, 16);
        if (choice == j->choice_count || !world_large_enough(r->w, j, pos))
            continue;
        r->pos[count] = pos;
        r->choice[count] = choice;
        r->rank[count++] = rank_of(r, job, pos, false);
    }
    return count;
}

/* By resource priority, whose terms are relative to all candidates, busy ones too. */
static struct board_spot best_by_priority(struct amounts_round *r, size_t job,
                                          double *rank)
{
    size_t count = list_candidates(r, job), best_at = NO_INDEX;
    struct board_spot best = board_nowhere(), spot;

    priority_resources(r->p, job, r->pos, r->rank, count, r->priority);
    for (size_t i = 0; i < count; i++) {
        if (r->pos[i] < r->first || r->pos[i] >= r->behind)
            continue;
        if (best_at != NO_INDEX &&
            !round_ranks_before(r->p, r->pos[i], r->priority[i], r->pos[best_at],
                                r->priority[best_at]))
            continue;
        if (!starts_there(r, job, r->choice[i], r->pos[i], &spot))
            continue;
        best = spot;
        best_at = i;
        *rank = r->rank[i];
    }
    return best;
}

/* Where it starts now; a job on several nodes only if the limits allow it on each. */
static struct board_spot find_spot(struct amounts_round *r, size_t job, double *rank)
{
    struct board_spot spot;

    *rank = (double)NAN;
    if (r->w->jobs[job].nodes == 1)
        return r->by_priority ? best_by_priority(r, job, rank)
                              : best_ranked(r, job, rank);
    spot = queue_fit_at(r->b, job, 0);
    for (size_t k = 0; spot.positions && k < spot.position_count; k++)
        if (!limits_allow(r, spot.positions[k]))
            return board_nowhere();
    return spot;
}

/* ---- larger jobs find no more than the one before them ---- */

static bool same_time(double a, double b)
{
    return isnan(a) ? isnan(b) : a >= b && a <= b;
}

static bool same_times(const struct world_job *x, const struct world_job *y)
{
    return same_time(x->estimate_ref_s, y->estimate_ref_s) &&
           same_time(x->estimate_s, y->estimate_s) &&
           same_time(x->time_limit_s, y->time_limit_s);
}

/* Jobs of no length need nothing free. */
static bool may_take_no_time(const struct world_job *j)
{
    return j->estimate_ref_s <= 0 || j->estimate_s <= 0;
}

/* Where `a` fits now, `b` does: how long they hold counts only where something that is
 * free now is taken later. */
static bool is_no_smaller(const struct amounts_round *r, size_t a, size_t b)
{
    const struct world_job *x = &r->w->jobs[a], *y = &r->w->jobs[b];

    if (x->nodes < y->nodes || x->row != y->row || x->choice_count != y->choice_count)
        return false;
    if (x->needs == y->needs && same_times(x, y))
        return true;
    if (r->falls_later || x->row || may_take_no_time(x) ||
        isnan(x->estimate_ref_s) != isnan(y->estimate_ref_s))
        return false;
    for (size_t k = 0; k < r->w->amount_count; k++)
        if (x->needs[k] < y->needs[k])
            return false;
    return true;
}

static bool has_same_choices(const struct world_job *x, const struct world_job *y)
{
    for (size_t c = 0; c < x->choice_count; c++)
        if (x->choices[c].mask != y->choices[c].mask ||
            !world_same_limits(&x->choices[c], &y->choices[c]))
            return false;
    return true;
}

static bool can_be_noted(const struct amounts_round *r, size_t job)
{
    const struct expr *e = select_requirement(r->p, job);

    return r->p->jobs[job].file_count == 0 && r->w->jobs[job].group == WORLD_NONE &&
           !(e && e->on_plan);
}

static bool has_failed_before(const struct amounts_round *r, size_t job)
{
    if (!can_be_noted(r, job))
        return false;
    for (size_t i = 0; i < r->failed_count; i++) {
        const struct world_job *other = &r->w->jobs[r->failed[i]];

        budget_step(r->w->budget, 1);
        if (is_no_smaller(r, job, r->failed[i]) &&
            has_same_choices(&r->w->jobs[job], other))
            return true;
    }
    return false;
}

static void note_failed(struct amounts_round *r, size_t job)
{
    if (r->failed_count < ROUND_FAILED_MAX && can_be_noted(r, job))
        r->failed[r->failed_count++] = job;
}

/* ---- the round ---- */

/* What it waits for of this request; on the board, WORLD_NONE: nothing. */
static size_t missing_of(const struct amounts_round *r, size_t job)
{
    const struct world_job *j = &r->w->jobs[job];

    budget_step(r->w->budget, j->after_count);
    for (size_t k = 0; k < j->after_count; k++)
        if (!r->plan->placed[j->after[k].job].positions)
            return j->after[k].job;
    return WORLD_NONE;
}

enum world_wait round_held_up(const struct amounts_round *r, size_t job, size_t *wait_on)
{
    const struct world_job *j = &r->w->jobs[job];
    size_t user = r->p->jobs[job].user;

    *wait_on = WORLD_NONE;
    if (j->barred != WORLD_WAIT_NONE)
        return j->barred;
    if (j->choice_count == 0)
        return WORLD_WAIT_FILTERED;
    if (r->limits.chunk > 0 && (double)r->started >= r->limits.chunk)
        return WORLD_WAIT_ROUND_FULL;
    if (r->limits.running_per_user > 0 && r->running[user] >= r->limits.running_per_user)
        return WORLD_WAIT_USER_LIMIT;
    *wait_on = missing_of(r, job);
    if (*wait_on != WORLD_NONE)
        return WORLD_WAIT_AFTER_UNPLACED;
    return board_release_s(r->b, job) > 0 ? WORLD_WAIT_NOT_RELEASED : WORLD_WAIT_NONE;
}

void round_start(struct amounts_round *r, size_t job, const struct board_spot *spot,
                 double rank)
{
    board_take(r->b, job, spot);
    for (size_t k = 0; k < spot->position_count; k++)
        r->dispatched[spot->positions[k]]++;
    r->running[r->p->jobs[job].user]++;
    r->started++;
    r->m->best.ranks[job] = rank;
}

void round_stop(struct amounts_round *r, size_t job)
{
    const struct world_placed *x = &r->plan->placed[job];

    for (size_t k = 0; k < x->position_count; k++)
        r->dispatched[x->positions[k]]--;
    r->running[r->p->jobs[job].user]--;
    r->started--;
    r->m->best.ranks[job] = (double)NAN;
    board_give(r->b, job);
}

/* Where the plan of hold_back starts it now. */
static enum world_wait planned_spot(struct amounts_round *r, size_t job,
                                    struct board_spot *spot, double *rank)
{
    const struct world_placed *x = &r->planned->placed[job];

    *rank = (double)NAN;
    *spot = board_nowhere();
    if (!x->positions)
        return x->wait == WORLD_WAIT_NONE ? WORLD_WAIT_NO_FREE_NOW : x->wait;
    if (x->start_s > 0)
        return WORLD_WAIT_BETTER_SOON;
    for (size_t k = 0; k < x->position_count; k++)
        if (!limits_allow(r, x->positions[k]))
            return WORLD_WAIT_NO_FREE_NOW;
    *spot = board_spot_of(x);
    if (r->p->jobs[job].file_count) { /* of those that start, too, files are there */
        *spot = board_fit(r->b, job, x->choice, x->positions[0], 0, 0);
        if (!spot->positions)
            return WORLD_WAIT_NO_FREE_NOW;
        r->stage_in_s = spot->stage_in_s;
    }
    if (x->position_count == 1)
        *rank = rank_of(r, job, x->positions[0], true);
    return WORLD_WAIT_NONE;
}

/* There is room for it, but for the members of its group that are there. */
static bool is_spread_out(struct amounts_round *r, size_t job)
{
    size_t group = r->w->jobs[job].group;
    struct board_groups *groups = r->b->groups;
    struct board_spot spot;
    double rank;

    if (group == WORLD_NONE || (r->w->groups[group].policy != GROUP_SPREAD &&
                                r->w->groups[group].policy != GROUP_EXCLUDE))
        return false;
    r->b->groups = NULL;
    spot = find_spot(r, job, &rank);
    r->b->groups = groups;
    return spot.positions != NULL;
}

/* There is room for it, but for what its user has in the partition. */
static bool is_limited(struct amounts_round *r, size_t job)
{
    struct board_pool *limits = r->b->limits;
    struct board_spot spot;
    double rank;

    if (!limits || !world_is_limited(&r->w->jobs[job]))
        return false;
    r->b->limits = NULL;
    spot = find_spot(r, job, &rank);
    r->b->limits = limits;
    return spot.positions != NULL;
}

enum world_wait round_find_spot(struct amounts_round *r, size_t job,
                                struct board_spot *spot, double *rank)
{
    if (r->planned)
        return planned_spot(r, job, spot, rank);
    *rank = (double)NAN;
    *spot = board_nowhere();
    if (has_failed_before(r, job))
        return WORLD_WAIT_NO_FREE_NOW;
    *spot = find_spot(r, job, rank);
    if (spot->positions)
        return WORLD_WAIT_NONE;
    if (is_limited(r, job))
        return WORLD_WAIT_USER_LIMIT;
    if (is_spread_out(r, job))
        return WORLD_WAIT_GROUP_SPREAD;
    note_failed(r, job);
    return WORLD_WAIT_NO_FREE_NOW;
}

/* Starts the job or says why not; false: it may start later in the same round. */
static bool turn(struct amounts_round *r, size_t job)
{
    struct board_spot spot;
    double rank;
    size_t wait_on;
    enum world_wait wait;

    if (round_is_unit(r, job))
        return round_unit_turn(r, job);
    wait = round_held_up(r, job, &wait_on);
    if (wait == WORLD_WAIT_NONE)
        wait = round_find_spot(r, job, &spot, &rank);
    if (wait == WORLD_WAIT_NONE)
        round_start(r, job, &spot, rank);
    else
        board_refuse(r->b, job, wait, wait_on);
    return wait != WORLD_WAIT_AFTER_UNPLACED;
}

/* All jobs in order; those whose predecessors started behind them once more, as long as
 * that starts somebody. False: the time was up. */
static bool play(struct amounts_round *r, const size_t *order)
{
    size_t count = problem_pending(r->p), kept;
    size_t *left = NEW(r->m->arena, size_t, count), before;

    memcpy(left, order, count * sizeof(*left));
    for (size_t i = 0; i < count; i++)
        r->place[order[i]] = i;
    do {
        before = r->started;
        r->pass++;
        kept = 0;
        for (size_t i = 0; i < count; i++) {
            if (budget_step(r->w->budget, 8)) {
                for (; i < count; i++)
                    board_refuse(r->b, left[i], WORLD_WAIT_OUT_OF_TIME, WORLD_NONE);
                return false;
            }
            if (!turn(r, left[i]))
                left[kept++] = left[i];
        }
        count = kept;
    } while (kept && r->started > before);
    return true;
}

/* Ends that nobody knows are said so. */
static void open_ends(const struct amounts_round *r, struct world_plan *plan)
{
    for (size_t j = 0; j < r->w->job_count; j++) {
        struct world_placed *x = &plan->placed[j];

        if (!x->positions || !is_timeless(&r->m->w->jobs[j]))
            continue;
        x->run_s = x->done_s = HUGE_VAL;
        x->end_s = world_held_s(r->w, &r->m->w->jobs[j], HUGE_VAL);
    }
}

/* All jobs by least completion; those that start then start now. */
static void plan_ahead(struct amounts_round *r, const size_t *order)
{
    struct board *own = r->b;

    r->b = board_create(r->w, amounts_board_files(r->p), r->m->arena);
    world_list(r->b, WORLD_MCT, order, 1);
    r->planned = board_plan(r->b);
    r->b = own;
}

void amounts_gridway(struct amounts_maker *m, bool holds_back)
{
    struct amounts_round r;
    const size_t *order;
    struct world_plan *plan;
    bool in_time;

    m->best.ranks = NEW(m->arena, double, m->w->job_count);
    for (size_t j = 0; j < m->w->job_count; j++)
        m->best.ranks[j] = (double)NAN;
    create(&r, m);
    order = round_order(m->p, m->arena);
    if (holds_back)
        plan_ahead(&r, order);
    in_time = play(&r, order);
    plan = board_plan(r.b);
    plan->cut = plan->cut || !in_time;
    open_ends(&r, plan);
    m->best.plan = plan;
    world_worth(m->w, &m->goal, plan, &m->best.worth, m->arena);
    m->best.algorithm = m->best.name = m->call->policy->name;
}
