// placement_support.hpp - small grids for the tests of algorithms/placement.
#pragma once
#include "tests/support.hpp"

#include <cmath>
#include <deque>
#include <map>
#include <vector>

extern "C" {
#include "algorithms/placement/bound.h"
#include "algorithms/placement/placement.h"
#include "algorithms/placement/priority.h"
}

// A request that owns what it points to.
struct world {
    std::deque<std::string> texts;
    std::deque<std::vector<const char *>> lists;
    std::deque<std::vector<double>> numbers;
    std::deque<std::vector<named_value>> values;
    std::vector<resource> resources;
    std::vector<job> jobs;
    std::vector<file> files;
    std::vector<network_route> routes;
    std::vector<placement_user> users;
    std::vector<placement_usage> usage;
    snapshot snap{};
    ::budget limits{};
    placement_in in{};

    world()
    {
        snap.taken_at_s = snap.list_observed_at_s = NAN;
        snap.network.wan_mbps = snap.network.wan_latency_s = NAN;
        snap.network.lan_mbps = snap.network.lan_latency_s = NAN;
        in.seed = 1;
    }
    world(const world &) = delete;
    world &operator=(const world &) = delete;

    const char *text(const std::string &s)
    {
        texts.push_back(s);
        return texts.back().c_str();
    }
    const double *array(const std::vector<double> &v)
    {
        numbers.push_back(v);
        return numbers.back().data();
    }
    const char *const *list(const std::vector<std::string> &v)
    {
        std::vector<const char *> out;
        for (auto &s : v)
            out.push_back(text(s));
        lists.push_back(out);
        return lists.back().data();
    }
    resource &host(const std::string &id, double mips = 1, const std::string &site = "")
    {
        resource r{};
        r.id = text(id);
        r.site_id = site.empty() ? nullptr : text(site);
        r.mips_total = mips;
        r.cpu_available_ratio = 1;
        r.cpus = r.memory_bytes = r.n_max = r.observed_at_s = NAN;
        r.observed_since_s = r.last_failure_at_s = r.up_since_s = NAN;
        r.failure_count = r.uptime_total_s = NAN;
        r.fixed_priority = 1;
        resources.push_back(r);
        return resources.back();
    }
    void attributes(resource &r, const std::vector<named_value> &v)
    {
        values.push_back(v);
        r.attributes = values.back().data();
        r.attribute_count = v.size();
    }
    void busy(resource &r, const std::vector<double> &free_at_s)
    {
        r.job_count = static_cast<double>(free_at_s.size());
        r.free_at_s = array(free_at_s);
        r.free_at_count = free_at_s.size();
    }
    job &task(const std::string &id, double estimate_ref_s,
              const std::vector<std::string> &input = {})
    {
        job j{};
        j.id = text(id);
        j.estimate_ref_s = estimate_ref_s;
        j.cpus = 1;
        j.input_file_ids = list(input);
        j.input_file_count = input.size();
        j.deadline_s = j.queued_at_s = j.deadline_at_s = j.task_index = NAN;
        j.param_start = j.param_increment = NAN;
        jobs.push_back(j);
        return jobs.back();
    }
    job &row(const std::string &id, const std::vector<double> &times)
    {
        job &j = task(id, NAN);
        j.etc_s = array(times);
        j.etc_count = times.size();
        return j;
    }
    void data(const std::string &id, double bytes, const std::vector<std::string> &sites,
              bool shared = true)
    {
        files.push_back({text(id), bytes, shared, list(sites), sites.size()});
    }
    void route(const std::string &from, const std::string &to, double mbps,
               double latency_s = 0)
    {
        routes.push_back({text(from), text(to), mbps, latency_s});
    }
    const placement_in *request()
    {
        snap.resources = resources.data();
        snap.resource_count = resources.size();
        snap.files = files.data();
        snap.file_count = files.size();
        snap.network.routes = routes.data();
        snap.network.route_count = routes.size();
        in.snapshot = &snap;
        in.jobs = jobs.data();
        in.job_count = jobs.size();
        in.users = users.data();
        in.user_count = users.size();
        in.usage = usage.data();
        in.usage_count = usage.size();
        in.budget = &limits;
        return &in;
    }
};

inline named_value option(const char *name, double number)
{
    return {name, VALUE_NUMBER, number, nullptr};
}
inline named_value option(const char *name, bool flag)
{
    return {name, VALUE_BOOLEAN, flag ? 1.0 : 0.0, nullptr};
}
inline named_value option(const char *name, const char *choice)
{
    return {name, VALUE_TEXT, 0, choice};
}

// One decision; `arena` must outlive what is read from `out`.
inline error_code decide(world &w, const std::string &policy, placement_out &out,
                         arena *a, error &err,
                         const std::vector<named_value> &options = {})
{
    const struct policy *found = policy_find(placement_policies, policy.c_str());
    REQUIRE(found != nullptr);
    return placement_decide(w.request(), found, options.data(), options.size(), &out, a,
                            &err);
}

inline placement_out decided(world &w, const std::string &policy, arena *a,
                             const std::vector<named_value> &options = {})
{
    placement_out out{};
    error err = collecting_error(a);
    error_code code = decide(w, policy, out, a, err, options);
    INFO(policy << ": " << err.field << " " << err.text);
    REQUIRE(code == OK);
    return out;
}

// "j1 b1 50, j2 b1 125": jobs in the order of placing, with places and finish times.
inline std::string plan_text(const placement_out &out)
{
    std::string s;
    for (size_t i = 0; i < out.placement_count; i++) {
        char number[32];
        snprintf(number, sizeof(number), "%.10g", out.placements[i].finish_s);
        s += (i ? ", " : "") + std::string(out.placements[i].job_id) + " " +
             out.placements[i].resource_id + " " + number;
    }
    return s;
}

// "a 0-10, b 10-20": by job.
inline std::string times_text(const placement_out &out)
{
    std::map<std::string, std::string> by_job;
    std::string s;
    for (size_t i = 0; i < out.placement_count; i++) {
        char text[64];
        snprintf(text, sizeof(text), "%g-%g", out.placements[i].start_s,
                 out.placements[i].finish_s);
        by_job[out.placements[i].job_id] = text;
    }
    for (auto &x : by_job)
        s += (s.empty() ? "" : ", ") + x.first + " " + x.second;
    return s;
}

inline std::string order_text(const placement_out &out)
{
    std::string s;
    for (size_t i = 0; i < out.placement_count; i++)
        s += (i ? " " : "") + std::string(out.placements[i].job_id);
    return s;
}

inline const placement_reason *reason_of(const placement_out &out, const std::string &job,
                                         const std::string &reason)
{
    for (size_t i = 0; i < out.unplaced_count; i++)
        for (size_t k = 0;
             out.unplaced[i].job_id == job && k < out.unplaced[i].reason_count; k++)
            if (out.unplaced[i].reasons[k].reason == reason)
                return &out.unplaced[i].reasons[k];
    return nullptr;
}

inline bool has_warning(const placement_out &out, const std::string &start)
{
    for (size_t i = 0; i < out.warning_count; i++)
        if (std::string(out.warnings[i]).rfind(start, 0) == 0)
            return true;
    return false;
}

// Every row of the policy table that can run on any request.
inline std::vector<std::string> policy_names()
{
    std::vector<std::string> names;
    for (const struct policy *p = placement_policies; p->name; p++)
        names.push_back(p->name);
    return names;
}
