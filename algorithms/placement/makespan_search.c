/* placement/makespan_search.c - price-guided iterated local search.
 *
 * With prices p from the bound B, sum_j p_j load_j = B + the extra of all pairs in
 * use (makespan_pairs.c), so a short schedule is one that is even and has little
 * extra. The search lowers the most loaded machine J, now and again shakes the
 * assignment, and looks only at the pairs of little extra, which makes a look
 * about fifty times cheaper than over all machines:
 *
 *   start    jobs by falling least time; each to the machine of least
 *            p_j (t + max(0, load_j + t - B))
 *   look     all moves of a job from J and all swaps with a job elsewhere after
 *            which both machines end before J did; take the one of best
 *            score = J's end before - the later of both ends - 100 change of extra / p_J
 *   chain    when there is none and the local optimum would be refused: also three
 *            machines, J -> k -> l, closed by l -> J or not, as long as all extra
 *            stays below CHAIN_ROOM of the accepted makespan - B
 *   accept   the local optimum if its makespan - B is less than (1 + threshold) times
 *            that of the accepted one; else go back
 *   shake    eight random pairs are applied; look again
 *
 * The threshold falls from 0.2 to 0 during an epoch; the first has EPOCH_FIRST
 * shakes, each next one twice as many and starts from the best found: so the
 * search is good at any time without knowing how much it has, and the clock only
 * stops it. Up to 20 jobs makespan_exact.c is asked first.
 *
 * Source: spec gridway 5.5. Cost: a look is J's pairs times J's possible
 * partners per machine; memory as the pairs, about 72 bytes * 3 * jobs.
 * Deviations: fewer pairs, chains, epochs, alpha 100 and a threshold relative to the
 * gap (spec: alpha 5, 1e-3 of the makespan). Measured on one busy core, 27 matrices
 * 512 x 16 of all of Braun's kinds: gap to the bound at most 0.63 % after 0.3 s,
 * 0.61 % after 1 s, 0.58 % after 10 s; means 0.28, 0.25 and 0.23 %.
 */
#include "algorithms/placement/makespan_parts.h"
#include "models/base/rng.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ALPHA = 100;      /* weight of extra in the score */
static const double THRESHOLD = 0.2;  /* of the gap, when an epoch starts */
static const double CHAIN_ROOM = 0.8; /* of the gap, for the extra of chains */
static const double CLOSED = 3e-9;    /* a gap that is rounding */

enum {
    SHAKE_MOVES = 8,
    SHAKE_TRIES = 20,
    EPOCH_FIRST = 500,     /* shakes */
    CHAIN_WORK = 1 << 17,  /* exchanges weighed at most in a look for chains */
    ASK_EVERY = 1 << 16,   /* exchanges weighed between two looks at the clock */
    LOOK_OVERHEAD = 1 << 5 /* what a look costs besides, in exchanges */
};

static const uint32_t NONE = UINT32_MAX;

/* A job that could come to J: in a list per machine it would come from. */
struct partner {
    const struct makespan_pair *pair;
    double time, extra; /* where it is; extra: change */
    uint32_t next;
};

/* Up to three moves made at once; ends at a NULL. */
struct exchange {
    const struct makespan_pair *move[3];
    double score; /* -HUGE_VAL: none found */
};

struct place {
    uint32_t job, machine;
    double time, extra;
};

struct walk {
    const struct makespan_problem *problem;
    const struct budget *budget;
    const double *price;
    double scale, bound; /* units */
    struct makespan_pairs pairs;
    struct rng rng;
    /* the present assignment */
    uint32_t *machine_of;
    double *time, *extra; /* of each job where it is */
    double *load;         /* of each machine */
    /* the jobs on each machine, as doubly linked lists */
    uint32_t *head, *next, *prev;
    /* what changed since the last accepted assignment */
    struct place *undo;
    size_t undo_count;
    size_t *touched_in; /* per job: number of the shake that last moved it */
    size_t shake;
    double *accepted_load;
    double accepted; /* its makespan */
    /* a look at machine `full` */
    size_t full;
    double extra_weight; /* ALPHA / its price */
    struct partner *partners;
    uint32_t *partners_from; /* per machine: the first that would come from there */
    struct exchange best_exchange;
    /* answer and budget */
    size_t *best;
    double best_makespan;
    double *spare_load;
    size_t *spare_assignment;
    size_t steps, max_steps, work;
    bool stopped, cut;
};

double makespan_length(const struct makespan_problem *problem, double scale,
                       const size_t *assignment, double *load)
{
    double longest = 0;

    for (size_t j = 0; j < problem->machine_count; j++)
        load[j] = makespan_wait(problem, j) * scale;
    for (size_t i = 0; i < problem->job_count; i++) {
        size_t j = assignment[i];
        load[j] += problem->time_s[i * problem->machine_count + j] * scale;
        longest = fmax(longest, load[j]);
    }
    return longest;
}

/* ---- the present assignment ---- */

static void unlink_job(struct walk *w, uint32_t job)
{
    if (w->prev[job] == NONE)
        w->head[w->machine_of[job]] = w->next[job];
    else
        w->next[w->prev[job]] = w->next[job];
    if (w->next[job] != NONE)
        w->prev[w->next[job]] = w->prev[job];
}

static void link_job(struct walk *w, uint32_t job, uint32_t machine)
{
    w->machine_of[job] = machine;
    w->prev[job] = NONE;
    w->next[job] = w->head[machine];
    if (w->head[machine] != NONE)
        w->prev[w->head[machine]] = job;
    w->head[machine] = job;
}

static void move_job(struct walk *w, uint32_t job, uint32_t machine, double time,
                     double extra)
{
    w->load[w->machine_of[job]] -= w->time[job];
    w->load[machine] += time;
    unlink_job(w, job);
    link_job(w, job, machine);
    w->time[job] = time;
    w->extra[job] = extra;
}

/* Moves a job and remembers where the accepted assignment has it. */
static void apply(struct walk *w, const struct makespan_pair *pair)
{
    uint32_t job = pair->job;

    if (w->touched_in[job] != w->shake) {
        w->touched_in[job] = w->shake;
        w->undo[w->undo_count++] =
            (struct place){job, w->machine_of[job], w->time[job], w->extra[job]};
    }
    move_job(w, job, pair->machine, pair->time, pair->extra);
}

static void go_back(struct walk *w)
{
    while (w->undo_count > 0) {
        const struct place *p = &w->undo[--w->undo_count];
        move_job(w, p->job, p->machine, p->time, p->extra);
    }
    memcpy(w->load, w->accepted_load, w->problem->machine_count * sizeof(*w->load));
}

static void accept(struct walk *w, double makespan)
{
    w->undo_count = 0;
    w->accepted = makespan;
    memcpy(w->accepted_load, w->load, w->problem->machine_count * sizeof(*w->load));
}

/* Makes `assignment` the present one, with loads free of accumulated rounding. */
static void restart_from(struct walk *w, const size_t *assignment)
{
    const struct makespan_problem *p = w->problem;

    memset(w->head, 0xff, p->machine_count * sizeof(*w->head));
    w->accepted = makespan_length(p, w->scale, assignment, w->load);
    for (size_t i = 0; i < p->job_count; i++) {
        size_t first = w->pairs.job_first[i], j = assignment[i];
        double least = HUGE_VAL;

        for (size_t k = first; k < w->pairs.job_first[i + 1]; k++) {
            const struct makespan_pair *pair = &w->pairs.by_job[k];
            least = fmin(least, w->price[pair->machine] * pair->time);
        }
        w->time[i] = p->time_s[i * p->machine_count + j] * w->scale;
        w->extra[i] = w->price[j] * w->time[i] - least;
        link_job(w, (uint32_t)i, (uint32_t)j);
    }
    accept(w, w->accepted);
}

/* Keeps the present assignment if it is the best, by sums in the order of jobs. */
static void note(struct walk *w)
{
    size_t job_count = w->problem->job_count;
    double makespan;

    for (size_t i = 0; i < job_count; i++)
        w->spare_assignment[i] = w->machine_of[i];
    makespan = makespan_length(w->problem, w->scale, w->spare_assignment, w->spare_load);
    if (makespan < w->best_makespan) {
        w->best_makespan = makespan;
        memcpy(w->best, w->spare_assignment, job_count * sizeof(*w->best));
    }
}

/* ---- a look at the most loaded machine ---- */

/* The machine that ends last (tie: lowest index), of those with jobs. */
static size_t most_loaded(const struct walk *w)
{
    size_t full = SIZE_MAX;

    for (size_t j = 0; j < w->problem->machine_count; j++)
        if (w->head[j] != NONE && (full == SIZE_MAX || w->load[j] > w->load[full]))
            full = j;
    return full;
}

/* Lists the jobs that could come to the full machine by where they are now. */
static void find_partners(struct walk *w)
{
    const struct makespan_pairs *p = &w->pairs;
    uint32_t count = 0;

    memset(w->partners_from, 0xff, w->problem->machine_count * sizeof(*w->partners_from));
    for (size_t k = p->machine_first[w->full]; k < p->machine_first[w->full + 1]; k++) {
        const struct makespan_pair *pair = &p->by_machine[k];
        uint32_t from = w->machine_of[pair->job];

        if (from == w->full)
            continue;
        w->partners[count] =
            (struct partner){pair, w->time[pair->job], pair->extra - w->extra[pair->job],
                             w->partners_from[from]};
        w->partners_from[from] = count++;
    }
}

static inline double later(double left, double right)
{
    return left > right ? left : right;
}

/* Weighs an exchange after which the machines concerned end at `end` at the latest. */
static inline void weigh(struct walk *w, double end, double extra,
                         const struct makespan_pair *first,
                         const struct makespan_pair *second,
                         const struct makespan_pair *third)
{
    double score = w->load[w->full] - end - w->extra_weight * extra;

    if (end < w->load[w->full] && score > w->best_exchange.score)
        w->best_exchange = (struct exchange){{first, second, third}, score};
}

/* When the full machine ends without `job`; one without jobs does not count. */
static double end_without(const struct walk *w, uint32_t job)
{
    bool alone = w->next[job] == NONE && w->prev[job] == NONE;

    return alone ? 0 : w->load[w->full] - w->time[job];
}

/* All moves and swaps that begin with one pair. */
static void weigh_pair(struct walk *w, const struct makespan_pair *pair)
{
    double left = w->load[w->full] - w->time[pair->job];
    double there = w->load[pair->machine] + pair->time;
    double extra = pair->extra - w->extra[pair->job];

    weigh(w, later(there, end_without(w, pair->job)), extra, pair, NULL, NULL);
    for (uint32_t q = w->partners_from[pair->machine]; q != NONE;
         q = w->partners[q].next) {
        const struct partner *in = &w->partners[q];
        double here_end = left + in->pair->time, there_end = there - in->time;
        weigh(w, later(here_end, there_end), extra + in->extra, pair, in->pair, NULL);
        w->work++;
    }
    w->work++;
}

/* All chains out of `first`, then `second`; `end` and `extra` of both together. */
static void weigh_chain(struct walk *w, const struct makespan_pair *first,
                        const struct makespan_pair *second, double end, double extra,
                        double room)
{
    double left = w->load[w->full] - w->time[first->job];
    double there = w->load[second->machine] + second->time;

    weigh(w, later(later(end, there), end_without(w, first->job)), extra, first, second,
          NULL);
    for (uint32_t q = w->partners_from[second->machine]; q != NONE;
         q = w->partners[q].next) {
        const struct partner *in = &w->partners[q];
        double last = later(left + in->pair->time, there - in->time);
        w->work++;
        if (extra + in->extra <= room)
            weigh(w, later(end, last), extra + in->extra, first, second, in->pair);
    }
    w->work++;
}

/* All chains that begin with one pair. */
static void weigh_chains(struct walk *w, const struct makespan_pair *first, double room)
{
    double first_extra = first->extra - w->extra[first->job];

    for (uint32_t job = w->head[first->machine]; job != NONE; job = w->next[job]) {
        double end = w->load[first->machine] + first->time - w->time[job];
        w->work++;
        if (end >= w->load[w->full])
            continue;
        for (size_t k = w->pairs.job_first[job]; k < w->pairs.job_first[job + 1]; k++) {
            const struct makespan_pair *second = &w->pairs.by_job[k];
            double extra = first_extra + second->extra - w->extra[job];
            if (second->machine != first->machine && second->machine != w->full &&
                extra <= room)
                weigh_chain(w, first, second, end, extra, room);
        }
    }
}

/* Weighs the moves and swaps of every job on the full machine. */
static void look(struct walk *w)
{
    for (uint32_t job = w->head[w->full]; job != NONE; job = w->next[job])
        for (size_t k = w->pairs.job_first[job]; k < w->pairs.job_first[job + 1]; k++)
            if (w->pairs.by_job[k].machine != w->full)
                weigh_pair(w, &w->pairs.by_job[k]);
}

/* Weighs their chains, as far as CHAIN_WORK goes. */
static void look_for_chains(struct walk *w, double room)
{
    size_t enough = w->work + CHAIN_WORK;

    for (uint32_t job = w->head[w->full]; job != NONE; job = w->next[job]) {
        for (size_t k = w->pairs.job_first[job]; k < w->pairs.job_first[job + 1]; k++) {
            const struct makespan_pair *pair = &w->pairs.by_job[k];
            if (pair->machine != w->full && pair->extra - w->extra[job] <= room &&
                w->work < enough)
                weigh_chains(w, pair, room);
        }
    }
}

/* How much extra a chain may add so that an accepted makespan stays in reach. */
static double room_for_chains(const struct walk *w)
{
    double priced = 0;

    for (size_t j = 0; j < w->problem->machine_count; j++)
        if (w->head[j] != NONE)
            priced += w->price[j] * w->load[j];
    return CHAIN_ROOM * (w->accepted - w->bound) - (priced - w->bound);
}

/* ---- the search ---- */

static void count_step(struct walk *w)
{
    w->work += LOOK_OVERHEAD;
    w->steps++;
    if (w->max_steps && w->steps >= w->max_steps)
        w->stopped = true;
    if (w->work < ASK_EVERY || w->stopped)
        return;
    w->work = 0;
    w->cut = w->stopped = budget_spent(w->budget);
}

/* Looks until nothing lowers the most loaded machine; returns where it ends. */
static double descend(struct walk *w, double refused_from)
{
    while (!w->stopped) {
        w->full = most_loaded(w);
        w->extra_weight = ALPHA / w->price[w->full];
        w->best_exchange.score = -HUGE_VAL;
        find_partners(w);
        look(w);
        if (w->best_exchange.score == -HUGE_VAL && w->load[w->full] >= refused_from)
            look_for_chains(w, room_for_chains(w));
        count_step(w);
        if (w->best_exchange.score == -HUGE_VAL)
            break;
        for (size_t k = 0; k < 3 && w->best_exchange.move[k]; k++)
            apply(w, w->best_exchange.move[k]);
    }
    return w->load[most_loaded(w)];
}

static void shake(struct walk *w)
{
    size_t moved = 0;

    w->shake++;
    for (size_t tries = 0; tries < SHAKE_TRIES && moved < SHAKE_MOVES; tries++) {
        const struct makespan_pair *pair =
            &w->pairs.by_job[rng_index(&w->rng, w->pairs.count)];
        if (w->machine_of[pair->job] == pair->machine)
            continue;
        apply(w, pair);
        moved++;
    }
}

static bool closed(const struct walk *w)
{
    return w->best_makespan * (1 - CLOSED) <= w->bound;
}

static void run_epoch(struct walk *w, size_t shake_count)
{
    for (size_t k = 0; k < shake_count && !w->stopped && !closed(w); k++) {
        double left = 1 - (double)k / (double)shake_count;
        double limit = w->bound + (w->accepted - w->bound) * (1 + THRESHOLD * left);
        double makespan;

        shake(w);
        makespan = descend(w, limit);
        if (makespan < w->best_makespan)
            note(w);
        if (makespan < limit)
            accept(w, makespan);
        else
            go_back(w);
    }
}

struct sized_job {
    double least;
    size_t job;
};

static int longest_first(const void *left, const void *right)
{
    const struct sized_job *l = left, *r = right;

    if (l->least != r->least)
        return l->least > r->least ? -1 : 1;
    return l->job < r->job ? -1 : 1;
}

/* The start; see above. Ties: lowest index. */
static void fill_machines(struct walk *w, const struct sized_job *order, size_t *out)
{
    const struct makespan_problem *p = w->problem;

    for (size_t j = 0; j < p->machine_count; j++)
        w->spare_load[j] = makespan_wait(p, j) * w->scale;
    for (size_t i = 0; i < p->job_count; i++) {
        const double *time_s = p->time_s + order[i].job * p->machine_count;
        double least = HUGE_VAL;
        size_t machine = 0;

        for (size_t j = 0; j < p->machine_count; j++) {
            double time = time_s[j] * w->scale;
            double over = fmax(0, w->spare_load[j] + time - w->bound);
            double cost = w->price[j] * (time + over);
            machine = cost < least ? j : machine;
            least = fmin(cost, least);
        }
        out[order[i].job] = machine;
        w->spare_load[machine] += time_s[machine] * w->scale;
    }
}

static enum error_code start(struct walk *w, const size_t *initial, struct arena *a,
                             struct error *err)
{
    const struct makespan_problem *p = w->problem;
    struct sized_job *order = NEW(a, struct sized_job, p->job_count);

    if (!order)
        return fail_memory(err);
    for (size_t i = 0; i < p->job_count; i++) {
        order[i] = (struct sized_job){HUGE_VAL, i};
        for (size_t j = 0; j < p->machine_count; j++)
            order[i].least = fmin(order[i].least, p->time_s[i * p->machine_count + j]);
    }
    qsort(order, p->job_count, sizeof(*order), longest_first);
    fill_machines(w, order, w->best);
    w->best_makespan = makespan_length(p, w->scale, w->best, w->spare_load);
    if (initial &&
        makespan_length(p, w->scale, initial, w->spare_load) < w->best_makespan)
        memcpy(w->best, initial, p->job_count * sizeof(*initial));
    w->best_makespan = makespan_length(p, w->scale, w->best, w->spare_load);
    return OK;
}

static enum error_code make_walk(struct walk *w, struct arena *a, struct error *err)
{
    size_t job_count = w->problem->job_count, machine_count = w->problem->machine_count;

    w->machine_of = NEW(a, uint32_t, job_count);
    w->time = NEW(a, double, job_count);
    w->extra = NEW(a, double, job_count);
    w->load = NEW(a, double, machine_count);
    w->head = NEW(a, uint32_t, machine_count);
    w->next = NEW(a, uint32_t, job_count);
    w->prev = NEW(a, uint32_t, job_count);
    w->undo = NEW(a, struct place, job_count);
    w->touched_in = NEW(a, size_t, job_count);
    w->accepted_load = NEW(a, double, machine_count);
    w->partners = NEW(a, struct partner, job_count);
    w->partners_from = NEW(a, uint32_t, machine_count);
    w->best = NEW(a, size_t, job_count);
    w->spare_load = NEW(a, double, machine_count);
    w->spare_assignment = NEW(a, size_t, job_count);
    return w->machine_of && w->time && w->extra && w->load && w->head && w->next &&
                   w->prev && w->undo && w->touched_in && w->accepted_load &&
                   w->partners && w->partners_from && w->best && w->spare_load &&
                   w->spare_assignment
               ? OK
               : fail_memory(err);
}

static void run(struct walk *w)
{
    size_t shake_count = EPOCH_FIRST;

    w->shake = 1;
    restart_from(w, w->best);
    accept(w, descend(w, HUGE_VAL));
    note(w);
    while (!w->stopped && !closed(w) && w->pairs.count > w->problem->job_count) {
        restart_from(w, w->best);
        run_epoch(w, shake_count);
        shake_count *= 2;
    }
}

enum error_code makespan_search(const struct makespan_problem *problem,
                                const size_t *initial, const struct budget *budget,
                                uint64_t seed, struct makespan_answer *out,
                                struct arena *a, struct error *err)
{
    struct walk *w = NEW(a, struct walk, 1);
    struct makespan_prices bound;
    bool proven = false;

    if (!w)
        return fail_memory(err);
    w->problem = problem;
    w->budget = budget;
    w->max_steps = budget ? budget->max_steps : 0;
    if (!w->max_steps && !(budget && budget->used))
        w->max_steps = MAKESPAN_STEPS;
    w->rng = rng_stream(seed, "placement.search");
    TRY(makespan_bound(problem, NULL, &bound, a, err));
    w->price = bound.price;
    w->scale = makespan_scale(problem);
    w->bound = bound.bound_s * w->scale;
    TRY(make_walk(w, a, err));
    TRY(start(w, initial, a, err));
    if (problem->job_count <= MAKESPAN_EXACT_JOBS)
        TRY(makespan_exact(problem, &bound, w->scale, w->best, &w->best_makespan, &proven,
                           a, err));
    if (!proven) {
        TRY(makespan_pairs_choose(problem, w->price, w->bound, w->scale, &w->pairs, a,
                                  err));
        run(w);
    }
    out->assignment = w->best;
    out->makespan_s = fmin(
        makespan_length(problem, w->scale, w->best, w->spare_load) / w->scale, DBL_MAX);
    out->bound_s = fmin(proven ? out->makespan_s : bound.bound_s, out->makespan_s);
    out->steps = proven ? 1 : w->steps;
    out->optimal = proven || closed(w);
    out->cut = w->cut;
    return OK;
}
