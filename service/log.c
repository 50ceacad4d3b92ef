/* log.c - one JSON object per line on stderr.
 *
 * A line is made on the stack of its thread and copied, under a lock that is
 * held for that copy only, into the one of two buffers that is being filled;
 * the writer thread swaps them and writes the other out.
 */
#include "service/log.h"

#include "service/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE_BYTES = 2048,
    LINE_TAIL_BYTES = 160, /* kept for numbers and the closing brace */
    BUFFER_BYTES = 512 * 1024,
    WRITE_EVERY_MS = 50,
    CLOSE_LIMIT_S = 1,
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied; /* the latter: the writer ends */
    pthread_t writer;
    int fd;
    enum log_level level;
    bool running, closing, urgent, ended;
    size_t length; /* in the buffer that is being filled */
    size_t current;
    size_t dropped_count, reported_count;
    char buffer[2][BUFFER_BYTES];
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = 2, .level = LOG_WARNING};

static const char *const level_names[] = {"debug", "info", "warning", "error"};

/* ---- lines ---- */

struct line {
    size_t length, most; /* bytes; what goes beyond is left out */
    char text[LINE_BYTES];
};

static void add_bytes(struct line *l, const char *text, size_t length)
{
    if (length > l->most - l->length)
        return;
    memcpy(l->text + l->length, text, length);
    l->length += length;
}

#define ADD_LITERAL(l, text) add_bytes((l), text, sizeof(text) - 1)

/* Length of the UTF-8 sequence at `p`; 0 when it is none. */
static size_t sequence_length(const unsigned char *p)
{
    size_t n = *p >= 0xf0 && *p < 0xf5 ? 4 : *p >= 0xe0 ? 3 : *p >= 0xc2 ? 2 : 0;

    if (*p >= 0xf5)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* One character, escaped; the bytes taken from `p`. */
static size_t add_character(struct line *l, const unsigned char *p)
{
    char escape[8];
    size_t n;

    if (*p >= 0x80) {
        n = sequence_length(p);
        add_bytes(l, n ? (const char *)p : "?", n ? n : 1);
        return n ? n : 1;
    }
    if (*p == '"' || *p == '\\') {
        escape[0] = '\\';
        escape[1] = (char)*p;
        add_bytes(l, escape, 2);
    } else if (*p < 0x20 || *p == 0x7f) {
        snprintf(escape, sizeof(escape), "\\u%04x", (unsigned)*p);
        add_bytes(l, escape, 6);
    } else {
        add_bytes(l, (const char *)p, 1);
    }
    return 1;
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Escaped and cut so that the quotes around it still fit. */
static void add_escaped(struct line *l, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;

    while (*p && l->length < LINE_BYTES - LINE_TAIL_BYTES - 16) {
        size_t n = 0, room = LINE_BYTES - LINE_TAIL_BYTES - 16 - l->length;

        while (n < room && is_plain(p[n]))
            n++;
        add_bytes(l, (const char *)p, n);
        p += n;
        if (*p && n < room)
            p += add_character(l, p);
    }
}

/* ,"name":"value"; nothing for NULL or when hardly any room is left. */
static void add_text(struct line *l, const char *name, const char *value)
{
    size_t length = strlen(name);

    if (!value || l->length + length > LINE_BYTES - LINE_TAIL_BYTES - 64)
        return;
    ADD_LITERAL(l, ",\"");
    add_bytes(l, name, length);
    ADD_LITERAL(l, "\":\"");
    add_escaped(l, value);
    ADD_LITERAL(l, "\"");
}

/* With zeros in front up to `least` digits. Of a request there are several, and printf()
 * takes ten times as long. */
static void add_number(struct line *l, uint64_t number, size_t least)
{
    char digits[20];
    size_t at = sizeof(digits);

    while (number > 0 || sizeof(digits) - at < least) {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    }
    add_bytes(l, digits + at, sizeof(digits) - at);
}

/* {"ts":"2025-01-31T12:00:00.123Z","level":"info" */
static void begin(struct line *l, enum log_level level)
{
    static _Thread_local time_t second;
    static _Thread_local char date[24];
    struct timespec now;
    struct tm utc;

    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec != second || !*date) {
        second = now.tv_sec;
        gmtime_r(&second, &utc);
        strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &utc);
    }
    l->length = 0;
    l->most = LINE_BYTES - LINE_TAIL_BYTES;
    ADD_LITERAL(l, "{\"ts\":\"");
    add_bytes(l, date, strlen(date));
    ADD_LITERAL(l, ".");
    add_number(l, (uint64_t)now.tv_nsec / 1000000, 3);
    ADD_LITERAL(l, "Z\",\"level\":\"");
    add_bytes(l, level_names[level], strlen(level_names[level]));
    ADD_LITERAL(l, "\"");
}

static void write_all(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, text, length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return; /* there is nobody to tell */
        text += n;
        length -= (size_t)n;
    }
}

/* Closes the line and hands it over. */
static void end(struct line *l, enum log_level level)
{
    bool wake = false;

    l->text[l->length++] = '}';
    l->text[l->length++] = '\n';
    pthread_mutex_lock(&state.lock);
    if (!state.running) {
        write_all(state.fd, l->text, l->length);
    } else if (l->length > BUFFER_BYTES - state.length) {
        state.dropped_count++;
    } else {
        memcpy(state.buffer[state.current] + state.length, l->text, l->length);
        wake = state.length == 0 || (level >= LOG_WARNING && !state.urgent);
        state.length += l->length;
        if (level >= LOG_WARNING || state.length > BUFFER_BYTES / 2)
            state.urgent = true;
    }
    pthread_mutex_unlock(&state.lock);
    if (wake)
        pthread_cond_signal(&state.filled);
}

/* ---- the writer ---- */

/* Waits for something to write: a little longer when it is not urgent, so that
 * lines go out together. */
static void wait_for_lines(void)
{
    struct timespec until;

    while (state.length == 0 && !state.closing)
        pthread_cond_wait(&state.filled, &state.lock);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += WRITE_EVERY_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!state.urgent && !state.closing)
        if (pthread_cond_timedwait(&state.filled, &state.lock, &until) == ETIMEDOUT)
            break;
}

static void report_dropped(void)
{
    struct line l;
    size_t count = state.dropped_count - state.reported_count;

    if (count == 0)
        return;
    state.reported_count = state.dropped_count;
    pthread_mutex_unlock(&state.lock);
    begin(&l, LOG_WARNING);
    l.length += (size_t)snprintf(
        l.text + l.length, LINE_TAIL_BYTES,
        ",\"msg\":\"%zu log lines dropped: nobody read them\"}\n", count);
    write_all(state.fd, l.text, l.length);
    pthread_mutex_lock(&state.lock);
}

static void *writer_main(void *context)
{
    (void)context;
    pthread_setname_np(pthread_self(), "log");
    pthread_mutex_lock(&state.lock);
    while (!state.closing || state.length > 0) {
        size_t full, length;

        wait_for_lines();
        length = state.length;
        full = state.current;
        state.current = 1 - state.current;
        state.length = 0;
        state.urgent = false;
        pthread_mutex_unlock(&state.lock);
        write_all(state.fd, state.buffer[full], length);
        pthread_mutex_lock(&state.lock);
        report_dropped();
    }
    state.ended = true;
    pthread_cond_signal(&state.emptied);
    pthread_mutex_unlock(&state.lock);
    return NULL;
}

/* ---- the interface ---- */

bool log_open(enum log_level level, int fd)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_lock(&state.lock);
    __atomic_store_n(&state.level, level, __ATOMIC_RELAXED);
    state.fd = fd;
    state.closing = state.ended = false;
    pthread_cond_init(&state.filled, &monotonic);
    pthread_cond_init(&state.emptied, &monotonic);
    pthread_condattr_destroy(&monotonic);
    state.running = pthread_create(&state.writer, NULL, writer_main, NULL) == 0;
    pthread_mutex_unlock(&state.lock);
    return state.running;
}

void log_close(void)
{
    struct timespec until;
    bool ended;

    pthread_mutex_lock(&state.lock);
    state.closing = true;
    ended = !state.running;
    pthread_mutex_unlock(&state.lock);
    if (ended)
        return;
    pthread_cond_signal(&state.filled);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += CLOSE_LIMIT_S;
    pthread_mutex_lock(&state.lock);
    while (!state.ended &&
           pthread_cond_timedwait(&state.emptied, &state.lock, &until) == 0)
        ;
    ended = state.ended;
    pthread_mutex_unlock(&state.lock);
    if (!ended)
        return; /* stderr is stuck, and the process is about to end */
    pthread_join(state.writer, NULL);
    pthread_mutex_lock(&state.lock);
    state.running = false;
    pthread_mutex_unlock(&state.lock);
}

bool log_wants(enum log_level level)
{
    return level >= __atomic_load_n(&state.level, __ATOMIC_RELAXED);
}

static void write_message(enum log_level level, const char *request_id,
                          const char *format, va_list args)
{
    char text[1024];
    struct line l;

    if (!log_wants(level))
        return;
    vsnprintf(text, sizeof(text), format, args);
    begin(&l, level);
    add_text(&l, "msg", text);
    add_text(&l, "request_id", request_id);
    end(&l, level);
}

void log_write(enum log_level level, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_message(level, NULL, format, args);
    va_end(args);
}

void log_write_request(enum log_level level, const char *request_id, const char *format,
                       ...)
{
    va_list args;

    va_start(args, format);
    write_message(level, request_id, format, args);
    va_end(args);
}

enum log_level log_request_level(const struct log_access *access)
{
    if (access->status >= 500)
        return LOG_WARNING;
    return access->is_probe ? LOG_DEBUG : LOG_INFO;
}

void log_request(const struct log_access *access)
{
    enum log_level level = log_request_level(access);
    uint64_t us = (uint64_t)(access->duration_s * 1e6 + 0.5);
    struct line l;

    if (!log_wants(level))
        return;
    begin(&l, level);
    ADD_LITERAL(&l, ",\"msg\":\"request\"");
    add_text(&l, "request_id", access->request_id);
    add_text(&l, "trace_id", access->trace_id);
    add_text(&l, "method", access->method);
    add_text(&l, "route", access->route);
    add_text(&l, "tenant", access->tenant);
    add_text(&l, "key_id", access->key_id && *access->key_id ? access->key_id : NULL);
    add_text(&l, "decision_id", access->decision_id);
    add_text(&l, "algorithm", access->algorithm);
    add_text(&l, "error", access->error);
    l.most = LINE_BYTES - 2; /* what end() adds */
    ADD_LITERAL(&l, ",\"status\":");
    add_number(&l, (uint64_t)access->status, 1);
    ADD_LITERAL(&l, ",\"duration_ms\":");
    add_number(&l, us / 1000, 1);
    ADD_LITERAL(&l, ".");
    add_number(&l, us % 1000, 3);
    ADD_LITERAL(&l, ",\"body_bytes\":");
    add_number(&l, access->body_bytes, 1);
    ADD_LITERAL(&l, ",\"bytes\":");
    add_number(&l, access->reply_bytes, 1);
    end(&l, level);
}

size_t log_dropped_count(void)
{
    size_t count;

    pthread_mutex_lock(&state.lock);
    count = state.dropped_count;
    pthread_mutex_unlock(&state.lock);
    return count;
}
