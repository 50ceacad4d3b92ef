// dispatch_test.cpp - one copy of each job to the fastest resource.
#include "tests/round_support.hpp"

#include <algorithm>

extern "C" {
#include "algorithms/dispatch/dispatch.h"
}

static const struct policy *policy(const char *name)
{
    return policy_find(dispatch_policies, name);
}

TEST_CASE("jobs go where the mini test of simulator.md 10 says", "[dispatch]")
{
    grid g;
    g.resource(0, 1, 1, 0); // a
    g.resource(1, 3, 2, 1); // b
    for (double length_mi : {100, 400, 50})
        g.job(length_mi); // X Y Z
    struct {
        const char *policy;
        texts want;
        size_t waits;
    } cases[] = {{"fjbcr", {"start J0 R1", "start J1 R0"}, 2},
                 {"max_max", {"start J1 R1", "start J0 R0"}, 2},
                 {"min_max", {"start J2 R1", "start J0 R0"}, 1},
                 {"rescheduling", {"start J0 R1", "start J1 R0"}, 2}};
    for (auto &c : cases) {
        rounds rs;
        round_out out = rs.run(policy(c.policy), g);
        CAPTURE(c.policy);
        CHECK(action_texts(out) == c.want);
        REQUIRE(out.wait_count == 1);
        CHECK(out.waits[0].job == c.waits);
    }
}

TEST_CASE("jobs of equal length go by arrival, resources of equal speed by index",
          "[dispatch]")
{
    for (const char *name : {"fjbcr", "max_max", "min_max"}) {
        rounds rs;
        grid g;
        g.resource(1, 2, 2, 1); // 2 / 2
        g.resource(0, 1, 1, 0); // 1 / 1
        for (int i = 0; i < 5; i++)
            g.job(100);
        CHECK(action_texts(rs.run(policy(name), g)) ==
              texts{"start J0 R0", "start J1 R1"});
    }
}

static double transfer_s(const void *context, size_t job, size_t resource)
{
    (void)job;
    return resource == 1 ? *static_cast<const double *>(context) : 0;
}

TEST_CASE("running jobs move when they gain more than it costs", "[dispatch]")
{
    // J0 on R0 of 1 MIPS has 1000 s left, on R1 of 2 MIPS 500 s
    struct {
        const char *why;
        double overhead_s, rollback_mi, transfer_s, min_gain_s;
        bool moves;
    } cases[] = {
        {"nothing to pay", 0, 0, 0, 0, true},
        {"as much as it gains", 0, 0, 0, 500, false},
        {"a little less", 0, 0, 0, 499.9, true},
        {"overhead and transfer", 100, 0, 400, 0, false},
        {"the same, cheaper", 100, 0, 399, 0, true},
        {"work done again", 0, 1000, 0, 0, false},
        {"less of it", 0, 999, 0, 0, true},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.why)
        {
            test_arena a;
            error err{};
            grid g;
            g.resource(0, 1, 2);
            g.resource(1, 2, 1);
            g.job(1500);
            g.copy(0, 0, 500);
            g.jobs[0].checkpoint_overhead_s = c.overhead_s;
            g.jobs[0].rollback_mi = c.rollback_mi;
            round_in in = g.in();
            in.transfer_s = transfer_s;
            in.context = &c.transfer_s;
            double param[] = {c.min_gain_s};
            round_out out{};
            REQUIRE(dispatch_rescheduling(&in, param, &out, a, &err) == OK);
            CHECK(action_texts(out) == (c.moves ? texts{"migrate J0 R1"} : texts{}));
        }
    SECTION("a move changes the load at once, and waiting jobs come first")
    {
        rounds rs;
        grid g;
        g.resource(0, 1, 4);
        g.resource(1, 2, 2);
        for (int i = 0; i < 3; i++)
            g.job(1000);
        g.copy(0, 0);
        g.copy(1, 0);
        // J2 takes R1 (2 > 1/3); on R0 two share 1 MIPS: 2000 s, on R1 two share 2:
        // 1000 s. J0 moves; R1 is full and J1 stays.
        CHECK(action_texts(rs.run(policy("rescheduling"), g)) ==
              texts{"start J2 R1", "migrate J0 R1"});
        g.replicas[0][0].state = REPLICA_TRANSFERRING;
        CHECK(action_texts(rs.run(policy("rescheduling"), g)) ==
              texts{"start J2 R1", "migrate J1 R1"});
    }
}

TEST_CASE("dispatch policies keep their promises", "[dispatch][property]")
{
    check_table(dispatch_policies, "dispatch_test");
}

TEST_CASE("dispatch policies are documented", "[dispatch]")
{
    check_rows(dispatch_policies);
}

TEST_CASE("policies of dispatch have no option that changes nothing", "[dispatch]")
{
    for (const struct policy *p = dispatch_policies; p->name; p++)
        for (const param *row = p->params; row->name; row++)
            CHECK(std::string(row->name) != "capacity_unit");
}
