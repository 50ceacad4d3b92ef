/* placement/knapsack.c - by the few items about which there is doubt.
 *
 * For any rate r >= 0 no set that fits has more profit than
 *
 *     most = r room + sum over items of max(0, profit - r weight),
 *
 * and a set loses |profit - r weight| of that for each item that it takes or leaves
 * against the sign. So items that lose more than `reach` are settled, and only the
 * others, the core, are looked at: by falling profit a unit of weight they are taken up
 * to the first that does not fit, and from there outwards, in turn on either side, each
 * is left or taken against that. The sets that come of it are kept as states by rising
 * weight; one that has no more profit than a lighter one is dropped, and one that cannot
 * become better than the best, as the items that are still to come bring at most the rate
 * of the next of them. Where that leaves doubt about a settled item the reach is doubled.
 *
 * Too many states: neighbours become one with the least weight and the most profit, which
 * no set may have, so that only the answer from above can rest on it.
 *
 * Source: the dominance of states is Nemhauser's and Ullmann's (1969), the growing core
 * Pisinger's (1997), for integers there; this is written from the ideas, for doubles.
 */
#include "algorithms/placement/knapsack.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { STATES_MAX = 4000, TURN_WORDS = 3, TURNS_MAX = 64 * TURN_WORDS };

/* Lighter than this share of the room, over the count: taken without its weight. */
static const double LIGHT = 1e-12;

/* The next reach, by what the last question would have needed; the least, of all profit.
 */
static const double WIDER = 1.5, LEAST_REACH = 1e-9;

enum { CORE_WIDE = 64 }; /* items: worth another look at the rate */

struct item {
    double weight, profit, rate;
    size_t index;
};

struct state {
    double weight, profit; /* of the core's items */
    /* which items are against the start, by the first turns */
    uint64_t turned[TURN_WORDS];
    bool is_merged; /* no set need have both numbers */
};

struct knapsack {
    struct item *core;
    double *gain; /* by item: profit - rate * weight; -HUGE_VAL: never taken */
    struct state *states, *next;
    size_t core_count, state_count;
    /* the core's question */
    double room, base; /* what the settled items leave, and bring */
    double most;       /* of the core, by the rate */
    double slack;      /* what the answer may be off */
    double best, merged_best;
    uint64_t best_turned[TURN_WORDS];
    size_t start, turn_count; /* items before `start` are taken at first */
    size_t turns[TURNS_MAX];  /* items by turn */
    size_t work;
};

struct knapsack *knapsack_create(size_t count, struct arena *a)
{
    struct knapsack *k = NEW(a, struct knapsack, 1);
    size_t state_count = 2 * STATES_MAX + 2;

    k->core = NEW(a, struct item, count);
    k->gain = NEW(a, double, count);
    k->states = NEW(a, struct state, state_count);
    k->next = NEW(a, struct state, state_count);
    return k;
}

static int by_rate(const void *left, const void *right)
{
    const struct item *l = left, *r = right;

    if (l->rate != r->rate)
        return l->rate > r->rate ? -1 : 1;
    return (l->index > r->index) - (l->index < r->index);
}

/* What each item brings beyond the rate; returns the bound of that rate. */
static double find_gains(struct knapsack *k, const struct knapsack_ask *ask, double rate)
{
    double most = rate * ask->room;

    for (size_t i = 0; i < ask->count; i++) {
        bool fits = ask->weight[i] <= ask->room && ask->profit[i] > 0;

        k->gain[i] = fits ? ask->profit[i] - rate * ask->weight[i] : -HUGE_VAL;
        most += k->gain[i] > 0 ? k->gain[i] : 0;
    }
    k->work += ask->count;
    return most;
}

/* Takes or leaves what the reach settles and lists the rest; false: what is taken does
 * not fit. */
static bool make_core(struct knapsack *k, const struct knapsack_ask *ask, double reach,
                      uint8_t *taken)
{
    double light = LIGHT * ask->room / (double)(ask->count + 1);

    k->room = ask->room;
    k->base = 0;
    k->core_count = 0;
    for (size_t i = 0; i < ask->count; i++) {
        bool is_light = k->gain[i] > -HUGE_VAL && ask->weight[i] <= light;

        taken[i] = is_light || k->gain[i] > reach;
        if (taken[i]) {
            k->base += ask->profit[i];
            k->room -= is_light ? 0 : ask->weight[i];
        } else if (k->gain[i] >= -reach && k->gain[i] > -HUGE_VAL) {
            k->core[k->core_count++] = (struct item){ask->weight[i], ask->profit[i],
                                                     ask->profit[i] / ask->weight[i], i};
        }
    }
    k->work += ask->count;
    return k->room >= 0;
}

/* The core's first state: everything up to the first item that does not fit. */
static void begin(struct knapsack *k)
{
    struct state first = {0};

    qsort(k->core, k->core_count, sizeof(*k->core), by_rate);
    k->start = 0;
    while (k->start < k->core_count &&
           first.weight + k->core[k->start].weight <= k->room) {
        first.weight += k->core[k->start].weight;
        first.profit += k->core[k->start++].profit;
    }
    k->most = first.profit;
    if (k->start < k->core_count)
        k->most += (k->room - first.weight) * k->core[k->start].rate;
    k->states[0] = first;
    k->state_count = 1;
    k->turn_count = 0;
    k->best = first.profit;
    k->merged_best = 0;
    memset(k->best_turned, 0, sizeof(k->best_turned));
}

static void note_best(struct knapsack *k, const struct state *s)
{
    if (s->is_merged) {
        k->merged_best = s->profit > k->merged_best ? s->profit : k->merged_best;
    } else if (s->profit > k->best) {
        k->best = s->profit;
        if (k->turn_count <= TURNS_MAX)
            memcpy(k->best_turned, s->turned, sizeof(k->best_turned));
    }
}

/* The items that had no turn yet: those before `left` are taken, those from `right` on
 * are not. */
struct sides {
    size_t left, right;
};

/* The most that may still come of a state; -HUGE_VAL: nothing that fits. */
static double hope(const struct knapsack *k, const struct sides *sides,
                   const struct state *s)
{
    if (s->weight <= k->room)
        return sides->right < k->core_count
                   ? s->profit + (k->room - s->weight) * k->core[sides->right].rate
                   : s->profit;
    return sides->left > 0
               ? s->profit - (s->weight - k->room) * k->core[sides->left - 1].rate
               : -HUGE_VAL;
}

/* Every state as it is and with the item turned, by weight, without those that are
 * dominated or hopeless. */
static void turn(struct knapsack *k, const struct sides *after, const struct item *item,
                 double sign)
{
    double weight = sign * item->weight, profit = sign * item->profit;
    bool is_kept = k->turn_count < TURNS_MAX;
    uint64_t bit = is_kept ? (uint64_t)1 << (k->turn_count & 63) : 0;
    size_t word = is_kept ? k->turn_count / 64 : 0, same = 0, turned = 0, count = 0;
    double last_profit = -HUGE_VAL;
    struct state *old = k->states;

    if (is_kept)
        k->turns[k->turn_count] = (size_t)(item - k->core);
    k->turn_count++;
    while (same < k->state_count || turned < k->state_count) {
        struct state s;

        if (turned == k->state_count ||
            (same < k->state_count && old[same].weight <= old[turned].weight + weight)) {
            s = old[same++];
        } else {
            s = old[turned++];
            s.weight += weight;
            s.profit += profit;
            s.turned[word] |= bit;
        }
        if (s.profit <= last_profit)
            continue;
        if (s.weight <= k->room)
            note_best(k, &s);
        if (hope(k, after, &s) <= k->best + k->slack)
            continue;
        last_profit = s.profit;
        k->next[count++] = s;
    }
    k->work += 2 * k->state_count;
    k->states = k->next;
    k->next = old;
    k->state_count = count;
}

/* Neighbours within equal parts of the weights become one. */
static void merge(struct knapsack *k)
{
    struct state *s = k->states;
    double span = s[k->state_count - 1].weight - s[0].weight;
    size_t count = 0;

    for (size_t i = 0; i < k->state_count;) {
        struct state one = s[i++];
        double end = one.weight + 2 * span / STATES_MAX;

        for (; i < k->state_count && s[i].weight <= end; i++) {
            one.profit = s[i].profit;
            one.is_merged = true;
        }
        s[count++] = one;
    }
    k->state_count = count;
}

/* From above, for the core: until no state is left, or the budget is at its end. */
static double grow(struct knapsack *k, struct ticks *ticks)
{
    struct sides sides = {k->start, k->start};
    bool to_right = true;

    while (k->state_count > 0 && k->best < k->most - k->slack) {
        bool has_right = sides.right < k->core_count;
        bool has_left = sides.left > 0;

        if (!has_right && !has_left)
            break;
        to_right = has_right && (to_right || !has_left);
        if (to_right) {
            const struct item *item = &k->core[sides.right++];
            turn(k, &sides, item, 1);
        } else {
            const struct item *item = &k->core[--sides.left];
            turn(k, &sides, item, -1);
        }
        to_right = !to_right;
        if (k->state_count > STATES_MAX)
            merge(k);
        if (ticks_spent(ticks, 2 * k->state_count))
            return k->most;
    }
    return fmin(k->most, fmax(k->best + k->slack, k->merged_best));
}

static void mark_taken(const struct knapsack *k, uint8_t *taken)
{
    for (size_t i = 0; i < k->start; i++)
        taken[k->core[i].index] = 1;
    for (size_t i = 0; i < k->turn_count && i < TURNS_MAX; i++)
        if (k->best_turned[i / 64] >> (i & 63) & 1)
            taken[k->core[k->turns[i]].index] ^= 1;
}

/* How far from the core's rate items can matter: the profit between its bound and a set
 * that is filled up with what comes next. */
static double reach_of_core(const struct knapsack *k)
{
    double weight = k->states[0].weight, profit = k->states[0].profit;

    for (size_t i = k->start; i < k->core_count; i++)
        if (weight + k->core[i].weight <= k->room) {
            weight += k->core[i].weight;
            profit += k->core[i].profit;
        }
    return k->most - profit;
}

static double rate_of_core(const struct knapsack *k, double otherwise)
{
    return k->start < k->core_count && k->core[k->start].rate < HUGE_VAL
               ? k->core[k->start].rate
               : otherwise;
}

double knapsack_most(struct knapsack *k, const struct knapsack_ask *ask,
                     struct knapsack_guess *guess, struct ticks *ticks, size_t *work,
                     uint8_t *taken)
{
    double most, least_reach, answer, reach = guess->reach;
    bool is_narrowed = false;

    k->work = 0;
    for (;;) {
        double narrow;

        most = find_gains(k, ask, guess->rate);
        least_reach = most * LEAST_REACH;
        reach = least_reach > 0 ? fmax(reach, least_reach) : HUGE_VAL; /* no denormals */
        if (!make_core(k, ask, reach < most ? reach : HUGE_VAL, taken)) {
            reach *= 2;
            continue;
        }
        begin(k);
        narrow = fmax(WIDER * reach_of_core(k), least_reach);
        if (!is_narrowed && k->core_count > CORE_WIDE && narrow < reach / 2) {
            is_narrowed = true;
            guess->rate = rate_of_core(k, guess->rate);
            reach = narrow;
            continue;
        }
        k->slack = ask->tolerance * (k->base + k->most);
        answer = fmin(most, k->base + grow(k, ticks));
        if (reach >= most || answer >= most - reach || ticks_spent(ticks, ask->count))
            break;
        reach = 2 * fmax(reach, most - k->base - k->best);
    }
    mark_taken(k, taken);
    guess->rate = rate_of_core(k, guess->rate);
    guess->reach = fmax(WIDER * (most - k->base - k->best), least_reach);
    *work += k->work;
    return ticks->spent ? most : answer;
}
