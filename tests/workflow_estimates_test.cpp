// workflow_estimates_test.cpp - run times that nobody gave, and what tasks that have
// begun have left.
#include "tests/workflow_support.hpp"

extern "C" {
#include "algorithms/workflow/round.h"
}

using namespace flows;

namespace
{

bool says(const decision &d, const std::string &text)
{
    for (const std::string &w : d.warnings)
        if (w.find(text) != std::string::npos)
            return true;
    return false;
}

// Independent tasks with a name and a run time each, on one resource.
request named(const std::vector<std::pair<const char *, double>> &tasks)
{
    request r;

    r.add_resource(1);
    for (auto &[name, estimate_ref_s] : tasks)
        r.add_task(std::to_string(r.tasks().size()), estimate_ref_s).given.name = name;
    return r;
}

double time_of(const decision &d, const char *task)
{
    return d.of(task).finish_s - d.of(task).start_s;
}

// One running task on the first of two resources, and what a round and heft think of it.
struct seen {
    double heft_s, round_s;
};

seen look(request &r)
{
    test_arena a;
    error err = collecting_error(a);
    workflow_round_out out{};

    REQUIRE(workflow_round(r.build(), policy_find(workflow_round_policies, "balanced"),
                           nullptr, 0, WORKFLOW_STEPS_ALL, &out, a, &err) == OK);
    return {decide(r, "heft", true).of("t").finish_s, out.objective.makespan_before_s};
}

} // namespace

TEST_CASE("a task without a run time gets the median of its name", "[workflow]")
{
    request r = named({{"align", 2},
                       {"align", 10},
                       {"align", none},
                       {"sort", 100},
                       {"sort", 1000},
                       {"sort", 300},
                       {"sort", none},
                       {nullptr, none},
                       {"merge", none}});
    for (const struct policy *p = workflow_policies; p->name; p++) {
        INFO(p->name);
        decision d = decide(r, p->name);
        CHECK(d.unplaced.empty());
        CHECK(time_of(d, "2") == Approx(6));   // of two: the middle
        CHECK(time_of(d, "6") == Approx(300)); // of three
        CHECK(time_of(d, "7") == Approx(100)); // of all five: 2 10 100 300 1000
        CHECK(time_of(d, "8") == Approx(100));
        CHECK(says(d,
                   "run_times_guessed: 4 of 9 tasks have no run time: 2 got the median "
                   "of their name, 2 that of all tasks"));
    }
    // Names are names of one workflow: here the other one's do not count.
    r.workflows.push_back({task("x", none), task("y", 8)});
    r.workflows[1][0].given.name = "align";
    r.workflows[1][1].given.name = "sort";
    r.workflow_ids = {"v", "w"};
    r.single = false;
    CHECK(time_of(decide(r, "heft"), "x") == Approx(55)); // 2 8 10 100 300 1000
}

TEST_CASE("a guess from times by resource is one by resource", "[workflow]")
{
    request r = by_matrix({{4, 8}, {6, none}, {20, 10}, {1, 1}}, {});
    r.tasks()[3].etc_s.clear();
    for (auto &t : r.tasks())
        t.given.name = "same";
    r.resources[1].failed = true;
    CHECK(time_of(decide(r, "heft"), "3") == Approx(6));
    r.resources[1].failed = false;
    r.resources[0].failed = true;
    r.tasks()[1].etc_s = {6, 7};
    CHECK(time_of(decide(r, "heft"), "3") == Approx(8));
    r.tasks()[0].etc_s = r.tasks()[1].etc_s = {1, none}; // most cannot run there
    CHECK(decide(r, "heft").missing("3")->reason == "failed");
}

TEST_CASE("nothing to guess from: no place, and the answer says so", "[workflow]")
{
    request r = named({{"x", none}, {"x", none}});
    decision d = decide(r, "heft");
    CHECK(d.unplaced.size() == 2);
    CHECK(d.missing("0")->reason == "no_estimate");
    CHECK_FALSE(says(d, "run_times_guessed"));
    CHECK(says(d, "unplaced: 2, "));
}

TEST_CASE("a running task without a run time is its own witness", "[workflow]")
{
    request r = named({{"x", 7}, {"x", none}});
    workflow_task &t = r.tasks()[1].given;
    t.status = WORKFLOW_RUNNING;
    t.resource_id = "p0";
    t.elapsed_s = 30;
    t.progress_pct = 25;
    decision d = decide(r, "heft");
    CHECK(d.of("1").finish_s == Approx(90));
    CHECK_FALSE(says(d, "run_times_guessed"));
    t.progress_pct = none;
    t.elapsed_s = 3;
    d = decide(r, "heft");
    CHECK(d.of("1").finish_s == Approx(4));
    CHECK(says(d, "run_times_guessed: 1 of 2"));
}

TEST_CASE("heft and a round see the same work left", "[workflow][round]")
{
    request r;
    r.add_resource(2, "s");
    r.add_resource(4, "s");
    workflow_task &t = r.add_task("t", 600).given;
    t.status = WORKFLOW_RUNNING;
    t.resource_id = "p0";
    progress_sample samples[] = {{100, 10, none, none, none, none},
                                 {200, 25, none, none, none, none}};
    seen s = look(r);
    CHECK(s.heft_s == Approx(300));
    CHECK(s.round_s == Approx(300));
    SECTION("reports in the request")
    {
        t.progress_samples = samples;
        t.progress_sample_count = 2;
        s = look(r);
        CHECK(s.heft_s == Approx(600)); // 200 s for a quarter
        CHECK(s.round_s == Approx(600));
        t.elapsed_s = 300; // 100 s after the last one
        s = look(r);
        CHECK(s.heft_s == Approx(500));
        CHECK(s.round_s == Approx(500));
        t.elapsed_s = 1000; // overdue
        CHECK(look(r).heft_s == Approx(1));
    }
    SECTION("progress now")
    {
        t.elapsed_s = 200;
        t.progress_pct = 50;
        s = look(r);
        CHECK(s.heft_s == Approx(200));
        CHECK(s.round_s == Approx(200));
    }
    SECTION("several slots, each with the whole speed")
    {
        r.resources[0].n_max = 4;
        r.resources[0].job_count = 3;
        r.resources[0].free_at_s = nullptr;
        s = look(r);
        CHECK(s.heft_s == Approx(300));
        CHECK(s.round_s == Approx(300));
        r.resources[0].sharing = SHARING_EQUAL; // three share it now; heft plans for four
        s = look(r);
        CHECK(s.heft_s == Approx(1200));
        CHECK(s.round_s == Approx(900));
    }
}

TEST_CASE("one task at a time on hosts of several slots is said", "[workflow]")
{
    request r = two_tasks();
    CHECK_FALSE(says(decide(r, "heft"), "slot"));
    r.resources[0].cpus = 8;
    CHECK(says(decide(r, "heft"), "/snapshot/resources: 1 has more than one slot"));
    CHECK_FALSE(says(decide(r, "heft", true), "slot"));
    CHECK_FALSE(says(decide(r, "auto", true), "more than one slot"));
    r.resources[0].sharing = SHARING_EQUAL;
    CHECK(says(decide(r, "auto", true), "slots of 1 share its speed"));
}

TEST_CASE("more warnings than there is room for are counted", "[workflow]")
{
    request r;
    r.add_resource();
    r.workflows.clear();
    for (int w = 0; w < 80; w++) {
        r.workflows.push_back({task("a", 1), task("b", 1)});
        r.workflow_ids.push_back("w" + std::to_string(w));
    }
    r.single = false;
    decision d = decide(r, "heft");
    REQUIRE(d.warnings.size() == 64);
    CHECK(d.warnings[62].find("'w62'") != std::string::npos);
    CHECK(d.warnings[63] == "and 17 more warnings");
}
