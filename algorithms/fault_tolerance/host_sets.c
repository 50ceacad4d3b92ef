/* fault_tolerance/host_sets.c - which hosts copies of a job are best on, together. */
#include "algorithms/fault_tolerance/host_sets.h"

#include "models/base/budget.h"

#include <math.h>
#include <string.h>

/* Times that differ by less than this share are equal. */
#define TIE_RATIO 1e-12

enum { STEPS_AT_ONCE = 256 }; /* between two looks at the best so far */

struct search {
    const struct host_sets_in *in;
    struct copies *work;
    struct arena *a;
    size_t step_count;
    double *product[HOST_SET_MAX + 1]; /* of the first so many of `picked` */
    double *least[HOST_SET_MAX + 1];   /* at each step of so many least courses */
    size_t picked[HOST_SET_MAX];
    size_t count;         /* copies of the sets that are looked for */
    struct host_set best; /* of them */
    size_t products_left;
};

/* ---- products of courses ---- */

/* Of a product with one course more: its time, or `limit` and more as soon as it is sure
 * to be that much. */
static double time_with(const struct search *s, const double *product, const double *left,
                        double limit_s)
{
    double sum = 0, step_s = s->work->step_s, last[2] = {0, 0};
    size_t end = s->step_count, behind = copies_behind(s->work);

    for (size_t j = 0; j < end;) {
        size_t stop = end - j > STEPS_AT_ONCE ? j + STEPS_AT_ONCE : end;

        for (; j < stop; j++)
            sum += product[j] * left[j];
        if (sum * step_s >= limit_s || budget_step(s->work->budget, STEPS_AT_ONCE))
            return HUGE_VAL;
        if (product[j - 1] * left[j - 1] < COPIES_LEFT_MIN)
            return sum * step_s;
    }
    last[1] = product[end - 1] * left[end - 1];
    if (end > behind)
        last[0] = product[end - 1 - behind] * left[end - 1 - behind];
    return sum * step_s + copies_rest_s(s->work, last[1], last[0]);
}

static void multiply(const struct search *s, const double *product, const double *left,
                     double *out)
{
    for (size_t j = 0; j < s->step_count; j++)
        out[j] = product[j] * left[j];
}

static const double *left_of(const struct search *s, size_t class)
{
    return s->work->course[class].left;
}

/* s->product[] of s->picked from `from` to `to`. */
static void multiply_picked(struct search *s, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        multiply(s, s->product[i], left_of(s, s->picked[i]), s->product[i + 1]);
}

/* Copies of the set on hosts of this class. */
static size_t uses_of(const size_t *picked, size_t count, size_t class)
{
    size_t uses = 0;

    for (size_t i = 0; i < count; i++)
        uses += picked[i] == class;
    return uses;
}

static bool has_room(const struct search *s, size_t count, size_t class)
{
    return uses_of(s->picked, count, class) < s->in->classes[class].host_count;
}

/* ---- the least of all ---- */

/* Puts `times` equal values among the least, at most `most`, which rise. */
static void keep_least(double *low, size_t *count, size_t most, double left, size_t times)
{
    for (size_t i = 0; i < times && i < most; i++) {
        size_t at = *count;

        if (*count == most && !(left < low[most - 1]))
            return;
        if (*count == most)
            at = most - 1;
        else
            ++*count;
        for (; at > 0 && low[at - 1] > left; at--)
            low[at] = low[at - 1];
        low[at] = left;
    }
}

/* At each step the least courses of hosts that are not fixed, and their products. */
static void make_least(struct search *s)
{
    const struct host_sets_in *in = s->in;
    size_t most = in->copies_max - in->fixed_count;

    for (size_t j = 0; j < s->step_count; j++) {
        double low[HOST_SET_MAX];
        size_t count = 0;

        for (size_t c = in->fixed_count; c < in->class_count; c++)
            keep_least(low, &count, most, left_of(s, c)[j], in->classes[c].host_count);
        s->least[0][j] = 1;
        for (size_t i = 1; i <= most; i++)
            s->least[i][j] = s->least[i - 1][j] * (i <= count ? low[i - 1] : 1);
        if (budget_step(s->work->budget, in->class_count * 4))
            return;
    }
}

/* Nothing is known of hosts in no class, but that they work as long as that. */
static double bound_of(const struct search *s, size_t count)
{
    size_t fixed = s->in->fixed_count < count ? s->in->fixed_count : count;
    double steps = ceil(s->in->left_out_s / s->work->step_s), sum = 0;
    const double *product = s->product[fixed], *least = s->least[count - fixed];

    if (steps >= (double)s->step_count)
        return time_with(s, product, least, HUGE_VAL);
    for (size_t j = 0; j < (size_t)steps; j++)
        sum += product[j] * least[j];
    return fmin(sum * s->work->step_s, s->in->left_out_s);
}

/* ---- sets ---- */

/* Takes the picked set if it is better than the best: less time, ties: less cost. */
static void compare(struct search *s, double time_s)
{
    struct host_set *best = &s->best;
    double cost_s;

    if (!(time_s < best->time_s * (1 + TIE_RATIO)))
        return;
    cost_s = copies_together(s->work, s->picked, s->count).cost_s;
    if (time_s > best->time_s * (1 - TIE_RATIO) &&
        !(cost_s < best->cost_s * (1 - TIE_RATIO)))
        return;
    best->time_s = time_s;
    best->cost_s = cost_s;
    memcpy(best->classes, s->picked, s->count * sizeof(*s->picked));
}

static double limit_of(const struct search *s)
{
    return s->best.time_s * (1 + TIE_RATIO);
}

static bool is_spent(const struct search *s)
{
    return s->work->budget && s->work->budget->spent;
}

/* Sets that begin with the first `level` of s->picked and go on with classes from `from`
 * on. */
static void extend(struct search *s, size_t level, size_t from)
{
    bool is_last = level + 1 == s->count;

    for (size_t c = from; c < s->in->class_count && s->products_left && !is_spent(s);
         c++) {
        double time_s;

        if (!has_room(s, level, c))
            continue;
        s->products_left--;
        s->picked[level] = c;
        if (is_last) {
            compare(s, time_with(s, s->product[level], left_of(s, c), limit_of(s)));
            continue;
        }
        multiply_picked(s, level, level + 1);
        time_s = time_with(s, s->product[level + 1], s->least[s->count - level - 1],
                           limit_of(s));
        if (time_s < limit_of(s))
            extend(s, level + 1, c);
    }
}

/* Puts the host into the picked set's place that lowers the time most. */
static double improve(struct search *s, size_t place, const double *others)
{
    size_t best = SIZE_MAX;
    double best_s = HUGE_VAL;

    for (size_t c = s->in->fixed_count; c < s->in->class_count && !is_spent(s); c++) {
        double time_s;

        s->picked[place] = SIZE_MAX;
        if (!has_room(s, place + 1, c))
            continue;
        time_s = time_with(s, others, left_of(s, c), best_s);
        if (time_s < best_s) {
            best_s = time_s;
            best = c;
        }
    }
    s->picked[place] = best;
    return best_s;
}

/* One pass of exchanges over a set of `count` that takes time_s. */
static void exchange(struct search *s, size_t count, double time_s)
{
    size_t last = count - 1;

    for (size_t place = s->in->fixed_count; place < count; place++) {
        size_t before[HOST_SET_MAX];
        double other_s;

        memcpy(before, s->picked, sizeof(before));
        s->picked[place] = before[last];
        s->picked[last] = before[place];
        multiply_picked(s, place, last);
        other_s = improve(s, last, s->product[last]);
        if (other_s < time_s * (1 - TIE_RATIO))
            time_s = other_s;
        else
            memcpy(s->picked, before, sizeof(before));
        multiply_picked(s, place, last);
    }
}

/* Rising behind the fixed ones. */
static void sort_picked(struct search *s, size_t count)
{
    for (size_t i = s->in->fixed_count + 1; i < count; i++)
        for (size_t k = i; k > s->in->fixed_count && s->picked[k] < s->picked[k - 1];
             k--) {
            size_t swap = s->picked[k];

            s->picked[k] = s->picked[k - 1];
            s->picked[k - 1] = swap;
        }
}

/* The set of greedy, one host more than `known` of `count` - 1, SIZE_MAX: none. */
static void find(struct search *s, size_t *known, size_t count)
{
    size_t fixed = s->in->fixed_count;
    double time_s;

    s->count = count;
    s->best = (struct host_set){.count = count, .time_s = HUGE_VAL, .cost_s = HUGE_VAL};
    memcpy(s->picked, known, (count - 1) * sizeof(*known));
    multiply_picked(s, fixed, count - 1);
    time_s = improve(s, count - 1, s->product[count - 1]);
    if (s->picked[count - 1] != SIZE_MAX) {
        if (count > fixed + 1)
            exchange(s, count, time_s);
        sort_picked(s, count);
        multiply_picked(s, fixed, count - 1);
        memcpy(known, s->picked, count * sizeof(*known));
        compare(s, time_with(s, s->product[count - 1], left_of(s, s->picked[count - 1]),
                             HUGE_VAL));
    }
    s->products_left = s->in->products_max;
    extend(s, fixed, fixed);
    s->best.is_complete = s->products_left > 0 && !is_spent(s);
}

/* The first `count` of the fixed ones. */
static void take_fixed(struct search *s, size_t count)
{
    struct copies_figures figures = copies_together(s->work, s->picked, count);

    s->best = (struct host_set){.count = count,
                                .time_s = figures.time_s,
                                .cost_s = figures.cost_s,
                                .is_complete = true};
    memcpy(s->best.classes, s->picked, count * sizeof(*s->picked));
}

/* ---- one copy: in closed form ---- */

static double cost_of(const struct copy *copy)
{
    return copy->plan.expected_s *
           (copy->job.mean_s / (copy->job.mean_s + copy->job.delay_s));
}

/* The class for one copy, the quickest of those that do not cost too much. */
static size_t single_of(const struct host_sets_in *in, double max_cost_s)
{
    size_t best = 0;

    for (size_t c = 1; c < in->class_count && in->fixed_count == 0; c++) {
        const struct copy *x = &in->classes[c].copy, *y = &in->classes[best].copy;
        bool is_over = cost_of(x) > max_cost_s;
        bool was_over = cost_of(y) > max_cost_s;

        if (is_over != was_over ? was_over
                                : x->plan.expected_s < y->plan.expected_s ||
                                      (x->plan.expected_s == y->plan.expected_s &&
                                       cost_of(x) < cost_of(y)))
            best = c;
    }
    return best;
}

static struct host_set alone(const struct host_sets_in *in)
{
    struct host_set set = {.count = 1, .is_complete = true};
    const struct copy *copy;

    set.classes[0] = single_of(in, in->max_cost_s);
    copy = &in->classes[set.classes[0]].copy;
    set.time_s = isfinite(copy->plan.expected_s) ? copy->plan.expected_s : (double)NAN;
    set.cost_s = isnan(set.time_s) ? (double)NAN : cost_of(copy);
    return set;
}

/* ---- all of it ---- */

/* A bound and a probability for the set. The grid is a thousandth off, a bound of which
 * is above the time is not worth showing. */
static void add_figures(const struct search *s, struct host_set *set)
{
    double left = 1;

    if (s->in->wants_bounds) {
        set->lower_bound_s = bound_of(s, set->count);
        if (!(set->lower_bound_s <= set->time_s))
            set->lower_bound_s = set->time_s;
    }
    for (size_t i = 0; i < set->count && !isnan(s->in->deadline_s); i++) {
        size_t class = set->classes[i];

        left *= 1 - copies_done(s->work, class, &s->in->classes[class].copy,
                                s->in->deadline_s);
    }
    if (!isnan(s->in->deadline_s))
        set->done_probability = 1 - left;
}

static void without_courses(const struct host_sets_in *in, struct host_set *sets)
{
    double least_s = in->left_out_s;

    for (size_t c = 0; c < in->class_count; c++)
        least_s = fmin(least_s, in->classes[c].copy.job.work_s);
    for (size_t k = 1; k <= in->copies_max; k++) {
        struct host_set *set = &sets[k - 1];

        if (k > 1)
            *set = (struct host_set){
                .count = k, .time_s = (double)NAN, .cost_s = (double)NAN};
        set->lower_bound_s =
            in->wants_bounds && isfinite(least_s) ? least_s : (double)NAN;
        set->done_probability = (double)NAN;
    }
}

/* Room for products, of which none is 1. */
static void make_products(struct search *s)
{
    struct copies *work = s->work;
    size_t needed = 2 * (s->in->copies_max + 1) * s->step_count;

    if (work->product_room < needed) {
        work->products = NEW(s->a, double, needed);
        work->product_room = needed;
    }
    for (size_t i = 0; i <= s->in->copies_max; i++) {
        s->product[i] = work->products + 2 * i * s->step_count;
        s->least[i] = work->products + (2 * i + 1) * s->step_count;
    }
    for (size_t j = 0; j < s->step_count; j++)
        s->product[0][j] = 1;
    for (size_t i = 0; i < s->in->fixed_count; i++)
        s->picked[i] = i;
    multiply_picked(s, 0, s->in->fixed_count);
}

void host_sets_search(const struct host_sets_in *in, struct copies *work,
                      struct host_set *sets, struct arena *a)
{
    struct search s = {.in = in, .work = work, .a = a};
    struct copy list[COPIES_MAX];
    size_t known[HOST_SET_MAX] = {0};
    bool is_good = true;

    sets[0] = alone(in);
    for (size_t c = 0; c < in->class_count; c++) {
        list[c] = in->classes[c].copy;
        is_good = is_good && list[c].job.work_s > 0;
    }
    if (in->copies_max < 2 && !in->wants_bounds && isnan(in->deadline_s))
        is_good = false;
    if (is_good)
        copies_follow(work, list, in->class_count, &is_good, a);
    if (!is_good) {
        without_courses(in, sets);
        return;
    }
    s.step_count = work->step_count;
    make_products(&s);
    make_least(&s);
    for (size_t i = 0; i < in->fixed_count; i++)
        known[i] = i;
    if (in->fixed_count == 0)
        known[0] = single_of(in, HUGE_VAL);
    for (size_t k = 1; k <= in->copies_max; k++) {
        if (k > 1) {
            if (k <= in->fixed_count)
                take_fixed(&s, k);
            else
                find(&s, known, k);
            sets[k - 1] = s.best;
            if (!isfinite(s.best.time_s))
                sets[k - 1].time_s = sets[k - 1].cost_s = (double)NAN;
        }
        sets[k - 1].lower_bound_s = sets[k - 1].done_probability = (double)NAN;
        add_figures(&s, &sets[k - 1]);
    }
}
