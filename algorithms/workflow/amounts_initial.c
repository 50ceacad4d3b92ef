/* workflow/amounts_initial.c - a schedule to start from where amounts count.
 *
 * With start_s in all rows it has to keep every rule as it stands, by the same look as
 * schedules of callers (amounts_check.c). Then, or without times, its tasks are placed
 * one by one on the resources of their rows, by start or as they stand, each as early as
 * its data and what it needs allow, members of a gang at the first time at which all can;
 * of the two the one that ends first is kept.
 *
 * Source: search.md 2, 3; world-model.md 3. Cost: that of a plan on given resources.
 */
#include "algorithms/workflow/amounts_parts.h"
#include "algorithms/workflow/initial.h"
#include "algorithms/world/board_groups.h"

#include <stdlib.h>
#include <string.h>

/* Times at which a gang is tried. */
enum { TIMES_MAX = 4096 };

struct initial_reader {
    struct workflow_amounts *x;
    struct workflow_given_rows rows;
    struct workflow_plan plan; /* scratch: what is on the board */
    struct workflow_amounts_start *start;
    size_t untimed;
};

/* ---- rows in an order ---- */

struct initial_turn {
    double start_s, finish_s;
    size_t position, run;
};

static int by_start(const void *a, const void *b)
{
    const struct initial_turn *x = a, *y = b;

    if (x->start_s != y->start_s)
        return x->start_s > y->start_s ? 1 : -1;
    if (x->finish_s != y->finish_s)
        return x->finish_s > y->finish_s ? 1 : -1;
    return (x->position > y->position) - (x->position < y->position);
}

/* As they stand, or by (start, finish, topological position). */
static struct initial_turn *turns_of(const struct initial_reader *r, bool timed)
{
    const struct workflow_problem *problem = r->x->problem;
    struct initial_turn *turns = NEW(r->x->arena, struct initial_turn, r->rows.run_count);
    size_t *position = NEW(r->x->arena, size_t, problem->task_count);

    for (size_t k = 0; k < problem->task_count; k++)
        position[problem->topological[k]] = k;
    for (size_t k = 0; k < r->rows.run_count; k++) {
        const struct workflow_run *run = &r->rows.runs[k];

        turns[k] =
            (struct initial_turn){timed ? run->start_s : 0, timed ? run->finish_s : 0,
                                  timed ? position[run->task] : k, k};
    }
    qsort(turns, r->rows.run_count, sizeof(*turns), by_start);
    return turns;
}

/* ---- placed on their resources ---- */

/* Positions of the row, as it names them. */
static size_t positions_of(const struct initial_reader *r, const struct workflow_run *run,
                           size_t *positions)
{
    size_t count = run->resource_count ? run->resource_count : 1;

    for (size_t k = 0; k < count; k++)
        positions[k] =
            r->x->jobs
                .position_of[run->resource_count ? run->resources[k] : run->resource];
    return count;
}

/* When its data are on all of them. */
static double ready_s(const struct initial_reader *r, const struct workflow_run *run)
{
    const struct workflow_problem *problem = r->x->problem;
    size_t count = run->resource_count ? run->resource_count : 1;
    double last_s = 0;

    for (size_t k = 0; k < count; k++) {
        budget_step(problem->in->budget, 1);
        last_s =
            fmax(last_s, workflow_plan_ready_s(problem, &r->plan, run->task,
                                               run->resource_count ? run->resources[k]
                                                                   : run->resource));
    }
    return last_s;
}

/* Not before from_s, not starting after latest_s. */
static struct board_spot spot_of(struct initial_reader *r, const struct workflow_run *run,
                                 double from_s, double latest_s)
{
    struct workflow_amounts *x = r->x;
    size_t job = x->job_of[run->task],
           *at = NEW(x->arena, size_t, run->resource_count + 1);
    struct board_reach reach = {.positions = at,
                                .position_count = positions_of(r, run, at),
                                .from_s = fmax(from_s, ready_s(r, run)),
                                .latest_s = latest_s};
    struct board_spot best = board_nowhere();

    if (!(reach.from_s < HUGE_VAL) || reach.from_s > latest_s ||
        x->w->jobs[job].barred != WORLD_WAIT_NONE)
        return best;
    if (x->w->jobs[job].nodes > 1)
        return board_fit_nodes(x->board, job, &reach);
    for (size_t c = 0; c < x->w->jobs[job].choice_count; c++) {
        struct board_spot spot = board_fit(x->board, job, c, *at, reach.from_s, latest_s);

        if (spot.done_s < best.done_s)
            best = spot;
    }
    return best;
}

static void take_row(struct initial_reader *r, const struct workflow_run *run,
                     const struct board_spot *spot)
{
    struct workflow_amounts *x = r->x;

    board_take(x->board, x->job_of[run->task], spot);
    workflow_plan_set(x->problem, &r->plan, run->task,
                      x->w->resources[spot->positions[0]].index, spot->start_s,
                      spot->done_s);
}

/* ---- gangs ---- */

static bool is_due(const struct initial_reader *r, const struct workflow_run *run)
{
    return board_release_s(r->x->board, r->x->job_of[run->task]) < HUGE_VAL;
}

/* NULL: the task is in none. */
static const struct world_group *gang_of(const struct initial_reader *r,
                                         const struct workflow_run *run)
{
    const struct world *w = r->x->w;
    size_t group = w->jobs[r->x->job_of[run->task]].group;

    return group != WORLD_NONE && w->groups[group].policy == GROUP_GANG
               ? &w->groups[group]
               : NULL;
}

/* Rows of its members that wait for nothing; fewer: one has no row, or waits. */
static size_t due_members(const struct initial_reader *r, const struct world_group *g,
                          const struct workflow_run **rows)
{
    size_t count = 0;

    budget_step(r->x->w->budget, g->job_count);
    for (size_t i = 0; i < g->job_count; i++) {
        size_t row = r->rows.run_of[r->x->task_of[g->jobs[i]]];

        if (row && is_due(r, &r->rows.runs[row - 1]))
            rows[count++] = &r->rows.runs[row - 1];
    }
    return count;
}

/* The least time from at_s on at which each of them alone could start where it is. */
static double all_could_start(struct initial_reader *r, const struct workflow_run **rows,
                              size_t count, double at_s)
{
    for (size_t i = 0, agreed = 0; agreed < count; i = (i + 1) % count) {
        struct board_spot spot = spot_of(r, rows[i], at_s, HUGE_VAL);

        if (budget_step(r->x->w->budget, 8) || !spot.positions)
            return HUGE_VAL;
        agreed = spot.start_s > at_s ? 1 : agreed + 1;
        at_s = fmax(at_s, spot.start_s);
    }
    return at_s;
}

/* All start at at_s, or none has a place. */
static bool start_gang(struct initial_reader *r, const struct workflow_run **rows,
                       size_t count, double at_s)
{
    struct workflow_amounts *x = r->x;

    for (size_t i = 0; i < count; i++) {
        struct board_spot spot = spot_of(r, rows[i], at_s, at_s);

        if (!budget_step(x->w->budget, 8) && spot.positions) {
            take_row(r, rows[i], &spot);
            continue;
        }
        while (i-- > 0) {
            board_give(x->board, x->job_of[rows[i]->task]);
            workflow_plan_unset(x->problem, &r->plan, rows[i]->task);
        }
        return false;
    }
    return true;
}

/* Members that hinder each other start when more has ended. */
static bool place_gang(struct initial_reader *r, const struct workflow_run **rows,
                       size_t count)
{
    double at_s = 0;

    for (size_t tries = 0; tries < TIMES_MAX; tries++) {
        at_s = all_could_start(r, rows, count, at_s);
        if (!(at_s < HUGE_VAL))
            return false;
        if (start_gang(r, rows, count, at_s))
            return true;
        at_s = board_next_end(r->x->board, at_s);
    }
    return false;
}

/* ---- all of them ---- */

static void set_fault(const struct initial_reader *r, const struct workflow_run *run,
                      struct workflow_fault *fault)
{
    fault->kind = is_due(r, run) ? "cannot_run" : "precedence";
    fault->task = run->task;
    fault->resource = run->resource;
}

/* True: the gang has a place, or can have none, which is a fault. */
static bool gang_turn(struct initial_reader *r, const struct world_group *g,
                      const struct workflow_run *run, struct workflow_fault *fault)
{
    const struct workflow_run **rows =
        NEW(r->x->arena, const struct workflow_run *, g->job_count);

    if (due_members(r, g, rows) < g->job_count)
        return false;
    if (!place_gang(r, rows, g->job_count))
        *fault = (struct workflow_fault){"group_gang", run->task, run->resource};
    return true;
}

/* False: its turn is later, as a member of its gang waits, or it for a gang that does. */
static bool take_turn(struct initial_reader *r, const struct workflow_run *run,
                      bool one_waits, struct workflow_fault *fault)
{
    const struct world_group *gang = gang_of(r, run);
    struct board_spot spot;

    if (gang)
        return gang_turn(r, gang, run, fault);
    if (one_waits && !is_due(r, run))
        return false;
    spot = spot_of(r, run, 0, HUGE_VAL);
    if (spot.positions)
        take_row(r, run, &spot);
    else
        set_fault(r, run, fault);
    return true;
}

/* All rows once, without those that have places. True: one got its own; then, or at a
 * fault, another look may find more. */
static bool take_turns(struct initial_reader *r, const struct initial_turn *turns,
                       const struct workflow_run **waits, struct workflow_fault *fault)
{
    const struct workflow_amounts *x = r->x;
    bool moved = false;

    *waits = NULL;
    for (size_t k = 0; k < r->rows.run_count && !fault->kind; k++) {
        const struct workflow_run *run = &r->rows.runs[turns[k].run];

        if (budget_step(x->w->budget, 64))
            return false;
        if (board_plan(x->board)->placed[x->job_of[run->task]].positions)
            continue;
        if (take_turn(r, run, *waits, fault))
            moved = true;
        else if (!*waits && gang_of(r, run))
            *waits = run;
    }
    return moved && !fault->kind;
}

/* One after the other; gangs at the first of their rows at which no member waits, and
 * what waits for them behind them. The first that finds no place is a fault. */
static void place_in_turn(struct initial_reader *r, const struct initial_turn *turns,
                          struct workflow_fault *fault)
{
    const struct workflow_run *waits; /* a member of a gang that has its turn later */

    board_reset(r->x->board);
    workflow_plan_clear(r->x->problem, &r->plan);
    while (take_turns(r, turns, &waits, fault))
        ;
    if (waits && !fault->kind && !budget_spent(r->x->w->budget))
        *fault = (struct workflow_fault){"group_gang", waits->task, waits->resource};
}

/* Of a schedule that is taken as it stands, or that has not all members. */
static void check_gangs(const struct initial_reader *r, struct workflow_fault *fault)
{
    const struct world *w = r->x->w;
    const struct world_placed *placed = board_plan(r->x->board)->placed;

    for (size_t g = 0; g < w->group_count; g++) {
        const struct world_group *group = &w->groups[g];

        budget_step(w->budget, group->job_count);
        for (size_t i = 1; group->policy == GROUP_GANG && i < group->job_count; i++)
            if (placed[group->jobs[i]].start_s != placed[group->jobs[0]].start_s ||
                !placed[group->jobs[i]].positions != !placed[group->jobs[0]].positions)
                *fault = (struct workflow_fault){
                    "group_gang", r->x->task_of[group->jobs[i]], WORKFLOW_NONE};
    }
}

/* ---- as they stand ---- */

/* The choice in which all of the nodes are. */
static size_t choice_of(const struct world_job *j, const size_t *positions, size_t count)
{
    size_t c = 0;

    for (; c + 1 < j->choice_count; c++) {
        size_t k = 0;

        while (k < count && world_mask_has(j->choices[c].mask, positions[k]))
            k++;
        if (k == count)
            break;
    }
    return c;
}

static void take_as_given(struct initial_reader *r, const struct initial_turn *turns)
{
    struct workflow_amounts *x = r->x;

    board_reset(x->board);
    workflow_plan_clear(x->problem, &r->plan);
    for (size_t k = 0; k < r->rows.run_count; k++) {
        const struct workflow_run *run = &r->rows.runs[turns[k].run];
        size_t job = x->job_of[run->task];
        size_t *at = NEW(x->arena, size_t, run->resource_count + 1);
        size_t count = positions_of(r, run, at);
        struct board_spot spot = {.positions = at,
                                  .position_count = count,
                                  .choice = choice_of(&x->w->jobs[job], at, count),
                                  .start_s = run->start_s,
                                  .run_s = run->finish_s - run->start_s,
                                  .end_s = run->finish_s,
                                  .done_s = run->finish_s};

        budget_step(x->w->budget, count + 16);
        board_take(x->board, job, &spot);
        workflow_plan_set(x->problem, &r->plan, run->task, run->resource, run->start_s,
                          run->finish_s);
    }
}

/* Run times of rows are those of the world: the longest on its nodes, cut to its limit.
 */
static void time_rows(struct initial_reader *r)
{
    const struct workflow_amounts *x = r->x;

    for (size_t k = 0; k < r->rows.run_count; k++) {
        struct workflow_run *run = &r->rows.runs[k];
        const struct world_job *j = &x->w->jobs[x->job_of[run->task]];
        size_t *at = NEW(x->arena, size_t, run->resource_count + 1);
        size_t count = positions_of(r, run, at);
        double run_s = 0;

        budget_step(x->w->budget, count);
        for (size_t i = 0; i < count; i++)
            run_s = fmax(run_s, world_run_s(x->w, j, at[i]));
        run->finish_s = run->start_s + (run_s < HUGE_VAL ? run_s : 0);
    }
}

/* Tasks that no row has and that heft has no place for, either, need none. */
static bool may_be_missing(const struct initial_reader *r, size_t task)
{
    const struct world_job *j = &r->x->w->jobs[r->x->job_of[task]];
    struct board_spot spot;

    if (!(board_release_s(r->x->board, r->x->job_of[task]) < HUGE_VAL) ||
        j->barred != WORLD_WAIT_NONE || board_is_unit(r->x->board, r->x->job_of[task]))
        return true; /* of a unit its others count as well */
    spot = board_best(r->x->board, r->x->job_of[task]);
    return !spot.positions;
}

static void find_breach(struct initial_reader *r, struct workflow_fault *fault)
{
    struct workflow_verdict verdict = {0};

    workflow_amounts_assess(r->x, r->rows.runs, r->rows.run_count, &verdict);
    for (size_t b = 0; b < verdict.breach_count && !fault->kind; b++)
        if (strcmp(verdict.breaches[b].kind, "missing") != 0)
            *fault = (struct workflow_fault){verdict.breaches[b].kind,
                                             verdict.breaches[b].task,
                                             verdict.breaches[b].resource};
}

/* ---- kept ---- */

static void keep(struct initial_reader *r, const struct initial_turn *turns)
{
    struct workflow_amounts *x = r->x;
    const struct world_plan *plan = board_plan(x->board);
    double makespan_s = workflow_plan_makespan_s(x->problem, &r->plan);

    if (r->start->placed_count > plan->placed_count ||
        (r->start->placed_count == plan->placed_count &&
         r->start->makespan_s <= makespan_s))
        return;
    r->start->placed_count = plan->placed_count;
    r->start->makespan_s = makespan_s;
    for (size_t k = 0; k < r->rows.run_count; k++) {
        size_t job = x->job_of[r->rows.runs[turns[k].run].task];
        const struct world_placed *p = &plan->placed[job];
        size_t *at = NEW(x->arena, size_t, p->position_count);

        budget_step(x->w->budget, p->position_count);
        if (p->position_count)
            memcpy(at, p->positions, p->position_count * sizeof(*at));
        r->start->sequence[k] = job;
        r->start->spots[job] = board_spot_of(p);
        r->start->spots[job].positions = at;
    }
    r->start->count = r->rows.run_count;
}

/* Every open task that could have a place has one. */
static void find_missing(struct initial_reader *r, struct error *err)
{
    const struct workflow_problem *problem = r->x->problem;

    for (size_t k = 0; k < problem->task_count; k++) {
        size_t i = problem->topological[k];

        if (budget_step(problem->in->budget, r->x->w->resource_count))
            return;
        if (!workflow_is_open(problem, i) || r->rows.run_of[i] || may_be_missing(r, i))
            continue;
        workflow_initial_missing(problem, i, err);
        return;
    }
}

enum error_code workflow_amounts_initial(struct workflow_amounts *x, struct error *err)
{
    struct workflow_problem *problem = x->problem;
    const struct workflow_in *in = problem->in;
    struct initial_reader r = {.x = x};
    struct workflow_fault fault = {NULL, WORKFLOW_NONE, WORKFLOW_NONE};
    struct initial_turn *turns;
    size_t before = err->item_count;
    bool in_turn;

    if (in->initial_count == 0)
        return OK;
    TRY(workflow_given_read(problem, in->initial, in->initial_count, "/initial", false,
                            &r.rows, x->arena, err));
    TRY(workflow_plan_make(problem, &r.plan, x->arena));
    r.start = NEW(x->arena, struct workflow_amounts_start, 1);
    r.start->spots = NEW(x->arena, struct board_spot, x->w->job_count);
    r.start->sequence = NEW(x->arena, size_t, x->w->job_count);
    r.start->makespan_s = HUGE_VAL;
    r.untimed = workflow_initial_warn_rows(problem, &r.rows);
    time_rows(&r);
    turns = turns_of(&r, r.untimed == 0);
    if (r.untimed == 0)
        find_breach(&r, &fault);
    if (!fault.kind && r.untimed == 0) {
        take_as_given(&r, turns);
        find_missing(&r, err);
        keep(&r, turns);
    }
    if (!fault.kind)
        place_in_turn(&r, turns, &fault);
    if (!fault.kind)
        check_gangs(&r, &fault);
    in_turn = !fault.kind;
    if (r.untimed == 0 && r.start->count == r.rows.run_count)
        fault.kind = NULL; /* it stands as it was given */
    if (!fault.kind && r.untimed > 0)
        find_missing(&r, err);
    if (err->item_count > before)
        return ERR_INVALID;
    if (fault.kind || budget_spent(in->budget)) {
        workflow_initial_refuse(problem, &fault);
        board_reset(x->board);
        return OK;
    }
    if (in_turn && board_plan(x->board)->placed_count == r.rows.run_count)
        keep(&r, turns);
    board_reset(x->board);
    x->start = r.start;
    return OK;
}
