/* coallocation/slot_fuzzy.c - a reservation that leaves open when, where and how large.
 *
 * The possibilities are gone through once for each criterion, to find its best value
 * among those that are good by the criteria before it, and once more for the one to take;
 * none is kept in memory.
 */
#include "algorithms/coallocation/slot.h"

#include "models/base/order.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

const char *const co_slot_criterion_names[] = {
    "end_s", "start_s", "cost", "processors", "processor_s", "sites", NULL};

double co_speedup_amdahl(double serial_ratio, double processors)
{
    return 1 / (serial_ratio + (1 - serial_ratio) / processors);
}

/* How a job is spread. */
enum spread { ONE_SITE, CHEAPEST, FEWEST, SPREAD_COUNT };

struct candidate {
    double value[CO_SLOT_CRITERION_COUNT];
    double start_s;
    size_t size;
    enum spread spread;
};

struct site {
    struct co_window *windows; /* by start */
    size_t count, at;          /* at: the first that ends after the time at hand */
    double free_count;         /* for all of the duration at hand */
};

struct search {
    const struct co_fuzzy_in *in;
    struct site *sites;
    double *starts; /* ascending */
    size_t start_count;
    size_t *by_cost; /* sites, the cheapest first */
    struct ranked *by_room;
    double limit[CO_SLOT_CRITERION_COUNT]; /* of the criteria that are settled */
    size_t settled;
    bool any;
    struct candidate best; /* of this round */
    size_t candidate_count;
    bool cut;
};

struct ranked {
    double key;
    size_t index;
};

static int by_key(const void *left, const void *right)
{
    const struct ranked *x = left, *y = right;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int by_start(const void *left, const void *right)
{
    const struct co_window *x = left, *y = right;

    return (x->start_s > y->start_s) - (x->start_s < y->start_s);
}

/* ---- preparing ---- */

static void sort_windows(struct search *s, struct arena *a)
{
    for (size_t i = 0; i < s->in->site_count; i++) {
        const struct co_fuzzy_site *from = &s->in->sites[i];
        struct site *to = &s->sites[i];

        to->windows = NEW(a, struct co_window, from->window_count);
        to->count = from->window_count;
        for (size_t w = 0; w < to->count; w++)
            to->windows[w] = from->windows[w];
        if (to->count)
            qsort(to->windows, to->count, sizeof(*to->windows), by_start);
    }
}

static void list_starts(struct search *s, struct arena *a)
{
    const struct co_fuzzy_in *in = s->in;
    size_t most = 1, kept = 0;

    for (size_t i = 0; i < in->site_count; i++)
        most += in->sites[i].window_count;
    s->starts = NEW(a, double, most);
    s->starts[s->start_count++] = in->earliest_s;
    for (size_t i = 0; i < in->site_count; i++)
        for (size_t w = 0; w < in->sites[i].window_count; w++)
            if (in->sites[i].windows[w].start_s > in->earliest_s)
                s->starts[s->start_count++] = in->sites[i].windows[w].start_s;
    sort_numbers(s->starts, s->start_count);
    for (size_t i = 0; i < s->start_count; i++)
        if (kept == 0 || s->starts[i] != s->starts[kept - 1])
            s->starts[kept++] = s->starts[i];
    s->start_count = kept;
}

static void prepare(struct search *s, struct arena *a)
{
    size_t count = s->in->site_count;

    s->sites = NEW(a, struct site, count);
    s->by_cost = NEW(a, size_t, count);
    s->by_room = NEW(a, struct ranked, count);
    for (size_t i = 0; i < count; i++)
        s->by_room[i] = (struct ranked){s->in->sites[i].cost_per_processor_s, i};
    if (count)
        qsort(s->by_room, count, sizeof(*s->by_room), by_key);
    for (size_t i = 0; i < count; i++)
        s->by_cost[i] = s->by_room[i].index;
    sort_windows(s, a);
    list_starts(s, a);
}

/* ---- room ---- */

/* Least number of free processors of a site in all of [start_s, start_s + duration_s).
 * Times must not go back. */
static double room(struct site *site, double start_s, double duration_s)
{
    double covered_s = start_s, least = HUGE_VAL;

    while (site->at < site->count && site->windows[site->at].end_s <= start_s)
        site->at++;
    if (site->at == site->count || site->windows[site->at].start_s > start_s)
        return 0;
    for (size_t w = site->at; w < site->count && covered_s < start_s + duration_s; w++) {
        if (site->windows[w].start_s > covered_s)
            return 0;
        least = fmin(least, site->windows[w].processors_free);
        covered_s = site->windows[w].end_s;
    }
    return covered_s < start_s + duration_s ? 0 : floor(least);
}

static void find_room(struct search *s, double start_s, double duration_s)
{
    for (size_t i = 0; i < s->in->site_count; i++)
        s->sites[i].free_count = room(&s->sites[i], start_s, duration_s);
}

/* ---- spreading ---- */

/* Site number i in the order in which the spread takes them. */
static size_t site_at(const struct search *s, enum spread spread, size_t i)
{
    return spread == FEWEST ? s->by_room[i].index : s->by_cost[i];
}

/* The largest first, of equal ones the cheaper. */
static void rank_by_room(struct search *s)
{
    size_t count = s->in->site_count;

    for (size_t i = 0; i < count; i++)
        s->by_room[i] = (struct ranked){-s->sites[s->by_cost[i]].free_count, i};
    qsort(s->by_room, count, sizeof(*s->by_room), by_key);
    for (size_t i = 0; i < count; i++)
        s->by_room[i].index = s->by_cost[s->by_room[i].index];
}

/* What a site gives to a job that still needs so many processors. */
static double share(const struct search *s, enum spread spread, size_t site, double need)
{
    double free_count = s->sites[site].free_count;

    if (spread == ONE_SITE)
        return free_count >= need ? need : 0;
    return fmin(free_count, need);
}

/* Processor seconds cost so much, on so many sites; false: there is no room. `parts`
 * (NULL: not wanted) gets what each site gives. */
static bool spread_out(struct search *s, enum spread spread, double processors,
                       double *cost_per_s, size_t *site_count, double *parts)
{
    double need = processors;

    *cost_per_s = 0;
    *site_count = 0;
    for (size_t i = 0; i < s->in->site_count && need > 0; i++) {
        size_t site = site_at(s, spread, i);
        double taken = share(s, spread, site, need);

        if (taken <= 0)
            continue;
        *cost_per_s += taken * s->in->sites[site].cost_per_processor_s;
        *site_count += 1;
        need -= taken;
        if (parts)
            parts[site] = taken;
    }
    return need <= 0 && *site_count <= s->in->max_sites;
}

/* ---- comparing ---- */

/* Whether x is good by all criteria that are settled. */
static bool is_good(const struct search *s, const struct candidate *x)
{
    for (size_t i = 0; i < s->settled; i++)
        if (x->value[s->in->wishes[i].criterion] > s->limit[i])
            return false;
    return true;
}

static bool is_better(const struct search *s, const struct candidate *x,
                      const struct candidate *y)
{
    size_t count = s->in->wish_count;

    for (size_t k = 0; k < count; k++) {
        /* The criterion that this round settles, then all in their order. */
        size_t i = s->settled == count ? k : (s->settled + k) % count;
        enum co_slot_criterion criterion = s->in->wishes[i].criterion;

        if (x->value[criterion] != y->value[criterion])
            return x->value[criterion] < y->value[criterion];
    }
    if (x->start_s != y->start_s)
        return x->start_s < y->start_s;
    return x->value[CO_SLOT_PROCESSORS] < y->value[CO_SLOT_PROCESSORS];
}

static void consider(struct search *s, size_t size, double start_s, enum spread spread)
{
    const struct co_fuzzy_size *z = &s->in->sizes[size];
    struct candidate c = {.start_s = start_s, .size = size, .spread = spread};
    size_t site_count;
    double cost_per_s;

    if (!spread_out(s, spread, z->processors, &cost_per_s, &site_count, NULL))
        return;
    if (s->settled == 0)
        s->candidate_count++;
    c.value[CO_SLOT_START] = start_s - s->in->earliest_s;
    c.value[CO_SLOT_END] = c.value[CO_SLOT_START] + z->duration_s;
    c.value[CO_SLOT_COST] = cost_per_s * z->duration_s;
    c.value[CO_SLOT_PROCESSORS] = z->processors;
    c.value[CO_SLOT_PROCESSOR_S] = z->processors * z->duration_s;
    c.value[CO_SLOT_SITES] = (double)site_count;
    if (is_good(s, &c) && (!s->any || is_better(s, &c, &s->best))) {
        s->best = c;
        s->any = true;
    }
}

/* All possibilities of one size. */
static void consider_size(struct search *s, size_t size)
{
    const struct co_fuzzy_in *in = s->in;
    double duration_s = in->sizes[size].duration_s;

    for (size_t i = 0; i < in->site_count; i++)
        s->sites[i].at = 0;
    for (size_t t = 0; t < s->start_count; t++) {
        if (!(s->starts[t] + duration_s <= in->latest_end_s))
            return;
        if (budget_spent(in->budget)) {
            s->cut = true;
            return;
        }
        find_room(s, s->starts[t], duration_s);
        consider(s, size, s->starts[t], ONE_SITE);
        if (in->max_sites == 1)
            continue;
        consider(s, size, s->starts[t], CHEAPEST);
        rank_by_room(s);
        consider(s, size, s->starts[t], FEWEST);
    }
}

static void run_round(struct search *s)
{
    s->any = false;
    for (size_t i = 0; i < s->in->size_count && !s->cut; i++)
        consider_size(s, i);
}

/* ---- the answer ---- */

static enum error_code fill(struct search *s, struct co_fuzzy_out *out, struct arena *a)
{
    const struct candidate *c = &s->best;
    const struct co_fuzzy_size *size = &s->in->sizes[c->size];
    size_t count = s->in->site_count, site_count;
    struct co_fuzzy_part *parts = NEW(a, struct co_fuzzy_part, count);
    double *taken = NEW(a, double, count), cost_per_s;

    for (size_t i = 0; i < count; i++)
        s->sites[i].at = 0;
    find_room(s, c->start_s, size->duration_s);
    if (c->spread == FEWEST)
        rank_by_room(s);
    spread_out(s, c->spread, size->processors, &cost_per_s, &site_count, taken);
    for (size_t i = 0; i < count; i++)
        if (taken[i] > 0)
            parts[out->part_count++] = (struct co_fuzzy_part){i, taken[i]};
    out->found = true;
    out->parts = parts;
    out->start_s = c->start_s;
    out->end_s = c->start_s + size->duration_s;
    out->processors = size->processors;
    out->cost = c->value[CO_SLOT_COST];
    return OK;
}

enum error_code co_fuzzy_slot(const struct co_fuzzy_in *in, struct co_fuzzy_out *out,
                              struct arena *a)
{
    struct search s = {.in = in};
    struct candidate before = {.size = 0};
    bool found = false;

    assert(in->wish_count <= CO_SLOT_CRITERION_COUNT);
    *out = (struct co_fuzzy_out){.start_s = NAN, .end_s = NAN, .processors = NAN};
    out->cost = (double)NAN;
    prepare(&s, a);
    for (;; s.settled++) {
        run_round(&s);
        if (!s.any)
            s.best = before; /* of the round before, if this one was cut */
        found = found || s.any;
        before = s.best;
        if (s.cut || !found || s.settled == in->wish_count)
            break;
        s.limit[s.settled] = s.best.value[in->wishes[s.settled].criterion] *
                             (1 + in->wishes[s.settled].tolerance_ratio);
    }
    out->candidate_count = s.candidate_count;
    out->cut = s.cut;
    return found ? fill(&s, out, a) : OK;
}

bool co_fuzzy_is_exact(const struct co_fuzzy_in *in)
{
    bool by_cost = false, by_sites = false;

    for (size_t i = 0; i < in->wish_count; i++) {
        by_cost = by_cost || in->wishes[i].criterion == CO_SLOT_COST;
        by_sites = by_sites || in->wishes[i].criterion == CO_SLOT_SITES;
    }
    return in->max_sites == 1 || !by_cost ||
           (in->max_sites >= in->site_count && !by_sites);
}
