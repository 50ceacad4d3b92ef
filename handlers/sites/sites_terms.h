/* sites_terms.h - fitted models as terms of machines, and how far they can be trusted. */
#ifndef GRIDPLAN_SITES_TERMS_H
#define GRIDPLAN_SITES_TERMS_H

#include "handlers/sites/sites_lookup.h"

enum { SITE_FITTED_TERMS = 4 };

/* The terms of a model of models/regression at a problem size; 0: it has none, its times
 * depend on other inputs than the problem size and the processors. */
size_t site_terms_of_fitted(const struct fitted_model *m, double problem_size,
                            struct site_term out[SITE_FITTED_TERMS], double *single_s);

/* Likewise of a model of kind auto: the curve a + b/P + c ln P + d P that follows its
 * times best, on machines of which nothing but the CPU is known. *off: the greatest
 * logarithm by which it misses them. */
size_t site_terms_of_auto(const struct fitted_model *m, double problem_size,
                          struct site_term out[SITE_FITTED_TERMS], double *single_s,
                          double *off, struct arena *a);

/* Does the time depend on the problem size alone? */
bool site_terms_ignore_machines(const struct fitted_model *m);

/* What the model's runs allow to say, as the numbers of a struct stored_reach; off: what
 * the terms miss its times by. */
void site_reach_of_fitted(const struct fitted_model *m, double off, const double **out,
                          size_t *count, struct arena *a);

#endif
