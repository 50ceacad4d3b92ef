/* gantt_summary.h - how busy rows of bars are over time, for charts of more bars than can
 * be told apart.
 */
#ifndef GRIDPLAN_GANTT_SUMMARY_H
#define GRIDPLAN_GANTT_SUMMARY_H

#include "handlers/pictures/gantt.h"

enum { GANTT_SUMMARY_LANES = 60, GANTT_SUMMARY_CELLS = 200, GANTT_SHADES = 4 };

struct gantt_summary {
    size_t rows_per_lane, lane_count, cells; /* the last lane may have fewer rows */
    double *share;                           /* [lane * cells + cell]: busy, 0..1 */
    double *row_share;                       /* [row_count] */
};

/* Of the bars with times, between two instants, from_s < to_s. O(bars + cells touched).
 */
enum error_code gantt_summarise(const struct gantt *chart, double from_s, double to_s,
                                size_t cells, struct gantt_summary *out, struct arena *a,
                                struct error *err);

/* Rows of a lane; the last one may have fewer. */
size_t gantt_summary_rows(const struct gantt *chart, const struct gantt_summary *s,
                          size_t lane);

/* 0: nothing, to GANTT_SHADES: busy all the time. */
unsigned gantt_shade(double share);

#endif
