/* placement/makespan_search.c - price-guided iterated local search.
 *
 * With prices p of value B (prices.h), sum_j p_j load_j = B + the extra of all pairs in
 * use (makespan_pairs.c), so a short schedule is one that is even and has little
 * extra. The search lowers the most loaded machine (makespan_look.c), now and again
 * shakes the assignment, and looks only at the pairs of little extra, which makes a look
 * about fifty times cheaper than over all machines:
 *
 *   start    makespan_fill.c by prices of 60 rounds; with all effort again by those that
 *            elimination leaves (makespan_bound.c), up to twice; the better one
 *   accept   the local optimum if its makespan - B is less than (1 + threshold) times
 *            that of the accepted one; else go back
 *   shake    eight random pairs are applied; look again
 *   stuck    a machine that was the fullest at the end of STUCK refused descents gives
 * each of its jobs one pair more, at most WANTED_MAX: earlier far from the bound, where
 * it is a trap, than near it, where pairs cost speed
 *
 * The threshold falls from 0.2 to 0 during an epoch, with the square of what is left of
 * it: what is better is found near its end, and time with a high one is lost. The first
 * has EPOCH_FIRST shakes, each next one 1.4 times as many and starts from the best found:
 * so the search is good at any time without knowing how much it has, and the clock only
 * stops it. What steers it happens before step 1 or at step numbers, never at times.
 * Up to 20 jobs makespan_exact.c is asked first.
 *
 * A step is a fill, the exact search, or a look: what the clock ends after the first fill
 * can be repeated.
 *
 * When an epoch finds nothing better and the gap is above 1 %, the next one starts anew,
 * from a fill by prices that are a little off.
 *
 * Source: spec search.md 4.2 to 4.5. Deviations: epochs that grow by 1.4 and a threshold
 * by the square (spec: 2, linear), which after 1 s found less on most matrices; starting
 * anew; eliminations also when the makespan has fallen by 0.1 % and falls no more, up to
 * 8 (spec: 1 %, 4): without both one of few big jobs stood at 2.5 % for 4 s; effort fast
 * eliminates too, briefly. Cost: makespan_look.c; memory: the matrix up to three times,
 * and about 72 bytes * 3 * jobs.
 */
#include "algorithms/placement/makespan_walk.h"
#include "models/base/rng.h"

#include <float.h>
#include <string.h>

static const double THRESHOLD = 0.2; /* of the gap, when an epoch starts */
static const double CLOSED = 1e-9;   /* a gap that is rounding */
static const double FALLEN = 0.99;   /* of the makespan: eliminate again */
static const double FALLEN_A_LITTLE = 0.999;
static const double TRAPPED = 0.02;      /* of the bound, the gap of a trap */
static const double TRAPPED_LONG = 0.01; /* and of one that an epoch does not leave */
static const double OFF = 0.1;           /* prices of another start are off by that */
static const double SEARCH_SHARE = 0.85; /* of the time, when the rest is for bounds */
static const double PRICED_SHARE = 0.9; /* the part of it for prices, when they are few */

enum {
    SHAKE_MOVES = 8,
    SHAKE_TRIES = 20,
    EPOCH_FIRST = 500, /* shakes */
    STUCK = 40,        /* refused descents */
    STUCK_IN_TRAP = 10,
    ELIMINATIONS_MAX = 8,
    LOOK_OVERHEAD = 1 << 5, /* what a look costs besides, in exchanges */
    WHOLE_LOOKS = 1 << 6 /* of the bound of whole jobs, for each step without a clock */
};

struct search {
    const struct makespan_ask *ask;
    struct makespan_field field;
    struct makespan_walk walk;
    struct ticks ticks;
    struct rng rng;
    size_t *best, *start, *spare; /* assignments */
    size_t *known;                /* the one that is there without any search */
    double best_makespan, start_makespan;
    double eliminated_at; /* best makespan of the last elimination */
    size_t eliminations;
    double *off_price;
    size_t *stuck; /* per machine: refused descents that ended with it as the fullest */
    struct improvement_list improved;
    size_t steps, max_steps;
    bool proven;
};

/* ---- the best ---- */

/* Keeps the assignment if it is the best, by sums in the order of jobs. */
static double take(struct search *s, const size_t *assignment)
{
    double makespan = makespan_length(&s->field, assignment);

    if (makespan < s->best_makespan) {
        s->best_makespan = makespan;
        memcpy(s->best, assignment, s->field.job_count * sizeof(*s->best));
        improvement_list_add(&s->improved, s->steps,
                             fmin(makespan / s->field.scale, DBL_MAX));
    }
    return makespan;
}

static void take_present(struct search *s)
{
    for (size_t i = 0; i < s->field.job_count; i++)
        s->spare[i] = s->walk.machine_of[i];
    take(s, s->spare);
}

static bool is_closed(const struct search *s)
{
    return s->proven || s->best_makespan <= makespan_floor(&s->field) * (1 + CLOSED);
}

static bool is_over(const struct search *s)
{
    return s->ticks.spent || is_closed(s) || (s->max_steps && s->steps >= s->max_steps);
}

/* ---- steps ---- */

/* Looks until nothing lowers the most loaded machine; returns where it ends. */
static double descend(struct search *s, double refused_from)
{
    struct makespan_walk *w = &s->walk;

    while (!s->ticks.spent && s->steps < s->max_steps) {
        size_t pairs;

        makespan_walk_look(w, refused_from);
        pairs = w->pairs.machine_first[w->full + 1] - w->pairs.machine_first[w->full];
        s->steps++;
        ticks_spent(&s->ticks, pairs + s->field.machine_count + LOOK_OVERHEAD);
        if (w->best.score == -HUGE_VAL)
            break;
        for (size_t k = 0; k < 3 && w->best.move[k]; k++)
            makespan_walk_apply(w, w->best.move[k]);
    }
    return w->load[makespan_walk_fullest(w)];
}

static void shake(struct search *s)
{
    struct makespan_walk *w = &s->walk;
    size_t moved = 0;

    w->shake++;
    for (size_t tries = 0; tries < SHAKE_TRIES && moved < SHAKE_MOVES; tries++) {
        const struct makespan_pair *pair =
            &w->pairs.by_job[rng_index(&s->rng, w->pairs.count)];
        if (w->machine_of[pair->job] == pair->machine)
            continue;
        makespan_walk_apply(w, pair);
        moved++;
    }
}

/* A descent was refused and taken back: counts it, and gives the jobs of a machine that
 * stays the fullest more pairs. */
static enum error_code note_refused(struct search *s)
{
    struct makespan_walk *w = &s->walk;
    double value = s->field.prices.value;
    size_t limit = w->accepted - value > TRAPPED * value ? STUCK_IN_TRAP : STUCK;
    bool changed = false;

    if (++s->stuck[w->full] < limit)
        return OK;
    s->stuck[w->full] = 0;
    for (uint32_t i = w->head[w->full]; i != MAKESPAN_NONE; i = w->next[i]) {
        size_t count = w->pairs.job_first[i + 1] - w->pairs.job_first[i];

        if (count <= w->pairs.wanted[i] && w->pairs.wanted[i] < WANTED_MAX) {
            w->pairs.wanted[i]++;
            changed = true;
        }
    }
    s->ticks.work += w->pairs.count;
    return changed ? makespan_pairs_list(&s->field, &w->pairs) : OK;
}

static enum error_code run_epoch(struct search *s, size_t shake_count)
{
    struct makespan_walk *w = &s->walk;
    double value = s->field.prices.value;

    for (size_t k = 0; k < shake_count && !is_over(s); k++) {
        double left = 1 - (double)k / (double)shake_count;
        double limit = value + (w->accepted - value) * (1 + THRESHOLD * left * left);
        double makespan;

        shake(s);
        makespan = descend(s, limit);
        if (makespan < s->best_makespan)
            take_present(s);
        if (makespan < limit) {
            makespan_walk_accept(w, makespan);
        } else {
            makespan_walk_go_back(w);
            TRY(note_refused(s));
        }
    }
    return OK;
}

/* ---- bounds and start ---- */

static bool has_clock(const struct makespan_ask *ask)
{
    return ask->budget && ask->budget->used;
}

/* The last part of the time is kept back for the bound. */
static bool closes_bound(const struct makespan_ask *ask)
{
    return ask->limited && has_clock(ask);
}

/* Fills by the present prices; the better of this and an earlier start stays. */
static void fill(struct search *s)
{
    double makespan;

    makespan_fill(&s->field, s->field.prices.price, s->field.prices.value, s->spare);
    if (s->ticks.spent)
        return;
    s->steps++;
    makespan = take(s, s->spare);
    if (makespan < s->start_makespan) {
        s->start_makespan = makespan;
        memcpy(s->start, s->spare, s->field.job_count * sizeof(*s->start));
    }
}

static enum error_code eliminate(struct search *s)
{
    s->eliminated_at = s->best_makespan;
    s->eliminations++;
    TRY(makespan_eliminate(&s->field, s->best_makespan, s->ask->effort < EFFORT_FULL));
    makespan_tighten(&s->field);
    return OK;
}

/* Equal prices, when there is no time for better ones. */
static enum error_code price_equal(struct search *s)
{
    struct makespan_field *f = &s->field;
    struct prices_problem p = {.row_count = f->job_count,
                               .column_count = f->machine_count,
                               .time = f->time,
                               .waits = f->waits,
                               .wait_count = f->wait_count};

    f->prices = (struct prices){.floor = f->longest};
    return prices_improve(&p, 1, 1, 1, &s->ticks, &f->prices, f->arena);
}

static enum error_code find_start(struct search *s)
{
    enum bound_effort effort = s->ask->effort;

    if (effort == EFFORT_NONE) {
        TRY(price_equal(s));
    } else {
        TRY(makespan_price(&s->field, true));
        makespan_tighten(&s->field);
    }
    if (s->ticks.spent)
        return OK;
    fill(s);
    for (size_t k = 0;
         k < (effort == EFFORT_FULL ? 2 : effort == EFFORT_FAST) && !is_over(s); k++) {
        if (k > 0 && s->best_makespan > FALLEN * s->eliminated_at)
            break;
        TRY(eliminate(s));
        if (!is_over(s))
            fill(s);
    }
    if (s->ask->initial && take(s, s->ask->initial) < s->start_makespan)
        memcpy(s->start, s->ask->initial, s->field.job_count * sizeof(*s->start));
    return OK;
}

/* All of it is a step; a part of it could not be repeated. */
static void solve_small(struct search *s)
{
    double makespan = s->best_makespan;
    bool proven = false;

    memcpy(s->spare, s->best, s->field.job_count * sizeof(*s->spare));
    makespan_exact(&s->field, s->spare, &makespan, &proven);
    if (s->ticks.spent && !proven)
        return;
    s->steps++;
    s->proven = proven;
    take(s, s->spare);
    if (proven)
        bound_list_note(&s->field.bounds, BOUND_EXACT,
                        fmin(s->best_makespan / s->field.scale, DBL_MAX));
}

/* ---- the search ---- */

/* Another start: a fill by prices that are a little off, to a goal between the bound and
 * the best. It is only taken if it ends as the best. */
static void start_anew(struct search *s)
{
    const struct makespan_field *f = &s->field;
    double gap = s->best_makespan - f->prices.value;
    double goal = f->prices.value + gap * rng_uniform(&s->rng);

    for (size_t j = 0; j < f->machine_count; j++)
        s->off_price[j] = f->prices.price[j] * (1 + OFF * (rng_uniform(&s->rng) - 0.5));
    makespan_fill(f, s->off_price, goal, s->spare);
    if (s->ticks.spent)
        return;
    makespan_walk_start(&s->walk, s->spare);
    makespan_walk_accept(&s->walk, descend(s, HUGE_VAL));
}

/* After an epoch that began with a best of `before`: the makespan has fallen since the
 * last elimination, by much, or by a little and falls no more. */
static bool is_worth_elimination(const struct search *s, double before)
{
    double fallen = s->best_makespan < before ? FALLEN : FALLEN_A_LITTLE;

    return s->ask->effort == EFFORT_FULL && s->eliminations < ELIMINATIONS_MAX &&
           s->best_makespan <= fallen * s->eliminated_at;
}

static enum error_code run(struct search *s)
{
    struct makespan_walk *w = &s->walk;
    size_t shake_count = EPOCH_FIRST;
    bool anew = false;

    makespan_walk_create(&s->field, w);
    TRY(makespan_pairs_choose(&s->field, s->best_makespan, &w->pairs));
    if (s->ticks.spent)
        return OK;
    w->shake = 1;
    makespan_walk_start(w, s->start);
    makespan_walk_accept(w, descend(s, HUGE_VAL));
    take_present(s);
    while (!is_over(s) && w->pairs.count > s->field.job_count) {
        double before = s->best_makespan;

        if (anew)
            start_anew(s);
        else
            makespan_walk_start(w, s->best);
        TRY(run_epoch(s, shake_count));
        if (!anew)
            shake_count += shake_count * 2 / 5;
        anew = !anew && s->best_makespan == before &&
               before > s->field.prices.value * (1 + TRAPPED_LONG);
        if (!is_worth_elimination(s, before) || is_over(s))
            continue;
        TRY(eliminate(s));
        if (!is_over(s))
            TRY(makespan_pairs_choose(&s->field, s->best_makespan, &w->pairs));
    }
    return OK;
}

/* Jobs in order, each to the machine where it ends first (tie: lowest index). */
static void place_in_order(const struct makespan_field *f, size_t *assignment)
{
    double *load = f->spare_load;

    memcpy(load, f->wait, f->machine_count * sizeof(*load));
    for (size_t i = 0; i < f->job_count; i++) {
        const double *time = f->time + i * f->machine_count;
        size_t machine = 0;

        for (size_t j = 1; j < f->machine_count; j++)
            if (load[j] + time[j] < load[machine] + time[machine])
                machine = j;
        load[machine] += time[machine];
        assignment[i] = machine;
    }
}

static void make_search(const struct makespan_problem *problem,
                        const struct makespan_ask *ask, struct search *s, struct arena *a)
{
    struct budget *budget = ask->budget;

    s->ask = ask;
    s->ticks.budget = budget;
    s->ticks.until = closes_bound(ask) ? SEARCH_SHARE : 1;
    s->max_steps = budget ? budget->max_steps : 0;
    if (!s->max_steps)
        s->max_steps = has_clock(ask) ? SIZE_MAX : MAKESPAN_STEPS;
    s->rng = rng_stream(ask->seed, "placement.search");
    s->best_makespan = s->start_makespan = HUGE_VAL;
    if (!ask->known) /* the first plan is made at any rate */
        ticks_use(&s->ticks, NULL);
    makespan_field_create(problem, &s->ticks, &s->field, a);
    ticks_use(&s->ticks, budget);
    s->best = NEW(a, size_t, problem->job_count);
    s->start = NEW(a, size_t, problem->job_count);
    s->spare = NEW(a, size_t, problem->job_count);
    s->known = NEW(a, size_t, problem->job_count);
    s->stuck = NEW(a, size_t, problem->machine_count);
    s->off_price = NEW(a, double, problem->machine_count);
    if (s->ticks.spent)
        return;
    if (ask->known)
        memcpy(s->known, ask->known, problem->job_count * sizeof(*s->known));
    else
        place_in_order(&s->field, s->known);
    take(s, s->known);
}

static bool begin_part(struct search *s, double until)
{
    s->ticks.until = until;
    s->ticks.spent = false;
    return !is_closed(s) && !ticks_ask(&s->ticks);
}

/* What the clock leaves when the search has ended goes into bounds. */
static enum error_code close_bound(struct search *s)
{
    if (s->ask->effort < EFFORT_FULL && begin_part(s, PRICED_SHARE)) {
        TRY(makespan_close(&s->field, s->best_makespan));
        makespan_tighten(&s->field);
    }
    if (begin_part(s, 1)) {
        makespan_whole(&s->field, s->best_makespan, SIZE_MAX);
        makespan_tighten(&s->field);
    }
    return OK;
}

/* Without a limit on the time as much as the steps are worth, so that it repeats. */
static void close_by_steps(struct search *s)
{
    if (s->ask->effort < EFFORT_FULL || is_closed(s) || s->ticks.spent)
        return;
    makespan_whole(&s->field, s->best_makespan, s->steps * WHOLE_LOOKS);
    makespan_tighten(&s->field);
}

/* The time was up before there was a field: all there is is what was known. */
static void give_known(const struct search *s, struct makespan_answer *out)
{
    const struct makespan_problem *problem = s->field.problem;
    double *load_s = NEW(s->field.arena, double, problem->machine_count);

    *out = (struct makespan_answer){.assignment = s->best, .cut = true};
    memcpy(s->best, s->ask->known, problem->job_count * sizeof(*s->best));
    for (size_t j = 0; j < problem->machine_count && problem->wait_s; j++)
        load_s[j] = problem->wait_s[j];
    for (size_t i = 0; i < problem->job_count; i++) {
        size_t j = s->best[i];

        load_s[j] += problem->time_s[i * problem->machine_count + j];
        out->makespan_s = fmax(out->makespan_s, fmin(load_s[j], DBL_MAX));
    }
}

static void give_answer(struct search *s, bool cut, struct makespan_answer *out)
{
    /* Cut before step 1: what was found by then cannot be repeated. */
    if (cut && s->steps == 0) {
        memcpy(s->best, s->known, s->field.job_count * sizeof(*s->best));
        s->best_makespan = makespan_length(&s->field, s->best);
        s->improved.count = 0;
    }
    *out = (struct makespan_answer){
        .assignment = s->best,
        .makespan_s = fmin(s->best_makespan / s->field.scale, DBL_MAX),
        .bounds = s->field.bounds,
        .improved = s->improved,
        .steps = s->steps || cut ? s->steps : 1,
        .optimal = is_closed(s),
        .cut = cut,
    };
}

enum error_code makespan_search(const struct makespan_problem *problem,
                                const struct makespan_ask *ask,
                                struct makespan_answer *out, struct arena *a)
{
    struct search *s = NEW(a, struct search, 1);
    bool cut;

    make_search(problem, ask, s, a);
    if (s->ticks.spent) {
        give_known(s, out);
        return OK;
    }
    if (!is_closed(s) && !ticks_ask(&s->ticks))
        TRY(find_start(s));
    if (!is_over(s) && problem->job_count <= MAKESPAN_EXACT_JOBS)
        solve_small(s);
    if (!is_over(s))
        TRY(run(s));
    cut = s->ticks.spent;
    if (closes_bound(ask))
        TRY(close_bound(s));
    else
        close_by_steps(s);
    give_answer(s, cut, out);
    return OK;
}
