// Somebody's own schedule of a workflow: violations, measures, repair.
#include "tests/workflow_support.hpp"

using namespace flows;

namespace
{

std::vector<std::string> violations(request &r, const std::vector<placed> &schedule,
                                    double *repaired_s = nullptr)
{
    test_arena a;
    workflow_check_out out = check(r, schedule, a);
    std::vector<std::string> list;

    for (size_t i = 0; i < out.violation_count; i++) {
        const workflow_violation &v = out.violations[i];
        char by[32] = "";

        if (!std::isnan(v.by_s))
            std::snprintf(by, sizeof(by), " %g", v.by_s);
        list.push_back(std::string(v.kind) + " " + v.task_id +
                       (v.other_task_id ? std::string(" ") + v.other_task_id : "") + by);
    }
    CHECK(out.valid == list.empty());
    if (repaired_s)
        *repaired_s = out.repaired_makespan_s;
    return list;
}

using texts = std::vector<std::string>;

placed row(const char *task, const char *resource, double start_s, double finish_s = none)
{
    return {"", task, resource, start_s, finish_s, none, 0, 0};
}

} // namespace

TEST_CASE("a given schedule is checked against every rule", "[workflow]")
{
    request r = two_tasks();
    double repaired_s;

    r.tasks()[1].parents[0].transfer_s = 4;
    r.add_task("c", 6).given.release_s = 2;
    CHECK(violations(r, {row("a", "p1", 0), row("b", "p1", 5), row("c", "p0", 2)},
                     &repaired_s) == texts{});
    CHECK(repaired_s == 10);
    CHECK(violations(r, {row("a", "p1", 0), row("b", "p0", 8), row("c", "p0", 2)},
                     &repaired_s) == texts{"transfer b a 1"});
    CHECK(repaired_s == 19);
    CHECK(violations(r, {row("a", "p1", 0), row("b", "p0", 4), row("c", "p1", 2)}) ==
          texts{"precedence b a 1", "capacity c a 3"});
    CHECK(violations(r, {row("a", "p1", 0, 4), row("b", "p1", 5), row("c", "p0", 1)}) ==
          texts{"too_short a 1", "release c 1"});
    CHECK(violations(r, {row("a", "p1", 0), row("a", "p0", 0), row("b", "p1", -5)},
                     &repaired_s) ==
          texts{"twice a", "release b 5", "precedence b a 10", "missing c"});
    CHECK(std::isnan(repaired_s));
    // b before its own parent, on one processor: that order cannot be kept
    violations(r, {row("a", "p1", 10), row("b", "p1", 0), row("c", "p0", 2)},
               &repaired_s);
    CHECK(std::isnan(repaired_s));
    r.tasks()[2].etc_s = {none, 3};
    CHECK(violations(r, {row("a", "p1", 0), row("b", "p1", 5), row("c", "p0", 2)}) ==
          texts{"cannot_run c"});
    r.windows = {{"p1", 2, 20}};
    CHECK(violations(r, {row("a", "p1", 0), row("b", "p1", 5), row("c", "p1", 10)},
                     &repaired_s) == texts{"not_available a 2"});
    CHECK(repaired_s == 15);
}

TEST_CASE("a given schedule with unknown names is refused", "[workflow]")
{
    request r = two_tasks();
    test_arena a;
    error err = collecting_error(a);
    workflow_problem *problem = nullptr;
    workflow_check_out out{};
    workflow_given given[] = {{"w", "a", "p0", 0, none, none, nullptr, 0},
                              {nullptr, "z", "p9", none, none, none, nullptr, 0},
                              {nullptr, nullptr, nullptr, 0, none, none, nullptr, 0},
                              {nullptr, "a", "p0", none, HUGE_VAL, none, nullptr, 0}};

    REQUIRE(workflow_problem_make(r.build(), false, &problem, a, &err) == OK);
    CHECK(workflow_check(problem, nullptr, given, 4, &out, a, &err) == ERR_INVALID);
    texts found;
    for (const error_item *i = err.first; i; i = i->next)
        found.push_back(std::string(i->pointer) + " " + item_kinds[i->code].name);
    CHECK(found ==
          texts{"/schedule/0/workflow_id unknown_id", "/schedule/1/task_id unknown_id",
                "/schedule/1/resource_id unknown_id", "/schedule/2/task_id required",
                "/schedule/2/resource_id required", "/schedule/3/start_s required",
                "/schedule/3/finish_s out_of_bounds"});
}

TEST_CASE("with slots as many rows as slots may overlap", "[workflow]")
{
    request r;
    test_arena a;
    error err = collecting_error(a);
    workflow_problem *problem = nullptr;
    workflow_check_out out{};

    r.add_resource(1).n_max = 2;
    for (const char *id : {"a", "b", "c"})
        r.add_task(id, 10);
    r.add_task("d", 0); // takes no time: in nobody's way
    workflow_given given[] = {{nullptr, "a", "p0", 0, none, none, nullptr, 0},
                              {nullptr, "b", "p0", 5, none, none, nullptr, 0},
                              {nullptr, "c", "p0", 10, none, none, nullptr, 0},
                              {nullptr, "d", "p0", 7, none, none, nullptr, 0}};
    REQUIRE(workflow_problem_make(r.build(), true, &problem, a, &err) == OK);
    REQUIRE(workflow_check(problem, nullptr, given, 4, &out, a, &err) == OK);
    CHECK(out.valid);
    CHECK(out.objective.makespan_s == 20);
    CHECK(out.repaired_makespan_s == 20);
    given[2].start_s = 8;
    REQUIRE(workflow_check(problem, nullptr, given, 4, &out, a, &err) == OK);
    REQUIRE(out.violation_count == 1);
    CHECK(std::string(out.violations[0].kind) == "capacity");
    CHECK(out.violations[0].by_s == 2);
    CHECK(std::string(out.violations[0].other_task_id) == "a");
}
