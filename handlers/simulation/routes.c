/* routes.c - the endpoints of this room.
 *
 * A row: method, path, operation and tag of the description, handler; body, answer and
 * query tables; which thread, which scope, flags; documentation; prefix of its examples.
 */
#include "handlers/simulation/routes.h"

#include "handlers/common/tags.h"
#include "handlers/pictures/pictures.h"
#include "handlers/queue/simulation_queue.h"
#include "handlers/simulation/simulation_json.h"
#include "handlers/simulation/simulations.h"

const struct route simulation_routes[] = {
    {"GET", "/v1/simulations", "listSimulations", TAG_SIMULATION, get_simulations, NULL,
     &simulations_page_json, &simulations_query_json, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, 0, "List simulations without a client",
     "Those that were asked for with Prefer: respond-async, newest first, in pages, "
     "without their results.",
     NULL},
    {"POST", "/v1/simulations", "simulate", TAG_SIMULATION, post_simulation,
     &any_simulation_request_json, &any_simulation_answer_json,
     &queue_simulation_query_json, WORK_COMPUTE, SCOPE_DECIDE,
     ROUTE_DECISION | ROUTE_IDEMPOTENT_KEY | ROUTE_LONG | ROUTE_ASYNC | ROUTE_TAKES_SWF |
         ROUTE_ANSWERS_TEXT | ROUTE_ANSWERS_CHART | ROUTE_LOOKS_UP,
     "What do policies achieve?",
     "kind grid: on a grid with failures. Plays a grid, its failures and its jobs by "
     "discrete events, several times, under "
     "each of several policies, which meet the same jobs and failures; figures are means "
     "over the runs with 95 % confidence intervals. Time up or max_events executed: "
     "status cut, and figures of the runs that are complete for every policy. At most "
     "2000 resources, 200000 given jobs, 20 runs. kind queue: on a batch system. Plays a "
     "job log under each of several queue policies; the body may be the log itself, "
     "text/plain in Standard Workload Format, with the settings as parameters, and with "
     "Accept: text/plain so is the schedule of one policy. Lines that are no usable jobs "
     "(no run time, cut in the middle) are left out and counted by reason. kind "
     "cluster: jobs on many nodes that fail, under queue and checkpoint policies; at "
     "most "
     "10000 nodes and 1000000 jobs unless set otherwise, 200 runs. kind "
     "coallocation: parallel jobs with files on clusters with local jobs; streams and "
     "clusters of KOALA's experiments, or given ones. With Prefer: respond-async the "
     "answer "
     "is 202, and Location says where to ask; any replica plays it, and if one dies "
     "another begins it again, with the same seeds and so the same result. With wait=N "
     "besides, it is answered as usual if it ends within N seconds.",
     "simulation-"},
    {"DELETE", "/v1/simulations/{simulation_id}", "deleteSimulation", TAG_SIMULATION,
     delete_simulation, NULL, &simulation_info_json, NULL, WORK_QUERY, SCOPE_DECIDE,
     ROUTE_RUN, "Cancel or delete a simulation",
     "One that waits is cancelled: 200. One that runs is asked to stop: 202; it becomes "
     "cancelled and keeps the runs that are complete. One that has finished is deleted: "
     "204. So to be rid of one that runs, send it again when it has stopped.",
     NULL},
    {"GET", "/v1/simulations/{simulation_id}", "getSimulation", TAG_SIMULATION,
     get_simulation, NULL, &stored_simulation_json, NULL, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, ROUTE_ANSWERS_CHART | ROUTE_RUN, "Read a simulation",
     "How far it is, with Retry-After; once it has finished its result, which is what "
     "POST would have answered.",
     NULL},
    {"GET", "/v1/simulations/{simulation_id}/chart", "getSimulationChart", TAG_SIMULATION,
     get_simulation_chart, NULL, NULL, &chart_query_json, WORK_QUERY,
     SCOPE_DECIDE | SCOPE_INGEST, ROUTE_RAW_REPLY | ROUTE_RAW_PICTURE | ROUTE_LOOKS_UP,
     "A simulation as a picture",
     "Which jobs ran where and when, as SVG, of a result with its rows of jobs; 406 when "
     "it has none, and before there is a result.",
     NULL},
    {"GET", "/v1/simulations/{simulation_id}/schedule", "getSimulationSchedule",
     TAG_SIMULATION, get_simulation_schedule, NULL, NULL, &queue_schedule_query_json,
     WORK_QUERY, SCOPE_DECIDE | SCOPE_INGEST, ROUTE_RAW_REPLY,
     "Read the schedule of a simulation of kind queue",
     "The log as a policy ran it, in Standard Workload Format, if the request said "
     "as_swf: waits, run times and processors are those of the simulation.",
     NULL},
    {0},
};
