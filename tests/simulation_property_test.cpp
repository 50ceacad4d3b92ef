// simulation_property_test.cpp - what holds in every run of the simulator.
#include "tests/simulation_support.hpp"

#include <map>
#include <set>

// Every policy of rounds, and every placement policy as one.
static const std::vector<std::string> &round_names()
{
    static std::vector<std::string> names;
    if (names.empty()) {
        for (const struct policy *table :
             {replication_policies, fault_tolerance_policies, dispatch_policies})
            for (const struct policy *p = table; p->name; p++)
                names.push_back(p->name);
        for (const struct policy *p = placement_policies; p->name; p++)
            names.push_back(p->name);
    }
    return names;
}

static double uniform(rng &r, double low, double high)
{
    return low + (high - low) * rng_uniform(&r);
}

// A small grid in which everything happens.
static void fill_random(test_grid &g, uint64_t seed)
{
    rng r = rng_create(seed);
    size_t n_sites = 1 + rng_index(&r, 3);
    static const char *const names[] = {"s3", "s1", "s2"};
    static const char *const ids[] = {"b", "a", "c"};
    static const sim_failure_group bursts = {0.5, 60, SIM_BURST_ADDED};

    g.sites.assign(names, names + n_sites);
    for (size_t i = 0; i < n_sites; i++) {
        sim_group &group = g.add(ids[i], 1, 1 + rng_index(&r, 3), 1 + rng_index(&r, 4));
        group.site = i;
        group.mips_total = distribution_uniform(0.5, 4);
        group.fails = rng_uniform(&r) < 0.8;
        group.failure = distribution_exponential(uniform(r, 200, 5000));
        group.restore = distribution_exponential(uniform(r, 10, 1000));
        if (group.fails && rng_uniform(&r) < 0.3)
            group.failure_group = 0;
        if (rng_uniform(&r) < 0.3)
            group.load = {60, distribution_uniform(1, 100), distribution_uniform(0, 0.5)};
        group.register_s = rng_uniform(&r) < 0.2 ? 500 : 0;
    }
    g.s.failure_groups = &bursts;
    g.s.failure_group_count = 1;
    g.s.initial_state = rng_uniform(&r) < 0.5 ? SIM_INITIAL_UP : SIM_INITIAL_STATIONARY;
    g.s.warm_up_s = 20000;
    g.s.is_interval_s = rng_uniform(&r) < 0.5 ? 0 : 47;
    g.s.scheduler_interval_s = rng_uniform(&r) < 0.5 ? 0 : 60;
    g.s.network.mode = (sim_network_mode)rng_index(&r, 3);
    g.s.network.lan_mbps = 100;
    if (rng_uniform(&r) < 0.3)
        g.s.overhead = {1, 0.5, 0, 1, 3, 2};
    g.s.detection =
        rng_uniform(&r) < 0.5 ? SIM_DETECTION_POLL : SIM_DETECTION_INCARNATION;
    g.s.storage_bytes = rng_uniform(&r) < 0.1 ? 3e8 : 0;
    g.s.stop_time_s = 40000;
    g.w = workload_blank(WORKLOAD_POISSON);
    g.w.arrival_gap_s = g.keep(distribution_exponential(uniform(r, 60, 600)));
    g.w.length_mi = g.keep(distribution_exponential(uniform(r, 100, 2000)));
    g.w.input_bytes = g.w.output_bytes = g.w.checkpoint_bytes =
        g.keep(distribution_uniform(0, 1e8));
    g.w.user_count = 3;
    g.prepare();
}

static void with_policy(bound_policy &p, const char *name, bool checkpoints)
{
    std::vector<named_value> options;
    const struct policy *policy = nullptr;
    for (const struct policy *found : {policy_find(replication_policies, name),
                                       policy_find(fault_tolerance_policies, name)})
        if (found)
            policy = found;
    for (const param *row = policy ? policy->params : nullptr; row && row->name; row++)
        if (strcmp(row->name, "free_cpu_limit") == 0)
            options.push_back(option("free_cpu_limit", 3));
    p.round(name, options);
    if (checkpoints)
        p.checkpoint("mean_failure", {option("initial_interval_s", 200)});
}

// What the log says of resources and jobs; checks it line by line.
struct replay {
    const test_grid &g;
    const sim_run_out &out;
    std::map<std::string, size_t> running, n_max;
    std::map<std::string, bool> up;
    std::map<std::string, double> down_since, downtime, there_since;
    std::set<std::pair<double, std::string>> pairs;
    std::map<double, double> submitted;

    void line(const sim_log_row &row)
    {
        std::string id = row.resource_id ? row.resource_id : "";
        auto pair = std::make_pair(row.job_number, id);

        switch (row.kind) {
        case SIM_LOG_RESOURCE_ADD:
            there_since[id] = row.at_s;
            up[id] = true;
            break;
        case SIM_LOG_RESOURCE_FAIL:
            REQUIRE(up[id]);
            up[id] = false;
            down_since[id] = row.at_s;
            break;
        case SIM_LOG_RESOURCE_RESTORE:
            if (up[id]) // it was down from the start
                down_since[id] = there_since[id];
            downtime[id] += row.at_s - down_since[id];
            up[id] = true;
            break;
        case SIM_LOG_JOB_SUBMIT:
            submitted[row.job_number] = row.at_s;
            break;
        case SIM_LOG_JOB_START:
            REQUIRE(submitted.count(row.job_number));
            REQUIRE(row.at_s >= submitted[row.job_number]);
            REQUIRE(up[id]);
            REQUIRE(pairs.insert(pair).second); // never two on one resource
            break;
        case SIM_LOG_JOB_RUN:
            REQUIRE(up[id]);
            REQUIRE(++running[id] <= n_max[id]);
            break;
        case SIM_LOG_JOB_WORK_DONE:
            running[id]--;
            break;
        default:
            break;
        }
    }
};

TEST_CASE("every run keeps the rules", "[simulation][property]")
{
    for (uint64_t seed = 1; seed <= 2 * round_names().size(); seed++) {
        const char *name = round_names()[seed % round_names().size()].c_str();
        bool checkpoints = seed % 3 == 0 || strcmp(name, "combined") == 0;
        DYNAMIC_SECTION(name << " " << seed)
        {
            test_grid g;
            bound_policy p;
            fill_random(g, seed);
            // some look at all jobs many times, or price each running job in each round
            if (policy_find(placement_policies, name))
                g.s.stop_time_s = 8000;
            else if (strcmp(name, "expected_time") == 0 && is_shorter())
                g.s.stop_time_s = 1200;
            with_policy(p, name, checkpoints);
            sim_run_out out = run_scenario(g.s, p, seed, g.a, everything);
            const sim_metrics &m = out.metrics;
            double processed_mi = 0, rows_mi = 0, availability = 0;
            size_t there = 0;

            // work is conserved
            for (size_t i = 0; i < out.job_count; i++)
                processed_mi += out.jobs[i].processed_mi;
            CHECK(processed_mi == Approx(m.processed_mi).epsilon(1e-9).margin(1e-6));
            for (size_t i = 0; i < out.resource_count; i++) {
                rows_mi += out.resources[i].processed_mi;
                if (!std::isnan(out.resources[i].availability_ratio)) {
                    availability += out.resources[i].availability_ratio;
                    there++;
                }
                CHECK(out.resources[i].non_idle_s <= g.s.stop_time_s * (1 + 1e-12));
                CHECK(out.resources[i].fully_loaded_s <= out.resources[i].non_idle_s);
            }
            CHECK(rows_mi == Approx(m.processed_mi).epsilon(1e-9).margin(1e-6));
            CHECK(availability / (double)there == Approx(m.availability_ratio));
            CHECK(m.useful_mi <= m.processed_mi * (1 + 1e-9) + 1e-6);

            // every job ends in one way
            CHECK(out.job_count == (size_t)m.jobs_submitted);
            CHECK(m.jobs_done + m.jobs_lost + m.jobs_rejected + m.jobs_left ==
                  m.jobs_submitted);
            for (size_t i = 0; i < out.job_count; i++) {
                const sim_job_row &row = out.jobs[i];
                if (!std::isnan(row.start_s))
                    CHECK(row.start_s >= row.arrival_s);
                if (row.state != SIM_JOB_DONE)
                    continue;
                CHECK(row.finish_s >= row.start_s);
                // no resource is faster than 4 MIPS
                CHECK(row.finish_s - row.start_s >= row.length_mi / 4 - 0.002);
                CHECK(row.processed_mi >= row.length_mi * (1 - 1e-9));
            }

            // the same again
            sim_run_out again = run_scenario(g.s, p, seed, g.a, everything);
            CHECK(again.event_hash == out.event_hash);
            CHECK(memcmp(&again.metrics, &out.metrics, sizeof(out.metrics)) == 0);
            REQUIRE(again.log_count == out.log_count);
            for (size_t i = 0; i < out.log_count; i++)
                REQUIRE((again.log[i].at_s == out.log[i].at_s &&
                         again.log[i].kind == out.log[i].kind &&
                         (again.log[i].job_number == out.log[i].job_number ||
                          (std::isnan(again.log[i].job_number) &&
                           std::isnan(out.log[i].job_number)))));
        }
    }
}

TEST_CASE("the log agrees with the figures", "[simulation][property]")
{
    for (uint64_t seed = 1; seed <= 12; seed++)
        DYNAMIC_SECTION("seed " << seed)
        {
            test_grid g;
            bound_policy p;
            fill_random(g, 100 + seed);
            // without detection, cancels and images: every pair of job and resource once
            p.round("fcfs");
            sim_run_out out = run_scenario(g.s, p, seed, g.a, everything);
            replay r{g, out, {}, {}, {}, {}, {}, {}, {}, {}};
            for (const sim_group &group : g.groups)
                for (size_t i = 0; i < group.count; i++)
                    r.n_max[group.count > 1
                                ? group.id + std::to_string(group.first_number + i)
                                : group.id] = group.n_max;
            for (size_t i = 0; i < out.log_count; i++) {
                const sim_log_row &row = out.log[i];
                r.line(row);
                if (row.kind == SIM_LOG_RESOURCE_FAIL)
                    r.running[row.resource_id] = 0;
            }
            REQUIRE(out.log_count < everything.log_rows_max);
            for (size_t i = 0; i < out.resource_count; i++) {
                const sim_resource_row &row = out.resources[i];
                double down_s = r.downtime[row.resource_id];
                double span_s = g.s.stop_time_s - r.there_since[row.resource_id];
                if (!r.up[row.resource_id])
                    down_s += g.s.stop_time_s - r.down_since[row.resource_id];
                else if (row.failures == 0 && row.downtime_s > 0 && down_s == 0)
                    down_s = row.downtime_s; // down from the start to the end
                CHECK(row.downtime_s == Approx(down_s).margin(1e-6));
                CHECK(row.availability_ratio == Approx(1 - down_s / span_s).margin(1e-8));
            }
        }
}

TEST_CASE("all policies meet the same jobs and failures", "[simulation][property]")
{
    for (uint64_t seed = 1; seed <= (is_shorter() ? 2 : 3); seed++) {
        std::vector<double> arrivals, failures;
        for (const std::string &name : round_names()) {
            test_grid g;
            bound_policy p;
            std::vector<double> came, failed;
            fill_random(g, 40 + seed);
            g.s.stop_time_s = is_shorter() ? 2500 : 10000;
            with_policy(p, name.c_str(), false);
            sim_run_out out = run_scenario(g.s, p, seed, g.a, everything);
            for (size_t i = 0; i < out.log_count; i++) {
                if (out.log[i].kind == SIM_LOG_JOB_SUBMIT)
                    came.push_back(out.log[i].at_s);
                if (out.log[i].kind == SIM_LOG_RESOURCE_FAIL)
                    failed.push_back(out.log[i].at_s);
            }
            if (arrivals.empty()) {
                arrivals = came;
                failures = failed;
            }
            INFO(name);
            CHECK(came == arrivals);
            CHECK(failed == failures);
        }
        CHECK(arrivals.size() > (is_shorter() ? 3 : 10));
    }
}

TEST_CASE("a run ends at its limits", "[simulation]")
{
    test_grid g;
    bound_policy p;
    error err{};
    sim_run_out out{};
    sim_progress progress{};
    fill_random(g, 5);
    p.round("fcfs");
    g.s.max_events = 100;
    CHECK(run_scenario(g.s, p, 1, g.a).status == DECISION_CUT);
    CHECK(run_scenario(g.s, p, 1, g.a).metrics.events == 100);
    g.s.max_events = 0;
    budget b = make_budget([](void *) { return 1.0; }, nullptr);
    g.s.stop_time_s = 1e8;
    REQUIRE(sim_run(&g.s, &p.policy, 1, &b, nullptr, &progress, &out, g.a, &err) == OK);
    CHECK(out.status == DECISION_CUT);
    CHECK(progress.events == 256);
    CHECK(progress.time_ratio > 0);
    CHECK(progress.time_ratio < 1);
    g.s.stop_time_s = 1e6;
    g.s.stop_jobs = 5;
    out = run_scenario(g.s, p, 1, g.a);
    CHECK(out.status == DECISION_FEASIBLE);
    CHECK(out.metrics.simulated_s < 1e6);
}

TEST_CASE("memory follows what is alive", "[simulation][memory]")
{
    test_grid g;
    bound_policy p;
    g.add("cr", 1, 4, 16);
    g.w = workload_blank(WORKLOAD_POISSON);
    g.w.arrival_gap_s = g.keep(distribution_exponential(20));
    g.w.length_mi = g.keep(distribution_exponential(200));
    g.prepare();
    p.round("fcfs");
    for (double stop_s : {1e5, 1e6}) { // ten times the jobs in the same memory
        test_arena a{size_t{3} << 20};
        error err{};
        sim_run_out out{};
        g.s.stop_time_s = stop_s;
        REQUIRE(sim_run(&g.s, &p.policy, 1, nullptr, nullptr, nullptr, &out, a, &err) ==
                OK);
        CHECK(out.metrics.jobs_done > 0.04 * stop_s);
    }
}

TEST_CASE("a run without memory says so", "[simulation][memory]")
{
    test_grid g;
    bound_policy p;
    fill_random(g, 9);
    g.s.stop_time_s = 2000;
    with_policy(p, "combined", true);
    size_t cap = 0;
    enum error_code code = ERR_TOO_LARGE;
    for (; code == ERR_TOO_LARGE && cap < (size_t{1} << 24); cap += cap / 8 + 256) {
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

TEST_CASE("a scenario's mistakes are found together", "[simulation]")
{
    test_arena a;
    error err = collecting_error(a);
    test_grid g;
    sim_group &bad = g.add("x", 1, 0);
    bad.site = 7;
    bad.mips_total = distribution_blank(DISTRIBUTION_WEIBULL);
    bad.register_s = UNSAID;
    g.s.sites = g.sites.data();
    g.s.site_count = 1;
    g.s.groups = g.groups.data();
    g.s.group_count = 1;
    g.s.stop_time_s = 1e308;
    g.s.is_interval_s = -1;
    g.s.scheduler_interval_s = 1e-9;
    g.s.overhead.rollback_s = -5;
    CHECK(sim_scenario_prepare(&g.s, "/scenario", a, &err) == ERR_INVALID);
    std::set<std::string> pointers;
    for (const error_item *i = err.first; i; i = i->next)
        pointers.insert(i->pointer);
    for (const char *want :
         {"/scenario/groups/0/n_max", "/scenario/groups/0/site_id",
          "/scenario/groups/0/register_s", "/scenario/stop/time_s",
          "/scenario/information_service/interval_s", "/scenario/scheduler/interval_s",
          "/scenario/overhead_s/rollback"}) {
        INFO(want);
        CHECK(pointers.count(want) == 1);
    }
    error twice = collecting_error(a);
    test_grid d;
    d.add("x", 1, 1);
    d.add("x", 1, 1);
    d.s.sites = d.sites.data();
    d.s.site_count = 1;
    d.s.groups = d.groups.data();
    d.s.group_count = 2;
    CHECK(sim_scenario_prepare(&d.s, "", a, &twice) == ERR_INVALID);
    CHECK(std::string(item_kinds[twice.first->code].name) == "duplicate");
    error none = collecting_error(a);
    d.s.group_count = 0;
    CHECK(sim_scenario_prepare(&d.s, "", a, &none) == ERR_INVALID);
}

TEST_CASE("every preset can be played", "[simulation][property]")
{
    for (const sim_preset *preset = sim_presets; preset->name; preset++) {
        test_arena a;
        error err = collecting_error(a);
        sim_scenario s;
        bound_policy p;
        INFO(preset->name);
        REQUIRE(sim_preset_load(preset->name, &s, a, &err) == OK);
        p.round("fcfs");
        s.stop_time_s = 40000;
        CHECK(run_scenario(s, p, 1, a).metrics.jobs_submitted > 0);
    }
    test_arena a;
    error err{};
    sim_scenario s;
    CHECK(sim_preset_load("nothing", &s, a, &err) == ERR_NOT_FOUND);
}

TEST_CASE("sessions are placed at once or rejected", "[simulation]")
{
    for (const struct policy *policy = vm_policies; policy->name; policy++) {
        test_grid g;
        bound_policy p;
        g.add("r", 10, 1000, 2).sharing = SIM_SHARING_FRACTION;
        g.groups[0].fails = true;
        g.groups[0].failure = distribution_exponential(20000);
        g.groups[0].restore = distribution_exponential(1000);
        g.w = workload_blank(WORKLOAD_VM_SESSION);
        g.w.arrival_gap_s = g.keep(distribution_exponential(100));
        g.w.mips_required = g.keep(distribution_uniform(1, 4));
        g.w.session_s = g.keep(distribution_exponential(1000));
        g.w.user_count = 4;
        g.s.stop_time_s = 100000;
        p.vm(policy->name);
        sim_run_out out = run_scenario(g.prepare().s, p, 1, g.a, everything);
        INFO(policy->name);
        CHECK(out.metrics.jobs_done > 100);
        CHECK(out.metrics.jobs_rejected > 0);
        CHECK(out.metrics.jobs_lost > 0);
        CHECK(out.metrics.job_wait_s == 0);
        for (size_t i = 0; i < out.job_count; i++)
            CHECK(out.jobs[i].state != SIM_JOB_WAITING);
        // T 2.4: accepted and rejected are those below and above the limit
        CHECK(out.metrics.light_sessions + out.metrics.heavy_sessions ==
              out.metrics.jobs_submitted);
        CHECK(out.metrics.light_sessions_accepted + out.metrics.heavy_sessions_accepted ==
              out.metrics.jobs_submitted - out.metrics.jobs_rejected);
    }
}
