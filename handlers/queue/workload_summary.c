/* workload_summary.c - GET /v1/workloads/{workload_id}/summary: who asked for what, and
 * when. */
#include "handlers/queue/workload_summary.h"

#include "algorithms/queue/spread.h"
#include "handlers/stored/uploads.h"
#include "handlers/stored/workload_log.h"

#include <math.h>
#include <stdlib.h>

static const double WEEK_S = 604800;

enum {
    ROWS_MAX = 100,        /* of users and partitions */
    WEEK_ROWS_MAX = 10000, /* 192 years of which every week has a job */
    JOB_STEPS = 256        /* what a job costs, about: read, sorted three times */
};

struct summary_row {
    const char *key;
    uint64_t job_count;
    double core_s;
};

struct summary_week {
    double from_s, core_s, load_ratio;
    uint64_t job_count;
};

struct summary {
    const char *id;
    uint64_t job_count, user_count, partition_count, week_count;
    double first_submit_s, last_submit_s, span_s, core_s, processors, load_ratio;
    const struct summary_row *users, *partitions;
    size_t user_rows, partition_rows;
    const struct summary_week *weeks;
    size_t week_rows;
};

#define T struct summary_row
static const struct json_field row_rows[] = {
    JSON_TEXT(
        T, key, 0,
        "Its number in the log, its name in accounting, or 'unknown'; 'others': all "
        "beyond the first 100"),
    JSON_INTEGER(T, job_count, 0, JSON_EXACT, 0, 0, "Its usable jobs"),
    JSON_NUMBER(T, core_s, 0, 0, 0, 0, "Their processors times their run times"),
    {0},
};
#undef T
static const struct json_object row_json = {"WorkloadGroup",
                                            "Jobs of a user, or of a partition",
                                            sizeof(struct summary_row), row_rows};

#define T struct summary_week
static const struct json_field week_rows[] = {
    JSON_NUMBER(T, from_s, 0, 0, 0, 0,
                "When it begins, on the scale of the log; weeks are counted from the "
                "first arrival"),
    JSON_INTEGER(T, job_count, 0, JSON_EXACT, 0, 0, "Usable jobs that arrived in it"),
    JSON_NUMBER(T, core_s, 0, 0, 0, 0, "Their processors times their run times"),
    JSON_NUMBER(T, load_ratio, 0, 0, 0, JSON_OPTIONAL,
                "That, of the week times all processors; left out when the log does not "
                "say how many there are (MaxProcs, else MaxNodes)"),
    {0},
};
#undef T
static const struct json_object week_json = {"WorkloadWeek",
                                             "A week in which jobs arrived",
                                             sizeof(struct summary_week), week_rows};

#define T struct summary
static const struct json_field summary_rows[] = {
    JSON_TEXT(T, id, 0, "Name of the upload"),
    JSON_INTEGER(T, job_count, 0, JSON_EXACT, 0, 0, "Usable jobs"),
    JSON_NUMBER(T, first_submit_s, 0, 0, 0, 0, "Arrival of the first job"),
    JSON_NUMBER(T, last_submit_s, 0, 0, 0, 0, "Arrival of the last job"),
    JSON_NUMBER(T, span_s, 0, 0, 0, 0, "Between these two"),
    JSON_NUMBER(T, core_s, 0, 0, 0, 0, "Processors times run times of all jobs"),
    JSON_NUMBER(T, processors, 0, 0, 0, JSON_OPTIONAL | JSON_WHOLE,
                "Of the cluster, as the log says (MaxProcs, else MaxNodes)"),
    JSON_NUMBER(T, load_ratio, 0, 0, 0, JSON_OPTIONAL,
                "core_s, of span_s times all processors; left out when either is not "
                "known or 0"),
    JSON_INTEGER(T, user_count, 0, JSON_EXACT, 0, 0, "Users; those not known are one"),
    JSON_LIST(T, users, user_rows, struct summary_row, &row_json, 0, 0,
              "Those with most core_s first"),
    JSON_INTEGER(T, partition_count, 0, JSON_EXACT, 0, 0, "Partitions, likewise"),
    JSON_LIST(T, partitions, partition_rows, struct summary_row, &row_json, 0, 0,
              "Likewise"),
    JSON_INTEGER(T, week_count, 0, JSON_EXACT, 0, 0, "Weeks in which jobs arrived"),
    JSON_LIST(T, weeks, week_rows, struct summary_week, &week_json, 0, 0,
              "In their order, the first 10000"),
    {0},
};
#undef T
const struct json_object workload_summary_json = {"WorkloadOverview",
                                                  "Who asked for what, and when",
                                                  sizeof(struct summary), summary_rows};

/* A job takes what it asked for as long as it ran, from its arrival on: all that tables
 * and weeks need. */
static struct queue_outcome *asked_for(const struct swf_log *log, struct arena *a)
{
    struct queue_outcome *list = NEW(a, struct queue_outcome, log->count);

    for (size_t i = 0; i < log->count; i++) {
        const struct swf_job *job = &log->jobs[i];
        struct queue_outcome *o = &list[i];

        o->submit_s = o->start_s = job->submit_s;
        o->run_s = o->response_s = job->run_s;
        o->cores = ceil(swf_processors(job));
        o->bounded = 1;
#define X(symbol, column) o->key[QUEUE_KEY_##symbol] = job->column;
        QUEUE_KEYS(X)
#undef X
    }
    return list;
}

static const struct summary_row *tabulate(const struct queue_outcome *jobs, size_t count,
                                          enum queue_key key,
                                          const struct slurm_names *names,
                                          size_t *row_count, uint64_t *group_count,
                                          struct arena *a)
{
    struct queue_table table;
    struct summary_row *rows;

    queue_tabulate(jobs, count, (int)key, ROWS_MAX, &table, a);
    rows = NEW(a, struct summary_row, table.count);
    for (size_t i = 0; i < table.count; i++) {
        const struct queue_group *g = &table.groups[i];

        rows[i] = (struct summary_row){g->is_others    ? "others"
                                       : isnan(g->key) ? "unknown"
                                                       : workload_name(names, g->key, a),
                                       g->job_count, g->core_s};
    }
    *row_count = table.count;
    *group_count = table.count - (table.rest_count > 0) + table.rest_count;
    return rows;
}

/* The jobs are in the order of arrival. */
static void list_weeks(const struct queue_outcome *jobs, size_t count, struct summary *s,
                       struct arena *a)
{
    struct summary_week *weeks = NEW(a, struct summary_week, WEEK_ROWS_MAX);
    double last = -1;

    for (size_t i = 0; i < count; i++) {
        double week = floor((jobs[i].submit_s - s->first_submit_s) / WEEK_S);
        struct summary_week *w;

        if (week != last && s->week_count++ < WEEK_ROWS_MAX)
            weeks[s->week_rows++].from_s = s->first_submit_s + week * WEEK_S;
        last = week;
        if (s->week_count > WEEK_ROWS_MAX)
            continue;
        w = &weeks[s->week_rows - 1];
        w->job_count++;
        w->core_s += jobs[i].cores * jobs[i].run_s;
    }
    for (size_t i = 0; i < s->week_rows; i++)
        weeks[i].load_ratio = weeks[i].core_s / (WEEK_S * s->processors);
    s->weeks = weeks;
}

enum error_code get_workload_summary(struct request *rq, const void *in, void *out)
{
    struct summary *s = out;
    struct store_trace trace = {0};
    struct workload_log *read = NEW(rq->arena, struct workload_log, 1);
    const struct slurm_workload *names;
    struct swf_header header;
    struct swf_log log;
    struct queue_outcome *jobs;
    struct db_session *db;

    (void)in;
    TRY(request_db(rq, &db));
    TRY(store_trace_read(db, rq->principal.tenant, STORE_WORKLOAD, rq->path_value[0],
                         true, &trace, rq->arena, rq->err));
    TRY(workload_log_load(db, rq->principal.tenant, &trace, read, rq->arena, rq->err));
    log = read->log;
    header = read->header;
    names = read->accounting;
    TRY(json_go_on(JOB_STEPS * log.count, rq->err));
    jobs = asked_for(&log, rq->arena);
    s->id = trace.trace_id;
    s->job_count = log.count;
    s->processors = floor(isnan(header.max_procs) ? header.max_nodes : header.max_procs);
    if (!(s->processors >= 1 && s->processors <= JSON_EXACT))
        s->processors = (double)NAN;
    s->first_submit_s = log.count ? jobs[0].submit_s : 0;
    s->last_submit_s = log.count ? jobs[log.count - 1].submit_s : 0;
    s->span_s = s->last_submit_s - s->first_submit_s;
    for (size_t i = 0; i < log.count; i++)
        s->core_s += jobs[i].cores * jobs[i].run_s;
    s->load_ratio = s->span_s > 0 ? s->core_s / (s->span_s * s->processors) : (double)NAN;
    s->users = tabulate(jobs, log.count, QUEUE_KEY_USER, names ? &names->user : NULL,
                        &s->user_rows, &s->user_count, rq->arena);
    s->partitions =
        tabulate(jobs, log.count, QUEUE_KEY_PARTITION, names ? &names->partition : NULL,
                 &s->partition_rows, &s->partition_count, rq->arena);
    list_weeks(jobs, log.count, s, rq->arena);
    return OK;
}
