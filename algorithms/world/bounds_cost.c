/* world/bounds_cost.c - what a plan costs at least, and how many resources it takes.
 *
 * A resource is paid while any job is on it, so of one amount k each job can be charged
 * its share d / capacity of that time, and its cpus:
 *
 *     cost   for one fixed k the sum over jobs of their `nodes` least
 *            (price_per_cpu_s * cpus + price_per_s * d_k / capacity_k) * run time
 *     nodes  the most nodes of a job; members of a spread group by max_per_key; by what
 *            is to be done until the end of the plan
 *
 * Source: world-model.md 5.3. Cost: O(jobs * groups * amounts).
 */
#include "algorithms/world/prices.h"

#include <string.h>

/* Least prices in a group: of a cpu, of a unit of the amount; by run time, or by
 * estimate_ref_s. */
struct rates {
    double cpu, unit, cpu_by_work, unit_by_work;
};

struct costs {
    struct bounds_field *f;
    const struct price_groups *g;
    bool energy;
    size_t amount;
    struct rates *rates; /* by group */
    double *cost;        /* room by group */
};

static double node_price(const struct world_resource *r, bool energy)
{
    return energy ? r->power_node_w : r->price_per_s;
}

static double cpu_price(const struct world_resource *r, bool energy)
{
    return energy ? r->power_per_cpu_w : r->price_per_cpu_s;
}

/* Of a unit of the amount and a second. */
static double unit_price(const struct costs *c, const struct world_resource *r)
{
    int64_t capacity = r->capacity[c->amount];

    if (capacity <= 0 || capacity >= AMOUNT_UNLIMITED)
        return 0;
    return node_price(r, c->energy) / (double)capacity;
}

static void find_rates(struct costs *c)
{
    const struct world *w = c->f->w;

    for (size_t i = 0; i < c->g->count; i++)
        c->rates[i] = (struct rates){HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL};
    for (size_t p = 0; p < w->resource_count; p++) {
        const struct world_resource *r = &w->resources[p];
        struct rates *of = &c->rates[c->g->of[p]];
        double cpu = cpu_price(r, c->energy) / AMOUNT_UNITS_PER_ONE;
        double unit = unit_price(c, r);

        of->cpu = fmin(of->cpu, cpu);
        of->unit = fmin(of->unit, unit);
        if (!(r->speed > 0))
            continue;
        of->cpu_by_work = fmin(of->cpu_by_work, cpu / r->speed);
        of->unit_by_work = fmin(of->unit_by_work, unit / r->speed);
    }
    budget_step(w->budget, 4 * w->resource_count);
}

/* On the cheapest resource of a row of times. */
static double cost_of_times(const struct costs *c, const struct bounds_row *row,
                            size_t group)
{
    const struct world *w = c->f->w;
    const struct world_job *j = row->of;
    double least = HUGE_VAL;

    for (size_t i = c->g->first[group]; i < c->g->first[group + 1]; i++) {
        const struct world_resource *r = &w->resources[c->g->positions[i]];
        double run_s = fmax(world_run_s(w, j, c->g->positions[i]), row->least_s);

        if (run_s < HUGE_VAL)
            least = fmin(least, run_s * (cpu_price(r, c->energy) / AMOUNT_UNITS_PER_ONE *
                                             (double)j->needs[AMOUNT_CPUS] +
                                         unit_price(c, r) * (double)j->needs[c->amount]));
    }
    budget_step(w->budget, c->g->first[group + 1] - c->g->first[group]);
    return least;
}

static double cost_in(const struct costs *c, const struct bounds_row *row, size_t group)
{
    const struct world_job *j = row->of;
    const struct rates *of = &c->rates[group];
    double cpus = (double)j->needs[AMOUNT_CPUS], need = (double)j->needs[c->amount];
    double by_time = of->cpu * cpus + of->unit * need, by_work;

    if (j->etc_s)
        return cost_of_times(c, row, group);
    if (isnan(j->estimate_ref_s))
        return by_time * fmin(j->estimate_s, j->time_limit_s);
    by_work = of->cpu_by_work * cpus + of->unit_by_work * need;
    return fmin(by_work * j->estimate_ref_s, by_time * j->time_limit_s);
}

/* On its `nodes` cheapest resources. */
static double cost_of(const struct costs *c, size_t row)
{
    size_t open = c->f->rows[row].of->nodes;
    double sum = 0;

    for (size_t i = 0; i < c->g->count; i++)
        c->cost[i] =
            price_group_has(c->g, row, i) ? cost_in(c, &c->f->rows[row], i) : HUGE_VAL;
    while (open > 0) {
        size_t best = 0, here;

        for (size_t i = 1; i < c->g->count; i++)
            best = c->cost[i] < c->cost[best] ? i : best;
        if (!(c->cost[best] < HUGE_VAL))
            break;
        here = c->g->first[best + 1] - c->g->first[best];
        here = open < here ? open : here;
        sum += c->cost[best] * (double)here;
        c->cost[best] = HUGE_VAL;
        open -= here;
    }
    return sum;
}

double bounds_cost(struct bounds_field *f, bool energy)
{
    struct costs c = {.f = f, .g = price_groups_of(f, true), .energy = energy};
    struct arena_mark mark;
    double bound = 0;

    if (!c.g)
        return 0;
    mark = arena_mark(f->arena);
    c.rates = NEW(f->arena, struct rates, c.g->count);
    c.cost = NEW(f->arena, double, c.g->count);
    for (c.amount = 0; c.amount < f->w->node_amount_count; c.amount++) {
        long double sum = 0;

        if (!f->needed[c.amount] && c.amount != AMOUNT_CPUS)
            continue;
        find_rates(&c);
        for (size_t r = 0; r < f->row_count; r++) {
            sum += cost_of(&c, r);
            if (budget_step(f->w->budget, 8 * c.g->count))
                break;
        }
        bound = fmax(bound, (double)sum);
    }
    arena_rewind(f->arena, mark);
    return bound * (1 - BOUNDS_SLACK);
}

/* ---- nodes ---- */

static double nodes_of_groups(const struct bounds_field *f)
{
    double most = 0;

    for (size_t i = 0; i < f->w->group_count; i++) {
        const struct world_group *g = &f->w->groups[i];
        double count = 0;

        for (size_t k = 0; k < g->job_count && g->policy == GROUP_SPREAD; k++)
            if (f->row_of[g->jobs[k]] != WORLD_NONE)
                count += (double)f->w->jobs[g->jobs[k]].nodes;
        most = fmax(most, ceil(count / (double)(g->max_per_key ? g->max_per_key : 1)));
        if (budget_step(f->w->budget, g->job_count + 1))
            break;
    }
    return most;
}

/* By the work of the amount, on resources as large as the largest. */
static double nodes_of_amount(const struct bounds_field *f, size_t k, double makespan_s)
{
    int64_t largest = 0;
    long double sum = 0;

    for (size_t p = 0; p < f->w->resource_count; p++)
        if (f->w->resources[p].capacity[k] > largest)
            largest = f->w->resources[p].capacity[k];
    if (largest <= 0 || largest >= AMOUNT_UNLIMITED || !(makespan_s > 0))
        return 0;
    for (size_t r = 0; r < f->row_count; r++) {
        const struct bounds_row *row = &f->rows[r];

        sum += (long double)row->of->needs[k] * row->least_s * row->of->nodes;
    }
    if (budget_step(f->w->budget, f->w->resource_count + 4 * f->row_count))
        return 0;
    return ceil((double)(sum / (makespan_s * (1 + 2e-9)) / largest) * (1 - 1e-12));
}

double bounds_nodes_used(const struct bounds_field *f, double makespan_s)
{
    double most = nodes_of_groups(f);

    for (size_t r = 0; r < f->row_count; r++)
        most = fmax(most, (double)f->rows[r].of->nodes);
    for (size_t k = 0; k < f->w->node_amount_count && makespan_s < HUGE_VAL; k++)
        if (f->needed[k])
            most = fmax(most, nodes_of_amount(f, k, makespan_s));
    return most;
}
