/* cluster_queue.c - a decision about a cluster's queue, in process. CPU time.
 *
 * 1,000 nodes of 64 cpus in one partition; 10,000 jobs wait, half of them on one node,
 * the others on up to 64; limits up to ten hours in whole minutes. Running jobs fill most
 * nodes, or quarters of all of them. Backfill tests 1,000 rows.
 */
#include "tests/bench/bench.h"

#include "algorithms/cluster_queue/decide.h"
#include "models/base/rng.h"

#include <math.h>

enum { NODES = 1000, WAITING = 10000, AMOUNTS = 2 };

static struct cluster_limits no_limits(void)
{
    struct cluster_amount_limits none = {NULL, HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL};

    return (struct cluster_limits){HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL,
                                   none,     none,     none,     none};
}

static const int64_t *units(struct arena *a, double cpus)
{
    int64_t *list = NEW(a, int64_t, AMOUNTS);

    list[CLUSTER_CPUS] = (int64_t)(cpus * CLUSTER_UNITS);
    list[CLUSTER_MEMORY] = (int64_t)1 << 30;
    return list;
}

static void draw_running(struct cluster *c, size_t count, bool quarters, struct rng *r,
                         struct arena *a)
{
    struct cluster_running *list = NEW(a, struct cluster_running, count);

    for (size_t i = 0; i < count; i++) {
        uint32_t *node = NEW(a, uint32_t, 1);
        double cpus = quarters ? 16 : rng_uniform(r) < 0.7 ? 64 : 32;

        *node = (uint32_t)(i % NODES);
        list[i] = (struct cluster_running){.id = "r",
                                           .of = {-1, -1, -1, 0, -1, -1},
                                           .nodes = node,
                                           .node_count = 1,
                                           .taken = units(a, cpus),
                                           .end_s = floor(80000 * rng_uniform(r))};
    }
    c->running = list;
    c->running_count = count;
}

static void draw_waiting(struct cluster *c, struct rng *r, struct arena *a)
{
    struct cluster_job *jobs = NEW(a, struct cluster_job, WAITING);
    struct cluster_row *rows = NEW(a, struct cluster_row, WAITING);

    for (size_t i = 0; i < WAITING; i++) {
        size_t nodes = rng_uniform(r) < 0.5 ? 1 : (size_t)exp2(6 * rng_uniform(r));

        jobs[i] = (struct cluster_job){.id = "j",
                                       .number = (double)i,
                                       .task = (double)NAN,
                                       .of = {-1, -1, -1, -1, -1, -1},
                                       .nodes = nodes,
                                       .nodes_max = nodes,
                                       .reservation = CLUSTER_NONE,
                                       .limit_min_s = (double)NAN,
                                       .deadline_s = HUGE_VAL};
        rows[i] = (struct cluster_row){i,
                                       0,
                                       units(a, 1 + floor(64 * rng_uniform(r))),
                                       60 + floor(600 * rng_uniform(r)) * 60,
                                       (double)(WAITING - i),
                                       NULL};
    }
    c->jobs = jobs;
    c->rows = rows;
    c->job_count = c->row_count = WAITING;
}

static void make_nodes(struct cluster *c, struct arena *a)
{
    struct cluster_node *nodes = NEW(a, struct cluster_node, NODES);
    uint64_t *all = NEW(a, uint64_t, cluster_words(NODES));
    struct cluster_partition *p = NEW(a, struct cluster_partition, 1);

    for (size_t i = 0; i < NODES; i++) {
        int64_t *capacity = NEW(a, int64_t, AMOUNTS);

        capacity[CLUSTER_CPUS] = (int64_t)(64 * CLUSTER_UNITS);
        capacity[CLUSTER_MEMORY] = (int64_t)256 << 30;
        nodes[i] = (struct cluster_node){.id = "n",
                                         .weight = 1,
                                         .capacity = capacity,
                                         .core_units = (int64_t)CLUSTER_UNITS,
                                         .starts = true};
        cluster_set_add(all, i);
    }
    *p = (struct cluster_partition){.id = "p",
                                    .nodes = all,
                                    .starts = true,
                                    .tier = 1,
                                    .limit_max_s = HUGE_VAL,
                                    .nodes_max = HUGE_VAL,
                                    .cpus_per_node_max = CLUSTER_ENDLESS,
                                    .qos_id = CLUSTER_NONE,
                                    .limits = no_limits()};
    c->nodes = nodes;
    c->node_count = NODES;
    c->partitions = p;
    c->partition_count = 1;
    c->amount_count = AMOUNTS;
}

struct deciding {
    struct cluster c;
    struct cluster_decision out;
    struct arena *a;
};

static void decide(void *context)
{
    struct deciding *d = context;

    cluster_decide(&d->c, &d->out, d->a);
}

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void measure(const char *what, size_t running, bool quarters)
{
    struct deciding d = {.a = arena_create((size_t)4 << 30)};
    struct rng r = rng_stream(1, what);
    size_t starts = 0, plans = 0;
    double taken_s;

    if (!d.a)
        bench_stop("no memory");
    make_nodes(&d.c, d.a);
    draw_running(&d.c, running, quarters, &r, d.a);
    draw_waiting(&d.c, &r, d.a);
    d.c.settings = (struct cluster_settings){.bf_interval_s = 30,
                                             .bf_window_s = 172800,
                                             .bf_resolution_s = 60,
                                             .bf_max_job_test = 1000,
                                             .bf_max_job_user = HUGE_VAL,
                                             .bf_max_job_user_part = HUGE_VAL,
                                             .bf_max_job_part = HUGE_VAL,
                                             .bf_max_job_assoc = HUGE_VAL,
                                             .bf_max_job_start = HUGE_VAL,
                                             .bf_max_job_array_resv = 20,
                                             .sched_max_job_start = HUGE_VAL,
                                             .memory_counts = true};
    taken_s = cpu_s();
    if (!arena_run(d.a, decide, &d))
        bench_stop("no memory");
    taken_s = cpu_s() - taken_s;
    for (size_t i = 0; i < WAITING; i++) {
        starts += d.out.verdicts[i].outcome == CLUSTER_STARTS;
        plans += d.out.verdicts[i].outcome == CLUSTER_WAITS &&
                 !isnan(d.out.verdicts[i].start_s);
    }
    bench_row(what, "under 1 s", taken_s < 1 ? BENCH_MET : BENCH_MISSED,
              "%.3f s, %zu start, %zu have a plan", taken_s, starts, plans);
    arena_close(d.a);
}

int main(void)
{
    measure("`slurm_backfill`, 10,000 wait for 1,000 nodes, most of them full", 900,
            false);
    measure("`slurm_backfill`, the same, four jobs on each node", 4000, true);
    return 0;
}
