/* placement/buckets.c - jobs of about the same needs and time. */
#include "algorithms/placement/buckets.h"

#include "algorithms/placement/pair_map.h"

enum {
    NUMBERS_MAX = 4 * 1024 * 1024, /* buckets * resources */
    EXPONENTS = 4096,              /* of a double, and some */
    COARSER_MAX = 12
};

/* The exponent of the power of two below, in steps of `step`; 0: none. */
static size_t exponent(double x, int step)
{
    int e;

    if (!(x > 0))
        return 0;
    frexp(x, &e);
    e = (int)floor((double)(e - 1) / step) * step;
    e += EXPONENTS / 2;
    return (size_t)e;
}

static double power(size_t exponent)
{
    return exponent ? ldexp(1, (int)exponent - EXPONENTS / 2) : 0;
}

/* Steps of the exponents: the coarser, the fewer buckets. */
struct steps {
    int needs, time; /* time 0: run times do not count */
};

static struct steps steps_of(size_t coarser)
{
    static const struct steps first[] = {{1, 2}, {1, 8}, {1, 0}};

    return coarser < 3 ? first[coarser] : (struct steps){1 << (coarser - 2), 0};
}

static bool number_jobs(const struct placement_problem *p, const double *scale,
                        struct steps steps, struct buckets *out, struct pair_map *map)
{
    size_t most = NUMBERS_MAX / (p->resource_count ? p->resource_count : 1) + 1;

    out->count = 0;
    for (size_t i = 0; i < p->job_count; i++) {
        const struct problem_job *j = &p->jobs[i];
        bool timed = steps.time && !j->etc_s;
        size_t cpus = exponent(j->cpus, steps.needs);
        size_t memory = exponent(j->memory_bytes, steps.needs);
        size_t time = timed ? exponent(j->estimate_ref_s, steps.time) : 0;
        struct pair_place *place = pair_map_at(map, cpus * EXPONENTS + memory, time);

        if (!place->a) {
            if (out->count == most)
                return false;
            place->a = cpus * EXPONENTS + memory + 1;
            place->b = time;
            place->value = out->count;
            out->list[out->count++] =
                (struct bucket){{{1, amount_need(power(cpus), scale[AMOUNT_CPUS]),
                                  amount_need(power(memory), scale[AMOUNT_MEMORY])}},
                                power(time)};
        }
        out->of_job[i] = place->value;
    }
    return true;
}

void buckets_make(const struct placement_problem *p, const double *scale,
                  struct buckets *out, struct arena *a)
{
    size_t most = NUMBERS_MAX / (p->resource_count ? p->resource_count : 1) + 1;

    if (most > p->job_count)
        most = p->job_count;
    out->list = NEW(a, struct bucket, most + 1);
    out->of_job = NEW(a, size_t, p->job_count);
    for (size_t coarser = 0; coarser < COARSER_MAX; coarser++) {
        struct pair_map map;

        pair_map_create(&map, most + 1, a);
        if (number_jobs(p, scale, steps_of(coarser), out, &map))
            return;
    }
    for (size_t i = 0; i < p->job_count; i++)
        out->of_job[i] = 0;
    out->list[0] = (struct bucket){{{1, 0, 0}}, 0};
    out->count = 1;
}
