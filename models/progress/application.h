/* progress/application.h - what the finished tasks of an application say about the next.
 *
 * Each finished task is scored once: what the fit and the extrapolation would have said
 * when 10, 20 and 50 % of its work were done, and which curve its estimates followed.
 * From many of them come
 *
 *     shape           medians of x2 / x1 and x3 x1 (decay over one's own run length), by
 *                     function: where a simplex starts
 *     estimate ratio  medians of E / final at 5, 10, 20 and 50 % of reported progress: a
 *                     single report is divided by it
 *     errors          mean relative errors: when the fit's were larger over at least
 *                     PROGRESS_TASKS_POLICY tasks, extrapolation answers ("policy")
 *
 * Source: spec runtime-prediction.md 12. Deviation: medians are used from
 * PROGRESS_TASKS_LEAST tasks on, where the spec gives no number.
 */
#ifndef GRIDPLAN_PROGRESS_APPLICATION_H
#define GRIDPLAN_PROGRESS_APPLICATION_H

#include "models/progress/learnt.h"

enum {
    PROGRESS_SHARES = 3, /* 10, 20, 50 % of the work */
    PROGRESS_NODES = 4,  /* 5, 10, 20, 50 % of reported progress */
    PROGRESS_TASKS_LEAST = 5,
    PROGRESS_TASKS_POLICY = 30
};

/* A finished task. NAN: not known. */
struct progress_score {
    double fit_error[PROGRESS_SHARES], extrapolation_error[PROGRESS_SHARES];
    double estimate_ratio[PROGRESS_NODES];
    const char *function; /* psi1 or psi2 of its whole history; NULL: none fits */
    double amplitude_ratio, decay_ratio; /* x2 / x1, x3 x1 */
    double log_error[PROGRESS_BINS];     /* by tenths of reported progress */
};

/* A curve that tasks followed: psi1 and psi2, in this order. */
struct progress_shape {
    double task_count, amplitude_ratio, decay_ratio; /* medians; NAN: none */
};

/* The finished tasks of an application. */
struct progress_application {
    double task_count; /* scored */
    struct progress_shape shape[2];
    double estimate_ratio[PROGRESS_NODES];                                   /* medians */
    double fit_error[PROGRESS_SHARES], extrapolation_error[PROGRESS_SHARES]; /* means */
};

/* `actual_ref_s` > 0: the work that the task was. Some 16 predictions. */
enum error_code progress_score_of(const struct progress_history *history,
                                  double actual_ref_s, struct progress_score *out,
                                  struct arena *a);

/* Whether fits were worse than extrapolations, over enough tasks. NULL: not known. */
bool progress_fit_loses(const struct progress_application *known);

/* Median of estimate over final at a reported progress, between the nodes; 1 where too
 * little is known. */
double progress_estimate_ratio(const struct progress_application *known,
                               double progress_pct);

#endif
