/* workflow/round_plan.h - the plan of a round while it is made: what its parts share.
 *
 * The plan says where each task is and how many tasks each resource has; remaining times
 * follow from it:
 *
 *     RE(i, c, m) = remaining_ref_s(i) * m / V(c)      m tasks on c, with i; without
 *                                                      the m where slots have V each;
 *                                                      a task with run times: their part
 *                                                      that is left * m
 *     xi(i)       = RE(i, its resource, tasks there) + pending transfer
 *
 * The largest xi of a parent set is kept, and computed again only when one of its
 * members, or a task beside one of them, has moved.
 *
 * Source: spec workflows.md 5.3, 5.5.
 */
#ifndef GRIDPLAN_WORKFLOW_ROUND_PLAN_H
#define GRIDPLAN_WORKFLOW_ROUND_PLAN_H

#include "algorithms/workflow/kept_out.h"
#include "algorithms/workflow/round.h"

#include "models/base/rng.h"

struct wf_members;
struct wf_units;
struct world_group;

#define WF_NONE   ((size_t)-1)
#define WF_SAME_S 1e-9 /* times nearer than this are equal (workflows.md 5.5) */

/* Rows of the option tables. */
enum wf_option {
    WF_RE_MIN_S,
    WF_GAMMA,
    WF_THETA,
    WF_GROUP_PICK,
    WF_BALANCE,
    WF_DELAY_RULE,
    WF_EVICTED_ROOT_RULE,
    WF_ALLOW_ROOT_EVICTION,
    WF_ROOTS_LAST,
    WF_FINAL_TASK_AS_SET,
    WF_INCLUDE_CHECKPOINT_COST,
    WF_CHECKPOINT_S,
    WF_RESTART_S,
    WF_MAX_AGE_S,
    WF_COOL_DOWN_S,
    WF_MAX_MOVES,
    WF_MAX_BYTES_MOVED,
    WF_MIN_GAIN_S,
    WF_CONFIDENCE,
    WF_PREDICTOR,
    WF_REMAINING_RULE,
    WF_ESTIMATE_FILTER,
    WF_FILTER_WINDOW,
    WF_FIT_METHOD,
    WF_FIT_MIN_SAMPLES,
    WF_FIT_ABSCISSA,
    WF_FIT_SMOOTHING,
    WF_OPTION_COUNT
};
enum wf_group_pick { WF_FASTEST_FIRST, WF_RANDOM };
enum wf_balance { WF_ALL, WF_LONGEST_ONLY };
enum wf_delay_rule { WF_PARENT_SET, WF_ANY_TASK };
enum wf_evicted_rule { WF_BEST_FINISH, WF_FASTEST };
enum wf_predictor { WF_EXTRAPOLATION, WF_FIT };
enum wf_role { WF_LONGEST, WF_BALANCED, WF_ROOT };
enum wf_how {
    WF_HOW_LONGEST,
    WF_HOW_BALANCED,
    WF_HOW_FASTEST,
    WF_HOW_LEAST,
    WF_HOW_RANDOM,
    WF_HOW_IN_TURN
};

struct wf_plan {
    const struct workflow_plain *in;
    const double *param;
    bool final_sets; /* option final_task_as_set */
    bool carry_all;  /* if no slot is free at all, every ready task is carried over */

    /* Tasks. */
    double *remaining_ref_s; /* NAN: no estimate; otherwise finite, >= 0 */
    double *pending_s;       /* transfer still to come, >= 0 */
    size_t *place;           /* resource; WF_NONE: waiting, done, in the queue again */
    bool *moved;             /* had its action in this round */
    bool *sent_back;         /* postponed in this round */
    size_t *next, *before;   /* on the same resource, in no order */

    /* Resources. */
    size_t *count;           /* tasks there, with those that are not listed */
    size_t *first;           /* of those on it; WF_NONE */
    size_t *root_count;      /* free roots on it */
    size_t *evictable_count; /* WF_NONE: to be counted again */
    signed char *crowded;    /* one more would slow a set; -1: to be found out */
    size_t free_count;       /* resources that can take a task */

    /* With amounts. */
    int64_t *taken;             /* [resource * node_count]: by tasks that have a place */
    int64_t *shared_taken;      /* [count] */
    int64_t *least;             /* [count]: that any task needs which could get a place */
    int64_t *at_least;          /* [count]: of one question */
    size_t *leaving;            /* [task]: likewise */
    struct wf_members *members; /* NULL: no task is in a group */
    struct wf_units *units;     /* gangs and packs that had their turn */

    /* Where tasks start: on resources from the first to before the last. */
    size_t first_resource, behind_resource;

    /* Sets with dependents among their members; of task i:
     * set_list[set_first[i] ... set_first[i + 1]). */
    size_t *set_first, *set_list;
    double *set_max_s; /* largest xi; NAN: to be computed again */

    struct rng pick; /* "workflow.group_pick" */
    uint64_t seed;   /* of this round */
    uint64_t group;  /* actions so far */
    size_t steps;    /* tasks looked at */
    double moves_used, bytes_used;

    struct workflow_plain_out *out;
    struct arena *arena;
    struct error *err;
};

/* The plan of the snapshot. Numbers in *in that are not sound count as unknown. */
void wf_plan_make(const struct workflow_plain *in, const double *param,
                  struct wf_plan *plan, struct workflow_plain_out *out, struct arena *a,
                  struct error *err);

/* Whether the options leave a set of the input out. */
static inline bool wf_set_unused(const struct wf_plan *plan, size_t set)
{
    return plan->in->sets[set].child_count == 0 && !plan->final_sets;
}

/* Speed of a task among `count` on a resource. */
static inline double wf_share(const struct wf_plan *plan, size_t resource, size_t count)
{
    const struct workflow_plain_resource *r = &plan->in->resources[resource];

    return r->own_slots ? r->free_speed : r->free_speed / (double)count;
}

/* RE: HUGE_VAL without free speed or where the task cannot run, NAN without estimate. */
double wf_run_s(const struct wf_plan *plan, size_t task, size_t resource, size_t count);

/* xi of a placed task. */
double wf_xi_s(const struct wf_plan *plan, size_t task);

/* NO between two resources, HUGE_VAL: no way. C and R are not in it. */
double wf_move_s(const struct wf_plan *plan, size_t task, size_t from, size_t to);

/* C + R if the criterion has them. */
double wf_overhead_s(const struct wf_plan *plan);

/* Time until a task can start on a resource. HUGE_VAL: never. */
double wf_stage_s(const struct wf_plan *plan, size_t task, size_t resource);

/* Not failed, not stale, with free speed. */
bool wf_usable(const struct wf_plan *plan, size_t resource);

/* Why it is not. */
enum kept_out wf_kept_out(const struct wf_plan *plan, size_t resource);

/* Usable, with a slot for one more; with amounts: and as much as any task needs. */
bool wf_has_room(const struct wf_plan *plan, size_t resource);

/* ---- round_amounts.c: all true or nothing without amounts but wf_amounts_... ---- */

/* Whether a resource has, and will have, what a task needs for held_s from now (NAN: for
 * good), once the tasks `leaving` have left it. */
bool wf_fits(const struct wf_plan *plan, size_t task, size_t resource,
             const size_t *leaving, size_t leaving_count, double held_s);

/* How many resources it runs on. */
size_t wf_nodes(const struct wf_plan *plan, size_t task);

void wf_amounts_open(struct wf_plan *plan);
void wf_amounts_take(struct wf_plan *plan, size_t task, size_t resource, int sign);
void wf_amounts_take_shared(struct wf_plan *plan, size_t task, int sign);
bool wf_amounts_room(const struct wf_plan *plan, size_t resource);

/* ---- round_members.c: groups of tasks, with what runs ---- */

/* After this plan->members is there if a task is in a group. */
void wf_members_open(struct wf_plan *plan);

/* The task's group; NULL. */
const struct world_group *wf_group(const struct wf_plan *plan, size_t task);

/* The task is on one more resource (1), or no longer (-1). */
void wf_members_note(struct wf_plan *plan, size_t task, size_t resource, int sign);

/* Whether spread, exclude or pack let it go there once `leaving` have left. */
bool wf_members_allow(const struct wf_plan *plan, size_t task, size_t resource,
                      const size_t *leaving, size_t leaving_count);

/* The value on which the pack is; PACK_ANYWHERE, PACK_NOWHERE (world/board_groups.h). */
size_t wf_pack_value(const struct wf_plan *plan, const struct world_group *g);

/* Its members that have no place go to that value alone; PACK_ANYWHERE: no longer. */
void wf_pack_want(struct wf_plan *plan, const struct world_group *g, size_t value);

/* ---- round_units.c: gangs and packs ---- */

/* How a policy starts a task, as the last of the starts; false: nowhere. */
struct wf_starter {
    bool (*start)(void *context, size_t task);
    void *context;
};

bool wf_is_unit(const struct wf_plan *plan, size_t task);

/* Of a gang of several: interrupted, it would not start again with the others. */
bool wf_in_gang(const struct wf_plan *plan, size_t task);

/* The turn of a task's unit, once in a round; whether the task has a place. */
bool wf_unit_turn(struct wf_plan *plan, size_t task, const struct wf_starter *starter);

/* max_xi; -HUGE_VAL: none of its members is placed and has an estimate. */
double wf_set_max_s(struct wf_plan *plan, size_t set);

/* Takes a task off its resource; puts one on. */
void wf_take(struct wf_plan *plan, size_t task);
void wf_put(struct wf_plan *plan, size_t task, size_t resource, double pending_s);

/* A task that has a place is on one more resource too, where nobody asks for it; no
 * longer. */
void wf_put_beside(struct wf_plan *plan, size_t task, size_t resource);
void wf_take_beside(struct wf_plan *plan, size_t task, size_t resource);

/* It is ready, and has neither a place nor been sent back. */
bool wf_waits(const struct wf_plan *plan, size_t task);

/* Whether a task with x seconds left on a resource would hold up a set; `evicted` roots
 * would leave. */
bool wf_delays(struct wf_plan *plan, size_t task, size_t resource, size_t evicted,
               double x_s);

/* Whether one more task would hold up a set of a dependent on a resource: then
 * wf_delays() is true, whatever task it is. */
bool wf_crowded(struct wf_plan *plan, size_t resource);

/* Free roots on a resource that may be interrupted: all of them that move.
 * wf_evictable() fills `tasks` (room for root_count), by arrival. */
size_t wf_evictable_count(struct wf_plan *plan, size_t resource);
size_t wf_evictable(const struct wf_plan *plan, size_t resource, size_t *tasks);

/* ---- round_groups.c ---- */

/* A place for a task. */
struct wf_candidate {
    size_t resource, evicted; /* roots that would leave */
    double share;             /* speed that the task would have */
    double transfer_s;        /* NO */
    double x_s;               /* RE + NO [+ C + R] */
};

/* Candidates that are compared as one: one resource, or a group of them. */
struct wf_lot {
    size_t first, count; /* candidates */
    double key;
    bool evicts;
    size_t resource; /* of the first one, for ties */
};

struct wf_groups {
    size_t *order;       /* usable resources: by site, by speed */
    size_t *group_first; /* [count + 1] into order */
    size_t *group_of;    /* of each resource; WF_NONE */
    size_t count;
    struct wf_candidate *candidates; /* of the task that is looked at */
    struct wf_lot *lots;             /* a heap, least first */
    size_t lot_count;
    bool alone;  /* groups of one: lots that would be vetoed are left out at once */
    bool vetoed; /* such a lot was left out */
};

/* What is asked: the task, its branch and where it stands. */
struct wf_query {
    size_t task;
    bool longest;
    double now_s, top_s; /* xi of the task, largest xi of its set */
};

void wf_groups_make(struct wf_plan *plan, struct wf_groups *groups);

/* Fills lots with what the accept test of 5.5 leaves. */
void wf_lots_fill(struct wf_plan *plan, struct wf_groups *groups,
                  const struct wf_query *q);

/* Whether a candidate passes the test of its branch. */
bool wf_accepts(const struct wf_plan *plan, const struct wf_query *q, double x_s);

/* The best lot, which is taken out; false: none is left. */
bool wf_lots_pop(struct wf_groups *groups, struct wf_lot *lot);

/* ---- the steps ---- */

void wf_step_move(struct wf_plan *plan);
enum error_code wf_step_start(struct wf_plan *plan);
enum error_code wf_step_fastest(struct wf_plan *plan);

/* What workflow_round_run() does with a plan of the snapshot. */
enum error_code wf_decide(struct wf_plan *plan, const struct policy *policy,
                          enum workflow_round_steps steps);

/* ---- round_bound.c ---- */

/* Longest remaining time of all that has a place; NAN: a task stands still. */
double wf_makespan_s(const struct wf_plan *plan);

/* No placing of the tasks that have a place now ends before. */
void wf_lower_bound(const struct wf_plan *plan, double *bound_s);

#endif
