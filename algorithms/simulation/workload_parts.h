/* simulation/workload_parts.h - what the generators share.
 *
 * A generator sets a job's arrival, from the workload's start on, and what it knows of
 * the job; what is left open (NAN, SIM_ANY_USER, no CPUs) is drawn by workload.c.
 */
#ifndef GRIDPLAN_WORKLOAD_PARTS_H
#define GRIDPLAN_WORKLOAD_PARTS_H

#include "algorithms/simulation/workload.h"

struct stream {
    struct rng rng;
    size_t position; /* in a trace */
};

struct workload_source {
    const struct workload *config;
    uint64_t seed;
    double end_s;     /* from the start on; may be HUGE_VAL */
    uint64_t number;  /* of the next job */
    uint64_t limit;   /* UINT64_MAX: none */
    double arrival_s; /* of the last job, from the start on */
    double missed_s;  /* of the first that was truncated, likewise; HUGE_VAL: none */
    size_t user_count;
    struct stream arrival, length, input, output, checkpoint, overhead, user, mips,
        session;
    void *state; /* the generator's own */
};

/* Where a mistake is: a member of the workload. */
struct workload_place {
    const char *pointer;
    struct error *err;
};

void workload_mistake(struct workload_place at, const char *name, enum item_code code,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));

struct workload_maker {
    /* Checks what only this generator uses. NULL: nothing. */
    void (*check)(const struct workload *w, struct workload_place at);
    /* Makes its state. NULL: it has none. */
    enum error_code (*open)(struct workload_source *s, struct arena *a,
                            struct error *err);
    /* false: no further job. */
    bool (*next)(struct workload_source *s, struct sim_job *job);
};

extern const struct workload_maker workload_batch, workload_interfaces, workload_lublin,
    workload_simple_daily, workload_gaps, workload_swf, workload_tornado;

/* Fills in what the set of the Lublin model gives. */
void lublin_complete(struct lublin *l);

static inline double stream_draw(struct stream *s, const struct distribution *d)
{
    return distribution_draw(d, &s->rng, &s->position);
}

#endif
