/* import.c - how long reading a workflow of 100,000 tasks takes, and how much memory.
 *
 * The document is as dense as WfFormat can be: no white space, short names, so that the
 * memory for each of its bytes is as large as it gets. It is read as it comes, and as a
 * body is: as a member of a JSON request, once as an object, once as a string.
 */
#include "handlers/workflow/workflow_import.h"
#include "tests/bench/bench.h"

#define ARENA_BYTES ((size_t)4 << 30)

enum { TASKS = 100000, LAYER = 100 };

struct import_body {
    struct workflow_import_request import;
};

static const struct json_field request_rows[] = {
    WORKFLOW_IMPORT_ROWS(struct import_body),
    {0},
};
static const struct json_object request_json = {"ImportRequest", "",
                                                sizeof(struct import_body), request_rows};

/* "PREFIX123" of two tasks of the layer before. */
static void add_names(struct text_buffer *b, char prefix, size_t i)
{
    size_t above = i - LAYER, beside = i % LAYER ? above - 1 : above + 1;

    if (i >= LAYER)
        text_addf(b, "\"%c%zu\",\"%c%zu\"", prefix, above, prefix, beside);
}

/* Layers of tasks; each task reads what two of the layer before wrote. */
static void add_task(struct text_buffer *b, size_t i)
{
    text_addf(b, "%s{\"name\":\"t\",\"id\":\"t%zu\",\"parents\":[", i ? "," : "", i);
    add_names(b, 't', i);
    text_addf(b, "],\"children\":[],\"inputFiles\":[");
    add_names(b, 'f', i);
    text_addf(b, "],\"outputFiles\":[\"f%zu\"]}", i);
}

static void print_document(struct text_buffer *b)
{
    text_addf(b, "{\"workflow\":{\"specification\":{\"tasks\":[");
    for (size_t i = 0; i < TASKS; i++)
        add_task(b, i);
    text_addf(b, "],\"files\":[");
    for (size_t i = 0; i < TASKS; i++)
        text_addf(b, "%s{\"id\":\"f%zu\",\"sizeInBytes\":%zu}", i ? "," : "", i,
                  1000 + i);
    text_addf(b, "]},\"execution\":{\"tasks\":[");
    for (size_t i = 0; i < TASKS; i++)
        text_addf(b, "%s{\"id\":\"t%zu\",\"runtimeInSeconds\":%zu}", i ? "," : "", i,
                  1 + i % 97);
    text_addf(b, "]}}}");
    if (b->failed)
        bench_stop("no memory for the document");
}

static void report(const char *what, double began_s, const struct arena *a, size_t length,
                   const struct workflow_import *out, enum error_code code,
                   const struct error *err)
{
    double ratio = (double)arena_used_bytes(a) / (double)length;

    if (code != OK || out->task_count != TASKS)
        bench_stop("%s: %s", what, err->text);
    bench_row(what, "under 20 times its size", ratio < 20 ? BENCH_MET : BENCH_MISSED,
              "%.2f s, %.1f MB for %.1f MB: %.1f times", bench_now_s() - began_s,
              (double)arena_used_bytes(a) / 1e6, (double)length / 1e6, ratio);
}

static void measure_text(const char *text, size_t length)
{
    struct arena *a = arena_create(ARENA_BYTES);
    struct error err = {.arena = a};
    struct workflow_import out = {0};
    double began_s = bench_now_s();
    enum error_code code =
        workflow_import_text(WORKFLOW_WFFORMAT, text, length, "", &out, a, &err);

    report("WfFormat of 100,000 tasks, the reader alone", began_s, a, length, &out, code,
           &err);
    arena_close(a);
}

static void measure_body(const char *what, const char *text, size_t length,
                         bool as_string)
{
    struct arena *a = arena_create(ARENA_BYTES);
    struct error err = {.arena = a};
    struct text_buffer body = {.arena = a};
    struct workflow_import out = {0};
    struct import_body request = {0};
    double began_s = bench_now_s();
    enum error_code code;

    text_addf(&body, "{\"wfformat\":");
    if (as_string)
        json_print_text(text, &body);
    else
        text_add(&body, text, length);
    text_addf(&body, "}");
    code = body.failed ? fail_memory(&err)
                       : json_read(&request_json, body.data, body.length, &request, NULL,
                                   a, &err);
    if (code == OK)
        code = workflow_import_read(&request.import, &out, a, &err);
    report(what, began_s, a, length, &out, code, &err);
    arena_close(a);
}

int main(void)
{
    struct arena *a = arena_create(ARENA_BYTES);
    struct text_buffer b = {.arena = a};

    if (!a)
        bench_stop("no memory");
    print_document(&b);
    measure_text(b.data, b.length);
    measure_body("... as the body", b.data, b.length, true);
    measure_body("... as an object in a JSON body", b.data, b.length, false);
    arena_close(a);
    return 0;
}
