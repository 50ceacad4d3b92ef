// parallel_support.hpp - clusters, models and runs for the tests of parallel/.
#pragma once
#include "tests/support.hpp"

#include <string>
#include <vector>

extern "C" {
#include "algorithms/parallel/evaluate.h"
#include "algorithms/parallel/parallel.h"
#include "models/performance/functions.h"
}

namespace
{

// A model of a few terms.
struct model_of {
    std::vector<perf_term> terms;
    perf_terms view{};

    model_of(std::vector<perf_term> list) : terms(std::move(list))
    {
        view = {terms.data(), terms.size(), NAN};
    }
    model_of(const model_of &) = delete;
    model_of &operator=(const model_of &) = delete;
};

// COMP / (c P) + COMM / (b P): the model of the fixtures.
inline model_of fixture_model(double comp, double comm)
{
    return model_of({{comp, 2, comm, 2, 2}});
}

// Machines with their links; everything a call needs.
struct cluster {
    std::vector<double> cpu, links, uplinks;
    parallel_machines machines{};
    parallel_in in{};

    explicit cluster(size_t n) : cpu(n, 1.0), links(n * n, 0.0)
    {
        machines.link_capacity_mbps = 100;
        in.min_procs = 1;
        in.seed = 1;
    }
    // "01:70 02:65 ..." as the spec writes them.
    cluster(std::vector<double> c, const std::string &text) : cluster(c.size())
    {
        cpu = std::move(c);
        for (size_t at = 0; at + 4 < text.size() + 1; at = text.find(' ', at) + 1) {
            link(static_cast<size_t>(text[at] - '0'),
                 static_cast<size_t>(text[at + 1] - '0'), std::stod(text.substr(at + 3)));
            if (text.find(' ', at) == std::string::npos)
                break;
        }
    }
    cluster(const cluster &) = delete;
    cluster &operator=(const cluster &) = delete;

    void link(size_t i, size_t k, double mbps)
    {
        links[i * cpu.size() + k] = links[k * cpu.size() + i] = mbps;
    }
    double link(size_t i, size_t k) const
    {
        return links[i * cpu.size() + k];
    }
    const parallel_in &input(const model_of &model)
    {
        machines.count = cpu.size();
        machines.cpu_available_ratio = cpu.data();
        machines.bandwidth_mbps = links.data();
        machines.uplink_mbps = uplinks.empty() ? nullptr : uplinks.data();
        in.machines = &machines;
        in.model = &model.view;
        return in;
    }
};

// Share of light and medium machines; the rest is heavy. Reference generator of 9.2.
inline void generate(cluster &x, uint64_t seed, double light, double medium,
                     double capacity_mbps)
{
    size_t n = x.cpu.size();
    uint64_t state = seed;
    std::vector<size_t> order(n);
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n - 1; i > 0; i--)
        std::swap(order[i], order[random_index(&state, i + 1)]);
    auto first = static_cast<size_t>(std::lround(light * static_cast<double>(n)));
    auto second = static_cast<size_t>(std::lround(medium * static_cast<double>(n)));
    for (size_t i = 0; i < n; i++) {
        double low = i < first ? 0.701 : i < first + second ? 0.351 : 0.05;
        double high = i < first ? 1.0 : i < first + second ? 0.7 : 0.35;
        x.cpu[order[i]] = low + (high - low) * random_unit(&state);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            x.link(i, k, capacity_mbps * (0.2 + 0.6 * random_unit(&state)));
    x.machines.link_capacity_mbps = capacity_mbps;
}

struct answer {
    parallel_out out{};
    std::vector<size_t> members;
    error_code code = OK;
    error err{};
};

// Runs a policy with its presets, and `options` in their place.
inline answer run(const char *name, const parallel_in &in,
                  const std::vector<named_value> &options = {},
                  size_t cap_bytes = size_t{1} << 28)
{
    test_arena a(cap_bytes);
    answer x;
    double values[PARAMS_MAX] = {};
    const struct policy *policy = policy_find(parallel_policies, name);
    REQUIRE(policy);
    error bind = collecting_error(a);
    REQUIRE(policy_bind(policy, options.data(), options.size(), values, &bind) == OK);
    x.code = computed(a, &x.err, [&] {
        return parallel_decide(&in, policy, values + PARALLEL_COMMON_COUNT, &x.out, a,
                               &x.err);
    });
    if (x.code == OK && x.out.count)
        x.members.assign(x.out.members, x.out.members + x.out.count);
    x.out.members = nullptr; // goes with the arena
    return x;
}

// T of a set from its definition, infinite without a link.
inline double plain_time_s(const cluster &x, const model_of &model,
                           const std::vector<size_t> &set)
{
    double cpu = HUGE_VAL, link = HUGE_VAL;
    for (size_t i : set) {
        cpu = std::min(cpu, x.cpu[i]);
        for (size_t k : set)
            if (k < i)
                link = std::min(link, x.link(i, k));
    }
    if (link <= 0)
        return HUGE_VAL;
    return perf_time_s(&model.view, static_cast<double>(set.size()), cpu, link);
}

} // namespace
