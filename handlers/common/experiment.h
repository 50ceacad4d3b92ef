/* experiment.h - the experiments of simulations, played for a request. */
#ifndef GRIDPLAN_EXPERIMENT_H
#define GRIDPLAN_EXPERIMENT_H

#include "algorithms/simulation/experiment.h"
#include "handlers/common/decision.h"

/* Plays it within rq->budget, keeps rq->progress up to date, and leaves trials that have
 * ended in rq->parts; those that are there are not played again. Fills `budget`, `trial`,
 * `scratch` and `owner` of *in, which must last as long as *out. */
enum error_code simulation_experiment(struct request *rq, struct experiment_in *in,
                                      struct experiment *out);

/* Warns when not all runs were played. `what` they are, in both
 * forms of plural_text(): "{run was|runs were} complete". */
enum error_code simulation_warn_cut(struct request *rq, const struct experiment *played,
                                    const char *what, struct decision_answer *out);

#endif
