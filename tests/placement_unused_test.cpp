// placement_unused_test.cpp - deadlines, priorities, and what a policy does not look at.
#include "tests/placement_support.hpp"

#include <set>

namespace
{

size_t warnings_with(const placement_out &out, const std::string &start)
{
    size_t count = 0;
    for (size_t i = 0; i < out.warning_count; i++)
        count += std::string(out.warnings[i]).rfind(start, 0) == 0;
    return count;
}

} // namespace

TEST_CASE("jobs of a slot stand by priority and deadline where that is free",
          "[placement]")
{
    for (const char *policy : {"mct", "min_min", "max_min", "sufferage", "search"}) {
        INFO(policy);
        world w;
        test_arena a;
        w.host("n");
        w.task("plain", 10);
        w.task("late", 10).deadline_s = 30;
        w.task("soon", 10).deadline_s = 20;
        w.task("urgent", 10).fixed_priority = 20;
        placement_out out = decided(w, policy, a);
        CHECK(times_text(out) == "late 20-30, plain 30-40, soon 10-20, urgent 0-10");
        CHECK(out.objective.late_count == 0);
        CHECK(out.objective.makespan_s == 40);
        CHECK(warnings_with(out, "deadlines_not_in_objective: 2 jobs have a deadline "
                                 "(first /jobs/1/deadline_s)") == 1);
        CHECK(warnings_with(out, "priorities_not_in_objective: 1 job has a "
                                 "fixed_priority (first /jobs/3/fixed_priority)") == 1);
    }
}

TEST_CASE("the order of a slot changes neither its end nor other jobs", "[placement]")
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        rng r = rng_create(seed);
        world w, plain;
        test_arena a;
        size_t hosts = 1 + rng_index(&r, 3), jobs = rng_index(&r, 12);
        for (size_t i = 0; i < hosts; i++) {
            bool limited = rng_index(&r, 2), busy = rng_index(&r, 3) == 0;
            for (world *x : {&w, &plain}) {
                resource &h = x->host("r" + std::to_string(i), 1 + double(i));
                if (limited)
                    h.cpus = 3;
                if (busy)
                    x->busy(h, {4});
            }
        }
        for (size_t i = 0; i < jobs; i++) {
            double estimate = double(rng_index(&r, 4)) * 0.1,
                   cpus = 1 + double(rng_index(&r, 2));
            double release = rng_index(&r, 4) ? 0 : 2;
            for (world *x : {&w, &plain}) {
                job &j = x->task("j" + std::to_string(i), estimate);
                j.cpus = cpus;
                j.release_s = release;
            }
            if (rng_index(&r, 2))
                w.jobs.back().deadline_s = double(rng_index(&r, 3));
            w.jobs.back().fixed_priority = double(rng_index(&r, 2));
        }
        for (const char *policy : {"mct", "min_min", "olb"}) {
            placement_out x = decided(w, policy, a), y = decided(plain, policy, a);
            INFO("seed " << seed << " " << policy);
            CHECK(x.objective.makespan_s == y.objective.makespan_s);
            CHECK(x.placement_count == y.placement_count);
            for (size_t i = 0; i < x.load_count; i++)
                CHECK(x.loads[i].finish_s == y.loads[i].finish_s);
            for (size_t i = 0; i < x.placement_count; i++) {
                const placement &p = x.placements[i];
                CHECK(std::string(p.resource_id) == y.placements[i].resource_id);
                CHECK(p.finish_s - p.start_s == Approx(p.run_time_s).margin(1e-9));
                for (size_t k = 0; k < i; k++) {
                    const placement &q = x.placements[k];
                    if (std::string(p.resource_id) == q.resource_id && p.slot == q.slot)
                        CHECK((p.start_s >= q.finish_s || q.start_s >= p.finish_s));
                }
            }
        }
    }
}

TEST_CASE("what the policy does not look at is said once", "[placement]")
{
    world w;
    test_arena a;
    w.snap.taken_at_s = NAN;
    resource &h = w.host("n");
    h.fixed_priority = 5;
    h.failure_count = NAN;
    h.last_failure_at_s = h.up_since_s = h.uptime_total_s = NAN;
    h.observed_since_s = -5;
    h.observed_at_s = 1;
    h.free_at_s = w.array({1, 2});
    h.free_at_count = 2;
    for (int i = 0; i < 3; i++) {
        job &j = w.task("j" + std::to_string(i), 1);
        if (i == 0)
            continue;
        j.rank = "1";
        j.queued_at_s = 0;
        j.deadline_at_s = 10;
        j.task_index = 1;
        j.param_start = 1;
    }
    w.row("k", {1}).estimate_ref_s = 7;
    w.users.push_back({"alice", 5, nullptr, 0, 0});
    w.usage.push_back({"alice", "n", 3, NAN, NAN, NAN});
    std::vector<named_value> options = {
        option("job_order", "gridway_priority"), option("w_wait", 2.0),
        option("limits", "gridway5"), option("w_share", 1.0)};
    placement_out out = decided(w, "min_min", a, options);
    for (const char *want :
         {"ignored: rank of 2 jobs (first /jobs/1/rank)",
          "ignored: queued_at of 2 jobs (first /jobs/1/queued_at)",
          "ignored: deadline_at of 2 jobs (first /jobs/1/deadline_at)",
          "ignored: task_index of 2 jobs (first /jobs/1/task_index)",
          "ignored: param_start of 2 jobs (first /jobs/1/param_start)",
          "ignored: estimate_ref_s of 1 job (first /jobs/3/estimate_ref_s)",
          "ignored: fixed_priority of 1 resource (first "
          "/snapshot/resources/0/fixed_priority)",
          "ignored: failure_count of 1 resource", "ignored: free_at_s of 1 resource",
          "ignored: observed_at of 1 resource", "ignored: 1 user (/users)",
          "ignored: mean_s and last_s of 1 row of usage (first /usage/0)",
          "ignored: 3 options (/options/job_order, /options/w_wait, /options/limits)"}) {
        INFO(want);
        CHECK(warnings_with(out, want) == 1);
    }
    CHECK(warnings_with(out, "ignored:") == 13);
    w.snap.taken_at_s = 100;
    options.push_back(option("resource_order", "gridway_priority"));
    out = decided(w, "gridway", a, options);
    std::set<std::string> left;
    for (size_t i = 0; i < out.warning_count; i++)
        left.insert(std::string(out.warnings[i]).substr(0, 30));
    CHECK(left.count("ignored: rank of 2 jobs (first") == 0);
    CHECK(warnings_with(out, "ignored: queued_at") == 0);
    CHECK(warnings_with(out, "ignored: fixed_priority") == 0);
    CHECK(warnings_with(out, "ignored: mean_s") == 0);
    CHECK(warnings_with(out, "ignored: 1 user") == 0);
    CHECK(warnings_with(out, "ignored: 3 options") == 0);
}

TEST_CASE("needs that no resource limits are said", "[placement]")
{
    world w;
    test_arena a;
    w.host("n");
    for (int i = 0; i < 2; i++) {
        job &j = w.task("j" + std::to_string(i), 1);
        j.cpus = 84;
        j.memory_bytes = 1e9;
    }
    placement_out out = decided(w, "mct", a);
    CHECK(out.placement_count == 2);
    CHECK(warnings_with(out, "ignored: cpus of 2 jobs (first /jobs/0/cpus)") == 1);
    CHECK(warnings_with(out, "ignored: memory_bytes of 2 jobs (first "
                             "/jobs/0/memory_bytes)") == 1);
    w.resources[0].cpus = 8; // one that does not fit is refused, not made narrower
    out = decided(w, "mct", a);
    CHECK(out.placement_count == 0);
    CHECK(warnings_with(out, "ignored: cpus") == 0);
}

TEST_CASE("a plain request has no warnings", "[placement]")
{
    for (auto &policy : policy_names()) {
        world w;
        test_arena a;
        resource &h = w.host("n");
        h.failure_count = h.last_failure_at_s = h.observed_since_s = h.up_since_s =
            h.uptime_total_s = NAN;
        w.task("j", 1);
        INFO(policy);
        CHECK(decided(w, policy, a).warning_count == 0);
    }
}
