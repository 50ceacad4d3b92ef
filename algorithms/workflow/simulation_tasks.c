/* workflow/simulation_tasks.c - the life of a task, and of the workflow around it.
 *
 *     ready -> input -> (restart) -> running -> output -> done
 *                         ^             |
 *              move <- checkpoint <- take off       (or back to ready)
 *
 * A slot is taken from the assignment to the end of the work. In a migration it changes
 * hands at once, so that tasks of a group can swap theirs.
 *
 * Source: spec workflows.md 2.1, 5.5 (groups), 7; simulator.md 4.
 * Deviation: while a checkpoint is written the task takes no share of its old resource.
 */
#include "algorithms/workflow/simulation_parts.h"

#include <math.h>
#include <stdio.h>

/* ---- stages ---- */

static void wait_for(struct wsim *s, struct wsim_task *t, enum wsim_stage stage,
                     double seconds)
{
    t->stage = stage;
    t->version++;
    t->until_ms = kernel_after(&s->kernel, seconds);
    kernel_post(&s->kernel, t->until_ms,
                stage == WSIM_CHECKPOINT ? EVENT_CHECKPOINT_DONE : EVENT_STAGE, t,
                t->version);
}

static void get_ready(struct wsim *s, struct wsim_task *t)
{
    t->stage = WSIM_READY;
    t->ready_ms = s->kernel.now_ms;
}

static void run(struct wsim *s, struct wsim_task *t)
{
    t->stage = WSIM_RUNNING;
    wsim_host_run(s, t);
}

static void restart(struct wsim *s, struct wsim_task *t)
{
    t->source = NULL;
    t->image_site = WORKFLOW_SIM_NONE;
    if (s->set->restart_s > 0)
        wait_for(s, t, WSIM_RESTART, s->set->restart_s);
    else
        run(s, t);
}

/* From a checkpoint that is kept somewhere. */
static void fetch(struct wsim *s, struct wsim_task *t)
{
    const struct workflow_sim_task *g = t->given;
    double bytes = g->input_bytes + g->checkpoint_bytes;

    s->out.restart_count++;
    s->out.network_bytes += bytes;
    t->stage = WSIM_MOVE;
    if (bytes > 0)
        wsim_flow_begin(s, t, NULL, t->image_site, t->host, t->host->given->site, bytes);
    else
        restart(s, t);
}

static void stage_in(struct wsim *s, struct wsim_task *t)
{
    const struct workflow_sim_task *g = t->given;
    size_t storage = s->set->storage_site;

    t->stage = WSIM_STAGE_IN;
    if (storage == WORKFLOW_SIM_NONE) {
        wait_for(s, t, WSIM_STAGE_IN, s->set->stage_in_s);
    } else if (g->input_bytes > 0) {
        s->out.staging_bytes += g->input_bytes;
        wsim_flow_begin(s, t, NULL, storage, t->host, t->host->given->site,
                        g->input_bytes);
    } else {
        run(s, t);
    }
}

void wsim_task_start(struct wsim *s, struct wsim_task *t, struct wsim_host *h)
{
    wsim_host_take_slot(s, h);
    t->host = h;
    t->row.resource = h->index;
    if (isnan(t->row.start_s)) {
        t->row.start_s = wsim_now_s(s);
        s->out.started_task_count++;
        s->wait_s += 1e-3 * (double)(s->kernel.now_ms - t->ready_ms);
    }
    if (t->image_site != WORKFLOW_SIM_NONE)
        fetch(s, t);
    else
        stage_in(s, t);
}

/* ---- moves ---- */

void wsim_task_take_off(struct wsim *s, struct wsim_task *t)
{
    wsim_host_stop(s, t);
    wsim_host_give_slot(s, t->host);
    t->source = t->host;
    t->host = NULL;
    t->moved_ms = s->kernel.now_ms;
    t->row.moves++;
    s->out.checkpoint_count++;
}

void wsim_task_send(struct wsim *s, struct wsim_task *t, struct wsim_host *h)
{
    t->host = h;
    if (h) {
        wsim_host_take_slot(s, h);
        t->row.resource = h->index;
    } else {
        t->row.resource = WORKFLOW_SIM_NONE;
    }
    wait_for(s, t, WSIM_CHECKPOINT, s->set->checkpoint_s);
}

static void after_checkpoint(struct wsim *s, struct wsim_task *t)
{
    double bytes = t->given->input_bytes + t->given->checkpoint_bytes;
    size_t site = t->source->given->site;

    if (!t->host) {
        t->image_site = site;
        t->source = NULL;
        get_ready(s, t);
        return;
    }
    s->out.network_bytes += bytes;
    t->stage = WSIM_MOVE;
    if (bytes > 0)
        wsim_flow_begin(s, t, t->source, site, t->host, t->host->given->site, bytes);
    else
        restart(s, t);
}

/* ---- the end ---- */

static void finish_job(struct wsim *s, struct wsim_job *job)
{
    size_t index = (size_t)(job - s->jobs), at = 0;

    job->row.finish_s = wsim_now_s(s);
    s->out.finished_count++;
    while (s->active[at] != index)
        at++;
    s->active_count--;
    for (; at < s->active_count; at++)
        s->active[at] = s->active[at + 1];
}

/* Its output is there. */
static void task_done(struct wsim *s, struct wsim_task *t)
{
    struct wsim_job *job = t->job;

    t->stage = WSIM_DONE;
    for (size_t e = job->child_first[t->number]; e < job->child_first[t->number + 1];
         e++) {
        struct wsim_task *child = &job->tasks[job->children[e]];

        if (--child->waiting_count == 0)
            get_ready(s, child);
    }
    if (++job->done_count == job->given->task_count)
        finish_job(s, job);
}

void wsim_task_work_done(struct wsim *s, struct wsim_task *t)
{
    size_t storage = s->set->storage_site;
    struct wsim_host *h = t->host;

    wsim_host_stop(s, t);
    wsim_host_give_slot(s, h);
    t->work_ref_s = t->given->evolution.limit_ref_s;
    t->row.finish_s = wsim_now_s(s);
    t->job->row.done_count++;
    s->out.finished_task_count++;
    t->stage = WSIM_STAGE_OUT;
    if (storage == WORKFLOW_SIM_NONE) {
        wait_for(s, t, WSIM_STAGE_OUT, s->set->stage_out_s);
    } else if (t->given->output_bytes > 0) {
        s->out.staging_bytes += t->given->output_bytes;
        wsim_flow_begin(s, t, h, h->given->site, NULL, storage, t->given->output_bytes);
    } else {
        task_done(s, t);
    }
}

void wsim_task_proceed(struct wsim *s, struct wsim_task *t)
{
    switch (t->stage) {
    case WSIM_STAGE_IN:
    case WSIM_RESTART:
        run(s, t);
        break;
    case WSIM_CHECKPOINT:
        after_checkpoint(s, t);
        break;
    case WSIM_MOVE:
        restart(s, t);
        break;
    case WSIM_STAGE_OUT:
        task_done(s, t);
        break;
    default:
        break;
    }
}

double wsim_task_pending_s(const struct wsim *s, const struct wsim_task *t)
{
    const struct workflow_sim_task *g = t->given;
    double rest_s = fmax(0, 1e-3 * (double)(t->until_ms - s->kernel.now_ms));

    switch (t->stage) {
    case WSIM_STAGE_IN:
        return s->set->storage_site == WORKFLOW_SIM_NONE ? rest_s
                                                         : wsim_flow_left_s(s, t);
    case WSIM_CHECKPOINT:
        return rest_s + s->set->restart_s +
               wsim_route_s(s, t->source->given->site, t->host->given->site,
                            g->input_bytes + g->checkpoint_bytes);
    case WSIM_MOVE:
        return wsim_flow_left_s(s, t) + s->set->restart_s;
    case WSIM_RESTART:
        return rest_s;
    default:
        return 0;
    }
}

/* ---- arrivals ---- */

static void arrive(struct wsim *s, struct wsim_job *job)
{
    s->active[s->active_count++] = s->arrived_count++;
    s->out.submitted_count++;
    s->out.task_count += job->given->task_count;
    for (size_t t = 0; t < job->given->task_count; t++) {
        s->out.submitted_ref_s += job->given->tasks[t].evolution.limit_ref_s;
        if (job->tasks[t].waiting_count == 0)
            get_ready(s, &job->tasks[t]);
    }
    if (job->given->task_count == 0)
        finish_job(s, job);
}

/* All of this instant: a round of the same one sees them. */
void wsim_on_arrival(struct wsim *s)
{
    int64_t next_ms = s->kernel.now_ms;

    while (s->arrived_count < s->in->job_count && next_ms <= s->kernel.now_ms) {
        arrive(s, &s->jobs[s->arrived_count]);
        if (s->arrived_count < s->in->job_count)
            next_ms = kernel_ms(s->in->jobs[s->arrived_count].arrival_s);
    }
    if (s->arrived_count < s->in->job_count)
        kernel_post_arrival(&s->kernel, next_ms);
}

/* ---- beginning ---- */

/* Children of task t: children[first[t] ... first[t + 1]). */
static void make_children(const struct workflow_sim_job *g, size_t **first,
                          size_t **children, struct arena *a)
{
    size_t count = g->task_count, edges = g->parent_first[count];
    size_t *next = NEW(a, size_t, count + 1);

    *first = NEW(a, size_t, count + 1);
    *children = NEW(a, size_t, edges);
    for (size_t e = 0; e < edges; e++)
        (*first)[g->parents[e] + 1]++;
    for (size_t t = 0; t < count; t++) {
        (*first)[t + 1] += (*first)[t];
        next[t] = (*first)[t];
    }
    for (size_t t = 0; t < count; t++)
        for (size_t e = g->parent_first[t]; e < g->parent_first[t + 1]; e++)
            (*children)[next[g->parents[e]]++] = t;
}

void workflow_sim_cycle(const struct workflow_sim_job *job, size_t *at, struct arena *a)
{
    size_t count = job->task_count, found = 0, *first, *children;
    size_t *left = NEW(a, size_t, count), *order = NEW(a, size_t, count);

    make_children(job, &first, &children, a);
    for (size_t t = 0; t < count; t++) {
        left[t] = job->parent_first[t + 1] - job->parent_first[t];
        if (left[t] == 0)
            order[found++] = t;
    }
    for (size_t done = 0; done < found; done++)
        for (size_t e = first[order[done]]; e < first[order[done] + 1]; e++)
            if (--left[children[e]] == 0)
                order[found++] = children[e];
    *at = WORKFLOW_SIM_NONE;
    for (size_t t = count; t-- > 0;)
        if (left[t] > 0)
            *at = t;
}

/* Parent sets, with members and children by their number in the job. */
static void make_sets(struct wsim *s, struct wsim_job *job)
{
    const struct workflow_sim_job *g = job->given;
    size_t *zeros = NEW(s->a, size_t, g->task_count + 1);

    job->free_root = NEW(s->a, bool, g->task_count);
    workflow_round_sets(g->parent_first, g->parents, g->task_count, zeros, zeros,
                        s->final_sets, &job->sets, &job->set_count, job->free_root, s->a,
                        s->err);
}

static enum error_code begin_job(struct wsim *s, size_t index, size_t *number)
{
    struct wsim_job *job = &s->jobs[index];
    const struct workflow_sim_job *g = &s->in->jobs[index];
    size_t at;

    workflow_sim_cycle(g, &at, s->a);
    if (at != WORKFLOW_SIM_NONE)
        return invalid(s->err, "/workflows", ITEM_CYCLE,
                       "tasks of workflow %zu wait for each other", index);
    job->given = g;
    job->row.finish_s = (double)NAN;
    job->tasks = NEW(s->a, struct wsim_task, g->task_count);
    for (size_t i = 0; i < g->task_count; i++) {
        struct wsim_task *t = &job->tasks[i];
        char name[48];

        snprintf(name, sizeof(name), "task%zu.report", (*number)++);
        t->given = &g->tasks[i];
        t->job = job;
        t->number = i;
        t->waiting_count = g->parent_first[i + 1] - g->parent_first[i];
        t->image_site = WORKFLOW_SIM_NONE;
        t->moved_ms = -1;
        t->row.start_s = t->row.finish_s = (double)NAN;
        t->row.resource = WORKFLOW_SIM_NONE;
        t->reported.estimate_ref_s = (double)NAN;
        t->reported.rng = rng_stream(s->in->seed, name);
    }
    make_children(g, &job->child_first, &job->children, s->a);
    make_sets(s, job);
    return OK;
}

enum error_code wsim_jobs_begin(struct wsim *s)
{
    size_t number = 0;

    s->jobs = NEW(s->a, struct wsim_job, s->in->job_count);
    s->active = NEW(s->a, size_t, s->in->job_count);
    for (size_t i = 0; i < s->in->job_count; i++)
        TRY(begin_job(s, i, &number));
    if (s->in->job_count)
        kernel_post_arrival(&s->kernel, kernel_ms(s->in->jobs[0].arrival_s));
    return OK;
}
