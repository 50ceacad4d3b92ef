/* execution_trace.c - trace files of Nextflow as executions. */
#include "handlers/engines/execution_trace.h"

#include "models/base/plural.h"
#include "models/nextflow.h"
#include "service/json_scan.h"

#include <math.h>
#include <string.h>

const char *const trace_formats[] = {"nextflow_trace", NULL};

/* How many rows of a kind there are, and the line of the first. */
struct seen {
    uint64_t count, first_line;
};

struct reading {
    struct nextflow_trace trace;
    const struct trace_query *query;
    struct trace_rows *out;
    size_t room;
    struct seen not_run, no_run_time, guessed;
    struct error refused;
    struct arena *a;
};

static void check_query(const struct trace_query *query, struct error *err)
{
    if (query->format < 0)
        invalid(err, "?/format", ITEM_REQUIRED,
                "what the file is must be said: format=nextflow_trace");
    if (!query->application_id)
        invalid(err, "?/application_id", ITEM_REQUIRED, "the name of the workflow");
    if (!query->run_id)
        invalid(err, "?/run_id", ITEM_REQUIRED, "the name of the run");
}

static void see(struct reading *r, struct seen *s)
{
    if (s->count++ == 0)
        s->first_line = r->trace.line;
}

static void refuse(struct reading *r, const char *member, const char *cell)
{
    char pointer[64] = "/";

    strncat(pointer, member, sizeof(pointer) - 2);
    if (*member)
        invalid(&r->refused, pointer, ITEM_MALFORMED,
                "'%.60s' is not what the column has", cell);
    else
        invalid(&r->refused, "", ITEM_MALFORMED, "%s", cell);
    error_at_line(&r->refused, r->trace.line);
    r->out->refused_count++;
}

static struct execution *add_run(struct reading *r)
{
    struct trace_rows *out = r->out;

    if (out->count == r->room) {
        size_t room = r->room ? 2 * r->room : 256;

        out->runs = r->room ? GROW(r->a, out->runs, struct execution, r->room, room)
                            : NEW(r->a, struct execution, room);
        out->lines = r->room ? GROW(r->a, out->lines, uint64_t, r->room, room)
                             : NEW(r->a, uint64_t, room);
        r->room = room;
    }
    out->lines[out->count] = r->trace.line;
    return &out->runs[out->count];
}

static void take_task(struct reading *r, const struct nextflow_task *task)
{
    struct execution *run = add_run(r);
    bool guessed = false;

    if (!task->task_id) {
        refuse(r, r->trace.named_by, "-");
        return;
    }
    switch (nextflow_execution(task, r->query->application_id, r->query->run_id, run,
                               &guessed, r->a)) {
    case NEXTFLOW_COUNTS:
        r->out->count++;
        if (guessed)
            see(r, &r->guessed);
        break;
    case NEXTFLOW_NOT_RUN:
        see(r, &r->not_run);
        break;
    case NEXTFLOW_NO_RUN_TIME:
        see(r, &r->no_run_time);
        break;
    }
}

static void warn(struct reading *r, const char *code, const struct seen *s,
                 const char *text)
{
    if (s->count > 0)
        r->out->warnings[r->out->warning_count++] =
            arena_printf(r->a, "%s: %llu row%s (first in line %llu) %s", code,
                         (unsigned long long)s->count, s->count == 1 ? "" : "s",
                         (unsigned long long)s->first_line, text);
}

static void warn_all(struct reading *r)
{
    warn(r, "ignored", &r->not_run, "of tasks that did not run, or not to their end");
    warn(r, "no_run_time", &r->no_run_time,
         "without realtime, or when it began: left out");
    warn(r, "guessed", &r->guessed,
         "have no start: submit, and what duration is longer than realtime, say it");
    if (r->out->count > 0 && strcmp(r->trace.named_by, "task_id") != 0)
        r->out->warnings[r->out->warning_count++] = arena_printf(
            r->a,
            "guessed: %s %s named by %s, as there is no column task_id: what the weblog "
            "has told of, too, is there twice",
            counted(r->out->count, "run").text, plural(r->out->count, "is", "are"),
            r->trace.named_by);
    if (r->trace.short_count > 0)
        r->out->warnings[r->out->warning_count++] =
            arena_printf(r->a, "short_rows: %s %s fewer cells than there are columns",
                         counted(r->trace.short_count, "row").text,
                         plural(r->trace.short_count, "has", "have"));
    if (r->trace.rounded_count > 0)
        r->out->warnings[r->out->warning_count++] = arena_printf(
            r->a,
            "rounded_values: %s %s rounded: 1.1 GB stands for 1.05 to 1.15; trace.raw = "
            "true gives exact ones",
            counted(r->trace.rounded_count, "cell").text,
            plural(r->trace.rounded_count, "has a unit and is", "have a unit and are"));
}

enum error_code trace_read(const struct trace_query *query, const char *text,
                           size_t length, struct trace_rows *out, struct arena *a,
                           struct error *err)
{
    struct reading r = {.query = query, .out = out, .a = a, .refused = {.arena = a}};
    struct nextflow_task task;
    const char *wrong, *cell;

    *out = (struct trace_rows){.lines = NEW(a, uint64_t, 1)}; /* rows, also without any */
    check_query(query, err);
    if (!json_is_utf8(text, length))
        invalid(err, "", ITEM_MALFORMED, "the body is no UTF-8");
    if (memchr(text, 0, length))
        invalid(err, "", ITEM_MALFORMED, "the body has a NUL byte");
    if (err->code != OK)
        return err->code;
    TRY(nextflow_trace_open(&r.trace, text, length, query->utc_offset_s, "", a, err));
    while (nextflow_trace_next(&r.trace, &task, &wrong, &cell, a)) {
        if (wrong)
            refuse(&r, wrong, cell);
        else
            take_task(&r, &task);
    }
    out->refused = r.refused.first;
    warn_all(&r);
    return OK;
}
