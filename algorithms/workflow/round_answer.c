/* workflow/round_answer.c - what a round decided, with names and reasons.
 *
 * Source: spec workflows.md 5.5 (actions, groups, reasons), 5.8, 13.
 */
#include "algorithms/workflow/round_request.h"

#include "algorithms/workflow/words.h"
#include "models/reason_tally.h"

#include <math.h>
#include <string.h>

struct answer {
    const struct wf_request *rq;
    const struct wf_plan *plan;
    const struct wf_before *before;
    struct workflow_round_out *out;
    const char **ids; /* of all tasks, by number */
    struct arena *arena;
    struct error *err;
};

static const char *const role_names[] = {"longest", "balanced", "root"};
const char *const workflow_how_names[] = {"longest", "balanced", "fastest", "least",
                                          "random",  "in_turn",  NULL};

static const char *workflow_id(const struct answer *w, size_t task)
{
    return w->rq->in->workflows[w->rq->tasks[task].workflow].id;
}

static const char *resource_id(const struct answer *w, size_t resource)
{
    return resource == WF_NONE ? NULL : w->rq->in->snapshot->resources[resource].id;
}

/* For JSON, which has no infinity. */
static double finite_s(double value)
{
    return value < HUGE_VAL && value > -HUGE_VAL ? value : (double)NAN;
}

/* Ids of tasks by number. */
static const char *const *names_of(const struct answer *w, const size_t *tasks,
                                   size_t count)
{
    const char **list = NEW(w->arena, const char *, count);

    for (size_t k = 0; list && k < count; k++)
        list[k] = w->ids[tasks[k]];
    return list;
}

/* ---- before ---- */

static double set_longest_s(const struct wf_plan *plan, size_t set)
{
    const struct workflow_plain_set *s = &plan->in->sets[set];
    double most_s = -HUGE_VAL;

    for (size_t k = 0; k < s->member_count; k++) {
        size_t i = s->members[k];

        if (plan->place[i] != WF_NONE && !isnan(plan->remaining_ref_s[i]))
            most_s = fmax(most_s, wf_xi_s(plan, i));
    }
    return finite_s(most_s);
}

void wf_note_before(const struct wf_request *rq, const struct wf_plan *plan,
                    struct wf_before *before)
{
    before->makespan_s = wf_makespan_s(plan);
    before->set_max_s = NEW(rq->arena, double, rq->plain.set_count);
    for (size_t p = 0; p < rq->plain.set_count; p++)
        before->set_max_s[p] = set_longest_s(plan, p);
}

/* ---- moves ---- */

static const char *reason_of(const struct answer *w, const struct workflow_plain_move *m,
                             size_t mover)
{
    if (m->role == WF_LONGEST)
        return "the longest of its parent set ends sooner there";
    if (m->role == WF_BALANCED)
        return "it ends there nearest to the longest of its parent set, and not after it";
    if (m->action == WORKFLOW_EVICT)
        return arena_printf(w->arena, "makes room for '%.100s', which others wait for",
                            w->ids[mover]);
    return arena_printf(w->arena,
                        "makes room for '%.100s', which others wait for; no other place "
                        "is free that would not delay a parent set",
                        w->ids[mover]);
}

static struct workflow_action action_of(const struct answer *w,
                                        const struct workflow_plain_move *m, size_t mover)
{
    const struct workflow_plain_set *s = &w->plan->in->sets[m->set];
    double before_s = finite_s(m->before_s), after_s = finite_s(m->after_s);

    return (struct workflow_action){
        .group = m->group,
        .action = m->action,
        .workflow_id = workflow_id(w, m->task),
        .task_id = w->ids[m->task],
        .from_resource_id = resource_id(w, m->from),
        .to_resource_id = resource_id(w, m->to),
        .remaining_before_s = before_s,
        .remaining_after_s = after_s,
        .gain_s = before_s - after_s,
        .transfer_s = m->to == WF_NONE ? 0 : m->transfer_s,
        .transfer_bytes = m->to == WF_NONE ? 0 : w->rq->tasks[m->task].move_bytes,
        .role = role_names[m->role],
        .parent_set = names_of(w, s->members, s->member_count),
        .parent_count = s->member_count,
        .reason = reason_of(w, m, mover),
        .task = m->task,
        .run_time_index = UINT64_MAX,
    };
}

static void list_moves(struct answer *w)
{
    const struct workflow_plain_out *found = w->plan->out;
    struct workflow_action *moves =
        NEW(w->arena, struct workflow_action, found->move_count);
    struct workflow_action *postponed =
        NEW(w->arena, struct workflow_action, found->move_count);
    size_t mover = 0;

    for (size_t k = 0; k < found->move_count; k++) {
        if (found->moves[k].action == WORKFLOW_MIGRATE) /* the first of its group */
            mover = found->moves[k].task;
        moves[k] = action_of(w, &found->moves[k], mover);
        moves[k].seq = k + 1;
        w->out->objective.transfer_bytes += moves[k].transfer_bytes;
        if (moves[k].action == WORKFLOW_POSTPONE)
            postponed[w->out->postponed_count++] = moves[k];
    }
    w->out->reschedules = moves;
    w->out->reschedule_count = found->move_count;
    w->out->postponed = postponed;
}

static void list_skips(struct answer *w)
{
    const struct workflow_plain_out *found = w->plan->out;
    struct workflow_skip *list = NEW(w->arena, struct workflow_skip, found->skip_count);

    for (size_t k = 0; k < found->skip_count; k++)
        list[k] = (struct workflow_skip){workflow_id(w, found->skips[k].task),
                                         w->ids[found->skips[k].task],
                                         workflow_skip_names[found->skips[k].reason]};
    w->out->skipped = list;
    w->out->skip_count = found->skip_count;
}

/* ---- starts ---- */

static const char *const *resource_ids(const struct answer *w,
                                       const struct workflow_plain_start *s)
{
    const char **ids;

    if (!s->resources)
        return NULL;
    ids = NEW(w->arena, const char *, s->resource_count);
    for (size_t k = 0; k < s->resource_count; k++)
        ids[k] = resource_id(w, s->resources[k]);
    return ids;
}

static void list_starts(struct answer *w)
{
    const struct workflow_plain_out *found = w->plan->out;
    struct workflow_start *list =
        NEW(w->arena, struct workflow_start, found->start_count);

    for (size_t k = 0; k < found->start_count; k++) {
        const struct workflow_plain_start *s = &found->starts[k];

        list[k] = (struct workflow_start){
            .workflow_id = workflow_id(w, s->task),
            .task_id = w->ids[s->task],
            .resource_id = s->resources ? NULL : resource_id(w, s->resource),
            .resource_ids = resource_ids(w, s),
            .resource_id_count = s->resource_count,
            .expected_s = finite_s(s->expected_s),
            .stage_in_s = s->stage_in_s,
            .how = workflow_how_names[s->how],
            .task = s->task,
            .run_time_index = UINT64_MAX,
        };
    }
    w->out->placements = list;
    w->out->placement_count = found->start_count;
}

/* Tasks of a set are of one workflow. */
static void list_carry(struct answer *w)
{
    const struct workflow_plain_out *found = w->plan->out;
    size_t tasks = found->carry_count ? found->carry_first[found->carry_count] : 0;
    struct workflow_carry *list = NEW(w->arena, struct workflow_carry, tasks);

    for (size_t k = 0; k < found->carry_count; k++) {
        size_t first = found->carry_first[k];
        size_t count = found->carry_first[k + 1] - first;

        list[k] = (struct workflow_carry){
            .workflow_id = workflow_id(w, found->carry[first]),
            .task_ids = names_of(w, found->carry + first, count),
            .task_count = count,
        };
    }
    w->out->carry_over = list;
    w->out->carry_count = found->carry_count;
}

static size_t usable_count(const struct answer *w)
{
    size_t usable = 0;

    for (size_t c = 0; c < w->plan->in->resource_count; c++)
        usable += wf_usable(w->plan, c);
    return usable;
}

/* No resource can be used now: why. */
static void tell_unusable(const struct answer *w, struct workflow_unplaced *out)
{
    size_t counts[KEPT_OUT_COUNT] = {0};

    for (size_t c = 0; c < w->plan->in->resource_count; c++)
        counts[wf_kept_out(w->plan, c)]++;
    workflow_tell_kept_out(counts, out);
}

static struct workflow_unplaced reason_against(const struct answer *w)
{
    size_t usable = usable_count(w);

    if (w->plan->free_count > 0 && w->plan->out->cut)
        return (struct workflow_unplaced){.reason = WORKFLOW_REASON(time_limit),
                                          .detail = "the time limit came first",
                                          .resource_count = w->plan->free_count};
    if (w->plan->free_count > 0)
        return (struct workflow_unplaced){
            .reason = WORKFLOW_REASON(unreachable),
            .detail = "its input can be brought to no resource that has a free slot",
            .resource_count = w->plan->free_count};
    if (usable == 0) {
        struct workflow_unplaced of = {.reason = NULL};

        tell_unusable(w, &of);
        return of;
    }
    return (struct workflow_unplaced){
        .reason = WORKFLOW_REASON(no_free_now),
        .detail = "every slot of the resources that can be used is taken",
        .resource_count = usable};
}

/* Of a task with run times: where it cannot run is no place. */
static void tell_no_place(const struct answer *w, size_t task,
                          struct workflow_unplaced *reason)
{
    const double *times_s = w->plan->in->tasks[task].times_s;
    size_t suits = 0, with_room = 0;

    if (!times_s)
        return;
    budget_step(w->rq->in->budget, w->plan->in->resource_count);
    for (size_t c = 0; c < w->plan->in->resource_count; c++)
        if (wf_usable(w->plan, c) && times_s[c] >= 0) {
            suits++;
            with_room += wf_has_room(w->plan, c);
        }
    if (with_room > 0)
        return;
    *reason = (struct workflow_unplaced){
        .reason = suits ? WORKFLOW_REASON(no_free_now) : WORKFLOW_REASON(no_estimate),
        .detail = suits ? "every slot of the resources that can run it is taken"
                        : "it can run on no resource that can be used now (etc_s)",
        .resource_count = suits ? suits : w->plan->in->resource_count,
    };
}

static void list_unplaced(struct answer *w)
{
    struct workflow_unplaced *list =
        NEW(w->arena, struct workflow_unplaced, w->rq->ready_count);
    const struct workflow_unplaced common = reason_against(w);
    bool by_amounts = w->rq->amounts && usable_count(w) > 0 &&
                      strcmp(common.reason, WORKFLOW_REASON(time_limit)) != 0;

    for (size_t i = 0; i < w->plan->in->task_count; i++) {
        struct workflow_unplaced reason = common;

        if (!w->rq->tasks[i].ready || w->plan->place[i] != WF_NONE)
            continue;
        if (by_amounts)
            wf_amounts_why(w->rq, w->plan, i, &reason);
        if (strcmp(reason.reason, WORKFLOW_REASON(unreachable)) == 0)
            tell_no_place(w, i, &reason);
        reason.workflow_id = workflow_id(w, i);
        reason.task_id = w->ids[i];
        list[w->out->unplaced_count++] = reason;
    }
    w->out->unplaced = list;
}

/* ---- sets and estimates ---- */

static const char *state_of(const struct answer *w, const struct workflow_plain_set *s)
{
    size_t done = 0, running = 0;

    for (size_t k = 0; k < s->member_count; k++) {
        done += w->rq->tasks[s->members[k]].status == PLAIN_DONE;
        running += w->rq->tasks[s->members[k]].status == PLAIN_RUNNING;
    }
    if (done == s->member_count)
        return "done";
    if (s->only_roots)
        return "roots";
    return done + running == s->member_count ? "running" : "waiting";
}

static void list_sets(struct answer *w)
{
    const struct workflow_plain *plain = w->plan->in;
    struct workflow_set *list = NEW(w->arena, struct workflow_set, plain->set_count);

    for (size_t p = 0; p < plain->set_count; p++) {
        const struct workflow_plain_set *s = &plain->sets[p];

        list[p] = (struct workflow_set){
            .workflow_id = w->rq->in->workflows[s->workflow].id,
            .members = names_of(w, s->members, s->member_count),
            .children = names_of(w, s->children, s->child_count),
            .member_count = s->member_count,
            .child_count = s->child_count,
            .state = state_of(w, s),
            .max_remaining_before_s = w->before->set_max_s[p],
            .max_remaining_after_s = set_longest_s(w->plan, p),
        };
    }
    w->out->parent_sets = list;
    w->out->set_count = plain->set_count;
}

static void list_estimates(struct answer *w)
{
    struct workflow_estimate *list =
        NEW(w->arena, struct workflow_estimate, w->plan->in->task_count);

    for (size_t i = 0; i < w->plan->in->task_count; i++)
        if (w->rq->estimates[i].source)
            list[w->out->estimate_count++] = w->rq->estimates[i];
    w->out->estimates = list;
}

/* ---- all of it ---- */

static void rate(struct answer *w)
{
    struct workflow_round_objective *o = &w->out->objective;

    o->makespan_before_s = w->before->makespan_s;
    o->makespan_s = wf_makespan_s(w->plan);
    wf_lower_bound(w->plan, &o->lower_bound_s);
    o->gap_ratio =
        o->lower_bound_s > 0 ? o->makespan_s / o->lower_bound_s - 1 : (double)NAN;
}

/* What there was no time for. */
static void warn_of_time(struct wf_request *rq, const struct answer *w)
{
    const struct workflow_plain_out *found = w->plan->out;
    const struct budget *budget = w->plan->in->budget;
    size_t in_turn = 0;

    for (size_t k = 0; k < found->start_count; k++)
        in_turn += found->starts[k].how == WF_HOW_IN_TURN;
    if (in_turn > 0)
        workflow_warn(&rq->problem,
                      "cut_to_round_robin: the time limit ended %s; %zu task%s given "
                      "to resources with room in turn",
                      rq->policy->name, in_turn, in_turn == 1 ? " was" : "s were");
    if (budget && budget->spent)
        workflow_warn(&rq->problem,
                      "bound_skipped: the time limit came before lower_bound_s was "
                      "computed for all tasks; it holds");
}

static void warn_of_unplaced(struct wf_request *rq, const struct answer *w)
{
    struct reason_tally tally = {0};

    for (size_t i = 0; i < w->out->unplaced_count; i++) {
        budget_step(rq->in->budget, 1);
        reason_tally_add(&tally, w->out->unplaced[i].reason);
    }
    if (w->out->unplaced_count > 0)
        workflow_warn(&rq->problem, "%s", reason_tally_text(&tally, rq->arena));
}

static void set_status(struct answer *w, enum workflow_round_steps steps)
{
    bool starts = (steps & WORKFLOW_STEP_START) != 0;

    w->out->status = DECISION_FEASIBLE;
    if (starts && w->rq->ready_count > 0 && w->out->placement_count == 0)
        w->out->status = DECISION_INFEASIBLE;
    if (w->plan->out->cut)
        w->out->status = DECISION_CUT;
}

void wf_answer(struct wf_request *rq, const struct wf_plan *plan,
               const struct wf_before *before, enum workflow_round_steps steps,
               struct workflow_round_out *out)
{
    struct answer w = {.rq = rq,
                       .plan = plan,
                       .before = before,
                       .out = out,
                       .ids = NEW(rq->arena, const char *, rq->plain.task_count),
                       .arena = rq->arena,
                       .err = rq->err};

    for (size_t i = 0; i < rq->plain.task_count; i++)
        w.ids[i] = rq->problem.tasks[i]->id;
    list_moves(&w);
    list_skips(&w);
    list_starts(&w);
    list_carry(&w);
    if ((steps & WORKFLOW_STEP_START) != 0)
        list_unplaced(&w);
    list_sets(&w);
    list_estimates(&w);
    rate(&w);
    set_status(&w, steps);
    warn_of_time(rq, &w);
    warn_of_unplaced(rq, &w);
    out->algorithm = rq->policy->name;
    out->stale_resources = rq->stale_count;
    out->warnings = rq->problem.warnings;
    out->warning_count = rq->problem.warning_count;
}
