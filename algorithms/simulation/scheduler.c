/* simulation/scheduler.c - the rounds of the grid scheduler.
 *
 * What a policy sees is kept as an array that it can read as it is: resources by name,
 * unfinished jobs by arrival. A change of a job is noted, and its entry is written
 * before the next round; jobs come at the end and go, mostly, near the begin, so that
 * taking one out moves few. Jobs about which the policy can do nothing are not shown:
 * those of policies without detection that have been started as often as they may.
 *
 * A round is left out when no resource is open or no job is shown: a policy that does
 * not say itself which jobs are checkpointed can do nothing then but start, and has
 * nothing to start or nowhere to.
 *
 * Source: spec simulator.md 3.6, 3.7, 3.10, 6; fault-tolerance.md 2.3.
 */
#include "algorithms/replication/slots.h"
#include "algorithms/simulation/parts.h"
#include "models/base/names.h"

#include <math.h>
#include <string.h>

enum { SCRATCH_BYTES = 256 * 1024 }; /* of a round, kept from one to the next */

/* ---- the list of jobs ---- */

static size_t position_of(const struct sim *s, uint64_t number)
{
    size_t low = s->list_head, high = s->list_end;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->listed[middle]->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void move_entries(struct sim *s, size_t to, size_t from, size_t count)
{
    memmove(s->list + to, s->list + from, count * sizeof(*s->list));
    memmove(s->listed + to, s->listed + from, count * sizeof(struct grid_job *));
    memmove(s->list_started + to, s->list_started + from, count);
    memmove(s->list_active + to, s->list_active + from, count);
    memmove(s->list_settled + to, s->list_settled + from, count);
}

/* An array of the list in a larger one. */
static void *enlarged(struct sim *s, const void *old, size_t width, size_t size)
{
    char *larger = arena_alloc(s->arena, width, size);

    if (s->list_end > s->list_head)
        memcpy(larger, (const char *)old + width * s->list_head,
               width * (s->list_end - s->list_head));
    return larger;
}

static void enlarge(struct sim *s, size_t size)
{
    struct round_job *list = enlarged(s, s->list, sizeof(*list), size);
    struct grid_job **listed = enlarged(s, s->listed, sizeof(struct grid_job *), size);
    uint8_t *started = enlarged(s, s->list_started, 1, size);
    uint8_t *active = enlarged(s, s->list_active, 1, size);
    uint8_t *settled = enlarged(s, s->list_settled, 1, size);

    s->list = list;
    s->listed = listed;
    s->list_started = started;
    s->list_active = active;
    s->list_settled = settled;
    s->list_size = size;
}

/* Room for one more at the end. */
static void make_room(struct sim *s)
{
    size_t count = s->list_end - s->list_head, size = s->list_size;

    if (s->list_end < size)
        return;
    if (s->list_head > size / 2)
        move_entries(s, 0, s->list_head, count);
    else
        enlarge(s, size ? 2 * size : 256);
    s->list_head = 0;
    s->list_end = count;
}

void scheduler_list(struct sim *s, struct grid_job *job)
{
    make_room(s);
    s->listed[s->list_end++] = job;
    job->is_listed = true;
    scheduler_touch(s, job);
}

void scheduler_unlist(struct sim *s, struct grid_job *job)
{
    size_t at;

    if (!job->is_listed)
        return;
    job->is_listed = false;
    if (job->replica_count > 0)
        s->held_count--;
    at = position_of(s, job->number);
    if (at - s->list_head < s->list_end - at) {
        move_entries(s, s->list_head + 1, s->list_head, at - s->list_head);
        s->list_head++;
    } else {
        move_entries(s, at, at + 1, s->list_end - at - 1);
        s->list_end--;
    }
}

void scheduler_touch(struct sim *s, struct grid_job *job)
{
    if (job->is_touched || !job->is_listed)
        return;
    if (s->touched_count == s->touched_size) {
        size_t size = s->touched_size ? 2 * s->touched_size : 64;
        struct listed_job *touched =
            GROW(s->arena, s->touched, struct listed_job, s->touched_count, size);

        s->touched = touched;
        s->touched_size = size;
    }
    job->is_touched = true;
    s->touched[s->touched_count++] = (struct listed_job){job, job->number};
}

static uint8_t count_byte(size_t count)
{
    return (uint8_t)(count < ROUND_COUNT_MAX ? count : ROUND_COUNT_MAX);
}

/* A round that has nothing to do need not be waited for, either. */
static bool plans_at_once(const struct sim *s)
{
    const struct sim_overhead *o = &s->scenario->overhead;

    return o->is_query_s + o->prediction_s + o->scheduling_s <= 0;
}

/* All replicas that are shown are active. Where nobody takes checkpoints it does nothing
 * to turn them on. */
static uint8_t settled_bits(const struct sim *s, const struct round_job *entry)
{
    size_t copies = entry->replica_count;
    bool saved = entry->is_checkpointing || (!s->policy->checkpoint && plans_at_once(s));
    bool keeps_one = copies == 1 && saved;
    bool keeps_copies = copies > 0 && (copies == 1 || !entry->is_checkpointing);

    return (uint8_t)((keeps_one ? ROUND_KEEPS_ONE : 0) |
                     (keeps_copies ? ROUND_KEEPS_COPIES : 0));
}

static void write_entry(struct sim *s, struct grid_job *job)
{
    const struct sim_scenario *c = s->scenario;
    size_t at = position_of(s, job->number);
    struct round_job *entry = &s->list[at];

    s->list_started[at] = count_byte(job->started_count);
    s->list_active[at] = count_byte(job->replica_count); /* none is shown as failed */
    *entry = (struct round_job){
        .length_mi = job->length_mi,
        .replicas = job->views,
        .replica_count = job->replica_count,
        .started_count = job->started_count,
        .has_checkpoint = job->has_image,
        .checkpoint_mi = job->image_mi,
        .checkpoint_overhead_s = job->checkpoint_overhead_s,
        .restart_s = c->overhead.rollback_s +
                     network_estimate_s(s, &s->hosts[0], job->checkpoint_bytes),
        .reschedule_delay_s = (c->scheduler_interval_s + c->is_interval_s) / 2 +
                              network_estimate_s(s, &s->hosts[0], job->input_bytes),
    };
    for (size_t i = 0; i < job->replica_count; i++)
        entry->is_checkpointing |= job->replicas[i]->checkpoints;
    s->list_settled[at] = settled_bits(s, entry);
}

static void write_touched(struct sim *s)
{
    for (size_t i = 0; i < s->touched_count; i++) {
        struct grid_job *job = s->touched[i].job;

        if (job->number != s->touched[i].number)
            continue; /* gone, or another by now */
        job->is_touched = false;
        if (job->is_listed)
            write_entry(s, job);
    }
    s->touched_count = 0;
}

/* ---- detection ---- */

void scheduler_notice(struct sim *s, struct replica *r)
{
    if (s->noticed_count == s->noticed_size) {
        size_t size = s->noticed_size ? 2 * s->noticed_size : 64;

        s->noticed = GROW(s->arena, s->noticed, struct replica *, s->noticed_count, size);
        s->noticed_version =
            GROW(s->arena, s->noticed_version, uint32_t, s->noticed_count, size);
        s->noticed_size = size;
    }
    r->is_noticed = true;
    r->job->noticed_count++;
    s->noticed[s->noticed_count] = r;
    s->noticed_version[s->noticed_count++] = r->version;
}

void scheduler_haunt(struct sim *s, struct host *h)
{
    if (h->is_haunted)
        return;
    h->is_haunted = true;
    h->next_haunted = s->haunted;
    s->haunted = h;
}

static void detect_one(struct sim *s, struct replica *r)
{
    struct grid_job *job = r->job;

    sim_log(s, SIM_LOG_JOB_DETECT, r->job, r->host, (double)NAN);
    s->totals.detected++;
    replica_forget(s, r);
    if (job->replica_count == 0 && job->started_count >= s->replica_limit)
        job_lose(s, job); /* the policy gives it up */
}

static void detect_on(struct sim *s, struct host *h)
{
    bool is_down = !s->resources[h->index].up;
    bool by_boot = s->scenario->detection == SIM_DETECTION_INCARNATION;

    for (struct replica *r = h->ghosts, *next; r; r = next) {
        next = r->next;
        if (is_down || (by_boot && r->boot < h->seen_boot))
            detect_one(s, r);
    }
}

static void detect(struct sim *s)
{
    struct host **at = &s->haunted;

    for (size_t i = 0; i < s->noticed_count; i++)
        if (s->noticed[i]->version == s->noticed_version[i])
            detect_one(s, s->noticed[i]);
    s->noticed_count = 0;
    while (*at) {
        struct host *h = *at;

        detect_on(s, h);
        if (h->ghosts) {
            at = &h->next_haunted;
        } else {
            h->is_haunted = false;
            *at = h->next_haunted;
        }
    }
}

/* ---- actions ---- */

static struct replica *replica_on(const struct grid_job *job, const struct host *h)
{
    for (size_t i = 0; i < job->replica_count; i++)
        if (job->replicas[i]->host == h)
            return job->replicas[i];
    return NULL;
}

static bool is_refused(struct sim *s, struct grid_job *job, struct host *h)
{
    bool is_down = !h->is_there || !h->is_up;

    if (!is_down && host_has_room(h, job) && !replica_on(job, h))
        return false;
    s->totals.refused++;
    sim_log(s, SIM_LOG_JOB_REFUSE, job, h, (double)NAN);
    if (is_down)
        information_mark_down(s, h);
    return true;
}

static struct replica *start(struct sim *s, const struct planned_action *a)
{
    struct replica *r;

    if (is_refused(s, a->job, a->host))
        return NULL;
    r = job_assign(s, a->job, a->host, a->from_checkpoint);
    if (!s->sees_running && a->job->started_count >= s->replica_limit)
        scheduler_unlist(s, a->job);
    return r;
}

static void end_checkpoints(struct sim *s, const struct planned_action *a,
                            struct replica *started, struct replica *r)
{
    if (!a->when_running)
        checkpoints_turn(s, r, false);
    else if (started && started->stage == STAGE_RUN)
        checkpoints_turn(s, r, false);
    else if (started)
        started->ends_checkpoints = true;
}

static void apply(struct sim *s, const struct planned_action *a, struct replica **started)
{
    struct replica *r = a->replica;

    if (a->job->number != a->number)
        return; /* it has ended meanwhile */
    if (a->kind == ROUND_START) {
        *started = start(s, a);
        return;
    }
    if (!r)
        r = replica_on(a->job, a->host);
    if (!r || r->stage == STAGE_FREE || r->job != a->job ||
        (a->kind != ROUND_MIGRATE && r->host != a->host))
        return;
    if (a->kind == ROUND_CANCEL)
        replica_cancel(s, r);
    else if (a->kind == ROUND_CHECKPOINT_ON && s->policy->checkpoint)
        checkpoints_turn(s, r, true);
    else if (a->kind == ROUND_CHECKPOINT_OFF)
        end_checkpoints(s, a, *started, r);
    else if (a->kind == ROUND_MIGRATE && r->stage == STAGE_RUN &&
             !is_refused(s, a->job, a->host))
        replica_migrate(s, r, a->host);
}

void scheduler_apply(struct sim *s)
{
    struct replica *started = NULL;

    for (size_t i = 0; i < s->plan_count && !s->failed; i++)
        apply(s, &s->plan[i], &started);
    s->plan_count = 0;
    if (s->is_planned)
        s->is_dirty = true;
    s->is_planned = false;
}

static void keep_plan(struct sim *s, const struct round_out *out)
{
    if (out->action_count > s->plan_size) {
        size_t size = 2 * out->action_count;

        s->plan = NEW(s->arena, struct planned_action, size);
        s->plan_size = size;
    }
    for (size_t i = 0; i < out->action_count; i++) {
        const struct round_action *a = &out->actions[i];
        struct grid_job *job = s->listed[s->list_head + a->job];

        s->plan[i] = (struct planned_action){
            .kind = a->kind,
            .job = job,
            .number = job->number,
            .replica = a->kind != ROUND_START && a->replica < job->replica_count
                           ? job->replicas[a->replica]
                           : NULL,
            .host = &s->hosts[a->resource],
            .from_checkpoint = a->from_checkpoint,
            .when_running = a->when_running,
        };
    }
    s->plan_count = out->action_count;
}

static double planning_s(const struct sim *s)
{
    const struct sim_overhead *o = &s->scenario->overhead;
    double seconds = o->is_query_s + o->prediction_s + o->scheduling_s;

    for (size_t i = 0; i < s->plan_count; i++)
        if (s->plan[i].kind == ROUND_MIGRATE)
            return seconds + o->rescheduling_s;
    return seconds;
}

/* ---- rounds ---- */

static bool is_idle(const struct sim *s)
{
    if (s->flags & ROUND_CHECKPOINTS)
        return false; /* checkpointing may go on or off with no resource open, and its
                         mode may depend on the round before */
    return s->open_count == 0 || s->list_head == s->list_end;
}

static void show_reliability(const void *context, size_t resource)
{
    const struct sim *s = context;
    const struct reliability *r = &s->hosts[resource].reliability;

    s->resources[resource].mean_failure_interval_s =
        reliability_mean_s(r, MF_CENSORED, sim_now_s(s));
    s->resources[resource].uptime_s = reliability_uptime_s(r, sim_now_s(s));
}

static double transfer_s(const void *context, size_t job, size_t resource)
{
    const struct sim *s = context;
    const struct grid_job *j = s->listed[s->list_head + job];

    return s->scenario->overhead.rollback_s +
           network_estimate_s(s, &s->hosts[resource],
                              j->input_bytes + j->checkpoint_bytes);
}

/* From a start until the job runs. */
static double stage_in_s(const void *context, size_t job, size_t resource)
{
    const struct sim *s = context;
    const struct grid_job *j = s->listed[s->list_head + job];
    const struct sim_overhead *o = &s->scenario->overhead;
    double time_s =
        o->dispatch_s + network_estimate_s(s, &s->hosts[resource], j->input_bytes);

    if (j->has_image)
        time_s += o->rollback_s +
                  network_estimate_s(s, &s->hosts[resource], j->checkpoint_bytes);
    return time_s;
}

static bool stages_in(const struct sim *s)
{
    const struct sim_overhead *o = &s->scenario->overhead;

    return s->scenario->network.mode != SIM_NETWORK_NONE || o->dispatch_s > 0 ||
           o->rollback_s > 0;
}

static void decide(struct sim *s)
{
    struct round_in in = {
        .now_s = sim_now_s(s),
        .resources = s->resources,
        .resource_count = s->host_count,
        .site_count = s->scenario->site_count,
        .jobs = s->list ? s->list + s->list_head : NULL,
        .job_count = s->list_end - s->list_head,
        .held_job_count = s->held_count,
        .started_counts = s->list ? s->list_started + s->list_head : NULL,
        .active_counts = s->list ? s->list_active + s->list_head : NULL,
        .settled = s->list ? s->list_settled + s->list_head : NULL,
        .random_state = s->random_state,
        .mode_before = s->mode,
        .can_checkpoint = s->policy->checkpoint != NULL,
        .transfer_s = transfer_s,
        .stage_in_s = stages_in(s) ? stage_in_s : NULL,
        .show_reliability = s->flags & ROUND_RELIABILITY ? show_reliability : NULL,
        .context = s,
        .kept = s->slots,
        .budget = s->budget,
    };
    struct round_out out = {0};
    enum error_code code;

    code = round_fn_of(s->policy->round)(&in, s->policy->round_param, &out, s->scratch,
                                         s->err);
    if (code != OK) {
        s->failed = code;
        return;
    }
    s->is_cut = out.status == DECISION_CUT;
    s->random_state = out.random_state;
    s->mode = out.mode;
    keep_plan(s, &out);
    if (planning_s(s) > 0 && s->plan_count > 0) {
        s->is_planned = true;
        kernel_post(&s->kernel, kernel_after(&s->kernel, planning_s(s)), EVENT_APPLY,
                    NULL, 0);
    } else {
        scheduler_apply(s);
    }
}

void scheduler_round(struct sim *s)
{
    if (s->is_planned)
        return; /* the last one is not over */
    s->is_dirty = false;
    s->totals.rounds++;
    detect(s);
    if (is_idle(s)) {
        s->totals.skipped++;
        return;
    }
    sim_log(s, SIM_LOG_SCHEDULER_RUN, NULL, NULL, (double)NAN);
    if (s->flags & ROUND_PROGRESS && !(s->scenario->is_interval_s > 0))
        information_see_progress(s);
    write_touched(s);
    if (s->flags & ROUND_COMPARES && !(s->scenario->is_interval_s > 0))
        information_compare_progress(s);
    sim_count_work(s, s->host_count + (s->list_end - s->list_head));
    decide(s);
    s->is_dirty = false;
    arena_reset(s->scratch);
}

/* ---- creation ---- */

static double option_of(const struct sim_policy *policy, const char *name,
                        double otherwise)
{
    const struct param *rows = policy->round->params;

    for (size_t i = 0; rows && rows[i].name; i++)
        if (strcmp(rows[i].name, name) == 0)
            return policy->round_param[i];
    return otherwise;
}

/* How often a policy starts a job at most. */
static size_t limit_of(const struct sim_policy *policy)
{
    double copies = option_of(policy, "replicas", option_of(policy, "replicas_max", 1));
    double restarts = option_of(policy, "max_restarts", (double)NAN);

    if (!(policy->round->flags & ROUND_DETECTS))
        return (size_t)copies;
    return isnan(restarts) ? SIZE_MAX : (size_t)(copies + restarts);
}

void scheduler_create(struct sim *s)
{
    s->resources = NEW(s->arena, struct round_resource, s->host_count);
    arena_alloc(s->scratch, 1, SCRATCH_BYTES);
    arena_reset(s->scratch); /* its first block is large now, and stays */
    for (size_t i = 0; i < s->host_count; i++)
        s->resources[i] = (struct round_resource){
            .site = s->hosts[i].site,
            .n_max = s->hosts[i].n_max,
            .mips = s->hosts[i].mips_total,
            .mean_failure_interval_s = (double)NAN,
            .uptime_s = (double)NAN,
            .weibull_shape = (double)NAN,
            .weibull_scale_s = (double)NAN,
        };
    s->random_state = s->seed ^ hash_fnv1a("policy");
    s->replica_limit = 1;
    if (!s->policy->round)
        return;
    s->slots = slots_keep(s->host_count, s->arena);
    s->flags = s->policy->round->flags;
    s->replica_limit = limit_of(s->policy);
    s->sees_running = (s->flags & (ROUND_DETECTS | ROUND_RESTARTS)) != 0;
}
