// workflow_round_reference_test.cpp - step 2 against a second version of it, written down
// from spec workflows.md 5.5 line by line: slow, and without anything kept in mind.
#include "tests/workflow_round_support.hpp"

#include <algorithm>
#include <map>

using namespace workflow_round_support;

namespace
{

struct settings {
    double gamma = 0, re_min_s = 0, overhead_s = 0;
    bool longest_only = false, any_task = false, fastest = false, evict = true;
};

struct reference {
    const world &w;
    settings o;
    std::vector<workflow_plain_set> sets;
    std::vector<size_t> cr, n;
    std::vector<double> pend;
    std::vector<bool> moved;
    std::vector<std::vector<size_t>> actions; // task, from, to, group
    size_t group = 0;

    reference(const world &grid, settings options, std::vector<workflow_plain_set> list)
        : w(grid), o(options), sets(std::move(list)), cr(w.tasks.size(), none),
          n(w.resources.size()), pend(w.tasks.size()), moved(w.tasks.size())
    {
        for (size_t c = 0; c < n.size(); c++)
            n[c] = w.resources[c].job_count_other;
        for (size_t i = 0; i < cr.size(); i++) {
            auto s = w.tasks[i].status;
            if (s != PLAIN_RUNNING && s != PLAIN_STAGING)
                continue;
            cr[i] = w.tasks[i].resource;
            pend[i] = s == PLAIN_STAGING ? w.tasks[i].pending_s : 0;
            n[cr[i]]++;
        }
    }
    double re(size_t i, size_t c, size_t m) const
    {
        double v = w.resources[c].free_speed, left = w.tasks[i].remaining_ref_s;
        return left == 0 ? 0 : v > 0 ? left * double(m) / v : HUGE_VAL;
    }
    double xi(size_t i) const
    {
        return re(i, cr[i], n[cr[i]]) + pend[i];
    }
    bool known(size_t i) const
    {
        return !std::isnan(w.tasks[i].remaining_ref_s);
    }
    double no(size_t i, size_t from, size_t to) const
    {
        bool same = w.resources[from].site == w.resources[to].site;
        double mbps = same ? w.lan_mbps : w.wan_mbps;
        if (from == to)
            return 0;
        return mbps > 0
                   ? 8 * w.tasks[i].move_bytes / (mbps * 1e6) + (same ? w.lan_s : w.wan_s)
                   : HUGE_VAL;
    }
    double max_xi(const workflow_plain_set &s) const
    {
        double most = -HUGE_VAL;
        for (size_t k = 0; k < s.member_count; k++)
            if (cr[s.members[k]] != none && known(s.members[k]))
                most = std::max(most, xi(s.members[k]));
        return most;
    }
    static bool holds(const workflow_plain_set &s, size_t i)
    {
        return std::find(s.members, s.members + s.member_count, i) !=
               s.members + s.member_count;
    }
    std::vector<size_t> evictable(size_t c) const
    {
        std::vector<size_t> list;
        for (size_t r = 0; r < cr.size(); r++)
            if (cr[r] == c && w.tasks[r].free_root && !moved[r] &&
                w.tasks[r].status == PLAIN_RUNNING && (!known(r) || xi(r) > o.re_min_s))
                list.push_back(r);
        if (!o.evict)
            list.clear();
        std::stable_sort(list.begin(), list.end(), [&](size_t l, size_t r) {
            return w.rank[w.tasks[l].workflow] < w.rank[w.tasks[r].workflow];
        });
        return list;
    }
    // Moves i to c for a moment and compares all sets.
    bool delays(size_t i, size_t c, const std::vector<size_t> &ev, double wait_s) const
    {
        reference after = *this;
        std::vector<size_t> d;
        for (size_t j = 0; j < cr.size(); j++)
            if (cr[j] == c && !w.tasks[j].free_root && j != i)
                d.push_back(j);
        for (size_t r : ev) {
            after.cr[r] = none;
            after.n[c]--;
        }
        if (after.cr[i] != none)
            after.n[after.cr[i]]--;
        after.cr[i] = c;
        after.n[c]++;
        after.pend[i] = wait_s;
        bool grows = after.n[c] > n[c];
        for (size_t j : d)
            if (grows && (!known(j) || o.any_task))
                return true;
        for (auto &q : sets) {
            bool looked_at = cr[i] != none && holds(q, i);
            for (size_t j : d)
                looked_at = looked_at || holds(q, j);
            if (looked_at && !q.only_roots && after.max_xi(q) > max_xi(q) + 1e-9)
                return true;
        }
        return false;
    }
    bool usable(size_t c) const
    {
        return w.resources[c].usable && w.resources[c].free_speed > 0;
    }
    void evict(size_t r, size_t c)
    {
        size_t best = none;
        double least = HUGE_VAL;
        bool by_speed = o.fastest || !known(r);
        for (size_t d = 0; d < n.size(); d++) {
            if (d == c || !usable(d) || n[d] >= w.resources[d].n_max ||
                no(r, c, d) == HUGE_VAL || delays(r, d, {}, no(r, c, d)))
                continue;
            double key = by_speed ? -w.resources[d].free_speed / double(n[d] + 1)
                                  : re(r, d, n[d] + 1) + no(r, c, d) + o.overhead_s;
            if (key < least) {
                least = key;
                best = d;
            }
        }
        actions.push_back({r, c, best, group});
        if (best == none)
            return;
        cr[r] = best;
        n[best]++;
        pend[r] = no(r, c, best) + o.overhead_s;
    }
    void commit(size_t i, size_t c, const std::vector<size_t> &ev)
    {
        size_t from = cr[i];
        group++;
        for (size_t r : ev) {
            cr[r] = none;
            n[c]--;
            moved[r] = true;
        }
        n[from]--;
        cr[i] = c;
        n[c]++;
        pend[i] = no(i, from, c) + o.overhead_s;
        moved[i] = true;
        actions.push_back({i, from, c, group});
        for (size_t r : ev)
            evict(r, c);
    }
    void look_at(size_t i, const workflow_plain_set &p)
    {
        struct candidate {
            double key, wait_s;
            bool evicts;
            size_t c;
        };
        std::vector<candidate> list;
        double cur = xi(i), top = max_xi(p);
        bool longest = cur >= top - 1e-9;
        if (!(cur > o.re_min_s) || (!longest && o.longest_only))
            return;
        for (size_t c = 0; c < n.size(); c++)
            for (bool evicts : {false, true}) {
                if (c == cr[i] || !usable(c))
                    continue;
                auto ev = evicts ? evictable(c) : std::vector<size_t>{};
                size_t m = n[c] - ev.size() + 1;
                if ((evicts && ev.empty()) || m > w.resources[c].n_max)
                    continue;
                double x = re(i, c, m) + no(i, cr[i], c) + o.overhead_s;
                if (x == HUGE_VAL)
                    continue;
                if (longest && (cur == HUGE_VAL ? o.gamma < 1 : x + o.gamma * cur < cur))
                    list.push_back({x, 0, evicts, c});
                if (!longest && top < HUGE_VAL && top - x >= 0 &&
                    (top - x) + o.gamma * (top - cur) < top - cur)
                    list.push_back({top - x, 0, evicts, c});
            }
        std::sort(list.begin(), list.end(), [](auto &l, auto &r) {
            return std::tie(l.key, l.evicts, l.c) < std::tie(r.key, r.evicts, r.c);
        });
        for (auto &k : list) {
            auto ev = k.evicts ? evictable(k.c) : std::vector<size_t>{};
            if (delays(i, k.c, ev, no(i, cr[i], k.c) + o.overhead_s))
                continue;
            commit(i, k.c, ev);
            return;
        }
    }
    bool is_rps(const workflow_plain_set &p) const
    {
        bool some = false;
        for (size_t k = 0; k < p.member_count; k++) {
            size_t i = p.members[k];
            if (w.tasks[i].status == PLAIN_DONE)
                continue;
            some = true;
            if (w.tasks[i].status != PLAIN_RUNNING || !known(i))
                return false;
        }
        return some && !p.only_roots;
    }
    void step2()
    {
        std::vector<std::pair<size_t, size_t>> u; // unfinished, set: by arrival already
        for (size_t p = 0; p < sets.size(); p++) {
            size_t unfinished = 0;
            for (size_t k = 0; k < sets[p].member_count; k++)
                unfinished += w.tasks[sets[p].members[k]].status != PLAIN_DONE;
            if (is_rps(sets[p]))
                u.push_back({unfinished, p});
        }
        std::sort(u.begin(), u.end());
        for (auto &[count, p] : u) {
            std::vector<size_t> unseen;
            for (size_t k = 0; k < sets[p].member_count; k++)
                if (cr[sets[p].members[k]] != none && !moved[sets[p].members[k]])
                    unseen.push_back(sets[p].members[k]);
            while (!unseen.empty()) {
                auto at =
                    std::max_element(unseen.begin(), unseen.end(),
                                     [&](size_t l, size_t r) { return xi(l) < xi(r); });
                size_t i = *at;
                unseen.erase(at);
                look_at(i, sets[p]);
            }
        }
    }
};

// Sets of up to 4 running tasks that overlap, roots among them, few resources.
world crowded_world(uint64_t seed)
{
    world w;
    rng g = rng_create(seed);
    auto number = [&](size_t count) { return rng_index(&g, count); };
    size_t hosts = 2 + number(5);

    w.sites = 1 + number(2);
    w.wan_mbps = number(5) ? 50 : 0;
    for (size_t c = 0; c < hosts; c++) {
        w.resource(number(w.sites), double(number(9)) / 2, 1 + number(3));
        w.resources[c].usable = number(10) > 0;
        w.resources[c].job_count_other = number(10) == 0;
    }
    for (size_t f = 0; f < 1 + number(4); f++) {
        size_t root = w.done(f), first = w.tasks.size();
        for (size_t k = 0; k < 1 + number(6); k++) {
            std::vector<size_t> of{root};
            if (number(4) == 0)
                of.clear();
            auto status = number(10) == 0 ? PLAIN_STAGING : PLAIN_RUNNING;
            double left = number(15) ? 100.0 * double(1 + number(60)) : NAN;
            size_t i = w.task(f, status, of, number(hosts), left);
            w.tasks[i].pending_s = status == PLAIN_STAGING ? double(number(100)) : 0;
            w.tasks[i].move_bytes = 1e8 * double(number(5));
        }
        size_t members = w.tasks.size() - first;
        for (size_t k = 0; k < 1 + number(3); k++) {
            std::vector<size_t> of;
            for (size_t m = 0; m < members; m++)
                if (number(2))
                    of.push_back(first + m);
            if (!of.empty())
                w.idle(f, of);
        }
    }
    return w;
}

} // namespace

TEST_CASE("step 2 as it is written down", "[workflow][round][property]")
{
    size_t actions = 0, roots = 0;

    for (uint64_t seed = 1; seed <= 3000; seed++) {
        world w = crowded_world(seed);
        rng g = rng_create(seed + 1000000);
        settings o;
        options given;
        auto flip = [&](double share) { return rng_uniform(&g) < share; };
        if (flip(0.3))
            given.push_back({"gamma", o.gamma = rng_uniform(&g)});
        if (flip(0.3))
            given.push_back({"re_min_s", o.re_min_s = 3000 * rng_uniform(&g)});
        if ((o.longest_only = flip(0.2)))
            given.push_back({"balance", 1});
        if ((o.any_task = flip(0.2)))
            given.push_back({"delay_rule", 1});
        if ((o.fastest = flip(0.2)))
            given.push_back({"evicted_root_rule", 1});
        if (!(o.evict = flip(0.9)))
            given.push_back({"allow_root_eviction", 0});
        if (flip(0.2)) {
            o.overhead_s = 32;
            given.push_back({"include_checkpoint_cost", 1});
            given.push_back({"restart_s", 30});
        }
        bool same = true;
        w.run("balanced", given, WORKFLOW_STEP_MOVE, [&](auto &sets, const outcome &out) {
            reference r(w, o, sets);
            r.step2();
            same = r.actions.size() == out.moves.size();
            for (size_t k = 0; same && k < out.moves.size(); k++) {
                auto &m = out.moves[k];
                same = r.actions[k] ==
                       std::vector<size_t>{m.task, m.from, m.to, size_t(m.group)};
                roots += m.action != WORKFLOW_MIGRATE;
            }
            actions += out.moves.size();
        });
        CAPTURE(seed);
        REQUIRE(same);
    }
    CHECK(actions > 1000);
    CHECK(roots > 50);
}
