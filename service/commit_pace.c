/* commit_pace.c - how long the database takes to commit; see the header. */
#include "service/commit_pace.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const double SLOW_S = 1, LONGEST_S = 30, FRESH_S = 60;
enum { COMMITS_LEAST = 10 }; /* fewer say nothing */

void commit_pace_init(struct commit_pace *p)
{
    memset(p, 0, sizeof(*p));
    pthread_mutex_init(&p->mutex, NULL);
}

void commit_pace_close(struct commit_pace *p)
{
    pthread_mutex_destroy(&p->mutex);
}

void commit_pace_note(struct commit_pace *p, double now_s, double took_s)
{
    pthread_mutex_lock(&p->mutex);
    p->took_s[p->count % PACE_COMMITS] = took_s;
    p->at_s[p->count % PACE_COMMITS] = now_s;
    p->count++;
    pthread_mutex_unlock(&p->mutex);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Of those of the last minute: nobody is refused for what was long ago. */
static bool is_slow(const struct commit_pace *p, double now_s)
{
    double list[PACE_COMMITS];
    size_t known = p->count < PACE_COMMITS ? p->count : PACE_COMMITS, count = 0;

    for (size_t i = 0; i < known; i++)
        if (now_s - p->at_s[i] <= FRESH_S)
            list[count++] = p->took_s[i];
    if (count < COMMITS_LEAST)
        return false;
    qsort(list, count, sizeof(*list), compare);
    return list[count / 2] > SLOW_S;
}

/* Its place, or that of the one whose wait ended first. */
static size_t place_of(const struct commit_pace *p, const char *owner)
{
    size_t oldest = 0;

    for (size_t i = 0; i < PACE_OWNERS; i++) {
        if (strncmp(p->waiting[i].owner, owner, PACE_OWNER_BYTES - 1) == 0)
            return i;
        if (p->waiting[i].next_at_s < p->waiting[oldest].next_at_s)
            oldest = i;
    }
    return oldest;
}

int commit_pace_wait_s(struct commit_pace *p, const char *owner, double now_s)
{
    double left_s = 0;
    size_t i;

    pthread_mutex_lock(&p->mutex);
    i = place_of(p, owner);
    if (!is_slow(p, now_s)) {
        memset(&p->waiting[i], 0, sizeof(p->waiting[i]));
    } else if (strncmp(p->waiting[i].owner, owner, PACE_OWNER_BYTES - 1) != 0) {
        strncpy(p->waiting[i].owner, owner, PACE_OWNER_BYTES - 1);
        p->waiting[i].owner[PACE_OWNER_BYTES - 1] = '\0';
        p->waiting[i].wait_s = 1;
        p->waiting[i].next_at_s = now_s + 1;
        left_s = 1;
    } else if (now_s < p->waiting[i].next_at_s) {
        left_s = p->waiting[i].next_at_s - now_s;
    } else { /* this one is let in, those behind it wait */
        p->waiting[i].wait_s = fmin(LONGEST_S, 2 * p->waiting[i].wait_s);
        p->waiting[i].next_at_s = now_s + p->waiting[i].wait_s;
    }
    pthread_mutex_unlock(&p->mutex);
    return (int)ceil(left_s);
}
