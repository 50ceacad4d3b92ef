/* crowd.c - how many connections each address has.
 *
 * A hash table with a chain for each slot; an address without connections has no entry.
 */
#include "service/crowd.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct group {
    char owner[ADDRESS_TEXT_SIZE];
    size_t count;
    struct group *next;
};

struct crowd {
    size_t limit;
    uint64_t salt; /* so that nobody can choose addresses that collide */
    pthread_mutex_t lock;
    size_t slot_count;
    struct group *slots[];
};

struct crowd *crowd_create(size_t limit, size_t connection_count)
{
    size_t slot_count = limit ? connection_count + 1 : 1;
    struct crowd *crowd =
        calloc(1, sizeof(*crowd) + slot_count * sizeof(crowd->slots[0]));

    if (!crowd)
        return NULL;
    crowd->limit = limit;
    crowd->slot_count = slot_count;
    if (getrandom(&crowd->salt, sizeof(crowd->salt), GRND_NONBLOCK) < 0)
        crowd->salt = (uint64_t)(uintptr_t)crowd;
    pthread_mutex_init(&crowd->lock, NULL);
    return crowd;
}

void crowd_close(struct crowd *crowd)
{
    if (!crowd)
        return;
    for (size_t i = 0; i < crowd->slot_count; i++)
        while (crowd->slots[i]) {
            struct group *group = crowd->slots[i];

            crowd->slots[i] = group->next;
            free(group);
        }
    pthread_mutex_destroy(&crowd->lock);
    free(crowd);
}

/* Where the group is, or would be: a pointer to NULL. Under the lock. */
static struct group **find(struct crowd *crowd, const char *owner)
{
    uint64_t h = crowd->salt;
    struct group **at;

    for (const char *p = owner; *p; p++) {
        h = (h ^ (unsigned char)*p) * 0x9e3779b97f4a7c15;
        h ^= h >> 29;
    }
    at = &crowd->slots[h % crowd->slot_count];
    while (*at && strcmp((*at)->owner, owner) != 0)
        at = &(*at)->next;
    return at;
}

bool crowd_enter(struct crowd *crowd, const struct address *address)
{
    char owner[ADDRESS_TEXT_SIZE];
    struct group **at;
    bool allowed;

    if (!crowd->limit)
        return true;
    address_owner(address, owner);
    pthread_mutex_lock(&crowd->lock);
    at = find(crowd, owner);
    if (!*at) {
        *at = calloc(1, sizeof(**at));
        if (*at)
            strcpy((*at)->owner, owner);
    }
    allowed = *at && (*at)->count < crowd->limit;
    if (allowed)
        (*at)->count++;
    pthread_mutex_unlock(&crowd->lock);
    return allowed;
}

void crowd_leave(struct crowd *crowd, const struct address *address)
{
    char owner[ADDRESS_TEXT_SIZE];
    struct group **at, *group;

    if (!crowd->limit)
        return;
    address_owner(address, owner);
    pthread_mutex_lock(&crowd->lock);
    at = find(crowd, owner);
    group = *at;
    if (group && --group->count == 0) {
        *at = group->next;
        free(group);
    }
    pthread_mutex_unlock(&crowd->lock);
}
