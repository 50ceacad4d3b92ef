/* idle.c - memory of a service that has nothing to do. */
#include "tests/bench/bench.h"

#include <unistd.h>

int main(void)
{
    struct bench_process service = bench_start_service(true, NULL);
    double bytes;

    sleep(3);
    bytes = bench_memory_bytes(service.pid, "VmRSS");
    bench_end(&service);
    bench_row("Idle memory (VmRSS 3 s after the start, with a database)", "under 50 MiB",
              bytes < 50 * 1048576.0 ? BENCH_MET : BENCH_MISSED, "%.1f MiB",
              bytes / 1048576.0);
    return 0;
}
