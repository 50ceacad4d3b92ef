/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/engines/routes.h"

#include "handlers/common/tags.h"

#define NEXTFLOW_DOC                                                                     \
    "Messages as Nextflow sends them with -with-weblog. Of each task that has ended an " \
    "execution is stored, of the application NAME/PROCESS; the models of that learn "    \
    "it. "                                                                               \
    "Parameters, command lines, scripts and folders are neither stored nor logged. Any " \
    "message that is understood is answered 200; errors are plain text. A key may come " \
    "as the password of Basic, with the scope ingest or facade."

const struct route engines_routes[] = {
    {"POST", "/compat/nextflow", "addNextflowMessage", TAG_MODELS, post_nextflow, NULL,
     &nextflow_answer_json, &nextflow_query_json, WORK_QUERY, SCOPE_INGEST | SCOPE_FACADE,
     ROUTE_FACADE, "A message of Nextflow (alias of /v1/ingest/nextflow)", NEXTFLOW_DOC,
     NULL},
    {"POST", "/v1/ingest/nextflow", "ingestNextflow", TAG_MODELS, post_nextflow, NULL,
     &nextflow_answer_json, &nextflow_query_json, WORK_QUERY, SCOPE_INGEST | SCOPE_FACADE,
     ROUTE_FACADE, "A message of Nextflow", NEXTFLOW_DOC, NULL},
    {0},
};
