/* coallocation/bound.c - no placement has a smaller FTT; jobs that never fit.
 *
 * The bound is the least t among the transfer times from the nearest replica for which
 *   1. every component has a site that it fits and that its file reaches within t, and
 *   2. for every size n of a component, these sites of all components of at least that
 *      size have room for as many pieces of n processors as there are such components:
 *      sum floor(available / n) >= their number.
 * Both are necessary, so no placement is faster. Of a flexible job: the least t for which
 * the sites reached within t have its processors.
 *
 * O(K S R + K S log(K S)) for K kinds of components (size, file, site).
 *
 * Source: spec coallocation.md 3.4 and 6.7 (ours).
 * Deviation: with more than four million pairs of kind and site only condition 1 is used,
 * which is a bound as well, if a weaker one. A flexible job that reads chunks moves at
 * least the chunk of its smallest component.
 */
#include "algorithms/coallocation/parts.h"

#include <math.h>
#include <stdlib.h>

enum {
    PAIRS_MOST = 4000000,
    SORT_STEPS = 32 /* what it costs to sort one among others, about */
};

/* Components that are alike. */
struct kind {
    const struct co_component *component;
    size_t count;
};

struct bounding {
    const struct co_place_in *in;
    struct kind *kinds; /* by decreasing size */
    size_t kind_count;
    double *time_s; /* [kind * sites + site]; infinite: does not fit */
    char *bars;     /* of each site: enum co_reason */
    bool *open;     /* of one check */
    size_t *from;   /* not used */
};

static int compare_sizes(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int by_kind(const void *left, const void *right)
{
    const struct co_component *a = *(const struct co_component *const *)left;
    const struct co_component *b = *(const struct co_component *const *)right;
    int order = compare_sizes(b->processors, a->processors);

    if (order == 0)
        order = compare_sizes(a->file, b->file);
    if (order == 0)
        order = compare_sizes(a->fixed_site, b->fixed_site);
    return order != 0 ? order : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static void find_kinds(struct bounding *b, const struct co_component *components,
                       size_t count, struct arena *a)
{
    const struct co_component **list = NEW(a, const struct co_component *, count);

    b->kinds = NEW(a, struct kind, count);
    for (size_t i = 0; i < count; i++)
        list[i] = &components[i];
    qsort(list, count, sizeof(*list), by_kind);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || by_kind(&list[i - 1], &list[i]) != 0)
            b->kinds[b->kind_count++] = (struct kind){list[i], 0};
        b->kinds[b->kind_count - 1].count++;
    }
}

/* Transfer times of a kind to every site into time_s[]; the least. */
static double kind_times(const struct bounding *b, const struct co_component *c,
                         double *time_s)
{
    double least_s = HUGE_VAL;

    co_replica_all(b->in->grid, c->file, c->bytes, time_s, b->from);
    for (size_t e = 0; e < b->in->grid->site_count; e++) {
        if ((c->fixed_site != CO_NONE && c->fixed_site != e) ||
            b->in->available[e] < c->processors || b->bars[e] != CO_NO_REASON)
            time_s[e] = HUGE_VAL;
        if (time_s[e] < least_s)
            least_s = time_s[e];
    }
    return least_s;
}

static void begin(struct bounding *b, const struct co_place_in *in, bool avoid,
                  struct arena *a)
{
    size_t sites = in->grid->site_count;

    *b = (struct bounding){.in = in,
                           .bars = NEW(a, char, sites),
                           .open = NEW(a, bool, sites),
                           .from = NEW(a, size_t, sites)};
    co_site_bars(in->grid, in->job, avoid, b->bars);
}

/* Condition 2 for the sites within t. */
static bool has_room(struct bounding *b, double t_s)
{
    size_t sites = b->in->grid->site_count;
    double count = 0;

    for (size_t e = 0; e < sites; e++)
        b->open[e] = false;
    for (size_t k = 0; k < b->kind_count; k++) {
        size_t size = b->kinds[k].component->processors;
        double room = 0;

        count += (double)b->kinds[k].count;
        for (size_t e = 0; e < sites; e++)
            if (b->time_s[k * sites + e] <= t_s)
                b->open[e] = true;
        if (k + 1 < b->kind_count && b->kinds[k + 1].component->processors == size)
            continue;
        for (size_t e = 0; e < sites; e++)
            if (b->open[e])
                room += floor((double)b->in->available[e] / (double)size);
        if (room < count)
            return false;
    }
    return true;
}

static int by_time(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* The least time of the list, from t_s on, with room; infinite: none. */
static void search(struct bounding *b, double t_s, double *bound_s, struct arena *a)
{
    size_t pairs = b->kind_count * b->in->grid->site_count, count = 0;
    double *times = NEW(a, double, pairs);
    size_t low = 0, high;

    *bound_s = t_s; /* when the time is up */
    if (budget_step(b->in->budget, SORT_STEPS * pairs))
        return;
    for (size_t i = 0; i < pairs; i++)
        if (b->time_s[i] > t_s && isfinite(b->time_s[i]))
            times[count++] = b->time_s[i];
    if (count > 0)
        qsort(times, count, sizeof(*times), by_time);
    high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (budget_step(b->in->budget, 2 * pairs))
            return;
        if (has_room(b, times[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    *bound_s = low < count ? times[low] : HUGE_VAL;
}

static void bound_components(const struct co_place_in *in,
                             const struct co_component *components, size_t count,
                             bool avoid, double *bound_s, struct arena *a)
{
    size_t sites = in->grid->site_count;
    struct bounding b;
    double t_s = 0;
    bool keeps;

    begin(&b, in, avoid, a);
    find_kinds(&b, components, count, a);
    keeps = b.kind_count <= PAIRS_MOST / (sites ? sites : 1);
    b.time_s = NEW(a, double, (keeps ? b.kind_count : 1) * sites);
    for (size_t k = 0; k < b.kind_count; k++) {
        bool late =
            budget_step(in->budget, co_reach_steps(in->grid, b.kinds[k].component->file));

        keeps = keeps && !late;
        if (late)
            break; /* the kinds so far are a bound, too */
        t_s = fmax(t_s, kind_times(&b, b.kinds[k].component,
                                   b.time_s + (keeps ? k * sites : 0)));
    }
    *bound_s = t_s;
    if (!keeps || isinf(t_s) || has_room(&b, t_s))
        return;
    search(&b, t_s, bound_s, a);
}

/* ---- flexible jobs ---- */

struct reached {
    double time_s, processors;
};

static int by_reach(const void *left, const void *right)
{
    return by_time(&((const struct reached *)left)->time_s,
                   &((const struct reached *)right)->time_s);
}

static void bound_flexible(const struct co_place_in *in, bool avoid, double *bound_s,
                           struct arena *a)
{
    const struct co_job *job = in->job;
    struct co_component least = {
        .processors = 1, .fixed_site = CO_NONE, .file = job->file};
    size_t sites = in->grid->site_count;
    double *time_s = NEW(a, double, sites), sum = 0;
    struct reached *list = NEW(a, struct reached, sites);
    struct bounding b;

    if (job->file != CO_NONE) {
        const struct co_grid_file *file = &in->grid->files[job->file];
        double smallest = fmax(1, (double)job->min_processors);

        least.bytes = file->mode == CO_WHOLE
                          ? file->bytes
                          : ceil(file->bytes * smallest / (double)job->total_processors);
    }
    begin(&b, in, avoid, a);
    kind_times(&b, &least, time_s);
    for (size_t e = 0; e < sites; e++)
        list[e] = (struct reached){time_s[e], (double)in->available[e]};
    qsort(list, sites, sizeof(*list), by_reach);
    *bound_s = HUGE_VAL;
    for (size_t e = 0; e < sites && isfinite(list[e].time_s); e++) {
        sum += list[e].processors;
        if (sum >= (double)job->total_processors) {
            *bound_s = list[e].time_s;
            break;
        }
    }
}

enum error_code co_bound(const struct co_place_in *in,
                         const struct co_component *components, size_t count, bool avoid,
                         double *bound_s, struct arena *a, struct error *err)
{
    (void)err;
    if (in->job->type == CO_FLEXIBLE) {
        bound_flexible(in, avoid, bound_s, a);
        return OK;
    }
    bound_components(in, components, count, avoid, bound_s, a);
    return OK;
}

enum error_code co_ftt_bound(const struct co_place_in *in,
                             const struct co_component *components, size_t count,
                             double *bound_s, struct arena *a, struct error *err)
{
    return co_bound(in, components, count, in->job->barred && !in->job->avoid_soft,
                    bound_s, a, err);
}

/* ---- jobs that never fit ---- */

/* Whether no split of the total meets the bounds. */
static bool bounds_clash(const struct co_job *job)
{
    double total = (double)job->total_processors;
    double least_count = fmax(1, (double)job->min_components);

    return least_count * fmax(1, (double)job->min_processors) > total ||
           (job->max_components > 0 && job->max_processors > 0 &&
            (double)job->max_components * (double)job->max_processors < total);
}

/* Processors of a site that the job may use some day; NAN: not known; 0: it never may. */
static double site_total(const struct co_grid *grid, const struct co_job *job,
                         size_t site)
{
    enum co_reason bar = job->barred ? (enum co_reason)job->barred[site] : CO_NO_REASON;

    if (bar != CO_NO_REASON && (bar != CO_AVOIDED || !job->avoid_soft))
        return 0;
    return grid->sites[site].total;
}

bool co_never_fits(const struct co_grid *grid, const struct co_job *job)
{
    double largest = 0, sum = 0, wanted = 0; /* NAN: not known */
    size_t sites = 0, fitting = 0;

    for (size_t s = 0; s < grid->site_count; s++) {
        double total = site_total(grid, job, s);

        sum += total;
        largest = isnan(sum) ? (double)NAN : fmax(largest, total);
        sites += !(total == 0);
    }
    if (job->type == CO_FLEXIBLE)
        return bounds_clash(job) || (double)job->total_processors > sum;
    for (size_t i = 0; i < job->component_count; i++) {
        const struct co_component *c = &job->components[i];
        double room =
            c->fixed_site == CO_NONE ? largest : site_total(grid, job, c->fixed_site);

        fitting += !((double)c->processors > room);
        wanted += (double)c->processors;
    }
    if (!job->atomic && job->min_placed < job->component_count)
        return fitting < job->min_placed;
    return fitting < job->component_count || wanted > sum ||
           (job->distinct && job->component_count > sites);
}
