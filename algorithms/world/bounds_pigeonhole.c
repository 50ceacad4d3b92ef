/* world/bounds_pigeonhole.c - of i m + 1 jobs some place of m has i + 1.
 *
 * Jobs that need more than a (q + 1)-th of an amount wherever they may run: at most q of
 * them are on a resource at once, M on all of them. Of the i M + 1 longest, i + 1 follow
 * each other, which takes the sum of the i + 1 shortest of these at least. Where the
 * number of jobs at once is limited the same holds for jobs of any size. A job on several
 * nodes counts on each. What is held now is left out: that only lowers the bound.
 *
 * Source: world-model.md 5.3 (d), and the same for shared amounts.
 * Cost: O(n log n + jobs * groups * amounts).
 */
#include "algorithms/world/prices.h"

#include <stdlib.h>

enum { Q_MAX = 5 };

/* Jobs by falling run time: run_s each, `copies` up to and with this one, and the sum. */
struct pigeon {
    double run_s;
    size_t row;
    double copies;
    long double sum_s;
};

struct holes {
    struct bounds_field *f;
    const struct price_groups *g;
    struct pigeon *all; /* rows by falling least run time */
    size_t all_count;
    struct pigeon *chosen;
    size_t count;
    double copies;                  /* of all chosen */
    long double sum_s;              /* of their run times */
    uint64_t used[GROUPS_MAX / 64]; /* groups that the chosen may use */
};

static int longest_first(const void *a, const void *b)
{
    const struct pigeon *x = a, *y = b;

    if (x->run_s != y->run_s)
        return x->run_s > y->run_s ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Sum of the `copies` longest. */
static long double sum_of(const struct holes *h, double copies)
{
    size_t low = 0, high = h->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (h->chosen[middle].copies - copies >= 1)
            high = middle;
        else
            low = middle;
    }
    while (low < h->count && h->chosen[low].copies < copies)
        low++;
    if (low == h->count)
        low--;
    return h->chosen[low].sum_s - (h->chosen[low].copies - copies) * h->chosen[low].run_s;
}

/* The best of all i; places: M. */
static double best_s(const struct holes *h, double places)
{
    double bound_s = 0;

    if (!(places >= 1))
        return 0;
    for (double i = 1; i * places + 1 <= h->copies; i++) {
        long double sum_s = sum_of(h, i * places + 1) - sum_of(h, i * places - i);

        bound_s = fmax(bound_s, (double)sum_s);
        if (budget_step(h->f->w->budget, 64))
            break;
    }
    return bound_s;
}

static void choose(struct holes *h, const struct pigeon *p, size_t copies)
{
    h->copies += (double)copies;
    h->sum_s += (long double)p->run_s * copies;
    h->chosen[h->count++] = (struct pigeon){p->run_s, p->row, h->copies, h->sum_s};
    for (size_t i = 0; i < h->g->words; i++)
        h->used[i] |= h->g->eligible[p->row * h->g->words + i];
}

static void clear(struct holes *h)
{
    h->count = 0;
    h->copies = 0;
    h->sum_s = 0;
    for (size_t i = 0; i < GROUPS_MAX / 64; i++)
        h->used[i] = 0;
}

static bool is_used(const struct holes *h, size_t group)
{
    return h->used[group / 64] >> (group % 64) & 1;
}

/* The most of the amount that a resource has which the row may use. */
static int64_t largest_of(const struct holes *h, size_t row, size_t amount)
{
    size_t amounts = h->f->w->node_amount_count;
    int64_t largest = 0;

    for (size_t word = 0; word < h->g->words; word++)
        for (uint64_t bits = h->g->eligible[row * h->g->words + word]; bits;
             bits &= bits - 1) {
            size_t group = 64 * word + (size_t)__builtin_ctzll(bits);
            int64_t here = h->g->largest[group * amounts + amount];

            largest = here > largest ? here : largest;
        }
    return largest;
}

/* How many of the job fit side by side at most, if they are 1 to Q_MAX; else 0. */
static bool find_sides(const struct holes *h, size_t amount, int64_t *side)
{
    const struct bounds_field *f = h->f;
    bool on_nodes = amount < f->w->node_amount_count;

    for (size_t i = 0; i < h->all_count; i++) {
        size_t row = h->all[i].row;
        int64_t need = f->rows[row].of->needs[amount], most;

        side[i] = 0;
        if (budget_step(f->w->budget, 4 + (need > 0 ? h->g->count : 0)))
            return false;
        if (need <= 0)
            continue;
        most = on_nodes ? largest_of(h, row, amount) : f->w->shared_capacity[amount];
        side[i] = most < AMOUNT_UNLIMITED && most / need <= Q_MAX ? most / need : 0;
    }
    return true;
}

/* Of jobs of which at most q fit side by side. */
static double bound_of_sides(struct holes *h, bool on_nodes, const int64_t *side,
                             int64_t q)
{
    double places = 0;

    clear(h);
    for (size_t i = 0; i < h->all_count; i++)
        if (side[i] > 0 && side[i] <= q)
            choose(h, &h->all[i], on_nodes ? h->f->rows[h->all[i].row].of->nodes : 1);
    for (size_t g = 0; g < h->g->count && on_nodes; g++)
        if (is_used(h, g))
            places += (double)(h->g->first[g + 1] - h->g->first[g]);
    return best_s(h, (double)q * (on_nodes ? places : 1));
}

static double bound_of_amount(struct holes *h, size_t amount, int64_t *side)
{
    bool on_nodes = amount < h->f->w->node_amount_count;
    double bound_s = 0;

    if (!find_sides(h, amount, side))
        return 0;
    for (int64_t q = 1; q <= Q_MAX; q++) {
        bound_s = fmax(bound_s, bound_of_sides(h, on_nodes, side, q));
        if (budget_step(h->f->w->budget, 8 * h->all_count + h->g->count))
            break;
    }
    return bound_s;
}

/* Where the number of jobs is limited wherever they may run. */
static double bound_of_jobs(struct holes *h)
{
    const struct bounds_field *f = h->f;
    double places = 0;

    clear(h);
    for (size_t i = 0; i < h->all_count; i++) {
        int64_t most = largest_of(h, h->all[i].row, AMOUNT_JOBS);

        if (most > 0 && most < AMOUNT_UNLIMITED)
            choose(h, &h->all[i], f->rows[h->all[i].row].of->nodes);
        if (budget_step(f->w->budget, 8 + h->g->count))
            return 0;
    }
    for (size_t p = 0; p < f->w->resource_count; p++)
        if (is_used(h, h->g->of[p]))
            places += (double)f->w->resources[p].capacity[AMOUNT_JOBS];
    budget_step(f->w->budget, f->w->resource_count);
    return best_s(h, places);
}

double bounds_pigeonhole_s(struct bounds_field *f)
{
    struct holes h = {.f = f, .g = price_groups_of(f, false)};
    struct arena_mark mark;
    int64_t *side;
    double bound_s;

    if (!h.g)
        return 0;
    mark = arena_mark(f->arena);
    h.all = NEW(f->arena, struct pigeon, f->row_count);
    h.chosen = NEW(f->arena, struct pigeon, f->row_count);
    side = NEW(f->arena, int64_t, f->row_count);
    for (size_t r = 0; r < f->row_count; r++)
        if (f->rows[r].least_s > 0)
            h.all[h.all_count++] = (struct pigeon){.run_s = f->rows[r].least_s, .row = r};
    qsort(h.all, h.all_count, sizeof(*h.all), longest_first);
    bound_s = bound_of_jobs(&h);
    for (size_t k = 0; k < f->w->amount_count; k++)
        if (f->needed[k])
            bound_s = fmax(bound_s, bound_of_amount(&h, k, side));
    arena_rewind(f->arena, mark);
    /* Sums of fractions may come out higher than those of a plan. */
    return bound_s == floor(bound_s) ? bound_s : bound_s * (1 - 1e-10);
}
