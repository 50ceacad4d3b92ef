/* base/names.h - finding things by name.
 *
 * struct name_index maps texts to positions: unknown and repeated ids in a
 * request with 10^6 of them are found in linear time.
 */
#ifndef GRIDPLAN_BASE_NAMES_H
#define GRIDPLAN_BASE_NAMES_H

#include "models/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* The candidate nearest to `name` by edit distance, for "did you mean"; NULL if
 * none is near enough (a third of its length, at least 1; names of up to four letters
 * must begin alike), neither as it is nor in small letters. Ends at a NULL. */
const char *names_nearest(const char *name, const char *const *candidates, size_t count);

/* The nearest, else the candidate that shares most letters with `name` in whole words of
 * at least four: "flow_time" is "total_flow_s"; NULL: none, or several of that many. For
 * a choice of few names; of members, words like "time" say too little. */
const char *names_meant(const char *name, const char *const *candidates, size_t count);

/* The candidates (ended by a NULL before `count`) in the order of their edit distance to
 * `name`, then in their own; `name` NULL: in their own. At most `most` go into *sorted;
 * their number. */
size_t names_by_distance(const char *name, const char *const *candidates, size_t count,
                         const char **sorted, size_t most);

/* Changes of a letter that make one name the other; SIZE_MAX: one is too long. */
size_t names_distance(const char *left, const char *right);

enum { NAMES_HINT_BYTES = 320 }; /* a buffer for names_hint() */

/* What may be said instead of `name`: "did you mean 'x'? Known: 'x', 'y'"; all candidates
 * (the nearest alone is a guess), as far as they go into `size` bytes, then their number.
 * Returns `buffer`. */
const char *names_hint(const char *name, const char *const *candidates, size_t count,
                       char *buffer, size_t size);

/* Likewise for names that are no array: at(list, i) is the i-th, NULL behind the last. */
typedef const char *names_at_fn(const void *list, size_t i);
const char *names_nearest_in(const char *name, names_at_fn *at, const void *list);
const char *names_meant_in(const char *name, names_at_fn *at, const void *list);
size_t names_by_distance_in(const char *name, names_at_fn *at, const void *list,
                            const char **sorted, size_t most);
const char *names_hint_in(const char *name, names_at_fn *at, const void *list,
                          char *buffer, size_t size);

#define NAME_NOT_FOUND SIZE_MAX

struct name_index {
    const char **key;
    size_t *position;
    size_t slot_count; /* power of two, at least twice the expected number */
};

/* An empty index for up to `expected` names; false without memory. */
bool name_index_try(struct name_index *index, size_t expected, struct arena *a);

/* The same in a computation (arena_run()); always true. */
bool name_index_create(struct name_index *index, size_t expected, struct arena *a);

/* Adds a name that must outlive the index; the position of an equal name that
 * was there already (which stays), else NAME_NOT_FOUND. */
size_t name_index_add(struct name_index *index, const char *name, size_t position);

/* Position of `name` or NAME_NOT_FOUND. */
size_t name_index_find(const struct name_index *index, const char *name);

/* FNV-1a, 64 bits: names random streams; not for untrusted keys. */
uint64_t hash_fnv1a(const char *text);

#endif
