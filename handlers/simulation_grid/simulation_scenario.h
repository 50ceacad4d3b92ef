/* simulation_scenario.h - a scenario from a request.
 *
 * Presets are filled in first, what the request says comes over them. Stored
 * things (a workload, a failure trace, a snapshot) are read here.
 */
#ifndef GRIDPLAN_SIMULATION_SCENARIO_H
#define GRIDPLAN_SIMULATION_SCENARIO_H

#include "handlers/simulation/simulation_json.h"

enum { SIMULATION_WARNINGS_MAX = 16 };

struct simulation_setting {
    struct sim_scenario scenario; /* prepared */
    struct workload workload;     /* prepared; the scenario's */
    const char *const *job_ids;   /* of jobs that were given, NULL: has none */
    size_t job_id_count;          /* 0: none were given */
    const char *warnings[SIMULATION_WARNINGS_MAX];
    size_t warning_count;
};

/* Collects every mistake. Needs the database when something stored is named. */
enum error_code simulation_scenario(struct request *rq,
                                    const struct simulation_request *body,
                                    struct simulation_setting *out);

/* Adds a warning; drops it when there are too many or memory is short. */
void simulation_warn(struct simulation_setting *setting, struct arena *a,
                     const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
