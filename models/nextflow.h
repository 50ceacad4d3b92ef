/* nextflow.h - what Nextflow tells of its tasks: messages of its weblog, and trace files.
 *
 * Both name the same fields. Of all that they send only those here are looked at: names
 * of runs, projects, processes and hosts, and measures. Parameters, command lines,
 * scripts and working directories are stepped over unread.
 *
 * Source: Nextflow's documentation, "Tracing & visualisation"; plugin nf-weblog, README.
 */
#ifndef GRIDPLAN_NEXTFLOW_H
#define GRIDPLAN_NEXTFLOW_H

#include "models/base/error.h"
#include "models/execution.h"

#include <stdint.h>

/* A task as it ended. NULL, NAN: not said. */
struct nextflow_task {
    const char *task_id;
    const char *process; /* else its name up to " (" */
    const char *status, *host;
    double attempt;
    double submit_at_s, start_at_s; /* instants */
    double duration_s, realtime_s;  /* from submission; from its start; to its end */
    double exit_code;
    double cpus, cpu_ratio; /* asked for; used, 1 is one of them */
    double memory_bytes;    /* asked for */
    double peak_rss_bytes, rchar_bytes, read_bytes, write_bytes;
    bool bad_number; /* a number of the message could not be read; it is not known */
};

enum nextflow_kind {
    NEXTFLOW_STARTED,   /* a run: `application` */
    NEXTFLOW_TASK_DONE, /* `task` */
    NEXTFLOW_OTHER
};

struct nextflow_message {
    enum nextflow_kind kind;
    const char *run_id;      /* NULL: not said */
    const char *application; /* the manifest's name, else the project's; NULL: neither */
    bool has_task;
    struct nextflow_task task;
};

/* Reads a message of the weblog. ERR_MALFORMED: no JSON object, or without `event`. */
enum error_code nextflow_message_read(const char *text, size_t length,
                                      struct nextflow_message *out, struct arena *a,
                                      struct error *err);

/* ---- trace files ---- */

/* Durations "450ms", "1m 2s", "1d 3h" and bare milliseconds, to seconds; sizes "512 B",
 * "1.5 GB" (of 1024) and bare bytes; "97.5%" and bare percent, to a ratio. NAN for a
 * missing cell ("-", ""). False: the cell is none of these. *rounded: it has a unit. */
bool nextflow_duration(const char *cell, double *seconds, bool *rounded);
bool nextflow_size(const char *cell, double *bytes, bool *rounded);
bool nextflow_percent(const char *cell, double *ratio);

/* "YYYY-MM-DD HH:MM:SS.mmm" of a clock that is utc_offset_s ahead of UTC, or milliseconds
 * since 1970; NAN for a missing cell. */
bool nextflow_instant(const char *cell, double utc_offset_s, double *at_s);

enum { NEXTFLOW_COLUMNS_MAX = 256 };

struct nextflow_trace {
    const char *at, *end; /* what has not been read yet */
    uint64_t line;        /* that was read last */
    double utc_offset_s;
    char mark;                       /* between columns */
    int field[NEXTFLOW_COLUMNS_MAX]; /* of each column; -1: not used */
    size_t column_count;
    const char *named_by;   /* the column that tells tasks apart: task_id, else hash, else
                               native_id */
    uint64_t rounded_count; /* cells so far that are rounded */
    uint64_t short_count;   /* rows so far with fewer cells than columns */
};

/* Reads the first line, which names the columns. ERR_INVALID with `pointer`: it names
 * nothing that tells tasks apart or no name, or too many columns. */
enum error_code nextflow_trace_open(struct nextflow_trace *t, const char *text,
                                    size_t length, double utc_offset_s,
                                    const char *pointer, struct arena *a,
                                    struct error *err);

/* The next row. False: there is none. *wrong: name of a cell that could not be read, then
 * *cell is its text; "": the row has more cells than columns, or is the last one and
 * breaks off, as *cell says; NULL: all could be read. */
bool nextflow_trace_next(struct nextflow_trace *t, struct nextflow_task *task,
                         const char **wrong, const char **cell, struct arena *a);

/* ---- as executions ---- */

enum nextflow_use {
    NEXTFLOW_COUNTS,
    NEXTFLOW_NOT_RUN,    /* cached, aborted, or not ended */
    NEXTFLOW_NO_RUN_TIME /* it does not say how long it ran, or when */
};

/* The run of the task, `application`/process; run_id is the run's name. *guessed: when it
 * started follows from its submission. What a record has no member for is in its
 * parameters. */
enum nextflow_use nextflow_execution(const struct nextflow_task *task,
                                     const char *application, const char *run_id,
                                     struct execution *out, bool *guessed,
                                     struct arena *a);

#endif
