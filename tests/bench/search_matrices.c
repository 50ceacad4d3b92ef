/* search_matrices.c - the gap of the makespan kernel on generated matrices of many kinds,
 * by CPU seconds of one core: at each time the worst and mean gap of a size, and every
 * matrix that stays above TRAP.
 *
 *     bench_search_matrices [SECONDS ...]      default 0.05 1 4
 *
 * Kinds: times task U[1, 3000] x machine U[1, 1000] (100 and 10 for lolo) inconsistent,
 * sorted, sorted on even columns; a quarter of the machines 20 times faster for 30 % of
 * the jobs; Pareto jobs on speeds; few big jobs; integer times; equal machines. */
#include "algorithms/placement/makespan.h"
#include "models/base/rng.h"
#include "tests/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SEEDS = 2 };

static const double TRAP = 0.015;

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct watch {
    double start_s, limit_s;
};

static double used(void *context)
{
    const struct watch *w = context;

    return (cpu_s() - w->start_s) / w->limit_s;
}

static double between(struct rng *r, double low, double high)
{
    return low + (high - low) * rng_uniform(r);
}

static double normal(struct rng *r)
{
    double u = 1 - rng_uniform(r);

    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * rng_uniform(r));
}

static int rising(const void *left, const void *right)
{
    double l = *(const double *)left, r = *(const double *)right;

    return (l > r) - (l < r);
}

struct shape {
    size_t jobs, machines;
};

static void range_based(struct rng *r, const struct shape *s, double task, double machine,
                        double *out)
{
    for (size_t i = 0; i < s->jobs; i++) {
        double base = between(r, 1, task);

        for (size_t j = 0; j < s->machines; j++)
            out[i * s->machines + j] = base * between(r, 1, machine);
    }
}

static void inconsistent(struct rng *r, const struct shape *s, double *out)
{
    range_based(r, s, 3000, 1000, out);
}

static void inconsistent_low(struct rng *r, const struct shape *s, double *out)
{
    range_based(r, s, 100, 10, out);
}

static void consistent(struct rng *r, const struct shape *s, double *out)
{
    range_based(r, s, 3000, 1000, out);
    for (size_t i = 0; i < s->jobs; i++)
        qsort(out + i * s->machines, s->machines, sizeof(*out), rising);
}

static void semi_consistent(struct rng *r, const struct shape *s, double *out)
{
    double *even = malloc(s->machines * sizeof(*even));

    range_based(r, s, 3000, 1000, out);
    for (size_t i = 0; i < s->jobs && even; i++) {
        size_t count = 0;

        for (size_t j = 0; j < s->machines; j += 2)
            even[count++] = out[i * s->machines + j];
        qsort(even, count, sizeof(*even), rising);
        for (size_t j = 0; j < s->machines; j += 2)
            out[i * s->machines + j] = even[j / 2];
    }
    free(even);
}

static void accelerated(struct rng *r, const struct shape *s, double *out)
{
    for (size_t i = 0; i < s->jobs; i++) {
        double base = exp(3 + 1.5 * normal(r));
        bool fits = rng_uniform(r) < 0.3;

        for (size_t j = 0; j < s->machines; j++) {
            double time = base * between(r, 0.8, 1.25);
            out[i * s->machines + j] = fits && j < s->machines / 4 ? time / 20 : time;
        }
    }
}

static void pareto(struct rng *r, const struct shape *s, double *out)
{
    double *speed = malloc(s->machines * sizeof(*speed));

    for (size_t j = 0; j < s->machines && speed; j++)
        speed[j] = between(r, 1, 10);
    for (size_t i = 0; i < s->jobs && speed; i++) {
        double work = pow(1 - rng_uniform(r), -1 / 1.2);

        for (size_t j = 0; j < s->machines; j++)
            out[i * s->machines + j] = work / speed[j] * between(r, 0.5, 2);
    }
    free(speed);
}

static void few_big(struct rng *r, const struct shape *s, double *out)
{
    inconsistent(r, s, out);
    for (size_t i = 0; i < s->jobs; i += 64)
        for (size_t j = 0; j < s->machines; j++)
            out[i * s->machines + j] *= 8;
}

static void related_big(struct rng *r, const struct shape *s, double *out)
{
    double *speed = malloc(s->machines * sizeof(*speed));

    for (size_t j = 0; j < s->machines && speed; j++)
        speed[j] = between(r, 1, 4);
    for (size_t i = 0; i < s->jobs && speed; i++) {
        double work = exp(1.2 * normal(r));

        for (size_t j = 0; j < s->machines; j++)
            out[i * s->machines + j] = work / speed[j] * between(r, 0.7, 1.4);
    }
    free(speed);
}

static void whole_numbers(struct rng *r, const struct shape *s, double *out)
{
    range_based(r, s, 30, 10, out);
    for (size_t c = 0; c < s->jobs * s->machines; c++)
        out[c] = round(out[c]);
}

static const struct kind {
    const char *name;
    void (*fill)(struct rng *r, const struct shape *s, double *out);
} kinds[] = {
    {"inconsistent", inconsistent},
    {"consistent", consistent},
    {"semi-consistent", semi_consistent},
    {"inconsistent, low", inconsistent_low},
    {"accelerated", accelerated},
    {"Pareto", pareto},
    {"few big jobs", few_big},
    {"related, lognormal", related_big},
    {"whole numbers", whole_numbers},
    {NULL, NULL},
};

static const struct shape shapes[] = {{512, 16}, {1024, 32}, {2048, 64}, {0, 0}};

struct summary {
    double sum, worst, slowest_ratio;
    size_t count, trapped;
};

static void search_one(const struct kind *kind, const struct shape *shape, uint64_t seed,
                       double limit_s, struct summary *sum)
{
    struct rng r = rng_create(seed);
    double *time_s = calloc(shape->jobs * shape->machines, sizeof(*time_s));
    struct makespan_problem problem = {shape->jobs, shape->machines, time_s, NULL};
    struct arena *a = arena_create((size_t)1 << 30);
    struct watch watch = {.limit_s = limit_s};
    struct budget budget = {.used = used, .context = &watch};
    struct makespan_ask ask = {.budget = &budget, .limited = true, .seed = seed};
    struct makespan_answer answer;
    struct error err = {0};
    double gap, elapsed_s;

    if (!time_s || !a)
        bench_stop("no memory");
    kind->fill(&r, shape, time_s);
    ask.effort = makespan_effort(shape->jobs, shape->machines, limit_s);
    watch.start_s = cpu_s();
    if (makespan_search(&problem, &ask, &answer, a) != OK)
        bench_stop("%s", err.text);
    elapsed_s = cpu_s() - watch.start_s;
    gap = answer.makespan_s / bound_list_best(&answer.bounds) - 1;
    printf("%4zu x %2zu %-18s seed %llu %5.2f s: gap %7.4f %%, %8zu steps, %.3f s%s\n",
           shape->jobs, shape->machines, kind->name, (unsigned long long)seed, limit_s,
           100 * gap, answer.steps, elapsed_s, answer.optimal ? ", optimal" : "");
    sum->sum += gap;
    sum->worst = fmax(sum->worst, gap);
    sum->slowest_ratio = fmax(sum->slowest_ratio, elapsed_s / limit_s);
    sum->trapped += gap > TRAP;
    sum->count++;
    arena_close(a);
    free(time_s);
}

int main(int argc, char **argv)
{
    static const double presets[] = {0.05, 1, 4};
    size_t times = argc > 1 ? (size_t)argc - 1 : 3;

    for (size_t t = 0; t < times; t++)
        for (const struct shape *s = shapes; s->jobs; s++) {
            double limit_s = argc > 1 ? strtod(argv[t + 1], NULL) : presets[t];
            struct summary sum = {0};

            for (const struct kind *k = kinds; k->name; k++)
                for (uint64_t seed = 1; seed <= SEEDS; seed++)
                    search_one(k, s, seed, limit_s, &sum);
            printf("%4zu x %2zu %5.2f s: mean %.3f %%, worst %.3f %%, %zu above %.1f %%, "
                   "slowest %.2f of the limit\n\n",
                   s->jobs, s->machines, limit_s, 100 * sum.sum / (double)sum.count,
                   100 * sum.worst, sum.trapped, 100 * TRAP, sum.slowest_ratio);
            fflush(stdout);
        }
    return 0;
}
