// workflow_round_support.hpp - grids and workflows on numbers, for tests of a round.
#pragma once
#include "tests/support.hpp"

#include <functional>

extern "C" {
#include "algorithms/workflow/round.h"
}

namespace workflow_round_support
{

constexpr size_t none = static_cast<size_t>(-1);

// What a round did, with everything copied out.
struct outcome {
    std::vector<workflow_plain_move> moves;
    std::vector<workflow_plain_start> starts;
    std::vector<workflow_plain_skip> skips;
    std::vector<std::vector<size_t>> carry;
    bool cut = false;

    bool operator==(const outcome &o) const
    {
        return same(moves, o.moves) && same(starts, o.starts) && same(skips, o.skips) &&
               carry == o.carry && cut == o.cut;
    }
    int skip_of(size_t task) const
    {
        for (auto &s : skips)
            if (s.task == task)
                return s.reason;
        return -1;
    }

  private:
    static bool equal(double l, double r)
    {
        return l == r || (std::isnan(l) && std::isnan(r));
    }
    static bool same(const std::vector<workflow_plain_move> &l,
                     const std::vector<workflow_plain_move> &r)
    {
        return std::equal(l.begin(), l.end(), r.begin(), r.end(), [](auto &x, auto &y) {
            return x.task == y.task && x.from == y.from && x.to == y.to &&
                   x.group == y.group && x.action == y.action && x.role == y.role &&
                   x.set == y.set && equal(x.before_s, y.before_s) &&
                   equal(x.after_s, y.after_s) && equal(x.transfer_s, y.transfer_s);
        });
    }
    static bool same(const std::vector<workflow_plain_start> &l,
                     const std::vector<workflow_plain_start> &r)
    {
        return std::equal(l.begin(), l.end(), r.begin(), r.end(), [](auto &x, auto &y) {
            return x.task == y.task && x.resource == y.resource && x.how == y.how &&
                   equal(x.expected_s, y.expected_s) && equal(x.stage_in_s, y.stage_in_s);
        });
    }
    static bool same(const std::vector<workflow_plain_skip> &l,
                     const std::vector<workflow_plain_skip> &r)
    {
        return std::equal(l.begin(), l.end(), r.begin(), r.end(), [](auto &x, auto &y) {
            return x.task == y.task && x.reason == y.reason;
        });
    }
};

using options = std::vector<std::pair<std::string, double>>;

// Tasks, resources and sites as the worked examples of spec workflows.md 11 have them:
// LAN 1 Gbit/s and 2 ms, WAN 5 Mbit/s and 7 ms, 1 GB of input and of checkpoint.
struct world {
    std::vector<workflow_plain_task> tasks;
    std::vector<std::vector<size_t>> parents;
    std::vector<workflow_plain_resource> resources;
    std::vector<std::vector<size_t>> carry;
    std::vector<size_t> rank;
    size_t sites = 2;
    double lan_mbps = 1000, lan_s = 0.002, wan_mbps = 5, wan_s = 0.007;
    uint64_t seed = 1, round = 0;
    struct budget *limit = nullptr;
    bool final_sets = true;

    size_t resource(size_t site, double speed, size_t n_max)
    {
        workflow_plain_resource r{};
        r.site = site;
        r.free_speed = speed;
        r.n_max = n_max;
        r.usable = true;
        resources.push_back(r);
        return resources.size() - 1;
    }
    size_t task(size_t workflow, workflow_plain_status status,
                std::vector<size_t> of = {}, size_t at = none, double left = NAN)
    {
        workflow_plain_task t{};
        t.workflow = workflow;
        t.status = status;
        t.resource = at;
        t.remaining_ref_s = left;
        t.move_bytes = 2e9;
        t.stage_site = none;
        t.root = of.empty();
        while (rank.size() <= workflow)
            rank.push_back(rank.size());
        tasks.push_back(t);
        parents.push_back(of);
        return tasks.size() - 1;
    }
    size_t done(size_t workflow, std::vector<size_t> of = {})
    {
        return task(workflow, PLAIN_DONE, of);
    }
    size_t running(size_t workflow, std::vector<size_t> of, size_t at, double left)
    {
        return task(workflow, PLAIN_RUNNING, of, at, left);
    }
    size_t idle(size_t workflow, std::vector<size_t> of, double left = NAN)
    {
        return task(workflow, PLAIN_IDLE, of, none, left);
    }

    // Runs a round; sets and what follows from the graph are computed here.
    using look =
        std::function<void(const std::vector<workflow_plain_set> &, const outcome &)>;
    outcome run(const char *name = "balanced", const options &given = {},
                workflow_round_steps steps = WORKFLOW_STEPS_ALL, const look &see = {})
    {
        test_arena a;
        error err = collecting_error(a);
        const struct policy *policy = policy_find(workflow_round_policies, name);
        REQUIRE(policy);
        std::vector<double> param;
        for (const struct param *p = policy->params; p->name; p++)
            param.push_back(p->preset);
        for (auto &[key, value] : given) {
            size_t i = 0;
            while (policy->params[i].name && key != policy->params[i].name)
                i++;
            REQUIRE(policy->params[i].name);
            param[i] = value;
        }

        std::vector<size_t> first{0}, list, of, carried, carry_first{0};
        for (size_t i = 0; i < tasks.size(); i++) {
            list.insert(list.end(), parents[i].begin(), parents[i].end());
            first.push_back(list.size());
            of.push_back(tasks[i].workflow);
            tasks[i].ready = tasks[i].status == PLAIN_IDLE;
            for (size_t p : parents[i])
                tasks[i].ready = tasks[i].ready && tasks[p].status == PLAIN_DONE;
        }
        for (auto &c : carry) {
            carried.insert(carried.end(), c.begin(), c.end());
            carry_first.push_back(carried.size());
        }
        workflow_plain_set *sets = nullptr;
        size_t set_count = 0;
        bool *roots = NEW(a.a, bool, tasks.size());
        workflow_round_sets(first.data(), list.data(), tasks.size(), of.data(),
                            rank.data(), final_sets, &sets, &set_count, roots, a, &err);
        for (size_t i = 0; i < tasks.size(); i++)
            tasks[i].free_root = roots[i];

        std::vector<double> mbps, latency;
        for (size_t i = 0; i < sites * sites; i++) {
            bool same = i / sites == i % sites;
            mbps.push_back(same ? lan_mbps : wan_mbps);
            latency.push_back(same ? lan_s : wan_s);
        }
        workflow_plain in{};
        in.tasks = tasks.data();
        in.task_count = tasks.size();
        in.resources = resources.data();
        in.resource_count = resources.size();
        in.sets = sets;
        in.set_count = set_count;
        in.workflow_rank = rank.data();
        in.workflow_count = rank.size();
        in.site_mbps = mbps.data();
        in.site_latency_s = latency.data();
        in.site_count = sites;
        in.carry = carried.data();
        in.carry_first = carry_first.data();
        in.carry_count = carry.size();
        in.seed = seed;
        in.round = round;
        in.budget = limit;

        workflow_plain_out out{};
        REQUIRE(workflow_round_run(&in, policy, param.data(), steps, &out, a, &err) ==
                OK);
        outcome o;
        if (out.move_count)
            o.moves.assign(out.moves, out.moves + out.move_count);
        if (out.start_count)
            o.starts.assign(out.starts, out.starts + out.start_count);
        if (out.skip_count)
            o.skips.assign(out.skips, out.skips + out.skip_count);
        for (size_t k = 0; k < out.carry_count; k++)
            o.carry.emplace_back(out.carry + out.carry_first[k],
                                 out.carry + out.carry_first[k + 1]);
        o.cut = out.cut;
        if (see) /* while the sets are there */
            see(std::vector<workflow_plain_set>(sets, sets + set_count), o);
        return o;
    }
};

} // namespace workflow_round_support
