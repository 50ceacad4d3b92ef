/* base/names.c - finding things by name. */
#include "models/base/names.h"

#include <stdio.h>
#include <string.h>

enum {
    NAMES_SORTED_MAX = 64,
    LONGEST_NAME = 63, /* longer names get no suggestion */
    SHORT_NAME = 4     /* with another first letter it is another word, not a slip */
};

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;

    return least < c ? least : c;
}

/* Letters that are more, fewer or others, and neighbours that are swapped. */
static size_t edit_distance(const char *a, size_t a_length, const char *b,
                            size_t b_length)
{
    size_t rows[3][LONGEST_NAME + 1];

    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        const size_t *above = rows[(i + 2) % 3], *twice = rows[(i + 1) % 3];
        size_t *row = rows[i % 3];

        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = smallest(above[j] + 1, row[j - 1] + 1,
                              above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                twice[j - 2] + 1 < row[j])
                row[j] = twice[j - 2] + 1;
        }
    }
    return rows[a_length % 3][b_length];
}

size_t names_distance(const char *left, const char *right)
{
    size_t a = strlen(left), b = strlen(right);

    return a > LONGEST_NAME || b > LONGEST_NAME ? SIZE_MAX
                                                : edit_distance(left, a, right, b);
}

size_t names_by_distance_in(const char *name, names_at_fn *at, const void *list,
                            const char **sorted, size_t most)
{
    size_t distance[NAMES_SORTED_MAX];
    size_t kept = 0;
    const char *candidate;

    if (most > NAMES_SORTED_MAX)
        most = NAMES_SORTED_MAX;
    for (size_t i = 0; (candidate = at(list, i)); i++) {
        size_t here = name ? names_distance(name, candidate) : 0;
        size_t place = kept;

        while (place > 0 && distance[place - 1] > here)
            place--;
        if (place >= most)
            continue;
        kept += kept < most;
        for (size_t k = kept - 1; k > place; k--) {
            sorted[k] = sorted[k - 1];
            distance[k] = distance[k - 1];
        }
        sorted[place] = candidate;
        distance[place] = here;
    }
    return kept;
}

static const char *nearest_in(const char *name, names_at_fn *at, const void *list)
{
    size_t length = strlen(name);
    size_t limit = length / 3 > 1 ? length / 3 : 1;
    const char *nearest = NULL, *candidate;

    if (length > LONGEST_NAME)
        return NULL;
    for (size_t i = 0; (candidate = at(list, i)); i++) {
        size_t other = strlen(candidate);
        size_t distance;

        if (other > LONGEST_NAME)
            continue;
        if (length <= SHORT_NAME && candidate[0] != name[0])
            continue; /* gpus are no cpus */
        distance = edit_distance(name, length, candidate, other);
        if (distance < limit || (distance == limit && !nearest)) {
            nearest = candidate;
            limit = distance;
        }
    }
    return nearest;
}

const char *names_nearest_in(const char *name, names_at_fn *at, const void *list)
{
    const char *nearest = nearest_in(name, at, list);
    char small[LONGEST_NAME + 1];
    size_t length = strlen(name);

    if (nearest || length > LONGEST_NAME)
        return nearest;
    for (size_t i = 0; i <= length; i++)
        small[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] | 0x20) : name[i];
    return nearest_in(small, at, list);
}

/* Letters of the words of `name`, between bars, that are words of `other`, too. */
static size_t shared_letters(const char *name, const char *other)
{
    size_t letters = 0;

    while (*name) {
        size_t length = strcspn(name, "_-");

        for (const char *word = other; length >= SHORT_NAME && *word;) {
            size_t theirs = strcspn(word, "_-");

            if (theirs == length && memcmp(word, name, length) == 0) {
                letters += length;
                break;
            }
            word += theirs + (word[theirs] != 0);
        }
        name += length + (name[length] != 0);
    }
    return letters;
}

const char *names_meant_in(const char *name, names_at_fn *at, const void *list)
{
    const char *meant = names_nearest_in(name, at, list), *candidate;
    size_t most = 0;

    if (meant || strlen(name) > LONGEST_NAME)
        return meant;
    for (size_t i = 0; (candidate = at(list, i)); i++) {
        size_t letters = shared_letters(name, candidate);

        if (letters > 0 && letters == most)
            meant = NULL;
        if (letters > most) {
            meant = candidate;
            most = letters;
        }
    }
    return meant;
}

const char *names_hint_in(const char *name, names_at_fn *at, const void *list,
                          char *buffer, size_t size)
{
    const char *nearest = names_meant_in(name, at, list), *candidate;
    const size_t rest = sizeof(" ... (18446744073709551615 in all)");
    size_t used = 0, i = 0;

    buffer[0] = 0;
    if (nearest && strlen(nearest) + rest + 32 < size)
        used = (size_t)snprintf(buffer, size, "did you mean '%s'? ", nearest);
    used += (size_t)snprintf(buffer + used, size - used, "known:");
    for (; (candidate = at(list, i)); i++) {
        if (used + strlen(candidate) + rest + 4 > size)
            break;
        used += (size_t)snprintf(buffer + used, size - used, "%s '%s'", i ? "," : "",
                                 candidate);
    }
    if (candidate) {
        while (at(list, i))
            i++;
        snprintf(buffer + used, size - used, " ... (%zu in all)", i);
    }
    return buffer;
}

/* ---- names in an array ---- */

struct name_array {
    const char *const *names;
    size_t count;
};

static const char *of_array(const void *list, size_t i)
{
    const struct name_array *array = list;

    return i < array->count ? array->names[i] : NULL;
}

const char *names_nearest(const char *name, const char *const *candidates, size_t count)
{
    return names_nearest_in(name, of_array, &(struct name_array){candidates, count});
}

const char *names_meant(const char *name, const char *const *candidates, size_t count)
{
    return names_meant_in(name, of_array, &(struct name_array){candidates, count});
}

size_t names_by_distance(const char *name, const char *const *candidates, size_t count,
                         const char **sorted, size_t most)
{
    return names_by_distance_in(name, of_array, &(struct name_array){candidates, count},
                                sorted, most);
}

const char *names_hint(const char *name, const char *const *candidates, size_t count,
                       char *buffer, size_t size)
{
    return names_hint_in(name, of_array, &(struct name_array){candidates, count}, buffer,
                         size);
}

uint64_t hash_fnv1a(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325U;

    for (; *text; text++) {
        hash ^= (unsigned char)*text;
        hash *= 0x100000001b3U;
    }
    return hash;
}

/* Ids come from clients, who could choose colliding ones. The table's address,
 * which changes from run to run, goes into the hash so that they cannot. */
static size_t first_slot(const struct name_index *index, const char *name)
{
    uint64_t hash = (uint64_t)(uintptr_t)index->key * 0x9e3779b97f4a7c15U;

    for (; *name; name++) {
        hash ^= (unsigned char)*name;
        hash *= 0xff51afd7ed558ccdU;
        hash ^= hash >> 32;
    }
    return (size_t)hash & (index->slot_count - 1);
}

static size_t slots_for(size_t expected)
{
    size_t slot_count = 16;

    while (slot_count < expected * 2)
        slot_count *= 2;
    return slot_count;
}

bool name_index_create(struct name_index *index, size_t expected, struct arena *a)
{
    index->slot_count = slots_for(expected);
    index->key = NEW(a, const char *, index->slot_count);
    index->position = NEW(a, size_t, index->slot_count);
    return true;
}

bool name_index_try(struct name_index *index, size_t expected, struct arena *a)
{
    index->slot_count = slots_for(expected);
    index->key = TRY_NEW(a, const char *, index->slot_count);
    index->position = TRY_NEW(a, size_t, index->slot_count);
    return index->key && index->position;
}

size_t name_index_add(struct name_index *index, const char *name, size_t position)
{
    size_t slot = first_slot(index, name);

    for (; index->key[slot]; slot = (slot + 1) & (index->slot_count - 1))
        if (strcmp(index->key[slot], name) == 0)
            return index->position[slot];
    index->key[slot] = name;
    index->position[slot] = position;
    return NAME_NOT_FOUND;
}

size_t name_index_find(const struct name_index *index, const char *name)
{
    size_t slot = first_slot(index, name);

    for (; index->key[slot]; slot = (slot + 1) & (index->slot_count - 1))
        if (strcmp(index->key[slot], name) == 0)
            return index->position[slot];
    return NAME_NOT_FOUND;
}
