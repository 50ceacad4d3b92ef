/* workflow/simulation_rounds.c - what the scheduler is told in a round, and what is done
 * of what it says.
 *
 * It sees the workflows that are here, resources and progress as the information service
 * last saw them, slots and ends as they are. Groups of moves are carried out in order,
 * in each first all checkpoints, then all submissions; then the starts.
 *
 * Source: spec workflows.md 5.2, 5.5, 5.6; simulator.md 3.4.
 * Deviation: a parent whose output is on its way counts as done, its children as
 * waiting: it holds neither a slot nor its set's other members up.
 */
#include "algorithms/workflow/round_plan.h"
#include "algorithms/workflow/simulation_parts.h"

#include <math.h>

/* ---- what it is told ---- */

static enum workflow_plain_status status_of(const struct wsim_task *t)
{
    switch (t->stage) {
    case WSIM_RUNNING:
        return PLAIN_RUNNING;
    case WSIM_STAGE_IN:
    case WSIM_MOVE:
    case WSIM_RESTART:
        return PLAIN_STAGING;
    case WSIM_CHECKPOINT:
        return t->host ? PLAIN_STAGING : PLAIN_IDLE;
    case WSIM_STAGE_OUT:
    case WSIM_DONE:
        return PLAIN_DONE;
    default:
        return PLAIN_IDLE;
    }
}

static void fill_task(struct wsim *s, struct wsim_task *t, size_t workflow,
                      struct workflow_plain_task *out)
{
    const struct workflow_sim_task *g = t->given;
    enum workflow_plain_status status = status_of(t);
    bool has_image = t->image_site != WORKFLOW_SIM_NONE;
    double cool_down_s = s->in->policy.param[WF_COOL_DOWN_S];

    *out = (struct workflow_plain_task){
        .workflow = workflow,
        .status = status,
        .ready = t->stage == WSIM_READY,
        .free_root = t->job->free_root[t->number],
        .root = t->job->given->parent_first[t->number + 1] ==
                t->job->given->parent_first[t->number],
        .resource = t->host ? t->host->index : WORKFLOW_SIM_NONE,
        .remaining_ref_s = (double)NAN,
        .move_bytes = g->input_bytes + g->checkpoint_bytes,
        .stage_bytes = g->input_bytes + (has_image ? g->checkpoint_bytes : 0),
        .stage_site = has_image ? t->image_site : s->set->storage_site,
        .pinned = cool_down_s > 0 && t->moved_ms >= 0 &&
                  1e-3 * (double)(s->kernel.now_ms - t->moved_ms) < cool_down_s,
    };
    if (status == PLAIN_STAGING)
        out->pending_s = wsim_task_pending_s(s, t);
    if (status == PLAIN_STAGING || status == PLAIN_RUNNING || out->ready)
        out->remaining_ref_s = wsim_remaining_ref_s(s, t);
    out->spread_ref_s = t->reported.spread_ref_s;
}

/* Sets of a job, its first task having the number `base`. */
static void fill_sets(struct wsim *s, const struct wsim_job *job, size_t workflow,
                      size_t base, struct workflow_plain_set *out)
{
    for (size_t i = 0; i < job->set_count; i++) {
        const struct workflow_plain_set *from = &job->sets[i];
        size_t *members = NEW(s->in->scratch, size_t, from->member_count);
        size_t *children = NEW(s->in->scratch, size_t, from->child_count);

        for (size_t m = 0; m < from->member_count; m++)
            members[m] = base + from->members[m];
        for (size_t c = 0; c < from->child_count; c++)
            children[c] = base + from->children[c];
        out[i] = *from;
        out[i].workflow = workflow;
        out[i].members = members;
        out[i].children = children;
    }
}

static void fill_resources(struct wsim *s, struct workflow_plain *plain)
{
    size_t count = s->in->grid.resource_count;
    struct workflow_plain_resource *list =
        NEW(s->in->scratch, struct workflow_plain_resource, count);
    double age_s = 1e-3 * (double)(s->kernel.now_ms - s->looked_ms);

    for (size_t i = 0; i < count; i++)
        list[i] = (struct workflow_plain_resource){
            .site = s->hosts[i].given->site,
            .free_speed = s->hosts[i].seen_speed,
            .n_max = s->hosts[i].given->n_max,
            .usable = !(age_s > s->in->policy.param[WF_MAX_AGE_S]),
        };
    plain->resources = list;
    plain->resource_count = count;
}

/* Tasks that wait since the last round. */
static void fill_carry(struct wsim *s, struct workflow_plain *plain)
{
    size_t tasks = s->carry_count ? s->carry_first[s->carry_count] : 0;
    size_t *list = NEW(s->in->scratch, size_t, tasks);

    for (size_t i = 0; i < tasks; i++)
        list[i] = s->carry[i]->plain;
    plain->carry = list;
    plain->carry_first = s->carry_first;
    plain->carry_count = s->carry_count;
}

struct round {
    struct workflow_plain plain;
    struct wsim_task **tasks; /* by number */
};

static enum error_code fill_workflows(struct wsim *s, struct round *r)
{
    struct arena *a = s->in->scratch;
    struct workflow_plain_task *tasks;
    struct workflow_plain_set *sets;
    size_t *rank = NEW(a, size_t, s->active_count), at = 0;

    for (size_t i = 0; i < s->active_count; i++) {
        r->plain.task_count += s->jobs[s->active[i]].given->task_count;
        r->plain.set_count += s->jobs[s->active[i]].set_count;
    }
    tasks = NEW(a, struct workflow_plain_task, r->plain.task_count);
    sets = NEW(a, struct workflow_plain_set, r->plain.set_count);
    r->tasks = NEW(a, struct wsim_task *, r->plain.task_count);
    r->plain.set_count = 0;
    for (size_t i = 0; i < s->active_count; i++) {
        struct wsim_job *job = &s->jobs[s->active[i]];

        rank[i] = i;
        fill_sets(s, job, i, at, &sets[r->plain.set_count]);
        r->plain.set_count += job->set_count;
        for (size_t t = 0; t < job->given->task_count; t++, at++) {
            r->tasks[at] = &job->tasks[t];
            job->tasks[t].plain = at;
            fill_task(s, &job->tasks[t], i, &tasks[at]);
        }
    }
    r->plain.tasks = tasks;
    r->plain.sets = sets;
    r->plain.workflow_rank = rank;
    r->plain.workflow_count = s->active_count;
    return s->failed;
}

static enum error_code fill(struct wsim *s, struct round *r)
{
    *r = (struct round){0};
    TRY(fill_workflows(s, r));
    fill_resources(s, &r->plain);
    fill_carry(s, &r->plain);
    r->plain.site_mbps = s->site_mbps;
    r->plain.site_latency_s = s->site_latency_s;
    r->plain.site_count = s->in->grid.site_count;
    r->plain.seed = s->in->seed;
    r->plain.round = s->out.round_count;
    r->plain.budget = s->in->budget;
    return OK;
}

/* ---- what is done ---- */

static void count_move(struct wsim *s, const struct workflow_plain_move *m)
{
    s->out.move_count += m->action == WORKFLOW_MIGRATE;
    s->out.eviction_count += m->action == WORKFLOW_EVICT;
    s->out.postponed_count += m->action == WORKFLOW_POSTPONE;
}

static void carry_out_moves(struct wsim *s, const struct round *r,
                            const struct workflow_plain_out *out)
{
    for (size_t first = 0, end; first < out->move_count; first = end) {
        for (end = first;
             end < out->move_count && out->moves[end].group == out->moves[first].group;
             end++)
            wsim_task_take_off(s, r->tasks[out->moves[end].task]);
        for (size_t i = first; i < end; i++) {
            const struct workflow_plain_move *m = &out->moves[i];

            wsim_task_send(s, r->tasks[m->task],
                           m->to == WORKFLOW_SIM_NONE ? NULL : &s->hosts[m->to]);
            count_move(s, m);
        }
    }
}

static void keep_carry(struct wsim *s, const struct round *r,
                       const struct workflow_plain_out *out)
{
    size_t tasks = out->carry_count ? out->carry_first[out->carry_count] : 0;

    if (tasks + 1 > s->carry_size) {
        s->carry_size = 2 * tasks + 64;
        s->carry = NEW(s->a, struct wsim_task *, s->carry_size);
        s->carry_first = NEW(s->a, size_t, s->carry_size + 1);
    }
    s->carry_count = 0;
    for (size_t i = 0; i < tasks; i++)
        s->carry[i] = r->tasks[out->carry[i]];
    for (size_t i = 0; out->carry_count && i <= out->carry_count; i++)
        s->carry_first[i] = out->carry_first[i];
    s->carry_count = out->carry_count;
}

void wsim_round(struct wsim *s)
{
    const struct workflow_sim_policy *p = &s->in->policy;
    struct workflow_plain_out out = {0};
    struct round r;

    if (!(s->set->information_interval_s > 0))
        wsim_poll(s);
    arena_reset(s->in->scratch);
    s->out.round_count++;
    if (s->active_count == 0 || s->failed)
        return;
    s->failed = fill(s, &r);
    if (!s->failed)
        s->failed = workflow_round_run(&r.plain, p->policy, p->param, WORKFLOW_STEPS_ALL,
                                       &out, s->in->scratch, s->err);
    if (s->failed)
        return;
    s->out.is_cut = out.cut;
    carry_out_moves(s, &r, &out);
    for (size_t i = 0; i < out.start_count; i++)
        wsim_task_start(s, r.tasks[out.starts[i].task],
                        &s->hosts[out.starts[i].resource]);
    keep_carry(s, &r, &out);
}
