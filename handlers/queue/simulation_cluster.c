/* simulation_cluster.c - simulations of kind "queue" with a cluster. */
#include "handlers/queue/simulation_cluster.h"

#include "algorithms/cluster_queue/settings.h"
#include "algorithms/simulation/experiment.h"
#include "models/base/pointer.h"
#include "models/base/precise_sum.h"
#include "service/service.h"

#include <math.h>
#include <string.h>

enum { HEADER_NODES_MAX = CLUSTER_NODES_MAX };

const char *const simulation_estimates[] = {"requested", "actual", "model", NULL};

/* ---- the jobs of a log ---- */

/* What all jobs have that nothing is said of. */
static const struct waiting_job nothing_said = {
    .of = {.estimate_ref_s = (double)NAN,
           .cpus = 1,
           .deadline_s = (double)NAN,
           .queued_at_s = (double)NAN,
           .deadline_at_s = (double)NAN,
           .nodes = 1,
           .time_limit_s = (double)NAN,
           .estimate_s = (double)NAN,
           .weight = 1},
    .job = {.estimate_s = (double)NAN},
    .planned_start_s = (double)NAN,
    .cluster = {.cpus_per_task = 1,
                .memory_per_cpu_bytes = (double)NAN,
                .kill_on_invalid_dependency = true,
                .requeue = true,
                .begin_s = (double)NAN,
                .eligible_s = (double)NAN,
                .time_limit_min_s = (double)NAN},
};

static const char *number_text(double number, const char *before, struct arena *a)
{
    return isnan(number) ? NULL : arena_printf(a, "%s%.15g", before, number);
}

/* A name if it is in the index; else it is counted. */
static const char *known(const struct name_index *in, const char *name, size_t *missing)
{
    if (!name)
        return NULL;
    if (name_index_find(in, name) != NAME_NOT_FOUND)
        return name;
    ++*missing;
    return NULL;
}

static bool has_limit(const struct cluster_in *c)
{
    for (size_t i = 0; i < c->partition_count; i++)
        if (!isnan(c->partitions[i].time_limit_default_s) ||
            !isnan(c->partitions[i].time_limit_max_s))
            return true;
    return false;
}

void simulation_jobs_of_log(struct request *rq, const struct cluster_in *cluster,
                            const struct swf_job *log, size_t count,
                            struct simulation_jobs *out)
{
    struct arena *a = rq->arena;
    struct waiting_job *list = NEW(a, struct waiting_job, count);
    double *run_s = NEW(a, double, count);
    struct name_index partitions, qos;
    bool limited = has_limit(cluster);

    *out = (struct simulation_jobs){
        .list = list, .run_s = run_s, .log = log, .count = count};
    name_index_create(&partitions, cluster->partition_count, a);
    name_index_create(&qos, cluster->qos_count, a);
    for (size_t i = 0; i < cluster->partition_count; i++)
        name_index_add(&partitions, cluster->partitions[i].id, i);
    for (size_t i = 0; i < cluster->qos_count; i++)
        name_index_add(&qos, cluster->qos[i].id, i);
    for (size_t i = 0; i < count; i++) {
        const struct swf_job *from = &log[i];
        struct waiting_job *to = &list[i];
        double processors = ceil(swf_processors(from));
        const char **partition = NEW(a, const char *, 1);

        budget_step(&rq->budget, 16);
        *to = nothing_said;
        to->of.id = arena_printf(a, "%zu", i + 1);
        to->of.user = number_text(from->user, "", a);
        to->of.time_limit_s = from->requested_s;
        if (isnan(from->requested_s) && !limited) {
            to->of.time_limit_s = fmax(from->run_s, 0);
            out->no_limit++;
        }
        to->job.submit_s = from->submit_s;
        if (processors > 1)
            to->cluster.tasks = (uint64_t)fmin(processors, QUEUE_PROCESSORS_MAX + 1);
        if (from->requested_memory_kb > 0)
            to->cluster.memory_per_cpu_bytes = from->requested_memory_kb * 1024;
        *partition =
            known(&partitions, number_text(from->partition, "", a), &out->no_partition);
        to->of.partition_ids = *partition ? partition : NULL;
        to->of.partition_id_count = *partition ? 1 : 0;
        to->cluster.qos_id =
            known(&qos, number_text(from->queue, "queue.", a), &out->no_qos);
        for (size_t k = 0; k < cluster->account_count && !isnan(from->group); k++) {
            budget_step(&rq->budget, 1);
            if (strcmp(cluster->accounts[k].id, number_text(from->group, "", a)) == 0)
                to->cluster.account_id = cluster->accounts[k].id;
        }
        run_s[i] = from->run_s;
    }
}

/* ---- the jobs of accounting ---- */

/* What a cluster has that jobs name. */
struct its_names {
    struct name_index partitions, qos, accounts;
};

static struct its_names names_of(struct request *rq, const struct cluster_in *cluster)
{
    struct its_names names;

    name_index_create(&names.partitions, cluster->partition_count, rq->arena);
    name_index_create(&names.qos, cluster->qos_count, rq->arena);
    name_index_create(&names.accounts, cluster->account_count, rq->arena);
    for (size_t i = 0; i < cluster->partition_count; i++)
        name_index_add(&names.partitions, cluster->partitions[i].id, i);
    for (size_t i = 0; i < cluster->qos_count; i++)
        name_index_add(&names.qos, cluster->qos[i].id, i);
    for (size_t i = 0; i < cluster->account_count; i++)
        name_index_add(&names.accounts, cluster->accounts[i].id, i);
    budget_step(&rq->budget, 4 * (cluster->partition_count + cluster->qos_count +
                                  cluster->account_count));
    return names;
}

static int after_kind(const char *kind)
{
    int i = 0;

    while (i < CLUSTER_JOB_CORR && strcmp(cluster_after_kind_names[i], kind) != 0)
        i++;
    return i;
}

static void take_after(struct request *rq, const struct slurm_shape *from,
                       struct cluster_job_in *to)
{
    struct cluster_after_in_row *list =
        NEW(rq->arena, struct cluster_after_in_row, from->after_count);

    for (size_t i = 0; i < from->after_count; i++) {
        budget_step(&rq->budget, 4);
        list[i] = (struct cluster_after_in_row){from->after[i].job_id,
                                                after_kind(from->after[i].kind),
                                                from->after[i].delay_s};
    }
    to->after = list;
    to->after_count = from->after_count;
    to->after_mode = from->any_after;
}

static void take_array(struct request *rq, const struct slurm_shape *from,
                       struct cluster_job_in *to)
{
    struct cluster_array_in *array;

    if (!from->array_id)
        return;
    array = NEW(rq->arena, struct cluster_array_in, 1);
    *array = (struct cluster_array_in){from->array_id, from->task_ids, from->running_max};
    to->array = array;
}

static void take_gang(struct request *rq, const struct slurm_shape *from, struct job *to)
{
    struct job_group *group;

    if (!from->gang)
        return;
    group = NEW(rq->arena, struct job_group, 1);
    *group = (struct job_group){from->gang, JOB_GANG, NULL, 0};
    to->group = group;
}

static struct waiting_job asked_for(struct request *rq, const struct swf_job *job,
                                    const struct slurm_shape *from,
                                    const struct its_names *its,
                                    struct simulation_jobs *out)
{
    struct waiting_job to = nothing_said;
    const char **partition = NEW(rq->arena, const char *, 1);

    budget_step(&rq->budget, 16 + from->needs.count);
    to.of.id = from->id;
    to.of.user = from->user;
    to.of.time_limit_s = job->requested_s > 0 ? job->requested_s : (double)NAN;
    to.of.needs = from->needs.list;
    to.of.need_count = from->needs.count;
    to.job.submit_s = job->submit_s;
    if (from->nodes > 0) {
        to.of.nodes = (uint64_t)fmin(from->nodes, CLUSTER_NODES_MAX);
        to.of.cpus = from->cpus;
        to.of.memory_bytes = from->memory_bytes;
    } else {
        to.cluster.tasks = (uint64_t)fmin(from->tasks, QUEUE_PROCESSORS_MAX + 1);
        if (from->memory_bytes > 0)
            to.cluster.memory_per_cpu_bytes = from->memory_bytes;
    }
    *partition = known(&its->partitions, from->partition, &out->no_partition);
    to.of.partition_ids = *partition ? partition : NULL;
    to.of.partition_id_count = *partition ? 1 : 0;
    to.cluster.qos_id = known(&its->qos, from->qos, &out->no_qos);
    to.cluster.account_id = known(&its->accounts, from->account, &out->no_account);
    to.cluster.name = from->name;
    to.cluster.singleton = from->singleton;
    to.cluster.begin_s = from->eligible_s;
    take_after(rq, from, &to.cluster);
    take_array(rq, from, &to.cluster);
    take_gang(rq, from, &to.of);
    return to;
}

void simulation_jobs_of_accounting(struct request *rq, const struct cluster_in *cluster,
                                   const struct slurm_workload *log,
                                   struct simulation_jobs *out)
{
    size_t count = log->job_count + log->withdrawn_count, ran = 0, left = 0;
    struct arena *a = rq->arena;
    struct waiting_job *list = NEW(a, struct waiting_job, count);
    double *run_s = NEW(a, double, count), *cancel_s = NEW(a, double, count);
    bool *fails = NEW(a, bool, count), limited = has_limit(cluster);
    struct its_names its = names_of(rq, cluster);

    *out = (struct simulation_jobs){.list = list,
                                    .run_s = run_s,
                                    .cancel_s = cancel_s,
                                    .fails = fails,
                                    .count = count};
    for (size_t i = 0; i < count; i++) {
        bool is_left = ran == log->job_count ||
                       (left < log->withdrawn_count &&
                        log->withdrawn[left].submit_s < log->jobs[ran].submit_s);
        const struct swf_job *job = is_left ? &log->withdrawn[left] : &log->jobs[ran];
        const struct slurm_shape *shape =
            is_left ? &log->withdrawn_shapes[left++] : &log->shapes[ran++];

        list[i] = asked_for(rq, job, shape, &its, out);
        run_s[i] = job->run_s;
        cancel_s[i] = shape->cancel_s;
        fails[i] = !shape->ends_well;
        if (isnan(list[i].of.time_limit_s) && !limited) {
            list[i].of.time_limit_s = fmax(job->run_s, 0);
            out->no_limit++;
        }
    }
}

const struct cluster_in *simulation_cluster_of_header(struct request *rq,
                                                      const struct cluster_in *in,
                                                      double max_procs, double max_nodes)
{
    struct cluster_in *made = NEW(rq->arena, struct cluster_in, 1);
    double each = floor(max_procs / max_nodes);
    struct cluster_resource_in *nodes;

    *made = *in;
    if (in->resource_count) {
        invalid(rq->err, "/cluster/resources", ITEM_CONFLICT,
                "with from_header the log says them");
        return NULL;
    }
    if (!(max_nodes >= 1) || !(each >= 1) || max_nodes > HEADER_NODES_MAX) {
        invalid(
            rq->err, "/cluster/from_header", ITEM_REQUIRED,
            "the log's header does not say MaxNodes and MaxProcs, at most %d nodes of "
            "at least one processor",
            HEADER_NODES_MAX);
        return NULL;
    }
    nodes = NEW(rq->arena, struct cluster_resource_in, (size_t)max_nodes);
    for (size_t i = 0; i < (size_t)max_nodes; i++)
        nodes[i] = (struct cluster_resource_in){
            .id = arena_printf(rq->arena, "node%zu", i + 1),
            .cpus = each,
            .memory_bytes = (double)NAN,
            .weight = 1,
            .threads_per_core = 1,
            .state = CLUSTER_UP,
        };
    budget_step(&rq->budget, 16 * (size_t)max_nodes);
    made->resources = nodes;
    made->resource_count = (size_t)max_nodes;
    return made;
}

/* ---- binding ---- */

/* What is said of a job moves with its arrival. */
static void move_times(struct waiting_job *job, double by_s)
{
    job->job.submit_s += by_s;
    job->of.deadline_s += by_s;
    job->cluster.begin_s += by_s;
    job->cluster.eligible_s += by_s;
}

/* Jobs with other times of arrival: how much later each arrives, in *later_s. */
static const struct waiting_job *scaled(struct request *rq,
                                        const struct simulation_jobs *jobs, double scale,
                                        const double **later_s)
{
    struct waiting_job *list;
    double *later;
    double first_s;

    *later_s = NULL;
    if (scale == 1 || !jobs->count)
        return jobs->list;
    list = NEW(rq->arena, struct waiting_job, jobs->count);
    later = NEW(rq->arena, double, jobs->count);
    memcpy(list, jobs->list, jobs->count * sizeof(*list));
    first_s = list[0].job.submit_s;
    for (size_t i = 0; i < jobs->count; i++) {
        double since_s = list[i].job.submit_s - first_s;

        later[i] = since_s / scale - since_s;
        move_times(&list[i], later[i]);
        list[i].job.submit_s = first_s + since_s / scale;
    }
    budget_step(&rq->budget, 4 * jobs->count);
    *later_s = later;
    return list;
}

/* The account above the association of a user. */
static ptrdiff_t account_of(const struct cluster *c, ptrdiff_t account)
{
    bool is_user = account >= 0 && c->accounts[account].is_user;

    return is_user && c->accounts[account].parent >= 0 ? c->accounts[account].parent
                                                       : account;
}

/* The row of a job that has none in a log. */
static struct swf_job row_of(const struct simulation_cluster *c, size_t job, double run_s)
{
    const struct cluster_job *j = &c->bound.jobs[job];
    const struct waiting_job *w = &c->bound.body->jobs[c->bound.given[job]];
    ptrdiff_t account = account_of(&c->bound.of, j->of.account);
    struct swf_job row;
    double each = w->cluster.tasks ? w->cluster.cpus_per_task
                  : w->cluster.tasks_per_node
                      ? (double)w->cluster.tasks_per_node * w->cluster.cpus_per_task
                      : w->of.cpus;

#define X(column, doc) row.column = (double)NAN;
    SWF_COLUMNS(X)
#undef X
    row.number = (double)(job + 1);
    row.submit_s = j->submit_s;
    row.run_s = run_s;
    row.requested_s = w->of.time_limit_s;
    row.processors = row.requested_processors =
        ceil(each * (double)(w->cluster.tasks ? w->cluster.tasks : w->of.nodes));
    row.user = j->of.user >= 0 ? (double)j->of.user : (double)NAN;
    row.group = account >= 0 ? (double)account : (double)NAN;
    row.queue = j->of.qos >= 0 ? (double)j->of.qos : (double)NAN;
    return row;
}

static void name_keys(struct simulation_cluster *c)
{
    const struct cluster *of = &c->bound.of;
    struct arena *a = c->bound.rq->arena;

    c->users = NEW(a, const char *, of->user_count);
    c->partitions = NEW(a, const char *, of->partition_count);
    c->qos = NEW(a, const char *, of->qos_count);
    c->accounts = NEW(a, const char *, of->account_count);
    for (size_t i = 0; i < of->partition_count; i++)
        c->partitions[i] = of->partitions[i].id;
    for (size_t i = 0; i < of->qos_count; i++)
        c->qos[i] = of->qos[i].id;
    for (size_t i = 0; i < of->account_count; i++)
        c->accounts[i] = of->accounts[i].id;
    budget_step(of->budget, of->partition_count + of->qos_count + of->account_count);
    for (size_t i = 0; i < c->bound.users.slot_count; i++)
        if (c->bound.users.key[i]) {
            size_t at = name_index_find(&c->bound.users, c->bound.users.key[i]);

            if (at < of->user_count)
                c->users[at] = c->bound.users.key[i];
            budget_step(of->budget, 1);
        }
}

enum error_code simulation_cluster_bind(struct request *rq, const struct cluster_in *in,
                                        const struct simulation_jobs *jobs, double scale,
                                        bool strict_dependencies,
                                        struct simulation_cluster *out)
{
    struct queue_orders_request *body = NEW(rq->arena, struct queue_orders_request, 1);
    struct arena *a = rq->arena;
    const double *later_s;

    body->cluster = in;
    body->jobs = scaled(rq, jobs, scale, &later_s);
    body->job_count = jobs->count;
    body->now_s = jobs->count ? body->jobs[0].job.submit_s : 0;
    body->strict_dependencies = strict_dependencies;
    *out =
        (struct simulation_cluster){.bound = {.rq = rq, .body = body, .is_replay = true}};
    TRY(cluster_bind(&out->bound));
    out->job_count = out->bound.job_count;
    out->plays = NEW(a, struct cluster_replay_job, out->job_count);
    out->rows = NEW(a, struct swf_job, out->job_count);
    out->model_s = jobs->model_s ? NEW(a, double, out->job_count) : NULL;
    out->cancel_s = jobs->cancel_s ? NEW(a, double, out->job_count) : NULL;
    for (size_t i = 0; i < out->job_count; i++) {
        size_t given = out->bound.given[i];
        const struct waiting_job *w = &body->jobs[given];

        budget_step(&rq->budget, 4);
        out->plays[i] = (struct cluster_replay_job){
            jobs->run_s[given], w->cluster.requeue, w->cluster.kill_on_invalid_dependency,
            jobs->fails && jobs->fails[given]};
        out->rows[i] = jobs->log ? jobs->log[given] : row_of(out, i, jobs->run_s[given]);
        out->rows[i].submit_s = out->bound.jobs[i].submit_s;
        if (out->model_s)
            out->model_s[i] = jobs->model_s[given];
        if (out->cancel_s)
            out->cancel_s[i] = jobs->cancel_s[given] + (later_s ? later_s[given] : 0);
    }
    for (size_t i = 0; i < out->bound.of.node_count; i++)
        if (out->bound.of.nodes[i].may_come_back)
            out->cpus +=
                (double)out->bound.of.nodes[i].capacity[CLUSTER_CPUS] / CLUSTER_UNITS;
    budget_step(&rq->budget, out->bound.of.node_count);
    name_keys(out);
    if (jobs->log)
        out->users = NULL;
    return OK;
}

double simulation_cluster_bytes(const struct simulation_cluster *c)
{
    const struct cluster *of = &c->bound.of;
    double jobs = (double)c->job_count, rows = (double)of->row_count;
    double nodes = (double)of->node_count, amounts = (double)of->amount_count;

    return jobs * (sizeof(struct cluster_job) + sizeof(struct cluster_held) + 400) +
           rows * (sizeof(struct cluster_verdict) + sizeof(struct cluster_row) + 64) +
           nodes * amounts * 8 * sizeof(int64_t);
}

void simulation_cluster_fail(struct simulation_cluster *c,
                             const struct node_failure *list, size_t count,
                             bool is_strict)
{
    struct request *rq = c->bound.rq;
    struct cluster_outage *outages = NEW(rq->arena, struct cluster_outage, count);

    c->outages = outages;
    c->outage_count = 0;
    budget_step(&rq->budget, 4 * count);
    for (size_t i = 0; i < count; i++) {
        const struct node_failure *f = &list[i];
        ptrdiff_t node;

        if (is_strict && f->up_s < f->down_s)
            invalid(rq->err, pointer_in("/failures", i, "up_s").text, ITEM_OUT_OF_BOUNDS,
                    "it is before down_s");
        if (!is_strict &&
            name_index_find(&c->bound.nodes, f->resource_id) == NAME_NOT_FOUND)
            continue;
        node = cluster_find(&c->bound, &c->bound.nodes, f->resource_id, "node",
                            pointer_in("/failures", i, "resource_id").text);
        if (node >= 0)
            outages[c->outage_count++] = (struct cluster_outage){
                (size_t)node, f->down_s, isnan(f->up_s) ? HUGE_VAL : f->up_s};
    }
}

/* ---- playing ---- */

static void fill_figures(const struct simulation_cluster *c,
                         const struct cluster_replayed *played, double bound_s,
                         struct queue_replay_out *out)
{
    struct queue_figures *f = &out->figures;
    double begin_s = HUGE_VAL, end_s = -HUGE_VAL, n;
    struct precise_sum busy = {0};

    for (size_t i = 0; i < c->job_count; i++) {
        const struct cluster_replay_outcome *o = &played->outcomes[i];
        double wait_s, response_s;

        if (isnan(out->start_s[i])) {
            if (o->state != CLUSTER_JOB_CANCELLED)
                out->never_fit_count++;
            continue;
        }
        wait_s = out->start_s[i] - c->rows[i].submit_s;
        response_s = o->end_s - c->rows[i].submit_s;
        out->run_count++;
        begin_s = fmin(begin_s, c->rows[i].submit_s);
        end_s = fmax(end_s, o->end_s);
        f->mean_wait_s += wait_s;
        f->max_wait_s = fmax(f->max_wait_s, wait_s);
        f->mean_response_s += response_s;
        f->mean_bounded_slowdown +=
            queue_bounded_slowdown(response_s, out->run_s[i], bound_s);
    }
    for (size_t i = 0; i < played->attempt_count; i++)
        precise_add(&busy, (long double)played->attempts[i].cpus *
                               ((long double)played->attempts[i].to_s -
                                played->attempts[i].from_s));
    n = out->run_count ? (double)out->run_count : (double)NAN;
    f->max_wait_s = out->run_count ? f->max_wait_s : (double)NAN;
    f->mean_wait_s /= n;
    f->mean_response_s /= n;
    f->mean_bounded_slowdown /= n;
    f->makespan_s = out->run_count ? end_s - begin_s : (double)NAN;
    f->utilisation_ratio =
        f->makespan_s > 0 && c->cpus > 0
            ? (double)(precise_total(&busy) / (((long double)end_s - begin_s) * c->cpus))
            : (double)NAN;
}

void simulation_cluster_read(const struct simulation_cluster *c,
                             const struct cluster_replayed *played, double bound_s,
                             struct queue_replay_in *in, struct queue_replay_out *out,
                             struct arena *a)
{
    *in = (struct queue_replay_in){.jobs = c->rows,
                                   .job_count = c->job_count,
                                   .processors = (uint64_t)fmin(ceil(c->cpus), 1e15),
                                   .cut_at_request = true,
                                   .bound_s = bound_s};
    *out = (struct queue_replay_out){.is_cut = played->is_cut,
                                     .start_s = NEW(a, double, c->job_count),
                                     .run_s = NEW(a, double, c->job_count)};
    if (played->is_cut)
        return;
    for (size_t i = 0; i < c->job_count; i++) {
        const struct cluster_replay_outcome *o = &played->outcomes[i];
        bool ran = o->state >= CLUSTER_JOB_DONE && !isnan(o->start_s);

        out->start_s[i] = ran ? o->start_s : (double)NAN;
        out->run_s[i] = ran ? o->end_s - o->last_start_s : c->rows[i].run_s;
    }
    fill_figures(c, played, bound_s, out);
}

static const double *run_times(const struct simulation_cluster *c, struct budget *budget,
                               struct arena *a)
{
    double *list = NEW(a, double, c->job_count);

    for (size_t i = 0; i < c->job_count; i++)
        list[i] = c->plays[i].run_s;
    budget_step(budget, c->job_count);
    return list;
}

/* Not beyond the limit at which they are ended. */
static const double *model_times(const struct simulation_cluster *c,
                                 struct budget *budget, struct arena *a)
{
    double *list = NEW(a, double, c->job_count);

    for (size_t i = 0; i < c->job_count; i++)
        list[i] = c->model_s ? c->model_s[i] : (double)NAN;
    for (size_t r = 0; r < c->bound.row_count; r++) {
        const struct cluster_row *row = &c->bound.rows[r];

        if (list[row->job] > row->limit_s)
            list[row->job] = row->limit_s;
    }
    budget_step(budget, c->job_count + c->bound.row_count);
    return list;
}

void simulation_cluster_play(const struct simulation_cluster *c,
                             const struct policy *policy,
                             enum simulation_estimates estimates,
                             struct cluster_replay_in how, double bound_s,
                             struct cluster_replayed *played, struct queue_replay_in *in,
                             struct queue_replay_out *out, struct arena *a,
                             struct arena *scratch)
{
    const struct cluster_settings_in *s = &c->bound.in->policy_settings;
    how.of = &c->bound.of;
    how.policy = policy;
    how.jobs = c->plays;
    how.cancel_s = c->cancel_s;
    how.estimate_s = estimates == BY_RUN     ? run_times(c, how.budget, a)
                     : estimates == BY_MODEL ? model_times(c, how.budget, a)
                                             : NULL;
    how.settings = (struct cluster_replay_settings){
        .sched_interval_s = s->sched_interval_s,
        .sched_min_interval_s = s->sched_min_interval_s,
        .requeue_delay_s = s->requeue_delay_s,
        .over_time_limit_s = s->over_time_limit_s,
        .calc_period_s = s->priority.calc_period_s,
        .half_life_s = s->priority.decay_half_life_s,
        .cancels = s->preempt_mode == PREEMPT_CANCEL,
    };
    how.outages = c->outages;
    how.outage_count = c->outage_count;
    how.ranking = &c->bound.ranking;
    how.rank_jobs = c->bound.rank_jobs;
    how.shares = c->bound.shares;
    how.first_pass_s = (double)NAN;
    how.keeps_attempts = true;
    cluster_replay(&how, played, a, scratch);
    simulation_cluster_read(c, played, bound_s, in, out, a);
}

/* ---- what came out ---- */

struct queue_outcome *simulation_cluster_outcomes(const struct simulation_cluster *c,
                                                  const struct cluster_replayed *played,
                                                  const struct queue_replay_in *in,
                                                  const struct queue_replay_out *out,
                                                  struct arena *a)
{
    struct queue_outcome *list = queue_outcomes(in, out, a);

    for (size_t i = 0; i < c->job_count; i++) {
        const struct cluster_replay_outcome *o = &played->outcomes[i];

        if (!queue_ran(&list[i]))
            continue;
        list[i].cores = fmax(1, o->cpus);
        list[i].response_s = o->end_s - list[i].submit_s;
        list[i].bounded =
            queue_bounded_slowdown(list[i].response_s, list[i].run_s, in->bound_s);
        list[i].priority = o->priority;
        list[i].key[QUEUE_KEY_PARTITION] = (double)c->bound.rows[o->row].partition;
    }
    return list;
}

/* By what happened when, all attempts of all jobs. */
static void add_usage(const struct simulation_cluster *c,
                      const struct cluster_replayed *played,
                      const struct queue_outcome *outcomes, struct queue_usage *usage,
                      struct arena *run)
{
    double *since_s = NEW(run, double, c->job_count); /* it waits since then */
    double last_s = usage->from_s + (double)usage->step_count * usage->step_s;

    for (size_t i = 0; i < c->job_count; i++)
        since_s[i] = c->rows[i].submit_s;
    for (size_t i = 0; i < played->attempt_count; i++) {
        const struct cluster_attempt *x = &played->attempts[i];

        if (!queue_ran(&outcomes[x->job]))
            continue;
        queue_usage_add(usage, QUEUE_QUEUED, since_s[x->job], x->from_s, x->cpus);
        queue_usage_add(usage, QUEUE_WAITING, since_s[x->job], x->from_s, 1);
        queue_usage_add(usage, QUEUE_BUSY, x->from_s, x->to_s, x->cpus);
        queue_usage_add(usage, QUEUE_ALLOCATED, x->from_s, x->to_s, x->allocated_cpus);
        queue_usage_add(usage, QUEUE_RUNNING, x->from_s, x->to_s, 1);
        since_s[x->job] = x->to_s;
    }
    for (size_t i = 0; i < c->job_count; i++) { /* who was cancelled while it waited */
        const struct cluster_replay_outcome *o = &played->outcomes[i];
        double to_s = fmin(o->end_s, last_s), from_s = fmax(since_s[i], usage->from_s);

        if (o->state != CLUSTER_JOB_CANCELLED || !isnan(o->start_s) || to_s <= from_s)
            continue;
        queue_usage_add(usage, QUEUE_QUEUED, from_s, to_s, o->cpus);
        queue_usage_add(usage, QUEUE_WAITING, from_s, to_s, 1);
    }
}

bool simulation_cluster_details(const struct simulation_cluster *c,
                                const struct cluster_replayed *played,
                                const struct queue_outcome *outcomes, size_t rows_max,
                                uint64_t step_s, struct budget *budget,
                                struct queue_details *out, struct arena *run,
                                struct arena *a)
{
    const char *const *accounts = c->users ? c->accounts : NULL;
    const char *const *qos = c->users ? c->qos : NULL;
    struct queue_usage usage;
    uint64_t rest;
    size_t n = c->job_count, ran = 0;

    *out = queue_details_none();
    queue_group_rows(outcomes, n, QUEUE_KEY_ACCOUNT, rows_max, accounts, &out->by_account,
                     &out->by_account_count, &rest, run, a);
    queue_group_rows(outcomes, n, QUEUE_KEY_PARTITION, rows_max, c->partitions,
                     &out->by_partition, &out->by_partition_count, &rest, run, a);
    queue_group_rows(outcomes, n, QUEUE_KEY_QOS, rows_max, qos, &out->by_qos,
                     &out->by_qos_count, &rest, run, a);
    out->killed_count = 0;
    out->killed_core_s = 0;
    for (size_t i = 0; i < n; i++) {
        ran += queue_ran(&outcomes[i]);
        if (played->outcomes[i].state != CLUSTER_JOB_KILLED)
            continue;
        out->killed_count++;
        out->killed_core_s += outcomes[i].run_s * outcomes[i].cores;
    }
    out->preempted_count = played->preempted_count;
    if (c->outage_count)
        out->failed_count = played->failed_count;
    out->lost_core_s = played->lost_core_s;
    out->fragmented_core_s = played->fragmented_core_s;
    if (queue_details_steps(outcomes, n, step_s, &usage, out, run)) {
        add_usage(c, played, outcomes, &usage, run);
        out->utilisation = queue_usage_rows(&usage, c->cpus, a);
        out->step_count = usage.step_count;
    }
    return ran == 0 || queue_fairness(outcomes, n, budget, &out->fairness, run);
}

/* ---- for who goes on ---- */

struct kept {
    size_t outcome_bytes, attempt_bytes, job_count, attempt_count, preempted_count;
    size_t failed_count, node_count; /* node_count: of outcomes that say where */
    double lost_core_s, fragmented_core_s;
};

static size_t nodes_of(const struct cluster_replay_outcome *outcomes, size_t job_count)
{
    size_t count = 0;

    for (size_t i = 0; i < job_count; i++)
        count += outcomes[i].nodes ? outcomes[i].node_count : 0;
    return count;
}

void simulation_cluster_keep(const struct cluster_replayed *played, size_t job_count,
                             struct experiment_bytes *bytes, struct arena *a)
{
    struct kept head = {sizeof(struct cluster_replay_outcome),
                        sizeof(struct cluster_attempt),
                        job_count,
                        played->attempt_count,
                        played->preempted_count,
                        played->failed_count,
                        nodes_of(played->outcomes, job_count),
                        played->lost_core_s,
                        played->fragmented_core_s};
    size_t outcomes = job_count * head.outcome_bytes;
    size_t attempts = head.attempt_count * head.attempt_bytes;
    size_t length = sizeof(head) + outcomes + attempts;
    char *data = NEW(a, char, length + head.node_count * sizeof(uint32_t));

    memcpy(data, &head, sizeof(head));
    if (outcomes)
        memcpy(data + sizeof(head), played->outcomes, outcomes);
    if (attempts)
        memcpy(data + sizeof(head) + outcomes, played->attempts, attempts);
    for (size_t i = 0; i < job_count; i++) {
        const struct cluster_replay_outcome *o = &played->outcomes[i];
        size_t own = o->nodes ? o->node_count * sizeof(uint32_t) : 0;

        if (own)
            memcpy(data + length, o->nodes, own);
        length += own;
    }
    *bytes = (struct experiment_bytes){data, length};
}

/* Lists of nodes follow each other in the order of the jobs. */
static bool take_nodes(const char *from, size_t count,
                       struct cluster_replay_outcome *outcomes, size_t job_count,
                       struct arena *a)
{
    uint32_t *nodes = NEW(a, uint32_t, count);

    if (nodes_of(outcomes, job_count) != count)
        return false;
    if (count)
        memcpy(nodes, from, count * sizeof(*nodes));
    for (size_t i = 0; i < job_count; i++) {
        if (!outcomes[i].nodes)
            continue;
        outcomes[i].nodes = nodes;
        nodes += outcomes[i].node_count;
    }
    return true;
}

bool simulation_cluster_take(const struct experiment_bytes *bytes, size_t job_count,
                             struct cluster_replayed *played, struct arena *a)
{
    struct kept head;
    size_t outcomes, attempts, nodes;

    if (bytes->length < sizeof(head))
        return false;
    memcpy(&head, bytes->data, sizeof(head));
    outcomes = job_count * sizeof(struct cluster_replay_outcome);
    if (head.outcome_bytes != sizeof(struct cluster_replay_outcome) ||
        head.attempt_bytes != sizeof(struct cluster_attempt) ||
        head.job_count != job_count || head.attempt_count > bytes->length ||
        head.node_count > bytes->length)
        return false;
    attempts = head.attempt_count * sizeof(struct cluster_attempt);
    nodes = head.node_count * sizeof(uint32_t);
    if (bytes->length != sizeof(head) + outcomes + attempts + nodes)
        return false;
    *played = (struct cluster_replayed){
        .outcomes = NEW(a, struct cluster_replay_outcome, job_count),
        .attempts = NEW(a, struct cluster_attempt, head.attempt_count),
        .attempt_count = head.attempt_count,
        .preempted_count = head.preempted_count,
        .failed_count = head.failed_count,
        .lost_core_s = head.lost_core_s,
        .fragmented_core_s = head.fragmented_core_s};
    if (outcomes)
        memcpy(played->outcomes, (const char *)bytes->data + sizeof(head), outcomes);
    if (attempts)
        memcpy(played->attempts, (const char *)bytes->data + sizeof(head) + outcomes,
               attempts);
    return take_nodes((const char *)bytes->data + sizeof(head) + outcomes + attempts,
                      head.node_count, played->outcomes, job_count, a);
}
