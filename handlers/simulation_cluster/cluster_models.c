/* cluster_models.c - run times of simulated jobs that stored models tell.
 *
 * A job without execution_time_s runs as long as its model says; of another one the model
 * says what queue policies believe, unless it has estimate_s. Models are asked as for a
 * machine that nothing is known of.
 */
#include "handlers/simulation_cluster/cluster_simulation_parts.h"

#include "handlers/placement/run_times.h"
#include "models/base/plural.h"

static const char *const machine_id = "cluster";

static bool runs_by_model(const struct cluster_sim_job *j)
{
    return j->model && isnan(j->execution_time_s);
}

/* The job as its model is to see it. */
static struct job asked_of(const struct cluster_playing *p,
                           const struct cluster_sim_job *j)
{
    const struct cluster_job_defaults *d = &p->body->job_defaults;
    double cpus = isnan(j->cpus) ? d->cpus : j->cpus;
    bool given = !runs_by_model(j) && !isnan(j->estimate_s);

    return (struct job){
        .id = j->id,
        .estimate_ref_s = (double)NAN,
        .estimate_s = given ? j->estimate_s : (double)NAN,
        .time_limit_s = (double)NAN,
        .cpus = isnan(cpus) ? 1 : cpus,
        .nodes = j->nodes ? j->nodes : 1,
        .model = j->model,
    };
}

static bool any_model(const struct cluster_simulation *body)
{
    for (size_t i = 0; i < body->job_count; i++)
        if (body->jobs[i].model)
            return true;
    return false;
}

/* A job runs for some time. told NULL: no model was asked, or some there are not. */
static void check_jobs(struct cluster_playing *p, const struct job *told)
{
    const struct cluster_simulation *body = p->body;

    for (size_t i = 0; i < body->job_count; i++) {
        const struct cluster_sim_job *j = &body->jobs[i];
        const char *why = told && told[i].model_silence
                              ? arena_printf(p->a, ", and its model has none: %s",
                                             told[i].model_silence)
                              : "";

        budget_step(&p->rq->budget, 1);
        if (isnan(j->execution_time_s) &&
            (!j->model || (told && !(told[i].estimate_s >= 0))))
            invalid(p->err, arena_printf(p->a, "/jobs/%zu/execution_time_s", i),
                    ITEM_REQUIRED,
                    "the member is missing: how long it runs, or a model that tells%s",
                    why);
    }
}

static void take_times(struct cluster_playing *p, const struct job *told)
{
    struct cluster_simulation *body = NEW(p->a, struct cluster_simulation, 1);
    struct cluster_sim_job *jobs = NEW(p->a, struct cluster_sim_job, p->body->job_count);
    size_t silent = 0, first = 0;

    *body = *p->body;
    budget_step(&p->rq->budget, body->job_count);
    for (size_t i = 0; i < body->job_count; i++) {
        struct cluster_sim_job *j = &jobs[i];

        *j = body->jobs[i];
        if (runs_by_model(j)) {
            j->execution_time_s = told[i].estimate_s;
        } else if (j->model && isnan(told[i].estimate_s)) {
            if (silent++ == 0)
                first = i;
        } else if (j->model) {
            j->estimate_s = told[i].estimate_s;
        }
    }
    body->jobs = jobs;
    p->body = body;
    if (silent)
        decision_warn(
            p->rq, &p->answer->decision,
            "run_time_defaulted: %s, first /jobs/%zu, %s no model that answers; "
            "policies count on %s limit, or on how long %s",
            counted(silent, "job").text, first, plural(silent, "has", "have"),
            plural(silent, "its", "their"), plural(silent, "it takes", "they take"));
}

enum error_code cluster_models_ask(struct cluster_playing *p)
{
    const struct cluster_simulation *body = p->body;
    const struct job *told = NULL;
    const struct snapshot *machine;
    struct run_times *times;
    struct job *asked;

    if (!any_model(body)) {
        check_jobs(p, NULL);
        return OK;
    }
    asked = NEW(p->a, struct job, body->job_count);
    budget_step(&p->rq->budget, 4 * body->job_count);
    for (size_t i = 0; i < body->job_count; i++)
        asked[i] = asked_of(p, &body->jobs[i]);
    TRY(run_times_any_machine(p->rq, machine_id, &machine));
    TRY(run_times_resolve(p->rq, machine,
                          &(struct run_time_jobs){.jobs = asked,
                                                  .count = body->job_count,
                                                  .lacks_memory = true},
                          &told, &times));
    check_jobs(p, p->err->code == OK ? told : NULL);
    if (p->err->code != OK)
        return OK; /* with what else is wrong */
    take_times(p, told);
    run_times_warn(p->rq, times, &p->answer->decision);
    p->teller = run_time_teller_create(p->rq, times, machine, NULL, 0, false);
    return OK;
}

void cluster_models_tell(const struct cluster_playing *p, size_t job,
                         struct cluster_job_row *row)
{
    if (p->teller)
        run_time_tell(p->teller, job, &machine_id, 1, &row->run_time_basis,
                      &row->run_time_index);
}

void cluster_models_list(struct cluster_playing *p)
{
    p->answer->run_times = run_time_list(p->teller, &p->answer->run_time_count);
}
