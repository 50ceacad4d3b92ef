/* workflow_search.c - what the search for schedules of workflows reaches, in process.
 *
 * Layered graphs on 16 processors: layers of a width between w / 2 and 2 w, w the root of
 * the number of tasks; every task has 1 to 4 parents in the layer before; mean run times
 * of 10 to 100 s, times 0.75 to 1.25 on each processor; transfers of 55 s times the ratio
 * of communication to computation (CCR), times 0.5 to 1.5. Two seconds of CPU each, three
 * graphs of each kind; the target holds for the first. Then what must be proven, and how
 * soon, and whether a time limit is kept (from the request read to the answer made).
 * Targets: spec search.md 11.1.
 */
#include "algorithms/workflow/problem.h"
#include "models/base/rng.h"
#include "tests/bench/bench.h"

#include <math.h>

enum { PROCESSORS = 16, SEEDS = 3 };
static const size_t ARENA_BYTES = (size_t)2 << 30;

static void *need(void *memory)
{
    if (!memory)
        bench_stop("no memory");
    return memory;
}

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- graphs ---- */

static struct workflow_task make_task(size_t number, double *etc_s, size_t processors,
                                      struct arena *a)
{
    return (struct workflow_task){
        .id = need(arena_printf(a, "t%zu", number)),
        .estimate_ref_s = NAN,
        .estimate_s = NAN,
        .etc_s = etc_s,
        .etc_count = processors,
        .start_s = NAN,
        .finish_s = NAN,
        .progress_pct = NAN,
        .elapsed_s = NAN,
        .work_done_ref_s = NAN,
        .checkpoint_work_ref_s = NAN,
        .since_last_move_s = NAN,
    };
}

static struct resource *make_resources(size_t count, struct arena *a)
{
    struct resource *list = need(NEW(a, struct resource, count));

    for (size_t i = 0; i < count; i++)
        list[i] = (struct resource){
            .id = need(arena_printf(a, "p%zu", i)),
            .mips_total = 1,
            .cpu_available_ratio = 1,
            .cpus = NAN,
            .memory_bytes = NAN,
            .n_max = NAN,
            .observed_at_s = NAN,
            .observed_since_s = NAN,
            .last_failure_at_s = NAN,
            .up_since_s = NAN,
        };
    return list;
}

/* 1 to 4 distinct parents of the layer that begins at `first`. */
static void draw_parents(struct workflow_task *tasks, size_t i, size_t first,
                         size_t width, double ccr, struct rng *r, struct arena *a)
{
    size_t wanted = 1 + rng_index(r, 4), used = 0;
    struct workflow_dependency *list = need(NEW(a, struct workflow_dependency, 4));

    while (used < wanted && used < width) {
        const char *id = tasks[first + rng_index(r, width)].id;
        bool known = false;

        for (size_t k = 0; k < used; k++)
            known = known || list[k].task_id == id;
        if (!known)
            list[used++] =
                (struct workflow_dependency){id, 55 * ccr * (0.5 + rng_uniform(r)), NAN};
    }
    tasks[i].depends_on = list;
    tasks[i].dependency_count = used;
}

static struct workflow_task *draw_layers(size_t n, double ccr, uint64_t seed,
                                         struct arena *a)
{
    struct workflow_task *tasks = need(NEW(a, struct workflow_task, n));
    struct rng r = rng_stream(seed, "bench workflow layers");
    size_t w = (size_t)sqrt((double)n), before = 0, first = 0;

    while (first < n) {
        size_t width = w / 2 + rng_index(&r, 2 * w - w / 2 + 1);

        for (size_t i = first; i < first + width && i < n; i++) {
            double mean_s = 10 + 90 * rng_uniform(&r);
            double *etc_s = need(NEW(a, double, PROCESSORS));

            for (size_t p = 0; p < PROCESSORS; p++)
                etc_s[p] = mean_s * (0.75 + 0.5 * rng_uniform(&r));
            tasks[i] = make_task(i, etc_s, PROCESSORS, a);
            if (first)
                draw_parents(tasks, i, before, first - before, ccr, &r, a);
        }
        before = first;
        first += width;
    }
    return tasks;
}

/* ---- runs ---- */

struct stopwatch {
    double begin_s, limit_s;
};

static double used(void *context)
{
    const struct stopwatch *watch = context;

    return (cpu_s() - watch->begin_s) / watch->limit_s;
}

struct run {
    double makespan_s, heft_s, bound_s, steps_per_s, weighed_per_s, took_s;
    enum decision_status status;
};

static struct run measure(const struct workflow *flow, size_t processors, double limit_s,
                          struct arena *a)
{
    struct snapshot grid = {.taken_at_s = NAN,
                            .list_observed_at_s = NAN,
                            .resources = make_resources(processors, a),
                            .resource_count = processors};
    struct stopwatch watch = {0, limit_s};
    struct budget budget = {.used = used, .context = &watch};
    struct workflow_in in = {.snapshot = &grid,
                             .workflows = flow,
                             .workflow_count = 1,
                             .single = true,
                             .seed = 1,
                             .budget = &budget,
                             .time_limit_given = true};
    const struct policy *search = policy_find(workflow_policies, "search");
    struct workflow_problem *problem;
    struct workflow_plan plan, heft;
    struct workflow_out out;
    struct error err = {.code = OK};
    double param[PARAMS_MAX], began_s;
    struct run run;

    grid.network = (struct network){
        .wan_mbps = NAN, .wan_latency_s = NAN, .lan_mbps = NAN, .lan_latency_s = NAN};
    watch.begin_s = began_s = cpu_s();
    if (workflow_problem_make(&in, false, &problem, a, &err) != OK ||
        workflow_plan_make(problem, &heft, a) != OK ||
        workflow_heft(problem, NULL, &heft, a, &err) != OK ||
        params_bind(search->params, NULL, 0, param, &err) != OK)
        bench_stop("%s", err.text);
    run.heft_s = workflow_plan_makespan_s(problem, &heft);
    watch.begin_s = began_s = cpu_s();
    if (workflow_plan_make(problem, &plan, a) != OK ||
        workflow_fn_of(search)(problem, param, &plan, a, &err) != OK ||
        workflow_answer(problem, &plan, &out, a, &err) != OK)
        bench_stop("%s", err.text);
    run.took_s = cpu_s() - began_s;
    run.makespan_s = out.objective.makespan_s;
    run.bound_s = out.objective.lower_bound_s;
    run.status = out.status;
    run.steps_per_s = (double)plan.steps / run.took_s;
    run.weighed_per_s = plan.weighed / run.took_s;
    return run;
}

static struct run measure_tasks(const struct workflow_task *tasks, size_t count,
                                size_t processors, double limit_s, struct arena *a)
{
    struct workflow flow = {.submitted_at_s = NAN, .tasks = tasks, .task_count = count};

    return measure(&flow, processors, limit_s, a);
}

struct kind {
    size_t tasks;
    double ccr, most_ratio, least_weighed;
};

static void measure_layers(const struct kind *k)
{
    char what[128], target[96];
    double ratio[SEEDS];
    struct run first;

    for (size_t seed = 0; seed < SEEDS; seed++) {
        struct arena *a = need(arena_create(ARENA_BYTES));
        struct run run = measure_tasks(draw_layers(k->tasks, k->ccr, seed + 1, a),
                                       k->tasks, PROCESSORS, 2, a);

        ratio[seed] = run.makespan_s / run.heft_s;
        if (seed == 0)
            first = run;
        arena_close(a);
    }
    snprintf(what, sizeof(what),
             "`search` 2 s of CPU, %zu layered tasks, CCR %g, makespan / heft", k->tasks,
             k->ccr);
    snprintf(target, sizeof(target), "<= %g, %.0e changes weighed a second",
             k->most_ratio, k->least_weighed);
    bench_row(what, target,
              ratio[0] <= k->most_ratio && first.weighed_per_s >= k->least_weighed
                  ? BENCH_MET
                  : BENCH_MISSED,
              "%.4f, %.4f, %.4f; %.0f moves, %.1e changes weighed a second; gap %.1f %%, "
              "%.3f s",
              ratio[0], ratio[1], ratio[2], first.steps_per_s, first.weighed_per_s,
              100 * (first.makespan_s / first.bound_s - 1), first.took_s);
}

/* Ten tasks that nothing joins. */
static void measure_independent(void)
{
    static const double times_s[] = {17, 13, 11, 19, 23, 7, 29, 5, 3, 31};
    static const double best_s[] = {53, 40};

    for (size_t k = 0; k < 2; k++) {
        struct arena *a = need(arena_create(ARENA_BYTES));
        struct workflow_task *tasks = need(NEW(a, struct workflow_task, 10));
        struct run run;
        char what[96];

        for (size_t i = 0; i < 10; i++) {
            double *etc_s = need(NEW(a, double, 3 + k));

            for (size_t p = 0; p < 3 + k; p++)
                etc_s[p] = times_s[i];
            tasks[i] = make_task(i, etc_s, 3 + k, a);
        }
        run = measure_tasks(tasks, 10, 3 + k, 1, a);
        snprintf(what, sizeof(what), "10 independent tasks on %zu equal processors",
                 3 + k);
        bench_row(what, "proven in less than 50 ms",
                  run.status == DECISION_OPTIMAL && run.makespan_s == best_s[k] &&
                          run.took_s < 0.05
                      ? BENCH_MET
                      : BENCH_MISSED,
                  "%g s, %s, %.2f ms", run.makespan_s, decision_status_names[run.status],
                  1e3 * run.took_s);
        arena_close(a);
    }
}

/* ---- limits ---- */

enum { LIMITED = 200 };

/* Layers with a table of run times, or as many tasks and resources as that has cells. */
static struct workflow_task *draw_limited(size_t n, size_t processors, struct rng *r,
                                          struct arena *a)
{
    struct workflow_task *tasks = draw_layers(n, 1 + 9 * rng_uniform(r), rng_next(r), a);
    bool table = rng_index(r, 2) == 0;

    for (size_t i = 0; i < n; i++) {
        double *etc_s = table ? need(NEW(a, double, processors)) : NULL;

        for (size_t p = 0; table && p < processors; p++)
            etc_s[p] = 10 + 90 * rng_uniform(r);
        tasks[i].etc_s = etc_s;
        tasks[i].etc_count = table ? processors : 0;
        tasks[i].estimate_ref_s = table ? (double)NAN : 10 + 90 * rng_uniform(r);
    }
    return tasks;
}

/* How much longer than its limit a decision takes, s of CPU. */
static double late_s(size_t number, double *limit_s)
{
    struct arena *a = need(arena_create(ARENA_BYTES));
    struct rng r = rng_stream(number, "bench workflow limits");
    size_t processors = (size_t)exp(log(4) + log(250) * rng_uniform(&r));
    size_t n = (size_t)exp(log(10) + log(1000) * rng_uniform(&r));
    struct workflow flow = {.submitted_at_s = NAN, .task_count = n};
    struct snapshot grid = {.taken_at_s = NAN,
                            .list_observed_at_s = NAN,
                            .resources = make_resources(processors, a),
                            .resource_count = processors};
    struct stopwatch watch = {0, 0.02 * exp(log(10) * rng_uniform(&r))};
    struct budget budget = {.used = used, .context = &watch};
    struct workflow_in in = {.snapshot = &grid,
                             .workflows = &flow,
                             .workflow_count = 1,
                             .single = true,
                             .seed = 1,
                             .budget = &budget,
                             .time_limit_given = true,
                             .time_limit_s = watch.limit_s};
    struct workflow_out out;
    struct error err = {.code = OK};
    double over_s;

    flow.tasks = draw_limited(n, processors, &r, a);
    grid.network = (struct network){
        .wan_mbps = NAN, .wan_latency_s = NAN, .lan_mbps = NAN, .lan_latency_s = NAN};
    watch.begin_s = cpu_s();
    if (workflow_decide(&in, policy_find(workflow_policies, "search"), NULL, 0, &out, a,
                        &err) != OK)
        bench_stop("%s", err.text);
    over_s = cpu_s() - watch.begin_s - watch.limit_s;
    *limit_s = watch.limit_s;
    arena_close(a);
    return over_s;
}

static void measure_limits(void)
{
    size_t within = 0;
    double worst_s = 0, worst_ratio = 0;

    for (size_t k = 0; k < LIMITED; k++) {
        double limit_s, over_s = late_s(k, &limit_s);

        within += over_s <= fmax(0.1 * limit_s, 0.005);
        worst_s = fmax(worst_s, over_s);
        worst_ratio = fmax(worst_ratio, over_s / limit_s);
    }
    bench_row("`search` of 10 to 10,000 tasks on 4 to 1,000 resources, limits of 20 to "
              "200 ms",
              "95 % within 10 % or 5 ms, none above 30 %",
              within >= 0.95 * LIMITED && worst_ratio <= 0.3 ? BENCH_MET : BENCH_MISSED,
              "%.1f %% of %d within; at most %.1f ms or %.0f %% over it",
              100.0 * (double)within / LIMITED, LIMITED, 1e3 * worst_s,
              100 * worst_ratio);
}

int main(void)
{
    static const struct kind kinds[] = {
        {100, 1, 0.93, 5e6},   {100, 10, 0.73, 1e6},  {1000, 0.1, 0.995, 5e6},
        {1000, 1, 0.98, 5e6},  {1000, 10, 0.82, 1e6}, {5000, 0.1, 1.0, 5e6},
        {5000, 1, 0.998, 5e6}, {5000, 10, 0.87, 1e6},
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        measure_layers(&kinds[i]);
    measure_independent();
    measure_limits();
    return 0;
}
