/* gantt.c - bars over time as SVG. */
#include "handlers/pictures/gantt_groups.h"
#include "handlers/pictures/gantt_summary.h"
#include "models/base/duration.h"
#include "models/base/plural.h"
#include "models/base/text_width.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MARGIN = 16,
    TITLE_HEIGHT = 30,
    SUBTITLE_HEIGHT = 20,
    MARKS_HEIGHT = 16,
    BUSY_HEIGHT = 36, /* of the line above a summary */
    BUSY_GAP = 18,    /* below it */
    AXIS_HEIGHT = 30,
    LEGEND_HEIGHT = 20,
    NOTE_HEIGHT = 18,
    TRACK_HEIGHT = 24, /* as long as there are few */
    BARS_HEIGHT_MAX = 1200,
    NUMBERED_HEIGHT_MAX = 560, /* rows that are numbers only */
    NAMES_WIDTH_MAX = 220,
    NAMES_GAP = 14,
    TICKS_MAX = 9,
    NAME_HEIGHT_MIN = 11, /* of a row with a name */
    NUMBER_HEIGHT_MIN = 40,
    LABEL_HEIGHT_MIN = 12,
    PATTERNS_FROM = 4, /* of the colours: what has a second sign */
    NOTES_MAX = 16,
    LEGEND_MAX = GANTT_GROUPS + 10,
    BAR_STEPS = 64, /* what it costs to take a bar, about */
    BUSIEST = 5,
    AXIS_GAP = 2 /* between the last time and the edge */
};

/* Mean width of a column (models/base/text_width.h) of size 12, and 11 in bars. */
#define NAME_CHARACTER  6.7
#define LABEL_CHARACTER 6.2

/* White stands out on each, and each on white and on black. */
static const char *const colours[GANTT_GROUPS + 1] = {
    "#4272b0", "#c0692a", "#3f8f5f", "#7a62ad",
    "#4272b0", "#c0692a", "#3f8f5f", "#6b737c",
};

#define DONE_COLOUR     "#8a9099"
#define CRITICAL_COLOUR "#d1283c"
#define TRANSFER_COLOUR "#d99a00"
#define SHADE_COLOUR    "#4272b0"
static const char *const shade_opacities[] = {"0.25", "0.5", "0.75", "1"};

/* What is drawn: one bar, or several that were put together. */
struct shape {
    const struct gantt_bar *first; /* by start */
    size_t count;
    size_t lane, lane_count;
    double start_s, finish_s;
    unsigned colour;
    enum gantt_state state;
    bool critical;
};

/* A row of the legend. */
struct legend {
    const char *text;
    size_t length; /* of it */
    int sign;      /* enum sign */
    unsigned colour;
};
enum sign {
    SIGN_KIND,
    SIGN_SHADE,
    SIGN_DONE,
    SIGN_RUNNING,
    SIGN_RESERVED,
    SIGN_LATE,
    SIGN_STAGE_IN,
    SIGN_CRITICAL,
    SIGN_TRANSFER
};

struct drawing {
    const struct gantt *chart;
    struct text_buffer *b;
    struct arena *arena;
    struct error *err;
    size_t *first_track; /* [row_count + 1]: of a row */
    size_t track_count;
    size_t lane_count; /* tracks, or fewer */
    struct shape *shapes;
    size_t shape_count, dropped, merged;
    size_t bar_prefix, row_prefix; /* characters that are left out of labels */
    struct gantt_view view;
    bool summary, has_critical_transfers_only;
    struct gantt_groups groups;
    struct gantt_summary busy;
    struct legend legend[LEGEND_MAX];
    size_t legend_count;
    double from_s, to_s;
    double left, width, top, height; /* of the bars' area */
    const char *notes[NOTES_MAX];
    size_t note_count;
};

/* ---- texts ---- */

/* Whether XML 1.0 can have the character. */
static bool is_in_xml(uint32_t c, size_t length)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

    if (c < 0x20)
        return c == '\t' || c == '\n';
    return c >= least[length] && c <= 0x10ffff && !(c >= 0xd800 && c < 0xe000) &&
           c != 0xfffe && c != 0xffff;
}

/* Length of the UTF-8 character at `p`, 0: it is none that XML can have. */
static size_t character_length(const unsigned char *p)
{
    size_t length = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    uint32_t c = length == 1 ? p[0] : p[0] & (0x7fU >> length);

    if ((p[0] & 0xc0) == 0x80 || p[0] >= 0xf8)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3fU);
    }
    return is_in_xml(c, length) ? length : 0;
}

/* At most `max` columns, then an ellipsis. */
static void print_some(const char *text, size_t max, struct text_buffer *b)
{
    const unsigned char *p = (const unsigned char *)text;

    for (size_t used = 0; *p;) {
        size_t length = character_length(p);
        unsigned columns = length ? text_character((const char *)p).columns : 1;

        if (columns > max - used) {
            text_addf(b, "\xe2\x80\xa6");
            return;
        }
        used += columns;
        if (*p == '<' || *p == '>' || *p == '&' || *p == '"')
            text_addf(b, "&#%d;", *p);
        else if (length == 0)
            text_add(b, "?", 1);
        else
            text_add(b, (const char *)p, length);
        p += length ? length : 1;
    }
}

void gantt_print_text(const char *text, struct text_buffer *b)
{
    print_some(text, SIZE_MAX, b);
}

/* A length in the picture: two decimals, none that say nothing. */
static void print_length(double length, struct text_buffer *b)
{
    char text[40];
    size_t end = (size_t)snprintf(text, sizeof(text), "%.2f", length + 0.0);

    while (text[end - 1] == '0')
        end--;
    end -= text[end - 1] == '.';
    text_add(b, text, end);
}

static void print_attribute(const char *name, double length, struct text_buffer *b)
{
    text_addf(b, " %s=\"", name);
    print_length(length, b);
    text_add(b, "\"", 1);
}

size_t gantt_prefix(const char *const *labels, size_t count)
{
    size_t same = count > 1 ? strlen(labels[0]) : 0, shortest = SIZE_MAX;

    for (size_t i = 0; i < count && same > 0; i++) {
        size_t length = strlen(labels[i]), k = 0;

        shortest = length < shortest ? length : shortest;
        while (k < same && labels[i][k] == labels[0][k])
            k++;
        same = k;
    }
    if (same >= shortest)
        same = shortest > 0 ? shortest - 1 : 0;
    while (same > 0 && !strchr("/._-:", labels[0][same - 1]))
        same--;
    return same >= 3 ? same : 0;
}

/* ---- times ---- */

/* A tick below a second, in the unit that suits the step. */
static void small_text(double at_s, double step_s, char *text, size_t size)
{
    static const struct {
        double most_s, unit_s;
        const char *name;
    } small[] = {{1e-5, 1e-6, "\xc2\xb5s"}, {1e-2, 1e-3, "ms"}, {1, 1, "s"}};
    size_t i = step_s < small[0].most_s ? 0 : step_s < small[1].most_s ? 1 : 2;

    snprintf(text, size, "%.10g %s",
             floor(at_s / step_s + 0.5) * (step_s / small[i].unit_s) + 0.0,
             small[i].name);
}

/* A time of the axis, down to `step_s`. */
static void time_text(double at_s, double step_s, char *text, size_t size)
{
    const char *sign = at_s < 0 ? "\xe2\x88\x92" : ""; /* minus */
    double rest_s = floor(fabs(at_s) / step_s + 0.5) * step_s;
    size_t used;

    if (step_s < 1) {
        small_text(at_s, step_s, text, size);
    } else if (rest_s >= 86400.0 * 1000) {
        snprintf(text, size, "%s%.4g d", sign, rest_s / 86400);
    } else {
        used = (size_t)snprintf(text, size, "%s", rest_s > 0 ? sign : "");
        duration_add_whole(rest_s, text, used, size);
    }
}

/* An exact time for people: in seconds, and in larger units if it has such. */
static void print_time(double at_s, struct text_buffer *b)
{
    char text[64];

    text_addf(b, "%.10g s", at_s);
    if (fabs(at_s) < 120)
        return;
    time_text(at_s, 1, text, sizeof(text));
    text_addf(b, " (%s)", text);
}

/* A step between ticks that people count in. */
static double tick_step(double span_s)
{
    static const double steps[] = {1,     2,     5,     10,    20,     30,     60,
                                   120,   300,   600,   900,   1800,   3600,   7200,
                                   10800, 21600, 43200, 86400, 172800, 604800, 2419200};
    enum { STEPS = sizeof(steps) / sizeof(steps[0]) };
    double step_s = span_s / TICKS_MAX, power;

    for (size_t i = 0; step_s > 1 && i < STEPS; i++)
        if (steps[i] >= step_s)
            return steps[i];
    if (step_s > 1)
        return steps[STEPS - 1] * exp2(ceil(log2(step_s / steps[STEPS - 1])));
    power = pow(10, floor(log10(step_s)));
    for (int factor = 1; factor < 10; factor = factor == 2 ? 5 : factor * 2)
        if (factor * power >= step_s * (1 - 1e-9))
            return factor * power;
    return 10 * power;
}

static double x_of(const struct drawing *d, double at_s)
{
    return d->left + (at_s - d->from_s) / (d->to_s - d->from_s) * d->width;
}

/* ---- which bars, in which tracks ---- */

static bool is_drawable(const struct gantt *chart, const struct gantt_bar *bar)
{
    return isfinite(bar->start_s) && isfinite(bar->finish_s) &&
           bar->finish_s >= bar->start_s && bar->row < chart->row_count &&
           bar->row_count >= 1 && bar->row_count <= chart->row_count - bar->row;
}

static int compare_shapes(const void *x, const void *y)
{
    const struct shape *p = x, *q = y;

    if (p->lane != q->lane)
        return p->lane < q->lane ? -1 : 1;
    if (p->lane_count != q->lane_count)
        return p->lane_count < q->lane_count ? -1 : 1;
    if (p->start_s != q->start_s)
        return p->start_s < q->start_s ? -1 : 1;
    if (p->finish_s != q->finish_s)
        return p->finish_s < q->finish_s ? -1 : 1;
    return p->first < q->first ? -1 : p->first > q->first;
}

/* From 0, unless all begins long after that; with the marks. */
static void settle_span(struct drawing *d)
{
    if (!d->shape_count)
        d->from_s = d->to_s = 0;
    if (d->from_s > 0 && d->from_s < d->to_s / 2)
        d->from_s = 0;
    for (size_t i = 0; i < d->chart->mark_count; i++)
        if (isfinite(d->chart->marks[i].at_s) && d->chart->marks[i].at_s >= d->from_s)
            d->to_s = fmax(d->to_s, d->chart->marks[i].at_s);
    if (!isnan(d->view.from_s))
        d->from_s = d->view.from_s;
    if (!isnan(d->view.to_s))
        d->to_s = d->view.to_s;
    if (!(d->to_s - d->from_s > fabs(d->to_s) * 1e-9))
        d->to_s = d->from_s + fmax(1, fabs(d->from_s) * 1e-6);
}

/* The bars that can be drawn, by row and start; the time that they take. */
static enum error_code take_bars(struct drawing *d)
{
    const struct gantt *chart = d->chart;

    d->shapes = NEW(d->arena, struct shape, chart->bar_count + 1);
    d->from_s = HUGE_VAL;
    d->to_s = -HUGE_VAL;
    for (size_t i = 0; i < chart->bar_count; i++) {
        const struct gantt_bar *bar = &chart->bars[i];

        TRY(json_go_on(BAR_STEPS, d->err));
        if (!is_drawable(chart, bar)) {
            d->dropped++;
            continue;
        }
        /* (a comparison with NAN is false: without a window all are in it) */
        if (bar->finish_s < d->view.from_s || bar->start_s > d->view.to_s)
            continue;
        d->shapes[d->shape_count++] =
            (struct shape){bar,
                           1,
                           bar->row,
                           bar->row_count,
                           fmax(bar->start_s, d->view.from_s),
                           fmin(bar->finish_s, d->view.to_s),
                           0,
                           bar->state,
                           bar->critical && !d->view.no_critical};
        d->from_s = fmin(d->from_s, bar->start_s);
        d->to_s = fmax(d->to_s, bar->finish_s);
    }
    settle_span(d);
    qsort(d->shapes, d->shape_count, sizeof(*d->shapes), compare_shapes);
    return OK;
}

/* Tracks of the bars from..to, which are those of one row, in order of their start:
 * each in the first track that is free. How many are needed. */
static size_t place_row(struct shape *shapes, size_t from, size_t to)
{
    double free_s[GANTT_TRACKS_MAX];
    size_t tracks = 1;

    free_s[0] = -HUGE_VAL;
    for (size_t i = from; i < to; i++) {
        double slack_s = 1e-9 * fabs(shapes[i].start_s);
        size_t track = 0;

        while (track + 1 < GANTT_TRACKS_MAX && track < tracks &&
               free_s[track] > shapes[i].start_s + slack_s)
            track++;
        if (track == tracks)
            free_s[tracks++] = -HUGE_VAL;
        free_s[track] = fmax(free_s[track], shapes[i].finish_s);
        shapes[i].lane = track;
    }
    return tracks;
}

/* Rows become tracks: `lane` of a shape is then its track. Rows that bars share because
 * they take several stay as they are. */
static void place_tracks(struct drawing *d)
{
    size_t rows = d->chart->row_count;
    bool wide = false;

    d->first_track = NEW(d->arena, size_t, rows + 1);
    for (size_t i = 0; i < d->shape_count; i++)
        wide = wide || d->shapes[i].lane_count > 1;
    for (size_t row = 0, at = 0; row < rows; row++) {
        size_t begin = at, tracks = 1;

        while (at < d->shape_count && d->shapes[at].lane == row)
            at++;
        if (!wide)
            tracks = place_row(d->shapes, begin, at);
        for (size_t i = begin; i < at; i++)
            d->shapes[i].lane = d->first_track[row] + (wide ? 0 : d->shapes[i].lane);
        d->first_track[row + 1] = d->first_track[row] + tracks;
    }
    d->track_count = d->first_track[rows] ? d->first_track[rows] : 1;
    d->lane_count = d->track_count;
}

/* More tracks than lines can be told apart: several share one. */
static void squeeze_lanes(struct drawing *d)
{
    if (d->track_count <= GANTT_LANES_MAX)
        return;
    d->lane_count = GANTT_LANES_MAX;
    for (size_t i = 0; i < d->shape_count; i++) {
        struct shape *s = &d->shapes[i];
        double scale = (double)d->lane_count / (double)d->track_count;
        double end = ceil((double)(s->lane + s->lane_count) * scale - 1e-9);

        s->lane = (size_t)((double)s->lane * scale);
        s->lane_count = end > (double)s->lane + 1 ? (size_t)end - s->lane : 1;
        if (s->lane + s->lane_count > d->lane_count)
            s->lane_count = d->lane_count - s->lane;
    }
}

/* ---- colours ---- */

static void add_legend(struct drawing *d, const char *text, size_t length, int sign,
                       unsigned colour)
{
    if (d->legend_count < LEGEND_MAX)
        d->legend[d->legend_count++] = (struct legend){text, length, sign, colour};
}

/* Of one group all have one colour, and there is nothing to tell apart. */
static enum error_code choose_colours(struct drawing *d)
{
    TRY(gantt_group(d->chart, d->bar_prefix, &d->groups, d->arena, d->err));
    for (size_t i = 0; i < d->shape_count; i++)
        d->shapes[i].colour = d->groups.of[d->shapes[i].first - d->chart->bars];
    for (size_t k = 0; d->groups.count > 1 && k < d->groups.count; k++)
        add_legend(d, d->groups.names[k], strlen(d->groups.names[k]), SIGN_KIND,
                   (unsigned)k);
    if (d->groups.others)
        add_legend(d, "others", strlen("others"), SIGN_KIND, GANTT_OTHERS);
    return OK;
}

/* What else the bars show. */
static void explain_signs(struct drawing *d)
{
    static const struct {
        int sign;
        const char *text;
    } signs[] = {{SIGN_DONE, "done"},
                 {SIGN_RUNNING, "running, filled up to its progress"},
                 {SIGN_RESERVED, "reserved"},
                 {SIGN_LATE, "late"},
                 {SIGN_STAGE_IN, "its inputs are on their way"},
                 {SIGN_CRITICAL, "on the chain that ends last"},
                 {SIGN_TRANSFER, "its last input is on its way"}};
    enum { SIGNS = sizeof(signs) / sizeof(signs[0]) };
    bool seen[SIGNS] = {false};
    size_t transfers = 0;

    for (size_t i = 0; i < d->chart->bar_count; i++) {
        const struct gantt_bar *bar = &d->chart->bars[i];

        seen[0] |= bar->state == GANTT_DONE;
        seen[1] |= bar->state == GANTT_RUNNING;
        seen[2] |= bar->state == GANTT_RESERVED;
        seen[3] |= bar->late;
        seen[4] |= bar->stage_in_s > 0;
        seen[5] |= bar->critical && !d->view.no_critical;
        transfers += bar->transfer_to_s > bar->transfer_from_s;
    }
    seen[6] = transfers > 0 && !d->view.no_transfers;
    d->has_critical_transfers_only = transfers > GANTT_TRANSFERS_MAX;
    for (size_t k = 0; k < SIGNS; k++)
        if (seen[k])
            add_legend(d, signs[k].text, strlen(signs[k].text), signs[k].sign, 0);
}

/* ---- fewer shapes ---- */

/* Whether `next` goes into `s`, whose lane it shares. */
static bool merges(const struct drawing *d, const struct shape *s,
                   const struct shape *next, double limit)
{
    double scale = d->width / (d->to_s - d->from_s);
    double gap = (next->start_s - s->finish_s) * scale;
    bool narrow = (s->finish_s - s->start_s) * scale < limit ||
                  (next->finish_s - next->start_s) * scale < limit;

    if (s->lane != next->lane || s->lane_count != next->lane_count)
        return false;
    if (d->lane_count < d->track_count && gap < 0)
        return true;
    return narrow && gap < limit;
}

/* Puts shapes together that are nearer than `limit`, in place. How many are left. */
static size_t merge_shapes(const struct drawing *d, struct shape *shapes, size_t count,
                           double limit)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        struct shape *last = kept ? &shapes[kept - 1] : NULL;

        if (!last || !merges(d, last, &shapes[i], limit)) {
            shapes[kept++] = shapes[i];
            continue;
        }
        last->count += shapes[i].count;
        last->critical |= shapes[i].critical;
        if (last->state != shapes[i].state)
            last->state = GANTT_PLANNED;
        last->finish_s = fmax(last->finish_s, shapes[i].finish_s);
    }
    return kept;
}

static void reduce(struct drawing *d)
{
    size_t bars = d->shape_count;

    qsort(d->shapes, d->shape_count, sizeof(*d->shapes), compare_shapes);
    d->shape_count = merge_shapes(d, d->shapes, d->shape_count, 0.5);
    d->merged = bars - d->shape_count;
}

/* ---- labels ---- */

static void find_prefixes(struct drawing *d)
{
    const char **labels = NEW(d->arena, const char *, d->chart->bar_count + 1);

    for (size_t i = 0; i < d->chart->bar_count; i++)
        labels[i] = d->chart->bars[i].id;
    d->bar_prefix = gantt_prefix(labels, d->chart->bar_count);
    if (d->chart->rows)
        d->row_prefix = gantt_prefix(d->chart->rows, d->chart->row_count);
}

/* ---- many bars ---- */

static const char *const shade_texts[] = {"up to 25 % busy", "50 %", "75 %", "100 %"};

static enum error_code summarise(struct drawing *d)
{
    TRY(gantt_summarise(d->chart, d->from_s, d->to_s, GANTT_SUMMARY_CELLS, &d->busy,
                        d->arena, d->err));
    for (unsigned k = 0; k < GANTT_SHADES; k++)
        add_legend(d, shade_texts[k], strlen(shade_texts[k]), SIGN_SHADE, k);
    d->track_count = d->lane_count = d->busy.lane_count;
    return OK;
}

/* ---- what the picture says about itself ---- */

static void note(struct drawing *d, const char *text)
{
    if (d->note_count < NOTES_MAX)
        d->notes[d->note_count++] = text;
}

static const char *row_name(const struct drawing *d, size_t row)
{
    return d->chart->rows ? d->chart->rows[row] : arena_printf(d->arena, "%zu", row);
}

static bool is_among(size_t row, const size_t *list, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (list[k] == row)
            return true;
    return false;
}

/* The busiest row, or the idlest, that is not in the list; tie: the first. */
static size_t extreme_row(const struct drawing *d, bool busiest, const size_t *list,
                          size_t count)
{
    const double *share = d->busy.row_share;
    size_t best = SIZE_MAX;

    for (size_t row = 0; row < d->chart->row_count; row++) {
        if (is_among(row, list, count))
            continue;
        if (best == SIZE_MAX ||
            (busiest ? share[row] > share[best] : share[row] < share[best]))
            best = row;
    }
    return best;
}

/* "name 95 %, ..." of some rows. */
static const char *extreme_rows(const struct drawing *d, bool busiest)
{
    size_t rows = d->chart->row_count, count = rows < BUSIEST ? rows : BUSIEST;
    size_t chosen[BUSIEST];
    const char *text = "";

    for (size_t k = 0; k < count; k++) {
        chosen[k] = extreme_row(d, busiest, chosen, k);
        text = arena_printf(d->arena, "%s%s%.60s %.3g %%", text, k ? ", " : "",
                            row_name(d, chosen[k]), 100 * d->busy.row_share[chosen[k]]);
    }
    return text;
}

static void note_summary(struct drawing *d)
{
    const char *most = extreme_rows(d, true), *least = extreme_rows(d, false);
    char cell[64];

    duration_text((d->to_s - d->from_s) / GANTT_SUMMARY_CELLS, cell, sizeof(cell));
    note(d,
         arena_printf(d->arena,
                      "%zu bars are more than can be told apart: shown is how busy the "
                      "rows are, %zu a line, in steps of %s.",
                      d->chart->bar_count - d->dropped, d->busy.rows_per_lane, cell));
    note(d, arena_printf(d->arena, "Busiest: %s.", most));
    note(d, arena_printf(d->arena, "Idlest: %s.", least));
}

static void note_merged(struct drawing *d)
{
    char width[64];

    if (d->merged) {
        duration_text((d->to_s - d->from_s) / d->width * 0.5, width, sizeof(width));
        note(d, arena_printf(d->arena,
                             "%zu of %zu bars %s drawn with a neighbour: narrower or "
                             "nearer than %s%s.",
                             d->merged, d->chart->bar_count - d->dropped,
                             plural(d->merged, "is", "are"), width,
                             d->lane_count < d->track_count ? ", or behind each other"
                                                            : ""));
    }
    if (d->lane_count < d->track_count)
        note(d, arena_printf(d->arena, "%zu rows are drawn as %zu lines.", d->track_count,
                             d->lane_count));
}

static void note_prefix(struct drawing *d, const char *what, const char *label,
                        size_t length)
{
    if (length > 0)
        note(d, arena_printf(d->arena, "All %s begin with \"%.*s\".", what, (int)length,
                             label));
}

static void write_notes(struct drawing *d)
{
    if (d->bar_prefix && !d->summary)
        note_prefix(d, "labels", d->chart->bars[0].id, d->bar_prefix);
    if (d->row_prefix)
        note_prefix(d, "rows", d->chart->rows[0], d->row_prefix);
    if (d->summary)
        note_summary(d);
    else
        note_merged(d);
    if (d->dropped)
        note(d,
             arena_printf(
                 d->arena, "%s %s no time or row.", counted(d->dropped, "bar").text,
                 plural(d->dropped, "is left out: it has", "are left out: they have")));
    if (d->has_critical_transfers_only && !d->summary && !d->view.no_transfers)
        note(d, "There are many transfers: drawn are those of the chain that ends last.");
    if (d->shape_count == 0)
        note(d, GANTT_NOTHING);
    for (size_t i = 0; i < d->chart->remark_count; i++)
        note(d, d->chart->remarks[i]);
}

/* ---- the page ---- */

static void lay_out(struct drawing *d)
{
    size_t longest = 0;
    double track;

    for (size_t i = 0; i < d->chart->row_count; i++) {
        size_t length = d->chart->rows ? text_columns(d->chart->rows[i] + d->row_prefix)
                                       : (i > 99 ? 7 : 4);

        longest = length > longest ? length : longest;
    }
    d->left =
        MARGIN + fmin(NAMES_WIDTH_MAX, NAMES_GAP + (double)longest * NAME_CHARACTER);
    d->width = d->view.width - d->left - 2 * MARGIN;
    d->top = MARGIN + TITLE_HEIGHT + (d->chart->subtitle ? SUBTITLE_HEIGHT : 0) +
             (d->chart->mark_count ? MARKS_HEIGHT : 0) +
             (d->summary ? BUSY_HEIGHT + 4 : 0);
    track =
        fmin(TRACK_HEIGHT, (d->chart->numbered ? NUMBERED_HEIGHT_MAX : BARS_HEIGHT_MAX) /
                               (double)d->track_count);
    d->height = track * (double)d->track_count;
}

static double legend_width(const struct legend *l)
{
    return 40 + LABEL_CHARACTER * (double)(l->length < 40 ? l->length : 40);
}

/* Where the rows of the legend stand: as many in a line as fit. */
static size_t legend_lines(const struct drawing *d)
{
    double x = d->left;
    size_t lines = d->legend_count > 0;

    for (size_t i = 0; i < d->legend_count; i++) {
        double width = legend_width(&d->legend[i]);

        if (x + width > d->view.width - MARGIN && x > d->left) {
            x = d->left;
            lines++;
        }
        x += width;
    }
    return lines;
}

static double notes_top(const struct drawing *d)
{
    return d->top + d->height + AXIS_HEIGHT + LEGEND_HEIGHT * (double)legend_lines(d);
}

static double total_height(const struct drawing *d)
{
    return notes_top(d) + NOTE_HEIGHT * (double)d->note_count + MARGIN;
}

/* Readers that know no styles get the light ground. */
static const char light_style[] =
    ".gp text{fill:#4a5058}.gp .gp-in text{fill:#fff}.gp .gp-mark{fill:#b3263a}"
    ".gp-ink{stroke:#1c2126}.gp .gp-in .gp-done{fill:#5d646c}";
static const char dark_style[] =
    ".gp-ground{fill:#15181c}.gp text{fill:#b9c0c8}.gp .gp-mark{fill:#f0788a}"
    ".gp-ink{stroke:#f2f4f6}.gp .gp-in .gp-done{fill:#c9ced4}";

static void print_style(const struct drawing *d)
{
    text_addf(d->b, "<style>%s", light_style);
    if (d->view.theme == GANTT_READERS)
        text_addf(d->b, "@media (prefers-color-scheme:dark){%s}", dark_style);
    else if (d->view.theme == GANTT_DARK)
        text_addf(d->b, "%s", dark_style);
    text_addf(d->b, "</style>\n");
}

static void print_head(const struct drawing *d)
{
    struct text_buffer *b = d->b;

    text_addf(b,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
              "viewBox=\"0 0 %.0f %.0f\" font-family=\"system-ui, 'Segoe UI', 'DejaVu "
              "Sans', sans-serif\" font-size=\"12\" class=\"gp\" role=\"img\">\n"
              "<title>",
              d->view.width, ceil(total_height(d)), d->view.width, ceil(total_height(d)));
    gantt_print_text(d->chart->title, b);
    text_addf(b, "</title>\n");
    if (d->chart->subtitle) {
        text_addf(b, "<desc>");
        gantt_print_text(d->chart->subtitle, b);
        text_addf(b, "</desc>\n");
    }
    print_style(d);
    text_addf(b, "<path class=\"gp-ground\" fill=\"#fff\" d=\"M0 0H%.0fV%.0fH0Z\"/>\n",
              d->view.width, ceil(total_height(d)));
    text_addf(b, "<text x=\"%d\" y=\"%d\" font-size=\"17\" font-weight=\"600\">", MARGIN,
              MARGIN + 14);
    print_some(d->chart->title, 100, b);
    text_addf(b, "</text>\n");
    if (d->chart->subtitle) {
        text_addf(b, "<text x=\"%d\" y=\"%d\">", MARGIN, MARGIN + TITLE_HEIGHT + 6);
        print_some(d->chart->subtitle, 150, b);
        text_addf(b, "</text>\n");
    }
}

/* Every how many rows a line and a name have room. */
static size_t row_stride(const struct drawing *d)
{
    double track = d->summary ? d->height / (double)d->chart->row_count
                              : d->height / (double)d->track_count;
    bool crowded = d->chart->numbered && track < NAME_HEIGHT_MIN;
    double least = crowded ? NUMBER_HEIGHT_MIN : NAME_HEIGHT_MIN;
    size_t stride = 1;

    for (int n = 0; (double)stride * track < least; n++)
        stride = n % 3 == 1 ? stride / 2 * 5 : stride * 2; /* 1 2 5 10 20 50 ... */
    return stride;
}

static double row_y(const struct drawing *d, size_t row)
{
    if (d->summary)
        return d->top + (double)row / (double)d->busy.rows_per_lane * d->height /
                            (double)d->lane_count;
    return d->top + (double)d->first_track[row] * d->height / (double)d->track_count;
}

static void print_rows(const struct drawing *d)
{
    size_t max = (size_t)((d->left - MARGIN - NAMES_GAP) / NAME_CHARACTER + 0.01);
    size_t stride = row_stride(d), rows = d->chart->row_count;
    struct text_buffer *b = d->b;

    text_addf(b, "<g stroke=\"#808080\" stroke-opacity=\"0.25\">\n");
    for (size_t row = 0; row <= rows; row += stride) {
        double y = row < rows ? row_y(d, row) : d->top + d->height;

        text_addf(b, "<path d=\"M%d ", MARGIN);
        print_length(y, b);
        text_addf(b, "H%.0f\"/>\n", d->view.width - MARGIN);
    }
    text_addf(b, "</g>\n<g text-anchor=\"end\">\n");
    for (size_t row = 0; row < rows; row += stride) {
        double next = row + 1 < rows ? row_y(d, row + 1) : d->top + d->height;
        double middle = stride == 1 ? (row_y(d, row) + next) / 2 : row_y(d, row) + 5;

        text_addf(b, "<text");
        print_attribute("x", d->left - 8, b);
        print_attribute("y", middle + 4, b);
        text_add(b, ">", 1);
        if (d->chart->rows)
            print_some(d->chart->rows[row] + d->row_prefix, max, b);
        else
            text_addf(b, "%zu", row);
        text_addf(b, "</text>\n");
    }
    text_addf(b, "</g>\n");
}

static void print_axis(const struct drawing *d)
{
    double step_s = tick_step(d->to_s - d->from_s);
    double first = ceil(d->from_s / step_s - 1e-9), free_x = -HUGE_VAL;
    struct text_buffer *b = d->b;
    char text[64];

    text_addf(b, "<g text-anchor=\"middle\" stroke-width=\"1\">\n");
    for (int i = 0; i <= 2 * TICKS_MAX; i++) {
        double at_s = (first + i) * step_s, x = x_of(d, at_s), half;

        if (at_s > d->to_s + step_s * 1e-9)
            break;
        text_addf(b, "<path stroke=\"#808080\" stroke-opacity=\"0.25\" d=\"M");
        print_length(x, b);
        text_add(b, " ", 1);
        print_length(d->top, b);
        text_add(b, "V", 1);
        print_length(d->top + d->height + 5, b);
        text_addf(b, "\"/>");
        time_text(at_s, step_s, text, sizeof(text));
        half = NAME_CHARACTER * (double)strlen(text) / 2;
        x = fmin(x, d->view.width - AXIS_GAP - half); /* the last one stays inside */
        if (x - half < free_x) {
            text_addf(b, "\n");
            continue;
        }
        free_x = x + half;
        text_addf(b, "<text");
        print_attribute("x", x, b);
        print_attribute("y", d->top + d->height + 20, b);
        text_addf(b, ">%s</text>\n", text);
    }
    text_addf(b, "</g>\n");
}

static void print_tooltip(const struct shape *s, struct text_buffer *b)
{
    text_addf(b, "<title>");
    gantt_print_text(s->first->id, b);
    if (s->count > 1)
        text_addf(b, " and %zu more", s->count - 1);
    text_add(b, "\n", 1);
    print_time(s->start_s, b);
    text_addf(b, " \xe2\x80\x93 ");
    print_time(s->finish_s, b);
    text_addf(b, "\nfor ");
    print_time(s->finish_s - s->start_s, b);
    if (s->count == 1 && s->first->detail) {
        text_add(b, "\n", 1);
        gantt_print_text(s->first->detail, b);
    }
    text_addf(b, "</title>");
}

/* Hatched colours, each as a tile; and what lies over what is reserved. */
static void print_patterns(const struct drawing *d)
{
    text_addf(d->b, "<defs>");
    for (size_t k = PATTERNS_FROM; k < d->groups.count; k++)
        text_addf(d->b,
                  "<pattern id=\"gp%zu\" width=\"6\" height=\"6\" "
                  "patternUnits=\"userSpaceOnUse\"><path fill=\"%s\" "
                  "d=\"M0 0h6v6h-6z\"/><path stroke=\"#fff\" stroke-opacity=\"0.5\" "
                  "d=\"M-1 7L7 -1\"/></pattern>",
                  k, colours[k]);
    text_addf(d->b,
              "<pattern id=\"gpx\" width=\"6\" height=\"6\" "
              "patternUnits=\"userSpaceOnUse\"><path stroke=\"#fff\" "
              "stroke-opacity=\"0.6\" d=\"M-1 7L7 -1M-1 -1L7 7\"/></pattern></defs>\n");
}

/* "#4272b0", or of a hatched one "url(#gp4)". */
static void print_fill(unsigned colour, struct text_buffer *b)
{
    if (colour >= PATTERNS_FROM && colour < GANTT_OTHERS)
        text_addf(b, " fill=\"url(#gp%u)\"", colour);
    else
        text_addf(b, " fill=\"%s\"", colours[colour]);
}

/* The place of a shape on the page. */
struct place {
    double x, y, width, height;
};

static struct place place_of(const struct drawing *d, const struct shape *s)
{
    double lane = d->height / (double)d->lane_count;
    double pad = lane > 8 ? 2 : lane > 3 ? 0.5 : 0;
    double x = x_of(d, s->start_s);

    return (struct place){x, d->top + (double)s->lane * lane + pad,
                          fmax(x_of(d, s->finish_s) - x, 0.5),
                          fmax((double)s->lane_count * lane - 2 * pad, 0.5)};
}

static void print_label(const struct drawing *d, const struct shape *s,
                        const struct place *p)
{
    const char *label = s->first->id + d->bar_prefix;
    double room = (p->width - 8) / LABEL_CHARACTER;
    size_t columns = text_columns(label);
    struct text_buffer *b = d->b;

    if (s->count > 1 || p->height < LABEL_HEIGHT_MIN || columns == 0 ||
        (double)columns > room - (s->first->late ? 2 : 0))
        return;
    text_addf(b, "<text%s",
              s->state == GANTT_DONE      ? " class=\"gp-done\""
              : s->state == GANTT_RUNNING ? " stroke=\"#1c2126\" stroke-width=\"2.5\" "
                                            "paint-order=\"stroke\""
                                          : "");
    print_attribute("x", p->x + p->width / 2, b);
    print_attribute("y", p->y + p->height / 2 + 4, b);
    text_add(b, ">", 1);
    gantt_print_text(label, b);
    text_addf(b, "</text>");
}

/* A part of a shape's place, from its left end. */
static void print_part(const struct place *p, double share, const char *look,
                       struct text_buffer *b)
{
    if (!(share > 0))
        return;
    text_addf(b, "<path %s d=\"M", look);
    print_length(p->x, b);
    text_add(b, " ", 1);
    print_length(p->y, b);
    text_add(b, "h", 1);
    print_length(p->width * fmin(1, share), b);
    text_add(b, "v", 1);
    print_length(p->height, b);
    text_add(b, "H", 1);
    print_length(p->x, b);
    text_addf(b, "z\"/>");
}

/* What lies over a bar: how far it is, what comes first, what it is. */
static void print_signs(const struct drawing *d, const struct shape *s,
                        const struct place *p)
{
    const struct gantt_bar *bar = s->first;
    double length_s = bar->finish_s - bar->start_s;
    struct text_buffer *b = d->b;
    char look[64];

    if (s->count > 1)
        return;
    if (s->state == GANTT_RUNNING) {
        snprintf(look, sizeof(look), "fill=\"%s\"", colours[s->colour]);
        print_part(p, bar->progress_ratio, look, b);
    }
    if (length_s > 0)
        print_part(p, bar->stage_in_s / length_s, "fill=\"#fff\" fill-opacity=\"0.45\"",
                   b);
    if (s->state == GANTT_RESERVED)
        print_part(p, 1, "fill=\"url(#gpx)\"", b);
    if (!bar->late || p->height < LABEL_HEIGHT_MIN || p->width < 12)
        return;
    text_addf(b, "<text class=\"gp-late\" font-weight=\"700\"");
    print_attribute("x", p->x + p->width - 6, b);
    print_attribute("y", p->y + p->height / 2 + 4, b);
    text_addf(b, ">!</text>");
}

static void print_shape(const struct drawing *d, const struct shape *s)
{
    struct place p = place_of(d, s);
    bool done = s->state == GANTT_DONE;
    struct text_buffer *b = d->b;

    text_addf(b, "<g>");
    print_tooltip(s, b);
    text_addf(b, "<rect");
    print_attribute("x", p.x, b);
    print_attribute("y", p.y, b);
    print_attribute("width", p.width > 3 ? p.width - 0.6 : p.width, b);
    print_attribute("height", p.height, b);
    if (p.height > 8 && p.width > 8)
        text_addf(b, " rx=\"3\"");
    if (done)
        text_addf(b, " fill=\"" DONE_COLOUR "\" fill-opacity=\"0.4\"");
    else
        print_fill(s->colour, b);
    if (s->count > 1 && !done)
        text_addf(b, " fill-opacity=\"0.75\"");
    else if (s->state == GANTT_RUNNING)
        text_addf(b, " fill-opacity=\"0.5\"");
    if (s->critical || s->first->late)
        text_addf(b, " stroke=\"" CRITICAL_COLOUR "\" stroke-width=\"%d\"",
                  s->critical ? 2 : 1);
    else if (s->state == GANTT_RUNNING)
        text_addf(b, " class=\"gp-ink\" stroke=\"#1c2126\" stroke-width=\"1.5\" "
                     "stroke-dasharray=\"4 2\"");
    text_addf(b, "/>");
    if (s->critical && s->state == GANTT_RUNNING) { /* both edges */
        text_addf(b,
                  "<path fill=\"none\" stroke=\"#fff\" stroke-dasharray=\"4 2\" d=\"M");
        print_length(p.x + 2, b);
        text_add(b, " ", 1);
        print_length(p.y + p.height - 2, b);
        text_add(b, "H", 1);
        print_length(p.x + p.width - 2, b);
        text_addf(b, "\"/>");
    }
    print_signs(d, s, &p);
    print_label(d, s, &p);
    text_addf(b, "</g>\n");
}

/* How the last input comes: a line below, up to where the bar may begin. */
static void print_transfer(const struct drawing *d, const struct shape *s)
{
    double from = x_of(d, fmax(d->from_s, s->first->transfer_from_s));
    double to = x_of(d, fmin(d->to_s, s->first->transfer_to_s));
    struct place p = place_of(d, s);

    if (d->view.no_transfers || s->count > 1 ||
        (d->has_critical_transfers_only && !s->critical) ||
        !(s->first->transfer_to_s > s->first->transfer_from_s) || !(to > from))
        return;
    text_addf(d->b, "<path stroke=\"" TRANSFER_COLOUR "\" stroke-width=\"%s\" d=\"M",
              p.height > 10 ? "3" : "1");
    print_length(from, d->b);
    text_add(d->b, " ", 1);
    print_length(p.y + p.height - 1.5, d->b);
    text_add(d->b, "H", 1);
    print_length(to, d->b);
    text_addf(d->b, "\"/>\n");
}

static void print_shapes(const struct drawing *d)
{
    for (size_t i = 0; i < d->shape_count; i++)
        print_transfer(d, &d->shapes[i]);
    text_addf(d->b, "<g font-size=\"11\" text-anchor=\"middle\" class=\"gp-in\">\n");
    for (size_t i = 0; i < d->shape_count; i++)
        print_shape(d, &d->shapes[i]);
    text_addf(d->b, "</g>\n");
}

/* Above the lanes: the share of all rows that is busy, over time. */
static void print_busy(const struct drawing *d)
{
    const struct gantt_summary *busy = &d->busy;
    double cell = d->width / (double)busy->cells, bottom = d->top - BUSY_GAP;
    struct text_buffer *b = d->b;

    text_addf(b, "<text x=\"%d\"", MARGIN);
    print_attribute("y", bottom - 4, b);
    text_addf(b, ">busy</text><path fill=\"" SHADE_COLOUR "\" fill-opacity=\"0.3\" "
                 "stroke=\"" SHADE_COLOUR "\" d=\"M");
    print_length(d->left, b);
    text_add(b, " ", 1);
    print_length(bottom, b);
    for (size_t c = 0; c < busy->cells; c++) {
        double rows = 0;

        for (size_t lane = 0; lane < busy->lane_count; lane++)
            rows += busy->share[lane * busy->cells + c] *
                    (double)gantt_summary_rows(d->chart, busy, lane);
        text_add(b, "V", 1);
        print_length(bottom - BUSY_HEIGHT * rows / (double)d->chart->row_count, b);
        text_add(b, "h", 1);
        print_length(cell, b);
    }
    text_add(b, "V", 1);
    print_length(bottom, b);
    text_addf(b, "z\"/>\n");
}

/* All cells of one shade, neighbours joined, as one path. */
static void print_shade(const struct drawing *d, unsigned shade)
{
    const struct gantt_summary *busy = &d->busy;
    double lane_height = d->height / (double)d->lane_count;
    double cell = d->width / (double)busy->cells;
    double pad = lane_height > 6 ? 1 : 0;
    struct text_buffer *b = d->b;

    text_addf(b, "<path fill=\"" SHADE_COLOUR "\" fill-opacity=\"%s\" d=\"",
              shade_opacities[shade - 1]);
    for (size_t lane = 0; lane < busy->lane_count; lane++)
        for (size_t c = 0, end; c < busy->cells; c = end) {
            const double *share = &busy->share[lane * busy->cells];

            end = c + 1;
            if (gantt_shade(share[c]) != shade)
                continue;
            while (end < busy->cells && gantt_shade(share[end]) == shade)
                end++;
            text_add(b, "M", 1);
            print_length(d->left + (double)c * cell, b);
            text_add(b, " ", 1);
            print_length(d->top + (double)lane * lane_height + pad, b);
            text_add(b, "h", 1);
            print_length((double)(end - c) * cell, b);
            text_add(b, "v", 1);
            print_length(lane_height - 2 * pad, b);
            text_add(b, "h-", 2);
            print_length((double)(end - c) * cell, b);
            text_add(b, "z", 1);
        }
    text_addf(b, "\"/>\n");
}

/* How the swatch of a sign looks. */
struct look {
    const char *fill, *opacity, *edge;
};

static struct look look_of(const struct legend *l)
{
    switch (l->sign) {
    case SIGN_SHADE:
        return (struct look){SHADE_COLOUR, shade_opacities[l->colour], ""};
    case SIGN_DONE:
        return (struct look){DONE_COLOUR, "0.4", ""};
    case SIGN_RESERVED:
        return (struct look){SHADE_COLOUR, "1", ""};
    case SIGN_STAGE_IN:
        return (struct look){SHADE_COLOUR, "0.55", ""};
    case SIGN_CRITICAL:
        return (struct look){"none", "1",
                             " stroke=\"" CRITICAL_COLOUR "\" stroke-width=\"2\""};
    case SIGN_LATE:
        return (struct look){"none", "1", " stroke=\"" CRITICAL_COLOUR "\""};
    case SIGN_RUNNING:
        return (struct look){"none", "1",
                             " class=\"gp-ink\" stroke=\"#1c2126\" "
                             "stroke-width=\"1.5\" stroke-dasharray=\"4 2\""};
    default:
        return (struct look){"none", "1", ""};
    }
}

static void print_swatch(const struct legend *l, double x, double y,
                         struct text_buffer *b)
{
    struct look look = look_of(l);

    if (l->sign == SIGN_TRANSFER) {
        text_addf(b, "<path stroke=\"" TRANSFER_COLOUR "\" stroke-width=\"3\" d=\"M");
        print_length(x, b);
        text_add(b, " ", 1);
        print_length(y + 5, b);
        text_addf(b, "h22\"/>");
        return;
    }
    for (int over = 0; over < (l->sign == SIGN_RESERVED ? 2 : 1); over++) {
        text_addf(b, "<path");
        if (over)
            text_addf(b, " fill=\"url(#gpx)\"");
        else if (l->sign == SIGN_KIND)
            print_fill(l->colour, b);
        else
            text_addf(b, " fill=\"%s\" fill-opacity=\"%s\"%s", look.fill, look.opacity,
                      look.edge);
        text_addf(b, " d=\"M");
        print_length(x, b);
        text_add(b, " ", 1);
        print_length(y, b);
        text_addf(b, "h22v10h-22z\"/>");
    }
}

static void print_legend(const struct drawing *d)
{
    double x = d->left, y = d->top + d->height + AXIS_HEIGHT + 2;
    struct text_buffer *b = d->b;

    for (size_t i = 0; i < d->legend_count; i++) {
        const struct legend *l = &d->legend[i];
        double width = legend_width(l);
        char text[168];

        if (x + width > d->view.width - MARGIN && x > d->left) {
            x = d->left;
            y += LEGEND_HEIGHT;
        }
        print_swatch(l, x, y, b);
        snprintf(text, sizeof(text), "%.*s", l->length < 160 ? (int)l->length : 160,
                 l->text);
        text_addf(b, "<text font-size=\"11\"");
        print_attribute("x", x + 27, b);
        print_attribute("y", y + 9, b);
        text_add(b, ">", 1);
        print_some(text, 40, b);
        text_addf(b, "</text>\n");
        x += width;
    }
}

static void print_marks(const struct drawing *d)
{
    struct text_buffer *b = d->b;

    for (size_t i = 0; i < d->chart->mark_count; i++) {
        const struct gantt_mark *m = &d->chart->marks[i];
        double x = isfinite(m->at_s) ? x_of(d, m->at_s) : -1;
        bool right = x > d->left + d->width * 0.8;

        if (x < d->left || x > d->left + d->width + 1)
            continue;
        text_addf(b, "<path stroke=\"#d1495b\" stroke-dasharray=\"4 3\" d=\"M");
        print_length(x, b);
        text_add(b, " ", 1);
        print_length(d->top - 12, b);
        text_add(b, "V", 1);
        print_length(d->top + d->height, b);
        text_addf(b, "\"/><text class=\"gp-mark\" font-size=\"11\"%s",
                  right ? " text-anchor=\"end\"" : "");
        print_attribute("x", right ? x - 4 : x + 4, b);
        print_attribute("y", d->top - 4, b);
        text_add(b, ">", 1);
        print_some(m->label, 60, b);
        text_addf(b, "</text>\n");
    }
}

static void print_notes(const struct drawing *d)
{
    double y = notes_top(d) + 12;

    for (size_t i = 0; i < d->note_count; i++, y += NOTE_HEIGHT) {
        text_addf(d->b, "<text x=\"%d\" font-style=\"italic\"", MARGIN);
        print_attribute("y", y, d->b);
        text_add(d->b, ">", 1);
        gantt_print_text(d->notes[i], d->b);
        text_addf(d->b, "</text>\n");
    }
}

/* Bars, or a summary of more than can be told apart. */
static enum error_code settle_shapes(struct drawing *d)
{
    find_prefixes(d);
    d->summary = d->view.mode == GANTT_SUMMARY ||
                 (d->view.mode == GANTT_AUTO && d->shape_count > GANTT_BARS_MAX);
    if (d->summary) {
        TRY(summarise(d));
        lay_out(d);
        return OK;
    }
    place_tracks(d);
    lay_out(d);
    squeeze_lanes(d);
    TRY(choose_colours(d));
    explain_signs(d);
    reduce(d);
    return OK;
}

enum error_code gantt_print(const struct gantt *chart, struct text_buffer *b,
                            struct error *err)
{
    struct drawing d = {.chart = chart,
                        .view = chart->view
                                    ? *chart->view
                                    : (struct gantt_view){.from_s = NAN, .to_s = NAN},
                        .b = b,
                        .arena = b->arena,
                        .err = err};

    if (!(d.view.width > 0))
        d.view.width = GANTT_WIDTH;
    TRY(take_bars(&d));
    TRY(settle_shapes(&d));
    write_notes(&d);
    if (err->code != OK)
        return err->code;
    print_head(&d);
    print_rows(&d);
    print_axis(&d);
    for (unsigned shade = 1; d.summary && shade <= GANTT_SHADES; shade++)
        print_shade(&d, shade);
    if (d.summary && chart->row_count)
        print_busy(&d);
    if (!d.summary) {
        print_patterns(&d);
        print_shapes(&d);
    }
    print_marks(&d);
    print_legend(&d);
    print_notes(&d);
    text_addf(b, "</svg>\n");
    text_end(b);
    return OK;
}
