/* machine_priors.c - machines of which a model has seen no run.
 *
 * Types of machines have effects on ln(time), learnt over all applications. A resource
 * whose type has none gets one from its benchmarks: B is the mean logarithm of the
 * benchmarks that it and all known types of the snapshot have, and effects go with B by a
 * line. Without benchmarks, but with speeds that differ, B is -ln(mips_total).
 *
 * A type of which only the errors of what ran there tell has an effect that joins them
 * and the benchmarks.
 *
 * Source: learning.md 6. Ours: known types are those of the snapshot, which is where
 * benchmarks come from.
 * Cost: O(unseen types x known types x benchmarks).
 */
#include "handlers/placement/machine_priors.h"

#include "models/base/names.h"
#include "models/ensemble/machine_effect.h"

#include <math.h>
#include <string.h>

#define SCALE_BENCHMARKS 0.15
#define SCALE_NOTHING    0.35

/* A type of machine. */
struct type {
    const struct resource *of; /* the first of it */
    double effect;             /* NAN: not known */
    double lone, lone_runs;    /* by errors of so many runs; 0: there are none */
};

struct types {
    struct type *list;
    size_t count;
    struct budget *budget;
    double *mean_log, *effect; /* room, of the known ones */
};

static struct type type_of_machine(const struct resource *r,
                                   const struct fitted_effect *effects, size_t count)
{
    double key = ensemble_text(r->resource_class);
    struct type out = {r, (double)NAN, 0, 0};
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (effects[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count || effects[low].key > key)
        return out;
    out.lone_runs = effects[low].lone_runs;
    if (out.lone_runs > 0)
        out.lone = effects[low].effect;
    else
        out.effect = effects[low].effect;
    return out;
}

/* Seconds of a benchmark; 0: not measured. */
static double measured(const struct resource *r, const char *name)
{
    for (size_t i = 0; i < r->benchmark_count; i++)
        if (strcmp(r->benchmarks[i].name, name) == 0)
            return r->benchmarks[i].number;
    return 0;
}

static bool is_known(const struct type *t)
{
    return !isnan(t->effect);
}

/* Whether it and all known types that were measured have a benchmark. */
static bool is_common(const struct types *types, const char *name)
{
    for (size_t i = 0; i < types->count; i++) {
        const struct type *t = &types->list[i];

        budget_step(types->budget, 1 + t->of->benchmark_count);
        if (is_known(t) && t->of->benchmark_count > 0 && !(measured(t->of, name) > 0))
            return false;
    }
    return true;
}

/* Sums of logarithms of what is common go to mean_log; how many benchmarks that are. */
static size_t add_benchmarks(struct types *types, const struct resource *unseen,
                             double *own, size_t *known)
{
    size_t names = 0;

    *own = 0;
    *known = 0;
    for (size_t i = 0; i < types->count; i++) {
        const struct type *t = &types->list[i];

        if (!is_known(t) || t->of->benchmark_count == 0)
            continue;
        types->mean_log[*known] = 0;
        types->effect[(*known)++] = t->effect;
    }
    for (size_t b = 0; b < unseen->benchmark_count; b++) {
        const struct named_value *value = &unseen->benchmarks[b];
        size_t at = 0;

        if (!(value->number > 0) || !is_common(types, value->name))
            continue;
        names++;
        *own += log(value->number);
        for (size_t i = 0; i < types->count; i++) {
            const struct type *t = &types->list[i];

            budget_step(types->budget, 1 + t->of->benchmark_count);
            if (is_known(t) && t->of->benchmark_count > 0)
                types->mean_log[at++] += log(measured(t->of, value->name));
        }
    }
    return names;
}

/* -ln of the speeds instead; false: they say nothing. */
static bool add_speeds(struct types *types, const struct resource *unseen, double *own,
                       size_t *known)
{
    bool differ = false;

    *known = 0;
    if (!(unseen->mips_total > 0))
        return false;
    *own = -log(unseen->mips_total);
    for (size_t i = 0; i < types->count; i++) {
        const struct type *t = &types->list[i];

        budget_step(types->budget, 1);
        if (!is_known(t) || !(t->of->mips_total > 0))
            continue;
        types->mean_log[*known] = -log(t->of->mips_total);
        differ = differ || t->of->mips_total < unseen->mips_total ||
                 t->of->mips_total > unseen->mips_total;
        types->effect[(*known)++] = t->effect;
    }
    return differ && *known > 0;
}

static struct machine_prior prior_of(struct types *types, const struct type *type)
{
    const struct resource *unseen = type->of;
    struct machine_prior out = {0, SCALE_NOTHING, type->lone_runs};
    size_t known, names;
    double own, prior = (double)NAN;

    names = add_benchmarks(types, unseen, &own, &known);
    if (names > 0 && known > 0) {
        for (size_t i = 0; i < known; i++)
            types->mean_log[i] /= (double)names;
        prior = machine_effect_by_benchmark(types->mean_log, types->effect, known,
                                            own / (double)names, NULL);
        out.scale_least = SCALE_BENCHMARKS;
    } else if (add_speeds(types, unseen, &own, &known)) {
        prior =
            machine_effect_by_benchmark(types->mean_log, types->effect, known, own, NULL);
    }
    /* What few runs say is in the model's own effects already. */
    if (!isnan(prior))
        out.effect =
            machine_effect_with_prior(prior, type->lone, type->lone_runs) - type->lone;
    return out;
}

void machine_priors(const struct snapshot *s, const struct fitted_effect *effects,
                    size_t effect_count, struct budget *budget, struct machine_prior *out,
                    struct arena *a)
{
    struct machine_prior *of_type = NEW(a, struct machine_prior, s->resource_count);
    size_t *type_of = NEW(a, size_t, s->resource_count);
    struct types types = {.list = NEW(a, struct type, s->resource_count),
                          .budget = budget,
                          .mean_log = NEW(a, double, s->resource_count),
                          .effect = NEW(a, double, s->resource_count)};
    struct name_index index;

    name_index_create(&index, s->resource_count, a);
    for (size_t i = 0; i < s->resource_count; i++) {
        const struct resource *r = &s->resources[i];

        budget_step(budget, 8);
        out[i] = (struct machine_prior){(double)NAN, 0, 0};
        if (!r->resource_class || effect_count == 0)
            continue;
        type_of[i] = name_index_add(&index, r->resource_class, types.count);
        if (type_of[i] != NAME_NOT_FOUND)
            continue;
        type_of[i] = types.count;
        types.list[types.count++] = type_of_machine(r, effects, effect_count);
    }
    for (size_t t = 0; t < types.count; t++)
        of_type[t] = is_known(&types.list[t]) ? (struct machine_prior){(double)NAN, 0, 0}
                                              : prior_of(&types, &types.list[t]);
    for (size_t i = 0; i < s->resource_count && types.count > 0; i++)
        if (s->resources[i].resource_class)
            out[i] = of_type[type_of[i]];
}

struct fitted_interval machine_prior_interval(const struct machine_prior *prior,
                                              const struct fitted_interval *interval)
{
    struct fitted_interval out = *interval;

    out.scale_least = prior->runs < FITTED_LONE_RUNS ? prior->scale_least : 0;
    return out;
}

void machine_prior_apply(const struct machine_prior *prior, struct fitted_prediction *p)
{
    if (isnan(prior->effect) || p->reason)
        return;
    p->time_s *= exp(prior->effect);
    p->low_s *= exp(prior->effect);
    p->high_s *= exp(prior->effect);
    if (prior->runs < FITTED_LONE_RUNS)
        p->own_basis = FITTED_MACHINE_PRIOR;
}
