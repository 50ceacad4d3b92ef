/* simulation/presets.c - the scenarios of published experiments.
 *
 * Source: spec simulator.md 14; fault-tolerance.md 9; 000_168dd5aef5075332 (T) 3 and 4.
 * Deviation: what the sources leave open is the spec's choice, and marked there.
 */
#include "algorithms/simulation/simulation.h"
#include "algorithms/simulation/workload.h"

#include <math.h>
#include <string.h>

#define DAY_S    86400.0
#define HOUR_S   3600.0
#define MINUTE_S 60.0

enum { CH4_SITES = 4, CH4_RESOURCES = 32 };

/* Row of table 3.1: name, longest time up, longest time down, minutes. */
#define CH3_ROWS(X)   \
    X("100", 500, 40) \
    X("95", 400, 60)  \
    X("80", 300, 100) \
    X("70", 300, 150) \
    X("60", 300, 200) \
    X("50", 200, 200) \
    X("30", 200, 280) \
    X("20", 200, 350) \
    X("15", 100, 350) \
    X("10", 50, 350)  \
    X("5", 20, 350)

/* Time up and repair of each site of chapter 4, hours: name and purpose; workload;
 * seconds between failures and of repairs by site. */
struct ch4 {
    const char *name, *workload;
    double up_h[CH4_SITES], repair_h[CH4_SITES];
};

static const struct ch4 ch4_presets[] = {
    {"ch4_checkpoint", "ch4_checkpoint", {6, 48, 168, 504}, {0.75, 6, 18, 40}},
    {"ch4_checkpoint_stress",
     "ch4_checkpoint_stress",
     {3, 8, 48, 336},
     {0.33, 0.85, 5, 36}},
};

/* ch4_{high,low}_{daily_,}PERCENT: up = repair * A / (1 - A). */
static const double ch4_repair_h[CH4_SITES] = {0.5, 2, 8, 24};

#define CH3(row, up, down)                                                    \
    {"ch3_desktop_short_" row, "Desktop grid, jobs of 10 min, row " row},     \
        {"ch3_desktop_medium_" row, "Desktop grid, jobs of 1.5 h, row " row}, \
        {"ch3_desktop_long_" row, "Desktop grid, jobs of 3.5 h, row " row},   \
        {"ch3_tornado_" row, "Batches of short jobs on 41 machines, row " row},
#define CH4(percent)                                                                 \
    {"ch4_high_" percent, "Replication under high load, available " percent " %"},   \
        {"ch4_high_daily_" percent, "The same, exactly 7000 jobs"},                  \
        {"ch4_low_" percent, "Replication under low load, available " percent " %"}, \
        {"ch4_low_daily_" percent, "The same, exactly 700 jobs"},

/* clang-format off */
const struct sim_preset sim_presets[] = {
    CH3_ROWS(CH3)
    {"ch4_checkpoint", "Checkpointing on 128 resources of 4 sites"},
    {"ch4_checkpoint_stress", "The same with more failures and longer checkpoints"},
    CH4("70") CH4("80") CH4("90") CH4("95")
    {0},
};
/* clang-format on */

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static enum error_code load_workload(const char *name, struct sim_scenario *out,
                                     struct arena *a, struct error *err)
{
    struct workload *w = NEW(a, struct workload, 1);

    TRY(workload_from_preset(name, w, a, err));
    TRY(workload_prepare(w, "/workload", a, err));
    out->workload = w;
    return OK;
}

static void fixed_network(struct sim_scenario *s, double latency_s)
{
    s->network.mode = SIM_NETWORK_FIXED;
    s->network.bandwidth_mbps = 100;
    s->network.latency_s = latency_s;
}

static struct distribution mean_of(enum distribution_kind kind, double mean, double shape)
{
    struct distribution d = distribution_blank(kind);

    d.mean = mean;
    if (kind == DISTRIBUTION_WEIBULL)
        d.shape = shape;
    else
        d.sigma = shape;
    return d;
}

/* ---- chapter 3: machines of owners ---- */

static bool find_row(const char *name, double *up_min, double *down_min)
{
    static const struct {
        const char *name;
        double up_min, down_min;
    } rows[] = {
#define X(row, up, down) {row, up, down},
        CH3_ROWS(X)
#undef X
    };
    const char *row = strrchr(name, '_') + 1;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].name, row) == 0) {
            *up_min = rows[i].up_min;
            *down_min = rows[i].down_min;
            return true;
        }
    }
    return false;
}

static enum error_code load_ch3(const char *name, struct sim_scenario *out,
                                struct arena *a, struct error *err)
{
    bool is_desktop = starts_with(name, "ch3_desktop_");
    const char **sites = NEW(a, const char *, 1);
    struct sim_group *g = NEW(a, struct sim_group, 1);
    size_t length = (size_t)(strrchr(name, '_') - name);
    const char *workload = arena_text(a, name, length);
    double up_min = 0, down_min = 0;

    if (!find_row(name, &up_min, &down_min))
        return fail(err, ERR_NOT_FOUND, "", "no preset '%s'", name);
    sites[0] = is_desktop ? "desktop" : "tornado";
    *g = (struct sim_group){
        .id = "cr",
        .count = is_desktop ? 10 : 41,
        .first_number = 1,
        .mips_total = distribution_constant(is_desktop ? 1 : 2),
        .n_max = is_desktop ? 1 : 2,
        .fails = true,
        .failure = distribution_uniform(MINUTE_S, MINUTE_S * up_min),
        .restore = distribution_uniform(MINUTE_S, MINUTE_S * down_min),
        .failure_group = SIM_NO_FAILURE_GROUP,
    };
    *out = sim_scenario_preset();
    out->sites = sites;
    out->site_count = 1;
    out->groups = g;
    out->group_count = 1;
    out->stop_time_s = 35 * DAY_S;
    fixed_network(out, 0.01);
    return load_workload(is_desktop ? workload : "ch3_tornado", out, a, err);
}

/* ---- chapter 4: four sites ---- */

static enum error_code load_ch4(const struct ch4 *preset, struct sim_scenario *out,
                                struct arena *a, struct error *err)
{
    static const char *const sites[CH4_SITES] = {"s1", "s2", "s3", "s4"};
    struct sim_group *groups = NEW(a, struct sim_group, CH4_SITES);

    for (size_t i = 0; i < CH4_SITES; i++)
        groups[i] = (struct sim_group){
            .id = "cr",
            .count = CH4_RESOURCES,
            .first_number = i * CH4_RESOURCES + 1,
            .site = i,
            .mips_total = distribution_constant(1),
            .n_max = 2,
            .fails = true,
            .failure = mean_of(DISTRIBUTION_WEIBULL, HOUR_S * preset->up_h[i], 0.7),
            .restore = mean_of(DISTRIBUTION_LOGNORMAL, HOUR_S * preset->repair_h[i], 1),
            .failure_group = SIM_NO_FAILURE_GROUP,
        };
    *out = sim_scenario_preset();
    out->sites = sites;
    out->site_count = CH4_SITES;
    out->groups = groups;
    out->group_count = CH4_SITES;
    out->initial_state = SIM_INITIAL_STATIONARY;
    out->is_interval_s = 300;
    out->scheduler_interval_s = 600;
    out->detection = SIM_DETECTION_POLL;
    out->stop_time_s = 7 * DAY_S;
    fixed_network(out, 0.012);
    return load_workload(preset->workload, out, a, err);
}

static enum error_code load_ch4_load(const char *name, struct sim_scenario *out,
                                     struct arena *a, struct error *err)
{
    size_t length = (size_t)(strrchr(name, '_') - name);
    struct ch4 preset = {.name = name, .workload = arena_text(a, name, length)};
    const char *digits = strrchr(name, '_') + 1;
    double up = 0.1 * (digits[0] - '0') + 0.01 * (digits[1] - '0');

    for (size_t i = 0; i < CH4_SITES; i++) {
        preset.repair_h[i] = ch4_repair_h[i];
        preset.up_h[i] = ch4_repair_h[i] * up / (1 - up);
    }
    return load_ch4(&preset, out, a, err);
}

enum error_code sim_preset_load(const char *name, struct sim_scenario *out,
                                struct arena *a, struct error *err)
{
    struct sim_scenario s = {0};
    const struct sim_preset *p = sim_presets;

    while (p->name && strcmp(p->name, name) != 0)
        p++;
    if (!p->name)
        return fail(err, ERR_NOT_FOUND, "", "no preset '%s'", name);
    if (starts_with(name, "ch3_"))
        TRY(load_ch3(name, &s, a, err));
    else if (strcmp(name, ch4_presets[0].name) == 0)
        TRY(load_ch4(&ch4_presets[0], &s, a, err));
    else if (strcmp(name, ch4_presets[1].name) == 0)
        TRY(load_ch4(&ch4_presets[1], &s, a, err));
    else
        TRY(load_ch4_load(name, &s, a, err));
    TRY(sim_scenario_prepare(&s, "", a, err));
    *out = s;
    return OK;
}
