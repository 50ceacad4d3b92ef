/* progress/evolution.h - how the estimates of an imagined task evolve.
 *
 * For simulators and tests. A task of nominal length L (E_act) has, with w its work done
 * and D = r1 A exp(-b w / unit),
 *
 *     over         E = E_ref + D                                   noise added to each:
 *     under        E = E_ref - D                                   p A U(-1, 1)
 *     fluctuating  E = E_ref +- D sin(2 pi (w + r2 phi) / F)
 *
 * E_ref, the limit, is the task's true length. Estimates are never below floor_factor w.
 *
 * Source: spec runtime-prediction.md 7.1, 7.2, 9.1 and D4 to D8, D10; workflows.md 3.3.
 */
#ifndef GRIDPLAN_EVOLUTION_H
#define GRIDPLAN_EVOLUTION_H

#include "models/base/rng.h"

#define EVOLUTION_MODELS(X) X(over) X(under) X(fluctuating)

enum evolution_model {
#define X(name) EVOLUTION_##name,
    EVOLUTION_MODELS(X)
#undef X
        EVOLUTION_MODEL_COUNT
};
extern const char *const evolution_model_names[]; /* ended by NULL */

struct evolution_range {
    double low, high; /* uniform in between */
};

/* What tasks are drawn from; ratios are of the nominal length. */
struct evolution_setting {
    struct evolution_range amplitude_ratio;  /* A: 1.5 .. 2 */
    struct evolution_range decay;            /* b: 0 .. 1, for each `decay_unit_ratio` */
    double decay_unit_ratio;                 /* 0.1 */
    struct evolution_range period_ratio;     /* F: 0.05 .. 0.1 */
    struct evolution_range phase_ratio;      /* phi: 0.01 .. 0.02 */
    struct evolution_range over_limit_ratio; /* E_ref of over: 1.5 .. 2 */
    double under_base_ratio;                 /* E_ref of under is this and A: 0.1 */
    double noise_ratio;                      /* p: 0, 0.05 (low), 0.5 (high); 0 */
    double floor_factor;                     /* 1.0001 */
};

/* The values of the spec's chapter 6 setting. Chapter 5's (workflows.md 9.1) differs in
 * over_limit_ratio 1..1 and under_base_ratio 0. */
struct evolution_setting evolution_setting_init(void);

/* One task. */
struct evolution {
    enum evolution_model model;
    double limit_ref_s;     /* E_ref: true length */
    double amplitude_ref_s; /* A */
    double r1, r2;          /* 0..1 */
    double decay;           /* b, for each decay_unit_ref_s of work */
    double decay_unit_ref_s;
    double period_ref_s, phase_ref_s; /* F, phi; of fluctuating */
    double sign;                      /* +1 or -1; of fluctuating */
    double noise_ratio, floor_factor;
};

/* Draws a task of nominal length > 0: the same number of draws for every model. */
struct evolution evolution_draw(enum evolution_model model, double nominal_ref_s,
                                const struct evolution_setting *setting, struct rng *rng);

/* The estimate after `work_ref_s` of work; `noise` in -1..1 (0: none) scales the noise.
 * > 0 for work > 0. */
double evolution_estimate_ref_s(const struct evolution *e, double work_ref_s,
                                double noise);

/* With noise of the stream, drawn anew each time. */
double evolution_report_ref_s(const struct evolution *e, double work_ref_s,
                              struct rng *rng);

/* What the task says of its progress: 100 W / E, at most 100. */
double evolution_progress_pct(double work_ref_s, double estimate_ref_s);

#endif
