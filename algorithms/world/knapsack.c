/* world/knapsack.c - how many of each class to take, so that their weight is largest.
 *
 * Only rows that can bind are looked at. The linear program has the LP_ROWS_MAX of them
 * that are asked for most; a row that it does not have has the price 0.
 */
#include "algorithms/world/knapsack.h"

#include "algorithms/world/bounded_lp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LP_ROWS_MAX = 48 };

/* Sums of weights times lambda stay below 2^40 where that is possible, so that their
 * bounds are exact to less than 1 in doubles. */
static const double LAMBDA_SUM_MAX = 1099511627776.0;

static const double CUT_MARGIN = 1e-6;

/* A class while one tier is solved, the ones before it being conditions. */
struct item {
    size_t class; /* in the knapsack */
    size_t tier;
    int64_t count, weight; /* without lambda */
    double priced;         /* weight with lambda */
    double price;          /* of its needs, by the program */
    double gain;           /* priced - price */
    double x;              /* the program's share */
};

struct stage {
    const struct knapsack *k;
    struct arena *a;
    size_t tier;
    int64_t *room;    /* by row of the knapsack: what tiers that are taken whole leave */
    size_t row_count; /* rows that can bind */
    size_t *row;      /* in the knapsack, the most asked for first */
    size_t item_count;
    struct item *items;
    double lambda[KNAPSACK_TIERS_MAX];   /* whole; 0: taken whole */
    int64_t kept[KNAPSACK_TIERS_MAX];    /* values that the tiers before must have */
    double conditions;                   /* the sum of kept times lambda */
    double root;                         /* bound of all, with lambda */
    double margin;                       /* more than what rounding does to a bound */
    int64_t divisor[KNAPSACK_TIERS_MAX]; /* of all values of a tier */
};

static int64_t need(const struct stage *s, size_t item, size_t row)
{
    return s->k->needs[s->items[item].class * s->k->row_count + s->row[row]];
}

/* ---- what is looked at ---- */

struct pressed {
    double pressure; /* asked for, of what is there; <= 1: the row cannot bind */
    size_t row;
};

static int most_pressed_first(const void *a, const void *b)
{
    const struct pressed *x = a, *y = b;

    if (x->pressure != y->pressure)
        return x->pressure > y->pressure ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

static void choose_rows(struct stage *s)
{
    const struct knapsack *k = s->k;
    struct pressed *list = NEW(s->a, struct pressed, k->row_count);

    for (size_t r = 0; r < k->row_count; r++) {
        double asked = 0;

        budget_step(k->budget, s->item_count);
        for (size_t i = 0; i < s->item_count; i++)
            asked += (double)s->items[i].count *
                     (double)k->needs[s->items[i].class * k->row_count + r];
        if (asked > 0 && asked > (double)s->room[r] * (1 - 1e-9))
            list[s->row_count++] = (struct pressed){asked / (double)s->room[r], r};
    }
    qsort(list, s->row_count, sizeof(*list), most_pressed_first);
    s->row = NEW(s->a, size_t, s->row_count);
    for (size_t i = 0; i < s->row_count; i++)
        s->row[i] = list[i].row;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* lambdas of which none is more than `ratio` times the next; the sum of all weights. */
static double try_lambdas(struct stage *s, const double *total, double ratio)
{
    double sum = total[s->tier], last = 1;

    s->lambda[s->tier] = 1;
    for (size_t t = s->tier; t-- > 0;) {
        s->lambda[t] = 0;
        if (total[t] <= 0)
            continue;
        last = s->lambda[t] = floor(fmin(1 + sum, last * ratio));
        sum += s->lambda[t] * total[t];
    }
    return sum;
}

/* A tier is worth more than all that follow it, as far as doubles go. Values count in
 * units of the tier's divisor. */
static void choose_lambdas(struct stage *s)
{
    double total[KNAPSACK_TIERS_MAX] = {0}, ratio = LAMBDA_SUM_MAX, sum;

    for (size_t i = 0; i < s->item_count; i++)
        total[s->items[i].tier] += (double)s->items[i].count * (double)s->items[i].weight;
    for (; (sum = try_lambdas(s, total, ratio)) > LAMBDA_SUM_MAX && ratio > 1; ratio /= 2)
        ;
    for (size_t t = 0; t < s->tier; t++)
        s->conditions += s->lambda[t] * (double)s->kept[t];
    s->margin =
        CUT_MARGIN + sum * 1e-15 * (double)(s->item_count + s->row_count + s->tier + 4);
}

/* Sums of the tiers' weights, and their divisors. */
static void sum_tiers(struct stage *s, int64_t *total)
{
    const struct knapsack *k = s->k;

    for (size_t c = 0; c < k->class_count; c++) {
        size_t t = k->tiers[c];

        total[t] += k->counts[c] * k->weights[c];
        if (k->counts[c] > 0)
            s->divisor[t] = common_divisor(s->divisor[t], k->weights[c]);
    }
    for (size_t t = 0; t < k->tier_count; t++)
        if (s->divisor[t] == 0)
            s->divisor[t] = 1;
}

/* Classes that are taken whole because their tier is. */
static void take_whole(struct stage *s, size_t class)
{
    const struct knapsack *k = s->k;

    budget_step(k->budget, k->row_count);
    for (size_t r = 0; r < k->row_count; r++)
        s->room[r] -= k->counts[class] * k->needs[class * k->row_count + r];
}

/* No more of an item than what is left has room for. */
static void cap_items(struct stage *s)
{
    const struct knapsack *k = s->k;
    size_t count = 0;

    for (size_t i = 0; i < s->item_count; i++) {
        struct item it = s->items[i];

        budget_step(k->budget, k->row_count);
        for (size_t r = 0; r < k->row_count; r++) {
            int64_t d = k->needs[it.class * k->row_count + r];

            if (d > 0 && d * it.count > s->room[r])
                it.count = s->room[r] / d;
        }
        if (it.count > 0)
            s->items[count++] = it;
    }
    s->item_count = count;
}

static void choose_items(struct stage *s, const int64_t *values)
{
    const struct knapsack *k = s->k;
    int64_t total[KNAPSACK_TIERS_MAX] = {0};

    s->items = NEW(s->a, struct item, k->class_count);
    s->room = NEW(s->a, int64_t, k->row_count);
    for (size_t r = 0; r < k->row_count; r++)
        s->room[r] = k->room[r];
    sum_tiers(s, total);
    for (size_t c = 0; c < k->class_count; c++) {
        size_t t = k->tiers[c];

        if (t > s->tier || k->counts[c] == 0 || k->weights[c] == 0)
            continue;
        if (t < s->tier && values[t] == total[t])
            take_whole(s, c);
        else
            s->items[s->item_count++] =
                (struct item){.class = c,
                              .tier = t,
                              .count = k->counts[c],
                              .weight = k->weights[c] / s->divisor[t]};
    }
    cap_items(s);
    for (size_t t = 0; t < s->tier; t++)
        s->kept[t] = values[t] == total[t] ? 0 : values[t] / s->divisor[t];
}

/* ---- the linear program ---- */

static void price_items(struct stage *s)
{
    size_t rows = s->row_count < LP_ROWS_MAX ? s->row_count : LP_ROWS_MAX;
    size_t n = s->item_count;
    double *columns = NEW(s->a, double, n *rows), *gains = NEW(s->a, double, n);
    double *most = NEW(s->a, double, n), *x = NEW(s->a, double, n);
    double *prices = NEW(s->a, double, rows);
    struct bounded_lp lp = {rows, n, columns, gains, most};

    for (size_t i = 0; i < n; i++) {
        struct item *it = &s->items[i];

        budget_step(s->k->budget, rows);
        it->priced = (double)it->weight * s->lambda[it->tier];
        gains[i] = it->priced;
        most[i] = (double)it->count;
        for (size_t r = 0; r < rows; r++)
            columns[i * rows + r] = (double)need(s, i, r) / (double)s->room[s->row[r]];
    }
    bounded_lp_solve(&lp, x, prices, s->k->budget, s->a);
    for (size_t r = 0; r < rows; r++)
        s->root += prices[r];
    for (size_t i = 0; i < n; i++) {
        struct item *it = &s->items[i];

        budget_step(s->k->budget, rows);
        it->x = x[i];
        for (size_t r = 0; r < rows; r++)
            it->price += prices[r] * columns[i * rows + r];
        it->gain = it->priced - it->price;
        s->root += fmax(0, it->gain) * (double)it->count;
    }
}

static int steepest_first(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    double p = fabs(x->gain), q = fabs(y->gain);

    if (p != q)
        return p > q ? -1 : 1;
    return x->class < y->class ? -1 : 1;
}

static void begin_stage(struct stage *s, const int64_t *values)
{
    choose_items(s, values);
    choose_rows(s);
    choose_lambdas(s);
    price_items(s);
    qsort(s->items, s->item_count, sizeof(*s->items), steepest_first);
}

/* Of the tier, given the conditions; in units of its divisor. */
static int64_t root_bound(const struct stage *s)
{
    double bound = s->root - s->conditions + s->margin;
    int64_t all = 0;

    for (size_t i = 0; i < s->item_count; i++)
        if (s->items[i].tier == s->tier)
            all += s->items[i].count * s->items[i].weight;
    if (bound >= (double)all)
        return all;
    return bound > 0 ? (int64_t)bound : 0;
}

/* ---- sets ---- */

struct chosen {
    int64_t *taken; /* by item */
    int64_t value[KNAPSACK_TIERS_MAX];
    int64_t *room; /* that is left, by row that can bind */
};

static struct chosen choose_none(const struct stage *s)
{
    struct chosen set = {.taken = NEW(s->a, int64_t, s->item_count),
                         .room = NEW(s->a, int64_t, s->row_count)};

    for (size_t r = 0; r < s->row_count; r++)
        set.room[r] = s->room[s->row[r]];
    return set;
}

static void choose_more(const struct stage *s, struct chosen *set, size_t item,
                        int64_t more)
{
    const struct item *it = &s->items[item];

    if (more > it->count - set->taken[item])
        more = it->count - set->taken[item];
    budget_step(s->k->budget, s->row_count + 1);
    for (size_t r = 0; more > 0 && r < s->row_count; r++) {
        int64_t d = need(s, item, r);

        if (d > 0 && set->room[r] / d < more)
            more = set->room[r] / d;
    }
    for (size_t r = 0; more > 0 && r < s->row_count; r++)
        set->room[r] -= more * need(s, item, r);
    set->taken[item] += more;
    set->value[it->tier] += more * it->weight;
}

struct worth {
    double ratio; /* weight by price */
    size_t item;
    size_t tier;
};

static int most_worth_first(const void *a, const void *b)
{
    const struct worth *x = a, *y = b;

    if (x->tier != y->tier)
        return x->tier < y->tier ? -1 : 1;
    if (x->ratio != y->ratio)
        return x->ratio > y->ratio ? -1 : 1;
    return x->item < y->item ? -1 : 1;
}

/* Items in the order in which they fill up. */
static const struct worth *order_items(const struct stage *s)
{
    struct worth *list = NEW(s->a, struct worth, s->item_count);

    for (size_t i = 0; i < s->item_count; i++) {
        const struct item *it = &s->items[i];

        list[i] = (struct worth){it->price > 0 ? it->priced / it->price : HUGE_VAL, i,
                                 it->tier};
    }
    qsort(list, s->item_count, sizeof(*list), most_worth_first);
    return list;
}

static void fill(const struct stage *s, struct chosen *set, const struct worth *order)
{
    for (size_t i = 0; i < s->item_count; i++)
        choose_more(s, set, order[i].item, INT64_MAX);
}

static bool keeps_conditions(const struct stage *s, const struct chosen *set)
{
    for (size_t t = 0; t < s->tier; t++)
        if (set->value[t] < s->kept[t])
            return false;
    return true;
}

/* The better one of what the tiers before took and of the program's share, both filled
 * up. */
static struct chosen first_set(const struct stage *s, const int64_t *before)
{
    struct chosen given = choose_none(s), rounded = choose_none(s);
    const struct worth *order = order_items(s);

    for (size_t i = 0; i < s->item_count; i++) {
        if (before[s->items[i].class] > 0)
            choose_more(s, &given, i, before[s->items[i].class]);
        choose_more(s, &rounded, i, (int64_t)(s->items[i].x + 1e-9));
    }
    fill(s, &given, order);
    fill(s, &rounded, order);
    return keeps_conditions(s, &rounded) && rounded.value[s->tier] > given.value[s->tier]
               ? rounded
               : given;
}

/* ---- depth first ---- */

struct dive {
    const struct stage *s;
    int64_t *needs; /* by item and row */
    double *open;   /* from this item on: the sum of count * max(0, gain) */
    int64_t *reach; /* the same: count * weight, by item and tier before */
    struct chosen now, best;
    double *sum; /* before this item: the weights taken and the price of what is left */
    size_t nodes, max_nodes;
    bool stopped;
};

static int64_t *reach_of(const struct dive *d, size_t item)
{
    return d->reach + item * KNAPSACK_TIERS_MAX;
}

static void begin_dive(struct dive *d, size_t max_nodes)
{
    const struct stage *s = d->s;
    size_t n = s->item_count;

    d->needs = NEW(s->a, int64_t, n * s->row_count);
    d->open = NEW(s->a, double, n + 1);
    d->sum = NEW(s->a, double, n + 1);
    d->now = choose_none(s);
    d->max_nodes = max_nodes;
    d->reach = NEW(s->a, int64_t, (n + 1) * KNAPSACK_TIERS_MAX);
    d->sum[0] = s->root;
    for (size_t i = n; i-- > 0;) {
        const struct item *it = &s->items[i];

        budget_step(s->k->budget, s->row_count + s->tier + 1);
        for (size_t r = 0; r < s->row_count; r++)
            d->needs[i * s->row_count + r] = need(s, i, r);
        d->open[i] = d->open[i + 1] + fmax(0, it->gain) * (double)it->count;
        memcpy(reach_of(d, i), reach_of(d, i + 1), KNAPSACK_TIERS_MAX * sizeof(int64_t));
        reach_of(d, i)[it->tier] += it->count * it->weight;
    }
    d->sum[0] -= d->open[0];
}

/* Nothing behind item i, taken as it is now, is better than the best. */
static bool is_cut(const struct dive *d, size_t i)
{
    const struct stage *s = d->s;
    double bound =
        d->sum[i] + s->items[i].gain * (double)d->now.taken[i] + d->open[i + 1];

    return bound - s->conditions + s->margin < (double)(d->best.value[s->tier] + 1);
}

/* The tiers before cannot get what they must have any more. */
static bool breaks_conditions(const struct dive *d, size_t i)
{
    const struct stage *s = d->s;

    for (size_t t = 0; t < s->tier; t++)
        if (d->now.value[t] + reach_of(d, i + 1)[t] < s->kept[t])
            return true;
    return false;
}

static void change(struct dive *d, size_t i, int64_t by)
{
    const struct stage *s = d->s;
    const int64_t *needs = d->needs + i * s->row_count;

    d->now.taken[i] += by;
    d->now.value[s->items[i].tier] += by * s->items[i].weight;
    for (size_t r = 0; r < s->row_count; r++)
        d->now.room[r] -= by * needs[r];
}

/* The first value of the item: all that fit, or none, as its gain says. */
static void enter(struct dive *d, size_t i)
{
    const struct stage *s = d->s;
    const int64_t *needs = d->needs + i * s->row_count;
    int64_t most = s->items[i].count;

    if (s->items[i].gain <= 0)
        return;
    for (size_t r = 0; r < s->row_count; r++)
        if (needs[r] * most > d->now.room[r])
            most = d->now.room[r] / needs[r];
    if (most > 0)
        change(d, i, most);
}

/* The next one; false: there is none. */
static bool next(struct dive *d, size_t i)
{
    const struct stage *s = d->s;
    const int64_t *needs = d->needs + i * s->row_count;

    if (s->items[i].gain > 0) {
        if (d->now.taken[i] == 0)
            return false;
        change(d, i, -1);
        return true;
    }
    if (d->now.taken[i] == s->items[i].count)
        return false;
    for (size_t r = 0; r < s->row_count; r++)
        if (needs[r] > d->now.room[r])
            return false;
    change(d, i, 1);
    return true;
}

static void keep_best(struct dive *d)
{
    const struct stage *s = d->s;

    if (d->now.value[s->tier] <= d->best.value[s->tier] || !keeps_conditions(s, &d->now))
        return;
    memcpy(d->best.taken, d->now.taken, s->item_count * sizeof(int64_t));
    memcpy(d->best.value, d->now.value, sizeof(d->now.value));
}

/* What no value of the item can change: take it out, and go on with the one before. */
static bool leave(struct dive *d, size_t *i)
{
    while (*i > 0) {
        --*i;
        if (next(d, *i))
            return true;
        change(d, *i, -d->now.taken[*i]);
    }
    return false;
}

static void dive(struct dive *d)
{
    const struct stage *s = d->s;
    size_t i = 0;

    if (s->item_count == 0)
        return;
    enter(d, 0);
    for (;;) {
        d->nodes++;
        d->stopped =
            d->nodes > d->max_nodes || budget_step(s->k->budget, s->row_count + 1);
        if (d->stopped)
            return;
        if (is_cut(d, i)) { /* and so is every further value of this item */
            change(d, i, -d->now.taken[i]);
        } else if (breaks_conditions(d, i)) {
            if (next(d, i))
                continue;
            change(d, i, -d->now.taken[i]);
        } else if (i + 1 < s->item_count) {
            d->sum[i + 1] = d->sum[i] + s->items[i].gain * (double)d->now.taken[i];
            enter(d, ++i);
            continue;
        } else {
            keep_best(d);
            if (next(d, i))
                continue;
            change(d, i, -d->now.taken[i]);
        }
        if (!leave(d, &i))
            return;
    }
}

/* ---- all tiers ---- */

/* One tier; returns the nodes looked at. */
static size_t solve_tier(struct stage *s, int64_t *taken, size_t max_nodes,
                         struct knapsack_tier *tier)
{
    struct dive d = {.s = s, .best = first_set(s, taken)};
    int64_t bound = root_bound(s), divisor = s->divisor[s->tier];

    if (d.best.value[s->tier] < bound) {
        begin_dive(&d, max_nodes);
        dive(&d);
        if (!d.stopped)
            bound = d.best.value[s->tier];
    }
    *tier = (struct knapsack_tier){d.best.value[s->tier] * divisor, bound * divisor,
                                   d.best.value[s->tier] >= bound};
    for (size_t i = 0; i < s->item_count; i++)
        taken[s->items[i].class] = d.best.taken[i];
    return d.nodes < max_nodes ? d.nodes : max_nodes;
}

size_t knapsack_solve(const struct knapsack *k, int64_t *taken,
                      struct knapsack_tier *tiers, struct arena *a)
{
    size_t most = k->max_nodes ? k->max_nodes : KNAPSACK_NODES_MAX, nodes = 0;
    int64_t values[KNAPSACK_TIERS_MAX] = {0};
    struct arena_mark mark = arena_mark(a);

    for (size_t c = 0; c < k->class_count; c++)
        taken[c] = 0;
    for (size_t t = 0; t < k->tier_count; t++) {
        struct stage s = {.k = k, .a = a, .tier = t};

        begin_stage(&s, values);
        nodes += solve_tier(&s, taken, most - nodes, &tiers[t]);
        values[t] = tiers[t].value;
        arena_rewind(a, mark);
    }
    return nodes;
}

void knapsack_bounds(const struct knapsack *k, const int64_t *values, int64_t *bounds,
                     struct arena *a)
{
    struct arena_mark mark = arena_mark(a);

    for (size_t t = 0; t < k->tier_count; t++) {
        struct stage s = {.k = k, .a = a, .tier = t};

        begin_stage(&s, values);
        bounds[t] = root_bound(&s) * s.divisor[t];
        arena_rewind(a, mark);
    }
}
