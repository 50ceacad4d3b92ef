/* gantt_terminal.h - the bars of a chart in characters, for terminals.
 *
 * A row is a line: its label, and as many columns as are left. A bar goes from column
 * round(start / end * columns) to round(finish / end * columns), and has one at least;
 * neighbours alternate. Bars of a row that overlap stand below each other. More rows than
 * GANTT_SUMMARY_LANES share lines, of which each column says how busy they are.
 */
#ifndef GRIDPLAN_GANTT_TERMINAL_H
#define GRIDPLAN_GANTT_TERMINAL_H

#include "handlers/pictures/gantt.h"

enum { GANTT_TERMINAL_LABEL_MAX = 24, GANTT_TERMINAL_COLUMNS_MIN = 10 };

struct gantt_terminal {
    size_t width; /* of a line, in columns: text_width.h */
    bool utf8;    /* else # and = */
    bool colour; /* by escape sequences of ECMA-48: done grey, running green, critical red
                  */
};

/* Appends the lines. Control characters of names become '?'. Cost: O(n log n) and what is
 * printed. */
enum error_code gantt_print_terminal(const struct gantt *chart,
                                     const struct gantt_terminal *how,
                                     struct text_buffer *b, struct arena *a,
                                     struct error *err);

#endif
