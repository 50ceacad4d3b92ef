/* cluster_replay/line.c - the jobs that wait, in the order of a queue. */
#include "algorithms/cluster_replay/line.h"

#include <string.h>

bool line_is_before(const struct line_entry *a, const struct line_entry *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority;
    if (a->key != b->key)
        return a->key < b->key;
    if (a->arrival_ms != b->arrival_ms)
        return a->arrival_ms < b->arrival_ms;
    return a->job < b->job;
}

void line_create(struct line *l, struct arena *a)
{
    *l = (struct line){.arena = a, .room = 16, .spare_room = 16};
    l->blocks = NEW(a, struct line_block *, l->room);
    l->spare = NEW(a, struct line_block *, l->spare_room);
}

static struct line_block *new_block(struct line *l)
{
    struct line_block *b =
        l->spare_count ? l->spare[--l->spare_count] : NEW(l->arena, struct line_block, 1);

    b->count = 0;
    b->least_nodes = UINT32_MAX;
    return b;
}

static void insert_block(struct line *l, size_t at)
{
    if (l->block_count == l->room) {
        l->blocks = GROW(l->arena, l->blocks, struct line_block *, l->room, 2 * l->room);
        l->room *= 2;
    }
    memmove(l->blocks + at + 1, l->blocks + at,
            (l->block_count - at) * sizeof(struct line_block *));
    l->blocks[at] = new_block(l);
    l->block_count++;
}

static void remove_block(struct line *l, size_t at)
{
    if (l->spare_count == l->spare_room) {
        l->spare = GROW(l->arena, l->spare, struct line_block *, l->spare_room,
                        2 * l->spare_room);
        l->spare_room *= 2;
    }
    l->spare[l->spare_count++] = l->blocks[at];
    l->block_count--;
    memmove(l->blocks + at, l->blocks + at + 1,
            (l->block_count - at) * sizeof(struct line_block *));
}

static void find_least(struct line_block *b)
{
    b->least_nodes = UINT32_MAX;
    for (size_t i = 0; i < b->count; i++)
        if (b->entries[i].nodes < b->least_nodes)
            b->least_nodes = b->entries[i].nodes;
}

/* The last block whose first entry is not behind e; 0 where there is none. */
static size_t block_of(const struct line *l, const struct line_entry *e)
{
    size_t low = 0, high = l->block_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (line_is_before(e, &l->blocks[middle]->entries[0]))
            high = middle;
        else
            low = middle;
    }
    return low;
}

/* The first entry that is not before e. */
static size_t entry_of(const struct line_block *b, const struct line_entry *e)
{
    size_t low = 0, high = b->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (line_is_before(&b->entries[middle], e))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* At the end of the line a full block stays full. */
static void split(struct line *l, size_t at, const struct line_entry *e)
{
    struct line_block *b = l->blocks[at], *next;
    size_t keep = at + 1 == l->block_count && line_is_before(&b->entries[b->count - 1], e)
                      ? b->count
                      : b->count / 2;

    insert_block(l, at + 1);
    next = l->blocks[at + 1];
    next->count = b->count - keep;
    memcpy(next->entries, b->entries + keep, next->count * sizeof(*e));
    b->count = keep;
    find_least(b);
    find_least(next);
}

void line_add(struct line *l, const struct line_entry *e)
{
    struct line_block *b;
    size_t at, i;

    if (l->block_count == 0)
        insert_block(l, 0);
    at = block_of(l, e);
    if (l->blocks[at]->count == LINE_BLOCK) {
        split(l, at, e);
        if (l->blocks[at + 1]->count == 0 ||
            !line_is_before(e, &l->blocks[at + 1]->entries[0]))
            at++;
    }
    b = l->blocks[at];
    i = entry_of(b, e);
    memmove(b->entries + i + 1, b->entries + i, (b->count - i) * sizeof(*e));
    b->entries[i] = *e;
    b->count++;
    if (e->nodes < b->least_nodes)
        b->least_nodes = e->nodes;
    l->count++;
}

void line_remove(struct line *l, const struct line_entry *e)
{
    size_t at = block_of(l, e), i = entry_of(l->blocks[at], e);
    struct line_block *b = l->blocks[at];

    b->count--;
    memmove(b->entries + i, b->entries + i + 1, (b->count - i) * sizeof(*e));
    l->count--;
    if (b->count == 0)
        remove_block(l, at);
    else if (e->nodes == b->least_nodes)
        find_least(b);
}

const struct line_entry *line_at(const struct line *l, struct line_place *place,
                                 uint32_t nodes_max, size_t *passed)
{
    for (; place->block < l->block_count; place->block++, place->entry = 0) {
        const struct line_block *b = l->blocks[place->block];

        if (b->least_nodes > nodes_max) {
            *passed += b->count - place->entry;
            continue;
        }
        for (; place->entry < b->count; place->entry++, ++*passed)
            if (b->entries[place->entry].nodes <= nodes_max)
                return &b->entries[place->entry];
    }
    return NULL;
}
