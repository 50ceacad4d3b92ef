/* performance/predict.c - the time of a run by a set.
 *
 * Deviation: the source takes the best of its list whatever it says. We skip what
 * gives no positive time, fall back to coefficients that cannot be negative, and
 * answer far queries by the median of the best five where the best stands apart
 * (spec 9 and 22, improvement 6; a size below half the least seen counts as far too).
 */
#include "models/performance/performance.h"

#include "models/performance/source.h"

#include <math.h>

enum {
    GUARD_BEST = 5,
    FALLBACK_TRIES = 20, /* combinations refitted before there is no answer */
};
static const double GUARD_FACTOR = 3;
static const double FAR_FACTOR = 2;

enum {
    FAR_WARNINGS = PERF_WARN_SIZE_FAR | PERF_WARN_PROCESSORS_FAR | PERF_WARN_CPU_BELOW |
                   PERF_WARN_BANDWIDTH_BELOW
};

/* ---- which list answers ---- */

struct perf_source perf_source_own(const struct perf_model_set *set, bool single)
{
    bool own_single = single && set->single.count > 0;
    const struct perf_list *list = own_single ? &set->single : &set->sorted;

    return (struct perf_source){
        .items = list->items,
        .count = list->count,
        .cpu_factor = 1,
        .bandwidth_factor = 1,
        .method = set->reference ? PERF_REFIT : PERF_NATIVE,
        .seen = own_single ? &set->single_seen : &set->parallel_seen,
        .single_list = own_single,
    };
}

struct perf_source perf_source_scaled(const struct perf_model_set *set, bool single)
{
    const struct perf_reference *r = set->reference;
    bool own_single = single && r->single.count > 0;

    return (struct perf_source){
        .items = own_single ? r->single.items : &r->top,
        .count = own_single ? r->single.count : 1,
        .cpu_factor = r->cpu_factor,
        .bandwidth_factor = r->bandwidth_factor,
        .method = PERF_SCALED,
        .seen = own_single ? &r->single_seen : &r->parallel_seen,
        .single_list = own_single,
    };
}

bool perf_source_admissible(const struct perf_source *own, bool single)
{
    const struct perf_seen *seen = own->seen;

    return own->count > 0 && isfinite(own->items[0].standard_error) &&
           own->items[0].sample_count > perf_term_count(&own->items[0]) + 2 &&
           (single || seen->processors.low < seen->processors.high);
}

static double mean_of(const struct perf_recent *recent)
{
    double sum = 0;

    for (size_t i = 0; i < recent->count; i++)
        sum += recent->ppe_ratio[i];
    return recent->count > 0 ? sum / (double)recent->count : HUGE_VAL;
}

struct perf_source perf_source_of(const struct perf_model_set *set, bool single)
{
    struct perf_source own = perf_source_own(set, single);
    const struct perf_reference *r = set->reference;

    if (!r)
        return own;
    if (r->refit.count > 0 && perf_source_admissible(&own, single) &&
        mean_of(&r->refit) <= mean_of(&r->scaled))
        return own;
    return perf_source_scaled(set, single);
}

/* ---- one answer ---- */

static void no_answer(enum perf_status status, struct perf_prediction *out)
{
    double none = (double)NAN;

    *out = (struct perf_prediction){.status = status,
                                    .time_s = none,
                                    .computation_s = none,
                                    .communication_s = none,
                                    .problem_size_ratio = none,
                                    .processors_ratio = none,
                                    .head_time_s = none};
}

/* CPU and bandwidth that are nearly nothing count as a little. */
static struct perf_query raised(const struct perf_query *query, unsigned *warnings)
{
    struct perf_query q = *query;

    if (q.cpu_available_ratio < PERF_CPU_LEAST_RATIO) {
        q.cpu_available_ratio = PERF_CPU_LEAST_RATIO;
        *warnings |= PERF_WARN_CPU_RAISED;
    }
    if (q.processors >= 2 && q.bandwidth_mbps < PERF_BW_LEAST_MBPS) {
        q.bandwidth_mbps = PERF_BW_LEAST_MBPS;
        *warnings |= PERF_WARN_BANDWIDTH_RAISED;
    }
    return q;
}

static unsigned far_warnings(const struct perf_seen *seen, const struct perf_query *q)
{
    unsigned warnings = 0;

    if (q->problem_size > FAR_FACTOR * seen->problem_size.high ||
        q->problem_size < seen->problem_size.low / FAR_FACTOR)
        warnings |= PERF_WARN_SIZE_FAR;
    if (q->processors > FAR_FACTOR * seen->processors.high)
        warnings |= PERF_WARN_PROCESSORS_FAR;
    if (q->cpu_available_ratio < seen->cpu_available_ratio.low)
        warnings |= PERF_WARN_CPU_BELOW;
    if (q->processors >= 2 && q->bandwidth_mbps < seen->bandwidth_mbps.low)
        warnings |= PERF_WARN_BANDWIDTH_BELOW;
    if (seen->sample_count > 0 && seen->sample_count < PERF_TRAINED_SAMPLES)
        warnings |= PERF_WARN_FEW_SAMPLES;
    return warnings;
}

struct answer {
    const struct perf_combination *combination;
    double time_s, computation_s, communication_s;
    size_t rank;
};

static bool positive(double time_s)
{
    return isfinite(time_s) && time_s > 0;
}

static bool evaluate(const struct perf_source *source, const struct perf_combination *c,
                     const struct perf_query *q, struct answer *out)
{
    struct perf_term term = perf_combination_term(c, q->problem_size, source->cpu_factor,
                                                  source->bandwidth_factor);

    *out = (struct answer){.combination = c};
    if (q->processors < 2)
        out->computation_s = term.comp_s / q->cpu_available_ratio;
    else
        perf_term_parts(&term, q->processors, q->cpu_available_ratio, q->bandwidth_mbps,
                        &out->computation_s, &out->communication_s);
    out->time_s = out->computation_s + out->communication_s;
    return positive(out->time_s);
}

/* The next usable combination from *next on; false: no more. */
static bool next_usable(const struct perf_source *source, const struct perf_query *q,
                        size_t *next, struct answer *out)
{
    while (*next < source->count) {
        const struct perf_combination *c = &source->items[(*next)++];

        if (!isfinite(c->standard_error) ||
            !perf_combination_takes(c, q->problem_size, q->processors, q->bandwidth_mbps))
            continue;
        if (evaluate(source, c, q, out)) {
            out->rank = *next;
            return true;
        }
    }
    return false;
}

/* The first combination whose nonnegative fit has a time. */
static bool fall_back(const struct perf_source *source, const struct perf_query *q,
                      struct answer *out)
{
    for (size_t i = 0; i < source->count && i < FALLBACK_TRIES; i++) {
        struct perf_combination c = source->items[i];

        if (!perf_combination_takes(&c, q->problem_size, q->processors,
                                    q->bandwidth_mbps) ||
            c.refused_count > 0 || !perf_combination_solve_nonnegative(&c) ||
            !evaluate(source, &c, q, out))
            continue;
        out->combination = &source->items[i];
        out->rank = i + 1;
        return true;
    }
    return false;
}

/* A combination given alone has no other to step in: its bandwidth is raised. */
static bool raise_alone(const struct perf_source *source, const struct perf_query *q,
                        struct answer *out)
{
    out->rank = 1;
    return source->count == 1 && q->problem_size > 1 && q->processors >= 2 &&
           !(q->bandwidth_mbps > 1) && isfinite(source->items[0].standard_error) &&
           evaluate(source, &source->items[0], q, out);
}

/* The median of the best few, when the best is far from it. */
static void guard_answer(const struct perf_source *source, const struct perf_query *q,
                         size_t next, struct answer *head, struct perf_prediction *out)
{
    struct answer best[GUARD_BEST] = {*head}, middle;
    size_t count = 1;

    while (count < GUARD_BEST && next_usable(source, q, &next, &best[count])) {
        for (size_t i = count; i > 0 && best[i].time_s < best[i - 1].time_s; i--) {
            struct answer swap = best[i];

            best[i] = best[i - 1];
            best[i - 1] = swap;
        }
        count++;
    }
    middle = best[count / 2];
    if (count < 3 || (head->time_s <= GUARD_FACTOR * middle.time_s &&
                      middle.time_s <= GUARD_FACTOR * head->time_s))
        return;
    out->warnings |= PERF_WARN_GUARDED;
    *head = middle;
}

static bool find_answer(const struct perf_source *source, bool guard,
                        const struct perf_query *q, struct answer *answer,
                        struct perf_prediction *out)
{
    size_t next = 0;

    if (next_usable(source, q, &next, answer)) {
        out->head_time_s = answer->time_s;
        if (answer->rank > 1)
            out->warnings |= PERF_WARN_HEAD_SKIPPED;
        if (guard && (out->warnings & FAR_WARNINGS) != 0)
            guard_answer(source, q, next, answer, out);
        return true;
    }
    if (fall_back(source, q, answer)) {
        out->method = PERF_FALLBACK;
        out->warnings |= PERF_WARN_FELL_BACK;
    } else if (raise_alone(source, q, answer)) {
        out->warnings |= PERF_WARN_BANDWIDTH_RAISED;
    } else {
        return false;
    }
    out->head_time_s = answer->time_s;
    return true;
}

void perf_source_predict(const struct perf_source *source, bool guard,
                         const struct perf_query *query, struct perf_prediction *out)
{
    struct perf_query q;
    struct answer answer;

    no_answer(PERF_RESOURCE_UNUSABLE, out);
    if (!(query->cpu_available_ratio > 0) ||
        (query->processors >= 2 && !(query->bandwidth_mbps > 0)))
        return;
    out->method = source->method;
    q = raised(query, &out->warnings);
    out->warnings |= far_warnings(source->seen, &q);
    out->problem_size_ratio = q.problem_size / source->seen->problem_size.high;
    out->processors_ratio = q.processors / source->seen->processors.high;
    out->status = PERF_NO_USABLE_COMBINATION;
    if (!(q.problem_size > 0 && q.problem_size <= PERF_SIZE_MOST) ||
        !(q.processors >= 1 && q.processors <= PERF_PROCESSORS_MOST) ||
        !find_answer(source, guard, &q, &answer, out))
        return;
    out->status = PERF_READY;
    out->time_s = answer.time_s;
    out->computation_s = answer.computation_s;
    out->communication_s = answer.communication_s;
    out->combination = answer.combination;
    out->rank = source->method == PERF_SCALED && source->count == 1 ? 0 : answer.rank;
}

static bool below_least(const struct perf_model_set *set, double processors)
{
    return set->options.min_processors > 1 &&
           processors < (double)set->options.min_processors;
}

void perf_predict(const struct perf_model_set *set, const struct perf_query *query,
                  struct perf_prediction *out)
{
    struct perf_source source;

    if (set->status != PERF_READY || below_least(set, query->processors)) {
        no_answer(set->status != PERF_READY ? set->status : PERF_BELOW_MIN_PROCESSORS,
                  out);
        return;
    }
    source = perf_source_of(set, query->processors < 2);
    perf_source_predict(&source, set->options.guard, query, out);
}

/* ---- for schedulers ---- */

/* The first of a source with a finite work that is not negative on either side. */
static bool first_term(const struct perf_source *source, double problem_size,
                       struct perf_term *out)
{
    for (size_t i = 0; i < source->count; i++) {
        struct perf_term term =
            perf_combination_term(&source->items[i], problem_size, source->cpu_factor,
                                  source->bandwidth_factor);

        if (isfinite(source->items[i].standard_error) && isfinite(term.comp_s) &&
            isfinite(term.comm) && term.comp_s >= 0 && term.comm >= 0 &&
            term.comp_s + term.comm > 0) {
            *out = term;
            return true;
        }
    }
    return false;
}

enum perf_status perf_set_term(const struct perf_model_set *set, double problem_size,
                               struct perf_term *term, double *single_s)
{
    struct perf_source source;
    struct perf_term one;

    if (set->status != PERF_READY)
        return set->status;
    source = perf_source_of(set, false);
    if (!first_term(&source, problem_size, term))
        return PERF_NO_USABLE_COMBINATION;
    source = perf_source_of(set, true);
    *single_s = (double)NAN;
    if (source.single_list && first_term(&source, problem_size, &one) && one.comp_s > 0)
        *single_s = one.comp_s;
    return PERF_READY;
}

/* ---- several phases ---- */

enum perf_status perf_predict_phases(const struct perf_model_set *const *sets,
                                     const struct perf_query *queries, size_t count,
                                     const double *share, struct perf_prediction *phases,
                                     double *time_s)
{
    double known_s = 0, missing_share = 0;
    size_t missing = 0;

    *time_s = (double)NAN;
    for (size_t i = 0; i < count; i++) {
        if (sets[i])
            perf_predict(sets[i], &queries[i], &phases[i]);
        else
            no_answer(PERF_PHASE_MODEL_MISSING, &phases[i]);
        if (phases[i].status == PERF_READY) {
            known_s += phases[i].time_s;
            continue;
        }
        if (phases[i].status == PERF_RESOURCE_UNUSABLE)
            return PERF_RESOURCE_UNUSABLE;
        missing++;
        missing_share += share ? share[i] : 1;
    }
    if (missing == count || (missing > 0 && (!share || !(missing_share < 1))))
        return PERF_PHASE_MODEL_MISSING;
    *time_s = known_s / (1 - (missing > 0 ? missing_share : 0));
    return isfinite(*time_s) ? PERF_READY : PERF_NO_USABLE_COMBINATION;
}
