/* latency.c - small requests while every compute worker searches. */
#include "tests/bench/grid.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

enum { SEARCHES_MAX = 64, SAMPLES_MAX = 200000, LIMIT_S = 30, MEASURE_S = 20 };

static const char small[] =
    "{\"algorithm\":\"young\",\"jobs\":[{\"id\":\"j\","
    "\"checkpoint_overhead_s\":60,\"mean_failure_interval_s\":3600}]}";

static void report(const char *what, double *seconds, size_t count)
{
    double p50 = bench_quantile(seconds, count, 0.5);
    double p99 = bench_quantile(seconds, count, 0.99);
    double most = bench_quantile(seconds, count, 1);

    bench_row(what, "p99 under 10 ms (ours)", p99 < 0.010 ? BENCH_MET : BENCH_MISSED,
              "p50 %.3f ms, p99 %.3f ms, max %.1f ms (%zu requests)", 1e3 * p50,
              1e3 * p99, 1e3 * most, count);
}

struct samples {
    double live_s[SAMPLES_MAX], decide_s[SAMPLES_MAX];
    size_t count;
};

/* Asks in turn for MEASURE_S seconds, one request a millisecond at most. */
static void measure(int port, struct samples *s)
{
    int fd = bench_connect(port);
    double until_s = bench_now_s() + MEASURE_S;

    for (s->count = 0; bench_now_s() < until_s && s->count < SAMPLES_MAX; s->count++) {
        struct bench_reply reply = bench_request(fd, "GET", "/livez", NULL, NULL, 0);

        if (reply.status != 200)
            bench_stop("/livez answers %d", reply.status);
        s->live_s[s->count] = reply.seconds;
        s->decide_s[s->count] =
            bench_post(fd, "/v1/checkpoint-intervals", small, sizeof(small) - 1).seconds;
        usleep(1000);
    }
    close(fd);
}

static void report_both(struct samples *s, const char *when)
{
    char what[128];

    snprintf(what, sizeof(what), "Latency of /livez %s", when);
    report(what, s->live_s, s->count);
    snprintf(what, sizeof(what), "Latency of a checkpoint decision %s", when);
    report(what, s->decide_s, s->count);
}

static bool answered(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, 0) > 0;
}

int main(void)
{
    static struct samples samples;
    struct arena *a = arena_create((size_t)1 << 30);
    struct grid g = grid_create_matrix(512, 16, a);
    struct bench_text body = {0};
    struct bench_process service = bench_start_service(false, NULL);
    long workers = sysconf(_SC_NPROCESSORS_ONLN);
    int search[SEARCHES_MAX];
    char more[64], when[64];

    if (workers > SEARCHES_MAX)
        workers = SEARCHES_MAX;
    measure(service.port, &samples);
    report_both(&samples, "at rest");
    snprintf(more, sizeof(more), ",\"time_limit_s\":%d", LIMIT_S);
    grid_print(&g, "search", more, &body);
    for (long i = 0; i < workers; i++) {
        search[i] = bench_connect(service.port);
        bench_send(search[i], "POST", "/v1/placements", "application/json", body.data,
                   body.length);
    }
    sleep(1);
    measure(service.port, &samples);
    for (long i = 0; i < workers; i++) {
        if (answered(search[i]))
            bench_stop("a search of %d s was answered within %d s: %.400s", LIMIT_S,
                       MEASURE_S + 1, bench_receive(search[i]).body);
        close(search[i]);
    }
    snprintf(when, sizeof(when), "while %ld searches of %d s run", workers, LIMIT_S);
    report_both(&samples, when);
    bench_end(&service);
    arena_close(a);
    return 0;
}
