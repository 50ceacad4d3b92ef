/* cluster_jobs.c - from names to indexes: the waiting jobs, arrays as their tasks. */
#include "handlers/cluster_queue/cluster_bind.h"
#include "models/base/pointer.h"
#include "service/service.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS_MAX = 100000, CLUSTER_JOBS_MAX = 1000000 };

static const char *pointer_to(struct cluster_bound *b, size_t job, const char *member)
{
    return pointer_keep("/jobs", job, member, b->rq->arena);
}

/* ---- tasks of arrays ---- */

/* Reads "FROM[-TO[:STEP]]" at *at; false: it is none. */
static bool read_range(const char **at, unsigned long *from, unsigned long *to,
                       unsigned long *step)
{
    char *end;

    if (!isdigit((unsigned char)**at))
        return false;
    *from = *to = strtoul(*at, &end, 10);
    *step = 1;
    if (*end == '-' && isdigit((unsigned char)end[1]))
        *to = strtoul(end + 1, &end, 10);
    if (*end == ':' && isdigit((unsigned char)end[1]))
        *step = strtoul(end + 1, &end, 10);
    *at = end;
    return *to >= *from && *step > 0 && *to < 4000000000UL;
}

/* The numbers of a list "0-7,9:2" in `to`, at most TASKS_MAX; false: a mistake is noted.
 */
static bool read_tasks(struct cluster_bound *b, size_t job, const char *text, double *to,
                       size_t *count)
{
    const char *at = text;
    unsigned long from, last, step;

    *count = 0;
    do {
        at += at > text && *at == ',';
        if (!read_range(&at, &from, &last, &step) || (*at && *at != ',')) {
            invalid(b->rq->err, pointer_to(b, job, "array/task_ids"), ITEM_MALFORMED,
                    "'%.60s' is no list of tasks, as 0-7,9-20:2", text);
            return false;
        }
        if ((last - from) / step + *count >= TASKS_MAX) {
            invalid(b->rq->err, pointer_to(b, job, "array/task_ids"), ITEM_TOO_LONG,
                    "more than %d tasks", TASKS_MAX);
            return false;
        }
        for (unsigned long k = from; k <= last; k += step)
            to[(*count)++] = (double)k;
        budget_step(&b->rq->budget, (last - from) / step);
    } while (*at == ',');
    return true;
}

/* ---- nodes that a job may have ---- */

/* The nodes with a feature; NULL: a mistake is noted. */
static uint64_t *feature_set(struct cluster_bound *b, const char *name, size_t length)
{
    uint64_t *set = NEW(b->rq->arena, uint64_t, cluster_words(b->of.node_count));

    for (size_t i = 0; i < b->in->resource_count; i++) {
        const struct cluster_resource_in *r = &b->in->resources[i];

        budget_step(&b->rq->budget, r->feature_count);
        for (size_t k = 0; k < r->feature_count; k++)
            if (strlen(r->features[k]) == length && !memcmp(r->features[k], name, length))
                cluster_set_add(set, i);
    }
    return set;
}

enum { FEATURE_DEPTH_MAX = 16 };

/* A text of features while it is read. */
struct feature_text {
    struct cluster_bound *b;
    const char *at;
    struct cluster_features *list; /* all of them */
    size_t count;
    struct cluster_features *alike; /* one of them, the same for all nodes */
    size_t alike_count;
};

static uint64_t *joined_sets(struct cluster_bound *b, const uint64_t *x,
                             const uint64_t *y, char sign)
{
    size_t words = cluster_words(b->of.node_count);
    uint64_t *both = NEW(b->rq->arena, uint64_t, words);

    budget_step(&b->rq->budget, words);
    for (size_t w = 0; w < words; w++)
        both[w] = sign == '|' ? x[w] | y[w] : x[w] & y[w];
    return both;
}

static char sign_at(struct feature_text *t)
{
    return *t->at == '&' || *t->at == '|' ? *t->at++ : 0;
}

/* A name, or such names joined from left to right in parentheses; NULL: a mistake. */
static const uint64_t *read_names(struct feature_text *t, int depth)
{
    size_t length = strcspn(t->at, "&|[]*,() ");
    const uint64_t *set, *next;
    char sign;

    if (length > 0) {
        set = feature_set(t->b, t->at, length);
        t->at += length;
        return set;
    }
    if (*t->at++ != '(' || depth == FEATURE_DEPTH_MAX)
        return NULL;
    set = read_names(t, depth + 1);
    while (set && (sign = sign_at(t))) {
        next = read_names(t, depth + 1);
        set = next ? joined_sets(t->b, set, next, sign) : NULL;
    }
    return set && *t->at++ == ')' ? set : NULL;
}

/* Names and how many nodes they are for. */
static bool read_feature(struct feature_text *t, struct cluster_features *to)
{
    char *end;

    *to = (struct cluster_features){.nodes = read_names(t, 0)};
    if (!to->nodes)
        return false;
    if (*t->at != '*')
        return true;
    to->count = strtoul(t->at + 1, &end, 10);
    if (end == t->at + 1 || to->count < 1)
        return false;
    t->at = end;
    return true;
}

/* What stands in brackets: alternatives that are the same for all nodes, or counts. */
static bool read_alike(struct feature_text *t)
{
    char first = 0, sign = 0;

    for (t->at++;; sign = *t->at++) {
        struct cluster_features f;

        first = first ? first : sign;
        if (sign != first || !read_feature(t, &f))
            return false;
        if (*t->at == '&' || first == '&')
            t->list[t->count++] = f;
        else
            t->alike[t->alike_count++] = f;
        if (*t->at != '&' && *t->at != '|')
            break;
    }
    return *t->at++ == ']';
}

/* All that was read so far is one set; false: counts cannot be joined so. */
static bool fold_features(struct feature_text *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->list[i].count > 0)
            return false;
    while (t->count > 1) {
        t->list[t->count - 2].nodes = joined_sets(t->b, t->list[t->count - 2].nodes,
                                                  t->list[t->count - 1].nodes, '&');
        t->count--;
    }
    return t->count == 1;
}

static bool read_item(struct feature_text *t, char sign)
{
    struct cluster_features f;

    if (*t->at == '[')
        return sign != '|' && t->alike_count == 0 && read_alike(t);
    if (!read_feature(t, &f))
        return false;
    if (sign != '|') {
        t->list[t->count++] = f;
        return true;
    }
    if (f.count > 0 || t->alike_count > 0 || !fold_features(t))
        return false;
    t->list[0].nodes = joined_sets(t->b, t->list[0].nodes, f.nodes, '|');
    return true;
}

/* a&b: all of them; a|b: any; [a|b]: any, the same for all nodes; a*2: of so many. Signs
 * count from left to right, parentheses first. */
static bool read_features(struct cluster_bound *b, const char *text,
                          struct cluster_job *to)
{
    size_t most = strlen(text) + 1;
    struct feature_text t = {
        .b = b,
        .at = text,
        .list = NEW(b->rq->arena, struct cluster_features, most),
        .alike = NEW(b->rq->arena, struct cluster_features, most),
    };
    char sign = 0;

    do
        if (!read_item(&t, sign))
            return false;
    while ((sign = sign_at(&t)));
    if (*t.at)
        return false;
    to->features_alike = t.alike_count > 0;
    if (to->features_alike && t.count > 0) {
        if (!fold_features(&t))
            return false;
        for (size_t i = 0; i < t.alike_count; i++)
            t.alike[i].nodes = joined_sets(b, t.alike[i].nodes, t.list[0].nodes, '&');
    }
    to->features = to->features_alike ? t.alike : t.list;
    to->feature_count = to->features_alike ? t.alike_count : t.count;
    return true;
}

static void bind_nodes(struct cluster_bound *b, size_t i, struct cluster_job *to)
{
    const struct cluster_job_in *in = &b->body->jobs[i].cluster;
    size_t words = cluster_words(b->of.node_count);
    uint64_t *without;

    to->required =
        cluster_set_of(b, in->resource_ids_required, in->resource_ids_required_count,
                       pointer_to(b, i, "resource_ids_required"));
    without =
        cluster_set_of(b, in->resource_ids_excluded, in->resource_ids_excluded_count,
                       pointer_to(b, i, "resource_ids_excluded"));
    if (without) {
        for (size_t w = 0; w < words; w++)
            without[w] = ~without[w];
        to->allowed = without;
    }
    if (to->required && cluster_set_count(to->required, words) > to->nodes)
        to->nodes = to->nodes_max = cluster_set_count(to->required, words);
    if (in->features && !read_features(b, in->features, to))
        invalid(b->rq->err, pointer_to(b, i, "features"), ITEM_MALFORMED,
                "'%.60s' is not of the form a&b, a|b, [a|b], a*2 or (a|b)&c",
                in->features);
}

/* ---- rows ---- */

/* Amounts of a job on a node of a partition, or of a task; *asked: those before its cpus
 * were raised, NULL if they were not. */
static const int64_t *need_of(struct cluster_bound *b, size_t i, ptrdiff_t partition,
                              struct cluster_job *job, const int64_t **asked)
{
    const struct waiting_job *w = &b->body->jobs[i];
    const struct cluster_partition_in *p =
        b->in->partition_count ? &b->in->partitions[partition] : NULL;
    double cpus = w->of.cpus, memory = w->of.memory_bytes;

    if (w->cluster.tasks && w->of.nodes > 1)
        cpus = ceil((double)w->cluster.tasks / (double)w->of.nodes) *
               w->cluster.cpus_per_task;
    else if (w->cluster.tasks)
        cpus = w->cluster.cpus_per_task;
    else if (w->cluster.tasks_per_node)
        cpus = (double)w->cluster.tasks_per_node * w->cluster.cpus_per_task;
    if (!isnan(w->cluster.memory_per_cpu_bytes))
        memory = w->cluster.memory_per_cpu_bytes * cpus;
    else if (memory <= 0 && p && !isnan(p->memory_per_node_default_bytes))
        memory = p->memory_per_node_default_bytes;
    else if (memory <= 0 && p && !isnan(p->memory_per_cpu_default_bytes))
        memory = p->memory_per_cpu_default_bytes * cpus;
    job->memory_by_cpu = !isnan(w->cluster.memory_per_cpu_bytes);
    job->memory_per_node = job->tasks > 0 && w->of.memory_bytes > 0;
    /* More memory than a cpu may have: more cpus. */
    if (p && p->memory_per_cpu_max_bytes > 0 &&
        memory > p->memory_per_cpu_max_bytes * cpus) {
        *asked = cluster_units(b, cpus, memory, w->of.needs, w->of.need_count,
                               &job->shared, &job->shared_count);
        cpus = ceil(memory / p->memory_per_cpu_max_bytes);
    }
    return cluster_units(b, cpus, memory, w->of.needs, w->of.need_count, &job->shared,
                         &job->shared_count);
}

static double limit_of(struct cluster_bound *b, size_t i, ptrdiff_t partition)
{
    double limit_s = b->body->jobs[i].of.time_limit_s;
    const struct cluster_partition_in *p =
        b->in->partition_count ? &b->in->partitions[partition] : NULL;

    if (isnan(limit_s) && p)
        limit_s = p->time_limit_default_s;
    if (isnan(limit_s) && p)
        limit_s = p->time_limit_max_s;
    if (isnan(limit_s)) {
        cluster_count(&b->endless, i);
        limit_s = CLUSTER_YEAR_S;
    }
    return limit_s;
}

static void add_row(struct cluster_bound *b, struct cluster_row row)
{
    if (b->row_count == b->row_room) {
        size_t room = 2 * b->row_room + 64;

        b->rows =
            arena_extend(b->rq->arena, b->rows, sizeof(*b->rows), b->row_room, room);
        b->row_room = room;
    }
    b->rows[b->row_count++] = row;
}

/* One for each of its partitions, of each of its `count` tasks from jobs[first] on. */
static void add_rows(struct cluster_bound *b, size_t i, size_t first, size_t count)
{
    const struct job *in = &b->body->jobs[i].of;
    size_t partitions = in->partition_ids ? in->partition_id_count : 1;

    if (!in->partition_ids && b->default_partition < 0)
        invalid(b->rq->err, pointer_to(b, i, "partition_ids"), ITEM_REQUIRED,
                "the member is missing: no partition is the default");
    for (size_t k = 0; k < partitions; k++) {
        ptrdiff_t at = b->default_partition;
        const int64_t *need, *asked = NULL;
        double limit_s;

        if (in->partition_ids)
            at =
                cluster_find(b, &b->partitions, in->partition_ids[k], "partition",
                             pointer_in(pointer_to(b, i, "partition_ids"), k, NULL).text);
        if (at < 0)
            continue;
        need = need_of(b, i, at, &b->jobs[first], &asked);
        limit_s = limit_of(b, i, at);
        budget_step(&b->rq->budget, count);
        for (size_t t = 0; t < count; t++) {
            b->jobs[first + t].shared = b->jobs[first].shared;
            b->jobs[first + t].shared_count = b->jobs[first].shared_count;
            b->jobs[first + t].memory_per_node = b->jobs[first].memory_per_node;
            b->jobs[first + t].memory_by_cpu = b->jobs[first].memory_by_cpu;
            add_row(b, (struct cluster_row){.job = first + t,
                                            .partition = (size_t)at,
                                            .need = need,
                                            .limit_s = limit_s,
                                            .asked = asked});
        }
    }
}

/* ---- jobs ---- */

static double number_of(const char *id)
{
    size_t digits = strspn(id, "0123456789");

    return digits && !id[digits] && digits < 16 ? strtod(id, NULL) : (double)NAN;
}

static void check_form(struct cluster_bound *b, size_t i)
{
    const struct waiting_job *w = &b->body->jobs[i];
    const struct cluster_job_in *c = &w->cluster;
    bool has_cpus = w->of.cpus < 1 || w->of.cpus > 1;
    struct error *err = b->rq->err;

    if ((c->tasks > 0) + (c->tasks_per_node > 0) + has_cpus > 1)
        invalid(err, pointer_to(b, i, c->tasks ? "tasks" : "tasks_per_node"),
                ITEM_CONFLICT, "cpus, tasks and tasks_per_node exclude each other");
    if (w->of.memory_bytes > 0 && !isnan(c->memory_per_cpu_bytes))
        invalid(err, pointer_to(b, i, "memory_per_cpu_bytes"), ITEM_CONFLICT,
                "give memory_bytes or this");
    if (c->nodes_max && c->nodes_max < w->of.nodes)
        invalid(err, pointer_to(b, i, "nodes_max"), ITEM_OUT_OF_BOUNDS,
                "less than nodes, %llu", (unsigned long long)w->of.nodes);
    if (w->of.requirement)
        invalid(err, pointer_to(b, i, "requirement"), ITEM_NOT_USED,
                "with a cluster a job has features");
    if (w->job.processors)
        invalid(err, pointer_to(b, i, "processors"), ITEM_CONFLICT,
                "with a cluster a job has cpus and nodes");
    if (w->of.group && w->of.group->policy != JOB_GANG)
        invalid(err, pointer_to(b, i, "group/policy"), ITEM_NOT_USED,
                "with a cluster a group is a gang");
    else if (w->of.group && c->array)
        invalid(err, pointer_to(b, i, "group"), ITEM_CONFLICT,
                "the tasks of an array are in no gang");
    if (w->of.time_limit_s < c->time_limit_min_s)
        invalid(err, pointer_to(b, i, "time_limit_min_s"), ITEM_OUT_OF_BOUNDS,
                "more than time_limit_s, %.15g", w->of.time_limit_s);
}

static void bind_owner(struct cluster_bound *b, size_t i, struct cluster_job *to)
{
    const struct waiting_job *w = &b->body->jobs[i];

    if (w->cluster.account_id && b->in->account_count == 0)
        cluster_count(&b->ignored_account, i);
    to->of = (struct cluster_owner){
        .user = cluster_user(b, w->of.user),
        .account = cluster_association(b, w->of.user, w->cluster.account_id,
                                       pointer_to(b, i, "account_id")),
        .qos = CLUSTER_NONE,
        .partition = CLUSTER_NONE,
        .array = CLUSTER_NONE,
        .name = cluster_job_name(b, w->of.user, w->cluster.name),
    };
    if (w->cluster.qos_id)
        to->of.qos = cluster_find(b, &b->qos, w->cluster.qos_id, "quality of service",
                                  pointer_to(b, i, "qos_id"));
    else if (to->of.account >= 0)
        to->of.qos = b->default_qos[to->of.account];
    to->reservation = CLUSTER_NONE;
    if (w->cluster.reservation_id)
        to->reservation = cluster_find(b, &b->reservations, w->cluster.reservation_id,
                                       "reservation", pointer_to(b, i, "reservation_id"));
}

static struct cluster_job make_job(struct cluster_bound *b, size_t i)
{
    const struct waiting_job *w = &b->body->jobs[i];
    const struct cluster_job_in *c = &w->cluster;
    double submit_s =
        b->is_replay ? w->job.submit_s : fmin(w->job.submit_s, b->body->now_s);
    double eligible_s = isnan(c->eligible_s) ? submit_s : c->eligible_s;
    struct cluster_job to = {
        .id = w->of.id,
        .number = number_of(w->of.id),
        .task = (double)NAN,
        .nodes = w->of.nodes,
        .nodes_max = c->nodes_max ? c->nodes_max : w->of.nodes,
        .tasks = w->of.nodes > 1 ? 0 : c->tasks,
        .exclusive = w->of.exclusive,
        .exclusive_user = c->exclusive_user,
        .submit_s = submit_s,
        .eligible_s = isnan(c->begin_s) ? eligible_s : fmax(eligible_s, c->begin_s),
        .held = c->held,
        .held_by_admin = c->held_by == 1,
        .singleton = c->singleton,
        .any_after = c->after_mode == 1,
        .limit_min_s = c->time_limit_min_s,
        .deadline_s = isnan(w->of.deadline_s) ? HUGE_VAL : w->of.deadline_s,
    };

    check_form(b, i);
    if (submit_s < w->job.submit_s)
        cluster_count(&b->later, i);
    if (!isnan(w->planned_start_s))
        cluster_count(&b->ignored_promise, i);
    if (!isnan(w->planned_start_s) && w->of.group)
        cluster_count(&b->gang_promise, i);
    bind_owner(b, i, &to);
    bind_nodes(b, i, &to);
    return to;
}

/* The job, or the tasks of its array; their indexes are known by their ids. */
static void add_jobs(struct cluster_bound *b, size_t i, struct name_index *ids,
                     double *tasks)
{
    const struct waiting_job *w = &b->body->jobs[i];
    const struct cluster_array_in *array = w->cluster.array;
    struct cluster_job one = make_job(b, i);
    size_t first = b->job_count, count = 1;

    if (array && !read_tasks(b, i, array->task_ids, tasks, &count))
        return;
    if (array) {
        one.of.array = (ptrdiff_t)name_index_find(&b->arrays, array->id);
        if (one.of.array >= 0) /* SIZE_MAX becomes -1 */
            b->array_list[one.of.array].running_max =
                isnan(array->running_max) ? HUGE_VAL : array->running_max;
    }
    if (count > CLUSTER_JOBS_MAX - first) {
        invalid(b->rq->err, pointer_to(b, i, "array/task_ids"), ITEM_TOO_LONG,
                "more than %d jobs with the tasks of all arrays", CLUSTER_JOBS_MAX);
        return;
    }
    budget_step(&b->rq->budget, 8 * count);
    for (size_t t = 0; t < count; t++) {
        struct cluster_job *job = &b->jobs[b->job_count];

        *job = one;
        if (array) {
            job->id = arena_printf(b->rq->arena, "%s_%.0f", array->id, tasks[t]);
            job->number = number_of(array->id);
            job->task = tasks[t];
        }
        if (name_index_add(ids, job->id, b->job_count) != NAME_NOT_FOUND)
            invalid(b->rq->err, pointer_to(b, i, "id"), ITEM_DUPLICATE,
                    "'%.100s' is there twice", job->id);
        b->given[b->job_count] = i;
        b->rank_jobs[b->job_count++] =
            (struct cluster_rank_job){w->of.priority > 0 ? w->of.priority : (double)NAN,
                                      w->cluster.nice, w->cluster.site_factor};
    }
    add_rows(b, i, first, count);
}

/* ---- what jobs wait for ---- */

/* What a job of the request waits for, once for all tasks of an array: the lists that
 * names stand for. */
struct waits {
    struct cluster_bound *b;
    const struct name_index *ids, *running, *finished;
    const size_t *first, *count; /* jobs of each job of the request */
    const struct name_index *given;
};

static void add_after(struct cluster_job *job, struct cluster_after *list,
                      struct cluster_after after)
{
    list[job->after_count++] = after;
}

/* Someone who has finished: met, or never any more. */
static void after_finished(struct waits *x, struct cluster_job *job, size_t at, int kind,
                           bool *met)
{
    bool ok = x->b->body->world.finished[at].ok;

    if ((kind == CLUSTER_JOB_OK || kind == CLUSTER_JOB_CORR) && !ok)
        job->is_never = true;
    else if (kind == CLUSTER_JOB_FAILED && ok)
        job->is_never = true;
    else
        *met = true;
}

static enum cluster_after_kind kind_of(int kind)
{
    return kind == CLUSTER_JOB_STARTED  ? CLUSTER_AFTER_START
           : kind == CLUSTER_JOB_FAILED ? CLUSTER_AFTER_FAILURE
           : kind == CLUSTER_JOB_ANY    ? CLUSTER_AFTER_END
                                        : CLUSTER_AFTER_OK;
}

/* The jobs of the request that a name stands for: [*first, *end). */
static bool jobs_named(const struct waits *x, const char *name, size_t *first,
                       size_t *end)
{
    size_t at = name_index_find(x->ids, name);

    if (at != NAME_NOT_FOUND) {
        *first = at;
        *end = at + 1;
        return true;
    }
    at = name_index_find(x->given, name);
    if (at == NAME_NOT_FOUND)
        return false;
    *first = x->first[at];
    *end = *first + x->count[at];
    return true;
}

/* What the k-th member of its list means for the job. */
static void bind_one(struct waits *x, size_t i, size_t k, struct cluster_job *job,
                     struct cluster_after *list, bool *met)
{
    struct cluster_bound *b = x->b;
    const struct cluster_after_in_row *a = &b->body->jobs[i].cluster.after[k];
    size_t runs = name_index_find(x->running, a->job_id), first, end;
    size_t done = name_index_find(x->finished, a->job_id);

    if (jobs_named(x, a->job_id, &first, &end)) {
        bool one_task = a->kind == CLUSTER_JOB_CORR && end - first > 1;

        for (size_t j = first; j < end; j++)
            if (!one_task ||
                (b->jobs[j].task >= job->task && b->jobs[j].task <= job->task))
                add_after(job, list,
                          (struct cluster_after){kind_of(a->kind), false, j, a->delay_s});
    } else if (runs != NAME_NOT_FOUND) {
        add_after(job, list,
                  (struct cluster_after){kind_of(a->kind), true, runs, a->delay_s});
    } else if (done != NAME_NOT_FOUND) {
        after_finished(x, job, done, a->kind, met);
    } else if (b->body->strict_dependencies) {
        invalid(b->rq->err,
                pointer_in(pointer_in("/jobs", i, "after").text, k, "job_id").text,
                ITEM_UNKNOWN_ID, "no job '%.100s'", a->job_id);
    } else {
        cluster_count(&b->gone, i);
        *met = true;
    }
}

static void bind_after(struct waits *x, size_t i, struct cluster_job *job)
{
    struct cluster_bound *b = x->b;
    const struct cluster_job_in *in = &b->body->jobs[i].cluster;
    struct cluster_after *list;
    size_t room = 0, first, end;
    bool met = false;

    for (size_t k = 0; k < in->after_count; k++)
        room += jobs_named(x, in->after[k].job_id, &first, &end) ? end - first : 1;
    list = NEW(b->rq->arena, struct cluster_after, room);
    budget_step(&b->rq->budget, room);
    for (size_t k = 0; k < in->after_count; k++)
        bind_one(x, i, k, job, list, &met);
    job->after = list;
    if (job->any_after && (met || job->after_count))
        job->is_never = false;
    if (job->any_after && met)
        job->after_count = 0;
}

/* A job that waits for itself, by way of others; it is named with all of them. */
static void tell_cycle(struct cluster_bound *b, size_t job, const bool *left)
{
    const char *text = "";
    size_t at = job, steps = 0;
    bool *seen = NEW(b->rq->arena, bool, b->job_count);

    /* Goes on among those that are left until one comes again: a cycle's beginning. */
    for (; !seen[at]; steps++) {
        size_t k = 0;

        seen[at] = true;
        while (b->jobs[at].after[k].is_running || !left[b->jobs[at].after[k].job])
            k++;
        at = b->jobs[at].after[k].job;
        budget_step(&b->rq->budget, k + 1);
    }
    job = at;
    for (size_t n = 0; n < 20 && (!n || at != job); n++) {
        size_t k = 0;

        text = arena_printf(b->rq->arena, "%s%.40s -> ", text, b->jobs[at].id);
        while (b->jobs[at].after[k].is_running || !left[b->jobs[at].after[k].job])
            k++;
        at = b->jobs[at].after[k].job;
        budget_step(&b->rq->budget, k + 1);
    }
    invalid(b->rq->err, pointer_to(b, b->given[job], "after"), ITEM_CYCLE, "%s%.40s",
            text, b->jobs[at].id);
}

/* Who waits for each job: list[first[j]] to list[first[j + 1] - 1]; and for how many each
 * waits. */
static size_t *followers(struct cluster_bound *b, size_t *first, size_t *waits)
{
    size_t n = b->job_count, *list;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < b->jobs[i].after_count; k++)
            if (!b->jobs[i].after[k].is_running) {
                waits[i]++;
                first[b->jobs[i].after[k].job + 2]++;
            }
    for (size_t i = 1; i <= n; i++)
        first[i + 1] += first[i];
    list = NEW(b->rq->arena, size_t, first[n + 1] + 1);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < b->jobs[i].after_count; k++)
            if (!b->jobs[i].after[k].is_running)
                list[first[b->jobs[i].after[k].job + 1]++] = i;
    budget_step(&b->rq->budget, n + first[n + 1]);
    return list;
}

/* Takes away jobs that wait for nobody, again and again; who is left is in a cycle, or
 * waits for one. */
static void check_cycles(struct cluster_bound *b)
{
    struct arena *a = b->rq->arena;
    size_t n = b->job_count, ready = 0, *list;
    size_t *waits = NEW(a, size_t, n), *first = NEW(a, size_t, n + 2);
    size_t *queue = NEW(a, size_t, n), at = 0;
    bool *left = NEW(a, bool, n);

    list = followers(b, first, waits);
    for (size_t i = 0; i < n; i++) {
        left[i] = waits[i] > 0;
        if (!waits[i])
            queue[ready++] = i;
    }
    for (size_t done = 0; done < ready; done++)
        for (size_t k = first[queue[done]]; k < first[queue[done] + 1]; k++)
            if (!--waits[list[k]]) {
                left[list[k]] = false;
                queue[ready++] = list[k];
            }
    while (at < n && !left[at])
        at++;
    if (at < n)
        tell_cycle(b, at, left);
}

static void bind_all_after(struct cluster_bound *b, const struct name_index *ids,
                           const struct name_index *given, const size_t *first,
                           const size_t *count)
{
    struct name_index running, finished;
    struct waits x = {.b = b,
                      .ids = ids,
                      .running = &running,
                      .finished = &finished,
                      .first = first,
                      .count = count,
                      .given = given};

    name_index_create(&running, b->of.running_count, b->rq->arena);
    name_index_create(&finished, b->body->world.finished_count, b->rq->arena);
    for (size_t i = 0; i < b->of.running_count; i++)
        name_index_add(&running, b->running_list[i].id, i);
    for (size_t i = 0; i < b->body->world.finished_count; i++)
        name_index_add(&finished, b->body->world.finished[i].id, i);
    for (size_t j = 0; j < b->job_count; j++) {
        if (name_index_find(&running, b->jobs[j].id) != NAME_NOT_FOUND)
            invalid(b->rq->err, pointer_to(b, b->given[j], "id"), ITEM_DUPLICATE,
                    "'%.100s' runs already", b->jobs[j].id);
        bind_after(&x, b->given[j], &b->jobs[j]);
    }
    check_cycles(b);
}

/* ---- gangs ---- */

/* How many jobs each group has, and the number of each job's group, from 1; how many
 * groups there are. */
static size_t count_groups(struct cluster_bound *b, size_t *sizes, size_t *number)
{
    struct name_index ids;
    size_t count = 0;

    name_index_create(&ids, b->job_count, b->rq->arena);
    budget_step(&b->rq->budget, 8 * b->job_count);
    for (size_t j = 0; j < b->job_count; j++) {
        const struct job_group *group = b->body->jobs[b->given[j]].of.group;
        size_t at;

        if (!group)
            continue;
        at = name_index_add(&ids, group->id, count);
        number[j] = (at == NAME_NOT_FOUND ? count++ : at) + 1;
        sizes[number[j] - 1]++;
    }
    return count;
}

/* Members of gangs, in the order of the jobs; of one job there is no gang. */
static void bind_gangs(struct cluster_bound *b)
{
    struct arena *a = b->rq->arena;
    size_t *sizes = NEW(a, size_t, b->job_count), *number = NEW(a, size_t, b->job_count);
    size_t count = count_groups(b, sizes, number), *gang = NEW(a, size_t, count);
    struct cluster_member *all = NEW(a, struct cluster_member, b->job_count), *next = all;
    struct cluster_member **own = NEW(a, struct cluster_member *, b->job_count);
    struct cluster_member **first = NEW(a, struct cluster_member *, count);
    struct cluster_gang *gangs = NEW(a, struct cluster_gang, count);

    for (size_t k = 0; k < count; k++) {
        first[k] = next;
        next += sizes[k];
        if (sizes[k] > 1)
            gangs[b->of.gang_count++].members = first[k];
        gang[k] = sizes[k] > 1 ? b->of.gang_count : 0;
    }
    for (size_t j = 0; j < b->job_count; j++) {
        size_t k = number[j] - 1;

        if (!number[j] || !gang[k])
            continue;
        b->jobs[j].gang = gang[k];
        own[j] = &first[k][gangs[gang[k] - 1].count++];
        own[j]->job = j;
    }
    for (size_t r = 0; r < b->row_count; r++) {
        struct cluster_member *m = own[b->rows[r].job];

        if (m && m->row_count++ == 0)
            m->row = r;
    }
    budget_step(&b->rq->budget, 4 * b->job_count + b->row_count);
    b->of.gangs = gangs;
}

void cluster_bind_jobs(struct cluster_bound *b)
{
    const struct queue_orders_request *body = b->body;
    struct arena *a = b->rq->arena;
    struct name_index ids, given;
    size_t room = 0, *first = NEW(a, size_t, body->job_count);
    size_t *count = NEW(a, size_t, body->job_count);
    double *tasks = NEW(a, double, TASKS_MAX);

    name_index_create(&given, 2 * body->job_count, a);
    for (size_t i = 0; i < body->job_count; i++) {
        const struct cluster_array_in *array = body->jobs[i].cluster.array;
        size_t n = 1;

        name_index_add(&given, array ? array->id : body->jobs[i].of.id, i);
        if (array &&
            name_index_add(&b->arrays, array->id, b->of.array_count) == NAME_NOT_FOUND)
            b->of.array_count++;
        if (array && !read_tasks(b, i, array->task_ids, tasks, &n))
            n = 0;
        room += n;
    }
    if (b->rq->err->code != OK)
        return;
    room = room < CLUSTER_JOBS_MAX ? room : CLUSTER_JOBS_MAX;
    name_index_create(&ids, room, a);
    b->jobs = NEW(a, struct cluster_job, room);
    b->rank_jobs = NEW(a, struct cluster_rank_job, room);
    b->given = NEW(a, size_t, room);
    b->array_list = NEW(a, struct cluster_array, b->of.array_count);
    for (size_t i = 0; i < b->of.array_count; i++)
        b->array_list[i].running_max = HUGE_VAL;
    for (size_t i = 0; i < body->job_count; i++) {
        first[i] = b->job_count;
        add_jobs(b, i, &ids, tasks);
        count[i] = b->job_count - first[i];
    }
    bind_all_after(b, &ids, &given, first, count);
    bind_gangs(b);
    b->of.arrays = b->array_list;
    b->of.jobs = b->jobs;
    b->of.job_count = b->job_count;
    b->of.rows = b->rows;
    b->of.row_count = b->row_count;
    if (b->rq->err->code != OK)
        return;
    b->parts = NEW(a, struct priority, b->row_count);
    cluster_rank(&b->of, &b->ranking, b->rank_jobs, b->rows, b->parts, a);
}
