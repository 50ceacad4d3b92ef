/* placement/makespan_pairs.c - which machines are worth a look for a job.
 *
 * With prices p of value B on the open pairs, an assignment of makespan M satisfies
 *
 *     sum of extra_ij over its pairs <= M - B,  extra_ij = p_j t_ij - min_k p_k t_ik,
 *
 * so good ones use few pairs of more than a little extra. Kept are, besides each
 * job's cheapest pair, about as many others as there are jobs (at least 512),
 * those of least extra; and of each machine at least its best 50, since a machine
 * that can exchange only a few jobs cannot be filled evenly. Further,
 *
 *   - a pair that alone is longer than the goal, wait + time > max(B, the job's least
 * wait
 *     + time), is left out, and the cheapest machine is one of the others: else a job
 * whose favourite is a slow cheap machine holds the makespan there for ever;
 *   - a pair with extra > U - B is in no plan better than U;
 *   - a big job, of more than 0.02 B on its cheapest machine, has 3 pairs at least, so
 * that others can be exchanged for it;
 *   - jobs get more pairs, by rising extra, when the search asks for them.
 *
 * Nothing is sorted: a histogram of extra / B per machine gives the limits, in
 * classes of one eighth of a power of two. Of the pairs in the class at the limit a part
 * is kept, spread over jobs and machines; so equal machines get a sparse graph.
 *
 * Source: spec search.md 4.3, 4.4. Cost: two passes over jobs * machines; a new list as
 * many steps as it has pairs.
 */
#include "algorithms/placement/makespan_parts.h"

#include <string.h>

enum {
    CLASSES = 320, /* eight to a power of two, from B * 2^-36 to B * 2^4 */
    OCTAVES_BELOW = 36,
    CLASS_SHIFT = 49, /* of a double's bits: exponent and three bits of the fraction */
    EXPONENT_BIAS = 1023,
    PAIRS_MIN = 512,
    MACHINE_PAIRS_MIN = 50,
    BIG_PAIRS = 3,
};

static const double BIG_JOB = 0.02; /* of the goal */

/* Pairs in classes below `whole` are kept, and in that class `quota` of each
 * machine_count. */
struct limit {
    size_t whole;
    size_t quota;
};

struct choice {
    const struct makespan_field *field;
    const double *price;
    double value, most_extra;
    double *longest;      /* per job: wait + time of an allowed pair at most */
    uint32_t *home;       /* cheapest machine of each job */
    size_t *histogram;    /* [machine * CLASSES + class] */
    struct limit overall; /* for the pairs of all machines together */
    struct limit *limits; /* and of each one */
};

/* Rises with extra / B; eight equal parts of each power of two. */
static size_t class_of(const struct choice *c, double extra)
{
    const int64_t lowest = 8 * (EXPONENT_BIAS - OCTAVES_BELOW);
    double ratio = c->value > 0 ? extra / c->value : 0;
    int64_t class;
    uint64_t bits;

    if (!(ratio > 0))
        return 0;
    memcpy(&bits, &ratio, sizeof(bits));
    class = (int64_t)(bits >> CLASS_SHIFT) - lowest;
    if (class < 0)
        return 0;
    return class < CLASSES ? (size_t) class : CLASSES - 1;
}

static double time_of(const struct choice *c, size_t job, size_t machine)
{
    return c->field->open[job * c->field->machine_count + machine];
}

static bool is_allowed(const struct choice *c, size_t job, size_t machine)
{
    return c->field->wait[machine] + time_of(c, job, machine) <= c->longest[job];
}

/* Sets what is allowed to the job, and its cheapest machine (tie: least wait, then lowest
 * index). */
static void find_home(struct choice *c, size_t job)
{
    const struct makespan_field *f = c->field;
    double least_end = HUGE_VAL, least = HUGE_VAL;
    size_t home = 0;

    for (size_t j = 0; j < f->machine_count; j++)
        least_end = fmin(least_end, f->wait[j] + time_of(c, job, j));
    c->longest[job] = fmax(c->value, least_end);
    for (size_t j = 0; j < f->machine_count; j++) {
        double cost = c->price[j] * time_of(c, job, j);
        bool tie = cost == least && cost < HUGE_VAL;

        if ((cost < least || (tie && f->wait[j] < f->wait[home])) &&
            is_allowed(c, job, j)) {
            least = cost;
            home = j;
        }
    }
    c->home[job] = (uint32_t)home;
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

static double cost_at_home(const struct choice *c, size_t job)
{
    return c->price[c->home[job]] * time_of(c, job, c->home[job]);
}

/* The extra of a pair that may be chosen besides the cheapest; HUGE_VAL: it may not. */
static double extra_of(const struct choice *c, size_t job, size_t machine, double least)
{
    double extra;

    if (machine == c->home[job] || !is_allowed(c, job, machine))
        return HUGE_VAL;
    extra = c->price[machine] * time_of(c, job, machine) - least;
    return extra <= c->most_extra ? extra : HUGE_VAL;
}

static void set_limits(struct choice *c)
{
    const struct makespan_field *f = c->field;
    size_t job_count = f->job_count, machine_count = f->machine_count;
    size_t sum[CLASSES] = {0};

    c->longest = NEW(f->arena, double, job_count);
    c->home = NEW(f->arena, uint32_t, job_count);
    c->histogram = NEW(f->arena, size_t, machine_count * CLASSES);
    c->limits = NEW(f->arena, struct limit, machine_count);
    for (size_t i = 0; i < job_count; i++) {
        double least;

        find_home(c, i);
        least = cost_at_home(c, i);
        for (size_t j = 0; j < machine_count; j++) {
            double extra = extra_of(c, i, j, least);
            if (extra < HUGE_VAL)
                c->histogram[j * CLASSES + class_of(c, extra)]++;
        }
        if (ticks_spent(f->ticks, 3 * machine_count))
            return;
    }
    for (size_t j = 0; j < machine_count; j++) {
        for (size_t k = 0; k < CLASSES; k++)
            sum[k] += c->histogram[j * CLASSES + k];
        c->limits[j] =
            limit_for(c->histogram + j * CLASSES, MACHINE_PAIRS_MIN, machine_count);
    }
    c->overall =
        limit_for(sum, job_count > PAIRS_MIN ? job_count : PAIRS_MIN, machine_count);
}

/* A job's machines of least extra, as far as it was scanned (tie: lowest index). */
struct nearest {
    uint32_t machine[WANTED_MAX];
    double extra[WANTED_MAX];
    size_t count;
};

static void note_nearest(struct nearest *n, size_t machine, double extra)
{
    size_t k = n->count < WANTED_MAX ? n->count++ : WANTED_MAX - 1;

    for (; k > 0 && n->extra[k - 1] > extra; k--) {
        n->machine[k] = n->machine[k - 1];
        n->extra[k] = n->extra[k - 1];
    }
    n->machine[k] = (uint32_t)machine;
    n->extra[k] = extra;
}

static void reserve_chosen(const struct makespan_field *f, struct makespan_pairs *p,
                           size_t count, size_t *room)
{
    if (count <= *room)
        return;
    p->chosen = GROW(f->arena, p->chosen, uint32_t, *room, 2 * count);
    *room = 2 * count;
}

/* Chooses one job's pairs by the limits, and finds its nearest ones. */
static size_t choose_row(const struct choice *c, size_t job, uint32_t *chosen,
                         struct nearest *nearest)
{
    size_t machine_count = c->field->machine_count, count = 0;
    double least = cost_at_home(c, job);

    for (size_t j = 0; j < machine_count; j++) {
        double extra = extra_of(c, job, j, least);
        size_t class;

        if (j == c->home[job]) {
            chosen[count++] = (uint32_t)j;
            continue;
        }
        if (!(extra < HUGE_VAL))
            continue;
        if (nearest->count < WANTED_MAX || extra < nearest->extra[WANTED_MAX - 1])
            note_nearest(nearest, j, extra);
        class = class_of(c, extra);
        if (within(&c->overall, class, job, j, machine_count) ||
            within(&c->limits[j], class, job, j, machine_count))
            chosen[count++] = (uint32_t)j;
    }
    return count;
}

static void choose_rows(const struct choice *c, struct makespan_pairs *p)
{
    const struct makespan_field *f = c->field;
    size_t room = 3 * f->job_count + f->machine_count, count = 0;

    p->chosen = NEW(f->arena, uint32_t, room);
    for (size_t i = 0; i < f->job_count; i++) {
        struct nearest nearest = {.count = 0};
        bool big = time_of(c, i, c->home[i]) > BIG_JOB * c->value;

        reserve_chosen(f, p, count + f->machine_count, &room);
        p->chosen_first[i] = count;
        count += choose_row(c, i, p->chosen + count, &nearest);
        p->least_cost[i] = cost_at_home(c, i);
        for (size_t k = 0; k < WANTED_MAX; k++)
            p->nearest[i * WANTED_MAX + k] =
                k < nearest.count ? nearest.machine[k] : MAKESPAN_NONE;
        if (big && p->wanted[i] < BIG_PAIRS)
            p->wanted[i] = BIG_PAIRS;
        if (ticks_spent(f->ticks, 2 * f->machine_count))
            break;
    }
    p->chosen_first[f->job_count] = count;
}

/* ---- the lists ---- */

static void add_pair(const struct makespan_field *f, struct makespan_pairs *p, size_t job,
                     uint32_t machine)
{
    double time = f->open[job * f->machine_count + machine];

    p->by_job[p->count++] =
        (struct makespan_pair){(uint32_t)job, machine, time,
                               f->prices.price[machine] * time - p->least_cost[job]};
    p->machine_first[machine + 1]++;
}

static bool has_machine(const uint32_t *list, size_t count, uint32_t machine)
{
    for (size_t k = 0; k < count; k++)
        if (list[k] == machine)
            return true;
    return false;
}

/* The chosen pairs of a job, then its nearest ones up to the number it wants. */
static void list_row(const struct makespan_field *f, struct makespan_pairs *p, size_t job)
{
    const uint32_t *chosen = p->chosen + p->chosen_first[job];
    const uint32_t *nearest = p->nearest + job * WANTED_MAX;
    size_t chosen_count = p->chosen_first[job + 1] - p->chosen_first[job];
    size_t count = chosen_count;

    p->job_first[job] = p->count;
    for (size_t k = 0; k < chosen_count; k++)
        add_pair(f, p, job, chosen[k]);
    for (size_t k = 0; k < WANTED_MAX && count < p->wanted[job]; k++) {
        if (nearest[k] == MAKESPAN_NONE)
            break;
        if (has_machine(chosen, chosen_count, nearest[k]))
            continue;
        add_pair(f, p, job, nearest[k]);
        count++;
    }
}

/* Room for all pairs that the jobs have or want. */
static void reserve(const struct makespan_field *f, struct makespan_pairs *p)
{
    size_t most = 0;

    for (size_t i = 0; i < f->job_count; i++) {
        size_t chosen = p->chosen_first[i + 1] - p->chosen_first[i];
        most += chosen > p->wanted[i] ? chosen : p->wanted[i];
    }
    if (most <= p->room)
        return;
    p->room = most + most / 2;
    p->by_job = NEW(f->arena, struct makespan_pair, p->room);
    p->by_machine = NEW(f->arena, struct makespan_pair, p->room);
}

enum error_code makespan_pairs_list(const struct makespan_field *f,
                                    struct makespan_pairs *p)
{
    reserve(f, p);
    p->count = 0;
    memset(p->machine_first, 0, (f->machine_count + 1) * sizeof(*p->machine_first));
    for (size_t i = 0; i < f->job_count; i++)
        list_row(f, p, i);
    p->job_first[f->job_count] = p->count;
    for (size_t j = 0; j < f->machine_count; j++)
        p->machine_first[j + 1] += p->machine_first[j];
    memcpy(p->next, p->machine_first, f->machine_count * sizeof(*p->next));
    for (size_t k = 0; k < p->count; k++)
        p->by_machine[p->next[p->by_job[k].machine]++] = p->by_job[k];
    return OK;
}

static void make_pairs(const struct makespan_field *f, struct makespan_pairs *p)
{
    struct arena *a = f->arena;

    p->job_first = NEW(a, size_t, f->job_count + 1);
    p->machine_first = NEW(a, size_t, f->machine_count + 1);
    p->least_cost = NEW(a, double, f->job_count);
    p->wanted = NEW(a, uint8_t, f->job_count);
    p->chosen_first = NEW(a, size_t, f->job_count + 1);
    p->nearest = NEW(a, uint32_t, f->job_count * WANTED_MAX);
    p->next = NEW(a, size_t, f->machine_count);
    memset(p->wanted, 1, f->job_count);
}

enum error_code makespan_pairs_choose(const struct makespan_field *f, double upper,
                                      struct makespan_pairs *out)
{
    struct choice c = {.field = f, .price = f->prices.price, .value = f->prices.value};

    if (!out->wanted)
        make_pairs(f, out);
    c.most_extra = fmax(0, upper - c.value);
    set_limits(&c);
    if (f->ticks->spent)
        return OK;
    choose_rows(&c, out);
    return f->ticks->spent ? OK : makespan_pairs_list(f, out);
}
