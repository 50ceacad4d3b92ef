// world_list_test.cpp - list policies on amounts over time.
#include "tests/world_plan_support.hpp"

#include <algorithm>

extern "C" {
#include "algorithms/world/board_parts.h"
#include "algorithms/world/list.h"
}

namespace
{

using texts = std::vector<std::string>;

struct listed {
    test_arena arena;
    const world *w;
    board *b;
    world_plan *plan;

    listed(given_world &given, world_rule rule, world_order order = WORLD_FIFO,
           double ratio = 1)
        : w(given.build()), b(board_create(w, nullptr, arena.a))
    {
        std::vector<size_t> jobs(w->job_count);
        world_order_jobs(w, order, jobs.data(), arena.a);
        world_list(b, rule, jobs.data(), ratio);
        plan = board_plan(b);
        CHECK(wrong_with(w, plan) == "");
    }
    texts where() const
    {
        return where_all(w, plan);
    }
};

given_world table_world()
{
    given_world g;
    g.resources = {{"n1", 8, 16}, {"n2", 4, 8}};
    g.resources[1].speed = 2;
    g.resources[1].capacities = {{"gpus", 1}};
    g.holders = {{"r", {1}, 5, 2, 4}};
    g.jobs = {{"j1", 20, NAN, 4, 4},
              {"j2", 12, NAN, 2, 6},
              {"j3", 8, NAN, 4, 8},
              {"j4", 30, NAN, 2, 2},
              {"j5", 6, NAN, 1, 1}};
    return g;
}

} // namespace

TEST_CASE("each policy's plan of the example", "[world][list]")
{
    struct {
        const char *name;
        world_rule rule;
        double makespan, flow;
        texts where, order;
    } cases[] = {
        {"olb",
         WORLD_OLB,
         30,
         74,
         {"n1 0-20", "n1 0-12", "n2 5-9", "n1 0-30", "n2 0-3"},
         {}},
        {"met",
         WORLD_MET,
         40,
         104,
         {"n2 5-15", "n2 15-21", "n2 21-25", "n2 25-40", "n2 0-3"},
         {}},
        {"mct",
         WORLD_MCT,
         30,
         68,
         {"n2 5-15", "n1 0-12", "n1 0-8", "n1 0-30", "n2 0-3"},
         {}},
        {"kpb of all",
         WORLD_KPB,
         30,
         68,
         {"n2 5-15", "n1 0-12", "n1 0-8", "n1 0-30", "n2 0-3"},
         {}},
        {"min_min",
         WORLD_MIN_MIN,
         20,
         60,
         {"n1 0-20", "n2 5-11", "n1 0-8", "n2 3-18", "n2 0-3"},
         {"j5", "j3", "j2", "j4", "j1"}},
        {"max_min",
         WORLD_MAX_MIN,
         30,
         68,
         {"n2 5-15", "n1 0-12", "n1 0-8", "n1 0-30", "n2 0-3"},
         {"j1", "j4", "j2", "j3", "j5"}},
        {"duplex",
         WORLD_DUPLEX,
         20,
         60,
         {"n1 0-20", "n2 5-11", "n1 0-8", "n2 3-18", "n2 0-3"},
         {"j5", "j3", "j2", "j4", "j1"}},
        {"sufferage",
         WORLD_SUFFERAGE,
         20,
         68,
         {"n1 0-20", "n2 5-11", "n1 0-8", "n2 0-15", "n1 8-14"},
         {"j4", "j3", "j1", "j2", "j5"}},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.name)
        {
            given_world g = table_world();
            listed l(g, c.rule);
            CHECK(l.where() == c.where);
            CHECK(makespan_of(l.w, l.plan) == c.makespan);
            CHECK(flow_of(l.w, l.plan) == c.flow);
            if (!c.order.empty())
                CHECK(order_of(l.w, l.plan) == c.order);
            CHECK_FALSE(l.plan->cut);
        }
}

TEST_CASE("kpb looks at the fastest only", "[world][list]")
{
    given_world g = table_world();
    listed l(g, WORLD_KPB, WORLD_FIFO, 0.5);
    CHECK(l.where() == texts{"n2 5-15", "n2 15-21", "n2 21-25", "n2 25-40", "n2 0-3"});
}

TEST_CASE("with one site sufferage of sites is infinite: the order counts",
          "[world][list]")
{
    given_world g = table_world(), two = table_world(), plain = table_world();
    listed one(g, WORLD_XSUFFERAGE);
    CHECK(order_of(one.w, one.plan) == texts{"j1", "j2", "j3", "j4", "j5"});
    two.resources[1].site = 1; // each a site: as sufferage
    listed l(two, WORLD_XSUFFERAGE), s(plain, WORLD_SUFFERAGE);
    CHECK(order_of(l.w, l.plan) == order_of(s.w, s.plan));
    CHECK(l.where() == s.where());
}

TEST_CASE("in a pass the one that would suffer more keeps the resource", "[world][list]")
{
    given_world g;
    g.resources = {{"a", 1}, {"b", 1}};
    g.jobs = {{"x"}, {"y"}, {"z"}};
    g.jobs[0].etc_s = {1, 2};
    g.jobs[1].etc_s = {1, 5};
    g.jobs[2].etc_s = {9, 8};
    listed l(g, WORLD_SUFFERAGE_PASS);
    CHECK(l.where() == texts{"a 1-2", "a 0-1", "b 0-8"});
    CHECK(order_of(l.w, l.plan) == texts{"y", "z", "x"});
}

TEST_CASE("orders of jobs", "[world][list]")
{
    given_world g;
    g.resources = {{"n", 8, 100}, {"m", 4}};
    g.resources[1].speed = 2;
    g.jobs = {
        {"a", 40, NAN, 1}, {"b", 20, NAN, 8}, {"c", 30, NAN, 4}, {"d", 8, NAN, 2, 100}};
    g.jobs[0].deadline_s = 30;
    g.jobs[2].deadline_s = 20;
    g.jobs[3].priority = 5;
    g.jobs[1].priority = 5;
    g.jobs[3].weight = 4;
    g.jobs[1].weight = 0;
    auto sorted = [&](world_order order) {
        test_arena arena;
        given_world copy;
        copy.resources = g.resources;
        copy.jobs = g.jobs;
        const world *w = copy.build();
        std::vector<size_t> jobs(w->job_count);
        world_order_jobs(w, order, jobs.data(), arena.a);
        std::string text;
        for (size_t j : jobs)
            text += w->jobs[j].id;
        return text;
    };
    // least run times 20, 20, 15, 4; shares 1/8, 1, 1/2, 1
    CHECK(sorted(WORLD_FIFO) == "abcd");
    CHECK(sorted(WORLD_PRIORITY) == "bdac");
    CHECK(sorted(WORLD_LONGEST) == "abcd");
    CHECK(sorted(WORLD_VOLUME) == "bcda"); // 20, 7.5, 4, 2.5
    CHECK(sorted(WORLD_DEADLINE) == "cabd");
    CHECK(sorted(WORLD_BALANCED) == "bdca"); // 4.5, 2, 1.9, 0.6
    CHECK(sorted(WORLD_SMITH) == "dacb");    // 1, 2.5, 7.5, never
    g.jobs[2].tier = 1;
    CHECK(sorted(WORLD_LONGEST) == "cabd");
    CHECK(sorted(WORLD_FIFO) == "cabd");
}

TEST_CASE("who waits for another comes back after it", "[world][list]")
{
    auto make = [] {
        given_world g;
        g.resources = {{"n", 1}};
        g.jobs = {
            {"a", NAN, 1}, {"b", NAN, 5}, {"c", NAN, 2}, {"d", NAN, 1}, {"e", NAN, 1, 2}};
        g.jobs[0].after = {{1, AFTER_OK}, {1, AFTER_START}};
        g.jobs[2].after = {{0, AFTER_OK}};
        g.jobs[3].after = {{4, AFTER_OK}};
        return g;
    };
    for (int rule = WORLD_OLB; rule <= WORLD_XSUFFERAGE; rule++) {
        given_world g = make();
        listed l(g, static_cast<world_rule>(rule));
        CAPTURE(rule);
        CHECK(l.where() == texts{"n 5-6", "n 0-5", "n 6-8", "after_unplaced", ""});
        CHECK(l.plan->placed[3].wait_on == 4);
        CHECK(order_of(l.w, l.plan) == texts{"b", "a", "c"});
    }
}

TEST_CASE("what a job waits for that has no place", "[world][list]")
{
    given_world g;
    g.resources = {{"n", 4}, {"m", 2}};
    g.shared = {{"licence", 2}};
    g.holders = {{"r", {0}, HUGE_VAL, 3}, {"s", {1}, HUGE_VAL, 2}};
    g.holders[0].end_unknown = true;
    g.holders[0].needs = {{"licence", 1}};
    g.holders[1].reservation = true;
    g.jobs = {{"a", NAN, 10, 2},  {"b", NAN, 10, 1}, {"c", NAN, 10, 1}, {"d", NAN, 10, 8},
              {"e", NAN, NAN, 1}, {"f", NAN, 10, 1}, {"g", NAN, 10, 1}, {"h", NAN, 0, 4}};
    g.jobs[2].only = {1};
    g.jobs[5].needs = {{"licence", 2}};
    g.jobs[6].needs = {{"licence", 3}};
    listed l(g, WORLD_MCT);
    CHECK(l.where() == texts{"unknown_end", "n 0-10", "reserved_for_ever", "",
                             "no_estimate", "shared_short", "shared_short", "n 0-0"});
    CHECK(l.plan->placed[0].wait_on == 0);
    CHECK(l.plan->placed[2].wait_on == 1);
    CHECK(l.plan->placed[5].wait_on == l.w->node_amount_count);
}

TEST_CASE("more taken of a shared amount than there is", "[world][list]")
{
    given_world g;
    g.resources = {{"n", 4}};
    g.shared = {{"licence", 2}};
    g.holders = {{"r", {}, 4}};
    g.holders[0].needs = {{"licence", 3}};
    g.jobs = {{"j", NAN, 2}};
    g.jobs[0].needs = {{"licence", 1}};
    listed l(g, WORLD_MCT);
    CHECK(l.where() == texts{"n 4-6"});
}

namespace
{

double time_up(void *context)
{
    return (*static_cast<int *>(context))-- > 0 ? 0 : 1;
}

} // namespace

TEST_CASE("a policy that runs out of time says so, and another goes on", "[world][list]")
{
    for (int rule = WORLD_OLB; rule <= WORLD_XSUFFERAGE; rule++) {
        given_world g;
        for (int i = 0; i < 8; i++)
            g.resources.push_back({"n", 4});
        for (int i = 0; i < 300; i++)
            g.jobs.push_back({"j", NAN, 1.0 + i % 7});
        int questions = 1;
        budget short_time = make_budget(time_up, &questions);
        g.budget = &short_time;
        listed l(g, static_cast<world_rule>(rule));
        CAPTURE(rule);
        CHECK(l.plan->cut);
        REQUIRE(l.plan->placed_count < 300);
        CHECK(l.plan->placed[l.w->job_count - 1].wait == WORLD_WAIT_OUT_OF_TIME);
        short_time = budget{};
        std::vector<size_t> jobs(l.w->job_count);
        world_order_jobs(l.w, WORLD_FIFO, jobs.data(), l.arena.a);
        world_list(l.b, WORLD_MCT, jobs.data(), 1);
        CHECK(board_plan(l.b)->placed_count == 300);
        CHECK(wrong_with(l.w, board_plan(l.b)) == "");
    }
}

namespace
{

// Small worlds with ties, zeros, whole and equal numbers.
given_world random_world(rng &r, bool coupled)
{
    given_world g;
    auto pick = [&](size_t n) { return static_cast<double>(rng_index(&r, n)); };
    size_t nodes = 1 + rng_index(&r, 5), jobs = rng_index(&r, 14);
    bool matrix = rng_index(&r, 4) == 0, whole = rng_index(&r, 2) == 0;
    auto time = [&]() { return whole ? pick(6) : 0.1 * pick(60); };

    for (size_t i = 0; i < nodes; i++) {
        g.resources.push_back({"r" + std::to_string(i), rng_index(&r, 6) ? pick(5) : NAN,
                               rng_index(&r, 3) ? pick(5) : NAN});
        g.resources.back().speed = rng_index(&r, 3) ? 1 : rng_index(&r, 8) ? 2 : 0;
        g.resources.back().site = rng_index(&r, 2);
        if (rng_index(&r, 4) == 0)
            g.resources.back().n_max = pick(4);
        if (rng_index(&r, 3) == 0)
            g.resources.back().capacities = {{"gpus", pick(3)}};
    }
    if (coupled && rng_index(&r, 2))
        g.shared = {{"licence", pick(4)}};
    for (size_t i = rng_index(&r, 5); i > 0; i--) {
        given_holder h{"h", {rng_index(&r, nodes)}, HUGE_VAL, pick(3), pick(3)};
        h.reservation = rng_index(&r, 2);
        h.start_s = h.reservation ? time() : 0;
        h.end_s = rng_index(&r, 6) ? h.start_s + time() : HUGE_VAL;
        h.all = h.reservation && rng_index(&r, 2);
        if (!g.shared.empty() && rng_index(&r, 2))
            h.needs = {{"licence", pick(3)}};
        g.holders.push_back(h);
    }
    for (size_t i = 0; i < jobs; i++) {
        given_job j{"j" + std::to_string(i)};
        j.cpus = rng_index(&r, 3) ? 1 + pick(4) : 0.5;
        j.memory = pick(4);
        if (matrix)
            for (size_t k = 0; k < nodes; k++)
                j.etc_s.push_back(rng_index(&r, 6) ? time() : HUGE_VAL);
        else if (rng_index(&r, 2))
            j.estimate_ref_s = time();
        else if (rng_index(&r, 20))
            j.estimate_s = time();
        if (rng_index(&r, 3) == 0)
            j.time_limit_s = 0.1 + time();
        if (rng_index(&r, 4) == 0)
            j.release_s = time();
        if (rng_index(&r, 6) == 0)
            j.exclusive = true;
        if (rng_index(&r, 4) == 0)
            j.needs["gpus"] = pick(3);
        if (!g.shared.empty() && rng_index(&r, 2))
            j.needs["licence"] = pick(3);
        if (coupled && i > 0 && rng_index(&r, 3) == 0)
            j.after.push_back(
                {rng_index(&r, i), static_cast<world_after_kind>(rng_index(&r, 3))});
        if (rng_index(&r, 4) == 0)
            j.only = {rng_index(&r, nodes)};
        g.jobs.push_back(j);
    }
    g.plan_with_limit = rng_index(&r, 3) == 0;
    return g;
}

// Jobs that are copies of others.
void repeat_jobs(given_world &g, rng &r)
{
    for (size_t i = 1; i < g.jobs.size(); i++)
        if (rng_index(&r, 3)) {
            g.jobs[i] = g.jobs[rng_index(&r, i)];
            g.jobs[i].id = "j" + std::to_string(i);
        }
}

// Jobs of several nodes.
void widen_jobs(given_world &g, rng &r)
{
    for (auto &j : g.jobs) {
        j.nodes = rng_index(&r, 3)
                      ? 1 + rng_index(&r, std::min<size_t>(4, g.resources.size()))
                      : 1;
        if (j.nodes > 1)
            j.only.clear();
    }
}

// So many resources that bounds are kept: copies of those that there are.
void repeat_resources(given_world &g, rng &r, size_t count)
{
    while (g.resources.size() < count) {
        size_t from = rng_index(&r, g.resources.size());
        g.resources.push_back(g.resources[from]);
        g.resources.back().id = "r" + std::to_string(g.resources.size() - 1);
        g.resources.back().site = rng_index(&r, 3);
        for (auto &j : g.jobs) {
            if (!j.etc_s.empty())
                j.etc_s.push_back(j.etc_s[from]);
            if (!j.only.empty() && rng_index(&r, 2))
                j.only.push_back(g.resources.size() - 1);
        }
    }
}

// Everything by looking at everything.
struct full_scan {
    board *b;
    const world *w;
    size_t rule;

    board_spot best(size_t job, double *rival) const
    {
        board_spot best = board_nowhere();
        *rival = HUGE_VAL;
        if (w->jobs[job].nodes > 1)
            return board_best(b, job);
        for (size_t i = 0; i < w->resource_count; i++) {
            board_spot s = board_fit(b, job, 0, i, 0, HUGE_VAL);
            if (s.done_s < best.done_s)
                best = s;
        }
        for (size_t i = 0; i < w->resource_count && best.positions; i++) {
            bool other = rule == WORLD_XSUFFERAGE
                             ? w->resources[i].site != w->resources[*best.positions].site
                             : i != *best.positions;
            if (other)
                *rival = std::min(*rival, board_fit(b, job, 0, i, 0, HUGE_VAL).done_s);
        }
        return best;
    }
    double key(const board_spot &s, double rival) const
    {
        if (rule == WORLD_MIN_MIN)
            return s.done_s;
        if (rule == WORLD_MAX_MIN)
            return -s.done_s;
        if (rule == WORLD_MCT)
            return 0;
        return rival < HUGE_VAL ? s.done_s - rival : -HUGE_VAL;
    }
    void run()
    {
        for (;;) {
            size_t chosen = WORLD_NONE;
            board_spot there = board_nowhere();
            double least = HUGE_VAL;
            for (size_t j = 0; j < w->job_count; j++) {
                double rival;
                if (b->state[j] != BOARD_OPEN || !board_is_due(b, j))
                    continue;
                board_spot s = best(j, &rival);
                if (s.done_s < HUGE_VAL &&
                    (chosen == WORLD_NONE || key(s, rival) < least)) {
                    chosen = j;
                    there = s;
                    least = key(s, rival);
                } else if (s.done_s == HUGE_VAL) {
                    board_refuse(b, j, WORLD_WAIT_NONE, WORLD_NONE);
                    j = WORLD_NONE; // whoever waits for it has its turn: from the start
                    chosen = WORLD_NONE;
                }
            }
            if (chosen == WORLD_NONE)
                return;
            board_take(b, chosen, &there);
        }
    }
};

} // namespace

namespace
{

void compare_with_full_scan(given_world &g, size_t rule)
{
    listed l(g, static_cast<world_rule>(rule));
    texts fast = l.where(), order = order_of(l.w, l.plan);
    for (auto &t : fast)
        if (t.find(' ') == std::string::npos)
            t = "";
    board *b = board_create(l.w, nullptr, l.arena.a);
    full_scan{b, l.w, rule}.run();
    REQUIRE(where_all(l.w, board_plan(b)) == fast);
    REQUIRE(order_of(l.w, board_plan(b)) == order);
}

} // namespace

TEST_CASE("policies are what a look at everything says", "[world][list][property]")
{
    rng r = rng_stream(11, "world.list");
    for (int round = 0; round < (is_shorter() ? 2000 : 20000); round++) {
        given_world g = random_world(r, true);
        size_t rule = rng_index(&r, 5);
        rule = rule == 0   ? WORLD_MCT
               : rule == 1 ? WORLD_MIN_MIN
               : rule == 2 ? WORLD_MAX_MIN
               : rule == 3 ? WORLD_SUFFERAGE
                           : WORLD_XSUFFERAGE;
        CAPTURE(round, rule);
        compare_with_full_scan(g, rule);
    }
}

TEST_CASE("copies of jobs, and more resources than are looked at one by one",
          "[world][list][property]")
{
    static const size_t rules[] = {WORLD_MIN_MIN, WORLD_MAX_MIN, WORLD_SUFFERAGE,
                                   WORLD_XSUFFERAGE};
    rng r = rng_stream(13, "world.list");
    for (int round = 0; round < (is_shorter() ? 1000 : 10000); round++) {
        given_world g = random_world(r, true);
        size_t rule = rules[rng_index(&r, 4)];
        repeat_jobs(g, r);
        if (rng_index(&r, 2))
            repeat_resources(g, r, 16 + rng_index(&r, 24));
        CAPTURE(round, rule);
        compare_with_full_scan(g, rule);
    }
}

TEST_CASE("jobs of several nodes are chosen as by a look at everything",
          "[world][list][property]")
{
    static const size_t rules[] = {WORLD_MIN_MIN, WORLD_MAX_MIN, WORLD_SUFFERAGE,
                                   WORLD_XSUFFERAGE};
    rng r = rng_stream(14, "world.list");
    for (int round = 0; round < (is_shorter() ? 1000 : 10000); round++) {
        given_world g = random_world(r, true);
        size_t rule = rules[rng_index(&r, 4)];
        if (rng_index(&r, 2))
            repeat_jobs(g, r);
        if (rng_index(&r, 2))
            repeat_resources(g, r, 4 + rng_index(&r, 12));
        widen_jobs(g, r);
        CAPTURE(round, rule);
        compare_with_full_scan(g, rule);
    }
}

namespace
{

// What a policy counts as work on 60 unlike nodes and 160 jobs, half of several nodes.
double work_of(world_rule rule)
{
    const int64_t much = int64_t{1} << 60;
    rng r = rng_stream(15, "world.list");
    given_world g;
    for (size_t i = 0; i < 60; i++) {
        g.resources.push_back({"n" + std::to_string(i), 8});
        g.resources.back().speed = 0.5 + 0.01 * static_cast<double>(rng_index(&r, 150));
    }
    for (size_t i = 0; i < 160; i++) {
        g.jobs.push_back({"j" + std::to_string(i),
                          1 + static_cast<double>(rng_index(&r, 1000)), NAN,
                          1 + static_cast<double>(rng_index(&r, 8))});
        g.jobs.back().nodes = i % 2 ? 2 + rng_index(&r, 6) : 1;
    }
    budget counter{};
    counter.left = much;
    g.budget = &counter;
    listed l(g, rule);
    REQUIRE(l.plan->placed_count == 160);
    return static_cast<double>(much - counter.left);
}

} // namespace

// A job that is looked at anew after each placement makes tens of times the work of mct.
TEST_CASE("jobs of several nodes are not all looked at again after each placement",
          "[world][list]")
{
    double mct = work_of(WORLD_MCT);
    CHECK(work_of(WORLD_SUFFERAGE) / mct < 4);
    CHECK(work_of(WORLD_MAX_MIN) / mct < 12);
}

TEST_CASE("every policy's plan is valid and places whatever can have a place",
          "[world][list][property]")
{
    rng r = rng_stream(12, "world.list");
    for (int round = 0; round < (is_shorter() ? 3000 : 30000); round++) {
        given_world g = random_world(r, true);
        auto rule = static_cast<world_rule>(rng_index(&r, 10));
        auto order = static_cast<world_order>(rng_index(&r, 7));
        CAPTURE(round, rule, order);
        listed l(g, rule, order, 0.3);
        REQUIRE(wrong_with(l.w, l.plan) == "");
        REQUIRE_FALSE(l.plan->cut);
        board *b = board_create(l.w, nullptr, l.arena.a);
        full_scan{b, l.w, WORLD_MCT}.run();
        // Who comes late where all is reserved for ever from some time on finds nothing.
        bool always = std::none_of(g.holders.begin(), g.holders.end(), [](auto &h) {
            return h.start_s > 0 && h.end_s == HUGE_VAL;
        });
        if (always)
            REQUIRE(board_plan(b)->placed_count == l.plan->placed_count);
        for (size_t i = l.plan->placed_count; i-- > 0;)
            board_give(l.b, l.plan->sequence[i]);
        for (size_t i = 0; i < l.w->resource_count; i++) {
            REQUIRE(l.b->now[i].count == l.b->empty[i].count);
            REQUIRE(std::equal(l.b->now[i].at_s, l.b->now[i].at_s + l.b->now[i].count,
                               l.b->empty[i].at_s));
            REQUIRE(std::equal(l.b->now[i].free,
                               l.b->now[i].free + l.b->now[i].count * l.b->row_count,
                               l.b->empty[i].free));
        }
    }
}
