/* bench.h - what the benchmarks share: a clock, the service as a child process,
 * a small HTTP client, and rows of RESULTS.md. All of it is here, because every
 * program of this folder is built from one file.
 *
 * A benchmark prints one row per number on stdout. When it cannot measure, it
 * says why and exits with 1, and tests/bench/run writes that into the results.
 */
#ifndef GRIDPLAN_BENCH_H
#define GRIDPLAN_BENCH_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A text that grows. */
struct bench_text {
    char *data;
    size_t length, size;
};

enum bench_verdict { BENCH_MISSED, BENCH_MET, BENCH_NO_TARGET };

struct bench_process {
    pid_t pid;
    int port;
};

struct bench_reply {
    int status;
    char *body; /* released by the next request on any connection */
    size_t length;
    double seconds; /* from the first byte sent to the last received */
};

static inline struct bench_reply bench_request(int fd, const char *method,
                                               const char *path, const char *content_type,
                                               const char *body, size_t length);

/* Cannot go on. */
__attribute__((noreturn, format(printf, 1, 2))) static inline void
bench_stop(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

static inline double bench_now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts the values; share 0.5 is the median, 1 the largest. */
static inline double bench_quantile(double *values, size_t count, double share)
{
    size_t index = (size_t)(share * (double)count);

    qsort(values, count, sizeof(*values), bench_compare);
    return values[index < count ? index : count - 1];
}

__attribute__((format(printf, 2, 3))) static inline void
bench_add(struct bench_text *t, const char *format, ...)
{
    va_list args, again;
    size_t more;

    va_start(args, format);
    va_copy(again, args);
    more = (size_t)vsnprintf(NULL, 0, format, args) + 1;
    if (t->length + more > t->size) {
        t->size = 2 * (t->length + more);
        t->data = realloc(t->data, t->size);
        if (!t->data)
            bench_stop("no memory for a body of %zu bytes", t->size);
    }
    t->length += (size_t)vsnprintf(t->data + t->length, more, format, again);
    va_end(again);
    va_end(args);
}

/* "| what | target | measured | verdict |" */
__attribute__((format(printf, 4, 5))) static inline void
bench_row(const char *what, const char *target, enum bench_verdict verdict,
          const char *format, ...)
{
    static const char *const names[] = {
        [BENCH_MISSED] = "**MISSED**", [BENCH_MET] = "met", [BENCH_NO_TARGET] = ""};
    va_list args;

    printf("| %s | %s | ", what, target);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf(" | %s |\n", names[verdict]);
    fflush(stdout);
}

/* ---- processes ---- */

static inline int bench_free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0)
        bench_stop("no free port: %s", strerror(errno));
    close(fd);
    return ntohs(address.sin_port);
}

static inline int bench_try_connect(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    close(fd);
    return -1;
}

static inline _Noreturn void bench_run_child(const char *program, const char *command,
                                             int port, const char *const *environment)
{
    static const char *const ours[] = {"GRIDPLAN_BENCH_BINARY", "GRIDPLAN_BENCH_DATABASE",
                                       "GRIDPLAN_BENCH_LOG", "GRIDPLAN_DATA"};
    const char *log = getenv("GRIDPLAN_BENCH_LOG");
    int fd = open(log ? log : "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0644);
    char number[16];

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (fd >= 0) {
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
    }
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        unsetenv(ours[i]);
    for (size_t i = 0; environment && environment[i]; i++)
        putenv((char *)(size_t)environment[i]);
    snprintf(number, sizeof(number), "%d", port);
    setenv("GRIDPLAN_PORT", number, 1);
    if (command)
        execl(program, program, command, (char *)NULL);
    else
        execl(program, program, number, (char *)NULL);
    _exit(127);
}

/* Starts `program` on a free port and waits until /livez answers. The program
 * gets the port as GRIDPLAN_PORT and, without a `command`, as its argument.
 * `environment`: "NAME=value", ended by NULL. It goes when the benchmark ends. */
static inline struct bench_process bench_start(const char *program, const char *command,
                                               const char *const *environment)
{
    struct bench_process p = {.port = bench_free_port()};
    double give_up_s = bench_now_s() + 20;

    p.pid = fork();
    if (p.pid < 0)
        bench_stop("cannot fork: %s", strerror(errno));
    if (p.pid == 0)
        bench_run_child(program, command, p.port, environment);
    for (;;) {
        int fd = bench_try_connect(p.port);
        int status;

        if (fd >= 0) {
            int code = bench_request(fd, "GET", "/livez", NULL, NULL, 0).status;

            close(fd);
            if (code != 200)
                bench_stop("%s: /livez answers %d", program, code);
            return p;
        }
        if (waitpid(p.pid, &status, WNOHANG) == p.pid)
            bench_stop("%s ended at once (status %d), see its log", program,
                       WIFEXITED(status) ? WEXITSTATUS(status) : -1);
        if (bench_now_s() > give_up_s)
            bench_stop("%s does not listen", program);
        usleep(20000);
    }
}

/* The gridplan binary, from GRIDPLAN_BENCH_BINARY; with the database from
 * GRIDPLAN_BENCH_DATABASE if `with_database`. */
static inline struct bench_process bench_start_service(bool with_database,
                                                       const char *const *environment)
{
    enum { MORE_MAX = 16 };
    const char *program = getenv("GRIDPLAN_BENCH_BINARY");
    const char *url = getenv("GRIDPLAN_BENCH_DATABASE");
    const char *all[MORE_MAX + 3];
    char database[1024];
    size_t count = 0;

    if (!program || access(program, X_OK) != 0)
        bench_stop("there is no binary '%s' (GRIDPLAN_BENCH_BINARY)",
                   program ? program : "");
    if (with_database && (!url || !*url))
        bench_stop("there is no database (GRIDPLAN_BENCH_DATABASE)");
    snprintf(database, sizeof(database), "GRIDPLAN_DATABASE=%s",
             with_database ? url : "");
    all[count++] = database;
    all[count++] = "GRIDPLAN_LOG_LEVEL=warning";
    for (size_t i = 0; environment && environment[i] && i < MORE_MAX; i++)
        all[count++] = environment[i];
    all[count] = NULL;
    return bench_start(program, "serve", all);
}

static inline void bench_end(struct bench_process *p)
{
    kill(p->pid, SIGTERM);
    for (int i = 0; i < 200; i++) {
        if (waitpid(p->pid, NULL, WNOHANG) == p->pid)
            return;
        usleep(20000);
    }
    fprintf(stderr, "warning: process %d did not end within 4 s of SIGTERM\n",
            (int)p->pid);
    kill(p->pid, SIGKILL);
    waitpid(p->pid, NULL, 0);
}

/* A line of /proc/PID/status in bytes: "VmRSS", "VmHWM". */
static inline double bench_memory_bytes(pid_t pid, const char *line)
{
    char name[64], text[256];
    double kib = -1;
    FILE *f;

    snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
    f = fopen(name, "r");
    if (!f)
        bench_stop("cannot read %s", name);
    while (kib < 0 && fgets(text, sizeof(text), f)) {
        if (strncmp(text, line, strlen(line)) == 0 && text[strlen(line)] == ':')
            kib = strtod(text + strlen(line) + 1, NULL);
    }
    fclose(f);
    if (kib < 0)
        bench_stop("%s has no %s", name, line);
    return 1024 * kib;
}

/* VmHWM starts anew from the present VmRSS. */
static inline void bench_reset_peak(pid_t pid)
{
    char name[64];
    FILE *f;

    snprintf(name, sizeof(name), "/proc/%d/clear_refs", (int)pid);
    f = fopen(name, "w");
    if (!f || fputs("5", f) < 0 || fclose(f) != 0)
        bench_stop("cannot reset the peak of memory by %s", name);
}

/* ---- HTTP ---- */

static inline int bench_connect(int port)
{
    int fd = bench_try_connect(port);

    if (fd < 0)
        bench_stop("cannot connect to port %d: %s", port, strerror(errno));
    return fd;
}

static inline void bench_send_all(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(fd, data, length, MSG_NOSIGNAL);

        if (sent <= 0)
            return; /* the reply may say why */
        data += sent;
        length -= (size_t)sent;
    }
}

static inline void bench_send(int fd, const char *method, const char *path,
                              const char *content_type, const char *body, size_t length)
{
    char head[1024];
    int n;

    if (body)
        n = snprintf(head, sizeof(head),
                     "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\n"
                     "Content-Length: %zu\r\n\r\n",
                     method, path, content_type, length);
    else
        n = snprintf(head, sizeof(head), "%s %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
                     method, path);
    bench_send_all(fd, head, (size_t)n);
    if (body)
        bench_send_all(fd, body, length);
}

/* The reply to what was sent; its body is released by the next reply. */
static inline struct bench_reply bench_receive(int fd)
{
    static char *data;
    static size_t size;
    size_t have = 0, body_at = 0, want = 0;
    struct bench_reply reply = {0};

    for (;;) {
        ssize_t got;

        if (have + 1 >= size) {
            size = size ? 2 * size : 65536;
            data = realloc(data, size);
            if (!data)
                bench_stop("no memory for a reply of %zu bytes", size);
        }
        got = recv(fd, data + have, size - have - 1, 0);
        if (got <= 0)
            bench_stop("the connection ended after %zu bytes of the reply", have);
        have += (size_t)got;
        data[have] = 0;
        if (!body_at) {
            char *end = strstr(data, "\r\n\r\n");
            char *length_at;

            if (!end)
                continue;
            body_at = (size_t)(end - data) + 4;
            length_at = strcasestr(data, "\r\nContent-Length:");
            if (!length_at || length_at > end)
                bench_stop("a reply without Content-Length");
            want = strtoul(length_at + 17, NULL, 10);
        }
        if (have >= body_at + want)
            break;
    }
    reply.status = atoi(data + strlen("HTTP/1.1 "));
    reply.body = data + body_at;
    reply.length = want;
    return reply;
}

/* One request on a kept connection; body NULL: none. */
static inline struct bench_reply bench_request(int fd, const char *method,
                                               const char *path, const char *content_type,
                                               const char *body, size_t length)
{
    double began_s = bench_now_s();
    struct bench_reply reply;

    bench_send(fd, method, path, content_type, body, length);
    reply = bench_receive(fd);
    reply.seconds = bench_now_s() - began_s;
    return reply;
}

/* A request that must be answered with 200. */
static inline struct bench_reply bench_post(int fd, const char *path, const char *body,
                                            size_t length)
{
    struct bench_reply reply =
        bench_request(fd, "POST", path, "application/json", body, length);

    if (reply.status != 200)
        bench_stop("POST %s answers %d: %.600s", path, reply.status, reply.body);
    return reply;
}

#endif
