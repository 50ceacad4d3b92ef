/* failure_trace.c - failure logs of other projects. */
#include "models/failure_trace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A row, or why there is none. */
struct row {
    struct failure failure;
    bool is_failure;
    char id[FAILURE_TRACE_ID_MAX + 1];
};

#define NOT_REFUSED FAILURE_TRACE_REFUSAL_COUNT

const char *const failure_trace_format_names[] = {
#define X(symbol, name, doc) #name,
    FAILURE_TRACE_FORMATS(X)
#undef X
        NULL,
};

const char *const failure_trace_refusal_names[] = {
#define X(symbol, name, doc) #name,
    FAILURE_TRACE_REFUSALS(X)
#undef X
        NULL,
};

/* ---- LANL ---- */

enum { LANL_COLUMNS = 26, LANL_CATEGORIES = 6, CLOCK_CHANGE_S = 3600 };
enum {
    LANL_SYSTEM = 0,
    LANL_NODE = 6,
    LANL_STARTED = 16,
    LANL_FIXED = 17,
    LANL_DOWN_MIN = 18,
    LANL_FIRST_CATEGORY = 19,
};

static const char *const lanl_causes[LANL_CATEGORIES] = {
    "facilities", "hardware", "human_error", "network", "undetermined", "software",
};

/* Days from 1970-01-01 in the Gregorian calendar; the year begins in March, so that
 * the leap day is its last. */
static int days_of(int year, int month, int day)
{
    int y = month > 2 ? year : year - 1;
    int m = month > 2 ? month - 3 : month + 9;

    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static int month_length(int year, int month)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return lengths[month - 1] + (leap && month == 2);
}

/* A number of `most` digits at most, and the character behind it. */
static bool digits(const char **text, size_t most, char behind, int *number)
{
    size_t length = strspn(*text, "0123456789");

    if (length == 0 || length > most || (*text)[length] != behind)
        return false;
    *number = 0;
    for (size_t i = 0; i < length; i++)
        *number = 10 * *number + ((*text)[i] - '0');
    *text += length + (behind != 0);
    return true;
}

/* "m/d/yyyy h:mm". */
static bool lanl_time(const char *text, double *at_s)
{
    int month, day, year, hour, minute;

    if (!digits(&text, 2, '/', &month) || !digits(&text, 2, '/', &day) ||
        !digits(&text, 4, ' ', &year) || !digits(&text, 2, ':', &hour) ||
        !digits(&text, 2, 0, &minute))
        return false;
    if (month < 1 || month > 12 || year < 1900 || day < 1 ||
        day > month_length(year, month) || hour > 23 || minute > 59)
        return false;
    *at_s = 86400.0 * days_of(year, month, day) + 3600 * hour + 60 * minute;
    return true;
}

/* Down Time, else Prob Fixed, else open. An end before the begin by more than a change
 * of clocks explains is a mistake, whatever Down Time says. */
static enum failure_trace_refusal lanl_end(char **cells, struct failure *f)
{
    double fixed_s = (double)NAN, down_min;
    const char *down = cells[LANL_DOWN_MIN];

    if (*cells[LANL_FIXED] && !lanl_time(cells[LANL_FIXED], &fixed_s))
        return FAILURE_TRACE_REFUSED_BAD_TIME;
    if (!*down) {
        f->up_at_s = fixed_s;
        return fixed_s < f->down_at_s ? FAILURE_TRACE_REFUSED_UP_BEFORE_DOWN
                                      : NOT_REFUSED;
    }
    if (!line_number(down, &down_min))
        return FAILURE_TRACE_REFUSED_BAD_NUMBER;
    if (down_min < 0 || fixed_s < f->down_at_s - CLOCK_CHANGE_S)
        return FAILURE_TRACE_REFUSED_UP_BEFORE_DOWN;
    f->up_at_s = f->down_at_s + 60 * down_min;
    return NOT_REFUSED;
}

static bool is_whole(const char *text)
{
    size_t length = strspn(text, "0123456789");

    return length > 0 && length <= 9 && !text[length];
}

static enum failure_trace_refusal lanl_row(struct line *line, struct row *row)
{
    char *cells[LANL_COLUMNS];
    size_t count = line_cells(line->text, cells, LANL_COLUMNS);
    struct failure *f = &row->failure;
    enum failure_trace_refusal end;

    if (count != LANL_COLUMNS)
        return FAILURE_TRACE_REFUSED_COLUMNS;
    row->is_failure = strcasecmp(cells[LANL_SYSTEM], "System") != 0;
    if (!row->is_failure)
        return NOT_REFUSED;
    if (!is_whole(cells[LANL_SYSTEM]) || !is_whole(cells[LANL_NODE]))
        return FAILURE_TRACE_REFUSED_NO_RESOURCE;
    snprintf(row->id, sizeof(row->id), "%s.%s", cells[LANL_SYSTEM], cells[LANL_NODE]);
    f->resource_id = row->id;
    if (!*cells[LANL_STARTED])
        return FAILURE_TRACE_REFUSED_NO_BEGIN;
    if (!lanl_time(cells[LANL_STARTED], &f->down_at_s))
        return FAILURE_TRACE_REFUSED_BAD_TIME;
    end = lanl_end(cells, f);
    for (size_t i = 0; i < LANL_CATEGORIES && !f->cause; i++) {
        if (*cells[LANL_FIRST_CATEGORY + i]) {
            f->cause = lanl_causes[i];
            f->component = cells[LANL_FIRST_CATEGORY + i];
        }
    }
    return end;
}

/* ---- Failure Trace Archive ---- */

enum {
    FTA_COMPONENT = 1,
    FTA_NODE = 2,
    FTA_NAME = 4,
    FTA_TYPE = 5,
    FTA_START = 6,
    FTA_STOP = 7,
    FTA_REASON = 8,
    FTA_COLUMNS = 9,
};

static bool is_null(const char *text)
{
    return strcasecmp(text, "NULL") == 0;
}

static bool is_header(char **fields, size_t count)
{
    return count > 0 && (fields[0][0] == '#' || strcmp(fields[0], "event_id") == 0);
}

static enum failure_trace_refusal fta_times(char **fields, struct failure *f)
{
    if (is_null(fields[FTA_START]))
        return FAILURE_TRACE_REFUSED_NO_BEGIN;
    if (!line_number(fields[FTA_START], &f->down_at_s))
        return FAILURE_TRACE_REFUSED_BAD_TIME;
    f->up_at_s = (double)NAN;
    if (is_null(fields[FTA_STOP]) || strcmp(fields[FTA_STOP], "-1") == 0)
        return NOT_REFUSED;
    if (!line_number(fields[FTA_STOP], &f->up_at_s))
        return FAILURE_TRACE_REFUSED_BAD_TIME;
    return f->up_at_s < f->down_at_s ? FAILURE_TRACE_REFUSED_UP_BEFORE_DOWN : NOT_REFUSED;
}

static enum failure_trace_refusal fta_row(struct line *line, struct row *row)
{
    char *fields[FTA_COLUMNS];
    size_t count = line_fields(line->text, fields, FTA_COLUMNS);
    struct failure *f = &row->failure;
    const char *name;
    enum failure_trace_refusal why;

    if (count == 0 || is_header(fields, count))
        return NOT_REFUSED;
    if (count < FTA_COLUMNS - 1 || count > FTA_COLUMNS) /* the reason may be missing */
        return FAILURE_TRACE_REFUSED_COLUMNS;
    name = is_null(fields[FTA_NAME]) ? fields[FTA_NODE] : fields[FTA_NAME];
    if (is_null(name) || strlen(name) > FAILURE_TRACE_ID_MAX)
        return FAILURE_TRACE_REFUSED_NO_RESOURCE;
    if (strcmp(fields[FTA_TYPE], "0") != 0 && strcmp(fields[FTA_TYPE], "1") != 0)
        return FAILURE_TRACE_REFUSED_BAD_TYPE;
    why = fta_times(fields, f);
    if (why != NOT_REFUSED)
        return why;
    row->is_failure = fields[FTA_TYPE][0] == '0';
    f->resource_id = name;
    if (count == FTA_COLUMNS && !is_null(fields[FTA_REASON]))
        f->cause = fields[FTA_REASON];
    if (!is_null(fields[FTA_COMPONENT]) && strcmp(fields[FTA_COMPONENT], "0") != 0)
        f->component = fields[FTA_COMPONENT];
    return NOT_REFUSED;
}

/* ---- both ---- */

static void refuse(struct failure_trace_reader *r, const struct line *line,
                   enum failure_trace_refusal reason)
{
    struct failure_trace_counts *c = &r->counts;

    c->refused++;
    c->refused_by[reason]++;
    if (c->issue_count < FAILURE_TRACE_ISSUES_MAX)
        c->issues[c->issue_count++] = (struct failure_trace_issue){line->number, reason};
}

/* A tab counts as a blank here. */
static bool is_text(char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\t')
            text[i] = ' ';
    return line_is_printable(text, length);
}

static enum error_code on_line(void *context, const struct line *given, struct error *err)
{
    struct failure_trace_reader *r = context;
    struct line line = *given;
    struct row row = {.is_failure = false};
    enum failure_trace_refusal why;

    r->counts.lines++;
    if (line.too_long) {
        refuse(r, &line, FAILURE_TRACE_REFUSED_TOO_LONG);
        return OK;
    }
    if (!is_text(line.text, line.length)) {
        refuse(r, &line, FAILURE_TRACE_REFUSED_NOT_TEXT);
        return OK;
    }
    if (strspn(line.text, " ") == line.length)
        return OK;
    why = r->format == FAILURE_TRACE_FTA ? fta_row(&line, &row) : lanl_row(&line, &row);
    if (why != NOT_REFUSED) {
        refuse(r, &line, why);
        return OK;
    }
    if (!row.is_failure) {
        r->counts.up += row.failure.resource_id != NULL;
        return OK;
    }
    if (r->format == FAILURE_TRACE_LANL_CFDR) {
        row.failure.down_at_s -= r->utc_offset_s;
        row.failure.up_at_s -= r->utc_offset_s;
    }
    r->counts.failures++;
    r->counts.open += isnan(row.failure.up_at_s) ? 1 : 0;
    return r->sink(r->context, &row.failure, err);
}

void failure_trace_open(struct failure_trace_reader *r, enum failure_trace_format format,
                        double utc_offset_s, failure_sink_fn *sink, void *context)
{
    line_reader_open(&r->lines);
    r->format = format;
    r->utc_offset_s = utc_offset_s;
    r->sink = sink;
    r->context = context;
    r->counts = (struct failure_trace_counts){0};
}

enum error_code failure_trace_feed(struct failure_trace_reader *r, const char *bytes,
                                   size_t length, struct error *err)
{
    return line_reader_feed(&r->lines, bytes, length, on_line, r, err);
}

enum error_code failure_trace_end(struct failure_trace_reader *r, struct error *err)
{
    return line_reader_end(&r->lines, on_line, r, err);
}

/* NULL stays NULL. */
static const char *copy_text(struct arena *a, const char *text)
{
    return text ? arena_text(a, text, strlen(text)) : NULL;
}

enum error_code failure_log_add(void *context, const struct failure *failure,
                                struct error *err)
{
    struct failure_log *log = context;
    struct failure copy = *failure;

    (void)err;
    if (log->count == log->room) {
        size_t room = log->room ? 2 * log->room : 256;
        struct failure *failures =
            GROW(log->arena, log->failures, struct failure, log->count, room);

        log->failures = failures;
        log->room = room;
    }
    copy.resource_id = copy_text(log->arena, failure->resource_id);
    copy.cause = copy_text(log->arena, failure->cause);
    copy.component = copy_text(log->arena, failure->component);
    log->failures[log->count++] = copy;
    return OK;
}

enum error_code failure_trace_read(enum failure_trace_format format, const char *text,
                                   size_t length, double utc_offset_s,
                                   struct failure_log *log,
                                   struct failure_trace_counts *counts, struct arena *a,
                                   struct error *err)
{
    struct failure_log read = {.arena = a};
    struct failure_trace_reader reader;

    failure_trace_open(&reader, format, utc_offset_s, failure_log_add, &read);
    TRY(failure_trace_feed(&reader, text, length, err));
    TRY(failure_trace_end(&reader, err));
    *log = read;
    *counts = reader.counts;
    return OK;
}
