/* plan/genetic.c - genetic algorithm over markers, with split and merge.
 *
 * A plan is a string of N bits, a 1 for a marker; the last is always set. With the
 * total E of a plan, V of its L intervals too short, by M on average,
 *
 *     fitness = 1 / (E * (1 + V/L) * (1 + M/E))
 *
 * Each generation pairs the population at random, exchanges the tails of each pair
 * behind a random cut, and changes each child: its largest interval is split in the
 * middle, its smallest merged with the next (the last: with the one before) if it is
 * too short. The better half of parents and children lives on. The answer is the valid
 * plan of the highest fitness ever seen. Ties: largest, smallest: the earliest
 * interval; survival: the lower index, parents first.
 *
 * Option `seeded` (ours) puts the single interval and the plans of `incremental` and
 * `division` into the first population: the answer is then never worse than theirs.
 *
 * Source: 003_a5f9349f46eae656.txt 5.3.3, figures 5.4-5.5, eq. 5.5-5.6 [L1893-1909];
 * spec rescheduling-plans.md 3.4. O(generations * population * N) steps.
 * Deviation: the probability of a first bit (1/2) and the merging of the last interval
 * are not in the source, nor that an invalid plan is never the answer.
 */
#include "algorithms/plan/plan.h"
#include "models/base/rng.h"

#include <math.h>
#include <string.h>

struct genetic {
    const struct plan_site_in *in;
    struct plan_work *w;
    size_t n, population; /* phases; plans */
    struct rng rng;
    double best_fitness; /* of the valid plan in w->best_marks; 0: none yet */
};

static bool *gene(const struct genetic *g, size_t i)
{
    return g->w->genes + i * g->n;
}

double plan_fitness(const struct plan_worth *worth)
{
    double violation_ratio = (double)worth->invalid_count / (double)worth->interval_count;
    double extent_s =
        worth->invalid_count ? worth->missing_s / (double)worth->invalid_count : 0;

    return 1 / (worth->total_s * (1 + violation_ratio) * (1 + extent_s / worth->total_s));
}

static bool evaluate(struct genetic *g, size_t i)
{
    struct plan_worth worth;

    if (!plan_marks_worth(g->in, gene(g, i), &worth))
        return false;
    g->w->fitness[i] = plan_fitness(&worth);
    if (worth.invalid_count == 0 && g->w->fitness[i] > g->best_fitness) {
        g->best_fitness = g->w->fitness[i];
        memcpy(g->w->best_marks, gene(g, i), g->n);
    }
    return true;
}

/* An interval of a string, from bit `first` to bit `last`. */
struct span {
    size_t first, last;
};

/* The earliest of the largest or of the smallest intervals. */
static struct span extreme(const bool *bits, size_t n, bool largest)
{
    struct span found = {0, 0};
    size_t found_length = 0, from = 0;

    for (size_t k = 0; k < n; k++) {
        size_t length = k - from + 1;

        if (!bits[k])
            continue;
        if (!found_length || (largest ? length > found_length : length < found_length)) {
            found = (struct span){from, k};
            found_length = length;
        }
        from = k + 1;
    }
    return found;
}

/* The bit before the interval that begins at `first` is a marker; is there one? */
static size_t marker_before(size_t first)
{
    return first ? first - 1 : SIZE_MAX;
}

bool plan_split_and_merge(const struct plan_site_in *in, bool *bits)
{
    size_t n = in->last - in->first + 1;
    struct span largest = extreme(bits, n, true), smallest;
    size_t length = largest.last - largest.first + 1, cleared;
    const struct plan_best *best;

    if (length >= 2)
        bits[largest.first + length / 2 - 1] = true;
    smallest = extreme(bits, n, false);
    best =
        plan_table_best(in->table, in->first + smallest.first, in->first + smallest.last);
    if (!best)
        return false;
    if (plan_long_enough(in, best->time_s))
        return true;
    cleared = smallest.last < n - 1 ? smallest.last : marker_before(smallest.first);
    if (cleared != SIZE_MAX)
        bits[cleared] = false;
    return true;
}

/* Both children of a pair: the parents with their tails exchanged. */
static void cross(struct genetic *g, size_t mother, size_t father, size_t child)
{
    size_t cut = g->n > 1 ? 1 + rng_index(&g->rng, g->n - 1) : 0;

    for (size_t c = 0; c < 2; c++) {
        memcpy(gene(g, child + c), gene(g, c ? father : mother), cut);
        memcpy(gene(g, child + c) + cut, gene(g, c ? mother : father) + cut, g->n - cut);
    }
}

static void shuffle(struct genetic *g)
{
    size_t *order = g->w->order;

    for (size_t i = 0; i < g->population; i++)
        order[i] = i;
    for (size_t i = g->population; i > 1; i--) {
        size_t j = rng_index(&g->rng, i), held = order[i - 1];

        order[i - 1] = order[j];
        order[j] = held;
    }
}

/* Sorts w->order[from .. from + count) by fitness, the greatest first, stably. */
static void sort_by_fitness(struct plan_work *w, size_t count)
{
    size_t *order = w->order, *copy = w->order_copy;

    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t from = 0; from < count; from += 2 * width) {
            size_t middle = from + width < count ? from + width : count;
            size_t end = from + 2 * width < count ? from + 2 * width : count;
            size_t left = from, right = middle;

            for (size_t k = from; k < end; k++) {
                bool take_left = left < middle &&
                                 (right >= end ||
                                  !(w->fitness[order[right]] > w->fitness[order[left]]));
                copy[k] = take_left ? order[left++] : order[right++];
            }
        }
        memcpy(order, copy, count * sizeof(order[0]));
    }
}

static void select_best(struct genetic *g)
{
    struct plan_work *w = g->w;

    sort_by_fitness(w, 2 * g->population);
    for (size_t i = 0; i < g->population; i++) {
        memcpy(w->kept + i * g->n, gene(g, w->order[i]), g->n);
        w->kept_fitness[i] = w->fitness[w->order[i]];
    }
    memcpy(w->genes, w->kept, g->population * g->n);
    memcpy(w->fitness, w->kept_fitness, g->population * sizeof(w->fitness[0]));
}

static bool generation(struct genetic *g)
{
    shuffle(g);
    for (size_t i = 0; i + 1 < g->population; i += 2)
        cross(g, g->w->order[i], g->w->order[i + 1], g->population + i);
    for (size_t i = g->population; i < 2 * g->population; i++)
        if (!plan_split_and_merge(g->in, gene(g, i)) || !evaluate(g, i))
            return false;
    select_best(g);
    return true;
}

/* Makes plan `i` that of another planner. */
static enum error_code plant(struct genetic *g, size_t i, plan_site_fn *planner,
                             struct error *err)
{
    struct plan_site_out made;
    bool *bits = gene(g, i);

    TRY(planner(g->in, &made, err));
    memset(bits, 0, g->n);
    for (size_t p = 0; p < made.count; p++)
        bits[made.pieces[p].last - g->in->first] = true;
    return OK;
}

/* The first population. */
static enum error_code begin(struct genetic *g, struct error *err)
{
    for (size_t i = 0; i < g->population; i++)
        for (size_t k = 0; k < g->n; k++)
            gene(g, i)[k] = k == g->n - 1 || rng_uniform(&g->rng) < 0.5;
    if (g->in->option[PLAN_SEEDED] == 0)
        return OK;
    memset(gene(g, 0), 0, g->n - 1);
    TRY(plant(g, 1, plan_incremental, err));
    return plant(g, 2, plan_division, err);
}

enum error_code plan_genetic(const struct plan_site_in *in, struct plan_site_out *out,
                             struct error *err)
{
    struct genetic g = {
        .in = in,
        .w = in->work,
        .n = in->last - in->first + 1,
        .population = in->work->population,
        .rng = rng_stream(in->seed, in->stream),
    };
    size_t generations = (size_t)in->option[PLAN_GENERATIONS];
    bool cut = false;

    plan_table_best(in->table, in->first, in->last);
    TRY(begin(&g, err));
    for (size_t i = 0; i < g.population && !cut; i++)
        cut = !evaluate(&g, i);
    for (size_t i = 0; i < generations && !cut; i++)
        cut = !generation(&g) || plan_time_over(in->table);
    if (!(g.best_fitness > 0))
        return plan_pieces_answer(in, 0, cut, out);
    TRY(plan_marks_answer(in, g.w->best_marks, out));
    out->cut = cut;
    return OK;
}
