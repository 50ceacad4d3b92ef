/* policy_words.h - names of policies, as answers have them: lists for DECISION_BY_OF and
 * JSON_WORD_OF, taken from the tables of the families.
 */
#ifndef GRIDPLAN_POLICY_WORDS_H
#define GRIDPLAN_POLICY_WORDS_H

#include "service/json_holds.h"

extern const struct json_words checkpoint_words;
extern const struct json_words claim_words;
extern const struct json_words coallocation_words;    /* "auto": each job its own */
extern const struct json_words fault_tolerance_words; /* and of replication */
extern const struct json_words parallel_words;
extern const struct json_words placement_words; /* "mct longest": by falling run time */
extern const struct json_words plan_words;      /* "initial": the plan that was given */
extern const struct json_words queue_words;     /* of queues of slots, and of clusters */
extern const struct json_words scan_words;
extern const struct json_words workflow_words;
extern const struct json_words workflow_round_words;
extern const struct json_words simulated_words; /* "pinned": no scheduler at all */
extern const struct json_words decision_words;  /* of any decision that is stored */

#endif
