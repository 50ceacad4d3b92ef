// coallocation_support.hpp - the clusters A to E of spec coallocation.md 5, and jobs on
// them, for the tests of claims and queues.
#pragma once
#include "tests/support.hpp"

#include <map>

extern "C" {
#include "algorithms/coallocation/coallocation.h"
}

namespace coallocation_support
{

// Network NET, a file f of 4 GByte, and so many idle processors at A, B ...
struct clusters {
    test_arena a;
    co_grid grid{};
    std::vector<std::string> names;
    std::vector<co_site> sites;
    std::vector<co_link> links;
    std::vector<co_replica> replicas;

    explicit clusters(const std::vector<double> &idle,
                      const std::vector<const char *> &copies = {"D"},
                      const std::vector<double> &outstanding = {}, double total = 1000,
                      const std::vector<co_named_pair> *history = nullptr)
    {
        const double mbps[5][5] = {{0, 400, 200, 100, 50},
                                   {400, 0, 800, 400, 100},
                                   {200, 800, 0, 200, 400},
                                   {100, 400, 200, 0, 800},
                                   {50, 100, 400, 800, 0}};

        for (size_t i = 0; i < idle.size(); i++)
            names.push_back(std::string(1, static_cast<char>('A' + i)));
        for (size_t i = 0; i < idle.size(); i++) {
            co_site s{};
            s.id = names[i].c_str();
            s.processors_total = total;
            s.processors_busy = s.processors_erroneous = s.measured_at_s = NAN;
            s.processors_idle = idle[i];
            s.processors_outstanding = i < outstanding.size() ? outstanding[i] : 0;
            s.usable = true;
            sites.push_back(s);
            for (size_t k = 0; k < i && i < 5; k++)
                links.push_back(
                    {names[k].c_str(), names[i].c_str(), mbps[k][i], 0, true});
        }
        for (const char *copy : copies)
            replicas.push_back({"f", copy, nullptr, 4e9});
        co_snapshot snapshot{};
        snapshot.taken_at_s = snapshot.default_bandwidth_mbps = NAN;
        snapshot.sites = sites.data();
        snapshot.site_count = sites.size();
        snapshot.links = links.data();
        snapshot.link_count = links.size();
        snapshot.replicas = replicas.data();
        snapshot.replica_count = replicas.size();
        if (history) {
            static const co_named_pair none{};
            snapshot.history_pairs = history->empty() ? &none : history->data();
            snapshot.history_pair_count = history->size();
        }
        error err = collecting_error(a);
        REQUIRE(co_grid_create(&snapshot, "/snapshot", &grid, a, &err) == OK);
        INFO(err.text);
        REQUIRE(err.code == OK);
    }
    size_t site(const char *name) const
    {
        return co_site_find(&grid, name);
    }
    size_t file() const
    {
        return co_file_find(&grid, "f");
    }
};

// A job with its policy bound to the presets.
struct job_on {
    std::vector<co_component> parts;
    std::vector<std::string> ids;
    std::vector<double> param = std::vector<double>(PARAMS_MAX);
    co_job job{};

    job_on(const char *id, const char *policy, co_level level,
           const std::vector<size_t> &sizes, size_t file, double bytes = 4e9)
    {
        job.id = id;
        job.policy = policy_find(coallocation_policies, policy);
        REQUIRE(job.policy);
        error err{};
        REQUIRE(policy_bind(job.policy, nullptr, 0, param.data(), &err) == OK);
        job.level = level;
        job.atomic = true;
        job.min_placed = 1;
        job.avoid_soft = true;
        job.file = CO_NONE;
        for (size_t i = 0; i < sizes.size(); i++)
            ids.push_back("c" + std::to_string(i));
        for (size_t i = 0; i < sizes.size(); i++)
            parts.push_back(
                {ids[i].c_str(), sizes[i], CO_NONE, file, file == CO_NONE ? 0 : bytes});
    }
    const co_job *bound()
    {
        job.param = param.data();
        job.components = parts.data();
        job.component_count = parts.size();
        return &job;
    }
};

} // namespace coallocation_support
