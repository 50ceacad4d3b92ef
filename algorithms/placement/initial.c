/* placement/initial.c - a plan that the request brings, to start a search from.
 *
 * A row is refused when its resource or slot cannot be, or when the job cannot start
 * there by the time the row says, given the rows before it. A job may start sooner than
 * it says.
 *
 * Source: spec search.md 3, 12.
 */
#include "algorithms/placement/initial.h"

#include "algorithms/placement/verify.h"
#include "models/base/plural.h"

#include <stdio.h>
#include <stdlib.h>

#define LATE 1e-9 /* a start may come later by that, of max(1, start) */

struct row {
    const struct placement_initial *given;
    size_t job, pos, index;
};

struct reader {
    struct placement_problem *problem;
    struct placement_plan *plan;
    struct row *rows;
    size_t *row_of; /* by job; NO_INDEX: none */
    struct error *err;
};

static size_t named(struct reader *r, const struct name_index *names, const char *id,
                    size_t row, const char *member)
{
    size_t index = id ? name_index_find(names, id) : NAME_NOT_FOUND;
    char pointer[80];

    if (index != NAME_NOT_FOUND)
        return index;
    snprintf(pointer, sizeof(pointer), "/initial/%zu/%s", row, member);
    invalid(r->err, pointer, id ? ITEM_UNKNOWN_ID : ITEM_REQUIRED,
            "the request has no '%.100s'", id ? id : "");
    return NO_INDEX;
}

static void read_row(struct reader *r, const struct name_index *jobs,
                     const struct name_index *resources, size_t k)
{
    const struct placement_initial *given = &r->problem->in->initial[k];
    size_t job = named(r, jobs, given->job_id, k, "job_id");
    size_t resource = named(r, resources, given->resource_id, k, "resource_id");
    char pointer[80];

    if (job == NO_INDEX || resource == NO_INDEX)
        return;
    job += (size_t)given->copy;
    r->rows[k] = (struct row){given, job, r->problem->position_of[resource], k};
    if (r->row_of[job] != NO_INDEX) {
        snprintf(pointer, sizeof(pointer), "/initial/%zu/job_id", k);
        invalid(r->err, pointer, ITEM_DUPLICATE, "'%.100s' is also in row %zu",
                given->job_id, r->row_of[job]);
    }
    r->row_of[job] = k;
}

static bool can_run_somewhere(const struct placement_plan *plan, size_t job)
{
    for (size_t pos = 0; pos < plan->problem->resource_count; pos++)
        if (plan_can_run(plan, job, pos))
            return true;
    return false;
}

static void require_all(struct reader *r)
{
    size_t missing = 0, first = 0;

    for (size_t i = problem_pending(r->problem); i-- > 0;) {
        if (r->row_of[i] != NO_INDEX)
            continue;
        if (budget_step(r->problem->in->budget, r->problem->resource_count))
            break; /* a search that has no time left needs no rows */
        if (can_run_somewhere(r->plan, i)) {
            missing++;
            first = i;
        }
    }
    if (missing)
        invalid(r->err, "/initial", ITEM_REQUIRED, "%s %s no row: '%.100s'%s",
                counted(missing, "job").text, plural(missing, "has", "have"),
                r->problem->jobs[first].given->id, missing > 1 ? " ..." : "");
}

static enum error_code read_rows(struct reader *r, struct error *err)
{
    const struct placement_in *in = r->problem->in;
    struct arena *a = r->plan->arena;
    struct name_index jobs, resources;
    size_t before = err->item_count;

    r->rows = NEW(a, struct row, in->initial_count);
    r->row_of = NEW(a, size_t, in->job_count);
    name_index_create(&jobs, in->job_count, a);
    name_index_create(&resources, in->snapshot->resource_count, a);
    for (size_t i = 0; i < in->job_count; i++) {
        r->row_of[i] = NO_INDEX;
        name_index_add(&jobs, in->jobs[i].id, i);
    }
    for (size_t i = 0; i < in->snapshot->resource_count; i++)
        name_index_add(&resources, in->snapshot->resources[i].id, i);
    for (size_t k = 0; k < in->initial_count; k++)
        read_row(r, &jobs, &resources, k);
    if (err->item_count == before)
        require_all(r);
    return err->item_count > before ? ERR_INVALID : OK;
}

static int by_start(const void *left, const void *right)
{
    const struct row *l = left, *r = right;

    if (l->given->start_s != r->given->start_s)
        return l->given->start_s < r->given->start_s ? -1 : 1;
    return (l->index > r->index) - (l->index < r->index);
}

/* Says why the plan is not taken; NULL as a copy. */
static void refuse(const struct reader *r, const struct row *row, const char *rule)
{
    const struct placement_initial *g = row->given;

    plan_reset(r->plan);
    problem_warn(r->problem,
                 "initial_refused: row %zu, job '%.80s' on '%.80s': %s; the search "
                 "began without it",
                 row->index, g->job_id, g->resource_id, rule);
}

/* Places one row; *rule: what is wrong with it, NULL: nothing. */
static enum error_code place_row(const struct reader *r, const struct row *row,
                                 const char **rule, struct error *err)
{
    const struct problem_resource *resource = &r->problem->resources[row->pos];
    double start_s = row->given->start_s;

    *rule = NULL;
    if (!plan_can_run(r->plan, row->job, row->pos) ||
        !(plan_fit(r->plan, row->job, row->pos).done_s < HUGE_VAL))
        *rule = verify_rule_names[VERIFY_NOT_ELIGIBLE];
    else if (row->given->slot >= (double)resource->slot_count)
        *rule = verify_rule_names[VERIFY_NO_SLOT];
    if (*rule)
        return OK;
    TRY(plan_place(r->plan, row->job, row->pos, err));
    if (r->plan->entries[row->job].start_s > start_s + LATE * fmax(1, fabs(start_s)))
        *rule = start_s < r->problem->jobs[row->job].release_s
                    ? verify_rule_names[VERIFY_BEFORE_RELEASE]
                : resource->capacity ? verify_rule_names[VERIFY_AMOUNT_EXCEEDED]
                                     : verify_rule_names[VERIFY_SLOT_TAKEN];
    return OK;
}

static void lay_aside(struct placement_plan *plan, const struct plan_copy **out)
{
    struct plan_copy *copy = NEW(plan->arena, struct plan_copy, 1);

    plan_copy_create(plan, copy);
    plan_save(plan, copy);
    plan_reset(plan);
    *out = copy;
}

enum error_code initial_read(struct placement_problem *p, struct placement_plan *plan,
                             const struct plan_copy **out, struct error *err)
{
    struct reader r = {.problem = p, .plan = plan, .err = err};
    bool timed = true;

    *out = NULL;
    if (p->in->initial_count == 0)
        return OK;
    TRY(read_rows(&r, err));
    for (size_t k = 0; k < p->in->initial_count; k++)
        timed = timed && !isnan(r.rows[k].given->start_s);
    if (timed)
        qsort(r.rows, p->in->initial_count, sizeof(*r.rows), by_start);
    plan_reset(plan);
    for (size_t k = 0; k < p->in->initial_count; k++) {
        const char *rule;

        TRY(place_row(&r, &r.rows[k], &rule, err));
        if (rule) {
            refuse(&r, &r.rows[k], rule);
            return OK;
        }
    }
    lay_aside(plan, out);
    return OK;
}
