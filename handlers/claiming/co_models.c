/* co_models.c - run times of parallel jobs that stored models tell. */
#include "handlers/claiming/co_models.h"

#include "models/base/pointer.h"

#include <string.h>

static const char *const machine_id = "any";

struct places {
    const struct co_model_list *lists;
    size_t count;
};

static const char *job_at(const void *context, size_t job, struct arena *a)
{
    const struct places *places = context;
    size_t k = places->count - 1;

    while (job < places->lists[k].first)
        k--;
    return arena_printf(a, "%s/%zu", places->lists[k].pointer,
                        job - places->lists[k].first);
}

static double processors_of(const struct co_job_request *j)
{
    double sum = isnan(j->total_processors) ? 0 : j->total_processors;

    for (size_t i = 0; i < j->component_count; i++)
        sum += (double)j->components[i].processors;
    return fmax(sum, 1);
}

/* The job as its model is to see it. */
static struct job asked_of(const struct co_job_request *j)
{
    return (struct job){
        .id = j->id,
        .estimate_ref_s = (double)NAN,
        .estimate_s = j->estimate_s,
        .time_limit_s = (double)NAN,
        .cpus = j->model ? processors_of(j) : 1,
        .nodes = 1,
        .model = j->model,
    };
}

static size_t number_jobs(struct co_model_list *lists, size_t count)
{
    size_t total = 0;

    for (size_t k = 0; k < count; k++) {
        lists[k].first = total;
        total += lists[k].count;
    }
    return total;
}

/* Of those that have a model the time is filled in. */
static void take_times(struct request *rq, struct co_model_list *list,
                       const struct job *told)
{
    struct co_job_request *jobs = NEW(rq->arena, struct co_job_request, list->count);

    budget_step(&rq->finish, list->count);
    for (size_t i = 0; i < list->count; i++) {
        jobs[i] = list->jobs[i];
        if (jobs[i].model)
            jobs[i].estimate_s = told[list->first + i].estimate_s;
    }
    list->jobs = jobs;
}

enum error_code co_models_ask(struct request *rq, struct co_model_list *lists,
                              size_t list_count, struct co_models *out)
{
    size_t count = number_jobs(lists, list_count), models = 0;
    struct places *places = NEW(rq->arena, struct places, 1); /* warnings ask it, too */
    const struct snapshot *machine;
    const struct job *told;
    struct job *asked;

    *out = (struct co_models){NULL, NULL};
    *places = (struct places){lists, list_count};
    asked = NEW(rq->arena, struct job, count);
    for (size_t k = 0; k < list_count; k++) {
        budget_step(&rq->finish, 4 * lists[k].count);
        for (size_t i = 0; i < lists[k].count; i++) {
            asked[lists[k].first + i] = asked_of(&lists[k].jobs[i]);
            models += lists[k].jobs[i].model ? 1 : 0;
        }
    }
    if (models == 0)
        return OK;
    TRY(run_times_any_machine(rq, machine_id, &machine));
    TRY(run_times_resolve(rq, machine,
                          &(struct run_time_jobs){.jobs = asked,
                                                  .count = count,
                                                  .at = job_at,
                                                  .context = places,
                                                  .lacks_memory = true},
                          &told, &out->times));
    TRY(rq->err->code);
    for (size_t k = 0; k < list_count; k++)
        take_times(rq, &lists[k], told);
    out->teller = run_time_teller_create(rq, out->times, machine, NULL, 0, false);
    return OK;
}

void co_models_tell(const struct co_models *models, const struct co_model_list *list,
                    size_t job, struct co_placement_answer *out)
{
    run_time_tell(models->teller, list->first + job, &machine_id, 1, &out->run_time_basis,
                  &out->run_time_index);
}
