/* placement/clauses.c - requirements as sets of resources. */
#include "algorithms/placement/clauses.h"

#include "algorithms/placement/pair_map.h"
#include "algorithms/placement/select.h"

#include <string.h>

enum {
    KEPT_BYTES_MAX = 64 << 20, /* of sets; further clauses are evaluated each time */
    POLL = 256,                /* evaluations between two looks at the clock */
    CLAUSE_STEPS = 16          /* what its text costs, about */
};

/* Bits by position. */
struct sets {
    uint64_t *yes, *no;
};

/* A column in the forms that are quick to go through, each made when first needed. */
struct column {
    double *numbers;  /* by position; NAN: not a number */
    uint64_t *known;  /* bit set: a number */
    uint32_t *kinds;  /* by position: number of the distinct value */
    size_t *examples; /* by kind: a position that has it */
    size_t kind_count;
};

struct clauses {
    const struct placement_problem *p;
    struct name_index index; /* of the texts of clauses */
    size_t *uses;            /* by clause: requirements that have it */
    struct sets *kept;       /* by clause; NULL: not kept (yet) */
    size_t kept_bytes;
    struct sets scratch;
    struct column *columns;
    struct name_index texts; /* scratch: kinds of texts */
    struct pair_map numbers; /* scratch: kinds of other values */
    uint8_t *truths;         /* scratch: by kind */
    struct expr_value *values;
    size_t *slots; /* scratch: names of a clause */
    size_t polled; /* evaluations since the last look at the clock */
};

static bool make_sets(const struct clauses *s, struct sets *sets)
{
    sets->yes = NEW(s->p->arena, uint64_t, s->p->block_count);
    sets->no = NEW(s->p->arena, uint64_t, s->p->block_count);
    return true;
}

static bool count_uses(struct clauses *s, const struct expr *const *list, size_t count)
{
    size_t clause_count = 0, known_count = 0;

    for (size_t i = 0; i < count; i++)
        clause_count += list[i] ? list[i]->clause_count : 0;
    s->uses = NEW(s->p->arena, size_t, clause_count);
    s->kept = NEW(s->p->arena, struct sets, clause_count);
    name_index_create(&s->index, clause_count, s->p->arena);
    for (size_t i = 0; i < count; i++) {
        size_t clauses = list[i] ? list[i]->clause_count : 0;

        /* Classes share expressions. Who finds the time up asks for no clause any more.
         */
        if (budget_step(s->p->in->budget, CLAUSE_STEPS * clauses))
            break;
        for (size_t k = 0; k < clauses; k++) {
            size_t known =
                name_index_add(&s->index, list[i]->clauses[k].text, known_count);

            s->uses[known == NAME_NOT_FOUND ? known_count++ : known]++;
        }
    }
    return true;
}

struct clauses *clauses_create(const struct placement_problem *p,
                               const struct expr *const *list, size_t count)
{
    struct clauses *s = NEW(p->arena, struct clauses, 1);

    s->p = p;
    s->columns = NEW(p->arena, struct column, select_column_count(p));
    s->values = NEW(p->arena, struct expr_value, EXPR_NODES_MAX);
    s->slots = NEW(p->arena, size_t, EXPR_NODES_MAX);
    make_sets(s, &s->scratch);
    count_uses(s, list, count);
    return s;
}

/* ---- columns ---- */

static void need_numbers(struct clauses *s, size_t column)
{
    struct column *c = &s->columns[column];
    const struct expr_value *values = select_column_values(s->p, column);
    size_t room = s->p->block_count * BLOCK;

    if (c->numbers)
        return;
    c->numbers = NEW(s->p->arena, double, room);
    c->known = NEW(s->p->arena, uint64_t, s->p->block_count);
    for (size_t pos = 0; pos < room; pos++) {
        bool number = pos < s->p->resource_count && (values[pos].type == VALUE_NUMBER ||
                                                     values[pos].type == VALUE_BOOLEAN);

        c->numbers[pos] = number ? values[pos].number : (double)NAN;
        c->known[pos / BLOCK] |= (uint64_t)number << (pos % BLOCK);
    }
}

static void need_scratch(struct clauses *s)
{
    if (s->truths) {
        memset(s->texts.key, 0, s->texts.slot_count * sizeof(*s->texts.key));
        memset(s->numbers.places, 0, (s->numbers.mask + 1) * sizeof(*s->numbers.places));
        return;
    }
    name_index_create(&s->texts, s->p->resource_count, s->p->arena);
    pair_map_create(&s->numbers, s->p->resource_count, s->p->arena);
    s->truths = NEW(s->p->arena, uint8_t, s->p->resource_count);
}

/* The kind of a value; `next` if it is the first of its kind. */
static size_t kind_of(struct clauses *s, const struct expr_value *v, size_t next)
{
    struct pair_place *place;
    uint64_t bits = 0;
    size_t known;

    if (v->type == VALUE_TEXT) {
        known = name_index_add(&s->texts, v->text, next);
        return known == NAME_NOT_FOUND ? next : known;
    }
    if (v->type != VALUE_UNDEFINED)
        memcpy(&bits, &v->number, sizeof(bits));
    place = pair_map_at(&s->numbers, v->type, bits);
    if (!place->a)
        *place = (struct pair_place){v->type + (size_t)1, bits, next};
    return place->value;
}

static void need_kinds(struct clauses *s, size_t column)
{
    struct column *c = &s->columns[column];
    const struct expr_value *values = select_column_values(s->p, column);
    size_t count = s->p->resource_count;

    if (c->kinds)
        return;
    c->kinds = NEW(s->p->arena, uint32_t, count);
    c->examples = NEW(s->p->arena, size_t, count);
    need_scratch(s);
    for (size_t pos = 0; pos < count; pos++) {
        size_t kind = kind_of(s, &values[pos], c->kind_count);

        if (kind == c->kind_count)
            c->examples[c->kind_count++] = pos;
        c->kinds[pos] = (uint32_t)kind;
    }
}

/* ---- sets of a clause ---- */

/* Bits of the block's numbers for which `v OP number` holds; none holds for NAN. */
#define COMPARE(word, v, OP, number)            \
    for (size_t bit_ = 0; bit_ < BLOCK; bit_++) \
    (word) |= (uint64_t)((v)[bit_] OP(number)) << bit_

/* Where the threshold is met, of the block's numbers; `known` are not NAN. */
static uint64_t meets(const struct expr_threshold *t, const double *v, uint64_t known)
{
    uint64_t bits = 0;

    if (t->less == t->greater) { /* == or != */
        COMPARE(bits, v, ==, t->number);
        return t->equal ? bits : known & ~bits;
    }
    if (t->less != t->equal) /* < or >=, which is not < */
        COMPARE(bits, v, <, t->number);
    else
        COMPARE(bits, v, >, t->number);
    return t->equal ? known & ~bits : bits;
}

static void compare_numbers(const struct clauses *s, const struct column *c,
                            const struct expr_threshold *t, struct sets *sets)
{
    for (size_t b = 0; b < s->p->block_count; b++) {
        const double *v = c->numbers + b * BLOCK;
        double whole[BLOCK];

        for (size_t i = 0; t->whole && i < BLOCK; i++)
            whole[i] = trunc(v[i]);
        sets->yes[b] = meets(t, t->whole ? whole : v, c->known[b]);
        sets->no[b] = c->known[b] & ~sets->yes[b];
    }
}

static bool time_is_up(struct clauses *s)
{
    if (++s->polled < POLL)
        return false;
    s->polled = 0;
    return budget_used(s->p->in->budget) >= TOO_LATE;
}

static void clear(const struct clauses *s, struct sets *sets)
{
    memset(sets->yes, 0, s->p->block_count * sizeof(*sets->yes));
    memset(sets->no, 0, s->p->block_count * sizeof(*sets->no));
}

static void note(struct sets *sets, size_t pos, enum expr_truth truth)
{
    sets->yes[pos / BLOCK] |= (uint64_t)(truth == EXPR_TRUE) << (pos % BLOCK);
    sets->no[pos / BLOCK] |= (uint64_t)(truth == EXPR_FALSE) << (pos % BLOCK);
}

/* By the distinct values of the only name; false: the time is up. */
static bool evaluate_kinds(struct clauses *s, const struct expr *e, size_t clause,
                           size_t slot, struct sets *sets)
{
    size_t column = select_column(s->p, e, slot);
    const struct expr_value *values = select_column_values(s->p, column);
    const struct column *c = &s->columns[column];

    for (size_t kind = 0; kind < c->kind_count; kind++) {
        s->values[slot] = values[c->examples[kind]];
        s->truths[kind] = (uint8_t)expr_clause_truth(e, clause, s->values);
        if (time_is_up(s))
            return false;
    }
    clear(s, sets);
    for (size_t pos = 0; pos < s->p->resource_count; pos++)
        note(sets, pos, s->truths[c->kinds[pos]]);
    return true;
}

/* Resource by resource; false: the time is up. */
static bool evaluate_all(struct clauses *s, const struct expr *e, size_t clause,
                         size_t slot_count, struct sets *sets)
{
    clear(s, sets);
    for (size_t pos = 0; pos < s->p->resource_count; pos++) {
        for (size_t i = 0; i < slot_count; i++)
            s->values[s->slots[i]] =
                select_column_values(s->p, select_column(s->p, e, s->slots[i]))[pos];
        note(sets, pos, expr_clause_truth(e, clause, s->values));
        if (time_is_up(s))
            return false;
    }
    return true;
}

static bool one_slot(const struct clauses *s, size_t slot_count)
{
    for (size_t i = 1; i < slot_count; i++)
        if (s->slots[i] != s->slots[0])
            return false;
    return slot_count > 0;
}

static void evaluate(struct clauses *s, const struct expr *e, size_t clause,
                     struct sets *sets, bool *cut)
{
    size_t slot_count = expr_clause_names(e, clause, s->slots);
    struct expr_threshold threshold;
    size_t first = slot_count ? select_column(s->p, e, s->slots[0]) : 0;

    if (expr_clause_threshold(e, clause, &threshold)) {
        need_numbers(s, first);
        compare_numbers(s, &s->columns[first], &threshold, sets);
        return;
    }
    if (one_slot(s, slot_count)) {
        need_kinds(s, first);
        *cut = !evaluate_kinds(s, e, clause, s->slots[0], sets);
        return;
    }
    *cut = !evaluate_all(s, e, clause, slot_count, sets);
}

/* The clause's sets, kept if other requirements have it too. */
static void find_sets(struct clauses *s, const struct expr *e, size_t clause,
                      const struct sets **out, bool *cut)
{
    size_t number = name_index_find(&s->index, e->clauses[clause].text);
    size_t bytes = 2 * s->p->block_count * sizeof(uint64_t);
    struct sets *kept = &s->kept[number];
    struct sets made = s->scratch;

    *out = kept;
    if (kept->yes)
        return;
    *out = &s->scratch;
    if (s->uses[number] > 1 && s->kept_bytes + bytes <= KEPT_BYTES_MAX) {
        make_sets(s, &made);
        s->kept_bytes += bytes;
        *out = kept;
    }
    evaluate(s, e, clause, &made, cut);
    if (*out == kept && !*cut)
        *kept = made;
}

void clauses_narrow(struct clauses *s, const struct expr *e, uint64_t *yes, uint64_t *no,
                    bool *cut)
{
    *cut = false;
    for (size_t k = 0; k < e->clause_count; k++) {
        const struct sets *sets;

        find_sets(s, e, k, &sets, cut);
        if (*cut)
            return;
        for (size_t b = 0; b < s->p->block_count; b++) {
            yes[b] &= sets->yes[b];
            no[b] |= sets->no[b];
        }
    }
}

const uint64_t *clauses_true(struct clauses *s, const struct expr *e, size_t clause,
                             bool *cut)
{
    const struct sets *sets;

    *cut = false;
    find_sets(s, e, clause, &sets, cut);
    return sets->yes;
}
