/* swf.c - job logs in the Standard Workload Format 2.2. */
#include "models/swf.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t column_offsets[SWF_COLUMN_COUNT] = {
#define X(name, doc) offsetof(struct swf_job, name),
    SWF_COLUMNS(X)
#undef X
};

const char *const swf_skip_names[] = {
#define X(symbol, name, doc) #name,
    SWF_SKIPS(X)
#undef X
        NULL,
};

static const struct {
    const char *name;
    size_t offset;
} header_rows[] = {
    {"Version", offsetof(struct swf_header, version)},
    {"MaxJobs", offsetof(struct swf_header, max_jobs)},
    {"MaxRecords", offsetof(struct swf_header, max_records)},
    {"UnixStartTime", offsetof(struct swf_header, unix_start_at_s)},
    {"TimeZone", offsetof(struct swf_header, time_zone_s)},
    {"MaxNodes", offsetof(struct swf_header, max_nodes)},
    {"MaxProcs", offsetof(struct swf_header, max_procs)},
};
enum { HEADER_ROWS = sizeof(header_rows) / sizeof(header_rows[0]) };

static double *member(void *of, size_t offset)
{
    return (double *)(void *)((char *)of + offset);
}

static double value(const void *of, size_t offset)
{
    return *(const double *)(const void *)((const char *)of + offset);
}

/* ---- reading ---- */

static struct swf_header no_header(void)
{
    struct swf_header h = {0};

    for (size_t i = 0; i < HEADER_ROWS; i++)
        *member(&h, header_rows[i].offset) = (double)NAN;
    return h;
}

/* "; Name: value"; what is no field that we know, or no number, says nothing. Of a
 * field that comes twice the first counts. */
static void read_comment(struct swf_header *header, const struct line *line)
{
    char *name = line->text + strspn(line->text, "; \t");
    char *colon = strchr(name, ':'), *text;
    size_t length;

    if (line->too_long || !colon)
        return;
    *colon = 0;
    text = colon + 1 + strspn(colon + 1, " \t");
    length = strlen(text);
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        text[--length] = 0;
    if (strcmp(name, "Computer") == 0 && !header->computer[0] &&
        length < sizeof(header->computer) && line_is_printable(text, length))
        memcpy(header->computer, text, length + 1);
    for (size_t i = 0; i < HEADER_ROWS; i++) {
        double *to = member(header, header_rows[i].offset);

        if (strcmp(name, header_rows[i].name) == 0 && isnan(*to))
            line_number(text, to);
    }
}

static void skip(struct swf_reader *r, const struct line *line, enum swf_skip reason)
{
    struct swf_counts *c = &r->counts;

    c->skipped++;
    c->skipped_by[reason]++;
    if (c->issue_count < SWF_ISSUES_MAX)
        c->issues[c->issue_count++] = (struct swf_issue){line->number, reason};
}

/* Negative numbers stand for what is not known; so do some wild ones in real logs. Nor is
 * a job called by a fraction. */
static bool read_columns(char **fields, struct swf_job *job)
{
    for (size_t i = 0; i < SWF_COLUMN_COUNT; i++) {
        double number;

        if (!line_number(fields[i], &number))
            return false;
        *member(job, column_offsets[i]) = number < 0 ? (double)NAN : number;
    }
    if (job->number != floor(job->number))
        job->number = (double)NAN;
    return true;
}

static enum error_code on_job(struct swf_reader *r, const struct line *line,
                              const struct swf_job *job, struct error *err)
{
    if (isnan(job->submit_s)) {
        skip(r, line, SWF_SKIP_NO_ARRIVAL);
        return OK;
    }
    if (isnan(job->run_s)) {
        skip(r, line, SWF_SKIP_NO_RUN_TIME);
        return OK;
    }
    if (!(swf_processors(job) >= 1)) {
        skip(r, line, SWF_SKIP_NO_PROCESSORS);
        return OK;
    }
    if (job->submit_s < r->latest_submit_s && r->counts.unsorted++ == 0)
        r->counts.first_unsorted_line = line->number;
    r->latest_submit_s = fmax(r->latest_submit_s, job->submit_s);
    r->counts.jobs++;
    return r->sink(r->context, job, err);
}

static enum error_code on_line(void *context, const struct line *line, struct error *err)
{
    struct swf_reader *r = context;
    const char *text = line->text + strspn(line->text, " \t\r");
    char *fields[SWF_COLUMN_COUNT];
    struct swf_job job;
    size_t count;

    r->counts.lines++;
    if (*text == ';') {
        r->counts.comments++;
        read_comment(&r->header, line);
        return OK;
    }
    if (line->too_long) {
        skip(r, line, SWF_SKIP_TOO_LONG);
        return OK;
    }
    if (strlen(line->text) != line->length) {
        skip(r, line, SWF_SKIP_NOT_A_NUMBER);
        return OK;
    }
    count = line_fields(line->text, fields, SWF_COLUMN_COUNT);
    if (count == 0)
        return OK;
    if (count < SWF_COLUMN_COUNT) {
        skip(r, line, line->ended ? SWF_SKIP_TOO_FEW_COLUMNS : SWF_SKIP_CUT_LINE);
        return OK;
    }
    if (!read_columns(fields, &job)) {
        skip(r, line, line->ended ? SWF_SKIP_NOT_A_NUMBER : SWF_SKIP_CUT_LINE);
        return OK;
    }
    return on_job(r, line, &job, err);
}

void swf_reader_open(struct swf_reader *r, swf_sink_fn *sink, void *context)
{
    line_reader_open(&r->lines);
    r->sink = sink;
    r->context = context;
    r->header = no_header();
    r->counts = (struct swf_counts){0};
    r->latest_submit_s = 0;
}

enum error_code swf_reader_feed(struct swf_reader *r, const char *bytes, size_t length,
                                struct error *err)
{
    return line_reader_feed(&r->lines, bytes, length, on_line, r, err);
}

enum error_code swf_reader_end(struct swf_reader *r, struct error *err)
{
    return line_reader_end(&r->lines, on_line, r, err);
}

enum error_code swf_log_add(void *context, const struct swf_job *job, struct error *err)
{
    struct swf_log *log = context;

    (void)err;
    if (log->count == log->room) {
        size_t room = log->room ? 2 * log->room : 256;
        struct swf_job *jobs =
            GROW(log->arena, log->jobs, struct swf_job, log->count, room);

        log->jobs = jobs;
        log->room = room;
    }
    log->jobs[log->count++] = *job;
    return OK;
}

struct arrival {
    double submit_s;
    size_t index;
};

static int compare_arrivals(const void *left, const void *right)
{
    const struct arrival *l = left, *r = right;

    if (l->submit_s != r->submit_s)
        return l->submit_s < r->submit_s ? -1 : 1;
    return l->index < r->index ? -1 : l->index > r->index;
}

void swf_log_sort(struct swf_log *log)
{
    struct arrival *order = NEW(log->arena, struct arrival, log->count);
    struct swf_job *jobs = NEW(log->arena, struct swf_job, log->count);

    for (size_t i = 0; i < log->count; i++)
        order[i] = (struct arrival){log->jobs[i].submit_s, i};
    qsort(order, log->count, sizeof(*order), compare_arrivals);
    for (size_t i = 0; i < log->count; i++)
        jobs[i] = log->jobs[order[i].index];
    log->jobs = jobs;
    log->room = log->count;
}

/* Jobs that a text may have: a job has 18 columns with something between them. So what
 * is grown by doubling does not take three times what it needs. */
static size_t room_for(const char *text, size_t length)
{
    size_t lines = 1, most = length / (2 * SWF_COLUMN_COUNT) + 1;

    for (const char *end = text + length; text && lines < most; lines++) {
        text = memchr(text, '\n', (size_t)(end - text));
        text = text ? text + 1 : NULL;
    }
    return lines < most ? lines : most;
}

enum error_code swf_read(const char *text, size_t length, struct swf_log *log,
                         struct swf_header *header, struct swf_counts *counts,
                         struct arena *a, struct error *err)
{
    struct swf_log read = {.arena = a, .room = room_for(text, length)};
    struct swf_reader reader;

    read.jobs = NEW(a, struct swf_job, read.room);
    swf_reader_open(&reader, swf_log_add, &read);
    TRY(swf_reader_feed(&reader, text, length, err));
    TRY(swf_reader_end(&reader, err));
    if (reader.counts.unsorted)
        swf_log_sort(&read);
    *log = read;
    *header = reader.header;
    *counts = reader.counts;
    return OK;
}

double swf_processors(const struct swf_job *job)
{
    return job->requested_processors >= 1 ? job->requested_processors : job->processors;
}

double swf_estimate_s(const struct swf_job *job)
{
    return fmax(job->requested_s, job->run_s);
}

/* ---- writing ---- */

/* The shortest of 15 and 17 digits that reads back the same. */
static const char *print_number(double number, char *buffer, size_t size)
{
    if (isnan(number))
        return "-1";
    snprintf(buffer, size, "%.15g", number);
    if (strtod(buffer, NULL) != number)
        snprintf(buffer, size, "%.17g", number);
    return buffer;
}

size_t swf_print_job(const struct swf_job *job, char *buffer, size_t size)
{
    size_t used = 0;

    assert(size >= SWF_LINE_BYTES);
    for (size_t i = 0; i < SWF_COLUMN_COUNT; i++) {
        char number[32];
        const char *text =
            print_number(value(job, column_offsets[i]), number, sizeof(number));

        used += (size_t)snprintf(buffer + used, size - used, "%s%s", i ? " " : "", text);
    }
    return used;
}

size_t swf_print_header(const struct swf_header *header, char *buffer, size_t size)
{
    size_t used = 0;

    assert(size >= 1024);
    buffer[0] = 0;
    for (size_t i = 0; i < HEADER_ROWS; i++) {
        double number = value(header, header_rows[i].offset);
        char text[32];

        if (!isnan(number))
            used += (size_t)snprintf(buffer + used, size - used, "; %s: %s\n",
                                     header_rows[i].name,
                                     print_number(number, text, sizeof(text)));
        if (i == 0 && header->computer[0])
            used += (size_t)snprintf(buffer + used, size - used, "; Computer: %s\n",
                                     header->computer);
    }
    return used;
}
