// world_bounds_test.cpp - how good any plan could be: worked examples.
#include "tests/support.hpp"
#include "tests/world_bounds_support.hpp"

static const double CLOSE = 2e-9; // bounds by prices are a billionth lower

// What the prices of each single amount prove.
struct priced {
    std::vector<double> volume, completion, flow, tardiness;
    std::vector<size_t> late;
};

static bool see_prices(void *context, bounds_field *f, const double *value,
                       const price_curve *curve)
{
    auto *seen = static_cast<priced *>(context);

    seen->volume.push_back(bounds_volume_s(f, f->by_head, f->row_count, value, curve));
    seen->completion.push_back(bounds_completion(f, value, curve, false));
    seen->flow.push_back(bounds_completion(f, value, curve, true));
    seen->tardiness.push_back(bounds_tardiness(f, value, curve));
    seen->late.push_back((size_t)bounds_late_jobs(f, value, curve));
    return false;
}

static priced price_singles(const world *w)
{
    test_arena a;
    all_placed all(w);
    bounds_field f;
    priced seen;

    REQUIRE(bounds_field_make(w, &all.plan, &f, a));
    CHECK_FALSE(prices_of_single_amounts(&f, see_prices, &seen));
    return seen;
}

// n1 (speed 1, 8 cpus, 16 memory), n2 (speed 2, 4 cpus, 8 memory, a GPU) of which 2 cpus
// and 4 memory run until 5.
static given_world two_nodes()
{
    given_world given;
    given.resources = {{"n1", 8, 16}, {"n2", 4, 8}};
    given.resources[1].speed = 2;
    given.resources[1].capacities = {{"gpus", 1}};
    given.holders = {{"r", {1}, 5, 2, 4}};
    given.jobs = {{"j1", 20, NAN, 4, 4},
                  {"j2", 12, NAN, 2, 6},
                  {"j3", 8, NAN, 4, 8},
                  {"j4", 30, NAN, 2, 2},
                  {"j5", 6, NAN, 1, 1}};
    double weights[] = {1, 3, 2, 1, 4}, deadlines[] = {15, 8, 6, 20, 5};
    for (size_t j = 0; j < 5; j++) {
        given.jobs[j].weight = weights[j];
        given.jobs[j].deadline_s = deadlines[j];
    }
    return given;
}

TEST_CASE("each job alone: heads and least completions", "[world][bounds]")
{
    given_world given = two_nodes();
    const world *w = given.build();
    test_arena a;
    all_placed all(w);
    bounds_field f;
    double done_s[] = {15, 11, 8, 15, 3};

    REQUIRE(bounds_field_make(w, &all.plan, &f, a));
    for (size_t j = 0; j < 5; j++) {
        CHECK(f.rows[j].head_s == 0);
        CHECK(f.rows[j].done_s == done_s[j]);
        CHECK(f.rows[j].least_s == w->jobs[j].estimate_ref_s / 2);
    }
}

TEST_CASE("prices of cpus and of memory on two unlike nodes", "[world][bounds]")
{
    given_world given = two_nodes();
    priced seen = price_singles(given.build());

    REQUIRE(seen.volume.size() == 2);
    CHECK(seen.volume[0] == Approx(13.875).epsilon(CLOSE));
    CHECK(seen.volume[1] == Approx(10.0625).epsilon(CLOSE));
    CHECK(seen.flow[0] == Approx(42.95703125).epsilon(CLOSE));
    CHECK(seen.flow[1] == Approx(39.9501953125).epsilon(CLOSE));
    CHECK(seen.completion[0] == Approx(63.0390625).epsilon(CLOSE));
    CHECK(seen.completion[1] == Approx(61.775390625).epsilon(CLOSE));
}

TEST_CASE("what jobs are worth and what there is until a time, on two unlike nodes",
          "[world][bounds]")
{
    given_world given = two_nodes();
    const world *w = given.build();
    test_arena a;
    all_placed all(w);
    bounds_field f;
    std::vector<std::vector<double>> seen; // of each amount: five jobs, A(5), A(6)
    auto see = [](void *context, bounds_field *, const double *value,
                  const price_curve *c) {
        auto *to = static_cast<std::vector<std::vector<double>> *>(context);
        to->emplace_back(value, value + 5);
        to->back().push_back(price_curve_area(c, 5));
        to->back().push_back(price_curve_area(c, 6));
        for (double &x : to->back())
            x /= to->size() == 1 ? 1e6 : 1; // cpus are in millionths
        return false;
    };

    REQUIRE(bounds_field_make(w, &all.plan, &f, a));
    prices_of_single_amounts(&f, see, &seen);
    const double want[2][7] = {{80, 24, 32, 60, 6, 12 * 5, 12 * 5 + 16},
                               {80, 72, 64, 60, 6, 24 * 5, 24 * 5 + 32}};
    REQUIRE(seen.size() == 2);
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < 7; i++)
            CHECK(seen[k][i] == Approx(want[k][i]).epsilon(CLOSE));
}

TEST_CASE("weighted tardiness is bounded in layers of weights", "[world][bounds]")
{
    const double layers[] = {5, 5, 3, 0}; // of the jobs of weight 1, 2, 3, 4 and more
    for (int least = 1; least <= 4; least++) {
        given_world given = two_nodes(), layer = given;
        layer.jobs.clear();
        for (const auto &job : given.jobs)
            if (job.weight >= least) {
                layer.jobs.push_back(job);
                layer.jobs.back().weight = 1;
            }
        INFO(least);
        CHECK(bound_of(layer, OBJECTIVE_WEIGHTED_TARDINESS) ==
              Approx(layers[least - 1]).epsilon(CLOSE));
    }
}

TEST_CASE("all objectives on two unlike nodes", "[world][bounds]")
{
    given_world given = two_nodes();
    const world *w = given.build();

    CHECK(bound_of(w, OBJECTIVE_MAKESPAN) == Approx(15).epsilon(CLOSE));
    CHECK(bound_of(w, OBJECTIVE_TOTAL_FLOW) == Approx(52).epsilon(CLOSE));
    CHECK(bound_of(w, OBJECTIVE_WEIGHTED_COMPLETION) == Approx(91).epsilon(CLOSE));
    CHECK(bound_of(w, OBJECTIVE_WEIGHTED_TARDINESS) == Approx(13).epsilon(CLOSE));
    brute best(w);
    CHECK(best.least(OBJECTIVE_MAKESPAN) == 20);
    CHECK(best.least(OBJECTIVE_TOTAL_FLOW) == 60);
    CHECK(best.least(OBJECTIVE_WEIGHTED_COMPLETION) == 99);
    CHECK(best.least(OBJECTIVE_WEIGHTED_TARDINESS) == 18);
    CHECK(bound_of(w, OBJECTIVE_LATE_JOBS) <= best.least(OBJECTIVE_LATE_JOBS));
    CHECK(bound_of(w, OBJECTIVE_LATE_JOBS) == 2); // j2 and j3, by their least completion
}

TEST_CASE("a named amount binds, not the slots", "[world][bounds]")
{
    given_world given;
    given.resources = {{"n", 8}};
    given.resources[0].capacities = {{"gpus", 1}};
    given.jobs = {{"a", NAN, 10}, {"b", NAN, 10}, {"c", NAN, 10}};
    for (auto &j : given.jobs)
        j.needs = {{"gpus", 1}};
    const world *w = given.build();

    CHECK(bound_of(w, OBJECTIVE_MAKESPAN) == 30);
    CHECK(price_singles(w).volume.back() == Approx(30).epsilon(CLOSE));

    given_world slots; // alone
    slots.resources = {{"n", 8}};
    slots.jobs = {{"a", NAN, 10}, {"b", NAN, 10}, {"c", NAN, 10}};
    CHECK(bound_of(slots, OBJECTIVE_MAKESPAN) == 10);
}

TEST_CASE("a shared amount binds", "[world][bounds]")
{
    given_world given;
    given.resources = {{"n1", 8}, {"n2", 8}};
    given.shared = {{"licence", 1}};
    given.jobs = {{"a", NAN, 10, 4}, {"b", NAN, 10, 4}, {"c", NAN, 10, 8}};
    given.jobs[0].needs = given.jobs[1].needs = {{"licence", 1}};
    const world *w = given.build();

    CHECK(bound_of(w, OBJECTIVE_MAKESPAN) == 20);
    CHECK(price_singles(w).volume.back() == Approx(20).epsilon(CLOSE));
    CHECK(brute(w).least(OBJECTIVE_MAKESPAN) == 20);
}

TEST_CASE("jobs on several nodes count on each", "[world][bounds]")
{
    given_world given;
    given.resources = {{"n1", 4}, {"n2", 4}, {"n3", 4}};
    given.jobs = {{"A", NAN, 10, 4}, {"B", NAN, 5, 4}, {"C", NAN, 10, 4}};
    given.jobs[0].nodes = 2;
    given.jobs[1].nodes = 3;
    const world *w = given.build();

    CHECK(price_singles(w).volume[0] == Approx(15).epsilon(CLOSE));
    CHECK(bound_of(w, OBJECTIVE_MAKESPAN) == 15);
    CHECK(brute(w).least(OBJECTIVE_MAKESPAN) == 15);
}

TEST_CASE("least completions on several unlike nodes", "[world][bounds]")
{
    struct {
        const char *when;
        double busy_until_s, head_s, done_s;
    } cases[] = {{"free", 0, 0, 20},
                 {"the fastest is soon free", 15, 0, 35},
                 {"it is worth no waiting", 20, 0, 40},
                 {"nor later", 25, 0, 40}};
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            given_world given;
            given.resources = {{"n1", 1}, {"n2", 1}, {"n4", 1}};
            given.resources[1].speed = 2;
            given.resources[2].speed = 4;
            given.jobs = {{"A", 40, NAN, 1}};
            given.jobs[0].nodes = 2;
            if (c.busy_until_s > 0)
                given.holders = {{"r", {2}, c.busy_until_s, 1}};
            const world *w = given.build();
            test_arena a;
            all_placed all(w);
            bounds_field f;

            REQUIRE(bounds_field_make(w, &all.plan, &f, a));
            CHECK(f.rows[0].head_s == c.head_s);
            CHECK(f.rows[0].done_s == c.done_s);
            CHECK(f.rows[0].least_s == 20);
            CHECK(brute(w).least(OBJECTIVE_MAKESPAN) == c.done_s);
        }
}

TEST_CASE("pigeonholes", "[world][bounds]")
{
    given_world slots;
    slots.resources = {{"a"}, {"b"}, {"c"}};
    SECTION("25 jobs of 5 s on 3 slots")
    {
        slots.jobs.assign(25, {"j", NAN, 5});
        const world *w = slots.build();
        CHECK(price_singles(w).volume[0] == Approx(125 / 3.).epsilon(CLOSE));
        CHECK(bound_of(w, OBJECTIVE_MAKESPAN) == 45);
    }
    SECTION("unlike jobs on 3 slots")
    {
        slots.jobs = {{"7", NAN, 7}, {"6", NAN, 6}, {"5", NAN, 5}, {"4", NAN, 4}};
        const world *w = slots.build();
        CHECK(price_singles(w).volume[0] == Approx(22 / 3.).epsilon(CLOSE));
        CHECK(bound_of(w, OBJECTIVE_MAKESPAN) == 9);
    }
    SECTION("needs of more than half a node")
    {
        given_world given;
        given.resources = {{"a", 10}, {"b", 10}};
        given.jobs = {
            {"1", NAN, 4, 6}, {"2", NAN, 4, 6}, {"3", NAN, 4, 6}, {"4", NAN, 5, 3}};
        const world *w = given.build();
        CHECK(price_singles(w).volume[0] == Approx(4.35).epsilon(CLOSE));
        test_arena a;
        all_placed all(w);
        bounds_field f;
        REQUIRE(bounds_field_make(w, &all.plan, &f, a));
        CHECK(bounds_pigeonhole_s(&f) == 8);
        CHECK(bounds_dual_s(&f) == Approx(6).epsilon(CLOSE)); // 12 s of whole nodes
        CHECK(bound_of(w, OBJECTIVE_MAKESPAN) == 8);
        CHECK(brute(w).least(OBJECTIVE_MAKESPAN) == 8);
    }
    SECTION("needs of more than half a shared amount")
    {
        given_world given;
        given.resources = {{"a", 10}, {"b", 10}};
        given.shared = {{"licence", 10}};
        given.jobs = {{"1", NAN, 4}, {"2", NAN, 5}, {"3", NAN, 6}};
        for (auto &j : given.jobs)
            j.needs = {{"licence", 6}};
        CHECK(bound_of(given, OBJECTIVE_MAKESPAN) == 15);
    }
}

TEST_CASE("Smith's order on a fluid machine", "[world][bounds]")
{
    given_world given;
    given.resources = {{"a"}, {"b"}};
    given.jobs = {{"1", NAN, 3}, {"2", NAN, 1}, {"3", NAN, 4}, {"4", NAN, 2}};
    given.jobs[1].weight = 2;
    given.jobs[2].weight = 3;
    const world *w = given.build();

    CHECK(price_singles(w).completion[0] == Approx(21.75).epsilon(CLOSE));
    CHECK(brute(w).least(OBJECTIVE_WEIGHTED_COMPLETION) == 23);
}

TEST_CASE("tardiness by the shortest remaining work", "[world][bounds]")
{
    given_world given;
    given.resources = {{"a"}};
    given.jobs = {{"1", NAN, 4}, {"2", NAN, 2}, {"3", NAN, 3}};
    double deadlines[] = {3, 4, 5};
    for (size_t j = 0; j < 3; j++)
        given.jobs[j].deadline_s = deadlines[j];
    const given_world again = given;
    const world *w = given.build();

    CHECK(bound_of(w, OBJECTIVE_WEIGHTED_TARDINESS) == Approx(5).epsilon(CLOSE));
    CHECK(brute(w).least(OBJECTIVE_WEIGHTED_TARDINESS) == 6);
    // The first is late alone; the others are 5 s of work until 5.
    CHECK(bound_of(w, OBJECTIVE_LATE_JOBS) == 1);
    // The completions are 2, 5 and 9 at least.
    for (double deadline : {0.5, 3.0, 6.0}) {
        double late = 0;
        for (double end : {2.0, 5.0, 9.0})
            late += std::max(0.0, end - deadline);
        given_world same = again;
        for (auto &job : same.jobs)
            job.deadline_s = deadline;
        CHECK(bound_of(same, OBJECTIVE_WEIGHTED_TARDINESS) ==
              Approx(late).epsilon(CLOSE));
    }
}

TEST_CASE("late jobs by the work until their deadlines", "[world][bounds]")
{
    // 9 s of work until 8, then 14 until 9: the longest go.
    given_world given;
    given.resources = {{"a"}};
    given.jobs = {{"1", NAN, 4}, {"2", NAN, 2}, {"3", NAN, 3}, {"4", NAN, 5}};
    double deadlines[] = {8, 8, 8, 9};
    for (size_t j = 0; j < 4; j++)
        given.jobs[j].deadline_s = deadlines[j];
    const world *w = given.build();

    CHECK(bound_of(w, OBJECTIVE_LATE_JOBS) == 2);
    CHECK(brute(w).least(OBJECTIVE_LATE_JOBS) == 2);
}

TEST_CASE("least cost and energy", "[world][bounds]")
{
    given_world given;
    given.resources = {{"p1", 8}, {"p2", 8}};
    given.resources[1].speed = 2;
    given.resources[0].price_per_s = 0.001;
    given.resources[1].price_per_s = 0.003;
    given.jobs = {{"a", 100, NAN, 4}, {"b", 100, NAN, 4}, {"c", 100, NAN, 2}};
    CHECK(bound_of(given, OBJECTIVE_COST) == Approx(0.125).epsilon(CLOSE));
    CHECK(bound_of(given, OBJECTIVE_ENERGY) == 0);
    for (auto &r : given.resources)
        r.price_per_cpu_s = 0.0001;
    CHECK(bound_of(given, OBJECTIVE_COST) == Approx(0.225).epsilon(CLOSE));
    for (auto &r : given.resources) {
        std::swap(r.price_per_s, r.power_node_w);
        std::swap(r.price_per_cpu_s, r.power_per_cpu_w);
    }
    CHECK(bound_of(given, OBJECTIVE_ENERGY) == Approx(0.225).epsilon(CLOSE));
}

TEST_CASE("least number of resources", "[world][bounds]")
{
    given_world given;
    given.resources.assign(6, {"n", 4});
    given.jobs.assign(5, {"j", NAN, 10, 4});
    CHECK(bound_of(given, OBJECTIVE_NODES_USED) == 1);

    SECTION("a job of several nodes")
    {
        given.jobs[0].nodes = 3;
        CHECK(bound_of(given, OBJECTIVE_NODES_USED) == 3);
    }
    SECTION("members that are spread")
    {
        given.groups = {{"g", GROUP_SPREAD, GROUP_BY_RESOURCE, 2}};
        for (auto &j : given.jobs)
            j.group = 0;
        CHECK(bound_of(given, OBJECTIVE_NODES_USED) == 3);
    }
    SECTION("until the end of the plan")
    {
        const world *w = given.build();
        CHECK(bounds_of(all_placed(w), {OBJECTIVE_MAKESPAN, OBJECTIVE_NODES_USED},
                        {20, 5})[1] == 3);
        CHECK(bounds_of(all_placed(w), {OBJECTIVE_MAKESPAN, OBJECTIVE_NODES_USED},
                        {10, 5})[1] == 5);
    }
}

TEST_CASE("jobs of length 0 bind nothing", "[world][bounds]")
{
    given_world given;
    given.resources = {{"n", 1}};
    given.jobs = {{"a", NAN, 10}, {"z", NAN, 0}, {"b", NAN, 10}};
    given.jobs[1].release_s = 3;
    const world *w = given.build();
    test_arena a;
    all_placed all(w);
    bounds_field f;

    REQUIRE(bounds_field_make(w, &all.plan, &f, a));
    CHECK(f.rows[1].head_s == 3);
    CHECK(f.rows[1].done_s == 3);
    CHECK(bound_of(w, OBJECTIVE_MAKESPAN) == 20);
}

TEST_CASE("amounts that are held longer than the run count by the run", "[world][bounds]")
{
    given_world given;
    given.resources = {{"n", 1}};
    given.plan_with_limit = true;
    given.jobs = {{"a", NAN, 10}, {"b", NAN, 10}};
    for (auto &j : given.jobs)
        j.time_limit_s = 100;
    const world *w = given.build();
    test_arena a;
    all_placed all(w);
    bounds_field f;

    REQUIRE(bounds_field_make(w, &all.plan, &f, a));
    CHECK(f.rows[0].done_s == 10);
    CHECK(price_singles(w).volume[0] == Approx(20).epsilon(CLOSE));
    CHECK(bound_of(w, OBJECTIVE_MAKESPAN) <= 110);
    CHECK(brute(w).least(OBJECTIVE_MAKESPAN) == 110);
}

TEST_CASE("more held of a shared amount than there is", "[world][bounds]")
{
    given_world given;
    given.resources = {{"n", 4}};
    given.shared = {{"licence", 2}};
    given.holders = {{"r", {}, 4}};
    given.holders[0].needs = {{"licence", 3}};
    given.jobs = {{"j", NAN, 2, 1}};
    given.jobs[0].needs = {{"licence", 1}};
    const world *w = given.build();
    test_arena a;
    all_placed all(w);
    bounds_field f;
    double area[3] = {0, 0, 0};
    auto see = [](void *context, bounds_field *, const double *, const price_curve *c) {
        auto *to = static_cast<double *>(context);
        to[0] = price_curve_area(c, 4);
        to[1] = price_curve_area(c, 5);
        to[2] = price_curve_time_s(c, 2e6);
        return false;
    };

    REQUIRE(bounds_field_make(w, &all.plan, &f, a));
    CHECK(f.rows[0].head_s == 4);
    CHECK(f.rows[0].done_s == 6);
    prices_of_single_amounts(&f, see, area); // the licence comes last
    CHECK(area[0] == Approx(0).margin(1));
    CHECK(area[1] == Approx(2e6).epsilon(CLOSE));
    CHECK(area[2] == Approx(5).epsilon(CLOSE));
    CHECK(price_singles(w).volume.back() == Approx(5).epsilon(CLOSE));
    CHECK(bound_of(w, OBJECTIVE_MAKESPAN) == 6);
    CHECK(brute(w).least(OBJECTIVE_MAKESPAN) == 6);
}

TEST_CASE("chains, heads and tails", "[world][bounds]")
{
    // Two chains of two on one slot: 4 s of heads, then 10 s, then 3 s of tails.
    given_world given;
    given.resources = {{"n"}, {"free", 4}};
    given.jobs = {{"a", NAN, 4}, {"b", NAN, 5}, {"c", NAN, 5}, {"d", NAN, 3}};
    given.jobs[0].only = given.jobs[3].only = {1};
    given.jobs[1].only = given.jobs[2].only = {0};
    given.jobs[1].after = given.jobs[2].after = {{0, AFTER_OK}};
    given.jobs[3].after = {{1, AFTER_OK}, {2, AFTER_ANY}};
    const world *w = given.build();
    test_arena a;
    all_placed all(w);
    bounds_field f;

    REQUIRE(bounds_field_make(w, &all.plan, &f, a));
    CHECK(f.rows[1].head_s == 4);
    CHECK(f.rows[3].done_s == 12);
    CHECK(f.rows[0].tail_s == 8);
    CHECK(f.rows[1].tail_s == 3);
    CHECK(bound_of(w, OBJECTIVE_MAKESPAN) == 17); // the volume alone says 14
    CHECK(brute(w).least(OBJECTIVE_MAKESPAN) == 17);
}

TEST_CASE("what waits for a start alone is no tail", "[world][bounds]")
{
    given_world given;
    given.resources = {{"n", 4}};
    given.jobs = {{"a", NAN, 4}, {"b", NAN, 5}};
    given.jobs[0].release_s = 2;
    given.jobs[1].after = {{0, AFTER_START}};
    const world *w = given.build();
    test_arena a;
    all_placed all(w);
    bounds_field f;

    REQUIRE(bounds_field_make(w, &all.plan, &f, a));
    CHECK(f.rows[0].tail_s == 0);
    CHECK(f.rows[1].head_s == 2);
    CHECK(f.rows[1].done_s == 7);
}

TEST_CASE("bounds stop where the value of the plan is met", "[world][bounds]")
{
    given_world given;
    given.resources = {{"n", 4}};
    given.jobs.assign(3, {"j", NAN, 7, 4});
    const world *w = given.build();
    test_arena a;
    all_placed all(w);
    world_goal goal = {{OBJECTIVE_MAKESPAN}, 1};
    struct world_worth worth = {0, {21}};
    world_bound out[OBJECTIVE_LEVELS_MAX];

    world_bounds(w, &goal, &all.plan, &worth, BOUNDS_LONGEST, out, a);
    CHECK(out[0].known);
    CHECK(out[0].value == 7);
    CHECK(out[0].by.known[BOUND_LONGEST_JOB]);
    CHECK_FALSE(out[0].by.known[BOUND_PRICED]);
    world_bounds(w, &goal, &all.plan, &worth, BOUNDS_ASCENT, out, a);
    CHECK(out[0].by.known[BOUND_PRICED]);
    CHECK_FALSE(out[0].by.known[BOUND_PIGEONHOLE]);
    CHECK(out[0].value == Approx(21).epsilon(1e-9));
    worth.value[0] = 28;
    world_bounds(w, &goal, &all.plan, &worth, BOUNDS_ASCENT, out, a);
    CHECK(out[0].by.known[BOUND_PIGEONHOLE]);
    CHECK(out[0].by.known[BOUND_DUAL_FEASIBLE]);
    CHECK(out[0].by.known[BOUND_GRAIN]);
    CHECK(out[0].value == 21);
}

TEST_CASE("bounds speak of the jobs that have a place", "[world][bounds]")
{
    given_world given;
    given.resources = {{"n", 4}};
    given.jobs = {{"a", NAN, 10, 4}, {"b", NAN, 1000, 4}, {"c", NAN, 5, 4}};
    const world *w = given.build();
    all_placed all(w);

    all.placed[1].positions = nullptr;
    CHECK(bounds_of(all, {OBJECTIVE_MAKESPAN}, {HUGE_VAL})[0] == 15);
    for (auto &p : all.placed)
        p.positions = nullptr;
    CHECK(bounds_of(all, {OBJECTIVE_MAKESPAN}, {HUGE_VAL})[0] == 0);
}

TEST_CASE("the grain of times", "[world][bounds]")
{
    struct {
        const char *when;
        double p[3], bound_s;
    } cases[] = {{"minutes", {60, 120, 60}, 120},
                 {"seconds", {7, 7, 8}, 11},
                 {"tenths", {0.1, 0.2, 0.4}, 0.4},
                 {"no grain", {0.7, 1. / 3, 0.8}, (0.7 + 1. / 3 + 0.8) / 2}};
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            given_world given;
            given.resources = {{"n", 2}};
            for (double p : c.p)
                given.jobs.push_back({"j", NAN, p, 1});
            const world *w = given.build();
            test_arena a;
            all_placed all(w);
            bounds_field f;
            REQUIRE(bounds_field_make(w, &all.plan, &f, a));
            double sum = (c.p[0] + c.p[1] + c.p[2]) / 2 * (1 - 1e-9);
            CHECK(bounds_grain_s(&f, &all.plan, sum) == Approx(c.bound_s).epsilon(CLOSE));
            all.placed[0].stage_in_s = 1; // others are not known
            CHECK(bounds_grain_s(&f, &all.plan, sum) == sum);
        }
}

// Says when it was asked often enough.
static double used_up(void *context)
{
    auto *left = static_cast<int *>(context);

    return (*left)-- > 0 ? 0.5 : 1;
}

TEST_CASE("a budget that is spent leaves what was proven", "[world][bounds]")
{
    const size_t nodes = 20, jobs = 300;
    int cut = 0;
    auto make = [](given_world &given) {
        for (size_t i = 0; i < nodes; i++) {
            given.resources.push_back({"n", 4.0 + (double)(i % 3), 16});
            given.holders.push_back({"r", {i}, 5.0 + (double)i, 2});
        }
        for (size_t j = 0; j < jobs; j++) {
            given.jobs.push_back(
                {"j", NAN, 1.0 + (double)(j % 7), 1.0 + (double)(j % 4)});
            given.jobs[j].memory = (double)(j % 5);
            given.jobs[j].deadline_s = 10;
        }
    };
    given_world whole;
    make(whole);
    const world *w = whole.build();
    for (auto o : {OBJECTIVE_MAKESPAN, OBJECTIVE_TOTAL_FLOW, OBJECTIVE_WEIGHTED_TARDINESS,
                   OBJECTIVE_LATE_JOBS, OBJECTIVE_COST, OBJECTIVE_NODES_USED}) {
        double last = bound_of(w, o);
        for (int patience = 0; patience < 12; patience += 2) {
            given_world given;
            int left = patience;
            budget b{};
            b.used = used_up;
            b.context = &left;
            make(given);
            given.budget = &b;
            CHECK(bound_of(given.build(), o) <= last * (1 + 1e-12));
            cut += b.spent;
        }
    }
    CHECK(cut > 10);
}

TEST_CASE("outputs are sent after the run", "[world][bounds]")
{
    given_world given;
    given.resources = {{"n", 4}};
    given.jobs = {{"a", NAN, 10}, {"b", NAN, 4}};
    for (auto &j : given.jobs)
        j.deadline_s = 12;
    world w = *given.build();
    std::vector<world_job> jobs(w.jobs, w.jobs + w.job_count);
    jobs[0].stage_out_s = 3;
    w.jobs = jobs.data();

    CHECK(bound_of(&w, OBJECTIVE_MAKESPAN) == 13);
    CHECK(bound_of(&w, OBJECTIVE_TOTAL_FLOW) == Approx(17).epsilon(CLOSE));
    CHECK(bound_of(&w, OBJECTIVE_WEIGHTED_TARDINESS) == Approx(1).epsilon(CLOSE));
    CHECK(bound_of(&w, OBJECTIVE_LATE_JOBS) == 1);
}

// What the ascent's prices prove of the makespan.
static double ascent_s(const world *w, double makespan_s)
{
    test_arena a;
    all_placed all(w);
    bounds_field f;
    double bound_s = 0;
    auto see = [](void *context, bounds_field *of, const double *value,
                  const price_curve *curve) {
        *static_cast<double *>(context) =
            bounds_volume_s(of, of->by_head, of->row_count, value, curve);
        return false;
    };

    REQUIRE(bounds_field_make(w, &all.plan, &f, a));
    prices_of_ascent(&f, makespan_s, see, &bound_s);
    return bound_s;
}

TEST_CASE("a mixture of prices where no single amount binds", "[world][bounds]")
{
    // Each job takes all cpus of the first node, or all memory of the second.
    struct {
        const char *when;
        size_t jobs;
    } cases[] = {{"all jobs", 40}, {"a sample of them", 5000}};
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            given_world given;
            given.resources = {{"a", 2, 100}, {"b", 100, 2}};
            given.jobs.assign(c.jobs, {"j", NAN, 5, 2, 2});
            const world *w = given.build();
            double least_s = 5 * (double)c.jobs / 2;

            for (double of : price_singles(w).volume)
                CHECK(of < 0.1 * least_s);
            double bound_s = ascent_s(w, least_s);
            CHECK(bound_s <= least_s);
            CHECK(bound_s >= 0.98 * least_s);
        }
}

TEST_CASE("more unlike resources than groups", "[world][bounds]")
{
    // Every job has a node of its own: the longest of them ends last.
    enum { NODES = 700, JOBS = 300 };
    for (bool times : {false, true})
        DYNAMIC_SECTION("rows of times: " << times)
        {
            given_world given;
            double longest_s = 0;
            for (size_t i = 0; i < NODES; i++)
                given.resources.push_back({"n", 1 + (double)i, 2000 - (double)i});
            for (size_t j = 0; j < JOBS; j++) {
                double run_s = 10 + (double)(j * 37 % 50);
                given.jobs.push_back({"j", NAN, run_s, 1 + (double)j, 5});
                if (times) {
                    given.jobs[j].estimate_s = NAN;
                    given.jobs[j].etc_s.assign(NODES, run_s);
                }
                given.resources[j].price_per_s = 2;
                given.resources[j].price_per_cpu_s = 1;
                longest_s = std::max(longest_s, run_s);
            }
            const world *w = given.build();

            for (auto work : {BOUNDS_SINGLE, BOUNDS_ALL, BOUNDS_ASCENT})
                CHECK(bound_of(w, OBJECTIVE_MAKESPAN, work, longest_s) == longest_s);
            CHECK(ascent_s(w, longest_s) <= longest_s);
            CHECK(ascent_s(w, longest_s) > 0);
            CHECK(bound_of(w, OBJECTIVE_COST) == 0); // others cost nothing
        }
}
