/* placement/select.c - requirement and rank expressions of a request. */
#include "algorithms/placement/select.h"

#include "algorithms/placement/amounts_columns.h"
#include "models/base/names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The values of one attribute by position. */
struct column {
    const char *name;    /* lower case */
    const char *written; /* as first written, for the warning */
    struct expr_value *values;
    bool defined; /* on some resource */
};

/* An expression and the column of each of its names. */
struct bound {
    struct expr expr; /* first, so that a pointer to it is one to the whole */
    size_t *columns;  /* NO_INDEX: a derived value */
};

struct selector {
    struct bound **requirements, **ranks; /* by job; NULL: none given */
    struct bound **partitions;            /* of the snapshot; likewise */
    struct column *columns;
    size_t column_count, column_room;
    struct name_index column_index;
    struct expr_value *values;                  /* scratch of select_values() */
    struct expr_value *derived[EXPR_ATTRIBUTE]; /* by position; NULL: not made yet */
};

static void add_column(struct placement_problem *p, const struct expr_name *name,
                       size_t *column)
{
    struct selector *s = p->selector;

    *column = name_index_find(&s->column_index, name->name);
    if (*column != NAME_NOT_FOUND)
        return;
    if (s->column_count * 2 >= s->column_index.slot_count) {
        struct name_index larger;

        name_index_create(&larger, s->column_index.slot_count, p->arena);
        for (size_t i = 0; i < s->column_count; i++)
            name_index_add(&larger, s->columns[i].name, i);
        s->column_index = larger;
    }
    if (s->column_count == s->column_room) {
        size_t room = s->column_room ? 2 * s->column_room : 16;

        s->columns = GROW(p->arena, s->columns, struct column, s->column_count, room);
        s->column_room = room;
    }
    *column = s->column_count++;
    s->columns[*column] = (struct column){
        .name = name->name,
        .written = name->written,
        .values = NEW(p->arena, struct expr_value, p->resource_count),
    };
    name_index_add(&s->column_index, name->name, *column);
}

static void bind(struct placement_problem *p, struct bound *b)
{
    b->columns = NEW(p->arena, size_t, b->expr.name_count);
    for (size_t i = 0; i < b->expr.name_count; i++) {
        b->columns[i] = NO_INDEX;
        if (b->expr.names[i].kind == EXPR_ATTRIBUTE)
            add_column(p, &b->expr.names[i], &b->columns[i]);
    }
}

/* Texts of one purpose that were read already. */
struct texts {
    struct name_index index;
    struct bound **bound; /* by position in the index; NULL: does not parse */
    size_t count;
};

static enum error_code read_text(struct placement_problem *p, const char *text,
                                 enum expr_purpose purpose, const char *pointer,
                                 struct texts *known, struct bound **out,
                                 struct error *err)
{
    enum expr_dialect dialect =
        (int)p->common[COMMON_DIALECT] == 0 ? EXPR_NATIVE : EXPR_GRIDWAY;
    size_t at = name_index_add(&known->index, text, known->count);
    enum error_code code;
    struct bound *b;

    if (at != NAME_NOT_FOUND) {
        *out = known->bound[at];
        return OK;
    }
    b = NEW(p->arena, struct bound, 1);
    code = expr_parse(text, purpose, dialect, pointer, &b->expr, p->arena, err);
    if (code == ERR_INVALID)
        b = NULL; /* reported once; the request is refused */
    else if (code != OK)
        return code;
    else
        bind(p, b);
    known->bound[known->count++] = b;
    *out = b;
    return OK;
}

static bool blank(const char *text)
{
    return !text || text[strspn(text, " \t\r\n")] == 0;
}

static bool create_texts(const struct placement_problem *p, size_t count,
                         struct texts *texts)
{
    *texts = (struct texts){.bound = NEW(p->arena, struct bound *, count)};
    name_index_create(&texts->index, count, p->arena);
    return true;
}

/* A partition is the same for all jobs: no names that depend on them or on the plan. */
static void check_partition(const struct bound *b, const char *pointer, struct error *err)
{
    for (size_t i = 0; i < b->expr.name_count; i++)
        if (b->expr.names[i].kind >= EXPR_SLOTS_FREE &&
            b->expr.names[i].kind < EXPR_ATTRIBUTE)
            invalid(err, pointer, ITEM_NOT_ALLOWED,
                    "'%.60s' is no member or attribute of a resource",
                    b->expr.names[i].written);
}

static enum error_code read_partitions(struct placement_problem *p, struct error *err)
{
    const struct snapshot *s = p->in->snapshot;
    struct texts texts;

    if (!p->in->world)
        return OK;
    create_texts(p, s->partition_count, &texts);
    p->selector->partitions = NEW(p->arena, struct bound *, s->partition_count);
    for (size_t i = 0; i < s->partition_count; i++) {
        struct bound **b = &p->selector->partitions[i];
        char pointer[64];

        if (!s->partitions[i].requirement)
            continue;
        snprintf(pointer, sizeof(pointer), "/snapshot/partitions/%zu/requirement", i);
        TRY(read_text(p, s->partitions[i].requirement, EXPR_REQUIREMENT, pointer, &texts,
                      b, err));
        if (*b)
            check_partition(*b, pointer, err);
    }
    return OK;
}

void select_partition(const struct placement_problem *p, size_t partition, uint64_t *mask)
{
    const struct expr *e = &p->selector->partitions[partition]->expr;

    for (size_t pos = 0; pos < p->resource_count; pos++) {
        struct select_state state = {0};

        if (budget_step(p->in->budget, e->op_count + 1))
            return;
        if (expr_requirement(e, select_values(p, e, 0, pos, &state)) == EXPR_TRUE)
            mask[pos / BLOCK] |= UINT64_C(1) << (pos % BLOCK);
    }
}

static enum error_code read_all(struct placement_problem *p, struct error *err)
{
    size_t requirement_count = 0, rank_count = 0;
    struct texts requirements, ranks;

    for (size_t i = 0; i < p->job_count; i++) {
        requirement_count += !blank(p->jobs[i].given->requirement);
        rank_count += !blank(p->jobs[i].given->rank);
    }
    create_texts(p, requirement_count, &requirements);
    create_texts(p, rank_count, &ranks);
    for (size_t i = 0; i < p->job_count; i++) {
        const struct job *job = p->jobs[i].given;
        char pointer[64];

        if (job->copy) {
            p->selector->requirements[i] = p->selector->requirements[i - 1];
            p->selector->ranks[i] = p->selector->ranks[i - 1];
            continue;
        }
        snprintf(pointer, sizeof(pointer), "/jobs/%zu/requirement", i);
        if (!blank(job->requirement))
            TRY(read_text(p, job->requirement, EXPR_REQUIREMENT, pointer, &requirements,
                          &p->selector->requirements[i], err));
        snprintf(pointer, sizeof(pointer), "/jobs/%zu/rank", i);
        if (!blank(job->rank))
            TRY(read_text(p, job->rank, EXPR_RANK, pointer, &ranks,
                          &p->selector->ranks[i], err));
    }
    return read_partitions(p, err);
}

/* Copies `name` in lower case; false if it is longer than any name. */
static bool lower_case(const char *name, char *out, size_t size)
{
    size_t i = 0;

    for (; name[i] && i + 1 < size; i++)
        out[i] = (char)tolower((unsigned char)name[i]);
    out[i] = 0;
    return name[i] == 0;
}

static void fill_columns(struct placement_problem *p)
{
    struct selector *s = p->selector;
    char name[512];

    if (s->column_count == 0)
        return;
    for (size_t k = 0; k < s->column_count && p->in->world; k++)
        if (amounts_column(p, s->columns[k].written, s->columns[k].values))
            s->columns[k].defined = true;
    for (size_t pos = 0; pos < p->resource_count; pos++) {
        const struct resource *r = p->resources[pos].given;

        for (size_t k = 0; k < r->attribute_count; k++) {
            size_t column;

            if (!r->attributes[k].name ||
                !lower_case(r->attributes[k].name, name, sizeof(name)))
                continue;
            column = name_index_find(&s->column_index, name);
            if (column == NAME_NOT_FOUND ||
                s->columns[column].values[pos].type != VALUE_UNDEFINED)
                continue;
            s->columns[column].values[pos] = expr_attribute(&r->attributes[k]);
            s->columns[column].defined = true;
        }
    }
}

enum { KNOWN_MAX = 256, UNKNOWN_WARNINGS_MAX = 20 };

/* Names that would have had a value: derived ones and attributes. */
static size_t known_names(const struct placement_problem *p, const char **known)
{
    size_t count = 0;

    for (size_t i = 0; i < EXPR_ATTRIBUTE; i++)
        known[count++] = expr_derived_names[i].name;
    for (size_t pos = 0; pos < p->resource_count && pos < 1000; pos++) {
        const struct resource *r = p->resources[pos].given;

        for (size_t k = 0; k < r->attribute_count && count < KNOWN_MAX; k++) {
            size_t i = 0;

            while (i < count && r->attributes[k].name &&
                   strcmp(known[i], r->attributes[k].name) != 0)
                i++;
            if (i == count && r->attributes[k].name)
                known[count++] = r->attributes[k].name;
        }
    }
    return count;
}

static enum error_code warn_unknown(struct placement_problem *p)
{
    const struct selector *s = p->selector;
    const char *known[KNOWN_MAX];
    size_t known_count = 0, warnings = 0;

    for (size_t i = 0; i < s->column_count && warnings < UNKNOWN_WARNINGS_MAX; i++) {
        const char *nearest;

        if (s->columns[i].defined)
            continue;
        if (known_count == 0)
            known_count = known_names(p, known);
        nearest = names_nearest(s->columns[i].name, known, known_count);
        warnings++;
        problem_warn(p, "unknown_attribute: no resource has '%.80s'%s%.80s%s",
                     s->columns[i].written, nearest ? "; did you mean '" : "",
                     nearest ? nearest : "", nearest ? "'?" : "");
    }
    return OK;
}

enum error_code select_prepare(struct placement_problem *p, struct error *err)
{
    size_t before = err->item_count;
    struct selector *s = NEW(p->arena, struct selector, 1);

    name_index_create(&s->column_index, 64, p->arena);
    p->selector = s;
    s->requirements = NEW(p->arena, struct bound *, p->job_count);
    s->ranks = NEW(p->arena, struct bound *, p->job_count);
    s->values = NEW(p->arena, struct expr_value, EXPR_NODES_MAX);
    TRY(read_all(p, err));
    if (err->item_count > before)
        return ERR_INVALID;
    fill_columns(p);
    return p->resource_count ? warn_unknown(p) : OK;
}

const struct expr *select_requirement(const struct placement_problem *p, size_t job)
{
    const struct bound *b = p->selector->requirements[job];

    return b ? &b->expr : NULL;
}

bool select_by_job(const struct expr *e)
{
    for (size_t i = 0; i < e->name_count; i++)
        if (e->names[i].kind == EXPR_EXECUTION_S || e->names[i].kind == EXPR_TRANSFER_S ||
            e->names[i].kind == EXPR_TURNAROUND_S)
            return true;
    return false;
}

struct select_state select_state_now(const struct placement_problem *p, size_t job,
                                     size_t pos)
{
    const struct problem_resource *r = &p->resources[pos];
    const struct problem_job *j = &p->jobs[job];
    const size_t *files = problem_files(p, j, pos);
    struct select_state state = {
        .slots_free = fmax(0, (double)resource_slots(r->given) - r->given->job_count),
        .queue_wait_s = r->first_free_s,
    };

    if (j->file_count && !files)
        state.transfer_s = HUGE_VAL;
    for (size_t k = 0; files && k < j->file_count; k++)
        state.transfer_s +=
            files[k] == NO_INDEX ? HUGE_VAL : problem_transfer_s(p, files[k], r->site);
    return state;
}

static double execution_s(const struct placement_problem *p, const struct problem_job *j,
                          size_t pos, const struct select_state *state)
{
    return state->runs ? state->execution_s : problem_execution_s(p, j, pos);
}

/* Queue wait, transfers, run and outputs; HUGE_VAL: not known. */
static double turnaround_s(const struct placement_problem *p, const struct problem_job *j,
                           size_t pos, const struct select_state *state)
{
    if (state->runs)
        return state->queue_wait_s + state->transfer_s + state->execution_s +
               state->output_s;
    return state->queue_wait_s + state->transfer_s + problem_execution_s(p, j, pos) +
           problem_output_s(p, j, pos);
}

static struct expr_value derived(const struct placement_problem *p,
                                 enum expr_name_kind kind, size_t job, size_t pos,
                                 const struct select_state *state)
{
    const struct problem_resource *r = &p->resources[pos];
    const struct problem_job *j = &p->jobs[job];

    switch (kind) {
    case EXPR_RESOURCE_ID:
        return expr_text(r->given->id);
    case EXPR_SITE_ID:
        return expr_text(r->given->site_id);
    case EXPR_MIPS_TOTAL:
        return expr_number(r->given->mips_total);
    case EXPR_MIPS_EXTERNAL:
        return expr_number(r->given->mips_external);
    case EXPR_MIPS_FREE:
        return expr_number(r->speed_mips);
    case EXPR_CPU_FREE:
        return r->given->mips_total > 0
                   ? expr_number(r->speed_mips / r->given->mips_total * 100)
                   : expr_number(HUGE_VAL);
    case EXPR_N_MAX:
        return expr_number((double)resource_slots(r->given));
    case EXPR_SLOTS_FREE:
        return expr_number(state->slots_free);
    case EXPR_QUEUE_WAIT_S:
        return expr_number(state->queue_wait_s);
    case EXPR_EXECUTION_S:
        return expr_number(execution_s(p, j, pos, state));
    case EXPR_TRANSFER_S:
        return expr_number(state->transfer_s);
    case EXPR_TURNAROUND_S:
        return expr_number(turnaround_s(p, j, pos, state));
    case EXPR_ATTRIBUTE:
        break;
    }
    return expr_text(NULL);
}

const struct expr_value *select_values(const struct placement_problem *p,
                                       const struct expr *e, size_t job, size_t pos,
                                       const struct select_state *state)
{
    const struct bound *b = (const struct bound *)(const void *)e;
    struct expr_value *values = p->selector->values;

    for (size_t i = 0; i < e->name_count; i++)
        values[i] = b->columns[i] == NO_INDEX
                        ? derived(p, e->names[i].kind, job, pos, state)
                        : p->selector->columns[b->columns[i]].values[pos];
    return values;
}

size_t select_column(const struct placement_problem *p, const struct expr *e, size_t name)
{
    const struct bound *b = (const struct bound *)(const void *)e;

    (void)p;
    return b->columns[name] == NO_INDEX ? (size_t)e->names[name].kind
                                        : EXPR_ATTRIBUTE + b->columns[name];
}

size_t select_column_count(const struct placement_problem *p)
{
    return EXPR_ATTRIBUTE + p->selector->column_count;
}

const struct expr_value *select_column_values(const struct placement_problem *p,
                                              size_t column)
{
    struct selector *s = p->selector;
    struct expr_value *values;

    if (column >= EXPR_ATTRIBUTE)
        return s->columns[column - EXPR_ATTRIBUTE].values;
    if (s->derived[column])
        return s->derived[column];
    values = NEW(p->arena, struct expr_value, p->resource_count);
    for (size_t pos = 0; pos < p->resource_count; pos++) {
        struct select_state state = select_state_now(p, 0, pos);

        values[pos] = derived(p, (enum expr_name_kind)column, 0, pos, &state);
    }
    s->derived[column] = values;
    return values;
}

double select_rank(const struct placement_problem *p, size_t job, size_t pos,
                   const struct select_state *state)
{
    const struct bound *b = p->selector->ranks[job];
    const struct problem_job *j = &p->jobs[job];
    double rank;

    if (b)
        return expr_rank(&b->expr, select_values(p, &b->expr, job, pos, state));
    if (!j->etc_s && isnan(j->estimate_ref_s) &&
        !(state->runs && j->given->estimate_s >= 0))
        return 0;
    rank = -turnaround_s(p, j, pos, state);
    return isfinite(rank) ? rank : (double)NAN;
}
