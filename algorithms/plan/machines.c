/* plan/machines.c - a cluster's machines as the source of a plan's times. */
#include "algorithms/plan/machines.h"

#include "algorithms/parallel/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A set of machines, and its minima under the loads of `version`. */
struct schedule {
    const size_t *members; /* ascending */
    size_t count;
    double cpu, bandwidth_mbps;
    uint64_t version;
};

struct plan_machines {
    struct plan_machines_in in;
    struct perf_term *terms; /* of all phases, one after the other */
    size_t *first_term;      /* of phase k: at k - 1; phase_count + 1 */
    double *single_s;        /* sums over the phases before; phase_count + 1 */
    size_t *single_known;    /* phases before with a one-processor model */
    struct plan_best *memo;  /* of first <= last; time_s 0: not asked; NULL: none kept */
    struct schedule *schedules;
    size_t schedule_count, schedule_size;
    uint64_t version;
    /* For bounds: no set of P machines has all cpus or all links above these. */
    double *cpu_at, *link_at; /* index P, 0..count */
    size_t limit_count;       /* machines that they have room for */
    size_t bound_count;       /* machines that they are of; 0: not made yet */
    struct arena *arena;
};

/* ---- the sum of the models of some phases ---- */

static double one_processor_s(const struct perf_terms *phase)
{
    double sum_s = 0;

    if (!isnan(phase->single_s))
        return phase->single_s;
    for (size_t i = 0; i < phase->term_count; i++)
        sum_s += phase->terms[i].comp_s;
    return sum_s;
}

static struct perf_terms sum_of(const struct plan_machines *m, size_t first, size_t last)
{
    bool known = m->single_known[last] > m->single_known[first - 1];

    return (struct perf_terms){
        .terms = m->terms + m->first_term[first - 1],
        .term_count = m->first_term[last] - m->first_term[first - 1],
        .single_s = known ? m->single_s[last] - m->single_s[first - 1] : (double)NAN,
    };
}

static void add_models(struct plan_machines *m)
{
    size_t n = m->in.phase_count, count = 0;

    for (size_t k = 0; k < n; k++)
        count += m->in.phases[k].term_count;
    m->terms = NEW(m->arena, struct perf_term, count);
    m->first_term = NEW(m->arena, size_t, n + 1);
    m->single_s = NEW(m->arena, double, n + 1);
    m->single_known = NEW(m->arena, size_t, n + 1);
    for (size_t k = 0; k < n; k++) {
        const struct perf_terms *phase = &m->in.phases[k];

        if (phase->term_count)
            memcpy(m->terms + m->first_term[k], phase->terms,
                   phase->term_count * sizeof(phase->terms[0]));
        m->first_term[k + 1] = m->first_term[k] + phase->term_count;
        m->single_s[k + 1] = m->single_s[k] + one_processor_s(phase);
        m->single_known[k + 1] = m->single_known[k] + (isnan(phase->single_s) ? 0U : 1U);
    }
}

/* ---- schedules ---- */

static int by_index(const void *a, const void *b)
{
    const size_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

void plan_machines_add(struct plan_machines *m, const size_t *members, size_t count,
                       size_t *schedule)
{
    size_t *copy = NEW(m->arena, size_t, count);

    if (m->schedule_count == m->schedule_size) {
        size_t size = m->schedule_size ? 2 * m->schedule_size : 64;
        struct schedule *grown =
            GROW(m->arena, m->schedules, struct schedule, m->schedule_size, size);

        m->schedules = grown;
        m->schedule_size = size;
    }
    if (count)
        memcpy(copy, members, count * sizeof(copy[0]));
    qsort(copy, count, sizeof(copy[0]), by_index);
    m->schedules[m->schedule_count] = (struct schedule){copy, count, 0, 0, 0};
    *schedule = m->schedule_count++;
}

const size_t *plan_machines_members(const struct plan_machines *m, size_t schedule,
                                    size_t *count)
{
    *count = m->schedules[schedule].count;
    return m->schedules[schedule].members;
}

static bool same(void *context, size_t schedule, size_t other)
{
    const struct plan_machines *m = context;
    const struct schedule *x = &m->schedules[schedule], *y = &m->schedules[other];

    return x->count == y->count &&
           memcmp(x->members, y->members, x->count * sizeof(x->members[0])) == 0;
}

/* Its minima under the loads of now. */
static const struct schedule *measured(struct plan_machines *m, size_t schedule)
{
    struct schedule *s = &m->schedules[schedule];
    const struct parallel_machines *machines = m->in.machines;

    if (s->version == m->version)
        return s;
    s->cpu = s->bandwidth_mbps = HUGE_VAL;
    for (size_t i = 0; i < s->count; i++) {
        const double *row = machines->bandwidth_mbps + s->members[i] * machines->count;

        s->cpu = fmin(s->cpu, machines->cpu_available_ratio[s->members[i]]);
        for (size_t k = 0; k < i; k++)
            s->bandwidth_mbps = fmin(s->bandwidth_mbps, row[s->members[k]]);
    }
    s->version = m->version;
    return s;
}

static double wait_s(void *context, size_t schedule)
{
    const struct plan_machines *m = context;

    return m->in.queue_wait_s ? m->in.queue_wait_s[m->schedules[schedule].count] : 0;
}

static double time_on(void *context, size_t schedule, size_t first, size_t last)
{
    struct plan_machines *m = context;
    struct perf_terms model = sum_of(m, first, last);
    const struct schedule *s = measured(m, schedule);

    return perf_time_s(&model, (double)s->count, s->cpu, s->bandwidth_mbps) +
           wait_s(context, schedule);
}

void plan_machines_forget(struct plan_machines *m)
{
    size_t n = m->in.phase_count;

    m->version++;
    m->bound_count = 0;
    if (m->memo)
        memset(m->memo, 0, n * (n + 1) / 2 * sizeof(m->memo[0]));
}

/* ---- t(a,b) ---- */

/* What is left for the scheduler, divided by the questions that may still come; but no
 * less than a thousandth: few planners ask all. */
static double next_share(const struct plan_machines *m, double used)
{
    uint64_t asked = *m->in.asked;
    double left = asked < m->in.questions ? (double)(m->in.questions - asked) : 1;

    return fmax((m->in.scheduler_share - used) / left, 1e-3);
}

static struct parallel_in question(const struct plan_machines *m,
                                   const struct perf_terms *model, double known_s,
                                   struct budget *budget)
{
    return (struct parallel_in){
        .machines = m->in.machines,
        .model = model,
        .min_procs = m->in.min_procs,
        .queue_wait_s = m->in.queue_wait_s,
        .pre_evaluate = m->in.scheduler_param[PARALLEL_PRE_EVALUATE] != 0,
        .perturbation_ratio = m->in.scheduler_param[PARALLEL_PERTURBATION],
        .work_budget = m->in.scheduler_param[PARALLEL_WORK_BUDGET],
        .known_s = known_s,
        .budget = budget,
        .seed = m->in.seed,
        .site_id = m->in.site_id,
    };
}

/* The fastest machine alone, and all machines: no answer may be worse. */
static enum error_code look_at_both(struct parallel_search *s)
{
    size_t fastest = search_fastest(s);
    size_t *all = NEW(s->arena, size_t, s->n);

    for (size_t i = 0; i < s->n; i++)
        all[i] = i;
    search_keep(s, search_score(s, 1, s->cpu[fastest], HUGE_VAL), &fastest, 1);
    search_keep(s,
                search_score(s, s->n, search_least_cpu(s, all, s->n),
                             search_least_link(s, all, s->n)),
                all, s->n);
    return OK;
}

static enum error_code run_policy(struct plan_machines *m, const struct parallel_in *in,
                                  const struct policy *policy, const double *param,
                                  struct parallel_search *s, struct error *err)
{
    TRY(search_create(in, s, m->in.scratch));
    TRY(parallel_fn_of(policy)(s, param, err));
    return in->pre_evaluate || s->best_s == HUGE_VAL ? look_at_both(s) : OK;
}

/* The scheduler within its part of the budget; the fallback when that is over and has
 * found nothing proven, or its share of the budget is spent. */
static enum error_code ask(struct plan_machines *m, const struct perf_terms *model,
                           double known_s, struct parallel_search *s, struct budget *part,
                           struct parallel_in *in, bool *clocked, struct error *err)
{
    double used = budget_used(m->in.budget);
    const struct policy *fallback = m->in.fallback;
    bool in_time;
    static const double no_options[PARAMS_MAX];

    *part = budget_part(m->in.budget, used,
                        m->in.repeatable ? 1 : used + next_share(m, used));
    in_time = m->in.repeatable || used < m->in.scheduler_share;
    *clocked = fallback && !in_time;
    *in = question(m, model, known_s, m->in.fallback ? part : m->in.budget);
    if (!fallback || in_time)
        TRY(run_policy(m, in, m->in.scheduler,
                       m->in.scheduler_param + PARALLEL_COMMON_COUNT, s, err));
    *clocked = *clocked || (s->stopped && in->budget && in->budget->spent);
    if (fallback && (!in_time || s->stopped)) {
        struct parallel_search other;

        in->budget = m->in.budget;
        TRY(run_policy(m, in, fallback, no_options, &other, err));
        if (!in_time || other.best_s < s->best_s)
            *s = other;
        *clocked = *clocked || (other.stopped && in->budget && in->budget->spent);
    }
    return OK;
}

static enum error_code find_best(struct plan_machines *m, size_t first, size_t last,
                                 struct plan_best *out, struct error *err)
{
    struct perf_terms model = sum_of(m, first, last);
    struct plan_best known = *out;
    struct parallel_search s = {0};
    struct parallel_in in;
    struct budget part;

    TRY(ask(m, &model, known.time_s, &s, &part, &in, &out->clocked, err));
    out->time_s = HUGE_VAL;
    if (s.best_s < HUGE_VAL) {
        plan_machines_add(m, s.best, s.best_count, &out->schedule);
        /* without the perturbation that the policy may have compared with */
        out->time_s = time_on(m, out->schedule, first, last);
    }
    if (known.time_s > 0 && known.time_s <= out->time_s) {
        out->schedule = known.schedule;
        out->time_s = known.time_s;
    }
    if (!(out->time_s < HUGE_VAL))
        return OK;
    out->bound_s = s.bound_s > 0 ? fmin(s.bound_s, out->time_s) : 0;
    out->proven = out->bound_s >= out->time_s * (1 - 1e-12);
    return OK;
}

static enum error_code best(void *context, size_t first, size_t last,
                            struct plan_best *out, struct error *err)
{
    struct plan_machines *m = context;
    struct plan_best found = {.schedule = out->schedule, .time_s = out->time_s};
    struct plan_best *memo = m->memo ? &m->memo[last * (last - 1) / 2 + first - 1] : NULL;

    if (memo && memo->time_s > 0) {
        *out = *memo;
        return OK;
    }
    if (m->in.machines->count > 0 && m->in.machines->count >= m->in.min_procs) {
        enum error_code code = find_best(m, first, last, &found, err);

        ++*m->in.asked;
        arena_reset(m->in.scratch);
        TRY(code);
    } else {
        found = (struct plan_best){.schedule = SIZE_MAX, .time_s = HUGE_VAL};
    }
    if (memo)
        *memo = found;
    *out = found;
    return OK;
}

/* ---- bounds ---- */

enum { SORT_STEPS = 16 }; /* what sorting costs for each number, about */

static int falling(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x < *y) - (*x > *y);
}

/* cpu_at[P]: the P-th greatest cpu. link_at[P]: the P-th greatest, over the machines, of
 * the (P-1)-th greatest link that the machine has: P machines whose links all reach b
 * are P machines with P-1 such links each. False: there is no time.
 * O(n^2 log n). */
static bool make_limits(struct plan_machines *m)
{
    const struct parallel_machines *machines = m->in.machines;
    size_t n = machines->count;
    double *rows, *column;

    if (budget_spent(m->in.budget))
        return false;
    rows = NEW(m->in.scratch, double, n *n);
    column = NEW(m->in.scratch, double, n);
    if (n > m->limit_count) {
        m->cpu_at = NEW(m->arena, double, n + 1);
        m->link_at = NEW(m->arena, double, n + 1);
        m->limit_count = n;
    }
    memcpy(m->cpu_at + 1, machines->cpu_available_ratio, n * sizeof(double));
    qsort(m->cpu_at + 1, n, sizeof(double), falling);
    for (size_t i = 0; i < n; i++) {
        if (budget_step(m->in.budget, SORT_STEPS * n))
            return false;
        memcpy(rows + i * n, machines->bandwidth_mbps + i * n, n * sizeof(double));
        rows[i * n + i] = HUGE_VAL; /* itself: its greatest */
        qsort(rows + i * n, n, sizeof(double), falling);
    }
    for (size_t p = 1; p <= n; p++) {
        if (budget_step(m->in.budget, SORT_STEPS * n))
            return false;
        for (size_t i = 0; i < n; i++)
            column[i] = rows[i * n + p - 1];
        qsort(column, n, sizeof(double), falling);
        m->link_at[p] = column[p - 1];
    }
    m->bound_count = n;
    return true;
}

/* The least time over P of P machines with the best cpu and link that P can have. */
static double quick_bound(struct plan_machines *m, const struct perf_terms *model)
{
    double least_s = HUGE_VAL;
    size_t p = m->in.min_procs ? m->in.min_procs : 1;

    for (; p <= m->in.machines->count; p++) {
        double time_s = perf_time_s(model, (double)p, m->cpu_at[p], m->link_at[p]);

        if (m->in.queue_wait_s)
            time_s += m->in.queue_wait_s[p];
        least_s = fmin(least_s, time_s);
    }
    return least_s;
}

/* Work for which the better bound is worked out, machines^2 x questions: some tenths of
 * a second, since it may look at thousands of boxes of O(machines^2) each. */
#define BOUND_WORK_MAX 1.5e5

static double bound(void *context, size_t first, size_t last, double known_s)
{
    struct plan_machines *m = context;
    struct perf_terms model = sum_of(m, first, last);
    size_t n = m->in.machines->count;
    double bound_s = 0, better_s = 0;

    if (n && (m->bound_count || make_limits(m)))
        bound_s = quick_bound(m, &model);
    if (n && (double)n * (double)n * (double)m->in.questions <= BOUND_WORK_MAX &&
        budget_used(m->in.budget) < 0.9) {
        struct parallel_in in = question(m, &model, 0, m->in.budget);
        struct parallel_search s;

        in.perturbation_ratio = 0;
        if (search_create(&in, &s, m->in.scratch) == OK &&
            parallel_bound(&s, known_s, &better_s) == OK)
            bound_s = fmax(bound_s, better_s);
    }
    arena_reset(m->in.scratch);
    return bound_s;
}

/* ---- the source ---- */

void plan_machines_create(const struct plan_machines_in *in,
                          struct plan_machines **machines, struct plan_source *source,
                          struct arena *a)
{
    struct plan_machines *m = NEW(a, struct plan_machines, 1);

    *m = (struct plan_machines){.in = *in, .version = 1, .arena = a};
    add_models(m);
    if (in->keeps_answers) {
        m->memo = NEW(a, struct plan_best, in->phase_count * (in->phase_count + 1) / 2);
    }
    *source = (struct plan_source){m, best, time_on, bound, same, wait_s};
    *machines = m;
}
