/* gantt_terminal.c - the bars of a chart in characters, for terminals. */
#include "handlers/pictures/gantt_terminal.h"

#include "handlers/pictures/gantt_summary.h"
#include "models/base/duration.h"
#include "models/base/text_width.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a column shows, and how. */
enum sign { BLANK, BAR, OTHER_BAR, DONE, RUNNING, TEXT };
static const char *const signs[2][TEXT] = {
    {" ", "#", "=", ".", "+"},
    {" ", "\u2588", "\u2593", "\u2591", "\u2592"},
};
static const char *const shades[2][GANTT_SHADES + 1] = {
    {" ", ".", "-", "=", "#"},
    {" ", "\u2591", "\u2592", "\u2593", "\u2588"},
};

struct writer {
    const struct gantt *chart;
    const struct gantt_terminal *how;
    struct text_buffer *b;
    size_t label, columns; /* widths */
    double end_s;
    char *line;            /* `columns` signs, or letters above TEXT */
    unsigned char *colour; /* of each; 0: the terminal's own */
};

/* Of the foreground. */
enum colour { PLAIN = 0, RED = 31, GREEN = 32, BLUE = 34, CYAN = 36, GREY = 90 };

static void change_colour(struct writer *w, unsigned char *now, unsigned char wanted)
{
    if (w->how->colour && *now != wanted)
        text_addf(w->b, "\x1b[%um", wanted);
    *now = wanted;
}

static bool is_drawable(const struct gantt_bar *bar)
{
    return isfinite(bar->start_s) && isfinite(bar->finish_s) &&
           bar->finish_s >= bar->start_s;
}

static void add_name(struct text_buffer *b, const char *text, size_t bytes)
{
    for (const char *end = text + bytes; text < end;) {
        struct text_character c = text_character(text);

        text_add(b, c.is_control ? "?" : text, c.is_control ? 1 : c.length);
        text += c.length;
    }
}

static void begin_line(struct writer *w, const char *label, bool critical)
{
    size_t width, bytes = text_fitting(label, w->label - 2, &width);

    add_name(w->b, label, bytes);
    text_addf(w->b, "%*s%s|", (int)(w->label - 1 - width), "", critical ? "*" : " ");
}

static size_t column_of(const struct writer *w, double at_s)
{
    double column = w->end_s > 0 ? at_s / w->end_s * (double)w->columns : 0;

    return column <= 0                    ? 0
           : column >= (double)w->columns ? w->columns
                                          : (size_t)lround(column);
}

/* Whether each letter is one byte: only such names are written into bars. */
static bool is_of_bytes(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < 0x20 || (unsigned char)*name > 0x7e)
            return false;
    return true;
}

static void draw_bar(struct writer *w, const struct gantt_bar *bar, size_t number)
{
    size_t from = column_of(w, bar->start_s), to = column_of(w, bar->finish_s);
    size_t length = strlen(bar->id);
    char sign = bar->state == GANTT_DONE      ? DONE
                : bar->state == GANTT_RUNNING ? RUNNING
                : number % 2                  ? OTHER_BAR
                                              : BAR;

    if (from == w->columns)
        from--;
    if (to <= from)
        to = from + 1;
    memset(w->line + from, sign, to - from);
    memset(w->colour + from,
           bar->critical       ? RED
           : sign == DONE      ? GREY
           : sign == RUNNING   ? GREEN
           : sign == OTHER_BAR ? CYAN
                               : BLUE,
           to - from);
    if (length + 2 <= to - from && is_of_bytes(bar->id))
        memcpy(w->line + from + 1, bar->id, length);
}

static void end_line(struct writer *w)
{
    unsigned char now = PLAIN;

    for (size_t i = 0; i < w->columns; i++) {
        change_colour(w, &now, w->colour[i]);
        if (w->line[i] < TEXT)
            text_addf(w->b, "%s", signs[w->how->utf8][(int)w->line[i]]);
        else
            text_add(w->b, &w->line[i], 1);
    }
    change_colour(w, &now, PLAIN);
    text_addf(w->b, "|\n");
}

/* A bar, and the line of its row that it is in. */
struct placed {
    const struct gantt_bar *bar;
    size_t row, track;
};

static int compare(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;

    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->bar->start_s != y->bar->start_s)
        return x->bar->start_s < y->bar->start_s ? -1 : 1;
    return x->bar < y->bar ? -1 : x->bar > y->bar;
}

/* Puts the bars of a row, sorted by start, into lines where none overlaps another; their
 * number. */
static size_t find_tracks(struct placed *list, size_t count, double *ends)
{
    size_t tracks = 0;

    for (size_t i = 0; i < count; i++) {
        double start_s = list[i].bar->start_s;
        size_t t = 0;

        while (t < tracks && ends[t] > start_s + 1e-9 * (1 + fabs(start_s)) &&
               t + 1 < GANTT_TRACKS_MAX)
            t++;
        if (t == tracks)
            ends[tracks++] = 0;
        ends[t] = list[i].bar->finish_s;
        list[i].track = t;
    }
    return tracks ? tracks : 1;
}

static void print_row(struct writer *w, const char *name, struct placed *list,
                      size_t count)
{
    double ends[GANTT_TRACKS_MAX];
    size_t tracks = find_tracks(list, count, ends);
    bool critical = false;

    for (size_t i = 0; i < count; i++)
        critical |= list[i].bar->critical;
    for (size_t t = 0; t < tracks; t++) {
        size_t number = 0;

        memset(w->line, BLANK, w->columns);
        memset(w->colour, PLAIN, w->columns);
        for (size_t i = 0; i < count; i++)
            if (list[i].track == t)
                draw_bar(w, list[i].bar, number++);
        begin_line(w, t == 0 ? name : "", critical && t == 0);
        end_line(w);
    }
}

static const char *row_name(const struct gantt *chart, size_t row, char *number,
                            size_t size)
{
    if (chart->rows)
        return chart->rows[row];
    snprintf(number, size, "%zu", row);
    return number;
}

static void print_rows(struct writer *w, struct arena *a)
{
    const struct gantt *chart = w->chart;
    size_t size = 0, count = 0, next = 0;
    struct placed *list;

    for (size_t i = 0; i < chart->bar_count; i++)
        size += is_drawable(&chart->bars[i]) ? chart->bars[i].row_count : 0;
    list = NEW(a, struct placed, size);
    for (size_t i = 0; i < chart->bar_count; i++)
        for (size_t k = 0; is_drawable(&chart->bars[i]) && k < chart->bars[i].row_count;
             k++)
            list[count++] = (struct placed){&chart->bars[i], chart->bars[i].row + k, 0};
    qsort(list, count, sizeof(*list), compare);
    for (size_t row = 0; row < chart->row_count; row++) {
        size_t first = next;
        char number[32];

        while (next < count && list[next].row == row)
            next++;
        print_row(w, row_name(chart, row, number, sizeof(number)), list + first,
                  next - first);
    }
}

static enum error_code print_summary(struct writer *w, struct arena *a, struct error *err)
{
    struct gantt_summary s;

    TRY(gantt_summarise(w->chart, 0, w->end_s, w->columns, &s, a, err));
    for (size_t lane = 0; lane < s.lane_count; lane++) {
        char number[32];

        begin_line(w, row_name(w->chart, lane * s.rows_per_lane, number, sizeof(number)),
                   false);
        for (size_t i = 0; i < w->columns; i++)
            text_addf(w->b, "%s",
                      shades[w->how->utf8][gantt_shade(s.share[lane * w->columns + i])]);
        text_addf(w->b, "|\n");
    }
    text_addf(w->b, "%zu rows in lines of %zu\n", w->chart->row_count, s.rows_per_lane);
    return OK;
}

enum error_code gantt_print_terminal(const struct gantt *chart,
                                     const struct gantt_terminal *how,
                                     struct text_buffer *b, struct arena *a,
                                     struct error *err)
{
    struct writer w = {.chart = chart, .how = how, .b = b, .label = 6};
    char text[32];

    for (size_t i = 0; i < chart->row_count; i++) {
        size_t width = text_columns(row_name(chart, i, text, sizeof(text))) + 2;

        w.label = width > w.label ? width : w.label;
    }
    if (w.label > GANTT_TERMINAL_LABEL_MAX)
        w.label = GANTT_TERMINAL_LABEL_MAX;
    w.columns = how->width > w.label + 2 + GANTT_TERMINAL_COLUMNS_MIN
                    ? how->width - w.label - 2
                    : GANTT_TERMINAL_COLUMNS_MIN;
    for (size_t i = 0; i < chart->bar_count; i++)
        if (is_drawable(&chart->bars[i]))
            w.end_s = fmax(w.end_s, chart->bars[i].finish_s);
    w.line = NEW(a, char, w.columns);
    w.colour = NEW(a, unsigned char, w.columns);
    if (chart->row_count > GANTT_SUMMARY_LANES && w.end_s > 0)
        TRY(print_summary(&w, a, err));
    else
        print_rows(&w, a);
    duration_text(w.end_s, text, sizeof(text));
    text_addf(b, "%*s 0 s%*s\n", (int)w.label, "", (int)(w.columns - 3), text);
    return OK;
}
