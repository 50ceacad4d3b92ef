/* fault_tolerance/remedy.c - expected time and cost of ways to survive failures.
 *
 * With E the run time on a host without failures, M its mean time between failures, C
 * and R the overhead of a checkpoint and of a restart from it, R0 that of a restart
 * from scratch, D the time from a failure until the job runs there again:
 *
 *     none            one attempt after another, on the best host for that
 *     checkpointing   the best segments of finite_plan.h, on the best host for those
 *     replication k   k copies without checkpoints on k hosts, the first to end counts
 *     both, k         likewise, each copy with its own checkpoints
 *
 * A copy that dies comes back after D, from its own last image or from scratch, and
 * is waited for: copies.h. Cost is CPU time used, while dead copies wait they use
 * none. Success means that some copy gets through without a restart.
 *
 * Source: spec reliability.md 2.1, 3.1 and 6.5.
 */
#include "algorithms/fault_tolerance/fault_tolerance.h"

#include <math.h>

struct copy remedy_copy(const struct finite_job *job, bool is_saved)
{
    struct copy copy = {.job = *job};

    if (!(job->work_s > 0 && isfinite(job->work_s) && isfinite(job->mean_s))) {
        copy.plan = (struct finite_plan){.count = 1, .first_s = job->work_s};
        copy.plan.expected_s = job->work_s > 0 ? HUGE_VAL : 0;
    } else if (is_saved) {
        copy.plan = finite_best(job);
    } else {
        copy.plan = (struct finite_plan){.count = 1, .first_s = job->work_s};
        copy.plan.expected_s = finite_expected_s(job, 1);
    }
    return copy;
}

/* That the copy needs no restart. */
static double unharmed(const struct copy *copy)
{
    double span_s =
        copy->job.work_s + (fmax(1, copy->plan.count) - 1) * copy->job.overhead_s;

    return exp(-span_s / copy->job.mean_s);
}

/* Between checkpoints; NAN: none are taken. */
static double interval_of(const struct copy *copy)
{
    const struct finite_plan *plan = &copy->plan;

    if (plan->count <= 1)
        return (double)NAN;
    return plan->count > 2 ? plan->middle_s : plan->first_s;
}

/* One copy, in closed form. */
static struct remedy_option alone(const struct copy *copy, enum remedy remedy)
{
    struct remedy_option o = {
        .remedy = remedy,
        .replicas = 1,
        .interval_s = remedy == REMEDY_CHECKPOINTING ? interval_of(copy) : (double)NAN,
        .expected_time_s = copy->plan.expected_s,
        .expected_cost_cpu_s = copy->plan.expected_s * copy->job.mean_s /
                               (copy->job.mean_s + copy->job.delay_s),
        .success_probability = unharmed(copy),
    };

    if (!isfinite(o.expected_time_s))
        o.expected_time_s = o.expected_cost_cpu_s = (double)NAN;
    return o;
}

/* Options of 2 copies and more, of one kind. */
static void together(const struct remedy_in *in, const struct copy *copies,
                     enum remedy remedy, struct copies *work,
                     struct remedy_option *options, size_t *count, struct arena *a)
{
    double harmed = 1 - unharmed(&copies[0]);
    bool is_good = false;

    if (in->copies_max < 2)
        return;
    if (copies[0].job.work_s > 0)
        copies_follow(work, copies, in->copies_max, &is_good, a);
    for (size_t k = 2; k <= in->copies_max; k++) {
        struct remedy_option o = {
            .remedy = remedy,
            .replicas = k,
            .interval_s = remedy == REMEDY_BOTH ? interval_of(&copies[0]) : (double)NAN,
            .expected_time_s = (double)NAN,
            .expected_cost_cpu_s = (double)NAN,
        };

        harmed *= 1 - unharmed(&copies[k - 1]);
        o.success_probability = 1 - harmed;
        if (is_good) {
            struct copies_figures figures = copies_together(work, k);

            o.expected_time_s = figures.time_s;
            o.expected_cost_cpu_s = figures.cost_s;
        }
        options[(*count)++] = o;
    }
}

/* Where no checkpoint pays, `both` is replication. */
static bool is_same(const struct remedy_in *in)
{
    for (size_t i = 0; i < in->copies_max; i++) {
        const struct copy *plain = &in->plain[i], *saved = &in->saved[i];

        if (saved->plan.count > 1 || saved->job.work_s != plain->job.work_s ||
            saved->job.mean_s != plain->job.mean_s ||
            saved->job.scratch_s != plain->job.scratch_s ||
            saved->job.delay_s != plain->job.delay_s ||
            saved->plan.expected_s != plain->plan.expected_s)
            return false;
    }
    return true;
}

void remedy_compare(const struct remedy_in *in, struct copies *work,
                    struct remedy_option *options, size_t *count, struct arena *a)
{
    *count = 0;
    options[(*count)++] = alone(&in->plain[0], REMEDY_NONE);
    options[(*count)++] = alone(&in->saved[0], REMEDY_CHECKPOINTING);
    together(in, in->plain, REMEDY_REPLICATION, work, options, count, a);
    if (!is_same(in)) {
        together(in, in->saved, REMEDY_BOTH, work, options, count, a);
        return;
    }
    for (size_t k = 2; k <= in->copies_max; k++, (*count)++) {
        options[*count] = options[*count - (in->copies_max - 1)];
        options[*count].remedy = REMEDY_BOTH;
    }
}

static bool is_less(const struct remedy_option *a, const struct remedy_option *b)
{
    if (a->expected_time_s != b->expected_time_s)
        return a->expected_time_s < b->expected_time_s;
    return a->expected_cost_cpu_s < b->expected_cost_cpu_s;
}

size_t remedy_choose(const struct remedy_option *options, size_t count, double max_cost_s,
                     size_t copies_max, double min_gain_ratio)
{
    size_t best = SIZE_MAX;

    for (size_t copies = 1; copies <= copies_max; copies++) {
        size_t found = SIZE_MAX;
        double worth;

        for (size_t i = 0; i < count; i++) {
            const struct remedy_option *o = &options[i];

            if (o->replicas == copies && !isnan(o->expected_time_s) &&
                !(o->expected_cost_cpu_s > max_cost_s) &&
                (found == SIZE_MAX || is_less(o, &options[found])))
                found = i;
        }
        if (found == SIZE_MAX)
            continue;
        worth =
            best == SIZE_MAX
                ? HUGE_VAL
                : options[best].expected_time_s *
                      (1 - min_gain_ratio * (double)(copies - options[best].replicas));
        if (options[found].expected_time_s < worth)
            best = found;
    }
    return best;
}

size_t remedy_cheapest(const struct remedy_option *options, size_t count,
                       size_t copies_max)
{
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < count; i++)
        if (!isnan(options[i].expected_time_s) && options[i].replicas <= copies_max &&
            (best == SIZE_MAX ||
             options[i].expected_cost_cpu_s < options[best].expected_cost_cpu_s))
            best = i;
    return best;
}
