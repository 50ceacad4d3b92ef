// simulation_placement_test.cpp - placement policies as schedulers of the simulator.
#include "tests/simulation_support.hpp"

#include <set>

namespace
{

// The grid of a test and its jobs at time 0 as a request for a placement. Slots have an
// equal part of the speed each.
struct same_problem {
    std::deque<std::string> names;
    std::vector<resource> resources;
    std::vector<job> jobs;
    snapshot seen{};

    const char *name(char kind, size_t i)
    {
        names.push_back(kind + std::to_string(1000 + i));
        return names.back().c_str();
    }
    explicit same_problem(const test_grid &g)
    {
        for (const sim_group &group : g.groups) {
            resource r{};
            r.id = group.id;
            r.site_id = g.sites[group.site];
            r.mips_total = group.mips_total.value;
            r.cpu_available_ratio = 1;
            r.cpus = r.memory_bytes = UNSAID;
            r.n_max = (double)group.n_max;
            r.sharing = SHARING_EQUAL;
            r.observed_at_s = UNSAID;
            r.fixed_priority = 1;
            resources.push_back(r);
        }
        for (size_t i = 0; i < g.jobs.size(); i++) {
            job j{};
            j.id = name('j', i);
            j.estimate_ref_s = g.jobs[i].length_mi;
            j.cpus = 1;
            j.deadline_s = j.queued_at_s = j.deadline_at_s = UNSAID;
            j.task_index = j.param_start = j.param_increment = UNSAID;
            jobs.push_back(j);
        }
        seen.taken_at_s = seen.list_observed_at_s = UNSAID;
        seen.network.wan_mbps = seen.network.wan_latency_s = UNSAID;
        seen.network.lan_mbps = seen.network.lan_latency_s = UNSAID;
        seen.resources = resources.data();
        seen.resource_count = resources.size();
    }
    double makespan_s(const char *policy, arena *a)
    {
        placement_in in{};
        placement_out out{};
        error err = collecting_error(a);
        in.snapshot = &seen;
        in.jobs = jobs.data();
        in.job_count = jobs.size();
        REQUIRE(placement_decide(&in, policy_find(placement_policies, policy), nullptr, 0,
                                 &out, a, &err) == OK);
        REQUIRE(out.placement_count == jobs.size());
        return out.objective.makespan_s;
    }
};

void fill_static(test_grid &g, uint64_t seed, size_t resource_count, size_t job_count,
                 size_t n_max)
{
    static const char *const ids[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    rng r = rng_create(seed);

    for (size_t i = 0; i < resource_count; i++)
        g.add(ids[i], (double)(1 + rng_index(&r, 16)), n_max).sharing =
            n_max > 1 ? SIM_SHARING_FRACTION : SIM_SHARING_EQUAL;
    for (size_t i = 0; i < job_count; i++)
        g.job(0, 720.72 * (double)(1 + rng_index(&r, 400)));
    g.s.stop_time_s = 1e9;
    g.s.stop_when_done = true;
}

// Most jobs that the log shows on a resource at a time, each with its slot from its start
// to the end of its work.
size_t most_at_once(const sim_run_out &out, const char *id)
{
    size_t now = 0, most = 0;
    for (size_t i = 0; i < out.log_count; i++) {
        if (!out.log[i].resource_id || strcmp(out.log[i].resource_id, id) != 0)
            continue;
        if (out.log[i].kind == SIM_LOG_JOB_START)
            most = std::max(most, ++now);
        if (out.log[i].kind == SIM_LOG_JOB_WORK_DONE)
            now--;
    }
    return most;
}

} // namespace

TEST_CASE("on a static grid a run ends when the plan said", "[simulation][property]")
{
    for (const char *policy : {"mct", "min_min", "olb", "met"})
        for (uint64_t seed = 1; seed <= 6; seed++)
            DYNAMIC_SECTION(policy << " " << seed)
            {
                test_grid g;
                bound_policy p;
                fill_static(g, seed, 2 + seed, 40, 1);
                same_problem same(g);
                p.round(policy);
                sim_run_out out = run_scenario(g.prepare().s, p, 1, g.a, everything);
                CHECK(out.metrics.jobs_done == 40);
                CHECK(out.metrics.makespan_s ==
                      Approx(same.makespan_s(policy, g.a)).epsilon(1e-6));
            }
}

TEST_CASE("slots count, each with its part of the speed", "[simulation][property]")
{
    for (const char *policy : {"mct", "min_min"})
        for (uint64_t seed = 1; seed <= 4; seed++)
            DYNAMIC_SECTION(policy << " " << seed)
            {
                // all resources alike: a job demands the part of a slot
                test_grid g;
                bound_policy p;
                fill_static(g, seed, 3, 50, 4);
                for (sim_group &group : g.groups)
                    group.mips_total = distribution_constant(8);
                for (sim_job &j : g.jobs)
                    j.mips_required = 2;
                same_problem same(g);
                p.round(policy);
                sim_run_out out = run_scenario(g.prepare().s, p, 1, g.a, everything);
                CHECK(out.metrics.makespan_s ==
                      Approx(same.makespan_s(policy, g.a)).epsilon(1e-6));
                CHECK(out.metrics.starts_refused == 0);
                for (const sim_group &group : g.groups)
                    CHECK(most_at_once(out, group.id) == 4);
            }
}

TEST_CASE("every placement policy schedules a grid to the end", "[simulation][property]")
{
    for (const struct policy *policy = placement_policies; policy->name; policy++) {
        bool is_identical = strcmp(policy->name, "identical_optimum") == 0;
        test_grid g;
        bound_policy p;
        INFO(policy->name);
        fill_static(g, 7, 5, 60, 1);
        for (size_t i = 0; i < g.jobs.size(); i++) {
            g.jobs[i].arrival_s = i < 30 ? 0 : 100.0 * (double)i;
            if (is_identical)
                g.jobs[i].length_mi = 5000;
        }
        p.round(policy->name);
        sim_run_out out = run_scenario(g.prepare().s, p, 3, g.a, everything);
        CHECK(out.metrics.jobs_done == 60);
        CHECK(out.metrics.starts_refused == 0);
        CHECK(out.metrics.copies_started == 60);
        for (const sim_group &group : g.groups) // met and kpb leave slow ones alone
            CHECK(most_at_once(out, group.id) <= 1);
        sim_run_out again = run_scenario(g.s, p, 3, g.a, everything);
        CHECK(again.event_hash == out.event_hash);
        CHECK(again.metrics.makespan_s == out.metrics.makespan_s);
    }
}

TEST_CASE("least completion time beats the next free slot", "[simulation][property]")
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        double makespan_s[2], turnaround_s[2];
        const char *const policies[] = {"min_min", "olb"};
        for (int i = 0; i < 2; i++) {
            test_grid g;
            bound_policy p;
            fill_static(g, 60 + seed, 8, 200, 1);
            g.groups[0].mips_total = distribution_constant(0.5);
            p.round(policies[i]);
            sim_metrics m = run_scenario(g.prepare().s, p, 1, g.a).metrics;
            CHECK(m.jobs_done == 200);
            makespan_s[i] = m.makespan_s;
            turnaround_s[i] = m.job_turnaround_s;
        }
        INFO(seed);
        CHECK(makespan_s[0] < makespan_s[1]);
        CHECK(turnaround_s[0] < turnaround_s[1]);
    }
}

TEST_CASE("a search plans no longer than its steps", "[simulation]")
{
    test_grid g;
    bound_policy few, many, mct;
    fill_static(g, 21, 6, 40, 1);
    g.prepare();
    few.round("search", {option("max_steps", 1)});
    many.round("search", {option("max_steps", 2000)});
    mct.round("mct");
    double few_s = run_scenario(g.s, few, 1, g.a).metrics.makespan_s;
    double many_s = run_scenario(g.s, many, 1, g.a).metrics.makespan_s;
    CHECK(few_s == run_scenario(g.s, few, 1, g.a).metrics.makespan_s);
    CHECK(many_s <= run_scenario(g.s, mct, 1, g.a).metrics.makespan_s * (1 + 1e-9));
    CHECK(many_s <= few_s * 1.001); // later rounds may differ a little
}

TEST_CASE("the time until the input is there counts", "[simulation]")
{
    // 1 GB at 100 Mbit/s: 80 s; the fast resource ends two jobs before the slow one ends
    // one, which waiting for it without transfers would not
    test_grid g;
    bound_policy p;
    g.add("fast", 10, 1);
    g.add("slow", 1, 1);
    for (int i = 0; i < 2; i++)
        g.job(0, 100).input_bytes = 1e9;
    g.s.network.mode = SIM_NETWORK_FIXED;
    g.s.network.latency_s = 0;
    g.s.stop_when_done = true;
    p.round("mct");
    // slow: 80 + 100 = 180; fast: 90, then 180: a tie, which goes to the first
    sim_run_out out = run_scenario(g.prepare().s, p, 1, g.a, everything);
    CHECK(row_of(out, 0).finish_s == 90);
    CHECK(row_of(out, 1).finish_s == 180);
    CHECK(std::string(row_of(out, 1).resource_id) == "fast");
    // with an image of 1 GB more on the way nothing changes: there is none yet
    g.s.network.bandwidth_mbps = 1000; // 8 s: fast 18, 36; slow 108
    out = run_scenario(g.s, p, 1, g.a, everything);
    CHECK(row_of(out, 1).finish_s == 36);
}

TEST_CASE("a lost job waits again and goes on from its image", "[simulation]")
{
    test_grid g;
    bound_policy anew, images;
    g.add("a", 1, 1).traces = g.trace({{500, 2000}});
    g.add("b", 1, 1).traces = g.trace({{0, 600}});
    g.job(0, 1000);
    g.s.stop_when_done = true;
    g.prepare();
    anew.round("mct");
    images.round("mct").checkpoint("periodic", {option("initial_interval_s", 200)});
    sim_run_out out = run_scenario(g.s, anew, 1, g.a, everything);
    CHECK(row_of(out, 0).finish_s == 1600); // b is up at 600
    out = run_scenario(g.s, images, 1, g.a, everything);
    CHECK(row_of(out, 0).finish_s == 1200); // 400 of 1000 were kept
    CHECK(out.metrics.jobs_lost == 0);
}

TEST_CASE("a round of placement is cut with the run", "[simulation]")
{
    test_grid g;
    bound_policy p;
    error err{};
    sim_run_out out{};
    budget b = make_budget([](void *) { return 2.0; }, nullptr);
    fill_static(g, 3, 8, 3000, 1);
    p.round("sufferage");
    REQUIRE(sim_run(&g.prepare().s, &p.policy, 1, &b, nullptr, nullptr, &out, g.a,
                    &err) == OK);
    CHECK(out.status == DECISION_CUT);
}

TEST_CASE("placement rounds without memory say so", "[simulation][memory]")
{
    test_grid g;
    bound_policy p;
    fill_static(g, 9, 3, 12, 1);
    for (sim_job &j : g.jobs)
        j.input_bytes = 1e6;
    g.s.network.mode = SIM_NETWORK_FIXED;
    g.prepare();
    p.round("min_min");
    size_t cap = 0;
    enum error_code code = ERR_TOO_LARGE;
    for (; code == ERR_TOO_LARGE && cap < (size_t{1} << 24); cap += cap / 16 + 512) {
        test_arena a{cap};
        error err{};
        sim_run_out out{};
        code = computed(a, &err, [&] {
            return sim_run(&g.s, &p.policy, 1, nullptr, &everything, nullptr, &out, a,
                           &err);
        });
        CHECK((code == OK || code == ERR_TOO_LARGE));
        CHECK(err.code == code);
    }
    CHECK(code == OK);
}

TEST_CASE("names of policies that simulations compare are all different", "[simulation]")
{
    std::set<std::string> names;
    size_t count = 0;
    for (const struct policy *table :
         {replication_policies, fault_tolerance_policies, dispatch_policies})
        for (; table->name; table++, count++)
            names.insert(table->name);
    for (const struct policy *p = placement_policies; p->name; p++, count++)
        names.insert(p->name);
    for (const struct policy *p = vm_policies; p->name; p++, count++)
        names.insert(p->name);
    for (const struct policy *p = checkpoint_policies; p->name; p++, count++)
        names.insert(p->name);
    CHECK(names.size() == count);
}
