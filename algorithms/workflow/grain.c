/* workflow/grain.c - the step in which all ends of a workflow come. */
#include "algorithms/workflow/grain.h"

#include "algorithms/workflow/problem_parts.h"

enum { UNITS = 7 };
#define MULTIPLES_MOST 1e9

struct grains {
    const struct workflow_problem *problem;
    struct workflow_clock *clock;
    size_t unit;      /* 10^-unit; UNITS: none does */
    double largest_s; /* seen so far */
    uint64_t divisor; /* of all, in units; 0: not asked for yet */
    bool dividing;    /* the unit is known: this is the second time around */
};

/* Exact as far as doubles go: 1 / 10 is not 0.1 times 1. */
static double in_units(double time_s, size_t unit)
{
    static const double units_per_s[UNITS] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};

    return time_s * units_per_s[unit];
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* One more time; false: no need to go on. */
static bool note(struct grains *g, double time_s)
{
    if (time_s == 0 || !(time_s < HUGE_VAL))
        return true;
    if (g->dividing) {
        g->divisor =
            greatest_divisor((uint64_t)round(in_units(time_s, g->unit)), g->divisor);
        return true;
    }
    g->largest_s = fmax(g->largest_s, time_s);
    for (; g->unit < UNITS; g->unit++) {
        double x = in_units(time_s, g->unit);

        if (x > MULTIPLES_MOST)
            g->unit = UNITS - 1;
        else if (fabs(x - round(x)) <= 1e-12 * x)
            break;
    }
    return g->unit < UNITS;
}

static bool note_tasks(struct grains *g)
{
    const struct workflow_problem *problem = g->problem;

    for (size_t i = 0; i < problem->task_count; i++) {
        if (!workflow_is_open(problem, i)) {
            if (!note(g, fmax(0, problem->fixed_finish_s[i])))
                return false;
            continue;
        }
        if (!workflow_tick(g->clock, (double)problem->processor_count) ||
            !note(g, problem->release_s[i]))
            return false;
        for (size_t p = 0; p < problem->processor_count; p++)
            if (!note(g, workflow_time_s(problem, i, p)) ||
                !note(g, workflow_staged_s(problem, i, p)))
                return false;
    }
    return true;
}

/* Between any two sites. */
static bool note_links(struct grains *g, double bytes)
{
    size_t sites = g->problem->parts->resource_site_count;

    for (size_t from = 0; from < sites; from++) {
        if (!workflow_tick(g->clock, (double)sites))
            return false;
        for (size_t to = 0; to < sites; to++)
            if (!note(g, workflow_link_s(g->problem, bytes, from, to)))
                return false;
    }
    return true;
}

static bool note_edges(struct grains *g)
{
    const struct workflow_problem *problem = g->problem;

    for (size_t e = 0; e < problem->edge_count; e++) {
        const struct workflow_edge *edge = &problem->edges[e];

        if (!workflow_tick(g->clock, 1))
            return false;
        if (!workflow_is_open(problem, edge->child))
            continue;
        if (isnan(edge->transfer_s) ? !note_links(g, edge->bytes)
                                    : !note(g, edge->transfer_s))
            return false;
    }
    return true;
}

static bool note_ends(struct grains *g, const struct workflow_blocked *list, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (!note(g, list[k].to_s))
            return false;
    return workflow_tick(g->clock, (double)count);
}

static bool note_all(struct grains *g)
{
    const struct workflow_problem *problem = g->problem;

    for (size_t p = 0; p < problem->processor_count; p++) {
        const struct workflow_processor *x = &problem->processors[p];

        if (!note_ends(g, x->blocked, x->blocked_count) ||
            !note_ends(g, x->closed, x->closed_count))
            return false;
    }
    return note_tasks(g) && note_edges(g);
}

double workflow_grain_s(const struct workflow_problem *problem,
                        struct workflow_clock *clock)
{
    struct grains g = {.problem = problem, .clock = clock};

    if (!note_all(&g) || g.largest_s == 0 ||
        in_units(g.largest_s, g.unit) > MULTIPLES_MOST)
        return 0;
    g.dividing = true;
    if (!note_all(&g))
        return 0;
    return (double)g.divisor / in_units(1, g.unit);
}

double workflow_round_up_s(double bound_s, double grain_s)
{
    if (!(grain_s > 0) || !(bound_s < HUGE_VAL))
        return bound_s;
    return fmax(bound_s, grain_s * ceil(bound_s * (1 - 1e-9) / grain_s));
}
