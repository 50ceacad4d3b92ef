/* machine_effects.c - GET /v1/machine-effects: how much faster machines are than each
 * other, over all applications; and how that is worked out.
 *
 * Machines that ran what others ran too are compared by that. A machine that shares no
 * configuration with another is judged by the errors of what ran there against what the
 * models say of the same on other machines.
 *
 * Source: learning.md 6.
 * Deviation: what an application differs by on such a machine from the machine's effect
 * is what its model learns of the machine as an input, with the shrinkage of the ridge.
 * Cost: O(rounds runs), and at most MODELS_MAX models are read, those whose runs on such
 * machines are the latest.
 */
#include "handlers/learning/machine_effects.h"

#include "handlers/common/page.h"
#include "handlers/learning/routes.h"
#include "handlers/model/model_learn.h"
#include "models/base/names.h"
#include "models/ensemble/machine_effect.h"
#include "service/store_machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 50000, MACHINES_MAX = FITTED_EFFECTS_MAX, MODELS_MAX = 200 };

struct effect_row {
    const char *machine;
    double effect;
    uint64_t run_count;
    bool is_alone;
};

#define T struct effect_row
static const struct json_field stored_rows[] = {
    JSON_TEXT(T, machine, 0, "The machine"),
    JSON_NUMBER(T, effect, 0, 0, 0, 0, "Its effect"),
    JSON_INTEGER(T, run_count, 0, JSON_EXACT, 0, 0, "Runs"),
    JSON_BOOLEAN(T, is_alone, 0, 0, "It shares no configuration with another"),
    {0},
};
#undef T
static const struct json_object stored_json = {"StoredMachineEffect",
                                               "An effect as it is stored",
                                               sizeof(struct effect_row), stored_rows};

/* ---- working them out ---- */

/* Names as numbers from 0. */
struct numbers {
    struct name_index index;
    const char **name;
    size_t count;
};

static size_t number_of(struct numbers *n, const char *name)
{
    size_t at = name_index_add(&n->index, name, n->count);

    if (at != NAME_NOT_FOUND)
        return at;
    n->name[n->count] = name;
    return n->count++;
}

static void create_numbers(struct numbers *n, size_t most, struct arena *a)
{
    name_index_create(&n->index, most, a);
    n->name = NEW(a, const char *, most + 1);
    n->count = 0;
}

static const char *print_effects(const struct effect_row *rows, size_t count,
                                 struct arena *a)
{
    struct text_buffer b = {.arena = a};
    size_t printed = 0;

    text_add(&b, "[", 1);
    for (size_t m = 0; m < count && printed < MACHINES_MAX; m++) {
        if (rows[m].run_count == 0)
            continue;
        text_add(&b, ",", printed++ > 0);
        json_print(&stored_json, &rows[m], &b);
    }
    text_add(&b, "]", 2);
    return text_end(&b);
}

/* A machine as models know it. */
struct keyed {
    double key;
    struct effect_row *row;
};

/* Those that have an effect, or those that have none. */
struct keyed_list {
    struct keyed *list;
    double *keys;
    size_t count;
};

static int compare_keyed(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;

    return (x->key > y->key) - (x->key < y->key);
}

static struct keyed_list list_machines(struct effect_row *rows, size_t count, bool known,
                                       struct arena *a)
{
    struct keyed_list out = {.list = NEW(a, struct keyed, count + 1),
                             .keys = NEW(a, double, count + 1)};

    for (size_t m = 0; m < count; m++)
        if ((rows[m].run_count > 0) == known)
            out.list[out.count++] =
                (struct keyed){ensemble_text(rows[m].machine), &rows[m]};
    qsort(out.list, out.count, sizeof(*out.list), compare_keyed);
    for (size_t m = 0; m < out.count; m++)
        out.keys[m] = out.list[m].key;
    return out;
}

/* The errors of the latest runs of a machine, which are looked through in any order. */
struct latest {
    struct fitted_machine_error *list; /* the latest first */
    size_t count;
};

static int compare_latest(const void *a, const void *b)
{
    const struct fitted_machine_error *x = a, *y = b;

    if (x->machine != y->machine)
        return x->machine < y->machine ? -1 : 1;
    if (x->started_at_s != y->started_at_s)
        return x->started_at_s > y->started_at_s ? -1 : 1;
    return (x->error > y->error) - (x->error < y->error);
}

/* A model's errors on the lone machines join those of others. */
static enum error_code add_errors(struct request *rq, struct db_session *db,
                                  const char *model_id, const struct keyed_list *alone,
                                  const struct keyed_list *known, struct arena *scratch,
                                  struct latest *errors)
{
    struct fitted_machine_error *list;
    struct store_model_now now;
    struct fitted_model m;
    size_t count = 0;

    arena_reset(scratch);
    if (store_model_now(db, rq->principal.tenant, model_id, &now, scratch, rq->err) !=
            OK ||
        stored_fitted(&now.model, &now.version, &m, scratch, rq->err) != OK) {
        *rq->err = (struct error){.arena = rq->err->arena}; /* the others tell as well */
        return OK;
    }
    fitted_machine_errors(&m, alone->keys, alone->count, known->keys, known->count,
                          &rq->budget, &list, &count, scratch);
    if (count == 0)
        return OK;
    errors->list = GROW(rq->arena, errors->list, struct fitted_machine_error,
                        errors->count, errors->count + count);
    memcpy(errors->list + errors->count, list, count * sizeof(*list));
    errors->count += count;
    return OK;
}

/* Each machine gets its effect from its latest errors. */
static void put_errors(const struct latest *errors, const struct keyed_list *alone)
{
    const struct fitted_machine_error *list = errors->list;

    if (errors->count == 0)
        return;
    qsort(errors->list, errors->count, sizeof(*list), compare_latest);
    for (size_t i = 0, end; i < errors->count; i = end) {
        struct effect_row *row = alone->list[list[i].machine].row;
        double latest[MACHINE_ERRORS_MAX];
        size_t n = 0;

        for (end = i; end < errors->count && list[end].machine == list[i].machine; end++)
            if (n < MACHINE_ERRORS_MAX)
                latest[n++] = list[end].error;
        row->effect = machine_effect_by_runs((double)NAN, latest, n);
        row->run_count = n;
        row->is_alone = true;
    }
}

/* Effects of machines that are in no cell, from the models that ran there. */
static enum error_code judge_alone(struct request *rq, struct db_session *db,
                                   const struct store_machine_run *runs, size_t count,
                                   const size_t *machine_of, struct effect_row *rows,
                                   size_t machine_count)
{
    struct arena *a = rq->arena, *scratch;
    struct keyed_list alone = list_machines(rows, machine_count, false, a);
    struct keyed_list known = list_machines(rows, machine_count, true, a);
    struct latest errors = {0};
    struct name_index models;
    enum error_code code = OK;
    size_t model_count = 0;

    if (alone.count == 0)
        return OK;
    scratch = arena_create_beside(a, arena_cap_bytes(a));
    name_index_create(&models, MODELS_MAX, a);
    for (size_t i = 0; i < count && model_count < MODELS_MAX && code == OK; i++) {
        budget_step(&rq->budget, 1);
        if (rows[machine_of[i]].run_count > 0 ||
            name_index_add(&models, runs[i].model_id, i) != NAME_NOT_FOUND)
            continue;
        model_count++;
        code = add_errors(rq, db, runs[i].model_id, &alone, &known, scratch, &errors);
    }
    arena_close(scratch);
    TRY(code);
    put_errors(&errors, &alone);
    return OK;
}

static enum error_code work_out(struct request *rq, struct db_session *db)
{
    struct arena *a = rq->arena;
    const struct store_machine_run *stored;
    struct numbers machines, cells;
    struct machine_run *runs;
    struct effect_row *rows;
    double *effect;
    size_t count, *run_count, *machine_of;

    TRY(store_machine_runs(db, rq->principal.tenant, RUNS_MAX, &stored, &count, a,
                           rq->err));
    create_numbers(&machines, count, a);
    create_numbers(&cells, count, a);
    runs = NEW(a, struct machine_run, count + 1);
    machine_of = NEW(a, size_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        machine_of[i] = number_of(&machines, stored[i].machine);
        runs[i] = (struct machine_run){machine_of[i], number_of(&cells, stored[i].cell),
                                       log(stored[i].run_time_s)};
    }
    effect = NEW(a, double, machines.count + 1);
    run_count = NEW(a, size_t, machines.count + 1);
    machine_effects(runs, count, machines.count, cells.count, &rq->budget, effect,
                    run_count, a);
    rows = NEW(a, struct effect_row, machines.count + 1);
    for (size_t m = 0; m < machines.count; m++)
        rows[m] = (struct effect_row){machines.name[m], effect[m], run_count[m], false};
    TRY(judge_alone(rq, db, stored, count, machine_of, rows, machines.count));
    return store_machine_effects_write(db, rq->principal.tenant,
                                       print_effects(rows, machines.count, a), rq->err);
}

static int compare_keys(const void *a, const void *b)
{
    const struct fitted_effect *x = a, *y = b;

    return (x->key > y->key) - (x->key < y->key);
}

enum error_code machine_effects_stored(struct request *rq, struct db_session *db,
                                       const struct fitted_effect **list, size_t *count)
{
    const struct store_page all = {.limit = MACHINES_MAX};
    const struct store_machine_effect *stored;
    struct fitted_effect *effects;
    const char *next;

    TRY(store_machine_effects(db, rq->principal.tenant, &all, &stored, count, &next,
                              rq->arena, rq->err));
    effects = NEW(rq->arena, struct fitted_effect, *count + 1);
    for (size_t i = 0; i < *count; i++)
        effects[i] =
            (struct fitted_effect){ensemble_text(stored[i].machine), stored[i].effect,
                                   stored[i].is_alone ? (double)stored[i].run_count : 0};
    qsort(effects, *count, sizeof(*effects), compare_keys);
    *list = effects;
    return OK;
}

enum error_code machine_effects_now(struct request *rq, struct db_session *db,
                                    const struct fitted_effect **list, size_t *count)
{
    bool is_due;

    TRY(store_machine_effects_due(db, rq->principal.tenant, STORE_MACHINE_EFFECTS_AGE_S,
                                  &is_due, rq->arena, rq->err));
    if (is_due)
        TRY(work_out(rq, db));
    return machine_effects_stored(rq, db, list, count);
}

/* ---- the list ---- */

struct effects_query {
    struct page_query page;
};

#define T struct effects_query
static const struct json_field query_rows[] = {PAGE_ROWS(T), {0}};
#undef T
const struct json_object machine_effects_query_json = {
    "MachineEffectsQuery", "Which page", sizeof(struct effects_query), query_rows};

struct machine_effect_row {
    const char *resource_class, *source;
    double effect, factor;
    uint64_t run_count;
};

static const char *const source_names[] = {"runs", NULL};

#define T struct machine_effect_row
static const struct json_field effect_rows[] = {
    JSON_TEXT(T, resource_class, 0,
              "Type of the machine; of runs that name none their site"),
    JSON_NUMBER(T, effect, 0, 0, 0, 0,
                "Logarithm of the factor; the mean over the machines is 0"),
    JSON_NUMBER(T, factor, 0, 0, 0, 0,
                "What run times are multiplied by there, against the mean machine"),
    JSON_INTEGER(
        T, run_count, 0, JSON_EXACT, 0, 0,
        "Runs that it comes from: of what ran on two machines at least, or where "
        "nothing did the latest of any application"),
    JSON_WORD(T, source, source_names, 0, "runs"),
    {0},
};
#undef T
static const struct json_object effect_json = {
    "MachineEffect", "How run times differ on a type of machine",
    sizeof(struct machine_effect_row), effect_rows};

struct effects_page {
    const struct machine_effect_row *items;
    size_t item_count;
    const char *next_page_token;
};

#define T struct effects_page
static const struct json_field page_rows[] = {
    JSON_LIST(T, items, item_count, struct machine_effect_row, &effect_json, 0, 0,
              "The machines by resource_class"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object machine_effects_page_json = {
    "MachineEffectsPage", "A page of machines", sizeof(struct effects_page), page_rows};

enum error_code get_machine_effects(struct request *rq, const void *in, void *out)
{
    const struct effects_query *query = rq->query;
    struct store_page part;
    const struct store_machine_effect *list;
    struct effects_page *page = out;
    struct machine_effect_row *rows;
    struct db_session *db;

    (void)in;
    TRY(page_of(rq, &query->page, &part));
    TRY(request_db(rq, &db));
    TRY(store_machine_effects(db, rq->principal.tenant, &part, &list, &page->item_count,
                              &page->next_page_token, rq->arena, rq->err));
    rows = NEW(rq->arena, struct machine_effect_row, page->item_count + 1);
    for (size_t i = 0; i < page->item_count; i++)
        rows[i] =
            (struct machine_effect_row){list[i].machine, source_names[0], list[i].effect,
                                        exp(list[i].effect), list[i].run_count};
    page->items = rows;
    return page_link(rq, &page->next_page_token);
}
