/* job_hazard.h - how soon any of several nodes fails.
 *
 * A job runs on nodes, each with a law of its own and an age, the time since its last
 * restore; a failure of any ends all of it. With H(x) = (x/c)^s of a Weibull law, or
 * x/M of an exponential one,
 *
 *     h(t) = sum_i h_i(a_i + t)
 *     S(t) = exp(-sum_i [H_i(a_i + t) - H_i(a_i)])
 *
 * are the job's hazard and the chance that it lives on, t after now. Nodes of equal law
 * and age are one row with a count.
 *
 * Spares take the place of failed nodes: with s of them, repairs of mean r and failures
 * of mean M, all exponential, a failure finds none left with the chance B(s) that Erlang
 * gives for s lines, and then waits for the first of s + 1 repairs.
 *
 * Source: B. Schroeder, G. Gibson, "A large-scale study of failures in high-performance
 * computing systems", DSN 2006 (laws of nodes); A. K. Erlang, 1917 (B). Times are
 * seconds.
 */
#ifndef GRIDPLAN_JOB_HAZARD_H
#define GRIDPLAN_JOB_HAZARD_H

#include <stdbool.h>
#include <stddef.h>

struct failure_law {
    double shape, scale_s; /* Weibull, > 0; NAN: exponential */
    double age_s;          /* time since the last restore, >= 0 */
    double mean_s;         /* exponential: M, > 0, may be infinite */
    double count;          /* of such nodes, > 0 */
};

/* The nodes of a job. */
struct job_hazard {
    const struct failure_law *laws;
    size_t count;
};

static inline bool failure_law_is_weibull(const struct failure_law *law)
{
    return law->shape > 0;
}

/* H(age + t) - H(age) of one node. */
double failure_law_cumulated(const struct failure_law *law, double t_s);

/* The t at which that is `sum` >= 0. */
double failure_law_time_s(const struct failure_law *law, double sum);

/* M of one node. */
double failure_law_mean_s(const struct failure_law *law);

/* h(t); t >= 0. Infinite at age 0 for shapes below 1. O(rows), likewise the others. */
double job_hazard_per_s(const struct job_hazard *h, double t_s);

/* S(t). */
double job_hazard_survival(const struct job_hazard *h, double t_s);

/* 1 / sum of the nodes' rates 1/M. */
double job_hazard_mean_s(const struct job_hazard *h);

/* Whether every row is exponential, and so no age matters. */
bool job_hazard_is_constant(const struct job_hazard *h);

/* Joins nodes of equal law and age, and all exponential ones; sorts. How many rows are
 * left. O(n log n). */
size_t failure_laws_join(struct failure_law *laws, size_t count);

/* What waiting for a spare node costs. */
struct spare_wait {
    double probability; /* B(s): a failure finds no spare */
    double delay_s;     /* D + B(s) * mttr / (s + 1) */
};

/* `spares` >= 0 whole; x = mttr_s / mean_s. O(spares). */
struct spare_wait spare_wait_of(double spares, double mttr_s, double mean_s,
                                double delay_s);

#endif
