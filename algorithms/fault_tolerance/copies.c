/* fault_tolerance/copies.c - copies of a job on hosts that are unlike.
 *
 * Segment by segment, with all times in whole steps: in[j] is the chance that a
 * segment is begun at step j without a restart, again[j] with one. Of those that are
 * under way a share 1 - e^(-dt/M) fails in each step and begins again after D; who
 * lives through the whole attempt begins the next segment. The ends of the segments
 * are rounded, not their lengths, so that many short ones are not all off to one side.
 */
#include "algorithms/fault_tolerance/copies.h"

#include "models/base/budget.h"

#include <math.h>
#include <string.h>

/* Steps of the shortest run time; run times of the first window; what may be left at
 * its end. */
#define STEPS_OF_RUN       2000.0
#define STEPS_OF_RUN_LEAST 200.0 /* where the best one takes many times as long */
#define SHORTEST_S         1e-9
#define RUNS_FIRST         3.0
#define LEFT_ENOUGH        1e-6  /* beyond the longest window: too little to matter */
#define TAIL_SHARE         0.1   /* of the grid, by whose end the tail is judged */
#define SHARE_MIN          1e-20 /* of a segment, at a step: nothing is under way */

enum { STEP_LOOKS = 4 }; /* what a step of a segment costs, about */

/* Whole steps, at least one. */
static size_t steps_of(double time_s, double step_s)
{
    double steps = round(time_s / step_s);

    return steps < 1 ? 1 : steps > COPIES_STEPS_MAX ? COPIES_STEPS_MAX : (size_t)steps;
}

/* One segment of a copy. */
struct segment {
    size_t begin;           /* no step before has a begin of it */
    size_t first, repeated; /* steps of an attempt without and with the restart */
    size_t delay;
    double rate; /* of failures in a step */
    size_t step_count;
    size_t end; /* no step from here on has a begin of it without a restart */
};

/* Far quicker than fmax(), which must be called. */
static inline double not_negative(double x)
{
    return x > 0 ? x : 0;
}

/* From the begins of this segment those of the next one; held gets those that are under
 * way. All of it from s->begin on, what is before is left alone. Returns s->end of the
 * next one: when nothing has been under way for so long that nothing comes back. */
static size_t pass(const struct segment *s, const double *in, double *again, double *out,
                   double *held)
{
    double fails = -expm1(-s->rate), fresh = 0, restarted = 0;
    double lives_first = exp(-s->rate * (double)s->first);
    double lives_repeated = exp(-s->rate * (double)s->repeated);
    size_t first_end = s->begin + s->first, repeated_end = s->begin + s->repeated;
    size_t j = s->begin, quiet = 0, quiet_max = s->delay + s->repeated;

    for (size_t i = s->begin; i <= s->begin + s->delay && i < s->step_count; i++)
        again[i] = 0;
    for (; j < s->step_count && (j < s->end || quiet <= quiet_max); j++) {
        double begins = j < s->end ? in[j] : 0;
        double ends_first =
            j >= first_end && j - s->first < s->end ? in[j - s->first] * lives_first : 0;
        double ends_repeated =
            j >= repeated_end ? again[j - s->repeated] * lives_repeated : 0;

        fresh = not_negative(fresh - ends_first) + begins;
        restarted = not_negative(restarted - ends_repeated) + again[j];
        out[j] = ends_first + ends_repeated;
        held[j] += fresh + restarted;
        if (j + 1 + s->delay < s->step_count)
            again[j + 1 + s->delay] = fails * (fresh + restarted);
        quiet = fresh + restarted < SHARE_MIN ? quiet + 1 : 0;
        fresh *= 1 - fails;
        restarted *= 1 - fails;
    }
    return j;
}

/* Work of a segment of a plan, and the checkpoint at its end. */
static double span_of(const struct copy *copy, double n)
{
    const struct finite_plan *plan = &copy->plan;

    if (plan->count <= 1)
        return copy->job.work_s;
    if (n + 1 >= plan->count)
        return plan->last_s;
    return (n > 0 ? plan->middle_s : plan->first_s) + copy->job.overhead_s;
}

/* The course of a copy; work has room for c->step_count steps each of in, again, next. */
static void follow(const struct copy *copy, const struct copies *c, double *work,
                   struct copy_course *out)
{
    size_t count = c->step_count, begin = 0, done_at = 1;
    double *in = work, *again = in + count, *next = again + count;
    double end_s = 0, done = 0;

    memset(out->held, 0, count * sizeof(*out->held));
    in[0] = 1;
    for (double n = 0; n < fmax(1, copy->plan.count) && begin < count; n++) {
        double restart_s = n > 0 ? copy->job.restart_s : copy->job.scratch_s;
        double delay = round(copy->job.delay_s / c->step_s), *swap = in;
        struct segment s = {.begin = begin,
                            .delay = (size_t)fmin(delay, (double)count),
                            .rate = c->step_s / copy->job.mean_s,
                            .step_count = count,
                            .end = done_at};
        size_t end;

        if (budget_step(c->budget, STEP_LOOKS * (count - begin)))
            return;
        end_s += span_of(copy, n);
        end = steps_of(end_s, c->step_s);
        s.first = end > begin ? end - begin : 1;
        s.repeated = s.first + (restart_s > 0 ? steps_of(restart_s, c->step_s) : 0);
        done_at = pass(&s, in, again, next, out->held);
        begin = end;
        in = next;
        next = swap;
    }
    for (size_t j = 0; j < count; j++) {
        done += j >= begin && j < done_at ? in[j] : 0;
        out->left[j] = not_negative(1 - done);
    }
}

/* Room for `count` courses of c->step_count steps, and for work; *work is its begin. */
static void make_room(struct copies *c, size_t count, double **work, struct arena *a)
{
    size_t needed = (2 * count + 3) * c->step_count;

    if (c->room < needed) {
        c->memory = NEW(a, double, needed);
        c->room = needed;
    }
    for (size_t i = 0; i < count; i++)
        c->course[i] = (struct copy_course){c->memory + 2 * i * c->step_count,
                                            c->memory + (2 * i + 1) * c->step_count};
    *work = c->memory + 2 * count * c->step_count;
}

static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* They take the same course. */
static bool is_equal(const struct copy *a, const struct copy *b)
{
    return is_same(a->job.work_s, b->job.work_s) &&
           is_same(a->job.mean_s, b->job.mean_s) &&
           is_same(a->job.overhead_s, b->job.overhead_s) &&
           is_same(a->job.restart_s, b->job.restart_s) &&
           is_same(a->job.scratch_s, b->job.scratch_s) &&
           is_same(a->job.delay_s, b->job.delay_s) &&
           is_same(a->plan.count, b->plan.count) &&
           is_same(a->plan.first_s, b->plan.first_s) &&
           is_same(a->plan.middle_s, b->plan.middle_s) &&
           is_same(a->plan.last_s, b->plan.last_s);
}

/* The first of the copies before i that is equal; `first` if it is, or if none is. */
static size_t equal_before(const struct copy *list, size_t i, size_t first)
{
    for (size_t k = 0; k < i && !is_equal(&list[i], &list[first]); k++)
        if (is_equal(&list[i], &list[k]))
            return k;
    return first;
}

/* The courses of all copies but that one, which is known; of equal ones once. */
static void follow_others(struct copies *c, const struct copy *list, size_t first,
                          double *work)
{
    for (size_t i = 0; i < c->count; i++) {
        size_t like = equal_before(list, i, first);

        if (i == first)
            continue;
        if (is_equal(&list[i], &list[like]))
            c->course[i] = c->course[like];
        else
            follow(&list[i], c, work, &c->course[i]);
    }
}

void copies_follow(struct copies *c, const struct copy *list, size_t count, bool *is_good,
                   struct arena *a)
{
    double shortest_s = HUGE_VAL, steps, *work = NULL;
    size_t first = 0;

    *is_good = true;
    for (size_t i = 0; i < count; i++) {
        *is_good = *is_good && list[i].plan.count <= COPIES_SEGMENTS_MAX;
        shortest_s = fmin(shortest_s, list[i].job.work_s);
        first = list[i].plan.expected_s < list[first].plan.expected_s ? i : first;
    }
    c->count = count;
    c->step_s =
        fmin(fmax(shortest_s / STEPS_OF_RUN,
                  RUNS_FIRST * list[first].plan.expected_s / (COPIES_STEPS_MAX / 2.0)),
             shortest_s / STEPS_OF_RUN_LEAST);
    c->step_s = fmax(c->step_s, SHORTEST_S);
    steps = RUNS_FIRST * list[first].plan.expected_s / c->step_s;
    *is_good = *is_good && steps < COPIES_STEPS_MAX;
    if (!*is_good)
        return;
    for (c->step_count = (size_t)steps + 2;; c->step_count *= 2) {
        make_room(c, count, &work, a);
        follow(&list[first], c, work, &c->course[first]);
        if (budget_step(c->budget, c->step_count)) {
            *is_good = false;
            return;
        }
        if (c->course[first].left[c->step_count - 1] < COPIES_LEFT_MIN ||
            2 * c->step_count > COPIES_STEPS_MAX)
            break;
    }
    *is_good = c->course[first].left[c->step_count - 1] < LEFT_ENOUGH;
    if (*is_good)
        follow_others(c, list, first, work);
    *is_good = *is_good && !budget_step(c->budget, 0);
}

size_t copies_behind(const struct copies *c)
{
    size_t behind = (size_t)(TAIL_SHARE * (double)c->step_count);

    return behind ? behind : 1;
}

double copies_rest_s(const struct copies *c, double left, double before)
{
    size_t behind = copies_behind(c);
    double rate = before > left && left > 0 ? log(before / left) / (double)behind : 0;

    if (left < COPIES_LEFT_MIN || c->step_count <= behind)
        return 0;
    if (rate > 0)
        return left * c->step_s / -expm1(-rate);
    return left < LEFT_ENOUGH ? 0 : HUGE_VAL; /* one that waits, nearly never */
}

struct copies_figures copies_together(const struct copies *c, const size_t *places,
                                      size_t count)
{
    struct copies_figures sum = {0, 0};
    double left = 1, before = 1, held = 0, rest;
    size_t behind = copies_behind(c);

    for (size_t j = 0; j < c->step_count; j++) {
        double all = 1;

        held = 0;
        for (size_t i = 0; i < count; i++) {
            double others = c->course[places[i]].held[j];

            for (size_t k = 0; k < count; k++)
                others *= k == i ? 1 : c->course[places[k]].left[j];
            held += others;
            all *= c->course[places[i]].left[j];
        }
        sum.time_s += all * c->step_s;
        sum.cost_s += held * c->step_s;
        left = all;
        if (j + 1 + behind == c->step_count)
            before = all;
        if (all < COPIES_LEFT_MIN)
            return sum;
    }
    rest = copies_rest_s(c, left, before);
    sum.time_s += rest;
    sum.cost_s += rest * held / left;
    return sum;
}

double copies_done(const struct copies *c, size_t place, const struct copy *copy,
                   double time_s)
{
    const double *left = c->course[place].left;
    size_t last = c->step_count - 1, behind = copies_behind(c);
    double steps = round(time_s / c->step_s), rate;

    if (time_s < copy->job.work_s) /* steps are rounded, this is not */
        return 0;
    if (steps <= (double)last)
        return 1 - left[(size_t)steps];
    if (last <= behind || !(left[last] > 0))
        return 1 - left[last];
    rate = log(left[last - behind] / left[last]) / (double)behind;
    return 1 - left[last] * exp(-rate * (steps - (double)last));
}
