/* what_if.c - gridplan slurm what-if: a study of what accounting has, as a request, and
 * its answer as a table. */
#include "service/client/what_if.h"

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

/* "like=node1,count=4": CPUs that are added. */
static enum error_code added_cpus(const struct what_if *w, const char *text, double *more,
                                  struct arena *a, struct error *err)
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
    *more = like * (double)count;
    return OK;
}

/* ---- the request ---- */

static void print_log(const struct slurm_workload *log, struct text_buffer *out,
                      struct arena *a)
{
    struct text_buffer text = {.arena = a};
    char line[SWF_LINE_BYTES];

    for (size_t i = 0; i < log->job_count; i++) {
        text_add(&text, line, swf_print_job(&log->jobs[i], line, sizeof(line)));
        text_add(&text, "\n", 1);
    }
    text_add(&text, "", 1);
    if (text.failed)
        out->failed = true;
    else
        json_print_text(text.data, out);
}

static void print_variant(struct text_buffer *out, bool *first, const char *name,
                          const char *policy, double processors)
{
    text_addf(out, "%s{\"id\": ", *first ? "" : ", ");
    *first = false;
    json_print_text(name, out);
    if (policy) {
        text_addf(out, ", \"policy\": ");
        json_print_text(policy, out);
    }
    if (processors > 0)
        text_addf(out, ", \"cluster_changes\": {\"processors\": %.0f}", processors);
    text_addf(out, "}");
}

enum error_code what_if_request(const struct what_if *w, struct text_buffer *out,
                                struct arena *a, struct error *err)
{
    static const char *const usual[] = {"conservative", "easy_sjbf", "fcfs"};
    bool chosen = w->policy_count || w->node_count, first = true;
    const char *const *policies = chosen ? w->policies : usual;
    size_t policy_count = chosen ? w->policy_count : 3;
    double like, cpus = count_cpus(w->cluster, NULL, &like, a);

    if (!(cpus >= 1))
        return fail(err, ERR_INVALID, "sinfo", "the cluster has no CPUs");
    text_addf(out, "{\"kind\": \"queue\", \"processors\": %.0f, \"swf\": ", cpus);
    print_log(&w->workload, out, a);
    text_addf(out, ", \"study\": {\"base\": {\"id\": \"now\", \"policy\": \"easy\"}, "
                   "\"variants\": [");
    for (size_t i = 0; i < policy_count; i++)
        print_variant(out, &first, policies[i], policies[i], 0);
    for (size_t i = 0; i < w->node_count; i++) {
        double more;

        TRY(added_cpus(w, w->nodes[i], &more, a, err));
        print_variant(out, &first, w->nodes[i], NULL, cpus + more);
    }
    text_addf(out, "]}}");
    return OK;
}

/* ---- the answer ---- */

struct table_row {
    char id[256], verdict[16], absent[16];
    double mean_wait_s, slowdown, change, low, high, better;
    char user[64]; /* who is hurt most; "": nobody */
    double user_change_s;
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
static void read_hurt(const struct what_if *what, struct json_walk *w,
                      struct table_row *line)
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
            if (strcmp(name, "user") == 0 && json_walk_type(w) == '"') {
                const char *text = json_walk_string(w);
                size_t number = (size_t)strtoul(text, NULL, 10);
                bool known = number >= 1 && number <= what->workload.user.count;

                snprintf(line->user, sizeof(line->user), "%s",
                         known ? what->workload.user.name[number] : text);
            } else if (strcmp(name, "mean_wait_change_s") == 0)
                line->user_change_s = json_walk_number(w);
            else
                json_walk_skip(w);
    }
}

static void read_line(const struct what_if *what, struct json_walk *w,
                      struct table_row *line)
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
        else if (strcmp(name, "verdict") == 0)
            snprintf(line->verdict, sizeof(line->verdict), "%s", json_walk_string(w));
        else if (strcmp(name, "interval_absent") == 0)
            snprintf(line->absent, sizeof(line->absent), "%s", json_walk_string(w));
        else if (strcmp(name, "figures") == 0)
            read_figures(w, line);
        else if (strcmp(name, "vs_base") == 0)
            read_comparison(w, line);
        else if (strcmp(name, "worst_hurt_users") == 0)
            read_hurt(what, w, line);
        else
            json_walk_skip(w);
}

static void print_line(const struct table_row *line, FILE *to)
{
    char interval[64] = "-", hurt[128] = "-", change[32] = "-";

    if (!isnan(line->low))
        snprintf(interval, sizeof(interval), "%.0f .. %.0f", line->low, line->high);
    else if (line->absent[0])
        snprintf(interval, sizeof(interval), "%s", line->absent);
    if (!isnan(line->change))
        snprintf(change, sizeof(change), "%+.0f", line->change);
    if (line->user[0])
        snprintf(hurt, sizeof(hurt), "%s %+.0f", line->user, line->user_change_s);
    fprintf(to, "%-28s %12.0f %12.2f %10s %20s %-10s %s\n", line->id, line->mean_wait_s,
            line->slowdown, change, interval, line->verdict[0] ? line->verdict : "-",
            hurt);
}

enum error_code what_if_print(const struct what_if *what, const char *answer, FILE *to,
                              struct arena *a, struct error *err)
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
    read_line(what, &w, &line);
    print_line(&line, to);
    json_walk_open(&w, variants, strlen(variants), a);
    json_walk_enter(&w, '[');
    while (json_walk_element(&w)) {
        read_line(what, &w, &line);
        print_line(&line, to);
    }
    return OK;
}
