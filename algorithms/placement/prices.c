/* placement/prices.c - what a second on each machine is worth.
 *
 * Ascent by multiplicative weights: each row goes to its cheapest column (tie: lowest
 * index), then columns with more than their share of the load get dearer,
 *
 *     price_j *= exp(eta_k * clip(load_j / (slots_j value) - 1, -1, 1)),
 *     eta_k = first * (last / first)^(k / rounds).
 *
 * Source: spec search.md 4.1. Cost: rounds * rows * columns, about a nanosecond each.
 * Distance to the value of 1,000 rounds, as the spec gives it: 2.6 % after 60, 0.02 %
 * after 240; after 30 rounds from equal prices up to 9 %, so there never are so few.
 * Deviation: the fast prices of a larger problem are those of a part of the rows, then 30
 * small rounds over all (spec: 60 rounds from equal ones): as a guide they are far
 * better. 2048 x 64, sorted rows, 50 ms: gap 0.4 instead of 36 %.
 */
#include "algorithms/placement/prices.h"

#include <math.h>
#include <string.h>

static const double PRICE_MIN = 1e-12; /* of the mean: keeps price * HUGE_VAL infinite */
static const double FIRST_ETA = 0.3, LAST_ETA = 0.005;

enum {
    WHOLE_CELLS = 1 << 20,  /* more: a sample of the rows first, */
    SAMPLE_CELLS = 1 << 18, /* of so many cells, */
    ALL_CELLS = 1 << 26,    /* then rounds over all of so many together */
    ALL_ROUNDS_MIN = 10,
    FAST_SAMPLE_CELLS = 1 << 15,
    FAST_ALL_ROUNDS = 30,
    LANES = 4,
};

struct ascent {
    const struct prices_problem *problem;
    struct ticks *ticks;
    size_t stride;                     /* rows that are taken: every stride-th */
    double *price, *best_price, *load; /* by column */
    double slots;                      /* of all columns */
    double floor, value;
};

static double slots_of(const struct prices_problem *p, size_t column)
{
    return p->slots ? p->slots[column] : 1;
}

/* The least cost of a row, and the first column that has it; *least HUGE_VAL: none. In
 * lanes, which keep no index, so that the processor can do several columns at once. */
static size_t cheapest(const double *time, const double *price, size_t count,
                       double *least)
{
    double lane[LANES] = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL};
    size_t j = 0;

    for (; j + LANES <= count; j += LANES)
        for (size_t k = 0; k < LANES; k++) {
            double cost = price[j + k] * time[j + k];
            lane[k] = cost < lane[k] ? cost : lane[k];
        }
    for (; j < count; j++) {
        double cost = price[j] * time[j];
        lane[0] = cost < lane[0] ? cost : lane[0];
    }
    for (size_t k = 1; k < LANES; k++)
        lane[0] = lane[k] < lane[0] ? lane[k] : lane[0];
    *least = lane[0];
    if (!(lane[0] < HUGE_VAL))
        return 0;
    for (j = 0; price[j] * time[j] != lane[0];)
        j++;
    return j;
}

/* Adds every row that is taken to the load of its cheapest column; false: the time was
 * up before the last one. */
static bool load_cheapest(struct ascent *s)
{
    const struct prices_problem *p = s->problem;

    for (size_t i = 0; i < p->row_count; i += s->stride) {
        const double *time = p->time + i * p->column_count;
        double least;
        size_t j = cheapest(time, s->price, p->column_count, &least);

        if (least < HUGE_VAL)
            s->load[j] += time[j];
        if (ticks_spent(s->ticks, p->column_count))
            return false;
    }
    return true;
}

static void normalise(struct ascent *s)
{
    const struct prices_problem *p = s->problem;
    double sum = 0;

    for (size_t j = 0; j < p->column_count; j++)
        sum += slots_of(p, j) * s->price[j];
    for (size_t j = 0; j < p->column_count; j++)
        s->price[j] /= sum;
}

static void change_prices(struct ascent *s, double value, double eta)
{
    const struct prices_problem *p = s->problem;
    double least = PRICE_MIN / s->slots;

    for (size_t j = 0; j < p->column_count; j++) {
        double slots = slots_of(p, j);
        double over = slots > 0 ? s->load[j] / (slots * value) - 1 : -1;

        s->price[j] *= exp(eta * fmax(-1, fmin(over, 1)));
        s->price[j] = fmax(s->price[j], least);
    }
    normalise(s);
}

/* One round: values the prices, and changes them; false: it was the last one. */
static bool ascend(struct ascent *s, double eta)
{
    const struct prices_problem *p = s->problem;
    double value = 0;

    memset(s->load, 0, p->column_count * sizeof(*s->load));
    for (size_t k = 0; k < p->wait_count; k++) {
        const struct prices_wait *w = &p->waits[k];
        s->load[w->column] += w->weight * fmin(w->wait, s->floor) / (double)s->stride;
    }
    if (!load_cheapest(s))
        return false;
    for (size_t j = 0; j < p->column_count; j++)
        value += s->price[j] * s->load[j];
    if (value > s->value && value < HUGE_VAL) {
        s->value = value;
        memcpy(s->best_price, s->price, p->column_count * sizeof(*s->price));
    }
    if (!(value > 0 && value < HUGE_VAL))
        return false;
    if (s->stride == 1)
        s->floor = fmax(s->floor, value);
    change_prices(s, value, eta);
    return true;
}

static void climb(struct ascent *s, size_t rounds, double first_eta, double last_eta)
{
    double ratio = last_eta / first_eta;

    s->value = 0;
    memcpy(s->best_price, s->price, s->problem->column_count * sizeof(*s->price));
    for (size_t k = 0; k < rounds; k++)
        if (!ascend(s, first_eta * pow(ratio, (double)k / (double)rounds)))
            break;
    memcpy(s->price, s->best_price, s->problem->column_count * sizeof(*s->price));
}

static void make_ascent(const struct prices_problem *p, struct ticks *ticks,
                        const struct prices *from, struct ascent *s, struct arena *a)
{
    *s = (struct ascent){.problem = p, .ticks = ticks, .stride = 1, .floor = from->floor};
    s->price = NEW(a, double, p->column_count);
    s->best_price = NEW(a, double, p->column_count);
    s->load = NEW(a, double, p->column_count);
    for (size_t j = 0; j < p->column_count; j++)
        s->slots += slots_of(p, j);
    for (size_t j = 0; j < p->column_count; j++)
        s->price[j] = from->price ? from->price[j] : s->slots > 0 ? 1 / s->slots : 0;
}

enum error_code prices_improve(const struct prices_problem *p, size_t rounds,
                               double first_eta, double last_eta, struct ticks *ticks,
                               struct prices *out, struct arena *a)
{
    struct ascent s;

    make_ascent(p, ticks, out, &s, a);
    climb(&s, rounds, first_eta, last_eta);
    *out = (struct prices){s.price, s.value, s.floor};
    return OK;
}

/* Prices of every stride-th row, then some rounds from them over all. */
static enum error_code find_by_sample(const struct prices_problem *p, size_t stride,
                                      size_t all_rounds, const double *all_eta,
                                      struct ticks *ticks, struct prices *out,
                                      struct arena *a)
{
    struct ascent s;

    make_ascent(p, ticks, out, &s, a);
    s.stride = stride;
    climb(&s, PRICES_ROUNDS, FIRST_ETA, LAST_ETA);
    out->price = s.price;
    return prices_improve(p, all_rounds, all_eta[0], all_eta[1], ticks, out, a);
}

enum error_code prices_find(const struct prices_problem *p, struct ticks *ticks,
                            struct prices *out, struct arena *a)
{
    static const double all_eta[] = {0.3, 0.003};
    size_t cell_count = p->row_count * p->column_count, all_rounds;

    out->price = NULL;
    if (cell_count <= WHOLE_CELLS)
        return prices_improve(p, PRICES_ROUNDS, FIRST_ETA, LAST_ETA, ticks, out, a);
    all_rounds = ALL_CELLS / cell_count;
    if (all_rounds < ALL_ROUNDS_MIN)
        all_rounds = ALL_ROUNDS_MIN;
    return find_by_sample(p, cell_count / SAMPLE_CELLS, all_rounds, all_eta, ticks, out,
                          a);
}

enum error_code prices_find_fast(const struct prices_problem *p, struct ticks *ticks,
                                 struct prices *out, struct arena *a)
{
    static const double all_eta[] = {0.03, 0.003};
    size_t cell_count = p->row_count * p->column_count;
    size_t stride = cell_count / FAST_SAMPLE_CELLS;

    if (cell_count > WHOLE_CELLS)
        return prices_find(p, ticks, out, a);
    out->price = NULL;
    if (stride < 2)
        return prices_improve(p, PRICES_ROUNDS_FAST, FIRST_ETA, LAST_ETA, ticks, out, a);
    return find_by_sample(p, stride, FAST_ALL_ROUNDS, all_eta, ticks, out, a);
}
