/* ingest.h - what Slurm's accounting says becomes history. */
#ifndef GRIDPLAN_SLURM_INGEST_H
#define GRIDPLAN_SLURM_INGEST_H

#include "models/slurm/history.h"
#include "service/route.h"

/* What became of runs and failures; what is in none of these was there already. */
struct slurm_ingested {
    uint64_t executions_stored, executions_duplicates;
    uint64_t failures_stored, failures_duplicates;
    uint64_t refused; /* as POST /v1/executions or /v1/failures would refuse them */
};

extern const struct json_object slurm_ingested_json;

/* Stores them; again, it changes nothing but the end of failures. ERR_FORBIDDEN: the key
 * has no scope `ingest`; ERR_UNAVAILABLE: no database. */
enum error_code slurm_ingest(struct request *rq, const struct slurm_history *history,
                             struct slurm_ingested *out);

#endif
