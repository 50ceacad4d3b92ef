/* workflow/amounts_check.c - an independent look at schedules where amounts count.
 *
 * Amounts, groups and what waits for what are the checker's of worlds (world/check.h);
 * transfers are looked at here. Nothing is shared with what makes plans.
 */
#include "algorithms/workflow/amounts_parts.h"
#include "algorithms/workflow/problem_parts.h"
#include "algorithms/world/check.h"

#define TOLERANCE 1e-9

/* Until the data are on all nodes of a child that the board has on several; 0: on one. */
static double to_nodes_s(const struct workflow_amounts *x,
                         const struct workflow_edge *edge, size_t from)
{
    const struct world_placed *p = &board_plan(x->board)->placed[x->job_of[edge->child]];
    double s = 0;

    for (size_t k = 0; p->positions && k < p->position_count; k++)
        s = fmax(s, workflow_transfer_s(x->problem, edge, from,
                                        x->w->resources[p->positions[k]].index));
    budget_step(x->w->budget, p->position_count);
    return s;
}

static const char *broken_transfer(const struct workflow_amounts *x,
                                   const struct workflow_plan *plan)
{
    const struct workflow_problem *problem = x->problem;

    for (size_t e = 0; e < problem->edge_count; e++) {
        const struct workflow_edge *edge = &problem->edges[e];
        size_t from = plan->processor[edge->parent], to = plan->processor[edge->child];
        double there_s;

        if (!workflow_is_open(problem, edge->child) || to == WORKFLOW_NONE)
            continue;
        if (from == WORKFLOW_NONE)
            return "precedence";
        there_s =
            fmax(0, plan->finish_s[edge->parent]) +
            fmax(workflow_transfer_s(problem, edge, from, to), to_nodes_s(x, edge, from));
        if (plan->start_s[edge->child] < there_s - TOLERANCE * fmax(1, there_s))
            return "transfer";
    }
    return NULL;
}

const char *workflow_amounts_broken(struct workflow_amounts *x,
                                    const struct workflow_plan *plan, bool *spent)
{
    struct world_check check;
    size_t count;
    const struct world_claim *claims =
        world_claims(x->w, board_plan(x->board), &count, x->arena);

    world_check(x->w, claims, count, &check, x->arena);
    *spent = check.cut;
    if (check.violation_count > 0)
        return world_rule_names[check.violations[0].rule];
    return check.cut ? NULL : broken_transfer(x, plan);
}

/* ---- rows of somebody ---- */

static struct world_claim claim_of(struct workflow_amounts *x,
                                   const struct workflow_run *run)
{
    size_t count = run->resource_count ? run->resource_count : 1;
    size_t *position = NEW(x->arena, size_t, count);

    for (size_t k = 0; k < count; k++)
        position[k] =
            x->jobs.position_of[run->resource_count ? run->resources[k] : run->resource];
    budget_step(x->w->budget, count);
    return (struct world_claim){.job = x->job_of[run->task],
                                .choice = WORLD_NONE,
                                .positions = position,
                                .position_count = count,
                                .start_s = run->start_s,
                                .finish_s = run->finish_s};
}

static struct workflow_breach breach_of(const struct workflow_amounts *x,
                                        const struct workflow_run *runs,
                                        const struct world_violation *v)
{
    return (struct workflow_breach){
        .kind = world_rule_names[v->rule],
        .task = runs[v->claim].task,
        .other_task = v->other_count ? runs[v->others[0]].task : WORKFLOW_NONE,
        .resource = v->position == WORLD_NONE ? runs[v->claim].resource
                                              : x->w->resources[v->position].index,
        .by_s = NAN};
}

/* Until the data are on all nodes of the child. */
static double slowest_s(const struct workflow_amounts *x,
                        const struct workflow_edge *edge, size_t from,
                        const struct workflow_run *child)
{
    double s = workflow_transfer_s(x->problem, edge, from, child->resource);

    for (size_t k = 0; k < child->resource_count; k++)
        s = fmax(s, workflow_transfer_s(x->problem, edge, from, child->resources[k]));
    budget_step(x->w->budget, child->resource_count);
    return s;
}

/* Inputs that come too late, and tasks without a row. */
static size_t look_at_inputs(const struct workflow_amounts *x,
                             const struct workflow_run *runs, const size_t *run_of,
                             struct workflow_breach *list)
{
    const struct workflow_problem *problem = x->problem;
    size_t used = 0;

    for (size_t i = 0; i < problem->task_count; i++)
        if (workflow_is_open(problem, i) && !run_of[i])
            list[used++] = (struct workflow_breach){"missing", i, WORKFLOW_NONE,
                                                    WORKFLOW_NONE, (double)NAN};
    for (size_t e = 0; e < problem->edge_count; e++) {
        const struct workflow_edge *edge = &problem->edges[e];
        const struct workflow_run *child, *parent = NULL;
        size_t from = problem->fixed_processor[edge->parent];
        double there_s = fmax(0, problem->fixed_finish_s[edge->parent]);

        if (!run_of[edge->child] ||
            (workflow_is_open(problem, edge->parent) && !run_of[edge->parent]))
            continue;
        child = &runs[run_of[edge->child] - 1];
        if (workflow_is_open(problem, edge->parent)) {
            parent = &runs[run_of[edge->parent] - 1];
            from = parent->resource;
            there_s = parent->finish_s;
        }
        there_s += slowest_s(x, edge, from, child);
        if (child->start_s < there_s - TOLERANCE * fmax(1, there_s))
            list[used++] =
                (struct workflow_breach){"transfer", edge->child, edge->parent,
                                         child->resource, there_s - child->start_s};
    }
    return used;
}

void workflow_amounts_assess(struct workflow_amounts *x, const struct workflow_run *runs,
                             size_t run_count, struct workflow_verdict *out)
{
    const struct workflow_problem *problem = x->problem;
    struct world_claim *claims = NEW(x->arena, struct world_claim, run_count);
    size_t *run_of = NEW(x->arena, size_t, problem->task_count);
    size_t *processor = NEW(x->arena, size_t, run_count);
    struct workflow_breach *list;
    struct world_check check;

    for (size_t k = 0; k < run_count; k++) {
        claims[k] = claim_of(x, &runs[k]);
        processor[k] = runs[k].resource;
        run_of[runs[k].task] = k + 1;
        out->makespan_s = fmax(out->makespan_s, runs[k].finish_s);
    }
    world_check(x->w, claims, run_count, &check, x->arena);
    list = NEW(x->arena, struct workflow_breach,
               check.listed_count + problem->task_count + problem->edge_count);
    for (size_t k = 0; k < check.listed_count; k++)
        list[out->breach_count++] = breach_of(x, runs, &check.violations[k]);
    out->breach_count += look_at_inputs(x, runs, run_of, list + out->breach_count);
    budget_step(x->w->budget, problem->task_count + problem->edge_count);
    out->breaches = list;
    out->processor = processor;
    out->spent = check.cut;
}
