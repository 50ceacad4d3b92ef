/* workflow/amounts.h - workflows on resources that run as many tasks as fit.
 *
 * Where tasks need cpus, memory, disk or anything else, or the snapshot says what runs
 * and what is reserved, tasks are the jobs of a world (algorithms/world/): their parents
 * are what they wait for, and their data arrive where they go. What differs from one task
 * at a time is here; ranks, transfers and the answer are the same.
 *
 * A task of several nodes starts when its data could be on any node that may run it, and
 * is taken to leave its output on the first of them (deviation: ours).
 *
 * Source: world-model.md 8, 2.3, 4; workflows.md 8.1 (ranks).
 */
#ifndef GRIDPLAN_WORKFLOW_AMOUNTS_H
#define GRIDPLAN_WORKFLOW_AMOUNTS_H

#include "algorithms/workflow/moves.h"
#include "algorithms/workflow/verify.h"

struct workflow_amounts;

/* Does the request say anything that one task at a time cannot? O(tasks + resources). */
bool workflow_amounts_asked(const struct workflow_in *in);

/* The world of a problem that was made without slots. Changes the problem: resources that
 * others use are usable, as far as there is room. Mistakes are in *err, with pointers to
 * tasks. */
enum error_code workflow_amounts_make(struct workflow_problem *problem,
                                      struct workflow_amounts **out, struct arena *a,
                                      struct error *err);

/* Reads in->initial. A schedule that breaks a rule is not started from: the warning
 * `initial_refused` says which. Mistakes, as those of workflow_initial_read(), are in
 * *err. O(rows * fits). */
enum error_code workflow_amounts_initial(struct workflow_amounts *x, struct error *err);

/* Fills the plan: tasks by rank_u, each where it ends first; then `steps` times (0: none;
 * SIZE_MAX: as long as 80 % of the budget last) in another order, of which the best is
 * kept. Stops when the bound is met. A schedule that
 * was read is one of these orders, and the plan is not worse than it. */
void workflow_amounts_plan(struct workflow_amounts *x, size_t steps,
                           struct workflow_plan *plan);

/* So many that an answer repeats and takes about a second at most. */
size_t workflow_amounts_steps(const struct workflow_problem *problem);

/* What of rows of somebody's schedule breaks a rule, and for each row the processor that
 * it has. Data of a task on several nodes have to be on all of them when it starts. */
void workflow_amounts_assess(struct workflow_amounts *x, const struct workflow_run *runs,
                             size_t run_count, struct workflow_verdict *out);

/* The rule that the plan breaks, by the checker of worlds and a look at all transfers;
 * NULL: none. *spent: the time was up first. */
const char *workflow_amounts_broken(struct workflow_amounts *x,
                                    const struct workflow_plan *plan, bool *spent);

/* Moves of running tasks that pay, as workflow_find_moves() finds them where a resource
 * runs one task at a time. */
void workflow_amounts_moves(struct workflow_amounts *x, const struct workflow_plan *plan,
                            const struct workflow_move_rules *rules,
                            const struct workflow_action **moves, size_t *count,
                            bool *cut);

/* Why a task has no place: a reason for machines and a sentence. */
const char *workflow_amounts_why(struct workflow_amounts *x, size_t task,
                                 const char **detail);

/* Rows of the answer: slots, nodes, what starts next; and warnings. */
void workflow_amounts_answer(struct workflow_amounts *x, const struct workflow_plan *plan,
                             struct workflow_out *out);

#endif
