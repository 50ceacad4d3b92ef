// workflow_simulation_test.cpp - the simulator of dynamic workflows: times worked out by
// hand, books that must balance, and the shapes that its sources report.
#include "tests/support.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>

extern "C" {
#include "algorithms/workflow/simulation.h"
}

namespace
{

using option_list = std::vector<named_value>;

named_value text(const char *name, const char *value)
{
    return {name, VALUE_TEXT, 0, value};
}

named_value number(const char *name, double value)
{
    return {name, VALUE_NUMBER, value, nullptr};
}

// Options of a policy, bound.
struct bound {
    double param[PARAMS_MAX] = {};
    workflow_sim_policy policy;

    bound(const bound &other) : policy(other.policy)
    {
        std::copy(other.param, other.param + PARAMS_MAX, param);
        policy.param = param;
    }
    explicit bound(const char *name, const option_list &options = {})
    {
        error err{};
        policy = {policy_find(workflow_round_policies, name), param, false};
        REQUIRE(policy.policy);
        REQUIRE(params_bind(policy.policy->params, options.data(), options.size(), param,
                            &err) == OK);
    }
};

// ---- scenarios by hand ----

// A task with a right estimate.
struct given_task {
    double length_ref_s;
    std::vector<size_t> parents;
    double input_bytes = 0, output_bytes = 0, checkpoint_bytes = 0;
};

struct scenario {
    test_arena a, scratch;
    error err = collecting_error(a);
    std::vector<workflow_sim_resource> resources;
    std::vector<workflow_sim_job> jobs;
    std::vector<std::unique_ptr<std::vector<workflow_sim_task>>> tasks;
    std::vector<std::unique_ptr<std::vector<size_t>>> lists;
    std::vector<double> wan_latency_s;
    workflow_sim_in in{};

    scenario()
    {
        in.settings = workflow_sim_preset(WORKFLOW_SIM_ch5_workflow).settings;
        in.settings.information_interval_s = 0;
        in.settings.load_interval_s = 0;
        in.grid.lan_mbps = 1000;
        in.grid.lan_latency_s = 0.001;
        in.grid.wan_mbps = 5;
        in.seed = 1;
    }
    void add_resource(size_t site, double mips, size_t n_max, double external = 0)
    {
        resources.push_back({nullptr, site, mips, external, n_max});
        in.grid.site_count = std::max(in.grid.site_count, site + 1);
    }
    void add(double arrival_s, const std::vector<given_task> &list)
    {
        auto t = std::make_unique<std::vector<workflow_sim_task>>();
        auto first = std::make_unique<std::vector<size_t>>(1, 0);
        auto parents = std::make_unique<std::vector<size_t>>();
        for (auto &g : list) {
            workflow_sim_task one{};
            one.evolution.limit_ref_s = g.length_ref_s;
            one.evolution.decay_unit_ref_s = 1;
            one.evolution.floor_factor = 1;
            one.nominal_ref_s = g.length_ref_s;
            one.initial_estimate_ref_s = g.length_ref_s;
            one.input_bytes = g.input_bytes;
            one.output_bytes = g.output_bytes;
            one.checkpoint_bytes = g.checkpoint_bytes;
            t->push_back(one);
            parents->insert(parents->end(), g.parents.begin(), g.parents.end());
            first->push_back(parents->size());
        }
        jobs.push_back(
            {nullptr, arrival_s, t->data(), t->size(), first->data(), parents->data()});
        tasks.push_back(std::move(t));
        lists.push_back(std::move(first));
        lists.push_back(std::move(parents));
    }
    error_code run(const bound &b, workflow_sim_out *out)
    {
        wan_latency_s.assign(in.grid.site_count * in.grid.site_count, 0.005);
        in.grid.wan_latency_s = wan_latency_s.data();
        in.grid.resources = resources.data();
        in.grid.resource_count = resources.size();
        in.jobs = jobs.data();
        in.job_count = jobs.size();
        in.policy = b.policy;
        in.scratch = scratch;
        return workflow_simulate(&in, out, a, &err);
    }
    workflow_sim_out play(const bound &b)
    {
        workflow_sim_out out{};
        error_code code = run(b, &out);
        INFO(err.text);
        REQUIRE(code == OK);
        CHECK(out.slots_exceeded == 0);
        return out;
    }
};

// ---- drawn worlds ----

struct world {
    test_arena a, scratch;
    error err = collecting_error(a);
    workflow_sim_experiment e;
    workflow_sim_in in{};

    explicit world(workflow_sim_preset_kind preset) : e(workflow_sim_preset(preset))
    {
    }
    workflow_sim_out play(const bound &b, uint64_t seed)
    {
        workflow_sim_job *jobs;
        workflow_sim_out out{};
        arena_reset(a);
        in.settings = e.settings;
        in.seed = seed;
        in.policy = b.policy;
        in.scratch = scratch;
        REQUIRE(workflow_sim_grid_draw(&e.grid, seed, &in.grid, a) == OK);
        REQUIRE(workflow_sim_workload_draw(&e.workload, &in.grid, e.settings.horizon_s,
                                           seed, &jobs, &in.job_count, a, &err) == OK);
        in.jobs = jobs;
        error_code code = workflow_simulate(&in, &out, a, &err);
        INFO(err.text);
        REQUIRE(code == OK);
        return out;
    }
    double mean(const bound &b, size_t seeds,
                const std::function<double(const workflow_sim_out &)> &figure)
    {
        double sum = 0;
        for (uint64_t seed = 1; seed <= seeds; seed++)
            sum += figure(play(b, seed));
        return sum / static_cast<double>(seeds);
    }
    workflow_sim_job *draw(size_t *count, uint64_t seed)
    {
        workflow_sim_job *jobs;
        arena_reset(a);
        REQUIRE(workflow_sim_grid_draw(&e.grid, seed, &in.grid, a) == OK);
        REQUIRE(workflow_sim_workload_draw(&e.workload, &in.grid, e.settings.horizon_s,
                                           seed, &jobs, count, a, &err) == OK);
        return jobs;
    }
};

size_t parents_of(const workflow_sim_job &j, size_t task)
{
    return j.parent_first[task + 1] - j.parent_first[task];
}

} // namespace

// ---- by hand ----

TEST_CASE("tasks share a resource and wait for their parents",
          "[workflow][simulation][workflow_simulation]")
{
    scenario s;
    s.add_resource(0, 3, 2, 1); // V = 2
    s.add(0, {{1000, {}}, {600, {0}}, {1200, {0}}, {400, {1, 2}}});
    workflow_sim_out out = s.play(bound("balanced"));
    const workflow_sim_task_row *t = out.jobs[0].tasks;

    // Rounds at 0, 600, 1200, 1800; input and output 16 s.
    CHECK(t[0].start_s == 0);
    CHECK(t[0].finish_s == Approx(16 + 500).margin(1e-9));
    CHECK(t[1].start_s == 600);
    CHECK(t[1].finish_s == Approx(616 + 600).margin(1e-9)); // half of 2 each
    CHECK(t[2].finish_s == Approx(616 + 600 + 300).margin(1e-9));
    CHECK(t[3].start_s == 1800);
    CHECK(t[3].finish_s == Approx(1816 + 200).margin(1e-9));
    CHECK(out.jobs[0].finish_s == Approx(2032).margin(1e-9));
    CHECK(out.mean_makespan_s == Approx(2032).margin(1e-9));
    CHECK(out.processed_ref_s == Approx(3200));
    CHECK(out.useful_processed_ratio == Approx(1));
    CHECK(out.utilisation_ratio == Approx(3200 / (2 * 86400.0)));
    CHECK(out.slot_utilisation_ratio == Approx((516 + 616 + 916 + 216) / (2 * 86400.0)));
    CHECK(out.move_count == 0);
    CHECK(out.mean_wait_s == Approx((0 + 68 + 68 + 268) / 4.0));
    CHECK(out.round_count == 144);
}

TEST_CASE("a migration costs checkpoint, transfer and restart",
          "[workflow][simulation][workflow_simulation]")
{
    auto make = [](scenario &s, size_t other_site) {
        s.add_resource(0, 4, 1);
        s.add_resource(other_site, 1, 1);
        s.in.settings.round_interval_s = 300;
        s.in.settings.restart_s = 5;
        s.add(0, {{400, {}}, {1000, {0}, 0.5e9, 0, 0.5e9}, {2000, {0}}, {400, {1, 2}}});
    };

    SECTION("inside a site")
    {
        scenario s;
        make(s, 0);
        workflow_sim_out out = s.play(bound("balanced"));
        const workflow_sim_task_row *t = out.jobs[0].tasks;

        CHECK(t[0].finish_s == Approx(116).margin(1e-9));
        CHECK(t[2].finish_s == Approx(316 + 500).margin(1e-9)); // the longest, on 4
        CHECK(t[2].resource == 0);
        // At 900 it has 416 left; 2 s, 8 s and 2 ms, 5 s, 104 s.
        CHECK(t[1].moves == 1);
        CHECK(t[1].resource == 0);
        CHECK(t[1].finish_s == Approx(900 + 2 + 8.002 + 5 + 104).margin(2e-3));
        CHECK(t[3].start_s == 1200);
        CHECK(out.jobs[0].finish_s == Approx(1200 + 16 + 100 + 16).margin(1e-9));
        CHECK(out.move_count == 1);
        CHECK(out.network_bytes == 1e9);
        CHECK(out.checkpoints_per_task == 0.25);
    }
    SECTION("it does not pay between sites")
    {
        scenario s;
        make(s, 1);
        workflow_sim_out out = s.play(bound("balanced")); // 1600 s on the way
        CHECK(out.move_count == 0);
        CHECK(out.jobs[0].tasks[1].finish_s == Approx(316 + 1000).margin(1e-9));
    }
    SECTION("static, gamma 1, a great re_min: never")
    {
        for (auto &b : {bound("balanced_static"), bound("balanced", {number("gamma", 1)}),
                        bound("balanced", {number("re_min_s", 1e6)})}) {
            scenario s;
            make(s, 0);
            workflow_sim_out out = s.play(b);
            CHECK(out.move_count == 0);
            CHECK(out.finished_count == 1);
        }
    }
}

TEST_CASE("transfers share a link, and each route between sites has its own",
          "[workflow][simulation][workflow_simulation]")
{
    auto make = [](scenario &s, bool share) {
        s.add_resource(0, 2, 2);
        s.add_resource(1, 1e-3, 1);
        s.in.settings.share_lan = share;
        s.in.settings.storage_site = 0;
        for (int i = 0; i < 2; i++)
            s.add(0, {{1000, {}, 1e9, 1e9}});
    };
    scenario alone, shared, far;

    make(alone, false);
    workflow_sim_out out = alone.play(bound("workflow_fastest"));
    CHECK(out.jobs[0].tasks[0].finish_s == Approx(8.002 + 1000).margin(2e-3));
    CHECK(out.jobs[0].finish_s == Approx(8.002 + 1000 + 8.002).margin(3e-3));
    CHECK(out.staging_bytes == 4e9);
    CHECK(out.network_bytes == 0);

    make(shared, true);
    out = shared.play(bound("workflow_fastest"));
    CHECK(out.jobs[0].tasks[0].finish_s == Approx(16.002 + 1000).margin(2e-3));
    CHECK(out.jobs[1].finish_s == Approx(16.002 + 1000 + 16.002).margin(4e-3));

    make(far, true);
    far.in.settings.storage_site = 1; // 5 Mbit/s each, 1 + 5 + 1 ms
    out = far.play(bound("workflow_fastest"));
    CHECK(out.jobs[0].tasks[0].finish_s == Approx(1600.007 + 1000).margin(2e-3));
}

TEST_CASE("a root makes room, and one without a place waits in the queue",
          "[workflow][simulation][workflow_simulation]")
{
    // A root runs alone on the fast resource when a dependent of another workflow
    // becomes the longest of its set.
    auto make = [](scenario &s, size_t extra) {
        s.add_resource(0, 1, 1);
        s.in.settings.round_interval_s = 100;
        s.in.settings.stage_in_s = s.in.settings.stage_out_s = 0;
        s.add(0, {{50, {}, 0, 0, 1e8}, {4000, {0}, 0, 0, 1e8}, {10, {1}}});
        s.add(10, {{8000, {}, 0, 0, 1e8}});
        s.add_resource(0, 4, 1); // faster, and second: ties do not matter
        if (extra)
            s.add_resource(0, 0.5, 1);
    };
    scenario room;

    make(room, 1);
    workflow_sim_out out = room.play(bound("balanced"));
    // 0: the first root on 4, done at 12.5; 100: the dependent on 4, the other root on 1.
    CHECK(out.jobs[0].tasks[1].resource == 1);
    CHECK(out.jobs[0].finish_s > 1100);
    CHECK(out.finished_count == 2);
    CHECK(out.slots_exceeded == 0);
}

TEST_CASE("useful workload has two meanings, runtime-prediction.md 8",
          "[workflow][simulation][workflow_simulation]")
{
    scenario s;

    for (int i = 0; i < 3; i++)
        s.add_resource(0, 1, 1);
    s.in.settings.round_interval_s = 50;
    s.in.settings.stage_in_s = s.in.settings.stage_out_s = 0;
    s.in.settings.horizon_s = 649.999; // the last one starts at 450
    s.add(0, {{100, {}}});
    s.add(0, {{300, {}}});
    s.add(0, {{400, {}}, {200, {0}}});
    workflow_sim_out out = s.play(bound("balanced_static"));
    CHECK(out.finished_count == 2);
    CHECK(out.finished_task_count == 3);
    CHECK(out.useful_submitted_ratio == Approx(0.4));
    CHECK(out.useful_processed_ratio == Approx(0.8).epsilon(1e-5));
    CHECK(out.done_ratio == Approx(2 / 3.0));
}

TEST_CASE("old news: a task is not moved for load that nobody has seen",
          "[workflow][simulation][workflow_simulation]")
{
    scenario s;

    s.add_resource(0, 2, 1, 0.5);
    s.in.settings.load_interval_s = 100;
    s.in.settings.load_change_min = s.in.settings.load_change_max = 1;
    s.add(0, {{3e4, {}}});
    workflow_sim_out out = s.play(bound("balanced"));
    // Load 0.5 plus or minus 0.5 every 100 s, between 0 and 1.9.
    CHECK(out.utilisation_ratio < 1);
    CHECK(out.jobs[0].tasks[0].work_ref_s == Approx(out.processed_ref_s));
    CHECK(out.jobs[0].tasks[0].finish_s > 16 + 3e4 / 2);
    CHECK(out.jobs[0].tasks[0].finish_s < 16 + 3e4 / 0.1);
}

TEST_CASE("what cannot run, and nothing at all",
          "[workflow][simulation][workflow_simulation]")
{
    scenario nothing;
    nothing.add_resource(0, 1, 1);
    workflow_sim_out out = nothing.play(bound("balanced"));
    CHECK(out.submitted_count == 0);
    CHECK(std::isnan(out.mean_makespan_s));

    scenario loaded; // no speed is free
    loaded.add_resource(0, 1, 1, 1);
    loaded.add(5, {{10, {}}});
    out = loaded.play(bound("balanced"));
    CHECK(out.started_task_count == 0);
    CHECK(std::isnan(out.jobs[0].tasks[0].start_s));

    scenario ring;
    ring.add_resource(0, 1, 1);
    ring.add(0, {{10, {1}}, {10, {0}}});
    CHECK(ring.run(bound("balanced"), &out) == ERR_INVALID);
    CHECK(item_kinds[ring.err.first->code].name == std::string("cycle"));
}

// ---- books ----

TEST_CASE("a run of any policy keeps the books",
          "[workflow][simulation][workflow_simulation][property]")
{
    struct {
        const char *policy;
        option_list options;
        bool share, network;
        double information_s;
    } cases[] = {
        {"balanced", {}, false, false, 300},
        {"balanced", {text("predictor", "fit"), number("re_min_s", 60)}, true, false, 0},
        {"balanced", {text("balance", "longest_only")}, true, true, 300},
        {"balanced_grouped", {text("group_pick", "random")}, false, false, 300},
        {"balanced_reduced_overhead", {number("cool_down_s", 1800)}, true, false, 300},
        {"balanced_static", {}, true, true, 60},
        {"workflow_fastest", {}, false, false, 300},
        {"balanced", {text("evicted_root_rule", "fastest")}, true, false, 300},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.policy << c.options.size() << c.share)
        {
            world w(WORKFLOW_SIM_ch6_prediction);
            bound b(c.policy, c.options);

            w.e.grid.resources_per_site = 5;
            w.e.grid.loaded_ratio = 0.5;
            w.e.workload.levels = 5;
            w.e.workload.load_ratio = 0.8;
            w.e.settings.load_interval_s = 1200;
            w.e.settings.share_lan = c.share;
            w.e.settings.storage_site = c.network ? 2 : WORKFLOW_SIM_NONE;
            w.e.settings.information_interval_s = c.information_s;
            w.e.settings.checkpoint_s = 0;
            w.e.settings.fit_points = 20;
            for (uint64_t seed = 1; seed <= 2; seed++) {
                workflow_sim_out out = w.play(b, seed);
                double work = 0, processed = out.processed_ref_s;
                size_t moves = 0, done = 0;

                CHECK(out.slots_exceeded == 0);
                CHECK(out.submitted_count == w.in.job_count);
                for (size_t j = 0; j < w.in.job_count; j++) {
                    const workflow_sim_job &g = w.in.jobs[j];
                    const workflow_sim_job_row &row = out.jobs[j];
                    size_t left = 0;

                    for (size_t t = 0; t < g.task_count; t++) {
                        const workflow_sim_task_row &r = row.tasks[t];
                        double length = g.tasks[t].evolution.limit_ref_s;

                        work += r.work_ref_s;
                        moves += r.moves;
                        CHECK(r.work_ref_s <= length * (1 + 1e-9));
                        CHECK((std::isnan(r.start_s) || r.start_s >= g.arrival_s));
                        if (!std::isnan(r.finish_s)) {
                            done++;
                            CHECK(r.work_ref_s == length);
                            CHECK(r.finish_s - r.start_s >= length / 4 - 1e-3);
                        } else {
                            left++;
                        }
                        for (size_t p = g.parent_first[t]; p < g.parent_first[t + 1]; p++)
                            if (!std::isnan(r.start_s))
                                CHECK(row.tasks[g.parents[p]].finish_s <= r.start_s);
                    }
                    CHECK(row.done_count == g.task_count - left);
                    if (!std::isnan(row.finish_s))
                        CHECK(left == 0);
                }
                // To the milliseconds that events are rounded to.
                CHECK(work == Approx(processed).epsilon(1e-5));
                CHECK(out.finished_task_count == done);
                CHECK(out.checkpoint_count == moves);
                CHECK(moves == out.move_count + out.eviction_count + out.postponed_count);
                CHECK(out.network_bytes ==
                      2e9 * static_cast<double>(out.move_count + out.eviction_count +
                                                out.restart_count));
                CHECK(out.utilisation_ratio <= 1);
                CHECK(out.restart_count <= out.postponed_count);
                if (!(b.policy.policy->flags & WORKFLOW_ROUND_MOVES))
                    CHECK(moves == 0);

                workflow_sim_out again = w.play(b, seed);
                CHECK(again.event_count == out.event_count);
                CHECK(again.mean_makespan_s == out.mean_makespan_s);
                CHECK(again.processed_ref_s == processed);
            }
        }
}

TEST_CASE("policies meet the same world; gamma 1 is static",
          "[workflow][simulation][workflow_simulation][property]")
{
    world w(WORKFLOW_SIM_ch5_workflow);
    bound fixed("balanced_static"), never("balanced", {number("gamma", 1)});
    bound basic("balanced"), told_nothing("balanced_static");

    told_nothing.policy.no_estimates = true;
    workflow_sim_out f = w.play(fixed, 3);
    CHECK(f.mean_makespan_s > 0);
    workflow_sim_out n = w.play(never, 3);
    CHECK(n.mean_makespan_s == f.mean_makespan_s);
    CHECK(n.event_count == f.event_count);
    workflow_sim_out b = w.play(basic, 3);
    CHECK(b.submitted_ref_s == f.submitted_ref_s);
    CHECK(b.submitted_count == f.submitted_count);
    CHECK(b.move_count > 1000);
    workflow_sim_out u = w.play(told_nothing, 3);
    CHECK(u.submitted_ref_s == f.submitted_ref_s);
    CHECK(u.useful_submitted_ratio < f.useful_submitted_ratio);

    // What is cut says so; how far it was is known.
    budget steps = make_budget(nullptr, nullptr, 500);
    double ratio = 0;
    w.in.budget = &steps;
    w.in.time_ratio = &ratio;
    CHECK(w.play(basic, 3).is_cut);
    CHECK(ratio > 0);
    CHECK(ratio < 1);
    budget over = make_budget([](void *) { return 1.0; }, nullptr);
    w.in.budget = &over;
    CHECK(w.play(basic, 3).is_cut);
}

TEST_CASE("without memory it says so", "[workflow][simulation][memory]")
{
    for (size_t cap = 0;; cap = cap * 2 + 4096) {
        test_arena a(cap);
        error err = collecting_error(a);
        workflow_sim_experiment e = workflow_sim_preset(WORKFLOW_SIM_ch6_prediction);
        workflow_sim_in in{};
        workflow_sim_out out{};
        workflow_sim_job *jobs;
        bound b("balanced", {text("predictor", "fit")});

        e.grid.resources_per_site = 2;
        e.settings.fit_points = 16;
        e.settings.share_lan = true;
        in.settings = e.settings;
        in.policy = b.policy;
        error_code code = computed(a, &err, [&] {
            in.scratch = arena_create_beside(a, cap);
            error_code drawn = workflow_sim_grid_draw(&e.grid, 1, &in.grid, a);
            if (drawn == OK)
                drawn = workflow_sim_workload_draw(&e.workload, &in.grid,
                                                   e.settings.horizon_s, 1, &jobs,
                                                   &in.job_count, a, &err);
            in.jobs = jobs;
            return drawn == OK ? workflow_simulate(&in, &out, a, &err) : drawn;
        });
        if (code == OK)
            break;
        CHECK(code == ERR_TOO_LARGE);
        REQUIRE(cap < size_t{1} << 30);
    }
}

// ---- workloads ----

TEST_CASE("workflows have the shapes and lengths that are asked for",
          "[workflow][simulation][workflow_simulation]")
{
    world w(WORKFLOW_SIM_ch5_workflow);
    size_t count;

    SECTION("fork_join, lengths and models of chapter 5")
    {
        w.e.workload.parallelism = 5;
        w.e.workload.mix = WORKFLOW_SIM_under;
        workflow_sim_job *jobs = w.draw(&count, 1);
        double work = 0, free_mips = 0, before = 0;
        for (size_t i = 0; i < w.in.grid.resource_count; i++)
            free_mips +=
                w.in.grid.resources[i].mips_total - w.in.grid.resources[i].mips_external;
        for (size_t j = 0; j < count; j++) {
            REQUIRE(jobs[j].task_count == 7);
            CHECK(parents_of(jobs[j], 0) == 0);
            for (size_t t = 1; t <= 5; t++)
                CHECK((parents_of(jobs[j], t) == 1 &&
                       jobs[j].parents[jobs[j].parent_first[t]] == 0));
            CHECK(parents_of(jobs[j], 6) == 5);
            CHECK(jobs[j].arrival_s >= before);
            before = jobs[j].arrival_s;
            for (size_t t = 0; t < 7; t++) {
                const workflow_sim_task &one = jobs[j].tasks[t];
                double ratio = one.evolution.limit_ref_s / one.nominal_ref_s;
                CHECK((ratio >= 1.5 && ratio <= 2));
                CHECK((one.nominal_ref_s >= 360 && one.nominal_ref_s <= 14040));
                CHECK(one.initial_estimate_ref_s <= 1.001 * one.evolution.limit_ref_s);
                CHECK(one.input_bytes == 1e9);
                work += one.evolution.limit_ref_s;
            }
        }
        CHECK(before < 86400);
        CHECK(work == Approx(0.5 * free_mips * 86400).epsilon(0.05));
    }
    SECTION("layered")
    {
        double tasks = 0;
        w.e.workload.shape = WORKFLOW_SIM_layered;
        w.e.workload.levels = 5;
        w.e.workload.tasks_mean = 12;
        w.e.workload.workflow_count = 400;
        workflow_sim_job *jobs = w.draw(&count, 2);
        REQUIRE(count == 400);
        for (size_t j = 0; j < count; j++) {
            std::vector<size_t> level(jobs[j].task_count), children(jobs[j].task_count);
            size_t last = jobs[j].task_count - 1;
            tasks += static_cast<double>(jobs[j].task_count);
            for (size_t t = 0; t <= last; t++)
                for (size_t p = jobs[j].parent_first[t]; p < jobs[j].parent_first[t + 1];
                     p++) {
                    size_t parent = jobs[j].parents[p];
                    REQUIRE(parent < t);
                    children[parent]++;
                    level[t] = std::max(level[t], level[parent] + 1);
                }
            CHECK(level[last] == 4);
            CHECK(std::count(level.begin(), level.end(), size_t{0}) == 1);
            for (size_t t = 0; t < last; t++)
                CHECK(children[t] > 0);
        }
        CHECK(tasks / 400 == Approx(12).epsilon(0.05));
    }
    SECTION("mixed models, exact ones, sweeps")
    {
        std::map<int, double> models;
        w.e.workload.mix = WORKFLOW_SIM_mixed;
        w.e.workload.sweep = WORKFLOW_SIM_parameter;
        workflow_sim_job *jobs = w.draw(&count, 3);
        for (size_t j = 0; j < count; j++) {
            double least = HUGE_VAL, most = 0;
            for (size_t t = 0; t < jobs[j].task_count; t++) {
                least = std::min(least, jobs[j].tasks[t].nominal_ref_s);
                most = std::max(most, jobs[j].tasks[t].nominal_ref_s);
                models[jobs[j].tasks[t].evolution.model]++;
            }
            CHECK(most / least <= 1.05 / 0.95 + 1e-9);
        }
        for (auto &m : models)
            CHECK(m.second / static_cast<double>(12 * count) ==
                  Approx(1 / 3.0).margin(0.05));
        w.e.workload.mix = WORKFLOW_SIM_exact;
        jobs = w.draw(&count, 3);
        for (size_t t = 0; t < 12; t++) {
            const workflow_sim_task &one = jobs[0].tasks[t];
            CHECK(one.initial_estimate_ref_s == one.nominal_ref_s);
            CHECK(evolution_estimate_ref_s(&one.evolution, one.nominal_ref_s / 3, 1) ==
                  one.nominal_ref_s);
        }
    }
    SECTION("arrivals")
    {
        struct {
            workflow_sim_arrival kind;
            double least, most; // share between 8 and 20 h
        } cases[] = {{WORKFLOW_SIM_daytime, 0.75, 0.85},
                     {WORKFLOW_SIM_lublin, 0.6, 0.95},
                     {WORKFLOW_SIM_together, 0, 0}};
        for (auto &c : cases) {
            double day = 0;
            w.e.workload.arrivals = c.kind;
            w.e.workload.workflow_count = 1000;
            workflow_sim_job *jobs = w.draw(&count, 4);
            REQUIRE(count == 1000);
            for (size_t j = 0; j < count; j++)
                day += jobs[j].arrival_s >= 8 * 3600 && jobs[j].arrival_s < 20 * 3600;
            CHECK((day >= 1000 * c.least && day <= 1000 * c.most));
        }
    }
    SECTION("too many")
    {
        w.e.workload.workflow_count = WORKFLOW_SIM_TASKS_MAX;
        REQUIRE(workflow_sim_grid_draw(&w.e.grid, 1, &w.in.grid, w.a) == OK);
        CHECK(workflow_sim_workload_count(&w.e.workload, &w.in.grid, 86400, &count,
                                          &w.err) == ERR_INVALID);
        CHECK(w.err.first->pointer == std::string("/workload"));
    }
}

// ---- what the sources report ----

TEST_CASE("dynamic against static, workflows.md 9.2",
          "[workflow][simulation][workflow_simulation][golden]")
{
    auto makespan = [](const workflow_sim_out &out) { return out.mean_makespan_s; };
    const size_t seeds = 1;
    bound fixed("balanced_static");
    bound dynamic("balanced", {text("balance", "longest_only")});
    std::map<std::pair<int, size_t>, double> gain;

    for (int mix : {WORKFLOW_SIM_over, WORKFLOW_SIM_under, WORKFLOW_SIM_fluctuating})
        for (size_t width : {2, 20}) {
            world w(WORKFLOW_SIM_ch5_workflow);
            w.e.workload.mix = static_cast<workflow_sim_mix>(mix);
            w.e.workload.parallelism = width;
            gain[{mix, width}] =
                1 - w.mean(dynamic, seeds, makespan) / w.mean(fixed, seeds, makespan);
        }
    for (int mix : {WORKFLOW_SIM_under, WORKFLOW_SIM_fluctuating}) {
        CHECK(gain[{mix, 20}] > 0.15);
        CHECK(gain[{mix, 20}] > gain[{mix, 2}]);
        CHECK(gain[{mix, 20}] > gain[{WORKFLOW_SIM_over, 20}]);
    }
    CHECK(gain[{WORKFLOW_SIM_over, 20}] > gain[{WORKFLOW_SIM_over, 2}]);
    CHECK(std::abs(gain[{WORKFLOW_SIM_over, 2}]) < 0.1);
}

TEST_CASE("a greater RE^min moves less, workflows.md 9.3",
          "[workflow][simulation][workflow_simulation][golden]")
{
    world w(WORKFLOW_SIM_ch5_workflow);
    double moves = HUGE_VAL, basic = 0, best = 0;

    for (double re_min_s : {0.0, 3600.0}) {
        bound b("balanced", {number("re_min_s", re_min_s)});
        double count = 0, useful = w.mean(b, 2, [&](const workflow_sim_out &out) {
            count += static_cast<double>(out.move_count + out.eviction_count);
            return out.useful_submitted_ratio;
        });
        CHECK(count < moves);
        moves = count;
        if (re_min_s > 0)
            best = std::max(best, useful);
        else
            basic = useful;
    }
    CHECK(best > basic);
}

TEST_CASE("fit and extrapolation against static, runtime-prediction.md 8",
          "[workflow][simulation][workflow_simulation][golden]")
{
    auto useful = [](const workflow_sim_out &out) { return out.useful_submitted_ratio; };
    world w(WORKFLOW_SIM_ch6_prediction);
    bound fit("balanced", {text("predictor", "fit")}), basic("balanced");
    bound fixed("balanced_static");

    w.e.workload.arrivals = WORKFLOW_SIM_daytime;
    w.e.workload.evolution.noise_ratio = 0.05;
    double of_static = w.mean(fixed, 1, useful), of_basic = w.mean(basic, 1, useful);
    CHECK(of_basic >= 1.4 * of_static);

    w.e.grid.resources_per_site = 8; // fits take their time
    w.e.settings.fit_points = 24;
    of_static = w.mean(fixed, 1, useful);
    CHECK(w.mean(fit, 1, useful) >= 1.15 * of_static);
}
