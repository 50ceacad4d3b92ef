/* what_if.c - gridplan slurm what-if: a study of what accounting has, as a request, and
 * its answer as a table. */
#include "service/client/what_if.h"

#include "models/base/names.h"
#include "models/json_walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum error_code what_if_read(struct what_if *w, const char *sacct, struct arena *a,
                             struct error *err)
{
    struct slurm_records *records = NEW(a, struct slurm_records, 1);

    records->updated_s = (double)NAN;
    TRY(slurm_records_read(sacct, strlen(sacct), "sacct", records, a, err));
    slurm_workload_read(records, 0, &w->workload, a);
    w->warned = slurm_warned_text(&records->warned, a);
    return OK;
}

/* ---- the cluster ---- */

struct node {
    char id[256];
    double cpus;
};

static void read_node(struct json_walk *w, struct node *node)
{
    const char *name;

    *node = (struct node){.cpus = 0};
    json_walk_enter(w, '{');
    while ((name = json_walk_member(w)))
        if (strcmp(name, "id") == 0 && json_walk_type(w) == '"')
            snprintf(node->id, sizeof(node->id), "%s", json_walk_string(w));
        else if (strcmp(name, "cpus") == 0 && json_walk_type(w) == '0')
            node->cpus = json_walk_number(w);
        else
            json_walk_skip(w);
}

/* CPUs of all nodes, of the one of this name in *like (NAN: there is none). */
static double count_cpus(const char *cluster, const char *name, double *like,
                         struct arena *a)
{
    struct json_walk w;
    const char *member;
    double cpus = 0;

    *like = (double)NAN;
    json_walk_open(&w, cluster, strlen(cluster), a);
    if (json_walk_type(&w) != '{')
        return 0;
    json_walk_enter(&w, '{');
    while ((member = json_walk_member(&w))) {
        if (strcmp(member, "resources") != 0 || json_walk_type(&w) != '[') {
            json_walk_skip(&w);
            continue;
        }
        json_walk_enter(&w, '[');
        while (json_walk_element(&w)) {
            struct node node;

            read_node(&w, &node);
            cpus += node.cpus;
            if (name && strcmp(node.id, name) == 0)
                *like = node.cpus;
        }
    }
    return cpus;
}

/* "like=node1,count=4" as changes of the cluster. */
static enum error_code print_nodes(const struct what_if *w, const char *text,
                                   struct text_buffer *out, struct arena *a,
                                   struct error *err)
{
    char name[256];
    unsigned long count = 0;
    double like;
    int end = 0;

    if (sscanf(text, "like=%255[^,],count=%lu%n", name, &count, &end) != 2 || text[end] ||
        count < 1 || count > 100000)
        return fail(err, ERR_INVALID, "--add-nodes",
                    "'%.100s' is not like=NODE,count=N, N at most 100000", text);
    count_cpus(w->cluster, name, &like, a);
    if (isnan(like))
        return fail(err, ERR_INVALID, "--add-nodes", "the cluster has no node '%.100s'",
                    name);
    text_addf(out, ", \"cluster_changes\": {\"add_nodes\": [{\"like\": ");
    json_print_text(name, out);
    text_addf(out, ", \"count\": %lu}]}", count);
    return OK;
}

/* Ids in a list of the cluster, into an index if there is one; their number. */
static size_t each_id(const char *cluster, const char *list, struct name_index *to,
                      struct arena *a)
{
    const char *value = NULL, *name;
    struct json_walk w;
    size_t n = 0;

    if (json_member(cluster, list, &value, a, &(struct error){.code = OK}) != OK ||
        !value)
        return 0;
    json_walk_open(&w, value, strlen(value), a);
    if (!json_walk_enter_if(&w, '['))
        return 0;
    while (json_walk_element(&w)) {
        json_walk_enter(&w, '{');
        while ((name = json_walk_member(&w)))
            if (strcmp(name, "id") == 0 && json_walk_type(&w) == '"') {
                if (to)
                    name_index_add(to, json_walk_text(&w, a), n);
                else
                    json_walk_skip(&w);
                n++;
            } else
                json_walk_skip(&w);
    }
    return n;
}

/* Names of what a list of the cluster has. */
static void read_ids(const char *cluster, const char *list, struct name_index *to,
                     struct arena *a)
{
    name_index_create(to, each_id(cluster, list, NULL, a) + 1, a);
    each_id(cluster, list, to, a);
}

/* ---- the request ---- */

struct known {
    struct name_index partitions, qos, accounts;
};

/* A member with a name that the cluster has; false: it has no such. */
static bool print_known(struct text_buffer *out, const char *member, const char *name,
                        const struct name_index *known)
{
    bool is_list = strcmp(member, "partition_ids") == 0;

    if (!name)
        return true;
    if (name_index_find(known, name) == NAME_NOT_FOUND)
        return false;
    text_addf(out, ", \"%s\": %s", member, is_list ? "[" : "");
    json_print_text(name, out);
    text_addf(out, is_list ? "]" : "");
    return true;
}

static void print_amounts(const struct slurm_shape *s, struct text_buffer *out)
{
    if (s->nodes > 0)
        text_addf(out, ", \"nodes\": %.0f, \"cpus\": %.15g, \"memory_bytes\": %.15g",
                  s->nodes, s->cpus, s->memory_bytes);
    else
        text_addf(out, ", \"tasks\": %.0f, \"memory_per_cpu_bytes\": %.15g", s->tasks,
                  s->memory_bytes);
    for (size_t i = 0; i < s->needs.count; i++) {
        text_addf(out, i ? ", " : ", \"needs\": {");
        json_print_text(s->needs.list[i].name, out);
        text_addf(out, ": %.15g%s", s->needs.list[i].number,
                  i + 1 == s->needs.count ? "}" : "");
    }
}

/* What it waited for, of jobs that are there too. */
static void print_after(const struct slurm_shape *s, struct text_buffer *out)
{
    for (size_t i = 0; i < s->after_count; i++) {
        text_addf(out, i ? ", {\"job_id\": " : ", \"after\": [{\"job_id\": ");
        json_print_text(s->after[i].job_id, out);
        text_addf(out, ", \"kind\": \"%s\", \"delay_s\": %.15g}%s", s->after[i].kind,
                  s->after[i].delay_s, i + 1 == s->after_count ? "]" : "");
    }
    if (s->any_after)
        text_addf(out, ", \"after_mode\": \"any\"");
    if (s->singleton && s->name) {
        text_addf(out, ", \"singleton\": true, \"name\": ");
        json_print_text(s->name, out);
    }
    if (s->array_id) {
        text_addf(out, ", \"array\": {\"id\": ");
        json_print_text(s->array_id, out);
        text_addf(out, ", \"task_ids\": ");
        json_print_text(s->task_ids, out);
        if (s->running_max >= 1)
            text_addf(out, ", \"running_max\": %.15g", s->running_max);
        text_addf(out, "}");
    }
    if (s->gang) {
        text_addf(out, ", \"group\": {\"id\": ");
        json_print_text(s->gang, out);
        text_addf(out, ", \"policy\": \"gang\"}");
    }
    if (!s->ends_well)
        text_addf(out, ", \"ok\": false");
    if (!isnan(s->cancel_s))
        text_addf(out, ", \"cancel_s\": %.15g", s->cancel_s);
}

/* Whether the cluster has all that it names. */
static bool print_job(const struct swf_job *job, const struct slurm_shape *shape,
                      const struct known *known, struct text_buffer *out)
{
    bool has_all;

    text_addf(out, "{\"id\": ");
    json_print_text(shape->id, out);
    text_addf(out, ", \"submit_s\": %.15g, \"run_time_s\": %.15g", job->submit_s,
              job->run_s);
    if (!isnan(shape->eligible_s))
        text_addf(out, ", \"begin_s\": %.15g", shape->eligible_s);
    if (job->requested_s > 0)
        text_addf(out, ", \"time_limit_s\": %.15g", job->requested_s);
    if (shape->user) {
        text_addf(out, ", \"user\": ");
        json_print_text(shape->user, out);
    }
    has_all = print_known(out, "partition_ids", shape->partition, &known->partitions);
    has_all &= print_known(out, "account_id", shape->account, &known->accounts);
    has_all &= print_known(out, "qos_id", shape->qos, &known->qos);
    print_amounts(shape, out);
    print_after(shape, out);
    text_addf(out, "}");
    return has_all;
}

static void print_jobs(struct what_if *w, struct text_buffer *out, struct arena *a)
{
    const struct slurm_workload *log = &w->workload;
    struct known known;

    read_ids(w->cluster, "partitions", &known.partitions, a);
    read_ids(w->cluster, "qos", &known.qos, a);
    read_ids(w->cluster, "accounts", &known.accounts, a);
    w->unknown = 0;
    text_addf(out, ", \"jobs\": [");
    for (size_t i = 0; i < log->job_count + log->withdrawn_count; i++) {
        size_t k = i < log->job_count ? i : i - log->job_count;
        bool ran = i < log->job_count;

        text_addf(out, i ? ",\n" : "");
        w->unknown +=
            !print_job(ran ? &log->jobs[k] : &log->withdrawn[k],
                       ran ? &log->shapes[k] : &log->withdrawn_shapes[k], &known, out);
    }
    text_addf(out, "]");
}

/* The cluster without what is of this moment. */
static enum error_code print_cluster(const struct what_if *w, struct text_buffer *out,
                                     struct arena *a, struct error *err)
{
    static const char *const kept[] = {"resources",  "shared_capacities",
                                       "partitions", "qos",
                                       "accounts",   "policy_settings"};
    bool first = true;

    text_addf(out, "\"cluster\": {");
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
        const char *value = NULL;

        TRY(json_member(w->cluster, kept[i], &value, a, err));
        if (!value)
            continue;
        text_addf(out, "%s\"%s\": ", first ? "" : ", ", kept[i]);
        text_add(out, value, strlen(value));
        first = false;
    }
    text_addf(out, "}");
    return OK;
}

/* A value as it is in JSON: a number, true or false, else a text. */
static void print_value(const char *value, struct text_buffer *out)
{
    char *end;
    double number = strtod(value, &end);

    if (*value && !*end && isfinite(number))
        text_addf(out, "%.15g", number);
    else if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
        text_addf(out, "%s", value);
    else
        json_print_text(value, out);
}

/* One of "bf_window=2880,defer"; of slurm.conf, else it is taken for a member. */
static enum error_code print_setting(char *text, struct text_buffer *out,
                                     struct text_buffer *priority, struct error *err)
{
    char *equals = strchr(text, '=');
    const char *value = equals ? equals + 1 : NULL;
    struct slurm_setting setting;
    struct text_buffer *to = out;

    if (equals)
        *equals = '\0';
    if (!slurm_setting_read(text, value, &setting)) {
        if (!*text || !value || !*value)
            return fail(err, ERR_INVALID, "--set",
                        "'%.100s' is not NAME=VALUE, as bf_window=2880", text);
        text_addf(out, out->length ? ", " : "");
        json_print_text(text, out);
        text_addf(out, ": ");
        print_value(value, out);
        return OK;
    }
    if (setting.object)
        to = priority;
    text_addf(to, "%s\"%s\": ", to->length ? ", " : "", setting.member);
    if (isnan(setting.number))
        text_addf(to, setting.is_on ? "true" : "false");
    else
        text_addf(to, "%.15g", setting.number);
    return OK;
}

static enum error_code print_settings(const char *text, struct text_buffer *out,
                                      struct arena *a, struct error *err)
{
    struct text_buffer own = {.arena = a}, priority = {.arena = a};
    char *copy = arena_text(a, text, strlen(text)), *rest, *part;

    if (!*copy)
        return fail(err, ERR_INVALID, "--set", "NAME=VALUE, as bf_window=2880");
    for (part = strtok_r(copy, ",", &rest); part; part = strtok_r(NULL, ",", &rest))
        TRY(print_setting(part, &own, &priority, err));
    text_addf(out, ", \"settings\": {");
    if (own.length)
        text_add(out, own.data, own.length);
    if (priority.length) {
        text_addf(out, "%s\"priority\": {", own.length ? ", " : "");
        text_add(out, priority.data, priority.length);
        text_addf(out, "}");
    }
    text_addf(out, "}");
    out->failed |= own.failed || priority.failed;
    return OK;
}

/* Up to what is different. */
static void begin_variant(struct text_buffer *out, bool *first, const char *name)
{
    text_addf(out, "%s{\"id\": ", *first ? "" : ", ");
    *first = false;
    json_print_text(name, out);
}

enum error_code what_if_request(struct what_if *w, struct text_buffer *out,
                                struct arena *a, struct error *err)
{
    static const char *const usual[] = {"conservative", "easy_sjbf", "fcfs"};
    bool chosen = w->policy_count || w->setting_count || w->node_count, first = true;
    const char *const *policies = chosen ? w->policies : usual;
    size_t policy_count = chosen ? w->policy_count : 3;
    double like;

    if (!(count_cpus(w->cluster, NULL, &like, a) >= 1))
        return fail(err, ERR_INVALID, "sinfo", "the cluster has no CPUs");
    text_addf(out, "{\"kind\": \"queue\", \"time_limit_s\": %d, ", WHAT_IF_TIME_LIMIT_S);
    TRY(print_cluster(w, out, a, err));
    print_jobs(w, out, a);
    text_addf(out, ", \"study\": {\"base\": {\"id\": \"now\"}, \"variants\": [");
    for (size_t i = 0; i < policy_count; i++) {
        begin_variant(out, &first, policies[i]);
        text_addf(out, ", \"policy\": ");
        json_print_text(policies[i], out);
        text_addf(out, "}");
    }
    for (size_t i = 0; i < w->setting_count; i++) {
        begin_variant(out, &first, w->settings[i]);
        TRY(print_settings(w->settings[i], out, a, err));
        text_addf(out, "}");
    }
    for (size_t i = 0; i < w->node_count; i++) {
        begin_variant(out, &first, w->nodes[i]);
        TRY(print_nodes(w, w->nodes[i], out, a, err));
        text_addf(out, "}");
    }
    text_addf(out, "]}}");
    return OK;
}

/* ---- the answer ---- */

struct table_row {
    char id[256], verdict[16], absent[16];
    double mean_wait_s, slowdown, change, low, high, better;
    char user[64]; /* who is hurt most; "": nobody */
    double user_change_s, never_fit_count;
};

static void read_figures(struct json_walk *w, struct table_row *line)
{
    const char *name;

    json_walk_enter(w, '{');
    while ((name = json_walk_member(w))) {
        double *to = strcmp(name, "mean_wait_s") == 0             ? &line->mean_wait_s
                     : strcmp(name, "mean_bounded_slowdown") == 0 ? &line->slowdown
                                                                  : NULL;

        if (to && json_walk_type(w) == '0')
            *to = json_walk_number(w);
        else
            json_walk_skip(w);
    }
}

static void read_change(struct json_walk *w, struct table_row *line)
{
    const struct {
        const char *name;
        double *to;
    } members[] = {{"mean", &line->change},
                   {"low", &line->low},
                   {"high", &line->high},
                   {"better_ratio", &line->better}};
    const char *name;

    json_walk_enter(w, '{');
    while ((name = json_walk_member(w))) {
        double *to = NULL;

        for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
            if (strcmp(name, members[i].name) == 0)
                to = members[i].to;
        if (to && json_walk_type(w) == '0')
            *to = json_walk_number(w);
        else
            json_walk_skip(w);
    }
}

static void read_comparison(struct json_walk *w, struct table_row *line)
{
    const char *name;

    json_walk_enter(w, '{');
    while ((name = json_walk_member(w)))
        if (strcmp(name, "wait_s") == 0)
            read_change(w, line);
        else
            json_walk_skip(w);
}

/* The first of them. */
static void read_hurt(struct json_walk *w, struct table_row *line)
{
    const char *name;

    json_walk_enter(w, '[');
    for (bool first = true; json_walk_element(w); first = false) {
        if (!first) {
            json_walk_skip(w);
            continue;
        }
        json_walk_enter(w, '{');
        while ((name = json_walk_member(w)))
            if (strcmp(name, "user") == 0 && json_walk_type(w) == '"')
                snprintf(line->user, sizeof(line->user), "%s", json_walk_string(w));
            else if (strcmp(name, "mean_wait_change_s") == 0)
                line->user_change_s = json_walk_number(w);
            else
                json_walk_skip(w);
    }
}

static void read_line(struct json_walk *w, struct table_row *line)
{
    const char *name;

    *line = (struct table_row){.mean_wait_s = NAN,
                               .slowdown = NAN,
                               .change = NAN,
                               .low = NAN,
                               .high = NAN,
                               .better = NAN};
    json_walk_enter(w, '{');
    while ((name = json_walk_member(w)))
        if (strcmp(name, "id") == 0)
            snprintf(line->id, sizeof(line->id), "%s", json_walk_string(w));
        else if (strcmp(name, "never_fit_count") == 0)
            line->never_fit_count = json_walk_number(w);
        else if (strcmp(name, "verdict") == 0)
            snprintf(line->verdict, sizeof(line->verdict), "%s", json_walk_string(w));
        else if (strcmp(name, "interval_absent") == 0)
            snprintf(line->absent, sizeof(line->absent), "%s", json_walk_string(w));
        else if (strcmp(name, "figures") == 0)
            read_figures(w, line);
        else if (strcmp(name, "vs_base") == 0)
            read_comparison(w, line);
        else if (strcmp(name, "worst_hurt_users") == 0)
            read_hurt(w, line);
        else
            json_walk_skip(w);
}

static void print_line(const struct table_row *line, FILE *to)
{
    char fits[64] = "", interval[64] = "-", hurt[128] = "-", change[32] = "-";

    if (!isnan(line->low))
        snprintf(interval, sizeof(interval), "%.0f .. %.0f", line->low, line->high);
    else if (line->absent[0])
        snprintf(interval, sizeof(interval), "%s", line->absent);
    if (!isnan(line->change))
        snprintf(change, sizeof(change), "%+.0f", line->change);
    if (line->user[0])
        snprintf(hurt, sizeof(hurt), "%s %+.0f", line->user, line->user_change_s);
    if (line->never_fit_count > 0)
        snprintf(fits, sizeof(fits), "; %.0f job%s", line->never_fit_count,
                 line->never_fit_count == 1 ? " never fits" : "s never fit");
    fprintf(to, "%-28s %12.0f %12.2f %10s %20s %-10s %s%s\n", line->id, line->mean_wait_s,
            line->slowdown, change, interval, line->verdict[0] ? line->verdict : "-",
            hurt, fits);
}

enum error_code what_if_print(const char *answer, FILE *to, struct arena *a,
                              struct error *err)
{
    const char *study = NULL, *base = NULL, *variants = NULL;
    struct json_walk w;
    struct table_row line;

    TRY(json_member(answer, "study", &study, a, err));
    if (study)
        TRY(json_member(study, "base", &base, a, err));
    if (study)
        TRY(json_member(study, "variants", &variants, a, err));
    if (!base || !variants)
        return fail(err, ERR_BUSY, "", "the time was up before the base was replayed");
    fprintf(to, "%-28s %12s %12s %10s %20s %-10s %s\n", "VARIANT", "MEAN WAIT",
            "SLOWDOWN", "CHANGE", "95 % FROM .. TO", "VERDICT", "HURT MOST");
    json_walk_open(&w, base, strlen(base), a);
    read_line(&w, &line);
    print_line(&line, to);
    json_walk_open(&w, variants, strlen(variants), a);
    json_walk_enter(&w, '[');
    while (json_walk_element(&w)) {
        read_line(&w, &line);
        print_line(&line, to);
    }
    return OK;
}
