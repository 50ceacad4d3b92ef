/* workflow/amounts.c - from workflows to a world of jobs.
 *
 * Open tasks are read as jobs of a placement request, so that needs, partitions, running
 * jobs and reservations mean the same. What a workflow has besides comes afterwards: its
 * dependencies, its own running tasks, and the windows of resources.
 */
#include "algorithms/workflow/amounts_parts.h"

#include "algorithms/workflow/problem_parts.h"

#include <stdlib.h>
#include <string.h>

static bool resource_asks(const struct resource *r)
{
    return r->capacity_count || r->disk_bytes > 0 || r->running_count ||
           r->reservation_count || r->allowed;
}

static bool asks_more(const struct workflow_task *t)
{
    return t->disk_bytes > 0 || t->need_count || t->nodes > 1 || t->exclusive ||
           t->time_limit_s > 0 || t->requirement || t->partition_id_count || t->group;
}

/* What a resource of today can limit. */
static bool cpus_or_memory(const struct workflow_task *t)
{
    return t->cpus > 0 || t->memory_bytes > 0;
}

static bool some_limit(const struct snapshot *s)
{
    for (size_t i = 0; i < s->resource_count; i++)
        if (s->resources[i].cpus >= 0 || s->resources[i].memory_bytes >= 0)
            return true;
    return false;
}

bool workflow_amounts_asked(const struct workflow_in *in)
{
    const struct snapshot *s = in->snapshot;
    bool asked = s->shared_capacity_count || s->running_count || s->reservation_count ||
                 s->partition_count;
    bool limits = some_limit(s);

    for (size_t i = 0; i < s->resource_count && !asked; i++)
        asked = resource_asks(&s->resources[i]);
    for (size_t w = 0; w < in->workflow_count && !asked; w++)
        for (size_t i = 0; i < in->workflows[w].task_count && !asked; i++)
            asked = asks_more(&in->workflows[w].tasks[i]) ||
                    (limits && cpus_or_memory(&in->workflows[w].tasks[i]));
    return asked;
}

/* ---- tasks as jobs ---- */

/* Run times by resource, as far as a checkpoint leaves them; NULL: by speed. */
static const double *times_of(const struct workflow_problem *problem, size_t task)
{
    const struct workflow_task *t = problem->tasks[task];
    double left = problem->parts->left_ratio[task], *times;

    if (!t->etc_count)
        return NULL;
    times = NEW(problem->arena, double, t->etc_count);
    for (size_t r = 0; r < t->etc_count; r++)
        times[r] = t->etc_s[r] * left;
    return times;
}

static struct job job_of(const struct workflow_problem *problem, size_t task)
{
    const struct workflow_task *t = problem->tasks[task];
    const char *workflow = problem->in->workflows[problem->workflow_of[task]].id;
    struct job job =
        job_unset(problem->in->single || !workflow
                      ? t->id
                      : arena_printf(problem->arena, "%s/%s", workflow, t->id));

    job.estimate_ref_s = t->estimate_ref_s * problem->parts->left_ratio[task];
    job.etc_s = times_of(problem, task);
    job.etc_count = t->etc_count;
    if (t->cpus > 0)
        job.cpus = t->cpus;
    job.memory_bytes = fmax(0, t->memory_bytes);
    job.disk_bytes = fmax(0, t->disk_bytes);
    job.needs = t->needs;
    job.need_count = t->need_count;
    if (t->nodes)
        job.nodes = t->nodes;
    job.exclusive = t->exclusive;
    job.user = t->user;
    job.organisations = t->organisations;
    job.organisation_count = t->organisation_count;
    job.group = t->group;
    job.requirement = t->requirement;
    job.partition_ids = t->partition_ids;
    job.partition_id_count = t->partition_id_count;
    job.release_s = t->release_s;
    if (t->time_limit_s > 0)
        job.time_limit_s = t->time_limit_s;
    return job;
}

static const struct job *list_jobs(struct workflow_amounts *x)
{
    const struct workflow_problem *problem = x->problem;
    struct job *jobs = NEW(x->arena, struct job, problem->open_count);
    size_t count = 0;

    x->job_of = NEW(x->arena, size_t, problem->task_count);
    x->task_of = NEW(x->arena, size_t, problem->open_count);
    for (size_t i = 0; i < problem->task_count; i++) {
        x->job_of[i] = WORKFLOW_NONE;
        if (!workflow_is_open(problem, i))
            continue;
        budget_step(problem->in->budget, 16 + problem->tasks[i]->etc_count);
        x->job_of[i] = count;
        x->task_of[count] = i;
        jobs[count++] = job_of(problem, i);
    }
    return jobs;
}

/* ---- the snapshot without what the request's own tasks use ---- */

static bool is_running(const struct workflow_problem *problem, size_t task)
{
    return problem->tasks[task]->status != WORKFLOW_DONE &&
           !workflow_is_open(problem, task);
}

/* In a round running tasks are jobs too, as they may move. */
static bool is_own(const struct workflow_amounts *x, size_t task)
{
    return x->runs ? x->runs[task] : is_running(x->problem, task);
}

/* Takes out of the ends the one that is closest. */
static size_t drop_closest(double *ends_s, size_t count, double end_s)
{
    size_t closest = 0;

    for (size_t k = 1; k < count; k++)
        if (fabs(ends_s[k] - end_s) < fabs(ends_s[closest] - end_s))
            closest = k;
    memmove(ends_s + closest, ends_s + closest + 1,
            (count - closest - 1) * sizeof(*ends_s));
    return count - 1;
}

/* The used slots of a resource are those of others: a running task of the request takes
 * one away, of unknown end if there is such a one. */
static void take_away(struct resource *r, double end_s, struct arena *a)
{
    double *ends_s = NEW(a, double, r->free_at_count + 1);

    if (!(r->job_count > 0))
        return;
    r->job_count--;
    if ((double)r->free_at_count <= r->job_count)
        return;
    memcpy(ends_s, r->free_at_s, r->free_at_count * sizeof(*ends_s));
    r->free_at_count = drop_closest(ends_s, r->free_at_count, end_s);
    r->free_at_s = ends_s;
}

static bool is_row_of(const struct workflow_amounts *x, const char *row, size_t task)
{
    const struct workflow_problem *problem = x->problem;
    const struct workflow_task *t = problem->tasks[task];
    const char *workflow = problem->in->workflows[problem->workflow_of[task]].id;
    size_t length = workflow ? strlen(workflow) : 0;

    if (!row)
        return false;
    if (strcmp(row, t->id) == 0)
        return true;
    return !problem->in->single && workflow && strncmp(row, workflow, length) == 0 &&
           row[length] == '/' && strcmp(row + length + 1, t->id) == 0;
}

/* The caller's list of running jobs has a task of its own too: that is one job. */
static void drop_row(const struct workflow_amounts *x, const struct taken_running **rows,
                     size_t *count, size_t task)
{
    struct taken_running *list;
    size_t kept = 0;

    for (size_t k = 0; k < *count; k++)
        kept += !is_row_of(x, (*rows)[k].id, task);
    if (kept == *count)
        return;
    list = NEW(x->arena, struct taken_running, kept);
    kept = 0;
    for (size_t k = 0; k < *count; k++)
        if (!is_row_of(x, (*rows)[k].id, task))
            list[kept++] = (*rows)[k];
    *rows = list;
    *count = kept;
}

static void drop_rows(const struct workflow_amounts *x, const struct taken_running **rows,
                      size_t *count)
{
    for (size_t i = 0; i < x->problem->task_count && *count; i++)
        if (is_own(x, i)) {
            budget_step(x->problem->in->budget, *count);
            drop_row(x, rows, count, i);
        }
}

static const struct snapshot *snapshot_of_others(struct workflow_amounts *x)
{
    const struct workflow_problem *problem = x->problem;
    const struct snapshot *given = problem->in->snapshot;
    struct snapshot *s = NEW(x->arena, struct snapshot, 1);
    struct resource *list = NEW(x->arena, struct resource, given->resource_count);

    memcpy(list, given->resources, given->resource_count * sizeof(*list));
    for (size_t i = 0; i < problem->task_count; i++) {
        size_t count;
        const size_t *nodes = workflow_nodes_of(problem, i, &count);

        for (size_t k = 0; is_own(x, i) && k < count; k++) {
            struct resource *r = &list[nodes[k]];

            budget_step(problem->in->budget, r->free_at_count + r->running_count);
            take_away(r, problem->fixed_finish_s[i], x->arena);
            if (x->runs)
                drop_row(x, &r->running, &r->running_count, i);
        }
    }
    *s = *given;
    s->resources = list;
    if (x->runs)
        drop_rows(x, &s->running, &s->running_count);
    return s;
}

/* ---- mistakes ---- */

/* "/jobs/3/needs" is "/workflow/tasks/7/needs". */
static const char *pointer_of(const struct workflow_amounts *x, const char *pointer)
{
    const struct workflow_problem *problem = x->problem;
    char *rest, path[64];
    size_t job, task, workflow, first;

    if (strncmp(pointer, "/jobs/", 6) != 0)
        return pointer;
    job = (size_t)strtoull(pointer + 6, &rest, 10);
    if (job >= problem->open_count)
        return pointer;
    task = x->task_of[job];
    workflow = problem->workflow_of[task];
    for (first = task; first > 0 && problem->workflow_of[first - 1] == workflow;)
        first--;
    return arena_printf(x->arena, "%s/tasks/%zu%s",
                        workflow_path(problem->in, workflow, path, sizeof(path)),
                        task - first, rest);
}

static void point_to_tasks(const struct workflow_amounts *x, struct error_item *item)
{
    for (; item; item = item->next)
        item->pointer = pointer_of(x, item->pointer);
}

/* ---- what a world of jobs does not have ---- */

static void add_dependencies(struct workflow_amounts *x)
{
    const struct workflow_problem *problem = x->problem;
    struct world_after *after = NEW(x->arena, struct world_after, problem->edge_count);
    size_t used = 0;

    x->world_jobs = NEW(x->arena, struct world_job, x->w->job_count);
    memcpy(x->world_jobs, x->w->jobs, x->w->job_count * sizeof(*x->world_jobs));
    x->w->jobs = x->world_jobs;
    for (size_t k = 0; k < x->w->job_count; k++) {
        struct world_job *j = &x->world_jobs[k];
        size_t i = x->task_of[k];

        budget_step(problem->in->budget,
                    1 + problem->parent_first[i + 1] - problem->parent_first[i]);
        j->after = after + used;
        j->after_count = 0;
        for (size_t e = problem->parent_first[i]; e < problem->parent_first[i + 1]; e++) {
            size_t parent = problem->edges[e].parent;

            if (workflow_is_open(problem, parent) && !(x->runs && x->runs[parent])) {
                after[used++] = (struct world_after){x->job_of[parent], AFTER_OK};
                j->after_count++;
            } else {
                j->earliest_s = fmax(j->earliest_s, problem->fixed_finish_s[parent]);
            }
        }
    }
}

struct holders {
    struct workflow_amounts *x;
    struct world_holder *list;
    size_t count;
    size_t *here; /* [position]: how many it has */
};

static void add_holder(struct holders *h, const size_t *positions, size_t count,
                       struct world_holder holder)
{
    size_t *at = NEW(h->x->arena, size_t, count);

    budget_step(h->x->w->budget, count);
    memcpy(at, positions, count * sizeof(*at));
    holder.positions = at;
    holder.position_count = count;
    h->list[h->count++] = holder;
    for (size_t k = 0; k < count; k++)
        h->here[at[k]]++;
}

/* As a job's, in the world's units. */
static const int64_t *amounts_of(const struct workflow_amounts *x,
                                 const struct workflow_task *t)
{
    const struct world *w = x->w;
    int64_t *of = NEW(x->arena, int64_t, w->amount_count);

    of[AMOUNT_CPUS] = amount_units(t->cpus > 0 ? t->cpus : 1, AMOUNT_UNITS_PER_ONE);
    of[AMOUNT_MEMORY] = amount_units(t->memory_bytes > 0 ? t->memory_bytes : 0, 1);
    of[AMOUNT_DISK] = amount_units(t->disk_bytes > 0 ? t->disk_bytes : 0, 1);
    of[AMOUNT_JOBS] = 1;
    of[AMOUNT_PRESENCE] = t->exclusive ? AMOUNT_PRESENCE_ALL : 1;
    for (size_t k = 0; k < t->need_count; k++)
        for (size_t row = AMOUNT_NAMED; row < w->amount_count; row++)
            if (strcmp(t->needs[k].name, w->amounts[row].name) == 0)
                of[row] = amount_units(t->needs[k].number, AMOUNT_UNITS_PER_ONE);
    return of;
}

/* The caller's list of running jobs has the task too. */
static bool is_listed(const struct workflow_amounts *x, size_t position,
                      const struct workflow_task *t)
{
    const struct world_resource *r = &x->w->resources[position];

    for (size_t k = 0; k < r->holder_count; k++) {
        const struct world_holder *h = &x->w->holders[r->holders[k]];

        if (h->kind == HOLDER_RUNNING && h->id && strcmp(h->id, t->id) == 0)
            return true;
    }
    return false;
}

static void add_running(struct holders *h)
{
    struct workflow_amounts *x = h->x;
    struct workflow_problem *problem = x->problem;
    size_t halves = 0;

    for (size_t i = 0; i < problem->task_count; i++) {
        const struct workflow_task *t = problem->tasks[i];
        size_t count, *positions;
        const size_t *nodes = workflow_nodes_of(problem, i, &count);
        bool listed = false;

        if (!is_running(problem, i) || count == 0)
            continue;
        positions = NEW(x->arena, size_t, count);
        for (size_t k = 0; k < count; k++) {
            positions[k] = x->jobs.position_of[nodes[k]];
            budget_step(problem->in->budget,
                        1 + x->w->resources[positions[k]].holder_count);
            listed |= is_listed(x, positions[k], t);
        }
        if (listed)
            continue;
        halves += count == 1 && t->nodes > 1;
        add_holder(
            h, positions, count,
            (struct world_holder){.kind = HOLDER_RUNNING,
                                  .id = t->id,
                                  .end_s = problem->fixed_finish_s[i],
                                  .end_unknown = problem->fixed_finish_s[i] == HUGE_VAL,
                                  .amounts = amounts_of(x, t),
                                  .group = workflow_amounts_group(x, t),
                                  .weight = 1});
    }
    if (!x->runs)
        workflow_warn_halves(problem, halves);
}

/* Outside the windows of a resource all of it is reserved. */
static void add_closed(struct holders *h)
{
    struct workflow_amounts *x = h->x;
    const struct workflow_problem *problem = x->problem;
    int64_t *none = NEW(x->arena, int64_t, x->w->amount_count);

    for (size_t r = 0; r < problem->processor_count; r++) {
        const struct workflow_processor *p = &problem->processors[r];

        budget_step(problem->in->budget, 1 + p->closed_count);
        for (size_t k = 0; k < p->closed_count; k++)
            add_holder(h, &x->jobs.position_of[p->resource], 1,
                       (struct world_holder){.kind = HOLDER_RESERVATION,
                                             .start_s = p->closed[k].from_s,
                                             .end_s = p->closed[k].to_s,
                                             .all = true,
                                             .amounts = none,
                                             .group = WORLD_NONE});
    }
}

/* A pack goes on where its members were: whatever they have left there is there. They
 * hold nothing, so no resource lists them. */
static void add_done(struct holders *h)
{
    struct workflow_amounts *x = h->x;
    const struct workflow_problem *problem = x->problem;
    int64_t *none = NULL;

    for (size_t i = 0; i < problem->task_count; i++) {
        size_t group = workflow_amounts_pack_left(x, i), count, *positions;
        const size_t *nodes = workflow_nodes_of(problem, i, &count);

        if (group == WORLD_NONE || count == 0)
            continue;
        if (!none)
            none = NEW(x->arena, int64_t, x->w->amount_count);
        budget_step(problem->in->budget, count);
        positions = NEW(x->arena, size_t, count);
        for (size_t k = 0; k < count; k++)
            positions[k] = x->jobs.position_of[nodes[k]];
        h->list[h->count++] = (struct world_holder){.kind = HOLDER_RUNNING,
                                                    .id = problem->tasks[i]->id,
                                                    .amounts = none,
                                                    .positions = positions,
                                                    .position_count = count,
                                                    .group = group,
                                                    .weight = 1};
    }
}

static size_t most_holders(const struct workflow_problem *problem)
{
    size_t count = problem->task_count - problem->open_count;

    for (size_t r = 0; r < problem->processor_count; r++)
        count += problem->processors[r].closed_count;
    return count;
}

/* The lists of the resources, with the new ones: [before, end). */
static void list_holders(struct holders *h, size_t before, size_t end)
{
    struct world *w = h->x->w;
    struct world_resource *resources =
        NEW(h->x->arena, struct world_resource, w->resource_count);

    memcpy(resources, w->resources, w->resource_count * sizeof(*resources));
    for (size_t p = 0; p < w->resource_count; p++) {
        size_t *list = NEW(h->x->arena, size_t, resources[p].holder_count + h->here[p]);

        budget_step(w->budget, 1 + resources[p].holder_count);
        memcpy(list, resources[p].holders, resources[p].holder_count * sizeof(*list));
        resources[p].holders = list;
    }
    for (size_t k = before; k < end; k++) {
        budget_step(w->budget, h->list[k].position_count);
        for (size_t n = 0; n < h->list[k].position_count; n++) {
            struct world_resource *r = &resources[h->list[k].positions[n]];

            ((size_t *)r->holders)[r->holder_count++] = k;
        }
    }
    w->resources = resources;
    w->holders = h->list;
    w->holder_count = h->count;
}

void workflow_amounts_hold(struct workflow_amounts *x)
{
    struct holders h = {
        .x = x,
        .list = NEW(x->arena, struct world_holder,
                    x->w->holder_count + most_holders(x->problem)),
        .count = x->w->holder_count,
        .here = NEW(x->arena, size_t, x->w->resource_count),
    };
    size_t holding;

    memcpy(h.list, x->w->holders, x->w->holder_count * sizeof(*h.list));
    add_running(&h);
    add_closed(&h);
    holding = h.count;
    add_done(&h);
    workflow_amounts_join_groups(x, h.list, x->w->holder_count, h.count);
    list_holders(&h, x->w->holder_count, holding);
}

/* ---- all of it ---- */

/* Others on a resource no longer keep it for themselves. */
static void open_processors(struct workflow_problem *problem)
{
    struct workflow_processor *list =
        NEW(problem->arena, struct workflow_processor, problem->processor_count);

    memcpy(list, problem->processors, problem->processor_count * sizeof(*list));
    for (size_t p = 0; p < problem->processor_count; p++) {
        const struct resource *r = &problem->in->snapshot->resources[list[p].resource];

        list[p].usable = !r->failed;
        list[p].blocked = list[p].closed;
        list[p].blocked_count = list[p].closed_count;
    }
    problem->processors = list;
}

void workflow_amounts_pass_warnings(struct workflow_amounts *x)
{
    for (size_t k = 0; k < x->jobs.warning_count; k++) {
        const char *text = x->jobs.warnings[k], *at = strstr(text, "/jobs/");
        size_t length = at ? strcspn(at, " ,;:)") : 0;

        if (!at)
            workflow_warn(x->problem, "%s", text);
        else
            workflow_warn(x->problem, "%.*s%s%s", (int)(at - text), text,
                          pointer_of(x, arena_text(x->arena, at, length)), at + length);
    }
}

/* Of a round, whose world has no dependencies: what runs is not waited for. */
static void check_circles(const struct workflow_amounts *x, struct error *err)
{
    struct world w = *x->w;
    struct workflow_amounts with = *x;

    with.w = &w;
    add_dependencies(&with);
    workflow_amounts_check_circles(&with, err);
}

enum error_code workflow_amounts_world(struct workflow_amounts *x, struct error *err)
{
    static const struct placement_world nothing_more = {0};
    struct workflow_problem *problem = x->problem;
    struct arena *a = x->arena;
    struct placement_in *in = NEW(a, struct placement_in, 1);
    double *common = NEW(a, double, PARAMS_MAX);
    struct error_item *last = err->last;
    size_t before = err->item_count;
    struct amounts *checked;
    struct amounts_world made;

    *in = (struct placement_in){
        .jobs = list_jobs(x),
        .job_count = problem->open_count,
        .snapshot = snapshot_of_others(x),
        .world = &nothing_more,
        .seed = problem->in->seed,
        .budget = problem->in->budget,
    };
    TRY(params_bind(placement_common_params, NULL, 0, common, err));
    amounts_check(in, false, &checked, a, err);
    problem_prepare(in, common, &x->jobs, a, err);
    if (err->item_count > before) {
        point_to_tasks(x, last ? last->next : err->first);
        return ERR_INVALID;
    }
    if (x->runs)
        amounts_start_now(checked);
    amounts_world(&x->jobs, checked, &made);
    x->w = made.world;
    x->waits_for = made.waits_for;
    workflow_amounts_name_groups(x);
    if (x->runs)
        check_circles(x, err);
    if (err->item_count > before) {
        point_to_tasks(x, last ? last->next : err->first);
        return ERR_INVALID;
    }
    return OK;
}

enum error_code workflow_amounts_make(struct workflow_problem *problem,
                                      struct workflow_amounts **out, struct arena *a,
                                      struct error *err)
{
    struct workflow_amounts *x = NEW(a, struct workflow_amounts, 1);
    struct error_item *last = err->last;
    size_t before = err->item_count;

    x->problem = problem;
    x->arena = a;
    TRY(workflow_amounts_world(x, err));
    open_processors(problem);
    add_dependencies(x);
    workflow_amounts_check_circles(x, err);
    if (err->item_count > before) {
        point_to_tasks(x, last ? last->next : err->first);
        return ERR_INVALID;
    }
    workflow_amounts_hold(x);
    workflow_amounts_pass_warnings(x);
    x->board = board_create(x->w, NULL, a);
    *out = x;
    return OK;
}
