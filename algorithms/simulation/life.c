/* simulation/life.c - jobs and their replicas, from submission to the end.
 *
 * A replica reserves a slot when it is assigned; its input comes, then its image if it
 * restarts; it runs and shares the resource's speed; when its work is done the slot is
 * free and its output leaves; when that is stored, the job is done and its other
 * replicas are cancelled. If its resource fails before, it is lost, wherever it was.
 * A job whose output finds no room is lost for good.
 *
 * Source: spec simulator.md 4, 6; fault-tolerance.md 4, 6.1; 000_168dd5aef5075332 2.2
 * [L711-L719].
 */
#include "algorithms/simulation/parts.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 128 };

/* Work of a job per second where resources are shared by fractions and it says
 * nothing: the reference machine. */
#define MIPS_UNSAID 1.0

static double ms_to_s(int64_t ms)
{
    return 1e-3 * (double)ms;
}

/* ---- pools ---- */

static struct grid_job *job_new(struct sim *s)
{
    struct grid_job *job = s->pools.jobs;
    struct replica **replicas;
    struct round_replica *views;
    size_t size;

    if (!job) {
        job = NEW(s->arena, struct grid_job, CHUNK);
        for (size_t i = 0; i < CHUNK; i++) {
            job[i].replicas = job[i].few_replicas;
            job[i].views = job[i].few_views;
            job[i].replica_size = REPLICAS_FEW;
            job[i].next = i + 1 < CHUNK ? &job[i + 1] : NULL;
        }
    }
    s->pools.jobs = job->next;
    replicas = job->replicas;
    views = job->views;
    size = job->replica_size;
    memset(job, 0, offsetof(struct grid_job, few_replicas));
    job->replicas = replicas;
    job->views = views;
    job->replica_size = size;
    job->next = s->unfinished;
    if (job->next)
        job->next->previous = job;
    s->unfinished = job;
    s->alive_jobs++;
    return job;
}

static void job_free(struct sim *s, struct grid_job *job)
{
    if (job->previous)
        job->previous->next = job->next;
    else
        s->unfinished = job->next;
    if (job->next)
        job->next->previous = job->previous;
    job->number = UINT64_MAX;
    job->next = s->pools.jobs;
    s->pools.jobs = job;
    s->alive_jobs--;
}

static struct replica *replica_new(struct sim *s)
{
    struct replica *r = s->pools.replicas;
    uint32_t version, request_version;

    if (!r) {
        r = NEW(s->arena, struct replica, CHUNK);
        for (size_t i = 0; i < CHUNK; i++)
            r[i].next = i + 1 < CHUNK ? &r[i + 1] : NULL;
    }
    s->pools.replicas = r->next;
    version = r->version;
    request_version = r->request_version;
    memset(r, 0, sizeof(*r));
    r->version = version;
    r->request_version = request_version;
    return r;
}

static void replica_free(struct sim *s, struct replica *r)
{
    r->version++;
    r->request_version++;
    r->stage = STAGE_FREE;
    r->next = s->pools.replicas;
    s->pools.replicas = r;
}

/* ---- lists ---- */

static void link_to(struct replica **list, struct replica *r)
{
    r->previous = NULL;
    r->next = *list;
    if (r->next)
        r->next->previous = r;
    *list = r;
}

static void unlink_from(struct replica **list, struct replica *r)
{
    if (r->previous)
        r->previous->next = r->next;
    else
        *list = r->next;
    if (r->next)
        r->next->previous = r->previous;
}

static void append_replica(struct sim *s, struct grid_job *job, struct replica *r)
{
    struct round_replica *view;

    if (job->replica_count == job->replica_size) {
        size_t old = job->replica_size, size = 2 * old;
        struct replica **replicas =
            GROW(s->arena, job->replicas, struct replica *, old, size);
        struct round_replica *views =
            GROW(s->arena, job->views, struct round_replica, old, size);

        job->replicas = replicas;
        job->views = views;
        job->replica_size = size;
    }
    r->index = job->replica_count;
    job->replicas[r->index] = r;
    view = &job->views[r->index];
    *view =
        (struct round_replica){.resource = r->host->index, .state = REPLICA_TRANSFERRING};
    s->held_count += job->is_listed && job->replica_count == 0;
    job->replica_count++;
    scheduler_touch(s, job);
}

static void remove_replica(struct sim *s, struct replica *r)
{
    struct grid_job *job = r->job;

    job->replica_count--;
    if (job->is_listed && job->replica_count == 0)
        s->held_count--;
    for (size_t i = r->index; i < job->replica_count; i++) {
        job->replicas[i] = job->replicas[i + 1];
        job->views[i] = job->views[i + 1];
        job->replicas[i]->index = i;
    }
    scheduler_touch(s, job);
}

/* ---- assignment ---- */

static void take_slot(struct sim *s, struct replica *r, struct host *h)
{
    r->host = h;
    r->boot = h->boot;
    h->reserved_count++;
    if (h->is_fraction)
        h->demand_mips += r->job->mips_required;
    link_to(&h->there, r);
    host_show(s, h);
}

/* Off its host, whatever it does there. */
static void leave_host(struct sim *s, struct replica *r)
{
    struct host *h = r->host;

    if (r->stage == STAGE_RUN || r->stage == STAGE_CHECKPOINT) {
        host_stop(s, r);
    } else if (r->stage != STAGE_OUTPUT) {
        h->reserved_count--;
        if (h->is_fraction)
            h->demand_mips = h->running_count + h->reserved_count
                                 ? h->demand_mips - r->job->mips_required
                                 : 0;
    }
    unlink_from(&h->there, r);
    transfers_abort(s, r);
    r->version++;
    r->request_version++;
    host_show(s, h);
    s->is_dirty = true;
}

struct replica *job_assign(struct sim *s, struct grid_job *job, struct host *h,
                           bool from_image)
{
    struct replica *r = replica_new(s);
    double wait_s = s->scenario->overhead.dispatch_s;

    r->job = job;
    r->host = h;
    r->from_image = from_image && job->has_image;
    r->assigned_ms = s->kernel.now_ms;
    r->checkpoints = s->policy->checkpoint && !(s->flags & ROUND_CHECKPOINTS) &&
                     !job->is_pinned && !job->is_session;
    append_replica(s, job, r);
    take_slot(s, r, h);
    s->totals.copies_started++;
    if (s->wanted->per_path)
        path_count_job(s, storage_nearest(s, h, job->input_bytes, false)->node, h->node);
    h->stats.copies_started++;
    job->alive_count++;
    if (job->started_count++ == 0) {
        job->first_start_ms = s->kernel.now_ms;
        if (job->is_counted) {
            s->totals.assigned++;
            s->totals.wait_s += ms_to_s(s->kernel.now_ms - job->arrival_ms);
        }
    }
    sim_log(s, SIM_LOG_JOB_START, job, h, (double)NAN);
    r->stage = STAGE_PREPARE;
    if (wait_s > 0)
        kernel_post(&s->kernel, kernel_after(&s->kernel, wait_s), EVENT_STAGE, r,
                    r->version);
    else
        replica_proceed(s, r);
    return r;
}

static void begin_to_run(struct sim *s, struct replica *r)
{
    struct grid_job *job = r->job;

    sim_log(s, SIM_LOG_JOB_RUN, job, r->host, r->progress_mi);
    host_run(s, r);
    job->views[r->index].state = REPLICA_RUNNING;
    job->views[r->index].completed_mi = r->progress_mi;
    for (size_t i = 0; r->ends_checkpoints && i < job->replica_count; i++)
        checkpoints_turn(s, job->replicas[i], false);
    r->ends_checkpoints = false;
    if (r->checkpoints)
        checkpoints_begin(s, r);
}

void replica_proceed(struct sim *s, struct replica *r)
{
    struct grid_job *job = r->job;
    bool is_back = r->from_image || r->migrated;

    switch (r->stage) {
    case STAGE_PREPARE:
        r->stage = STAGE_INPUT;
        if (transfer_begin(s, r->migrated ? TRANSFER_MIGRATION : TRANSFER_INPUT, r,
                           job->input_bytes + (r->migrated ? job->checkpoint_bytes : 0),
                           r->source, 0))
            return;
        /* fall through */
    case STAGE_INPUT:
        r->stage = STAGE_RESTART;
        r->source = NULL;
        if (r->from_image) {
            r->progress_mi = job->image_mi; /* the newest of now */
            if (transfer_begin(s, TRANSFER_RESTART, r, job->checkpoint_bytes, NULL, 0))
                return;
        }
        /* fall through */
    case STAGE_RESTART:
        r->stage = STAGE_ROLLBACK;
        if (is_back && s->scenario->overhead.rollback_s > 0) {
            kernel_post(&s->kernel,
                        kernel_after(&s->kernel, s->scenario->overhead.rollback_s),
                        EVENT_STAGE, r, r->version);
            return;
        }
        /* fall through */
    default:
        begin_to_run(s, r);
    }
}

/* ---- submission ---- */

static void enqueue(struct host *h, struct grid_job *job)
{
    if (h->queue)
        h->queue_end->next_queued = job;
    else
        h->queue = job;
    h->queue_end = job;
}

void host_serve_queue(struct sim *s, struct host *h)
{
    while (h->queue && h->is_there && h->is_up && host_has_room(h, h->queue)) {
        struct grid_job *job = h->queue;

        h->queue = job->next_queued;
        if (!job_assign(s, job, h, false))
            return;
    }
}

static void job_leave(struct sim *s, struct grid_job *job)
{
    scheduler_unlist(s, job);
    s->totals.ended_total++;
    job_free(s, job);
    if (s->scenario->stop_jobs && s->totals.ended_total >= s->scenario->stop_jobs)
        s->stopped = true;
}

static void reject(struct sim *s, struct grid_job *job)
{
    s->totals.rejected += job->is_counted;
    sim_log(s, SIM_LOG_JOB_REJECT, job, NULL, (double)NAN);
    sim_note_job(s, job, SIM_JOB_REJECTED, NULL);
    job_leave(s, job);
}

static void count_session(struct sim *s, const struct grid_job *job, bool is_accepted)
{
    bool is_light = job->mips_required <= s->vm.light_mips;

    if (!job->is_counted)
        return;
    s->totals.light += is_light;
    s->totals.light_accepted += is_light && is_accepted;
    s->totals.heavy += !is_light;
    s->totals.heavy_accepted += !is_light && is_accepted;
}

static void place_session(struct sim *s, struct grid_job *job)
{
    struct vm_session session = {job->user, job->mips_required};
    size_t resource;
    struct host *h;

    vm_pool_arrive(&s->vm, &session, sim_now_s(s), &resource);
    count_session(s, job, resource != VM_REJECTED);
    if (resource == VM_REJECTED) {
        reject(s, job);
        return;
    }
    h = &s->hosts[resource];
    s->totals.demand += job->mips_required / h->mips_total;
    s->totals.demand_count++;
    job_assign(s, job, h, false);
}

static void fill(struct sim *s, struct grid_job *job, const struct sim_job *given)
{
    job->number = given->number;
    job->length_mi = given->length_mi;
    job->input_bytes = given->input_bytes;
    job->output_bytes = given->output_bytes;
    job->checkpoint_bytes = given->checkpoint_bytes;
    job->checkpoint_overhead_s = given->checkpoint_overhead_s;
    job->mips_required =
        given->mips_required > 0 ? given->mips_required : MIPS_UNSAID; /* or NAN */
    job->session_s = given->session_s;
    job->user = given->user;
    job->given = given->given;
    job->arrival_ms = s->kernel.now_ms;
    job->is_counted = job->arrival_ms >= s->stable_ms;
    job->is_session = s->policy->vm != NULL;
    job->is_pinned = !job->is_session && given->resource != SIM_NOT_PINNED;
    if (job->is_session && given->session_s >= 0)
        job->length_mi = given->session_s * job->mips_required;
}

void job_submit(struct sim *s, const struct sim_job *given)
{
    struct grid_job *job = job_new(s);

    fill(s, job, given);
    if (s->totals.submitted == 0 && job->is_counted)
        s->totals.first_arrival_ms = job->arrival_ms;
    s->totals.submitted += job->is_counted;
    s->totals.submitted_mi += job->is_counted ? job->length_mi : 0;
    sim_log(s, SIM_LOG_JOB_SUBMIT, job, NULL, (double)NAN);
    if (job->is_session) {
        place_session(s, job);
    } else if (job->is_pinned) {
        if (given->resource >= s->host_count) {
            reject(s, job);
            return;
        }
        enqueue(&s->hosts[given->resource], job);
        host_serve_queue(s, &s->hosts[given->resource]);
    } else {
        scheduler_list(s, job);
        s->is_dirty = true;
    }
}

/* ---- ends ---- */

void replica_forget(struct sim *s, struct replica *r)
{
    if (r->stage == STAGE_GHOST && r->is_haunting)
        unlink_from(&r->host->ghosts, r);
    if (r->is_noticed)
        r->job->noticed_count--;
    remove_replica(s, r);
    replica_free(s, r);
}

void replica_cancel(struct sim *s, struct replica *r)
{
    struct host *h = r->host;

    if (r->stage == STAGE_GHOST) {
        replica_forget(s, r);
        return;
    }
    sim_log(s, SIM_LOG_JOB_CANCEL, r->job, h, (double)NAN);
    s->totals.copies_cancelled++;
    r->job->alive_count--;
    leave_host(s, r);
    replica_forget(s, r);
    host_serve_queue(s, h);
}

static void count_done(struct sim *s, const struct grid_job *job, const struct replica *r)
{
    struct totals *t = &s->totals;
    int64_t now_ms = s->kernel.now_ms;

    t->copies_done++;
    if (!job->is_counted)
        return;
    t->done++;
    t->turnaround_s += ms_to_s(now_ms - job->arrival_ms);
    t->run_s += ms_to_s(now_ms - job->first_start_ms);
    t->execution_s += ms_to_s(r->work_done_ms - r->assigned_ms);
    t->length_mi += job->length_mi;
    t->checkpoints += (double)job->checkpoint_count;
    t->last_done_ms = now_ms;
    if (job->user < s->user_count)
        s->user_mi[job->user] += job->length_mi;
}

static void finish(struct sim *s, struct replica *r)
{
    struct grid_job *job = r->job;
    struct host *h = r->host;

    storage_count(s, r->storage, job->output_bytes);
    count_done(s, job, r);
    sim_log(s, SIM_LOG_JOB_DONE, job, h, (double)NAN);
    if (job->is_session) {
        struct vm_session session = {job->user, job->mips_required};

        vm_pool_leave(&s->vm, &session, h->index,
                      ms_to_s(s->kernel.now_ms - job->arrival_ms));
    }
    while (job->replica_count > 1)
        replica_cancel(s, job->replicas[r->index == 0]);
    leave_host(s, r);
    replica_forget(s, r);
    sim_note_job(s, job, SIM_JOB_DONE, h);
    job_leave(s, job);
}

void job_lose(struct sim *s, struct grid_job *job)
{
    while (job->replica_count > 0)
        replica_forget(s, job->replicas[0]);
    s->totals.lost += job->is_counted;
    sim_note_job(s, job, SIM_JOB_LOST, NULL);
    job_leave(s, job);
}

static void drop_session(struct sim *s, const struct grid_job *job, const struct host *h)
{
    struct vm_session session = {job->user, job->mips_required};

    vm_pool_drop(&s->vm, &session, h->index);
}

void replica_lose(struct sim *s, struct replica *r)
{
    struct grid_job *job = r->job;
    struct host *h = r->host;
    bool is_followed = r->checkpoints && (s->flags & ROUND_DETECTS);

    sim_log(s, SIM_LOG_JOB_FAIL, job, h, (double)NAN);
    leave_host(s, r);
    r->stage = STAGE_GHOST;
    s->totals.copies_failed++;
    job->alive_count--;
    if (job->failed_count++ == 0 && job->is_counted) {
        s->totals.failed_jobs++;
        s->totals.failed_length_mi += job->length_mi;
    }
    if (job->is_session)
        drop_session(s, job, h);
    job->views[r->index].is_ghost = true;
    if (s->flags & ROUND_DETECTS && !job->is_session && !job->is_pinned) {
        r->is_haunting = true;
        link_to(&h->ghosts, r);
        scheduler_haunt(s, h);
        if (is_followed)
            scheduler_notice(s, r);
    } else if (job->alive_count == 0 &&
               (!job->is_listed || job->started_count >= s->replica_limit)) {
        job_lose(s, job);
    }
}

/* There is no room for its output, and never will be: nothing that is stored goes. */
static void refuse_output(struct sim *s, struct replica *r)
{
    struct grid_job *job = r->job;

    s->totals.storage_refused++;
    storage_nearest(s, r->host, job->output_bytes, false)->refused++;
    s->totals.copies_failed++;
    job->failed_count++;
    sim_log(s, SIM_LOG_JOB_FAIL, job, r->host, (double)NAN);
    if (job->is_session)
        drop_session(s, job, r->host);
    leave_host(s, r);
    job->alive_count--;
    replica_forget(s, r);
    while (job->replica_count > 0)
        replica_cancel(s, job->replicas[0]);
    job_lose(s, job);
}

void replica_work_done(struct sim *s, struct replica *r)
{
    struct grid_job *job = r->job;
    struct host *h = r->host;

    host_stop(s, r);
    job->made_mi += job->length_mi - r->progress_mi; /* rounding */
    h->stats.processed_mi += job->length_mi - r->progress_mi;
    r->progress_mi = job->length_mi;
    r->stage = STAGE_OUTPUT;
    r->request_version++;
    r->work_done_ms = s->kernel.now_ms;
    h->stats.jobs_done++;
    sim_log(s, SIM_LOG_JOB_WORK_DONE, job, h, (double)NAN);
    s->is_dirty = true;
    host_show(s, h);
    r->storage = storage_nearest(s, h, job->output_bytes, true);
    if (!r->storage)
        refuse_output(s, r);
    else if (!transfer_begin(s, TRANSFER_OUTPUT, r, job->output_bytes, NULL, 0))
        finish(s, r);
    host_serve_queue(s, h);
}

static void store_image(struct sim *s, struct replica *r, double progress_mi)
{
    struct grid_job *job = r->job;

    sim_log(s, SIM_LOG_CHECKPOINT_STORED, job, r->host, progress_mi);
    if (job->has_image && job->image_mi >= progress_mi)
        return;
    job->has_image = true;
    job->image_mi = progress_mi;
    scheduler_touch(s, job);
}

void replica_send_image(struct sim *s, struct replica *r)
{
    if (!transfer_begin(s, TRANSFER_IMAGE, r, r->job->checkpoint_bytes, NULL,
                        r->progress_mi))
        store_image(s, r, r->progress_mi);
}

void replica_on_transfer(struct sim *s, struct transfer *t)
{
    struct replica *r = t->replica;
    enum transfer_kind kind = t->kind;
    double progress_mi = t->progress_mi;

    transfer_release(s, t);
    if (kind == TRANSFER_IMAGE)
        store_image(s, r, progress_mi);
    else if (kind == TRANSFER_OUTPUT)
        finish(s, r);
    else
        replica_proceed(s, r);
}

/* ---- migration ---- */

/* Its slot moves at once; it stands still for a checkpoint, then input and image go
 * from the old host to the new one. */
void replica_migrate(struct sim *s, struct replica *r, struct host *h)
{
    struct host *old = r->host;

    sim_log(s, SIM_LOG_JOB_MIGRATE, r->job, h, replica_progress_mi(s, r));
    s->totals.migrations++;
    leave_host(s, r);
    take_slot(s, r, h);
    r->source = old;
    r->migrated = true;
    r->from_image = false;
    r->stage = STAGE_PREPARE;
    r->job->views[r->index].resource = h->index;
    r->job->views[r->index].state = REPLICA_TRANSFERRING;
    host_serve_queue(s, old);
    if (r->job->checkpoint_overhead_s > 0)
        kernel_post(&s->kernel, kernel_after(&s->kernel, r->job->checkpoint_overhead_s),
                    EVENT_STAGE, r, r->version);
    else
        replica_proceed(s, r);
}
