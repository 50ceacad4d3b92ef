/* workflow_round_answer.h - the answer of a round of dynamic workflow scheduling. */
#ifndef GRIDPLAN_WORKFLOW_ROUND_ANSWER_H
#define GRIDPLAN_WORKFLOW_ROUND_ANSWER_H

#include "algorithms/workflow/round.h"
#include "handlers/workflow/workflow_json.h"

struct workflow_round_answer {
    int kind; /* there is one only */
    struct decision_answer decision;
    const char *because; /* why `auto` chose the algorithm; NULL otherwise */
    struct workflow_round_out round;
    const struct workflow_unplaced_answer *unplaced;
    size_t unplaced_count;
    const struct workflow_import *import; /* NULL: no file was given */
    const struct run_time_basis *run_times;
    size_t run_time_count;
};
extern const struct json_object workflow_round_answer_json; /* kind "round" */
extern const struct json_object workflow_action_json; /* of struct workflow_action */

/* What step 2 says of it, as an answer of POST /v1/reschedules. */
extern const struct json_object workflow_moves_answer_json;
extern const char *const workflow_round_kind[]; /* its one kind */

/* Moves that say where the run times come from that models have told; teller NULL: as
 * they are. */
const struct workflow_action *workflow_tell_moves(struct request *rq,
                                                  struct run_time_teller *teller,
                                                  const struct workflow_action *moves,
                                                  size_t count);

/* What `auto` means for workflows that run: this algorithm, with the option `balance`
 * longest_only unless the request says something else. */
#define WORKFLOW_ROUND_AUTO "balanced"
void workflow_round_auto_options(const struct decision_request *decision,
                                 const struct named_value **options, size_t *option_count,
                                 struct arena *a);

/* Decides a round and fills *out but for `because`, after workflow_call_models(), which
 * gave `times`. */
enum error_code workflow_round_answer_fill(
    const struct workflow_call *call, const struct run_times *times,
    const struct policy *policy, const struct named_value *options, size_t option_count,
    enum workflow_round_steps steps, struct workflow_round_answer *out);

#endif
