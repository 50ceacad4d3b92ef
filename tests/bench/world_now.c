/* world_now.c - which of 230,000 ready jobs start at this moment.
 *
 * A pool of 64, 512 or 4,096 cores with 4 GB each and a GPU for every 8; jobs of 10, 100
 * and 1,000 classes, drawn by xorshift64. CPU of the decision alone.
 */
#include "tests/bench/bench.h"

#include "algorithms/world/now.h"

enum { JOBS = 230000, SIZES = 3 };

static uint64_t state;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { GPUS = AMOUNT_NAMED, AMOUNTS = AMOUNT_NAMED + 1 };

/* Needs of one class: cores, memory, GPUs. */
static void draw_class(int64_t *needs, double *weight)
{
    int64_t cores = 1 + (int64_t)(draw() % 32);

    needs[AMOUNT_CPUS] = cores * AMOUNT_UNITS_PER_ONE;
    needs[AMOUNT_MEMORY] = cores * (1 + (int64_t)(draw() % 7000)) * 1000000;
    needs[AMOUNT_JOBS] = needs[AMOUNT_PRESENCE] = 1;
    needs[GPUS] = draw() % 10 == 0 ? AMOUNT_UNITS_PER_ONE : 0;
    *weight = (double)(1 + draw() % 1000);
}

static void fill_jobs(struct world_job *jobs, size_t classes,
                      const struct world_choice *choice, struct arena *a)
{
    int64_t *needs = NEW(a, int64_t, classes * AMOUNTS);
    double *weights = NEW(a, double, classes);

    for (size_t c = 0; c < classes; c++)
        draw_class(needs + c * AMOUNTS, &weights[c]);
    for (size_t j = 0; j < JOBS; j++) {
        size_t c = draw() % classes;
        int64_t *own = NEW(a, int64_t, AMOUNTS);

        memcpy(own, needs + c * AMOUNTS, AMOUNTS * sizeof(*own));
        jobs[j] = (struct world_job){.id = "j",
                                     .needs = own,
                                     .nodes = 1,
                                     .estimate_ref_s = (double)NAN,
                                     .estimate_s = (double)NAN,
                                     .time_limit_s = HUGE_VAL,
                                     .deadline_s = HUGE_VAL,
                                     .weight = weights[c],
                                     .group = WORLD_NONE,
                                     .choices = choice,
                                     .choice_count = 1};
    }
}

static void measure(int64_t cores, size_t classes, struct arena *a)
{
    static const uint64_t mask = 1;
    const struct world_choice choice = {NULL, &mask, 1};
    int64_t capacity[AMOUNTS] = {0};
    struct world_resource resource = {.id = "pool", .speed = 1, .capacity = capacity};
    struct world w = {.node_amount_count = AMOUNTS,
                      .amount_count = AMOUNTS,
                      .resources = &resource,
                      .resource_count = 1,
                      .site_count = 1,
                      .job_count = JOBS};
    struct world_job *jobs = NEW(a, struct world_job, JOBS);
    struct now_in in = {.w = &w};
    struct now_out out;
    double used_s;

    state = 88172645463325252u ^ (7919 * (uint64_t)classes);
    for (size_t k = 0; k < AMOUNTS; k++)
        w.amounts[k] = (struct world_amount){"amount", 1};
    capacity[AMOUNT_CPUS] = cores * AMOUNT_UNITS_PER_ONE;
    capacity[AMOUNT_MEMORY] = cores * 4000000000;
    capacity[AMOUNT_DISK] = capacity[AMOUNT_JOBS] = AMOUNT_UNLIMITED;
    capacity[AMOUNT_PRESENCE] = AMOUNT_PRESENCE_ALL;
    capacity[GPUS] = cores / 8 * AMOUNT_UNITS_PER_ONE;
    fill_jobs(jobs, classes, &choice, a);
    w.jobs = jobs;
    used_s = cpu_s();
    world_start_now(&in, &out, a);
    used_s = cpu_s() - used_s;
    {
        char what[160];

        snprintf(what, sizeof(what),
                 "Jobs to start now: 230,000 ready jobs of %zu classes, one pool of %d "
                 "cores, memory and GPUs",
                 classes, (int)cores);
        bench_row(what, "proven, at most 20 ms of CPU",
                  out.proven && used_s <= 0.020 ? BENCH_MET : BENCH_MISSED,
                  "%s, %.1f ms; %zu start, %zu nodes",
                  out.proven ? "proven" : "not proven", 1e3 * used_s,
                  out.plan.placed_count, out.node_count);
    }
    arena_reset(a);
}

/* The same jobs on many nodes, where rounds of pools and a bound of their sum take the
 * place of a proof. */
static void measure_nodes(size_t nodes, size_t classes, struct arena *a)
{
    struct world_resource *list = NEW(a, struct world_resource, nodes);
    uint64_t *mask = NEW(a, uint64_t, nodes / 64 + 1);
    struct world_choice choice = {NULL, mask, nodes};
    struct world w = {.node_amount_count = AMOUNTS,
                      .amount_count = AMOUNTS,
                      .resources = list,
                      .resource_count = nodes,
                      .site_count = 1,
                      .job_count = JOBS};
    struct world_job *jobs = NEW(a, struct world_job, JOBS);
    struct now_in in = {.w = &w};
    struct now_out out;
    char what[160];
    double used_s;

    state = 88172645463325252u ^ (7919 * (uint64_t)nodes);
    for (size_t k = 0; k < AMOUNTS; k++)
        w.amounts[k] = (struct world_amount){"amount", 1};
    for (size_t i = 0; i < nodes; i++) {
        int64_t *capacity = NEW(a, int64_t, AMOUNTS), cores = 16 << draw() % 4;

        mask[i / 64] |= UINT64_C(1) << i % 64;
        capacity[AMOUNT_CPUS] = cores * AMOUNT_UNITS_PER_ONE;
        capacity[AMOUNT_MEMORY] = cores * 4000000000;
        capacity[AMOUNT_DISK] = capacity[AMOUNT_JOBS] = AMOUNT_UNLIMITED;
        capacity[AMOUNT_PRESENCE] = AMOUNT_PRESENCE_ALL;
        capacity[GPUS] = draw() % 10 < 7 ? 0 : 4 * AMOUNT_UNITS_PER_ONE;
        list[i] = (struct world_resource){
            .id = "n", .index = i, .speed = 1, .capacity = capacity};
    }
    fill_jobs(jobs, classes, &choice, a);
    w.jobs = jobs;
    used_s = cpu_s();
    world_start_now(&in, &out, a);
    used_s = cpu_s() - used_s;
    snprintf(what, sizeof(what),
             "Jobs to start now: 230,000 ready jobs of %zu classes, %zu nodes", classes,
             nodes);
    bench_row(what, "", BENCH_NO_TARGET, "%.2f s, gap %.5f; %zu start, %zu rounds",
              used_s, out.tiers[0].bound / out.tiers[0].value - 1, out.plan.placed_count,
              out.round_count);
    arena_reset(a);
}

int main(void)
{
    static const int64_t cores[SIZES] = {64, 512, 4096};
    static const size_t classes[SIZES] = {10, 100, 1000};
    struct arena *a = arena_create((size_t)2 << 30);

    if (!a)
        bench_stop("no memory");
    for (size_t i = 0; i < SIZES; i++)
        for (size_t k = 0; k < SIZES; k++)
            measure(cores[i], classes[k], a);
    measure_nodes(100, 100, a);
    measure_nodes(1000, 100, a);
    measure_nodes(5000, 100, a);
    arena_close(a);
    return 0;
}
