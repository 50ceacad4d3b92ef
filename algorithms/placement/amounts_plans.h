/* placement/amounts_plans.h - the plans of a decision about amounts, and the best of
 * them.
 */
#ifndef GRIDPLAN_PLACEMENT_AMOUNTS_PLANS_H
#define GRIDPLAN_PLACEMENT_AMOUNTS_PLANS_H

#include "algorithms/placement/amounts_answer.h"

enum { AMOUNTS_TRIED_MAX = 16 };

/* A list policy in an order of the jobs. */
struct amounts_rule {
    enum world_rule rule;
    enum world_order order;
    const char *algorithm, *name; /* on the wire; in `because` */
};

/* What was tried, and the first value of its plan. */
struct amounts_tried {
    const char *name;
    double value;
    bool leaves_out; /* some jobs have no place */
};

/* What is common to the plans of a decision. */
struct amounts_maker {
    const struct amounts_call *call;
    struct placement_problem *p;
    struct world *w;
    struct board *board;
    struct world_goal goal;
    struct amounts_result best; /* plan NULL: none yet */
    struct amounts_tried tried[AMOUNTS_TRIED_MAX];
    size_t tried_count;
    struct arena *arena;
};

/* The order of the jobs that the request asks for, or that suits the objective. */
enum world_order amounts_asked_order(const struct amounts_maker *m);
enum world_order amounts_order_for(enum world_objective objective);

/* Makes the plan; keeps it if it is the best so far. */
void amounts_try_rule(struct amounts_maker *m, const struct amounts_rule *rule);

/* The plan on the board, by this name: kept if it is better than the best so far. */
bool amounts_try_board(struct amounts_maker *m, const struct amounts_rule *of);

/* At least so many jobs have a place in no plan, as far as the best plan tells. */
size_t amounts_without_place(const struct amounts_maker *m);

/* What bounds of that effort say of the best plan: all its values are met,
 * and no plan places more. They stay in m->best for the answer, and serve every plan that
 * places the same jobs. */
bool amounts_prove(struct amounts_maker *m, enum bound_work work);

/* The list policies one after the other, as far as the predicted work goes. */
void amounts_portfolio(struct amounts_maker *m);

/* The policies `search`, and `auto` where nothing is to start now. Mistakes in the plan
 * to start from are in *err. */
enum error_code amounts_search(struct amounts_maker *m, const struct amounts *checked,
                               bool is_auto, struct error *err);

#endif
