/* progress/options.c - options of a prediction from progress reports.
 *
 * Source of the presets: spec runtime-prediction.md 2, 4.4, 5, 6, 11; workflows.md 6.3.
 */
#include "models/progress/progress.h"

#include <assert.h>

enum {
    METHOD,
    MIN_SAMPLES,
    K_MIN,
    K_MAX,
    MAX_FACTOR,
    ABSCISSA,
    SMOOTHING,
    WINDOW,
    MAX_POINTS,
    STRICT_SEED,
    INTERVAL,
    REMAINING_RULE,
    ESTIMATE_FILTER,
    FILTER_WINDOW,
    SCREEN,
};

const char *const progress_method_names[] = {
#define X(symbol, name, purpose, source) #name,
    PROGRESS_METHODS(X)
#undef X
        NULL};
static const char *const abscissas[] = {"auto", "elapsed_s", "work_ref_s", NULL};
static const char *const smoothings[] = {"none", "median", "mean", NULL};
static const char *const intervals[] = {"calibrated", "spec", "none", "steady", NULL};
static const char *const rules[] = {"work", "pct", NULL};
static const char *const filters[] = {"none", "average", "auto", NULL};

const struct policy progress_policies[] = {
#define X(symbol, method, does, described) \
    {.name = #method, .purpose = does, described, .params = progress_params},
    PROGRESS_METHODS(X)
#undef X
        {0},
};

const struct param progress_params[] = {
    [METHOD] =
        {"method", 0, 1, PROGRESS_VARPRO,
         "varpro: separable least squares within bounds; simplex: Nelder-Mead, the "
         "source's; default varpro",
         PARAM_CHOICE, progress_method_names},
    [MIN_SAMPLES] = {"min_samples", 2, 10000, 8,
                     "With fewer reports the last extrapolation answers; 20 suits "
                     "estimates that oscillate; default 8",
                     PARAM_INTEGER, NULL},
    [K_MIN] = {"k_min", 1e-3, 1e6, 0.5,
               "Least decay over the range of the reports: below, a limit would be made "
               "up; default 0.5",
               PARAM_NUMBER, NULL},
    [K_MAX] = {"k_max", 1e-3, 1e6, 50, "Greatest decay over that range; default 50",
               PARAM_NUMBER, NULL},
    [MAX_FACTOR] = {"max_factor", 1, 1e6, 2,
                    "A limit above this times the greatest estimate is not believed; "
                    "default 2",
                    PARAM_NUMBER, NULL},
    [ABSCISSA] = {"abscissa", 0, 2, PROGRESS_AUTO,
                  "What estimates are fitted over; auto: the work done if every report "
                  "has it, else elapsed_s; default auto",
                  PARAM_CHOICE, abscissas},
    [SMOOTHING] = {"smoothing", 0, 2, PROGRESS_AS_IS,
                   "Of the estimates before the fit: none, median or mean; default none",
                   PARAM_CHOICE, smoothings},
    [WINDOW] = {"window", 1, 99, 5, "Points that are smoothed over, odd; default 5",
                PARAM_INTEGER, NULL},
    [MAX_POINTS] = {"max_points", 8, 5000, 500,
                    "Of more reports older ones are left out; default 500", PARAM_INTEGER,
                    NULL},
    [STRICT_SEED] =
        {"strict_seed", 0, 1, 0,
         "As the source: simplex, from 2 reports on, any limit; default false",
         PARAM_BOOLEAN, NULL},
    [INTERVAL] =
        {"interval", 0, 3, PROGRESS_STEADY,
         "steady: by the fit, the last report, and what fewer reports would have "
         "said; calibrated: by all limits that fit nearly as well; spec: by the "
         "curvature of the fit; none; default steady",
         PARAM_CHOICE, intervals},
    [REMAINING_RULE] = {"remaining_rule", 0, 1, PROGRESS_RULE_WORK,
                        "work: estimate less work done; pct: estimate (1 - progress), "
                        "the source's; default work",
                        PARAM_CHOICE, rules},
    [ESTIMATE_FILTER] = {"estimate_filter", 0, 2, PROGRESS_FILTER_NONE,
                         "Where an extrapolation answers, the mean of all stands in for "
                         "the last one: none, average (always) or auto (when they "
                         "oscillate); default none",
                         PARAM_CHOICE, filters},
    [FILTER_WINDOW] = {"filter_window", 5, 1000, 8,
                       "Last reports in which oscillation is looked for; default 8",
                       PARAM_INTEGER, NULL},
    [SCREEN] = {"screen", 0, 1, 1,
                "Leave out single reports that cannot be true beside their neighbours; "
                "default true",
                PARAM_BOOLEAN, NULL},
    {0},
};
static_assert(sizeof(progress_params) / sizeof(progress_params[0]) ==
                  PROGRESS_OPTION_COUNT + 1,
              "a row for each option");

static struct progress_options options_of(const double *value)
{
    return (struct progress_options){
        .method = (enum progress_method)value[METHOD],
        .min_samples = (size_t)value[MIN_SAMPLES],
        .k_min = value[K_MIN],
        .k_max = value[K_MAX],
        .max_factor = value[MAX_FACTOR],
        .abscissa = (enum progress_abscissa)value[ABSCISSA],
        .smoothing = (enum progress_smoothing)value[SMOOTHING],
        .window = (size_t)value[WINDOW],
        .max_points = (size_t)value[MAX_POINTS],
        .strict_seed = value[STRICT_SEED] != 0,
        .interval = (enum progress_interval_rule)value[INTERVAL],
        .remaining_rule = (enum progress_rule)value[REMAINING_RULE],
        .estimate_filter = (enum progress_filter)value[ESTIMATE_FILTER],
        .filter_window = (size_t)value[FILTER_WINDOW],
        .screen = value[SCREEN] != 0,
    };
}

struct progress_options progress_options_init(void)
{
    double value[PROGRESS_OPTION_COUNT];

    for (size_t i = 0; i < PROGRESS_OPTION_COUNT; i++)
        value[i] = progress_params[i].preset;
    return options_of(value);
}

enum error_code progress_options_bind(const double *value, struct progress_options *out,
                                      struct error *err)
{
    enum error_code code = OK;

    if ((size_t)value[WINDOW] % 2 == 0)
        code = invalid(err, "/options/window", ITEM_OUT_OF_BOUNDS, "must be odd");
    if (!(value[K_MAX] > value[K_MIN]))
        code = invalid(err, "/options/k_max", ITEM_OUT_OF_BOUNDS, "must be above k_min");
    if (code == OK)
        *out = options_of(value);
    return code;
}
