/* migration/gridway.c - events, failures and contracts of running jobs, as GridWay has
 * them.
 *
 * One round: pending jobs first, by the code of the placement policy `gridway`; then the
 * running jobs to which something happened, on the slots and within the limits that are
 * left. What each event asks of a target (gridway_case.c):
 *
 *     event                                       rank test   pay test
 *     resource_failed, network_failed             no          no
 *     cancelled_by_owner, suspended_by_owner      no          no
 *     user_requested, a stage without retries     no          no
 *     contract_violated                           no          yes, at the observed rate
 *     requirements_changed                        only if its host still meets them
 *     resource_discovered                         yes         yes
 *
 * Candidates are tried by falling rank; the first that passes is the target.
 *
 * Source: spec gridway.md 3 to 3.5; 004_f687c06842f61aec.txt sections 2, 4, 5, 6.
 * Deviation: moves that are forced come before all others, so that they get the slots;
 * with a budget (max_moves, max_bytes_moved) the others go by falling gain. A job that
 * moves does not count twice among its user's running jobs. The slot that a job leaves
 * is not given away in the same round: its clean-up still runs there. A running job on a
 * host that the snapshot calls failed is treated as one with the event resource_failed,
 * if it has any event.
 */
#include "algorithms/migration/gridway.h"

#include "algorithms/migration/gridway_failure.h"
#include "algorithms/migration/gridway_taken.h"
#include "algorithms/migration/gridway_world.h"
#include "algorithms/migration/gridway_worth.h"
#include "algorithms/placement/unused.h"

#include <stdlib.h>
#include <string.h>

static const char *const on_failure[] = {"hold", "reschedule", NULL};

#define NUMBER(name, max, preset, doc)                \
    {                                                 \
        name, 0, max, preset, doc, PARAM_NUMBER, NULL \
    }
#define FLAG(name, doc)                         \
    {                                           \
        name, 0, 1, 0, doc, PARAM_BOOLEAN, NULL \
    }

const struct param migration_gridway_params[] = {
    [GRIDWAY_RANK_THRESHOLD] =
        NUMBER("rank_threshold", 1e308, 0.1,
               "Least gain of rank that grants a move, relative to the present rank"),
    [GRIDWAY_MIN_GAIN] =
        NUMBER("min_gain_s", 1e308, 0, "Time that a move must save, in s"),
    [GRIDWAY_MIN_GAIN_RATIO] = NUMBER("min_gain_ratio", 1e308, 0.1,
                                      "Likewise, relative to the time without the move"),
    [GRIDWAY_COOL_DOWN] = NUMBER("cool_down_s", 1e308, 0,
                                 "No move of a job that moved less than this ago, unless "
                                 "it is forced, in s"),
    [GRIDWAY_MAX_MOVES] = {"max_moves", 0, 1e9, 0,
                           "Moves of running jobs a call, those with most gain; 0: no "
                           "limit",
                           PARAM_INTEGER, NULL},
    [GRIDWAY_MAX_BYTES] = NUMBER("max_bytes_moved", 1e308, 0,
                                 "Bytes that these moves transfer; 0: no limit"),
    [GRIDWAY_MAX_RUN] = NUMBER("max_run_before_move_s", 1e308, NAN,
                               "A better resource matters only to jobs that have run for "
                               "less, in s (GridWay 5: 300); not set: to all"),
    [GRIDWAY_MAX_WAIT] = NUMBER("max_queue_wait_s", 1e100, 0,
                                "A slot that is free within this time counts as free, "
                                "in s"),
    [GRIDWAY_SUSPENSION_TIMEOUT] =
        NUMBER("suspension_timeout_s", 1e308, 0,
               "A job moves when it has been suspended for as long, in s (GridWay 5: "
               "600)"),
    [GRIDWAY_CPU_THRESHOLD] =
        NUMBER("cpu_threshold_ratio", 1, 0.5,
               "Without a contract: violated if job and idle part of the processor are "
               "both below"),
    [GRIDWAY_RETRIES] = {"number_of_retries", 0, 1e9, 1,
                         "Failed attempts of a stage after which it is tried again",
                         PARAM_INTEGER, NULL},
    [GRIDWAY_ON_FAILURE] = {"on_failure", 0, 1, ON_FAILURE_RESCHEDULE,
                            "What happens when no retry is left", PARAM_CHOICE,
                            on_failure},
    [GRIDWAY_SKIP_HOPELESS] =
        FLAG("skip_hopeless_retries", "No retry after an error of authorisation or of "
                                      "the job description; hold after an expired "
                                      "credential"),
    [GRIDWAY_NONZERO_FAILS] =
        FLAG("nonzero_exit_fails", "An exit code other than 0 is a failure"),
    [GRIDWAY_HOLD_BACK] = FLAG("hold_back", "Leave a pending job waiting if a busy "
                                            "resource would end it sooner"),
    {0},
};

#define NAMES(list, rows, ...)   const char *const list[] = {rows(__VA_ARGS__) NULL}
#define NAME(symbol, name, doc)  name,
#define STEP_NAME(name)          #name,
#define EVENT_NAME(symbol, name) name,

const char *const gridway_event_names[] = {
    RESCHEDULE_EVENTS_OF_JOB(EVENT_NAME) GRIDWAY_STAGE_FAILED, NULL};
NAMES(gridway_action_names, GRIDWAY_ACTIONS, NAME);
NAMES(gridway_step_names, GRIDWAY_STEPS, STEP_NAME);
NAMES(gridway_reason_names, GRIDWAY_REASONS, NAME);
const char *const gridway_contract_names[] = {"none", "no_verdict", "kept", "violated",
                                              NULL};

const char *const gridway_drop_names[FILTER_COUNT + DROP_COUNT + 1] = {
#define X(symbol, name, detail) [symbol] = name,
    FILTERS(X)
#undef X
#define X(symbol, name) [FILTER_COUNT + symbol] = name,
        GRIDWAY_DROPS(X)
#undef X
};

/* ---- steps ---- */

static void add_steps(struct gridway_run *run, struct gridway_verdict *v,
                      const struct gridway_step *steps, size_t count)
{
    struct gridway_step *copy = NEW(run->arena, struct gridway_step, count);

    memcpy(copy, steps, count * sizeof(*copy));
    v->steps = copy;
    v->step_count = count;
}

static double known_or_nan(double number)
{
    return number <= LONGEST_S ? number : (double)NAN;
}

static struct gridway_step step_of(struct gridway_step where, const char *step,
                                   double duration_s, double bytes)
{
    where.step = step;
    where.duration_s = duration_s;
    where.bytes = bytes;
    return where;
}

static const char *const *old_ids(const struct gridway_run *run,
                                  const struct gridway_nodes *nodes)
{
    const char **ids = NEW(run->arena, const char *, nodes->count);

    for (size_t k = 0; k < nodes->count; k++)
        ids[k] = run->request->snapshot.resources[nodes->at[k]].id;
    return ids;
}

/* Cancel, prolog there, clean-up here, run there: section 4 of the source. */
static void move_steps(struct gridway_run *run, const struct gridway_case *c,
                       const struct gridway_candidate *to, struct gridway_verdict *v)
{
    const char *old_id = run->problem->resources[c->pos].given->id;
    const char *new_id = run->problem->resources[to->pos].given->id;
    double fetch_s = gridway_outputs_s(run, c, to->pos);
    bool fetched = fetch_s <= LONGEST_S && c->given->queued_output_bytes > 0;
    double fetched_bytes = fetched ? c->given->queued_output_bytes : 0;
    const struct gridway_nodes *nodes = &run->request->nodes[c->number];
    struct gridway_step there = {.resource_id = new_id,
                                 .resource_ids = v->resource_ids,
                                 .resource_id_count = v->resource_id_count};
    struct gridway_step here = {.resource_id = old_id}, steps[4];
    size_t count = 0;

    if (nodes->count > 1) {
        here.resource_ids = old_ids(run, nodes);
        here.resource_id_count = nodes->count;
    }
    if (c->runs)
        steps[count++] = step_of(here, gridway_step_names[STEP_cancel_wrapper], 0, 0);
    steps[count++] = step_of(there, gridway_step_names[STEP_prolog],
                             known_or_nan(to->stage_s), to->bytes - fetched_bytes);
    if (!c->host_down)
        steps[count++] = step_of(here, gridway_step_names[STEP_epilog],
                                 fetched ? fetch_s : 0, fetched_bytes);
    steps[count++] = step_of(there, gridway_step_names[STEP_wrapper],
                             known_or_nan(to->execution_s), 0);
    add_steps(run, v, steps, count);
}

/* ---- the search for a target ---- */

static void note_candidate(const struct gridway_run *run, const struct gridway_case *c,
                           const struct gridway_candidate *x, struct gridway_verdict *v)
{
    v->candidate_resource_id = run->problem->resources[x->pos].given->id;
    v->move_s = known_or_nan(x->move_s);
    v->gain_s = known_or_nan(c->stay_s) - v->move_s;
    v->rank_new = x->rank;
    v->lost_ref_s = x->lost_ref_s;
}

/* Too few cpus and too little memory are one reason. */
static uint64_t dropped_by(const struct gridway_run *run, size_t test)
{
    if (test == FILTER_MEMORY)
        return 0;
    return run->dropped[test] + (test == FILTER_CPUS ? run->dropped[FILTER_MEMORY] : 0);
}

static void list_drops(struct gridway_run *run, struct gridway_verdict *v)
{
    struct gridway_drop *list;
    size_t count = 0, filled = 0;

    for (size_t i = 0; i < FILTER_COUNT + DROP_COUNT; i++)
        count += dropped_by(run, i) > 0;
    list = NEW(run->arena, struct gridway_drop, count);
    for (size_t i = 0; i < FILTER_COUNT + DROP_COUNT; i++)
        if (dropped_by(run, i))
            list[filled++] =
                (struct gridway_drop){gridway_drop_names[i], dropped_by(run, i)};
    v->candidates = list;
    v->candidate_count = count;
}

/* Which test the candidate fails first; DROP_NOT_TRIED: none. */
static enum gridway_dropped test(const struct gridway_run *run,
                                 const struct gridway_case *c,
                                 const struct gridway_candidate *x)
{
    const double *param = run->param;

    if (c->rank_test &&
        !gridway_rank_passes(c->rank_present, x->rank, param[GRIDWAY_RANK_THRESHOLD]))
        return DROP_RANK;
    if (!c->forced && !gridway_pays(c->stay_s, x->move_s, param[GRIDWAY_MIN_GAIN],
                                    param[GRIDWAY_MIN_GAIN_RATIO]))
        return DROP_GAIN;
    if (param[GRIDWAY_MAX_BYTES] > 0 &&
        run->bytes_moved + x->bytes > param[GRIDWAY_MAX_BYTES])
        return DROP_BYTES;
    return DROP_NOT_TRIED;
}

/* The first candidate that passes, or NULL. The numbers of the one that came nearest are
 * noted: the furthest test, then the largest gain, then the best rank. */
static const struct gridway_candidate *
choose(struct gridway_run *run, const struct gridway_case *c, struct gridway_verdict *v)
{
    enum gridway_dropped furthest = DROP_PRESENT;
    double most_s = -HUGE_VAL;

    for (size_t i = 0; i < run->candidate_count; i++) {
        const struct gridway_candidate *x = &run->candidates[i];
        enum gridway_dropped why = test(run, c, x);
        enum gridway_dropped far = why == DROP_BYTES ? DROP_NOT_TRIED : why;
        double gain_s = -x->move_s;

        if (why == DROP_NOT_TRIED) {
            note_candidate(run, c, x, v);
            run->dropped[FILTER_COUNT + DROP_NOT_TRIED] += run->candidate_count - i - 1;
            return x;
        }
        run->dropped[FILTER_COUNT + why]++;
        if (i == 0 || far > furthest ||
            (far == furthest && why != DROP_RANK && gain_s > most_s)) {
            note_candidate(run, c, x, v);
            furthest = far;
            most_s = gain_s;
        }
    }
    return NULL;
}

static enum gridway_reason reason_without(const struct gridway_run *run)
{
    const uint64_t *dropped = run->dropped + FILTER_COUNT;

    if (dropped[DROP_BYTES])
        return REASON_BYTES_BUDGET;
    if (dropped[DROP_GAIN])
        return REASON_GAIN_TOO_SMALL;
    if (dropped[DROP_RANK])
        return REASON_RANK_TOO_LOW;
    return dropped[DROP_NO_FREE_NOW] || dropped[DROP_RESOURCE_LIMIT] ? REASON_NO_FREE_NOW
                                                                     : REASON_NO_RESOURCE;
}

/* What keeps the job from being looked at; REASON_NO_EVENT: nothing. */
static enum gridway_reason held_up(struct gridway_run *run, const struct gridway_case *c)
{
    const struct round *r = &run->round;
    size_t dispatched = run->world ? run->world->started + run->moved_count
                                   : run->plan->placed_count + run->wait_count;
    size_t user = run->problem->jobs[c->job].user;
    double moves = run->param[GRIDWAY_MAX_MOVES];

    if (gridway_spent(run, 0))
        return REASON_OUT_OF_TIME;
    if (moves > 0 && (double)run->moved_count >= moves)
        return REASON_MOVE_BUDGET;
    if (r->limits.chunk > 0 && (double)dispatched >= r->limits.chunk)
        return REASON_ROUND_FULL;
    if (r->limits.running_per_user > 0 && r->running[user] > r->limits.running_per_user)
        return REASON_USER_LIMIT;
    return REASON_NO_EVENT;
}

/* The job stays, or, if it does not run any more, waits again. */
static void stay(const struct gridway_case *c, enum gridway_reason reason,
                 struct gridway_verdict *v)
{
    v->action = c->runs ? ACTION_KEEP : ACTION_REQUEUE;
    v->reason = reason;
}

static enum error_code grant(struct gridway_run *run, const struct gridway_case *c,
                             const struct gridway_candidate *to,
                             struct gridway_verdict *v, struct error *err)
{
    enum gridway_reason failed = v->reason;

    v->action = c->failed_stage ? ACTION_RESCHEDULE : ACTION_MIGRATE;
    v->reason = c->failed_stage ? failed : c->forced ? REASON_FORCED : REASON_WORTHWHILE;
    v->resource_id = run->problem->resources[to->pos].given->id;
    if (to->position_count > 1) {
        v->resource_ids = gridway_ids_at(run, to->positions, to->position_count);
        v->resource_id_count = to->position_count;
    }
    v->start_s = to->wait_s;
    v->restart = to->restart;
    v->outputs_lost = c->given->queued_output_bytes > 0 &&
                      gridway_outputs_s(run, c, to->pos) > LONGEST_S;
    v->bytes_moved = to->bytes;
    move_steps(run, c, to, v);
    return gridway_dispatch(run, c, to, err);
}

/* Looks for a target; with `commit` the job gets it. *gain_s: what it would save, NAN if
 * it has none. */
static enum error_code evaluate(struct gridway_run *run, const struct gridway_case *c,
                                bool commit, struct gridway_verdict *v, double *gain_s,
                                struct error *err)
{
    enum gridway_reason held = held_up(run, c);
    const struct gridway_candidate *to;

    *gain_s = NAN;
    if (held != REASON_NO_EVENT) {
        stay(c, held, v);
        return OK;
    }
    gridway_candidates_find(run, c);
    to = choose(run, c, v);
    list_drops(run, v);
    if (!to) {
        stay(c, reason_without(run), v);
        return OK;
    }
    *gain_s = c->stay_s - to->move_s;
    return commit ? grant(run, c, to, v, err) : OK;
}

/* ---- the running jobs ---- */

/* A job that may move, and what it would save. */
struct turn {
    struct gridway_case c;
    double gain_s;
};

static int by_gain(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;

    if (x->gain_s != y->gain_s)
        return x->gain_s > y->gain_s ? -1 : 1;
    return (x->c.job > y->c.job) - (x->c.job < y->c.job);
}

/* Those that are not forced, with a budget: by what they would save now. Jobs without a
 * target have their verdict. */
static enum error_code order_by_gain(struct gridway_run *run, struct turn *turns,
                                     size_t *count, struct gridway_verdict *verdicts,
                                     struct error *err)
{
    size_t kept = 0;

    for (size_t i = 0; i < *count; i++) {
        struct gridway_verdict *v = &verdicts[turns[i].c.number];

        TRY(evaluate(run, &turns[i].c, false, v, &turns[i].gain_s, err));
        if (v->reason == REASON_MOVE_BUDGET || v->reason == REASON_BYTES_BUDGET)
            continue;
        if (!isnan(turns[i].gain_s))
            turns[kept++] = turns[i];
    }
    qsort(turns, kept, sizeof(*turns), by_gain);
    *count = kept;
    return OK;
}

static enum error_code move_jobs(struct gridway_run *run, struct turn *turns,
                                 size_t forced, size_t count,
                                 struct gridway_verdict *verdicts, struct error *err)
{
    size_t others = count - forced;
    bool budget = run->param[GRIDWAY_MAX_MOVES] > 0 || run->param[GRIDWAY_MAX_BYTES] > 0;
    double gain_s;

    for (size_t i = 0; i < forced; i++)
        TRY(evaluate(run, &turns[i].c, true, &verdicts[turns[i].c.number], &gain_s, err));
    if (budget)
        TRY(order_by_gain(run, turns + forced, &others, verdicts, err));
    for (size_t i = forced; i < forced + others; i++)
        TRY(evaluate(run, &turns[i].c, true, &verdicts[turns[i].c.number], &gain_s, err));
    return OK;
}

static enum error_code decide_jobs(struct gridway_run *run,
                                   struct gridway_verdict *verdicts,
                                   struct gridway_objective *o, struct error *err)
{
    size_t n = run->request->in->job_count, forced = 0, count = 0;
    struct turn *turns = NEW(run->arena, struct turn, n);
    struct turn *others = NEW(run->arena, struct turn, n);

    for (size_t i = 0; i < n; i++) {
        struct gridway_case c;
        bool moves;

        gridway_case_make(run, i, &c, &verdicts[i], &moves);
        if (!moves)
            continue;
        if (c.forced)
            turns[forced++].c = c;
        else
            others[count++].c = c;
        if (!c.forced && c.stay_s > verdicts[i].move_bound_s)
            o->gain_bound_s += c.stay_s - verdicts[i].move_bound_s;
    }
    memcpy(turns + forced, others, count * sizeof(*turns));
    return move_jobs(run, turns, forced, forced + count, verdicts, err);
}

/* ---- the answer ---- */

static void sum_up(const struct gridway_verdict *verdicts, size_t count,
                   struct gridway_objective *o)
{
    for (size_t i = 0; i < count; i++) {
        const struct gridway_verdict *v = &verdicts[i];

        o->requeued_count += v->action == ACTION_REQUEUE;
        o->left_out_count +=
            v->reason == REASON_MOVE_BUDGET || v->reason == REASON_BYTES_BUDGET;
        if (!v->resource_id)
            continue;
        o->moved_count++;
        o->forced_count += v->forced;
        o->bytes_moved += v->bytes_moved;
        if (!v->forced && v->gain_s > 0)
            o->gain_s += v->gain_s;
    }
    o->gain_bound_s = known_or_nan(o->gain_bound_s);
}

static enum decision_status status_of(const struct gridway_run *run,
                                      const struct gridway_out *out)
{
    const struct gridway_objective *o = &out->objective;
    bool some = out->pending.placement_count || o->moved_count;

    if (run->world ? gridway_world_is_cut(run) || out->pending.status == DECISION_CUT
                   : run->plan->cut)
        return DECISION_CUT;
    if (!some && (out->pending.unplaced_count || o->requeued_count))
        return DECISION_INFEASIBLE;
    return DECISION_FEASIBLE;
}

/* Binds the options of the policy and those of placement together. */
static enum error_code bind_options(const struct named_value *options, size_t count,
                                    double *common, double *param, struct error *err)
{
    double value[PARAMS_MAX];

    TRY(policy_bind(policy_find(migration_policies, "gridway"), options, count, value,
                    err));
    memcpy(common, value, COMMON_COUNT * sizeof(*common));
    memcpy(param, value + COMMON_COUNT, GRIDWAY_OPTION_COUNT * sizeof(*param));
    return OK;
}

/* The problem, with all mistakes of the request. */
static enum error_code prepare(struct gridway_request *request, enum error_code made,
                               const double *common, struct placement_problem *p,
                               struct arena *a, struct error *err)
{
    const struct error_item *last = err->last;
    enum error_code code;

    if (made != OK && made != ERR_INVALID)
        return made;
    code = problem_prepare(&request->placement, common, p, a, err);
    if (code != OK)
        gridway_rename_pointers(request->in, last, err);
    return code != OK ? code : made;
}

/* Jobs without an event stay, also where that cannot be true. */
static void warn_failed(const struct gridway_run *run, struct placement_problem *p,
                        const struct gridway_verdict *verdicts)
{
    const struct gridway_request *r = run->request;
    size_t count = 0;

    for (size_t i = 0; i < r->in->job_count; i++)
        count += !verdicts[i].event && verdicts[i].reason != REASON_FINISHED &&
                 r->snapshot.resources[r->present[i]].failed;
    if (count)
        problem_warn(p,
                     "failed_host: %zu job%s without an event on a resource "
                     "that has failed; give the event resource_failed",
                     count, count == 1 ? " is" : "s are");
}

/* Resources whose used slots are fewer than the jobs that run there. */
static void warn_slots(const struct gridway_run *run, struct placement_problem *p)
{
    const struct gridway_request *r = run->request;
    const struct snapshot *s = &r->snapshot;
    size_t *jobs = NEW(run->arena, size_t, s->resource_count), count = 0, first = 0;

    for (size_t i = 0; i < r->in->job_count; i++)
        if (r->holds[i] != NO_INDEX)
            jobs[r->holds[i]]++;
    for (size_t i = s->resource_count; i-- > 0;) {
        if ((double)jobs[i] <= s->resources[i].job_count)
            continue;
        count++;
        first = i;
    }
    if (count)
        problem_warn(p,
                     "job_count: %zu resource%s fewer used slots than jobs "
                     "that run there (first /snapshot/resources/%zu/job_count); "
                     "what these jobs need counts, slots count as given",
                     count, count == 1 ? " has" : "s have", first);
}

static bool has_release(const struct reschedule_job *j)
{
    return j->job.release_s > 0;
}

static bool has_deadline(const struct reschedule_job *j)
{
    return !isnan(j->job.deadline_s) || !isnan(j->job.deadline_at_s);
}

static bool has_priority(const struct reschedule_job *j)
{
    return j->job.fixed_priority > 0;
}

static bool has_queued_at(const struct reschedule_job *j)
{
    return !isnan(j->job.queued_at_s);
}

static bool has_after(const struct reschedule_job *j)
{
    return j->job.after_count > 0;
}

static bool has_weight(const struct reschedule_job *j)
{
    return j->job.weight < 1 || j->job.weight > 1;
}

static bool has_importance(const struct reschedule_job *j)
{
    return j->job.priority < 0 || j->job.priority > 0;
}

static bool is_preemptible(const struct reschedule_job *j)
{
    return j->job.preemptible;
}

static bool has_samples(const struct reschedule_job *j)
{
    return j->sample_count && !j->contract;
}

static bool has_ratios(const struct reschedule_job *j)
{
    return j->contract && (!isnan(j->job_cpu_ratio) || !isnan(j->idle_cpu_ratio));
}

/* Members of a running job that nothing here looks at. */
static const struct {
    const char *member, *why;
    bool (*given)(const struct reschedule_job *j);
    bool stops; /* looked at where others are to be stopped for pending jobs */
} unused_members[] = {
    {"after", "the job runs already", has_after, false},
    {"weight", "nothing is to be stopped for others", has_weight, true},
    {"priority", "nothing is to be stopped for others", has_importance, true},
    {"preemptible", "nothing is to be stopped for others", is_preemptible, true},
    {"release_s", "the job runs already", has_release, false},
    {"deadline_s", "moves go by the time that they save", has_deadline, false},
    {"fixed_priority", "moves go by the time that they save", has_priority, false},
    {"queued_at", "the job runs already", has_queued_at, false},
    {"samples", "the job has no contract", has_samples, false},
    {"job_cpu_ratio", "the job has a contract", has_ratios, false},
};

static void warn_unused(const struct gridway_run *run, struct placement_problem *p)
{
    const struct gridway_in *in = run->request->in;
    bool stops = in->round.world && in->round.world->preempt;

    for (size_t i = 0; i < in->round.job_count && !stops; i++)
        stops = in->round.jobs[i].preempt;
    for (size_t k = 0; k < sizeof(unused_members) / sizeof(*unused_members); k++) {
        size_t count = 0, first = 0;

        for (size_t i = in->job_count; i-- > 0;) {
            if (!unused_members[k].given(&in->jobs[i]) ||
                (unused_members[k].stops && stops))
                continue;
            count++;
            first = i;
        }
        if (count)
            problem_warn(p, "ignored: %s of %zu running job%s (first /jobs/%zu/%s): %s",
                         unused_members[k].member, count, count == 1 ? "" : "s", first,
                         unused_members[k].member, unused_members[k].why);
    }
}

static bool has_cpus(const struct reschedule_job *j)
{
    return j->job.cpus > 1;
}

static bool has_memory(const struct reschedule_job *j)
{
    return j->job.memory_bytes > 0;
}

/* What running jobs hold of an amount that their resources do not state. */
static void warn_held(const struct gridway_run *run, struct placement_problem *p,
                      const char *member, bool (*given)(const struct reschedule_job *j),
                      const double *has)
{
    const struct gridway_request *r = run->request;
    size_t count = 0, first = 0;

    for (size_t i = r->in->job_count; i-- > 0;) {
        if (r->holds[i] == NO_INDEX || !given(&r->in->jobs[i]) ||
            has[p->position_of[r->holds[i]]] < HUGE_VAL)
            continue;
        count++;
        first = i;
    }
    if (count)
        problem_warn(p,
                     "ignored: %s of %zu running job%s (first /jobs/%zu/%s): the "
                     "resource does not say how much it has, and the job holds a slot",
                     member, count, count == 1 ? "" : "s", first, member);
}

static void warn_all(const struct gridway_run *run, struct placement_problem *p,
                     const struct gridway_verdict *verdicts)
{
    warn_failed(run, p, verdicts);
    warn_slots(run, p);
    warn_unused(run, p);
    warn_held(run, p, "cpus", has_cpus, p->cpus);
    warn_held(run, p, "memory_bytes", has_memory, p->memory_bytes);
    unused_warn(p,
                &(struct unused_in){.policy = policy_find(placement_policies, "gridway"),
                                    .options = run->options,
                                    .option_count = run->option_count,
                                    .list = "pending"});
}

/* What the running jobs' world says, and then what no other has said. */
static void join_warnings(struct gridway_run *run, struct gridway_out *out)
{
    const struct placement_problem *p = run->problem;
    size_t count = out->pending.warning_count;
    const char **all = NEW(run->arena, const char *, count + p->warning_count);

    if (count)
        memcpy(all, out->pending.warnings, count * sizeof(*all));
    for (size_t i = 0; i < p->warning_count; i++) {
        const char *text = gridway_shown_text(p->warnings[i], run->arena);
        bool known = false;

        for (size_t k = 0; k < out->pending.warning_count; k++)
            known = known || strcmp(all[k], text) == 0;
        if (!known)
            all[count++] = text;
    }
    out->warnings = all;
    out->warning_count = count;
}

/* The round where amounts count. */
static enum error_code run_world(struct gridway_run *run, const double *common,
                                 struct placement_problem *p, struct gridway_out *out,
                                 struct error *err)
{
    const struct gridway_in *in = run->request->in;
    struct gridway_verdict *verdicts =
        NEW(run->arena, struct gridway_verdict, in->job_count);

    run->world = NEW(run->arena, struct gridway_world, 1);
    TRY(gridway_world_make(run, common, p, &out->pending, err));
    gridway_run_begin(run);
    TRY(decide_jobs(run, verdicts, &out->objective, err));
    out->check_failed = out->pending.check_failed || !gridway_world_is_valid(run);
    warn_failed(run, p, verdicts);
    warn_unused(run, p);
    if (common[COMMON_ASSUME_PREEMPTED] > 0)
        problem_warn(p, "ignored: 1 option (/options/assume_preempted): a round proposes "
                        "what to stop, and assumes no stop");
    sum_up(verdicts, in->job_count, &out->objective);
    out->jobs = verdicts;
    out->job_count = in->job_count;
    join_warnings(run, out);
    out->status = status_of(run, out);
    return OK;
}

static enum error_code run_round(struct gridway_run *run, struct placement_problem *p,
                                 struct gridway_out *out, struct error *err)
{
    const struct gridway_in *in = run->request->in;
    bool estimates = run->param[GRIDWAY_HOLD_BACK] != 0;
    struct gridway_verdict *verdicts =
        NEW(run->arena, struct gridway_verdict, in->job_count);

    run->plan->algorithm = "gridway";
    TRY(round_pending(&run->round, run->plan, &run->param[GRIDWAY_HOLD_BACK], err));
    TRY(placement_answer(run->plan, estimates, &out->pending, err));
    gridway_run_begin(run);
    TRY(decide_jobs(run, verdicts, &out->objective, err));
    warn_all(run, p, verdicts);
    sum_up(verdicts, in->job_count, &out->objective);
    out->jobs = verdicts;
    out->job_count = in->job_count;
    out->warnings = p->warnings;
    out->warning_count = p->warning_count;
    out->status = status_of(run, out);
    return OK;
}

enum error_code migration_gridway(const struct gridway_in *in,
                                  const struct named_value *options, size_t option_count,
                                  struct gridway_out *out, struct arena *a,
                                  struct error *err)
{
    double common[COMMON_COUNT] = {0}, param[GRIDWAY_OPTION_COUNT] = {0};
    struct placement_problem *p = NEW(a, struct placement_problem, 1);
    struct placement_plan *plan = NEW(a, struct placement_plan, 1);
    struct gridway_request *request = NEW(a, struct gridway_request, 1);
    struct gridway_run *run = NEW(a, struct gridway_run, 1);
    struct gridway_out x = {0};
    enum error_code bound, made;

    bound = bind_options(options, option_count, common, param, err);
    made = gridway_request_make(in, request, a, err);
    *run = (struct gridway_run){
        .request = request,
        .param = param,
        .problem = p,
        .plan = plan,
        .options = options,
        .option_count = option_count,
        .arena = a,
    };
    if (gridway_world_asked(request, common)) {
        run->plan = NULL;
        TRY(run_world(run, common, p, &x, err));
        if (bound != OK || made != OK)
            return err->code;
        *out = x;
        return OK;
    }
    TRY(prepare(request, made, common, p, a, err));
    TRY(bound);
    plan_create(p, plan, a);
    TRY(run_round(run, p, &x, err));
    *out = x;
    return OK;
}
