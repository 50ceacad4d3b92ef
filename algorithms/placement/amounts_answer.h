/* placement/amounts_answer.h - what an answer says of a plan of a world. */
#ifndef GRIDPLAN_PLACEMENT_AMOUNTS_ANSWER_H
#define GRIDPLAN_PLACEMENT_AMOUNTS_ANSWER_H

#include "algorithms/placement/amounts.h"
#include "algorithms/placement/amounts_decide.h"
#include "algorithms/placement/amounts_started.h"
#include "algorithms/placement/amounts_values.h"
#include "algorithms/world/list.h"
#include "algorithms/world/now.h"
#include "algorithms/world/stops.h"

/* A plan, and how it came about. */
struct amounts_result {
    struct world_plan *plan;
    struct world_worth worth;
    struct world_goal goal;
    const char *algorithm, *name;
    const char *because; /* NULL: nothing was chosen */
    enum world_order order;
    bool starts_now; /* jobs start now or not at all: */
    bool by_round;   /* by a round of gridway, which has */
    double *ranks;   /* by job, NAN: none; NULL: it was none */
    struct now_out now;
    bool has_optimum; /* the makespan that no plan is below: */
    double optimum_s;
    bool in_due_order; /* deadlines were brought into order */
    struct world_bound bounds[OBJECTIVE_LEVELS_MAX]; /* of plans that place the jobs of */
    const struct world_plan *bounded;                /* this one; NULL: none yet */
    enum bound_work bound_work;
    const struct amounts_started *started; /* NULL: not looked for yet */
    bool searched, search_cut; /* there was a search; the time limit ended it */
    bool check_failed;         /* the checker refused what it found */
    uint64_t steps;
    enum bound_effort effort;
    struct placement_best_list best_list;
    struct improvement_list improved;
    const struct amounts_world *made;
    const struct amounts *checked;
    const struct world_stops *stops; /* that the plan assumes; NULL: none */
};

/* Fills *out: placements, loads, reasons, objective values with bounds, status, and the
 * warnings of the problem with those about the plan. `optimal` only when the checker
 * accepts the plan. */
void amounts_answer(const struct amounts_call *call, struct placement_problem *p,
                    const struct amounts_result *found, struct placement_out *out);

/* The checker accepts the plan. */
bool amounts_plan_is_valid(const struct world *w, const struct world_plan *plan,
                           struct arena *a);

/* It places a job of which nobody knows how long it runs. */
bool amounts_has_unknown_end(const struct world_plan *plan);

/* Both place the same jobs. */
bool amounts_place_same(const struct world *w, const struct world_plan *a,
                        const struct world_plan *b);

/* Why jobs have no place: out->unplaced and out->unplaced_classes, and how many there are
 * for each reason, as a warning. */
void amounts_reasons(struct placement_problem *p, const struct amounts_result *found,
                     struct placement_out *out);

/* Jobs for which others may be stopped: by job. */
const bool *amounts_preempting(const struct placement_problem *p, bool *any);

/* The same without the warning. */
void amounts_list_unplaced(struct placement_problem *p,
                           const struct amounts_result *found, struct placement_out *out);

/* What would help jobs without a place, and what to stop for those that do not start now,
 * where the request asks for it. */
void amounts_advice(struct placement_problem *p, const struct amounts_result *found,
                    struct placement_out *out);

#endif
