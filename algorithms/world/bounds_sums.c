/* world/bounds_sums.c - how small sums over jobs can be.
 *
 * Prices make one machine of all that is free, which works on jobs in turn, stops and
 * goes on as it likes: a fluid machine. No plan has done more by any time.
 *
 *     completion  weight * (mean time of the job's work + half its run time), the work in
 *                 Smith's order, by rising value / weight among those that can start
 *     tardiness   the i-th end of shortest-remaining-first, or the i-th least done_s,
 *                 less the i-th least deadline; by layers of weights
 *     late jobs   Moore and Hodgson
 *
 * The transfer of outputs follows the work: deadlines are so much earlier.
 *
 * A job is there from its head_s on. Deviation: the specification takes its release; the
 * argument holds for heads, and the bound is larger. A job without a value at these
 * prices counts with its done_s. Source: world-model.md 5.3. Cost: O(n log n), of
 * tardiness times LAYERS_MAX.
 */
#include "algorithms/world/prices.h"

#include "models/base/heap.h"
#include "models/base/order.h"

#include <stdlib.h>
#include <string.h>

enum { LAYERS_MAX = 32 };

struct piece {
    double key; /* the least is worked on */
    double left;
    size_t row;
};

static bool piece_before(const struct piece *a, const struct piece *b)
{
    return a->key != b->key ? a->key < b->key : a->row < b->row;
}
HEAP(pieces, struct piece, piece_before)

/* The fluid machine at work. */
struct fluid {
    const struct bounds_field *f;
    const struct price_curve *curve;
    size_t next; /* jobs that have come: the last of by_head, backwards */
    double area; /* work done, or free and not used, until now */
    size_t step; /* of the curve, in which that is */
    struct piece *pieces;
    size_t piece_count;
};

static double area_of_next(const struct fluid *m)
{
    if (m->next == 0)
        return HUGE_VAL;
    return price_curve_area(m->curve, m->f->rows[m->f->by_head[m->next - 1]].head_s);
}

/* ---- completion ---- */

/* Integral of the time over work from m->area to `to`; HUGE_VAL: there is not so much. */
static double integral_to(struct fluid *m, double to)
{
    const struct price_curve *c = m->curve;
    double sum = 0;

    while (m->area < to) {
        size_t i = m->step;
        double end = i + 1 < c->count ? c->area[i + 1] : HUGE_VAL, until, from_s, to_s;

        if (end <= m->area) {
            m->step++;
            continue;
        }
        if (!(c->rate[i] > 0))
            return HUGE_VAL;
        until = fmin(end, to);
        from_s = c->at_s[i] + fmax(m->area - c->area[i], 0) / c->rate[i];
        to_s = c->at_s[i] + (until - c->area[i]) / c->rate[i];
        sum += (until - m->area) * (from_s + to_s) / 2;
        m->area = until;
    }
    return sum;
}

static double weight_of(const struct bounds_row *row, bool flow)
{
    return flow ? 1 : row->of->weight;
}

/* Lets the jobs that have a value and come at the next head in. */
static void let_in(struct fluid *m, const double *value, bool flow)
{
    double head_s = m->f->rows[m->f->by_head[m->next - 1]].head_s;

    while (m->next > 0 && m->f->rows[m->f->by_head[m->next - 1]].head_s == head_s) {
        size_t r = m->f->by_head[--m->next];
        double weight = weight_of(&m->f->rows[r], flow);

        if (value[r] > 0 && weight > 0)
            pieces_push(m->pieces, &m->piece_count,
                        (struct piece){value[r] / weight, value[r], r});
    }
}

/* Sum of weight * mean time of work. */
static double sum_of_means(struct fluid *m, const double *value, bool flow)
{
    long double sum = 0;

    while (m->next > 0 || m->piece_count > 0) {
        double next = area_of_next(m), end;
        struct piece *first = m->pieces;
        double integral;

        if (budget_step(m->f->w->budget, 32))
            break;
        if (m->piece_count == 0 || m->area >= next) {
            m->area = m->piece_count == 0 ? fmax(m->area, next) : m->area;
            let_in(m, value, flow);
            continue;
        }
        end = fmin(m->area + first->left, next);
        first->left -= end - m->area;
        integral = integral_to(m, end);
        if (integral == HUGE_VAL)
            break;
        sum += (long double)integral / first->key;
        if (end < next || first->left <= 0)
            pieces_pop(m->pieces, &m->piece_count);
    }
    return (double)sum;
}

double bounds_completion(const struct bounds_field *f, const double *value,
                         const struct price_curve *curve, bool flow)
{
    struct arena_mark mark = arena_mark(f->arena);
    long double sum = 0, releases = 0;
    double bound;

    if (value) {
        struct fluid m = {.f = f, .curve = curve, .next = f->row_count};

        m.pieces = NEW(f->arena, struct piece, f->row_count + 1);
        sum = sum_of_means(&m, value, flow);
        arena_rewind(f->arena, mark);
    }
    for (size_t r = 0; r < f->row_count; r++) {
        const struct bounds_row *row = &f->rows[r];
        double weight = weight_of(row, flow);

        sum += weight * (value && value[r] > 0 ? row->least_s / 2 : row->done_s);
        sum += weight * row->of->stage_out_s;
        releases += flow ? row->of->release_s : 0;
    }
    bound = (double)(sum * (1 - BOUNDS_SUM_SLACK) - releases);
    return fmax(value ? bound * (1 - BOUNDS_SLACK) : bound, 0);
}

/* ---- tardiness ---- */

/* Ends of shortest-remaining-first of the rows in `in`, rising. */
static size_t find_ends(struct fluid *m, const double *value, const bool *in,
                        double *end_s)
{
    size_t count = 0;

    while (m->next > 0 || m->piece_count > 0) {
        double next = area_of_next(m);

        if (budget_step(m->f->w->budget, 32))
            break;
        if (m->piece_count == 0 || m->area >= next) {
            size_t r = m->f->by_head[--m->next];

            m->area = m->piece_count == 0 ? fmax(m->area, next) : m->area;
            if (in[r])
                pieces_push(m->pieces, &m->piece_count,
                            (struct piece){value[r], value[r], r});
        } else if (m->area + m->pieces->key <= next) {
            m->area += pieces_pop(m->pieces, &m->piece_count).key;
            end_s[count] = price_curve_time_s(m->curve, m->area * (1 - BOUNDS_SUM_SLACK));
            if (end_s[count] < HUGE_VAL)
                count++;
        } else {
            m->pieces->key -= next - m->area;
            pieces_first_changed(m->pieces, m->piece_count);
            m->area = next;
        }
    }
    return count;
}

/* Jobs with deadlines. */
struct tardy {
    const struct bounds_field *f;
    const double *value;
    const struct price_curve *curve;
    bool *in;
    double *end_s, *done_s, *deadline_s;
    struct piece *pieces;
};

/* Sum of what the jobs of at least this weight are late, each counted once. */
static double lateness(struct tardy *t, double weight)
{
    const struct bounds_field *f = t->f;
    struct fluid m = {
        .f = f, .curve = t->curve, .next = f->row_count, .pieces = t->pieces};
    size_t count = 0, ends = 0;
    double alone = 0, together = 0;

    for (size_t r = 0; r < f->row_count; r++) {
        const struct world_job *j = f->rows[r].of;

        t->in[r] = j->deadline_s < HUGE_VAL && j->weight >= weight;
        if (!t->in[r])
            continue;
        alone += fmax(0, f->rows[r].done_s + j->stage_out_s - j->deadline_s);
        t->done_s[count] = f->rows[r].done_s;
        t->deadline_s[count++] = j->deadline_s - j->stage_out_s;
    }
    if (t->value)
        ends = find_ends(&m, t->value, t->in, t->end_s);
    sort_numbers(t->done_s, count);
    sort_numbers(t->deadline_s, count);
    for (size_t i = 0; i < count; i++)
        together +=
            fmax(0, fmax(i < ends ? t->end_s[i] : 0, t->done_s[i]) - t->deadline_s[i]);
    return budget_step(f->w->budget, 32 * count) ? alone : fmax(alone, together);
}

/* Different weights > 0 of jobs with deadlines, rising: at most LAYERS_MAX of them. */
static size_t choose_layers(const struct tardy *t, double *layers)
{
    double *weight = t->end_s;
    size_t count = 0, different = 0, chosen = 0;

    for (size_t r = 0; r < t->f->row_count; r++)
        if (t->f->rows[r].of->deadline_s < HUGE_VAL && t->f->rows[r].of->weight > 0)
            weight[count++] = t->f->rows[r].of->weight;
    sort_numbers(weight, count);
    for (size_t i = 0; i < count; i++)
        if (different == 0 || weight[different - 1] < weight[i])
            weight[different++] = weight[i];
    for (size_t i = 0; i < different && i < LAYERS_MAX; i++)
        layers[chosen++] =
            weight[different <= LAYERS_MAX ? i : i * (different - 1) / (LAYERS_MAX - 1)];
    return chosen;
}

double bounds_tardiness(const struct bounds_field *f, const double *value,
                        const struct price_curve *curve)
{
    struct arena_mark mark = arena_mark(f->arena);
    struct tardy t = {.f = f, .value = value, .curve = curve};
    double layers[LAYERS_MAX], sum = 0;
    size_t count;

    t.in = NEW(f->arena, bool, f->row_count);
    t.end_s = NEW(f->arena, double, f->row_count);
    t.done_s = NEW(f->arena, double, f->row_count);
    t.deadline_s = NEW(f->arena, double, f->row_count);
    t.pieces = NEW(f->arena, struct piece, f->row_count + 1);
    count = choose_layers(&t, layers);
    for (size_t i = 0; i < count && !budget_step(f->w->budget, 2 * f->row_count); i++)
        sum += (layers[i] - (i > 0 ? layers[i - 1] : 0)) * lateness(&t, layers[i]);
    arena_rewind(f->arena, mark);
    return sum * (1 - (value ? BOUNDS_SLACK : BOUNDS_SUM_SLACK));
}

/* ---- late jobs ---- */

struct due {
    double deadline_s;
    size_t row;
};

static int by_deadline(const void *a, const void *b)
{
    const struct due *x = a, *y = b;

    if (x->deadline_s != y->deadline_s)
        return x->deadline_s < y->deadline_s ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

double bounds_late_jobs(const struct bounds_field *f, const double *value,
                        const struct price_curve *curve)
{
    struct arena_mark mark = arena_mark(f->arena);
    struct due *due = NEW(f->arena, struct due, f->row_count);
    struct piece *kept = NEW(f->arena, struct piece, f->row_count + 1);
    size_t count = 0, kept_count = 0, late = 0;
    long double sum = 0;

    for (size_t r = 0; r < f->row_count; r++) {
        double out_s = f->rows[r].of->stage_out_s;
        double deadline_s = f->rows[r].of->deadline_s - out_s;

        if (f->rows[r].done_s + out_s > f->rows[r].of->deadline_s)
            late++;
        else if (value && deadline_s < HUGE_VAL)
            due[count++] = (struct due){deadline_s, r};
    }
    qsort(due, count, sizeof(*due), by_deadline);
    for (size_t i = 0; i < count && !budget_step(f->w->budget, 32); i++) {
        double v = value[due[i].row];

        sum += v;
        pieces_push(kept, &kept_count, (struct piece){-v, 0, due[i].row});
        while (sum * (1 - BOUNDS_SUM_SLACK) >
                   price_curve_area(curve, due[i].deadline_s) &&
               kept_count > 0) {
            sum += pieces_pop(kept, &kept_count).key;
            late++;
        }
    }
    arena_rewind(f->arena, mark);
    return (double)late;
}
