/* fault_tolerance/remedy.c - expected time and cost of ways to survive failures.
 *
 * A job that takes E without failures, on resources that fail with rate 1/M; C and
 * R are the overhead of a checkpoint and of a restart from it, D passes from a
 * failure until the job runs again. Cost is CPU time used. With
 *
 *     F(t)   = 1 - exp(-t/M)
 *     m(t,k) = mean of the latest of k failures that are all before t
 *            = t - (t + sum of (-1)^j binom(k,j) (M/j) (1 - exp(-j t/M)), j = 1..k)
 *                  / F(t)^k
 *     w = min(I, E),  x = exp(R/M) (exp((w + C)/M) - 1),
 *     q = F(E)^k of copies without checkpoints, F(w + C)^k of those with some:
 *
 *                     time                                cost
 *     none            (M + D) (exp(E/M) - 1)              M (exp(E/M) - 1)
 *     checkpointing   (E/w) (M + D) x                     (E/w) M x
 *     replication k   E + q/(1-q) (m(E,k) + D)            k M F(E)/(1-q)
 *     both, k         (E/w) (w + C + q/(1-q) (m(w+C,k) + D + R))
 *                                                         (E/w) k M F(w + C)/(1-q)
 *
 * I is the best interval of algorithms/checkpoint. With I >= E no checkpoint is
 * taken: checkpointing is then as none, and both as replication.
 *
 * Source: spec fault-tolerance.md 7.4, beyond the seeds. Deviation: the spec says
 * nothing of `both` with I >= E.
 */
#include "algorithms/checkpoint/checkpoint.h"
#include "algorithms/fault_tolerance/fault_tolerance.h"

#include <math.h>

/* F(t). */
static double failed_by(const struct remedy_in *in, double t_s)
{
    return -expm1(-t_s / in->mean_failure_interval_s);
}

/* m(t,k), with q = F(t)^k. */
static double latest_failure_s(const struct remedy_in *in, double t_s, size_t k, double q)
{
    double mean_s = in->mean_failure_interval_s;
    double sum_s = t_s, binomial = 1;

    if (q < 1e-12)
        return t_s * (double)k / ((double)k + 1);
    for (size_t j = 1; j <= k; j++) {
        double term_s;

        binomial *= (double)(k - j + 1) / (double)j;
        term_s = binomial * (mean_s / (double)j) * -expm1(-(double)j * t_s / mean_s);
        sum_s += j % 2 ? -term_s : term_s;
    }
    return t_s - sum_s / q;
}

/* k copies over `work_s`, in pieces of t_s each of which is repeated until a copy
 * gets through; `again_s` passes before each repetition. */
static void replicate(const struct remedy_in *in, size_t k, double pieces, double t_s,
                      double again_s, struct remedy_option *o)
{
    double failed = failed_by(in, t_s);
    double q = pow(failed, (double)k);

    if (!(q < 1)) {
        o->expected_time_s = o->expected_cost_cpu_s = HUGE_VAL;
        return;
    }
    o->expected_time_s =
        pieces * (t_s + q / (1 - q) * (latest_failure_s(in, t_s, k, q) + again_s));
    o->expected_cost_cpu_s =
        pieces * (double)k * in->mean_failure_interval_s * failed / (1 - q);
    o->success_probability = pow(1 - q, pieces);
}

/* One copy. */
static void restart(const struct remedy_in *in, double pieces, double t_s,
                    double restart_s, struct remedy_option *o)
{
    double mean_s = in->mean_failure_interval_s;
    double x = exp(restart_s / mean_s) * expm1(t_s / mean_s);

    o->expected_time_s = pieces * (mean_s + in->reschedule_delay_s) * x;
    o->expected_cost_cpu_s = pieces * mean_s * x;
    o->success_probability = exp(-pieces * t_s / mean_s);
}

static double best_interval_s(const struct remedy_in *in)
{
    struct checkpoint_in c = {
        .checkpoint_overhead_s = in->checkpoint_overhead_s,
        .mean_failure_interval_s = in->mean_failure_interval_s,
    };

    return fmax(checkpoint_best_interval_s(&c), in->min_interval_s);
}

static struct remedy_option option_of(const struct remedy_in *in, enum remedy remedy,
                                      size_t k)
{
    bool takes = remedy == REMEDY_CHECKPOINTING || remedy == REMEDY_BOTH;
    struct remedy_option o = {
        .remedy = remedy,
        .replicas = k,
        .interval_s = takes ? best_interval_s(in) : (double)NAN,
    };
    bool is_cut = takes && o.interval_s < in->execution_s;
    double pieces = is_cut ? in->execution_s / o.interval_s : 1;
    double t_s = is_cut ? o.interval_s + in->checkpoint_overhead_s : in->execution_s;
    double restart_s = is_cut ? in->restart_s : 0;

    if (k > 1)
        replicate(in, k, pieces, t_s, in->reschedule_delay_s + restart_s, &o);
    else
        restart(in, pieces, t_s, restart_s, &o);
    if (!isfinite(o.expected_time_s) || !isfinite(o.expected_cost_cpu_s)) {
        o.expected_time_s = o.expected_cost_cpu_s = (double)NAN;
        o.success_probability = fmax(0, o.success_probability);
    }
    return o;
}

size_t remedy_compare(const struct remedy_in *in, struct remedy_option *options)
{
    size_t count = 0;

    options[count++] = option_of(in, REMEDY_NONE, 1);
    options[count++] = option_of(in, REMEDY_CHECKPOINTING, 1);
    for (size_t k = 2; k <= in->copies_max; k++)
        options[count++] = option_of(in, REMEDY_REPLICATION, k);
    for (size_t k = 2; k <= in->copies_max; k++)
        options[count++] = option_of(in, REMEDY_BOTH, k);
    return count;
}

size_t remedy_choose(const struct remedy_option *options, size_t count, double max_cost_s,
                     size_t copies_max)
{
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < count; i++) {
        const struct remedy_option *o = &options[i];

        if (isnan(o->expected_time_s) || o->replicas > copies_max ||
            o->expected_cost_cpu_s > max_cost_s)
            continue;
        if (best == SIZE_MAX || o->expected_time_s < options[best].expected_time_s ||
            (o->expected_time_s == options[best].expected_time_s &&
             o->expected_cost_cpu_s < options[best].expected_cost_cpu_s))
            best = i;
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
