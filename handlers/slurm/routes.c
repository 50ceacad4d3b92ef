/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/slurm/routes.h"

#include "handlers/common/tags.h"
#include "handlers/slurm/slurm.h"

const struct route slurm_routes[] = {
    {"POST", "/v1/exports/slurm", "exportSlurm", TAG_QUEUES, post_slurm_export,
     &slurm_export_request_json, &slurm_export_answer_json, NULL, WORK_QUERY,
     SCOPE_DECIDE, ROUTE_LOOKS_UP, "What has to be changed in a Slurm queue?",
     "A decision of POST /v1/queue-orders, or an order of jobs, as lines of scontrol, "
     "requests of slurmrestd or options of sbatch. Nothing is started by force: the "
     "order "
     "is expressed by priorities, for operators, or by the least nices, which users may "
     "raise. Only what is not so already is changed. Names are refused or quoted: no "
     "text "
     "of a document reaches a shell as it came.",
     "slurm-export"},
    {"POST", "/v1/imports/slurm", "importSlurm", TAG_QUEUES, post_slurm_import,
     &slurm_import_request_json, &slurm_import_answer_json, NULL, WORK_COMPUTE,
     SCOPE_DECIDE, 0, "What do Slurm's documents say of a cluster?",
     "Converts what squeue, sinfo, scontrol, sshare and sacctmgr print, or slurmrestd "
     "answers (v0.0.36 and later), into the cluster and the jobs that POST "
     "/v1/queue-orders takes. JSON, records of key=value and tables with | are known by "
     "what they hold. Minutes become seconds, MiB bytes. What was guessed is in the "
     "warnings, what has no place in `lost`. Nothing is stored, but with "
     "`store_snapshot` the cluster, and with `ingest` the "
     "runs and failures of accounting.",
     "slurm-import"},
    {"POST", "/v1/imports/slurm/history", "importSlurmHistory", TAG_QUEUES,
     post_slurm_history, NULL, &slurm_accounting_answer_json,
     &slurm_accounting_query_json, WORK_COMPUTE, SCOPE_INGEST,
     ROUTE_TEXT_BODY | ROUTE_STREAMS, "Store Slurm's accounting as runs and failures",
     "The body is what sacct -P -D -a -o ALL prints, or sacctmgr -P show event, "
     "compressed or not (Content-Encoding: gzip), of up to 4 GiB unless the service is "
     "set otherwise (GRIDPLAN_MAX_UPLOAD_BYTES): it is read row by row and stored in "
     "batches, as POST /v1/imports/slurm does with `ingest`. Columns may be set by "
     "blanks, "
     "if there is a rule of dashes below their names; other forms, as sacct --json and "
     "columns set by blanks without that rule, are read as a whole, in the memory that a "
     "request may take (GRIDPLAN_REQUEST_MEMORY_BYTES, 1 GiB): about 50 MB of them fit, "
     "and a longer one is refused with 413. What is stored already stays, so that the "
     "same text may be sent again, and a long one in parts that are cut between jobs, "
     "the "
     "oldest first. When it fails halfway, what is stored stays too.",
     NULL},
    {0},
};
