/* worker.h - threads with a bounded queue before them.
 *
 * The pools keep long work away from the threads that do I/O. Work that does
 * not fit the queue is refused at once; the caller answers 503.
 */
#ifndef GRIDPLAN_WORKER_H
#define GRIDPLAN_WORKER_H

#include <stdbool.h>
#include <stddef.h>

struct worker_pool;
typedef void worker_fn(void *context);

/* `nice` lowers the priority of the threads (0: as the process), so that I/O
 * stays responsive while all processors search. NULL: no memory, no threads. */
struct worker_pool *worker_pool_create(const char *name, size_t thread_count,
                                       size_t queue_length, int nice);

/* Runs fn(context) on a thread, in the order of submission. False: the queue is
 * full, or the pool is being closed. */
bool worker_submit(struct worker_pool *pool, worker_fn *fn, void *context);

/* Whether worker_submit() would be refused now: a cheap first question. */
bool worker_is_full(const struct worker_pool *pool);

/* Work waiting, and work running: for metrics. Accepts NULL. */
size_t worker_waiting_count(const struct worker_pool *pool);
size_t worker_running_count(const struct worker_pool *pool);

/* Waits until nothing waits or runs; false when `limit_s` was not enough. */
bool worker_pool_drain(struct worker_pool *pool, double limit_s);

/* Takes no more work, finishes what was submitted, ends the threads. Accepts
 * NULL. */
void worker_pool_close(struct worker_pool *pool);

#endif
