/* placement/amounts_initial.c - a plan that the request brings, to start a search from,
 * where amounts count.
 *
 * Source: spec search.md 3, 12; world-model.md 4.4.
 * Cost: O(rows log rows + nodes) and the checker; a question to a board for each row
 * without a start, and for each job without a row.
 */
#include "algorithms/placement/amounts_initial.h"

#include "algorithms/placement/amounts_parts.h"
#include "algorithms/world/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct initial_row {
    size_t job, number;
    double start_s;
    size_t *positions, position_count; /* by rising snapshot index */
    size_t choice;
};

struct initial {
    struct amounts_maker *m;
    const struct amounts *checked;
    struct initial_row *rows;
    size_t count;
    size_t *row_of; /* by job; NO_INDEX: none */
    struct error *err;
};

/* ---- what the rows name ---- */

static void mistake(const struct initial *x, size_t row, const char *member,
                    enum item_code code, const char *id)
{
    char path[64];

    snprintf(path, sizeof(path), "/initial/%zu", row);
    if (code == ITEM_REQUIRED)
        amounts_mistake(x->err, path, member, code,
                        "say where the job goes: resource_id, or resource_ids of one on "
                        "several nodes");
    else if (code == ITEM_DUPLICATE)
        amounts_mistake(x->err, path, member, code, "'%.100s' has another row", id);
    else
        amounts_mistake(x->err, path, member, code, "the request has no '%.100s'",
                        id ? id : "");
}

static int by_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

static bool read_places(const struct initial *x, const struct placement_initial *g,
                        size_t row, struct initial_row *out)
{
    const char *const *ids = g->resource_id_count ? g->resource_ids : &g->resource_id;
    size_t count = g->resource_id_count ? g->resource_id_count : g->resource_id != NULL;
    bool known = true;

    if (count == 0)
        mistake(x, row, "resource_id", ITEM_REQUIRED, NULL);
    out->positions = NEW(x->m->arena, size_t, count);
    out->position_count = count;
    for (size_t k = 0; k < count; k++) {
        size_t at =
            ids[k] ? name_index_find(&x->checked->resources, ids[k]) : NAME_NOT_FOUND;
        char member[48];

        snprintf(member, sizeof(member),
                 g->resource_id_count ? "resource_ids/%zu" : "resource_id", k);
        if (at == NAME_NOT_FOUND)
            mistake(x, row, member, ITEM_UNKNOWN_ID, ids[k]);
        known = known && at != NAME_NOT_FOUND;
        out->positions[k] = at;
    }
    if (!known || count == 0)
        return false;
    qsort(out->positions, count, sizeof(*out->positions), by_size);
    for (size_t k = 0; k < count; k++)
        out->positions[k] = x->m->p->position_of[out->positions[k]];
    budget_step(x->m->w->budget, 8 * count);
    return true;
}

static bool choice_has(const struct world_choice *c, const struct initial_row *row)
{
    for (size_t k = 0; k < row->position_count; k++)
        if (!world_mask_has(c->mask, row->positions[k]))
            return false;
    return true;
}

/* The partition that the row names, else the first with all its nodes. */
static size_t choice_of(const struct world *w, const struct world_job *j,
                        const char *partition_id, const struct initial_row *row)
{
    for (size_t c = 0; c < j->choice_count; c++) {
        const char *id = j->choices[c].partition_id;

        budget_step(w->budget, row->position_count);
        if (partition_id && (!id || strcmp(id, partition_id) != 0))
            continue;
        if (choice_has(&j->choices[c], row))
            return c;
    }
    return 0; /* the checker refuses it */
}

static void read_row(struct initial *x, size_t k)
{
    const struct placement_initial *g = &x->m->call->in->initial[k];
    size_t job =
        g->job_id ? name_index_find(&x->checked->jobs, g->job_id) : NAME_NOT_FOUND;
    struct initial_row row = {.number = k, .start_s = g->start_s};
    bool placed = read_places(x, g, k, &row);

    if (job == NAME_NOT_FOUND) {
        mistake(x, k, "job_id", ITEM_UNKNOWN_ID, g->job_id);
        return;
    }
    row.job = job += (size_t)g->copy;
    if (x->row_of[job] != NO_INDEX)
        mistake(x, k, "job_id", ITEM_DUPLICATE, g->job_id);
    x->row_of[job] = k;
    if (!placed)
        return;
    row.choice = choice_of(x->m->w, &x->m->w->jobs[job], g->partition_id, &row);
    x->rows[x->count++] = row;
}

/* Jobs without a row that would have a place on the empty board, alone. */
static void require_all(struct initial *x)
{
    const struct world *w = x->m->w;
    size_t missing = 0, first = 0;

    board_reset(x->m->board);
    for (size_t i = w->job_count; i-- > 0;) {
        if (x->row_of[i] != NO_INDEX || w->jobs[i].barred != WORLD_WAIT_NONE ||
            w->jobs[i].group != WORLD_NONE)
            continue;
        if (budget_step(w->budget, w->resource_count))
            return; /* a search that has no time left needs no rows */
        if (board_best(x->m->board, i).done_s < HUGE_VAL) {
            missing++;
            first = i;
        }
    }
    if (missing)
        invalid(x->err, "/initial", ITEM_REQUIRED, "%zu job%s no row: '%.100s'%s",
                missing, missing == 1 ? " has" : "s have", w->jobs[first].id,
                missing > 1 ? " ..." : "");
}

/* ---- is it a plan? ---- */

static void refuse(const struct initial *x, const struct world_violation *v,
                   const struct initial_row *row, const char *rule)
{
    const struct world *w = x->m->w;
    const char *amount = v && v->amount != WORLD_NONE ? w->amounts[v->amount].name : NULL;
    const char *resource =
        v && v->position != WORLD_NONE ? w->resources[v->position].id : NULL;

    board_reset(x->m->board);
    problem_warn(x->m->p,
                 "initial_refused: row %zu, job '%.80s'%s%.80s%s: %s%s%s; the search "
                 "began without it",
                 row->number, w->jobs[row->job].id, resource ? " on '" : "",
                 resource ? resource : "", resource ? "'" : "", rule,
                 amount ? " of " : "", amount ? amount : "");
}

/* When it ends by its own times; done_s HUGE_VAL: it cannot run there. */
static struct board_spot spot_of(const struct world *w, const struct initial_row *row)
{
    const struct world_job *j = &w->jobs[row->job];
    struct board_spot spot = {
        row->positions, row->position_count, row->choice, row->start_s, 0, 0, 0, 0};

    for (size_t k = 0; k < row->position_count; k++)
        spot.run_s = fmax(spot.run_s, world_run_s(w, j, row->positions[k]));
    spot.end_s = spot.start_s + world_held_s(w, j, spot.run_s);
    spot.done_s = spot.start_s + spot.run_s;
    return spot;
}

static int by_start(const void *a, const void *b)
{
    const struct initial_row *x = a, *y = b;

    if (x->start_s != y->start_s)
        return x->start_s < y->start_s ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* All rows where and when they say. */
static bool load_timed(struct initial *x)
{
    const struct world *w = x->m->w;
    struct world_claim *claims = NEW(x->m->arena, struct world_claim, x->count);
    struct world_check check = {0};

    qsort(x->rows, x->count, sizeof(*x->rows), by_start);
    for (size_t k = 0; k < x->count; k++)
        claims[k] = (struct world_claim){.job = x->rows[k].job,
                                         .positions = x->rows[k].positions,
                                         .position_count = x->rows[k].position_count,
                                         .choice = w->limit_count ? x->rows[k].choice
                                                                  : WORLD_NONE,
                                         .start_s = x->rows[k].start_s,
                                         .finish_s = (double)NAN};
    world_check(w, claims, x->count, &check, x->m->arena);
    if (check.violation_count) {
        const struct world_violation *v = &check.violations[0];

        refuse(x, v, &x->rows[v->claim], world_rule_names[v->rule]);
        return false;
    }
    if (check.cut)
        return false;
    board_reset(x->m->board);
    for (size_t k = 0; k < x->count; k++) {
        const struct initial_row *row = &x->rows[k];
        struct board_spot spot = spot_of(w, row);

        if (x->m->p->jobs[row->job].file_count) /* the rows do not say when they come */
            spot = board_fit(x->m->board, row->job, row->choice, row->positions[0],
                             row->start_s, row->start_s);
        if (!spot.positions) {
            refuse(x, NULL, row, world_rule_names[RULE_AMOUNT_EXCEEDED]);
            return false;
        }
        board_take(x->m->board, x->rows[k].job, &spot);
    }
    return true;
}

/* Each row as early as it fits there, one by one as they stand. */
static bool load_in_order(struct initial *x)
{
    board_reset(x->m->board);
    for (size_t k = 0; k < x->count; k++) {
        const struct initial_row *row = &x->rows[k];
        struct board_spot spot = board_nowhere();

        if (x->m->w->jobs[row->job].nodes > 1 || row->position_count > 1) {
            refuse(x, NULL, row, "a job on several nodes needs start_s, in all rows");
            return false;
        }
        spot =
            board_fit(x->m->board, row->job, row->choice, row->positions[0], 0, HUGE_VAL);
        if (!(spot.done_s < HUGE_VAL)) {
            refuse(x, NULL, row, world_rule_names[RULE_NOT_ELIGIBLE]);
            return false;
        }
        board_take(x->m->board, row->job, &spot);
    }
    return amounts_plan_is_valid(x->m->w, board_plan(x->m->board), x->m->arena);
}

enum error_code amounts_initial(struct amounts_maker *m, const struct amounts *checked,
                                bool *loaded, struct error *err)
{
    const struct placement_in *in = m->call->in;
    struct initial x = {.m = m, .checked = checked, .err = err};
    size_t before = err->item_count;
    bool timed = true;

    *loaded = false;
    x.rows = NEW(m->arena, struct initial_row, in->initial_count);
    x.row_of = NEW(m->arena, size_t, in->job_count);
    for (size_t i = 0; i < in->job_count; i++)
        x.row_of[i] = NO_INDEX;
    for (size_t k = 0; k < in->initial_count; k++) {
        budget_step(m->w->budget, 8);
        read_row(&x, k);
        timed = timed && !isnan(in->initial[k].start_s);
    }
    if (err->item_count == before)
        require_all(&x);
    if (err->item_count > before)
        return ERR_INVALID;
    *loaded = timed ? load_timed(&x) : load_in_order(&x);
    return OK;
}
