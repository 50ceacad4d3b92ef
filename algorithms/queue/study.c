/* queue/study.c - whether a variant serves jobs better than another one, or it was luck.
 */
#include "algorithms/queue/study.h"

#include "models/base/order.h"
#include "models/base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *const queue_study_verdicts[] = {"better", "worse", "undecided", NULL};
const char *const queue_block_names[] = {"week", "day", NULL};

static const double block_s[] = {604800, 86400};

/* ---- the blocks ---- */

static int compare_blocks(const void *left, const void *right)
{
    uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;

    return l < r ? -1 : l > r;
}

/* Numbers the blocks from 0 without those that are empty: how many there are. */
static size_t number_blocks(struct queue_study *study, struct arena *a)
{
    uint32_t *sorted = NEW(a, uint32_t, study->counted);
    size_t at = 0, kinds = 0;

    for (size_t i = 0; i < study->job_count; i++)
        if (study->block_of[i] != QUEUE_NOT_COUNTED)
            sorted[at++] = study->block_of[i];
    qsort(sorted, at, sizeof(*sorted), compare_blocks);
    for (size_t i = 0; i < at; i++)
        if (i == 0 || sorted[i] != sorted[i - 1])
            sorted[kinds++] = sorted[i];
    for (size_t i = 0; i < study->job_count; i++) {
        uint32_t *block = &study->block_of[i];

        if (*block != QUEUE_NOT_COUNTED)
            *block =
                (uint32_t)((const uint32_t *)bsearch(block, sorted, kinds,
                                                     sizeof(*sorted), compare_blocks) -
                           sorted);
    }
    return kinds;
}

void queue_study_begin(struct queue_study *study, const struct queue_outcome *base,
                       const double *submit_s, size_t job_count, double warm_up_s,
                       double cool_down_s, struct arena *a)
{
    double first_s = HUGE_VAL, last_s = -HUGE_VAL;

    study->job_count = job_count;
    study->base = base;
    study->block_of = NEW(a, uint32_t, job_count);
    for (size_t i = 0; i < job_count; i++) {
        first_s = fmin(first_s, submit_s[i]);
        last_s = fmax(last_s, submit_s[i]);
    }
    for (int kind = QUEUE_WEEKS; kind < QUEUE_NO_BLOCKS; kind++) {
        study->counted = 0;
        for (size_t i = 0; i < job_count; i++) {
            bool counts = queue_ran(&base[i]) && submit_s[i] >= first_s + warm_up_s &&
                          submit_s[i] <= last_s - cool_down_s;
            double block = floor((submit_s[i] - first_s) / block_s[kind]);

            study->counted += counts;
            study->block_of[i] =
                counts ? (uint32_t)fmin(block, QUEUE_NOT_COUNTED - 1) : QUEUE_NOT_COUNTED;
        }
        study->block = (enum queue_block)kind;
        study->block_count = number_blocks(study, a);
        if (study->block_count >= QUEUE_BLOCKS_MIN)
            return;
    }
    for (size_t i = 0; i < job_count; i++)
        if (study->block_of[i] != QUEUE_NOT_COUNTED)
            study->block_of[i] = 0;
    study->block = QUEUE_NO_BLOCKS;
    study->block_count = 1;
}

/* ---- resampling ---- */

bool queue_study_interval(const struct queue_study *study, const double *sums,
                          const double *counts, double *low, double *high,
                          struct arena *scratch)
{
    double *means = NEW(scratch, double, study->resamples);
    size_t known = 0;
    double tail = 50 * (1 - study->confidence);

    for (size_t r = 0; r < study->resamples; r++) {
        char name[32];
        struct rng rng;
        double sum = 0, count = 0;

        snprintf(name, sizeof(name), "study.%zu", r);
        rng = rng_stream(study->seed, name);
        for (size_t i = 0; i < study->block_count; i++) {
            size_t block = rng_index(&rng, study->block_count);

            sum += sums[block];
            count += counts[block];
        }
        if (budget_step(study->budget, 4 * study->block_count + 16))
            return false;
        if (count > 0)
            means[known++] = sum / count;
    }
    if (!known)
        return false;
    sort_numbers(means, known);
    *low = queue_percentile(means, known, tail);
    *high = queue_percentile(means, known, 100 - tail);
    return true;
}

/* ---- a variant ---- */

static const size_t member_of[] = {
#define X(name, member, doc) offsetof(struct queue_outcome, member),
    QUEUE_STUDY_FIGURES(X)
#undef X
};

static double value_of(const struct queue_outcome *o, int figure)
{
    return *(const double *)((const char *)o + member_of[figure]);
}

static bool is_pair(const struct queue_study *study, const struct queue_outcome *variant,
                    size_t job)
{
    return study->block_of[job] != QUEUE_NOT_COUNTED && queue_ran(&variant[job]);
}

static enum queue_verdict_of_study judge(const struct queue_change *c)
{
    if (c->high < 0)
        return QUEUE_BETTER;
    return c->low > 0 ? QUEUE_WORSE : QUEUE_UNDECIDED;
}

static void compare_figure(const struct queue_study *study,
                           const struct queue_outcome *variant, int figure,
                           struct queue_comparison *out, struct arena *scratch)
{
    double *sums = NEW(scratch, double, study->block_count);
    double *counts = NEW(scratch, double, study->block_count);
    struct queue_change *c = &out->change[figure];
    double sum = 0, better = 0, worse = 0, n = 0;

    *c = (struct queue_change){NAN, NAN, NAN, NAN, NAN, QUEUE_UNDECIDED};
    for (size_t i = 0; i < study->job_count; i++) {
        double d;

        if (!is_pair(study, variant, i))
            continue;
        d = value_of(&variant[i], figure) - value_of(&study->base[i], figure);
        sums[study->block_of[i]] += d;
        counts[study->block_of[i]]++;
        better += d < 0;
        worse += d > 0;
    }
    for (size_t i = 0; i < study->block_count; i++) {
        sum += sums[i];
        n += counts[i];
    }
    if (n == 0)
        return;
    c->mean = sum / n;
    c->better_ratio = better / n;
    c->worse_ratio = worse / n;
    if (study->block == QUEUE_NO_BLOCKS ||
        !queue_study_interval(study, sums, counts, &c->low, &c->high, scratch))
        return;
    c->verdict = judge(c);
}

/* ---- who is worse off ---- */

struct of_job {
    double user; /* HUGE_VAL: not known */
    double wait_s, bounded;
};

static int compare_jobs(const void *left, const void *right)
{
    const struct of_job *l = left, *r = right;

    if (l->user != r->user)
        return l->user < r->user ? -1 : 1;
    if (l->wait_s != r->wait_s)
        return l->wait_s < r->wait_s ? -1 : 1;
    return l->bounded < r->bounded ? -1 : l->bounded > r->bounded;
}

static bool hurt_more(const struct queue_hurt *l, const struct queue_hurt *r)
{
    return l->mean_wait_change_s > r->mean_wait_change_s;
}

/* Into its place of the longest; users come in rising order, so ties go to the smaller
 * one. */
static void insert_hurt(struct queue_hurt *list, size_t *count,
                        const struct queue_hurt *one)
{
    size_t at = *count;

    while (at && hurt_more(one, &list[at - 1]))
        at--;
    if (at == QUEUE_HURT_MAX)
        return;
    if (*count < QUEUE_HURT_MAX)
        ++*count;
    for (size_t i = *count - 1; i > at; i--)
        list[i] = list[i - 1];
    list[at] = *one;
}

static void list_hurt(const struct queue_study *study,
                      const struct queue_outcome *variant, struct queue_comparison *out,
                      struct arena *a, struct arena *scratch)
{
    struct of_job *jobs = NEW(scratch, struct of_job, study->counted);
    struct queue_hurt *list = NEW(a, struct queue_hurt, QUEUE_HURT_MAX);
    size_t count = 0;

    for (size_t i = 0; i < study->job_count; i++) {
        double user = study->base[i].key[QUEUE_KEY_USER];

        if (is_pair(study, variant, i))
            jobs[count++] = (struct of_job){isnan(user) ? HUGE_VAL : user,
                                            variant[i].wait_s - study->base[i].wait_s,
                                            variant[i].bounded - study->base[i].bounded};
    }
    out->job_count = count;
    qsort(jobs, count, sizeof(*jobs), compare_jobs);
    for (size_t begin = 0, end; begin < count; begin = end) {
        struct queue_hurt one = {.user = jobs[begin].user};

        for (end = begin; end < count && jobs[end].user == jobs[begin].user; end++) {
            one.job_count++;
            one.mean_wait_change_s += jobs[end].wait_s;
            one.mean_slowdown_change += jobs[end].bounded;
        }
        if (one.mean_wait_change_s <= 0)
            continue;
        one.user = isfinite(one.user) ? one.user : (double)NAN;
        one.mean_wait_change_s /= (double)one.job_count;
        one.mean_slowdown_change /= (double)one.job_count;
        insert_hurt(list, &out->hurt_count, &one);
    }
    out->hurt = list;
}

void queue_study_compare(const struct queue_study *study,
                         const struct queue_outcome *variant,
                         struct queue_comparison *out, struct arena *a,
                         struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);

    *out = (struct queue_comparison){0};
    out->is_cut = budget_step(study->budget, 32 * study->job_count);
    for (int figure = 0; figure < QUEUE_STUDY_FIGURE_COUNT && !out->is_cut; figure++) {
        compare_figure(study, variant, figure, out, scratch);
        if (a != scratch)
            arena_rewind(scratch, mark);
    }
    if (!budget_step(study->budget, 1))
        list_hurt(study, variant, out, a, scratch);
    out->is_cut = budget_step(study->budget, 1);
}
