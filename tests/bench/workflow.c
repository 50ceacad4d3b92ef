/* workflow.c - schedules of workflows, in process.
 *
 * Pegasus' published workflows first (GRIDPLAN_DATA), whose makespans are in
 * reference/dag_workflows.csv: four processors of speed 1, 1.5, 2 and 3, 1 Gbit/s
 * between any two. Then drawn graphs: every task has up to 8 parents among the 200 tasks
 * before it, resources of ten speeds on ten sites, bytes on the edges; with a matrix of
 * run times where it says so. Times are those of a decision: names, checks, plan, bound,
 * answer. Last, what a second of `search` gains over the best of the three.
 */
#include "algorithms/workflow/workflow.h"
#include "models/base/rng.h"
#include "models/dax.h"
#include "tests/bench/bench.h"

#include <math.h>

enum { SITES = 10, RESOURCES = 100, NEAR = 200 };
static const size_t ARENA_BYTES = (size_t)6 << 30;

struct drawing {
    size_t tasks, resources;
    double edges; /* a task, in the mean */
    bool matrix;
};

static void *need(void *memory)
{
    if (!memory)
        bench_stop("no memory");
    return memory;
}

static const char *name_of(struct arena *a, char letter, size_t number)
{
    return need(arena_printf(a, "%c%zu", letter, number));
}

static struct resource make_resource(const char *id, const char *site_id, double mips)
{
    return (struct resource){
        .id = id,
        .site_id = site_id,
        .mips_total = mips,
        .cpu_available_ratio = 1,
        .cpus = NAN,
        .memory_bytes = NAN,
        .n_max = NAN,
        .observed_at_s = NAN,
        .observed_since_s = NAN,
        .last_failure_at_s = NAN,
        .up_since_s = NAN,
    };
}

static struct resource *draw_resources(size_t count, struct rng *r, struct arena *a)
{
    struct resource *list = need(NEW(a, struct resource, count));

    for (size_t i = 0; i < count; i++)
        list[i] = make_resource(name_of(a, 'r', i), name_of(a, 's', i % SITES),
                                1 + (double)rng_index(r, 10) / 5);
    return list;
}

/* Parents of task i: distinct ones, at rising distance. */
static void draw_parents(const struct drawing *d, struct workflow_task *tasks, size_t i,
                         struct rng *r, struct arena *a)
{
    size_t most = (size_t)(2 * d->edges), wanted = rng_index(r, most + 1), at = i;
    struct workflow_dependency *list = need(NEW(a, struct workflow_dependency, wanted));
    size_t used = 0;

    while (used < wanted) {
        size_t step = 1 + rng_index(r, 2 * NEAR / most);

        if (step > at)
            break;
        at -= step;
        list[used++] =
            (struct workflow_dependency){tasks[at].id, NAN, floor(1e8 * rng_uniform(r))};
    }
    tasks[i].depends_on = list;
    tasks[i].dependency_count = used;
}

static struct workflow_task *draw_tasks(const struct drawing *d, struct rng *r,
                                        struct arena *a)
{
    struct workflow_task *list = need(NEW(a, struct workflow_task, d->tasks));

    for (size_t i = 0; i < d->tasks; i++) {
        double *etc_s = need(NEW(a, double, d->matrix ? d->resources : 0));

        list[i] = (struct workflow_task){
            .id = name_of(a, 't', i),
            .estimate_ref_s = 1 + floor(100 * rng_uniform(r)),
            .etc_s = etc_s,
            .etc_count = d->matrix ? d->resources : 0,
            .start_s = NAN,
            .finish_s = NAN,
            .progress_pct = NAN,
            .elapsed_s = NAN,
            .work_done_ref_s = NAN,
            .checkpoint_work_ref_s = NAN,
            .since_last_move_s = NAN,
            .weight = NAN,
        };
        for (size_t p = 0; p < list[i].etc_count; p++)
            etc_s[p] = 1 + floor(100 * rng_uniform(r));
        draw_parents(d, list, i, r, a);
    }
    return list;
}

/* A time limit. */
struct stopwatch {
    double begin_s, limit_s;
};

static double used(void *context)
{
    const struct stopwatch *w = context;

    return (bench_now_s() - w->begin_s) / w->limit_s;
}

/* Seconds of a decision; limit_s 0: as long as it takes. */
static double measure_within(const char *policy, const struct drawing *d, double limit_s,
                             struct workflow_objective *objective)
{
    struct arena *a = need(arena_create(ARENA_BYTES));
    struct rng r = rng_stream(1, "bench workflow");
    struct snapshot grid = {
        .taken_at_s = NAN,
        .list_observed_at_s = NAN,
        .network = {.wan_mbps = 200,
                    .wan_latency_s = 0.01,
                    .lan_mbps = 10000,
                    .lan_latency_s = 0.001},
        .resources = draw_resources(d->resources, &r, a),
        .resource_count = d->resources,
    };
    struct workflow flow = {
        .submitted_at_s = NAN, .tasks = draw_tasks(d, &r, a), .task_count = d->tasks};
    struct workflow_in in = {
        .snapshot = &grid, .workflows = &flow, .workflow_count = 1, .single = true};
    struct workflow_out out;
    struct error err = {.code = OK};
    double begin_s = bench_now_s();
    struct stopwatch watch = {begin_s, limit_s};
    struct budget budget = {.used = used, .context = &watch};

    if (limit_s > 0) {
        in.budget = &budget;
        in.time_limit_given = true;
    }
    if (workflow_decide(&in, policy_find(workflow_policies, policy), NULL, 0, &out, a,
                        &err) != OK)
        bench_stop("%s fails: %s", policy, err.text);
    begin_s = bench_now_s() - begin_s;
    *objective = out.objective;
    arena_close(a);
    return begin_s;
}

static double measure(const char *policy, const struct drawing *d,
                      struct workflow_objective *objective)
{
    return measure_within(policy, d, 0, objective);
}

static const char *const policies[] = {"heft", "cpop", "peft"};
enum { POLICIES = sizeof(policies) / sizeof(policies[0]) };

struct reference {
    const char *file;
    double makespan_s[POLICIES]; /* as `policies` */
};

static const struct reference references[] = {
    {"CyberShake_30.xml", {122.3753, 138.1128, 120.9353}},
    {"Epigenomics_24.xml", {2953.7794, 2953.7794, 2940.1902}},
    {"Montage_25.xml", {37.8123, 39.1820, 39.2464}},
};

static const char *read_data(const char *name, size_t *length, struct arena *a)
{
    enum { TEXT_BYTES = 1 << 20 };
    const char *folder = getenv("GRIDPLAN_DATA");
    char *text = need(NEW(a, char, TEXT_BYTES)), path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/04-dag/pegasus-dax/%s", folder ? folder : "", name);
    file = fopen(path, "r");
    if (!file)
        bench_stop("cannot read '%s' (GRIDPLAN_DATA)", path);
    *length = fread(text, 1, TEXT_BYTES, file);
    fclose(file);
    return text;
}

/* Makespan of an imported workflow on the four processors. */
static double schedule_imported(const char *policy, const struct workflow *flow,
                                struct arena *a)
{
    static const double speeds[] = {1, 1.5, 2, 3};
    struct resource resources[4];
    struct snapshot grid = {.taken_at_s = NAN,
                            .list_observed_at_s = NAN,
                            .network = {.wan_mbps = 1000,
                                        .wan_latency_s = NAN,
                                        .lan_mbps = NAN,
                                        .lan_latency_s = NAN},
                            .resources = resources,
                            .resource_count = 4};
    struct workflow_in in = {
        .snapshot = &grid, .workflows = flow, .workflow_count = 1, .single = true};
    struct workflow_out out;
    struct error err = {.code = OK};

    for (size_t i = 0; i < 4; i++)
        resources[i] = make_resource(name_of(a, 'r', i), NULL, speeds[i]);
    if (workflow_decide(&in, policy_find(workflow_policies, policy), NULL, 0, &out, a,
                        &err) != OK)
        bench_stop("%s fails: %s", policy, err.text);
    return out.objective.makespan_s;
}

static void measure_references(void)
{
    for (size_t i = 0; i < sizeof(references) / sizeof(references[0]); i++) {
        const struct reference *x = &references[i];
        struct arena *a = need(arena_create(ARENA_BYTES));
        struct workflow_import read;
        struct error err = {.code = OK};
        double makespan_s[POLICIES];
        char what[128], target[80];
        bool same = true;
        size_t length;
        const char *text = read_data(x->file, &length, a);

        if (dax_read(text, length, "", &read, a, &err) != OK)
            bench_stop("%s: %s", x->file, err.text);
        for (size_t k = 0; k < POLICIES; k++) {
            makespan_s[k] = schedule_imported(policies[k], &read.workflow, a);
            same = same && fabs(makespan_s[k] - x->makespan_s[k]) < 1e-4;
        }
        snprintf(what, sizeof(what), "%s: makespans of `heft`, `cpop`, `peft`", x->file);
        snprintf(target, sizeof(target), "%.4f, %.4f, %.4f s", x->makespan_s[0],
                 x->makespan_s[1], x->makespan_s[2]);
        bench_row(what, target, same ? BENCH_MET : BENCH_MISSED, "%.4f, %.4f, %.4f s",
                  makespan_s[0], makespan_s[1], makespan_s[2]);
        arena_close(a);
    }
}

static void measure_target(bool matrix)
{
    struct drawing d = {10000, RESOURCES, 4, matrix};

    for (size_t k = 0; k < POLICIES; k++) {
        struct workflow_objective o;
        double taken_s = measure(policies[k], &d, &o);
        char what[128];

        snprintf(what, sizeof(what), "`%s`, 10,000 tasks, 40,000 edges, 100 resources%s",
                 policies[k], matrix ? ", matrix of run times" : "");
        bench_row(what, k ? "" : "under 1 s",
                  k               ? BENCH_NO_TARGET
                  : taken_s < 1.0 ? BENCH_MET
                                  : BENCH_MISSED,
                  "%.3f s (gap to the bound %.1f %%)", taken_s, 100 * o.gap_ratio);
    }
}

static void measure_sizes(void)
{
    static const size_t sizes[] = {10000, 40000, 160000};

    for (size_t k = 0; k < POLICIES; k++) {
        struct workflow_objective o;
        double taken_s[3];
        char what[128];

        for (size_t i = 0; i < 3; i++) {
            struct drawing d = {sizes[i], RESOURCES, 4, false};

            taken_s[i] = measure(policies[k], &d, &o);
        }
        snprintf(what, sizeof(what),
                 "`%s`, 10,000, 40,000 and 160,000 tasks, 100 resources", policies[k]);
        bench_row(what, "", BENCH_NO_TARGET, "%.3f, %.3f, %.3f s", taken_s[0], taken_s[1],
                  taken_s[2]);
    }
}

static void measure_edges(void)
{
    struct drawing d = {250000, 10, 4, false};

    for (size_t k = 0; k < POLICIES; k++) {
        struct workflow_objective o;
        double taken_s = measure(policies[k], &d, &o);
        char what[128];

        snprintf(what, sizeof(what), "`%s`, 250,000 tasks, 1,000,000 edges, 10 resources",
                 policies[k]);
        bench_row(what, "", BENCH_NO_TARGET, "%.3f s (gap to the bound %.1f %%)", taken_s,
                  100 * o.gap_ratio);
    }
}

static void measure_search(void)
{
    static const struct drawing sizes[] = {{15, 3, 1.5, true},   {30, 4, 2, true},
                                           {100, 8, 2, true},    {100, 8, 2, false},
                                           {300, 16, 2, true},   {1000, 32, 2, true},
                                           {1000, 32, 2, false}, {5000, 32, 2, true}};

    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        const struct drawing *d = &sizes[k];
        struct workflow_objective three, found;
        char label[160];
        double took_s;

        measure("auto", d, &three);
        took_s = measure_within("search", d, 1, &found);
        snprintf(label, sizeof(label), "`search` 1 s, %zu tasks, %zu resources%s",
                 d->tasks, d->resources, d->matrix ? ", matrix of run times" : "");
        bench_row(label, "no worse than the best of three, in 1.1 s",
                  took_s <= 1.1 && found.makespan_s <= three.makespan_s ? BENCH_MET
                                                                        : BENCH_MISSED,
                  "%.1f %% shorter, gap %.1f instead of %.1f %%, %.2f s",
                  100 * (1 - found.makespan_s / three.makespan_s), 100 * found.gap_ratio,
                  100 * three.gap_ratio, took_s);
    }
}

int main(void)
{
    measure_references();
    measure_target(false);
    measure_target(true);
    measure_sizes();
    measure_edges();
    measure_search();
    return 0;
}
