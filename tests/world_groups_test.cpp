// world_groups_test.cpp - groups and jobs of several nodes on a board: the worked
// examples, and random worlds whose plans are looked at in full.
#include "tests/world_plan_support.hpp"

extern "C" {
#include "algorithms/world/board_groups.h"
#include "algorithms/world/check.h"
#include "algorithms/world/list.h"
}

#include <random>
#include <set>

namespace
{

// Places all jobs in order, each where it completes first, units in the turn of their
// first member; jobs whose predecessors wait come back.
struct placing {
    test_arena a;
    board *b = nullptr;

    const world_plan *place(const world *w)
    {
        error err{};
        REQUIRE(computed(a, &err, [&] {
                    b = board_create(w, nullptr, a);
                    in_order();
                    return OK;
                }) == OK);
        return board_plan(b);
    }
    template <class F> void in_arena(F f)
    {
        error err{};
        REQUIRE(computed(a, &err, [&] {
                    f();
                    return OK;
                }) == OK);
    }
    void in_order()
    {
        const world *w = board_world(b);
        std::vector<bool> done(w->job_count);
        for (bool some = true; some;) {
            some = false;
            for (size_t j = 0; j < w->job_count; j++) {
                if (done[j] || !board_is_due(b, j))
                    continue;
                some = true;
                turn(w, j, done);
                break;
            }
        }
    }

  private:
    void turn(const world *w, size_t j, std::vector<bool> &done)
    {
        done[j] = true;
        if (board_is_unit(b, j)) {
            const world_group &g = w->groups[w->jobs[j].group];
            for (size_t i = 0; i < g.job_count; i++)
                done[g.jobs[i]] = true;
            CHECK(board_unit_of(b, j) == g.jobs[0]);
            board_place_unit(b, j);
            return;
        }
        board_spot spot = board_best(b, j);
        if (spot.done_s < HUGE_VAL)
            board_take(b, j, &spot);
        else {
            size_t on = WORLD_NONE;
            world_wait why = board_why(b, j, &on);
            board_refuse(b, j, why, on);
        }
    }
};

std::vector<std::string> placed(given_world &given)
{
    placing p;
    const world *w = given.build();
    const world_plan *plan = p.place(w);
    CHECK(wrong_with(w, plan) == "");
    return where_all(w, plan);
}

given_job job_of(const char *id, double cpus, double estimate_s, size_t nodes = 1)
{
    given_job j;
    j.id = id;
    j.cpus = cpus;
    j.estimate_s = estimate_s;
    j.nodes = nodes;
    return j;
}

// Two nodes of 4 cpus, the first is full until 6; three members.
given_world two_nodes(world_group_policy policy, double cpus)
{
    given_world g;
    g.resources = {{.id = "n1", .cpus = 4}, {.id = "n2", .cpus = 4}};
    g.holders = {{.id = "r", .positions = {0}, .end_s = 6, .cpus = 4}};
    g.groups = {{"g", policy}};
    for (const char *id : {"m1", "m2", "m3"}) {
        g.jobs.push_back(job_of(id, cpus, 10));
        g.jobs.back().group = 0;
    }
    return g;
}

using names = std::vector<std::string>;

// Rule 3 of a valid plan, by counting. "": valid.
std::string group_wrong(const world *w, const world_plan *plan)
{
    for (size_t g = 0; g < w->group_count; g++) {
        const world_group &group = w->groups[g];
        std::set<double> starts;
        std::set<size_t> values;
        size_t members = 0;
        struct row {
            size_t value;
            double start_s, end_s;
            bool planned;
        };
        std::vector<row> rows;
        for (size_t i = 0; i < group.job_count; i++) {
            const world_placed &p = plan->placed[group.jobs[i]];
            for (size_t k = 0; p.positions && k < p.position_count; k++)
                rows.push_back(
                    {group_value(w, &group, p.positions[k]), p.start_s, p.end_s, true});
            if (p.positions) {
                members++;
                starts.insert(p.start_s);
            }
        }
        for (size_t i = 0; i < group.holder_count; i++) {
            const world_holder &h = w->holders[group.holders[i]];
            for (size_t k = 0; k < h.position_count; k++)
                if (group_value(w, &group, h.positions[k]) != WORLD_NONE)
                    rows.push_back({group_value(w, &group, h.positions[k]), h.start_s,
                                    h.end_s, false});
        }
        for (auto &r : rows) {
            values.insert(r.value);
            if (r.value == WORLD_NONE && group.policy != GROUP_GANG)
                return "no value";
        }
        if (group.policy == GROUP_GANG &&
            (starts.size() > 1 || (members && members < group.job_count)))
            return "gang";
        if (group.policy == GROUP_PACK && members && values.size() > 1)
            return "pack";
        for (auto &at : rows) {
            size_t count = 0, together = 0;
            for (auto &r : rows)
                if (r.value == at.value) {
                    count++;
                    together += r.start_s <= at.start_s && at.start_s < r.end_s;
                }
            if (group.policy == GROUP_SPREAD && at.planned && count > group.max_per_key)
                return "spread";
            if (group.policy != GROUP_EXCLUDE || together <= group.max_per_key)
                continue;
            for (auto &r :
                 rows) // more than there may be: only if none of them is planned
                if (r.value == at.value && r.planned && r.start_s <= at.start_s &&
                    at.start_s < r.end_s)
                    return "exclude";
        }
    }
    return "";
}

struct draws {
    std::mt19937_64 bits;
    explicit draws(uint64_t seed) : bits(seed)
    {
    }
    size_t below(size_t n)
    {
        return (size_t)(bits() % n);
    }
    template <class T> T of(std::initializer_list<T> list)
    {
        return list.begin()[below(list.size())];
    }
};

// A tiny world with everything: zeros, ties, shared amounts, whole reservations, members
// that run, two partitions.
struct drawn {
    given_world given;
    std::deque<std::vector<uint64_t>> masks;
    std::deque<std::vector<world_choice>> choices;
    const world *w = nullptr;

    std::vector<world_limit> limits;
    std::deque<std::vector<world_limit_hold>> held;
    std::deque<std::vector<size_t>> limits_of;

    explicit drawn(draws &d, bool with_limits = false)
    {
        size_t n = 1 + d.below(4);
        for (size_t i = 0; i < n; i++)
            given.resources.push_back({.id = "n" + std::to_string(i),
                                       .cpus = d.of({1.0, 2.0, 2.0, 3.0}),
                                       .n_max = d.below(4) ? NAN : 2.0,
                                       .speed = d.of({1.0, 1.0, 2.0}),
                                       .site = d.below(2),
                                       .rack = d.below(4) ? d.below(2) : WORLD_NONE});
        if (d.below(2))
            given.shared = {{"licence", d.of({1.0, 2.0})}};
        for (size_t g = d.below(3); g-- > 0;)
            given.groups.push_back(
                {"g", d.of({GROUP_GANG, GROUP_SPREAD, GROUP_PACK, GROUP_EXCLUDE}),
                 d.of({GROUP_BY_RESOURCE, GROUP_BY_SITE, GROUP_BY_ATTRIBUTE}), 1});
        for (auto &g : given.groups)
            if (g.policy == GROUP_SPREAD || g.policy == GROUP_EXCLUDE)
                g.max_per_key = 1 + d.below(2);
        holders(d, n);
        bool units_first = d.below(2);
        for (size_t j = 1 + d.below(6); j-- > 0;)
            job(d, units_first);
        given.plan_with_limit = d.below(3) == 0;
        w = given.build();
        for (size_t j = 0; j < w->job_count && d.below(2); j++)
            split(d, j);
        if (with_limits)
            limit(d);
    }

  private:
    void draw_limits(draws &d)
    {
        for (size_t n = 1 + d.below(3); n-- > 0;) {
            world_limit l{};
            auto &list = held.emplace_back();
            l.kind = d.of({LIMIT_JOBS, LIMIT_CPUS});
            l.capacity = (int64_t)(1 + d.below(3)) *
                         (l.kind == LIMIT_JOBS ? 1 : AMOUNT_UNITS_PER_ONE);
            for (size_t h = d.below(3); h-- > 0;)
                list.push_back({d.below(8) ? 1.0 + (double)d.below(5) : HUGE_VAL,
                                (l.kind == LIMIT_JOBS ? 1 : 500000)});
            l.held = list.data();
            l.held_count = list.size();
            limits.push_back(l);
        }
    }
    // Some choices take of up to two of them, unless the job alone is too large.
    void limit(draws &d)
    {
        world *made = const_cast<world *>(w);
        draw_limits(d);
        made->limits = limits.data();
        made->limit_count = limits.size();
        for (size_t j = 0; j < w->job_count; j++)
            for (size_t c = 0; c < w->jobs[j].choice_count; c++) {
                world_choice &of = const_cast<world_choice &>(w->jobs[j].choices[c]);
                auto &list = limits_of.emplace_back();
                for (size_t l = 0; l < limits.size() && list.size() < 2; l++)
                    if (d.below(2) &&
                        world_limit_need(&limits[l], &w->jobs[j]) <= limits[l].capacity)
                        list.push_back(l);
                of.limits = list.data();
                of.limit_count = list.size();
            }
    }
    void holders(draws &d, size_t n)
    {
        for (size_t h = d.below(4); h-- > 0;) {
            given_holder x{.id = "h", .positions = {d.below(n)}, .end_s = 0};
            x.start_s = d.below(2) ? 0 : (double)d.below(6);
            x.end_s = d.below(8) ? x.start_s + 1 + (double)d.below(5) : HUGE_VAL;
            x.reservation = x.start_s > 0 || d.below(3) == 0;
            x.all = x.reservation && d.below(2);
            x.cpus = x.all ? 0 : (double)d.below(3);
            if (!x.reservation && !given.groups.empty() && d.below(2))
                x.group = d.below(given.groups.size());
            if (!given.shared.empty() && d.below(4) == 0)
                x.needs = {{"licence", 1}};
            given.holders.push_back(x);
        }
    }
    bool is_unit(size_t g) const
    {
        return g != WORLD_NONE && (given.groups[g].policy == GROUP_GANG ||
                                   given.groups[g].policy == GROUP_PACK);
    }
    void job(draws &d, bool units_first)
    {
        static const char *const ids[] = {"a", "b", "c", "d", "e", "f"};
        size_t number = given.jobs.size(), n = given.resources.size();
        given_job j = job_of(ids[number], d.of({0.5, 1.0, 1.0, 2.0}), (double)d.below(4));
        if (d.below(3) == 0) {
            j.estimate_s = NAN;
            j.estimate_ref_s = (double)d.below(5);
        } else if (d.below(3) == 0) {
            j.estimate_s = NAN;
            for (size_t i = 0; i < n; i++)
                j.etc_s.push_back(d.of({0.0, 1.0, 2.0, 2.5, HUGE_VAL}));
        }
        j.nodes = d.below(2) ? 1 : 1 + d.below(3);
        j.exclusive = d.below(6) == 0;
        j.release_s = d.below(3) ? 0 : (double)d.below(4);
        if (d.below(4) == 0)
            j.time_limit_s = 3;
        if (!given.shared.empty() && d.below(3) == 0)
            j.needs = {{"licence", 1}};
        if (!given.groups.empty() && d.below(3))
            j.group = d.below(given.groups.size());
        // Units wait for jobs outside, or those for units, never both; packs inside too.
        for (size_t k = 0; k < number; k++) {
            size_t other = given.jobs[k].group;
            bool inside = is_unit(j.group) && other == j.group;
            if (d.below(4) == 0 &&
                (inside        ? given.groups[other].policy == GROUP_PACK
                 : units_first ? !is_unit(j.group)
                               : !is_unit(other)) &&
                !(is_unit(j.group) && is_unit(other) && !inside))
                j.after.push_back({k, d.of({AFTER_OK, AFTER_ANY, AFTER_START})});
        }
        given.jobs.push_back(j);
    }
    void split(draws &d, size_t j)
    {
        world_job *made = const_cast<world_job *>(&w->jobs[j]);
        const world_choice whole = made->choices[0];
        choices.emplace_back();
        for (int c = 0; c < 2; c++) {
            world_choice choice{};
            uint64_t mask = 0;
            for (size_t i = 0; i < w->resource_count; i++)
                if (d.below(3) && world_mask_has(whole.mask, i)) {
                    mask |= uint64_t{1} << i;
                    choice.count++;
                }
            choice.mask = masks.emplace_back(std::vector<uint64_t>{mask}).data();
            choices.back().push_back(choice);
        }
        made->choices = choices.back().data();
        made->choice_count = 2;
    }
};

// A plan in which one job after another is put by looking at all starts and sets.
struct slow_plan {
    const world *w;
    std::vector<world_placed> placed;
    std::deque<std::vector<size_t>> positions;
    world_plan plan{};

    explicit slow_plan(const world *of) : w(of), placed(of->job_count)
    {
        plan.placed = placed.data();
    }
    bool is_valid()
    {
        plan.placed = placed.data();
        return wrong_with(w, &plan) == "" && group_wrong(w, &plan) == "";
    }
    std::vector<double> starts() const
    {
        std::set<double> list = {0};
        for (size_t j = 0; j < w->job_count; j++) {
            list.insert(w->jobs[j].release_s);
            if (placed[j].positions) {
                list.insert(placed[j].start_s);
                list.insert(placed[j].end_s);
                list.insert(placed[j].done_s);
            }
        }
        for (size_t h = 0; h < w->holder_count; h++)
            if (w->holders[h].end_s < HUGE_VAL)
                list.insert(w->holders[h].end_s);
        for (size_t l = 0; l < w->limit_count; l++)
            for (size_t h = 0; h < w->limits[l].held_count; h++)
                if (w->limits[l].held[h].end_s < HUGE_VAL)
                    list.insert(w->limits[l].held[h].end_s);
        return {list.begin(), list.end()};
    }
    std::vector<size_t> set_of(size_t bits) const
    {
        std::vector<size_t> set;
        for (size_t i = 0; i < w->resource_count; i++)
            if (bits >> i & 1)
                set.push_back(i);
        return set;
    }
    // The job there, as it would be; false: it may not be there at all.
    bool make(size_t job, const std::vector<size_t> &set, size_t choice, double start_s,
              world_placed *p) const
    {
        const world_job &j = w->jobs[job];
        *p = {};
        for (size_t i : set) {
            if (!world_mask_has(j.choices[choice].mask, i) ||
                world_run_s(w, &j, i) == HUGE_VAL)
                return false;
            p->run_s = std::max(p->run_s, world_run_s(w, &j, i));
        }
        p->positions = set.data();
        p->position_count = set.size();
        p->choice = choice;
        p->start_s = start_s;
        p->done_s = start_s + p->run_s;
        p->end_s = start_s + world_held_s(w, &j, p->run_s);
        return set.size() == j.nodes;
    }
    // Nothing of the job is in an interval that is reserved as a whole.
    bool is_closed(const world_placed &p) const
    {
        for (size_t h = 0; h < w->holder_count; h++)
            for (size_t i = 0; w->holders[h].all && i < p.position_count; i++)
                if (w->holders[h].positions[0] == p.positions[i] &&
                    p.start_s >= w->holders[h].start_s && p.start_s < w->holders[h].end_s)
                    return true;
        return false;
    }
    bool fits(size_t job, const world_placed &p)
    {
        world_placed before = placed[job];
        placed[job] = p;
        bool valid = !is_closed(p) && is_valid();
        placed[job] = before;
        return valid;
    }
    // The nodes by run time, then index: the last of the ties.
    std::vector<std::pair<double, size_t>> ranks(size_t job, const world_placed &p) const
    {
        std::vector<std::pair<double, size_t>> list;
        for (size_t i = 0; i < p.position_count; i++)
            list.push_back(
                {world_run_s(w, &w->jobs[job], p.positions[i]), p.positions[i]});
        std::sort(list.begin(), list.end());
        return list;
    }
    bool is_better(size_t job, const world_placed &p, const world_placed &than) const
    {
        if (!than.positions || p.done_s != than.done_s)
            return !than.positions || p.done_s < than.done_s;
        if (p.position_count == 1)
            return p.choice == than.choice && p.positions[0] < than.positions[0];
        if (p.start_s != than.start_s || p.run_s != than.run_s)
            return std::tie(p.start_s, p.run_s) < std::tie(than.start_s, than.run_s);
        return p.choice == than.choice && ranks(job, p) < ranks(job, than);
    }
    // The least (completion, start, run, nodes) on `within`, a set of bits.
    world_placed best(size_t job, size_t within = SIZE_MAX)
    {
        world_placed found{}, p;
        for (size_t c = 0; c < w->jobs[job].choice_count; c++)
            for (size_t bits = 1; bits < size_t{1} << w->resource_count; bits++) {
                std::vector<size_t> set = set_of(bits);
                if ((bits & within) != bits || set.size() != w->jobs[job].nodes)
                    continue;
                positions.push_back(set);
                for (double start_s : starts()) {
                    if (!make(job, positions.back(), c, start_s, &p) || !fits(job, p))
                        continue;
                    if (is_better(job, p, found))
                        found = p;
                    break;
                }
            }
        return found;
    }
    // The members from `at` on fit at start_s, somehow.
    bool gang_fits(const world_group &g, size_t at, double start_s)
    {
        if (at == g.job_count)
            return true;
        size_t job = g.jobs[at];
        for (size_t bits = 1; bits < size_t{1} << w->resource_count; bits++)
            for (size_t c = 0; c < w->jobs[job].choice_count; c++) {
                world_placed p;
                positions.push_back(set_of(bits));
                if (!make(job, positions.back(), c, start_s, &p) || is_closed(p)) {
                    positions.pop_back();
                    continue;
                }
                placed[job] = p;
                bool fit = wrong_with(w, &plan) == "" && gang_fits(g, at + 1, start_s);
                placed[job] = {};
                positions.pop_back();
                if (fit)
                    return true;
            }
        return false;
    }
    double gang_start(const world_group &g)
    {
        plan.placed = placed.data();
        for (double start_s : starts())
            if (gang_fits(g, 0, start_s))
                return start_s;
        return HUGE_VAL;
    }
    // How many members the value takes, one by one; last finish, sum of finishes.
    std::tuple<size_t, double, double> pack_on(const world_group &g, size_t value)
    {
        size_t within = 0, count = 0;
        double last_s = 0, sum_s = 0;
        std::vector<bool> done(g.job_count);
        for (size_t i = 0; i < w->resource_count; i++)
            within |= size_t{group_value(w, &g, i) == value} << i;
        auto is_open = [&](size_t job) {
            for (size_t i = 0; i < g.job_count; i++)
                if (g.jobs[i] == job)
                    return !done[i];
            return false;
        };
        for (size_t i = 0, idle = 0; idle < g.job_count; i = (i + 1) % g.job_count) {
            const world_job &j = w->jobs[g.jobs[i]];
            bool due = !done[i];
            for (size_t k = 0; due && k < j.after_count; k++)
                due = !is_open(j.after[k].job);
            idle = due ? 0 : idle + 1;
            if (!due)
                continue;
            done[i] = true;
            world_placed p = best(g.jobs[i], within);
            placed[g.jobs[i]] = p;
            if (!p.positions)
                continue;
            count++;
            last_s = std::max(last_s, p.done_s);
            sum_s += p.done_s;
        }
        return {count, last_s, sum_s};
    }
    // The same on the value that is best; members have their places then.
    std::tuple<size_t, double, double> pack(const world_group &g)
    {
        std::tuple<size_t, double, double> best_of{0, 0, 0};
        std::vector<world_placed> before = placed, after = placed;
        auto more = [](auto &x, auto &than) {
            if (std::get<0>(x) != std::get<0>(than))
                return std::get<0>(x) > std::get<0>(than);
            return std::tie(std::get<1>(x), std::get<2>(x)) <
                   std::tie(std::get<1>(than), std::get<2>(than));
        };
        for (size_t i = 0, seen = 0; i < w->resource_count; i++) {
            size_t value = group_value(w, &g, i);
            if (value == WORLD_NONE || seen >> value & 1)
                continue;
            seen |= size_t{1} << value;
            auto worth = pack_on(g, value);
            if (std::get<0>(worth) && more(worth, best_of)) {
                best_of = worth;
                after = placed;
            }
            placed = before;
        }
        placed = after;
        return best_of;
    }
};

// All that is free on the board, in figures.
std::vector<double> free_on(board *b)
{
    const world *w = board_world(b);
    std::vector<double> list;
    auto add = [&](const profile &p) {
        list.insert(list.end(), p.at_s, p.at_s + p.count);
        for (size_t i = 0; i < p.count * p.amount_count; i++)
            list.push_back((double)p.free[i]);
    };
    for (size_t i = 0; i < w->resource_count; i++)
        add(b->now[i]);
    for (size_t k = w->node_amount_count; k < w->amount_count; k++)
        add(b->shared[k - w->node_amount_count].now);
    for (size_t l = 0; l < w->limit_count; l++)
        add(b->limits[l].now);
    for (size_t j = 0; b->groups && j < w->job_count; j++)
        for (size_t i = 0; i < w->resource_count; i++) {
            list.push_back((double)board_group_room(b, j, i));
            if (const profile *p = board_group_profile(b, j, i))
                add(*p);
            if (w->jobs[j].group != WORLD_NONE)
                list.push_back((double)board_pack_value(b, w->jobs[j].group));
        }
    return list;
}

} // namespace

TEST_CASE("Jobs on several nodes start together on all", "[world]")
{
    given_world g;
    for (const char *id : {"n1", "n2", "n3"})
        g.resources.push_back({.id = id, .cpus = 4});
    g.jobs = {job_of("A", 4, 10, 2), job_of("B", 4, 5, 3), job_of("C", 4, 10)};
    CHECK(placed(g) == names{"n1+n2 0-10", "n1+n2+n3 10-15", "n3 0-10"});
}

TEST_CASE("Unlike nodes on a board", "[world]")
{
    struct {
        double busy_until_s;
        std::string where;
    } cases[] = {
        {0, "n2+n4 0-20"}, {15, "n2+n4 15-35"}, {20, "n1+n2 0-40"}, {25, "n1+n2 0-40"}};
    for (auto &c : cases) {
        given_world g;
        for (double speed : {1, 2, 4})
            g.resources.push_back(
                {.id = "n" + std::to_string((int)speed), .cpus = 1, .speed = speed});
        if (c.busy_until_s > 0)
            g.holders = {
                {.id = "r", .positions = {2}, .end_s = c.busy_until_s, .cpus = 1}};
        g.jobs = {job_of("A", 1, NAN, 2)};
        g.jobs[0].estimate_ref_s = 40;
        CHECK(placed(g) == names{c.where});
    }
}

TEST_CASE("Groups follow their rules", "[world]")
{
    struct {
        const char *when;
        world_group_policy policy;
        double cpus;
        names want;
    } cases[] = {
        {"gang", GROUP_GANG, 2, {"n1 6-16", "n1 6-16", "n2 6-16"}},
        {"spread", GROUP_SPREAD, 2, {"n2 0-10", "n1 6-16", "group_spread"}},
        {"pack", GROUP_PACK, 2, {"n2 0-10", "n2 0-10", "n2 10-20"}},
        {"exclude", GROUP_EXCLUDE, 1, {"n2 0-10", "n1 6-16", "n2 10-20"}},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            given_world g = two_nodes(c.policy, c.cpus);
            CHECK(placed(g) == c.want);
        }
    given_world g = two_nodes(GROUP_SPREAD, 2);
    for (auto &j : g.jobs)
        j.group = WORLD_NONE;
    CHECK(placed(g) == names{"n2 0-10", "n2 0-10", "n1 6-16"});
}

TEST_CASE("What jobs in groups and on several nodes wait for", "[world]")
{
    given_world base;
    for (size_t i = 0; i < 3; i++)
        base.resources.push_back({.id = "n" + std::to_string(i + 1),
                                  .cpus = i == 2 ? 8.0 : 4.0,
                                  .site = i / 2});
    SECTION("fewer nodes that are large enough than it needs")
    {
        base.jobs = {job_of("a", 6, 5, 2), job_of("b", 4, 5, 4), job_of("c", 9, 5, 2)};
        CHECK(placed(base) == names{"too_few_nodes", "too_few_nodes", ""});
    }
    SECTION("both nodes would be on one site")
    {
        base.groups = {{"g", GROUP_SPREAD, GROUP_BY_SITE}};
        base.jobs = {job_of("a", 4, 5, 2), job_of("b", 4, 5, 2)};
        base.jobs[0].group = base.jobs[1].group = 0;
        base.jobs[0].only = {0, 1};
        CHECK(placed(base) == names{"group_spread", "n1+n3 0-5"});
    }
    SECTION("a gang of which one is too large, and one that does not fit at once")
    {
        base.groups = {{"g", GROUP_GANG}, {"h", GROUP_GANG}};
        base.jobs = {job_of("a", 4, 5), job_of("b", 9, 5), job_of("c", 5, 5),
                     job_of("d", 5, 5)};
        for (size_t i = 0; i < 4; i++)
            base.jobs[i].group = i / 2;
        CHECK(placed(base) == names{"group_gang", "", "group_gang", "group_gang"});
    }
    SECTION("a gang whose member waits for a job without a place")
    {
        base.groups = {{"g", GROUP_GANG}};
        base.jobs = {job_of("a", 9, 5), job_of("b", 4, 5), job_of("c", 4, 5)};
        base.jobs[1].group = base.jobs[2].group = 0;
        base.jobs[2].after = {{0, AFTER_ANY}};
        CHECK(placed(base) == names{"", "group_gang", "after_unplaced"});
    }
    SECTION("a pack of which one has no room where most are, and whoever waits for it")
    {
        base.groups = {{"g", GROUP_PACK}};
        base.jobs = {job_of("a", 8, 5), job_of("b", 4, 5), job_of("c", 4, 5),
                     job_of("d", 4, 5)};
        for (auto &j : base.jobs)
            j.group = 0;
        base.jobs[0].only = {2};
        base.jobs[1].only = base.jobs[2].only = base.jobs[3].only = {0, 1};
        base.jobs[3].after = {{0, AFTER_OK}};
        CHECK(placed(base) == names{"group_pack", "n1 0-5", "n1 5-10", "after_unplaced"});
    }
    SECTION("a pack whose members run on two nodes, and on one")
    {
        base.groups = {{"g", GROUP_PACK}};
        base.jobs = {job_of("a", 4, 5)};
        base.jobs[0].group = 0;
        base.holders = {{.id = "r", .positions = {1}, .end_s = 3, .cpus = 1, .group = 0}};
        given_world two = base;
        CHECK(placed(base) == names{"n2 3-8"});
        two.holders[0].positions = {0, 1};
        CHECK(placed(two) == names{"group_pack"});
    }
}

TEST_CASE("Members that run: spread counts them, exclude until they end", "[world]")
{
    for (auto policy : {GROUP_SPREAD, GROUP_EXCLUDE}) {
        given_world g = two_nodes(policy, 1);
        g.holders = {{.id = "r", .positions = {0}, .end_s = 6, .cpus = 1, .group = 0}};
        CHECK(placed(g) == (policy == GROUP_SPREAD
                                ? names{"n2 0-10", "group_spread", "group_spread"}
                                : names{"n2 0-10", "n1 6-16", "n2 10-20"}));
    }
}

TEST_CASE("A gang starts with the latest of releases and predecessors", "[world]")
{
    given_world g;
    g.resources = {{.id = "n1", .cpus = 4}, {.id = "n2", .cpus = 2, .speed = 2}};
    g.groups = {{"g", GROUP_GANG}};
    g.jobs = {job_of("a", 1, NAN), job_of("b", 1, NAN, 2), job_of("c", 1, 7)};
    g.jobs[0].estimate_ref_s = g.jobs[1].estimate_ref_s = 8;
    g.jobs[0].group = g.jobs[1].group = 0;
    g.jobs[0].release_s = 3;
    g.jobs[1].after = {{2, AFTER_OK}};
    given_world h = g;
    h.jobs[1].after = {{2, AFTER_START}};
    CHECK(placed(g) == names{"n2 7-11", "n1+n2 7-15", "n1 0-7"});
    CHECK(placed(h)[0] == "n2 3-7");
}

TEST_CASE("Partitions: all nodes of a job in one of them", "[world]")
{
    given_world g;
    for (double speed : {1, 1, 2, 2})
        g.resources.push_back({.id = "n" + std::to_string(g.resources.size() + 1),
                               .cpus = 1,
                               .speed = speed});
    g.jobs = {job_of("a", 1, NAN, 2)};
    g.jobs[0].estimate_ref_s = 8;
    const world *w = g.build();
    uint64_t masks[] = {0b0101, 0b1011, 0b0011};
    struct {
        std::vector<size_t> partitions;
        size_t chosen;
        std::string where;
    } cases[] = {
        {{0, 1}, 0, "n1+n3 0-8"}, {{1, 0}, 0, "n1+n4 0-8"}, {{2, 0}, 0, "n1+n2 0-8"}};
    for (auto &c : cases) {
        std::vector<world_choice> choices;
        for (size_t i : c.partitions)
            choices.push_back({"p", &masks[i], 2, nullptr, 0});
        world_job *job = const_cast<world_job *>(&w->jobs[0]);
        job->choices = choices.data();
        job->choice_count = choices.size();
        placing p;
        const world_plan *plan = p.place(w);
        CHECK(where(w, plan, 0) == c.where);
        CHECK(plan->placed[0].choice == c.chosen);
    }
}

TEST_CASE("Units go before single jobs, in request order, where no order is asked",
          "[world]")
{
    given_world g;
    g.resources = {{.id = "n1", .cpus = 2}};
    g.groups = {{"pack", GROUP_PACK}, {"gang", GROUP_GANG}};
    g.jobs = {job_of("a", 2, 1), job_of("g1", 1, 9), job_of("p1", 2, 5),
              job_of("g2", 1, 8), job_of("p2", 2, 4)};
    g.jobs[1].group = g.jobs[3].group = 1;
    g.jobs[2].group = g.jobs[4].group = 0;
    const world *w = g.build();
    size_t order[] = {4, 3, 2, 1, 0};
    placing p;
    for (world_rule rule :
         {WORLD_MIN_MIN, WORLD_MAX_MIN, WORLD_SUFFERAGE, WORLD_XSUFFERAGE})
        p.in_arena([&] {
            p.b = board_create(w, nullptr, p.a);
            world_list(p.b, rule, order, 1);
            CHECK(where_all(w, board_plan(p.b)) ==
                  names{"n1 18-19", "n1 0-9", "n1 9-14", "n1 0-8", "n1 14-18"});
        });
    p.in_arena([&] {
        p.b = board_create(w, nullptr, p.a);
        world_list(p.b, WORLD_MCT, order, 1);
        CHECK(where_all(w, board_plan(p.b)) ==
              names{"n1 18-19", "n1 9-18", "n1 0-5", "n1 9-17", "n1 5-9"});
    });
}

TEST_CASE("A gang is tried at 4,096 times, then at the last end", "[world]")
{
    // Alone each of the two could start in every second of the comb, together in none.
    given_world g;
    g.resources = {{.id = "n1", .cpus = 3}};
    g.groups = {{"g", GROUP_GANG}};
    g.jobs = {job_of("a", 2, 0.5), job_of("b", 1, 0.5)};
    g.jobs[0].group = g.jobs[1].group = 0;
    double end_s = 0;
    SECTION("fewer")
    {
        end_s = 4001;
    }
    SECTION("more: the first at which they fit is not found")
    {
        end_s = 9001;
        // From here on both would fit, but for the last second.
        g.holders.push_back({.id = "late", .positions = {0}, .end_s = 9003, .cpus = 3});
        g.holders.back().start_s = 9002;
        g.holders.back().reservation = true;
    }
    for (double t = 0; t < end_s; t++) {
        given_holder h{.id = "h", .positions = {0}, .end_s = t + 0.5, .cpus = 3};
        h.start_s = t;
        h.reservation = true;
        g.holders.push_back(h);
        h.cpus = 1;
        h.start_s = t + 0.5;
        h.end_s = t + 1;
        g.holders.push_back(h);
    }
    const world *w = g.build();
    placing p;
    const world_plan *plan = p.place(w); // too many holders for a look at each pair
    std::vector<std::string> got = where_all(w, plan);
    CHECK(got[0] == (end_s == 4001 ? "n1 4001-4001.5" : "n1 9003-9003.5"));
    CHECK(got[1].substr(2) == got[0].substr(2));
}

TEST_CASE("A budget that is spent within a unit: its members are open, nothing is taken",
          "[world]")
{
    for (auto policy : {GROUP_GANG, GROUP_PACK}) {
        struct asked {
            size_t times, most;
        } count{0, 0};
        size_t cuts = 0;
        for (count.most = 1; count.most < 40; count.most++) {
            given_world g = two_nodes(policy, 2);
            for (int i = 0; i < 40; i++)
                g.resources.push_back({.id = "m" + std::to_string(i), .cpus = 1});
            count.times = 0;
            budget limit = make_budget(
                [](void *context) {
                    asked *c = static_cast<asked *>(context);
                    return ++c->times >= c->most ? 1.0 : 0.0;
                },
                &count);
            g.budget = &limit;
            const world *w = g.build();
            placing p;
            p.in_arena([&] {
                p.b = board_create(w, nullptr, p.a);
                std::vector<double> before = free_on(p.b);
                board_place_unit(p.b, 0);
                bool cut = limit.spent;
                size_t with_place = 0;
                for (size_t j = 0; j < 3; j++)
                    with_place += board_plan(p.b)->placed[j].positions != nullptr;
                CHECK(group_wrong(w, board_plan(p.b)) == "");
                if (cut && with_place == 0) {
                    cuts++;
                    CHECK(free_on(p.b) == before);
                    CHECK(p.b->state[0] == BOARD_OPEN);
                }
            });
            if (!limit.spent)
                break;
        }
        CHECK(cuts > 0);
    }
}

TEST_CASE("Random worlds: nobody could complete earlier", "[world][property]")
{
    draws d(5051);
    size_t some = 0, several = 0, worlds = is_long_run() ? 400000 : 1000;
    for (size_t i = 0; i < worlds; i++) {
        drawn world_of(d, i % 2);
        const world *w = world_of.w;
        placing p;
        slow_plan slow(w);
        p.in_arena([&] {
            p.b = board_create(w, nullptr, p.a);
            for (size_t j = 0; j < w->job_count; j++) {
                if (board_is_unit(p.b, j) || !board_is_due(p.b, j))
                    continue;
                board_spot spot = board_best(p.b, j);
                world_placed want = {};
                if (board_release_s(p.b, j) < HUGE_VAL)
                    want = slow.best(j);
                CAPTURE(i, j, w->jobs[j].nodes, spot.start_s, want.start_s);
                REQUIRE((spot.done_s < HUGE_VAL) == (want.positions != nullptr));
                if (!want.positions) {
                    size_t on = WORLD_NONE;
                    world_wait why = board_why(p.b, j, &on);
                    CHECK(why != WORLD_WAIT_NONE);
                    board_refuse(p.b, j, why, on);
                    continue;
                }
                REQUIRE(spot.done_s == want.done_s);
                REQUIRE(std::vector<size_t>(spot.positions,
                                            spot.positions + spot.position_count) ==
                        std::vector<size_t>(want.positions,
                                            want.positions + want.position_count));
                REQUIRE(spot.start_s == want.start_s);
                REQUIRE(spot.run_s == want.run_s);
                several += w->jobs[j].nodes > 1;
                some++;
                board_take(p.b, j, &spot);
                slow.placed[j] = board_plan(p.b)->placed[j];
                REQUIRE(slow.is_valid());
            }
        });
    }
    CHECK(some > worlds);
    CHECK(several > worlds / 4);
}

TEST_CASE("Random worlds: gangs start together, packs stay together", "[world][property]")
{
    draws d(5052);
    struct {
        size_t gangs, earliest, late, missed, packs, packs_in_part;
    } count{};
    for (size_t i = 0, n = is_long_run() ? 250000 : 2500; i < n; i++) {
        drawn world_of(d, i % 4 == 0);
        const world *w = world_of.w;
        placing p;
        p.in_arena([&] {
            p.b = board_create(w, nullptr, p.a);
            for (size_t j = 0; j < w->job_count; j++) {
                if (board_plan(p.b)->placed[j].positions || !board_is_due(p.b, j) ||
                    p.b->state[j] != BOARD_OPEN)
                    continue;
                if (!board_is_unit(p.b, j)) {
                    board_spot spot = board_best(p.b, j);
                    if (spot.done_s < HUGE_VAL)
                        board_take(p.b, j, &spot);
                    continue;
                }
                const world_group &g = w->groups[w->jobs[j].group];
                slow_plan slow(w);
                for (size_t k = 0; k < w->job_count; k++)
                    slow.placed[k] = board_plan(p.b)->placed[k];
                std::vector<double> before = free_on(p.b);
                bool all = board_place_unit(p.b, j);
                std::vector<world_placed> first(w->job_count);
                size_t members = 0;
                double last_s = 0, sum_s = 0;
                for (size_t k = 0; k < g.job_count; k++) {
                    first[g.jobs[k]] = board_plan(p.b)->placed[g.jobs[k]];
                    const world_placed &m = first[g.jobs[k]];
                    members += m.positions != nullptr;
                    last_s = std::max(last_s, m.positions ? m.done_s : 0);
                    sum_s += m.positions ? m.done_s : 0;
                    if (!m.positions)
                        CHECK(m.wait != WORLD_WAIT_NONE);
                }
                CAPTURE(i, j, g.job_count, members);
                REQUIRE(all == (members == g.job_count));
                REQUIRE(wrong_with(w, board_plan(p.b)) == "");
                REQUIRE(group_wrong(w, board_plan(p.b)) == "");
                if (g.policy == GROUP_GANG) {
                    double least_s = slow.gang_start(g);
                    count.gangs++;
                    if (all) {
                        REQUIRE(first[j].start_s >= least_s);
                        (first[j].start_s == least_s ? count.earliest : count.late)++;
                    } else {
                        count.missed += least_s < HUGE_VAL;
                    }
                } else {
                    auto want = slow.pack(g);
                    REQUIRE(members == std::get<0>(want));
                    CHECK(last_s == std::get<1>(want));
                    CHECK(sum_s ==
                          Approx(std::get<2>(want)).epsilon(1e-12).margin(1e-12));
                    (all ? count.packs : count.packs_in_part)++;
                }
                // Given back, all is as before, and it is placed the same way again.
                for (size_t k = 0; k < g.job_count; k++)
                    if (first[g.jobs[k]].positions)
                        board_give(p.b, g.jobs[k]);
                    else
                        board_reopen(p.b, g.jobs[k]);
                REQUIRE(free_on(p.b) == before);
                REQUIRE(board_place_unit(p.b, j) == all);
                for (size_t k = 0; k < g.job_count; k++) {
                    const world_placed &m = board_plan(p.b)->placed[g.jobs[k]];
                    REQUIRE(m.positions == first[g.jobs[k]].positions);
                    if (m.positions)
                        REQUIRE(m.start_s == first[g.jobs[k]].start_s);
                }
            }
        });
    }
    CAPTURE(count.gangs, count.earliest, count.late, count.missed, count.packs,
            count.packs_in_part);
    CHECK(count.earliest > 100);
    CHECK(count.late + count.missed < count.earliest / 20);
    CHECK(count.packs > 100);
    CHECK(count.packs_in_part > 20);
}

TEST_CASE("Every policy: groups and several nodes, checked", "[world][property]")
{
    draws d(5053);
    size_t placed_count = 0, in_groups = 0, left_out = 0, limited = 0;
    for (size_t i = 0, n = is_long_run() ? 100000 : 1200; i < n; i++) {
        drawn world_of(d, i / 2 % 2);
        const world *w = world_of.w;
        world_rule rule = (world_rule)(i % (WORLD_XSUFFERAGE + 1));
        placing p;
        p.in_arena([&] {
            std::vector<size_t> order(w->job_count);
            for (size_t j = 0; j < order.size(); j++)
                order[j] = j;
            std::shuffle(order.begin(), order.end(), d.bits);
            p.b = board_create(w, nullptr, p.a);
            world_list(p.b, rule, order.data(), 0.5);
            const world_plan *plan = board_plan(p.b);
            size_t claim_count = 0;
            const world_claim *claims = world_claims(w, plan, &claim_count, p.a);
            struct world_check found {
            };
            world_check(w, claims, claim_count, &found, p.a);
            CAPTURE(i, rule);
            REQUIRE(found.violation_count == 0);
            REQUIRE_FALSE(plan->cut);
            REQUIRE(wrong_with(w, plan) == "");
            REQUIRE(group_wrong(w, plan) == "");
            slow_plan slow(w);
            for (size_t j = 0; j < w->job_count; j++)
                slow.placed[j] = plan->placed[j];
            for (size_t j = 0; j < w->job_count; j++) {
                placed_count += plan->placed[j].positions != nullptr;
                in_groups += plan->placed[j].positions && w->jobs[j].group != WORLD_NONE;
                if (plan->placed[j].positions)
                    continue;
                left_out++;
                REQUIRE(plan->placed[j].wait != WORLD_WAIT_NONE);
                if (board_is_unit(p.b, j))
                    continue;
                slow.placed[j] = {};
                CAPTURE(j, plan->placed[j].wait);
                REQUIRE_FALSE(slow.best(j).positions);
                if (plan->placed[j].wait == WORLD_WAIT_USER_LIMIT) { // that is true
                    world without = *w;
                    without.limit_count = 0;
                    slow.w = &without;
                    REQUIRE(slow.best(j).positions);
                    slow.w = w;
                    limited++;
                }
            }
        });
    }
    CHECK(placed_count > 1000);
    CHECK(in_groups > 500);
    CHECK(left_out > 100);
    CHECK(limited > 5);
}
