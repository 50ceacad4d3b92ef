/* placement/gridway.c - starts jobs now, each on its best-ranked free slot.
 *
 * One round of GridWay's scheduler: jobs in order, each on the first resource of its
 * list (falling rank, or the resource priority of spec 4.2) that has a free slot, within
 * the limits. No job is planned for later. Undefined ranks come last; ties go to the
 * lowest resource index. Ranks that depend on the plan see it as it fills.
 *
 * Limits gridway5_flood are those of GridWay 5's older scheduler: users take turns, five
 * jobs each. Deviation: a job that finds no slot counts among the five.
 *
 * hold_back: a free slot is not always worth taking, at the end of a sweep a busy fast
 * host would finish sooner. All jobs are planned by least completion time, busy slots
 * included, and only those that would start now are started.
 *
 * Source: 004_f687c06842f61aec.txt sections 3 and 6, figure 3; spec gridway.md 3.
 * Cost: one rank a job and resource with a free slot. For the usual rank (turnaround of a
 * job with an estimate and without files) as far as the first free one of the fastest
 * resources, and jobs with the same needs go on where the one before ended: O(n + m) for
 * equal jobs. hold_back: mct.
 * Deviation: a job without an estimate may be placed; its end is not known.
 */
#include "algorithms/placement/gridway_round.h"
#include "algorithms/placement/priority.h"

enum { HOLD_BACK };

const struct param placement_gridway_params[] = {
    [HOLD_BACK] = {"hold_back", 0, 1, 0,
                   "Leave a job pending if a busy resource would end it sooner",
                   PARAM_BOOLEAN, NULL},
    {0},
};

/* As the request says, else as GridWay's schedulers have it. */
static double limit(const struct placement_problem *p, enum common_option option,
                    double gridway5, double flood)
{
    const double presets[] = {
        [LIMITS_NONE] = 0, [LIMITS_GRIDWAY5] = gridway5, [LIMITS_FLOOD] = flood};
    double given = p->common[option];

    return isnan(given) ? presets[(int)p->common[COMMON_LIMITS]] : given;
}

struct round_limits round_limits_of(const struct placement_problem *p)
{
    return (struct round_limits){
        .chunk = limit(p, COMMON_DISPATCH_CHUNK, 15, 15),
        .per_resource = limit(p, COMMON_PER_RESOURCE, 5, 0),
        .running_per_resource = limit(p, COMMON_RUNNING_PER_RESOURCE, 0, 10),
        .running_per_user = limit(p, COMMON_RUNNING_PER_USER, 30, 30),
    };
}

enum { TURN_JOBS = 5 };

/* The first jobs of each user, users by their first job, then their next jobs, and so
 * on. */
static const size_t *take_turns(const struct placement_problem *p, struct arena *a)
{
    size_t *order = NEW(a, size_t, p->job_count);
    size_t *next = NEW(a, size_t, p->job_count); /* job of the same user, by job */
    size_t *head = NEW(a, size_t, p->user_count), *tail = NEW(a, size_t, p->user_count);
    size_t *users = NEW(a, size_t, p->user_count);
    size_t user_count = 0, filled = 0, pending = problem_pending(p);

    for (size_t i = 0; i < p->user_count; i++)
        head[i] = NO_INDEX;
    for (size_t i = 0; i < pending; i++) {
        size_t job = p->order[i], user = p->jobs[job].user;

        next[job] = NO_INDEX;
        if (head[user] == NO_INDEX) {
            users[user_count++] = user;
            head[user] = job;
        } else {
            next[tail[user]] = job;
        }
        tail[user] = job;
    }
    while (filled < pending) {
        size_t left = 0;

        for (size_t i = 0; i < user_count; i++) {
            size_t *job = &head[users[i]];

            for (size_t k = 0; k < TURN_JOBS && *job != NO_INDEX; k++) {
                order[filled++] = *job;
                *job = next[*job];
            }
            if (*job != NO_INDEX)
                users[left++] = users[i];
        }
        user_count = left;
    }
    return order;
}

const size_t *round_order(const struct placement_problem *p, struct arena *a)
{
    return (int)p->common[COMMON_LIMITS] == LIMITS_FLOOD ? take_turns(p, a) : p->order;
}

/* A user's running jobs: as the request says, at least those that it lists. */
static void count_running(struct round *r)
{
    const struct placement_problem *p = r->plan->problem;
    double *listed = NEW(r->plan->arena, double, p->user_count);

    for (size_t i = 0; i < p->in->user_count; i++) {
        size_t user = name_index_find(&p->user_numbers, p->in->users[i].user);

        if (user != NAME_NOT_FOUND)
            r->running[user] = p->in->users[i].running_jobs;
    }
    for (size_t i = problem_pending(p); i < p->job_count; i++) {
        size_t user = p->jobs[i].user;

        r->running[user] = fmax(r->running[user], ++listed[user]);
    }
}

/* Notes whether the resource can take another job in this round: once it cannot, it
 * never can. */
static void note_open(struct round *r, size_t pos)
{
    if (r->plan->earliest_s[pos] > 0 || !round_allows(r, pos))
        r->open[pos / BLOCK] &= ~(UINT64_C(1) << (pos % BLOCK));
}

/* What the search for a slot goes by. */
static void open_round(struct round *r)
{
    const struct placement_problem *p = r->plan->problem;
    struct arena *a = r->plan->arena;

    r->open = NEW(a, uint64_t, p->block_count);
    r->from = NEW(a, size_t, p->stream_count);
    r->slower = NEW(a, size_t, p->resource_count);
    for (size_t pos = p->resource_count; pos-- > 0;) {
        bool last = pos + 1 == p->resource_count;

        r->open[pos / BLOCK] |= UINT64_C(1) << (pos % BLOCK);
        note_open(r, pos);
        r->slower[pos] = last || p->speed_mips[pos + 1] < p->speed_mips[pos]
                             ? pos + 1
                             : r->slower[pos + 1];
    }
}

static void start_round(struct round *r, struct placement_plan *plan)
{
    const struct placement_problem *p = plan->problem;

    *r = (struct round){
        .plan = plan,
        .order = round_order(p, plan->arena),
        .limits = round_limits_of(p),
        .dispatched = NEW(plan->arena, double, p->resource_count),
        .running = NEW(plan->arena, double, p->user_count),
        .pos = NEW(plan->arena, size_t, p->resource_count),
        .rank = NEW(plan->arena, double, p->resource_count),
        .priority = NEW(plan->arena, double, p->resource_count),
    };
    count_running(r);
    plan->hold_slots = true;
    plan_reset(plan);
    for (size_t pos = 0; pos < p->resource_count; pos++)
        r->free_count += plan->earliest_s[pos] <= 0;
    open_round(r);
}

bool round_allows(const struct round *r, size_t pos)
{
    const struct resource *given = r->plan->problem->resources[pos].given;

    if (r->limits.per_resource > 0 && r->dispatched[pos] >= r->limits.per_resource)
        return false;
    return r->limits.running_per_resource <= 0 ||
           given->job_count + r->dispatched[pos] < r->limits.running_per_resource;
}

/* A slot is free now, and the limits allow one more job there. */
static bool has_slot(const struct round *r, size_t job, size_t pos)
{
    if (r->plan->earliest_s[pos] > 0)
        return false;
    if (r->plan->problem->resources[pos].capacity &&
        plan_fit(r->plan, job, pos).start_s > 0)
        return false;
    return round_allows(r, pos);
}

struct select_state round_state(const struct round *r, size_t job, size_t pos)
{
    const struct placement_problem *p = r->plan->problem;
    struct select_state state = select_state_now(p, job, pos);

    state.slots_free = fmax(0, state.slots_free - r->dispatched[pos]);
    if (r->plan->earliest_s[pos] <= 0)
        state.queue_wait_s = 0;
    else if (r->dispatched[pos] > 0) /* after a job whose end is not looked at */
        state.queue_wait_s = HUGE_VAL;
    if (p->jobs[job].file_count) {
        struct plan_fit fit = plan_fit(r->plan, job, pos);

        state.transfer_s = fit.staged_s - fit.start_s;
    }
    return state;
}

/* The filters of the problem, and the requirement once more if the plan changes it. */
static bool suits(const struct round *r, size_t job, size_t pos)
{
    const struct placement_problem *p = r->plan->problem;
    const struct expr *e = select_requirement(p, job);
    struct select_state state;

    if (problem_need_filter(p, &p->jobs[job], pos, false) != FILTER_PASSED)
        return false;
    if (!e || !e->on_plan)
        return true;
    state = round_state(r, job, pos);
    return expr_requirement(e, select_values(p, e, job, pos, &state)) == EXPR_TRUE;
}

static double rank_of(const struct round *r, size_t job, size_t pos)
{
    struct select_state state = round_state(r, job, pos);

    return select_rank(r->plan->problem, job, pos, &state);
}

bool round_ranks_before(const struct placement_problem *p, size_t pos, double rank,
                        size_t best_pos, double best)
{
    const struct problem_resource *resources = p->resources;

    if (best_pos == NO_INDEX)
        return true;
    if (isnan(rank) != isnan(best))
        return isnan(best);
    if (!isnan(rank) && rank != best)
        return rank > best;
    return resources[pos].index < resources[best_pos].index;
}

/* Is the rank minus the run time alone, so that the fastest resource is the best? */
static bool fastest_is_best(const struct placement_problem *p, size_t job)
{
    const struct problem_job *j = &p->jobs[job];
    const struct expr *e = select_requirement(p, job);

    return !p->has_matrix && j->estimate_ref_s > 0 && !j->given->rank && !j->file_count &&
           !p->has_outputs && !(e && e->on_plan);
}

/* The first position from `pos` on that takes the job now; resource_count: none. */
static size_t next_taker(struct round *r, size_t job, size_t pos)
{
    const struct placement_problem *p = r->plan->problem;
    const struct problem_class *c = &p->classes[p->jobs[job].job_class];

    for (size_t b = pos / BLOCK; b < p->block_count; b++) {
        uint64_t left = c->mask[b] & r->open[b];

        if (b == pos / BLOCK)
            left &= ~UINT64_C(0) << (pos % BLOCK);
        r->plan->work++;
        for (; left; left &= left - 1) {
            size_t at = b * BLOCK + (size_t)__builtin_ctzll(left);

            r->plan->work++;
            if (has_slot(r, job, at) && suits(r, job, at))
                return at;
        }
    }
    return p->resource_count;
}

/* Where the fastest resource is the best one. Among equally fast ones the first position
 * has the lowest index; slower ones matter only if rounding makes their rank equal. */
static size_t first_ranked(struct round *r, size_t job, double *rank)
{
    const struct placement_problem *p = r->plan->problem;
    const struct problem_job *j = &p->jobs[job];
    size_t *from = &r->from[j->stream], pos, best;

    best = *from = next_taker(r, job, *from);
    if (best == p->resource_count)
        return NO_INDEX;
    *rank = rank_of(r, job, best);
    for (pos = r->slower[best]; pos < p->resource_count; pos = r->slower[pos]) {
        double value;

        if (problem_execution_s(p, j, pos) > problem_execution_s(p, j, best))
            break;
        pos = next_taker(r, job, pos);
        if (pos == p->resource_count)
            break;
        value = rank_of(r, job, pos);
        if (round_ranks_before(r->plan->problem, pos, value, best, *rank)) {
            best = pos;
            *rank = value;
        }
    }
    return best;
}

static size_t best_ranked(struct round *r, size_t job, double *rank)
{
    const struct placement_problem *p = r->plan->problem;
    size_t best = NO_INDEX;

    *rank = NAN;
    if (fastest_is_best(p, job))
        return first_ranked(r, job, rank);
    for (size_t pos = next_taker(r, job, 0); pos < p->resource_count;
         pos = next_taker(r, job, pos + 1)) {
        double value = rank_of(r, job, pos);

        r->plan->work += 16;
        if (round_ranks_before(r->plan->problem, pos, value, best, *rank)) {
            best = pos;
            *rank = value;
        }
    }
    return best;
}

/* As best_ranked, by resource priority; the terms are relative to all candidates,
 * busy ones included. */
static size_t best_by_priority(struct round *r, size_t job, double *rank)
{
    const struct placement_problem *p = r->plan->problem;
    const struct problem_class *c = &p->classes[p->jobs[job].job_class];
    size_t count = 0, best = NO_INDEX, best_pos = NO_INDEX;

    for (size_t pos = 0; pos < p->resource_count; pos++) {
        if (!problem_class_has(c, pos) || !suits(r, job, pos))
            continue;
        r->pos[count] = pos;
        r->rank[count++] = rank_of(r, job, pos);
    }
    r->plan->work += 32 * count + p->resource_count;
    priority_resources(p, job, r->pos, r->rank, count, r->priority);
    for (size_t i = 0; i < count; i++) {
        if (!has_slot(r, job, r->pos[i]) ||
            (best != NO_INDEX &&
             !round_ranks_before(r->plan->problem, r->pos[i], r->priority[i], best_pos,
                                 r->priority[best])))
            continue;
        best = i;
        best_pos = r->pos[i];
    }
    if (best != NO_INDEX)
        *rank = r->rank[best];
    return best_pos;
}

static enum error_code dispatch(struct round *r, size_t job, size_t pos, double rank,
                                struct error *err)
{
    TRY(plan_place(r->plan, job, pos, err));
    r->plan->entries[job].rank = rank;
    r->dispatched[pos]++;
    r->running[r->plan->problem->jobs[job].user]++;
    r->free_count -= r->plan->earliest_s[pos] > 0;
    note_open(r, pos);
    return OK;
}

/* What keeps the job from being looked at in this round. */
static enum plan_wait held_up(const struct round *r, size_t job)
{
    const struct problem_job *j = &r->plan->problem->jobs[job];

    if (r->limits.chunk > 0 && (double)r->plan->placed_count >= r->limits.chunk)
        return WAIT_ROUND_FULL;
    if (r->limits.running_per_user > 0 &&
        r->running[j->user] >= r->limits.running_per_user)
        return WAIT_USER_LIMIT;
    if (j->release_s > 0)
        return WAIT_NOT_RELEASED;
    return r->free_count == 0 ? WAIT_NO_FREE_SLOT : WAIT_NONE;
}

/* Figure 3 as it stands. */
static enum error_code place_greedily(struct round *r, struct error *err)
{
    const struct placement_problem *p = r->plan->problem;
    bool by_priority = (int)p->common[COMMON_RESOURCE_ORDER] == ORDER_PRIORITY;

    for (size_t i = 0; i < problem_pending(p); i++) {
        size_t job = r->order[i], pos;
        double rank = NAN;

        r->plan->entries[job].wait =
            plan_spent(r->plan) ? WAIT_OUT_OF_TIME : held_up(r, job);
        if (r->plan->entries[job].wait != WAIT_NONE)
            continue;
        pos = by_priority ? best_by_priority(r, job, &rank) : best_ranked(r, job, &rank);
        if (pos == NO_INDEX)
            r->plan->entries[job].wait = WAIT_NO_FREE_SLOT;
        else
            TRY(dispatch(r, job, pos, rank, err));
    }
    return OK;
}

/* Starts the jobs that `planned` starts now. */
static enum error_code place_planned(struct round *r, const struct plan_copy *planned,
                                     struct error *err)
{
    const struct placement_problem *p = r->plan->problem;

    for (size_t i = 0; i < problem_pending(p); i++) {
        size_t job = r->order[i];
        const struct plan_entry *e = &planned->entries[job];
        enum plan_wait *wait = &r->plan->entries[job].wait;

        *wait = held_up(r, job);
        if (*wait != WAIT_NONE)
            continue;
        if (e->pos == NO_INDEX)
            *wait = e->wait;
        else if (e->start_s > 0)
            *wait = WAIT_BETTER_SOON;
        else if (!has_slot(r, job, e->pos))
            *wait = WAIT_NO_FREE_SLOT;
        else
            TRY(dispatch(r, job, e->pos, rank_of(r, job, e->pos), err));
    }
    return OK;
}

enum error_code round_pending(struct round *r, struct placement_plan *plan,
                              const double *param, struct error *err)
{
    struct plan_copy planned;

    if (param[HOLD_BACK] == 0) {
        start_round(r, plan);
        return place_greedily(r, err);
    }
    plan_copy_create(plan, &planned);
    TRY(plan_rest(plan, err));
    plan_save(plan, &planned);
    start_round(r, plan);
    return place_planned(r, &planned, err);
}

enum error_code placement_gridway(const struct placement_problem *problem,
                                  const double *param, struct placement_plan *plan,
                                  struct arena *a, struct error *err)
{
    struct round round;

    (void)problem;
    (void)a;
    return round_pending(&round, plan, param, err);
}
