// placement_test.cpp - the worked examples of spec gridway.md for placements.
#include "tests/placement_support.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

static void matrix_example(world &w)
{
    for (const char *id : {"r1", "r2", "r3"})
        w.host(id);
    w.row("1", {14, 20, 15});
    w.row("2", {19, 20, 20});
    w.row("3", {11, 17, 18});
    w.row("4", {2, 9, 19});
    w.row("5", {18, 12, 11});
}

TEST_CASE("policies are sorted by name and found", "[placement]")
{
    for (const struct policy *p = placement_policies; p[0].name && p[1].name; p++)
        CHECK(std::string(p[0].name) < p[1].name);
    CHECK(policy_find(placement_policies, "min_min") != nullptr);
    CHECK(policy_find(placement_policies, "min-min") == nullptr);
    CHECK(params_count(placement_common_params) == COMMON_COUNT);
}

TEST_CASE("the matrix of spec gridway.md 5.2", "[placement]")
{
    struct {
        const char *policy;
        double makespan_s;
        const char *order;
    } cases[] = {
        {"olb", 34, "1 2 3 4 5"},       {"met", 46, "1 2 3 4 5"},
        {"mct", 29, "1 2 3 4 5"},       {"min_min", 31, "4 5 3 1 2"},
        {"max_min", 33, "2 3 4 1 5"},   {"duplex", 31, "4 5 3 1 2"},
        {"sufferage", 32, "4 3 1 5 2"}, {"sufferage_pass", 27, nullptr},
        {"search", 25, nullptr},        {"auto", 25, nullptr},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.policy)
        {
            world w;
            test_arena a;
            matrix_example(w);
            placement_out out = decided(w, c.policy, a);
            CHECK(out.objective.makespan_s == Approx(c.makespan_s).epsilon(1e-12));
            if (c.order)
                CHECK(order_text(out) == c.order);
            if (c.makespan_s <= 25) {
                CHECK(out.status ==
                      DECISION_OPTIMAL); // proven, beyond the programme's bound
                CHECK(out.objective.lower_bound_s == 25);
                return;
            }
            CHECK(out.objective.lower_bound_s >= 20); // whole seconds, above 839 / 43
            CHECK(out.objective.lower_bound_s <= 25);
            for (size_t k = 0; k < out.bound_count; k++)
                if (out.bounds[k].kind == BOUND_PRICED)
                    CHECK(out.bounds[k].value_s == Approx(839.0 / 43).epsilon(1e-3));
        }
    world w;
    test_arena a;
    matrix_example(w);
    placement_out out = decided(w, "sufferage_pass", a);
    std::map<std::string, std::string> where;
    for (size_t i = 0; i < out.placement_count; i++)
        where[out.placements[i].job_id] = out.placements[i].resource_id;
    CHECK(where == std::map<std::string, std::string>{
                       {"1", "r1"}, {"2", "r2"}, {"3", "r1"}, {"4", "r1"}, {"5", "r3"}});
}

static void files_example(world &w)
{
    w.host("a1", 1, "A");
    w.host("a2", 1, "A");
    w.host("b1", 2, "B");
    w.route("H", "A", 8);
    w.route("H", "B", 4);
    w.snap.home_site_id = "H";
    w.data("f1", 10e6, {"H"});
    w.data("f2", 20e6, {"H"});
    w.task("j1", 50, {"f1"});
    w.task("j2", 60, {"f1"});
    w.task("j3", 60, {"f2"});
    w.task("j4", 50, {"f2"});
    w.task("j5", 20);
}

TEST_CASE("shared files of spec gridway.md 5.2", "[placement]")
{
    struct {
        const char *policy, *plan;
        double makespan_s;
    } cases[] = {
        {"olb", "j1 a1 60, j2 a2 70, j3 b1 70, j4 a1 130, j5 a2 90", 130},
        {"met", "j1 b1 45, j2 b1 75, j3 b1 145, j4 b1 170, j5 b1 180", 180},
        {"mct", "j1 b1 45, j2 a1 70, j3 a2 80, j4 b1 110, j5 a1 90", 110},
        {"min_min", "j5 b1 10, j1 b1 55, j2 a1 70, j4 a2 70, j3 b1 125", 125},
        {"max_min", "j3 b1 70, j2 a1 70, j4 a2 70, j1 b1 115, j5 a1 90", 115},
        {"duplex", "j3 b1 70, j2 a1 70, j4 a2 70, j1 b1 115, j5 a1 90", 115},
        {"sufferage", "j2 b1 50, j1 a1 60, j4 a2 70, j5 b1 60, j3 a1 120", 120},
        {"xsufferage", "j2 b1 50, j4 a1 70, j3 a2 80, j1 b1 75, j5 b1 85", 85},
        {"auto", nullptr, 80},
        {"search", nullptr, 80},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.policy)
        {
            world w;
            test_arena a;
            files_example(w);
            placement_out out = decided(w, c.policy, a);
            if (c.plan)
                CHECK(plan_text(out) == c.plan);
            CHECK(out.objective.makespan_s == Approx(c.makespan_s).epsilon(1e-12));
            CHECK(out.objective.lower_bound_s == Approx(70).epsilon(1e-8));
            CHECK(out.objective.lower_bound_s <= 70);
            CHECK(out.objective.gap_ratio == Approx(c.makespan_s / 70 - 1).epsilon(1e-6));
        }
}

TEST_CASE("a shared file may be on its way for another job of the site", "[placement]")
{
    world w;
    test_arena a;
    w.host("slow", 0.01, "A");
    w.busy(w.host("fast", 1, "A"), {100});
    w.route("H", "A", 8);
    w.data("f", 10e6, {"H"}); // 10 s
    w.task("first", 0.5, {"f"});
    w.task("second", 50, {"f"});
    placement_out out = decided(w, "mct", a);
    CHECK(plan_text(out) == "first slow 60, second fast 150");
    CHECK(out.objective.lower_bound_s <= 150);
}

TEST_CASE("tasks in a row on one slot pay shared files once (spec gridway.md 3.5)",
          "[placement]")
{
    for (bool shared : {true, false})
        DYNAMIC_SECTION((shared ? "shared" : "private"))
        {
            world w;
            test_arena a;
            w.host("r", 1, "R");
            w.snap.home_site_id = "H";
            w.route("H", "R", 8, 0.01);
            w.data("executable", 0.5e6, {"H"}, shared);
            w.data("mesh", 0.5e6, {"H"}, shared);
            for (const char *i : {"0", "1", "2"}) {
                w.data(std::string("parameters") + i, 1000, {"H"}, false);
                w.task(i, 62, {"executable", "mesh", "parameters${GW_TASK_ID}"})
                    .output_bytes = 1e5;
            }
            placement_out out = decided(w, "mct", a);
            CHECK(out.objective.makespan_s ==
                  Approx(shared ? 187.163 : 189.203).epsilon(1e-9));
            CHECK(std::string(out.placements[2].files[2]) == "parameters2");
            CHECK(out.objective.bytes_moved == (shared ? 1e6 + 3000 : 3e6 + 3000));
        }
}

TEST_CASE("file scope resource stages a file once for each resource", "[placement]")
{
    world w;
    test_arena a;
    w.host("r1", 1, "R");
    w.host("r2", 1, "R");
    w.route("H", "R", 8);
    w.data("f", 10e6, {"H"});
    w.task("a", 50, {"f"});
    w.task("b", 50, {"f"});
    w.task("c", 50, {"f"});
    CHECK(decided(w, "mct", a).objective.bytes_moved == 10e6);
    placement_out out = decided(w, "mct", a, {option("file_scope", "resource")});
    CHECK(out.objective.bytes_moved == 20e6);
    CHECK(plan_text(out) == "a r1 60, b r2 60, c r1 110");
}

TEST_CASE("files by architecture of the host (spec gridway.md 3.5)", "[placement]")
{
    world w;
    test_arena a;
    w.attributes(w.host("x", 1, "X"), {{"arch", VALUE_TEXT, 0, "i686"}});
    w.attributes(w.host("y", 2, "Y"), {{"ARCH", VALUE_TEXT, 0, "alpha"}});
    w.host("z", 4, "Z");
    w.snap.network.wan_mbps = 8;
    w.data("solver.i686", 10e6, {"H"});
    w.task("j", 10, {"solver.${GW_ARCH}"});
    placement_out out = decided(w, "mct", a);
    CHECK(plan_text(out) == "j x 20");
    CHECK(std::string(out.placements[0].files[0]) == "solver.i686");

    w.data("solver.alpha", 1e6, {"H"});
    CHECK(plan_text(decided(w, "mct", a)) == "j y 6");

    w.jobs.clear();
    w.task("k", 10, {"${ARCH}.${JOB_ID}.${TOTAL_TASKS}.${TASK_ID}"});
    w.data("alpha.k.1.0", 1e6, {"H"});
    CHECK(plan_text(decided(w, "mct", a, {option("dialect", "gridway")})) == "k y 6");

    w.jobs.clear();
    job &swept = w.task("p", 10, {"in.${PARAM}"});
    swept.param_start = 10;
    swept.param_increment = -4;
    swept.task_index = 3;
    w.data("in.-2", 1e6, {"H"});
    out = decided(w, "mct", a, {option("dialect", "gridway")});
    CHECK(std::string(out.placements[0].files[0]) == "in.-2");
    w.jobs[0].task_index = 9007199254740991;
    w.jobs[0].param_start = w.jobs[0].param_increment = NAN;
    w.data("in.9007199254740991", 1e6, {"H"});
    out = decided(w, "mct", a, {option("dialect", "gridway")});
    CHECK(std::string(out.placements[0].files[0]) == "in.9007199254740991");
    w.jobs[0].task_index = 3;
    w.jobs[0].param_start = w.jobs[0].param_increment = NAN; // 0 and 1
    w.data("in.3", 1e6, {"H"});
    out = decided(w, "mct", a, {option("dialect", "gridway")});
    CHECK(std::string(out.placements[0].files[0]) == "in.3");
    placement_out refused{};
    error err = collecting_error(a);
    CHECK(decide(w, "mct", refused, a, err) == ERR_INVALID); // not in the native dialect

    w.jobs.clear();
    w.task("l", 10, {"${NONSENSE}"});
    w.data("${NONSENSE}", 1e6, {"H"});
    CHECK(has_warning(decided(w, "mct", a), "unknown_variable: ${NONSENSE}"));

    w.jobs.clear();
    w.task("m", 10, {"solver.${GW_ARCH}"});
    w.resources.erase(w.resources.begin(), w.resources.begin() + 2);
    out = decided(w, "mct", a);
    CHECK(out.status == DECISION_INFEASIBLE);
    REQUIRE(reason_of(out, "m", "file_unresolved") != nullptr);
    CHECK(reason_of(out, "m", "file_unresolved")->resource_count == 1);
}

TEST_CASE("identical jobs have a static optimum (spec gridway.md 5.3)", "[placement]")
{
    struct {
        std::vector<double> time_s;
        size_t jobs;
        std::vector<size_t> counts;
        double makespan_s;
    } cases[] = {
        {{10, 20, 40}, 7, {4, 2, 1}, 40},
        {{62, 1000, 350, 520, 421}, 50, {33, 2, 6, 4, 5}, 2105},
    };
    for (auto &c : cases)
        for (int style = 0; style < 4; style++) {
            const char *policy = style % 2 ? "identical_optimum" : "auto";
            bool rows = style >= 2;
            world w;
            test_arena a;
            for (size_t i = 0; i < c.time_s.size(); i++)
                w.host("r" + std::to_string(i), 1 / c.time_s[i]);
            for (size_t i = 0; i < c.jobs; i++)
                if (rows)
                    w.row("j" + std::to_string(i), c.time_s);
                else
                    w.task("j" + std::to_string(i), 1);
            INFO(policy << (rows ? " with equal rows" : " with equal estimates"));
            placement_out out = decided(w, policy, a);
            CHECK(std::string(out.algorithm) == "identical_optimum");
            CHECK(out.objective.makespan_s == Approx(c.makespan_s).epsilon(1e-12));
            CHECK(out.status == DECISION_OPTIMAL);
            std::vector<size_t> counts;
            for (size_t i = 0; i < out.load_count; i++)
                counts.push_back(out.loads[i].job_count);
            CHECK(counts == c.counts);
        }
}

TEST_CASE("identical_optimum says why it does not apply", "[placement]")
{
    world w;
    test_arena a;
    w.host("r");
    w.task("a", 1);
    w.task("b", 2);
    placement_out out{};
    error err = collecting_error(a);
    CHECK(decide(w, "identical_optimum", out, a, err) == ERR_INVALID);
    CHECK(std::string(err.field) == "/algorithm");
    CHECK(std::string(err.text).find("differ") != std::string::npos);

    w.jobs.clear();
    w.row("a", {1});
    w.row("b", {2});
    err = collecting_error(a);
    CHECK(decide(w, "identical_optimum", out, a, err) == ERR_INVALID);
    w.jobs.clear();
    w.row("a", {NAN});
    w.row("b", {NAN});
    CHECK(decided(w, "identical_optimum", a).status == DECISION_INFEASIBLE);
}

TEST_CASE("the bound of identical jobs is n / sum of 1/T", "[placement]")
{
    world w;
    test_arena a;
    for (double time_s : {62, 1000, 350, 520, 421})
        w.host("r" + std::to_string(time_s), 1 / time_s);
    for (size_t i = 0; i < 50; i++)
        w.task("j" + std::to_string(i), 1);
    placement_out out = decided(w, "mct", a);
    CHECK(out.objective.lower_bound_s >= 2058.922);
    CHECK(out.objective.lower_bound_s <= 2105);
    for (size_t k = 0; k < out.bound_count; k++)
        if (out.bounds[k].kind == BOUND_PRICED)
            CHECK(out.bounds[k].value_s == Approx(2058.922).epsilon(1e-4));
}

TEST_CASE("reasons name clauses and the nearest miss (spec gridway.md 2.3)",
          "[placement]")
{
    world w;
    test_arena a;
    struct {
        const char *id, *arch;
        double memory_mb, mhz;
    } hosts[] = {
        {"A", "i686", 512, 2400},
        {"B", "alpha", 2048, 466},
        {"C", "i686", 256, 3000},
        {"D", "i686", 900, 1900},
    };
    for (auto &h : hosts)
        w.attributes(w.host(h.id), {{"arch", VALUE_TEXT, 0, h.arch},
                                    {"free_mem_mb", VALUE_NUMBER, h.memory_mb, nullptr},
                                    {"cpu_mhz", VALUE_NUMBER, h.mhz, nullptr}});
    w.task("j", 1).requirement =
        "arch == \"i686\" && free_mem_mb >= 1024 && cpu_mhz >= 2000";
    placement_out out = decided(w, "mct", a);
    CHECK(out.status == DECISION_INFEASIBLE);
    REQUIRE(out.unplaced_count == 1);
    CHECK(out.unplaced[0].considered_count == 4);
    REQUIRE(out.unplaced[0].reason_count == 1);
    const placement_reason &r = out.unplaced[0].reasons[0];
    CHECK(std::string(r.reason) == "requirement");
    CHECK(r.resource_count == 4);
    REQUIRE(r.clause_count == 3);
    CHECK(std::string(r.clauses[1].clause) == "free_mem_mb >= 1024");
    CHECK(r.clauses[0].untrue_count == 1);
    CHECK(r.clauses[1].untrue_count == 3);
    CHECK(r.clauses[2].untrue_count == 2);
    CHECK(r.clauses[0].alone_count == 0);
    CHECK(r.clauses[1].alone_count == 2);
    CHECK(r.clauses[2].alone_count == 0);
    REQUIRE(r.nearest_miss != nullptr);
    CHECK(std::string(r.nearest_miss->resource_id) == "A");
    CHECK(r.nearest_miss->shortfall == 0.5);
}

TEST_CASE("each filter is counted, in the order of the spec", "[placement]")
{
    world w;
    test_arena a;
    w.snap.taken_at_s = 1000;
    w.host("failed").failed = true;
    w.host("stale").observed_at_s = 900;
    w.host("closed").allowed = w.list({"user:bob", "vo:other"});
    w.resources.back().allowed_count = 2;
    w.host("banned");
    w.host("unfit", 1);
    w.host("small").cpus = 2;
    w.host("forgetful").memory_bytes = 1e9;
    w.host("stopped", 0);
    w.host("far", 1, "island");
    resource &never = w.host("never", 1, "H");
    never.job_count = 1;
    for (resource &r : w.resources)
        if (!r.site_id)
            r.site_id = "H";
    for (resource &r : w.resources)
        w.attributes(r, {{"fit", VALUE_BOOLEAN, std::string(r.id) != "unfit" ? 1.0 : 0.0,
                          nullptr}});
    w.data("f", 1e6, {"H"});
    job &j = w.task("j", 10, {"f"});
    j.user = "alice";
    j.organisations = w.list({"ucm"});
    j.organisation_count = 1;
    j.requirement = "fit";
    j.cpus = 4;
    j.memory_bytes = 4e9;
    w.usage.push_back({"alice", "banned", NAN, NAN, NAN, 1000});
    placement_out out = decided(w, "mct", a, {option("stale_policy", "exclude")});
    CHECK(out.placement_count == 0);
    REQUIRE(out.unplaced_count == 1);
    std::string names;
    for (size_t i = 0; i < out.unplaced[0].reason_count; i++) {
        names += std::string(out.unplaced[0].reasons[i].reason) + " ";
        CHECK(out.unplaced[0].reasons[i].resource_count ==
              (out.unplaced[0].reasons[i].amount_count ? 2 : 1));
    }
    CHECK(names == "failed stale unauthorised banned requirement too_small no_estimate "
                   "file_unreachable unknown_end ");
    const placement_reason *small = reason_of(out, "j", "too_small");
    CHECK(small->nearest_miss->shortfall == 0.5);
    REQUIRE(small->amount_count == 2);
    CHECK(std::string(small->amounts[1].name) == "memory_bytes");
    CHECK(small->amounts[1].short_count == 1);
    CHECK(small->amounts[1].alone_count == 1);
    CHECK(has_warning(out,
                      "stale: 1 resource was observed more than 60 s before taken_at"));
}

TEST_CASE("old lists and unknown names give warnings", "[placement]")
{
    world w;
    test_arena a;
    w.snap.taken_at_s = 1000;
    w.snap.list_observed_at_s = 600;
    w.attributes(w.host("r"), {{"free_mem_mb", VALUE_NUMBER, 512, nullptr}});
    w.task("j", 1).requirement = "free_men_mb > 100";
    placement_out out = decided(w, "mct", a);
    CHECK(has_warning(out, "stale_list: the list of resources is 400 s old"));
    CHECK(has_warning(
        out,
        "unknown_attribute: no resource has 'free_men_mb'; did you mean 'free_mem_mb'?"));
    CHECK(std::string(reason_of(out, "j", "requirement")->detail).find("undefined") !=
          std::string::npos);
    CHECK(has_warning(out, "unplaced: 1, requirement: 1"));
    CHECK(decided(w, "mct", a, {option("list_ttl_s", 500.0)}).warning_count == 2);
}

TEST_CASE("all mistakes of a request are reported at once", "[placement]")
{
    world w;
    test_arena a;
    w.host("r");
    w.host("r").mips_total = -1;
    w.task("a", 10, {"nowhere"});
    w.task("a", -5).requirement = "1 < 2 < 3";
    w.files.push_back({"f", 5, true, nullptr, 0});
    w.usage.push_back({"u", "unknown", NAN, NAN, NAN, NAN});
    w.row("b", {1, 2, 3});
    placement_out out{};
    error err = collecting_error(a);
    CHECK(decide(w, "mct", out, a, err, {option("limmits", "none")}) == ERR_INVALID);
    std::string pointers;
    for (const error_item *i = err.first; i; i = i->next)
        pointers += std::string(i->pointer) + " ";
    for (const char *want :
         {"/options/limmits ", "/snapshot/resources/1/id ",
          "/snapshot/resources/1/mips_total ", "/jobs/0/input_file_ids/0 ", "/jobs/1/id ",
          "/jobs/1/estimate_ref_s ", "/jobs/1/requirement ",
          "/snapshot/files/0/site_ids ", "/usage/0/resource_id ", "/jobs/2/etc_s "})
        CHECK_THAT(pointers, Catch::Contains(want));
    CHECK(err.item_count == 10);
    CHECK(out.algorithm == nullptr);
}

TEST_CASE("kpb looks at the fastest k percent only", "[placement]")
{
    world w;
    test_arena a;
    for (double mips : {1, 4, 3, 2, 1})
        w.host("v" + std::to_string(w.resources.size()), mips);
    for (int i = 0; i < 4; i++)
        w.task("j" + std::to_string(i), 12);
    CHECK(plan_text(decided(w, "kpb", a)) == "j0 v1 3, j1 v1 6, j2 v1 9, j3 v1 12");
    CHECK(plan_text(decided(w, "kpb", a, {option("k_percent", 21.0)})) ==
          "j0 v1 3, j1 v2 4, j2 v1 6, j3 v2 8");
    CHECK(plan_text(decided(w, "kpb", a, {option("k_percent", 100.0)})) ==
          plan_text(decided(w, "mct", a)));
    CHECK(plan_text(decided(w, "kpb", a, {option("k_percent", 0.0)})) ==
          plan_text(decided(w, "met", a)));
}

TEST_CASE("cpus and memory bound what runs at a time", "[placement]")
{
    world w;
    test_arena a;
    resource &r = w.host("r");
    r.cpus = 4;
    r.memory_bytes = 10;
    w.task("a", 10).cpus = 3;
    w.task("b", 10).cpus = 2;        // not beside a
    w.task("c", 5).memory_bytes = 1; // before b, where it has room
    w.task("d", 5).cpus = 1;
    w.jobs[3].memory_bytes = 10; // when c has ended
    placement_out out = decided(w, "mct", a);
    CHECK(plan_text(out) == "a r 10, b r 20, c r 5, d r 10");
    CHECK(out.placements[1].start_s == 10);
    CHECK(out.placements[2].start_s == 0);
    CHECK(out.placements[3].start_s == 5);
}

TEST_CASE("a busy slot holds its part of a resource with limits", "[placement]")
{
    world w;
    test_arena a;
    resource &r = w.host("r");
    r.cpus = 4;
    w.busy(r, {50, NAN}); // one for 50 s, one for ever
    w.task("two", 10).cpus = 2;
    w.task("three", 10).cpus = 3;
    w.task("four", 10).cpus = 4;
    placement_out out = decided(w, "mct", a);
    CHECK(plan_text(out) == "two r 10, three r 60");
    REQUIRE(reason_of(out, "four", "unknown_end") != nullptr);
}

TEST_CASE("slots, release times, deadlines", "[placement]")
{
    world w;
    test_arena a;
    resource &r = w.host("r");
    r.n_max = 2;
    w.busy(r, {30});
    w.task("a", 40).deadline_s = 35;
    w.task("b", 40).deadline_s = 100;
    w.task("c", 10).release_s = 60;
    placement_out out = decided(w, "mct", a);
    CHECK(plan_text(out) == "a r 40, b r 70, c r 70");
    CHECK(out.placements[0].slot == 1);
    CHECK(out.placements[1].slot == 0);
    CHECK(out.placements[2].start_s == 60);
    CHECK(out.placements[0].late_s == 5);
    CHECK(out.placements[1].late_s == 0);
    CHECK(std::isnan(out.placements[2].late_s));
    CHECK(out.objective.late_count == 1);
    CHECK(out.objective.flow_time_s == 180);
}

TEST_CASE("the heuristics agree with independent code on Braun's matrices",
          "[placement][data]")
{
    const char *root = getenv("GRIDPLAN_DATA");
    if (!root) {
        WARN("GRIDPLAN_DATA is not set: skipped");
        return;
    }
    std::ifstream csv(std::string(root) + "/reference/etc_heuristics.csv");
    REQUIRE(csv.good());
    std::string line, cell;
    std::vector<std::string> columns;
    getline(csv, line);
    for (std::stringstream s(line); getline(s, cell, ',');)
        columns.push_back(cell);
    const std::map<std::string, std::string> policies = {
        {"OLB", "olb"},
        {"MET", "met"},
        {"MCT", "mct"},
        {"MinMin", "min_min"},
        {"MaxMin", "max_min"},
        {"Sufferage_step", "sufferage"},
        {"Sufferage_pass", "sufferage_pass"}};
    size_t checked = 0;
    while (getline(csv, line)) {
        std::map<std::string, std::string> row;
        size_t column = 0;
        for (std::stringstream s(line); getline(s, cell, ',');)
            row[columns.at(column++)] = cell;
        std::string found;
        for (const char *suffix : {"", ".txt", ".dat"}) {
            std::string path = std::string(root) + "/03-etc/" + row["set"] + "/" +
                               row["instance"] + suffix;
            if (std::ifstream(path).good() && found.empty())
                found = path;
        }
        if (found.empty())
            continue;
        std::ifstream in(found);
        size_t tasks = 0, machines = 0;
        double ignored;
        in >> tasks >> machines >> ignored;
        world w;
        for (size_t m = 0; m < machines; m++)
            w.host("m" + std::to_string(m));
        for (size_t t = 0; t < tasks; t++) {
            std::vector<double> times(machines);
            for (double &x : times)
                in >> x;
            w.row("t" + std::to_string(t), times);
        }
        REQUIRE(in);
        for (auto &[name, policy] : policies) {
            test_arena a;
            placement_out out = decided(w, policy, a);
            INFO(row["instance"] << " " << name);
            CHECK(out.objective.makespan_s ==
                  Approx(std::stod(row[name])).epsilon(1e-9).margin(1e-6));
            if (name == "MinMin")
                CHECK(out.objective.flow_time_s ==
                      Approx(std::stod(row["MinMin_flowtime"])).epsilon(1e-9));
            double bound = std::stod(row["LP_lower_bound"]);
            CHECK(out.objective.lower_bound_s <= bound * (1 + 1e-8));
            CHECK(out.objective.lower_bound_s >= bound * (1 - 1e-4));
        }
        test_arena a;
        placement_out out = decided(w, "search", a, {option("max_steps", 5000.0)});
        CHECK(out.objective.gap_ratio < 0.02);
        // Whole jobs take longer than the linear program's, which divides them.
        double priced_s = 0;
        for (size_t i = 0; i < out.bound_count; i++)
            if (out.bounds[i].kind == BOUND_PRICED)
                priced_s = out.bounds[i].value_s;
        CHECK(priced_s == Approx(std::stod(row["LP_lower_bound"])).epsilon(1e-5));
        CHECK(priced_s <= std::stod(row["LP_lower_bound"]));
        CHECK(out.objective.lower_bound_s >= priced_s);
        CHECK(out.objective.lower_bound_s < std::stod(row["best_known_verified"]));
        checked++;
    }
    CHECK(checked > 0);
}
