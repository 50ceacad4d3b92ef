/* learnt.c - what models say of the run times of a session's tasks.
 *
 * A task that has no time of its own asks the model that it names, else that of its
 * class, APPLICATION/CLASS, if there is one: runs of earlier sessions have taught it.
 * Which classes have one is a single question to the database.
 */
#include "handlers/session_run/run.h"

#include "handlers/model/model_learn.h"
#include "models/base/names.h"
#include "models/base/plural.h"
#include "models/base/pointer.h"
#include "service/store_model.h"

#include <string.h>

enum { CLASSES_MAX = 1000 }; /* each is a look into the database */

struct session_learnt {
    const struct job *jobs; /* [task]: etc_s or estimate_s where a model tells */
    const struct run_times *times;
    struct run_time_teller *teller;
};

static bool has_time(const struct workflow_task *t)
{
    return t->etc_count || !isnan(t->estimate_ref_s) || !isnan(t->estimate_s);
}

static bool names_model(const struct session_task_body *task)
{
    return task->model && (task->model->model_id || task->model->application_id);
}

/* The application of a task's class. */
static const char *application_of(const struct session_run *run, size_t task)
{
    const struct session_task_body *body = &run->tasks[task];

    return arena_printf(run->rq->arena, "%s/%s", run->row.application_id,
                        session_class_of(body));
}

/* Classes of tasks that ask, as a JSON list; *count of them, at most CLASSES_MAX. */
static const char *classes_asked(struct session_run *run, size_t *count)
{
    struct text_buffer b = {.arena = run->rq->arena};
    struct name_index seen;
    size_t more = 0;

    name_index_create(&seen, run->task_count, run->rq->arena);
    text_addf(&b, "[");
    for (size_t i = 0; i < run->task_count; i++) {
        const struct session_task_body *task = &run->tasks[i];

        budget_step(&run->rq->finish, 4);
        if (has_time(&task->task) || names_model(task) ||
            name_index_add(&seen, session_class_of(task), i) != NAME_NOT_FOUND)
            continue;
        if (*count == CLASSES_MAX) {
            more++;
            continue;
        }
        text_addf(&b, (*count)++ ? "," : "");
        json_print_text(application_of(run, i), &b);
    }
    text_addf(&b, "]");
    text_add(&b, "", 1);
    if (more)
        session_warn(run,
                     "classes_not_asked: models are looked for of the first %d classes; "
                     "%zu more %s not",
                     CLASSES_MAX, more, plural(more, "is", "are"));
    return text_end(&b);
}

/* Names of applications that have a model. */
static enum error_code find_known(struct session_run *run, struct name_index *known)
{
    const struct store_application *list;
    struct request *rq = run->rq;
    size_t asked = 0, count = 0;
    const char *classes = classes_asked(run, &asked);
    struct db_session *db;

    if (asked) {
        TRY(request_db(rq, &db));
        TRY(store_models_known(db, rq->principal.tenant, classes, &list, &count,
                               rq->arena, rq->err));
    }
    name_index_create(known, count, rq->arena);
    for (size_t i = 0; i < count; i++)
        name_index_add(known, list[i].application_id, i);
    return OK;
}

static void read_parameters(struct session_run *run, const struct session_model *model,
                            struct job_model *out)
{
    struct named_value *list =
        NEW(run->rq->arena, struct named_value, MODEL_PARAMETERS_MAX);

    model_parameters_read(model->parameters, list, &out->parameter_count, run->rq->arena);
    out->parameters = list;
}

static const struct job_model *question_of(struct session_run *run, size_t task,
                                           const struct name_index *known)
{
    const struct session_task_body *body = &run->tasks[task];
    struct job_model *m;
    bool named = names_model(body);
    const char *application = named ? NULL : application_of(run, task);

    if (!named && name_index_find(known, application) == NAME_NOT_FOUND)
        return NULL;
    m = NEW(run->rq->arena, struct job_model, 1);
    *m = (struct job_model){.application_id = application,
                            .phase_index = NAN,
                            .problem_size = NAN,
                            .processors = NAN,
                            .quantile = 0.5};
    if (!body->model)
        return m;
    m->model_id = body->model->model_id;
    if (named && !m->model_id)
        m->application_id = body->model->application_id;
    m->problem_size = body->model->problem_size;
    m->quantile = body->model->quantile;
    if (body->model->parameters)
        read_parameters(run, body->model, m);
    return m;
}

static struct job job_of(struct session_run *run, size_t task,
                         const struct name_index *known)
{
    const struct workflow_task *t = &run->tasks[task].task;

    return (struct job){
        .id = t->id,
        .estimate_ref_s = NAN,
        .estimate_s = NAN,
        .time_limit_s = NAN,
        .cpus = t->cpus > 0 ? t->cpus : 1,
        .nodes = t->nodes,
        .model = has_time(t) ? NULL : question_of(run, task, known),
    };
}

static const char *task_at(const void *context, size_t task, struct arena *a)
{
    (void)context;
    return pointer_keep("/workflow/tasks", task, NULL, a);
}

enum error_code session_models_ask(struct session_run *run)
{
    struct request *rq = run->rq;
    struct session_learnt *x = NEW(rq->arena, struct session_learnt, 1);
    struct job *jobs = NEW(rq->arena, struct job, run->task_count);
    struct run_time_jobs of = {.jobs = jobs,
                               .count = run->task_count,
                               .one = "task",
                               .many = "tasks",
                               .at = task_at,
                               .context = run,
                               .are_stored = true};
    struct decision_answer told = {0};
    struct name_index known;
    struct run_times *times;

    TRY(find_known(run, &known));
    for (size_t i = 0; i < run->task_count; i++)
        jobs[i] = job_of(run, i, &known);
    TRY(run_times_resolve(rq, &run->base, &of, &x->jobs, &times));
    if (rq->err->item_count)
        return ERR_INVALID;
    if (!times)
        return OK;
    x->times = times;
    x->teller = run_time_teller_create(rq, times, &run->base, NULL, 0, false);
    run_times_warn(rq, times, &told);
    for (size_t i = 0; i < told.warning_count; i++)
        session_warn(run, "%s", told.warnings[i]);
    if (run->is_replay)
        session_warn(run, "models_not_replayed: the models are those of now");
    run->learnt = x;
    return OK;
}

double session_learnt_s(const struct session_run *run, size_t task, size_t resource)
{
    const struct job *j;

    if (!run->learnt)
        return NAN;
    j = &run->learnt->jobs[task];
    return resource < j->etc_count ? j->etc_s[resource] : j->estimate_s;
}

struct session_basis session_basis_of(const struct session_run *run, size_t task,
                                      size_t resource, enum session_source source)
{
    struct session_basis out = {
        session_source_names[source], NULL, JSON_NO_INTEGER, (double)NAN, NAN, NAN};
    const struct run_time_basis *basis = NULL;
    uint64_t index = JSON_NO_INTEGER;

    if (source != SESSION_FROM_MODEL || !run->learnt)
        return out;
    run_time_tell(run->learnt->teller, task, &run->base.resources[resource].id, 1, &basis,
                  &index);
    if (!basis && index != JSON_NO_INTEGER) {
        size_t count;

        basis = &run_time_list(run->learnt->teller, &count)[index];
    }
    if (!basis)
        return out;
    out.model_id = basis->model_id;
    out.model_version = basis->model_version;
    out.low_s = basis->low_s;
    out.high_s = basis->high_s;
    out.level = basis->level;
    return out;
}
