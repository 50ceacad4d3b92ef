/* routes.c - all endpoints: the rooms' tables, joined by path. What only reads may be
 * called with the scope `read` too. */
#include "handlers/routes.h"

#include "handlers/checkpoint/routes.h"
#include "handlers/claiming/routes.h"
#include "handlers/coallocation/routes.h"
#include "handlers/docs/routes.h"
#include "handlers/engines/routes.h"
#include "handlers/evaluation/routes.h"
#include "handlers/fault_tolerance/routes.h"
#include "handlers/history/records.h"
#include "handlers/history/routes.h"
#include "handlers/learning/routes.h"
#include "handlers/model/routes.h"
#include "handlers/operations/routes.h"
#include "handlers/parallel/routes.h"
#include "handlers/placement/routes.h"
#include "handlers/prediction/routes.h"
#include "handlers/queue/routes.h"
#include "handlers/rescheduling/routes.h"
#include "handlers/session/routes.h"
#include "handlers/simulation/routes.h"
#include "handlers/site_history/routes.h"
#include "handlers/slurm/routes.h"
#include "handlers/snapshots/routes.h"
#include "handlers/stored/routes.h"
#include "handlers/workflow/routes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ROUTES_MAX = 256 };

static const struct route *const rooms[] = {
    checkpoint_routes, claiming_routes,   coallocation_routes,    docs_routes,
    engines_routes,    evaluation_routes, fault_tolerance_routes, history_routes,
    learning_routes,   model_routes,      operations_routes,      parallel_routes,
    placement_routes,  prediction_routes, queue_routes,           rescheduling_routes,
    session_routes,    simulation_routes, site_history_routes,    slurm_routes,
    snapshots_routes,  stored_routes,     workflow_routes,
};

static struct route joined[ROUTES_MAX + 1]; /* the last one stays {0} */

static int compare(const void *a, const void *b)
{
    const struct route *x = a, *y = b;
    int by_path = strcmp(x->path, y->path);

    return by_path ? by_path : strcmp(x->method, y->method);
}

static size_t add(const struct route *room, size_t count)
{
    for (const struct route *r = room; r->method; r++) {
        if (count == ROUTES_MAX)
            abort(); /* raise it */
        joined[count] = *r;
        if (strcmp(r->method, "GET") == 0 && r->scope != SCOPE_NONE)
            joined[count].scope |= SCOPE_READ;
        count++;
    }
    return count;
}

static void join(void)
{
    size_t count = 0;

    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++)
        count = add(rooms[i], count);
    count = add(history_record_routes(), count);
    qsort(joined, count, sizeof(joined[0]), compare);
}

const struct route *routes(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, join);
    return joined;
}
