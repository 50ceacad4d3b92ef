/* ingest.c - load samples stored a second, over HTTP as NDJSON, committed
 * to a PostgreSQL that waits for its disk. */
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RESOURCES = 1000, LINES = 100000, BODIES = 10 };

/* One body: every resource at LINES / RESOURCES instants of its own. */
static struct bench_text body_of(int client, int number)
{
    struct bench_text body = {0};
    time_t first = time(NULL) - 86400 + number * (LINES / RESOURCES);

    for (int i = 0; i < LINES; i++) {
        time_t at = first + i / RESOURCES;
        struct tm tm;
        char instant[32];

        gmtime_r(&at, &tm);
        strftime(instant, sizeof(instant), "%Y-%m-%dT%H:%M:%SZ", &tm);
        bench_add(&body,
                  "{\"resource_id\":\"c%d-h%d\",\"observed_at\":\"%s\","
                  "\"cpu_available_ratio\":%.3f,\"memory_available_bytes\":%zu}\n",
                  client, i % RESOURCES, instant, (i * 7919 % 1000) / 1000.0,
                  (size_t)1000000 * ((size_t)i % 4096));
    }
    return body;
}

static void send_bodies(int port, const struct bench_text *bodies, int count)
{
    int fd = bench_connect(port);

    for (int i = 0; i < count; i++) {
        struct bench_reply reply =
            bench_request(fd, "POST", "/v1/load-samples", "application/x-ndjson",
                          bodies[i].data, bodies[i].length);

        if (reply.status != 201)
            bench_stop("POST /v1/load-samples answers %d: %.600s", reply.status,
                       reply.body);
    }
    close(fd);
}

/* Rows in the table, asked past the service. */
static double stored_count(void)
{
    char command[2048], line[128] = "";
    FILE *pipe;

    snprintf(command, sizeof(command),
             "psql -X -A -t '%s' -c 'SELECT count(*) FROM load_sample'",
             getenv("GRIDPLAN_BENCH_DATABASE"));
    pipe = popen(command, "r");
    if (!pipe || !fgets(line, sizeof(line), pipe) || pclose(pipe) != 0)
        bench_stop("cannot count: %s", command);
    return strtod(line, NULL);
}

static void measure(int clients)
{
    struct bench_process service = bench_start_service(true, NULL);
    struct bench_text bodies[BODIES];
    double before, began_s, seconds, rows, per_s;
    int share = BODIES / clients;
    char what[128];

    for (int i = 0; i < BODIES; i++)
        bodies[i] = body_of(10 * clients + i / share, i);
    before = stored_count();
    began_s = bench_now_s();
    for (int c = 0; c < clients; c++) {
        pid_t pid = fork();

        if (pid == 0) {
            send_bodies(service.port, bodies + c * share, share);
            _exit(0);
        }
    }
    for (int c = 0; c < clients; c++) {
        int status;

        if (wait(&status) < 0 || status != 0)
            bench_stop("a client failed");
    }
    seconds = bench_now_s() - began_s;
    for (int i = 0; i < BODIES; i++)
        free(bodies[i].data);
    rows = stored_count() - before;
    bench_end(&service);
    if (rows != (double)share * clients * LINES)
        bench_stop("%d lines were acknowledged, %.0f are stored", share * clients * LINES,
                   rows);
    per_s = rows / seconds;
    snprintf(what, sizeof(what),
             "Load samples over HTTP (NDJSON, %d lines a body, %d client%s)", LINES,
             clients, clients == 1 ? "" : "s");
    bench_row(what, "at least 100,000/s committed",
              per_s >= 100000 ? BENCH_MET : BENCH_MISSED, "%.0f/s (%.0f rows in %.2f s)",
              per_s, rows, seconds);
}

int main(void)
{
    measure(1);
    measure(2);
    return 0;
}
