// coallocation_place_support.hpp - multiclusters by names, and jobs to place on them.
#pragma once
#include "tests/support.hpp"

extern "C" {
#include "algorithms/coallocation/coallocation.h"
#include "algorithms/coallocation/timeline.h"
}

#include <deque>

namespace coallocation_place
{

// A grid by names, which keeps what the C structs point to.
struct multicluster {
    std::deque<std::string> texts;
    std::vector<co_site> sites;
    std::vector<co_link> links;
    std::vector<co_file> files;
    std::vector<co_replica> replicas;
    std::vector<co_named_pair> pairs;
    bool has_pairs = false;
    double default_bandwidth_mbps = NAN;
    test_arena arena;
    co_grid grid{};
    co_history history{};
    std::vector<size_t> available;

    const char *keep(const std::string &text)
    {
        texts.push_back(text);
        return texts.back().c_str();
    }
    multicluster &site(const std::string &id, double total)
    {
        co_site s{};
        s.id = keep(id);
        s.processors_total = total;
        s.processors_idle = s.processors_busy = s.processors_erroneous = NAN;
        s.usable = true;
        s.measured_at_s = NAN;
        sites.push_back(s);
        return *this;
    }
    multicluster &link(const std::string &from, const std::string &to, double mbps,
                       bool symmetric = true, double latency_s = 0)
    {
        links.push_back({keep(from), keep(to), mbps, latency_s, symmetric});
        return *this;
    }
    multicluster &replica(const std::string &file, const std::string &site, double bytes)
    {
        replicas.push_back({keep(file), keep(site), nullptr, bytes});
        return *this;
    }
    multicluster &pair(const std::string &execution, const std::string &file)
    {
        has_pairs = true;
        pairs.push_back({keep(execution), keep(file)});
        return *this;
    }
    co_snapshot snapshot() const
    {
        static const co_named_pair none{};
        co_snapshot s{};
        s.taken_at_s = NAN;
        s.sites = sites.data();
        s.site_count = sites.size();
        s.links = links.data();
        s.link_count = links.size();
        s.default_bandwidth_mbps = default_bandwidth_mbps;
        s.files = files.data();
        s.file_count = files.size();
        s.replicas = replicas.data();
        s.replica_count = replicas.size();
        s.history_pairs = !has_pairs ? nullptr : pairs.empty() ? &none : pairs.data();
        s.history_pair_count = pairs.size();
        return s;
    }
    multicluster &build()
    {
        error err = collecting_error(arena);
        co_snapshot s = snapshot();

        REQUIRE(co_grid_create(&s, "/snapshot", &grid, arena, &err) == OK);
        REQUIRE(co_history_create(&grid, &history, arena) == OK);
        available.resize(grid.site_count);
        co_available_all(&grid, available.data());
        return *this;
    }
    size_t at(const std::string &id) const
    {
        return co_site_find(&grid, id.c_str());
    }
    std::string name(size_t site) const
    {
        return site == CO_NONE ? "-" : grid.sites[site].id;
    }
};

// A job that keeps its components and options.
struct parallel_job {
    co_job job{};
    std::deque<std::string> names;
    std::vector<co_component> components;
    double param[PARAMS_MAX];

    explicit parallel_job(const char *policy)
    {
        error err{};

        job.id = "j";
        job.policy = policy_find(coallocation_policies, policy);
        REQUIRE(job.policy);
        REQUIRE(policy_bind(job.policy, nullptr, 0, param, &err) == OK);
        job.param = param;
        job.level = CO_LOW;
        job.atomic = true;
        job.min_placed = 1;
        job.file = CO_NONE;
    }
    parallel_job(const parallel_job &) = delete;
    parallel_job &component(const multicluster &m, size_t processors,
                            const std::string &file = "f",
                            const std::string &fixed_site = "")
    {
        co_component c{};

        names.push_back("c" + std::to_string(components.size()));
        c.id = names.back().c_str();
        c.processors = processors;
        c.fixed_site = fixed_site.empty() ? CO_NONE : m.at(fixed_site);
        c.file = file.empty() ? CO_NONE : co_file_find(&m.grid, file.c_str());
        c.bytes = c.file == CO_NONE ? 0 : m.grid.files[c.file].bytes;
        components.push_back(c);
        job.components = components.data();
        job.component_count = components.size();
        return *this;
    }
    parallel_job &flexible(const multicluster &m, size_t total,
                           const std::string &file = "")
    {
        job.type = CO_FLEXIBLE;
        job.total_processors = total;
        job.file = file.empty() ? CO_NONE : co_file_find(&m.grid, file.c_str());
        return *this;
    }
};

inline co_placement place(multicluster &m, const parallel_job &j)
{
    error err = collecting_error(m.arena);
    co_placement out{};
    co_place_in in{&m.grid, &j.job, m.available.data(), &m.history, nullptr};

    REQUIRE(co_place(&in, &out, m.arena, &err) == OK);
    return out;
}

// "D<-D 0, A<-A 0" in the order of the components; "-" is not placed.
inline std::string choices(const multicluster &m, const co_placement &p)
{
    std::string text;

    for (size_t i = 0; i < p.component_count; i++) {
        char time[32];

        snprintf(time, sizeof(time), "%.10g", p.choices[i].transfer_s);
        text += (i ? ", " : "") + m.name(p.choices[i].site);
        if (p.choices[i].site != CO_NONE)
            text += "<-" + m.name(p.choices[i].file_site) + " " + time;
    }
    return text;
}

// "E40 C10": sizes by site of a split.
inline std::string shares(const multicluster &m, const co_placement &p)
{
    std::string text, last;

    for (size_t i = 0; i < p.component_count; i++) {
        std::string site = m.name(p.choices[i].site);

        text += site == last ? "," : (text.empty() ? "" : " ") + site;
        text += std::to_string(p.components[i].processors);
        last = site;
    }
    return p.placed ? text : "fail";
}

inline std::string pairs_of(const multicluster &m, const co_placement &p)
{
    std::string text;

    for (size_t i = 0; i < p.added_count; i++)
        text += "(" + m.name(p.added[i].execution_site) + "," +
                m.name(p.added[i].file_site) + ")";
    return text;
}

// The network of the examples of coallocation.md (NET).
inline void net(multicluster &m)
{
    m.link("A", "B", 400).link("A", "C", 200).link("A", "D", 100).link("A", "E", 50);
    m.link("B", "C", 800).link("B", "D", 400).link("B", "E", 100);
    m.link("C", "D", 200).link("C", "E", 400).link("D", "E", 800);
}

// The grid of example 6a, without a history table.
inline void example_6a(multicluster &m)
{
    m.site("A", 10).site("B", 20).site("C", 30).site("D", 16).site("E", 40);
    net(m);
    m.replica("f", "A", 4e9).replica("f", "D", 4e9);
}

} // namespace coallocation_place
