// cluster_support.hpp - small clusters for tests of the queue: nodes of cpus alone, jobs
// that say how many nodes, cpus and seconds they need.
#pragma once
#include "tests/support.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>

extern "C" {
#include "algorithms/cluster_queue/decide.h"
}

inline cluster_limits no_limits()
{
    const double endless = HUGE_VAL;
    const cluster_amount_limits none = {nullptr, endless, endless, endless, endless};
    return {endless, endless, endless, endless, none, none, none, none};
}

// Builds a cluster; what it hands out lives as long as it does.
struct small_cluster {
    std::deque<std::vector<int64_t>> amounts;
    std::deque<std::vector<uint32_t>> lists;
    std::deque<std::vector<uint64_t>> sets;
    std::deque<std::vector<cluster_take>> takes;
    std::deque<std::string> names;
    std::vector<cluster_node> nodes;
    std::vector<cluster_partition> partitions;
    std::vector<cluster_job> jobs;
    std::vector<cluster_row> rows;
    std::vector<cluster_running> running;
    std::vector<cluster_reservation> reservations;
    std::vector<cluster_array> arrays;
    std::vector<cluster_qos> qos;
    std::vector<cluster_account> accounts;
    std::vector<int64_t> shared;
    cluster_settings settings{};
    double now_s = 0;
    size_t users = 0, job_names = 0;
    cluster c{};

    explicit small_cluster(size_t count, double cpus, double now) : now_s(now)
    {
        settings.bf_window_s = 86400;
        settings.bf_resolution_s = 60;
        settings.bf_max_job_test = 500;
        settings.bf_max_job_user = settings.bf_max_job_user_part =
            settings.bf_max_job_part = settings.bf_max_job_assoc =
                settings.bf_max_job_start = settings.sched_max_job_start = HUGE_VAL;
        settings.bf_max_job_array_resv = 20;
        settings.memory_counts = true;
        for (size_t i = 0; i < count; i++)
            add_node(cpus, 0);
        add_partition("p", 0, count);
    }
    const char *name(const std::string &text)
    {
        return names.emplace_back(text).c_str();
    }
    const int64_t *units(double cpus, double memory)
    {
        return amounts
            .emplace_back(std::vector<int64_t>{int64_t(cpus * 1e6), int64_t(memory)})
            .data();
    }
    const uint64_t *set(size_t from, size_t to)
    {
        auto &s = sets.emplace_back(std::vector<uint64_t>(4));
        for (size_t i = from; i < to; i++)
            cluster_set_add(s.data(), i);
        return s.data();
    }
    void add_node(double cpus, double memory)
    {
        cluster_node n{};
        n.id = name("n" + std::to_string(nodes.size() + 1));
        n.weight = 1;
        n.capacity = units(cpus, memory);
        n.core_units = 1000000;
        n.starts = true;
        nodes.push_back(n);
    }
    size_t add_partition(const char *id, size_t from, size_t to, double tier = 1)
    {
        cluster_partition p{};
        p.id = id;
        p.nodes = set(from, to);
        p.starts = true;
        p.tier = tier;
        p.limit_max_s = p.nodes_max = HUGE_VAL;
        p.cpus_per_node_max = CLUSTER_ENDLESS;
        p.qos_id = CLUSTER_NONE;
        p.limits = no_limits();
        partitions.push_back(p);
        return partitions.size() - 1;
    }
    cluster_running &runs(const char *id, const std::vector<uint32_t> &on, double cpus,
                          double end_s)
    {
        auto &list = lists.emplace_back(on);
        auto &taken = amounts.emplace_back();
        for (size_t i = 0; i < on.size(); i++)
            taken.insert(taken.end(), {int64_t(cpus * 1e6), 0});
        cluster_running r{};
        r.id = id;
        r.of = {-1, -1, -1, 0, -1, -1};
        r.nodes = list.data();
        r.node_count = on.size();
        r.taken = taken.data();
        r.start_s = now_s;
        r.end_s = end_s;
        running.push_back(r);
        return running.back();
    }
    // In the order of the queue: later ones have less priority.
    cluster_job &waits(const char *id, size_t count, double cpus, double limit_s,
                       size_t partition = 0)
    {
        cluster_job j{};
        j.id = id;
        j.number = j.task = j.limit_min_s = NAN;
        j.of = {-1, -1, -1, -1, -1, -1};
        j.nodes = j.nodes_max = count;
        j.reservation = CLUSTER_NONE;
        j.deadline_s = HUGE_VAL;
        jobs.push_back(j);
        rows.push_back({jobs.size() - 1, partition, units(cpus, 0), limit_s,
                        1e6 - double(rows.size()), nullptr});
        return jobs.back();
    }
    void takes_shared(cluster_job &j, size_t what, int64_t count)
    {
        auto &t = takes.emplace_back(std::vector<cluster_take>{{what, count}});
        j.shared = t.data();
        j.shared_count = 1;
    }
    void reserve(size_t from, size_t to, double start_s, double end_s)
    {
        cluster_reservation r{};
        r.id = "maint";
        r.start_s = start_s;
        r.end_s = end_s;
        r.nodes = set(from, to);
        reservations.push_back(r);
    }
    const cluster &get()
    {
        c = cluster{};
        c.now_s = now_s;
        c.amount_count = 2;
        c.nodes = nodes.data();
        c.node_count = nodes.size();
        c.shared = shared.data();
        c.shared_count = shared.size();
        c.partitions = partitions.data();
        c.partition_count = partitions.size();
        c.qos = qos.data();
        c.qos_count = qos.size();
        c.accounts = accounts.data();
        c.account_count = accounts.size();
        c.reservations = reservations.data();
        c.reservation_count = reservations.size();
        c.arrays = arrays.data();
        c.array_count = arrays.size();
        c.user_count = users;
        c.name_count = job_names;
        c.jobs = jobs.data();
        c.job_count = jobs.size();
        c.rows = rows.data();
        c.row_count = rows.size();
        c.running = running.data();
        c.running_count = running.size();
        c.settings = settings;
        return c;
    }
    // "A starts n2", "D 1001830 n2 [..1009020)", "y processors"; by job.
    std::map<std::string, std::string> decide()
    {
        test_arena a;
        cluster_decision out{};
        std::map<std::string, std::string> told;
        cluster_decide(&get(), &out, a);
        for (size_t i = 0; i < rows.size(); i++)
            told[jobs[rows[i].job].id] = tell(out.verdicts[i]);
        return told;
    }
    std::string tell(const cluster_verdict &v) const
    {
        std::string text;
        if (v.outcome == CLUSTER_NEVER)
            return std::string("never ") + cluster_reason_names[v.reason];
        if (v.outcome == CLUSTER_STARTS)
            text = "starts";
        else if (std::isnan(v.start_s))
            return cluster_reason_names[v.reason];
        else
            text = std::to_string((long long)v.start_s) + "-" +
                   std::to_string((long long)v.until_s);
        for (size_t i = 0; i < v.pick.count; i++)
            text += std::string(" ") + nodes[v.pick.nodes[i]].id;
        return text;
    }
};
