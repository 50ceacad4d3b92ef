/* progress/evolution.c - how the estimates of an imagined task evolve.
 *
 * Source: spec runtime-prediction.md 7.1, 7.2, 9.1; workflows.md 3.3, 9.1.
 */
#include "models/progress/evolution.h"

#include <math.h>
#include <stddef.h>

const char *const evolution_model_names[] = {
#define X(name) #name,
    EVOLUTION_MODELS(X)
#undef X
        NULL};

struct evolution_setting evolution_setting_init(void)
{
    return (struct evolution_setting){
        .amplitude_ratio = {1.5, 2},
        .decay = {0, 1},
        .decay_unit_ratio = 0.1,
        .period_ratio = {0.05, 0.1},
        .phase_ratio = {0.01, 0.02},
        .over_limit_ratio = {1.5, 2},
        .under_base_ratio = 0.1,
        .noise_ratio = 0,
        .floor_factor = 1.0001,
    };
}

static double draw(struct rng *rng, struct evolution_range range)
{
    return range.low + (range.high - range.low) * rng_uniform(rng);
}

struct evolution evolution_draw(enum evolution_model model, double nominal_ref_s,
                                const struct evolution_setting *setting, struct rng *rng)
{
    struct evolution e = {.model = model};
    double over_limit;

    e.amplitude_ref_s = nominal_ref_s * draw(rng, setting->amplitude_ratio);
    e.r1 = rng_uniform(rng);
    e.r2 = rng_uniform(rng);
    e.decay = draw(rng, setting->decay);
    e.decay_unit_ref_s = nominal_ref_s * setting->decay_unit_ratio;
    e.period_ref_s = nominal_ref_s * draw(rng, setting->period_ratio);
    e.phase_ref_s = nominal_ref_s * draw(rng, setting->phase_ratio);
    over_limit = draw(rng, setting->over_limit_ratio);
    e.sign = rng_uniform(rng) < 0.5 ? -1 : 1;
    e.noise_ratio = setting->noise_ratio;
    e.floor_factor = setting->floor_factor;
    e.limit_ref_s = nominal_ref_s;
    if (model == EVOLUTION_over)
        e.limit_ref_s *= over_limit;
    else if (model == EVOLUTION_under)
        e.limit_ref_s = nominal_ref_s * setting->under_base_ratio + e.amplitude_ref_s;
    return e;
}

static double deviation(const struct evolution *e, double work_ref_s)
{
    double d =
        e->r1 * e->amplitude_ref_s * exp(-e->decay * work_ref_s / e->decay_unit_ref_s);

    switch (e->model) {
    case EVOLUTION_over:
        return d;
    case EVOLUTION_under:
        return -d;
    case EVOLUTION_fluctuating:
    case EVOLUTION_MODEL_COUNT:
        break;
    }
    return e->sign * d *
           sin(2 * acos(-1) * (work_ref_s + e->r2 * e->phase_ref_s) / e->period_ref_s);
}

double evolution_estimate_ref_s(const struct evolution *e, double work_ref_s,
                                double noise)
{
    return fmax(e->limit_ref_s + deviation(e, work_ref_s) +
                    noise * e->noise_ratio * e->amplitude_ref_s,
                e->floor_factor * work_ref_s);
}

double evolution_report_ref_s(const struct evolution *e, double work_ref_s,
                              struct rng *rng)
{
    return evolution_estimate_ref_s(e, work_ref_s, 2 * rng_uniform(rng) - 1);
}

double evolution_progress_pct(double work_ref_s, double estimate_ref_s)
{
    return fmin(100, 100 * work_ref_s / estimate_ref_s);
}
