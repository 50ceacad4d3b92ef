/* batches.h - accounting in batches, for texts that are never there as a whole.
 *
 * What slurm_history_read() makes of the batches, one after the other, is what it makes
 * of the whole, but for two things: attempts count within a batch, and a step is told
 * from another job's only as sacct prints it, behind the row of its job.
 *
 * Source: as history.h.
 */
#ifndef GRIDPLAN_SLURM_BATCHES_H
#define GRIDPLAN_SLURM_BATCHES_H

#include "models/slurm/rows.h"

enum { SLURM_BATCH_ROWS = 16384 };

/* Takes a batch: rows of jobs and their steps, and events. What it takes of `a` is
 * forgotten behind it. */
typedef enum error_code slurm_batch_fn(void *context, const struct slurm_records *batch,
                                       struct arena *a, struct error *err);

struct slurm_batches;

/* Batches of `row_count` jobs or events. In `a`, beside which there are two arenas for
 * the rows: for computations only. */
struct slurm_batches *slurm_batches_open(const char *pointer, size_t row_count,
                                         slurm_batch_fn *take, void *context,
                                         struct arena *a);

/* As slurm_rows_feed(). ERR_INVALID besides: it is no table of jobs or events. */
enum error_code slurm_batches_feed(struct slurm_batches *b, const char *bytes,
                                   size_t length, struct error *err);
enum error_code slurm_batches_end(struct slurm_batches *b, struct error *err);

bool slurm_batches_need_whole(const struct slurm_batches *b);

/* What was read, and what was not: the rows themselves are gone. */
const struct slurm_records *slurm_batches_records(const struct slurm_batches *b);
uint64_t slurm_batches_line_count(const struct slurm_batches *b);

#endif
