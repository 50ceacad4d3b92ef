/* migration/gridway_candidates.c - where a running job may go.
 *
 * The resources that suit the job, without its own and, for some events, without those in
 * its history; of these the ones with a slot, by falling rank (or resource priority). A
 * slot that is free after max_queue_wait_s at most counts as well.
 *
 * Where amounts count (gridway_world.h) a resource has room if all that the job needs is
 * free there for as long as it will hold it. A job on several nodes has one candidate:
 * the nodes on which it completes first.
 *
 * Source: spec gridway.md 3, 3.1, 3.2; world-model.md 4.2.
 * Cost: m / 64 words a job, and a rank for each resource with a slot; with
 * resource_order gridway_priority a rank for each that suits.
 */
#include "algorithms/migration/gridway_world.h"
#include "algorithms/migration/gridway_worth.h"
#include "algorithms/placement/amounts.h"
#include "algorithms/placement/pair_map.h"
#include "algorithms/placement/priority.h"
#include "models/base/order.h"

#include <stdlib.h>
#include <string.h>

#define BIT(pos) (UINT64_C(1) << ((pos) % BLOCK))

static const struct problem_job *job_of(const struct gridway_run *run,
                                        const struct gridway_case *c)
{
    return &run->problem->jobs[c->job];
}

static void drop(struct gridway_run *run, enum gridway_dropped why, size_t count)
{
    run->dropped[FILTER_COUNT + why] += count;
}

/* ---- slots ---- */

/* The next busy slot there that no job waits for; HUGE_VAL: none. */
static double busy_slot_s(const struct gridway_run *run, size_t pos)
{
    const struct problem_resource *r = &run->problem->resources[pos];
    struct gridway_waits *w = &run->waits[pos];

    if (run->param[GRIDWAY_MAX_WAIT] <= 0 || r->capacity || w->taken >= r->busy_count)
        return HUGE_VAL;
    if (!w->free_s) {
        w->free_s = NEW(run->arena, double, r->busy_count);
        for (size_t k = 0; k < r->busy_count; k++)
            w->free_s[k] = r->busy[k].free_s;
        sort_numbers(w->free_s, r->busy_count);
    }
    return w->free_s[w->taken];
}

/* Until a slot is free for the job; HUGE_VAL: too long. */
static double slot_wait_s(const struct gridway_run *run, size_t job, size_t pos)
{
    double wait_s = run->plan->earliest_s[pos];

    if (wait_s < HUGE_VAL && run->problem->resources[pos].capacity)
        wait_s = plan_fit(run->plan, job, pos).start_s;
    wait_s = fmax(0, fmin(wait_s, busy_slot_s(run, pos)));
    return wait_s <= run->param[GRIDWAY_MAX_WAIT] ? wait_s : HUGE_VAL;
}

bool gridway_spent(struct gridway_run *run, size_t work)
{
    if (run->world)
        return budget_step(run->world->w->budget, work + 1);
    run->plan->work += work;
    return plan_spent(run->plan);
}

/* The same, where nothing is asked. */
static void count_work(struct gridway_run *run, size_t work)
{
    if (run->world)
        budget_step(run->world->w->budget, work);
    else
        run->plan->work += work;
}

static void note_open(struct gridway_run *run, size_t pos)
{
    double most_s = run->param[GRIDWAY_MAX_WAIT];
    bool open = round_allows(&run->round, pos) &&
                (run->plan->earliest_s[pos] <= most_s || busy_slot_s(run, pos) <= most_s);

    if (open)
        run->open[pos / BLOCK] |= BIT(pos);
    else
        run->open[pos / BLOCK] &= ~BIT(pos);
}

void gridway_run_begin(struct gridway_run *run)
{
    const struct placement_problem *p = run->problem;

    run->waits = NEW(run->arena, struct gridway_waits, p->resource_count);
    run->open = NEW(run->arena, uint64_t, p->block_count);
    run->mask = NEW(run->arena, uint64_t, p->block_count);
    run->candidates = NEW(run->arena, struct gridway_candidate, p->resource_count);
    run->dropped = NEW(run->arena, uint64_t, FILTER_COUNT + DROP_COUNT);
    if (run->world) {
        memset(run->open, -1, p->block_count * sizeof(*run->open));
        return;
    }
    for (size_t pos = 0; pos < p->resource_count; pos++)
        note_open(run, pos);
}

/* ---- times ---- */

/* Of the restart file to the resource; HUGE_VAL: it cannot be reached, or there is none.
 */
static double restart_s(const struct gridway_run *run, const struct gridway_case *c,
                        size_t pos)
{
    const struct gridway_request *r = run->request;
    size_t file = r->restart_file[c->number], host = r->restart_host[c->number];

    if (file == NO_INDEX)
        return HUGE_VAL;
    if (host != NO_INDEX) {
        size_t at = run->problem->position_of[host];

        if ((at == c->pos && c->host_down) || run->problem->resources[at].given->failed)
            return HUGE_VAL;
        if (at == pos)
            return 0;
    }
    return problem_transfer_s(run->problem, file, run->problem->resources[pos].site);
}

/* All of the job's work; where only a run time is known, in seconds of it. */
static double whole_ref_s(const struct gridway_run *run, const struct gridway_case *c)
{
    const struct problem_job *job = job_of(run, c);

    return isnan(job->estimate_ref_s) && !job->etc_s ? job->given->estimate_s
                                                     : job->estimate_ref_s;
}

double gridway_left_ref_s(const struct gridway_run *run, const struct gridway_case *c,
                          size_t pos, bool *restart)
{
    double estimate_ref_s = whole_ref_s(run, c);

    *restart = restart_s(run, c, pos) > LONGEST_S;
    return *restart ? estimate_ref_s
                    : estimate_ref_s - c->given->restart->work_done_ref_s;
}

double gridway_execution_s(const struct gridway_run *run, const struct gridway_case *c,
                           size_t pos, double work_ref_s)
{
    const struct problem_job *job = job_of(run, c);
    double whole_s, time_s;

    if (!job->etc_s && isnan(job->estimate_ref_s)) {
        time_s = work_ref_s; /* wherever it runs, or not known */
    } else if (!job->etc_s) {
        time_s = gridway_stay_s(work_ref_s, run->problem->speed_mips[pos]);
    } else {
        whole_s = problem_execution_s(run->problem, job, pos);
        time_s = job->estimate_ref_s > 0 && whole_s < HUGE_VAL
                     ? whole_s * (work_ref_s / job->estimate_ref_s)
                     : whole_s;
    }
    return time_s <= LONGEST_S ? time_s : HUGE_VAL; /* NAN: not known */
}

double gridway_outputs_s(const struct gridway_run *run, const struct gridway_case *c,
                         size_t pos)
{
    const struct placement_problem *p = run->problem;
    size_t file = run->request->output_file[c->number];

    if (file == NO_INDEX)
        return 0;
    if (c->host_down)
        return HUGE_VAL;
    return problem_transfer_s(
        p, file, p->home_site == NO_INDEX ? p->resources[pos].site : p->home_site);
}

struct select_state gridway_present_state(const struct gridway_run *run,
                                          const struct gridway_case *c)
{
    struct select_state state = select_state_now(run->problem, c->job, c->pos);

    state.queue_wait_s = state.transfer_s = 0;
    state.runs = true;
    state.execution_s = c->stay_s;
    return state;
}

/* ---- one candidate ---- */

/* Bytes of input files that are neither there nor on their way for another job. */
static double input_bytes(const struct gridway_run *run, const struct gridway_case *c,
                          size_t pos)
{
    const struct placement_problem *p = run->problem;
    const struct problem_job *job = job_of(run, c);
    const size_t *files = problem_files(p, job, pos);
    double bytes = 0;

    for (size_t k = 0; files && k < job->file_count; k++) {
        if (problem_transfer_s(p, files[k], p->resources[pos].site) > 0 &&
            (run->world ||
             !pair_map_at(run->plan->arrivals, files[k], p->resources[pos].store)->a))
            bytes += p->in->snapshot->files[files[k]].bytes;
    }
    return bytes;
}

/* As the round has filled the resource. */
static struct select_state filled_state(const struct gridway_run *run,
                                        const struct gridway_case *c, size_t pos)
{
    struct select_state state;

    if (!run->world)
        return round_state(&run->round, c->job, pos);
    state = select_state_now(run->problem, c->job, pos);
    state.slots_free = fmax(0, state.slots_free - run->world->dispatched[pos]);
    return state;
}

static struct select_state state_of(const struct gridway_run *run,
                                    const struct gridway_case *c,
                                    struct gridway_candidate *x)
{
    const struct placement_problem *p = run->problem;
    struct select_state state = filled_state(run, c, x->pos);
    double fetch_s = restart_s(run, c, x->pos);
    double left_ref_s = gridway_left_ref_s(run, c, x->pos, &x->restart);

    if (!(state.transfer_s <= LONGEST_S)) /* the round knows of no slot there */
        state.transfer_s = select_state_now(p, c->job, x->pos).transfer_s;
    if (!x->restart) {
        state.transfer_s += fetch_s;
        x->bytes += fetch_s > 0 ? c->given->restart->bytes : 0;
    }
    x->bytes += input_bytes(run, c, x->pos);
    x->stage_s = state.transfer_s;
    x->execution_s = gridway_execution_s(run, c, x->pos, left_ref_s);
    x->lost_ref_s =
        c->given->work_done_ref_s - (x->restart ? 0 : c->given->restart->work_done_ref_s);
    if (x->wait_s <= LONGEST_S)
        state.queue_wait_s = x->wait_s;
    state.runs = true;
    state.execution_s = x->execution_s;
    state.output_s = problem_output_s(p, job_of(run, c), x->pos);
    return state;
}

/* The requirement has to be looked at for each pair. */
static bool asks_by_pair(const struct expr *e)
{
    return e && (e->on_plan || select_by_job(e));
}

/* Rank, times and bytes; false: the requirement is not met after all. */
static bool rate(const struct gridway_run *run, const struct gridway_case *c,
                 struct gridway_candidate *x)
{
    const struct placement_problem *p = run->problem;
    const struct expr *e = select_requirement(p, c->job);
    struct select_state state = state_of(run, c, x);
    double outputs_s = gridway_outputs_s(run, c, x->pos);

    if (asks_by_pair(e) &&
        expr_requirement(e, select_values(p, e, c->job, x->pos, &state)) != EXPR_TRUE)
        return false;
    x->rank = x->key = select_rank(p, c->job, x->pos, &state);
    x->move_s = x->wait_s + x->stage_s + x->execution_s + outputs_s;
    if (!(x->move_s <= LONGEST_S))
        x->move_s = HUGE_VAL;
    if (outputs_s <= LONGEST_S)
        x->bytes += c->given->queued_output_bytes;
    return true;
}

/* Seconds that the candidate would be held: while files come, and while the rest runs. */
static double hold_s(const struct gridway_run *run, const struct gridway_case *c,
                     const struct gridway_candidate *x)
{
    double limit_s = c->given->job.time_limit_s;

    return x->stage_s +
           (run->world->holds_limit && !isnan(limit_s) ? limit_s : x->execution_s);
}

/* What is against the resource beside what is free there; DROP_NOT_TRIED: nothing. A
 * filter of the problem, or FILTER_PASSED, is in *filter. */
static enum gridway_dropped bar_in_world(const struct gridway_run *run,
                                         const struct gridway_case *c,
                                         struct gridway_candidate *x, enum filter *filter)
{
    const struct gridway_world *w = run->world;

    *filter = problem_need_filter(run->problem, job_of(run, c), x->pos, false);
    if (*filter == FILTER_CPUS || *filter == FILTER_MEMORY ||
        *filter == FILTER_NEVER_FREE)
        *filter = FILTER_PASSED; /* the world has it exactly */
    if (*filter != FILTER_PASSED)
        return DROP_NOT_TRIED;
    if (gridway_world_choice(run, c, x->pos) == WORLD_NONE)
        return amounts_has_group_key(w->w, c->job, x->pos) ? DROP_PARTITION
                                                           : DROP_GROUP_KEY;
    if (!world_large_enough(w->w, &w->jobs[c->job], x->pos))
        return DROP_TOO_SMALL;
    if (!gridway_world_allows(run, x->pos))
        return DROP_RESOURCE_LIMIT;
    state_of(run, c, x);
    x->bytes = 0; /* counted when it is rated */
    return x->execution_s < HUGE_VAL && x->execution_s > c->given->job.time_limit_s
               ? DROP_TIME_LIMIT
               : DROP_NOT_TRIED;
}

/* Rates it, as far as there is room; `always`: busy ones, too. */
static void consider_in_world(struct gridway_run *run, const struct gridway_case *c,
                              size_t pos, bool always)
{
    struct gridway_candidate x = {.pos = pos, .wait_s = HUGE_VAL};
    enum filter filter;
    enum gridway_dropped why = bar_in_world(run, c, &x, &filter);

    count_work(run, 16);
    if (filter != FILTER_PASSED) {
        run->dropped[filter]++;
        return;
    }
    if (why != DROP_NOT_TRIED) {
        drop(run, why, 1);
        return;
    }
    x.hold_s = hold_s(run, c, &x);
    x.wait_s = gridway_world_start_s(run, c, pos, x.hold_s, run->param[GRIDWAY_MAX_WAIT]);
    if (x.wait_s > LONGEST_S && !always)
        drop(run, DROP_NO_FREE_NOW, 1);
    else if (rate(run, c, &x))
        run->candidates[run->candidate_count++] = x;
    else
        run->dropped[FILTER_REQUIREMENT]++;
}

/* A job on several nodes: the slowest node and the last file count. */
static bool rate_nodes(const struct gridway_run *run, const struct gridway_case *c,
                       const struct board_spot *spot, struct gridway_candidate *x)
{
    size_t *positions = NEW(run->arena, size_t, spot->position_count);
    bool suits = true;

    memcpy(positions, spot->positions, spot->position_count * sizeof(*positions));
    *x = (struct gridway_candidate){.pos = positions[0],
                                    .wait_s = spot->start_s,
                                    .positions = positions,
                                    .position_count = spot->position_count};
    for (size_t k = 0; k < spot->position_count; k++) {
        struct gridway_candidate one = {.pos = positions[k], .wait_s = spot->start_s};

        suits = rate(run, c, &one) && suits;
        x->stage_s = fmax(x->stage_s, one.stage_s);
        x->execution_s = fmax(x->execution_s, one.execution_s);
        x->move_s = fmax(x->move_s, one.move_s);
        x->lost_ref_s = fmax(x->lost_ref_s, one.lost_ref_s);
        x->restart = x->restart || one.restart;
        x->bytes += one.bytes - (k ? c->given->queued_output_bytes : 0);
    }
    x->rank = x->key = NAN;
    return suits;
}

static void consider_nodes(struct gridway_run *run, const struct gridway_case *c)
{
    const struct placement_problem *p = run->problem;
    struct gridway_world *w = run->world;
    struct gridway_candidate x;
    struct board_spot spot;
    size_t able = 0;

    for (size_t pos = 0; pos < p->resource_count; pos++) {
        enum gridway_dropped why;
        enum filter filter;

        w->etc_s[pos] = HUGE_VAL;
        count_work(run, 16);
        if (!(run->mask[pos / BLOCK] & BIT(pos)))
            continue;
        x = (struct gridway_candidate){.pos = pos, .wait_s = HUGE_VAL};
        why = bar_in_world(run, c, &x, &filter);
        if (filter != FILTER_PASSED) {
            run->dropped[filter]++;
        } else if (why != DROP_NOT_TRIED) {
            drop(run, why, 1);
        } else {
            w->etc_s[pos] = fmin(hold_s(run, c, &x), WORLD_LONGEST_S);
            able++;
        }
    }
    spot = gridway_world_nodes(run, c, run->param[GRIDWAY_MAX_WAIT]);
    if (!spot.positions) {
        drop(run, DROP_NO_FREE_NOW, able);
        return;
    }
    drop(run, DROP_NOT_TRIED, able - spot.position_count);
    if (rate_nodes(run, c, &spot, &x))
        run->candidates[run->candidate_count++] = x;
    else
        run->dropped[FILTER_REQUIREMENT] += spot.position_count;
}

static void consider(struct gridway_run *run, const struct gridway_case *c, size_t pos,
                     bool always)
{
    struct gridway_candidate x = {.pos = pos};
    enum filter filter;

    if (run->world) {
        consider_in_world(run, c, pos, always);
        return;
    }
    filter = problem_need_filter(run->problem, job_of(run, c), pos, false);
    if (filter != FILTER_PASSED) {
        run->dropped[filter]++;
        return;
    }
    x.wait_s =
        run->open[pos / BLOCK] & BIT(pos) ? slot_wait_s(run, c->job, pos) : HUGE_VAL;
    if (x.wait_s > LONGEST_S && !always) {
        drop(run, DROP_NO_FREE_NOW, 1);
        return;
    }
    count_work(run, 16);
    if (rate(run, c, &x))
        run->candidates[run->candidate_count++] = x;
    else
        run->dropped[FILTER_REQUIREMENT]++;
}

/* ---- all of them ---- */

static size_t bit_count(const uint64_t *words, size_t count)
{
    size_t bits = 0;

    for (size_t i = 0; i < count; i++)
        bits += (size_t)__builtin_popcountll(words[i]);
    return bits;
}

/* Takes a position out of the mask; was it there? */
static bool leave_out(struct gridway_run *run, size_t pos)
{
    bool had = run->mask[pos / BLOCK] & BIT(pos);

    run->mask[pos / BLOCK] &= ~BIT(pos);
    return had;
}

/* Resources that suit the job; counts what was dropped. */
static void make_mask(struct gridway_run *run, const struct gridway_case *c)
{
    const struct placement_problem *p = run->problem;
    const struct problem_class *class = &p->classes[job_of(run, c)->job_class];
    bool by_pair = asks_by_pair(select_requirement(p, c->job)) && class->rights;

    memset(run->dropped, 0, (FILTER_COUNT + DROP_COUNT) * sizeof(*run->dropped));
    for (size_t f = 0; f < FILTER_COUNT; f++)
        run->dropped[f] = class->dropped[f];
    if (by_pair)
        run->dropped[FILTER_REQUIREMENT] = 0;
    memcpy(run->mask, by_pair ? class->rights : class->mask,
           p->block_count * sizeof(*run->mask));
    for (size_t k = 0; k < run->request->nodes[c->number].count; k++)
        drop(run, DROP_PRESENT,
             leave_out(run, p->position_of[run->request->nodes[c->number].at[k]]));
    for (size_t k = 0; c->skip_history && k < c->given->history_count; k++) {
        size_t at = name_index_find(&run->request->resources, c->given->history[k]);

        if (at != NAME_NOT_FOUND)
            drop(run, DROP_HISTORY, leave_out(run, p->position_of[at]));
    }
}

static int by_key(const void *a, const void *b, void *resources)
{
    const struct gridway_candidate *x = a, *y = b;
    const struct problem_resource *r = resources;

    if (isnan(x->key) != isnan(y->key))
        return isnan(x->key) ? 1 : -1;
    if (!isnan(x->key) && x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return (r[x->pos].index > r[y->pos].index) - (r[x->pos].index < r[y->pos].index);
}

/* Resource priorities are relative to all candidates, busy ones included. */
static void use_priorities(struct gridway_run *run, const struct gridway_case *c)
{
    struct round *r = &run->round;
    size_t kept = 0;

    for (size_t i = 0; i < run->candidate_count; i++) {
        r->pos[i] = run->candidates[i].pos;
        r->rank[i] = run->candidates[i].rank;
    }
    priority_resources(run->problem, c->job, r->pos, r->rank, run->candidate_count,
                       r->priority);
    for (size_t i = 0; i < run->candidate_count; i++) {
        run->candidates[i].key = r->priority[i];
        if (run->candidates[i].wait_s <= LONGEST_S)
            run->candidates[kept++] = run->candidates[i];
        else
            drop(run, DROP_NO_FREE_NOW, 1);
    }
    run->candidate_count = kept;
}

/* Is the rank minus the run time alone, so that the first position with a free slot is
 * the best, and no later one passes where it fails? */
static bool first_is_best(const struct gridway_run *run, const struct gridway_case *c)
{
    const struct placement_problem *p = run->problem;
    const struct problem_job *job = job_of(run, c);

    return !run->world && !p->has_matrix && !p->has_capacity && job->estimate_ref_s > 0 &&
           !job->given->rank && !job->file_count && job->given->output_bytes <= 0 &&
           !c->given->restart && c->given->queued_output_bytes <= 0 &&
           run->param[GRIDWAY_MAX_WAIT] <= 0 &&
           !asks_by_pair(select_requirement(p, c->job));
}

void gridway_candidates_find(struct gridway_run *run, const struct gridway_case *c)
{
    const struct placement_problem *p = run->problem;
    bool by_priority = (int)p->common[COMMON_RESOURCE_ORDER] == ORDER_PRIORITY;
    bool stop = !by_priority && first_is_best(run, c);

    run->candidate_count = 0;
    make_mask(run, c);
    count_work(run, p->block_count);
    if (run->world && run->world->jobs[c->job].nodes > 1) {
        consider_nodes(run, c);
        return;
    }
    for (size_t b = 0; b < p->block_count; b++) {
        uint64_t open = by_priority ? ~UINT64_C(0) : run->open[b];

        drop(run, DROP_NO_FREE_NOW, bit_count(&(uint64_t){run->mask[b] & ~open}, 1));
        for (uint64_t left = run->mask[b] & open; left; left &= left - 1) {
            if (stop && run->candidate_count) {
                drop(run, DROP_NOT_TRIED, bit_count(&left, 1));
                break;
            }
            consider(run, c, b * BLOCK + (size_t)__builtin_ctzll(left), by_priority);
        }
    }
    if (by_priority)
        use_priorities(run, c);
    if (run->candidate_count > 1)
        qsort_r(run->candidates, run->candidate_count, sizeof(*run->candidates), by_key,
                p->resources);
}

double gridway_move_bound_s(const struct gridway_run *run, const struct gridway_case *c)
{
    const struct placement_problem *p = run->problem;
    const struct problem_job *job = job_of(run, c);
    const struct problem_class *class = &p->classes[job->job_class];
    bool by_pair = asks_by_pair(select_requirement(p, c->job)) && class->rights;
    double work_ref_s = whole_ref_s(run, c), least_s = HUGE_VAL;

    if (!job->etc_s && isnan(work_ref_s))
        return NAN;
    if (c->given->restart)
        work_ref_s -= c->given->restart->work_done_ref_s;
    for (size_t b = 0; b < p->block_count; b++) {
        uint64_t left = by_pair ? class->rights[b] : class->mask[b];

        for (; left; left &= left - 1) {
            size_t pos = b * BLOCK + (size_t)__builtin_ctzll(left);

            if (pos == c->pos)
                continue;
            least_s = fmin(least_s, gridway_execution_s(run, c, pos, work_ref_s));
            if (!p->has_matrix) /* positions go by falling speed */
                return least_s;
        }
    }
    return least_s;
}

enum error_code gridway_dispatch(struct gridway_run *run, const struct gridway_case *c,
                                 const struct gridway_candidate *to, struct error *err)
{
    run->moved_count++;
    run->bytes_moved += to->bytes;
    if (run->world) {
        gridway_world_take(run, c, to);
        return OK;
    }
    if (run->plan->earliest_s[to->pos] <= to->wait_s) {
        TRY(plan_place(run->plan, c->job, to->pos, err));
    } else {
        run->waits[to->pos].taken++;
        run->wait_count++;
    }
    run->round.dispatched[to->pos]++;
    note_open(run, to->pos);
    return OK;
}
