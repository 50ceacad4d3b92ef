/* workflow_live.c - an engine that asks for a plan again at each end of a task.
 *
 * The engine starts on each free machine the first task of its plan, moves what the
 * answer says (3.6 s a move), and knows the speeds of now and the exact progress of what
 * runs, but only wrong estimates of the rest. Four kinds of days (search.md 7): calm;
 * stall, machines fall to 5 % for 20 to 90 min; fork, chains beside bags of short tasks
 * and drifting speeds; data, large outputs, and a machine is held while inputs come.
 *
 * `auto`, as it is by default and with 0.1 s, is within 5 % of the best of heft again at
 * each end and search of 0.1 s, both with and without moves.
 *
 *     bench_workflow_live [seeds [tasks]]        default 2 100; some 3 minutes
 */
#include "algorithms/workflow/workflow.h"
#include "models/base/rng.h"
#include "tests/bench/bench.h"

#include <math.h>
#include <time.h>

enum { MACHINES = 10, TASKS_MAX = 400, EDGES_MAX = 4 * TASKS_MAX, STALLS_MAX = 40 };
enum kind { CALM, STALL, FORK, DATA, KINDS };

static const char *const kind_names[KINDS] = {"calm", "stall", "fork", "data"};
static const double MOVE_S = 3.6, DRIFT_S = 600;

struct live_task {
    char id[8];
    double work, estimate, done, bytes; /* reference seconds, bytes of its output */
    size_t parents[4], parent_count;
    int status;
    size_t machine;
    double staging_s, elapsed_s;
};

struct engine {
    enum kind kind;
    struct live_task tasks[TASKS_MAX];
    size_t count;
    double speed[MACHINES], factor[MACHINES];
    double change_s[MACHINES]; /* when its factor changes next */
    size_t running[MACHINES];  /* TASKS_MAX: idle */
    size_t order[MACHINES][TASKS_MAX], order_count[MACHINES], order_at[MACHINES];
    double now_s;
    struct rng rng;
    size_t moves, calls;
};

static struct engine e;

static double normal(struct rng *r)
{
    return sqrt(-2 * log(1 - rng_uniform(r))) *
           cos(2 * 3.14159265358979 * rng_uniform(r));
}

/* ---- the day ---- */

static void add_parent(struct live_task *t, size_t parent)
{
    for (size_t k = 0; k < t->parent_count; k++)
        if (t->parents[k] == parent)
            return;
    if (t->parent_count < 4)
        t->parents[t->parent_count++] = parent;
}

static void draw_task(size_t i, double work, double spread)
{
    struct live_task *t = &e.tasks[i];

    snprintf(t->id, sizeof(t->id), "t%zu", i);
    t->work = work;
    t->estimate = work * exp(spread * normal(&e.rng));
}

/* Chains of long tasks, and bags of short ones behind one root each. */
static void draw_fork(void)
{
    size_t chains = 8, length = 10 * e.count / 160 ? 10 * e.count / 160 : 1;

    for (size_t i = 0; i < e.count; i++) {
        bool chain = i < chains * length;

        draw_task(
            i, chain ? 400 + 400 * rng_uniform(&e.rng) : 20 + 100 * rng_uniform(&e.rng),
            0.5);
        if (chain && i >= chains)
            add_parent(&e.tasks[i], i - chains);
    }
}

static void draw_layers(double spread)
{
    size_t width = (size_t)sqrt((double)e.count), first = 0, before = 0;

    for (size_t i = 0; i < e.count; i++) {
        if (i - first >= width) {
            before = first;
            first = i;
        }
        draw_task(i, 100 + 500 * rng_uniform(&e.rng), spread);
        for (size_t k = 0; first > before && k < 1 + rng_index(&e.rng, 3); k++)
            add_parent(&e.tasks[i], before + rng_index(&e.rng, first - before));
        if (e.kind == DATA)
            e.tasks[i].bytes = rng_index(&e.rng, 4) == 0 ? 20e9 : 2e9;
    }
}

static void begin(enum kind kind, uint64_t seed, size_t tasks)
{
    memset(&e, 0, sizeof(e));
    e.kind = kind;
    e.count = tasks;
    e.rng = rng_stream(seed, kind_names[kind]);
    if (kind == FORK)
        draw_fork();
    else
        draw_layers(kind == CALM ? 0.1 : 0.4);
    for (size_t m = 0; m < MACHINES; m++) {
        e.speed[m] = 1 + 3 * rng_uniform(&e.rng);
        e.factor[m] = 1;
        e.running[m] = TASKS_MAX;
        e.change_s[m] = kind == STALL  ? 3600 * rng_uniform(&e.rng)
                        : kind == FORK ? DRIFT_S * rng_uniform(&e.rng)
                                       : HUGE_VAL;
    }
}

static void change_factor(size_t m)
{
    if (e.kind == FORK) {
        e.factor[m] = fmin(1, fmax(0.2, e.factor[m] * exp(0.4 * normal(&e.rng))));
        e.change_s[m] = e.now_s + DRIFT_S;
        return;
    }
    e.factor[m] = e.factor[m] < 1 ? 1 : 0.05;
    e.change_s[m] = e.now_s + (e.factor[m] < 1 ? 1200 + 4200 * rng_uniform(&e.rng)
                                               : 3600 + 7200 * rng_uniform(&e.rng));
}

/* ---- what the service is asked ---- */

static struct workflow_task rows[TASKS_MAX];
static struct workflow_dependency links[TASKS_MAX][4];
static struct resource machines[MACHINES];
static char names[MACHINES][4], sites[MACHINES][4];

static void describe_task(size_t i)
{
    const struct live_task *t = &e.tasks[i];
    bool runs = t->status == WORKFLOW_RUNNING;

    for (size_t k = 0; k < t->parent_count; k++)
        links[i][k] = (struct workflow_dependency){e.tasks[t->parents[k]].id, NAN, NAN};
    rows[i] = (struct workflow_task){
        .id = t->id,
        .estimate_ref_s = t->estimate,
        .estimate_s = NAN,
        .depends_on = links[i],
        .dependency_count = t->parent_count,
        .output_bytes = t->bytes,
        .checkpoint_bytes = 1,
        .status = t->status,
        .resource_id = t->status == WORKFLOW_IDLE ? NULL : names[t->machine],
        .start_s = NAN,
        .finish_s = NAN,
        .progress_pct = runs && t->done > 0 ? 100 * t->done / t->work : NAN,
        .elapsed_s = runs ? t->elapsed_s : NAN,
        .work_done_ref_s = runs ? t->done : NAN,
        .checkpoint_work_ref_s = NAN,
        .transfer_remaining_s = t->staging_s,
        .since_last_move_s = NAN,
    };
}

static void describe_machine(size_t m)
{
    snprintf(names[m], sizeof(names[m]), "m%zu", m);
    snprintf(sites[m], sizeof(sites[m]), "s%zu", m);
    machines[m] = (struct resource){
        .id = names[m],
        .site_id = sites[m],
        .mips_total = e.speed[m] * e.factor[m],
        .cpu_available_ratio = 1,
        .cpus = NAN,
        .memory_bytes = NAN,
        .n_max = 1,
        .observed_at_s = NAN,
        .observed_since_s = NAN,
        .last_failure_at_s = NAN,
        .up_since_s = NAN,
        .failure_count = NAN,
        .uptime_total_s = NAN,
        .job_count = e.running[m] < TASKS_MAX,
    };
}

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Share of a tenth of a second of CPU. */
static double used(void *context)
{
    return (cpu_s() - *(double *)context) / 0.1;
}

struct variant {
    const char *name, *algorithm, *moves;
    bool limited; /* 0.1 s */
};

static const struct variant variants[] = {
    {"heft again", "heft", "none", false},
    {"heft again, moves", "heft", "paying", false},
    {"search 0.1 s", "search", "none", true},
    {"search 0.1 s, moves", "search", "paying", true},
    {"auto", "auto", "paying", false},
    {"auto 0.1 s", "auto", "paying", true},
};
enum { VARIANTS = sizeof(variants) / sizeof(variants[0]), BASELINES = VARIANTS - 2 };

static size_t machine_of(const char *id)
{
    return (size_t)(id[1] - '0');
}

static void take_plan(const struct workflow_out *out)
{
    memset(e.order_count, 0, sizeof(e.order_count));
    memset(e.order_at, 0, sizeof(e.order_at));
    for (size_t k = 0; k < out->schedule_count; k++) {
        const struct workflow_placement *p = &out->schedule[k];
        size_t m;

        if (p->status != WORKFLOW_IDLE)
            continue;
        m = machine_of(p->resource_id);
        e.order[m][e.order_count[m]++] = p->task;
    }
    for (size_t k = 0; k < out->reschedule_count; k++) {
        const struct workflow_action *a = &out->reschedules[k];
        struct live_task *t = &e.tasks[(size_t)atoi(a->task_id + 1)];
        size_t to = machine_of(a->to_resource_id);

        if (e.running[to] < TASKS_MAX)
            bench_stop("a move to a machine that is in use");
        e.running[t->machine] = TASKS_MAX;
        e.running[to] = (size_t)(t - e.tasks);
        t->machine = to;
        t->staging_s = MOVE_S;
        e.moves++;
    }
}

static void ask(const struct variant *v, struct arena *a)
{
    const struct workflow w = {NULL, NAN, rows, e.count};
    struct snapshot grid = {.taken_at_s = NAN,
                            .list_observed_at_s = NAN,
                            .resources = machines,
                            .resource_count = MACHINES};
    double started_s = cpu_s();
    struct budget limit = {.used = used, .context = &started_s};
    struct workflow_in in = {.snapshot = &grid,
                             .workflows = &w,
                             .workflow_count = 1,
                             .single = true,
                             .seed = 1,
                             .budget = v->limited ? &limit : NULL,
                             .time_limit_given = v->limited};
    const struct named_value options[] = {{"moves", VALUE_TEXT, 0, v->moves},
                                          {"restart_s", VALUE_NUMBER, MOVE_S, NULL}};
    struct workflow_out out;
    struct error err = {0};

    grid.network = (struct network){
        .wan_mbps = 1000, .wan_latency_s = 0, .lan_mbps = NAN, .lan_latency_s = NAN};
    for (size_t i = 0; i < e.count; i++)
        describe_task(i);
    for (size_t m = 0; m < MACHINES; m++)
        describe_machine(m);
    if (workflow_decide(&in, policy_find(workflow_policies, v->algorithm), options, 2,
                        &out, a, &err) != OK)
        bench_stop("%s: %s", err.field, err.text);
    e.calls++;
    take_plan(&out);
    arena_reset(a);
}

/* ---- the engine ---- */

static bool is_ready(const struct live_task *t)
{
    for (size_t k = 0; k < t->parent_count; k++)
        if (e.tasks[t->parents[k]].status != WORKFLOW_DONE)
            return false;
    return true;
}

static void start_tasks(void)
{
    for (size_t m = 0; m < MACHINES; m++) {
        struct live_task *t;

        if (e.running[m] < TASKS_MAX || e.order_at[m] == e.order_count[m])
            continue;
        t = &e.tasks[e.order[m][e.order_at[m]]];
        if (!is_ready(t))
            continue;
        e.order_at[m]++;
        e.running[m] = (size_t)(t - e.tasks);
        t->status = WORKFLOW_RUNNING;
        t->machine = m;
        for (size_t k = 0; k < t->parent_count; k++) {
            const struct live_task *p = &e.tasks[t->parents[k]];

            if (p->machine != m)
                t->staging_s = fmax(t->staging_s, p->bytes * 8 / 1e9);
        }
    }
}

/* To the next end of a task; false: nothing runs. */
static bool advance(void)
{
    double next_s = HUGE_VAL;
    bool any = false, ended = false;

    for (size_t m = 0; m < MACHINES; m++) {
        const struct live_task *t = &e.tasks[e.running[m] % TASKS_MAX];

        if (e.running[m] < TASKS_MAX) {
            any = true;
            next_s = fmin(next_s, e.now_s + t->staging_s +
                                      (t->work - t->done) / (e.speed[m] * e.factor[m]));
        }
    }
    if (!any)
        return false;
    for (size_t m = 0; m < MACHINES; m++)
        next_s = fmin(next_s, e.change_s[m]);
    for (size_t m = 0; m < MACHINES; m++) {
        struct live_task *t = &e.tasks[e.running[m] % TASKS_MAX];
        double step_s = next_s - e.now_s, staging_s;

        if (e.running[m] == TASKS_MAX)
            continue;
        staging_s = fmin(step_s, t->staging_s);
        t->staging_s -= staging_s;
        t->elapsed_s += step_s - staging_s;
        t->done += (step_s - staging_s) * e.speed[m] * e.factor[m];
        if (t->done >= t->work * (1 - 1e-9)) {
            t->status = WORKFLOW_DONE;
            t->staging_s = 0;
            e.running[m] = TASKS_MAX;
            ended = true;
        }
    }
    e.now_s = next_s;
    for (size_t m = 0; m < MACHINES; m++)
        if (e.change_s[m] <= e.now_s)
            change_factor(m);
    return ended || advance();
}

static double play(enum kind kind, const struct variant *v, uint64_t seed, size_t tasks,
                   struct arena *a)
{
    begin(kind, seed, tasks);
    do {
        ask(v, a);
        start_tasks();
    } while (advance());
    for (size_t i = 0; i < e.count; i++)
        if (e.tasks[i].status != WORKFLOW_DONE)
            bench_stop("the engine stopped before task %zu", i);
    return e.now_s;
}

int main(int argc, char **argv)
{
    size_t seeds = argc > 1 ? (size_t)atoi(argv[1]) : 2;
    size_t tasks = argc > 2 ? (size_t)atoi(argv[2]) : 100;
    struct arena *a = arena_create((size_t)1 << 30);

    if (!a || tasks < 10 || tasks > TASKS_MAX)
        bench_stop("10 to %d tasks", TASKS_MAX);
    for (int kind = 0; kind < KINDS; kind++) {
        double mean_s[VARIANTS] = {0}, best_s = HUGE_VAL;
        char text[64];

        for (size_t v = 0; v < VARIANTS; v++) {
            size_t moves = 0;
            double began_s = cpu_s();

            for (uint64_t seed = 1; seed <= seeds; seed++) {
                mean_s[v] +=
                    play((enum kind)kind, &variants[v], seed, tasks, a) / (double)seeds;
                moves += e.moves;
            }
            if (v < BASELINES)
                best_s = fmin(best_s, mean_s[v]);
            snprintf(text, sizeof(text), "%s: %s", kind_names[kind], variants[v].name);
            bench_row(text, "", BENCH_NO_TARGET, "%.0f s, %zu moves, %.1f s CPU",
                      mean_s[v], moves, cpu_s() - began_s);
        }
        for (size_t v = BASELINES; v < VARIANTS; v++) {
            snprintf(text, sizeof(text), "%s: %s / best of the others", kind_names[kind],
                     variants[v].name);
            bench_row(text, "<= 1.05",
                      mean_s[v] <= 1.05 * best_s ? BENCH_MET : BENCH_MISSED, "%.3f",
                      mean_s[v] / best_s);
        }
    }
    arena_close(a);
    return 0;
}
