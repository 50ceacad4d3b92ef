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
#include <string.h>

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

/* The option of a set of hosts. */
static struct remedy_option option_of(const struct host_set *set,
                                      const struct host_class *classes,
                                      enum remedy remedy)
{
    const struct copy *first = &classes[set->classes[0]].copy;
    bool is_saved = remedy == REMEDY_CHECKPOINTING || remedy == REMEDY_BOTH;
    struct remedy_option o = {
        .remedy = remedy,
        .replicas = set->count,
        .interval_s = is_saved ? interval_of(first) : (double)NAN,
        .expected_time_s = set->time_s,
        .expected_cost_cpu_s = set->cost_s,
        .done_probability = set->done_probability,
        .independent_s = (double)NAN,
        .lower_bound_s = set->lower_bound_s,
        .is_proved = set->is_complete,
    };
    double harmed = 1;

    memcpy(o.classes, set->classes, sizeof(o.classes));
    for (size_t i = 0; i < set->count; i++)
        harmed *= 1 - unharmed(&classes[set->classes[i]].copy);
    o.success_probability = 1 - harmed;
    return o;
}

/* A value that its bound reaches needs no enumeration. */
#define PROVED_RATIO 1e-6

static void search(const struct remedy_in *in, bool is_saved, struct copies *work,
                   struct remedy_option *one, struct remedy_option *more, struct arena *a)
{
    struct host_sets_in sets_in = {
        .classes = is_saved ? in->saved : in->plain,
        .class_count = in->class_count,
        .fixed_count = in->fixed_count,
        .copies_max = in->copies_max,
        .products_max = HOST_SETS_PRODUCTS_MAX,
        .left_out_s = in->left_out_s[is_saved],
        .max_cost_s = in->max_cost_s,
        .deadline_s = in->deadline_s,
        .wants_bounds = in->wants_bounds,
    };
    struct host_set sets[HOST_SET_MAX];

    host_sets_search(&sets_in, work, sets, a);
    for (size_t k = 1; k <= in->copies_max; k++) {
        struct remedy_option *o = k > 1 ? &more[k - 2] : one;
        enum remedy single = is_saved ? REMEDY_CHECKPOINTING : REMEDY_NONE;

        *o = option_of(&sets[k - 1], sets_in.classes,
                       k > 1 ? is_saved ? REMEDY_BOTH : REMEDY_REPLICATION : single);
        o->is_proved = (o->is_proved && isinf(sets_in.left_out_s)) ||
                       o->expected_time_s <= o->lower_bound_s * (1 + PROVED_RATIO);
    }
}

/* Where no checkpoint pays, `both` is replication. */
static bool is_same(const struct remedy_in *in)
{
    for (size_t i = 0; i < in->class_count; i++) {
        const struct copy *plain = &in->plain[i].copy, *saved = &in->saved[i].copy;

        if (saved->plan.count > 1 || saved->plan.expected_s != plain->plan.expected_s)
            return false;
    }
    return in->left_out_s[0] == in->left_out_s[1];
}

void remedy_compare(const struct remedy_in *in, struct copies *work,
                    struct remedy_option *options, size_t *count, struct arena *a)
{
    size_t more = in->copies_max - 1;

    *count = 2 + 2 * more;
    search(in, false, work, &options[0], &options[2], a);
    if (!is_same(in)) {
        search(in, true, work, &options[1], &options[2 + more], a);
        return;
    }
    options[1] = options[0];
    options[1].remedy = REMEDY_CHECKPOINTING;
    for (size_t k = 0; k < more; k++) {
        options[2 + more + k] = options[2 + k];
        options[2 + more + k].remedy = REMEDY_BOTH;
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
