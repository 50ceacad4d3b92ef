/* throughput.c - small decisions a second, beside a bare server.
 *
 * Rounds of wrk alternate between the two, so that a slow moment of the machine
 * hits both. */
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 9, ROUND_S = 2 };

static const char body[] =
    "{\"algorithm\":\"young\",\"jobs\":[{\"id\":\"j\","
    "\"checkpoint_overhead_s\":60,\"mean_failure_interval_s\":3600}]}";

static void check_answer(int port)
{
    int fd = bench_connect(port);
    struct bench_reply reply =
        bench_post(fd, "/v1/checkpoint-intervals", body, sizeof(body) - 1);

    if (!strstr(reply.body, "\"interval_s\":657.26706"))
        bench_stop("port %d answers nonsense: %s", port, reply.body);
    fprintf(stderr, "port %d: %s\n", port, reply.body);
    close(fd);
}

/* Requests per second of one round. */
static double round_of(const char *script, int port)
{
    char command[1024], line[512];
    double per_s = -1;
    FILE *pipe;

    snprintf(
        command, sizeof(command),
        "wrk -t1 -c16 -d%ds -s '%s' http://127.0.0.1:%d/v1/checkpoint-intervals 2>&1",
        ROUND_S, script, port);
    pipe = popen(command, "r");
    if (!pipe)
        bench_stop("cannot run wrk");
    while (fgets(line, sizeof(line), pipe)) {
        if (strstr(line, "Non-2xx") || strstr(line, "Socket errors"))
            bench_stop("wrk at port %d: %s", port, line);
        sscanf(line, "Requests/sec: %lf", &per_s);
    }
    if (pclose(pipe) != 0 || per_s < 0)
        bench_stop("wrk failed (is it installed?): %s", command);
    return per_s;
}

int main(int argc, char **argv)
{
    static const char *const settings[] = {"GRIDPLAN_IO_THREADS=2", NULL};
    double bare[ROUNDS], ours[ROUNDS], ratio[ROUNDS], of_medians;
    struct bench_process bare_process, service;

    if (argc != 3)
        bench_stop("usage: bench_throughput BARE_SERVER SCRIPT.lua");
    bare_process = bench_start(argv[1], NULL, NULL);
    service = bench_start_service(false, settings);
    check_answer(bare_process.port);
    check_answer(service.port);
    round_of(argv[2], bare_process.port); /* warm up */
    round_of(argv[2], service.port);
    for (int i = 0; i < ROUNDS; i++) {
        bare[i] = round_of(argv[2], bare_process.port);
        ours[i] = round_of(argv[2], service.port);
        ratio[i] = ours[i] / bare[i];
        fprintf(stderr, "round %d: bare %.0f/s, gridplan %.0f/s\n", i + 1, bare[i],
                ours[i]);
    }
    bench_end(&service);
    bench_end(&bare_process);
    of_medians = bench_quantile(ours, ROUNDS, 0.5) / bench_quantile(bare, ROUNDS, 0.5);
    bench_row(
        "Small decision (checkpoint interval) over HTTP, against a bare "
        "libmicrohttpd and cJSON server (wrk -t1 -c16)",
        "at least 80 %", of_medians >= 0.8 ? BENCH_MET : BENCH_MISSED,
        "%.0f %% (medians %.0f/s of %.0f/s, %d alternating rounds of %d s; by round "
        "%.0f to %.0f %%)",
        100 * of_medians, bench_quantile(ours, ROUNDS, 0.5),
        bench_quantile(bare, ROUNDS, 0.5), ROUNDS, ROUND_S,
        100 * bench_quantile(ratio, ROUNDS, 0), 100 * bench_quantile(ratio, ROUNDS, 1));
    return 0;
}
