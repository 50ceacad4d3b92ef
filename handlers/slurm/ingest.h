/* ingest.h - what Slurm's accounting says becomes history. */
#ifndef GRIDPLAN_SLURM_INGEST_H
#define GRIDPLAN_SLURM_INGEST_H

#include "models/slurm/history.h"
#include "service/route.h"

/* What became of runs and failures; what is in none of these was there already. */
struct slurm_ingested {
    uint64_t executions_stored, executions_duplicates;
    uint64_t failures_stored, failures_duplicates;
    uint64_t refused;     /* as POST /v1/executions or /v1/failures would refuse them */
    uint64_t misnumbered; /* runs that began before others of their job, which are stored
                             with too low an attempt; not printed */
};

extern const struct json_object slurm_ingested_json;

/* Whether rows of jobs have the columns that runs need: sacct's own choice has neither
 * start nor end. ERR_INVALID. */
enum error_code slurm_check_columns(const struct slurm_records *past, struct error *err);

/* Stores them, and adds to *out; again, it changes nothing but the end of failures.
 * Attempts count on from those that are stored of a job. ERR_FORBIDDEN: the key has no
 * scope `ingest`; ERR_UNAVAILABLE: no database. What it takes is of `a`. */
enum error_code slurm_ingest(struct request *rq, const struct slurm_history *history,
                             struct slurm_ingested *out, struct arena *a);

enum { SLURM_HISTORY_WARNINGS = 12 };

/* Warnings about what was guessed or left out of accounting, and how it was stored (NULL:
 * it was not); their number. */
size_t slurm_history_warnings(const struct slurm_history *counts,
                              const struct slurm_records *past, bool zone_given,
                              const struct slurm_ingested *ingested,
                              const char *list[SLURM_HISTORY_WARNINGS], struct arena *a);

#endif
