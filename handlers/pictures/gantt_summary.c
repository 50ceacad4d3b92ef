/* gantt_summary.c - how busy rows of bars are over time.
 *
 * Neighbouring rows share a lane, as few as make GANTT_SUMMARY_LANES lanes; a lane is cut
 * into cells of time, and a cell has the share of its rows' time that bars take. Bars
 * that overlap count once each, up to all of it.
 *
 * Source: spec face.md 5.
 */
#include "handlers/pictures/gantt_summary.h"

#include <math.h>

enum { BAR_STEPS = 64 }; /* what a bar costs, about */

unsigned gantt_shade(double share)
{
    if (!(share > 1e-9))
        return 0;
    return (unsigned)fmin(GANTT_SHADES, floor(GANTT_SHADES * share - 1e-9) + 1);
}

size_t gantt_summary_rows(const struct gantt *chart, const struct gantt_summary *s,
                          size_t lane)
{
    size_t first = lane * s->rows_per_lane, left = chart->row_count - first;

    return left < s->rows_per_lane ? left : s->rows_per_lane;
}

/* Adds a bar that takes `rows` rows of a lane. */
static void add_to_lane(struct gantt_summary *s, size_t lane, double rows,
                        const struct gantt_bar *bar, double from_s, double to_s)
{
    double cell_s = (to_s - from_s) / (double)s->cells;
    double begin_s = fmax(bar->start_s, from_s), end_s = fmin(bar->finish_s, to_s);
    size_t cell = (size_t)fmax(0, floor((begin_s - from_s) / cell_s));

    for (; cell < s->cells; cell++) {
        double cell_from_s = from_s + (double)cell * cell_s;
        double busy_s = fmin(end_s, cell_from_s + cell_s) - fmax(begin_s, cell_from_s);

        if (cell_from_s >= end_s)
            break;
        s->share[lane * s->cells + cell] += rows * fmax(0, busy_s) / cell_s;
    }
}

static void add_bar(const struct gantt *chart, struct gantt_summary *s,
                    const struct gantt_bar *bar, double from_s, double to_s)
{
    double busy_s = fmin(bar->finish_s, to_s) - fmax(bar->start_s, from_s);
    size_t end = bar->row + bar->row_count;

    if (!(busy_s > 0) || bar->row >= chart->row_count || end > chart->row_count)
        return; /* no time at all, or NAN */
    for (size_t row = bar->row; row < end; row++)
        s->row_share[row] += busy_s / (to_s - from_s);
    for (size_t row = bar->row; row < end;) {
        size_t lane = row / s->rows_per_lane, next = (lane + 1) * s->rows_per_lane;

        next = next < end ? next : end;
        add_to_lane(s, lane, (double)(next - row), bar, from_s, to_s);
        row = next;
    }
}

enum error_code gantt_summarise(const struct gantt *chart, double from_s, double to_s,
                                size_t cells, struct gantt_summary *out, struct arena *a,
                                struct error *err)
{
    size_t rows = chart->row_count;
    struct gantt_summary s = {.cells = cells};

    s.rows_per_lane = (rows + GANTT_SUMMARY_LANES - 1) / GANTT_SUMMARY_LANES;
    s.rows_per_lane += s.rows_per_lane == 0;
    s.lane_count = (rows + s.rows_per_lane - 1) / s.rows_per_lane;
    s.share = NEW(a, double, s.lane_count *cells);
    s.row_share = NEW(a, double, rows);
    for (size_t i = 0; i < chart->bar_count; i++) {
        TRY(json_go_on(BAR_STEPS + chart->bars[i].row_count, err));
        add_bar(chart, &s, &chart->bars[i], from_s, to_s);
    }
    for (size_t lane = 0; lane < s.lane_count; lane++)
        for (size_t c = 0; c < cells; c++) {
            double *share = &s.share[lane * cells + c];

            *share = fmin(1, *share / (double)gantt_summary_rows(chart, &s, lane));
        }
    for (size_t row = 0; row < rows; row++)
        s.row_share[row] = fmin(1, s.row_share[row]);
    *out = s;
    return OK;
}
