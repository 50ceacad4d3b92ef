/* placement/unused.c - what a request carries that the policy does not look at.
 *
 * Tables of members and options: who looks at them, and how to see that one was given.
 */
#include "algorithms/placement/unused.h"

#include "algorithms/placement/plan.h"

#include <string.h>

/* What a policy and its options look at. */
enum look {
    LOOK_RANK = 1,               /* rank expressions and the limits of a round */
    LOOK_ORDER = 2,              /* the order of the jobs */
    LOOK_JOB_PRIORITY = 4,       /* ... by priority */
    LOOK_WAIT = 8,               /* ... of which the wait is a part */
    LOOK_RESOURCE_PRIORITY = 16, /* the priority of resources */
    LOOK_STARTS = 32,            /* the most weight that can start now */
    LOOK_PREEMPT = 64            /* what to stop */
};

static bool keeps_order(const struct policy *policy)
{
    placement_fn *run = placement_fn_of(policy);

    return run == placement_mct || run == placement_met || run == placement_olb ||
           run == placement_kpb || run == placement_gridway;
}

static bool preempts(const struct placement_in *in)
{
    bool some = in->world && in->world->preempt;

    for (size_t i = 0; in->world && i < in->job_count && !some; i++)
        some = in->jobs[i].preempt;
    return some;
}

static unsigned looks_of(const struct placement_problem *p, const struct unused_in *in)
{
    const struct policy *policy = in->policy;
    unsigned looks = keeps_order(policy) ? LOOK_ORDER : 0;

    if (placement_fn_of(policy) == placement_gridway)
        looks |= LOOK_RANK;
    if (looks & LOOK_ORDER && (int)p->common[COMMON_JOB_ORDER] == ORDER_PRIORITY)
        looks |= LOOK_JOB_PRIORITY;
    if (looks & LOOK_JOB_PRIORITY && p->common[COMMON_W_WAIT] > 0)
        looks |= LOOK_WAIT;
    if (looks & LOOK_RANK && (int)p->common[COMMON_RESOURCE_ORDER] == ORDER_PRIORITY)
        looks |= LOOK_RESOURCE_PRIORITY;
    if (in->starts)
        looks |= LOOK_STARTS;
    if (preempts(p->in))
        looks |= LOOK_PREEMPT;
    return looks;
}

/* ---- members of jobs ---- */

static bool has_rank(const struct placement_problem *p, const struct job *j)
{
    (void)p;
    return j->rank != NULL;
}

static bool has_queued_at(const struct placement_problem *p, const struct job *j)
{
    (void)p;
    return !isnan(j->queued_at_s);
}

static bool has_second_estimate(const struct placement_problem *p, const struct job *j)
{
    (void)p;
    return j->etc_count && !isnan(j->estimate_ref_s);
}

static bool has_second_deadline(const struct placement_problem *p, const struct job *j)
{
    (void)p;
    return !isnan(j->deadline_s) && !isnan(j->deadline_at_s);
}

static bool has_lost_deadline(const struct placement_problem *p, const struct job *j)
{
    return isnan(j->deadline_s) && !isnan(j->deadline_at_s) &&
           isnan(p->in->snapshot->taken_at_s);
}

static bool has_task_index(const struct placement_problem *p, const struct job *j)
{
    (void)p;
    return !isnan(j->task_index) && j->input_file_count == 0;
}

static bool has_param(const struct placement_problem *p, const struct job *j)
{
    bool native = (int)p->common[COMMON_DIALECT] == 0;

    return (!isnan(j->param_start) || !isnan(j->param_increment)) &&
           (native || j->input_file_count == 0);
}

/* ---- what decisions about amounts look at */

static bool has_disk(const struct placement_problem *p, const struct job *j)
{
    (void)p;
    return j->disk_bytes > 0;
}

static bool has_needs(const struct placement_problem *p, const struct job *j)
{
    (void)p;
    return j->need_count > 0;
}

static bool has_nodes(const struct placement_problem *p, const struct job *j)
{
    (void)p;
    return j->nodes > 1;
}

static bool is_exclusive(const struct placement_problem *p, const struct job *j)
{
    (void)p;
    return j->exclusive;
}

static bool has_limit(const struct placement_problem *p, const struct job *j)
{
    (void)p;
    return j->time_limit_s > 0;
}

static bool has_estimate(const struct placement_problem *p, const struct job *j)
{
    (void)p;
    return j->estimate_s > 0;
}

static bool has_job_priority(const struct placement_problem *p, const struct job *j)
{
    (void)p;
    return j->priority < 0 || j->priority > 0;
}

static bool has_weight(const struct placement_problem *p, const struct job *j)
{
    (void)p;
    return j->weight > 1 || (j->weight > 0 && j->weight < 1);
}

static bool has_group(const struct placement_problem *p, const struct job *j)
{
    (void)p;
    return j->group;
}

static bool has_after(const struct placement_problem *p, const struct job *j)
{
    (void)p;
    return j->after_count > 0;
}

static bool is_preemptible(const struct placement_problem *p, const struct job *j)
{
    (void)p;
    return j->preemptible;
}

static bool has_partitions(const struct placement_problem *p, const struct job *j)
{
    (void)p;
    return j->partition_id_count > 0;
}

static const char not_here[] = "it is not looked at here";
static const char not_ordered[] =
    "it counts with job_order priority and with started_now_weight";
static const char not_weighed[] = "it counts with the weighted objectives";
static const char not_queued[] =
    "it counts with job_order gridway_priority and w_wait above 0";
static const char not_stopped[] = "it counts for jobs that run";

static const struct {
    const char *member, *why;
    unsigned used_by; /* 0: by no policy */
    bool (*given)(const struct placement_problem *p, const struct job *j);
} job_members[] = {
    {"rank", "only policy gridway ranks resources", LOOK_RANK, has_rank},
    {"queued_at", not_queued, LOOK_WAIT, has_queued_at},
    {"estimate_ref_s", "etc_s goes before it", 0, has_second_estimate},
    {"deadline_at", "deadline_s goes before it", 0, has_second_deadline},
    {"deadline_at", "the snapshot has no taken_at", 0, has_lost_deadline},
    {"task_index", "the job has no input files", 0, has_task_index},
    {"param_start", "it is for file names in dialect gridway", 0, has_param},
    {"disk_bytes", not_here, 0, has_disk},
    {"needs", not_here, 0, has_needs},
    {"nodes", not_here, 0, has_nodes},
    {"exclusive", not_here, 0, is_exclusive},
    {"time_limit_s", not_here, 0, has_limit},
    {"estimate_s", not_here, 0, has_estimate},
    {"priority", not_ordered, 0, has_job_priority},
    {"weight", not_weighed, 0, has_weight},
    {"group", not_here, 0, has_group},
    {"after", not_here, 0, has_after},
    {"preemptible", not_stopped, 0, is_preemptible},
    {"partition_ids", not_here, 0, has_partitions},
};

/* A decision about amounts looks at it, with this objective and order. */
static bool is_looked_at(const struct unused_in *in, const char *why)
{
    if (why == not_queued)
        return in->queued;
    return in->amounts && (why == not_here || (why == not_ordered && in->priorities) ||
                           (why == not_weighed && in->weights));
}

static void warn_jobs(struct placement_problem *p, const struct unused_in *in,
                      unsigned looks)
{
    for (size_t k = 0; k < sizeof(job_members) / sizeof(*job_members); k++) {
        size_t count = 0, first = 0;

        if (job_members[k].used_by & looks || is_looked_at(in, job_members[k].why))
            continue;
        for (size_t i = problem_pending(p); i-- > 0;) {
            if (!job_members[k].given(p, p->jobs[i].given))
                continue;
            first = i;
            count++;
        }
        if (count)
            problem_warn(p, "ignored: %s of %zu job%s (first /%s/%zu/%s): %s",
                         job_members[k].member, count, count == 1 ? "" : "s", in->list,
                         first, job_members[k].member, job_members[k].why);
    }
}

/* Needs that no resource limits: as many such jobs run at a time as there are slots. */
static void warn_needs(struct placement_problem *p, const struct unused_in *in)
{
    bool limits_cpus = false, limits_memory = false;
    size_t cpus = 0, first_cpus = 0, memory = 0, first_memory = 0;

    for (size_t pos = 0; pos < p->resource_count; pos++) {
        limits_cpus = limits_cpus || p->cpus[pos] < HUGE_VAL;
        limits_memory = limits_memory || p->memory_bytes[pos] < HUGE_VAL;
    }
    for (size_t i = problem_pending(p); i-- > 0 && p->resource_count;) {
        if (!limits_cpus && p->jobs[i].cpus > 1) {
            cpus++;
            first_cpus = i;
        }
        if (!limits_memory && p->jobs[i].memory_bytes > 0) {
            memory++;
            first_memory = i;
        }
    }
    if (cpus)
        problem_warn(p,
                     "ignored: cpus of %zu job%s (first /%s/%zu/cpus): no "
                     "resource says how many it has, each job takes one slot",
                     cpus, cpus == 1 ? "" : "s", in->list, first_cpus);
    if (memory)
        problem_warn(p,
                     "ignored: memory_bytes of %zu job%s (first /%s/%zu/memory_bytes): "
                     "no resource says how much it has",
                     memory, memory == 1 ? "" : "s", in->list, first_memory);
}

/* Deadlines and priorities: what they do, and what not. */
static void warn_objective(struct placement_problem *p, const struct unused_in *in,
                           unsigned looks)
{
    bool plans = !(looks & LOOK_RANK); /* gridway starts jobs now and plans no chains */
    const char *chains = plans && !in->no_chains
                             ? "; jobs that run on a slot one behind the other stand "
                               "in their order where that costs nothing"
                             : "";
    size_t late = 0, first_late = 0, urgent = 0, first_urgent = 0;

    for (size_t i = problem_pending(p); i-- > 0;) {
        if (!isnan(p->jobs[i].deadline_s)) {
            late++;
            first_late = i;
        }
        if (p->jobs[i].given->fixed_priority > 0) {
            urgent++;
            first_urgent = i;
        }
    }
    if (late && !in->deadlines)
        problem_warn(p,
                     "deadlines_not_in_objective: %zu job%s a deadline (first "
                     "/%s/%zu/%s), which is no part of the objective of %s%s",
                     late, late == 1 ? " has" : "s have", in->list, first_late,
                     isnan(p->jobs[first_late].given->deadline_s) ? "deadline_at"
                                                                  : "deadline_s",
                     in->policy->name, chains);
    if (urgent && !(looks & LOOK_JOB_PRIORITY))
        problem_warn(p,
                     "priorities_not_in_objective: %zu job%s a fixed_priority (first "
                     "/%s/%zu/fixed_priority), which is no part of the objective of "
                     "%s%s; the policies mct, met, olb, kpb and gridway go by it with "
                     "job_order gridway_priority",
                     urgent, urgent == 1 ? " has" : "s have", in->list, first_urgent,
                     in->policy->name, chains);
}

/* ---- members of resources ---- */

static bool has_priority(const struct placement_problem *p, const struct resource *r)
{
    return (int)p->common[COMMON_RESOURCE_ORDER] != ORDER_PRIORITY &&
           (r->fixed_priority < 1 || r->fixed_priority > 1);
}

static bool has_history(const struct placement_problem *p, const struct resource *r)
{
    (void)p;
    return !isnan(r->failure_count) || !isnan(r->last_failure_at_s) ||
           !isnan(r->observed_since_s) || !isnan(r->up_since_s) ||
           !isnan(r->uptime_total_s) || r->failure_time_count || r->boot_id;
}

static bool has_notice(const struct placement_problem *p, const struct resource *r)
{
    (void)p;
    return r->notice != NULL;
}

static bool has_more_ends(const struct placement_problem *p, const struct resource *r)
{
    (void)p;
    return (double)r->free_at_count > r->job_count;
}

static bool has_price(const struct placement_problem *p, const struct resource *r)
{
    return p->in->world && (r->price_per_s > 0 || r->price_per_cpu_s > 0);
}

static bool has_power(const struct placement_problem *p, const struct resource *r)
{
    return p->in->world && (r->power_node_w > 0 || r->power_per_cpu_w > 0);
}

static bool has_lost_age(const struct placement_problem *p, const struct resource *r)
{
    return !isnan(r->observed_at_s) && isnan(p->in->snapshot->taken_at_s);
}

static const struct {
    const char *member, *why;
    bool (*given)(const struct placement_problem *p, const struct resource *r);
} resource_members[] = {
    {"fixed_priority", "it counts with resource_order gridway_priority", has_priority},
    {"failure_count", "how resources fail and start is not looked at here", has_history},
    {"notice", "that resources are taken back is not looked at here", has_notice},
    {"free_at_s", "it has more times than job_count says slots are used", has_more_ends},
    {"observed_at", "the snapshot has no taken_at", has_lost_age},
    {"price_per_s", "it counts with objective cost", has_price},
    {"power_node_w", "it counts with objective energy_j", has_power},
};

static void warn_resources(struct placement_problem *p, const struct unused_in *in)
{
    const struct snapshot *s = p->in->snapshot;

    for (size_t k = 0; k < sizeof(resource_members) / sizeof(*resource_members); k++) {
        size_t count = 0, first = 0;

        if ((resource_members[k].given == has_price && in->prices) ||
            (resource_members[k].given == has_power && in->powers))
            continue;
        for (size_t i = s->resource_count; i-- > 0;) {
            if (!resource_members[k].given(p, &s->resources[i]))
                continue;
            first = i;
            count++;
        }
        if (count)
            problem_warn(p,
                         "ignored: %s of %zu resource%s (first "
                         "/snapshot/resources/%zu/%s): %s",
                         resource_members[k].member, count, count == 1 ? "" : "s", first,
                         resource_members[k].member, resource_members[k].why);
    }
}

/* ---- users and usage ---- */

static void warn_users(struct placement_problem *p, unsigned looks)
{
    size_t count = 0, first = 0;

    if (p->in->user_count && !(looks & (LOOK_RANK | LOOK_JOB_PRIORITY)))
        problem_warn(p,
                     "ignored: %zu user%s (/users): they count for policy gridway and "
                     "for job_order gridway_priority",
                     p->in->user_count, p->in->user_count == 1 ? "" : "s");
    for (size_t i = p->in->usage_count; i-- > 0;) {
        if (isnan(p->in->usage[i].mean_s) && isnan(p->in->usage[i].last_s))
            continue;
        count++;
        first = i;
    }
    if (count && !(looks & LOOK_RESOURCE_PRIORITY))
        problem_warn(p,
                     "ignored: mean_s and last_s of %zu row%s of usage (first "
                     "/usage/%zu): they count for policy gridway with resource_order "
                     "gridway_priority",
                     count, count == 1 ? "" : "s", first);
}

/* ---- options ---- */

static const struct {
    enum common_option option;
    unsigned used_by;
} option_looks[] = {
    {COMMON_JOB_ORDER, LOOK_ORDER},
    {COMMON_LIMITS, LOOK_RANK},
    {COMMON_DISPATCH_CHUNK, LOOK_RANK},
    {COMMON_PER_RESOURCE, LOOK_RANK},
    {COMMON_RUNNING_PER_RESOURCE, LOOK_RANK},
    {COMMON_RUNNING_PER_USER, LOOK_RANK},
    {COMMON_W_FIXED, LOOK_JOB_PRIORITY},
    {COMMON_W_SHARE, LOOK_JOB_PRIORITY},
    {COMMON_W_DEADLINE, LOOK_JOB_PRIORITY},
    {COMMON_W_WAIT, LOOK_JOB_PRIORITY},
    {COMMON_DL_HALF_DAYS, LOOK_JOB_PRIORITY},
    {COMMON_WINDOW_DEPTH, LOOK_JOB_PRIORITY},
    {COMMON_W_RESOURCE_FIXED, LOOK_RESOURCE_PRIORITY},
    {COMMON_W_RANK, LOOK_RESOURCE_PRIORITY},
    {COMMON_W_USAGE, LOOK_RESOURCE_PRIORITY},
    {COMMON_USAGE_LAST_SHARE, LOOK_RESOURCE_PRIORITY},
    {COMMON_MAX_NODES, LOOK_STARTS},
    {COMMON_ASSUME_PREEMPTED, LOOK_PREEMPT},
};

/* An option that changes nothing where it has its preset is no use of it. */
static bool is_unused(const struct placement_problem *p, const char *name, unsigned looks)
{
    for (size_t k = 0; k < sizeof(option_looks) / sizeof(*option_looks); k++) {
        enum common_option o = option_looks[k].option;
        const struct param *row = &placement_common_params[o];

        if (strcmp(row->name, name) == 0)
            return !(option_looks[k].used_by & looks) && p->common[o] != row->preset;
    }
    return false;
}

/* `why` is behind "it" or "them". */
static void warn_options(struct placement_problem *p, const struct named_value *options,
                         size_t option_count, unsigned looks, const char *who,
                         const char *why)
{
    const char *names = "";
    size_t count = 0;

    for (size_t i = 0; i < option_count; i++) {
        if (!is_unused(p, options[i].name, looks))
            continue;
        names = arena_printf(p->arena, "%s%s/options/%s", names, count++ ? ", " : "",
                             options[i].name);
    }
    if (count)
        problem_warn(p, "ignored: %zu option%s (%s): %s does not look at %s%s", count,
                     count == 1 ? "" : "s", names, who, count == 1 ? "it" : "them", why);
}

void unused_warn_judged(struct placement_problem *p, const struct named_value *options,
                        size_t option_count, bool starts)
{
    size_t count = 0, first = 0;

    warn_options(p, options, option_count, starts ? LOOK_STARTS : 0,
                 "the judgement of a plan", "");
    for (size_t i = p->in->job_count; i-- > 0;) {
        if (!p->in->jobs[i].preempt)
            continue;
        first = i;
        count++;
    }
    if (count)
        problem_warn(
            p,
            "ignored: preempt of %zu job%s (first /jobs/%zu/preempt): nothing is "
            "proposed for a plan that is there",
            count, count == 1 ? "" : "s", first);
}

void unused_warn(struct placement_problem *p, const struct unused_in *in)
{
    unsigned looks = looks_of(p, in);

    warn_objective(p, in, looks);
    warn_jobs(p, in, looks);
    warn_needs(p, in);
    warn_resources(p, in);
    warn_users(p, looks);
    warn_options(p, in->options, in->option_count, looks, in->policy->name,
                 " with these settings");
}
