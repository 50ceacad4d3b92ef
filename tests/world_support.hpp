// world_support.hpp - worlds for tests, from the members of a request.
#ifndef GRIDPLAN_WORLD_SUPPORT_HPP
#define GRIDPLAN_WORLD_SUPPORT_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

extern "C" {
#include "algorithms/world/world.h"
}

using named_amounts = std::map<std::string, double>;

struct given_resource {
    std::string id;
    double cpus = NAN, memory = NAN, disk = NAN, n_max = NAN; // NAN: not limited
    named_amounts capacities = {};
    double speed = 1;
    size_t site = 0;
    double price_per_s = 0, price_per_cpu_s = 0, power_node_w = 0, power_per_cpu_w = 0;
    size_t rack = 0; // of groups by attribute; WORLD_NONE: it has none
};

struct given_job {
    std::string id;
    double estimate_ref_s = NAN, estimate_s = NAN;
    double cpus = 1, memory = 0, disk = 0;
    named_amounts needs = {};
    size_t nodes = 1;
    bool exclusive = false;
    std::vector<double> etc_s = {};
    double time_limit_s = HUGE_VAL;
    double release_s = 0, deadline_s = HUGE_VAL;
    double weight = 1, priority = 0, tier = 0;
    size_t group = WORLD_NONE;
    std::vector<world_after> after = {};
    std::vector<size_t> only = {};  // positions it may use; none: all
    std::vector<size_t> parts = {}; // partitions it may use; none: no partition
    size_t user = 0;                // 0: none
};

// What one user may have at once.
struct given_partition {
    std::vector<size_t> positions;
    double jobs_max = NAN, cpus_max = NAN;
};

struct given_holder {
    std::string id;
    std::vector<size_t> positions;
    double end_s; // HUGE_VAL: for ever
    double cpus = 0, memory = 0, disk = 0;
    named_amounts needs = {};
    double start_s = 0;
    bool reservation = false, all = false, end_unknown = false, exclusive = false;
    bool preemptible = false;
    double weight = 1, priority = 0;
    size_t group = WORLD_NONE;
    size_t user = 0, partition = 0; // 0: none
};

struct given_group {
    std::string id;
    world_group_policy policy;
    world_group_key key = GROUP_BY_RESOURCE;
    size_t max_per_key = 1;
};

// Fill the lists, then build(); positions are indexes, all filters pass.
struct given_world {
    std::vector<given_resource> resources;
    std::vector<given_job> jobs;
    std::vector<given_holder> holders = {};
    std::vector<given_group> groups = {};
    named_amounts shared = {};
    std::vector<given_partition> partitions = {};
    bool plan_with_limit = false;
    struct budget *budget = nullptr;

    const world *build();

  private:
    world w{};
    std::deque<std::vector<int64_t>> amounts;
    std::deque<std::vector<size_t>> indexes;
    std::deque<std::vector<uint64_t>> masks;
    std::deque<world_choice> choices;
    std::vector<world_resource> made_resources;
    std::vector<world_job> made_jobs;
    std::vector<world_holder> made_holders;
    std::vector<world_group> made_groups;
    world_values racks{};
    std::vector<world_limit> limits;
    std::deque<std::vector<world_limit_hold>> holds;
    std::deque<std::vector<world_choice>> several;
    std::map<std::pair<size_t, size_t>, std::vector<size_t>> limits_of; // user, partition
    std::vector<std::string> names; // of amounts from AMOUNT_NAMED on

    void name_amounts();
    size_t row_of(const std::string &name) const;
    const int64_t *keep(const std::vector<int64_t> &of)
    {
        return amounts.emplace_back(of).data();
    }
    const size_t *keep(const std::vector<size_t> &of)
    {
        return indexes.emplace_back(of).data();
    }
    std::vector<int64_t> taken(double cpus, double memory, double disk,
                               const named_amounts &needs, int64_t jobs_count,
                               int64_t presence) const;
    void make_resources();
    void make_holders();
    void make_jobs();
    void make_groups();
    void make_racks();
    void make_limits();
    void add_limit(size_t user, size_t part, world_limit_kind kind, double most);
    bool choose(const given_job &j, size_t part, world_choice *choice);
    bool takes(const given_job &j, size_t position) const;
};

inline void given_world::name_amounts()
{
    const char *fixed[] = {"cpus", "memory_bytes", "disk_bytes", "n_max", "exclusive"};
    names.clear();
    auto add = [&](const named_amounts &more) {
        for (auto &n : more)
            if (!shared.count(n.first) &&
                std::find(names.begin(), names.end(), n.first) == names.end())
                names.push_back(n.first);
    };
    for (auto &r : resources)
        add(r.capacities);
    for (auto &j : jobs)
        add(j.needs);
    for (auto &h : holders)
        add(h.needs);
    w.node_amount_count = AMOUNT_NAMED + names.size();
    for (auto &s : shared)
        names.push_back(s.first);
    w.amount_count = AMOUNT_NAMED + names.size();
    for (size_t k = 0; k < w.amount_count; k++) {
        bool whole = k == AMOUNT_MEMORY || k == AMOUNT_DISK || k == AMOUNT_JOBS ||
                     k == AMOUNT_PRESENCE;
        w.amounts[k] = {k < AMOUNT_NAMED ? fixed[k] : names[k - AMOUNT_NAMED].c_str(),
                        whole ? 1.0 : AMOUNT_UNITS_PER_ONE};
    }
}

inline size_t given_world::row_of(const std::string &name) const
{
    return AMOUNT_NAMED +
           (size_t)(std::find(names.begin(), names.end(), name) - names.begin());
}

inline std::vector<int64_t> given_world::taken(double cpus, double memory, double disk,
                                               const named_amounts &needs,
                                               int64_t jobs_count, int64_t presence) const
{
    std::vector<int64_t> of(w.amount_count, 0);
    of[AMOUNT_CPUS] = amount_units(cpus, AMOUNT_UNITS_PER_ONE);
    of[AMOUNT_MEMORY] = amount_units(memory, 1);
    of[AMOUNT_DISK] = amount_units(disk, 1);
    of[AMOUNT_JOBS] = jobs_count;
    of[AMOUNT_PRESENCE] = presence;
    for (auto &n : needs)
        of[row_of(n.first)] = amount_units(n.second, AMOUNT_UNITS_PER_ONE);
    return of;
}

inline void given_world::make_resources()
{
    for (size_t i = 0; i < resources.size(); i++) {
        const given_resource &r = resources[i];
        std::vector<int64_t> capacity(w.node_amount_count, 0);
        bool states = !std::isnan(r.cpus) || !r.capacities.empty();
        capacity[AMOUNT_CPUS] = amount_units(r.cpus, AMOUNT_UNITS_PER_ONE);
        capacity[AMOUNT_MEMORY] = amount_units(r.memory, 1);
        capacity[AMOUNT_DISK] = amount_units(r.disk, 1);
        capacity[AMOUNT_JOBS] =
            std::isnan(r.n_max) ? (states ? AMOUNT_UNLIMITED : 1) : (int64_t)r.n_max;
        capacity[AMOUNT_PRESENCE] = AMOUNT_PRESENCE_ALL;
        for (auto &n : r.capacities)
            capacity[row_of(n.first)] = amount_units(n.second, AMOUNT_UNITS_PER_ONE);
        std::vector<size_t> on;
        for (size_t h = 0; h < holders.size(); h++)
            for (size_t p : holders[h].positions)
                if (p == i)
                    on.push_back(h);
        world_resource made{};
        made.id = r.id.c_str();
        made.index = i;
        made.speed = r.speed;
        made.site = r.site;
        made.capacity = keep(capacity);
        made.holder_count = on.size();
        made.holders = keep(on);
        made.price_per_s = r.price_per_s;
        made.price_per_cpu_s = r.price_per_cpu_s;
        made.power_node_w = r.power_node_w;
        made.power_per_cpu_w = r.power_per_cpu_w;
        made_resources.push_back(made);
        w.site_count = std::max(w.site_count, r.site + 1);
    }
}

inline void given_world::make_holders()
{
    for (auto &h : holders) {
        world_holder made{};
        made.kind = h.reservation ? HOLDER_RESERVATION : HOLDER_RUNNING;
        made.id = h.id.c_str();
        made.start_s = h.start_s;
        made.end_s = h.end_s;
        made.end_unknown = h.end_unknown;
        made.all = h.all;
        made.amounts = keep(taken(h.cpus, h.memory, h.disk, h.needs, !h.reservation,
                                  h.exclusive ? AMOUNT_PRESENCE_ALL : 1));
        made.position_count = h.positions.size();
        made.positions = keep(h.positions);
        made.weight = h.weight;
        made.priority = h.priority;
        made.preemptible = h.preemptible;
        made.group = h.group;
        made_holders.push_back(made);
    }
}

// No attribute, no member of a group by attribute, but for gangs.
inline bool given_world::takes(const given_job &j, size_t position) const
{
    bool named = j.only.empty() ||
                 std::find(j.only.begin(), j.only.end(), position) != j.only.end();

    return named && (j.group == WORLD_NONE || groups[j.group].key != GROUP_BY_ATTRIBUTE ||
                     groups[j.group].policy == GROUP_GANG ||
                     resources[position].rack != WORLD_NONE);
}

inline void given_world::make_racks()
{
    std::vector<size_t> of, first, at;
    for (auto &r : resources) {
        of.push_back(r.rack);
        if (r.rack != WORLD_NONE)
            racks.count = std::max(racks.count, r.rack + 1);
    }
    for (size_t v = 0; v <= racks.count; v++) {
        first.push_back(at.size());
        for (size_t p = 0; p < of.size(); p++)
            if (of[p] == v)
                at.push_back(p);
    }
    racks.name = "rack";
    racks.of = keep(of);
    racks.positions = keep(at);
    racks.first = keep(first);
    racks.number = 1;
}

inline void given_world::add_limit(size_t user, size_t part, world_limit_kind kind,
                                   double most)
{
    auto &held = holds.emplace_back();
    if (std::isnan(most))
        return;
    for (auto &h : holders)
        if (!h.reservation && h.user == user && h.partition == part + 1)
            held.push_back({h.end_s, kind == LIMIT_JOBS
                                         ? 1
                                         : amount_units(h.cpus, AMOUNT_UNITS_PER_ONE) *
                                               (int64_t)h.positions.size()});
    held.erase(
        std::remove_if(held.begin(), held.end(), [](auto &x) { return x.units == 0; }),
        held.end());
    world_limit l{};
    l.kind = kind;
    l.user = "u";
    l.partition_id = "p";
    l.capacity =
        kind == LIMIT_JOBS ? (int64_t)most : amount_units(most, AMOUNT_UNITS_PER_ONE);
    l.held = held.data();
    l.held_count = held.size();
    limits_of[{user, part}].push_back(limits.size());
    limits.push_back(l);
}

inline void given_world::make_limits()
{
    for (auto &j : jobs)
        for (size_t part : j.parts)
            if (j.user && !limits_of.count({j.user, part})) {
                limits_of[{j.user, part}] = {};
                add_limit(j.user, part, LIMIT_JOBS, partitions[part].jobs_max);
                add_limit(j.user, part, LIMIT_CPUS, partitions[part].cpus_max);
            }
    w.limits = limits.data();
    w.limit_count = limits.size();
}

// A job that alone is too large for its user is let in nowhere.
inline bool given_world::choose(const given_job &j, size_t part, world_choice *choice)
{
    std::vector<uint64_t> mask(resources.size() / 64 + 1, 0);
    const given_partition &p = partitions[part];

    if (j.user && (p.jobs_max < 1 || j.cpus * (double)j.nodes > p.cpus_max))
        return false;
    for (size_t i : p.positions)
        if (takes(j, i)) {
            mask[i / 64] |= uint64_t{1} << (i % 64);
            choice->count++;
        }
    choice->mask = masks.emplace_back(mask).data();
    choice->partition_id = "p";
    if (j.user) {
        choice->limits = limits_of[{j.user, part}].data();
        choice->limit_count = limits_of[{j.user, part}].size();
    }
    return true;
}

inline void given_world::make_jobs()
{
    size_t words = resources.size() / 64 + 1, row = 0;
    for (auto &j : jobs) {
        std::vector<uint64_t> mask(words, 0);
        world_choice choice{};
        for (size_t i = 0; i < resources.size(); i++)
            if (takes(j, i)) {
                mask[i / 64] |= uint64_t{1} << (i % 64);
                choice.count++;
            }
        choice.mask = masks.emplace_back(mask).data();
        world_job made{};
        made.id = j.id.c_str();
        made.needs = keep(taken(j.cpus, j.memory, j.disk, j.needs, 1,
                                j.exclusive ? AMOUNT_PRESENCE_ALL : 1));
        made.nodes = j.nodes;
        made.etc_s = j.etc_s.empty() ? nullptr : j.etc_s.data();
        made.row = j.etc_s.empty() ? 0 : ++row;
        made.estimate_ref_s = j.estimate_ref_s;
        made.estimate_s = j.estimate_s;
        made.time_limit_s = j.time_limit_s;
        made.release_s = made.earliest_s = j.release_s;
        made.deadline_s = j.deadline_s;
        made.weight = j.weight;
        made.priority = j.priority;
        made.tier = j.tier;
        made.group = j.group;
        made.after = j.after.data();
        made.after_count = j.after.size();
        made.choices = &choices.emplace_back(choice);
        made.choice_count = 1;
        if (!j.parts.empty()) {
            auto &list = several.emplace_back();
            for (size_t part : j.parts) {
                world_choice of{};
                if (choose(j, part, &of))
                    list.push_back(of);
            }
            if (list.empty()) { // closed everywhere
                world_choice none{};
                none.mask = masks.emplace_back(words, 0).data();
                list.push_back(none);
            }
            made.choices = list.data();
            made.choice_count = list.size();
        }
        made_jobs.push_back(made);
    }
}

inline void given_world::make_groups()
{
    for (size_t g = 0; g < groups.size(); g++) {
        world_group made{};
        std::vector<size_t> members, held;
        for (size_t j = 0; j < jobs.size(); j++)
            if (jobs[j].group == g)
                members.push_back(j);
        for (size_t h = 0; h < holders.size(); h++)
            if (holders[h].group == g)
                held.push_back(h);
        made.id = groups[g].id.c_str();
        made.policy = groups[g].policy;
        made.key = groups[g].key;
        made.values = made.key == GROUP_BY_ATTRIBUTE ? &racks : nullptr;
        made.max_per_key = groups[g].max_per_key;
        made.job_count = members.size();
        made.jobs = keep(members);
        made.holder_count = held.size();
        made.holders = keep(held);
        made_groups.push_back(made);
    }
}

inline const world *given_world::build()
{
    name_amounts();
    make_resources();
    make_holders();
    make_limits();
    make_jobs();
    make_racks();
    make_groups();
    std::vector<int64_t> all(w.amount_count, 0);
    for (auto &s : shared)
        all[row_of(s.first)] = amount_units(s.second, AMOUNT_UNITS_PER_ONE);
    w.shared_capacity = keep(all);
    w.resources = made_resources.data();
    w.resource_count = made_resources.size();
    w.holders = made_holders.data();
    w.holder_count = made_holders.size();
    w.jobs = made_jobs.data();
    w.job_count = made_jobs.size();
    w.groups = made_groups.data();
    w.group_count = made_groups.size();
    w.without_files = true;
    w.plan_with_limit = plan_with_limit;
    w.budget = budget;
    return &w;
}

#endif
