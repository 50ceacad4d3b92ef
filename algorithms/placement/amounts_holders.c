/* placement/amounts_holders.c - what runs, what is reserved and busy slots, as holders of
 * a world. */
#include "algorithms/placement/amounts_parts.h"
#include "algorithms/placement/pair_map.h"
#include "models/base/order.h"

#include <stdlib.h>
#include <string.h>

/* ---- vectors ---- */

struct amount_store {
    struct pair_map map; /* of a hash and a number: index of the vector */
    const int64_t **vectors;
    size_t count;
};

static size_t vector_hash(const int64_t *vector, size_t count)
{
    uint64_t hash = count;

    for (size_t k = 0; k < count; k++) {
        hash = (hash ^ (uint64_t)vector[k]) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 29;
    }
    return (size_t)(hash >> 1);
}

static void make_store(struct world_maker *m, size_t most)
{
    m->store = NEW(m->arena, struct amount_store, 1);
    pair_map_create(&m->store->map, most, m->arena);
    m->store->vectors = NEW(m->arena, const int64_t *, most);
}

const int64_t *amounts_keep(struct world_maker *m, const int64_t *vector)
{
    size_t bytes = m->w->amount_count * sizeof(*vector), nth = 0;
    size_t hash = vector_hash(vector, m->w->amount_count);
    struct pair_place *place = pair_map_at(&m->store->map, hash, nth);
    int64_t *copy;

    while (place->a && memcmp(m->store->vectors[place->value], vector, bytes) != 0)
        place = pair_map_at(&m->store->map, hash, ++nth);
    if (place->a)
        return m->store->vectors[place->value];
    copy = NEW(m->arena, int64_t, m->w->amount_count);
    memcpy(copy, vector, bytes);
    *place = (struct pair_place){hash + 1, nth, m->store->count};
    m->store->vectors[m->store->count++] = copy;
    return copy;
}

static int64_t units_of(const struct world_maker *m, size_t amount, double value)
{
    return isnan(value) ? 0 : amount_units(value, m->w->amounts[amount].per_one);
}

void amounts_vector(const struct world_maker *m, const struct amount_needs *of,
                    int64_t *vector)
{
    memset(vector, 0, m->w->amount_count * sizeof(*vector));
    vector[AMOUNT_CPUS] = units_of(m, AMOUNT_CPUS, of->cpus);
    vector[AMOUNT_MEMORY] = units_of(m, AMOUNT_MEMORY, of->memory_bytes);
    vector[AMOUNT_DISK] = units_of(m, AMOUNT_DISK, of->disk_bytes);
    vector[AMOUNT_JOBS] = of->jobs;
    vector[AMOUNT_PRESENCE] = of->presence;
    for (size_t k = 0; k < of->need_count; k++) {
        size_t name = name_index_find(&m->x->names.index, of->needs[k].name);
        size_t row = m->x->names.row[name];

        vector[row] = units_of(m, row, of->needs[k].number);
    }
}

/* ---- holders ---- */

static int by_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

/* Positions of resources, rising. */
static const size_t *positions_of(struct world_maker *m, const size_t *at, size_t count)
{
    size_t *positions = NEW(m->arena, size_t, count);

    for (size_t k = 0; k < count; k++)
        positions[k] = m->p->position_of[at[k]];
    qsort(positions, count, sizeof(*positions), by_size);
    return positions;
}

static struct world_holder *add_holder(struct world_maker *m)
{
    return &m->holders[m->holder_count++];
}

static void row_vector(const struct world_maker *m, const struct taken_running *row,
                       int64_t *vector)
{
    amounts_vector(m,
                   &(struct amount_needs){row->cpus, row->memory_bytes, row->disk_bytes,
                                          row->needs, row->need_count, 1,
                                          row->exclusive ? AMOUNT_PRESENCE_ALL : 1},
                   vector);
}

/* Rows of one id that have the same of each node are one holder; shared amounts count
 * once for the id, as much as a row says at most. */
static bool same_on_nodes(const struct world_maker *m, size_t first, int64_t *vector,
                          int64_t *other)
{
    const struct running_ref *runs = m->x->runs;
    size_t nodes = m->w->node_amount_count;
    bool same = true;

    row_vector(m, runs[first].row, vector);
    for (size_t i = runs[first].next; i != NO_INDEX; i = runs[i].next) {
        row_vector(m, runs[i].row, other);
        same = same && memcmp(vector, other, nodes * sizeof(*vector)) == 0;
        for (size_t k = nodes; k < m->w->amount_count; k++)
            vector[k] = other[k] > vector[k] ? other[k] : vector[k];
    }
    return same;
}

static void fill_running(struct world_maker *m, struct world_holder *h,
                         const struct running_ref *first, struct running_end end)
{
    size_t group = NAME_NOT_FOUND;

    if (first->row->group)
        group = name_index_find(&m->x->groups, first->row->group);
    h->kind = HOLDER_RUNNING;
    h->id = first->row->id;
    h->end_s = end.end_s;
    h->end_unknown = end.end_s == HUGE_VAL;
    h->weight = first->row->weight;
    h->priority = first->row->priority;
    h->preemptible = first->row->preemptible;
    h->group = group == NAME_NOT_FOUND ? WORLD_NONE : group;
}

/* All rows of one id; how many resources they name. */
static size_t add_running(struct world_maker *m, size_t first, int64_t *vector,
                          int64_t *other)
{
    const struct running_ref *runs = m->x->runs;
    struct running_end end = amounts_end_of(m->x, runs[first].row);
    bool one = same_on_nodes(m, first, vector, other);
    size_t count = 0, filled = 0, *at;

    for (size_t i = first; i != NO_INDEX; i = runs[i].next)
        count += runs[i].at_count;
    if (one) {
        struct world_holder *h = add_holder(m);

        at = NEW(m->arena, size_t, count);
        for (size_t i = first; i != NO_INDEX; i = runs[i].next)
            for (size_t k = 0; k < runs[i].at_count; k++)
                at[filled++] = runs[i].at[k];
        fill_running(m, h, &runs[first], end);
        h->positions = positions_of(m, at, count);
        h->position_count = count;
        h->amounts = amounts_keep(m, vector);
        return count;
    }
    for (size_t i = first; i != NO_INDEX; i = runs[i].next) {
        struct world_holder *h = add_holder(m);
        size_t nodes = m->w->node_amount_count;

        row_vector(m, runs[i].row, other);
        for (size_t k = nodes; k < m->w->amount_count; k++)
            other[k] = i == first ? vector[k] : 0;
        fill_running(m, h, &runs[first], end);
        h->weight = i == first ? h->weight : 0;
        h->positions = positions_of(m, runs[i].at, runs[i].at_count);
        h->position_count = runs[i].at_count;
        h->amounts = amounts_keep(m, other);
    }
    return count;
}

static void add_all_running(struct world_maker *m, int64_t *vector, int64_t *other)
{
    const struct amounts *x = m->x;
    size_t overdue = 0, incomplete = 0, incomplete_first = 0;

    for (size_t i = 0; i < x->run_count; i++) {
        size_t count;

        if (!x->runs[i].is_first)
            continue;
        budget_step(m->w->budget, m->w->amount_count);
        count = add_running(m, i, vector, other);
        overdue += amounts_end_of(x, x->runs[i].row).overdue;
        if (!x->runs[i].row->nodes || x->runs[i].row->nodes == count)
            continue;
        if (incomplete++ == 0)
            incomplete_first = i;
    }
    if (overdue)
        problem_warn(m->p,
                     "overdue: %zu running job%s past the end that was expected; each is "
                     "taken to end 1 s from now",
                     overdue, overdue == 1 ? " is" : "s are");
    if (incomplete)
        problem_warn(m->p,
                     "running_incomplete: %zu running job%s on other resources than its "
                     "rows say (first '%.100s')",
                     incomplete, incomplete == 1 ? " is" : "s are",
                     x->runs[incomplete_first].row->id);
}

static double later_or(double seconds, double fallback)
{
    return isnan(seconds) ? fallback : seconds;
}

static void add_reservations(struct world_maker *m, int64_t *vector)
{
    const struct amounts *x = m->x;

    for (size_t i = 0; i < x->reserve_count; i++) {
        const struct reservation_ref *r = &x->reserves[i];
        const struct taken_reservation *row = r->row;
        double start_s = amounts_from_now_s(x, row->start_s, row->start_at_s);
        double end_s = amounts_from_now_s(x, row->end_s, row->end_at_s);
        struct world_holder *h;

        end_s = later_or(end_s, HUGE_VAL);
        if (end_s <= 0) /* it has ended */
            continue;
        budget_step(m->w->budget, m->w->amount_count);
        amounts_vector(m,
                       &(struct amount_needs){row->cpus, row->memory_bytes,
                                              row->disk_bytes, row->needs,
                                              row->need_count, 0, 1},
                       vector);
        h = add_holder(m);
        h->kind = HOLDER_RESERVATION;
        h->id = row->id;
        h->start_s = fmax(0, later_or(start_s, 0));
        h->end_s = end_s > WORLD_LONGEST_S ? HUGE_VAL : end_s;
        h->all = row->all;
        h->amounts = amounts_keep(m, vector);
        h->positions = positions_of(m, r->at, r->at_count);
        h->position_count = r->at_count;
        h->group = WORLD_NONE;
    }
}

/* ---- slots that are used ---- */

/* What `count` of `slots` used slots take: equal parts, the last of all what is left. */
static void slot_vector(const struct world_maker *m, const int64_t *capacity,
                        size_t slots, size_t count, bool rest, int64_t *vector)
{
    int64_t parts = (int64_t)slots, taken = (int64_t)count;

    memset(vector, 0, m->w->amount_count * sizeof(*vector));
    for (size_t k = 0; k < m->w->node_amount_count; k++) {
        if (capacity[k] >= AMOUNT_UNLIMITED)
            continue;
        vector[k] = capacity[k] / parts * taken;
        if (rest)
            vector[k] += capacity[k] % parts;
    }
    vector[AMOUNT_JOBS] = taken;
    vector[AMOUNT_PRESENCE] = taken;
}

static void add_slot(struct world_maker *m, size_t pos, double end_s,
                     const int64_t *vector)
{
    struct world_holder *h = add_holder(m);
    size_t *at = NEW(m->arena, size_t, 1);

    *at = pos;
    h->kind = HOLDER_RUNNING;
    h->end_s = end_s;
    h->end_unknown = end_s == HUGE_VAL;
    h->positions = at;
    h->position_count = 1;
    h->amounts = amounts_keep(m, vector);
    h->group = WORLD_NONE;
}

/* Ends that are known, rising. */
static size_t known_ends(const struct resource *r, double *end_s)
{
    size_t busy = (size_t)r->job_count, count = 0;

    for (size_t k = 0; k < busy && k < r->free_at_count; k++)
        if (r->free_at_s[k] <= WORLD_LONGEST_S)
            end_s[count++] = r->free_at_s[k];
    sort_numbers(end_s, count);
    return count;
}

/* Of more jobs than slots those that end last are on them. */
static void add_slots(struct world_maker *m, size_t pos, int64_t *vector)
{
    const struct resource *r = m->p->resources[pos].given;
    const int64_t *capacity = m->resources[pos].capacity;
    size_t slots = resource_slots(r), busy = (size_t)r->job_count, known, unknown, from;
    double *end_s = NEW(m->arena, double, r->free_at_count);
    bool full = busy >= slots;

    if (slots == 0 || busy == 0)
        return;
    known = known_ends(r, end_s);
    unknown = busy - known < slots ? busy - known : slots;
    from = busy > slots ? busy - slots : 0;
    for (size_t k = from; k < known; k++) {
        if (end_s[k] <= 0)
            continue;
        slot_vector(m, capacity, slots, 1, full && !unknown && k + 1 == known, vector);
        add_slot(m, pos, end_s[k], vector);
    }
    if (unknown == 0)
        return;
    slot_vector(m, capacity, slots, unknown, full, vector);
    add_slot(m, pos, HUGE_VAL, vector);
}

static void add_ready(struct world_maker *m, size_t pos, int64_t *vector)
{
    double ready_s = m->p->resources[pos].given->ready_s;
    size_t *at = NEW(m->arena, size_t, 1);
    struct world_holder *h = add_holder(m);

    *at = pos;
    amounts_vector(m, &(struct amount_needs){NAN, NAN, NAN, NULL, 0, 0, 1}, vector);
    h->kind = HOLDER_RESERVATION;
    h->end_s = ready_s > WORLD_LONGEST_S ? HUGE_VAL : ready_s;
    h->all = true;
    h->amounts = amounts_keep(m, vector);
    h->positions = at;
    h->position_count = 1;
    h->group = WORLD_NONE;
}

/* ---- all of them ---- */

/* Which holders are on each resource. */
static void list_holders(struct world_maker *m)
{
    size_t *filled = NEW(m->arena, size_t, m->w->resource_count);
    size_t **lists = NEW(m->arena, size_t *, m->w->resource_count);

    for (size_t h = 0; h < m->holder_count; h++)
        for (size_t k = 0; k < m->holders[h].position_count; k++)
            m->resources[m->holders[h].positions[k]].holder_count++;
    for (size_t pos = 0; pos < m->w->resource_count; pos++) {
        lists[pos] = NEW(m->arena, size_t, m->resources[pos].holder_count);
        m->resources[pos].holders = lists[pos];
    }
    for (size_t h = 0; h < m->holder_count; h++)
        for (size_t k = 0; k < m->holders[h].position_count; k++) {
            size_t pos = m->holders[h].positions[k];

            lists[pos][filled[pos]++] = h;
        }
}

void amounts_make_holders(struct world_maker *m)
{
    const struct amounts *x = m->x;
    size_t most = x->run_count + x->reserve_count + x->in->job_count + 1;
    int64_t *vector = NEW(m->arena, int64_t, m->w->amount_count);
    int64_t *other = NEW(m->arena, int64_t, m->w->amount_count);
    size_t slots = 0;

    for (size_t pos = 0; pos < m->w->resource_count; pos++)
        slots += m->p->resources[pos].given->free_at_count + 2;
    make_store(m, most + slots);
    m->holders = NEW(m->arena, struct world_holder, most + slots);
    add_all_running(m, vector, other);
    add_reservations(m, vector);
    for (size_t pos = 0; pos < m->w->resource_count; pos++) {
        budget_step(m->w->budget, 1);
        add_slots(m, pos, vector);
        if (m->p->resources[pos].given->ready_s > 0)
            add_ready(m, pos, vector);
    }
    m->w->holders = m->holders;
    m->w->holder_count = m->holder_count;
    list_holders(m);
}
