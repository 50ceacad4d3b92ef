/* execution_trace.h - trace files of Nextflow as executions. */
#ifndef GRIDPLAN_EXECUTION_TRACE_H
#define GRIDPLAN_EXECUTION_TRACE_H

#include "models/execution.h"
#include "service/json.h"

/* Parameters of a body that is such a file; a struct of theirs is in the query's. */
struct trace_query {
    int format; /* -1: not said */
    const char *application_id, *run_id;
    double utc_offset_s;
};

extern const char *const trace_formats[];

/* Rows of a query T that has `struct trace_query trace`. */
#define TRACE_QUERY_ROWS(T)                                                             \
    {.name = "format",                                                                  \
     .doc = "Of a body of text/tab-separated-values: a trace file of Nextflow, raw or " \
            "not",                                                                      \
     .type = JSON_TYPE_CHOICE,                                                          \
     .offset = JSON_AT(T, trace.format, int),                                           \
     .choices = trace_formats,                                                          \
     .preset = -1,                                                                      \
     .flags = JSON_BOUND_ONLY},                                                         \
        {.name = "application_id",                                                      \
         .doc =                                                                         \
             "With such a body: the workflow; a task's application is this, / and its " \
             "process",                                                                 \
         .type = JSON_TYPE_TEXT,                                                        \
         .offset = JSON_AT(T, trace.application_id, const char *),                      \
         .min = 1,                                                                      \
         .max = 128},                                                                   \
        {.name = "run_id",                                                              \
         .doc = "With such a body: the run; an execution is this, its task_id and its " \
                "attempt",                                                              \
         .type = JSON_TYPE_TEXT,                                                        \
         .offset = JSON_AT(T, trace.run_id, const char *),                              \
         .min = 1,                                                                      \
         .max = 128},                                                                   \
    {                                                                                   \
        .name = "utc_offset_s",                                                         \
        .doc = "With such a body: how far its clock is ahead of UTC, s; default 0",     \
        .type = JSON_TYPE_NUMBER, .offset = JSON_AT(T, trace.utc_offset_s, double),     \
        .min = -86400, .max = 86400                                                     \
    }

/* What a file says. */
struct trace_rows {
    struct execution *runs;
    uint64_t *lines; /* of each */
    size_t count;
    const struct error_item *refused; /* rows that cannot be read, each with its line */
    size_t refused_count;
    const char *warnings[6]; /* what was guessed, left out or is rounded */
    size_t warning_count;
};

/* ERR_INVALID: parameters are missing, or the first line names no columns that are
 * needed. */
enum error_code trace_read(const struct trace_query *query, const char *text,
                           size_t length, struct trace_rows *out, struct arena *a,
                           struct error *err);

#endif
