/* world/reasons.c - why a job has no place.
 *
 * Jobs with the same resources left by the filters form a class. What resources have of
 * each amount is asked of columns: their capacities, what is free at 0, what is free when
 * all that ends has ended, and that without those whose end nobody knows.
 */
#include "algorithms/world/reasons.h"

#include "algorithms/world/columns.h"
#include "algorithms/world/profile.h"

#include <string.h>

const char *const world_wait_names[] = {
#define X(symbol, name) [symbol] = name,
    WORLD_WAITS(X)
#undef X
};

const char *const world_wait_details[] = {
    [WORLD_WAIT_NO_ESTIMATE] = "no run time is known for the job",
    [WORLD_WAIT_NO_FREE_NOW] = "there is not enough free now",
    [WORLD_WAIT_UNKNOWN_END] =
        "what it needs is held by what runs, and it is not known until when",
    [WORLD_WAIT_RESERVED_FOR_EVER] = "what it needs is reserved for ever",
    [WORLD_WAIT_SHARED_SHORT] = "there is never so much of a shared amount",
    [WORLD_WAIT_TOO_FEW_NODES] = "fewer resources suit it than it needs nodes",
    [WORLD_WAIT_GROUP_SPREAD] = "every value of its group's key has enough members",
    [WORLD_WAIT_GROUP_GANG] = "the members of its gang cannot all start together",
    [WORLD_WAIT_GROUP_PACK] = "no value of its group's key has room for it too",
    [WORLD_WAIT_AFTER_UNPLACED] = "a job that it waits for has no place",
    [WORLD_WAIT_AFTER_FAILED] = "a job that it waits for has failed",
    [WORLD_WAIT_USER_LIMIT] = "the user has as much as allowed",
    [WORLD_WAIT_ROUND_FULL] = "this round dispatched as many jobs as allowed",
    [WORLD_WAIT_NOT_RELEASED] = "the job may not start yet",
    [WORLD_WAIT_BETTER_SOON] = "a resource that is busy now would end it sooner",
    [WORLD_WAIT_LEASED] = "a live lease has it",
    [WORLD_WAIT_OUT_OF_TIME] = "the time limit was over before the job's turn",
};

/* Nearest misses of more looks in all are left out. */
static const size_t MISS_LOOKS_MAX = 200000000;

enum column_kind { OF_CAPACITY, OF_FREE_NOW, OF_FREE_AT_LAST, OF_KNOWN_ENDS, KIND_COUNT };

/* Resources that passed the filters. */
struct passed_class {
    const uint64_t *mask;
    size_t count;
    size_t *most; /* by amount: the position that has most; WORLD_NONE: not asked yet */
};

struct reasons {
    const struct world *w;
    const struct world_plan *plan;
    bool starts_now;
    struct arena *a;
    size_t words, looks;
    struct columns *columns[KIND_COUNT]; /* NULL: not asked for yet */
    const int64_t *capacity;             /* position after position */
    int64_t *shared[KIND_COUNT];         /* free of shared amounts, by amount */
    struct passed_class *classes;
    size_t class_count, room, last;
    size_t *table; /* classes + 1 by hash */
    size_t table_size;
    uint64_t *enough, *passed, *scratch; /* sets */
    struct column_short *list;
};

/* ---- what resources have ---- */

static void add(int64_t *free, const int64_t *amounts, size_t count)
{
    for (size_t k = 0; k < count; k++)
        free[k] = amount_add(free[k], amounts[k]);
}

static void subtract(int64_t *free, const int64_t *amounts, size_t count)
{
    for (size_t k = 0; k < count; k++)
        free[k] = amount_add(free[k], -amounts[k]);
}

/* At 0, when the plan's jobs have started. */
static void free_now(struct reasons *r, int64_t *has, int64_t *shared)
{
    const struct world *w = r->w;
    size_t rows = w->node_amount_count;

    for (size_t i = 0; i < w->resource_count; i++) {
        struct profile p = {0};

        budget_step(w->budget, w->resources[i].holder_count + rows);
        profile_of_resource(w, i, &p, r->a);
        memcpy(has + i * rows, p.free, rows * sizeof(*has));
    }
    for (size_t k = rows; k < w->amount_count; k++) {
        struct profile p = {0};

        budget_step(w->budget, w->holder_count);
        profile_of_shared(w, k, &p, r->a);
        shared[k] = p.free[0];
    }
    for (size_t j = 0; j < w->job_count; j++) {
        const struct world_placed *p = &r->plan->placed[j];

        if (!p->positions || p->start_s > 0 || !(p->end_s > 0))
            continue;
        budget_step(w->budget, p->position_count * rows);
        for (size_t i = 0; i < p->position_count; i++)
            subtract(has + p->positions[i] * rows, w->jobs[j].needs, rows);
        subtract(shared + rows, w->jobs[j].needs + rows, w->amount_count - rows);
    }
}

/* Held when all has ended that ever ends; `known`: and all whose end nobody knows. */
static bool stays(const struct world_holder *h, bool known)
{
    return h->end_s == HUGE_VAL && !(known && h->end_unknown);
}

static void free_of_resource(const struct reasons *r, size_t position, bool known,
                             int64_t *free)
{
    const struct world_resource *o = &r->w->resources[position];
    size_t rows = r->w->node_amount_count;
    bool closed = false;

    memcpy(free, o->capacity, rows * sizeof(*free));
    for (size_t i = 0; i < o->holder_count; i++) {
        const struct world_holder *h = &r->w->holders[o->holders[i]];

        budget_step(r->w->budget, rows);
        if (!stays(h, known))
            continue;
        closed |= h->all;
        if (h->amounts)
            subtract(free, h->amounts, rows);
    }
    for (size_t k = 0; closed && k < rows; k++)
        free[k] = free[k] > 0 ? 0 : free[k];
}

static void free_at_last(struct reasons *r, bool known, int64_t *has, int64_t *shared)
{
    const struct world *w = r->w;
    size_t rows = w->node_amount_count;

    for (size_t i = 0; i < w->resource_count; i++) {
        budget_step(w->budget, rows);
        free_of_resource(r, i, known, has + i * rows);
    }
    add(shared + rows, w->shared_capacity + rows, w->amount_count - rows);
    for (size_t h = 0; h < w->holder_count; h++) {
        budget_step(w->budget, w->amount_count - rows);
        if (stays(&w->holders[h], known) && w->holders[h].amounts)
            subtract(shared + rows, w->holders[h].amounts + rows, w->amount_count - rows);
    }
}

static void capacities(struct reasons *r, int64_t *has, int64_t *shared)
{
    const struct world *w = r->w;
    size_t rows = w->node_amount_count;

    budget_step(w->budget, w->resource_count * rows);
    for (size_t i = 0; i < w->resource_count; i++)
        memcpy(has + i * rows, w->resources[i].capacity, rows * sizeof(*has));
    add(shared + rows, w->shared_capacity + rows, w->amount_count - rows);
}

static struct columns *columns_of(struct reasons *r, enum column_kind kind)
{
    const struct world *w = r->w;
    int64_t *has, *shared;

    if (r->columns[kind])
        return r->columns[kind];
    has = NEW(r->a, int64_t, w->resource_count * w->node_amount_count);
    shared = NEW(r->a, int64_t, w->amount_count);
    if (kind == OF_CAPACITY)
        capacities(r, has, shared);
    else if (kind == OF_FREE_NOW)
        free_now(r, has, shared);
    else
        free_at_last(r, kind == OF_KNOWN_ENDS, has, shared);
    if (kind == OF_CAPACITY)
        r->capacity = has;
    r->shared[kind] = shared;
    r->columns[kind] = columns_create(w, has, r->a);
    return r->columns[kind];
}

struct reasons *reasons_create(const struct world *w, const struct world_plan *plan,
                               bool starts_now, struct arena *a)
{
    struct reasons *r = NEW(a, struct reasons, 1);

    *r = (struct reasons){.w = w, .plan = plan, .starts_now = starts_now, .a = a};
    r->words = (w->resource_count + 63) / 64;
    r->enough = NEW(a, uint64_t, r->words);
    r->passed = NEW(a, uint64_t, r->words);
    r->scratch = NEW(a, uint64_t, r->words);
    r->list = NEW(a, struct column_short, w->node_amount_count);
    return r;
}

/* ---- classes ---- */

/* All that some choice of the job has. */
static const uint64_t *mask_of(const struct reasons *r, const struct world_job *j,
                               uint64_t *scratch)
{
    if (j->choice_count == 1)
        return j->choices[0].mask;
    memset(scratch, 0, r->words * sizeof(*scratch));
    for (size_t i = 0; i < j->choice_count; i++)
        for (size_t n = 0; n < r->words; n++)
            scratch[n] |= j->choices[i].mask[n];
    return scratch;
}

static size_t hash_of(const uint64_t *mask, size_t words)
{
    uint64_t hash = words;

    for (size_t i = 0; i < words; i++) {
        hash = (hash ^ mask[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return (size_t)hash;
}

static bool same_set(const uint64_t *a, const uint64_t *b, size_t words)
{
    for (size_t i = 0; a != b && i < words; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static void grow_table(struct reasons *r)
{
    size_t more = r->room > 0 ? 2 * r->room : 32;

    if (r->class_count < r->room)
        return;
    r->classes = GROW(r->a, r->classes, struct passed_class, r->room, more);
    r->room = more;
    r->table_size = 2 * more;
    r->table = NEW(r->a, size_t, r->table_size);
    for (size_t i = 0; i < r->class_count; i++) {
        size_t slot = hash_of(r->classes[i].mask, r->words) & (r->table_size - 1);

        budget_step(r->w->budget, r->words);
        while (r->table[slot] > 0)
            slot = (slot + 1) & (r->table_size - 1);
        r->table[slot] = i + 1;
    }
}

static struct passed_class *class_of(struct reasons *r, const struct world_job *j)
{
    const uint64_t *mask = mask_of(r, j, r->scratch);
    struct passed_class *c;
    size_t slot;

    if (r->class_count > 0 && r->classes[r->last].mask == mask)
        return &r->classes[r->last];
    grow_table(r);
    slot = hash_of(mask, r->words) & (r->table_size - 1);
    for (; r->table[slot] > 0; slot = (slot + 1) & (r->table_size - 1))
        if (same_set(r->classes[r->table[slot] - 1].mask, mask, r->words))
            return &r->classes[r->last = r->table[slot] - 1];
    c = &r->classes[r->last = r->class_count];
    r->table[slot] = ++r->class_count;
    if (mask == r->scratch) {
        uint64_t *copy = NEW(r->a, uint64_t, r->words);

        memcpy(copy, mask, r->words * sizeof(*copy));
        mask = copy;
    }
    c->mask = mask;
    c->count = columns_size(columns_of(r, OF_CAPACITY), mask);
    c->most = NEW(r->a, size_t, r->w->node_amount_count);
    for (size_t k = 0; k < r->w->node_amount_count; k++)
        c->most[k] = WORLD_NONE;
    return c;
}

/* ---- too small ---- */

/* most: position that has most, by amount. */
static void list_amounts(struct reasons *r, const struct columns *c, size_t count,
                         const size_t *most, struct reason_amounts *out)
{
    struct reason_amount *amounts = NEW(r->a, struct reason_amount, count);

    for (size_t i = 0; i < count; i++) {
        const struct column_short *s = &r->list[i];

        amounts[i] = (struct reason_amount){
            .amount = s->amount,
            .needed = s->needed,
            .short_count = s->short_count,
            .alone_count = s->alone_count,
            .largest = columns_has(c, most[s->amount], s->amount),
            .largest_position = most[s->amount],
        };
    }
    out->amounts = amounts;
    out->amount_count = count;
}

static double shortfall(const struct reasons *r, size_t amount, int64_t needed,
                        int64_t has)
{
    double unit = r->w->amounts[amount].per_one, most = (double)needed;

    return (most - (double)has) / (most > unit ? most : unit);
}

/* Of the resources that lack one amount only, the one that has most of it; of several
 * amounts the least shortfall, then the least snapshot index. */
static void nearest_of_one(struct reasons *r, size_t count, struct world_reason *out)
{
    const struct columns *c = r->columns[OF_CAPACITY];

    for (size_t i = 0; i < count; i++) {
        const struct column_short *s = &r->list[i];
        size_t position;
        double lacks;

        if (s->alone_count == 0)
            continue;
        position = columns_nearest(c, s, &r->looks);
        lacks = shortfall(r, s->amount, s->needed, columns_has(c, position, s->amount));
        if (out->nearest != WORLD_NONE &&
            (lacks > out->nearest_shortfall ||
             (lacks == out->nearest_shortfall &&
              r->w->resources[position].index > r->w->resources[out->nearest].index)))
            continue;
        out->nearest = position;
        out->nearest_shortfall = lacks;
    }
}

/* Amounts of the list that the resource lacks. */
static size_t count_lacking(const struct reasons *r, const int64_t *has, size_t count)
{
    size_t lacking = 0;

    for (size_t n = 0; n < count; n++)
        lacking += has[r->list[n].amount] < r->list[n].needed;
    return lacking;
}

static double sum_shortfall(const struct reasons *r, const int64_t *has, size_t count)
{
    double lacks = 0;

    for (size_t n = 0; n < count; n++)
        if (has[r->list[n].amount] < r->list[n].needed)
            lacks += shortfall(r, r->list[n].amount, r->list[n].needed,
                               has[r->list[n].amount]);
    return lacks;
}

/* Fewest amounts, then the least sum of shortfalls, then the least snapshot index. */
static void nearest_of_all(struct reasons *r, size_t count, struct world_reason *out)
{
    const struct world_resource *resources = r->w->resources;
    const uint64_t *set = columns_fewest(r->columns[OF_CAPACITY]);
    size_t fewest = SIZE_MAX;

    for (size_t i = 0; i < r->w->resource_count; i++) {
        const int64_t *has = r->capacity + i * r->w->node_amount_count;
        size_t lacking;
        double lacks;

        if (!world_mask_has(set, i))
            continue;
        r->looks += count;
        budget_step(r->w->budget, count);
        lacking = count_lacking(r, has, count);
        if (lacking > fewest)
            continue;
        lacks = sum_shortfall(r, has, count);
        if (lacking == fewest && (lacks > out->nearest_shortfall ||
                                  (lacks == out->nearest_shortfall &&
                                   resources[i].index > resources[out->nearest].index)))
            continue;
        fewest = lacking;
        out->nearest = i;
        out->nearest_shortfall = lacks;
    }
}

/* What is too small, and (r->enough) what is not. */
static void explain_size(struct reasons *r, const struct world_job *j,
                         struct world_reason *out)
{
    struct columns *columns = columns_of(r, OF_CAPACITY);
    struct passed_class *c = class_of(r, j);
    size_t count = columns_count(columns, j->needs, c->mask, r->list, r->enough);
    bool alone = false;

    out->passed_count = out->too_small.looked_at_count = c->count;
    out->too_small.short_count = c->count - columns_size(columns, r->enough);
    for (size_t i = 0; i < count; i++) {
        size_t *most = &c->most[r->list[i].amount];

        if (*most == WORLD_NONE)
            *most = columns_most(columns, r->list[i].amount, c->mask);
        alone |= r->list[i].alone_count > 0;
    }
    list_amounts(r, columns, count, c->most, &out->too_small);
    if (count == 0)
        return;
    out->nearest_omitted = r->looks > MISS_LOOKS_MAX;
    if (!out->nearest_omitted && alone)
        nearest_of_one(r, count, out);
    else if (!out->nearest_omitted)
        nearest_of_all(r, count, out);
}

/* ---- the cause of waiting ---- */

/* A shared amount that the job needs more of than `kind` has. */
static bool lacks_shared(struct reasons *r, const struct world_job *j,
                         enum column_kind kind, struct world_reason *out)
{
    columns_of(r, kind);
    for (size_t k = r->w->node_amount_count; k < r->w->amount_count; k++) {
        if (j->needs[k] <= 0 || j->needs[k] <= r->shared[kind][k])
            continue;
        out->wait = WORLD_WAIT_SHARED_SHORT;
        out->amount = k;
        out->needed = j->needs[k];
        out->free = r->shared[kind][k];
        return true;
    }
    return false;
}

/* Of the job's partitions the one with most resources that are large enough. */
static bool lacks_nodes(const struct reasons *r, const struct world_job *j,
                        struct world_reason *out)
{
    const struct columns *c = r->columns[OF_CAPACITY];
    size_t most = 0;

    for (size_t i = 0; i < j->choice_count; i++) {
        size_t count;

        for (size_t n = 0; n < r->words; n++)
            r->scratch[n] = j->choices[i].mask[n] & r->enough[n];
        count = columns_size(c, r->scratch);
        most = count > most ? count : most;
    }
    if (most >= j->nodes)
        return false;
    out->wait = WORLD_WAIT_TOO_FEW_NODES;
    out->resource_count = most;
    out->needed = (int64_t)j->nodes;
    return true;
}

static void explain_now(struct reasons *r, const struct world_job *j,
                        struct world_reason *out)
{
    struct columns *c = columns_of(r, OF_FREE_NOW);
    size_t count = columns_count(c, j->needs, r->enough, r->list, r->passed);
    size_t most[AMOUNTS_MAX];

    out->resource_count = columns_size(c, r->enough);
    out->later_count = columns_size(c, r->passed);
    if (out->later_count >= j->nodes && lacks_shared(r, j, OF_FREE_NOW, out))
        return;
    out->wait = WORLD_WAIT_NO_FREE_NOW;
    out->free_now.looked_at_count = out->resource_count;
    out->free_now.short_count = out->resource_count - out->later_count;
    for (size_t i = 0; i < count; i++)
        most[r->list[i].amount] = columns_most(c, r->list[i].amount, r->enough);
    list_amounts(r, c, count, most, &out->free_now);
}

/* Up to REASON_BLOCKERS_MAX holders of unknown end on the resources of the set. */
static void find_blockers(struct reasons *r, const uint64_t *set,
                          struct world_reason *out)
{
    const struct world *w = r->w;
    size_t *blockers = NEW(r->a, size_t, REASON_BLOCKERS_MAX);

    for (size_t i = 0; i < w->resource_count; i++) {
        const struct world_resource *o = &w->resources[i];

        budget_step(w->budget, 1);
        if (!world_mask_has(set, i))
            continue;
        for (size_t h = 0; h < o->holder_count; h++) {
            bool listed = !w->holders[o->holders[h]].end_unknown;

            budget_step(w->budget, 1);
            for (size_t b = 0; b < out->blocker_count; b++)
                listed |= blockers[b] == o->holders[h];
            if (!listed && out->blocker_count < REASON_BLOCKERS_MAX)
                blockers[out->blocker_count++] = o->holders[h];
        }
        if (out->blocker_count == REASON_BLOCKERS_MAX)
            break;
    }
    out->blockers = blockers;
}

/* Shared amounts that only come back when something of unknown end does. */
static void find_shared_blockers(struct reasons *r, size_t amount,
                                 struct world_reason *out)
{
    const struct world *w = r->w;
    size_t *blockers = NEW(r->a, size_t, REASON_BLOCKERS_MAX);

    budget_step(w->budget, w->holder_count);
    for (size_t h = 0; h < w->holder_count; h++)
        if (w->holders[h].end_unknown && w->holders[h].amounts &&
            w->holders[h].amounts[amount] > 0 && out->blocker_count < REASON_BLOCKERS_MAX)
            blockers[out->blocker_count++] = h;
    out->blockers = blockers;
}

/* It is large enough somewhere: is there ever enough of it free? */
static void explain_ever(struct reasons *r, const struct world_job *j,
                         struct world_reason *out)
{
    struct columns *last = columns_of(r, OF_FREE_AT_LAST);
    struct columns *known = columns_of(r, OF_KNOWN_ENDS);
    size_t fits;

    columns_count(last, j->needs, r->enough, r->list, r->passed);
    fits = columns_size(last, r->passed);
    if (fits >= j->nodes) {
        if (lacks_shared(r, j, OF_KNOWN_ENDS, out) ||
            !lacks_shared(r, j, OF_FREE_AT_LAST, out))
            return;
        out->wait = WORLD_WAIT_UNKNOWN_END;
        out->resource_count = fits;
        find_shared_blockers(r, out->amount, out);
        return;
    }
    columns_count(known, j->needs, r->enough, r->list, r->scratch);
    for (size_t n = 0; n < r->words; n++)
        r->scratch[n] &= ~r->passed[n];
    out->resource_count = columns_size(known, r->scratch);
    if (out->resource_count > 0) {
        out->wait = WORLD_WAIT_UNKNOWN_END;
        find_blockers(r, r->scratch, out);
        return;
    }
    out->wait = WORLD_WAIT_RESERVED_FOR_EVER;
    out->resource_count = columns_size(last, r->enough) - fits;
}

/* Some resource that is large enough has a run time for it. */
static bool has_run_time(const struct reasons *r, const struct world_job *j)
{
    if (!j->etc_s && isnan(j->estimate_ref_s))
        return !isnan(j->estimate_s);
    for (size_t i = 0; i < r->w->resource_count; i++) {
        budget_step(r->w->budget, 1);
        if (world_mask_has(r->enough, i) && world_full_run_s(r->w, j, i) < HUGE_VAL)
            return true;
    }
    return false;
}

/* Causes that follow from amounts and are found here. */
static bool is_about_amounts(enum world_wait wait)
{
    return wait == WORLD_WAIT_NONE || wait == WORLD_WAIT_FILTERED ||
           wait == WORLD_WAIT_NO_FREE_NOW || wait == WORLD_WAIT_UNKNOWN_END ||
           wait == WORLD_WAIT_RESERVED_FOR_EVER || wait == WORLD_WAIT_SHARED_SHORT ||
           wait == WORLD_WAIT_TOO_FEW_NODES;
}

void reasons_of(struct reasons *r, size_t job, struct world_reason *out)
{
    const struct world_job *j = &r->w->jobs[job];
    const struct world_placed *p = &r->plan->placed[job];

    *out = (struct world_reason){.nearest = WORLD_NONE, .wait_on = p->wait_on};
    explain_size(r, j, out);
    if (!is_about_amounts(p->wait)) {
        out->wait = p->wait;
        return;
    }
    out->wait_on = WORLD_NONE;
    if (out->passed_count == out->too_small.short_count)
        out->wait = WORLD_WAIT_FILTERED;
    else if (lacks_nodes(r, j, out) || lacks_shared(r, j, OF_CAPACITY, out))
        return;
    else if (!r->starts_now && !has_run_time(r, j))
        out->wait = WORLD_WAIT_NO_ESTIMATE;
    else if (r->starts_now)
        explain_now(r, j, out);
    else
        explain_ever(r, j, out);
}
