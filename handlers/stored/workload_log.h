/* workload_log.h - a stored workload as a job log, whatever it was stored as. */
#ifndef GRIDPLAN_WORKLOAD_LOG_H
#define GRIDPLAN_WORKLOAD_LOG_H

#include "models/slurm/workload.h"
#include "models/swf.h"
#include "service/hash.h"
#include "service/store_simulation.h"

/* Formats of documents. */
enum workload_kind { WORKLOAD_AS_SWF, WORKLOAD_AS_SACCT };
extern const char *const workload_kinds[]; /* ended by NULL */

struct workload_log {
    struct swf_log log; /* in the order of arrival */
    struct swf_header header;
    struct swf_counts counts;                /* of SWF; of accounting: jobs, lines */
    const struct slurm_workload *accounting; /* NULL: it is SWF */
    size_t cut_rows;          /* of accounting: rows that cannot be read, left out */
    bool broken_off;          /* ... of which the last one is without its end */
    struct slurm_said warned; /* of accounting in JSON */
};

/* Accounting row by row: of the text only jobs are kept. What is fed is one text. */
struct accounting_log;
struct accounting_log *accounting_log_open(struct arena *a);

/* gzip_piece_fn, store_piece_fn */
enum error_code accounting_log_feed(void *log, const char *piece, size_t length,
                                    struct error *err);

/* *needs_whole: nothing was read, as it is no table that can be read by rows; then it is
 * workload_log_read() that reads it. */
enum error_code accounting_log_end(struct accounting_log *log, bool *needs_whole,
                                   struct workload_log *out, struct error *err);

/* `format` as it was stored, one of workload_kinds. */
enum error_code workload_log_read(const char *format, const char *text, size_t length,
                                  struct workload_log *out, struct arena *a,
                                  struct error *err);

/* The same of a stored workload that was read with its document; of a long one a piece is
 * in memory at a time, beside the jobs. */
enum error_code workload_log_load(struct db_session *db, const char *tenant,
                                  const struct store_trace *stored,
                                  struct workload_log *out, struct arena *a,
                                  struct error *err);

/* The whole text of one, or of a failure trace, with a NUL behind it. */
enum error_code workload_text(struct db_session *db, const char *tenant,
                              enum store_trace_kind kind,
                              const struct store_trace *stored, const char **text,
                              size_t *length, struct arena *a, struct error *err);

/* SHA-256 of a stored text; `hex` has SHA256_HEX_SIZE. Also of a failure trace. */
enum error_code workload_sha256(struct db_session *db, const char *tenant,
                                enum store_trace_kind kind,
                                const struct store_trace *stored, char *hex,
                                struct arena *a, struct error *err);

/* What was left out of accounting: a text for a warning; NULL: nothing, or it is SWF.
 * On a cluster jobs that were cancelled while they waited are not left out. */
const char *workload_left_out(const struct workload_log *w, bool on_cluster,
                              struct arena *a);

/* The name of a number of the log, "7" if nothing is known of it. */
const char *workload_name(const struct slurm_names *names, double number,
                          struct arena *a);

#endif
