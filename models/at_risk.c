/* at_risk.c - how long a resource was watched, and how often it failed. */
#include "models/at_risk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const failure_kind_names[] = {"failure", "maintenance", "degraded", NULL};

enum failure_kind failure_kind_of(const char *name)
{
    for (int i = 0; name && failure_kind_names[i]; i++)
        if (strcmp(name, failure_kind_names[i]) == 0)
            return (enum failure_kind)i;
    return FAILURE_FAILURE;
}

/* A history whose last event lies further back than this many mean gaps, each a day
 * at least, has ended. */
#define ENDED_GAPS 10.0
#define GAP_MIN_S  86400.0

static int compare_rows(const void *a, const void *b)
{
    const struct at_risk_row *x = a, *y = b;

    return (x->down_at_s > y->down_at_s) - (x->down_at_s < y->down_at_s);
}

static double end_of(const struct at_risk_row *row)
{
    return isnan(row->up_at_s) ? row->down_at_s : row->up_at_s;
}

/* While such a row is open nothing that is asked for is at risk. */
static bool takes_time(const struct at_risk_in *in, const struct at_risk_row *row)
{
    return row->kind != FAILURE_DEGRADED &&
           (row->component == 0 || row->component == in->component);
}

/* Such a row kills what is asked for. */
static bool kills(const struct at_risk_in *in, const struct at_risk_row *row)
{
    return row->kind == FAILURE_FAILURE &&
           (in->component == 0 || row->component == in->component);
}

/* What fails while such a row is open fails no job: it is down already. */
static bool hides(const struct at_risk_in *in, const struct at_risk_row *row)
{
    return row->kind != FAILURE_DEGRADED && row->component == in->component;
}

/* First failure and last event of the rows until now. */
struct extent {
    double first_s, last_begin_s, last_s; /* NAN: none */
    size_t begin_count;
};

static struct extent extent_of(const struct at_risk_in *in,
                               const struct at_risk_row *sorted)
{
    struct extent e = {NAN, NAN, NAN, 0};

    for (size_t i = 0; i < in->row_count && sorted[i].down_at_s <= in->now_s; i++) {
        e.last_s = fmax(e.last_s, fmin(end_of(&sorted[i]), in->now_s));
        if (!kills(in, &sorted[i]))
            continue;
        if (isnan(e.first_s))
            e.first_s = sorted[i].down_at_s;
        e.last_begin_s = sorted[i].down_at_s;
        e.begin_count++;
    }
    return e;
}

/* The end of what nobody said the end of. */
static double last_seen_s(const struct at_risk_in *in, const struct extent *e,
                          struct at_risk *out)
{
    double gap_s = e->begin_count > 1
                       ? (e->last_begin_s - e->first_s) / (double)(e->begin_count - 1)
                       : 0;

    out->history_ended = in->now_s - e->last_s > ENDED_GAPS * fmax(gap_s, GAP_MIN_S);
    return out->history_ended ? e->last_s : in->now_s;
}

/* The one span of a resource without any. */
static struct at_risk_span guess_span(const struct at_risk_in *in,
                                      const struct at_risk_row *sorted,
                                      struct at_risk *out)
{
    struct extent e = extent_of(in, sorted);
    struct at_risk_span span = {in->from_s, in->to_s};

    if (isnan(span.from_at_s) && in->seen_since_s < HUGE_VAL &&
        !(in->seen_since_s >= e.first_s))
        span.from_at_s = in->seen_since_s;
    if (isnan(span.from_at_s)) {
        span.from_at_s = e.first_s;
        out->start_unknown = !isnan(e.first_s);
    }
    if (isnan(span.to_at_s))
        span.to_at_s = last_seen_s(in, &e, out);
    return span;
}

/* A span inside the window, until now at most. */
static struct at_risk_span clipped(const struct at_risk_in *in, struct at_risk_span span)
{
    span.to_at_s = fmin(span.to_at_s, in->to_s); /* fmin and fmax pass over NAN */
    span.to_at_s = fmin(span.to_at_s, fmax(in->now_s, in->to_s));
    span.from_at_s = fmax(span.from_at_s, in->from_s);
    return span;
}

/* Since when it is down, as of now; NAN: it is not. Rows that begin later say that it was
 * up again, as do observations. */
static double down_since_s(const struct at_risk_in *in, const struct at_risk_row *sorted)
{
    double since_s = NAN;

    for (size_t i = 0; i < in->row_count && sorted[i].down_at_s <= in->now_s; i++) {
        if (sorted[i].kind == FAILURE_DEGRADED)
            continue;
        if (sorted[i].down_at_s > since_s)
            since_s = NAN;
        if (takes_time(in, &sorted[i]) && isnan(sorted[i].up_at_s))
            since_s = sorted[i].down_at_s;
    }
    for (size_t i = 0; i < in->span_count; i++)
        if (in->spans[i].from_at_s > since_s && in->spans[i].from_at_s <= in->now_s)
            since_s = NAN;
    return in->up_again_s >= since_s || since_s > in->to_s ? (double)NAN : since_s;
}

/* Time of the span that is not at risk: the union of rows that take some. */
static double lost_s(const struct at_risk_in *in, const struct at_risk_row *sorted,
                     double open_since_s, struct at_risk_span span)
{
    double sum_s = 0, until_s = span.from_at_s;

    for (size_t i = 0; i < in->row_count && sorted[i].down_at_s < span.to_at_s; i++) {
        bool is_open = isnan(sorted[i].up_at_s) && sorted[i].down_at_s >= open_since_s;
        double end_s = is_open ? span.to_at_s : fmin(end_of(&sorted[i]), span.to_at_s);

        if (!takes_time(in, &sorted[i]) || end_s <= until_s)
            continue;
        sum_s += end_s - fmax(sorted[i].down_at_s, until_s);
        until_s = end_s;
    }
    return sum_s;
}

static bool is_covered(const struct at_risk_span *spans, size_t count, double at_s)
{
    for (size_t i = 0; i < count; i++)
        if (at_s >= spans[i].from_at_s && !(at_s > spans[i].to_at_s))
            return true;
    return false;
}

/* Walks over the failures of all spans in the order of time. */
static void count_kills(const struct at_risk_in *in, const struct at_risk_row *sorted,
                        const struct at_risk_span *spans, size_t span_count,
                        struct at_risk *out)
{
    double hidden_until_s = -HUGE_VAL, next_until_s = -HUGE_VAL;
    double last_s = out->start_unknown ? spans[0].from_at_s : -HUGE_VAL;

    for (size_t i = 0; i < in->row_count; i++) {
        const struct at_risk_row *row = &sorted[i];

        /* a row hides what begins after it, not what begins with it */
        if (i > 0 && row->down_at_s > sorted[i - 1].down_at_s)
            hidden_until_s = next_until_s;
        if (hides(in, row))
            next_until_s = fmax(next_until_s, end_of(row));
        if (!kills(in, row) || row->down_at_s < hidden_until_s ||
            row->down_at_s <= last_s + in->burst_window_s ||
            !is_covered(spans, span_count, row->down_at_s))
            continue;
        last_s = row->down_at_s;
        out->seen.kill_count++;
    }
}

/* Failures until now that no observation covers, whatever the window. */
static size_t count_outside(const struct at_risk_in *in)
{
    size_t count = 0;

    for (size_t i = 0; i < in->row_count; i++) {
        const struct at_risk_row *row = &in->rows[i];

        count += kills(in, row) && row->down_at_s <= in->now_s &&
                 !is_covered(in->spans, in->span_count, row->down_at_s);
    }
    return count;
}

static void add_span(const struct at_risk_in *in, const struct at_risk_row *sorted,
                     struct at_risk_span span, struct at_risk *out)
{
    out->from_s = fmin(out->from_s, span.from_at_s);
    out->to_s = fmax(out->to_s, span.to_at_s);
    out->observed_s += span.to_at_s - span.from_at_s;
    out->seen.at_risk_s +=
        span.to_at_s - span.from_at_s - lost_s(in, sorted, out->down_since_s, span);
}

void at_risk_of(const struct at_risk_in *in, struct at_risk *out, struct arena *a)
{
    size_t room = in->span_count ? in->span_count : 1, span_count = 0;
    struct at_risk_row *sorted = NEW(a, struct at_risk_row, in->row_count);
    struct at_risk_span *spans = NEW(a, struct at_risk_span, room);
    struct at_risk found = {.from_s = NAN, .to_s = NAN, .down_since_s = NAN};

    for (size_t i = 0; i < in->row_count; i++)
        sorted[i] = in->rows[i];
    if (in->row_count > 1)
        qsort(sorted, in->row_count, sizeof(*sorted), compare_rows);
    found.down_since_s = down_since_s(in, sorted);
    for (size_t i = 0; i < room; i++) {
        struct at_risk_span span =
            in->span_count ? clipped(in, in->spans[i]) : guess_span(in, sorted, &found);

        if (span.to_at_s >= span.from_at_s) /* neither is NAN */
            spans[span_count++] = span;
    }
    for (size_t i = 0; i < span_count; i++)
        add_span(in, sorted, spans[i], &found);
    if (span_count > 0)
        count_kills(in, sorted, spans, span_count, &found);
    if (in->span_count > 0)
        found.outside_count = count_outside(in);
    *out = found;
}
