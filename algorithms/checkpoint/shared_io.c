/* checkpoint/shared_io.c - many jobs that checkpoint to one file system. */
#include "algorithms/checkpoint/shared_io.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- how often ---- */

static double load_at(struct shared_io_job *jobs, size_t count, double mu)
{
    double load = 0;

    for (size_t i = 0; i < count; i++) {
        struct shared_io_job *job = &jobs[i];

        job->interval_s = sqrt(2 * job->mean_s * job->overhead_s * (1 + mu / job->nodes));
        load += job->overhead_s / job->interval_s;
    }
    return load;
}

void shared_io_intervals(struct shared_io_job *jobs, size_t count, double use_ratio,
                         struct shared_io_load *load)
{
    enum { HALVINGS = 200 };
    double low = 0, high = 1;

    assert(use_ratio > 0 && use_ratio <= 1);
    *load = (struct shared_io_load){.unconstrained_ratio = load_at(jobs, count, 0)};
    load->load_ratio = load->unconstrained_ratio;
    if (load->unconstrained_ratio <= use_ratio)
        return;
    while (load_at(jobs, count, high) > use_ratio)
        high *= 2;
    for (int step = 0; step < HALVINGS && high - low > 1e-15 * high; step++) {
        double mid = low + (high - low) / 2;

        if (load_at(jobs, count, mid) > use_ratio)
            low = mid;
        else
            high = mid;
    }
    load->mu = high;
    load->load_ratio = load_at(jobs, count, high);
}

/* ---- how busy the file system is: pieces of the time [0, span), each with the number
 * of checkpoints that are written in it ---- */

struct piece {
    double from_s;
    double covered; /* writers, until the next piece */
    double sum_s;   /* of covered * length before from_s: read_sums() */
};

struct profile {
    struct piece *pieces; /* by from_s, the first from 0 */
    size_t count, capacity;
    double span_s;
    struct arena *arena;
};

static void grow(struct profile *p, size_t count)
{
    struct piece *pieces;

    if (count <= p->capacity)
        return;
    p->capacity = 2 * count;
    pieces = NEW(p->arena, struct piece, p->capacity);
    if (p->count > 0)
        memcpy(pieces, p->pieces, p->count * sizeof(*pieces));
    p->pieces = pieces;
}

static void read_sums(struct profile *p)
{
    double sum_s = 0;

    for (size_t i = 0; i < p->count; i++) {
        double to_s = i + 1 < p->count ? p->pieces[i + 1].from_s : p->span_s;

        p->pieces[i].sum_s = sum_s;
        sum_s += p->pieces[i].covered * (to_s - p->pieces[i].from_s);
    }
}

/* The last piece that begins at or before at_s >= 0. */
static size_t piece_at(const struct profile *p, double at_s)
{
    size_t low = 0, high = p->count;

    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;

        if (p->pieces[mid].from_s <= at_s)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* Covered time before at_s, of a profile that repeats; after read_sums(). */
static double covered_before(const struct profile *p, double at_s)
{
    double turns = at_s >= p->span_s ? 1 : 0, all_s = 0;
    const struct piece *piece;

    if (turns > 0) {
        const struct piece *last = &p->pieces[p->count - 1];

        all_s = last->sum_s + last->covered * (p->span_s - last->from_s);
        at_s -= p->span_s;
    }
    piece = &p->pieces[piece_at(p, at_s)];
    return all_s + piece->sum_s + piece->covered * (at_s - piece->from_s);
}

/* A piece begins at at_s; gives which. Ends that differ by rounding are one. */
static size_t split(struct profile *p, double at_s)
{
    size_t i = piece_at(p, at_s);
    double near_s = 1e-12 * p->span_s;

    if (at_s - p->pieces[i].from_s <= near_s)
        return i;
    if (i + 1 < p->count && p->pieces[i + 1].from_s - at_s <= near_s)
        return i + 1;
    grow(p, p->count + 1);
    memmove(&p->pieces[i + 2], &p->pieces[i + 1],
            (p->count - i - 1) * sizeof(*p->pieces));
    p->pieces[i + 1] = (struct piece){at_s, p->pieces[i].covered, 0};
    p->count++;
    return i + 1;
}

/* One more writer in [from_s, to_s), both within the span. */
static void cover(struct profile *p, double from_s, double to_s)
{
    size_t first = split(p, from_s);
    size_t end = p->span_s - to_s <= 1e-12 * p->span_s ? p->count : split(p, to_s);

    for (size_t i = first; i < end; i++)
        p->pieces[i].covered++;
}

/* Twice as long, with the same again. Many pieces of one cover become one: a later job
 * then loses the ends in between as places to begin at. */
static void repeat(struct profile *p)
{
    enum { PIECES_MANY = 1 << 16 };
    size_t count = p->count;

    if (count > PIECES_MANY) {
        size_t kept = 1;

        for (size_t i = 1; i < count; i++)
            if (p->pieces[i].covered != p->pieces[kept - 1].covered)
                p->pieces[kept++] = p->pieces[i];
        count = p->count = kept;
    }
    grow(p, 2 * count);
    for (size_t i = 0; i < count; i++) {
        p->pieces[count + i] = p->pieces[i];
        p->pieces[count + i].from_s += p->span_s;
    }
    p->count = 2 * count;
    p->span_s *= 2;
}

/* ---- where ---- */

static int by_place(const void *left, const void *right, void *context)
{
    const struct shared_io_job *jobs = context;
    const struct shared_io_job *a = &jobs[*(const size_t *)left];
    const struct shared_io_job *b = &jobs[*(const size_t *)right];

    if (a->period_s != b->period_s)
        return a->period_s < b->period_s ? -1 : 1;
    if (a->overhead_s != b->overhead_s)
        return a->overhead_s > b->overhead_s ? -1 : 1;
    return strcmp(a->id, b->id);
}

/* The earliest of 0 and the begins of pieces that meets least. */
static double best_offset(const struct profile *p, double span_s)
{
    const struct piece *last = &p->pieces[p->count - 1];
    double all_s = last->sum_s + last->covered * (p->span_s - last->from_s);
    double best_s = 0, least_s = HUGE_VAL, turn = 0; /* of the end, like j */
    size_t j = 0;

    for (size_t i = 0; i < p->count && least_s > 0; i++) {
        double from_s = p->pieces[i].from_s, end_s = from_s + span_s, meets_s;

        for (;;) {
            double to_s = j + 1 < p->count ? p->pieces[j + 1].from_s : p->span_s;

            if (to_s + turn * p->span_s > end_s)
                break;
            turn += j + 1 == p->count;
            j = j + 1 == p->count ? 0 : j + 1;
        }
        meets_s =
            turn * all_s + p->pieces[j].sum_s +
            p->pieces[j].covered * (end_s - turn * p->span_s - p->pieces[j].from_s) -
            p->pieces[i].sum_s;
        /* less than rounding is nothing */
        meets_s = meets_s > 1e-9 * span_s ? meets_s : 0;
        if (meets_s < least_s * (1 - 1e-12)) {
            least_s = meets_s;
            best_s = from_s;
        }
    }
    return best_s;
}

static void set_periods(struct shared_io_job *jobs, size_t count, double use_ratio,
                        struct shared_io_load *load)
{
    double base_s = HUGE_VAL, sum = 0, scale, longest = 1;

    for (size_t i = 0; i < count; i++)
        base_s = fmin(base_s, jobs[i].interval_s);
    for (size_t i = 0; i < count; i++) {
        double spread = exp2(floor(log2(jobs[i].interval_s / base_s)));

        load->is_capped = load->is_capped || spread > SHARED_IO_SPREAD_MAX;
        spread = fmin(fmax(spread, 1), SHARED_IO_SPREAD_MAX);
        jobs[i].period_s = spread;
        longest = fmax(longest, spread);
        sum += jobs[i].overhead_s / (base_s * spread);
    }
    scale = base_s * fmax(1, sum / use_ratio);
    for (size_t i = 0; i < count; i++)
        jobs[i].period_s *= scale;
    load->longest_s = longest * scale;
    load->load_ratio = sum / fmax(1, sum / use_ratio);
}

/* What a job's checkpoints meet over the whole span, without themselves. */
static double meets_s(const struct profile *p, const struct shared_io_job *job)
{
    double sum_s = 0;

    for (double from_s = job->offset_s; from_s < p->span_s * (1 - 1e-12);
         from_s += job->period_s)
        sum_s += covered_before(p, from_s + job->overhead_s) - covered_before(p, from_s) -
                 job->overhead_s;
    return sum_s > 1e-9 * p->span_s ? sum_s : 0;
}

void shared_io_stagger(struct shared_io_job *jobs, size_t count, double use_ratio,
                       struct shared_io_load *load, struct arena *a,
                       struct budget *budget)
{
    struct profile p = {.arena = a};
    size_t *order = NEW(a, size_t, count), placed = 0;

    if (count == 0)
        return;
    set_periods(jobs, count, use_ratio, load);
    for (size_t i = 0; i < count; i++) {
        order[i] = i;
        jobs[i].offset_s = jobs[i].overlap_s = (double)NAN;
    }
    qsort_r(order, count, sizeof(*order), by_place, jobs);
    grow(&p, 64);
    p.pieces[0] = (struct piece){0, 0, 0};
    p.count = 1;
    p.span_s = jobs[order[0]].period_s;
    for (; placed < count; placed++) {
        struct shared_io_job *job = &jobs[order[placed]];
        double end_s;

        while (p.span_s < job->period_s * (1 - 1e-9))
            repeat(&p);
        if (budget_step(budget, 8 * p.count))
            break;
        read_sums(&p);
        job->offset_s = best_offset(&p, job->overhead_s);
        end_s = job->offset_s + job->overhead_s;
        cover(&p, job->offset_s, fmin(end_s, p.span_s));
        if (end_s > p.span_s)
            cover(&p, 0, end_s - p.span_s);
    }
    load->is_cut = placed < count;
    read_sums(&p);
    for (size_t i = 0; i < placed; i++) {
        if (budget_step(budget, (size_t)(p.span_s / jobs[order[i]].period_s) * 64)) {
            load->is_cut = true;
            break;
        }
        jobs[order[i]].overlap_s = meets_s(&p, &jobs[order[i]]);
    }
}
