// What a workflow problem says: transfers, staging, tasks that have begun, resources that
// are taken, tasks without a place, and mistakes.
#include "tests/workflow_support.hpp"

using namespace flows;

TEST_CASE("bytes of an edge go over the route of its sites", "[workflow]")
{
    request r = two_tasks();
    auto &dependency = r.tasks()[1].parents[0];
    test_arena a;
    error err = collecting_error(a);
    workflow_problem *p = nullptr;

    r.add_resource(1, "s0");
    r.add_resource(1);
    r.grid.network.wan_mbps = 5;
    r.grid.network.wan_latency_s = 0.007;
    r.grid.network.lan_mbps = 1000;
    r.grid.network.lan_latency_s = 0.002;
    r.routes.push_back({"s1", "s0", 80, 0.5});
    r.tasks()[0].given.output_bytes = 2e9; // In and CSize of spec 2.2
    SECTION("output_bytes by default")
    {
        REQUIRE(workflow_problem_make(r.build(), false, &p, a, &err) == OK);
        CHECK(workflow_transfer_s(p, p->edges, 0, 0) == 0);
        CHECK(workflow_transfer_s(p, p->edges, 0, 2) == Approx(16.002).epsilon(1e-12));
        CHECK(workflow_transfer_s(p, p->edges, 0, 3) == Approx(3200.007).epsilon(1e-12));
        CHECK(workflow_transfer_s(p, p->edges, 0, 1) == Approx(200.5).epsilon(1e-12));
        CHECK(workflow_transfer_s(p, p->edges, 1, 2) == Approx(200.5).epsilon(1e-12));
        CHECK(workflow_transfer_s(p, p->edges, WORKFLOW_EVERYWHERE, 2) == 0);
        // ordered pairs: 4 of 200.5, 2 of 16.002, 6 of 3200.007
        CHECK(workflow_mean_transfer_s(p, p->edges) ==
              Approx((4 * 200.5 + 2 * 16.002 + 6 * 3200.007) / 12).epsilon(1e-12));
    }
    SECTION("its own bytes")
    {
        dependency.bytes = 1e9;
        REQUIRE(workflow_problem_make(r.build(), false, &p, a, &err) == OK);
        CHECK(workflow_transfer_s(p, p->edges, 0, 2) == Approx(8.002).epsilon(1e-12));
    }
    SECTION("nothing to move takes no time")
    {
        dependency.bytes = 0;
        REQUIRE(workflow_problem_make(r.build(), false, &p, a, &err) == OK);
        CHECK(workflow_transfer_s(p, p->edges, 0, 3) == 0);
        CHECK(workflow_mean_transfer_s(p, p->edges) == 0);
    }
    SECTION("a time is good for all pairs")
    {
        dependency.transfer_s = 7;
        REQUIRE(workflow_problem_make(r.build(), false, &p, a, &err) == OK);
        CHECK(workflow_transfer_s(p, p->edges, 0, 1) == 7);
        CHECK(workflow_transfer_s(p, p->edges, 1, 1) == 0);
        CHECK(workflow_mean_transfer_s(p, p->edges) == 7);
    }
    SECTION("both directions listed")
    {
        r.routes.push_back({"s0", "s1", 160, 0});
        REQUIRE(workflow_problem_make(r.build(), false, &p, a, &err) == OK);
        CHECK(workflow_transfer_s(p, p->edges, 0, 1) == Approx(100).epsilon(1e-12));
        CHECK(workflow_transfer_s(p, p->edges, 1, 0) == Approx(200.5).epsilon(1e-12));
    }
    SECTION("a route inside a site")
    {
        r.routes.push_back({"s0", "s0", 16000, 0});
        REQUIRE(workflow_problem_make(r.build(), false, &p, a, &err) == OK);
        CHECK(workflow_transfer_s(p, p->edges, 0, 2) == Approx(1).epsilon(1e-12));
        CHECK(workflow_mean_transfer_s(p, p->edges) ==
              Approx((4 * 200.5 + 2 * 1 + 6 * 3200.007) / 12).epsilon(1e-12));
    }
}

TEST_CASE("more sites than a table holds: the same links", "[workflow]")
{
    request r;
    std::deque<std::string> sites;
    test_arena a;
    error err = collecting_error(a);
    workflow_problem *p = nullptr;

    for (size_t i = 0; i < 600; i++) {
        sites.push_back("s" + std::to_string(i));
        r.add_resource(1, sites.back().c_str());
    }
    r.grid.network.wan_mbps = 8;
    r.routes.push_back({"s1", "s0", 80, 0});
    r.add_task("a", 1).given.output_bytes = 1e6;
    r.add_task("b", 1).parents.push_back({0});
    REQUIRE(workflow_problem_make(r.build(), false, &p, a, &err) == OK);
    CHECK(workflow_transfer_s(p, p->edges, 0, 1) == Approx(0.1));
    CHECK(workflow_transfer_s(p, p->edges, 0, 2) == Approx(1));
    CHECK(workflow_mean_transfer_s(p, p->edges) ==
          Approx((2 * 0.1 + (600 * 599 - 2) * 1.0) / (600 * 599)).epsilon(1e-12));
}

TEST_CASE("without any network bytes move in no time, with a warning", "[workflow]")
{
    request r = two_tasks();

    r.tasks()[0].given.output_bytes = 1e9;
    decision d = decide(r, "heft");
    CHECK(d.objective.makespan_s == 10);
    CHECK(d.objective.transfer_s == 0);
    REQUIRE(d.warnings.size() == 1);
    CHECK(d.warnings[0].find("no snapshot.network") != std::string::npos);
}

TEST_CASE("without a link tasks stay together, or have no place", "[workflow]")
{
    request r = two_tasks();

    r.tasks()[0].given.output_bytes = 1e9;
    r.grid.network.lan_mbps = 1000;
    CHECK(decide(r, "heft").of("b").resource == "p1");
    r.tasks()[0].etc_s = {10, none};
    r.tasks()[1].etc_s = {none, 10};
    decision d = decide(r, "heft");
    CHECK(d.status == DECISION_FEASIBLE);
    REQUIRE(d.missing("b") != nullptr);
    CHECK(d.missing("b")->reason == "unreachable");
}

TEST_CASE("inputs are staged from the nearest replica or their site", "[workflow]")
{
    request r;
    const char *sites[] = {"far", "near"};

    r.add_resource(1, "s0");
    r.add_task("a", 10);
    r.grid.network.wan_mbps = 8;
    r.routes.push_back({"near", "s0", 80, 0});
    r.files.push_back({"f", 1e6, true, sites, 2});
    SECTION("a file")
    {
        r.tasks()[0].files = {"f"};
        CHECK(decide(r, "heft").of("a").start_s == Approx(0.1));
        CHECK(decide(r, "heft").of("a").data_ready_s == Approx(0.1));
        r.files[0].site_count = 1;
        CHECK(decide(r, "heft").of("a").start_s == Approx(1));
    }
    SECTION("bytes")
    {
        r.tasks()[0].given.input_bytes = 3e6;
        CHECK(decide(r, "heft").of("a").start_s == 0);
        CHECK(std::isnan(decide(r, "heft").of("a").data_ready_s));
        r.tasks()[0].given.input_site_id = "far";
        CHECK(decide(r, "heft").of("a").start_s == Approx(3));
        r.tasks()[0].given.release_s = 5;
        CHECK(decide(r, "heft").of("a").start_s == Approx(5));
        CHECK(decide(r, "heft").of("a").data_ready_s == Approx(3));
    }
    SECTION("bytes and a checkpoint of the same site go together")
    {
        r.tasks()[0].given.input_bytes = 3e6;
        r.tasks()[0].given.input_site_id = "far";
        r.tasks()[0].given.status = WORKFLOW_FAILED;
        r.tasks()[0].given.checkpoint_work_ref_s = 4;
        r.tasks()[0].given.checkpoint_bytes = 2e6;
        r.tasks()[0].given.checkpoint_site_id = "far";
        CHECK(decide(r, "heft").of("a").start_s == Approx(5));
        CHECK(decide(r, "heft").of("a").finish_s == Approx(11));
        r.tasks()[0].given.checkpoint_site_id = "near";
        CHECK(decide(r, "heft").of("a").start_s == Approx(3));
    }
    SECTION("a checkpoint is where the task was")
    {
        r.tasks()[0].given.status = WORKFLOW_FAILED;
        r.tasks()[0].given.checkpoint_work_ref_s = 4;
        r.tasks()[0].given.checkpoint_bytes = 2e6;
        r.tasks()[0].given.resource_id = r.resources[0].id;
        CHECK(decide(r, "heft").of("a").finish_s == Approx(6));
        r.add_resource(1, "s1");
        r.resources[0].failed = true;
        CHECK(decide(r, "heft").of("a").finish_s == Approx(8));
    }
}

TEST_CASE("tasks that have begun stay where they are", "[workflow]")
{
    request r = two_tasks();
    auto &a = r.tasks()[0].given;

    a.output_bytes = 1e6;
    a.resource_id = "p0";
    r.grid.network.wan_mbps = 8;
    SECTION("done: its output has to be moved from now on")
    {
        a.status = WORKFLOW_DONE;
        a.start_s = -20;
        a.finish_s = -10;
        decision d = decide(r, "heft");
        CHECK(d.of("a").start_s == -20);
        CHECK(d.of("a").finish_s == -10);
        CHECK(d.of("b").resource == "p1");
        CHECK(d.of("b").start_s == 1);
        CHECK(d.objective.makespan_s == 6);
        CHECK(d.critical == std::vector<std::string>{"b"});
    }
    SECTION("done without a resource: everywhere")
    {
        a.status = WORKFLOW_DONE;
        a.resource_id = nullptr;
        decision d = decide(r, "heft");
        CHECK(d.of("b").start_s == 0);
        CHECK(d.of("a").resource == "");
        CHECK(std::isnan(d.of("a").finish_s));
    }
    SECTION("running: the rest of its time")
    {
        a.status = WORKFLOW_RUNNING;
        auto begins_after = [&](double left_s) {
            decision d = decide(r, "heft");

            CHECK(d.of("a").finish_s == Approx(left_s));
            CHECK(d.of("b").start_s == Approx(left_s + 1)); // on p1
        };
        begins_after(10);
        a.elapsed_s = 4;
        begins_after(6);
        a.progress_pct = 50; // so it is shorter than the estimate says
        begins_after(4);
        a.work_done_ref_s = 8; // or longer
        begins_after(8);
        a.progress_pct = none;
        begins_after(2);
        a.work_done_ref_s = 11; // overdue: nobody knows more
        begins_after(1);
        a.finish_s = 3;
        begins_after(3);
        a.finish_s = -2;
        begins_after(1);
    }
    SECTION("running without an estimate: extrapolated")
    {
        a.status = WORKFLOW_RUNNING;
        a.estimate_ref_s = none;
        a.elapsed_s = 10;
        a.progress_pct = 25;
        CHECK(decide(r, "heft").of("a").finish_s == Approx(30));
        a.progress_pct = none;
        r.tasks()[1].etc_s.clear();
        r.tasks()[1].given.estimate_ref_s = none;
        decision d = decide(r, "heft");
        REQUIRE(d.missing("a") != nullptr);
        CHECK(d.missing("a")->reason == "no_estimate");
        CHECK(d.missing("b")->reason == "no_estimate");
        CHECK(d.status == DECISION_INFEASIBLE);
    }
    SECTION("staging: first the transfer")
    {
        a.status = WORKFLOW_STAGING;
        a.transfer_remaining_s = 2;
        CHECK(decide(r, "heft").of("a").start_s == 2);
        CHECK(decide(r, "heft").of("a").finish_s == 12);
    }
    SECTION("running on a resource that has failed: once more")
    {
        a.status = WORKFLOW_RUNNING;
        r.resources[0].failed = true;
        decision d = decide(r, "heft");
        CHECK(d.of("a").resource == "p1");
        CHECK(d.objective.makespan_s == 10);
        REQUIRE(d.warnings.size() == 1);
    }
}

TEST_CASE("a task without work is no division by zero, whatever it has done",
          "[workflow]")
{
    for (int status : {WORKFLOW_IDLE, WORKFLOW_RUNNING, WORKFLOW_DONE, WORKFLOW_FAILED})
        for (double done : {0.0, 3.0, none})
            for (double estimate_ref_s : {0.0, 5e-324, none}) {
                request r;

                r.add_resource(2);
                workflow_task &a = r.add_task("a", estimate_ref_s).given;
                a.status = status;
                a.resource_id = r.resources[0].id;
                a.work_done_ref_s = a.checkpoint_work_ref_s = done;
                r.add_task("b", 4).parents = {{0}};
                for (const struct policy *p = workflow_policies; p->name; p++) {
                    INFO(p->name << ", status " << status << ", done " << done << " of "
                                 << estimate_ref_s);
                    decision d = decide(r, p->name);
                    bool overdue = status == WORKFLOW_RUNNING && done > 0; // 1 s more
                    if (!std::isnan(estimate_ref_s))
                        CHECK(d.objective.makespan_s == Approx(overdue ? 3 : 2));
                }
            }
}

TEST_CASE("resources are taken when they are free", "[workflow]")
{
    request r;

    r.add_resource(1);
    r.add_task("a", 10);
    SECTION("ready_s")
    {
        r.resources[0].ready_s = 5;
        CHECK(decide(r, "heft").of("a").start_s == 5);
    }
    SECTION("free_at_s, when no slot is free")
    {
        const double free_at_s[] = {7, 3};

        r.resources[0].job_count = 2;
        r.resources[0].free_at_s = free_at_s;
        r.resources[0].free_at_count = 2;
        r.resources[0].n_max = 2;
        CHECK(decide(r, "heft").of("a").start_s == 3);
        r.resources[0].n_max = 3;
        CHECK(decide(r, "heft").of("a").start_s == 0);
        CHECK(decide(r, "heft", true).of("a").slot == 2);
        r.resources[0].n_max = 1;
        CHECK(decide(r, "heft").of("a").start_s == 7);
        r.resources[0].job_count = 4; // the ends of two are not known
        CHECK(decide(r, "heft").missing("a")->reason == "unknown_end");
    }
    SECTION("more than the slots are used: who ends first leaves none")
    {
        const double free_at_s[] = {7, 3, 5};

        r.resources[0].job_count = 3;
        r.resources[0].free_at_s = free_at_s;
        r.resources[0].free_at_count = 3;
        r.resources[0].n_max = 1;
        CHECK(decide(r, "heft", true).of("a").start_s == 7);
        r.resources[0].n_max = 2;
        CHECK(decide(r, "heft", true).of("a").start_s == 5);
        r.resources[0].job_count = 4; // the end of one is not known
        CHECK(decide(r, "heft", true).of("a").start_s == 7);
        r.resources[0].job_count = 5;
        CHECK(decide(r, "heft", true).missing("a")->reason == "unknown_end");
    }
    SECTION("two tasks run where there is one slot")
    {
        r.resources[0].n_max = 1;
        for (double end_s : {9, 4}) {
            task &b = r.add_task("b" + std::to_string(int(end_s)), 20);

            b.given.status = WORKFLOW_RUNNING;
            b.given.resource_id = "p0";
            b.given.finish_s = end_s;
        }
        CHECK(decide(r, "heft", true).of("a").start_s == 9);
        r.resources[0].n_max = 2;
        CHECK(decide(r, "heft", true).of("a").start_s == 4);
    }
    SECTION("running tasks are among the used slots")
    {
        const double free_at_s[] = {8, 100};
        task &b = r.add_task("b", 20);

        b.given.status = WORKFLOW_RUNNING;
        b.given.resource_id = "p0";
        b.given.finish_s = 8;
        r.resources[0].job_count = 1;
        CHECK(decide(r, "heft").of("a").start_s == 8);
        r.resources[0].n_max = 2;
        r.resources[0].job_count = 2;
        r.resources[0].free_at_s = free_at_s;
        r.resources[0].free_at_count = 2;
        CHECK(decide(r, "heft", true).of("a").start_s == 8);
        CHECK(decide(r, "heft", true).of("a").slot == 0);
        r.tasks()[1].given.finish_s = 99;
        CHECK(decide(r, "heft", true).of("a").slot == 1);
        CHECK(decide(r, "heft", true).of("a").start_s == 8);
    }
    SECTION("windows: a task fits into one")
    {
        r.windows = {{"p0", 30, none}, {"p0", 2, 8}, {"p0", 8, 11}, {"p0", -9, -1}};
        CHECK(decide(r, "heft").of("a").start_s == 30);
        r.windows[2].to_s = 12;
        CHECK(decide(r, "heft").of("a").start_s == 2);
        r.windows = {{"p0", 0, 9}};
        CHECK(decide(r, "heft").missing("a")->reason == "no_window");
    }
    SECTION("failed")
    {
        r.resources[0].failed = true;
        decision d = decide(r, "heft");
        CHECK(d.missing("a")->reason == "failed");
        CHECK(d.missing("a")->resource_count == 1);
        CHECK(d.status == DECISION_INFEASIBLE);
    }
}

TEST_CASE("slots run tasks side by side", "[workflow]")
{
    request r;

    r.add_resource(2).n_max = 2;
    r.add_task("a", 10);
    r.add_task("b", 10);
    r.add_task("c", 10).parents = {{0, 4, none}, {1, 4, none}};
    CHECK(decide(r, "heft").objective.makespan_s == 15);
    for (const struct policy *p = workflow_policies; p->name; p++)
        CHECK(decide(r, p->name, true).objective.makespan_s == 10); // no transfers
    r.resources[0].sharing = SHARING_EQUAL;
    CHECK(decide(r, "heft").objective.makespan_s == 15);
    CHECK(decide(r, "heft", true).objective.makespan_s == 20);
}

TEST_CASE("tasks that can run nowhere have no place, nor those behind them", "[workflow]")
{
    request r = two_tasks();

    r.add_task("c", 3);
    r.tasks()[0].etc_s = {none, none};
    for (const struct policy *p = workflow_policies; p->name; p++) {
        decision d = decide(r, p->name);

        INFO(p->name);
        CHECK(d.missing("a")->reason == "no_estimate");
        CHECK(d.missing("b")->reason == "after_unplaced");
        CHECK(d.missing("b")->detail.find("'a'") != std::string::npos);
        CHECK(d.of("c").finish_s == 1.5);
        CHECK(d.status == DECISION_FEASIBLE);
    }
    r.tasks()[2].etc_s = {none, none};
    CHECK(decide(r, "auto").status == DECISION_INFEASIBLE);
}

TEST_CASE("nothing to do is done, at once", "[workflow]")
{
    for (const struct policy *p = workflow_policies; p->name; p++) {
        request r, none_at_all;

        INFO(p->name);
        r.add_resource(1);
        CHECK(decide(r, p->name).status == DECISION_OPTIMAL);
        CHECK(decide(r, p->name).objective.makespan_s == 0);
        none_at_all.workflows.clear();
        CHECK(decide(none_at_all, p->name).status == DECISION_OPTIMAL);
        r.add_task("a", 10);
        CHECK(decide(r, p->name).status == DECISION_OPTIMAL);
        CHECK(decide(r, p->name).objective.makespan_s == 10);
        CHECK(decide(r, p->name).critical == std::vector<std::string>{"a"});
        r.resources.clear();
        CHECK(decide(r, p->name).missing("a")->reason == "no_resource");
    }
}

TEST_CASE("several workflows share the resources", "[workflow]")
{
    request r = two_tasks();

    r.workflows.push_back(r.tasks());
    r.workflow_ids = {"w1", "w2"};
    r.single = false;
    decision d = decide(r, "heft");
    CHECK(d.schedule.size() == 4);
    // 20 reference seconds each on speeds 1 and 2
    CHECK(d.objective.makespan_s == 15);
    CHECK(d.schedule[0].workflow == "w1");
    CHECK(d.objective.speedup_ratio == Approx(20.0 / 15));
    r.workflow_ids = {"w1", "w1"};
    CHECK(mistakes(r) == std::vector<std::string>{"/workflows/1/id duplicate"});
    r.workflow_ids.clear();
    CHECK(mistakes(r) == std::vector<std::string>{"/workflows/0/id required",
                                                  "/workflows/1/id required"});
}

// ---- mistakes ----

TEST_CASE("a cycle is named task by task", "[workflow]")
{
    request r;
    std::string text;

    r.add_resource(1);
    for (const char *id : {"x", "a", "b", "c", "y"})
        r.add_task(id, 1);
    r.tasks()[1].parents = {{0}, {3}};
    r.tasks()[2].parents = {{1}};
    r.tasks()[3].parents = {{2}};
    r.tasks()[4].parents = {{3}};
    CHECK(mistakes(r, &text) ==
          std::vector<std::string>{"/workflow/tasks/1/depends_on cycle"});
    CHECK(text == "these tasks wait for each other: a -> b -> c -> a");
    r.tasks()[1].parents.clear();
    r.workflows.push_back({task("p", 1), task("q", 1)});
    r.workflows[1][0].parents = {{1}};
    r.workflows[1][1].parents = {{0}};
    r.workflow_ids = {"w1", "w2"};
    r.single = false;
    CHECK(mistakes(r, &text) ==
          std::vector<std::string>{"/workflows/1/tasks/0/depends_on cycle"});
    CHECK(text == "these tasks wait for each other: p -> q -> p");
}

TEST_CASE("a very long cycle is named in part", "[workflow]")
{
    request r;
    std::string text;

    for (size_t i = 0; i < 1000; i++)
        r.add_task("task-with-a-rather-long-name-" + std::to_string(i), 1).parents = {
            {(i + 999) % 1000}};
    CHECK(mistakes(r, &text).size() == 1);
    CHECK(text.find("-> ... ->") != std::string::npos);
    CHECK(text.find("long-name-0 ->") != std::string::npos);
}

TEST_CASE("all mistakes are found at once", "[workflow]")
{
    request r;

    r.add_resource(1);
    for (const char *id : {"a", "a", "", "d", "e"})
        r.add_task(id, 1);
    auto &tasks = r.tasks();
    tasks[0].given.estimate_ref_s = -1;
    tasks[0].etc_s = {1, 2};
    tasks[1].given.progress_pct = 101;
    tasks[1].etc_s = {-4};
    tasks[2].given.status = WORKFLOW_RUNNING;
    tasks[3].given.resource_id = "nowhere";
    tasks[3].files = {"nothing"};
    tasks[3].parents = {{99}, {3}, {4}, {4, -1, none}};
    tasks[4].given.status = WORKFLOW_DONE;
    tasks[4].given.finish_s = 1;
    tasks[4].given.release_s = none;
    tasks[4].given.since_last_move_s = -1;
    r.windows = {{"p7", 0, 1}, {"p0", 3, 2}};
    r.resources[0].mips_total = -1;
    r.files.clear();
    CHECK(mistakes(r) ==
          std::vector<std::string>{
              "/snapshot/resources/0/mips_total out_of_bounds",
              "/workflow/tasks/0/estimate_ref_s out_of_bounds",
              "/workflow/tasks/0/etc_s wrong_length", "/workflow/tasks/1/id duplicate",
              "/workflow/tasks/1/progress_pct out_of_bounds",
              "/workflow/tasks/1/etc_s/0 out_of_bounds", "/workflow/tasks/2/id required",
              "/workflow/tasks/2/resource_id required",
              "/workflow/tasks/3/resource_id unknown_id",
              "/workflow/tasks/3/input_file_ids/0 unknown_id",
              "/workflow/tasks/4/release_s out_of_bounds",
              "/workflow/tasks/4/since_last_move_s out_of_bounds",
              "/workflow/tasks/4/finish_s out_of_bounds",
              "/availability/0/resource_id unknown_id",
              "/availability/1/to_s out_of_bounds",
              "/workflow/tasks/3/depends_on/0/task_id unknown_id",
              "/workflow/tasks/3/depends_on/1/task_id cycle",
              "/workflow/tasks/3/depends_on/3/transfer_s out_of_bounds",
              "/workflow/tasks/3/depends_on/3/task_id duplicate"});
}
