/* site_errors_threshold.h - how many errors in a row make a site unusable, from how often
 * components fail there.
 *
 * Source: spec coallocation.md 19 (5).
 */
#ifndef GRIDPLAN_SITE_ERRORS_THRESHOLD_H
#define GRIDPLAN_SITE_ERRORS_THRESHOLD_H

#include "service/route.h"

/* What a request says; its presence is the wish. */
struct threshold_request {
    double min_samples, prior_weight, window_s;
    double broken_ratio, confidence, max_error_ratio; /* struct co_threshold_rule */
    double at_s;                                      /* instant; NAN: now */
};
extern const struct json_object threshold_request_json;

enum threshold_basis { THRESHOLD_OPTION, THRESHOLD_HISTORY };

struct site_threshold {
    const char *site_id;
    uint64_t error_threshold;
    enum threshold_basis basis;
    uint64_t samples;   /* components that were started there */
    double error_ratio; /* NAN: too few */
};
extern const struct json_object site_threshold_json;

/* Fills the other members of `count` sites, each named once. `usual` is the threshold of
 * those with too few samples. *warning (NULL: none): the reports cannot be read, or those
 * of some site are too few. What was looked up is kept for a replay. */
enum error_code site_thresholds_find(struct request *rq,
                                     const struct threshold_request *in, size_t usual,
                                     struct site_threshold *sites, size_t count,
                                     const char **warning);

#endif
