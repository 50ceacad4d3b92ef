/* placement/makespan_whole.c - a bound that knows that jobs are not divided.
 *
 * Prices of machines (prices.h) value every job as if it could be shared out. Here each
 * job i has a worth u_i >= 0, and a machine with the room goal - wait_j takes the jobs
 * that are worth most of those that fit into it whole. When
 *
 *     sum_i u_i > sum_j (most worth of jobs that machine j has room for),
 *
 * not all jobs can be done within the goal: no plan is that short. At u_i = min_j p_j
 * t_ij that says what the prices say; from there the worths rise of jobs that no machine
 * took and fall of those that several took, and the goal goes up whenever it is proven
 * too short.
 *
 * Source: the Lagrangian relaxation of the assignment of jobs, as for generalised
 * assignment problems (Fisher, Jaikumar, Van Wassenhove 1986); steps of a subgradient
 * with some of the last directions in it (Camerini, Fratta, Maffioli 1975), of Polyak's
 * length. Cost: a round is a knapsack a machine, 40 to 250 microseconds each at 512 x 16
 * to 2048 x 64. The three matrices of 512 x 16: four fifths of the gap of 0.53 % are
 * closed in 0.2 s, of 0.45 %, and half of 0.056 %; at 1024 x 32 a third to a half.
 */
#include "algorithms/placement/knapsack.h"
#include "algorithms/placement/makespan_parts.h"

#include <float.h>
#include <string.h>

static const double OF_GAP_FIRST = 0.1, OF_GAP_LEAST = 0.02; /* by that the goal rises */
static const double OF_GAP_LAST = 0.004; /* nearer to what is proven is not worth it */
static const double TOLERANCE = 0.01;    /* of the gap, for the knapsacks */
static const double LENGTH = 1.5;        /* of a step, in Polyak's */
static const double SHORTER = 0.6, LONGER = 1.3, SHORTEST = 0.05;
static const double AIM = 0.02;             /* of the gap, beyond even */
static const double MEMORY = 0.6;           /* of the last direction in the next */
static const double JUST_BELOW = 1 - 2e-10; /* where a proof means that a plan is best */
static const double REACH = 0.01;           /* of a machine's worth, at first */

enum { PATIENCE = 6 }; /* rounds without a better value */

struct whole {
    struct makespan_field *field;
    struct knapsack *knapsack;
    struct knapsack_guess *guess; /* by machine */
    double *time;                 /* [machine * jobs + job], of the open pairs */
    double *worth, *best_worth, *direction;
    uint8_t *taken;
    double *left;              /* by job: 1 - how many machines take it */
    double upper, gap;         /* units: of a plan, and what is open at first */
    double proven, goal, rise; /* units */
    double length, best_value; /* the value by the total of worths */
    double total; /* of worths; steps keep it, as only their proportions count */
    double tolerance;
    size_t failures; /* rounds since the best value */
    size_t work;
};

static void find_worths(struct whole *w)
{
    const struct makespan_field *f = w->field;

    for (size_t i = 0; i < f->job_count; i++) {
        const double *time = f->open + i * f->machine_count;
        double least = HUGE_VAL;

        for (size_t j = 0; j < f->machine_count; j++) {
            double cost = f->prices.price[j] * time[j];

            least = cost < least ? cost : least;
            w->time[j * f->job_count + i] = time[j];
        }
        w->worth[i] = least;
        if (ticks_spent(f->ticks, f->machine_count))
            return;
    }
    memcpy(w->best_worth, w->worth, f->job_count * sizeof(*w->worth));
}

static void make_whole(struct makespan_field *f, double upper, struct whole *w)
{
    size_t jobs = f->job_count, machines = f->machine_count;

    *w = (struct whole){.field = f,
                        .upper = upper,
                        .proven = makespan_floor(f),
                        .length = LENGTH,
                        .best_value = -HUGE_VAL};
    w->gap = upper - w->proven;
    w->rise = OF_GAP_FIRST * w->gap;
    w->goal = w->proven + w->rise;
    w->tolerance = fmax(TOLERANCE * w->gap / upper, 1e-9);
    w->knapsack = knapsack_create(jobs, f->arena);
    w->guess = NEW(f->arena, struct knapsack_guess, machines);
    w->time = NEW(f->arena, double, jobs *machines);
    w->worth = NEW(f->arena, double, jobs);
    w->best_worth = NEW(f->arena, double, jobs);
    w->direction = NEW(f->arena, double, jobs);
    w->left = NEW(f->arena, double, jobs);
    w->taken = NEW(f->arena, uint8_t, jobs);
    for (size_t j = 0; j < machines; j++)
        w->guess[j] = (struct knapsack_guess){f->prices.price[j],
                                              REACH * f->prices.price[j] * upper};
    find_worths(w);
}

/* Fills the machines; returns how much worth is left, as a share of all. */
static double play_round(struct whole *w, double total)
{
    const struct makespan_field *f = w->field;
    double value = total;

    for (size_t i = 0; i < f->job_count; i++)
        w->left[i] = 1;
    for (size_t j = 0; j < f->machine_count && !f->ticks->spent; j++) {
        struct knapsack_ask ask = {.weight = w->time + j * f->job_count,
                                   .profit = w->worth,
                                   .count = f->job_count,
                                   .room = w->goal - f->wait[j],
                                   .tolerance = w->tolerance};

        if (ask.room < 0)
            continue;
        value -=
            knapsack_most(w->knapsack, &ask, &w->guess[j], f->ticks, &w->work, w->taken);
        for (size_t i = 0; i < f->job_count; i++)
            w->left[i] -= w->taken[i];
        ticks_spent(f->ticks, 4 * f->job_count);
    }
    return value / total;
}

/* The goal is proven too short. */
static void raise_goal(struct whole *w, double value)
{
    struct makespan_field *f = w->field;

    w->proven = w->goal;
    bound_list_note(&f->bounds, BOUND_WHOLE_JOBS,
                    fmin(w->proven * (1 - PRICES_SAFETY) / f->scale, DBL_MAX));
    w->rise = fmax(fmax(w->rise / 2, OF_GAP_LEAST * w->gap), value * w->goal);
    w->goal = fmin(w->goal + w->rise, w->upper * JUST_BELOW);
    w->length = fmin(w->length * LONGER, LENGTH);
}

static void take_best(struct whole *w, double value)
{
    w->best_value = value;
    w->failures = 0;
    memcpy(w->best_worth, w->worth, w->field->job_count * sizeof(*w->worth));
}

/* After rounds without progress: shorter steps from the best worths, a lower goal when
 * they are short already; false: it is not worth it any more. */
static bool go_back(struct whole *w)
{
    size_t jobs = w->field->job_count;

    memcpy(w->worth, w->best_worth, jobs * sizeof(*w->worth));
    memset(w->direction, 0, jobs * sizeof(*w->direction));
    w->failures = 0;
    w->length *= SHORTER;
    if (w->length >= SHORTEST * LENGTH)
        return true;
    if (w->goal - w->proven < OF_GAP_LAST * w->gap)
        return false;
    w->goal = w->proven + (w->goal - w->proven) / 3;
    w->length = LENGTH / 2;
    w->best_value = -HUGE_VAL;
    return true;
}

static double total_worth(const struct whole *w)
{
    double total = 0;

    for (size_t i = 0; i < w->field->job_count; i++)
        total += w->worth[i];
    return total;
}

/* false: every job is taken once, or none is worth anything. */
static bool step(struct whole *w, double value)
{
    size_t jobs = w->field->job_count;
    double square = 0, length, total;

    for (size_t i = 0; i < jobs; i++) {
        w->direction[i] = MEMORY * w->direction[i] + w->left[i];
        square += w->direction[i] * w->direction[i];
    }
    if (!(square > 0))
        return false;
    length = w->length * (fmax(-value, 0) + AIM * w->gap / w->upper) * w->total / square;
    for (size_t i = 0; i < jobs; i++)
        w->worth[i] = fmax(0, w->worth[i] + length * w->direction[i]);
    total = total_worth(w);
    if (!(total > 0))
        return false;
    for (size_t i = 0; i < jobs; i++)
        w->worth[i] *= w->total / total;
    return true;
}

void makespan_whole(struct makespan_field *f, double upper, size_t work_max)
{
    struct whole w;
    bool goes_on;

    if (f->ticks->spent || !(f->prices.value > 0) ||
        work_max / 2 < f->job_count * f->machine_count || /* less than a round */
        upper - makespan_floor(f) <= upper * PRICES_SAFETY)
        return;
    make_whole(f, upper, &w);
    w.total = total_worth(&w);
    goes_on = w.total > 0;
    while (goes_on && w.work < work_max && w.proven < upper * JUST_BELOW) {
        double value = play_round(&w, total_worth(&w));

        if (f->ticks->spent)
            return;
        if (value > PRICES_SAFETY) {
            raise_goal(&w, value);
            take_best(&w, -HUGE_VAL);
        } else if (value > w.best_value) {
            take_best(&w, value);
        } else if (++w.failures >= PATIENCE) {
            goes_on = go_back(&w);
            continue;
        }
        goes_on = step(&w, value);
    }
}
