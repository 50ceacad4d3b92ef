/* workflow/round.c - one round of dynamic workflow scheduling, from a request.
 *
 * Names become numbers, what tasks say of themselves becomes work that is left, and
 * workflow_round_run() does the rest.
 *
 * Source: spec workflows.md 4, 5.2, 5.8, 13.
 * Deviations (ours): tasks on a resource share its speed (5.1) only if its `sharing` is
 * equal, and job_count counts those of the request too. A task with release_s ahead is
 * not ready. A resource outside its windows now gets no task; what runs there stays.
 */
#include "algorithms/workflow/amounts_parts.h"
#include "algorithms/workflow/round_request.h"

#include "models/base/plural.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- times between sites ---- */

static double route_s(const void *context, double bytes, size_t from, size_t to)
{
    return workflow_link_s(context, bytes, from, to);
}

static double stage_s(const void *context, size_t task, size_t resource)
{
    return workflow_staged_s(context, task, resource);
}

/* Staging times are asked for by processor: a resource is one. */
static void number_processors(struct wf_request *rq)
{
    size_t count = rq->in->snapshot->resource_count;
    struct workflow_processor *list = NEW(rq->arena, struct workflow_processor, count);

    for (size_t c = 0; c < count; c++)
        list[c] =
            (struct workflow_processor){.resource = c, .site = rq->parts.site_of[c]};
    rq->problem.processors = list;
    rq->problem.processor_count = count;
}

/* ---- mistakes ---- */

/* One list of carried tasks; they become numbers. */
static void read_carry(struct wf_request *rq, size_t at, const size_t *first_task,
                       const struct name_index *workflows,
                       const struct name_index *task_ids, size_t *used)
{
    const struct workflow_carry *c = &rq->in->carry_over[at];
    size_t workflow = rq->in->workflow_count == 1 ? 0 : NAME_NOT_FOUND;
    char pointer[96];

    if (c->workflow_id)
        workflow = name_index_find(workflows, c->workflow_id);
    if (workflow == NAME_NOT_FOUND) {
        snprintf(pointer, sizeof(pointer), "/carry_over/%zu/workflow_id", at);
        invalid(rq->err, pointer, c->workflow_id ? ITEM_UNKNOWN_ID : ITEM_REQUIRED,
                "no workflow '%.100s'", c->workflow_id ? c->workflow_id : "");
        return;
    }
    for (size_t k = 0; k < c->task_count; k++) {
        size_t task = name_index_find(&task_ids[workflow], c->task_ids[k]);

        if (task != NAME_NOT_FOUND) {
            rq->carry[(*used)++] = first_task[workflow] + task;
            continue;
        }
        snprintf(pointer, sizeof(pointer), "/carry_over/%zu/task_ids/%zu", at, k);
        invalid(rq->err, pointer, ITEM_UNKNOWN_ID, "the workflow has no task '%.100s'",
                c->task_ids[k]);
    }
}

/* Ids of the workflows and of their tasks, for those that are carried over. */
static enum error_code read_carries(struct wf_request *rq)
{
    const struct workflow_in *in = rq->in;
    struct name_index workflows;
    struct name_index *ids = NEW(rq->arena, struct name_index, in->workflow_count);
    size_t *first = NEW(rq->arena, size_t, in->workflow_count + 1);
    size_t used = 0;

    name_index_create(&workflows, in->workflow_count, rq->arena);
    for (size_t w = 0; w < in->workflow_count; w++) {
        const struct workflow *f = &in->workflows[w];

        first[w + 1] = first[w] + f->task_count;
        if (f->id)
            name_index_add(&workflows, f->id, w);
        name_index_create(&ids[w], f->task_count, rq->arena);
        for (size_t i = 0; i < f->task_count; i++)
            if (f->tasks[i].id)
                name_index_add(&ids[w], f->tasks[i].id, i);
    }
    for (size_t k = 0; k < in->carry_count; k++) {
        read_carry(rq, k, first, &workflows, ids, &used);
        rq->carry_first[k + 1] = used;
    }
    return OK;
}

static enum error_code read_carry_over(struct wf_request *rq)
{
    size_t tasks = 0;

    for (size_t k = 0; k < rq->in->carry_count; k++)
        tasks += rq->in->carry_over[k].task_count;
    rq->carry = NEW(rq->arena, size_t, tasks);
    rq->carry_first = NEW(rq->arena, size_t, rq->in->carry_count + 1);
    return rq->in->carry_count > 0 ? read_carries(rq) : OK;
}

static enum error_code check(struct wf_request *rq, const struct named_value *options,
                             size_t option_count)
{
    size_t mistakes = rq->err->item_count;

    params_bind(rq->policy->params, options, option_count, rq->param, rq->err);
    TRY(workflow_check_request(&rq->problem, rq->err));
    workflow_read_edges(&rq->problem, rq->err);
    TRY(read_carry_over(rq));
    return rq->err->item_count > mistakes ? ERR_INVALID : OK;
}

/* ---- resources ---- */

static bool is_stale(const struct wf_request *rq, const struct resource *r)
{
    return rq->in->snapshot->taken_at_s - r->observed_at_s > rq->param[WF_MAX_AGE_S];
}

/* Resources that have windows, none of which is open. */
static void close_windows(struct wf_request *rq, bool *closed)
{
    const struct workflow_in *in = rq->in;

    for (size_t pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < in->window_count; k++) {
            const struct workflow_window *w = &in->windows[k];
            size_t c = name_index_find(&rq->parts.resources, w->resource_id);

            if (pass == 0)
                closed[c] = true;
            else if (w->from_s <= 0 && (isnan(w->to_s) || w->to_s > 0))
                closed[c] = false;
        }
}

static void warn_full(struct wf_request *rq, size_t resource)
{
    const struct resource *r = &rq->in->snapshot->resources[resource];
    size_t jobs = wf_job_count(rq, resource), slots = resource_slots(r);

    if (jobs <= slots)
        return;
    workflow_warn(
        &rq->problem,
        "job_count: resource '%.60s' has %s and %s: they stay, nothing is added", r->id,
        counted(jobs, "task").text, counted(slots, "slot").text);
}

static void number_resources(struct wf_request *rq)
{
    const struct snapshot *s = rq->in->snapshot;
    bool *closed = NEW(rq->arena, bool, s->resource_count);

    rq->resources = NEW(rq->arena, struct workflow_plain_resource, s->resource_count);
    close_windows(rq, closed);
    for (size_t c = 0; c < s->resource_count; c++) {
        bool stale = is_stale(rq, &s->resources[c]);

        rq->stale_count += stale;
        rq->resources[c] = (struct workflow_plain_resource){
            .site = rq->parts.site_of[c],
            .free_speed = wf_free_speed(&s->resources[c]),
            .n_max = resource_slots(&s->resources[c]),
            .job_count_other = wf_job_count(rq, c) - rq->listed[c],
            .usable = !s->resources[c].failed && !stale && !closed[c],
            .failed = s->resources[c].failed,
            .stale = stale,
            .own_slots = !wf_shares(rq, c),
        };
        if (rq->amounts) { /* n_max is one of them */
            budget_step(rq->in->budget, 8);
            rq->resources[c].n_max = SIZE_MAX;
            rq->resources[c].job_count_other += wf_running_beside(rq, c);
        } else {
            warn_full(rq, c);
        }
    }
    if (rq->stale_count > 0)
        workflow_warn(&rq->problem,
                      "stale: %s %s observed more than max_age_s ago: %s no task",
                      counted(rq->stale_count, "resource").text,
                      plural(rq->stale_count, "was", "were"),
                      plural(rq->stale_count, "it gets", "they get"));
}

/* ---- tasks ---- */

static enum workflow_plain_status status_of(const struct wf_request *rq, size_t task)
{
    switch (rq->problem.tasks[task]->status) {
    case WORKFLOW_DONE:
        return PLAIN_DONE;
    case WORKFLOW_RUNNING:
        return workflow_on_failed(&rq->problem, task) ? PLAIN_IDLE : PLAIN_RUNNING;
    case WORKFLOW_STAGING:
        return workflow_on_failed(&rq->problem, task) ? PLAIN_IDLE : PLAIN_STAGING;
    default:
        return PLAIN_IDLE;
    }
}

static bool parents_done(const struct wf_request *rq, size_t task)
{
    const struct workflow_problem *p = &rq->problem;

    for (size_t e = p->parent_first[task]; e < p->parent_first[task + 1]; e++)
        if (p->tasks[p->edges[e].parent]->status != WORKFLOW_DONE)
            return false;
    return true;
}

/* Its nodes but the one that it waits for. */
static void list_beside(const struct wf_request *rq, struct workflow_plain_task *task,
                        const size_t *nodes, size_t count)
{
    size_t *list = NEW(rq->arena, size_t, count);

    for (size_t k = 0; k < count; k++)
        if (nodes[k] != task->resource)
            list[task->beside_count++] = nodes[k];
    task->beside = list;
}

static void number_task(struct wf_request *rq, size_t task, bool *lost)
{
    const struct workflow_task *t = rq->problem.tasks[task];
    enum workflow_plain_status status = status_of(rq, task);
    bool placed = status == PLAIN_RUNNING || status == PLAIN_STAGING;
    bool was_there = t->status == WORKFLOW_RUNNING || t->status == WORKFLOW_STAGING;
    size_t count;
    const size_t *nodes = workflow_nodes_of(&rq->problem, task, &count);

    rq->tasks[task] = (struct workflow_plain_task){
        .workflow = rq->problem.workflow_of[task],
        .status = status,
        .ready = status == PLAIN_IDLE && !(t->release_s > 0) && parents_done(rq, task),
        .root = rq->problem.parent_first[task] == rq->problem.parent_first[task + 1],
        .resource = placed ? rq->parts.slowest_of[task] : WF_NONE,
        .pending_s = status == PLAIN_STAGING ? t->transfer_remaining_s : 0,
        .move_bytes = t->input_bytes + t->checkpoint_bytes,
        .stage_site = WF_NONE,
        .pinned = t->since_last_move_s < rq->param[WF_COOL_DOWN_S],
        .times_s = t->etc_count ? t->etc_s : NULL,
    };
    budget_step(rq->in->budget, count);
    rq->ready_count += rq->tasks[task].ready;
    for (size_t k = 0; placed && k < count; k++)
        rq->listed[nodes[k]]++;
    if (placed && count > 1)
        list_beside(rq, &rq->tasks[task], nodes, count);
    rq->halves += placed && count == 1 && t->nodes > 1;
    *lost |= was_there && !placed;
}

static void number_tasks(struct wf_request *rq)
{
    size_t count = rq->problem.task_count;
    bool lost = false;

    rq->tasks = NEW(rq->arena, struct workflow_plain_task, count);
    rq->listed = NEW(rq->arena, size_t, rq->in->snapshot->resource_count + 1);
    for (size_t i = 0; i < count; i++)
        number_task(rq, i, &lost);
    workflow_warn_halves(&rq->problem, rq->halves);
    if (lost)
        workflow_warn(
            &rq->problem,
            "restarted: tasks that run on a failed resource are started again, from "
            "their checkpoints");
}

/* ---- order and sets ---- */

struct arrival {
    double at_s;
    size_t workflow;
};

static int compare_arrivals(const void *left, const void *right)
{
    const struct arrival *l = left, *r = right;

    if (l->at_s != r->at_s)
        return l->at_s < r->at_s ? -1 : 1;
    return l->workflow < r->workflow ? -1 : l->workflow > r->workflow;
}

/* By submitted_at; those without one come last, in the order of the request. */
static void rank_workflows(struct wf_request *rq)
{
    size_t count = rq->in->workflow_count;
    struct arrival *list = NEW(rq->arena, struct arrival, count);
    size_t *rank = NEW(rq->arena, size_t, count);

    for (size_t w = 0; w < count; w++) {
        double at_s = rq->in->workflows[w].submitted_at_s;

        list[w] = (struct arrival){isnan(at_s) ? HUGE_VAL : at_s, w};
    }
    qsort(list, count, sizeof(*list), compare_arrivals);
    for (size_t k = 0; k < count; k++)
        rank[list[k].workflow] = k;
    rq->plain.workflow_rank = rank;
    rq->plain.workflow_count = count;
}

static int compare_numbers(const void *left, const void *right)
{
    const size_t *l = left, *r = right;

    return *l < *r ? -1 : *l > *r;
}

static void make_sets(struct wf_request *rq)
{
    const struct workflow_problem *p = &rq->problem;
    size_t *parents = NEW(rq->arena, size_t, p->edge_count);
    bool *free_root = NEW(rq->arena, bool, p->task_count);
    struct workflow_plain_set *sets;

    for (size_t e = 0; e < p->edge_count; e++)
        parents[e] = p->edges[e].parent;
    for (size_t i = 0; i < p->task_count; i++)
        qsort(parents + p->parent_first[i], p->parent_first[i + 1] - p->parent_first[i],
              sizeof(*parents), compare_numbers);
    workflow_round_sets(p->parent_first, parents, p->task_count, p->workflow_of,
                        rq->plain.workflow_rank, rq->param[WF_FINAL_TASK_AS_SET] != 0,
                        &sets, &rq->plain.set_count, free_root, rq->arena, rq->err);
    for (size_t i = 0; i < p->task_count; i++)
        rq->tasks[i].free_root = free_root[i];
    rq->plain.sets = sets;
}

/* ---- what is not used ---- */

static void warn_unused(struct wf_request *rq)
{
    const struct workflow_in *in = rq->in;
    size_t ends = 0, later = 0, unknown = 0;

    for (size_t i = 0; i < rq->problem.task_count; i++) {
        const struct workflow_task *t = rq->problem.tasks[i];

        ends += t->status == WORKFLOW_RUNNING && !isnan(t->finish_s);
        unknown += rq->tasks[i].ready && isnan(rq->tasks[i].remaining_ref_s);
    }
    for (size_t k = 0; k < in->window_count; k++)
        later += in->windows[k].from_s > 0 || in->windows[k].to_s > 0;
    if (ends > 0)
        workflow_warn(
            &rq->problem,
            "ignored: finish_s of %zu running task%s not used: a round counts on "
            "progress and estimates",
            ends, ends == 1 ? "" : "s");
    if (later > 0)
        workflow_warn(
            &rq->problem,
            "ignored: /availability: %zu window%s begin or end later, which a round "
            "does not look at",
            later, later == 1 ? "" : "s");
    if (unknown > 0)
        workflow_warn(&rq->problem,
                      "random_resource: %zu ready task%s no run time: each starts on a "
                      "random resource",
                      unknown, unknown == 1 ? " has" : "s have");
}

/* ---- the round ---- */

static enum error_code number(struct wf_request *rq)
{
    workflow_read_links(&rq->problem);
    number_processors(rq);
    workflow_read_estimates(&rq->problem);
    number_tasks(rq);
    if (workflow_amounts_asked(rq->in))
        TRY(wf_read_amounts(rq));
    number_resources(rq);
    rq->plain.tasks = rq->tasks;
    rq->plain.task_count = rq->problem.task_count;
    rq->plain.resources = rq->resources;
    rq->plain.resource_count = rq->in->snapshot->resource_count;
    rq->plain.carry = rq->carry;
    rq->plain.carry_first = rq->carry_first;
    rq->plain.carry_count = rq->in->carry_count;
    rq->plain.seed = rq->in->seed;
    rq->plain.budget = rq->in->budget;
    rq->plain.route_s = route_s;
    rq->plain.stage_s = stage_s;
    rq->plain.context = &rq->problem;
    rank_workflows(rq);
    make_sets(rq);
    TRY(wf_estimate_tasks(rq));
    warn_unused(rq);
    if (rq->amounts)
        workflow_amounts_pass_warnings(rq->amounts);
    workflow_report_ends(&rq->problem);
    workflow_warn_unused(&rq->problem);
    return OK; /* what matters more comes first */
}

enum error_code workflow_round(const struct workflow_in *in, const struct policy *policy,
                               const struct named_value *options, size_t option_count,
                               enum workflow_round_steps steps,
                               struct workflow_round_out *out, struct arena *a,
                               struct error *err)
{
    struct wf_request *rq = NEW(a, struct wf_request, 1);
    struct workflow_plain_out found = {0};
    struct workflow_round_out answer = {0};
    struct wf_before before;
    struct wf_plan plan;

    *rq = (struct wf_request){.in = in, .policy = policy, .arena = a, .err = err};
    rq->problem = (struct workflow_problem){.in = in, .parts = &rq->parts, .arena = a};
    TRY(check(rq, options, option_count));
    TRY(number(rq));
    wf_plan_make(&rq->plain, rq->param, &plan, &found, a, err);
    plan.carry_all = true;
    wf_note_before(rq, &plan, &before);
    TRY(wf_decide(&plan, policy, steps));
    wf_answer(rq, &plan, &before, steps, &answer);
    *out = answer;
    return OK;
}
