/* placement/amounts_changes.c - which change of an attribute would let most jobs run
 * somewhere.
 *
 * Jobs are kinds by class, needs and partitions. Clause by clause the kinds are added up
 * that lack it alone, in one column of resources, so that memory does not grow with the
 * clauses. */
#include "algorithms/placement/amounts_changes.h"

#include "algorithms/placement/amounts_files.h"
#include "algorithms/placement/clauses.h"
#include "algorithms/placement/pair_map.h"
#include "algorithms/placement/select.h"
#include "algorithms/world/columns.h"

#include <stdlib.h>
#include <string.h>

/* Jobs that nothing tells apart here. */
struct kind {
    size_t example, job_class;
    size_t job_count;
    double weight;
    size_t next; /* of the class; WORLD_NONE */
};

/* The clauses of a class whose requirement some resource does not meet. */
struct class_clauses {
    const struct expr *of; /* NULL: all meet it, or it was not looked at */
    size_t *numbers;       /* by clause: of its text */
    size_t first_kind, last_kind;
};

/* A clause, and a class that has it. */
struct use {
    size_t number, job_class;
};

struct search {
    const struct placement_problem *p;
    const struct amounts_world *made;
    const struct world *w;
    size_t words;
    struct class_clauses *classes;
    struct kind *kinds;
    size_t kind_count;
    struct name_index texts;
    const char **text, **name; /* by number of a clause; name NULL: nothing to change */
    size_t text_count, text_room;
    struct use *uses;
    size_t use_count;
    struct columns *columns;
    struct column_short *list; /* scratch */
    uint64_t *mask, *passed, *ones, *twice, *alone, *untrue;
    size_t *counts; /* by position, of the clause that is added up */
    double *weights;
    struct clause_changes *out;
    struct arena *arena;
};

static bool is_late(const struct search *s, size_t steps)
{
    return budget_step(s->w->budget, steps) || budget_used(s->p->in->budget) >= TOO_LATE;
}

/* ---- what there is to add up ---- */

/* What the amounts that are free now are called is no property of a resource. */
static bool can_change(const struct expr_name *name)
{
    const char *tail = strstr(name->name, "_free_now");

    if (name->kind == EXPR_MIPS_TOTAL || name->kind == EXPR_N_MAX)
        return true;
    return name->kind == EXPR_ATTRIBUTE && strncmp(name->name, "free_now.", 9) != 0 &&
           !tail;
}

static const char *changed_name(const struct expr *e, size_t clause, size_t *slots)
{
    size_t count = expr_clause_names(e, clause, slots);

    for (size_t i = 0; i < count; i++)
        if (can_change(&e->names[slots[i]]))
            return e->names[slots[i]].name;
    return NULL;
}

static size_t number_clause(struct search *s, const struct expr *e, size_t clause,
                            size_t *slots)
{
    bool native = (int)s->p->common[COMMON_DIALECT] == 0;
    const char *text =
        expr_clause_canonical(e, clause, native ? EXPR_NATIVE : EXPR_GRIDWAY, s->arena);
    size_t known = name_index_add(&s->texts, text, s->text_count);

    if (known != NAME_NOT_FOUND)
        return known;
    s->text[s->text_count] = text;
    s->name[s->text_count] = changed_name(e, clause, slots);
    return s->text_count++;
}

static size_t unmet_count(const struct search *s, const struct problem_class *c)
{
    size_t count = 0;

    for (size_t b = 0; c->rights && b < s->p->block_count; b++)
        count += (size_t)__builtin_popcountll(c->rights[b] & ~c->mask[b]);
    return count;
}

/* The requirement of the class, where it is what drops a resource. */
static const struct expr *requirement_of(const struct search *s, size_t job_class)
{
    const struct problem_class *c = &s->p->classes[job_class];

    return c->cut || unmet_count(s, c) == 0 ? NULL : select_requirement(s->p, c->example);
}

static void read_classes(struct search *s, const bool *wanted)
{
    size_t *slots = NEW(s->arena, size_t, EXPR_NODES_MAX), room = 0, used = 0;

    s->classes = NEW(s->arena, struct class_clauses, s->p->class_count);
    for (size_t c = 0; c < s->p->class_count; c++) {
        s->classes[c].first_kind = s->classes[c].last_kind = WORLD_NONE;
        if (!wanted[c])
            continue;
        if (is_late(s, s->words)) {
            s->out->cut = true;
            return;
        }
        s->classes[c].of = requirement_of(s, c);
        room += s->classes[c].of ? s->classes[c].of->clause_count : 0;
    }
    name_index_create(&s->texts, room, s->arena);
    s->text = NEW(s->arena, const char *, room);
    s->name = NEW(s->arena, const char *, room);
    s->uses = NEW(s->arena, struct use, room);
    for (size_t c = 0; c < s->p->class_count; c++) {
        const struct expr *e = s->classes[c].of;

        if (!e)
            continue;
        s->classes[c].numbers = NEW(s->arena, size_t, e->clause_count);
        for (size_t k = 0; k < e->clause_count; k++) {
            budget_step(s->w->budget, e->clauses[k].op_count);
            s->classes[c].numbers[k] = number_clause(s, e, k, slots);
            s->uses[used++] = (struct use){s->classes[c].numbers[k], c};
        }
    }
    s->use_count = used;
}

static int by_number(const void *a, const void *b)
{
    const struct use *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->job_class < y->job_class ? -1 : x->job_class > y->job_class;
}

/* A number that is equal for jobs that nothing tells apart here. */
static size_t kind_number(const struct search *s, struct pair_map *map, size_t job)
{
    const struct world_job *j = &s->w->jobs[job];
    size_t key =
        pair_map_number(map, (size_t)(uintptr_t)j->needs, s->p->jobs[job].job_class);

    for (size_t k = 0; k < j->choice_count; k++)
        key = pair_map_number(map, 2 * key, (size_t)(uintptr_t)j->choices[k].mask);
    return s->p->jobs[job].file_count ? pair_map_number(map, 2 * key + 1, job) : key;
}

static void make_kinds(struct search *s, const size_t *jobs, size_t job_count)
{
    size_t room = 0;
    struct pair_map map;
    size_t *kind_of;

    for (size_t i = 0; i < job_count; i++)
        room += s->w->jobs[jobs[i]].choice_count + 2;
    pair_map_create(&map, room, s->arena);
    kind_of = NEW(s->arena, size_t, room); /* one more than its number; 0: none */
    s->kinds = NEW(s->arena, struct kind, job_count);
    for (size_t i = 0; i < job_count; i++) {
        size_t c = s->p->jobs[jobs[i]].job_class, number;
        struct class_clauses *own = &s->classes[c];
        struct kind *kind;

        budget_step(s->w->budget, s->w->jobs[jobs[i]].choice_count);
        if (!own->of)
            continue;
        number = kind_number(s, &map, jobs[i]);
        if (!kind_of[number]) {
            kind_of[number] = ++s->kind_count;
            s->kinds[s->kind_count - 1] =
                (struct kind){.example = jobs[i], .job_class = c, .next = WORLD_NONE};
            if (own->first_kind == WORLD_NONE)
                own->first_kind = s->kind_count - 1;
            else
                s->kinds[own->last_kind].next = s->kind_count - 1;
            own->last_kind = s->kind_count - 1;
        }
        kind = &s->kinds[kind_of[number] - 1];
        kind->job_count++;
        kind->weight += s->w->jobs[jobs[i]].weight;
    }
}

/* ---- where a clause is the only one that is not true ---- */

/* Adds where clause k of the class is not true, of the resources that its jobs have
 * rights to; false: the time is up. */
static bool find_untrue(struct search *s, size_t job_class, size_t k, uint64_t *untrue)
{
    const struct problem_class *c = &s->p->classes[job_class];
    const struct expr *e = s->classes[job_class].of;
    const uint64_t *yes;
    bool cut;

    if (is_late(s, s->words))
        return false;
    if (!select_by_job(e)) {
        yes = clauses_true(s->p->clauses, e, k, &cut);
        for (size_t b = 0; !cut && b < s->words; b++)
            untrue[b] |= c->rights[b] & ~yes[b];
        return !cut;
    }
    for (size_t b = 0; b < s->words; b++)
        for (uint64_t left = c->rights[b] & ~c->mask[b]; left; left &= left - 1) {
            size_t pos = b * BLOCK + (size_t)__builtin_ctzll(left);
            struct select_state state = {0};

            if (is_late(s, e->clauses[k].op_count))
                return false;
            if (e->on_plan)
                state = select_state_now(s->p, c->example, pos);
            if (expr_clause_truth(
                    e, k, select_values(s->p, e, c->example, pos, &state)) != EXPR_TRUE)
                untrue[b] |= left & -left;
        }
    return true;
}

/* Clauses of one text are one; whether a clause is the first of its. */
static bool is_first(const struct class_clauses *c, size_t k)
{
    for (size_t i = 0; i < k; i++)
        if (c->numbers[i] == c->numbers[k])
            return false;
    return true;
}

/* s->alone: where that one alone is not true. False: the time is up. */
static bool find_alone(struct search *s, const struct use *u)
{
    const struct class_clauses *c = &s->classes[u->job_class];
    size_t bytes = s->words * sizeof(uint64_t);

    memset(s->ones, 0, bytes);
    memset(s->twice, 0, bytes);
    memset(s->alone, 0, bytes);
    for (size_t k = 0; k < c->of->clause_count; k++) {
        if (!is_first(c, k))
            continue;
        memset(s->untrue, 0, bytes);
        if (!find_untrue(s, u->job_class, k, s->untrue))
            return false;
        for (size_t b = 0; b < s->words; b++) {
            s->twice[b] |= s->ones[b] & s->untrue[b];
            s->ones[b] |= s->untrue[b];
            if (c->numbers[k] == u->number)
                s->alone[b] = s->untrue[b];
        }
    }
    for (size_t b = 0; b < s->words; b++)
        s->alone[b] &= ~s->twice[b];
    return true;
}

static bool is_empty(const uint64_t *set, size_t words)
{
    uint64_t any = 0;

    for (size_t b = 0; b < words; b++)
        any |= set[b];
    return any == 0;
}

/* ---- adding up ---- */

static void add_kind(struct search *s, const struct kind *kind)
{
    bool files = s->p->jobs[kind->example].file_count ||
                 s->p->jobs[kind->example].given->output_bytes > 0;

    amounts_would_use(s->made->masks, kind->example, s->mask);
    columns_count(s->columns, s->w->jobs[kind->example].needs, s->mask, s->list,
                  s->passed);
    for (size_t b = 0; b < s->words; b++)
        for (uint64_t left = s->passed[b] & s->alone[b]; left; left &= left - 1) {
            size_t pos = b * BLOCK + (size_t)__builtin_ctzll(left);

            if (files && amounts_file_filter(s->p, kind->example, pos) != FILTER_PASSED)
                continue;
            s->counts[pos] += kind->job_count;
            s->weights[pos] += kind->weight;
        }
}

static bool is_before(const struct search *s, const struct clause_change *a,
                      const struct clause_change *b)
{
    size_t x = s->w->resources[a->position].index;
    size_t y = s->w->resources[b->position].index;

    if (a->job_count != b->job_count)
        return a->job_count > b->job_count;
    if (a->weight != b->weight)
        return a->weight > b->weight;
    if (x != y || !a->clause || !b->clause)
        return x < y;
    return strcmp(a->clause, b->clause) < 0;
}

static void keep(struct search *s, const struct clause_change *change)
{
    struct clause_changes *out = s->out;
    size_t i = out->change_count;

    while (i > 0 && is_before(s, change, &out->changes[i - 1]))
        i--;
    if (i == WHAT_IF_CHANGES_MAX)
        return;
    if (out->change_count < WHAT_IF_CHANGES_MAX)
        out->change_count++;
    memmove(&out->changes[i + 1], &out->changes[i],
            (out->change_count - 1 - i) * sizeof(*change));
    out->changes[i] = *change;
}

/* What was added up of a clause. */
static void keep_best(struct search *s, size_t number)
{
    for (size_t pos = 0; pos < s->w->resource_count; pos++) {
        struct clause_change change = {
            .position = pos,
            .clause = s->text[number],
            .name = s->name[number],
            .number = number,
            .job_count = s->counts[pos],
            .weight = s->weights[pos],
        };

        if (change.job_count)
            keep(s, &change);
        s->counts[pos] = 0;
        s->weights[pos] = 0;
    }
}

/* All kinds of the class that lack the clause alone somewhere; false: the time is up. */
static bool add_class(struct search *s, const struct use *u)
{
    size_t k = s->classes[u->job_class].first_kind;

    if (!find_alone(s, u))
        return false;
    if (is_empty(s->alone, s->words))
        return true;
    for (; k != WORLD_NONE; k = s->kinds[k].next) {
        if (is_late(s, s->words * (1 + s->w->node_amount_count)))
            return false;
        add_kind(s, &s->kinds[k]);
    }
    return true;
}

static bool same_use(const struct use *a, const struct use *b)
{
    return a->number == b->number && a->job_class == b->job_class;
}

/* Another class behind this one has the clause. */
static bool has_more(const struct search *s, size_t i)
{
    size_t k = i + 1;

    while (k < s->use_count && same_use(&s->uses[k], &s->uses[i]))
        k++;
    return k < s->use_count && s->uses[k].number == s->uses[i].number;
}

static void add_up(struct search *s)
{
    for (size_t i = 0; i < s->use_count; i++) {
        const struct use *u = &s->uses[i];

        if (!s->name[u->number] || (i > 0 && same_use(u, u - 1)))
            continue;
        s->out->cut = !add_class(s, u);
        if (s->out->cut)
            return;
        if (!has_more(s, i)) {
            budget_step(s->w->budget, s->w->resource_count);
            keep_best(s, u->number);
        }
    }
}

/* ---- whom it helps ---- */

/* The class has the clause, and on the resource it alone is not true. */
static bool lacks_it_alone(struct search *s, const struct clause_change *change,
                           size_t job_class)
{
    const struct class_clauses *c = &s->classes[job_class];
    bool has = false;

    for (size_t k = 0; c->of && k < c->of->clause_count; k++)
        has = has || c->numbers[k] == change->number;
    return has && find_alone(s, &(struct use){change->number, job_class}) &&
           world_mask_has(s->alone, change->position);
}

static bool helps(struct search *s, const struct clause_change *change, size_t job)
{
    amounts_would_use(s->made->masks, job, s->mask);
    return world_mask_has(s->mask, change->position) &&
           world_large_enough(s->w, &s->w->jobs[job], change->position) &&
           amounts_file_filter(s->p, job, change->position) == FILTER_PASSED;
}

static void list_jobs(struct search *s, const size_t *jobs, size_t job_count,
                      struct clause_change *change)
{
    enum { NOT_KNOWN, LACKS, LACKS_NOT };
    unsigned char *state = NEW(s->arena, unsigned char, s->p->class_count);

    for (size_t i = 0; i < job_count && change->listed_count < WHAT_IF_JOBS_MAX; i++) {
        size_t c = s->p->jobs[jobs[i]].job_class, n = change->listed_count;

        if (is_late(s, 1))
            return;
        if (state[c] == NOT_KNOWN)
            state[c] = lacks_it_alone(s, change, c) ? LACKS : LACKS_NOT;
        if (state[c] == LACKS_NOT ||
            (n && s->w->jobs[change->jobs[n - 1]].id == s->w->jobs[jobs[i]].id))
            continue;
        budget_step(s->w->budget, s->words);
        if (helps(s, change, jobs[i]))
            change->jobs[change->listed_count++] = jobs[i];
    }
}

static void make_scratch(struct search *s)
{
    struct arena *a = s->arena;
    size_t m = s->w->resource_count;

    s->columns = columns_of_capacities(s->w, a);
    s->list = NEW(a, struct column_short, s->w->node_amount_count);
    s->mask = NEW(a, uint64_t, s->words + 1);
    s->passed = NEW(a, uint64_t, s->words + 1);
    s->ones = NEW(a, uint64_t, s->words + 1);
    s->twice = NEW(a, uint64_t, s->words + 1);
    s->alone = NEW(a, uint64_t, s->words + 1);
    s->untrue = NEW(a, uint64_t, s->words + 1);
    s->counts = NEW(a, size_t, m);
    s->weights = NEW(a, double, m);
}

void amounts_changes(const struct placement_problem *p, const struct amounts_world *made,
                     const size_t *jobs, size_t job_count, struct clause_changes *out)
{
    struct search s = {.p = p,
                       .made = made,
                       .w = made->world,
                       .words = p->block_count,
                       .out = out,
                       .arena = p->arena};
    bool *wanted = NEW(p->arena, bool, p->class_count);

    *out = (struct clause_changes){0};
    for (size_t i = 0; i < job_count; i++)
        wanted[p->jobs[jobs[i]].job_class] = true;
    read_classes(&s, wanted);
    if (s.use_count == 0)
        return;
    make_kinds(&s, jobs, job_count);
    make_scratch(&s);
    qsort(s.uses, s.use_count, sizeof(*s.uses), by_number);
    add_up(&s);
    for (size_t i = 0; i < out->change_count; i++)
        list_jobs(&s, jobs, job_count, &out->changes[i]);
}
