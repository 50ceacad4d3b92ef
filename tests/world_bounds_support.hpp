// world_bounds_support.hpp - the best of all plans of a tiny world, and bounds of it.
#ifndef GRIDPLAN_WORLD_BOUNDS_SUPPORT_HPP
#define GRIDPLAN_WORLD_BOUNDS_SUPPORT_HPP

#include "tests/support.hpp"
#include "tests/world_support.hpp"

extern "C" {
#include "algorithms/world/prices.h"
}

// A plan that says of all jobs that they have a place.
struct all_placed {
    const world *w;
    size_t position = 0;
    std::vector<world_placed> placed;
    world_plan plan{};

    explicit all_placed(const world *of, double done_s = 10)
        : w(of), placed(of->job_count)
    {
        for (auto &p : placed) {
            p.positions = &position;
            p.position_count = 1;
            p.done_s = done_s;
        }
        plan.placed = placed.data();
        plan.placed_count = placed.size();
    }
    all_placed(const all_placed &) = delete;
    all_placed &operator=(const all_placed &) = delete;
};

// Bounds of all levels, for a plan with these values.
inline std::vector<double> bounds_of(const all_placed &all,
                                     const std::vector<world_objective> &levels,
                                     const std::vector<double> &values,
                                     bound_work work = BOUNDS_ASCENT)
{
    test_arena a;
    world_goal goal{};
    struct world_worth worth {
    };
    world_bound out[OBJECTIVE_LEVELS_MAX];
    std::vector<double> found;

    goal.level_count = levels.size();
    for (size_t i = 0; i < levels.size(); i++) {
        goal.level[i] = levels[i];
        worth.value[i] = values[i];
    }
    world_bounds(all.w, &goal, &all.plan, &worth, work, out, a);
    for (size_t i = 0; i < levels.size(); i++)
        found.push_back(out[i].known ? out[i].value : -HUGE_VAL);
    return found;
}

// With all effort: no value meets it.
inline double bound_of(const world *w, world_objective o, bound_work work = BOUNDS_ASCENT,
                       double done_s = 10)
{
    return bounds_of(all_placed(w, done_s), {o}, {HUGE_VAL}, work)[0];
}

inline double bound_of(given_world given, world_objective o,
                       bound_work work = BOUNDS_ASCENT)
{
    return bound_of(given.build(), o, work);
}

// All plans in which each job starts as soon as it fits behind those that were placed
// before it, in all orders on all sets of resources: one of them is best, for all
// objectives but cost and energy. For these each start may also be up to `delays` later.
class brute
{
  public:
    explicit brute(const world *of, double most_delay_s = 0)
        : w(of), delay_s(most_delay_s)
    {
        done.assign(w->job_count, NAN);
        started.assign(w->job_count, NAN);
        std::fill(best, best + OBJECTIVE_COUNT, HUGE_VAL);
        place_next(0);
    }
    double least(world_objective o) const
    {
        return best[o];
    }
    // Least number of resources of plans that end by makespan_s.
    double least_nodes(double makespan_s) const
    {
        double least = HUGE_VAL;
        for (auto &e : ends)
            if (e.second <= makespan_s)
                least = std::min(least, (double)e.first);
        return least;
    }

    // Of all jobs on all resources.
    double least_run_s() const
    {
        double least = HUGE_VAL;
        for (size_t j = 0; j < w->job_count; j++)
            for (size_t p = 0; p < w->resource_count; p++)
                least = std::min(least, world_run_s(w, &w->jobs[j], p));
        return least;
    }

  private:
    struct take {
        std::vector<size_t> positions;
        double start_s, end_s;
        size_t job;
    };
    const world *w;
    double delay_s;
    std::vector<take> takes;
    std::vector<double> done, started;
    std::map<size_t, double> ends; // by number of resources: least makespan
    double best[OBJECTIVE_COUNT];

    static bool holds_at(double start_s, double end_s, double t)
    {
        return start_s <= t && t < end_s;
    }

    // What is free at t, of a resource or (WORLD_NONE) shared.
    bool is_free_at(const world_job &j, size_t position, double t) const
    {
        bool shared = position == WORLD_NONE;
        size_t first = shared ? w->node_amount_count : 0;
        size_t last = shared ? w->amount_count : w->node_amount_count;
        for (size_t k = first; k < last; k++) {
            int64_t left =
                shared ? w->shared_capacity[k] : w->resources[position].capacity[k];
            if (j.needs[k] <= 0)
                continue;
            for (size_t h = 0; h < w->holder_count; h++) {
                const world_holder &holder = w->holders[h];
                if (!holds_at(holder.start_s, holder.end_s, t))
                    continue;
                bool here = shared;
                for (size_t i = 0; i < holder.position_count; i++)
                    here = here || holder.positions[i] == position;
                if (here && holder.all && !shared)
                    return false;
                left -= here ? holder.amounts[k] : 0;
            }
            for (auto &held : takes)
                if (holds_at(held.start_s, held.end_s, t) &&
                    (shared ||
                     std::count(held.positions.begin(), held.positions.end(), position)))
                    left -= w->jobs[held.job].needs[k];
            if (left < j.needs[k])
                return false;
        }
        return true;
    }

    bool is_closed_at(size_t position, double t) const
    {
        for (size_t h = 0; h < w->holder_count; h++)
            for (size_t i = 0; i < w->holders[h].position_count; i++)
                if (w->holders[h].all && w->holders[h].positions[i] == position &&
                    holds_at(w->holders[h].start_s, w->holders[h].end_s, t))
                    return true;
        return false;
    }

    bool fits(const world_job &j, const std::vector<size_t> &on, double s,
              double held_s) const
    {
        std::vector<double> times = {s};
        if (held_s <= 0) {
            for (size_t p : on)
                if (is_closed_at(p, s))
                    return false;
            return true;
        }
        for (size_t h = 0; h < w->holder_count; h++)
            if (w->holders[h].start_s > s && w->holders[h].start_s < s + held_s)
                times.push_back(w->holders[h].start_s);
        for (auto &held : takes)
            if (held.start_s > s && held.start_s < s + held_s)
                times.push_back(held.start_s);
        for (double t : times) {
            if (!is_free_at(j, WORLD_NONE, t))
                return false;
            for (size_t p : on)
                if (!is_free_at(j, p, t))
                    return false;
        }
        return true;
    }

    double earliest(const world_job &j, const std::vector<size_t> &on, double from_s,
                    double held_s) const
    {
        std::vector<double> times = {from_s};
        for (size_t h = 0; h < w->holder_count; h++)
            if (w->holders[h].end_s > from_s && w->holders[h].end_s < HUGE_VAL)
                times.push_back(w->holders[h].end_s);
        for (auto &held : takes)
            if (held.end_s > from_s)
                times.push_back(held.end_s);
        std::sort(times.begin(), times.end());
        for (double t : times)
            if (fits(j, on, t, held_s))
                return t;
        return HUGE_VAL;
    }

    double cost(bool energy) const
    {
        double sum = 0;
        for (size_t r = 0; r < w->resource_count; r++) {
            std::vector<std::pair<double, double>> on;
            const world_resource &of = w->resources[r];
            double until_s = -1;
            for (auto &held : takes) {
                if (!std::count(held.positions.begin(), held.positions.end(), r))
                    continue;
                on.emplace_back(held.start_s, held.end_s);
                sum += (energy ? of.power_per_cpu_w : of.price_per_cpu_s) *
                       (double)w->jobs[held.job].needs[AMOUNT_CPUS] /
                       AMOUNT_UNITS_PER_ONE * (held.end_s - held.start_s);
            }
            std::sort(on.begin(), on.end());
            for (auto &i : on) {
                double from_s = std::max(i.first, until_s);
                if (i.second > from_s)
                    sum +=
                        (energy ? of.power_node_w : of.price_per_s) * (i.second - from_s);
                until_s = std::max(until_s, i.second);
            }
        }
        return sum;
    }

    void keep(world_objective o, double value)
    {
        best[o] = std::min(best[o], value);
    }

    void value_plan()
    {
        double makespan = 0, flow = 0, completion = 0, tardiness = 0, late = 0;
        std::vector<size_t> used;
        for (size_t i = 0; i < w->job_count; i++) {
            const world_job &j = w->jobs[i];
            double over_s = std::max(0.0, done[i] - j.deadline_s);
            makespan = std::max(makespan, done[i]);
            flow += done[i] - j.release_s;
            completion += j.weight * done[i];
            tardiness += j.weight * over_s;
            late += over_s > 0;
        }
        for (auto &held : takes)
            for (size_t p : held.positions)
                if (!std::count(used.begin(), used.end(), p))
                    used.push_back(p);
        keep(OBJECTIVE_MAKESPAN, makespan);
        keep(OBJECTIVE_TOTAL_FLOW, flow);
        keep(OBJECTIVE_WEIGHTED_COMPLETION, completion);
        keep(OBJECTIVE_WEIGHTED_TARDINESS, tardiness);
        keep(OBJECTIVE_LATE_JOBS, late);
        keep(OBJECTIVE_COST, cost(false));
        keep(OBJECTIVE_ENERGY, cost(true));
        keep(OBJECTIVE_NODES_USED, (double)used.size());
        auto at = ends.emplace(used.size(), makespan).first;
        at->second = std::min(at->second, makespan);
    }

    // HUGE_VAL: a predecessor has no place yet.
    double from_of(const world_job &j) const
    {
        double from_s = j.earliest_s;
        for (size_t i = 0; i < j.after_count; i++) {
            double of = j.after[i].kind == AFTER_START ? started[j.after[i].job]
                                                       : done[j.after[i].job];
            if (std::isnan(of))
                return HUGE_VAL;
            from_s = std::max(from_s, of);
        }
        return from_s;
    }

    void place_on(size_t i, double from_s, const std::vector<size_t> &on, size_t count)
    {
        const world_job &j = w->jobs[i];
        double run_s = 0, held_s;
        for (size_t p : on)
            run_s = std::max(run_s, world_run_s(w, &j, p));
        held_s = world_held_s(w, &j, run_s);
        for (double delay = 0; delay <= delay_s; delay++) {
            double s = earliest(j, on, from_s + delay, held_s);
            if (s == HUGE_VAL)
                return;
            started[i] = s;
            done[i] = s + run_s;
            takes.push_back({on, s, s + held_s, i});
            place_next(count + 1);
            takes.pop_back();
            started[i] = done[i] = NAN;
        }
    }

    // All of them through one and the same choice.
    static bool is_choice(const world_job &j, const std::vector<size_t> &on)
    {
        for (size_t c = 0; c < j.choice_count; c++) {
            bool all = true;
            for (size_t p : on)
                all = all && world_mask_has(j.choices[c].mask, p);
            if (all)
                return true;
        }
        return false;
    }

    void choose_nodes(size_t i, double from_s, std::vector<size_t> &on, size_t next,
                      size_t count)
    {
        const world_job &j = w->jobs[i];
        if (on.size() == j.nodes) {
            if (is_choice(j, on))
                place_on(i, from_s, on, count);
            return;
        }
        for (size_t p = next; p < w->resource_count; p++) {
            bool may = false;
            for (size_t c = 0; c < j.choice_count; c++)
                may = may || world_mask_has(j.choices[c].mask, p);
            if (!may || !world_large_enough(w, &j, p) ||
                !(world_run_s(w, &j, p) < HUGE_VAL))
                continue;
            on.push_back(p);
            choose_nodes(i, from_s, on, p + 1, count);
            on.pop_back();
        }
    }

    void place_next(size_t count)
    {
        if (count == w->job_count) {
            value_plan();
            return;
        }
        for (size_t i = 0; i < w->job_count; i++) {
            double from_s = from_of(w->jobs[i]);
            std::vector<size_t> on;
            if (std::isnan(done[i]) && from_s < HUGE_VAL)
                choose_nodes(i, from_s, on, 0, count);
        }
    }
};

#endif
