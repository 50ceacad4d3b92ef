/* coallocation/split.c - how many components of a flexible job, how large, and where.
 *
 * The policy's rule says how many of the N processors each site gets:
 *     fullest   sites by decreasing available processors, filled in this order
 *     nearest   the same, sites by increasing transfer time of the whole file
 *     balanced  one at a time to the site with most left, worked out at once: the level
 *               down to which all sites are emptied
 * Only sites that some replica reaches take part. A share above the largest component
 * becomes several that are nearly equal; with too few components the largest are halved.
 *
 * With a least size min, `fullest` and `nearest` take the shortest prefix U of the order
 * with N processors; if |U| min > N its smallest site goes, else each gets min and the
 * rest is filled in order. That finds a split whenever there is one. `balanced` drops the
 * smallest share below min and starts again; if that leads nowhere, it does as `fullest`.
 *
 * Equal components: the smallest number k that divides N and whose parts are within the
 * bounds and are placed by the policy.
 *
 * O(S^2 + components log), equal: a placement for each divisor of N with room.
 *
 * Source: spec coallocation.md 6.6 (ours); 001_546dfcc428821807 asks for it [L398].
 * Deviation: at most 100,000 components. Without a file `nearest` is in the order of
 * names, as all times are 0.
 */
#include "algorithms/coallocation/parts.h"
#include "models/base/heap.h"

#include <math.h>
#include <stdlib.h>

enum { LEVEL_STEPS = 32 }; /* levels that are tried to balance, about */

struct ranked {
    size_t site;
    double key; /* the least first */
};

struct split {
    const struct co_place_in *in;
    const struct co_job *job;
    size_t *room;      /* of each site; 0: takes no part */
    double *time_s;    /* from the nearest replica, of the whole file */
    size_t *file_site; /* that replica */
    size_t *order;     /* sites that take part */
    size_t order_count;
    struct ranked *ranked;
    size_t *share; /* of each site */
    bool *dropped; /* of one attempt */
    struct co_component *parts;
    size_t *part_site;
    size_t part_count;
    bool avoid;
};

static size_t least_size(const struct co_job *job)
{
    return job->min_processors > 1 ? job->min_processors : 1;
}

/* ---- shares ---- */

/* The shortest prefix of the order, without dropped sites, with N processors: its end.
 * SIZE_MAX: there is none. */
static size_t prefix_end(const struct split *sp, size_t *used_count)
{
    size_t sum = 0;

    *used_count = 0;
    for (size_t i = 0; i < sp->order_count; i++) {
        size_t site = sp->order[i];

        if (sp->dropped[site])
            continue;
        sum += sp->room[site];
        ++*used_count;
        if (sum >= sp->job->total_processors)
            return i + 1;
    }
    return SIZE_MAX;
}

static void drop_smallest_room(struct split *sp, size_t end)
{
    size_t smallest = CO_NONE;

    for (size_t i = 0; i < end; i++) {
        size_t site = sp->order[i];

        if (!sp->dropped[site] &&
            (smallest == CO_NONE || sp->room[site] <= sp->room[smallest]))
            smallest = site;
    }
    sp->dropped[smallest] = true;
}

/* Shares by the order; false: no split. */
static bool fill_in_order(struct split *sp)
{
    size_t least = least_size(sp->job), left = sp->job->total_processors;
    size_t end, used_count;

    for (size_t s = 0; s < sp->in->grid->site_count; s++) {
        sp->share[s] = 0;
        sp->dropped[s] = sp->room[s] < least;
    }
    for (;;) {
        end = prefix_end(sp, &used_count);
        if (end == SIZE_MAX)
            return false;
        if (used_count <= left / least)
            break;
        drop_smallest_room(sp, end);
    }
    left -= used_count * least;
    for (size_t i = 0; i < end; i++) {
        size_t site = sp->order[i], more;

        if (sp->dropped[site])
            continue;
        more = sp->room[site] - least;
        if (more > left)
            more = left;
        sp->share[site] = least + more;
        left -= more;
    }
    return true;
}

/* Processors above a level, of the sites not dropped. */
static size_t above(const struct split *sp, size_t level)
{
    size_t sum = 0;

    for (size_t s = 0; s < sp->in->grid->site_count; s++)
        if (!sp->dropped[s] && sp->room[s] > level)
            sum += sp->room[s] - level;
    return sum;
}

/* Shares that leave the sites as level as can be; false: too few processors. */
static bool balance(struct split *sp)
{
    size_t total = sp->job->total_processors, low = 0, high = 0, left;

    if (above(sp, 0) < total)
        return false;
    for (size_t s = 0; s < sp->in->grid->site_count; s++)
        if (sp->room[s] > high)
            high = sp->room[s];
    while (low < high) { /* the lowest level with no more than N above it */
        size_t middle = low + (high - low) / 2;

        if (above(sp, middle) <= total)
            high = middle;
        else
            low = middle + 1;
    }
    left = total - above(sp, low);
    for (size_t s = 0; s < sp->in->grid->site_count; s++) {
        bool one = left > 0 && !sp->dropped[s] && sp->room[s] >= low && low > 0;

        sp->share[s] = !sp->dropped[s] && sp->room[s] > low ? sp->room[s] - low : 0;
        sp->share[s] += one;
        left -= one;
    }
    return true;
}

static size_t smallest_share(const struct split *sp)
{
    size_t smallest = CO_NONE;

    for (size_t s = 0; s < sp->in->grid->site_count; s++)
        if (sp->share[s] > 0 &&
            (smallest == CO_NONE || sp->share[s] < sp->share[smallest]))
            smallest = s;
    return smallest;
}

/* Balanced shares of at least the least size; false: none without the dropped sites. */
static bool balance_bounded(struct split *sp)
{
    while (balance(sp)) {
        size_t smallest = smallest_share(sp);

        if (budget_step(sp->in->budget, LEVEL_STEPS * sp->in->grid->site_count))
            return false; /* by order then, in one pass */
        if (smallest == CO_NONE || sp->share[smallest] >= least_size(sp->job))
            return true;
        sp->dropped[smallest] = true;
    }
    return false;
}

/* ---- components ---- */

/* Components on a site with this share. */
static size_t parts_of(const struct co_job *job, size_t share)
{
    size_t most = job->max_processors;

    return most > 0 && share > most ? (share + most - 1) / most : share > 0;
}

/* How many components the shares make; SIZE_MAX: some would be too small. */
static size_t count_parts(const struct split *sp)
{
    size_t count = 0;

    for (size_t s = 0; s < sp->in->grid->site_count; s++) {
        size_t parts = parts_of(sp->job, sp->share[s]);

        if (parts > 0 && sp->share[s] / parts < least_size(sp->job))
            return SIZE_MAX;
        count += parts;
    }
    return count;
}

static void add_part(struct split *sp, size_t site, size_t processors)
{
    sp->parts[sp->part_count] =
        (struct co_component){.processors = processors, .fixed_site = CO_NONE};
    sp->part_site[sp->part_count++] = site;
}

static void make_parts(struct split *sp)
{
    for (size_t i = 0; i < sp->order_count; i++) {
        size_t site = sp->order[i], share = sp->share[site];
        size_t parts = parts_of(sp->job, share);

        for (size_t k = 0; k < parts; k++)
            add_part(sp, site, share / parts + (k < share % parts));
    }
}

struct heap_part {
    size_t processors, place, site; /* place: of its site in the order */
};

/* Whether a is split before b. */
static bool is_before(const struct heap_part *a, const struct heap_part *b)
{
    return a->processors != b->processors ? a->processors > b->processors
                                          : a->place < b->place;
}

HEAP(parts, struct heap_part, is_before)

static int by_place_and_size(const void *left, const void *right)
{
    const struct heap_part *a = left, *b = right;

    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return (a->processors < b->processors) - (a->processors > b->processors);
}

/* Halves the largest components until there are enough; false: they get too small. */
static void halve(struct split *sp, bool *done, struct arena *a)
{
    size_t wanted = sp->job->min_components, count = 0, place = 0;
    struct heap_part *heap;

    *done = sp->part_count >= wanted;
    if (*done)
        return;
    heap = NEW(a, struct heap_part, wanted);
    while (count < sp->part_count) {
        size_t i = count;

        place += i > 0 && sp->part_site[i] != sp->part_site[i - 1];
        parts_push(heap, &count,
                   (struct heap_part){sp->parts[i].processors, place, sp->part_site[i]});
    }
    while (count < wanted) {
        size_t half = heap[0].processors / 2;
        struct heap_part other = {half, heap[0].place, heap[0].site};

        if (half < least_size(sp->job) || sp->job->distinct)
            return;
        heap[0].processors -= half;
        parts_first_changed(heap, count);
        parts_push(heap, &count, other);
    }
    qsort(heap, count, sizeof(*heap), by_place_and_size);
    sp->part_count = 0;
    for (size_t i = 0; i < count; i++)
        add_part(sp, heap[i].site, heap[i].processors);
    *done = true;
}

/* ---- the split ---- */

static int by_key(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->site > b->site) - (a->site < b->site);
}

/* The sites that take part, as the rule goes through them. */
static void sort_sites(struct split *sp, enum co_split_rule rule)
{
    sp->order_count = 0;
    for (size_t s = 0; s < sp->in->grid->site_count; s++) {
        double key = 0;

        if (sp->room[s] == 0)
            continue;
        if (rule == CO_SPLIT_FULLEST)
            key = -(double)sp->room[s];
        else if (rule == CO_SPLIT_NEAREST)
            key = sp->time_s[s];
        sp->ranked[sp->order_count++] = (struct ranked){s, key};
    }
    qsort(sp->ranked, sp->order_count, sizeof(*sp->ranked), by_key);
    for (size_t i = 0; i < sp->order_count; i++)
        sp->order[i] = sp->ranked[i].site;
}

/* Shares with at most max_components components; false: none. The order of the sites is
 * then that of the list. */
static bool find_shares(struct split *sp)
{
    size_t most = sp->job->max_components ? sp->job->max_components : CO_SPLIT_MAX;
    enum co_split_rule rule = co_split_of(sp->job->policy);
    size_t count;

    if (most > CO_SPLIT_MAX)
        most = CO_SPLIT_MAX;
    if (rule == CO_SPLIT_BALANCED) {
        for (size_t s = 0; s < sp->in->grid->site_count; s++)
            sp->dropped[s] = false;
        while (balance_bounded(sp)) {
            count = count_parts(sp);
            if (count == SIZE_MAX)
                return false;
            if (count <= most)
                return true;
            sp->dropped[smallest_share(sp)] = true;
        }
        sort_sites(sp, CO_SPLIT_FULLEST);
    }
    return fill_in_order(sp) && count_parts(sp) <= most;
}

static void prepare(struct split *sp, struct arena *a)
{
    const struct co_grid *grid = sp->in->grid;
    const struct co_job *job = sp->job;
    size_t sites = grid->site_count;
    double bytes = job->file == CO_NONE ? 0 : grid->files[job->file].bytes;

    sp->room = NEW(a, size_t, sites);
    sp->time_s = NEW(a, double, sites);
    sp->file_site = NEW(a, size_t, sites);
    sp->order = NEW(a, size_t, sites);
    sp->ranked = NEW(a, struct ranked, sites);
    sp->share = NEW(a, size_t, sites);
    sp->dropped = NEW(a, bool, sites);
    for (size_t s = 0; s < sites; s++) {
        size_t room = sp->in->available[s];

        sp->time_s[s] = co_replica_s(grid, s, job->file, bytes, &sp->file_site[s]);
        if (co_site_bar(grid, job, s, sp->avoid) != CO_NO_REASON || isinf(sp->time_s[s]))
            continue;
        if (job->distinct && job->max_processors > 0 && room > job->max_processors)
            room = job->max_processors;
        sp->room[s] = room;
    }
    sort_sites(sp, co_split_of(job->policy));
}

/* Why there is no split. */
static enum co_reason reason_of(const struct split *sp)
{
    const struct co_grid *grid = sp->in->grid;
    double wanted = (double)sp->job->total_processors, all = 0, reached = 0;
    size_t barred = 0;

    if (sp->job->file != CO_NONE && grid->files[sp->job->file].site_count == 0)
        return CO_NO_REPLICA;
    for (size_t s = 0; s < grid->site_count; s++) {
        enum co_reason bar = co_site_bar(grid, sp->job, s, sp->avoid);

        barred += bar == CO_NOT_USABLE || bar == CO_CAPABILITY;
        if (bar != CO_NO_REASON)
            continue;
        all += (double)sp->in->available[s];
        if (isfinite(sp->time_s[s]))
            reached += (double)sp->in->available[s];
    }
    if (barred == grid->site_count)
        return CO_CAPABILITY;
    if (all < wanted)
        return CO_NO_SITE_WITH_ENOUGH_PROCESSORS;
    return reached < wanted ? CO_NO_LINK : CO_BOUNDS;
}

/* The same with what is wrong with each site: too few processors, or the reason. */
static void explain(const struct split *sp, struct co_placement *out)
{
    const struct co_grid *grid = sp->in->grid;

    out->reason = reason_of(sp);
    for (size_t s = 0; s < grid->site_count; s++) {
        enum co_reason bar = co_site_bar(grid, sp->job, s, sp->avoid);

        if (bar == CO_NO_REASON && sp->in->available[s] > 0)
            bar = isinf(sp->time_s[s]) ? CO_NO_LINK : out->reason;
        if (bar == CO_NO_REASON || bar == CO_NO_SITE_WITH_ENOUGH_PROCESSORS)
            bar = CO_TOO_FEW_PROCESSORS;
        out->reason_count[bar]++;
    }
}

/* Names and input of the components. */
static void finish_parts(struct split *sp, struct arena *a)
{
    const struct co_grid *grid = sp->in->grid;
    const struct co_job *job = sp->job;
    const struct co_grid_file *file =
        job->file == CO_NONE ? NULL : &grid->files[job->file];

    for (size_t i = 0; i < sp->part_count; i++) {
        struct co_component *part = &sp->parts[i];

        part->id = arena_printf(a, "c%zu", i);
        part->file = job->file;
        if (file && file->mode == CO_CHUNK)
            part->bytes = ceil(file->bytes * (double)part->processors /
                               (double)job->total_processors);
        else if (file)
            part->bytes = file->bytes;
    }
}

/* Room for so many components. */
static void make_room(struct split *sp, size_t count, struct arena *a)
{
    sp->part_count = 0;
    sp->parts = NEW(a, struct co_component, count);
    sp->part_site = NEW(a, size_t, count);
}

static enum error_code place_parts(struct split *sp, struct co_placement *out,
                                   struct arena *a)
{
    struct co_choice *choices = NEW(a, struct co_choice, sp->part_count);

    finish_parts(sp, a);
    for (size_t i = 0; i < sp->part_count; i++) {
        struct co_choice *choice = &choices[i];

        if (i > 0 && sp->part_site[i] == sp->part_site[i - 1] &&
            sp->parts[i].bytes == sp->parts[i - 1].bytes) {
            *choice = choices[i - 1]; /* of one file: so are all */
            continue;
        }
        choice->site = sp->part_site[i];
        choice->transfer_s = co_replica_s(sp->in->grid, choice->site, sp->parts[i].file,
                                          sp->parts[i].bytes, &choice->file_site);
        out->ftt_s = fmax(out->ftt_s, choice->transfer_s);
        out->site_count += i == 0 || choice->site != choices[i - 1].site;
    }
    out->placed = true;
    out->components = sp->parts;
    out->component_count = out->placed_count = sp->part_count;
    out->choices = choices;
    return OK;
}

static enum error_code split_by_rule(struct split *sp, struct co_placement *out,
                                     struct arena *a)
{
    size_t wanted = sp->job->min_components, count;
    bool done = wanted <= CO_SPLIT_MAX && find_shares(sp);

    if (!done)
        return OK;
    count = count_parts(sp);
    make_room(sp, count > wanted ? count : wanted, a);
    make_parts(sp);
    halve(sp, &done, a);
    return done ? place_parts(sp, out, a) : OK;
}

/* ---- equal components ---- */

/* Whether k components may be tried: their size is within the bounds and there is room
 * for them, as far as a sum tells. */
static bool may_be_equal(const struct split *sp, size_t k)
{
    size_t size = sp->job->total_processors / k, room = 0;

    if (sp->job->total_processors % k != 0 || size < least_size(sp->job) ||
        (sp->job->max_processors > 0 && size > sp->job->max_processors))
        return false;
    for (size_t s = 0; s < sp->in->grid->site_count; s++) {
        size_t fits = sp->in->available[s] / size;

        room += sp->job->distinct && fits > 1 ? 1 : fits;
    }
    return room >= k;
}

static void split_equally(struct split *sp, struct co_placement *out, struct arena *a)
{
    const struct co_job *job = sp->job;
    const struct policy *policy =
        job->policy->flags & CO_FLEXIBLE_ONLY
            ? policy_find(coallocation_policies, "cluster_minimisation")
            : job->policy;
    struct co_job whole = *job;
    struct co_place_in in = *sp->in;
    size_t most = job->max_components ? job->max_components : CO_SPLIT_MAX;

    whole.atomic = true;
    in.job = &whole;
    for (size_t k = job->min_components > 1 ? job->min_components : 1;
         k <= most && k <= CO_SPLIT_MAX && k <= job->total_processors; k++) {
        struct co_placement earlier = *out;

        if (!may_be_equal(sp, k))
            continue;
        make_room(sp, k, a);
        for (size_t i = 0; i < k; i++)
            add_part(sp, CO_NONE, job->total_processors / k);
        finish_parts(sp, a);
        co_place_components(&in, policy, sp->parts, k, sp->avoid, out, a);
        co_merge_added(&earlier, out, a);
        if (out->placed || out->cut)
            return;
        earlier.added = out->added;
        earlier.added_count = out->added_count;
        *out = earlier;
    }
}

enum error_code co_place_flexible(const struct co_place_in *in, bool avoid,
                                  struct co_placement *out, struct arena *a,
                                  struct error *err)
{
    struct split sp = {.in = in, .job = in->job, .avoid = avoid};

    if (co_split_of(in->job->policy) == CO_SPLIT_NONE)
        return fail(err, ERR_INVALID, "", "%s does not split flexible jobs",
                    in->job->policy->name);
    *out = (struct co_placement){.algorithm = in->job->policy->name,
                                 .failed_component = CO_NONE,
                                 .nearest_site = CO_NONE};
    prepare(&sp, a);
    if (in->job->equal_components)
        split_equally(&sp, out, a);
    else
        TRY(split_by_rule(&sp, out, a));
    if (!out->placed && !out->cut)
        explain(&sp, out);
    return OK;
}
