/* queue/profile.c - how many processors are free from now on. */
#include "algorithms/queue/profile.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    FIRST_ROOM = 16,
    CUTS = 2,                          /* cells that a change adds to a block */
    TIDY_CELLS = PROFILE_CELLS * 3 / 4 /* more after a tidying: the block is divided */
};
static const double RUN_RATIO = 1e-9; /* by which sums and differences of times differ */

/* ---- blocks ---- */

static struct profile_block *new_block(struct profile *p)
{
    struct profile_block *b = p->spare;

    if (!b)
        return NEW(p->arena, struct profile_block, 1);
    p->spare = b->next_spare;
    b->begin = b->end = 0;
    b->known = 0;
    return b;
}

static void make_spans(struct profile *p)
{
    size_t count = p->end - p->begin, room = p->room ? 2 * p->room : FIRST_ROOM;
    struct profile_span *spans;

    if (p->end < p->room)
        return;
    if (p->begin > p->room / 2) { /* half of them are past */
        memmove(p->spans, p->spans + p->begin, count * sizeof(*p->spans));
    } else {
        spans = GROW(p->arena, p->spans, struct profile_span, p->end, room);
        p->spans = spans;
        p->room = room;
        memmove(p->spans, p->spans + p->begin, count * sizeof(*p->spans));
    }
    p->begin = 0;
    p->end = count;
}

void profile_create(struct profile *p, double now_s, uint64_t free, struct arena *a)
{
    struct profile_block *b;

    *p = (struct profile){.now_s = now_s, .free = (int64_t)free, .arena = a};
    make_spans(p);
    b = new_block(p);
    b->at_s[0] = now_s;
    b->free[0] = p->free;
    b->end = 1;
    p->spans[0] = (struct profile_span){now_s, 0, p->free, p->free, b};
    p->end = 1;
}

/* Least and most of a block, of which cells have changed. */
static void sum_up(struct profile_span *s)
{
    struct profile_block *b = s->block;
    int64_t low = b->free[b->begin], high = low;

    for (size_t i = b->begin + 1; i < b->end; i++) {
        low = b->free[i] < low ? b->free[i] : low;
        high = b->free[i] > high ? b->free[i] : high;
    }
    s->low = low + s->add;
    s->high = high + s->add;
    s->from_s = b->at_s[b->begin];
    b->known = 0;
}

/* The last block that begins at at_s or before. */
static size_t span_at(const struct profile *p, double at_s)
{
    size_t low = p->begin, count = p->end - p->begin;

    while (count > 1) {
        size_t half = count / 2;

        low += p->spans[low + half].from_s <= at_s ? half : 0;
        count -= half;
    }
    return low;
}

/* Its last cell at at_s or before. */
static size_t cell_at(const struct profile_block *b, double at_s)
{
    size_t low = b->begin, count = b->end - b->begin;

    while (count > 1) {
        size_t half = count / 2;

        low += b->at_s[low + half] <= at_s ? half : 0;
        count -= half;
    }
    return low;
}

/* ---- changes ---- */

/* Cells without a step go. */
static void tidy(struct profile_block *b)
{
    size_t kept = b->begin;

    for (size_t i = b->begin + 1; i < b->end; i++)
        if (b->free[i] != b->free[kept]) {
            kept++;
            b->at_s[kept] = b->at_s[i];
            b->free[kept] = b->free[i];
        }
    b->end = kept + 1;
}

static void divide(struct profile *p, size_t at)
{
    struct profile_block *later = new_block(p), *b = p->spans[at].block;
    size_t half = (b->end - b->begin) / 2;
    size_t middle = b->begin + half;

    later->end = b->end - middle;
    memcpy(later->at_s, b->at_s + middle, later->end * sizeof(*b->at_s));
    memcpy(later->free, b->free + middle, later->end * sizeof(*b->free));
    b->end = middle;
    memmove(&p->spans[at + 2], &p->spans[at + 1], (p->end - at - 1) * sizeof(*p->spans));
    p->end++;
    p->spans[at + 1] = (struct profile_span){.add = p->spans[at].add, .block = later};
    sum_up(&p->spans[at]);
    sum_up(&p->spans[at + 1]);
}

/* Room for the cuts of a change in the block of an instant. */
static void make_room(struct profile *p, double at_s)
{
    size_t at = span_at(p, at_s);
    struct profile_block *b = p->spans[at].block;

    if (b->end + CUTS <= PROFILE_CELLS)
        return;
    memmove(b->at_s, b->at_s + b->begin, (b->end - b->begin) * sizeof(*b->at_s));
    memmove(b->free, b->free + b->begin, (b->end - b->begin) * sizeof(*b->free));
    b->end -= b->begin;
    b->begin = 0;
    tidy(b);
    sum_up(&p->spans[at]);
    if (b->end <= TIDY_CELLS)
        return;
    make_spans(p);
    divide(p, span_at(p, at_s));
}

/* A cell at an instant from now on, for which there is room; returns where it is. */
static size_t cut(struct profile *p, double at_s)
{
    struct profile_block *b = p->spans[span_at(p, at_s)].block;
    size_t cell = cell_at(b, at_s), later = b->end - cell - 1;

    if (b->at_s[cell] == at_s)
        return cell;
    memmove(&b->at_s[cell + 2], &b->at_s[cell + 1], later * sizeof(*b->at_s));
    memmove(&b->free[cell + 2], &b->free[cell + 1], later * sizeof(*b->free));
    b->at_s[cell + 1] = at_s;
    b->free[cell + 1] = b->free[cell];
    b->end++;
    b->known = 0;
    return cell + 1;
}

/* Some cells of a block, from one to an instant. */
static void add_cells(struct profile_span *s, size_t from, double end_s, int64_t delta)
{
    struct profile_block *b = s->block;

    for (size_t i = b->begin; s->add && i < b->end; i++)
        b->free[i] += s->add;
    s->add = 0;
    for (size_t i = from; i < b->end && b->at_s[i] < end_s; i++)
        b->free[i] += delta;
    sum_up(s);
}

/* A change of a profile of one block, as those of most replays are. What is least and
 * most there need not be exact: no block is passed by. */
static void change_only_block(struct profile *p, double start_s, double end_s,
                              int64_t delta)
{
    struct profile_span *s = &p->spans[p->begin];
    size_t from = cut(p, start_s), end = cut(p, end_s);

    for (size_t i = from; i < end; i++)
        s->block->free[i] += delta;
    s->low += delta < 0 ? delta : 0;
    s->high += delta > 0 ? delta : 0;
    p->work += PROFILE_CELLS / 2;
    s->block->known = 0;
}

static void change(struct profile *p, double start_s, double end_s, int64_t delta)
{
    size_t at;

    if (!(start_s > p->now_s))
        start_s = p->now_s;
    if (!(end_s > start_s))
        return;
    make_room(p, start_s);
    make_room(p, end_s);
    if (start_s == p->now_s)
        p->free += delta;
    if (p->end - p->begin == 1) {
        change_only_block(p, start_s, end_s, delta);
        return;
    }
    cut(p, start_s);
    cut(p, end_s);
    at = span_at(p, start_s);
    for (size_t first = at; at < p->end && p->spans[at].from_s < end_s; at++) {
        struct profile_span *s = &p->spans[at];
        size_t from = at == first ? cell_at(s->block, start_s) : s->block->begin;

        if (from == s->block->begin && at + 1 < p->end &&
            p->spans[at + 1].from_s <= end_s) {
            s->add += delta;
            s->low += delta;
            s->high += delta;
        } else {
            add_cells(s, from, end_s, delta);
            p->work += PROFILE_CELLS / 2;
        }
        p->work++;
    }
}

enum error_code profile_take(struct profile *p, double start_s, double end_s,
                             uint64_t processors, struct error *err)
{
    (void)err;
    change(p, start_s, end_s, -(int64_t)processors);
    return OK;
}

enum error_code profile_give(struct profile *p, double start_s, double end_s,
                             uint64_t processors, struct error *err)
{
    (void)err;
    change(p, start_s, end_s, (int64_t)processors);
    return OK;
}

void profile_advance(struct profile *p, double now_s)
{
    struct profile_block *b;

    while (p->begin + 1 < p->end && p->spans[p->begin + 1].from_s <= now_s) {
        b = p->spans[p->begin++].block;
        b->next_spare = p->spare;
        p->spare = b;
    }
    b = p->spans[p->begin].block;
    while (b->begin + 1 < b->end && b->at_s[b->begin + 1] <= now_s)
        b->begin++;
    b->at_s[b->begin] = p->spans[p->begin].from_s = p->now_s = now_s;
    p->free = b->free[b->begin] + p->spans[p->begin].add;
}

/* ---- questions ---- */

double profile_first_below(struct profile *p, uint64_t processors)
{
    int64_t need = (int64_t)processors;

    for (size_t at = p->begin; at < p->end; at++) {
        const struct profile_span *s = &p->spans[at];
        const struct profile_block *b = s->block;

        p->work++;
        if (s->low >= need)
            continue;
        for (size_t i = b->begin; i < b->end; i++)
            if (b->free[i] + s->add < need)
                return b->at_s[i];
    }
    return HUGE_VAL;
}

double profile_first_above(struct profile *p, uint64_t processors)
{
    int64_t need = (int64_t)processors;

    for (size_t at = p->begin; at < p->end; at++) {
        const struct profile_span *s = &p->spans[at];
        const struct profile_block *b = s->block;

        p->work++;
        if (s->high < need)
            continue;
        for (size_t i = b->begin; i < b->end; i++)
            if (b->free[i] + s->add >= need)
                return b->at_s[i];
    }
    return HUGE_VAL;
}

bool profile_bears(struct profile *p, double start_s, double end_s, uint64_t processors)
{
    int64_t need = (int64_t)processors;
    size_t at, cell;

    if (!(start_s > p->now_s))
        start_s = p->now_s;
    at = span_at(p, start_s);
    cell = cell_at(p->spans[at].block, start_s);
    if (p->spans[at].block->free[cell] + p->spans[at].add < need)
        return false;
    for (; at < p->end && p->spans[at].from_s < end_s; at++) {
        const struct profile_span *s = &p->spans[at];
        const struct profile_block *b = s->block;

        p->work++;
        for (; s->low < need && cell < b->end && b->at_s[cell] < end_s; cell++)
            if (b->free[cell] + s->add < need)
                return false;
        cell = at + 1 < p->end ? p->spans[at + 1].block->begin : 0;
    }
    return true;
}

/* The greatest level that is at most so many, >= 1. */
static int level_of(int64_t processors)
{
    int octave = 63 - __builtin_clzll((unsigned long long)processors);
    bool half = octave && processors >> (octave - 1) & 1;
    int level = 2 * octave + half;

    return level < PROFILE_LEVELS ? level : PROFILE_LEVELS - 1;
}

/* The longest run of cells with as many free as a level has. One that is open at the
 * block's end counts up to its last cell: with more processors it may end there. */
static double longest_run(struct profile *p, struct profile_block *b, int level)
{
    int octave = level / 2;
    int64_t many = ((int64_t)1 << octave) + (level & 1 ? (int64_t)1 << octave >> 1 : 0);
    double longest_s = 0, begin_s = (double)NAN;
    uint64_t bit = (uint64_t)1 << level;

    if (b->known & bit)
        return b->run_s[level];
    for (size_t i = b->begin; i < b->end; i++) {
        bool run = b->free[i] >= many;

        if (run && !(b->at_s[i] >= begin_s))
            begin_s = b->at_s[i];
        if (begin_s <= b->at_s[i] && b->at_s[i] - begin_s > longest_s)
            longest_s = b->at_s[i] - begin_s;
        if (!run)
            begin_s = (double)NAN;
    }
    p->work += PROFILE_CELLS / 2;
    b->run_s[level] = longest_s;
    b->known |= bit;
    return longest_s;
}

/* A question: where is room for so many, so long. */
struct search {
    int64_t need;
    double duration_s;
    double stop_s;  /* from here on there is room */
    double start_s; /* while `runs`: so many are free from there on */
    bool runs;
};

/* Whether no room begins and ends in a block; a run up to stop_s may be room. Times and
 * lengths of runs were rounded: a run that is too short by less than that is looked at.
 */
static bool is_too_short(struct profile *p, const struct profile_span *s,
                         const struct search *q)
{
    const struct profile_block *b = s->block;
    int64_t need = q->need - s->add;
    double slack_s =
        DBL_EPSILON * fmax(fabs(b->at_s[b->begin]), fabs(b->at_s[b->end - 1]));

    return need >= 1 && b->at_s[b->end - 1] < q->stop_s &&
           longest_run(p, s->block, level_of(need)) * (1 + RUN_RATIO) + slack_s <
               q->duration_s;
}

/* The first cell of those that are all free at the block's end; `end`: none. */
static size_t open_run(const struct profile_block *b, size_t from, int64_t need)
{
    size_t i = b->end;

    while (i > from && b->free[i - 1] >= need)
        i--;
    return i;
}

/* The first cell from one on that is free, or that is not; `end`: none. */
static size_t next_cell(const struct profile_block *b, size_t i, int64_t need, bool free)
{
    while (i < b->end && (b->free[i] >= need) != free)
        i++;
    return i;
}

/* Whether the search ends where so many are not free, or no more looked at. */
static bool is_found(struct search *q, double at_s)
{
    if (q->runs && q->start_s + q->duration_s <= at_s)
        return true;
    if (at_s < q->stop_s)
        return false;
    q->start_s = q->runs ? q->start_s : q->stop_s;
    return true;
}

/* Goes through a block, from a cell on. True: q->start_s is the answer. */
static bool search_block(struct profile *p, const struct profile_span *s, size_t i,
                         struct search *q)
{
    const struct profile_block *b = s->block;
    int64_t need = q->need - s->add;
    bool asked = false;

    p->work += (b->end - i) / 4 + 1;
    for (;;) {
        if (q->runs)
            i = next_cell(b, i, need, false);
        if (i == b->end)
            return false;
        if (is_found(q, b->at_s[i]))
            return true;
        q->runs = false;
        if (!asked && is_too_short(p, s, q))
            i = open_run(b, i, need);
        asked = true;
        i = next_cell(b, i, need, true);
        if (i == b->end)
            return false;
        q->start_s = b->at_s[i];
        q->runs = q->start_s < q->stop_s;
    }
}

static double search(struct profile *p, struct search *q)
{
    size_t at = span_at(p, q->start_s), first = at;
    size_t cell = cell_at(p->spans[at].block, q->start_s);

    q->runs = p->spans[at].block->free[cell] + p->spans[at].add >= q->need;
    if (search_block(p, &p->spans[at], cell + 1, q))
        return q->start_s;
    for (at = first + 1; at < p->end; at++) {
        const struct profile_span *s = &p->spans[at];

        p->work++;
        if (q->runs && q->start_s + q->duration_s <= s->from_s)
            return q->start_s;
        if (s->from_s >= q->stop_s)
            break;
        if (q->runs ? s->low >= q->need : s->high < q->need)
            continue;
        if (search_block(p, s, s->block->begin, q))
            return q->start_s;
    }
    return q->runs ? q->start_s : q->stop_s;
}

double profile_end_s(const struct profile *p, uint64_t *free)
{
    const struct profile_span *s = &p->spans[p->end - 1];
    size_t last = s->block->end - 1;
    int64_t left = s->block->free[last] + s->add;

    *free = left > 0 ? (uint64_t)left : 0;
    return s->block->at_s[last];
}

double profile_fit(struct profile *p, uint64_t processors, double duration_s,
                   double from_s)
{
    struct search q = {.need = (int64_t)processors,
                       .duration_s = duration_s,
                       .stop_s = HUGE_VAL,
                       .start_s = from_s > p->now_s ? from_s : p->now_s};

    return search(p, &q);
}

double profile_fit_before(struct profile *p, uint64_t processors, double duration_s,
                          double planned_s)
{
    struct search q = {.need = (int64_t)processors,
                       .duration_s = duration_s,
                       .stop_s = planned_s,
                       .start_s = p->now_s};

    return p->now_s < planned_s ? search(p, &q) : planned_s;
}
