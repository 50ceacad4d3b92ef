// placement_amounts_test.cpp - what limits jobs: who may, cpus, memory, slots, what runs.
#include "tests/placement_support.hpp"

#include <set>

TEST_CASE("an empty list of grants admits nobody", "[placement]")
{
    for (bool listed : {false, true}) {
        world w;
        test_arena a;
        resource &h = w.host("n");
        if (listed)
            h.allowed = w.list({"none of it counts"});
        w.task("j", 1).user = "alice";
        placement_out out = decided(w, "mct", a);
        CHECK(out.placement_count == (listed ? 0 : 1));
        if (!listed)
            continue;
        REQUIRE(reason_of(out, "j", "unauthorised") != nullptr);
        CHECK(reason_of(out, "j", "unauthorised")->resource_count == 1);
    }
}

TEST_CASE("without n_max only cpus and memory limit", "[placement]")
{
    for (const char *policy :
         {"mct", "min_min", "max_min", "sufferage", "olb", "gridway"}) {
        INFO(policy);
        world w;
        test_arena a;
        w.host("n").cpus = 4;
        for (int i = 0; i < 8; i++)
            w.task("j" + std::to_string(i), 10).cpus = 0.5;
        placement_out out = decided(w, policy, a);
        CHECK(out.placement_count == 8);
        CHECK(out.objective.makespan_s == 10);
        std::set<uint64_t> slots;
        for (size_t i = 0; i < out.placement_count; i++)
            slots.insert(out.placements[i].slot);
        CHECK(slots.size() == 8);
    }
}

TEST_CASE("a part of a cpu is enough for a job that needs no more", "[placement]")
{
    world w;
    test_arena a;
    w.host("n").cpus = 0.5;
    w.task("half", 10).cpus = 0.5;
    w.task("third", 10).cpus = 0.3;
    w.task("whole", 10).cpus = 1;
    placement_out out = decided(w, "mct", a);
    CHECK(times_text(out) == "half 0-10, third 10-20");
    REQUIRE(reason_of(out, "whole", "too_small") != nullptr);
    w.resources[0].n_max = 0;
    out = decided(w, "mct", a);
    CHECK(out.placement_count == 0);
    REQUIRE(reason_of(out, "half", "unknown_end") != nullptr);
    CHECK(std::string(reason_of(out, "half", "unknown_end")->detail)
              .rfind("it has no slot", 0) == 0);
}

TEST_CASE("a tenth of a cpu fits ten times", "[placement]")
{
    world w;
    test_arena a;
    w.host("n").cpus = 1;
    for (int i = 0; i < 10; i++)
        w.task("j" + std::to_string(i), 10).cpus = 0.1;
    placement_out out = decided(w, "mct", a);
    CHECK(out.objective.makespan_s == 10);
    w.resources[0].n_max = 5; // now slots limit as well
    CHECK(decided(w, "mct", a).objective.makespan_s == 20);
    w.resources[0].n_max = NAN;
    w.busy(w.resources[0], {5}); // the one busy slot holds its part: all
    CHECK(decided(w, "mct", a).objective.makespan_s == 15);
}

TEST_CASE("a resource that is full all the time is used by 1, and not by more",
          "[placement]")
{
    for (bool by_cpus : {false, true})
        for (int places : {1, 3, 7, 1000})
            for (double run_s : {0.1, 0.3, 1.0 / 3, 0.7, 1.1}) {
                world w;
                test_arena a;
                resource &n = w.host("n");
                (by_cpus ? n.cpus : n.n_max) = places;
                for (int i = 0; i < places * (places == 1000 ? 2 : 30); i++)
                    w.task("j" + std::to_string(i), run_s);
                placement_out out = decided(w, "mct", a);
                CAPTURE(by_cpus, places, run_s);
                REQUIRE(out.load_count == 1);
                CHECK(out.loads[0].utilisation_ratio == 1);
                CHECK(out.objective.utilisation_ratio == 1);
                CHECK(out.loads[0].busy_s ==
                      Approx(places * out.objective.makespan_s).epsilon(1e-12));
            }
}

TEST_CASE("a running job that the request names holds what it needs", "[placement]")
{
    struct {
        double cpus, job_count, free_at_s;
        const char *want;
    } cases[] = {
        {60, 1, 100, "p 100-110, q 0-200"}, // 60 of 64 cpus until 100
        {2, 1, 100, "p 0-10, q 0-200"},     // not 1/64 of the node, but 2 cpus
        {60, 0, 0, "q 0-200"},              // the end is not known
    };
    for (auto &c : cases) {
        world w;
        test_arena a;
        resource &h = w.host("n");
        h.cpus = 64;
        h.memory_bytes = 256e9;
        if (c.job_count > 0)
            w.busy(h, {c.free_at_s});
        job &q = w.task("q", 200);
        q.cpus = 2;
        q.memory_bytes = 56e9;
        w.task("p", 10).cpus = 60;
        job &run = w.task("run", 100);
        run.cpus = c.cpus;
        run.memory_bytes = 200e9;
        size_t at = 0;
        w.in.running_count = 1;
        w.in.running_at = &at;
        placement_out out{};
        error err = collecting_error(a);
        REQUIRE(decide(w, "mct", out, a, err) == OK);
        INFO(c.cpus << " " << c.job_count);
        CHECK(times_text(out) == c.want);
        if (c.job_count <= 0) {
            REQUIRE(reason_of(out, "p", "unknown_end") != nullptr);
            CHECK(reason_of(out, "p", "unknown_end")->resource_count == 1);
        }
    }
}
