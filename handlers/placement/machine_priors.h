/* machine_priors.h - machines of which a model has seen no run. */
#ifndef GRIDPLAN_MACHINE_PRIORS_H
#define GRIDPLAN_MACHINE_PRIORS_H

#include "models/fitted/fitted.h"
#include "models/snapshot.h"

struct machine_prior {
    double effect;      /* what is added to ln of its times; NAN: its effect is known, or
                           nobody says what type of machine it is */
    double scale_least; /* least scale of intervals there, while runs say little */
    double runs;        /* of any application there, that its effect rests on */
};

/* Of each resource of the snapshot, by the effects that a model knows (by key). */
void machine_priors(const struct snapshot *s, const struct fitted_effect *effects,
                    size_t effect_count, struct budget *budget, struct machine_prior *out,
                    struct arena *a);

/* The interval of questions about such a machine. */
struct fitted_interval machine_prior_interval(const struct machine_prior *prior,
                                              const struct fitted_interval *interval);

/* Their prediction, with that interval, there. */
void machine_prior_apply(const struct machine_prior *prior, struct fitted_prediction *p);

#endif
