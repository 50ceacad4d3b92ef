/* placement/each.c - one job, and each resource on its own. */
#include "algorithms/placement/each.h"

#include "algorithms/placement/amounts.h"
#include "algorithms/world/board.h"

#include <math.h>

/* A tenth of what is free more than nothing is said as nothing: it is never negative. */
static double on_the_wire(const struct world *w, size_t amount, int64_t units)
{
    return fmax(0, (double)units / w->amounts[amount].per_one);
}

/* Memory, or a named amount of the job that is short now. */
static void find_short(const struct world *w, size_t position, struct placement_each *out,
                       struct arena *a)
{
    const int64_t *capacity = w->resources[position].capacity;
    const int64_t *needs = w->jobs[0].needs;
    struct profile profile = {0};

    profile_of_resource(w, position, &profile, a);
    for (size_t k = AMOUNT_MEMORY; k < w->node_amount_count && !out->short_of; k++) {
        bool counts = k == AMOUNT_MEMORY || k >= AMOUNT_NAMED;

        if (!counts || needs[k] <= 0 || capacity[k] >= AMOUNT_UNLIMITED ||
            needs[k] <= profile.free[k])
            continue;
        out->short_of = w->amounts[k].name;
        out->needed = on_the_wire(w, k, needs[k]);
        out->free = on_the_wire(w, k, profile.free[k]);
    }
}

/* The least end over the choices that the resource is in. */
static double finish_at(struct board *b, size_t position)
{
    const struct world_job *job = &board_world(b)->jobs[0];
    double finish_s = HUGE_VAL;

    if (job->barred != WORLD_WAIT_NONE)
        return (double)NAN;
    for (size_t c = 0; c < job->choice_count; c++) {
        struct board_spot spot;

        if (!(job->choices[c].mask[position / BLOCK] >> (position % BLOCK) & 1))
            continue;
        spot = board_fit(b, 0, c, position, board_release_s(b, 0), HUGE_VAL);
        finish_s = fmin(finish_s, spot.done_s);
    }
    return finish_s < HUGE_VAL ? finish_s : (double)NAN;
}

enum error_code placement_each_find(const struct placement_in *in,
                                    const struct placement_each **out, struct arena *a,
                                    struct error *err)
{
    const struct policy *policy = policy_find(placement_policies, "mct");
    struct placement_problem *p = NEW(a, struct placement_problem, 1);
    double values[PARAMS_MAX] = {0};
    struct placement_each *list;
    struct amounts_world made;
    struct amounts *checked;
    struct board *b;

    TRY(policy_bind(policy, NULL, 0, values, err));
    TRY(amounts_check(in, false, &checked, a, err));
    TRY(problem_prepare(in, values, p, a, err));
    amounts_world(p, checked, &made);
    b = board_create(made.world, NULL, a);
    list = NEW(a, struct placement_each, p->resource_count);
    for (size_t position = 0; position < p->resource_count; position++) {
        struct placement_each *each = &list[made.world->resources[position].index];
        bool spent =
            budget_step(in->budget, made.world->resources[position].holder_count + 8);

        each->finish_s = spent ? (double)NAN : finish_at(b, position);
        if (!spent)
            find_short(made.world, position, each, a);
    }
    *out = list;
    return OK;
}
