/* round_unused.c - what the body of a round carries that its policy does not look at.
 *
 * Tables of members: what has to look at them, and how to see that one was given.
 */
#include "algorithms/fault_tolerance/fault_tolerance.h"
#include "handlers/fault_tolerance/rounds.h"

#include <math.h>

/* What looks at members. */
enum look {
    LOOK_IMAGE = 1,       /* a job goes on from its image */
    LOOK_CHECKPOINTS = 2, /* the policy turns checkpointing on and off */
    LOOK_STARTED = 4,     /* how often a job was started */
    LOOK_COSTS = 8,       /* what checkpoints and failures cost */
    LOOK_SCRATCH = 16,    /* ... without an image */
    LOOK_DONE = 32,       /* the work that copies have done */
    LOOK_BOOTS = 64,      /* a boot_id that has changed */
    LOOK_HISTORY = 128,   /* how resources fail */
    LOOK_HOSTS = 256,     /* where copies may go, and until when they should be done */
    LOOK_REPAIR = 512     /* where copies go on after a failure */
};

static bool has_deadlines(const struct round_call *call)
{
    bool found = false;

    for (size_t i = 0; i < call->body->job_count && !found; i++)
        found = !isnan(call->body->jobs[i].deadline_s);
    return found;
}

static unsigned looks_of(const struct round_call *call)
{
    const struct policy *policy = call->policy;
    bool detects = policy->flags & ROUND_DETECTS;
    bool compares = round_fn_of(policy) == fault_tolerance_expected_time ||
                    round_fn_of(policy) == fault_tolerance_joint;
    bool succeeds = !isnan(round_call_option(call, "target_success", (double)NAN));
    unsigned looks = 0;

    if (policy->flags & ROUND_RESTARTS)
        looks |= LOOK_IMAGE;
    if (policy->flags & ROUND_CHECKPOINTS)
        looks |= LOOK_CHECKPOINTS | LOOK_DONE;
    if (!detects || !isnan(round_call_option(call, "max_restarts", (double)NAN)))
        looks |= LOOK_STARTED;
    if (compares || call->in.can_checkpoint)
        looks |= LOOK_COSTS | LOOK_SCRATCH | LOOK_DONE;
    if (succeeds)
        looks |= LOOK_DONE;
    if (succeeds && has_deadlines(call))
        looks |= LOOK_COSTS | LOOK_SCRATCH;
    if (round_call_chooses_hosts(call))
        looks |= LOOK_HOSTS;
    if (compares || (succeeds && has_deadlines(call)))
        looks |= LOOK_REPAIR;
    if (detects && round_call_option(call, "detection", 1) == 0)
        looks |= LOOK_BOOTS;
    if (call->has_histories)
        looks |= LOOK_HISTORY;
    return looks;
}

/* ---- members of jobs ---- */

static bool has_image(const struct round_job_request *j)
{
    return j->has_checkpoint;
}

static bool is_saved(const struct round_job_request *j)
{
    return j->checkpointing;
}

static bool has_started(const struct round_job_request *j)
{
    return !isnan(j->replicas_started);
}

static bool has_overhead(const struct round_job_request *j)
{
    return j->checkpoint_overhead_s > 0;
}

static bool has_restart(const struct round_job_request *j)
{
    return j->restart_s > 0;
}

static bool has_scratch(const struct round_job_request *j)
{
    return j->restart_from_scratch_s > 0;
}

static bool has_delay(const struct round_job_request *j)
{
    return j->reschedule_delay_s > 0;
}

static bool has_done(const struct round_job_request *j)
{
    bool found = false;

    for (size_t i = 0; i < j->replica_count && !found; i++)
        found = j->replicas[i].completed_mi > 0;
    return found;
}

static bool has_deadline(const struct round_job_request *j)
{
    return !isnan(j->deadline_s);
}

static bool has_pool(const struct round_job_request *j)
{
    return j->pool_count > 0;
}

static bool has_repair(const struct round_job_request *j)
{
    return j->replacement != REPLACEMENT_UNKNOWN;
}

static bool has_spares(const struct round_job_request *j)
{
    return j->spare_nodes > 0;
}

static bool has_mttr(const struct round_job_request *j)
{
    return !isnan(j->mttr_s);
}

static bool has_nodes(const struct round_job_request *j)
{
    return j->resource_count > 0;
}

static bool has_boots(const struct round_job_request *j)
{
    bool found = false;

    for (size_t i = 0; i < j->replica_count && !found; i++)
        found = j->replicas[i].boot_id;
    return found;
}

static const struct {
    const char *member, *why;
    unsigned used_by;
    bool (*given)(const struct round_job_request *j);
} job_members[] = {
    {"has_checkpoint", "copies begin anew", LOOK_IMAGE, has_image},
    {"checkpointing", "the policy leaves checkpoints alone", LOOK_CHECKPOINTS, is_saved},
    {"replicas_started", "it counts with the option max_restarts", LOOK_STARTED,
     has_started},
    {"checkpoint_overhead_s", "what a checkpoint costs is not weighed", LOOK_COSTS,
     has_overhead},
    {"restart_s", "what a failure costs is not weighed", LOOK_COSTS, has_restart},
    {"restart_from_scratch_s", "what a failure costs is not weighed", LOOK_SCRATCH,
     has_scratch},
    {"reschedule_delay_s", "what a failure costs is not weighed", LOOK_COSTS, has_delay},
    {"replicas/*/completed_mi", "how far a copy is does not count", LOOK_DONE, has_done},
    {"resource_ids", "where copies are is what replicas say", LOOK_HOSTS, has_nodes},
    {"pool_resource_ids", "copies go where the algorithm puts them", LOOK_HOSTS,
     has_pool},
    {"deadline_s", "when jobs should be done does not count", LOOK_HOSTS, has_deadline},
    {"replacement", "what a failure costs is not weighed", LOOK_REPAIR, has_repair},
    {"spare_nodes", "what a failure costs is not weighed", LOOK_REPAIR, has_spares},
    {"mttr_s", "what a failure costs is not weighed", LOOK_REPAIR, has_mttr},
    {"replicas/*/boot_id", "outages are not detected by it", LOOK_BOOTS, has_boots},
};

static void warn(struct round_call *call, const char *text)
{
    call->warnings[call->warning_count++] = text;
}

/* `member` of `count` things that are called `noun`, in the list at `list`; the first is
 * `first`. Nothing for a count of 0. */
static void warn_ignored(struct round_call *call, const char *member, const char *why,
                         const char *noun, const char *list, size_t count, size_t first)
{
    if (count == 0)
        return;
    warn(call, arena_printf(
                   call->rq->arena, "ignored: %s of %zu %s%s (first %s/%zu/%s): %s",
                   member, count, noun, count == 1 ? "" : "s", list, first, member, why));
}

static void warn_jobs(struct round_call *call, unsigned looks)
{
    const struct round_request *body = call->body;

    for (size_t k = 0; k < sizeof(job_members) / sizeof(*job_members); k++) {
        size_t count = 0, first = 0;

        if (job_members[k].used_by & looks)
            continue;
        for (size_t i = body->job_count; i-- > 0;) {
            if (!job_members[k].given(&body->jobs[i]))
                continue;
            first = i;
            count++;
        }
        warn_ignored(call, job_members[k].member, job_members[k].why, "job", "/jobs",
                     count, first);
    }
}

/* ---- members of resources ---- */

static bool has_history(const struct resource *r)
{
    return !isnan(r->failure_count) || !isnan(r->last_failure_at_s) ||
           !isnan(r->observed_since_s) || !isnan(r->up_since_s) ||
           !isnan(r->uptime_total_s) || r->failure_time_count;
}

static bool is_busy(const struct resource *r)
{
    return r->ready_s > 0;
}

static bool has_ends(const struct resource *r)
{
    return r->free_at_count > 0;
}

static bool is_closed(const struct resource *r)
{
    return r->allowed != NULL;
}

static const struct {
    const char *member, *why;
    unsigned used_by; /* 0: by no policy */
    bool (*given)(const struct resource *r);
} resource_members[] = {
    {"failure_count", "how resources fail is not looked at", LOOK_HISTORY, has_history},
    {"ready_s", "a round starts copies now, on what is free now", 0, is_busy},
    {"free_at_s", "a round starts copies now, on what is free now", 0, has_ends},
    {"allowed", "jobs of a round have no users", 0, is_closed},
};

static void warn_resources(struct round_call *call, unsigned looks)
{
    const struct snapshot *s = call->snapshot;

    for (size_t k = 0; k < sizeof(resource_members) / sizeof(*resource_members); k++) {
        size_t count = 0, first = 0;

        if (resource_members[k].used_by & looks)
            continue;
        for (size_t i = s->resource_count; i-- > 0;) {
            if (!resource_members[k].given(&s->resources[i]))
                continue;
            first = i;
            count++;
        }
        warn_ignored(call, resource_members[k].member, resource_members[k].why,
                     "resource", "/snapshot/resources", count, first);
    }
}

void round_call_warn_unused(struct round_call *call)
{
    unsigned looks = looks_of(call);

    warn_jobs(call, looks);
    warn_resources(call, looks);
    if (call->body->verify && !call->out.choices)
        warn(call,
             "ignored: /verify: the algorithm expects no time that could be played");
    if (!isnan(call->body->now_s) && !(looks & LOOK_HISTORY))
        warn(call, "ignored: /now_s: how resources fail is not looked at");
}
