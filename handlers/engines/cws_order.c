/* cws_order.c - in which order the tasks of a run of nf-cws should go.
 *
 * By the rank of their process (cws_graph.h), the greatest first, from the mean run times
 * that executions of cws/PROCESS had; by arrival with the strategy fifo. All of it is
 * read from the database, so every replica says the same.
 */
#include "handlers/engines/routes.h"

#include "models/base/names.h"
#include "models/base/plural.h"
#include "service/metrics.h"
#include "service/service.h"
#include "service/store_cws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a process that has never run, when none of the graph has, as of a task of a session;
 * else it takes as long as they do on average. */
static const double DEFAULT_S = 60;

struct process_row {
    const char *process;
    double run_time_s, rank_s;
    bool is_learnt;
};

struct task_row {
    uint64_t task_id, attempt;
    const char *process, *pod, *state;
    double rank_s; /* NAN: its process is not in the graph */
    size_t arrival;
};

struct run_order {
    const char *run, *strategy, *order;
    uint64_t vertex_count, edge_count;
    const struct process_row *processes;
    size_t process_count;
    const struct task_row *tasks;
    size_t task_count;
    const char *warnings[3], *const *warning_list;
    size_t warning_count;
};

static const char *const orders[] = {"rank", "arrival", NULL};

#define T struct process_row
static const struct json_field process_rows[] = {
    JSON_TEXT(T, process, 0, "The process"),
    JSON_NUMBER(T, run_time_s, 0, 0, 0, 0,
                "Mean of its executions that went well, seconds; without any the mean of "
                "the other processes, or 60"),
    JSON_BOOLEAN(T, is_learnt, false, 0, "Whether it had executions"),
    JSON_NUMBER(T, rank_s, 0, 0, 0, 0,
                "The longest path from its beginning to the end of the graph, seconds"),
    {0},
};
#undef T
static const struct json_object process_json = {"CwsProcess", "A process of a run",
                                                sizeof(struct process_row), process_rows};

#define T struct task_row
static const struct json_field task_rows[] = {
    JSON_INTEGER(T, task_id, 0, JSON_EXACT, 0, 0, "Nextflow's number of it"),
    JSON_TEXT(T, process, 0, "Its process"),
    JSON_TEXT(T, pod, JSON_OPTIONAL, "Its pod"),
    JSON_INTEGER(T, attempt, 1, JSON_EXACT, 1, 0, "Which try it is"),
    JSON_WORD(T, state, store_cws_state_names, 0, "UNSCHEDULED, SCHEDULED or FINISHED"),
    JSON_NUMBER(T, rank_s, 0, 0, 0, JSON_OPTIONAL,
                "Rank of its process; left out when the graph has no such process"),
    {0},
};
#undef T
static const struct json_object task_json = {"CwsTaskOrder", "A task of a run",
                                             sizeof(struct task_row), task_rows};

#define T struct run_order
static const struct json_field order_rows[] = {
    JSON_TEXT(T, run, 0, "Nextflow's name of the run"),
    JSON_TEXT(T, strategy, JSON_OPTIONAL, "What the run asked for"),
    JSON_WORD(T, order, orders, 0, "arrival: of the strategy fifo; rank: of any other"),
    JSON_INTEGER(T, vertex_count, 0, JSON_EXACT, 0, 0, "Vertices of its graph"),
    JSON_INTEGER(T, edge_count, 0, JSON_EXACT, 0, 0, "Edges with both ends"),
    JSON_LIST(T, processes, process_count, struct process_row, &process_json, 0, 0,
              "Its processes as the graph came"),
    JSON_LIST(T, tasks, task_count, struct task_row, &task_json, 0, 0,
              "Its tasks in the order in which they should go, those that are known no "
              "more than by name last"),
    {.name = "warnings",
     .doc = "What the caller should know",
     .type = JSON_TYPE_TEXTS,
     .offset = offsetof(T, warning_list),
     .count_offset = JSON_AT(T, warning_count, size_t)},
    {0},
};
#undef T
const struct json_object cws_order_json = {"CwsRunOrder",
                                           "The order of the tasks of a run of nf-cws",
                                           sizeof(struct run_order), order_rows};

/* ---- run times ---- */

/* Of each vertex; what is no process takes none. *learnt, of each. */
static enum error_code read_times(struct request *rq, struct db_session *db,
                                  const struct store_cws_run *run, double *time_s,
                                  bool *learnt)
{
    struct store_cws_time *asked, *told;
    size_t count = 0, found;
    double sum_s = 0;

    asked = NEW(rq->arena, struct store_cws_time, run->vertex_count);
    for (size_t i = 0; i < run->vertex_count; i++)
        if (cws_is_process(&run->vertices[i]))
            asked[count++] =
                (struct store_cws_time){.application_id = arena_printf(
                                            rq->arena, "cws/%s", run->vertices[i].label),
                                        .number = i};
    TRY(store_cws_times(db, rq->principal.tenant, asked, count, &told, &found, rq->arena,
                        rq->err));
    for (size_t i = 0; i < found; i++) {
        time_s[told[i].number] = told[i].run_time_s;
        learnt[told[i].number] = true;
        sum_s += told[i].run_time_s;
    }
    for (size_t i = 0; i < run->vertex_count; i++)
        if (cws_is_process(&run->vertices[i]) && !learnt[i])
            time_s[i] = found ? sum_s / (double)found : DEFAULT_S;
    return OK;
}

/* ---- the order ---- */

static int by_arrival(const void *left, const void *right)
{
    const struct task_row *l = left, *r = right;

    return (l->arrival > r->arrival) - (l->arrival < r->arrival);
}

static int by_rank(const void *left, const void *right)
{
    const struct task_row *l = left, *r = right;
    double l_s = isnan(l->rank_s) ? -1 : l->rank_s;
    double r_s = isnan(r->rank_s) ? -1 : r->rank_s;

    if (l_s != r_s)
        return l_s > r_s ? -1 : 1;
    return by_arrival(left, right);
}

__attribute__((format(printf, 4, 5))) static void
warn(struct request *rq, struct run_order *out, size_t count, const char *format, ...)
{
    va_list args;

    if (count == 0)
        return;
    va_start(args, format);
    out->warnings[out->warning_count++] = arena_vprintf(rq->arena, format, args);
    va_end(args);
    out->warning_list = out->warnings;
}

static void list_processes(struct request *rq, const struct store_cws_run *run,
                           const double *time_s, const bool *learnt, const double *rank_s,
                           struct run_order *out)
{
    struct process_row *list = NEW(rq->arena, struct process_row, run->vertex_count);
    size_t unknown = 0;

    for (size_t i = 0; i < run->vertex_count; i++) {
        if (!cws_is_process(&run->vertices[i]))
            continue;
        list[out->process_count++] =
            (struct process_row){run->vertices[i].label, time_s[i], rank_s[i], learnt[i]};
        unknown += !learnt[i];
    }
    out->processes = list;
    warn(rq, out, unknown, "run_times_guessed: %zu %s no executions that went well yet",
         unknown, plural(unknown, "process has", "processes have"));
}

/* Of two vertices of one name the first is a task's: which one is not said. */
static void list_tasks(struct request *rq, const struct store_cws_run *run,
                       struct run_order *out)
{
    struct task_row *list = NEW(rq->arena, struct task_row, run->task_count);
    struct name_index names;

    name_index_create(&names, out->process_count, rq->arena);
    for (size_t i = 0; i < out->process_count; i++)
        name_index_add(&names, out->processes[i].process, i);
    for (size_t i = 0; i < run->task_count; i++) {
        const struct store_cws_task *t = &run->tasks[i];
        size_t at = name_index_find(&names, t->process);

        list[i] = (struct task_row){
            t->task_id, t->attempt,
            t->process, t->pod,
            t->state,   at == NAME_NOT_FOUND ? (double)NAN : out->processes[at].rank_s,
            i};
    }
    if (run->task_count > 1)
        qsort(list, run->task_count, sizeof(*list),
              strcmp(out->order, "arrival") == 0 ? by_arrival : by_rank);
    out->tasks = list;
    out->task_count = run->task_count;
}

enum error_code get_cws_run(struct request *rq, const void *in, void *out)
{
    struct run_order *answer = out;
    struct store_cws_run run;
    struct db_session *db;
    double *time_s, *rank_s;
    size_t cut, loose;
    bool *learnt, found;

    (void)in;
    TRY(request_db(rq, &db));
    TRY(store_cws_read(db, rq->principal.tenant, rq->path_value[0], &run, &found,
                       rq->arena, rq->err));
    if (!found)
        return fail(rq->err, ERR_MALFORMED, "", "there is no run '%.100s'",
                    rq->path_value[0]);
    time_s = NEW(rq->arena, double, run.vertex_count);
    rank_s = NEW(rq->arena, double, run.vertex_count);
    learnt = NEW(rq->arena, bool, run.vertex_count);
    TRY(read_times(rq, db, &run, time_s, learnt));
    cws_ranks(run.vertices, time_s, run.vertex_count, run.edges, run.edge_count, rank_s,
              &cut, &loose, &rq->finish, rq->arena);
    *answer = (struct run_order){
        .run = rq->path_value[0],
        .strategy = run.strategy,
        .order = orders[run.strategy && strncmp(run.strategy, "fifo", 4) == 0],
        .vertex_count = run.vertex_count,
        .edge_count = run.edge_count,
    };
    warn(rq, answer, cut, "cycle: %s %s cut", counted(cut, "edge").text,
         plural(cut, "that closes one is", "that close one are"));
    warn(rq, answer, loose, "unknown_vertex: %s %s where no vertex is",
         counted(loose, "edge").text, plural(loose, "ends", "end"));
    list_processes(rq, &run, time_s, learnt, rank_s, answer);
    list_tasks(rq, &run, answer);
    return OK;
}
