/* simulation/workload_tornado.c - users who submit large batches: tornado_batch.
 *
 * Every user submits between batches_min and batches_max batches a day, every number
 * as likely, each at a time that is uniform over the day. The jobs of a batch arrive at
 * the same instant.
 *
 * Source: spec simulator.md 9; fault-tolerance.md 9.2; 000_168dd5aef5075332 3.4.
 * Cost: O(1) a job, O(b log b) a day of b batches, of which memory holds one.
 */
#include "algorithms/simulation/workload_parts.h"

#include "models/base/plural.h"

#include <stdlib.h>

#define DAY_S 86400.0
enum { DAY_BATCHES_MAX = 1000000 };

struct batch {
    double at_s;
    size_t user;
};

struct tornado {
    struct batch *batches; /* of the day, by time */
    size_t count;
    size_t batch;  /* that is being submitted */
    uint64_t left; /* jobs of it */
    uint64_t day;  /* the next one */
};

static void check(const struct workload *w, struct workload_place at)
{
    if (w->batches_max < w->batches_min)
        workload_mistake(at, "batches_max", ITEM_OUT_OF_BOUNDS, "is below batches_min");
    else if (w->user_count <= DAY_BATCHES_MAX &&
             w->user_count * w->batches_max > DAY_BATCHES_MAX)
        workload_mistake(at, "user_count", ITEM_OUT_OF_BOUNDS,
                         "%s with up to %ju batches a day are more than %d batches",
                         counted(w->user_count, "user").text, (uintmax_t)w->batches_max,
                         DAY_BATCHES_MAX);
}

static enum error_code open(struct workload_source *s, struct arena *a, struct error *err)
{
    struct tornado *t = NEW(a, struct tornado, 1);

    (void)err;
    t->batches =
        NEW(a, struct batch, (size_t)(s->config->user_count * s->config->batches_max));
    s->state = t;
    return OK;
}

static int by_time(const void *a, const void *b)
{
    const struct batch *x = a, *y = b;

    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    return (x->user > y->user) - (x->user < y->user);
}

static void next_day(struct workload_source *s, struct tornado *t)
{
    const struct workload *w = s->config;
    size_t choices = (size_t)(w->batches_max - w->batches_min + 1);

    t->count = 0;
    t->batch = 0;
    for (size_t user = 0; user < w->user_count; user++) {
        size_t count = (size_t)w->batches_min + rng_index(&s->arrival.rng, choices);

        for (size_t i = 0; i < count; i++) {
            double u = rng_uniform(&s->arrival.rng);

            t->batches[t->count++] = (struct batch){DAY_S * ((double)t->day + u), user};
        }
    }
    qsort(t->batches, t->count, sizeof(*t->batches), by_time);
    t->day++;
    t->left = w->batch_size;
}

static bool next(struct workload_source *s, struct sim_job *job)
{
    struct tornado *t = s->state;

    if (t->left == 0 && t->batch < t->count) {
        t->batch++;
        t->left = s->config->batch_size;
    }
    if (t->batch >= t->count)
        next_day(s, t);
    t->left--;
    job->arrival_s = t->batches[t->batch].at_s;
    job->user = t->batches[t->batch].user;
    return true;
}

const struct workload_maker workload_tornado = {check, open, next};
