/* placement/amounts_queue.c - a batch queue on the resources of a snapshot. */
#include "algorithms/placement/amounts_queue.h"

#include "algorithms/placement/amounts_answer.h"
#include "algorithms/placement/unused.h"
#include "models/base/param.h"

#include <stdio.h>

static void mistake(struct error *err, size_t job, const char *member,
                    enum item_code code, const char *text)
{
    char pointer[64];

    snprintf(pointer, sizeof(pointer), "/jobs/%zu/%s", job, member);
    invalid(err, pointer, code, "%s", text);
}

/* What no queue of jobs on resources goes with. */
static void check_jobs(const struct placement_in *in, struct error *err)
{
    for (size_t i = 0; i < in->job_count; i++) {
        const struct job *j = &in->jobs[i];

        if (j->copy)
            continue;
        if (j->input_file_count)
            mistake(err, i, "input_file_ids", ITEM_INVALID_COMBINATION,
                    "files of jobs in a queue are not supported yet");
        if (j->output_bytes > 0 && in->snapshot->home_site_id)
            mistake(err, i, "output_bytes", ITEM_INVALID_COMBINATION,
                    "files of jobs in a queue are not supported yet");
    }
}

static void value_plan(const struct world *w, struct amounts_queue_out *out,
                       struct arena *a)
{
    const struct world_goal goal = {{OBJECTIVE_MAKESPAN}, 1};
    struct world_bound bound[OBJECTIVE_LEVELS_MAX] = {0};
    struct world_worth worth;

    world_worth(w, &goal, out->queue.plan, &worth, a);
    world_bounds(w, &goal, out->queue.plan, &worth, BOUNDS_SINGLE, bound, a);
    out->makespan_s = worth.value[0];
    if (bound[0].known)
        out->lower_bound_s = fmin(bound[0].value, out->makespan_s);
}

/* Cpus in units that the holders leave at position `i` now. */
static int64_t left_at(const struct world *w, size_t i)
{
    const struct world_resource *r = &w->resources[i];
    int64_t left = r->capacity[AMOUNT_CPUS];

    for (size_t k = 0; k < r->holder_count; k++) {
        const struct world_holder *h = &w->holders[r->holders[k]];

        if (h->start_s <= 0 && h->end_s > 0)
            left = h->all ? 0 : amount_add(left, -h->amounts[AMOUNT_CPUS]);
    }
    budget_step(w->budget, r->holder_count + 1);
    return left;
}

static void count_free(const struct world *w, struct amounts_queue_out *out,
                       struct arena *a)
{
    int64_t *left = NEW(a, int64_t, w->resource_count), sum = 0;

    for (size_t i = 0; i < w->resource_count; i++)
        left[i] = left_at(w, i);
    for (size_t j = 0; j < w->job_count; j++) {
        const struct world_placed *x = &out->queue.plan->placed[j];

        for (size_t i = 0; x->positions && x->start_s <= 0 && i < x->position_count; i++)
            left[x->positions[i]] =
                amount_add(left[x->positions[i]], -w->jobs[j].needs[AMOUNT_CPUS]);
        budget_step(w->budget, x->position_count + 1);
    }
    for (size_t i = 0; i < w->resource_count; i++)
        if (w->resources[i].capacity[AMOUNT_CPUS] < AMOUNT_UNLIMITED && left[i] > 0)
            sum = amount_add(sum, left[i]);
    out->free_cpus = amount_value(w, AMOUNT_CPUS, sum);
}

/* Promises by positions; resources that are gone are not said. NULL: there are none. */
static const struct world_queue_promises *promises_of(const struct amounts_queue_in *q,
                                                      const struct placement_problem *p,
                                                      struct arena *a)
{
    size_t count = q->of->job_count;
    struct world_queue_promises *out = NEW(a, struct world_queue_promises, 1);
    struct world_queue_promise *of = NEW(a, struct world_queue_promise, count);
    struct name_index ids;

    if (!q->promises)
        return NULL;
    name_index_create(&ids, q->of->snapshot->resource_count, a);
    for (size_t r = 0; r < q->of->snapshot->resource_count; r++)
        name_index_add(&ids, q->of->snapshot->resources[r].id, r);
    for (size_t i = 0; i < count; i++) {
        const struct amounts_queue_promise *told = &q->promises[i];
        size_t *positions = NEW(a, size_t, told->resource_id_count), known = 0;

        budget_step(q->of->budget, told->resource_id_count + 1);
        for (size_t k = 0; k < told->resource_id_count; k++) {
            size_t index = told->resource_ids[k]
                               ? name_index_find(&ids, told->resource_ids[k])
                               : NAME_NOT_FOUND;

            if (index != NAME_NOT_FOUND)
                positions[known++] = p->position_of[index];
        }
        of[i] = (struct world_queue_promise){
            told->start_s, positions, known == told->resource_id_count ? known : 0};
    }
    *out = (struct world_queue_promises){of, q->keeps_gaps};
    return out;
}

enum error_code amounts_queue(const struct amounts_queue_in *q,
                              struct amounts_queue_out *out, struct arena *a,
                              struct error *err)
{
    const struct placement_in *in = q->of;
    const struct policy *policy = q->policy;
    struct placement_problem *p = NEW(a, struct placement_problem, 1);
    double *values = NEW(a, double, PARAMS_MAX);
    struct amounts_queue_out x = {0};
    struct placement_out reasons = {0};
    struct amounts_result found = {0};
    size_t before = err->item_count;
    struct amounts_world made;
    struct amounts *checked;

    params_bind(placement_common_params, NULL, 0, values, err);
    check_jobs(in, err);
    amounts_check(in, q->plan_with_limit, &checked, a, err);
    TRY(problem_prepare(in, values, p, a, err));
    if (err->item_count > before || !policy)
        return ERR_INVALID;
    amounts_count_limits(checked);
    amounts_world(p, checked, &made);
    world_queue(made.world, queue_discipline_of(policy), promises_of(q, p, a), &x.queue,
                a);
    x.world = made.world;
    value_plan(made.world, &x, a);
    count_free(made.world, &x, a);
    found.plan = x.queue.plan;
    found.made = &made;
    found.checked = checked;
    amounts_reasons(p, &found, &reasons);
    unused_warn(p, &(struct unused_in){.policy = policy,
                                       .list = "jobs",
                                       .amounts = true,
                                       .no_chains = true,
                                       .queued = true});
    x.unplaced = reasons.unplaced;
    x.unplaced_count = reasons.unplaced_count;
    x.warnings = p->warnings;
    x.warning_count = p->warning_count;
    *out = x;
    return OK;
}
