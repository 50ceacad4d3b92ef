/* simulation/placement_round.c - placement policies as schedulers of rounds.
 *
 * Cost of a round in which a slot is free and a job waits: what the policy's file says
 * for the jobs that wait, besides O(jobs + resources), and O(jobs * resources) where
 * transfers take time; nothing of that when none waits or none is free.
 * Deviation: identical_optimum is a plan for an empty grid. In rounds with slots in use,
 * or with jobs that differ, mct stands for it, which is its rule with times that do not
 * begin at 0.
 */
#include "algorithms/simulation/placement_round.h"

#include "algorithms/placement/identical.h"
#include "algorithms/placement/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TICK_S 1e-3 /* of the simulator's clock: what is in use is not free before */

enum { ID_BYTES = 24 };

/* A round on its way into a placement problem. */
struct problem_round {
    const struct round_in *in;
    struct resource *resources;
    struct job *jobs; /* those that wait */
    size_t *job_of;   /* of each, in the round */
    size_t waiting_count;
    size_t *free_count; /* slots of each resource */
    size_t all_free_count;
    bool is_anything_up;
    struct arena *arena;
    struct error *err;
};

/* ---- what waits, what is free ---- */

static bool is_waiting(const struct round_job *j)
{
    for (size_t i = 0; i < j->replica_count; i++)
        if (replica_is_active(&j->replicas[i]) ||
            j->replicas[i].state == REPLICA_FINISHED)
            return false;
    return true;
}

static size_t count_waiting(const struct round_in *in)
{
    size_t count = 0;

    for (size_t i = 0; i < in->job_count; i++)
        count += is_waiting(&in->jobs[i]);
    return count;
}

static void count_free(struct problem_round *p)
{
    for (size_t i = 0; i < p->in->resource_count; i++) {
        const struct round_resource *r = &p->in->resources[i];

        p->is_anything_up |= r->up;
        if (!r->up || r->job_count >= r->n_max)
            continue;
        p->free_count[i] = r->n_max - r->job_count;
        p->all_free_count += p->free_count[i];
    }
}

/* ---- resources ---- */

/* Names have no meaning; ties go by index. */
static const char *name_of(char **names, char kind, size_t index)
{
    char *name = *names;

    *names += snprintf(name, ID_BYTES, "%c%zu", kind, index) + 1;
    return name;
}

/* Seconds until the replica leaves its slot. */
static double left_s(const struct round_in *in, size_t job, const struct round_replica *r)
{
    const struct round_job *j = &in->jobs[job];
    const struct round_resource *on = &in->resources[r->resource];
    bool runs = r->state == REPLICA_RUNNING;
    double done_mi = runs ? r->completed_mi : j->has_checkpoint ? j->checkpoint_mi : 0;
    double time_s = NAN;

    if (on->mips > 0)
        time_s = fmax(0, j->length_mi - done_mi) * (double)on->n_max / on->mips;
    if (!runs && in->stage_in_s)
        time_s += in->stage_in_s(in->context, job, r->resource);
    return time_s <= LONGEST_S ? fmax(time_s, TICK_S) : (double)NAN;
}

static int latest_first(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    if (isnan(x) || isnan(y))
        return isnan(y) - isnan(x);
    return (x < y) - (x > y);
}

static bool holds_slot(const struct round_replica *r)
{
    return replica_is_active(r) && !r->is_ghost;
}

/* When slots in use are free. A replica whose output is on its way is still seen, but
 * holds none: of more replicas than there are jobs, the latest count. */
static void fill_free_times(struct problem_round *p)
{
    const struct round_in *in = p->in;
    size_t *first = NEW(p->arena, size_t, in->resource_count + 1);
    double *time_s;

    for (size_t i = 0; i < in->job_count; i++)
        for (size_t k = 0; k < in->jobs[i].replica_count; k++)
            if (holds_slot(&in->jobs[i].replicas[k]))
                first[in->jobs[i].replicas[k].resource + 1]++;
    for (size_t i = 0; i < in->resource_count; i++)
        first[i + 1] += first[i];
    time_s = NEW(p->arena, double, first[in->resource_count]);
    for (size_t i = 0; i < in->resource_count; i++)
        p->resources[i].free_at_s = time_s + first[i];
    for (size_t i = 0; i < in->job_count; i++) {
        for (size_t k = 0; k < in->jobs[i].replica_count; k++) {
            const struct round_replica *r = &in->jobs[i].replicas[k];

            if (holds_slot(r))
                time_s[first[r->resource] + p->resources[r->resource].free_at_count++] =
                    left_s(in, i, r);
        }
    }
    for (size_t i = 0; i < in->resource_count; i++) {
        struct resource *r = &p->resources[i];

        if ((double)r->free_at_count <= r->job_count)
            continue;
        qsort(time_s + first[i], r->free_at_count, sizeof(double), latest_first);
        r->free_at_count = (size_t)r->job_count;
    }
}

static void fill_resources(struct problem_round *p)
{
    size_t count = p->in->resource_count;
    char *names = arena_alloc(p->arena, count, ID_BYTES);

    p->resources = NEW(p->arena, struct resource, count);
    for (size_t i = 0; i < count; i++) {
        const struct round_resource *r = &p->in->resources[i];

        p->resources[i] = (struct resource){
            .id = name_of(&names, 'r', i),
            .mips_total = r->mips,
            .cpu_available_ratio = 1,
            .cpus = NAN,
            .memory_bytes = NAN,
            .n_max = (double)r->n_max,
            .job_count = (double)r->job_count,
            .sharing = SHARING_EQUAL,
            .failed = !r->up,
            .observed_at_s = NAN,
            .fixed_priority = 1,
        };
    }
    fill_free_times(p);
}

/* Sites are numbered; their names are as long as the snapshot needs them. */
static void fill_sites(struct problem_round *p)
{
    size_t count = p->in->site_count;
    char *names = arena_alloc(p->arena, count, ID_BYTES);
    const char **sites = NEW(p->arena, const char *, count);

    for (size_t i = 0; i < count; i++)
        sites[i] = name_of(&names, 's', i);
    for (size_t i = 0; i < p->in->resource_count; i++)
        p->resources[i].site_id = sites[p->in->resources[i].site];
}

/* ---- jobs ---- */

/* Run times with the time until the input is there; NAN: never. */
static void fill_times(struct problem_round *p, size_t job, double work_mi,
                       struct job *out)
{
    const struct round_in *in = p->in;
    double *row = NEW(p->arena, double, in->resource_count);

    for (size_t i = 0; i < in->resource_count; i++) {
        double speed_mips = resource_speed_mips(&p->resources[i]);

        row[i] = speed_mips > 0
                     ? work_mi / speed_mips + in->stage_in_s(in->context, job, i)
                     : (double)NAN;
    }
    out->etc_s = row;
    out->etc_count = in->resource_count;
}

static void fill_jobs(struct problem_round *p)
{
    char *names = arena_alloc(p->arena, p->waiting_count, ID_BYTES);
    size_t count = 0;

    p->jobs = NEW(p->arena, struct job, p->waiting_count);
    p->job_of = NEW(p->arena, size_t, p->waiting_count);
    for (size_t i = 0; i < p->in->job_count; i++) {
        const struct round_job *j = &p->in->jobs[i];
        double done_mi = j->has_checkpoint ? j->checkpoint_mi : 0;
        struct job *job = &p->jobs[count];

        if (!is_waiting(j))
            continue;
        *job = (struct job){
            .id = name_of(&names, 'j', i),
            .estimate_ref_s = fmax(0, j->length_mi - done_mi),
            .cpus = 1,
            .deadline_s = NAN,
            .queued_at_s = NAN,
            .deadline_at_s = NAN,
            .task_index = NAN,
            .param_start = NAN,
            .param_increment = NAN,
        };
        if (p->in->stage_in_s)
            fill_times(p, i, job->estimate_ref_s, job);
        p->job_of[count++] = i;
    }
}

/* ---- the plan ---- */

static enum error_code make_plan(struct problem_round *p, placement_fn *run,
                                 const double *param, struct placement_plan *plan)
{
    struct snapshot *snapshot = NEW(p->arena, struct snapshot, 1);
    struct budget *budget = NEW(p->arena, struct budget, 1);
    struct placement_in *in = NEW(p->arena, struct placement_in, 1);
    struct placement_problem *problem = NEW(p->arena, struct placement_problem, 1);

    if (p->in->budget)
        *budget = *p->in->budget;
    budget->max_steps = PLACEMENT_ROUND_STEPS;
    *snapshot = (struct snapshot){
        .taken_at_s = NAN,
        .list_observed_at_s = NAN,
        .network = {.wan_mbps = NAN,
                    .wan_latency_s = NAN,
                    .lan_mbps = NAN,
                    .lan_latency_s = NAN},
        .resources = p->resources,
        .resource_count = p->in->resource_count,
    };
    *in = (struct placement_in){
        .snapshot = snapshot,
        .jobs = p->jobs,
        .job_count = p->waiting_count,
        .seed = p->in->random_state,
        .budget = budget,
    };
    TRY(problem_prepare(in, param, problem, p->arena, p->err));
    plan_create(problem, plan, p->arena);
    if (run == placement_identical_optimum && identical_obstacle(problem))
        run = placement_mct;
    TRY(run(problem, param + COMMON_COUNT, plan, p->arena, p->err));
    return OK;
}

/* What the plan starts now, in its order. */
static void start_planned(struct problem_round *p, const struct placement_plan *plan,
                          struct round_out *out)
{
    struct round_action *actions = NEW(p->arena, struct round_action, plan->placed_count);

    for (size_t i = 0; i < plan->placed_count; i++) {
        const struct plan_entry *e = &plan->entries[plan->sequence[i]];
        size_t resource = plan->problem->resources[e->pos].index;
        size_t job = p->job_of[plan->sequence[i]];

        if (e->start_s > 0 || p->free_count[resource] == 0)
            continue;
        p->free_count[resource]--;
        actions[out->action_count++] =
            (struct round_action){.kind = ROUND_START,
                                  .job = job,
                                  .replica = p->in->jobs[job].replica_count,
                                  .resource = resource,
                                  .from_checkpoint = p->in->jobs[job].has_checkpoint};
    }
    out->actions = actions;
    if (plan->cut)
        out->status = DECISION_CUT;
}

static enum error_code decide(placement_fn *run, const struct round_in *in,
                              const double *param, struct round_out *out, struct arena *a,
                              struct error *err)
{
    struct problem_round p = {.in = in, .arena = a, .err = err};
    struct round_out decided = {.status = DECISION_FEASIBLE,
                                .random_state = in->random_state};
    struct placement_plan plan;

    p.waiting_count = count_waiting(in);
    p.free_count = NEW(a, size_t, in->resource_count);
    count_free(&p);
    decided.free_cpus = p.all_free_count;
    if (p.waiting_count && !p.is_anything_up)
        decided.status = DECISION_INFEASIBLE;
    if (p.waiting_count && p.all_free_count) {
        fill_resources(&p);
        fill_sites(&p);
        fill_jobs(&p);
        TRY(make_plan(&p, run, param, &plan));
        start_planned(&p, &plan, &decided);
    }
    *out = decided;
    return OK;
}

/* ---- the policies ---- */

#define X(name, purpose, source)                                                        \
    static enum error_code round_##name(const struct round_in *in, const double *param, \
                                        struct round_out *out, struct arena *a,         \
                                        struct error *err)                              \
    {                                                                                   \
        return decide(placement_##name, in, param, out, a, err);                        \
    }
PLACEMENT_POLICIES(X)
#undef X

const struct policy placement_round_policies[] = {
#define X(policy, does, described)          \
    {.name = #policy,                       \
     .purpose = does,                       \
     described,                             \
     .common = placement_common_params,     \
     .params = placement_##policy##_params, \
     .run = (policy_fn *)round_##policy,    \
     .flags = ROUND_DETECTS | ROUND_RESTARTS | ROUND_PROGRESS},
    PLACEMENT_POLICIES(X)
#undef X
        {0},
};
