/* rows.h - a table of Slurm row by row, for texts that are never there as a whole.
 *
 * For tables whose first lines say where columns are: with a mark between them (-P, -p,
 * --delimiter), or set by blanks above a rule of dashes. Each row becomes a record, as
 * slurm_records_read() makes it. Other documents need all their lines at once: JSON,
 * key=value, tables that are set by blanks and have no rule.
 *
 * Source: as records.h.
 */
#ifndef GRIDPLAN_SLURM_ROWS_H
#define GRIDPLAN_SLURM_ROWS_H

#include "models/slurm/records.h"

enum { SLURM_ROW_MAX_BYTES = 256 * 1024 }; /* a longer row counts as cut off */

/* A row was read: it is the last of its kind in `out`. Who takes it from there makes room
 * for the next one; what stays is kept. A failure stops the reading. */
typedef enum error_code slurm_row_fn(void *context, enum slurm_kind kind,
                                     struct error *err);

struct slurm_rows;

/* Begins with an empty *out. What the reader itself needs is in `a`. */
struct slurm_rows *slurm_rows_open(struct slurm_records *out, const char *pointer,
                                   slurm_row_fn *take, void *context, struct arena *a);

/* Where the texts of the next rows go; at first the reader's own arena. */
void slurm_rows_use(struct slurm_rows *r, struct arena *a);

/* The next piece. Errors: as `take`; what is printed instead of a document; a second
 * table, of another cluster. */
enum error_code slurm_rows_feed(struct slurm_rows *r, const char *bytes, size_t length,
                                struct error *err);

/* Behind the last piece. ERR_INVALID: there was no line but empty ones. */
enum error_code slurm_rows_end(struct slurm_rows *r, struct error *err);

/* Whether it is one of the others: then no row was read, and what comes is passed over.
 */
bool slurm_rows_need_whole(const struct slurm_rows *r);

/* Lines so far. */
uint64_t slurm_rows_line_count(const struct slurm_rows *r);

#endif
