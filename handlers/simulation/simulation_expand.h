/* simulation_expand.h - a scenario with everything drawn: the source's DGen.
 *
 * For the command line only: no route of the service.
 */
#ifndef GRIDPLAN_SIMULATION_EXPAND_H
#define GRIDPLAN_SIMULATION_EXPAND_H

#include "service/route.h"

/* One row, with the path of POST /v1/simulations: answers simulation_request_json, the
 * same scenario for one run of its seed, with jobs, speeds and outages given one by one
 * instead of by generators and distributions. Simulating that gives the same events and
 * figures (fairness_ratio but for rounding, as users are numbered anew). What cannot be
 * given so (changing load, failures that come together, repairs below 1 ms, too many
 * jobs or failures) is a mistake. */
extern const struct route simulation_expansion[];

#endif
