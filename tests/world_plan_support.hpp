// world_plan_support.hpp - plans of worlds in tests: read, and checked the slow way.
#ifndef GRIDPLAN_WORLD_PLAN_SUPPORT_HPP
#define GRIDPLAN_WORLD_PLAN_SUPPORT_HPP

#include "tests/support.hpp"
#include "tests/world_support.hpp"

extern "C" {
#include "algorithms/world/board.h"
}

// "n1 0-10", several nodes "n1+n2 0-10"; no place: the word for what it waits for.
inline std::string where(const world *w, const world_plan *plan, size_t job)
{
    static const char *const waits[] = {
#define X(symbol, name) name,
        WORLD_WAITS(X)
#undef X
    };
    const world_placed &p = plan->placed[job];
    char times[64];
    std::string text;

    if (!p.positions)
        return waits[p.wait];
    for (size_t i = 0; i < p.position_count; i++)
        text += (i ? "+" : "") + std::string(w->resources[p.positions[i]].id);
    snprintf(times, sizeof times, " %g-%g", p.start_s, p.done_s);
    return text + times;
}

inline std::vector<std::string> where_all(const world *w, const world_plan *plan)
{
    std::vector<std::string> list;
    for (size_t j = 0; j < w->job_count; j++)
        list.push_back(where(w, plan, j));
    return list;
}

inline double makespan_of(const world *w, const world_plan *plan)
{
    double last = 0;
    for (size_t j = 0; j < w->job_count; j++)
        if (plan->placed[j].positions)
            last = std::max(last, plan->placed[j].done_s);
    return last;
}

inline double flow_of(const world *w, const world_plan *plan)
{
    double sum = 0;
    for (size_t j = 0; j < w->job_count; j++)
        if (plan->placed[j].positions)
            sum += plan->placed[j].done_s - w->jobs[j].release_s;
    return sum;
}

inline std::vector<std::string> order_of(const world *w, const world_plan *plan)
{
    std::vector<std::string> list;
    for (size_t i = 0; i < plan->placed_count; i++)
        list.push_back(w->jobs[plan->sequence[i]].id);
    return list;
}

// Who holds what, [start, end), of one amount on one resource (WORLD_NONE: shared).
struct held_interval {
    double start_s, end_s;
    int64_t amount;
    bool all, planned;
};

inline std::vector<held_interval> holds(const world *w, const world_plan *plan,
                                        size_t position, size_t k)
{
    std::vector<held_interval> list;
    for (size_t h = 0; h < w->holder_count; h++) {
        const world_holder &x = w->holders[h];
        bool here = position == WORLD_NONE;
        for (size_t i = 0; i < x.position_count; i++)
            here = here || x.positions[i] == position;
        if (here)
            list.push_back({x.start_s, x.end_s, x.amounts[k],
                            x.all && position != WORLD_NONE, false});
    }
    for (size_t j = 0; j < w->job_count; j++) {
        const world_placed &p = plan->placed[j];
        bool here = p.positions && position == WORLD_NONE;
        for (size_t i = 0; p.positions && i < p.position_count; i++)
            here = here || p.positions[i] == position;
        if (here)
            list.push_back({p.start_s, p.end_s, w->jobs[j].needs[k], false, true});
    }
    return list;
}

// At every start: what is planned takes nothing that is not there.
inline std::string over_at(const world *w, const world_plan *plan, size_t position,
                           size_t k)
{
    int64_t capacity = position == WORLD_NONE ? w->shared_capacity[k]
                                              : w->resources[position].capacity[k];
    auto list = holds(w, plan, position, k);
    for (auto &at : list) {
        int64_t left = capacity, planned = 0;
        bool closed = false;
        for (auto &h : list)
            if (h.start_s <= at.start_s && at.start_s < h.end_s) {
                left = amount_add(left, -h.amount);
                planned += h.planned ? h.amount : 0;
                closed = closed || h.all;
            }
        if (planned > 0 && (left < 0 || closed))
            return std::string("too much of ") + w->amounts[k].name;
    }
    return "";
}

// At every start: no limit is exceeded by what is planned.
inline std::string beyond_limits(const world *w, const world_plan *plan)
{
    for (size_t l = 0; l < w->limit_count; l++) {
        const world_limit &limit = w->limits[l];
        struct held {
            double start_s, end_s;
            int64_t units;
            bool planned;
        };
        std::vector<held> list;
        for (size_t h = 0; h < limit.held_count; h++)
            list.push_back({0, limit.held[h].end_s, limit.held[h].units, false});
        for (size_t j = 0; j < w->job_count; j++) {
            const world_placed &p = plan->placed[j];
            const world_job &job = w->jobs[j];
            if (!p.positions)
                continue;
            const world_choice &c = job.choices[p.choice];
            for (size_t k = 0; k < c.limit_count; k++)
                if (c.limits[k] == l)
                    list.push_back({p.start_s, p.end_s,
                                    limit.kind == LIMIT_JOBS
                                        ? 1
                                        : job.needs[AMOUNT_CPUS] * (int64_t)job.nodes,
                                    true});
        }
        for (auto &at : list) {
            int64_t left = limit.capacity, planned = 0;
            for (auto &h : list)
                if (h.start_s <= at.start_s && at.start_s < h.end_s) {
                    left -= h.units;
                    planned += h.planned ? h.units : 0;
                }
            if (planned > 0 && left < 0)
                return "too much of a limit";
        }
    }
    return "";
}

// Rules 1 and 2 of a valid plan, by looking at everything. "": valid.
inline std::string wrong_with(const world *w, const world_plan *plan)
{
    for (size_t j = 0; j < w->job_count; j++) {
        const world_placed &p = plan->placed[j];
        const world_job &job = w->jobs[j];
        std::string name = std::string(job.id) + ": ";
        double run = 0;

        if (!p.positions)
            continue;
        if (p.position_count != job.nodes)
            return name + "nodes";
        for (size_t i = 0; i < p.position_count; i++) {
            size_t r = p.positions[i];
            if (i && w->resources[p.positions[i - 1]].index >= w->resources[r].index)
                return name + "resources";
            if (!world_mask_has(job.choices[p.choice].mask, r))
                return name + "not eligible";
            if (!world_large_enough(w, &job, r))
                return name + "too large";
            run = std::max(run, world_run_s(w, &job, r));
        }
        if (p.run_s != run || p.done_s != p.start_s + (p.stage_in_s + run) ||
            p.end_s != p.start_s + (p.stage_in_s + world_held_s(w, &job, run)))
            return name + "times";
        if (p.start_s < job.release_s || p.start_s < job.earliest_s)
            return name + "release";
        for (size_t i = 0; i < job.after_count; i++) {
            const world_placed &b = plan->placed[job.after[i].job];
            if (!b.positions ||
                p.start_s < (job.after[i].kind == AFTER_START ? b.start_s : b.done_s))
                return name + "after";
        }
    }
    for (size_t k = 0; k < w->amount_count; k++) {
        std::string over;
        if (k >= w->node_amount_count)
            over = over_at(w, plan, WORLD_NONE, k);
        for (size_t r = 0; k < w->node_amount_count && r < w->resource_count; r++)
            if (over.empty())
                over = over_at(w, plan, r, k);
        if (!over.empty())
            return over;
    }
    return beyond_limits(w, plan);
}

#endif
