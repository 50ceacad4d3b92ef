// simulation_support.hpp - small grids and runs for the tests of the simulator.
#pragma once
#include "tests/support.hpp"

#include <deque>
#include <limits>

extern "C" {
#include "algorithms/dispatch/dispatch.h"
#include "algorithms/fault_tolerance/fault_tolerance.h"
#include "algorithms/replication/replication.h"
#include "algorithms/simulation/placement_round.h"
#include "algorithms/simulation/simulation.h"
#include "algorithms/simulation/vm.h"
#include "algorithms/simulation/workload.h"
}

static const double UNSAID = std::numeric_limits<double>::quiet_NaN();

// A policy with its bound options.
struct bound_policy {
    sim_policy policy{};
    test_arena a{size_t{1} << 20};
    double round_param[PARAMS_MAX]{}, checkpoint_param[PARAMS_MAX]{},
        vm_param[PARAMS_MAX]{};

    bound_policy() = default;
    bound_policy(const bound_policy &) = delete;
    bound_policy &operator=(const bound_policy &) = delete;

    static void bind(const struct policy *policy, std::vector<named_value> options,
                     double *value)
    {
        error err{};
        REQUIRE(policy_bind(policy, options.data(), options.size(), value, &err) == OK);
    }
    bound_policy &round(const char *name, std::vector<named_value> options = {})
    {
        policy.label = name;
        for (const struct policy *p : {policy_find(replication_policies, name),
                                       policy_find(fault_tolerance_policies, name),
                                       policy_find(dispatch_policies, name),
                                       policy_find(placement_round_policies, name)})
            if (p)
                policy.round = p;
        REQUIRE(policy.round != nullptr);
        policy.round_param = round_param;
        bind(policy.round, options, round_param);
        return *this;
    }
    bound_policy &checkpoint(const char *name, std::vector<named_value> options = {})
    {
        policy.checkpoint = policy_find(checkpoint_policies, name);
        REQUIRE(policy.checkpoint != nullptr);
        policy.checkpoint_param = checkpoint_param;
        bind(policy.checkpoint, options, checkpoint_param);
        return *this;
    }
    bound_policy &vm(const char *name, std::vector<named_value> options = {})
    {
        policy.label = name;
        policy.vm = policy_find(vm_policies, name);
        REQUIRE(policy.vm != nullptr);
        policy.vm_param = vm_param;
        bind(policy.vm, options, vm_param);
        return *this;
    }
};

inline named_value option(const char *name, double value)
{
    named_value v{};
    v.name = name;
    v.type = VALUE_NUMBER;
    v.number = value;
    return v;
}

inline named_value option(const char *name, const char *value)
{
    named_value v{};
    v.name = name;
    v.type = VALUE_TEXT;
    v.text = value;
    return v;
}

inline sim_job given_job(double arrival_s, double length_mi)
{
    sim_job job{};
    job.arrival_s = arrival_s;
    job.length_mi = length_mi;
    job.checkpoint_overhead_s = 0;
    job.resource = SIM_NOT_PINNED;
    job.cpus = 1;
    job.mips_required = job.session_s = job.requested_s = UNSAID;
    return job;
}

inline sim_group one_group(const char *id, double mips, size_t n_max, size_t count = 1)
{
    sim_group g{};
    g.id = id;
    g.count = count;
    g.first_number = count > 1 ? 1 : 0;
    g.mips_total = distribution_constant(mips);
    g.n_max = n_max;
    g.failure_group = SIM_NO_FAILURE_GROUP;
    return g;
}

// A scenario with its parts; prepare() before it is used.
struct test_grid {
    test_arena a{size_t{1} << 32};
    sim_scenario s = sim_scenario_preset();
    std::vector<const char *> sites{"s1"};
    std::vector<sim_group> groups;
    std::vector<sim_job> jobs;
    std::deque<distribution> distributions;
    std::deque<sim_trace> traces;
    std::deque<std::vector<failure_interval>> outages;
    std::deque<std::vector<sim_load_point>> loads;
    workload w = workload_blank(WORKLOAD_BATCH);

    const distribution *keep(distribution d)
    {
        distributions.push_back(d);
        return &distributions.back();
    }
    sim_group &add(const char *id, double mips, size_t n_max, size_t count = 1)
    {
        groups.push_back(one_group(id, mips, n_max, count));
        return groups.back();
    }
    const sim_trace *trace(std::vector<failure_interval> down,
                           std::vector<sim_load_point> load = {})
    {
        outages.push_back(down);
        loads.push_back(load);
        sim_trace t{};
        t.outages = outages.back().data();
        t.outage_count = outages.back().size();
        t.load = loads.back().data();
        t.load_count = loads.back().size();
        traces.push_back(t);
        return &traces.back();
    }
    sim_job &job(double arrival_s, double length_mi)
    {
        jobs.push_back(given_job(arrival_s, length_mi));
        return jobs.back();
    }
    test_grid &prepare()
    {
        error err = collecting_error(a);
        s.sites = sites.data();
        s.site_count = sites.size();
        s.groups = groups.data();
        s.group_count = groups.size();
        if (w.generator == WORKLOAD_BATCH) {
            w.jobs = jobs.data();
            w.given_count = jobs.size();
        }
        enum error_code code = workload_prepare(&w, "/workload", a, &err);
        INFO(err.field << " " << err.text);
        REQUIRE(code == OK);
        s.workload = &w;
        code = sim_scenario_prepare(&s, "", a, &err);
        INFO(err.field << " " << err.text);
        REQUIRE(code == OK);
        return *this;
    }
};

inline sim_run_out run_scenario(const sim_scenario &s, const bound_policy &p,
                                uint64_t seed, arena *a, sim_output wanted = {})
{
    error err = collecting_error(a);
    sim_run_out out{};
    enum error_code code =
        sim_run(&s, &p.policy, seed, nullptr, &wanted, nullptr, &out, a, &err);
    INFO(err.field << " " << err.text);
    REQUIRE(code == OK);
    return out;
}

inline const sim_output everything{true, true, 1000000, 1000000};

// The row of the job of this arrival, from 0; rows count from 1.
inline const sim_job_row &row_of(const sim_run_out &out, uint64_t number)
{
    for (size_t i = 0; i < out.job_count; i++)
        if (out.jobs[i].number == number + 1)
            return out.jobs[i];
    FAIL("no row of job " << number);
    return out.jobs[0];
}

inline const sim_resource_row &resource_of(const sim_run_out &out, const char *id)
{
    for (size_t i = 0; i < out.resource_count; i++)
        if (strcmp(out.resources[i].resource_id, id) == 0)
            return out.resources[i];
    FAIL("no resource " << id);
    return out.resources[0];
}
