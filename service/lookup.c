/* lookup.c - keys that are not remembered, on their way to the database. */
#include "service/lookup.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { POLL_US = 1000 };

struct lookup_line {
    struct worker_pool *pool;
    size_t at_once, waiting_max;
    pthread_mutex_t lock;
    struct lookup *first, *last;
    size_t waiting_count;
    size_t runner_count; /* workers that take from the line, or soon will */
};

struct lookup_line *lookup_line_create(struct worker_pool *pool, size_t at_once,
                                       size_t waiting_max)
{
    struct lookup_line *line = calloc(1, sizeof(*line));

    if (!line)
        return NULL;
    line->pool = pool;
    line->at_once = at_once;
    line->waiting_max = waiting_max;
    pthread_mutex_init(&line->lock, NULL);
    return line;
}

static bool has_runners(struct lookup_line *line)
{
    bool some;

    pthread_mutex_lock(&line->lock);
    some = line->runner_count > 0;
    pthread_mutex_unlock(&line->lock);
    return some;
}

void lookup_line_close(struct lookup_line *line)
{
    if (!line)
        return;
    while (has_runners(line)) /* the last look-up is over before its worker has left */
        usleep(POLL_US);
    pthread_mutex_destroy(&line->lock);
    free(line);
}

/* The next of the line; NULL: there is none, and this worker leaves. */
static struct lookup *next(struct lookup_line *line)
{
    struct lookup *lookup;

    pthread_mutex_lock(&line->lock);
    lookup = line->first;
    if (lookup) {
        line->first = lookup->next;
        line->waiting_count--;
    } else {
        line->runner_count--;
    }
    pthread_mutex_unlock(&line->lock);
    return lookup;
}

static void run_line(void *context)
{
    struct lookup_line *line = context;
    struct lookup *lookup;

    while ((lookup = next(line)) != NULL)
        lookup->run(lookup->context);
}

static void put_in(struct lookup_line *line, struct lookup *lookup, bool in_front)
{
    bool alone = !line->first;

    lookup->next = in_front ? line->first : NULL;
    if (alone || in_front)
        line->first = lookup;
    else
        line->last->next = lookup;
    if (alone || !in_front)
        line->last = lookup;
    line->waiting_count++;
}

/* Under the lock. False: another worker has begun it already. */
static bool take_out(struct lookup_line *line, const struct lookup *lookup)
{
    struct lookup *before = NULL;

    for (struct lookup *l = line->first; l; before = l, l = l->next) {
        if (l != lookup)
            continue;
        if (before)
            before->next = l->next;
        else
            line->first = l->next;
        if (line->last == l)
            line->last = before;
        line->waiting_count--;
        return true;
    }
    return false;
}

/* The pool took no further worker: one that is there does it, or nobody. */
static bool go_without(struct lookup_line *line, const struct lookup *lookup)
{
    bool refused;

    pthread_mutex_lock(&line->lock);
    line->runner_count--;
    refused = line->runner_count == 0 && take_out(line, lookup);
    pthread_mutex_unlock(&line->lock);
    return !refused;
}

bool lookup_submit(struct lookup_line *line, struct lookup *lookup, bool known)
{
    bool full, more;

    pthread_mutex_lock(&line->lock);
    full = !known && line->waiting_count >= line->waiting_max;
    more = !full && line->runner_count < line->at_once;
    if (!full)
        put_in(line, lookup, known);
    if (more)
        line->runner_count++;
    pthread_mutex_unlock(&line->lock);
    if (full)
        return false;
    return !more || worker_submit(line->pool, run_line, line) || go_without(line, lookup);
}
