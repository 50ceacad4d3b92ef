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

/* A look, and what it has cost. */
struct look {
    struct makespan_walk *walk;
    size_t work; /* exchanges weighed */
};

/* Lists the jobs that could come to the full machine by where they are now. */
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

        if (from == w->full)
            continue;
        w->partners[count] = (struct makespan_partner){pair, w->time[pair->job], extra,
                                                       w->partners_from[from]};
        w->partners_from[from] = count++;
        if (extra < w->partners_least[from])
            w->partners_least[from] = extra;
    }
}

static inline double later(double left, double right)
{
    return left > right ? left : right;
}

/* Weighs an exchange after which the machines concerned end at `end` at the latest. */
static inline void weigh(struct makespan_walk *w, double end, double extra,
                         const struct makespan_pair *first,
                         const struct makespan_pair *second,
                         const struct makespan_pair *third)
{
    double score = w->load[w->full] - end - w->extra_weight * extra;

    if (end < w->load[w->full] && score > w->best.score)
        w->best = (struct makespan_exchange){{first, second, third}, score};
}

/* When the full machine ends without `job`; one without jobs does not count. */
static double end_without(const struct makespan_walk *w, uint32_t job)
{
    bool alone = w->next[job] == MAKESPAN_NONE && w->prev[job] == MAKESPAN_NONE;

    return alone ? 0 : w->load[w->full] - w->time[job];
}

/* No exchange in which `job` leaves the full machine, with at least so much extra, scores
 * better than the best one. */
static bool is_hopeless(const struct makespan_walk *w, uint32_t job, double extra)
{
    return w->time[job] - w->extra_weight * extra <= w->best.score;
}

/* All moves and swaps that begin with one pair. */
static void weigh_pair(struct look *look, const struct makespan_pair *pair)
{
    struct makespan_walk *w = look->walk;
    double left = w->load[w->full] - w->time[pair->job];
    double there = w->load[pair->machine] + pair->time;
    double extra = pair->extra - w->extra[pair->job];

    look->work++;
    weigh(w, later(there, end_without(w, pair->job)), extra, pair, NULL, NULL);
    if (is_hopeless(w, pair->job, extra + w->partners_least[pair->machine]))
        return;
    for (uint32_t q = w->partners_from[pair->machine]; q != MAKESPAN_NONE;
         q = w->partners[q].next) {
        const struct makespan_partner *in = &w->partners[q];
        double here_end = left + in->pair->time, there_end = there - in->time;
        weigh(w, later(here_end, there_end), extra + in->extra, pair, in->pair, NULL);
        look->work++;
    }
}

/* A chain out of the full machine: `first`, then `second`, so far. */
struct chain {
    const struct makespan_pair *first, *second;
    double end, extra; /* of both together */
    double room;
};

/* The chain as it is, and closed by any partner. */
static void weigh_chain(struct look *look, const struct chain *c)
{
    struct makespan_walk *w = look->walk;
    double left = w->load[w->full] - w->time[c->first->job];
    double there = w->load[c->second->machine] + c->second->time;
    double least = c->extra + w->partners_least[c->second->machine];

    look->work++;
    weigh(w, later(later(c->end, there), end_without(w, c->first->job)), c->extra,
          c->first, c->second, NULL);
    if (!(least <= c->room) || is_hopeless(w, c->first->job, least))
        return;
    for (uint32_t q = w->partners_from[c->second->machine]; q != MAKESPAN_NONE;
         q = w->partners[q].next) {
        const struct makespan_partner *in = &w->partners[q];
        double last = later(left + in->pair->time, there - in->time);
        look->work++;
        if (c->extra + in->extra <= c->room)
            weigh(w, later(c->end, last), c->extra + in->extra, c->first, c->second,
                  in->pair);
    }
}

/* All chains that begin with one pair. */
static void weigh_chains(struct look *look, const struct makespan_pair *first,
                         double room)
{
    struct makespan_walk *w = look->walk;
    double first_extra = first->extra - w->extra[first->job];
    struct chain c = {.first = first, .room = room};

    for (uint32_t job = w->head[first->machine]; job != MAKESPAN_NONE;
         job = w->next[job]) {
        c.end = w->load[first->machine] + first->time - w->time[job];
        look->work++;
        if (c.end >= w->load[w->full])
            continue;
        for (size_t k = w->pairs.job_first[job]; k < w->pairs.job_first[job + 1]; k++) {
            c.second = &w->pairs.by_job[k];
            c.extra = first_extra + c.second->extra - w->extra[job];
            if (c.second->machine != first->machine && c.second->machine != w->full &&
                c.extra <= room)
                weigh_chain(look, &c);
        }
    }
}

/* Weighs the moves and swaps of every job on the full machine. */
static void weigh_pairs(struct look *look)
{
    struct makespan_walk *w = look->walk;

    for (uint32_t job = w->head[w->full]; job != MAKESPAN_NONE; job = w->next[job])
        for (size_t k = w->pairs.job_first[job]; k < w->pairs.job_first[job + 1]; k++)
            if (w->pairs.by_job[k].machine != w->full)
                weigh_pair(look, &w->pairs.by_job[k]);
}

/* Weighs their chains, as far as CHAIN_WORK goes. */
static void weigh_all_chains(struct look *look, double room)
{
    struct makespan_walk *w = look->walk;
    size_t enough = look->work + CHAIN_WORK;

    for (uint32_t job = w->head[w->full]; job != MAKESPAN_NONE; job = w->next[job]) {
        for (size_t k = w->pairs.job_first[job]; k < w->pairs.job_first[job + 1]; k++) {
            const struct makespan_pair *pair = &w->pairs.by_job[k];
            if (pair->machine != w->full && pair->extra - w->extra[job] <= room &&
                look->work < enough)
                weigh_chains(look, pair, room);
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
    struct look look = {.walk = w};
    struct ticks *ticks = w->field->ticks;

    w->full = makespan_walk_fullest(w);
    w->extra_weight = ALPHA / w->field->prices.price[w->full];
    w->best.score = -HUGE_VAL;
    find_partners(w);
    weigh_pairs(&look);
    if (w->best.score == -HUGE_VAL && w->load[w->full] >= chains_from)
        weigh_all_chains(&look, room_for_chains(w));
    ticks->work += look.work; /* the clock is asked between steps */
}
