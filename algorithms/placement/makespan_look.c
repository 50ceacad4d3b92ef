/* placement/makespan_look.c - what would lower the most loaded machine.
 *
 *     look     all moves of a job from J and all swaps with a job elsewhere after
 *              which both machines end before J did; take the one of best
 *              score = J's end before - the later of both ends - ALPHA change of extra /
 * p_J chain    when there is none: also three machines, J -> k -> l, closed by l -> J or
 *              not, as long as all extra stays below CHAIN_ROOM of the accepted makespan
 * - B
 *
 * No exchange ends before J without the job that leaves it, so that a pair is passed over
 * with all its swaps when even that, with the least extra of a partner from there, scores
 * no better than the best so far; likewise a closed chain.
 *
 * Source: spec search.md 4.5. Cost: J's pairs times J's possible partners per machine.
 */
#include "algorithms/placement/makespan_walk.h"

#include <string.h>

static const double ALPHA = 100;      /* weight of extra in the score */
static const double CHAIN_ROOM = 0.8; /* of the gap, for the extra of chains */

enum { CHAIN_WORK = 1 << 17 /* exchanges weighed at most in a look for chains */ };

/* A look, what it has cost, and the job on the full machine that is to leave it. What
 * every exchange needs is here and not behind pointers. */
struct look {
    struct makespan_walk *walk;
    double load, extra_weight; /* of the full machine */
    struct makespan_exchange best;
    size_t work; /* exchanges weighed */
    double job_time, job_extra;
    double left;        /* load without the job */
    double end_without; /* the same; 0: it is the only one, the machine does not count */
};

/* Lists the jobs that could come to the full machine by where they are now. Its own are
 * listed too, which nobody reads: to leave them out would be a branch that the processor
 * guesses wrong. */
static void find_partners(struct makespan_walk *w)
{
    const struct makespan_pairs *p = &w->pairs;
    size_t machine_count = w->field->machine_count;
    uint32_t count = 0;

    memset(w->partners_from, 0xff, machine_count * sizeof(*w->partners_from));
    for (size_t j = 0; j < machine_count; j++)
        w->partners_least[j] = HUGE_VAL;
    for (size_t k = p->machine_first[w->full]; k < p->machine_first[w->full + 1]; k++) {
        const struct makespan_pair *pair = &p->by_machine[k];
        uint32_t from = w->machine_of[pair->job];
        double extra = pair->extra - w->extra[pair->job];

        w->partners[count] = (struct makespan_partner){
            pair, pair->time, w->time[pair->job], extra, w->partners_from[from]};
        w->partners_from[from] = count++;
        w->partners_least[from] =
            extra < w->partners_least[from] ? extra : w->partners_least[from];
    }
}

static inline double later(double left, double right)
{
    return left > right ? left : right;
}

/* Weighs an exchange after which the machines concerned end at `end` at the latest. */
static inline void weigh(struct look *l, double end, double extra,
                         const struct makespan_pair *first,
                         const struct makespan_pair *second,
                         const struct makespan_pair *third)
{
    double score = l->load - end - l->extra_weight * extra;

    if (end < l->load && score > l->best.score)
        l->best = (struct makespan_exchange){{first, second, third}, score};
}

/* `job` is the one to leave. */
static inline void take_job(struct look *l, uint32_t job)
{
    const struct makespan_walk *w = l->walk;
    bool alone = w->next[job] == MAKESPAN_NONE && w->prev[job] == MAKESPAN_NONE;

    l->job_time = w->time[job];
    l->job_extra = w->extra[job];
    l->left = l->load - l->job_time;
    l->end_without = alone ? 0 : l->left;
}

/* No exchange in which the job leaves the full machine, with at least so much extra,
 * scores better than the best one. */
static inline bool cannot_improve(const struct look *l, double extra)
{
    return l->job_time - l->extra_weight * extra <= l->best.score;
}

/* All moves and swaps that begin with one pair. */
static inline void weigh_pair(struct look *l, const struct makespan_pair *pair)
{
    const struct makespan_walk *w = l->walk;
    double there = w->load[pair->machine] + pair->time;
    double extra = pair->extra - l->job_extra;

    l->work++;
    weigh(l, later(there, l->end_without), extra, pair, NULL, NULL);
    if (cannot_improve(l, extra + w->partners_least[pair->machine]))
        return;
    for (uint32_t q = w->partners_from[pair->machine]; q != MAKESPAN_NONE;
         q = w->partners[q].next) {
        const struct makespan_partner *in = &w->partners[q];
        double here_end = l->left + in->time_here, there_end = there - in->time;
        weigh(l, later(here_end, there_end), extra + in->extra, pair, in->pair, NULL);
        l->work++;
    }
}

/* A chain out of the full machine: `first`, then `second`, so far. */
struct chain {
    const struct makespan_pair *first, *second;
    double end, extra; /* of both together */
    double room;
};

/* The chain as it is, and closed by any partner. */
static void weigh_chain(struct look *l, const struct chain *c)
{
    const struct makespan_walk *w = l->walk;
    double there = w->load[c->second->machine] + c->second->time;
    double least = c->extra + w->partners_least[c->second->machine];

    l->work++;
    weigh(l, later(later(c->end, there), l->end_without), c->extra, c->first, c->second,
          NULL);
    if (!(least <= c->room) || cannot_improve(l, least))
        return;
    for (uint32_t q = w->partners_from[c->second->machine]; q != MAKESPAN_NONE;
         q = w->partners[q].next) {
        const struct makespan_partner *in = &w->partners[q];
        double last = later(l->left + in->time_here, there - in->time);
        l->work++;
        if (c->extra + in->extra <= c->room)
            weigh(l, later(c->end, last), c->extra + in->extra, c->first, c->second,
                  in->pair);
    }
}

/* All chains that begin with one pair. */
static void weigh_chains(struct look *l, const struct makespan_pair *first, double room)
{
    const struct makespan_walk *w = l->walk;
    double first_extra = first->extra - l->job_extra;
    struct chain c = {.first = first, .room = room};

    for (uint32_t job = w->head[first->machine]; job != MAKESPAN_NONE;
         job = w->next[job]) {
        c.end = w->load[first->machine] + first->time - w->time[job];
        l->work++;
        if (c.end >= l->load)
            continue;
        for (size_t k = w->pairs.job_first[job]; k < w->pairs.job_first[job + 1]; k++) {
            c.second = &w->pairs.by_job[k];
            c.extra = first_extra + c.second->extra - w->extra[job];
            if (c.second->machine != first->machine && c.second->machine != w->full &&
                c.extra <= room)
                weigh_chain(l, &c);
        }
    }
}

/* Weighs the moves and swaps of every job on the full machine. */
static void weigh_pairs(struct look *l)
{
    const struct makespan_walk *w = l->walk;

    for (uint32_t job = w->head[w->full]; job != MAKESPAN_NONE; job = w->next[job]) {
        const struct makespan_pair *pair = &w->pairs.by_job[w->pairs.job_first[job]];
        const struct makespan_pair *end = &w->pairs.by_job[w->pairs.job_first[job + 1]];

        take_job(l, job);
        for (; pair < end; pair++)
            if (pair->machine != w->full)
                weigh_pair(l, pair);
    }
}

/* Weighs their chains, as far as CHAIN_WORK goes. */
static void weigh_all_chains(struct look *l, double room)
{
    const struct makespan_walk *w = l->walk;
    size_t enough = l->work + CHAIN_WORK;

    for (uint32_t job = w->head[w->full]; job != MAKESPAN_NONE; job = w->next[job]) {
        take_job(l, job);
        for (size_t k = w->pairs.job_first[job]; k < w->pairs.job_first[job + 1]; k++) {
            const struct makespan_pair *pair = &w->pairs.by_job[k];
            if (pair->machine != w->full && pair->extra - l->job_extra <= room &&
                l->work < enough)
                weigh_chains(l, pair, room);
        }
    }
}

/* How much extra a chain may add so that an accepted makespan stays in reach. */
static double room_for_chains(const struct makespan_walk *w)
{
    const struct prices *prices = &w->field->prices;
    double priced = 0;

    for (size_t j = 0; j < w->field->machine_count; j++)
        if (w->head[j] != MAKESPAN_NONE)
            priced += prices->price[j] * w->load[j];
    return CHAIN_ROOM * (w->accepted - prices->value) - (priced - prices->value);
}

void makespan_walk_look(struct makespan_walk *w, double chains_from)
{
    struct look l = {.walk = w, .best.score = -HUGE_VAL};
    struct ticks *ticks = w->field->ticks;

    w->full = makespan_walk_fullest(w);
    l.load = w->load[w->full];
    l.extra_weight = ALPHA / w->field->prices.price[w->full];
    find_partners(w);
    weigh_pairs(&l);
    if (l.best.score == -HUGE_VAL && l.load >= chains_from)
        weigh_all_chains(&l, room_for_chains(w));
    w->best = l.best;
    ticks->work += l.work; /* the clock is asked between steps */
}
