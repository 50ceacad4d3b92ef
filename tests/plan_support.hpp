// plan_support.hpp - a source that is a table of seconds per phase, for tests of plans.
#pragma once
#include "tests/support.hpp"

#include <memory>

extern "C" {
#include "algorithms/plan/plan.h"
}

namespace plan_support
{

// Seconds per phase of each schedule; the schedules stand in alphabetical order.
using seconds = std::vector<std::vector<double>>;

struct table_source {
    seconds schedules;
    plan_source source{};
    size_t asked = 0;

    explicit table_source(seconds s) : schedules(std::move(s))
    {
        source.context = this;
        source.best = best;
        source.time_on = time_on;
        source.bound = bound;
    }
    table_source(const table_source &) = delete;
    table_source &operator=(const table_source &) = delete;

    static double time_on(void *context, size_t schedule, size_t first, size_t last)
    {
        auto *t = static_cast<table_source *>(context);
        double sum_s = 0;
        for (size_t k = first; k <= last; k++)
            sum_s += t->schedules[schedule][k - 1];
        return sum_s;
    }
    static error_code best(void *context, size_t first, size_t last, plan_best *out,
                           error *)
    {
        auto *t = static_cast<table_source *>(context);
        plan_best b{0, HUGE_VAL, 0, true, false};
        for (size_t s = 0; s < t->schedules.size(); s++) {
            double time_s = time_on(context, s, first, last);
            if (time_s < b.time_s)
                b = {s, time_s, time_s, true, false};
        }
        t->asked++;
        *out = b;
        return OK;
    }
    static double bound(void *context, size_t first, size_t last, double)
    {
        plan_best b{};
        error err{};
        best(context, first, last, &b, &err);
        return b.time_s;
    }
};

inline std::vector<double> options(double min_interval_s, size_t population = 200,
                                   size_t generations = 50, bool seeded = false)
{
    std::vector<double> o(PLAN_OPTION_COUNT, 0);
    o[PLAN_MIN_INTERVAL] = min_interval_s;
    o[PLAN_POPULATION] = static_cast<double>(population);
    o[PLAN_GENERATIONS] = static_cast<double>(generations);
    o[PLAN_SEEDED] = seeded;
    o[PLAN_SCHEDULER] = o[PLAN_INTER_COST] = NAN;
    o[PLAN_REDISTRIBUTION] = 1;
    return o;
}

// One cluster or several, and a request about them.
struct grid_of {
    std::vector<std::unique_ptr<table_source>> sources;
    std::vector<std::string> ids;
    std::vector<plan_site> sites;
    std::vector<double> inter;
    plan_in in{};

    explicit grid_of(const std::vector<seconds> &tables, double intra_s,
                     double inter_s = 0)
    {
        for (size_t s = 0; s < tables.size(); s++) {
            sources.push_back(std::make_unique<table_source>(tables[s]));
            ids.push_back(std::string(1, static_cast<char>('A' + s)));
        }
        for (size_t s = 0; s < tables.size(); s++)
            sites.push_back(
                {ids[s].c_str(), &sources[s]->source, nullptr, intra_s, false});
        inter.assign(tables.size() * tables.size(), inter_s);
        in.sites = sites.data();
        in.site_count = sites.size();
        in.inter_cost_s = inter.data();
        in.first_phase = 1;
        in.phase_count = tables[0][0].size();
        in.current = {SIZE_MAX, SIZE_MAX};
        in.seed = 1;
    }
};

struct planned {
    error_code code = OK;
    plan_out out{};
    std::vector<size_t> markers;
    std::vector<plan_interval> intervals;
};

inline planned decide(arena *a, const plan_in &in, const char *policy,
                      const std::vector<double> &option)
{
    planned p;
    error err = collecting_error(a);
    p.code = plan_decide(&in, policy_find(plan_policies, policy), option.data(), &p.out,
                         a, &err);
    if (p.code != OK)
        return p;
    for (size_t i = 0; i < p.out.interval_count; i++) {
        p.markers.push_back(p.out.intervals[i].last);
        p.intervals.push_back(p.out.intervals[i]);
    }
    return p;
}

} // namespace plan_support
