/* request.c - the request for POST /v1/workflow-schedules whose answer is the plan of a
 * run, and that answer, by the same code.
 *
 * Tasks that wait for one that there is not, or that run on a resource that the snapshot
 * has no more, have no place in a schedule, nor has what depends on them: they are left
 * out, as are those that failed, were cancelled or are blocked, and the gangs of those
 * that cannot start. What has begun all the same stays, without such dependencies.
 */
#include "handlers/session_run/plan.h"

#include "algorithms/workflow/amounts.h"
#include "algorithms/workflow/list.h"
#include "handlers/workflow/workflow_progress.h"
#include "models/base/names.h"
#include "models/base/plural.h"
#include "models/base/pointer.h"
#include "service/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double NOT_A_CANDIDATE_S = 0.001; /* release of a ready one */

/* ---- which tasks, and as what ---- */

/* From the tasks of a run to those of a request. */
struct making {
    struct session_run *run;
    const struct session_times *times;
    bool *left_out, *behind; /* [task] */
    struct session_gangs gangs;
    size_t defaulted_count, lost_count, narrow_count, gang_count;
};

/* Whether the snapshot has all that an attempt is or was on. */
static bool has_hosts(const struct session_run *run, const struct session_attempt *t)
{
    return t && t->started &&
           session_places_known(run, session_places_started(t->started));
}

static bool has_place(struct making *m, size_t i)
{
    const struct session_task_state *of = &m->run->state.of[i];

    switch (of->status) {
    case SESSION_TASK_DONE:
        return true;
    case SESSION_TASK_RUNNING:
        if (has_hosts(m->run, of->shown))
            return true;
        m->lost_count++;
        return false;
    case SESSION_TASK_READY:
        return true;
    case SESSION_TASK_IDLE:
        return !of->waits_for_unknown;
    default:
        return false;
    }
}

static bool has_begun(const struct session_run *run, size_t i)
{
    return run->state.of[i].status == SESSION_TASK_DONE ||
           run->state.of[i].status == SESSION_TASK_RUNNING;
}

/* What depends on a marked task is marked, too, unless it has begun: an engine may start
 * what waits for a task that failed, or whose own events are not here yet. */
static void spread(const struct session_run *run, bool *mark)
{
    for (size_t n = 0; n < run->state.order_count; n++) {
        size_t i = run->state.order[n];
        const struct session_task *task = &run->graph[i];

        if (mark[i] || has_begun(run, i))
            continue;
        budget_step(&run->rq->finish, task->parent_count + 1);
        for (size_t k = 0; k < task->parent_count && !mark[i]; k++)
            mark[i] = task->parents[k] != SESSION_NO_TASK && mark[task->parents[k]];
    }
}

/* With the gangs of what is marked, and what depends on these. */
static void spread_all(const struct making *m, bool *mark)
{
    spread(m->run, mark);
    while (m->gangs.count && session_gangs_spread(m->run, &m->gangs, mark))
        spread(m->run, mark);
}

static void leave_out(struct making *m)
{
    const struct session_run *run = m->run;
    size_t before = 0, after = 0;

    spread(run, m->left_out);
    budget_step(&run->rq->finish, run->task_count);
    for (size_t i = 0; i < run->task_count; i++)
        before += m->gangs.of[i] != SESSION_NO_TASK && m->left_out[i];
    spread_all(m, m->left_out);
    for (size_t i = 0; i < run->task_count; i++)
        after += m->gangs.of[i] != SESSION_NO_TASK && m->left_out[i];
    m->gang_count = after - before;
}

static void choose_tasks(struct making *m, const struct session_candidates *candidates)
{
    struct session_run *run = m->run;
    struct arena *a = run->rq->arena;
    struct name_index named;

    m->left_out = NEW(a, bool, run->task_count);
    m->behind = NEW(a, bool, run->task_count);
    for (size_t i = 0; i < run->task_count; i++)
        m->left_out[i] = !has_place(m, i);
    session_gangs_of(run, &m->gangs);
    leave_out(m);
    if (!candidates->ids)
        return;
    name_index_create(&named, candidates->count, a);
    for (size_t i = 0; i < candidates->count; i++)
        name_index_add(&named, candidates->ids[i], i);
    for (size_t i = 0; i < run->task_count; i++)
        m->behind[i] = run->state.of[i].status == SESSION_TASK_READY &&
                       !run->granted[i] &&
                       name_index_find(&named, run->graph[i].id) == NAME_NOT_FOUND;
    spread_all(m, m->behind);
}

/* ---- one task ---- */

/* As many nodes as it has, whatever the task says: so many it holds. */
static void set_places(struct session_places places, struct workflow_task *out)
{
    out->resource_id = places.count == 1 ? places.ids[0] : NULL;
    out->resource_ids = places.count == 1 ? NULL : places.ids;
    out->resource_id_count = places.count == 1 ? 0 : places.count;
    out->nodes = places.count == 1 ? 0 : places.count;
}

static void set_done(const struct session_run *run, const struct session_attempt *t,
                     struct workflow_task *out)
{
    out->status = WORKFLOW_DONE;
    out->etc_s = NULL;
    out->etc_count = 0;
    if (!has_hosts(run, t))
        return;
    set_places(session_places_started(t->started), out);
    out->finish_s = fmin(0, t->terminal->observed_at_s - run->now_s);
    out->start_s = fmin(out->finish_s, t->started->observed_at_s - run->now_s);
}

static void set_running(const struct making *m, struct session_places places,
                        double since_s, double total_s, struct workflow_task *out)
{
    double elapsed_s = fmax(0, m->run->now_s - since_s);

    out->status = WORKFLOW_RUNNING;
    set_places(places, out);
    out->start_s = -elapsed_s;
    out->finish_s = session_remaining_s(total_s, elapsed_s);
}

/* Its time on each resource. */
static void set_times(struct making *m, size_t i, struct workflow_task *out)
{
    size_t count = m->run->world.resource_count;
    double *etc_s = NEW(m->run->rq->arena, double, count);
    bool defaulted = false;

    budget_step(&m->run->rq->finish, count);
    for (size_t r = 0; r < count; r++) {
        enum session_source source;

        etc_s[r] = session_time_s(m->times, i, r, &source);
        defaulted |= source == SESSION_FROM_DEFAULT;
    }
    out->etc_s = etc_s;
    out->etc_count = count;
    m->defaulted_count += defaulted && out->status == WORKFLOW_IDLE;
}

static double total_s_of(const struct making *m, size_t i)
{
    const struct session_attempt *t = m->run->state.of[i].shown;
    enum session_source source;
    double total_s =
        session_total_s(session_started_s(m->times, i, t->started, &source), t);

    return isnan(total_s) ? m->run->definition.default_ref_s : total_s;
}

/* Only what has begun depends on tasks that are left out. */
static void keep_dependencies(const struct making *m, size_t i, struct workflow_task *out)
{
    const struct session_task *task = &m->run->graph[i];
    struct workflow_dependency *kept;
    size_t count = 0, k = 0;

    budget_step(&m->run->rq->finish, task->parent_count + 1);
    while (k < task->parent_count && task->parents[k] != SESSION_NO_TASK &&
           !m->left_out[task->parents[k]])
        k++;
    if (k == task->parent_count)
        return;
    kept = NEW(m->run->rq->arena, struct workflow_dependency, task->parent_count);
    for (k = 0; k < task->parent_count; k++)
        if (task->parents[k] != SESSION_NO_TASK && !m->left_out[task->parents[k]])
            kept[count++] = out->depends_on[k];
    out->depends_on = kept;
    out->dependency_count = count;
}

static void set_task(struct making *m, size_t i, struct workflow_task *out)
{
    const struct session_run *run = m->run;
    const struct session_task_state *of = &run->state.of[i];
    const struct store_session_grant *grant = run->granted[i];

    *out = run->tasks[i].task;
    out->status = WORKFLOW_IDLE;
    out->resource_id = NULL;
    out->resource_ids = NULL;
    out->resource_id_count = 0;
    out->start_s = out->finish_s = NAN;
    out->progress_pct = out->elapsed_s = out->work_done_ref_s = NAN;
    out->progress_samples = NULL;
    out->progress_sample_count = 0;
    out->transfer_remaining_s = 0;
    if (of->status == SESSION_TASK_DONE) {
        set_done(run, of->shown, out);
        return;
    }
    set_times(m, i, out);
    if (of->status == SESSION_TASK_RUNNING) {
        set_running(m, session_places_started(of->shown->started),
                    of->shown->started->observed_at_s, total_s_of(m, i), out);
        m->narrow_count +=
            run->tasks[i].task.nodes > session_place_count(of->shown->started);
        return;
    }
    if (grant && session_places_known(run, session_places_granted(grant))) {
        set_running(m, session_places_granted(grant), grant->granted_at_s,
                    grant->run_time_s, out);
        return;
    }
    out->deferred = m->behind[i];
    if (m->behind[i] && of->status == SESSION_TASK_READY)
        out->release_s = fmax(out->release_s, NOT_A_CANDIDATE_S);
}

/* ---- the body ---- */

/* release_s counts from when the task came, not from now. */
static void warn(struct session_run *run, const struct making *m)
{
    if (m->defaulted_count)
        session_warn(run, "run_time_defaulted: %zu, of tasks of which nothing is known",
                     m->defaulted_count);
    if (m->lost_count)
        session_warn(run, "unknown_resource: %s %s not planned",
                     counted(m->lost_count, "running task").text,
                     plural(m->lost_count,
                            "is on a resource that the snapshot has not; what waits for "
                            "it is",
                            "are on resources that the snapshot has not; what waits for "
                            "them is"));
    if (m->narrow_count)
        session_warn(run,
                     "running_incomplete: %s of several nodes, whose `started` names "
                     "fewer: only these are taken",
                     counted(m->narrow_count, "running task").text);
    if (m->gang_count)
        session_warn(run,
                     "gang_held_back: %zu task%s in gangs with members that cannot "
                     "start: not planned",
                     m->gang_count, m->gang_count == 1 ? "" : "s");
}

static void set_options(struct session_run *run, struct workflow_body *body)
{
    const struct session_definition *d = &run->definition;
    struct named_value *options =
        NEW(run->rq->arena, struct named_value, d->option_count + 1);
    size_t count = d->option_count;

    for (size_t i = 0; i < count; i++)
        options[i] = d->options[i];
    if (d->moves == SESSION_MOVES_PAYING)
        options[count++] =
            (struct named_value){.name = "moves", .type = VALUE_TEXT, .text = "paying"};
    body->decision.algorithm = d->algorithm ? d->algorithm : "heft";
    body->decision.options = options;
    body->decision.option_count = count;
    body->decision.seed = d->seed;
    body->decision.time_limit_s = d->time_limit_s;
    if (isnan(d->time_limit_s) && strcmp(body->decision.algorithm, "search") == 0)
        body->decision.time_limit_s = 1;
}

enum error_code session_request(struct session_run *run,
                                const struct session_times *times,
                                const struct session_candidates *candidates,
                                struct workflow_body *body)
{
    struct making m = {.run = run, .times = times};
    struct request *rq = run->rq;
    struct workflow_task *tasks = NEW(rq->arena, struct workflow_task, run->task_count);
    struct workflow_request *workflow = NEW(rq->arena, struct workflow_request, 1);
    size_t count = 0;

    TRY(json_read(&workflow_schedules_request_json, "{}", 2, body, NULL, rq->arena,
                  rq->err)); /* the presets */
    choose_tasks(&m, candidates);
    for (size_t i = 0; i < run->task_count; i++)
        if (!m.left_out[i]) {
            set_task(&m, i, &tasks[count]);
            keep_dependencies(&m, i, &tasks[count++]);
        }
    warn(run, &m);
    workflow->workflow =
        (struct workflow){.id = run->definition.workflow->id,
                          .submitted_at_s = run->definition.workflow->submitted_at_s,
                          .tasks = tasks,
                          .task_count = count};
    body->kind = WORKFLOW_SCHEDULE;
    body->snapshot = &run->world;
    body->workflow = workflow;
    body->progress = WORKFLOW_PROGRESS_GIVEN;
    set_options(run, body);
    return OK;
}

const char *session_request_text(const struct workflow_body *body, struct arena *a)
{
    const struct workflow *w = &body->workflow->workflow;
    struct workflow_task *tasks = NEW(a, struct workflow_task, w->task_count);
    struct workflow_request workflow = *body->workflow;
    struct workflow_body printed = *body;
    struct text_buffer b = {.arena = a, .prints_request = true};

    for (size_t i = 0; i < w->task_count; i++) {
        tasks[i] = w->tasks[i];
        if (tasks[i].nodes == 0)
            tasks[i].nodes = JSON_NO_INTEGER;
    }
    workflow.workflow.tasks = tasks;
    printed.workflow = &workflow;
    json_print(&workflow_schedules_request_json, &printed, &b);
    text_add(&b, "", 1); /* the NUL */
    return text_end(&b);
}

/* ---- its answer ---- */

/* Ranks of the tasks of the body, by number. */
static enum error_code find_ranks(struct request *rq, const struct workflow_body *body,
                                  const double **ranks)
{
    struct workflow_problem *problem;
    struct workflow_call call;
    double *up;

    TRY(workflow_call_begin(&call, rq, body));
    TRY(workflow_problem_make(&call.in, false, &problem, rq->arena, rq->err));
    workflow_ranks(problem, &up, NULL, rq->arena);
    workflow_defer(problem, up);
    *ranks = up;
    return OK;
}

/* A member of the answer, as it has it. */
static const char *member_of(const struct workflow_schedule_answer *answer,
                             const char *name, struct arena *a)
{
    const struct json_object *table = &workflow_schedule_answer_json;
    struct json_field fields[2] = {{0}};
    struct json_object one = {table->name, table->doc, table->size, fields};
    struct text_buffer b = {.arena = a};
    size_t head = strlen(name) + 4; /* {"NAME": */
    char *text;

    for (const struct json_field *f = table->fields; f->type != JSON_END; f++)
        if (strcmp(f->name, name) == 0)
            fields[0] = *f;
    json_print(&one, answer, &b);
    text_add(&b, "", 1);
    text = text_end(&b);
    text[strlen(text) - 1] = '\0'; /* } */
    return text + head;
}

/* Than its resource: other nodes, shared amounts, its gang. */
static bool needs_more(const struct session_run *run, const struct workflow_task *t,
                       const struct workflow_placement *p)
{
    return p->resource_id_count > 1 ||
           (run->world.shared_capacity_count && t->need_count) ||
           (t->group && t->group->policy == JOB_GANG);
}

static void keep_rows(struct session_run *run, const struct workflow_body *body,
                      const struct workflow_out *out, const double *ranks,
                      struct session_plan *plan)
{
    const struct workflow_task *tasks = body->workflow->workflow.tasks;
    struct session_plan_row *rows =
        NEW(run->rq->arena, struct session_plan_row, out->schedule_count);
    size_t count = 0;

    for (size_t i = 0; i < out->schedule_count; i++) {
        const struct workflow_placement *p = &out->schedule[i];

        if (p->status == WORKFLOW_DONE)
            continue;
        rows[count++] = (struct session_plan_row){
            .task_id = p->task_id,
            .resource_id = p->resource_id,
            .resource_ids = p->resource_ids,
            .resource_id_count = p->resource_id_count,
            .start_s = isnan(p->start_s) ? 0 : p->start_s,
            .finish_s = p->finish_s,
            .rank_s = ranks[p->task],
            .many = needs_more(run, &tasks[p->task], p),
        };
    }
    plan->rows = rows;
    plan->row_count = count;
}

static void keep_moves(struct session_run *run, const struct workflow_out *out,
                       struct session_plan *plan)
{
    struct session_plan_move *moves =
        NEW(run->rq->arena, struct session_plan_move, out->reschedule_count);
    size_t count = 0;

    for (size_t i = 0; i < out->reschedule_count; i++)
        if (out->reschedules[i].to_resource_id)
            moves[count++] = (struct session_plan_move){
                out->reschedules[i].task_id, out->reschedules[i].from_resource_id,
                out->reschedules[i].to_resource_id, out->reschedules[i].gain_s};
    plan->moves = moves;
    plan->move_count = count;
}

/* As a replay is answered: nothing is stored, and no picture is drawn. */
static struct request request_beside(struct request *rq, struct reply *reply)
{
    struct request again = *rq;
    enum error_code code;
    char allow[80];

    *reply = (struct reply){.status = 200};
    again.route =
        route_find(rq->service->routes, "POST", "/v1/workflow-schedules", allow, &code);
    again.reply = reply;
    again.replay = true;
    again.cpu_began_s = NAN;
    again.snapshot_document = again.history_document = NULL;
    again.notes = NULL;
    again.note_count = 0;
    again.message = rq->message;
    return again;
}

enum error_code session_plan_make(struct session_run *run,
                                  const struct session_times *times,
                                  const struct session_candidates *candidates,
                                  struct session_plan *plan)
{
    const struct workflow_schedule_answer *answer;
    struct request *rq = run->rq, again;
    struct json_of_kind of = {0};
    struct workflow_body body;
    const double *ranks;
    struct reply reply;

    TRY(session_request(run, times, candidates, &body));
    again = request_beside(rq, &reply);
    request_set_time_limit(&again, NAN);
    TRY(post_workflow_schedules(&again, &body, &of));
    rq->db = again.db;
    answer = of.value;
    TRY(find_ranks(&again, &body, &ranks));
    *plan = (struct session_plan){
        .revision = run->revision,
        .planned_at_s = run->now_s,
        .algorithm = answer->plan.algorithm,
        .status = decision_status_names[answer->decision.status],
        .candidates = session_candidates_key(candidates, rq->arena),
        .warnings = answer->decision.warnings,
        .warning_count = answer->decision.warning_count,
        .over_s = NAN,
    };
    plan->schedule = member_of(answer, "schedule", rq->arena);
    plan->unplaced = member_of(answer, "unplaced", rq->arena);
    plan->objective = member_of(answer, "objective", rq->arena);
    keep_rows(run, &body, &answer->plan, ranks, plan);
    keep_moves(run, &answer->plan, plan);
    return OK;
}

enum error_code session_ranks(struct session_run *run, const struct session_times *times,
                              struct name_index *ids, const double **ranks)
{
    struct session_candidates all = {0};
    struct workflow_body body;
    struct request again;
    struct reply reply;
    const struct workflow *w;

    TRY(session_request(run, times, &all, &body));
    again = request_beside(run->rq, &reply);
    TRY(find_ranks(&again, &body, ranks));
    w = &body.workflow->workflow;
    name_index_create(ids, w->task_count, run->rq->arena);
    for (size_t i = 0; i < w->task_count; i++)
        if (w->tasks[i].status != WORKFLOW_DONE)
            name_index_add(ids, w->tasks[i].id, i);
    return OK;
}

/* ---- what is wrong with it ---- */

/* The same graph with nothing done, so that all of it is looked at; without what is not
 * known, which may come. */
static struct workflow_task *whole_graph(const struct session_run *run)
{
    struct arena *a = run->rq->arena;
    struct workflow_task *tasks = NEW(a, struct workflow_task, run->task_count);

    for (size_t i = 0; i < run->task_count; i++) {
        const struct workflow_task *from = &run->tasks[i].task;
        struct workflow_dependency *list =
            NEW(a, struct workflow_dependency, from->dependency_count);
        size_t count = 0;

        budget_step(&run->rq->finish, from->dependency_count + 1);
        for (size_t k = 0; k < from->dependency_count; k++)
            if (run->graph[i].parents[k] != SESSION_NO_TASK)
                list[count++] = from->depends_on[k];
        tasks[i] = *from;
        tasks[i].depends_on = list;
        tasks[i].dependency_count = count;
        tasks[i].status = WORKFLOW_IDLE;
        tasks[i].resource_id = NULL;
        tasks[i].resource_ids = NULL;
        tasks[i].resource_id_count = 0;
        tasks[i].start_s = tasks[i].finish_s = NAN;
    }
    return tasks;
}

/* By a plan of nothing. */
static enum error_code check_options(struct request *rq, const struct workflow_call *call,
                                     const struct policy *policy,
                                     const struct decision_request *decision)
{
    struct workflow none = {.submitted_at_s = NAN};
    struct workflow_in in = call->in;
    struct workflow_out ignored;

    in.workflows = &none;
    return workflow_decide(&in, policy, decision->options, decision->option_count,
                           &ignored, rq->arena, rq->err);
}

enum error_code session_request_check(struct session_run *run)
{
    struct workflow_request workflow = {.workflow = {.submitted_at_s = NAN,
                                                     .tasks = whole_graph(run),
                                                     .task_count = run->task_count}};
    const struct policy *policy;
    struct request *rq = run->rq;
    struct workflow_problem *problem;
    struct workflow_amounts *amounts;
    struct workflow_body body;
    struct workflow_call call;

    TRY(json_read(&workflow_schedules_request_json, "{}", 2, &body, NULL, rq->arena,
                  rq->err));
    body.snapshot = &run->world;
    body.workflow = &workflow;
    body.progress = WORKFLOW_PROGRESS_GIVEN;
    set_options(run, &body);
    policy = policy_find(workflow_policies, body.decision.algorithm);
    if (!policy && policy_find(workflow_round_policies, body.decision.algorithm))
        invalid(rq->err, "/algorithm", ITEM_INVALID_COMBINATION,
                "%.60s decides single rounds; a session needs one that plans to the end",
                body.decision.algorithm);
    else if (!policy)
        decision_unknown_policy(body.decision.algorithm, workflow_policies, rq->err);
    TRY(workflow_call_begin(&call, rq, &body));
    TRY(workflow_problem_make(&call.in, false, &problem, rq->arena, rq->err));
    if (workflow_amounts_asked(&call.in))
        TRY(workflow_amounts_make(problem, &amounts, rq->arena, rq->err));
    return check_options(rq, &call, policy, &body.decision);
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

const char *session_candidates_key(const struct session_candidates *candidates,
                                   struct arena *a)
{
    struct text_buffer b = {.arena = a};
    const char **ids;

    if (!candidates->ids)
        return NULL;
    ids = NEW(a, const char *, candidates->count);
    for (size_t i = 0; i < candidates->count; i++)
        ids[i] = candidates->ids[i];
    if (candidates->count > 1)
        qsort(ids, candidates->count, sizeof(*ids), by_text);
    for (size_t i = 0; i < candidates->count; i++) {
        if (i && strcmp(ids[i], ids[i - 1]) == 0)
            continue;
        json_print_text(ids[i], &b);
    }
    text_add(&b, "", 1);
    return text_end(&b);
}
