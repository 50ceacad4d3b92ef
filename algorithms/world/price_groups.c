/* world/price_groups.c - groups of resources that are priced alike.
 *
 * Equal resources have equal capacities of all that is needed and pass the same filters;
 * with jobs whose time does not follow from the speed the speeds are equal too, and with
 * rows of times each resource is a group. More than GROUPS_MAX: similar ones together, in
 * steps. A group of unlike resources counts as the largest amounts and any filter of
 * them, which lets a job into groups where it has no place: bounds get lower and stay
 * true. So a hash is enough to tell groups apart.
 *
 * Filters are told apart by what they let pass; where there are so many of them that
 * looking at each on each resource takes more than FILTER_LOOKS_MAX, all pass.
 *
 * Cost: O(filters * resources + jobs * groups). Source: world-model.md 5.2.
 */
#include "algorithms/world/prices.h"

#include <string.h>

enum { FILTER_LOOKS_MAX = 40 * 1000 * 1000 };

/* How alike resources of a group are; the first level with few enough groups counts. */
enum alike {
    ALIKE_ALL,     /* speeds, prices, times where they count */
    ALIKE_AMOUNTS, /* capacities, filters */
    ALIKE_ROUGHLY, /* capacities by powers of two, filters */
    ALIKE_IN_SIZE, /* capacities by powers of two */
    ALIKE_IN_NOTHING
};

struct grouping {
    struct bounds_field *f;
    struct price_groups *g;
    bool by_cost, by_speed, each;
    uint64_t *passed;         /* by position: hash of the filters */
    const uint64_t **filters; /* different masks */
    size_t filter_count;
    size_t *filter_of;    /* by row and choice */
    size_t *first_choice; /* by row */
    uint64_t *groups_of;  /* [filter * words]: groups of which some resource passes */
};

static uint64_t mixed(uint64_t hash, uint64_t more)
{
    hash = (hash ^ more) * 0x9e3779b97f4a7c15U;
    return hash ^ hash >> 29;
}

static uint64_t mixed_number(uint64_t hash, double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return mixed(hash, bits);
}

/* ---- filters ---- */

/* A hash table of numbers of filters. */
struct filter_table {
    size_t *number; /* + 1; 0: empty */
    size_t mask;
};

static size_t number_of_filter(struct grouping *s, struct filter_table *t,
                               const uint64_t *filter, size_t words)
{
    uint64_t hash = 0;
    size_t at;

    for (size_t i = 0; i < words; i++)
        hash = mixed(hash, filter[i]);
    for (at = hash & t->mask; t->number[at]; at = (at + 1) & t->mask)
        if (memcmp(s->filters[t->number[at] - 1], filter, words * sizeof(*filter)) == 0)
            return t->number[at] - 1;
    s->filters[s->filter_count] = filter;
    t->number[at] = ++s->filter_count;
    return s->filter_count - 1;
}

static bool number_filters(struct grouping *s)
{
    const struct bounds_field *f = s->f;
    size_t words = (f->w->resource_count + 63) / 64, count = 0, size = 16;
    const uint64_t *last = NULL;
    struct filter_table t;

    s->first_choice = NEW(f->arena, size_t, f->row_count + 1);
    for (size_t r = 0; r < f->row_count; r++)
        s->first_choice[r + 1] = count += f->rows[r].of->choice_count;
    while (size < 2 * count)
        size *= 2;
    t = (struct filter_table){NEW(f->arena, size_t, size), size - 1};
    s->filters = NEW(f->arena, const uint64_t *, count);
    s->filter_of = NEW(f->arena, size_t, count);
    for (size_t r = 0, at = 0; r < f->row_count; r++)
        for (size_t c = 0; c < f->rows[r].of->choice_count; c++, at++) {
            const uint64_t *filter = f->rows[r].of->choices[c].mask;

            s->filter_of[at] = filter == last ? s->filter_of[at - 1]
                                              : number_of_filter(s, &t, filter, words);
            last = filter;
            if (budget_step(f->w->budget, words + 4))
                return false;
        }
    return true;
}

/* Hashes of what passes at each resource. */
static bool hash_filters(struct grouping *s)
{
    const struct bounds_field *f = s->f;

    s->passed = NEW(f->arena, uint64_t, f->w->resource_count);
    if (s->filter_count * f->w->resource_count > FILTER_LOOKS_MAX) {
        s->filter_count = 0;
        return true;
    }
    for (size_t i = 0; i < s->filter_count; i++) {
        for (size_t p = 0; p < f->w->resource_count; p++)
            if (world_mask_has(s->filters[i], p))
                s->passed[p] = mixed(s->passed[p], i + 1);
        if (budget_step(f->w->budget, f->w->resource_count))
            return false;
    }
    return true;
}

/* ---- groups ---- */

static uint64_t size_class(int64_t amount)
{
    return amount > 0 ? (uint64_t)ilogb((double)amount) + 1 : 0;
}

static uint64_t key_of(const struct grouping *s, size_t position, enum alike level)
{
    const struct world_resource *r = &s->f->w->resources[position];
    uint64_t key = 1;

    if (level == ALIKE_IN_NOTHING)
        return key;
    for (size_t k = 0; k < s->f->w->node_amount_count; k++)
        if (s->f->needed[k])
            key = mixed(key, level >= ALIKE_ROUGHLY ? size_class(r->capacity[k])
                                                    : (uint64_t)r->capacity[k]);
    if (level < ALIKE_IN_SIZE)
        key = mixed(key, s->passed[position]);
    if (level > ALIKE_ALL)
        return key;
    if (s->by_speed)
        key = mixed_number(key, r->speed);
    if (s->by_cost) {
        key = mixed_number(mixed_number(key, r->price_per_s), r->price_per_cpu_s);
        key = mixed_number(mixed_number(key, r->power_node_w), r->power_per_cpu_w);
    }
    return s->each ? mixed(key, position) : key;
}

/* Numbers the groups in the order of their first resources; false: too many. */
static bool number_groups(struct grouping *s, enum alike level)
{
    enum { SIZE = 4 * GROUPS_MAX };
    const struct bounds_field *f = s->f;
    uint64_t key[SIZE];
    size_t number[SIZE];

    memset(number, 0, sizeof(number));
    s->g->count = 0;
    for (size_t p = 0; p < f->w->resource_count; p++) {
        uint64_t wanted = key_of(s, p, level);
        size_t at = wanted % SIZE;

        while (number[at] && key[at] != wanted)
            at = (at + 1) % SIZE;
        if (!number[at]) {
            if (s->g->count == GROUPS_MAX)
                return false;
            key[at] = wanted;
            number[at] = ++s->g->count;
        }
        s->g->of[p] = number[at] - 1;
    }
    return true;
}

static void list_positions(struct grouping *s)
{
    struct price_groups *g = s->g;
    size_t count = s->f->w->resource_count;
    size_t *next = NEW(s->f->arena, size_t, g->count + 1);

    g->first = NEW(s->f->arena, size_t, g->count + 1);
    g->positions = NEW(s->f->arena, size_t, count);
    for (size_t p = 0; p < count; p++)
        g->first[g->of[p] + 1]++;
    for (size_t i = 0; i < g->count; i++)
        next[i + 1] = g->first[i + 1] += g->first[i];
    for (size_t p = 0; p < count; p++)
        g->positions[next[g->of[p]]++] = p;
}

static void measure(struct grouping *s)
{
    const struct world *w = s->f->w;
    struct price_groups *g = s->g;
    size_t amounts = w->node_amount_count;

    g->largest = NEW(s->f->arena, int64_t, g->count * amounts);
    g->smallest = NEW(s->f->arena, int64_t, g->count * amounts);
    g->slowest = NEW(s->f->arena, double, g->count);
    g->fastest = NEW(s->f->arena, double, g->count);
    g->any_stands = NEW(s->f->arena, bool, g->count);
    for (size_t i = 0; i < g->count * amounts; i++)
        g->smallest[i] = INT64_MAX;
    for (size_t i = 0; i < g->count; i++)
        g->slowest[i] = HUGE_VAL;
    for (size_t p = 0; p < w->resource_count; p++) {
        const struct world_resource *r = &w->resources[p];
        size_t i = g->of[p];

        for (size_t k = 0; k < amounts; k++) {
            int64_t *largest = &g->largest[i * amounts + k];
            int64_t *smallest = &g->smallest[i * amounts + k];

            *largest = r->capacity[k] > *largest ? r->capacity[k] : *largest;
            *smallest = r->capacity[k] < *smallest ? r->capacity[k] : *smallest;
        }
        g->any_stands[i] |= !(r->speed > 0);
        g->slowest[i] = r->speed > 0 ? fmin(g->slowest[i], r->speed) : g->slowest[i];
        g->fastest[i] = fmax(g->fastest[i], r->speed);
        budget_step(w->budget, amounts);
    }
}

/* ---- who may use them ---- */

static bool find_groups_of_filters(struct grouping *s)
{
    const struct world *w = s->f->w;
    size_t words = s->g->words;

    s->groups_of = NEW(s->f->arena, uint64_t, (s->filter_count + 1) * words);
    for (size_t i = 0; i < s->filter_count; i++) {
        for (size_t p = 0; p < w->resource_count; p++)
            if (world_mask_has(s->filters[i], p))
                s->groups_of[i * words + s->g->of[p] / 64] |= (uint64_t)1
                                                              << s->g->of[p] % 64;
        if (budget_step(w->budget, w->resource_count))
            return false;
    }
    for (size_t i = 0; i < s->g->count; i++)
        s->groups_of[s->filter_count * words + i / 64] |= (uint64_t)1 << i % 64;
    return true;
}

static bool is_large_enough(const struct grouping *s, const struct world_job *j,
                            size_t group)
{
    size_t amounts = s->f->w->node_amount_count;

    for (size_t k = 0; k < amounts; k++)
        if (j->needs[k] > s->g->largest[group * amounts + k])
            return false;
    return true;
}

static void find_eligible(struct grouping *s, size_t r)
{
    struct price_groups *g = s->g;
    const struct bounds_row *row = &s->f->rows[r];
    uint64_t *eligible = g->eligible + r * g->words;

    for (size_t c = s->first_choice[r]; c < s->first_choice[r + 1]; c++) {
        size_t filter = s->filter_count > 0 ? s->filter_of[c] : 0;

        for (size_t i = 0; i < g->words; i++)
            eligible[i] |= s->groups_of[filter * g->words + i];
    }
    for (size_t i = 0; i < g->count; i++) {
        uint64_t bit = (uint64_t)1 << i % 64;

        if ((eligible[i / 64] & bit) &&
            (!is_large_enough(s, row->of, i) ||
             !(price_group_time(s->f, g, row, i, false) < HUGE_VAL)))
            eligible[i / 64] &= ~bit;
    }
}

static bool make_groups(struct grouping *s)
{
    const struct bounds_field *f = s->f;
    struct price_groups *g = s->g;

    g->of = NEW(f->arena, size_t, f->w->resource_count);
    if (!number_filters(s) || !hash_filters(s))
        return false;
    for (enum alike level = ALIKE_ALL; !number_groups(s, level); level++)
        if (budget_step(f->w->budget, f->w->resource_count * f->w->node_amount_count))
            return false;
    list_positions(s);
    measure(s);
    g->words = (g->count + 63) / 64;
    if (!find_groups_of_filters(s))
        return false;
    g->eligible = NEW(f->arena, uint64_t, f->row_count * g->words);
    for (size_t r = 0; r < f->row_count; r++) {
        find_eligible(s, r);
        if (budget_step(f->w->budget, 2 * g->count))
            return false;
    }
    return true;
}

const struct price_groups *price_groups_of(struct bounds_field *f, bool by_cost)
{
    struct price_groups *g = f->groups[by_cost];
    struct grouping s = {.f = f, .by_cost = by_cost, .by_speed = by_cost};

    if (g)
        return g->count ? g : NULL;
    s.g = f->groups[by_cost] = NEW(f->arena, struct price_groups, 1);
    for (size_t r = 0; r < f->row_count; r++) {
        s.each |= f->rows[r].of->etc_s != NULL;
        s.by_speed |= f->any_by_time;
    }
    if (make_groups(&s))
        return s.g;
    s.g->count = 0;
    return NULL;
}

/* ---- times ---- */

static double least_of_times(const struct bounds_field *f, const struct price_groups *g,
                             const struct bounds_row *row, size_t group, bool by_speed)
{
    const struct world_job *j = row->of;
    double least = HUGE_VAL;

    for (size_t i = g->first[group]; i < g->first[group + 1]; i++) {
        size_t p = g->positions[i];
        double run_s = fmax(world_run_s(f->w, j, p), row->least_s);

        if (world_large_enough(f->w, j, p))
            least = fmin(least, run_s * bounds_omega(f->w, p, by_speed));
    }
    budget_step(f->w->budget, g->first[group + 1] - g->first[group]);
    return least;
}

double price_group_time(const struct bounds_field *f, const struct price_groups *g,
                        const struct bounds_row *row, size_t group, bool by_speed)
{
    const struct world_job *j = row->of;
    double run;

    if (j->etc_s)
        return least_of_times(f, g, row, group, by_speed);
    if (!isnan(j->estimate_ref_s)) {
        if (!(g->fastest[group] > 0))
            return HUGE_VAL;
        if (by_speed)
            return fmin(j->estimate_ref_s, j->time_limit_s * g->slowest[group]);
        run = fmin(j->estimate_ref_s / g->fastest[group], j->time_limit_s);
        return fmax(run, row->least_s);
    }
    run = fmin(j->estimate_s, j->time_limit_s);
    if (isnan(run))
        return HUGE_VAL;
    if (by_speed)
        return g->any_stands[group] ? 0 : run * g->slowest[group];
    return run;
}
