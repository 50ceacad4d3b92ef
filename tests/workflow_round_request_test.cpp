// workflow_round_request_test.cpp - a round of dynamic workflow scheduling, by request.
#include "tests/workflow_support.hpp"

extern "C" {
#include "algorithms/workflow/round.h"
}

#include <algorithm>
#include <map>
#include <memory>

using namespace flows;

namespace
{

struct option {
    const char *name;
    value_type type;
    double number;
    const char *text;
};

option number(const char *name, double value)
{
    return {name, VALUE_NUMBER, value, nullptr};
}

option text(const char *name, const char *value)
{
    return {name, VALUE_TEXT, 0, value};
}

struct decided {
    test_arena arena;
    error err = collecting_error(arena);
    workflow_round_out out{};
    error_code code = OK;

    explicit decided(request &r, const char *policy = "balanced",
                     const std::vector<option> &options = {},
                     workflow_round_steps steps = WORKFLOW_STEPS_ALL)
    {
        std::vector<named_value> given;
        for (auto &o : options) {
            named_value v{};
            v.name = o.name;
            v.type = o.type;
            v.number = o.number;
            v.text = o.text;
            given.push_back(v);
        }
        const struct policy *p = policy_find(workflow_round_policies, policy);
        REQUIRE(p);
        code = workflow_round(r.build(), p, given.data(), given.size(), steps, &out,
                              arena, &err);
    }
    std::string skip(const std::string &task) const
    {
        for (size_t k = 0; k < out.skip_count; k++)
            if (task == out.skipped[k].task_id)
                return out.skipped[k].reason;
        return "";
    }
    const workflow_estimate *estimate(const std::string &task) const
    {
        for (size_t k = 0; k < out.estimate_count; k++)
            if (task == out.estimates[k].task_id)
                return &out.estimates[k];
        return nullptr;
    }
    std::string started(const std::string &task) const
    {
        for (size_t k = 0; k < out.placement_count; k++)
            if (task == out.placements[k].task_id)
                return out.placements[k].resource_id;
        return "";
    }
    std::string unplaced(const std::string &task) const
    {
        for (size_t k = 0; k < out.unplaced_count; k++)
            if (task == out.unplaced[k].task_id)
                return out.unplaced[k].reason;
        return "";
    }
    bool warns(const std::string &part) const
    {
        for (size_t k = 0; k < out.warning_count; k++)
            if (std::string(out.warnings[k]).find(part) != std::string::npos)
                return true;
        return false;
    }
    std::map<std::string, std::string> mistakes() const
    {
        std::map<std::string, std::string> found;
        for (const error_item *i = err.first; i; i = i->next)
            found[i->pointer] = item_kinds[i->code].name;
        return found;
    }
};

task &add(request &r, const char *id, int status, std::vector<size_t> parents,
          double estimate_ref_s = none, const char *at = nullptr)
{
    task &t = r.add_task(id, estimate_ref_s);
    t.given.status = status;
    t.given.resource_id = at;
    for (size_t p : parents)
        t.parents.push_back({p});
    return t;
}

// Example A of spec workflows.md 11: p0, p1 at s0, p2 at s1; root done, a and b run.
request example_a()
{
    request r;
    r.single = false;
    r.workflow_ids = {"w1"};
    r.grid.network.wan_mbps = 5;
    r.grid.network.wan_latency_s = 0.007;
    r.grid.network.lan_mbps = 1000;
    r.grid.network.lan_latency_s = 0.002;
    r.add_resource(2, "s0").n_max = 2;
    r.add_resource(1, "s0").n_max = 2;
    r.add_resource(4, "s1").n_max = 2;
    for (resource &c : r.resources)
        c.sharing = SHARING_EQUAL;
    add(r, "root", WORKFLOW_DONE, {});
    add(r, "a", WORKFLOW_RUNNING, {0}, 9000, "p1");
    add(r, "b", WORKFLOW_RUNNING, {0}, 3400, "p0");
    add(r, "c", WORKFLOW_IDLE, {1, 2}, 100);
    task &a = r.tasks()[1], &b = r.tasks()[2];
    a.given.progress_pct = 20;
    a.given.elapsed_s = 1800;
    a.given.work_done_ref_s = 1800;
    a.given.input_bytes = a.given.output_bytes = a.given.checkpoint_bytes = 1e9;
    b.given.input_bytes = b.given.checkpoint_bytes = 1e9;
    return r;
}

} // namespace

TEST_CASE("workflows.md 13: the example request", "[workflow][round]")
{
    request r = example_a();
    decided d(r);

    REQUIRE(d.code == OK);
    CHECK(std::string(d.out.algorithm) == "balanced");
    CHECK(d.out.status == DECISION_FEASIBLE);
    REQUIRE(d.out.reschedule_count == 2);
    const workflow_action &a = d.out.reschedules[0];
    CHECK(a.seq == 1);
    CHECK(a.group == 1);
    CHECK(a.action == WORKFLOW_MIGRATE);
    CHECK(std::string(a.workflow_id) == "w1");
    CHECK(std::string(a.task_id) == "a");
    CHECK(std::string(a.from_resource_id) == "p1");
    CHECK(std::string(a.to_resource_id) == "p2");
    CHECK(a.remaining_before_s == Approx(7200));
    CHECK(a.remaining_after_s == Approx(5000.007).margin(1e-3));
    CHECK(a.gain_s == Approx(2199.993).margin(1e-3));
    CHECK(a.transfer_s == Approx(3200.007).margin(1e-3));
    CHECK(a.transfer_bytes == 2e9);
    CHECK(std::string(a.role) == "longest");
    REQUIRE(a.parent_count == 2);
    CHECK(std::string(a.parent_set[1]) == "b");
    CHECK(d.out.reschedules[1].remaining_after_s == Approx(3416.002).margin(1e-3));
    CHECK(std::string(d.out.reschedules[1].role) == "balanced");

    REQUIRE(d.out.set_count == 3); // {root}, {a, b}, and {c} of the virtual sink
    CHECK(std::string(d.out.parent_sets[0].state) == "done");
    CHECK(std::string(d.out.parent_sets[1].state) == "running");
    CHECK(d.out.parent_sets[1].max_remaining_before_s == Approx(7200));
    CHECK(d.out.parent_sets[1].max_remaining_after_s == Approx(5000.007).margin(1e-3));
    CHECK(std::string(d.out.parent_sets[1].children[0]) == "c");
    CHECK(std::string(d.out.parent_sets[2].state) == "waiting");
    CHECK(d.out.parent_sets[2].child_count == 0);

    CHECK(d.out.objective.makespan_before_s == Approx(7200));
    CHECK(d.out.objective.makespan_s == Approx(5000.007).margin(1e-3));
    // alone: a 3616.002 on p0, 5000.007 on p2; b 1700 where it is
    CHECK(d.out.objective.lower_bound_s == Approx(3616.002).margin(1e-3));
    CHECK(d.out.objective.gap_ratio == Approx(5000.007 / 3616.002 - 1).margin(1e-6));
    CHECK(d.out.objective.transfer_bytes == 4e9);

    REQUIRE(d.estimate("a"));
    CHECK(std::string(d.estimate("a")->source) == "work_integral");
    CHECK(d.estimate("a")->estimate_ref_s == Approx(9000));
    CHECK(d.estimate("a")->remaining_ref_s == Approx(7200));
    CHECK(std::string(d.estimate("b")->source) == "estimate");
    CHECK(!d.estimate("c"));

    SECTION("only step 2, only step 3")
    {
        CHECK(decided(r, "balanced", {}, WORKFLOW_STEP_MOVE).out.reschedule_count == 2);
        CHECK(decided(r, "balanced", {}, WORKFLOW_STEP_START).out.reschedule_count == 0);
    }
    SECTION("without the finished root a and b are roots")
    {
        r.tasks().erase(r.tasks().begin());
        for (task &t : r.tasks()) {
            if (t.id != "c")
                t.parents.clear();
            for (dependency &p : t.parents)
                p.parent--;
        }
        decided e(r);
        REQUIRE(e.code == OK);
        CHECK(e.out.reschedule_count == 0);
        CHECK(std::string(e.out.parent_sets[0].state) == "roots");
    }
    SECTION("options by name")
    {
        CHECK(decided(r, "balanced", {text("balance", "longest_only")})
                  .out.reschedule_count == 1);
        decided e(r, "balanced", {number("re_min_s", 8000)});
        CHECK(e.skip("a") == "below_re_min");
        CHECK(e.skip("b") == "below_re_min");
        CHECK(decided(r, "balanced_reduced_overhead").out.reschedule_count > 0);
    }
    SECTION("two groups of one plan")
    {
        r.resources[0].failed = true; // b starts again, and its set does not run
        decided e(r);
        REQUIRE(e.code == OK);
        CHECK(e.out.reschedule_count == 0);
        CHECK(e.skip("a") == "not_running_set");
        CHECK(!e.started("b").empty());
        CHECK(e.warns("failed resource"));
    }
}

TEST_CASE("limits of a round", "[workflow][round]")
{
    request r = example_a();

    SECTION("max_moves")
    {
        decided d(r, "balanced", {number("max_moves", 1)});
        CHECK(d.out.reschedule_count == 1);
        CHECK(d.skip("b") == "move_budget");
        CHECK(decided(r, "balanced", {number("max_moves", 0)}).out.reschedule_count == 0);
    }
    SECTION("max_bytes_moved")
    {
        decided d(r, "balanced", {number("max_bytes_moved", 3e9)});
        CHECK(d.out.reschedule_count == 1);
        CHECK(d.skip("b") == "move_budget");
        CHECK(decided(r, "balanced", {number("max_bytes_moved", 4e9)})
                  .out.reschedule_count == 2);
    }
    SECTION("min_gain_s")
    {
        decided d(r, "balanced", {number("min_gain_s", 2200)});
        CHECK(d.skip("a") == "below_min_gain"); // 2199.993
    }
    SECTION("cool_down_s")
    {
        r.tasks()[1].given.since_last_move_s = 300;
        decided d(r, "balanced", {number("cool_down_s", 600)});
        CHECK(d.skip("a") == "cooling_down");
        CHECK(decided(r, "balanced", {number("cool_down_s", 300)}).out.reschedule_count ==
              2);
    }
    SECTION("cool_down_s of a time that cannot be")
    {
        for (double bad : {-1.0, -HUGE_VAL, HUGE_VAL}) {
            r.tasks()[1].given.since_last_move_s = bad;
            decided d(r);
            REQUIRE(d.code == ERR_INVALID);
            CHECK(d.mistakes() ==
                  std::map<std::string, std::string>{
                      {"/workflows/0/tasks/1/since_last_move_s", "out_of_bounds"}});
        }
    }
    SECTION("a time limit that is over")
    {
        budget spent{};
        spent.used = [](void *) { return 1.0; };
        r.in.budget = &spent;
        decided d(r);
        CHECK(d.out.status == DECISION_CUT);
        CHECK(d.out.reschedule_count == 0);
        CHECK(d.skip("a") == "not_looked_at");
    }
    SECTION("a time limit that is over, for what waits")
    {
        budget spent = make_budget([](void *) { return 1.0; }, nullptr);
        request w;

        for (size_t c = 0; c < 3; c++)
            w.add_resource(c == 1 ? 0 : 1); // the second has no speed
        for (size_t i = 0; i < 3; i++)
            w.add_task("t" + std::to_string(i), 10);
        for (const char *policy : {"balanced", "workflow_fastest"}) {
            w.in.budget = &spent;
            decided d(w, policy);
            REQUIRE(d.code == OK);
            CHECK(d.out.status == DECISION_CUT);
            REQUIRE(d.out.placement_count == 2); // one slot each
            for (size_t k = 0; k < 2; k++)
                CHECK(std::string(d.out.placements[k].how) == "in_turn");
            CHECK(d.warns("cut_to_round_robin"));
            CHECK(d.warns("bound_skipped"));
            REQUIRE(d.out.unplaced_count == 1);
            CHECK(std::string(d.out.unplaced[0].reason) == "no_free_now");
        }
    }
    SECTION("a number of steps")
    {
        budget steps{};
        steps.max_steps = 1;
        r.in.budget = &steps;
        decided d(r);
        CHECK(d.out.status == DECISION_CUT);
        CHECK(d.out.reschedule_count == 1);
        CHECK(d.skip("b") == "not_looked_at");
    }
}

TEST_CASE("confidence: a gain within the spread of the estimate is none",
          "[workflow][round]")
{
    request r;
    std::vector<progress_sample> s;

    r.add_resource(2, "s").n_max = 1;
    r.add_resource(2.02, "s").n_max = 1;
    add(r, "root", WORKFLOW_DONE, {});
    workflow_task &t = add(r, "t", WORKFLOW_RUNNING, {0}, none, "p0").given;
    for (size_t k = 1; k <= 24; k++) { // 1000 reference seconds, give or take two percent
        double work = 10.0 * double(k);
        s.push_back({work, 100 * work / (k % 2 ? 980 : 1020), none, none, none, work});
    }
    t.progress_samples = s.data();
    t.progress_sample_count = s.size();
    t.elapsed_s = t.work_done_ref_s = 250;
    t.progress_pct = 25;
    add(r, "end", WORKFLOW_IDLE, {1});
    auto round_with = [&r](double confidence) {
        return std::make_unique<decided>(
            r, "balanced",
            std::vector<option>{text("predictor", "fit"),
                                number("confidence", confidence)});
    };

    auto sure = round_with(0), unsure = round_with(1);
    REQUIRE(unsure->code == OK);
    REQUIRE(sure->out.reschedule_count == 1);
    CHECK(std::string(sure->out.reschedules[0].to_resource_id) == "p1");
    CHECK(unsure->out.reschedule_count == 0);
    CHECK(unsure->skip("t") == "uncertain");
    const workflow_estimate *e = unsure->estimate("t");
    REQUIRE(e);
    CHECK(std::string(e->source) == "fit");
    double spread_s = (e->high_ref_s - e->low_ref_s) / 2 / 2;
    CHECK(sure->out.reschedules[0].gain_s > 0);
    CHECK(sure->out.reschedules[0].gain_s < spread_s);
    // What the spread allows: gain = left / 2 - left / speed.
    double left = e->remaining_ref_s, enough = spread_s * 1.1;
    REQUIRE(enough < left / 2);
    r.resources[1].mips_total = left / (left / 2 - enough);
    CHECK(round_with(1)->out.reschedule_count == 1);
    CHECK(round_with(1.2)->skip("t") == "uncertain");
}

TEST_CASE("estimates of running tasks", "[workflow][round]")
{
    request r;
    r.add_resource(2, "s").n_max = 2;
    r.resources[0].sharing = SHARING_EQUAL;
    add(r, "root", WORKFLOW_DONE, {});
    add(r, "t", WORKFLOW_RUNNING, {0}, none, "p0");
    add(r, "end", WORKFLOW_IDLE, {1});
    task &t = r.tasks()[1];
    t.given.elapsed_s = 600;
    t.given.progress_pct = 25;

    SECTION("by the present share")
    {
        r.resources[0].mips_external = 0.5;
        r.resources[0].job_count = 2;
        decided d(r);
        CHECK(d.estimate("t")->estimate_ref_s == Approx(1800));
        CHECK(std::string(d.estimate("t")->source) == "extrapolation");
        CHECK(d.estimate("t")->remaining_ref_s == Approx(1350));
        CHECK(d.out.objective.makespan_before_s == Approx(1350 * 2 / 1.5));
    }
    SECTION("by the work done")
    {
        t.given.work_done_ref_s = 900;
        t.given.progress_pct = 30;
        decided d(r);
        CHECK(d.estimate("t")->estimate_ref_s == Approx(3000));
        CHECK(std::string(d.estimate("t")->source) == "work_integral");
    }
    SECTION("no progress yet: the caller's")
    {
        t.given.progress_pct = 0;
        CHECK(std::string(decided(r).estimate("t")->source) == "none");
        CHECK(decided(r).skip("t") == "no_estimate");
        t.given.estimate_ref_s = 5000;
        decided d(r);
        CHECK(std::string(d.estimate("t")->source) == "estimate");
        CHECK(d.estimate("t")->remaining_ref_s == Approx(5000));
    }
    SECTION("all of it done, and still running")
    {
        t.given.progress_pct = 100;
        decided d(r);
        CHECK(d.code == OK);
        CHECK(d.estimate("t")->remaining_ref_s == 0);
        CHECK(d.out.reschedule_count == 0);
        CHECK(std::isnan(d.out.objective.gap_ratio));
    }
    SECTION("filters, worked numbers of 6.3")
    {
        std::vector<progress_sample> s;
        std::vector<double> e = {1000, 1400, 1050, 1350, 1100};
        for (size_t k = 0; k < e.size(); k++) {
            double work = 10.0 * double(k + 1);
            s.push_back({work, 100 * work / e[k], none, none, none, work});
        }
        t.given.progress_samples = s.data();
        t.given.progress_sample_count = s.size();
        t.given.elapsed_s = t.given.work_done_ref_s = 60;
        t.given.progress_pct = 100 * 60 / 1300.0;
        CHECK(decided(r).estimate("t")->estimate_ref_s == Approx(1300));
        for (const char *filter : {"average", "auto"}) {
            decided d(r, "balanced", {text("estimate_filter", filter)});
            CHECK(d.estimate("t")->estimate_ref_s == Approx(1200));
            CHECK(std::string(d.estimate("t")->source) == "average");
        }
        decided d(r, "balanced",
                  {text("estimate_filter", "auto"), text("remaining_rule", "pct")});
        CHECK(d.estimate("t")->remaining_ref_s == Approx(1200 * (1 - 60 / 1300.0)));
    }
    SECTION("a fit: what is left is E - W, runtime-prediction.md 6")
    {
        std::vector<progress_sample> s;
        for (size_t k = 1; k <= 24; k++) {
            double work = 10.0 * double(k), e = 1000 + 1000 * exp(-work / 60);
            s.push_back({work, 100 * work / e, none, none, none, work});
        }
        t.given.progress_samples = s.data();
        t.given.progress_sample_count = s.size();
        t.given.elapsed_s = t.given.work_done_ref_s = 250;
        t.given.progress_pct = 100 * 250 / (1000 + 1000 * exp(-250.0 / 60));
        decided d(r, "balanced", {text("predictor", "fit")});
        REQUIRE(d.code == OK);
        CHECK(std::string(d.estimate("t")->source) == "fit");
        CHECK(d.estimate("t")->estimate_ref_s == Approx(1000).epsilon(1e-3));
        CHECK(d.estimate("t")->remaining_ref_s == Approx(750).epsilon(1e-2));
        CHECK(d.estimate("t")->low_ref_s <= d.estimate("t")->high_ref_s);
    }
    SECTION("a failed task goes on from its checkpoint")
    {
        t.given.status = WORKFLOW_FAILED;
        t.given.estimate_ref_s = 1000;
        t.given.progress_pct = none;
        t.given.checkpoint_work_ref_s = 400;
        decided d(r);
        CHECK(d.estimate("t")->remaining_ref_s == Approx(600));
        CHECK(d.started("t") == "p0");
        CHECK(d.out.placements[0].expected_s == Approx(300));
    }
}

// world-model.md 2.3, 2.6: times that are the same everywhere, or of each resource.
TEST_CASE("run times count as they are, speeds change nothing", "[workflow][round]")
{
    request r;
    r.add_resource(1).n_max = 1;
    r.add_resource(2).n_max = 1;
    add(r, "root", WORKFLOW_DONE, {}, none, "p0");

    SECTION("estimate_s: 100 s on any, as long as 200 of work on the fast one")
    {
        add(r, "a", WORKFLOW_IDLE, {0}).given.estimate_s = 100;
        add(r, "b", WORKFLOW_IDLE, {0}, 50);
        add(r, "end", WORKFLOW_IDLE, {1, 2}).given.estimate_s = 0;
        decided d(r);
        REQUIRE(d.code == OK);
        CHECK(d.started("a") == "p0");
        CHECK(d.started("b") == "p1"); // 25 s, beside the longest
        CHECK(d.out.placements[0].expected_s == 100);
        CHECK(d.out.objective.makespan_s == 100);
        CHECK(d.out.objective.lower_bound_s == 100);
        CHECK(d.estimate("a")->remaining_ratio == 1);
        CHECK(std::isnan(d.estimate("a")->remaining_ref_s));
        CHECK(std::isnan(d.estimate("b")->remaining_ratio));
        CHECK(d.estimate("b")->remaining_ref_s == 50);
        CHECK_FALSE(d.warns("no run time"));
    }
    SECTION("etc_s: it goes where it ends first, and nowhere where it cannot run")
    {
        add(r, "a", WORKFLOW_IDLE, {0}).etc_s = {30, none};
        add(r, "b", WORKFLOW_IDLE, {0}).etc_s = {10, 20};
        add(r, "end", WORKFLOW_IDLE, {1, 2}, 1);
        decided d(r);
        REQUIRE(d.code == OK);
        CHECK(d.started("a") == "p0");
        CHECK(d.started("b") == "p1");
        r.resources[0].failed = true;
        decided left(r);
        CHECK(left.started("b") == "p1");
        CHECK(left.unplaced("a") != "");
        r.workflows[0][1].etc_s = {none, none};
        r.resources[0].failed = false;
        decided never(r);
        CHECK(never.started("b") == "p0");
        CHECK(never.unplaced("a") == "no_estimate");
    }
    SECTION("a running one has the part left that its progress says, and moves for it")
    {
        task &t = add(r, "t", WORKFLOW_RUNNING, {0}, none, "p0");
        t.etc_s = {1000, 100};
        t.given.elapsed_s = 100;
        t.given.progress_pct = 10;
        add(r, "end", WORKFLOW_IDLE, {1}, 1);
        decided d(r);
        REQUIRE(d.code == OK);
        CHECK(d.estimate("t")->remaining_ratio == Approx(0.9).epsilon(1e-12));
        CHECK(d.out.objective.makespan_before_s == Approx(900).epsilon(1e-12));
        REQUIRE(d.out.reschedule_count == 1);
        CHECK(std::string(d.out.reschedules[0].to_resource_id) == "p1");
        CHECK(d.out.reschedules[0].remaining_after_s == Approx(90).epsilon(1e-12));
    }
}

TEST_CASE("workflows.md 5.8: edge cases", "[workflow][round]")
{
    request r = example_a();

    SECTION("nothing at all")
    {
        request empty;
        empty.workflows[0].clear();
        for (auto *p = workflow_round_policies; p->name; p++) {
            decided d(empty, p->name);
            REQUIRE(d.code == OK);
            CHECK(d.out.status == DECISION_FEASIBLE);
            CHECK(d.out.reschedule_count + d.out.placement_count + d.out.carry_count ==
                  0);
            CHECK(d.out.objective.makespan_s == 0);
        }
    }
    SECTION("no resources, or all failed, or full: all ready tasks are carried over")
    {
        request q;
        add(q, "x", WORKFLOW_IDLE, {}, 100);
        add(q, "y", WORKFLOW_IDLE, {}, 100);
        add(q, "z", WORKFLOW_IDLE, {0, 1}, 100);
        int how = GENERATE(0, 1, 2, 3, 4);
        CAPTURE(how);
        if (how > 0)
            q.add_resource(how == 3 ? 0 : 1).n_max = how == 2 ? 0 : 1;
        if (how == 1)
            q.resources[0].failed = true;
        if (how == 4)
            q.resources[0].job_count = 1;
        for (auto *p = workflow_round_policies; p->name; p++) {
            decided d(q, p->name);
            REQUIRE(d.code == OK);
            CHECK(d.out.status == DECISION_INFEASIBLE);
            size_t carried = 0;
            for (size_t k = 0; k < d.out.carry_count; k++)
                carried += d.out.carry_over[k].task_count;
            CHECK(carried == 2);
            const char *const reasons[] = {"no_resource", "failed", "no_free_now",
                                           "no_free_now", "no_free_now"};
            const char *why = reasons[how];
            CHECK(d.unplaced("x") == why);
            CHECK(d.unplaced("y") == why);
            CHECK(d.warns((std::string("unplaced: 2, ") + why + ": 2").c_str()));
            CHECK(d.unplaced("z").empty());
        }
    }
    SECTION("a task that stands still goes anywhere")
    {
        r.resources[1].mips_external = 5;
        decided d(r);
        REQUIRE(d.out.reschedule_count >= 1);
        CHECK(std::string(d.out.reschedules[0].task_id) == "a");
        CHECK(std::isnan(d.out.reschedules[0].remaining_before_s));
        CHECK(std::isnan(d.out.objective.makespan_before_s));
        CHECK(d.out.objective.makespan_s > 0);
        CHECK(decided(r, "balanced", {number("gamma", 1)}).out.reschedule_count == 0);
    }
    SECTION("more tasks than slots: they stay, and nothing is added")
    {
        r.resources[2].n_max = 1;
        r.resources[2].job_count = 3;
        decided d(r);
        CHECK(d.warns("'p2'"));
        for (size_t k = 0; k < d.out.reschedule_count; k++)
            CHECK(std::string(d.out.reschedules[k].to_resource_id) != "p2");
    }
    SECTION("no way between sites")
    {
        r.grid.network.wan_mbps = none;
        decided d(r);
        REQUIRE(d.code == OK);
        for (size_t k = 0; k < d.out.reschedule_count; k++)
            CHECK(std::string(d.out.reschedules[k].to_resource_id) != "p2");
        task &n = add(r, "n", WORKFLOW_IDLE, {}, 100);
        n.given.input_bytes = 1;
        n.given.input_site_id = "s9";
        CHECK(decided(r).unplaced("n") == "unreachable");
        CHECK(decided(r, "workflow_fastest").unplaced("n") == "unreachable");
    }
    SECTION("stale resources get no task; those on them may leave")
    {
        r.grid.taken_at_s = 1000;
        r.resources[2].observed_at_s = 100;
        decided d(r, "balanced", {number("max_age_s", 800)});
        CHECK(d.out.stale_resources == 1);
        for (size_t k = 0; k < d.out.reschedule_count; k++)
            CHECK(std::string(d.out.reschedules[k].to_resource_id) != "p2");
        CHECK(decided(r, "balanced", {number("max_age_s", 900)}).out.stale_resources ==
              0);
        CHECK(decided(r).out.reschedule_count == 2);
        r.resources[2].observed_at_s = none;
        r.resources[1].observed_at_s = 0;
        CHECK(decided(r, "balanced", {number("max_age_s", 800)}).out.reschedule_count >=
              1);
    }
    SECTION("outside its window a resource gets no task")
    {
        r.windows = {{"p2", 100, none}};
        CHECK(decided(r).skip("a") == "no_better_resource");
        r.windows.push_back({"p2", -50, 50});
        CHECK(decided(r).out.reschedule_count == 2);
    }
    SECTION("not before its release")
    {
        task &n = add(r, "n", WORKFLOW_IDLE, {}, 100);
        n.given.release_s = 10;
        decided d(r);
        CHECK(d.started("n").empty());
        CHECK(d.unplaced("n").empty());
        CHECK(d.out.status == DECISION_FEASIBLE);
    }
    SECTION("a staging member: its set does not run, its slot is taken")
    {
        r.tasks()[2].given.status = WORKFLOW_STAGING;
        r.tasks()[2].given.transfer_remaining_s = 50;
        decided d(r);
        CHECK(d.out.reschedule_count == 0);
        CHECK(d.skip("a") == "not_running_set");
        CHECK(d.skip("b") == "not_running_set");
        CHECK(std::string(d.out.parent_sets[1].state) == "waiting");
    }
}

TEST_CASE("the queue: carried first, then dependents, roots last", "[workflow][round]")
{
    request r;
    r.single = false;
    r.workflow_ids = {"late", "early"};
    r.add_resource(1).n_max = 1;
    add(r, "root", WORKFLOW_IDLE, {}, 10);
    r.workflows.emplace_back();
    r.workflows[1] = {task("done", 1), task("d1", 50), task("d2", 60)};
    r.workflows[1][0].given.status = WORKFLOW_DONE;
    r.workflows[1][1].parents = r.workflows[1][2].parents = {{0}};

    SECTION("dependents first; the rest of the set is carried over")
    {
        decided d(r);
        CHECK(d.started("d2") == "p0");
        REQUIRE(d.out.carry_count == 1);
        CHECK(std::string(d.out.carry_over[0].workflow_id) == "early");
        REQUIRE(d.out.carry_over[0].task_count == 1);
        CHECK(std::string(d.out.carry_over[0].task_ids[0]) == "d1");
        CHECK(d.unplaced("root") == "no_free_now");
    }
    SECTION("by arrival, by request order")
    {
        option off{"roots_last", VALUE_BOOLEAN, 0, nullptr};
        CHECK(decided(r, "balanced", {off}).started("root") == "p0");
        CHECK(decided(r, "workflow_fastest", {off}).started("root") == "p0");
    }
    SECTION("carried ones first")
    {
        const char *ids[] = {"root"};
        workflow_carry carry{"late", ids, 1};
        r.in.carry_over = &carry;
        r.in.carry_count = 1;
        CHECK(decided(r).started("root") == "p0");
    }
}

TEST_CASE("files and inputs are staged from where they are", "[workflow][round]")
{
    request r;
    r.grid.network.wan_mbps = 8;
    r.grid.network.lan_mbps = 8000;
    r.add_resource(1, "a");
    r.add_resource(1, "b");
    const char *sites[] = {"b"};
    file f{};
    f.id = "data";
    f.bytes = 100e6;
    f.site_ids = sites;
    f.site_count = 1;
    r.files.push_back(f);
    task &t = add(r, "t", WORKFLOW_IDLE, {}, 50);
    t.files = {"data"};
    decided d(r);
    CHECK(d.started("t") == "p1");
    CHECK(d.out.placements[0].stage_in_s == 0);
    r.resources[1].failed = true;
    decided e(r);
    CHECK(e.started("t") == "p0");
    CHECK(e.out.placements[0].stage_in_s == Approx(100));
    CHECK(e.out.placements[0].expected_s == Approx(150));
    CHECK(e.out.objective.lower_bound_s == Approx(150));
}

TEST_CASE("a round says so if a workflow begins or ends several times, workflows.md 3.1",
          "[workflow][round]")
{
    request r = example_a();

    CHECK_FALSE(decided(r).warns("entry"));
    add(r, "d", WORKFLOW_IDLE, {1}, 5);
    CHECK(decided(r).warns("workflow 'w1' has 1 entry task and 2 exit tasks"));
    r.single = true;
    r.workflow_ids.clear();
    for (auto *p = workflow_round_policies; p->name; p++)
        CHECK(decided(r, p->name).warns("the workflow has 1 entry task and 2 exit"));
}

TEST_CASE("every mistake of a round's request at once", "[workflow][round]")
{
    request r = example_a();
    r.tasks()[0].parents = {{3}}; // root waits for c: a cycle
    r.tasks()[1].given.progress_pct = 101;
    r.tasks()[2].given.resource_id = "nowhere";
    r.tasks()[2].parents.push_back({77});
    r.resources[0].mips_total = -1;
    const char *ids[] = {"zz"};
    workflow_carry carry[] = {{"w1", ids, 1}, {"w9", ids, 1}};
    r.in.carry_over = carry;
    r.in.carry_count = 2;
    decided d(r, "balanced", {number("gamma", 2), number("gama", 2)});

    REQUIRE(d.code == ERR_INVALID);
    auto m = d.mistakes();
    CHECK(m.count("/options/gamma"));
    CHECK(m.count("/options/gama"));
    CHECK(m.count("/workflows/0/tasks/1/progress_pct"));
    CHECK(m.count("/workflows/0/tasks/2/resource_id"));
    CHECK(m.count("/workflows/0/tasks/2/depends_on/1/task_id"));
    CHECK(m.count("/carry_over/0/task_ids/0"));
    CHECK(m.count("/carry_over/1/workflow_id"));
    bool cycle = false;
    for (auto &[pointer, kind] : m)
        cycle = cycle || kind == "cycle";
    CHECK(cycle);
}

TEST_CASE("every policy takes the same options", "[workflow][round][property]")
{
    const param *first = workflow_round_policies[0].params;

    for (auto *p = workflow_round_policies; p->name; p++) {
        CAPTURE(p->name);
        REQUIRE(params_count(p->params) == params_count(first));
        CHECK(params_count(p->params) <= PARAMS_MAX);
        if (p[1].name)
            CHECK(strcmp(p->name, p[1].name) < 0);
        for (size_t i = 0; first[i].name; i++)
            CHECK(std::string(p->params[i].name) == first[i].name);
    }
    auto preset = [](const char *policy, const std::string &name) {
        for (auto *o = policy_find(workflow_round_policies, policy)->params; o->name; o++)
            if (name == o->name)
                return o->preset;
        return double(NAN);
    };
    CHECK(preset("balanced", "theta") == 1);
    CHECK(preset("balanced_grouped", "theta") == 4);
    CHECK(preset("balanced_reduced_overhead", "re_min_s") == 240);
    CHECK(preset("balanced_reduced_overhead", "gamma") == 0.2);
    CHECK(!policy_find(workflow_round_policies, "nobody"));
}

TEST_CASE("numbers that are not sound do not break a round", "[workflow][round]")
{
    const double odd[] = {none, HUGE_VAL, -HUGE_VAL, -1, 1e308, 5e-324, 0};
    for (double x : odd)
        for (int member = 0; member < 9; member++) {
            request r = example_a();
            workflow_task &t = r.tasks()[1].given;
            std::vector<progress_sample> s(9, {x, x, x, x, x, x});
            double *at[] = {&t.estimate_ref_s,
                            &t.elapsed_s,
                            &t.progress_pct,
                            &t.work_done_ref_s,
                            &t.checkpoint_bytes,
                            &t.since_last_move_s,
                            &r.resources[2].mips_total,
                            &r.resources[1].mips_external};
            if (member < 8)
                *at[member] = x;
            t.progress_samples = s.data();
            t.progress_sample_count = s.size();
            for (const char *predictor : {"extrapolation", "fit"}) {
                decided d(r, "balanced", {text("predictor", predictor)});
                CHECK((d.code == OK || d.code == ERR_INVALID));
            }
        }
}
