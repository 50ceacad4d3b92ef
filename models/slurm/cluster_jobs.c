/* cluster_jobs.c - jobs of Slurm's documents: those that run, and those that wait.
 *
 * What a waiting job asks of each node follows from totals: cpus = tasks_per_node x
 * cpus_per_task, else cpus / nodes, rounded up; memory is said for a node or a cpu;
 * generic resources are those of the whole job / nodes. A job that says how many tasks
 * it has and not on how many nodes keeps its tasks. What a running job has of each node
 * the documents say (job_resources; "Nodes=... CPU_IDs=..." of scontrol -d show job),
 * else it is an equal part. It ends at start + limit: the end_time of a job whose
 * partition cuts its limit is another.
 */
#include "models/slurm/cluster.h"

#include "models/base/budget_read.h"
#include "models/slurm/cluster_parts.h"
#include "models/slurm/values.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct jobs {
    struct slurm_reading *c;
    struct slurm_running *running;
    const char ***node_list; /* of each: its nodes, and */
    size_t *node_room;       /* how many there is room for */
    size_t running_count, running_size;
    struct slurm_waiting *waiting;
    size_t waiting_count;
};

/* ---- parts of a job ---- */

/* user4 of "user4(1004)". */
static const char *user_of(struct slurm_reading *c, const struct slurm_record *r)
{
    const char *name = slurm_text_of(r, SLURM_F_USER);
    const char *id = slurm_text_of(r, SLURM_F_USER_ID);

    if (name || !id)
        return name;
    return arena_text(c->arena, id, strcspn(id, "("));
}

/* The job's own id; an array task has that of its array and its number. */
static const char *id_of(struct slurm_reading *c, const struct slurm_record *r,
                         const char **array_id, const char **task_id)
{
    const char *id = slurm_text_of(r, SLURM_F_ID);
    const char *array = slurm_text_of(r, SLURM_F_ARRAY_JOB);
    const char *task = slurm_text_of(r, SLURM_F_ARRAY_TASK);

    *array_id = *task_id = NULL;
    if (array && !task && !slurm_text_of(r, SLURM_F_ARRAY_TASKS))
        task = "0"; /* v0.0.40: of task 0, as of no task, `set` may be false */
    if (!array || strcmp(array, "0") == 0 || !task || !isfinite(slurm_number(task)))
        return id;
    *array_id = array;
    *task_id = task;
    return arena_printf(c->arena, "%s_%s", array, task);
}

/* Tasks of an array that wait: "1-5%2"; NULL: no array, or one task of it. */
static const char *tasks_of(const struct slurm_record *r)
{
    const char *tasks = slurm_text_of(r, SLURM_F_ARRAY_TASKS);
    const char *task = slurm_text_of(r, SLURM_F_ARRAY_TASK);

    if (tasks)
        return tasks;
    return task && strpbrk(task, ",-%:") ? task : NULL;
}

static double nice_of(const struct slurm_record *r)
{
    const char *text = slurm_value(r, SLURM_F_NICE);
    double nice = text ? strtod(text, NULL) : 0;

    return fabs(nice) < 2147483648.0 ? nice : 0;
}

/* Whether a job may leave its partition open. */
static bool has_default(const struct slurm_reading *c)
{
    const struct slurm_cluster *out = c->out;

    budget_read_step(out->partition_count);
    for (size_t i = 0; i < out->partition_count; i++)
        if (out->partitions[i].is_default)
            return true;
    return out->partition_count == 0;
}

/* Each partition that exists; all of them when there is no document of any. */
static struct slurm_texts partitions_of(struct slurm_reading *c,
                                        const struct slurm_record *r, bool *unknown)
{
    struct slurm_texts named = slurm_texts_of(c, r, SLURM_F_PARTITION, NULL);
    struct slurm_texts found = {0};
    const char **list = NEW(c->arena, const char *, named.count);

    for (size_t i = 0; i < named.count; i++)
        if (name_index_find(&c->partitions, named.list[i]) != NAME_NOT_FOUND)
            list[found.count++] = named.list[i];
        else
            slurm_note(c, SLURM_NOTE_UNKNOWN_PARTITION, named.list[i], SLURM_JOB, r);
    found.list = list;
    *unknown = found.count == 0 && (named.count > 0 || !has_default(c));
    return found;
}

/* The limit in force: the job's, else the default or the most of its partition. */
static double limit_of(struct slurm_reading *c, const struct slurm_record *r,
                       const struct slurm_texts *partition_ids)
{
    double limit_s = slurm_limit_of(r, SLURM_F_TIME_LIMIT);

    if (limit_s > 0)
        return limit_s;
    for (size_t i = 0; i < partition_ids->count; i++) {
        const struct slurm_partition *p =
            &c->out->partitions[name_index_find(&c->partitions, partition_ids->list[i])];

        double of_partition_s =
            !slurm_value(r, SLURM_F_TIME_LIMIT) && p->time_limit_default_s > 0
                ? p->time_limit_default_s
                : p->time_limit_max_s;

        if (!(of_partition_s > 0))
            continue;
        if (r->form == SLURM_TABLE && !r->value[SLURM_F_TIME_LIMIT])
            slurm_note(c, SLURM_NOTE_LIMIT_DEFAULT, slurm_text_of(r, SLURM_F_ID),
                       SLURM_JOB, r);
        return of_partition_s;
    }
    slurm_note(c, SLURM_NOTE_NO_LIMIT, slurm_text_of(r, SLURM_F_ID), SLURM_JOB, r);
    return SLURM_NO_LIMIT_S;
}

static bool is_exclusive(const struct slurm_record *r)
{
    const char *shared = r->value[SLURM_F_SHARED];

    if (slurm_has_word(r->value[SLURM_F_EXCLUSIVE], "true"))
        return true;
    /* squeue and scontrol: NO; JSON: none, which it writes for nothing else. */
    return shared && (strcmp(shared, "NO") == 0 || strcmp(shared, "none") == 0);
}

static bool is_exclusive_user(const struct slurm_record *r)
{
    return slurm_has_word(r->value[SLURM_F_EXCLUSIVE], "user") ||
           slurm_has_word(r->value[SLURM_F_SHARED], "USER");
}

/* What a field says, unless that means that nothing is set. */
static const char *set_value(const struct slurm_record *r, enum slurm_field field)
{
    static const char *const unset[] = {"0", "*", "4294967294", "65534", NULL};
    const char *value = slurm_value(r, field);

    for (size_t i = 0; value && unset[i]; i++)
        if (strcmp(value, unset[i]) == 0)
            return NULL;
    return value;
}

static void note_losses(struct slurm_reading *c, const struct slurm_record *r,
                        const char *id)
{
    static const struct {
        enum slurm_field field;
        enum slurm_note note;
    } rows[] = {
        {SLURM_F_HET_JOB, SLURM_NOTE_HET},
        {SLURM_F_BURST_BUFFER, SLURM_NOTE_BURST_BUFFER},
        {SLURM_F_SWITCHES, SLURM_NOTE_SWITCHES},
        {SLURM_F_CORE_SPEC, SLURM_NOTE_CORE_SPEC},
        {SLURM_F_FEDERATION, SLURM_NOTE_FEDERATION},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (set_value(r, rows[i].field))
            slurm_note(c, rows[i].note, id, SLURM_JOB, r);
}

/* ---- running jobs ---- */

/* Generic resources of one node, or of all. */
static void add_gres(struct slurm_reading *c, struct slurm_sums *sums, const char *text,
                     double share, bool tracked)
{
    const struct slurm_amount *list;
    size_t count = tracked ? slurm_tracked(text, &list, c->arena)
                           : slurm_generic(text, &list, c->arena);

    for (size_t i = 0; i < count; i++) {
        if (tracked && strncmp(list[i].name, "gres/", 5) != 0)
            continue;
        if (slurm_is_shard(list[i].name)) {
            slurm_note(c, SLURM_NOTE_SHARD, list[i].name, SLURM_JOB, NULL);
            continue;
        }
        if (list[i].type) {
            slurm_sums_add(sums, slurm_gres_name(list[i].name, list[i].type, c->arena),
                           list[i].count * share);
            if (tracked && slurm_amount_of(list, count, list[i].name) > 0)
                continue; /* the untyped sum stands beside it */
        }
        slurm_sums_add(sums, slurm_gres_name(list[i].name, NULL, c->arena),
                       list[i].count * share);
    }
}

static const char *given_of(const struct slurm_record *r)
{
    const char *given = slurm_value(r, SLURM_F_TRES_GIVEN);

    return given ? given : slurm_value(r, SLURM_F_TRES);
}

static bool same_amounts(const struct slurm_running *a, const struct slurm_running *b)
{
    if (a->cpus != b->cpus || a->memory_bytes != b->memory_bytes ||
        a->needs.count != b->needs.count)
        return false;
    for (size_t i = 0; i < a->needs.count; i++)
        if (strcmp(a->needs.list[i].name, b->needs.list[i].name) != 0 ||
            a->needs.list[i].number != b->needs.list[i].number)
            return false;
    return true;
}

/* Appends nodes to a row. */
static void add_nodes(struct jobs *j, size_t at, const struct slurm_texts *more)
{
    struct slurm_texts *old = &j->running[at].resource_ids;
    const char **list = j->node_list[at];

    if (old->count + more->count > j->node_room[at]) {
        size_t room = 2 * (old->count + more->count);

        list = NEW(j->c->arena, const char *, room);
        if (old->count > 0)
            memcpy(list, old->list, old->count * sizeof(*list));
        budget_read_step(room);
        j->node_list[at] = list;
        j->node_room[at] = room;
    }
    memcpy(list + old->count, more->list, more->count * sizeof(*list));
    old->list = list;
    old->count += more->count;
}

/* Adds nodes to the row of the job that has the same amounts, else a new row. */
static void add_running(struct jobs *j, size_t first, const struct slurm_running *row)
{
    size_t at = first;

    if (row->resource_ids.count == 0)
        return;
    while (at < j->running_count && !same_amounts(&j->running[at], row))
        at++;
    if (at == j->running_size) {
        size_t size = j->running_size ? 2 * j->running_size : 64;
        struct arena *a = j->c->arena;

        j->running = GROW(a, j->running, struct slurm_running, j->running_size, size);
        j->node_list = GROW(a, j->node_list, const char **, j->running_size, size);
        j->node_room = GROW(a, j->node_room, size_t, j->running_size, size);
        j->running_size = size;
    }
    if (at == j->running_count) {
        j->running[j->running_count++] = *row;
        j->running[at].resource_ids = (struct slurm_texts){0};
    }
    add_nodes(j, at, &row->resource_ids);
}

/* The next text of gres_detail, which has one for each node of the job; NULL: no more. */
static const char *next_detail(struct slurm_reading *c, const char **details)
{
    const char *from = *details, *end;

    if (!from)
        return NULL;
    end = strchr(from, ';');
    *details = end ? end + 1 : NULL;
    return end ? arena_text(c->arena, from, (size_t)(end - from)) : from;
}

static double threads_of(const struct slurm_reading *c, const struct slurm_texts *ids)
{
    size_t at = ids->count ? name_index_find(&c->nodes, ids->list[0]) : NAME_NOT_FOUND;
    double threads =
        at == NAME_NOT_FOUND ? (double)NAN : c->out->nodes[at].threads_per_core;

    return threads > 1 ? threads : 1;
}

/* What is held of something: words for "no limit" (-1 among them) say nothing here. */
static double held_amount(double number)
{
    return isfinite(number) && number > 0 ? number : 0;
}

static void add_held(struct jobs *j, const struct slurm_record *r,
                     struct slurm_running *row)
{
    struct slurm_reading *c = j->c;
    size_t first = j->running_count;
    const char *details = r->value[SLURM_F_GRES_DETAIL];

    for (size_t i = 0; i < r->held_count; i++) {
        const struct slurm_held *held = &r->held[i];
        struct slurm_sums sums = {.arena = c->arena};

        row->resource_ids = slurm_hosts_of(c, held->nodes, SLURM_JOB, r);
        row->cpus = held_amount(isfinite(held->cpus)
                                    ? held->cpus
                                    : held->cores * threads_of(c, &row->resource_ids));
        row->memory_bytes = held_amount(held->memory_bytes);
        if (r->value[SLURM_F_GRES_DETAIL])
            add_gres(c, &sums, next_detail(c, &details), 1, false);
        else if (held->gres)
            add_gres(c, &sums, held->gres, 1, false);
        else if (r->value[SLURM_F_TRES_GIVEN])
            add_gres(c, &sums, r->value[SLURM_F_TRES_GIVEN], 1.0 / (double)r->held_count,
                     true);
        row->needs = slurm_amounts_of(c, &sums, SLURM_JOB, r);
        add_running(j, first, row);
    }
}

/* Bytes that a field says; NAN: none, or no limit. */
static double memory_of(const struct slurm_record *r, enum slurm_field field)
{
    double bytes = slurm_bytes(slurm_value(r, field), NULL);

    return isfinite(bytes) && bytes > 0 ? bytes : (double)NAN;
}

/* "4000Mc" of a table. */
static bool is_per_cpu(const char *text)
{
    bool per_cpu;

    slurm_bytes(text, &per_cpu);
    return per_cpu;
}

/* Memory of a node that a job asked for; 0: not said. */
static double memory_asked(const struct slurm_record *r, double cpus)
{
    double per_node = memory_of(r, SLURM_F_MEMORY_PER_NODE);
    double per_cpu = memory_of(r, SLURM_F_MEMORY_PER_CPU);

    if (is_per_cpu(slurm_value(r, SLURM_F_MEMORY_PER_NODE)))
        per_node *= cpus;
    if (isnan(per_node))
        per_node = per_cpu * cpus;
    return isnan(per_node) ? 0 : per_node;
}

/* Without a word about each node: equal parts of what it was given. */
static void add_evenly(struct jobs *j, const struct slurm_record *r,
                       struct slurm_running *row)
{
    struct slurm_reading *c = j->c;
    struct slurm_sums sums = {.arena = c->arena};
    const struct slurm_amount *list;
    const char *given = given_of(r), *nodes = slurm_value(r, SLURM_F_NODES);
    size_t count = slurm_tracked(given, &list, c->arena);
    double share, cpus = slurm_amount_of(list, count, "cpu");

    row->resource_ids = slurm_hosts_of(
        c, nodes ? nodes : slurm_value(r, SLURM_F_HELD_NODES), SLURM_JOB, r);
    if (row->resource_ids.count == 0)
        return;
    slurm_note(c, SLURM_NOTE_HELD_EVENLY, row->id, SLURM_JOB, r);
    share = 1.0 / (double)row->resource_ids.count;
    if (held_amount(cpus) == 0)
        cpus = slurm_number_of(r, SLURM_F_CPUS);
    if (held_amount(cpus) == 0)
        slurm_note(c, SLURM_NOTE_NO_CPUS, row->id, SLURM_JOB, r);
    row->cpus = held_amount(cpus) > 0 ? ceil(cpus * share) : 1;
    row->memory_bytes = held_amount(slurm_amount_of(list, count, "mem") * share);
    if (row->memory_bytes == 0)
        row->memory_bytes = memory_asked(r, row->cpus);
    add_gres(c, &sums, given, share, true);
    row->needs = slurm_amounts_of(c, &sums, SLURM_JOB, r);
    add_running(j, j->running_count, row);
}

static void add_licences(struct slurm_reading *c, const struct slurm_record *r,
                         struct slurm_running *row)
{
    struct slurm_amounts licences =
        slurm_licences(slurm_value(r, SLURM_F_LICENSES), c->arena);
    struct slurm_sums sums = {.arena = c->arena};

    slurm_sums_add_all(&sums, row->needs);
    slurm_sums_add_all(&sums, licences);
    row->needs = slurm_amounts_of(c, &sums, SLURM_JOB, r);
}

/* When it started: as is said, else so long ago as it runs. */
static double started_of(struct slurm_reading *c, const struct slurm_record *r)
{
    double start_s = slurm_instant_of(c, r, SLURM_F_START);

    return isnan(start_s)
               ? c->out->now_s - slurm_duration_s(slurm_value(r, SLURM_F_ELAPSED), 1)
               : start_s;
}

static void read_running(struct jobs *j, const struct slurm_record *r, bool suspended)
{
    struct slurm_reading *c = j->c;
    struct slurm_running row = {.exclusive = is_exclusive(r)};
    size_t first = j->running_count;
    bool unknown;
    struct slurm_texts partition_ids = partitions_of(c, r, &unknown);

    row.id = id_of(c, r, &row.array_id, &row.task_id);
    row.name = slurm_text_of(r, SLURM_F_NAME);
    row.user = user_of(c, r);
    row.account_id = slurm_text_of(r, SLURM_F_ACCOUNT);
    row.qos_id = slurm_text_of(r, SLURM_F_QOS);
    row.partition_id = partition_ids.count ? partition_ids.list[0] : NULL;
    row.priority = slurm_number_of(r, SLURM_F_PRIORITY);
    row.started_s = started_of(c, r);
    row.time_limit_s = limit_of(c, r, &partition_ids);
    row.expected_end_s = row.started_s + row.time_limit_s;
    if (suspended) /* nobody knows */
        row.time_limit_s = row.expected_end_s = (double)NAN;
    if (r->held_count > 0)
        add_held(j, r, &row);
    else
        add_evenly(j, r, &row);
    if (j->running_count == first && !slurm_value(r, SLURM_F_NODES) && !r->held_count)
        slurm_note(c, SLURM_NOTE_NO_NODES, row.id, SLURM_JOB, r);
    if (suspended) {
        slurm_note(c, SLURM_NOTE_SUSPENDED, row.id, SLURM_JOB, r);
        for (size_t i = first; i < j->running_count; i++)
            j->running[i].cpus = 0;
    }
    if (j->running_count > first)
        add_licences(c, r, &j->running[first]);
}

/* ---- waiting jobs ---- */

/* What it waits for, and what of that cannot be read. */
static void read_dependency(struct slurm_reading *c, const struct slurm_record *r,
                            struct slurm_waiting *w)
{
    const char *text = slurm_value(r, SLURM_F_DEPENDENCY);
    struct slurm_dependency found;

    slurm_dependency_read(text, &found, c->arena);
    w->after = found.after;
    w->after_count = found.after_count;
    w->after_mode = found.is_any ? "any" : NULL;
    w->singleton = found.singleton;
    if (!r->value[SLURM_F_DEPENDENCY] && w->slurm_reason &&
        strcmp(w->slurm_reason, "Dependency") == 0)
        slurm_note(c, SLURM_NOTE_NO_AFTER, w->id, SLURM_JOB, r);
    if (found.is_mixed)
        slurm_note(c, SLURM_NOTE_MIXED_AFTER, text, SLURM_JOB, r);
    for (size_t i = 0; i < found.burst_count; i++)
        slurm_note(c, SLURM_NOTE_BURST_AFTER, "afterburstbuffer", SLURM_JOB, NULL);
    for (size_t i = 0; i < found.bad_count; i++)
        slurm_note(c, SLURM_NOTE_BAD_TEXT, found.bad[i], SLURM_JOB, r);
}

/* NumNodes of scontrol is "2-5", or "1" where only the tasks are said. */
struct node_counts {
    double least, most; /* NAN: not said */
    bool fixed;
};

static struct node_counts count_nodes(const struct slurm_record *r, double tracked,
                                      struct arena *a)
{
    const char *text = slurm_value(r, SLURM_F_NODE_COUNT);
    double max = slurm_number_of(r, SLURM_F_MAX_NODES);
    struct node_counts n = {.most = NAN};

    if (text) /* "2-4", "2"; a number may mean that nothing is set */
        n.least = slurm_number(arena_text(a, text, strcspn(text, "-")));
    if (r->form != SLURM_JSON && text) {
        const char *dash = strchr(text, '-');

        max = dash ? slurm_number(dash + 1) : 0;
    }
    n.fixed = max > 0;
    if (tracked > 0)
        n.least = tracked;
    if (!(n.least >= 1) || !isfinite(n.least))
        n.least = 1;
    n.least = fmin(n.least, SLURM_HOSTS_MAX);
    if (max > n.least && isfinite(max))
        n.most = fmin(max, SLURM_HOSTS_MAX);
    return n;
}

/* A number at the begin of "12:0:*:*"; 0: none. */
static double leading(const char *text)
{
    double number = text && isdigit((unsigned char)*text) ? strtod(text, NULL) : 0;

    return number < 65533 ? number : 0;
}

/* Adds a type of a resource where its sum is there and the type is not. */
static void add_types(struct slurm_reading *c, struct slurm_sums *sums,
                      const char *generic)
{
    const struct slurm_amount *list;
    size_t count = slurm_generic(generic, &list, c->arena);

    for (size_t i = 0; i < count; i++) {
        const char *name;
        size_t k = 0;

        if (!list[i].type || slurm_is_shard(list[i].name))
            continue;
        name = slurm_gres_name(list[i].name, list[i].type, c->arena);
        while (k < sums->count && strcmp(sums->list[k].name, name) != 0)
            k++;
        if (k == sums->count)
            slurm_sums_add(sums, name, list[i].count);
    }
}

/* Generic resources of each node, and licences of the job. */
static struct slurm_amounts needs_of(struct slurm_reading *c,
                                     const struct slurm_record *r, const char *asked,
                                     double nodes)
{
    const char *generic = slurm_value(r, SLURM_F_TRES_PER_NODE);
    struct slurm_amounts licences =
        slurm_licences(slurm_value(r, SLURM_F_LICENSES), c->arena);
    struct slurm_sums sums = {.arena = c->arena};

    if (generic && (!asked || !strstr(asked, "gres/")))
        add_gres(c, &sums, generic, 1, false);
    else {
        add_gres(c, &sums, asked, 1 / nodes, true);
        add_types(c, &sums, generic);
    }
    slurm_sums_add_all(&sums, licences);
    return slurm_amounts_of(c, &sums, SLURM_JOB, r);
}

/* Of a sum over so many nodes; NAN: none. */
static double memory_of_node(const struct slurm_amount *list, size_t count, double nodes)
{
    double sum = slurm_amount_of(list, count, "mem");

    return sum > 0 ? sum / nodes : (double)NAN;
}

/* What a table leaves open of a job's memory. */
static void note_memory(struct slurm_reading *c, const struct slurm_record *r,
                        const char *id)
{
    const char *least = r->value[SLURM_F_MEMORY_PER_NODE];

    if (r->form != SLURM_TABLE || r->value[SLURM_F_TRES] || r->value[SLURM_F_TRES_ASKED])
        return;
    if (!least && !r->value[SLURM_F_MEMORY_PER_CPU])
        slurm_note(c, SLURM_NOTE_NO_MEMORY, id, SLURM_JOB, r);
    else if (least && !is_per_cpu(least) && memory_of(r, SLURM_F_MEMORY_PER_NODE) > 0)
        slurm_note(c, SLURM_NOTE_MIN_MEMORY, id, SLURM_JOB, r);
    else if (least && !(memory_of(r, SLURM_F_MEMORY_PER_NODE) > 0))
        slurm_note(c, SLURM_NOTE_ZERO_MEMORY, id, SLURM_JOB, r);
}

/* CPUs of the job; NAN: not said. Those that it asked for, or more where its partition
 * allows a cpu less memory than it asked for each. */
static double cpus_asked(const struct slurm_record *r, double tracked)
{
    double cpus = slurm_number_of(r, SLURM_F_CPUS);

    tracked = tracked > 0 ? tracked : (double)NAN;
    return cpus > 0 && isfinite(cpus) ? fmax(cpus, tracked) : tracked;
}

/* CPUs of a task: as is said, else what there are for each: JSON before v0.0.40 does not
 * say it, whatever the job asked for. */
static double cpus_per_task(const struct slurm_record *r, double tasks)
{
    double said = slurm_number_of(r, SLURM_F_CPUS_PER_TASK);
    double cpus = slurm_number_of(r, SLURM_F_CPUS);

    if (said >= 1 && isfinite(said))
        return said;
    return r->form == SLURM_JSON && tasks > 0 && cpus > tasks && isfinite(cpus)
               ? floor(cpus / tasks)
               : 1;
}

/* Whether it asks for more of a node than a partition has as its most, and Slurm lets it:
 * it counts the memory of a cpu once, not that of all of them. */
static bool is_let_beyond(const struct slurm_reading *c, const struct slurm_waiting *w,
                          double bytes)
{
    if (w->slurm_reason && strcmp(w->slurm_reason, "MaxMemPerLimit") == 0)
        return false;
    for (size_t i = 0; i < w->partition_ids.count; i++) {
        size_t at = name_index_find(&c->partitions, w->partition_ids.list[i]);

        if (bytes > c->out->partitions[at].memory_per_node_max_bytes)
            return true;
    }
    return false;
}

static void read_asked(struct slurm_reading *c, const struct slurm_record *r,
                       struct slurm_waiting *w)
{
    const char *asked = slurm_value(r, SLURM_F_TRES_ASKED);
    const struct slurm_amount *list;
    size_t count;
    double tasks = slurm_number_of(r, SLURM_F_TASKS), cpus, per_node, per_task;
    struct node_counts nodes;

    asked = asked ? asked : slurm_value(r, SLURM_F_TRES);
    count = slurm_tracked(asked, &list, c->arena);
    nodes = count_nodes(r, slurm_amount_of(list, count, "node"), c->arena);
    cpus = cpus_asked(r, slurm_amount_of(list, count, "cpu"));
    if (isnan(cpus) && !(tasks > 0))
        slurm_note(c, SLURM_NOTE_NO_ASKED, w->id, SLURM_JOB, r);
    cpus = fmax(cpus, 1);
    per_node = leading(slurm_value(r, SLURM_F_TASKS_PER_NODE));
    per_task = cpus_per_task(r, tasks);
    w->tasks = w->cpus_per_task = w->nodes_max = NAN;
    w->memory_per_cpu_bytes = memory_of(r, SLURM_F_MEMORY_PER_CPU);
    w->memory_bytes = memory_of(r, SLURM_F_MEMORY_PER_NODE);
    if (is_per_cpu(slurm_value(r, SLURM_F_MEMORY_PER_NODE))) {
        w->memory_per_cpu_bytes = w->memory_bytes;
        w->memory_bytes = NAN;
    }

    if (!nodes.fixed && per_node == 0 && tasks > 1 && isfinite(tasks)) {
        w->nodes = w->cpus = NAN;
        w->tasks = tasks;
        w->cpus_per_task = per_task;
        if (isnan(w->memory_bytes) && isnan(w->memory_per_cpu_bytes)) /* all of a node */
            w->memory_bytes = memory_of_node(list, count, nodes.least);
    } else {
        w->nodes = nodes.least;
        w->nodes_max = nodes.most;
        w->cpus = per_node > 0 ? per_node * per_task : ceil(cpus / nodes.least);
        if (isnan(w->memory_bytes) && !isnan(w->memory_per_cpu_bytes)) {
            if (!is_let_beyond(c, w, w->memory_per_cpu_bytes * w->cpus))
                w->memory_bytes = w->memory_per_cpu_bytes * w->cpus;
        } else if (isnan(w->memory_bytes))
            w->memory_bytes = memory_of_node(list, count, nodes.least);
        if (!isnan(w->memory_bytes))
            w->memory_per_cpu_bytes = NAN;
    }
    if (!isnan(w->memory_bytes))
        w->memory_per_cpu_bytes = NAN;

    note_memory(c, r, w->id);
    w->needs = needs_of(c, r, asked, nodes.least);
}

static void read_array(struct slurm_reading *c, const struct slurm_record *r,
                       struct slurm_waiting *w)
{
    const char *tasks = tasks_of(r), *array = slurm_text_of(r, SLURM_F_ARRAY_JOB);
    double running_max = slurm_number_of(r, SLURM_F_ARRAY_MAX), written;
    struct slurm_array *found;
    size_t count;

    if (!tasks)
        return;
    if (!slurm_tasks(tasks, &count, &written)) {
        slurm_note(c, SLURM_NOTE_BAD_ARRAY, tasks, SLURM_JOB, r);
        return;
    }
    found = NEW(c->arena, struct slurm_array, 1);
    running_max = running_max > 0 && isfinite(running_max) ? running_max : written;
    *found = (struct slurm_array){
        .id = array && strcmp(array, "0") != 0 ? array : w->id,
        .task_ids = arena_text(c->arena, tasks, strcspn(tasks, "%")),
        .running_max = running_max > 0 ? running_max : (double)NAN,
    };
    w->array = found;
    w->id = found->id;
}

const char *const slurm_group_policy_names[] = {"gang", NULL};

/* Components of one job start together. */
static void read_gang(struct slurm_reading *c, const struct slurm_record *r,
                      struct slurm_waiting *w)
{
    const char *of = set_value(r, SLURM_F_HET_JOB);
    struct slurm_group *group;

    if (!of || w->array)
        return;
    group = NEW(c->arena, struct slurm_group, 1);
    *group = (struct slurm_group){of, slurm_group_policy_names[0]};
    w->group = group;
}

static void read_times(struct slurm_reading *c, const struct slurm_record *r,
                       struct slurm_waiting *w)
{
    const char *deadline = slurm_value(r, SLURM_F_DEADLINE);
    double least_s = slurm_limit_of(r, SLURM_F_TIME_MIN);

    w->time_limit_s = limit_of(c, r, &w->partition_ids);
    w->time_limit_min_s = least_s > 0 ? least_s : (double)NAN;
    w->submit_s = slurm_instant_of(c, r, SLURM_F_SUBMIT);
    w->eligible_s = slurm_instant_of(c, r, SLURM_F_ELIGIBLE);
    w->slurm_start_s = slurm_instant_of(c, r, SLURM_F_START);
    w->begin_s = w->eligible_s > c->out->now_s ? w->eligible_s : (double)NAN;
    if (isnan(w->eligible_s) && w->slurm_reason &&
        strcmp(w->slurm_reason, "BeginTime") == 0) {
        if (w->slurm_start_s > c->out->now_s) /* not before it */
            w->begin_s = w->slurm_start_s;
        else
            slurm_note(c, SLURM_NOTE_NO_BEGIN, w->id, SLURM_JOB, r);
    }
    w->deadline_s = slurm_instant_of(c, r, SLURM_F_DEADLINE);
    if (deadline && isnan(w->deadline_s) && strcmp(deadline, "0") != 0)
        slurm_note(c, SLURM_NOTE_DEADLINE, deadline, SLURM_JOB, r);
}

/* What becomes of it when a dependency can no longer be met: as it asked, else as the
 * cluster has it, where the default is that it waits. */
static bool is_killed(const struct slurm_reading *c, const struct slurm_record *r)
{
    const char *flags = r->value[SLURM_F_FLAGS];

    if (slurm_has_word(flags, "KILL_INV_DEP") ||
        slurm_has_word(flags, "KILL_INVALID_DEPENDENCY"))
        return true;
    return !slurm_has_word(flags, "NO_KILL_INV_DEP") &&
           !slurm_has_word(flags, "NO_KILL_INVALID_DEPENDENCY") &&
           slurm_has_word(slurm_config(c->from, "SchedulerParameters"),
                          "kill_invalid_depend");
}

/* States in which a job waits to be released, whatever its priority. */
static bool is_held_back(const char *states)
{
    static const char *const words[] = {
        "REQUEUE_HOLD", "RH", "SPECIAL_EXIT", "SE", "RESV_DEL_HOLD", "RD", NULL};

    for (size_t i = 0; words[i]; i++)
        if (slurm_has_word(states, words[i]))
            return true;
    return false;
}

/* Where no priority is said, which is 0 then. */
static bool says_held(const char *reason)
{
    return reason &&
           (strcmp(reason, "JobHeldUser") == 0 || strcmp(reason, "JobHeldAdmin") == 0);
}

/* Texts have a sentence in the place of Resources, and more behind a comma. */
static const char *reason_of(const struct slurm_reading *c, const struct slurm_record *r)
{
    static const char sentence[] = "Nodes required for job are";
    const char *reason = slurm_text_of(r, SLURM_F_REASON);
    size_t i = 0;

    if (!reason)
        return NULL;
    while (sentence[i] && (reason[i] == '_' ? ' ' : reason[i]) == sentence[i])
        i++;
    if (!sentence[i])
        return "Resources";
    return arena_text(c->arena, reason, strcspn(reason, ","));
}

static void read_waiting(struct jobs *j, const struct slurm_record *r)
{
    struct slurm_reading *c = j->c;
    struct slurm_waiting *w = &j->waiting[j->waiting_count];
    const char *reason = reason_of(c, r), *array, *task,
               *requeue = r->value[SLURM_F_REQUEUE];
    double priority = slurm_number_of(r, SLURM_F_PRIORITY);
    bool unknown;

    *w = (struct slurm_waiting){
        .id = id_of(c, r, &array, &task),
        .name = slurm_text_of(r, SLURM_F_NAME),
        .user = user_of(c, r),
        .account_id = slurm_text_of(r, SLURM_F_ACCOUNT),
        .qos_id = slurm_text_of(r, SLURM_F_QOS),
        .reservation_id = slurm_text_of(r, SLURM_F_RESERVATION),
        .partition_ids = partitions_of(c, r, &unknown),
        .exclusive = is_exclusive(r),
        .exclusive_user = is_exclusive_user(r),
        .features = slurm_text_of(r, SLURM_F_FEATURES),
        .resource_ids_required =
            slurm_hosts_of(c, slurm_value(r, SLURM_F_REQ_NODES), SLURM_JOB, r),
        .resource_ids_excluded =
            slurm_hosts_of(c, slurm_value(r, SLURM_F_EXC_NODES), SLURM_JOB, r),
        .kill_on_invalid_dependency = is_killed(c, r),
        .requeue =
            !requeue || (strcmp(requeue, "0") != 0 && strcmp(requeue, "false") != 0),
        .held = priority == 0 || is_held_back(r->value[SLURM_F_STATE]) ||
                (isnan(priority) && says_held(reason)),
        .priority = priority > 0 && isfinite(priority) ? priority : (double)NAN,
        .nice = nice_of(r),
        .slurm_reason = reason,
        .unplaced = unknown ? slurm_unplaced_names[SLURM_UNKNOWN_PARTITION] : NULL,
    };
    if (w->held)
        w->held_by = reason && strcmp(reason, "JobHeldAdmin") == 0 ? "admin" : "user";
    read_array(c, r, w);
    read_gang(c, r, w);
    read_times(c, r, w);
    read_asked(c, r, w);
    read_dependency(c, r, w);
    note_losses(c, r, w->id);
    j->waiting_count++;
}

/* What becomes of a job: the first of these that its states have. */
enum phase { SUSPENDED, RUNS, WAITS, IS_OVER, UNKNOWN };

static enum phase phase_of(const char *states)
{
    static const struct {
        const char *word, *code; /* code: squeue -o %t */
        enum phase phase;
    } rows[] = {
        {"SUSPENDED", "S", SUSPENDED},    {"RUNNING", "R", RUNS},
        {"COMPLETING", "CG", RUNS},       {"CONFIGURING", "CF", RUNS},
        {"STAGE_OUT", "SO", RUNS},        {"RESIZING", "RS", RUNS},
        {"SIGNALING", "SI", RUNS},        {"STOPPED", "ST", RUNS},
        {"POWER_UP_NODE", NULL, RUNS},    {"PENDING", "PD", WAITS},
        {"REQUEUED", "RQ", WAITS},        {"REQUEUE_HOLD", "RH", WAITS},
        {"REQUEUE_FED", "RF", WAITS},     {"SPECIAL_EXIT", "SE", WAITS},
        {"RESV_DEL_HOLD", "RD", WAITS},   {"COMPLETED", "CD", IS_OVER},
        {"CANCELLED", "CA", IS_OVER},     {"FAILED", "F", IS_OVER},
        {"TIMEOUT", "TO", IS_OVER},       {"NODE_FAIL", "NF", IS_OVER},
        {"PREEMPTED", "PR", IS_OVER},     {"BOOT_FAIL", "BF", IS_OVER},
        {"DEADLINE", "DL", IS_OVER},      {"OUT_OF_MEMORY", "OOM", IS_OVER},
        {"REVOKED", "RV", IS_OVER},       {"LAUNCH_FAILED", NULL, IS_OVER},
        {"RECONFIG_FAIL", NULL, IS_OVER},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (slurm_has_word(states, rows[i].word) ||
            (rows[i].code && slurm_has_word(states, rows[i].code)))
            return rows[i].phase;
    return UNKNOWN;
}

void slurm_read_jobs(struct slurm_reading *c)
{
    const struct slurm_list *list = &c->from->of[SLURM_JOB];
    struct jobs j = {.c = c, .waiting = NEW(c->arena, struct slurm_waiting, list->count)};
    struct name_index seen;

    name_index_create(&seen, list->count + 1, c->arena);
    for (size_t i = 0; i < list->count; i++) {
        const struct slurm_record *r = &list->records[i];
        const char *state = r->value[SLURM_F_STATE], *id = slurm_text_of(r, SLURM_F_ID);
        enum phase phase = phase_of(state);

        budget_read_step(2 * SLURM_FIELD_COUNT);
        if (!id) {
            slurm_note(c, SLURM_NOTE_NO_ID, NULL, SLURM_JOB, r);
            continue;
        }
        if (!tasks_of(r) && name_index_add(&seen, id, i) != NAME_NOT_FOUND) {
            slurm_note(c, SLURM_NOTE_TWICE, id, SLURM_JOB, r);
            continue;
        }
        if (phase == SUSPENDED || phase == RUNS)
            read_running(&j, r, phase == SUSPENDED);
        else if (phase == WAITS)
            read_waiting(&j, r);
        else if (phase == UNKNOWN)
            slurm_note(c, SLURM_NOTE_UNKNOWN_STATE, state ? state : "none", SLURM_JOB, r);
    }
    c->out->running = j.running;
    c->out->running_count = j.running_count;
    c->out->waiting = c->waiting = j.waiting;
    c->out->waiting_count = j.waiting_count;
}
