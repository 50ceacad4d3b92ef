/* placement/evaluate.c - what a plan of somebody else's is worth, and what it breaks. */
#include "algorithms/placement/evaluate.h"

#include "algorithms/placement/amounts.h"
#include "algorithms/placement/amounts_files.h"
#include "algorithms/placement/amounts_started.h"
#include "algorithms/placement/evaluate_parts.h"
#include "algorithms/placement/unused.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows as the checker wants them ---- */

static double stage_out_s(const struct evaluation *e, size_t job, size_t position)
{
    double output_s = problem_output_s(e->problem, &e->problem->jobs[job], position);

    return output_s < LONGEST_S ? output_s : 0;
}

/* Positions by the ids of a row. */
static size_t *find_positions(const struct evaluation *e,
                              const struct name_index *resources,
                              const struct placement_row *row)
{
    size_t *list = NEW(e->arena, size_t, row->resource_count);

    budget_step(e->world->budget, row->resource_count);
    for (size_t k = 0; k < row->resource_count; k++) {
        size_t index = name_index_find(resources, row->resource_ids[k]);

        list[k] = index == NAME_NOT_FOUND ? WORLD_NONE : e->problem->position_of[index];
    }
    return list;
}

/* The job's choice of that partition; SIZE_MAX - 1: it has none. */
static size_t choice_named(const struct evaluation *e, size_t job, const char *id)
{
    const struct world_job *j = &e->world->jobs[job];

    budget_step(e->world->budget, j->choice_count);
    for (size_t c = 0; c < j->choice_count; c++)
        if (j->choices[c].partition_id && strcmp(j->choices[c].partition_id, id) == 0)
            return c;
    return WORLD_NONE - 1;
}

/* A finish has the outputs at home; the world ends with the run. */
static struct world_claim claim_of(const struct evaluation *e,
                                   const struct name_index *jobs,
                                   const struct name_index *resources, size_t i)
{
    const struct placement_row *row = &e->in->rows[i];
    struct world_claim claim = {
        .job = name_index_find(jobs, row->job_id),
        .positions = find_positions(e, resources, row),
        .position_count = row->resource_count,
        .choice = WORLD_NONE,
        .start_s = row->start_s,
        .stage_in_s = isnan(row->stage_in_s) ? 0 : row->stage_in_s,
        .finish_s = row->finish_s,
    };

    if (claim.job == NAME_NOT_FOUND)
        claim.job = WORLD_NONE;
    if (claim.job == WORLD_NONE)
        return claim;
    claim.job += (size_t)row->copy;
    if (row->partition_id && e->world->limit_count)
        claim.choice = choice_named(e, claim.job, row->partition_id);
    if (row->resource_count > 0 && claim.positions[0] != WORLD_NONE)
        claim.finish_s -= stage_out_s(e, claim.job, claim.positions[0]);
    return claim;
}

static void make_claims(struct evaluation *e)
{
    const struct placement_in *in = e->in->request;
    struct world_claim *claims = NEW(e->arena, struct world_claim, e->in->row_count);
    struct name_index jobs, resources;

    name_index_create(&jobs, in->job_count, e->arena);
    name_index_create(&resources, in->snapshot->resource_count, e->arena);
    for (size_t j = 0; j < in->job_count; j++)
        name_index_add(&jobs, in->jobs[j].id, j);
    for (size_t r = 0; r < in->snapshot->resource_count; r++)
        name_index_add(&resources, in->snapshot->resources[r].id, r);
    for (size_t i = 0; i < e->in->row_count; i++)
        claims[i] = claim_of(e, &jobs, &resources, i);
    e->claims = claims;
}

/* ---- what a world does not know: where files cannot be ---- */

/* Takes the position out of all choices of the job. */
static void forbid(struct evaluation *e, struct world_job *j, size_t position)
{
    size_t words = e->world->resource_count / BLOCK + 1;
    struct world_choice *list = NEW(e->arena, struct world_choice, j->choice_count);

    for (size_t h = 0; h < j->choice_count; h++) {
        uint64_t *mask = NEW(e->arena, uint64_t, words);

        budget_step(e->world->budget, words);
        memcpy(mask, j->choices[h].mask, e->problem->block_count * sizeof(*mask));
        mask[position / BLOCK] &= ~(UINT64_C(1) << (position % BLOCK));
        list[h] = j->choices[h];
        list[h].mask = mask;
    }
    j->choices = list;
}

/* Files, and the time that outputs take from where the row says. */
static void apply_files(struct evaluation *e)
{
    struct world_job *jobs = NEW(e->arena, struct world_job, e->world->job_count);
    size_t unchecked = 0, first = 0;

    if (e->world->job_count)
        memcpy(jobs, e->world->jobs, e->world->job_count * sizeof(*jobs));
    for (size_t i = e->in->row_count; i-- > 0;) {
        const struct world_claim *c = &e->claims[i];

        if (c->job == WORLD_NONE || c->position_count == 0 ||
            c->positions[0] == WORLD_NONE)
            continue;
        jobs[c->job].stage_out_s = stage_out_s(e, c->job, c->positions[0]);
        jobs[c->job].stage_out_of_site_s = NULL;
        if (amounts_file_filter(e->problem, c->job, c->positions[0]) != FILTER_PASSED)
            forbid(e, &jobs[c->job], c->positions[0]);
        if (e->problem->jobs[c->job].file_count) {
            unchecked++;
            first = i;
        }
    }
    e->world->jobs = jobs;
    if (unchecked)
        problem_warn(e->problem,
                     "stage_in_not_checked: %zu placement%s (first /placements/%zu) of "
                     "jobs with input files: how long these take is taken from "
                     "stage_in_s, 0 where it is not said",
                     unchecked, unchecked == 1 ? "" : "s", first);
}

/* ---- the plan as one of ours, for its values ---- */

static int by_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

/* Known positions of a row, each once. */
static size_t known_positions(const struct evaluation *e, const struct world_claim *c,
                              size_t **out)
{
    size_t *list = NEW(e->arena, size_t, c->position_count), count = 0, kept = 0;

    budget_step(e->world->budget, 8 * c->position_count);
    for (size_t k = 0; k < c->position_count; k++)
        if (c->positions[k] != WORLD_NONE)
            list[count++] = c->positions[k];
    qsort(list, count, sizeof(*list), by_size);
    for (size_t k = 0; k < count; k++)
        if (k == 0 || list[k] != list[k - 1])
            list[kept++] = list[k];
    *out = list;
    return kept;
}

/* The first row of each job that ends; without a run time it ends when it says so. */
static void place(const struct evaluation *e, const struct world_claim *c,
                  struct world_plan *plan)
{
    const struct world_job *j = &e->world->jobs[c->job];
    struct world_placed *p = &plan->placed[c->job];
    size_t *positions, count = known_positions(e, c, &positions);
    double run_s = 0;

    for (size_t k = 0; k < count; k++)
        run_s = fmax(run_s, world_run_s(e->world, j, positions[k]));
    if (!(run_s < HUGE_VAL))
        run_s = c->finish_s - c->start_s - c->stage_in_s;
    if (count == 0 || !(run_s >= 0))
        return;
    *p = (struct world_placed){.positions = positions,
                               .position_count = count,
                               .start_s = c->start_s,
                               .stage_in_s = c->stage_in_s,
                               .run_s = run_s};
    p->done_s = c->start_s + c->stage_in_s + run_s;
    p->end_s = c->start_s + c->stage_in_s + world_held_s(e->world, j, run_s);
    plan->sequence[plan->placed_count++] = c->job;
}

static void make_plan(const struct evaluation *e, struct world_plan *plan,
                      struct evaluation_out *out)
{
    size_t n = e->world->job_count;
    bool *is_there = NEW(e->arena, bool, n);
    const char **ids = NEW(e->arena, const char *, n);

    plan->placed = NEW(e->arena, struct world_placed, n);
    plan->sequence = NEW(e->arena, size_t, n);
    for (size_t i = 0; i < e->in->row_count; i++) {
        size_t job = e->claims[i].job;

        if (job == WORLD_NONE || is_there[job])
            continue;
        is_there[job] = true;
        place(e, &e->claims[i], plan);
    }
    for (size_t j = 0; j < n; j++)
        if (!is_there[j])
            ids[out->unplaced_count++] = e->world->jobs[j].id;
    out->unplaced_ids = ids;
}

/* ---- all of it ---- */

static enum decision_status status_of(const struct evaluation_out *out, bool cut,
                                      bool proven)
{
    if (cut)
        return DECISION_CUT;
    if (!out->valid)
        return DECISION_INFEASIBLE;
    return proven && out->unplaced_count == 0 ? DECISION_OPTIMAL : DECISION_FEASIBLE;
}

/* Values, and for a valid plan bounds: what breaks rules may well be below them. */
static bool value(const struct evaluation *e, const struct world_goal *goal,
                  const struct world_plan *plan, struct evaluation_out *out)
{
    const struct world_goal makespan = {{OBJECTIVE_MAKESPAN}, 1};
    struct world_bound bounds[OBJECTIVE_LEVELS_MAX] = {0};
    struct world_value values[OBJECTIVE_LEVELS_MAX];
    const struct amounts_started *started = NULL;
    struct world_worth worth;
    bool proven = out->valid;

    world_worth(e->world, &makespan, plan, &worth, e->arena);
    out->makespan_s = worth.value[0];
    world_worth(e->world, goal, plan, &worth, e->arena);
    out->value_count = goal->level_count;
    if (out->valid) {
        world_bounds(e->world, goal, plan, &worth, BOUNDS_ASCENT, bounds, e->arena);
        started = amounts_started_find(e->world, goal,
                                       e->problem->common[COMMON_MAX_NODES], e->arena);
        amounts_started_bound(started, goal, bounds);
    }
    world_values(goal, &worth, out->valid ? bounds : NULL, values);
    for (size_t k = 0; k < goal->level_count; k++)
        out->values[k].of = values[k];
    amounts_started_tiers(started, e->world, goal, plan, out->values, e->arena);
    for (size_t k = 0; k < goal->level_count; k++)
        proven = proven && out->values[k].of.proven;
    return proven;
}

static void evaluate(struct evaluation *e, const struct world_goal *goal,
                     struct evaluation_out *out)
{
    struct world_plan plan = {0};
    struct world_check found;
    bool proven;

    make_claims(e);
    apply_files(e);
    world_check(e->world, e->claims, e->in->row_count, &found, e->arena);
    out->valid = found.violation_count == 0 && !found.cut;
    out->violation_count = found.violation_count;
    out->violations = evaluation_named(e, &found);
    out->listed_count = found.listed_count;
    make_plan(e, &plan, out);
    proven = value(e, goal, &plan, out);
    out->status = status_of(out, found.cut || e->problem->cut, proven);
}

/* All mistakes of a request, of every kind. */
static enum error_code read(const struct evaluation_in *in, struct evaluation *e,
                            double *values, struct world_goal *goal, struct error *err)
{
    const struct placement_world *given = in->request->world;
    struct amounts *amounts;
    struct amounts_world made;
    enum error_code options =
        params_bind(placement_common_params, in->options, in->option_count, values, err);
    enum error_code prepared, checked, named;

    prepared = problem_prepare(in->request, values, e->problem, e->arena, err);
    checked = amounts_check(in->request, values[COMMON_PLAN_WITH] > PLAN_WITH_ESTIMATE,
                            &amounts, e->arena, err);
    named = world_goal_read(given->objective, given->objective_count, goal, err);
    TRY(prepared);
    TRY(options);
    TRY(checked);
    TRY(named);
    amounts_count_limits(amounts);
    amounts_world(e->problem, amounts, &made);
    e->world = made.world;
    return OK;
}

enum error_code placement_evaluate(const struct evaluation_in *in,
                                   struct evaluation_out *out, struct arena *a,
                                   struct error *err)
{
    struct evaluation e = {
        .in = in, .problem = NEW(a, struct placement_problem, 1), .arena = a};
    double *values = NEW(a, double, PARAMS_MAX);
    struct evaluation_out x = {0};
    struct world_goal goal;

    TRY(read(in, &e, values, &goal, err));
    evaluate(&e, &goal, &x);
    unused_warn_judged(e.problem, in->options, in->option_count,
                       world_goal_has(&goal, OBJECTIVE_STARTED_NOW));
    x.warnings = e.problem->warnings;
    x.warning_count = e.problem->warning_count;
    *out = x;
    return OK;
}
