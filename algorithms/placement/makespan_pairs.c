/* placement/makespan_pairs.c - which machines are worth a look for a job.
 *
 * With the prices p of the bound B, an assignment of makespan M satisfies
 *
 *     sum of extra_ij over its pairs <= M - B,  extra_ij = p_j t_ij - min_k p_k t_ik,
 *
 * so good ones use few pairs of more than a little extra. Kept are, besides each
 * job's cheapest pair, about as many others as there are jobs (at least 512),
 * those of least extra; and of each machine at least its best 50, since a machine
 * that can exchange only a few jobs cannot be filled evenly.
 *
 * Nothing is sorted: a histogram of extra / B per machine gives the limits, in
 * classes of one eighth of a power of two. Of the pairs in the class at the limit a part
 * is kept, spread over jobs and machines; so equal machines get a sparse graph.
 *
 * Source: ours. Cost: two passes over jobs * machines.
 */
#include "algorithms/placement/makespan_parts.h"

#include <math.h>
#include <string.h>

enum {
    CLASSES = 320, /* eight to a power of two, from B * 2^-36 to B * 2^4 */
    CLASSES_PER_OCTAVE = 8,
    OCTAVES_BELOW = 36,
    PAIRS_MIN = 512,
    MACHINE_PAIRS_MIN = 50,
};

/* Pairs in classes below `whole` are kept, and in that class `quota` of each
 * machine_count. */
struct limit {
    size_t whole;
    size_t quota;
};

/* Rises with extra; eight equal parts of each power of two. */
static size_t class_of(double extra, double bound)
{
    int exponent;
    double fraction; /* in [0.5, 1) */

    if (extra <= 0 || bound <= 0)
        return 0;
    fraction = frexp(extra / bound, &exponent);
    fraction = 2 * fraction - 1 + exponent + OCTAVES_BELOW;
    return (size_t)fmax(0, fmin(CLASSES_PER_OCTAVE * fraction, CLASSES - 1));
}

/* The cheapest machine of a job (tie: least wait, then lowest index). */
static size_t cheapest(const struct makespan_problem *p, size_t job, const double *price,
                       double scale)
{
    const double *time_s = p->time_s + job * p->machine_count;
    double least = HUGE_VAL;
    size_t machine = 0;

    for (size_t j = 0; j < p->machine_count; j++) {
        double cost = price[j] * (time_s[j] * scale);
        bool tie = cost == least && cost < HUGE_VAL;
        if (cost < least || (tie && makespan_wait(p, j) < makespan_wait(p, machine))) {
            least = cost;
            machine = j;
        }
    }
    return machine;
}

static struct limit limit_for(const size_t *histogram, size_t wanted,
                              size_t machine_count)
{
    struct limit limit = {0, 0};
    size_t sum = 0;

    while (limit.whole < CLASSES && sum + histogram[limit.whole] <= wanted)
        sum += histogram[limit.whole++];
    if (limit.whole < CLASSES)
        limit.quota = (size_t)ceil((double)machine_count * (double)(wanted - sum) /
                                   (double)histogram[limit.whole]);
    return limit;
}

static bool within(const struct limit *limit, size_t class, size_t job, size_t machine,
                   size_t machine_count)
{
    size_t turn = (machine + machine_count - job % machine_count) % machine_count;

    return class < limit->whole || (class == limit->whole && turn < limit->quota);
}

struct choice {
    const struct makespan_problem *problem;
    const double *price;
    double bound, scale;
    uint32_t *home;       /* cheapest machine of each job */
    size_t *histogram;    /* [machine * CLASSES + class] */
    struct limit overall; /* for the pairs of all machines together */
    struct limit *limits; /* and of each one */
};

static double extra_of(const struct choice *c, size_t job, size_t machine)
{
    const double *time_s = c->problem->time_s + job * c->problem->machine_count;
    size_t home = c->home[job];

    return c->price[machine] * (time_s[machine] * c->scale) -
           c->price[home] * (time_s[home] * c->scale);
}

static bool is_candidate(const struct choice *c, size_t job, size_t machine)
{
    return machine != c->home[job] &&
           c->problem->time_s[job * c->problem->machine_count + machine] < HUGE_VAL;
}

static bool is_chosen(const struct choice *c, size_t job, size_t machine)
{
    size_t machine_count = c->problem->machine_count;
    size_t class;

    if (machine == c->home[job])
        return true;
    if (!is_candidate(c, job, machine))
        return false;
    class = class_of(extra_of(c, job, machine), c->bound);
    return within(&c->overall, class, job, machine, machine_count) ||
           within(&c->limits[machine], class, job, machine, machine_count);
}

static enum error_code set_limits(struct choice *c, struct arena *a, struct error *err)
{
    size_t job_count = c->problem->job_count, machine_count = c->problem->machine_count;
    size_t sum[CLASSES] = {0};

    c->home = NEW(a, uint32_t, job_count);
    c->histogram = NEW(a, size_t, machine_count * CLASSES);
    c->limits = NEW(a, struct limit, machine_count);
    if (!c->home || !c->histogram || !c->limits)
        return fail_memory(err);
    for (size_t i = 0; i < job_count; i++) {
        c->home[i] = (uint32_t)cheapest(c->problem, i, c->price, c->scale);
        for (size_t j = 0; j < machine_count; j++)
            if (is_candidate(c, i, j))
                c->histogram[j * CLASSES + class_of(extra_of(c, i, j), c->bound)]++;
    }
    for (size_t j = 0; j < machine_count; j++) {
        for (size_t k = 0; k < CLASSES; k++)
            sum[k] += c->histogram[j * CLASSES + k];
        c->limits[j] =
            limit_for(c->histogram + j * CLASSES, MACHINE_PAIRS_MIN, machine_count);
    }
    c->overall =
        limit_for(sum, job_count > PAIRS_MIN ? job_count : PAIRS_MIN, machine_count);
    return OK;
}

/* Fills the lists by job, growing them, and counts the pairs of each machine. */
static enum error_code list_by_job(const struct choice *c, struct makespan_pairs *out,
                                   struct arena *a, struct error *err)
{
    size_t machine_count = c->problem->machine_count;
    size_t capacity = 3 * c->problem->job_count + machine_count;

    out->by_job = NEW(a, struct makespan_pair, capacity);
    for (size_t i = 0; out->by_job && i < c->problem->job_count; i++) {
        out->job_first[i] = out->count;
        if (out->count + machine_count > capacity) {
            out->by_job = GROW(a, out->by_job, struct makespan_pair, capacity,
                               2 * (capacity + machine_count));
            capacity = 2 * (capacity + machine_count);
        }
        for (size_t j = 0; out->by_job && j < machine_count; j++) {
            if (!is_chosen(c, i, j))
                continue;
            out->by_job[out->count++] = (struct makespan_pair){
                (uint32_t)i, (uint32_t)j,
                c->problem->time_s[i * machine_count + j] * c->scale, extra_of(c, i, j)};
            out->machine_first[j + 1]++;
        }
    }
    out->job_first[c->problem->job_count] = out->count;
    return out->by_job ? OK : fail_memory(err);
}

enum error_code makespan_pairs_choose(const struct makespan_problem *problem,
                                      const double *price, double bound, double scale,
                                      struct makespan_pairs *out, struct arena *a,
                                      struct error *err)
{
    size_t job_count = problem->job_count, machine_count = problem->machine_count;
    struct choice c = {
        .problem = problem, .price = price, .bound = bound, .scale = scale};
    struct makespan_pairs pairs = {0};
    size_t *next = NEW(a, size_t, machine_count);

    pairs.job_first = NEW(a, size_t, job_count + 1);
    pairs.machine_first = NEW(a, size_t, machine_count + 1);
    if (!next || !pairs.job_first || !pairs.machine_first)
        return fail_memory(err);
    TRY(set_limits(&c, a, err));
    TRY(list_by_job(&c, &pairs, a, err));
    pairs.by_machine = NEW(a, struct makespan_pair, pairs.count);
    if (!pairs.by_machine)
        return fail_memory(err);
    for (size_t j = 0; j < machine_count; j++)
        pairs.machine_first[j + 1] += pairs.machine_first[j];
    memcpy(next, pairs.machine_first, machine_count * sizeof(*next));
    for (size_t p = 0; p < pairs.count; p++)
        pairs.by_machine[next[pairs.by_job[p].machine]++] = pairs.by_job[p];
    *out = pairs;
    return OK;
}
