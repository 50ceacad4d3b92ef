/* plan/plan_run.h - one plan in the making, for policies that plan several clusters. */
#ifndef GRIDPLAN_PLAN_RUN_H
#define GRIDPLAN_PLAN_RUN_H

#include "algorithms/plan/plan.h"

/* A planner that has run. */
struct plan_tried {
    const char *name;
    double total_s; /* HUGE_VAL: it found none */
    bool cut;       /* it had not ended */
};

enum { PLAN_TRIED_MAX = 8 };

struct plan_run {
    const struct plan_in *in;
    struct plan_grid grid;
    const double *option;
    struct plan_place single; /* the best schedule for all phases together */
    double single_s;
    struct plan_interval *intervals; /* phase_count */
    size_t count;
    bool cut;              /* the budget ended the planning */
    bool unseen;           /* ... before all sites were looked at: no bound holds */
    bool proven;           /* no valid plan is faster */
    bool single_better;    /* than what the policy found */
    const char *algorithm; /* what a policy ran instead of itself; NULL: itself */
    const char *finder;    /* whose plan it is */
    const struct plan_interval *known; /* the best plan of who ran before */
    size_t known_count;                /* 0: nobody did */
    struct plan_tried tried[PLAN_TRIED_MAX];
    size_t tried_count;
    struct improvement_list improved;
    const char *initial_refused; /* why; NULL: it was not */
    enum bound_effort effort;
    double early_bound_s; /* of before the planning; 0: none */
    struct plan_choice first;
    struct arena *arena;
};

/* The plan of each cluster by `planner`, put together. O(as plan_grid_next()). */
enum error_code plan_by_site(struct plan_run *run, plan_site_fn *planner,
                             struct error *err);

/* Plans by another policy, and goes on with its plan if that has the lesser total; of
 * equal ones with the one of fewer moves, then with the one of before. `cut` is what the
 * other policy says of it; proven is the better plan if either was. */
enum error_code plan_compete(struct plan_run *run, const struct policy *policy,
                             struct error *err);

/* The intervals' times with their costs. */
double plan_total_s(const struct plan_interval *intervals, size_t count);

/* Where to run phases first..last: keep `prev`, move inside its cluster, or elsewhere,
 * by the times of all clusters that can run them. Ties: in this order, then the first
 * cluster. *found: false when nothing can run them, or the budget has ended. */
enum error_code plan_choose(const struct plan_grid *grid, size_t first, size_t last,
                            const struct plan_place *prev, double min_saving_ratio,
                            struct plan_interval *out, struct plan_choice *choice,
                            bool *found);

/* Phases first.. in one interval on a schedule that is known: the answer when time has
 * run out. */
void plan_append_rest(struct plan_run *run, size_t first);

#endif
