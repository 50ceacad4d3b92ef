/* swf.h - job logs in the Standard Workload Format 2.2.
 *
 * A line is a job: 18 numbers, -1 for what is not known, which is NAN here. Lines that
 * begin with ';' are comments, some of which are header fields. The reader takes the
 * text piece by piece, whatever the pieces' borders, in O(1) memory, and hands every
 * usable job to a sink. What is not usable is counted by reason; the first lines of
 * each are listed. Further columns, that some tools add, are ignored.
 *
 * Usable is a job that says when it arrived, how long it ran and on how many
 * processors. Lines should be in the order of arrival; those that arrived before one
 * above them are counted, and a log that is held in memory is sorted.
 *
 * Source: S. Chapin et al. 1999, "Benchmarks and standards for the evaluation of
 * parallel job schedulers"; the Parallel Workloads Archive's description of version
 * 2.2.
 */
#ifndef GRIDPLAN_SWF_H
#define GRIDPLAN_SWF_H

#include "models/base/error.h"
#include "models/lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The columns in their order: member, meaning. All are numbers; NAN: not known. */
#define SWF_COLUMNS(X)                                                     \
    X(number, "Number of the job, whole, from 1")                          \
    X(submit_s, "Arrival, s since the log's begin")                        \
    X(wait_s, "Time in the queue, s")                                      \
    X(run_s, "Run time, s")                                                \
    X(processors, "Processors it got")                                     \
    X(cpu_s, "Mean CPU time of a processor, s")                            \
    X(memory_kb, "Mean memory of a processor, KiB")                        \
    X(requested_processors, "Processors it asked for")                     \
    X(requested_s, "Run time it asked for, s")                             \
    X(requested_memory_kb, "Memory of a processor it asked for, KiB")      \
    X(status, "1 completed, 0 failed, 5 cancelled, 2 to 4 parts of a job") \
    X(user, "Number of the user")                                          \
    X(group, "Number of the user's group")                                 \
    X(application, "Number of the program")                                \
    X(queue, "Number of the queue")                                        \
    X(partition, "Number of the part of the machine")                      \
    X(preceding_job, "Job that had to end before this one was submitted")  \
    X(think_s, "Time between that end and this arrival, s")

struct swf_job {
#define X(name, doc) double name;
    SWF_COLUMNS(X)
#undef X
};

enum { SWF_COLUMN_COUNT = 18, SWF_ISSUES_MAX = 20 };

/* Why a line is no job: symbol, name, meaning */
#define SWF_SKIPS(X)                                                             \
    X(NOT_A_NUMBER, not_a_number, "A column is no decimal number of usual size") \
    X(TOO_FEW_COLUMNS, too_few_columns, "The line has fewer than 18 columns")    \
    X(CUT_LINE, cut_line, "The last line ends in the middle of a job")           \
    X(TOO_LONG, line_too_long, "The line is longer than LINE_MAX_BYTES")         \
    X(NO_ARRIVAL, no_arrival, "The arrival is not known")                        \
    X(NO_RUN_TIME, no_run_time, "The run time is not known")                     \
    X(NO_PROCESSORS, no_processors, "The number of processors is not known")

enum swf_skip {
#define X(symbol, name, doc) SWF_SKIP_##symbol,
    SWF_SKIPS(X)
#undef X
        SWF_SKIP_COUNT
};

extern const char *const swf_skip_names[]; /* by enum swf_skip, ended by NULL */

/* What a comment at the log's begin says; NAN: nothing. */
struct swf_header {
    double version, unix_start_at_s, time_zone_s;
    double max_jobs, max_records, max_nodes, max_procs;
    char computer[128]; /* "": not said; printable ASCII */
};

struct swf_issue {
    uint64_t line; /* from 1 */
    enum swf_skip reason;
};

struct swf_counts {
    uint64_t lines;    /* all, empty ones and comments too */
    uint64_t comments; /* begin with ';' */
    uint64_t jobs;     /* handed to the sink */
    uint64_t skipped;  /* lines that are neither empty, a comment nor a usable job */
    uint64_t skipped_by[SWF_SKIP_COUNT];
    uint64_t unsorted;                       /* jobs that arrived before one above them */
    uint64_t first_unsorted_line;            /* the first of their lines; 0: none */
    struct swf_issue issues[SWF_ISSUES_MAX]; /* the first ones skipped */
    size_t issue_count;
};

/* Gets every usable job; *job lives during the call. A failure stops the reading. */
typedef enum error_code swf_sink_fn(void *context, const struct swf_job *job,
                                    struct error *err);

struct swf_reader {
    struct line_reader lines;
    swf_sink_fn *sink;
    void *context;
    struct swf_header header;
    struct swf_counts counts;
    double latest_submit_s;
};

void swf_reader_open(struct swf_reader *r, swf_sink_fn *sink, void *context);

/* The next piece of the log. Fails only as the sink does; then feed no more. */
enum error_code swf_reader_feed(struct swf_reader *r, const char *bytes, size_t length,
                                struct error *err);

/* After the last piece. */
enum error_code swf_reader_end(struct swf_reader *r, struct error *err);

/* A list of jobs that grows in an arena, for logs that are held in memory. */
struct swf_log {
    struct swf_job *jobs;
    size_t count, room;
    struct arena *arena;
};

/* A sink: appends to the struct swf_log in `context`; ERR_TOO_LARGE. */
enum error_code swf_log_add(void *context, const struct swf_job *job, struct error *err);

/* Sorts by arrival; of those that arrived at the same time the earlier line is first. */
void swf_log_sort(struct swf_log *log);

/* Reads a whole text; the jobs are in the order of arrival. */
enum error_code swf_read(const char *text, size_t length, struct swf_log *log,
                         struct swf_header *header, struct swf_counts *counts,
                         struct arena *a, struct error *err);

/* Processors that a usable job needs: those it asked for, else those it got. */
double swf_processors(const struct swf_job *job);

/* Run time that a scheduler may count on: what was asked for, but not less than what it
 * took (rule of the reference figures in data/README.md). */
double swf_estimate_s(const struct swf_job *job);

enum { SWF_LINE_BYTES = 18 * 26 }; /* room for a line with its NUL */

/* Writes the job as a line without its end; returns the length. Numbers read back the
 * same; NAN is -1. */
size_t swf_print_job(const struct swf_job *job, char *buffer, size_t size);

/* Writes the header's comments, each with its line end; returns the length, at most
 * `size` - 1, of which 1024 always suffices. */
size_t swf_print_header(const struct swf_header *header, char *buffer, size_t size);

#endif
