/* checkpoint_plans.c - checkpoints that are best, and what they cost to find.
 *
 * The dynamic programme and its bound on 16 settings (Weibull shapes 0.5, 0.7, 1.5, 2;
 * checkpoints of 0.001 and 0.01 of the mean, works of 0.5 and 4 of it), in process; and
 * one request for 100,000 jobs that end, over HTTP.
 */
#include "algorithms/checkpoint/renewal.h"
#include "tests/bench/bench.h"

#include <math.h>

enum { SETTINGS = 16, ROUNDS = 3, JOBS = 100000 };
#define MEAN_S 86400.0

struct setting {
    double shape, c, w;
};

static struct setting setting_at(int i)
{
    static const double shapes[] = {0.5, 0.7, 1.5, 2};

    return (struct setting){shapes[i / 4], MEAN_S * (i & 2 ? 0.01 : 0.001),
                            MEAN_S * (i & 1 ? 4 : 0.5)};
}

/* Of one core: what others on the machine do has little part in it. */
static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void measure_dp(void)
{
    double dp_s[SETTINGS], bound_s[SETTINGS], gap = 0;

    for (int i = 0; i < SETTINGS; i++) {
        struct setting s = setting_at(i);
        struct renewal_job job = {.work_s = s.w,
                                  .overhead_s = s.c,
                                  .restart_s = s.c,
                                  .scratch_s = s.c,
                                  .shape = s.shape,
                                  .scale_s = MEAN_S / tgamma(1 + 1 / s.shape)};
        double dp[ROUNDS], bound[ROUNDS], value_s = 0, least_s = 0;

        for (int round = 0; round < ROUNDS; round++) {
            struct arena *a = arena_create((size_t)1 << 30);
            double began_s = cpu_s();
            struct renewal_table table;

            if (!renewal_solve(&job, NULL, &table, a))
                bench_stop("no table");
            value_s = renewal_decide(&table).value_s;
            dp[round] = cpu_s() - began_s;
            began_s = cpu_s();
            least_s = renewal_bound_s(&job, NULL, a);
            bound[round] = cpu_s() - began_s;
            arena_close(a);
        }
        dp_s[i] = bench_quantile(dp, ROUNDS, 0.5);
        bound_s[i] = bench_quantile(bound, ROUNDS, 0.5);
        gap = fmax(gap, value_s / least_s - 1);
    }
    bench_row(
        "Checkpoints of one job on a node that ages, dynamic programme, 16 settings",
        "at most 50 ms", bench_quantile(dp_s, SETTINGS, 1) <= 0.05,
        "%.1f ms of CPU the slowest, median %.1f ms",
        1e3 * bench_quantile(dp_s, SETTINGS, 1),
        1e3 * bench_quantile(dp_s, SETTINGS, 0.5));
    bench_row("the same, its lower bound", "at most 2 s",
              bench_quantile(bound_s, SETTINGS, 1) <= 2,
              "%.2f s of CPU the slowest, median %.2f s",
              bench_quantile(bound_s, SETTINGS, 1),
              bench_quantile(bound_s, SETTINGS, 0.5));
    bench_row("the same, value over bound, less 1", "at most 2.5 %", gap <= 0.025,
              "%.2f %% the widest", 100 * gap);
}

static void measure_batch(void)
{
    struct bench_process service = bench_start_service(false, NULL);
    struct bench_text body = {0};
    double seconds[ROUNDS];
    int fd = bench_connect(service.port);

    bench_add(&body, "{\"algorithm\":\"finite\",\"jobs\":[");
    for (int i = 0; i < JOBS; i++)
        bench_add(&body,
                  "%s{\"id\":\"j%d\",\"event\":\"start\",\"checkpoint_overhead_s\":%d,"
                  "\"restart_s\":%d,\"reschedule_delay_s\":60,"
                  "\"mean_failure_interval_s\":%d,\"execution_time_s\":%d}",
                  i ? "," : "", i, 10 + i % 600, 10 + i % 300, 20000 + i % 100000,
                  1000 + 7 * i);
    bench_add(&body, "]}");
    for (int i = 0; i < ROUNDS; i++) {
        struct bench_reply reply =
            bench_post(fd, "/v1/checkpoint-intervals", body.data, body.length);

        seconds[i] = reply.seconds;
    }
    bench_row("Checkpoint intervals of 100,000 jobs, `finite`, in one request over HTTP",
              "at most 3 s", bench_quantile(seconds, ROUNDS, 0.5) <= 3,
              "%.2f s (median of %d; body %.1f MB)", bench_quantile(seconds, ROUNDS, 0.5),
              ROUNDS, 1e-6 * (double)body.length);
    close(fd);
    bench_end(&service);
}

int main(void)
{
    measure_dp();
    measure_batch();
    return 0;
}
