/* coallocation/advice.c - rules before or beside a placement, from related work. */
#include "algorithms/coallocation/advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const co_advice_names[] = {"single_site", "co_allocate", "wait", NULL};
const char *const co_acquire_mode_names[] = {"aonp", "odp2", NULL};

/* ---- co-allocate or not ---- */

static int by_shortage(const void *left, const void *right)
{
    const struct co_watch *a = left, *b = right;

    if (a->processors_short != b->processors_short)
        return a->processors_short < b->processors_short ? -1 : 1;
    return (a->site > b->site) - (a->site < b->site);
}

void co_advise(const struct co_grid *grid, size_t processors, double slowdown,
               double max_slowdown, struct co_advised *out, struct arena *a)
{
    struct co_watch *watch = NEW(a, struct co_watch, grid->site_count);

    *out = (struct co_advised){.site = CO_NONE, .watch = watch};
    for (size_t s = 0; s < grid->site_count; s++) {
        size_t available = co_available(grid, s);

        if (!grid->sites[s].usable)
            continue;
        out->available += available;
        if (out->site == CO_NONE || available > co_available(grid, out->site))
            out->site = s;
        if (available < processors && !(grid->sites[s].total < (double)processors))
            watch[out->watch_count++] = (struct co_watch){s, processors - available};
    }
    if (out->site != CO_NONE && co_available(grid, out->site) >= processors)
        out->advice = CO_ADVICE_SINGLE_SITE;
    else if (slowdown <= max_slowdown && out->available >= processors)
        out->advice = CO_ADVICE_CO_ALLOCATE;
    else
        out->advice = CO_ADVICE_WAIT;
    if (out->advice != CO_ADVICE_WAIT)
        out->watch_count = 0;
    qsort(watch, out->watch_count, sizeof(*watch), by_shortage);
}

/* ---- acquiring several sites ---- */

struct named_site {
    const char *id;
    size_t position;
};

static int by_id(const void *left, const void *right)
{
    const struct named_site *a = left, *b = right;
    int order = strcmp(a->id, b->id);

    return order != 0 ? order : (a->position > b->position) - (a->position < b->position);
}

void co_acquire_order(enum co_acquire_mode mode, const char *const *site_ids,
                      size_t count, size_t **order, struct arena *a)
{
    struct named_site *list = NEW(a, struct named_site, count);

    *order = NEW(a, size_t, count);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct named_site){site_ids[i], i};
    if (mode == CO_ODP2)
        qsort(list, count, sizeof(*list), by_id);
    for (size_t i = 0; i < count; i++)
        (*order)[i] = list[i].position;
}

/* ---- copying popular files ---- */

struct reads {
    size_t file, site;
    double count, of_file;
};

static int by_file_and_site(const void *left, const void *right)
{
    const struct reads *a = left, *b = right;

    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->site > b->site) - (a->site < b->site);
}

/* Popular files first, and for each the sites that read it most. */
static int by_popularity(const void *left, const void *right)
{
    const struct reads *a = left, *b = right;

    if (a->of_file != b->of_file)
        return a->of_file > b->of_file ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return (a->site > b->site) - (a->site < b->site);
}

/* One entry for each file and site, with the file's sum; how many. */
static size_t sum_up(struct reads *list, size_t count)
{
    size_t kept = 0;

    qsort(list, count, sizeof(*list), by_file_and_site);
    for (size_t i = 0; i < count; i++)
        if (kept > 0 && by_file_and_site(&list[kept - 1], &list[i]) == 0)
            list[kept - 1].count += list[i].count;
        else
            list[kept++] = list[i];
    for (size_t i = 0; i < kept;) {
        double sum = 0;
        size_t end = i;

        for (; end < kept && list[end].file == list[i].file; end++)
            sum += list[end].count;
        for (; i < end; i++)
            list[i].of_file = sum;
    }
    qsort(list, kept, sizeof(*list), by_popularity);
    return kept;
}

static bool has_replica(const struct co_grid_file *file, size_t site)
{
    for (size_t i = 0; i < file->site_count; i++)
        if (file->sites[i] == site)
            return true;
    return false;
}

void co_popular_files(const struct co_grid *grid, const struct co_access *accesses,
                      size_t access_count, size_t most, const struct co_popular **list,
                      size_t *count, struct arena *a)
{
    struct reads *reads = NEW(a, struct reads, access_count);
    struct co_popular *out = NEW(a, struct co_popular, access_count);
    size_t *sites = NEW(a, size_t, access_count), kept;

    for (size_t i = 0; i < access_count; i++)
        reads[i] =
            (struct reads){accesses[i].file, accesses[i].site, accesses[i].count, 0};
    kept = sum_up(reads, access_count);
    *count = 0;
    for (size_t i = 0; i < kept; i++) {
        struct co_popular *last = *count > 0 ? &out[*count - 1] : NULL;

        if (!last || last->file != reads[i].file) {
            if (*count == most)
                break;
            last = &out[(*count)++];
            *last = (struct co_popular){reads[i].file, reads[i].of_file, &sites[i], 0};
        }
        if (!has_replica(&grid->files[reads[i].file], reads[i].site))
            sites[(size_t)(last->sites - sites) + last->site_count++] = reads[i].site;
    }
    *list = out;
}
