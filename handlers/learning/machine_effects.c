/* machine_effects.c - GET /v1/machine-effects: how much faster machines are than each
 * other, over all applications; and how that is worked out. */
#include "handlers/learning/machine_effects.h"

#include "handlers/common/page.h"
#include "handlers/learning/routes.h"
#include "models/base/names.h"
#include "models/ensemble/machine_effect.h"
#include "service/store_machine.h"

#include <math.h>
#include <stdlib.h>

enum { RUNS_MAX = 50000, MACHINES_MAX = FITTED_EFFECTS_MAX };
static const double AGE_S = 60;

struct effect_row {
    const char *machine;
    double effect;
    uint64_t run_count;
};

#define T struct effect_row
static const struct json_field stored_rows[] = {
    JSON_TEXT(T, machine, 0, "The machine"),
    JSON_NUMBER(T, effect, 0, 0, 0, 0, "Its effect"),
    JSON_INTEGER(T, run_count, 0, JSON_EXACT, 0, 0, "Runs"),
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

static const char *print_effects(const struct numbers *machines, const double *effect,
                                 const size_t *runs, struct arena *a)
{
    struct text_buffer b = {.arena = a};
    size_t count = 0;

    text_add(&b, "[", 1);
    for (size_t m = 0; m < machines->count && count < MACHINES_MAX; m++) {
        struct effect_row row = {machines->name[m], effect[m], runs[m]};

        if (runs[m] == 0)
            continue;
        text_add(&b, ",", count++ > 0);
        json_print(&stored_json, &row, &b);
    }
    text_add(&b, "]", 2);
    return text_end(&b);
}

static enum error_code work_out(struct request *rq, struct db_session *db)
{
    struct arena *a = rq->arena;
    const struct store_machine_run *stored;
    struct numbers machines, cells;
    struct machine_run *runs;
    double *effect;
    size_t count, *run_count;

    TRY(store_machine_runs(db, rq->principal.tenant, RUNS_MAX, &stored, &count, a,
                           rq->err));
    create_numbers(&machines, count, a);
    create_numbers(&cells, count, a);
    runs = NEW(a, struct machine_run, count + 1);
    for (size_t i = 0; i < count; i++)
        runs[i] = (struct machine_run){number_of(&machines, stored[i].machine),
                                       number_of(&cells, stored[i].cell),
                                       log(stored[i].run_time_s)};
    effect = NEW(a, double, machines.count + 1);
    run_count = NEW(a, size_t, machines.count + 1);
    machine_effects(runs, count, machines.count, cells.count, &rq->budget, effect,
                    run_count, a);
    return store_machine_effects_write(db, rq->principal.tenant,
                                       print_effects(&machines, effect, run_count, a),
                                       rq->err);
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
            (struct fitted_effect){ensemble_text(stored[i].machine), stored[i].effect};
    qsort(effects, *count, sizeof(*effects), compare_keys);
    *list = effects;
    return OK;
}

enum error_code machine_effects_now(struct request *rq, struct db_session *db,
                                    const struct fitted_effect **list, size_t *count)
{
    bool is_due;

    TRY(store_machine_effects_due(db, rq->principal.tenant, AGE_S, &is_due, rq->arena,
                                  rq->err));
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

#define T struct machine_effect_row
static const struct json_field effect_rows[] = {
    JSON_TEXT(T, resource_class, 0,
              "Type of the machine; of runs that name none their site"),
    JSON_NUMBER(T, effect, 0, 0, 0, 0,
                "Logarithm of the factor; the mean over the machines is 0"),
    JSON_NUMBER(T, factor, 0, 0, 0, 0,
                "What run times are multiplied by there, against the mean machine"),
    JSON_INTEGER(T, run_count, 0, JSON_EXACT, 0, 0,
                 "Runs that it comes from: of what ran on two machines at least"),
    JSON_TEXT(T, source, 0, "runs"),
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
    struct store_page part = page_of(&query->page);
    const struct store_machine_effect *list;
    struct effects_page *page = out;
    struct machine_effect_row *rows;
    struct db_session *db;

    (void)in;
    TRY(request_db(rq, &db));
    TRY(store_machine_effects(db, rq->principal.tenant, &part, &list, &page->item_count,
                              &page->next_page_token, rq->arena, rq->err));
    rows = NEW(rq->arena, struct machine_effect_row, page->item_count + 1);
    for (size_t i = 0; i < page->item_count; i++)
        rows[i] = (struct machine_effect_row){list[i].machine, "runs", list[i].effect,
                                              exp(list[i].effect), list[i].run_count};
    page->items = rows;
    return page_link(rq, page->next_page_token);
}
