/* gantt.h - who does what when, as a picture: bars over time, in SVG 1.1.
 *
 * Pure: the same bars give the same bytes. The picture has no script, a ground of its
 * own, light or dark as the reader likes it, and a legend; every bar has a tooltip
 * (<title>) with its whole name. It is GANTT_WIDTH units wide, or as the view says; rows
 * get lower the more there are.
 *
 * Rules for many bars, of which the picture says below its axis what they did:
 * - Bars of one row that overlap stand below each other, in up to GANTT_TRACKS_MAX
 *   tracks of the row.
 * - More than GANTT_LANES_MAX tracks are put together to so many.
 * - Neighbours of which one is narrower than half a unit become one bar, if less than
 *   half a unit lies between them.
 * - More than GANTT_BARS_MAX bars become a summary, unless the view says otherwise: how
 *   busy rows are over time (gantt_summary.h).
 * - Labels stand where they fit, else not, without what all of them begin with.
 * - More than GANTT_TRANSFERS_MAX transfers: those of the critical path only.
 */
#ifndef GRIDPLAN_GANTT_H
#define GRIDPLAN_GANTT_H

#include "service/json.h"

enum {
    GANTT_WIDTH = 1200,
    GANTT_WIDTH_MIN = 400,
    GANTT_WIDTH_MAX = 4000,
    GANTT_BARS_MAX = 1000,
    GANTT_LANES_MAX = 1200,
    GANTT_TRACKS_MAX = 32,
    GANTT_TRANSFERS_MAX = 200
};

#define GANTT_NOTHING "Nothing is scheduled." /* what is said below no bars */

enum gantt_state { GANTT_PLANNED, GANTT_RUNNING, GANTT_DONE, GANTT_RESERVED };

struct gantt_bar {
    const char *id;     /* in the bar and in its tooltip */
    const char *detail; /* further lines of the tooltip; NULL: none */
    size_t row;         /* the first one that it takes */
    size_t row_count;   /* >= 1; more than one: rows are numbered processors */
    double start_s, finish_s;
    enum gantt_state state;
    const char *group;                     /* of its colour; NULL: as its name begins */
    double progress_ratio;                 /* of a running one: what is done, 0..1 */
    double stage_in_s;                     /* of its time, at the front */
    bool late;                             /* behind its deadline */
    bool critical;                         /* on the chain that ends last */
    double transfer_from_s, transfer_to_s; /* of its last input; not after: none */
};

/* A line at an instant. */
struct gantt_mark {
    const char *label;
    double at_s;
};

/* What part of it is drawn, and how. */
enum gantt_mode { GANTT_AUTO, GANTT_BARS, GANTT_SUMMARY };
enum gantt_theme { GANTT_READERS, GANTT_LIGHT, GANTT_DARK };

struct gantt_view {
    double from_s, to_s; /* NAN: from the first bar, to the last */
    enum gantt_mode mode;
    enum gantt_theme theme;
    bool no_critical, no_transfers;
    double width; /* units; 0: GANTT_WIDTH */
};

struct gantt {
    const struct gantt_view *view; /* NULL: all of it */
    const char *title;
    const char *subtitle;    /* NULL: none */
    bool numbered;           /* rows are processors: their names are numbers */
    const char *const *rows; /* names; NULL: rows are numbers from 0 */
    size_t row_count;
    const struct gantt_bar *bars; /* times that are not finite, finish before start: left
                                     out and counted */
    size_t bar_count;
    const struct gantt_mark *marks;
    size_t mark_count;
    const char *const *remarks; /* what is said below it, too */
    size_t remark_count;
};

/* Appends the document. Cost: O(n log n). */
enum error_code gantt_print(const struct gantt *chart, struct text_buffer *b,
                            struct error *err);

/* Length of what all labels begin with, that can be left out: it ends behind one of
 * "/._-:", has 3 characters at least, and leaves something of each. 0: nothing. */
size_t gantt_prefix(const char *const *labels, size_t count);

/* Appends a text with what XML needs escaped; what XML cannot have becomes '?'. */
void gantt_print_text(const char *text, struct text_buffer *b);

#endif
