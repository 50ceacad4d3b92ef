/* placement.c - 10,000 jobs on 10,000 resources over HTTP, against the
 * time that cJSON needs to parse the body and against its size. */
#include "tests/bench/grid.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <unistd.h>

enum { SIZE = 10000, ROUNDS = 7 };

static double parse_s(const struct bench_text *body)
{
    double began_s = bench_now_s();
    cJSON *json = cJSON_ParseWithLength(body->data, body->length);
    double seconds = bench_now_s() - began_s;

    if (!json)
        bench_stop("cJSON cannot parse the body");
    cJSON_Delete(json);
    return seconds;
}

/* Requests and parsing alternate, so that a slow moment of the machine hits both. */
static void measure(const struct grid *g, size_t requirement_count, const char *algorithm)
{
    static const char *const settings[] = {"GRIDPLAN_MAX_BODY_BYTES=67108864", NULL};
    struct bench_text body = {0};
    struct bench_process service = bench_start_service(false, settings);
    double answer_s[ROUNDS], parsing_s[ROUNDS], ratio[ROUNDS], before, memory_ratio,
        median;
    int fd = bench_connect(service.port);
    char what[160];

    grid_print(g, algorithm, "", &body);
    before = bench_memory_bytes(service.pid, "VmRSS");
    bench_reset_peak(service.pid);
    for (int i = 0; i < ROUNDS; i++) {
        parsing_s[i] = parse_s(&body);
        answer_s[i] = bench_post(fd, "/v1/placements", body.data, body.length).seconds;
        ratio[i] = answer_s[i] / parsing_s[i];
    }
    memory_ratio =
        (bench_memory_bytes(service.pid, "VmHWM") - before) / (double)body.length;
    close(fd);
    bench_end(&service);
    median = bench_quantile(ratio, ROUNDS, 0.5);
    snprintf(
        what, sizeof(what),
        "10,000 jobs x 10,000 resources, %zu different requirements, `%s`, over HTTP",
        requirement_count, algorithm);
    bench_row(what, "under 8x parsing by cJSON", median < 8 ? BENCH_MET : BENCH_MISSED,
              "%.1fx (median of %d, %.1f to %.1f; medians: %.0f ms, cJSON %.1f ms; body "
              "%.2f MB)",
              median, ROUNDS, bench_quantile(ratio, ROUNDS, 0),
              bench_quantile(ratio, ROUNDS, 1),
              1e3 * bench_quantile(answer_s, ROUNDS, 0.5),
              1e3 * bench_quantile(parsing_s, ROUNDS, 0.5), 1e-6 * (double)body.length);
    bench_row("the same: growth of peak RSS", "under 20x the body",
              memory_ratio < 20 ? BENCH_MET : BENCH_MISSED, "%.1fx (%.1f MB)",
              memory_ratio, 1e-6 * memory_ratio * (double)body.length);
    free(body.data);
}

int main(void)
{
    static const char *const algorithms[] = {"mct", "min_min", "auto"};
    static const size_t thresholds[] = {4, 256};
    struct arena *a = arena_create((size_t)1 << 32);

    for (size_t t = 0; t < 2; t++) {
        struct grid g = grid_create(SIZE, SIZE, thresholds[t], a);

        for (size_t i = 0; i < sizeof(algorithms) / sizeof(algorithms[0]); i++)
            measure(&g, 3 * thresholds[t], algorithms[i]);
        arena_reset(a);
    }
    arena_close(a);
    return 0;
}
