/* log.h - one JSON object per line on stderr.
 *
 * Lines go into a buffer that a thread writes out, so that no other thread ever
 * waits for stderr: soon for requests, at once for warnings and errors. When
 * the buffer is full because nobody reads, lines are dropped and counted.
 *
 * A process has one stderr, so this is the one module with state of its own.
 * Before log_open() and after log_close() lines are written directly.
 */
#ifndef GRIDPLAN_LOG_H
#define GRIDPLAN_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR };

/* Starts the thread; lines below `level` are dropped. False: it could not be
 * started; lines are then written directly. `fd` is not closed. */
bool log_open(enum log_level level, int fd);

/* Writes out what is left, for at most a second. */
void log_close(void);

/* For a cheap question before something is gathered to be logged. */
bool log_wants(enum log_level level);

/* {"ts":...,"level":...,"msg":...} */
void log_write(enum log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for what happened during a request. */
void log_write_request(enum log_level level, const char *request_id, const char *format,
                       ...) __attribute__((format(printf, 3, 4)));

/* One answered request. NULL texts are left out. Never keys or bodies. */
struct log_access {
    const char *request_id;
    const char *trace_id; /* 32 hex digits of traceparent */
    const char *method;
    const char *route; /* the template, never the path */
    const char *tenant;
    const char *key_id;
    const char *decision_id;
    const char *algorithm;
    const char *error; /* for a status >= 400: what was wrong */
    bool is_probe;     /* of what is asked all the time, by machines */
    int status;
    double duration_s;
    size_t body_bytes; /* of the request */
    size_t reply_bytes;
};

/* Info; a probe debug; a status >= 500 a warning. */
enum log_level log_request_level(const struct log_access *access);
void log_request(const struct log_access *access);

/* Lines dropped since the start. */
size_t log_dropped_count(void);

#endif
