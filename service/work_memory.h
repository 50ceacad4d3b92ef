/* work_memory.h - what one request takes of the governor's work pool: its arenas, and the
 * reply that stays in them until it has gone out.
 *
 * The arenas ask it before they grow. First the lease that the job began with is used up,
 * then it grows, without ever waiting. What is computed outside of slots, on an I/O
 * thread, has a lease of its own.
 */
#ifndef GRIDPLAN_WORK_MEMORY_H
#define GRIDPLAN_WORK_MEMORY_H

#include "service/governor.h"

struct work_memory {
    struct arena_lease lease; /* for arena_set_lease() */
    struct governor *governor;
    const struct governor_who *who; /* of a lease of its own */
    struct governor_job *job;       /* whose lease is used first; NULL: none */
    bool is_running;                /* the job is: then its lease grows, else `own` */
    struct governor_lease own;
    size_t used_bytes, most_bytes; /* by arenas, beyond their first blocks */
    size_t wanted_bytes;           /* when it was refused last */
    enum governor_answer refusal;  /* why */
    bool is_again;  /* governor_reserve(): it is to be answered again, with more room */
    bool was_again; /* it is being answered again */
};

/* Whoever asks next, with no memory taken. `governor` NULL: everything is granted. `who`
 * stays until the end. */
void work_memory_begin(struct work_memory *m, struct governor *governor,
                       const struct governor_who *who);

/* In the job's run(): from now on its lease is used, and grows; until the end of run().
 */
void work_memory_enter(struct work_memory *m, struct governor_job *job);
void work_memory_leave(struct work_memory *m);

/* The exact need is known: `bytes` beyond what is used. OK, and the lease covers it;
 * ERR_WOULD_BLOCK: is_again is set, all is to be forgotten; else a final refusal. */
enum error_code work_memory_reserve(struct work_memory *m, size_t bytes,
                                    struct error *err);

/* Fills *err for the last refusal of a lease. Returns err->code. */
enum error_code work_memory_fail(const struct work_memory *m, struct error *err);

/* When nothing is computed any more: only what the reply keeps stays leased. Not from the
 * job's run(). */
void work_memory_trim(struct work_memory *m);

/* When the arenas have been reset: all is given back. */
void work_memory_end(struct work_memory *m);

#endif
