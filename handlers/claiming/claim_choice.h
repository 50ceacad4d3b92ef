/* claim_choice.h - the L of a claim by what became of earlier ones.
 *
 * Source: spec coallocation.md 19 (2).
 */
#ifndef GRIDPLAN_CLAIM_CHOICE_H
#define GRIDPLAN_CLAIM_CHOICE_H

#include "service/route.h"

/* What a request says; its presence is the wish. */
struct claim_l_request {
    double requeue_cost_s; /* NAN: the longest transfer's time */
    double min_samples, prior_weight, window_s;
    double at_s; /* instant; NAN: now */
};
extern const struct json_object claim_l_request_json;

#define CLAIM_L_CHOICE_ROW(T)                                                         \
    JSON_OBJECT(T, l_choice, const struct claim_l_request *, &claim_l_request_json,   \
                JSON_POINTER,                                                         \
                "Choose L by what became of the stored claim attempts on the same "   \
                "sites (/v1/claim-attempts), and l_value only if these are too few; " \
                "default: l_value as it is")

struct claim_l_candidate {
    double l_value;
    uint64_t samples, successes;
    double success_ratio, cost_processor_s;
};

enum claim_l_basis { CLAIM_L_GIVEN, CLAIM_L_HISTORY };

struct claim_l_answer {
    double l_value;
    enum claim_l_basis basis;
    uint64_t samples;
    double success_ratio; /* NAN: given */
    const struct claim_l_candidate *candidates;
    size_t candidate_count;
};
extern const struct json_object claim_l_answer_json;

#define CLAIM_L_ANSWER_ROW(T)                                                     \
    JSON_OBJECT(T, l_choice, const struct claim_l_answer *, &claim_l_answer_json, \
                JSON_POINTER | JSON_OPTIONAL, "How L was chosen, if that was asked")

struct claim_l_question {
    const char *const *site_ids; /* in any order, also repeated */
    size_t site_count;
    double processors, ftt_s, given_l;
};

/* *warning (NULL: none): the history cannot be read, or is too short; then the given L
 * holds. What was looked up is kept for a replay. */
enum error_code claim_l_choose(struct request *rq, const struct claim_l_request *in,
                               const struct claim_l_question *question,
                               struct claim_l_answer *out, const char **warning);

#endif
