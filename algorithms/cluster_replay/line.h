/* cluster_replay/line.h - the jobs that wait, in the order of a queue.
 *
 * A sorted list in blocks; each knows the least number of nodes that one of its jobs
 * needs, so that a walk passes by what cannot fit.
 *
 * Cost: O(log n + block) to add and to remove, and as much as the directory is long where
 * a block is split or ends.
 */
#ifndef GRIDPLAN_CLUSTER_REPLAY_LINE_H
#define GRIDPLAN_CLUSTER_REPLAY_LINE_H

#include "models/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* Larger priorities first, then smaller keys, then who came earlier, then by number. */
struct line_entry {
    double priority, key;
    int64_t arrival_ms;
    uint32_t job, nodes;
};

enum { LINE_BLOCK = 64 };

struct line_block {
    size_t count;
    uint32_t least_nodes;
    struct line_entry entries[LINE_BLOCK];
};

struct line {
    struct line_block **blocks;
    size_t block_count, room;
    size_t count; /* of entries */
    struct line_block **spare;
    size_t spare_count, spare_room;
    struct arena *arena;
};

/* A place in it. */
struct line_place {
    size_t block, entry;
};

void line_create(struct line *l, struct arena *a);
void line_add(struct line *l, const struct line_entry *e);
void line_remove(struct line *l, const struct line_entry *e);
bool line_is_before(const struct line_entry *a, const struct line_entry *b);

/* The entry there, or the first one behind that needs at most so many nodes, which moves
 * the place to it; NULL: none. *passed grows by the entries that were passed by. */
const struct line_entry *line_at(const struct line *l, struct line_place *place,
                                 uint32_t nodes_max, size_t *passed);

#endif
