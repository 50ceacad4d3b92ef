/* parallel/annealing.c - what simulated_annealing and sa_random_start share. */
#include "algorithms/parallel/annealing.h"

#include "models/performance/functions.h"

const char *const sa_break_names[] = {"literal", "per_temperature", NULL};

enum { LITERAL, PER_TEMPERATURE }; /* indexes of sa_break_names */

struct annealing {
    struct parallel_search *s;
    const double *param;
    struct parallel_set current;
    double current_s;
    double before_s; /* score before the last accepted exchange */
    uint64_t accepts;
};

bool sa_accepts(double current_s, double new_s, double temperature, uint64_t *random)
{
    if (new_s < current_s)
        return true;
    if (new_s == HUGE_VAL)
        return current_s == HUGE_VAL;
    return random_unit(random) < exp((current_s - new_s) / temperature);
}

static double mean_link(const struct parallel_search *s, size_t machine)
{
    const double *row = s->links + machine * s->n;
    double sum = 0;

    for (size_t k = 0; k < s->n; k++)
        if (k != machine)
            sum += row[k];
    return s->n > 1 ? sum / (double)(s->n - 1) : 0;
}

double *sa_keys(const struct parallel_search *s)
{
    double *key = NEW(s->arena, double, s->n);

    for (size_t i = 0; i < s->n; i++) {
        double mean_mbps = mean_link(s, i);

        key[i] = s->cpu[i] > 0 ? s->comp1_s / s->cpu[i] : HUGE_VAL;
        for (size_t k = 0; k < s->comm_count; k++) {
            int id = s->comms[k].bw_id;
            double least = id >= 7 ? PERF_BW_LOG_LEAST_MBPS : PERF_BW_LEAST_MBPS;

            key[i] += mean_mbps > 0
                          ? s->comms[k].one / perf_bw_value(id, fmax(mean_mbps, least))
                          : HUGE_VAL;
        }
    }
    return key;
}

/* One exchange, tried and perhaps taken. */
static void exchange(struct annealing *x, double temperature)
{
    struct parallel_search *s = x->s;
    struct parallel_set *set = &x->current;
    size_t leaves = set->order[random_index(&s->random, set->count)];
    size_t comes = set->order[set->count + random_index(&s->random, s->n - set->count)];
    struct set_minima m = set_with(set, set_minima(set, leaves), leaves, comes);
    double new_s = search_try(s, set->count, m.cpu, m.bandwidth_mbps);

    set_keep(s, new_s, set, leaves, comes);
    if (!sa_accepts(x->current_s, new_s, temperature, &s->random))
        return;
    set_replace(set, leaves, comes);
    x->before_s = x->current_s;
    x->current_s = new_s;
    x->accepts++;
}

/* All temperatures for one size. */
static void cool(struct annealing *x)
{
    const double *param = x->param;
    bool literal = (size_t)param[SA_BREAK] == LITERAL;
    double temperature = param[SA_START_TEMPERATURE], end = param[SA_END_TEMPERATURE];

    if (param[SA_START_RATIO] > 0 && x->current_s < HUGE_VAL) {
        end *= param[SA_START_RATIO] * x->current_s / temperature;
        temperature = param[SA_START_RATIO] * x->current_s;
    }
    for (; temperature >= end; temperature *= param[SA_COOLING]) {
        bool many = false;

        x->accepts = 0;
        for (size_t k = 0; (double)k < param[SA_STEPS] && (literal || !many); k++) {
            if (search_stop(x->s))
                return;
            exchange(x, temperature);
            many = (double)x->accepts > param[SA_ACCEPT_LIMIT];
        }
        x->s->iterations++;
        if (literal ? many || x->current_s > x->before_s : x->accepts == 0)
            return;
    }
}

/* One size. first: its first set; NULL: a random one, drawn from `machines`. */
static void anneal(struct annealing *x, size_t p, const struct parallel_set *first,
                   size_t *machines)
{
    struct parallel_search *s = x->s;
    struct set_minima m;

    if (first) {
        set_copy(&x->current, first);
    } else {
        random_choose(&s->random, machines, s->n, p);
        set_load(&x->current, machines, p);
    }
    m = set_minima(&x->current, NO_MACHINE);
    x->current_s = search_try(s, p, m.cpu, m.bandwidth_mbps);
    x->before_s = x->current_s;
    search_keep(s, x->current_s, x->current.order, p);
    if (p < s->n)
        cool(x);
}

void sa_run(struct parallel_search *s, const double *param, const size_t *order)
{
    struct annealing x = {.s = s, .param = param};
    struct parallel_set first;
    size_t *machines = NEW(s->arena, size_t, s->n);
    size_t least = s->min_procs > 2 ? s->min_procs : 2;

    set_create(s, &x.current);
    set_create(s, &first);
    for (size_t i = 0; i < s->n; i++)
        machines[i] = i;
    if (order)
        set_load(&first, order, s->n);
    for (size_t p = s->n; p >= least && !search_stop_now(s); p--) {
        if (order && p < s->n)
            set_remove(&first, order[p]);
        anneal(&x, p, order ? &first : NULL, machines);
    }
}
