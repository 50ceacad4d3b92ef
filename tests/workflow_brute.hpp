// workflow_brute.hpp - small drawn workflows with zeros, ties and whole numbers, and
// their optimum by looking at every schedule.
#pragma once
#include "tests/workflow_support.hpp"

#include <algorithm>

namespace flows
{

// A time of 0 twice as often as any other up to 20.
inline double whole_or_zero(rng &d)
{
    size_t k = rng_index(&d, 22);

    return k < 2 ? 0 : (double)(k - 1);
}

// Up to `most` tasks on up to 3 processors; every other one with releases, busy and
// closed resources.
inline request draw_whole(uint64_t seed, size_t most)
{
    rng d = rng_stream(seed, "workflow zeros");
    size_t n = 1 + rng_index(&d, most), processors = 1 + rng_index(&d, 3);
    double edges_ratio = 0.1 + 0.5 * rng_uniform(&d), zeros_ratio = 0.5 * rng_uniform(&d);
    bool equal = rng_uniform(&d) < 0.3, transfers = rng_uniform(&d) < 0.7;
    std::vector<std::vector<double>> times(n, std::vector<double>(processors));
    std::vector<edge> edges;
    request r;

    for (auto &row : times) {
        bool none_at_all = rng_uniform(&d) < zeros_ratio;

        for (double &time_s : row)
            time_s = none_at_all ? 0 : whole_or_zero(d);
        if (equal)
            row.assign(processors, row[0]);
    }
    for (size_t i = 1; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (rng_uniform(&d) < edges_ratio)
                edges.push_back({j, i, transfers ? whole_or_zero(d) : 0});
    r = by_matrix(times, edges);
    if (seed % 2)
        return r;
    for (task &t : r.tasks())
        t.given.release_s = rng_uniform(&d) < 0.2 ? whole_or_zero(d) : 0;
    r.resources[0].ready_s = rng_uniform(&d) < 0.3 ? whole_or_zero(d) : 0;
    if (rng_uniform(&d) < 0.3) {
        double close_s = 1 + (double)rng_index(&d, 20);

        r.windows.push_back({r.resources.back().id, 0, close_s});
        r.windows.push_back({r.resources.back().id, close_s + 5, none});
    }
    return r;
}

// All schedules without needless waiting, by rising starts; anything that ends at
// best_s or later is not looked for.
struct every_schedule {
    const workflow_problem *problem;
    double best_s;
    std::vector<double> free_s, finish_s;
    std::vector<size_t> at;

    every_schedule(const workflow_problem *p, double most_s)
        : problem(p), best_s(most_s), free_s(p->processor_count), finish_s(p->task_count),
          at(p->task_count, WORKFLOW_NONE)
    {
    }
    // Past the intervals that a task of time_s may not touch.
    double start(size_t p, double from_s, double time_s) const
    {
        const workflow_processor &x = problem->processors[p];

        for (size_t k = 0; time_s > 0 && k < x.blocked_count; k++)
            if (from_s + time_s > x.blocked[k].from_s)
                from_s = std::max(from_s, x.blocked[k].to_s);
        for (size_t k = 0; time_s == 0 && k < x.closed_count; k++)
            if ((from_s > x.closed[k].from_s || x.closed[k].from_s == 0) &&
                from_s < x.closed[k].to_s)
                from_s = x.closed[k].to_s;
        return from_s;
    }
    void go(size_t placed, double last_s, double start_s)
    {
        if (placed == problem->task_count)
            best_s = std::min(best_s, last_s);
        for (size_t i = 0; i < problem->task_count && last_s < best_s; i++)
            for (size_t p = 0; p < free_s.size() && at[i] == WORKFLOW_NONE; p++)
                place(i, p, placed, last_s, start_s);
    }
    void place(size_t i, size_t p, size_t placed, double last_s, double least_s)
    {
        double time_s = workflow_time_s(problem, i, p), old_s = free_s[p];
        double start_s =
            std::max(workflow_ready_s(problem, i, p), time_s > 0 ? old_s : 0);

        for (size_t e = problem->parent_first[i]; e < problem->parent_first[i + 1]; e++) {
            const workflow_edge &x = problem->edges[e];

            if (at[x.parent] == WORKFLOW_NONE)
                return;
            start_s =
                std::max(start_s, finish_s[x.parent] +
                                      workflow_transfer_s(problem, &x, at[x.parent], p));
        }
        start_s = start(p, start_s, time_s);
        if (start_s < least_s || start_s + time_s >= best_s)
            return;
        at[i] = p;
        finish_s[i] = start_s + time_s;
        if (time_s > 0)
            free_s[p] = finish_s[i];
        go(placed + 1, std::max(last_s, finish_s[i]), start_s);
        free_s[p] = old_s;
        at[i] = WORKFLOW_NONE;
    }
};

// HUGE_VAL: nothing ends before most_s.
inline double least_makespan_s(request &r, double most_s = HUGE_VAL)
{
    test_arena a;
    error err = collecting_error(a);
    workflow_problem *problem = nullptr;

    REQUIRE(workflow_problem_make(r.build(), false, &problem, a, &err) == OK);
    every_schedule all(problem, most_s);
    all.go(0, 0, 0);
    return all.best_s;
}

} // namespace flows
