/* checkpoint/levels.c - checkpoints at several levels. */
#include "algorithms/checkpoint/levels.h"

#include "algorithms/checkpoint/finite_plan.h"
#include "algorithms/checkpoint/golden_section.h"

#include <assert.h>
#include <math.h>

/* A lower overhead counts if it is lower by this. */
#define OVERHEAD_GAIN 1e-12
#define TAU_WIDTH     1e-8

/* A job of so many segments takes its patterns' time, to as many digits. */
#define SEGMENTS_ONE_BY_ONE 1e6

/* ---- classes of failures ---- */

/* The levels that are used, with the failures of those that are not. */
struct classes {
    size_t count;
    double overhead_s[LEVELS_MAX], restart_s[LEVELS_MAX];
    double share[LEVELS_MAX]; /* of all failures; they add up to 1 */
    double mean_s, delay_s;
};

/* Share of the failures whose class is level l. */
static double share_of(const struct levels_job *job, size_t l)
{
    double below = l > 0 ? job->levels[l - 1].survives_ratio : 0;

    return fmax(0, job->levels[l].survives_ratio - below);
}

static void fold(const struct levels_job *job, const size_t *used, size_t count,
                 struct classes *out)
{
    size_t next = 0;

    *out =
        (struct classes){.count = count, .mean_s = job->mean_s, .delay_s = job->delay_s};
    for (size_t l = 0; l < job->level_count && next < count; l++) {
        out->share[next] += share_of(job, l);
        if (l == used[next]) {
            out->overhead_s[next] = job->levels[l].overhead_s;
            out->restart_s[next++] = job->levels[l].restart_s;
        }
    }
    assert(next == count);
}

/* ---- what a failure costs: time until an image is read, and from which level on the
 * work goes on. All parts add up to 1. ---- */

struct redo {
    double time_s;
    double part[LEVELS_MAX]; /* that goes on behind the last checkpoint >= level */
};

static void redo_of(const struct classes *x, const double *restart_s, struct redo *out)
{
    double time_s[LEVELS_MAX], part[LEVELS_MAX][LEVELS_MAX] = {{0}}, above = 0;

    *out = (struct redo){.time_s = x->delay_s};
    for (size_t l = x->count; l-- > 0;) {
        double stays = exp(-restart_s[l] / x->mean_s);
        double fails = -expm1(-restart_s[l] / x->mean_s);
        double norm = stays + fails * above; /* 1 less what comes back to this level */
        double sum_s = x->mean_s + x->delay_s;

        if (norm <= 0) { /* no restart ever ends */
            out->time_s = HUGE_VAL;
            return;
        }
        for (size_t k = l + 1; k < x->count; k++) {
            sum_s += x->share[k] * time_s[k];
            for (size_t j = k; j < x->count; j++)
                part[l][j] += fails * x->share[k] * part[k][j] / norm;
        }
        time_s[l] = fails * sum_s / norm;
        part[l][l] = stays / norm;
        out->time_s += x->share[l] * time_s[l];
        for (size_t k = l; k < x->count; k++)
            out->part[k] += x->share[l] * part[l][k];
        above += x->share[l];
    }
}

/* ---- time to the end, from behind ---- */

/* T_i = time_s + sum over levels of part * T of its last boundary <= i; done is what
 * is left of 1, the chance to get to the end without going back. */
struct rest {
    double time_s, done;
    double part[LEVELS_MAX];
};

/* One attempt of span_s before what is known. */
static void precede(const struct classes *x, const struct redo *redo, double span_s,
                    struct rest *rest)
{
    double fails = -expm1(-span_s / x->mean_s), stays = exp(-span_s / x->mean_s);

    rest->time_s = fails * (x->mean_s + redo->time_s) + stays * rest->time_s;
    rest->done *= stays;
    for (size_t k = 0; k < x->count; k++)
        rest->part[k] = fails * redo->part[k] + stays * rest->part[k];
}

/* The boundary itself has a checkpoint of the level `top`: what leads back to it is
 * taken out. */
static void settle(const struct classes *x, size_t top, struct rest *rest)
{
    double norm = rest->done;

    for (size_t k = top + 1; k < x->count; k++)
        norm += rest->part[k];
    if (norm <= 0) {
        rest->time_s = HUGE_VAL;
        return;
    }
    rest->time_s /= norm;
    rest->done /= norm;
    for (size_t k = 0; k < x->count; k++)
        rest->part[k] = k <= top ? 0 : rest->part[k] / norm;
}

/* The highest level that is due at boundary i > 0. */
static size_t level_at(const struct levels_pattern *pattern, double i)
{
    size_t l = pattern->level_count - 1;

    while (l > 0 && fmod(i, pattern->every[l]) > 0)
        l--;
    return l;
}

/* From the start, where every failure leads back to it. */
static double whole_s(const struct rest *rest)
{
    double time_s = rest->done > 0 ? rest->time_s / rest->done : HUGE_VAL;

    return isfinite(time_s) ? time_s : HUGE_VAL;
}

static double pattern_of(const struct classes *x, const struct levels_pattern *pattern)
{
    double segments = pattern->every[pattern->level_count - 1];
    struct rest rest = {.done = 1};
    struct redo redo;

    redo_of(x, x->restart_s, &redo);
    for (double i = segments; i > 0; i--) {
        size_t top = level_at(pattern, i);

        if (i < segments)
            settle(x, top, &rest);
        precede(x, &redo, pattern->segment_s + x->overhead_s[top], &rest);
    }
    return whole_s(&rest);
}

double levels_pattern_s(const struct levels_job *job,
                        const struct levels_pattern *pattern)
{
    struct classes x;

    fold(job, pattern->levels, pattern->level_count, &x);
    return pattern_of(&x, pattern);
}

double levels_checkpoints(const struct levels_pattern *pattern, double work_s)
{
    return finite_checkpoints_of_interval(work_s, pattern->segment_s);
}

double levels_expected_s(const struct levels_job *job,
                         const struct levels_pattern *pattern, double work_s,
                         double scratch_s)
{
    double checkpoints = levels_checkpoints(pattern, work_s);
    double last_s = work_s - checkpoints * pattern->segment_s;
    struct redo redo[LEVELS_MAX + 1]; /* [k]: levels from k on have no image yet */
    struct rest rest = {.done = 1};
    struct classes x;

    fold(job, pattern->levels, pattern->level_count, &x);
    if (checkpoints >= SEGMENTS_ONE_BY_ONE)
        return work_s * (pattern_of(&x, pattern) /
                         (pattern->segment_s * pattern->every[x.count - 1]));
    for (size_t from = 0; from <= x.count; from++) {
        double restart_s[LEVELS_MAX];

        for (size_t k = 0; k < x.count; k++)
            restart_s[k] = k < from ? x.restart_s[k] : scratch_s;
        redo_of(&x, restart_s, &redo[from]);
    }
    for (double i = checkpoints + 1; i > 0; i--) {
        size_t top = level_at(pattern, i), from = 0;
        bool is_last = i > checkpoints;

        if (budget_step(job->budget, 20))
            return (double)NAN;
        if (!is_last)
            settle(&x, top, &rest);
        while (from < x.count && pattern->every[from] < i)
            from++;
        precede(&x, &redo[from],
                is_last ? last_s : pattern->segment_s + x.overhead_s[top], &rest);
    }
    return whole_s(&rest);
}

/* ---- the best segment ---- */

/* The intervals of first order, and whether they ascend. */
static bool first_order(const struct classes *x, double *tau_s, double *ratio)
{
    bool ascends = true;

    *ratio = 0;
    for (size_t l = 0; l < x->count; l++) {
        double whole_s = x->overhead_s[l], below_s = l > 0 ? x->overhead_s[l - 1] : 0;
        double added_s = fmax(fmax(whole_s - below_s, 1e-3 * whole_s), 1e-6);

        tau_s[l] = sqrt(2 * added_s * x->mean_s / x->share[l]);
        *ratio += sqrt(2 * added_s * x->share[l] / x->mean_s);
        ascends = ascends && (l == 0 || tau_s[l] >= tau_s[l - 1]);
    }
    return ascends;
}

struct segment_search {
    const struct classes *x;
    const struct levels_pattern *pattern;
};

static double overhead_at(const void *context, double tau_s)
{
    const struct segment_search *search = context;
    struct levels_pattern pattern = *search->pattern;

    pattern.segment_s = tau_s;
    return pattern_of(search->x, &pattern) / tau_s;
}

static void settle_segment(const struct classes *x, struct levels_pattern *pattern)
{
    double segments = pattern->every[pattern->level_count - 1];
    double tau_s[LEVELS_MAX], least_s = HUGE_VAL, most_s = 0;
    struct segment_search search = {x, pattern};

    if (!first_order(x, tau_s, &pattern->first_order_ratio))
        pattern->first_order_ratio = (double)NAN;
    for (size_t l = 0; l < x->count; l++) { /* a segment is a part of each interval */
        least_s = fmin(least_s, tau_s[l] / pattern->every[l]);
        most_s = fmax(most_s, tau_s[l] / pattern->every[l]);
    }
    pattern->segment_s =
        golden_least_at(overhead_at, &search, least_s / 20, most_s * 20, TAU_WIDTH);
    pattern->pattern_s = pattern_of(x, pattern);
    pattern->overhead_ratio = pattern->pattern_s / (segments * pattern->segment_s) - 1;
}

void levels_best_segment(const struct levels_job *job, struct levels_pattern *pattern)
{
    struct classes x;

    fold(job, pattern->levels, pattern->level_count, &x);
    settle_segment(&x, pattern);
}

/* ---- the search ---- */

struct search {
    const struct levels_job *job;
    struct classes x;
    struct levels_pattern best; /* of these levels */
    bool is_cut;
};

/* The segments of a pattern; 0: it is too long. */
static double product(const double *m, size_t count)
{
    double segments = 1;

    for (size_t l = 0; l + 1 < count; l++)
        segments *= m[l];
    return segments <= LEVELS_SEGMENTS_MAX ? segments : 0;
}

/* Tries the m; true: they are the best so far. */
static bool try_pattern(struct search *s, const double *m)
{
    struct levels_pattern pattern = s->best;

    pattern.every[0] = 1;
    for (size_t l = 1; l < s->x.count; l++)
        pattern.every[l] = pattern.every[l - 1] * m[l - 1];
    settle_segment(&s->x, &pattern);
    if (!(pattern.overhead_ratio < s->best.overhead_ratio - OVERHEAD_GAIN))
        return false;
    s->best = pattern;
    return true;
}

/* m from first order, no more segments than a pattern may have. */
static void first_counts(const struct classes *x, double *m)
{
    double tau_s[LEVELS_MAX], ratio;

    first_order(x, tau_s, &ratio);
    for (size_t l = 0; l + 1 < x->count; l++)
        m[l] = fmin(fmax(1, round(tau_s[l + 1] / tau_s[l])), LEVELS_SEGMENTS_MAX);
    while (product(m, x->count) <= 0) {
        size_t most = 0;

        for (size_t l = 1; l + 1 < x->count; l++)
            most = m[l] > m[most] ? l : most;
        m[most]--;
    }
}

/* One round over the neighbours: one more or less at i, or one more at i and one less
 * at k; leaves the best of all in m. */
static bool improve(struct search *s, double *m)
{
    double best[LEVELS_MAX] = {0}, trial[LEVELS_MAX] = {0};
    size_t count = s->x.count - 1;
    bool improved = false;

    for (size_t move = 0; move < count * (count + 1); move++) {
        size_t i = move / (count + 1), k = move % (count + 1);

        for (size_t l = 0; l < count; l++)
            trial[l] = m[l];
        trial[i] += k == i ? -1 : 1; /* k = count: no other */
        if (k < count && k != i)
            trial[k]--;
        if (trial[i] < 1 || (k < count && trial[k] < 1) || product(trial, count + 1) <= 0)
            continue;
        /* about 70 patterns, an exponential or two for each segment and level */
        s->is_cut = s->is_cut ||
                    budget_step(s->job->budget,
                                70 * (size_t)product(trial, count + 1) * (2 + count));
        if (s->is_cut || !try_pattern(s, trial))
            continue;
        improved = true;
        for (size_t l = 0; l < count; l++)
            best[l] = trial[l];
    }
    for (size_t l = 0; improved && l < count; l++)
        m[l] = best[l];
    return improved;
}

static void search_levels(struct search *s)
{
    double m[LEVELS_MAX] = {1, 1, 1, 1, 1, 1};

    s->best.overhead_ratio = HUGE_VAL;
    s->best.pattern_s = HUGE_VAL;
    s->best.segment_s = s->x.mean_s;
    s->best.first_order_ratio = (double)NAN;
    for (size_t l = 0; l < s->x.count; l++)
        s->best.every[l] = 1;
    first_counts(&s->x, m);
    try_pattern(s, m);
    while (s->x.count > 1 && improve(s, m)) {
    }
}

struct levels_pattern levels_best(const struct levels_job *job)
{
    struct levels_pattern best = {.overhead_ratio = (double)NAN};
    size_t kept[LEVELS_MAX], kept_count = 0;
    bool is_cut = false;

    assert(job->level_count >= 1 && job->level_count <= LEVELS_MAX);
    for (size_t l = 0; l < job->level_count; l++)
        if (share_of(job, l) > 0)
            kept[kept_count++] = l;
    assert(kept_count > 0);
    for (unsigned set = 0; set < 1u << (kept_count - 1); set++) {
        struct search s = {.job = job};
        size_t *used = s.best.levels;

        for (size_t l = 0; l + 1 < kept_count; l++)
            if (set >> l & 1)
                used[s.best.level_count++] = kept[l];
        used[s.best.level_count++] = kept[kept_count - 1];
        fold(job, used, s.best.level_count, &s.x);
        search_levels(&s);
        is_cut = is_cut || s.is_cut;
        if (set == 0 || s.best.overhead_ratio < best.overhead_ratio - OVERHEAD_GAIN ||
            (s.best.overhead_ratio <= best.overhead_ratio + OVERHEAD_GAIN &&
             s.best.level_count < best.level_count))
            best = s.best;
    }
    best.is_cut = is_cut;
    return best;
}
