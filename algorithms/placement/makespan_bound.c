/* placement/makespan_bound.c - how short a schedule can be at best.
 *
 *     longest_job  max over jobs of min over machines of wait_j + t_ij
 *     priced       prices.h
 *     eliminated   a plan shorter than U uses only pairs with wait_j + t_ij < U; with
 *                  the priced bound E of these no plan is shorter than min(U, E), and if
 *                  a job has no such pair than U
 *
 * The pairs and prices that elimination leaves guide the search too. makespan_tighten.c
 * adds grain and pigeonhole.
 *
 * Source: spec search.md 4.1, 4.4. Cost: rounds * jobs * machines.
 */
#include "algorithms/placement/makespan_parts.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* After the search: the prices are near their best, and change little. */
enum { CLOSING_ROUNDS = 60, CLOSINGS_MAX = 16 };
static const double WARM_FIRST_ETA = 0.03, WARM_LAST_ETA = 0.003;
static const double CLOSING_FIRST_ETA = 0.02, CLOSING_LAST_ETA = 0.001;

/* Time that a cell takes in a round, and rounds of the efforts, for makespan_effort(). */
static const double CELLS_PER_S = 1.2e9, EFFORT_SHARE = 0.3;
enum { FULL_ROUNDS = 540, FAST_ROUNDS = 60 };

static double wait_of(const struct makespan_problem *problem, size_t machine)
{
    return problem->wait_s ? problem->wait_s[machine] : 0;
}

static double scale_of(const struct makespan_problem *problem, struct ticks *ticks)
{
    const double *time_s = problem->time_s;
    double longest_s = 0;
    int exponent;

    for (size_t i = 0; i < problem->job_count; i++, time_s += problem->machine_count) {
        for (size_t j = 0; j < problem->machine_count; j++)
            longest_s =
                time_s[j] > longest_s && time_s[j] < HUGE_VAL ? time_s[j] : longest_s;
        if (ticks_spent(ticks, problem->machine_count))
            break;
    }
    for (size_t j = 0; j < problem->machine_count; j++)
        longest_s = fmax(longest_s, wait_of(problem, j));
    frexp(longest_s, &exponent);
    return ldexp(1, -exponent < DBL_MAX_EXP ? -exponent : DBL_MAX_EXP - 1);
}

/* Copies the times in units, and finds the longest job. */
static void copy_times(struct makespan_field *f)
{
    const double *time_s = f->problem->time_s;
    double *time = f->time;

    for (size_t i = 0; i < f->job_count; i++) {
        double least = HUGE_VAL;

        for (size_t j = 0; j < f->machine_count; j++) {
            double end;

            time[j] = time_s[j] * f->scale;
            end = f->wait[j] + time[j];
            least = end < least ? end : least;
        }
        assert(least < HUGE_VAL);
        f->longest = fmax(f->longest, least);
        if (ticks_spent(f->ticks, f->machine_count))
            return;
        time_s += f->machine_count;
        time += f->machine_count;
    }
}

static void note(struct makespan_field *f, enum bound_kind kind, double units)
{
    bound_list_note(&f->bounds, kind, fmin(units / f->scale, DBL_MAX));
}

/* What the prices prove, if they were valued at all. */
static void note_priced(struct makespan_field *f, enum bound_kind kind,
                        const struct prices *found, double upper)
{
    if (found->value > 0)
        note(f, kind, fmin(upper, found->value * (1 - PRICES_SAFETY)));
}

void makespan_field_create(const struct makespan_problem *problem, struct ticks *ticks,
                           struct makespan_field *f, struct arena *a)
{
    size_t cell_count = problem->job_count * problem->machine_count;

    assert(problem->job_count > 0 && problem->machine_count > 0);
    *f = (struct makespan_field){.problem = problem,
                                 .job_count = problem->job_count,
                                 .machine_count = problem->machine_count,
                                 .scale = scale_of(problem, ticks),
                                 .ticks = ticks,
                                 .arena = a};
    f->wait = NEW(a, double, f->machine_count);
    f->waits = NEW(a, struct prices_wait, f->machine_count);
    f->spare_load = NEW(a, double, f->machine_count);
    f->time = NEW(a, double, cell_count);
    for (size_t j = 0; j < f->machine_count; j++) {
        f->wait[j] = wait_of(problem, j) * f->scale;
        if (f->wait[j] > 0)
            f->waits[f->wait_count++] = (struct prices_wait){j, f->wait[j], 1};
    }
    f->open = f->time;
    if (ticks->spent)
        return;
    copy_times(f);
    note(f, BOUND_LONGEST_JOB, f->longest); /* of the jobs that were seen */
}

double makespan_floor(const struct makespan_field *f)
{
    return bound_list_best(&f->bounds) * f->scale;
}

static struct prices_problem priced_problem(const struct makespan_field *f,
                                            const double *time)
{
    return (struct prices_problem){.row_count = f->job_count,
                                   .column_count = f->machine_count,
                                   .time = time,
                                   .waits = f->waits,
                                   .wait_count = f->wait_count};
}

enum error_code makespan_price(struct makespan_field *f, bool fast)
{
    struct prices_problem p = priced_problem(f, f->time);

    f->open = f->time;
    f->prices.floor = f->longest;
    TRY(fast ? prices_find_fast(&p, f->ticks, &f->prices, f->arena)
             : prices_find(&p, f->ticks, &f->prices, f->arena));
    note_priced(f, BOUND_PRICED, &f->prices, HUGE_VAL);
    return OK;
}

/* Copies to `out` the pairs that a plan shorter than `upper` can use; false: a job has
 * none. Only a part of them when the time is up. */
static bool keep_shorter(const struct makespan_field *f, double upper, double *out)
{
    for (size_t i = 0; i < f->job_count; i++) {
        const double *time = f->time + i * f->machine_count;
        double *open = out + i * f->machine_count;
        bool any = false;

        for (size_t j = 0; j < f->machine_count; j++) {
            bool shorter = f->wait[j] + time[j] < upper;
            open[j] = shorter ? time[j] : HUGE_VAL;
            any = any || shorter;
        }
        if (!any)
            return false;
        if (ticks_spent(f->ticks, f->machine_count))
            break;
    }
    return true;
}

/* The value of prices on all pairs: they may be better than those that were found there.
 */
static enum error_code value_on_all(struct makespan_field *f, const struct prices *found)
{
    struct prices_problem p = priced_problem(f, f->time);
    struct prices all = {found->price, 0, f->longest};

    TRY(prices_improve(&p, 1, 1, 1, f->ticks, &all, f->arena));
    note_priced(f, BOUND_PRICED, &all, HUGE_VAL);
    return OK;
}

/* Room for a matrix that is not the one in use. */
static double *other_room(struct makespan_field *f)
{
    double **room = &f->rooms[f->rooms[0] && f->open == f->rooms[0]];

    if (!*room)
        *room = NEW(f->arena, double, f->job_count * f->machine_count);
    return *room;
}

enum error_code makespan_eliminate(struct makespan_field *f, double upper, bool fast)
{
    double *room = other_room(f);
    struct prices_problem p = priced_problem(f, room);
    struct prices found = {.floor = makespan_floor(f)};

    if (!keep_shorter(f, upper, room)) {
        note(f, BOUND_ELIMINATED, upper);
        return OK;
    }
    if (f->ticks->spent)
        return OK;
    if (fast)
        found.price = f->prices.price;
    TRY(fast ? prices_improve(&p, PRICES_ROUNDS_FAST, WARM_FIRST_ETA, WARM_LAST_ETA,
                              f->ticks, &found, f->arena)
             : prices_find(&p, f->ticks, &found, f->arena));
    note_priced(f, BOUND_ELIMINATED, &found, upper);
    if (f->ticks->spent)
        return OK;
    f->prices = found;
    f->open = room;
    return value_on_all(f, &found);
}

enum error_code makespan_close(struct makespan_field *f, double upper)
{
    double *room = other_room(f);
    struct prices_problem p = priced_problem(f, room);
    struct prices found = f->prices;

    if (!keep_shorter(f, upper, room)) {
        note(f, BOUND_ELIMINATED, upper);
        return OK;
    }
    found.floor = makespan_floor(f);
    for (size_t k = 0; k < CLOSINGS_MAX && !f->ticks->spent; k++) {
        double before = found.floor;

        TRY(prices_improve(&p, CLOSING_ROUNDS, found.price ? CLOSING_FIRST_ETA : 0.3,
                           CLOSING_LAST_ETA, f->ticks, &found, f->arena));
        note_priced(f, BOUND_ELIMINATED, &found, upper);
        if (found.floor <= before * (1 + 1e-6) || found.floor >= upper)
            break;
    }
    return OK;
}

enum error_code makespan_bound(const struct makespan_problem *problem, double upper_s,
                               struct budget *budget, struct bound_list *out,
                               struct arena *a)
{
    struct ticks ticks = {.budget = budget, .until = 1};
    struct makespan_field f;

    *out = (struct bound_list){0};
    makespan_field_create(problem, &ticks, &f, a);
    if (!ticks_ask(&ticks)) {
        TRY(makespan_price(&f, false));
        makespan_tighten(&f);
    }
    if (!ticks.spent && upper_s < HUGE_VAL &&
        makespan_floor(&f) < upper_s * f.scale * (1 - PRICES_SAFETY)) {
        TRY(makespan_eliminate(&f, upper_s * f.scale, false));
        makespan_tighten(&f);
    }
    *out = f.bounds;
    return OK;
}

enum bound_effort makespan_effort(size_t job_count, size_t machine_count, double limit_s)
{
    double round_s = (double)job_count * (double)machine_count / CELLS_PER_S;

    if (FULL_ROUNDS * round_s <= EFFORT_SHARE * limit_s)
        return EFFORT_FULL;
    return FAST_ROUNDS * round_s <= EFFORT_SHARE * limit_s ? EFFORT_FAST : EFFORT_NONE;
}
