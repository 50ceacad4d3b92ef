/* swf_fuzz.c - any bytes as a job log: nothing is lost, nothing depends on pieces.
 *
 * The first byte says how long the pieces are.
 */
#include "models/swf.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct seen {
    size_t count;
    struct swf_log log;
};

/* Usable as swf.h says, and written so that it reads back the same. */
static enum error_code on_job(void *context, const struct swf_job *job, struct error *err)
{
    struct seen *seen = context;
    char line[SWF_LINE_BYTES];
    size_t length = swf_print_job(job, line, sizeof(line));

    if (!(job->submit_s >= 0) || !(job->run_s >= 0) || !(swf_processors(job) >= 1) ||
        !isfinite(swf_estimate_s(job)))
        abort();
    if (length + 1 >= sizeof(line) || strlen(line) != length)
        abort();
    seen->count++;
    return seen->log.arena ? swf_log_add(&seen->log, job, err) : OK;
}

static struct swf_counts read_in(const uint8_t *data, size_t size, size_t piece,
                                 struct seen *seen)
{
    static struct swf_reader r;
    struct error err = {0};
    char header[1024];

    swf_reader_open(&r, on_job, seen);
    for (size_t at = 0; at < size; at += piece) {
        size_t length = size - at < piece ? size - at : piece;

        if (swf_reader_feed(&r, (const char *)data + at, length, &err) != OK)
            abort();
    }
    if (swf_reader_end(&r, &err) != OK)
        abort();
    if (swf_print_header(&r.header, header, sizeof(header)) >= sizeof(header))
        abort();
    return r.counts;
}

static void check_counts(const struct swf_counts *c, size_t size)
{
    uint64_t skipped = 0;

    for (size_t i = 0; i < SWF_SKIP_COUNT; i++)
        skipped += c->skipped_by[i];
    if (skipped != c->skipped || c->issue_count > SWF_ISSUES_MAX ||
        c->unsorted > c->jobs || (c->unsorted > 0) != (c->first_unsorted_line > 0) ||
        c->lines < c->jobs + c->skipped + c->comments || c->lines > size)
        abort();
}

/* What was printed reads back as the same jobs. */
static void round_trip(const struct swf_log *log)
{
    struct swf_log again = {.arena = log->arena};
    struct seen seen = {.log = again};

    for (size_t i = 0; i < log->count; i++) {
        char line[SWF_LINE_BYTES];
        size_t length = swf_print_job(&log->jobs[i], line, sizeof(line)), before;

        before = seen.count;
        read_in((const uint8_t *)line, length, length, &seen);
        if (seen.count != before + 1)
            abort();
    }
    for (size_t i = 0; i < seen.log.count; i++) {
        char x[SWF_LINE_BYTES], y[SWF_LINE_BYTES];

        swf_print_job(&log->jobs[i], x, sizeof(x));
        swf_print_job(&seen.log.jobs[i], y, sizeof(y));
        if (strcmp(x, y) != 0)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_create(64 * 1024 * 1024);
    struct seen whole = {.log.arena = a}, parts = {0};
    struct swf_counts x, y;

    if (!a || size == 0) {
        arena_close(a);
        return 0;
    }
    x = read_in(data + 1, size - 1, size, &whole);
    y = read_in(data + 1, size - 1, 1 + data[0] % 64, &parts);
    check_counts(&x, size);
    if (whole.count != parts.count || whole.count != x.jobs || x.skipped != y.skipped ||
        x.lines != y.lines)
        abort();
    round_trip(&whole.log);
    arena_close(a);
    return 0;
}
