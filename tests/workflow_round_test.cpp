// workflow_round_test.cpp - a round of dynamic workflow scheduling, on numbers.
#include "tests/workflow_round_support.hpp"

using namespace workflow_round_support;

namespace
{

constexpr double tolerance_s = 1e-3;

struct move {
    size_t task, to;
    double after_s;
};

void check_moves(const outcome &o, const std::vector<move> &want)
{
    REQUIRE(o.moves.size() == want.size());
    for (size_t k = 0; k < want.size(); k++) {
        CAPTURE(k, o.moves[k].task, o.moves[k].to, o.moves[k].after_s);
        CHECK(o.moves[k].task == want[k].task);
        CHECK(o.moves[k].to == want[k].to);
        if (std::isnan(want[k].after_s))
            CHECK(std::isnan(o.moves[k].after_s));
        else
            CHECK(o.moves[k].after_s == Approx(want[k].after_s).margin(tolerance_s));
    }
}

// A set of its own: a finished root, the members, an idle child of them all.
std::vector<size_t> running_set(world &w, std::vector<std::pair<size_t, double>> members)
{
    size_t workflow = w.rank.size(), root = w.done(workflow);
    std::vector<size_t> ids;

    for (auto &[at, left] : members)
        ids.push_back(w.running(workflow, {root}, at, left));
    w.idle(workflow, ids);
    return ids;
}

struct example_a : world {
    size_t a, b;
    example_a()
    {
        resource(0, 2, 2);
        resource(0, 1, 2);
        resource(1, 4, 2);
        auto ids = running_set(*this, {{1, 7200}, {0, 3400}});
        a = ids[0];
        b = ids[1];
    }
};

struct example_b : world {
    size_t r, d;
    example_b()
    {
        resource(0, 2, 2);
        resource(0, 0.5, 2);
        resource(0, 1, 1);
        r = running(0, {}, 0, 4000);
        d = running_set(*this, {{1, 3000}})[0];
    }
};

} // namespace

TEST_CASE("workflows.md 11 A: the longest to the fastest, the other one below it",
          "[workflow][round]")
{
    example_a w;
    size_t a = w.a, b = w.b;

    SECTION("basic")
    {
        auto o = w.run();
        check_moves(o, {{a, 2, 5000.007}, {b, 1, 3416.002}});
        CHECK(o.moves[0].before_s == Approx(7200));
        CHECK(o.moves[1].before_s == Approx(1700));
        CHECK(o.moves[0].transfer_s == Approx(3200.007));
        CHECK(o.moves[0].from == 1);
        CHECK(o.moves[0].role == 0);
        CHECK(o.moves[1].role == 1);
        CHECK(o.moves[0].group == 1);
        CHECK(o.moves[1].group == 2);
        CHECK(o.moves[0].action == WORKFLOW_MIGRATE);
        CHECK(o.skips.empty());
    }
    SECTION("only the longest")
    {
        auto o = w.run("balanced", {{"balance", 1}});
        check_moves(o, {{a, 2, 5000.007}});
        CHECK(o.skip_of(b) == WORKFLOW_SKIP_not_longest);
    }
    SECTION("gamma 0.35: a useless move, as known")
    {
        auto o = w.run("balanced", {{"gamma", 0.35}});
        check_moves(o, {{b, 2, 4050.007}});
        CHECK(o.skip_of(a) == WORKFLOW_SKIP_no_better_resource);
    }
    SECTION("gamma 0.35, only the longest")
    {
        check_moves(w.run("balanced", {{"gamma", 0.35}, {"balance", 1}}), {});
    }
    SECTION("checkpoint and restart included")
    {
        auto o = w.run(
            "balanced",
            {{"include_checkpoint_cost", 1}, {"checkpoint_s", 2}, {"restart_s", 30}});
        check_moves(o, {{a, 2, 5032.007}, {b, 1, 3448.002}});
    }
    SECTION("re_min_s 8000")
    {
        auto o = w.run("balanced", {{"re_min_s", 8000}});
        check_moves(o, {});
        CHECK(o.skip_of(a) == WORKFLOW_SKIP_below_re_min);
        CHECK(o.skip_of(b) == WORKFLOW_SKIP_below_re_min);
        CHECK(o.skips.size() == 2);
    }
    SECTION("gamma 1")
    {
        check_moves(w.run("balanced", {{"gamma", 1}}), {});
    }
    SECTION("policies without a step 2")
    {
        check_moves(w.run("balanced_static"), {});
        check_moves(w.run("workflow_fastest"), {});
    }
    SECTION("only step 3")
    {
        check_moves(w.run("balanced", {}, WORKFLOW_STEP_START), {});
    }
}

TEST_CASE("workflows.md 11 B: a root is interrupted for a dependent", "[workflow][round]")
{
    example_b w;
    size_t r = w.r, d = w.d;

    SECTION("basic")
    {
        auto o = w.run();
        check_moves(o, {{d, 0, 1516.002}, {r, 2, 4016.002}});
        CHECK(o.moves[1].action == WORKFLOW_EVICT);
        CHECK(o.moves[1].role == 2);
        CHECK(o.moves[1].before_s == Approx(2000));
        CHECK(o.moves[0].group == o.moves[1].group);
    }
    SECTION("the root is nearly done")
    {
        check_moves(w.run("balanced", {{"re_min_s", 2500}}), {{d, 0, 3016.002}});
    }
    SECTION("no eviction")
    {
        check_moves(w.run("balanced", {{"allow_root_eviction", 0}}), {{d, 0, 3016.002}});
    }
    SECTION("the root stays where it was put lately")
    {
        w.tasks[r].pinned = true;
        check_moves(w.run(), {{d, 0, 3016.002}});
    }
    SECTION("CR2 failed")
    {
        w.resources[2].usable = false;
        check_moves(w.run(), {{d, 0, 1516.002}, {r, 1, 8016.002}});
    }
    SECTION("CR2 failed, and CR1 runs another dependent: the root has to wait")
    {
        w.resources[2].usable = false;
        size_t d2 = running_set(w, {{1, 1000}})[0];
        auto o = w.run();
        check_moves(o, {{d, 0, 1516.002}, {r, none, NAN}});
        CHECK(o.moves[1].action == WORKFLOW_POSTPONE);
        CHECK(o.skip_of(d2) == WORKFLOW_SKIP_vetoed);
        for (auto &s : o.starts)
            CHECK(s.task != r);
    }
    SECTION("the seed's rule: to the fastest")
    {
        w.resource(1, 3, 1); /* 4000/3 + 3200 is later than 4016 */
        check_moves(w.run(), {{d, 0, 1516.002}, {r, 2, 4016.002}});
        check_moves(w.run("balanced", {{"evicted_root_rule", 1}}),
                    {{d, 0, 1516.002}, {r, 3, 4000 / 3.0 + 3200.007}});
    }
    SECTION("a root without an estimate goes to the fastest")
    {
        w.tasks[r].remaining_ref_s = NAN;
        w.resource(1, 3, 1);
        check_moves(w.run(), {{d, 0, 1516.002}, {r, 3, NAN}});
    }
}

TEST_CASE("workflows.md 11 C: after a veto the next best", "[workflow][round]")
{
    world w;
    w.resource(0, 4, 2);
    w.resource(0, 1, 2);
    w.resource(0, 1.5, 1);
    size_t x = running_set(w, {{0, 4000}})[0];
    auto y = running_set(w, {{1, 3000}, {1, 1000}});
    auto o = w.run();

    check_moves(o, {{y[0], 2, 2016.002}});
    CHECK(o.skip_of(x) == WORKFLOW_SKIP_no_better_resource);
    CHECK(o.skip_of(y[1]) >= 0);

    SECTION("any_task vetoes every neighbour")
    {
        w.resources[2].n_max = 0;
        CHECK(w.run("balanced", {{"delay_rule", 1}}).skip_of(y[0]) ==
              WORKFLOW_SKIP_vetoed);
    }
}

TEST_CASE("workflows.md 11 D: groups of resources", "[workflow][round]")
{
    SECTION("the longest")
    {
        world w;
        w.resource(0, 0.5, 2);
        w.resource(0, 1, 2);
        w.resource(1, 3, 2);
        w.resource(1, 4, 2);
        size_t t = running_set(w, {{0, 8000}})[0];
        check_moves(w.run("balanced", {{"theta", 2}}), {{t, 3, 5200.007}});
        check_moves(w.run("balanced_grouped", {}), {{t, 3, 5200.007}});
    }
    SECTION("others go to a random member")
    {
        world w;
        for (double speed : {0.5, 1.0, 1.5, 2.0})
            w.resource(0, speed, 2);
        w.resource(1, 3, 2);
        w.resource(1, 4, 2);
        auto pq = running_set(w, {{5, 8000}, {3, 800}});
        check_moves(w.run("balanced", {{"theta", 2}}), {{pq[1], 1, 816.002}});
    }
}

TEST_CASE("workflows.md 11 E: ready sets", "[workflow][round]")
{
    world w;
    w.lan_mbps = 1000;
    w.lan_s = 0;
    size_t n_max = GENERATE(size_t{2}, size_t{1});
    for (double speed : {4.0, 2.0, 1.0})
        w.resource(0, speed, n_max);
    size_t root = w.done(0);
    std::vector<double> left = {6000, 2500, 1000};
    if (n_max == 1)
        left = {6000, 5000, 4000, 100};
    std::vector<size_t> t;
    for (double s : left)
        t.push_back(w.idle(0, {root}, s));
    for (size_t i : t) {
        w.tasks[i].stage_bytes = 2e9;
        w.tasks[i].stage_site = 0;
    }
    w.idle(0, t);
    auto o = w.run();

    REQUIRE(o.starts.size() == 3);
    for (size_t k = 0; k < 3; k++) {
        CHECK(o.starts[k].task == t[k]);
        CHECK(o.starts[k].resource == k);
        CHECK(o.starts[k].stage_in_s == Approx(16));
    }
    CHECK(o.starts[0].expected_s == Approx(1516));
    CHECK(o.starts[0].how == 0);
    if (n_max == 2) {
        CHECK(o.starts[1].expected_s == Approx(1266));
        CHECK(o.starts[2].expected_s == Approx(1016));
        CHECK(o.starts[1].how == 1);
        CHECK(o.carry.empty());
    } else {
        CHECK(o.starts[1].expected_s == Approx(2516));
        CHECK(o.starts[2].expected_s == Approx(4016));
        CHECK(o.starts[1].how == 3);
        CHECK(o.carry == std::vector<std::vector<size_t>>{{t[3]}});
    }
}

TEST_CASE("workflows.md 11 F: nobody becomes longer than the longest",
          "[workflow][round]")
{
    world w;
    w.lan_mbps = HUGE_VAL;
    w.lan_s = 0;
    w.resource(0, 1, 1);
    w.resource(0, 1, 1);
    w.resource(0, 0.75, 1); /* b would take 1200 s: 200 beyond the longest */
    running_set(w, {{0, 1000}, {1, 900}});
    check_moves(w.run(), {});
}

TEST_CASE("workflows.md 11 G: other sets of the moved task", "[workflow][round]")
{
    world w;
    w.resource(0, 4, 1);
    w.resource(0, 2, 1);
    w.resource(0, 1, 1);
    w.resource(0, 0.7, 1);
    size_t root = w.done(0);
    size_t x = w.running(0, {root}, 0, 4000);
    size_t i = w.running(0, {root}, 1, 600);

    SECTION("all")
    {
        size_t y = w.running(0, {root}, 2, 310), z = w.done(0, {root});
        w.idle(0, {x, i});
        w.idle(0, {i, y, z});
        auto o = w.run();
        check_moves(o, {});
        CHECK(o.skip_of(i) == WORKFLOW_SKIP_vetoed);
    }
    SECTION("x and {x, i} alone")
    {
        w.idle(0, {x, i});
        check_moves(w.run(), {{i, 3, 600 / 0.7 + 16.002}});
    }
}

TEST_CASE("first draws of the random streams", "[workflow][round]")
{
    rng pick = rng_stream(1, "workflow.group_pick");
    rng place = rng_stream(1, "workflow.random_placement");
    CHECK(rng_uniform(&pick) == Approx(0.614137).margin(1e-6));
    CHECK(rng_uniform(&place) == Approx(0.535094).margin(1e-6));
}

TEST_CASE("figure 5.2: parent sets and ready sets", "[workflow][round]")
{
    std::vector<std::vector<size_t>> parents = {{},
                                                {0},
                                                {0},
                                                {0},
                                                {0},
                                                {1},
                                                {1},
                                                {1},
                                                {1},
                                                {2, 3, 4},
                                                {4},
                                                {4},
                                                {6, 7, 8},
                                                {9, 10},
                                                {9, 10},
                                                {11},
                                                {5, 12, 13, 14, 15}};
    world w;
    for (auto &p : parents)
        w.idle(0, p);
    size_t edges = 0;
    for (auto &p : parents)
        edges += p.size();
    REQUIRE(edges == 26);

    std::vector<size_t> first{0}, list, of(17, 0), rank{0};
    for (auto &p : parents) {
        list.insert(list.end(), p.begin(), p.end());
        first.push_back(list.size());
    }
    test_arena a;
    error err = collecting_error(a);
    workflow_plain_set *sets = nullptr;
    size_t count = 0;
    bool free_root[17];
    workflow_round_sets(first.data(), list.data(), 17, of.data(), rank.data(), true,
                        &sets, &count, free_root, a, &err);
    using members = std::vector<size_t>;
    std::vector<std::pair<members, members>> want = {
        {{0}, {1, 2, 3, 4}}, {{1}, {5, 6, 7, 8}},         {{2, 3, 4}, {9}},
        {{4}, {10, 11}},     {{6, 7, 8}, {12}},           {{9, 10}, {13, 14}},
        {{11}, {15}},        {{5, 12, 13, 14, 15}, {16}}, {{16}, {}}};
    REQUIRE(count == want.size());
    for (size_t p = 0; p < count; p++) {
        CHECK(members(sets[p].members, sets[p].members + sets[p].member_count) ==
              want[p].first);
        CHECK(members(sets[p].children, sets[p].children + sets[p].child_count) ==
              want[p].second);
        CHECK(sets[p].only_roots == (p == 0));
    }
    CHECK(free_root[0]);
    CHECK(!free_root[1]);

    struct {
        members finished, ready;
    } cases[] = {{{}, {0}},
                 {{0}, {1, 2, 3, 4}},
                 {{0, 1, 4}, {2, 3, 5, 6, 7, 8, 10, 11}},
                 {{0, 1, 2, 3, 4, 6, 7}, {5, 8, 9, 10, 11}}};
    w.resource(0, 1, 100);
    for (auto &c : cases) {
        for (size_t i = 0; i < 17; i++)
            w.tasks[i].status = PLAIN_IDLE;
        for (size_t i : c.finished)
            w.tasks[i].status = PLAIN_DONE;
        auto o = w.run();
        members started;
        for (auto &s : o.starts)
            started.push_back(s.task);
        std::sort(started.begin(), started.end());
        CHECK(started == c.ready);
    }
}
