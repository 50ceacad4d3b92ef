/* failure_trace.h - failure logs of other projects.
 *
 * Two formats, each read piece by piece in O(1) memory; every failure goes to a sink as
 * a struct failure. Overlapping, simultaneous and open intervals are kept as they are
 * (failure_stats.h takes them). Lines that are no failure are counted by reason; the
 * first ones are listed.
 *
 * lanl_cfdr: the comma separated file of the Computer Failure Data Repository. A row is
 * a failure of a node; the resource is "SYSTEM.NODE", nodes counted from 0. The cause is
 * the category that is filled in, the component what is written there. Times are local;
 * they are read as seconds of UTC minus utc_offset_s. A failure ends Down Time minutes
 * after its begin, since clocks change by an hour in between; without Down Time at
 * Prob Fixed; without either it is open.
 *
 * fta: event_trace.tab of the Failure Trace Archive. Rows of type 0 are failures, of
 * type 1 times of availability, which are counted and left out. The resource is the
 * node's name, else its number. A stop of NULL or -1 is open.
 *
 * Source: LA-UR-05-7318 (Los Alamos National Laboratory); B. Javadi et al. 2013, "The
 * Failure Trace Archive".
 */
#ifndef GRIDPLAN_FAILURE_TRACE_H
#define GRIDPLAN_FAILURE_TRACE_H

#include "models/base/error.h"
#include "models/failure_history.h"
#include "models/lines.h"

#include <stdint.h>

/* symbol, name on the wire, what it is */
#define FAILURE_TRACE_FORMATS(X)                                           \
    X(LANL_CFDR, lanl_cfdr, "CSV of the Computer Failure Data Repository") \
    X(FTA, fta, "event_trace.tab of the Failure Trace Archive")

enum failure_trace_format {
#define X(symbol, name, doc) FAILURE_TRACE_##symbol,
    FAILURE_TRACE_FORMATS(X)
#undef X
        FAILURE_TRACE_FORMAT_COUNT
};

extern const char *const failure_trace_format_names[]; /* ended by NULL */

/* Why a line is no failure: symbol, name, meaning */
#define FAILURE_TRACE_REFUSALS(X)                                                     \
    X(COLUMNS, wrong_columns, "The line has too few or too many columns")             \
    X(TOO_LONG, line_too_long, "The line is longer than LINE_MAX_BYTES")              \
    X(NOT_TEXT, not_text, "There are bytes that are no printable characters")         \
    X(NO_RESOURCE, no_resource, "The resource is not named, or its name is too long") \
    X(BAD_NUMBER, not_a_number, "A column that should be a number is none")           \
    X(BAD_TYPE, unknown_type, "The type of the event is neither 0 nor 1")             \
    X(NO_BEGIN, no_begin, "The begin is not known")                                   \
    X(BAD_TIME, not_a_time, "A time is not written as the format has it")             \
    X(UP_BEFORE_DOWN, up_before_down, "The failure ends before it begins")

enum failure_trace_refusal {
#define X(symbol, name, doc) FAILURE_TRACE_REFUSED_##symbol,
    FAILURE_TRACE_REFUSALS(X)
#undef X
        FAILURE_TRACE_REFUSAL_COUNT
};

extern const char *const failure_trace_refusal_names[]; /* ended by NULL */

enum { FAILURE_TRACE_ISSUES_MAX = 20, FAILURE_TRACE_ID_MAX = 200 /* bytes of an id */ };

struct failure_trace_issue {
    uint64_t line; /* from 1 */
    enum failure_trace_refusal reason;
};

struct failure_trace_counts {
    uint64_t lines;    /* all */
    uint64_t failures; /* handed to the sink */
    uint64_t open;     /* of those, without an end */
    uint64_t up;       /* rows of availability, left out */
    uint64_t refused;
    uint64_t refused_by[FAILURE_TRACE_REFUSAL_COUNT];
    struct failure_trace_issue issues[FAILURE_TRACE_ISSUES_MAX];
    size_t issue_count;
};

/* Gets every failure; its texts live during the call. A failure of the sink stops the
 * reading. */
typedef enum error_code failure_sink_fn(void *context, const struct failure *failure,
                                        struct error *err);

struct failure_trace_reader {
    struct line_reader lines;
    enum failure_trace_format format;
    double utc_offset_s; /* lanl_cfdr: local time minus UTC, s */
    failure_sink_fn *sink;
    void *context;
    struct failure_trace_counts counts;
};

void failure_trace_open(struct failure_trace_reader *r, enum failure_trace_format format,
                        double utc_offset_s, failure_sink_fn *sink, void *context);

/* The next piece. Fails only as the sink does; then feed no more. */
enum error_code failure_trace_feed(struct failure_trace_reader *r, const char *bytes,
                                   size_t length, struct error *err);

/* After the last piece. */
enum error_code failure_trace_end(struct failure_trace_reader *r, struct error *err);

/* A list of failures that grows in an arena. */
struct failure_log {
    struct failure *failures;
    size_t count, room;
    struct arena *arena;
};

/* A sink: appends a copy to the struct failure_log in `context`; ERR_TOO_LARGE. */
enum error_code failure_log_add(void *context, const struct failure *failure,
                                struct error *err);

/* Reads a whole text. */
enum error_code failure_trace_read(enum failure_trace_format format, const char *text,
                                   size_t length, double utc_offset_s,
                                   struct failure_log *log,
                                   struct failure_trace_counts *counts, struct arena *a,
                                   struct error *err);

#endif
