// coallocation_simulation_test.cpp - streams of jobs, the simulator of co-allocation, and
// POST /v1/simulations of kind coallocation.
#include "tests/api.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <set>

extern "C" {
#include "algorithms/coallocation/simulation.h"
}

using nlohmann::json;

namespace
{

// A simulation to be changed before it is played.
struct experiment {
    test_arena a, scratch;
    error err = collecting_error(a);
    co_sim_in in{};
    co_workload_in draw{};
    double param[PARAMS_MAX];

    experiment(co_workload_kind kind, const char *policy, uint64_t seed)
    {
        in.grid = co_sim_grid(co_sim_grid_of(kind));
        in.policy = policy_find(coallocation_policies, policy);
        REQUIRE(in.policy != nullptr);
        REQUIRE(policy_bind(in.policy, nullptr, 0, param, &err) == OK);
        in.param = param;
        in.settings = co_sim_presets(kind);
        in.seed = seed;
        in.scratch = scratch;
        draw.kind = kind;
        draw.replica_count = NAN;
        draw.mean_gap_s = NAN;
        draw.site_count = in.grid.site_count;
        draw.capacity = capacity();
        draw.seed = seed;
    }
    double capacity() const
    {
        double sum = 0;
        for (size_t i = 0; i < in.grid.site_count; i++)
            sum += static_cast<double>(in.grid.sites[i].processors);
        return sum;
    }
    void use_grid(co_sim_grid_kind kind)
    {
        in.grid = co_sim_grid(kind);
        draw.site_count = in.grid.site_count;
        draw.capacity = capacity();
    }
    co_sim_out play()
    {
        co_sim_out out{};
        if (!in.jobs)
            REQUIRE(co_workload_draw(&draw, &in.jobs, &in.job_count, a) == OK);
        enum error_code code = co_simulate(&in, &out, a, &err);
        INFO(err.text);
        REQUIRE(code == OK);
        return out;
    }
    double work() const
    {
        double sum = 0;
        for (size_t j = 0; j < in.job_count; j++)
            for (size_t c = 0; c < in.jobs[j].component_count; c++)
                sum +=
                    static_cast<double>(in.jobs[j].processors[c]) * in.jobs[j].run_time_s;
        return sum;
    }
};

// Sites by name, as the simulator numbers them.
std::vector<size_t> processors_by_name(const struct co_sim_grid &grid)
{
    std::map<std::string, size_t> sites;
    std::vector<size_t> list;
    for (size_t i = 0; i < grid.site_count; i++)
        sites[grid.sites[i].id] = grid.sites[i].processors;
    for (auto &s : sites)
        list.push_back(s.second);
    return list;
}

// What jobs hold, from claim to end, is never more than a site has.
void check_capacity(const experiment &e, const co_sim_out &out)
{
    std::vector<size_t> has = processors_by_name(e.in.grid);
    std::vector<std::vector<std::pair<double, double>>> changes(has.size());
    for (size_t j = 0; j < e.in.job_count; j++) {
        const co_run_job &job = out.records[j];
        for (size_t k = 0; k < job.placement_count; k++) {
            bool last = k + 1 == job.placement_count;
            double until_s = last ? job.finish_s : job.placements[k + 1].queue_entry_s;
            for (size_t c = 0; c < job.placements[k].component_count; c++) {
                const co_run_component &part = job.placements[k].components[c];
                REQUIRE(part.site < has.size());
                if (std::isnan(part.claimed_s))
                    continue;
                CHECK(part.claimed_s >= job.placements[k].jpt_s);
                changes[part.site].push_back(
                    {part.claimed_s, static_cast<double>(part.processors)});
                changes[part.site].push_back(
                    {until_s, -static_cast<double>(part.processors)});
            }
        }
    }
    for (size_t i = 0; i < has.size(); i++) {
        double held = 0, most = 0;
        std::sort(changes[i].begin(), changes[i].end());
        for (auto &c : changes[i])
            most = std::max(most, held += c.second);
        CHECK(most <= static_cast<double>(has[i]));
    }
}

// A mean over seeds of any figure.
using figure_of = std::function<double(const co_sim_out &)>;

double mean_over(size_t seeds, const std::function<void(experiment &)> &change,
                 co_workload_kind kind, const char *policy, const figure_of &figure)
{
    double sum = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        experiment e(kind, policy, seed);
        change(e);
        sum += figure(e.play());
    }
    return sum / static_cast<double>(seeds);
}

co_sim_job given(const char *id, double submit_s, double run_time_s,
                 const std::vector<size_t> &processors)
{
    co_sim_job job{};
    job.id = id;
    job.submit_s = submit_s;
    job.run_time_s = run_time_s;
    job.level = CO_HIGH;
    job.processors = processors.data();
    job.component_count = processors.size();
    return job;
}

json example(const std::string &name)
{
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/openapi/examples/" + name + ".json");
    REQUIRE(in.good());
    return json::parse(in);
}

json simulate(api &a, const json &body)
{
    api_reply r = a.post("/v1/simulations", body.dump());
    INFO(r.body.substr(0, 1000));
    REQUIRE(r.status == 200);
    return r.json();
}

} // namespace

TEST_CASE("streams have the means of coallocation.md 20", "[coallocation][simulation]")
{
    CHECK(co_workload_mean_work(CO_WORKLOAD_w30) == 3472);
    CHECK(co_workload_mean_work(CO_WORKLOAD_spread) == 4464);
    CHECK(co_workload_mean_work(CO_WORKLOAD_unreliable) == 5124);
    CHECK(1 / co_workload_rate_per_s(CO_WORKLOAD_w30, 384) ==
          Approx(30.14).epsilon(2e-4));
    CHECK(1 / co_workload_rate_per_s(CO_WORKLOAD_w50, 384) ==
          Approx(18.08).epsilon(3e-4));
    CHECK(co_workload_rate_per_s(CO_WORKLOAD_w_c, 384) == Approx(0.04));

    for (int kind = 0; kind < CO_WORKLOAD_COUNT; kind++) {
        CAPTURE(co_workload_names[kind]);
        experiment e(static_cast<co_workload_kind>(kind), "WF", 5);
        const co_sim_job *jobs;
        size_t count, high = 0;
        e.draw.job_count = 20000;
        REQUIRE(co_workload_draw(&e.draw, &jobs, &count, e.a) == OK);
        REQUIRE(count == 20000);
        CHECK(jobs[0].submit_s == 0);
        std::map<std::pair<size_t, size_t>, size_t> sizes;
        for (size_t j = 0; j < count; j++) {
            const co_sim_job &job = jobs[j];
            std::set<size_t> sites(job.file_sites, job.file_sites + job.file_site_count);
            sizes[{job.component_count, job.processors[0]}]++;
            high += job.level == CO_HIGH;
            CHECK(sites.size() == job.file_site_count);
            CHECK((sites.empty() || *sites.rbegin() < e.in.grid.site_count));
            CHECK((j == 0 || job.submit_s >= jobs[j - 1].submit_s));
        }
        for (auto &size : sizes)
            CHECK(static_cast<double>(size.second) ==
                  Approx(20000.0 / static_cast<double>(sizes.size())).epsilon(0.06));
        e.in.jobs = jobs;
        e.in.job_count = count;
        CHECK(e.work() / 20000 ==
              Approx(co_workload_mean_work(e.draw.kind)).epsilon(0.02));
        CHECK(jobs[count - 1].submit_s / 19999 ==
              Approx(1 / co_workload_rate_per_s(e.draw.kind, e.draw.capacity))
                  .epsilon(0.03));
        CHECK(static_cast<double>(high) ==
              Approx(kind == CO_WORKLOAD_unreliable ? 10000 : 20000).epsilon(0.03));
    }
}

TEST_CASE("the controller keeps the load of local jobs in its range",
          "[coallocation][simulation]")
{
    for (double lower : {0.2, 0.3, 0.5})
        for (uint64_t seed : {1, 2, 3}) {
            experiment e(CO_WORKLOAD_w30, "CF", seed);
            e.in.settings.background.lower_ratio = lower;
            e.in.settings.background.upper_ratio = lower + 0.1;
            co_sim_out out = e.play();
            CAPTURE(lower, seed);
            CHECK(out.metrics.background_load_ratio > lower - 0.01);
            CHECK(out.metrics.background_load_ratio < lower + 0.1);
            CHECK(out.background_exceeded_s >= 0);
            CHECK(out.local_mean_response_s >= 200);
        }
    // Without one there is no load at all.
    experiment e(CO_WORKLOAD_w30, "CF", 1);
    e.in.settings.background.lower_ratio = 0;
    co_sim_out out = e.play();
    CHECK(out.metrics.background_load_ratio == 0);
    CHECK(std::isnan(out.local_mean_response_s));
}

TEST_CASE("a run of any policy and stream keeps the books",
          "[coallocation][simulation][property]")
{
    for (const struct policy *policy = coallocation_policies; policy->name; policy++)
        for (int kind = 0; kind < CO_WORKLOAD_COUNT; kind++) {
            CAPTURE(policy->name, co_workload_names[kind]);
            experiment e(static_cast<co_workload_kind>(kind), policy->name, 7),
                again(static_cast<co_workload_kind>(kind), policy->name, 7);
            for (auto *x : {&e, &again}) {
                x->draw.job_count = 60;
                x->draw.type =
                    policy->flags & CO_FLEXIBLE_ONLY ? CO_FLEXIBLE : CO_NON_FIXED;
                // data_present waits for the file's own site, which may be out.
                x->in.settings.horizon_s = 2 * 86400;
            }
            co_sim_out out = e.play(), same = again.play();
            const struct co_metrics &m = out.metrics;
            CHECK(out.event_count == same.event_count);
            CHECK(m.total_load_ratio == same.metrics.total_load_ratio);
            CHECK(m.finished_count + out.failed_count + out.never_fit_count +
                      out.unfinished_count ==
                  60);
            bool may_stick = std::string(policy->name) == "data_present";
            if (!may_stick)
                CHECK(m.finished_count == 60);
            CHECK(m.total_load_ratio <= 1);
            if (out.unfinished_count || out.never_fit_count)
                continue;
            check_capacity(e, out);
            double window_s = 0;
            for (size_t j = 0; j < e.in.job_count; j++)
                window_s = std::max(window_s, out.records[j].finish_s);
            double all = e.capacity() * window_s;
            CHECK(m.job_load_ratio * all == Approx(e.work()).epsilon(1e-9));
            if (out.preemption_count == 0 && out.requeue_count == 0)
                CHECK(out.processor_seconds ==
                      Approx((m.job_load_ratio + m.wasted_ratio) * all).epsilon(1e-9));
            for (size_t j = 0; j < e.in.job_count; j++) {
                const co_run_job &job = out.records[j];
                CHECK(job.start_s >= job.submit_s);
                CHECK(job.finish_s - job.start_s ==
                      Approx(e.in.jobs[j].run_time_s).epsilon(1e-9));
                CHECK(job.claim_tries >= 1);
                CHECK(job.placement_tries >= static_cast<double>(job.placement_count));
            }
        }
}

TEST_CASE("shapes of W30 and W50, coallocation.md 20.2", "[coallocation][simulation]")
{
    const double seeds = 10;
    struct run {
        double ftt_s, placement_s, tries, wasted, gained, load, total, end_s, queue;
    };
    std::map<std::string, run> runs;
    const double expected_ftt_s[] = {41.6, 66.0, 7.6, 31.1, 52.0, 66.5, 14.8, 31.5};
    const double *want = expected_ftt_s;

    for (co_workload_kind kind : {CO_WORKLOAD_w30, CO_WORKLOAD_w50})
        for (double replicas : {1.0, 3.0})
            for (auto *policy : {"CF", "WF"}) {
                run r{};
                for (uint64_t seed = 1; seed <= 10; seed++) {
                    experiment e(kind, policy, seed);
                    e.draw.replica_count = replicas;
                    co_sim_out out = e.play();
                    const struct co_metrics &m = out.metrics;
                    CHECK(out.unfinished_count == 0);
                    CHECK(m.mean.claim_tries >= 1);
                    CHECK(m.mean.claim_tries <= 3); // A6
                    r.ftt_s += m.mean.transfer_s / seeds;
                    r.placement_s += m.mean.total_placement_s / seeds;
                    r.tries += m.mean.claim_tries / seeds;
                    r.wasted += m.wasted_ratio / seeds;
                    r.gained += m.gained_ratio / seeds;
                    r.load += m.job_load_ratio / seeds;
                    r.total += m.total_load_ratio / seeds;
                    r.end_s += out.end_after_last_arrival_s / seeds;
                    r.queue += m.max_queue_length / seeds;
                }
                std::string name = co_workload_names[kind];
                runs[name + policy + (replicas > 2 ? "3" : "1")] = r;
                CAPTURE(name, policy, replicas);
                CHECK(r.gained / r.wasted == Approx(2.85).margin(0.25)); // A7
                bool is_w30 = kind == CO_WORKLOAD_w30;
                CHECK(r.total > (is_w30 ? .61 : .68)); // A8
                CHECK(r.total < (is_w30 ? .73 : .80));
                CHECK(r.ftt_s == Approx(*want++).epsilon(replicas > 2 ? 0.25 : 0.1));
            }
    for (std::string w : {"w30", "w50"}) {
        CAPTURE(w);
        for (std::string n : {"1", "3"})
            CHECK(runs[w + "CF" + n].ftt_s < runs[w + "WF" + n].ftt_s); // A1
        for (std::string p : {"CF", "WF"})
            CHECK(runs[w + p + "3"].ftt_s < runs[w + p + "1"].ftt_s);     // A2
        CHECK(runs[w + "CF3"].placement_s < runs[w + "CF1"].placement_s); // A3
        CHECK(runs[w + "CF3"].placement_s < runs[w + "WF3"].placement_s);
    }
    for (std::string p : {"CF1", "CF3", "WF1", "WF3"}) { // A5
        const run &low = runs["w30" + p], &high = runs["w50" + p];
        CAPTURE(p);
        CHECK(high.end_s > low.end_s);
        CHECK(high.queue > low.queue);
        CHECK(high.total > low.total);
        CHECK(high.load / 0.5 < low.load / 0.3);
    }
}

TEST_CASE("large jobs wait longest, wide ones transfer longest, coallocation.md 20.2",
          "[coallocation][simulation]")
{
    std::map<std::pair<size_t, size_t>, double> placement_s;
    std::map<size_t, double> ftt_s;

    for (uint64_t seed = 1; seed <= 10; seed++) {
        experiment e(CO_WORKLOAD_w50, "CF", seed);
        co_sim_out out = e.play();
        REQUIRE(out.metrics.size_count == 6);
        for (size_t i = 0; i < 6; i++) {
            const co_size_metrics &s = out.metrics.sizes[i];
            placement_s[{s.component_count, s.processors}] += s.mean.total_placement_s;
            ftt_s[s.component_count] += s.mean.transfer_s;
            CHECK(s.placement_p25_s <= s.placement_p50_s);
            CHECK(s.placement_p50_s <= s.placement_p90_s);
        }
    }
    for (auto &size : placement_s)
        CHECK(size.second <= placement_s[std::make_pair(4, 16)]); // A4a
    CHECK(placement_s[{1, 16}] <= placement_s[{2, 16}]);          // A4b
    CHECK(placement_s[{1, 8}] <= placement_s[{4, 8}]);            // A4c
    CHECK(ftt_s[1] < ftt_s[2]);                                   // A10
    CHECK(ftt_s[2] < ftt_s[4]);
}

TEST_CASE("a greater L wastes less and leaves more, coallocation.md 20.2 A9",
          "[coallocation][simulation]")
{
    double wasted_before = 1, gained_before = -1;

    for (double l : {0.0, 0.25, 0.5, 0.75, 0.9, 1.0}) {
        double gained = 0;
        double wasted = mean_over(
            4,
            [&](experiment &e) {
                e.param[CO_L_INITIAL] = l;
                e.draw.replica_count = 1;
            },
            CO_WORKLOAD_w30, "CF",
            [&](const co_sim_out &out) {
                gained += out.metrics.gained_ratio;
                return out.metrics.wasted_ratio;
            });
        CAPTURE(l);
        CHECK(wasted < wasted_before);
        CHECK(gained > gained_before);
        wasted_before = wasted;
        gained_before = gained;
    }
}

TEST_CASE("spread, background and runners, coallocation.md 20.3, 20.4, 20.6",
          "[coallocation][simulation]")
{
    auto spread = [](const co_sim_out &out) { return out.metrics.mean.spread_ratio; };
    auto shared = [](const co_sim_out &out) { return out.metrics.co_allocated_ratio; };
    auto replicas = [](double n) {
        return [n](experiment &e) { e.draw.replica_count = n; };
    };
    auto on_spread = [&](const char *policy, double n, const figure_of &f) {
        return mean_over(8, replicas(n), CO_WORKLOAD_spread, policy, f);
    };
    CHECK(on_spread("WF", 1, spread) == Approx(on_spread("WF", 3, spread)).margin(0.02));
    CHECK(on_spread("CF", 1, spread) >= 0.5);
    CHECK(on_spread("CF", 3, spread) >= 0.5);
    CHECK(on_spread("CF", 1, shared) < on_spread("WF", 1, shared));

    double load_before = 1;
    for (double lower : {0.3, 0.5, 0.6}) {
        double load = mean_over(
            4,
            [&](experiment &e) {
                e.draw.replica_count = 3;
                e.in.settings.background.lower_ratio = lower;
                e.in.settings.background.upper_ratio = lower + (lower > 0.3 ? .05 : .1);
            },
            CO_WORKLOAD_w30, "CF",
            [](const co_sim_out &out) {
                CHECK(out.unfinished_count == 0);
                CHECK(out.metrics.mean.claim_tries < 3);
                return out.metrics.job_load_ratio;
            });
        CHECK(load < load_before);
        load_before = load;
    }

    auto nothing = [](experiment &) {};
    auto total = [](const co_sim_out &out) { return out.metrics.total_load_ratio; };
    auto rate = [](const co_sim_out &out) { return out.metrics.throughput_per_min; };
    CHECK(mean_over(5, nothing, CO_WORKLOAD_w_c, "WF", total) >
          mean_over(5, nothing, CO_WORKLOAD_w_nc, "WF", total));
    CHECK(mean_over(5, nothing, CO_WORKLOAD_w_c, "WF", rate) >
          mean_over(5, nothing, CO_WORKLOAD_w_nc, "WF", rate));
}

TEST_CASE("an unreliable testbed, coallocation.md 20.5", "[coallocation][simulation]")
{
    double placement_s[2] = {0, 0}, delay_s[2] = {0, 0}, narrow = 0, wide = 0;

    for (uint64_t seed = 1; seed <= 2; seed++) {
        experiment e(CO_WORKLOAD_unreliable, "CF", seed);
        co_sim_out out = e.play();
        CHECK(out.metrics.finished_count == 500);
        CHECK(out.unusable_site_count == 1);
        CHECK(out.site_unusable[0]); // Delft
        CHECK(out.soft_error_count > 0);
        for (size_t j = 0; j < 500; j++) {
            const co_job_figures &f = out.metrics.job[j];
            placement_s[e.in.jobs[j].level == CO_HIGH] += f.total_placement_s;
            delay_s[e.in.jobs[j].level == CO_HIGH] += f.start_delay_s;
        }
        for (size_t i = 0; i < out.metrics.size_count; i++) {
            const co_size_metrics &s = out.metrics.sizes[i];
            (s.component_count == 3 && s.processors == 12 ? narrow : wide) +=
                s.component_count == 8 || s.processors == 12 ? s.mean.failure_ratio : 0;
        }
    }
    CHECK(placement_s[1] < placement_s[0]);
    CHECK(delay_s[1] < delay_s[0]);
    CHECK(wide > narrow);
}

TEST_CASE("options of the simulation studies, coallocation.md 21",
          "[coallocation][simulation]")
{
    auto study = [](experiment &e) {
        e.use_grid(CO_SIM_GRID_four_by_32);
        e.in.settings.background.lower_ratio = 0;
        e.in.settings.event_driven = true;
        e.draw.replica_count = 0;
        e.draw.mean_gap_s = 40;
    };
    auto response = [](const co_sim_out &out) { return out.mean_response_s; };
    auto play = [&](const std::function<void(experiment &)> &more,
                    const figure_of &figure) {
        return mean_over(
            3,
            [&](experiment &e) {
                study(e);
                more(e);
            },
            CO_WORKLOAD_w30, "WF", figure);
    };
    double events_s = play([](experiment &) {}, response);
    CHECK(play(
              [](experiment &e) {
                  e.in.settings.event_driven = false;
                  e.in.settings.try_on_arrival = false;
              },
              response) > events_s);
    CHECK(play([](experiment &e) { e.in.settings.slowdown_ratio = 1.5; }, response) >
          events_s);
    for (bool distinct : {true, false})
        for (co_request_type type : {CO_FIXED, CO_FLEXIBLE})
            play(
                [&](experiment &e) {
                    e.draw.type = type;
                    e.draw.distinct = distinct;
                },
                [](const co_sim_out &out) {
                    CHECK(out.unfinished_count == 0);
                    return 0.0;
                });

    // First come first served: nobody is placed before an earlier job.
    experiment fcfs(CO_WORKLOAD_w30, "WF", 3);
    study(fcfs);
    fcfs.in.settings.scan.max_overtakes = 0;
    fcfs.draw.mean_gap_s = 15;
    co_sim_out out = fcfs.play();
    for (size_t j = 1; j < fcfs.in.job_count; j++)
        CHECK(out.records[j].placements[0].jpt_s >=
              out.records[j - 1].placements[0].jpt_s);

    // With jobs always waiting: at most all processors, and more with overtaking.
    auto maximal = [](const co_sim_out &o) { return o.maximal_utilisation_ratio; };
    auto backlog = [](size_t overtakes) {
        return [overtakes](experiment &e) {
            e.in.settings.backlog = 20;
            e.in.settings.warmup_s = 300;
            e.in.settings.scan.max_overtakes = overtakes;
        };
    };
    double strict = play(backlog(0), maximal), free = play(backlog(SIZE_MAX), maximal);
    CHECK(strict > 0.5);
    CHECK(free > strict);
    CHECK(free <= 1);
}

TEST_CASE("local jobs that come in between make claims move and pre-empt",
          "[coallocation][simulation]")
{
    experiment e(CO_WORKLOAD_unreliable, "CF", 1);
    co_sim_settings &set = e.in.settings;

    e.use_grid(CO_SIM_GRID_table_5_1);
    e.draw.replica_count = 1;
    e.draw.mean_gap_s = 20;
    e.draw.job_count = 100;
    e.param[CO_L_INITIAL] = 1;
    set.try_on_arrival = true;
    set.scan_interval_s = 30;
    set.background = {0.3, 0, 0.9, 1.5, 60, 30};
    co_sim_out out = e.play();
    CHECK(out.metrics.finished_count == 100);
    CHECK(out.replaced_count > 0);
    CHECK(out.preemption_count > 0);
    CHECK(out.requeue_count > 0);
    CHECK(out.metrics.failure_ratio == 0); // a pre-emption is no failure
    check_capacity(e, out);
    for (size_t j = 0; j < 100; j++)
        CHECK(out.records[j].finish_s - out.records[j].start_s ==
              Approx(e.in.jobs[j].run_time_s).epsilon(1e-9));

    // Claims that give up after one try fail the job.
    set.claim.max_tries = 1;
    out = e.play();
    CHECK(out.failed_count > 0);
    CHECK(out.failed_count + out.metrics.finished_count == 100);
}

TEST_CASE("what cannot run ends too", "[coallocation][simulation]")
{
    std::vector<size_t> huge{1000}, wide{16, 16, 16}, small{4};
    experiment e(CO_WORKLOAD_w30, "WF", 1);
    std::vector<co_sim_job> jobs = {given("a", 0, 100, huge), given("b", 10, 100, wide),
                                    given("c", 20, 2000, small)};

    e.in.jobs = jobs.data();
    e.in.job_count = jobs.size();
    e.in.settings.max_run_time_s = 900;
    co_sim_out out = e.play();
    CHECK(out.never_fit_count == 1);
    CHECK(out.failed_count == 1);
    CHECK(out.metrics.finished_count == 1);
    CHECK(out.unfinished_count == 0);
    CHECK(out.records[1].finish_s - out.records[1].start_s == Approx(100));

    // Every start fails: all sites are taken out, and the horizon ends it.
    experiment failing(CO_WORKLOAD_w30, "WF", 1);
    const co_sim_site bad[] = {{"A", 16, 1}, {"B", 16, 1}};
    failing.in.grid = {bad, 2, nullptr, 0, NAN};
    failing.in.jobs = jobs.data() + 2;
    failing.in.job_count = 1;
    failing.in.settings.horizon_s = 86400;
    out = failing.play();
    CHECK(out.unusable_site_count == 2);
    CHECK(out.unfinished_count == 1);
    CHECK(out.soft_error_count == 10); // 5 at each
    failing.in.settings.unusable_cooldown_s = 3600;
    CHECK(failing.play().soft_error_count > 10);

    // A limit of tries gives up.
    failing.in.settings.unusable_cooldown_s = HUGE_VAL;
    failing.in.settings.scan.max_tries = 20;
    out = failing.play();
    CHECK(out.failed_count == 1);
    CHECK(out.unfinished_count == 0);
}

TEST_CASE("kind coallocation of POST /v1/simulations", "[api][coallocation][simulation]")
{
    api a;
    json answer = simulate(a, example("simulation-coallocation"));

    CHECK(answer["kind"] == "coallocation");
    CHECK(answer["runs_done"] == 3);
    CHECK(answer["job_count"] == 100);
    REQUIRE(answer["results"].size() == 3);
    json r = answer["results"];
    CHECK(r[0]["policy"] == "close_to_files");
    CHECK(r[0]["figures"]["finished_count"]["mean"] == 100);
    CHECK(r[0]["job_means"]["transfer_s"]["mean"] <
          r[1]["job_means"]["transfer_s"]["mean"]);
    CHECK(r[2]["job_means"]["spread_ratio"]["mean"] <
          r[1]["job_means"]["spread_ratio"]["mean"]);
    CHECK(r[0]["sizes"].size() == 6);
    CHECK_FALSE(r[0].contains("jobs"));
    CHECK(simulate(a, example("simulation-coallocation"))["results"] == r);

    answer = simulate(a, example("simulation-coallocation-jobs"));
    r = answer["results"][0];
    REQUIRE(r["jobs"].size() == 3);
    CHECK(r["jobs"][0]["job_id"] == "wide");
    CHECK(r["jobs"][0]["co_allocated_ratio"] == 1);
    CHECK(r["jobs"][0]["run_time_s"] == 750); // 600 s on two sites
    CHECK(r["figures"]["background_load_ratio"]["mean"] == 0);

    json body = {{"kind", "coallocation"}, {"time_limit_s", 1e-9}, {"runs", 50}};
    CHECK(simulate(a, body)["status"] == "cut");
    body = {
        {"kind", "coallocation"}, {"workload", "w_c"}, {"runs", 1}, {"job_count", 20}};
    CHECK(simulate(a, body)["results"].size() == 1); // no files: worst_fit only
}

TEST_CASE("what a simulation of co-allocation does not list is said",
          "[api][coallocation][simulation]")
{
    api a;
    json body = {{"kind", "coallocation"},
                 {"grid", {{"sites", {{{"id", "A"}, {"processors_total", 1000}}}}}},
                 {"policies", {"worst_fit"}},
                 {"settings", {{"background_lower_ratio", 0}}},
                 {"runs", 1},
                 {"per_job", true},
                 {"jobs", json::array()}};
    auto job = [](size_t i, size_t processors) {
        return json{{"id", "j" + std::to_string(i)},
                    {"submit_s", i},
                    {"run_time_s", 0.5},
                    {"components", {{{"processors", processors}}}}};
    };

    for (size_t i = 0; i < 203; i++)
        body["jobs"].push_back(job(i, i + 1));
    json answer = simulate(a, body);
    CHECK(answer["results"][0]["sizes"].size() == 200);
    CHECK(answer["results"][0]["jobs"].size() == 203);
    CHECK(answer["warnings"][0].get<std::string>().find(
              "truncated: of each policy the last 0 jobs and at least 3 sizes of jobs") ==
          0);

    body["jobs"] = json::array();
    for (size_t i = 0; i < 10002; i++)
        body["jobs"].push_back(job(i, 1));
    answer = simulate(a, body);
    CHECK(answer["results"][0]["jobs"].size() == 10000);
    CHECK(answer["warnings"][0].get<std::string>().find(
              "truncated: of each policy the last 2 jobs and at least 0 sizes") == 0);
    body["per_job"] = false;
    CHECK(simulate(a, body)["warnings"].empty());
}

TEST_CASE("mistakes in a simulation of co-allocation", "[api][coallocation][simulation]")
{
    api a;
    auto pointers = [&](const json &body) {
        api_reply r = a.post("/v1/simulations", body.dump());
        INFO(r.body.substr(0, 1000));
        CHECK(r.status == 422);
        return r.pointers();
    };
    using list = std::vector<std::string>;
    json body = example("simulation-coallocation-jobs");

    body["jobs"][0]["file_site_ids"] = {"nowhere"};
    body["jobs"][1]["id"] = "wide";
    body["jobs"][1]["components"][0].erase("site_id");
    body["jobs"][2]["components"] = json::array();
    body["policies"] = {"best_guess", "data_present"};
    body["settings"]["background_lower_ratio"] = 0.9;
    body["settings"]["background_upper_ratio"] = 0.5;
    body["settings"]["background_add_ratio"] = 0.2;
    body["options"] = {{"no_such", 1}};
    body["workload"] = "w30";
    list found = pointers(body);
    for (auto *wanted :
         {"/jobs", "/settings/background_upper_ratio", "/settings/background_add_ratio",
          "/policies/0", "/options/no_such", "/jobs/0/file_site_ids/0", "/jobs/1/id",
          "/jobs/1/components/0/site_id", "/jobs/2/components", "/policies"})
        CHECK(std::count(found.begin(), found.end(), wanted) == 1);

    body = {{"kind", "coallocation"}, {"policies", {"flexible_cluster_minimisation"}}};
    CHECK(pointers(body) == list{"/policies"});
    body = {{"kind", "coallocation"}, {"request_type", "semi_fixed"}};
    CHECK(pointers(body) == list{"/request_type"});
    body = {{"kind", "coallocation"}, {"settings", {{"t_threshold", 2}}}};
    CHECK(pointers(body) == list{"/settings/t_threshold"});
    body = {{"kind", "coallocation"}, {"runs", 0}};
    CHECK(pointers(body) == list{"/runs"});
    body = example("simulation-coallocation-jobs");
    body["grid"]["sites"][1]["id"] = "A";
    found = pointers(body);
    CHECK(std::count(found.begin(), found.end(), "/grid/sites/1/id") == 1);
    body = example("simulation-coallocation-jobs");
    body["grid"]["preset"] = "four_by_32";
    CHECK(pointers(body) == list{"/grid/sites"});
    body["jobs"][0]["components"][0]["processors"] = -1;
    body["jobs"][0]["run_time_s"] = 1e308;
    CHECK(pointers(body).size() == 2);
}
