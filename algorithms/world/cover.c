/* world/cover.c - the cheapest set of things that gives back what is lacking. */
#include "algorithms/world/cover.h"

#include <math.h>
#include <string.h>

/* Weights are compared with what rounding may do to their sums. */
static const double ROUNDING = 1e-9;

struct search {
    const struct cover *c;
    int64_t *lacks;   /* by row, what is left to be given; may be negative */
    int64_t *behind;  /* by item and row: what this item and those behind it give */
    double *cheapest; /* by item and row: their least weight for one unit */
    bool *now;
    double weight;
    size_t count;
    struct cover_out *best;
    bool found; /* the best is of the search, so that of equal ones it is the first */
    size_t nodes, max_nodes;
    bool stopped;
};

static const int64_t *gives(const struct search *s, size_t item)
{
    return s->c->gives + item * s->c->row_count;
}

static bool is_covered(const struct search *s)
{
    for (size_t r = 0; r < s->c->row_count; r++)
        if (s->lacks[r] > 0)
            return false;
    return true;
}

static void take(struct search *s, size_t item, bool taken)
{
    int64_t sign = taken ? 1 : -1;

    for (size_t r = 0; r < s->c->row_count; r++)
        s->lacks[r] -= sign * gives(s, item)[r];
    s->now[item] = taken;
    s->count = taken ? s->count + 1 : s->count - 1;
}

static void sum_behind(struct search *s, struct arena *a)
{
    const struct cover *c = s->c;
    size_t rows = c->row_count;

    s->behind = NEW(a, int64_t, (c->item_count + 1) * rows);
    s->cheapest = NEW(a, double, (c->item_count + 1) * rows);
    for (size_t r = 0; r < rows; r++)
        s->cheapest[c->item_count * rows + r] = HUGE_VAL;
    for (size_t i = c->item_count; i-- > 0;) {
        budget_step(c->budget, rows);
        for (size_t r = 0; r < rows; r++) {
            int64_t given = gives(s, i)[r];

            s->behind[i * rows + r] = s->behind[(i + 1) * rows + r] + given;
            s->cheapest[i * rows + r] = s->cheapest[(i + 1) * rows + r];
            if (given > 0)
                s->cheapest[i * rows + r] =
                    fmin(s->cheapest[i * rows + r], c->weights[i] / (double)given);
        }
    }
}

/* Nothing from this item on makes a set that is better than the best. */
static bool is_cut(const struct search *s, size_t item)
{
    size_t rows = s->c->row_count;
    size_t least = s->count + 1; /* it is not covered yet */
    double more = 0;

    if (s->weight == s->best->weight &&
        (least > s->best->count || (least == s->best->count && s->found)))
        return true;
    for (size_t r = 0; r < rows; r++) {
        if (s->lacks[r] <= 0)
            continue;
        if (s->behind[item * rows + r] < s->lacks[r])
            return true;
        more = fmax(more, (double)s->lacks[r] * s->cheapest[item * rows + r]);
    }
    return (s->weight + more) * (1 - ROUNDING) > s->best->weight;
}

static void keep(struct search *s)
{
    struct cover_out *best = s->best;

    if (s->weight > best->weight ||
        (s->weight == best->weight &&
         (s->count > best->count || (s->count == best->count && s->found))))
        return;
    memcpy(best->chosen, s->now, s->c->item_count * sizeof(*s->now));
    best->weight = s->weight;
    best->count = s->count;
    s->found = true;
}

/* From one item to the next one: taken first, so that sets come in the order of their
 * items; then left out. */
static void search_items(struct search *s, double *weight_before)
{
    size_t i = 0;

    for (;;) {
        bool ends = is_covered(s);

        s->stopped = s->nodes >= s->max_nodes || budget_step(s->c->budget, 1);
        s->nodes++;
        if (s->stopped)
            return;
        if (ends)
            keep(s);
        if (!ends && i < s->c->item_count && !is_cut(s, i)) {
            weight_before[i] = s->weight;
            take(s, i, true);
            s->weight += s->c->weights[i];
            i++;
            continue;
        }
        while (i > 0 && !s->now[i - 1])
            i--;
        if (i == 0)
            return;
        take(s, i - 1, false);
        s->weight = weight_before[i - 1];
    }
}

/* ---- a first set ---- */

/* How much of what is lacking the item gives for its weight. */
static double use_of(const struct search *s, size_t item)
{
    double use = 0;

    for (size_t r = 0; r < s->c->row_count; r++)
        if (s->lacks[r] > 0)
            use += fmin((double)gives(s, item)[r], (double)s->lacks[r]) /
                   (double)s->c->shortages[r];
    return s->c->weights[item] > 0 ? use / s->c->weights[item] : use * 1e300;
}

/* Takes out what is not needed, the heaviest first. */
static void drop_spare(struct search *s)
{
    for (;;) {
        size_t heaviest = SIZE_MAX;

        for (size_t i = 0; i < s->c->item_count; i++) {
            if (!s->now[i] ||
                (heaviest != SIZE_MAX && s->c->weights[i] <= s->c->weights[heaviest]))
                continue;
            budget_step(s->c->budget, s->c->row_count);
            take(s, i, false);
            if (is_covered(s))
                heaviest = i;
            take(s, i, true);
        }
        if (heaviest == SIZE_MAX)
            return;
        take(s, heaviest, false);
    }
}

static void choose_greedy(struct search *s)
{
    while (!is_covered(s)) {
        size_t best = SIZE_MAX;
        double most = -1;

        budget_step(s->c->budget, s->c->item_count * s->c->row_count);
        for (size_t i = 0; i < s->c->item_count; i++) {
            double use = s->now[i] ? -1 : use_of(s, i);

            if (use > most) {
                most = use;
                best = i;
            }
        }
        take(s, best, true);
    }
    drop_spare(s);
    s->best->weight = 0;
    for (size_t i = 0; i < s->c->item_count; i++) {
        if (!s->now[i])
            continue;
        s->best->weight += s->c->weights[i];
        s->best->chosen[i] = true;
        s->best->count++;
        take(s, i, false);
    }
}

void cover_solve(const struct cover *c, struct cover_out *out, struct arena *a)
{
    struct search s = {.c = c, .best = out};

    *out = (struct cover_out){.chosen = NEW(a, bool, c->item_count)};
    s.now = NEW(a, bool, c->item_count);
    s.lacks = NEW(a, int64_t, c->row_count);
    for (size_t r = 0; r < c->row_count; r++)
        s.lacks[r] = c->shortages[r];
    s.max_nodes = c->max_nodes ? c->max_nodes : COVER_NODES_MAX;
    sum_behind(&s, a);
    out->possible = true;
    for (size_t r = 0; r < c->row_count; r++)
        out->possible &= s.behind[r] >= s.lacks[r];
    if (!out->possible) {
        out->proven = true;
        return;
    }
    choose_greedy(&s);
    search_items(&s, NEW(a, double, c->item_count + 1));
    out->proven = !s.stopped;
}
