/* rollup/rollup.c - what the load samples of a minute, an hour or a day say together. */
#include "models/rollup/rollup.h"

#include <math.h>
#include <string.h>

struct moments moments_merge(const struct moments *x, const struct moments *y)
{
    struct moments sum = {.count = x->count + y->count};
    double d = y->mean - x->mean;

    if (!(x->count > 0))
        return *y;
    if (!(y->count > 0))
        return *x;
    sum.mean = x->mean + d * y->count / sum.count;
    sum.m2 = x->m2 + y->m2 + d * d * x->count * y->count / sum.count;
    sum.min = fmin(x->min, y->min);
    sum.max = fmax(x->max, y->max);
    return sum;
}

double rollup_value(const struct load_sample *sample, enum load_measure measure)
{
    switch (measure) {
    case LOAD_CPU_AVAILABLE_RATIO:
        return sample->cpu_available_ratio;
    case LOAD_MEMORY_AVAILABLE_BYTES:
        return sample->memory_available_bytes;
    case LOAD_BANDWIDTH_MBPS:
        return sample->bandwidth_mbps;
    default:
        return sample->latency_s;
    }
}

/* ---- one measure of one row ---- */

void rollup_cell_init(struct rollup_cell *cell)
{
    cell->moments = moments_none;
    sketch_init(&cell->sketch);
}

void rollup_cell_clear(struct rollup_cell *cell)
{
    cell->moments = moments_none;
    sketch_clear(&cell->sketch);
}

void rollup_cell_add(struct rollup_cell *cell, const struct sketch_bounds *bounds,
                     double value)
{
    struct moments one = moments_of(value);

    cell->moments = moments_merge(&cell->moments, &one);
    sketch_add(&cell->sketch, bounds, value);
}

bool rollup_cell_merge(struct rollup_cell *cell, const struct rollup_measure *more)
{
    if (!(more->moments.count > 0))
        return true;
    if (!sketch_decode(&cell->sketch, more->sketch, more->sketch_bytes))
        return false;
    cell->moments = moments_merge(&cell->moments, &more->moments);
    return true;
}

struct rollup_measure rollup_cell_take(const struct rollup_cell *cell, struct arena *a)
{
    static const struct rollup_measure nothing = {
        {0, (double)NAN, (double)NAN, (double)NAN, (double)NAN}, NULL, 0};
    struct rollup_measure out = {.moments = cell->moments};
    unsigned char bytes[SKETCH_BYTES_MAX], *kept;

    if (!(cell->moments.count > 0))
        return nothing;
    out.sketch_bytes = sketch_encode(&cell->sketch, bytes);
    kept = NEW(a, unsigned char, out.sketch_bytes);
    memcpy(kept, bytes, out.sketch_bytes);
    out.sketch = kept;
    return out;
}

/* ---- rows of a list ---- */

/* A row as it grows. */
struct open_row {
    double at_s; /* NAN: there is none */
    struct rollup_cell cell[ROLLUP_MEASURES];
};

/* A text that is kept from call to call. */
struct kept_text {
    char *text;
    size_t room;
    const char *in_rows; /* the same among the rows that are ready; NULL: not yet */
};

enum { ROWS_FIRST = 1024, ROOM_FIRST = 64 };

struct rollup_maker {
    struct sketch_bounds bounds;
    struct open_row minute, longer; /* longer: of an hour, or of a day */
    double longer_s;
    struct kept_text from, to;
    struct load_rollup *rows;
    size_t count, room;
    struct arena *arena, *rows_arena;
};

static void open_init(struct open_row *row)
{
    row->at_s = NAN;
    for (size_t i = 0; i < ROLLUP_MEASURES; i++)
        rollup_cell_init(&row->cell[i]);
}

struct rollup_maker *rollup_maker_create(struct arena *a)
{
    struct rollup_maker *m = NEW(a, struct rollup_maker, 1);

    sketch_bounds_make(&m->bounds);
    open_init(&m->minute);
    open_init(&m->longer);
    m->arena = a;
    m->rows_arena = arena_create_beside(a, arena_cap_bytes(a));
    return m;
}

void rollup_maker_close(struct rollup_maker *m)
{
    arena_close(m->rows_arena);
}

static const char *row_text(struct rollup_maker *m, struct kept_text *t)
{
    if (!t->in_rows)
        t->in_rows = arena_text(m->rows_arena, t->text, strlen(t->text));
    return t->in_rows;
}

/* The row of `level_s` is ready; `into` (NULL: none) takes what it says. */
static void close_row(struct rollup_maker *m, struct open_row *row, double level_s,
                      struct open_row *into)
{
    struct load_rollup *out;

    if (isnan(row->at_s))
        return;
    if (m->count == m->room) {
        size_t room = m->room ? 2 * m->room : ROWS_FIRST;

        m->rows = GROW(m->rows_arena, m->rows, struct load_rollup, m->room, room);
        m->room = room;
    }
    out = &m->rows[m->count++];
    out->resource_id = row_text(m, &m->from);
    out->to_resource_id = row_text(m, &m->to);
    out->level_s = level_s;
    out->at_s = row->at_s;
    for (size_t i = 0; i < ROLLUP_MEASURES; i++) {
        struct rollup_cell *cell = &row->cell[i];

        out->measure[i] = rollup_cell_take(cell, m->rows_arena);
        if (!(cell->moments.count > 0))
            continue;
        if (into) {
            into->cell[i].moments = moments_merge(&into->cell[i].moments, &cell->moments);
            sketch_merge(&into->cell[i].sketch, &cell->sketch);
        }
        rollup_cell_clear(cell);
    }
    row->at_s = NAN;
}

static void set_text(struct rollup_maker *m, struct kept_text *t, const char *text)
{
    size_t need = strlen(text) + 1;

    if (need > t->room) {
        t->room = need > 2 * t->room ? need + ROOM_FIRST : 2 * t->room;
        t->text = NEW(m->arena, char, t->room);
    }
    memcpy(t->text, text, need);
    t->in_rows = NULL;
}

static bool same_series(const struct rollup_maker *m, const char *from, const char *to)
{
    return m->from.text && strcmp(m->from.text, from) == 0 && strcmp(m->to.text, to) == 0;
}

void rollup_end(struct rollup_maker *m)
{
    close_row(m, &m->minute, ROLLUP_MINUTE_S, &m->longer);
    close_row(m, &m->longer, m->longer_s, NULL);
}

/* What comes belongs to this row; closes those before it. */
static void turn_to(struct rollup_maker *m, const char *from, const char *to, double at_s,
                    double longer_s)
{
    double longer_at_s = floor(at_s / longer_s) * longer_s;

    if (!same_series(m, from, to)) {
        rollup_end(m);
        set_text(m, &m->from, from);
        set_text(m, &m->to, to);
    } else if (m->longer.at_s < longer_at_s || m->longer.at_s > longer_at_s) {
        rollup_end(m);
    }
    m->longer_s = longer_s;
    m->longer.at_s = longer_at_s;
}

void rollup_add_sample(struct rollup_maker *m, const struct load_sample *sample)
{
    double at_s = floor(sample->observed_at_s / ROLLUP_MINUTE_S) * ROLLUP_MINUTE_S;

    turn_to(m, sample->resource_id, sample->to_resource_id ? sample->to_resource_id : "",
            sample->observed_at_s, ROLLUP_HOUR_S);
    if (m->minute.at_s < at_s || m->minute.at_s > at_s)
        close_row(m, &m->minute, ROLLUP_MINUTE_S, &m->longer);
    m->minute.at_s = at_s;
    for (int i = 0; i < ROLLUP_MEASURES; i++) {
        double value = rollup_value(sample, (enum load_measure)i);

        if (!isnan(value))
            rollup_cell_add(&m->minute.cell[i], &m->bounds, value);
    }
}

bool rollup_add_hour(struct rollup_maker *m, const struct load_rollup *hour)
{
    turn_to(m, hour->resource_id, hour->to_resource_id, hour->at_s, ROLLUP_DAY_S);
    for (size_t i = 0; i < ROLLUP_MEASURES; i++)
        if (!rollup_cell_merge(&m->longer.cell[i], &hour->measure[i]))
            return false;
    return true;
}

size_t rollup_ready(const struct rollup_maker *m)
{
    return m->count;
}

const struct load_rollup *rollup_rows(const struct rollup_maker *m, size_t *count)
{
    *count = m->count;
    return m->rows;
}

void rollup_forget(struct rollup_maker *m)
{
    arena_reset(m->rows_arena);
    m->rows = NULL;
    m->count = m->room = 0;
    m->from.in_rows = m->to.in_rows = NULL;
}
