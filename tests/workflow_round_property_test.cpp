// workflow_round_property_test.cpp - what holds of every round, over random grids.
#include "tests/workflow_round_support.hpp"

#include <algorithm>
#include <set>

using namespace workflow_round_support;

namespace
{

double uniform(rng *r, double low, double high)
{
    return low + (high - low) * rng_uniform(r);
}

bool chance(rng *r, double share)
{
    return rng_uniform(r) < share;
}

// A few workflows in the middle of their lives on a few resources of 2 or 3 sites: tasks
// in layers, those with finished parents run, wait or are done.
world random_world(uint64_t seed)
{
    world w;
    rng g = rng_create(seed);
    size_t hosts = 1 + rng_index(&g, 8);
    w.seed = seed;
    w.sites = 1 + rng_index(&g, 3);
    w.final_sets = chance(&g, 0.7);
    for (size_t c = 0; c < hosts; c++) {
        w.resource(rng_index(&g, w.sites),
                   chance(&g, 0.1) ? 0 : double(1 + rng_index(&g, 16)) / 4,
                   rng_index(&g, 4));
        w.resources[c].usable = chance(&g, 0.9);
        w.resources[c].job_count_other = chance(&g, 0.1);
    }
    std::vector<size_t> load(hosts, 0);
    size_t workflows = 1 + rng_index(&g, 4);
    for (size_t f = 0; f < workflows; f++) {
        size_t first = w.tasks.size(), count = 1 + rng_index(&g, 9);
        size_t finished = rng_index(&g, count); // the first ones
        for (size_t k = 0; k < count; k++) {
            std::set<size_t> of;
            for (size_t n = rng_index(&g, k ? 4 : 1); n > 0; n--)
                of.insert(first + rng_index(&g, k));
            bool ready = std::all_of(of.begin(), of.end(), [&](size_t p) {
                return w.tasks[p].status == PLAIN_DONE;
            });
            double left = chance(&g, 0.05) ? NAN : uniform(&g, 0, 20000);
            std::vector<size_t> list(of.begin(), of.end());
            size_t at = rng_index(&g, hosts);
            double u = rng_uniform(&g);
            size_t id;
            if (ready && k < finished && u < 0.9)
                id = w.done(f, list);
            else if (!ready || u < 0.1)
                id = w.idle(f, list, left);
            else
                id = w.task(f, u < 0.95 ? PLAIN_RUNNING : PLAIN_STAGING, list, at, left);
            w.tasks[id].move_bytes = uniform(&g, 0, 4e8);
            w.tasks[id].stage_bytes = uniform(&g, 0, 1e9);
            if (chance(&g, 0.5))
                w.tasks[id].stage_site = rng_index(&g, w.sites);
            if (w.tasks[id].status == PLAIN_STAGING)
                w.tasks[id].pending_s = uniform(&g, 0, 500);
        }
    }
    w.rank.resize(workflows);
    for (size_t f = 0; f < workflows; f++)
        w.rank[f] = workflows - 1 - f;
    if (chance(&g, 0.3))
        w.wan_mbps = 0;
    return w;
}

options random_options(uint64_t seed)
{
    rng g = rng_create(seed ^ 0x5eed);
    options o;
    if (chance(&g, 0.3))
        o.push_back({"theta", double(1 + rng_index(&g, 4))});
    if (chance(&g, 0.3))
        o.push_back({"group_pick", 1});
    if (chance(&g, 0.2))
        o.push_back({"balance", 1});
    if (chance(&g, 0.2))
        o.push_back({"evicted_root_rule", 1});
    if (chance(&g, 0.2))
        o.push_back({"allow_root_eviction", 0});
    if (chance(&g, 0.2))
        o.push_back({"re_min_s", uniform(&g, 0, 2000)});
    if (chance(&g, 0.2))
        o.push_back({"gamma", uniform(&g, 0, 0.9)});
    if (chance(&g, 0.2))
        o.push_back({"include_checkpoint_cost", 1});
    if (chance(&g, 0.2))
        o.push_back({"roots_last", 0});
    if (chance(&g, 0.1))
        o.push_back({"max_moves", double(rng_index(&g, 3))});
    return o;
}

// The plan after an outcome, computed once more and plainly.
struct plan {
    std::vector<size_t> at, count;
    std::vector<double> pending;
    const world &w;

    explicit plan(const world &grid)
        : at(grid.tasks.size(), none), count(grid.resources.size()),
          pending(grid.tasks.size(), 0), w(grid)
    {
        for (size_t c = 0; c < count.size(); c++)
            count[c] = w.resources[c].job_count_other;
        for (size_t i = 0; i < at.size(); i++)
            if (w.tasks[i].status == PLAIN_RUNNING ||
                w.tasks[i].status == PLAIN_STAGING) {
                put(i, w.tasks[i].resource,
                    w.tasks[i].status == PLAIN_STAGING ? w.tasks[i].pending_s : 0);
            }
    }
    void put(size_t i, size_t c, double s)
    {
        if (at[i] != none)
            count[at[i]]--;
        at[i] = c;
        pending[i] = s;
        if (c != none)
            count[c]++;
    }
    double xi(size_t i) const
    {
        double v = w.resources[at[i]].free_speed, left = w.tasks[i].remaining_ref_s;
        if (left == 0)
            return pending[i];
        return v > 0 ? left * double(count[at[i]]) / v + pending[i] : HUGE_VAL;
    }
    double longest(const workflow_plain_set &s) const
    {
        double most = -HUGE_VAL;
        for (size_t k = 0; k < s.member_count; k++) {
            size_t i = s.members[k];
            if (at[i] != none && !std::isnan(w.tasks[i].remaining_ref_s))
                most = std::max(most, xi(i));
        }
        return most;
    }
};

struct sets_of {
    test_arena a;
    workflow_plain_set *list = nullptr;
    size_t count = 0;
    std::vector<size_t> first{0}, parents, of;

    explicit sets_of(const world &w)
    {
        error err = collecting_error(a);
        for (size_t i = 0; i < w.tasks.size(); i++) {
            parents.insert(parents.end(), w.parents[i].begin(), w.parents[i].end());
            first.push_back(parents.size());
            of.push_back(w.tasks[i].workflow);
        }
        bool *roots = NEW(a.a, bool, w.tasks.size());
        workflow_round_sets(first.data(), parents.data(), w.tasks.size(), of.data(),
                            w.rank.data(), w.final_sets, &list, &count, roots, a, &err);
    }
};

constexpr uint64_t worlds = 1500;

} // namespace

TEST_CASE("step 2 makes no parent set longer", "[workflow][round][property]")
{
    for (uint64_t seed = 1; seed <= worlds; seed++) {
        world w = random_world(seed);
        outcome o = w.run("balanced", random_options(seed), WORKFLOW_STEP_MOVE);
        sets_of sets(w);
        plan before(w), after(w);
        double overhead = 0;
        for (auto &[name, value] : random_options(seed))
            overhead += name == "include_checkpoint_cost" ? 2 : 0;
        for (auto &m : o.moves)
            after.put(m.task, m.to, m.to == none ? 0 : m.transfer_s + overhead);
        bool fine = true;
        for (size_t p = 0; p < sets.count; p++)
            fine = fine &&
                   (sets.list[p].only_roots ||
                    after.longest(sets.list[p]) <= before.longest(sets.list[p]) + 1e-6);
        CAPTURE(seed);
        REQUIRE(fine);
    }
}

TEST_CASE("targets have room and speed, a task has one action",
          "[workflow][round][property]")
{
    size_t moved = 0, started = 0, evicted = 0;

    for (uint64_t seed = 1; seed <= worlds; seed++) {
        world w = random_world(seed);
        auto *policy = &workflow_round_policies[seed % 5];
        outcome o = w.run(policy->name, random_options(seed));
        plan at(w);
        std::set<size_t> seen;
        bool fine = true;

        CAPTURE(seed, policy->name);
        for (size_t first = 0; first < o.moves.size();) {
            size_t end = first;
            for (; end < o.moves.size() && o.moves[end].group == o.moves[first].group;
                 end++)
                at.put(o.moves[end].task, none, 0);
            fine = fine && o.moves[first].action == WORKFLOW_MIGRATE;
            for (; first < end; first++) {
                auto &m = o.moves[first];
                fine = fine && seen.insert(m.task).second && m.from != m.to;
                at.put(m.task, m.to, m.transfer_s);
                evicted += m.action != WORKFLOW_MIGRATE;
                if (m.to == none)
                    continue;
                fine = fine && w.resources[m.to].usable &&
                       w.resources[m.to].free_speed > 0 &&
                       at.count[m.to] <= w.resources[m.to].n_max;
            }
        }
        REQUIRE(fine);
        for (auto &s : o.starts) {
            fine = fine && seen.insert(s.task).second && w.tasks[s.task].ready &&
                   w.resources[s.resource].usable &&
                   w.resources[s.resource].free_speed > 0;
            at.put(s.task, s.resource, s.stage_in_s);
            fine =
                fine && at.count[s.resource] <= w.resources[s.resource].n_max &&
                (std::isnan(w.tasks[s.task].remaining_ref_s) ? std::isnan(s.expected_s)
                                                             : s.expected_s < HUGE_VAL);
        }
        for (auto &c : o.carry)
            for (size_t i : c)
                fine = fine && seen.insert(i).second && w.tasks[i].ready;
        for (auto &s : o.skips)
            fine = fine && seen.insert(s.task).second && s.reason >= 0;
        REQUIRE(fine);
        moved += o.moves.size();
        started += o.starts.size();
    }
    CHECK(moved > worlds / 10);
    CHECK(started > worlds / 4);
    CHECK(evicted > 10);
}

TEST_CASE("every member of a set with dependents that runs has an action or a reason",
          "[workflow][round][property]")
{
    for (uint64_t seed = 1; seed <= worlds / 3; seed++) {
        world w = random_world(seed);
        outcome o = w.run("balanced", random_options(seed), WORKFLOW_STEP_MOVE);
        sets_of sets(w);
        std::set<size_t> told;
        for (auto &m : o.moves)
            told.insert(m.task);
        for (auto &s : o.skips)
            told.insert(s.task);
        bool fine = true;
        for (size_t p = 0; p < sets.count; p++)
            for (size_t k = 0; k < sets.list[p].member_count; k++) {
                size_t i = sets.list[p].members[k];
                fine = fine && (sets.list[p].only_roots || told.count(i) ||
                                w.tasks[i].status == PLAIN_IDLE ||
                                w.tasks[i].status == PLAIN_DONE);
            }
        CAPTURE(seed);
        REQUIRE(fine);
    }
}

TEST_CASE("gamma 1 or an endless re_min_s: as if nothing ever moved",
          "[workflow][round][property]")
{
    for (uint64_t seed = 1; seed <= worlds / 3; seed++) {
        world w = random_world(seed);
        outcome still = w.run("balanced_static");
        CAPTURE(seed);
        CHECK(still.moves.empty());
        for (auto &o : {w.run("balanced", {{"gamma", 1}}),
                        w.run("balanced", {{"re_min_s", HUGE_VAL}})}) {
            CHECK(o.moves.empty());
            outcome same = o;
            same.skips = still.skips;
            CHECK(same == still);
        }
    }
}

TEST_CASE("groups of one are no groups, whichever is picked",
          "[workflow][round][property]")
{
    for (uint64_t seed = 1; seed <= worlds / 3; seed++) {
        world w = random_world(seed);
        CAPTURE(seed);
        CHECK(w.run("balanced") == w.run("balanced_grouped", {{"theta", 1}}));
        CHECK(w.run("balanced") ==
              w.run("balanced_grouped", {{"theta", 1}, {"group_pick", 1}}));
    }
}

TEST_CASE("a round does not depend on units", "[workflow][round][property]")
{
    auto moves_of = [](const outcome &o) {
        std::vector<std::vector<size_t>> list;
        for (auto &m : o.moves)
            list.push_back({m.task, m.from, m.to, size_t(m.group), size_t(m.action)});
        for (auto &s : o.starts)
            list.push_back({s.task, s.resource});
        return list;
    };
    for (uint64_t seed = 1; seed <= worlds / 3; seed++) {
        world w = random_world(seed);
        w.lan_s = w.wan_s = 0;
        auto given = random_options(seed);
        auto want = moves_of(w.run("balanced", given));
        world bytes = w, speed = w;
        bytes.lan_mbps *= 4;
        bytes.wan_mbps *= 4;
        for (auto &t : bytes.tasks) {
            t.move_bytes *= 4;
            t.stage_bytes *= 4;
        }
        for (auto &t : speed.tasks)
            t.remaining_ref_s *= 8;
        for (auto &r : speed.resources)
            r.free_speed *= 8;
        CAPTURE(seed);
        CHECK(moves_of(bytes.run("balanced", given)) == want);
        CHECK(moves_of(speed.run("balanced", given)) == want);
    }
}

TEST_CASE("the same request, the same round", "[workflow][round][property]")
{
    for (uint64_t seed = 1; seed <= worlds / 10; seed++)
        for (auto *p = workflow_round_policies; p->name; p++) {
            world w = random_world(seed);
            options o = random_options(seed);
            CAPTURE(seed, p->name);
            CHECK(w.run(p->name, o) == w.run(p->name, o));
        }
}

TEST_CASE("numbers of a snapshot that are not sound do no harm",
          "[workflow][round][property]")
{
    const double odd[] = {NAN, HUGE_VAL, -HUGE_VAL, -1, 1e308, 5e-324, 0};

    for (uint64_t seed = 1; seed <= worlds / 10; seed++) {
        world w = random_world(seed);
        rng g = rng_create(seed);
        for (int k = 0; k < 4; k++) {
            workflow_plain_task &t = w.tasks[rng_index(&g, w.tasks.size())];
            t.remaining_ref_s = odd[rng_index(&g, 7)];
            t.pending_s = odd[rng_index(&g, 7)];
            t.move_bytes = odd[rng_index(&g, 7)];
            t.stage_bytes = odd[rng_index(&g, 7)];
            t.spread_ref_s = odd[rng_index(&g, 7)];
            w.resources[rng_index(&g, w.resources.size())].free_speed =
                odd[rng_index(&g, 7)];
        }
        options o = random_options(seed);
        o.push_back({"confidence", 1});
        o.push_back({"max_bytes_moved", 1e9});
        for (auto *p = workflow_round_policies; p->name; p++)
            w.run(p->name, o);
    }
    SUCCEED();
}
