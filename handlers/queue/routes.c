/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/queue/routes.h"

#include "handlers/common/tags.h"

const struct route queue_routes[] = {
    {"POST", "/v1/queue-orders", "decideQueueOrders", TAG_QUEUES, post_queue_orders,
     &queue_orders_request_json, &queue_orders_answer_json, NULL, WORK_COMPUTE,
     SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_ANSWERS_CHART,
     "Which waiting jobs of a queue start now?",
     "From the running and the waiting jobs of a cluster, their processors and run time "
     "estimates, and reservations: who starts now, when the others will start if all "
     "estimates hold and nobody else comes, and who or what each of them waits for. "
     "Times are seconds on any one scale, of which now_s is the present. With a snapshot "
     "instead of processors jobs have cpus, memory and other amounts, and start on its "
     "resources; times are seconds from now then. With a cluster it is the queue of "
     "nodes "
     "with partitions, accounts, limits, reservations and licences, as Slurm has it, "
     "with "
     "priorities and plans of its main loop and backfill.",
     "queue-"},
    {0},
};
