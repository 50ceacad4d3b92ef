/* claim_attempt.h - a try of a placed job to get its processors, and what became of it.
 */
#ifndef GRIDPLAN_CLAIM_ATTEMPT_H
#define GRIDPLAN_CLAIM_ATTEMPT_H

#include <stddef.h>

/* What a claim said, in the order of enum co_claim_decision (algorithms/coallocation). */
enum claim_decision {
    CLAIM_START_ALL,
    CLAIM_START_PARTIAL,
    CLAIM_WAIT,
    CLAIM_REQUEUE_PLACEMENT,
    CLAIM_FAIL,
};

struct claim_attempt {
    const char *job_id;
    double attempted_at_s; /* instant */
    const char *const *site_ids;
    size_t site_count;
    double processors;  /* whole, >= 1 */
    double l_value;     /* 0..1 */
    double claim_tries; /* whole, >= 1 */
    double fraction_f;  /* 0..1; NAN: not known */
    double ftt_s;       /* >= 0; NAN: not known */
    enum claim_decision decision;
};

#endif
