/* coallocation/transfer.c - transfer times of the file at hand, and what is moved. */
#include "algorithms/coallocation/parts.h"

#include <math.h>
#include <stdlib.h>

enum { FIRST_PAIRS = 16 };

void co_state_create(const struct co_place_in *in, struct co_state *out, struct arena *a)
{
    size_t count = in->grid->site_count;
    struct co_cache *cache = NEW(a, struct co_cache, 1);

    *out = (struct co_state){.grid = in->grid,
                             .job = in->job,
                             .available = NEW(a, size_t, count),
                             .used = NEW(a, bool, count),
                             .candidate = NEW(a, bool, count),
                             .history = in->history,
                             .cache = cache};
    *cache = (struct co_cache){.reach_s = NEW(a, double, count),
                               .history_s = NEW(a, double, count),
                               .reach_file = NEW(a, size_t, count),
                               .history_file = NEW(a, size_t, count),
                               .arena = a};
    out->reach_s = cache->reach_s;
    out->reach_file = cache->reach_file;
    out->history_s = cache->history_s;
    out->history_file = cache->history_file;
    for (size_t s = 0; s < count; s++)
        out->available[s] = in->available[s];
}

/* The nearest replica among the pairs of the history table. */
static void reach_by_history(const struct co_state *s, size_t site)
{
    struct co_cache *cache = s->cache;
    const struct co_grid_file *file = &s->grid->files[cache->file];

    cache->history_s[site] = HUGE_VAL;
    cache->history_file[site] = CO_NONE;
    for (size_t i = 0; i < file->site_count; i++) {
        size_t from = file->sites[i];
        double time_s;

        if (!s->history->known[site * s->grid->site_count + from])
            continue;
        time_s = co_transfer_s(s->grid, site, from, cache->bytes);
        if (time_s < cache->history_s[site]) {
            cache->history_s[site] = time_s;
            cache->history_file[site] = from;
        }
    }
}

void co_state_reach(struct co_state *s, const struct co_component *component)
{
    struct co_cache *cache = s->cache;
    bool all = component->file == CO_NONE || !s->history || !s->history->known;

    if (cache->filled && cache->file == component->file &&
        cache->bytes == component->bytes)
        return;
    cache->filled = true;
    cache->file = component->file;
    cache->bytes = component->bytes;
    co_replica_all(s->grid, component->file, component->bytes, cache->reach_s,
                   cache->reach_file);
    for (size_t e = 0; e < s->grid->site_count; e++) {
        if (all) {
            cache->history_s[e] = cache->reach_s[e];
            cache->history_file[e] = cache->reach_file[e];
        } else {
            reach_by_history(s, e);
        }
    }
}

static void add_pair(struct co_cache *cache, size_t execution_site, size_t file_site)
{
    if (cache->added_count == cache->added_size) {
        size_t size = cache->added_size ? 2 * cache->added_size : FIRST_PAIRS;
        struct co_pair *longer =
            GROW(cache->arena, cache->added, struct co_pair, cache->added_count, size);

        cache->added = longer;
        cache->added_size = size;
    }
    cache->added[cache->added_count++] = (struct co_pair){execution_site, file_site};
}

void co_history_insert(struct co_state *s, size_t site)
{
    struct co_cache *cache = s->cache;
    const struct co_grid_file *file = &s->grid->files[cache->file];
    /* Most components go where the one before went. */
    bool again = cache->added_count > 0 && cache->last_site == site &&
                 cache->last_file == cache->file;

    for (size_t i = 0; i < file->site_count; i++) {
        if (s->history && s->history->known)
            s->history->known[site * s->grid->site_count + file->sites[i]] = 1;
        if (!again)
            add_pair(cache, site, file->sites[i]);
    }
    cache->last_site = site;
    cache->last_file = cache->file;
    cache->history_s[site] = cache->reach_s[site];
    cache->history_file[site] = cache->reach_file[site];
}

static int by_sites(const void *left, const void *right)
{
    const struct co_pair *a = left, *b = right;

    if (a->execution_site != b->execution_site)
        return a->execution_site < b->execution_site ? -1 : 1;
    return (a->file_site > b->file_site) - (a->file_site < b->file_site);
}

/* Sorts the pairs and keeps each once; how many. */
static size_t sort_pairs(struct co_pair *list, size_t count)
{
    size_t kept = 0;

    if (count > 0)
        qsort(list, count, sizeof(*list), by_sites);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || by_sites(&list[i - 1], &list[i]) != 0)
            list[kept++] = list[i];
    return kept;
}

void co_state_added(struct co_state *s, const struct co_pair **list, size_t *count)
{
    struct co_cache *cache = s->cache;

    cache->added_count = sort_pairs(cache->added, cache->added_count);
    *list = cache->added;
    *count = cache->added_count;
}

void co_merge_added(const struct co_placement *first, struct co_placement *second,
                    struct arena *a)
{
    size_t count = first->added_count + second->added_count;
    struct co_pair *list;

    if (first->added_count == 0)
        return;
    list = NEW(a, struct co_pair, count);
    for (size_t i = 0; i < count; i++)
        list[i] = i < first->added_count ? first->added[i]
                                         : second->added[i - first->added_count];
    second->added = list;
    second->added_count = sort_pairs(list, count);
}

/* ---- what is moved ---- */

/* A transfer of a whole file, to see which are the same. */
struct move {
    struct co_transfer transfer;
    size_t position; /* of the component */
    bool whole;
};

static int same_file(const void *left, const void *right)
{
    const struct move *a = left, *b = right;

    if (a->transfer.file != b->transfer.file)
        return a->transfer.file < b->transfer.file ? -1 : 1;
    if (a->transfer.to_site != b->transfer.to_site)
        return a->transfer.to_site < b->transfer.to_site ? -1 : 1;
    if (a->transfer.from_site != b->transfer.from_site)
        return a->transfer.from_site < b->transfer.from_site ? -1 : 1;
    return 0;
}

static int by_file(const void *left, const void *right)
{
    const struct move *a = left, *b = right;
    int order = same_file(left, right);

    return order != 0 ? order : (a->position > b->position) - (a->position < b->position);
}

static int by_position(const void *left, const void *right)
{
    const struct move *a = left, *b = right;

    return (a->position > b->position) - (a->position < b->position);
}

static size_t list_moves(const struct co_grid *grid, const struct co_placement *placement,
                         struct move *moves)
{
    size_t count = 0;

    for (size_t i = 0; i < placement->component_count; i++) {
        const struct co_component *c = &placement->components[i];
        const struct co_choice *choice = &placement->choices[i];

        if (choice->site == CO_NONE || choice->file_site == CO_NONE ||
            choice->site == choice->file_site || c->bytes == 0)
            continue;
        moves[count++] = (struct move){
            {c->file, choice->file_site, choice->site, c->bytes, choice->transfer_s},
            i,
            grid->files[c->file].mode == CO_WHOLE &&
                c->bytes == grid->files[c->file].bytes};
    }
    return count;
}

void co_transfers(const struct co_grid *grid, const struct co_placement *placement,
                  const struct co_transfer **list, size_t *count, struct arena *a)
{
    struct move *moves = NEW(a, struct move, placement->component_count);
    struct co_transfer *out;
    size_t total, kept = 0;

    total = list_moves(grid, placement, moves);
    qsort(moves, total, sizeof(*moves), by_file);
    for (size_t i = 0; i < total; i++)
        if (kept == 0 || !moves[i].whole || !moves[kept - 1].whole ||
            same_file(&moves[kept - 1], &moves[i]) != 0)
            moves[kept++] = moves[i];
    qsort(moves, kept, sizeof(*moves), by_position);
    out = NEW(a, struct co_transfer, kept);
    for (size_t i = 0; i < kept; i++)
        out[i] = moves[i].transfer;
    *list = out;
    *count = kept;
}
