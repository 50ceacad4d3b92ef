// Tasks that take no time, equal times and whole numbers: no proof is false, no search is
// worse than a list, and the service accepts what it gives.
#include "tests/torture.hpp"
#include "tests/workflow_brute.hpp"

#include <cstring>

using namespace flows;

namespace
{

decision found(request &r, double max_steps = 1e6)
{
    test_arena a(size_t{2} << 30);
    error err = collecting_error(a);
    named_value option = {"max_steps", VALUE_NUMBER, max_steps, nullptr};
    workflow_out out{};
    decision d{};

    if (workflow_decide(r.build(), policy_find(workflow_policies, "search"), &option, 1,
                        &out, a, &err) != OK)
        FAIL(err.field << ": " << err.text);
    CHECK(out.check_failure == nullptr);
    d.status = out.status;
    d.objective = out.objective;
    for (size_t i = 0; i < out.schedule_count; i++)
        d.schedule.push_back({"", out.schedule[i].task_id, out.schedule[i].resource_id,
                              out.schedule[i].start_s, out.schedule[i].finish_s, 0, 0,
                              0});
    return d;
}

// The answer, looked at as if it were somebody's own.
void accepted(request &r, const decision &d)
{
    test_arena a;
    workflow_check_out c = check(r, d.schedule, a);

    if (c.violation_count)
        INFO(c.violations[0].kind << " " << c.violations[0].task_id);
    CHECK(c.valid);
    CHECK(c.objective.makespan_s == Approx(d.objective.makespan_s).epsilon(1e-12));
    CHECK(c.repaired_makespan_s <= d.objective.makespan_s * (1 + 1e-12));
    CHECK(c.objective.lower_bound_s <= d.objective.makespan_s * (1 + 1e-9));
}

// Makespan of the best list plan; each is accepted.
double least_of_lists(request &r)
{
    double least_s = HUGE_VAL;

    for (const char *policy : {"heft", "cpop", "peft"}) {
        decision d = decide(r, policy);

        INFO(policy);
        REQUIRE(d.unplaced.empty());
        accepted(r, d);
        least_s = std::min(least_s, d.objective.makespan_s);
    }
    return least_s;
}

void look_at(uint64_t seed, size_t most)
{
    request r = draw_whole(seed, most);
    double least_s = least_of_lists(r), bound_s = 0, best_s;
    decision d = found(r);

    INFO("seed " << seed);
    accepted(r, d);
    CHECK(d.objective.makespan_s <= least_s * (1 + 1e-12));
    best_s = std::min(least_makespan_s(r, d.objective.makespan_s * (1 - 1e-9)),
                      d.objective.makespan_s);
    CHECK(d.status == DECISION_OPTIMAL);
    CHECK(d.objective.makespan_s == Approx(best_s).epsilon(1e-9));
    for (const char *policy : {"heft", "cpop", "peft", "search"})
        bound_s = std::max(bound_s, decide(r, policy).objective.lower_bound_s);
    CHECK(bound_s <= best_s * (1 + 1e-9));
}

} // namespace

TEST_CASE("a task without a run time stays before what starts with it", "[workflow]")
{
    request r =
        by_matrix({{4, 4}, {8, 8}, {0, 0}, {8, 8}}, {{0, 1, 0}, {0, 2, 8}, {2, 3, 0}});
    decision d = found(r);

    CHECK(d.status == DECISION_OPTIMAL);
    CHECK(d.objective.makespan_s == 12);
    CHECK(d.objective.lower_bound_s == 12);
    accepted(r, d);
}

TEST_CASE("a task without a run time runs inside another one", "[workflow]")
{
    // a, y, L, z, c
    request r = by_matrix({{3, 100}, {100, 5}, {10, 100}, {0, 0}, {100, 4}},
                          {{0, 3, 100}, {1, 3, 0}, {3, 4, 0}, {0, 2, 0}});
    decision d = found(r);

    CHECK(d.status == DECISION_OPTIMAL);
    CHECK(d.objective.makespan_s == 13);
    CHECK(d.of("3").resource == "p0");
    CHECK(d.of("3").start_s == 5); // inside L, 3 to 13
    CHECK(d.of("4").start_s == 5);
    accepted(r, d);
    CHECK(decide(r, "heft").objective.makespan_s == 13);
    CHECK(decide(r, "peft").objective.makespan_s == 13);
}

TEST_CASE("parents of one child come one after the other, or send", "[workflow]")
{
    request all = by_matrix({{10, 10}, {10, 10}, {10, 10}, {5, 5}},
                            {{0, 3, 100}, {1, 3, 100}, {2, 3, 100}});
    request some = by_matrix({{10, 10}, {10, 10}, {10, 10}, {5, 5}},
                             {{0, 3, 8}, {1, 3, 12}, {2, 3, 30}});
    decision one = found(all), two = found(some);

    CHECK(decide(all, "heft").objective.lower_bound_s == Approx(35).epsilon(1e-9));
    CHECK(one.objective.makespan_s == 35);
    CHECK(one.status == DECISION_OPTIMAL);
    CHECK(decide(some, "heft").objective.lower_bound_s == Approx(25).epsilon(1e-9));
    CHECK(decide(some, "heft").objective.makespan_s == 27);
    CHECK(two.objective.makespan_s == 25);
    CHECK(two.status == DECISION_OPTIMAL);
}

TEST_CASE("a chain of two and two tasks of three: 5, never proven at 6", "[workflow]")
{
    request r = by_matrix({{2, 2}, {2, 2}, {3, 3}, {3, 3}}, {{0, 1, 0}});
    decision d = found(r);

    CHECK(d.objective.makespan_s == 5);
    CHECK(d.status == DECISION_OPTIMAL);
}

TEST_CASE("no run times at all: no bound, no gap, and that is optimal", "[workflow]")
{
    request r = by_matrix({{0, 0}, {0, 0}, {0, 0}}, {{0, 2, 0}});

    for (const char *policy : {"heft", "search"}) {
        decision d = decide(r, policy);

        CHECK(d.status == DECISION_OPTIMAL);
        CHECK(d.objective.makespan_s == 0);
        CHECK(d.objective.lower_bound_s == 0);
        CHECK(std::isnan(d.objective.gap_ratio));
    }
}

TEST_CASE("a task without a run time waits for a closed resource, not for a busy one",
          "[workflow]")
{
    request r = by_matrix({{0}, {4}}, {});

    r.tasks()[0].given.release_s = 2;
    r.resources[0].ready_s = 3;
    CHECK(decide(r, "heft").of("0").start_s == 3);
    r.resources[0].ready_s = 0;
    CHECK(decide(r, "heft").of("0").start_s == 2); // inside the other one
    r.windows = {{"p0", 0, 1}, {"p0", 6, none}};
    CHECK(decide(r, "heft").of("0").start_s == 6);
    r.windows = {{"p0", 0, 2}, {"p0", 6, none}};
    CHECK(decide(r, "heft").of("0").start_s == 2); // where the resource closes
    r.windows = {};
    r.add_task("running", 10);
    r.tasks()[2].etc_s = {10};
    r.tasks()[2].given.status = WORKFLOW_RUNNING;
    r.tasks()[2].given.resource_id = "p0";
    CHECK(decide(r, "heft").of("0").start_s == 2);
    CHECK(decide(r, "heft").of("1").start_s == 10);
}

TEST_CASE("a repaired schedule keeps nobody waiting for a task of no time", "[workflow]")
{
    /* x is ready at 5 on p0; b, ready at 0, stands there from 6 on and needs not wait. */
    request r = by_matrix({{9, 5}, {0, 0}, {3, 9}}, {{0, 1, 0}});
    test_arena a;
    workflow_check_out c = check(r,
                                 {{"", "0", "p1", 0, 5, 0, 0, 0},
                                  {"", "1", "p0", 5, 5, 0, 0, 0},
                                  {"", "2", "p0", 6, 9, 0, 0, 0}},
                                 a);

    CHECK(c.valid);
    CHECK(c.objective.makespan_s == 9);
    CHECK(c.repaired_makespan_s == 5);
}

TEST_CASE("whole numbers and zeros: nothing is better than what is called optimal",
          "[workflow][property]")
{
    for (uint64_t seed = 0; seed < 250; seed++)
        look_at(seed, 6);
}

// gridplan_tests '[workflow_zeros]': some minutes in a release build.
TEST_CASE("whole numbers and zeros, 10,000 graphs of up to 8 tasks",
          "[.][workflow_zeros]")
{
    torture(1000, 10000, [](uint64_t seed) { look_at(seed, 8); });
}

namespace
{

double all_spent(void *)
{
    return 1;
}

} // namespace

TEST_CASE("without any time the answer is cut, and says so", "[workflow]")
{
    budget spent = make_budget(all_spent, nullptr);
    std::vector<std::vector<double>> times(10, std::vector<double>(50, 3.0));
    std::vector<edge> edges;
    request r;

    for (size_t i = 1; i < 10; i++)
        edges.push_back({i - 1, i, 1});
    r = by_matrix(times, edges);
    for (const char *policy : {"heft", "cpop", "peft", "search", "auto"}) {
        r.in.time_limit_given = true;
        decision d = decide(r, policy, false, &spent);

        INFO(policy);
        CHECK(d.status == DECISION_CUT);
        CHECK_FALSE(d.objective.gap_ratio == 0);
        CHECK(d.schedule.size() + d.unplaced.size() == 10);
        for (const refused &u : d.unplaced)
            CHECK(u.reason == "time_limit");
    }
}

TEST_CASE("many processors, of kinds and failed ones: never worse than a list",
          "[workflow][property]")
{
    for (uint64_t seed = 0; seed < 8; seed++) {
        rng d = rng_stream(seed, "many processors");
        request r;

        for (size_t p = 0; p < 44; p++) {
            r.add_resource(1 + (double)(p % 3));
            r.resources.back().failed = p % 11 == seed % 11;
        }
        for (size_t i = 0; i < 60; i++) {
            task &t = r.add_task(std::to_string(i), whole_or_zero(d));

            for (size_t j = i > 8 ? i - 8 : 0; j < i; j++)
                if (rng_uniform(&d) < 0.3)
                    t.parents.push_back({j, whole_or_zero(d), none});
        }
        INFO("seed " << seed);
        double least_s = least_of_lists(r);
        decision found_by = found(r, 2000);
        accepted(r, found_by);
        CHECK(found_by.objective.makespan_s <= least_s * (1 + 1e-12));
        CHECK(found_by.objective.makespan_s >= found_by.objective.lower_bound_s);
    }
}

TEST_CASE("whole numbers: bounds come in whole steps", "[workflow]")
{
    request three = by_matrix({{5, 5}, {5, 5}, {5, 5}}, {});
    request tenths = by_matrix({{0.5, 0.5}, {0.7, 0.7}, {0.3, 0.3}}, {});

    for (const char *policy : {"heft", "cpop", "peft", "search"}) {
        decision d = decide(three, policy);

        INFO(policy);
        CHECK(d.objective.area_s == 7.5);
        CHECK(d.objective.lower_bound_s == 10);
        CHECK(d.status == DECISION_OPTIMAL);
    }
    CHECK(decide(tenths, "heft").status == DECISION_OPTIMAL); // 0.75 s of work each: 0.8
    CHECK(decide(tenths, "heft").objective.lower_bound_s == Approx(0.8).epsilon(1e-9));
    tenths.tasks()[2].given.release_s = 0.01; // in steps of a hundredth: 0.75
    CHECK(decide(tenths, "heft").objective.lower_bound_s < 0.76);
}
