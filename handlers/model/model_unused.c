/* model_unused.c - settings of a model that its kind does not look at. */
#include "handlers/model/model_json.h"

#include <math.h>
#include <string.h>

/* What a kind, with its other settings, looks at. */
enum look {
    LOOK_COMPREHENSIVE = 1,
    LOOK_SEARCH = 2, /* ... that searches: more than one processor at least */
    LOOK_PRUNED = 4, /* ... in a search that is pruned */
    LOOK_PRELIMINARY = 8,
    LOOK_POWER_LAW = 16,
    LOOK_ROBUST = 32
};

static unsigned looks_of(enum model_kind kind, const struct model_settings *s)
{
    unsigned looks = s->profile == PERF_ROBUST ? LOOK_ROBUST : 0;

    if (kind == MODEL_PRELIMINARY)
        looks |= LOOK_PRELIMINARY;
    if (kind == MODEL_POWER_LAW)
        looks |= LOOK_POWER_LAW;
    if (kind != MODEL_COMPREHENSIVE)
        return looks;
    looks |= LOOK_COMPREHENSIVE;
    if (s->min_processors > 1)
        looks |= s->search == 1 ? LOOK_SEARCH | LOOK_PRUNED : LOOK_SEARCH;
    return looks;
}

/* A number that is its preset changes nothing. */
static bool is_set(const char *name, double value)
{
    for (const struct json_field *row = model_settings_json.fields; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return value != row->preset;
    return false;
}

static bool has_robustness(const struct drift_rule *r)
{
    const struct drift_rule *preset = &drift_rule_preset;

    return r->cusum_slack != preset->cusum_slack ||
           r->cusum_limit != preset->cusum_limit ||
           r->error_clamp != preset->error_clamp ||
           r->scale_floor != preset->scale_floor ||
           r->outlier_ratio != preset->outlier_ratio ||
           r->window_runs != preset->window_runs;
}

void model_unused_settings(enum model_kind kind, const struct model_settings *s,
                           const char *at, const char **warning, struct arena *a)
{
    const struct {
        const char *name;
        unsigned used_by;
        bool given;
    } settings[] = {
        {"search", LOOK_SEARCH, is_set("search", s->search)},
        {"selection_metric", LOOK_COMPREHENSIVE,
         is_set("selection_metric", s->selection_metric)},
        {"threshold_factor", LOOK_PRUNED,
         is_set("threshold_factor", s->threshold_factor)},
        {"seed", LOOK_PRUNED, is_set("seed", (double)s->seed)},
        {"extended_functions", LOOK_COMPREHENSIVE, s->extended_functions},
        {"replace_on_reform", LOOK_COMPREHENSIVE, s->replace_on_reform},
        {"min_processors", LOOK_COMPREHENSIVE,
         is_set("min_processors", (double)s->min_processors)},
        {"comp_degree", LOOK_PRELIMINARY, is_set("comp_degree", (double)s->comp_degree)},
        {"comm_degree", LOOK_PRELIMINARY, is_set("comm_degree", (double)s->comm_degree)},
        {"min_input", LOOK_POWER_LAW, !isnan(s->min_input)},
        {"robustness", LOOK_ROBUST, has_robustness(&s->robustness)},
        {"since", LOOK_ROBUST, !isnan(s->since_s)},
        {"window_s", LOOK_ROBUST, s->window_s > 0},
    };
    unsigned looks = looks_of(kind, s);
    const char *names = "";
    size_t count = 0;

    *warning = NULL;
    for (size_t k = 0; k < sizeof(settings) / sizeof(*settings); k++) {
        if (!settings[k].given || settings[k].used_by & looks)
            continue;
        names = arena_printf(a, "%s%s%s/%s", names, count++ ? ", " : "", at,
                             settings[k].name);
    }
    if (count == 0)
        return;
    *warning = arena_printf(a,
                            "ignored: %zu setting%s (%s): a model of the kind %s does "
                            "not look at %s with these settings",
                            count, count == 1 ? "" : "s", names, model_kind_names[kind],
                            count == 1 ? "it" : "them");
}
