/* failure_trace_fuzz.c - any bytes as a failure log, in either format.
 *
 * The first byte says which format, and how long the pieces are.
 */
#include "models/failure_trace.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct seen {
    uint64_t count, open, hash;
};

static void add_text(struct seen *seen, const char *text)
{
    if (text && !line_is_printable(text, strlen(text)))
        abort();
    for (; text && *text; text++)
        seen->hash = seen->hash * 1099511628211U + (unsigned char)*text;
    seen->hash = seen->hash * 31 + 1;
}

static enum error_code on_failure(void *context, const struct failure *f,
                                  struct error *err)
{
    struct seen *seen = context;

    (void)err;
    if (!f->resource_id || !*f->resource_id ||
        strlen(f->resource_id) > FAILURE_TRACE_ID_MAX || !isfinite(f->down_at_s) ||
        f->up_at_s < f->down_at_s || isinf(f->up_at_s))
        abort();
    add_text(seen, f->resource_id);
    add_text(seen, f->cause);
    add_text(seen, f->component);
    seen->open += isnan(f->up_at_s) ? 1 : 0;
    seen->count++;
    return OK;
}

static struct failure_trace_counts read_in(enum failure_trace_format format,
                                           const uint8_t *data, size_t size, size_t piece,
                                           struct seen *seen)
{
    static struct failure_trace_reader r;
    struct error err = {0};

    failure_trace_open(&r, format, 3600, on_failure, seen);
    for (size_t at = 0; at < size; at += piece) {
        size_t length = size - at < piece ? size - at : piece;

        if (failure_trace_feed(&r, (const char *)data + at, length, &err) != OK)
            abort();
    }
    if (failure_trace_end(&r, &err) != OK)
        abort();
    return r.counts;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen whole = {0}, parts = {0};
    struct failure_trace_counts x, y;
    enum failure_trace_format format;
    uint64_t refused = 0;

    if (size == 0)
        return 0;
    format = (enum failure_trace_format)(data[0] % FAILURE_TRACE_FORMAT_COUNT);
    x = read_in(format, data + 1, size - 1, size, &whole);
    y = read_in(format, data + 1, size - 1, 1 + data[0] / 2 % 64, &parts);
    if (memcmp(&whole, &parts, sizeof(whole)) != 0 || x.lines != y.lines ||
        memcmp(x.refused_by, y.refused_by, sizeof(x.refused_by)) != 0)
        abort();
    for (size_t i = 0; i < FAILURE_TRACE_REFUSAL_COUNT; i++)
        refused += x.refused_by[i];
    if (refused != x.refused || x.failures != whole.count || x.open != whole.open ||
        x.lines < x.failures + x.refused + x.up)
        abort();
    return 0;
}
