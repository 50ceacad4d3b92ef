/* at_risk.h - how long a resource was watched while it could fail, and how often it
 * killed what ran on it.
 *
 * A resource used as a whole is killed by a failure of any of its components; of
 * other kinds of rows, maintenance takes away time at risk and degraded does
 * nothing. Failures of different components never merge, however their repairs
 * overlap. With the rows of the whole resource,
 *
 *     k = begins of failures that do not lie inside an open row of the whole, those
 *         at most burst_window_s after the last one that counted being part of it
 *     T = time observed, less the time in which a row of the whole is open
 *
 * and of one component alone the same with its own rows beside those of the whole.
 * A row without an end that is followed by another has ended, nobody knows when: it
 * takes no time. So has one that an observation or up_again_s follows. Else it is open
 * until now: the resource is down, and not at risk.
 *
 * Begin of the observation not known: it begins with the first failure, which does
 * not count (without it nobody would ask). End not known: now, or the last event if
 * that is long ago beside the gaps between failures.
 *
 * Source: spec reliability.md 2.2 and 2.3. Instants are seconds on any one scale.
 */
#ifndef GRIDPLAN_AT_RISK_H
#define GRIDPLAN_AT_RISK_H

#include "models/base/error.h"
#include "models/failure_history.h"
#include "models/failure_rate.h"

#include <stdbool.h>

/* A row of the history of one resource. */
struct at_risk_row {
    double down_at_s;
    double up_at_s;   /* >= down_at_s; NAN: no end is known */
    size_t component; /* 0: the whole resource; others: any number for each */
    enum failure_kind kind;
};

/* A time in which it was watched. */
struct at_risk_span {
    double from_at_s;
    double to_at_s; /* > from_at_s; NAN: it still is */
};

struct at_risk_in {
    const struct at_risk_row *rows; /* in any order */
    size_t row_count;
    const struct at_risk_span *spans; /* they do not overlap */
    size_t span_count;
    double seen_since_s; /* it was there then already, without a span; NAN: not known */
    double from_s, to_s; /* the window, which wins; NAN: not given */
    double now_s;
    double up_again_s;     /* somebody says that it is up since then; NAN: nobody */
    double burst_window_s; /* >= 0 */
    size_t component;      /* that is asked for; 0: the resource as a whole */
};

struct at_risk {
    struct failure_exposure seen;
    double from_s, to_s;  /* begin and end of what was observed; NAN: nothing was */
    double observed_s;    /* the sum of the times watched */
    bool start_unknown;   /* it began with the first failure */
    bool history_ended;   /* it ended with the last event */
    size_t outside_count; /* failures outside every span: no part in it */
    double down_since_s;  /* it is down still, since then; NAN: it is not */
};

/* O(rows log rows + rows * spans). */
void at_risk_of(const struct at_risk_in *in, struct at_risk *out, struct arena *a);

#endif
