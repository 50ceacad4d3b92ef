/* queue/explain.h - what each waiting job waits for, in a decision. */
#ifndef GRIDPLAN_QUEUE_EXPLAIN_H
#define GRIDPLAN_QUEUE_EXPLAIN_H

#include "algorithms/queue/machine.h"

/* After the present was played: reasons, plans, broken promises and counts of what
 * starts. `sorted` is the input with its jobs as the machine has them, `given` their
 * indexes in the input, by which the verdicts go. Sets out->is_cut when the machine's
 * budget is spent before all are explained. */
enum error_code queue_explain(struct machine *m, const struct queue_in *sorted,
                              const size_t *given, struct queue_out *out,
                              struct error *err);

#endif
