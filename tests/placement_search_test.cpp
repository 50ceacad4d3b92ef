// placement_search_test.cpp - searches against list policies, bounds and brute force.
//
//     build/release/tests/gridplan_tests '[search_torture]'
//
// runs 10,000 instances instead of a few hundred.
#include "tests/placement_support.hpp"
#include "tests/torture.hpp"

extern "C" {
#include "algorithms/placement/verify.h"
}

namespace
{

const char *const list_policies[] = {"mct",     "met",     "olb",       "kpb",
                                     "min_min", "max_min", "sufferage", "sufferage_pass",
                                     "duplex"};

// Times with exact zeros, ties and equal rows; some pairs that cannot be.
struct instance {
    size_t jobs, hosts;
    std::vector<std::vector<double>> time_s;
    std::vector<std::vector<double>> free_s; // by host: of each slot
};

double draw(rng &r, unsigned style)
{
    switch (style % 5) {
    case 0:
        return static_cast<double>(rng_index(&r, 4)); // many zeros and ties
    case 1:
        return rng_index(&r, 3) ? 1 + static_cast<double>(rng_index(&r, 20)) : 0;
    case 2:
        return 0.1 * static_cast<double>(1 + rng_index(&r, 30));
    case 3:
        return 60 * rng_uniform(&r);
    default:
        return rng_index(&r, 8) ? 5 : 40;
    }
}

instance random_instance(uint64_t seed, size_t jobs_max, size_t hosts_max)
{
    rng r = rng_create(seed);
    unsigned style = static_cast<unsigned>(rng_index(&r, 5));
    bool equal = rng_index(&r, 4) == 0, related = rng_index(&r, 4) == 0;
    instance x{1 + rng_index(&r, jobs_max), 1 + rng_index(&r, hosts_max), {}, {}};
    for (size_t k = 0; k < x.hosts; k++) {
        std::vector<double> slots(1 + rng_index(&r, 2) * rng_index(&r, 2), 0.0);
        for (double &s : slots)
            s = rng_index(&r, 3) ? 0 : draw(r, style);
        x.free_s.push_back(slots);
    }
    for (size_t i = 0; i < x.jobs; i++) {
        std::vector<double> row;
        double base = draw(r, style);
        for (size_t k = 0; k < x.hosts; k++)
            row.push_back(related ? base : draw(r, style));
        if (rng_index(&r, 3) == 0)
            row[rng_index(&r, row.size())] = NAN;
        if (equal && i > 0)
            row = x.time_s[0];
        x.time_s.push_back(row);
    }
    return x;
}

void make_world(world &w, const instance &x)
{
    for (size_t k = 0; k < x.hosts; k++) {
        resource &h = w.host("r" + std::to_string(k));
        std::vector<double> busy;
        for (double s : x.free_s[k])
            if (s > 0)
                busy.push_back(s);
        h.n_max = static_cast<double>(x.free_s[k].size());
        if (!busy.empty())
            w.busy(h, busy);
    }
    for (size_t i = 0; i < x.jobs; i++)
        w.row("j" + std::to_string(i), x.time_s[i]);
}

// Least makespan of the jobs that can run at all, over all assignments to slots.
double brute_force_s(const instance &x, size_t job,
                     std::vector<std::vector<double>> &load, double end_s, double best_s)
{
    bool placed = false;
    if (end_s >= best_s)
        return best_s;
    if (job == x.jobs)
        return end_s;
    for (size_t k = 0; k < x.hosts; k++) {
        double time_s = x.time_s[job][k];
        if (std::isnan(time_s))
            continue;
        placed = true;
        for (double &l : load[k]) {
            double before_s = l;
            l += time_s;
            best_s = brute_force_s(x, job + 1, load, std::max(end_s, l), best_s);
            l = before_s;
        }
    }
    return placed ? best_s : brute_force_s(x, job + 1, load, end_s, best_s);
}

double best_s(const instance &x)
{
    auto load = x.free_s;
    return brute_force_s(x, 0, load, 0, HUGE_VAL);
}

void check_bounds(const placement_out &out, double least_s)
{
    for (size_t k = 0; k < out.bound_count; k++) {
        INFO(bound_kind_names[out.bounds[k].kind]);
        CHECK(out.bounds[k].value_s <= least_s * (1 + 1e-9));
        CHECK((k == 0 || out.bounds[k].value_s <= out.bounds[k - 1].value_s));
    }
    if (out.bound_count)
        CHECK(out.objective.lower_bound_s == out.bounds[0].value_s);
    if (out.status == DECISION_OPTIMAL)
        CHECK(out.objective.makespan_s <= out.objective.lower_bound_s * (1 + 1e-9));
}

// The search against every list policy; bounds against the best that is known.
void torment(uint64_t seed)
{
    bool tiny = seed % 2;
    instance x = random_instance(seed, tiny ? 6 : 40, tiny ? 3 : 9);
    double least_s = tiny ? best_s(x) : HUGE_VAL;
    std::vector<placement_out> outs;
    std::deque<test_arena> arenas;
    std::deque<world> worlds;
    INFO("seed " << seed << ": " << x.jobs << " jobs, " << x.hosts << " hosts");
    auto run = [&](const char *policy, const std::vector<named_value> &options) {
        arenas.emplace_back();
        worlds.emplace_back();
        make_world(worlds.back(), x);
        outs.push_back(decided(worlds.back(), policy, arenas.back(), options));
        CHECK_FALSE(outs.back().check_failed);
        least_s = std::min(least_s, outs.back().objective.makespan_s);
    };
    run("search", {option("max_steps", 60.0)});
    run("auto", {});
    for (const char *policy : list_policies)
        run(policy, {});
    double search_s = outs[0].objective.makespan_s, auto_s = outs[1].objective.makespan_s;
    for (size_t k = 2; k < outs.size(); k++) {
        std::string name = list_policies[k - 2];
        INFO(name);
        CHECK(outs[k].placement_count == outs[0].placement_count);
        CHECK(search_s <= outs[k].objective.makespan_s * (1 + 1e-12));
        if (name == "mct" || name == "min_min" || name == "max_min" ||
            name == "sufferage")
            CHECK(auto_s <= outs[k].objective.makespan_s * (1 + 1e-12));
    }
    for (auto &out : outs)
        check_bounds(out, least_s);
    if (tiny) {
        CHECK(search_s == Approx(least_s).epsilon(1e-9));
        CHECK((outs[0].status == DECISION_OPTIMAL || outs[0].placement_count < x.jobs ||
               x.jobs > 20));
    }
}

void equal_jobs(world &w, size_t jobs, size_t hosts, double time_s, bool matrix)
{
    for (size_t k = 0; k < hosts; k++)
        w.host("r" + std::to_string(k));
    for (size_t i = 0; i < jobs; i++)
        if (matrix)
            w.row("j" + std::to_string(i), std::vector<double>(hosts, time_s));
        else
            w.task("j" + std::to_string(i), time_s);
}

void random_matrix(world &w, uint64_t seed, size_t jobs, size_t hosts)
{
    rng r = rng_create(seed);
    for (size_t k = 0; k < hosts; k++)
        w.host("r" + std::to_string(k));
    for (size_t i = 0; i < jobs; i++) {
        std::vector<double> row;
        double base = 1 + 2999 * rng_uniform(&r);
        for (size_t k = 0; k < hosts; k++)
            row.push_back(base * (1 + 999 * rng_uniform(&r)));
        w.row("j" + std::to_string(i), row);
    }
}

// A clock that has run out after being asked so often.
double countdown(void *context)
{
    double *left = static_cast<double *>(context);
    return *left <= 0 ? 2 : ((*left)--, 0.3);
}

std::string plan_of(const placement_out &out)
{
    return plan_text(out) + " " + std::to_string(out.objective.makespan_s);
}

} // namespace

TEST_CASE("no search is worse than a list policy, no bound above a plan",
          "[placement][property]")
{
    for (uint64_t seed = 1; seed <= 240; seed++)
        torment(seed);
}

TEST_CASE("the same, ten thousand times", "[.][search_torture]")
{
    torture(1001, 10000, torment);
}

TEST_CASE("list policies prove what grain and pigeonhole prove", "[placement]")
{
    for (bool matrix : {false, true})
        for (const char *policy : {"mct", "min_min", "max_min", "sufferage", "search"}) {
            struct {
                size_t jobs, hosts;
                double time_s, optimum_s;
                bound_kind kind;
            } cases[] = {{25, 3, 5, 45, BOUND_GRAIN},
                         {4, 3, 6, 12, BOUND_GRAIN},
                         {3, 2, 5, 10, BOUND_GRAIN}};
            for (auto &c : cases) {
                world w;
                test_arena a;
                INFO(policy << " " << c.jobs << (matrix ? " rows" : " estimates"));
                equal_jobs(w, c.jobs, c.hosts, c.time_s, matrix);
                placement_out out = decided(w, policy, a);
                CHECK(out.objective.makespan_s == c.optimum_s);
                CHECK(out.objective.lower_bound_s == c.optimum_s);
                CHECK(out.status == DECISION_OPTIMAL);
                CHECK(out.bounds[0].kind == c.kind);
            }
        }
}

TEST_CASE("the bound of list policies is the search's", "[placement]")
{
    world w, v;
    test_arena a;
    random_matrix(w, 4, 400, 24);
    random_matrix(v, 4, 400, 24);
    placement_out search = decided(w, "search", a, {option("max_steps", 5.0)});
    placement_out list = decided(v, "min_min", a);
    double priced_s = 0;
    for (size_t k = 0; k < search.bound_count; k++)
        if (search.bounds[k].kind == BOUND_PRICED)
            priced_s = search.bounds[k].value_s;
    CHECK(list.objective.lower_bound_s == Approx(priced_s).epsilon(5e-4));
}

TEST_CASE("a search that the clock cut is repeated by steps, effort and start",
          "[placement]")
{
    for (bool matrix : {true, false})
        for (double asked : {2.0, 30.0, 60.0, 150.0}) {
            world w, v;
            test_arena a;
            for (world *x : {&w, &v}) {
                random_matrix(*x, 9, 120, 10);
                for (resource &h : x->resources)
                    h.cpus = matrix ? NAN : 2;
            }
            double left = asked;
            w.limits = make_budget(countdown, &left);
            w.in.time_limit_given = true;
            w.in.time_limit_s = 1;
            placement_out cut = decided(w, "search", a);
            INFO((matrix ? "matrix " : "orders ") << asked);
            CHECK(cut.status == DECISION_CUT);
            if (!cut.best_list)
                continue;
            if (cut.steps == 0) {
                CHECK(cut.objective.makespan_s == cut.best_list->value);
                continue;
            }
            placement_out again =
                decided(v, "search", a,
                        {option("max_steps", static_cast<double>(cut.steps)),
                         option("bound_effort", cut.bound_effort),
                         option("start", cut.best_list->algorithm)});
            CHECK(plan_of(again) == plan_of(cut));
            CHECK(again.steps == cut.steps);
            CHECK(again.improvement_count == cut.improvement_count);
        }
}

TEST_CASE("a search says what it is compared with and when it improved", "[placement]")
{
    world w;
    test_arena a;
    random_matrix(w, 3, 100, 8);
    placement_out out = decided(w, "search", a, {option("max_steps", 400.0)});
    REQUIRE(out.best_list != nullptr);
    CHECK(out.best_list->value > out.objective.makespan_s);
    CHECK(std::string(out.bound_effort) == "full");
    REQUIRE(out.improvement_count > 0);
    CHECK(out.improved_at_steps[out.improvement_count - 1].value ==
          Approx(out.objective.makespan_s));
    CHECK(out.improved_at_steps[out.improvement_count - 1].steps <= out.steps);
}

TEST_CASE("auto is a portfolio that says what it tried", "[placement]")
{
    world w;
    test_arena a;
    random_matrix(w, 5, 60, 6);
    placement_out out = decided(w, "auto", a);
    CHECK(std::string(out.algorithm) == "search");
    for (const char *name : {"mct", "sufferage", "max_min", "min_min", "mct longest"})
        CHECK(std::string(out.because).find(name) != std::string::npos);
    CHECK(out.objective.makespan_s <= decided(w, "min_min", a).objective.makespan_s);
    CHECK(plan_of(decided(w, "auto", a)) == plan_of(out));
}

TEST_CASE("a list policy leaves the last fifth of its time to mct", "[placement]")
{
    for (const char *policy : {"max_min", "sufferage", "min_min", "mct"}) {
        world w;
        test_arena a;
        random_matrix(w, 6, 600, 30);
        struct clock {
            double asked;
        } clock{0};
        w.limits.context = &clock;
        w.limits.used = [](void *c) {
            double asked = ++static_cast<struct clock *>(c)->asked;
            return asked < 3 ? 0.1 : 0.85;
        };
        w.in.time_limit_given = true;
        w.in.time_limit_s = 1;
        placement_out out = decided(w, policy, a);
        INFO(policy);
        CHECK(out.placement_count == 600);
        bool stopped = std::string(policy) != "mct";
        CHECK((out.status == DECISION_CUT) == stopped);
        CHECK(has_warning(out, "not_repeatable") == stopped);
    }
}

TEST_CASE("a search starts from the plan that it is given", "[placement]")
{
    world w, v;
    test_arena a;
    std::vector<placement_initial> rows;
    random_matrix(w, 8, 60, 5);
    random_matrix(v, 8, 60, 5);
    placement_out best = decided(w, "search", a, {option("max_steps", 20000.0)});
    for (size_t i = 0; i < best.placement_count; i++)
        rows.push_back({best.placements[i].job_id, best.placements[i].resource_id,
                        static_cast<double>(best.placements[i].slot),
                        best.placements[i].start_s, nullptr, 0, nullptr, 0});
    v.in.initial = rows.data();
    v.in.initial_count = rows.size();
    placement_out out = decided(v, "search", a, {option("max_steps", 1.0)});
    CHECK(out.objective.makespan_s <= best.objective.makespan_s * (1 + 1e-12));
    CHECK_FALSE(has_warning(out, "initial_refused"));

    SECTION("two jobs at once are no plan")
    {
        for (auto &row : rows)
            row.start_s = 0;
        out = decided(v, "search", a, {option("max_steps", 1.0)});
        CHECK(has_warning(out, "initial_refused"));
    }
    SECTION("mistakes are named")
    {
        placement_out bad{};
        error err = collecting_error(a);
        rows[1].job_id = rows[0].job_id;
        rows[2].resource_id = "nowhere";
        CHECK(decide(v, "search", bad, a, err) == ERR_INVALID);
        CHECK(err.item_count == 2);
        rows.pop_back();
        rows[1].job_id = best.placements[1].job_id;
        rows[2].resource_id = best.placements[2].resource_id;
        v.in.initial_count = rows.size();
        err = collecting_error(a);
        CHECK(decide(v, "search", bad, a, err) == ERR_INVALID);
        CHECK(std::string(err.field) == "/initial");
    }
    SECTION("a list policy cannot")
    {
        placement_out bad{};
        error err = collecting_error(a);
        CHECK(decide(v, "mct", bad, a, err) == ERR_INVALID);
        CHECK(std::string(err.field) == "/initial");
    }
}

TEST_CASE("the checker finds what is wrong with a plan", "[placement]")
{
    world w;
    test_arena a;
    error err = collecting_error(a);
    placement_problem p{};
    std::vector<double> common(COMMON_COUNT);
    for (size_t k = 0; k < COMMON_COUNT; k++)
        common[k] = placement_common_params[k].preset;
    w.host("a").cpus = 2;
    w.host("b", 2).n_max = 2;
    w.resources[0].n_max = 2;
    w.busy(w.resources[1], {7});
    for (int i = 0; i < 4; i++)
        w.task("j" + std::to_string(i), 10).release_s = i == 3 ? 4 : 0;
    w.jobs[0].cpus = 2;
    REQUIRE(problem_prepare(w.request(), common.data(), &p, a, &err) == OK);
    placement_plan plan{};
    plan_create(&p, &plan, a);
    REQUIRE(plan_rest(&plan, &err) == OK);
    REQUIRE(plan.placed_count == 4);
    plan_number_slots(&plan);

    auto rule = [&] {
        struct verify_plan x {
            &p, plan.entries, plan.sequence, plan.placed_count, false
        };
        verify_result found{};
        REQUIRE(verify_plan(&x, &found, a, &err) == OK);
        return std::string(verify_rule_names[found.rule]);
    };
    CHECK(rule() == "valid");
    auto spoiled = [&](size_t job, auto change) {
        plan_entry before = plan.entries[job];
        change(plan.entries[job]);
        std::string found = rule();
        plan.entries[job] = before;
        return found;
    };
    size_t pos_a = p.position_of[0], pos_b = p.position_of[1];
    CHECK(spoiled(1, [](plan_entry &e) { e.pos = NO_INDEX; }) == "duplicate");
    CHECK(spoiled(0, [&](plan_entry &e) { e.pos = e.pos == pos_a ? pos_b : pos_a; }) !=
          "valid");
    CHECK(spoiled(1, [&](plan_entry &e) {
              const plan_entry &other = plan.entries[2];
              double later_s = other.start_s - e.start_s;
              e.pos = other.pos;
              e.slot = other.slot;
              e.start_s += later_s;
              e.staged_s = e.start_s;
              e.done_s = e.finish_s = other.done_s;
          }) == "slot_taken");
    CHECK(spoiled(3, [](plan_entry &e) {
              e.done_s -= e.start_s;
              e.finish_s -= e.start_s;
              e.start_s = 0;
          }) == "before_release");
    CHECK(spoiled(1, [](plan_entry &e) { e.slot = 9; }) == "no_slot");
    CHECK(spoiled(1, [](plan_entry &e) { e.finish_s += 1; }) == "finish_differs");
}
