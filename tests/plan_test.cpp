// plan_test.cpp - plans of one cluster and of several, with the numbers of
// rescheduling-plans.md 5.
#include "tests/plan_support.hpp"

extern "C" {
#include "algorithms/plan/near.h"
}

using namespace plan_support;

namespace
{

using markers = std::vector<size_t>;

const seconds eight = {
    {600, 600, 600, 1500, 1500, 1500, 600, 600},
    {1500, 1500, 1500, 600, 600, 600, 1500, 1500},
    {900, 900, 900, 900, 900, 900, 900, 900},
};

struct expected {
    const char *policy;
    double total_s;
    markers at;
};

void check(const seconds &table, double cost_s, double min_interval_s,
           const std::vector<expected> &cases)
{
    for (auto &c : cases) {
        CAPTURE(c.policy, cost_s, min_interval_s);
        test_arena a;
        grid_of g({table}, cost_s);
        g.in.as_found = true;
        planned p = decide(a, g.in, c.policy, options(min_interval_s));
        REQUIRE(p.code == OK);
        CHECK(p.markers == c.at);
        CHECK(p.out.total_s == Approx(c.total_s).epsilon(1e-12));
        CHECK(p.out.warning_count == 0);
    }
}

} // namespace

TEST_CASE("eight phases, rescheduling-plans.md 5.1", "[plan]")
{
    auto all = [](double cost_s, double optimal_s, const markers &optimal,
                  double division_s, const markers &division, double incremental_s,
                  const markers &incremental, double lookahead_s,
                  const markers &lookahead) {
        check(eight, cost_s, 1200,
              {{"optimal", optimal_s, optimal},
               {"brute_force", optimal_s, optimal},
               {"genetic", optimal_s, optimal},
               {"auto", optimal_s, optimal},
               {"mcrp_optimal", optimal_s, optimal},
               {"division", division_s, division},
               {"incremental", incremental_s, incremental},
               {"incremental_lookahead", lookahead_s, lookahead},
               {"single_schedule", 7200, {8}}});
    };

    all(0, 4800, {3, 6, 8}, 4800, {3, 6, 8}, 6900, {4, 8}, 5400, {2, 4, 6, 8});
    all(300, 5400, {3, 6, 8}, 5400, {3, 6, 8}, 7500, {5, 8}, 5400, {3, 6, 8});
    all(900, 6600, {3, 6, 8}, 6600, {3, 6, 8}, 7200, {8}, 6600, {3, 6, 8});
    all(1500, 7200, {8}, 7200, {8}, 7200, {8}, 7800, {3, 6, 8});
}

TEST_CASE("a planner that found less than staying is answered by staying", "[plan]")
{
    for (auto &c :
         {expected{"incremental_lookahead", 7200, {8}}, expected{"optimal", 7200, {8}}}) {
        CAPTURE(c.policy);
        test_arena a;
        grid_of g({eight}, 1500);
        planned p = decide(a, g.in, c.policy, options(1200));
        bool worse = std::string(c.policy) != "optimal";

        REQUIRE(p.code == OK);
        CHECK(p.markers == c.at);
        CHECK(p.out.total_s == c.total_s);
        CHECK(p.out.stop_phase == 0);
        CHECK(p.out.algorithm == std::string(c.policy));
        CHECK(p.out.warning_count == (worse ? 1 : 0));
        CHECK(p.out.because ==
              std::string(worse ? "found by single_schedule: the best of "
                                  "incremental_lookahead 7800 s, single_schedule 7200 s"
                                : "found by optimal: the best of optimal 7200 s, "
                                  "single_schedule 7200 s"));
    }
}

TEST_CASE("auto names who found the plan, of equal ones who moves less", "[plan]")
{
    test_arena a;
    grid_of moves({eight}, 300), stays({eight}, 1500);
    planned p = decide(a, moves.in, "auto", options(1200));

    CHECK(p.out.algorithm == std::string("incremental_lookahead"));
    CHECK(p.out.status == DECISION_OPTIMAL);
    CHECK(
        p.out.because ==
        std::string("found by incremental_lookahead: the best of single_schedule 7200 s, "
                    "incremental 7500 s, incremental_lookahead 5400 s, division 5400 s, "
                    "optimal 5400 s"));
    p = decide(a, stays.in, "auto", options(1200));
    CHECK(p.out.algorithm == std::string("single_schedule"));
    CHECK(p.out.status == DECISION_OPTIMAL);
}

TEST_CASE("other least intervals, rescheduling-plans.md 5.1", "[plan]")
{
    check(eight, 300, 0,
          {{"optimal", 5400, {3, 6, 8}}, {"incremental", 7500, {5, 7, 8}}});
    check(eight, 300, 1500, {{"optimal", 6600, {3, 8}}});
    check(eight, 300, 2000, {{"optimal", 7200, {8}}, {"incremental", 7500, {5, 8}}});
    check(eight, 60, 2000, {{"optimal", 6960, {4, 8}}, {"incremental", 6960, {4, 8}}});

    for (auto *policy : {"optimal", "brute_force", "genetic", "division", "incremental",
                         "incremental_lookahead"}) {
        CAPTURE(policy);
        test_arena a;
        grid_of g({eight}, 300);
        planned p = decide(a, g.in, policy, options(10000));
        REQUIRE(p.code == OK);
        CHECK(p.markers == markers{8});
        CHECK(p.out.total_s == 7200);
        CHECK_FALSE(p.intervals[0].valid);
        CHECK(p.out.status == DECISION_FEASIBLE);
        REQUIRE(p.out.warning_count == 1);
        CHECK(std::string(p.out.warnings[0]).find("shorter_than_threshold") == 0);
    }
}

TEST_CASE("the incremental planner never cuts, rescheduling-plans.md 5.2", "[plan]")
{
    const seconds two = {{800, 800, 800, 3000, 3000, 3000},
                         {3000, 3000, 3000, 800, 800, 800}};

    for (double cost_s : {0.0, 300.0, 600.0})
        check(two, cost_s, 1200,
              {{"incremental", 11400, {6}},
               {"optimal", 4800 + cost_s, {3, 6}},
               {"division", 4800 + cost_s, {3, 6}},
               {"incremental_lookahead", 4800 + cost_s, {3, 6}}});
}

namespace
{

// A planner's view of the eight phases.
struct eight_phases {
    test_arena a;
    table_source source{eight};
    plan_table table{};
    plan_work work{};
    std::vector<double> option = options(1200);
    error err{};
    plan_site_in in{};

    eight_phases()
    {
        REQUIRE(plan_table_create(&source.source, 8, nullptr, &table, a, &err) == OK);
        plan_work_create(8, 200, &work, a);
        in = {&table, 1, 8, 300, option.data(), 1, "plan.genetic", &work};
    }
    double reverse_fitness(const markers &at)
    {
        bool bits[8] = {};
        for (size_t k : at)
            bits[k - 1] = true;
        plan_worth worth{};
        REQUIRE(plan_marks_worth(&in, bits, &worth));
        return 1 / plan_fitness(&worth);
    }
};

} // namespace

TEST_CASE("fitness and mutation, rescheduling-plans.md 5.1", "[plan]")
{
    eight_phases e;

    CHECK(e.reverse_fitness({1, 3, 6, 8}) == Approx(7875).epsilon(1e-12));
    CHECK(e.reverse_fitness({3, 6, 8}) == Approx(5400).epsilon(1e-12));
    CHECK(e.reverse_fitness({1, 2, 3, 4, 5, 6, 7, 8}) == Approx(15000).epsilon(1e-12));
    CHECK(e.reverse_fitness({8}) == Approx(7200).epsilon(1e-12));

    bool bits[8] = {false, false, true, false, false, true, false, true};
    REQUIRE(plan_split_and_merge(&e.in, bits));
    for (size_t k = 0; k < 8; k++)
        CHECK(bits[k] == (k == 2 || k == 5 || k == 7));
}

TEST_CASE("each interval is asked for once", "[plan]")
{
    test_arena a;
    for (auto *policy : {"genetic", "division", "optimal", "brute_force"}) {
        CAPTURE(policy);
        grid_of g({eight}, 300);
        planned p = decide(a, g.in, policy, options(1200));
        CHECK(p.out.calls <= 36);
        CHECK(p.out.calls > 1);
    }
    grid_of g({eight}, 300);
    CHECK(decide(a, g.in, "incremental", options(1200)).out.calls <= 17);
}

namespace
{
// Notes what it is asked; each question finds a slower schedule than the one before, so
// that the one that a question comes with is always better.
struct noting_source {
    std::vector<std::pair<size_t, size_t>> asked;
    plan_source source{};

    noting_source()
    {
        source.context = this;
        source.best = [](void *context, size_t first, size_t last, plan_best *out,
                         error *) {
            auto *n = static_cast<noting_source *>(context);
            size_t schedule = n->asked.size();
            double time_s = time_on(context, schedule, first, last);

            n->asked.emplace_back(first, last);
            if (out->time_s == 0 || time_s < out->time_s)
                *out = {schedule, time_s, 0, false, false};
            return OK;
        };
        source.time_on = time_on;
    }
    static double time_on(void *, size_t schedule, size_t first, size_t last)
    {
        return static_cast<double>(last - first + 1) *
               static_cast<double>(100 + schedule);
    }
};
} // namespace

TEST_CASE("intervals like those of the best plan are asked for first", "[plan]")
{
    test_arena a;
    noting_source n;
    plan_table table{};
    plan_work work{};
    error err{};
    bool is_near[6] = {false, false, false, true, false, false};

    REQUIRE(plan_table_create(&n.source, 5, nullptr, &table, a, &err) == OK);
    plan_work_create(5, 4, &work, a);
    REQUIRE(plan_near_ask(&table, 1, 1, 5, is_near, &work));
    std::vector<size_t> phases;
    for (auto &[first, last] : n.asked)
        if (phases.empty() || phases.back() != last - first + 1)
            phases.push_back(last - first + 1);
    CHECK(n.asked.size() == 15);
    CHECK(phases == std::vector<size_t>{3, 2, 4, 1, 5});
    // 1..4 was asked after 1..3 and 2..4, of which the first had the best schedule.
    CHECK(plan_table_known(&table, 1, 4)->schedule == 0);
    CHECK(plan_table_known(&table, 1, 4)->time_s == 400);
    CHECK(plan_table_known(&table, 1, 5)->time_s == 500);
    CHECK(plan_table_known(&table, 2, 5)->schedule == 1);
}

TEST_CASE("two clusters, rescheduling-plans.md 5.3", "[plan]")
{
    const std::vector<seconds> two = {
        {{700, 700, 700, 4000, 4000, 4000}, {1500, 1500, 1500, 900, 900, 900}},
        {{1000, 1000, 1000, 500, 500, 500}},
    };
    struct {
        double intra_s, inter_s, total_s;
        markers at;
        std::vector<size_t> sites;
        std::vector<plan_action> actions;
    } cases[] = {
        {120, 600, 4200, {3, 6}, {0, 1}, {PLAN_START, PLAN_INTER}},
        {120, 1500, 4920, {3, 6}, {0, 0}, {PLAN_START, PLAN_INTRA}},
        {3000, 9000, 4500, {6}, {1}, {PLAN_START}},
        {12000, 12000, 4500, {6}, {1}, {PLAN_START}},
    };
    for (auto &c : cases) {
        CAPTURE(c.intra_s, c.inter_s);
        test_arena a;
        grid_of g(two, c.intra_s, c.inter_s);
        g.in.as_found = true;
        planned p = decide(a, g.in, "incremental", options(1200));
        REQUIRE(p.code == OK);
        CHECK(p.markers == c.at);
        CHECK(p.out.total_s == Approx(c.total_s).epsilon(1e-12));
        REQUIRE(p.intervals.size() == c.sites.size());
        for (size_t i = 0; i < c.sites.size(); i++) {
            CHECK(p.intervals[i].place.site == c.sites[i]);
            CHECK(p.intervals[i].action == c.actions[i]);
            CHECK(p.intervals[i].valid);
        }
        CHECK(p.out.lower_bound_s <= p.out.total_s);
        CHECK(decide(a, g.in, "mcrp_optimal", options(1200)).out.total_s <=
              p.out.total_s * (1 + 1e-12));
    }

    test_arena a;
    grid_of alone({two[0]}, 120);
    planned p = decide(a, alone.in, "incremental", options(1200));
    CHECK(p.markers == markers{3, 6});
    CHECK(p.out.total_s == 4920);
}

TEST_CASE("a move between clusters costs what this direction costs", "[plan]")
{
    const std::vector<seconds> two = {{{100, 900}}, {{900, 100}}};

    for (double there_s : {50.0, 5000.0}) {
        test_arena a;
        grid_of g(two, 10, 0);

        g.inter = {0, there_s, 5050 - there_s, 0};
        g.in.inter_cost_s = g.inter.data();
        planned p = decide(a, g.in, "mcrp_optimal", options(0));
        REQUIRE(p.code == OK);
        CHECK(p.out.total_s == (there_s < 100 ? 250 : 1000));
    }
}

TEST_CASE("no bound is above the best plan of one cluster", "[plan]")
{
    rng r = rng_create(5);

    for (int i = 0; i < 50; i++) {
        test_arena a;
        seconds table(3, std::vector<double>(6));

        for (auto &schedule : table)
            for (double &s : schedule)
                s = (double)(1 + rng_index(&r, 50));
        grid_of g({table}, 7);
        planned best = decide(a, g.in, "optimal", options(0));
        planned one = decide(a, g.in, "single_schedule", options(0));

        INFO(i);
        REQUIRE(best.code == OK);
        REQUIRE(one.code == OK);
        CHECK(one.out.lower_bound_s <= best.out.total_s * (1 + 1e-12));
        CHECK(best.out.lower_bound_s == Approx(best.out.total_s).epsilon(1e-12));
    }
}

TEST_CASE("a stop phase is the first marker after which something moves", "[plan]")
{
    test_arena a;
    grid_of moves({eight}, 300), stays({eight}, 1500);

    CHECK(decide(a, moves.in, "optimal", options(1200)).out.stop_phase == 3);
    CHECK(decide(a, stays.in, "optimal", options(1200)).out.stop_phase == 0);

    // Best schedules X, Y, X and no cost at all: still a move at each marker.
    grid_of free_moves({eight}, 0);
    CHECK(decide(a, free_moves.in, "optimal", options(0)).out.stop_phase == 3);
}

TEST_CASE("an application that runs is moved only if that is worth it", "[plan]")
{
    test_arena a;
    grid_of g({eight}, 300);

    g.in.current = {0, 0}; // on X, the best for phases 1..3
    planned p = decide(a, g.in, "optimal", options(1200));
    CHECK(p.intervals[0].action == PLAN_KEEP);
    CHECK(p.out.total_s == 5400);
    CHECK(p.out.first.keep_s == 1800);
    CHECK(p.out.first.move_s == 2100);

    g.in.current = {0, 1}; // on Y
    p = decide(a, g.in, "optimal", options(1200));
    CHECK(p.intervals[0].action == PLAN_INTRA);
    CHECK(p.intervals[0].cost_s == 300);
    CHECK(p.out.total_s == 5700);
    CHECK(p.out.first.keep_s == 4500);

    g.in.min_saving_ratio = 0.6; // it saves 2400 of 4500 s
    p = decide(a, g.in, "optimal", options(1200));
    CHECK(p.intervals[0].action == PLAN_KEEP);
    CHECK(p.intervals[0].time_s == 4500);

    g.in.current = {0, SIZE_MAX}; // its machines are gone
    p = decide(a, g.in, "optimal", options(1200));
    CHECK(p.intervals[0].action == PLAN_INTRA);
    CHECK(p.out.first.keep_s == HUGE_VAL);

    g.in.first_phase = 4;
    p = decide(a, g.in, "optimal", options(1200));
    CHECK(p.intervals[0].first == 4);
    CHECK(p.intervals[0].place.schedule == 1);
}

TEST_CASE("a cluster that cannot run all phases takes no part", "[plan]")
{
    test_arena a;
    const seconds never = {std::vector<double>(8, HUGE_VAL)};
    grid_of g({eight, never}, 120, 300);

    planned p = decide(a, g.in, "auto", options(1200));
    REQUIRE(p.code == OK);
    REQUIRE(p.out.site_why[1] != nullptr);
    CHECK(p.out.warning_count == 1);
    CHECK(p.out.total_s < 7200);
    for (auto &i : p.intervals)
        CHECK(i.place.site == 0);

    g.in.current = {1, 0}; // it is on that cluster, which it has to leave
    p = decide(a, g.in, "auto", options(1200));
    CHECK(p.intervals[0].action == PLAN_INTER);
    CHECK(p.intervals[0].cost_s == 300);

    grid_of none({never, never}, 120, 300);
    p = decide(a, none.in, "incremental", options(1200));
    REQUIRE(p.code == OK);
    CHECK(p.out.status == DECISION_INFEASIBLE);
    CHECK(p.out.interval_count == 0);
}

TEST_CASE("brute force refuses what it cannot finish", "[plan]")
{
    test_arena a;
    grid_of g({{std::vector<double>(21, 600)}}, 300);

    CHECK(decide(a, g.in, "brute_force", options(1200)).code == ERR_INVALID);
    g.in.first_phase = 2;
    CHECK(decide(a, g.in, "brute_force", options(1200)).code == OK);
}

TEST_CASE("a plan that is cut reaches the last phase all the same", "[plan]")
{
    struct counter {
        size_t left;
        static double used(void *context)
        {
            auto *c = static_cast<counter *>(context);
            return c->left ? (c->left--, 0.5) : 1;
        }
    };
    for (const struct policy *p = plan_policies; p->name; p++)
        for (size_t sites : {1, 3})
            for (size_t left : {0, 1, 2, 3, 5, 8, 13, 21, 34}) {
                CAPTURE(p->name, sites, left);
                test_arena a;
                counter c{left};
                budget b = make_budget(counter::used, &c);
                grid_of g(std::vector<seconds>(sites, eight), 300, 400);
                g.in.budget = &b;
                planned made = decide(a, g.in, p->name, options(1200));
                REQUIRE(made.code == OK);
                REQUIRE(made.out.interval_count > 0);
                CHECK(made.markers.back() == 8);
                CHECK(std::isfinite(made.out.total_s));
                CHECK(made.out.total_s <= 9300 + 3 * 400);
                if (left < 2 && (sites > 1 || plan_site_fn_of(p)))
                    CHECK(made.out.status != DECISION_FEASIBLE);
            }
}

TEST_CASE("a plan that has not looked at all sites proves nothing", "[plan]")
{
    seconds quick = eight;

    for (auto &row : quick)
        for (double &time_s : row)
            time_s /= 2;
    for (const struct policy *p = plan_policies; p->name; p++) {
        struct counter {
            size_t left;
            static double used(void *context)
            {
                auto *c = static_cast<counter *>(context);
                return c->left ? (c->left--, 0.5) : 1;
            }
        };
        test_arena a;
        counter c{0};
        budget b = make_budget(counter::used, &c);
        grid_of g({eight, quick}, 300, 400);
        double least_s = decide(a, g.in, "optimal", options(0)).out.total_s;

        CAPTURE(p->name);
        g.in.budget = &b;
        planned made = decide(a, g.in, p->name, options(0));
        REQUIRE(made.code == OK);
        REQUIRE(made.out.interval_count > 0);
        CHECK(made.out.total_s > least_s);
        CHECK(made.out.status == DECISION_CUT);
        CHECK(!(made.out.lower_bound_s > least_s));
    }
}
