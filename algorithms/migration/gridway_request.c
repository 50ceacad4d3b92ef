/* migration/gridway_request.c - checks a request of running jobs, and makes a placement
 * problem of it.
 *
 * A restart file is a file at one site, and so are outputs that wait on the old host:
 * then one model of transfers serves all. Their ids begin with a control character.
 */
#include "algorithms/migration/gridway_parts.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST 1e100
#define PREFIX  "\001"

/* Where mistakes of the job at hand are noted. */
struct checker {
    const struct gridway_in *in;
    struct gridway_request *request;
    size_t *seen; /* by resource: the last job on it, from 1 */
    struct arena *arena;
    struct error *err;
};

static void mistake(const struct checker *c, size_t i, const char *member,
                    enum item_code code, const char *detail)
{
    char pointer[96];

    snprintf(pointer, sizeof(pointer), "/jobs/%zu/%s", i, member);
    invalid(c->err, pointer, code, "%s", detail);
}

static void check_number(const struct checker *c, size_t i, const char *member,
                         double value, double most, bool optional)
{
    if (isnan(value) ? optional : value >= 0 && value <= most)
        return;
    mistake(c, i, member, ITEM_OUT_OF_BOUNDS, "must be a number that is not negative");
}

static void check_restart(const struct checker *c, size_t i,
                          const struct reschedule_job *job)
{
    const struct reschedule_restart *restart = job->restart;

    if (!restart)
        return;
    check_number(c, i, "restart/work_done_ref_s", restart->work_done_ref_s, DBL_MAX,
                 false);
    check_number(c, i, "restart/bytes", restart->bytes, LARGEST, false);
    if (restart->work_done_ref_s > job->work_done_ref_s)
        mistake(c, i, "restart/work_done_ref_s", ITEM_OUT_OF_BOUNDS,
                "more than the work that the job has done");
    if (restart->site_id && restart->resource_id)
        mistake(c, i, "restart/site_id", ITEM_CONFLICT,
                "give either site_id or resource_id, not both");
    if (!restart->site_id || restart->resource_id)
        c->request->restart_host[i] =
            restart->resource_id
                ? name_index_find(&c->request->resources, restart->resource_id)
                : c->request->present[i];
    if (restart->resource_id && c->request->restart_host[i] == NAME_NOT_FOUND)
        mistake(c, i, "restart/resource_id", ITEM_UNKNOWN_ID,
                "no such resource in the snapshot");
}

static void check_contract(const struct checker *c, size_t i,
                           const struct reschedule_job *job)
{
    const struct reschedule_contract *contract = job->contract;
    double per_s, step_s;

    if (!contract)
        return;
    per_s = contract->expected_per_s;
    step_s = contract->expected_s_per_step;
    if (isnan(per_s) == isnan(step_s))
        mistake(c, i, "contract/expected_per_s",
                isnan(per_s) ? ITEM_REQUIRED : ITEM_CONFLICT,
                "give either expected_per_s or expected_s_per_step");
    if (per_s <= 0 || per_s > LARGEST)
        mistake(c, i, "contract/expected_per_s", ITEM_OUT_OF_BOUNDS, "must be above 0");
    if (step_s <= 0 || step_s > LARGEST)
        mistake(c, i, "contract/expected_s_per_step", ITEM_OUT_OF_BOUNDS,
                "must be above 0");
    if (!(contract->tolerance_ratio >= 0 && contract->tolerance_ratio <= 1))
        mistake(c, i, "contract/tolerance_ratio", ITEM_OUT_OF_BOUNDS,
                "must be between 0 and 1");
    if (contract->window == 0)
        mistake(c, i, "contract/window", ITEM_OUT_OF_BOUNDS, "must be 1 at least");
}

static void check_samples(const struct checker *c, size_t i,
                          const struct reschedule_job *job)
{
    for (size_t k = 0; k < job->sample_count; k++) {
        const struct reschedule_sample *s = &job->samples[k];
        char member[48];

        snprintf(member, sizeof(member), "samples/%zu/t_s", k);
        if (!isfinite(s->t_s) || !isfinite(s->value))
            mistake(c, i, member, ITEM_OUT_OF_BOUNDS, "time and value must be numbers");
        else if (k && s->t_s < s[-1].t_s)
            mistake(c, i, member, ITEM_OUT_OF_ORDER,
                    "before the sample in front of it; give the oldest first");
    }
}

static void check_failure(const struct checker *c, size_t i,
                          const struct reschedule_job *job)
{
    const struct reschedule_failure *f = job->failure;

    if (!f)
        return;
    if (f->failed_attempts == 0)
        mistake(c, i, "failure/failed_attempts", ITEM_OUT_OF_BOUNDS,
                "the one that failed now counts: must be 1 at least");
    if (f->kind == FAILURE_ENDED && f->stage != STAGE_WRAPPER)
        mistake(c, i, "failure/stage", ITEM_CONFLICT, "only a wrapper ends with a code");
}

static void check_events(const struct checker *c, size_t i,
                         const struct reschedule_job *job)
{
    for (size_t k = 0; k < job->event_count; k++) {
        char pointer[64], hint[NAMES_HINT_BYTES];
        size_t known = 0;

        while (reschedule_event_names[known] &&
               strcmp(reschedule_event_names[known], job->events[k]) != 0)
            known++;
        if (reschedule_event_names[known])
            continue;
        snprintf(pointer, sizeof(pointer), "/jobs/%zu/events/%zu", i, k);
        invalid(c->err, pointer, ITEM_NOT_A_CHOICE, "no such event; %s",
                names_hint(job->events[k], reschedule_event_names, known, hint,
                           sizeof(hint)));
        error_allow(c->err, job->events[k], reschedule_event_names, known);
    }
}

/* A resource that it is on; unknown ones, and those that it names twice, are mistakes. */
static void add_node(const struct checker *c, size_t i, const char *id,
                     const char *member)
{
    struct gridway_nodes *nodes = &c->request->nodes[i];
    size_t at = id ? name_index_find(&c->request->resources, id) : NAME_NOT_FOUND;

    if (at == NAME_NOT_FOUND) {
        mistake(c, i, member, ITEM_UNKNOWN_ID, "no such resource in the snapshot");
        return;
    }
    if (c->seen[at] == i + 1) {
        mistake(c, i, member, ITEM_DUPLICATE, "it is named before");
        return;
    }
    c->seen[at] = i + 1;
    nodes->at[nodes->count++] = at;
}

static void check_nodes(const struct checker *c, size_t i,
                        const struct reschedule_job *job)
{
    size_t count = job->resource_id_count;

    c->request->nodes[i].at = NEW(c->arena, size_t, count + 1);
    budget_step(c->in->round.budget, count);
    if (job->resource_id && count)
        mistake(c, i, "resource_ids", ITEM_CONFLICT,
                "give either resource_id or resource_ids, not both");
    if (!count && !job->resource_id)
        mistake(c, i, "resource_id", ITEM_REQUIRED, "say which resource it is on");
    else if (!count)
        add_node(c, i, job->resource_id, "resource_id");
    for (size_t k = 0; k < count; k++) {
        char member[48];

        snprintf(member, sizeof(member), "resource_ids/%zu", k);
        add_node(c, i, job->resource_ids[k], member);
    }
    if (job->job.nodes > 1 && job->job.nodes != (count ? count : 1))
        mistake(c, i, "nodes", ITEM_CONFLICT,
                "name in resource_ids each resource that it is on");
    c->request->present[i] =
        c->request->nodes[i].count ? c->request->nodes[i].at[0] : NAME_NOT_FOUND;
}

static void check_job(const struct checker *c, size_t i)
{
    const struct reschedule_job *job = &c->in->jobs[i];
    double estimate_ref_s = job->job.estimate_ref_s;

    check_nodes(c, i, job);
    check_number(c, i, "work_done_ref_s", job->work_done_ref_s, DBL_MAX, false);
    check_number(c, i, "suspended_s", job->suspended_s, LARGEST, false);
    check_number(c, i, "queued_output_bytes", job->queued_output_bytes, LARGEST, false);
    check_number(c, i, "elapsed_s", job->elapsed_s, LARGEST, true);
    check_number(c, i, "last_moved_s_ago", job->last_moved_s_ago, LARGEST, true);
    check_number(c, i, "job_cpu_ratio", job->job_cpu_ratio, 1, true);
    check_number(c, i, "idle_cpu_ratio", job->idle_cpu_ratio, 1, true);
    if (isnan(estimate_ref_s) && !job->job.etc_count &&
        job->job.estimate_s < job->work_done_ref_s)
        mistake(c, i, "work_done_ref_s", ITEM_OUT_OF_BOUNDS,
                "more than estimate_s: with that it counts in seconds of the run");
    if (estimate_ref_s < job->work_done_ref_s)
        mistake(c, i, "work_done_ref_s", ITEM_OUT_OF_BOUNDS,
                "more than estimate_ref_s: estimate anew what the whole job takes");
    if (job->job.etc_count && isnan(estimate_ref_s) && job->work_done_ref_s > 0)
        mistake(c, i, "estimate_ref_s", ITEM_REQUIRED,
                "with etc_s and work_done_ref_s it says what part is done");
    check_restart(c, i, job);
    check_contract(c, i, job);
    check_samples(c, i, job);
    check_failure(c, i, job);
    check_events(c, i, job);
}

/* A site of its own for a resource without one. */
static const char *site_of(const struct checker *c, size_t resource)
{
    const struct resource *r = &c->in->round.snapshot->resources[resource];

    return r->site_id ? r->site_id : arena_printf(c->arena, PREFIX "host/%s", r->id);
}

/* Adds a file at one site. */
static size_t add_file(const struct checker *c, const char *what, size_t i, double bytes,
                       const char *site_id)
{
    struct snapshot *s = &c->request->snapshot;
    struct file *files = (struct file *)s->files;
    const char **sites = NEW(c->arena, const char *, 1);
    char *id = arena_printf(c->arena, PREFIX "%s/%zu", what, i);

    sites[0] = site_id;
    files[s->file_count] =
        (struct file){.id = id, .bytes = bytes, .site_ids = sites, .site_count = 1};
    return s->file_count++;
}

static void add_files(const struct checker *c, size_t i)
{
    const struct reschedule_job *job = &c->in->jobs[i];
    struct gridway_request *r = c->request;

    if (job->restart) {
        const char *site_id = r->restart_host[i] == NO_INDEX
                                  ? job->restart->site_id
                                  : site_of(c, r->restart_host[i]);

        r->restart_file[i] = add_file(c, "restart", i, job->restart->bytes, site_id);
    }
    if (job->queued_output_bytes > 0) {
        r->output_file[i] = add_file(c, "outputs", i, job->queued_output_bytes,
                                     site_of(c, r->present[i]));
    }
}

/* Its wrapper has: it holds nothing any more. */
static bool has_ended(const struct reschedule_job *job)
{
    return job->failure && job->failure->kind == FAILURE_ENDED;
}

static void copy_jobs(const struct checker *c)
{
    const struct gridway_in *in = c->in;
    struct placement_in *p = &c->request->placement;
    size_t pending = in->round.job_count;
    struct job *jobs = NEW(c->arena, struct job, pending + in->job_count);

    if (pending)
        memcpy(jobs, in->round.jobs, pending * sizeof(*jobs));
    for (size_t i = 0; i < in->job_count; i++) {
        struct job *job = &jobs[pending + i];

        *job = in->jobs[i].job;
        job->release_s = 0; /* it has begun */
        job->after_count = 0;
        job->preempt = false;
        job->nodes = c->request->nodes[i].count ? c->request->nodes[i].count : 1;
        c->request->holds[i] =
            has_ended(&in->jobs[i]) ? NO_INDEX : c->request->present[i];
        if (isnan(job->task_index))
            job->task_index = (double)i;
    }
    *p = in->round;
    p->snapshot = &c->request->snapshot;
    p->jobs = jobs;
    p->job_count = pending + in->job_count;
    p->running_count = in->job_count;
    p->running_at = c->request->holds;
}

static void index_resources(const struct checker *c)
{
    const struct snapshot *s = c->in->round.snapshot;

    name_index_create(&c->request->resources, s->resource_count, c->arena);
    for (size_t i = 0; i < s->resource_count; i++)
        if (s->resources[i].id)
            name_index_add(&c->request->resources, s->resources[i].id, i);
}

/* Where only a run time is known, a job has done as much of it as it has run. */
static const struct gridway_in *with_progress(const struct gridway_in *in,
                                              struct arena *a)
{
    struct reschedule_job *jobs = NEW(a, struct reschedule_job, in->job_count);
    struct gridway_in *copy = NEW(a, struct gridway_in, 1);

    *copy = *in;
    copy->jobs = jobs;
    for (size_t i = 0; i < in->job_count; i++) {
        const struct job *j = &in->jobs[i].job;

        jobs[i] = in->jobs[i];
        if (isnan(j->estimate_ref_s) && !j->etc_count && j->estimate_s >= 0 &&
            jobs[i].elapsed_s > jobs[i].work_done_ref_s)
            jobs[i].work_done_ref_s = fmin(jobs[i].elapsed_s, j->estimate_s);
    }
    return copy;
}

enum error_code gridway_request_make(const struct gridway_in *given,
                                     struct gridway_request *request, struct arena *a,
                                     struct error *err)
{
    const struct gridway_in *in = with_progress(given, a);
    const struct snapshot *s = in->round.snapshot;
    struct checker c = {in, request, NEW(a, size_t, s->resource_count), a, err};
    size_t before = err->item_count, n = in->job_count;
    struct file *files = NEW(a, struct file, s->file_count + 2 * n);

    *request = (struct gridway_request){
        .in = in,
        .snapshot = *s,
        .present = NEW(a, size_t, n),
        .nodes = NEW(a, struct gridway_nodes, n),
        .holds = NEW(a, size_t, n),
        .restart_host = NEW(a, size_t, n),
        .restart_file = NEW(a, size_t, n),
        .output_file = NEW(a, size_t, n),
    };
    index_resources(&c);
    for (size_t i = 0; i < n; i++) {
        request->restart_host[i] = request->restart_file[i] = request->output_file[i] =
            NO_INDEX;
        check_job(&c, i);
    }
    if (s->file_count)
        memcpy(files, s->files, s->file_count * sizeof(*files));
    request->snapshot.files = files;
    for (size_t i = 0; i < n && err->item_count == before; i++)
        add_files(&c, i);
    copy_jobs(&c);
    return err->item_count > before ? ERR_INVALID : OK;
}

void gridway_rename_pointers(const struct gridway_in *in, const struct error_item *after,
                             struct error *err)
{
    static const char list[] = "/jobs/";
    size_t pending = in->round.job_count;

    for (struct error_item *e = after ? after->next : err->first; e; e = e->next) {
        size_t number;
        char *rest;

        if (strncmp(e->pointer, list, sizeof(list) - 1) != 0)
            continue;
        number = strtoull(e->pointer + sizeof(list) - 1, &rest, 10);
        e->pointer =
            number < pending
                ? arena_printf(err->arena, "/pending/%zu%s", number, rest)
                : arena_printf(err->arena, "/jobs/%zu%s", number - pending, rest);
    }
    if (err->first)
        snprintf(err->field, sizeof(err->field), "%s", err->first->pointer);
}
